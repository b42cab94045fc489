//! The README's picture of the hotel graph is the one that the engine draws.

use std::fs;
use std::path::Path;

const BEGIN: &str = "<!-- hotel graph: begin -->\n";
const END: &str = "<!-- hotel graph: end -->";

#[test]
fn the_picture_in_the_readme_is_fresh() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = fs::read_to_string(&path).expect("the README is there");
    let (before, rest) = readme.split_once(BEGIN).expect("the picture has a beginning");
    let (shown, after) = rest.split_once(END).expect("the picture has an end");
    let graph = demos::hotel::graph::graph().expect("the graph compiles");
    let drawn = format!("```mermaid\n{}```\n", graph.topology().mermaid());
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, format!("{before}{BEGIN}{drawn}{END}{after}")).expect("the README can be written");
    } else {
        assert_eq!(shown, drawn, "run the test with UPDATE_EXPECT=1 to draw the picture anew");
    }
}
