//! What of the clusters is looked at, and how much of what is found is printed.

use snapbox::str;

use super::super::support::manifests::cluster;
use super::super::support::stage::{Stage, project};

/// Two clusters of values that boot an image of another version.
fn fleet() -> Stage {
    let old = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-30}}";
    project()
        .catalog(&[
            "noble-31 rke2 1.31.8+rke2r1",
            "noble-30 rke2 1.30.12+rke2r1",
        ])
        .cluster("paris", old)
        .cluster("lyon", old)
}

#[test]
fn a_cluster_is_named_by_its_file_or_folder_too() {
    let fleet = fleet();
    fleet
        .run("check lyon --output concise")
        .exit(1)
        .screen(str![[r#"
lyon.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster lyon, pool control-plane)
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    fleet
        .run("check lyon.yaml --output concise")
        .exit(1)
        .screen(str![[r#"
lyon.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster lyon, pool control-plane)
1 error in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    fleet.run("check . --output concise").exit(1).screen(str![[r#"
lyon.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster lyon, pool control-plane)
paris.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster paris, pool control-plane)
2 errors in 2 clusters; 2 node pools checked: 2 mismatched

"#]]);
    fleet.run("check metalmark.yaml").exit(2).screen(str![[r#"
error: no cluster has a file in `metalmark.yaml`

"#]]);
    fleet.run("check lion.yaml").exit(2).screen(str![[r#"
error: there is no cluster `lion.yaml`
help: the clusters are paris, lyon

"#]]);
    fleet
        .run("clusters ./lyon.yaml */control-plane")
        .exit(0)
        .screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES      IMAGE     JUDGMENT
lyon     control-plane  capm3     v1.31.8+rke2r1  noble-30  mismatched: `1.30.12+rke2r1` in the values

"#]]);
    fleet
        .run("clusters metalmark.yaml")
        .exit(2)
        .screen(str![[r#"
error: no cluster has a file in `metalmark.yaml`

"#]]);
    fleet
        .run("check ./lyon.yaml paris --statistics")
        .exit(1)
        .screen(str![[r#"
COUNT  LEVEL  RULE                  WHAT IT FINDS
2      error  k8s-version-mismatch  a node pool's image holds another Kubernetes version than the pool must run
2 errors in 2 clusters; 2 node pools checked: 2 mismatched

"#]]);
}

#[test]
fn a_folder_of_manifests_names_the_clusters_in_it() {
    let manifests = cluster("v1.33.5", "kindest/node:v1.33.5");
    let stage = project().file("north/one.yaml", &manifests);
    stage.run("check north").exit(0).screen(str![[r#"
no findings in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
    stage.run("check south").exit(2).screen(str![[r#"
error: there is no cluster `south`
help: the clusters are edge

"#]]);
}

#[test]
fn quiet_prints_errors_alone_and_verbose_each_by_itself() {
    let fleet = fleet();
    fleet.run("check -q --statistics").exit(1).screen(str![[r#"
COUNT  LEVEL  RULE                  WHAT IT FINDS
2      error  k8s-version-mismatch  a node pool's image holds another Kubernetes version than the pool must run

"#]]);
    fleet.run("check -q --output concise").exit(1).screen(str![[r#"
lyon.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster lyon, pool control-plane)
paris.yaml:1:59: error[k8s-version-mismatch]: image `noble-30` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` (cluster paris, pool control-plane)

"#]]);
    fleet.run("check -q -v").exit(2);
    fleet.edit("paris.yaml", "noble-30", "noble-29");
    fleet.edit("lyon.yaml", "noble-30", "noble-29");
    let count = |words: &str| {
        let screen = fleet.run(words).exit(1).outcome.stdout;
        screen.matches("error[unknown-image]").count()
    };
    assert_eq!((count("check"), count("check --verbose")), (1, 2));
    fleet.edit("paris.yaml", "noble-29", "noble-31");
    fleet.edit("lyon.yaml", "noble-29", "noble-31");
    fleet.run("check -q").exit(0).screen(str![]);
    fleet
        .run("render --target configmap --out out -q")
        .exit(0)
        .screen(str![]);
    assert!(!fleet.list("out").is_empty());
}

#[test]
fn exit_zero_forgives_findings_and_nothing_else() {
    let fleet = fleet();
    fleet
        .run("check --exit-zero --statistics")
        .exit(0)
        .screen(str![[r#"
COUNT  LEVEL    RULE                  WHAT IT FINDS
2      error    k8s-version-mismatch  a node pool's image holds another Kubernetes version than the pool must run
1      warning  image-unused          an image is enabled or declared, and no cluster uses it
2 errors, 1 warning in 2 clusters; 2 node pools checked: 2 mismatched

"#]]);
    fleet.run("check nobody --exit-zero").exit(2);
}

#[test]
fn rules_have_the_levels_of_the_project() {
    let fleet = fleet();
    fleet.edit(
        "metalmark.yaml",
        "version: 1",
        "version: 1\npolicy: {rules: {image-unused: error}}",
    );
    let listed = fleet.run("rules").exit(0).outcome.stdout;
    let rows: Vec<&str> = listed
        .lines()
        .filter(|row| row.starts_with("image-u"))
        .collect();
    snapbox::assert_data_eq!(
        rows.join("\n"),
        str![[r#"
image-unstamped           error    a machine template in manifests gets no image
image-unused              error    an image is enabled or declared, and no cluster uses it
"#]]
    );
    let data = fleet.run("rules --output json").exit(0).outcome.stdout;
    assert!(data.contains(r#""level": "error""#) && data.contains(r#""rule": "image-unused""#));
    let elsewhere = project()
        .file("README.md", "")
        .run("rules")
        .exit(0)
        .outcome
        .stdout;
    assert!(elsewhere.contains("image-unused"), "{elsewhere}");
}
