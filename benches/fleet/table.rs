//! The table, printed as it grows, and put into docs/benchmarks.md.

use std::fs;
use std::path::Path;

use super::chart::{self, MARKER};
use super::measured::Figures;

/// Rows of Markdown.
pub(super) struct Table {
    text: String,
}

impl Table {
    /// The heading.
    pub(super) fn new() -> Self {
        let mut table = Self {
            text: String::new(),
        };
        table.line("| clusters | what is run | CPU s | CPU ms per cluster | wall s | peak MiB |");
        table.line("|--:|---|--:|--:|--:|--:|");
        table
    }

    /// What one command came to.
    pub(super) fn row(&mut self, name: &str, clusters: usize, figures: &Figures) {
        let each = figures.cpu * 1000.0 / clusters as f64;
        self.line(&format!(
            "| {clusters} | {name} | {:.3} | {each:.2} | {:.3} | {:.0} |",
            figures.cpu, figures.wall, figures.peak
        ));
    }

    /// Where that was.
    pub(super) fn machine(&mut self) {
        let field = |file: &str, name: &str, between: char| {
            let text = fs::read_to_string(file).unwrap_or_default();
            let line = text
                .lines()
                .find(|line| line.starts_with(name))
                .map(str::to_owned);
            let value = line.and_then(|line| {
                Some(
                    line.split_once(between)?
                        .1
                        .trim()
                        .trim_matches('"')
                        .to_owned(),
                )
            });
            value.unwrap_or_else(|| "unknown".to_owned())
        };
        let cores = std::thread::available_parallelism().map_or(0, usize::from);
        let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
        self.line("");
        self.line(&format!(
            "Measured on {cores} cores of {} ({}) at a load of {} in the last minute, by `cargo bench --bench fleet`.",
            field("/proc/cpuinfo", "model name", ':'),
            field("/etc/os-release", "PRETTY_NAME", '='),
            load.split(' ').next().unwrap_or("?")
        ));
    }

    /// Replaces the table in docs/benchmarks.md, and the chart of it.
    pub(super) fn into_docs(self) {
        let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs");
        let path = docs.join("benchmarks.md");
        let page = fs::read_to_string(&path).expect("the page");
        let (before, after) = page.split_once(MARKER).expect("the page has the marker");
        let rest = after.split("\n\n").skip(2).collect::<Vec<_>>().join("\n\n");
        let text = format!("{before}{MARKER}{}\n{rest}", self.text);
        let chart = chart::of_page(&text);
        fs::write(path, text).expect("the page is written");
        fs::write(docs.join("benchmarks.svg"), chart).expect("the chart is written");
    }

    fn line(&mut self, text: &str) {
        println!("{text}");
        self.text.push_str(text);
        self.text.push('\n');
    }
}
