//! A key of a provider that nobody gets to see.

use std::fmt;

use secrecy::{ExposeSecret, SecretString};

/// A provider's key. It can't be printed or stored, and its memory is overwritten when it is dropped.
///
/// ```
/// use graph_nodes_openai::ApiKey;
///
/// let key = ApiKey::new("sk-something");
/// assert_eq!(format!("{key:?}"), "ApiKey(..)");
/// ```
///
/// There is no way to write it down by accident:
///
/// ```compile_fail
/// # use graph_nodes_openai::ApiKey;
/// fn stored(key: &ApiKey) -> String {
///     serde_json::to_string(key).unwrap()
/// }
/// ```
///
/// ```compile_fail
/// # use graph_nodes_openai::ApiKey;
/// fn printed(key: &ApiKey) -> String {
///     format!("{key}")
/// }
/// ```
#[derive(Clone)]
pub struct ApiKey(SecretString);

/// Why there is no key.
///
/// ```
/// use graph_nodes_openai::{ApiKey, KeyError};
///
/// let error = ApiKey::from_env("NO_SUCH_VARIABLE").unwrap_err();
/// assert_eq!(error, KeyError::NotSet { name: "NO_SUCH_VARIABLE".into() });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The variable is not there.
    #[error("the environment variable `{name}` is not set; set it to the provider's key")]
    NotSet {
        /// The variable.
        name: String,
    },
    /// The variable is there and holds nothing.
    #[error("the environment variable `{name}` is empty; set it to the provider's key")]
    Empty {
        /// The variable.
        name: String,
    },
    /// The variable is no text.
    #[error("the environment variable `{name}` is not UTF-8; set it to the provider's key")]
    NotText {
        /// The variable.
        name: String,
    },
}

impl ApiKey {
    /// A key from its text. White space around it is dropped: it mostly comes from the file that the key was read from.
    pub fn new(key: impl Into<String>) -> Self {
        let secret = SecretString::from(key.into());
        match secret.expose_secret().trim() {
            trimmed if trimmed.len() == secret.expose_secret().len() => Self(secret),
            trimmed => Self(SecretString::from(trimmed)),
        }
    }

    /// The key that an environment variable holds.
    ///
    /// ```no_run
    /// # use graph_nodes_openai::{ApiKey, KeyError};
    /// let key = ApiKey::from_env("OPENAI_API_KEY")?;
    /// # Ok::<(), KeyError>(())
    /// ```
    ///
    /// # Errors
    /// [`KeyError`]: there is no such variable, it is empty, or it is no text.
    pub fn from_env(name: &str) -> Result<Self, KeyError> {
        match std::env::var(name) {
            Ok(key) if key.trim().is_empty() => Err(KeyError::Empty { name: name.to_owned() }),
            Ok(key) => Ok(Self::new(key)),
            Err(std::env::VarError::NotPresent) => Err(KeyError::NotSet { name: name.to_owned() }),
            Err(std::env::VarError::NotUnicode(_)) => Err(KeyError::NotText { name: name.to_owned() }),
        }
    }

    /// The text, for the header that carries it.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    pub(crate) fn secret(&self) -> &SecretString {
        &self.0
    }
}

impl From<&str> for ApiKey {
    fn from(key: &str) -> Self {
        Self::new(key)
    }
}

impl From<String> for ApiKey {
    fn from(key: String) -> Self {
        Self::new(key)
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(..)")
    }
}
