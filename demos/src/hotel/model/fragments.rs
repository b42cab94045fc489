//! An answer in the pieces in which a provider streams it.

use super::answer::Answer;
use graph_nodes::assemble::CallDelta;
use graph_nodes::message::{FinishReason, Usage};
use graph_nodes::model::{Chunk, Request};

/// How many letters the pieces of arguments have, one after another: cut
/// without regard to words, quotes and escapes, as providers do.
const CUTS: [usize; 5] = [1, 7, 3, 12, 5];

/// The chunks of an answer: words of a text, or first fragments with index, id
/// and name, then pieces of arguments; then the finish reason; then usage.
pub(super) fn chunks(answer: &Answer, request: &Request) -> Vec<Chunk> {
    let mut chunks = match answer {
        Answer::Say(text) => words(text),
        Answer::Call(calls) => {
            let turn = request.messages.iter().map(|message| message.calls().len()).sum::<usize>();
            let numbered = calls.iter().zip(0_u32..);
            numbered
                .flat_map(|((tool, arguments), index)| {
                    let id = format!("call_{}", turn + 1 + usize::try_from(index).unwrap_or(0));
                    call(index, &id, tool, &arguments.to_string())
                })
                .collect()
        }
    };
    let said: usize = match answer {
        Answer::Say(text) => text.len(),
        Answer::Call(calls) => calls.iter().map(|(tool, arguments)| tool.len() + arguments.to_string().len()).sum(),
    };
    let reason = if matches!(answer, Answer::Say(_)) { FinishReason::Stop } else { FinishReason::ToolCalls };
    chunks.push(Chunk::finish(reason));
    chunks.push(Chunk::usage(Usage::new(asked(request), tokens(said))));
    chunks
}

/// One call: index, id and name come first, the arguments in pieces.
pub(super) fn call(index: u32, id: &str, tool: &str, arguments: &str) -> Vec<Chunk> {
    let mut chunks = vec![Chunk::call(CallDelta::new().at(index).id(id).name(tool).text(""))];
    let mut letters = arguments.chars().peekable();
    let mut cuts = CUTS.iter().cycle();
    while letters.peek().is_some() {
        let piece: String = letters.by_ref().take(*cuts.next().unwrap_or(&1)).collect();
        chunks.push(Chunk::call(CallDelta::new().at(index).text(piece)));
    }
    chunks
}

/// A text, word by word.
pub(super) fn words(text: &str) -> Vec<Chunk> {
    text.split_inclusive(' ').map(Chunk::text).collect()
}

/// The tokens of a request, at four bytes each: a plain rule, the same everywhere.
pub(super) fn asked(request: &Request) -> u64 {
    let spoken: usize = request.messages.iter().map(|message| message.text().len()).sum();
    let tools: usize = request.tools.iter().map(|tool| tool.description.len() + tool.name.len()).sum();
    tokens(spoken + tools)
}

pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use graph_nodes::model::{Collector, collect};

    #[test]
    fn the_pieces_make_the_whole() {
        let request = Request::new([]);
        let arguments = serde_json::json!({"city": "São \"Paulo\"", "nights": 3});
        let answer = Answer::Call(vec![("search", arguments.clone()), ("search", serde_json::json!({}))]);
        let chunks = chunks(&answer, &request);
        assert!(chunks.len() > 10);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let stream = futures_util::stream::iter(chunks.into_iter().map(Ok));
        let response = runtime.block_on(collect(Box::pin(stream), Collector::for_request(&request))).unwrap();
        assert_eq!(response.calls.len(), 2);
        assert_eq!(response.calls[0].id, "call_1");
        assert_eq!(response.calls[0].arguments.parsed().ok(), arguments.as_object());
        assert_eq!(response.calls[1].id, "call_2");
        assert!(response.warnings.is_empty(), "{:?}", response.warnings);
    }
}
