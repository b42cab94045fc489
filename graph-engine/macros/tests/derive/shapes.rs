//! States of unusual shapes: private, without stored fields, inside a function, with awkward names.

use graph_engine::{FieldSet, State};

#[derive(State, Clone, Default)]
struct Secret {
    token: String,
    #[state(transient)]
    seen: bool,
}

#[derive(State, Clone, Default)]
struct Passing {
    #[state(transient)]
    seen: bool,
    #[state(with = update, item = u8, transient)]
    staged: Next,
}

#[derive(Clone, Default)]
struct Next(Option<Box<Self>>);

/// Named like a variable of the generated code.
#[expect(clippy::unnecessary_wraps, reason = "a reducer")]
fn update(next: &Next, _: u8) -> Result<Next, String> {
    Ok(Next(Some(Box::new(next.clone()))))
}

#[test]
fn debug_names_what_is_written_and_no_value() {
    assert_eq!(format!("{:?}", Secret::update().token("s3cr3t").seen(true)), "SecretUpdate(token, seen)");
    assert_eq!(format!("{:?}", Secret::update()), "SecretUpdate");
    let secret = Secret { token: "s3cr3t".into(), seen: true };
    assert_eq!((Secret::TOKEN.get(&secret).len(), secret.seen), (6, true));
}

#[test]
fn a_state_need_not_store_anything() {
    let mut passing = Passing { seen: true, ..Passing::default() };
    let (mut json, mut staged) = (Vec::new(), <Passing as State>::Staged::default());
    let mut update = Passing::update().staged(1).staged(2).seen(false);
    passing.encode_update(&update, &mut json).expect("nothing is stored");
    assert_eq!(json, b"{}");
    assert_eq!(passing.written(&passing.decode_update(&json).expect("an object")), FieldSet::EMPTY);

    passing.stage(&mut staged, &mut update).expect("never refuses");
    passing.apply(update);
    passing.settle(staged);
    assert!(!passing.seen && passing.staged.0.is_some_and(|next| next.0.is_some()));
}

/// Types whose names the generated code uses as well; it writes absolute paths.
mod shadows {
    #![expect(dead_code, reason = "they are only in the way")]

    use graph_engine::State;

    pub(super) struct Option;
    pub(super) struct Vec;
    pub(super) struct Result;
    pub(super) trait Into {}
    pub(super) trait Default {}

    #[derive(State, Clone)]
    #[state(derive(Clone))]
    pub(super) struct Shadowed {
        pub(super) some: ::std::option::Option<::std::string::String>,
        #[state(append)]
        pub(super) default: ::std::vec::Vec<u8>,
        pub(super) clone: ::std::string::String,
    }
}

#[test]
fn names_of_the_user_do_not_get_in_the_way() {
    use shadows::Shadowed;

    let update = Shadowed::update().some("a").default([1]).clone("b");
    let mut shadowed = Shadowed { some: None, default: Vec::new(), clone: String::new() };
    shadowed.apply(Clone::clone(&update));
    assert_eq!((shadowed.some.as_deref(), shadowed.default, shadowed.clone.as_str()), (Some("a"), vec![1], "b"));
}

#[test]
fn a_state_may_be_declared_inside_a_function() {
    #[derive(State, Clone, Default, serde::Serialize, serde::Deserialize)]
    struct Local {
        next: Option<Vec<Self>>,
    }

    let mut local = Local::default();
    local.apply(Local::update().next(vec![Local::default()]));
    assert_eq!(local.next.map(|next| next.len()), Some(1));
    assert_eq!(Local::NEXT.set(), FieldSet::of(0));
}
