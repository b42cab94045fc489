//! What is found when a flow is built, and what a template says.

use graph_engine::{Command, Log, Route, Snap, State};
use graph_nodes::flow::{Catalogue, Compaction, Cursor, Flow, FlowError, FlowProblem, ModelEntry, Stage};
use graph_nodes::gate::{Exhaustion, GatePolicy};
use graph_nodes::message::Message;
use graph_nodes::model::ScriptedModel;
use graph_nodes::prompt::{Template, TemplateError};
use graph_nodes::stage::{Draft, GateBook, Seat};
use serde::ser::{Error, Serialize, Serializer};
use serde_json::{Value, json};

use crate::doc::{Entry, Section, variant_of};

#[derive(State, Clone, Default)]
struct Talk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
    cursor: Cursor,
}

fn flow() -> Flow<Talk> {
    let seat = Seat { history: Talk::HISTORY, draft: Talk::DRAFT, book: Talk::BOOK };
    Flow::new("talk", seat, Talk::CURSOR)
}

fn explore() -> Stage<Talk> {
    Stage::new("explore")
}

fn error(flow: Flow<Talk>) -> FlowError {
    flow.build().unwrap_err()
}

/// The only problem of a flow.
fn problem(flow: Flow<Talk>) -> FlowProblem {
    let FlowError::Problems(problems) = error(flow) else { panic!("it has no problem of its own") };
    let [problem] = &problems[..] else { panic!("{problems:?}") };
    problem.clone()
}

fn entry(problem: &FlowProblem, means: &'static str) -> Entry {
    Entry::variant("FlowProblem", problem, means)
}

/// Values that can't be read.
struct Unreadable;

impl Serialize for Unreadable {
    fn serialize<S: Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(Error::custom("the clock has no hands"))
    }
}

#[derive(Route)]
enum Anywhere {
    #[route(to = "explore")]
    Explore,
}

async fn moving(_: Snap<Talk>) -> Command<Talk, Anywhere> {
    Command::go(Anywhere::Explore)
}

/// Templates of prompts.
pub(crate) fn templates() -> Section {
    let template = |error: &TemplateError, means| Entry::variant("TemplateError", error, means);
    let fill = |source: &str, values: &Value| Template::new(source).unwrap().render(values).unwrap_err();
    Section {
        title: "Templates of prompts",
        intro: "Said by `Template`; inside of a stage by `FlowProblem::Template` and `StageError::Prompt`.",
        entries: vec![
            template(
                &Template::new("Hello\n{{ name").unwrap_err(),
                "The language is that of the crate `minijinja`. Found when the flow is built.",
            ),
            template(
                &fill("Hello {{ name }}", &json!({"city": "Oslo"})),
                "A name that is not there is never an empty string. Give `null` for what may be missing, and ask for it \
                 with `{% if name %}`.",
            ),
            template(
                &Template::new("{{ name }}").unwrap().render(Unreadable).unwrap_err(),
                "The `Serialize` of the values failed.",
            ),
        ],
    }
}

/// Flows.
pub(crate) fn section() -> Section {
    let model = || ScriptedModel::new([]);
    let catalogue = || {
        Catalogue::new().with(ModelEntry::new("small", model()).supports(["seed"])).with(ModelEntry::provided("usual"))
    };
    let fallback = GatePolicy::new().with_exhaustion(Exhaustion::FallbackModel);
    let problems = error(flow().start("nowhere"));
    assert_eq!(variant_of(&problems), "Problems");
    Section {
        title: "Flows",
        intro: "Said by `Flow::build`, before any turn. A `FlowError` holds everything that is wrong at once.",
        entries: vec![
            Entry::variant("FlowError", &problems, "Each part is one of the problems below."),
            Entry::variant(
                "FlowError",
                &error(flow().stage(explore().then("present"))),
                "The flow is sound, but not the graph that it stands for: a name that is no stage and no node, mostly.",
            ),
            entry(&problem(flow()), "A flow begins in its first stage."),
            entry(
                &problem(flow().stage(explore()).stage(explore())),
                "A stage's name is that of its vertex and of its cluster.",
            ),
            entry(&problem(flow().start("nowhere").stage(explore())), "The name in `Flow::start`."),
            entry(
                &problem(flow().catalogue(catalogue().with(ModelEntry::provided("small"))).stage(explore())),
                "The later one would hide the earlier one.",
            ),
            entry(
                &problem(flow().catalogue(catalogue()).stage(explore().model("large"))),
                "The name in `Stage::model`, `Stage::fallback` or `Flow::model`.",
            ),
            entry(
                &problem(flow().catalogue(catalogue()).stage(explore().fallback("usual"))),
                "It would be asked twice.",
            ),
            entry(
                &problem(flow().catalogue(catalogue()).stage(explore().model("small").parameter("temperature", 0))),
                "What a model takes is said by `ModelEntry::supports`; without a catalogue every parameter is passed on.",
            ),
            entry(
                &problem(flow().stage(explore().template("{{", |_: &Talk| ()))),
                "The reason behind the colon is a `TemplateError`.",
            ),
            entry(&problem(flow().stage(explore().tools(["fly"]))), "The reason behind the colon is a `ToolBoxError`."),
            entry(
                &problem(flow().stage(explore().on_enter(moving))),
                "Hooks are nodes that only write: where a stage leads is said by its tools, its gate or its logic.",
            ),
            entry(
                &problem(flow().stage(explore().compaction(Compaction::new(model()).minimum(8).recent(8)))),
                "A summary has to replace something.",
            ),
            entry(
                &problem(flow().stage(Stage::end("bye", |_: &Talk| "Bye.".into()).model("small"))),
                "A stage of `Stage::logic` or `Stage::end` has one vertex behind its hooks, which asks nobody.",
            ),
            entry(
                &problem(
                    flow()
                        .stage(explore().exhausted("sorry"))
                        .with(|graph| graph.node("sorry", || async {}).edge("sorry", "explore_agent")),
                ),
                "Everybody enters a stage by the vertex that has its name.",
            ),
            entry(
                &problem(flow().stage(explore().policy(fallback))),
                "What the vertices find themselves: a `StageError`.",
            ),
        ],
    }
}
