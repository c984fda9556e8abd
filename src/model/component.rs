//! Component bundles: what Kubernetes needs on a host beside its OS image, as an artifact that is selected, locked and delivered
//! by itself, so that neither change drags the other along.
//!
//! A bundle is a tarball with an executable [`INSTALLER`] at its root, which is called with environment variables and nothing else.
//! What it is made for is in its manifest's annotations; the names are here, for those who pack bundles and for those who read
//! them. Source of the contract: rancher/elemental, issue 990 ("Elemental CAPI components shipping").

use std::collections::BTreeMap;
use std::sync::Arc;

use capi::image::{Facts, fact};

use super::name::{architecture, same_value};
use super::version::Version;

/// What is called once the tarball is unpacked: a regular, executable file at its root.
pub const INSTALLER: &str = "install.sh";

/// The variables of the installer, in a file beside it: `NAME=VALUE` in a line, and no VALUE where it cannot do without one.
pub const ENVIRONMENT: &str = "install.env";

/// The artifact type of a component bundle's manifest.
pub const ARTIFACT_TYPE: &str = "application/vnd.metalmark.component-bundle.v1";

/// The media type of its one layer: the tarball, compressed by gzip.
pub const LAYER_TYPE: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// The annotation by which other consumers find a pool's bundle, on Kubernetes objects.
pub const OBJECT_ANNOTATION: &str = "metalmark.dev/component-bundle";

/// What an entry of `component_bundles` says of a bundle, by the names of entries and of facts. Others are facts for selectors.
pub const ENTRY_KEYS: &[&str] = &[
    "archs",
    "digest",
    "distros",
    "env",
    "env-required",
    "env_declared",
    "env_required",
    "k8s-flavor",
    "k8s-version",
    "k8s_flavor",
    "k8s_version",
    "public_key",
    "ref",
    "sha256",
    "signature",
    "uri",
    "url",
];

/// The annotations of a component bundle's manifest. Lists have commas between their items.
pub mod annotation {
    /// What all of them start with.
    pub const PREFIX: &str = "dev.metalmark.component.";
    /// The distributions that it installs on, each with or without a release: `ubuntu:noble,sle-micro:6.0`. None means any.
    pub const DISTROS: &str = "dev.metalmark.component.distros";
    /// The architectures of its programs: `amd64,arm64`. None means any.
    pub const ARCHS: &str = "dev.metalmark.component.archs";
    /// The Kubernetes distribution: `kubeadm`, `rke2`, `k3s`.
    pub const K8S_FLAVOR: &str = "dev.metalmark.component.k8s-flavor";
    /// The Kubernetes version: `1.31.8+rke2r1`.
    pub const K8S_VERSION: &str = "dev.metalmark.component.k8s-version";
    /// The environment variables that its installer reads: `INSTALL_RKE2_TYPE,HTTPS_PROXY`.
    pub const ENV: &str = "dev.metalmark.component.env";
    /// Those of them that it cannot do without.
    pub const ENV_REQUIRED: &str = "dev.metalmark.component.env-required";
    /// What the annotations start with that are the values of variables unless they are given others:
    /// `dev.metalmark.component.env-default.INSTALL_RKE2_CHANNEL`.
    pub const ENV_DEFAULT: &str = "dev.metalmark.component.env-default.";
}

/// The facts of a bundle that are not facts of images too; each is its annotation without the prefix.
pub mod component_fact {
    /// See [`super::annotation::DISTROS`].
    pub const DISTROS: &str = "distros";
    /// See [`super::annotation::ARCHS`].
    pub const ARCHS: &str = "archs";
    /// See [`super::annotation::ENV`].
    pub const ENV: &str = "env";
    /// See [`super::annotation::ENV_REQUIRED`].
    pub const ENV_REQUIRED: &str = "env-required";
    /// See [`super::annotation::ENV_DEFAULT`].
    pub const ENV_DEFAULT: &str = "env-default.";
    /// What the facts start with that are values of environment variables: `env.INSTALL_RKE2_TYPE`.
    pub const ENV_VALUE: &str = "env.";
}

/// What a bundle says that it is made for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// The distributions that it installs on; any where none is named.
    pub distros: Vec<Distro>,
    /// The architectures of its programs; any where none is named.
    pub archs: Vec<Arc<str>>,
    /// The Kubernetes distribution.
    pub k8s_flavor: Option<Arc<str>>,
    /// The Kubernetes version, as written.
    pub k8s_version: Option<Arc<str>>,
    /// The variables that its installer reads, by name; none where it does not say.
    pub variables: Option<BTreeMap<Arc<str>, Need>>,
    /// The values that its variables have unless they are given others.
    pub defaults: BTreeMap<Arc<str>, Arc<str>>,
}

/// An operating system that a bundle installs on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Distro {
    /// `ubuntu`, `sle-micro`.
    pub name: Arc<str>,
    /// `noble`, `24.04`; every release where none is named.
    pub release: Option<Arc<str>>,
}

/// Whether an installer can do without a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// It is read where it is set.
    Optional,
    /// It has to be set.
    Required,
}

impl Declared {
    /// What a manifest's annotations say.
    pub fn from_annotations(annotations: &BTreeMap<String, String>) -> Self {
        Self::read(|name| {
            let key = format!("{}{name}", annotation::PREFIX);
            annotations.get(&key).map(String::as_str)
        })
    }

    /// What is known of a bundle of the catalog.
    pub fn from_facts(facts: &Facts) -> Self {
        Self::read(|name| facts.text(name))
    }

    /// Declares the variables of an environment file, of which those without a value are required.
    pub fn add_environment(&mut self, text: &str) {
        let variables = self.variables.get_or_insert_default();
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let lines = text.lines().map(str::trim);
        for line in lines.filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let (name, value) = line.split_once('=').unwrap_or((line, ""));
            let name: Arc<str> = name.trim_end().into();
            if value.is_empty() {
                variables.insert(name, Need::Required);
            } else {
                variables.insert(Arc::clone(&name), Need::Optional);
                self.defaults.insert(name, value.into());
            }
        }
    }

    /// The annotations that say the same, sorted; what is not declared has none.
    pub fn annotations(&self) -> BTreeMap<String, String> {
        let mut annotations = BTreeMap::new();
        let mut say = |key: &str, items: Vec<String>| {
            if !items.is_empty() {
                annotations.insert(key.to_owned(), items.join(","));
            }
        };
        let distros = self.distros.iter().map(Distro::to_string);
        say(annotation::DISTROS, distros.collect());
        say(
            annotation::ARCHS,
            self.archs.iter().map(|it| it.to_string()).collect(),
        );
        let word = |word: &Option<Arc<str>>| word.iter().map(|it| it.to_string()).collect();
        say(annotation::K8S_FLAVOR, word(&self.k8s_flavor));
        say(annotation::K8S_VERSION, word(&self.k8s_version));
        let variables = self.variables.iter().flatten();
        let named = variables.clone().map(|(name, _)| name.to_string());
        say(annotation::ENV, named.collect());
        let required = variables.filter(|(_, need)| **need == Need::Required);
        say(
            annotation::ENV_REQUIRED,
            required.map(|(name, _)| name.to_string()).collect(),
        );
        for (name, value) in &self.defaults {
            annotations.insert(
                format!("{}{name}", annotation::ENV_DEFAULT),
                value.to_string(),
            );
        }
        annotations
    }

    fn read<'a>(said: impl Fn(&str) -> Option<&'a str>) -> Self {
        let words = |name: &str| said(name).into_iter().flat_map(items);
        let word = |name: &str| said(name).map(str::trim).filter(|word| !word.is_empty());
        let mut variables: BTreeMap<Arc<str>, Need> = BTreeMap::new();
        for name in words(component_fact::ENV) {
            variables.insert(name.into(), Need::Optional);
        }
        for name in words(component_fact::ENV_REQUIRED) {
            variables.insert(name.into(), Need::Required);
        }
        let default = |name: &Arc<str>| {
            let value = said(&format!("{}{name}", component_fact::ENV_DEFAULT))?;
            Some((Arc::clone(name), value.into()))
        };
        let defaults = variables.keys().filter_map(default).collect();
        let declares = [component_fact::ENV, component_fact::ENV_REQUIRED];
        let declares = declares.iter().any(|name| said(name).is_some());
        Self {
            distros: words(component_fact::DISTROS).map(Distro::read).collect(),
            archs: words(component_fact::ARCHS).map(Arc::from).collect(),
            k8s_flavor: word(fact::K8S_FLAVOR).map(Arc::from),
            k8s_version: word(fact::K8S_VERSION).map(Arc::from),
            variables: declares.then_some(variables),
            defaults,
        }
    }

    /// Whether it installs on an image of that system and release; an unknown fact of the image excludes nothing.
    pub fn installs_on(&self, os: Option<&str>, release: Option<&str>) -> bool {
        let Some(os) = os else { return true };
        self.distros.is_empty() || self.distros.iter().any(|distro| distro.is(os, release))
    }

    /// Whether its programs run on that architecture.
    pub fn runs_on(&self, arch: Option<&str>) -> bool {
        let Some(arch) = arch else { return true };
        let same = |own: &Arc<str>| architecture(own) == architecture(arch);
        self.archs.is_empty() || self.archs.iter().any(same)
    }

    /// Whether it holds that Kubernetes version: a build that either of the two leaves out is any build. None where a version
    /// is not said, or none that can be read.
    pub fn holds(&self, wanted: &str) -> Option<bool> {
        let held = Version::parse(self.k8s_version.as_deref()?)?;
        let wanted = Version::parse(wanted)?;
        Some(!held.is_partial() && (held.admits(&wanted) || wanted.admits(&held)))
    }
}

impl Distro {
    /// Reads `ubuntu` or `ubuntu:noble`.
    pub fn read(text: &str) -> Self {
        let (name, release) = match text.split_once(':') {
            Some((name, release)) => (name, Some(release.into())),
            None => (text, None),
        };
        Self {
            name: name.into(),
            release,
        }
    }

    fn is(&self, os: &str, release: Option<&str>) -> bool {
        let same_release = match (&self.release, release) {
            (Some(own), Some(release)) => same_value(fact::OS_RELEASE, Some(os), own, release),
            _ => true,
        };
        self.name.eq_ignore_ascii_case(os) && same_release
    }
}

/// As annotations write it.
impl std::fmt::Display for Distro {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.release {
            Some(release) => write!(f, "{}:{release}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// The items of a list with commas between them.
fn items(list: &str) -> impl Iterator<Item = &str> {
    let items = list.split(',').map(str::trim);
    items.filter(|item| !item.is_empty())
}

/// Whether a shell takes it for a variable's name (POSIX.1-2024, 3.216 "Name").
pub fn is_variable_name(text: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    let mut bytes = text.bytes();
    bytes.next().is_some_and(is_letter)
        && bytes.all(|byte| is_letter(byte) || byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::{ProptestConfig, prop, prop_assert_eq, proptest};

    use super::{Declared, Need, annotation, is_variable_name};

    fn declared(pairs: &[(&str, &str)]) -> Declared {
        let pairs = pairs.iter();
        let annotations = pairs.map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
        Declared::from_annotations(&annotations.collect())
    }

    #[test]
    fn what_is_declared_is_read_and_written() {
        let all = [
            (annotation::ARCHS, "amd64,arm64"),
            (annotation::DISTROS, "sle-micro,ubuntu:noble"),
            (annotation::ENV, "A,B"),
            ("dev.metalmark.component.env-default.A", "a, b"),
            (annotation::ENV_REQUIRED, "B"),
            (annotation::K8S_FLAVOR, "rke2"),
            (annotation::K8S_VERSION, "1.31.8+rke2r1"),
        ];
        let found = declared(&all);
        let variables = found.variables.clone().unwrap_or_default();
        assert_eq!(variables["A"], Need::Optional);
        assert_eq!(variables["B"], Need::Required);
        let written: Vec<(String, String)> = found.annotations().into_iter().collect();
        assert_eq!(
            written,
            all.map(|(key, value)| (key.to_owned(), value.to_owned()))
        );
        for key in written.iter().map(|(key, _)| key) {
            assert!(key.starts_with(annotation::PREFIX));
        }
    }

    #[test]
    fn an_environment_file_declares_values_and_what_has_none() {
        let mut found = declared(&[(annotation::ENV, "C")]);
        found.add_environment("# of the installer\n\nA=a=b \n  B=\nD\n");
        let annotations = found.annotations();
        let written: Vec<(&str, &str)> = annotations.iter().map(|(k, v)| (&**k, &**v)).collect();
        assert_eq!(
            written,
            [
                (annotation::ENV, "A,B,C,D"),
                ("dev.metalmark.component.env-default.A", "a=b"),
                (annotation::ENV_REQUIRED, "B,D"),
            ]
        );
    }

    #[test]
    fn it_installs_where_it_says_and_everywhere_when_it_says_nothing() {
        let found = declared(&[
            (annotation::DISTROS, "ubuntu:noble, sle-micro"),
            (annotation::ARCHS, "x86_64"),
        ]);
        assert!(found.installs_on(Some("ubuntu"), Some("24.04")));
        assert!(!found.installs_on(Some("ubuntu"), Some("jammy")));
        assert!(found.installs_on(Some("sle-micro"), Some("6.0")));
        assert!(!found.installs_on(Some("debian"), None));
        assert!(found.installs_on(None, Some("noble")));
        assert!(found.runs_on(Some("amd64")) && found.runs_on(None));
        assert!(!found.runs_on(Some("arm64")));
        let silent = declared(&[]);
        assert!(silent.installs_on(Some("debian"), None) && silent.runs_on(Some("riscv64")));
        assert_eq!(silent.variables, None);
    }

    #[test]
    fn a_version_is_held_whole_or_not_at_all() {
        let of = |version| declared(&[(annotation::K8S_VERSION, version)]);
        assert_eq!(of("1.31.8+rke2r1").holds("v1.31.8+rke2r1"), Some(true));
        assert_eq!(of("1.31.8").holds("v1.31.8+rke2r1"), Some(true));
        assert_eq!(of("1.31.8+rke2r1").holds("v1.31.8+rke2r2"), Some(false));
        assert_eq!(of("1.31").holds("v1.31.8"), Some(false));
        assert_eq!(of("nonsense").holds("v1.31.8"), None);
        assert_eq!(declared(&[]).holds("v1.31.8"), None);
    }

    #[test]
    fn names_of_variables_are_the_shells() {
        for good in ["A", "_a1", "INSTALL_RKE2_TYPE"] {
            assert!(is_variable_name(good), "{good}");
        }
        for bad in ["", "1A", "A-B", "A B", "A=B", "A$", "Ä", "A\n"] {
            assert!(!is_variable_name(bad), "{bad}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]
        #[test]
        fn what_is_written_is_read_back(
            distros in prop::collection::vec("[a-z-]{1,8}(:[a-z0-9.]{1,6})?", 0..4),
            env in prop::collection::vec("[A-Z_]{1,8}", 0..4),
        ) {
            let mut annotations = BTreeMap::new();
            annotations.insert(annotation::DISTROS.to_owned(), distros.join(","));
            annotations.insert(annotation::ENV.to_owned(), env.join(","));
            let found = Declared::from_annotations(&annotations);
            let again = Declared::from_annotations(&found.annotations());
            prop_assert_eq!(&again.distros, &found.distros);
            prop_assert_eq!(again.variables.unwrap_or_default(), found.variables.unwrap_or_default());
        }
    }
}
