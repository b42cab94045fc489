//! What the compiler says when a macro is used wrongly, read from the recorded outputs of the macro tests.

use std::collections::BTreeSet;
use std::fs;

use crate::doc::{Entry, Section};
use crate::sources::{files, root};

const STATE: &[(&str, &str)] = &[
    (
        "append_needs_a_collection",
        "Use a `Vec`, `Log`, map or set, implement `Append` for the type, or choose `any` or `with = path`.",
    ),
    ("append_needs_a_collection_alias", "The same behind a type alias."),
    (
        "derive_of_the_update",
        "What `#[state(derive(..))]` lists is derived for the update, so the type of every field needs it.",
    ),
    ("field_not_send", "A state goes from thread to thread: use `Arc` instead of `Rc`, `Mutex` instead of `RefCell`."),
    (
        "field_without_serde",
        "Derive serde's `Serialize` and `Deserialize` for the type, or mark the field `#[state(transient)]`.",
    ),
    ("generics", "Write the types, or make one state for each."),
    ("names_that_collide", "The update has a method and the state a constant for every field. Rename one."),
    ("no_derive", "Add `#[derive(State, Clone, Default)]` to the struct."),
    ("not_a_struct", "Put the enum or tuple into a field of a struct."),
    ("reducer_signature", "A reducer is `fn(&T, Item) -> Result<T, E>` with an `E` that is an error or a text."),
    ("reducer_without_path", "Write the path of a function: `#[state(with = add)]`."),
    ("state_without_clone", "Derive `Clone`: a snapshot that is kept over a merge is copied."),
    ("too_many_fields", "Group fields that belong together into a struct."),
    (
        "transient_without_default",
        "A transient field begins every turn with its default: implement `Default` for the type.",
    ),
    (
        "unknown_and_second_rule",
        "All mistakes are reported at once. A field has one merge rule, and may be transient beside it.",
    ),
    ("words_on_the_struct", "Merge rules belong on fields; `derive` for the update belongs on the struct."),
    ("wrong_value", "The methods of an update take what the field's type is made from, or the items of a collection."),
];

const ROUTE: &[(&str, &str)] = &[
    ("no_derive", "Add `#[derive(Route)]` to the enum."),
    ("not_an_enum", "Make it an enum whose variants are the names of nodes."),
    ("payload_without_serde", "A payload is kept in checkpoints: derive `Serialize` for its type."),
    ("two_variants_of_one_target", "Remove one; a target has one type of payload."),
    ("undeclared_move", "Add `#[route(stay)]`, `direct` or `finish` to the enum."),
    (
        "variants",
        "All mistakes are reported at once. `Quote`, `Quote(String)`, `#[route(to = \"node\")]` and \
         `#[route(end)]` are what a variant may be.",
    ),
    ("words_on_the_enum", "Only moves belong on the enum: `#[route(stay, direct, finish)]`."),
];

const NODE: &[(&str, &str)] = &[
    ("argument", "Ask for `Snap`, `In`, `Res` or `Ctx`, or implement `FromTask` for your own extractor."),
    ("attribute", "The attribute stands on the function and names the state."),
    ("not_async", "Write `async fn`, also when nothing is awaited."),
    (
        "not_send",
        "The note names the value and the await. End the value's scope before it, or use its thread-safe kin.",
    ),
    ("result", "Return `()`, the update, a `Command`, a route, or a `Result` of one of them."),
    ("signature", "A node is a plain function; what it needs comes by extractors."),
    ("state", "Derive `State` for the type that the attribute names."),
    ("without_the_attribute", "Put `#[node(Hotel)]` on the function to see which argument or result is wrong."),
    ("wrong_state", "The node is written for another graph: ask for this graph's state and return its update."),
];

pub(crate) fn section() -> Section {
    let mut entries = of("state", "#[derive(State)]", STATE);
    entries.extend(of("route", "#[derive(Route)]", ROUTE));
    entries.extend(of("node", "#[node(S)]", NODE));
    Section {
        title: "Mistakes that the compiler finds",
        intro: "The first line of each error; the compiler adds where it is and often a note with the remedy. The \
                titles are the files in `graph-engine/macros/tests/*/fail`, each of which has the example. Lines with \
                a code such as `E0277` without a word of ours are rustc's own.",
        entries,
    }
}

/// The recorded outputs of one macro. Each needs a word of help, and each word of help a recorded output.
fn of(folder: &str, name: &str, help: &[(&str, &'static str)]) -> Vec<Entry> {
    let folder = root().join("graph-engine/macros/tests").join(folder).join("fail");
    let paths = files(&folder, "stderr");
    assert_eq!(paths.len(), help.len(), "one word of help for each `.stderr` of {}", folder.display());
    let entry = |path: &std::path::PathBuf| {
        let stem = path.file_stem().expect("a name").to_string_lossy();
        let (_, means) = help.iter().find(|(file, _)| *file == stem).unwrap_or_else(|| panic!("no help for {stem}"));
        let text = fs::read_to_string(path).expect("UTF-8");
        let mut seen = BTreeSet::new();
        let errors = text.lines().filter(|line| line.starts_with("error") && seen.insert(*line));
        Entry::plain(&format!("`{name}`: `{stem}.stderr`"), errors.collect::<Vec<_>>(), means)
    };
    paths.iter().map(entry).collect()
}
