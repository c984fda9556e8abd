//! What an editor shows of values: what they evaluate to, and the files and images that they name.

use serde_json::Value;
use snapbox::str;

use super::{LYON, PARIS, UNITS, sylva};
use crate::support::lsp::{Client, assert_lines};

#[test]
fn a_hover_of_a_value_is_what_values_prints_with_why() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[UNITS, PARIS]);
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
        let printed = sylva.run(&format!("values mgmt {path} --why")).exit(0);
        let printed = printed.outcome.stdout;
        assert!(hover.contains(printed.trim_end()), "{hover}");
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
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[LYON]);
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
    let kustomization = "flux/kustomization.yaml";
    let text = "resources: [base, ../no/such]
configMapGenerator:
  - name: values
    files: [values.yaml=../environment-values/mgmt/values.yaml]
secretGenerator:
  - name: outside
    files: [../../../../etc/passwd, ../environment-values/mgmt/secrets.yaml]
";
    let sylva = sylva()
        .file(kustomization, text)
        .file("flux/base/kustomization.yml", "resources: []\n");
    let mut client = Client::start(&sylva, &["metalmark.yaml", kustomization]);
    let top = client.uri("x").trim_end_matches('x').to_owned();
    let mut places = Vec::new();
    for part in [
        "mgmt|/values.yaml",
        "mgmt/|secrets.yaml",
        "[ba|se,",
        "no/su|ch",
        "etc/pas|swd",
        "name: |values",
    ] {
        let answer = client.about("textDocument/definition", kustomization, part);
        let uris = answer.as_array().expect("places").iter();
        let uris = uris.map(|place| place["uri"].as_str().expect("a text"));
        let paths: Vec<String> = uris.map(|uri| uri.replace(&top, "")).collect();
        places.push(format!("{part} → {}", paths.join(" ")));
    }
    assert_lines(
        &places,
        str![[r#"
mgmt|/values.yaml → environment-values/mgmt/values.yaml
mgmt/|secrets.yaml → environment-values/mgmt/secrets.yaml
[ba|se, → flux/base/kustomization.yml
no/su|ch → 
etc/pas|swd → 
name: |values → 

"#]],
    );
}

#[test]
fn a_selector_is_replaced_by_the_key_of_its_image() {
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[PARIS]);
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
    let sylva = sylva();
    let mut client = Client::start(&sylva, &[UNITS, "metalmark.yaml"]);
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
    assert_lines(
        &prefixes,
        str![[r#"
registry.example.org (images of the catalog)
registry.example.org/sylva-projects (images of the catalog)
registry.example.org/sylva-projects/sylva-elements (images of the catalog)
registry.example.org/sylva-projects/sylva-elements/diskimage-builder (images of the catalog)

"#]],
    );
}
