//! What is shown of a text before it is judged, and what is taken back.

use graph_nodes::gate::{
    Code, ForbiddenPatterns, GatedError, GatedEvent, Length, Retracted, Streaming, Validators, Verdict, shown,
};
use graph_nodes::message::FinishReason;
use graph_nodes::model::{Chunk, ModelError, Response, Turn};

use crate::support::{Ran, ask, attempts, call, only_good, run_with};

fn polite() -> Validators<()> {
    Validators::new().with(ForbiddenPatterns::new([("an insult", "fool")]).unwrap())
}

async fn streamed(streaming: Streaming, validators: Validators<()>, turns: impl IntoIterator<Item = Turn>) -> Ran {
    run_with(attempts(3), validators, turns, |gated| gated.with_streaming(streaming), ask()).await
}

fn text(text: &str) -> GatedEvent {
    GatedEvent::Text(text.into())
}

fn rejected(code: &'static str) -> GatedEvent {
    GatedEvent::Rejected { codes: vec![Code::new(code)], attempt: 2, max: 3, is_last: false }
}

fn retract(chars: u64, code: &'static str) -> GatedEvent {
    GatedEvent::Retract(Retracted { attempt: 1, chars, codes: vec![Code::new(code)] })
}

#[tokio::test(start_paused = true)]
async fn g21_hold_all_shows_no_byte_of_a_rejected_text_and_all_of_the_accepted() {
    let turns = [Turn::text("you fool").cut_at([2, 5]), Turn::text("dear guest").cut_at([4])];
    let ran = streamed(Streaming::HoldAll, polite(), turns).await;
    assert_eq!(ran.events, [rejected("forbidden"), text("dear guest")]);
}

#[tokio::test(start_paused = true)]
async fn g22_only_pieces_that_passed_are_shown_and_a_rejection_says_how_much_to_forget() {
    let turns = [Turn::text("Hello there. You fool. Bye."), Turn::text("Dear guest. Welcome.")];
    let ran = streamed(Streaming::every_sentence(), polite(), turns).await;
    assert_eq!(
        ran.events,
        [
            text("Hello there. "),
            retract(13, "forbidden"),
            rejected("forbidden"),
            text("Dear guest. "),
            text("Welcome."),
        ],
    );
    assert_eq!(shown(&ran.events), "Dear guest. Welcome.");
}

#[tokio::test(start_paused = true)]
async fn g22_checkpoints_by_characters_don_t_depend_on_how_the_stream_is_cut() {
    for cuts in [vec![], vec![1, 2, 3, 4, 5, 6, 7, 8], vec![7]] {
        let ran = streamed(Streaming::every_chars(4), polite(), [Turn::text("grüße an alle").cut_at(cuts)]).await;
        assert_eq!(ran.events, [text("grüß"), text("e an"), text(" all"), text("e")]);
    }
}

#[tokio::test(start_paused = true)]
async fn g22_a_piece_that_no_check_accepts_yet_waits() {
    let validators = Validators::new().with(Length::at_least(10));
    let ran = streamed(Streaming::every_chars(4), validators, [Turn::text("0123456789abcdef")]).await;
    assert_eq!(ran.events, [text("0123456789ab"), text("cdef")]);
}

#[tokio::test(start_paused = true)]
async fn pass_through_shows_every_piece_at_once_and_takes_it_back() {
    let turns = [Turn::text("you fool").cut_at([4]), Turn::text("dear").cut_at([2])];
    let ran = streamed(Streaming::PassThrough, polite(), turns).await;
    assert_eq!(
        ran.events,
        [text("you "), text("fool"), retract(8, "forbidden"), rejected("forbidden"), text("de"), text("ar")],
    );
}

#[tokio::test(start_paused = true)]
async fn a_changed_text_is_taken_back_only_where_the_change_begins_in_what_was_shown() {
    let sign = || {
        Validators::new().with_fn("sign", |response: &Response, ()| {
            Verdict::accept_text(format!("{} Yours.", response.text), "signed")
        })
    };
    let ran = streamed(Streaming::PassThrough, sign(), [Turn::text("Hello.")]).await;
    assert_eq!((ran.events.first(), ran.events.last()), (Some(&text("Hello.")), Some(&text(" Yours."))));
    let upper = Validators::new()
        .with_fn("upper", |response: &Response, ()| Verdict::accept_text(response.text.to_uppercase(), "loud"));
    let ran = streamed(Streaming::PassThrough, upper, [Turn::text("Hello.")]).await;
    let changed = Retracted { attempt: 1, chars: 6, codes: vec![] };
    assert_eq!(ran.events[1], GatedEvent::Retract(changed));
    assert_eq!(shown(&ran.events), "HELLO.");
    // A check that changes the text accepts no piece of it.
    let ran = streamed(Streaming::every_chars(2), sign(), [Turn::text("Hello.")]).await;
    assert_eq!(ran.events.last(), Some(&text("Hello. Yours.")));
}

#[tokio::test(start_paused = true)]
async fn what_was_shown_of_a_stream_that_broke_is_taken_back() {
    let broken = Turn::text("abcdef").cut_at([3]).broken_after(1, ModelError::transport("reset"));
    let ran = streamed(Streaming::PassThrough, Validators::new(), [broken, Turn::text("whole")]).await;
    assert_eq!(ran.events, [text("abc"), retract(3, "invocation"), rejected("invocation"), text("whole")]);
}

#[tokio::test(start_paused = true)]
async fn calls_of_a_rejected_response_run_in_no_mode() {
    for streaming in [Streaming::HoldAll, Streaming::every_chars(1), Streaming::PassThrough] {
        let turn = Turn::text("you fool").with_call(call("c1", "book", "{}"));
        let ran = streamed(streaming, polite(), [turn, Turn::text("dear guest")]).await;
        assert!(ran.end.as_ref().unwrap().response.calls.is_empty());
        let cut = Turn::text("fine").with_call(call("c1", "book", "{}")).with_finish(FinishReason::Length);
        let ran = streamed(streaming, polite(), [cut, Turn::text("dear guest")]).await;
        assert_eq!((ran.text(), ran.counters()), ("dear guest", vec![("truncated", 1)]));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_and_reasoning_are_never_shown() {
    let turn = Turn::chunks([Chunk::reasoning("hm"), Chunk::refusal("I won't."), Chunk::finish(FinishReason::Stop)]);
    let ran = streamed(Streaming::PassThrough, Validators::new(), [turn]).await;
    assert!(matches!(ran.error(), GatedError::Escalated { .. }));
    assert_eq!(ran.events, []);
}

#[tokio::test(start_paused = true)]
async fn structured_output_is_held_back_until_it_is_whole() {
    let request = ask().with_response_schema(serde_json::json!({"type": "object"}));
    let turns = [Turn::text(r#"{"a": 1}"#).cut_at([2, 4])];
    let change = |gated: graph_nodes::gate::Gated<()>| gated.with_streaming(Streaming::every_chars(1));
    let ran = run_with(attempts(3), Validators::new(), turns, change, request).await;
    assert_eq!(ran.events, [text(r#"{"a": 1}"#)]);
}

#[tokio::test(start_paused = true)]
async fn every_mode_ends_with_the_same_text_and_ledger() {
    let turns = || [Turn::text("bad one. bad two.").cut_at([3, 9]), Turn::text("good").cut_at([1, 2])];
    let held = streamed(Streaming::HoldAll, only_good(), turns()).await;
    for streaming in [Streaming::every_chars(1), Streaming::every_sentence(), Streaming::PassThrough] {
        let ran = streamed(streaming, only_good(), turns()).await;
        assert_eq!((shown(&ran.events).as_str(), ran.ledger()), ("good", held.ledger()));
    }
}

#[tokio::test(start_paused = true)]
async fn shadow_mode_holds_no_piece_back() {
    let policy = attempts(3).in_shadow();
    let change = |gated: graph_nodes::gate::Gated<()>| gated.with_streaming(Streaming::every_sentence());
    let turns = [Turn::text("You fool. Bye.")];
    let ran = run_with(policy, polite(), turns, change, ask()).await;
    assert_eq!((&ran.events, ran.counters()), (&vec![text("You fool. "), text("Bye.")], vec![("shadow:forbidden", 1)]));
}
