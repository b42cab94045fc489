//! What LangGraph's own tests and users say of interrupts, with the values of this engine.

use behaviour_tests::{Runs, Trip, TripUpdate, note};
use futures_util::StreamExt;
use graph_engine::{
    Builder, Ctx, Edit, Event, EventKind, Graph, MemoryStore, Mode, NodeError, RunError, START, Snap, Status,
    StreamOptions, Thread,
};

fn stored(builder: Builder<Trip>) -> Thread<Trip> {
    builder.compile().unwrap().runner().store(MemoryStore::new()).thread("t")
}

fn said(text: impl Into<String>) -> TripUpdate {
    Trip::update().log([text.into()])
}

async fn ask(ctx: Ctx) -> Result<TripUpdate, NodeError> {
    Ok(said(ctx.interrupt::<String>("well?")?))
}

#[tokio::test]
async fn b63_an_answer_with_nothing_to_answer_is_an_error_on_a_new_and_on_a_finished_thread_and_runs_nothing() {
    let runs = Runs::new();
    let thread = stored(Graph::builder("g").node("a", runs.node("a")).edge(START, "a"));
    let error = thread.resume("yes").await.unwrap_err();
    assert!(matches!(&*error.error, RunError::NothingToAnswer { thread } if *thread == "t"), "{error}");
    thread.run(Trip::update()).await.unwrap();
    let before = thread.state().await.unwrap();
    let error = thread.resume("yes").await.unwrap_err();
    assert!(matches!(&*error.error, RunError::NothingToAnswer { thread } if *thread == "t"), "{error}");
    let after = thread.state().await.unwrap();
    assert_eq!((after.checkpoint, &*after.state), (before.checkpoint, &*before.state));
    assert_eq!(runs.take(), ["a"]);
}

#[tokio::test]
async fn b65_what_is_written_beside_an_open_question_comes_before_its_answer() {
    let thread = stored(Graph::builder("g").node("ask", ask).edge(START, "ask"));
    let asked = thread.run(Trip::update()).await.unwrap().interrupts().to_vec();
    let edited = thread.edit_all([Edit::new(said("upd")).in_place()]).await.unwrap();
    assert_eq!((&edited.interrupts, &edited.next[..]), (&asked, &["ask".into()][..]));
    let end = thread.resume("A").await.unwrap();
    assert_eq!((end.status, &end.state.log[..]), (Status::Done, &["upd".to_owned(), "A".to_owned()][..]));
}

#[tokio::test]
async fn b70_nodes_before_one_that_asks_run_once_over_several_cycles_of_questions() {
    let runs = Runs::new();
    let asking = runs.clone();
    let cycle = move |ctx: Ctx, trip: Snap<Trip>| {
        asking.hit("cycle");
        async move { Ok::<_, NodeError>(said(ctx.interrupt::<String>(format!("question {}", trip.total))?).total(1)) }
    };
    #[derive(graph_engine::Route)]
    enum More {
        Cycle,
        Last,
    }
    let more = |trip: &Trip| if trip.total < 3 { More::Cycle } else { More::Last };
    let thread = stored(
        Graph::builder("g")
            .node("first", runs.node("first"))
            .node("cycle", cycle)
            .node("last", runs.node("last"))
            .edge(START, "first")
            .edge("first", "cycle")
            .route("cycle", more),
    );
    let mut end = thread.run(Trip::update()).await.unwrap();
    for (n, answer) in ["x", "y", "z"].into_iter().enumerate() {
        assert_eq!((end.status, &end.interrupts()[0].question), (Status::Paused, &format!("question {n}").into()));
        end = thread.resume(answer).await.unwrap();
    }
    assert_eq!(
        (end.status, &end.state.log[..]),
        (Status::Done, &["first", "x", "y", "z", "last"].map(String::from)[..])
    );
    assert_eq!((runs.count("first"), runs.count("cycle"), runs.count("last")), (1, 6, 1));
}

/// The logs of all states that a reader of states gets.
async fn states(turn: graph_engine::Turn<Trip>) -> Vec<Vec<String>> {
    let state = |event: Event<Trip>| match event.kind {
        EventKind::InputMerged { state, .. } | EventKind::StepFinished { state, .. } => state.map(|s| s.log.clone()),
        _ => None,
    };
    let events = turn.stream_with(StreamOptions::default().modes([Mode::State])).collect::<Vec<_>>().await;
    events.into_iter().filter_map(state).collect()
}

#[tokio::test]
async fn b71_a_reader_of_states_gets_the_input_and_each_step_and_after_an_answer_only_what_is_new() {
    let thread = stored(
        Graph::builder("g")
            .node("a", note("a"))
            .node("b", note("b"))
            .node("c", ask)
            .node("d", note("d"))
            .edge(START, "a")
            .edge("a", "b")
            .edge("b", "c")
            .edge("c", "d"),
    );
    assert_eq!(states(thread.run(said("in"))).await, [vec!["in"], vec!["in", "a"], vec!["in", "a", "b"]]);
    let after = states(thread.resume("C")).await;
    assert_eq!(after, [vec!["in", "a", "b", "C"], vec!["in", "a", "b", "C", "d"]]);
}

#[tokio::test]
async fn report_1_going_on_without_an_answer_is_a_clear_error_and_nothing_is_an_answer_like_others() {
    let maybe = |ctx: Ctx| async move {
        let answer: Option<String> = ctx.interrupt("well?")?;
        Ok::<_, NodeError>(said(answer.unwrap_or_else(|| "no answer".to_owned())))
    };
    let thread = stored(Graph::builder("g").node("maybe", maybe).edge(START, "maybe"));
    let open = thread.run(Trip::update()).await.unwrap().interrupts()[0].id;
    let error = thread.proceed().await.unwrap_err();
    assert!(matches!(&*error.error, RunError::Waiting { open: all, .. } if *all == [open]), "{error}");
    assert_eq!(thread.state().await.unwrap().interrupts[0].id, open, "it is still open");
    assert_eq!(thread.resume(None::<String>).await.unwrap().state.log, ["no answer"]);
}
