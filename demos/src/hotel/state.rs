//! The state of a conversation, shared by all vertices.

use crate::hotel::briefing::Briefing;
use crate::hotel::calendar::Stay;
use crate::hotel::catalogue::Offer;
use crate::hotel::criteria::{Criteria, RoomType};
use crate::hotel::price::Cents;
use crate::hotel::stage::Stage;
use graph_engine::{Log, State};
use graph_nodes::flow::Cursor;
use graph_nodes::message::{Message, Role};
use graph_nodes::stage::{Draft, GateBook};
use jiff::civil::Date;
use serde::{Deserialize, Serialize};

/// The state of a conversation.
#[derive(State, Clone, Debug, Default)]
pub struct Hotel {
    /// The day of the turn, given with its input: nothing else asks a clock.
    pub today: Date,
    /// What the guest wants.
    pub criteria: Criteria,
    /// What the last search found, cheapest first.
    pub offers: Vec<Offer>,
    /// How many of the offers were shown.
    pub shown: usize,
    /// The hotels of the last comparison, in the order of its table.
    pub compared: Vec<String>,
    /// The hotel that was proposed for booking.
    pub chosen: Option<String>,
    /// The booking, once made.
    pub booking: Option<Booking>,
    /// Everything said, by all stages.
    #[state(append)]
    pub history: Log<Message>,
    /// The response on its way from the model to the gate and the tools.
    pub draft: Option<Draft>,
    /// What the gates counted.
    pub book: GateBook,
    /// Which stage the conversation is in.
    pub cursor: Cursor,
}

/// A booking that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Booking {
    /// What the guest names when asking for it.
    pub reference: String,
    /// The hotel.
    pub hotel: String,
    /// Where it is.
    pub street: String,
    /// The room.
    pub room: RoomType,
    /// The nights.
    pub stay: Stay,
    /// How many people.
    pub guests: u32,
    /// What the stay costs.
    pub total: Cents,
}

impl Hotel {
    /// The input of a turn: what the guest says, on which day.
    pub fn said(text: &str, today: Date) -> HotelUpdate {
        Self::update().today(today).history([Message::user(text)])
    }

    /// Whether the conversation is in this stage.
    #[must_use]
    pub fn is_in(&self, stage: Stage) -> bool {
        self.cursor.stage().is_some_and(|current| *current == stage.name())
    }

    /// What a model is told of the state.
    #[must_use]
    pub fn briefing(&self) -> Briefing {
        Briefing {
            today: self.today,
            criteria: self.criteria.clone(),
            missing: self.criteria.missing(),
            offers: self.offers.iter().map(|offer| offer.hotel.name.clone()).collect(),
            shown: self.shown,
            compared: self.compared.clone(),
            chosen: self.chosen.clone(),
        }
    }

    /// What the guest said last.
    #[must_use]
    pub fn last_said(&self) -> Option<String> {
        self.history.iter().rfind(|message| message.role() == Role::User).map(Message::text)
    }
}
