//! `Hotel::update()` and one typed key per field.

use proc_macro2::TokenStream;
use quote::quote;

use super::input::{Field, Input, Kind};
use crate::paths::engine;

pub(crate) fn expand(input: &Input) -> TokenStream {
    let Input { ident, vis, update, fields, .. } = input;
    let keys = fields.iter().map(|field| key(field, input));
    quote! {
        #[automatically_derived]
        #[allow(dead_code, reason = "not every field needs its key")]
        impl #ident {
            #(#keys)*

            /// An update that writes nothing yet.
            #vis fn update() -> #update {
                ::core::default::Default::default()
            }
        }
    }
}

fn key(field: &Field, input: &Input) -> TokenStream {
    let Field { index, ident, name, vis, ty, kind, .. } = field;
    let (state, key) = (&input.ident, field.key());
    let doc = format!("The key of field `{name}`.");
    let path = engine(quote!(Field));
    let some = quote!(::core::option::Option::Some);
    let (item, put, overwrite) = match kind {
        Kind::One | Kind::Any => (ty, quote!(update.#ident = #some(value)), quote!(value)),
        Kind::Append => {
            let (added, ops) = (engine(quote!(Added)), field.ops());
            (ty, quote!((#ops.put)(&mut update.#ident, value)), quote!(#added { overwrite: true, items: value }))
        }
        Kind::With(reducer) => {
            let reduced = engine(quote!(Reduced));
            let value = quote!(#reduced { overwrite: #some(value), items: ::std::vec::Vec::new() });
            (&reducer.item, quote!(update.#ident.get_or_insert_default().items.push(value)), value)
        }
    };
    quote! {
        #[doc = #doc]
        #vis const #key: #path<#state, #ty, #item> = #path::new(
            #index,
            #name,
            |state| &state.#ident,
            |update, value| #put,
            |update, value| update.#ident = #some(#overwrite),
        );
    }
}
