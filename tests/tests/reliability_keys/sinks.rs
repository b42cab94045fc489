//! Everything that anybody could read afterwards.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use behaviour_tests::Traced;
use graph_engine::{AttemptEnd, Metrics};
use tracing_subscriber::layer::SubscriberExt;

/// Logs of the libraries below and messages of panics are a process's own, not a test's.
static LOGGED: Mutex<String> = Mutex::new(String::new());
static PANICKED: Mutex<String> = Mutex::new(String::new());

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        writeln!(lock(&LOGGED), "{} {} {}", record.level(), record.target(), record.args()).unwrap();
    }

    fn flush(&self) {}
}

/// All texts, by the place where they are seen.
pub(crate) struct Sinks {
    texts: Mutex<BTreeMap<&'static str, String>>,
    traced: Traced,
    _subscriber: tracing::subscriber::DefaultGuard,
}

impl Sinks {
    /// Listens to everything from now on.
    pub(crate) fn begin() -> Self {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            log::set_logger(&Logger).unwrap();
            log::set_max_level(log::LevelFilter::Trace);
            let print = std::panic::take_hook();
            std::panic::set_hook(Box::new(move |panic| {
                writeln!(lock(&PANICKED), "{panic}").unwrap();
                print(panic);
            }));
        });
        let traced = Traced::default();
        let subscriber = tracing_subscriber::registry().with(traced.clone());
        let _subscriber = tracing::subscriber::set_default(subscriber);
        Self { texts: Mutex::default(), traced, _subscriber }
    }

    pub(crate) fn put(&self, place: &'static str, text: String) {
        lock(&self.texts).entry(place).or_default().push_str(&text);
    }

    /// What is in each place; they are empty afterwards.
    pub(crate) fn take(&self) -> BTreeMap<&'static str, String> {
        let mut texts = std::mem::take(&mut *lock(&self.texts));
        texts.insert("spans", self.traced.take());
        texts.insert("logs of libraries", lock(&LOGGED).clone());
        texts.insert("messages of panics", lock(&PANICKED).clone());
        texts
    }
}

/// What an operator counts.
#[derive(Clone, Default)]
pub(crate) struct Counted(Arc<Mutex<String>>);

impl Counted {
    pub(crate) fn take(&self) -> String {
        std::mem::take(&mut *lock(&self.0))
    }

    fn note(&self, what: std::fmt::Arguments<'_>) {
        writeln!(lock(&self.0), "{what}").unwrap();
    }
}

impl Metrics for Counted {
    fn super_step(&self, graph: &str, stays: u64) {
        self.note(format_args!("{graph} {stays}"));
    }

    fn attempt(&self, graph: &str, node: &str, end: AttemptEnd, _: Duration) {
        self.note(format_args!("{graph} {node} {}", end.as_str()));
    }

    fn retry(&self, graph: &str, node: &str, _: Duration) {
        self.note(format_args!("{graph} {node}"));
    }

    fn queue(&self, graph: &str, node: &str, _: Duration) {
        self.note(format_args!("{graph} {node}"));
    }

    fn turn(&self, graph: &str, outcome: &'static str, _: Duration) {
        self.note(format_args!("{graph} {outcome}"));
    }
}
