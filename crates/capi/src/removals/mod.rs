//! What Kubernetes had and has no more: flags of its components, feature gates, admission plugins, and versions of the API of
//! configuration files. A component that is given one of them does not start.
//!
//! `removals.tsv` has a row for each, with the first minor that lacks it, where that is read, and on which day. `removals.py` makes
//! it. What no row names may exist or never have existed: nothing is said of it.

mod uses;

use std::collections::HashMap;
use std::fmt;
use std::sync::LazyLock;

pub use uses::{RemovedUse, find_uses};

/// A row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removal {
    /// Whose it was: `kubelet`; `kubernetes` for what all components share.
    pub component: &'static str,
    /// What it was.
    pub what: What,
    /// Its name: `pod-infra-container-image`.
    pub name: &'static str,
    /// The minor version of Kubernetes 1 that lacks it first.
    pub minor: u32,
    /// The address of what says so.
    pub source: &'static str,
    /// The day of reading, `YYYY-MM-DD`.
    pub read_on: &'static str,
}

/// What was removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// A flag of the command line, without its dashes.
    Flag,
    /// A feature gate.
    Gate,
    /// An admission plugin of the API server.
    Plugin,
    /// An `apiVersion` of a configuration file.
    Version,
}

/// `flag `--container-runtime` of kubelet`.
impl fmt::Display for Removal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            component, name, ..
        } = self;
        match self.what {
            What::Flag => write!(f, "flag `--{name}` of {component}"),
            What::Gate if self.component == KUBEADM => {
                write!(f, "feature gate `{name}` of kubeadm")
            }
            What::Gate => write!(f, "feature gate `{name}`"),
            What::Plugin => write!(f, "admission plugin `{name}`"),
            What::Version => write!(f, "API version `{name}`"),
        }
    }
}

/// The component with feature gates of its own.
const KUBEADM: &str = "kubeadm";
/// Of what all components share.
const ALL: &str = "kubernetes";

/// The rows by name.
static REMOVALS: LazyLock<HashMap<&'static str, Vec<Removal>>> = LazyLock::new(|| {
    let mut by_name: HashMap<_, Vec<Removal>> = HashMap::new();
    for row in include_str!("removals.tsv").lines().skip(1) {
        let row = parse(row).expect("each row has its columns");
        by_name.entry(row.name).or_default().push(row);
    }
    by_name
});

fn parse(row: &'static str) -> Option<Removal> {
    let columns: Vec<&str> = row.split('\t').collect();
    let [component, what, name, minor, source, read_on] = columns[..] else {
        return None;
    };
    Some(Removal {
        component,
        what: match what {
            "flag" => What::Flag,
            "gate" => What::Gate,
            "plugin" => What::Plugin,
            "version" => What::Version,
            _ => return None,
        },
        name,
        minor: minor.strip_prefix("1.")?.parse().ok()?,
        source,
        read_on,
    })
}

/// The row of a name, if it was removed.
fn find_removal(component: &str, what: What, name: &str) -> Option<&'static Removal> {
    let mut rows = REMOVALS.get(name)?.iter();
    rows.find(|row| row.component == component && row.what == what)
}

#[cfg(test)]
mod tests {
    use super::{REMOVALS, What, find_removal};

    /// What the release notes of Kubernetes say, beside what the table was made from.
    #[test]
    fn the_table_agrees_with_release_notes() {
        let minor = |component, what, name| Some(find_removal(component, what, name)?.minor);
        for (component, what, name, expected) in [
            ("kubelet", What::Flag, "network-plugin", 24),
            ("kubelet", What::Flag, "container-runtime", 27),
            ("kubelet", What::Flag, "pod-infra-container-image", 35),
            (
                "kube-controller-manager",
                What::Flag,
                "pod-eviction-timeout",
                27,
            ),
            ("kube-apiserver", What::Flag, "insecure-port", 24),
            ("kube-apiserver", What::Flag, "cloud-provider", 33),
            ("kube-apiserver", What::Plugin, "PodSecurityPolicy", 25),
            ("kube-scheduler", What::Flag, "logtostderr", 26),
            ("kubernetes", What::Gate, "EphemeralContainers", 27),
            ("kubernetes", What::Gate, "SeccompDefault", 29),
            ("kubernetes", What::Version, "kubeadm.k8s.io/v1beta2", 27),
            (
                "kubernetes",
                What::Version,
                "kubescheduler.config.k8s.io/v1beta3",
                29,
            ),
        ] {
            assert_eq!(minor(component, what, name), Some(expected), "{name}");
        }
        assert_eq!(minor("kubelet", What::Flag, "node-labels"), None);
        // The controller manager has it still.
        assert_eq!(
            minor("kube-controller-manager", What::Flag, "cloud-provider"),
            None
        );
    }

    #[test]
    fn each_row_says_where_and_when_it_was_read() {
        for row in REMOVALS.values().flatten() {
            assert!(row.source.starts_with("https://github.com/"), "{row:?}");
            assert!(
                row.read_on.len() == 10 && (24..=36).contains(&row.minor),
                "{row:?}"
            );
        }
        assert!(REMOVALS.len() > 200);
    }
}
