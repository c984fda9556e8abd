//! The kinds that the server can serve: some of its own, and those of the CRDs, installed when a test needs them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use super::objects::Object;

/// A version that stores every field. Without a conversion webhook, fields that only one version has would be pruned on the
/// way to the stored version; here each version is checked by its own schema and comes back as it was written.
const STORED: &str = "  versions:
  - name: stored
    served: false
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
";

/// The server's own kinds that tests apply: group, kind, plural.
const OWN: [(&str, &str, &str); 2] = [("", "ConfigMap", "configmaps"), ("", "Secret", "secrets")];

#[derive(Default)]
pub(super) struct Definitions {
    /// By group and kind.
    known: BTreeMap<(String, String), Definition>,
    installed: BTreeSet<(String, String)>,
}

struct Definition {
    plural: String,
    is_namespaced: bool,
    /// The CRD; none for the server's own.
    text: Option<String>,
}

/// Where an object is on the server.
pub(super) struct ServerPath {
    pub(super) namespace: Option<String>,
    pub(super) collection: String,
    /// The objects of the kind in all namespaces.
    pub(super) everywhere: String,
    pub(super) object: String,
}

impl Definitions {
    /// The definitions of a folder, and the server's own.
    pub(super) fn of(crds: &Path) -> Self {
        let mut all = Self::default();
        for (group, kind, plural) in OWN {
            let definition = Definition {
                plural: plural.to_owned(),
                is_namespaced: true,
                text: None,
            };
            all.known
                .insert((group.to_owned(), kind.to_owned()), definition);
        }
        for entry in walkdir::WalkDir::new(crds).sort_by_file_name() {
            let entry = entry.expect("readable");
            if entry.path().extension().is_none_or(|end| end != "yaml") {
                continue;
            }
            let text = fs::read_to_string(entry.path()).expect("text");
            // As controller-gen writes it.
            let field = |start: &str| {
                let line = text.lines().find_map(|line| line.strip_prefix(start));
                line.unwrap_or_else(|| panic!("{}: no `{start}`", entry.path().display()))
                    .to_owned()
            };
            let key = (field("  group: "), field("    kind: "));
            let definition = Definition {
                plural: field("    plural: "),
                is_namespaced: field("  scope: ") == "Namespaced",
                text: Some(text.clone()),
            };
            all.known.insert(key, definition);
        }
        all
    }

    /// The path of an object; none where its kind is not known.
    pub(super) fn path(&self, object: &Object) -> Option<ServerPath> {
        let (group, version) = object.group_version();
        let key = (group.to_owned(), object.kind().to_owned());
        let definition = self.known.get(&key)?;
        let namespace = definition.is_namespaced.then(|| object.namespace());
        let api = match group {
            "" => format!("/api/{version}"),
            _ => format!("/apis/{group}/{version}"),
        };
        let everywhere = format!("{api}/{}", definition.plural);
        let within = match namespace {
            Some(namespace) => format!("{api}/namespaces/{namespace}"),
            None => api,
        };
        let collection = format!("{within}/{}", definition.plural);
        Some(ServerPath {
            namespace: namespace.map(str::to_owned),
            object: format!("{collection}/{}", object.name()),
            collection,
            everywhere,
        })
    }

    /// The CRD of an object's kind, once.
    pub(super) fn install(&mut self, object: &Object) -> Option<String> {
        let key = (
            object.group_version().0.to_owned(),
            object.kind().to_owned(),
        );
        let text = self.known.get(&key)?.text.as_ref()?;
        if !self.installed.insert(key) {
            return None;
        }
        let text = text.replace("\n    storage: true\n", "\n    storage: false\n");
        Some(text.replacen("  versions:\n", STORED, 1))
    }
}
