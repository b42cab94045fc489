//! The map of behaviours is complete: each id once, and each test that it names exists.

use std::collections::BTreeMap;
use std::fs;

use behaviour_tests::{quoted, root, tests_in};

/// Ids without a test yet, and what each one waits for.
const WAITING: &[(&str, &str)] = &[];

/// All ids that the map must have.
fn wanted() -> Vec<String> {
    let mut ids = Vec::new();
    let mut group = |letter: &str, numbers: &mut dyn Iterator<Item = u32>| {
        ids.extend(numbers.map(|n| if letter == "S" { format!("S{n:02}") } else { format!("{letter}{n}") }));
    };
    group("T", &mut (1..=18));
    group("R", &mut (1..=13));
    group("G", &mut (1..=30));
    group("S", &mut (1..=28).chain([30, 33, 34, 35]).chain(37..=40).chain([42]).chain(44..=50));
    group("M", &mut (1..=8));
    group("X", &mut (1..=13));
    group("B", &mut (1..=18));
    group("C", &mut (1..=18));
    group("H", &mut (1..=20));
    group("L", &mut (34..=36).chain(94..=100));
    // Time travel.
    group("L", &mut [66].into_iter().chain(75..=85));
    group("D", &mut [6, 10].into_iter());
    // Child graphs.
    group("L", &mut [16, 67, 68, 69, 86, 87, 88, 91].into_iter());
    group("A", &mut [15, 17, 18, 25, 26, 28].into_iter());
    group("D", &mut [7, 11].into_iter());
    group("F", &mut [1, 2, 4, 7, 8, 9, 10, 11, 14, 15, 17, 18, 20, 22, 23, 25, 27, 28].into_iter());
    group("D", &mut [1, 2, 3, 4, 14].into_iter());
    group("D.S", &mut (1..=3));
    group("A", &mut (8..=12));
    // Stores.
    group("L", &mut (89..=89));
    group("A", &mut (14..=14));
    group("D", &mut (9..=9));
    group("E", &mut (4..=6));
    group("P", &mut [3, 5].into_iter());
    // Durable threads, questions and answers, and what was reported of them.
    group("L", &mut [42, 54, 55].into_iter().chain(57..=65).chain(70..=74));
    group("A", &mut (1..=7).chain([13, 16]).chain(19..=24).chain([27, 29, 30]));
    group("P", &mut [1, 2, 4, 6].into_iter());
    group("D", &mut [5, 8, 15].into_iter());
    // Streams and models over the wire.
    group("R", &mut [18, 19, 20, 27, 37].into_iter());
    group("W.D", &mut (1..=4));
    group("W.S", &mut (3..=3));
    ids
}

/// The rows of the tables: id, and the cell with the tests.
fn rows(document: &str) -> Vec<(String, String)> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"));
    let cells = rows.filter_map(|row| Some((row.split_once(" | ")?.0.trim(), row.rsplit_once(" | ")?.1.trim())));
    let rows = cells.filter(|(id, _)| *id != "id" && !id.starts_with('-'));
    rows.map(|(id, tests)| (id.to_owned(), tests.to_owned())).collect()
}

#[test]
fn every_behaviour_is_in_the_map_once_and_its_tests_exist() {
    let document = fs::read_to_string(root().join("docs/behaviours.md")).unwrap();
    let tests = tests_in(&["tests/tests", "graph-nodes/tests", "graph-nodes/openai/tests", "demos/tests"]);
    let wanted = wanted();
    let waiting: BTreeMap<&str, &str> = WAITING.iter().copied().collect();
    let mut times: BTreeMap<String, u32> = wanted.iter().map(|id| (id.clone(), 0)).collect();
    let mut problems = Vec::new();
    for (id, cell) in rows(&document) {
        match times.get_mut(&id) {
            Some(count) => *count += 1,
            None => problems.push(format!("{id}: no such behaviour")),
        }
        let waits = waiting.get(id.as_str()).map(|what| format!("waits for {what}"));
        let named: Vec<(&str, &str)> = quoted(&cell).into_iter().filter_map(|text| text.rsplit_once("::")).collect();
        if named.is_empty() && waits.as_ref() != Some(&cell) {
            problems.push(format!("{id}: names no test (`{cell}`)"));
        }
        if !named.is_empty() && waits.is_some() {
            problems.push(format!("{id}: has a test, so it waits for nothing: take it from `WAITING`"));
        }
        for (file, test) in named {
            if !tests.get(file).is_some_and(|tests| tests.contains(test)) {
                problems.push(format!("{id}: there is no test `{file}::{test}`"));
            }
        }
    }
    problems.extend(times.iter().filter(|(_, count)| **count > 1).map(|(id, count)| format!("{id}: {count} rows")));
    let missing: Vec<&String> = wanted.iter().filter(|id| times[*id] == 0).collect();
    assert!(problems.is_empty() && missing.is_empty(), "missing: {missing:?}\nproblems: {problems:#?}");
}

#[test]
fn the_readers_of_rows_and_of_tests_see_what_is_there() {
    let rows = rows("| id | value | test |\n| --- | --- | --- |\n| S01 | a or b: `x | y` | `f::t`, `g::u` |\ntext\n");
    assert_eq!(rows, [("S01".to_owned(), "`f::t`, `g::u`".to_owned())]);
    let tests = tests_in(&["tests/tests", "graph-nodes/tests"]);
    for (file, test) in [
        ("behaviours_doc", "the_readers_of_rows_and_of_tests_see_what_is_there"),
        ("assembly", "s08_null_index_and_the_id_on_each_chunk"),
        ("vertices/protocol", "m1_m2_n_calls_are_n_answers_in_request_order_and_a_failure_is_marked"),
        ("protocol", "m1_m2_n_calls_are_n_answers_in_request_order_and_a_failure_is_marked"),
    ] {
        assert!(tests.get(file).is_some_and(|tests| tests.contains(test)), "{file}::{test}");
    }
    assert_eq!(
        wanted().len(),
        18 + 13
            + 30
            + 44
            + 8
            + 13
            + 18
            + 18
            + 20
            + 10
            + 12
            + 18
            + 5
            + 2
            + 3
            + 5
            + 3
            + 3
            + 2
            + 8
            + 6
            + 2
            + 17
            + 18
            + 4
            + 3
            + 4
            + 5
            + 1
    );
}
