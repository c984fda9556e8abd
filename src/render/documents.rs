//! Validates every rendered file: it must parse, its objects must be complete with legal names, and each object must match the
//! schema of its kind if schemas are available.

use std::collections::BTreeSet;
use std::sync::Arc;

use capi::schema::Schemas;
use yaml_tree::NoticeKind;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::{FileId, Place, Spot};
use yaml_tree::value::Node;

use capi::secrets;

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::render::objects::name;
use crate::render::targets::Content;

/// The largest sum of a ConfigMap's or a Secret's values, in bytes.
/// (kubernetes pkg/apis/core/validation, `ValidateConfigMap`: core.MaxSecretSize)
const DATA_SIZE: usize = 1 << 20;

const OTHER_RELEASE: &str =
    "the CRD of the newest release requires this; `schemas: FOLDER` names the CRDs of your release";

/// A problem in a rendered file, and its place.
struct Fault {
    rule: RuleId,
    message: String,
    place: Place,
    /// Whether the schema is built in.
    is_built_in: bool,
    /// Whether it is an unknown field, which another release of the CRD may have.
    is_unknown: bool,
}

fn fault(message: impl Into<String>, place: Place) -> Fault {
    Fault {
        rule: RuleId::ManifestInvalid,
        message: message.into(),
        place,
        is_built_in: false,
        is_unknown: false,
    }
}

/// Reports the problems in a rendered file, and returns its objects as `KIND.GROUP NAMESPACE/NAME`.
pub(super) fn check(
    path: &str,
    text: &str,
    content: &Content,
    schemas: Option<&Schemas>,
    findings: &mut Vec<Finding>,
) -> Vec<Box<str>> {
    let mut found: Vec<Fault> = Vec::new();
    let mut identities = BTreeSet::new();
    if let Content::TheseObjects(known) = content {
        debug_assert_eq!(as_read(text), as_json(known), "{path}");
        identities = objects(known, schemas, &mut found);
        if found.is_empty() {
            return display_identities(&identities);
        }
        // The text is parsed again, so that the problems are reported with their places in it.
        found.clear();
    }
    match yaml_tree::read(text, FileId(0), Engine::Kubectl) {
        Err(error) => found.push(fault(error.message, error.place)),
        Ok(read) => {
            for notice in &read.notices {
                if let NoticeKind::DuplicateKey { .. } = &notice.kind {
                    found.push(fault("a key exists twice", notice.place));
                }
            }
            if *content != Content::Yaml {
                identities = objects(&read.documents, schemas, &mut found);
            }
        }
    }
    if found.is_empty() {
        return display_identities(&identities);
    }
    let source = Arc::new(secrets::source(path, text));
    for fault in found {
        let spot = Spot::new(&source, fault.place);
        let message = format!("rendered file `{path}`: {}", fault.message);
        let finding = Finding::new(fault.rule, message);
        let finding = finding.with_label(Some(spot), "in the rendered file");
        findings.push(match fault.rule {
            RuleId::ObjectTooLarge => {
                finding.help("serve fewer images, or write one object a cluster: `scope: cluster`")
            }
            _ if fault.is_built_in && fault.is_unknown => {
                finding.help(OTHER_RELEASE).unless_set(Level::Warning)
            }
            _ if fault.is_built_in => finding.help(OTHER_RELEASE),
            _ => finding,
        });
    }
    display_identities(&identities)
}

/// The identity of an object for an API server does not depend on its API version.
fn display_identities(identities: &BTreeSet<[String; 4]>) -> Vec<Box<str>> {
    let shown = identities
        .iter()
        .map(|[api_version, kind, namespace, name]| {
            let group = api_version.split_once('/').map_or("", |(group, _)| group);
            format!("{kind}.{group} {namespace}/{name}").into()
        });
    shown.collect()
}

/// The objects that a text contains, to compare with those that a target declares.
fn as_read(text: &str) -> Option<Vec<String>> {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).ok()?;
    as_json(&read.documents)
}

fn as_json(objects: &[Node]) -> Option<Vec<String>> {
    let json = |object: &Node| to_json(&object.value, Html::Plain);
    Some(objects.iter().map(json).collect())
}

fn objects(
    documents: &[Node],
    schemas: Option<&Schemas>,
    found: &mut Vec<Fault>,
) -> BTreeSet<[String; 4]> {
    let mut identities = BTreeSet::new();
    for document in documents
        .iter()
        .filter(|document| !document.value.is_null())
    {
        let before = found.len();
        let identity = identity(document, found);
        metadata(document, found);
        data_size(document, found);
        for fault in &mut found[before..] {
            fault.message = format!("{}: {}", label(&identity), fault.message);
        }
        for problem in schemas
            .map(|schemas| schemas.check(document))
            .unwrap_or_default()
        {
            let at = match problem.path.as_str() {
                "" => String::new(),
                path => format!("`{path}` "),
            };
            found.push(Fault {
                is_built_in: problem.is_built_in,
                is_unknown: problem.is_unknown,
                ..fault(
                    format!("{}: {at}{}", label(&identity), problem.message),
                    problem.place,
                )
            });
        }
        if let Some(twin) = identities.replace(identity) {
            let message = format!("{} is in the file twice", label(&twin));
            found.push(fault(message, document.place));
        }
    }
    identities
}

/// The kind and name of an object, as far as they are known.
fn label(identity: &[String; 4]) -> String {
    let [_, kind, _, name] = identity;
    let kind = if kind.is_empty() { "an object" } else { kind };
    match name.as_str() {
        "" => format!("{kind} without a name"),
        name => format!("{kind} `{name}`"),
    }
}

/// Whether a text contains no YAML document, only blank lines and comments.
pub(super) fn is_blank(text: &str) -> bool {
    let has_content = |line: &str| {
        let line = line.trim();
        !line.is_empty() && !line.starts_with('#') && line != "---"
    };
    !text.lines().any(has_content)
}

/// The identity of an object: apiVersion, kind, namespace and name.
fn identity(document: &Node, found: &mut Vec<Fault>) -> [String; 4] {
    let mut text = |path: &[&str], needed: bool| {
        let node = document.get_path(path);
        let text = document.text(path).unwrap_or_default().to_owned();
        if text.is_empty() && (needed || node.is_some()) {
            let place = node.unwrap_or(document).place;
            found.push(fault(format!("`{}` must be a text", path.join(".")), place));
        }
        text
    };
    [
        text(&["apiVersion"], true),
        text(&["kind"], true),
        text(&["metadata", "namespace"], false),
        text(&["metadata", "name"], true),
    ]
}

fn metadata(document: &Node, found: &mut Vec<Fault>) {
    let mut legal = |path: &[&str], is_legal: fn(&str) -> bool, what: &str| {
        let node = document.get_path(path);
        if let Some((node, text)) = node.and_then(|node| Some((node, node.value.as_str()?)))
            && !text.is_empty()
            && !is_legal(text)
        {
            found.push(fault(format!("`{text}` is not a legal {what}"), node.place));
        }
    };
    legal(
        &["metadata", "name"],
        name::is_subdomain,
        "name: lower-case letters, digits, `-` and `.`, at most 253",
    );
    legal(
        &["metadata", "namespace"],
        name::is_label,
        "namespace: lower-case letters, digits and `-`, at most 63",
    );
    if is_used_as_label(document) {
        legal(
            &["metadata", "name"],
            name::is_label_value,
            "name: Flux writes it as a label of the objects that it applies, at most 63",
        );
    }
    for (field, is_legal) in [
        ("labels", name::is_label_value as fn(&str) -> bool),
        ("annotations", |_: &str| true),
    ] {
        for entry in document.entries(&["metadata", field]) {
            let value = entry.node.value.as_str();
            if !name::is_label_key(&entry.key) || !value.is_some_and(|value| is_legal(value)) {
                let written = match value {
                    Some(text) => text,
                    None => entry.node.value.kind(),
                };
                let message = format!("`{}: {written}` is not a legal entry of {field}", entry.key);
                found.push(fault(message, entry.node.place));
            }
        }
    }
}

/// Whether the object's controller writes the object's name as a label on what it applies
/// (fluxcd/pkg, `ssa.ResourceManager.SetOwnerLabels`; helm-controller, `postrender.OriginLabels`).
fn is_used_as_label(document: &Node) -> bool {
    let is_of = |kind: &str, group: &str| {
        let api_version = document.text(&["apiVersion"]).unwrap_or_default();
        document.text(&["kind"]) == Some(kind) && api_version.starts_with(group)
    };
    is_of("Kustomization", "kustomize.toolkit.fluxcd.io/")
        || is_of("HelmRelease", "helm.toolkit.fluxcd.io/")
}

fn data_size(document: &Node, found: &mut Vec<Fault>) {
    if !matches!(document.text(&["kind"]), Some("ConfigMap" | "Secret")) {
        return;
    }
    let size: usize = document
        .entries(&["data"])
        .filter_map(|entry| entry.node.value.as_str())
        .map(|text| text.len())
        .sum();
    if size > DATA_SIZE {
        found.push(Fault {
            rule: RuleId::ObjectTooLarge,
            ..fault(
                format!("its data has {size} bytes and may have {DATA_SIZE}"),
                document.place,
            )
        });
    }
}
