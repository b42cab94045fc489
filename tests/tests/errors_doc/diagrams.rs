//! What can go wrong when a graph is drawn.

use std::io;
use std::os::unix::process::ExitStatusExt;
use std::process::ExitStatus;
use std::time::Duration;

use graph_engine::{ExportError, Graphviz, NodeKind, SvgError, Topology, Vertex};

use crate::doc::{Entry, Section};

pub(crate) fn section() -> Section {
    let topology = Topology::new("trip", vec![Vertex::new("explore", NodeKind::Agent)], vec![], vec![]);
    let export = |args: &[&str]| topology.export(["mybin"].iter().chain(args), &mut io::sink()).expect_err("refused");
    let missing = Graphviz::new().program("/no/such/dot").svg(&topology.dot()).expect_err("it isn't there");
    let svg = |error: &SvgError, means| Entry::variant("SvgError", error, means);
    let source = || io::Error::from(io::ErrorKind::PermissionDenied);
    let drawn = |error: &ExportError, means| Entry::variant("ExportError", error, means);
    let json = serde_json::from_str::<u8>("?").expect_err("no JSON");
    Section {
        title: "Diagrams",
        intro: "What `Topology::export`, `check`, `save` and `drawn` say, and `Dot::svg`.",
        entries: vec![
            drawn(
                &export(&["--check"]),
                "The command line of the program can't be understood, and nothing was drawn. The exit code for this is \
                 2, for all others 1.",
            )
            .and(&export(&["--dot", "trip.dot", "--colour"]))
            .and(&export(&["--check", "trip.png"])),
            drawn(
                &export(&["--check", "no/such/trip.dot"]),
                "The graph has changed, or was never drawn. Run the command that the last line names, look at the \
                 difference, and commit the file. All stale files are listed.",
            ),
            drawn(
                &ExportError::Read { file: "docs/trip.dot".into(), source: source() },
                "The source says why. A file that doesn't exist is stale instead.",
            ),
            drawn(
                &ExportError::Write { file: "docs/trip.dot".into(), source: source() },
                "The source says why. Folders are not made.",
            ),
            drawn(&ExportError::Print(source()), "The output was closed, for example by `head`."),
            drawn(
                &ExportError::Svg(Graphviz::new().program("/no/such/dot").svg(&topology.dot()).expect_err("missing")),
                "Any `SvgError`.",
            ),
            drawn(&ExportError::Json(json), "No graph that compiles causes this."),
            drawn(
                &ExportError::NoText,
                "The terminal's drawing needs the crate `ascii-dag`, which is not part of the default build.",
            ),
            svg(&missing, "The system's search path has no `dot`. No other form needs it."),
            svg(
                &SvgError::Broken { program: "dot".into(), source: source() },
                "It is there, but can't be started, or a pipe to it broke. The source says why.",
            ),
            svg(
                &SvgError::Failed { status: ExitStatus::from_raw(256), said: "out of memory".to_owned() },
                "What it said is shown up to 4 kB.",
            ),
            svg(
                &SvgError::TooSlow { limit: Duration::from_secs(30) },
                "It was ended. Large graphs take Graphviz long.",
            ),
            svg(&SvgError::TooLarge { limit: 64 << 20 }, "It was ended."),
            svg(&SvgError::NotText, "The program is another one, or was built for another character set."),
        ],
    }
}
