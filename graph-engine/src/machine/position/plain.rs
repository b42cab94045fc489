//! The position of a thread whose next tasks are nothing but the names of their nodes: the frequent case, written
//! straight into the buffer. What it writes is what [`Position`](super::rows::Position) would be.

use super::super::wrote::Writer;
use crate::graph::Inner;
use crate::state::{FieldSet, FieldSpec, State};

pub(super) struct Plain {
    pub(super) schema: u32,
    pub(super) step: u64,
    pub(super) began: u64,
}

/// Who wrote, with the names that it takes to say so.
pub(super) struct Writers<'a, S: State> {
    pub(super) graph: &'a Inner<S>,
    pub(super) fields: &'a [FieldSpec],
    pub(super) writers: &'a [(Writer, FieldSet)],
}

impl<S: State> Writers<'_, S> {
    fn rows(&self) -> impl ExactSizeIterator<Item = (&str, impl Iterator<Item = &str>)> {
        self.writers
            .iter()
            .map(|(writer, wrote)| (writer.name(self.graph), wrote.iter().map(|field| &*self.fields[field].name)))
    }
}

impl Plain {
    pub(super) fn encode<'a, S: State>(
        &self,
        next: impl Iterator<Item = &'a str>,
        wrote: Writers<'_, S>,
        earlier: Writers<'_, S>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        self.write(next, wrote.rows(), earlier.rows(), out)
    }

    fn write<'a, 'b, F: Iterator<Item = &'b str>>(
        &self,
        next: impl Iterator<Item = &'a str>,
        wrote: impl ExactSizeIterator<Item = (&'b str, F)>,
        earlier: impl ExactSizeIterator<Item = (&'b str, F)>,
        out: &mut Vec<u8>,
    ) -> serde_json::Result<()> {
        let number = |out: &mut Vec<u8>, n: u64| serde_json::to_writer(&mut *out, &n);
        if self.schema > 0 {
            out.extend_from_slice(b"{\"schema\":");
            number(out, self.schema.into())?;
            out.extend_from_slice(b",\"step\":");
        } else {
            out.extend_from_slice(b"{\"step\":");
        }
        number(out, self.step)?;
        if self.began > 0 {
            out.extend_from_slice(b",\"began\":");
            number(out, self.began)?;
        }
        let mut open: &[u8] = b",\"next\":[";
        for node in next {
            out.extend_from_slice(std::mem::replace(&mut open, b","));
            text(node, out)?;
        }
        if open == b"," {
            out.push(b']');
        }
        rows(b",\"wrote\":", wrote, out)?;
        rows(b",\"earlier\":", earlier, out)?;
        out.push(b'}');
        Ok(())
    }
}

fn rows<'a, F: Iterator<Item = &'a str>>(
    key: &[u8],
    rows: impl ExactSizeIterator<Item = (&'a str, F)>,
    out: &mut Vec<u8>,
) -> serde_json::Result<()> {
    if rows.len() == 0 {
        return Ok(());
    }
    out.extend_from_slice(key);
    let several = rows.len() > 1;
    let mut open: &[u8] = if several { b"[[" } else { b"[" };
    for (writer, fields) in rows {
        out.extend_from_slice(std::mem::replace(&mut open, b",["));
        text(writer, out)?;
        for field in fields {
            out.push(b',');
            text(field, out)?;
        }
        out.push(b']');
    }
    if several {
        out.push(b']');
    }
    Ok(())
}

/// A text as JSON. Most names need no escapes.
fn text(text: &str, out: &mut Vec<u8>) -> serde_json::Result<()> {
    if text.bytes().any(|byte| byte < b' ' || byte == b'"' || byte == b'\\') {
        return serde_json::to_writer(out, text);
    }
    out.push(b'"');
    out.extend_from_slice(text.as_bytes());
    out.push(b'"');
    Ok(())
}

#[cfg(test)]
#[path = "plain_tests.rs"]
mod tests;
