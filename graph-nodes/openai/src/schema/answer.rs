//! An answer that is one JSON object becomes a call or a text.

use graph_nodes::assemble::CallDelta;
use graph_nodes::message::FinishReason;
use graph_nodes::model::Chunk;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::Reply;
use super::reply::ReplyText;

/// What is between the beginning of an answer and the text of its reply, without white space.
const REPLY: &str = "{\"reply\":\"";

/// Turns the chunks of an answer into those of a response. Text is held back until it is known to be a text.
#[derive(Debug)]
pub(crate) struct CallReader {
    /// What is held back.
    held: String,
    state: State,
    /// Whether a reply is a text, so that it may be shown while it arrives; else it is a JSON value.
    shows_replies: bool,
}

#[derive(Debug)]
enum State {
    /// It isn't known what this will be.
    Open,
    /// An object that is no reply of text: read at its end.
    Object,
    /// No JSON object at all: the server or the model does what it likes.
    Text,
    Reply(ReplyText),
}

/// The object.
#[derive(Deserialize)]
struct Answer<'a> {
    name: Option<String>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    reply: Option<&'a RawValue>,
}

impl CallReader {
    /// A reader at the start of an answer.
    pub(crate) fn new(reply: Reply<'_>) -> Self {
        Self { held: String::new(), state: State::Open, shows_replies: !matches!(reply, Reply::Value(_)) }
    }

    /// Takes the next chunk; returns what is known now.
    pub(crate) fn push(&mut self, mut chunk: Chunk) -> Option<Chunk> {
        chunk.text = chunk.text.take().and_then(|text| self.text(&text));
        if let Some(finish) = &mut chunk.finish {
            let End { chunk: end, is_cut } = self.end();
            // What is called may have been written up to the last letter: a cut answer executes no call anyway. A server
            // that ends in the middle of the object doesn't know better, or its grammar doesn't.
            match finish {
                finish if finish.is_cut() => {}
                finish if is_cut => *finish = FinishReason::Length,
                FinishReason::Stop if !end.calls.is_empty() => *finish = FinishReason::ToolCalls,
                _ => {}
            }
            chunk.calls.extend(end.calls);
            chunk.text = join(chunk.text, end.text);
        }
        (chunk != Chunk::new()).then_some(chunk)
    }

    /// What is held back when the answer breaks off, as text.
    pub(crate) fn rest(&mut self) -> Option<Chunk> {
        let mut rest = std::mem::take(&mut self.held);
        if let State::Reply(reply) = &mut self.state {
            rest = reply.rest();
        }
        (!rest.is_empty()).then(|| Chunk::text(rest))
    }

    fn text(&mut self, text: &str) -> Option<String> {
        if let State::Open = self.state {
            self.held.push_str(text);
            self.state = self.kind()?;
            let held = std::mem::take(&mut self.held);
            return self.show(held);
        }
        self.show(text.to_owned())
    }

    fn show(&mut self, text: String) -> Option<String> {
        let shown = match &mut self.state {
            State::Open | State::Object => {
                self.held.push_str(&text);
                return None;
            }
            State::Text => text,
            State::Reply(reply) => reply.push(&text),
        };
        (!shown.is_empty()).then_some(shown)
    }

    /// What the answer is, once its beginning tells; cuts off what stands before the text of a reply.
    fn kind(&mut self) -> Option<State> {
        let mut wanted = REPLY.chars();
        for (at, char) in self.held.char_indices() {
            // White space stands between the parts of JSON; within the key it would be another key.
            let inside = (2..REPLY.len() - 2).contains(&(REPLY.len() - wanted.as_str().len()));
            if char.is_whitespace() && !inside {
                continue;
            }
            let is_first = wanted.as_str().len() == REPLY.len();
            if wanted.next() != Some(char) {
                return Some(if is_first { State::Text } else { State::Object });
            }
            if !self.shows_replies {
                return Some(State::Object);
            }
            if wanted.as_str().is_empty() {
                self.held.drain(..=at);
                return Some(State::Reply(ReplyText::default()));
            }
        }
        None
    }

    fn end(&mut self) -> End {
        let is_half = matches!(&self.state, State::Reply(reply) if !reply.is_over());
        let Some(rest) = self.rest() else { return End { chunk: Chunk::new(), is_cut: is_half } };
        let text = rest.text.as_deref().unwrap_or_default();
        let answer = match serde_json::from_str::<Answer<'_>>(text) {
            Ok(answer) => answer,
            Err(error) if error.is_eof() && text.trim_start().starts_with('{') => {
                return End { chunk: cut(text), is_cut: true };
            }
            Err(_) => return End { chunk: rest, is_cut: is_half },
        };
        let name = answer.name.filter(|name| !name.trim().is_empty());
        let chunk = match (name, answer.arguments, answer.reply) {
            (Some(name), Some(arguments), _) => {
                // Some models write the object into a text.
                let arguments = serde_json::from_str(arguments.get()).unwrap_or_else(|_| arguments.get().to_owned());
                call(name, arguments)
            }
            (_, _, Some(reply)) if self.shows_replies => {
                Chunk::text(serde_json::from_str(reply.get()).unwrap_or_else(|_| reply.get().to_owned()))
            }
            (_, _, Some(reply)) => Chunk::text(reply.get()),
            _ => rest,
        };
        End { chunk, is_cut: false }
    }
}

/// What is held back at the end.
struct End {
    chunk: Chunk,
    /// The JSON text isn't whole.
    is_cut: bool,
}

/// As much as there is of an object whose end is missing: of a call, unless this is the beginning of a reply. A cut call
/// stays one, so that nobody takes its text for an answer.
fn cut(text: &str) -> Chunk {
    let inside = text.trim_start().trim_start_matches('{').trim_start();
    if let Some(reply) = inside.strip_prefix("\"reply\"") {
        let is_empty = reply.trim_start().trim_start_matches(':').trim_start().is_empty();
        return if is_empty { Chunk::new() } else { Chunk::text(text) };
    }
    let Some(name) = value_of("\"name\"", inside) else { return call("", "") };
    let mut read = serde_json::Deserializer::from_str(name).into_iter::<String>();
    let Some(Ok(found)) = read.next() else { return call("", "") };
    let after = name[read.byte_offset()..].trim_start().trim_start_matches(',').trim_start();
    call(found, value_of("\"arguments\"", after).unwrap_or_default())
}

/// The text behind this key, if the text begins with it.
fn value_of<'a>(key: &str, text: &'a str) -> Option<&'a str> {
    text.strip_prefix(key)?.trim_start().strip_prefix(':').map(str::trim_start)
}

fn call(name: impl Into<String>, arguments: impl Into<String>) -> Chunk {
    Chunk::call(CallDelta::new().at(0).id("call_0").name(name).text(arguments))
}

fn join(first: Option<String>, second: Option<String>) -> Option<String> {
    match (first, second) {
        (Some(first), Some(second)) => Some(first + &second),
        (first, second) => first.or(second),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph_nodes::model::Collector;
    use serde_json::Value;

    /// The texts that are shown one by one, and the calls.
    fn read(pieces: &[&str], shows_replies: bool) -> (Vec<String>, Vec<String>, Option<FinishReason>) {
        let reply = if shows_replies { Reply::Text } else { Reply::Value(&Value::Null) };
        let mut reader = CallReader::new(reply);
        let mut collector = Collector::new();
        let mut texts = Vec::new();
        let chunks = pieces.iter().map(|piece| Chunk::text(*piece)).chain([Chunk::finish(FinishReason::Stop)]);
        for chunk in chunks.filter_map(|chunk| reader.push(chunk)).collect::<Vec<_>>() {
            texts.extend(chunk.text.clone());
            collector.push(chunk);
        }
        assert_eq!(reader.rest(), None);
        let response = collector.finish().unwrap();
        let calls = response.calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments.raw()));
        (texts, calls.collect(), response.finish)
    }

    #[test]
    fn a_call_is_held_until_it_is_whole() {
        let pieces = ["{\"na", "me\":\"search\",\"argu", "ments\":{\"city\": \"Bern\"}}"];
        let (texts, calls, finish) = read(&pieces, true);
        assert_eq!((texts.len(), calls), (0, vec![r#"call_0 search {"city": "Bern"}"#.to_owned()]));
        assert_eq!(finish, Some(FinishReason::ToolCalls));
    }

    #[test]
    fn a_reply_is_shown_while_it_arrives() {
        let pieces = ["{", " \"rep", "ly\" : ", "\"Hel", "lo \\", "\"you\\\"", "\"", "}\n"];
        let (texts, calls, finish) = read(&pieces, true);
        assert_eq!((texts, calls.len()), (vec!["Hel".to_owned(), "lo ".to_owned(), "\"you\"".to_owned()], 0));
        assert_eq!(finish, Some(FinishReason::Stop));
    }

    #[test]
    fn a_reply_that_is_a_value_is_its_json_text() {
        let (texts, ..) = read(&["{\"reply\":", " {\"rooms\": 7}}"], false);
        assert_eq!(texts, ["{\"rooms\": 7}"]);
        let (texts, ..) = read(&["{\"reply\": \"two\"}"], false);
        assert_eq!(texts, ["\"two\""]);
    }

    #[test]
    fn what_is_no_object_is_a_text_at_once() {
        let (texts, calls, _) = read(&["\n ", "```json", "{}"], true);
        assert_eq!((texts, calls.len()), (vec!["\n ```json".to_owned(), "{}".to_owned()], 0));
    }

    #[test]
    fn an_object_of_another_form_is_a_text() {
        for text in [
            r#"{"name":"search"}"#,
            r#"{"arguments":{}}"#,
            r#"{"name":" ","arguments":{}}"#,
            r#"{"name":"a"} {"name":"b"}"#,
            "{}",
            " \n",
        ] {
            let (texts, calls, finish) = read(&[text], true);
            assert_eq!((texts.concat().as_str(), calls.len(), finish), (text, 0, Some(FinishReason::Stop)));
        }
    }

    #[test]
    fn repeated_keys_of_arguments_are_kept_for_the_gate() {
        let (_, calls, _) = read(&[r#"{"name":"f","arguments":{"a":1,"a":2}}"#], true);
        assert_eq!(calls, [r#"call_0 f {"a":1,"a":2}"#]);
        let (_, calls, _) = read(&[r#"{"name":"f","arguments":"{\"a\":1}"}"#], true);
        assert_eq!(calls, [r#"call_0 f {"a":1}"#]);
    }

    #[test]
    fn a_cut_answer_stays_cut() {
        let mut reader = CallReader::new(Reply::None);
        let cut = Chunk::text(r#"{"name":"f","arguments":{}}"#).with_finish(FinishReason::Length);
        let chunk = reader.push(cut).unwrap();
        assert_eq!((chunk.calls.len(), chunk.finish), (1, Some(FinishReason::Length)));
    }

    #[test]
    fn an_object_that_does_not_end_is_cut_whatever_the_server_says() {
        for (text, call) in [
            (r#"{"name":"f","arguments":{"a":"#, r#"call_0 f {"a":"#),
            (r#"{ "name" : "f" , "argu"#, "call_0 f "),
            (r#"{"name":"f""#, "call_0 f "),
            (r#"{"name":"se"#, "call_0  "),
            ("{", "call_0  "),
        ] {
            let (texts, calls, finish) = read(&[text], true);
            assert_eq!(
                (texts.concat(), calls, finish),
                (String::new(), vec![call.to_owned()], Some(FinishReason::Length))
            );
        }
        for (text, shows, said) in [
            (r#"{"reply":"half"#, true, "half"),
            (r#"{"reply":"half \u00"#, true, "half \\u00"),
            (r#"{"reply":"#, true, ""),
            (r#"{"reply":{"rooms":"#, false, r#"{"reply":{"rooms":"#),
        ] {
            let (texts, calls, finish) = read(&[text], shows);
            assert_eq!((&*texts.concat(), calls.len(), finish), (said, 0, Some(FinishReason::Length)), "{text}");
        }
        let (texts, _, finish) = read(&[r#"{"reply":"whole""#], true);
        assert_eq!((&*texts.concat(), finish), ("whole", Some(FinishReason::Stop)));
    }

    #[test]
    fn every_cut_gives_the_same_response() {
        for (json, shows) in [
            (r#" {"reply": "Gr\u00fcezi, \"you\" 😀"} "#, true),
            (r#"{"reply":{"a":"ü"}}"#, false),
            (r#"{"name":"f","arguments":{"a":"ü"}}"#, true),
            (r#"{"replies":1}"#, true),
            (r#"{"re ply":"a"}"#, true),
            ("{\"reply\":\"a\\\"b\nc\"}", true),
            (r#"{"reply":"half \u00fc"#, true),
            (r#"{"name":"f","arguments":{"a":"ü"#, true),
        ] {
            let whole = read(&[json], shows);
            for at in (0..json.len()).filter(|at| json.is_char_boundary(*at)) {
                let cut = read(&[&json[..at], &json[at..]], shows);
                assert_eq!(
                    (cut.0.concat(), cut.1, cut.2),
                    (whole.0.concat(), whole.1.clone(), whole.2.clone()),
                    "{json} {at}"
                );
            }
        }
    }
}
