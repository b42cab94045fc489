//! Whatever a model calls, the history keeps its rules and every call is answered once.

use graph_nodes::message::check_history;
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{GateNode, ToolsNode};
use graph_nodes::tool::ToolReply;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::support::{Stage, Trip, call, counted, fixed, say};

const NAMES: [&str; 9] = ["ok", "bad", "stay", "here", "there", "say", "end", "hidden", "fly"];

fn stage() -> Stage {
    let tools = [
        fixed("ok", || Ok("fine".into())),
        fixed("bad", || Err("no".into())),
        fixed("stay", || Ok(ToolReply::text("").stay("again"))),
        fixed("here", || Ok(ToolReply::text("here").update(Trip::update().notes(["x"])).go("present"))),
        fixed("there", || Ok(ToolReply::text("there").go("handoff"))),
        fixed("say", || Ok(ToolReply::text("said").direct("Hello."))),
        fixed("end", || Ok(ToolReply::text("ended").finish("Bye."))),
        counted("hidden").0,
    ];
    let offered = NAMES[..7].to_vec();
    let gate = |gate: GateNode<Trip>| gate.exhausted("handoff");
    Stage { offered, gate, run: |run: ToolsNode<Trip>| run.max_calls(4), ..Stage::tools(tools) }
        .validators(only_good_or_calls())
}

/// Rejects texts but `good`, and every response that calls `fly` alone.
fn only_good_or_calls() -> graph_nodes::gate::Validators<Trip> {
    use graph_nodes::gate::Verdict;
    graph_nodes::gate::Validators::new().with_fn("picky", |response, _: &Trip| match response.calls.as_slice() {
        [] if response.text != "good" => Verdict::retry("not_good", "say `good`"),
        [only] if only.name == "fly" => Verdict::retry("fly", "don't"),
        _ => Verdict::Accept,
    })
}

fn response() -> impl Strategy<Value = Vec<(usize, usize)>> {
    vec((0..3_usize, 0..NAMES.len()), 0..6)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_call_is_answered_once_and_in_place(script in vec(response(), 1..6)) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(async {
            let turns = script.iter().map(|calls| match calls.as_slice() {
                [] => Turn::text("bad"),
                calls => Turn::calls(calls.iter().map(|(id, name)| call(&format!("c{id}"), NAMES[*name]))),
            });
            let model = ScriptedModel::new(turns.chain([Turn::text("good")]));
            let end = say(&stage().runner(&model).thread("t")).await.unwrap();
            let state = &end.state;
            prop_assert_eq!(check_history(state.history.iter()), Ok(()));
            let calls: Vec<_> = state.history.iter().flat_map(|message| message.calls()).map(|call| &call.id).collect();
            let answers: Vec<_> = state.history.iter().filter_map(|message| message.call_id()).collect();
            prop_assert_eq!(calls, answers);
            prop_assert_eq!(&state.draft, &None);
            prop_assert!(state.book.open.is_empty());
            // Every model call is an attempt in the book, and paid for.
            let asked = model.requests().len() as u64;
            prop_assert_eq!((u64::from(state.book.totals("explore").attempts), state.book.tokens()), (asked, asked * 110));
            Ok(())
        })?;
    }
}
