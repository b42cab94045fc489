//! Diagrams of a user's own program: written, drawn by Graphviz, and found stale when the graph has changed.

#[path = "pictures/sample.rs"]
mod sample;
#[path = "pictures/tools.rs"]
mod tools;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect;
use graph_engine::{
    DiagramFormat, Edge, EdgeKind, ExecutedPath, ExportError, Graphviz, NodeKind, START, StaleDiagram, SvgError,
    Topology, Vertex,
};
use tools::{scratch, skip};

fn trip(node: &str) -> Topology {
    let nodes = vec![Vertex::new(node, NodeKind::Agent)];
    Topology::new("trip", nodes, vec![Edge::new(START, node, EdgeKind::Static)], vec![])
}

fn export(topology: &Topology, args: &[&str]) -> (Result<bool, ExportError>, String) {
    let mut out = Vec::new();
    let done = topology.export(["mybin"].iter().chain(args), &mut out);
    (done, String::from_utf8(out).unwrap())
}

fn folder(name: &str) -> PathBuf {
    let folder = scratch(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn stale(error: ExportError) -> Vec<StaleDiagram> {
    match error {
        ExportError::Stale(stale) => stale,
        error => panic!("not stale: {error}"),
    }
}

#[test]
fn every_form_is_written_and_found_fresh() {
    let folder = folder("fresh");
    let hotel = sample::hotel();
    let mut forms = vec![("--dot", "g.dot"), ("--mermaid", "g.mmd"), ("--json", "g.json"), ("--text", "g.txt")];
    if has_dot() {
        forms.push(("--svg", "g.svg"));
    } else {
        skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let files: Vec<String> = forms.iter().map(|(_, file)| folder.join(file).to_str().unwrap().to_owned()).collect();
    let args: Vec<&str> = forms.iter().zip(&files).flat_map(|((option, _), file)| [*option, file]).collect();
    let (done, out) = export(&hotel, &args);
    assert!(done.unwrap());
    assert_eq!(out, "");
    assert_eq!(fs::read_to_string(&files[0]).unwrap(), hotel.dot().to_string());
    assert_eq!(fs::read_to_string(&files[1]).unwrap(), hotel.mermaid().to_string());
    assert_eq!(serde_json::from_slice::<Topology>(&fs::read(&files[2]).unwrap()).unwrap(), hotel);
    assert_eq!(fs::read_to_string(&files[3]).unwrap(), hotel.text().to_string());
    let check: Vec<&str> = ["--check"].into_iter().chain(files.iter().map(String::as_str)).collect();
    let (done, out) = export(&hotel, &check);
    assert!(done.unwrap());
    assert_eq!(out, "");
}

#[test]
fn a_stale_diagram_is_named_with_its_first_line_and_the_command_that_mends_it() {
    let folder = folder("stale");
    let file = folder.join("my trip.dot");
    fs::write(&file, trip("explore").dot().to_string()).unwrap();
    let (done, out) = export(&trip("search"), &["--check", file.to_str().unwrap()]);
    let error = done.unwrap_err();
    assert_eq!((error.exit_code(), &*out), (1, ""));
    let text = error.to_string().replace(folder.to_str().unwrap(), "docs");
    expect![[r##"
        `docs/my trip.dot` is stale: line 6 is not what the graph `trip` looks like now
        --- docs/my trip.dot
        +++ the graph `trip`
        @@ -6 +6 @@
        -  n0 [label="explore", shape=box, style=rounded, tooltip="agent"]
        +  n0 [label="search", shape=box, style=rounded, tooltip="agent"]
        to write it again: mybin --dot 'docs/my trip.dot'"##]]
    .assert_eq(&text);
    assert_eq!(stale(error)[0].line, Some(6));
    // The named command does mend it.
    assert!(export(&trip("search"), &["--dot", file.to_str().unwrap()]).0.unwrap());
    assert!(export(&trip("search"), &["--check", file.to_str().unwrap()]).0.unwrap());
}

#[test]
fn all_stale_diagrams_are_listed_at_once() {
    let folder = folder("several");
    let [fresh, old, missing, bytes] = ["a.mmd", "b.mmd", "c.json", "d.dot"].map(|file| folder.join(file));
    fs::write(&fresh, trip("a").mermaid().to_string()).unwrap();
    fs::write(&old, "flowchart TD\n").unwrap();
    fs::write(&bytes, b"digraph \xff").unwrap();
    let files = [&fresh, &old, &missing, &bytes].map(|file| file.to_str().unwrap());
    let (done, _) = export(&trip("a"), &["--check", files[0], files[1], "--check", files[2], files[3]]);
    let stale = stale(done.unwrap_err());
    let found: Vec<_> = stale.iter().map(|stale| (&stale.file, stale.line)).collect();
    assert_eq!(found, [(&old, Some(2)), (&missing, None), (&bytes, None)]);
    assert!(stale[0].to_string().contains("@@ -1,0 +2 @@\n+  %% trip\n"), "{}", stale[0]);
    assert!(stale[1].to_string().contains("does not exist, the graph `trip` was not drawn yet"), "{}", stale[1]);
    assert!(stale[2].to_string().contains("it is not UTF-8"), "{}", stale[2]);
    assert!(stale.iter().all(|stale| stale.to_string().ends_with(stale.file.to_str().unwrap())));
}

#[test]
fn line_ends_do_not_matter_and_lines_too_many_do() {
    let folder = folder("lines");
    let file = folder.join("g.mmd");
    let drawn = trip("a").mermaid().to_string();
    let check = |text: &str| {
        fs::write(&file, text).unwrap();
        export(&trip("a"), &["--check", file.to_str().unwrap()]).0
    };
    assert!(check(&drawn.replace('\n', "\r\n")).is_ok());
    assert!(check(drawn.trim_end()).is_ok());
    let stale = stale(check(&format!("{drawn}  n0 --> n0\u{1b}[31m\n")).unwrap_err());
    let text = stale[0].to_string();
    assert!(text.contains("@@ -6 +5,0 @@\n-  n0 --> n0[31m\n"), "{text}");
}

#[test]
fn what_is_not_about_diagrams_is_left_to_the_program() {
    for args in [&[][..], &["serve"], &["serve", "--dot"], &["--dotty"], &["--help"]] {
        let (done, out) = export(&trip("a"), args);
        assert!(!done.unwrap());
        assert_eq!(out, "");
    }
    let (done, out) = export(&trip("a"), &["--dot", "-", "--mermaid"]);
    assert!(done.unwrap());
    assert_eq!(out, format!("{}{}", trip("a").dot(), trip("a").mermaid()));
}

#[test]
fn mistakes_are_named_before_anything_is_written() {
    let folder = folder("mistakes");
    let file = folder.join("never.dot");
    let name = file.to_str().unwrap();
    for (args, message) in [
        (&["--dot", name, "--check"][..], "`--check` needs a file, such as `docs/graph.dot`"),
        (
            &["--dot", name, "more"],
            "`more` is not understood here: diagrams have the options --dot, --mermaid, --json, --svg, --text, --check",
        ),
        (&["--dot", name, "--verbose"], "`--verbose` is not understood here"),
        (
            &["--check", "g.png"],
            "the name of a diagram ends in `.dot`, `.mmd`, `.json`, `.svg` or `.txt`, but not that of `g.png`",
        ),
    ] {
        let error = export(&trip("a"), args).0.unwrap_err();
        assert!(error.to_string().starts_with(message), "{error}");
        assert_eq!(error.exit_code(), 2);
        assert!(!file.exists());
    }
    let unwritable = folder.join("no/folder.dot");
    let error = export(&trip("a"), &["--dot", unwritable.to_str().unwrap()]).0.unwrap_err();
    assert!(matches!(&error, ExportError::Write { file, .. } if *file == unwritable), "{error}");
    assert_eq!(error.exit_code(), 1);
    let error = trip("a").save(DiagramFormat::Dot, Path::new("-"), &mut Broken).unwrap_err();
    assert!(matches!(error, ExportError::Print(_)), "{error}");
    let error =
        export(&trip("a"), &["--check", folder.join("..").join("mistakes.dot").join("x.dot").to_str().unwrap()]);
    assert_eq!(stale(error.0.unwrap_err()).len(), 1);
}

struct Broken;

impl io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn has_dot() -> bool {
    Command::new("dot").arg("-V").output().is_ok_and(|output| output.status.success())
}

#[test]
fn graphviz_draws_hostile_names_and_paths() {
    if !has_dot() {
        return skip("Graphviz's `dot` is missing: run .ci/stages/graphviz.sh");
    }
    let topology = trip("<script>alert(1)</script> \"a\\\" \u{1b}[31m $(touch x) `y`");
    let mut path = ExecutedPath::new();
    path.visit("gone").failed = true;
    let svg = topology.dot().executed(&path).svg().unwrap();
    assert!(svg.trim_end().ends_with("</svg>"), "{svg}");
    assert!(!svg.contains("<script") && !svg.contains('\u{1b}'), "{svg}");
    assert!(svg.contains("&lt;script&gt;alert(1)&lt;/script&gt;"), "{svg}");
    assert!(svg.contains(">failed</text>"), "{svg}");
    // More than a pipe holds, in both directions.
    let nodes =
        (0..300).map(|index| Vertex::new(format!("node_{index}_{}", "x".repeat(300)), NodeKind::Plain)).collect();
    let large = Topology::new("large", nodes, vec![], vec![]).dot().svg().unwrap();
    assert!(large.len() > 100_000 && large.contains("node_299_"));
}

#[test]
fn a_missing_graphviz_is_named_with_what_to_do() {
    let error = Graphviz::new().program("/no/such/dot").svg(&trip("a").dot()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is no program `/no/such/dot`: install Graphviz (the package is called `graphviz`), or write the DOT file \
         and draw it on a machine that has it"
    );
    assert!(matches!(error, SvgError::NotInstalled { .. }));
}

/// Stands for `dot`: a shell script, so that each way to fail can be had.
#[cfg(unix)]
mod stand_ins {
    use std::time::{Duration, Instant};

    use super::*;

    fn stand_in(name: &str, script: &str) -> Graphviz {
        let file = folder(&format!("stand_in_{name}")).join("dot");
        // Written by another process: a program that is open for writing can't be started, and a process that another
        // test starts at this moment would have inherited it open.
        let write = r#"printf '#!/bin/sh\n%s\n' "$2" > "$1"; chmod +x "$1""#;
        let written = Command::new("sh").args(["-c", write, "sh"]).arg(&file).arg(script).status().unwrap();
        assert!(written.success());
        Graphviz::new().program(file)
    }

    #[test]
    fn the_graph_goes_in_by_the_input_and_nothing_of_it_by_an_argument() {
        let echo = stand_in("echo", "echo \"$# $1\"; cat");
        assert_eq!(echo.svg(&trip("a").dot()).unwrap(), format!("1 -Tsvg\n{}", trip("a").dot()));
    }

    #[test]
    fn a_failure_says_how_it_ended_and_what_was_said() {
        let failing = stand_in("failing", "cat >/dev/null; printf 'bad \\033[31mline\\n' >&2; exit 3");
        let Err(SvgError::Failed { status, said }) = failing.svg(&trip("a").dot()) else { panic!() };
        assert_eq!((status.code(), &*said), (Some(3), "bad [31mline"));
        // It neither reads its input nor stops complaining.
        let loud = stand_in("loud", "head -c 300000 /dev/zero | tr '\\0' x >&2; exit 1");
        let Err(SvgError::Failed { said, .. }) = loud.svg(&trip(&"a".repeat(1 << 20)).dot()) else { panic!() };
        assert_eq!(said.replace('\n', "").len(), 4096);
    }

    #[test]
    fn time_and_room_are_limited() {
        let began = Instant::now();
        let limit = Duration::from_millis(300);
        let slow = stand_in("slow", "exec sleep 60").timeout(limit);
        assert!(matches!(slow.svg(&trip("a").dot()), Err(SvgError::TooSlow { limit: found }) if found == limit));
        // A child of the program keeps the pipes open.
        let forked = stand_in("forked", "sleep 5 & exit 0").timeout(limit);
        assert!(matches!(forked.svg(&trip("a").dot()), Err(SvgError::TooSlow { .. })));
        let endless = stand_in("endless", "exec yes").max_bytes(100_000);
        assert!(matches!(endless.svg(&trip("a").dot()), Err(SvgError::TooLarge { limit: 100_000 })));
        let exact = stand_in("exact", "cat >/dev/null; printf 12345").max_bytes(5);
        assert_eq!(exact.svg(&trip("a").dot()).unwrap(), "12345");
        assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
    }

    #[test]
    fn what_is_no_text_or_no_program_is_named() {
        let bytes = stand_in("bytes", "cat >/dev/null; printf '\\377'");
        assert!(matches!(bytes.svg(&trip("a").dot()), Err(SvgError::NotText)));
        let folder = Graphviz::new().program(folder("stand_in_folder"));
        assert!(matches!(folder.svg(&trip("a").dot()), Err(SvgError::Broken { .. })));
    }
}
