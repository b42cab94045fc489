//! The update: a struct with one optional write per field, its setters and its `Debug`.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};

use super::attrs::is;
use super::input::{Field, Input, Kind};
use super::types::{Items, Param};
use crate::paths::{engine, private};

/// The struct itself. It stands outside of the block that hides everything else.
pub(crate) fn definition(input: &Input) -> TokenStream {
    let Input { ident, vis, update, derives, fields } = input;
    let doc = format!("A partial write of [`{ident}`]: what a node returns. Fields that are `None` stay as they are.");
    let field_docs = fields.iter().map(|field| format!("The write of field `{}`.", field.name));
    let (field_vis, names) = (fields.iter().map(|f| &f.vis), fields.iter().map(|f| &f.ident));
    let writes = fields.iter().map(Field::write);
    let derives = (!derives.is_empty()).then(|| quote!(#[derive(#(#derives),*)]));
    quote! {
        #[doc = #doc]
        #[must_use = "an update does nothing until a node returns it"]
        #derives
        #vis struct #update {
            #(
                #[doc = #field_docs]
                #field_vis #names: ::core::option::Option<#writes>,
            )*
        }
    }
}

/// `Default`, `Debug` and the setters.
pub(crate) fn impls(input: &Input) -> TokenStream {
    let Input { update, derives, fields, .. } = input;
    let names: Vec<_> = fields.iter().map(|field| &field.ident).collect();
    let setters = fields.iter().map(Field::setters);
    let debug = (!derives.iter().any(|path| is(path, "Debug"))).then(|| debug(input));
    let vis = &input.vis;
    quote! {
        #[automatically_derived]
        impl ::core::default::Default for #update {
            fn default() -> Self {
                Self { #(#names: ::core::option::Option::None),* }
            }
        }

        #debug

        #[automatically_derived]
        #[allow(dead_code, reason = "not every field needs every setter")]
        impl #update {
            #(#setters)*

            /// This update and then the later one, as one update.
            #vis fn then(self, later: Self) -> Self {
                __compose(self, later)
            }
        }
    }
}

/// Names only: values may be secrets.
fn debug(input: &Input) -> TokenStream {
    let Input { update, fields, .. } = input;
    let title = update.to_string();
    let (idents, names) = (fields.iter().map(|f| &f.ident), fields.iter().map(|f| &f.name));
    quote! {
        #[automatically_derived]
        impl ::core::fmt::Debug for #update {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                let mut written = f.debug_tuple(#title);
                #(
                    if self.#idents.is_some() {
                        written.field(&::core::format_args!(#names));
                    }
                )*
                written.finish()
            }
        }
    }
}

impl Field {
    /// The type of one write, without its `Option`.
    fn write(&self) -> TokenStream {
        let ty = &self.ty;
        match &self.kind {
            Kind::One | Kind::Any => quote!(#ty),
            Kind::Append => engine(quote!(Added<#ty>)),
            Kind::With(reducer) => {
                let item = &reducer.item;
                engine(quote!(Reduced<#ty, #item>))
            }
        }
    }

    fn setters(&self) -> TokenStream {
        let Self { ident, vis, ty, name, .. } = self;
        match &self.kind {
            Kind::One | Kind::Any => {
                let param = Param::of(ty);
                let (ty, value) = (&param.ty, param.value(quote!(value)));
                let doc = format!("Writes field `{name}`.");
                quote! {
                    #[doc = #doc]
                    #vis fn #ident(mut self, value: #ty) -> Self {
                        self.#ident = ::core::option::Option::Some(#value);
                        self
                    }
                }
            }
            Kind::Append => {
                let add = self.append_setter();
                let added = engine(quote!(Added));
                let overwrite = self.overwrite_setter(&quote!(#added { overwrite: true, items: value }));
                quote!(#add #overwrite)
            }
            Kind::With(reducer) => {
                let param = Param::of(&reducer.item);
                let (item, value) = (&param.ty, param.value(quote!(item)));
                let doc = format!("Gives an item to the reducer of field `{name}`, after earlier ones.");
                let reduced = engine(quote!(Reduced));
                let overwrite = self.overwrite_setter(&quote!(#reduced {
                    overwrite: ::core::option::Option::Some(value),
                    items: ::std::vec::Vec::new(),
                }));
                quote! {
                    #[doc = #doc]
                    #vis fn #ident(mut self, item: #item) -> Self {
                        self.#ident.get_or_insert_default().items.push(#value);
                        self
                    }
                    #overwrite
                }
            }
        }
    }

    fn append_setter(&self) -> TokenStream {
        let Self { ident, vis, ty, name, .. } = self;
        let items_of = private(quote!(derived::ItemsOf));
        let (param, value) = match Items::of(ty) {
            Items::Texts => {
                let text = quote!(impl ::core::convert::Into<::std::string::String>);
                let texts = quote! {
                    ::core::iter::Iterator::map(::core::iter::IntoIterator::into_iter(items), ::core::convert::Into::into)
                };
                (quote!(impl ::core::iter::IntoIterator<Item = #text>), texts)
            }
            Items::Of(item) => (quote!(impl ::core::iter::IntoIterator<Item = #item>), quote!(items)),
            Items::Unknown => (quote!(impl #items_of<#ty>), quote!(items)),
        };
        let doc = format!("Adds items to field `{name}`, after earlier ones.");
        let ops = self.ops();
        quote! {
            #[doc = #doc]
            #vis fn #ident(mut self, items: #param) -> Self {
                let write = self.#ident.get_or_insert_with(#ops.empty);
                #items_of::<#ty>::push_to(#value, write);
                self
            }
        }
    }

    fn overwrite_setter(&self, write: &TokenStream) -> TokenStream {
        let Self { ident, vis, ty, name, .. } = self;
        let overwrite = self.overwrite();
        let param = Param::of(ty);
        let (ty, value) = (&param.ty, param.value(quote!(value)));
        let doc = format!(
            "Replaces field `{name}`, past its merge rule; what this update wrote to it before is gone.\n\n\
             Only one task a super-step may write a field that it overwrites."
        );
        quote! {
            #[doc = #doc]
            #vis fn #overwrite(mut self, value: #ty) -> Self {
                let value = #value;
                self.#ident = ::core::option::Option::Some(#write);
                self
            }
        }
    }

    /// The constant that holds a field's table of functions.
    pub(crate) fn table(&self) -> Ident {
        format_ident!("__FIELD_{}", self.index)
    }

    /// The operations of an `append` field: alone, or beside the codec of a stored one.
    pub(crate) fn ops(&self) -> TokenStream {
        let table = self.table();
        if self.transient { quote!(#table) } else { quote!(#table.ops) }
    }
}
