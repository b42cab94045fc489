//! A backend that writes down its calls, and waiters that write down when they were answered.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_nodes::coalesce::{CoalesceError, Coalescer, CoalescerBuilder};
use tokio::time::{Instant, sleep};

pub(crate) type Weather = Coalescer<&'static str, String>;

/// What the backend does with a call; without an act it answers all keys at once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Answers after so many milliseconds.
    After(u64),
    /// Answers only these keys, and in the opposite order.
    Only(&'static [&'static str]),
    /// Fails after so many milliseconds.
    Fail(u64),
    /// Panics before it returns a future.
    PanicAtOnce,
    /// Panics after so many milliseconds.
    Panic(u64),
    Never,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Called {
    pub(crate) at: u64,
    pub(crate) tenant: String,
    pub(crate) keys: Vec<&'static str>,
}

#[derive(Clone)]
pub(crate) struct Backend {
    begun: Instant,
    calls: Arc<Mutex<Vec<Called>>>,
    acts: Arc<Mutex<VecDeque<Act>>>,
}

impl Backend {
    pub(crate) fn new(acts: impl IntoIterator<Item = Act>) -> Self {
        let acts = Arc::new(Mutex::new(acts.into_iter().collect()));
        Self { begun: Instant::now(), calls: Arc::default(), acts }
    }

    pub(crate) fn weather(&self, options: CoalescerBuilder) -> Weather {
        let backend = self.clone();
        options.build(move |tenant, keys: Vec<&'static str>| {
            let call = Called { at: backend.ms(), tenant: tenant.to_string(), keys: keys.clone() };
            backend.calls.lock().unwrap().push(call);
            let act = backend.acts.lock().unwrap().pop_front();
            if matches!(act, Some(Act::PanicAtOnce)) {
                panic!("no backend");
            }
            async move {
                let value = |key: &'static str| (key, format!("{tenant}: {key}"));
                let all: HashMap<_, _> = keys.into_iter().map(value).collect();
                match act {
                    None | Some(Act::PanicAtOnce) => {}
                    Some(Act::After(ms)) => sleep(Duration::from_millis(ms)).await,
                    Some(Act::Only(keys)) => return Ok(keys.iter().rev().map(|key| value(key)).collect()),
                    Some(Act::Fail(ms)) => {
                        sleep(Duration::from_millis(ms)).await;
                        return Err("backend down".into());
                    }
                    Some(Act::Panic(ms)) => {
                        sleep(Duration::from_millis(ms)).await;
                        panic!("backend broke");
                    }
                    Some(Act::Never) => std::future::pending().await,
                }
                Ok(all)
            }
        })
    }

    /// Milliseconds since the test began.
    pub(crate) fn ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap()
    }

    /// When each call was made, and with which keys.
    pub(crate) fn calls(&self) -> Vec<(u64, Vec<&'static str>)> {
        self.calls.lock().unwrap().iter().map(|call| (call.at, call.keys.clone())).collect()
    }

    pub(crate) fn tenants(&self) -> Vec<Called> {
        self.calls.lock().unwrap().clone()
    }
}

pub(crate) type Got = Result<Option<String>, CoalesceError>;

/// Asks in a task of its own: what it gets, and when.
pub(crate) fn ask(
    backend: &Backend,
    weather: &Weather,
    tenant: &str,
    key: &'static str,
) -> tokio::task::JoinHandle<(u64, Got)> {
    let (backend, tenant) = (backend.clone(), weather.tenant(tenant));
    tokio::spawn(async move {
        let got = tenant.get(key).await;
        (backend.ms(), got)
    })
}

/// The same, dropped after so many milliseconds if there is no answer before.
pub(crate) fn ask_for(
    backend: &Backend,
    weather: &Weather,
    key: &'static str,
    ms: u64,
) -> tokio::task::JoinHandle<Option<(u64, Got)>> {
    let (backend, tenant) = (backend.clone(), weather.tenant("acme"));
    tokio::spawn(async move {
        let got = tokio::time::timeout(Duration::from_millis(ms), tenant.get(key)).await.ok()?;
        Some((backend.ms(), got))
    })
}

pub(crate) async fn wait(ms: u64) {
    sleep(Duration::from_millis(ms)).await;
}

/// The value that the backend has for a key of `acme`.
pub(crate) fn value(key: &str) -> Option<String> {
    Some(format!("acme: {key}"))
}

/// Time and value of somebody who got one.
pub(crate) fn got((at, got): (u64, Got)) -> (u64, Option<String>) {
    (at, got.unwrap())
}

/// Time and error of somebody who got none.
pub(crate) fn failed((at, got): (u64, Got)) -> (u64, CoalesceError) {
    (at, got.unwrap_err())
}

/// Twelve keys.
pub(crate) const CITIES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
