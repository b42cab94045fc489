//! Rows 22 and 23: compiling and drawing.

use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use graph_engine::Graph;
use petgraph::graph::DiGraph;
use petgraph::visit::Dfs;

use crate::measure::{Row, Target, Timed, on_each, times};
use crate::nodes::{Bare, Count, Rest, name};
use crate::sequence::chain;

/// A graph of boxed nodes, a map of names, and a walk that finds all of them.
fn bare_compile(names: &[String]) {
    let mut graph = DiGraph::<Arc<dyn Bare>, ()>::with_capacity(names.len(), names.len());
    let mut index = HashMap::with_capacity(names.len());
    for name in names {
        index.insert(name.clone(), graph.add_node(Arc::new(Rest)));
    }
    for pair in names.windows(2) {
        graph.add_edge(index[&pair[0]], index[&pair[1]], ());
    }
    let mut walk = Dfs::new(&graph, index[&names[0]]);
    let mut seen = 0;
    while walk.next(&graph).is_some() {
        seen += 1;
    }
    assert_eq!(seen, names.len());
    black_box(&graph);
}

fn bare_text(names: &[String]) {
    let mut text = String::with_capacity(names.len() * 24);
    for name in names {
        writeln!(text, "\t{name}({name})").expect("a string takes everything");
    }
    for pair in names.windows(2) {
        writeln!(text, "\t{} --> {};", pair[0], pair[1]).expect("a string takes everything");
    }
    black_box(text);
}

fn compile<'a>(runs: u64, length: u64) -> Timed<'a> {
    on_each(runs, move || chain(length, || Rest), |builder| drop(black_box(builder.compile().expect("compiles"))))
}

fn compiled(length: u64) -> Graph<Count> {
    chain(length, || Rest).compile().expect("compiles")
}

pub(crate) fn rows() {
    let names: Vec<String> = (0..1_000).map(name).collect();
    let row = |name: &str, target| Row { name: name.to_owned(), unit: "node", units: (20_000, 20_000), target };
    row("22 chain_compile:1000, full validation", Target::Nanoseconds(800.0))
        .pair(times(20, || bare_compile(&names)), compile(20, 1_000));
    row("22 chain_build:1000, add and compile", Target::Shown)
        .pair(times(20, || bare_compile(&names)), times(20, || drop(black_box(compiled(1_000)))));
    let graph = compiled(1_000);
    row("23 export_mermaid:1000", Target::Nanoseconds(300.0))
        .pair(times(20, || bare_text(&names)), times(20, || drop(black_box(graph.topology().mermaid().to_string()))));
    row("23 export_dot:1000", Target::Nanoseconds(300.0))
        .pair(times(20, || bare_text(&names)), times(20, || drop(black_box(graph.topology().dot().to_string()))));
}

pub(crate) fn laws() {
    let law =
        |name: &str| Row { name: name.to_owned(), unit: "node", units: (20_000, 20_000), target: Target::Ratio(1.3) };
    law("compile: chain 1000, 10000").pair(compile(20, 1_000), compile(2, 10_000));
    let (small, large) = (compiled(1_000), compiled(10_000));
    law("Mermaid: chain 1000, 10000").pair(
        times(20, || drop(black_box(small.topology().mermaid().to_string()))),
        times(2, || drop(black_box(large.topology().mermaid().to_string()))),
    );
    law("DOT: chain 1000, 10000").pair(
        times(20, || drop(black_box(small.topology().dot().to_string()))),
        times(2, || drop(black_box(large.topology().dot().to_string()))),
    );
}
