//! Questions of child graphs: they are asked around them, and their answers reach only who asked.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use graph_engine::{
    Builder, Ctx, Graph, IntoNode, MemoryStore, NodeError, RunError, START, State, Status, Subgraph, Thread, child,
};
use serde_json::{Value, json};

#[derive(State, Clone, Default, Debug)]
struct Talk {
    #[state(append)]
    log: Vec<String>,
}

fn said(text: impl Into<String>) -> TalkUpdate {
    Talk::update().log([text.into()])
}

fn talk(name: &str) -> Builder<Talk> {
    Graph::<Talk>::builder(name)
}

fn alone<M>(name: &str, node: impl IntoNode<Talk, M>) -> Graph<Talk> {
    talk("alone").node(name, node).edge(START, name).compile().unwrap()
}

fn thread_of(graph: &Graph<Talk>) -> Thread<Talk> {
    graph.runner().store(MemoryStore::new()).thread("guest-7")
}

/// Counts how often a node began.
#[derive(Clone, Default)]
struct Count(Arc<AtomicUsize>);

impl Count {
    fn up(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

async fn ask(ctx: Ctx) -> Result<TalkUpdate, NodeError> {
    let answer: String = ctx.interrupt(format!("{}?", ctx.node()))?;
    Ok(said(format!("{}:{answer}", ctx.node())))
}

/// `s1`, then `s2` that asks.
fn s1_s2(count: &Count) -> Graph<Talk> {
    let count = count.clone();
    let first = move || {
        count.up();
        async { said("s1") }
    };
    let graph = talk("inner").node("s1", first).node("s2", ask).edge(START, "s1").edge("s1", "s2");
    graph.compile().unwrap()
}

#[tokio::test]
async fn b67_a_question_of_a_child_is_asked_around_it_and_its_answer_reaches_only_the_child() {
    let (inner_runs, outer_runs) = (Count::default(), Count::default());
    let counted = outer_runs.clone();
    let beside = move || {
        counted.up();
        async { said("beside") }
    };
    let outer = talk("outer").node("child", child(&s1_s2(&inner_runs))).node("other", ask).node("beside", beside);
    let outer = outer.edge(START, "child").edge(START, "other").edge(START, "beside").compile().unwrap();
    let thread = thread_of(&outer);
    let paused = thread.run(Talk::update()).await.unwrap();
    assert_eq!(paused.status, Status::Paused);
    let [inner, other] = paused.interrupts() else { panic!("{:?}", paused.interrupts()) };
    assert_eq!((&*inner.node, &inner.question, &*other.node), ("s2", &json!("s2?"), "other"));
    assert!(inner.namespace.starts_with("child:0.1:") && other.namespace.is_empty(), "{}", inner.namespace);
    assert_eq!(thread.state().await.unwrap().interrupts, paused.interrupts());
    // Several are open.
    let refused = thread.resume("x").await.unwrap_err();
    assert!(matches!(&*refused.error, RunError::WhichAnswer { open, .. } if open[..] == [inner.id, other.id]));
    let still = thread.resume_by_id([(inner.id, "R")]).await.unwrap();
    assert_eq!((still.status, still.interrupts()), (Status::Paused, std::slice::from_ref(other)));
    let end = thread.resume("O").await.unwrap();
    assert_eq!(end.state.log, ["beside", "s1", "s2:R", "other:O"]);
    assert_eq!((inner_runs.get(), outer_runs.get()), (1, 1), "nothing that finished runs again");
}

#[tokio::test]
async fn case_18_a_resume_goes_on_at_the_node_that_asked_and_not_at_the_first_one_of_the_child() {
    let runs = Count::default();
    let thread = thread_of(&alone("child", child(&s1_s2(&runs))));
    thread.run(Talk::update()).await.unwrap();
    assert_eq!(thread.resume("R").await.unwrap().state.log, ["s1", "s2:R"]);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn b68_case_17_two_nodes_of_a_child_that_ask_get_each_its_own_answer() {
    let inner = talk("inner").node("s1", ask).node("s2", ask).edge(START, "s1").edge("s1", "s2").compile().unwrap();
    let node = move |ctx: Ctx| {
        let inner = inner.clone();
        async move { Ok::<_, NodeError>(Talk::update().log(ctx.call(&inner, Talk::update()).await?.state.log.clone())) }
    };
    let thread = thread_of(&alone("calls", node));
    let first = thread.run(Talk::update()).await.unwrap();
    assert_eq!(first.interrupts()[0].question, "s1?");
    assert_eq!(&*first.interrupts()[0].node, "s1");
    let second = thread.resume("A").await.unwrap();
    assert_eq!((second.interrupts().len(), &second.interrupts()[0].question), (1, &json!("s2?")));
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["s1:A", "s2:B"]);
}

#[tokio::test]
async fn b69_one_child_called_twice_in_one_node_asks_twice() {
    let runs = Count::default();
    let (inner, counted) = (alone("ask", ask), runs.clone());
    let node = move |ctx: Ctx| {
        counted.up();
        let inner = inner.clone();
        async move {
            let mut log = Vec::new();
            for _ in 0..2 {
                log.extend(ctx.call(&inner, Talk::update()).await?.state.log.clone());
            }
            Ok::<_, NodeError>(Talk::update().log(log))
        }
    };
    let thread = thread_of(&alone("calls", node));
    let first = thread.run(Talk::update()).await.unwrap();
    let second = thread.resume("A").await.unwrap();
    assert_eq!(second.status, Status::Paused);
    assert_ne!(first.interrupts()[0].id, second.interrupts()[0].id);
    assert!(second.interrupts()[0].namespace.starts_with("calls/alone#1:0.0:"), "{:?}", second.interrupts()[0]);
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["ask:A", "ask:B"]);
    assert_eq!(runs.get(), 3);
}

#[tokio::test]
async fn calls_at_once_in_scopes_ask_at_once_and_are_answered_one_by_one() {
    let inner = s1_s2(&Count::default());
    let node = move |ctx: Ctx| {
        let inner = inner.clone();
        async move {
            let (left, right) = (ctx.scope("left"), ctx.scope("right"));
            let calls = (left.call(&inner, Talk::update()), right.call(&inner, Talk::update()));
            let (left, right) = tokio::join!(calls.0.into_future(), calls.1.into_future());
            let (left, right) = (left?.state.log.clone(), right?.state.log.clone());
            Ok::<_, NodeError>(Talk::update().log([left, right].concat()))
        }
    };
    let thread = thread_of(&alone("calls", node));
    let paused = thread.run(Talk::update()).await.unwrap();
    let [left, right] = paused.interrupts() else { panic!("{:?}", paused.interrupts()) };
    assert_ne!(left.namespace, right.namespace);
    let still = thread.resume_by_id([(right.id, "R")]).await.unwrap();
    assert_eq!(still.interrupts(), std::slice::from_ref(left));
    assert_eq!(thread.resume("L").await.unwrap().state.log, ["s1", "s2:L", "s1", "s2:R"]);
}

#[tokio::test]
async fn a_question_two_levels_down_is_answered_from_the_top() {
    let runs = Count::default();
    let middle = talk("middle").node("low", child(&s1_s2(&runs))).node("m", ask).edge(START, "low").edge(START, "m");
    let thread = thread_of(&alone("top", child(&middle.compile().unwrap())));
    let paused = thread.run(Talk::update()).await.unwrap();
    let [low, m] = paused.interrupts() else { panic!("{:?}", paused.interrupts()) };
    let levels: Vec<&str> = low.namespace.split('|').map(|level| level.rsplit_once(':').unwrap().0).collect();
    assert_eq!((levels, &*m.node), (vec!["top:0.0", "low:0.0"], "m"));
    let still = thread.resume_by_id([(low.id, "L")]).await.unwrap();
    assert_eq!(still.interrupts(), std::slice::from_ref(m));
    assert_eq!(thread.resume("M").await.unwrap().state.log, ["s1", "s2:L", "m:M"]);
    assert_eq!(runs.get(), 1);
}

#[tokio::test]
async fn an_answer_of_the_wrong_type_is_refused_to_the_caller_and_the_question_stays_open() {
    let number = |ctx: Ctx| async move { Ok::<_, NodeError>(said(ctx.interrupt::<u32>("how many?")?.to_string())) };
    for graph in [child(&alone("ask", number)), child(&alone("ask", number)).not_kept()] {
        let thread = thread_of(&alone("child", graph));
        let paused = thread.run(Talk::update()).await.unwrap();
        let refused = thread.resume("many").await.unwrap_err();
        let RunError::BadAnswer { bad, .. } = &*refused.error else { panic!("{refused}") };
        assert_eq!((bad[0].id, &*bad[0].node), (paused.interrupts()[0].id, "ask"));
        assert_eq!(thread.state().await.unwrap().interrupts, paused.interrupts());
        assert_eq!(thread.resume(3).await.unwrap().state.log, ["3"]);
    }
}

#[tokio::test]
async fn a_question_of_a_child_expires_with_its_default() {
    let late = |ctx: Ctx| async move {
        let sure: bool = ctx.ask("sure?").expires(Duration::from_secs(60), false).answer()?;
        Ok::<_, NodeError>(said(sure.to_string()))
    };
    for node in [
        child(&alone("ask", late)),
        child(&alone("ask", late)).not_kept(),
        child(&alone("c", child(&alone("ask", late)))),
    ] {
        let runner = alone("child", node).runner().store(MemoryStore::new());
        runner.thread("guest-7").run(Talk::update()).await.unwrap();
        assert!(runner.expire(SystemTime::now()).await.unwrap().is_empty());
        let expired = runner.expire(SystemTime::now() + Duration::from_secs(61)).await.unwrap();
        assert_eq!(expired[0].end.as_ref().unwrap().state.log, ["false"]);
    }
}

#[tokio::test]
async fn without_a_store_a_question_of_a_child_says_that_it_needs_one() {
    let failed = alone("child", child(&alone("a", ask))).runner().thread("t").run(Talk::update()).await.unwrap_err();
    assert!(failed.to_string().contains("`interrupt` needs a checkpoint store"), "{failed}");
}

#[tokio::test]
async fn a_memo_of_a_child_is_kept_over_its_question() {
    let count = Count::default();
    let counted = count.clone();
    let node = move |ctx: Ctx| {
        let counted = counted.clone();
        async move {
            let price = async {
                counted.up();
                Ok::<_, NodeError>(7_u32)
            };
            let price: u32 = ctx.memo("price", price).await?;
            Ok::<_, NodeError>(said(format!("{price} {}", ctx.interrupt::<String>("?")?)))
        }
    };
    let thread = thread_of(&alone("child", child(&alone("a", node))));
    thread.run(Talk::update()).await.unwrap();
    assert_eq!(thread.resume("yes").await.unwrap().state.log, ["7 yes"]);
    assert_eq!(count.get(), 1);
}

#[tokio::test]
async fn a_failure_beside_a_child_that_waits_beats_its_question_which_stays_open() {
    let fails = Count::default();
    let counted = fails.clone();
    let fail = move || {
        counted.up();
        let first = counted.get() == 1;
        async move { if first { Err(NodeError::fatal("boom")) } else { Ok(said("fine")) } }
    };
    let outer =
        talk("outer").node("child", child(&alone("a", ask))).node("b", fail).edge(START, "child").edge(START, "b");
    let thread = thread_of(&outer.compile().unwrap());
    let failed = thread.run(Talk::update()).await.unwrap_err();
    assert_eq!((failed.failures().len(), failed.report.interrupts.len()), (1, 1));
    let paused = thread.proceed().await.unwrap();
    assert_eq!((paused.status, paused.interrupts().len()), (Status::Paused, 1));
    let waiting = thread.proceed().await.unwrap_err();
    assert!(matches!(&*waiting.error, RunError::Waiting { open, .. } if open[..] == [paused.interrupts()[0].id]));
    let mut log = thread.resume("A").await.unwrap().state.log.clone();
    log.sort();
    assert_eq!(log, ["a:A", "fine"]);
}

#[tokio::test]
async fn abandon_drops_the_question_of_a_child_and_the_next_turn_begins_anew() {
    let runs = Count::default();
    let thread = thread_of(&alone("child", child(&s1_s2(&runs))));
    thread.run(Talk::update()).await.unwrap();
    thread.abandon().await.unwrap();
    let paused = thread.run(Talk::update()).await.unwrap();
    assert_eq!(paused.interrupts().len(), 1);
    assert_eq!(thread.resume("R").await.unwrap().state.log, ["s1", "s2:R"]);
    assert_eq!(runs.get(), 2);
}

#[tokio::test]
async fn a_node_that_swallows_the_error_of_a_child_that_waits_pauses_all_the_same() {
    let inner = alone("a", ask);
    let node = move |ctx: Ctx| {
        let inner = inner.clone();
        async move {
            let (here, elsewhere) = (ctx.scope("here"), ctx.scope("elsewhere"));
            let called = here.call(&inner, Talk::update()).await;
            let waiting = (ctx.is_waiting(), here.is_waiting(), elsewhere.is_waiting());
            assert_eq!(waiting, (called.is_err(), called.is_err(), false));
            said(called.map_or("swallowed".to_owned(), |end| end.state.log.concat()))
        }
    };
    let thread = thread_of(&alone("calls", node));
    assert_eq!(thread.run(Talk::update()).await.unwrap().status, Status::Paused);
    assert_eq!(thread.resume("A").await.unwrap().state.log, ["a:A"]);
}

#[derive(State, Clone, Default, Debug)]
struct Search {
    query: String,
    found: Value,
}

#[tokio::test]
async fn a_child_of_another_state_asks_and_its_way_out_sees_the_answer() {
    let look = |ctx: Ctx| async move { Ok::<_, NodeError>(Search::update().found(ctx.interrupt::<Value>("which?")?)) };
    let search = Graph::<Search>::builder("search").node("look", look).edge(START, "look").compile().unwrap();
    let find = Subgraph::new(
        &search,
        |talk: &Talk| Search::update().query(talk.log.concat()),
        |search: &Search, _| said(format!("{}={}", search.query, search.found)),
    );
    let thread = thread_of(&alone("find", find));
    thread.run(said("in")).await.unwrap();
    assert_eq!(thread.resume(json!({ "a": 1 })).await.unwrap().state.log, ["in", "in={\"a\":1}"]);
}
