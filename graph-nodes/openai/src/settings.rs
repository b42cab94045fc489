//! What a description of a model says of URLs, headers and the client, checked.

use reqwest::Url;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use crate::http::Endpoint;
use crate::{ApiKey, BuildError};

/// Headers as they were given.
#[derive(Clone, Default)]
pub(crate) struct Headers {
    pub(crate) open: Vec<(String, String)>,
    pub(crate) secret: Vec<(String, ApiKey)>,
}

/// Where requests go.
pub(crate) fn endpoint(
    base: &str,
    key: Option<&ApiKey>,
    headers: &Headers,
    query: Vec<(String, String)>,
) -> Result<(Url, Endpoint), BuildError> {
    let url = checked_url(base)?;
    let mut map = HeaderMap::new();
    if let Some(key) = key {
        // The value is a copy that nobody overwrites; the same is true of every copy that the client makes of it.
        let mut value = HeaderValue::from_str(&format!("Bearer {}", key.expose())).map_err(|_| BuildError::Key)?;
        value.set_sensitive(true);
        map.insert(AUTHORIZATION, value);
    }
    let open = headers.open.iter().map(|(name, value)| (name, value.as_str(), false));
    let secret = headers.secret.iter().map(|(name, value)| (name, value.expose(), true));
    for (name, value, is_secret) in open.chain(secret) {
        let refused = |reason| BuildError::Header { name: name.clone(), reason };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| refused("this is no name of a header"))?;
        if header == AUTHORIZATION && key.is_some() {
            return Err(BuildError::TwoKeys);
        }
        let mut value = HeaderValue::from_str(value).map_err(|_| refused("the value is not visible ASCII"))?;
        value.set_sensitive(is_secret || header == AUTHORIZATION);
        map.insert(header, value);
    }
    let key = key.cloned().unwrap_or_else(|| ApiKey::new(""));
    let base = url.as_str().trim_end_matches('/').to_owned();
    Ok((url, Endpoint { base, headers: map, query, key }))
}

fn checked_url(base: &str) -> Result<Url, BuildError> {
    let refused = |reason: &str| BuildError::Url { reason: reason.to_owned() };
    // The parser's own reasons hold nothing of the text.
    let url = Url::parse(base).map_err(|error| refused(&error.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        return Err(BuildError::UrlHoldsSecret);
    }
    if !matches!(url.scheme(), "http" | "https") {
        return Err(refused("it is neither `http` nor `https`"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("it holds parameters; give these with `OpenAi::query`"));
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_that_are_secrets_are_marked_so() {
        let headers = Headers {
            open: vec![("x-team".into(), "a".into())],
            secret: vec![("x-token".into(), ApiKey::new("canary"))],
        };
        let (_, endpoint) =
            endpoint("http://127.0.0.1/v1", Some(&ApiKey::new("sk-canary")), &headers, Vec::new()).unwrap();
        let marked = |name: &str| endpoint.headers[name].is_sensitive();
        assert_eq!((marked("authorization"), marked("x-token"), marked("x-team")), (true, true, false));
        assert!(!format!("{:?}", endpoint.headers).contains("canary"));
    }

    #[test]
    fn an_authorization_header_is_a_secret_whoever_sets_it() {
        let headers = Headers { open: vec![("Authorization".into(), "Basic canary".into())], secret: Vec::new() };
        let (_, endpoint) = endpoint("http://127.0.0.1/v1", None, &headers, Vec::new()).unwrap();
        assert!(endpoint.headers[AUTHORIZATION].is_sensitive());
    }
}
