//! What can be seen of a field's type in its tokens, and how a setter takes such a value.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

use crate::paths::private;

/// Collections whose item is their only type argument.
const LISTS: [&str; 5] = ["Log", "Vec", "VecDeque", "BTreeSet", "HashSet"];

/// How a setter takes a value: the parameter's type and the expression that makes the field's type of it.
///
/// Only `String` and `Option` convert. With `impl Into<T>` everywhere an integer literal would fall back to `i32`.
pub(crate) struct Param {
    pub(crate) ty: TokenStream,
    convert: Convert,
}

enum Convert {
    Keep,
    Into,
    OptionalText,
}

impl Param {
    pub(crate) fn of(ty: &Type) -> Self {
        if is_string(ty) {
            return Self { ty: quote!(impl ::core::convert::Into<#ty>), convert: Convert::Into };
        }
        match option_item(ty) {
            Some(item) if is_string(item) => {
                let text = private(quote!(derived::IntoOptionalText));
                Self { ty: quote!(impl #text), convert: Convert::OptionalText }
            }
            Some(_) => Self { ty: quote!(impl ::core::convert::Into<#ty>), convert: Convert::Into },
            None => Self { ty: ty.to_token_stream(), convert: Convert::Keep },
        }
    }

    /// The field's value made of the expression.
    pub(crate) fn value(&self, from: TokenStream) -> TokenStream {
        match self.convert {
            Convert::Keep => from,
            Convert::Into => quote!(::core::convert::Into::into(#from)),
            Convert::OptionalText => {
                let text = private(quote!(derived::IntoOptionalText));
                quote!(#text::into_optional_text(#from))
            }
        }
    }
}

/// The last segment's name and its only type argument.
fn generic(ty: &Type) -> Option<(&Ident, Option<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    match &last.arguments {
        PathArguments::None => Some((&last.ident, None)),
        PathArguments::AngleBracketed(list) if list.args.len() == 1 => match list.args.first()? {
            GenericArgument::Type(item) => Some((&last.ident, Some(item))),
            _ => None,
        },
        _ => None,
    }
}

fn is_string(ty: &Type) -> bool {
    generic(ty).is_some_and(|(name, item)| name == "String" && item.is_none())
}

fn option_item(ty: &Type) -> Option<&Type> {
    generic(ty).filter(|(name, _)| *name == "Option")?.1
}

/// Whether the items of the collection are texts: of `Log<String>` and the like, and of `String` itself.
pub(crate) fn has_text_items(ty: &Type) -> bool {
    let list_of_strings =
        |(name, item): (&Ident, Option<&Type>)| LISTS.iter().any(|list| name == list) && item.is_some_and(is_string);
    is_string(ty) || generic(ty).is_some_and(list_of_strings)
}

/// The tokens with `Self` replaced by the struct's name, for places where `Self` would be the update.
pub(crate) fn without_self(tokens: TokenStream, state: &Ident) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Ident(word) if word == "Self" => {
            let mut name = state.clone();
            name.set_span(word.span());
            TokenTree::Ident(name)
        }
        TokenTree::Group(group) => {
            let mut replaced = Group::new(group.delimiter(), without_self(group.stream(), state));
            replaced.set_span(group.span());
            TokenTree::Group(replaced)
        }
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}
