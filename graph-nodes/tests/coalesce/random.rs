//! Random arrivals, drops and failures beside a model that knows no tasks: which calls are made when and with which
//! keys, and what every waiter gets at which millisecond.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_nodes::coalesce::{CoalesceError, Coalescer};
use proptest::collection::vec;
use proptest::prelude::*;
use tokio::time::{Instant, sleep_until};

// Arrivals, ends of windows, departures of waiters and ends of loads never fall on the same millisecond where their
// order would matter: arrivals come at multiples of 4, windows end at 1 more, loads at 2 more, waiters leave at 3 more.
const WINDOW: u64 = 21;
const TIMEOUT: u64 = 61;
const MAX: usize = 3;

/// What the loader does, by the number of the call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Act {
    /// Answers odd keys only.
    Answer,
    Fail,
    Panic,
    Never,
}

#[derive(Clone, Debug)]
struct Asked {
    at: u64,
    tenant: u8,
    key: u8,
    leaves: Option<u64>,
}

/// What a waiter has in the end.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Value(u64, Option<u32>),
    Error(u64, &'static str),
    Left,
}

/// When and with which keys, per tenant: the order of two tenants in one millisecond says nothing.
type Calls = BTreeMap<u8, Vec<(u64, Vec<u8>)>>;

#[derive(Clone, Debug, Default, PartialEq)]
struct Ran {
    calls: Calls,
    ends: Vec<End>,
}

fn asked() -> impl Strategy<Value = Vec<Asked>> {
    let one = (0..12_u64, 0..2_u8, 0..5_u8, proptest::option::weighted(0.3, 0..20_u64));
    vec(one, 1..40).prop_map(|all| {
        let mut at = 0;
        all.into_iter()
            .map(|(wait, tenant, key, leaves)| {
                at += wait / 3 * 4;
                Asked { at, tenant, key, leaves: leaves.map(|steps| at + 3 + steps * 4) }
            })
            .collect()
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![4 => Just(Act::Answer), 1 => Just(Act::Fail), 1 => Just(Act::Panic), 1 => Just(Act::Never)]
}

fn value(tenant: u8, key: u8) -> Option<u32> {
    (key % 2 == 1).then(|| u32::from(tenant) * 100 + u32::from(key))
}

/// A batch of the model.
#[derive(Debug)]
struct Batch {
    opened: u64,
    keys: Vec<u8>,
    waiters: Vec<usize>,
    /// When the loader was called, and when its answer comes.
    flying: Option<(u64, u64, Act)>,
    over: bool,
}

/// What should happen. Calls of a tenant take the acts of that tenant in turn.
fn expected(asked: &[Asked], acts: &[Vec<Act>], join: bool) -> Ran {
    let mut ran = Ran { ends: vec![End::Left; asked.len()], ..Ran::default() };
    let last = asked.iter().map(|one| one.leaves.unwrap_or(one.at)).max().unwrap_or(0) + WINDOW + TIMEOUT + 4;
    for tenant in 0..2 {
        let mut batches: Vec<Batch> = Vec::new();
        let mut calls: Vec<(u64, Vec<u8>)> = Vec::new();
        let call = |batch: &mut Batch, now: u64, calls: &mut Vec<(u64, Vec<u8>)>| {
            let act = acts[usize::from(tenant)].get(calls.len()).copied().unwrap_or(Act::Answer);
            // A full batch leaves at a multiple of 4, another one at 1 more; loads end at 2 more.
            let ends = match (act, now % 4) {
                (Act::Never, _) => now + TIMEOUT,
                (_, 0) => now + 10,
                _ => now + 9,
            };
            calls.push((now, batch.keys.clone()));
            batch.flying = Some((now, ends, act));
        };
        for now in 0..=last {
            for batch in &mut batches {
                let Some((_, ends, act)) = batch.flying.filter(|flying| !batch.over && flying.1 == now) else {
                    continue;
                };
                batch.over = true;
                for waiter in &batch.waiters {
                    ran.ends[*waiter] = match act {
                        Act::Answer => End::Value(ends, value(tenant, asked[*waiter].key)),
                        Act::Fail => End::Error(ends, "failed"),
                        Act::Panic => End::Error(ends, "panicked"),
                        Act::Never => End::Error(ends, "timeout"),
                    };
                }
            }
            for (at, one) in asked.iter().enumerate().filter(|(_, one)| one.tenant == tenant && one.at == now) {
                let wants = |batch: &&mut Batch| !batch.over && batch.keys.contains(&one.key);
                let open = batches.iter_mut().rfind(|batch| !batch.over && batch.flying.is_none());
                let joined = match open {
                    Some(batch) if batch.keys.contains(&one.key) => Some(batch),
                    _ if join => batches.iter_mut().rfind(|batch| batch.flying.is_some() && wants(batch)),
                    _ => None,
                };
                if let Some(batch) = joined {
                    batch.waiters.push(at);
                    continue;
                }
                if !batches.last().is_some_and(|batch| !batch.over && batch.flying.is_none()) {
                    batches.push(Batch { opened: now, keys: vec![], waiters: vec![], flying: None, over: false });
                }
                let batch = batches.last_mut().unwrap();
                batch.keys.push(one.key);
                batch.waiters.push(at);
                if batch.keys.len() == MAX {
                    call(batch, now, &mut calls);
                }
            }
            for (at, _) in asked.iter().enumerate().filter(|(_, one)| one.leaves == Some(now)) {
                let Some(batch) = batches.iter_mut().find(|batch| !batch.over && batch.waiters.contains(&at)) else {
                    continue;
                };
                batch.waiters.retain(|waiter| *waiter != at);
                if batch.flying.is_none() && batch.waiters.iter().all(|waiter| asked[*waiter].key != asked[at].key) {
                    batch.keys.retain(|key| *key != asked[at].key);
                }
                batch.over = batch.waiters.is_empty();
            }
            for batch in batches.iter_mut().filter(|batch| !batch.over && batch.flying.is_none()) {
                if batch.opened + WINDOW == now {
                    call(batch, now, &mut calls);
                }
            }
        }
        if !calls.is_empty() {
            ran.calls.insert(tenant, calls);
        }
    }
    ran
}

/// What happens.
async fn really(asked: &[Asked], acts: &[Vec<Act>], join: bool) -> Ran {
    let begun = Instant::now();
    let ms = move || u64::try_from(begun.elapsed().as_millis()).unwrap();
    let calls: Arc<Mutex<Calls>> = Arc::default();
    let (seen, acts) = (calls.clone(), acts.to_vec());
    let options = Coalescer::builder()
        .window(Duration::from_millis(WINDOW))
        .timeout(Duration::from_millis(TIMEOUT))
        .max_keys(MAX)
        .join_in_flight(join);
    let loads = options.build(move |tenant, keys: Vec<u8>| {
        let tenant: u8 = tenant.parse().unwrap();
        let mut calls = seen.lock().unwrap();
        let calls = calls.entry(tenant).or_default();
        let act = acts[usize::from(tenant)].get(calls.len()).copied().unwrap_or(Act::Answer);
        calls.push((ms(), keys.clone()));
        let ends = if ms() % 4 == 0 { ms() + 10 } else { ms() + 9 };
        async move {
            sleep_until(begun + Duration::from_millis(ends)).await;
            match act {
                Act::Answer => {}
                Act::Fail => return Err("down".into()),
                Act::Panic => panic!("broken"),
                Act::Never => std::future::pending().await,
            }
            let found = keys.into_iter().filter_map(|key| Some((key, value(tenant, key)?)));
            Ok(found.collect::<HashMap<u8, u32>>())
        }
    });
    let waiters: Vec<_> = asked
        .iter()
        .cloned()
        .map(|one| {
            let tenant = loads.tenant(one.tenant.to_string());
            tokio::spawn(async move {
                sleep_until(begun + Duration::from_millis(one.at)).await;
                let get = tenant.get(one.key);
                let got = match one.leaves {
                    None => get.await,
                    Some(at) => match tokio::time::timeout_at(begun + Duration::from_millis(at), get).await {
                        Ok(got) => got,
                        Err(_) => return End::Left,
                    },
                };
                match got {
                    Ok(value) => End::Value(ms(), value),
                    Err(CoalesceError::Failed { .. }) => End::Error(ms(), "failed"),
                    Err(CoalesceError::Panicked { .. }) => End::Error(ms(), "panicked"),
                    Err(CoalesceError::Timeout { .. }) => End::Error(ms(), "timeout"),
                    Err(error) => panic!("{error}"),
                }
            })
        })
        .collect();
    let mut ran = Ran::default();
    for waiter in waiters {
        ran.ends.push(waiter.await.unwrap());
    }
    loads.shutdown().await;
    assert_eq!(loads.active_tenants(), 0);
    assert_eq!(loads.metrics().waiters, u64::try_from(asked.len()).unwrap());
    ran.calls = std::mem::take(&mut *calls.lock().unwrap());
    ran
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_arrivals_drops_and_failures_go_as_the_model_says(
        asked in asked(),
        acts in vec(vec(act(), 0..8), 2..=2),
        join: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let ran = runtime.block_on(really(&asked, &acts, join));
        prop_assert_eq!(ran, expected(&asked, &acts, join));
    }
}
