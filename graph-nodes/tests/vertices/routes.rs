//! Where tools lead, and what several of them write.

use std::sync::atomic::Ordering;

use graph_engine::Status;
use graph_nodes::model::Turn;
use graph_nodes::stage::{RouteConflict, RouteOf, StageError, StageEvent};
use graph_nodes::tool::{ToolReply, ToolRoute};

use crate::support::{Stage, Trip, calls, counted, fixed, transcript};

fn route(call_id: &str, tool: &str, route: ToolRoute) -> RouteOf {
    RouteOf { call_id: call_id.into(), tool: tool.into(), route }
}

fn go(name: &str) -> ToolRoute {
    ToolRoute::Go(name.into())
}

#[tokio::test(start_paused = true)]
async fn a_go_leaves_the_stage() {
    let save = fixed("save", || Ok(ToolReply::text("saved").update(Trip::update().city("Oslo")).go("present")));
    let ran = Stage::tools([save]).turn([calls([("1", "save")])]).await;
    assert_eq!((ran.state().city.as_str(), ran.state().notes.as_slice()), ("Oslo", &["present".to_owned()][..]));
    assert_eq!((ran.asked(), ran.end().reply()), (1, None));
}

#[tokio::test(start_paused = true)]
async fn a_stay_asks_the_model_again_and_counts_no_stay() {
    let check = fixed("check", || Ok(ToolReply::text("ignored").stay("the end is before the start")));
    let ran = Stage::tools([check]).turn([calls([("1", "check")]), Turn::text("done")]).await;
    assert_eq!(transcript(ran.state())[2], "tool 1: the end is before the start");
    assert_eq!((ran.asked(), ran.end().report.stays, ran.reply()), (2, 0, Some("done")));
}

#[tokio::test(start_paused = true)]
async fn updates_are_composed_in_request_order() {
    let note = |name: &'static str| {
        fixed(name, move || Ok(ToolReply::text("ok").update(Trip::update().city(name).notes([name]))))
    };
    let failing = fixed("no", || Err("no".into()));
    let turns = [calls([("1", "b"), ("2", "no"), ("3", "a"), ("4", "b")]), Turn::text("done")];
    let ran = Stage::tools([note("a"), note("b"), failing]).turn(turns).await;
    assert_eq!((ran.state().city.as_str(), ran.state().notes.join(",").as_str()), ("b", "b,a,b"));
}

#[tokio::test(start_paused = true)]
async fn two_updates_of_one_reply_are_composed() {
    let twice = fixed("twice", || {
        let reply = ToolReply::text("ok").update(Trip::update().city("Bern").notes(["1"]));
        Ok(reply.update(Trip::update().city("Oslo").notes(["2"])))
    });
    let ran = Stage::tools([twice]).turn([calls([("1", "twice")]), Turn::text("done")]).await;
    assert_eq!((ran.state().city.as_str(), ran.state().notes.join(",").as_str()), ("Oslo", "1,2"));
}

#[tokio::test(start_paused = true)]
async fn finish_beats_an_earlier_go_and_ends_the_thread() {
    let (late, count) = counted("late");
    let tools = [
        fixed("show", || Ok(ToolReply::text("shown").update(Trip::update().city("Oslo")).go("present"))),
        fixed("end", || Ok(ToolReply::text("ended").finish("Goodbye."))),
        late,
    ];
    let ran = Stage::tools(tools).turn([calls([("1", "show"), ("2", "end"), ("3", "late")])]).await;
    assert_eq!((ran.end().status, ran.reply(), ran.asked()), (Status::Completed, Some("Goodbye."), 1));
    assert_eq!(
        transcript(ran.state())[1..],
        [
            "assistant calls 1 2 3: ",
            "tool 1: shown",
            "tool 2: ended",
            "tool 3 failed: not executed: `end` ended the conversation",
            "assistant: Goodbye.",
        ],
    );
    // The update of the tool that lost counts; the node it wanted doesn't run.
    assert_eq!((ran.state().city.as_str(), ran.state().notes.len(), count.load(Ordering::Relaxed)), ("Oslo", 0, 0));
    let conflict = RouteConflict {
        stage: "explore".into(),
        taken: route("2", "end", ToolRoute::Finish("Goodbye.".into())),
        dropped: vec![route("1", "show", go("present"))],
    };
    assert_eq!(ran.state().book.conflicts, std::slice::from_ref(&conflict));
    assert!(ran.stage_events().contains(&StageEvent::RouteConflict(conflict)));
}

#[tokio::test(start_paused = true)]
async fn the_first_go_or_direct_beats_later_ones_and_stays() {
    let tools = || {
        [
            fixed("stay", || Ok(ToolReply::text("").stay("again"))),
            fixed("here", || Ok(ToolReply::text("here").go("present"))),
            fixed("there", || Ok(ToolReply::text("there").go("handoff"))),
            fixed("say", || Ok(ToolReply::text("said").direct("Hello."))),
        ]
    };
    let ran = Stage::tools(tools()).turn([calls([("1", "stay"), ("2", "here"), ("3", "say"), ("4", "there")])]).await;
    assert_eq!((ran.state().notes.join(",").as_str(), ran.end().reply()), ("present", None));
    let dropped = &ran.state().book.conflicts[0].dropped;
    assert_eq!(
        dropped.as_slice(),
        [
            route("1", "stay", ToolRoute::Stay),
            route("3", "say", ToolRoute::Direct("Hello.".into())),
            route("4", "there", go("handoff")),
        ],
    );

    let ran = Stage::tools(tools()).turn([calls([("1", "say"), ("2", "here")])]).await;
    assert_eq!((ran.reply(), ran.state().notes.len()), (Some("Hello."), 0));
}

#[tokio::test(start_paused = true)]
async fn two_tools_that_go_to_one_place_are_no_conflict() {
    let tool = |name| fixed(name, || Ok(ToolReply::text("ok").go("present")));
    let ran = Stage::tools([tool("a"), tool("b")]).turn([calls([("1", "a"), ("2", "b")])]).await;
    assert_eq!((ran.state().notes.len(), ran.state().book.conflicts.len()), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn t13_an_undeclared_target_fails_the_turn_and_applies_nothing() {
    let lost = fixed("lost", || Ok(ToolReply::text("x").update(Trip::update().city("Oslo")).go("nowhere")));
    let ran = Stage::tools([lost]).turn([calls([("1", "lost")])]).await;
    assert_eq!(
        ran.stage_error().to_string(),
        "stage `explore`: the tool `lost` goes to `nowhere`, which is not declared; \
         the targets are `agent`, `present`, `handoff`; add it with `ToolsNode::targets`",
    );
    assert!(matches!(ran.stage_error(), StageError::UnknownTarget { target, .. } if *target == "nowhere"));
}

#[tokio::test(start_paused = true)]
async fn a_reply_of_json_reaches_the_caller_as_it_is_and_the_history_as_text() {
    let tool = fixed("a", || Ok(ToolReply::text("shown").direct(serde_json::json!({"hotels": ["Inn"]}))));
    let ran = Stage::tools([tool]).turn([calls([("1", "a")])]).await;
    assert_eq!(ran.end().reply(), Some(&serde_json::json!({"hotels": ["Inn"]})));
    assert_eq!(transcript(ran.state())[3], "assistant: {\"hotels\":[\"Inn\"]}");
}

#[tokio::test(start_paused = true)]
async fn the_diagram_shows_where_a_stage_can_lead() {
    let graph = Stage::default().graph();
    let edges: Vec<String> =
        graph.topology().edges.iter().map(|edge| format!("{} -> {}", edge.from, edge.to)).collect();
    for edge in ["agent -> gate", "gate -> tools", "gate -> handoff", "gate -> agent", "tools -> agent"] {
        assert!(edges.iter().any(|known| known == edge), "{edge} in {edges:?}");
    }
}
