//! Graphs that loop, fan out, ask, remember, fail and try again, alone and within each other.

use std::time::Duration;

use graph_engine::{
    Builder, Ctx, Durability, FailedTask, Graph, In, Next, NodeError, NodeExt, Res, Retry, Route, Runner, START, Snap,
    Subgraph, child,
};

use super::{Ledger, Work, WorkUpdate};

/// A graph under a name, and how its checkpoints are stored.
pub struct Script {
    /// Its name.
    pub name: &'static str,
    graph: fn() -> Builder<Work>,
    durability: Durability,
}

/// All scripts.
pub const SCRIPTS: &[Script] = &[
    Script::sync("loop", going_round),
    Script::sync("fan-out", fanning_out),
    Script::sync("branches", branches),
    Script::sync("question", question),
    Script::sync("questions", questions),
    Script::sync("memo", memo),
    Script::sync("retries", retries),
    Script::sync("error-route", error_route),
    Script::sync("stay", stay),
    Script::sync("deferred", deferred),
    Script { name: "loop-async", graph: going_round, durability: Durability::Async },
    Script { name: "asking-sends", graph: asking_sends, durability: Durability::Async },
    Script::sync("child", child_asks),
    Script::sync("child-per-thread", child_per_thread),
];

impl Script {
    const fn sync(name: &'static str, graph: fn() -> Builder<Work>) -> Self {
        Self { name, graph, durability: Durability::Sync }
    }

    /// A runner of the graph without a store.
    ///
    /// # Panics
    /// If the graph doesn't compile.
    pub fn runner(&self) -> Runner<Work> {
        let graph = (self.graph)().compile().unwrap_or_else(|error| panic!("{}: {error}", self.name));
        graph.runner().durability(self.durability)
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name)
    }
}

async fn pause(millis: u64) {
    tokio::time::sleep(Duration::from_millis(millis)).await;
}

fn done(ctx: &Ctx, what: &str) -> WorkUpdate {
    Work::update()
        .log([format!("{} {what}", ctx.node())])
        .seen([(format!("{} {what}", ctx.node()), ctx.step())])
        .total(i64::try_from(ctx.step()).unwrap_or_default())
        .last(ctx.node().to_string())
}

/// Does one thing outside, between two waits.
async fn act(ctx: Ctx, ledger: Res<Ledger>) -> WorkUpdate {
    pause(1).await;
    ledger.effect(&ctx, "act");
    pause(1).await;
    done(&ctx, "act")
}

async fn round(work: Snap<Work>, ctx: Ctx, ledger: Res<Ledger>) -> WorkUpdate {
    let count = work.count + 1;
    drop(work);
    ledger.effect(&ctx, "round");
    pause(1).await;
    done(&ctx, "round").count(count)
}

#[derive(Route)]
enum Again {
    Round,
    #[route(end)]
    End,
}

fn again(work: &Work) -> Next<Again> {
    if work.count < 6 { Next::go(Again::Round) } else { Next::go(Again::End) }
}

fn going_round() -> Builder<Work> {
    Graph::<Work>::builder("loop").node("round", round).edge(START, "round").route("round", again)
}

#[derive(Route)]
enum ToItem {
    Item(u32),
}

async fn spread(ctx: Ctx, ledger: Res<Ledger>) -> Next<ToItem> {
    ledger.effect(&ctx, "spread");
    Next::fan_out((0..5).map(ToItem::Item))
}

async fn item(In(number): In<u32>, ctx: Ctx, ledger: Res<Ledger>) -> WorkUpdate {
    pause(u64::from(*number % 3)).await;
    ledger.effect(&ctx, &format!("item {number}"));
    pause(1).await;
    done(&ctx, &format!("item {number}"))
}

fn fanning_out() -> Builder<Work> {
    let graph = Graph::<Work>::builder("fan-out").node("spread", spread).node("item", item).node("after", act);
    graph.edge(START, "spread").edge("item", "after")
}

async fn slow(ctx: Ctx, ledger: Res<Ledger>) -> WorkUpdate {
    pause(4).await;
    ledger.effect(&ctx, "slow");
    pause(3).await;
    done(&ctx, "slow")
}

fn branches() -> Builder<Work> {
    let graph = Graph::<Work>::builder("branches").node("a", act).node("b", slow).node("c", act).node("d", slow);
    let graph = graph.node("c2", act).node("end", act).edge("c", "c2").join(["a", "b", "c2", "d"], "end");
    ["a", "b", "c", "d"].into_iter().fold(graph, |graph, to| graph.edge(START, to))
}

async fn ask(ctx: Ctx, ledger: Res<Ledger>) -> Result<WorkUpdate, NodeError> {
    pause(1).await;
    let name: String = ctx.interrupt(format!("{} name", ctx.node()))?;
    let date: String = ctx.interrupt("date")?;
    ledger.effect(&ctx, &format!("{name}, {date}"));
    pause(1).await;
    Ok(done(&ctx, &format!("{name}, {date}")))
}

fn question() -> Builder<Work> {
    let graph = Graph::<Work>::builder("question").node("before", act).node("ask", ask).node("after", act);
    graph.edge(START, "before").edge("before", "ask").edge("ask", "after")
}

fn questions() -> Builder<Work> {
    let graph = Graph::<Work>::builder("questions").node("a", ask).node("b", ask).node("c", slow).node("end", act);
    let graph = graph.join(["a", "b", "c"], "end");
    ["a", "b", "c"].into_iter().fold(graph, |graph, to| graph.edge(START, to))
}

async fn remember(ctx: Ctx, ledger: Res<Ledger>) -> Result<WorkUpdate, NodeError> {
    let one = async |what: &'static str| {
        ctx.memo(what, async {
            pause(1).await;
            ledger.effect(&ctx, what);
            Ok::<_, NodeError>(format!("{what} done"))
        })
        .await
    };
    let charged = one("charge").await?;
    pause(1).await;
    let mailed = one("mail").await?;
    let sure: String = ctx.interrupt(format!("{charged}, {mailed}"))?;
    Ok(done(&ctx, &format!("{charged} {mailed} {sure}")))
}

fn memo() -> Builder<Work> {
    let graph = Graph::<Work>::builder("memo").node("a", remember).node("b", remember).node("end", act);
    graph.join(["a", "b"], "end").edge(START, "a").edge(START, "b")
}

async fn flaky(ctx: Ctx, ledger: Res<Ledger>) -> Result<WorkUpdate, NodeError> {
    ledger.effect(&ctx, &format!("attempt {}", ctx.attempt()));
    pause(1).await;
    if ctx.attempt() < 3 { Err("busy".into()) } else { Ok(done(&ctx, "flaky")) }
}

fn retries() -> Builder<Work> {
    let retry = Retry::fixed(3, Duration::from_millis(1));
    let graph = Graph::<Work>::builder("retries").node("flaky", flaky.retry(retry)).node("b", slow).node("end", act);
    graph.join(["flaky", "b"], "end").edge(START, "flaky").edge(START, "b")
}

async fn fails(ctx: Ctx, ledger: Res<Ledger>) -> Result<(), NodeError> {
    ledger.effect(&ctx, "fails");
    pause(1).await;
    Err(NodeError::fatal("no room"))
}

async fn rescue(In(failed): In<FailedTask>, ctx: Ctx, ledger: Res<Ledger>) -> WorkUpdate {
    ledger.effect(&ctx, "rescue");
    pause(1).await;
    done(&ctx, &format!("rescue of {}", failed.node))
}

fn error_route() -> Builder<Work> {
    let graph = Graph::<Work>::builder("error-route").node("fails", fails.on_error("rescue"));
    graph.node("rescue", rescue).node("b", slow).edge(START, "fails").edge(START, "b")
}

async fn check(work: Snap<Work>, ctx: Ctx, ledger: Res<Ledger>) -> graph_engine::Command<Work, Checked> {
    let count = work.count + 1;
    drop(work);
    ledger.effect(&ctx, "check");
    pause(1).await;
    let update = done(&ctx, "check").count(count);
    if count < 4 { Next::stay(format!("try {count}")).with(update) } else { Next::declared().with(update) }
}

#[derive(Route)]
#[route(stay)]
enum Checked {}

async fn draft(ctx: Ctx, ledger: Res<Ledger>) -> Result<WorkUpdate, NodeError> {
    let hint: Option<String> = ctx.feedback()?;
    ledger.effect(&ctx, "draft");
    pause(1).await;
    Ok(done(&ctx, &format!("draft {hint:?}")))
}

fn stay() -> Builder<Work> {
    let graph = Graph::<Work>::builder("stay").node("end", act).edge(START, "draft").edge("check", "end");
    graph.cluster("stage", "draft", |stage| stage.node("draft", draft).node("check", check).edge("draft", "check"))
}

fn deferred() -> Builder<Work> {
    let graph = Graph::<Work>::builder("deferred").node("a", act).node("b", act).node("b2", slow).node("b3", act);
    let graph = graph.node("last", act.deferred()).edge("a", "last").edge("b", "b2").edge("b2", "b3");
    graph.edge("b3", "last").edge(START, "a").edge(START, "b")
}

async fn item_asks(In(number): In<u32>, ctx: Ctx, ledger: Res<Ledger>) -> Result<WorkUpdate, NodeError> {
    let price = ctx.memo("price", async {
        pause(1).await;
        ledger.effect(&ctx, &format!("price {number}"));
        Ok::<_, NodeError>(*number * 10)
    });
    let price = price.await?;
    let sure: String = if *number % 2 == 0 { ctx.interrupt(format!("{number} for {price}?"))? } else { "yes".into() };
    ledger.effect(&ctx, &format!("buy {number}"));
    Ok(done(&ctx, &format!("buy {number} for {price}: {sure}")))
}

fn asking_sends() -> Builder<Work> {
    let graph = Graph::<Work>::builder("asking-sends").node("spread", spread).node("item", item_asks);
    graph.node("after", act).edge(START, "spread").edge("item", "after")
}

/// A child that works, asks and works, beside a sibling, within another child.
fn child_asks() -> Builder<Work> {
    let compiled = |graph: Builder<Work>| graph.compile().unwrap_or_else(|error| panic!("{error}"));
    let inner = compiled(question());
    let outer = Graph::<Work>::builder("outer").node("inner", child(&inner)).node("last", act);
    let outer = compiled(outer.edge(START, "inner").edge("inner", "last"));
    let graph = Graph::<Work>::builder("child").node("outer", child(&outer)).node("b", slow).node("end", act);
    graph.join(["outer", "b"], "end").edge(START, "outer").edge(START, "b")
}

/// A child of its own state that remembers earlier turns.
fn child_per_thread() -> Builder<Work> {
    let rounds = Graph::<Work>::builder("rounds").node("round", round).edge(START, "round").route("round", again);
    let rounds = rounds.compile().unwrap_or_else(|error| panic!("{error}"));
    let find = Subgraph::new(
        &rounds,
        |work: &Work| Work::update().inputs(work.inputs.last().copied()).count(0_u32),
        |own: &Work, _: WorkUpdate| {
            Work::update().log([format!("{} inputs, {} rounds", own.inputs.len(), own.log.len())]).last("child")
        },
    );
    let graph = Graph::<Work>::builder("child-per-thread").node("find", find.per_thread()).node("end", ask);
    graph.edge(START, "find").edge("find", "end")
}
