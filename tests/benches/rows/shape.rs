//! Rows 22 and 23: compiling and drawing.

use std::collections::HashMap;
use std::fmt::Write;
use std::hint::black_box;
use std::sync::Arc;

use graph_engine::Graph;
use petgraph::graph::DiGraph;
use petgraph::visit::Dfs;

use crate::limit::{Node, Noop};
use crate::measure::{Timed, on_each, times};
use crate::suite::{Law, Row, Suite};
use crate::workloads::count::{Count, Noop as Nothing, chain, name};

/// A graph of boxed nodes, a map of names, and a walk that finds all of them.
fn bare_compile(names: &[String]) {
    let mut graph = DiGraph::<Arc<dyn Node>, ()>::with_capacity(names.len(), names.len());
    let mut index = HashMap::with_capacity(names.len());
    for name in names {
        index.insert(name.clone(), graph.add_node(Arc::new(Noop)));
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

/// The limit of row 22.
pub(crate) fn compile_by_hand() -> Timed<'static> {
    let names: Vec<String> = (0..LENGTH).map(name).collect();
    times(RUNS, move || bare_compile(&names))
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

fn compile(runs: u64, length: u64) -> Timed<'static> {
    on_each(runs, move || chain(length, || Nothing), |builder| drop(black_box(builder.compile().expect("compiles"))))
}

fn compiled(length: u64) -> Graph<Count> {
    chain(length, || Nothing).compile().expect("compiles")
}

#[derive(Clone, Copy)]
enum Text {
    Mermaid,
    Dot,
}

fn drawn(text: Text, runs: u64, length: u64) -> Timed<'static> {
    let graph = compiled(length);
    times(runs, move || {
        drop(black_box(match text {
            Text::Mermaid => graph.topology().mermaid().to_string(),
            Text::Dot => graph.topology().dot().to_string(),
        }));
    })
}

pub(crate) const LENGTH: u64 = 1_000;
pub(crate) const RUNS: u64 = 20;

pub(crate) fn rows(suite: &mut Suite) {
    let names: Vec<String> = (0..LENGTH).map(name).collect();
    let row = |number, workload| Row::new(number, workload, LENGTH, "").unit("node", RUNS * LENGTH);
    suite.pair(row(22, "chain_compile").ratio(6.0).most(800.0), || (compile_by_hand(), compile(RUNS, LENGTH)));
    suite.pair(Row::extra("chain_build", LENGTH, "").unit("node", RUNS * LENGTH), || {
        (compile_by_hand(), times(RUNS, || drop(black_box(compiled(LENGTH)))))
    });
    for (workload, text) in [("export_mermaid", Text::Mermaid), ("export_dot", Text::Dot)] {
        suite.pair(row(23, workload).ratio(5.0).most(300.0), || {
            (times(RUNS, || bare_text(&names)), drawn(text, RUNS, LENGTH))
        });
    }
}

pub(crate) fn laws(suite: &mut Suite) {
    let law = |rows, name| Law { rows, name, unit: "node", units: (RUNS * LENGTH, RUNS * LENGTH), most: 1.3 };
    suite.law(&law(&[22], "compile: chain of 1,000, 10,000"), || (compile(RUNS, LENGTH), compile(2, 10 * LENGTH)));
    for (name, text) in [("Mermaid: chain of 1,000, 10,000", Text::Mermaid), ("DOT: chain of 1,000, 10,000", Text::Dot)]
    {
        suite.law(&law(&[23], name), || (drawn(text, RUNS, LENGTH), drawn(text, 2, 10 * LENGTH)));
    }
}
