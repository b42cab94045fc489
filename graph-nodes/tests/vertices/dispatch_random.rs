//! Laws of dispatch: whatever is called, flagged, grouped, limited and failing.

use std::collections::BTreeSet;
use std::num::{NonZeroU32, NonZeroUsize};
use std::time::Duration;

use graph_engine::State;
use graph_engine::testing::node_once;
use graph_nodes::message::{Message, ToolCall, check_history};
use graph_nodes::model::Response;
use graph_nodes::stage::{Draft, Guards, Held, SeveralCalls, ToolsNode};
use graph_nodes::tool::{GroupReply, ToolBox, ToolReply, group, tool};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

use crate::office::Log;
use crate::support::{Trip, seat};

/// Tools by name; `fly` is none, `hidden` isn't offered.
const NAMES: [&str; 7] = ["a", "b", "c", "fail", "crash", "fly", "hidden"];

#[derive(Clone, Debug)]
struct Case {
    /// Tool, value of its argument (3 doesn't fit), milliseconds.
    calls: Vec<(usize, u8, u64)>,
    safe: BTreeSet<usize>,
    groups: BTreeSet<BTreeSet<usize>>,
    group_fails: bool,
    max_calls: usize,
    per_turn: Option<u32>,
    concurrency: Option<usize>,
    sequential: bool,
    guards: bool,
    several: SeveralCalls,
    timeout: bool,
}

prop_compose! {
    fn cases()(
        calls in vec((0..NAMES.len(), 0..4_u8, 0..50_u64), 1..9),
        safe in btree_set(0..5_usize, 0..5),
        groups in btree_set(btree_set(0..5_usize, 1..4), 0..4),
        group_fails in proptest::bool::weighted(0.3),
        max_calls in prop_oneof![Just(usize::MAX), 0..6_usize],
        per_turn in proptest::option::weighted(0.3, 1..6_u32),
        concurrency in proptest::option::of(1..4_usize),
        sequential in proptest::bool::weighted(0.2),
        guards: bool,
        several in prop_oneof![
            4 => Just(SeveralCalls::All),
            1 => Just(SeveralCalls::First),
            1 => Just(SeveralCalls::priority(["c", "b"])),
        ],
        timeout: bool,
    ) -> Case {
        Case { calls, safe, groups, group_fails, max_calls, per_turn, concurrency, sequential, guards, several, timeout }
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    #[schemars(range(max = 2))]
    n: u8,
}

fn tools(case: &Case, log: &Log) -> ToolBox<Trip> {
    let times: Vec<u64> = case.calls.iter().map(|call| call.2).collect();
    let mut tools = ToolBox::builder();
    for (at, name) in NAMES.iter().enumerate().filter(|(_, name)| **name != "fly") {
        let (log, times) = (log.clone(), times.clone());
        let one = tool::<Trip, Args>(*name, "A tool.", move |args: Args, call| {
            log.note(format!("one {}", call.id()));
            let time = times[call.id().parse::<usize>().unwrap()];
            async move {
                tokio::time::sleep(Duration::from_millis(time)).await;
                match call.name() {
                    "fail" => Err("no".into()),
                    "crash" => panic!("broken"),
                    _ => Ok(ToolReply::text(args.n.to_string()).update(Trip::update().notes([call.id().to_owned()]))),
                }
            }
        });
        tools = tools.tool(if case.safe.contains(&at) { one.concurrent() } else { one });
    }
    for set in &case.groups {
        let (log, fails) = (log.clone(), case.group_fails);
        tools = tools.group(
            set.iter().map(|at| NAMES[*at]),
            group(move |calls| {
                let ids: Vec<&str> = calls.ids().collect();
                log.note(format!("group {}", ids.join(" ")));
                async move { if fails { Err("closed".into()) } else { Ok(GroupReply::text("all")) } }
            }),
        );
    }
    tools.build().unwrap()
}

fn node(case: &Case, log: &Log) -> ToolsNode<Trip> {
    let offered = NAMES[..5].iter();
    let mut node = ToolsNode::new("explore", seat(), tools(case, log), offered).then("agent").all_broken("handoff");
    node = node.max_calls(case.max_calls).several(case.several.clone());
    if let Some(max) = case.per_turn.and_then(NonZeroU32::new) {
        node = node.max_calls_per_turn(max);
    }
    if let Some(max) = case.concurrency.and_then(NonZeroUsize::new) {
        node = node.max_concurrency(max);
    }
    if case.sequential {
        node = node.sequential();
    }
    if case.guards {
        node = node.guards(Guards::all());
    }
    if case.timeout { node.call_timeout(Duration::from_millis(25)) } else { node }
}

async fn laws(case: Case) -> Result<(), TestCaseError> {
    let log = Log::default();
    let call = |(at, (name, n, _)): (usize, &(usize, u8, u64))| {
        ToolCall::from_text(at.to_string(), NAMES[*name], format!("{{\"n\": {n}}}"))
    };
    let response = Response::from_calls(case.calls.iter().enumerate().map(call));
    let draft = Draft { stage: "explore".into(), held: Held::Calls(Box::new(response)) };
    let state = Trip { draft: Some(draft), ..Trip::default() };
    let outcome = node_once(node(&case, &log)).state(state).run().await.unwrap();
    let mut after = Trip::default();
    after.apply(outcome.update);

    // Every id is answered exactly once, in request order.
    prop_assert_eq!(check_history(after.history.iter()), Ok(()));
    let answered: Vec<String> = after.history.iter().filter_map(Message::call_id).map(str::to_owned).collect();
    let ids: Vec<String> = (0..case.calls.len()).map(|id| id.to_string()).collect();
    prop_assert_eq!(&answered, &ids);

    // A handler gets each call at most once, and never one whose arguments don't fit or whose tool isn't offered.
    let lines = log.lines();
    let given: Vec<usize> =
        lines.iter().flat_map(|line| line.split(' ').skip(1)).map(|id| id.parse().unwrap()).collect();
    let distinct: BTreeSet<usize> = given.iter().copied().collect();
    prop_assert_eq!(distinct.len(), given.len(), "{:?}", lines);
    prop_assert!(given.iter().all(|id| case.calls[*id].0 < 5 && case.calls[*id].1 < 3), "{:?}", lines);
    prop_assert!(given.len() <= case.max_calls);
    prop_assert!(case.per_turn.is_none_or(|max| given.len() <= max as usize));
    prop_assert_eq!(after.book.tools["explore"].calls as usize, given.len());

    // The group law: an exact set goes to its group, whole or not at all, and no single tool runs then.
    let set: BTreeSet<usize> = case.calls.iter().map(|call| call.0).collect();
    let grouped = lines.iter().filter(|line| line.starts_with("group")).count();
    match case.several {
        SeveralCalls::All if case.groups.contains(&set) => {
            prop_assert!(lines.iter().all(|line| line.starts_with("group")), "{:?}", lines);
            prop_assert!(grouped <= 1 && (given.is_empty() || given.len() == ids.len()), "{:?}", lines);
        }
        SeveralCalls::All => prop_assert_eq!(grouped, 0),
        _ => prop_assert!(given.len() <= 1),
    }

    // Updates are in request order.
    let notes: Vec<usize> = after.notes.iter().map(|id| id.parse().unwrap()).collect();
    prop_assert!(notes.is_sorted(), "{:?}", notes);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_id_is_answered_once_every_handler_runs_once_and_the_group_law_holds(case in cases()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        runtime.block_on(laws(case))?;
    }
}
