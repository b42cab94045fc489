//! Connections: how a call gets one, how long it may use it, and when it is repeated.

use std::time::Duration;

use deadpool_postgres::{Object, Pool, PoolError};
use tokio::time::Instant;
use tokio::time::error::Elapsed;

use crate::fault::Fault;

/// How often a call is repeated because transactions were in each other's way.
const CONTENTION_REPEATS: u32 = 5;

/// Whether a call may run twice when its connection was lost and nobody knows what became of it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Repeat {
    /// The second one changes nothing and gives the same answer.
    Harmless,
    /// The second one would give another answer.
    Visible,
}

/// A pool with the limits of every call.
pub(crate) struct Connections {
    pub(crate) pool: Pool,
    pub(crate) acquire: Duration,
    pub(crate) answer: Duration,
}

/// One call and how often it was begun.
pub(crate) struct Call<'a> {
    connections: &'a Connections,
    repeat: Repeat,
    began: Instant,
    contended: u32,
    lost: bool,
}

/// Runs a call: again if the server undid it because of others, and once more if its connection was lost and that is
/// harmless. (A closure can't do this: rustc doesn't see that the future of a lending closure is `Send`.)
macro_rules! call {
    ($connections:expr, $repeat:expr, |$connection:ident| $work:expr) => {{
        let connections: &$crate::pool::Connections = $connections;
        let mut call = connections.begin($repeat);
        loop {
            let mut taken = match call.connection().await {
                Ok(taken) => taken,
                Err(fault) => break Err(fault),
            };
            let $connection = &mut taken;
            let answered = ::tokio::time::timeout(connections.answer, async { $work.await }).await;
            if let Some(result) = call.end(taken, answered).await {
                break result;
            }
        }
    }};
}
pub(crate) use call;

impl Connections {
    pub(crate) fn begin(&self, repeat: Repeat) -> Call<'_> {
        Call { connections: self, repeat, began: Instant::now(), contended: 0, lost: false }
    }
}

impl Call<'_> {
    /// What the caller is told, unless the work is to be done again. A connection that gave no answer isn't used again.
    pub(crate) async fn end<T>(
        &mut self,
        connection: Object,
        answered: Result<Result<T, Fault>, Elapsed>,
    ) -> Option<Result<T, Fault>> {
        let fault = match answered {
            Ok(Ok(value)) => return Some(Ok(value)),
            Ok(Err(fault)) => fault,
            Err(_) => Fault::NoAnswer(self.connections.answer),
        };
        if fault.is_lost() {
            drop(Object::take(connection));
            // What broke this connection broke others too, mostly.
            self.connections.pool.retain(|other, _| !other.is_closed());
        } else {
            drop(connection);
        }
        let in_time = self.began.elapsed() < self.connections.answer;
        if fault.is_contention() && self.contended < CONTENTION_REPEATS && in_time {
            // Not all at the same time again; no more than a moment.
            tokio::time::sleep(Duration::from_millis(1 << self.contended)).await;
            self.contended += 1;
            None
        } else if fault.is_lost() && self.repeat == Repeat::Harmless && !self.lost {
            self.lost = true;
            None
        } else {
            Some(Err(fault))
        }
    }

    pub(crate) async fn connection(&self) -> Result<Object, Fault> {
        let Connections { pool, acquire, .. } = self.connections;
        let got = tokio::time::timeout(*acquire, async {
            loop {
                let connection = pool.get().await?;
                // What can't be repeated (again) begins on a connection that is known to work.
                let repeatable = self.repeat == Repeat::Harmless && !self.lost;
                if repeatable || connection.simple_query("").await.is_ok() {
                    return Ok(connection);
                }
                drop(Object::take(connection));
            }
        });
        match got.await {
            Ok(Ok(connection)) => Ok(connection),
            Ok(Err(PoolError::Backend(error))) => Err(error.into()),
            Ok(Err(PoolError::Timeout(_))) | Err(_) => Err(Fault::NoConnection(self.exhausted())),
            // The other kinds name neither the server nor the user.
            Ok(Err(other)) => Err(Fault::NoConnection(format!("the pool gives no connection: {other}"))),
        }
    }

    fn exhausted(&self) -> String {
        let Connections { pool, acquire, .. } = self.connections;
        let (status, after) = (pool.status(), acquire.as_millis());
        if status.size >= status.max_size && status.available == 0 {
            format!(
                "all {} connections of the pool were in use for {after} ms; use a larger pool_size or fewer threads at \
                 once",
                status.max_size
            )
        } else {
            format!("no connection to PostgreSQL within {after} ms")
        }
    }
}
