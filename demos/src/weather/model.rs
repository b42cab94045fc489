//! The offline model: rules that know the request and nothing else.

use crate::weather::service::Forecast;
use crate::weather::tools::WeatherArgs;
use graph_nodes::message::{Message, Role, ToolCall};
use graph_nodes::model::{FnModel, Request, Response};
use serde_json::json;

/// The rules: a question is one call of `weather` for every city in it, all in one response; answers of the tool are
/// said, one a line.
///
/// ```
/// use graph_nodes::message::Message;
/// use graph_nodes::model::{ChatModel, Request};
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let request = Request::new([Message::user("How is the weather in Bern and Oslo?")]);
/// let response = demos::weather::model::forecaster().complete(request).await.unwrap();
/// assert_eq!(response.calls.len(), 2);
/// # });
/// ```
#[must_use]
pub fn forecaster() -> FnModel {
    FnModel::new("offline-forecaster", |request: Request| Ok(answer(&request)))
}

fn answer(request: &Request) -> Response {
    let messages = &request.messages;
    let Some(asked) = messages.iter().rposition(|message| message.role() == Role::User) else {
        return Response::from_text(HELP);
    };
    let answers: Vec<String> =
        messages[asked + 1..].iter().filter(|message| message.call_id().is_some()).map(said).collect();
    if !answers.is_empty() {
        return Response::from_text(answers.join("\n"));
    }
    let made = messages.iter().map(|message| message.calls().len()).sum::<usize>();
    let calls: Vec<ToolCall> = (made + 1..)
        .zip(cities(&messages[asked].text()))
        .map(|(number, city)| ToolCall::new(format!("call_{number}"), "weather", &json!(WeatherArgs { city })))
        .collect();
    if calls.is_empty() { Response::from_text(HELP) } else { Response::from_calls(calls) }
}

/// The cities of a sentence: what follows the first "in", split at commas and "and".
///
/// ```
/// use demos::weather::model::cities;
///
/// assert_eq!(cities("How is the weather in Bern, Graz and in Oslo?"), ["Bern", "Graz", "Oslo"]);
/// assert!(cities("hello").is_empty());
/// ```
#[must_use]
pub fn cities(said: &str) -> Vec<String> {
    let spaced = said.replace(',', " , ");
    let words = spaced.split_whitespace().map(|word| word.trim_matches(|c: char| "?!.".contains(c)));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let Some(begin) = words.iter().position(|word| word.eq_ignore_ascii_case("in")) else { return Vec::new() };
    let joins = |word: &&str| *word == "," || ["and", "in"].iter().any(|join| word.eq_ignore_ascii_case(join));
    let names = words[begin..].split(joins).map(|name| name.join(" "));
    names.filter(|name| !name.is_empty()).collect()
}

/// An answer of the tool in words.
fn said(answer: &Message) -> String {
    match serde_json::from_str::<Forecast>(&answer.text()) {
        Ok(Forecast { city, celsius, sky }) => format!("{city}: {celsius} °C, {sky}"),
        Err(_) => format!("Sorry, {}.", answer.text()),
    }
}

const HELP: &str = "I know the weather in some cities. Ask about one or several of them.";
