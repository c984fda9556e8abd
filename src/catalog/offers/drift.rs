//! A catalog against what is offered.

use std::collections::BTreeSet;

use crate::decide::successor::{same_line, successor};

use super::Offer;

/// What has to change for a catalog to list exactly what is offered.
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
    /// The entry of the old catalog that it goes behind and is written like: the last of its line, else of all.
    pub behind: Option<String>,
}

impl Drift {
    /// Whether the catalog lists what is offered.
    pub fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    /// The entries that are not offered.
    pub fn list_gone(&self) -> impl Iterator<Item = &str> {
        let renamed = self.renamed.iter().map(|(old, _)| old);
        renamed.chain(&self.removed).map(String::as_str)
    }

    /// Adds what changes in other entries.
    pub fn extend(&mut self, other: Self) {
        self.renamed.extend(other.renamed);
        self.added.extend(other.added);
        self.removed.extend(other.removed);
    }
}

/// What to do to a catalog, in the order of its entries, some of which are not to be touched: those that an expression
/// names. Names become those that the images are offered under.
pub fn drift(listed: &[&str], untouched: &BTreeSet<String>, offer: &Offer) -> Drift {
    let key = |name: &str| name.replace('.', "-");
    let known: BTreeSet<String> = listed.iter().map(|name| key(name)).collect();
    let is_new = |name: &&String| !known.contains(*name) && !untouched.contains(*name);
    let mut new: BTreeSet<&str> = offer
        .images
        .keys()
        .filter(is_new)
        .map(String::as_str)
        .collect();
    let mut drift = Drift::default();
    let is_offered = |name: &str| offer.images.contains_key(&key(name));
    for name in listed.iter().filter(|name| !is_offered(name)) {
        match successor(name, new.iter().copied()) {
            Some(next) => {
                new.remove(next);
                let next = offer.name(next, name).to_owned();
                drift.renamed.push(((*name).to_owned(), next));
            }
            None => drift.removed.push((*name).to_owned()),
        }
    }
    let behind = |name: &str| {
        let mut backwards = listed.iter().rev();
        let of_line = backwards.find(|listed| same_line(listed, name));
        of_line.or(listed.last()).copied()
    };
    drift.added = new
        .into_iter()
        .map(|name| {
            let behind = behind(name);
            Added {
                name: offer.name(name, behind.unwrap_or(name)).to_owned(),
                behind: behind.map(str::to_owned),
            }
        })
        .collect();
    drift
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::Offer;
    use proptest::prelude::{prop, prop_assert_eq, proptest};

    use super::Added;

    const LISTED: [&str; 4] = [
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-30-12",
        "opensuse-15-6-plain-rke2-1-31-8",
        "ubuntu-noble-plain-rke2-1-29-15",
    ];

    fn offered(names: &[&str]) -> Offer {
        let image = |name: &&str| (name.replace('.', "-"), [(*name).to_owned()].into());
        Offer {
            images: names.iter().map(image).collect(),
            ..Offer::default()
        }
    }

    fn drift(listed: &[&str], offer: &Offer) -> super::Drift {
        super::drift(listed, &BTreeSet::new(), offer)
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
    fn names_are_those_that_images_are_offered_under() {
        let offer = offered(&[
            "ubuntu-noble-plain-rke2-1.31.9",
            "ubuntu-noble-plain-rke2-1.32.5",
        ]);
        let drift = drift(&LISTED[..1], &offer);
        let renamed = (LISTED[0].into(), "ubuntu-noble-plain-rke2-1.31.9".into());
        assert_eq!(drift.renamed, [renamed]);
        assert_eq!(drift.added[0].name, "ubuntu-noble-plain-rke2-1.32.5");
    }

    #[test]
    fn an_entry_that_an_expression_names_is_not_added_again() {
        let untouched = BTreeSet::from([LISTED[0].to_owned()]);
        assert!(super::drift(&[], &untouched, &offered(&LISTED[..1])).is_empty());
    }

    #[test]
    fn a_catalog_that_lists_what_is_offered_stays() {
        assert!(drift(&LISTED, &offered(&LISTED)).is_empty());
    }

    proptest! {
        #[test]
        fn the_changes_lead_to_what_is_offered(
            listed in prop::collection::btree_set("ubuntu-(noble|jammy)-plain-rke2-1-3[01]-[0-9]", 0..6),
            wanted in prop::collection::btree_set("ubuntu-(noble|jammy)-plain-rke2-1-3[01]-[0-9]", 0..6),
        ) {
            let names: Vec<&str> = listed.iter().map(String::as_str).collect();
            let all: Vec<&str> = wanted.iter().map(String::as_str).collect();
            let drift = drift(&names, &offered(&all));
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
