//! Whatever a list holds, each of its ids is in the report exactly once.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex};

use graph_nodes::batch::{BatchError, BatchLookup, ItemOutcome};
use proptest::collection::vec;
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_id_is_answered_or_deferred_once_and_only_valid_ones_are_sent(
        raw in vec(proptest::option::weighted(0.9, "[ abcx\u{130}]{0,3}"), 0..40),
        cap in 1..12_usize,
        chunk in 1..5_usize,
        concurrency in 1..4_usize,
        bad_chunk in 0..6_usize,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
        let sent = Arc::new(Mutex::new(Vec::<Vec<String>>::new()));
        let seen = sent.clone();
        let lookup = BatchLookup::new(move |ids: Vec<String>| {
            let number = seen.lock().unwrap().len();
            seen.lock().unwrap().push(ids.clone());
            async move {
                tokio::task::yield_now().await;
                if number == bad_chunk { return Err("down".into()) }
                Ok(ids.into_iter().filter(|id| !id.contains('A')).map(|id| (id.clone(), id)).collect::<HashMap<_, _>>())
            }
        });
        let lookup = lookup
            .normalise(|id| id.trim().to_uppercase())
            .validate(|id| if id.contains('X') { Err("no x".into()) } else { Ok(()) })
            .cap(cap)
            .chunk(chunk)
            .concurrency(concurrency);
        let answered = runtime.block_on(lookup.run(raw.clone()));

        let mut unique: Vec<String> = Vec::new();
        let ids: Vec<String> =
            raw.iter().flatten().map(|id| id.trim().to_uppercase()).filter(|id| !id.is_empty()).collect();
        ids.iter().for_each(|id| if !unique.contains(id) { unique.push(id.clone()) });
        if unique.is_empty() {
            prop_assert_eq!(answered, Err(BatchError::Empty));
            prop_assert!(sent.lock().unwrap().is_empty());
            return Ok(());
        }
        let report = answered.unwrap();
        let valid: Vec<String> = unique.iter().filter(|id| !id.contains('X')).cloned().collect();
        let taken = &valid[..valid.len().min(cap)];
        let expected: Vec<Vec<String>> = taken.chunks(chunk).map(<[String]>::to_vec).collect();
        prop_assert_eq!(&*sent.lock().unwrap(), &expected);
        prop_assert_eq!(&report.deferred, &valid[taken.len()..]);
        let late: BTreeSet<&String> = report.deferred.iter().collect();
        let here: Vec<&String> = unique.iter().filter(|id| !late.contains(id)).collect();
        prop_assert_eq!(report.results.iter().map(|result| &result.id).collect::<Vec<_>>(), here);
        for result in &report.results {
            let at = taken.iter().position(|id| *id == result.id);
            let expected = match at {
                None => ItemOutcome::Invalid { reason: "no x".into() },
                Some(at) if at / chunk == bad_chunk => ItemOutcome::Error { message: "down".into(), retryable: true },
                Some(_) if result.id.contains('A') => ItemOutcome::NotFound,
                Some(_) => ItemOutcome::Ok { value: result.id.clone().into() },
            };
            prop_assert_eq!(&result.outcome, &expected);
        }
        let summary = &report.summary;
        prop_assert_eq!((summary.requested, summary.duplicates), (unique.len(), ids.len() - unique.len()));
        let sum = summary.ok + summary.not_found + summary.invalid + summary.error + summary.deferred;
        prop_assert_eq!(sum, summary.requested);
    }
}
