//! A catalogue against what is offered.

use std::collections::BTreeSet;

use crate::model::successor::{same_line, successor};

/// What has to change for a catalogue to list exactly what is offered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drift {
    /// Entries that take the name of their successor, and keep place and properties.
    pub renamed: Vec<(String, String)>,
    /// New entries.
    pub added: Vec<Added>,
    /// Entries that go, with nothing in their place.
    pub removed: Vec<String>,
}

/// A new entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Added {
    /// Its key.
    pub name: String,
    /// The entry of the old catalogue that it goes behind and is written like: the last of its line, else of all.
    pub behind: Option<String>,
}

impl Drift {
    /// Whether the catalogue lists what is offered.
    pub fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }
}

/// What to do to a catalogue, in the order of its entries.
pub fn drift(listed: &[&str], offered: &BTreeSet<String>) -> Drift {
    let key = |name: &str| name.replace('.', "-");
    let known: BTreeSet<String> = listed.iter().map(|name| key(name)).collect();
    let mut new: BTreeSet<&str> = offered
        .iter()
        .filter(|name| !known.contains(*name))
        .map(String::as_str)
        .collect();
    let mut drift = Drift::default();
    for name in listed.iter().filter(|name| !offered.contains(&key(name))) {
        match successor(name, new.iter().copied()) {
            Some(next) => {
                new.remove(next);
                drift.renamed.push(((*name).to_owned(), next.to_owned()));
            }
            None => drift.removed.push((*name).to_owned()),
        }
    }
    let behind = |name: &str| {
        let mut backwards = listed.iter().rev();
        let of_line = backwards.find(|listed| same_line(listed, name));
        of_line.or(listed.last()).map(|name| (*name).to_owned())
    };
    drift.added = new
        .into_iter()
        .map(|name| Added {
            name: name.to_owned(),
            behind: behind(name),
        })
        .collect();
    drift
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::{Added, drift};

    const LISTED: [&str; 4] = [
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-30-12",
        "opensuse-15-6-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-29-15",
    ];

    fn offered(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn successors_take_the_place_of_those_that_go() {
        let drift = drift(
            &LISTED,
            &offered(&[
                "ubuntu-noble-plain-rke2-1-31-9",
                "ubuntu-noble-plain-rke2-1-30-12",
                "ubuntu-noble-plain-rke2-1-32-5",
                "opensuse-15-6-plain-rke2-1-31-8",
                "debian-trixie-plain-rke2-1-32-5",
            ]),
        );
        let line = (LISTED[0].into(), "ubuntu-noble-plain-rke2-1-31-9".into());
        assert_eq!(drift.renamed, [line]);
        assert_eq!(drift.removed, [LISTED[3]]);
        let added = |name: &str, behind: &str| Added {
            name: name.into(),
            behind: Some(behind.into()),
        };
        assert_eq!(
            drift.added,
            [
                added("debian-trixie-plain-rke2-1-32-5", LISTED[3]),
                added("ubuntu-noble-plain-rke2-1-32-5", LISTED[3]),
            ]
        );
    }

    #[test]
    fn a_catalogue_that_lists_what_is_offered_stays() {
        assert!(drift(&LISTED, &offered(&LISTED)).is_empty());
    }

    proptest! {
        #[test]
        fn the_changes_lead_to_what_is_offered(
            listed in prop::collection::btree_set("ubuntu-(noble|jammy)-plain-rke2-1-3[01]-[0-9]", 0..6),
            wanted in prop::collection::btree_set("ubuntu-(noble|jammy)-plain-rke2-1-3[01]-[0-9]", 0..6),
        ) {
            let names: Vec<&str> = listed.iter().map(String::as_str).collect();
            let drift = drift(&names, &wanted);
            let mut after = listed.clone();
            for (old, new) in &drift.renamed {
                assert!(after.remove(old) && after.insert(new.clone()));
            }
            for old in &drift.removed {
                assert!(after.remove(old));
            }
            after.extend(drift.added.into_iter().map(|added| added.name));
            prop_assert_eq!(after, wanted);
        }
    }
}
