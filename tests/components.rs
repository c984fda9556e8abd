//! Component bundles from the values to a machine: locked, rendered, fetched and installed; and decoupled from the OS image.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Output};

use metalmark::model::component::{LAYER_TYPE, annotation};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::programs;
use super::support::Outcome;
use super::support::registry::{Lock, MANIFEST, Registry};
use super::support::stage::{Is, Stage, assert_cases, assert_text, project, table};
use super::support::tarball::{Tarball, gzip};
use snapbox::{assert_data_eq, str};

/// The names of the objects that a project renders, with each one's annotation and first data, by kind and cluster.
fn objects(stage: &Stage) -> Vec<(String, String, String)> {
    let text = stage.run("render --stdout").exit(0).outcome.stdout;
    let read = yaml_tree::read(&text, FileId(0), Engine::Kubectl).expect("YAML");
    let object = |object: &yaml_tree::value::Node| {
        let text = |path: &[&str]| {
            let text = object.get_path(path).and_then(|node| node.value.as_str());
            text.map(|text| text.to_string()).unwrap_or_default()
        };
        let script = text(&["stringData", "install-components.sh"]);
        (text(&["kind"]), text(&["metadata", "name"]), script)
    };
    read.documents.iter().map(object).collect()
}

fn names(stage: &Stage, kind: &str, containing: &str) -> Vec<String> {
    let all = objects(stage).into_iter();
    let found = all.filter(|(own, name, _)| own == kind && name.contains(containing));
    found.map(|(_, name, _)| name).collect()
}

const ELEMENTAL: &str = "fixtures/workspaces/elemental";

#[test]
fn a_new_bundle_renames_no_machine_template_and_a_new_image_no_bundle() {
    let stage = project().folder(ELEMENTAL);
    let both = || {
        let secrets = names(&stage, "Secret", "-components-");
        (names(&stage, "ElementalMachineTemplate", ""), secrets)
    };
    let replace = |from: &str, to: &str| {
        let lock = stage.read("metalmark.lock");
        assert!(lock.contains(from), "{from}");
        stage.write("metalmark.lock", lock.replace(from, to));
    };
    let (templates, secrets) = both();
    assert_eq!((templates.len(), secrets.len()), (4, 4));
    // As `metalmark lock --upgrade` would write it for a bundle of other bytes.
    let tarball = "17eed95025dc9bd8aa92aa7f874216195c0b30c2ae4ebeb40ff3d5a50084836f";
    replace(tarball, &"0".repeat(64));
    replace("b2a67ca0", "00000000");
    let (same, new_secrets) = both();
    assert_eq!(same, templates);
    let changed = secrets.iter().zip(&new_secrets).map(|(a, b)| a != b);
    let changed: Vec<bool> = changed.collect();
    assert_eq!(changed, [true, true, false, false]);
    replace("3c0e1c44", "00000000");
    let (new_templates, same) = both();
    assert_eq!(same, new_secrets);
    assert_eq!(new_templates.len(), 4);
    assert!(new_templates.iter().zip(&templates).all(|(a, b)| a != b));
}

#[test]
fn the_literal_field_is_reported_and_does_not_count_in_the_name() {
    let stage = project().folder(ELEMENTAL);
    let before = names(&stage, "ElementalMachineTemplate", "");
    stage.edit("metalmark.yaml", "[secret, annotation]", "field");
    let Outcome { stdout, stderr, .. } = stage.run("render --stdout").exit(0).outcome;
    let message = "has no field `componentsBundle`";
    assert!(stderr.contains(message), "{stderr}");
    let field = "componentsBundle: registry.example.org/components/rke2:v1.31.8-1@sha256:";
    assert!(stdout.contains(field));
    assert_eq!(names(&stage, "ElementalMachineTemplate", ""), before);
}

#[test]
fn the_fixtures_lock_is_what_its_registry_says() {
    let stage = project().folder(ELEMENTAL);
    let before = stage.read("metalmark.lock");
    let _ = stage.run("lock --upgrade").exit(0);
    assert_eq!(stage.read("metalmark.lock"), before);
    let _ = stage.run("lock --check").exit(0);
    let _ = stage.run("check --frozen").exit(0);
    // Its layers lie nowhere, as nobody who locks needs them.
    let Outcome { stdout, stderr, .. } = stage.run("verify").exit(0).outcome;
    assert!(!stderr.contains("fact-conflict"), "{stderr}");
    assert!(stdout.contains("as locked"), "{stdout}");
}

fn has_tools() -> bool {
    let mut tools = ["curl", "sha256sum", "tar", "mktemp"].into_iter();
    tools.all(|tool| programs::find(tool).is_some())
}

/// A script, and the digest of the tarball that it installs.
struct Script {
    text: String,
    tarball: String,
}

/// A folder with an installer and its variables, packed by one command, locked and rendered: the script that machines are given,
/// its state in the folder.
fn script(registry: &Registry, stage: &Stage) -> Script {
    let out = stage.path().join("installed.txt");
    stage
        .write(
            "bundle/install.sh",
            "#!/bin/sh\nprintf '%s|%s\\n' \"$WHAT\" \"$WHERE\" >>\"$OUT\"\n",
        )
        .write(
            "bundle/install.env",
            format!(
                "# of this site\nOUT={}\nWHERE=over there\nWHAT=\n",
                out.display()
            ),
        );
    let installer = stage.path().join("bundle/install.sh");
    fs::set_permissions(installer, fs::Permissions::from_mode(0o755)).expect("permitted");
    let packed = stage
        .run("bundle pack --components bundle --k8s-version 1.31.8 --to oci-layout:layout:1")
        .exit(0);
    let blob = |digest: &str| {
        let hex = digest.trim().trim_start_matches("sha256:");
        fs::read(stage.path().join("layout/blobs/sha256").join(hex)).expect("a blob")
    };
    let manifest = blob(&packed.outcome.stdout);
    let read: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
    let digests = [&read["config"]["digest"], &read["layers"][0]["digest"]];
    let [_, tarball] = digests.map(|digest| {
        let digest = digest.as_str().expect("a digest");
        registry.blob(&blob(digest));
        digest.to_owned()
    });
    registry.put("components/k8s", "1", MANIFEST, &manifest);
    let host = registry.host();
    let file = format!(
        "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\nregistries: {{hosts: {{'{host}': {{plain-http: true}}}}}}\n\
         images: {{url: 'oci://r.example/os:1'}}\noutputs: [{{target: manifests, path: out}}]\n"
    );
    stage.write("metalmark.yaml", file);
    let values = format!(
        "component_bundles:\n  k8s: {{uri: 'oci://{host}/components/k8s:1', env: {{WHERE: here}}}}\n\
         cluster:\n  k8s_version: v1.31.8\n  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpk}}\n  \
         control_plane_replicas: 1\n  elemental: {{machine_image_url: 'oci://r.example/os@sha256:{}', machine_image_format: container, component_bundle_key: k8s, component_bundle_env: {{WHAT: \"it's $(id)\"}}}}\n",
        "0".repeat(64),
    );
    stage.write("values.yaml", values);
    let locked = stage.run("lock").exit(0).outcome.stdout;
    assert!(locked.contains("added   k8s"), "{locked}");
    let all = objects(stage);
    let (_, _, script) = all
        .iter()
        .find(|(kind, ..)| kind == "Secret")
        .expect("a Secret");
    let state = format!("state='{}'", stage.path().join("state").display());
    let script = script.replace("state=/var/lib/component-bundle", &state);
    let script = script.replace("[FOLDER]", &stage.path().to_string_lossy());
    // The test's registry speaks no TLS.
    Script {
        text: script.replace(&format!("https://{host}"), &format!("http://{host}")),
        tarball,
    }
}

/// The shells of Debian, of SUSE and Red Hat, whose `sh` is bash, of Alpine, and others that are found.
fn shells() -> Vec<&'static str> {
    let all = [
        "sh",
        "bash",
        "bash as sh",
        "dash",
        "ksh",
        "mksh",
        "yash",
        "busybox as ash",
    ]
    .into_iter();
    all.filter(|shell| programs::find(shell.split(' ').next().expect(shell)).is_some())
        .collect()
}

fn run_in(shell: &str, script: &str) -> Output {
    let (program, name) = shell.split_once(" as ").unwrap_or((shell, shell));
    // It has a `tar` of its own, which cannot read what is compressed.
    let tar = programs::find("tar").filter(|_| program == "busybox");
    let tar = tar.map_or("tar".to_owned(), |tar| tar.display().to_string());
    let script = &script.replace("\ntar -x", &format!("\n{tar} -x"));
    let output = Command::new(program)
        .arg0(name)
        .args(["-c", script])
        .env("HOME", "/nonexistent")
        .output();
    output.expect("a shell")
}

#[test]
fn a_machine_installs_the_bundle_once_and_nothing_but_its_bytes() {
    if !has_tools() {
        return;
    }
    let stage = project();
    let registry = Registry::plain();
    registry.lock(Lock::Bearer {
        realm: None,
        password: None,
        identity: None,
        life: 300,
    });
    let Script { text, tarball } = script(&registry, &stage);
    let installed = "it's $(id)|here\n";
    for shell in shells() {
        for _ in 0..2 {
            let output = run_in(shell, &text);
            let reported = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{shell}: {reported}\n{text}");
        }
        let once = stage.read("installed.txt");
        assert_eq!(once, installed, "{shell}: once, its variables unread by it");
        let left = stage.list("state");
        assert_eq!(left.len(), 1, "only what says that it is done: {left:?}");
        fs::remove_dir_all(stage.path().join("state")).expect("removed");
        stage.remove("installed.txt");
    }
    // Other bytes than those that were locked.
    registry.hook(move |request, _| {
        let is_blob = request.path.ends_with(&tarball);
        is_blob.then(|| super::support::registry::Reply::new(200, b"other bytes".to_vec()))
    });
    for shell in shells() {
        assert!(!run_in(shell, &text).status.success(), "{shell}");
    }
    assert!(!stage.path().join("installed.txt").exists());
}

/// A registry with a bundle of Kubernetes v1.26.7+rke2r1.
fn rke2() -> Registry {
    let registry = Registry::plain();
    registry.image("base", "1", &[]);
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.empty.v1+json", "digest": registry.blob(b"{}").as_str(), "size": 2},
        "layers": [{"mediaType": "application/vnd.oci.image.layer.v1.tar+gzip", "digest": registry.blob(b"bundle").as_str(), "size": 6}],
        "annotations": {(annotation::K8S_VERSION): "1.26.7+rke2r1"},
    });
    let text = manifest.to_string();
    registry.put("bundles/rke2", "v1.26.7_rke2r1", MANIFEST, text.as_bytes());
    registry
}

/// A project whose one pool boots an image without Kubernetes, with this bundle.
fn with_bundle(host: &str, bundle: &str, more: &str) -> Stage {
    project()
        .settings(&format!(
            "registries: {{hosts: {{'{host}': {{plain-http: true}}}}}}\nimages: {{url: '{{{{ image.uri }}}}'}}\n\
             outputs: [{{target: manifests, path: out, component-bundles: [field, annotation]}}]"
        ))
        .cluster(
            "edge",
            &format!(
                "{more}\nos_images:\n  base: {{uri: 'oci://{host}/base:1', image-format: container, k8s-flavor: none}}\n\
                 cluster:\n  k8s_version: v1.26.7+rke2r1\n  capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpr}}\n  \
                 control_plane_replicas: 1\n  elemental: {{image_key: base, {bundle}}}\n"
            ),
        )
}

/// Of the proposal, to the letter.
#[test]
fn the_proposals_own_line_renders_from_the_lock_or_with_a_digest() {
    let registry = rke2();
    let host = registry.host();
    let bundle = format!("componentsBundle: '{host}/bundles/rke2:v1.26.7+rke2r1'");
    let stage = with_bundle(&host, &bundle, "");
    let shown = |stage: &Stage| {
        let rendered = stage.run("render --stdout").exit(0).outcome.stdout;
        let line = { rendered.lines() }.find(|line| line.contains("componentsBundle"));
        let line = line.unwrap_or_default().trim().replace(&host, "HOST");
        let digest = line.find("@sha256:").map(|at| at + 15);
        line[..digest.unwrap_or(line.len())].to_owned()
    };
    // Nothing says what the tag is, and `render` says so as `check` does.
    let unpinned = |line: &str| {
        let stderr = stage.run(line).exit(1).outcome;
        stderr.stdout + &stderr.stderr
    };
    for line in ["check", "render"] {
        assert!(unpinned(line).contains("is not pinned to a digest"));
    }
    let _ = stage.run("lock").exit(0);
    let _ = stage.run("lock --check").exit(0);
    stage.check_with("--frozen").is(str![[r#"
warning[manifest-invalid] edge out/edge.yaml:17:25 `` => schemas: FOLDER
warning[manifest-invalid] edge/control-plane => component-bundles: secret | cloud-config
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): proven, base (edge.yaml:8:26) holds 1.26.7+rke2r1 (metalmark.lock:9:18)

"#]]);
    let locked = shown(&stage);
    let digest = format!("digest: 'sha256:{}'", "1".repeat(64));
    let entry = format!(
        "component_bundles: {{rke2: {{uri: '{host}/bundles/rke2:v1.26.7+rke2r1', k8s_version: v1.26.7+rke2r1, {digest}}}}}"
    );
    let with_digest = with_bundle(&host, &bundle, &entry);
    with_digest.check().is(str![[r#"
warning[reference-unpinned] edge/control-plane edge.yaml:8:26 `base` edge.yaml:3:3 `base` => metalmark lock
warning[manifest-invalid] edge out/edge.yaml:17:25 `` => schemas: FOLDER
warning[manifest-invalid] edge/control-plane => component-bundles: secret | cloud-config
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): proven, base (edge.yaml:8:26) holds 1.26.7+rke2r1 (edge.yaml:1:93)

"#]]);
    assert_data_eq!(
        format!("{locked}\n{}\n", shown(&with_digest)),
        str![[r#"
componentsBundle: "HOST/bundles/rke2:v1.26.7_rke2r1@sha256:4685c70
componentsBundle: "HOST/bundles/rke2:v1.26.7_rke2r1@sha256:1111111

"#]]
    );
}

/// The proposal's own manifest, names and all, and the machines that are made of it.
fn manifests(version: &str, more: &str) -> Stage {
    let group = "infrastructure.cluster.x-k8s.io/v1beta1";
    project().file(
        "elemental.yaml",
        format!(
            "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: elemental-cluster, namespace: default}}
spec:
  infrastructureRef: {{apiVersion: {group}, kind: ElementalCluster, name: elemental-cluster}}
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: elemental-cluster-md-0, namespace: default}}
spec:
  clusterName: elemental-cluster
  template:
    spec:
      clusterName: elemental-cluster
      version: {version}
      infrastructureRef: {{apiVersion: {group}, kind: ElementalMachineTemplate, name: elemental-cluster-md-0}}
---
apiVersion: {group}
kind: ElementalMachineTemplate
metadata:
  name: elemental-cluster-md-0
  namespace: default
spec:
  template:
    spec:
      componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
{more}"
        ),
    )
}

#[test]
fn a_bundle_that_a_machine_template_names_is_judged_as_one_of_values() {
    // Its hosts have a system already: the proposal names no image.
    let stage = manifests("v1.26.7+rke2r1", "");
    stage.run("check").exit(0).screen(str![[r#"
warning[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` is not pinned to a digest
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: write its digest behind the tag: `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1@sha256:…`

warning[component-mismatch]: no release of Elemental has the field: the API server drops it
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: docs/components.md says what brings a bundle to machines

2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    let digest = format!("rke2r1@sha256:{}", "1".repeat(64));
    stage.edit(
        "elemental.yaml",
        "rke2:v1.26.7+rke2r1",
        &format!("rke2:v1.26.7+{digest}"),
    );
    let pinned = stage.run("check").exit(0).outcome;
    assert!(!pinned.stderr.contains("not pinned"), "{}", pinned.stderr);
    // What an image's name says is no reason to believe in another bundle.
    let image = "      osVersionManagement: {osVersion: {imageUri: 'oci://registry.example.org/sle-rke2-v1.31.8-rke2r1@sha256:1111111111111111111111111111111111111111111111111111111111111111'}}\n";
    let other = manifests("v1.31.8+rke2r1", image);
    other.run("check").exit(1).screen(str![[r#"
error[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` holds Kubernetes `1.26.7+rke2r1`, not `v1.31.8+rke2r1`
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: name a bundle that fits, by its tag and digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`

warning[component-mismatch]: component bundle `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1` is not pinned to a digest
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: write its digest behind the tag: `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1@sha256:…`

warning[component-mismatch]: no release of Elemental has the field: the API server drops it
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1
   |                         ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: docs/components.md says what brings a bundle to machines

1 error, 2 warnings in 1 cluster; 1 node pool checked: 1 mismatched

"#]]);
    other.edit("elemental.yaml", "rke2:v1.26.7+rke2r1", "${BUNDLE}");
    assert_data_eq!(
        other.run("clusters").exit(0).outcome.stdout,
        str![[r#"
CLUSTER            POOL                    PROVIDER   KUBERNETES      IMAGE  JUDGMENT
elemental-cluster  elemental-cluster-md-0  elemental  v1.31.8+rke2r1  –      unknown: its image or version is a variable

"#]]
    );
    other.edit("elemental.yaml", "componentsBundle", "componentBundle");
    other.check().is(str![[r#"
error[key-misspelled] elemental-cluster elemental.yaml:26:7 `componentBundle` => componentsBundle
elemental-cluster/elemental-cluster-md-0 v1.31.8+rke2r1 (elemental.yaml:15:16): by_name, sle-rke2-v1.31.8-rke2r1@sha256:1111111111111111111111111111111111111111111111111111111111111111 (elemental.yaml:27:51) holds 1.31.8+rke2r1 (elemental.yaml:27:51)

"#]]);
    other.edit("elemental.yaml", "componentBundle", "componentsBundle");
    other.edit(
        "elemental.yaml",
        "registry.suse.com/rancher/elemental/bundles/${BUNDLE}",
        "rke2",
    );
    other.run("check").exit(1).screen(str![[r#"
error[component-mismatch]: `rke2` is not the reference of a component bundle
  --> elemental.yaml:26:25
   |
26 |       componentsBundle: rke2
   |                         ^^^^ selected here
   |
   = cluster: elemental-cluster, pool elemental-cluster-md-0
   = help: name it by a tag or a digest: `REGISTRY/REPOSITORY:v1.34.1`

1 error in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
}

/// As the proposal has it: hosts have a system, and the template names the bundle alone.
#[test]
fn a_bundle_without_an_image_renders() {
    let bundle = format!(
        "componentsBundle: 'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1@sha256:{}'",
        "1".repeat(64)
    );
    let stage = with_bundle("r.example", &bundle, "");
    stage.edit("edge.yaml", "image_key: base, ", "");
    let rendered = stage.run("render --stdout").exit(0).outcome.stdout;
    assert!(
        rendered.contains("componentsBundle: registry.suse.com/"),
        "{rendered}"
    );
    assert_data_eq!(
        stage.run("clusters").exit(0).outcome.stdout,
        str![[r#"
CLUSTER  POOL           PROVIDER   KUBERNETES      IMAGE  JUDGMENT
edge     control-plane  elemental  v1.26.7+rke2r1  –      by name only: `1.26.7+rke2r1` in the component bundle's tag

"#]]
    );
    stage.edit("edge.yaml", "k8s_version: v1.26.7", "k8s_version: v1.27.7");
    stage.check().is(str![[r#"
error[component-mismatch] edge/control-plane edge.yaml:8:33 `'registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7+rke2r1@sha256:1111111111111111111111111111111111111111111111111111111111111111'` => component_bundle_selector: {} | component_bundles
edge/control-plane v1.27.7+rke2r1 (edge.yaml:5:16): mismatched holds 1.26.7+rke2r1 (edge.yaml:8:33)

"#]]);
}

#[test]
fn a_bundle_that_is_not_there_is_requested_without_a_plus() {
    let registry = rke2();
    let host = registry.host();
    let bundle = format!("componentsBundle: '{host}/bundles/rke2:v1.26.8+rke2r1'");
    let outcome = with_bundle(&host, &bundle, "").run("lock").exit(1).outcome;
    let help = "a tag has no `+`: one that is written with it is requested as `v1.26.8_rke2r1`";
    assert!(outcome.stderr.contains(help), "{}", outcome.stderr);
}

/// Without one, nothing is compared.
#[test]
fn the_bundle_of_an_image_without_kubernetes_is_judged_by_its_version() {
    let entry = |version: &str| {
        format!(
            "component_bundles: {{rke2: {{uri: 'oci://r.example/rke2@sha256:{}', k8s_version: {version}}}}}",
            "1".repeat(64)
        )
    };
    for (bundle, expected) in [
        (
            "",
            str![[r#"
warning[reference-unpinned] edge/control-plane edge.yaml:8:26 `base` edge.yaml:3:3 `base` => metalmark lock
error[nothing-checked] => cluster.elemental.image_key: … | --allow-empty
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): unknown (its image brings no Kubernetes), base (edge.yaml:8:26)

"#]],
        ),
        (
            "component_bundle_key: rke2",
            str![[r#"
warning[reference-unpinned] edge/control-plane edge.yaml:8:26 `base` edge.yaml:3:3 `base` => metalmark lock
warning[manifest-invalid] edge out/edge.yaml:17:25 `` => schemas: FOLDER
warning[manifest-invalid] edge/control-plane => component-bundles: secret | cloud-config
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): proven, base (edge.yaml:8:26) holds 1.26.7+rke2r1 (edge.yaml:1:142)

"#]],
        ),
        (
            "component_bundle_selector: {}",
            str![[r#"
warning[reference-unpinned] edge/control-plane edge.yaml:8:26 `base` edge.yaml:3:3 `base` => metalmark lock
warning[manifest-invalid] edge out/edge.yaml:17:25 `` => schemas: FOLDER
warning[manifest-invalid] edge/control-plane => component-bundles: secret | cloud-config
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): proven, base (edge.yaml:8:26) holds 1.26.7+rke2r1 (edge.yaml:1:142)

"#]],
        ),
    ] {
        let stage = with_bundle("r.example", bundle, &entry("v1.26.7+rke2r1"));
        stage.check().is(expected);
    }
    with_bundle(
        "r.example",
        "component_bundle_key: rke2",
        &entry("v1.27.7+rke2r1"),
    )
    .check()
    .is(str![[r#"
warning[reference-unpinned] edge/control-plane edge.yaml:8:26 `base` edge.yaml:3:3 `base` => metalmark lock
error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => component_bundle_selector: {} | component_bundles
edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): mismatched, base (edge.yaml:8:26) holds 1.27.7+rke2r1 (edge.yaml:1:142)

"#]]);
}

/// An entry for a reference hid the version in its tag, and a key hid the reference that the pool itself names.
#[test]
fn a_bundle_is_judged_by_its_tag_in_an_entry_too_and_has_one_name() {
    let uri = "oci://r.example/rke2:v1.27.7+rke2r1";
    let found = table(
        [
            "component_bundle_key: rke2",
            "componentsBundle: 'r.example/rke2:v1.27.7+rke2r1'",
            "component_bundle_key: rke2, componentsBundle: rke2",
            "component_bundle_key: rke2, componentsBundle: 'r.example/other:v1.26.7+rke2r1'",
            "component_bundle_key: '', componentsBundle: rke2",
        ],
        |bundle| {
            let entry = format!("component_bundles: {{rke2: {{uri: '{uri}'}}}}");
            let checked = with_bundle("r.example", bundle, &entry).check();
            let mut lines: Vec<String> = Vec::new();
            for rule in ["component-mismatch", "value-type"] {
                lines.extend(checked.of_rule(rule).into_iter().map(str::to_owned));
            }
            lines.extend(checked.pool_lines());
            lines
        },
    );
    assert_text(
        &found,
        str![[r#"
component_bundle_key: rke2
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => component_bundle_selector: {} | component_bundles
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => metalmark lock
    edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): mismatched, base (edge.yaml:8:26) holds 1.27.7+rke2r1 (edge.yaml:1:21)
componentsBundle: 'r.example/rke2:v1.27.7+rke2r1'
    error[component-mismatch] edge/control-plane edge.yaml:8:50 `'r.example/rke2:v1.27.7+rke2r1'` edge.yaml:1:21 `rke2` => component_bundle_selector: {} | component_bundles
    error[component-mismatch] edge/control-plane edge.yaml:8:50 `'r.example/rke2:v1.27.7+rke2r1'` edge.yaml:1:21 `rke2` => metalmark lock
    edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): mismatched, base (edge.yaml:8:26) holds 1.27.7+rke2r1 (edge.yaml:1:21)
component_bundle_key: rke2, componentsBundle: rke2
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => component_bundle_selector: {} | component_bundles
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => metalmark lock
    edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): mismatched, base (edge.yaml:8:26) holds 1.27.7+rke2r1 (edge.yaml:1:21)
component_bundle_key: rke2, componentsBundle: 'r.example/other:v1.26.7+rke2r1'
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => component_bundle_selector: {} | component_bundles
    error[component-mismatch] edge/control-plane edge.yaml:8:54 `rke2` edge.yaml:1:21 `rke2` => metalmark lock
    error[value-type] edge/control-plane edge.yaml:8:78 `'r.example/other:v1.26.7+rke2r1'`
    edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): mismatched, base (edge.yaml:8:26) holds 1.27.7+rke2r1 (edge.yaml:1:21)
component_bundle_key: '', componentsBundle: rke2
    edge/control-plane v1.26.7+rke2r1 (edge.yaml:5:16): unknown (its image brings no Kubernetes), base (edge.yaml:8:26)

"#]],
    );
}

#[test]
fn what_the_delivery_of_a_bundle_lacks_is_reported_and_its_address_is_one_of_the_web() {
    let sha256 = "a".repeat(64);
    let script = |entry: &str| {
        let entry = entry.replace("SHA256", &sha256);
        let entry =
            format!("component_bundles: {{rke2: {{{entry}, k8s_version: v1.26.7+rke2r1}}}}");
        let stage = with_bundle("r.example", "component_bundle_key: rke2", &entry);
        stage.edit("metalmark.yaml", "[field, annotation]", "[secret]");
        let Outcome { stdout, stderr, .. } = stage.run("render --stdout").outcome;
        let all = stdout.lines().chain(stderr.lines()).map(str::trim);
        let lines = all.filter(|line| line.starts_with("url=") || line.starts_with("error["));
        lines.map(|line| line.replace(&sha256, "SHA256")).collect()
    };
    assert_cases(
        str![[r#"
uri: 'https://a.example/rke2.tgz'
    error[component-mismatch]: component bundle `rke2` is not pinned to a digest
uri: 'https://a.example/rke2.tgz', sha256: SHA256
    url='https://a.example/rke2.tgz'
uri: 'ftp://a.example/rke2.tgz', sha256: SHA256
    error[manifest-invalid]: nothing says where machines fetch component bundle `rke2` from
uri: 'oci://r.example/rke2:1', sha256: SHA256
    url='http://r.example/v2/rke2/blobs/sha256:SHA256'
uri: 'oci://r.example/rke2:1', url: 'http://b.example/rke2.tgz', sha256: SHA256
    url='http://b.example/rke2.tgz'
uri: 'oci://r.example/rke2:1', url: 'ftp://b.example/rke2.tgz', sha256: SHA256
    url='http://r.example/v2/rke2/blobs/sha256:SHA256'

"#]],
        script,
    );
}

/// The script asked for `https://` where the project file says that there is none.
#[test]
fn machines_access_a_registry_as_the_project_file_says() {
    let sha256 = "a".repeat(64);
    let entry = format!(
        "component_bundles: {{rke2: {{uri: 'oci://r.example:5000/rke2:1', sha256: {sha256}, k8s_version: v1.26.7+rke2r1}}}}"
    );
    let script = |host: &str| {
        let stage = with_bundle("r.example", "component_bundle_key: rke2", &entry);
        stage.edit("metalmark.yaml", "[field, annotation]", "[secret]");
        let settings = format!("'r.example:5000': {host}");
        stage.edit(
            "metalmark.yaml",
            "'r.example': {plain-http: true}",
            &settings,
        );
        let outcome = stage.run("render --stdout").exit(0).outcome;
        let all = outcome
            .stdout
            .lines()
            .chain(outcome.stderr.lines())
            .map(str::trim);
        let lines = all.filter(|line| line.starts_with("url=") || line.contains("certificate"));
        lines.map(|line| line.replace(&sha256, "SHA256")).collect()
    };
    assert_cases(
        str![[r#"
{plain-http: true}
    url='http://r.example:5000/v2/rke2/blobs/sha256:SHA256'
{plain-http: false}
    url='https://r.example:5000/v2/rke2/blobs/sha256:SHA256'
{skip-verify: true}
    url='https://r.example:5000/v2/rke2/blobs/sha256:SHA256'
    warning[manifest-invalid]: machines refuse the certificate of `r.example:5000`, from which they fetch component bundle `rke2`: `skip-verify` is only for metalmark

"#]],
        script,
    );
}

/// A site that cannot reach the registry has a mirror, and so have its machines.
#[test]
fn machines_fetch_a_bundle_from_the_mirror_of_its_registry() {
    let sha256 = "a".repeat(64);
    let entry = format!(
        "component_bundles: {{rke2: {{uri: 'oci://r.example/k8s/rke2:1', sha256: {sha256}, k8s_version: v1.26.7+rke2r1}}}}"
    );
    let script = |mirror: &str| {
        let stage = with_bundle("r.example", "component_bundle_key: rke2", &entry);
        stage.edit("metalmark.yaml", "[field, annotation]", "[secret]");
        let settings = format!("'m.example:5000': {{plain-http: true}}}}, mirrors: {{{mirror}");
        stage.edit(
            "metalmark.yaml",
            "'r.example': {plain-http: true}",
            &settings,
        );
        let outcome = stage.run("render --stdout").exit(0).outcome;
        let lines = outcome.stdout.lines().map(str::trim);
        let lines = lines.filter(|line| line.starts_with("url=") || line.contains("@sha256:"));
        lines.map(|line| line.replace(&sha256, "SHA256")).collect()
    };
    assert_cases(
        str![[r#"
r.example: m.example:5000
    url='http://m.example:5000/v2/k8s/rke2/blobs/sha256:SHA256'
r.example/k8s: m.example:5000/site/k8s
    url='http://m.example:5000/v2/site/k8s/rke2/blobs/sha256:SHA256'
r.example/k8s: 'oci-layout:images'
    url='https://r.example/v2/k8s/rke2/blobs/sha256:SHA256'
other.example: m.example:5000
    url='https://r.example/v2/k8s/rke2/blobs/sha256:SHA256'

"#]],
        script,
    );
}

/// A constraint that nobody would carry out is no constraint.
#[test]
fn what_an_entry_of_a_bundle_misspells_is_an_error() {
    let sum = "0".repeat(64);
    let entry = |more: &str| {
        let values = format!(
            "component_bundles: {{k8s: {{uri: 'oci://r.example/k8s:1', {more}}}}}\ncluster:\n  k8s_version: v1.31.8\n  \
             capi_providers: {{infra_provider: elemental, bootstrap_provider: cabpk}}\n  control_plane_replicas: 1\n  \
             elemental: {{component_bundle_key: k8s}}\n"
        );
        let run = project()
            .cluster("site", &values)
            .run("check --output concise");
        let lines = run
            .outcome
            .stdout
            .lines()
            .filter(|line| line.contains(" has no key ") || line.contains(" is no digest"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    assert_cases(
        str![[r#"
digest: 'sha256:abc'
    site.yaml:1:65: error[component-mismatch]: component bundle `k8s` has a `digest` that is no digest (cluster site)
sha256: abc
    site.yaml:1:65: error[component-mismatch]: component bundle `k8s` has a `sha256` that is no digest (cluster site)
distro: [ubuntu]
    site.yaml:1:65: error[component-mismatch]: component bundle `k8s` has no key `distro` (cluster site)
arch: amd64
    site.yaml:1:63: error[component-mismatch]: component bundle `k8s` has no key `arch` (cluster site)
env_declare: [A]
    site.yaml:1:70: error[component-mismatch]: component bundle `k8s` has no key `env_declare` (cluster site)
k8s_versio: v1.31.8
    site.yaml:1:69: error[component-mismatch]: component bundle `k8s` has no key `k8s_versio` (cluster site)
distros: [ubuntu], archs: [amd64], env: {A: b}, env_declared: [A], env_required: [A], k8s_flavor: kubeadm, variant: cis, public_key: a.pub

"#]],
        entry,
    );
    assert_eq!(
        entry(&format!("digest: 'sha256:{sum}', sha256: '{sum}'")),
        [""; 0]
    );
    let unused =
        entry("digest: 'sha256:abc'}, other: {uri: 'oci://r.example/other:1', digest: abc");
    assert!(unused[1].contains("`other` has a `digest`"), "{unused:?}");
}

/// `metalmark lock` was the help again after each lock.
#[test]
fn a_bundle_of_several_layers_is_refused_once_with_what_to_do() {
    let registry = Registry::plain();
    registry.image("base", "1", &[]);
    let host = registry.host();
    let layers = [
        Tarball::new().setuid("install.sh", b"#!/bin/sh\n"),
        Tarball::new().file("rke2.tar", b"rke2"),
    ];
    let layers = layers.map(|tar| {
        let bytes = gzip(&tar.end());
        let digest = registry.blob(&bytes);
        serde_json::json!({"mediaType": LAYER_TYPE, "digest": digest.as_str(), "size": bytes.len()})
    });
    let manifest = serde_json::json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": registry.blob(b"{}").as_str(), "size": 2},
        "layers": layers,
        "annotations": {(annotation::K8S_VERSION): "1.26.7+rke2r1"},
    });
    let text = manifest.to_string();
    registry.put("bundles/rke2", "1", MANIFEST, text.as_bytes());
    let entry = format!("component_bundles: {{rke2: {{uri: 'oci://{host}/bundles/rke2:1'}}}}");
    let stage = with_bundle(&host, "component_bundle_key: rke2", &entry);
    stage.edit("metalmark.yaml", "[field, annotation]", "[secret]");
    let _ = stage.run("lock").exit(0);
    let of_bundle = || {
        let outcome = stage.run("check").outcome;
        let lines = outcome.stdout.lines().map(str::trim);
        let lines = lines.filter(|line| line.contains("tarball") || line.contains("= help"));
        let lines = lines.map(|line| line.replace(&host, "HOST"));
        lines.collect::<Vec<_>>().join("\n")
    };
    of_bundle().is(str![[r#"
error[manifest-invalid]: component bundle `rke2` is no single tarball, and machines fetch one: it is locked, and has several layers or none
= help: make one layer of it: `metalmark bundle unpack oci://HOST/bundles/rke2:1@sha256:bfb0cab04bdee2c0d9fd93acb036cc0fcf6964f3b4998b64fa42367e4320f011 --to DIR`, then `metalmark bundle push DIR oci://… --kind components`
"#]]);
    // Who reads the annotation takes all layers.
    stage.edit("metalmark.yaml", "[secret]", "[annotation]");
    let _ = stage.run("check").exit(0);
    stage.edit("metalmark.yaml", "[annotation]", "[secret]");
    // As the help says.
    let lock = stage.read("metalmark.lock");
    let digest = lock.split("bundles/rke2:1").nth(1).expect("locked");
    let digest = digest
        .split("digest: ")
        .nth(1)
        .expect("a digest")
        .lines()
        .next();
    let reference = format!("oci://{host}/bundles/rke2:1@{}", digest.expect("a line"));
    let _ = stage
        .run(&format!("bundle unpack {reference} --to one"))
        .exit(0);
    let push = format!(
        "bundle push one oci://{host}/bundles/rke2:2 --kind components --k8s-version 1.26.7+rke2r1"
    );
    let _ = stage.run(&push).exit(0);
    stage.edit("edge.yaml", "rke2:1", "rke2:2");
    let _ = stage.run("lock").exit(0);
    assert_eq!(of_bundle(), "");
}

/// By its digest alone a bundle does not say which version it holds, and manifests have no catalog to say it in.
#[test]
fn the_help_about_a_bundle_of_manifests_works_there() {
    let stage = manifests("v1.26.7+rke2r1", "");
    let digest = "1".repeat(64);
    let helps = |bundle: &str| {
        stage.write(
            "elemental.yaml",
            manifests("v1.26.7+rke2r1", "").read("elemental.yaml"),
        );
        let bundle = bundle.replace("DIGEST", &digest);
        stage.edit("elemental.yaml", "rke2:v1.26.7+rke2r1", &bundle);
        let outcome = stage.run("check").outcome;
        let lines = outcome.stdout.lines().map(str::trim);
        let lines = lines.filter(|line| line.starts_with("= help") || line.contains("checked:"));
        lines.map(|line| line.replace(&digest, "DIGEST")).collect()
    };
    assert_cases(
        str![[r#"
rke2@sha256:DIGEST
    = help: write the tag that says its version before the digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`
    = help: or run `metalmark lock`, which reads the version that the artifact is annotated with
    = help: docs/components.md says what brings a bundle to machines
    2 warnings in 1 cluster; 1 node pool checked: 1 unproven
rke2:v1.26.7_rke2r1@sha256:DIGEST
    = help: docs/components.md says what brings a bundle to machines
    1 warning in 1 cluster; 1 node pool checked: 1 by name only
rke2:v1.26.7+rke2r1
    = help: write its digest behind the tag: `registry.suse.com/rancher/elemental/bundles/rke2:v1.26.7_rke2r1@sha256:…`
    = help: docs/components.md says what brings a bundle to machines
    2 warnings in 1 cluster; 1 node pool checked: 1 by name only
rke2:v1.31.8+rke2r1@sha256:DIGEST
    = help: name a bundle that fits, by its tag and digest: `REGISTRY/REPOSITORY:VERSION@sha256:…`
    = help: docs/components.md says what brings a bundle to machines
    1 error, 1 warning in 1 cluster; 1 node pool checked: 1 mismatched

"#]],
        helps,
    );
}
