//! The stages of the conversation.

/// Where the conversation stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Finding out what the guest wants.
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

    /// The name of its cluster and of the vertex that it begins with.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Explore => "explore",
            Self::Present => "present",
            Self::Compare => "compare",
            Self::Booking => "booking",
        }
    }
}

impl std::fmt::Display for Stage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
