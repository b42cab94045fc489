//! Tools that write down who was called, and a group of two of them.

use std::sync::{Arc, Mutex};

use graph_nodes::tool::{FnTool, GroupCalls, GroupReply, ToolBox, ToolBoxBuilder, ToolError, ToolReply, group, tool};

use crate::support::{NoArgs, Stage, Trip};

/// Who was called, in order.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Into<String>) {
        self.0.lock().unwrap().push(line.into());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

pub(crate) fn noted(name: &'static str, log: &Log) -> FnTool<Trip> {
    let log = log.clone();
    tool::<Trip, NoArgs>(name, "Notes its calls.", move |_, call| {
        log.note(format!("{name} {}", call.id()));
        async move { Ok(ToolReply::text(format!("one {name}"))) }
    })
}

/// `weather`, `forecast` and `traffic`, each for itself.
pub(crate) fn three(log: &Log) -> ToolBoxBuilder<Trip> {
    ["weather", "forecast", "traffic"].into_iter().fold(ToolBox::builder(), |all, name| all.tool(noted(name, log)))
}

/// The three, and a group of the first two that replies with this.
pub(crate) fn office(
    log: &Log,
    reply: impl Fn(GroupCalls<'static, Trip>) -> Result<GroupReply<Trip>, ToolError> + Send + Sync + 'static,
) -> Stage {
    let noting = log.clone();
    let both = group(move |calls: GroupCalls<'static, Trip>| {
        let ids: Vec<&str> = calls.ids().collect();
        noting.note(format!("group {}", ids.join(" ")));
        let reply = reply(calls);
        async move { reply }
    });
    Stage { tools: three(log).group(["weather", "forecast"], both).build().unwrap(), ..Stage::default() }
}

/// The same with one text for all calls.
pub(crate) fn simple(log: &Log) -> Stage {
    office(log, |calls| Ok(GroupReply::text(format!("all {}", calls.len()))))
}
