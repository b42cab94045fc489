//! Who talks: the rule-based model, or a language model behind a server.

use super::local::LocalServer;
use super::{Failure, Mode, Options};
use crate::hotel::clean::clean_line;
use crate::hotel::model::{Concierge, Faulty};
use graph_nodes::model::ChatModel;
use graph_nodes_openai::{ApiKey, OpenAi, Timeouts, ToolMode};
use std::sync::Arc;
use std::time::Duration;

/// Where the key of a language model is looked for.
const KEY: &str = "OPENAI_API_KEY";

/// The name under which the small model is known to its server.
const LOCAL: &str = "local";

const OFFLINE: &str = "\
Hotel concierge. I am a rule-based program and offline: no language model, no network, invented hotels.
Tell me what you need, such as: a double room in Lisbon 3-6 July for 2 under 200 with wifi
";

const SMALL: &str = "\
A small model only chooses what to do; the program does the talking. It often chooses wrong, and nothing invented gets
through. Tell me a city, the dates and how many people, such as: Lisbon 3-6 July for 2
";

/// Who talks.
pub(super) struct Talks {
    pub(super) model: Arc<dyn ChatModel>,
    /// It is a small one.
    pub(super) guided: bool,
    /// What is said at the beginning.
    pub(super) welcome: String,
    /// The server that was started for it.
    pub(super) server: Option<LocalServer>,
}

impl Talks {
    /// Who the command line wants.
    pub(super) fn chosen(options: &Options) -> Result<Self, Failure> {
        if options.local {
            let server = LocalServer::start()?;
            let model = OpenAi::new(server.url(), LOCAL).timeouts(patient()).tool_mode(mode(options)).build()?;
            let welcome = format!(
                "Hotel concierge. A language model of 135 million parameters on this machine: no network, invented \
                 hotels.\n{SMALL}"
            );
            return Ok(Self { model: Arc::new(model), guided: true, welcome, server: Some(server) });
        }
        if let (Some(url), Some(name)) = (&options.llm, &options.model) {
            let mut model = OpenAi::new(url, name).timeouts(patient()).tool_mode(mode(options));
            // A URL that holds a password is refused before any text shows it.
            model.clone().build()?;
            if let Some(key) = key(url)? {
                model = model.key(key);
            }
            let model = model.build()?;
            let (url, name) = (clean_line(url), clean_line(name));
            let mut welcome = format!("Hotel concierge. The language model `{name}` at {url}; invented hotels.\n");
            welcome.push_str(if options.guided { SMALL } else { OFFLINE.split_once('\n').map_or("", |(_, ask)| ask) });
            return Ok(Self { model: Arc::new(model), guided: options.guided, welcome, server: None });
        }
        let model: Arc<dyn ChatModel> =
            if options.faults { Arc::new(Faulty::new(Concierge)) } else { Arc::new(Concierge) };
        Ok(Self { model, guided: false, welcome: OFFLINE.to_owned(), server: None })
    }
}

fn mode(options: &Options) -> ToolMode {
    match options.tool_mode {
        Mode::Native => ToolMode::Native,
        Mode::Schema => ToolMode::Schema,
    }
}

/// A model on a busy machine reads its prompt slowly.
fn patient() -> Timeouts {
    Timeouts::new().first_byte(Duration::from_secs(300))
}

/// The key of the environment; a server on this machine may do without.
fn key(url: &str) -> Result<Option<ApiKey>, Failure> {
    if std::env::var_os(KEY).is_some_and(|key| !key.is_empty()) {
        return Ok(Some(ApiKey::from_env(KEY)?));
    }
    if is_here(url) {
        return Ok(None);
    }
    Err(Failure::NoKey { url: clean_line(url), variable: KEY })
}

/// Whether the server is on this machine.
fn is_here(url: &str) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let host = match host.strip_prefix('[') {
        Some(six) => six.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_this_machine() {
        for here in ["http://127.0.0.1:8080/v1", "http://localhost/v1", "http://[::1]:80", "http://127.1.2.3"] {
            assert!(is_here(here), "{here}");
        }
        for there in ["http://10.0.0.1/v1", "http://localhost.example/v1", "http://a@127.0.0.1/", "https://[::2]/", ""]
        {
            assert!(!is_here(there), "{there}");
        }
    }
}
