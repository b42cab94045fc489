//! A backend that writes down its requests.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use graph_nodes::batch::{BatchLookup, BatchReport, ItemOutcome};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

/// What the backend does with a request.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Act {
    /// Answers all ids after so many milliseconds.
    After(u64),
    Fail,
    Panic,
    PanicAtOnce,
    Never,
}

type Requests = Arc<Mutex<Vec<(u64, Vec<String>)>>>;

#[derive(Clone, Default)]
pub(crate) struct Backend {
    requests: Requests,
}

impl Backend {
    /// A lookup of orders, which does with each request what is said for its number.
    pub(crate) fn orders(&self, act: impl Fn(usize) -> Act + Send + Sync + 'static) -> BatchLookup {
        let (requests, begun) = (self.requests.clone(), Instant::now());
        let lookup = BatchLookup::new(move |ids: Vec<String>| {
            let at = u64::try_from(begun.elapsed().as_millis()).unwrap();
            let mut all = requests.lock().unwrap();
            all.push((at, ids.clone()));
            let act = act(all.len() - 1);
            drop(all);
            if matches!(act, Act::PanicAtOnce) {
                panic!("no backend");
            }
            async move {
                match act {
                    Act::After(ms) => sleep(Duration::from_millis(ms)).await,
                    Act::Fail => return Err("backend down".into()),
                    Act::Panic | Act::PanicAtOnce => {
                        tokio::task::yield_now().await;
                        panic!("backend broke")
                    }
                    Act::Never => std::future::pending().await,
                }
                let rows = ids.into_iter().filter(|id| !id.contains("GONE"));
                Ok(rows.map(|id| (id.clone(), record(&id))).collect::<HashMap<_, _>>())
            }
        });
        lookup.normalise(|id| id.trim().to_uppercase()).validate(|id| match id.starts_with("ORD-") {
            true => Ok(()),
            false => Err(format!("`{id}` is no order number; they look like ORD-17")),
        })
    }

    /// When each request was made, and with how many ids.
    pub(crate) fn sizes(&self) -> Vec<(u64, usize)> {
        self.requests.lock().unwrap().iter().map(|(at, ids)| (*at, ids.len())).collect()
    }

    /// The ids of all requests.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().flat_map(|(_, ids)| ids.clone()).collect()
    }
}

pub(crate) fn record(id: &str) -> Value {
    json!({"order": id, "status": "shipped", "customer": "somebody"})
}

/// `ORD-first` to `ORD-last`.
pub(crate) fn numbered(first: usize, last: usize) -> Vec<String> {
    (first..=last).map(|number| format!("ORD-{number}")).collect()
}

pub(crate) fn ids(report: &BatchReport) -> Vec<&str> {
    report.results.iter().map(|result| &*result.id).collect()
}

/// Requested, ok, not found, invalid, error.
pub(crate) fn counts(report: &BatchReport) -> [usize; 5] {
    let summary = &report.summary;
    [summary.requested, summary.ok, summary.not_found, summary.invalid, summary.error]
}

pub(crate) fn is_retryable_error(outcome: &ItemOutcome) -> bool {
    matches!(outcome, ItemOutcome::Error { retryable: true, .. })
}
