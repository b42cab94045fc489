//! Where requests go, and with which headers.

use async_openai::config::Config;
use reqwest::header::HeaderMap;
use secrecy::SecretString;

use crate::ApiKey;

/// Headers whose values are secrets are marked as such, so that no log shows them.
#[derive(Clone)]
pub(crate) struct Endpoint {
    /// Without a slash at the end.
    pub(crate) base: String,
    pub(crate) headers: HeaderMap,
    pub(crate) query: Vec<(String, String)>,
    /// Already in the headers; the client asks for it, and sends nothing of it.
    pub(crate) key: ApiKey,
}

impl Config for Endpoint {
    fn headers(&self) -> HeaderMap {
        self.headers.clone()
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    fn query(&self) -> Vec<(&str, &str)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    fn api_base(&self) -> &str {
        &self.base
    }

    fn api_key(&self) -> &SecretString {
        self.key.secret()
    }
}
