//! Reads a plain bundle from the ConfigMaps that hold it.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use oci_artifacts::archive::{Mode, Spooling};
use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Spot};
use yaml_tree::value::{Node, Value};

use capi::secrets;

use super::super::plain::text;
use super::super::{Bundle, BundleKind, File, MANIFESTS};
use super::PART;
use crate::model::finding::Finding;
use crate::model::output_path;
use crate::model::rule::RuleId;

/// The plain bundle that ConfigMaps hold, and what is wrong with them. Their texts are read one by one.
///
/// # Errors
/// A file cannot be read; there is no room.
pub fn read_config_maps(files: &[File]) -> io::Result<(Bundle, Vec<Finding>)> {
    let mut reading = Reading::default();
    for file in files {
        let text = match text(file)? {
            Ok(text) => text,
            Err(finding) => {
                reading.findings.push(*finding);
                continue;
            }
        };
        let source = Arc::new(secrets::source(Arc::clone(&file.from), text));
        match secrets::documents(&source, FileId(0), Engine::Kubectl) {
            Ok(read) => {
                for node in &read.documents {
                    reading.document(&source, node)?;
                }
            }
            Err(error) => {
                let spot = Spot::new(&source, error.place);
                reading
                    .findings
                    .push(Finding::from_syntax(error, Some(spot)));
            }
        }
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    spooling: Spooling,
    places: Vec<(String, Arc<str>, u64, u64)>,
    known: BTreeSet<String>,
    findings: Vec<Finding>,
    /// Which part of how many each ConfigMap says it is, and where.
    parts: Vec<(Option<(usize, usize)>, Spot)>,
}

/// The numbers of `2/3`.
fn numbers(part: &str) -> Option<(usize, usize)> {
    let (number, of) = part.split_once('/')?;
    Some((number.parse().ok()?, of.parse().ok()?))
}

impl Reading {
    fn document(&mut self, source: &Arc<Source>, node: &Node) -> io::Result<()> {
        if node.text(&["kind"]) != Some("ConfigMap") {
            return Ok(());
        }
        let name = node.text(&["metadata", "name"]).unwrap_or_default();
        if let Some(part) = node.get_path(&["metadata", "annotations", PART]) {
            let place = part.place.start;
            let spot = Spot::from_range(source, place, place);
            let numbers = part.value.as_str().and_then(|text| numbers(text));
            self.parts.push((numbers, spot));
        }
        let immutable = node.get_path(&["immutable"]).map(|node| &node.value);
        if !matches!(immutable, Some(Value::Bool(true))) {
            let message = format!("ConfigMap `{name}` is not immutable, and a bundle's are");
            let spot = Spot::from_range(source, node.place.start, node.place.start);
            let finding = Finding::new(RuleId::BundleLayout, message).with_label(Some(spot), "");
            self.findings.push(finding.help("write `immutable: true`"));
        }
        for field in ["data", "binaryData"] {
            for entry in node.entries(&[field]) {
                let (key, place) = (&*entry.key, entry.node.place);
                let bytes = match (entry.node.value.as_str(), field) {
                    (Some(text), "data") => Some(text.as_bytes().to_vec()),
                    (Some(text), _) => BASE64.decode(text.as_bytes()).ok(),
                    (None, _) => None,
                };
                let spot = Spot::from_range(source, place.start, place.end.min(place.start + 1));
                let Some(bytes) = bytes else {
                    let message = format!("`{key}` is not text of a ConfigMap");
                    self.refuse(RuleId::ManifestInvalid, message, spot);
                    continue;
                };
                if !self.known.insert(key.to_owned()) {
                    let message = format!("the file `{key}` is in two ConfigMaps");
                    self.refuse(RuleId::BundleLayout, message, spot);
                } else if output_path::fault(key).is_some() || key.contains('/') {
                    let message = format!("`{key}` is not a name of a file");
                    self.refuse(RuleId::BundleLayout, message, spot);
                } else {
                    let at = self.spooling.length();
                    self.spooling.write_all(&bytes)?;
                    let size = self.spooling.length() - at;
                    self.places
                        .push((key.to_owned(), Arc::clone(&source.path), at, size));
                }
            }
        }
        Ok(())
    }

    fn refuse(&mut self, rule: RuleId, message: impl Into<String>, spot: Spot) {
        let finding = Finding::new(rule, message.into());
        self.findings.push(finding.with_label(Some(spot), ""));
    }

    /// Refuses some of the ConfigMaps of a bundle that say how many they are.
    fn check_parts(&mut self) {
        let Some((first, spot)) = self.parts.first() else {
            return;
        };
        let count = self.parts.len();
        let numbers: BTreeSet<_> = self.parts.iter().map(|(part, _)| *part).collect();
        let is_part = |part: &Option<(usize, usize)>| {
            part.is_some_and(|(number, of)| of == count && (1..=count).contains(&number))
        };
        if numbers.len() == count && numbers.iter().all(is_part) {
            return;
        }
        let of = first.map_or_else(|| "?".to_owned(), |(_, of)| of.to_string());
        let message = format!("a bundle is in {of} ConfigMaps, and {count} are here");
        let finding = Finding::new(RuleId::BundleLayout, message);
        let help = "put all ConfigMaps of the one bundle there, or pack it again";
        let finding = finding.with_label(Some(spot.clone()), "").help(help);
        self.findings.push(finding);
    }

    fn finish(mut self) -> (Bundle, Vec<Finding>) {
        self.check_parts();
        let spool = self.spooling.finish();
        let files = self
            .places
            .into_iter()
            .map(|(key, from, start, size)| File {
                path: format!("{MANIFESTS}/{key}").into(),
                from: format!("{from}:{key}").into(),
                mode: Mode::PLAIN,
                size,
                content: Arc::new(spool.stretch(start, size)),
            });
        (
            Bundle::from_files(BundleKind::Plain, files.collect()),
            self.findings,
        )
    }
}
