//! Which namespaces are listed.

use super::namespace::Namespace;

/// Which namespaces to list. The default passes all that hold an item, a hundred at a time.
///
/// ```
/// use graph_engine::longterm::{Listing, Namespace};
///
/// let users = Namespace::new(["users"])?;
/// let (kari, diet) = (users.child("kari")?, users.child("kari")?.child("diet")?);
/// let listing = Listing::default().prefix(&users).max_depth(2);
/// assert_eq!(listing.page([diet.clone(), kari.clone(), users.clone()]), [users, kari.clone()]);
/// assert_eq!(Listing::default().suffix(&Namespace::new(["diet"])?).page([diet.clone(), kari]), [diet]);
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listing {
    /// Only this one and those inside of it.
    pub prefix: Option<Namespace>,
    /// Only those whose last labels are these.
    pub suffix: Option<Namespace>,
    /// Only the first labels of each, at most so many and at least one; what is then equal is listed once.
    pub max_depth: Option<usize>,
    /// At most so many (default 100).
    pub limit: usize,
    /// Without the first so many.
    pub offset: usize,
}

impl Default for Listing {
    fn default() -> Self {
        Self { prefix: None, suffix: None, max_depth: None, limit: 100, offset: 0 }
    }
}

impl Listing {
    /// Only this one and those inside of it.
    #[must_use]
    pub fn prefix(mut self, namespace: &Namespace) -> Self {
        self.prefix = Some(namespace.clone());
        self
    }

    /// Only those whose last labels are these.
    #[must_use]
    pub fn suffix(mut self, namespace: &Namespace) -> Self {
        self.suffix = Some(namespace.clone());
        self
    }

    /// Only the first labels of each.
    #[must_use]
    pub fn max_depth(mut self, labels: usize) -> Self {
        self.max_depth = Some(labels);
        self
    }

    /// At most so many.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = limit;
        self
    }

    /// Without the first so many.
    #[must_use]
    pub fn offset(mut self, offset: usize) -> Self {
        self.offset = offset;
        self
    }

    /// The page of these namespaces that is asked for. The suffix is looked at before anything is cut off.
    #[must_use]
    pub fn page(&self, all: impl IntoIterator<Item = Namespace>) -> Vec<Namespace> {
        let passing = all.into_iter().filter(|namespace| {
            self.prefix.as_ref().is_none_or(|prefix| namespace.is_under(prefix))
                && self.suffix.as_ref().is_none_or(|suffix| namespace.ends_with(suffix))
        });
        let cut = passing.map(|namespace| self.max_depth.map_or(namespace.clone(), |depth| namespace.cut(depth)));
        let distinct: std::collections::BTreeSet<Namespace> = cut.collect();
        distinct.into_iter().skip(self.offset).take(self.limit).collect()
    }
}
