//! Keys that panic, and windows that never end.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::time::Duration;

use graph_nodes::coalesce::Coalescer;
use tokio::time::{sleep, timeout};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    Clone,
    Hash,
}

/// A key that panics where it is told to.
#[derive(PartialEq, Eq)]
struct Key(&'static str, Fault);

impl Clone for Key {
    fn clone(&self) -> Self {
        assert!(self.1 != Fault::Clone, "the key can't be cloned");
        Self(self.0, self.1)
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        assert!(self.1 != Fault::Hash, "the key can't be hashed");
        self.0.hash(state);
    }
}

fn lengths() -> Coalescer<Key, usize> {
    Coalescer::new(|_, keys: Vec<Key>| async move {
        Ok(keys.into_iter().map(|key| (Key(key.0, Fault::None), key.0.len())).collect::<HashMap<_, _>>())
    })
}

#[tokio::test(start_paused = true)]
async fn a_key_that_panics_takes_nobody_with_it() {
    for fault in [Fault::Clone, Fault::Hash] {
        let lengths = lengths();
        let acme = lengths.tenant("acme");
        let broken = acme.clone();
        assert!(tokio::spawn(async move { broken.get(Key("bad", fault)).await }).await.unwrap_err().is_panic());
        assert_eq!(lengths.active_tenants(), 0, "the tenant of the broken key is not kept");
        // The next one opens a window of its own and gets its value.
        let got = timeout(Duration::from_secs(10), acme.get(Key("good", Fault::None))).await;
        assert_eq!(got.expect("nobody loads the window").unwrap(), Some(4));
    }
}

#[tokio::test(start_paused = true)]
async fn a_key_that_panics_beside_others_leaves_their_batch_whole() {
    for fault in [Fault::Clone, Fault::Hash] {
        let lengths = lengths();
        let acme = lengths.tenant("acme");
        let first = acme.clone();
        let waiting = tokio::spawn(async move { first.get(Key("good", Fault::None)).await });
        sleep(Duration::from_millis(1)).await;
        assert!(tokio::spawn(async move { acme.get(Key("bad", fault)).await }).await.unwrap_err().is_panic());
        let got = timeout(Duration::from_secs(10), waiting).await.expect("nobody loads the window");
        assert_eq!(got.unwrap().unwrap(), Some(4));
        assert_eq!(lengths.active_tenants(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_window_without_end_waits_for_the_last_key() {
    let lengths = Coalescer::<(), ()>::builder()
        .window(Duration::MAX)
        .timeout(Duration::MAX)
        .max_keys(2)
        .build(|_, keys: Vec<&str>| async move { Ok(keys.into_iter().map(|key| (key, key.len())).collect()) });
    let acme = lengths.tenant("acme");
    let (one, two) = tokio::join!(acme.get("one"), acme.get("three"));
    assert_eq!((one.unwrap(), two.unwrap()), (Some(3), Some(5)));
}

#[tokio::test(start_paused = true)]
async fn a_loader_that_asks_its_own_coalescer_for_another_key_is_served() {
    use std::sync::{Arc, OnceLock};
    let own: Arc<OnceLock<Coalescer<u32, u32>>> = Arc::default();
    let inner = own.clone();
    let sums =
        Coalescer::<(), ()>::builder().max_keys(1).window(Duration::ZERO).build(move |tenant, keys: Vec<u32>| {
            let inner = inner.clone();
            async move {
                let mut found = HashMap::new();
                for key in keys {
                    let before = match key {
                        0 => 0,
                        _ => Box::pin(inner.get().unwrap().tenant(&tenant).get(key - 1)).await?.unwrap(),
                    };
                    found.insert(key, before + key);
                }
                Ok(found)
            }
        });
    own.set(sums.clone()).ok();
    assert_eq!(sums.tenant("acme").get(4).await.unwrap(), Some(10));
    assert_eq!(sums.active_tenants(), 0);
}

#[tokio::test(start_paused = true)]
async fn many_tenants_cost_nothing_when_they_are_served() {
    let lengths = lengths();
    for n in 0..1000 {
        assert_eq!(lengths.tenant(format!("t{n}")).get(Key("k", Fault::None)).await.unwrap(), Some(1));
    }
    assert_eq!(lengths.active_tenants(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_loader_may_drop_who_waits_for_it() {
    use std::future::Future;
    use std::pin::Pin;
    use std::sync::{Arc, Mutex};
    type Waiting = Pin<Box<dyn Future<Output = ()> + Send>>;
    let waiting: Arc<Mutex<Option<Waiting>>> = Arc::default();
    let inner = waiting.clone();
    let lengths = Coalescer::<(), ()>::builder().build(move |_, keys: Vec<&str>| {
        let inner = inner.clone();
        async move {
            drop(inner.lock().unwrap().take());
            Ok(keys.into_iter().map(|key| (key, key.len())).collect())
        }
    });
    let acme = lengths.tenant("acme");
    let mut first: Waiting = Box::pin(async move { drop(acme.get("one").await) });
    assert!(timeout(Duration::ZERO, &mut first).await.is_err());
    *waiting.lock().unwrap() = Some(first);
    sleep(Duration::from_millis(10)).await;
    assert!(waiting.lock().unwrap().is_none());
    assert_eq!(lengths.active_tenants(), 0);
    assert_eq!(lengths.tenant("acme").get("three").await.unwrap(), Some(5));
    timeout(Duration::from_secs(1), lengths.shutdown()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_coalescer_whose_key_panicked_still_shuts_down() {
    let lengths = lengths();
    let acme = lengths.tenant("acme");
    assert!(tokio::spawn(async move { acme.get(Key("bad", Fault::Hash)).await }).await.is_err());
    timeout(Duration::from_secs(1), lengths.shutdown()).await.unwrap();
}
