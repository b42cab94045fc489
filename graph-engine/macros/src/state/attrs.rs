//! The words of `#[state(..)]` on fields and on the struct.

use proc_macro2::Ident;
use syn::parse::ParseStream;
use syn::punctuated::Punctuated;
use syn::{Attribute, Error, ExprPath, Path, Result, Token, Type, parenthesized, token};

use super::input::{Kind, Reducer};
use crate::attr::{each_word, flag, has_value, refuse_quotes};
use crate::ctxt::Ctxt;

const FIELD_WORDS: &str = "`append`, `any`, `with = path` (beside it `item = Type`) or `transient`";
const STRUCT_WORDS: &str = "`derive(Trait, ..)`";

/// What the attributes of one field say.
#[derive(Default)]
pub(crate) struct FieldAttr {
    kind: Option<(Ident, Word)>,
    item: Option<(Ident, Type)>,
    transient: Option<Ident>,
}

enum Word {
    Append,
    Any,
    With(Box<ExprPath>),
}

impl FieldAttr {
    pub(crate) fn read(cx: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut this = Self::default();
        let mut with_failed = false;
        each_word(cx, attrs, "state", FIELD_WORDS, |word, input| {
            let result = this.word(word, input);
            with_failed |= word == "with" && result.is_err();
            result
        });
        if let Some((word, _)) = &this.item
            && !with_failed
            && !matches!(this.kind, Some((_, Word::With(_))))
        {
            cx.error(word.span(), "`item = Type` says what a reducer takes: it belongs to `with = path`");
        }
        this
    }

    fn word(&mut self, word: &Ident, input: ParseStream<'_>) -> Result<()> {
        let kind = match word.to_string().as_str() {
            "append" => flag(word, input).map(|()| Word::Append)?,
            "any" => flag(word, input).map(|()| Word::Any)?,
            "with" => Word::With(Box::new(reducer(word, input)?)),
            "item" => {
                let ty = item(word, input)?;
                refuse_twice(word, self.item.as_ref().map(|(first, _)| first))?;
                self.item = Some((word.clone(), ty));
                return Ok(());
            }
            "transient" => {
                flag(word, input)?;
                refuse_twice(word, self.transient.as_ref())?;
                self.transient = Some(word.clone());
                return Ok(());
            }
            _ => return Err(Error::new(word.span(), format!("unknown word `{word}`: expected {FIELD_WORDS}"))),
        };
        if let Some((first, _)) = &self.kind {
            refuse_twice(word, Some(first).filter(|first| *first == word))?;
            let message = format!("`{word}` beside `{first}`: a field has one rule, `append`, `any` or `with = path`");
            return Err(Error::new(word.span(), message));
        }
        self.kind = Some((word.clone(), kind));
        Ok(())
    }

    pub(crate) fn transient(&self) -> bool {
        self.transient.is_some()
    }

    /// How writes combine. A reducer without `item` takes values of the field's own type.
    pub(crate) fn into_kind(self, field: &Type) -> Kind {
        match self.kind {
            None => Kind::One,
            Some((_, Word::Any)) => Kind::Any,
            Some((_, Word::Append)) => Kind::Append,
            Some((_, Word::With(path))) => {
                let item = self.item.map_or_else(|| field.clone(), |(_, item)| item);
                Kind::With(Box::new(Reducer { path: *path, item }))
            }
        }
    }
}

fn refuse_twice(word: &Ident, first: Option<&Ident>) -> Result<()> {
    match first {
        Some(_) => Err(Error::new(word.span(), format!("`{word}` is given twice"))),
        None => Ok(()),
    }
}

fn reducer(word: &Ident, input: ParseStream<'_>) -> Result<ExprPath> {
    let expected = "`with = path` names a reducer, a `fn(&T, Item) -> Result<T, E>`";
    if !has_value(input)? || input.is_empty() {
        return Err(Error::new(word.span(), expected));
    }
    refuse_quotes(word, input)?;
    input.fork().parse::<ExprPath>().map_err(|_| input.error(expected))?;
    input.parse()
}

fn item(word: &Ident, input: ParseStream<'_>) -> Result<Type> {
    let expected = "`item = Type` says what the reducer takes beside the field's value";
    if !has_value(input)? || input.is_empty() {
        return Err(Error::new(word.span(), expected));
    }
    refuse_quotes(word, input)?;
    input.fork().parse::<Type>().map_err(|_| input.error(expected))?;
    input.parse()
}

/// The derives that the struct asks for its update.
pub(crate) fn read_derives(cx: &Ctxt, attrs: &[Attribute]) -> Vec<Path> {
    let mut derives = Vec::new();
    each_word(cx, attrs, "state", STRUCT_WORDS, |word, input| {
        if word != "derive" {
            return Err(Error::new(word.span(), format!("unknown word `{word}`: on a struct expected {STRUCT_WORDS}")));
        }
        if !input.peek(token::Paren) {
            return Err(Error::new(word.span(), "`derive` lists traits for the update: `derive(Debug, PartialEq)`"));
        }
        let list;
        parenthesized!(list in input);
        for path in Punctuated::<Path, Token![,]>::parse_terminated(&list)? {
            if is(&path, "Default") {
                cx.push(Error::new_spanned(&path, "the update implements `Default` already"));
            } else {
                derives.push(path);
            }
        }
        Ok(())
    });
    derives
}

/// Whether the path ends in this name.
pub(crate) fn is(path: &Path, name: &str) -> bool {
    path.segments.last().is_some_and(|last| last.ident == name)
}
