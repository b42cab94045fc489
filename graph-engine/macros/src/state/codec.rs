//! The half of `impl State` that stores: fields and updates as JSON.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::input::{Field, Input, Kind};
use super::update::append_item;
use crate::paths::{engine, private};

fn stored(input: &Input) -> impl Iterator<Item = &Field> {
    input.fields.iter().filter(|field| !field.transient)
}

fn codec_name(field: &Field) -> Ident {
    format_ident!("__CODEC_{}", field.index)
}

/// One table per stored field: the only place where its type must be one that can be stored.
pub(crate) fn tables(input: &Input) -> TokenStream {
    let tables = stored(input).map(|field| {
        let (name, ty) = (codec_name(field), &field.ty);
        let (table, new) = match &field.kind {
            Kind::One | Kind::Any => (quote!(derived::Codec<#ty>), quote!(derived::codec::<#ty>)),
            Kind::Append => {
                let item = append_item(ty);
                (quote!(derived::AppendCodec<#ty, #item>), quote!(derived::append_codec::<#ty, _>))
            }
            Kind::With(reducer) => {
                let item = &reducer.item;
                (quote!(derived::ReducedCodec<#ty, #item>), quote!(derived::reduced_codec::<#ty, #item>))
            }
        };
        let (table, new) = (private(table), private(new));
        quote!(const #name: #table = #new();)
    });
    tables.collect()
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
            let (index, ident, codec) = (field.index, &field.ident, codec_name(field));
            quote!(#index => (#codec.mark)(&self.#ident))
        })
        .collect()
}

fn encodes(input: &Input) -> Vec<TokenStream> {
    let encoding = engine(quote!(Encoding));
    let encode = |field: &Field| {
        let Field { index, ident, name, .. } = field;
        let codec = codec_name(field);
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.encode)(&self.#ident, #name, since, out)),
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
        let codec = codec_name(field);
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.decode)(&mut self.#ident, #name, encoding, bytes)),
            Kind::With(_) => quote!(#codec.value),
            Kind::One | Kind::Any => quote!(#codec),
        };
        quote!(#index => (#codec.decode)(#name, bytes).map(|value| self.#ident = value))
    };
    stored(input).map(decode).collect()
}

/// The codec of a field's write, as tokens that give its table.
fn write_codec(field: &Field) -> TokenStream {
    let codec = codec_name(field);
    match &field.kind {
        Kind::One | Kind::Any => quote!(#codec),
        Kind::Append | Kind::With(_) => quote!(#codec.write),
    }
}

fn encode_update(input: &Input) -> TokenStream {
    let (error, encode) = (engine(quote!(CodecError)), private(quote!(derived::encode_write)));
    let writes = stored(input).map(|field| {
        let (ident, name, codec) = (&field.ident, &field.name, write_codec(field));
        quote!(#encode(#name, &update.#ident, #codec.encode, out)?;)
    });
    quote! {
        fn encode_update(
            &self,
            update: &Self::Update,
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
    let (error, decode) = (engine(quote!(CodecError)), private(quote!(derived::decode_writes)));
    let writes = stored(input).map(|field| {
        let (ident, name, codec) = (&field.ident, &field.name, write_codec(field));
        quote!(#name => update.#ident = ::core::option::Option::Some((#codec.decode)(field, json)?))
    });
    quote! {
        fn decode_update(&self, bytes: &[u8]) -> ::core::result::Result<Self::Update, #error> {
            let mut update = <Self::Update as ::core::default::Default>::default();
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
