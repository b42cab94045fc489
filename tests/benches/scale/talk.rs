//! The conversation that is kept: somebody says 100 bytes, a node answers with 100 bytes, a second one asks and waits.

use std::ops::Range;

use futures_util::future::join_all;
use graph_engine::{Ctx, END, Graph, NodeError, Runner, START, Snap, Status};

use crate::workloads::chat::{Chat, ChatUpdate, msg};

/// Turns at once while threads are made.
const WINDOW: usize = 1_000;

/// Says something, then asks.
pub(crate) fn asking() -> Runner<Chat> {
    let say = async |chat: Snap<Chat>| Chat::update().messages([msg(chat.n + 1, 100)]);
    let ask = async |chat: Snap<Chat>, ctx: Ctx| -> Result<ChatUpdate, NodeError> {
        let more: u64 = ctx.interrupt("Which of them shall I book?")?;
        Ok(Chat::update().n(chat.n + more))
    };
    let graph = Graph::builder("talk").node("say", say).node("ask", ask);
    let graph = graph.edge(START, "say").edge("say", "ask").edge("ask", END);
    graph.compile().expect("compiles").runner().timings(false)
}

/// What somebody says in the `i`th conversation.
pub(crate) fn said(i: u64) -> ChatUpdate {
    Chat::update().n(i).messages([msg(i, 100)])
}

/// The id of the `i`th conversation: 16 letters in no order, as ids by chance are.
pub(crate) fn id(i: u64) -> String {
    format!("{:016x}", (i + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// Runs these conversations up to their question, many at once.
pub(crate) async fn pause(runner: &Runner<Chat>, threads: Range<u64>) {
    for first in threads.clone().step_by(WINDOW) {
        let window = first..(first + WINDOW as u64).min(threads.end);
        let turns = window.map(|i| runner.thread(id(i)).run(said(i)).into_future());
        for end in join_all(turns).await {
            assert_eq!(end.expect("it pauses").status, Status::Paused);
        }
    }
}
