//! What an editor shows of values: what they evaluate to, and the files and images that they name.

use std::fs;

use serde_json::Value;

use super::client::{Client, usual};
use super::{LYON, PARIS, UNITS, sylva};
use crate::support::Metalmark;

#[test]
fn a_hover_of_a_value_is_what_values_prints_with_why() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(UNITS);
    client.open(PARIS);
    // A shared file is shown for the first cluster.
    for (part, path) in [
        (
            "url: '{{ .Values.sylva_base|_oci",
            "os_images_oci_registries.sylva.url",
        ),
        ("k8s_version: '{{ .Values._int|ernal", "cluster.k8s_version"),
        (
            "sylva_disk|imagebuilder_version: 0",
            "sylva_diskimagebuilder_version",
        ),
    ] {
        let hover = client.hover(UNITS, part);
        let printed = Metalmark::within(folder.path())
            .args(["values", "mgmt", path, "--why"])
            .run();
        assert_eq!(printed.status, 0, "{}", printed.stderr);
        assert!(hover.contains(printed.stdout.trim_end()), "{hover}");
    }
    // A cluster's own file, for that cluster.
    let own = client.hover(
        PARIS,
        "hostSelector:\n        matchLabels: {cluster-role: con|trol-plane}",
    );
    assert!(
        own.contains("cluster.control_plane.capm3.hostSelector.matchLabels.cluster-role is a string: control-plane"),
        "{own}"
    );
    assert_eq!(client.hover(PARIS, "# Two pools fr|om"), "");
}

#[test]
fn a_hover_of_a_version_shows_the_versions_that_follow() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(LYON);
    client.replace(
        LYON,
        "  control_plane_replicas: 3\n",
        "  control_plane_replicas: 3\n  k8s_version: v1.31.8\n",
    );
    let hover = client.hover(LYON, "k8s_version: v1.3|1.8");
    assert!(
        hover.contains("newest patch: 1.31.8, which it runs\n"),
        "{hover}"
    );
    assert!(
        hover.contains("next minor: 1.32, an image is missing for control-plane, md0\n"),
        "{hover}"
    );
    let catalog = "  opensuse-15-6-plain-kubeadm-1-31-8:\n";
    let newer = "  opensuse-15-6-plain-kubeadm-1-31-8:
    os_images_oci_registry: sylva
  ubuntu-noble-plain-kubeadm-1-32-4:
    {os_images_oci_registry: sylva, os: ubuntu, os-release: noble, hardened: \"false\", flavor: plain, k8s-flavor: kubeadm, k8s-version: 1.32.4, image-format: raw, sha256: 0000000000000000000000000000000000000000000000000000000000000000}
  another-one:
";
    client.open(UNITS);
    client.replace(UNITS, catalog, newer);
    let hover = client.hover(LYON, "k8s_version: v1.3|1.8");
    assert!(hover.contains("next minor: 1.32.4\n"), "{hover}");
}

#[test]
fn paths_lead_to_their_files() {
    let folder = sylva();
    let write = |file: &str, text: &str| {
        let path = folder.path().join(file);
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    };
    let kustomization = "flux/kustomization.yaml";
    write(
        kustomization,
        "resources: [base, ../no/such]
configMapGenerator:
  - name: values
    files: [values.yaml=../environment-values/mgmt/values.yaml]
secretGenerator:
  - name: outside
    files: [../../../../etc/passwd, ../environment-values/mgmt/secrets.yaml]
",
    );
    write("flux/base/kustomization.yml", "resources: []\n");
    let mut client = Client::start(folder.path(), &usual());
    client.open("metalmark.yaml");
    client.open(kustomization);
    let mut file = |part: &str| {
        let answer = client.about("textDocument/definition", kustomization, part);
        let places = answer.as_array().expect("places").clone();
        let uri = |place: &Value| place["uri"].as_str().expect("a text").to_owned();
        places.iter().map(uri).collect::<Vec<_>>()
    };
    let below = |file: &str| {
        let path = folder.path().canonicalize().expect("a folder").join(file);
        vec![
            url::Url::from_file_path(path)
                .expect("absolute")
                .to_string(),
        ]
    };
    assert_eq!(
        file("mgmt|/values.yaml"),
        below("environment-values/mgmt/values.yaml")
    );
    assert_eq!(
        file("mgmt/|secrets.yaml"),
        below("environment-values/mgmt/secrets.yaml")
    );
    assert_eq!(file("[ba|se,"), below("flux/base/kustomization.yml"));
    for part in ["no/su|ch", "etc/pas|swd", "name: |values"] {
        assert_eq!(file(part), [""; 0], "{part}");
    }
}

#[test]
fn a_selector_is_replaced_by_the_key_of_its_image() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(PARIS);
    let pin = |actions: Vec<(String, Value)>| {
        let mut actions = actions.into_iter();
        actions.find(|(title, _)| title.starts_with("Pin "))
    };
    let before = client.hints(PARIS);
    let offered = pin(client.actions_at(PARIS, "|hardened: false"));
    let (title, edit) = offered.expect("a pin");
    assert_eq!(
        title,
        "Pin `ubuntu-noble-plain-rke2-1-31-8` instead of the selector"
    );
    client.apply(&edit);
    let expected =
        "  capm3:\n    image_key: ubuntu-noble-plain-rke2-1-31-8\n  control_plane_replicas";
    assert!(
        client.text(PARIS).contains(expected),
        "{}",
        client.text(PARIS)
    );
    let boots = |hints: &[String]| -> Vec<String> {
        let boots = hints
            .iter()
            .map(|hint| hint.split_once('→').expect("a hint").1.to_owned());
        boots.collect()
    };
    assert_eq!(boots(&client.hints(PARIS)), boots(&before));
    assert_eq!(client.findings(PARIS), [""; 0]);
    // Where there is no selector, and where a pool would boot another image, there is no pin.
    assert_eq!(pin(client.actions_at(PARIS, "image_key: open|suse")), None);
    client.open(LYON);
    client.replace(
        LYON,
        "    image_key: ubuntu-noble-plain-kubeadm-1-31-8\n",
        "    os_image_selector: {os: opensuse|ubuntu}\n",
    );
    assert_eq!(pin(client.actions_at(LYON, "{os: open|suse")), None);
}

#[test]
fn registries_are_offered_by_name_and_by_prefix() {
    let folder = sylva();
    let mut client = Client::start(folder.path(), &usual());
    client.open(UNITS);
    client.open("metalmark.yaml");
    client.settled(UNITS);
    let catalog = "  opensuse-15-6-plain-kubeadm-1-31-8:\n    os_images_oci_registry: ";
    client.replace(UNITS, &format!("{catalog}sylva"), &format!("{catalog}s"));
    let names = client.completion(UNITS, &format!("{catalog}s|"));
    assert_eq!(names, ["sylva (a registry)"]);
    client.replace(
        "metalmark.yaml",
        "    registry.example.org/sylva-projects: oci",
        "    reg\n    registry.example.org/sylva-projects: oci",
    );
    let prefixes = client.completion("metalmark.yaml", "    reg|\n");
    assert_eq!(
        prefixes,
        [
            "registry.example.org (images of the catalog)",
            "registry.example.org/sylva-projects (images of the catalog)",
            "registry.example.org/sylva-projects/sylva-elements (images of the catalog)",
            "registry.example.org/sylva-projects/sylva-elements/diskimage-builder (images of the catalog)",
        ]
    );
}
