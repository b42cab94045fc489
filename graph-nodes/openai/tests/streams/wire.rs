//! Writes events as servers write them: one meaning, many forms.

use graph_nodes::assemble::{ArgumentsDelta, CallDelta, Random};

/// A JSON text with its characters as they are, or escaped as some libraries do.
pub(crate) fn string(text: &str, random: &mut Random) -> String {
    let style = random.below(3);
    let mut json = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => json.extend(['\\', c]),
            '\n' => json.push_str("\\n"),
            '/' if style == 1 => json.push_str("\\/"),
            _ if c < ' ' || (style == 1 && !c.is_ascii()) || (style == 2 && random.below(4) == 0) => {
                let mut units = [0; 2];
                c.encode_utf16(&mut units).iter().for_each(|unit| json.push_str(&format!("\\u{unit:04x}")));
            }
            _ => json.push(c),
        }
    }
    json + "\""
}

/// An object with its fields in any order, and some white space.
pub(crate) fn object(mut fields: Vec<(&str, String)>, random: &mut Random) -> String {
    for n in (1..fields.len()).rev() {
        fields.swap(n, random.below(n + 1));
    }
    let space = random.pick(&["", "", " "]);
    let fields: Vec<String> =
        fields.into_iter().map(|(name, json)| format!("{space}\"{name}\":{space}{json}")).collect();
    format!("{{{}{space}}}", fields.join(","))
}

/// A field that is absent, as servers leave it out: not there, or null.
pub(crate) fn absent<'a>(name: &'a str, fields: &mut Vec<(&'a str, String)>, random: &mut Random) {
    if random.below(3) == 0 {
        fields.push((name, "null".to_owned()));
    }
}

fn text_field<'a>(name: &'a str, text: Option<&String>, fields: &mut Vec<(&'a str, String)>, random: &mut Random) {
    match text {
        Some(text) => fields.push((name, string(text, random))),
        None => absent(name, fields, random),
    }
}

/// A fragment of a call.
pub(crate) fn call(delta: &CallDelta, random: &mut Random) -> String {
    let mut function = Vec::new();
    text_field("name", delta.name.as_ref(), &mut function, random);
    match &delta.arguments {
        ArgumentsDelta::Absent => {}
        ArgumentsDelta::Null => function.push(("arguments", "null".to_owned())),
        ArgumentsDelta::Text(text) => function.push(("arguments", string(text, random))),
        ArgumentsDelta::Value(value) => function.push(("arguments", value.to_string())),
    }
    let mut fields = Vec::new();
    match delta.index {
        Some(index) => fields.push(("index", index.to_string())),
        None => absent("index", &mut fields, random),
    }
    text_field("id", delta.id.as_ref(), &mut fields, random);
    // Some write it once, some each time, some never (S30).
    if random.below(2) == 0 {
        fields.push(("type", "\"function\"".to_owned()));
    }
    match function.as_slice() {
        [] => absent("function", &mut fields, random),
        _ => fields.push(("function", object(function, random))),
    }
    object(fields, random)
}

/// What an event says.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said<'a> {
    pub(crate) text: Option<&'a str>,
    pub(crate) calls: &'a [CallDelta],
    pub(crate) finish: Option<&'a str>,
    pub(crate) usage: Option<(u64, u64)>,
}

/// The JSON of an event.
pub(crate) fn event(said: &Said<'_>, random: &mut Random) -> String {
    let mut delta = Vec::new();
    match said.text {
        Some(text) => delta.push(("content", string(text, random))),
        None => absent("content", &mut delta, random),
    }
    match said.calls {
        [] => absent("tool_calls", &mut delta, random),
        calls => {
            let calls: Vec<String> = calls.iter().map(|delta| call(delta, random)).collect();
            delta.push(("tool_calls", format!("[{}]", calls.join(","))));
        }
    }
    for name in ["role", "refusal", "function_call", "reasoning_content"] {
        absent(name, &mut delta, random);
    }
    let mut choice = vec![("index", "0".to_owned()), ("delta", object(delta, random))];
    match said.finish {
        Some(word) => choice.push(("finish_reason", format!("\"{word}\""))),
        None => absent("finish_reason", &mut choice, random),
    }
    absent("logprobs", &mut choice, random);
    let says_nothing = said.text.is_none() && said.calls.is_empty() && said.finish.is_none();
    let choices = match says_nothing && said.usage.is_some() {
        true => "[]".to_owned(),
        false => format!("[{}]", object(choice, random)),
    };
    let mut fields = vec![("choices", choices), ("id", "\"x\"".to_owned())];
    match said.usage {
        Some((input, output)) => {
            let tokens = vec![("prompt_tokens", input.to_string()), ("completion_tokens", output.to_string())];
            fields.push(("usage", object(tokens, random)));
        }
        None => absent("usage", &mut fields, random),
    }
    absent("error", &mut fields, random);
    object(fields, random)
}

/// Writes a line. Each server has one kind of line end, and a proxy may mix them.
pub(crate) fn line(text: &[u8], out: &mut Vec<u8>, random: &mut Random) {
    let end = random.pick(&["\n", "\n", "\n", "\r\n", "\r"]);
    // A newline right after a return would belong to the line before.
    let end = if text.is_empty() && end == "\n" && out.ends_with(b"\r") { "\r" } else { end };
    out.extend_from_slice(text);
    out.extend_from_slice(end.as_bytes());
}

/// An event on the wire, perhaps behind a comment or beside fields that mean nothing here.
pub(crate) fn put(json: &str, out: &mut Vec<u8>, random: &mut Random) {
    match random.below(12) {
        0 => {
            line(b": keep-alive", out, random);
            line(b"", out, random);
        }
        1 => line(b"event: message", out, random),
        2 => line(b"id: 7", out, random),
        _ => {}
    }
    line(format!("data:{}{json}", random.pick(&[" ", " ", ""])).as_bytes(), out, random);
    line(b"", out, random);
}
