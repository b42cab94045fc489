//! The tools vertex with 1, 10 and 100 calls, beside the same functions joined by hand; how its cost grows with the
//! calls, and with the history that the ids of a response are looked up in.

use futures_util::future::join_all;
use graph_engine::testing::{NodeOnce, node_once};
use graph_engine::{Log, State};
use graph_nodes::message::{Message, ToolCall};
use graph_nodes::model::Response;
use graph_nodes::stage::{Draft, GateBook, Guards, Held, Seat, ToolsNode};
use graph_nodes::tool::{GroupReply, ToolBox, group, tool};

use crate::measure::{Timed, on_each};
use crate::suite::{Law, Row, Suite};
use crate::workloads::Here;

#[derive(State, Clone, Default)]
struct Desk {
    #[state(append)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Args {
    n: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Alone,
    Together,
    Guarded,
    Grouped,
}

fn tools(kind: Kind) -> ToolBox<Desk> {
    let one = |name: &str| {
        tool::<Desk, Args>(name, "Counts on.", |args: Args, _| async move { Ok((args.n + 1).to_string().into()) })
    };
    let (count, other) = (one("count"), one("other"));
    let boxed = ToolBox::builder().tool(other).tool(if kind == Kind::Together { count.concurrent() } else { count });
    let boxed = match kind {
        Kind::Grouped => boxed.group(["count"], group(|_| async { Ok(GroupReply::text("1")) })),
        _ => boxed,
    };
    boxed.build().expect("a box")
}

fn calls(count: usize) -> Vec<ToolCall> {
    (0..count).map(|n| ToolCall::from_text(format!("call_{n}"), "count", format!("{{\"n\":{n}}}"))).collect()
}

/// One task of the vertex, ready to run.
fn task(tools: &ToolBox<Desk>, kind: Kind, count: usize, history: &Log<Message>) -> NodeOnce<Desk> {
    let seat = Seat { history: Desk::HISTORY, draft: Desk::DRAFT, book: Desk::BOOK };
    let node = ToolsNode::new("explore", seat, tools.clone(), ["count", "other"]).then("agent");
    let node = if kind == Kind::Guarded { node.guards(Guards::all()) } else { node };
    let draft = Draft { stage: "explore".into(), held: Held::Calls(Box::new(Response::from_calls(calls(count)))) };
    node_once(node).state(Desk { history: history.clone(), draft: Some(draft), book: GateBook::default() })
}

fn vertex(here: &Here, kind: Kind, count: usize, messages: usize, runs: u64) -> Timed<'_> {
    let tools = tools(kind);
    let history: Log<Message> = (0..messages)
        .flat_map(|n| {
            let id = format!("old_{n}");
            [Message::assistant("").with_calls([ToolCall::from_text(&id, "count", "{}")]), Message::tool(id, "1")]
        })
        .collect();
    let work = |task: NodeOnce<Desk>| {
        let outcome = here.run(task.run()).expect("it answers");
        assert!(outcome.update.history.is_some());
    };
    on_each(runs, move || task(&tools, kind, count, &history), work)
}

fn by_hand(here: &Here, count: usize, runs: u64) -> Timed<'_> {
    let work = move |calls: Vec<ToolCall>| {
        let one = |call: &ToolCall| {
            let args: Args = serde_json::from_str(call.arguments.raw()).expect("arguments");
            let id = call.id.clone();
            async move { Message::tool(id, (args.n + 1).to_string()) }
        };
        let answers = here.run(join_all(calls.iter().map(one)));
        let mut messages = vec![Message::assistant("").with_calls(calls)];
        messages.extend(answers);
        assert_eq!(messages.len(), count + 1);
    };
    on_each(runs, move || calls(count), work)
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    for (label, kind) in [
        ("alone", Kind::Alone),
        ("together", Kind::Together),
        ("guarded", Kind::Guarded),
        ("by a group", Kind::Grouped),
    ] {
        for count in [1, 10, 100] {
            let runs = 2_000 / count as u64;
            let row = Row::extra("dispatch", count as u64, label).unit("call", runs * count as u64);
            suite.pair(row, || (by_hand(here, count, runs), vertex(here, kind, count, 0, runs)));
        }
    }
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let law = |name, unit, units, most| Law { rows: &[], name, unit, units, most };
    for (name, kind) in [
        ("dispatch of 10, 1,000 calls, alone", Kind::Alone),
        ("dispatch of 10, 1,000 calls, together", Kind::Together),
        ("dispatch of 10, 1,000 calls, guarded", Kind::Guarded),
    ] {
        suite.law(&law(name, "call", (2_000, 2_000), 1.3), || {
            (vertex(here, kind, 10, 0, 200), vertex(here, kind, 1_000, 0, 2))
        });
    }
    suite.law(&law("dispatch of 1 call behind 1,000, 10,000 calls", "old call", (20_000, 20_000), 1.5), || {
        (vertex(here, Kind::Alone, 1, 1_000, 20), vertex(here, Kind::Alone, 1, 10_000, 2))
    });
}
