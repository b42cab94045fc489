//! E20: a write from outside counts as that of a node and evaluates its routing, without running anything.

use behaviour_tests::{Runs, TestStore, Trip};
use graph_engine::{
    CheckpointKind, Ctx, END, Edit, Filter, Graph, MemoryStore, Name, NodeError, NodeExt, Route, RunError, START, Snap,
    Status, Thread, ThreadState,
};

fn chain(runs: &Runs) -> Thread<Trip> {
    let graph = Graph::<Trip>::builder("chain")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge("a", "b")
        .edge("b", "c");
    graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t")
}

/// `a` and `b` side by side, then `d` behind both.
fn fork_and_join(runs: &Runs) -> Thread<Trip> {
    let graph = Graph::<Trip>::builder("join")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("d", runs.node("d"))
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "d");
    graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t")
}

fn next(state: &ThreadState<Trip>) -> Vec<&str> {
    state.next.iter().map(Name::as_str).collect()
}

async fn kinds(thread: &Thread<Trip>) -> Vec<CheckpointKind> {
    thread.history(&Filter::default()).await.unwrap().iter().map(|info| info.kind).collect()
}

#[tokio::test]
async fn without_a_name_it_counts_as_the_node_that_finished_last() {
    let runs = Runs::new();
    let thread = chain(&runs);
    thread.run(Trip::update()).break_after("b").await.unwrap();
    drop(runs.take());
    let state = thread.edit(Trip::update().log(["edit"])).await.unwrap();
    assert_eq!((next(&state), state.state.log.join(" "), state.step), (vec!["c"], "a b edit".to_owned(), 3));
    assert!(runs.take().is_empty());
    assert_eq!(kinds(&thread).await[0], CheckpointKind::Edit);
    assert_eq!(thread.proceed().await.unwrap().state.log.join(" "), "a b edit c");
}

#[tokio::test]
async fn two_nodes_that_finished_last_are_named_and_nothing_changes() {
    let thread = fork_and_join(&Runs::new());
    thread.run(Trip::update()).break_before("d").await.unwrap();
    let before = kinds(&thread).await;
    let error = thread.edit(Trip::update().city("Oslo")).await.unwrap_err();
    assert!(matches!(&error, RunError::AmbiguousEdit { candidates, .. } if candidates[..] == ["a", "b"]), "{error}");
    assert_eq!(kinds(&thread).await, before);
    assert_eq!(thread.state().await.unwrap().state.city, "");
}

#[tokio::test]
async fn on_a_new_thread_it_counts_as_input() {
    let thread = chain(&Runs::new());
    let state = thread.edit(Trip::update().city("Oslo")).await.unwrap();
    assert_eq!((next(&state), state.state.city.as_str(), state.step), (vec!["a"], "Oslo", 0));
    assert_eq!(thread.proceed().await.unwrap().state.log.join(" "), "a b c");
}

#[tokio::test]
async fn as_a_node_its_edges_decide_what_comes_next_and_the_old_next_is_gone() {
    let runs = Runs::new();
    let thread = chain(&runs);
    thread.run(Trip::update()).await.unwrap();
    drop(runs.take());
    let state = thread.edit(Trip::update()).as_node("a").await.unwrap();
    assert_eq!(next(&state), ["b"]);
    let state = thread.edit(Trip::update()).as_node("b").await.unwrap();
    assert_eq!(next(&state), ["c"]);
    thread.proceed().await.unwrap();
    assert_eq!(runs.take(), ["c"]);
}

#[derive(Route)]
enum Way {
    Left,
    Right,
}

#[tokio::test]
async fn as_a_node_its_router_is_asked_on_the_edited_state() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("router")
        .node("ask", runs.node("ask"))
        .node("left", runs.node("left"))
        .node("right", runs.node("right"))
        .edge(START, "ask")
        .route("ask", |trip: &Trip| if trip.city == "Oslo" { Way::Left } else { Way::Right });
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    assert_eq!(runs.take(), ["ask", "right"]);
    let state = thread.edit(Trip::update().city("Oslo")).as_node("ask").await.unwrap();
    assert_eq!(next(&state), ["left"]);
    assert!(runs.take().is_empty());
}

#[tokio::test]
async fn as_the_sources_of_a_join_one_after_the_other_it_fires_at_the_last() {
    let thread = fork_and_join(&Runs::new());
    let state = thread.edit(Trip::update()).as_node("a").await.unwrap();
    assert!(state.next.is_empty());
    let state = thread.edit(Trip::update()).as_node("b").await.unwrap();
    assert_eq!(next(&state), ["d"]);
}

#[tokio::test]
async fn a_deferred_node_still_waits_for_what_the_edit_lets_run() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("deferred")
        .node("a", runs.node("a"))
        .node("b", runs.node("b"))
        .node("c", runs.node("c"))
        .node("late", runs.node("late").deferred())
        .edge(START, "a")
        .edge(START, "b")
        .edge("a", "late")
        .edge("b", "c")
        .edge("c", "late");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).break_before("c").await.unwrap();
    let state = thread.edit(Trip::update().log(["edit"])).as_node("b").await.unwrap();
    assert_eq!(next(&state), ["c", "late"]);
    let end = thread.proceed().await.unwrap();
    assert_eq!(end.state.log.join(" "), "a b edit c late");
}

#[tokio::test]
async fn as_start_it_is_input_and_the_entry_decides() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let state = thread.edit(Trip::update().city("Oslo")).as_node(START).await.unwrap();
    assert_eq!((next(&state), state.step), (vec!["a"], 3));
}

#[tokio::test]
async fn as_end_nothing_comes_next() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).break_after("a").await.unwrap();
    let state = thread.edit(Trip::update().city("Oslo")).as_node(END).await.unwrap();
    assert_eq!((next(&state), state.state.city.as_str(), state.step), (vec![], "Oslo", 1));
    let failed = thread.proceed().await.unwrap_err();
    assert!(matches!(*failed.error, RunError::NothingToProceed { .. }));
    assert_eq!(thread.run(Trip::update()).await.unwrap().status, Status::Done);
}

#[tokio::test]
async fn as_an_unknown_node_it_is_refused_with_the_names() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let before = kinds(&thread).await;
    let error = thread.edit(Trip::update()).as_node("d").await.unwrap_err();
    let named =
        matches!(&error, RunError::UnknownNode { node, known, .. } if node == "d" && known[..] == ["a", "b", "c"]);
    assert!(named, "{error}");
    assert_eq!(kinds(&thread).await, before);
}

#[tokio::test]
async fn in_place_what_comes_next_stays_with_what_was_finished() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("halves")
        .node("a", runs.node("a"))
        .node("b", runs.failing(1, "b"))
        .edge(START, "a")
        .edge(START, "b");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let state = thread.edit(Trip::update().city("Oslo")).in_place().await.unwrap();
    assert_eq!((next(&state), state.state.city.as_str(), state.step), (vec!["b"], "Oslo", 0));
    assert_eq!(state.finished[0].node, "a");
    let end = thread.proceed().await.unwrap();
    assert_eq!((runs.count("a"), runs.count("b"), end.state.log.join(" ")), (1, 2, "a b".to_owned()));
}

#[tokio::test]
async fn in_place_an_open_question_stays_open_under_its_id() {
    let ask = |ctx: Ctx, trip: Snap<Trip>| async move {
        let noted: u32 = ctx.memo("once", async { Ok::<_, NodeError>(7) }).await?;
        let answer: String = ctx.interrupt(format!("from {}?", trip.city))?;
        Ok::<_, NodeError>(Trip::update().last(answer).total(i64::from(noted)))
    };
    let graph = Graph::<Trip>::builder("ask").node("ask", ask).edge(START, "ask");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    let asked = thread.run(Trip::update().city("Oslo")).await.unwrap().interrupts()[0].id;
    let state = thread.edit(Trip::update().city("Bergen")).in_place().await.unwrap();
    assert_eq!(next(&state), ["ask"]);
    let end = thread.resume_by_id([(asked, "yes")]).await.unwrap();
    assert_eq!((end.status, end.state.last.as_str(), end.state.total), (Status::Done, "yes", 7));
}

#[tokio::test]
async fn as_the_node_that_asks_its_question_is_closed() {
    let ask = |ctx: Ctx| async move {
        let answer: String = ctx.interrupt("well?")?;
        Ok::<_, NodeError>(Trip::update().last(answer))
    };
    let graph = Graph::<Trip>::builder("ask").node("ask", ask).edge(START, "ask");
    let thread = graph.compile().unwrap().runner().store(TestStore::lasting()).thread("t");
    let asked = thread.run(Trip::update()).await.unwrap().interrupts()[0].id;
    assert!(thread.edit(Trip::update().last("no")).as_node("ask").await.unwrap().next.is_empty());
    let failed = thread.resume_by_id([(asked, "yes")]).await.unwrap_err();
    assert!(matches!(*failed.error, RunError::NothingToAnswer { .. }), "{failed}");
}

#[tokio::test]
async fn in_place_on_a_thread_that_rests_it_only_writes() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let state = thread.edit(Trip::update().city("Oslo")).in_place().await.unwrap();
    assert_eq!((next(&state), state.state.city.as_str()), (vec![], "Oslo"));
    // Who finished last is still `c`.
    assert!(thread.edit(Trip::update()).await.unwrap().next.is_empty());
}

#[tokio::test]
async fn in_the_place_of_a_task_that_failed_it_finishes_the_step_with_what_the_others_did() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("halves")
        .node("a", runs.node("a"))
        .node("b", runs.failing(9, "b"))
        .node("d", runs.node("d"))
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "d");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    drop(runs.take());
    let state = thread.edit(Trip::update().log(["by hand"])).as_node("b").await.unwrap();
    assert_eq!((next(&state), state.state.log.join(" "), state.step), (vec!["d"], "a by hand".to_owned(), 1));
    assert_eq!(thread.proceed().await.unwrap().state.log.join(" "), "a by hand d");
    assert_eq!(runs.take(), ["d"]);
}

#[tokio::test]
async fn what_other_tasks_have_not_finished_is_dropped() {
    let runs = Runs::new();
    let graph = Graph::<Trip>::builder("halves")
        .node("a", runs.failing(9, "a"))
        .node("b", runs.failing(9, "b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge(START, "b")
        .edge("b", "c");
    let thread = graph.compile().unwrap().runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap_err();
    let state = thread.edit(Trip::update()).as_node("b").await.unwrap();
    assert_eq!(next(&state), ["c"]);
}

#[tokio::test]
async fn it_passes_through_the_reducers_and_what_they_refuse_changes_nothing() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update().total(5)).await.unwrap();
    let before = kinds(&thread).await;
    for edit in [Edit::new(Trip::update().total(13)).as_node("a"), Edit::new(Trip::update().total(13)).in_place()] {
        let error = thread.edit_all([edit]).await.unwrap_err();
        assert!(error.to_string().contains("13 brings bad luck"), "{error}");
    }
    let error = thread.edit(Trip::update().total(13)).as_node(START).await.unwrap_err();
    assert!(matches!(error, RunError::Input { .. }), "{error}");
    let error = thread.edit(Trip::update().total(666)).as_node(END).await.unwrap_err();
    assert!(error.to_string().contains("the beast"), "{error}");
    assert_eq!((kinds(&thread).await, thread.state().await.unwrap().state.total), (before, 5));
    assert_eq!(thread.edit(Trip::update().total(2)).as_node("a").await.unwrap().state.total, 7);
}

#[tokio::test]
async fn a_transient_field_would_be_lost_and_is_refused() {
    let error = chain(&Runs::new()).edit(Trip::update().draft("x")).in_place().await.unwrap_err();
    let wanted = "thread `t`: the edit was refused: field `draft` is transient and would be lost; nothing was changed";
    assert_eq!(error.to_string(), wanted);
}

#[tokio::test]
async fn a_node_may_only_write_what_it_declares() {
    let graph = Graph::<Trip>::builder("declared")
        .node("a", Runs::new().node("a").writes(Trip::LOG))
        .edge(START, "a")
        .compile()
        .unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let error = thread.edit(Trip::update().city("Oslo")).as_node("a").await.unwrap_err();
    assert!(matches!(&error, RunError::Edit { why, .. } if why.contains("`city`")), "{error}");
}

#[tokio::test]
async fn several_edits_are_all_made_or_none() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let before = kinds(&thread).await;
    let good = || Edit::new(Trip::update().city("Oslo")).as_node("a");
    let error = thread.edit_all([good(), Edit::new(Trip::update().total(13))]).await.unwrap_err();
    assert!(matches!(error, RunError::Merge { .. }), "{error}");
    assert_eq!((kinds(&thread).await, thread.state().await.unwrap().state.city.as_str()), (before, ""));
}

#[tokio::test]
async fn edits_reproduce_a_real_history_exactly() {
    let runs = Runs::new();
    let real = fork_and_join(&runs);
    real.run(Trip::update().city("Oslo").log(["in"])).await.unwrap();
    let copy = fork_and_join(&runs);
    let write = |text: &str| Edit::new(Trip::update().log([text.to_owned()]));
    copy.edit_all([
        Edit::new(Trip::update().city("Oslo").log(["in"])).as_node(START),
        write("b").as_node("b").beside(write("a").as_node("a")),
        write("d").as_node("d"),
    ])
    .await
    .unwrap();
    let mut seen = Vec::new();
    for thread in [&real, &copy] {
        let mut states = Vec::new();
        for info in thread.history(&Filter::default()).await.unwrap() {
            let state = thread.at(info.id).state().await.unwrap();
            states.push(((*state.state).clone(), state.next.clone(), state.step, state.hash().unwrap()));
        }
        seen.push(states);
    }
    assert_eq!(seen[0].len(), 3);
    assert_eq!(seen[0], seen[1]);
}

#[tokio::test]
async fn an_edit_of_a_completed_thread_is_refused_and_of_one_before_that_is_a_branch() {
    use graph_engine::Next;
    #[derive(Route)]
    #[route(finish)]
    enum Bye {}
    async fn bye() -> Next<Bye> {
        Next::finish("bye")
    }
    let graph = Graph::<Trip>::builder("bye").node("bye", bye).edge(START, "bye").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let error = thread.edit(Trip::update().city("Oslo")).in_place().await.unwrap_err();
    assert!(matches!(error, RunError::Completed { .. }), "{error}");
    let input = thread.history(&Filter::default()).await.unwrap()[1].id;
    let state = thread.at(input).edit(Trip::update().city("Oslo")).in_place().await.unwrap();
    assert_eq!((next(&state), state.completed), (vec!["bye"], false));
}

#[tokio::test]
async fn the_checkpoints_of_an_edit_are_found_by_its_tags() {
    let thread = chain(&Runs::new());
    thread.run(Trip::update()).await.unwrap();
    let state = thread.edit(Trip::update().city("Oslo")).as_node("a").tag("by", "hand").await.unwrap();
    let found = thread.history(&Filter::default().tag("by", "hand")).await.unwrap();
    assert_eq!(found.iter().map(|info| Some(info.id)).collect::<Vec<_>>(), [state.checkpoint]);
}

#[tokio::test]
async fn an_edit_that_the_store_refuses_leaves_the_thread_as_it_was() {
    let store = TestStore::new();
    let graph = Graph::<Trip>::builder("g").node("a", Runs::new().node("a")).edge(START, "a").compile().unwrap();
    let thread = graph.runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).await.unwrap();
    let before = kinds(&thread).await;
    store.fail_commit_after(0);
    let error = thread.edit(Trip::update().city("Oslo")).as_node("a").await.unwrap_err();
    assert!(matches!(error, RunError::Store { .. }), "{error}");
    assert_eq!((kinds(&thread).await, thread.state().await.unwrap().state.city.as_str()), (before, ""));
    thread.edit(Trip::update().city("Oslo")).as_node("a").await.unwrap();
}
