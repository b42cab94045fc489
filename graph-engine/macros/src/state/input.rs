//! The struct as the derive understands it, and every check of its shape.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};
use quote::{ToTokens, format_ident};
use syn::ext::IdentExt;
use syn::{Data, DeriveInput, Error, ExprPath, Fields, Path, Type, Visibility};

use super::attrs::{FieldAttr, read_derives};
use super::types::without_self;
use crate::ctxt::Ctxt;

/// `FieldSet` is one word.
const MAX_FIELDS: usize = 64;

/// A checked struct.
pub(crate) struct Input {
    pub(crate) ident: Ident,
    pub(crate) vis: Visibility,
    /// `HotelUpdate`.
    pub(crate) update: Ident,
    pub(crate) derives: Vec<Path>,
    pub(crate) fields: Vec<Field>,
}

/// A checked field.
pub(crate) struct Field {
    pub(crate) index: usize,
    /// As the user wrote it, `r#type` included.
    pub(crate) ident: Ident,
    /// Without `r#`: the name in checkpoints and messages.
    pub(crate) name: String,
    pub(crate) vis: Visibility,
    pub(crate) ty: Type,
    pub(crate) kind: Kind,
    pub(crate) transient: bool,
}

/// How writes combine.
pub(crate) enum Kind {
    One,
    Any,
    Append,
    With(Box<Reducer>),
}

/// `with = path, item = Type`
pub(crate) struct Reducer {
    pub(crate) path: ExprPath,
    pub(crate) item: Type,
}

impl Input {
    /// Reads the struct. With mistakes in single fields the others are still given, so that the rest of the user's
    /// program is checked; without a struct of named fields there is nothing to give.
    pub(crate) fn read(cx: &Ctxt, input: DeriveInput) -> Option<Self> {
        let fields = named_fields(cx, &input)?;
        let derives = read_derives(cx, &input.attrs);
        let mut names = Names::default();
        let fields = fields.named.iter().enumerate().filter_map(|(index, field)| {
            let field = Field::read(cx, index, field, &input.ident)?;
            names.check(cx, &field).then_some(field)
        });
        Some(Self {
            fields: fields.collect(),
            update: format_ident!("{}Update", input.ident.unraw(), span = input.ident.span()),
            ident: input.ident,
            vis: input.vis,
            derives,
        })
    }
}

fn named_fields<'i>(cx: &Ctxt, input: &'i DeriveInput) -> Option<&'i syn::FieldsNamed> {
    let generic = !input.generics.params.is_empty();
    if generic {
        cx.push(Error::new_spanned(
            &input.generics,
            "a state has no generic parameters: its fields are stored and read by name",
        ));
    }
    let refuse = |at: Span, what: &str| {
        cx.error(at, format!("a state is a struct with named fields, not {what}"));
        None
    };
    match &input.data {
        Data::Enum(data) => refuse(data.enum_token.span, "an enum"),
        Data::Union(data) => refuse(data.union_token.span, "a union"),
        Data::Struct(data) => match &data.fields {
            Fields::Named(fields) if fields.named.is_empty() => refuse(input.ident.span(), "one without fields"),
            Fields::Named(fields) => (!generic).then_some(fields),
            Fields::Unnamed(fields) => refuse(fields.paren_token.span.join(), "a tuple struct"),
            Fields::Unit => refuse(input.ident.span(), "one without fields"),
        },
    }
}

impl Field {
    fn read(cx: &Ctxt, index: usize, field: &syn::Field, state: &Ident) -> Option<Self> {
        let own = Ctxt::new();
        let attr = FieldAttr::read(&own, &field.attrs);
        let valid = cx.absorb(own);
        let ident = field.ident.clone()?;
        if index == MAX_FIELDS {
            cx.error(
                ident.span(),
                format!("a state has at most {MAX_FIELDS} fields: `{}` is one too many", ident.unraw()),
            );
        }
        // A type with one path replaced by another is a type again; tokens that syn can't read stay as they are.
        let ty = |ty: &Type| {
            let tokens = without_self(ty.to_token_stream(), state);
            syn::parse2(tokens.clone()).unwrap_or(Type::Verbatim(tokens))
        };
        let transient = attr.transient();
        let mut kind = attr.into_kind(&field.ty);
        if let Kind::With(reducer) = &mut kind {
            reducer.item = ty(&reducer.item);
        }
        let name = ident.unraw().to_string();
        let field = Self { index, name, vis: field.vis.clone(), ty: ty(&field.ty), kind, transient, ident };
        (valid && index < MAX_FIELDS).then_some(field)
    }

    /// Whether the update has `overwrite_name` beside `name`.
    pub(crate) fn has_overwrite(&self) -> bool {
        matches!(self.kind, Kind::Append | Kind::With(_))
    }

    /// `overwrite_notes`
    pub(crate) fn overwrite(&self) -> Ident {
        format_ident!("overwrite_{}", self.name, span = self.ident.span())
    }

    /// `NOTES`
    pub(crate) fn key(&self) -> Ident {
        Ident::new(&self.name.to_uppercase(), self.ident.span())
    }
}

/// Names that the derive makes of field names; no two may be the same.
#[derive(Default)]
struct Names {
    methods: BTreeMap<String, String>,
    keys: BTreeMap<String, String>,
}

impl Names {
    /// Reports the field's names that are taken; `false` if there is one.
    fn check(&mut self, cx: &Ctxt, field: &Field) -> bool {
        let at = field.ident.span();
        if field.name == "then" {
            cx.error(at, "a field cannot be named `then`: every update has a method of this name");
            return false;
        }
        let mut methods = vec![field.name.clone()];
        methods.extend(field.has_overwrite().then(|| field.overwrite().to_string()));
        let mut free = true;
        for method in methods {
            if let Some(other) = self.methods.insert(method.clone(), field.name.clone()) {
                free = false;
                let this = &field.name;
                cx.error(
                    at,
                    format!("fields `{other}` and `{this}` both make a method `{method}` of the update: rename one"),
                );
            }
        }
        let key = field.key().to_string();
        if let Some(other) = self.keys.insert(key.clone(), field.name.clone()) {
            free = false;
            cx.error(at, format!("fields `{other}` and `{}` both make the key `{key}`: rename one", field.name));
        }
        free
    }
}
