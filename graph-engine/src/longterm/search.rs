//! What is searched for, and in which order it comes.

use super::condition::Condition;
use super::error::LongTermError;
use super::namespace::Namespace;

/// What a search by meaning compares with.
///
/// ```
/// use graph_engine::longterm::Near;
///
/// assert_ne!(Near::Text("by the sea".into()), Near::Vector(vec![1.0, 0.0]));
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Near {
    /// A text, of which the store's embedder makes a vector.
    Text(String),
    /// A vector of the embedder's length.
    Vector(Vec<f32>),
}

/// In which order items come. What is equal comes by namespace and key, so that pages never overlap.
///
/// ```
/// use graph_engine::longterm::Order;
///
/// assert_eq!(Order::default(), Order::Best);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The best score first; without a score by namespace and key.
    #[default]
    Best,
    /// By namespace and key.
    Key,
    /// What was last put first.
    Updated,
    /// What was first put last: the newest item first.
    Created,
}

/// A search over the items of a namespace and of everything inside of it. The default finds all of the store, ten items
/// at a time.
///
/// ```
/// use graph_engine::longterm::{Condition, Namespace, Search};
///
/// let user = Namespace::new(["users", "7"])?;
/// let search = Search::under(&user).filter(Condition::gt("score", 5)).text("quiet hotel").limit(3);
/// assert_eq!((search.limit, search.offset), (3, 0));
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Search {
    /// Only in this namespace and inside of it.
    pub under: Option<Namespace>,
    /// Only what passes all of these.
    pub filter: Vec<Condition>,
    /// Only what holds all words of this text, anywhere in the texts of its value, whatever their case.
    pub text: Option<String>,
    /// Only what has a vector; the score is how near it is.
    pub near: Option<Near>,
    /// In which order.
    pub order: Order,
    /// At most so many (default 10).
    pub limit: usize,
    /// Without the first so many.
    pub offset: usize,
    /// Whether the time of what is found begins anew; `None` is what the settings say.
    pub refresh: Option<bool>,
}

impl Default for Search {
    fn default() -> Self {
        Self {
            under: None,
            filter: Vec::new(),
            text: None,
            near: None,
            order: Order::Best,
            limit: 10,
            offset: 0,
            refresh: None,
        }
    }
}

impl Search {
    /// Searches a namespace and everything inside of it.
    #[must_use]
    pub fn under(namespace: &Namespace) -> Self {
        Self { under: Some(namespace.clone()), ..Self::default() }
    }

    /// Only what also passes this.
    #[must_use]
    pub fn filter(mut self, condition: Condition) -> Self {
        self.filter.push(condition);
        self
    }

    /// Only what holds all of these words.
    #[must_use]
    pub fn text(mut self, words: impl Into<String>) -> Self {
        self.text = Some(words.into());
        self
    }

    /// What means most nearly the same as this text.
    #[must_use]
    pub fn near(mut self, text: impl Into<String>) -> Self {
        self.near = Some(Near::Text(text.into()));
        self
    }

    /// What is nearest to this vector.
    #[must_use]
    pub fn near_vector(mut self, vector: impl Into<Vec<f32>>) -> Self {
        self.near = Some(Near::Vector(vector.into()));
        self
    }

    /// In which order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
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

    /// Whether the time of what is found begins anew.
    #[must_use]
    pub fn refresh(mut self, refresh: bool) -> Self {
        self.refresh = Some(refresh);
        self
    }

    pub(super) fn check(&self) -> Result<(), LongTermError> {
        if let Some(text) = &self.text
            && super::words::words([text.as_str()]).is_empty()
        {
            return Err(LongTermError::invalid(format!("the text {text:?} has no word to search for")));
        }
        self.filter.iter().try_for_each(Condition::check)
    }
}
