//! Every call is answered, in order, in the update that brings it into the history.

use std::sync::atomic::Ordering;

use graph_engine::{EventKind, Move};
use graph_nodes::message::{CallStatus, Message, Usage};
use graph_nodes::model::{ScriptedModel, Turn};
use graph_nodes::stage::{StageError, StageEvent};
use graph_nodes::tool::ToolReply;

use crate::support::{Stage, call, calls, counted, fixed, say, transcript, watch};

fn three() -> Stage {
    Stage::tools([
        fixed("a", || Ok("A".into())),
        fixed("b", || Err("no such hotel".into())),
        fixed("c", || Ok(ToolReply::json(serde_json::json!({"rooms": 2})))),
    ])
}

#[tokio::test(start_paused = true)]
async fn m1_m2_n_calls_are_n_answers_in_request_order_and_a_failure_is_marked() {
    let ran = three().turn([calls([("1", "c"), ("2", "b"), ("3", "a")]), Turn::text("done")]).await;
    assert_eq!(
        transcript(ran.state()),
        [
            "user: hi",
            "assistant calls 1 2 3: ",
            "tool 1: {\"rooms\":2}",
            "tool 2 failed: no such hotel",
            "tool 3: A",
            "assistant: done",
        ],
    );
    assert_eq!((ran.reply(), ran.asked()), (Some("done"), 2));
    assert_eq!(ran.model.requests()[1].messages[1..], ran.state().history.iter().take(5).cloned().collect::<Vec<_>>());
    assert_eq!(ran.state().draft, None);
}

#[tokio::test(start_paused = true)]
async fn no_step_holds_an_unanswered_call() {
    let model = ScriptedModel::new([calls([("1", "a"), ("2", "b")]), Turn::text("done")]);
    let mut turn = say(&three().runner(&model).thread("t"));
    let mut steps = turn.reader(graph_engine::StreamOptions::default().modes([graph_engine::Mode::State]));
    turn.await.unwrap();
    let mut lengths = Vec::new();
    while let Some(event) = futures_util::StreamExt::next(&mut steps).await {
        if let EventKind::StepFinished { state: Some(state), .. } = event.kind {
            transcript(&state);
            lengths.push(state.history.len());
        }
    }
    // agent, gate, tools, agent, gate
    assert_eq!(lengths, [1, 1, 4, 4, 5]);
}

#[tokio::test(start_paused = true)]
async fn the_assistant_message_keeps_text_and_usage_beside_the_calls() {
    let ran = three().turn([Turn::text("Looking.").with_call(call("1", "a")), Turn::text("done")]).await;
    let expected = Message::assistant("Looking.").with_calls([call("1", "a")]).with_usage(Usage::new(100, 10));
    assert_eq!(ran.state().history.get(1), Some(&expected));
    assert_eq!(ran.tokens(), ["Looking.", "done"]);
}

#[tokio::test(start_paused = true)]
async fn m3_cancelled_in_the_middle_nothing_enters_the_history_and_the_next_turn_is_clean() {
    let slow = graph_nodes::tool::tool::<_, crate::support::NoArgs>("slow", "Waits.", |_, _| async {
        tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        Ok("late".into())
    });
    let (quick, ran) = counted("quick");
    let model = ScriptedModel::new([calls([("1", "quick"), ("2", "slow")]), Turn::text("fresh")]);
    let runner = Stage::tools([quick, slow]).runner(&model).store(graph_engine::MemoryStore::new());
    let thread = runner.thread("t");
    let cancelled = say(&thread).cancel_on(tokio::time::sleep(std::time::Duration::from_secs(1))).await.unwrap();
    assert_eq!(cancelled.status, graph_engine::Status::Cancelled);
    assert_eq!((transcript(&cancelled.state), ran.load(Ordering::Relaxed)), (vec!["user: hi".to_owned()], 1));

    thread.abandon().await.unwrap();
    let end = say(&thread).await.unwrap();
    assert_eq!(transcript(&end.state), ["user: hi", "user: hi", "assistant: fresh"]);
    assert_eq!((ran.load(Ordering::Relaxed), &end.state.draft), (1, &None));
    // The cut-off response had been accepted and paid for.
    assert_eq!(end.state.book.totals("explore").accepted, Usage::new(200, 20));
}

#[tokio::test(start_paused = true)]
async fn m5_a_history_that_breaks_the_rules_is_refused_before_it_is_sent() {
    let model = ScriptedModel::new([Turn::text("never")]);
    let thread = Stage::default().runner(&model).thread("t");
    let asks = Message::assistant("").with_calls([call("1", "a")]);
    let answer = Message::tool("1", "A");
    let broken = [asks.clone(), answer.clone(), asks, answer];
    let update = crate::support::Trip::update().history(broken);
    let (end, _) = watch(thread.run(update)).await;
    let error = end.unwrap_err();
    assert_eq!(
        crate::support::stage_error(&error).to_string(),
        "stage `explore`: the history can't be sent: message 2 uses the call id `1` of message 0 again; \
         give each call its own id",
    );
    assert_eq!(model.requests().len(), 0);
}

#[tokio::test(start_paused = true)]
async fn m6_a_direct_reply_answers_all_calls() {
    let tools = [fixed("a", || Ok(ToolReply::text("shown").direct("Two hotels."))), fixed("b", || Ok("B".into()))];
    let ran = Stage::tools(tools).turn([calls([("1", "a"), ("2", "b")])]).await;
    assert_eq!((ran.reply(), ran.asked()), (Some("Two hotels."), 1));
    let expected = ["user: hi", "assistant calls 1 2: ", "tool 1: shown", "tool 2: B", "assistant: Two hotels."];
    assert_eq!(transcript(ran.state()), expected);
}

#[tokio::test(start_paused = true)]
async fn m7_unknown_and_unexposed_tools_are_told_what_is_offered() {
    let (secret, ran_secret) = counted("secret");
    let tools = [fixed("a", || Ok("A".into())), secret, fixed("b", || Ok("B".into()))];
    let stage = Stage { offered: vec!["b", "a"], ..Stage::tools(tools) };
    let turns = [calls([("1", "fly"), ("2", "secret"), ("3", ""), ("4", "a")]), Turn::text("done")];
    let ran = stage.turn(turns).await;
    assert_eq!(
        transcript(ran.state())[2..6],
        [
            "tool 1 failed: there is no tool `fly`; the tools are `b`, `a`",
            "tool 2 failed: the tool `secret` is not offered here; the tools are `b`, `a`",
            "tool 3 failed: the call names no tool; the tools are `b`, `a`",
            "tool 4: A",
        ],
    );
    assert_eq!(ran_secret.load(Ordering::Relaxed), 0);
    let offered: Vec<_> = ran.model.requests()[0].tools.iter().map(|tool| tool.name.clone()).collect();
    assert_eq!(offered, ["b", "a"]);
}

#[tokio::test(start_paused = true)]
async fn an_id_that_the_history_holds_already_is_renamed() {
    let turns = [calls([("call_0", "a")]), calls([("call_0", "a"), ("call_1", "a")]), Turn::text("done")];
    let ran = three().turn(turns).await;
    let expected = ["assistant calls call_0_2 call_1: ", "tool call_0_2: A", "tool call_1: A", "assistant: done"];
    assert_eq!(transcript(ran.state())[3..], expected);
    let renamed = StageEvent::Renamed { stage: "explore".into(), ids: vec![("call_0".into(), "call_0_2".into())] };
    assert!(ran.stage_events().contains(&renamed));
}

#[tokio::test(start_paused = true)]
async fn calls_over_the_limit_are_answered_and_not_executed() {
    let (tool, count) = counted("a");
    let stage = Stage { run: |run| run.max_calls(2), ..Stage::tools([tool]) };
    let ran = stage.turn([calls([("1", "a"), ("2", "a"), ("3", "a")]), Turn::text("done")]).await;
    let expected = [
        "tool 1: done",
        "tool 2: done",
        "tool 3 failed: not executed: the limit is 2 calls in one response; call it again in the next one",
    ];
    assert_eq!((&transcript(ran.state())[2..5], count.load(Ordering::Relaxed)), (&expected.map(str::to_owned)[..], 2));
}

#[tokio::test(start_paused = true)]
async fn a_handler_that_panics_fails_only_its_own_call() {
    let tools = [fixed("broken", || panic!("secret detail")), fixed("a", || Ok("A".into()))];
    let ran = Stage::tools(tools).turn([calls([("1", "broken"), ("2", "a")]), Turn::text("done")]).await;
    assert_eq!(
        transcript(ran.state())[2..4],
        [
            "tool 1 failed: the tool `broken` failed because of a defect; don't call it again in the same way",
            "tool 2: A",
        ],
    );
    let panicked = StageEvent::ToolPanicked {
        stage: "explore".into(),
        tool: "broken".into(),
        call_id: "1".into(),
        message: "secret detail".into(),
    };
    let told: Vec<_> = ran.stage_events();
    assert_eq!(told[1], panicked);
    let answered = |call_id: &str, tool: &str, status| StageEvent::ToolAnswered {
        stage: "explore".into(),
        tool: tool.into(),
        call_id: call_id.into(),
        status,
    };
    assert_eq!(told[2], answered("1", "broken", CallStatus::Error));
    assert_eq!(told[4], answered("2", "a", CallStatus::Ok));
}

#[tokio::test(start_paused = true)]
async fn a_panic_after_an_await_is_caught_too() {
    let broken = graph_nodes::tool::tool::<_, crate::support::NoArgs>("broken", "Panics.", |_, _| async {
        tokio::task::yield_now().await;
        panic!("later")
    });
    let ran = Stage::tools([broken]).turn([calls([("1", "broken")]), Turn::text("done")]).await;
    assert_eq!(ran.reply(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn a_result_that_is_no_json_is_an_error_and_writes_nothing() {
    let bad = std::collections::BTreeMap::from([((1, 2), 3)]);
    let tool =
        fixed("a", move || Ok(ToolReply::json(&bad).update(crate::support::Trip::update().city("Oslo")).direct("hi")));
    let ran = Stage::tools([tool]).turn([calls([("1", "a")]), Turn::text("done")]).await;
    let expected = "tool 1 failed: the tool `a` gave a result that is no JSON (key must be a string); don't call it again in the same way";
    assert_eq!((transcript(ran.state())[2].as_str(), ran.state().city.as_str()), (expected, ""));
    assert_eq!(ran.reply(), Some("done"));
}

#[tokio::test(start_paused = true)]
async fn a_vertex_without_its_draft_says_how_to_put_the_stage_together() {
    let graph = graph_engine::Graph::<crate::support::Trip>::builder("trip")
        .node("tools", graph_nodes::stage::ToolsNode::new("explore", crate::support::seat(), <_>::default(), [""; 0]))
        .edge(graph_engine::START, "tools")
        .compile()
        .unwrap();
    let error = say(&graph.runner().thread("t")).await.unwrap_err();
    assert!(matches!(crate::support::stage_error(&error), StageError::NoDraft { vertex: "tools vertex", .. }));
}

#[tokio::test(start_paused = true)]
async fn a_route_event_shows_where_the_gate_went() {
    let ran = three().turn([calls([("1", "a")]), Turn::text("done")]).await;
    let moves: Vec<_> = ran
        .events
        .iter()
        .filter_map(|event| match event {
            EventKind::NodeFinished { next, .. } => Some(next.clone()),
            _ => None,
        })
        .collect();
    let go = |name: &str| Move::Go(vec![name.into()]);
    assert_eq!(moves, [Move::Declared, go("tools"), go("agent"), Move::Declared, Move::Direct("done".into())]);
}
