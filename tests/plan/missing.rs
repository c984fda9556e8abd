//! What a builder has to produce: each image once, for all minors of the way, with what nearly fits.

use serde_json::json;
use snapbox::str;

use super::{Built, edge, key, listed, read_json, values, with_images};
use crate::support::stage::{Stage, assert_text, project, table};

/// The lines of what is missing.
fn missing(stage: &Stage, words: &str) -> Vec<String> {
    let plan = stage.run(words).outcome.stdout;
    let lines = plan
        .lines()
        .filter_map(|line| line.strip_prefix("missing: "));
    lines.map(str::to_owned).collect()
}

#[test]
fn the_json_of_a_plan_has_what_is_missing_with_the_image_that_is_there_in_another_format() {
    let images = [(0, 30, 2), (0, 31, 4), (1, 30, 2), (1, 31, 4)];
    let stage = edge(images, "1.30.2", &[(0, 30, 2), (1, 30, 2), (1, 30, 2)]);
    let hardened = key((1, 31, 4));
    let catalog = stage.read("catalog.yaml");
    let (before, own) = catalog.split_once(&hardened).expect("listed");
    stage.write(
        "catalog.yaml",
        format!(
            "{before}{hardened}{}",
            own.replacen("image-format: raw", "image-format: qcow2", 1)
        ),
    );
    let plan = read_json(&stage, "plan --to 1.31");
    assert_eq!(
        plan["missing"],
        json!([{
            "name": hardened,
            "version": "1.31.4",
            "line": key((1, 30, 2)),
            "built_since": null,
            "pools": {"edge": ["md0", "md1"]},
            "nearest": [{"image": hardened, "difference": "has `image-format: qcow2`, not `raw`"}],
        }])
    );
    stage.run("plan --to 1.31").exit(1).stdout(str![[r#"
edge: 1.30.2, blocked before 1.31: an image is missing
  no successor of `ubuntu-noble-hardened-kubeadm-1-30-2`: md0, md1

missing: `ubuntu-noble-hardened-kubeadm-1-31-4`, an image of 1.31.4 in the line of `ubuntu-noble-hardened-kubeadm-1-30-2`, for 1 cluster; `ubuntu-noble-hardened-kubeadm-1-31-4` has `image-format: qcow2`, not `raw`
1 cluster: 0 to upgrade in 0 steps, 0 at 1.31 or newer, 1 blocked

"#]]);
}

/// A project whose clusters boot what they are listed with.
fn fleet(images: &[Built], clusters: &[(&str, &str, &[Built])]) -> Stage {
    let mut stage = with_images(images.iter().copied());
    for (name, version, boots) in clusters {
        let boots: Vec<String> = boots.iter().map(|built| key(*built)).collect();
        stage = stage.cluster(name, &values("kubeadm", version, &boots));
    }
    stage
}

#[test]
fn each_image_is_listed_once_for_the_whole_way_of_all_clusters() {
    let stage = fleet(
        &[(0, 29, 1), (0, 30, 2), (0, 32, 1), (1, 30, 2), (1, 32, 3)],
        &[
            ("old", "1.29.1", &[(0, 29, 1)]),
            ("one", "1.30.2", &[(0, 30, 2), (1, 30, 2)]),
            ("other", "1.30.2", &[(0, 30, 2)]),
        ],
    );
    assert_text(
        &missing(&stage, "plan --to 1.33").join("\n"),
        str![[r#"
`ubuntu-noble-hardened-kubeadm-1-31-*`, an image of 1.31 in the line of `ubuntu-noble-hardened-kubeadm-1-30-2`, for 1 cluster
`ubuntu-noble-plain-kubeadm-1-31-*`, an image of 1.31 in the line of `ubuntu-noble-plain-kubeadm-1-30-2`, for 3 clusters
`ubuntu-noble-plain-kubeadm-1-32-3`, an image of 1.32.3 in the line of `ubuntu-noble-plain-kubeadm-1-30-2`, for 1 cluster
`ubuntu-noble-hardened-kubeadm-1-33-*`, an image of 1.33 in the line of `ubuntu-noble-hardened-kubeadm-1-30-2`, for 1 cluster
`ubuntu-noble-plain-kubeadm-1-33-*`, an image of 1.33 in the line of `ubuntu-noble-plain-kubeadm-1-30-2`, for 3 clusters
"#]],
    );
}

#[test]
fn pools_without_a_version_in_common_need_the_newest_one_of_any() {
    let stage = fleet(
        &[(0, 30, 2), (0, 31, 5), (1, 30, 2), (1, 31, 4)],
        &[("edge", "1.30.2", &[(0, 30, 2), (1, 30, 2)])],
    );
    stage.run("plan --to 1.31").exit(1).stdout(str![[r#"
edge: 1.30.2, blocked before 1.31: no version has an image for every node pool

missing: `ubuntu-noble-hardened-kubeadm-1-31-5`, an image of 1.31.5 in the line of `ubuntu-noble-hardened-kubeadm-1-30-2`, for 1 cluster
1 cluster: 0 to upgrade in 0 steps, 0 at 1.31 or newer, 1 blocked

"#]]);
}

#[test]
fn what_nearly_fits_is_named_with_the_one_thing_that_is_against_it() {
    let cases = [
        "near 1.31.5-rc1",
        "near 1.31",
        "near 1.31.5+rke2r1",
        "near 1.31.5 arch=arm64",
        "near 1.31.5 arch=arm64 variant=core",
        "near 1.31.5-rc1 arch=arm64",
    ];
    let plans = table(cases, |case| {
        let words = case.strip_prefix("near ").expect("an image");
        let (version, more) = words.split_once(' ').unwrap_or((words, ""));
        let near = format!("{} {more}", listed("near", "plain", "kubeadm", version));
        let old = listed("own-image", "plain", "kubeadm", "1.30.2");
        let values = values("kubeadm", "1.30.2", &["own-image".to_owned()])
            .replace("  machine_deployments:\n", "");
        let stage = project().catalog(&[&old, &near]).cluster("edge", &values);
        missing(&stage, "plan --to 1.31")
    });
    assert_text(
        &plans,
        str![[r#"
near 1.31.5-rc1
    an image of 1.31 in the line of `own-image`, for 1 cluster; `near` is a prerelease
near 1.31
    an image of 1.31 in the line of `own-image`, for 1 cluster; `near` is not a whole version
near 1.31.5+rke2r1
    an image of 1.31 in the line of `own-image`, for 1 cluster; `near` has not the same kind of build
near 1.31.5 arch=arm64
    an image of 1.31 in the line of `own-image`, for 1 cluster; `near` has `arch: arm64`
near 1.31.5 arch=arm64 variant=core
    an image of 1.31 in the line of `own-image`, for 1 cluster
near 1.31.5-rc1 arch=arm64
    an image of 1.31 in the line of `own-image`, for 1 cluster

"#]],
    );
}

#[test]
fn an_image_that_was_built_too_early_nearly_fits() {
    let image = |key: &str, version: &str, more: &str| {
        format!("{} {more}", listed(key, "plain", "kubeadm", version))
    };
    let images = [
        image("own-image", "1.30.2", "build-timestamp=2026-01-01"),
        image("early", "1.30.3", "build-timestamp=2026-07-21"),
        image("unknown", "1.30.4", ""),
        image("rebuilt", "1.30.2", "build-timestamp=2026-07-22 arch=arm64"),
    ];
    let values = values("kubeadm", "1.30.2", &["own-image".to_owned()])
        .replace("  machine_deployments:\n", "");
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let stage = project().catalog(&images).cluster("edge", &values);
    let words = "plan --security-before 2026-07-22";
    assert_text(
        &missing(&stage, words).join("\n"),
        str![
            "an image of 1.30 built on 2026-07-22 or later in the line of `own-image`, for 1 cluster; `early` was built on 2026-07-21; `rebuilt` has `arch: arm64`; `unknown` does not say when it was built"
        ],
    );
    assert_eq!(
        read_json(&stage, words)["missing"][0]["built_since"],
        "2026-07-22"
    );
}

#[test]
fn an_image_that_was_built_late_enough_follows_itself() {
    let image = |flavor: &str, built: &str| {
        let image = listed(flavor, flavor, "kubeadm", "1.30.2");
        format!("{image} build-timestamp={built}")
    };
    let images = [
        image("plain", "2026-08-01"),
        image("hardened", "2026-01-01"),
    ];
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let boots = ["plain".to_owned(), "hardened".to_owned()];
    let stage = project()
        .catalog(&images)
        .cluster("edge", &values("kubeadm", "1.30.2", &boots));
    stage
        .run("plan --security-before 2026-07-22")
        .exit(1)
        .stdout(str![[r#"
edge: 1.30.2, blocked before 1.30: an image is missing
  no successor of `hardened`: md0

missing: an image of 1.30.2 built on 2026-07-22 or later in the line of `hardened`, for 1 cluster
1 cluster: 0 to upgrade in 0 steps, 0 at images built since 2026-07-22, 1 blocked

"#]]);
}

#[test]
fn nothing_is_missing_for_a_minor_of_which_all_pools_have_one_version() {
    let images = [
        (0, 30, 2),
        (1, 30, 2),
        (0, 31, 2),
        (0, 32, 2),
        (0, 32, 5),
        (1, 32, 2),
    ];
    let stage = edge(images, "1.30.2", &[(0, 30, 2), (1, 30, 2)]);
    assert_text(
        &missing(&stage, "plan --to 1.32").join("\n"),
        str![
            "`ubuntu-noble-hardened-kubeadm-1-31-2`, an image of 1.31.2 in the line of `ubuntu-noble-hardened-kubeadm-1-30-2`, for 1 cluster"
        ],
    );
}

#[test]
fn an_image_of_another_build_is_none_that_fits_a_later_minor() {
    let image = |key: &str, version: &str| {
        format!("{key} - {version} os=ubuntu os-release=noble hardened=false")
    };
    let images = [
        image("own-image", "1.30.2+rke2r1"),
        image("other", "1.32.3+k3s1"),
    ];
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let values = values("rke2", "1.30.2+rke2r1", &["own-image".to_owned()])
        .replace("  machine_deployments:\n", "");
    let stage = project().catalog(&images).cluster("edge", &values);
    // The facts do not say for which distribution they are.
    let catalog = stage.read("catalog.yaml").replace("k8s-flavor: -, ", "");
    stage.write("catalog.yaml", catalog);
    assert_text(
        &missing(&stage, "plan --to 1.32").join("\n"),
        str![[r#"
an image of 1.31 in the line of `own-image`, for 1 cluster
an image of 1.32 in the line of `own-image`, for 1 cluster; `other` has not the same kind of build
"#]],
    );
}

#[test]
fn a_cluster_that_runs_a_prerelease_goes_to_none() {
    let images = [
        listed("own-image", "plain", "kubeadm", "1.30.2-rc1"),
        listed("next", "plain", "kubeadm", "1.31.0-rc1"),
    ];
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let values = values("kubeadm", "1.30.2-rc1", &["own-image".to_owned()])
        .replace("  machine_deployments:\n", "");
    let stage = project().catalog(&images).cluster("edge", &values);
    assert_text(
        &missing(&stage, "plan --to 1.31").join("\n"),
        str!["an image of 1.31 in the line of `own-image`, for 1 cluster; `next` is a prerelease"],
    );
}
