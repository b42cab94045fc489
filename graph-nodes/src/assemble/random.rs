//! Random streams of fragments in every shape that providers are known to send, with the calls they stand for.

use super::delta::{ArgumentsDelta, CallDelta};

/// A small seeded generator: the same seed gives the same numbers in every version and on every platform.
///
/// ```
/// use graph_nodes::assemble::Random;
///
/// let (mut one, mut two) = (Random::new(7), Random::new(7));
/// assert_eq!(one.below(1_000), two.below(1_000));
/// ```
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The generator of this seed; neighbouring seeds have nothing in common.
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0xd1b5_4a32_d192_ed03))
    }

    /// A number below `bound`, which is at least 1.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((mixed ^ (mixed >> 31)) % bound.max(1) as u64) as usize
    }

    /// One of several; the list is not empty.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A JSON object, with what is hard to cut in its strings.
    pub fn object(&mut self, depth: usize) -> String {
        let fields: Vec<_> = (0..self.below(4)).map(|n| format!("\"k{n}\": {}", self.json(depth))).collect();
        format!("{{{}}}", fields.join(","))
    }

    /// Cuts a text at up to five places, perhaps at one of them twice.
    pub fn cut(&mut self, text: &str) -> Vec<String> {
        let mut at: Vec<usize> =
            (0..self.below(6)).map(|_| text.floor_char_boundary(self.below(text.len() + 1))).collect();
        at.extend([0, text.len()]);
        at.sort_unstable();
        at.windows(2).map(|pair| text[pair[0]..pair[1]].to_owned()).collect()
    }

    fn json(&mut self, depth: usize) -> String {
        const LEAVES: [&str; 11] = [
            r#""x""#,
            r#""}{[]""#,
            r#""\"}\\""#,
            r#""日本 🏨""#,
            "0",
            "-1.5",
            "true",
            "null",
            r#""\u00fc""#,
            r#""\ud83c\udfe8""#,
            r#""line\nline""#,
        ];
        match self.below(if depth == 0 { 1 } else { 3 }) {
            1 => self.object(depth - 1),
            2 => {
                let items: Vec<_> = (0..self.below(3)).map(|_| self.json(depth - 1)).collect();
                format!("[{}]", items.join(", "))
            }
            _ => self.pick(&LEAVES).to_owned(),
        }
    }

    /// Merges lists and keeps the order within each.
    fn interleave(&mut self, mut lists: Vec<Vec<CallDelta>>) -> Vec<CallDelta> {
        lists.iter_mut().for_each(|list| list.reverse());
        let mut merged = Vec::new();
        while !lists.is_empty() {
            let n = self.below(lists.len());
            merged.extend(lists[n].pop());
            lists.retain(|list| !list.is_empty());
        }
        merged
    }
}

/// How a stream tells its calls apart, and what is odd about it. `S01` and so on are the shapes of
/// `docs/behaviours.md`.
///
/// ```
/// use graph_nodes::assemble::Shape;
///
/// assert!(Shape::ALL.contains(&Shape::NoIndex));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Shape {
    /// Index on each fragment, the name in two halves, calls mixed (S01, S13).
    Interleaved,
    /// Index, id and name on each fragment (S12, S35).
    IdAndNameRepeated,
    /// No index; id and name first, then bare text (S05, S07).
    NoIndex,
    /// Index 0 for all, each call whole (S09).
    IndexZeroWhole,
    /// Index 0 for all, in fragments (S11).
    IndexZeroFragments,
    /// The name after some of the arguments (S14).
    NameLate,
    /// No index, the id on each fragment, calls mixed (S08).
    NullIndexInterleaved,
    /// No index, each call whole (S04, S06).
    NoIndexWhole,
    /// The last index comes first (S02).
    LastIndexFirst,
    /// Index 0 for all and no ids, each call whole (S10, S39).
    IndexZeroWithoutIds,
    /// Neither index nor id, each call whole (S33).
    WithoutIndexOrId,
    /// Blank id and name after the first fragment (S16).
    BlankLater,
    /// The name blank, then real (S15).
    BlankNameFirst,
    /// The id on the second fragment (S18).
    IdLate,
    /// Another id on each fragment (S19).
    IdChanges,
    /// No ids (S20).
    NoIds,
    /// Null arguments first (S21).
    NullArguments,
    /// Empty arguments only (S22).
    NoArguments,
    /// Arguments as JSON instead of text (S23).
    ArgumentsAsValue,
    /// The same without index and id (S34).
    ValueWithoutIndexOrId,
    /// One id at all indexes (S25).
    OneId,
    /// Gaps between the indexes (S28).
    Gaps,
    /// The last call is cut (S26).
    Cut,
    /// The first call is no JSON (S27).
    NoJson,
    /// The first call's arguments are a JSON string (S40).
    NotAnObject,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 25] = [
        Self::Interleaved,
        Self::IdAndNameRepeated,
        Self::NoIndex,
        Self::IndexZeroWhole,
        Self::IndexZeroFragments,
        Self::NameLate,
        Self::NullIndexInterleaved,
        Self::NoIndexWhole,
        Self::LastIndexFirst,
        Self::IndexZeroWithoutIds,
        Self::WithoutIndexOrId,
        Self::BlankLater,
        Self::BlankNameFirst,
        Self::IdLate,
        Self::IdChanges,
        Self::NoIds,
        Self::NullArguments,
        Self::NoArguments,
        Self::ArgumentsAsValue,
        Self::ValueWithoutIndexOrId,
        Self::OneId,
        Self::Gaps,
        Self::Cut,
        Self::NoJson,
        Self::NotAnObject,
    ];

    /// Whether fragments of several calls may be mixed: each says where it belongs.
    fn mixes(self) -> bool {
        !matches!(
            self,
            Self::IdAndNameRepeated
                | Self::NoIndex
                | Self::IndexZeroWhole
                | Self::IndexZeroFragments
                | Self::NoIndexWhole
                | Self::LastIndexFirst
                | Self::IndexZeroWithoutIds
                | Self::WithoutIndexOrId
                | Self::ValueWithoutIndexOrId
        )
    }

    /// Whether arguments have to be there for calls to be told apart.
    fn needs_arguments(self) -> bool {
        matches!(
            self,
            Self::IndexZeroWithoutIds
                | Self::WithoutIndexOrId
                | Self::ArgumentsAsValue
                | Self::ValueWithoutIndexOrId
                | Self::Cut
                | Self::NoJson
                | Self::NotAnObject
        )
    }

    fn is_unindexed(self) -> bool {
        matches!(
            self,
            Self::NoIndex
                | Self::NullIndexInterleaved
                | Self::NoIndexWhole
                | Self::WithoutIndexOrId
                | Self::ValueWithoutIndexOrId
        )
    }

    fn is_without_ids(self) -> bool {
        matches!(self, Self::IndexZeroWithoutIds | Self::WithoutIndexOrId | Self::NoIds | Self::ValueWithoutIndexOrId)
    }
}

/// A call that a stream stands for.
///
/// ```
/// use graph_nodes::assemble::{CallStream, Shape};
///
/// let stream = CallStream::new(Shape::NoIds, 1);
/// assert_eq!(stream.calls[0].id, "call_auto_0");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamedCall {
    /// Its id after assembly: the provider's, or `call_auto_` and a number.
    pub id: String,
    /// The tool's name, one of [`CallStream::TOOLS`].
    pub name: &'static str,
    /// The text of the arguments.
    pub arguments: String,
    /// Whether the arguments are one JSON object, or empty.
    pub is_sound: bool,
}

/// One response's tool-call fragments, and the calls that an assembler has to make of them.
///
/// An adapter's test writes the fragments in the provider's form, sends them through the adapter, and compares.
///
/// ```
/// use graph_nodes::assemble::{Assembler, CallStream, Shape};
///
/// let stream = CallStream::new(Shape::IndexZeroFragments, 4711);
/// let mut assembler = Assembler::new();
/// stream.deltas.into_iter().for_each(|delta| drop(assembler.push(delta)));
/// let calls = assembler.finish()?.calls;
/// assert_eq!(calls.len(), stream.calls.len());
/// assert_eq!(calls[0].name, stream.calls[0].name);
/// # Ok::<(), graph_nodes::assemble::AssemblyError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct CallStream {
    /// The shape.
    pub shape: Shape,
    /// The fragments in order.
    pub deltas: Vec<CallDelta>,
    /// The calls in the order that the assembler gives.
    pub calls: Vec<StreamedCall>,
}

impl CallStream {
    /// The tools that are called.
    pub const TOOLS: [&'static str; 4] = ["search", "get_weather", "get", "book_hotel"];

    /// The stream of this shape and seed: one to four calls.
    pub fn new(shape: Shape, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let mut calls: Vec<StreamedCall> = (0..1 + random.below(4)).map(|n| call(shape, n, &mut random)).collect();
        match shape {
            Shape::Cut => spoil(calls.last_mut(), r#"{"q": "日本"#),
            Shape::NoJson => spoil(calls.first_mut(), "{oops}"),
            Shape::NotAnObject => spoil(calls.first_mut(), r#""x""#),
            _ => {}
        }
        let mut lists: Vec<_> =
            calls.iter().enumerate().map(|(n, call)| fragments(shape, n, call, &mut random)).collect();
        if shape == Shape::LastIndexFirst {
            lists.reverse();
        }
        let deltas = if shape.mixes() { random.interleave(lists) } else { lists.concat() };
        if shape == Shape::NullIndexInterleaved {
            // Without an index the order is the order of arrival.
            calls.sort_by_key(|call| deltas.iter().position(|delta| delta.id.as_ref() == Some(&call.id)));
        }
        let made = calls.iter_mut().filter(|call| call.id.is_empty());
        made.zip(0..).for_each(|(call, n)| call.id = format!("call_auto_{n}"));
        Self { shape, deltas, calls }
    }
}

fn spoil(call: Option<&mut StreamedCall>, arguments: &str) {
    if let Some(call) = call {
        (call.arguments, call.is_sound) = (arguments.to_owned(), false);
    }
}

fn call(shape: Shape, n: usize, random: &mut Random) -> StreamedCall {
    let id = match shape {
        _ if shape.is_without_ids() => String::new(),
        Shape::OneId if n > 0 => String::new(),
        _ => format!("id{n}"),
    };
    let name = random.pick(&CallStream::TOOLS);
    let is_empty = shape == Shape::NoArguments || (!shape.needs_arguments() && random.below(8) == 0);
    let text = if is_empty { String::new() } else { random.object(3) };
    let arguments = match shape {
        Shape::ArgumentsAsValue | Shape::ValueWithoutIndexOrId => value(&text).to_string(),
        _ => text,
    };
    StreamedCall { id, name, arguments, is_sound: true }
}

fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text).unwrap_or_default()
}

fn fragments(shape: Shape, n: usize, call: &StreamedCall, random: &mut Random) -> Vec<CallDelta> {
    let index = u32::try_from(n).unwrap_or(u32::MAX);
    let base = match shape {
        _ if shape.is_unindexed() => CallDelta::new(),
        Shape::IndexZeroWhole | Shape::IndexZeroFragments | Shape::IndexZeroWithoutIds => CallDelta::new().at(0),
        Shape::Gaps => CallDelta::new().at(index * 7 + 3),
        _ => CallDelta::new().at(index),
    };
    let own_id = if shape == Shape::OneId { "id0" } else { &call.id };
    let start = match shape.is_without_ids() {
        true => base.clone().name(call.name),
        false => base.clone().id(own_id).name(call.name),
    };
    let pieces = random.cut(&call.arguments);
    let texts = |base: CallDelta| pieces.iter().map(move |piece| base.clone().text(piece.clone()));
    let mut deltas: Vec<CallDelta> = match shape {
        Shape::Interleaved => {
            let (first, second) = call.name.split_at(random.below(call.name.len()));
            [start.name(first), base.clone().name(second)].into_iter().chain(texts(base)).collect()
        }
        Shape::IdAndNameRepeated => texts(start).collect(),
        Shape::IndexZeroWhole | Shape::NoIndexWhole | Shape::IndexZeroWithoutIds | Shape::WithoutIndexOrId => {
            return vec![start.text(call.arguments.clone())];
        }
        Shape::ArgumentsAsValue | Shape::ValueWithoutIndexOrId => return vec![start.value(value(&call.arguments))],
        Shape::NameLate => {
            let mut list: Vec<_> = [base.clone().id(own_id)].into_iter().chain(texts(base.clone())).collect();
            let at = 1 + random.below(list.len());
            list.insert(at, base.name(call.name));
            list
        }
        Shape::NullIndexInterleaved => [start].into_iter().chain(texts(base.id(own_id))).collect(),
        Shape::BlankLater => [start].into_iter().chain(texts(base.id("").name(" "))).collect(),
        Shape::BlankNameFirst => [base.clone().id(own_id).name("")].into_iter().chain(texts(start)).collect(),
        Shape::IdLate => {
            let second = base.clone().id(own_id);
            [base.clone().name(call.name), second].into_iter().chain(texts(base)).collect()
        }
        Shape::IdChanges => {
            // Another id after the end of the arguments would be another call.
            let pieces = pieces.iter().filter(|piece| !piece.is_empty()).enumerate();
            let changed = pieces.map(|(k, piece)| base.clone().id(format!("{own_id}-{k}")).text(piece.clone()));
            return [start].into_iter().chain(changed).collect();
        }
        Shape::NullArguments => {
            let null = CallDelta { arguments: ArgumentsDelta::Null, ..start };
            [null].into_iter().chain(texts(base)).collect()
        }
        Shape::NoArguments => vec![start.text("")],
        _ => [start].into_iter().chain(texts(base)).collect(),
    };
    // Some providers end each call with an empty piece (S24).
    if random.below(4) == 0
        && let Some(last) = deltas.last().cloned()
    {
        deltas.push(CallDelta { name: None, ..last }.text(""));
    }
    deltas
}
