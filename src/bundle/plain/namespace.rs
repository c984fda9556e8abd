//! Writes a namespace into objects that have none, in place: comments and everything else stay.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;

use super::{File, text};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;
use capi::objects::bundled::{Bundle, Bundled};
use yaml_tree::edit::{Edit, Position, Step, Target, edit};
use yaml_tree::engine::Engine;
use yaml_tree::value::Value;

/// The files with a namespace in every object that names none and is not the cluster's. What cannot be edited is a finding.
///
/// # Errors
/// A file cannot be read.
pub fn with_namespace(
    files: &mut [File],
    bundle: &Bundle<'_>,
    namespace: &str,
) -> io::Result<Vec<Finding>> {
    let mut wanting: BTreeMap<usize, Vec<&Bundled>> = BTreeMap::new();
    for object in bundle.objects {
        if object.namespace.is_empty() && !bundle.is_cluster_scoped(object) {
            wanting.entry(object.file).or_default().push(object);
        }
    }
    let mut found = Vec::new();
    for (number, objects) in wanting {
        let Ok(before) = text(&files[number])? else {
            continue;
        };
        match edit_text(&before, &objects, namespace) {
            Ok(after) => {
                files[number].size = after.len() as u64;
                files[number].content = Arc::new(after.into_bytes());
            }
            Err((object, reason)) => {
                let message = format!("`{object}` is not given a namespace: {reason}");
                found.push(
                    Finding::new(RuleId::ManifestInvalid, message)
                        .with_label(bundle.spot(object), "")
                        .help(format!(
                            "write `namespace: {namespace}` below its `metadata`"
                        )),
                );
            }
        }
    }
    Ok(found)
}

/// Each document is edited on its own, the last one first, so that the places of the others hold.
fn edit_text<'o>(
    before: &str,
    objects: &[&'o Bundled],
    namespace: &str,
) -> Result<String, (&'o Bundled, String)> {
    let mut after = before.to_owned();
    let mut rest = objects;
    while let Some(last) = rest.last() {
        let first = rest.partition_point(|object| object.document.start < last.document.start);
        let (others, together) = rest.split_at(first);
        rest = others;
        let edits: Vec<Edit> = together
            .iter()
            .map(|object| insert(object, namespace))
            .collect();
        let range = last.document.clone();
        let document = edit(&before[range.clone()], Engine::Kubectl, &edits);
        let document = document.map_err(|error| (*last, error.to_string()))?;
        after.replace_range(range, &document);
    }
    Ok(after)
}

fn insert(object: &Bundled, namespace: &str) -> Edit {
    let metadata = object.steps.iter().cloned().chain([Step::from("metadata")]);
    Edit::Insert {
        map: Target::Path(object.number, metadata.collect()),
        key: "namespace".to_owned(),
        value: Value::from(namespace),
        position: Position::After(Step::from("name")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::{File, Texts, index};
    use super::with_namespace;
    use capi::objects::bundled::{Bundle, Order};

    #[test]
    fn only_what_is_in_no_namespace_gets_one_and_comments_stay() {
        let text = "# head\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a # mine\n---\napiVersion: v1\n\
                    kind: Namespace\nmetadata: {name: n}\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\n---\n\
                    apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: o}\n";
        let mut files = vec![File::text("a.yaml", text.as_bytes().to_vec())];
        let found = index(&files, &|_| {}).expect("memory");
        let copy = files.clone();
        let texts = Texts::new(&copy);
        let bundle = Bundle::new(&found.objects, &texts, Order::Kind);
        let findings = with_namespace(&mut files, &bundle, "app").expect("memory");
        assert!(findings.is_empty());
        let mut after = String::new();
        let mut reader = files[0].content.open().expect("memory");
        reader.read_to_string(&mut after).expect("text");
        let expected = text
            .replace("name: a # mine\n", "name: a # mine\n  namespace: app\n")
            .replace("{name: b}", "{name: b, namespace: app}");
        assert_eq!(after, expected);
        assert_eq!(files[0].size, after.len() as u64);
    }
}
