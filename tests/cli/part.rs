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

/// A change prints its result on stdout, and what is found beside it on stderr.
#[test]
fn quiet_and_verbose_mean_the_same_in_each_command() {
    let Some(stage) = fleet().commit("two") else {
        return;
    };
    let summary = |words: &str| stage.run(words).outcome.stderr;
    let found = "2 errors, 1 warning in 2 clusters";
    assert!(summary("impact").contains(found), "{}", summary("impact"));
    let quiet = summary("impact --quiet");
    assert!(quiet.contains("error[k8s-version-mismatch]"), "{quiet}");
    assert!(
        !quiet.contains("warning") && !quiet.contains(" in 2 clusters"),
        "{quiet}"
    );
    let count = |words: &str| summary(words).matches("error[").count();
    assert_eq!(count("impact -v"), 2);
}

#[test]
fn a_path_of_the_project_file_where_nothing_is_has_its_line_and_the_near_name() {
    let stage = project()
        .file("os-images-info.yaml", "data: {}\n")
        .file("fleet/paris/values.yaml", "cluster: {}\n")
        .file(
            "metalmark.yaml",
            "version: 1
clusters:
  - {name: paris, values: [fleet/pariss/values.yaml]}
  - {name: lyon, values: [fleet/pari]}
images: {facts: [os-image-info.yaml]}
manifests: [fleets, other/folder]
",
        );
    stage.run("check --output concise").exit(1).screen(str![[r#"
metalmark.yaml:3:5: error[project-file]: there is no `fleet/pariss/values.yaml`
metalmark.yaml:4:5: error[project-file]: there is no `fleet/pari`
metalmark.yaml:5:18: error[project-file]: there is no `os-image-info.yaml`
metalmark.yaml:6:13: error[project-file]: there is no `fleets`
metalmark.yaml:6:21: error[project-file]: there is no `other/folder`
5 errors

"#]]);
    let helps = stage.run("check").exit(1).outcome.stdout;
    let helps: Vec<&str> = helps
        .lines()
        .filter(|line| line.contains("help: "))
        .collect();
    snapbox::assert_data_eq!(
        helps.join("\n"),
        str![[r#"
  = help: did you mean `fleet/paris/values.yaml`?
  = help: did you mean `fleet/paris`?
  = help: did you mean `os-images-info.yaml`?
  = help: did you mean `fleet`?
  = help: paths start at the folder of the project file
"#]]
    );
    // What a flag names has no line.
    stage.run("check --info none.yaml --values fleet/paris/values.yaml --clusters fleet/*/values.yaml").exit(2);
}

#[test]
fn a_project_file_with_a_policy_alone_changes_no_cluster() {
    let stage = project().file("north/one.yaml", cluster("v1.33.5", "kindest/node:v1.33.5"));
    let before = stage.run("check").exit(0).outcome.stdout;
    for text in ["", "version: 1\npolicy: {rules: {image-unused: off}}\n"] {
        stage.write("metalmark.yaml", text);
        assert_eq!(stage.run("check").exit(0).outcome.stdout, before);
    }
    stage.remove("north/one.yaml");
    stage.run("check --output concise").exit(1).screen(str![[r#"
error[nothing-checked]: there are no clusters, so nothing is checked
1 error

"#]]);
}

#[test]
fn environments_beside_manifests_are_said_to_be_unread_without_a_project_file() {
    let stage = project().folder("fixtures/workspaces/sylva-flux");
    stage.remove("metalmark.yaml");
    stage.run("check").exit(2).screen(str![[r#"
error: there is no `metalmark.yaml` here or in a folder above, and no cluster in the manifests below
help: `metalmark init` writes one for the environments, such as `environment-values/lyon`

"#]]);
    stage.write("edge.yaml", cluster("v1.33.5", "kindest/node:v1.33.5"));
    stage.run("check").exit(0).screen(str![[r#"
warning[project-file]: without a project file, the values in `environment-values/lyon` and 4 more are not read
 |
 = help: `metalmark init` writes one for them and the manifests

1 warning; 2 node pools checked: 2 by name only

"#]]);
}

/// Both sides of a change lack the project file, so nothing of that is new.
#[test]
fn environments_that_are_unread_on_both_sides_are_no_change() {
    let stage = project()
        .folder("fixtures/workspaces/sylva-flux")
        .file("edge.yaml", cluster("v1.33.5", "kindest/node:v1.33.5"));
    stage.remove("metalmark.yaml");
    let Some(stage) = stage.commit("both") else {
        return;
    };
    let change = stage.run("impact").exit(0).outcome.stdout;
    let (_, change) = change
        .split_once("\n\n")
        .expect("a line that names the commit");
    snapbox::assert_data_eq!(
        change,
        str![[r#"
no machine is re-provisioned, 1 cluster as before, 1 source not read, as before

"#]]
    );
}

#[test]
fn what_renders_nothing_says_what_there_is_to_do_with_manifests() {
    let stage = project().file("edge.yaml", cluster("v1.33.5", "kindest/node:v1.33.5"));
    stage.run("render").exit(2).screen(str![[r#"
error: there is no `metalmark.yaml` here or in a folder above
help: name what to read: --values values.yaml --clusters 'clusters/*/values.yaml', or write a `metalmark.yaml`: `metalmark init` proposes one

"#]]);
    stage.write("metalmark.yaml", "version: 1\nmanifests: [.]\n");
    stage.run("render").exit(2).screen(str![[r#"
error: there is nothing to render: the project file has no `outputs`
help: `metalmark check` checks your manifests; `metalmark stamp` writes images into them

"#]]);
}

#[test]
fn an_overlay_that_has_only_a_namespace_of_its_own_names_its_cluster() {
    let stage = project()
        .file("base/edge.yaml", cluster("v1.33.5", "kindest/node:v1.33.5"))
        .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
        .file(
            "dev/kustomization.yaml",
            "resources: [../base]\nnamespace: dev\n",
        )
        .file(
            "prod/kustomization.yaml",
            "resources: [../base]\nnamespace: prod\n",
        );
    let one = "no findings in 1 cluster; 2 node pools checked: 2 by name only\n";
    assert_eq!(stage.run("check dev").exit(0).outcome.stdout, one);
    let listed = stage.run("clusters prod/").exit(0).outcome.stdout;
    assert_eq!(listed.matches("prod/edge").count(), 2, "{listed}");
    // What manifests name is explained by that name.
    stage
        .run("explain kindest/node:v1.33.5")
        .exit(0)
        .screen(str![[r#"
kindest/node:v1.33.5 (no reference)
  facts
    k8s-version: 1.33.5  (the image's name)
  used by: dev/edge/control-plane, dev/edge/edge-md, prod/edge/control-plane, prod/edge/edge-md
  served for: nobody

"#]]);
    stage.run("explain nothing").exit(2).screen(str![[r#"
error: `nothing` is not a rule, image, cluster or pool here
help: `metalmark clusters` lists clusters and pools, `metalmark images` images, `metalmark rules` rules

"#]]);
}
