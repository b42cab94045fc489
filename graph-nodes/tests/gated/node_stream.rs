//! What a reader of a turn sees of a vertex that asks and judges.

use graph_engine::{Graph, START};
use graph_nodes::gate::{ForbiddenPatterns, Retracted, Streaming, Validators};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{GatedNode, StageError, StageEvent};

use crate::support::{Trip, Turned, agent, attempts, gate, runner, seat, turn};

fn polite() -> Validators<Trip> {
    Validators::new().with(ForbiddenPatterns::new([("an insult", "fool")]).unwrap())
}

async fn streamed(streaming: Streaming) -> Turned {
    let turns = [Turn::text("Hello. You fool. Bye.").cut_at([9]), Turn::text("Dear guest. Welcome.").cut_at([3])];
    let model = ScriptedModel::new(turns);
    turn(GatedNode::new(agent(&model), gate(attempts(3), polite())).streaming(streaming)).await
}

fn codes() -> Vec<graph_nodes::gate::Code> {
    vec!["forbidden".into()]
}

fn events(retracted: Option<u64>) -> Vec<StageEvent> {
    let retracted = retracted.map(|chars| StageEvent::Retracted {
        stage: "explore".into(),
        retracted: Retracted { attempt: 1, chars, codes: codes() },
    });
    let rejected = StageEvent::Rejected { stage: "explore".into(), codes: codes(), attempt: 2, max: 3 };
    retracted.into_iter().chain([rejected]).collect()
}

#[tokio::test(start_paused = true)]
async fn g21_held_back_no_byte_of_a_rejected_text_is_streamed() {
    let ran = streamed(Streaming::HoldAll).await;
    assert_eq!((ran.tokens(), ran.stage_events()), (vec!["Dear guest. Welcome."], events(None)));
    assert!(!format!("{:?}", ran.events).contains("Hello"));
}

#[tokio::test(start_paused = true)]
async fn g22_by_checkpoints_only_pieces_that_passed_are_streamed() {
    let ran = streamed(Streaming::every_sentence()).await;
    assert_eq!(ran.tokens(), ["Hello. ", "Dear guest. ", "Welcome."]);
    assert_eq!((ran.stage_events(), ran.reply()), (events(Some(7)), Some("Dear guest. Welcome.")));
}

#[tokio::test(start_paused = true)]
async fn passed_through_every_piece_is_streamed_at_once() {
    let ran = streamed(Streaming::PassThrough).await;
    assert_eq!(ran.tokens(), ["Hello. Yo", "u fool. Bye.", "Dea", "r guest. Welcome."]);
    assert_eq!(ran.stage_events(), events(Some(21)));
}

#[tokio::test(start_paused = true)]
async fn nobody_who_reads_is_told_nothing_and_the_state_is_the_same() {
    let turns = || [Turn::text("You fool. Bye."), Turn::text("Dear guest.")];
    let mut states = Vec::new();
    for streaming in [Streaming::HoldAll, Streaming::every_chars(3), Streaming::PassThrough] {
        let node =
            GatedNode::new(agent(&ScriptedModel::new(turns())), gate(attempts(3), polite())).streaming(streaming);
        let end = runner(node).thread("t").run(seat().user("hi")).await.unwrap();
        states.push((end.state.history.iter().cloned().collect::<Vec<_>>(), end.state.book.clone()));
    }
    assert_eq!(states[0], states[1]);
    assert_eq!(states[1], states[2]);
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_is_a_vertex_of_its_own_refuses_to_stream_before_its_verdict() {
    for streaming in [Streaming::every_chars(9), Streaming::PassThrough] {
        let model = ScriptedModel::new([]);
        let asks = || gate(attempts(3), polite()).streaming(streaming);
        let error = asks().check().unwrap_err();
        assert!(matches!(error, StageError::Streaming { .. }));
        let built = Graph::<Trip>::builder("trip")
            .cluster("explore", "agent", |stage| {
                stage.node("agent", agent(&model)).node("gate", asks()).edge("agent", "gate")
            })
            .edge(START, "agent")
            .compile();
        assert!(built.unwrap_err().to_string().contains(&error.to_string()));
        assert!(asks().check_agent(&agent(&model)).is_err());
    }
    assert!(gate(attempts(3), polite()).streaming(Streaming::HoldAll).check().is_ok());
}
