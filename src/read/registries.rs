//! The project file's `registries:` → how registries are queried.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oci_artifacts::registries::{ARCHITECTURE, CONCURRENCY, Host, Mirror, RegistrySettings};
use oci_artifacts::{Reference, SCHEME};

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
    let hosts = hosts(root, &written.hosts, places, findings);
    let concurrency = written.concurrency.unwrap_or(CONCURRENCY as u32);
    if !(1..=MOST_AT_ONCE).contains(&concurrency) {
        let message = format!("`concurrency` is from 1 to {MOST_AT_ONCE}, not {concurrency}");
        let spot = places.spot(&["registries", "concurrency"]);
        findings.push(Finding::new(RuleId::ProjectFile, message).with_label(spot, ""));
    }
    RegistrySettings {
        mirrors,
        hosts,
        architecture: written
            .architecture
            .as_deref()
            .unwrap_or(ARCHITECTURE)
            .into(),
        concurrency: concurrency.clamp(1, MOST_AT_ONCE) as usize,
    }
}

fn mirrors(
    written: &BTreeMap<String, String>,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Arc<str>, Mirror> {
    let mut mirrors = BTreeMap::new();
    for (from, to) in written {
        let mut wrong = |text: &str| {
            let message = format!("`{text}` is no registry, nor a prefix of repositories in one");
            let spot = places.spot(&["registries", "mirrors", from]);
            findings.push(Finding::new(RuleId::ProjectFile, message).with_label(spot, "").help(
                "write a host, its port if it has one, and a path: `registry.example:5000/group`; or, to take them from a folder, `oci-layout:DIR`",
            ));
        };
        let Some(prefix) = prefix(from) else {
            wrong(from);
            continue;
        };
        let mirror = match to
            .strip_prefix(LAYOUT)
            .map(|folder| folder.trim_start_matches("//"))
        {
            Some(folder) => (!folder.is_empty()).then(|| Mirror::Layout(folder.into())),
            None => self::prefix(to).map(Mirror::Prefix),
        };
        match mirror {
            Some(mirror) => drop(mirrors.insert(prefix, mirror)),
            None => wrong(to),
        }
    }
    mirrors
}

/// A host, or a host and a path, without scheme and trailing slash.
fn prefix(text: &str) -> Option<Arc<str>> {
    let bare = text
        .strip_prefix(SCHEME)
        .unwrap_or(text)
        .trim_end_matches('/');
    let reference = Reference::parse(&format!("{bare}/x")).ok()?;
    (reference.name() == format!("{bare}/x")).then(|| bare.into())
}

fn hosts(
    root: &Path,
    written: &BTreeMap<String, HostOptions>,
    places: &Places<'_>,
    findings: &mut Vec<Finding>,
) -> BTreeMap<Arc<str>, Host> {
    let mut hosts = BTreeMap::new();
    for (name, options) in written {
        let mut wrong = |message: String, help: &str| {
            let spot = places.spot(&["registries", "hosts", name]);
            findings.push(
                Finding::new(RuleId::ProjectFile, message)
                    .with_label(spot, "")
                    .help(help),
            );
        };
        if prefix(name).is_none_or(|bare| *bare != **name || bare.contains('/')) {
            wrong(
                format!("`{name}` is no host of a registry"),
                "write the host, with its port if it has one: `registry.example:5000`",
            );
            continue;
        }
        if options.plain_http && (options.ca.is_some() || options.skip_verify) {
            wrong(
                format!("`{name}` is queried over plain HTTP, where no certificate is looked at"),
                "remove `plain-http`, or else `ca` and `skip-verify`",
            );
        }
        let host = Host {
            ca: options.ca.as_ref().map(|file| root.join(file)),
            plain_http: options.plain_http,
            skip_verify: options.skip_verify,
        };
        hosts.insert(name.as_str().into(), host);
    }
    hosts
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::{HostOptions, Mirror, Places, RegistryOptions, prefix, registries};

    #[test]
    fn a_prefix_is_a_host_and_perhaps_a_path() {
        let read = |text| prefix(text).map(|prefix| prefix.to_string());
        assert_eq!(
            read("oci://a.example:5000/b/").as_deref(),
            Some("a.example:5000/b")
        );
        assert_eq!(read("a.example").as_deref(), Some("a.example"));
        for text in ["", "/", "a.example/B", "a.example/b:tag", "a b"] {
            assert_eq!(read(text), None, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_reported_and_left_out() {
        let mirrors = [
            ("a.example/b", "oci-layout:images"),
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
            ]
            .into(),
            architecture: None,
            concurrency: Some(0),
        };
        let places = Places {
            tree: None,
            source: None,
        };
        let mut findings = Vec::new();
        let settings = registries(Path::new("."), &written, &places, &mut findings);
        assert_eq!(
            settings.mirrors,
            [(Arc::from("a.example/b"), Mirror::Layout("images".into()))].into()
        );
        assert_eq!(settings.hosts.len(), 1);
        assert_eq!((settings.concurrency, findings.len()), (1, 5));
    }
}
