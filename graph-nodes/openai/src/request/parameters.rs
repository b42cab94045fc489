//! Which parameters may be passed on.

use graph_nodes::model::{ModelError, Request};

/// Parameters that the adapter writes itself, and where they come from.
const OWN: &[(&str, &str)] = &[
    ("messages", "it comes from the request's messages"),
    ("model", "use `Request::with_model`"),
    ("stream", "use `OpenAi::streaming`"),
    ("stream_options", "use `OpenAi::stream_usage`"),
    ("tools", "use `Request::with_tools`"),
    ("tool_choice", "use `Request::with_tool_choice`"),
    ("functions", "use `Request::with_tools`"),
    ("function_call", "use `Request::with_tool_choice`"),
    ("n", "one answer is asked for"),
];

/// Refuses a parameter that would overwrite what the request says.
pub(super) fn check_parameters(request: &Request, has_format: bool) -> Result<(), ModelError> {
    for (name, instead) in OWN {
        if request.parameters.contains_key(*name) {
            return Err(ModelError::unsendable(format!("the parameter `{name}` can't be set: {instead}")));
        }
    }
    if has_format && request.parameters.contains_key("response_format") {
        return Err(ModelError::unsendable(
            "the parameter `response_format` can't be set beside a response schema, or with `ToolMode::Schema`",
        ));
    }
    Ok(())
}
