//! A provider's key is nowhere, whatever goes wrong and whoever echoes it: not in a log, an error, an event, a
//! checkpoint, a cassette, a diagram, a table or a panic.

#[path = "reliability_keys/sinks.rs"]
mod sinks;
#[path = "reliability_keys/sources.rs"]
mod sources;
#[path = "reliability_keys/visit.rs"]
mod visit;

use sinks::Sinks;
use sources::SOURCES;

/// How many kinds of places there are in which a key could be.
const PLACES: usize = 17;

#[tokio::test]
async fn r27_a_key_from_any_source_is_in_no_place() {
    let sinks = Sinks::begin();
    let mut searched = 0;
    for source in SOURCES {
        let canary = format!("canary-{}-7d41e0", source.name);
        visit::talk(source, &canary, &sinks).await;
        for (place, text) in sinks.take() {
            let at = text.find(&canary).map(|at| text[..at].chars().rev().take(200).collect::<String>());
            let before: Option<String> = at.map(|back| back.chars().rev().collect());
            assert_eq!(before, None, "the key of source `{}` is in `{place}`, after this text", source.name);
            searched += 1;
        }
    }
    assert_eq!((SOURCES.len(), searched), (15, 15 * PLACES));
}

#[tokio::test]
async fn r27_the_search_finds_what_the_provider_says() {
    let sinks = Sinks::begin();
    // Said by the provider in its answer, so it is no secret.
    visit::talk(&SOURCES[0], "canary-key", &sinks).await;
    let found: Vec<_> = sinks.take().into_iter().filter(|(_, text)| text.contains(visit::SAID)).collect();
    let places: Vec<_> = found.iter().map(|(place, _)| *place).collect();
    assert_eq!(places, ["cassette", "checkpoints", "events", "export", "state", "what the turn says"]);
}
