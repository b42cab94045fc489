//! What can be seen of a field's type in its tokens, and how a setter takes such a value.

use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use syn::{GenericArgument, PathArguments, Type};

use crate::paths::private;

/// Collections whose item is their only type argument.
const LISTS: [&str; 5] = ["Log", "Vec", "VecDeque", "BTreeSet", "HashSet"];

/// Collections whose items are pairs of their type arguments.
const MAPS: [&str; 2] = ["BTreeMap", "HashMap"];

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

/// The last segment's name and its type arguments, if it has no others.
fn arguments(ty: &Type) -> Option<(&Ident, Vec<&Type>)> {
    let Type::Path(path) = ty else { return None };
    let last = path.path.segments.last()?;
    let list = match &last.arguments {
        PathArguments::None => return Some((&last.ident, Vec::new())),
        PathArguments::AngleBracketed(list) => &list.args,
        _ => return None,
    };
    let types = list.iter().map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    });
    Some((&last.ident, types.collect::<Option<_>>()?))
}

fn is_string(ty: &Type) -> bool {
    arguments(ty).is_some_and(|(name, items)| name == "String" && items.is_empty())
}

fn option_item(ty: &Type) -> Option<&Type> {
    match arguments(ty)? {
        (name, items) if name == "Option" && items.len() == 1 => items.into_iter().next(),
        _ => None,
    }
}

/// What an `append` field takes, as far as the tokens of its type tell.
pub(crate) enum Items {
    Texts,
    Of(TokenStream),
    /// Known to rustc only.
    Unknown,
}

impl Items {
    pub(crate) fn of(ty: &Type) -> Self {
        match arguments(ty) {
            Some((name, items)) if name == "String" && items.is_empty() => Self::Texts,
            Some((name, items)) if LISTS.iter().any(|list| name == list) => match items[..] {
                [item] if is_string(item) => Self::Texts,
                [item] => Self::Of(quote!(#item)),
                _ => Self::Unknown,
            },
            Some((name, items)) if MAPS.iter().any(|map| name == map) => match items[..] {
                [key, value] => Self::Of(quote!((#key, #value))),
                _ => Self::Unknown,
            },
            _ => Self::Unknown,
        }
    }
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
