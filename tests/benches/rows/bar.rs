//! What is asked of a row, and whether it is reached.

/// A row is reached when one of its bars is: the ratio to the limit measured in the same process, or the figure of the machine
/// on which the targets were set, times what this one takes longer.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bar {
    /// At most so many times the limit; in a law, so many times the small one.
    pub(crate) ratio: Option<f64>,
    /// At most so many nanoseconds or bytes a unit.
    pub(crate) most: Option<f64>,
}

/// By what a row is reached.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Verdict {
    Both,
    Ratio,
    Most,
    Short,
    /// Nothing is asked.
    Shown,
}

impl Bar {
    pub(crate) fn judge(self, ratio: Option<f64>, measured: f64) -> Verdict {
        let by_ratio = self.ratio.zip(ratio).map(|(bar, ratio)| ratio <= bar);
        let by_most = self.most.map(|bar| measured <= bar);
        match (by_ratio, by_most) {
            (None, None) => Verdict::Shown,
            (Some(true), Some(true)) => Verdict::Both,
            (Some(true), _) => Verdict::Ratio,
            (_, Some(true)) => Verdict::Most,
            _ => Verdict::Short,
        }
    }
}

impl Verdict {
    pub(crate) fn reached(self) -> Option<bool> {
        match self {
            Self::Shown => None,
            other => Some(other != Self::Short),
        }
    }

    /// The word in JSON.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Both => "both",
            Self::Ratio => "ratio",
            Self::Most => "figure",
            Self::Short => "short",
            Self::Shown => "shown",
        }
    }
}
