//! Kubernetes versions beside each other: workers and their control plane, and a cluster before and after a change.

use snapbox::str;

use super::super::support::project::Project;
use super::super::support::stage::{Stage, project};
use super::rows::{IMAGES, assert_cases, each};
use super::values;
use super::{edge, fails, passes};

/// The skew that Kubernetes allows: https://kubernetes.io/releases/version-skew-policy/.
#[test]
fn workers_beside_their_control_plane() {
    let of = |case: &str| {
        let [bootstrap, plane, worker] = *case.split(' ').collect::<Vec<_>>() else {
            panic!("{case}")
        };
        let values = format!(
            "cluster: {{k8s_version: {plane}, capi_providers: {{bootstrap_provider: {bootstrap}}}, machine_deployments: {{md0: {{k8s_version: {worker}}}}}}}"
        );
        Project::layered(IMAGES, &values, "").found("version-skew")
    };
    assert_cases(
        str![[r#"
cabpr v1.31.8 v1.31.9
cabpr v1.31.8 v1.30.1
cabpr v1.31.8 v1.29.1
cabpr v1.31.8 v1.28.1
cabpr v1.31.8 v1.27.1
    error md0 [v1.27.1, v1.31.8] => v1.31.8
cabpr v1.31.8 v1.32.0
    error md0 [v1.32.0, v1.31.8] => v1.32.0
cabpr v2.31.8 v1.31.8
    error md0 [v1.31.8, v2.31.8] => v2.31.8
cabpr v1.31.8 v2.31.8
    error md0 [v2.31.8, v1.31.8] => v2.31.8
cabpr v1.31.8 latest
cabpr latest v1.31.8
cabpk v1.31.8 v1.31.1
cabpk v1.31.8 v1.30.1
cabpk v1.31.8 v1.28.1
cabpk v1.31.8 v1.32.1
    error md0 [v1.32.1, v1.31.8] => v1.32.1

"#]],
        of,
    );
    each("version-skew").finds(str![[r#"
# The control plane's own version counts, not the cluster's.
cluster: {k8s_version: v1.27.1, control_plane: {k8s_version: v1.31.8}, machine_deployments: {md0: {k8s_version: v1.30.1}}}
cluster: {k8s_version: v1.27.1, control_plane: {k8s_version: v1.31.8}, machine_deployments: {md0: {}}}
    error md0 [v1.27.1, v1.31.8] => v1.31.8
cluster: {machine_deployments: {md0: {}, md1: {}}}
cluster: {machine_deployment_default: {k8s_version: v1.32.1}, machine_deployments: {md0: {}, md1: {k8s_version: v1.31.1}}}
    error md0 [v1.32.1, v1.31.8+rke2r1] => v1.32.1

"#]]);
}

/// A cluster whose control plane and workers run these versions.
fn versions(plane: &str, worker: &str) -> Project {
    let values = format!(
        "cluster: {{k8s_version: {plane}, machine_deployments: {{md0: {{k8s_version: {worker}}}}}}}"
    );
    Project::layered(IMAGES, &values, "")
}

#[test]
fn a_change_goes_back_to_no_older_version() {
    let of = |case: &str| {
        let (was, is) = case.split_once(" -> ").expect("two versions");
        versions(was, was).found_in_change(&versions(is, is), "version-downgrade")
    };
    assert_cases(
        str![[r#"
v1.31.8+rke2r1 -> v1.31.8+rke2r1
v1.31.8+rke2r1 -> v1.31.9+rke2r1
v1.31.8+rke2r1 -> v1.32.0+rke2r1
v1.31.8+rke2r2 -> v1.31.8+rke2r1
    warning control-plane [v1.31.8+rke2r1, v1.31.8+rke2r2] => v1.31.8+rke2r2
    warning md0 [v1.31.8+rke2r1, v1.31.8+rke2r2] => v1.31.8+rke2r2
v1.31.8+rke2r1 -> v1.31.7+rke2r1
    warning control-plane [v1.31.7+rke2r1, v1.31.8+rke2r1] => v1.31.8+rke2r1
    warning md0 [v1.31.7+rke2r1, v1.31.8+rke2r1] => v1.31.8+rke2r1
v1.31.8+rke2r1 -> v1.30.9+rke2r1
    error control-plane [v1.30.9+rke2r1, v1.31.8+rke2r1] => v1.31.8+rke2r1
    warning md0 [v1.30.9+rke2r1, v1.31.8+rke2r1] => v1.31.8+rke2r1
v2.31.8+rke2r1 -> v1.31.8+rke2r1
    error control-plane [v1.31.8+rke2r1, v2.31.8+rke2r1] => v2.31.8+rke2r1
    warning md0 [v1.31.8+rke2r1, v2.31.8+rke2r1] => v2.31.8+rke2r1
# A version that says less goes back to nothing.
v1.31.8+rke2r1 -> v1.31.8
v1.31.8+rke2r1 -> v1.31
v1.31.8+rke2r1 -> v1.30
    error control-plane [v1.30, v1.31.8+rke2r1] => v1.31.8+rke2r1
    warning md0 [v1.30, v1.31.8+rke2r1] => v1.31.8+rke2r1
v1.31.8 -> latest
latest -> v1.31.8

"#]],
        of,
    );
    let only_worker = versions("v1.31.8", "v1.31.8")
        .found_in_change(&versions("v1.31.8", "v1.30.8"), "version-downgrade");
    assert_eq!(only_worker, ["warning md0 [v1.30.8, v1.31.8] => v1.31.8"]);
}

#[test]
fn a_change_passes_no_minor_of_the_control_plane() {
    let of = |case: &str| {
        let (was, is) = case.split_once(" -> ").expect("two versions");
        versions(was, "v1.20.0").found_in_change(&versions(is, "v1.31.0"), "version-skip")
    };
    assert_cases(
        str![[r#"
v1.29.1 -> v1.30.1
v1.29.1 -> v1.29.9
v1.31.1 -> v1.29.1
v1.29.1 -> v2.31.1
v1.29.1 -> latest
# The newest image of the minor that is passed first.
v1.29.1 -> v1.31.8
    error control-plane [v1.31.8, v1.29.1] => suse-30 | 1.30.12+rke2r1
v1.29.1 -> v1.32.1
    error control-plane [v1.32.1, v1.29.1] => suse-30 | 1.30.12+rke2r1
v1.30.1 -> v1.32.1
    error control-plane [v1.32.1, v1.30.1] => suse-hard-31 | 1.31.8+rke2r1
# There is no image of that minor.
v1.27.1 -> v1.31.8
    error control-plane [v1.31.8, v1.27.1]

"#]],
        of,
    );
}

/// An image of each of three minors.
const LINE: [&str; 3] = [
    "noble-29 rke2 1.29.15+rke2r1",
    "noble-30 rke2 1.30.12+rke2r1",
    "noble-31 rke2 1.31.8+rke2r1",
];

/// A cluster that runs that version on that image, whose URL is the image's own.
fn runs(version: &str, key: &str) -> Stage {
    let settings = "policy: {rules: {image-unused: off}}\nimages: {url: \"{{ image.uri }}\"}";
    let values = values("", &format!("capm3: {{image_key: {key}}}"));
    project()
        .catalog(&LINE)
        .settings(settings)
        .cluster("edge", &values.replace("v1.31.8+rke2r1", version))
}

#[test]
fn version_skew() {
    let project = edge(
        "\
capm3: {image_key: noble-30}
machine_deployments: {md0: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}}",
    );
    project.edit(
        "edge.yaml",
        "cluster:\n  k8s_version: v1.31.8+rke2r1",
        "cluster:\n  k8s_version: v1.30.12+rke2r1",
    );
    fails("version-skew", &project, "check").brief(str![[r#"
error[version-skew]: node pool `md0` runs Kubernetes `v1.31.8+rke2r1`, newer than its control plane's `v1.30.12+rke2r1`
  edge.yaml:5:44 `v1.31.8+rke2r1` this pool's version
  edge.yaml:2:16 `v1.30.12+rke2r1` the control plane's version
  cluster: edge, pool md0
  help: run `v1.31.8+rke2r1` in both
1 error in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    project.edit(
        "edge.yaml",
        ": {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
        ": {}",
    );
    passes("version-skew", &project, "check");
}

#[test]
fn version_downgrade() {
    let project = runs("v1.30.12+rke2r1", "noble-30").commit("before");
    let Some(project) = project else { return };
    project.edit("edge.yaml", "v1.30.12", "v1.29.15");
    project.edit("edge.yaml", "noble-30", "noble-29");
    fails("version-downgrade", &project, "impact --against HEAD").brief(str![[r#"
Against 4c1a6d8956, `HEAD`
edge
  control-plane  all machines re-provisioned, by roll
                   image       noble-30 → noble-29
                   kubernetes  v1.30.12+rke2r1 → v1.29.15+rke2r1
images newly served
  + noble-29  size unknown  https://images.example/noble-29.raw
images no longer served
  - noble-30  size unknown  https://images.example/noble-30.raw
one whole pool in 1 cluster re-provisioned, 0 clusters as before
error[version-downgrade]: `control-plane` would go back from Kubernetes `v1.30.12+rke2r1` to `v1.29.15+rke2r1`
  edge.yaml:2:16 `v1.29.15+rke2r1` this version is required
  4c1a6d8956:edge.yaml:2:16 `v1.30.12+rke2r1` this one runs
  cluster: edge, pool control-plane
  help: keep `v1.30.12+rke2r1`, or make a new cluster
1 error in 1 cluster

"#]]);
    project.edit("edge.yaml", "v1.29.15", "v1.31.8");
    project.edit("edge.yaml", "noble-29", "noble-31");
    passes("version-downgrade", &project, "impact --against HEAD");
}

#[test]
fn version_not_in_class() {
    let class = "apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {name: quick}\nspec: {kubernetesVersions: [v1.33.4, v1.34.1]}\n";
    let cluster = "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {name: edge}\nspec: {topology: {classRef: {name: quick}, version: v1.35.2}}\n";
    let project = project().file("edge.yaml", format!("{class}{cluster}"));
    fails("version-not-in-class", &project, "check").brief(str![[r#"
error[version-not-in-class]: the cluster is to run Kubernetes `v1.35.2`, and its ClusterClass lists only `v1.33.4`, `v1.34.1`
  edge.yaml:9:53 `v1.35.2` this version is required
  edge.yaml:4:29 `v1.33.4` these are listed
  cluster: edge
  help: take a version of the list, or add this one to it with every minor on the way: Cluster API's webhook refuses others
1 error in 1 cluster; 0 node pools checked; 1 skipped: its control plane has no machines, and no worker is among the manifests

"#]]);
    project.edit("edge.yaml", "v1.34.1]", "v1.34.1, v1.35.2]");
    passes("version-not-in-class", &project, "check --allow-empty");
}

#[test]
fn version_skip() {
    let project = runs("v1.29.15+rke2r1", "noble-29").commit("before");
    let Some(project) = project else { return };
    project.edit("edge.yaml", "v1.29.15", "v1.31.8");
    project.edit("edge.yaml", "noble-29", "noble-31");
    fails("version-skip", &project, "impact --against HEAD").brief(str![[r#"
Against 529dfc48dd, `HEAD`
edge
  control-plane  all machines re-provisioned, by roll
                   image       noble-29 → noble-31
                   kubernetes  v1.29.15+rke2r1 → v1.31.8+rke2r1
                   skips       1.30
images newly served
  + noble-31  size unknown  https://images.example/noble-31.raw
images no longer served
  - noble-29  size unknown  https://images.example/noble-29.raw
one whole pool in 1 cluster re-provisioned, 0 clusters as before
error[version-skip]: the control plane would go from Kubernetes `v1.29.15+rke2r1` to `v1.31.8+rke2r1`, past 1.30
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  529dfc48dd:edge.yaml:2:16 `v1.29.15+rke2r1` this one runs
  cluster: edge, pool control-plane
  help: go to 1.30 first, in a change of its own: image `noble-30` holds `1.30.12+rke2r1`
1 error in 1 cluster

"#]]);
    project.edit("edge.yaml", "v1.31.8", "v1.30.12");
    project.edit("edge.yaml", "noble-31", "noble-30");
    passes("version-skip", &project, "impact --against HEAD");
}

#[test]
fn image_replaced_in_place() {
    let project = runs("v1.31.8+rke2r1", "noble-31").commit("before");
    let Some(project) = project else { return };
    project.edit(
        "catalog.yaml",
        "293d6172dccbbae5ac579b2419480058fe25f37e3bde8a1dcfe06a59a1cd0b99",
        "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8",
    );
    fails("image-replaced-in-place", &project, "impact --against HEAD").brief(str![[r#"
Against 0255b1794a, `HEAD`
edge
  control-plane  all machines re-provisioned, by roll
                   image       noble-31 (293d6172dccb) → noble-31 (31a831a831a8)
images newly served
  + noble-31  size unknown  https://images.example/noble-31.raw
images no longer served
  - noble-31  size unknown  https://images.example/noble-31.raw
one whole pool in 1 cluster re-provisioned, 0 clusters as before
error[image-replaced-in-place]: another image would be at `https://images.example/noble-31.raw`: its checksum goes from `293d6172dccb` to `31a831a831a8`
  catalog.yaml:4:133 `'31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8'`
  cluster: edge, pool control-plane
  help: give it a URL of its own: a file name or a tag with the version
1 error in 1 cluster

"#]]);
    project.edit("catalog.yaml", "noble-31.raw", "noble-31-b.raw");
    passes("image-replaced-in-place", &project, "impact --against HEAD");
}
