//! `#[derive(Route)]`: read the enum, check it, write the route and what may be returned of it.

mod input;
mod snake;

use proc_macro2::TokenStream;
use quote::{quote, quote_spanned};
use syn::DeriveInput;
use syn::spanned::Spanned;

use self::input::{Input, Moves, Target, Variant};
use crate::ctxt::Ctxt;
use crate::paths::engine;

pub(crate) fn derive(input: DeriveInput) -> TokenStream {
    let cx = Ctxt::new();
    let input = Input::read(&cx, input);
    let errors = cx.finish();
    let code = input.as_ref().map(expand);
    quote!(#code #errors)
}

fn expand(input: &Input) -> TokenStream {
    let (route, returns) = (route(input), returns(input));
    let moves = moves(input);
    quote!(#route #moves #returns)
}

fn route(input: &Input) -> TokenStream {
    let Input { ident, moves, variants } = input;
    let Moves { stay, direct, finish } = moves;
    let (route, spec, payload) = (engine(quote!(Route)), engine(quote!(RouteSpec)), engine(quote!(Payload)));
    let valid: Vec<_> = variants.iter().filter_map(|variant| Some((variant, variant.target.as_ref()?))).collect();
    let targets = valid.iter().map(|(variant, target)| target_spec(variant, target));
    let arms = valid.iter().enumerate().map(|(index, (variant, _))| {
        let name = &variant.ident;
        match &variant.payload {
            None => quote!(Self::#name => (#index, ::core::option::Option::None)),
            Some(ty) => {
                let new = quote_spanned!(ty.span()=> #payload::new::<#ty>(payload));
                quote!(Self::#name(payload) => (#index, ::core::option::Option::Some(#new)))
            }
        }
    });
    // Variants with a mistake: compilation has failed already.
    let others = variants.iter().filter(|variant| variant.target.is_none()).map(|variant| {
        let name = &variant.ident;
        quote!(Self::#name { .. } => (0, ::core::option::Option::None))
    });
    quote! {
        #[automatically_derived]
        impl #route for #ident {
            const SPEC: &'static #spec = &#spec::new(&[#(#targets),*]).moves(#stay, #direct, #finish);

            fn into_target(self) -> (usize, ::core::option::Option<#payload>) {
                match self {
                    #(#arms,)*
                    #(#others,)*
                }
            }
        }
    }
}

fn target_spec(variant: &Variant, target: &Target) -> TokenStream {
    let spec = engine(quote!(TargetSpec));
    let name = match target {
        Target::End => engine(quote!(END)),
        Target::Node(name) => quote!(#name),
    };
    match &variant.payload {
        None => quote!(#spec::new(#name)),
        Some(ty) => quote!(#spec::with_payload::<#ty>(#name)),
    }
}

fn moves(input: &Input) -> TokenStream {
    let Input { ident, moves, .. } = input;
    let traits = [
        (moves.stay, engine(quote!(CanStay))),
        (moves.direct, engine(quote!(CanDirect))),
        (moves.finish, engine(quote!(CanFinish))),
    ];
    let traits = traits.into_iter().filter(|(possible, _)| *possible).map(|(_, path)| path);
    quote!(#(#[automatically_derived] impl #traits for #ident {})*)
}

/// Routers and nodes may return the enum itself.
fn returns(input: &Input) -> TokenStream {
    let ident = &input.ident;
    let (next, error) = (engine(quote!(Next)), engine(quote!(NodeError)));
    let into_next = engine(quote!(IntoNext));
    let (into_outcome, outcome) = (engine(quote!(IntoOutcome)), engine(quote!(Outcome)));
    let (state, info) = (engine(quote!(State)), engine(quote!(NodeInfo)));
    quote! {
        #[automatically_derived]
        impl #into_next for #ident {
            type Route = Self;

            fn into_next(self) -> ::core::result::Result<#next<Self>, #error> {
                ::core::result::Result::Ok(#next::go(self))
            }
        }

        #[automatically_derived]
        impl<__S: #state> #into_outcome<__S> for #ident {
            fn describe(info: &mut #info) {
                <#next<Self> as #into_outcome<__S>>::describe(info);
            }

            fn into_outcome(self) -> ::core::result::Result<#outcome<__S>, #error> {
                #into_outcome::into_outcome(#next::go(self))
            }
        }
    }
}
