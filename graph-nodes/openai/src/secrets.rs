//! Texts that must not show up in an error: a provider may echo what it was sent.

use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

/// What stands in the place of a secret.
const HIDDEN: &str = "[secret]";

/// Shorter texts are no secrets, and taking them out of errors would make these unreadable.
const SHORTEST: usize = 4;

/// The secrets of one model. Clones are the same ones: nothing is copied.
#[derive(Clone, Default)]
pub(crate) struct Secrets(Arc<Vec<SecretString>>);

impl Secrets {
    /// Adds a secret, also in the form that it has within a JSON text.
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() < SHORTEST {
            return;
        }
        let known = Arc::make_mut(&mut self.0);
        let json = serde_json::Value::from(secret).to_string();
        let escaped = &json[1..json.len() - 1];
        if escaped != secret {
            known.push(SecretString::from(escaped));
        }
        known.push(SecretString::from(secret));
        // One secret may hold another one; the longer one is replaced first.
        known.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
    }

    /// The text without secrets.
    pub(crate) fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| {
            if text.contains(secret.expose_secret()) { text.replace(secret.expose_secret(), HIDDEN) } else { text }
        })
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({})", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_replaced_wherever_it_stands() {
        let mut secrets = Secrets::default();
        secrets.add("sk-1");
        secrets.add("sk-12345");
        assert_eq!(secrets.hide("bad key sk-12345, not sk-1"), "bad key [secret], not [secret]");
        assert_eq!(format!("{secrets:?}"), "Secrets(2)");
    }

    #[test]
    fn a_secret_is_replaced_within_json_too() {
        let mut secrets = Secrets::default();
        secrets.add("a\"b\\c");
        assert_eq!(secrets.hide(r#"{"key":"a\"b\\c"}"#), r#"{"key":"[secret]"}"#);
    }

    #[test]
    fn a_text_of_three_letters_is_no_secret() {
        let mut secrets = Secrets::default();
        secrets.add("key");
        assert_eq!(secrets.hide("the key is wrong"), "the key is wrong");
    }
}
