//! `--set-version`, and runs that cannot change every file.

use metalmark::edit::stamp::Options;
use snapbox::str;

use super::model::version_of;
use super::names::{ROTATED, stamped, template, user};
use super::selectors::{edge, written};
use crate::support::stage::{Is, table};

const SET: Options = Options {
    rotate: false,
    keep: 1,
    set_version: true,
};

#[test]
fn a_version_that_follows_the_image_does_not_select_it() {
    // Only `k0` is of this distribution, and the machines run another version than it holds.
    let text = template("a")
        .replace("image=k0", "selector={os: ubuntu}")
        .replace("v1.30.0", "v1.29.1");
    let (after, problems) = stamped(&[&text], SET);
    assert_eq!(problems, [""; 0]);
    let version = format!("  version: v{}\n", version_of(0));
    assert!(after[0].contains(&version), "{}", after[0]);
    let (after, problems) = stamped(
        &[&text],
        Options {
            set_version: false,
            ..SET
        },
    );
    assert_eq!(after[0], text);
    assert_eq!(
        problems,
        ["no image of the catalog matches the selector with Kubernetes `v1.29.1`"]
    );
}

/// An image may hold an older version, one that skips a minor, or one of another kind of build: then the version stays.
#[test]
fn a_version_is_never_lowered_and_skips_no_minor() {
    let versions = [
        "v1.29.1",
        "v1.30.0",
        "v1.30.1",
        "v1.35.2",
        "v1.28.9",
        "v1.29.1+k3s1",
        "v1.30.0-rc.1",
    ];
    let results = table(versions, |version| {
        let (after, _) = stamped(&[&template("a").replace("v1.30.0", version)], SET);
        let lines = after[0]
            .lines()
            .filter(|line| line.starts_with("  version: "));
        lines.map(|line| line.trim().to_owned()).collect()
    });
    results.is(str![[r#"
v1.29.1
    version: v1.30.0
v1.30.0
    version: v1.30.0
v1.30.1
    version: v1.30.1
v1.35.2
    version: v1.35.2
v1.28.9
    version: v1.28.9
v1.29.1+k3s1
    version: v1.29.1+k3s1
v1.30.0-rc.1
    version: v1.30.0

"#]]);
}

#[test]
fn a_version_that_only_a_name_states_is_never_written() {
    let proven = "noble k8s-flavor: kubeadm, k8s-version: 1.31.8";
    let named = "ubuntu-noble-plain-kubeadm-1-31-8";
    let results = table([proven, named], |image| {
        let marker = format!("image={}", image.split(' ').next().expect("a key"));
        written(&edge(&marker, "v1.31.7", &[image]), "--set-version")
    });
    results.is(str![[r#"
noble k8s-flavor: kubeadm, k8s-version: 1.31.8
    noble.raw v1.31.8
ubuntu-noble-plain-kubeadm-1-31-8
    error[k8s-version-mismatch]: image `ubuntu-noble-plain-kubeadm-1-31-8` holds Kubernetes `1.31.8`, not `v1.31.7`

"#]]);
}

#[test]
fn a_version_with_a_marker_of_its_own_is_left_to_it() {
    let images = [
        "a k8s-flavor: kubeadm, k8s-version: 1.31.8",
        "b k8s-flavor: kubeadm, k8s-version: 1.31.9",
    ];
    let marker = "# metalmark: image=a field=k8s-version";
    let marked = ["v1.31.7", "v1.31.8"].map(|version| format!("{version} {marker}"));
    let versions = ["v1.31.7", &*marked[0], &*marked[1]];
    let results = table(versions, |version| {
        written(&edge("image=b", version, &images), "--set-version")
    });
    results.is(str![[r#"
v1.31.7
    b.raw v1.31.9
v1.31.7 # metalmark: image=a field=k8s-version
    b.raw v1.31.8 # metalmark: image=a field=k8s-version
v1.31.8 # metalmark: image=a field=k8s-version
    b.raw v1.31.8 # metalmark: image=a field=k8s-version

"#]]);
}

#[test]
fn of_two_images_the_first_says_the_version_of_a_cluster() {
    let one = |name: &str, image: &str| {
        let text = template(name).replace("k0", image);
        text.split_once("---\n")
            .map_or(String::new(), |(template, _)| template.to_owned())
    };
    let of = |name: &str| {
        format!(
            "{{templateRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {name}}}}}"
        )
    };
    let text = format!(
        "{}---\n{}---\n\
         apiVersion: cluster.x-k8s.io/v1beta2\nkind: ClusterClass\nmetadata: {{name: class}}\n\
         spec:\n  infrastructure: {}\n  controlPlane: {{machineInfrastructure: {}}}\n---\n\
         apiVersion: cluster.x-k8s.io/v1beta2\nkind: Cluster\nmetadata: {{name: user}}\n\
         spec: {{topology: {{classRef: {{name: class}}, version: v1.30.9}}}}\n",
        one("a", "k1"),
        one("b", "k2"),
        of("a"),
        of("b"),
    );
    let (after, problems) = stamped(&[&text], SET);
    assert_eq!(problems, [""; 0]);
    let version = format!("version: v{}}}", version_of(1));
    assert!(after[0].contains(&version), "{}", after[0]);
}

#[test]
fn where_one_reference_cannot_be_edited_no_file_is_rotated() {
    let text = template("a");
    let quoted = serde_json::to_string(&user(
        "controlplane.cluster.x-k8s.io/v1beta1",
        "KubeadmControlPlane",
        "a",
    ));
    let other = format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: user}}\ndata:\n  x: {}\n",
        quoted.expect("JSON")
    );
    let (after, problems) = stamped(&[&text, &other], ROTATED);
    assert_eq!(after, [text.clone(), other.clone()]);
    assert_eq!(
        problems,
        ["it is in a quoted string: write it as a block, behind `|`"]
    );
    // Without a new name, nothing refers to what changes.
    let (after, problems) = stamped(
        &[&text, &other],
        Options {
            rotate: false,
            ..ROTATED
        },
    );
    assert_eq!(problems, [""; 0]);
    assert!(after[0] != text && after[1] == other);
}
