//! What compiles, what doesn't, and what the compiler says then. `TRYBUILD=overwrite` writes the `.stderr` files.

#[test]
fn tool() {
    let cases = trybuild::TestCases::new();
    cases.pass("tests/tool/pass/*.rs");
    cases.compile_fail("tests/tool/fail/*.rs");
}
