//! `metalmark check --fix`: what it edits, and what it leaves to a person.

use snapbox::str;

use super::support::stage::{Is, Stage, assert_text, changes, project, table};

const OLD: &str = "ubuntu-noble-plain-rke2-1-30-12";
const NEW: &str = "ubuntu-noble-plain-rke2-1-31-8";
const SLIP: &str = "ubuntu-nobel-plain-rke2-1-31-8";

/// The builder's catalog with these images, of which only the names tell anything.
fn catalog(images: &[&str]) -> String {
    let line = |image: &&str| format!("  {image}: {{os_images_oci_registry: sylva}}\n");
    let lines: String = images.iter().map(line).collect();
    format!(
        "sylva_diskimagebuilder_version: 0.4.12\n\
         os_images_oci_registries: {{sylva: {{url: 'oci://r.example/d', tag: 0.4.12, cosign_publickey: ''}}}}\n\
         sylva_diskimagebuilder_images:\n{lines}"
    )
}

/// Values of a cluster that runs 1.31.8, with these lines below `cluster`.
fn cluster(lines: &str) -> String {
    format!(
        "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n{lines}"
    )
}

/// A project with these images and a cluster with these lines.
fn one(images: &[&str], lines: &str) -> Stage {
    project()
        .settings("values: [catalog.yaml]")
        .file("catalog.yaml", catalog(images))
        .cluster("edge", &cluster(lines))
}

/// Two clusters with the values of `shared.yaml`, each with these values of its own.
fn two(shared: &str, one: &str, two: &str) -> Stage {
    project()
        .settings("values: [shared.yaml]")
        .file("shared.yaml", shared)
        .cluster("one", one)
        .cluster("two", two)
}

/// What `check --fix` says that it did, what it changed, and the errors that are left.
fn fix(stage: &Stage) -> Vec<String> {
    let before = stage.texts();
    let run = stage.run("check --fix").outcome;
    let after = stage.texts();
    assert_eq!(before.len(), after.len(), "litter");
    let errors = run.stdout.lines().filter(|line| line.starts_with("error["));
    let left: Vec<&str> = errors.filter(|line| !line.contains("-missing]")).collect();
    let all = changes(&before, &after);
    let lines = run.stderr.lines().chain(all.lines()).chain(left);
    lines.map(str::to_owned).collect()
}

#[test]
fn an_image_of_another_version_is_replaced_by_the_only_one_that_fits() {
    let cases = [
        vec![OLD, NEW],
        vec![OLD],
        vec![OLD, "ubuntu-noble-plain-kubeadm-1-31-8"],
        vec![OLD, NEW, "ubuntu-noble-plain-rke2-1-31-9"],
        vec![
            "ubuntu-noble-hardened-rke2-1-30-12",
            "ubuntu-jammy-plain-rke2-1-31-8",
        ],
    ];
    let results = table(cases.map(|images| images.join(" ")), |images| {
        let images: Vec<&str> = images.split(' ').collect();
        fix(&one(
            &images,
            &format!("  capm3: {{image_key: {}}} # by hand\n", images[0]),
        ))
    });
    results.is(str![[r#"
ubuntu-noble-plain-rke2-1-30-12 ubuntu-noble-plain-rke2-1-31-8
    fixed edge.yaml:4:22: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
    edge.yaml:4
    -  capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12} # by hand
    +  capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8} # by hand
ubuntu-noble-plain-rke2-1-30-12
    error[k8s-version-mismatch]: image `ubuntu-noble-plain-rke2-1-30-12` holds Kubernetes `1.30.12`, not `v1.31.8+rke2r1`
ubuntu-noble-plain-rke2-1-30-12 ubuntu-noble-plain-kubeadm-1-31-8
    error[k8s-version-mismatch]: image `ubuntu-noble-plain-rke2-1-30-12` holds Kubernetes `1.30.12`, not `v1.31.8+rke2r1`
ubuntu-noble-plain-rke2-1-30-12 ubuntu-noble-plain-rke2-1-31-8 ubuntu-noble-plain-rke2-1-31-9
    fixed edge.yaml:4:22: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
    edge.yaml:4
    -  capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12} # by hand
    +  capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8} # by hand
ubuntu-noble-hardened-rke2-1-30-12 ubuntu-jammy-plain-rke2-1-31-8
    error[k8s-version-mismatch]: image `ubuntu-noble-hardened-rke2-1-30-12` holds Kubernetes `1.30.12`, not `v1.31.8+rke2r1`

"#]]);
}

#[test]
fn several_images_that_fit_are_a_choice_for_a_person() {
    let facts = "os=ubuntu os-release=noble hardened=false flavor=plain";
    let image = |key: &str, version: &str| format!("{key} rke2 {version}+rke2r1 {facts}");
    let images = [
        image("custom-old", "1.30.12"),
        image("custom-a", "1.31.8"),
        image("custom-b", "1.31.8"),
    ];
    let stage = project()
        .catalog(&images.each_ref().map(String::as_str))
        .cluster("edge", &cluster("  capm3: {image_key: custom-old}\n"));
    assert_text(
        &fix(&stage).join("\n"),
        str![
            "error[k8s-version-mismatch]: image `custom-old` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1`"
        ],
    );
    stage.check().findings(str![[r#"
warning[image-unused] catalog.yaml:3:3 `custom-a` => os_images.custom-a
warning[image-unused] catalog.yaml:4:3 `custom-b` => os_images.custom-b
error[k8s-version-mismatch] edge/control-plane edge.yaml:4:22 `custom-old` edge.yaml:2:16 `v1.31.8+rke2r1` catalog.yaml:2:47 `'1.30.12+rke2r1'` => cluster.capm3.image_key: custom-a | cluster.capm3.image_key: custom-b

"#]]);
}

#[test]
fn an_image_that_clusters_share_is_a_choice_for_a_person() {
    let shared = catalog(&[OLD, NEW]) + &format!("cluster: {{capm3: {{image_key: {OLD}}}}}\n");
    let stage = two(&shared, &cluster(""), &cluster(""));
    assert_text(
        &fix(&stage).join("\n"),
        str![
            "error[k8s-version-mismatch]: image `ubuntu-noble-plain-rke2-1-30-12` holds Kubernetes `1.30.12`, not `v1.31.8+rke2r1`"
        ],
    );
    assert_text(
        &stage.check().of_rule("k8s-version-mismatch").join("\n"),
        str![
            "error[k8s-version-mismatch] one/control-plane shared.yaml:6:30 `ubuntu-noble-plain-rke2-1-30-12` one.yaml:2:16 `v1.31.8+rke2r1` shared.yaml:4:3 `ubuntu-noble-plain-rke2-1-30-12` => cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8"
        ],
    );
}

#[test]
fn a_slip_in_a_file_that_clusters_share_is_fixed_once() {
    let shared = format!("cluster: {{capm3: {{image_key: {SLIP}}}}}\n");
    let catalogs = [
        catalog(&[NEW]),
        catalog(&["ubuntu-novel-plain-rke2-1-31-8"]),
    ];
    let stage = two(&(catalogs[0].clone() + &shared), &cluster(""), &cluster(""));
    assert_text(
        &fix(&stage).join("\n"),
        str![[r#"
fixed shared.yaml:5:30: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
shared.yaml:5
-cluster: {capm3: {image_key: ubuntu-nobel-plain-rke2-1-31-8}}
+cluster: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}}
"#]],
    );
    // Of two fixes of one place neither is made.
    let own = catalogs.map(|catalog| catalog + &cluster(""));
    fix(&two(&shared, &own[0], &own[1])).join("\n").is(str![[r#"
not fixed shared.yaml:1:30: `cluster.capm3.image_key: ubuntu-novel-plain-rke2-1-31-8` is proposed for the same place, so metalmark made neither edit: choose one
not fixed shared.yaml:1:30: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8` is proposed for the same place, so metalmark made neither edit: choose one
error[unknown-image]: image `ubuntu-nobel-plain-rke2-1-31-8` is not in the catalog
"#]]);
}

#[test]
fn every_other_byte_stays() {
    let plain = cluster(&format!(
        "  capm3:\n    image_key: {SLIP}  # a slip\n\n# the end\n"
    ));
    for text in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.trim_end().to_owned(),
        format!("\u{feff}{plain}"),
        plain.replace(SLIP, &format!("\"{SLIP}\"")),
        plain.replace(SLIP, &format!("'{SLIP}'")),
        plain.replace(
            &format!("\n    image_key: {SLIP}"),
            &format!(" {{image_key: {SLIP}}}"),
        ),
        format!("{plain}other: {SLIP}\n"),
    ] {
        let stage = one(&[NEW], "").file("edge.yaml", &text);
        let _ = stage.run("check --fix");
        assert_eq!(stage.read("edge.yaml"), text.replacen(SLIP, NEW, 1));
    }
}

/// Helm reads the first document of a file alone, and Flux applies them all.
#[test]
fn a_slip_in_a_later_document_is_fixed_there() {
    let values = cluster(&format!("  capm3: {{image_key: {SLIP}}}\n")).replace('\n', "\n    ");
    let release = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: edge}}\n---\napiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\n\
         metadata: {{name: edge}}\nspec:\n  values:\n    {values}\n"
    );
    let stage = project()
        .settings("values: [catalog.yaml]\nclusters: [{name: edge, values: [.]}]")
        .file("catalog.yaml", catalog(&[NEW]))
        .file("kustomization.yaml", "resources: [release.yaml]\n")
        .file("release.yaml", release);
    fix(&stage).join("\n").is(str![[r#"
fixed release.yaml:13:26: `cluster.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
release.yaml:13
-      capm3: {image_key: ubuntu-nobel-plain-rke2-1-31-8}
+      capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}
"#]]);
}

#[test]
fn what_an_alias_shares_is_not_edited_and_the_rest_is() {
    let pools = format!(
        "  machine_deployments:\n    md0: {{capm3: &shared {{image_key: {SLIP}}}}}\n    md1: {{capm3: *shared}}\n    \
         md2: {{capm3: {{image_key: {SLIP}}}}}\n"
    );
    fix(&one(&[NEW], &pools)).join("\n").is(str![[r#"
not fixed edge.yaml:5:38: `cluster.machine_deployments.md0.capm3` is marked `&shared`, and aliases use it
fixed edge.yaml:7:30: `cluster.machine_deployments.md2.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
edge.yaml:7
-    md2: {capm3: {image_key: ubuntu-nobel-plain-rke2-1-31-8}}
+    md2: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}}
error[image-not-chosen]: node pool `control-plane` selects no image
error[unknown-image]: image `ubuntu-nobel-plain-rke2-1-31-8` is not in the catalog
"#]]);
}

#[test]
fn what_is_certain_is_fixed_and_the_rest_is_left_alone() {
    let pools = format!(
        "  machine_deployments:\n    md0: {{capm3: {{image_key: \"{SLIP}\"}}}} # a slip\n    md1: {{capm3: {{image_key: {OLD}}}}} # too old\n    \
         md2: {{capm3: {{os_image_selector: {{os: ubuntu, os-release: 15.6}}}}}}\n    \
         md3: {{capm3: {{image_key: '{{{{ .Values.nothing.at.all }}}}'}}}}\n"
    );
    let stage = one(&[NEW, OLD], &pools);
    stage.check().findings(str![[r#"
error[unknown-image] edge/md0 edge.yaml:5:30 `"ubuntu-nobel-plain-rke2-1-31-8"` fix ubuntu-noble-plain-rke2-1-31-8 => cluster.machine_deployments.md0.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8
error[checksum-missing] edge/md1 edge.yaml:6:30 `ubuntu-noble-plain-rke2-1-30-12` catalog.yaml:5:3 `ubuntu-noble-plain-rke2-1-30-12` => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]} | images: {checksum: url}
error[format-missing] edge/md1 edge.yaml:6:30 `ubuntu-noble-plain-rke2-1-30-12` catalog.yaml:5:3 `ubuntu-noble-plain-rke2-1-30-12` => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]}
error[k8s-version-mismatch] edge/md1 edge.yaml:6:30 `ubuntu-noble-plain-rke2-1-30-12` edge.yaml:2:16 `v1.31.8+rke2r1` catalog.yaml:5:3 `ubuntu-noble-plain-rke2-1-30-12` fix ubuntu-noble-plain-rke2-1-31-8 => cluster.machine_deployments.md1.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8
error[value-type] edge/md2 edge.yaml:7:63 `15.6` fix 15.6 => os-release: "15.6"
error[value-missing] edge/md3 edge.yaml:8:34 `.Values.nothing.at`
warning[value-missing] => kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml | --info os-images-info.yaml | images: {facts: [os-images-info.yaml]}

"#]]);
    fix(&stage).join("\n").is(str![[r#"
fixed edge.yaml:5:30: `cluster.machine_deployments.md0.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
fixed edge.yaml:6:30: `cluster.machine_deployments.md1.capm3.image_key: ubuntu-noble-plain-rke2-1-31-8`
fixed edge.yaml:7:63: `os-release: "15.6"`
edge.yaml:5
-    md0: {capm3: {image_key: "ubuntu-nobel-plain-rke2-1-31-8"}} # a slip
-    md1: {capm3: {image_key: ubuntu-noble-plain-rke2-1-30-12}} # too old
-    md2: {capm3: {os_image_selector: {os: ubuntu, os-release: 15.6}}}
+    md0: {capm3: {image_key: "ubuntu-noble-plain-rke2-1-31-8"}} # a slip
+    md1: {capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}} # too old
+    md2: {capm3: {os_image_selector: {os: ubuntu, os-release: "15.6"}}}
error[no-image-matches]: no image matches the selector
"#]]);
    // What is left cannot be mended by a machine, and nothing more is written.
    let after = stage.texts();
    stage.run("check --fix").exit(1).stderr("");
    assert_eq!(stage.texts(), after);
}
