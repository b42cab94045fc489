//! The words of `#[tool(..)]`, on the function and on its arguments. A wrong word does not hide the next one.

use proc_macro2::{Ident, Span, TokenTree};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Error, Expr, LitStr, Result, Token, Type};

use crate::mistakes::Mistakes;

/// As many characters as every provider takes.
const LONGEST_NAME: usize = 64;

const ON_FUNCTION: &str =
    "`name = \"..\"`, `description = \"..\"`, `state = Type`, `concurrency_safe`, `read_only` or `confirm`";
const ON_ARGUMENT: &str = "`default`, `default = value` or `inject`";

/// What `#[tool(..)]` says of the function.
#[derive(Default)]
pub(crate) struct FunctionWords {
    pub(crate) name: Option<LitStr>,
    pub(crate) description: Option<LitStr>,
    pub(crate) state: Option<Type>,
    pub(crate) concurrency_safe: Option<Span>,
    pub(crate) read_only: Option<Span>,
    pub(crate) confirm: Option<Span>,
}

/// What `#[tool(..)]` says of an argument.
#[derive(Default)]
pub(crate) struct ArgumentWords {
    pub(crate) default: Option<Given>,
    pub(crate) inject: Option<Span>,
}

/// A default.
pub(crate) enum Given {
    /// That of the type.
    Type(Span),
    Value(Box<Expr>),
}

impl Given {
    pub(crate) fn span(&self) -> Span {
        match self {
            Self::Type(span) => *span,
            Self::Value(value) => syn::spanned::Spanned::span(value),
        }
    }
}

impl FunctionWords {
    pub(crate) fn read(mistakes: &mut Mistakes, input: ParseStream<'_>) -> Self {
        let mut words = Self::default();
        let mut names = Vec::new();
        each(mistakes, input, ON_FUNCTION, |word, input| match word.to_string().as_str() {
            "name" => {
                let name = text(word, input)?;
                names.push((name.value(), name.span()));
                once(&mut words.name, word, name)
            }
            "description" => {
                let description = text(word, input)?;
                if description.value().trim().is_empty() {
                    return Err(Error::new(description.span(), "a blank description: say what the tool does and when"));
                }
                once(&mut words.description, word, description)
            }
            "state" => {
                equals(word, input, "Type")?;
                if input.peek(LitStr) {
                    let quoted: LitStr = input.parse()?;
                    let message = format!("write it without quotes: `state = {}`", quoted.value());
                    return Err(Error::new(quoted.span(), message));
                }
                let state = input.parse()?;
                once(&mut words.state, word, state)
            }
            "concurrency_safe" => flag(&mut words.concurrency_safe, word, input),
            "read_only" => flag(&mut words.read_only, word, input),
            "confirm" => flag(&mut words.confirm, word, input),
            _ => Err(unknown(word, ON_FUNCTION)),
        });
        for (name, span) in names {
            check_name(mistakes, &name, span, "another name");
        }
        words
    }
}

impl ArgumentWords {
    pub(crate) fn read(&mut self, mistakes: &mut Mistakes, input: ParseStream<'_>) {
        each(mistakes, input, ON_ARGUMENT, |word, input| match word.to_string().as_str() {
            "default" if input.parse::<Option<Token![=]>>()?.is_some() => {
                let value = Given::Value(input.parse()?);
                once(&mut self.default, word, value)
            }
            "default" => once(&mut self.default, word, Given::Type(word.span())),
            "inject" => flag(&mut self.inject, word, input),
            _ => Err(unknown(word, ON_ARGUMENT)),
        });
    }
}

/// A name that some provider refuses.
pub(crate) fn check_name(mistakes: &mut Mistakes, name: &str, at: Span, help: &str) {
    if name.trim().is_empty() {
        mistakes.at(at, "a blank name: a model calls a tool by its name");
    } else if let Some(wrong) = name.chars().find(|c| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))) {
        mistakes.at(
            at,
            format!("`{wrong}` in the name of a tool: providers take letters, digits, `_` and `-`; give it {help}"),
        );
    } else if name.len() > LONGEST_NAME {
        let length = name.len();
        mistakes
            .at(at, format!("a name of {length} characters: providers take at most {LONGEST_NAME}; give it {help}"));
    }
}

fn each(
    mistakes: &mut Mistakes,
    input: ParseStream<'_>,
    allowed: &str,
    mut read: impl FnMut(&Ident, ParseStream<'_>) -> Result<()>,
) {
    while !input.is_empty() {
        if let Err(error) = one(input, allowed, &mut read) {
            mistakes.push(error);
            while !input.is_empty() && !input.peek(Token![,]) {
                // Something is there, so it can be taken.
                let _ = input.parse::<TokenTree>();
            }
        }
        let _ = input.parse::<Option<Token![,]>>();
    }
}

fn one(
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

fn text(word: &Ident, input: ParseStream<'_>) -> Result<LitStr> {
    equals(word, input, "\"..\"")?;
    input.parse().map_err(|error: Error| Error::new(error.span(), format!("expected a text: `{word} = \"..\"`")))
}

/// At the end of the words rustc has no token to point at, so the word itself is named.
fn equals(word: &Ident, input: ParseStream<'_>, value: &str) -> Result<()> {
    match input.parse::<Option<Token![=]>>()? {
        Some(_) => Ok(()),
        None => Err(Error::new(word.span(), format!("`{word}` needs a value: `{word} = {value}`"))),
    }
}

/// A word that stands alone.
fn flag(place: &mut Option<Span>, word: &Ident, input: ParseStream<'_>) -> Result<()> {
    if input.peek(Token![=]) || input.peek(syn::token::Paren) {
        return Err(Error::new(word.span(), format!("`{word}` takes no value")));
    }
    once(place, word, word.span())
}

fn once<T>(place: &mut Option<T>, word: &Ident, value: T) -> Result<()> {
    if place.is_some() {
        return Err(Error::new(word.span(), format!("`{word}` is there already")));
    }
    *place = Some(value);
    Ok(())
}

fn unknown(word: &Ident, allowed: &str) -> Error {
    Error::new(word.span(), format!("unknown word `{word}`: expected {allowed}"))
}
