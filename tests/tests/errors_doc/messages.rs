//! What messages, tool calls and their fragments can have wrong.

use graph_engine::Log;
use graph_nodes::assemble::{Assembler, AssemblyError, AssemblyPolicy, AssemblyWarning, CallDelta};
use graph_nodes::message::{Arguments, Message, ToolCall, add_messages, check_history};
use serde_json::json;

use crate::doc::{Entry, Section};

fn call(id: &str) -> ToolCall {
    ToolCall::from_text(id, "search", "{}")
}

fn calls<const N: usize>(ids: [&str; N]) -> Message {
    Message::assistant("").with_calls(ids.map(call))
}

fn answer(id: &str) -> Message {
    Message::tool(id, "Inn")
}

pub(crate) fn section() -> Section {
    let arguments = |text: &str, means| {
        let error = Arguments::from_text(text).parsed().expect_err("faulty").clone();
        Entry::variant("ArgumentsError", &error, means)
    };
    let fault = |name: &str, text: &str, means| {
        Entry::variant("CallFault", &ToolCall::from_text("c1", name, text).fault().expect("faulty"), means)
    };
    let mut entries = vec![
        arguments("{\"city\":", "The model is told and may send the call again. Nothing is repaired."),
        arguments("{\"id\":1,\"id\":2}", "Parsers differ in which of the two they keep, so neither is taken."),
        arguments("[1]", "A model of a provider without checked arguments. The model is told."),
        fault("", "{}", "The provider never sent a name. The call is answered with this text and not executed."),
        fault("search", "7", "One of the `ArgumentsError`s above."),
    ];
    entries.extend(history());
    entries.extend(wire());
    Section {
        title: "Messages and tool calls",
        intro: "Texts about one call are read by the model too, so they say what the model should do.",
        entries,
    }
}

fn history() -> Vec<Entry> {
    let checked = |messages: &[Message]| check_history(messages).expect_err("broken");
    let problem = |messages: &[Message], means| Entry::variant("HistoryProblem", &checked(messages).problems[0], means);
    let two = [calls(["c1"]), answer("c9")];
    vec![
        Entry::plain(
            "`HistoryError`",
            [checked(&two)],
            "A strict provider would refuse this history. It has every problem, in the order of the messages. Stages \
             keep these rules; only messages that you write yourself break them.",
        ),
        problem(&[calls(["c1"])], "Every call needs an answer, also one that was not executed."),
        problem(&[answer("c9")], "Mostly an old part of the history was cut off between a call and its answer."),
        problem(
            &[calls(["c1"]), answer("c1"), calls(["c1"]), answer("c1")],
            "Some providers number calls anew in every response; `Response::rename_taken_ids` mends that.",
        ),
        problem(&[calls([""])], "The id is what an answer refers to."),
        problem(&[calls(["c1"]), answer("c1"), answer("c1")], "Keep the answer that is true."),
        problem(
            &[calls(["c1"]), Message::user("hello?"), answer("c1")],
            "Write the answers of a response in one update, before anything else.",
        ),
        problem(
            &[calls(["c1", "c2"]), answer("c2"), answer("c1")],
            "Calls may run in any order, but are answered in theirs.",
        ),
        problem(&[Message::removal("m1")], "Only the reducer `add_messages` carries removals out."),
        Entry::variant(
            "HistoryEditError",
            &add_messages(&Log::new(), Log::from([Message::removal("m1")])).expect_err("unknown"),
            "The write is refused and the super-step fails. Two tasks that remove the same message are a common cause.",
        ),
    ]
}

fn wire() -> Vec<Entry> {
    let read = |value| serde_json::from_value::<Message>(value).expect_err("refused");
    let calls = json!([{"id": "c1", "function": {"name": "search"}}]);
    vec![Entry::plain(
        "A message that can't be read",
        [
            read(json!({"role": "tool", "content": "Inn"})),
            read(json!({"role": "user", "content": "hi", "tool_calls": calls})),
            read(json!({"role": "user", "content": "hi", "tool_call_id": "c1"})),
            read(json!({"role": "removal"})),
            read(json!({"role": "user", "content": "hi", "removes": "m1"})),
        ],
        "Serde's error when a `Message` is read from JSON in OpenAI's form. Correct the JSON, or the role.",
    )]
}

fn assembler(deltas: impl IntoIterator<Item = CallDelta>) -> Assembler {
    let mut assembler = Assembler::new().with_known_tools(["search", "book"]);
    for delta in deltas {
        assembler.push(delta);
    }
    assembler
}

/// A whole call at an index.
fn whole(index: u32, id: &str) -> CallDelta {
    CallDelta::new().at(index).id(id).name("search").text("{}")
}

/// The end of a call at index 0.
fn more() -> CallDelta {
    CallDelta::new().at(0)
}

/// The beginning of one.
fn begun() -> CallDelta {
    more().id("c1").name("search").text("{")
}

pub(crate) fn assembly() -> Section {
    let strict = |deltas: Vec<CallDelta>, means| {
        let error: AssemblyError = assembler(deltas).with_policy(AssemblyPolicy::Strict).finish().expect_err("refused");
        Entry::variant("AssemblyError", &error, means)
    };
    let mut entries = vec![
        strict(vec![more().name("search").text("{}")], "Only the strict policy refuses; the lenient one makes an id."),
        strict(vec![whole(0, "c1"), whole(1, "c1")], "As above: two calls must be told apart to be answered."),
        strict(vec![more().id("c1").text("{}")], "As above: the lenient policy keeps the call as a faulty one."),
    ];
    entries.extend(warnings());
    Section {
        title: "Assembling a stream of tool calls",
        intro: "Errors of the strict policy, and warnings (`Response::warnings`), which change nothing for you but can \
                be counted per provider. Calls are numbered in order of arrival, from 0.",
        entries,
    }
}

fn warnings() -> Vec<Entry> {
    let warning = |deltas: Vec<CallDelta>, means| {
        let all: Vec<AssemblyWarning> = assembler(deltas).finish().expect("lenient").warnings;
        let [warning] = all.as_slice() else { panic!("not one warning: {all:?}") };
        Entry::variant("AssemblyWarning", warning, means)
    };
    vec![
        warning(vec![CallDelta::new().id("c1").name("search").text("{}")], "Its fragments were found by id and order."),
        warning(vec![whole(0, "c1"), whole(0, "c2")], "The provider gives each call the same index."),
        warning(vec![begun(), more().id("c2").text("}")], "The provider makes a new id for each fragment."),
        warning(
            vec![more().name("search").text("{}")],
            "Some local servers send none. The made id is answered as usual.",
        ),
        warning(vec![whole(0, "c1"), whole(1, "c1")], "The made id is answered as usual."),
        warning(vec![begun(), more().name("search").text("}")], "Harmless: it was not taken for a second half."),
        warning(
            vec![more().id("c1").name("ask").text(""), more().name("book").text("{}")],
            "Needs `with_known_tools`; without it the two names would be joined.",
        ),
        warning(vec![begun(), more().name("book").text("}")], "The first name may be executed already."),
        warning(vec![more().id("c1").text("{}")], "The call is answered as `CallFault::MissingName`."),
        warning(vec![more().id("c1").name("search").value(json!({"q": 1}))], "Its compact form was taken as the text."),
        warning(vec![more().id("c1").name("search").text("[1]")], "The call is answered with this fault."),
        warning(vec![begun()], "The call is answered with this fault."),
    ]
}
