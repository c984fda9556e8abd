//! Sorts the bundles of an index: each after the bundles that it requires.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use yaml_tree::place::Place;
use yaml_tree::suggest::did_you_mean;

use super::written::{Child, Index};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

/// The places of bundles, by name.
type Places = BTreeMap<Arc<str>, usize>;

impl Index {
    /// The bundles by number, each behind those that it requires, else as they are written. What is missing or goes in a circle is
    /// a finding, and left out.
    pub(super) fn order(&mut self) -> Vec<usize> {
        let needs = self.needs();
        let (mut order, mut done) = (Vec::new(), BTreeSet::new());
        while order.len() < self.children.len() {
            let is_next = |at: &usize| !done.contains(at) && needs[*at].is_subset(&done);
            let Some(next) = (0..self.children.len()).find(is_next) else {
                break;
            };
            done.insert(next);
            order.push(next);
        }
        let rest: Vec<&Child> = (0..self.children.len())
            .filter(|at| !done.contains(at))
            .map(|at| &self.children[at])
            .collect();
        if let Some(first) = rest.first() {
            let names: Vec<String> = rest
                .iter()
                .map(|child| format!("`{}`", child.name))
                .collect();
            let message = format!(
                "the bundles {} require each other in a circle, or what does",
                names.join(", ")
            );
            let place = first
                .requires
                .first()
                .map_or(first.from_place, |(_, place)| *place);
            let finding =
                Finding::new(RuleId::BundleCycle, message).with_label(self.spot(place), "");
            self.findings.push(finding);
        }
        order
    }

    /// What each bundle requires of the others.
    fn needs(&mut self) -> Vec<BTreeSet<usize>> {
        let children = self.children.iter().enumerate();
        let places: Places = children
            .map(|(at, child)| (Arc::clone(&child.name), at))
            .collect();
        let (mut needs, mut found) = (Vec::new(), Vec::new());
        for child in &self.children {
            let mut own = BTreeSet::new();
            for (name, place) in &child.requires {
                match places.get(name) {
                    Some(needed) => {
                        own.insert(*needed);
                    }
                    None if self.provided.contains(name) => {}
                    None => found.push(self.missing(child, name, *place, &places)),
                }
            }
            needs.push(own);
        }
        self.findings.append(&mut found);
        needs
    }

    fn missing(&self, child: &Child, name: &str, place: Place, known: &Places) -> Finding {
        let message = format!(
            "`{}` requires `{name}`, which the index does not name",
            child.name
        );
        let finding =
            Finding::new(RuleId::DependencyMissing, message).with_label(self.spot(place), "");
        match did_you_mean(name, known.keys().map(|name| &**name)) {
            Some(near) => finding.help(format!("did you mean `{near}`?")),
            None => finding.help(format!(
                "add the bundle, or `provided: [{name}]` where somebody else installs it"
            )),
        }
    }
}
