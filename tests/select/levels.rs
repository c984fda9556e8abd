//! The same setting at several levels of the values (docs/sylva.md#selection-levels): the strongest level that sets it decides,
//! in either spelling of the key.

use super::super::support::project::Project;
use super::{answer, answers, rows};

/// What a level writes about the key.
#[derive(Clone, Copy, Debug)]
enum Writes {
    Nothing,
    Key,
    OtherSpelling,
    Empty,
}

const ALL: [Writes; 4] = [
    Writes::Nothing,
    Writes::Key,
    Writes::OtherSpelling,
    Writes::Empty,
];

impl Writes {
    /// The level's settings; the image that it names is named after the level.
    fn settings(self, level: &str) -> String {
        let inner = match self {
            Self::Nothing => String::new(),
            Self::Key => format!("image_key: img-{level}"),
            Self::OtherSpelling => format!("os_image_key: img-{level}"),
            Self::Empty => "image_key: ''".to_owned(),
        };
        format!("capm3: {{{inner}}}")
    }

    /// What a pool boots whose weaker levels come to `below`.
    fn over(self, level: &str, below: &str) -> String {
        match self {
            Self::Nothing => below.to_owned(),
            Self::Key | Self::OtherSpelling => format!("img-{level}"),
            Self::Empty => "(nothing)".to_owned(),
        }
    }
}

/// Every combination of what four levels write: 256 pools below the cluster, 64 control planes.
#[test]
fn the_strongest_level_that_sets_the_key_names_the_image() {
    for root in ALL {
        for middle in ALL {
            let deployments: String = ALL
                .iter()
                .map(|own| format!("    md-{own:?}: {{{}}}\n", own.settings("own")))
                .collect();
            let values = format!(
                "os_images:\n  img-root: {{uri: 'https://s/r'}}\n  img-plane: {{uri: 'https://s/p'}}\n  \
                 img-default: {{uri: 'https://s/d'}}\n  img-own: {{uri: 'https://s/o'}}\n\
                 cluster:\n  k8s_version: v1.31.8\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
                 {}\n  control_plane: {{{}}}\n  machine_deployment_default: {{{}}}\n  machine_deployments:\n{deployments}",
                root.settings("root"),
                middle.settings("plane"),
                middle.settings("default"),
            );
            let inherited = root.over("root", "(nothing)");
            let default = middle.over("default", &inherited);
            let mut expected = vec![("control-plane".to_owned(), middle.over("plane", &inherited))];
            let mut pools = ALL.map(|own| (format!("md-{own:?}"), own.over("own", &default)));
            pools.sort();
            expected.extend(pools);
            let view = Project::of(&values, "").view();
            assert_eq!(answers(&view), expected, "{values}");
        }
    }
}

/// A cluster with an image for each pair of facts.
const CATALOG: &str = "\
os_images:
  ubuntu-plain: {uri: 'https://s/1', os: ubuntu, hardened: 'false', k8s-flavor: kubeadm, k8s-version: 1.31.8}
  ubuntu-hard: {uri: 'https://s/2', os: ubuntu, hardened: 'true', k8s-flavor: kubeadm, k8s-version: 1.31.8}
  suse-plain: {uri: 'https://s/3', os: suse, hardened: 'false', k8s-flavor: kubeadm, k8s-version: 1.31.8}
  suse-hard: {uri: 'https://s/4', os: suse, hardened: 'true', k8s-flavor: kubeadm, k8s-version: 1.31.8}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
";

#[test]
fn selectors_are_merged_term_by_term_and_other_settings_are_replaced() {
    // Settings of the cluster, the default and the pool; what the pool boots.
    let cases = "
        os_image_selector: {os: ubuntu, hardened: true} | | | ubuntu-hard
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: {os: suse} | | suse-hard
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: {os: suse} | os_image_selector: {os: ubuntu} | ubuntu-hard
        os_image_selector: {os: ubuntu} | os_image_selector: {hardened: true} | os_image_selector: {hardened: false} | ubuntu-plain
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: {} | | ubuntu-hard
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: false | | (nothing)
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: '' | | (nothing)
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: null | | (nothing)
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: false | os_image_selector: {os: suse, hardened: false} | suse-plain
        os_image_selector: {os: ubuntu, hardened: true} | os_image_selector: {os: ''} | | (none)
        os_image_selector: {os: ubuntu, hardened: true} | | image_key: ubuntu-hard | ubuntu-hard
        os_image_selector: {os: ubuntu, hardened: true} | | image_key: suse-hard | (disagree) suse-hard / ubuntu-hard
        os_image_selector: {os: ubuntu, hardened: true} | image_key: suse-hard | os_image_selector: {os: suse} | suse-hard
        os_image_selector: {os: ubuntu} | | image_key: ubuntu-hard | (several) ubuntu-hard ubuntu-plain
        os_image_selector: {os: windows} | | image_key: ubuntu-hard | (none)
        image_key: suse-hard | os_image_selector: {os: ubuntu, hardened: true} | image_key: '' | ubuntu-hard
        machine_image_url: 'https://s/x' | | | (url)
        machine_image_url: 'https://s/x' | machine_image_url: '' | | (nothing)
        machine_image_url: 'https://s/x' | machine_image_url: false | | (nothing)
        machine_image_url: 'https://s/x' | | image_key: suse-hard | suse-hard
        machine_image_url: 'https://s/x' | | image_key: gone | (unknown) gone
        machine_image_url: 'https://s/x' | | image_key: '' | (url)
        machine_image_url: 'https://s/x' | os_image_selector: {os: ubuntu} | | (several) ubuntu-hard ubuntu-plain
        image_key: gone | image_key: gone-too | image_key: suse-plain | suse-plain
    ";
    for [cluster, default, pool, expected] in rows(cases) {
        let values = format!(
            "{CATALOG}  capm3: {{{cluster}}}\n  machine_deployment_default: {{capm3: {{{default}}}}}\n  \
             machine_deployments: {{md0: {{capm3: {{{pool}}}}}}}\n"
        );
        let view = Project::of(&values, "").view();
        assert_eq!(answer(&view.selections[1].outcome), expected, "{values}");
    }
}

/// A null below a chart's own values removes the key; between a cluster's layers it stays a null
/// (docs/sylva.md#values-and-their-order). The key then names no image.
#[test]
fn a_null_key_names_nothing() {
    for cluster in ["image_key", "os_image_key"] {
        for pool in [
            "image_key: null",
            "image_key: ~",
            "image_key: false",
            "os_image_key: null",
            "os_image_key: false",
        ] {
            let values = format!(
                "{CATALOG}  capm3: {{{cluster}: suse-hard}}\n  machine_deployments: {{md0: {{capm3: {{{pool}}}}}}}\n"
            );
            let view = Project::of(&values, "").view();
            assert_eq!(answer(&view.selections[1].outcome), "(nothing)", "{values}");
        }
    }
}

#[test]
fn levels_of_another_pool_or_provider_decide_nothing() {
    let values = format!(
        "{CATALOG}  capm3: {{image_key: ubuntu-hard}}\n  capo: {{image_key: suse-plain}}\n  \
         control_plane: {{capm3: {{image_key: suse-hard}}, capo: {{image_key: suse-plain}}}}\n  \
         machine_deployment_default: {{capo: {{image_key: suse-plain}}}}\n  \
         machine_deployments:\n    md0: {{infra_provider: capo, capo: {{image_key: suse-plain}}}}\n    \
         md1: {{capm3: {{image_key: ubuntu-plain}}}}\n"
    );
    let answers = answers(&Project::of(&values, "").view());
    let texts: Vec<&str> = answers.iter().map(|(_, answer)| &**answer).collect();
    assert_eq!(texts, ["suse-hard", "ubuntu-hard", "ubuntu-plain"]);
}

#[test]
fn a_pool_takes_replicas_and_version_from_itself_then_the_default_then_the_cluster() {
    let values = format!(
        "{CATALOG}  control_plane_replicas: 3\n  machine_deployment_default: {{replicas: 2, k8s_version: v1.30.1}}\n  \
         machine_deployments: {{own: {{replicas: 5, k8s_version: v1.29.1}}, plain: {{}}, zero: {{replicas: 0}}}}\n"
    );
    let view = Project::of(&values, "").view();
    let found: Vec<(String, Option<u32>, Option<String>)> = view
        .cluster
        .pools
        .iter()
        .map(|pool| {
            let version = view.cluster.k8s_version_of(pool);
            (
                pool.name.to_string(),
                pool.replicas.as_ref().map(|count| count.value),
                version.map(|version| version.value.to_string()),
            )
        })
        .collect();
    let row =
        |name: &str, count, version: &str| (name.to_owned(), Some(count), Some(version.to_owned()));
    assert_eq!(
        found,
        [
            row("control-plane", 3, "v1.31.8"),
            row("own", 5, "v1.29.1"),
            row("plain", 2, "v1.30.1"),
            row("zero", 0, "v1.30.1"),
        ]
    );
}
