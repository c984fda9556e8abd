//! The component bundles of a catalog with their references and facts.

use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use oci_artifacts::{Address, Digest, Reference, SCHEME};
use yaml_tree::place::{Located, Place};

use super::{Problem, learn_from};
use crate::catalog::sources::ImageSource;
use crate::decide::component_choice::find_by_reference;
use crate::decide::identity::find_image;
use crate::error::Error;
use crate::model::catalog::{Catalog, CatalogEntry};
use crate::model::cluster::Cluster;
use crate::model::name::key_of;
use crate::model::version::Version;

/// What entries call facts that have another name here.
const NAMES: [(&str, &str); 5] = [
    ("k8s_flavor", fact::K8S_FLAVOR),
    ("k8s_version", fact::K8S_VERSION),
    ("ref", fact::URI),
    ("env_declared", "env"),
    ("env_required", "env-required"),
];

/// Expands `component_bundles`.
///
/// # Errors
/// A source cannot be read.
pub(super) fn bundles(
    catalog: &Catalog,
    sources: &[Box<dyn ImageSource>],
    problems: &mut Vec<Problem>,
) -> Result<Images, Error> {
    let mut bundles = Images::new();
    for entry in &catalog.bundles {
        let bundle = bundle(entry, problems);
        bundles.insert(Arc::clone(&bundle.key), bundle);
    }
    for source in sources {
        learn_from(&**source, &mut bundles, problems)?;
    }
    Ok(bundles)
}

/// The bundles with those that pools name by a reference that no entry has: each says of itself what its tag and its artifact say.
///
/// # Errors
/// A source cannot be read.
pub(super) fn add_referenced(
    bundles: &Arc<Images>,
    cluster: &Cluster,
    sources: &[Box<dyn ImageSource>],
    problems: &mut Vec<Problem>,
) -> Result<Arc<Images>, Error> {
    let mut referenced = Images::new();
    for key in cluster
        .pools
        .iter()
        .filter_map(|pool| pool.bundle.explicit_key())
    {
        let is_known = find_image(&key.value, bundles).is_some()
            || find_by_reference(&key.value, bundles).is_some();
        let reference = Reference::parse(&key.value).ok();
        let reference = reference.filter(|it| it.tag.is_some() || it.digest.is_some());
        if let Some(reference) = reference.filter(|_| !is_known) {
            let bundle = bundle_by_reference(&reference, key.place);
            referenced.entry(Arc::clone(&bundle.key)).or_insert(bundle);
        }
    }
    if referenced.is_empty() {
        return Ok(Arc::clone(bundles));
    }
    for source in sources {
        learn_from(&**source, &mut referenced, problems)?;
    }
    referenced.extend(
        bundles
            .iter()
            .map(|(key, bundle)| (Arc::clone(key), bundle.clone())),
    );
    Ok(Arc::new(referenced))
}

/// The bundle of a reference. Its tag is a name: one that is a whole Kubernetes version holds it until the artifact says more.
fn bundle_by_reference(reference: &Reference, place: Place) -> Image {
    let uri = reference.to_string();
    let name = uri.trim_start_matches(SCHEME);
    let version = tag_version(reference).map(|version| (fact::K8S_VERSION, version, place));
    Image {
        key: key_of(name).unwrap_or_else(|_| name.into()),
        name: name.into(),
        artifact: name.into(),
        place,
        uri: Some(Located::new(Address::new(&*uri), place)),
        digest: None,
        pulled: None,
        facts: Facts::new(Origin::Tag, version),
        enabled: None,
        built: false,
        list: "component_bundles",
        registry: None,
    }
}

/// The version that the tag of a bundle is, if it is a whole one of Kubernetes.
fn tag_version(reference: &Reference) -> Option<String> {
    let text = reference.tag.as_deref()?.replace('_', "+");
    let version = Version::parse(&text).filter(|version| !version.is_partial());
    version.map(|_| text.trim_start_matches('v').to_owned())
}

fn bundle(entry: &CatalogEntry, problems: &mut Vec<Problem>) -> Image {
    let name = &entry.name.value;
    let key = key_of(name).unwrap_or_else(|_| Arc::clone(name));
    let mut facts = facts(entry);
    let uri = reference(&facts, entry);
    if let Some(uri) = uri
        .as_ref()
        .filter(|_| facts.get(fact::K8S_VERSION).is_none())
    {
        let tagged = Reference::parse(&uri.value).ok();
        if let Some(version) = tagged.and_then(|it| tag_version(&it)) {
            let fact = Fact::new(version, Origin::Tag, uri.place);
            facts.learn(fact::K8S_VERSION, fact);
        }
    }
    if uri.is_none() {
        problems.push(Problem::NoReference {
            key: Arc::clone(&key),
            place: entry.place,
            reason: format!("`{name}` of `component_bundles` has no `uri`"),
        });
    }
    Image {
        key,
        name: Arc::clone(name),
        artifact: Arc::clone(name),
        place: entry.place,
        uri,
        digest: None,
        pulled: None,
        facts,
        enabled: None,
        built: false,
        list: "component_bundles",
        registry: None,
    }
}

fn facts(entry: &CatalogEntry) -> Facts {
    let facts = entry.properties.iter().map(|(name, written)| {
        let known = NAMES.iter().find(|(theirs, _)| **name == **theirs);
        let name = known.map_or(&**name, |(_, ours)| ours);
        let value = match name {
            fact::K8S_VERSION => written.value.strip_prefix('v').map(Arc::from),
            _ => None,
        };
        let value = value.unwrap_or_else(|| Arc::clone(&written.value));
        (name, value, written.place)
    });
    Facts::new(Origin::Values, facts)
}

/// The reference, with the scheme that the proposal leaves out and the digest beside it.
fn reference(facts: &Facts, entry: &CatalogEntry) -> Option<Located<Address>> {
    let uri = facts.text(fact::URI).filter(|uri| !uri.is_empty())?;
    let schemed = if uri.contains("://") {
        uri.to_owned()
    } else {
        format!("oci://{uri}")
    };
    let digest = facts.text("digest").filter(|_| !schemed.contains('@'));
    let digest = digest.filter(|digest| Digest::parse(digest).is_ok());
    let whole = match digest {
        Some(digest) => format!("{schemed}@{digest}"),
        None => schemed,
    };
    Some(Located::new(Address::new(whole), entry.place))
}

#[cfg(test)]
mod tests {
    use super::bundles;
    use crate::model::catalog::{Catalog, CatalogEntry};
    use capi::image::fact;
    use yaml_tree::place::{Located, Place};

    fn catalog(properties: &[(&str, &str)]) -> Catalog {
        let located = |text: &str| Located::new(text.into(), Place::NONE);
        let properties = properties.iter();
        Catalog {
            bundles: vec![CatalogEntry {
                name: located("rke2-1.31"),
                built: false,
                list: "component_bundles",
                registry: None,
                enabled: None,
                default_enabled: None,
                properties: properties
                    .map(|(name, value)| ((*name).into(), located(value)))
                    .collect(),
                mistyped: Vec::new(),
                place: Place::NONE,
            }],
            ..Catalog::default()
        }
    }

    #[test]
    fn an_entry_has_a_reference_with_scheme_and_digest() {
        let digest = format!("sha256:{}", "0".repeat(64));
        let entry = [
            ("ref", "registry.suse.com/bundles/rke2:v1.26.7"),
            ("digest", &digest),
            ("k8s_version", "v1.26.7+rke2r1"),
            ("env.A", "1"),
        ];
        let mut problems = Vec::new();
        let found = bundles(&catalog(&entry), &[], &mut problems).expect("no source");
        let bundle = &found["rke2-1-31"];
        let uri = bundle.uri.as_ref().map(|uri| uri.value.to_string());
        let wanted = format!("oci://registry.suse.com/bundles/rke2:v1.26.7@{digest}");
        assert_eq!(uri, Some(wanted));
        assert_eq!(bundle.facts.text(fact::K8S_VERSION), Some("1.26.7+rke2r1"));
        assert_eq!(bundle.facts.text("env.A"), Some("1"));
        assert_eq!(problems, []);
    }

    #[test]
    fn one_without_a_reference_is_reported() {
        let mut problems = Vec::new();
        let found = bundles(&catalog(&[]), &[], &mut problems).expect("no source");
        assert_eq!(found["rke2-1-31"].uri, None);
        assert_eq!(problems.len(), 1);
    }
}
