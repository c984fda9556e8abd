//! Which of several images a selector in a marker means, and which version that brings.

use snapbox::str;

use crate::support::stage::{Is, Stage, project, table};

/// A machine template behind that marker, and the machine deployment that names its version. Each image is a key with facts.
pub(super) fn edge(marker: &str, version: &str, images: &[&str]) -> Stage {
    let image = |image: &&str| {
        let (key, facts) = image.split_once(' ').unwrap_or((image, ""));
        format!(
            "  {key}: {{os: ubuntu, image-format: raw, sha256: '{}', {facts}}}\n",
            "a".repeat(64)
        )
    };
    let images: String = images.iter().map(image).collect();
    let manifests = format!(
        "# metalmark: {marker}\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
         metadata: {{name: workers}}\nspec: {{template: {{spec: {{image: {{url: 'https://h.org/old.raw'}}}}}}}}\n---\n\
         apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineDeployment\nmetadata: {{name: workers}}\nspec:\n  clusterName: edge\n  \
         template:\n    spec:\n      clusterName: edge\n      version: {version}\n      bootstrap: {{dataSecretName: none}}\n      \
         infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: workers}}\n"
    );
    project()
        .settings("manifests: [edge.yaml]\nimages: {facts: [facts.yaml], url: 'https://h.org/{{ image.key }}.raw'}")
        .file("facts.yaml", format!("os_images:\n{images}"))
        .file("edge.yaml", manifests)
}

/// The image and the version that a stamp writes, or why it writes nothing.
pub(super) fn written(stage: &Stage, words: &str) -> Vec<String> {
    let before = stage.read("edge.yaml");
    let run = stage.run(&format!("stamp {words}"));
    let after = stage.read("edge.yaml");
    if run.outcome.status != 0 {
        assert_eq!(after, before);
        let errors = run
            .outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("error"));
        return errors.map(str::to_owned).collect();
    }
    let value = |key: &str| {
        let rest = after.split_once(key).expect(key).1;
        rest.split([',', '}', '\n', '\''])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    vec![format!(
        "{} {}",
        value("url: 'https://h.org/"),
        value("      version: ")
    )]
}

const PROVEN: &str = "proven k8s-flavor: kubeadm, k8s-version: 1.31.8";
const NAMED: &str = "ubuntu-noble-plain-kubeadm-1-31-8";

#[test]
fn an_image_whose_version_is_proven_comes_before_those_whose_name_suggests_it() {
    let cases = [
        &[PROVEN][..],
        &[NAMED, PROVEN],
        &[NAMED],
        &[NAMED, "ubuntu-jammy-plain-kubeadm-1-31-8"],
        &[PROVEN, "second k8s-flavor: kubeadm, k8s-version: 1.31.8"],
    ];
    let results = table(cases.map(|images| images.join("; ")), |case| {
        let images: Vec<&str> = case.split("; ").collect();
        written(&edge("selector={os: ubuntu}", "v1.31.8", &images), "")
    });
    results.is(str![[r#"
proven k8s-flavor: kubeadm, k8s-version: 1.31.8
    proven.raw v1.31.8
ubuntu-noble-plain-kubeadm-1-31-8; proven k8s-flavor: kubeadm, k8s-version: 1.31.8
    proven.raw v1.31.8
ubuntu-noble-plain-kubeadm-1-31-8
    ubuntu-noble-plain-kubeadm-1-31-8.raw v1.31.8
ubuntu-noble-plain-kubeadm-1-31-8; ubuntu-jammy-plain-kubeadm-1-31-8
    error[several-images-match]: 2 images match: ubuntu-jammy-plain-kubeadm-1-31-8, ubuntu-noble-plain-kubeadm-1-31-8
proven k8s-flavor: kubeadm, k8s-version: 1.31.8; second k8s-flavor: kubeadm, k8s-version: 1.31.8
    error[several-images-match]: 2 images match: proven, second

"#]]);
}

#[test]
fn of_several_proven_images_that_of_the_running_version_is_meant() {
    let other = "other k8s-flavor: kubeadm, k8s-version: 1.31.9";
    let results = table(["v1.31.8", "v1.31.9", "v1.31.7"], |version| {
        let marker = "selector={os: ubuntu, k8s-version: 1.31.*}";
        written(&edge(marker, version, &[PROVEN, other, NAMED]), "")
    });
    results.is(str![[r#"
v1.31.8
    proven.raw v1.31.8
v1.31.9
    other.raw v1.31.9
v1.31.7
    error[several-images-match]: 3 images match: other, proven, ubuntu-noble-plain-kubeadm-1-31-8

"#]]);
}
