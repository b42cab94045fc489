//! The connection to a server: made, lost and made again.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, SubscriptionFilter};
use rmcp::service::{Peer, RunningService, ServiceError};
use serde_json::{Map, Value};
use tokio::sync::Mutex;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use crate::connect::Route;
use crate::error::McpError;
use crate::handler::Handler;
use crate::health::Counters;
use crate::listing::{self, Listing, Rules, Unlisted};
use crate::policy::Traits;
use crate::settings::Settings;
use crate::stderr::LastWords;
use crate::text::{Secrets, clip};

/// One server, shared by its tools.
pub(crate) struct Link {
    pub(crate) server: String,
    pub(crate) route: Route,
    pub(crate) rules: Rules,
    pub(crate) settings: Settings,
    pub(crate) secrets: Secrets,
    pub(crate) counters: Arc<Counters>,
    state: Mutex<State>,
    listing: RwLock<Arc<Listing>>,
    closed: CancellationToken,
}

#[derive(Default)]
struct State {
    live: Option<Live>,
    lives: u64,
    rest_until: Option<Instant>,
    /// When the last call that took too long was counted.
    late_at: Option<Instant>,
}

/// A connection that was made. Dropping it closes it, and ends the child.
struct Live {
    life: u64,
    running: RunningService<RoleClient, Handler>,
}

/// A call on its way.
pub(crate) struct Sent<'a> {
    pub(crate) tool: &'a str,
    pub(crate) arguments: &'a Map<String, Value>,
    pub(crate) limit: Duration,
    /// What was agreed to when the tool was listed.
    pub(crate) traits: Traits,
}

impl Link {
    pub(crate) fn new(server: String, route: Route, rules: Rules, settings: Settings) -> Self {
        Self {
            server,
            secrets: route.secrets(),
            route,
            rules,
            settings,
            counters: Arc::default(),
            state: Mutex::default(),
            listing: RwLock::default(),
            closed: CancellationToken::new(),
        }
    }

    /// What the server listed last.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, listing: Listing) {
        *self.listing.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(listing);
    }

    /// Makes the first connection, without a second attempt: what is wrong now is likely wrong for good.
    pub(crate) async fn open(&self) -> Result<(), McpError> {
        let mut state = self.state.lock().await;
        let live = self.start(&mut state).await?;
        state.live = Some(live);
        Ok(())
    }

    /// Closes the connection and waits until the child has ended.
    pub(crate) async fn close(&self) {
        // Whoever starts it meanwhile lets go, and what was started ends.
        self.closed.cancel();
        let live = self.state.lock().await.live.take();
        if let Some(Live { running, .. }) = live
            && let Err(error) = running.cancel().await
        {
            tracing::warn!(server = self.server, %error, "the connection to an MCP server didn't close in order");
        }
    }

    /// The connection, made again if it broke.
    async fn peer(&self) -> Result<(Peer<RoleClient>, u64), McpError> {
        let closed = || Err(McpError::Closed { server: self.server.clone() });
        self.closed.run_until_cancelled(self.reconnect()).await.unwrap_or_else(closed)
    }

    async fn reconnect(&self) -> Result<(Peer<RoleClient>, u64), McpError> {
        let restarts = &self.settings.restarts;
        let mut state = self.state.lock().await;
        let mut attempts = 0;
        loop {
            if let Some(live) = &state.live {
                if !live.running.is_transport_closed() {
                    return Ok((live.running.peer().clone(), live.life));
                }
                self.lost(&mut state);
            }
            self.rests(&mut state)?;
            sleep(restarts.wait(self.counters.failures.load(Ordering::Relaxed))).await;
            attempts += 1;
            match self.start(&mut state).await {
                Ok(live) => state.live = Some(live),
                Err(error) => {
                    self.failed(&mut state);
                    if attempts >= restarts.attempts || state.rest_until.is_some() {
                        return Err(error);
                    }
                }
            }
        }
    }

    /// Whether the server is left alone now.
    fn rests(&self, state: &mut State) -> Result<(), McpError> {
        let Some(until) = state.rest_until else { return Ok(()) };
        let again_in = until.saturating_duration_since(Instant::now());
        if again_in.is_zero() {
            state.rest_until = None;
            return Ok(());
        }
        let failures = self.counters.failures.load(Ordering::Relaxed);
        Err(McpError::Resting { server: self.server.clone(), failures, again_in })
    }

    fn failed(&self, state: &mut State) {
        let failures = self.counters.failures.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        if failures >= self.settings.restarts.most {
            state.rest_until = Some(Instant::now() + self.settings.restarts.rest);
            tracing::warn!(server = self.server, failures, "an MCP server fails again and again and is left alone");
        }
    }

    /// Lets go of a connection that broke.
    fn lost(&self, state: &mut State) {
        state.live = None;
        Counters::add(&self.counters.deaths);
        tracing::warn!(server = self.server, "an MCP server ended, or its connection broke");
        self.failed(state);
    }

    async fn start(&self, state: &mut State) -> Result<Live, McpError> {
        Counters::add(&self.counters.starts);
        let last_words = LastWords::default();
        let handler =
            Handler { server: self.server.clone(), secrets: self.secrets.clone(), counters: self.counters.clone() };
        let starting = async {
            let running = self.route.connect(handler, self.settings.handshake, &last_words).await?;
            self.counters.stale.store(false, Ordering::Release);
            let listed = listing::fetch(&self.server, running.peer(), &self.rules, &self.secrets).await;
            let listing = listed.map_err(|unlisted| match unlisted {
                Unlisted::Error(error) => error,
                Unlisted::Gone => McpError::Handshake {
                    server: self.server.clone(),
                    reason: "it ended while it was asked for its tools".to_owned(),
                    last_words: last_words.text(),
                },
            })?;
            Ok((running, listing))
        };
        let limit = self.settings.start_timeout;
        let (running, listing) = timeout(limit, starting).await.unwrap_or_else(|_| {
            Err(McpError::StartTimeout { server: self.server.clone(), after: limit, last_words: last_words.text() })
        })?;
        self.watch(running.peer());
        self.keep(listing);
        state.lives += 1;
        Ok(Live { life: state.lives, running })
    }

    /// Since version 2026-07-28 a server tells of other tools only who listens.
    fn watch(&self, peer: &Peer<RoleClient>) {
        let Some(info) = peer.peer_info() else { return };
        let tells = info.capabilities.tools.as_ref().is_some_and(|tools| tools.list_changed == Some(true));
        if info.protocol_version.has_initialize() || !tells {
            return;
        }
        let (peer, counters, server) = (peer.clone(), self.counters.clone(), self.server.clone());
        tokio::spawn(async move {
            let mut heard = match peer.listen(SubscriptionFilter::builder().tools_list_changed().build()).await {
                Ok(heard) => heard,
                Err(error) => {
                    tracing::warn!(server, %error, "an MCP server doesn't say when its tools change");
                    return;
                }
            };
            while let Ok(Some(_)) = heard.next().await {
                Counters::add(&counters.list_changes);
                counters.stale.store(true, Ordering::Release);
            }
        });
    }

    /// Asks for the tools again, if the server said that they are others now.
    async fn refresh(&self, peer: &Peer<RoleClient>) -> Result<(), Unlisted> {
        if !self.counters.stale.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let listed =
            timeout(self.settings.start_timeout, listing::fetch(&self.server, peer, &self.rules, &self.secrets)).await;
        let reason = || format!("it gave no answer within {:?}", self.settings.start_timeout);
        let late = |_| Err(Unlisted::Error(McpError::List { server: self.server.clone(), reason: reason() }));
        match listed.unwrap_or_else(late) {
            Ok(listing) => {
                self.keep(listing);
                Ok(())
            }
            Err(unlisted) => {
                self.counters.stale.store(true, Ordering::Release);
                Err(unlisted)
            }
        }
    }

    /// Whether the tool is still what it was.
    fn check(&self, sent: &Sent<'_>) -> Result<(), McpError> {
        let (server, tool) = (self.server.clone(), clip(sent.tool, 80));
        match self.listing().tools.get(sent.tool) {
            None => Err(McpError::Vanished { server, tool }),
            Some(listed) if listed.traits.is_stricter_than(sent.traits) => Err(McpError::Changed { server, tool }),
            Some(_) => Ok(()),
        }
    }

    /// Sends a call and gives its answer. A call whose fate is unknown, because the server ended, is sent once more if it
    /// may be.
    pub(crate) async fn call(&self, sent: Sent<'_>) -> Result<CallToolResult, McpError> {
        let mut repeats = u32::from(sent.traits.may_repeat());
        loop {
            let (peer, life) = self.peer().await?;
            match self.refresh(&peer).await {
                Ok(()) => self.check(&sent)?,
                // Nothing was sent yet, so it costs no repeat; the next connection lists its tools anew.
                Err(Unlisted::Gone) => {
                    self.died(life).await;
                    continue;
                }
                Err(Unlisted::Error(error)) => return Err(error),
            }
            Counters::add(&self.counters.calls);
            let params = CallToolRequestParams::new(sent.tool.to_owned()).with_arguments(sent.arguments.clone());
            // A call that is dropped, here or from outside, is cancelled on the server.
            let Ok(answer) = timeout(sent.limit, peer.call_tool_once(params)).await else {
                return Err(self.late(&sent, life).await);
            };
            let (server, tool) = (self.server.clone(), clip(sent.tool, 80));
            let gone = match answer {
                Ok(response) => {
                    self.worked();
                    return match response {
                        CallToolResponse::Complete(result) => Ok(result),
                        _ => Err(McpError::NeedsInput { server, tool }),
                    };
                }
                Err(ServiceError::McpError(error)) => {
                    self.worked();
                    let message = clip(&self.secrets.hide(&error.message), 1_000);
                    return Err(McpError::Refused { server, tool, code: error.code.0, message });
                }
                Err(error) => error,
            };
            self.died(life).await;
            if unauthorized(&gone) {
                return Err(McpError::Unauthorized { server });
            }
            if repeats == 0 {
                return Err(McpError::Died { server, tool });
            }
            repeats -= 1;
            Counters::add(&self.counters.resent);
        }
    }

    fn worked(&self) {
        self.counters.failures.store(0, Ordering::Relaxed);
    }

    /// A call had no answer in time. A server that answers nothing any more is ended, so that the next call starts it.
    async fn late(&self, sent: &Sent<'_>, life: u64) -> McpError {
        Counters::add(&self.counters.timeouts);
        let mut state = self.state.lock().await;
        // Calls that were on their way together are one failure of the server, not one each.
        let now = Instant::now();
        let together = state.late_at.and_then(|at| at.checked_add(sent.limit)).is_some_and(|until| until > now);
        if !together {
            state.late_at = Some(now);
            self.failed(&mut state);
        }
        if state.rest_until.is_some() && state.live.as_ref().is_some_and(|live| live.life == life) {
            state.live = None;
            Counters::add(&self.counters.deaths);
        }
        McpError::Timeout { server: self.server.clone(), tool: clip(sent.tool, 80), after: sent.limit }
    }

    /// The connection of this life broke; whoever sees it first lets go of it.
    async fn died(&self, life: u64) {
        let mut state = self.state.lock().await;
        if state.live.as_ref().is_some_and(|live| live.life == life) {
            self.lost(&mut state);
        }
    }
}

#[cfg(feature = "http")]
fn unauthorized(error: &ServiceError) -> bool {
    error.is_authorization_required() || error.auth_challenge().is_some()
}

#[cfg(not(feature = "http"))]
fn unauthorized(error: &ServiceError) -> bool {
    error.is_authorization_required()
}

#[cfg(test)]
mod tests {
    use std::io;

    use tokio::io::DuplexStream;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn closing_does_not_wait_for_a_server_that_never_gets_ready() {
        let never = || std::future::pending::<io::Result<(DuplexStream, DuplexStream)>>();
        let link = Link::new("shop".into(), Route::streams(never), Rules::default(), Settings::default());
        let start = Instant::now();
        let closing = async {
            sleep(Duration::from_secs(1)).await;
            link.close().await;
        };
        let (called, ()) = tokio::join!(link.peer(), closing);
        assert_eq!(called.err(), Some(McpError::Closed { server: "shop".into() }));
        assert_eq!(start.elapsed(), Duration::from_secs(1));
        assert!(matches!(link.peer().await, Err(McpError::Closed { .. })));
    }
}
