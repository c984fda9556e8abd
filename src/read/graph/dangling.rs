//! Finds references of Cluster API's objects to templates that do not exist.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use capi::objects::{ManifestObject, Name, Reference};
use yaml_tree::edit::Step;
use yaml_tree::place::Spot;
use yaml_tree::suggest::did_you_mean;

use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

use super::pools::pool_name;
use super::{CLUSTER_API, Graph, MOST_NEAR, is_pool};

/// The objects of one kind in one folder and namespace.
#[derive(Default)]
struct Siblings<'a> {
    /// By name, without spaces: those in a name are a variable's.
    by_name: BTreeMap<Cow<'a, str>, usize>,
    /// The variables of their names.
    variables: BTreeSet<Vec<&'a str>>,
    /// Whether a kustomization may give one of them another name.
    may_be_renamed: bool,
}

impl Graph<'_> {
    /// Every reference to a kind of which there are any in the same folder and namespace, and none of that name, by the object that
    /// refers. Names with different variables may be the same one.
    pub(super) fn dangling(&self) -> BTreeMap<usize, Vec<Finding>> {
        let mut siblings: BTreeMap<_, Siblings<'_>> = BTreeMap::new();
        let own = self.objects.iter().enumerate();
        for (index, object) in own.filter(|(_, object)| !object.is_patch) {
            let key = (&*object.kind, &*object.namespace, object.folder());
            let siblings = siblings.entry(key).or_default();
            siblings.variables.insert(variables(&object.name));
            siblings.may_be_renamed |= object.is_renamed;
            let name = remove_spaces(&object.name);
            siblings.by_name.entry(name).or_insert(index);
        }
        let references = || self.references.values().flatten();
        let used: BTreeSet<usize> = references().filter_map(|reference| reference.to).collect();
        let mut found: BTreeMap<usize, Vec<Finding>> = BTreeMap::new();
        for reference in references() {
            let from = &self.objects[reference.from];
            let siblings = siblings.get(&(reference.kind, &*from.namespace, from.folder()));
            let finding = siblings.and_then(|siblings| self.finding(reference, siblings, &used));
            if let Some(finding) = finding {
                found.entry(reference.from).or_default().push(finding);
            }
        }
        found
    }

    /// The finding of a reference; `used` are the objects that others refer to.
    fn finding(
        &self,
        reference: &Reference<'_>,
        siblings: &Siblings<'_>,
        used: &BTreeSet<usize>,
    ) -> Option<Finding> {
        let from = &self.objects[reference.from];
        let name: &str = reference.name.value.as_str()?;
        let own_variables = variables(name);
        let mut others = siblings.variables.iter();
        let may_be_one = siblings.may_be_renamed || others.any(|other| *other != own_variables);
        // What an API server printed refers to what it has.
        let is_printed = from.node.get_path(&["metadata", "uid"]).is_some();
        // A patch is looked at as a part of what it is applied to.
        let is_other = is_printed || from.is_patch || !is_of_cluster_api(from, reference);
        if reference.to.is_some() || may_be_one || is_other {
            return None;
        }
        let same = siblings.by_name.get(&remove_spaces(name));
        let same = same.map(|same| &self.objects[*same]);
        if same.is_some_and(|same| &*same.name != name) {
            return None;
        }
        let message = format!(
            "{} `{}` refers to {} `{name}`, which is not there",
            from.kind, from.name, reference.kind
        );
        let subject = Subject {
            cluster: from.cluster_name().map(str::to_owned),
            pool: is_pool(from).then(|| pool_name(from).to_string()),
            image: None,
        };
        let finding = Finding::new(RuleId::ReferenceDangling, message)
            .with_subject(subject)
            .with_label(from.spot(reference.name.place), "");
        if let Some(same) = same {
            let target = reference.target().map(|target| Name {
                group: None,
                ..target
            });
            let nearest = target.and_then(|target| self.names.nearest(target, reference.from));
            let same = nearest.map_or(same, |nearest| &self.objects[nearest]);
            let group = same.group();
            let label = format!("this one is of the group `{group}`");
            let is_known = |group: &str| group.ends_with(CLUSTER_API);
            let meant = reference
                .group
                .filter(|meant| is_known(meant) && !is_known(group));
            return Some(
                finding
                    .with_label(same.name_spot(), label)
                    .help(match meant {
                        Some(meant) => format!("write the group `{meant}` in its `apiVersion`"),
                        None => {
                            format!("write `apiGroup: {group}`, or the same group in `apiVersion`")
                        }
                    }),
            );
        }
        // What another object has, or another number means, is never advised.
        let is_free = |(near, index): &(&Cow<'_, str>, &usize)| {
            !used.contains(index) && digits(near).eq(digits(name))
        };
        let free = || siblings.by_name.iter().filter(is_free);
        let names = || free().map(|(name, _)| &**name).take(MOST_NEAR);
        let only = names().next().filter(|_| siblings.by_name.len() == 1);
        let Some(meant) = did_you_mean(name, names()).or(only) else {
            return Some(finding.help("name a template that is there, or add it"));
        };
        let meant = &self.objects[siblings.by_name[meant]];
        Some(finding.help(if is_written(meant, name) {
            format!(
                "`namePrefix` or `nameSuffix` makes `{}` of it and leaves this reference: list its field under `nameReference`, in a \
                 file of `configurations`",
                meant.name
            )
        } else {
            format!("write `name: {}`", meant.name)
        }))
    }
}

/// Whether the file of an object calls it so, before a kustomization renames it.
fn is_written(object: &ManifestObject, name: &str) -> bool {
    let written = |spot: Spot| {
        let text = spot.source.text.get(spot.start as usize..spot.end as usize);
        text.is_some_and(|text| text.trim_matches(['"', '\'']) == name)
    };
    object.name_spot().is_some_and(written)
}

/// Whether an object of Cluster API refers to another one. What other objects refer to may be kept anywhere.
fn is_of_cluster_api(from: &ManifestObject, reference: &Reference<'_>) -> bool {
    // Misspelled groups of providers contain it too.
    let is_own = |group: &str| group.contains(CLUSTER_API);
    let group = from.group();
    let is_owner = reference.steps.contains(&Step::from("ownerReferences"));
    let is_template = reference.kind.ends_with("Template");
    is_own(group) && reference.group.map_or(is_template, is_own) && !is_owner
}

/// The variables of a name, `${NAME}` and `{{ … }}`, as they are written but for spaces; nothing of a plain name.
fn variables(name: &str) -> Vec<&str> {
    let after = name.split("${").skip(1).chain(name.split("{{").skip(1));
    let inside = after.map(|rest| rest.split('}').next().unwrap_or(rest));
    inside.map(str::trim).collect()
}

fn digits(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_digit)
}

fn remove_spaces(name: &str) -> Cow<'_, str> {
    if name.contains(' ') {
        name.replace(' ', "").into()
    } else {
        name.into()
    }
}
