//! What the engine knows about one field of a state, sets of fields, and the typed key of a field.

use std::borrow::Cow;
use std::fmt;
use std::ops::BitOr;

use serde::{Deserialize, Serialize};

use super::State;

/// How the writes of one super-step to one field combine.
///
/// ```
/// use graph_engine::Merge;
///
/// assert_eq!(Merge::default(), Merge::One);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Merge {
    /// One task a super-step may write it; two are a write conflict.
    #[default]
    One,
    /// Any number of tasks may write it; the last one in task order wins.
    Any,
    /// Items are added in task order.
    Append,
    /// Items are folded in task order by a named reducer.
    With,
}

impl Merge {
    /// The word for it in files and messages.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::One => "one",
            Self::Any => "any",
            Self::Append => "append",
            Self::With => "with",
        }
    }
}

/// One field of a state: its name and how writes to it combine.
///
/// ```
/// use graph_engine::{FieldSpec, Merge};
///
/// let field = FieldSpec::new("messages", Merge::Append);
/// assert!(!field.transient);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FieldSpec {
    /// The field's name in the struct, in checkpoints and in error messages.
    pub name: Cow<'static, str>,
    /// How several writes of one super-step combine.
    pub merge: Merge,
    /// The path of the reducer of a [`Merge::With`] field.
    pub reducer: Option<Cow<'static, str>>,
    /// Lives for one turn: `Default` at the start of every run, never stored.
    pub transient: bool,
}

impl FieldSpec {
    /// A stored field without a reducer.
    #[must_use]
    pub const fn new(name: &'static str, merge: Merge) -> Self {
        Self { name: Cow::Borrowed(name), merge, reducer: None, transient: false }
    }

    /// A stored [`Merge::With`] field, with the path of its reducer for diagrams and specs.
    #[must_use]
    pub const fn reduced(name: &'static str, path: &'static str) -> Self {
        Self { name: Cow::Borrowed(name), merge: Merge::With, reducer: Some(Cow::Borrowed(path)), transient: false }
    }

    /// Marks the field as living for one turn only.
    #[must_use]
    pub const fn transient(mut self) -> Self {
        self.transient = true;
        self
    }
}

/// A set of fields of one state, by index. A state has at most 64 fields.
///
/// ```
/// use graph_engine::FieldSet;
///
/// let set = FieldSet::of(3) | FieldSet::of(5);
/// assert!(set.contains(5));
/// assert_eq!(set.iter().collect::<Vec<_>>(), [3, 5]);
/// ```
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FieldSet(u64);

impl FieldSet {
    /// The largest number of fields of a state.
    pub const MAX_FIELDS: usize = 64;

    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// The set of one field. Indices above 63 give the empty set.
    #[must_use]
    pub const fn of(field: usize) -> Self {
        if field < Self::MAX_FIELDS { Self(1 << field) } else { Self(0) }
    }

    /// Whether the field is in the set.
    #[must_use]
    pub const fn contains(self, field: usize) -> bool {
        field < Self::MAX_FIELDS && self.0 & (1 << field) != 0
    }

    /// Whether no field is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The fields that are in both sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// The fields of this set that are not in the other.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Adds the fields of the other set.
    pub const fn insert(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// The indices in ascending order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            (rest != 0).then(|| {
                let index = rest.trailing_zeros() as usize;
                rest &= rest - 1;
                index
            })
        })
    }
}

impl BitOr for FieldSet {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Debug for FieldSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

/// A typed key of one field: what lets a library node serve any state.
///
/// The derive makes one for each field, as an associated constant in upper case (`Hotel::CRITERIA`).
/// `T` is the field's type, `I` what one write carries: the same type, except for a `with` field whose
/// reducer takes other items.
///
/// ```
/// use graph_engine::State;
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
/// }
///
/// let trip = Trip { city: "Oslo".into() };
/// assert_eq!(Trip::CITY.name(), "city");
/// assert_eq!(Trip::CITY.get(&trip), "Oslo");
/// let mut update = Trip::update();
/// Trip::CITY.put(&mut update, "Bergen".to_owned());
/// assert_eq!(update.city.as_deref(), Some("Bergen"));
/// ```
pub struct Field<S: State, T, I = T> {
    index: usize,
    name: &'static str,
    get: fn(&S) -> &T,
    put: fn(&mut S::Update, I),
    overwrite: fn(&mut S::Update, T),
}

impl<S: State, T, I> Field<S, T, I> {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        index: usize,
        name: &'static str,
        get: fn(&S) -> &T,
        put: fn(&mut S::Update, I),
        overwrite: fn(&mut S::Update, T),
    ) -> Self {
        Self { index, name, get, put, overwrite }
    }

    /// The field's position in the state.
    #[must_use]
    pub const fn index(&self) -> usize {
        self.index
    }

    /// The field's name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The set of this field alone.
    #[must_use]
    pub const fn set(&self) -> FieldSet {
        FieldSet::of(self.index)
    }

    /// Reads the field.
    pub fn get<'s>(&self, state: &'s S) -> &'s T {
        (self.get)(state)
    }

    /// Adds a write by the field's own rule: replace, append or reduce.
    pub fn put(&self, update: &mut S::Update, item: I) {
        (self.put)(update, item);
    }

    /// Replaces the whole value, past any reducer. At most one task a super-step may do so.
    pub fn overwrite(&self, update: &mut S::Update, value: T) {
        (self.overwrite)(update, value);
    }
}

impl<S: State, T, I> Clone for Field<S, T, I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S: State, T, I> Copy for Field<S, T, I> {}

impl<S: State, T, I> fmt::Debug for Field<S, T, I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Field").field("index", &self.index).field("name", &self.name).finish()
    }
}

/// Fields of one state: what `Hotel::CRITERIA | Hotel::MESSAGES` makes, typed so that keys of another state don't fit.
///
/// ```
/// use graph_engine::{Fields, State};
///
/// #[derive(State, Clone, Default)]
/// struct Trip {
///     city: String,
///     nights: u32,
/// }
///
/// let both: Fields<Trip> = Trip::CITY | Trip::NIGHTS;
/// assert_eq!(both.set().iter().collect::<Vec<_>>(), [0, 1]);
/// ```
pub struct Fields<S> {
    set: FieldSet,
    state: std::marker::PhantomData<fn() -> S>,
}

impl<S: State> Fields<S> {
    /// The set of indices.
    #[must_use]
    pub const fn set(&self) -> FieldSet {
        self.set
    }
}

impl<S> fmt::Debug for Fields<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.set.fmt(f)
    }
}

impl<S: State, T, I> From<Field<S, T, I>> for Fields<S> {
    fn from(field: Field<S, T, I>) -> Self {
        Self { set: field.set(), state: std::marker::PhantomData }
    }
}

impl<S: State, T, I, U, J> BitOr<Field<S, U, J>> for Field<S, T, I> {
    type Output = Fields<S>;

    fn bitor(self, other: Field<S, U, J>) -> Fields<S> {
        Fields { set: self.set() | other.set(), state: std::marker::PhantomData }
    }
}

impl<S: State, T, I> BitOr<Field<S, T, I>> for Fields<S> {
    type Output = Self;

    fn bitor(self, other: Field<S, T, I>) -> Self {
        Self { set: self.set | other.set(), state: std::marker::PhantomData }
    }
}
