//! A second driver over the same machine: any order of finishing, failures and crashes by seed end like an undisturbed
//! run.

use graph_engine::testing::Shuffled;
use graph_engine::{
    Command, Ctx, END, Graph, In, Log, Next, NodeError, NodeExt, Route, RunError, Runner, START, Snap, State,
};

const SEEDS: u64 = 400;

#[derive(State, Clone, Default, Debug, PartialEq)]
struct Facts {
    #[state(append)]
    log: Log<String>,
    #[state(with = add)]
    total: u64,
    #[state(any)]
    last: u64,
    rounds: u64,
}

fn add(total: &u64, item: u64) -> Result<u64, std::convert::Infallible> {
    Ok(total + item)
}

#[derive(Route)]
#[route(stay, direct)]
enum FromPlan {
    Work(u64),
    Close,
}

/// Spreads work twice, then stays once with a hint, then closes.
async fn plan(facts: Snap<Facts>, ctx: Ctx) -> Result<Command<Facts, FromPlan>, NodeError> {
    let hint = ctx.feedback::<String>()?.unwrap_or_else(|| "none".into());
    let update = Facts::update().rounds(facts.rounds + 1).log([format!("plan {}, hint {hint}", facts.rounds)]);
    Ok(match facts.rounds {
        0 | 1 => Command::fan_out((0..5).map(|n| FromPlan::Work(n + facts.rounds * 10))),
        2 => Command::stay("again"),
        3 => Command::go(FromPlan::Close),
        _ => Command::direct("too often"),
    }
    .with(update))
}

async fn work(In(n): In<u64>, facts: Snap<Facts>) -> FactsUpdate {
    Facts::update().total(*n).last(facts.rounds).log([format!("work {n}")])
}

async fn left() -> FactsUpdate {
    Facts::update().log(["left"])
}

async fn right() -> FactsUpdate {
    Facts::update().log(["right"])
}

async fn long() -> FactsUpdate {
    Facts::update().log(["long"])
}

async fn both(facts: Snap<Facts>) -> FactsUpdate {
    Facts::update().log([format!("both of {}", facts.log.len())])
}

#[derive(Route)]
#[route(direct)]
enum Reply {}

async fn close(facts: Snap<Facts>) -> Next<Reply> {
    Next::direct(format!("{} in {} rounds", facts.total, facts.rounds))
}

async fn late() -> FactsUpdate {
    Facts::update().log(["late"])
}

/// Loops, fan-out, a stay in a cluster, a fork with branches of different length and a join, a deferred node.
fn everything() -> Runner<Facts> {
    Graph::<Facts>::builder("everything")
        .cluster("planning", "plan", |c| c.node("plan", plan).node("work", work))
        .node("left", left)
        .node("right", right)
        .node("long", long)
        .node("both", both)
        .node("close", close)
        .node("late", late.deferred())
        .edge(START, "plan")
        .edge("work", "plan")
        .edge("close", "left")
        .edge("close", "right")
        .edge(START, "left")
        .edge(START, "right")
        .edge(START, "late")
        .edge("left", "long")
        .join(["long", "right"], "both")
        .edge("both", END)
        .edge("late", END)
        .compile()
        .expect("compiles")
        .runner()
}

#[tokio::test]
async fn every_seed_ends_like_an_undisturbed_run() {
    let runner = everything();
    let calm = runner.thread("calm").run(Facts::update()).await.expect("ends");
    assert_eq!(calm.reply_as::<String>().expect("text").as_deref(), Some("70 in 4 rounds"));
    let (mut failures, mut crashes) = (0, 0);
    for seed in 0..SEEDS {
        let run = Shuffled::new(seed).failures(9).crashes(25).run(&runner, Facts::update).await;
        assert!(run.error.is_none(), "seed {seed}: {:?}", run.error);
        assert_eq!(*run.state, *calm.state, "seed {seed}");
        assert_eq!(run.replies, calm.replies, "seed {seed}");
        assert_eq!(run.steps, calm.report.steps, "seed {seed}");
        failures += run.failures;
        crashes += run.crashes;
    }
    // Without these the test would say nothing.
    assert!(failures > SEEDS && crashes > SEEDS / 2, "{failures} failures, {crashes} crashes");
}

async fn first() -> FactsUpdate {
    Facts::update().rounds(1)
}

async fn second() -> FactsUpdate {
    Facts::update().rounds(2)
}

#[tokio::test]
async fn an_error_that_no_order_can_avoid_is_the_same_for_every_seed() {
    let graph = Graph::<Facts>::builder("conflict")
        .node("first", first)
        .node("second", second)
        .node("left", left)
        .edge(START, "first")
        .edge(START, "second")
        .edge(START, "left")
        .compile()
        .expect("compiles: the nodes don't declare what they write");
    for seed in 0..SEEDS {
        let run = Shuffled::new(seed).failures(9).crashes(9).run(&graph.runner(), Facts::update).await;
        let Some(RunError::WriteConflict { field, tasks, step, .. }) = run.error else { panic!("seed {seed}") };
        let nodes: Vec<String> = tasks.iter().map(|task| task.node.to_string()).collect();
        assert_eq!((field.as_str(), step, nodes), ("rounds", 0, vec!["first".to_owned(), "second".to_owned()]));
        assert_eq!(*run.state, Facts::default(), "nothing of the step is applied");
    }
}
