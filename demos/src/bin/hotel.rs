//! Hotel.
fn main() {}
