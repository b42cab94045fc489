//! What a gated call tells while it runs.

use async_trait::async_trait;

use super::{BestOf, Code, ExhaustedBy, Modification};
use crate::assemble::AssemblyWarning;

/// What a gated call tells while it runs. Nothing in here holds text of a rejected response but [`Text`](Self::Text)
/// in the [streaming](super::Streaming) modes that may take it back.
///
/// ```
/// use graph_nodes::gate::{GatedEvent, shown};
///
/// let events = [GatedEvent::Text("Hel".into()), GatedEvent::Text("lo".into())];
/// assert_eq!(shown(&events), "Hello");
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum GatedEvent {
    /// The next piece of the text.
    Text(String),
    /// What was shown of this attempt doesn't count: its response was rejected, or accepted with a change that begins
    /// in what was shown.
    Retract(Retracted),
    /// A response was rejected, and the model will be asked again.
    Rejected {
        /// Why.
        codes: Vec<Code>,
        /// The attempt that comes next, from 1.
        attempt: u32,
        /// How many there can be.
        max: u32,
        /// Whether no further one can follow.
        is_last: bool,
    },
    /// A limit was reached, and the fallback model is asked.
    Fallback {
        /// The limit.
        by: ExhaustedBy,
    },
    /// A limit was reached, and the best of the rejected responses was accepted.
    AcceptedBest(BestOf),
    /// The accepted response was changed.
    Modified(Modification),
    /// The stream of the accepted response was odd.
    Warnings(Vec<AssemblyWarning>),
}

/// What was shown and doesn't count.
///
/// ```
/// use graph_nodes::gate::Retracted;
///
/// let retracted = Retracted { attempt: 1, chars: 12, codes: vec!["forbidden".into()] };
/// assert_eq!(serde_json::to_string(&retracted).unwrap(), r#"{"attempt":1,"chars":12,"codes":["forbidden"]}"#);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Retracted {
    /// The attempt that it was of, from 1.
    pub attempt: u32,
    /// How many characters were shown.
    pub chars: u64,
    /// Why it was rejected; empty if it was changed.
    pub codes: Vec<Code>,
}

/// The text that counts after these events.
///
/// ```
/// use graph_nodes::gate::{GatedEvent, Retracted, shown};
///
/// let retracted = Retracted { attempt: 1, chars: 3, codes: vec!["rude".into()] };
/// let events = [GatedEvent::Text("No.".into()), GatedEvent::Retract(retracted), GatedEvent::Text("Yes.".into())];
/// assert_eq!(shown(&events), "Yes.");
/// ```
pub fn shown(events: &[GatedEvent]) -> String {
    events.iter().fold(String::new(), |mut text, event| {
        match event {
            GatedEvent::Text(more) => text.push_str(more),
            GatedEvent::Retract(_) => text.clear(),
            _ => {}
        }
        text
    })
}

/// Who is told. A closure is one; `()` is nobody.
///
/// A gated call waits for each event to be taken, so a slow reader slows the stream down.
///
/// ```
/// use async_trait::async_trait;
/// use graph_nodes::gate::{GateSink, GatedEvent};
///
/// struct ToChannel(tokio::sync::mpsc::Sender<GatedEvent>);
///
/// #[async_trait]
/// impl GateSink for ToChannel {
///     async fn event(&mut self, event: GatedEvent) {
///         // A reader that has gone is no reason to stop.
///         let _ = self.0.send(event).await;
///     }
/// }
/// # let _ = ToChannel;
/// ```
#[async_trait]
pub trait GateSink: Send {
    /// Whether anybody listens; if not, nothing is checked before the response is whole.
    fn is_read(&self) -> bool {
        true
    }

    /// Takes the next event.
    async fn event(&mut self, event: GatedEvent);
}

#[async_trait]
impl<F: FnMut(GatedEvent) + Send> GateSink for F {
    async fn event(&mut self, event: GatedEvent) {
        self(event);
    }
}

#[async_trait]
impl GateSink for () {
    fn is_read(&self) -> bool {
        false
    }

    async fn event(&mut self, _: GatedEvent) {}
}
