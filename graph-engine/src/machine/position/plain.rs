//! The position of a thread whose next tasks are nothing but the names of their nodes: the frequent case, written
//! straight into the buffer. What it writes is what [`Position`](super::rows::Position) would be.

use super::super::wrote::Writer;
use crate::graph::JsonNames;
use crate::state::FieldSet;

pub(super) struct Plain {
    pub(super) schema: u32,
    pub(super) step: u64,
    pub(super) began: u64,
}

/// Who wrote, with the names that it takes to say so.
#[derive(Clone, Copy)]
pub(super) struct Writers<'a> {
    pub(super) nodes: &'a JsonNames,
    pub(super) fields: &'a JsonNames,
    pub(super) writers: &'a [(Writer, FieldSet)],
}

impl<'a> Writers<'a> {
    fn rows(self) -> impl ExactSizeIterator<Item = (&'a [u8], impl Iterator<Item = &'a [u8]>)> {
        let Self { nodes, fields, writers } = self;
        writers.iter().map(move |(writer, wrote)| (writer.json(nodes), wrote.iter().map(|field| fields.get(field))))
    }
}

impl Plain {
    pub(super) fn encode<'a>(
        &self,
        next: impl Iterator<Item = &'a [u8]>,
        wrote: Writers<'_>,
        earlier: Writers<'_>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        self.write(next, wrote.rows(), earlier.rows(), out)
    }

    /// Names come as JSON.
    fn write<'a, 'b, F: Iterator<Item = &'b [u8]>>(
        &self,
        next: impl Iterator<Item = &'a [u8]>,
        wrote: impl ExactSizeIterator<Item = (&'b [u8], F)>,
        earlier: impl ExactSizeIterator<Item = (&'b [u8], F)>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        if self.schema > 0 {
            out.extend_from_slice(b"{\"schema\":");
            serde_json::to_writer(&mut *out, &self.schema)?;
            out.extend_from_slice(b",\"step\":");
        } else {
            out.extend_from_slice(b"{\"step\":");
        }
        serde_json::to_writer(&mut *out, &self.step)?;
        if self.began > 0 {
            out.extend_from_slice(b",\"began\":");
            serde_json::to_writer(&mut *out, &self.began)?;
        }
        let mut any = false;
        for node in next {
            if std::mem::replace(&mut any, true) {
                out.push(b',');
            } else {
                out.extend_from_slice(b",\"next\":[");
            }
            out.extend_from_slice(node);
        }
        if any {
            out.push(b']');
        }
        if wrote.len() > 0 {
            out.extend_from_slice(b",\"wrote\":");
            rows(wrote, out);
        }
        if earlier.len() > 0 {
            out.extend_from_slice(b",\"earlier\":");
            rows(earlier, out);
        }
        out.push(b'}');
        Ok(())
    }
}

fn rows<'a, F: Iterator<Item = &'a [u8]>>(mut rows: impl ExactSizeIterator<Item = (&'a [u8], F)>, out: &mut Vec<u8>) {
    if rows.len() == 1 {
        return rows.for_each(|(writer, fields)| row(writer, fields, out));
    }
    out.push(b'[');
    if let Some((writer, fields)) = rows.next() {
        row(writer, fields, out);
    }
    for (writer, fields) in rows {
        out.push(b',');
        row(writer, fields, out);
    }
    out.push(b']');
}

fn row<'a>(writer: &[u8], fields: impl Iterator<Item = &'a [u8]>, out: &mut Vec<u8>) {
    out.push(b'[');
    out.extend_from_slice(writer);
    for field in fields {
        out.push(b',');
        out.extend_from_slice(field);
    }
    out.push(b']');
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
