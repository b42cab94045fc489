//! How a model is described before it is built.

use std::fmt;
use std::sync::Arc;

use graph_nodes::model::TokenEstimate;

use crate::http::{Connection, ReqwestTransport, Transport, client};
use crate::meter::Meter;
use crate::model::OpenAiModel;
use crate::request::Dialect;
use crate::secrets::Secrets;
use crate::settings::{Headers, endpoint};
use crate::stream_reader::MAX_BYTES;
use crate::{ApiKey, BuildError, Limits, OpenAiEmbedder, Timeouts, ToolMode};

/// Describes a model behind an OpenAI-compatible server: a hosted one, or one on this machine.
///
/// ```
/// use std::time::Duration;
///
/// use graph_nodes::model::ChatModel;
/// use graph_nodes_openai::{ApiKey, OpenAi, Timeouts, ToolMode};
///
/// let model = OpenAi::new("http://127.0.0.1:8080/v1", "local")
///     .key(ApiKey::new("sk-something"))
///     .header("x-team", "hotel")
///     .tool_mode(ToolMode::Schema)
///     .timeouts(Timeouts::new().first_byte(Duration::from_secs(30)))
///     .build()?;
/// assert_eq!(model.name(), "local");
/// # Ok::<(), graph_nodes_openai::BuildError>(())
/// ```
#[derive(Clone)]
#[must_use = "this is no model before `build`"]
pub struct OpenAi {
    base: String,
    model: String,
    name: Option<String>,
    key: Option<ApiKey>,
    headers: Headers,
    query: Vec<(String, String)>,
    dialect: Dialect,
    /// Nothing: the defaults.
    timeouts: Option<Timeouts>,
    max_bytes: usize,
    limits: Option<Limits>,
    meter: Meter,
    http: Option<reqwest::Client>,
    transport: Option<Arc<dyn Transport>>,
}

impl OpenAi {
    /// The model that the server at the base URL knows by this name. Requests go to `{base}/chat/completions`.
    pub fn new(base: impl Into<String>, model: impl Into<String>) -> Self {
        let dialect = Dialect {
            tool_mode: ToolMode::Native,
            streaming: true,
            stream_usage: true,
            reasoning: false,
            strict: false,
        };
        Self {
            base: base.into(),
            model: model.into(),
            name: None,
            key: None,
            headers: Headers::default(),
            query: Vec::new(),
            dialect,
            timeouts: None,
            max_bytes: MAX_BYTES,
            limits: None,
            meter: Meter::default(),
            http: None,
            transport: None,
        }
    }

    /// The key, sent as `Authorization: Bearer`. Servers on this machine mostly need none.
    pub fn key(mut self, key: impl Into<ApiKey>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// The name that calls are accounted under, if it isn't the model's.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The organisation that pays.
    pub fn organisation(self, organisation: impl Into<String>) -> Self {
        self.header("openai-organization", organisation)
    }

    /// The project that pays.
    pub fn project(self, project: impl Into<String>) -> Self {
        self.header("openai-project", project)
    }

    /// A further header. Its value may be seen in logs: for one that nobody may see there is
    /// [`secret_header`](Self::secret_header).
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.open.push((name.into(), value.into()));
        self
    }

    /// A further header whose value is a secret: a key that isn't a bearer token, for example.
    pub fn secret_header(mut self, name: impl Into<String>, value: impl Into<ApiKey>) -> Self {
        self.headers.secret.push((name.into(), value.into()));
        self
    }

    /// A parameter of the URL, such as the version of an interface. URLs are no place for keys: they are in the logs of
    /// every server on the way.
    pub fn query(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((name.into(), value.into()));
        self
    }

    /// How the model is told of tools.
    pub fn tool_mode(mut self, mode: ToolMode) -> Self {
        self.dialect.tool_mode = mode;
        self
    }

    /// Whether answers are streamed, which is so if nothing else is said. Without it the whole answer comes as one
    /// chunk: for servers that don't stream tool calls.
    pub fn streaming(mut self, streaming: bool) -> Self {
        self.dialect.streaming = streaming;
        self
    }

    /// Whether the server is asked to report tokens in a stream (`stream_options.include_usage`), which is so if
    /// nothing else is said. Off for servers that refuse it: then a token budget can't be kept.
    pub fn stream_usage(mut self, asked: bool) -> Self {
        self.dialect.stream_usage = asked;
        self
    }

    /// Whether reasoning of earlier answers is sent back as `reasoning_content`, which isn't so if nothing else is
    /// said: some servers need it, most refuse or ignore it.
    pub fn reasoning_in_history(mut self, sent: bool) -> Self {
        self.dialect.reasoning = sent;
        self
    }

    /// Whether schemas of structured output are marked as `strict`, which isn't so if nothing else is said: a provider
    /// that knows it refuses schemas with optional properties then.
    pub fn strict_schemas(mut self, strict: bool) -> Self {
        self.dialect.strict = strict;
        self
    }

    /// How long a call may take.
    pub fn timeouts(mut self, timeouts: Timeouts) -> Self {
        self.timeouts = Some(timeouts);
        self
    }

    /// How many bytes an answer may have: 64 MiB, if nothing else is said.
    pub fn max_answer_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }

    /// How often, and how many at once, the key is used; nothing is said, nothing is limited.
    pub fn limits(mut self, limits: &Limits) -> Self {
        self.limits = Some(limits.clone());
        self
    }

    /// The most tokens of a request, by [`estimate`](Self::estimate): a longer one fails with
    /// [`ModelError::ContextTooLong`](graph_nodes::model::ModelError::ContextTooLong) before it is sent. The answer
    /// needs room in the model's context too.
    pub fn context(mut self, tokens: u64) -> Self {
        self.meter.context = Some(tokens);
        self
    }

    /// How tokens are estimated before they are sent: four bytes a token
    /// ([`BytesPerToken`](graph_nodes::model::BytesPerToken)), if nothing else is said.
    pub fn estimate(mut self, estimate: impl TokenEstimate) -> Self {
        self.meter.estimate = Arc::new(estimate);
        self
    }

    /// A client of one's own, for a proxy, certificates or a pool of connections. It must not try again by itself, and
    /// it keeps its own limit for opening a connection. The client that is made otherwise uses the proxy that the
    /// environment names, except for a server on this machine, and follows no redirect.
    pub fn http_client(mut self, client: reqwest::Client) -> Self {
        self.http = Some(client);
        self
    }

    /// Asks this server, without a network, whatever the base URL is.
    #[cfg(feature = "testing")]
    pub fn offline(mut self, server: &crate::testing::Offline) -> Self {
        self.transport = Some(Arc::new(server.clone()));
        self
    }

    /// Carries requests without a network.
    #[cfg(test)]
    pub(crate) fn transport(mut self, transport: impl Transport) -> Self {
        self.transport = Some(Arc::new(transport));
        self
    }

    /// Builds the model. Nothing is sent.
    ///
    /// # Errors
    /// [`BuildError`]: something that would fail in every call.
    pub fn build(self) -> Result<OpenAiModel, BuildError> {
        let (connection, meter) = self.connect()?;
        Ok(OpenAiModel {
            name: self.name.unwrap_or_else(|| self.model.clone()),
            model: self.model,
            connection,
            dialect: self.dialect,
            max_bytes: self.max_bytes,
            meter,
        })
    }

    /// Builds an embedder instead, whose vectors have so many numbers. Nothing is sent. What is said of tools, streams
    /// and contexts concerns it not.
    ///
    /// # Errors
    /// As [`build`](Self::build), and [`BuildError::NoDims`] for vectors without numbers.
    pub fn build_embedder(self, dims: usize) -> Result<OpenAiEmbedder, BuildError> {
        if dims == 0 {
            return Err(BuildError::NoDims);
        }
        let (connection, meter) = self.connect()?;
        Ok(OpenAiEmbedder { model: self.model, dims, batch: 64, connection, max_bytes: self.max_bytes, meter })
    }

    fn connect(&self) -> Result<(Connection, Meter), BuildError> {
        if self.model.trim().is_empty() {
            return Err(BuildError::NoModel);
        }
        let mut timeouts = self.timeouts.unwrap_or_default();
        let mut secrets = Secrets::default();
        let keys = self.key.iter().chain(self.headers.secret.iter().map(|(_, value)| value));
        keys.for_each(|key| secrets.add(key.expose()));
        let (url, endpoint) = endpoint(&self.base, self.key.as_ref(), &self.headers, self.query.clone())?;
        let http = match &self.http {
            Some(_) if timeouts.connect.is_some_and(|limit| Some(limit) != Timeouts::new().connect) => {
                return Err(BuildError::ConnectOfOwnClient);
            }
            Some(client) => {
                // What an error says of the limit would not be true.
                timeouts.connect = None;
                client.clone()
            }
            None => client(&url, timeouts.connect)?
                .build()
                .map_err(|error| BuildError::Client { reason: error.to_string() })?,
        };
        let transport = self.transport.clone().unwrap_or_else(|| Arc::new(ReqwestTransport(http.clone())));
        // Some providers take their key in a header of their own.
        let others = self.headers.secret.iter().filter(|_| self.key.is_none()).map(|(_, value)| value);
        let account = self.limits.as_ref().map(|limits| limits.account(&endpoint.base, self.key.iter().chain(others)));
        let connection = Connection::new(endpoint, http, transport, timeouts, secrets);
        Ok((connection, Meter { account, ..self.meter.clone() }))
    }
}

impl fmt::Debug for OpenAi {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAi").field("model", &self.model).field("dialect", &self.dialect).finish_non_exhaustive()
    }
}
