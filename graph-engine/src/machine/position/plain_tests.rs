//! The short way and serde's write the same bytes, and both forms of positions are read.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::super::super::wrote::{Writings, WroteRow};
use super::super::rows::{Position, SlotRow, VERSION};
use super::*;

/// A number that follows from the last one.
fn next(seed: &mut u64, sides: usize) -> usize {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) as usize % sides
}

const NAMES: [&str; 10] = [
    "tick",
    "__start__",
    "",
    "\"",
    "back\\slash",
    "new\nline",
    "\u{0}\u{1f}",
    "\u{7f}",
    "größe",
    "a \u{2028} {\"b\":[]}",
];

fn number(seed: &mut u64) -> u64 {
    [0, 1, 9, 10, 12_345, u64::MAX / 2][next(seed, 6)]
}

fn position(schema: u32, step: u64, began: u64, next: &[&'static str]) -> Position<'static> {
    Position {
        version: VERSION,
        schema,
        step,
        began,
        origin: None,
        next: next.iter().map(|node| SlotRow::plain(Cow::Borrowed(*node))).collect(),
        deferred: Vec::new(),
        joins: Vec::new(),
        stays: Vec::new(),
        replies: Vec::new(),
        completed: false,
        children: BTreeMap::new(),
        call: None,
        written: None,
        left: Vec::new(),
        broke: false,
        wrote: Vec::new(),
        earlier: Vec::new(),
    }
}

#[test]
fn the_short_way_writes_what_serde_writes() {
    let json: JsonNames = NAMES.into_iter().collect();
    let (mut seed, mut tails) = (7, Tails::default());
    for _ in 0..5_000 {
        let (schema, step, began) = (next(&mut seed, 3) as u32, number(&mut seed), number(&mut seed));
        // Few, so that the same ends come again.
        let nodes: Vec<usize> = (0..[1, 1, 0, 3][next(&mut seed, 4)]).map(|_| next(&mut seed, NAMES.len())).collect();
        let [wrote, earlier] = [[1, 1, 0, 3], [0, 0, 1, 2]].map(|counts| {
            let count = counts[next(&mut seed, 4)];
            let row = |seed: &mut u64| (next(seed, NAMES.len()), next(seed, 4));
            (0..count).map(|_| row(&mut seed)).collect::<Vec<_>>()
        });
        let fields = |wrote: usize| (0..NAMES.len()).filter(move |field| wrote & (1 << field) != 0);
        let row = |(writer, wrote): &(usize, usize)| -> WroteRow<'static> {
            std::iter::once(*writer).chain(fields(*wrote)).map(|name| Cow::Borrowed(NAMES[name])).collect()
        };
        let names: Vec<&str> = nodes.iter().map(|node| NAMES[*node]).collect();
        let expected = Position {
            wrote: wrote.iter().map(row).collect(),
            earlier: earlier.iter().map(row).collect(),
            ..position(schema, step, began, &names)
        };
        let expected = serde_json::to_string(&expected).unwrap();
        let node = |node: usize| NodeIx(node as u32);
        let writers = |rows: &[(usize, usize)]| -> Vec<(Writer, FieldSet)> {
            let set = |wrote| fields(wrote).fold(FieldSet::EMPTY, |set, field| set | FieldSet::of(field));
            rows.iter().map(|(writer, wrote)| (Writer::Node(node(*writer)), set(*wrote))).collect()
        };
        let (wrote, earlier) = (writers(&wrote), writers(&earlier));
        let plain = Plain { schema, step, began, wrote: &wrote, earlier: &earlier, nodes: &json, fields: &json };
        // The second time its end may be known.
        for _ in 0..2 {
            let mut written = b"before".to_vec();
            plain.encode(nodes.iter().map(|at| node(*at)), &mut tails, &mut written).unwrap();
            assert_eq!(String::from_utf8(written).unwrap(), format!("before{expected}"));
        }
        let read: Position<'_> = serde_json::from_str(&expected).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), expected);
    }
    assert_eq!(tails.known.len(), ENDS);
}

#[test]
fn writers_that_are_no_nodes_have_their_names_as_json_too() {
    let none = JsonNames::default();
    assert_eq!(Writer::Input.json(&none), serde_json::to_vec(crate::task::START).unwrap());
    assert_eq!(Writer::Edit.json(&none), serde_json::to_vec(crate::machine::EDIT).unwrap());
}

#[test]
fn a_position_of_the_first_form_is_read_as_one_of_the_second() {
    let both = [
        (
            r#"{"version":1,"step":5,"began":0,"next":[{"node":"tick"}],"wrote":[["tick","messages"]]}"#,
            r#"{"step":5,"next":["tick"],"wrote":["tick","messages"]}"#,
        ),
        (
            r#"{"version":1,"schema":2,"step":5,"began":3,"next":[{"node":"a"},{"node":"b","attempt":2}],"wrote":[["a"],["b","x"]],"earlier":[["a"]]}"#,
            r#"{"schema":2,"step":5,"began":3,"next":["a",{"node":"b","attempt":2}],"wrote":[["a"],["b","x"]],"earlier":["a"]}"#,
        ),
        (r#"{"version":1,"step":0,"began":0,"next":[]}"#, r#"{"step":0}"#),
    ];
    for (first, second) in both {
        for form in [first, second] {
            let read: Position<'_> = serde_json::from_str(form).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), second);
            let said = Writings::of(form.as_bytes()).unwrap();
            assert_eq!((said.wrote, said.earlier), (read.wrote, read.earlier));
        }
    }
}

#[test]
fn what_is_neither_a_name_nor_a_task_is_refused() {
    for wrong in [
        r#"{"step":5,"next":[7]}"#,
        r#"{"step":5,"next":[["tick"]]}"#,
        r#"{"step":5,"next":"tick"}"#,
        r#"{"step":5,"next":[{"attempt":2}]}"#,
        r#"{"step":5,"wrote":["a",["b"]]}"#,
        r#"{"step":5,"wrote":[["a"],"b"]}"#,
        r#"{"step":5,"wrote":[7]}"#,
        r#"{"step":5,"wrote":"a"}"#,
        r#"{"next":["tick"]}"#,
    ] {
        assert!(serde_json::from_str::<Position<'_>>(wrong).is_err(), "{wrong}");
    }
}
