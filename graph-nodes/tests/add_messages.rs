//! Histories in which messages are replaced and removed by their ids.

use std::sync::Arc;

use graph_engine::{Graph, Log, START, State};
use graph_nodes::gate::{GatePolicy, Validators};
use graph_nodes::message::{HistoryEditError, HistoryProblem, Message, ToolCall, add_messages, check_history};
use graph_nodes::model::{ChatModel, FnModel, ModelError, Request, Response, ScriptedModel, Turn};
use graph_nodes::stage::{AgentNode, Draft, GateBook, GateNode, Seat};
use proptest::prelude::*;

#[derive(State, Clone, Default)]
struct Trip {
    #[state(with = add_messages)]
    history: Log<Message>,
    draft: Option<Draft>,
    book: GateBook,
}

fn user(text: &str, id: &str) -> Message {
    Message::user(text).with_id(id)
}

fn write(history: &Log<Message>, items: &[Message]) -> Result<Log<Message>, HistoryEditError> {
    add_messages(history, items.iter().cloned().collect())
}

fn made(items: &[Message]) -> Log<Message> {
    write(&Log::new(), items).unwrap()
}

fn shown(history: &Log<Message>) -> Vec<String> {
    history.iter().map(|message| format!("{}={}", message.id.as_deref().unwrap_or("-"), message.text())).collect()
}

#[test]
fn l34_a_known_id_replaces_in_place_a_new_one_appends_a_missing_one_is_made() {
    let history = made(&[user("one", "a"), user("two", "b"), Message::user("three")]);
    assert_eq!(shown(&history), ["a=one", "b=two", "msg_2=three"]);
    let edited = write(&history, &[user("ONE", "a"), user("four", "c"), Message::user("five")]).unwrap();
    assert_eq!(shown(&edited), ["a=ONE", "b=two", "msg_2=three", "c=four", "msg_4=five"]);
    let blank = write(&edited, &[user("six", " ")]).unwrap();
    assert_eq!(blank.last().and_then(|message| message.id.as_deref()), Some("msg_5"));
}

#[test]
fn l34_an_id_that_is_made_skips_those_that_are_taken() {
    let history = made(&[user("own", "msg_1"), Message::user("made")]);
    assert_eq!(shown(&history), ["msg_1=own", "msg_2=made"]);
    // A later item of the same write counts as well; other texts are no numbers.
    let history = made(&[Message::user("made"), user("own", "msg_0"), user("odd", "msg_007")]);
    assert_eq!(shown(&history), ["msg_1=made", "msg_0=own", "msg_007=odd"]);
    let more = write(&history, &[Message::user("next")]).unwrap();
    assert_eq!(more.last().and_then(|message| message.id.as_deref()), Some("msg_3"));
    let huge = made(&[user("own", "msg_18446744073709551615")]);
    assert_eq!(shown(&write(&huge, &[Message::user("made")]).unwrap())[1], "msg_1=made");
}

#[test]
fn l35_a_removal_takes_out_what_is_there_and_names_what_is_not() {
    let history = made(&[user("one", "a"), user("two", "b")]);
    assert_eq!(shown(&write(&history, &[Message::removal("a")]).unwrap()), ["b=two"]);
    let error = write(&history, &[user("three", "c"), Message::removal("zz")]).unwrap_err();
    assert_eq!(error, HistoryEditError::UnknownId { id: "zz".into() });
    assert_eq!(error.to_string(), "the history has no message `zz`, so it can't be removed; remove ids that it has",);
    let twice = write(&history, &[Message::removal("a"), Message::removal("a")]).unwrap();
    assert_eq!(shown(&twice), ["b=two"]);
}

#[test]
fn l35_a_removal_of_all_keeps_what_comes_later() {
    let history = made(&[user("one", "a"), Message::user("two")]);
    let items = [user("lost", "x"), Message::removal_of_all(), user("kept", "a"), Message::user("new")];
    assert_eq!(shown(&write(&history, &items).unwrap()), ["a=kept", "msg_2=new"]);
    assert_eq!(shown(&write(&history, &[Message::removal_of_all()]).unwrap()), [""; 0]);
    let error = write(&history, &[Message::removal_of_all(), Message::removal("a")]).unwrap_err();
    assert_eq!(error, HistoryEditError::UnknownId { id: "a".into() });
}

#[test]
fn l36_added_then_removed_is_gone_and_removed_then_added_is_there() {
    let gone = made(&[user("one", "a"), Message::removal("a")]);
    assert_eq!(shown(&gone), [""; 0]);
    let history = made(&[user("one", "a"), user("two", "b")]);
    let back = write(&history, &[Message::removal("a"), user("again", "a")]).unwrap();
    assert_eq!(shown(&back), ["a=again", "b=two"]);
}

#[test]
fn a_refused_removal_leaves_the_state_as_it_was() {
    let mut trip = Trip::default();
    trip.apply_one([user("one", "a")]);
    let before = trip.history.clone();
    let mut update = Trip::update();
    Trip::HISTORY.put(&mut update, Log::from([user("two", "b")]));
    Trip::HISTORY.put(&mut update, Log::from([Message::removal("zz")]));
    let error = trip.stage(&mut Default::default(), &mut update).unwrap_err().to_string();
    assert!(error.contains("`history`") && error.contains("no message `zz`"), "{error}");
    assert_eq!(trip.history, before);
}

impl Trip {
    fn apply_one<const N: usize>(&mut self, items: [Message; N]) {
        let mut update = Self::update();
        Self::HISTORY.put(&mut update, Log::from(items));
        let mut staged = Default::default();
        self.stage(&mut staged, &mut update).unwrap();
        self.apply(update);
        self.settle(staged);
    }
}

#[test]
fn ids_are_the_same_for_composed_updates_and_after_a_restart() {
    let items = [Message::user("a"), user("b", "b"), Message::user("c")];
    let mut apart = Trip::default();
    let mut update = Trip::update();
    for item in &items {
        apart.apply_one([item.clone()]);
        let mut next = Trip::update();
        Trip::HISTORY.put(&mut next, Log::from([item.clone()]));
        update = update.then(next);
        // What a checkpoint does.
        apart.history = serde_json::from_str(&serde_json::to_string(&apart.history).unwrap()).unwrap();
    }
    let mut composed = Trip::default();
    let mut staged = Default::default();
    composed.stage(&mut staged, &mut update).unwrap();
    composed.settle(staged);
    assert_eq!(shown(&composed.history), ["msg_0=a", "b=b", "msg_2=c"]);
    assert_eq!(apart.history, composed.history);
    assert_eq!(made(&items), composed.history);
}

#[tokio::test(start_paused = true)]
async fn a_stage_works_on_such_a_history_and_its_messages_get_ids() {
    let seat = Seat { history: Trip::HISTORY, draft: Trip::DRAFT, book: Trip::BOOK };
    let graph = Graph::<Trip>::builder("trip")
        .cluster("explore", "agent", |stage| {
            let gate = GateNode::new("explore", seat, GatePolicy::new(), Validators::new());
            stage.node("agent", AgentNode::new("explore", seat)).node("gate", gate).edge("agent", "gate")
        })
        .edge(START, "agent")
        .compile()
        .unwrap();
    let model: Arc<dyn ChatModel> = Arc::new(ScriptedModel::new([Turn::text("Bern.")]));
    let end = graph.runner().provide_arc(model).thread("guest-7").run(seat.user("Where to?")).await.unwrap();
    assert_eq!(shown(&end.state.history), ["msg_0=Where to?", "msg_1=Bern."]);
}

#[test]
fn a_removal_in_a_history_without_the_reducer_is_found_and_says_what_to_use() {
    let history = [Message::user("hi"), Message::removal("m1"), Message::removal_of_all()];
    let error = check_history(&history).unwrap_err();
    assert_eq!(
        error.problems,
        [HistoryProblem::StrayRemoval { message: 1 }, HistoryProblem::StrayRemoval { message: 2 }],
    );
    let text = error.problems[0].to_string();
    let expected = "message 1 is a removal that nobody carried out; declare the history with \
                    `#[state(with = graph_nodes::message::add_messages)]`";
    assert_eq!(text, expected);
    // It doesn't part a call from its answer.
    let calls = Message::assistant("").with_calls([ToolCall::from_text("c1", "f", "{}")]);
    let error = check_history(&[calls, Message::removal("x"), Message::tool("c1", "ok")]).unwrap_err();
    assert_eq!(error.problems, [HistoryProblem::StrayRemoval { message: 1 }]);
}

#[tokio::test]
async fn a_model_is_never_sent_a_removal() {
    let request = Request::new([Message::user("hi"), Message::removal("m1")]);
    let never = FnModel::new("never", |_| -> Result<Response, ModelError> { panic!("asked") });
    let scripted = ScriptedModel::new([Turn::text("unused")]);
    for error in [never.complete(request.clone()).await.unwrap_err(), scripted.complete(request).await.unwrap_err()] {
        assert!(matches!(error, ModelError::StrayRemoval { message: 1 }) && !error.is_retryable());
        assert_eq!(
            error.to_string(),
            "message 1 of the request is a removal that nobody carried out; declare the history with \
             `#[state(with = graph_nodes::message::add_messages)]`",
        );
    }
}

/// What each item means, with a plain list and one pass per item.
fn naive(history: &[Message], items: &[Message]) -> Option<Vec<Message>> {
    let mut slots: Vec<(Message, bool)> = history.iter().map(|message| (message.clone(), true)).collect();
    let cleared = items.iter().rposition(|item| *item == Message::removal_of_all());
    let later = &items[cleared.map_or(0, |at| at + 1)..];
    let number = |message: &Message| message.id.as_deref()?.strip_prefix("msg_")?.parse::<u64>().ok();
    let kept = |message: &Message| serde_json::to_value(message).unwrap()["next_id"].as_u64();
    let numbers = history.iter().chain(later).filter_map(number).map(|n| n + 1);
    let floor = numbers.chain(history.iter().filter_map(kept)).max().unwrap_or(0);
    if cleared.is_some() {
        slots.clear();
    }
    let mut next = floor;
    for item in later {
        let target = match item.role().to_string().as_str() {
            "removal" => serde_json::to_value(item).unwrap()["removes"].as_str().map(str::to_owned),
            _ => item.id.clone(),
        };
        let at = target.as_ref().and_then(|id| slots.iter().rposition(|(message, _)| message.id.as_ref() == Some(id)));
        match (item.is_removal(), target, at) {
            (true, _, None) => return None,
            (true, _, Some(at)) => slots[at].1 = false,
            (false, None, _) => {
                next = next.max(slots.len() as u64);
                slots.push((item.clone().with_id(format!("msg_{next}")), true));
                next += 1;
            }
            (false, Some(_), Some(at)) => slots[at] = (item.clone(), true),
            (false, Some(_), None) => slots.push((item.clone(), true)),
        }
    }
    Some(slots.into_iter().filter(|slot| slot.1).map(|slot| slot.0).collect())
}

fn item() -> impl Strategy<Value = Message> {
    let id = || prop::sample::select(&["a", "b", "c", "msg_0", "msg_1", "msg_2", "msg_4", "msg_9"][..]);
    prop_oneof![
        4 => "[a-z]".prop_map(Message::user),
        4 => ("[a-z]", id()).prop_map(|(text, id)| Message::user(text).with_id(id)),
        2 => id().prop_map(Message::removal),
        1 => Just(Message::removal_of_all()),
    ]
}

proptest! {
    #[test]
    fn every_mixture_of_writes_means_what_its_items_mean(
        writes in prop::collection::vec(prop::collection::vec(item(), 0..5), 0..12),
    ) {
        let mut history = Log::new();
        for items in &writes {
            let before: Vec<Message> = history.iter().cloned().collect();
            match (write(&history, items), naive(&before, items)) {
                (Ok(after), Some(expected)) => {
                    prop_assert_eq!(after.iter().cloned().collect::<Vec<_>>(), expected);
                    let mut ids: Vec<_> = after.iter().map(|message| message.id.clone().unwrap()).collect();
                    ids.sort();
                    ids.dedup();
                    prop_assert_eq!(ids.len(), after.len());
                    history = after;
                }
                (Err(_), None) => {}
                (got, expected) => prop_assert!(false, "{:?} and {:?}", got, expected),
            }
        }
    }
}
