//! Which calls of one response are executed.

use graph_nodes::model::Turn;
use graph_nodes::stage::{SeveralCalls, ToolsNode};
use graph_nodes::tool::ToolReply;

use crate::office::{Log, noted, simple};
use crate::support::{Stage, Trip, calls, fixed, transcript};

fn dropped(id: u32, chosen: &str) -> String {
    format!(
        "tool {id} failed: not executed: one call of a response is executed here, and this time it was `{chosen}`; \
         call it again if it is still needed"
    )
}

fn stage(run: fn(ToolsNode<Trip>) -> ToolsNode<Trip>, log: &Log) -> Stage {
    Stage { run, ..Stage::tools(["a", "b", "c"].map(|name| noted(name, log))) }
}

fn turns() -> [Turn; 2] {
    [calls([("1", "a"), ("2", "b"), ("3", "c")]), Turn::text("done")]
}

#[tokio::test(start_paused = true)]
async fn the_first_call_only_and_the_others_are_told_so() {
    let log = Log::default();
    let ran = stage(|run| run.several(SeveralCalls::First), &log).turn(turns()).await;
    assert_eq!(log.lines(), ["a 1"]);
    assert_eq!(transcript(ran.state())[2..5], ["tool 1: one a".to_owned(), dropped(2, "a"), dropped(3, "a")]);
}

#[tokio::test(start_paused = true)]
async fn a_list_of_priorities_chooses_the_call() {
    let log = Log::default();
    let ran = stage(|run| run.several(SeveralCalls::priority(["x", "c", "b"])), &log).turn(turns()).await;
    assert_eq!(log.lines(), ["c 3"]);
    assert_eq!(transcript(ran.state())[2..5], [dropped(1, "c"), dropped(2, "c"), "tool 3: one c".to_owned()]);

    let log = Log::default();
    stage(|run| run.several(SeveralCalls::priority(["x"])), &log).turn(turns()).await;
    assert_eq!(log.lines(), ["a 1"]);
}

#[tokio::test(start_paused = true)]
async fn a_group_sees_only_the_calls_that_are_left() {
    let log = Log::default();
    let stage = Stage { run: |run| run.several(SeveralCalls::First), ..simple(&log) };
    stage.turn([calls([("1", "weather"), ("2", "forecast")]), Turn::text("done")]).await;
    assert_eq!(log.lines(), ["weather 1"]);
}

#[tokio::test(start_paused = true)]
async fn the_end_of_the_conversation_may_come_first() {
    let end = fixed("end", || Ok(ToolReply::text("ended").finish("Bye.")));
    let log = Log::default();
    let stage =
        Stage { run: |run| run.several(SeveralCalls::priority(["end"])), ..Stage::tools([noted("a", &log), end]) };
    let ran = stage.turn([calls([("1", "a"), ("2", "end")])]).await;
    assert_eq!((ran.reply(), log.lines()), (Some("Bye."), Vec::new()));
    assert_eq!(transcript(ran.state())[2..4], [dropped(1, "end"), "tool 2: ended".to_owned()]);
}
