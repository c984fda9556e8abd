//! `metalmark page`: what is in the document, and what a browser makes of it.

mod browser;
mod change;
mod document;
mod fleet;
mod plan;
mod size;

use std::path::Path;

use serde_json::Value;

use super::support::stage::{Stage, project};
use super::support::{Metalmark, Outcome};

/// Text that ends a script element and begins another one, were it markup.
const HOSTILE: &str =
    "</script><script>window.hacked = 1</script><img src=x onerror=\"hacked = 2\">";

/// A copy of a workspace with values.
fn values() -> Stage {
    project().folder("fixtures/workspaces/sylva-baremetal")
}

/// A copy of a repository with plain manifests.
fn manifests() -> Stage {
    project().folder("fixtures/tutorials/manifests")
}

fn run(folder: &Path, arguments: &str) -> Outcome {
    let outcome = Metalmark::within(folder)
        .args(arguments.split_whitespace())
        .envs(&[("SOURCE_DATE_EPOCH", "1795219200")])
        .run();
    assert_eq!(outcome.stderr, "", "{arguments}");
    outcome
}

/// The page of a folder, as it is printed.
fn page(folder: &Path, arguments: &str) -> String {
    let outcome = run(folder, &format!("page {arguments}"));
    assert_eq!(outcome.status, 0);
    outcome.stdout
}

/// The JSON that a command prints.
fn json(folder: &Path, arguments: &str) -> Value {
    let outcome = Metalmark::within(folder)
        .args(arguments.split_whitespace())
        .envs(&[("SOURCE_DATE_EPOCH", "1795219200")])
        .run();
    serde_json::from_str(&outcome.stdout).expect("JSON")
}

/// What is between the first occurrence of one text and the next one of another.
fn between<'t>(text: &'t str, start: &str, end: &str) -> &'t str {
    let (_, behind) = text.split_once(start).expect("a start");
    behind.split_once(end).expect("an end").0
}

/// The data of a page, with the tables that its rows point into.
pub(crate) struct Data(Value);

impl Data {
    pub(crate) fn parse(page: &str) -> Self {
        let text = between(page, "id=\"data\">", "</script>");
        Self(serde_json::from_str(text).expect("JSON"))
    }

    /// A text by its number.
    pub(crate) fn text(&self, id: &Value) -> &str {
        let id = id.as_u64().expect("a number") as usize;
        self.0["strings"][id].as_str().expect("a text")
    }

    pub(crate) fn rows(&self, table: &str) -> &[Value] {
        self.0[table].as_array().expect("a table")
    }

    /// A cluster by its name.
    fn cluster(&self, name: &str) -> &Value {
        let mut clusters = self.rows("clusters").iter();
        let found = clusters.find(|cluster| self.text(&cluster["n"]) == name);
        found.expect("a cluster")
    }

    /// `file:line:column` of a place of a cluster; empty where there is none.
    fn place(&self, cluster: &Value, id: &Value) -> String {
        let place = &self.0["places"][id.as_u64().expect("a number") as usize];
        match place[0].as_u64().expect("a number") {
            0 => String::new(),
            file => {
                let file = self.text(&cluster["f"][file as usize - 1]);
                format!("{file}:{}:{}", place[1], place[2])
            }
        }
    }
}
