//! Which histories may be sent, and what is said about the others.

use graph_nodes::message::HistoryProblem::{
    AnsweredTwice, BlankId, Displaced, DuplicateId, Orphan, OutOfOrder, Unanswered,
};
use graph_nodes::message::{HistoryProblem, Message, ToolCall, check_history};

fn calls(ids: &[&str]) -> Message {
    Message::assistant("").with_calls(ids.iter().map(|id| ToolCall::from_text(*id, "f", "{}")))
}

fn answer(id: &str) -> Message {
    Message::tool(id, "done")
}

fn problems(history: &[Message]) -> Vec<HistoryProblem> {
    check_history(history).map_or_else(|error| error.problems, |()| Vec::new())
}

#[test]
fn m1_n_calls_with_n_answers_in_request_order_are_fine() {
    let history = [
        Message::user("go"),
        calls(&["a", "b", "c"]),
        answer("a"),
        answer("b"),
        answer("c"),
        calls(&["d"]),
        answer("d"),
    ];
    assert_eq!(problems(&history), []);
}

#[test]
fn m5_an_id_used_in_two_turns_is_refused_before_sending() {
    let history = [calls(&["a"]), answer("a"), calls(&["a"]), answer("a")];
    assert_eq!(problems(&history), [DuplicateId { message: 2, call_id: "a".into(), first: 0 }]);
}

#[test]
fn m8_every_problem_is_listed_in_message_order() {
    let history = [
        calls(&["a", "b", "b", " "]),
        answer("b"),
        answer("a"),
        answer("zz"),
        Message::user("and?"),
        answer("b"),
        calls(&["c", "d"]),
        answer("c"),
        answer("c"),
    ];
    assert_eq!(
        problems(&history),
        [
            DuplicateId { message: 0, call_id: "b".into(), first: 0 },
            BlankId { message: 0, tool: "f".into() },
            OutOfOrder { message: 2, call_id: "a".into() },
            Orphan { message: 3, call_id: "zz".into() },
            Displaced { message: 5, call_id: "b".into(), call: 0 },
            Unanswered { message: 6, call_id: "d".into(), tool: "f".into() },
            AnsweredTwice { message: 8, call_id: "c".into() },
        ],
    );
}

#[test]
fn an_answer_before_its_call_is_an_orphan_and_the_call_unanswered() {
    let history = [answer("a"), calls(&["a"])];
    assert_eq!(
        problems(&history),
        [Orphan { message: 0, call_id: "a".into() }, Unanswered { message: 1, call_id: "a".into(), tool: "f".into() },],
    );
}

#[test]
fn an_empty_history_is_fine() {
    assert_eq!(problems(&[]), []);
}

#[test]
fn several_problems_are_told_apart_from_what_to_do() {
    let error = check_history(&[answer("a"), calls(&["b"])]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the history can't be sent: \
         message 0 answers the unknown call `a`; remove it or restore its assistant message, \
         and the call `b` of `f` in message 1 is not answered; add its tool message",
    );
}
