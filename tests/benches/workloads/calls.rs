//! `assemble`: fragments of four tool calls in turn.

use graph_nodes::assemble::{Assembler, CallDelta};

/// So many fragments of eight bytes of four calls in turn, as index and text.
pub(crate) fn interleaved(count: usize) -> Vec<(usize, String)> {
    let each = |text: &'static str| (0..4).map(move |call| (call, text.to_owned()));
    let middle = (0..4).cycle().take(count - 8).map(|call| (call, "abcdefgh".to_owned()));
    each("{\"q\":\"").chain(middle).chain(each("\"}")).collect()
}

/// The same as a model streams them: the first of each call has its id and name.
pub(crate) fn fragments(count: usize) -> Vec<CallDelta> {
    let fragment = |(call, text): &(usize, String)| {
        let delta = CallDelta::new().at(*call as u32).text(text.as_str());
        if text.starts_with('{') { delta.id(format!("c{call}")).name("search") } else { delta }
    };
    interleaved(count).iter().map(fragment).collect()
}

/// Assembles fragments that whoever shows them keeps.
pub(crate) fn assemble(kept: &[CallDelta]) {
    let mut assembler = Assembler::new();
    kept.iter().for_each(|fragment| drop(assembler.push_ref(fragment)));
    let calls = assembler.finish().expect("lenient").calls;
    assert!(calls.len() == 4 && calls.iter().all(|call| call.fault().is_none()));
}
