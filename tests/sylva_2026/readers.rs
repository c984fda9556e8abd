//! An entry of the map is read by clusters that let in images of different registries: an edit has to be right for all of them.

use snapbox::str;

use super::gathered;
use crate::support::stage::{Stage, assert_text, changes, project};

const NEW: &str = "ubuntu-noble-hardened-rke2-1-33";
const OLD: &str = "ubuntu-noble-plain-rke2-1-33";

/// A platform with a map, and images, each with its registry, its name, its tag and its version.
fn platform(registries: &str, entry: &str, images: &[(&str, &str, &str, &str)]) -> Stage {
    let lists = images
        .iter()
        .map(|(registry, name, ..)| format!("  {name}: {{os_images_oci_registry: {registry}}}\n"));
    let infos = images.iter().map(|(registry, name, tag, version)| {
        gathered(&format!("{registry}--{name}"), name, tag, version)
    });
    let values = format!(
        "dib_version: 0.11.13\nkiwi_version: 0.5.11\n\
         os_images_oci_registries:\n{registries}\
         sylva_diskimagebuilder_images:\n{}\
         k8s_version_short: '1.33'\n\
         _internal:\n  k8s_version_map:\n    '1.33': {entry}\n\
         cluster:\n  k8s_version: '{{{{ index .Values._internal.k8s_version_map .Values.k8s_version_short }}}}'\n  \
         capi_providers: {{infra_provider: capm3}}\n  capm3: {{os_image_selector: {{os: ubuntu}}}}\n",
        lists.collect::<String>()
    );
    project()
        .settings("values: [values.yaml]\nimages: {facts: [info.yaml]}")
        .file("values.yaml", values)
        .file(
            "info.yaml",
            format!("os_images:\n{}", infos.collect::<String>()),
        )
}

/// The values of a cluster that takes images of these registries.
fn cluster(provider: &str, registries: &str) -> String {
    format!(
        "cluster:\n  os_image_selector_autoselect_registries: {registries}\n  \
         capi_providers: {{bootstrap_provider: {provider}}}\n"
    )
}

/// What `check` says of the map and of selectors, without places.
fn said(stage: &Stage) -> String {
    let stdout = stage.run("check").outcome.stdout;
    let lines = stdout.lines().filter(|line| {
        ["error", "warning", "   = help"]
            .iter()
            .any(|it| line.starts_with(it))
            || line.contains("checked: ")
    });
    lines.map(|line| format!("{line}\n")).collect()
}

/// What `check --fix` changes.
fn fixed(stage: &Stage) -> String {
    let before = stage.texts();
    let _ = stage.run("check --fix");
    changes(&before, &stage.texts())
}

/// Two generations below one address.
const GENERATIONS: &str = "  sylva: {url: 'oci://registry.example.org/dib', tag: '{{ .Values.dib_version }}'}\n\
    \x20 sylva-n-1: {url: 'oci://registry.example.org/dib', tag: 0.7.14}\n";

#[test]
fn an_entry_stays_while_a_cluster_of_an_older_generation_reads_it() {
    let images = [
        ("sylva", NEW, "0.11.13", "1.33.6+rke2r1"),
        ("sylva-n-1", OLD, "0.7.14", "1.33.5+rke2r1"),
    ];
    let stage = platform(GENERATIONS, "v1.33.5+rke2r1", &images)
        .cluster("core", &cluster("cabpr", "sylva"))
        .cluster("site", &cluster("cabpr", "sylva-n-1"));
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`, and the images of it for `rke2` hold `1.33.6+rke2r1`
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone
error[no-image-matches]: no image matches the selector
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone
   = help: to boot `ubuntu-noble-plain-rke2-1-33`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: no image matches its selector

"#]],
    );
    assert_text(&fixed(&stage), str![]);
    // A part of the clusters is judged as all are.
    let before = stage.texts();
    let _ = stage.run("check --fix core").exit(1);
    assert_eq!(stage.texts(), before);
    // The help, as it is written.
    let own = cluster("cabpr", "sylva-n-1") + "  k8s_version: v1.33.5+rke2r1\n";
    stage.write("site.yaml", own);
    assert_text(
        &fixed(&stage),
        str![[r#"
values.yaml:12
-    '1.33': v1.33.5+rke2r1
+    '1.33': v1.33.6+rke2r1

"#]],
    );
    assert_text(
        &said(&stage),
        str![[r#"
no findings in 2 clusters; 2 node pools checked: 2 proven

"#]],
    );
}

#[test]
fn a_few_of_many_readers_are_named() {
    let images = [
        ("sylva", NEW, "0.11.13", "1.33.6+rke2r1"),
        ("sylva-n-1", OLD, "0.7.14", "1.33.5+rke2r1"),
    ];
    let stage = platform(GENERATIONS, "v1.33.5+rke2r1", &images)
        .cluster("core", &cluster("cabpr", "sylva"));
    let sites = ["a", "b", "c", "d", "e"].into_iter();
    let stage = sites.fold(stage, |stage, name| {
        stage.cluster(name, &cluster("cabpr", "sylva-n-1"))
    });
    let said = said(&stage);
    let helps = said
        .lines()
        .filter(|line| line.contains("too, and its") || line.contains("more"));
    let helps: String = helps.take(4).map(|line| format!("{line}\n")).collect();
    assert_text(
        &helps,
        str![[r#"
   = help: `a` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `a` alone
   = help: `b` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `b` alone
   = help: `c` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `c` alone
   = help: do the same for 2 more

"#]],
    );
}

#[test]
fn a_site_whose_images_only_an_export_lists_keeps_the_entry_too() {
    let images = [("sylva", NEW, "0.11.13", "1.33.6+rke2r1")];
    let stage = platform(GENERATIONS, "v1.33.5+rke2r1", &images)
        .cluster("core", &cluster("cabpr", "sylva"))
        .cluster("site", &cluster("cabpr", "sylva-n-1"));
    let older = gathered(&format!("sylva-n-1--{NEW}"), NEW, "0.7.14", "1.33.5+rke2r1");
    let older = older.replace("uri:", "oci-image-registry-key: sylva-n-1, uri:");
    stage.write("info.yaml", stage.read("info.yaml") + &older);
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`, and the images of it for `rke2` hold `1.33.6+rke2r1`
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone
error[no-image-matches]: no image matches the selector
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone
   = help: to boot `sylva-n-1--ubuntu-noble-hardened-rke2-1-33`: `cluster.control_plane.capm3.os_image_selector.oci-image-registry-key: sylva-n-1`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: no image matches its selector

"#]],
    );
    assert_text(&fixed(&stage), str![]);
}

#[test]
fn clusters_whose_images_hold_two_new_versions_are_distinguished() {
    let images = [
        ("sylva", NEW, "0.11.13", "1.33.7+rke2r1"),
        ("sylva-n-1", OLD, "0.7.14", "1.33.6+rke2r1"),
    ];
    let stage = platform(GENERATIONS, "v1.33.5+rke2r1", &images)
        .cluster("core", &cluster("cabpr", "sylva"))
        .cluster("site", &cluster("cabpr", "sylva-n-1"));
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`, and the images of it for `rke2` hold `1.33.6+rke2r1`
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.6+rke2r1`: write `cluster.k8s_version: v1.33.6+rke2r1` in the values of `site` alone
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`, and the images of it for `rke2` hold `1.33.7+rke2r1`
error[no-image-matches]: no image matches the selector
   = help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.6+rke2r1`: write `cluster.k8s_version: v1.33.6+rke2r1` in the values of `site` alone

"#]],
    );
    assert_text(&fixed(&stage), str![]);
}

/// Both have a value with their version.
#[test]
fn two_builders_below_one_address_are_no_generations() {
    let registries = "  sylva: {url: 'oci://registry.example.org/dib', tag: '{{ .Values.dib_version }}'}\n\
        \x20 kiwi: {url: 'oci://registry.example.org/dib', tag: '{{ .Values.kiwi_version }}'}\n";
    let leap = "leapmicro-6-0-plain-rke2-1-33";
    let images = [
        ("sylva", NEW, "0.11.13", "1.33.6+rke2r1"),
        ("kiwi", leap, "0.5.11", "1.33.5+rke2r1"),
    ];
    let stage =
        platform(registries, "v1.33.5+rke2r1", &images).cluster("core", &cluster("cabpr", "'.*'"));
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: images of Kubernetes 1.33 for `rke2` hold `1.33.5+rke2r1` (kiwi) and `1.33.6+rke2r1` (sylva), and `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`
   = help: raise the versions of the builders together, to releases with one version of Kubernetes
error[no-image-matches]: no image matches the selector
   = help: `ubuntu-noble-hardened-rke2-1-33` is near: it has `k8s-version: 1.33.6+rke2r1`, not `1.33.5\+rke2r1`
   = help: `leapmicro-6-0-plain-rke2-1-33` is near: it has `os: leapmicro`, not `ubuntu`

"#]],
    );
    assert_text(&fixed(&stage), str![]);
}

/// Entries that say the versions of three flavors.
fn entry(rke2: &str, kubeadm: &str, ck8s: &str) -> String {
    let provider = ".Values.cluster.capi_providers.bootstrap_provider";
    format!(
        "'{{{{ if eq {provider} \"cabpr\" }}}}{rke2}{{{{ else if eq {provider} \"cabpck\" }}}}{ck8s}{{{{ else }}}}{kubeadm}{{{{ end }}}}'"
    )
}

/// Clusters of two flavors with an entry, and what their images hold.
fn flavors(entry: &str, kubeadm: &str, ck8s: &str, clusters: &[&str]) -> Stage {
    let images = [
        (
            "sylva",
            "ubuntu-noble-plain-kubeadm-1-33",
            "0.11.13",
            kubeadm,
        ),
        ("sylva", "ubuntu-noble-plain-ck8s-1-33", "0.11.13", ck8s),
    ];
    let stage = platform(GENERATIONS, entry, &images);
    let add = |stage: Stage, provider: &&str| stage.cluster(provider, &cluster(provider, "sylva"));
    clusters.iter().fold(stage, add)
}

#[test]
fn a_flavor_moves_to_what_another_branch_leaves() {
    let stage = flavors(
        &entry("v1.33.5+rke2r1", "v1.33.5", "v1.33.4"),
        "1.33.7",
        "1.33.5",
        &["cabpk", "cabpck"],
    );
    assert_text(
        &fixed(&stage),
        str![[r#"
values.yaml:12
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.4{{ else }}v1.33.5{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.5{{ else }}v1.33.7{{ end }}'

"#]],
    );
    assert_text(
        &said(&stage),
        str![[r#"
no findings in 2 clusters; 2 node pools checked: 2 proven

"#]],
    );
}

#[test]
fn branches_with_one_text_are_distinguished() {
    let stage = flavors(
        &entry("v1.33.5+rke2r1", "v1.33.5", "v1.33.5"),
        "1.33.7",
        "1.33.5",
        &["cabpk", "cabpck"],
    );
    assert_text(
        &fixed(&stage),
        str![[r#"
values.yaml:12
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.5{{ else }}v1.33.5{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.5{{ else }}v1.33.7{{ end }}'

"#]],
    );
    assert_text(
        &said(&stage),
        str![[r#"
no findings in 2 clusters; 2 node pools checked: 2 proven

"#]],
    );
}

#[test]
fn a_branch_of_two_flavors_stays_for_the_one_that_lags() {
    let provider = ".Values.cluster.capi_providers.bootstrap_provider";
    let shared =
        format!("'{{{{ eq {provider} \"cabpr\" | ternary \"v1.33.5+rke2r1\" \"v1.33.5\" }}}}'");
    let stage = flavors(&shared, "1.33.7", "1.33.5", &["cabpk", "cabpck"]);
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5`, and the images of it for `kubeadm` hold `1.33.7`
   = help: `_internal.k8s_version_map.1.33` is for `ck8s` too, which needs `v1.33.5`: give `kubeadm` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
error[no-image-matches]: no image matches the selector
   = help: `_internal.k8s_version_map.1.33` is for `ck8s` too, which needs `v1.33.5`: give `kubeadm` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
   = help: `ubuntu-noble-plain-ck8s-1-33` is near: it has `k8s-flavor: ck8s`, not `kubeadm`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 proven; 1 skipped: no image matches its selector

"#]],
    );
    assert_text(&fixed(&stage), str![]);
    // Nor for images that no cluster boots.
    let stage = flavors(&shared, "1.33.7", "1.33.5", &["cabpk"]);
    assert_text(
        &said(&stage),
        str![[r#"
warning[k8s-version-map]: `_internal.k8s_version_map.1.33` is `v1.33.5`, and the images of it for `kubeadm` hold `1.33.7`
   = help: `_internal.k8s_version_map.1.33` is for `ck8s` too, which needs `v1.33.5`: give `kubeadm` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
error[no-image-matches]: no image matches the selector
   = help: `_internal.k8s_version_map.1.33` is for `ck8s` too, which needs `v1.33.5`: give `kubeadm` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
   = help: `ubuntu-noble-plain-ck8s-1-33` is near: it has `k8s-flavor: ck8s`, not `kubeadm`

"#]],
    );
    assert_text(&fixed(&stage), str![]);
}
