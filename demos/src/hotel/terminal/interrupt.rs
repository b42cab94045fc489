//! Ctrl-C, heard at any time.

use std::io;
use tokio::sync::watch;

/// Counts how often Ctrl-C was pressed, so that none is missed between two waits.
#[derive(Debug)]
pub(super) struct Interrupts {
    pressed: watch::Receiver<u64>,
}

impl Interrupts {
    /// Begins to listen, for as long as the runtime lives.
    pub(super) fn listen() -> io::Result<Self> {
        let (sender, pressed) = watch::channel(0);
        let mut signals = Signals::new()?;
        tokio::spawn(async move {
            while signals.next().await {
                sender.send_modify(|count| *count += 1);
            }
        });
        Ok(Self { pressed })
    }

    /// Ready at the next Ctrl-C that was not heard yet; may be dropped and asked again.
    pub(super) async fn next(&mut self) {
        if self.pressed.changed().await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Ready at the next Ctrl-C, for somebody else.
    pub(super) fn later(&self) -> impl Future<Output = ()> + Send + use<> {
        let mut copy = Self { pressed: self.pressed.clone() };
        async move { copy.next().await }
    }

    /// Whether there was one since the last time; it counts as heard.
    pub(super) fn heard(&mut self) -> bool {
        let pressed = self.pressed.has_changed().unwrap_or(false);
        self.pressed.mark_unchanged();
        pressed
    }
}

/// The system's signal, kept open between two waits.
#[cfg(unix)]
struct Signals(tokio::signal::unix::Signal);

#[cfg(unix)]
impl Signals {
    fn new() -> io::Result<Self> {
        tokio::signal::unix::signal(tokio::signal::unix::SignalKind::interrupt()).map(Self)
    }

    async fn next(&mut self) -> bool {
        self.0.recv().await.is_some()
    }
}

/// The portable signal.
#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) -> bool {
        tokio::signal::ctrl_c().await.is_ok()
    }
}
