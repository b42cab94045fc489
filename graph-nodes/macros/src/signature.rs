//! What the function is: checked as a whole, its state found.

use quote::ToTokens;
use syn::{FnArg, GenericArgument, ItemFn, PathArguments, ReturnType, Safety, Type};

use crate::argument::{self, Argument, Source, has_impl, last_segment, last_type};
use crate::mistakes::Mistakes;

/// Types whose last parameter is the state.
const NAME_THE_STATE: [&str; 3] = ["Snap", "Call", "ToolReply"];

/// Reads the arguments, and takes their attributes off.
pub(crate) fn arguments(mistakes: &mut Mistakes, function: &mut ItemFn) -> Vec<Argument> {
    let mut arguments = Vec::new();
    for argument in &mut function.sig.inputs {
        match argument {
            FnArg::Receiver(receiver) => mistakes.over(
                receiver,
                "a tool function has no `self`: ask for what it needs with `Res<T>`, or implement `Tool` for the type",
            ),
            FnArg::Typed(argument) => arguments.extend(argument::read(mistakes, argument)),
        }
    }
    check_whole(mistakes, &arguments);
    arguments
}

/// `Args<T>` is all arguments of the model.
fn check_whole(mistakes: &mut Mistakes, arguments: &[Argument]) {
    let mut whole = arguments.iter().filter(|argument| matches!(argument.source, Source::Whole(_)));
    if whole.next().is_none() {
        return;
    }
    for second in whole {
        mistakes.over(&second.ty, "a second `Args`: one struct holds all arguments of the model");
    }
    for argument in arguments.iter().filter(|argument| matches!(argument.source, Source::Model { .. })) {
        let message = "beside `Args` no argument comes from the model: make it a field of the struct, or mark it \
                       `#[tool(inject)]`";
        mistakes.over(&argument.ty, message);
    }
}

pub(crate) fn check(mistakes: &mut Mistakes, function: &ItemFn) {
    let sig = &function.sig;
    if sig.asyncness.is_none() {
        mistakes.at(sig.fn_token.span, format!("a tool is an `async fn`: write `async fn {}`", sig.ident));
    }
    if let Safety::Unsafe(token) = &sig.safety {
        mistakes.at(token.span, "a tool is a safe function: a model calls it");
    }
    if !sig.generics.params.is_empty() {
        mistakes.over(
            &sig.generics,
            "a tool has no generic parameters: write the types, or wrap a function that has them in one that has not",
        );
    }
    if let ReturnType::Type(_, ty) = &sig.output
        && has_impl(ty.to_token_stream())
    {
        mistakes.over(ty, "a tool names its result: write the type");
    }
}

/// The state, where the signature names it.
pub(crate) fn state_of(function: &ItemFn) -> Option<Type> {
    let arguments = function.sig.inputs.iter().filter_map(|argument| match argument {
        FnArg::Typed(argument) => Some(&*argument.ty),
        FnArg::Receiver(_) => None,
    });
    let result = match &function.sig.output {
        ReturnType::Type(_, ty) => Some(&**ty),
        ReturnType::Default => None,
    };
    arguments.chain(result).find_map(named_in).cloned()
}

/// The state that a type names, itself or in its parameters.
fn named_in(ty: &Type) -> Option<&Type> {
    let segment = last_segment(ty)?;
    if NAME_THE_STATE.iter().any(|name| segment.ident == name) {
        return last_type(segment);
    }
    let PathArguments::AngleBracketed(list) = &segment.arguments else { return None };
    list.args.iter().find_map(|argument| match argument {
        GenericArgument::Type(ty) => named_in(ty),
        _ => None,
    })
}
