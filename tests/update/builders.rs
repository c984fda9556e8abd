//! Two builders of images, each with a version of its own, and names without a patch: locked facts say what moves.

use snapbox::str;

use crate::support::registry::Registry;
use crate::support::stage::{Run, Stage, assert_text, project};

const DIB: &str = "ubuntu-noble-hardened-rke2-1-33";
const KIWI: &str = "leapmicro-6-0-plain-rke2-1-33";

/// A registry with an image of each builder at two versions, whose Kubernetes versions are given.
fn registry(dib: &str, kiwi: &str) -> Registry {
    let registry = Registry::plain();
    for (path, tag, version) in [
        (format!("dib/{DIB}"), "0.7.4", "1.33.5+rke2r1"),
        (format!("dib/{DIB}"), "0.7.6", dib),
        (format!("kiwi/{KIWI}"), "0.4.1", "1.33.5+rke2r1"),
        (format!("kiwi/{KIWI}"), "0.4.2", kiwi),
    ] {
        let os = path.split(['/', '-']).nth(1).expect("a system").to_owned();
        let sha256 = format!("{:0>64}", tag.replace('.', ""));
        let facts = [
            ("k8s-version", version),
            ("k8s-flavor", "rke2"),
            ("os", &os),
            ("image-format", "raw"),
            ("sha256", &sha256),
            ("filename", "image.raw"),
            ("size", "1000"),
        ];
        let facts = facts.map(|(name, fact)| (format!("sylvaproject.org/diskimage/{name}"), fact));
        let facts: Vec<(&str, &str)> = facts.iter().map(|(name, fact)| (&**name, *fact)).collect();
        registry.image(&path, tag, &facts);
    }
    registry
}

/// A cluster of each builder's image, locked and rendered at the first versions, and committed.
fn fleet(registry: &Registry) -> Option<Stage> {
    let host = registry.host();
    let cluster = |os: &str| {
        format!(
            "cluster:\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  capm3: {{os_image_selector: {{os: {os}}}}}\n"
        )
    };
    let values = format!(
        "sylva_diskimagebuilder_version: 0.7.4\n\
         acme_kiwi: 0.4.1\n\
         os_images_oci_registries:\n\
        \x20 sylva: {{url: 'oci://{host}/dib', tag: '{{{{ .Values.sylva_diskimagebuilder_version }}}}', cosign_publickey: ''}}\n\
        \x20 kiwi: {{url: 'oci://{host}/kiwi', tag: '{{{{ .Values.acme_kiwi }}}}', cosign_publickey: ''}}\n\
         sylva_diskimagebuilder_images:\n\
        \x20 {DIB}: {{os_images_oci_registry: sylva}}\n\
        \x20 {KIWI}: {{os_images_oci_registry: kiwi}}\n\
         _internal:\n\
        \x20 k8s_version_map:\n\
        \x20   '1.33': >-\n\
        \x20     {{{{- $v := \"v1.33.5\" -}}}}\n\
        \x20     {{{{- if eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" -}}}}{{{{- $v = \"v1.33.5+rke2r1\" -}}}}{{{{- end -}}}}\n\
        \x20     {{{{- $v -}}}}\n\
         k8s_version_short: '1.33'\n\
         cluster:\n\
        \x20 k8s_version: '{{{{ index .Values._internal.k8s_version_map .Values.k8s_version_short }}}}'\n"
    );
    let stage = project()
        .cluster("rke", &cluster("ubuntu"))
        .cluster("leap", &cluster("leapmicro"))
        .settings(&format!(
            "values: [values.yaml]\nregistries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n"
        ))
        .file("values.yaml", values);
    stage.run("lock").exit(0);
    stage.run("check").exit(0);
    stage.commit("Base")
}

fn bot(stage: &Stage) -> Run {
    stage.run("update --from-renovate")
}

/// What a run says, without what differs from run to run.
fn said(run: &Run, registry: &Registry) -> String {
    let lines = run.outcome.stderr.lines();
    let lines = lines.filter(|line| !line.starts_with("dropped ") && !line.starts_with("added "));
    lines
        .map(|line| line.replace(&registry.host(), "HOST") + "\n")
        .collect()
}

#[test]
fn both_builders_raised_together_take_the_map_with_them() {
    let registry = registry("1.33.7+rke2r3", "1.33.7+rke2r3");
    let Some(stage) = fleet(&registry) else {
        return;
    };
    stage
        .edit("values.yaml", ": 0.7.4", ": 0.7.6")
        .edit("values.yaml", ": 0.4.1", ": 0.4.2");
    let run = bot(&stage).exit(0).stdout("");
    assert_text(
        &said(&run, &registry),
        str![[r#"
the catalog lists what 0.7.6 and 0.4.2 offers
OS images: sylva 0.7.4 → 0.7.6, kiwi 0.4.1 → 0.4.2
2 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.5+rke2r1 → v1.33.7+rke2r3

Node pools whose machines will be re-provisioned

- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.1 → leapmicro-6-0-plain-rke2-1-33:0.4.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → ubuntu-noble-hardened-rke2-1-33:0.7.6

metalmark.lock: 0 kept, 2 added, 0 updated, 2 dropped; written
fixed values.yaml:13:88: `_internal.k8s_version_map.1.33: v1.33.7+rke2r3`
changed values.yaml

"#]],
    );
    let values = stage.read("values.yaml");
    assert!(
        values.contains("\"v1.33.7+rke2r3\"") && values.contains("\"v1.33.5\""),
        "{values}"
    );
    stage.run("check --frozen").exit(0);
    let once = stage.texts();
    bot(&stage).exit(0);
    assert_eq!(stage.texts(), once);
}

#[test]
fn one_builder_alone_fails_with_the_reason_first() {
    let registry = registry("1.33.7+rke2r3", "1.33.7+rke2r3");
    let Some(stage) = fleet(&registry) else {
        return;
    };
    stage.edit("values.yaml", ": 0.7.4", ": 0.7.6");
    let before = stage.texts();
    let run = bot(&stage).exit(1).stdout("");
    assert_text(
        &said(&run, &registry),
        str![[r#"
a Kubernetes version stays: images of Kubernetes 1.33 for `rke2` hold `1.33.5+rke2r1` and `1.33.7+rke2r3`, and `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`; raise the versions of the builders together, to releases with one version of Kubernetes
rke.yaml:3:30: error[no-image-matches]: no image matches the selector
  help: `leapmicro-6-0-plain-rke2-1-33` is near: it has `os: leapmicro`, not `ubuntu`
the catalog lists what 0.7.6 and 0.4.1 offers
OS images: sylva 0.7.4 → 0.7.6, kiwi 0.4.1
Nothing is written, because of errors. It would do this:

Node pools left without an image

- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → no image

metalmark.lock: 1 kept, 1 added, 0 updated, 1 dropped; written
what was written is undone, because of the errors above
help: correct them and run this again
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]],
    );
    assert_eq!(stage.texts(), before);
}

#[test]
fn a_builder_is_named_by_its_registry() {
    let registry = registry("1.33.5+rke2r1", "1.33.5+rke2r1");
    let Some(stage) = fleet(&registry) else {
        return;
    };
    stage.run("update 0.7.6").exit(2).stderr(str![[r#"
error: `0.7.6` may be a version of several builders
help: name one by its registry: `REGISTRY=0.7.6`; there are images of sylva; kiwi

"#]]);
    stage.run("update kiwi=0.4.2 sylva=0.7.6").exit(0);
    let values = stage.read("values.yaml");
    assert!(
        values.contains("acme_kiwi: 0.4.2\n") && values.contains("builder_version: 0.7.6\n"),
        "{values}"
    );
    stage.run("update acme_kiwi=0.4.1").exit(0);
    assert!(stage.read("values.yaml").contains("acme_kiwi: 0.4.1\n"));
    stage.run("update dib=1").exit(2).stderr(str![[r#"
error: the catalog has no images of a builder `dib`
help: there are images of sylva; kiwi

"#]]);
}

#[test]
fn a_minor_comes_and_goes_with_its_builder() {
    let registry = registry("1.33.5+rke2r1", "1.33.5+rke2r1");
    registry.image("kiwi/leapmicro-6-0-plain-rke2-1-34", "0.4.2", &[]);
    let Some(stage) = fleet(&registry) else {
        return;
    };
    let added = "leapmicro-6-0-plain-rke2-1-34: {os_images_oci_registry: kiwi}";
    let _ = stage.run("update kiwi=0.4.2");
    assert!(stage.read("values.yaml").contains(added));
    stage.run("update kiwi=0.4.1").exit(0);
    assert!(!stage.read("values.yaml").contains(added));
}
