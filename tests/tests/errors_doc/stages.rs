//! Why a vertex of a stage fails its turn, and what a model is told of its calls.

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Display};
use std::net::IpAddr;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use graph_engine::testing::node_once;
use graph_engine::{Graph, IntoNode, Log, NodeError, START, State};
use graph_nodes::gate::{Exhaustion, GateError, GateLedger, GatePolicy, ModelOutcome, Validators, Verdict, decide};
use graph_nodes::message::{CallStatus, Message, ToolCall};
use graph_nodes::model::{ChatModel, ModelError, Response, ScriptedModel, ToolChoice, Turn};
use graph_nodes::stage::{
    AgentNode, Draft, GateBook, GateNode, Guards, Held, Seat, SeveralCalls, StageError, ToolLedger, ToolsNode,
};
use graph_nodes::tool::{FnTool, ToolBox, ToolError, ToolReply, tool};

use crate::doc::{Entry, Section};
use crate::threads::Catalogue;

#[derive(State, Clone, Default)]
pub(crate) struct Desk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

pub(crate) fn seat() -> Seat<Desk> {
    Seat { history: Desk::HISTORY, draft: Desk::DRAFT, book: Desk::BOOK }
}

fn drafted(stage: &str, held: Held) -> Desk {
    Desk { draft: Some(Draft { stage: stage.into(), held }), ..Desk::default() }
}

fn called(calls: impl IntoIterator<Item = ToolCall>) -> Held {
    Held::Calls(Box::new(Response::from_calls(calls)))
}

fn came(result: Result<Response, ModelError>) -> Held {
    Held::Outcome { outcome: Box::new(ModelOutcome::new("m", Duration::ZERO, result)), deadline: None, fallback: false }
}

/// An error as it prints itself, because a stage's error can only be borrowed from the failure that holds it.
struct Printed {
    text: String,
    debug: String,
    /// The error inside, where it has a section of its own.
    inside: Option<Box<Printed>>,
}

impl Printed {
    fn of<E: Display + Debug>(error: &E) -> Self {
        Self { text: error.to_string(), debug: format!("{error:?}"), inside: None }
    }

    fn of_stage(error: &StageError) -> Self {
        let inside = match error {
            StageError::Gate { reason, .. } => Some(Self::of(reason)),
            StageError::Exhausted { failure, .. } => Some(Self::of(failure)),
            _ => None,
        };
        Self { inside: inside.map(Box::new), ..Self::of(error) }
    }

    fn inside(&self) -> &Self {
        self.inside.as_ref().expect("an error inside")
    }
}

impl Display for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Debug for Printed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.debug)
    }
}

/// What a vertex alone fails with.
async fn alone<M>(node: impl IntoNode<Desk, M>, state: Desk) -> Printed {
    let error: NodeError = node_once(node).state(state).run().await.expect_err("it fails");
    Printed::of_stage(error.source().downcast_ref().expect("a stage error"))
}

type Reply = fn() -> Result<ToolReply<Desk>, ToolError>;

fn fixed(name: &str, reply: Reply) -> FnTool<Desk> {
    tool::<Desk, BTreeMap<String, String>>(name, "A tool.", move |_, _| async move { reply() })
}

fn tools() -> ToolBox<Desk> {
    let ping = tool::<Desk, BTreeMap<String, IpAddr>>("ping", "Asks a host.", |_, _| async { Ok("pong".into()) });
    let count = tool::<Desk, BTreeMap<String, u32>>("count", "Counts hotels.", |_, call| async move {
        call.resource::<Catalogue>()?;
        Ok("none".into())
    });
    ToolBox::builder()
        .tool(ping)
        .tool(count)
        .tool(fixed("leave", || Ok(ToolReply::text("x").go("nowhere"))))
        .tool(fixed("end", || Ok(ToolReply::text("bye").finish("goodbye"))))
        .tool(fixed("crash", || panic!("index out of bounds")))
        .tool(fixed("odd", || Ok(ToolReply::json(BTreeMap::from([((1, 2), 3)])))))
        .tool(fixed("secret", || Ok("x".into())))
        .build()
        .expect("a box")
}

const OFFERED: [&str; 6] = ["ping", "count", "leave", "end", "crash", "odd"];

fn vertex() -> ToolsNode<Desk> {
    ToolsNode::new("explore", seat(), tools(), OFFERED).then("agent")
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::from_text("c1", name, arguments)
}

/// What the model reads as the answer of its last call.
async fn told(vertex: ToolsNode<Desk>, calls: impl IntoIterator<Item = ToolCall>) -> String {
    let outcome = node_once(vertex).state(drafted("explore", called(calls))).run().await.expect("it answers");
    let messages = outcome.update.history.expect("messages").items;
    let last = messages.iter().rfind(|message| message.call_id().is_some()).expect("an answer");
    assert_eq!(last.status(), Some(CallStatus::Error), "{}", last.text());
    last.text()
}

pub(crate) async fn answers() -> Section {
    let ask = |name: &str, arguments: &str| told(vertex(), [call(name, arguments)]);
    let second = |id: &str| ToolCall::from_text(id, "ping", "{}");
    let mut cut = Response::from_calls([call("ping", "{}")]);
    cut.finish = None;
    let cut =
        node_once(vertex()).state(drafted("explore", Held::Calls(Box::new(cut)))).run().await.expect("it answers");
    let cut = cut.update.history.expect("messages").items.get(1).expect("an answer").text();
    Section {
        title: "What a model is told of its calls",
        intro: "The answer of a call that failed, with status error. The turn goes on, and the model may \
                correct itself.",
        entries: vec![
            Entry::plain(
                "A tool that is not there",
                [ask("fly", "{}").await, ask("secret", "{}").await, ask("", "{}").await],
                "The second is in the box, but not exposed in this stage (`ToolBox::expose`, `ToolsNode::new`).",
            ),
            Entry::plain(
                "Arguments that don't fit",
                [ask("count", "{\"rooms\":\"two\"}").await, ask("ping", "{\"host\":\"here\"}").await],
                "The first is found by the schema, the second by the `Deserialize` of the arguments' type. Faults of \
                 the JSON itself are the `ArgumentsError`s above.",
            ),
            Entry::plain(
                "A tool with a defect",
                [ask("crash", "{}").await, ask("odd", "{}").await],
                "The model can't help it. The panic's text is in the log and in `StageEvent::ToolPanicked`; a value \
                 that is no JSON mostly has keys that are no text.",
            ),
            Entry::plain(
                "A resource that nobody provides",
                [ask("count", "{\"rooms\":2}").await],
                "Declare it with `FnTool::needs`, so that the turn fails before it begins.",
            ),
            Entry::plain(
                "A call that is not executed",
                [
                    told(vertex(), [call("end", "{}"), second("c2")]).await,
                    told(vertex().max_calls(1), [second("c1"), second("c2"), second("c3")]).await,
                    told(vertex().max_calls_per_turn(NonZeroU32::MIN), [second("c1"), second("c2")]).await,
                    told(vertex().several(SeveralCalls::First), [second("c1"), second("c2")]).await,
                    cut,
                ],
                "Every call is answered all the same. The limits are `ToolsNode::max_calls` and \
                 `ToolsNode::max_calls_per_turn`, the choice is `ToolsNode::several`.",
            ),
        ],
    }
}

fn gate(policy: GatePolicy) -> GateNode<Desk> {
    GateNode::new("explore", seat(), policy, Validators::new())
}

fn agent() -> AgentNode<Desk> {
    AgentNode::new("explore", seat()).with_model(ScriptedModel::new([Turn::text("hi")]))
}

/// A whole stage whose gate accepts nothing; what its turn fails with.
async fn stage(verdict: fn() -> Verdict, policy: GatePolicy) -> Printed {
    let validators = Validators::new().with_fn("polite", move |_, _: &Desk| verdict());
    let gate = GateNode::new("explore", seat(), policy, validators).escalate("blocked", "handoff");
    let graph = Graph::<Desk>::builder("trip")
        .cluster("explore", "agent", |stage| {
            stage.node("agent", AgentNode::new("explore", seat())).node("gate", gate).edge("agent", "gate")
        })
        .node("handoff", crate::trip::rest)
        .edge(START, "agent");
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([Turn::text("No."), Turn::text("Never.")]));
    let runner = crate::trip::runner(graph).provide_arc(model);
    let error = crate::trip::error_of(runner.thread("guest-7").run(seat().user("hi"))).await;
    Printed::of_stage(error.failures()[0].source.downcast_ref().expect("a stage error"))
}

/// A loop that asks on after the fallback model was asked.
async fn asked_on() -> GateError {
    let policy = GatePolicy::new().with_max_attempts(NonZeroU32::MIN).with_exhaustion(Exhaustion::FallbackModel);
    let (validators, mut ledger) = (Validators::<()>::new(), GateLedger::default());
    for model in ["small", "large", "third"] {
        let outcome = ModelOutcome::new(model, Duration::ZERO, Ok(Response::from_text("")));
        if let Err(error) = decide(&policy, &validators, &mut ledger, outcome, &()).await {
            return error;
        }
    }
    panic!("not refused")
}

pub(crate) async fn section() -> Section {
    let two = NonZeroU32::new(2).expect("not zero");
    let policy = || GatePolicy::new().with_max_attempts(two);
    let entry = |error: &Printed, means| Entry::variant("StageError", error, means);
    let good = || drafted("explore", came(Ok(Response::from_text("hi"))));
    let calls = || drafted("explore", came(Ok(Response::from_calls([call("ping", "{}")]))));
    let broken = Desk { history: [Message::tool("c9", "late")].into_iter().collect(), ..Desk::default() };
    let exhausted = stage(|| Verdict::retry("impolite", "say please"), policy()).await;
    let budget = alone(gate(policy().with_token_budget(500)), good()).await;
    let unscored = alone(gate(policy().with_exhaustion(Exhaustion::AcceptBest)), good()).await;
    let large = || ScriptedModel::new([]).with_name("large");
    let two_fallbacks = agent().fallback_model(large()).fallback_model(large().with_name("larger"));
    let broken_tools =
        ToolsNode::new("explore", seat(), tools(), ["crash"]).guards(Guards::new().with_breaker(NonZeroU32::MIN));
    let mut ledger = ToolLedger::default();
    (ledger.turn, ledger.model_calls) = ("test".into(), 1);
    let mut asked_once = Desk::default();
    asked_once.book.tools.insert("explore".into(), ledger);
    let no_draft = alone(gate(policy()), Desk::default()).await;
    let other_stage = alone(vertex(), drafted("present", called([]))).await;
    let judged = alone(gate(policy()), drafted("explore", called([]))).await;
    let unjudged = alone(vertex(), good()).await;
    Section {
        title: "Stages",
        intro: "What a failed agent, gate or tools vertex says, in a turn behind \"failed after 1 attempt:\". All are \
                fatal, because what can be tried again is tried by the gate. Nothing of the vertex's run is kept: \
                `proceed` runs it again on the same draft, `abandon` and new input begin a new round.",
        entries: vec![
            entry(
                &exhausted,
                "No response was accepted. A node of `GateNode::exhausted` can take over; or let the policy accept the \
                 best response (`Exhaustion::AcceptBest`), ask another model (`Exhaustion::FallbackModel`) or allow \
                 more attempts.",
            ),
            Entry::plain(
                "`GateFailure`",
                [exhausted.inside()],
                "The part of `StageError::Exhausted` that lists the attempts. The limits are those of \
                 `GatePolicy`.",
            ),
            entry(
                &stage(|| Verdict::fatal("banned", "the guest is banned"), policy()).await,
                "A validator returned `Verdict::fatal`, or the model an error that will come again; without a \
                 validator's name it was the model.",
            ),
            entry(
                &alone(gate(policy()), drafted("explore", came(Err(ModelError::Cancelled)))).await,
                "The model's client was cancelled by somebody else than the turn.",
            ),
            entry(&budget, "The reason behind the colon is a `GateError`."),
            Entry::variant("GateError", budget.inside(), "Many providers report tokens of streams only when asked to."),
            Entry::variant("GateError", unscored.inside(), "`GateNode::check` finds it before the first turn."),
            Entry::variant("GateError", &asked_on().await, "Only a loop of your own around `decide` gets here."),
            entry(
                &stage(|| Verdict::escalate("human", "angry", "the guest is angry"), policy()).await,
                "A validator, a refusal (`blocked`) or `Exhaustion::Escalate` named an edge that the gate \
                 doesn't have.",
            ),
            entry(
                &alone(vertex(), drafted("explore", called([call("leave", "{}")]))).await,
                "A `ToolReply::go` names a node that the stage doesn't know of.",
            ),
            entry(
                &alone(broken_tools, drafted("explore", called([call("crash", "{}")]))).await,
                "The breaker of `Guards` holds back every tool that the stage offers, and the model would be asked again.",
            ),
            entry(
                &alone(agent().max_model_calls(NonZeroU32::MIN), asked_once).await,
                "The limit is `AgentNode::max_model_calls`; corrections count. `proceed` is a new turn.",
            ),
            entry(
                &alone(gate(policy().in_shadow()), calls()).await,
                "Outside of shadow mode such a response is rejected instead.",
            ),
            entry(
                &no_draft,
                "The vertices of a stage hand on one draft. Something else wrote it, or the order of the nodes \
                 is wrong.",
            )
            .and(&other_stage)
            .and(&judged)
            .and(&unjudged),
            entry(
                &alone(gate(policy().with_deadline(Duration::from_secs(30))), good()).await,
                "Without it the agent could wait for a model longer than the gate allows.",
            ),
            entry(
                &alone(gate(policy().with_exhaustion(Exhaustion::FallbackModel)), good()).await,
                "Said in the first turn, not after all attempts were paid for.",
            ),
            entry(
                &alone(two_fallbacks, Desk::default()).await,
                "`AgentNode::check` finds it before the first turn. A choice between several models belongs into a \
                 `ChatModel` of your own.",
            ),
            entry(&alone(agent(), broken).await, "The reason behind the colon is a `HistoryError`."),
            entry(
                &alone(agent().tools(tools()).with_tools(["fly"]), Desk::default()).await,
                "The reason behind the colon is a `ToolBoxError`. Call `ToolBox::expose` yourself to find it \
                 before the first turn.",
            ),
            entry(
                &alone(agent().tool_choice(ToolChoice::Required), Desk::default()).await,
                "`AgentNode::check` finds it before the first turn. Providers refuse such a request.",
            )
            .and(&alone(agent().tools(tools()).tool_choice(ToolChoice::Named("fly".into())), Desk::default()).await),
            entry(
                &alone(agent().try_prompt(|_| Err::<String, _>("the light is out")), Desk::default()).await,
                "Said before any model is asked. The reason behind the colon is what the prompt's function returned, a \
                 `TemplateError` for a template.",
            ),
            entry(
                &alone(AgentNode::new("explore", seat()), Desk::default()).await,
                "In a turn `RunError::MissingResource` comes first; this is what `testing::node_once` says.",
            ),
        ]
        .into_iter()
        .chain(crate::gates::stages().await)
        .collect(),
    }
}
