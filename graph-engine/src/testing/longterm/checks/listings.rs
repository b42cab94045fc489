//! Lists of namespaces.

use std::sync::Arc;

use serde_json::json;

use crate::longterm::{Listing, LongTermStore, Namespace};
use crate::testing::longterm::kit::{Kit, ns};

async fn filled(kit: &Kit) -> Arc<dyn LongTermStore> {
    let store = kit.store().await;
    for labels in [&["a", "b", "c"][..], &["a", "b", "d", "e"], &["a", "b-c"], &["a", "b", "c"], &["b", "c"], &["a"]] {
        let namespace = Namespace::new(labels).unwrap();
        store.put(&namespace, "one", json!(1)).await.unwrap();
        store.put(&namespace, "two", json!(2)).await.unwrap();
    }
    store
}

async fn listed(store: &Arc<dyn LongTermStore>, listing: Listing) -> Vec<String> {
    store.list_namespaces(listing).await.unwrap().iter().map(ToString::to_string).collect()
}

pub async fn namespaces_are_listed_once_and_in_order(kit: Kit) {
    let store = filled(&kit).await;
    assert_eq!(listed(&store, Listing::default()).await, ["/a", "/a/b-c", "/a/b/c", "/a/b/d/e", "/b/c"]);
}

pub async fn a_prefix_and_a_suffix_are_whole_labels(kit: Kit) {
    let store = filled(&kit).await;
    let prefix = |labels| Listing::default().prefix(&labels);
    assert_eq!(listed(&store, prefix(ns(["a", "b"]))).await, ["/a/b/c", "/a/b/d/e"]);
    assert_eq!(listed(&store, prefix(ns(["a", "b", "c"]))).await, ["/a/b/c"]);
    assert_eq!(listed(&store, prefix(ns(["c"]))).await, [""; 0]);
    let suffix = |labels| Listing::default().suffix(&labels);
    assert_eq!(listed(&store, suffix(ns(["c"]))).await, ["/a/b/c", "/b/c"]);
    assert_eq!(listed(&store, suffix(ns(["b", "c"]))).await, ["/a/b/c", "/b/c"]);
    assert_eq!(listed(&store, suffix(ns(["c"])).prefix(&ns(["a"]))).await, ["/a/b/c"]);
}

pub async fn a_depth_cuts_and_joins(kit: Kit) {
    let store = filled(&kit).await;
    assert_eq!(listed(&store, Listing::default().max_depth(1)).await, ["/a", "/b"]);
    assert_eq!(listed(&store, Listing::default().max_depth(2)).await, ["/a", "/a/b", "/a/b-c", "/b/c"]);
    assert_eq!(listed(&store, Listing::default().max_depth(2).suffix(&ns(["e"]))).await, ["/a/b"]);
    assert_eq!(listed(&store, Listing::default().max_depth(9)).await.len(), 5);
}

pub async fn a_page_of_namespaces_is_cut_behind_everything_else(kit: Kit) {
    let store = filled(&kit).await;
    assert_eq!(listed(&store, Listing::default().max_depth(2).limit(2)).await, ["/a", "/a/b"]);
    assert_eq!(listed(&store, Listing::default().max_depth(2).limit(2).offset(3)).await, ["/b/c"]);
    assert_eq!(listed(&store, Listing::default().limit(0)).await, [""; 0]);
    for n in 0..110 {
        store.put(&ns(["many", &format!("{n:03}")]), "k", json!(n)).await.unwrap();
    }
    assert_eq!(listed(&store, Listing::default()).await.len(), 100);
    assert_eq!(listed(&store, Listing::default().limit(1_000)).await.len(), 115);
}

pub async fn a_namespace_is_there_for_as_long_as_it_holds_an_item(kit: Kit) {
    let store = kit.store().await;
    let namespace = ns(["a", "b"]);
    store.put(&namespace, "one", json!(1)).await.unwrap();
    store.put(&namespace, "two", json!(2)).await.unwrap();
    store.delete(&namespace, "one").await.unwrap();
    assert_eq!(listed(&store, Listing::default()).await, ["/a/b"]);
    store.delete(&namespace, "two").await.unwrap();
    assert_eq!(listed(&store, Listing::default()).await, [""; 0]);
}
