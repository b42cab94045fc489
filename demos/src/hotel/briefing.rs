//! What a system prompt tells the model: its orders in words, and what is known
//! so far as JSON.

use crate::hotel::criteria::{Criteria, Missing};
use crate::hotel::stage::Stage;
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// What is known so far.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Briefing {
    /// The day of the turn.
    pub today: Date,
    /// What the guest wants.
    pub criteria: Criteria,
    /// What must still be asked.
    pub missing: Vec<Missing>,
    /// The names of all offers, in the order of the list.
    pub offers: Vec<String>,
    /// How many of them were shown.
    pub shown: usize,
    /// The hotels of the last comparison, in the order of its table.
    pub compared: Vec<String>,
    /// The hotel that was proposed for booking.
    pub chosen: Option<String>,
}

const MARK: &str = "Known so far, as JSON: ";

impl Briefing {
    /// The system prompt of a stage.
    #[must_use]
    pub fn prompt(&self, stage: Stage) -> String {
        // Plain data with text as keys is always JSON.
        let known = serde_json::to_string(self).unwrap_or_default();
        format!("{COMMON}\n{}\n{MARK}{known}", orders(stage))
    }

    /// Reads it back from a system prompt.
    #[must_use]
    pub fn read(prompt: &str) -> Option<Self> {
        let (_, known) = prompt.split_once(MARK)?;
        serde_json::from_str(known.lines().next()?).ok()
    }
}

const COMMON: &str = "\
You are a hotel concierge. Answer in a few short sentences of plain text.
Say only what the guest, the tools or the facts below say; never invent a hotel or a price.
Call a tool whenever the guest's wish needs one, and close the conversation when the guest leaves.";

fn orders(stage: Stage) -> &'static str {
    match stage {
        Stage::Explore => {
            "\
Find out what the guest wants: city, dates and the number of people; room type, budget and amenities if wanted.
Record what is said with `capture_criteria`, ask for what is missing, and call `search` once nothing is missing."
        }
        Stage::Present => {
            "\
Show the offers that were found and help the guest to choose.
Use `hotel_details` for questions about one, `compare_hotels` for a comparison, `check_availability` for other days, `choose_hotel` when the guest wants one, `change_criteria` for other wishes."
        }
        Stage::Compare => {
            "\
Show the comparison and help the guest to choose.
Use `show_offers` to go back to the list, `choose_hotel` when the guest wants one."
        }
        Stage::Booking => {
            "\
Say what would be booked and what it costs, and ask whether to book it.
Call `confirm_booking` only when the guest has agreed; go back with `show_offers` otherwise."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;

    #[test]
    fn a_prompt_is_read_back() {
        let briefing = Briefing {
            today: date(2026, 6, 10),
            criteria: Criteria::default(),
            missing: Criteria::default().missing(),
            offers: vec!["The \"Inn\"\nof two lines".into()],
            shown: 1,
            compared: Vec::new(),
            chosen: None,
        };
        for stage in Stage::ALL {
            assert_eq!(Briefing::read(&briefing.prompt(stage)), Some(briefing.clone()));
        }
        assert_eq!(Briefing::read("You are a pirate."), None);
    }
}
