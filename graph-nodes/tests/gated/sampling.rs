//! Shadow mode that looks at some rounds only.

use std::num::NonZeroU32;

use graph_nodes::gate::{Gated, GatedError};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::GatedNode;

use crate::support::{agent, ask, attempts, gate, only_good, poem, runner, seat};

#[tokio::test(start_paused = true)]
async fn every_third_round_is_looked_at_and_all_are_accepted() {
    let policy = attempts(3).in_shadow_every(NonZeroU32::new(3).unwrap());
    let gated = Gated::new(ScriptedModel::new(poem(7)), policy, only_good::<()>());
    let mut seen = Vec::new();
    for _ in 0..7 {
        let ledger = gated.run(ask(), &(), ()).await.unwrap().ledger;
        seen.push((ledger.shadow, ledger.unsampled));
    }
    assert_eq!(seen, [(1, 0), (0, 1), (0, 1), (1, 0), (0, 1), (0, 1), (1, 0)]);
}

#[tokio::test(start_paused = true)]
async fn in_a_stage_the_book_counts_the_rounds() {
    let policy = attempts(3).in_shadow_every(NonZeroU32::new(2).unwrap());
    let model = ScriptedModel::new(poem(5));
    let runner = runner(GatedNode::new(agent(&model), gate(policy, only_good())));
    let runner = runner.store(graph_engine::MemoryStore::new());
    for _ in 0..5 {
        runner.thread("t").run(seat().user("hi")).await.unwrap();
    }
    let totals = runner.thread("t").state().await.unwrap().state.book.totals("explore");
    assert_eq!((totals.rounds, totals.shadow, totals.unsampled), (5, 3, 2));
}

#[tokio::test(start_paused = true)]
async fn what_the_gate_itself_rejects_is_rejected_in_every_round() {
    let policy = attempts(1).in_shadow_every(NonZeroU32::new(9).unwrap());
    let gated = Gated::new(ScriptedModel::new([Turn::text("a"), Turn::text(" ")]), policy, only_good::<()>());
    assert!(gated.run(ask(), &(), ()).await.is_ok());
    let failure = gated.run(ask(), &(), ()).await.unwrap_err();
    assert!(matches!(*failure.error, GatedError::Exhausted(_)));
}
