//! The project file's `registries:` → how registries are queried.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oci_artifacts::registries::{CONCURRENCY, Host, Mirror, RegistrySettings};
use oci_artifacts::{Platform, Reference, RegistryName, SCHEME};
use yaml_tree::place::Spot;

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::places::Places;
use super::project::{HostOptions, RegistryOptions};

/// The prefix of the folder of an image layout.
const LAYOUT: &str = "oci-layout:";

/// More requests at once only make registries refuse them.
const MOST_AT_ONCE: u32 = 256;

/// The settings. What is wrong is left out; a caller that queries a registry must read the findings
/// first, for a mirror left out means that the registry itself would be queried.
pub(super) fn registries(
    root: &Path,
    written: &RegistryOptions,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> RegistrySettings {
    let mirrors = mirrors(&written.mirrors, places, findings);
    let signed_as = signing_prefixes(&written.signed_as, places, findings);
    let hosts = hosts(root, &written.hosts, places, findings);
    let concurrency = written.concurrency.unwrap_or(CONCURRENCY as u32);
    if !(1..=MOST_AT_ONCE).contains(&concurrency) {
        let message = format!("`concurrency` is from 1 to {MOST_AT_ONCE}, not {concurrency}");
        findings.push(places.finding(message, &["registries", "concurrency"]));
    }
    let usual = Platform::default();
    let given = |text: &Option<String>| text.as_deref().map(Arc::from);
    RegistrySettings {
        mirrors,
        signed_as,
        hosts,
        platform: Platform {
            architecture: given(&written.architecture).unwrap_or(usual.architecture),
            os: given(&written.os).unwrap_or(usual.os),
            disktype: given(&written.disktype),
        },
        concurrency: concurrency.clamp(1, MOST_AT_ONCE) as usize,
    }
}

fn mirrors(
    written: &BTreeMap<String, String>,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Reference, Mirror> {
    let mut mirrors = BTreeMap::new();
    for (from, to) in written {
        let path = ["registries", "mirrors", from];
        let Some(key) = prefix(from, places, &path, findings) else {
            continue;
        };
        let mirror = layout(to).or_else(|| prefix(to, places, &path, findings).map(Mirror::Prefix));
        let Some(mirror) = mirror else { continue };
        if mirrors.insert(key, mirror).is_some() {
            findings.push(second_spelling(from, places, &path));
        }
    }
    mirrors
}

/// The image layout of `oci-layout:DIR`.
fn layout(text: &str) -> Option<Mirror> {
    let folder = text.strip_prefix(LAYOUT)?.trim_start_matches("//");
    (!folder.is_empty()).then(|| Mirror::Layout(folder.into()))
}

/// A mirror of the command line: `oci-layout:DIR`, or `oci://` with a registry and a path in it.
///
/// # Errors
/// It is neither; what to write instead.
pub fn mirror(text: &str) -> Result<Mirror, String> {
    let registry = || {
        let has_scheme = text.starts_with(SCHEME);
        let prefix = Reference::parse_prefix(text).filter(|_| has_scheme)?;
        Some(Mirror::Prefix(prefix))
    };
    let found = layout(text).or_else(registry);
    found
        .ok_or_else(|| format!("write `{LAYOUT}DIR`, or `{SCHEME}REGISTRY` with or without a path"))
}

fn signing_prefixes(
    written: &BTreeMap<String, String>,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Reference, Reference> {
    let mut all = BTreeMap::new();
    for (from, to) in written {
        let path = ["registries", "signed-as", from];
        let mut read = |text| prefix(text, places, &path, findings);
        if let (Some(from), Some(to)) = (read(from), read(to)) {
            all.insert(from, to);
        }
    }
    all
}

/// A registry, or a registry and a path.
fn prefix(
    text: &str,
    places: &Places<'_>,
    path: &[&str],
    findings: &mut Vec<Finding>,
) -> Option<Reference> {
    let read = Reference::parse_prefix(text);
    if read.is_none() {
        findings.push(no_prefix(text, places.spot(path)).help(format!(
            "{PREFIX}; or, to take them from a folder, `{LAYOUT}DIR`"
        )));
    }
    read
}

/// How a prefix is written.
pub(super) const PREFIX: &str =
    "write a host, its port if it has one, and a path: `registry.example:5000/group`";

/// That a text is no start of references.
pub(super) fn no_prefix(text: &str, spot: Option<Spot>) -> Finding {
    let message = format!("`{text}` is not a registry, nor a prefix of repositories in one");
    Finding::new(RuleId::ProjectFile, message).with_label(spot, "")
}

fn second_spelling(text: &str, places: &Places<'_>, path: &[&str]) -> Finding {
    let message = format!("`{text}` is written twice, in two spellings");
    { places.finding(message, path) }.help("remove one of the two")
}

fn hosts(
    root: &Path,
    written: &BTreeMap<String, HostOptions>,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<RegistryName, Host> {
    let mut hosts = BTreeMap::new();
    for (text, options) in written {
        let path = ["registries", "hosts", text];
        let mut wrong = |message: String, help: &str| {
            findings.push(places.finding(message, &path).help(help));
        };
        let Some(name) = RegistryName::parse(text) else {
            wrong(
                format!("`{text}` is not a host of a registry"),
                "write the host, with its port if it has one: `registry.example:5000`",
            );
            continue;
        };
        if options.plain_http && (options.ca.is_some() || options.skip_verify) {
            wrong(
                format!("`{text}` is queried over plain HTTP, where no certificate is looked at"),
                "remove `plain-http`, or else `ca` and `skip-verify`",
            );
        }
        let host = Host {
            ca: options.ca.as_ref().map(|file| root.join(file)),
            plain_http: options.plain_http,
            skip_verify: options.skip_verify,
        };
        if hosts.insert(name, host).is_some() {
            findings.push(second_spelling(text, places, &path));
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{HostOptions, Mirror, Places, Reference, RegistryOptions, registries};

    #[test]
    fn what_is_wrong_is_reported_and_left_out() {
        let mirrors = [
            ("A.example:443/b", "oci-layout:images"),
            ("a.example/b", "c.example"),
            ("A b", "c.example"),
            ("d.example", "oci-layout:"),
        ];
        let bad = HostOptions {
            plain_http: true,
            skip_verify: true,
            ..HostOptions::default()
        };
        let written = RegistryOptions {
            mirrors: mirrors
                .map(|(from, to)| (from.to_owned(), to.to_owned()))
                .into(),
            hosts: [
                ("h.example".to_owned(), bad),
                ("https://h.example".to_owned(), HostOptions::default()),
                ("h.example:0443".to_owned(), HostOptions::default()),
            ]
            .into(),
            signed_as: [("a.example/b".to_owned(), "a b".to_owned())].into(),
            concurrency: Some(0),
            ..RegistryOptions::default()
        };
        let places = Places {
            tree: None,
            source: None,
        };
        let mut findings = Vec::new();
        let settings = registries(Path::new("."), &written, &places, &mut findings);
        let [of, to] = ["a.example/b", "c.example"].map(Reference::parse_prefix);
        assert_eq!(
            settings.mirrors,
            [(of.expect("a prefix"), Mirror::Prefix(to.expect("one")))].into()
        );
        assert_eq!(settings.hosts.len(), 1);
        assert_eq!((settings.concurrency, findings.len()), (1, 8));
    }
}
