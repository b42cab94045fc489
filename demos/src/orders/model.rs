//! The offline model: rules that know the request and nothing else.

use crate::orders::tools::{Latest, LatestArgs};
use crate::orders::words::{Question, question, report};
use graph_nodes::batch::BatchReport;
use graph_nodes::message::{CallStatus, Message, Role, ToolCall};
use graph_nodes::model::{FnModel, Request, Response};
use serde_json::json;

/// The rules:
///
/// | what came last | what the model does |
/// | --- | --- |
/// | a question about the latest orders | calls `latest_orders` |
/// | a question with order numbers | calls `order_status` with all of them, as they were written |
/// | ids from `latest_orders` | calls `order_status` with all of them |
/// | a report with deferred ids | calls `order_status` with exactly these |
/// | a report without | says what is in all reports of this question |
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, Request};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let request = Request::new([Message::user("Which of my last twelve orders have shipped?")]);
/// let response = demos::orders::model::support().complete(request).await.unwrap();
/// assert_eq!(response.calls[0].name, "latest_orders");
/// # });
/// ```
#[must_use]
pub fn support() -> FnModel {
    FnModel::new("offline-support", |request: Request| Ok(answer(&request)))
}

fn answer(request: &Request) -> Response {
    let messages = &request.messages;
    let Some(asked) = messages.iter().rposition(|message| message.role() == Role::User) else {
        return Response::from_text(HELP);
    };
    let round = messages.iter().map(|message| message.calls().len()).sum::<usize>() + 1;
    let call = |tool: &str, arguments| Response::from_calls([ToolCall::new(format!("call_{round}"), tool, &arguments)]);
    let status = |ids: &[String]| call("order_status", json!({"ids": ids}));

    let answers: Vec<&Message> = messages[asked + 1..].iter().filter(|message| message.call_id().is_some()).collect();
    let Some(last) = answers.last() else {
        return match question(&messages[asked].text()) {
            Question::Latest(count) => call("latest_orders", json!(LatestArgs { count })),
            Question::Orders(ids) => status(&ids),
            Question::Other => Response::from_text(HELP),
        };
    };
    if let Ok(Latest { orders }) = serde_json::from_str(&last.text()) {
        return status(&orders);
    }
    let reports: Vec<BatchReport> =
        answers.iter().filter_map(|message| serde_json::from_str(&message.text()).ok()).collect();
    match reports.last() {
        Some(newest) if !newest.deferred.is_empty() && last.status() == Some(CallStatus::Ok) => {
            status(&newest.deferred)
        }
        Some(_) => Response::from_text(report(&reports)),
        None => Response::from_text(format!("I am sorry, that did not work: {}", last.text())),
    }
}

const HELP: &str = "I know where orders are. Ask about your latest orders, or give me their numbers.";
