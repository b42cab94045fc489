//! Every error that a user can cause is in `docs/errors.md`, with its exact text, what it means and what to do.

#[path = "errors_doc/codec.rs"]
mod codec;
#[path = "errors_doc/diagrams.rs"]
mod diagrams;
#[path = "errors_doc/doc.rs"]
mod doc;
#[path = "errors_doc/fake.rs"]
mod fake;
#[path = "errors_doc/flows.rs"]
mod flows;
#[path = "errors_doc/gates.rs"]
mod gates;
#[path = "errors_doc/lints.rs"]
mod lints;
#[path = "errors_doc/longterm.rs"]
mod longterm;
#[path = "errors_doc/lookups.rs"]
mod lookups;
#[path = "errors_doc/macros.rs"]
mod macros;
#[path = "errors_doc/mcp.rs"]
mod mcp;
#[path = "errors_doc/messages.rs"]
mod messages;
#[path = "errors_doc/models.rs"]
mod models;
#[path = "errors_doc/openai.rs"]
mod openai;
#[path = "errors_doc/questions.rs"]
mod questions;
#[path = "errors_doc/sources.rs"]
mod sources;
#[path = "errors_doc/specs.rs"]
mod specs;
#[path = "errors_doc/stages.rs"]
mod stages;
#[path = "errors_doc/tasks.rs"]
mod tasks;
#[path = "errors_doc/threads.rs"]
mod threads;
#[path = "errors_doc/time.rs"]
mod time;
#[path = "errors_doc/trip.rs"]
mod trip;
#[path = "errors_doc/turns.rs"]
mod turns;
#[path = "errors_doc/warnings.rs"]
mod warnings;
#[path = "errors_doc/workflows.rs"]
mod workflows;

use std::collections::{BTreeMap, BTreeSet};

use doc::Section;
use expect_test::expect_file;
use graph_engine::Lint;
use sources::{Item, items, items_of};

/// Everything, in the order in which a user meets it.
async fn sections() -> Vec<Section> {
    vec![
        macros::section(),
        lints::section(),
        warnings::section(),
        turns::section().await,
        tasks::section().await,
        tasks::routers().await,
        threads::section().await,
        questions::section().await,
        time::section().await,
        time::transfers().await,
        workflows::section().await,
        codec::state().await,
        codec::stores().await,
        longterm::section().await,
        specs::fields(),
        specs::section(),
        messages::section(),
        messages::assembly(),
        models::section().await,
        openai::section(),
        openai::vectors(),
        mcp::servers().await,
        mcp::problems(),
        mcp::calls(),
        mcp::offers().await,
        models::tools(),
        gates::checks(),
        gates::calls().await,
        lookups::lists().await,
        lookups::keys().await,
        stages::answers().await,
        stages::section().await,
        flows::templates(),
        flows::section(),
        diagrams::section(),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_document_says_what_is_printed() {
    expect_file!["../../docs/errors.md"].assert_eq(&doc::render(&sections().await));
}

/// Every text of every section, by the name of its entry.
async fn texts() -> BTreeMap<String, Vec<String>> {
    sections().await.into_iter().flat_map(|section| section.entries).map(|entry| (entry.name, entry.texts)).collect()
}

#[tokio::test(start_paused = true)]
async fn no_error_is_left_out() {
    let texts = texts().await;
    let mut wanted: Vec<String> = Lint::ALL.iter().map(|lint| format!("`{}` {lint:?}", lint.code())).collect();
    let is_error = |name: &str, attributes: &str| attributes.contains("thiserror::Error") || name == "FaultKind";
    let mut kinds = BTreeSet::new();
    for folder in ["graph-engine/src", "graph-nodes/src", "graph-nodes/openai/src", "graph-nodes/mcp/src"] {
        for item in items(folder, "enum", is_error) {
            assert!(!item.variants.is_empty(), "{item:?}");
            wanted.extend(item.variants.iter().map(|variant| format!("`{}::{variant}`", item.name)));
            kinds.insert(item.name);
        }
        wanted.extend(items(folder, "struct", is_error).into_iter().map(|item| format!("`{}`", item.name)));
    }
    // Were one of these not found, the reader of sources would be broken.
    for name in ["RunError", "StoreError", "CodecError", "FaultKind", "StageError", "ModelError", "ToolBoxError"] {
        assert!(kinds.contains(name), "{kinds:?}");
    }
    // Errors that write their own `Display`.
    wanted.extend(["`CompileError`", "`GateFailure`", "`GatedFailure`", "`SpecError`"].map(str::to_owned));
    let missing: Vec<&String> = wanted.iter().filter(|name| !texts.contains_key(*name)).collect();
    assert!(missing.is_empty(), "not in docs/errors.md: {missing:#?}");
}

#[tokio::test(start_paused = true)]
async fn texts_are_lower_case_and_end_without_a_full_stop() {
    let texts = texts().await;
    assert!(texts.len() > 100, "{}", texts.len());
    for (name, text) in texts.iter().flat_map(|(name, texts)| texts.iter().map(move |text| (name, text))) {
        assert!(!text.starts_with(char::is_uppercase), "{name}: {text}");
        assert!(!text.ends_with(['.', '!', ' ']) && !text.is_empty(), "{name}: {text}");
    }
}

#[test]
fn the_reader_of_sources_sees_variants_and_attributes() {
    let text = "\
/// Doc.
#[derive(
    Debug,
    thiserror::Error,
)]
pub enum Odd {
    /// Says `No`.
    #[error(\"no {0}\")]
    No(u32),
    Maybe {
        /// Why.
        why: String,
    },
    Never,
}

#[derive(Debug)]
pub enum Other {
    One,
}
";
    let found = items_of(text, "enum", |_, attributes| attributes.contains("thiserror::Error"));
    assert_eq!(found, [Item { name: "Odd".into(), variants: ["No", "Maybe", "Never"].map(str::to_owned).into() }]);
}
