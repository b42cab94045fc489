//! The half of `impl State` that stores: fields and updates as JSON.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{quote, quote_spanned};
use syn::spanned::Spanned;

use super::input::{Field, Input, Kind};
use crate::paths::{engine, private, respanned};

fn stored(input: &Input) -> impl Iterator<Item = &Field> {
    input.fields.iter().filter(|field| !field.transient)
}

/// One table per stored field, and one per `append` field: the only places where a type must be one that can be
/// stored or appended to.
pub(crate) fn tables(input: &Input) -> TokenStream {
    input.fields.iter().filter_map(table).collect()
}

fn table(field: &Field) -> Option<TokenStream> {
    let (name, ty) = (field.table(), &field.ty);
    let (table, new, arguments) = match (&field.kind, field.transient) {
        (Kind::Append, true) => ("AppendOps", "append_ops", quote!(#ty)),
        (Kind::Append, false) => {
            let item = quote_spanned!(ty.span()=> _);
            ("StoredAppend", "stored_append", quote!(#ty, #item))
        }
        (_, true) => return None,
        (Kind::One | Kind::Any, false) => ("Codec", "codec", quote!(#ty)),
        (Kind::With(reducer), false) => {
            let item = &reducer.item;
            ("ReducedCodec", "reduced_codec", quote!(#ty, #item))
        }
    };
    let of = match &field.kind {
        Kind::Append => quote!(#ty),
        _ => arguments.clone(),
    };
    let table = private_at(Span::call_site(), table);
    let new = private_at(ty.span(), new);
    Some(quote!(const #name: #table<#of> = #new::<#arguments>();))
}

/// An item that only generated code uses. A bound on it that is not met is reported at the given place.
fn private_at(at: Span, item: &str) -> TokenStream {
    let item = Ident::new(item, at);
    respanned(private(quote!(derived::#item)), at)
}

/// The items of the impl, in the trait's order from `mark` on.
pub(crate) fn expand(input: &Input) -> TokenStream {
    let error = engine(quote!(CodecError));
    let encoding = engine(quote!(Encoding));
    let ok = quote!(::core::result::Result::Ok);
    let (marks, encodes, decodes) = (marks(input), encodes(input), decodes(input));
    let decode_deltas = decode_deltas(input);
    let (by_writes, encode_update, decode_update) = (by_writes(input), encode_update(input), decode_update(input));
    let copy_update = copy_update(input);
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

        #decode_deltas
        #by_writes
        #encode_update
        #decode_update
        #copy_update
    }
}

fn marks(input: &Input) -> Vec<TokenStream> {
    let appended = stored(input).filter(|field| matches!(field.kind, Kind::Append));
    appended
        .map(|field| {
            let (index, ident, codec) = (field.index, &field.ident, field.table());
            quote!(#index => (#codec.codec.mark)(&self.#ident))
        })
        .collect()
}

fn encodes(input: &Input) -> Vec<TokenStream> {
    let encoding = engine(quote!(Encoding));
    let encode = |field: &Field| {
        let Field { index, ident, name, .. } = field;
        let codec = field.table();
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.codec.encode)(&self.#ident, #name, since, out)),
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
            Kind::Append => return quote!(#index => (#codec.codec.decode)(&mut self.#ident, #name, encoding, bytes)),
            Kind::With(_) => quote!(#codec.value),
            Kind::One | Kind::Any => quote!(#codec),
        };
        quote!(#index => (#codec.decode)(#name, bytes).map(|value| self.#ident = value))
    };
    stored(input).map(decode).collect()
}

/// Nothing but an `append` field has deltas of its own; another may have been one when they were stored.
fn decode_deltas(input: &Input) -> TokenStream {
    let (error, deltas) = (engine(quote!(CodecError)), engine(quote!(Deltas)));
    let each = private(quote!(derived::decode_each));
    let decode = |field: &Field| {
        let Field { index, ident, name, .. } = field;
        let codec = field.table();
        let codec = match &field.kind {
            Kind::Append => return quote!(#index => (#codec.codec.decode_deltas)(&mut self.#ident, #name, deltas)),
            Kind::With(_) => quote!(#codec.value),
            Kind::One | Kind::Any => quote!(#codec),
        };
        let one = quote!(|bytes| (#codec.decode)(#name, bytes).map(|value| self.#ident = value));
        quote!(#index => #each(deltas, #one))
    };
    let decodes = stored(input).map(decode);
    quote! {
        fn decode_deltas(
            &mut self,
            field: usize,
            deltas: #deltas<'_>,
        ) -> ::core::result::Result<(), #error> {
            match field {
                #(#decodes,)*
                _ => ::core::result::Result::Ok(()),
            }
        }
    }
}

/// The codec of a field's write, as tokens that give its table.
fn write_codec(field: &Field) -> TokenStream {
    let codec = field.table();
    match &field.kind {
        Kind::One | Kind::Any => quote!(#codec),
        Kind::Append => quote!(#codec.codec.write),
        Kind::With(_) => quote!(#codec.write),
    }
}

/// The fields of which a checkpoint holds the writes, and such a write. Which `append` fields are among them is known to
/// their types only.
fn by_writes(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let (set, error) = (engine(quote!(FieldSet)), engine(quote!(CodecError)));
    let encode = private(quote!(derived::encode_one));
    let fields = || stored(input).filter(|field| matches!(field.kind, Kind::Append | Kind::With(_)));
    let inserts = fields().map(|field| {
        let (index, codec) = (field.index, field.table());
        let insert = quote!(fields.insert(#set::of(#index)););
        match &field.kind {
            Kind::Append => quote!(if !#codec.codec.marked { #insert }),
            _ => insert,
        }
    });
    let writes = fields().map(|field| {
        let (index, ident, name, codec) = (field.index, &field.ident, &field.name, write_codec(field));
        quote!(#index => #encode(#name, &update.#ident, #codec.encode, out))
    });
    quote! {
        fn stored_by_writes(&self) -> #set {
            let mut fields = #set::EMPTY;
            #(#inserts)*
            fields
        }

        fn encode_write(
            &self,
            field: usize,
            update: &#update_type,
            out: &mut ::std::vec::Vec<u8>,
        ) -> ::core::result::Result<(), #error> {
            match field {
                #(#writes,)*
                _ => ::core::result::Result::Ok(()),
            }
        }
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

/// Whether the items of a reducer can be cloned is known to their types only: a method of their own is found before that
/// of the trait.
fn copy_update(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let (write_of, uncopied) = (private(quote!(derived::WriteOf)), private(quote!(derived::Uncopied)));
    let copies = stored(input).map(|field| {
        let ident = &field.ident;
        quote! {
            if let ::core::option::Option::Some(write) = &update.#ident {
                copy.#ident = ::core::option::Option::Some(#write_of(write).copied()?);
            }
        }
    });
    quote! {
        fn copy_update(&self, update: &#update_type) -> ::core::option::Option<#update_type> {
            use #uncopied as _;
            let mut copy = <#update_type as ::core::default::Default>::default();
            #(#copies)*
            ::core::option::Option::Some(copy)
        }
    }
}
