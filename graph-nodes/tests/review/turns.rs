//! Guards and repeats over failures, and replies at the edges of a round.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use graph_nodes::flow::Stage;
use graph_nodes::message::{CallStatus, Message, check_history};
use graph_nodes::model::Turn;
use graph_nodes::stage::{Guards, SeveralCalls};
use graph_nodes::tool::{GroupReply, ToolBox, ToolError, ToolReply, group, tool};

use crate::support::{NoArgs, Trip, calls, flow, replies, talk};

fn answers(trip: &Trip) -> Vec<(String, CallStatus)> {
    trip.history.iter().filter_map(|message| Some((message.text(), message.status()?))).collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_that_failed_runs_again_and_one_that_then_succeeded_does_not() {
    let runs = Arc::new(AtomicU32::new(0));
    let counted = runs.clone();
    let shaky = tool::<Trip, NoArgs>("shaky", "Fails first.", move |_, _| {
        let run = counted.fetch_add(1, Ordering::Relaxed);
        async move { if run == 0 { Err(ToolError::new("down")) } else { Ok(ToolReply::text("up")) } }
    });
    let graph = flow([shaky]).stage(Stage::new("explore").tools(["shaky"]).guards(Guards::all())).build().unwrap();
    let turns = || [calls(["shaky"]), calls(["shaky"]), calls(["shaky"]), Turn::text("ok")];
    let talk = talk(&graph, turns().into_iter().chain([calls(["shaky"]), Turn::text("ok")]));
    let end = talk.say("hi").await;
    assert_eq!(runs.load(Ordering::Relaxed), 2);
    let statuses: Vec<CallStatus> = answers(&end.state).into_iter().map(|(_, status)| status).collect();
    assert_eq!(statuses, [CallStatus::Error, CallStatus::Ok, CallStatus::Ok]);
    // The next turn knows nothing of it.
    talk.say("again").await;
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

#[tokio::test(start_paused = true)]
async fn a_breaker_of_one_turn_is_closed_in_the_next() {
    let broken =
        tool::<Trip, NoArgs>("broken", "Fails.", |_, _| async move { Err::<ToolReply<Trip>, _>("down".into()) });
    let fine = replies("fine", || ToolReply::text("ok"));
    let guards = Guards::new().with_breaker(NonZeroU32::MIN);
    let graph =
        flow([broken, fine]).stage(Stage::new("explore").tools(["broken", "fine"]).guards(guards)).build().unwrap();
    let turns = [calls(["broken"]), calls(["broken"]), Turn::text("1"), calls(["broken"]), Turn::text("2")];
    let talk = talk(&graph, turns);
    let end = talk.say("hi").await;
    let texts: Vec<String> = answers(&end.state).into_iter().map(|(text, _)| text).collect();
    let open = "not executed: `broken` failed once, so it is not called again in this turn; go on without it";
    assert_eq!(texts, ["down", open]);
    let end = talk.say("again").await;
    assert_eq!(answers(&end.state)[2].0, "down");
}

#[tokio::test(start_paused = true)]
async fn one_call_of_several_may_be_a_group_of_its_own_and_every_call_is_answered() {
    let handler =
        group::<Trip>(|_| async move { Ok(GroupReply::text("group").message(Message::user("note")).direct("said")) });
    let tools = ToolBox::builder()
        .tool(replies("a", || ToolReply::text("alone")))
        .tool(replies("b", || ToolReply::text("alone")))
        .group(["b"], handler)
        .build()
        .unwrap();
    for max in [0, 1, 2] {
        let explore = Stage::new("explore")
            .tools(["a", "b"])
            .several(SeveralCalls::priority(["b", "a"]))
            .run(move |run| run.max_calls(max));
        let graph = flow([]).tools(tools.clone()).stage(explore).build().unwrap();
        let end = talk(&graph, [calls(["a", "b", "zzz"]), Turn::text("ok")]).say("hi").await;
        assert_eq!(check_history(end.state.history.iter()), Ok(()), "{max}");
        let texts: Vec<String> = answers(&end.state).into_iter().map(|(text, _)| text).collect();
        assert_eq!(texts.len(), 3);
        assert_eq!(texts[1] == "group", max > 0, "{texts:?}");
        let reply = if max > 0 { "said" } else { "ok" };
        assert_eq!(end.reply_as::<String>().unwrap().as_deref(), Some(reply));
    }
}

#[tokio::test(start_paused = true)]
async fn a_finish_in_a_concurrent_batch_beats_an_earlier_go_and_its_prompt_is_gone() {
    let go = replies("go", || ToolReply::text("moved").prompt("Never.").go("present")).concurrent();
    let end = replies("end", || ToolReply::text("ended").finish(serde_json::json!({"bye": 1})).content_type("x/y"))
        .concurrent();
    let graph = flow([go, end])
        .stage(Stage::new("explore").tools(["go", "end"]).leads_to(["present"]))
        .stage(Stage::new("present"))
        .build()
        .unwrap();
    let end = talk(&graph, [calls(["go", "end", "go"])]).say("hi").await;
    assert_eq!(check_history(end.state.history.iter()), Ok(()));
    assert!(end.state.book.prompts.is_empty());
    assert_eq!(answers(&end.state).len(), 3);
    assert_eq!(end.state.history.last().unwrap().text(), r#"{"bye":1}"#);
}
