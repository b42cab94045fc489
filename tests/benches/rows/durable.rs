//! Rows 9 to 16 on SQLite: what a checkpoint in a file costs, how large it is, and how a thread is read again.

use std::cell::RefCell;
use std::rc::Rc;

use graph_engine::{CheckpointStore, Durability, Filter, Keep, KeptStates, Place, Runner};
use graph_engine_sqlite::{Format, SqliteOptions, SqliteStore, Synchronous};

use crate::checkpoints::{SHORT, THREADS, many_threads};
use crate::limit::sqlite::{Deltas, delta, deltas};
use crate::measure::{Timed, times, with};
use crate::suite::{Law, Row, Suite};
use crate::workloads::chat::Chat;
use crate::workloads::count::{Tick, chain_runner};
use crate::workloads::sqlite::{Filed, grow};
use crate::workloads::{Here, turn};

const STEPS: u64 = 1_000;
const READS: u64 = 50;
const TURNS: u64 = 20;

/// One turn in a new file. Making and closing the file is outside of the time, on both sides.
pub(crate) fn stored(here: &Here, synchronous: Synchronous, durability: Durability, steps: u64) -> Timed<'static> {
    stored_in(here, SqliteOptions::new().synchronous(synchronous), durability, steps)
}

fn stored_in(here: &Here, options: SqliteOptions, durability: Durability, steps: u64) -> Timed<'static> {
    let here = here.clone();
    let make = move || {
        let filed = Filed::open(options.clone());
        (filed.growing(durability), filed)
    };
    with(make, move |(runner, _)| here.run(grow(runner, steps)))
}

/// A row and a commit for each super-step.
fn each_by_hand(synchronous: Synchronous) -> Timed<'static> {
    let deltas = deltas(STEPS);
    with(move || Deltas::new(synchronous), move |limit| limit.each(&deltas))
}

/// A commit for a hundred rows.
fn hundreds_by_hand() -> Timed<'static> {
    let deltas = deltas(STEPS);
    with(|| Deltas::new(Synchronous::Full), move |limit| limit.in_groups(&deltas, 100))
}

/// Bytes a super-step of a turn of so many.
pub(crate) fn size(here: &Here, format: Format, steps: u64) -> f64 {
    let filed = Filed::new(Synchronous::Off, format);
    here.run(grow(&filed.growing(Durability::Sync), steps));
    filed.bytes() as f64 / steps as f64
}

pub(crate) fn size_by_hand(steps: u64) -> f64 {
    let limit = Deltas::new(Synchronous::Off);
    limit.together(|| (0..steps).for_each(|step| limit.insert("t", step, &delta(step))));
    limit.bytes() as f64 / steps as f64
}

pub(crate) fn rows(suite: &mut Suite, here: &Here) {
    let row = |number, variant| Row::new(number, "ckpt_loop", STEPS, variant).unit("super-step", STEPS);
    suite.pair(row(9, "sqlite-grow, full sync, in place").wall().ratio(1.15), || {
        let options = SqliteOptions::new().synchronous(Synchronous::Full).flushes_in_place(true);
        (each_by_hand(Synchronous::Full), stored_in(here, options, Durability::Sync, STEPS))
    });
    suite.pair(row(9, "sqlite-grow, full sync").wall().ratio(1.15).beside(), || {
        (each_by_hand(Synchronous::Full), stored(here, Synchronous::Full, Durability::Sync, STEPS))
    });
    suite.pair(row(10, "sqlite-grow, normal sync").ratio(1.5).most(15_000.0), || {
        (each_by_hand(Synchronous::Normal), stored(here, Synchronous::Normal, Durability::Sync, STEPS))
    });
    let off = Row::extra("ckpt_loop", STEPS, "sqlite-grow, no sync").unit("super-step", STEPS);
    suite.pair(off, || (each_by_hand(Synchronous::Off), stored(here, Synchronous::Off, Durability::Sync, STEPS)));
    suite.pair(row(11, "sqlite-grow, full sync, async durability").ratio(2.0).most(7_000.0), || {
        (hundreds_by_hand(), stored(here, Synchronous::Full, Durability::Async, STEPS))
    });
    let row = |variant| Row::new(12, "ckpt_bytes", 2 * STEPS, variant).unit("super-step", 1).ratio(1.6).most(300.0);
    suite.bytes(row("sqlite-grow"), || (size_by_hand(2 * STEPS), size(here, Format::Json, 2 * STEPS)));
    suite.bytes(row("sqlite-grow, MessagePack").beside(), || {
        (size_by_hand(2 * STEPS), size(here, Format::MessagePack, 2 * STEPS))
    });
    let row = |number, variant, units| Row::new(number, "resume", STEPS, variant).unit("call", units);
    suite.pair(row(13, "sqlite-get_state", READS).ratio(1.2).most(300_000.0), || {
        (state_by_hand(), read_state(here, KeptStates::none()))
    });
    suite.pair(row(13, "sqlite-get_state, kept", READS).ratio(1.2).most(300_000.0).beside(), || {
        (state_by_hand(), read_state(here, KeptStates::default()))
    });
    suite.pair(row(14, "sqlite-continue", TURNS).ratio(1.4).most(400_000.0), || {
        (go_on_by_hand(), go_on(here, Durability::Sync))
    });
    suite.pair(row(14, "sqlite-continue, durability exit", TURNS).ratio(1.4).most(400_000.0).beside(), || {
        (go_on_by_hand(), go_on(here, Durability::Exit))
    });
    suite.pair(row(15, "sqlite-history10", READS).ratio(10.0).most(50_000.0), || {
        let look = |here: &Here, runner: &Runner<Chat>| assert_eq!(here.run(history(runner)), 10);
        (history_by_hand(), read(here, KeptStates::none(), look))
    });
    let row = Row::new(16, "threads", THREADS, "sqlite, normal sync").unit("graph", THREADS);
    suite.pair(row.ratio(3.0).most(15_000.0), || (threads_by_hand(), threads(here)));
}

/// A warm store with a thread of a thousand checkpoints and 100 kB.
fn filled(here: &Here, synchronous: Synchronous) -> Filed {
    let filed = Filed::new(synchronous, Format::Json);
    here.run(grow(&filed.growing(Durability::Sync), STEPS));
    filed
}

/// Its whole state.
fn read_state(here: &Here, kept: KeptStates) -> Timed<'static> {
    read(here, kept, |here, runner| assert_eq!(here.run(messages(runner)), STEPS))
}

/// Reads of that thread.
fn read(here: &Here, kept: KeptStates, look: impl Fn(&Here, &Runner<Chat>) + 'static) -> Timed<'static> {
    let here = here.clone();
    let filed = filled(&here, Synchronous::Off);
    let runner = filed.growing(Durability::Sync).kept_states(kept);
    times(READS, move || {
        let _open = &filed;
        look(&here, &runner);
    })
}

async fn messages(runner: &Runner<Chat>) -> u64 {
    runner.thread("t").state().await.expect("a state").state.messages.len() as u64
}

async fn history(runner: &Runner<Chat>) -> usize {
    runner.thread("t").history(&Filter::default().limit(10)).await.expect("a list").len()
}

fn state_by_hand() -> Timed<'static> {
    let limit = Deltas::filled(Synchronous::Off, STEPS);
    times(READS, move || assert_eq!(limit.snapshot().len() as u64, STEPS))
}

fn history_by_hand() -> Timed<'static> {
    let limit = Deltas::filled(Synchronous::Off, STEPS);
    times(READS, move || assert_eq!(limit.newest().len(), 10))
}

/// The thread goes on by one super-step, in a process that is warm.
fn go_on(here: &Here, durability: Durability) -> Timed<'static> {
    let here = here.clone();
    let filed = filled(&here, Synchronous::Normal);
    let runner = filed.growing(durability);
    times(TURNS, move || {
        let _open = &filed;
        let end = here.run(turn(&runner, Chat::update().limit(0)));
        assert!(end.report.steps == 1 && end.state.messages.len() as u64 > STEPS);
    })
}

/// The whole list read, and one row more.
fn go_on_by_hand() -> Timed<'static> {
    let limit = Deltas::filled(Synchronous::Normal, STEPS);
    let mut next = STEPS;
    times(TURNS, move || {
        assert_eq!(limit.snapshot().len() as u64, STEPS);
        limit.insert("t", next, &delta(next));
        next += 1;
    })
}

/// One writer; every graph's super-step of the same number shares a commit.
fn threads_by_hand() -> Timed<'static> {
    with(
        || Deltas::new(Synchronous::Normal),
        |limit| {
            for step in 0..SHORT {
                limit.together(|| (0..THREADS).for_each(|id| limit.insert(&id.to_string(), step, b"{\"n\":1}")));
            }
        },
    )
}

fn threads(here: &Here) -> Timed<'static> {
    let (here, chain) = (here.clone(), chain_runner(SHORT, || Tick));
    let make = move || {
        let filed = Filed::new(Synchronous::Normal, Format::Json);
        (chain.clone().store(filed.store.clone()), filed)
    };
    with(make, move |(runner, _)| here.run(many_threads(runner)))
}

pub(crate) fn laws(suite: &mut Suite, here: &Here) {
    let law = |rows, name, unit, units, most| Law { rows, name, unit, units, most };
    let name = "load: a small state in SQLite, 1,000, 10,000 checkpoints";
    suite.law(&law(&[], name, "call", (200, 200), 1.1), || (load(here, 1_000), load(here, 10_000)));
    let name = "history: growing state in SQLite, 10 threads of 1,000, 1 of 10,000";
    suite.law(&law(&[], name, "super-step", (10_000, 10_000), 1.1), || {
        // Both sides leave as many checkpoints in a file of their own. A file is closed when the next one is made, outside
        // of the time.
        let kept = Rc::new(RefCell::new(None));
        let run = |threads| {
            let (here, kept) = (here.clone(), kept.clone());
            with(
                move || {
                    let filed = Filed::new(Synchronous::Normal, Format::Json);
                    let runner = filed.growing(Durability::Sync);
                    *kept.borrow_mut() = Some(filed);
                    runner
                },
                move |runner| {
                    for id in 0..threads {
                        let turn = runner.thread(format!("t{id}")).run(Chat::update().limit(10_000 / threads));
                        here.run(turn.into_future()).expect("it ends");
                    }
                },
            )
        };
        (run(10), run(1))
    });
    let sizes = |format, small, large| (size(here, format, small), size(here, format, large));
    let name = "storage: JSON in SQLite, 1,000, 2,000 super-steps";
    suite.law_of_bytes(&law(&[12], name, "super-step", (1, 1), 1.025), || sizes(Format::Json, 1_000, 2_000));
    let name = "storage: JSON in SQLite, 2,000, 4,000 super-steps";
    suite.law_of_bytes(&law(&[], name, "super-step", (1, 1), 1.025), || sizes(Format::Json, 2_000, 4_000));
}

/// What a load costs of a state that is small however many checkpoints there are.
fn load(here: &Here, steps: u64) -> Timed<'static> {
    let here = here.clone();
    let filed = Filed::new(Synchronous::Off, Format::Json);
    here.run(async {
        let (place, mut parent) = (Place::thread("t"), None);
        for step in 0..steps {
            let next = counter(parent, step);
            filed.store.commit(&place, &next).await.expect("stored");
            parent = Some(next.id);
        }
        filed.store.prune(&place, Keep::Since(0)).await.expect("pruned");
    });
    times(200, move || {
        // All of it, for the folder must stay.
        let filed = &filed;
        let store: &SqliteStore = &filed.store;
        let stored = here.run(store.load(&Place::thread("t"), None)).expect("loads");
        assert_eq!(stored.expect("stored").fields.len(), 1);
    })
}

/// A commit of one field that is written whole.
fn counter(parent: Option<graph_engine::CheckpointId>, step: u64) -> graph_engine::Commit {
    let mut commit = graph_engine::Commit::default();
    commit.id = graph_engine::CheckpointId::derive("t", "", parent, "turn", step);
    (commit.parent, commit.turn, commit.step) = (parent, "turn".into(), step);
    commit.bytes.extend_from_slice(step.to_string().as_bytes());
    let bytes = 0..commit.bytes.len();
    commit.fields.push(graph_engine::FieldRow::new("count", graph_engine::Encoding::Base, 0..0, bytes));
    commit.bytes.extend_from_slice(b"{}");
    commit
}
