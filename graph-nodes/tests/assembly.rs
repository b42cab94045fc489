//! The wire shapes that providers are known to send, and what they mean.
//!
//! A fragment is written `index/id/name/arguments`: `-` is an absent field, `∅`
//! is null, nothing is an empty text, `=` before the arguments is JSON instead
//! of text. A call is written `id name arguments`.

use graph_nodes::assemble::WarningKind::{
    ArgumentsAsValue, DuplicateId, MissingIndex, MissingName, NameConflict, NotAnObject, ParseError, RepeatedName,
    ReplacedName, SharedIndex, SynthesizedId, UnstableId,
};
use graph_nodes::assemble::{
    ArgumentsDelta, Assembler, AssemblyError, AssemblyEvent, AssemblyPolicy, CallDelta, WarningKind,
};

fn delta(text: &str) -> CallDelta {
    let mut fields = text.splitn(4, '/');
    let mut next = || fields.next().expect("a fragment has four fields");
    let optional = |field: &str| (!matches!(field, "-" | "∅")).then(|| field.to_owned());
    CallDelta {
        index: optional(next()).map(|index| index.parse().expect("an index is a number")),
        id: optional(next()),
        name: optional(next()),
        arguments: match next() {
            "-" => ArgumentsDelta::Absent,
            "∅" => ArgumentsDelta::Null,
            text => match text.strip_prefix('=') {
                Some(json) => ArgumentsDelta::Value(serde_json::from_str(json).expect("JSON")),
                None => ArgumentsDelta::Text(text.to_owned()),
            },
        },
    }
}

fn run(mut assembler: Assembler, deltas: &[&str], calls: &[&str], warnings: &[(WarningKind, usize)]) {
    for text in deltas {
        assembler.push(delta(text));
    }
    let assembly = assembler.finish().expect("the lenient policy accepts everything");
    let got: Vec<String> =
        assembly.calls.iter().map(|call| format!("{} {} {}", call.id, call.name, call.arguments.raw())).collect();
    assert_eq!(got, calls);
    let got: Vec<_> = assembly.warnings.iter().map(|warning| (warning.kind(), warning.call())).collect();
    assert_eq!(got, warnings);
}

fn check(deltas: &[&str], calls: &[&str], warnings: &[(WarningKind, usize)]) {
    run(Assembler::new(), deltas, calls, warnings);
}

/// One named test per shape: fragments, calls, warnings.
macro_rules! shapes {
    ($($(#[$doc:meta])* $name:ident: [$($delta:expr),* $(,)?] => [$($call:expr),*], [$($kind:ident $at:literal),*];)*) => {
        $($(#[$doc])* #[test] fn $name() { check(&[$($delta),*], &[$($call),*], &[$(($kind, $at)),*]); })*
    };
}

shapes! {
    s01_interleaved_calls: ["0/a/f/", r#"0/-/-/{"q":"#, "1/b/g/-", r#"0/-/-/"x"}"#, r#"1/-/-/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [];
    s02_later_index_first: [r#"1/b/g/{"q":"y"}"#, r#"0/a/f/{"q":"x"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [];
    s03_both_in_one_chunk: [r#"0/a/f/{"q":"x"}"#, r#"1/b/g/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [];
    s04_no_index_whole: [r#"-/a/f/{"q":"x"}"#] => [r#"a f {"q":"x"}"#], [MissingIndex 0];
    s05_no_index_fragments: ["-/a/f/", r#"-/-/-/{"q":"#, r#"-/-/-/"x"}"#] => [r#"a f {"q":"x"}"#], [MissingIndex 0];
    s06_no_index_two_whole: [r#"-/a/f/{"q":"x"}"#, r#"-/b/g/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [MissingIndex 0, MissingIndex 1];
    s07_no_index_two_in_fragments: ["-/a/f/-", r#"-/-/-/{"q":"x"}"#, "-/b/g/-", r#"-/-/-/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [MissingIndex 0, MissingIndex 1];
    s08_null_index_and_the_id_on_each_chunk:
        ["∅/a/f/", "∅/b/g/", r#"∅/a/-/{"q":"#, r#"∅/b/-/{"q":"y"}"#, r#"∅/a/-/"x"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [MissingIndex 0, MissingIndex 1];
    s09_one_index_two_whole: [r#"0/a/f/{"q":"x"}"#, r#"0/b/g/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [SharedIndex 1];
    s10_one_index_no_id_whole_twice: [r#"0/-/f/{"q":"x"}"#, r#"0/-/f/{"q":"y"}"#]
        => [r#"call_auto_0 f {"q":"x"}"#, r#"call_auto_1 f {"q":"y"}"#],
        [SharedIndex 1, SynthesizedId 0, SynthesizedId 1];
    s11_one_index_fragments: ["0/a/f/", r#"0/-/-/{"q":"#, r#"0/-/-/"x"}"#, "0/b/g/", r#"0/-/-/{"q":"#, r#"0/-/-/"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"b g {"q":"y"}"#], [SharedIndex 1];
    s12_id_and_name_on_every_chunk: ["0/a/f/", r#"0/a/f/{"q":"#, r#"0/a/f/"x"}"#] => [r#"a f {"q":"x"}"#], [RepeatedName 0];
    s13_name_in_two_halves: ["0/a/get_/", "0/-/weather/", "0/-/-/{}"] => ["a get_weather {}"], [];
    s14_arguments_before_the_name: [r#"0/a/-/{"q":"#, r#"0/-/-/"x"}"#, "0/-/f/-"] => [r#"a f {"q":"x"}"#], [];
    s15_null_name_first: ["0/a/∅/-", "0/-/f/{}"] => ["a f {}"], [];
    s16_blank_id_and_name_later: ["0/a/f/{", "0///}"] => ["a f {}"], [];
    s17_null_id_later: ["0/a/f/{", "0/∅/-/}"] => ["a f {}"], [];
    s18_id_on_the_second_chunk: ["0/-/f/{", "0/a/-/}"] => ["a f {}"], [];
    s19_id_changes_within_a_call: [r#"0/a1/f/{"q":"#, r#"0/a2/-/"x"}"#] => [r#"a1 f {"q":"x"}"#], [UnstableId 0];
    s20_no_id: ["0/-/f/{}"] => ["call_auto_0 f {}"], [SynthesizedId 0];
    s21_null_arguments_first: ["0/a/f/∅", "0/-/-/{}"] => ["a f {}"], [];
    s22_empty_arguments_only: ["0/a/f/"] => ["a f "], [];
    s23_arguments_as_object: [r#"0/a/f/={"q":"x"}"#] => [r#"a f {"q":"x"}"#], [ArgumentsAsValue 0];
    s24_trailing_empty_arguments: ["0/a/f/{}", "0/-/-/"] => ["a f {}"], [];
    s25_one_id_at_two_indexes: [r#"0/a/f/{"q":"x"}"#, r#"1/a/g/{"q":"y"}"#]
        => [r#"a f {"q":"x"}"#, r#"call_auto_0 g {"q":"y"}"#], [DuplicateId 1];
    s26_cut_arguments_are_not_repaired: [r#"0/a/f/{"q":"x"#] => [r#"a f {"q":"x"#], [ParseError 0];
    s27_a_faulty_call_leaves_its_sibling_alone: ["0/a/f/{oops}", r#"1/b/g/{"q":"y"}"#]
        => ["a f {oops}", r#"b g {"q":"y"}"#], [ParseError 0];
    s28_gap_between_indexes: ["0/a/f/{}", "5/b/g/{}"] => ["a f {}", "b g {}"], [];
    /// The `type` field has no place in a fragment: adapters drop it.
    s30_type_on_every_chunk: ["0/a/f/{", "0/-/-/}"] => ["a f {}"], [];
    s33_no_index_no_id_same_tool_twice: [r#"-/-/f/{"q":"x"}"#, r#"-/-/f/{"q":"y"}"#]
        => [r#"call_auto_0 f {"q":"x"}"#, r#"call_auto_1 f {"q":"y"}"#],
        [MissingIndex 0, MissingIndex 1, SynthesizedId 0, SynthesizedId 1];
    s34_no_index_no_id_two_objects_as_arguments: [r#"-/-/f/={"q":"x"}"#, r#"-/-/f/={"q":"y"}"#]
        => [r#"call_auto_0 f {"q":"x"}"#, r#"call_auto_1 f {"q":"y"}"#],
        [MissingIndex 0, ArgumentsAsValue 0, MissingIndex 1, ArgumentsAsValue 1, SynthesizedId 0, SynthesizedId 1];
    s35_repeated_id_and_name_with_a_trailing_empty_text: ["0/a/f/{}", "0/a/f/"] => ["a f {}"], [RepeatedName 0];
    s37_braces_inside_strings: [r#"0/a/f/{"q":"}{"#, r#"0/-/-/]"}"#, r#"0/b/g/{"q":"{"}"#]
        => [r#"a f {"q":"}{]"}"#, r#"b g {"q":"{"}"#], [SharedIndex 1];
    s38_escape_split_across_deltas: [r#"-/-/f/{"q":"\"#, r#"-/-/-/"}"#, r#"-/-/-/"}"#, r#"-/-/f/{"q":"\\"}"#]
        => [r#"call_auto_0 f {"q":"\"}"}"#, r#"call_auto_1 f {"q":"\\"}"#],
        [MissingIndex 0, MissingIndex 1, SynthesizedId 0, SynthesizedId 1];
    s39_one_index_names_differ: [r#"0/-/f/{"q":"x"}"#, r#"0/-/g/{"q":"y"}"#]
        => [r#"call_auto_0 f {"q":"x"}"#, r#"call_auto_1 g {"q":"y"}"#],
        [SharedIndex 1, SynthesizedId 0, SynthesizedId 1];
    s40_a_json_string_is_no_object: [r#"0/a/f/"x""#] => [r#"a f "x""#], [NotAnObject 0];
    s42_multibyte_text: [r#"0/a/f/{"q":"日"#, r#"0/-/-/本ü"#, r#"0/-/-/🏨"}"#] => [r#"a f {"q":"日本ü🏨"}"#], [];

    an_index_after_an_omitted_start_finds_its_call: ["-/a/f/", "0/-/-/{}", "1/b/g/", "1/-/-/{}"]
        => ["a f {}", "b g {}"], [MissingIndex 0];
    calls_that_share_an_index_are_told_apart_by_id: ["0/a/f/{", "0/b/g/{", r#"0/a/-/"q":1}"#, r#"0/b/-/"q":2}"#]
        => [r#"a f {"q":1}"#, r#"b g {"q":2}"#], [SharedIndex 1];
    a_name_after_the_arguments_is_ignored: ["0/a/f/{", "0/-/g/}"] => ["a f {}"], [NameConflict 0];
    a_call_without_a_name_is_kept_as_faulty: ["0/a/-/{}"] => ["a  {}"], [MissingName 0];
    one_id_for_all_unindexed_calls: ["-/call_0/f/{}", "-/call_0/g/{}"]
        => ["call_0 f {}", "call_auto_0 g {}"], [MissingIndex 0, MissingIndex 1, DuplicateId 1];
    a_made_id_never_meets_a_sent_one: ["0/-/f/{}", "1/call_auto_0/g/{}"]
        => ["call_auto_1 f {}", "call_auto_0 g {}"], [SynthesizedId 0];
    a_repeated_key_is_not_settled_silently: [r#"0/a/f/{"q":1,"q":2}"#] => [r#"a f {"q":1,"q":2}"#], [ParseError 0];
    mixed_indexes_keep_the_order_of_arrival: ["3/a/f/{}", "-/b/g/{}", "0/c/h/{}"]
        => ["a f {}", "b g {}", "c h {}"], [MissingIndex 1];
    blank_text_without_a_call_opens_none: ["-/-/-/", "-///∅"] => [], [];
}

#[test]
fn a_registry_tells_a_replaced_name_from_a_halved_one() {
    let known = || Assembler::new().with_known_tools(["search", "get_weather", "get"]);
    run(known(), &["0/a/ask/", "0/-/search/{}"], &["a search {}"], &[(ReplacedName, 0)]);
    run(known(), &["0/a/get/", "0/-/_weather/{}"], &["a get_weather {}"], &[]);
    run(known(), &["-/a/get/", "-/-/_weather/{}"], &["a get_weather {}"], &[(MissingIndex, 0)]);
}

#[test]
fn s48_strict_refuses_missing_and_double_ids_and_missing_names() {
    let strict = |deltas: &[&str]| {
        let mut assembler = Assembler::new().with_policy(AssemblyPolicy::Strict);
        deltas.iter().for_each(|text| drop(assembler.push(delta(text))));
        assembler.finish().map(|assembly| assembly.calls.len())
    };
    assert_eq!(strict(&["0/a/f/{}", "1/b/g/{}"]), Ok(2));
    assert_eq!(strict(&["0/a/f/{}", "1/-/g/{}"]), Err(AssemblyError::MissingId { call: 1 }));
    assert_eq!(strict(&["0/a/f/{}", "1/a/g/{}"]), Err(AssemblyError::DuplicateId { call: 1, id: "a".into() }));
    assert_eq!(strict(&["0/a/-/{}"]), Err(AssemblyError::MissingName { call: 0 }));
}

#[test]
fn s49_a_mebibyte_in_a_thousand_fragments_is_scanned_once() {
    let text = format!(r#"{{"q":"{}"}}"#, "x".repeat((1 << 20) - 8));
    assert_eq!(text.len(), 1 << 20);
    let mut assembler = Assembler::new();
    assembler.push(delta("0/a/f/"));
    let pieces: Vec<&str> = (0..1000).map(|n| &text[n * text.len() / 1000..(n + 1) * text.len() / 1000]).collect();
    for piece in &pieces {
        assembler.push(CallDelta::new().at(0).text(*piece));
    }
    assert_eq!(assembler.scanned_bytes(), 1 << 20);
    let assembly = assembler.finish().unwrap();
    assert_eq!(assembly.calls[0].arguments.raw(), text);
    assert_eq!(assembly.calls[0].fault(), None);
}

#[test]
fn s50_a_start_comes_once_per_call_and_only_with_a_name() {
    let mut assembler = Assembler::new();
    let mut log = Vec::new();
    for (step, text) in ["0/a/-/{", "0/-/f/", "0/-/f/}", "1/b/g/", "2/c/h/{", "2/-/-/}", "3/-/-/{}"].iter().enumerate()
    {
        log.extend(assembler.push(delta(text)).into_iter().map(|event| (step, event)));
    }
    log.extend(assembler.finish().unwrap().events.into_iter().map(|event| (99, event)));
    let started = |call, id: &str, name: &str| AssemblyEvent::Started { call, id: Some(id.into()), name: name.into() };
    assert_eq!(log, [(1, started(0, "a", "f")), (4, started(2, "c", "h")), (99, started(1, "b", "g"))]);
}

#[test]
fn a_known_name_starts_its_call_at_once_unless_a_longer_one_is_known() {
    let mut assembler = Assembler::new().with_known_tools(["get", "get_weather"]);
    assert_eq!(assembler.push(delta("0/a/get/")), []);
    assert_eq!(assembler.push(delta("0/-/_weather/")).len(), 1);
    assert_eq!(assembler.push(delta("0/-/-/{}")), []);
}

#[test]
fn a_started_name_stays() {
    let known = Assembler::new().with_known_tools(["search", "book"]);
    run(known, &["0/a/search/", "0/-/book/{}"], &["a search {}"], &[(NameConflict, 0)]);
}

#[test]
fn s22_empty_arguments_are_an_empty_object() {
    let mut assembler = Assembler::new();
    assembler.push(delta("0/a/f/"));
    let assembly = assembler.finish().unwrap();
    assert_eq!(assembly.calls[0].arguments.parsed().map(|map| map.len()), Ok(0));
}

#[test]
fn s49_ten_thousand_open_calls_are_kept_apart() {
    type Style = fn(u32) -> CallDelta;
    let styles: [(Style, usize); 4] = [
        (|n| CallDelta::new().name(format!("f{n}")).text("{"), 10_000),
        (|n| CallDelta::new().id(format!("c{n}")).name("f").text("{"), 10_000),
        (|n| CallDelta::new().at(n).text("{"), 10_000),
        // A whole call each: the second round opens new ones.
        (|n| CallDelta::new().at(0).id(format!("c{n}")).name("f").text("{}"), 20_000),
    ];
    for (delta, expected) in styles {
        let mut assembler = Assembler::new().with_known_tools(["f"]);
        for n in (0..10_000).chain(0..10_000) {
            assembler.push(delta(n));
        }
        assert_eq!(assembler.finish().unwrap().calls.len(), expected);
    }
}

#[test]
fn s49_a_mebibyte_name_in_small_pieces_is_read_once() {
    let name = "n".repeat(1 << 20);
    let mut assembler = Assembler::new().with_known_tools(["f", "nn"]);
    assembler.push(CallDelta::new().at(0).id("a"));
    for at in (0..name.len()).step_by(16) {
        assembler.push(CallDelta::new().at(0).name(&name[at..at + 15 + at / 16 % 2]));
    }
    assembler.push(delta("0/-/-/{}"));
    let assembly = assembler.finish().unwrap();
    assert!(assembly.calls[0].name.len() > 1_000_000);
    assert_eq!(assembly.calls[0].fault(), None);
}
