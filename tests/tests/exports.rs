//! A thread as lines of JSON: out of one store and into another, whole or not at all.

use std::io::{self, BufRead, BufReader, Read, Write};

use behaviour_tests::{Runs, TestStore, Trip};
use graph_engine::{
    CheckpointId, CheckpointStore, Commit, Ctx, Encoding, FieldRow, Filter, Graph, Keep, MemoryStore, NodeError, Place,
    RunError, Runner, START, SavedResult, TaskId, Thread, ThreadFilter, TransferError,
};
use proptest::prelude::*;

fn graph(runs: &Runs) -> Graph<Trip> {
    Graph::<Trip>::builder("halves")
        .node("a", runs.node("a"))
        .node("b", runs.failing(1, "b"))
        .node("c", runs.node("c"))
        .edge(START, "a")
        .edge(START, "b")
        .join(["a", "b"], "c")
        .compile()
        .unwrap()
}

/// A thread with branches, an edit, tags, a value that is null, and an unfinished step.
async fn rich(store: impl CheckpointStore) -> Thread<Trip> {
    let thread = graph(&Runs::new()).runner().store(store).thread("guest \"7\"\n");
    thread.run(Trip::update().city("Tromsø \u{1f3d4}").log(["in\n"])).tag("tenant", "acme").await.unwrap_err();
    let pending = head(&thread).await;
    thread.proceed().await.unwrap();
    thread.at(pending).edit(Trip::update().total(3)).in_place().await.unwrap();
    thread
}

async fn head(thread: &Thread<Trip>) -> CheckpointId {
    thread.state().await.unwrap().checkpoint.unwrap()
}

async fn export(thread: &Thread<Trip>) -> Vec<u8> {
    let mut lines = Vec::new();
    let count = thread.export(&mut lines).await.unwrap();
    assert_eq!(count, lines.iter().filter(|byte| **byte == b'\n').count() as u64);
    lines
}

/// A runner over an empty store.
fn elsewhere() -> (Runner<Trip>, MemoryStore) {
    let store = MemoryStore::new();
    (graph(&Runs::new()).runner().store(store.clone()), store)
}

async fn threads(store: &MemoryStore) -> Vec<String> {
    let found = store.threads(&ThreadFilter::default()).await.unwrap();
    found.into_iter().map(|info| info.thread.to_string()).collect()
}

#[tokio::test]
async fn what_was_imported_is_exported_again_byte_for_byte_and_every_checkpoint_is_equal() {
    let thread = rich(TestStore::lasting()).await;
    let lines = export(&thread).await;
    let (runner, _) = elsewhere();
    let other = runner.import(&lines[..]).await.unwrap();
    assert_eq!(
        (other.id(), String::from_utf8(export(&other).await).unwrap()),
        (thread.id(), String::from_utf8(lines).unwrap())
    );
    let history = thread.history(&Filter::default()).await.unwrap();
    assert_eq!(other.history(&Filter::default()).await.unwrap(), history);
    for info in history {
        let [mine, theirs] = [thread.at(info.id).state().await.unwrap(), other.at(info.id).state().await.unwrap()];
        assert_eq!(*mine.state, *theirs.state);
        assert_eq!((mine.next, mine.finished, mine.step), (theirs.next, theirs.finished, theirs.step));
    }
}

#[tokio::test]
async fn the_imported_thread_goes_on_like_the_original() {
    let thread = rich(MemoryStore::new()).await;
    let (runner, _) = elsewhere();
    let other = runner.import_as("u", &export(&thread).await[..]).await.unwrap();
    let mut logs = Vec::new();
    for thread in [&thread, &other] {
        // The runs of `b` begin anew in the other process.
        let end = match thread.proceed().await {
            Ok(end) => end,
            Err(_) => thread.proceed().await.unwrap(),
        };
        logs.push((end.state.log.clone(), end.state.total, end.state.city.clone()));
    }
    assert_eq!(logs[0], logs[1]);
    assert_eq!(logs[0].0, ["in\n", "a", "b", "c"]);
}

#[tokio::test]
async fn an_open_question_can_be_answered_after_an_import() {
    let ask = |ctx: Ctx| async move {
        let city: String = ctx.interrupt("where to?")?;
        Ok::<_, NodeError>(Trip::update().city(city))
    };
    let graph = Graph::<Trip>::builder("ask").node("ask", ask).edge(START, "ask").compile().unwrap();
    let thread = graph.runner().store(MemoryStore::new()).thread("t");
    let asked = thread.run(Trip::update()).await.unwrap().interrupts()[0].id;
    let runner = graph.runner().store(MemoryStore::new());
    let other = runner.import_as("u", &export(&thread).await[..]).await.unwrap();
    assert_eq!(other.resume_by_id([(asked, "Oslo")]).await.unwrap().state.city, "Oslo");
}

#[tokio::test]
async fn what_a_crashed_step_had_saved_and_what_children_stored_come_along() {
    let store = TestStore::lasting();
    let runs = Runs::new();
    let thread = graph(&runs).runner().store(store.clone()).thread("t");
    thread.run(Trip::update()).break_before("a").await.unwrap();
    let place = Place::thread("t");
    let saved = SavedResult::new(TaskId { step: 0, rank: 0 }, "", br#"{"update":{},"next":"declared"}"#.to_vec());
    let odd = SavedResult::new(TaskId { step: 0, rank: 1 }, "memo", vec![0, 255, b'\n']);
    store.save(&place, head(&thread).await, &[saved.clone(), odd.clone()]).await.unwrap();
    let mut commit = Commit::default();
    commit.id = CheckpointId::derive("t", "child", None, "turn", 0);
    commit.bytes.extend_from_slice(b"not JSON {}");
    commit.fields.push(FieldRow::new("x", Encoding::Base, 0..0, 0..9));
    commit.due_ms = Some(77);
    store.commit(&Place::new("t", "child"), &commit).await.unwrap();

    let (runner, copy) = elsewhere();
    runner.import(&export(&thread).await[..]).await.unwrap();
    assert_eq!(copy.load(&place, None).await.unwrap().unwrap().saved, [saved, odd]);
    let row = copy.row(&Place::new("t", "child"), commit.id).await.unwrap().unwrap();
    assert_eq!((row.bytes, row.fields, row.due_ms), (commit.bytes, commit.fields, Some(77)));
    assert_eq!(export(&thread).await, export(&runner.thread("t")).await);
}

#[tokio::test]
async fn a_pruned_thread_comes_back_whole() {
    let thread = rich(MemoryStore::new()).await;
    thread.prune(Keep::Last(2)).await.unwrap();
    let lines = export(&thread).await;
    let (runner, _) = elsewhere();
    let other = runner.import(&lines[..]).await.unwrap();
    assert_eq!(export(&other).await, lines);
    assert_eq!(*other.state().await.unwrap().state, *thread.state().await.unwrap().state);
}

#[tokio::test]
async fn the_lines_are_json_that_people_can_read() {
    let graph = Graph::<Trip>::builder("g").node("a", Runs::new().node("a")).edge(START, "a").compile().unwrap();
    let seams = graph_engine::Seams::default().numbered_turns();
    let thread = graph.runner().seams(seams).store(MemoryStore::new()).thread("t");
    thread.run(Trip::update().city("Oslo")).await.unwrap();
    let lines = String::from_utf8(export(&thread).await).unwrap();
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((lines.len(), lines[0]), (4, r#"{"format":"graph-engine thread","version":1,"thread":"t"}"#));
    let fields = r#""fields":[{"name":"city","encoding":"base","value":{"json":"Oslo"}}]"#;
    assert!(lines[1].starts_with(r#"{"checkpoint":{"id":""#) && lines[1].contains(fields), "{}", lines[1]);
    assert!(lines[3].starts_with(r#"{"end":{"lines":3,"hash":""#), "{}", lines[3]);
}

async fn refused(lines: &[u8]) -> TransferError {
    let (runner, store) = elsewhere();
    let error = runner.import(lines).await.unwrap_err();
    assert_eq!(threads(&store).await, [""; 0], "{error}");
    error
}

#[tokio::test]
async fn an_export_cut_off_anywhere_is_noticed_and_nothing_is_imported() {
    let lines = export(&rich(MemoryStore::new()).await).await;
    // A line without its line break is whole too.
    let whole = |at: usize| lines[..=at].iter().filter(|byte| **byte == b'\n').count() as u64;
    for at in 0..lines.len() - 1 {
        let error = refused(&lines[..at]).await;
        assert!(matches!(error, TransferError::Truncated { line } if line == whole(at)), "{at}: {error}");
    }
    // Only the very last line break may be missing.
    let (runner, _) = elsewhere();
    runner.import(&lines[..lines.len() - 1]).await.unwrap();
}

#[tokio::test]
async fn other_lines_are_typed_errors_with_the_number_of_the_line() {
    let thread = rich(MemoryStore::new()).await;
    let text = String::from_utf8(export(&thread).await).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let last = lines.len() as u64;
    let joined = |lines: &[&str]| format!("{}\n", lines.join("\n")).into_bytes();
    let error = refused(text.replacen("\"version\":1", "\"version\":9", 1).as_bytes()).await;
    assert!(matches!(error, TransferError::Version { found: 9, known: 1 }), "{error}");
    let error = refused(text.replacen("graph-engine thread", "photo", 1).as_bytes()).await;
    assert!(matches!(error, TransferError::Line { line: 1, .. }), "{error}");
    let error = refused(&joined(&[&lines[..2], &["garbage"], &lines[2..]].concat())).await;
    assert!(matches!(error, TransferError::Line { line: 3, .. }), "{error}");
    let error = refused(&joined(&[&lines[..2], &[lines[1]], &lines[2..]].concat())).await;
    assert!(matches!(error, TransferError::Duplicate { line: 3, .. }), "{error}");
    let error = refused(&joined(&[&lines[..1], &lines[2..]].concat())).await;
    assert!(matches!(&error, TransferError::Line { line: 2, why } if why.contains("is not before it")), "{error}");
    let error = refused(text.replacen("Troms", "Trams", 1).as_bytes()).await;
    assert!(matches!(error, TransferError::Changed { line, what: "hash" } if line == last), "{error}");
    let shorter = [&lines[..lines.len() - 2], &lines[lines.len() - 1..]].concat();
    let error = refused(&joined(&shorter)).await;
    assert!(matches!(error, TransferError::Changed { line, what: "number of lines" } if line == last - 1), "{error}");
    let error = refused(&joined(&[&lines[..], &["{}"]].concat())).await;
    assert!(matches!(error, TransferError::Line { line, .. } if line == last + 1), "{error}");
    let error = refused(&[b"\xff\xfe\n", text.as_bytes()].concat()).await;
    assert!(matches!(error, TransferError::Line { line: 1, .. }), "{error}");
}

#[tokio::test]
async fn an_existing_thread_is_never_touched() {
    let thread = rich(MemoryStore::new()).await;
    let lines = export(&thread).await;
    let (runner, store) = elsewhere();
    let other = runner.import_as("u", &lines[..]).await.unwrap();
    let before = export(&other).await;
    let error = runner.import_as("u", &lines[..]).await.unwrap_err();
    assert!(matches!(&error, TransferError::Run(RunError::ThreadExists { thread }) if thread == "u"), "{error}");
    assert_eq!((export(&other).await, threads(&store).await), (before, vec!["u".to_owned()]));
}

#[tokio::test]
async fn a_store_or_writer_or_reader_that_fails_is_said() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other("no room"))
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    struct Gone;
    impl Read for Gone {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("unplugged"))
        }
    }
    let thread = rich(MemoryStore::new()).await;
    let error = thread.export(Full).await.unwrap_err();
    assert!(matches!(&error, TransferError::Write { .. }) && error.to_string().contains("no room"), "{error}");
    let lines = export(&thread).await;
    let (runner, store) = elsewhere();
    let broken = BufReader::new(Gone);
    let begin = &lines[..=lines.iter().position(|byte| *byte == b'\n').unwrap()];
    let error = runner.import(BufReader::new(begin.chain(broken))).await.unwrap_err();
    assert!(matches!(error, TransferError::Read { line: 2, .. }), "{error}");
    assert_eq!(threads(&store).await, [""; 0]);
    let failing = TestStore::new();
    failing.fail_commit_after(2);
    let error = graph(&Runs::new()).runner().store(failing.clone()).import(&lines[..]).await.unwrap_err();
    assert!(matches!(error, TransferError::Run(RunError::Store { .. })), "{error}");
    assert!(failing.threads(&ThreadFilter::default()).await.unwrap().is_empty());
    let error = runner.thread("nobody").export(Vec::new()).await.unwrap_err();
    assert!(matches!(error, TransferError::Run(RunError::UnknownThread { .. })), "{error}");
    let error = runner.graph().runner().import(&lines[..]).await.unwrap_err();
    assert!(matches!(error, TransferError::Run(RunError::NoStore { operation: "import", .. })), "{error}");
}

#[tokio::test]
async fn what_an_import_that_was_stopped_has_left_is_not_the_thread_and_the_next_one_works() {
    let lines = export(&rich(MemoryStore::new()).await).await;
    let (runner, store) = elsewhere();
    // A process was stopped after the first line.
    let mut left = Commit::default();
    left.id = CheckpointId::derive("u", "", None, "turn", 0);
    store.commit(&Place::thread("__incomplete__ u"), &left).await.unwrap();
    let other = runner.import_as("u", &lines[..]).await.unwrap();
    assert_eq!(threads(&store).await, ["u"]);
    assert_eq!(other.history(&Filter::default()).await.unwrap().len(), lines.lines().count() - 2);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Bytes of any kind in every place come back as they were.
    #[test]
    fn any_rows_come_back_byte_for_byte(
        rows in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..12), "\\PC{0,8}", 0_usize..4, any::<bool>()), 1..12),
        json in "[ \\n]?(null|1\\.0|\"[a-z]\"|\\{\"b\": 1, \"a\":\\[2,  3\\]\\})[ \\n]?",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (runner, store) = elsewhere();
            let place = Place::thread("t");
            let mut made: Vec<CheckpointId> = Vec::new();
            for (step, (bytes, name, back, sent)) in (0..).zip(rows) {
                let parent = made.len().checked_sub(1 + back.min(made.len().saturating_sub(1))).map(|at| made[at]);
                let mut commit = Commit::default();
                commit.parent = parent;
                commit.fork = true;
                commit.step = step;
                commit.id = CheckpointId::derive("t", "", parent, &name, step);
                commit.turn = name.as_str().into();
                let encoding = if sent { Encoding::Delta } else { Encoding::Base };
                commit.bytes.extend_from_slice(&bytes);
                commit.fields.push(FieldRow::new(name, encoding, step..step + 2, 0..bytes.len()));
                commit.bytes.extend_from_slice(json.as_bytes());
                store.commit(&place, &commit).await.unwrap();
                made.push(commit.id);
            }
            let lines = export(&runner.thread("t")).await;
            let (other, copy) = elsewhere();
            let thread = other.import(&lines[..]).await.unwrap();
            assert_eq!(export(&thread).await, lines);
            for id in made {
                let [mine, theirs] = [store.load(&place, Some(id)).await, copy.load(&place, Some(id)).await];
                let [mine, theirs] = [mine.unwrap().unwrap(), theirs.unwrap().unwrap()];
                assert_eq!((mine.info, mine.fields, mine.position), (theirs.info, theirs.fields, theirs.position));
            }
        });
    }
}
