//! The schema of a chart's values: `values.schema.json` beside Chart.yaml.
//!
//! <https://helm.sh/docs/topics/charts/#schema-files>

use std::path::Path;

use capi::schema::ValuesSchema;
use yaml_tree::engine::Engine;
use yaml_tree::place::Sources;
use yaml_tree::value::Node;

use crate::files::{Content, Files, Found, SECRET};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};

use super::chart_files::SCHEMA;
use super::files::display;

/// A chart's schema of its values.
#[derive(Debug)]
pub(super) struct SchemaFile {
    path: String,
    /// The schema, or why it cannot be read.
    schema: Result<ValuesSchema, String>,
}

impl SchemaFile {
    /// The schema of the chart in a folder, if it has one.
    pub(super) fn read(files: &dyn Files, folder: &Path) -> Option<Self> {
        let path = folder.join(SCHEMA);
        match files.file(&path) {
            Ok(Found::File(content)) => Some(Self::parse(display(&path), &content)),
            Ok(_) => None,
            Err(error) => Some(Self {
                path: display(&path),
                schema: Err(error.to_string()),
            }),
        }
    }

    /// The schema in a file.
    pub(super) fn parse(path: String, content: &Content) -> Self {
        let text = match content.plain() {
            Some(bytes) => {
                yaml_tree::decode(bytes, Engine::Helm3).map_err(|error| error.to_string())
            }
            None => Err(SECRET.to_owned()),
        };
        Self {
            path,
            schema: text.and_then(|text| ValuesSchema::parse(&text)),
        }
    }

    /// What is wrong with values, whose places are in these files.
    pub(super) fn check(&self, values: &Node, sources: &Sources) -> Vec<Finding> {
        let Self { path, schema } = self;
        let found = schema.as_ref().map_err(Clone::clone);
        let found = found.and_then(|schema| schema.check(values));
        let found = match found {
            Ok(found) => found,
            Err(why) => {
                let message = format!("the values are not compared with `{path}`: {why}");
                let finding = Finding::new(RuleId::ValuesSchema, message);
                let help = "Helm may refuse them: see what `helm lint` says";
                return vec![finding.help(help).unless_set(Level::Warning)];
            }
        };
        let findings = found.into_iter().map(|mut mismatch| {
            if sources.is_secret(mismatch.place) {
                mismatch.shown.clear();
            }
            Finding::new(RuleId::ValuesSchema, mismatch.to_string())
                .with_label(sources.resolve(mismatch.place), "")
                .help(format!("Helm refuses it: see `{path}`"))
        });
        findings.collect()
    }
}
