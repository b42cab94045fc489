//! What LangGraph's users say of checkpoints, with the values of this engine.

use allocation_counter::measure;
use behaviour_tests::TestStore;
use futures_util::StreamExt;
use graph_engine::{
    CheckpointStore, Ctx, Durability, Filter, Graph, MemoryStore, Mode, NodeError, Place, Route, START, Seams, Snap,
    State, StreamOptions,
};

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Counter {
    at: u64,
}

#[derive(Route)]
enum Again {
    Count,
    #[route(end)]
    End,
}

/// The highest number of bytes in use at once during a turn of so many super-steps that are stored beside the work.
fn most_bytes(steps: u64) -> u64 {
    let count = |counter: Snap<Counter>| {
        let next = counter.at + 1;
        async move {
            // The saves beside the work get their turn.
            tokio::time::sleep(std::time::Duration::from_millis(1)).await;
            Counter::update().at(next)
        }
    };
    let more = move |counter: &Counter| if counter.at < steps { Again::Count } else { Again::End };
    let graph = Graph::<Counter>::builder("g").node("count", count).edge(START, "count").route("count", more);
    let store = TestStore::lasting();
    store.keep_only_the_newest();
    let runner = graph.compile().unwrap().runner().store(store.clone()).durability(Durability::Async);
    let runner = runner.step_limit(steps);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    let mut reached = 0;
    let counted = measure(|| {
        reached = runtime.block_on(async { runner.thread("t").run(Counter::update()).await.unwrap().state.at });
    });
    assert_eq!(reached, steps);
    assert!(store.commits() as u64 >= steps, "{} commits", store.commits());
    counted.bytes_max
}

#[test]
fn report_13_a_long_turn_that_is_stored_beside_the_work_keeps_nothing_of_earlier_saves() {
    let (short, long) = (most_bytes(800), most_bytes(8_000));
    assert!(long <= short + short / 20, "ten times the steps: {short} bytes at most, then {long}");
}

#[derive(State, Clone, Debug, Default, PartialEq)]
struct Talk {
    #[state(append)]
    said: Vec<String>,
}

#[tokio::test]
async fn report_24_what_is_stored_is_the_same_byte_for_byte_whoever_reads_along() {
    let say = |ctx: Ctx| async move {
        let mut text = String::new();
        for token in ["Wel", "come", " to ", "Oslo"] {
            ctx.token(token).await;
            text.push_str(token);
        }
        ctx.emit(&text).await?;
        Ok::<_, NodeError>(Talk::update().said([text]))
    };
    let mut stored = Vec::new();
    for modes in [
        None,
        Some(vec![Mode::Tokens]),
        Some(vec![Mode::Nodes, Mode::Updates, Mode::State, Mode::Custom, Mode::Tokens, Mode::Checkpoints]),
    ] {
        let graph = Graph::<Talk>::builder("g").node("say", say).node("more", say);
        let graph = graph.edge(START, "say").edge("say", "more").compile().unwrap();
        let store = MemoryStore::new();
        let runner = graph.runner().store(store.clone()).seams(Seams::default().numbered_turns());
        let turn = runner.thread("t").run(Talk::update());
        let end = match modes {
            None => turn.await.unwrap(),
            Some(modes) => {
                let mut events = turn.stream_with(StreamOptions::default().modes(modes));
                while events.next().await.is_some() {}
                events.end().await.unwrap()
            }
        };
        assert_eq!(end.state.said, ["Welcome to Oslo", "Welcome to Oslo"]);
        let place = Place::thread("t");
        let mut rows = Vec::new();
        for info in store.list(&place, &Filter::default()).await.unwrap() {
            let row = store.row(&place, info.id).await.unwrap().unwrap();
            rows.push((row.id, row.parent, row.kind, row.turn, row.step, row.fields, row.bytes));
        }
        assert_eq!(rows.len(), 3);
        stored.push(rows);
    }
    assert_eq!(stored[0], stored[1]);
    assert_eq!(stored[0], stored[2]);
}
