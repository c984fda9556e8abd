//! Edits that would repair a cluster, and how they are written in values.

use std::collections::BTreeSet;
use std::sync::Arc;

use capi::image::{Fact, Image, ImageKey, RECORDS, fact};
use yaml_tree::place::Located;

use crate::decide::matching::REGISTRY_KEY;
use crate::decide::plan::cluster_let_in;
use crate::decide::replacement::version_obstacle;
use crate::model::cluster::{Choice, LevelName, MappedVersion, Pool};
use crate::model::fix::Fix;
use crate::model::proposal::{Proposal, ProposedChange};
use crate::model::version::{Version, flavor_of};
use crate::model::written::record_word;

use super::ClusterInput;

impl ClusterInput<'_> {
    /// The level where a pool's image is to be named: where it is named now, unless pools that run another version inherit that.
    fn key_level(&self, pool: &Pool) -> LevelName {
        let cluster = &self.view.cluster;
        let level = cluster.writer(pool, |choice| choice.key.is_some());
        if level == pool.name.level() {
            return level;
        }
        let version = |pool| cluster.k8s_version_of(pool).map(|version| &version.value);
        let runs_another = |other: &usize| version(&cluster.pools[*other]) != version(pool);
        let key = |choice: &Choice| choice.key.is_some();
        if cluster.inheriting(&level, key).iter().any(runs_another) {
            pool.name.level()
        } else {
            level
        }
    }

    /// That a pool takes the image of a key. `is_fix` makes it an edit of the file, where the line is the one that is there and
    /// no other cluster shares it.
    pub fn propose_key(&self, pool: &Pool, key: &ImageKey, is_fix: bool) -> Proposal {
        let image = self
            .view
            .images
            .get(key)
            .filter(|_| self.view.lock.is_some());
        let then = if image.is_some_and(|image| self.could_lock(image)) {
            ", then run `metalmark lock`"
        } else {
            ""
        };
        let level = self.key_level(pool);
        let name = self.view.catalog_name(key);
        let path = level.path(self.infra()).join(".");
        let line = format!("{path}.{}: {name}", pool.choice.key_name);
        let writer = self
            .view
            .cluster
            .writer(pool, |choice| choice.key.is_some());
        let is_there = level == writer;
        let current = pool.choice.key.as_ref().filter(|_| is_fix && is_there);
        Proposal {
            text: format!("`{line}`{then}"),
            fix: current.and_then(|current| {
                Fix::replace(self.spot(current.place), &current.value, name, line)
            }),
            change: ProposedChange::ImageKey {
                level,
                key: Arc::clone(key),
            },
        }
    }

    /// That a pool's selector requires a value of a fact: at the level that `at` accepts, else at
    /// the pool's own.
    pub fn propose_term(
        &self,
        pool: &Pool,
        fact: &str,
        value: &str,
        at: impl Fn(&Choice) -> bool,
    ) -> Proposal {
        let level = self.view.cluster.writer(pool, at);
        let path = level.path(self.infra()).join(".");
        Proposal {
            text: format!("`{path}.os_image_selector.{}`", exact_term(fact, value)),
            change: ProposedChange::Term {
                level,
                fact: fact.into(),
                pattern: Some(exact_pattern(value).into()),
            },
            fix: None,
        }
    }

    /// Whether an entry of the map of Kubernetes versions gives the cluster's, or is what the cluster or a pool writes itself.
    pub fn runs(&self, entry: &MappedVersion) -> bool {
        let cluster = &self.view.cluster;
        let written = self.spot(entry.version.place);
        let is_own =
            |own: &Located<Arc<str>>| written.is_some() && own.place == entry.version.place;
        let is_mapped = |current: &Located<Arc<str>>| {
            let spot = self.spot(current.place);
            current.value == entry.version.value
                && Fix::replace(spot, &current.value, "", "").is_none()
        };
        let current = cluster.k8s_version.as_ref();
        let mut of_pools = cluster
            .pools
            .iter()
            .filter_map(|pool| pool.k8s_version.as_ref());
        current.is_some_and(|current| is_own(current) || is_mapped(current)) || of_pools.any(is_own)
    }

    /// The images that an entry is compared with: where the cluster runs it, those that its choices let in by their registry.
    pub fn let_in(&self, entry: &MappedVersion) -> Option<BTreeSet<ImageKey>> {
        cluster_let_in(self.view).filter(|_| self.runs(entry))
    }

    /// The edit that gives an entry another version.
    pub fn fix_mapped_version(&self, entry: &MappedVersion, version: &str) -> Option<Fix> {
        let (current, spot) = (&entry.version.value, self.spot(entry.version.place));
        let text = format!("{}: {version}", entry.path);
        let whole = Fix::replace(spot.clone(), current, version, &*text);
        whole.or_else(|| Fix::replace_within(spot, current, entry.occurrence, version, &*text))
    }

    /// That an entry of the map of Kubernetes versions is the one that images hold, where the law of replacements allows it, no image
    /// holds what the entry says, and none of the builder's for the cluster and that minor holds a third version.
    pub fn propose_mapped_version(&self, entry: &MappedVersion, held: &str) -> Option<Proposal> {
        let current = &entry.version.value;
        let next = Version::parse(held)?;
        if self.find_preventing_image(entry, held).is_some()
            || version_obstacle(current, held).is_some()
        {
            return None;
        }
        let version = like(current, &next);
        let fix = self.fix_mapped_version(entry, &version);
        // A literal in an expression's place would be the version of every bootstrap provider.
        let text = match &fix {
            Some(fix) if fix.within.is_some() => format!(
                "within the expression of `{}`: `{current}` → `{version}`",
                entry.path
            ),
            Some(fix) => format!("`{}`", fix.text),
            None => format!(
                "the expression of `{}` is to give `{version}` instead of `{current}`",
                entry.path
            ),
        };
        Some(Proposal {
            text,
            fix,
            change: ProposedChange::K8sVersion(version.into()),
        })
    }

    /// Whether these images, or all, have another one of a builder's image's flavor and minor version that the builder released later:
    /// what clusters with another map boot. Two builders may have one address, and each has a value with its version.
    pub fn is_superseded(&self, image: &Image, let_in: Option<&BTreeSet<ImageKey>>) -> bool {
        let line = |image: &Image| {
            let version = Version::parse(image.facts.text(fact::K8S_VERSION)?)?;
            let flavor = image.facts.text(fact::K8S_FLAVOR)?.to_owned();
            Some((flavor, version.major, version.minor))
        };
        let release = |image: &Image| {
            let uri = image.uri.as_ref().filter(|_| image.built)?.value.text();
            let (builder, name) = uri.rsplit_once('/')?;
            let (_, tag) = name.split_once(':')?;
            Some((builder.to_owned(), Version::parse(tag)?))
        };
        let value = |image: &Image| {
            let registry = self.view.registries.get(image.registry.as_ref()?)?;
            Some(&registry.tag_value.as_ref()?.value)
        };
        let Some((builder, tag)) = release(image) else {
            return false;
        };
        let is_other = |other: &Image| {
            let mut values = value(image).into_iter().zip(value(other));
            values.any(|(one, other)| one != other)
        };
        let is_later = |other: &Image| {
            let_in.is_none_or(|keys| keys.contains(&other.key))
                && release(other).is_some_and(|it| it.0 == builder && it.1 > tag)
                && line(other) == line(image)
                && !is_other(other)
        };
        self.view.images.values().any(is_later)
    }

    /// An image that keeps an entry of the map from moving to a version: it holds the version that the entry has, or a third one.
    pub fn find_preventing_image(&self, entry: &MappedVersion, held: &str) -> Option<&Image> {
        let (is, next) = (Version::parse(&entry.version.value)?, Version::parse(held)?);
        let minor = Version::parse(&entry.minor)?;
        let provider = self.view.cluster.bootstrap_provider.as_ref();
        let flavor = provider.and_then(|provider| flavor_of(&provider.value));
        let let_in = self.let_in(entry);
        let prevents = |image: &&Image| {
            let version = image.facts.text(fact::K8S_VERSION);
            let version = version.and_then(Version::parse);
            let of = image.facts.text(fact::K8S_FLAVOR);
            // What a chart lists of other releases is booted by clusters with other maps.
            let is_of_map = image.built || image.facts.get(REGISTRY_KEY).is_none();
            let is_let_in = let_in.as_ref().is_none_or(|keys| keys.contains(&image.key));
            let is_alike = image.built && of == flavor;
            version.is_some_and(|version| {
                let is_third = is_alike && minor.admits(&version) && !version.admits(&next);
                let is_kept = is_of_map && version == is && (of.is_none() || of == flavor);
                (is_kept || is_third)
                    && (is_let_in || !image.built)
                    && !self.is_superseded(image, let_in.as_ref())
            })
        };
        self.view.images.values().find(prevents)
    }

    /// That the cluster runs the Kubernetes version of a fact, where the law of replacements allows it and more than a name
    /// gives the version.
    pub fn propose_version(&self, pool: &Pool, held: &Fact) -> Option<Proposal> {
        let current = self.view.cluster.k8s_version.as_ref()?;
        let is_allowed = pool.k8s_version.is_none()
            && !held.origin.is_name()
            && version_obstacle(&current.value, &held.value).is_none();
        if !is_allowed {
            return None;
        }
        let (mapped, version) = (
            &self.view.cluster.k8s_versions,
            Version::parse(&held.value)?,
        );
        let of_minor = |entry: &&MappedVersion| {
            let minor = Version::parse(&entry.minor);
            minor.is_some_and(|minor| minor.admits(&version))
        };
        let is_mapped = mapped.iter().any(|entry| self.runs(entry));
        let entry = mapped.iter().find(of_minor);
        if let Some(entry) = entry.filter(|entry| self.runs(entry)) {
            return self.propose_mapped_version(entry, &held.value);
        }
        let version = like(&current.value, &version);
        // A literal would take the cluster out of the map.
        let edit = if is_mapped {
            let entry = entry.filter(|entry| *entry.version.value == *version)?;
            self.view.cluster.k8s_minor.as_ref()?;
            format!("`k8s_version_short: \"{}\"`", entry.minor)
        } else {
            format!("`cluster.k8s_version: {version}`")
        };
        (*version != *current.value).then(|| Proposal {
            text: edit,
            change: ProposedChange::K8sVersion(version.into()),
            fix: None,
        })
    }
}

/// A version written as another one is: with a `v`, or without.
pub(super) fn like(written: &str, version: &Version) -> String {
    let v = if written.starts_with('v') { "v" } else { "" };
    format!("{v}{version}")
}

/// The values' path of the catalog's entry of an image, as the user wrote it.
pub fn entry_path(image: &Image) -> String {
    format!("{}.{}", image.list, image.name)
}

/// The path of a fact of an image, where the user writes it: in the entry of the values, else in a record of the project file. Of
/// the file at a location that says something of its own, the location has it.
pub(super) fn fact_path(image: &Image, fact: &str) -> String {
    let is_of_file = fact::OF_FILE.contains(&fact) || fact::DIGESTS.contains(&fact);
    let location = image.facts.location().filter(|_| is_of_file);
    let location = location.map_or(String::new(), |location| format!(".locations.{location}"));
    let word = if image.list == RECORDS {
        record_word(fact)
    } else {
        fact
    };
    format!("{}{location}.{word}", entry_path(image))
}

/// The edit that states a fact of an image.
pub(super) fn fact_edit(image: &Image, fact: &str, value: &str) -> String {
    let edit = format!("`{}: {value}`", fact_path(image, fact));
    if image.list == RECORDS {
        edit + " in metalmark.yaml"
    } else {
        edit
    }
}

/// The pattern that matches this value and no other.
pub fn exact_pattern(value: &str) -> String {
    let escaped = value.chars().flat_map(|letter| {
        let literal = letter.is_alphanumeric() || matches!(letter, '-' | '_' | '/' | ':' | ' ');
        (!literal).then_some('\\').into_iter().chain([letter])
    });
    escaped.collect()
}

/// A selector's term that matches this value and no other, to be pasted into YAML.
pub(super) fn exact_term(fact: &str, value: &str) -> String {
    let pattern = exact_pattern(value);
    let is_plain = pattern.starts_with(|first: char| first.is_ascii_alphabetic())
        && pattern
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'))
        && !matches!(
            &*pattern.to_ascii_lowercase(),
            "y" | "n" | "yes" | "no" | "on" | "off" | "null"
        );
    if is_plain {
        format!("{fact}: {pattern}")
    } else {
        format!("{fact}: '{}'", pattern.replace('\'', "''"))
    }
}

#[cfg(test)]
mod tests {
    use super::exact_term;
    use crate::model::rule::RuleId;
    use crate::testing::Given;

    /// The help for an image of another version.
    const ID: RuleId = RuleId::K8sVersionMismatch;

    #[test]
    fn an_image_that_is_not_locked_yet_is_to_be_locked() {
        let mut given = Given::new();
        for (key, version) in [("old", "1.30.12+rke2r1"), ("new", "1.31.8+rke2r1")] {
            given.image(key, &[("k8s-version", version), ("k8s-flavor", "rke2")]);
        }
        given.boots("old");
        given.view.lock = Some(Default::default());
        let help = "help: `cluster.capm3.image_key: new`, then run `metalmark lock`\n";
        let found = given.found(ID);
        assert!(found.contains(help), "{found}");
    }

    #[test]
    fn a_clusters_version_follows_no_pools_own_and_no_mere_name() {
        let proposed = |fact: &str, own: Option<&str>| {
            let mut given = Given::new();
            let facts = [(fact, "1.32.1+rke2r1"), ("k8s-flavor", "rke2")];
            given.image("noble", &facts);
            let own = own.map(|own| given.line("k8s_version", own));
            given.view.cluster.pools[0].k8s_version = own;
            given.boots("noble");
            let found = given.found(ID);
            assert!(found.contains("`noble` holds Kubernetes"), "{found}");
            found.contains("`cluster.k8s_version: v1.32.1+rke2r1`")
        };
        assert!(proposed("k8s-version", None));
        assert!(!proposed("k8s-version", Some("v1.31.9+rke2r1")));
        assert!(!proposed("name!k8s-version", None));
    }

    #[test]
    fn a_term_matches_its_value_alone() {
        assert_eq!(exact_term("os", "ubuntu"), "os: ubuntu");
        assert_eq!(exact_term("os-release", "15.6"), r"os-release: '15\.6'");
        assert_eq!(
            exact_term("k8s-version", "1.31.8+rke2r1"),
            r"k8s-version: '1\.31\.8\+rke2r1'"
        );
        assert_eq!(exact_term("hardened", "true"), "hardened: true");
        assert_eq!(exact_term("os", "on"), "os: 'on'");
        assert_eq!(exact_term("os", "No"), "os: 'No'");
        assert_eq!(exact_term("os", "it's"), r"os: 'it\''s'");
    }
}
