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
    let tables = codec::tables(input);
    let compose = merge::compose(input);
    let (merge, codec) = (merge::expand(input), codec::expand(input));
    let (state, outcome) = (engine(quote!(State)), outcome(input));
    quote! {
        #definition

        const _: () = {
            #tables
            #staged
            #impls
            #keys
            #compose

            #[automatically_derived]
            #[allow(unused, deprecated, reason = "a state need not use every kind of field")]
            impl #state for #ident {
                #merge
                #codec
            }

            #outcome
        };
    }
}

/// A node may return the update itself.
fn outcome(input: &Input) -> TokenStream {
    let Input { ident, update, .. } = input;
    let (into_outcome, outcome) = (engine(quote!(IntoOutcome)), engine(quote!(Outcome)));
    let (info, error) = (engine(quote!(NodeInfo)), engine(quote!(NodeError)));
    quote! {
        #[automatically_derived]
        impl #into_outcome<#ident> for #update {
            fn describe(_: &mut #info) {}

            fn into_outcome(self) -> ::core::result::Result<#outcome<#ident>, #error> {
                ::core::result::Result::Ok(#outcome::of(self))
            }
        }
    }
}
