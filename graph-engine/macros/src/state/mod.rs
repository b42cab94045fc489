//! `#[derive(State)]`: read the struct, check it, write the update, the keys and the trait.

mod attrs;
mod codec;
mod input;
mod keys;
mod merge;
mod types;
mod update;

use proc_macro2::TokenStream;
use quote::quote;
use syn::DeriveInput;

use self::input::Input;
use crate::ctxt::Ctxt;
use crate::paths::engine;

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let cx = Ctxt::new();
    let input = Input::read(&cx, input);
    let errors = cx.finish();
    let code = input.as_ref().map(expand);
    quote!(#code #errors)
}

fn expand(input: &Input) -> TokenStream {
    let ident = &input.ident;
    let definition = update::definition(input);
    let (impls, keys, staged) = (update::impls(input), keys::expand(input), merge::staged(input));
    let (append_tables, codec_tables) = (merge::tables(input), codec::tables(input));
    let (merge, codec) = (merge::expand(input), codec::expand(input));
    let state = engine(quote!(State));
    quote! {
        #definition

        const _: () = {
            #append_tables
            #codec_tables
            #staged
            #impls
            #keys

            #[automatically_derived]
            #[allow(unused, deprecated, reason = "a state need not use every kind of field")]
            impl #state for #ident {
                #merge
                #codec
            }
        };
    }
}
