//! The half of `impl State` that stores: fields and updates as JSON.

use proc_macro2::TokenStream;
use quote::quote;

use super::input::{Field, Input, Kind};
use crate::paths::{engine, private};

fn stored(input: &Input) -> impl Iterator<Item = &Field> {
    input.fields.iter().filter(|field| !field.transient)
}

/// One table per stored field, and one per `append` field: the only places where a type must be one that can be
/// stored or appended to.
pub(crate) fn tables(input: &Input) -> TokenStream {
    input.fields.iter().filter_map(table).collect()
}

fn table(field: &Field) -> Option<TokenStream> {
    let ty = &field.ty;
    let (table, new) = match (&field.kind, field.transient) {
        (Kind::Append, true) => (quote!(AppendOps<#ty>), quote!(append_ops::<#ty>())),
        (Kind::Append, false) => {
            let derived = private(quote!(derived));
            (quote!((#derived::AppendOps<#ty>, #derived::AppendCodec<#ty>)), quote!(stored_append::<#ty, _>()))
        }
        (_, true) => return None,
        (Kind::One | Kind::Any, false) => (quote!(Codec<#ty>), quote!(codec::<#ty>())),
        (Kind::With(reducer), false) => {
            let item = &reducer.item;
            (quote!(ReducedCodec<#ty, #item>), quote!(reduced_codec::<#ty, #item>()))
        }
    };
    let (name, derived) = (field.table(), private(quote!(derived)));
    let table =
        if matches!((&field.kind, field.transient), (Kind::Append, false)) { table } else { quote!(#derived::#table) };
    Some(quote!(const #name: #table = #derived::#new;))
}

/// The items of the impl, in the trait's order from `mark` on.
pub(crate) fn expand(input: &Input) -> TokenStream {
    let error = engine(quote!(CodecError));
    let encoding = engine(quote!(Encoding));
    let ok = quote!(::core::result::Result::Ok);
    let (marks, encodes, decodes) = (marks(input), encodes(input), decodes(input));
    let (encode_update, decode_update) = (encode_update(input), decode_update(input));
    quote! {
        fn mark(&self, field: usize) -> u64 {
            match field {
                #(#marks,)*
                _ => 0,
            }
        }

        fn encode(
            &self,
            field: usize,
            since: ::core::option::Option<u64>,
            out: &mut ::std::vec::Vec<u8>,
        ) -> ::core::result::Result<#encoding, #error> {
            match field {
                #(#encodes,)*
                // A transient field, which the engine never asks for.
                _ => {
                    out.extend_from_slice(b"null");
                    #ok(#encoding::Base)
                }
            }
        }

        fn decode(
            &mut self,
            field: usize,
            encoding: #encoding,
            bytes: &[u8],
        ) -> ::core::result::Result<(), #error> {
            match field {
                #(#decodes,)*
                _ => #ok(()),
            }
        }

        #encode_update
        #decode_update
    }
}

fn marks(input: &Input) -> Vec<TokenStream> {
    let appended = stored(input).filter(|field| matches!(field.kind, Kind::Append));
    appended
        .map(|field| {
            let (index, ident, codec) = (field.index, &field.ident, field.table());
            quote!(#index => (#codec.1.mark)(&self.#ident))
        })
        .collect()
}

fn encodes(input: &Input) -> Vec<TokenStream> {
    let encoding = engine(quote!(Encoding));
    let encode = |field: &Field| {
        let Field { index, ident, name, .. } = field;
        let codec = field.table();
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.1.encode)(&self.#ident, #name, since, out)),
            Kind::With(_) => quote!(#codec.value),
            Kind::One | Kind::Any => quote!(#codec),
        };
        quote!(#index => (#codec.encode)(#name, &self.#ident, out).map(|()| #encoding::Base))
    };
    stored(input).map(encode).collect()
}

fn decodes(input: &Input) -> Vec<TokenStream> {
    let decode = |field: &Field| {
        let Field { index, ident, name, .. } = field;
        let codec = field.table();
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.1.decode)(&mut self.#ident, #name, encoding, bytes)),
            Kind::With(_) => quote!(#codec.value),
            Kind::One | Kind::Any => quote!(#codec),
        };
        quote!(#index => (#codec.decode)(#name, bytes).map(|value| self.#ident = value))
    };
    stored(input).map(decode).collect()
}

/// The codec of a field's write, as tokens that give its table.
fn write_codec(field: &Field) -> TokenStream {
    let codec = field.table();
    match &field.kind {
        Kind::One | Kind::Any => quote!(#codec),
        Kind::Append => quote!(#codec.1.write),
        Kind::With(_) => quote!(#codec.write),
    }
}

fn encode_update(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let (error, encode) = (engine(quote!(CodecError)), private(quote!(derived::encode_write)));
    let writes = stored(input).map(|field| {
        let (ident, name, codec) = (&field.ident, &field.name, write_codec(field));
        quote!(#encode(#name, &update.#ident, #codec.encode, out)?;)
    });
    quote! {
        fn encode_update(
            &self,
            update: &#update_type,
            out: &mut ::std::vec::Vec<u8>,
        ) -> ::core::result::Result<(), #error> {
            out.push(b'{');
            #(#writes)*
            out.push(b'}');
            ::core::result::Result::Ok(())
        }
    }
}

fn decode_update(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let (error, decode) = (engine(quote!(CodecError)), private(quote!(derived::decode_writes)));
    let writes = stored(input).map(|field| {
        let (ident, name, codec) = (&field.ident, &field.name, write_codec(field));
        quote!(#name => update.#ident = ::core::option::Option::Some((#codec.decode)(field, json)?))
    });
    quote! {
        fn decode_update(&self, bytes: &[u8]) -> ::core::result::Result<#update_type, #error> {
            let mut update = <#update_type as ::core::default::Default>::default();
            #decode(bytes, |field, json| {
                match field {
                    #(#writes,)*
                    _ => return ::core::result::Result::Ok(false),
                }
                ::core::result::Result::Ok(true)
            })?;
            ::core::result::Result::Ok(update)
        }
    }
}
