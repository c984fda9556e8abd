//! The map of Kubernetes versions, which each release of a builder leaves behind.

use snapbox::str;

use super::{gathered, locked, raise, serve, sylva};
use crate::support::stage::{Stage, assert_text, changes, project, table};

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

/// It is the user's own, and machines of the flavor may boot it.
#[test]
fn the_image_that_keeps_an_entry_of_the_map_is_shown() {
    let stage = map_entry("v1.33.5+rke2r1");
    let own = "os_images: {gateway: {uri: 'https://images.example.org/gateway.raw', os: other, k8s-flavor: rke2, k8s-version: 1.33.5+rke2r1}}\n";
    stage.write("values.yaml", own.to_owned() + &stage.read("values.yaml"));
    let stdout = stage.run("check rke").exit(1).outcome.stdout;
    let lines = stdout.lines();
    let lines =
        lines.filter(|line| line.contains("has to stay at") || line.contains("of one version"));
    let lines: String = lines.map(|line| format!("{line}\n")).collect();
    assert_text(
        &lines,
        str![[r#"
   |             ------- holds `1.33.5+rke2r1`, which the entry has to stay at
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

/// A map with one text for two flavors, and a cluster whose image is of the next minor of the map.
#[test]
fn what_a_map_gives_is_never_proposed_beside_it() {
    let values = "sylva_diskimagebuilder_version: 0.11.13\n\
        os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/dib', tag: 0.11.13}}\n\
        sylva_diskimagebuilder_images:\n\
        \u{20} ubuntu-noble-plain-rke2-1-34: {os_images_oci_registry: sylva}\n\
        \u{20} ubuntu-noble-plain-ck8s-1-34: {os_images_oci_registry: sylva}\n\
        \u{20} ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}\n\
        k8s_version_short: '1.33'\n\
        _internal:\n\
        \u{20} k8s_version_map:\n\
        \u{20}   '1.33': v1.33.7+rke2r1\n\
        \u{20}   '1.34': '{{ ternary \"v1.34.2+rke2r1\" \"v1.34.2\" (eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\") }}'\n\
        cluster:\n\
        \u{20} k8s_version: '{{ index .Values._internal.k8s_version_map .Values.k8s_version_short }}'\n\
        \u{20} capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n\
        \u{20} capm3: {os_image_selector: {os: ubuntu}}\n";
    let images = [
        ("rke2", "1.34.2+rke2r1"),
        ("ck8s", "1.34.3"),
        ("kubeadm", "1.34.2"),
    ];
    let images = images.map(|(flavor, version)| {
        let name = format!("ubuntu-noble-plain-{flavor}-1-34");
        gathered(&format!("sylva--{name}"), &name, "0.11.13", version)
    });
    let stage = project()
        .settings("values: [values.yaml]\nimages: {facts: [info.yaml]}")
        .file("values.yaml", values)
        .file("info.yaml", format!("os_images:\n{}", images.concat()))
        .cluster("edge", "cluster: {}\n")
        .cluster(
            "ck",
            "k8s_version_short: '1.34'\ncluster: {capi_providers: {bootstrap_provider: cabpck}}\n",
        );
    let helps = |cluster: &&str| {
        let stdout = stage
            .run(&format!("check {cluster}"))
            .exit(1)
            .outcome
            .stdout;
        let lines = stdout.lines().filter(|line| line.contains("help: "));
        lines.map(|line| line.trim().to_owned()).collect::<Vec<_>>()
    };
    assert_text(
        &table(["edge", "ck"], helps),
        str![[r#"
edge
    = help: to boot `ubuntu-noble-plain-rke2-1-34`: `k8s_version_short: "1.34"`
ck
    = help: `_internal.k8s_version_map.1.34` is for `kubeadm` too, which needs `v1.34.2`: give `ck8s` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
    = help: `_internal.k8s_version_map.1.34` is for `kubeadm` too, which needs `v1.34.2`: give `ck8s` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
    = help: `ubuntu-noble-plain-kubeadm-1-34` is near: it has `k8s-flavor: kubeadm`, not `ck8s`

"#]],
    );
}
