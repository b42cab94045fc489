//! The tool: a value with the function's name that can be called like it.

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use quote::{format_ident, quote, quote_spanned};
use syn::ext::IdentExt;
use syn::parse::{ParseStream, Parser};
use syn::spanned::Spanned;
use syn::{Attribute, ItemFn, ReturnType, Type};

use crate::argument::{Argument, Source};
use crate::mistakes::Mistakes;
use crate::words::{FunctionWords, Given, check_name};
use crate::{doc, signature};

pub(crate) fn expand(attr: TokenStream, item: TokenStream) -> TokenStream {
    let mut mistakes = Mistakes::default();
    let read = |input: ParseStream<'_>| Ok(FunctionWords::read(&mut mistakes, input));
    // Wrong words are among the mistakes, so reading itself doesn't fail.
    let words = Parser::parse2(read, attr).unwrap_or_default();
    let mut function = match syn::parse2::<ItemFn>(item.clone()) {
        Ok(function) => function,
        Err(_) => {
            let is_fn = |token: &TokenTree| matches!(token, TokenTree::Ident(word) if word == "fn");
            if !item.clone().into_iter().any(|token| is_fn(&token)) {
                let at = item.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
                mistakes.at(at, "`#[tool]` belongs on an `async fn`");
            }
            // Else rustc reports the syntax error in the function itself.
            let errors = mistakes.report();
            return quote!(#item #errors);
        }
    };
    signature::check(&mut mistakes, &function);
    let arguments = signature::arguments(&mut mistakes, &mut function);
    let spec = spec(&mut mistakes, &words, &function);
    if !mistakes.is_empty() {
        let errors = mistakes.report();
        return quote!(#function #errors);
    }
    let state = words.state.or_else(|| signature::state_of(&function));
    let promises = Promises {
        concurrency_safe: words.concurrency_safe.is_some(),
        read_only: words.read_only.is_some(),
        confirm: words.confirm.is_some(),
    };
    Tool { function, arguments, state, spec, promises }.write()
}

/// Name and description.
struct Spec {
    name: String,
    description: String,
}

fn spec(mistakes: &mut Mistakes, words: &FunctionWords, function: &ItemFn) -> Spec {
    let ident = &function.sig.ident;
    let name = match &words.name {
        Some(name) => name.value(),
        None => {
            let name = ident.unraw().to_string();
            check_name(mistakes, &name, ident.span(), "another one with `#[tool(name = \"..\")]`");
            name
        }
    };
    let description = match &words.description {
        Some(text) => text.value(),
        None => doc::description(&function.attrs),
    };
    if description.trim().is_empty() {
        mistakes.at(
            ident.span(),
            "a model needs a description: write a doc comment, or `#[tool(description = \"..\")]`, that says what the \
             tool does and when to use it",
        );
    }
    Spec { name, description }
}

/// What the author says of the body.
struct Promises {
    concurrency_safe: bool,
    read_only: bool,
    confirm: bool,
}

impl Promises {
    fn write(&self) -> TokenStream {
        let arguments = private(quote!(ArgumentMap));
        let concurrency_safe = self.concurrency_safe.then(|| {
            quote! {
                fn concurrency_safe(&self, _: &#arguments) -> bool {
                    true
                }
            }
        });
        let read_only = self.read_only.then(|| {
            quote! {
                fn read_only(&self) -> bool {
                    true
                }
            }
        });
        let asks = private(quote!(Confirm));
        let confirm = self.confirm.then(|| {
            quote! {
                fn confirm(&self, _: &#arguments) -> ::core::option::Option<#asks> {
                    ::core::option::Option::Some(#asks::new())
                }
            }
        });
        quote!(#concurrency_safe #read_only #confirm)
    }
}

/// A path into what generated code uses.
fn private(item: TokenStream) -> TokenStream {
    quote!(::graph_nodes::__private::#item)
}

struct Tool {
    function: ItemFn,
    arguments: Vec<Argument>,
    state: Option<Type>,
    spec: Spec,
    promises: Promises,
}

impl Tool {
    fn write(mut self) -> TokenStream {
        let name = self.function.sig.ident.clone();
        let visibility = std::mem::replace(&mut self.function.vis, syn::Visibility::Inherited);
        let attrs = std::mem::take(&mut self.function.attrs);
        let of = |names: &[&str]| -> Vec<Attribute> {
            attrs.iter().filter(|attr| names.iter().any(|name| attr.path().is_ident(name))).cloned().collect()
        };
        // The value is what others see; what is said of the body stays with the body.
        let (cfgs, outside) = (of(&["cfg"]), of(&["doc", "deprecated", "allow"]));
        let inside =
            attrs.iter().filter(|attr| !["cfg", "doc", "deprecated"].iter().any(|name| attr.path().is_ident(name)));
        self.function.attrs = inside.cloned().collect();

        let function = &self.function;
        let (deref, parts, tool) = (self.deref(), self.parts(), self.tool());
        quote! {
            #(#cfgs)*
            #(#outside)*
            #[allow(non_camel_case_types, reason = "a tool is called like its function")]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #visibility struct #name;

            #(#cfgs)*
            const _: () = {
                #function
                #deref
                #parts
                #tool
            };
        }
    }

    fn result(&self) -> TokenStream {
        match &self.function.sig.output {
            ReturnType::Default => quote!(()),
            ReturnType::Type(_, ty) => quote!(#ty),
        }
    }

    fn names(&self) -> Vec<Ident> {
        (0..self.arguments.len()).map(|index| format_ident!("__argument_{index}")).collect()
    }

    /// What makes the value callable.
    fn deref(&self) -> TokenStream {
        let name = &self.function.sig.ident;
        let (names, result) = (self.names(), self.result());
        let types: Vec<&Type> = self.arguments.iter().map(|argument| &argument.ty).collect();
        let running = private(quote!(Running<#result>));
        // What keeps the future on one thread is told at the function's name.
        let run = quote_spanned!(name.span()=> ::std::boxed::Box::pin(#name(#(#names),*)));
        quote! {
            impl ::core::ops::Deref for #name {
                type Target = fn(#(#types),*) -> #running;

                fn deref(&self) -> &Self::Target {
                    const RUN: fn(#(#types),*) -> #running = |#(#names),*| #run;
                    &RUN
                }
            }
        }
    }

    /// One function per argument. Each names the argument's type in one place, so that what the type lacks is told
    /// once, and where it is written.
    fn parts(&self) -> TokenStream {
        let (generics, state) = self.state();
        let part = |(name, argument): (Ident, &Argument)| {
            let ty = &argument.ty;
            let (generics, of, made) = match &argument.source {
                Source::Call => {
                    let (of, new) = (private(quote!(Injected<#state, #ty>)), private(quote!(injected)));
                    (&generics, of, quote_spanned!(ty.span()=> #new::<#state, #ty>()))
                }
                Source::Whole(inner) => {
                    let (of, new) = (private(quote!(Whole<#inner>)), private(quote!(whole)));
                    (&TokenStream::new(), of, quote_spanned!(inner.span()=> #new::<#inner>()))
                }
                Source::Model { name, description, default } => {
                    let (of, new) = (private(quote!(Argument<#ty>)), private(quote!(argument)));
                    let made = quote_spanned!(ty.span()=> #new::<#ty>(#name, #description));
                    let default = default.as_ref().map(|given| or(ty, given));
                    (&TokenStream::new(), of, quote!(#made #default))
                }
            };
            quote!(fn #name #generics() -> #of { #made })
        };
        self.names().into_iter().zip(&self.arguments).map(part).collect()
    }

    /// The parameters of what is generic over the state, and the state.
    fn state(&self) -> (TokenStream, TokenStream) {
        match &self.state {
            Some(state) => (quote!(), quote!(#state)),
            None => {
                let bound = private(quote!(State));
                (quote!(<AnyState: #bound>), quote!(AnyState))
            }
        }
    }

    fn tool(&self) -> TokenStream {
        let (name, names) = (&self.function.sig.ident, self.names());
        let (trait_, answer, call) = (private(quote!(Tool)), private(quote!(Answer)), private(quote!(Call)));
        let (spec, need) = (private(quote!(ToolSpec)), private(quote!(Need)));
        let async_trait = private(quote!(async_trait));
        let (generics, state) = self.state();
        let (tool_name, description) = (&self.spec.name, &self.spec.description);
        let (schema, take, result) = (self.schema(), self.take(&state), self.result());
        let at = match &self.function.sig.output {
            ReturnType::Default => name.span(),
            ReturnType::Type(_, ty) => ty.span(),
        };
        let into_reply = private(quote!(into_reply));
        let into_reply = quote_spanned!(at=> #into_reply::<#state, #result>);
        let promises = self.promises.write();
        let injected = self.parts_of(|source| matches!(source, Source::Call)).map(|part| of_state(&part, &state));
        quote! {
            #[#async_trait]
            impl #generics #trait_<#state> for #name {
                fn spec(&self) -> &#spec {
                    static SPEC: ::std::sync::LazyLock<#spec> =
                        ::std::sync::LazyLock::new(|| #spec::new(#tool_name, #description, #schema));
                    &SPEC
                }

                async fn call(&self, __call: #call<'_, #state>) -> #answer<#state> {
                    let __running = {
                        #take
                        (**self)(#(#names),*)
                    };
                    #into_reply(__running.await)
                }

                fn needs(&self) -> ::std::vec::Vec<#need> {
                    let mut __needs = ::std::vec::Vec::new();
                    #(__needs.extend(#injected.needs());)*
                    __needs
                }

                #promises
            }
        }
    }

    fn parts_of(&self, which: impl Fn(&Source) -> bool) -> impl Iterator<Item = Ident> {
        self.names()
            .into_iter()
            .zip(&self.arguments)
            .filter(move |(_, argument)| which(&argument.source))
            .map(|(name, _)| name)
    }

    fn schema(&self) -> TokenStream {
        if let Some(whole) = self.parts_of(|source| matches!(source, Source::Whole(_))).next() {
            return quote!(#whole().schema());
        }
        let properties = self.parts_of(|source| matches!(source, Source::Model { .. }));
        let object_schema = private(quote!(object_schema));
        quote!(#object_schema(&[#(&#properties()),*]))
    }

    /// Takes all arguments out of the call. All that can't be read are told at once, and before the call provides its
    /// part.
    fn take(&self, state: &TokenStream) -> TokenStream {
        let (mut read, mut values, mut lines) = (Vec::new(), Vec::new(), TokenStream::new());
        for (argument, name) in self.arguments.iter().zip(self.names()) {
            match &argument.source {
                Source::Call => {
                    let injected = of_state(&name, state);
                    lines.extend(quote!(let #name = #injected.take(&__call)?;));
                    continue;
                }
                Source::Whole(_) => values.push(quote!(__reader.whole(&#name()))),
                Source::Model { .. } => values.push(quote!(__reader.take(&#name()))),
            }
            read.push(name);
        }
        if read.is_empty() {
            return lines;
        }
        let reader = private(quote!(Reader));
        quote! {
            let mut __reader = #reader::new(&__call);
            let (#(::core::option::Option::Some(#read),)*) = (#(#values,)*) else {
                return ::core::result::Result::Err(__reader.fault());
            };
            #lines
        }
    }
}

/// The part of an injected argument: generic where the tool is.
fn of_state(part: &Ident, state: &TokenStream) -> TokenStream {
    if state.to_string() == "AnyState" { quote!(#part::<AnyState>()) } else { quote!(#part()) }
}

/// The default of an argument, as value and as the schema shows it.
fn or(ty: &Type, given: &Given) -> TokenStream {
    let shown = private(quote!(shown));
    let make = match given {
        Given::Type(span) => quote_spanned!(*span=> <#ty as ::core::default::Default>::default()),
        Given::Value(value) => quote_spanned!(value.span()=> { let __value: #ty = #value; __value }),
    };
    quote!(.or(|| #make, || #shown(#make)))
}
