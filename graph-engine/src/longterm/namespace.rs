//! Where an item is: a path of labels.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::LongTermError;
use crate::name::Name;

/// A path of labels, such as a tenant, a user and a subject. There is at least one, and none is empty; beside NUL, which
/// not every database can keep, a label may hold any character.
///
/// It is kept as one text, each label behind a `/` (`~` is written `~0`, `/` is written `~1`). Namespaces are ordered by
/// the bytes of this text, on every store.
///
/// ```
/// use graph_engine::longterm::Namespace;
///
/// let all = Namespace::new(["users", "kari.nordmann@acme.no"])?;
/// let diet = all.child("diet")?;
/// assert_eq!(diet.labels().collect::<Vec<_>>(), ["users", "kari.nordmann@acme.no", "diet"]);
/// assert_eq!(diet.as_str(), "/users/kari.nordmann@acme.no/diet");
/// assert!(diet.is_under(&all) && all.is_under(&all) && !all.is_under(&diet));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<String>", into = "Vec<String>")]
pub struct Namespace(Name);

impl Namespace {
    /// The namespace of these labels.
    ///
    /// # Errors
    /// [`LongTermError::Invalid`] without a label, with an empty one, or with one that holds a NUL.
    pub fn new<L: AsRef<str>>(labels: impl IntoIterator<Item = L>) -> Result<Self, LongTermError> {
        let mut path = String::new();
        for (at, label) in labels.into_iter().enumerate() {
            push(&mut path, at, label.as_ref())?;
        }
        if path.is_empty() {
            return Err(LongTermError::invalid("a namespace has at least one label"));
        }
        Ok(Self(path.into()))
    }

    /// The namespace with one more label.
    ///
    /// # Errors
    /// [`LongTermError::Invalid`] if the label is empty or holds a NUL.
    pub fn child(&self, label: &str) -> Result<Self, LongTermError> {
        let mut path = self.0.as_str().to_owned();
        push(&mut path, self.len(), label)?;
        Ok(Self(path.into()))
    }

    /// The text that a store keeps.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Reads what [`as_str`](Self::as_str) gave.
    ///
    /// # Errors
    /// [`LongTermError::Invalid`] if it is no such text.
    pub fn from_path(path: &str) -> Result<Self, LongTermError> {
        let labels = path.strip_prefix('/').ok_or_else(|| LongTermError::invalid("a namespace begins with `/`"))?;
        let namespace = Self::new(labels.split('/').map(decoded))?;
        if namespace.as_str() == path { Ok(namespace) } else { Err(LongTermError::invalid("a stray `~`")) }
    }

    /// How many labels it has: at least 1.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a namespace is never empty")]
    pub fn len(&self) -> usize {
        self.0.bytes().filter(|byte| *byte == b'/').count()
    }

    /// Its labels, the outermost first.
    pub fn labels(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.0.split('/').skip(1).map(decoded)
    }

    /// Whether it is the other one or inside of it.
    #[must_use]
    pub fn is_under(&self, other: &Self) -> bool {
        let rest = self.0.strip_prefix(other.as_str());
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether its last labels are those of the other one.
    #[must_use]
    pub fn ends_with(&self, suffix: &Self) -> bool {
        self.0.ends_with(suffix.as_str())
    }

    /// Its first labels, at most so many and at least one.
    #[must_use]
    pub fn cut(&self, labels: usize) -> Self {
        let end = self.0.match_indices('/').nth(labels.max(1)).map(|(at, _)| at);
        end.map_or_else(|| self.clone(), |end| Self(self.0[..end].into()))
    }

    /// Texts between which everything lies that is inside of it: from the first one on, and before the second.
    #[must_use]
    pub fn inside(&self) -> (String, String) {
        // `0` is the byte that follows `/`.
        (format!("{}/", self.0), format!("{}0", self.0))
    }
}

impl Namespace {
    /// The texts of [`inside`](Self::inside) in the form in which they are compared with namespaces. They are none.
    pub(super) fn bounds(&self) -> (Self, Self) {
        let (from, to) = self.inside();
        (Self(from.into()), Self(to.into()))
    }
}

fn push(path: &mut String, at: usize, label: &str) -> Result<(), LongTermError> {
    if label.is_empty() {
        return Err(LongTermError::invalid(format!("label {} of the namespace is empty", at + 1)));
    }
    if label.contains('\0') {
        return Err(LongTermError::invalid(format!("label {} of the namespace holds a NUL", at + 1)));
    }
    path.push('/');
    for letter in label.chars() {
        match letter {
            '~' => path.push_str("~0"),
            '/' => path.push_str("~1"),
            other => path.push(other),
        }
    }
    Ok(())
}

fn decoded(label: &str) -> Cow<'_, str> {
    if label.contains('~') { label.replace("~1", "/").replace("~0", "~").into() } else { label.into() }
}

impl TryFrom<Vec<String>> for Namespace {
    type Error = LongTermError;

    fn try_from(labels: Vec<String>) -> Result<Self, LongTermError> {
        Self::new(labels)
    }
}

impl From<Namespace> for Vec<String> {
    fn from(namespace: Namespace) -> Self {
        namespace.labels().map(Cow::into_owned).collect()
    }
}

impl fmt::Display for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Namespace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}
