//! Curves: how a cost changes with a size, drawn as one picture for each.

use std::path::Path;

use graph_engine::{Durability, Parallel};
use graph_engine_sqlite::{Format, Synchronous};

use crate::chart::{Chart, Line};
use crate::measure::{Clock, Timed, alone};
use crate::workloads::Here;
use crate::workloads::chat::Touch;
use crate::workloads::count::{Noop, Tick, chain_runner, looping};
use crate::workloads::fan::{by_edges, by_packets};
use crate::{checkpoints, durable, fan, sequence, state_size, stream};

/// Measurements of a point; the median counts.
const TIMES: usize = 5;

/// The least that is measured of a point, in units, so that a point of few units is no accident.
const UNITS: u64 = 20_000;

fn runs(units: u64) -> u64 {
    (UNITS / units).max(1)
}

fn point(size: u64, units: u64, work: Timed<'_>) -> (f64, f64) {
    (size as f64, alone(TIMES, Clock::Cpu, units, work))
}

/// Draws all of them into a folder, which is made.
pub(crate) fn draw(here: &Here, folder: &Path) -> Result<(), String> {
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let charts = [graph_size(here), width(here), state_size(here), history(here), stored_bytes(here), readers(here)];
    charts.iter().try_for_each(|chart| chart.draw(folder))
}

fn graph_size(here: &Here) -> Chart {
    let sizes = [10, 30, 100, 300, 1_000, 3_000, 10_000];
    let engine = |size| {
        let runs = runs(size);
        point(size, runs * size, sequence::chained(here, chain_runner(size, || Noop), runs))
    };
    let limit = |size| {
        let runs = runs(size);
        point(size, runs * size, sequence::chain_by_hand(here, size, runs))
    };
    Chart {
        file: "graph-size",
        title: "A super-step in a larger graph",
        x: "nodes of the graph",
        y: "ns of CPU a super-step",
        lines: vec![Line::new("engine", sizes.map(engine)), Line::new("by hand", sizes.map(limit))],
    }
}

fn width(here: &Here) -> Chart {
    let widths = [2, 5, 10, 30, 100, 300, 1_000, 3_000, 10_000];
    let edges = |mode| {
        widths.map(|width| {
            let runs = runs(width);
            point(width, runs * width, fan::engine(here, by_edges(width, mode), width, runs))
        })
    };
    let packets = widths.map(|width| {
        let runs = runs(width);
        point(width, runs * width, fan::engine(here, by_packets(width, Parallel::Joined), width, runs))
    });
    Chart {
        file: "width",
        title: "A branch of a wider fan-out",
        x: "branches",
        y: "ns of CPU a branch",
        lines: vec![
            Line::new("spawned", edges(Parallel::Spawned)),
            Line::new("joined", edges(Parallel::Joined)),
            Line::new("packets, joined", packets),
        ],
    }
}

fn state_size(here: &Here) -> Chart {
    let sizes = [1_000, 10_000, 100_000, 1_000_000, 10_000_000];
    let line = |touch| sizes.map(|size| point(size, state_size::UNITS, state_size::engine(here, size, touch)));
    Chart {
        file: "state-size",
        title: "A super-step beside a larger state",
        x: "bytes of the state",
        y: "ns of CPU a super-step",
        lines: vec![
            Line::new("appends a message of 100 bytes", line(Touch::Append)),
            Line::new("leaves the messages alone", line(Touch::Idle)),
        ],
    }
}

fn history(here: &Here) -> Chart {
    let lengths = [100, 300, 1_000, 3_000, 10_000, 30_000];
    let counter = lengths.map(|length| {
        let runs = runs(length);
        let work = sequence::stored(here, looping(|graph| graph.node("step", Tick)), runs, length);
        point(length, runs * length, work)
    });
    let growing = lengths.map(|length| {
        let runs = runs(length);
        point(length, runs * length, checkpoints::grow(here, runs, length))
    });
    let filed = [100, 300, 1_000, 3_000, 10_000]
        .map(|length| point(length, length, durable::stored(here, Synchronous::Normal, Durability::Sync, length)));
    Chart {
        file: "history",
        title: "A super-step after a longer history",
        x: "checkpoints of the thread",
        y: "ns of CPU a super-step",
        lines: vec![
            Line::new("SQLite, a message each", filed),
            Line::new("memory, a message each", growing),
            Line::new("memory, a counter", counter),
        ],
    }
}

fn stored_bytes(here: &Here) -> Chart {
    let lengths = [250, 500, 1_000, 2_000, 4_000, 8_000];
    let line = |format| lengths.map(|length| (length as f64, durable::size(here, format, length)));
    let by_hand = lengths.map(|length| (length as f64, durable::size_by_hand(length)));
    Chart {
        file: "stored-bytes",
        title: "What a longer history takes in SQLite",
        x: "checkpoints of the thread, with a message of 100 bytes each",
        y: "bytes a super-step",
        lines: vec![
            Line::new("JSON", line(Format::Json)),
            Line::new("MessagePack", line(Format::MessagePack)),
            Line::new("a table of deltas by hand", by_hand),
        ],
    }
}

fn readers(here: &Here) -> Chart {
    const EVENTS: u64 = 5_000;
    let counts = [1, 2, 4, 8, 16, 32, 64];
    let line =
        counts.map(|count| point(count, EVENTS, stream::shared(here, EVENTS, usize::try_from(count).expect("few"))));
    let each = line.map(|(count, cost)| (count, cost / count));
    Chart {
        file: "readers",
        title: "An event to more readers",
        x: "readers, each of which gets every event",
        y: "ns of CPU",
        lines: vec![Line::new("an event", line), Line::new("an event for one of them", each)],
    }
}
