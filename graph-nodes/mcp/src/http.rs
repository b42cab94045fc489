//! Servers at an address, over streamable HTTP.

use std::fmt;

use rmcp::RoleClient;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use crate::error::McpError;
use crate::text::Secrets;

/// An address, and what is sent with every request. Values of headers are secrets.
#[derive(Clone)]
pub(crate) struct Http {
    url: String,
    token: Option<String>,
    headers: Vec<(String, String)>,
    pub(crate) secrets: Secrets,
}

impl Http {
    pub(crate) fn new(url: String) -> Self {
        let mut secrets = Secrets::default();
        let rest = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
        let place = rest.split(['/', '?', '#']).next().unwrap_or_default();
        if let Some((user, _)) = place.rsplit_once('@') {
            secrets.add(user);
        }
        if let Some((_, query)) = url.split_once('?') {
            secrets.add(query);
        }
        Self { url, token: None, headers: Vec::new(), secrets }
    }

    pub(crate) fn bearer(&mut self, token: String) {
        self.secrets.add(&token);
        self.token = Some(token);
    }

    pub(crate) fn header(&mut self, name: String, value: String) {
        self.secrets.add(&value);
        self.headers.push((name, value));
    }

    /// The address without what may be secret in it.
    fn shown(&self) -> String {
        let url = self.url.split(['?', '#']).next().unwrap_or_default();
        self.secrets.hide(url).into_owned()
    }

    pub(crate) fn transport(&self, server: &str) -> Result<impl Transport<RoleClient> + use<>, McpError> {
        let bad = |reason: String| McpError::BadAddress { server: server.to_owned(), reason };
        if !self.url.starts_with("http://") && !self.url.starts_with("https://") {
            return Err(bad(format!("`{}` doesn't begin with `http://` or `https://`", self.shown())));
        }
        let mut config = StreamableHttpClientTransportConfig::with_uri(self.url.as_str());
        config.auth_header.clone_from(&self.token);
        for (name, value) in &self.headers {
            let Ok(header) = name.parse() else {
                return Err(bad(format!("`{name}` is no name of a header")));
            };
            let Ok(value) = value.parse() else {
                return Err(bad(format!("the value of the header `{name}` has letters that no header takes")));
            };
            config.custom_headers.insert(header, value);
        }
        config.custom_headers.values_mut().for_each(|value| value.set_sensitive(true));
        Ok(StreamableHttpClientTransport::from_config(config))
    }

    /// What is likely wrong when nothing was reached.
    pub(crate) fn hint(&self) -> &'static str {
        let has_tls = cfg!(any(feature = "http-rustls", feature = "http-native-tls"));
        match self.url.starts_with("https://") && !has_tls {
            true => " (for `https:` take the feature `http-rustls` or `http-native-tls`)",
            false => "",
        }
    }
}

impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let headers: Vec<&str> = self.headers.iter().map(|(name, _)| name.as_str()).collect();
        f.debug_struct("Http").field("url", &self.shown()).field("headers", &headers).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_secret_of_an_address_is_shown() {
        let mut http = Http::new("http://user:pass-word@127.0.0.1:8080/mcp?key=s3cret-s3cret".into());
        http.bearer("t0ken-t0ken".into());
        http.header("x-key".into(), "v4lue-v4lue".into());
        let shown = format!("{http:?}");
        assert_eq!(shown, r#"Http { url: "http://[secret]@127.0.0.1:8080/mcp", headers: ["x-key"], .. }"#);
        assert_eq!(http.secrets.hide("t0ken-t0ken v4lue-v4lue key=s3cret-s3cret"), "[secret] [secret] [secret]");
    }

    #[tokio::test]
    async fn what_can_not_be_sent_is_an_error() {
        let mut http = Http::new("127.0.0.1:8080".into());
        let text = |http: &Http| http.transport("files").map(|_| ()).unwrap_err().to_string();
        assert!(text(&http).ends_with("`127.0.0.1:8080` doesn't begin with `http://` or `https://`"));
        http.url = "http://127.0.0.1:8080".into();
        http.header("x key".into(), "value".into());
        assert!(text(&http).ends_with("`x key` is no name of a header"));
        http.headers = vec![("x-key".into(), "a\nb".into())];
        assert!(text(&http).ends_with("the value of the header `x-key` has letters that no header takes"));
    }
}
