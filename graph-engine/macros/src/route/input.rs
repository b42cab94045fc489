//! The enum as the derive understands it, and every check of it.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};
use syn::ext::IdentExt;
use syn::parse::ParseStream;
use syn::{Attribute, Data, DeriveInput, Error, Fields, LitStr, Result, Type};

use super::snake::snake_case;
use crate::attr::{each_word, flag, has_value};
use crate::ctxt::Ctxt;

const ENUM_WORDS: &str = "`stay`, `direct` or `finish`";
const VARIANT_WORDS: &str = "`to = \"node\"` or `end`";

/// A checked enum.
pub(crate) struct Input {
    pub(crate) ident: Ident,
    pub(crate) moves: Moves,
    pub(crate) variants: Vec<Variant>,
}

/// The moves beside `go` and `fan_out` that are possible.
#[derive(Default)]
pub(crate) struct Moves {
    pub(crate) stay: bool,
    pub(crate) direct: bool,
    pub(crate) finish: bool,
}

/// One variant; one with a mistake has no target.
pub(crate) struct Variant {
    pub(crate) ident: Ident,
    pub(crate) target: Option<Target>,
    pub(crate) payload: Option<Type>,
}

/// Where a variant leads.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Target {
    End,
    Node(String),
}

impl Input {
    /// Reads the enum; anything else gives nothing.
    pub(crate) fn read(cx: &Ctxt, input: DeriveInput) -> Option<Self> {
        let generic = !input.generics.params.is_empty();
        if generic {
            cx.push(Error::new_spanned(&input.generics, "a route has no generic parameters: its targets are fixed"));
        }
        let refuse = |at: Span, what: &str| {
            cx.error(at, format!("a route is an enum whose variants are the targets, not a {what}"));
            None
        };
        let data = match input.data {
            Data::Enum(data) => data,
            Data::Struct(data) => return refuse(data.struct_token.span, "struct"),
            Data::Union(data) => return refuse(data.union_token.span, "union"),
        };
        let moves = Moves::read(cx, &input.attrs);
        let mut taken = BTreeMap::new();
        let variants = data.variants.into_iter().map(|variant| {
            let mut variant = Variant::read(cx, variant);
            variant.refuse_taken(cx, &mut taken);
            variant
        });
        let variants = variants.collect();
        (!generic).then_some(Self { ident: input.ident, moves, variants })
    }
}

impl Moves {
    fn read(cx: &Ctxt, attrs: &[Attribute]) -> Self {
        let mut moves = Self::default();
        each_word(cx, attrs, "route", ENUM_WORDS, |word, input| {
            let slot = match word.to_string().as_str() {
                "stay" => &mut moves.stay,
                "direct" => &mut moves.direct,
                "finish" => &mut moves.finish,
                _ => {
                    let message = format!("unknown word `{word}`: on an enum expected {ENUM_WORDS}");
                    return Err(Error::new(word.span(), message));
                }
            };
            flag(word, input)?;
            if std::mem::replace(slot, true) {
                return Err(Error::new(word.span(), format!("`{word}` is given twice")));
            }
            Ok(())
        });
        moves
    }
}

impl Variant {
    fn read(cx: &Ctxt, variant: syn::Variant) -> Self {
        let own = Ctxt::new();
        let payload = read_payload(&own, &variant);
        let target = read_target(&own, &variant);
        if target == Target::End
            && let Some(ty) = &payload
        {
            own.push(Error::new_spanned(ty, "the end takes no payload: a reply goes out by `direct` or `finish`"));
        }
        let valid = cx.absorb(own);
        Self { ident: variant.ident, target: valid.then_some(target), payload }
    }

    /// Two variants of one target would be one edge with two names.
    fn refuse_taken(&mut self, cx: &Ctxt, taken: &mut BTreeMap<Target, Ident>) {
        let Some(target) = &self.target else { return };
        let Some(other) = taken.insert(target.clone(), self.ident.clone()) else { return };
        let place = match target {
            Target::End => "to the end".to_owned(),
            Target::Node(name) => format!("to `{name}`"),
        };
        let this = &self.ident;
        cx.error(this.span(), format!("variants `{other}` and `{this}` both lead {place}: keep one of them"));
        self.target = None;
    }
}

fn read_payload(cx: &Ctxt, variant: &syn::Variant) -> Option<Type> {
    let expected = "a target is a variant without a field, or with one unnamed field: its payload";
    match &variant.fields {
        Fields::Unit => return None,
        Fields::Unnamed(fields) if fields.unnamed.len() == 1 => return Some(fields.unnamed.first()?.ty.clone()),
        Fields::Unnamed(_) | Fields::Named(_) => {}
    }
    cx.push(Error::new_spanned(&variant.fields, expected));
    None
}

fn read_target(cx: &Ctxt, variant: &syn::Variant) -> Target {
    let mut to: Option<String> = None;
    let mut end = None;
    each_word(cx, &variant.attrs, "route", VARIANT_WORDS, |word, input| {
        let twice = match word.to_string().as_str() {
            "to" => to.replace(node_name(word, input)?).is_some(),
            "end" => {
                flag(word, input)?;
                end.replace(word.clone()).is_some()
            }
            _ => {
                let message = format!("unknown word `{word}`: on a variant expected {VARIANT_WORDS}");
                return Err(Error::new(word.span(), message));
            }
        };
        if twice { Err(Error::new(word.span(), format!("`{word}` is given twice"))) } else { Ok(()) }
    });
    match (to, end) {
        (Some(_), Some(end)) => {
            cx.error(end.span(), "`end` beside `to`: a variant leads to one place");
            Target::End
        }
        (None, Some(_)) => Target::End,
        (Some(name), None) => Target::Node(name),
        (None, None) => {
            let name = snake_case(&variant.ident.unraw().to_string());
            if let Err(message) = check_name(&name) {
                cx.error(variant.ident.span(), message);
            }
            Target::Node(name)
        }
    }
}

fn node_name(word: &Ident, input: ParseStream<'_>) -> Result<String> {
    let expected = "`to` is the name of a node: `to = \"node\"`";
    if !has_value(input)? || input.is_empty() {
        return Err(Error::new(word.span(), expected));
    }
    if !input.peek(LitStr) {
        return Err(input.error(expected));
    }
    let name: LitStr = input.parse()?;
    check_name(&name.value()).map_err(|message| Error::new(name.span(), message))?;
    Ok(name.value())
}

fn check_name(name: &str) -> std::result::Result<(), String> {
    if name.trim().is_empty() {
        return Err("the name of a node is not empty".to_owned());
    }
    if name.starts_with("__") {
        return Err(format!(
            "`{name}` is reserved: names that start with `__` are the engine's own (the end is `#[route(end)]`)"
        ));
    }
    Ok(())
}
