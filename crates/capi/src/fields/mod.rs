//! Fields that one version of Cluster API's kinds has and the other lacks. The API server refuses an object that has such a field, or
//! drops the field, so that it does nothing.
//!
//! `fields.tsv` has a row for each, with what the version has instead. `fields.py` makes it from the CustomResourceDefinitions. Of a
//! field that neither version has nothing is said: another release may have it.

use std::collections::HashMap;
use std::sync::LazyLock;

use yaml_tree::value::{Entry, Node};

use crate::objects::ManifestObject;

/// The groups whose kinds are in the table.
const GROUPS: [&str; 3] = [
    "cluster.x-k8s.io",
    "bootstrap.cluster.x-k8s.io",
    "controlplane.cluster.x-k8s.io",
];

/// A field of an object that its version lacks.
#[derive(Debug)]
pub struct LackingField<'n> {
    /// Its path, with `[]` for the items of a list.
    pub path: &'static str,
    /// What the version has instead, if it has the same.
    pub instead: Option<&'static str>,
    /// The field.
    pub entry: &'n Entry,
}

#[derive(Debug)]
struct Row {
    path: &'static str,
    instead: Option<&'static str>,
}

/// The rows by kind and version.
static ROWS: LazyLock<HashMap<[&'static str; 2], Vec<Row>>> = LazyLock::new(|| {
    let mut rows: HashMap<_, Vec<Row>> = HashMap::new();
    for line in include_str!("fields.tsv").lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let [kind, version, path, instead] = columns[..] else {
            continue;
        };
        let instead = Some(instead).filter(|instead| !instead.is_empty());
        let row = Row { path, instead };
        rows.entry([kind, version]).or_default().push(row);
    }
    rows
});

/// The fields of an object that its version lacks and the other version of its kind has.
pub fn find_lacking(object: &ManifestObject) -> Vec<LackingField<'_>> {
    let version = object.api_version.split_once('/');
    let rows = version
        .filter(|(group, _)| GROUPS.contains(group))
        .and_then(|(_, version)| ROWS.get(&[&*object.kind, version]));
    let mut found = Vec::new();
    for Row { path, instead } in rows.into_iter().flatten() {
        let mut entries = Vec::new();
        find_entries(&object.node, path, &mut entries);
        found.extend(entries.into_iter().map(|entry| LackingField {
            path,
            instead: *instead,
            entry,
        }));
    }
    // The longest says most.
    let paths: Vec<&str> = found.iter().map(|field| field.path).collect();
    let is_above = |path: &str, other: &&str| {
        let rest = other.strip_prefix(path);
        rest.is_some_and(|rest| rest.starts_with('.'))
    };
    found.retain(|field| !paths.iter().any(|other| is_above(field.path, other)));
    found
}

/// The entries at a path that are set.
fn find_entries<'n>(node: &'n Node, path: &str, found: &mut Vec<&'n Entry>) {
    let (part, rest) = path
        .split_once('.')
        .map_or((path, None), |(part, rest)| (part, Some(rest)));
    let key = part.strip_suffix("[]").unwrap_or(part);
    let mut entries = node.entries(&[]).filter(|entry| *entry.key == *key);
    let Some(entry) = entries.next().filter(|entry| !entry.node.value.is_null()) else {
        return;
    };
    match rest {
        None => found.push(entry),
        Some(rest) if key == part => find_entries(&entry.node, rest, found),
        Some(rest) => {
            for item in entry.node.items(&[]) {
                find_entries(item, rest, found);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use yaml_tree::place::Source;

    use super::{ROWS, find_lacking};
    use crate::objects::objects;

    fn lacking(text: &str) -> Vec<String> {
        let source = Arc::new(Source::new("a.yaml", text));
        let read = objects(&source).expect("YAML");
        let fields = find_lacking(&read.objects[0]).into_iter();
        let shown = fields.map(|it| format!("{} => {}", it.path, it.instead.unwrap_or("")));
        shown.collect()
    }

    #[test]
    fn a_field_of_the_other_version_is_found_with_its_name_in_this_one() {
        let deployment = |version: &str, spec: &str| {
            lacking(&format!(
                "apiVersion: cluster.x-k8s.io/{version}\nkind: MachineDeployment\nmetadata: {{name: a}}\nspec: {{{spec}}}\n"
            ))
        };
        let old = "rolloutAfter: a, revisionHistoryLimit: 1, strategy: null, replicas: 1";
        assert_eq!(
            deployment("v1beta2", old),
            [
                "spec.revisionHistoryLimit => ",
                "spec.rolloutAfter => spec.rollout.after"
            ]
        );
        assert_eq!(deployment("v1beta1", old), [""; 0]);
        assert_eq!(deployment("v1alpha4", "rollout: {after: a}"), [""; 0]);
        assert_eq!(
            deployment("v1beta1", "rollout: {after: a}"),
            ["spec.rollout.after => spec.rolloutAfter"]
        );
        assert_eq!(
            deployment("v1beta1", "rollout: {other: a}"),
            ["spec.rollout => "]
        );
        assert_eq!(deployment("v1beta2", "unknown: a"), [""; 0]);
    }

    #[test]
    fn each_kind_has_rows_for_both_versions() {
        assert!(ROWS.len() >= 20);
        for [kind, version] in ROWS.keys() {
            assert!(ROWS.contains_key(&[*kind, "v1beta1"]), "{kind}");
            assert!(["v1beta1", "v1beta2"].contains(version), "{version}");
        }
    }
}
