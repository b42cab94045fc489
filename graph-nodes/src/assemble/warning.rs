//! What was odd about a stream of tool calls.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// One deviation from the plain form. Calls are numbered in order of arrival,
/// from 0. A deviation that lasts is reported once per call.
///
/// ```
/// use graph_nodes::assemble::{Assembler, AssemblyWarning, CallDelta};
///
/// let mut assembler = Assembler::new();
/// assembler.push(CallDelta::new().at(0).id("a1").name("f").text("{"));
/// assembler.push(CallDelta::new().at(0).id("a2").text("}"));
/// let warnings = assembler.finish().unwrap().warnings;
/// assert_eq!(warnings, [AssemblyWarning::UnstableId { call: 0, kept: "a1".into(), seen: "a2".into() }]);
/// assert_eq!(warnings[0].to_string(), "call 0 changed its id from `a1` to `a2`; the first one was kept");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AssemblyWarning {
    /// A call came without an index.
    #[error("call {call} came without an index")]
    MissingIndex {
        /// The call.
        call: usize,
    },
    /// A second call came at an index that was taken.
    #[error("call {call} came at index {index}, which call {first} has; they were kept apart")]
    SharedIndex {
        /// The call.
        call: usize,
        /// The call that had it first.
        first: usize,
        /// The index.
        index: u32,
    },
    /// A call's id changed while it was open.
    #[error("call {call} changed its id from `{kept}` to `{seen}`; the first one was kept")]
    UnstableId {
        /// The call.
        call: usize,
        /// What was kept.
        kept: String,
        /// What came as well.
        seen: String,
    },
    /// A call came without an id.
    #[error("call {call} came without an id; it got `{id}`")]
    SynthesizedId {
        /// The call.
        call: usize,
        /// The id it got.
        id: String,
    },
    /// A call came with the id of another one.
    #[error("call {call} came with the id `{seen}` of another call; it got `{id}`")]
    DuplicateId {
        /// The call.
        call: usize,
        /// What came as well.
        seen: String,
        /// The id it got.
        id: String,
    },
    /// A call's name was sent again.
    #[error("call {call} repeated its name `{name}`")]
    RepeatedName {
        /// The call.
        call: usize,
        /// The name.
        name: String,
    },
    /// The registry of tools knows a later name and not the first one.
    #[error("call {call} replaced its name `{seen}` by `{kept}`, which is a known tool")]
    ReplacedName {
        /// The call.
        call: usize,
        /// What was kept.
        kept: String,
        /// What came as well.
        seen: String,
    },
    /// Another name came after the arguments began.
    #[error("call {call} is `{kept}`, but the name `{seen}` came later; it was ignored")]
    NameConflict {
        /// The call.
        call: usize,
        /// What was kept.
        kept: String,
        /// What came as well.
        seen: String,
    },
    /// No name came.
    #[error("call {call} came without a name; it can't be executed")]
    MissingName {
        /// The call.
        call: usize,
    },
    /// The arguments came as JSON instead of text.
    #[error("call {call} sent its arguments as JSON instead of text")]
    ArgumentsAsValue {
        /// The call.
        call: usize,
    },
    /// The arguments are valid JSON, but no object.
    #[error("call {call} can't be executed: {message}")]
    NotAnObject {
        /// The call.
        call: usize,
        /// Why, for people and for the model.
        message: String,
    },
    /// The arguments can't be read.
    #[error("call {call} can't be executed: {message}")]
    ParseError {
        /// The call.
        call: usize,
        /// Why, for people and for the model.
        message: String,
    },
}

impl AssemblyWarning {
    /// The kind, for counters.
    pub fn kind(&self) -> WarningKind {
        match self {
            Self::MissingIndex { .. } => WarningKind::MissingIndex,
            Self::SharedIndex { .. } => WarningKind::SharedIndex,
            Self::UnstableId { .. } => WarningKind::UnstableId,
            Self::SynthesizedId { .. } => WarningKind::SynthesizedId,
            Self::DuplicateId { .. } => WarningKind::DuplicateId,
            Self::RepeatedName { .. } => WarningKind::RepeatedName,
            Self::ReplacedName { .. } => WarningKind::ReplacedName,
            Self::NameConflict { .. } => WarningKind::NameConflict,
            Self::MissingName { .. } => WarningKind::MissingName,
            Self::ArgumentsAsValue { .. } => WarningKind::ArgumentsAsValue,
            Self::NotAnObject { .. } => WarningKind::NotAnObject,
            Self::ParseError { .. } => WarningKind::ParseError,
        }
    }

    /// The call that the warning is about.
    pub fn call(&self) -> usize {
        match self {
            Self::MissingIndex { call }
            | Self::SharedIndex { call, .. }
            | Self::UnstableId { call, .. }
            | Self::SynthesizedId { call, .. }
            | Self::DuplicateId { call, .. }
            | Self::RepeatedName { call, .. }
            | Self::ReplacedName { call, .. }
            | Self::NameConflict { call, .. }
            | Self::MissingName { call }
            | Self::ArgumentsAsValue { call }
            | Self::NotAnObject { call, .. }
            | Self::ParseError { call, .. } => *call,
        }
    }
}

/// The kind of an [`AssemblyWarning`], as key of counters.
///
/// ```
/// use graph_nodes::assemble::{AssemblyWarning, WarningKind};
///
/// assert_eq!(AssemblyWarning::MissingIndex { call: 0 }.kind(), WarningKind::MissingIndex);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WarningKind {
    /// Of [`AssemblyWarning::MissingIndex`].
    MissingIndex,
    /// Of [`AssemblyWarning::SharedIndex`].
    SharedIndex,
    /// Of [`AssemblyWarning::UnstableId`].
    UnstableId,
    /// Of [`AssemblyWarning::SynthesizedId`].
    SynthesizedId,
    /// Of [`AssemblyWarning::DuplicateId`].
    DuplicateId,
    /// Of [`AssemblyWarning::RepeatedName`].
    RepeatedName,
    /// Of [`AssemblyWarning::ReplacedName`].
    ReplacedName,
    /// Of [`AssemblyWarning::NameConflict`].
    NameConflict,
    /// Of [`AssemblyWarning::MissingName`].
    MissingName,
    /// Of [`AssemblyWarning::ArgumentsAsValue`].
    ArgumentsAsValue,
    /// Of [`AssemblyWarning::NotAnObject`].
    NotAnObject,
    /// Of [`AssemblyWarning::ParseError`].
    ParseError,
}

/// Counts warnings by kind; kinds that don't occur are left out.
///
/// ```
/// use graph_nodes::assemble::{AssemblyWarning, WarningKind, count_warnings};
///
/// let warnings = [AssemblyWarning::MissingIndex { call: 0 }, AssemblyWarning::MissingIndex { call: 1 }];
/// assert_eq!(count_warnings(&warnings).into_iter().collect::<Vec<_>>(), [(WarningKind::MissingIndex, 2)]);
/// ```
pub fn count_warnings<'a>(warnings: impl IntoIterator<Item = &'a AssemblyWarning>) -> BTreeMap<WarningKind, u32> {
    let mut counts = BTreeMap::new();
    for warning in warnings {
        *counts.entry(warning.kind()).or_default() += 1;
    }
    counts
}
