//! Which constructs were really executed, and in how many seeds.

use std::collections::BTreeMap;
use std::fmt;

macro_rules! constructs {
    ($($name:ident = $text:literal,)*) => {
        /// Something that a simulation must meet often.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Construct {
            $(#[doc = $text] $name,)*
        }

        impl Construct {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// What it is.
            #[must_use]
            pub const fn text(self) -> &'static str {
                match self { $(Self::$name => $text,)* }
            }
        }
    };
}

constructs! {
    Loop = "a router or command led back",
    Join = "a join fired",
    JoinInLoop = "a join fired twice in a turn",
    UnequalJoin = "a join of branches of unequal length fired",
    Deferred = "deferred nodes ran",
    DeferredToDeferred = "a deferred node led to another",
    SentToDeferred = "something was sent to a deferred node",
    FanOut = "payloads were sent",
    NestedFanOut = "a task with a payload sent payloads",
    Retryable = "a retryable failure",
    Fatal = "a fatal failure",
    Panic = "a node panicked",
    StayInCluster = "a node of a cluster stayed",
    StayAlone = "a node in no cluster stayed",
    StayLimit = "the limit of stays was reached",
    Retry = "an attempt was made again",
    JitteredRetry = "an attempt was made again after a wait with jitter",
    TimedOut = "an attempt timed out",
    IdleOut = "an attempt was silent for too long",
    ErrorRoute = "a node took over from a failed task",
    SiblingsCancelled = "siblings of a failed task were cancelled",
    Queued = "a task waited for its place",
    Cached = "a cached result was taken",
    Deadline = "a turn ran into its deadline",
    Drained = "a turn stopped at a boundary",
    Cancelled = "a turn was cancelled while tasks ran",
    Dropped = "a turn was dropped while it ran",
    StepLimit = "the step limit was reached",
    Direct = "a direct reply",
    Finish = "a thread was finished",
    WriteConflict = "two tasks wrote one field",
    Refused = "a reducer refused or panicked",
    RouterFailed = "a router failed",
    CommitFailed = "a commit failed",
    AnswerLost = "a commit was stored and its answer lost",
    ProceedAfterFailure = "a turn proceeded after a failure",
    SavedResult = "a saved result was not computed again",
    Abandon = "unfinished work was abandoned",
    SeveralTurns = "a thread had several turns",
    CutOff = "a slow reader was cut off",
}

/// Counts per construct: of one seed, or of many.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    counts: BTreeMap<Construct, u64>,
    /// Seeds that were run.
    pub seeds: u64,
    /// Graphs that `compile` refused at first.
    pub repaired: u64,
    /// Graphs that it refused for good; nothing was run.
    pub refused: u64,
    /// Turns and super-steps.
    pub turns: u64,
    /// Merged super-steps.
    pub steps: u64,
    /// Sessions whose two modes could be compared.
    pub compared: u64,
}

impl Coverage {
    /// It happened.
    pub fn hit(&mut self, construct: Construct) {
        *self.counts.entry(construct).or_default() += 1;
    }

    /// Whether it happened.
    #[must_use]
    pub fn has(&self, construct: Construct) -> bool {
        self.counts.contains_key(&construct)
    }

    /// Adds one seed: each construct counts once.
    pub fn add_seed(&mut self, seed: &Self) {
        seed.counts.keys().for_each(|construct| self.hit(*construct));
        self.add_numbers(seed);
        self.seeds += 1;
    }

    /// Adds many seeds.
    pub fn add(&mut self, others: &Self) {
        for (construct, count) in &others.counts {
            *self.counts.entry(*construct).or_default() += count;
        }
        self.add_numbers(others);
        self.seeds += others.seeds;
    }

    fn add_numbers(&mut self, other: &Self) {
        self.repaired += other.repaired;
        self.refused += other.refused;
        self.turns += other.turns;
        self.steps += other.steps;
        self.compared += other.compared;
    }

    /// In how many percent of the seeds it happened.
    #[must_use]
    pub fn percent(&self, construct: Construct) -> f64 {
        let count = self.counts.get(&construct).copied().unwrap_or(0);
        // Counts of seeds stay far below what a double holds exactly.
        100.0 * count as f64 / self.seeds.max(1) as f64
    }

    /// Constructs that happened in less than so many percent of the seeds.
    #[must_use]
    pub fn below(&self, percent: f64) -> Vec<&'static str> {
        let rare = Construct::ALL.iter().filter(|construct| self.percent(**construct) < percent);
        rare.map(|construct| construct.text()).collect()
    }
}

impl fmt::Display for Coverage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seeds, turns, steps, repaired, refused, compared, .. } = self;
        writeln!(f, "{seeds} seeds, {turns} turns, {steps} super-steps; {compared} compared between modes")?;
        writeln!(f, "graphs: {repaired} repaired, {refused} refused for good")?;
        for construct in Construct::ALL {
            writeln!(f, "{:6.1} % {}", self.percent(*construct), construct.text())?;
        }
        Ok(())
    }
}
