//! Scripted graphs whose store fails at every operation, and whose turns are dropped at every poll: each ends like
//! an undisturbed one, with nothing done twice but what was in flight.

use std::sync::Arc;

use behaviour_tests::TestStore;
use behaviour_tests::crash::{
    FaultStore, Ledger, Line, SCRIPTS, Script, When, Work, finish, go_on, go_on_in_place, verify, verify_state,
};
use behaviour_tests::poll_at_most;
use graph_engine::{CheckpointStore, Parallel, Runner};

/// How an undisturbed thread ends, and what it did.
async fn calm(script: &Script) -> (Work, Vec<Line>) {
    let ledger = Arc::new(Ledger::in_memory());
    let runner = script.runner().store(TestStore::lasting()).provide_arc(ledger.clone());
    let end = finish(&runner, "t", &ledger).await.unwrap();
    (end, ledger.lines())
}

fn runner(script: &Script, store: impl CheckpointStore, ledger: &Arc<Ledger>, parallel: Parallel) -> Runner<Work> {
    script.runner().store(store).provide_arc(ledger.clone()).parallel(parallel)
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_at_its_nth_operation_loses_nothing_and_doubles_nothing() {
    let mut faults = 0;
    for script in SCRIPTS {
        let (end, done) = calm(script).await;
        for when in [When::Before, When::After, When::Torn] {
            for parallel in [Parallel::Joined, Parallel::Spawned] {
                // How tasks share the processor has nothing to do with halves.
                if (when, parallel) == (When::Torn, Parallel::Joined) {
                    continue;
                }
                for at in 0.. {
                    let what = format!("{script:?}, operation {at}, {when:?}, {parallel:?}");
                    let ledger = Arc::new(Ledger::in_memory());
                    let store = FaultStore::new(Arc::new(TestStore::lasting()), at, when);
                    let runner = runner(script, store.clone(), &ledger, parallel);
                    let mut failed = 0;
                    let last = loop {
                        match go_on(&runner.thread("t"), &ledger).await {
                            Ok(Some(last)) => break last,
                            Ok(None) => {}
                            Err(_) => {
                                ledger.write(&Line::Start);
                                failed += 1;
                            }
                        }
                    };
                    assert!(failed <= 1, "{what}: one fault is one error");
                    verify_state(&last, &end).unwrap_or_else(|why| panic!("{what}: {why}"));
                    verify(&ledger.lines(), &done).unwrap_or_else(|why| panic!("{what}: {why}"));
                    if !store.has_failed() {
                        break;
                    }
                    faults += 1;
                }
            }
        }
    }
    assert!(faults > 1_500, "{faults} faults");
}

#[tokio::test(start_paused = true)]
async fn a_turn_that_is_dropped_at_any_poll_leaves_whole_steps_and_a_usable_thread() {
    let mut drops = 0;
    for script in SCRIPTS {
        let (end, done) = calm(script).await;
        for parallel in [Parallel::Joined, Parallel::Spawned] {
            for polls in 1.. {
                let what = format!("{script:?}, dropped after {polls} polls, {parallel:?}");
                let ledger = Arc::new(Ledger::in_memory());
                let store = FaultStore::new(Arc::new(TestStore::lasting()), usize::MAX, When::Before);
                let runner = runner(script, store, &ledger, parallel);
                let dropped = {
                    let thread = runner.thread("t");
                    let all = async { while matches!(go_on_in_place(&thread, &ledger).await, Ok(None)) {} };
                    poll_at_most(all, polls).await.is_none()
                };
                ledger.write(&Line::Start);
                // What is still being stored of the dropped turn holds the thread.
                for _ in 0..50 {
                    tokio::task::yield_now().await;
                }
                let last = finish(&runner, "t", &ledger).await.unwrap();
                verify_state(&last, &end).unwrap_or_else(|why| panic!("{what}: {why}"));
                verify(&ledger.lines(), &done).unwrap_or_else(|why| panic!("{what}: {why}"));
                if !dropped {
                    break;
                }
                drops += 1;
            }
        }
    }
    assert!(drops >= 2_000, "{drops} drops");
}
