//! An embedder that needs no model.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::error::BoxError;
use crate::longterm::Embedder;

/// Makes vectors by counting words: each word has one of the places, and texts that share words are near to each other.
/// The same text always gives the same vector. Clones count their calls together.
///
/// ```
/// use graph_engine::longterm::Embedder;
/// use graph_engine::testing::longterm::WordEmbedder;
///
/// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
/// let embedder = WordEmbedder::new(16);
/// let texts = ["the sea", "The SEA!"].map(str::to_owned);
/// let vectors = embedder.embed(&texts).await.unwrap();
/// assert_eq!(vectors[0], vectors[1]);
/// assert_eq!((vectors[0].len(), embedder.calls()), (16, 1));
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct WordEmbedder {
    dims: usize,
    calls: Arc<AtomicUsize>,
}

impl WordEmbedder {
    /// Vectors of so many numbers, at least 1.
    #[must_use]
    pub fn new(dims: usize) -> Self {
        Self { dims: dims.max(1), calls: Arc::default() }
    }

    /// How often it was asked.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.calls.load(Ordering::SeqCst)
    }

    fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0; self.dims];
        for word in text.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            // FNV-1a: the same on every machine.
            let hash = word
                .to_lowercase()
                .bytes()
                .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
            let place = usize::try_from(hash % self.dims as u64).unwrap_or(0);
            vector[place] += 1.0;
        }
        vector
    }
}

#[async_trait::async_trait]
impl Embedder for WordEmbedder {
    fn dims(&self) -> usize {
        self.dims
    }

    async fn embed(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, BoxError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Ok(texts.iter().map(|text| self.vector(text)).collect())
    }
}
