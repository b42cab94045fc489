//! Writes a thread as lines of JSON.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde::Serialize;

use super::lineage::PAGE;
use super::thread::Thread;
use super::transfer::{
    Blob, CheckpointLine, EndLine, FORMAT, FieldLine, Header, Line, SavedLine, TransferError, VERSION,
};
use crate::checkpoint_id::{CheckpointId, Fnv};
use crate::name::Name;
use crate::run_error::RunError;
use crate::state::State;
use crate::store::{CheckpointStore, Commit, Filter, Place};

/// Writes lines, counts them and keeps their hash.
struct Lines<W> {
    writer: W,
    line: Vec<u8>,
    count: u64,
    hash: Fnv,
}

impl<W: Write> Lines<W> {
    fn put(&mut self, line: &impl Serialize) -> io::Result<()> {
        self.line.clear();
        serde_json::to_writer(&mut self.line, line)?;
        self.hash = self.hash.text(&self.line);
        self.count += 1;
        self.line.push(b'\n');
        self.writer.write_all(&self.line)
    }
}

impl<S: State> Thread<S> {
    /// Writes the whole thread as lines of JSON: a header, a line for every checkpoint of every namespace in the order
    /// in which they were made, what an unfinished super-step has saved, and a last line by which a cut off or changed
    /// file is noticed. Returns how many lines there are.
    ///
    /// [`Runner::import`](crate::Runner::import) reads them again. Kept in memory are one line at a time and the ids of
    /// the checkpoints. The writer is called between awaits: give it a buffer, and for a slow one a thread of its own.
    ///
    /// # Errors
    /// [`RunError::UnknownThread`] if nothing is stored, [`RunError::NoStore`] without a store, what the store says, and
    /// what the writer says.
    ///
    /// ```
    /// use graph_engine::{Graph, MemoryStore, START, State};
    ///
    /// #[derive(State, Clone, Default)]
    /// struct Trip {
    ///     city: String,
    /// }
    ///
    /// async fn explore() {}
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let graph = Graph::<Trip>::builder("trip").node("explore", explore).edge(START, "explore").compile().unwrap();
    /// let thread = graph.runner().store(MemoryStore::new()).thread("guest-7");
    /// thread.run(Trip::update().city("Oslo")).await.unwrap();
    /// let mut lines = Vec::new();
    /// assert_eq!(thread.export(&mut lines).await.unwrap(), 4);
    /// let elsewhere = graph.runner().store(MemoryStore::new());
    /// let thread = elsewhere.import(&lines[..]).await.unwrap();
    /// assert_eq!(thread.state().await.unwrap().state.city, "Oslo");
    /// # });
    /// ```
    pub async fn export(&self, writer: impl Write + Send) -> Result<u64, TransferError> {
        let Some(store) = self.runner.checkpoints().map(|store| &**store) else {
            return Err(RunError::NoStore { thread: self.id.clone(), operation: "export" }.into());
        };
        let mut lines = Lines { writer, line: Vec::new(), count: 0, hash: Fnv::default() };
        // A panic of the store is an error of the run; one's own errors pass beside it.
        let mut wrong = None;
        let work = async {
            if let Err(error) = self.write(store, &mut lines).await {
                wrong = Some(error);
            }
            Ok(())
        };
        self.guarded(work).await?;
        wrong.map_or(Ok(lines.count), Err)
    }

    async fn write<W: Write + Send>(
        &self,
        store: &dyn CheckpointStore,
        lines: &mut Lines<W>,
    ) -> Result<(), TransferError> {
        let failed = |cause| TransferError::Write { thread: self.id.clone(), cause };
        let namespaces = store.namespaces(&self.id).await.map_err(|cause| TransferError::store(&self.id, cause))?;
        if namespaces.is_empty() {
            return Err(RunError::UnknownThread { thread: self.id.clone() }.into());
        }
        let header = Header { format: FORMAT.to_owned(), version: VERSION, thread: self.id.clone() };
        lines.put(&header).map_err(failed)?;
        for namespace in namespaces {
            self.write_namespace(store, namespace, lines).await?;
        }
        let end = EndLine { lines: lines.count, hash: format!("{:032x}", lines.hash.folded()) };
        lines.put(&Line::End(end)).map_err(failed)?;
        lines.writer.flush().map_err(failed)
    }

    async fn write_namespace<W: Write + Send>(
        &self,
        store: &dyn CheckpointStore,
        namespace: Name,
        lines: &mut Lines<W>,
    ) -> Result<(), TransferError> {
        let failed = |cause| TransferError::Write { thread: self.id.clone(), cause };
        let refused = |cause| TransferError::store(&self.id, cause);
        let place = Place::new(&self.id, &namespace);
        let ids = ids(store, &place).await.map_err(refused)?;
        let mut written = BTreeSet::new();
        for id in ids.iter().rev() {
            let row = store.row(&place, *id).await.map_err(refused)?;
            let row = row.ok_or_else(|| RunError::UnknownCheckpoint { thread: self.id.clone(), id: *id })?;
            let mut line = checkpoint_line(&namespace, &row);
            // A row whose parent was pruned stands for itself.
            line.parent = line.parent.filter(|parent| written.contains(parent));
            written.insert(*id);
            lines.put(&Line::Checkpoint(line)).map_err(failed)?;
        }
        let Some(head) = store.load(&place, None).await.map_err(refused)? else { return Ok(()) };
        // A turn that runs meanwhile may have moved the head: then what was saved belongs to no exported checkpoint.
        if ids.first() != Some(&head.info.id) {
            return Ok(());
        }
        for saved in head.saved {
            let (task, key, value) = (saved.task, saved.key, Blob::of(&saved.bytes));
            lines.put(&Line::Saved(SavedLine { namespace: namespace.clone(), task, key, value })).map_err(failed)?;
        }
        Ok(())
    }
}

/// The ids of a namespace's checkpoints, the newest first.
async fn ids(store: &dyn CheckpointStore, place: &Place) -> Result<Vec<CheckpointId>, crate::error::StoreError> {
    let (mut ids, mut filter) = (Vec::new(), Filter::default().limit(PAGE));
    loop {
        let page = store.list(place, &filter).await?;
        let Some(oldest) = page.last() else { return Ok(ids) };
        filter = filter.before(oldest.id);
        ids.extend(page.iter().map(|info| info.id));
    }
}

fn checkpoint_line(namespace: &Name, row: &Commit) -> CheckpointLine {
    let fields = row.fields.iter().map(|field| FieldLine {
        name: field.name.clone().into_owned(),
        encoding: field.encoding,
        items: (field.items.start, field.items.end),
        value: Blob::of(row.field_bytes(field)),
    });
    CheckpointLine {
        namespace: namespace.clone(),
        id: row.id,
        parent: row.parent,
        kind: row.kind,
        turn: row.turn.clone(),
        step: row.step,
        time_ms: row.time_ms,
        due_ms: row.due_ms,
        tags: (*row.tags).clone(),
        fields: fields.collect(),
        position: Blob::of(row.position()),
    }
}
