//! Replies and responses that would break the history.

use graph_engine::Log;
use graph_nodes::flow::Stage;
use graph_nodes::message::{CallStatus, Message, ToolCall, add_messages, check_history};
use graph_nodes::model::{FnModel, Response, Turn};
use graph_nodes::tool::{GroupReply, ToolBox, ToolReply, group};

use crate::support::{Trip, calls, flow, replies, seat, talk};

fn statuses<'a>(history: impl IntoIterator<Item = &'a Message>) -> Vec<CallStatus> {
    history.into_iter().filter_map(Message::status).collect()
}

#[tokio::test(start_paused = true)]
async fn a_reply_removes_no_message() {
    let cut = replies("cut", || ToolReply::text("done").message(Message::removal("msg_7")));
    let all = replies("all", || ToolReply::text("done").message(Message::removal_of_all()));
    let graph = flow([cut, all]).stage(Stage::new("explore").tools(["cut", "all"])).build().unwrap();
    let end = talk(&graph, [calls(["cut", "all"]), Turn::text("ok")]).say("hi").await;
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    assert_eq!(statuses(end.state.history.iter()), [CallStatus::Error, CallStatus::Error]);
}

#[tokio::test(start_paused = true)]
async fn a_reply_replaces_no_message_that_calls_or_answers() {
    for id in ["msg_1", "msg_2"] {
        let say = replies("say", || ToolReply::text("done"));
        let put = match id {
            "msg_1" => replies("put", || ToolReply::text("put").message(Message::user("new").with_id("msg_1"))),
            _ => replies("put", || ToolReply::text("put").message(Message::user("new").with_id("msg_2"))),
        };
        let graph = flow([say, put]).stage(Stage::new("explore").tools(["say", "put"])).build().unwrap();
        // msg_0 user, msg_1 the call, msg_2 its answer.
        let talk = talk(&graph, [calls(["say"]), calls(["put"]), Turn::text("ok")]);
        let end = talk.say("hi").await;
        assert_eq!(check_history(end.state.history.iter()), Ok(()), "{id}");
        assert_eq!(statuses(end.state.history.iter()), [CallStatus::Ok, CallStatus::Error], "{id}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_reply_may_replace_a_message_of_a_person() {
    let put = replies("put", || ToolReply::text("put").message(Message::user("new").with_id("msg_0")));
    let graph = flow([put]).stage(Stage::new("explore").tools(["put"])).build().unwrap();
    let end = talk(&graph, [calls(["put"]), Turn::text("ok")]).say("hi").await;
    let texts: Vec<String> = end.state.history.iter().map(Message::text).collect();
    assert_eq!(texts, ["new", "", "put", "ok"]);
}

#[tokio::test(start_paused = true)]
async fn calls_with_blank_ids_are_answered_under_ids_of_their_own() {
    for ids in [["", ""], [" ", "c1"]] {
        let say = replies("say", || ToolReply::text("done"));
        let model = FnModel::new("plain", move |request| {
            Ok(match request.messages.iter().any(|message| message.call_id().is_some()) {
                true => Response::from_text("ok"),
                false => Response::from_calls(ids.map(|id| ToolCall::from_text(id, "say", "{}"))),
            })
        });
        let graph = flow([say])
            .stage(Stage::new("explore").tools(["say"]).agent(move |agent| agent.with_model(model.clone())))
            .build()
            .unwrap();
        let end = talk(&graph, []).thread.run(seat().user("hi")).await.unwrap();
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
        assert_eq!(statuses(end.state.history.iter()), [CallStatus::Ok, CallStatus::Ok]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_direct_reply_after_a_go_is_answered_and_not_said() {
    let go = replies("go", || ToolReply::text("moved").go("present"));
    let direct = replies("direct", || ToolReply::text("told").direct("bye").message(Message::user("note")));
    let graph = flow([go, direct])
        .stage(Stage::new("explore").tools(["go", "direct"]).leads_to(["present"]))
        .stage(Stage::new("present"))
        .build()
        .unwrap();
    let end = talk(&graph, [calls(["go", "direct"]), Turn::text("Here.")]).say("hi").await;
    assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some("Here."));
    let texts: Vec<String> = end.state.history.iter().map(Message::text).collect();
    assert_eq!(texts, ["hi", "", "moved", "told", "note", "Here."]);
    assert_eq!(end.state.book.conflicts.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_reply_of_a_group_removes_and_replaces_nothing_either() {
    for message in [Message::removal("msg_0"), Message::user("new").with_id("msg_1")] {
        let handler = group::<Trip>(move |_| {
            let message = message.clone();
            async move { Ok(GroupReply::text("both").message(message)) }
        });
        let say = replies("say", || ToolReply::text("done"));
        let put = replies("put", || ToolReply::text("alone"));
        let tools = ToolBox::builder().tool(say).tool(put).group(["put"], handler).build().unwrap();
        let graph = flow([]).tools(tools).stage(Stage::new("explore").tools(["say", "put"])).build().unwrap();
        let end = talk(&graph, [calls(["say"]), calls(["put"]), Turn::text("ok")]).say("hi").await;
        assert_eq!(check_history(end.state.history.iter()), Ok(()));
        assert_eq!(statuses(end.state.history.iter()), [CallStatus::Ok, CallStatus::Error]);
    }
}

#[tokio::test(start_paused = true)]
async fn the_handler_of_a_group_sees_the_ids_that_the_history_gets() {
    let handler = group::<Trip>(|calls| async move {
        let ids: Vec<String> = calls.ids().map(str::to_owned).collect();
        Ok(ids.iter().fold(GroupReply::text("shared"), |reply, id| reply.answer(id, format!("for {id}"))))
    });
    let put = replies("put", || ToolReply::text("alone"));
    let tools = ToolBox::builder().tool(put).group(["put"], handler).build().unwrap();
    let graph = flow([]).tools(tools).stage(Stage::new("explore").tools(["put"])).build().unwrap();
    // The same ids in both rounds, and twice in each.
    let twice = || Turn::calls(["c", "c"].map(|id| ToolCall::from_text(id, "put", "{}")));
    let end = talk(&graph, [twice(), twice(), Turn::text("ok")]).say("hi").await;
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    for message in end.state.history.iter() {
        assert!(message.call_id().is_none_or(|id| message.text() == format!("for {id}")), "{message:?}");
    }
    assert_eq!(statuses(end.state.history.iter()).len(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_id_with_the_largest_number_is_somebody_elses() {
    for number in [u64::MAX, u64::MAX - 1, u64::MAX - 2, 1 << 62, (1 << 62) - 1, (1 << 62) - 2] {
        let id = format!("msg_{number}");
        let mut history = add_messages(&Log::new(), Log::from([Message::user("a").with_id(&*id)])).unwrap();
        for _ in 0..3 {
            history = add_messages(&history, Log::from([Message::user("b"), Message::user("c")])).unwrap();
            let edit = [Message::user("d"), Message::user("e").with_id("own"), Message::user("f")];
            history = add_messages(&history, Log::from(edit)).unwrap();
        }
        let ids: std::collections::BTreeSet<_> = history.iter().map(|message| message.id.clone().unwrap()).collect();
        assert_eq!(ids.len(), history.len());
    }
}
