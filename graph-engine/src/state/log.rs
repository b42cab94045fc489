//! An append-only list whose snapshots cost one pointer: a tree of full chunks that snapshots share, and a tail.

use std::fmt;
use std::sync::Arc;

use serde::de::{Deserialize, Deserializer, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Items in a chunk, and children of an inner node.
const WIDTH: usize = 32;

enum Node<T> {
    Leaf(Vec<T>),
    Inner(Vec<Arc<Node<T>>>),
}

/// A list that grows at its end. Cloning it shares everything; appending copies at most one chunk that a clone
/// still holds, so both are O(1) amortised and their cost does not depend on the length. Reading an item is
/// O(log32 n).
///
/// ```
/// use graph_engine::Log;
///
/// let mut log: Log<u32> = (0..100).collect();
/// let snapshot = log.clone();
/// log.push(100);
/// assert_eq!((snapshot.len(), log.len()), (100, 101));
/// assert_eq!(log.get(100), Some(&100));
/// assert_eq!(log.iter().sum::<u32>(), 5050);
/// ```
pub struct Log<T> {
    /// Full chunks only: `full` items in `depth` inner levels above the leaves.
    root: Option<Arc<Node<T>>>,
    depth: u32,
    full: usize,
    tail: Arc<Vec<T>>,
}

impl<T> Clone for Log<T> {
    fn clone(&self) -> Self {
        Self { root: self.root.clone(), depth: self.depth, full: self.full, tail: self.tail.clone() }
    }
}

impl<T> Default for Log<T> {
    fn default() -> Self {
        Self { root: None, depth: 0, full: 0, tail: Arc::default() }
    }
}

impl<T> Log<T> {
    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of items.
    #[must_use]
    pub fn len(&self) -> usize {
        self.full + self.tail.len()
    }

    /// Whether there is no item.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The item at an index, counted from the oldest.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&T> {
        if index >= self.full {
            return self.tail.get(index - self.full);
        }
        self.chunk(index).get(index % WIDTH)
    }

    /// The newest item.
    #[must_use]
    pub fn last(&self) -> Option<&T> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The items from the oldest to the newest.
    #[must_use]
    pub fn iter(&self) -> Iter<'_, T> {
        self.tail(0)
    }

    /// The items from an index on; empty if there are none.
    #[must_use]
    pub fn tail(&self, from: usize) -> Iter<'_, T> {
        Iter { log: self, next: from.min(self.len()), end: self.len(), chunk: &[] }
    }

    /// The chunk in which an index lies.
    fn chunk(&self, index: usize) -> &[T] {
        if index >= self.full {
            return &self.tail;
        }
        let Some(mut node) = self.root.as_deref() else { return &[] };
        for level in (0..self.depth).rev() {
            match node {
                Node::Inner(children) => node = &children[index / WIDTH.pow(level + 1) % WIDTH],
                Node::Leaf(_) => break,
            }
        }
        match node {
            Node::Leaf(items) => items,
            Node::Inner(_) => &[],
        }
    }
}

impl<T: Clone> Log<T> {
    /// Adds an item at the end.
    pub fn push(&mut self, item: T) {
        let tail = Arc::make_mut(&mut self.tail);
        make_room(tail, self.full);
        tail.push(item);
        if tail.len() == WIDTH {
            self.fill_leaf();
        }
    }

    /// To add many items one by one: that nobody shares the tail is found out once.
    pub(super) fn fill(&mut self) -> Filling<'_, T> {
        let tail = Arc::unwrap_or_clone(std::mem::take(&mut self.tail));
        Filling { log: self, tail }
    }

    /// Adds all items of another log. They are moved if that log shares them with no clone, and whole chunks are shared
    /// where they fit.
    pub fn append(&mut self, more: Self) {
        if self.is_empty() {
            *self = more;
            return;
        }
        if let Some(root) = more.root {
            each_leaf(root, &mut |leaf| {
                if self.tail.is_empty() {
                    return self.push_leaf(leaf);
                }
                match Arc::try_unwrap(leaf) {
                    Ok(Node::Leaf(items)) => self.extend(items),
                    Err(shared) => match &*shared {
                        Node::Leaf(items) => self.extend(items.iter().cloned()),
                        Node::Inner(_) => {}
                    },
                    Ok(Node::Inner(_)) => {}
                }
            });
        }
        if self.tail.is_empty() {
            self.tail = more.tail;
            return;
        }
        match Arc::try_unwrap(more.tail) {
            Ok(items) => self.extend(items),
            Err(items) => self.extend(items.iter().cloned()),
        }
    }

    /// The tail has become as long as a chunk.
    fn fill_leaf(&mut self) {
        let leaf = Arc::new(Node::Leaf(Arc::unwrap_or_clone(std::mem::take(&mut self.tail))));
        self.push_leaf(leaf);
    }

    fn push_leaf(&mut self, leaf: Arc<Node<T>>) {
        let capacity = WIDTH.pow(self.depth + 1);
        self.root = Some(match self.root.take() {
            None => leaf,
            Some(root) if self.full == capacity => {
                self.depth += 1;
                Arc::new(Node::Inner(vec![root, Self::spine(self.depth - 1, leaf)]))
            }
            Some(mut root) => {
                Self::insert(&mut root, self.depth, self.full, leaf);
                root
            }
        });
        self.full += WIDTH;
    }

    /// A chain of inner nodes that holds one leaf.
    fn spine(depth: u32, leaf: Arc<Node<T>>) -> Arc<Node<T>> {
        (0..depth).fold(leaf, |node, _| Arc::new(Node::Inner(vec![node])))
    }

    /// Puts a leaf behind the last one of a node that has room; copies what a snapshot shares.
    fn insert(node: &mut Arc<Node<T>>, depth: u32, at: usize, leaf: Arc<Node<T>>) {
        if let Node::Inner(children) = Arc::make_mut(node) {
            let child = at / WIDTH.pow(depth) % WIDTH;
            match children.get_mut(child) {
                Some(existing) => Self::insert(existing, depth - 1, at, leaf),
                None => children.push(Self::spine(depth - 1, leaf)),
            }
        }
    }
}

/// A tail behind full chunks becomes one itself, most likely, and grows only once.
fn make_room<T>(tail: &mut Vec<T>, full: usize) {
    if full > 0 && tail.capacity() == 0 {
        tail.reserve_exact(WIDTH);
    }
}

/// A log that items are added to. It is whole again when this is dropped.
pub(super) struct Filling<'a, T: Clone> {
    log: &'a mut Log<T>,
    tail: Vec<T>,
}

impl<T: Clone> Filling<'_, T> {
    pub(super) fn push(&mut self, item: T) {
        make_room(&mut self.tail, self.log.full);
        self.tail.push(item);
        if self.tail.len() == WIDTH {
            let leaf = std::mem::take(&mut self.tail);
            self.log.push_leaf(Arc::new(Node::Leaf(leaf)));
        }
    }
}

impl<T: Clone> Drop for Filling<'_, T> {
    fn drop(&mut self) {
        self.log.tail = Arc::new(std::mem::take(&mut self.tail));
    }
}

/// Gives away the leaves of a tree in order.
fn each_leaf<T>(node: Arc<Node<T>>, each: &mut dyn FnMut(Arc<Node<T>>)) {
    if matches!(*node, Node::Leaf(_)) {
        return each(node);
    }
    match Arc::try_unwrap(node) {
        Ok(Node::Inner(children)) => children.into_iter().for_each(|child| each_leaf(child, each)),
        Err(shared) => {
            if let Node::Inner(children) = &*shared {
                children.iter().for_each(|child| each_leaf(child.clone(), each));
            }
        }
        Ok(Node::Leaf(_)) => {}
    }
}

impl<T: Clone> Clone for Node<T> {
    fn clone(&self) -> Self {
        match self {
            Self::Leaf(items) => Self::Leaf(items.clone()),
            Self::Inner(children) => Self::Inner(children.clone()),
        }
    }
}

/// The items of a [`Log`] in order.
///
/// ```
/// use graph_engine::Log;
///
/// let log: Log<u32> = [1, 2, 3].into_iter().collect();
/// assert_eq!(log.iter().len(), 3);
/// ```
pub struct Iter<'a, T> {
    log: &'a Log<T>,
    next: usize,
    end: usize,
    chunk: &'a [T],
}

impl<'a, T> Iterator for Iter<'a, T> {
    type Item = &'a T;

    fn next(&mut self) -> Option<&'a T> {
        if self.next == self.end {
            return None;
        }
        if self.chunk.is_empty() {
            let offset = if self.next >= self.log.full { self.next - self.log.full } else { self.next % WIDTH };
            self.chunk = &self.log.chunk(self.next)[offset..];
        }
        let (first, rest) = self.chunk.split_first()?;
        (self.chunk, self.next) = (rest, self.next + 1);
        Some(first)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.end - self.next, Some(self.end - self.next))
    }
}

impl<T> DoubleEndedIterator for Iter<'_, T> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.next == self.end {
            return None;
        }
        self.end -= 1;
        // The chunk at the front may reach past the new end; `next` stops by the index.
        self.log.get(self.end)
    }
}

impl<T> ExactSizeIterator for Iter<'_, T> {}

impl<T> Clone for Iter<'_, T> {
    fn clone(&self) -> Self {
        Self { log: self.log, next: self.next, end: self.end, chunk: self.chunk }
    }
}

impl<T: fmt::Debug> fmt::Debug for Iter<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl<T: Serialize> Serialize for Iter<'_, T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.clone())
    }
}

impl<'a, T> IntoIterator for &'a Log<T> {
    type Item = &'a T;
    type IntoIter = Iter<'a, T>;

    fn into_iter(self) -> Iter<'a, T> {
        self.iter()
    }
}

impl<T: Clone> Extend<T> for Log<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, items: I) {
        let mut items = items.into_iter();
        // Nothing is copied for nothing.
        let Some(first) = items.next() else { return };
        self.push(first);
        loop {
            // A chunk at a time, because finding out that nobody shares it costs more than an item.
            let tail = Arc::make_mut(&mut self.tail);
            tail.extend(items.by_ref().take(WIDTH - tail.len()));
            if tail.len() < WIDTH {
                return;
            }
            self.fill_leaf();
        }
    }
}

impl<T: Clone> FromIterator<T> for Log<T> {
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        let mut log = Self::new();
        log.extend(items);
        log
    }
}

impl<T: Clone, const N: usize> From<[T; N]> for Log<T> {
    fn from(items: [T; N]) -> Self {
        items.into_iter().collect()
    }
}

impl<T: fmt::Debug> fmt::Debug for Log<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for Log<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl<T: Eq> Eq for Log<T> {}

impl<T: Serialize> Serialize for Log<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.iter().serialize(serializer)
    }
}

impl<'de, T: Clone + Deserialize<'de>> Deserialize<'de> for Log<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Items<T>(std::marker::PhantomData<T>);

        impl<'de, T: Clone + Deserialize<'de>> Visitor<'de> for Items<T> {
            type Value = Log<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Log<T>, A::Error> {
                let mut log = Log::new();
                while let Some(item) = items.next_element()? {
                    log.push(item);
                }
                Ok(log)
            }
        }

        deserializer.deserialize_seq(Items(std::marker::PhantomData))
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// Counts how often it is cloned.
    struct Counted(Rc<Cell<usize>>);

    impl Clone for Counted {
        fn clone(&self) -> Self {
            self.0.set(self.0.get() + 1);
            Self(self.0.clone())
        }
    }

    #[test]
    fn every_length_reads_back_in_both_directions() {
        let mut log = Log::new();
        for n in 0..3000_usize {
            assert_eq!(log.len(), n);
            assert_eq!(log.get(n), None);
            log.push(n);
            assert_eq!(log.last(), Some(&n));
        }
        assert!((0..3000).all(|n| log.get(n) == Some(&n)));
        assert!(log.iter().copied().eq(0..3000));
        assert!(log.iter().rev().copied().eq((0..3000).rev()));
        assert!(log.tail(2990).copied().eq(2990..3000));
        assert_eq!(log.tail(9999).len(), 0);
    }

    #[test]
    fn a_million_items_lie_four_levels_deep() {
        let log: Log<u32> = (0..1_100_000).collect();
        assert_eq!(log.depth, 4);
        assert_eq!(log.get(1_048_577), Some(&1_048_577));
        assert!(log.iter().copied().eq(0..1_100_000));
    }

    #[test]
    fn a_snapshot_is_not_changed_and_costs_at_most_one_chunk() {
        let clones = Rc::new(Cell::new(0));
        let mut log = Log::new();
        for _ in 0..1000 {
            log.push(Counted(clones.clone()));
        }
        assert_eq!(clones.get(), 0, "the only owner copies nothing");
        let mut snapshots = Vec::new();
        for _ in 0..100 {
            snapshots.push(log.clone());
            log.push(Counted(clones.clone()));
        }
        assert!(clones.get() <= 100 * WIDTH, "{} clones", clones.get());
        assert_eq!((snapshots[0].len(), snapshots[99].len(), log.len()), (1000, 1099, 1100));
    }

    #[test]
    fn appending_keeps_order_whatever_the_lengths() {
        for (a, b) in [(0, 5), (5, 0), (31, 1), (32, 32), (33, 100), (1, 2000), (64, 2000), (31, 32), (1024, 1024)] {
            for shared in [false, true] {
                let mut log: Log<usize> = (0..a).collect();
                let more: Log<usize> = (a..a + b).collect();
                let kept = shared.then(|| (log.clone(), more.clone()));
                log.append(more);
                log.push(a + b);
                log.extend(a + b + 1..a + b + 70);
                assert!(log.iter().copied().eq(0..a + b + 70), "{a} and {b}");
                assert!((0..a + b + 70).all(|at| log.get(at) == Some(&at)), "{a} and {b}");
                if let Some((before, more)) = kept {
                    assert!(before.iter().copied().eq(0..a) && more.iter().copied().eq(a..a + b));
                }
            }
        }
    }

    #[test]
    fn appending_a_log_of_its_own_copies_no_item() {
        let clones = Rc::new(Cell::new(0));
        let counted = |items: usize| (0..items).map(|_| Counted(clones.clone())).collect::<Log<_>>();
        for (a, b) in [(0, 100), (1, 100), (32, 2000), (33, 31)] {
            let mut log = counted(a);
            log.append(counted(b));
            assert_eq!((log.len(), clones.get()), (a + b, 0));
        }
        // Whole chunks fit behind whole chunks: then a clone has only what comes after copied.
        let (mut log, more) = (counted(64), counted(1000));
        log.append(more.clone());
        log.push(Counted(clones.clone()));
        assert_eq!((log.len(), more.len(), clones.get()), (1065, 1000, 1000 % WIDTH));
    }

    #[test]
    fn serde_is_a_plain_list() {
        let log: Log<u32> = (0..70).collect();
        let text = serde_json::to_string(&log).unwrap();
        assert_eq!(text, serde_json::to_string(&(0..70).collect::<Vec<u32>>()).unwrap());
        assert_eq!(serde_json::from_str::<Log<u32>>(&text).unwrap(), log);
    }
}
