//! A person is asked before a call runs: who waits, who runs, what is kept, what the model reads.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use graph_engine::{Interrupt, MemoryStore, RunError, Status, Thread, TurnEnd};
use graph_nodes::message::{CallStatus, Message, ToolCall, check_history};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::Guards;
use graph_nodes::tool::{
    Confirm, ConfirmQuestion, Confirmation, FnTool, GroupReply, ToolBox, ToolError, ToolReply, group, tool,
};
use serde_json::{Value, json};

use crate::support::{NoArgs, Stage, Trip, calls, counted, fixed, say, transcript};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Room {
    hotel: String,
    nights: u8,
}

/// Books by writing a note, and counts.
fn book(name: &str) -> (FnTool<Trip>, Arc<AtomicUsize>) {
    let count = Arc::new(AtomicUsize::new(0));
    let counter = count.clone();
    let tool = tool::<Trip, Room>(name, "Books a room.", move |room: Room, _| {
        counter.fetch_add(1, Ordering::Relaxed);
        let text = format!("{} for {}", room.hotel, room.nights);
        async move { Ok(ToolReply::text(format!("booked {text}")).update(Trip::update().notes([text]))) }
    });
    (tool.confirm(), count)
}

fn times(count: &AtomicUsize) -> usize {
    count.load(Ordering::Relaxed)
}

fn room(id: &str, tool: &str, hotel: &str) -> ToolCall {
    ToolCall::new(id, tool, &json!({"hotel": hotel, "nights": 2}))
}

/// A thread whose model makes these calls, then says that it is done.
fn thread(stage: Stage, turn: Turn) -> Thread<Trip> {
    let model = ScriptedModel::new([turn, Turn::text("done")]);
    stage.runner(&model).store(MemoryStore::new()).thread("t")
}

fn question(interrupt: &Interrupt) -> ConfirmQuestion {
    serde_json::from_value(interrupt.question.clone()).unwrap()
}

fn status(end: &TurnEnd<Trip>, id: &str) -> CallStatus {
    let message = end.state.history.iter().find(|message| message.call_id() == Some(id));
    message.and_then(Message::status).unwrap()
}

fn tally(end: &TurnEnd<Trip>, tool: &str) -> (u32, u32, u32) {
    let tally = end.state.book.tools["explore"].tally(tool);
    (tally.succeeded, tally.failed, tally.declined)
}

#[tokio::test(start_paused = true)]
async fn m4_siblings_of_a_call_that_asks_are_answered_with_it_and_its_answer_is_given_once() {
    let ((book, booked), (search, searched)) = (book("book"), counted("search"));
    let stage = Stage::tools([book, search.concurrent().read_only()]);
    let response = Turn::calls([room("c1", "book", "Inn"), ToolCall::from_text("c2", "search", "{}")]);
    let thread = thread(stage, response);

    let paused = say(&thread).await.unwrap();
    assert_eq!((paused.status, times(&booked), times(&searched)), (Status::Paused, 0, 1));
    // No committed state holds a call without its answer.
    assert_eq!(transcript(&paused.state), ["user: hi"]);
    let [asked] = paused.interrupts() else { panic!("one question") };
    assert_eq!(
        asked.question,
        json!({
            "kind": "confirm_calls",
            "text": "May `book` run?",
            "calls": [
                {"id": "c1", "tool": "book", "description": "Books a room.", "arguments": {"hotel": "Inn", "nights": 2}},
            ],
        })
    );

    let end = thread.resume(true).await.unwrap();
    assert_eq!((end.status, times(&booked), times(&searched)), (Status::Done, 1, 1));
    assert_eq!(
        transcript(&end.state),
        ["user: hi", "assistant calls c1 c2: ", "tool c1: booked Inn for 2", "tool c2: done", "assistant: done"]
    );
    assert_eq!((&end.state.notes[..], end.state.book.tools["explore"].calls), (&["Inn for 2".to_owned()][..], 2));

    let again = thread.resume_by_id([(asked.id, true)]).await.unwrap_err();
    assert!(matches!(&*again.error, RunError::NothingToAnswer { .. }), "{again}");
    assert_eq!(times(&booked), 1);
}

#[tokio::test(start_paused = true)]
async fn a_no_is_told_to_the_model_and_counts_neither_as_a_call_nor_as_a_failure() {
    for (answer, told) in [
        (json!(false), "not executed: a person was asked and declined; don't call it again unless you are asked to"),
        (
            json!({"approve": false, "reason": "too far"}),
            "not executed: a person was asked and declined: too far; don't call it again unless you are asked to",
        ),
    ] {
        let (book, booked) = book("book");
        let thread = thread(Stage::tools([book]), Turn::calls([room("c1", "book", "Inn")]));
        say(&thread).await.unwrap();
        let end = thread.resume(answer).await.unwrap();
        assert_eq!((status(&end, "c1"), times(&booked)), (CallStatus::Declined, 0));
        assert_eq!(transcript(&end.state)[2], format!("tool c1 failed: {told}"));
        assert_eq!((tally(&end, "book"), end.state.book.tools["explore"].calls), ((0, 0, 1), 0));
    }
}

#[tokio::test(start_paused = true)]
async fn all_questions_of_one_response_are_open_at_once_and_answered_together_or_one_by_one() {
    for together in [true, false] {
        let ((book, booked), (cancel, cancelled)) = (book("book"), counted("cancel"));
        let stage = Stage::tools([book, cancel.confirm()]);
        let response = Turn::calls([room("c1", "book", "Inn"), ToolCall::from_text("c2", "cancel", "{}")]);
        let thread = thread(stage, response);
        let paused = say(&thread).await.unwrap();
        let [first, second] = paused.interrupts() else { panic!("two questions") };
        assert_ne!(first.id, second.id);
        assert_eq!((&*question(first).calls[0].id, &*question(second).calls[0].id), ("c1", "c2"));
        let end = if together {
            thread.resume_by_id([(first.id, true), (second.id, false)]).await.unwrap()
        } else {
            // The later one waits for the earlier, because neither may run beside others.
            let half = thread.resume_by_id([(second.id, false)]).await.unwrap();
            assert_eq!((half.status, half.interrupts(), times(&booked)), (Status::Paused, &[first.clone()][..], 0));
            thread.resume(true).await.unwrap()
        };
        assert_eq!((times(&booked), times(&cancelled)), (1, 0));
        assert_eq!((status(&end, "c1"), status(&end, "c2")), (CallStatus::Ok, CallStatus::Declined));
        assert_eq!((tally(&end, "book"), tally(&end, "cancel")), ((1, 0, 0), (0, 0, 1)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_runs_alone_is_not_overtaken_by_its_like_but_by_those_that_are_safe() {
    let ((book, _), (write, wrote), (read, been_read)) = (book("book"), counted("write"), counted("read"));
    let stage = Stage::tools([book, write, read.concurrent()]);
    let (write, read) = (ToolCall::from_text("c2", "write", "{}"), ToolCall::from_text("c3", "read", "{}"));
    let thread = thread(stage, Turn::calls([room("c1", "book", "Inn"), write, read]));
    say(&thread).await.unwrap();
    assert_eq!((times(&wrote), times(&been_read)), (0, 1));
    let end = thread.resume(true).await.unwrap();
    assert_eq!((times(&wrote), times(&been_read)), (1, 1));
    let answers: Vec<String> = transcript(&end.state).split_off(2);
    assert_eq!(answers, ["tool c1: booked Inn for 2", "tool c2: done", "tool c3: done", "assistant: done"]);
}

#[tokio::test(start_paused = true)]
async fn other_arguments_are_checked_by_the_schema_and_told_to_the_model() {
    let (book, booked) = book("book");
    let thread = thread(Stage::tools([book]), Turn::calls([room("c1", "book", "Inn")]));
    say(&thread).await.unwrap();
    let wrong = Confirmation::yes().arguments(json!({"hotel": "Inn", "nights": "three"}));
    let refused = thread.resume(wrong).await.unwrap_err();
    let RunError::BadAnswer { bad, .. } = &*refused.error else { panic!("{refused}") };
    assert_eq!(
        bad[0].why,
        "the arguments of `book` don't fit its schema: at `/nights`: expected an integer, found the text \"three\"; \
         correct them and call again"
    );
    let refused = thread.resume("sure").await.unwrap_err();
    let RunError::BadAnswer { bad, .. } = &*refused.error else { panic!("{refused}") };
    assert_eq!(bad[0].why, "expected true, false or an object with `approve`, found \"sure\"");
    assert_eq!(times(&booked), 0);

    let right = Confirmation::yes().arguments(json!({"hotel": "Palace", "nights": 3})).reason("nicer");
    let end = thread.resume(right).await.unwrap();
    assert_eq!(
        transcript(&end.state)[2],
        "tool c1: booked Palace for 3\n(a person changed the arguments to {\"hotel\":\"Palace\",\"nights\":3}; a person \
         said: nicer)"
    );
    assert_eq!((&end.state.notes[..], times(&booked)), (&["Palace for 3".to_owned()][..], 1));
}

#[tokio::test(start_paused = true)]
async fn a_predicate_on_the_arguments_decides_who_is_asked_and_a_panic_in_it_asks() {
    let long = |arguments: &serde_json::Map<String, Value>| arguments["nights"].as_u64() > Some(5);
    let (short, booked) = book("book");
    let thread1 = thread(Stage::tools([short.confirm_if(long)]), Turn::calls([room("c1", "book", "Inn")]));
    assert_eq!((say(&thread1).await.unwrap().status, times(&booked)), (Status::Done, 1));

    let (broken, booked) = book("book");
    let broken = broken.confirm_if(|_| panic!("no idea"));
    let thread2 = thread(Stage::tools([broken]), Turn::calls([room("c1", "book", "Inn")]));
    assert_eq!((say(&thread2).await.unwrap().status, times(&booked)), (Status::Paused, 0));
}

#[tokio::test(start_paused = true)]
async fn nobody_answers_in_time_and_that_is_a_no() {
    let (book, booked) = book("book");
    let book = book.confirm_with(|_| Some(Confirm::text("Sure?").expires(Duration::from_secs(60))));
    let model = ScriptedModel::new([Turn::calls([room("c1", "book", "Inn")]), Turn::text("done")]);
    let runner = Stage::tools([book]).runner(&model).store(MemoryStore::new());
    let thread = runner.thread("t");
    let paused = say(&thread).await.unwrap();
    let [asked] = paused.interrupts() else { panic!("one question") };
    assert_eq!(question(asked).text, "Sure?");
    let due = asked.expires_ms.unwrap();
    runner.expire(std::time::UNIX_EPOCH + Duration::from_millis(due)).await.unwrap();
    let state = thread.state().await.unwrap().state;
    assert_eq!(times(&booked), 0);
    assert_eq!(
        transcript(&state)[2],
        "tool c1 failed: not executed: a person was asked and declined: nobody answered in time; don't call it again \
         unless you are asked to"
    );
}

#[tokio::test(start_paused = true)]
async fn a_handler_asks_from_inside_and_what_it_remembers_is_done_once() {
    let (began, priced) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (begins, prices) = (began.clone(), priced.clone());
    let book = tool::<Trip, NoArgs>("book", "Books.", move |_, call| {
        let (begins, prices) = (begins.clone(), prices.clone());
        async move {
            begins.fetch_add(1, Ordering::Relaxed);
            let price = async {
                prices.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ToolError>(120)
            };
            let price: u32 = call.memo("price", price).await?;
            let name: String = call.interrupt(format!("{price} for {}", call.id()))?;
            call.confirm(Confirm::text("Really?").details(price))?;
            Ok(format!("{name} pays {price}").into())
        }
    });
    let thread = thread(Stage::tools([book.concurrent()]), calls([("c1", "book"), ("c2", "book")]));
    let paused = say(&thread).await.unwrap();
    let [first, second] = paused.interrupts() else { panic!("each call has its own question") };
    assert_eq!((&first.question, &second.question), (&json!("120 for c1"), &json!("120 for c2")));
    let paused = thread.resume_by_id([(first.id, "Ann"), (second.id, "Bob")]).await.unwrap();
    let [first, second] = paused.interrupts() else { panic!("each asks for a yes") };
    assert_eq!(question(first).details, json!(120));
    let end = thread.resume_by_id([(first.id, true), (second.id, false)]).await.unwrap();
    assert_eq!((times(&began), times(&priced)), (6, 2));
    assert_eq!(transcript(&end.state)[2], "tool c1: Ann pays 120");
    assert_eq!((status(&end, "c2"), tally(&end, "book")), (CallStatus::Declined, (1, 0, 1)));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_swallows_the_pause_pauses_all_the_same() {
    let stubborn = tool::<Trip, NoArgs>("book", "Books.", |_, call| async move {
        let said = call.interrupt::<String>("sure?").unwrap_or_else(|_| "swallowed".to_owned());
        Ok(said.into())
    });
    let thread = thread(Stage::tools([stubborn]), calls([("c1", "book")]));
    assert_eq!(say(&thread).await.unwrap().status, Status::Paused);
    assert_eq!(transcript(&thread.resume("yes").await.unwrap().state)[2], "tool c1: yes");
}

#[tokio::test(start_paused = true)]
async fn what_failed_beside_a_question_is_kept_with_its_updates_and_routes() {
    let tries = Arc::new(AtomicUsize::new(0));
    let tried = tries.clone();
    let broken = fixed("broken", move || {
        tried.fetch_add(1, Ordering::Relaxed);
        Err("no luck".into())
    });
    let away = fixed("away", || Ok(ToolReply::text("off").update(Trip::update().city("Oslo")).go("present")));
    let (book, _) = book("book");
    let stage = Stage::tools([broken.concurrent(), away.concurrent(), book]);
    let (broken, away) = (ToolCall::from_text("c1", "broken", "{}"), ToolCall::from_text("c2", "away", "{}"));
    let thread = thread(stage, Turn::calls([broken, away, room("c3", "book", "Inn")]));
    say(&thread).await.unwrap();
    let end = thread.resume(true).await.unwrap();
    assert_eq!(
        (times(&tries), &*end.state.city, &end.state.notes[..]),
        (1, "Oslo", &["Inn for 2", "present"].map(String::from)[..])
    );
    assert_eq!(transcript(&end.state)[2..], ["tool c1 failed: no luck", "tool c2: off", "tool c3: booked Inn for 2"]);
    assert_eq!(tally(&end, "broken"), (0, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn limits_and_the_breaker_go_on_over_a_pause_and_count_a_call_once() {
    let (book, booked) = book("book");
    let broken = fixed("broken", || Err("no luck".into()));
    let mut stage = Stage::tools([book, broken.concurrent()]);
    stage.run = |run| {
        let two = NonZeroU32::new(2).unwrap();
        run.max_calls_per_turn(NonZeroU32::new(4).unwrap()).guards(Guards::default().with_breaker(two))
    };
    let broken = |id: &str| ToolCall::from_text(id, "broken", "{}");
    let model = ScriptedModel::new([
        Turn::calls([broken("c1"), room("c2", "book", "Inn")]),
        Turn::calls([broken("c3")]),
        Turn::calls([broken("c4")]),
        Turn::calls([room("c5", "book", "Palace")]),
        Turn::calls([room("c6", "book", "Grand")]),
        Turn::text("done"),
    ]);
    let thread = stage.runner(&model).store(MemoryStore::new()).thread("t");
    say(&thread).await.unwrap();
    assert_eq!(thread.resume(true).await.unwrap().status, Status::Paused);
    let end = thread.resume(true).await.unwrap();
    assert_eq!((end.status, times(&booked), end.state.book.tools["explore"].calls), (Status::Done, 2, 4));
    let said = transcript(&end.state);
    assert!(said.contains(
        &"tool c4 failed: not executed: `broken` failed 2 times in a row, so it is not called again in this turn; go on \
          without it"
            .to_owned()
    ));
    assert!(said.contains(
        &"tool c6 failed: not executed: the limit is 4 calls in one turn; go on with what you have".to_owned()
    ));
}

#[tokio::test(start_paused = true)]
async fn the_same_call_beside_one_that_asks_is_asked_once_and_repeats_are_answered() {
    let (book, booked) = book("book");
    let mut stage = Stage::tools([book.concurrent()]);
    stage.run = |run| run.guards(Guards::default().with_repeats_intercepted());
    let response = Turn::calls([room("c1", "book", "Inn"), room("c2", "book", "Inn")]);
    let thread = thread(stage, response);
    assert_eq!(say(&thread).await.unwrap().interrupts().len(), 1);
    let end = thread.resume(true).await.unwrap();
    assert_eq!((times(&booked), end.state.book.tools["explore"].tally("book").repeated), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_group_is_one_question_that_lists_all_calls_also_if_only_one_of_its_tools_asks() {
    for by_group in [true, false] {
        let ran = Arc::new(AtomicUsize::new(0));
        let counter = ran.clone();
        let both = group::<Trip>(move |calls| {
            counter.fetch_add(1, Ordering::Relaxed);
            async move { Ok(GroupReply::text(format!("{} paid", calls.len()))) }
        });
        let (a, b) = (counted("a").0, counted("b").0);
        let tools = if by_group {
            ToolBox::builder().tool(a).tool(b).group(["a", "b"], both.confirm())
        } else {
            ToolBox::builder().tool(a).tool(b.confirm()).group(["a", "b"], both)
        };
        let tools = tools.build().unwrap();
        let stage = || Stage { tools: tools.clone(), ..Stage::default() };
        for answer in [true, false] {
            let before = times(&ran);
            let thread = thread(stage(), calls([("c1", "a"), ("c2", "b")]));
            let paused = say(&thread).await.unwrap();
            let [asked] = paused.interrupts() else { panic!("one question") };
            let ids: Vec<String> = question(asked).calls.into_iter().map(|call| call.id).collect();
            assert_eq!((ids, times(&ran)), (vec!["c1".to_owned(), "c2".to_owned()], before));
            let end = thread.resume(answer).await.unwrap();
            assert_eq!(times(&ran) - before, usize::from(answer));
            let expected = if answer { CallStatus::Ok } else { CallStatus::Declined };
            assert_eq!((status(&end, "c1"), status(&end, "c2")), (expected, expected));
            assert_eq!(check_history(end.state.history.iter()), Ok(()));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_store_the_first_question_fails_the_task_and_nothing_behind_it_runs() {
    let ((book, booked), (write, wrote)) = (book("book"), counted("write"));
    let inside = tool::<Trip, NoArgs>("inside", "Asks.", |_, call| async move {
        let said: String = call.interrupt("sure?")?;
        Ok(said.into())
    });
    for name in ["book", "inside"] {
        let first = if name == "book" { room("c1", "book", "Inn") } else { ToolCall::from_text("c1", "inside", "{}") };
        let model = ScriptedModel::new([Turn::calls([first, ToolCall::from_text("c2", "write", "{}")])]);
        let stage = Stage::tools([book.clone(), inside.clone(), write.clone()]);
        let error = say(&stage.runner(&model).thread("t")).await.unwrap_err();
        let failure = &error.failures()[0];
        assert_eq!(&*failure.task.node, "tools");
        assert_eq!(
            failure.source.to_string(),
            "`interrupt` needs a checkpoint store; give the runner one with `Runner::store`"
        );
    }
    assert_eq!((times(&booked), times(&wrote)), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn an_answer_survives_a_failure_behind_it_and_the_confirmed_call_is_not_done_again() {
    let (book, booked) = book("book");
    let tries = Arc::new(AtomicUsize::new(0));
    let tried = tries.clone();
    // Its route leads nowhere the first time, which fails the task after the booking.
    let away = fixed("away", move || match tried.fetch_add(1, Ordering::Relaxed) {
        0 => Ok(ToolReply::text("off").go("nowhere")),
        _ => Ok(ToolReply::text("off")),
    });
    let stage = Stage::tools([book, away]);
    let response = Turn::calls([room("c1", "book", "Inn"), ToolCall::from_text("c2", "away", "{}")]);
    let thread = thread(stage, response);
    say(&thread).await.unwrap();
    let failed = thread.resume(true).await.unwrap_err();
    assert_eq!((failed.failures().len(), times(&booked)), (1, 1));
    let end = thread.proceed().await.unwrap();
    assert_eq!((end.status, times(&booked), times(&tries)), (Status::Done, 1, 2));
    assert_eq!(end.state.notes, ["Inn for 2"]);
}

#[tokio::test(start_paused = true)]
async fn a_tool_that_ends_the_conversation_keeps_later_calls_from_asking() {
    let (book, booked) = book("book");
    let bye = fixed("bye", || Ok(ToolReply::text("bye").finish("bye")));
    let response = Turn::calls([ToolCall::from_text("c1", "bye", "{}"), room("c2", "book", "Inn")]);
    let thread = thread(Stage::tools([bye, book]), response);
    let end = say(&thread).await.unwrap();
    assert_eq!((end.status, end.interrupts().len(), times(&booked)), (Status::Completed, 0, 0));
}
