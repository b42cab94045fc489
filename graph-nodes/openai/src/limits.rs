//! How often, and how many at once, a provider's key is used.

use std::collections::BTreeMap;
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::ApiKey;
use crate::pace::Pace;

/// How often, and how many at once, each key of a provider is used: calls a minute, tokens a minute, calls at once.
///
/// Clones share one account, so that several models with one key stay inside of that key's allowance together. Keys
/// don't share: each base URL with each key has an account of its own, and where there is no key each set of secret
/// headers. Whoever comes first is served first. Waiting costs no attempt of a gate, but its deadline goes on.
///
/// ```
/// use graph_nodes_openai::{ApiKey, Limits, OpenAi};
///
/// let limits = Limits::new().calls_per_minute(60).tokens_per_minute(100_000).at_once(4);
/// let key = ApiKey::new("secret");
/// let large = OpenAi::new("http://127.0.0.1:8080/v1", "large").key(key.clone()).limits(&limits).build()?;
/// let small = OpenAi::new("http://127.0.0.1:8080/v1", "small").key(key).limits(&limits).build()?;
/// # Ok::<(), graph_nodes_openai::BuildError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Limits {
    calls: Option<NonZeroU32>,
    tokens: Option<NonZeroU32>,
    at_once: Option<usize>,
    accounts: Arc<Accounts>,
}

#[derive(Default)]
struct Accounts(Mutex<BTreeMap<(String, u64), Arc<Account>>>);

impl fmt::Debug for Accounts {
    /// Whose accounts they are is nobody's business.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Accounts").finish_non_exhaustive()
    }
}

impl Limits {
    /// No limits.
    pub fn new() -> Self {
        Self::default()
    }

    /// At most so many calls in a minute; so many may also come at once. 0 counts as 1.
    ///
    /// The allowance comes back evenly: with 60 a minute, one call a second once the first 60 were made.
    #[must_use]
    pub fn calls_per_minute(self, calls: u32) -> Self {
        Self { calls: Some(at_least_one(calls)), ..self.apart() }
    }

    /// At most so many tokens in a minute, by the model's [estimate](graph_nodes::model::TokenEstimate) of each
    /// request. 0 counts as 1. The tokens of the answers are not known when a call begins and don't count.
    #[must_use]
    pub fn tokens_per_minute(self, tokens: u32) -> Self {
        Self { tokens: Some(at_least_one(tokens)), ..self.apart() }
    }

    /// At most so many calls at once, each until its last byte has come or nobody reads on. 0 counts as 1.
    #[must_use]
    pub fn at_once(self, calls: usize) -> Self {
        Self { at_once: Some(calls.clamp(1, Semaphore::MAX_PERMITS)), ..self.apart() }
    }

    /// Whoever changes the limits doesn't change what clones agreed on.
    fn apart(self) -> Self {
        Self { accounts: Arc::default(), ..self }
    }

    /// The account of a base URL with a key, or with what stands for one, in any order.
    pub(crate) fn account<'k>(&self, base: &str, keys: impl IntoIterator<Item = &'k ApiKey>) -> Arc<Account> {
        // Hashes, so that no copy of a key stays here.
        let hash_of = |key: &ApiKey| {
            let mut hash = DefaultHasher::new();
            key.expose().hash(&mut hash);
            hash.finish()
        };
        let mut keys: Vec<u64> = keys.into_iter().map(hash_of).collect();
        keys.sort_unstable();
        let mut hash = DefaultHasher::new();
        keys.hash(&mut hash);
        let owner = (base.to_owned(), hash.finish());
        let mut accounts = self.accounts.0.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || {
            let (calls, tokens) = (self.calls.map(Pace::per_minute), self.tokens.map(Pace::per_minute));
            let places = self.at_once.map(|places| Arc::new(Semaphore::new(places)));
            Arc::new(Account { calls, tokens, places })
        };
        Arc::clone(accounts.entry(owner).or_insert_with(new))
    }
}

/// What one key has left.
#[derive(Debug)]
pub(crate) struct Account {
    calls: Option<Pace>,
    tokens: Option<Pace>,
    places: Option<Arc<Semaphore>>,
}

/// A call that is allowed, until this is dropped.
#[derive(Debug)]
pub(crate) struct Allowed {
    _place: Option<OwnedSemaphorePermit>,
}

/// A call that will never be allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NeverAllowed {
    /// The most tokens of one call.
    pub(crate) most: u32,
}

impl Account {
    /// Waits until a call with so many tokens may begin.
    pub(crate) async fn allow(&self, tokens: u64) -> Result<Allowed, NeverAllowed> {
        // What can never be allowed takes nothing from the others.
        let tokens = match &self.tokens {
            Some(pace) => Some((pace, pace.fits(tokens).ok_or(NeverAllowed { most: pace.most() })?)),
            None => None,
        };
        let place = match &self.places {
            // Nobody closes the semaphore.
            Some(places) => Arc::clone(places).acquire_owned().await.ok(),
            None => None,
        };
        if let Some(pace) = &self.calls {
            pace.take(NonZeroU32::MIN).await;
        }
        if let Some((pace, tokens)) = tokens {
            pace.take(tokens).await;
        }
        Ok(Allowed { _place: place })
    }
}

fn at_least_one(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::{Instant, sleep};

    use super::*;

    fn account(limits: &Limits) -> Arc<Account> {
        limits.account("a", None)
    }

    #[tokio::test(start_paused = true)]
    async fn calls_beyond_the_allowance_wait_until_it_comes_back() {
        let account = account(&Limits::new().calls_per_minute(3));
        let start = Instant::now();
        let mut after = Vec::new();
        for _ in 0..5 {
            account.allow(1).await.unwrap();
            after.push(start.elapsed().as_secs());
        }
        assert_eq!(after, [0, 0, 0, 20, 40]);
    }

    #[tokio::test(start_paused = true)]
    async fn tokens_beyond_the_allowance_wait_and_a_call_that_never_fits_is_refused_at_once() {
        let account = account(&Limits::new().tokens_per_minute(600));
        let start = Instant::now();
        account.allow(600).await.unwrap();
        assert_eq!(account.allow(601).await.unwrap_err(), NeverAllowed { most: 600 });
        account.allow(100).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 10);
    }

    #[tokio::test(start_paused = true)]
    async fn a_place_is_free_again_when_the_call_is_dropped() {
        let account = account(&Limits::new().at_once(2));
        let start = Instant::now();
        let first = account.allow(1).await.unwrap();
        let _second = account.allow(1).await.unwrap();
        let third = async {
            let _third = account.allow(1).await.unwrap();
            start.elapsed().as_secs()
        };
        let end = async {
            sleep(Duration::from_secs(7)).await;
            drop(first);
        };
        assert_eq!(tokio::join!(third, end).0, 7);
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_waiting_takes_no_place_along() {
        let account = account(&Limits::new().at_once(1));
        let first = account.allow(1).await.unwrap();
        let gave_up = tokio::time::timeout(Duration::from_secs(1), account.allow(1)).await;
        assert!(gave_up.is_err());
        drop(first);
        account.allow(1).await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_first_is_served_first() {
        let account = account(&Limits::new().calls_per_minute(1));
        account.allow(1).await.unwrap();
        let order = Mutex::new(Vec::new());
        let caller = |n: u64| {
            let (account, order) = (&account, &order);
            async move {
                sleep(Duration::from_millis(n)).await;
                account.allow(1).await.unwrap();
                order.lock().unwrap().push(n);
            }
        };
        tokio::join!(caller(3), caller(1), caller(2));
        assert_eq!(*order.lock().unwrap(), [1, 2, 3]);
    }

    #[tokio::test(start_paused = true)]
    async fn clones_share_an_account_and_keys_do_not() {
        let limits = Limits::new().calls_per_minute(1);
        let start = Instant::now();
        let key = ApiKey::new("sk-a");
        for (base, key) in [("a", None), ("b", None), ("a", Some(&key)), ("a", Some(&ApiKey::new("sk-b")))] {
            limits.account(base, key).allow(1).await.unwrap();
        }
        assert_eq!(start.elapsed().as_secs(), 0);
        limits.clone().account("a", Some(&key)).allow(1).await.unwrap();
        assert_eq!(start.elapsed().as_secs(), 60);
    }

    #[test]
    fn debug_says_nothing_of_whose_accounts_they_are() {
        let limits = Limits::new().at_once(1);
        let _account = limits.account("canary", Some(&ApiKey::new("canary")));
        assert!(!format!("{limits:?}").contains("canary"));
    }
}
