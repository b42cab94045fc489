//! The HTTP client that is made where none is given.

use std::net::IpAddr;
use std::time::Duration;

use reqwest::{Client, ClientBuilder, Url};

use crate::BuildError;

/// For requests to this URL.
pub(crate) fn client(url: &Url, connect: Option<Duration>) -> Result<ClientBuilder, BuildError> {
    if url.scheme() == "https" && !cfg!(any(feature = "rustls", feature = "native-tls")) {
        return Err(BuildError::NoTls);
    }
    // No redirects: headers that are secrets would go wherever the server says. No retries: the gate counts attempts.
    let mut builder = Client::builder().redirect(reqwest::redirect::Policy::none()).retry(reqwest::retry::never());
    if let Some(limit) = connect {
        builder = builder.connect_timeout(limit);
    }
    if is_loopback(url) {
        // A proxy would look for the server on its own machine. And small servers say that a connection stays open and
        // close it after the answer: a request that goes out at that moment is lost. A new one costs nothing here.
        builder = builder.no_proxy().pool_max_idle_per_host(0);
    }
    Ok(builder)
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    host == "localhost" || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}
