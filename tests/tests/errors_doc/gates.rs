//! Checks that can't be built, gated calls without a response, and what is wrong with a stage's gate.

use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use graph_engine::testing::node_once;
use graph_nodes::gate::{
    CheckError, Exhaustion, ForbiddenPatterns, GatePolicy, Gated, GatedError, Length, Streaming, StructuredOutput,
    Validators, Verdict,
};
use graph_nodes::message::Message;
use graph_nodes::model::{ModelError, Request, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, GateNode, GatedNode, StageError};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use crate::doc::{Entry, Section};
use crate::stages::{Desk, seat};

pub(crate) fn checks() -> Section {
    let pattern = |pattern: &str| ForbiddenPatterns::new([("a secret", pattern)]).expect_err("it is refused");
    let schema = StructuredOutput::new(json!({"type": "number", "minimum": "low"})).expect_err("it is refused");
    let entry = |error: &CheckError, means| Entry::variant("CheckError", error, means);
    Section {
        title: "Checks of a gate",
        intro: "Said when a check is built, before any model is asked.",
        entries: vec![
            entry(
                &pattern("(a"),
                "Patterns are those of the crate `regex`: they are matched in a time that is linear in the text's \
                 length, which a hostile text can't change.",
            )
            .and(&pattern("(?=a)b")),
            entry(&pattern(r"(\w{900}){900}"), "The limit is `ForbiddenPatterns::LIMIT`."),
            entry(&schema, "References to other documents are not followed: a schema has to be one value."),
            entry(&Length::between(9, 3).expect_err("it is refused"), "Every answer would be rejected."),
        ],
    }
}

async fn gated(policy: GatePolicy, verdict: fn() -> Verdict, turn: Turn) -> GatedError {
    let validators = Validators::<()>::new().with_fn("polite", move |_, ()| verdict());
    let gated = Gated::new(ScriptedModel::new([turn]).with_name("small"), policy, validators);
    *gated.run(Request::new([Message::user("hi")]), &(), ()).await.expect_err("it fails").error
}

pub(crate) async fn calls() -> Section {
    let once = || GatePolicy::new().with_max_attempts(NonZeroU32::MIN);
    let impolite = || Verdict::retry("impolite", "say please");
    let entry = |error: &GatedError, means| Entry::variant("GatedError", error, means);
    let no = || Turn::text("No.");
    Section {
        title: "Gated calls",
        intro: "The error of a `GatedFailure`, which also holds the ledger and the latest response. `Gated` is the gate \
                around one model call, without an engine.",
        entries: vec![
            Entry::plain(
                "`GatedFailure`",
                [gated(once().with_exhaustion(Exhaustion::FallbackModel), impolite, no()).await],
                "It prints as its error.",
            ),
            entry(&gated(once(), impolite, no()).await, "The limits are those of `GatePolicy`."),
            entry(
                &gated(once(), || Verdict::fatal("banned", "the guest is banned"), no()).await,
                "A validator returned `Verdict::fatal`, or the model an error that will come again.",
            )
            .and(&gated(once(), impolite, Turn::error(ModelError::rejected("no credit"))).await),
            entry(
                &gated(once(), || Verdict::escalate("human", "angry", "the guest is angry"), no()).await,
                "What the edge means is the caller's business: there are no nodes here.",
            )
            .and(&gated(once(), impolite, Turn::refusal("I won't.")).await),
            entry(
                &gated(once(), impolite, Turn::error(ModelError::Cancelled)).await,
                "By `GatedRound::until`, or by the model's client.",
            ),
            entry(
                &gated(once().with_exhaustion(Exhaustion::FallbackModel), impolite, no()).await,
                "`Gated::check` finds it before the first call.",
            ),
            entry(
                &gated(once().with_exhaustion(Exhaustion::AcceptBest), impolite, no()).await,
                "A `GateError`, as in a stage.",
            ),
        ],
    }
}

/// Reads the first time only.
struct Moody;

impl<'de> Deserialize<'de> for Moody {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        static READ: AtomicU32 = AtomicU32::new(0);
        serde::de::IgnoredAny::deserialize(deserializer)?;
        match READ.fetch_add(1, Ordering::Relaxed) % 2 {
            0 => Ok(Self),
            _ => Err(serde::de::Error::custom("not today")),
        }
    }
}

impl schemars::JsonSchema for Moody {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Moody".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!(true)
    }
}

/// A type that describes itself by no schema.
#[derive(Deserialize)]
struct Odd {}

impl schemars::JsonSchema for Odd {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Odd".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "number", "minimum": "low"})
    }
}

pub(crate) async fn stages() -> Vec<Entry> {
    let agent = |stage: &str| AgentNode::new(stage, seat()).with_model(ScriptedModel::new([Turn::text("1")]));
    let gate = || GateNode::new("explore", seat(), GatePolicy::new(), Validators::new());
    let entry = |error: &StageError, means| Entry::variant("StageError", error, means);
    let moody = GatedNode::new(agent("explore"), gate().output::<Moody>(|_, _| Desk::update()));
    let moody = node_once(moody).run().await.expect_err("it fails");
    vec![
        entry(
            &gate().check_agent(&agent("present")).expect_err("it is refused"),
            "`GateNode::check_agent` and `GatedNode::check` find it before the first turn.",
        ),
        entry(
            &gate().streaming(Streaming::PassThrough).check().expect_err("it is refused"),
            "In two vertices the response is whole before the gate begins.",
        ),
        entry(
            &gate().output::<Odd>(|_, _| Desk::update()).check().expect_err("it is refused"),
            "The reason behind the colon is a `CheckError`.",
        ),
        entry(
            moody.source().downcast_ref().expect("a stage error"),
            "The text was read once when it was checked, and not a second time.",
        ),
    ]
}
