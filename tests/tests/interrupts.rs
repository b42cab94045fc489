//! E18: a node asks, the turn pauses, answers come by id, all or some of them, of the right type or not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use graph_engine::{
    Builder, Ctx, EventKind, Graph, In, InterruptId, MemoryStore, NodeError, Retry, RunError, START, State, Status,
    Thread,
};
use serde_json::{Value, json};

#[derive(State, Clone, Default)]
struct Talk {
    #[state(append)]
    log: Vec<String>,
}

fn said(text: impl Into<String>) -> TalkUpdate {
    Talk::update().log([text.into()])
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

fn thread_of(graph: Builder<Talk>) -> Thread<Talk> {
    graph.compile().unwrap().runner().store(MemoryStore::new()).thread("guest-7")
}

async fn ask(ctx: Ctx) -> Result<TalkUpdate, NodeError> {
    let answer: Value = ctx.interrupt(json!({ "who": ctx.node() }))?;
    Ok(said(format!("{}:{answer}", ctx.node())))
}

fn two_that_ask() -> Builder<Talk> {
    let plain = || async { said("c") };
    let graph = Graph::<Talk>::builder("talk").node("a", ask).node("b", ask).node("c", plain);
    graph.edge(START, "a").edge(START, "b").edge(START, "c")
}

#[tokio::test]
async fn one_question_pauses_and_its_answer_is_returned_by_the_call_in_the_second_run() {
    let count = Count::default();
    let begun = count.clone();
    let node = move |ctx: Ctx| {
        begun.up();
        async move { Ok::<_, NodeError>(said(ctx.interrupt::<String>("name?")?)) }
    };
    let thread = thread_of(Graph::<Talk>::builder("talk").node("a", node).edge(START, "a"));
    let paused = thread.run(said("hello")).await.unwrap();
    assert_eq!((paused.status, paused.interrupts().len()), (Status::Paused, 1));
    assert_eq!((&paused.interrupts()[0].question, &*paused.interrupts()[0].node), (&json!("name?"), "a"));
    let state = thread.state().await.unwrap();
    assert_eq!((&state.next[..], &state.interrupts[..]), (&["a".into()][..], paused.interrupts()));
    assert_eq!(state.state.log, ["hello"]);
    let end = thread.resume("Ann").await.unwrap();
    assert_eq!((end.status, count.get()), (Status::Done, 2));
    assert_eq!(end.state.log, ["hello", "Ann"]);
    assert!(end.interrupts().is_empty() && thread.state().await.unwrap().next.is_empty());
}

#[tokio::test]
async fn two_questions_of_a_node_are_answered_one_after_the_other_and_its_body_begins_three_times() {
    let count = Count::default();
    let begun = count.clone();
    let node = move |ctx: Ctx| {
        begun.up();
        async move {
            let (first, second) = (ctx.interrupt::<String>("first")?, ctx.interrupt::<String>("second")?);
            Ok::<_, NodeError>(Talk::update().log([first, second]))
        }
    };
    let thread = thread_of(Graph::<Talk>::builder("talk").node("a", node).edge(START, "a"));
    thread.run(Talk::update()).await.unwrap();
    let second = thread.resume("A").await.unwrap();
    assert_eq!((second.status, &second.interrupts()[0].question), (Status::Paused, &json!("second")));
    assert_eq!(second.report.pending, ["a"], "after the first answer the node is still what comes next");
    assert_eq!(thread.resume("B").await.unwrap().state.log, ["A", "B"]);
    assert_eq!(count.get(), 3);
}

#[tokio::test]
async fn of_parallel_tasks_the_finished_one_is_kept_and_a_single_answer_is_refused() {
    let thread = thread_of(two_that_ask());
    let paused = thread.run(Talk::update()).await.unwrap();
    let nodes: Vec<_> = paused.interrupts().iter().map(|interrupt| interrupt.node.as_str()).collect();
    assert_eq!(nodes, ["a", "b"], "in task order");
    let ids: Vec<InterruptId> = paused.interrupts().iter().map(|interrupt| interrupt.id).collect();
    assert_ne!(ids[0], ids[1]);
    assert_eq!(&*thread.state().await.unwrap().finished[0].node, "c");

    let error = thread.resume("x").await.unwrap_err();
    let RunError::WhichAnswer { open, .. } = &*error.error else { panic!("{error}") };
    assert_eq!(*open, ids);

    let half = thread.resume_by_id([(ids[1], "B")]).await.unwrap();
    assert_eq!((half.status, half.interrupts().len(), half.interrupts()[0].id), (Status::Paused, 1, ids[0]));
    assert!(half.state.log.is_empty(), "nothing is merged before the super-step is over");
    let end = thread.resume("A").await.unwrap();
    assert_eq!(end.state.log, ["a:\"A\"", "b:\"B\"", "c"]);
}

#[tokio::test]
async fn one_resume_answers_all_and_ids_are_the_same_in_the_end_the_state_and_the_report() {
    let thread = thread_of(two_that_ask());
    let paused = thread.run(Talk::update()).await.unwrap();
    let state = thread.state().await.unwrap();
    assert_eq!(state.interrupts, paused.report.interrupts);
    let answers = paused.interrupts().iter().map(|interrupt| (interrupt.id, interrupt.node.to_string()));
    let end = thread.resume_by_id(answers.collect::<Vec<_>>()).await.unwrap();
    assert_eq!(end.state.log, ["a:\"a\"", "b:\"b\"", "c"]);
}

#[tokio::test]
async fn three_sends_ask_two_are_answered_then_the_third() {
    async fn ask(In(n): In<u32>, ctx: Ctx) -> Result<TalkUpdate, NodeError> {
        let answer: String = ctx.interrupt(*n)?;
        Ok(said(format!("{n}:{answer}")))
    }
    #[derive(graph_engine::Route)]
    enum To {
        Ask(u32),
    }
    async fn spread() -> graph_engine::Next<To> {
        graph_engine::Next::fan_out((0..3).map(To::Ask))
    }
    let thread =
        thread_of(Graph::<Talk>::builder("talk").node("spread", spread).node("ask", ask).edge(START, "spread"));
    let paused = thread.run(Talk::update()).await.unwrap();
    let id = |n: usize| paused.interrupts()[n].id;
    assert_eq!(paused.interrupts().iter().map(|i| &i.question).collect::<Vec<_>>(), [&json!(0), &json!(1), &json!(2)]);
    thread.resume_by_id([(id(0), "r0"), (id(2), "r2")]).await.unwrap();
    assert_eq!(thread.resume("r1").await.unwrap().state.log, ["0:r0", "1:r1", "2:r2"]);
}

#[tokio::test]
async fn answers_that_are_empty_or_false_are_answers() {
    for answer in [json!(0), json!(""), json!(false), json!([]), Value::Null] {
        let thread = thread_of(Graph::<Talk>::builder("talk").node("a", ask).edge(START, "a"));
        thread.run(Talk::update()).await.unwrap();
        let end = thread.resume(&answer).await.unwrap();
        assert_eq!(end.state.log, [format!("a:{answer}")]);
    }
}

#[tokio::test]
async fn an_answer_to_nothing_an_empty_map_and_an_unknown_id_are_clear_errors_that_change_nothing() {
    let thread = thread_of(two_that_ask());
    assert!(matches!(&*thread.resume(1).await.unwrap_err().error, RunError::NothingToAnswer { .. }));
    let paused = thread.run(Talk::update()).await.unwrap();
    let before = thread.state().await.unwrap().checkpoint;
    let none: [(InterruptId, Value); 0] = [];
    assert!(matches!(&*thread.resume_by_id(none).await.unwrap_err().error, RunError::WhichAnswer { .. }));
    let wrong: InterruptId = "000000000000000000000000000000ff".parse().unwrap();
    let error = thread.resume_by_id([(paused.interrupts()[0].id, 1), (wrong, 2)]).await.unwrap_err();
    let RunError::UnknownInterrupt { id, open, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((*id, open.len()), (wrong, 2));
    assert!(matches!(&*thread.proceed().await.unwrap_err().error, RunError::Waiting { open, .. } if open.len() == 2));
    let after = thread.state().await.unwrap();
    assert_eq!((after.checkpoint, after.interrupts.len()), (before, 2));
}

#[tokio::test]
async fn a_wrong_type_is_refused_to_whoever_answered_while_the_others_go_on() {
    async fn count(ctx: Ctx) -> Result<TalkUpdate, NodeError> {
        Ok(said(format!("{}", ctx.interrupt::<u32>("how many?")?)))
    }
    let thread =
        thread_of(Graph::<Talk>::builder("talk").node("a", ask).node("n", count).edge(START, "a").edge(START, "n"));
    let paused = thread.run(Talk::update()).await.unwrap();
    let [a, n] = paused.interrupts() else { panic!("two questions") };
    let error = thread.resume_by_id([(a.id, json!("yes")), (n.id, json!("many"))]).await.unwrap_err();
    let RunError::BadAnswer { bad, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((bad.len(), bad[0].id, &*bad[0].node), (1, n.id, "n"));
    assert_eq!(bad[0].why, "invalid type: string \"many\", expected u32; expected a value of type `u32`");
    assert_eq!(error.report.interrupts, std::slice::from_ref(n), "the question is still open");
    assert_eq!(thread.resume(3).await.unwrap().state.log, ["a:\"yes\"", "3"], "the good answer was used");
}

#[tokio::test]
async fn a_node_that_catches_the_error_pauses_all_the_same_and_nothing_of_it_is_kept() {
    async fn stubborn(ctx: Ctx) -> TalkUpdate {
        match ctx.interrupt::<String>("sure?") {
            Ok(answer) => said(answer),
            Err(_) => said("swallowed"),
        }
    }
    let thread = thread_of(Graph::<Talk>::builder("talk").node("a", stubborn).edge(START, "a"));
    assert_eq!(thread.run(Talk::update()).await.unwrap().status, Status::Paused);
    assert_eq!(thread.resume("yes").await.unwrap().state.log, ["yes"]);
}

#[tokio::test]
async fn a_failure_beats_a_question_which_stays_listed() {
    let count = Count::default();
    let begun = count.clone();
    let bad = move || {
        begun.up();
        let first = begun.get() == 1;
        async move { if first { Err(NodeError::fatal("no room")) } else { Ok(said("bad")) } }
    };
    let thread =
        thread_of(Graph::<Talk>::builder("talk").node("a", ask).node("bad", bad).edge(START, "a").edge(START, "bad"));
    let failed = thread.run(Talk::update()).await.unwrap_err();
    assert_eq!((failed.failures().len(), failed.report.interrupts.len()), (1, 1));
    let paused = thread.proceed().await.unwrap();
    assert_eq!((paused.status, count.get()), (Status::Paused, 2));
    assert_eq!(thread.resume("A").await.unwrap().state.log, ["a:\"A\"", "bad"]);
}

#[tokio::test]
async fn new_input_on_a_paused_thread_is_refused_with_the_questions_and_abandon_drops_them() {
    let thread = thread_of(Graph::<Talk>::builder("talk").node("a", ask).edge(START, "a"));
    let first = thread.run(Talk::update()).await.unwrap().interrupts()[0].id;
    let error = thread.run(said("new")).await.unwrap_err();
    let RunError::Unfinished { pending, open, .. } = &*error.error else { panic!("{error}") };
    assert_eq!((&pending[..], &open[..]), (&["a".into()][..], &[first][..]));
    thread.abandon().await.unwrap();
    let again = thread.run(said("new")).await.unwrap();
    assert_ne!(again.interrupts()[0].id, first, "another turn asks another question");
}

#[tokio::test]
async fn without_a_store_a_question_is_a_fatal_error_that_names_the_node_even_if_it_is_caught() {
    async fn stubborn(ctx: Ctx) -> TalkUpdate {
        let _ = ctx.interrupt::<String>("sure?");
        said("swallowed")
    }
    let graph = Graph::<Talk>::builder("talk").node("a", stubborn).edge(START, "a").compile().unwrap();
    let error = graph.runner().thread("guest-7").run(Talk::update()).await.unwrap_err();
    assert_eq!(
        error.failures()[0].to_string(),
        "`a` (task 0.0) failed after 1 attempt: `interrupt` needs a checkpoint store; give the runner one with \
         `Runner::store`"
    );
    let error = graph.runner().thread("guest-7").resume(1).await.unwrap_err();
    assert!(matches!(&*error.error, RunError::NoStore { operation: "resume", .. }));
}

#[tokio::test]
async fn several_questions_at_once_within_a_node_number_themselves_apart_by_scope() {
    async fn both(ctx: Ctx) -> Result<TalkUpdate, NodeError> {
        let one = async |key: &str| ctx.scope(key).interrupt::<String>(key);
        let (a, b) = futures_util::future::join(one("a"), one("b")).await;
        Ok(Talk::update().log([a?, b?]))
    }
    let thread = thread_of(Graph::<Talk>::builder("talk").node("n", both).edge(START, "n"));
    let paused = thread.run(Talk::update()).await.unwrap();
    let [a, b] = paused.interrupts() else { panic!("both are asked: {:?}", paused.interrupts()) };
    let half = thread.resume_by_id([(b.id, "B")]).await.unwrap();
    assert_eq!(half.interrupts(), std::slice::from_ref(a));
    assert_eq!(thread.resume("A").await.unwrap().state.log, ["A", "B"]);
}

#[tokio::test]
async fn questions_survive_a_restart_and_a_retry_policy_never_retries_them() {
    let store = MemoryStore::new();
    let count = Count::default();
    let begun = count.clone();
    let node = move |ctx: Ctx| {
        begun.up();
        async move { Ok::<_, NodeError>(said(ctx.interrupt::<String>("name?")?)) }
    };
    let graph = || {
        use graph_engine::NodeExt;
        let node = node.clone().retry(Retry::fixed(5, std::time::Duration::ZERO));
        Graph::<Talk>::builder("talk").node("a", node).edge(START, "a").compile().unwrap()
    };
    let paused = graph().runner().store(store.clone()).thread("t").run(Talk::update()).await.unwrap();
    assert_eq!((paused.status, count.get()), (Status::Paused, 1));
    let thread = graph().runner().store(store).thread("t");
    assert_eq!(thread.state().await.unwrap().interrupts, paused.interrupts());
    assert_eq!(thread.resume("Ann").await.unwrap().state.log, ["Ann"]);
}

#[tokio::test]
async fn a_reader_hears_of_the_pause_and_what_was_emitted_before_it_counts_for_nothing() {
    async fn node(ctx: Ctx) -> Result<TalkUpdate, NodeError> {
        ctx.token("thinking").await;
        Ok(said(ctx.interrupt::<String>("name?")?))
    }
    let thread = thread_of(Graph::<Talk>::builder("talk").node("a", node).edge(START, "a"));
    let mut events = thread.run(Talk::update()).stream();
    let mut told = Vec::new();
    while let Some(event) = futures_util::StreamExt::next(&mut events).await {
        match event.kind {
            EventKind::NodePaused { interrupts } => told.push(format!("paused {}", interrupts[0].question)),
            EventKind::AttemptDiscarded => told.push("discarded".into()),
            EventKind::Ended { outcome } => told.push(outcome),
            _ => {}
        }
    }
    assert_eq!(told, ["paused \"name?\"", "discarded", "paused"]);
}
