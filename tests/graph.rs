//! Rules over the graph of plain manifests: `check` and `stamp` find the same.

use std::collections::BTreeSet;
use std::fs;

use super::git::{commit, git};
use super::plain_manifests::{GOOD, check, cluster, repository, summary};
use super::support::Metalmark;

const DANGLING: &str = "error[reference-dangling]";

#[test]
fn a_reference_to_a_template_that_is_not_there_is_found() {
    let named = |from: &str, to: &str| {
        let text = cluster("v1.31.8", GOOD);
        let reference = "kind: OpenStackMachineTemplate, name: edge}";
        let text = text.replace(
            reference,
            &format!("kind: OpenStackMachineTemplate, name: '{from}'}}"),
        );
        let (before, template) = text
            .rsplit_once("metadata: {name: edge}")
            .expect("a template");
        format!("{before}metadata: {{name: '{to}'}}{template}")
    };
    for (from, to, is_found) in [
        ("edge", "edge", false),
        ("edge-v1", "edge-v2", true),
        ("${NAME}-a", "${NAME}-a", false),
        ("${NAME}-a", "${NAME}-b", true),
        ("${ NAME }-a", "${NAME}-a", false),
        ("${ NAME }-a", "${NAME}-b", true),
        // They may have the same value.
        ("${NAME}-a", "${OTHER}-b", false),
        ("${NAME}-a", "edge-a", false),
        ("edge-a", "${NAME}-a", false),
        ("{{ name }}-a", "{{ name }}-b", true),
    ] {
        let (screen, _) = check(&[("edge.yaml", &named(from, to))]);
        assert_eq!(screen.contains(DANGLING), is_found, "{from} {to}: {screen}");
    }
    // Where there is none of its kind it may be kept elsewhere.
    let text = named("edge", "edge").replace("\nkind: OpenStackMachineTemplate", "\nkind: Other");
    let (screen, _) = check(&[("edge.yaml", &text)]);
    assert!(!screen.contains(DANGLING), "{screen}");
    // What `kubectl get -o yaml` prints refers to objects in the cluster that it came from.
    let text = named("edge-v1", "edge-v2");
    let applied = format!(
        "metadata: {{name: edge-md, uid: 4f1c, annotations: {{kubectl.kubernetes.io/last-applied-configuration: '{}'}}}}\nspec:\n  clusterName",
        r#"{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "metadata": {"name": "edge-md"}, "spec": {"clusterName": "edge", "template": {"spec": {"infrastructureRef": {"apiVersion": "infrastructure.cluster.x-k8s.io/v1beta1", "kind": "OpenStackMachineTemplate", "name": "gone"}}}}}"#
    );
    let printed = text.replace("metadata: {name: edge-md}\nspec:\n  clusterName", &applied);
    assert_ne!(printed, text);
    let (screen, _) = check(&[("edge.yaml", &printed)]);
    assert_eq!(screen.matches(DANGLING).count(), 1, "{screen}");
    assert!(
        screen.contains("KubeadmControlPlane `edge-cp` refers to"),
        "{screen}"
    );
    let (screen, status) = check(&[("edge.yaml", &text)]);
    assert_eq!(status, 1, "{screen}");
    assert!(screen.contains("= help: write `name: edge-v2`"), "{screen}");
    assert!(screen.contains("--> edge.yaml:14:"), "{screen}");
}

/// `clusterctl move` and backups leave the owners of an object in its manifest; a controller sets them again.
#[test]
fn an_owner_that_is_not_there_is_no_reference_to_a_template() {
    let owned = |owner: &str| {
        let owners = format!(
            "metadata: {{name: edge-md, ownerReferences: [{{apiVersion: cluster.x-k8s.io/v1beta1, kind: Cluster, name: {owner}, uid: 4f1c}}]}}"
        );
        cluster("v1.31.8", GOOD).replace("metadata: {name: edge-md}", &owners)
    };
    for owner in ["edge", "gone"] {
        let (screen, status) = check(&[("edge.yaml", &owned(owner))]);
        assert_eq!(status, 0, "{owner}: {screen}");
    }
}

/// As in the provider for RKE2's own example for AWS.
#[test]
fn a_reference_whose_group_has_a_version_means_nothing() {
    let text = cluster("v1.31.8", GOOD).replace(
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind",
        "apiGroup: infrastructure.cluster.x-k8s.io/v1beta1, kind",
    );
    let (screen, status) = check(&[("edge.yaml", &text)]);
    assert_eq!(status, 1, "{screen}");
    assert_eq!(screen.matches(DANGLING).count(), 2, "{screen}");
    let help = "= help: write `apiGroup: infrastructure.cluster.x-k8s.io`";
    assert!(screen.contains(help), "{screen}");
}

#[test]
fn the_object_of_another_group_that_is_shown_is_the_nearest_one() {
    let text = cluster("v1.31.8", GOOD);
    let wrong = text.replace(
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind",
        "apiGroup: infrastructure.cluster.x-k8s.io/v1beta1, kind",
    );
    let (_, template) = text.rsplit_once("---\n").expect("several documents");
    let (screen, _) = check(&[("a.yaml", template), ("b.yaml", &wrong)]);
    assert_eq!(screen.matches("this one is of the group").count(), 2);
    assert!(!screen.contains("a.yaml"), "{screen}");
}

/// A MachineDeployment's own bootstrap configuration says which distribution its machines run.
#[test]
fn an_image_is_compared_with_what_bootstraps_its_own_pool() {
    let configured = |kind: &str| {
        let infrastructure = "      infrastructureRef:";
        let bootstrap = format!(
            "      bootstrap: {{configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: {kind}, name: edge}}}}\n"
        );
        cluster(
            "v1.31.8+rke2r1",
            "{filter: {name: ubuntu-noble-plain-rke2-1-31-8}}",
        )
        .replace("KubeadmControlPlane", "RKE2ControlPlane")
        .replace(infrastructure, &format!("{bootstrap}{infrastructure}"))
    };
    let mismatch = "is made for rke2, not for kubeadm";
    for (kind, is_found) in [
        ("RKE2ConfigTemplate", false),
        ("KubeadmConfigTemplate", true),
    ] {
        let (screen, _) = check(&[("edge.yaml", &configured(kind))]);
        assert_eq!(screen.contains(mismatch), is_found, "{kind}: {screen}");
    }
}

/// `stamp` looks at the clusters that there will be, with the rules that `check` has: where it changes nothing, it finds the same.
#[test]
fn where_nothing_changes_both_commands_find_the_same() {
    let worker = |text: &str, version: &str| {
        text.replace(
            "      version: v1.31.8",
            &format!("      version: {version}"),
        )
    };
    let mut found = BTreeSet::new();
    let image = "{filter: {name: ubuntu-noble-plain-kubeadm-1-31-8}}";
    let good = cluster("v1.31.8", image);
    let rke2 = good.replace("KubeadmControlPlane", "RKE2ControlPlane");
    for text in [
        good.clone(),
        cluster("v1.30.2", image),
        worker(&good, "v1.32.1"),
        worker(&rke2, "v1.27.1"),
        good.replacen("Template, name: edge}", "Template, name: edgy}", 1),
        cluster("v1.31.8+rke2r1", image).replace("KubeadmControlPlane", "RKE2ControlPlane"),
        good.replace("v1.31.8\n", "\"${VERSION}\"\n"),
    ] {
        let project = "version: 1
manifests: [.]
images:
  records:
    ubuntu-noble-plain-kubeadm-1-31-8:
      k8s: {flavor: kubeadm, version: 1.31.8}
      locations: {glance: {name: ubuntu-noble-plain-kubeadm-1-31-8}}
stamps: [{kind: OpenStackMachineTemplate, image: ubuntu-noble-plain-kubeadm-1-31-8}]
";
        let folder = repository(&[("edge.yaml", &text), ("metalmark.yaml", project)]);
        let errors = |arguments: &[&str]| {
            let outcome = Metalmark::within(folder.path())
                .args(arguments.iter().copied())
                .run();
            let screen = outcome.stdout + &outcome.stderr;
            let lines = screen.lines().filter(|line| line.starts_with("error["));
            lines.map(str::to_owned).collect::<BTreeSet<_>>()
        };
        let (checked, stamped) = (
            errors(&["check", "--allow-empty"]),
            errors(&["stamp", "--check"]),
        );
        assert_eq!(checked, stamped, "{text}");
        found.extend(checked);
    }
    for rule in [
        "k8s-flavor-mismatch",
        "k8s-version-mismatch",
        "reference-dangling",
        "version-skew",
    ] {
        let is_found = found.iter().any(|line| line.contains(rule));
        assert!(is_found, "{rule}: {found:?}");
    }
}

/// A digest that becomes a URL, as in lentzi90/playground, says nothing of what is behind it.
#[test]
fn only_digests_say_that_an_image_is_replaced() {
    let (one, two) = ("0".repeat(64), "1".repeat(64));
    let sums = "https://images.example.org/SHA256SUMS";
    for (from, to, is_found) in [
        (&*one, &*two, true),
        (&one, &one, false),
        (&one, sums, false),
        (sums, &one, false),
        (sums, "https://images.example.org/sums", false),
    ] {
        let text = |checksum: &str| {
            let image =
                format!("{{url: 'https://images.example.org/a.raw', checksum: '{checksum}'}}");
            cluster("v1.31.8", &image).replace("OpenStackMachineTemplate", "Metal3MachineTemplate")
        };
        let folder = repository(&[("edge.yaml", &text(from))]);
        git(
            folder.path(),
            &["init", "--quiet", "--initial-branch", "main"],
        );
        commit(folder.path(), "Add a cluster");
        fs::write(folder.path().join("edge.yaml"), text(to)).expect("written");
        let impact = ["impact", "--against", "HEAD"];
        let screen = Metalmark::within(folder.path()).args(impact).run().stderr;
        let message = "error[image-replaced-in-place]: another image would be at";
        assert_eq!(screen.contains(message), is_found, "{from} {to}: {screen}");
    }
}

/// Both sides of a change of `edge.yaml`, as `impact` prints them.
fn impact(before: &str, after: &str) -> String {
    let folder = repository(&[("edge.yaml", before)]);
    git(
        folder.path(),
        &["init", "--quiet", "--initial-branch", "main"],
    );
    commit(folder.path(), "Add a cluster");
    fs::write(folder.path().join("edge.yaml"), after).expect("written");
    let arguments = ["impact", "--against", "HEAD"];
    let outcome = Metalmark::within(folder.path()).args(arguments).run();
    outcome.stdout + &outcome.stderr
}

/// Another kind of that name is another object, and a machine pool's own provider replaces its machines.
#[test]
fn a_change_under_the_same_name_is_reported_of_one_template_that_rolls_nothing() {
    const EDITED: &str = "[template-edited-in-place]";
    let before = cluster("v1.31.8", GOOD);
    let edited = before.replace("kube-v1.31.8", "efi-kube-v1.31.8");
    assert!(impact(&before, &edited).contains(EDITED));
    let other = edited.replace("OpenStackMachineTemplate", "AzureMachineTemplate");
    let screen = impact(&before, &other);
    assert!(!screen.contains(EDITED), "{screen}");
    let pool = |image: &str| {
        let version = "      version: v1.31.8\n      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: edge}\n";
        let rolled = version.replace("OpenStackMachineTemplate", "AzureMachinePool");
        let object = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: AzureMachinePool\nmetadata: {name: edge}\n";
        before
            .replace("MachineDeployment", "MachinePool")
            .replace(version, &rolled)
            + &format!("{object}spec: {{template: {{image: {{id: {image}}}}}}}\n")
    };
    let screen = impact(&pool("/images/a"), &pool("/images/b"));
    assert!(screen.contains("edge-md"), "{screen}");
    assert!(!screen.contains(EDITED), "{screen}");
}

/// More than are compared are taken for several, although they name one image.
#[test]
fn as_many_equally_near_templates_are_compared_as_is_stated() {
    let whole = cluster("v1.30.2", GOOD);
    let (base, template) = whole.rsplit_once("---\n").expect("documents");
    for (count, end) in [
        (99, "2 node pools checked: 2 mismatched"),
        (
            100,
            "2 skipped: several machine templates have its template's name",
        ),
    ] {
        let overlays = (0..count).map(|index| format!("overlay-{index}/template.yaml"));
        let overlays: Vec<String> = overlays.collect();
        let overlays = overlays.iter().map(|path| (&**path, template));
        let files: Vec<(&str, &str)> = overlays.chain([("base/cluster.yaml", base)]).collect();
        let line = summary(&files);
        assert!(line.ends_with(end), "{count}: {line}");
    }
}
