//! What is counted before a call: its tokens by an estimate, and its share of an allowance.

use std::fmt;
use std::sync::Arc;

use graph_nodes::model::{BytesPerToken, ModelError, Request, TokenEstimate};

use crate::limits::{Account, Allowed, NeverAllowed};

/// Lets calls through, at once or when it is their turn.
#[derive(Clone)]
pub(crate) struct Meter {
    pub(crate) estimate: Arc<dyn TokenEstimate>,
    /// The most tokens of a request.
    pub(crate) context: Option<u64>,
    pub(crate) account: Option<Arc<Account>>,
}

impl Default for Meter {
    fn default() -> Self {
        Self { estimate: Arc::new(BytesPerToken::default()), context: None, account: None }
    }
}

impl Meter {
    /// Waits until the call may begin.
    pub(crate) async fn admit(&self, request: &Request) -> Result<Option<Allowed>, ModelError> {
        if self.context.is_none() && self.account.is_none() {
            return Ok(None);
        }
        let tokens = self.estimate.request(request);
        if let Some(context) = self.context.filter(|context| tokens > *context) {
            let message = format!("about {tokens} tokens, where `OpenAi::context` allows {context}; nothing was sent");
            return Err(ModelError::ContextTooLong { message });
        }
        self.admit_tokens(tokens).await
    }

    /// The same for texts that get vectors.
    pub(crate) async fn admit_texts(&self, texts: &[String]) -> Result<Option<Allowed>, ModelError> {
        let tokens = texts.iter().map(|text| self.estimate.text(text)).fold(0, u64::saturating_add);
        self.admit_tokens(tokens).await
    }

    async fn admit_tokens(&self, tokens: u64) -> Result<Option<Allowed>, ModelError> {
        let Some(account) = &self.account else { return Ok(None) };
        account.allow(tokens).await.map(Some).map_err(|NeverAllowed { most }| {
            let limit = format!("about {tokens} tokens, where `Limits::tokens_per_minute` allows {most} in a minute");
            ModelError::unsendable(format!("{limit}; raise it, or send less"))
        })
    }
}

impl fmt::Debug for Meter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meter").field("context", &self.context).finish_non_exhaustive()
    }
}
