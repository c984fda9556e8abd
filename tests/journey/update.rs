//! `update` in the reduced copy.

use super::project::{AFTER, Project};
use super::reduced::{self, CHART, update};

/// Text of the chart that holds a template of a Secret, as Sylva's own values do; the file is no Secret.
const SECRET_TEMPLATE: &str = "
units:
  network:
    template: |
      kind: Secret
      data:
        key: value
";

fn with_secret_template() -> Project {
    let project = reduced::start();
    let chart = project.read(CHART);
    project.write(CHART, format!("{chart}{SECRET_TEMPLATE}"));
    project.succeeds("render");
    reduced::own_image_is_rebuilt(&project);
    project
}

#[test]
fn a_chart_with_a_template_of_a_secret_is_updated() {
    let project = with_secret_template();
    project.succeeds(&update());
    let chart = project.read(CHART);
    assert!(chart.contains(&format!("_version: {AFTER}\n")) && chart.ends_with(SECRET_TEMPLATE));
}

#[test]
fn a_chart_with_a_template_of_a_secret_shows_its_values() {
    let words = "values edge-key cluster.k8s_version";
    let plain = reduced::start().succeeds(words);
    assert!(plain.stdout.contains("v1.31.8+rke2r1"), "{}", plain.stdout);
    let project = with_secret_template();
    assert_eq!(project.succeeds(words).stdout, plain.stdout);
}

/// Bare values of the project's founding document: dots in names, as the registry of that time has them.
#[test]
fn names_with_dots_keep_their_dots() {
    let project = Project::new();
    let values = |patch: &str, version: &str| {
        format!(
            "sylva_diskimagebuilder_version: {version}\n\
             diskimage_builder_os_images:\n  ubuntu-jammy-plain-rke2-1.26.{patch}: {{enabled: true}}\n\
             cluster:\n  k8s_version: v1.26.10+rke2r1\n\
             \x20 capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n\
             \x20 capm3: {{os_image_selector: {{os: ubuntu}}}}\n"
        )
    };
    project.write("values.yaml", values("9", "0.1.1"));
    project.write(
        "metalmark.yaml",
        "version: 1\nclusters: [{name: edge, values: [values.yaml]}]\n\
         policy: {rules: {checksum-missing: warning, format-missing: warning, no-image-matches: warning, unknown-image: warning}}\n",
    );
    project.write("offered.txt", "ubuntu-jammy-plain-rke2-1.26.10\n");
    project.run("update 0.1.2 --images offered.txt");
    assert!(project.read("values.yaml").contains("_version: 0.1.2\n"));
    assert_eq!(project.read("values.yaml"), values("10", "0.1.2"));
}

/// What the expression evaluates to is offered: the entry needs no edit.
#[test]
fn a_key_with_an_expression_is_left_alone() {
    let project = reduced::start();
    reduced::own_image_is_rebuilt(&project);
    let path = "environment-values/workload-clusters/edge-key/values.yaml";
    let entry = "sylva_diskimagebuilder_images:\n  \
         '{{ printf \"debian-trixie-plain-rke2-%s\" (.Values.k8s_version_short | replace \".\" \"-\") }}': {os_images_oci_registry: sylva}\n";
    project.write(path, format!("{}{entry}", project.read(path)));
    let offered = project.read("offered.txt");
    project.write(
        "offered.txt",
        format!("{offered}\ndebian-trixie-plain-rke2-1-31\n"),
    );
    let outcome = project.run(&update());
    assert_ne!(outcome.status, 2, "{}", outcome.stderr);
    assert!(
        project
            .read(CHART)
            .contains(&format!("_version: {AFTER}\n"))
    );
    assert!(project.read(path).ends_with(entry));
}

/// A run that cannot go through leaves every file as it is, also those that it would have edited first.
#[test]
fn an_update_without_images_of_the_version_writes_nothing() {
    let project = reduced::start();
    project.write("offered.txt", "oci://r.example/builder/other:0.1.0\n");
    let before = project.files("");
    let outcome = project.run(&update());
    assert_eq!(outcome.status, 2, "{}", outcome.stderr);
    assert_eq!(project.changed_since(&before), [""; 0]);
}

/// The minor version that was listed goes, and the next one comes: every entry is new, and the first one's line goes on.
#[test]
fn a_catalog_whose_first_entry_is_replaced_and_whose_others_go_is_edited() {
    for list in [
        "{ubuntu-noble-plain-kubeadm-1-28-0: {a: 1}, ubuntu-noble-hardened-kubeadm-1-28-0: {a: 1}}\n",
        "\n  ubuntu-noble-plain-kubeadm-1-28-0:\n    a: 1\n  ubuntu-noble-hardened-kubeadm-1-28-0:\n    a: 1\n",
        "\n  ubuntu-noble-hardened-kubeadm-1-28-0:\n    a: 1\n  ubuntu-noble-plain-kubeadm-1-28-0:\n    a: 1\n",
    ] {
        let project = Project::new();
        let values = |version: &str, list: &str| {
            format!(
                "sylva_diskimagebuilder_version: {version}\nsylva_diskimagebuilder_images: {list}last: 1\n"
            )
        };
        project.write("values.yaml", values("0.4.12", list));
        project.write("edge.yaml", "cluster: {name: edge}\n");
        project.write(
            "metalmark.yaml",
            "version: 1\nvalues: [values.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]\n",
        );
        project.write("offered.txt", "ubuntu-noble-plain-kubeadm-1-29-1\n");
        let outcome = project.run("update 0.5.0 --images offered.txt");
        assert_ne!(outcome.status, 2, "{}", outcome.stderr);
        let after = project.values("values.yaml");
        let wanted = serde_json::json!({"ubuntu-noble-plain-kubeadm-1-29-1": {"a": 1}});
        assert_eq!(after["sylva_diskimagebuilder_images"], wanted);
        assert_eq!(after["last"], 1);
    }
}

/// Errors after the edits put everything back, the lock too.
#[test]
fn an_update_with_errors_is_undone() {
    let project = reduced::start();
    // The site's own image is not rebuilt, so that it does not fit the cluster's next version.
    let before = project.files("");
    let outcome = project.run(&update());
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("what was written is undone, because of the errors above"),
        "{}",
        outcome.stderr
    );
    assert_eq!(project.changed_since(&before), [""; 0]);
}

/// A version that a cluster writes itself moves with the images.
#[test]
fn a_cluster_s_own_kubernetes_version_moves_with_the_images() {
    let project = reduced::start();
    reduced::own_image_is_rebuilt(&project);
    let path = "environment-values/workload-clusters/edge-key/values.yaml";
    project.edit(
        path,
        "cluster:\n",
        "cluster:\n  k8s_version: v1.31.8+rke2r1 # the platform's\n",
    );
    project.succeeds(&update());
    let values = project.read(path);
    assert!(
        values.contains("  k8s_version: v1.31.9+rke2r1 # the platform's\n"),
        "{values}"
    );
}
