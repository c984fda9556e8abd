//! The project file's `registries:` → how registries are queried.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use oci_artifacts::registries::{CONCURRENCY, Host, Mirror, RegistrySettings};
use oci_artifacts::{Platform, Reference, RegistryName, SCHEME};

use super::places::{PREFIX, Problems};
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
    problems: &mut Problems<'_>,
) -> RegistrySettings {
    let mirrors = mirrors(&written.mirrors, problems);
    let signed_as = signing_prefixes(&written.signed_as, problems);
    let hosts = hosts(root, &written.hosts, problems);
    let concurrency = written.concurrency.unwrap_or(CONCURRENCY as u32);
    if !(1..=MOST_AT_ONCE).contains(&concurrency) {
        let message = format!("`concurrency` is from 1 to {MOST_AT_ONCE}, not {concurrency}");
        let path = ["registries", "concurrency"];
        problems
            .findings
            .push(problems.places.finding(message, &path));
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
    problems: &mut Problems<'_>,
) -> BTreeMap<Reference, Mirror> {
    let mut mirrors = BTreeMap::new();
    for (from, to) in written {
        let path = ["registries", "mirrors", from];
        let Some(key) = prefix(from, &path, problems) else {
            continue;
        };
        let mirror = layout(to).or_else(|| prefix(to, &path, problems).map(Mirror::Prefix));
        let Some(mirror) = mirror else { continue };
        if mirrors.insert(key, mirror).is_some() {
            report_second_spelling(from, &path, problems);
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
    problems: &mut Problems<'_>,
) -> BTreeMap<Reference, Reference> {
    let mut all = BTreeMap::new();
    for (from, to) in written {
        let path = ["registries", "signed-as", from];
        let mut read = |text| prefix(text, &path, problems);
        if let (Some(from), Some(to)) = (read(from), read(to)) {
            all.insert(from, to);
        }
    }
    all
}

/// A registry, or a registry and a path.
fn prefix(text: &str, path: &[&str], problems: &mut Problems<'_>) -> Option<Reference> {
    let read = Reference::parse_prefix(text);
    if read.is_none() {
        let help = format!("{PREFIX}; or, to take them from a folder, `{LAYOUT}DIR`");
        problems.refuse_prefix(text, problems.places.spot(path), &help);
    }
    read
}

fn report_second_spelling(text: &str, path: &[&str], problems: &mut Problems<'_>) {
    let message = format!("`{text}` is written twice, in two spellings");
    problems.refuse(message, path, "remove one of the two");
}

fn hosts(
    root: &Path,
    written: &BTreeMap<String, HostOptions>,
    problems: &mut Problems<'_>,
) -> BTreeMap<RegistryName, Host> {
    let mut hosts = BTreeMap::new();
    for (text, options) in written {
        let path = ["registries", "hosts", text];
        let Some(name) = RegistryName::parse(text) else {
            problems.refuse(
                format!("`{text}` is not a host of a registry"),
                &path,
                "write the host, with its port if it has one: `registry.example:5000`",
            );
            continue;
        };
        if options.plain_http && (options.ca.is_some() || options.skip_verify) {
            problems.refuse(
                format!("`{text}` is queried over plain HTTP, where no certificate is looked at"),
                &path,
                "remove `plain-http`, or else `ca` and `skip-verify`",
            );
        }
        let host = Host {
            ca: options.ca.as_ref().map(|file| root.join(file)),
            plain_http: options.plain_http,
            skip_verify: options.skip_verify,
        };
        if hosts.insert(name, host).is_some() {
            report_second_spelling(text, &path, problems);
        }
    }
    hosts
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{HostOptions, Mirror, Problems, Reference, RegistryOptions, registries};
    use crate::read::places::Places;

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
        let mut problems = Problems {
            places: &places,
            findings: &mut findings,
        };
        let settings = registries(Path::new("."), &written, &mut problems);
        let [of, to] = ["a.example/b", "c.example"].map(Reference::parse_prefix);
        assert_eq!(
            settings.mirrors,
            [(of.expect("a prefix"), Mirror::Prefix(to.expect("one")))].into()
        );
        assert_eq!(settings.hosts.len(), 1);
        assert_eq!((settings.concurrency, findings.len()), (1, 8));
    }
}
