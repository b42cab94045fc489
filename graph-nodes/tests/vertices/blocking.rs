//! Tools whose work blocks its thread.

use std::sync::{Arc, Barrier};

use graph_nodes::model::Turn;
use graph_nodes::tool::{FnTool, ToolReply, tool};

use crate::support::{NoArgs, Stage, Trip, calls, transcript};

/// A tool that blocks its thread until as many of its calls run as the barrier waits for.
fn meets(name: &'static str, barrier: &Arc<Barrier>) -> FnTool<Trip> {
    let barrier = barrier.clone();
    tool::<Trip, NoArgs>(name, "Waits.", move |_, call| {
        let barrier = barrier.clone();
        async move {
            call.blocking(move || barrier.wait()).await?;
            Ok(ToolReply::text("met"))
        }
    })
}

#[tokio::test]
async fn safe_tools_that_block_run_beside_each_other() {
    // Were one awaited before the other begins, the first one would wait for ever.
    let barrier = Arc::new(Barrier::new(2));
    let tools = ["a", "b"].map(|name| meets(name, &barrier).concurrent());
    let ran = Stage::tools(tools).turn([calls([("1", "a"), ("2", "b")]), Turn::text("done")]).await;
    assert_eq!(transcript(ran.state())[2..], ["tool 1: met", "tool 2: met", "assistant: done"]);
}

#[tokio::test]
async fn work_that_panics_is_answered_as_a_handler_that_panicked() {
    let broken = tool::<Trip, NoArgs>("a", "Breaks.", |_, call| async move {
        call.blocking(|| panic!("no paper")).await?;
        Ok("never".into())
    });
    let ran = Stage::tools([broken]).turn([calls([("1", "a")]), Turn::text("done")]).await;
    let text = "tool 1 failed: the tool `a` failed because of a defect; don't call it again in the same way";
    assert_eq!(transcript(ran.state())[2], text);
}
