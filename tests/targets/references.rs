//! References of a person's own manifests to what the target `manifests` renders: they move with the names, in the same run.

use std::sync::Arc;

use capi::objects::objects;
use metalmark::edit::stamp::{Rendered, follow};
use snapbox::str;
use yaml_tree::place::Source;

use super::lines_with;
use crate::support::stage::{Stage, assert_text, project, table};

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

const VALUES: &str = "\
os_images:
  img-a: &image {uri: https://images.example.org/a.raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', image-format: raw, k8s-version: 1.31.8, k8s-flavor: kubeadm}
  img-b: {<<: *image, uri: https://images.example.org/b.raw, sha256: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'}
cluster:
  k8s_version: v1.31.8
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}
  capm3: {image_key: img-a}
  control_plane: {capm3: {hostSelector: {matchLabels: {role: control-plane}}}}
  machine_deployments: {md0: {capm3: {hostSelector: {matchLabels: {role: worker}}}}}
";
const FILE: &str = "own/cluster.yaml";
const IMAGES: [&str; 2] = ["{image_key: img-a}", "{image_key: img-b}"];

fn edge(own: &str) -> Stage {
    project().files(&[
        ("metalmark.yaml", PROJECT),
        ("values.yaml", VALUES),
        (FILE, own),
    ])
}

/// The names of the rendered objects: the templates of the control plane and of `md0` come first.
fn names(edge: &Stage) -> Vec<String> {
    let text = edge.read("rendered/edge.yaml");
    let names = text
        .lines()
        .filter_map(|line| line.strip_prefix("  name: "));
    names.map(str::to_owned).collect()
}

/// The manifests with the references to these names.
fn own(names: &[String]) -> String {
    let first = format!("name: {}}}", names[0]);
    let text = OWN.replace("name: edge-control-plane}", &first);
    text.replace("name: edge-md0", &format!("name: {}", names[1]))
}

#[test]
fn references_follow_the_rendered_templates() {
    let edge = edge(OWN);
    edge.run("render").exit(0).screen(str![[r#"
created  rendered/edge.yaml  +46
updated  own/cluster.yaml  +2 -2
1 file rendered: 1 created, 1 updated

"#]]);
    let first = names(&edge);
    assert_eq!(edge.read(FILE), own(&first));
    edge.run("render --check").exit(0);
    // Another image: another name, and the references go with it.
    let [a, b] = IMAGES;
    let checked = edge.edit("values.yaml", a, b).run("render --check").exit(1);
    assert!(checked.outcome.stdout.contains(FILE));
    assert_eq!(edge.read(FILE), own(&first), "a check writes nothing");
    edge.run("render").exit(0);
    let second = names(&edge);
    assert_ne!(second, first);
    assert_eq!(edge.read(FILE), own(&second));
    // A run that ended before it wrote the references is completed.
    edge.write(FILE, own(&first)).run("render").exit(0);
    assert_eq!(edge.read(FILE), own(&second));
    // And back, byte for byte.
    edge.edit("values.yaml", b, a).run("render").exit(0);
    assert_eq!(
        (names(&edge), edge.read(FILE)),
        (first.clone(), own(&first))
    );
}

#[test]
fn what_refers_to_something_else_stays() {
    let others = [
        OWN.replace("namespace: edge", "namespace: other"),
        OWN.replace("Metal3MachineTemplate", "Metal3DataTemplate"),
        OWN.replace("infrastructure.cluster", "example"),
        // A template of one's own.
        format!(
            "{OWN}---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {{name: edge-control-plane, namespace: edge}}\n"
        ),
    ];
    for other in others {
        let edge = edge(&other);
        let stderr = edge.run("render").exit(0).outcome.stderr;
        let found = "warning[template-unreferenced]: no manifest refers to Metal3MachineTemplate `edge/edge-control-plane-";
        assert!(stderr.contains(found), "{stderr}");
        let after = edge.read(FILE);
        assert!(after.contains("name: edge-control-plane}"), "{after}");
    }
    // What is written elsewhere for a look moves nothing.
    let edge = edge(OWN);
    edge.run("render --target manifests --out look").exit(0);
    assert_eq!(edge.read(FILE), OWN);
}

#[test]
fn a_reference_that_cannot_be_moved_writes_nothing() {
    let quoted = OWN.replace('\n', "\\n").replace('"', "\\\"");
    let edge = edge(&format!(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: x, namespace: edge}}\ndata:\n  a: \"{quoted}\"\n"
    ));
    let stderr = edge.run("render").exit(1).outcome.stderr;
    assert_text(
        &lines_with(&stderr, &["error[", "help:"]).join("\n"),
        str![[r#"
error[reference-dangling]: the references of KubeadmControlPlane `edge` cannot be moved: it is in a quoted string: write it as a block, behind `|`
= help: write the object in a manifest or a literal block (`|`), where names can be edited
error[reference-dangling]: the references of MachineDeployment `md0` cannot be moved: it is in a quoted string: write it as a block, behind `|`
"#]],
    );
    assert_eq!(edge.list("rendered"), [""; 0]);
}

#[test]
fn a_secret_whose_name_changes_with_its_content_is_followed() {
    let config = "\
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {name: md0}
spec: {template: {spec: {files: [{path: /x, contentFrom: {secret: {name: edge-kube-vip, key: kube-vip.yaml}}}]}}}
";
    let edge = edge(&format!("{OWN}---\n{config}"));
    edge.edit(
        "metalmark.yaml",
        "path: rendered",
        "path: rendered, kube-vip: true",
    );
    let endpoint = "  control_plane_endpoint: {vip: 192.0.2.10, kube_vip: {image: 'ghcr.io/kube-vip/kube-vip:v1.2.3', interface: enp1s0}}\n";
    edge.write("values.yaml", format!("{VALUES}{endpoint}"));
    edge.run("render").exit(0);
    let names = names(&edge);
    let secret = names.iter().find(|name| name.starts_with("edge-kube-vip-"));
    let reference = format!(
        "secret: {{name: {}, key: kube-vip.yaml}}",
        secret.expect("a Secret")
    );
    assert!(edge.read(FILE).contains(&reference), "{names:?}");
}

#[test]
fn a_reference_that_may_mean_templates_of_two_namespaces_stays() {
    let [one, two] = ["one/edge-0123456789", "two/edge-abcdefabcd"]
        .map(|name| format!("Metal3MachineTemplate.infrastructure.cluster.x-k8s.io {name}"));
    let rendered = [&one, &two].map(|it| Rendered::read(it, None).expect("a name with a hash"));
    let follow_in = |metadata: &str| {
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
    assert_eq!(follow_in(""), (String::new(), 0));
    let (text, unreferenced) = follow_in(", namespace: two");
    assert!(text.contains("name: edge-abcdefabcd}"), "{text}");
    assert_eq!(unreferenced, 1);
}

#[test]
fn only_machine_templates_have_to_be_referred_to() {
    let identities = [
        "Metal3MachineTemplate.infrastructure.cluster.x-k8s.io ns/a-0123456789",
        "Metal3DataTemplate.infrastructure.cluster.x-k8s.io ns/a-0123456789",
        "Metal3MachineTemplate.example.org ns/a-0123456789",
    ];
    let found = table(identities, |identity| {
        let rendered = Rendered::read(identity, None).expect("a name with a hash");
        let found = follow(&[], &[rendered]).findings.into_iter();
        found.map(|finding| finding.message).collect()
    });
    assert_text(
        &found,
        str![[r#"
Metal3MachineTemplate.infrastructure.cluster.x-k8s.io ns/a-0123456789
    no manifest refers to Metal3MachineTemplate `ns/a-0123456789`
Metal3DataTemplate.infrastructure.cluster.x-k8s.io ns/a-0123456789
Metal3MachineTemplate.example.org ns/a-0123456789

"#]],
    );
}
