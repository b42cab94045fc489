//! How a server is reached, and the handshake with it.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::ProtocolVersion;
use rmcp::service::{ClientInitializeError, ClientLifecycleMode, RunningService, serve_client_with_lifecycle};
use rmcp::transport::{IntoTransport, TokioChildProcess};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;

use crate::command::Command;
use crate::error::McpError;
use crate::handler::Handler;
use crate::stderr::{self, LastWords};
use crate::text::{Secrets, clip};

/// How the protocol begins.
///
/// ```
/// use graph_nodes_mcp::Handshake;
///
/// assert_eq!(Handshake::default(), Handshake::Initialize);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Handshake {
    /// With `initialize`, which servers of all versions up to 2025-11-25 know, and most later ones.
    #[default]
    Initialize,
    /// With `server/discover`, for servers that know version 2026-07-28 and nothing older.
    Discover,
    /// First `server/discover`, then `initialize` if the server doesn't know it or says nothing for 10 seconds.
    Auto,
}

impl Handshake {
    fn mode(self) -> ClientLifecycleMode {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        match self {
            Self::Initialize => ClientLifecycleMode::Initialize,
            Self::Discover => ClientLifecycleMode::Discover { preferred_versions },
            Self::Auto => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        }
    }
}

/// How long the error output of a child that ended is read.
const LAST_WORDS: Duration = Duration::from_millis(500);

type Reader = Box<dyn AsyncRead + Send + Unpin>;
type Writer = Box<dyn AsyncWrite + Send + Unpin>;
type Opening = Pin<Box<dyn Future<Output = io::Result<(Reader, Writer)>> + Send>>;

type Greeted = Result<RunningService<RoleClient, Handler>, ClientInitializeError>;
type Greeting = Pin<Box<dyn Future<Output = Greeted> + Send>>;

/// Where a server is.
#[derive(Clone)]
pub(crate) enum Route {
    /// A child.
    Child(Command),
    /// Two streams of bytes that somebody opens.
    Streams(Arc<dyn Fn() -> Opening + Send + Sync>),
    /// An address.
    #[cfg(feature = "http")]
    Http(crate::http::Http),
}

impl Route {
    pub(crate) fn streams<F, R, W>(open: impl Fn() -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = io::Result<(R, W)>> + Send + 'static,
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        Self::Streams(Arc::new(move || {
            let opening = open();
            Box::pin(async move {
                let (read, write) = opening.await?;
                Ok((Box::new(read) as Reader, Box::new(write) as Writer))
            })
        }))
    }

    pub(crate) fn secrets(&self) -> Secrets {
        match self {
            Self::Child(command) => command.secrets.clone(),
            Self::Streams(_) => Secrets::default(),
            #[cfg(feature = "http")]
            Self::Http(http) => http.secrets.clone(),
        }
    }

    /// Reaches the server and greets it. What the child writes meanwhile is in `last_words`.
    pub(crate) async fn connect(
        &self,
        handler: Handler,
        handshake: Handshake,
        last_words: &LastWords,
    ) -> Result<RunningService<RoleClient, Handler>, McpError> {
        let (server, secrets) = (handler.server.clone(), handler.secrets.clone());
        let mut reading = None;
        let greeting = match self {
            Self::Child(command) => {
                let spawn = |error: io::Error| McpError::Spawn {
                    server: server.clone(),
                    program: command.program(),
                    reason: error.to_string(),
                };
                let builder = TokioChildProcess::builder(command.wrapped()).stderr(Stdio::piped());
                let (child, errors) = builder.spawn().map_err(spawn)?;
                if let Some(errors) = errors {
                    let read = stderr::read(server.clone(), errors, secrets.clone(), last_words.clone());
                    reading = Some(tokio::spawn(read));
                }
                greet(handler, child, handshake)
            }
            Self::Streams(open) => {
                let streams = open().await.map_err(|error| McpError::Handshake {
                    server: server.clone(),
                    reason: error.to_string(),
                    last_words: String::new(),
                })?;
                greet(handler, streams, handshake)
            }
            #[cfg(feature = "http")]
            Self::Http(http) => greet(handler, http.transport(&server)?, handshake),
        };
        let error = match greeting.await {
            Ok(running) => return Ok(running),
            Err(error) => error,
        };
        if let Some(reading) = reading {
            // The child is ended, but what it wrote before may still be on its way.
            let _ = timeout(LAST_WORDS, reading).await;
        }
        Err(self.fault(server, &secrets, &error, last_words.text()))
    }

    /// Why a server isn't ready.
    fn fault(&self, server: String, secrets: &Secrets, error: &ClientInitializeError, last_words: String) -> McpError {
        if error.is_authorization_required() || unauthorized(error) {
            return McpError::Unauthorized { server };
        }
        let said = clip(&secrets.hide(&error.to_string()), 300);
        let reason = match (self, error) {
            #[cfg(feature = "http")]
            (Self::Http(http), _) => format!("{said}{}", http.hint()),
            (_, ClientInitializeError::ConnectionClosed(_) | ClientInitializeError::TransportError { .. }) => {
                "it ended before it had answered the greeting".to_owned()
            }
            _ => said,
        };
        McpError::Handshake { server, reason, last_words }
    }
}

impl fmt::Debug for Route {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Child(command) => command.fmt(f),
            Self::Streams(_) => f.write_str("Streams"),
            #[cfg(feature = "http")]
            Self::Http(http) => http.fmt(f),
        }
    }
}

/// Greets the server. Boxed, because the compiler can't prove the unnamed future of the protocol to be `Send` from further
/// outside.
fn greet<T, E, A>(handler: Handler, transport: T, handshake: Handshake) -> Greeting
where
    T: IntoTransport<RoleClient, E, A> + Send + 'static,
    E: std::error::Error + Send + Sync + 'static,
    A: 'static,
{
    Box::pin(serve_client_with_lifecycle(handler, transport, handshake.mode()))
}

#[cfg(feature = "http")]
fn unauthorized(error: &ClientInitializeError) -> bool {
    error.auth_challenge().is_some()
}

#[cfg(not(feature = "http"))]
fn unauthorized(_: &ClientInitializeError) -> bool {
    false
}
