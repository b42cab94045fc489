//! The stages of the conversation.

use serde::{Deserialize, Serialize};

/// Where the conversation stands. Only a move from one stage to another writes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// Finding out what the guest wants.
    #[default]
    Explore,
    /// Showing the offers.
    Present,
    /// Putting offers side by side.
    Compare,
    /// Proposing one offer for booking.
    Booking,
}

impl Stage {
    /// Every stage, in the order of the conversation.
    pub const ALL: [Self; 4] = [Self::Explore, Self::Present, Self::Compare, Self::Booking];

    /// The name of its cluster, and the beginning of the names of its vertices.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Present => "present",
            Self::Compare => "compare",
            Self::Booking => "booking",
        }
    }

    /// The vertex that asks the model.
    #[must_use]
    pub const fn agent(self) -> &'static str {
        match self {
            Self::Explore => "explore_agent",
            Self::Present => "present_agent",
            Self::Compare => "compare_agent",
            Self::Booking => "booking_agent",
        }
    }

    /// The vertex that accepts or rejects what the model says.
    #[must_use]
    pub const fn gate(self) -> &'static str {
        match self {
            Self::Explore => "explore_gate",
            Self::Present => "present_gate",
            Self::Compare => "compare_gate",
            Self::Booking => "booking_gate",
        }
    }

    /// The vertex that runs tools.
    #[must_use]
    pub const fn tools(self) -> &'static str {
        match self {
            Self::Explore => "explore_tools",
            Self::Present => "present_tools",
            Self::Compare => "compare_tools",
            Self::Booking => "booking_tools",
        }
    }

    /// The tools that its model is offered.
    #[must_use]
    pub const fn offered(self) -> &'static [&'static str] {
        match self {
            Self::Explore => &["capture_criteria", "search", "close_conversation"],
            Self::Present => &[
                "show_offers",
                "hotel_details",
                "compare_hotels",
                "choose_hotel",
                "change_criteria",
                "close_conversation",
            ],
            Self::Compare => &[
                "compare_hotels",
                "hotel_details",
                "show_offers",
                "choose_hotel",
                "change_criteria",
                "close_conversation",
            ],
            Self::Booking => &[
                "confirm_booking",
                "choose_hotel",
                "hotel_details",
                "compare_hotels",
                "show_offers",
                "change_criteria",
                "close_conversation",
            ],
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
