//! Reads diagrams with Graphviz's `dot`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde::Deserialize;
use serde_json::Value;

use super::expected::Picture;

pub(crate) fn is_here() -> bool {
    Command::new("dot").arg("-V").output().is_ok_and(|output| output.status.success())
}

/// Lays out all graphs in one process.
pub(crate) fn read(file: &Path, dots: &[String]) -> Vec<Picture> {
    fs::write(file, dots.concat()).expect("a temporary file");
    let output = Command::new("dot").arg("-Tjson").arg(file).output().expect("dot runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "dot: {}\n{errors}", output.status);
    assert!(!errors.contains("Error"), "{errors}");
    let text = std::str::from_utf8(&output.stdout).expect("dot writes UTF-8");
    let graphs = serde_json::Deserializer::from_str(text).into_iter::<Graph>();
    graphs.map(|graph| graph.expect("dot writes JSON").picture()).collect()
}

#[derive(Deserialize)]
struct Graph {
    #[serde(flatten)]
    label: Label,
    objects: Vec<Object>,
    edges: Vec<Line>,
}

#[derive(Deserialize)]
struct Object {
    #[serde(rename = "_gvid")]
    id: usize,
    name: String,
    #[serde(flatten)]
    label: Label,
}

#[derive(Deserialize)]
struct Line {
    tail: usize,
    head: usize,
    #[serde(flatten)]
    label: Label,
}

/// A label as it was written, and as it is drawn.
#[derive(Deserialize)]
struct Label {
    #[serde(default)]
    label: String,
    #[serde(default, rename = "_ldraw_")]
    drawn: Vec<Value>,
}

impl Label {
    /// The text of the label. What is drawn must be the same, line by line.
    fn read(&self) -> String {
        let mut text = String::new();
        let mut chars = self.label.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some('n') => text.push('\n'),
                    Some('\\') => text.push('\\'),
                    other => panic!("escape {other:?} in {:?}", self.label),
                },
                _ => text.push(c),
            }
        }
        let text = text.replace("&amp;", "&");
        let drawn: Vec<&str> = self.drawn.iter().filter_map(|step| step.get("text")?.as_str()).collect();
        let lines: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(drawn.into_iter().filter(|line| !line.is_empty()).collect::<Vec<_>>(), lines);
        text
    }
}

impl Graph {
    fn picture(self) -> Picture {
        let names: BTreeMap<usize, &str> = self.objects.iter().map(|object| (object.id, &*object.name)).collect();
        let mut picture = Picture { name: self.label.read(), ..Picture::default() };
        for object in &self.objects {
            let is_cluster = object.name.starts_with("cluster_");
            let labels = if is_cluster { &mut picture.clusters } else { &mut picture.nodes };
            labels.insert(object.name.clone(), object.label.read());
        }
        for line in &self.edges {
            picture.edges.push((names[&line.tail].to_owned(), names[&line.head].to_owned(), line.label.read()));
        }
        picture.edges.sort();
        picture
    }
}
