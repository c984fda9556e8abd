//! References of a person's own manifests to what the target `manifests` renders: they move with the names, in the same run.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use capi::objects::objects;
use metalmark::edit::stamp::{Rendered, follow};
use tempfile::TempDir;
use yaml_tree::place::Source;

use crate::support::{Metalmark, Outcome};

const PROJECT: &str = "\
version: 1
clusters:
  - {name: edge, values: [values.yaml]}
manifests: [own]
outputs:
  - {target: manifests, path: rendered}
";

const OWN: &str = "\
# The control plane keeps its comments.
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: edge, namespace: edge}
spec:
  machineTemplate:
    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge-control-plane} # mine
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: md0}
spec:
  template:
    spec:
      infrastructureRef:
        kind: Metal3MachineTemplate
        apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
        name: edge-md0
";

fn values(image: &str) -> String {
    format!(
        "\
os_images:
  img-a: &image {{uri: https://images.example.org/a.raw, sha256: '{}', image-format: raw, k8s-version: 1.31.8, k8s-flavor: kubeadm}}
  img-b: {{<<: *image, uri: https://images.example.org/b.raw, sha256: '{}'}}
cluster:
  k8s_version: v1.31.8
  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}
  capm3: {{image_key: {image}}}
  control_plane: {{capm3: {{hostSelector: {{matchLabels: {{role: control-plane}}}}}}}}
  machine_deployments: {{md0: {{capm3: {{hostSelector: {{matchLabels: {{role: worker}}}}}}}}}}
",
        "a".repeat(64),
        "b".repeat(64)
    )
}

fn project(own: &str) -> TempDir {
    let scratch = tempfile::tempdir().expect("a folder");
    fs::create_dir(scratch.path().join("own")).expect("created");
    for (name, text) in [
        ("metalmark.yaml", PROJECT),
        ("values.yaml", &values("img-a")),
        ("own/cluster.yaml", own),
    ] {
        fs::write(scratch.path().join(name), text).expect("written");
    }
    scratch
}

fn render(folder: &Path, arguments: &[&str]) -> Outcome {
    let all = ["render"].into_iter().chain(arguments.iter().copied());
    Metalmark::within(folder).args(all).run()
}

fn text(folder: &Path, name: &str) -> String {
    fs::read_to_string(folder.join(name)).expect("text")
}

/// The names of the rendered templates: the control plane's, then `md0`'s.
fn rendered(folder: &Path) -> Vec<String> {
    let text = text(folder, "rendered/edge.yaml");
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("  name: "));
    names.map(str::to_owned).collect()
}

/// The manifests with the references to these names.
fn own(names: &[String]) -> String {
    let text = OWN.replace(
        "name: edge-control-plane}",
        &format!("name: {}}}", names[0]),
    );
    text.replace("name: edge-md0", &format!("name: {}", names[1]))
}

#[test]
fn references_follow_the_rendered_templates() {
    let scratch = project(OWN);
    let folder = scratch.path();
    let outcome = render(folder, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(outcome.stderr, "");
    assert!(
        outcome.stdout.contains("updated  own/cluster.yaml"),
        "{}",
        outcome.stdout
    );
    let first = rendered(folder);
    assert_eq!(text(folder, "own/cluster.yaml"), own(&first));
    assert_eq!(render(folder, &["--check"]).status, 0);
    // Another image: another name, and the references go with it.
    fs::write(folder.join("values.yaml"), values("img-b")).expect("written");
    let outcome = render(folder, &["--check"]);
    assert_eq!(outcome.status, 1);
    assert!(
        outcome.stdout.contains("own/cluster.yaml"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        text(folder, "own/cluster.yaml"),
        own(&first),
        "a check writes nothing"
    );
    assert_eq!(render(folder, &[]).status, 0);
    let second = rendered(folder);
    assert_ne!(second, first);
    assert_eq!(text(folder, "own/cluster.yaml"), own(&second));
    // A run that ended before it wrote the references is completed.
    fs::write(folder.join("own/cluster.yaml"), own(&first)).expect("written");
    assert_eq!(render(folder, &[]).status, 0);
    assert_eq!(text(folder, "own/cluster.yaml"), own(&second));
    // And back, byte for byte.
    fs::write(folder.join("values.yaml"), values("img-a")).expect("written");
    assert_eq!(render(folder, &[]).status, 0);
    assert_eq!(
        (rendered(folder), text(folder, "own/cluster.yaml")),
        (first.clone(), own(&first))
    );
}

#[test]
fn machines_keep_the_templates_that_are_no_longer_rendered() {
    let scratch = project(OWN);
    assert_eq!(render(scratch.path(), &[]).status, 0);
    let text = text(scratch.path(), "rendered/edge.yaml");
    for annotation in [
        "kustomize.toolkit.fluxcd.io/prune: disabled",
        "argocd.argoproj.io/sync-options: Prune=false",
    ] {
        assert_eq!(text.matches(annotation).count(), 2, "{text}");
    }
}

#[test]
fn what_refers_to_something_else_stays() {
    for other in [
        OWN.replace("namespace: edge", "namespace: other"),
        OWN.replace("Metal3MachineTemplate", "Metal3DataTemplate"),
        OWN.replace("infrastructure.cluster", "example"),
        // A template of one's own.
        format!(
            "{OWN}---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {{name: edge-control-plane, namespace: edge}}\n"
        ),
    ] {
        let scratch = project(&other);
        let outcome = render(scratch.path(), &[]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let found = "warning[template-unreferenced]: no manifest refers to Metal3MachineTemplate `edge/edge-control-plane-";
        assert!(outcome.stderr.contains(found), "{}", outcome.stderr);
        let after = text(scratch.path(), "own/cluster.yaml");
        assert!(after.contains("name: edge-control-plane}"), "{after}");
    }
    // What is written elsewhere for a look moves nothing.
    let scratch = project(OWN);
    let outcome = render(scratch.path(), &["--target", "manifests", "--out", "look"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert_eq!(text(scratch.path(), "own/cluster.yaml"), OWN);
}

#[test]
fn a_reference_that_cannot_be_moved_writes_nothing() {
    let quoted = OWN.replace('\n', "\\n").replace('"', "\\\"");
    let scratch = project(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: edge}}\ndata:\n  a: \"{quoted}\"\n"
    ));
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let found = "error[reference-dangling]: the references of KubeadmControlPlane `edge` cannot be moved: it is in a quoted string";
    let help = "help: write the object in a manifest or a literal block";
    for text in [found, help] {
        assert!(outcome.stderr.contains(text), "{}", outcome.stderr);
    }
    assert!(!scratch.path().join("rendered").exists());
}

#[test]
fn a_secret_whose_name_changes_with_its_content_is_followed() {
    let config = "\
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: md0}
spec: {template: {spec: {files: [{path: /x, contentFrom: {secret: {name: edge-kube-vip, key: kube-vip.yaml}}}]}}}
";
    let scratch = project(&format!("{OWN}---\n{config}"));
    let folder = scratch.path();
    let project = PROJECT.replace("path: rendered", "path: rendered, kube-vip: true");
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    let endpoint = "  control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {image: 'ghcr.io/kube-vip/kube-vip:v1.2.3', interface: enp1s0}}\n";
    fs::write(folder.join("values.yaml"), values("img-a") + endpoint).expect("written");
    let outcome = render(folder, &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let secret = rendered(folder)
        .into_iter()
        .find(|name| name.starts_with("edge-kube-vip-"));
    let secret = secret.expect("a Secret");
    assert!(
        text(folder, "own/cluster.yaml")
            .contains(&format!("secret: {{name: {secret}, key: kube-vip.yaml}}"))
    );
}

#[test]
fn a_reference_that_may_mean_templates_of_two_namespaces_stays() {
    let [one, two] = ["one/edge-0123456789", "two/edge-abcdefabcd"]
        .map(|name| format!("Metal3MachineTemplate.infrastructure.cluster.x-k8s.io {name}"));
    let rendered = [&one, &two].map(|it| Rendered::read(it, None).expect("a name with a hash"));
    let followed = |metadata: &str| {
        let text = format!(
            "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {{name: edge{metadata}}}\nspec:\n  machineTemplate:\n    \
             infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: edge}}\n"
        );
        let source = Arc::new(Source::new("edge.yaml", text));
        let found = objects(&source).expect("YAML").objects;
        let followed = follow(&found, &rendered);
        let texts = followed.files.into_iter().map(|file| file.text);
        (texts.collect::<String>(), followed.findings.len())
    };
    assert_eq!(followed(""), (String::new(), 0));
    let (text, unreferenced) = followed(", namespace: two");
    assert!(text.contains("name: edge-abcdefabcd}"), "{text}");
    assert_eq!(unreferenced, 1);
}
