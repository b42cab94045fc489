//! The arguments of the function: which come from the model, and which from the call.

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, GenericArgument, Meta, Pat, PatType, PathArguments, PathSegment, Type};

use crate::doc;
use crate::mistakes::Mistakes;
use crate::words::{ArgumentWords, Given};

/// Extractors by name. `In` is a node's, and here so that it is refused as what it is.
const INJECTED: [&str; 7] = ["Snap", "Res", "Ctx", "CancellationToken", "CallInfo", "Call", "In"];

pub(crate) struct Argument {
    pub(crate) ty: Type,
    pub(crate) source: Source,
}

pub(crate) enum Source {
    /// The call provides it.
    Call,
    /// All arguments of the model: the `T` of `Args<T>`.
    Whole(Type),
    /// One argument of the model.
    Model { name: String, description: String, default: Option<Given> },
}

/// Reads one argument and takes its attributes off: rustc allows none there.
pub(crate) fn read(mistakes: &mut Mistakes, argument: &mut PatType) -> Option<Argument> {
    let attrs = std::mem::take(&mut argument.attrs);
    let words = words_of(mistakes, &attrs);
    let ty = Type::clone(&argument.ty);
    if has_impl(ty.to_token_stream()) {
        mistakes.over(&ty, "a tool has no generic parameters: write the argument's type");
        return None;
    }
    let called = last_segment(&ty).map(|segment| segment.ident.to_string()).unwrap_or_default();
    let injected = words.inject.is_some() || INJECTED.contains(&called.as_str());
    let whole = if injected || called != "Args" { None } else { last_segment(&ty).and_then(last_type) };
    if let Type::Reference(reference) = &ty {
        let message = match &*reference.elem {
            Type::Path(path) if path.path.is_ident("str") => "a tool owns its arguments: write `String`".to_owned(),
            _ => "a tool owns its arguments: write the type without `&`, and `Snap<S>` for the state".to_owned(),
        };
        mistakes.over(&ty, message);
        return None;
    }
    if injected || whole.is_some() {
        if let Some(default) = &words.default {
            mistakes.at(default.span(), "a default is for an argument of the model");
        }
        if let Some(doc) = attrs.iter().find(|attr| attr.path().is_ident("doc")) {
            mistakes.over(doc, "the model doesn't see this argument: write `//`");
        }
        let source = whole.map_or(Source::Call, |inner| Source::Whole(inner.clone()));
        return Some(Argument { ty, source });
    }
    let Some(name) = name_of(&argument.pat) else {
        mistakes.over(&argument.pat, "the model needs a name for this argument: write `name: Type`");
        return None;
    };
    let source = Source::Model { name, description: doc::description(&attrs), default: words.default };
    Some(Argument { ty, source })
}

fn words_of(mistakes: &mut Mistakes, attrs: &[Attribute]) -> ArgumentWords {
    let mut words = ArgumentWords::default();
    for attr in attrs.iter().filter(|attr| !attr.path().is_ident("doc")) {
        match &attr.meta {
            Meta::List(list) if attr.path().is_ident("tool") => {
                let read = |input: ParseStream<'_>| {
                    words.read(mistakes, input);
                    Ok(())
                };
                // What is wrong is in the mistakes by then.
                if let Err(error) = syn::parse::Parser::parse2(read, list.tokens.clone()) {
                    mistakes.push(error);
                }
            }
            _ => mistakes
                .over(attr, "on an argument of a tool stand doc comments and `#[tool(..)]`; use `Args<T>` for more"),
        }
    }
    words
}

/// The name that the model uses.
fn name_of(pattern: &Pat) -> Option<String> {
    match pattern {
        Pat::Ident(ident) if ident.subpat.is_none() && ident.by_ref.is_none() => Some(ident.ident.unraw().to_string()),
        _ => None,
    }
}

pub(crate) fn last_segment(ty: &Type) -> Option<&PathSegment> {
    match ty {
        Type::Path(path) if path.qself.is_none() => path.path.segments.last(),
        Type::Group(group) => last_segment(&group.elem),
        Type::Paren(paren) => last_segment(&paren.elem),
        _ => None,
    }
}

/// The last type in the angle brackets of a segment.
pub(crate) fn last_type(segment: &PathSegment) -> Option<&Type> {
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    list.args.iter().rev().find_map(|argument| match argument {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

/// Whether the type is `impl Trait` or has one inside, which can't be written anywhere but in a signature.
pub(crate) fn has_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        TokenTree::Ident(word) => word == "impl",
        TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
}
