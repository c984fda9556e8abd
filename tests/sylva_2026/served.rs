//! What a management cluster serves while its sites are upgraded.

use snapbox::str;

use super::{locked, serve};
use crate::support::stage::{assert_text, project, table};

#[test]
fn a_management_cluster_serves_each_step_and_what_machines_still_run() {
    let stage = locked("two-step-upgrade");
    let own = stage.run("plan --to 1.35 mgmt").exit(0).screen(str![[r#"
mgmt: 1.33.9 → 1.34.9 → 1.35.6
  1.34.9  control-plane  sylva--ubuntu-noble-plain-kubeadm-1-34
  1.34.9  md0  sylva--ubuntu-noble-plain-kubeadm-1-34
  1.34.9  control-plane, md0  selectors do not let registry `sylva` in: write it to `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step
  1.35.6  control-plane  sylva--ubuntu-noble-plain-kubeadm-1-35
  1.35.6  md0  sylva--ubuntu-noble-plain-kubeadm-1-35
  1.35.6  control-plane, md0  selectors do not let registry `sylva` in: write it to `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step

wave 1, to 1.34, 5 machines: mgmt
wave 2, to 1.35, 5 machines: mgmt
mgmt has to serve:
  now  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  now  ubuntu-noble-plain-kubeadm-1-33:0.7.14  mgmt, site-a  still run it  served
  to 1.34  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  to 1.34  ubuntu-noble-plain-kubeadm-1-33:0.7.14  mgmt, site-a  still run it  not selected
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
| to 1.34 | ubuntu-noble-plain-kubeadm-1-33:0.7.14 | mgmt, site-a | still run it | not selected |
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
| mgmt | 1.33.9 → 1.34.9 → 1.35.6 | 1.34.9: sylva--ubuntu-noble-plain-kubeadm-1-34, control-plane, md0  selectors do not let registry `sylva` in: write it to `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step; 1.35.6: sylva--ubuntu-noble-plain-kubeadm-1-35, control-plane, md0  selectors do not let registry `sylva` in: write it to `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step |  |

"#]]);
    let json = stage
        .run("plan --to 1.35 mgmt --output json")
        .outcome
        .stdout;
    let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
    assert_text(
        &json["servers"][0]["stages"][2]["images"][2].to_string(),
        str![[
            r#"{"by_name":false,"clusters":["mgmt"],"image":"ubuntu-noble-plain-kubeadm-1-34:0.11.13","key":"sylva--ubuntu-noble-plain-kubeadm-1-34","need":"ends","served":false}"#
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
    assert!(!words.contains("  not "), "{words}");
    stage.check().findings(str![]);
}

/// The image of the newer generation has the newer patch; the selectors keep it away.
#[test]
fn a_step_stays_in_the_generation_that_selectors_let_in() {
    let stage = locked("two-step-upgrade");
    let step = |words: &str| {
        let run = stage.run(words);
        let lines = run.outcome.stdout.lines().chain(run.outcome.stderr.lines());
        let lines: Vec<&str> = lines.filter(|line| !line.contains("serve")).collect();
        format!("{words}\n{}\n", lines.join("\n"))
    };
    let mut story = step("plan --to 1.33 site-b");
    story += &step("plan --to 1.33 --apply 1");
    stage.check().pools(str![[r#"
mgmt/control-plane v1.33.9 (clusters/mgmt/values.yaml:2:16), mgmt/md0 v1.33.9 (clusters/mgmt/values.yaml:2:16), site-a/control-plane v1.33.9 (clusters/site-a/values.yaml:1:24), site-b/control-plane v1.33.9 (clusters/site-b/values.yaml:1:24): proven, sylva-n-1--ubuntu-noble-plain-kubeadm-1-33 (values.yaml:16:30) holds 1.33.9 (metalmark.lock:90:18)

"#]]);
    story += &step("plan --to 1.34 site-b");
    let before = stage.texts();
    story += &step("plan --to 1.34 --apply 1");
    assert_eq!(stage.texts(), before);
    assert_text(
        &story,
        str![[r#"
plan --to 1.33 site-b
site-b: 1.32.11 → 1.33.9
  1.33.9  control-plane  sylva-n-1--ubuntu-noble-plain-kubeadm-1-33

wave 1, to 1.33: site-b
  now  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  to 1.33  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  until they are replaced  not selected

1 cluster: 1 to upgrade in 1 step, 0 at 1.33 or newer, 0 blocked
plan --to 1.33 --apply 1
wave 1: 1 cluster to 1.33, 1 file edited
edited clusters/site-b/values.yaml:1:24: `k8s_version: v1.33.9`
plan --to 1.34 site-b
site-b: 1.33.9 → 1.34.9
  1.34.9  control-plane  sylva--ubuntu-noble-plain-kubeadm-1-34
  1.34.9  control-plane  selectors do not let registry `sylva` in: write it to `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key` with the step

wave 1, to 1.34: site-b
  to 1.34  ubuntu-noble-plain-kubeadm-1-34:0.11.13  site-b  new  not selected

1 cluster: 1 to upgrade in 1 step, 0 at 1.34 or newer, 0 blocked
plan --to 1.34 --apply 1
not applied: mgmt: its files do not make it run 1.34.9 after the edits; node pool `control-plane` does not boot `sylva--ubuntu-noble-plain-kubeadm-1-34`, which is of `sylva`: let its selectors take that registry first, by `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key`
not applied: site-a: its files do not make it run 1.34.9 after the edits; node pool `control-plane` does not boot `sylva--ubuntu-noble-plain-kubeadm-1-34`, which is of `sylva`: let its selectors take that registry first, by `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key`
not applied: site-b: its files do not make it run 1.34.9 after the edits; node pool `control-plane` does not boot `sylva--ubuntu-noble-plain-kubeadm-1-34`, which is of `sylva`: let its selectors take that registry first, by `cluster.os_image_selector_autoselect_registries` or `oci-image-registry-key`
not applied: mgmt: error[no-image-matches]: no image matches the selector
not applied: site-a: error[no-image-matches]: no image matches the selector
not applied: site-b: error[no-image-matches]: no image matches the selector

"#]],
    );
}

#[test]
fn a_version_that_only_a_name_says_is_not_proven_served() {
    let image = "ubuntu-noble-plain-rke2-1-31-8";
    let values = format!(
        "os_images_oci_registries: {{sylva: {{url: 'oci://registry.example.org/dib', tag: 0.4.12}}}}\n\
         sylva_diskimagebuilder_images: {{{image}: {{os_images_oci_registry: sylva}}, ubuntu-noble-plain-rke2-1-32-5: {{os_images_oci_registry: sylva}}}}\n\
         cluster: {{capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}}}\n"
    );
    let own = |key: &str, version: &str| {
        format!("cluster: {{k8s_version: {version}, capm3: {{image_key: {key}}}}}\n")
    };
    let served = |pattern: &str| {
        let selector =
            format!("os_image_server_additional_selectors: {{x: {{k8s-version: '{pattern}'}}}}\n");
        let stage = project()
            .settings("values: [values.yaml]")
            .file("values.yaml", &values)
            .cluster(
                "mgmt",
                &(own("ubuntu-noble-plain-rke2-1-32-5", "v1.32.5") + &selector),
            )
            .cluster("site", &own(image, "v1.31.8"));
        let project = stage
            .read("metalmark.yaml")
            .replace("{name: site", "{name: site, management: mgmt");
        stage.write("metalmark.yaml", project);
        let found = stage.check();
        found
            .of_rule("image-not-enabled")
            .into_iter()
            .map(str::to_owned)
            .collect()
    };
    let cases = ["v1\\.31\\..*", "1\\.31\\..*", "1\\.30\\..*"];
    assert_text(
        &table(cases, |pattern| served(pattern)),
        str![[r#"
v1\.31\..*
    warning[image-not-enabled] mgmt values.yaml:2:33 `ubuntu-noble-plain-rke2-1-31-8` => metalmark lock
1\.31\..*
    warning[image-not-enabled] mgmt values.yaml:2:33 `ubuntu-noble-plain-rke2-1-31-8` => metalmark lock
1\.30\..*
    warning[image-not-enabled] mgmt values.yaml:2:33 `ubuntu-noble-plain-rke2-1-31-8` => os_image_server_additional_selectors.sylva: {oci-image-registry-key: 'sylva'}

"#]],
    );
}

/// Whatever `matching` is: the library in the cluster matches them.
#[test]
fn an_additional_selector_serves_what_the_library_matches() {
    let stage = locked("two-step-upgrade");
    stage.edit(
        "values.yaml",
        "os_image_server_additional_selectors: {}\n",
        "os_image_server_additional_selectors: {vv: {k8s-version: 'v1\\.32\\..*', oci-image-registry-key: sylva-n-1}}\n",
    );
    let stdout = stage.run("plan --to 1.34 mgmt").exit(0).outcome.stdout;
    let lines = stdout.lines().filter(|line| line.contains("-1-32"));
    assert_text(
        &lines.collect::<Vec<_>>().join("\n"),
        str![[r#"
  now  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
  to 1.34  ubuntu-noble-plain-kubeadm-1-32:0.7.14  site-b  still run it  not selected
"#]],
    );
    stage.check().findings(str![[r#"
warning[image-not-enabled] mgmt values.yaml:11:3 `sylva-n-1--ubuntu-noble-plain-kubeadm-1-32` => os_image_server_additional_selectors.ubuntu-kubeadm-sylva-n-1: {k8s-flavor: 'kubeadm', k8s-version: '1\.32\..*', oci-image-registry-key: 'sylva-n-1', os: 'ubuntu'}
warning[no-image-matches] mgmt values.yaml:17:45 `k8s-version` => v | os_image_server_additional_selectors.vv.k8s-version: '1\.32\..*' | sylva-n-1--ubuntu-noble-plain-kubeadm-1-31 | k8s-version: 1.31.14 | v1\.32\..*

"#]]);
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
