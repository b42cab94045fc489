//! Raw names, names of methods that every type has, aliases of collections, and no prelude.
#![no_implicit_prelude]
#![deny(warnings)]

use ::graph_engine::{Log, State};
use ::std::clone::Clone;
use ::std::default::Default;
use ::std::prelude::rust_2024::derive;

type Notes = Log<::std::string::String>;

#[derive(State, Clone, Default)]
#[state(derive(Clone))]
struct Trip {
    r#type: ::std::string::String,
    #[state(append)]
    r#move: Notes,
    clone: u8,
    default: u8,
    into: u8,
    update: u8,
}

impl ::std::clone::Clone for Other {
    fn clone(&self) -> Self {
        Other { r#yield: self.r#yield }
    }
}

#[derive(State)]
struct Other {
    r#yield: u8,
}

fn main() {
    let update = Trip::update()
        .r#type("a")
        .r#move([::std::string::String::new()])
        .overwrite_move(Log::new())
        .clone(1)
        .default(2);
    let _ = ::std::clone::Clone::clone(&update.into(3).update(4));
    ::std::assert_eq!((Trip::TYPE.name(), Trip::MOVE.name(), Other::YIELD.name()), ("type", "move", "yield"));
}
