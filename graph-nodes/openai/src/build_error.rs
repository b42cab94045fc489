//! Why a model can't be built.

/// Why a model can't be built. None of the texts holds a secret.
///
/// ```
/// use graph_nodes_openai::{BuildError, OpenAi};
///
/// let error = OpenAi::new("127.0.0.1:8080/v1", "local").build().unwrap_err();
/// assert!(matches!(error, BuildError::Url { .. }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The base URL is none.
    #[error("the base URL can't be used ({reason}); give one such as `http://127.0.0.1:8080/v1`")]
    Url {
        /// Why.
        reason: String,
    },
    /// The base URL holds a user or a password.
    #[error("the base URL holds a user or a password; give a key with `key`, or a header with `secret_header`")]
    UrlHoldsSecret,
    /// The base URL is `https`, and no feature chooses how that is spoken.
    #[error("the base URL is `https`, but TLS is off; turn on the feature `rustls` or `native-tls`, or give a client")]
    NoTls,
    /// The name of the model is empty.
    #[error("the name of the model is empty; give the name that the server knows it by")]
    NoModel,
    /// An embedder without numbers.
    #[error("vectors need at least one number; give as many as the model's vectors have")]
    NoDims,
    /// A header can't be sent.
    #[error("the header `{name}` can't be sent ({reason}); give it another name or value")]
    Header {
        /// Its name.
        name: String,
        /// Why.
        reason: &'static str,
    },
    /// The key can't stand in a header.
    #[error(
        "the key can't stand in a header, because it holds other characters than visible ASCII; check where it comes from"
    )]
    Key,
    /// The key is given twice.
    #[error("the header `authorization` is set beside a key; give one of them")]
    TwoKeys,
    /// A limit of time that a client of one's own has to keep.
    #[error("`Timeouts::connect` can't be set with a client of your own; set `connect_timeout` on the client")]
    ConnectOfOwnClient,
    /// The HTTP client can't be made.
    #[error("the HTTP client can't be made ({reason}); check its settings and the system's certificates")]
    Client {
        /// Why.
        reason: String,
    },
}
