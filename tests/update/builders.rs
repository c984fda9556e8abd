//! Several builders of images, each with a version of its own, and names without a patch: the facts of locked images say what moves.

use snapbox::str;

use super::sylva::{DIB, KIWI, Sylva};
use super::{bot, of_values, written};
use crate::support::stage::{Is, Stage, assert_cases, assert_text, project, table};
use crate::sylva_2026::serve;

const HARDENED: &str = "ubuntu-noble-hardened-rke2-1-33";
const KUBEADM: &str = "ubuntu-noble-plain-kubeadm-1-33";
const LEAP: &str = "leapmicro-6-0-plain-rke2-1-33";

#[test]
fn both_builders_raised_together_take_the_map_with_them() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva.release(DIB, "0.7.6", &[(HARDENED, "1.33.7+rke2r3")]);
    sylva.release(KIWI, "0.4.2", &[(LEAP, "1.33.7+rke2r3")]);
    let run = sylva.run_bot().exit(0).stdout("");
    sylva.said(&run).is(str![[r#"
the catalog lists what 0.7.6 and 0.4.2 offer
OS images: sylva 0.7.4 → 0.7.6, kiwi 0.4.1 → 0.4.2
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.5+rke2r1 → v1.33.7+rke2r3

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.4 → ubuntu-noble-plain-kubeadm-1-33:0.7.6
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.1 → leapmicro-6-0-plain-rke2-1-33:0.4.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → ubuntu-noble-hardened-rke2-1-33:0.7.6
fixed values.yaml:22:88: `_internal.k8s_version_map.1.33: v1.33.7+rke2r3`
changed values.yaml

"#]]);
    let values = sylva.stage.read("values.yaml");
    assert!(
        values.contains("\"v1.33.7+rke2r3\"") && values.contains("\"v1.33.5\""),
        "{values}"
    );
}

/// Names without addresses that are all of one builder emptied the other one's catalog.
#[test]
fn a_list_of_names_without_any_of_a_builder_is_refused() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva.release(DIB, "0.7.6", &[(HARDENED, "1.33.7+rke2r3")]);
    sylva.release(KIWI, "0.4.2", &[(LEAP, "1.33.7+rke2r3")]);
    let names = format!("{HARDENED}\n{KUBEADM}\n");
    sylva.stage.write("names.txt", &names);
    let before = sylva.stage.texts();
    let words = "update sylva=0.7.6 kiwi=0.4.2 --images names.txt --fix --k8s-versions";
    let refused = sylva.stage.run(words).exit(2).outcome.stderr;
    refused.is(str![[r#"
error: `names.txt` names no image of version `0.4.2`
help: it is to hold lines such as `oci://REGISTRY/…/NAME:VERSION`, or names

"#]]);
    assert_eq!(sylva.stage.texts(), before);
    sylva.stage.write("names.txt", format!("{names}{LEAP}\n"));
    sylva.stage.run(words).exit(0);
}

#[test]
fn one_builder_alone_fails_with_the_reason_first() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva.release(DIB, "0.7.6", &[(HARDENED, "1.33.7+rke2r3")]);
    let before = sylva.stage.texts();
    let run = sylva.run_bot().exit(1).stdout("");
    sylva.said(&run).is(str![[r#"
a Kubernetes version stays: images of Kubernetes 1.33 for `rke2` hold `1.33.5+rke2r1` (kiwi) and `1.33.7+rke2r3` (sylva), and `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`; raise the versions of the builders together, to releases with one version of Kubernetes
rke.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: `ubuntu-noble-hardened-rke2-1-33` is near: it has `k8s-version: 1.33.7+rke2r3`, not `1.33.5\+rke2r1`
the catalog lists what 0.7.6 offers
OS images: 0.7.4 → 0.7.6
Nothing is written, because of errors. It would do this:

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.4 → ubuntu-noble-plain-kubeadm-1-33:0.7.6

Node pools left without an image

- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → no image
what was written is undone, because of the errors above
help: correct them and run this again
help: `metalmark render CLUSTER…` renders clusters alone, without the update

"#]]);
    assert_eq!(sylva.stage.texts(), before);
    // For a merge request, the reason is in the summary.
    let _ = sylva
        .stage
        .run("update --k8s-versions --summary summary.md")
        .exit(1);
    sylva.stage.read("summary.md").is(str![[r#"
## OS images: sylva 0.7.4 → 0.7.6, kiwi 0.4.1

Nothing is written, because of errors. It would do this:

### Kubernetes versions that stay

- images of Kubernetes 1.33 for `rke2` hold `1.33.5+rke2r1` (kiwi) and `1.33.7+rke2r3` (sylva), and `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`; raise the versions of the builders together, to releases with one version of Kubernetes

### Node pools whose machines will be re-provisioned

- kadm/control-plane: `ubuntu-noble-plain-kubeadm-1-33:0.7.4` → `ubuntu-noble-plain-kubeadm-1-33:0.7.6`

### Node pools left without an image

- rke/control-plane: `ubuntu-noble-hardened-rke2-1-33:0.7.4` → no image

"#]]);
}

#[test]
fn versions_that_clusters_and_pools_write_themselves_follow_the_facts() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    let own = |version: &str| {
        format!(
            "cluster:\n  k8s_version: {version}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  \
             capm3: {{os_image_selector: {{os: ubuntu, hardened: true}}}}\n  machine_deployments: {{md0: {{k8s_version: '{version}'}}}}\n"
        )
    };
    sylva.stage.write("rke.yaml", own("v1.33.5+rke2r1"));
    sylva.release(DIB, "0.7.6", &[(HARDENED, "1.33.7+rke2r3")]);
    sylva.release(KIWI, "0.4.2", &[(LEAP, "1.33.7+rke2r3")]);
    sylva.run_bot().exit(0);
    assert_eq!(sylva.stage.read("rke.yaml"), own("v1.33.7+rke2r3"));
}

#[test]
fn a_builder_is_named_by_its_registry_or_its_value() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva.release(DIB, "0.7.6", &[]);
    sylva.release(KIWI, "0.4.2", &[]);
    let stage = &sylva.stage;
    let versions = || -> Vec<String> {
        let values = stage.read("values.yaml");
        let lines = values.lines().filter(|line| line.contains("_version: "));
        lines.take(2).map(str::to_owned).collect()
    };
    assert_cases(
        str![[r#"
update kiwi=0.4.1 sylva=0.7.4
    sylva_diskimagebuilder_version: 0.7.4 # sylva
    acme_kiwi_version: 0.4.1 # kiwi
update acme_kiwi_version=0.4.2
    sylva_diskimagebuilder_version: 0.7.4 # sylva
    acme_kiwi_version: 0.4.2 # kiwi
update 0.7.6
    error: `0.7.6` may be a version of several builders
    help: name one by its registry or its value: `NAME=0.7.6`; there are images of sylva; kiwi
update dib=1
    error: the catalog has no images of a builder `dib`
    help: there are images of sylva; kiwi
update kiwi=0.4.2 acme_kiwi_version=0.4.3
    error: two versions are typed for kiwi: `0.4.2` and `0.4.3`
update kiwi=
    error: `kiwi=` names no version
    help: type it behind the `=`
plan --to-builder 0.7.6
    error: `0.7.6` may be a version of several builders
    help: name one by its registry or its value: `NAME=0.7.6`; there are images of sylva; kiwi
plan --to-builder sylva=0.7.6
    sylva_diskimagebuilder_version: 0.7.4 # sylva
    acme_kiwi_version: 0.4.2 # kiwi

"#]],
        |words| {
            let outcome = stage.run(words).outcome;
            match outcome.status {
                0 => versions(),
                _ => outcome.stderr.lines().map(str::to_owned).collect(),
            }
        },
    );
}

/// A catalog with an older generation, whose registry has a version of its own.
const GENERATIONS: &str = "\
sylva_diskimagebuilder_version: 0.11.13
os_images_oci_registries:
  sylva: {url: 'oci://registry.example.org/dib', tag: '{{ .Values.sylva_diskimagebuilder_version }}'}
  sylva-n-1: {url: 'oci://registry.example.org/dib', tag: 0.7.14}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-35: {os_images_oci_registry: sylva}
  ubuntu-noble-plain-rke2-1-33: {os_images_oci_registry: sylva-n-1}
";

#[test]
fn an_older_generation_is_raised_by_its_name_alone() {
    let cases = ["0.11.14", "sylva-n-1=0.7.15"];
    let results = table(cases, |words| {
        let name = if words.contains("n-1") {
            "1-33"
        } else {
            "1-35"
        };
        let stage = of_values(GENERATIONS, &[&format!("ubuntu-noble-plain-rke2-{name}")]);
        let text = written(&stage, words);
        text.lines().map(str::to_owned).collect()
    });
    results.is(str![[r#"
0.11.14
    values.yaml:1
    -sylva_diskimagebuilder_version: 0.11.13
    +sylva_diskimagebuilder_version: 0.11.14
sylva-n-1=0.7.15
    values.yaml:4
    -  sylva-n-1: {url: 'oci://registry.example.org/dib', tag: 0.7.14}
    +  sylva-n-1: {url: 'oci://registry.example.org/dib', tag: 0.7.15}

"#]]);
    let alone = GENERATIONS
        .replace("sylva_diskimagebuilder_version: 0.11.13", "")
        .replace("'{{ .Values.sylva_diskimagebuilder_version }}'", "0.7.14");
    let stage = of_values(&alone, &["ubuntu-noble-plain-rke2-1-33"]);
    assert!(
        written(&stage, "0.7.15")
            .starts_with("error: `0.7.15` may be a version of several builders")
    );
}

#[test]
fn a_builder_without_a_registry_has_a_name() {
    let stage = of_values(
        "sylva_diskimagebuilder_version: 0.4.12\nkiwi_version: 0.4.1\n\
         os_images_oci_registries: {kiwi: {url: 'oci://registry.example.org/kiwi', tag: '{{ .Values.kiwi_version }}'}}\n\
         sylva_diskimagebuilder_images: {own: {}, leapmicro-6-0-plain-rke2-1-33: {os_images_oci_registry: kiwi}}\n",
        &["oci://registry.example.org/images/own:0.4.13"],
    );
    let results = table(
        ["0.4.13", "sylva_diskimagebuilder_version=0.4.13"],
        |words| {
            let text = written(&stage, words);
            text.lines().map(str::to_owned).collect()
        },
    );
    results.is(str![[r#"
0.4.13
    error: `0.4.13` may be a version of several builders
    help: name one by its registry or its value: `NAME=0.4.13`; there are images of sylva_diskimagebuilder_version; kiwi
sylva_diskimagebuilder_version=0.4.13
    values.yaml:1
    -sylva_diskimagebuilder_version: 0.4.12
    +sylva_diskimagebuilder_version: 0.4.13

"#]]);
}

#[test]
fn a_project_without_a_builder_lists_none() {
    let stage = of_values("os_images: {}\n", &[]);
    written(&stage, "kiwi=0.4.13").is(str![[r#"
error: the catalog has no images of a builder `kiwi`
help: no value is the version of a builder: list images that name a registry in `sylva_diskimagebuilder_images`

"#]]);
}

#[test]
fn a_version_is_raised_where_it_is_written_or_not_at_all() {
    assert_cases(
        str![[r#"
{{ .Values.version }}
    values.yaml:1
    -version: 0.4.1
    +version: 0.4.2
{{ .Values.passed }}
    values.yaml:1
    -version: 0.4.1
    +version: 0.4.2
{{ printf "%s" .Values.version }}
    values.yaml:1
    -version: 0.4.1
    +version: 0.4.2
{{ .Values.minor }}.1
    error: no value is `0.4.1` literally, the version of kiwi
    help: raise it where the values compute it, then run `metalmark update` without a version
{{ printf "%s.%s" .Values.minor .Values.patch }}
    error: no value is `0.4.1` literally, the version of kiwi
    help: raise it where the values compute it, then run `metalmark update` without a version
{{ "0.4.1" }}{{/* .Values.circle */}}
    error: no value is `0.4.1` literally, the version of kiwi
    help: raise it where the values compute it, then run `metalmark update` without a version
0.4.1
    values.yaml:6
    -os_images_oci_registries: {kiwi: {url: 'oci://registry.example.org/kiwi', tag: '0.4.1'}}
    +os_images_oci_registries: {kiwi: {url: 'oci://registry.example.org/kiwi', tag: '0.4.2'}}

"#]],
        |tag| {
            let stage = of_values(
                &format!(
                    "version: 0.4.1\npassed: '{{{{ .Values.version }}}}'\nminor: '0.4'\npatch: '1'\ncircle: '{{{{ .Values.circle }}}}'\n\
                 os_images_oci_registries: {{kiwi: {{url: 'oci://registry.example.org/kiwi', tag: '{tag}'}}}}\n\
                 sylva_diskimagebuilder_images: {{leapmicro-6-0-plain-rke2-1-33: {{os_images_oci_registry: kiwi}}}}\n"
                ),
                &["leapmicro-6-0-plain-rke2-1-33"],
            );
            let text = written(&stage, "kiwi=0.4.2");
            text.lines().map(str::to_owned).collect()
        },
    );
}

#[test]
fn an_image_that_is_not_the_one_of_the_release_is_refused() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva.release(DIB, "0.7.5", &[]);
    sylva.edit_notes(DIB, |notes| {
        let (before, after) = notes.split_once("sha256: ").expect("a checksum");
        format!("{before}sha256: {}{}", "0".repeat(64), &after[64..])
    });
    let mut said = sylva.refuse(1);
    // The host is a part of what the fixture hashes.
    let hashed = said.rfind("says `").expect("a checksum") + 6;
    said.replace_range(hashed..hashed + 64, "HASH");
    said.is(str![[r#"
error: the release says sha256 `0000000000000000000000000000000000000000000000000000000000000000` of `oci://HOST/sylva/ubuntu-noble-hardened-rke2-1-32:0.7.5`, and its artifact says `HASH`
  help: it was built again or replaced: check the release; correct the release's page, or name another one: `update: {releases: URL}` in metalmark.yaml
what was written is undone, because of the errors above

"#]]);
    // A second look at the artifacts finds those of the release.
    sylva.edit_notes(DIB, |notes| notes.replace(&"0".repeat(64), "00"));
    sylva.merge();
}

#[test]
fn a_flavor_that_no_cluster_runs_moves_the_map_too() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    sylva
        .stage
        .edit("metalmark.yaml", ", {name: kadm, values: [kadm.yaml]}", "");
    sylva.release(DIB, "0.7.6", &[(KUBEADM, "1.33.7")]);
    let values = sylva.stage.read("values.yaml");
    let _ = sylva.run_bot().exit(0);
    let moved = values.replace("\"v1.33.5\"", "\"v1.33.7\"");
    assert_ne!(moved, values);
    assert_eq!(sylva.stage.read("values.yaml"), moved);
}

#[test]
fn a_minor_that_comes_without_an_entry_of_the_map_is_reported() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    let next = "ubuntu-noble-hardened-rke2-1-35";
    sylva.release(DIB, "0.8.0", &[(next, "1.35.1+rke2r1")]);
    let said = sylva.merge();
    // The result comes first.
    let lines = said.lines().enumerate();
    let lines = lines.filter(|(at, line)| *at == 0 || line.contains("k8s_version_map.1.35"));
    let lines: Vec<String> = lines.map(|(_, line)| line.to_owned()).collect();
    assert_text(
        &lines.join("\n"),
        str![[r#"
OS images: 0.7.4 → 0.8.0
`_internal.k8s_version_map.1.35` is missing, and there are images of Kubernetes 1.35 for `rke2`; add `_internal.k8s_version_map.1.35`, which is `v1.35.1+rke2r1` for `rke2`
"#]],
    );
}

/// Sylva until 2025: names with a patch.
const OLD_NAMES: &str = "\
sylva_diskimagebuilder_version: 0.4.12
os_images_oci_registries: {sylva: {url: 'oci://registry.example.org/acme/dib', tag: '{{ .Values.sylva_diskimagebuilder_version }}'}}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}
_internal: {k8s_version_map: {'1.31': v1.31.8+rke2r1}}
cluster:
  k8s_version: '{{ index .Values._internal.k8s_version_map \"1.31\" }}'
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}
security: {os_images: {skip_signing_check: true}}
";

fn old_names(values: &str) -> Stage {
    let dib = "registry.example.org/acme/dib/ubuntu-noble-plain-rke2";
    let stage = project()
        .cluster("edge", values)
        .settings("registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}")
        .file("offered.txt", "ubuntu-noble-plain-rke2-1-31-9\n")
        .file(
            "artifacts.txt",
            format!("{dib}-1-31-8:0.4.12 1.31.8+rke2r1\n{dib}-1-31-9:0.4.13 1.31.9+rke2r2\n"),
        );
    serve(&stage);
    stage
}

#[test]
fn a_version_moves_by_what_the_image_holds_and_never_by_its_name() {
    for values in [
        OLD_NAMES.to_owned(),
        OLD_NAMES.replace(
            "image_key: ubuntu-noble-plain-rke2-1-31-8",
            "os_image_selector: {os: ubuntu}",
        ),
    ] {
        let stage = old_names(&values);
        let words = "update 0.4.13 --images offered.txt --fix --k8s-versions";
        let before = stage.texts();
        let stderr = stage.run(words).exit(1).outcome.stderr;
        assert_eq!(stage.texts(), before);
        let line = stderr.lines().find(|line| line.starts_with("a Kubernetes"));
        assert_text(
            line.unwrap_or_default(),
            str![
                "a Kubernetes version stays: `_internal.k8s_version_map.1.31` is `v1.31.8+rke2r1`, and only names say which version the images of it for `rke2` hold; lock them before the update: `metalmark lock`"
            ],
        );
        stage.run("lock").exit(0);
        stage.run(words).exit(0);
        let after = values
            .replace("0.4.12", "0.4.13")
            .replace("1-31-8", "1-31-9");
        assert_eq!(
            stage.read("edge.yaml"),
            after.replace("v1.31.8+rke2r1", "v1.31.9+rke2r2")
        );
    }
}

#[test]
fn a_branch_that_two_flavors_share_moves_only_for_both() {
    let name = |flavor: &str| format!("ubuntu-noble-plain-{flavor}-1-33");
    let map = |version: &str| {
        format!(
            "_internal: {{k8s_version_map: {{'1.33': '{{{{ eq .Values.cluster.capi_providers.bootstrap_provider \"cabpr\" | ternary \"v1.33.5+rke2r1\" \"{version}\" }}}}'}}}}\n"
        )
    };
    let said = table(["1.33.7", "1.33.8"], |canonical| {
        let shared = environment("0.7.4")
            .split_once("cluster:")
            .expect("a cluster")
            .0
            .to_owned()
            + &format!("  {}: {{os_images_oci_registry: sylva}}\n", name("ck8s"))
            + &map("v1.33.5");
        let site = |provider: &str| {
            format!(
                "cluster:\n  k8s_version: '{{{{ index .Values._internal.k8s_version_map \"1.33\" }}}}'\n  \
                 capi_providers: {{infra_provider: capm3, bootstrap_provider: {provider}}}\n  capm3: {{os_image_selector: {{os: ubuntu}}}}\n\
                 security: {{os_images: {{skip_signing_check: true}}}}\n"
            )
        };
        let dib = "registry.example.org/acme/dib";
        let (kubeadm, ck8s) = (name("kubeadm"), name("ck8s"));
        let stage = project()
            .cluster("kadm", &site("cabpk"))
            .cluster("ck", &site("cabpck"))
            .settings("values: [values.yaml]\nregistries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}")
            .file("values.yaml", &shared)
            .file("offered.txt", format!("{kubeadm}\n{ck8s}\n"))
            .file(
                "artifacts.txt",
                format!(
                    "{dib}/{kubeadm}:0.7.4 1.33.5\n{dib}/{ck8s}:0.7.4 1.33.5\n{dib}/{kubeadm}:0.7.6 1.33.7\n{dib}/{ck8s}:0.7.6 {canonical}\n"
                ),
            );
        serve(&stage);
        stage.run("lock").exit(0);
        let run = stage.run("update 0.7.6 --images offered.txt --fix --k8s-versions");
        let stderr = &run.outcome.stderr;
        let lines = stderr
            .lines()
            .filter(|line| line.starts_with("a Kubernetes") || line.contains("fixed"));
        let values = stage.read("values.yaml");
        let map = values.lines().filter(|line| line.starts_with("_internal"));
        lines.chain(map).map(str::to_owned).collect()
    });
    said.is(str![[r#"
1.33.7
    fixed values.yaml:6:132: `_internal.k8s_version_map.1.33: v1.33.7`
    _internal: {k8s_version_map: {'1.33': '{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.5+rke2r1" "v1.33.7" }}'}}
1.33.8
    a Kubernetes version stays: `_internal.k8s_version_map.1.33` is `v1.33.5`, and the images of it for `ck8s` hold `1.33.8`; `_internal.k8s_version_map.1.33` is for `kubeadm` too, which needs `v1.33.7`: give `ck8s` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
    a Kubernetes version stays: `_internal.k8s_version_map.1.33` is `v1.33.5`, and the images of it for `kubeadm` hold `1.33.7`; `_internal.k8s_version_map.1.33` is for `ck8s` too, which needs `v1.33.8`: give `kubeadm` a version of its own in the entry, by an expression over `cluster.capi_providers.bootstrap_provider`
    _internal: {k8s_version_map: {'1.33': '{{ eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" | ternary "v1.33.5+rke2r1" "v1.33.5" }}'}}

"#]]);
}

#[test]
fn a_generation_that_no_list_has_is_raised_where_its_tag_is() {
    let (listed, _) = GENERATIONS
        .rsplit_once("  ubuntu-noble-plain-rke2-1-33")
        .expect("an image of the older generation");
    let stage = project().cluster("edge", &(listed.to_owned() + "cluster: {name: edge}\n"));
    let _ = stage.run("update sylva-n-1=0.7.15").exit(2).stderr(str![[r#"
error: the catalog has no images of a builder `sylva-n-1`
help: no builder's list has an image from this registry, so there is no list to update: write the version at edge.yaml:4:59, and in each `uri` that has the old one, then run `metalmark lock`

"#]]);
}

/// The values of an environment with a builder at a version.
fn environment(version: &str) -> String {
    format!(
        "sylva_diskimagebuilder_version: {version}\n\
         os_images_oci_registries: {{sylva: {{url: 'oci://registry.example.org/acme/dib', tag: '{{{{ .Values.sylva_diskimagebuilder_version }}}}'}}}}\n\
         sylva_diskimagebuilder_images:\n  {KUBEADM}: {{os_images_oci_registry: sylva}}\n\
         cluster:\n  k8s_version: v1.33.5\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         capm3: {{os_image_selector: {{os: ubuntu}}}}\n\
         security: {{os_images: {{skip_signing_check: true}}}}\n"
    )
}

#[test]
fn a_site_that_boots_an_older_release_keeps_its_version() {
    let image = "registry.example.org/acme/dib/ubuntu-noble-plain-kubeadm-1-33";
    let older = format!(
        "os_images:\n  sylva-n-1--{KUBEADM}: {{uri: 'oci://{image}:0.6.9', oci-image-registry-key: sylva-n-1}}\n"
    );
    let site = environment("0.7.4")
        .replace(
            "  capi_providers",
            "  os_image_selector_autoselect_registries: sylva-n-1\n  capi_providers",
        )
        .replace("v1.33.5", "v1.33.1");
    let new = environment("0.7.4").replace(
        "  capi_providers",
        "  os_image_selector_autoselect_registries: sylva\n  capi_providers",
    );
    let stage = project()
        .cluster("old-site", &format!("{older}{site}"))
        .cluster("site", &format!("{older}{new}"))
        .settings("registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}")
        .file(
            "artifacts.txt",
            format!("{image}:0.6.9 1.33.1\n{image}:0.7.4 1.33.5\n{image}:0.7.6 1.33.7\n"),
        );
    serve(&stage);
    stage.run("lock").exit(0);
    let raised = |text: &str| text.replace("0.7.4", "0.7.6");
    stage.run("update sylva=0.7.6 --fix --k8s-versions").exit(0);
    assert_eq!(stage.read("old-site.yaml"), older.clone() + &raised(&site));
    assert_eq!(
        stage.read("site.yaml"),
        older + &raised(&new).replace("v1.33.5", "v1.33.7")
    );
}

#[test]
fn an_environment_is_updated_whatever_version_another_one_has() {
    let image = "registry.example.org/acme/dib/ubuntu-noble-plain-kubeadm-1";
    let stage = project()
        .cluster("prod", &environment("0.7.4"))
        .cluster("staging", &environment("0.7.4"))
        .settings("registries: {mirrors: {registry.example.org/acme: 'oci-layout:registry'}}")
        .file(
            "artifacts.txt",
            format!("{image}-33:0.7.4 1.33.5\n{image}-33:0.7.6 1.33.7\n{image}-34:0.7.6 1.34.2\n"),
        );
    serve(&stage);
    stage.run("lock").exit(0);
    let raised = environment("0.7.6");
    stage.write("staging.yaml", &raised);
    let wanted = raised.replace("v1.33.5", "v1.33.7").replace(
        "cluster:\n",
        "  ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}\ncluster:\n",
    );
    let upgrade = bot::data(&[(bot::BUILDER, "0.7.4", "0.7.6")]);
    bot::run_in(&stage, "", Some(&upgrade)).exit(0);
    assert_eq!(stage.read("staging.yaml"), wanted);
    assert_eq!(stage.read("prod.yaml"), environment("0.7.4"));
    // The same without the bot, where the version that stays is reported.
    stage.write("staging.yaml", &raised);
    let run = stage.run("update sylva=0.7.6 --fix --k8s-versions").exit(0);
    let first = run.outcome.stderr.lines().next().unwrap_or_default();
    assert_text(
        first,
        str![
            "0.7.4 of sylva stays, where other values have it: raise it there, then type `metalmark update NAME=VERSION`"
        ],
    );
    assert_eq!(stage.read("staging.yaml"), wanted);
    assert_eq!(stage.read("prod.yaml"), environment("0.7.4"));
    // Nothing else has another version.
    stage.write("prod.yaml", &wanted);
    let run = stage.run("update sylva=0.7.6").exit(0);
    assert!(
        !run.outcome.stderr.contains("stays"),
        "{}",
        run.outcome.stderr
    );
}
