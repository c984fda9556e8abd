//! The Kubernetes version that an image holds: mismatches, what is not proven, and which edits are offered.

use metalmark::decide::replacement::obstacles;
use metalmark::pipeline::check::lowers;
use snapbox::str;

use super::super::support::manifests;
use super::super::support::project::Project;
use super::super::support::stage::{Is, Stage, project};
use super::rows::{IMAGES, assert_cases, assert_found, each, each_with};
use super::{bare, booting, edge, fails, passes, warns};

#[test]
fn an_image_of_another_version_comes_with_those_that_fit() {
    each("k8s-version-mismatch").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
# One image fits: it is the fix. Two do: a person chooses.
cluster: {capm3: {image_key: noble-30}}
    error control-plane [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.capm3.image_key: noble-31
cluster: {capm3: {image_key: suse-30}}
    error control-plane [suse-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix suse-31 => cluster.capm3.image_key: suse-31
# Those that are most like it come first, three at most; a name may say which they are.
os_images: {now: &now {uri: x, os: beos, hardened: 'true', flavor: x, os-release: r, k8s-flavor: rke2, k8s-version: 1.30.1+rke2r1}, a: {<<: *now, k8s-version: 1.31.8+rke2r1, hardened: 'false', flavor: y}, b: {<<: *now, k8s-version: 1.31.8+rke2r1, os-release: q}, c: {<<: *now, k8s-version: 1.31.8+rke2r1}, d: {<<: *now, k8s-version: 1.31.8+rke2r1}}; cluster: {capm3: {image_key: now}}
    error control-plane [now, v1.31.8+rke2r1, 1.30.1+rke2r1] => cluster.capm3.image_key: c | cluster.capm3.image_key: d
os_images: {now: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1.30.1+rke2r1}, loose: {uri: x, os: beos, k8s-flavor: rke2, k8s-version: 1.31.8}, then: {uri: 'oci://r/opensuse-15-6-plain-rke2-1-31-8:1', os: beos}}; cluster: {capm3: {image_key: now}}
    error control-plane [now, v1.31.8+rke2r1, 1.30.1+rke2r1] => then | os-release: 15.6 | hardened: false | flavor: plain
# The edit is for the level that names the image.
cluster: {control_plane: {capm3: {image_key: noble-30}}}
    error control-plane [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.control_plane.capm3.image_key: noble-31
cluster: {capm3: {image_key: noble-31}, machine_deployment_default: {capm3: {os_image_key: noble-30}}, machine_deployments: {md0: {}, md1: {capm3: {image_key: noble-31}}}}
    error md0 [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.machine_deployment_default.capm3.os_image_key: noble-31
cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {capm3: {image_key: noble-30}}}}
    error md0 [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.machine_deployments.md0.capm3.image_key: noble-31
# Levels of other pools are none of a pool's.
cluster: {capm3: {image_key: noble-30}, machine_deployment_default: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {}}}
    error control-plane [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.capm3.image_key: noble-31
cluster: {capm3: {image_key: noble-30}, control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {}, md1: {capm3: {image_key: noble-31}}}}
    error md0 [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.capm3.image_key: noble-31
# A pool's own version is what its image must hold, and then the cluster's is not a way out.
cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {k8s_version: v1.30.12+rke2r1}}}
    error md0 [noble-31, v1.30.12+rke2r1, 1.31.8+rke2r1] => noble-30
cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {k8s_version: v1.30.12+rke2r1, capm3: {image_key: noble-30}}}}
# A selector that names a version itself; the fix would be to drop that.
cluster: {capm3: {os_image_selector: {os: ubuntu, k8s-version: '1.30.*'}}}
    error control-plane [{os: ubuntu, k8s-version: '1.30.*'}, v1.31.8+rke2r1, 1.30.12+rke2r1] => k8s-version | cluster.k8s_version
# A version without `v` stays without.
cluster: {k8s_version: 1.31.8+rke2r1, capm3: {image_key: noble-30}}
    error control-plane [noble-30, 1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.capm3.image_key: noble-31
# Nothing known, or half of it, is another rule's.
cluster: {capm3: {image_key: blank}}
cluster: {capm3: {image_key: loose-31}}
cluster: {capm3: {image_key: minor-31}}
# Of a URL only its file's name tells.
cluster: {capm3: {machine_image_url: 'https://s/ubuntu-noble-plain-rke2-1-30-12.raw'}}
    error control-plane ['https://s/ubuntu-noble-plain-rke2-1-30-12.raw', v1.31.8+rke2r1]
cluster: {capm3: {machine_image_url: 'https://s/ubuntu-noble-plain-rke2-1-31-8.raw'}}
cluster: {capm3: {machine_image_url: 'https://s/1-30-12/x.raw'}}

"#]]);
}

#[test]
fn exact_matching_takes_only_the_same_text_for_the_same_version() {
    each_with("matching: exact\n", "k8s-version-mismatch").finds(str![[r#"
os_images: {old: {uri: 'https://s/o', os: beos, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1}}; cluster: {capm3: {image_key: old}}
    error control-plane [old, v1.31.8+rke2r1, 1.31.8-rke2r1]
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {image_key: loose-31}}
    error control-plane [loose-31, v1.31.8+rke2r1, 1.31.8]

"#]]);
    each("k8s-version-mismatch").finds(str![[r#"
os_images: {old: {uri: 'https://s/o', os: beos, k8s-flavor: rke2, k8s-version: 1.31.8-rke2r1}}; cluster: {capm3: {image_key: old}}

"#]]);
}

/// A file that several clusters share is not edited for one of them.
#[test]
fn the_image_is_replaced_only_in_the_clusters_own_file() {
    let key = "cluster: {capm3: {image_key: noble-30}}";
    let shared = format!("{IMAGES}  capm3: {{image_key: noble-30}}\n");
    let found =
        |shared: &str, own: &str| Project::layered(shared, own, "").found("k8s-version-mismatch");
    let (own, shared) = (found(IMAGES, key), found(&shared, "{}"));
    assert!(
        own[0].contains(" fix noble-31 => cluster.capm3.image_key: noble-31"),
        "{own:?}"
    );
    assert!(
        shared[0].contains("] => cluster.capm3.image_key: noble-31"),
        "{shared:?}"
    );
    let shared = shared.join("");
    assert!(!shared.contains(" fix "), "{shared}");
    // What an expression computes is not replaced either.
    let computed = found(
        IMAGES,
        "cluster: {capm3: {image_key: '{{ printf \"noble-%d\" 30 }}'}}",
    );
    assert!(!computed[0].contains(" fix "), "{computed:?}");
}

#[test]
fn what_is_not_proven() {
    each("k8s-version-unproven").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {image_key: noble-30}}
cluster: {capm3: {image_key: loose-31}}
    warning control-plane [loose-31, v1.31.8+rke2r1] => os_images.loose-31.k8s-version: "1.31.8+rke2r1"
cluster: {capm3: {image_key: minor-31}}
    error control-plane [minor-31, v1.31.8+rke2r1] => os_images.minor-31.k8s-version: "1.31.8+rke2r1"
cluster: {capm3: {image_key: blank}}
    error control-plane [blank, v1.31.8+rke2r1] => kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]} | os_images.blank.k8s-version: "1.31.8+rke2r1"
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {}}; cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}}
    warning control-plane [ubuntu-noble-plain-rke2-1-31-8, v1.31.8+rke2r1] => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]}
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31: {}}; cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31}}
    error control-plane [ubuntu-noble-plain-rke2-1-31, v1.31.8+rke2r1] => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]}
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-30-12: {}}; cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12}}
cluster: {capm3: {machine_image_url: 'https://s/x.raw'}}
    error control-plane ['https://s/x.raw', v1.31.8+rke2r1] => image_key
cluster: {capm3: {machine_image_url: 'https://s/ubuntu-noble-plain-rke2-1-31-8.raw'}}
    warning control-plane ['https://s/ubuntu-noble-plain-rke2-1-31-8.raw', v1.31.8+rke2r1] => image_key
# A pool's own version is what has to be proven.
cluster: {capm3: {image_key: loose-31}, control_plane: {capm3: {image_key: noble-31}}, machine_deployments: {md0: {k8s_version: v1.31.8}}}
cluster: {capm3: {image_key: noble-31}, machine_deployments: {md0: {k8s_version: v1.31.8}}}
    warning md0 [noble-31, v1.31.8] => os_images.noble-31.k8s-version: "1.31.8"
# Nothing is booted, nothing to prove.
cluster: {capm3: {image_key: gone}}
cluster: {capm3: {os_image_selector: {os: windows}}}

"#]]);
}

/// A rename had taken the older spelling away from all but the project file's records, in silence.
#[test]
fn the_older_spelling_of_the_distribution_was_no_fact_in_values() {
    each("k8s-flavor-mismatch").finds(str![[r#"
os_images: {now: {uri: 'https://s/x', k8s: {flavor: kubeadm, version: 1.31.8}}}; cluster: {capm3: {image_key: now}}
    error control-plane [now, cabpr]
os_images: {now: {uri: 'https://s/x', k8s: {flavour: kubeadm, version: 1.31.8}}}; cluster: {capm3: {image_key: now}}
    error control-plane [now, cabpr]

"#]]);
}

/// Only what was no map in it was learned.
#[test]
fn a_neutral_record_in_a_file_with_facts_was_dropped_in_silence() {
    for spelling in ["flavor", "flavour"] {
        let info = format!("os_images: {{now: {{os: ubuntu, k8s: {{{spelling}: kubeadm}}}}}}\n");
        let project = Project::new(&[
            (
                "metalmark.yaml",
                "version: 1\nvalues: [shared.yaml]\nclusters: [{name: edge, values: [values.yaml]}]\nimages: {facts: [info.yaml]}\n",
            ),
            ("shared.yaml", IMAGES),
            (
                "values.yaml",
                "os_images: {now: {uri: 'https://s/x'}}\ncluster: {capm3: {image_key: now}}\n",
            ),
            ("info.yaml", &info),
        ]);
        let expected = ["error control-plane [now, cabpr]"];
        assert_found("k8s-flavor-mismatch", &project, &expected, spelling);
    }
}

#[test]
fn an_image_of_another_distribution() {
    each("k8s-flavor-mismatch").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {image_key: blank}}
# For kubeadm the version is `1.31.8`, which no rke2 image holds.
cluster: {capm3: {image_key: kube-31}}
    error control-plane [kube-31, cabpr] => cluster.capm3.image_key: noble-31
cluster: {k8s_version: v1.31.8, capi_providers: {bootstrap_provider: cabpk}, capm3: {image_key: noble-31}}
    error control-plane [noble-31, cabpk] => cluster.capm3.image_key: kube-31
cluster: {k8s_version: v1.31.9, capi_providers: {bootstrap_provider: cabpk}, capm3: {image_key: noble-31}}
    error control-plane [noble-31, cabpk]
cluster: {k8s_version: v1.31.8, capi_providers: {bootstrap_provider: cabpk}, capm3: {image_key: kube-31}, machine_deployments: {md0: {capm3: {image_key: suse-31}}}}
    error md0 [suse-31, cabpk]
# The name alone says it too.
sylva_diskimagebuilder_version: 1; sylva_diskimagebuilder_images: {ubuntu-noble-plain-kubeadm-1-31-8: {}}; cluster: {capm3: {image_key: ubuntu-noble-plain-kubeadm-1-31-8}}
    error control-plane [ubuntu-noble-plain-kubeadm-1-31-8, cabpr] => cluster.capm3.image_key: noble-31
# No image is proposed whose patch level or build nobody knows.
os_images: {kube: {uri: x, os: talos, os-release: noble, hardened: 'false', flavor: plain, k8s-flavor: kubeadm, k8s-version: 1.31.8, image-format: raw}}; cluster: {capm3: {image_key: kube}}
    error control-plane [kube, cabpr]
os_images: {kube: {uri: x, os: flatcar, os-release: noble, hardened: 'false', flavor: plain, k8s-flavor: kubeadm, k8s-version: 1.31.8, image-format: raw}}; cluster: {capm3: {image_key: kube}}
    error control-plane [kube, cabpr]
os_images: {kube: {uri: x, os: opensuse, os-release: '15.6', hardened: 'false', flavor: plain, k8s-flavor: kubeadm, k8s-version: 1.31.8, image-format: raw}}; cluster: {capm3: {image_key: kube}}
    error control-plane [kube, cabpr] => cluster.capm3.image_key: suse-31
# A provider that Sylva does not know, or none, is not judged.
cluster: {capi_providers: {bootstrap_provider: cabpx}, capm3: {image_key: kube-31}}
cluster: {capi_providers: {bootstrap_provider: null}, capm3: {image_key: kube-31}}

"#]]);
}

const HARD: &str = "\
cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: now}}
os_images:
  now: &now {uri: 'https://s/a', os: ubuntu, os-release: noble, arch: amd64, hardened: 'true', flavor: hardened, k8s-flavor: rke2, k8s-version: 1.30.12+rke2r1}
";

/// A fix changes the version and nothing else: the only image that fits may be of another kind, and then a person decides.
#[test]
fn a_fix_keeps_hardening_release_and_architecture() {
    let fix = |other: &str| {
        let values = format!(
            "{HARD}  then: {{<<: *now, uri: 'https://s/b', k8s-version: 1.31.8+rke2r1{other}}}\n"
        );
        Project::of(&values, "")
            .found("k8s-version-mismatch")
            .join("")
    };
    assert!(fix("").contains(" fix then "), "{}", fix(""));
    for other in [
        ", hardened: 'false'",
        ", flavor: plain",
        ", os-release: jammy",
        ", arch: arm64",
    ] {
        assert!(!fix(other).contains(" fix "), "{}", fix(other));
    }
    for other in [", os: opensuse", ", k8s-flavor: kubeadm"] {
        assert!(!fix(other).contains(" fix "), "{}", fix(other));
    }
}

/// A version that is read from a name has no build: written into the values, it names another Kubernetes.
#[test]
fn help_writes_no_version_that_only_a_name_gives() {
    let values = "sylva_diskimagebuilder_version: 1\n\
                  sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-30-12: {}}\n\
                  cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12}}";
    let found = Project::layered(IMAGES, values, "")
        .found("k8s-version-mismatch")
        .join("");
    assert!(found.starts_with("error control-plane"), "{found}");
    assert!(!found.contains("cluster.k8s_version: v1.30.12"), "{found}");
}

/// An image that a pool names as its provider's store does is proven, refuted or unproven as any other.
#[test]
fn an_image_name_is_compared_with_the_version() {
    let found = |provider: &str, name: &str, more: &str| {
        let values = format!(
            "{more}\ncluster: {{k8s_version: v1.30.2+rke2r1, capi_providers: {{infra_provider: {provider}, bootstrap_provider: cabpr}}, {provider}: {{image_name: '{name}'}}}}"
        );
        let judged = Project::of(&values, "").judged();
        let rules = judged.iter().map(|judged| judged.finding.rule.as_str());
        let rules = rules.filter(|rule| rule.starts_with("k8s-"));
        rules.collect::<Vec<_>>().join(" ")
    };
    for provider in ["capo", "capv"] {
        let of = |name: &str| found(provider, name, "");
        assert_eq!(of("ubuntu-jammy-plain-rke2-1-31-8"), "k8s-version-mismatch");
        assert_eq!(of("ubuntu-jammy-plain-rke2-1-30-2"), "k8s-version-unproven");
        assert_eq!(of("golden"), "k8s-version-unproven");
        let flavor = of("ubuntu-jammy-plain-kubeadm-1-30-2");
        assert_eq!(flavor, "k8s-flavor-mismatch k8s-version-unproven");
    }
    // The catalog knows the image under its key, the name that Sylva pushes it under, or a location of its own.
    let known = "os_images: {jammy: {uri: 'https://s/j', commit-tag: 0.4.12, k8s-flavor: rke2, k8s-version: 1.30.2+rke2r1, locations: {glance: {name: Jammy}}}}";
    for name in ["jammy", "jammy-sylva-diskimage-builder-0.4.12", "Jammy"] {
        assert_eq!(found("capo", name, known), "", "{name}");
    }
    let other = known.replace("1.30.2", "1.31.8");
    assert_eq!(found("capo", "Jammy", &other), "k8s-version-mismatch");
    assert_eq!(
        found("capo", "jammy-sylva-diskimage-builder-0.4.13", &other),
        "k8s-version-unproven"
    );
}

/// Without a version nothing can be proven or refuted: the version is what is missed, once.
#[test]
fn a_cluster_without_a_version() {
    let values = "cluster: {k8s_version: null, capm3: {image_key: noble-31}}";
    let project = Project::layered(IMAGES, values, "");
    assert_found("k8s-version-unproven", &project, &[], values);
    assert_found("k8s-version-mismatch", &project, &[], values);
    assert_eq!(project.found("value-missing").len(), 1);
}

/// An image may bring no Kubernetes: what bootstraps its machines installs it, and there is nothing to compare.
#[test]
fn an_image_without_kubernetes_is_not_compared() {
    let found = |flavor: &str| {
        let values = "cluster: {k8s_version: v1.31.8, capi_providers: {infra_provider: capo, bootstrap_provider: cabpk}, capo: {image_key: bare}}";
        let record = format!(
            "images: {{records: {{bare: {{os: {{name: ubuntu}}, k8s: {{flavor: {flavor}}}, locations: {{glance: {{name: bare}}}}}}}}}}\n"
        );
        let judged = Project::of(values, &record).judged();
        let rules = judged.iter().map(|judged| judged.finding.rule.as_str());
        rules
            .filter(|rule| rule.starts_with("k8s-"))
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(found("none"), "");
    assert_eq!(found("kubeadm"), "k8s-version-unproven");
    assert_eq!(found("rke2"), "k8s-flavor-mismatch k8s-version-unproven");
}

/// A fact may carry a `v`: the version that help writes has one.
#[test]
fn help_writes_one_v() {
    let values = "os_images: {a: {uri: x, k8s-flavor: kubeadm, k8s-version: v1.28.1}}\n\
                  cluster: {k8s_version: v1.28.0, capi_providers: {bootstrap_provider: cabpk}, capm3: {image_key: a}}";
    let found = Project::of(values, "").found("k8s-version-mismatch");
    assert_eq!(
        found,
        ["error control-plane [a, v1.28.0, v1.28.1] => cluster.k8s_version: v1.28.1"]
    );
}

#[test]
fn only_an_image_whose_system_and_distribution_are_known_has_a_line_to_be_behind_in() {
    for (known, is_found) in [
        ("os: beos, k8s-flavor: rke2", true),
        ("os: beos", false),
        ("k8s-flavor: rke2", false),
        ("os-release: '1'", false),
    ] {
        let image =
            |version: &str| format!("{{uri: 'https://s/x.raw', {known}, k8s-version: {version}}}");
        let values = format!(
            "os_images: {{then: {}, now: {}}}\ncluster: {{capm3: {{image_key: then}}}}",
            image("1.27.1+rke2r1"),
            image("1.33.1+rke2r1")
        );
        let policy = "policy: {rules: {image-outdated: warning}}\n";
        let found = Project::layered(IMAGES, &values, policy).found("image-outdated");
        assert_eq!(found.len(), usize::from(is_found), "{known}: {found:#?}");
    }
}

/// Beside its facts an image has what its machines need of it.
#[test]
fn a_replacement_has_the_reference_the_checksum_and_the_format_of_the_image() {
    let image = "os: beos, k8s-flavor: rke2, k8s-version: 1.30.1+rke2r1";
    let (uri, sum, raw) = ("uri: 'https://s/x.raw'", "sha256: aa", "image-format: raw");
    let rows = [
        (format!("{uri}, {sum}, {raw}"), true),
        (format!("{uri}, md5: bb, {raw}"), true),
        (format!("{sum}, {raw}"), false),
        (format!("{uri}, {raw}"), false),
        (format!("{uri}, sha256: '', {raw}"), false),
        (format!("{uri}, {sum}"), false),
        (format!("{uri}, {sum}, image-format: qcow2"), false),
    ];
    let entries = rows.iter().enumerate();
    let entries = entries.map(|(index, (more, _))| format!("  n{index}: {{{image}, {more}}}\n"));
    let values = format!(
        "os_images:\n  bare: {{{image}}}\n{}",
        entries.collect::<String>()
    );
    let view = Project::layered(IMAGES, &values, "").view();
    let of = |key: &str| view.images.get(key).expect(key);
    for (index, (more, may_follow)) in rows.iter().enumerate() {
        let key = format!("n{index}");
        let found = obstacles(of("n0"), of(&key));
        assert_eq!(found.is_empty(), *may_follow, "{more}: {found:?}");
        // What the image lacks itself, nothing else needs.
        let found = obstacles(of("bare"), of(&key));
        assert!(found.is_empty(), "{more}: {found:?}");
    }
}

/// An image for another distribution is a finding of its own; it keeps no fix of another pool from being offered.
#[test]
fn a_pool_that_stays_as_it_is_stops_no_fix_of_another_pool() {
    each("k8s-version-mismatch").finds(str![[r#"
cluster: {capm3: {image_key: kube-31}, machine_deployments: {md0: {capm3: {image_key: noble-30}}}}
    error md0 [noble-30, v1.31.8+rke2r1, 1.30.12+rke2r1] fix noble-31 => cluster.machine_deployments.md0.capm3.image_key: noble-31

"#]]);
}

#[test]
fn a_change_of_the_version_alone_may_lower_a_cluster() {
    let view = |version: &str, key: &str| {
        let values = format!("cluster: {{k8s_version: {version}, capm3: {{image_key: {key}}}}}");
        Project::layered(IMAGES, &values, "").view()
    };
    let now = view("v1.31.8+rke2r1", "noble-31");
    for (version, is_lower) in [
        ("v1.31.8+rke2r1", false),
        ("v1.31.8+rke2r2", false),
        ("v1.31.9+rke2r1", false),
        ("v1.32.1+rke2r1", false),
        ("v1.31.7+rke2r1", true),
        ("v1.30.12+rke2r1", true),
        ("v1.33.1+rke2r1", true),
        ("v1.31.8", true),
        ("v1.31.8+k3s1", true),
    ] {
        assert_eq!(
            lowers(&now, &view(version, "noble-31")),
            is_lower,
            "{version}"
        );
    }
    assert!(lowers(&now, &view("v1.31.8+rke2r1", "noble-30")));
    assert!(!lowers(&view("v1.30.12+rke2r1", "noble-30"), &now));
}

#[test]
fn k8s_version_mismatch() {
    let project = edge("capm3: {image_key: noble-30}\nmachine_deployments: {md0: {}}");
    fails("k8s-version-mismatch", &project, "check").brief(str![[r#"
error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1`
  edge.yaml:4:22 `noble-30` this image is selected here
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  catalog.yaml:3:45 `'1.30.12+rke2r1'` its `k8s-version` in the values
  cluster: edge, pool control-plane
  also in pools: md0
  help: `cluster.capm3.image_key: noble-31`
1 error in 1 cluster; 2 node pools checked: 2 mismatched

"#]]);
    let _ = project.run("check --fix").exit(0);
    passes("k8s-version-mismatch", &project, "check");
}

#[test]
fn k8s_version_unproven() {
    let project = bare("\
os_images:
  ubuntu-noble-hardened-rke2-1-31: {uri: 'oci://registry.example.org/own:1', image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8}", "capm3: {image_key: ubuntu-noble-hardened-rke2-1-31}");
    fails("k8s-version-unproven", &project, "check").brief(str![[r#"
error[k8s-version-unproven]: nothing proves that image `ubuntu-noble-hardened-rke2-1-31` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:6:22 `ubuntu-noble-hardened-rke2-1-31` no source says which version it holds
  edge.yaml:4:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
  help: or `os_images.ubuntu-noble-hardened-rke2-1-31.k8s-version: "1.31.8+rke2r1"`
1 error in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
    project.edit(
        "edge.yaml",
        "image-format",
        "k8s-version: 1.31.8+rke2r1, image-format",
    );
    passes("k8s-version-unproven", &project, "check");
}

/// A record that leaves the build out needs the whole version.
#[test]
fn the_version_with_the_build_is_the_help_where_a_record_leaves_the_build_out() {
    let image = "{filter: {name: ubuntu-noble-plain-rke2-1.33.4}}";
    let manifests = manifests::cluster("v1.33.4+rke2r1", image)
        .replace("KubeadmControlPlane", "RKE2ControlPlane")
        .replace("KubeadmConfigTemplate", "RKE2ConfigTemplate");
    let stage = project().file("edge.yaml", manifests).settings(
        "manifests: [edge.yaml]\nimages:\n  records:\n    noble:\n      \
         locations: {glance: {name: ubuntu-noble-plain-rke2-1.33.4}}\n      k8s: {version: 1.33.4}\n",
    );
    stage
        .check()
        .of_rule("k8s-version-unproven")
        .join("\n")
        .is(str!["warning[k8s-version-unproven] edge/control-plane edge.yaml:29:49 `ubuntu-noble-plain-rke2-1.33.4` edge.yaml:12:12 `v1.33.4+rke2r1` => images.records.noble.k8s.version: 1.33.4+rke2r1 | images.facts"]);
}

#[test]
fn k8s_flavor_mismatch() {
    let project = booting(
        &["noble-31 rke2 1.31.8+rke2r1", "kube-31 kubeadm 1.31.8"],
        "capm3: {image_key: kube-31}",
    );
    fails("k8s-flavor-mismatch", &project, "check").brief(str![[r#"
error[k8s-flavor-mismatch]: image `kube-31` is made for kubeadm, not for rke2
  edge.yaml:4:22 `kube-31` this image is selected here
  edge.yaml:3:63 `cabpr` `cabpr` boots rke2
  cluster: edge, pool control-plane
  help: `cluster.capm3.image_key: noble-31`
warning[k8s-version-unproven]: nothing proves that image `kube-31` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:4:22 `kube-31` the values says `1.31.8`, which may be another build
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: or `os_images.kube-31.k8s-version: "1.31.8+rke2r1"`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 unproven

"#]]);
    project.edit("edge.yaml", "kube-31", "noble-31");
    passes("k8s-flavor-mismatch", &project, "check");
}

#[test]
fn judgment_refused() {
    let project = booting(
        &["ubuntu-noble-plain-rke2-1-31-8 rke2 1.31.8+rke2r1"],
        "capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}\nmachine_deployments: {md0: {capm3: {image_key: none}}}",
    );
    project.edit("metalmark.yaml", "policy: {", "policy: {fail_on: unknown, ");
    fails("judgment-refused", &project, "check").brief(str![[r#"
error[judgment-refused]: the image of node pool `md0` is unknown: its image key is not in the catalog
  edge.yaml:5:50 `none`
  cluster: edge, pool md0
  help: `fail_on: unknown` refuses it; `metalmark explain edge/md0` says what is known
error[unknown-image]: image `none` is not in the catalog
  edge.yaml:5:50 `none` the catalog has one other image
  cluster: edge, pool md0
2 errors in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: its image key is not in the catalog

"#]]);
    // The flag is stronger than the file.
    project.edit(
        "catalog.yaml",
        "k8s-flavor: rke2, k8s-version: '1.31.8+rke2r1', ",
        "",
    );
    project
        .run("check --fail-on by-name")
        .exit(1)
        .brief(str![[r#"
error[judgment-refused]: image `ubuntu-noble-plain-rke2-1-31-8` of node pool `control-plane` is by name only: `1.31.8` in the image's name
  edge.yaml:4:22 `ubuntu-noble-plain-rke2-1-31-8`
  cluster: edge, pool control-plane
  help: `fail_on: by-name` refuses it; `metalmark explain edge/control-plane` says what is known
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:4:22 `ubuntu-noble-plain-rke2-1-31-8` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
  help: or `os_images.ubuntu-noble-plain-rke2-1-31-8.k8s-version: "1.31.8+rke2r1"`
error[judgment-refused]: the image of node pool `md0` is unknown: its image key is not in the catalog
  edge.yaml:5:50 `none`
  cluster: edge, pool md0
  help: `fail_on: by-name` refuses it; `metalmark explain edge/md0` says what is known
error[unknown-image]: image `none` is not in the catalog
  edge.yaml:5:50 `none` the catalog has one other image
  cluster: edge, pool md0
3 errors, 1 warning in 1 cluster; 1 node pool checked: 1 by name only; 1 skipped: its image key is not in the catalog

"#]]);
    project.edit(
        "edge.yaml",
        "\n  machine_deployments: {md0: {capm3: {image_key: none}}}",
        "",
    );
    passes("judgment-refused", &project, "check --fail-on unproven");
}

#[test]
fn image_outdated() {
    let project = project()
        .catalog(&[
            "noble-29 rke2 1.29.15+rke2r1 os=ubuntu",
            "noble-31 rke2 1.31.8+rke2r1 os=ubuntu",
        ])
        .settings("policy:\n  rules: {image-unused: off, image-outdated: warning}")
        .cluster(
            "edge",
            "\
cluster:
  k8s_version: v1.29.15+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3: {image_key: noble-29}
",
        );
    warns("image-outdated", &project, "check").brief(str![[r#"
warning[image-outdated]: image `noble-29` holds Kubernetes `1.29.15+rke2r1`, 2 minors behind `noble-31` of its line
  edge.yaml:4:22 `noble-29` this image is selected here
  catalog.yaml:3:3 `noble-31` the newest of its line
  cluster: edge, pool control-plane
  help: add an image of the next minor: a control plane goes up one at a time
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    project.edit(
        "metalmark.yaml",
        "image-outdated: warning",
        "image-outdated: {level: warning, minors: 2}",
    );
    passes("image-outdated", &project, "check");
}

/// A catalog of the builder with an image of 1.31, and a map with its version.
fn mapped(held: &str) -> Stage {
    let catalog = format!(
        "sylva_diskimagebuilder_images: {{noble: {{os_images_oci_registry: lab, k8s-flavor: rke2, k8s-version: {held}}}}}\n\
         os_images_oci_registries: {{lab: {{url: 'oci://lab.org/os', tag: 0.4.11}}}}\n\
         k8s_version_map: {{'1.31': v1.31.8+rke2r1}}\n"
    );
    let image = "noble-31 rke2 1.31.8+rke2r1";
    let settings = "capm3: {image_key: noble-31}";
    let values = super::values(&catalog, settings);
    project().catalog(&[image]).cluster("edge", &values)
}

#[test]
fn k8s_version_map() {
    let _ = warns("k8s-version-map", &mapped("1.31.8+rke2r2"), "check").brief(str![[r#"
warning[k8s-version-map]: `k8s_version_map.1.31` is `v1.31.8+rke2r1`, and the images of it for `rke2` hold `1.31.8+rke2r2`
  edge.yaml:3:27 `v1.31.8+rke2r1` this entry
  edge.yaml:1:33 `noble` holds `1.31.8+rke2r2`
  catalog.yaml:2:3 `noble-31` holds `1.31.8+rke2r1`, which the entry has to stay at
  cluster: edge
  help: move the builder or the entry, so that both are of one version
1 warning in 1 cluster; 1 node pool checked: 1 proven

"#]]);
    passes("k8s-version-map", &mapped("1.31.8+rke2r1"), "check");
}

#[test]
fn an_entry_of_the_map_is_what_all_images_of_its_minor_hold() {
    let of = |case: &str| {
        let (map, images) = case.split_once(" <- ").expect("an entry and images");
        let image = |(number, version): (usize, &str)| {
            let (flavor, version) = version.split_once(' ').expect("a flavor and a version");
            format!(
                "im-{number}: {{os_images_oci_registry: lab, k8s-flavor: {flavor}, k8s-version: '{version}'}}"
            )
        };
        let images: Vec<String> = images.split(", ").enumerate().map(image).collect();
        let values = format!(
            "_internal: {{k8s_version_map: {{'1.33': {map}}}}}\nsylva_diskimagebuilder_images: {{{}}}\ncluster: {{capm3: {{image_key: noble-31}}}}",
            images.join(", ")
        );
        Project::layered(IMAGES, &values, "").found("k8s-version-map")
    };
    assert_cases(
        str![[r#"
v1.33.5+rke2r1 <- rke2 1.33.5+rke2r1
v1.33.5+rke2r1 <- rke2 1.33.7+rke2r1
    warning - [v1.33.5+rke2r1, im-0] fix v1.33.7+rke2r1 => _internal.k8s_version_map.1.33: v1.33.7+rke2r1
v1.33.5+rke2r1 <- rke2 1.33.5+rke2r2, rke2 1.33.5+rke2r2
    warning - [v1.33.5+rke2r1, im-0] fix v1.33.5+rke2r2 => _internal.k8s_version_map.1.33: v1.33.5+rke2r2
# Images of another minor or flavor are none of it, nor what says less than a version.
v1.33.5+rke2r1 <- rke2 1.33.5, rke2 1.33.5+rke2r1, rke2 1.33
v1.33.5+rke2r1 <- rke2 1.34.1+rke2r1
v1.33.5+rke2r1 <- kubeadm 1.33.7
# What an image of another flavor holds is still needed.
1.33.5 <- rke2 1.33.7+rke2r1, kubeadm 1.33.5
    warning - [1.33.5, im-0, im-1] => rke2 | cluster.capi_providers.bootstrap_provider
# Nothing goes back.
v1.33.7+rke2r1 <- rke2 1.33.5+rke2r1
    warning - [v1.33.7+rke2r1, im-0]
# No version is right for both.
v1.33.5+rke2r1 <- rke2 1.33.5+rke2r1, rke2 1.33.7+rke2r3
    warning - [v1.33.5+rke2r1, im-0, im-1] => lab
v1.33.4+rke2r1 <- rke2 1.33.5+rke2r1, rke2 1.33.7+rke2r3
    warning - [v1.33.4+rke2r1, im-0, im-1] => lab
# An expression quotes the version that it prints, or a person edits it.
'{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.5+rke2r1" "v1.33.5" }}' <- rke2 1.33.7+rke2r1
    warning - ['{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.5+rke2r1" "v1.33.5" }}', im-0] fix v1.33.7+rke2r1 => _internal.k8s_version_map.1.33 | v1.33.5+rke2r1 | v1.33.7+rke2r1
'{{ eq "v1.33.5+rke2r1" "x" | ternary "" "v1.33.5+rke2r1" }}' <- rke2 1.33.7+rke2r1
    warning - ['{{ eq "v1.33.5+rke2r1" "x" | ternary "" "v1.33.5+rke2r1" }}', im-0] fix v1.33.7+rke2r1 => _internal.k8s_version_map.1.33 | v1.33.5+rke2r1 | v1.33.7+rke2r1
'{{ printf "v1.33.5%s" "+rke2r1" }}' <- rke2 1.33.7+rke2r1
    warning - ['{{ printf "v1.33.5%s" "+rke2r1" }}', im-0] => _internal.k8s_version_map.1.33 | v1.33.7+rke2r1 | v1.33.5+rke2r1
# An entry that cannot be evaluated is nobody's version.
'{{ fail "x" }}' <- rke2 1.33.7+rke2r1
7 <- rke2 1.33.7+rke2r1

"#]],
        of,
    );
}

/// For a record, and for an image that only a file of facts lists, the help named an entry of `os_images`, which was an error then.
#[test]
fn what_a_record_lacks_is_written_as_the_help_says() {
    let sum = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
    let stage = |settings: &str| {
        project().settings(settings).cluster(
            "edge",
            "cluster: {k8s_version: v1.34.1, capi_providers: {infra_provider: capm3}, capm3: {image_key: golden}}\n",
        )
    };
    let helps = |stage: &Stage| {
        let screen = stage.run("check").exit(1).outcome.stdout;
        let helps = screen.lines().filter(|line| line.contains("help: "));
        helps
            .map(|line| format!("{}\n", line.trim()))
            .collect::<String>()
    };
    let whole = stage(
        "images:\n  records:\n    golden: {k8s: {flavor: kubeadm}, format: raw, locations: {https: https://h/golden}}\n",
    );
    helps(&whole).is(str![[r#"
= help: `images.records.golden.digests.uncompressed.sha256: …` in metalmark.yaml
= help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
= help: `images.records.golden.k8s.version: "1.34.1"` in metalmark.yaml

"#]]);
    let own = stage(
        "images:\n  records:\n    golden: {k8s: {flavor: kubeadm}, locations: {https: {url: https://h/golden, format: raw}}}\n",
    );
    helps(&own).is(str![[r#"
= help: `images.records.golden.locations.https.digests.uncompressed.sha256: …` in metalmark.yaml
= help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
= help: `images.records.golden.k8s.version: "1.34.1"` in metalmark.yaml

"#]]);
    let listed = stage("images: {facts: [info.yaml]}\n").file(
        "info.yaml",
        "os_images: {golden: {uri: https://h/golden, image-format: raw, os: ubuntu}}\n",
    );
    helps(&listed).is(str![[r#"
= help: `images.records.golden.digests.uncompressed.sha256: …` in metalmark.yaml
= help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
= help: `images.records.golden.k8s.version: "1.34.1"` in metalmark.yaml

"#]]);
    // As the helps say.
    for (stage, place, at) in [
        (&whole, "{flavor: kubeadm}", "format: raw"),
        (&own, "{flavor: kubeadm}", "golden, format: raw"),
    ] {
        stage.edit(
            "metalmark.yaml",
            place,
            "{flavor: kubeadm, version: \"1.34.1\"}",
        );
        let digests = format!("{at}, digests: {{uncompressed: {{sha256: {sum}}}}}");
        stage.edit("metalmark.yaml", at, &digests);
        stage.run("check").exit(0);
    }
    let record = format!(
        "facts: [info.yaml], records: {{golden: {{k8s: {{version: \"1.34.1\"}}, digests: {{uncompressed: {{sha256: {sum}}}}}}}}}"
    );
    listed.edit("metalmark.yaml", "facts: [info.yaml]", &record);
    listed.run("check").exit(0);
}
