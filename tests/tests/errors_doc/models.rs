//! Why a model gives no response, and why tools can't be put together.

use graph_engine::State;
use graph_nodes::assemble::AssemblyError;
use graph_nodes::message::{FinishReason, Message, ToolCall};
use graph_nodes::model::{
    Cassette, CassetteError, ChatModel, CutOff, ModelError, Request, Response, ScriptError, ScriptedModel, SseDecoder,
    ToolSpec, Turn,
};
use graph_nodes::tool::{
    Call, FnTool, GroupReply, GroupReplyError, SchemaError, Tool, ToolBox, ToolBoxError, ToolError, ToolReply, group,
    tool,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::doc::{Entry, Section};

fn hello() -> Request {
    Request::new([Message::user("hi")])
}

pub(crate) async fn section() -> Section {
    let entry = |error: &ModelError, means| Entry::variant("ModelError", error, means);
    let limited = ModelError::RateLimited { message: "60 requests a minute".into(), retry_after: None };
    let long = ModelError::ContextTooLong { message: "200 of 128 thousand tokens".into() };
    let broken = ScriptedModel::new([Turn::text("half").broken_after(1, ModelError::transport("connection reset"))]);
    let broken = broken.complete(hello()).await.expect_err("it breaks off");
    let exhausted = ScriptedModel::new([]).complete(hello()).await.expect_err("no turn");
    let stray = Request::new([Message::removal("m1")]).check().expect_err("a removal");
    let mut entries = vec![
        entry(
            &ModelError::transport("connection reset"),
            "Retryable: a gate asks again. Look at `source` for the client's error.",
        ),
        entry(&ModelError::rejected("unknown model `gpt-0`"), "Not retryable: a gate gives up at once."),
        entry(
            &ModelError::Authentication { message: "HTTP 401: bad key".into() },
            "Not retryable. A key of another organisation or project gives this too.",
        ),
        entry(
            &ModelError::Quota { message: "HTTP 429: no credit (insufficient_quota)".into() },
            "Not retryable, although the status may be that of a rate limit: waiting brings no credit.",
        ),
        entry(
            &ModelError::unsendable("a call of `fly` is required, but only `search` is offered"),
            "Not retryable. The adapter found it before anything was sent.",
        ),
        entry(
            &ModelError::provider("HTTP 503: busy"),
            "Retryable: a gate waits for `retry_after`, if the provider says so. An error in the middle of an answer is \
             one too; what had arrived is in `received`.",
        ),
        entry(
            &ModelError::truncated("the stream ended without a finish reason, after 3 events"),
            "Retryable. An end marker is no finish reason. After the first piece of an answer it is `StreamBroken`.",
        ),
        entry(&limited, "Retryable: a gate waits for `retry_after`, if the provider says so."),
        entry(&long, "Not retryable. Shorten the history, or choose a model with a larger context."),
        entry(&broken, "Retryable. What had arrived is in `received`; none of its calls is executed."),
        entry(
            &ModelError::from(AssemblyError::MissingId { call: 0 }),
            "Retryable. The reason behind the colon is an `AssemblyError`.",
        ),
        entry(&exhausted, "Only tests get here: the scripted model was asked once more than its script says."),
        entry(&stray, "Only the reducer `add_messages` carries removals out; another one keeps them as they are."),
        entry(
            &ModelError::NotRecorded {
                request: "48795383fc58ac0d".into(),
                nearest: "the nearest is line 1: `messages[0].content` is `\"ho\"` instead of `\"hi\"`".into(),
            },
            "Only tests get here: the prompt or the tools changed since the cassette was recorded.",
        ),
        entry(
            &CassetteError::Corrupt { path: talk(), line: 3, reason: "EOF".into() }.into(),
            "A `CassetteError`, below.",
        ),
        entry(
            &ModelError::Cancelled,
            "The model's client was cancelled by somebody else than the turn. A gate does not ask again.",
        ),
    ];
    entries.extend(cut_off());
    entries.extend(scripts().await);
    entries.extend(cassettes());
    Section {
        title: "Asking a model",
        intro: "In a stage these are data in the draft, and the gate decides what follows.",
        entries,
    }
}

fn cut_off() -> Vec<Entry> {
    let cut = |finish: Option<FinishReason>, means| {
        let mut response = Response::from_calls([ToolCall::from_text("c1", "search", "{}")]);
        response.finish = finish;
        let error: CutOff = response.executable_calls().expect_err("cut off");
        Entry::variant("CutOff", &error, means)
    };
    vec![
        cut(Some(FinishReason::Length), "Raise the limit of output tokens, or let the model do less in one response."),
        cut(Some(FinishReason::ContentFilter), "The provider stopped the response. A gate takes its `blocked` edge."),
        cut(None, "The stream broke off, or the adapter drops the provider's finish reason."),
    ]
}

async fn scripts() -> Vec<Entry> {
    let unused: ScriptError = ScriptedModel::new([Turn::text("hi")]).assert_done().expect_err("unused");
    let asked = ScriptedModel::new([]);
    asked.complete(hello()).await.expect_err("no turn");
    let missing = asked.assert_done().expect_err("missing");
    vec![
        Entry::variant("ScriptError", &unused, "Your test expected more requests than there were.")
            .and(&ScriptError::Unused { turns: 2 }),
        Entry::variant("ScriptError", &missing, "Your test expected fewer requests than there were.")
            .and(&ScriptError::Missing { requests: 2 }),
    ]
}

fn talk() -> PathBuf {
    "talk.jsonl".into()
}

fn cassettes() -> Vec<Entry> {
    let entry = |error: CassetteError, means| Entry::variant("CassetteError", &error, means);
    let reason = || "no such file or directory".to_owned();
    let pattern = Cassette::replay(talk()).secret_pattern("sk-(").open().expect_err("a bad pattern");
    let bad = SseDecoder::new().push(b"data: \xff\n").expect_err("no text");
    let long = SseDecoder::new().with_max_event_bytes(8).push(b"data: 12345").expect_err("too long");
    vec![
        entry(
            CassetteError::File { path: talk(), doing: "read", reason: reason() },
            "Record it first, or choose `auto`.",
        )
        .and(&CassetteError::File { path: talk(), doing: "written", reason: reason() }),
        entry(
            CassetteError::Corrupt { path: talk(), line: 3, reason: "EOF while parsing a value".into() },
            "Somebody edited the line, or the disk was full. A last line that a crash cut off is removed by `auto`.",
        ),
        entry(pattern, "The syntax is that of the crate `regex`."),
        entry(
            CassetteError::Unreadable { path: talk(), reason: "recursion limit exceeded".into() },
            "Mostly a schema or an answer that is nested more than a hundred levels deep.",
        ),
        entry(CassetteError::Unused { path: talk(), lines: vec![2] }, "Your test asked less than was recorded.")
            .and(&CassetteError::Unused { path: talk(), lines: vec![2, 5] }),
        entry(CassetteError::Missing { path: talk(), requests: 1 }, "Your test asked what was never recorded.")
            .and(&CassetteError::Missing { path: talk(), requests: 2 }),
        Entry::variant("SseError", &bad, "The bytes of a stream are no text, or it ended within a character."),
        Entry::variant(
            "SseError",
            &long,
            "Mostly a server that isn't one of events; an ordinary event is a few hundred bytes.",
        ),
    ]
}

#[derive(State, Clone, Default)]
struct Trip {
    city: String,
}

fn named(name: &str) -> FnTool<Trip> {
    tool::<Trip, BTreeMap<String, String>>(name, "Finds hotels.", |_, _| async { Ok("none".into()) })
}

/// A hand-written tool with this schema.
struct Odd(ToolSpec);

#[graph_engine::async_trait]
impl Tool<Trip> for Odd {
    fn spec(&self) -> &ToolSpec {
        &self.0
    }

    async fn call(&self, _: Call<'_, Trip>) -> Result<ToolReply<Trip>, ToolError> {
        Ok("never called".into())
    }
}

fn schema(schema: serde_json::Value) -> (ToolBoxError, SchemaError) {
    let error = ToolBox::builder().tool(Odd(ToolSpec::new("search", "Finds hotels.", schema))).build();
    match error.expect_err("refused") {
        ToolBoxError::BadSchema { name, reason } => (ToolBoxError::BadSchema { name, reason: reason.clone() }, reason),
        other => panic!("not the schema: {other}"),
    }
}

pub(crate) fn tools() -> Section {
    let entry = |error: &ToolBoxError, means| Entry::variant("ToolBoxError", error, means);
    let twice = ToolBox::builder().tool(named("search")).tool(named("search")).build().expect_err("twice");
    let blank = ToolBox::builder().tool(named(" ")).build().expect_err("blank");
    let bad = ToolBox::builder().tool(named("find a hotel")).build().expect_err("bad");
    let some = ToolBox::builder().tool(named("search")).build().expect("a box").expose(["fly"]).expect_err("unknown");
    let none = ToolBox::<Trip>::builder().build().expect("a box").expose(["fly"]).expect_err("unknown");
    let grouped = |groups: &[&[&str]]| {
        let tools = ToolBox::builder().tool(named("weather")).tool(named("forecast"));
        let of = || group(|_| async { Ok(GroupReply::<Trip>::text("sunny")) });
        let tools = groups.iter().fold(tools, |tools, names| tools.group(names.iter().copied(), of()));
        tools.build().expect_err("refused")
    };
    let returned = |value| GroupReply::<Trip>::from_value(value).expect_err("refused");
    let reply = |error: &GroupReplyError, means| Entry::variant("GroupReplyError", error, means);
    let not_asked = GroupReplyError::UnknownCall { call_id: "c9".into(), known: vec!["c1".into(), "c2".into()] };
    let (list, not_object) = schema(json!({"type": "array"}));
    let (_, untyped) = schema(json!({}));
    let (_, invalid) = schema(json!({"type": "object", "properties": {"city": {"type": "town"}}}));
    Section {
        title: "Putting tools together",
        intro: "Given when the tools are built or exposed, before anything runs. A stage that names its tools itself \
                (`with_tools`, `ToolsNode::new`) shows them as `StageError::Tools` in its first turn.",
        entries: vec![
            entry(&twice, "A model calls a tool by its name, so names are different."),
            entry(&blank, "The description shows which tool is meant."),
            entry(&bad, "Providers refuse other names, and only when the model is asked."),
            entry(&list, "The reason behind the colon is a `SchemaError`."),
            entry(&some, "Mostly a spelling mistake in a list of names.").and(&none),
            entry(&grouped(&[&[]]), "A group handles calls of exactly the tools that it names."),
            entry(&grouped(&[&["weather", " "]]), "Mostly an empty line in a list of names."),
            entry(
                &grouped(&[&["weather", "weather"]]),
                "A set holds each tool once, however often a response calls it.",
            ),
            entry(
                &grouped(&[&["weather", "forecast"], &["forecast", "weather"]]),
                "A response is handled by one group, so each set has one handler.",
            ),
            reply(
                &returned(json!(null)),
                "The handler of a group that is only known at run time returned no JSON value.",
            ),
            reply(&returned(json!("")), "A text is the name of the node to go to."),
            reply(&returned(json!(3)), "The value can't say where to go.").and(&returned(json!([]))),
            reply(&returned(json!({})), "Without a `step` it isn't known where to go."),
            reply(&returned(json!({"step": ""})), "The `step` is the name of the node to go to."),
            reply(&returned(json!({"step": "present", "prompt": 1})), "The part has another type."),
            reply(&returned(json!({"step": "present", "state": {}})), "Mostly a spelling mistake."),
            reply(
                &not_asked,
                "An own text belongs to a call that the handler was given. The model is told it as the answer of every call.",
            ),
            Entry::variant(
                "SchemaError",
                &not_object,
                "The type of a tool's arguments is a struct (or a map), not a list, a text or an enum.",
            )
            .and(&untyped),
            Entry::variant(
                "SchemaError",
                &invalid,
                "Only hand-written schemas get here. The place is a JSON pointer into the schema.",
            ),
        ],
    }
}
