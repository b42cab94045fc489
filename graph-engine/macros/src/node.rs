//! `#[node(Hotel)]`: the function as it is, and beside it one check per argument, result and future, each at its
//! own place in the source.

use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, format_ident, quote, quote_spanned};
use syn::spanned::Spanned;
use syn::{Attribute, Error, FnArg, ItemFn, ReturnType, Safety, Signature, Type};

use crate::ctxt::Ctxt;
use crate::paths::private;

/// As many as `IntoNode` is implemented for.
const MAX_ARGUMENTS: usize = 8;

pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let cx = Ctxt::new();
    let state = read_state(&cx, attr);
    let checks = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => {
            let own = Ctxt::new();
            check_signature(&own, &function.sig);
            let valid = cx.absorb(own);
            state.filter(|_| valid).map(|state| checks(&state, &function))
        }
        Err(_) if !starts_function(&item) => {
            cx.error(item_span(&item), "`#[node(..)]` belongs on an `async fn`");
            None
        }
        // rustc reports the syntax error in the function itself.
        Err(_) => None,
    };
    let errors = cx.finish();
    quote!(#item #checks #errors)
}

fn read_state(cx: &Ctxt, attr: TokenStream) -> Option<Type> {
    if attr.is_empty() {
        cx.error(Span::call_site(), "of which graph? Name its state: `#[node(Hotel)]`");
        return None;
    }
    match syn::parse2(attr.clone()) {
        Ok(state) => Some(state),
        Err(_) => {
            cx.push(Error::new_spanned(attr, "expected the state of the graph and nothing else: `#[node(Hotel)]`"));
            None
        }
    }
}

fn starts_function(item: &TokenStream) -> bool {
    item.clone().into_iter().any(|token| matches!(token, proc_macro2::TokenTree::Ident(word) if word == "fn"))
}

fn item_span(item: &TokenStream) -> Span {
    item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span())
}

fn check_signature(cx: &Ctxt, sig: &Signature) {
    if sig.asyncness.is_none() {
        cx.error(sig.fn_token.span, format!("a node is an `async fn`: write `async fn {}`", sig.ident));
    }
    if let Safety::Unsafe(token) = &sig.safety {
        cx.error(token.span, "a node is a safe function: the engine calls it");
    }
    if !sig.generics.params.is_empty() {
        cx.push(Error::new_spanned(
            &sig.generics,
            "a node has no generic parameters: write the types, or wrap a function that has them in one that has not",
        ));
    }
    for (index, argument) in sig.inputs.iter().enumerate() {
        match argument {
            FnArg::Receiver(receiver) => cx.push(Error::new_spanned(
                receiver,
                "a node function has no `self`: ask for what it needs with `Res<T>`, or implement `Node` for the type",
            )),
            FnArg::Typed(argument) if is_impl(&argument.ty) => {
                cx.push(Error::new_spanned(
                    &argument.ty,
                    "a node has no generic parameters: write the argument's type",
                ));
            }
            FnArg::Typed(_) if index == MAX_ARGUMENTS => {
                cx.push(Error::new_spanned(argument, format!("a node has at most {MAX_ARGUMENTS} arguments")));
            }
            FnArg::Typed(_) => {}
        }
    }
}

fn is_impl(ty: &Type) -> bool {
    matches!(ty, Type::ImplTrait(_))
}

/// Whether the type is `impl Trait` or has one inside, which can't be written anywhere but in a signature.
fn has_impl(tokens: TokenStream) -> bool {
    tokens.into_iter().any(|token| match token {
        proc_macro2::TokenTree::Ident(word) => word == "impl",
        proc_macro2::TokenTree::Group(group) => has_impl(group.stream()),
        _ => false,
    })
}

fn checks(state: &Type, function: &ItemFn) -> TokenStream {
    let sig = &function.sig;
    let types: Vec<&Type> = sig.inputs.iter().filter_map(argument_type).collect();
    let names: Vec<Ident> = (0..types.len()).map(|index| format_ident!("__argument_{index}")).collect();
    let cfgs = function.attrs.iter().filter(|attr: &&Attribute| attr.path().is_ident("cfg"));

    let check_arg = private(quote!(check_arg));
    let arguments = types.iter().map(|ty| quote_spanned!(ty.span()=> #check_arg::<#state, #ty>();));
    let name = &sig.ident;
    let result = check_result(state, sig, &names);
    let check_send = private(quote!(check_send));
    let send = quote_spanned!(name.span()=> #check_send(#name(#(#names),*)););
    quote! {
        #(#cfgs)*
        #[allow(warnings, reason = "only checks, never called")]
        const _: () = {
            fn __arguments() {
                #(#arguments)*
            }
            fn __result(#(#names: #types),*) {
                #result
            }
            fn __future(#(#names: #types),*) {
                #send
            }
        };
    }
}

fn argument_type(argument: &FnArg) -> Option<&Type> {
    match argument {
        FnArg::Typed(argument) => Some(&argument.ty),
        FnArg::Receiver(_) => None,
    }
}

/// The result's type as it is written; a result that can't be written elsewhere is taken from the call.
fn check_result(state: &Type, sig: &Signature, names: &[Ident]) -> TokenStream {
    let check = private(quote!(check_result));
    match &sig.output {
        ReturnType::Default => quote!(#check::<#state, ()>();),
        ReturnType::Type(_, ty) if has_impl(ty.to_token_stream()) => {
            let (check, name) = (private(quote!(check_output)), &sig.ident);
            let function = Ident::new("__function", ty.span());
            quote_spanned! {ty.span()=>
                let #function = #name;
                #check::<#state, _>(#function(#(#names),*));
            }
        }
        ReturnType::Type(_, ty) => quote_spanned!(ty.span()=> #check::<#state, #ty>();),
    }
}
