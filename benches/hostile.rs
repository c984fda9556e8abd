//! How long texts of 10 MB take that are made to be hard: none may take two seconds, whoever reads it.
//!
//! `cargo bench --bench hostile [-- WORD]` prints those whose name holds the word; it fails where one takes too long.

#![expect(clippy::print_stdout, reason = "a benchmark prints a table")]

#[path = "hostile/shapes.rs"]
mod shapes;

use std::process::ExitCode;
use std::time::{Duration, Instant};

use go_template::regexp::Regexp;
use go_template::{Budget, Limits, NoHost, Value, execute, parse};
use metalmark::model::name::{NameFacts, key_of};
use metalmark::model::version::Version;
use yaml_tree::Lists;
use yaml_tree::edit::{Edit, Position, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::merge;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

const SIZE: usize = 10 << 20;
const LONGEST: Duration = Duration::from_secs(2);

/// What is done with a text.
type Reader = (&'static str, fn(&str));

const OF_YAML: &[Reader] = &[
    ("Helm 3", |text| drop(read(text, Engine::Helm3))),
    ("Helm 4", |text| drop(read(text, Engine::Helm4))),
    ("kubectl", |text| drop(read(text, Engine::Kubectl))),
    ("merged", |text| {
        if let Ok(values) = yaml_tree::values(text, FileId(0), Engine::Helm3) {
            drop(merge::merge(&values, &values));
        }
    }),
    ("written", |text| {
        for node in read(text, Engine::Helm3) {
            drop(yaml_tree::emit(&node.value));
        }
    }),
    ("toYaml", |text| {
        for node in read(text, Engine::Helm3) {
            drop(yaml_tree::as_helm(&node.value, Lists::AtKey));
        }
    }),
    ("edited", |text| {
        let added = Edit::Insert {
            map: Target::keys(&[]),
            key: "added".to_owned(),
            value: "x".into(),
            position: Position::Last,
        };
        drop(edit(text, Engine::Helm3, &[added]));
    }),
];

const OF_TEMPLATES: &[Reader] = &[("evaluated", |text| {
    if let Ok(template) = parse("bench", text) {
        let budget = Budget::new(Limits::default());
        drop(execute(&template, &Value::Nil, &NoHost, &budget));
    }
})];

const OF_PATTERNS: &[Reader] = &[
    ("compiled and matched", |text| {
        if let Ok(regexp) = Regexp::new(text) {
            let text = "a".repeat(1 << 16);
            let _ = (
                regexp.is_match(&text),
                regexp.replace_all(&text, "$1", 32 << 20),
            );
        }
    }),
    ("as a name", |text| {
        let _ = (NameFacts::parse(text), key_of(text), Version::parse(text));
    }),
];

fn read(text: &str, engine: Engine) -> Vec<Node> {
    let read = yaml_tree::read(text, FileId(0), engine);
    read.map(|read| read.documents).unwrap_or_default()
}

fn main() -> ExitCode {
    let word = std::env::args().skip(1).find(|word| !word.starts_with('-'));
    let tables = [
        (shapes::YAML, OF_YAML),
        (shapes::TEMPLATES, OF_TEMPLATES),
        (shapes::PATTERNS, OF_PATTERNS),
    ];
    let mut slow = Vec::new();
    for (shapes, readers) in tables {
        for shape in shapes
            .iter()
            .filter(|shape| word.as_deref().is_none_or(|word| shape.name.contains(word)))
        {
            let text = (shape.text)(SIZE);
            let mut line = format!("{:32}", shape.name);
            for (reader, run) in readers {
                let start = Instant::now();
                run(&text);
                let took = start.elapsed();
                line.push_str(&format!(" {reader} {:>5}", took.as_millis()));
                if took > LONGEST {
                    slow.push(format!("{}: {reader} {} ms", shape.name, took.as_millis()));
                }
            }
            println!("{line} ms");
        }
    }
    if slow.is_empty() {
        println!("none takes {} s", LONGEST.as_secs());
        return ExitCode::SUCCESS;
    }
    println!("\ntoo slow:\n{}", slow.join("\n"));
    ExitCode::FAILURE
}
