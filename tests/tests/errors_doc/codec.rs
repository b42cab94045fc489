//! What a state can't be written to or read from, and what stores say.

use std::collections::BTreeMap;

use futures_util::future::join;
use graph_engine::{
    CheckpointId, CodecError, Encoding, In, MemoryStore, ReduceError, Route, RunError, START, State, StoreError,
    TurnError,
};
use std::time::Duration;

use crate::doc::{Entry, Section};
use crate::fake::Fake;
use crate::trip::{Trip, run, runner, slow, trip};

#[derive(State, Clone, Default)]
struct Seats {
    taken: BTreeMap<(u32, char), String>,
}

#[derive(Route)]
enum ToQuote {
    Quote(f64),
}

async fn send() -> ToQuote {
    ToQuote::Quote(f64::NAN)
}

async fn quote(_: In<f64>) {}

/// What a payload that is no JSON gives at the commit.
async fn payload() -> Entry {
    let sending = runner(trip().node("explore", send).node("quote", quote).edge(START, "explore"));
    let error = run(&sending.store(MemoryStore::new())).await;
    let RunError::Encode { cause, .. } = &*error.error else { panic!("not the payload: {error}") };
    Entry::variant(
        "CodecError",
        cause,
        "What is sent to a task travels by pointer and is written at a commit. Send something that has a form in JSON.",
    )
}

pub(crate) async fn state() -> Section {
    let nan = Trip { price: f64::NAN, ..Trip::default() }.encode(1, None, &mut Vec::new());
    let seats = Seats { taken: BTreeMap::from([((3, 'a'), "guest-7".to_owned())]) };
    let keys = seats.encode(0, None, &mut Vec::new());
    let decode = Trip::default().decode(0, Encoding::Base, b"17");
    let unknown = Trip::default().decode_update(br#"{"town":"Oslo"}"#).map(drop);
    let staged = Trip::default().stage(&mut Default::default(), &mut Trip::update().total(-5));
    let codec =
        |error: Result<(), CodecError>, means| Entry::variant("CodecError", &error.expect_err("refused"), means);
    let id = "turn-1".parse::<CheckpointId>().expect_err("no id");
    Section {
        title: "Reading and writing a state",
        intro: "A state becomes JSON field by field. These are the sources of `RunError::Encode`, of \
                `RunError::Restore`, `RunError::Merge` and `RunError::Input`.",
        entries: vec![
            codec(
                nan.map(drop),
                "JSON has no NaN and no infinity, and `null` would not be read back. Keep such a value out of the \
                 state, or say it by an `Option` or enum. In a list the value is shown, not its place.",
            ),
            codec(
                keys.map(drop),
                "The field's own `Serialize` failed. Mostly a map whose keys are no strings: use a list of pairs, or \
                 mark the field `#[state(transient)]`.",
            ),
            codec(
                decode,
                "The field's type changed since the checkpoint was made. Let the new type's `Deserialize` take the old \
                 form too, or rename the field.",
            ),
            codec(
                unknown,
                "A result that was kept (of a node with a cache, for example) writes a field that was renamed or removed \
                 since. A checkpoint's own saved results are read without that field, and the report says so.",
            ),
            payload().await,
            Entry::plain(
                "`ReduceError`",
                [staged.expect_err("refused"), ReduceError::new("total", "overflow")],
                "A `#[state(with = ..)]` function returned an error. The words behind the colon are its own.",
            ),
            Entry::plain(
                "An id of a checkpoint that is none",
                [id],
                "`str::parse::<CheckpointId>`. Take the id from `Thread::history` or `ThreadState::checkpoint`.",
            ),
        ],
    }
}

pub(crate) async fn stores() -> Section {
    let store = MemoryStore::new();
    let one = || runner(trip().node("explore", slow).edge(START, "explore")).store(store.clone()).thread("guest-7");
    // Another process, which does not know that a turn runs here.
    let other = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        one().abandon().await.expect("it moves the head");
    };
    let (raced, ()) = join(one().run(Trip::update()).into_future(), other).await;
    let conflict = raced.expect_err("the head moved");
    let broken = |error: fn() -> StoreError| async move {
        run(&runner(trip().node("explore", slow).edge(START, "explore")).store(Fake::broken(error))).await
    };
    let corrupt = broken(|| StoreError::corrupt("guest-7", "row 3 is cut off")).await;
    let sealed = broken(|| StoreError::unknown_key("guest-7", CheckpointId::default().to_string(), "1")).await;
    let unavailable = broken(|| StoreError::unavailable("connection refused")).await;
    let full = broken(|| StoreError::full("no space left on device")).await;
    let entry = |error: &TurnError, means| match &*error.error {
        RunError::Store { cause: source, .. } => Entry::variant("StoreError", source, means),
        other => panic!("not the store: {other}"),
    };
    Section {
        title: "Checkpoint stores",
        intro: "What a `CheckpointStore` answers. A turn shows it as `RunError::Store`, with the thread in front.",
        entries: vec![
            entry(
                &conflict,
                "Two processes ran turns of one thread. The slower one changed nothing; its nodes may have had effects \
                 outside, which is what `Ctx::idempotency_key` is for.",
            ),
            entry(
                &corrupt,
                "What is stored is damaged. `Thread::state_at` with an older checkpoint may still be readable; else \
                 restore a backup or `Thread::delete` the thread.",
            ),
            entry(
                &sealed,
                "A store that seals its rows was given other keys than those that sealed them: an old key was taken away \
                 too early, or another process seals with a newer one already.",
            ),
            entry(
                &unavailable,
                "Whether the commit arrived is unknown, and a repeated commit is recognised. Run or `proceed` again.",
            ),
            entry(&full, "Delete or prune old threads (`CheckpointStore::prune`), then `proceed`."),
        ],
    }
}
