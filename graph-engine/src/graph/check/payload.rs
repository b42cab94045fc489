//! Payloads: what is sent is what is asked for.

use super::{ArcKind, Plan};
use crate::diagnostic::{Diagnostic, Lint};
use crate::graph::builder::Builder;
use crate::state::State;

impl Plan {
    pub(super) fn check_payloads<S: State>(&self, builder: &Builder<S>, found: &mut Vec<Diagnostic>) {
        if !self.traits.iter().any(|traits| traits.payload) {
            return;
        }
        for arc in &self.arcs {
            let (from, to) = (arc.from as usize, arc.to as usize);
            let Some(wanted) = self.info(builder, to).and_then(|info| info.payload) else { continue };
            // A stay keeps the payload of a node in no cluster; the entry of a cluster gets none.
            let alone = self.draft(builder, from).is_some_and(|draft| draft.cluster.is_none());
            if arc.kind == ArcKind::Stay && alone {
                continue;
            }
            let sent = self.payload(arc);
            if sent == Some(wanted) {
                continue;
            }
            let (from, to) = (self.shown(from), self.shown(to));
            let (message, help) = match sent {
                Some(sent) => (
                    format!("`{from}` sends a `{}` to `{to}`, which asks for a `{}`", sent.name(), wanted.name()),
                    "make both the same type",
                ),
                None => (
                    format!("`{from}` leads to `{to}` without a payload, but `{to}` asks for a `{}`", wanted.name()),
                    "send it with `fan_out`, by a route variant that carries the value",
                ),
            };
            found.push(Diagnostic::new(Lint::PayloadMismatch, [from, to], message).help(help));
        }
    }
}
