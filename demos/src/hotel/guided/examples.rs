//! Two calls of each stage, as a small model should make them. It repeats the last one more often than not, so the most
//! frequent wish stands there.

use crate::hotel::stage::Stage;
use crate::hotel::state::Hotel;
use graph_nodes::stage::Example;
use serde_json::{Value, json};

/// The answer of every tool.
const DONE: &str = "done";

/// The examples of a stage. Those about offers use their real names, so that a model finds there what `the first two`
/// are called.
pub(super) fn of(stage: Stage, visit: &Hotel) -> Vec<Example> {
    match stage {
        Stage::Explore => vec![
            example("bye", "close_conversation", json!({})),
            example(
                "Hotel in Madrid 10-12 May for 3",
                "find_hotels",
                json!({"city": "Madrid", "dates": "10-12 May", "guests": 3}),
            ),
        ],
        Stage::Present => vec![take(visit, 2), compare_first(visit)],
        Stage::Compare => vec![compare_first(visit), take(visit, 1)],
        Stage::Booking => {
            let chosen = visit.chosen.clone().unwrap_or_default();
            let confirm = json!({"hotel": chosen, "confirmed": true});
            ["ok, book it", "yes"].map(|said| example(said, "confirm_booking", confirm.clone())).into()
        }
    }
}

fn take(visit: &Hotel, at: usize) -> Example {
    let hotel = name(visit, at).unwrap_or_default();
    example(format!("I take {hotel}"), "choose_hotel", json!({"hotel": hotel}))
}

fn compare_first(visit: &Hotel) -> Example {
    let hotels: Vec<&str> = (0..2).filter_map(|at| name(visit, at)).collect();
    example("compare the first two", "compare_hotels", json!({"hotels": hotels}))
}

/// The name of an offer, or of the last one if there are not so many.
fn name(visit: &Hotel, at: usize) -> Option<&str> {
    let offers = &visit.offers;
    offers.get(at).or(offers.last()).map(|offer| offer.hotel.name.as_str())
}

fn example(said: impl Into<String>, tool: &str, arguments: Value) -> Example {
    Example::new(said).call(tool, arguments, DONE)
}
