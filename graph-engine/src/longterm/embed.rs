//! Texts as vectors, by whatever model a user takes.

use crate::error::BoxError;

/// Makes vectors of texts, so that items are found by what they mean.
///
/// # Contract
/// - One vector for each text, in the same order, each of [`dims`](Self::dims) finite numbers. Anything else is refused
///   and nothing is stored.
/// - The same text gives nearly the same vector for as long as the store lives: with another model the items have to be
///   put again. What has another length is not found until then.
/// - It is asked once for all texts of a batch, before anything of the batch is done.
///
/// ```
/// use graph_engine::longterm::{Embedder, LongTermSettings, LongTermStore, MemoryLongTerm, Namespace, Search};
/// use graph_engine::{BoxError, async_trait};
/// use serde_json::json;
///
/// /// Knows two things about a text.
/// struct Toy;
///
/// #[async_trait]
/// impl Embedder for Toy {
///     fn dims(&self) -> usize {
///         2
///     }
///
///     async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, BoxError> {
///         let says = |text: &String, word| if text.contains(word) { 1.0 } else { 0.1 };
///         Ok(texts.iter().map(|text| vec![says(text, "sea"), says(text, "city")]).collect())
///     }
/// }
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let memories = MemoryLongTerm::with(LongTermSettings::new().embed_fields(Toy, ["/likes"]));
/// let user = Namespace::new(["users", "7"])?;
/// memories.put(&user, "a", json!({"likes": "swimming in the sea"})).await?;
/// memories.put(&user, "b", json!({"likes": "a big city"})).await?;
/// let found = memories.search(Search::under(&user).near("by the sea").limit(1)).await?;
/// assert_eq!(found[0].key, "a");
/// # Ok::<(), graph_engine::longterm::LongTermError>(())
/// # }).unwrap();
/// ```
#[async_trait::async_trait]
pub trait Embedder: Send + Sync + 'static {
    /// How many numbers each vector has: always the same, at least 1.
    fn dims(&self) -> usize;

    /// A vector for each text, in the same order.
    ///
    /// # Errors
    /// Whatever keeps it from making them. The call of the store fails with it and changes nothing.
    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, BoxError>;
}
