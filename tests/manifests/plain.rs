//! Clusters of plain manifests: found without a project file, and judged by the image that each machine template names.

use snapbox::str;

use crate::support::manifests::{
    GOOD, cluster, hosted, infrastructure, manifest, object, repository,
};
use crate::support::seen::Seen;
use crate::support::stage::{Is, project};

use super::{checked, judged};

#[test]
fn another_version_in_the_images_name_is_found_without_a_project() {
    let project = project().file("clusters/edge.yaml", cluster("v1.30.2", GOOD));
    project.run("check").exit(1).brief(str![[r#"
error[k8s-version-mismatch]: image `ubuntu-2204-kube-v1.31.8` holds Kubernetes `1.31.8`, not `v1.30.2`
  clusters/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` this image is selected here
  clusters/edge.yaml:12:12 `v1.30.2` this version is required
  cluster: edge, pool control-plane
  also in pools: edge-md
  help: name an image with Kubernetes `v1.30.2`, in a machine template of a new name
1 error in 1 cluster; 2 node pools checked: 2 mismatched

"#]]);
    project.edit("clusters/edge.yaml", "kube-v1.31.8", "kube-v1.30.2");
    project.run("check").exit(0).screen(str![[r#"
no findings in 1 cluster; 2 node pools checked: 2 by name only

"#]]);
}

#[test]
fn a_pool_is_judged_by_what_its_template_names_or_skipped_with_a_reason() {
    let whole = cluster("v1.31.8", GOOD);
    let (without, _) = whole.rsplit_once("---").expect("documents");
    let old = cluster("v1.30.2", "ubuntu-2204-kube-v1.31.8");
    let api = "infrastructure.cluster.x-k8s.io/v1beta1\nkind";
    let old = old.replace(api, &api.replace("v1beta1", "v1alpha3"));
    let worker = hosted("v1.31.8", GOOD)
        .replace("      version: v1.31.8", "      version: ${WORKER}")
        .replace("  version: v1.31.8\n---", "  version: v1.30.2\n---");
    let cases = [
        ("its name says the version", whole.clone()),
        (
            "its name says none",
            cluster("v1.31.8", "{filter: {name: ubuntu-24.04}}"),
        ),
        (
            "an ID",
            cluster("v1.31.8", "{id: 19e017ae-2759-479c-90ac-a400a3f64678}"),
        ),
        ("an older API", old),
        ("a variable", cluster("${KUBERNETES_VERSION}", GOOD)),
        ("the workers' alone is a variable", worker),
        ("no template", without.to_owned()),
        ("no image", cluster("v1.31.8", "{filter: {tags: [a]}}")),
    ];
    let cases = cases.map(|(name, text)| (name, manifest(text)));
    checked(cases).is(str![[r#"
its name says the version
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
its name says none
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, ubuntu-24.04 (edge.yaml:29:49)
an ID
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, 19e017ae-2759-479c-90ac-a400a3f64678 (edge.yaml:29:38)
an older API
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:33 `ubuntu-2204-kube-v1.31.8` edge.yaml:12:12 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:33) holds 1.31.8
a variable
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane, edge/edge-md: unknown (its image or version is a variable)
the workers' alone is a variable
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/edge-md v1.30.2 (edge.yaml:12:12): unknown (its image or version is a variable)
no template
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its machine template is not among the manifests)
no image
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unproven, a (edge.yaml:29:49)

"#]]);
}

#[test]
fn of_several_templates_the_nearest_is_meant() {
    let whole = cluster("v1.30.2", GOOD);
    let (base, template) = whole.rsplit_once("---\n").expect("documents");
    let other = template.replace("1.31.8", "1.30.2");
    let own = template.replace("name: edge}", "name: edge, namespace: prod}");
    let files = |one: &str, two: &str| {
        let project = project().file("base/cluster.yaml", base);
        project
            .file("dev/template.yaml", one)
            .file("prod/template.yaml", two)
    };
    let in_file = project().file("a/edge.yaml", format!("{base}---\n{own}"));
    let cases = [
        (
            "in the file, before one without a namespace",
            in_file.file("z/template.yaml", &other),
        ),
        ("two overlays' alike", files(template, template)),
        ("two overlays' that differ", files(template, &other)),
    ];
    judged(cases).is(str![[r#"
in the file, before one without a namespace
    edge/control-plane v1.30.2 (a/edge.yaml:12:12), edge/edge-md v1.30.2 (a/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (a/edge.yaml:29:49) holds 1.31.8
two overlays' alike
    edge/control-plane v1.30.2 (base/cluster.yaml:12:12), edge/edge-md v1.30.2 (base/cluster.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (dev/template.yaml:4:49) holds 1.31.8
two overlays' that differ
    edge/control-plane v1.30.2 (base/cluster.yaml:12:12), edge/edge-md v1.30.2 (base/cluster.yaml:23:16): unknown (several machine templates have its template's name)

"#]]);
}

/// Each ConfigMap holds a whole cluster; what one names is not in the other.
#[test]
fn the_template_in_the_same_text_is_nearer_than_another_in_the_file() {
    let held = |name: &str, version: &str| {
        let image = format!("{{filter: {{name: ubuntu-2204-kube-{version}}}}}");
        let text = cluster(version, &image).replace("edge-", &format!("{name}-"));
        let text = text.replacen("{name: edge}", &format!("{{name: {name}}}"), 1);
        let text = text.replace("clusterName: edge", &format!("clusterName: {name}"));
        let lines: String = text.lines().map(|line| format!("    {line}\n")).collect();
        object(
            &format!("v1 ConfigMap {name}"),
            &format!("data:\n  cluster.yaml: |\n{lines}"),
        )
    };
    let file = held("one", "v1.30.2") + &held("two", "v1.31.8");
    manifest(file).check().is(str![[r#"
one/control-plane v1.30.2 (edge.yaml:18:16), one/one-md v1.30.2 (edge.yaml:29:20): by_name, ubuntu-2204-kube-v1.30.2 (edge.yaml:35:53) holds 1.30.2
two/control-plane v1.31.8 (edge.yaml:54:16), two/two-md v1.31.8 (edge.yaml:65:20): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:71:53) holds 1.31.8

"#]]);
}

/// More than are compared are taken for several, although they name one image.
#[test]
fn as_many_equally_near_templates_are_compared_as_is_stated() {
    let whole = cluster("v1.30.2", GOOD);
    let (base, template) = whole.rsplit_once("---\n").expect("documents");
    let cases = [99, 100].map(|count| {
        let base = project().file("base/cluster.yaml", base);
        let overlays = (0..count).map(|index| format!("overlay-{index}/template.yaml"));
        (
            count,
            overlays.fold(base, |project, path| project.file(&path, template)),
        )
    });
    judged(cases).is(str![[r#"
99
    edge/control-plane v1.30.2 (base/cluster.yaml:12:12), edge/edge-md v1.30.2 (base/cluster.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (overlay-0/template.yaml:4:49) holds 1.31.8
100
    edge/control-plane v1.30.2 (base/cluster.yaml:12:12), edge/edge-md v1.30.2 (base/cluster.yaml:23:16): unknown (several machine templates have its template's name)

"#]]);
}

#[test]
fn a_cluster_is_named_after_its_folder_where_several_have_its_name() {
    let right = cluster("v1.30.2", "{filter: {name: ubuntu-2204-kube-v1.30.2}}");
    let wrong = cluster("v1.30.9", GOOD);
    let folders = project()
        .file("dev/all.yaml", &wrong)
        .file("prod/all.yaml", right);
    let beside = manifest(&wrong).file("a/edge.yaml", &wrong);
    let cases = [
        ("in two folders", folders),
        ("here and in a folder", beside),
    ];
    checked(cases).is(str![[r#"
in two folders
    error[k8s-version-mismatch] dev/edge/control-plane dev/all.yaml:29:49 `ubuntu-2204-kube-v1.31.8` dev/all.yaml:12:12 `v1.30.9` => v1.30.9
    dev/edge/control-plane v1.30.9 (dev/all.yaml:12:12), dev/edge/edge-md v1.30.9 (dev/all.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (dev/all.yaml:29:49) holds 1.31.8
    prod/edge/control-plane v1.30.2 (prod/all.yaml:12:12), prod/edge/edge-md v1.30.2 (prod/all.yaml:23:16): by_name, ubuntu-2204-kube-v1.30.2 (prod/all.yaml:29:49) holds 1.30.2
here and in a folder
    error[k8s-version-mismatch] a/edge/control-plane a/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` a/edge.yaml:12:12 `v1.30.9` => v1.30.9
    error[k8s-version-mismatch] ./edge/control-plane edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` edge.yaml:12:12 `v1.30.9` => v1.30.9
    ./edge/control-plane v1.30.9 (edge.yaml:12:12), ./edge/edge-md v1.30.9 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
    a/edge/control-plane v1.30.9 (a/edge.yaml:12:12), a/edge/edge-md v1.30.9 (a/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (a/edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// A worker that is newer than its control plane would be a finding.
#[test]
fn a_namespace_that_one_side_does_not_name_fits_and_another_one_does_not() {
    let of = |namespace: &str, version: &str| {
        let image = format!("{{filter: {{name: ubuntu-2204-kube-{version}}}}}");
        let own = format!("metadata: {{namespace: {namespace}, ");
        cluster(version, &image).replace("metadata: {", &own)
    };
    let half = cluster("v1.30.2", GOOD)
        .replacen("{name: edge}", "{name: edge, namespace: fleet}", 1)
        .replacen(
            "metadata: {name: edge-cp}",
            "metadata: {name: edge-cp, namespace: fleet}",
            1,
        );
    assert_eq!(half.matches("fleet").count(), 2);
    let pools = |text: String| text.split_once("---\n").map(|(_, rest)| rest.to_owned());
    let [one, two] = [("one", "v1.30.2"), ("two", "v1.31.8")]
        .map(|(namespace, version)| pools(of(namespace, version)).expect("a Cluster and more"));
    let cases = [
        ("one side", manifest(half)),
        (
            "two",
            manifest(of("one", "v1.30.2") + "---\n" + &of("two", "v1.31.8")),
        ),
        (
            "two whose Clusters are elsewhere",
            manifest(one + "---\n" + &two),
        ),
    ];
    checked(cases).is(str![[r#"
one side
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` edge.yaml:12:12 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
two
    ./edge/control-plane v1.30.2 (edge.yaml:12:12), ./edge/edge-md v1.30.2 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.30.2 (edge.yaml:29:49) holds 1.30.2
    ./edge#2/control-plane v1.31.8 (edge.yaml:42:12), ./edge#2/edge-md v1.31.8 (edge.yaml:53:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:59:49) holds 1.31.8
two whose Clusters are elsewhere
    ./edge/edge-md v1.30.2 (edge.yaml:17:16): by_name, ubuntu-2204-kube-v1.30.2 (edge.yaml:23:49) holds 1.30.2
    ./edge#2/edge-md v1.31.8 (edge.yaml:41:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:47:49) holds 1.31.8
    ./edge-cp/control-plane v1.30.2 (edge.yaml:6:12): by_name, ubuntu-2204-kube-v1.30.2 (edge.yaml:23:49) holds 1.30.2
    ./edge-cp#2/control-plane v1.31.8 (edge.yaml:30:12): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:47:49) holds 1.31.8

"#]]);
}

#[test]
fn what_has_no_machines_is_no_pool_and_no_cluster() {
    let more = |named: &str, spec: &str| manifest(cluster("v1.31.8", GOOD) + &object(named, spec));
    let template = infrastructure("OpenStackMachineTemplate", "edge");
    let template = format!("spec: {{template: {{spec: {{infrastructureRef: {template}}}}}}}");
    let newer = hosted("v1.31.8", GOOD).replace("      version: v1.31.8", "      version: v1.32.1");
    let cases = [
        (
            "an empty Cluster",
            more("cluster.x-k8s.io/v1beta1 Cluster empty", "spec: {}"),
        ),
        // It names the machines itself.
        (
            "a class's template of a control plane",
            more(
                "controlplane.cluster.x-k8s.io/v1beta1 RKE2ControlPlaneTemplate cp",
                &template,
            ),
        ),
        (
            "another group",
            more("example.org/v1 MachineSet other", "spec: {}"),
        ),
        ("a hosted control plane", manifest(hosted("v1.31.8", GOOD))),
        ("a worker newer than it", manifest(newer)),
    ];
    checked(cases).is(str![[r#"
an empty Cluster
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
    empty/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
a class's template of a control plane
another group
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
a hosted control plane
    edge/edge-md v1.31.8 (edge.yaml:21:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:27:49) holds 1.31.8
a worker newer than it
    error[version-skew] edge/edge-md edge.yaml:21:16 `v1.32.1` edge.yaml:12:12 `v1.31.8` => v1.32.1
    error[k8s-version-mismatch] edge/edge-md edge.yaml:27:49 `ubuntu-2204-kube-v1.31.8` edge.yaml:21:16 `v1.32.1` => v1.32.1
    edge/edge-md v1.32.1 (edge.yaml:21:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:27:49) holds 1.31.8

"#]]);
    let config_map = object("v1 ConfigMap a", "data: {}");
    manifest(config_map).run("check").exit(2).screen(str![[r#"
error: there is no `metalmark.yaml` here or in a folder above, and no cluster in the manifests below
help: name what to read: --values values.yaml --clusters 'clusters/*/values.yaml', or write a `metalmark.yaml`: `metalmark init` proposes one

"#]]);
}

#[test]
fn the_images_that_manifests_name_are_listed_and_explained_with_who_boots_them() {
    let whole = cluster("v1.31.8", GOOD);
    let project = project().file("clusters/a/edge.yaml", &whole);
    let project = project.file("clusters/b/edge.yaml", &whole);
    project.run("images").exit(0).screen(str![[r#"
IMAGE                     OS      RELEASE  HARDENED  FLAVOR  KUBERNETES  FORMAT  SERVED  FITS          USED BY                                   REFERENCE
ubuntu-2204-kube-v1.31.8  ubuntu  jammy    –         –       1.31.8      –       no      by name only  clusters/a/edge/control-plane and 3 more  –

"#]]);
    project
        .run("explain clusters/b/edge/edge-md")
        .exit(0)
        .screen(str![[r#"
clusters/b/edge/edge-md boots image `ubuntu-2204-kube-v1.31.8`  (clusters/b/edge.yaml:29:49)
  Kubernetes v1.31.8  (clusters/b/edge.yaml:23:16)
  by name only: `1.31.8` in the image's name

"#]]);
    project
        .run("explain clusters/a/edge")
        .exit(0)
        .screen(str![[r#"
clusters/a/edge/control-plane boots image `ubuntu-2204-kube-v1.31.8`  (clusters/a/edge.yaml:29:49)
  Kubernetes v1.31.8  (clusters/a/edge.yaml:12:12)
  by name only: `1.31.8` in the image's name

clusters/a/edge/edge-md boots image `ubuntu-2204-kube-v1.31.8`  (clusters/a/edge.yaml:29:49)
  Kubernetes v1.31.8  (clusters/a/edge.yaml:23:16)
  by name only: `1.31.8` in the image's name

"#]]);
}

#[test]
fn an_image_in_a_secret_is_neither_compared_nor_shown() {
    let seen = Seen::new(&["in a Secret", "in a ConfigMap"]);
    let inner = cluster("v1.30.2", "{filter: {name: hush-ubuntu-2204-kube-v1.31.8}}");
    let lines: String = inner.lines().map(|line| format!("    {line}\n")).collect();
    let text = object(
        "v1 Secret s",
        &format!("stringData:\n  all.yaml: |\n{lines}"),
    );
    let secret = manifest(&text);
    let plain = manifest(
        text.replace("Secret", "ConfigMap")
            .replace("stringData", "data"),
    );
    secret.check().is(str![[r#"
error[nothing-checked] => metalmark clusters | --allow-empty
edge/control-plane, edge/edge-md: unknown (its image or version depends on a secret)

"#]]);
    for command in ["check", "images", "explain edge/control-plane"] {
        let screen = |project: &crate::support::stage::Stage| {
            let outcome = project.run(command).outcome;
            outcome.stdout + &outcome.stderr
        };
        let hidden = screen(&secret);
        assert!(
            !hidden.contains("1.31.8") && !hidden.contains("hush"),
            "{hidden}"
        );
        seen.note_if(!hidden.is_empty(), "in a Secret");
        seen.note_if(screen(&plain).contains("hush"), "in a ConfigMap");
    }
    seen.assert_each(3);
}

#[test]
fn the_manifests_of_a_project_are_checked_with_its_records() {
    let text = cluster("v1.31.8", GOOD)
        .replace("OpenStackMachineTemplate", "Metal3MachineTemplate")
        .replace(GOOD, "{url: 'http://images/x.qcow2', checksum: none}");
    let records = "manifests: [clusters]
images:
  records:
    noble: {k8s: {flavor: kubeadm, version: 1.31.7}, locations: {https: 'http://images/x.qcow2'}}
";
    let project = project().settings(records).file("clusters/edge.yaml", text);
    let project = project.file("other/edge.yaml", cluster("v1.30.2", GOOD));
    project.check().is(str![[r#"
error[k8s-version-mismatch] edge/control-plane clusters/edge.yaml:29:39 `'http://images/x.qcow2'` clusters/edge.yaml:12:12 `v1.31.8` metalmark.yaml:5:45 `1.31.7` => v1.31.8
error[checksum-malformed] edge/control-plane clusters/edge.yaml:29:74 `none` => checksum: … | sha256sum
edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): mismatched, noble (clusters/edge.yaml:29:39) holds 1.31.7 (metalmark.yaml:5:45)

"#]]);
    project
        .edit("metalmark.yaml", "1.31.7", "1.31.8")
        .check()
        .is(str![[r#"
error[checksum-malformed] edge/control-plane clusters/edge.yaml:29:74 `none` => checksum: … | sha256sum
edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): proven, noble (clusters/edge.yaml:29:39) holds 1.31.8 (metalmark.yaml:5:45)

"#]]);
}

/// Beside one that is whole, and alone.
#[test]
fn a_cluster_whose_control_plane_is_elsewhere_is_counted() {
    let (alone, _) = cluster("v1.31.8", GOOD)
        .split_once("---\n")
        .map(|(one, rest)| (one.to_owned(), rest.to_owned()))
        .expect("documents");
    let eks =
        "apiVersion: anywhere.eks.amazonaws.com/v1alpha1\nkind: Cluster\nmetadata: {name: eks}\n";
    let hosted = hosted("v1.31.8", GOOD);
    let (hosted, _) = hosted
        .split_once("---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment")
        .expect("documents");
    let whole = cluster("v1.31.8", GOOD).replace("edge", "whole");
    let cases = [
        ("alone", repository(&[("a.yaml", &alone)])),
        (
            "beside another",
            repository(&[("a.yaml", &alone), ("b/c.yaml", &whole)]),
        ),
        (
            "without a topology's class",
            repository(&[("a.yaml", &alone.replace("controlPlaneRef:", "topology:"))]),
        ),
        ("EKS Anywhere", repository(&[("a.yaml", eks)])),
        (
            "a hosted control plane without workers",
            repository(&[("a.yaml", hosted)]),
        ),
    ];
    checked(cases).is(str![[r#"
alone
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
beside another
    edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
    whole/control-plane v1.31.8 (b/c.yaml:12:12), whole/whole-md v1.31.8 (b/c.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (b/c.yaml:29:49) holds 1.31.8
without a topology's class
    warning[composition-unsupported] edge a.yaml:5:26 `controlplane.cluster.x-k8s.io/v1beta1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
EKS Anywhere
    error[nothing-checked] => metalmark clusters | --allow-empty
    eks/control-plane: unknown (neither its control plane nor a node pool is among the manifests)
a hosted control plane without workers
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (a.yaml:12:12): unknown (its control plane has no machines, and no worker is among the manifests)

"#]]);
    repository(&[("a.yaml", &alone), ("b/c.yaml", &whole)])
        .run("check")
        .exit(0)
        .screen(str![[r#"
no findings in 2 clusters; 2 node pools checked: 2 by name only; 1 skipped: neither its control plane nor a node pool is among the manifests

"#]]);
}

#[test]
fn an_object_that_a_file_declares_twice_is_found_and_one_of_two_files_is_not() {
    let text = cluster("v1.31.8", GOOD);
    let (head, template) = text.rsplit_once("---\n").expect("documents");
    let other = template.replace("1.31.8", "1.30.2");
    let twice = manifest(format!("{head}---\n{template}---\n{other}"));
    let apart = manifest(format!("{head}---\n{template}")).file("dev/edge.yaml", &other);
    let unnamed = manifest(
        text.clone()
            + "---\n{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine}\n---\n{apiVersion: cluster.x-k8s.io/v1beta1, kind: Machine}\n",
    );
    let cases = [("twice", twice), ("apart", apart), ("unnamed", unnamed)];
    checked(cases).is(str![[r#"
twice
    warning[object-duplicate] edge.yaml:33:18 `edge` edge.yaml:28:18 `edge`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (several machine templates have its template's name)
apart
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
unnamed
    (no name)/, (no name)/: unknown (no reference to a machine template)
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8

"#]]);
}
