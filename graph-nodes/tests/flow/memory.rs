//! Memories of stages: shared or apart, erased without losing state, made shorter.

use std::time::Duration;

use futures_util::StreamExt;
use graph_engine::{EventKind, Log, State};
use graph_nodes::flow::{Compaction, FlowError, FlowEvent, FlowProblem, Stage};
use graph_nodes::message::{FinishReason, Message, Usage, check_history};
use graph_nodes::model::{ModelError, ScriptedModel, Turn};

use crate::support::{Trip, calls, flow, noted, seat, talk};

fn texts(log: &Log<Message>) -> Vec<String> {
    log.iter().map(Message::text).collect()
}

#[tokio::test(start_paused = true)]
async fn stages_share_a_memory_unless_one_has_its_own() {
    let graph = flow()
        .stage(noted("explore", "present"))
        .stage(noted("present", "explore").memory(Trip::PRIVATE))
        .build()
        .unwrap();
    let talk = talk(&graph, [calls(["to_present"]), Turn::text("Here."), Turn::text("Again.")]);
    let end = talk.say("hi").await;
    assert_eq!(texts(&end.state.history), ["hi", "", "moved"]);
    assert_eq!(texts(&end.state.private), ["Here."]);
    // The second stage's model sees its own memory only.
    assert_eq!(talk.model.requests()[1].messages.len(), 0);
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn erasing_a_memory_keeps_the_state() {
    let graph = flow().stage(noted("explore", "present")).stage(noted("present", "explore")).build().unwrap();
    let talk = talk(&graph, [calls(["to_present"]), Turn::text("Here."), Turn::text("Fresh.")]);
    talk.say("hi").await;
    let input = Trip::compose(Trip::update().overwrite_history(Log::new()), seat().user("again"));
    let end = talk.thread.run(input).await.unwrap();
    assert_eq!(texts(&end.state.history), ["again", "Fresh."]);
    assert_eq!((end.state.city.as_str(), end.state.cursor.moves()), ("present", 2));
}

/// A thread whose second turn finds five messages, and what its stream tells.
async fn second_turn(compaction: Compaction) -> (Vec<String>, Vec<FlowEvent>) {
    let (texts, events, _) = counted_turn(compaction).await;
    (texts, events)
}

/// The same, and what the book counted of summaries: how many, their tokens, how many gave none.
async fn counted_turn(compaction: Compaction) -> (Vec<String>, Vec<FlowEvent>, (u32, u64, u32)) {
    let graph = flow().stage(Stage::new("explore").compaction(compaction)).build().unwrap();
    let talk = talk(&graph, ["1", "2", "3"].map(Turn::text));
    talk.say("a").await;
    talk.say("b").await;
    let mut stream = talk.thread.run(seat().user("c")).stream();
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        if let EventKind::Custom(value) = event.kind {
            events.extend(serde_json::from_value::<FlowEvent>(value));
        }
    }
    let end = stream.end().await.unwrap();
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    assert_eq!(end.state.notes, Vec::<String>::new());
    let totals = end.state.book.totals("explore");
    assert_eq!(totals.tokens(), 330 + totals.summary.total());
    (texts(&end.state.history), events, (totals.summaries, totals.summary.total(), totals.usage_unknown))
}

fn summaries(turn: Turn) -> Compaction {
    Compaction::new(ScriptedModel::new([turn])).minimum(5).recent(2)
}

#[tokio::test(start_paused = true)]
async fn a_summary_takes_the_place_of_all_but_the_latest_messages() {
    let (texts, events, counted) = counted_turn(summaries(Turn::text("a1, b.").with_usage(50, 5))).await;
    assert_eq!(counted, (1, 55, 0));
    assert_eq!(texts, ["Summary of the conversation so far: a1, b.", "2", "c", "3"]);
    let usage = Some(Usage::new(50, 5));
    assert_eq!(events, [FlowEvent::Compacted { stage: "explore".into(), replaced: 3, kept: 2, usage }]);
}

async fn failed(turn: Turn) -> String {
    let (texts, events) = second_turn(summaries(turn)).await;
    assert_eq!(texts, ["a", "1", "b", "2", "c", "3"]);
    let [FlowEvent::CompactionFailed { reason, .. }] = &events[..] else { panic!("{events:?}") };
    reason.clone()
}

#[tokio::test(start_paused = true)]
async fn a_summary_that_fails_is_a_warning_and_the_turn_goes_on() {
    let error = ModelError::transport("reset");
    let text = error.to_string();
    assert_eq!(failed(Turn::error(error)).await, text);
    assert_eq!(failed(Turn::text(" \n")).await, "the model wrote no summary");
    assert_eq!(failed(Turn::text("a, 1,").with_finish(FinishReason::Length)).await, "the summary was cut off");
    let slow = Turn::text("late").with_delay(Duration::from_secs(31));
    assert_eq!(failed(slow).await, "the model took longer than 30s");
}

#[tokio::test(start_paused = true)]
async fn what_a_failed_summary_cost_is_counted_too() {
    let (_, _, counted) = counted_turn(summaries(Turn::text(" ").with_usage(50, 1))).await;
    assert_eq!(counted, (1, 51, 0));
    let (_, _, counted) = counted_turn(summaries(Turn::error(ModelError::transport("reset")))).await;
    assert_eq!(counted, (1, 0, 1));
}

#[tokio::test(start_paused = true)]
async fn fewer_messages_than_the_minimum_are_left_alone() {
    let (texts, events) = second_turn(Compaction::new(ScriptedModel::new([])).minimum(6).recent(2)).await;
    assert_eq!((texts.len(), events), (6, vec![]));
}

#[tokio::test(start_paused = true)]
async fn a_cut_never_parts_a_call_from_its_answer() {
    for recent in 1..=4 {
        let compaction = Compaction::new(ScriptedModel::new([Turn::text("so far")])).minimum(5).recent(recent);
        let graph = flow().stage(noted("explore", "explore").compaction(compaction)).build().unwrap();
        let talk = talk(&graph, [calls(["to_explore"]), Turn::text("1"), Turn::text("2")]);
        // hi, a call, its answer, 1; then one message more.
        let end = talk.say("hi").await;
        assert_eq!(end.state.history.len(), 4);
        let end = talk.say("more").await;
        assert_eq!(check_history(end.state.history.iter()), Ok(()), "recent {recent}");
        let expected: &[&str] = match recent {
            1 => &["more", "2"],
            2 => &["1", "more", "2"],
            // The answer alone would be an orphan; with its call the cut would leave one message to summarise.
            _ => &["hi", "", "moved", "1", "more", "2"],
        };
        let kept = texts(&end.state.history);
        let kept: Vec<&str> = kept.iter().map(String::as_str).filter(|text| !text.starts_with("Summary")).collect();
        assert_eq!(kept, expected, "recent {recent}");
    }
}

#[test]
fn a_compaction_that_keeps_as_much_as_it_begins_with_is_refused() {
    let compaction = Compaction::new(ScriptedModel::new([])).minimum(8).recent(8);
    let error = flow().stage(Stage::new("explore").compaction(compaction)).build().unwrap_err();
    let FlowError::Problems(problems) = error else { panic!("{error}") };
    let reason = "it keeps 8 messages but begins at 8; keep fewer than it takes to begin".to_owned();
    assert_eq!(problems, [FlowProblem::Compaction { stage: "explore".into(), reason }]);
}
