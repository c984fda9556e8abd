//! Sylva as it is in 2026: two builders, three generations of images, names without a patch, and a map of versions that each
//! release of a builder leaves behind.

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};
use snapbox::str;

use super::support::cosign::Key;
use super::support::layout::LayoutWriter;
use super::support::stage::{Run, Stage, assert_text, changes, project};

/// A project of `fixtures/sylva-2026`, and the registry with the artifacts that it lists, each with its version of Kubernetes.
fn sylva(name: &str) -> Stage {
    let stage = project().folder(&format!("fixtures/sylva-2026/{name}"));
    serve(&stage);
    stage
}

/// Writes the registry with the artifacts of a project.
pub(crate) fn serve(stage: &Stage) {
    let mut registry = LayoutWriter::new(&stage.path().join("registry"));
    for line in stage.read("artifacts.txt").lines() {
        let (reference, version) = line.split_once(' ').expect("a reference and a version");
        registry.image(Some(reference), &annotations(reference, version));
    }
}

/// What a builder annotates.
pub(crate) fn annotations<'a>(reference: &'a str, version: &'a str) -> Vec<(&'a str, &'a str)> {
    let (_, name) = reference.rsplit_once('/').expect("a path");
    let (name, tag) = name.split_once(':').expect("a tag");
    let flavor = ["rke2", "kubeadm", "ck8s"];
    let flavor = flavor.into_iter().find(|flavor| name.contains(flavor));
    let mut parts = name.split('-');
    let mut part = || parts.next().expect("a system and its release");
    let (os, major) = (part(), part());
    let release: &str = match os {
        "ubuntu" => major,
        _ => Box::leak(format!("{major}.{}", part()).into_boxed_str()),
    };
    let hardened = if name.contains("hardened") {
        "true"
    } else {
        "false"
    };
    let file: &str = Box::leak(format!("{name}-{tag}.raw").into_boxed_str());
    let hash: &str = Box::leak(HEXLOWER.encode(&Sha256::digest(reference)).into_boxed_str());
    vec![
        ("sylvaproject.org/diskimage/commit-tag", tag),
        ("sylvaproject.org/diskimage/filename", file),
        ("sylvaproject.org/diskimage/hardened", hardened),
        ("sylvaproject.org/diskimage/image-format", "raw"),
        (
            "sylvaproject.org/diskimage/k8s-flavor",
            flavor.expect("a flavor"),
        ),
        ("sylvaproject.org/diskimage/k8s-version", version),
        ("sylvaproject.org/diskimage/os", os),
        ("sylvaproject.org/diskimage/os-release", release),
        ("sylvaproject.org/diskimage/sha256", hash),
        ("org.opencontainers.image.version", "no fact"),
    ]
}

/// The same, locked.
pub(crate) fn locked(name: &str) -> Stage {
    let stage = sylva(name);
    let _ = stage.run("lock").exit(0);
    stage
}

/// Raises both builders of the project `version-map`, and locks what they offer.
fn raise(stage: &Stage, disk: &str, kiwi: &str) {
    stage.edit(
        "values.yaml",
        "_diskimagebuilder_version: 0.7.4",
        &format!("_diskimagebuilder_version: {disk}"),
    );
    stage.edit(
        "values.yaml",
        "_kiwi_imagebuilder_version: 0.4.1",
        &format!("_kiwi_imagebuilder_version: {kiwi}"),
    );
    let _ = stage.run("lock").exit(0);
}

#[test]
fn images_of_two_builders_are_proven_by_their_annotations() {
    let stage = locked("two-builders");
    stage.check_with("--frozen").is(str![[r#"
site-a/control-plane v1.35.6+rke2r1 (values.yaml:20:16): proven, ubuntu-noble-hardened-rke2-1-35 (clusters/site-a/values.yaml:4:30) holds 1.35.6+rke2r1 (metalmark.lock:69:18)
site-a/edge v1.35.6+rke2r1 (values.yaml:20:16): proven, leapmicro-6-0-plain-rke2-1-35 (clusters/site-a/values.yaml:6:39) holds 1.35.6+rke2r1 (metalmark.lock:33:18)

"#]]);
}

#[test]
fn generations_are_one_image_each_and_what_spans_them_is_reported() {
    let stage = locked("generations");
    stage.check().is(str![[r#"
error[several-images-match] forgot/control-plane clusters/forgot/values.yaml:6:30 `{os: ubuntu, hardened: true}` => sylva--ubuntu-noble-hardened-rke2-1-33 | cluster.capm3.os_image_selector.oci-image-registry-key: sylva | sylva-n-1--ubuntu-noble-hardened-rke2-1-33 | cluster.capm3.os_image_selector.oci-image-registry-key: sylva-n-1
warning[selector-too-broad] forgot values.yaml:17:22 `k8s-flavor` => sylva-n-1 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-1 | sylva-n-2 | os_image_server_additional_selectors.wide.oci-image-registry-key: sylva-n-2
forgot/control-plane v1.33.13+rke2r1 (clusters/forgot/values.yaml:3:16): unknown (several images match its selector)
mgmt/control-plane v1.35.6+rke2r1 (clusters/mgmt/values.yaml:2:16): proven, sylva--ubuntu-noble-hardened-rke2-1-35 (clusters/mgmt/values.yaml:4:30) holds 1.35.6+rke2r1 (metalmark.lock:30:18)
old-site/control-plane v1.33.13+rke2r1 (clusters/old-site/values.yaml:3:16): proven, sylva-n-1--ubuntu-noble-hardened-rke2-1-33 (clusters/old-site/values.yaml:6:30) holds 1.33.13+rke2r1 (metalmark.lock:60:18)

"#]]);
}

#[test]
fn what_no_cluster_selects_is_missed_too_and_the_rest_is_locked() {
    let stage = sylva("missing-images");
    let _ = stage.run("lock").exit(1).stderr(str![[r#"
error[catalog-drift]: the catalog names image `ubuntu-noble-plain-rke2-1-30`, and oci-layout:registry has no artifact of that name
  --> values.yaml:10:3
   |
10 |   ubuntu-noble-plain-rke2-1-30: {os_images_oci_registry: sylva}          # dropped by the builder at 0.7.x
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^ required here
   |
   = help: it has `registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.4`

error[catalog-drift]: the catalog names image `leapmicro-6-0-plain-rke2-1-30`, and oci-layout:registry has no artifact of that name
  --> values.yaml:11:3
   |
11 |   leapmicro-6-0-plain-rke2-1-30: {os_images_oci_registry: sylva-n-1}     # built by kiwi, never in dib
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ required here
   |
   = help: it has `registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.4`
   = help: no other image below `oci://registry.example.org/acme/builders/dib` is of `leapmicro`: the registry of the entry may be wrong

error[registry-unknown]: the `url` of registry `dev` is not `oci://…`
  --> values.yaml:12:62
   |
12 |   opensuse-15-6-hardened-rke2-1-31: {os_images_oci_registry: dev}
   |                                                              ^^^ nothing says where this image is

3 errors

"#]]);
    stage.check().is(str![[r#"
warning[lock-missing-image] c1 values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-30` values.yaml:10:3 `ubuntu-noble-plain-rke2-1-30` => metalmark lock
error[registry-unknown] values.yaml:12:62 `dev`
c1/control-plane v1.33.5+rke2r1 (values.yaml:13:24): proven, ubuntu-noble-plain-rke2-1-33 (clusters/c1/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:15:18)

"#]]);
}

#[test]
fn a_map_that_is_right_is_left_alone() {
    locked("version-map").check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.9 | 1.33.5 | ubuntu-noble-plain-kubeadm-1-33 | k8s-flavor: kubeadm | ck8s
ck8s/control-plane v1.33.5 (values.yaml:21:16): unknown (no image matches its selector)
kadm/control-plane v1.33.5 (values.yaml:21:16): proven, ubuntu-noble-plain-kubeadm-1-33 (clusters/kadm/values.yaml:3:30) holds 1.33.5 (metalmark.lock:69:18)
leap/control-plane v1.33.5+rke2r1 (values.yaml:21:16): proven, leapmicro-6-0-plain-rke2-1-33 (clusters/leap/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:15:18)
rke/control-plane v1.33.5+rke2r1 (values.yaml:21:16): proven, ubuntu-noble-hardened-rke2-1-33 (clusters/rke/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:33:18)

"#]]);
}

#[test]
fn one_builder_alone_is_behind_the_other_and_what_both_need_is_said() {
    let stage = locked("version-map");
    raise(&stage, "0.7.6", "0.4.1");
    stage.check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.5
error[no-image-matches] kadm/control-plane clusters/kadm/values.yaml:3:30 `{os: ubuntu, hardened: false}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` fix v1.33.7 => ubuntu-noble-plain-kubeadm-1-33 | _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
error[no-image-matches] rke/control-plane clusters/rke/values.yaml:3:30 `{os: ubuntu, hardened: true}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-hardened-rke2-1-33 | k8s-version: 1.33.7+rke2r3 | 1.33.5\+rke2r1
warning[k8s-version-map] ck8s values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10
warning[k8s-version-map] kadm values.yaml:15:13 `>-` values.yaml:9:3 `ubuntu-noble-plain-kubeadm-1-33` fix v1.33.7 => _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
warning[k8s-version-map] leap values.yaml:15:13 `>-` values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-33` values.yaml:8:3 `ubuntu-noble-hardened-rke2-1-33`
ck8s/control-plane v1.33.5 (values.yaml:21:16), kadm/control-plane v1.33.5 (values.yaml:21:16): unknown (no image matches its selector)
leap/control-plane v1.33.5+rke2r1 (values.yaml:21:16): proven, leapmicro-6-0-plain-rke2-1-33 (clusters/leap/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:15:18)
rke/control-plane v1.33.5+rke2r1 (values.yaml:21:16): unknown (no image matches its selector)

"#]]);
    let before = stage.texts();
    let _ = stage.run("check --fix").exit(1);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
values.yaml:16
-      {{- $v := "v1.33.5" -}}
+      {{- $v := "v1.33.7" -}}

"#]],
    );
    stage.check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.7 | ubuntu-noble-plain-kubeadm-1-33 | k8s-flavor: kubeadm | ck8s
error[no-image-matches] rke/control-plane clusters/rke/values.yaml:3:30 `{os: ubuntu, hardened: true}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-hardened-rke2-1-33 | k8s-version: 1.33.7+rke2r3 | 1.33.5\+rke2r1
warning[k8s-version-map] leap values.yaml:15:13 `>-` values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-33` values.yaml:8:3 `ubuntu-noble-hardened-rke2-1-33`
ck8s/control-plane v1.33.7 (values.yaml:21:16): unknown (no image matches its selector)
kadm/control-plane v1.33.7 (values.yaml:21:16): proven, ubuntu-noble-plain-kubeadm-1-33 (clusters/kadm/values.yaml:3:30) holds 1.33.7 (metalmark.lock:69:18)
leap/control-plane v1.33.5+rke2r1 (values.yaml:21:16): proven, leapmicro-6-0-plain-rke2-1-33 (clusters/leap/values.yaml:3:30) holds 1.33.5+rke2r1 (metalmark.lock:15:18)
rke/control-plane v1.33.5+rke2r1 (values.yaml:21:16): unknown (no image matches its selector)

"#]]);
}

#[test]
fn builds_of_one_patch_are_versions() {
    let stage = locked("version-map");
    raise(&stage, "0.7.6", "0.4.2");
    stage.check().findings(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.5
error[no-image-matches] kadm/control-plane clusters/kadm/values.yaml:3:30 `{os: ubuntu, hardened: false}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` fix v1.33.7 => ubuntu-noble-plain-kubeadm-1-33 | _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
error[no-image-matches] leap/control-plane clusters/leap/values.yaml:3:30 `{os: leapmicro}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => leapmicro-6-0-plain-rke2-1-33 | k8s-version: 1.33.7+rke2r1 | 1.33.5\+rke2r1
error[no-image-matches] rke/control-plane clusters/rke/values.yaml:3:30 `{os: ubuntu, hardened: true}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-hardened-rke2-1-33 | k8s-version: 1.33.7+rke2r3 | 1.33.5\+rke2r1
warning[k8s-version-map] ck8s values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10
warning[k8s-version-map] kadm values.yaml:15:13 `>-` values.yaml:9:3 `ubuntu-noble-plain-kubeadm-1-33` fix v1.33.7 => _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
warning[k8s-version-map] leap values.yaml:15:13 `>-` values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-33` values.yaml:8:3 `ubuntu-noble-hardened-rke2-1-33`

"#]]);
    stage.edit("values.yaml", "\"v1.33.5\"", "\"v1.33.7\"");
    stage.edit("values.yaml", "\"v1.33.5+rke2r1\"", "\"v1.33.7+rke2r3\"");
    stage.check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.7 | ubuntu-noble-plain-kubeadm-1-33 | k8s-flavor: kubeadm | ck8s
error[no-image-matches] leap/control-plane clusters/leap/values.yaml:3:30 `{os: leapmicro}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => leapmicro-6-0-plain-rke2-1-33 | k8s-version: 1.33.7+rke2r1 | 1.33.7\+rke2r3 | ubuntu-noble-hardened-rke2-1-33 | os: ubuntu | leapmicro
warning[k8s-version-map] ck8s values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10
warning[k8s-version-map] leap values.yaml:15:13 `>-` values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-33` values.yaml:8:3 `ubuntu-noble-hardened-rke2-1-33`
ck8s/control-plane v1.33.7 (values.yaml:21:16): unknown (no image matches its selector)
kadm/control-plane v1.33.7 (values.yaml:21:16): proven, ubuntu-noble-plain-kubeadm-1-33 (clusters/kadm/values.yaml:3:30) holds 1.33.7 (metalmark.lock:69:18)
leap/control-plane v1.33.7+rke2r3 (values.yaml:21:16): unknown (no image matches its selector)
rke/control-plane v1.33.7+rke2r3 (values.yaml:21:16): proven, ubuntu-noble-hardened-rke2-1-33 (clusters/rke/values.yaml:3:30) holds 1.33.7+rke2r3 (metalmark.lock:33:18)

"#]]);
}

#[test]
fn both_builders_move_the_map_within_its_expressions() {
    let stage = sylva("version-map");
    stage.edit(
        "artifacts.txt",
        "1-33:0.4.2 1.33.7+rke2r1",
        "1-33:0.4.2 1.33.7+rke2r3",
    );
    serve(&stage);
    raise(&stage, "0.7.6", "0.4.2");
    stage.check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.5
error[no-image-matches] kadm/control-plane clusters/kadm/values.yaml:3:30 `{os: ubuntu, hardened: false}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` fix v1.33.7 => ubuntu-noble-plain-kubeadm-1-33 | _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
error[no-image-matches] leap/control-plane clusters/leap/values.yaml:3:30 `{os: leapmicro}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` fix v1.33.7+rke2r3 => leapmicro-6-0-plain-rke2-1-33 | _internal.k8s_version_map.1.33 | v1.33.5+rke2r1 | v1.33.7+rke2r3
error[no-image-matches] rke/control-plane clusters/rke/values.yaml:3:30 `{os: ubuntu, hardened: true}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` fix v1.33.7+rke2r3 => ubuntu-noble-hardened-rke2-1-33 | _internal.k8s_version_map.1.33 | v1.33.5+rke2r1 | v1.33.7+rke2r3
warning[k8s-version-map] ck8s values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10
warning[k8s-version-map] leap values.yaml:15:13 `>-` values.yaml:11:3 `leapmicro-6-0-plain-rke2-1-33` fix v1.33.7+rke2r3 => _internal.k8s_version_map.1.33 | v1.33.5+rke2r1 | v1.33.7+rke2r3
warning[k8s-version-map] kadm values.yaml:15:13 `>-` values.yaml:9:3 `ubuntu-noble-plain-kubeadm-1-33` fix v1.33.7 => _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
ck8s/control-plane v1.33.5 (values.yaml:21:16), kadm/control-plane v1.33.5 (values.yaml:21:16), leap/control-plane v1.33.5+rke2r1 (values.yaml:21:16), rke/control-plane v1.33.5+rke2r1 (values.yaml:21:16): unknown (no image matches its selector)

"#]]);
    let before = stage.texts();
    let _ = stage.run("check --fix").exit(1);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
values.yaml:16
-      {{- $v := "v1.33.5" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.5+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.33.7" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.7+rke2r3" -}}{{- end -}}

"#]],
    );
    stage.check().is(str![[r#"
error[no-image-matches] ck8s/control-plane clusters/ck8s/values.yaml:3:30 `{os: ubuntu}` values.yaml:21:16 `'{{ .Values._internal.k8s_version_map | dig .Values.k8s_version_short "" | required (printf "no k8s version for %s" .Values.k8s_version_short) }}'` => ubuntu-noble-plain-ck8s-1-32 | k8s-version: 1.32.10 | 1.33.7 | ubuntu-noble-plain-kubeadm-1-33 | k8s-flavor: kubeadm | ck8s
ck8s/control-plane v1.33.7 (values.yaml:21:16): unknown (no image matches its selector)
kadm/control-plane v1.33.7 (values.yaml:21:16): proven, ubuntu-noble-plain-kubeadm-1-33 (clusters/kadm/values.yaml:3:30) holds 1.33.7 (metalmark.lock:69:18)
leap/control-plane v1.33.7+rke2r3 (values.yaml:21:16): proven, leapmicro-6-0-plain-rke2-1-33 (clusters/leap/values.yaml:3:30) holds 1.33.7+rke2r3 (metalmark.lock:15:18)
rke/control-plane v1.33.7+rke2r3 (values.yaml:21:16): proven, ubuntu-noble-hardened-rke2-1-33 (clusters/rke/values.yaml:3:30) holds 1.33.7+rke2r3 (metalmark.lock:33:18)

"#]]);
}

/// Both builders raised, with another entry for 1.33 in the map.
fn map_entry(entry: &str) -> Stage {
    let stage = sylva("version-map");
    stage.edit(
        "artifacts.txt",
        "1-33:0.4.2 1.33.7+rke2r1",
        "1-33:0.4.2 1.33.7+rke2r3",
    );
    serve(&stage);
    let values = stage.read("values.yaml");
    let (before, rest) = values.split_once("    \"1.33\":").expect("the entry");
    let (_, after) = rest.split_once("k8s_version_short").expect("the next key");
    stage.write(
        "values.yaml",
        format!("{before}    \"1.33\": {entry}\nk8s_version_short{after}"),
    );
    raise(&stage, "0.7.6", "0.4.2");
    stage
}

#[test]
fn an_expression_that_makes_a_version_is_not_to_be_replaced_by_one() {
    let stage = map_entry(
        "'v1.33.5{{ if eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" }}+rke2r1{{ end }}{{/* not v1.33.5 */}}'",
    );
    let stdout = stage.run("check").exit(1).outcome.stdout;
    let help = "help: the expression of `_internal.k8s_version_map.1.33` is to give `v1.33.7+rke2r3` instead of `v1.33.5+rke2r1`";
    assert!(stdout.contains(help), "{stdout}");
    assert!(!stdout.contains("k8s_version_map.1.33: v1"), "{stdout}");
}

#[test]
fn a_builder_that_disagrees_with_itself_has_to_release_one_version() {
    let stage = map_entry("v1.33.5+rke2r1");
    stage.edit(
        "values.yaml",
        "  ubuntu-noble-plain-ck8s-1-32:",
        "  ubuntu-noble-plain-rke2-1-33: {os_images_oci_registry: sylva}\n  ubuntu-noble-plain-ck8s-1-32:",
    );
    let plain =
        "registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.6 1.33.6+rke2r1\n";
    stage.write("artifacts.txt", stage.read("artifacts.txt") + plain);
    serve(&stage);
    let _ = stage.run("lock").exit(0);
    let stdout = stage.run("check leap").outcome.stdout;
    let help = "help: take a release of `sylva` whose images hold one version";
    assert!(
        stdout.contains(help) && !stdout.contains("raise the versions of the builders"),
        "{stdout}"
    );
}

#[test]
fn what_a_branch_of_an_expression_prints_is_moved() {
    let is_rke2 = "eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\"";
    let mut seen = String::new();
    for entry in [
        format!("'{{{{ if {is_rke2} }}}}v1.33.5+rke2r1{{{{ else }}}}v1.33.5{{{{ end }}}}'"),
        format!(
            "|-\n      {{{{- if {is_rke2} -}}}}\n      v1.33.5+rke2r1\n      {{{{- else -}}}}\n      v1.33.5\n      {{{{- end -}}}}"
        ),
        format!(
            ">-\n      {{{{- if {is_rke2} -}}}}\n      v1.33.5+rke2r1\n      {{{{- else -}}}}\n      v1.33.5\n      {{{{- end -}}}}"
        ),
    ] {
        let stage = map_entry(&entry);
        let before = stage.texts();
        let _ = stage.run("check --fix").exit(1);
        seen += &changes(&before, &stage.texts());
        let stdout = stage.run("check").outcome.stdout;
        let (_, pools) = stdout.rsplit_once("checked: ").expect("a count");
        seen += pools;
    }
    assert_text(
        &seen,
        str![[r#"
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
-    "1.33": '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else }}v1.33.5{{ end }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
+    "1.33": '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.7+rke2r3{{ else }}v1.33.7{{ end }}'
3 proven; 1 skipped: no image matches its selector
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
values.yaml:17
-      v1.33.5+rke2r1
+      v1.33.7+rke2r3
values.yaml:19
-      v1.33.5
+      v1.33.7
3 proven; 1 skipped: no image matches its selector
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
values.yaml:17
-      v1.33.5+rke2r1
+      v1.33.7+rke2r3
values.yaml:19
-      v1.33.5
+      v1.33.7
3 proven; 1 skipped: no image matches its selector

"#]],
    );
}

#[test]
fn the_image_that_keeps_an_entry_of_the_map_is_shown() {
    let stage = map_entry(
        "'{{ eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" | ternary \"v1.33.5+rke2r1\" \"v1.33.5\" }}'",
    );
    stage.edit(
        "values.yaml",
        "  ubuntu-noble-plain-ck8s-1-32:",
        "  ubuntu-noble-plain-ck8s-1-33: {os_images_oci_registry: sylva}\n  ubuntu-noble-plain-ck8s-1-32:",
    );
    let artifacts = stage.read("artifacts.txt");
    let more = "registry.example.org/acme/builders/dib/ubuntu-noble-plain-ck8s-1-33:0.7.6 1.33.5\n";
    stage.write("artifacts.txt", artifacts + more);
    serve(&stage);
    let _ = stage.run("lock").exit(0);
    let stdout = stage.run("check kadm").exit(1).outcome.stdout;
    let lines = stdout
        .lines()
        .filter(|line| line.contains("`1.33.5`") || line.contains("of one version"));
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    assert_text(
        &lines,
        str![[r#"
   = help: `ubuntu-noble-plain-kubeadm-1-33` is near: it has `k8s-version: 1.33.7`, not `1.33.5`
   |   ---------------------------- holds `1.33.5`, which the entry has to stay at
   = help: move the builder or the entry, so that both are of one version

"#]],
    );
}

#[test]
fn an_image_of_an_older_generation_keeps_no_entry_of_the_map() {
    let stage = map_entry(
        "'{{ eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" | ternary \"v1.33.5+rke2r1\" \"v1.33.5\" }}'",
    );
    stage.edit(
        "values.yaml",
        "os_images_oci_registries:\n",
        "os_images_oci_registries:\n  sylva-n-1: {url: oci://registry.example.org/acme/builders/dib, tag: 0.7.4}\n",
    );
    stage.edit(
        "values.yaml",
        "  ubuntu-noble-plain-ck8s-1-32:",
        "  ubuntu-noble-plain-rke2-1-33: {os_images_oci_registry: sylva-n-1}\n  ubuntu-noble-plain-ck8s-1-32:",
    );
    let artifacts = stage.read("artifacts.txt");
    let older =
        "registry.example.org/acme/builders/dib/ubuntu-noble-plain-rke2-1-33:0.7.4 1.33.5+rke2r1\n";
    stage.write("artifacts.txt", artifacts + older);
    serve(&stage);
    let _ = stage.run("lock").exit(0);
    let before = stage.texts();
    let _ = stage.run("check --fix").exit(1);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
values.yaml:16
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
-    "1.33": '{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.5+rke2r1" "v1.33.5" }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
+    "1.33": '{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.7+rke2r3" "v1.33.7" }}'

"#]],
    );
    let found = stage.check();
    assert_text(&found.of_rule("k8s-version-map").join("\n"), str![]);
}

#[test]
fn flavors_that_no_cluster_runs_are_compared_with_the_map() {
    let of_rke2 = |entry: &str| {
        let stage = map_entry(entry);
        for cluster in ["ck8s", "kadm"] {
            stage.remove(&format!("clusters/{cluster}/values.yaml"));
        }
        stage
    };
    let is_rke2 = "eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\"";
    let computed =
        format!("'{{{{ if {is_rke2} }}}}v1.33.7+rke2r3{{{{ else }}}}v1.33.5{{{{ end }}}}'");
    let stage = of_rke2(&computed);
    stage.check().is(str![[r#"
warning[k8s-version-map] values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10
warning[k8s-version-map] values.yaml:15:13 `'{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.7+rke2r3{{ else }}v1.33.5{{ end }}'` values.yaml:9:3 `ubuntu-noble-plain-kubeadm-1-33` fix v1.33.7 => _internal.k8s_version_map.1.33 | v1.33.5 | v1.33.7
leap/control-plane v1.33.7+rke2r3 (values.yaml:18:16): proven, leapmicro-6-0-plain-rke2-1-33 (clusters/leap/values.yaml:3:30) holds 1.33.7+rke2r3 (metalmark.lock:15:18)
rke/control-plane v1.33.7+rke2r3 (values.yaml:18:16): proven, ubuntu-noble-hardened-rke2-1-33 (clusters/rke/values.yaml:3:30) holds 1.33.7+rke2r3 (metalmark.lock:33:18)

"#]]);
    let before = stage.texts();
    let _ = stage.run("check --fix").exit(0);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
values.yaml:14
-    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'
-    "1.33": '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.7+rke2r3{{ else }}v1.33.5{{ end }}'
+    "1.32": '{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.10" "v1.32.9+rke2r1" }}'
+    "1.33": '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.7+rke2r3{{ else }}v1.33.7{{ end }}'

"#]],
    );
    stage.check().findings(str![]);
    // What a map has for every provider is not written for those that no cluster has.
    of_rke2("v1.33.7+rke2r3").check().findings(str![[r#"
warning[k8s-version-map] values.yaml:14:13 `'{{ .Values.cluster.capi_providers.bootstrap_provider | eq "cabpck" | ternary "v1.32.9" "v1.32.9+rke2r1" }}'` values.yaml:10:3 `ubuntu-noble-plain-ck8s-1-32` fix v1.32.10 => _internal.k8s_version_map.1.32 | v1.32.9 | v1.32.10

"#]]);
    // Each map is compared: another environment has one of its own.
    stage.write(
        "clusters/prod/values.yaml",
        stage.read("clusters/rke/values.yaml")
            + "_internal: {k8s_version_map: {'1.33': '{{ ternary \"v1.33.7+rke2r3\" \"v1.33.6\" (eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\") }}'}}\n",
    );
    stage.check().findings(str![[r#"
warning[k8s-version-map] clusters/prod/values.yaml:4:39 `'{{ ternary "v1.33.7+rke2r3" "v1.33.6" (eq .Values.cluster.capi_providers.bootstrap_provider "cabpr") }}'` values.yaml:9:3 `ubuntu-noble-plain-kubeadm-1-33` fix v1.33.7 => _internal.k8s_version_map.1.33 | v1.33.6 | v1.33.7

"#]]);
    // A part of the clusters says nothing of the flavors of the others.
    of_rke2(&computed).check_with("rke").findings(str![]);
}

#[test]
fn an_image_of_another_registry_than_it_says_is_reported() {
    let stage = sylva("generations");
    let dib = "oci://registry.example.org/acme/builders/dib/ubuntu-noble-hardened-rke2-1-33:0.7.14";
    stage.edit("values.yaml", dib, &dib.replace("0.7.14", "0.5.13"));
    let found = stage.check();
    assert_text(
        &found.of_rule("fact-conflict").join("\n"),
        str![[
            r#"warning[fact-conflict] values.yaml:10:3 `sylva-n-1--ubuntu-noble-hardened-rke2-1-33` values.yaml:10:53 `"oci://registry.example.org/acme/builders/dib/ubuntu-noble-hardened-rke2-1-33:0.5.13"` => uri"#
        ]],
    );
}

#[test]
fn an_image_that_the_registry_filter_alone_keeps_away_is_the_nearest() {
    let stage = locked("two-step-upgrade");
    let filter = "os_image_selector_autoselect_registries: sylva";
    stage.edit(
        "values.yaml",
        &format!("{filter}-n-1\n"),
        &format!("{filter}\n"),
    );
    let found = stage.run("check site-a").exit(1).outcome.stdout;
    let helps = found.lines().filter(|line| line.contains("= help: "));
    assert_text(
        &helps.collect::<Vec<_>>().join("\n"),
        str![[r#"
   = help: to boot `sylva-n-1--ubuntu-noble-plain-kubeadm-1-33`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-33`: `cluster.k8s_version: v1.33.13`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-34`: `cluster.k8s_version: v1.34.9`
"#]],
    );
    let found = stage.run("check site-b").exit(1).outcome.stdout;
    let helps = found.lines().filter(|line| line.contains("= help: "));
    assert_text(
        &helps.collect::<Vec<_>>().join("\n"),
        str![[r#"
   = help: to boot `sylva-n-1--ubuntu-noble-plain-kubeadm-1-32`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
   = help: to boot `sylva--ubuntu-noble-plain-kubeadm-1-33`: `cluster.k8s_version: v1.33.13`
   = help: `sylva--ubuntu-noble-plain-kubeadm-1-34` is near: it has `k8s-version: 1.34.9`, not `1.32.11`
"#]],
    );
}

/// A cluster of OpenStack with a selector, and images of which only the names are known.
const NAMES: &str = "\
sylva_diskimagebuilder_images: {ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}}
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/os', tag: 0.4.12}}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capo, bootstrap_provider: cabpr}
  capo: {os_image_selector: {os: ubuntu}}
";

#[test]
fn what_only_a_name_says_is_written_nowhere() {
    let outputs = "outputs: [{target: helm-values, path: h}, \
                   {target: flux, path: f, patch: sylva-units}, {target: flux, path: g, patch: sylva-units, chart: charts/sylva-units}]";
    let stage = project().cluster("edge", NAMES).settings(outputs);
    let _ = stage.run("render").exit(0);
    let [values, patch, of_chart] = ["h", "f", "g"].map(|folder| {
        let files = stage.list(folder).into_iter();
        let file = |name: String| {
            let text = stage.read(&format!("{folder}/{name}"));
            format!("# {name}\n{text}")
        };
        files.map(file).collect::<String>()
    });
    assert_eq!(patch, of_chart);
    assert_text(
        &(values + &patch),
        str![[r##"
# edge.values.yaml
# Rendered by metalmark for cluster edge; edit the values, not this file.
cluster:
  capo:
    os_image_selector:
      _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-31-8"
# edge/kustomization.yaml
# Rendered by metalmark for cluster edge; edit the values, not this file.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      kind: HelmRelease
      name: sylva-units
    patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: sylva-units
      spec:
        values:
          cluster:
            capo:
              os_image_selector:
                _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-31-8"

"##]],
    );
}

/// Each target that writes facts, with the file that has them.
const FACTS: [(&str, &str); 8] = [
    ("configmap", "os-images-info.yaml"),
    ("configmap, scope: cluster", "edge-os-images-info.yaml"),
    ("helm-values, chart: sylva-capi-cluster", "edge.values.yaml"),
    ("flux", "edge/objects/os-images-info.yaml"),
    ("flux-artifact", "edge/objects/values.yaml"),
    ("flux-resourceset", "edge.yaml"),
    ("flux-resourceset, form: inputs", "images.inputs.yaml"),
    (
        "argocd, repo-url: 'https://git.example.org/acme/core.git', machine-templates: false",
        "edge.yaml",
    ),
];

#[test]
fn facts_that_only_a_name_says_are_refused_by_each_target() {
    for (target, file) in FACTS {
        let settings = format!(
            "outputs: [{{target: {target}, path: out}}]\nregistries: {{mirrors: {{registry.example.org: 'oci-layout:registry'}}}}"
        );
        let stage = project().cluster("edge", NAMES).settings(&settings);
        let image = "registry.example.org/os/ubuntu-noble-plain-rke2-1-31-8:0.4.12";
        stage.write("artifacts.txt", format!("{image} 1.31.8+rke2r1\n"));
        serve(&stage);
        let before = stage.texts();
        let stderr = stage.run("render").exit(1).outcome.stderr;
        let says = "error[lock-missing-image]: nothing but its name says what image `ubuntu-noble-plain-rke2-1-31-8` is";
        assert!(
            stderr.contains(says) && stderr.contains("help: run `metalmark lock`"),
            "{target}: {stderr}"
        );
        assert_eq!(stage.texts(), before, "{target}");
        let _ = stage.run("lock").exit(0);
        let _ = stage.run("render").exit(0);
        let text = stage.read(&format!("out/{file}")).replace('"', "");
        assert!(
            text.contains("k8s-version: 1.31.8+rke2r1"),
            "{target}: {text}"
        );
    }
}

/// Locks unsigned images of a catalog whose values name a key.
fn lock_under_a_key(catalog: &str) -> Run {
    let key = Key::new();
    let values = format!(
        "diskimage_builder_version: 0.4.12\nsylva_base_oci_registry: oci://registry.example.org/acme\n{catalog}\n\
         security: {{os_images: {{cosign_public_key: {:?}}}}}\n\
         cluster: {{k8s_version: v1.31.8+rke2r1, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, \
         capm3: {{image_key: ubuntu-noble-plain-rke2-1-31-8}}}}\n",
        key.pem()
    );
    let mirrors = "registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}";
    let stage = project().cluster("edge", &values).settings(mirrors);
    let names = [
        "ubuntu-noble-plain-rke2-1-31-8",
        "ubuntu-noble-own-rke2-1-31-8",
    ];
    let artifacts = names.map(|name| {
        format!("registry.example.org/acme/sylva-elements/diskimage-builder/{name}:0.4.12 1.31.8+rke2r1\n")
    });
    stage.write("artifacts.txt", artifacts.concat());
    serve(&stage);
    stage.run("lock")
}

/// The builder's list in the proposal's words, and an image with a reference of its own.
const PROPOSAL: &str = "diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}";
const OWN: &str = "os_images: {ubuntu-noble-own-rke2-1-31-8: {uri: 'oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-own-rke2-1-31-8:0.4.12'}}";

#[test]
fn a_key_that_is_named_is_used_for_images_that_name_no_registry() {
    let _ = lock_under_a_key(PROPOSAL).exit(1).stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:31
  |
3 | diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}

#[test]
fn a_key_that_is_named_is_used_where_all_images_have_references_of_their_own() {
    let own = OWN.replace("-own-", "-plain-");
    let _ = lock_under_a_key(&own).exit(1).stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:13
  |
3 | os_images: {ubuntu-noble-plain-rke2-1-31-8: {uri: 'oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plai...
  |             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}

/// The facts of an image as the chart gathers them, and its reference.
fn gathered(key: &str, name: &str, tag: &str, version: &str) -> String {
    let reference = format!("oci://registry.example.org/dib/{name}:{tag}");
    let facts = annotations(&reference, version);
    let facts = facts.iter().filter_map(|(fact, value)| {
        let fact = fact.strip_prefix("sylvaproject.org/diskimage/")?;
        Some(format!("{fact}: '{value}', "))
    });
    let facts: String = facts.collect();
    format!("  {key}: {{{facts}uri: '{reference}'}}\n")
}

/// The catalog of two releases of a builder, and a cluster of its own.
fn two_releases(own: &str, images: &str) -> String {
    format!(
        "os_images_oci_registries:\n\
         \u{20} sylva: {{url: 'oci://registry.example.org/dib', tag: 0.11.13}}\n\
         \u{20} sylva-n-1: {{url: 'oci://registry.example.org/dib', tag: 0.7.14{own}}}\n\
         {images}\
         cluster: {{k8s_version: v1.35.6+rke2r1, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}, \
         capm3: {{os_image_selector: {{os: ubuntu}}}}}}\n"
    )
}

#[test]
fn the_key_of_a_registry_is_used_for_images_that_the_chart_calls_by_it() {
    let key = Key::new();
    let named = format!(", cosign_publickey: {:?}", key.pem());
    let image = "ubuntu-noble-plain-rke2-1-35";
    let uri = format!("uri: 'oci://registry.example.org/dib/{image}:0.7.14'");
    let signed_by = |registry: &str, fact: &str| {
        let images = format!("os_images: {{{registry}{image}: {{{uri}{fact}}}}}\n");
        let mirror = "registries: {mirrors: {registry.example.org: 'oci-layout:registry'}}";
        let stage = project()
            .cluster("edge", &two_releases(&named, &images))
            .settings(mirror);
        stage.write(
            "artifacts.txt",
            format!("registry.example.org/dib/{image}:0.7.14 1.35.6+rke2r1\n"),
        );
        serve(&stage);
        let stderr = stage.run("lock").outcome.stderr;
        stderr.lines().next().unwrap_or_default().to_owned()
    };
    let unsigned = format!(
        "error[signature-missing]: `oci://registry.example.org/dib/{image}:0.7.14` is not trusted: it has no signature"
    );
    let fact = ", oci-image-registry-key: sylva-n-1";
    assert_eq!(signed_by("sylva-n-1--", ""), unsigned);
    assert_eq!(signed_by("", fact), unsigned);
    // Of another registry, which names no key, and of none.
    assert_eq!(
        signed_by("sylva--", ""),
        format!(
            "warning[fact-conflict]: `sylva--{image}` is of registry `sylva`, and its `uri` is an image of `sylva-n-1`"
        )
    );
    assert_eq!(signed_by("acme--", ""), "");
    assert_eq!(signed_by("", ""), "");
}

#[test]
fn facts_that_the_chart_gathered_are_those_of_the_image_of_that_registry() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed =
        format!("sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}}}\n");
    let older = gathered(
        &format!("sylva-n-1--{image}"),
        image,
        "0.7.14",
        "1.35.1+rke2r1",
    );
    let newer = gathered(
        &format!("sylva--{image}"),
        image,
        "0.11.13",
        "1.35.6+rke2r1",
    );
    let judged = |facts: &str| {
        let stage = project()
            .cluster("edge", &two_releases("", &listed))
            .settings("images: {facts: [info.yaml]}")
            .file("info.yaml", format!("os_images:\n{facts}"));
        let stdout = stage.run("check").outcome.stdout;
        let (_, count) = stdout.rsplit_once("checked: ").expect("a count");
        count.trim().to_owned()
    };
    assert_eq!(judged(&(older.clone() + &newer)), "1 proven");
    assert_eq!(judged(&older), "1 unproven");
}

/// From Sylva 1.6 an image of the chart's catalog has the key `REGISTRY--NAME`: what is written selects it by either key.
#[test]
fn an_image_is_selected_by_the_key_that_the_chart_gives_it() {
    let image = "ubuntu-noble-plain-rke2-1-35";
    let listed =
        format!("sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}}}\n");
    let facts = gathered(
        &format!("sylva--{image}"),
        image,
        "0.11.13",
        "1.35.6+rke2r1",
    );
    let mut seen = String::new();
    for choice in [
        "os_image_selector: {os: ubuntu}",
        "os_image_selector: {_os_images_key_: 'sylva--ubuntu.*'}",
        "os_image_selector: {_os_images_key_: 'sylva-n-1--ubuntu.*'}",
        "image_key: ubuntu-noble-plain-rke2-1-35",
        "image_key: sylva--ubuntu-noble-plain-rke2-1-35",
        "image_key: sylva-n-1--ubuntu-noble-plain-rke2-1-35",
    ] {
        let values = two_releases("", &listed).replace("os_image_selector: {os: ubuntu}", choice);
        let stage = project()
            .cluster("edge", &values)
            .settings("images: {facts: [info.yaml]}\noutputs: [{target: helm-values, path: u}, {target: helm-values, path: c, chart: sylva-capi-cluster}]")
            .file("info.yaml", format!("os_images:\n{facts}"));
        seen += &format!("{choice}\n");
        if stage.run("render").outcome.status != 0 {
            continue;
        }
        for folder in ["u", "c"] {
            let written = stage.read(&format!("{folder}/edge.values.yaml"));
            let pins = written.lines().filter(|line| {
                line.contains("_os_images_key_")
                    || line.contains("image_key")
                    || line.ends_with("35:")
            });
            seen += &pins
                .map(|line| format!("  {folder} {}\n", line.trim()))
                .collect::<String>();
        }
    }
    assert_text(
        &seen,
        str![[r#"
os_image_selector: {os: ubuntu}
  u _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-35"
  c _os_images_key_: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
os_image_selector: {_os_images_key_: 'sylva--ubuntu.*'}
  u _os_images_key_: "(sylva--)?ubuntu-noble-plain-rke2-1-35"
  c _os_images_key_: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
os_image_selector: {_os_images_key_: 'sylva-n-1--ubuntu.*'}
image_key: ubuntu-noble-plain-rke2-1-35
  u image_key: ubuntu-noble-plain-rke2-1-35
  c image_key: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
image_key: sylva--ubuntu-noble-plain-rke2-1-35
  u image_key: sylva--ubuntu-noble-plain-rke2-1-35
  c image_key: ubuntu-noble-plain-rke2-1-35
  c ubuntu-noble-plain-rke2-1-35:
image_key: sylva-n-1--ubuntu-noble-plain-rke2-1-35

"#]],
    );
}

#[test]
fn an_additional_selector_that_serves_nothing_is_reported() {
    let stage = locked("generations");
    let line = "  narrow: {os: ubuntu, k8s-flavor: rke2, k8s-version: '1\\.33\\..*', oci-image-registry-key: sylva-n-1}";
    let found = |selector: &str| {
        stage.edit("values.yaml", line, &format!("{line}\n  more: {selector}"));
        let stdout = stage.run("check mgmt").outcome.stdout;
        stage.edit("values.yaml", &format!("\n  more: {selector}"), "");
        let lines = stdout
            .lines()
            .skip_while(|line| !line.contains("`os_image_server_additional_selectors.more`"));
        let lines = lines.take_while(|line| !line.is_empty());
        lines.map(|line| format!("{line}\n")).collect::<String>()
    };
    assert_text(
        &(found("{oci-image-registry-key: sylva-n1}")
            + &found("{os: ubuntu, k8s-version: '1\\.34\\..*'}")
            + &found("{_os_images_key_: 'ubuntu.*'}")
            // Of no image is this known.
            + &found("{flavor: minimal}")
            + &found("{os: 15.6}")),
        str![[r#"
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:10
   |
17 |   more: {oci-image-registry-key: sylva-n1}
   |          ^^^^^^^^^^^^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `oci-image-registry-key: sylva`, and it wants `sylva-n1`
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:22
   |
17 |   more: {os: ubuntu, k8s-version: '1\.34\..*'}
   |                      ^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `k8s-version: 1.33.13+rke2r1`, and it wants `1\.34\..*`
warning[no-image-matches]: no image matches `os_image_server_additional_selectors.more`, so it serves none
  --> values.yaml:17:10
   |
17 |   more: {_os_images_key_: 'ubuntu.*'}
   |          ^^^^^^^^^^^^^^^ this selector
   |
   = cluster: mgmt
   = help: `sylva--ubuntu-noble-hardened-rke2-1-33` has `_os_images_key_: sylva--ubuntu-noble-hardened-rke2-1-33`, and it wants `ubuntu.*`

"#]],
    );
    std::fs::remove_file(stage.path().join("metalmark.lock")).expect("the lock");
    assert_eq!(found("{k8s-version: '1\\.35\\..*'}"), "");
}

#[test]
fn a_registry_before_a_name_is_no_part_of_what_the_name_says() {
    let image = |key: &str| {
        format!(
            "os_images: {{{key}: {{uri: 'https://images.example.org/a.raw', sha256: {}, image-format: raw}}}}\n",
            "a".repeat(64)
        )
    };
    for key in [
        "ubuntu-noble-plain-rke2-1-35-6",
        "sylva--ubuntu-noble-plain-rke2-1-35-6",
    ] {
        let stage = project().cluster("edge", &two_releases("", &image(key)));
        let stage = stage.settings("matching: normalized");
        let stdout = stage.run("check").exit(0).outcome.stdout;
        assert!(stdout.contains("1 by name only"), "{stdout}");
    }
}

#[test]
fn a_selector_for_an_image_of_which_nothing_is_known_names_its_key() {
    let image = format!(
        "os_images: {{gateway: {{uri: 'https://images.example.org/a.raw', sha256: {}, image-format: raw}}}}\n",
        "a".repeat(64)
    );
    let values = two_releases("", &image);
    let keyed = values.replace("os_image_selector: {os: ubuntu}", "image_key: gateway");
    let stage = project()
        .file("edge.yaml", keyed)
        .file("mgmt.yaml", values.replace("os: ubuntu", "os: other"))
        .settings("clusters: [{name: mgmt, values: [mgmt.yaml]}, {name: edge, values: [edge.yaml], management: mgmt}]");
    let stdout = stage.run("check").outcome.stdout;
    let help = stdout
        .lines()
        .find(|line| line.contains("additional_selectors"));
    assert_eq!(
        help.map(str::trim),
        Some(
            "= help: `os_image_server_additional_selectors.gateway: {_os_images_key_: 'gateway'}`"
        )
    );
}

#[test]
fn a_name_without_its_registry_is_near_the_images_of_that_name() {
    let images: String = [
        "sylva--ubuntu-noble-plain-rke2-1-36",
        "sylva-n-1--ubuntu-noble-plain-rke2-1-35",
    ]
    .map(|key| {
        gathered(
            key,
            "ubuntu-noble-plain-rke2-1-35",
            "0.7.14",
            "1.35.6+rke2r1",
        )
    })
    .concat();
    let values = two_releases("", &format!("os_images:\n{images}"));
    let selector = "os_image_selector: {os: ubuntu}";
    let keyed = values.replace(selector, "image_key: ubuntu-noble-plain-rke2-1-35");
    let stdout = project()
        .cluster("edge", &keyed)
        .run("check")
        .exit(1)
        .outcome
        .stdout;
    let near = "`sylva-n-1--ubuntu-noble-plain-rke2-1-35` is near";
    assert!(stdout.contains(near), "{stdout}");
}

#[test]
fn the_key_of_the_builder_is_for_no_image_of_the_user() {
    let _ = lock_under_a_key(&format!("{PROPOSAL}\n{OWN}"))
        .exit(1)
        .stderr(str![[r#"
error[signature-missing]: `oci://registry.example.org/acme/sylva-elements/diskimage-builder/ubuntu-noble-plain-rke2-1-31-8:0.4.12` is not trusted: it has no signature
 --> edge.yaml:3:31
  |
3 | diskimage_builder_os_images: {ubuntu-noble-plain-rke2-1-31-8: {}}
  |                               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  |
  = help: have it signed: `cosign sign`; if it was copied here, copy its signatures too: `metalmark mirror`

1 error

"#]]);
}

/// A catalog of the proposal's time, a cluster that names one of its images, and what is rendered of both.
fn dotted(list: &str, cluster: &str) -> Stage {
    let image = |version: &str| {
        format!(
            "  ubuntu-noble-plain-kubeadm-{version}: {{uri: 'oci://registry.example.org/os/other:{version}', k8s-version: {version}, k8s-flavor: kubeadm, \
             os: ubuntu, os-release: noble, sha256: {}, image-format: raw}}\n",
            HEXLOWER.encode(&Sha256::digest(version))
        )
    };
    let values = format!("{list}:\n{}{}{cluster}", image("1.30.2"), image("1.31.8"));
    let outputs = "outputs: [{target: configmap, path: c, os-images-info-root: true}, \
                   {target: helm-values, path: h, chart: sylva-capi-cluster}]";
    project().cluster("edge", &values).settings(outputs)
}

#[test]
fn an_image_is_written_as_a_chart_looks_it_up() {
    let cluster = "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  capm3: ";
    let mut seen = String::new();
    for (list, choice) in [
        (
            "diskimage_builder_os_images",
            "{os_image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n",
        ),
        (
            "os_images",
            "{image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n",
        ),
        (
            "os_images",
            "{image_key: ubuntu-nobel-plain-kubeadm-1.31.8}\n",
        ),
        (
            "os_images",
            "{os_image_selector: {_os_images_key_: 'ubuntu-noble-plain-kubeadm-1\\.31\\.8'}}\n",
        ),
    ] {
        let stage = dotted(list, &format!("{cluster}{choice}"));
        let before = stage.texts();
        let _ = stage.run("check --fix");
        seen += &changes(&before, &stage.texts());
        let _ = stage.run("render").exit(0);
        let texts = stage.read("c/os-images-info.yaml") + &stage.read("h/edge.values.yaml");
        let lines = texts.lines().filter(|line| line.contains("ubuntu-noble"));
        seen += &lines.map(|line| format!("{line}\n")).collect::<String>();
    }
    assert_text(
        &seen,
        str![[r#"
edge.yaml:7
-  capm3: {os_image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {os_image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  machine_image_url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  ubuntu-noble-plain-kubeadm-1.31.8:
edge.yaml:7
-  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  image_key: ubuntu-noble-plain-kubeadm-1.31.8
  ubuntu-noble-plain-kubeadm-1.31.8:
edge.yaml:7
-  capm3: {image_key: ubuntu-nobel-plain-kubeadm-1.31.8}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
  image_key: ubuntu-noble-plain-kubeadm-1.31.8
  ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
      ubuntu-noble-plain-kubeadm-1.31.8:
        url: http://os-image-server-ubuntu-noble-plain-kubeadm-1-31-8.os-images.svc.cluster.local:8080/image.raw
    _os_images_key_: 'ubuntu-noble-plain-kubeadm-1\.31\.8'
  ubuntu-noble-plain-kubeadm-1.31.8:

"#]],
    );
}

#[test]
fn a_wave_names_an_image_as_the_catalog_does() {
    let cluster = "cluster:\n  k8s_version: v1.30.2\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
                   capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}\n";
    let stage = dotted("os_images", cluster);
    let before = stage.texts();
    let _ = stage.run("plan --to 1.31 --apply 1").exit(0);
    assert_text(
        &changes(&before, &stage.texts()),
        str![[r#"
edge.yaml:5
-  k8s_version: v1.30.2
+  k8s_version: v1.31.8
edge.yaml:7
-  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.30.2}
+  capm3: {image_key: ubuntu-noble-plain-kubeadm-1.31.8}

"#]],
    );
}

#[test]
fn a_management_cluster_serves_each_step_and_what_machines_still_run() {
    let stage = locked("two-step-upgrade");
    let own = stage.run("plan --to 1.35 mgmt").exit(0).screen(str![[r#"
mgmt: 1.33.9 → 1.34.9 → 1.35.6
  1.34.9  control-plane  sylva--ubuntu-noble-plain-kubeadm-1-34
  1.34.9  md0  sylva--ubuntu-noble-plain-kubeadm-1-34
  1.35.6  control-plane  sylva--ubuntu-noble-plain-kubeadm-1-35
  1.35.6  md0  sylva--ubuntu-noble-plain-kubeadm-1-35

wave 1, to 1.34, 5 machines: mgmt
wave 2, to 1.35, 5 machines: mgmt
mgmt has to serve:
  now  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  now  ubuntu-noble-plain-kubeadm-1-33:0.7.14  mgmt, site-a  still run it  served
  to 1.34  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  to 1.34  ubuntu-noble-plain-kubeadm-1-33:0.7.14  mgmt, site-a  still run it  served
  to 1.34  ubuntu-noble-plain-kubeadm-1-34:0.11.13  mgmt  new  served
  to 1.35  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  to 1.35  ubuntu-noble-plain-kubeadm-1-33:0.7.14  mgmt, site-a  still run it  not selected
  to 1.35  ubuntu-noble-plain-kubeadm-1-34:0.11.13  mgmt  until they are replaced  not selected
  to 1.35  ubuntu-noble-plain-kubeadm-1-35:0.11.13  mgmt  new  served
add to mgmt: `os_image_server_additional_selectors.ubuntu-kubeadm-sylva: {k8s-flavor: 'kubeadm', k8s-version: '1\.34\..*', oci-image-registry-key: 'sylva', os: 'ubuntu'}`
add to mgmt: `os_image_server_additional_selectors.ubuntu-kubeadm-sylva-n-1: {k8s-flavor: 'kubeadm', k8s-version: '(1\.32|1\.33)\..*', oci-image-registry-key: 'sylva-n-1', os: 'ubuntu'}`

1 cluster: 1 to upgrade in 2 steps, 0 at 1.35 or newer, 0 blocked

"#]]);
    let _ = stage
        .run("plan --to 1.35 mgmt --output markdown")
        .screen(str![[r#"
### The way to Kubernetes 1.35

**1 cluster: 1 to upgrade in 2 steps, 0 at 1.35 or newer, 0 blocked**

- wave 1, to 1.34, 5 machines: mgmt
- wave 2, to 1.35, 5 machines: mgmt

What mgmt has to serve:

| when | image | clusters | their machines | |
|---|---|---|---|---|
| now | ubuntu-noble-plain-kubeadm-1-32:0.7.14 | site-b | still run it | not selected |
| now | ubuntu-noble-plain-kubeadm-1-33:0.7.14 | mgmt, site-a | still run it | served |
| to 1.34 | ubuntu-noble-plain-kubeadm-1-32:0.7.14 | site-b | still run it | not selected |
| to 1.34 | ubuntu-noble-plain-kubeadm-1-33:0.7.14 | mgmt, site-a | still run it | served |
| to 1.34 | ubuntu-noble-plain-kubeadm-1-34:0.11.13 | mgmt | new | served |
| to 1.35 | ubuntu-noble-plain-kubeadm-1-32:0.7.14 | site-b | still run it | not selected |
| to 1.35 | ubuntu-noble-plain-kubeadm-1-33:0.7.14 | mgmt, site-a | still run it | not selected |
| to 1.35 | ubuntu-noble-plain-kubeadm-1-34:0.11.13 | mgmt | until they are replaced | not selected |
| to 1.35 | ubuntu-noble-plain-kubeadm-1-35:0.11.13 | mgmt | new | served |

Add to its values:

```text
os_image_server_additional_selectors.ubuntu-kubeadm-sylva: {k8s-flavor: 'kubeadm', k8s-version: '1\.34\..*', oci-image-registry-key: 'sylva', os: 'ubuntu'}
```

Add to its values:

```text
os_image_server_additional_selectors.ubuntu-kubeadm-sylva-n-1: {k8s-flavor: 'kubeadm', k8s-version: '(1\.32|1\.33)\..*', oci-image-registry-key: 'sylva-n-1', os: 'ubuntu'}
```

| cluster | Kubernetes | images | blocked |
|---|---|---|---|
| mgmt | 1.33.9 → 1.34.9 → 1.35.6 | 1.34.9: sylva--ubuntu-noble-plain-kubeadm-1-34; 1.35.6: sylva--ubuntu-noble-plain-kubeadm-1-35 |  |

"#]]);
    let json = stage
        .run("plan --to 1.35 mgmt --output json")
        .outcome
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_text(
        &json["servers"][0]["stages"][2]["images"][2].to_string(),
        str![[
            r#"{"clusters":["mgmt"],"image":"ubuntu-noble-plain-kubeadm-1-34:0.11.13","key":"sylva--ubuntu-noble-plain-kubeadm-1-34","need":"ends","served":false}"#
        ]],
    );
    let page = stage.run("page --plan 1.34").exit(0).outcome.stdout;
    let (_, servers) = page.split_once(r#""servers":"#).expect("servers");
    let (first, _) = servers.split_once(r#"],["#).expect("two images");
    assert_text(
        first,
        str![[
            r#"[{"name":"mgmt","images":[["now","ubuntu-noble-plain-kubeadm-1-32:0.7.14","site-b","still run it","not selected""#
        ]],
    );
    stage.check().is(str![[r#"
warning[image-not-enabled] mgmt values.yaml:11:3 `sylva-n-1--ubuntu-noble-plain-kubeadm-1-32` => os_image_server_additional_selectors.ubuntu-kubeadm-sylva-n-1: {k8s-flavor: 'kubeadm', k8s-version: '1\.32\..*', oci-image-registry-key: 'sylva-n-1', os: 'ubuntu'}
mgmt/control-plane v1.33.9 (clusters/mgmt/values.yaml:2:16), mgmt/md0 v1.33.9 (clusters/mgmt/values.yaml:2:16), site-a/control-plane v1.33.9 (clusters/site-a/values.yaml:1:24): proven, sylva-n-1--ubuntu-noble-plain-kubeadm-1-33 (values.yaml:16:30) holds 1.33.9 (metalmark.lock:90:18)
site-b/control-plane v1.32.11 (clusters/site-b/values.yaml:1:24): proven, sylva-n-1--ubuntu-noble-plain-kubeadm-1-32 (values.yaml:16:30) holds 1.32.11 (metalmark.lock:75:18)

"#]]);
    // With what is proposed, everything is served now and in each step.
    let added = own.outcome.stdout.lines().filter_map(|line| {
        let edit = line.strip_prefix("add to mgmt: `os_image_server_additional_selectors.")?;
        Some(format!("  {}\n", edit.strip_suffix('`')?))
    });
    let added: String = added.collect();
    stage.edit(
        "values.yaml",
        "os_image_server_additional_selectors: {}\n",
        &format!("os_image_server_additional_selectors:\n{added}"),
    );
    let words = stage.run("plan --to 1.35 mgmt").exit(0).outcome.stdout;
    assert!(!words.contains("not "), "{words}");
    stage.check().findings(str![]);
}

#[test]
fn an_image_that_a_management_cluster_does_not_list_is_missing() {
    let stage = locked("two-step-upgrade");
    stage.edit(
        "clusters/mgmt/values.yaml",
        "cluster:\n",
        "os_images: {sylva-n-1--ubuntu-noble-plain-kubeadm-1-32: null}\ncluster:\n",
    );
    stage.check().findings(str![[r#"
warning[image-not-enabled] mgmt => ubuntu-noble-plain-kubeadm-1-32:0.7.14 | mgmt | site-b

"#]]);
}

#[test]
fn a_selector_serves_no_image_that_no_machine_needs() {
    let stage = locked("two-step-upgrade");
    let hardened = "os_images:\n  sylva-n-1--ubuntu-noble-hardened-kubeadm-1-32: {uri: 'oci://registry.example.org/own/hardened:1', \
                    oci-image-registry-key: sylva-n-1, os: ubuntu, k8s-flavor: kubeadm, k8s-version: 1.32.11, hardened: 'true'}\n";
    stage.edit("values.yaml", "os_images:\n", hardened);
    stage.edit(
        "values.yaml",
        "{os: ubuntu}",
        "{os: ubuntu, hardened: false}",
    );
    let _ = stage.run("check").exit(0).stdout(str![[r#"
warning[lock-missing-image]: the lock does not hold image `sylva-n-1--ubuntu-noble-hardened-kubeadm-1-32`
 --> values.yaml:7:3
  |
7 |   sylva-n-1--ubuntu-noble-hardened-kubeadm-1-32: {uri: 'oci://registry.example.org/own/hardened:1', oci-image-registry-key: sylva-n-1...
  |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ is not locked
  |
  = cluster: mgmt
  = also in clusters: site-a, site-b
  = help: run `metalmark lock` and commit the lock

warning[image-not-enabled]: management cluster `mgmt` does not serve `ubuntu-noble-plain-kubeadm-1-32:0.7.14`, which machines of other clusters boot
  --> values.yaml:12:3
   |
12 |   sylva-n-1--ubuntu-noble-plain-kubeadm-1-32: {uri: "oci://registry.example.org/acme/builders/dib/ubuntu-noble-plain-kubeadm-1-32:0....
   |   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ booted by `site-b`, and no selector serves it
   |
   = help: `os_image_server_additional_selectors.ubuntu-kubeadm-sylva-n-1: {_os_images_key_: 'sylva-n-1--ubuntu-noble-plain-kubeadm-1-32'}`

2 warnings in 3 clusters; 4 node pools checked: 4 proven

"#]]);
    let all = stage.run("check --all-images").outcome.stdout;
    assert!(!all.contains("image-not-enabled"), "{all}");
}

/// A management cluster at the newest release of the builder, and sites that keep an older one in values of their own.
#[test]
fn a_cluster_that_keeps_a_version_of_its_own_is_not_planned_with_another() {
    let site = |version: &str| {
        format!(
            "sylva_diskimagebuilder_version: 0.7.14\n\
             sylva_diskimagebuilder_images: {{ubuntu-noble-plain-kubeadm-1-32: {{os_images_oci_registry: sylva}}, ubuntu-noble-plain-kubeadm-1-34: null}}\n\
             cluster: {{k8s_version: {version}}}\n"
        )
    };
    let values = "sylva_diskimagebuilder_version: 0.11.13\n\
        os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/dib', tag: '{{ .Values.sylva_diskimagebuilder_version }}'}}\n\
        sylva_diskimagebuilder_images: {ubuntu-noble-plain-kubeadm-1-33: {os_images_oci_registry: sylva}, ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}}\n\
        cluster: {capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}, capm3: {os_image_selector: {os: ubuntu}}}\n";
    let stage = project()
        .cluster("mgmt", "cluster: {k8s_version: v1.33.13}\n")
        .cluster("site-a", &site("v1.33.9"))
        .cluster("site-b", &site("v1.32.11"))
        .settings("values: [values.yaml]\nregistries: {mirrors: {registry.example.org: 'oci-layout:registry'}}")
        .file("values.yaml", values);
    let artifacts = [
        ("1-32:0.7.14", "1.32.11"),
        ("1-33:0.7.14", "1.33.9"),
        ("1-33:0.11.13", "1.33.13"),
        ("1-34:0.11.13", "1.34.9"),
    ];
    let artifacts = artifacts.map(|(image, version)| {
        format!("registry.example.org/dib/ubuntu-noble-plain-kubeadm-{image} {version}\n")
    });
    stage.write("artifacts.txt", artifacts.concat());
    serve(&stage);
    let _ = stage.run("lock").exit(0);
    let _ = stage
        .run("plan --to-builder 0.11.13")
        .exit(1)
        .screen(str![[r#"
mgmt: 1.33.13
site-a: not planned: its own values keep `sylva` at `0.7.14`
site-b: not planned: its own values keep `sylva` at `0.7.14`; `0.11.13` has no image of 1.32: go to 1.33 first

3 clusters: 0 to upgrade in 0 steps, 1 at the newest patch, 0 blocked, 2 not planned, with the images of 0.11.13

"#]]);
}
