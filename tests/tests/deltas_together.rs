//! Deltas that are read in one go give what each of them gives alone, and the same errors.

use graph_engine::{CodecError, Deltas, Encoding, Log, State};
use proptest::prelude::*;

fn longer(old: &String, new: String) -> Result<String, std::convert::Infallible> {
    Ok(format!("{old}{new}"))
}

#[derive(State, Clone, Default, PartialEq, Debug)]
struct Trip {
    #[state(append)]
    notes: Vec<String>,
    #[state(append)]
    stops: Log<String>,
    #[state(with = longer)]
    path: String,
    city: String,
}

const FIELDS: usize = 4;

fn alone(trip: &mut Trip, field: usize, deltas: Deltas<'_>) -> Result<(), CodecError> {
    deltas.iter().try_for_each(|bytes| trip.decode(field, Encoding::Delta, bytes))
}

fn assert_same(bytes: &[u8], ends: &[usize]) {
    for field in 0..FIELDS {
        let mut begun = Trip::default();
        begun.notes.push("before".to_owned());
        begun.stops.extend((0..70).map(|at| at.to_string()));
        // The other owner of the list must not see what is added.
        let shared = begun.clone();
        let (mut one, mut all, deltas) = (begun.clone(), begun, Deltas::new(bytes, ends));
        match (alone(&mut one, field, deltas), all.decode_deltas(field, deltas)) {
            (Ok(()), Ok(())) => assert_eq!(one, all),
            (Err(one), Err(all)) => assert_eq!(one.to_string(), all.to_string()),
            (one, all) => panic!("alone {one:?}, together {all:?}: {:?} {ends:?}", String::from_utf8_lossy(bytes)),
        }
        assert_eq!(shared.stops.len(), 70);
    }
}

/// Mostly lists of texts; also parts of lists that would be whole behind each other.
fn list() -> impl Strategy<Value = Vec<u8>> {
    let texts = proptest::collection::vec("[a-z\\]\\[\",\\\\ö]{0,5}", 0..5);
    let pieces = prop_oneof![
        Just("[\"x]"),
        Just("[y\"]"),
        Just("[\"a\"][\"b\"]"),
        Just("[]"),
        Just("[1]"),
        Just(""),
        Just(" [\"a\"] "),
        Just("[\"a\","),
        Just("\"b\"]"),
        Just("null"),
        Just("\"text\""),
    ];
    prop_oneof![
        6 => texts.prop_map(|texts| serde_json::to_vec(&texts).unwrap()),
        1 => pieces.prop_map(|piece| piece.as_bytes().to_vec()),
    ]
}

proptest! {
    #[test]
    fn any_lists_are_read_together_as_they_are_alone(
        lists in proptest::collection::vec(list(), 0..40),
        damage in proptest::option::weighted(0.3, (any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let mut bytes = lists.concat();
        let ends: Vec<usize> = lists.iter().scan(0, |end, list| { *end += list.len(); Some(*end) }).collect();
        if let Some((at, byte)) = damage && !bytes.is_empty() {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        assert_same(&bytes, &ends);
    }

    #[test]
    fn ends_that_are_wrong_are_the_same_mistake(
        ends in proptest::collection::vec(0..40_usize, 0..6),
    ) {
        assert_same("[\"größe\"][\"b\"][\"ü\"]".as_bytes(), &ends);
    }
}

#[test]
fn a_thousand_deltas_fill_many_chunks() {
    let lists: Vec<String> = (0..1_000).map(|at| format!("[\"{at}\"]")).collect();
    let ends: Vec<usize> = lists
        .iter()
        .scan(0, |end, list| {
            *end += list.len();
            Some(*end)
        })
        .collect();
    let mut trip = Trip::default();
    trip.decode_deltas(1, Deltas::new(lists.concat().as_bytes(), &ends)).unwrap();
    assert!(
        trip.stops.iter().map(String::as_str).eq((0..1_000)
            .map(|at| at.to_string())
            .collect::<Vec<_>>()
            .iter()
            .map(String::as_str))
    );
}

#[test]
fn two_texts_that_are_one_list_behind_each_other_are_still_two_mistakes() {
    let (bytes, ends) = (br#"["x][y"]["1"]["2"]"#, [4, 8, 18]);
    let error = Trip::default().decode_deltas(0, Deltas::new(bytes, &ends)).unwrap_err();
    assert!(error.to_string().contains("EOF while parsing a string"), "{error}");
}
