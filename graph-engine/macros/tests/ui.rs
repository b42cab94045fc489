//! What compiles, what doesn't, and what the compiler says then. `TRYBUILD=overwrite` writes the `.stderr` files.

#[test]
fn state() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/state/pass/*.rs");
    cases.compile_fail("tests/state/fail/*.rs");
}

#[test]
fn route() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/route/pass/*.rs");
    cases.compile_fail("tests/route/fail/*.rs");
}

#[test]
fn node() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/node/pass/*.rs");
    cases.compile_fail("tests/node/fail/*.rs");
}
