//! What the model is told: servers turn the schema into a grammar, and the model never sees it.

use std::fmt::Write;

use graph_nodes::model::ToolSpec;

use super::Reply;

/// How to answer, and the tools.
pub(crate) fn instructions(tools: &[&ToolSpec], reply: Reply<'_>) -> String {
    let mut text = "Answer with one JSON object and nothing else.\n".to_owned();
    text.push_str("To call a tool, write {\"name\": its name, \"arguments\": its arguments}.\n");
    // Writing to a text can't fail.
    let _ = match reply {
        Reply::None => Ok(()),
        Reply::Text => writeln!(text, "To answer in words, write {{\"reply\": your text}}."),
        Reply::Value(schema) => writeln!(text, "To answer, write {{\"reply\": a value of the schema {schema}}}."),
    };
    text.push_str("The tools:");
    for tool in tools {
        let _ = write!(text, "\n- {}", tool.name);
        if !tool.description.is_empty() {
            let _ = write!(text, ": {}", tool.description);
        }
        let _ = write!(text, " Arguments: {}", tool.parameters);
    }
    text
}
