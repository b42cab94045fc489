//! Who wrote what since the last checkpoint: stored with it, so that a later reader can tell.

use std::borrow::Cow;

use serde::Deserialize;

use crate::graph::Inner;
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
        if self.stored {
            return [Vec::new(), Vec::new()];
        }
        [&self.last, &self.earlier].map(|writers| {
            let row = |(writer, wrote): &(Writer, FieldSet)| {
                let names = wrote.iter().map(|field| Cow::Borrowed(&*fields[field].name));
                std::iter::once(Cow::Borrowed(writer.name(graph))).chain(names).collect()
            };
            writers.iter().map(row).collect()
        })
    }

    /// The same straight into the position's object, without an allocation.
    pub(super) fn encode<S: State>(
        &self,
        graph: &Inner<S>,
        fields: &[FieldSpec],
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        if self.stored {
            return Ok(());
        }
        for (key, writers) in [("\"wrote\":[", &self.last), ("\"earlier\":[", &self.earlier)] {
            if writers.is_empty() {
                continue;
            }
            out.push(b',');
            out.extend_from_slice(key.as_bytes());
            for (at, (writer, wrote)) in writers.iter().enumerate() {
                out.extend_from_slice(if at == 0 { b"[" } else { b",[" });
                serde_json::to_writer(&mut *out, writer.name(graph))?;
                for field in wrote.iter() {
                    out.push(b',');
                    serde_json::to_writer(&mut *out, &*fields[field].name)?;
                }
                out.push(b']');
            }
            out.push(b']');
        }
        Ok(())
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
    #[serde(default, borrow)]
    pub(crate) wrote: Vec<WroteRow<'a>>,
    /// Of those before it in the same checkpoint.
    #[serde(default, borrow)]
    pub(crate) earlier: Vec<WroteRow<'a>>,
}

impl<'a> Writings<'a> {
    /// Reads them from a position.
    pub(crate) fn of(position: &'a [u8]) -> serde_json::Result<Self> {
        serde_json::from_slice(position)
    }
}
