//! Attribute lists: words, separated by commas, some with a value. A wrong word does not hide the next one.

use proc_macro2::{Ident, TokenStream, TokenTree};
use quote::ToTokens;
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Error, LitStr, Result, Token, token};

use crate::ctxt::Ctxt;

/// Hands every word of the `#[name(..)]` attributes to `read`, which parses the word's value.
pub(crate) fn each_word(
    cx: &Ctxt,
    attrs: &[Attribute],
    name: &str,
    allowed: &str,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> Result<()>,
) {
    for attr in attrs.iter().filter(|attr| attr.path().is_ident(name)) {
        let syn::Meta::List(list) = &attr.meta else {
            cx.push(Error::new_spanned(&attr.meta, format!("expected `#[{name}(..)]` with {allowed}")));
            continue;
        };
        if list.tokens.is_empty() {
            cx.push(Error::new_spanned(&attr.meta, format!("nothing in the parentheses: expected {allowed}")));
        }
        let read_all = attr.parse_args_with(|input: ParseStream<'_>| {
            while !input.is_empty() {
                if let Err(error) = read_word(input, allowed, &mut read) {
                    cx.push(error);
                    skip_to_comma(input)?;
                }
                input.parse::<Option<Token![,]>>()?;
            }
            Ok(())
        });
        if let Err(error) = read_all {
            cx.push(error);
        }
    }
}

fn read_word(
    input: ParseStream<'_>,
    allowed: &str,
    read: &mut impl FnMut(&Ident, ParseStream<'_>) -> Result<()>,
) -> Result<()> {
    if !input.peek(syn::Ident::peek_any) {
        return Err(input.error(format!("expected {allowed}")));
    }
    let word = input.call(Ident::parse_any)?;
    read(&word, input)?;
    if input.is_empty() || input.peek(Token![,]) {
        return Ok(());
    }
    Err(input.error(format!("expected `,` or the end after `{word}`")))
}

fn skip_to_comma(input: ParseStream<'_>) -> Result<()> {
    while !input.is_empty() && !input.peek(Token![,]) {
        input.parse::<TokenTree>()?;
    }
    Ok(())
}

/// A word that must stand alone.
pub(crate) fn flag(word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if input.peek(Token![=]) || input.peek(token::Paren) {
        return Err(Error::new(word.span(), format!("`{word}` takes no value")));
    }
    Ok(())
}

/// Whether `= value` follows; its `=` is taken.
pub(crate) fn has_value(input: ParseStream<'_>) -> Result<bool> {
    Ok(input.parse::<Option<Token![=]>>()?.is_some())
}

/// A string that stands where a path or a type belongs.
pub(crate) fn refuse_quotes(word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if !input.peek(LitStr) {
        return Ok(());
    }
    let text: LitStr = input.parse()?;
    Err(Error::new(text.span(), format!("write it without quotes: `{word} = {}`", text.value())))
}

/// The tokens as a user would write them, for messages and names: no blanks around `::` and `<`.
pub(crate) fn text_of(tokens: &impl ToTokens) -> String {
    let tokens: TokenStream = tokens.to_token_stream();
    let text = tokens.to_string();
    [(" :: ", "::"), (":: ", "::"), (" ::", "::"), (" < ", "<"), (" >", ">"), ("< ", "<"), (" ,", ",")]
        .iter()
        .fold(text, |text, (from, to)| text.replace(from, to))
}
