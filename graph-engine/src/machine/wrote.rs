//! Who wrote what since the last checkpoint: stored with it, so that a later reader can tell.

use std::borrow::Cow;

use serde::Deserialize;

use crate::graph::{Inner, JsonNames};
use crate::state::{FieldSet, FieldSpec, State};
use crate::task::{NodeIx, START};

/// The name under which a write from outside is stored; names of nodes never begin with two underscores.
pub(crate) const EDIT: &str = "__edit__";

/// A writer's name, then the names of the fields that it wrote.
pub(crate) type WroteRow<'a> = Vec<Cow<'a, str>>;

/// Who wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Writer {
    Input,
    Edit,
    Node(NodeIx),
}

impl Writer {
    fn name<S: State>(self, graph: &Inner<S>) -> &str {
        match self {
            Self::Input => START,
            Self::Edit => EDIT,
            Self::Node(node) => graph.name_of(node),
        }
    }

    /// The same as JSON.
    pub(super) fn json(self, nodes: &JsonNames) -> &[u8] {
        match self {
            Self::Input => b"\"__start__\"",
            Self::Edit => b"\"__edit__\"",
            Self::Node(node) => nodes.get(node.at()),
        }
    }

    fn named<S: State>(graph: &Inner<S>, name: &str) -> Option<Self> {
        match name {
            START => Some(Self::Input),
            EDIT => Some(Self::Edit),
            name => graph.index.get(name).map(|node| Self::Node(*node)),
        }
    }
}

/// The writers of one super-step, each once, in order.
type Writers = Vec<(Writer, FieldSet)>;

/// Buffers are kept, so that a steady state allocates nothing.
#[derive(Default)]
pub(super) struct Wrote {
    /// Of the last super-step or input.
    last: Writers,
    /// Of those before it that are stored in the same checkpoint.
    earlier: Writers,
    /// Of the super-step that is being merged.
    next: Writers,
    stored: bool,
}

fn insert(writers: &mut Writers, writer: Writer, fields: FieldSet) {
    match writers.binary_search_by_key(&writer, |(known, _)| *known) {
        Ok(at) => writers[at].1.insert(fields),
        Err(at) => writers.insert(at, (writer, fields)),
    }
}

impl Wrote {
    /// Another super-step or input was merged.
    pub(super) fn begin(&mut self) {
        if std::mem::take(&mut self.stored) {
            self.earlier.clear();
        } else {
            let Self { last, earlier, .. } = self;
            last.iter().for_each(|(writer, fields)| insert(earlier, *writer, *fields));
        }
        self.last.clear();
    }

    /// Notes a writer of the super-step that is being merged.
    pub(super) fn note(&mut self, writer: Writer, fields: FieldSet) {
        insert(&mut self.next, writer, fields);
    }

    /// That super-step was merged, or was not.
    pub(super) fn settle(&mut self, merged: bool) {
        if merged {
            self.begin();
            std::mem::swap(&mut self.last, &mut self.next);
        }
        self.next.clear();
    }

    pub(super) fn add(&mut self, writer: Writer, fields: FieldSet) {
        insert(&mut self.last, writer, fields);
    }

    /// A checkpoint holds all of it.
    pub(super) fn stored(&mut self) {
        self.stored = true;
    }

    /// A new turn begins: what the one before did concerns no breakpoint of it.
    pub(super) fn forget(&mut self) {
        *self = Self { stored: true, ..Self::default() };
    }

    /// The nodes that finished in the last super-step.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeIx> {
        self.last.iter().filter_map(|(writer, _)| match writer {
            Writer::Node(node) => Some(*node),
            Writer::Input | Writer::Edit => None,
        })
    }

    /// The rows of the last super-step, and of those before it, as a checkpoint holds them.
    pub(super) fn rows<'a, S: State>(&self, graph: &'a Inner<S>, fields: &'a [FieldSpec]) -> [Vec<WroteRow<'a>>; 2] {
        self.writers().map(|writers| {
            let row = |(writer, wrote): &(Writer, FieldSet)| {
                let names = wrote.iter().map(|field| Cow::Borrowed(&*fields[field].name));
                std::iter::once(Cow::Borrowed(writer.name(graph))).chain(names).collect()
            };
            writers.iter().map(row).collect()
        })
    }

    /// The same as they are noted.
    pub(super) fn writers(&self) -> [&[(Writer, FieldSet)]; 2] {
        if self.stored { [&[], &[]] } else { [&self.last, &self.earlier] }
    }

    /// What a checkpoint says of the last super-step. Nodes and fields that are gone are left out.
    pub(super) fn restore<S: State>(&mut self, graph: &Inner<S>, fields: &[FieldSpec], rows: &[WroteRow<'_>]) {
        self.forget();
        for row in rows {
            let Some((name, names)) = row.split_first() else { continue };
            let Some(writer) = Writer::named(graph, name) else { continue };
            let known = names.iter().filter_map(|name| fields.iter().position(|field| field.name == *name));
            self.add(writer, known.fold(FieldSet::EMPTY, |set, field| set | FieldSet::of(field)));
        }
    }
}

/// What a stored position says of writers, whatever graph it is of.
#[derive(Default, Deserialize)]
pub(crate) struct Writings<'a> {
    /// Of the last super-step.
    #[serde(default, borrow, with = "wrote_rows")]
    pub(crate) wrote: Vec<WroteRow<'a>>,
    /// Of those before it in the same checkpoint.
    #[serde(default, borrow, with = "wrote_rows")]
    pub(crate) earlier: Vec<WroteRow<'a>>,
}

impl<'a> Writings<'a> {
    /// Reads them from a position.
    pub(crate) fn of(position: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(position)
    }
}

/// Rows of writers as they are stored: one alone without a list around it.
pub(super) mod wrote_rows {
    use std::borrow::Cow;
    use std::fmt;
    use std::marker::PhantomData;

    use serde::de::{self, Deserializer, SeqAccess, Visitor};
    use serde::{Deserialize, Serialize, Serializer};

    use super::WroteRow;

    pub(in super::super) fn serialize<S: Serializer>(rows: &[WroteRow<'_>], serializer: S) -> Result<S::Ok, S::Error> {
        match rows {
            [row] if !row.is_empty() => row.serialize(serializer),
            rows => rows.serialize(serializer),
        }
    }

    pub(in super::super) fn deserialize<'de, 'a, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Vec<WroteRow<'a>>, D::Error> {
        deserializer.deserialize_seq(Rows(PhantomData))
    }

    struct Rows<'a>(PhantomData<WroteRow<'a>>);

    impl<'de, 'a> Visitor<'de> for Rows<'a> {
        type Value = Vec<WroteRow<'a>>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("writers with the names of fields")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut rows = Vec::new();
            match seq.next_element::<NameOrRow<'a>>()? {
                None => {}
                Some(NameOrRow::Name(writer)) => {
                    let mut row = vec![writer];
                    while let Some(field) = seq.next_element()? {
                        row.push(field);
                    }
                    rows.push(row);
                }
                Some(NameOrRow::Row(row)) => {
                    rows.push(row);
                    while let Some(row) = seq.next_element()? {
                        rows.push(row);
                    }
                }
            }
            Ok(rows)
        }
    }

    enum NameOrRow<'a> {
        Name(Cow<'a, str>),
        Row(WroteRow<'a>),
    }

    impl<'de> Deserialize<'de> for NameOrRow<'_> {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            deserializer.deserialize_any(First(PhantomData))
        }
    }

    struct First<'a>(PhantomData<NameOrRow<'a>>);

    impl<'de, 'a> Visitor<'de> for First<'a> {
        type Value = NameOrRow<'a>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a writer's name, or a list of it and the names of fields")
        }

        fn visit_str<E: de::Error>(self, name: &str) -> Result<NameOrRow<'a>, E> {
            Ok(NameOrRow::Name(Cow::Owned(name.to_owned())))
        }

        fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<NameOrRow<'a>, A::Error> {
            Vec::deserialize(de::value::SeqAccessDeserializer::new(seq)).map(NameOrRow::Row)
        }
    }
}
