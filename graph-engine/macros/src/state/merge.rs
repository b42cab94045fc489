//! The half of `impl State` that merges: from an update's writes to the state's values.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::spanned::Spanned;

use super::input::{Field, Input, Kind, Reducer};
use super::types::without_self;
use crate::attr::text_of;
use crate::paths::{engine, private};

/// The struct of values that reducers made.
pub(crate) fn staged(input: &Input) -> TokenStream {
    let with: Vec<_> = with_fields(input).map(|(field, _)| field).collect();
    if with.is_empty() {
        return TokenStream::new();
    }
    let vis = &input.vis;
    let (names, types) = (with.iter().map(|f| &f.ident), with.iter().map(|f| &f.ty));
    let empty = with.iter().map(|f| &f.ident);
    quote! {
        #[doc(hidden)]
        #[allow(missing_debug_implementations, unreachable_pub, reason = "only the engine sees it")]
        #vis struct __Staged {
            #(#names: ::core::option::Option<#types>,)*
        }

        #[automatically_derived]
        impl ::core::default::Default for __Staged {
            fn default() -> Self {
                Self { #(#empty: ::core::option::Option::None),* }
            }
        }
    }
}

fn with_fields(input: &Input) -> impl Iterator<Item = (&Field, &Reducer)> {
    input.fields.iter().filter_map(|field| match &field.kind {
        Kind::With(reducer) => Some((field, &**reducer)),
        _ => None,
    })
}

/// The items of the impl, in the trait's order up to `compose`.
pub(crate) fn expand(input: &Input) -> TokenStream {
    let update = &input.update;
    let staged = staged_type(input);
    let (fields, sets) = (fields(input), sets(input));
    let (stage, apply, settle) = (stage(input), apply(input), settle(input));
    let reset = reset_transient(input);
    quote! {
        type Update = #update;
        type Staged = #staged;
        #fields #sets #stage #apply #settle #reset

        fn compose(first: #update, later: #update) -> #update {
            __compose(first, later)
        }
    }
}

fn staged_type(input: &Input) -> TokenStream {
    if with_fields(input).next().is_some() { quote!(__Staged) } else { quote!(()) }
}

fn fields(input: &Input) -> TokenStream {
    let count = input.fields.len();
    let (spec, merge) = (engine(quote!(FieldSpec)), engine(quote!(Merge)));
    let specs = input.fields.iter().map(|field| {
        let name = &field.name;
        let new = match &field.kind {
            Kind::One => quote!(new(#name, #merge::One)),
            Kind::Any => quote!(new(#name, #merge::Any)),
            Kind::Append => quote!(new(#name, #merge::Append)),
            Kind::With(reducer) => {
                let path = text_of(&without_self(reducer.path.to_token_stream(), &input.ident));
                quote!(reduced(#name, #path))
            }
        };
        let transient = field.transient.then(|| quote!(.transient()));
        quote!(#spec::#new #transient)
    });
    quote! {
        fn fields(&self) -> &[#spec] {
            static FIELDS: [#spec; #count] = [#(#specs),*];
            &FIELDS
        }
    }
}

fn sets(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let set = engine(quote!(FieldSet));
    let (idents, indices) = (input.fields.iter().map(|f| &f.ident), input.fields.iter().map(|f| f.index));
    let overwrites = input.fields.iter().filter_map(|field| {
        let (ident, index) = (&field.ident, field.index);
        let overwrites = match &field.kind {
            Kind::One | Kind::Any => return None,
            Kind::Append => quote!(write.overwrite),
            Kind::With(_) => quote!(write.overwrite.is_some()),
        };
        Some(quote! {
            if update.#ident.as_ref().is_some_and(|write| #overwrites) {
                fields.insert(#set::of(#index));
            }
        })
    });
    quote! {
        fn written(&self, update: &#update_type) -> #set {
            let mut fields = #set::EMPTY;
            #(
                if update.#idents.is_some() {
                    fields.insert(#set::of(#indices));
                }
            )*
            fields
        }

        fn overwritten(&self, update: &#update_type) -> #set {
            let mut fields = #set::EMPTY;
            #(#overwrites)*
            fields
        }
    }
}

/// The reducer is called in a closure with written types, so that a wrong signature is a mismatch at the path.
/// The names of the closure's own variables can't be seen from the path.
fn stage(input: &Input) -> TokenStream {
    let (update_type, staged_type) = (&input.update, staged_type(input));
    let [staged, update] = ["staged", "update"].map(|name| Ident::new(name, Span::mixed_site()));
    let (error, reduced) = (engine(quote!(ReduceError)), engine(quote!(Reduced)));
    let folds = with_fields(input).map(|(field, Reducer { path, item })| {
        let Field { ident, ty, name, .. } = field;
        let at = Span::mixed_site().located_at(path.span());
        let [current, given] = ["current", "item"].map(|name| Ident::new(name, at));
        let reduce = quote_spanned! {at=>
            |#current: &#ty, #given: #item| -> ::core::result::Result<#ty, _> { #path(#current, #given) }
        };
        let new_error = quote_spanned!(path.span()=> #error::new(#name, error));
        quote! {
            if let ::core::option::Option::Some(write) = #update.#ident.take() {
                let current = #staged.#ident.as_ref().unwrap_or(&self.#ident);
                let folded = #reduced::fold(write, current, #reduce);
                match folded {
                    ::core::result::Result::Ok(::core::option::Option::Some(value)) => {
                        #staged.#ident = ::core::option::Option::Some(value);
                    }
                    ::core::result::Result::Ok(::core::option::Option::None) => {}
                    ::core::result::Result::Err(error) => {
                        return ::core::result::Result::Err(#new_error);
                    }
                }
            }
        }
    });
    quote! {
        fn stage(
            &self,
            #staged: &mut #staged_type,
            #update: &mut #update_type,
        ) -> ::core::result::Result<(), #error> {
            #(#folds)*
            ::core::result::Result::Ok(())
        }
    }
}

fn apply(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let applied = input.fields.iter().filter_map(|field| {
        let ident = &field.ident;
        let apply = match &field.kind {
            Kind::One | Kind::Any => quote!(self.#ident = write),
            Kind::Append => {
                let ops = field.ops();
                quote!((#ops.apply)(write, &mut self.#ident))
            }
            Kind::With(_) => return None,
        };
        Some(quote! {
            if let ::core::option::Option::Some(write) = update.#ident {
                #apply;
            }
        })
    });
    quote! {
        fn apply(&mut self, update: #update_type) {
            #(#applied)*
        }
    }
}

fn settle(input: &Input) -> TokenStream {
    let staged_type = staged_type(input);
    let idents = with_fields(input).map(|(field, _)| &field.ident);
    quote! {
        fn settle(&mut self, staged: #staged_type) {
            #(
                if let ::core::option::Option::Some(value) = staged.#idents {
                    self.#idents = value;
                }
            )*
        }
    }
}

fn reset_transient(input: &Input) -> TokenStream {
    let resets = input.fields.iter().filter(|field| field.transient).map(|field| {
        let (ident, ty) = (&field.ident, &field.ty);
        quote!(self.#ident = <#ty as ::core::default::Default>::default();)
    });
    quote! {
        fn reset_transient(&mut self) {
            #(#resets)*
        }
    }
}

/// A function of its own, for `then` as well: what is wrong with the state is not said again there.
pub(crate) fn compose(input: &Input) -> TokenStream {
    let update_type = &input.update;
    let compose = private(quote!(derived::compose));
    let composed = input.fields.iter().map(|field| {
        let ident = &field.ident;
        match &field.kind {
            Kind::One | Kind::Any => quote! {
                if later.#ident.is_some() {
                    first.#ident = later.#ident;
                }
            },
            Kind::Append => {
                let ops = field.ops();
                quote!(#compose(&mut first.#ident, later.#ident, #ops.then);)
            }
            Kind::With(_) => {
                let reduced = engine(quote!(Reduced));
                quote!(#compose(&mut first.#ident, later.#ident, #reduced::then);)
            }
        }
    });
    quote! {
        fn __compose(mut first: #update_type, later: #update_type) -> #update_type {
            #(#composed)*
            first
        }
    }
}
