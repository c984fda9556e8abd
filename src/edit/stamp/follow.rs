//! References to rendered objects: a template that metalmark renders is named after its content, and what a person's manifests refer
//! to moves with that name.
//!
//! Nothing is remembered between runs: a reference belongs to a rendered object if both names are equal without the hash. So a run
//! that ended between two files is completed by the next one.

use std::collections::{BTreeMap, BTreeSet};

use capi::objects::{ManifestObject, Reference, references};
use capi::providers::PROVIDERS;
use yaml_tree::edit::{Edit, Target};

use crate::edit::texts::EditedFile;
use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

use super::plan::ObjectResult;

use super::apply_edits;
use super::past::base;

/// A rendered object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Rendered<'a> {
    /// Its kind.
    pub kind: &'a str,
    /// Its API group.
    pub group: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name, with the hash of its content.
    pub name: &'a str,
    /// The cluster that it is rendered for.
    pub cluster: Option<&'a str>,
}

impl<'a> Rendered<'a> {
    /// The object of an identity as rendered files have it, `KIND.GROUP NAMESPACE/NAME`; none where its name has no hash.
    pub fn read(identity: &'a str, cluster: Option<&'a str>) -> Option<Self> {
        let (kind, name) = identity.split_once(' ')?;
        let (kind, group) = kind.split_once('.')?;
        let (namespace, name) = name.split_once('/')?;
        let rendered = Self {
            kind,
            group,
            namespace,
            name,
            cluster,
        };
        (base(name) != name).then_some(rendered)
    }

    fn is_machine_template(&self) -> bool {
        let mut kinds = PROVIDERS.iter().flat_map(|provider| provider.data().kinds);
        kinds.any(|kind| kind.is_template() && kind.kind == self.kind && kind.group == self.group)
    }

    /// Whether a reference that means no object among the manifests means this one, under this name or an earlier one.
    fn is_meant(&self, reference: &Reference<'_>) -> bool {
        let is_of = |text: Option<&str>, own: &str| text.is_none_or(|text| text == own);
        let namespace = Some(reference.namespace).filter(|namespace| !namespace.is_empty());
        let name = reference.name.value.as_str();
        reference.kind == self.kind
            && is_of(reference.group, self.group)
            && is_of(namespace, self.namespace)
            && name.is_some_and(|name| base(name) == base(self.name))
    }
}

/// What becomes of the manifests.
#[derive(Default)]
pub struct Followed {
    /// The files that change, each with its new text.
    pub files: Vec<EditedFile>,
    /// The references that cannot be moved, and the templates that nothing refers to.
    pub findings: Vec<Finding>,
}

/// Moves the references to rendered objects to the names that those have now.
pub fn follow(objects: &[ManifestObject], rendered: &[Rendered<'_>]) -> Followed {
    let mut by_base: BTreeMap<(&str, &str), Vec<&Rendered<'_>>> = BTreeMap::new();
    for object in rendered {
        let key = (object.kind, base(object.name));
        by_base.entry(key).or_default().push(object);
    }
    let mut followed = Followed::default();
    let mut referenced: BTreeSet<&Rendered<'_>> = BTreeSet::new();
    let mut edits: BTreeMap<usize, Vec<Edit>> = BTreeMap::new();
    for reference in references(objects).iter().filter(|it| it.to.is_none()) {
        let Some(name) = reference.name.value.as_str() else {
            continue;
        };
        let known = by_base.get(&(reference.kind, base(name)));
        let meant = known.into_iter().flatten();
        let meant: Vec<_> = meant.filter(|it| it.is_meant(reference)).collect();
        referenced.extend(meant.iter().copied().copied());
        // Of several, in several namespaces, one that has the name already is meant.
        let [only] = meant[..] else { continue };
        if only.name != &**name {
            let document = objects[reference.from].document;
            let at = Target::Path(document, reference.steps.clone());
            let value = only.name.into();
            let own = edits.entry(reference.from).or_default();
            own.push(Edit::Set { at, value });
        }
    }
    let mut results = vec![ObjectResult::default(); objects.len()];
    let (files, _) = apply_edits(objects, &edits, &mut results);
    followed.files = files;
    for (object, result) in objects.iter().zip(&results) {
        let finding = |problem: &String| {
            let message = format!(
                "the references of {} cannot be moved: {problem}",
                object.title()
            );
            Finding::new(RuleId::ReferenceDangling, message)
                .with_label(object.name_spot(), "")
                .help("write the object in a manifest or a literal block (`|`), where names can be edited")
        };
        followed
            .findings
            .extend(result.problems.iter().map(finding));
    }
    let unused = rendered.iter().filter(|it| it.is_machine_template());
    let unused = unused.filter(|it| !referenced.contains(it));
    followed.findings.extend(unused.map(no_reference));
    followed
}

fn no_reference(template: &Rendered<'_>) -> Finding {
    let Rendered {
        kind,
        namespace,
        name,
        cluster,
        ..
    } = template;
    let message = format!("no manifest refers to {kind} `{namespace}/{name}`");
    let finding = Finding::new(RuleId::TemplateUnreferenced, message)
        .with_subject(cluster.map(Subject::cluster).unwrap_or_default());
    finding.help(format!(
        "write `name: {}` in the reference: `metalmark render` adds the hash, and moves the reference with it",
        base(name)
    ))
}
