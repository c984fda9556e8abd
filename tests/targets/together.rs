//! What a run renders, taken together: no object meets another one, every folder builds, and errors keep a cluster out.

use std::fs;
use std::path::Path;

use tempfile::TempDir;

use crate::support::{Metalmark, Outcome};

const IMAGES: &str = "\
os_images:
  img-a: &image {uri: https://images.example.org/a.raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', image-format: raw, k8s-version: 1.31.8, k8s-flavor: kubeadm}
  img-b: {<<: *image, uri: https://images.example.org/b.raw, sha256: 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb'}
";

/// A cluster that boots an image; its name in its values may be another one than in the project.
fn values(name: &str, image: &str) -> String {
    format!(
        "{IMAGES}cluster: {{{name}k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}, capm3: {{image_key: img-{image}}}}}\n"
    )
}

/// Two clusters that boot two images, with these entries and outputs.
fn two(one: &str, two: &str, names: [&str; 2], outputs: &str) -> TempDir {
    let scratch = tempfile::tempdir().expect("a folder");
    let project = format!(
        "version: 1\nclusters:\n  - {{name: one, values: [one.yaml]{one}}}\n  - {{name: two, values: [two.yaml]{two}}}\noutputs:\n{outputs}"
    );
    for (name, text) in [
        ("metalmark.yaml", project),
        ("one.yaml", values(names[0], "a")),
        ("two.yaml", values(names[1], "b")),
    ] {
        fs::write(scratch.path().join(name), text).expect("written");
    }
    scratch
}

fn render(folder: &Path, arguments: &[&str]) -> Outcome {
    let all = ["render"].into_iter().chain(arguments.iter().copied());
    Metalmark::within(folder).args(all).run()
}

const FLUX: &str = "  - {target: flux, path: flux}\n";
const FLEET: &str = ", namespace: fleet";
const ONE_NAME: [&str; 2] = ["name: cluster, ", "name: cluster, "];

#[test]
fn two_clusters_that_render_one_object_are_an_error() {
    let outputs = |path: &str, more: &str| format!("  - {{target: flux, path: '{path}'{more}}}\n");
    let named = ", release: '{{ cluster.name }}', config-map: '{{ cluster.name }}-images'";
    let argocd = ", repo-url: https://git.example.org/charts.git";
    for (entries, names, outputs, wrong) in [
        // Both are in one namespace, with one release and one ConfigMap.
        (
            [FLEET; 2],
            [""; 2],
            outputs("flux", ""),
            vec![
                "ConfigMap `fleet/os-images-info`",
                "HelmRelease `fleet/cluster`",
            ],
        ),
        (
            [FLEET; 2],
            [""; 2],
            outputs("{{ cluster.name }}", ""),
            vec![
                "ConfigMap `fleet/os-images-info`",
                "HelmRelease `fleet/cluster`",
            ],
        ),
        ([FLEET; 2], [""; 2], outputs("flux", named), vec![]),
        // In namespaces of their own they meet nowhere, whatever their values call them.
        ([""; 2], [""; 2], outputs("flux", ""), vec![]),
        ([""; 2], ONE_NAME, outputs("flux", ""), vec![]),
        // Two Clusters of one name and namespace are on two API servers: each needs its own folder.
        (
            [FLEET; 2],
            ONE_NAME,
            outputs("flux", ""),
            vec![
                "ConfigMap `fleet/os-images-info`",
                "HelmRelease `fleet/cluster`",
            ],
        ),
        (
            [FLEET; 2],
            ONE_NAME,
            outputs("flux/{{ cluster.name }}", ""),
            vec![],
        ),
        // A component is listed by the kustomization of each cluster's own release.
        (
            [FLEET; 2],
            ONE_NAME,
            outputs("flux", ", patch: sylva-units"),
            vec![],
        ),
        // The project says which API server has them.
        (
            [
                ", namespace: fleet, management: one",
                ", namespace: fleet, management: two",
            ],
            [""; 2],
            outputs("flux", ""),
            vec![],
        ),
        // A cluster that another one names is on its own API server.
        (
            [", namespace: fleet", ", namespace: fleet, management: one"],
            ONE_NAME,
            outputs("{{ cluster.name }}", ""),
            vec![
                "ConfigMap `fleet/os-images-info`",
                "HelmRelease `fleet/cluster`",
            ],
        ),
        (
            [
                ", namespace: fleet, management: one",
                ", namespace: fleet, management: one",
            ],
            ONE_NAME,
            outputs("{{ cluster.name }}", ""),
            vec![
                "ConfigMap `fleet/os-images-info`",
                "HelmRelease `fleet/cluster`",
            ],
        ),
        // Argo CD's folder is applied as a whole.
        (
            [FLEET; 2],
            [""; 2],
            format!("  - {{target: argocd, path: argo{argocd}}}\n"),
            vec!["ConfigMap `fleet/os-images-info`"],
        ),
        (
            [""; 2],
            ONE_NAME,
            format!("  - {{target: argocd, path: argo{argocd}}}\n"),
            vec![],
        ),
        (
            [""; 2],
            ONE_NAME,
            "  - {target: flux-artifact, path: flux}\n  - {target: flux-resourceset, path: sets}\n"
                .to_owned(),
            vec![],
        ),
    ] {
        let scratch = two(entries[0], entries[1], names, &outputs);
        let outcome = render(scratch.path(), &[]);
        let found: Vec<&str> = outcome
            .stderr
            .lines()
            .filter_map(|line| line.strip_prefix("error[object-duplicate]: "))
            .collect();
        let wrong_here = format!("{entries:?} {names:?} {outputs}{}", outcome.stderr);
        assert_eq!(found.len(), wrong.len(), "{wrong_here}");
        for (found, wanted) in found.iter().zip(&wrong) {
            assert!(
                found.starts_with(&format!("{wanted} is rendered twice: ")),
                "{wrong_here}"
            );
        }
        assert_eq!(outcome.status, i32::from(!wrong.is_empty()), "{wrong_here}");
        let is_written = ["flux", "argo", "one"]
            .iter()
            .any(|name| scratch.path().join(name).exists());
        assert_eq!(is_written, wrong.is_empty(), "{wrong_here}");
    }
}

#[test]
fn two_outputs_with_one_object_of_a_cluster_are_a_warning() {
    let outputs = format!("{FLUX}  - {{target: configmap, path: shared, scope: cluster}}\n");
    let scratch = two("", "", [""; 2], &outputs);
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let warning = "warning[object-duplicate]: ConfigMap `one/os-images-info` is rendered twice";
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
    // Of a shared object too.
    let outputs = format!("{FLUX}  - {{target: configmap, path: shared, namespace: one}}\n");
    let scratch = two("", "", [""; 2], &outputs);
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stderr.contains(warning), "{}", outcome.stderr);
}

#[test]
fn the_policy_decides_about_objects_that_meet() {
    let outputs = format!("{FLUX}policy: {{rules: {{object-duplicate: off}}}}\n");
    let scratch = two(FLEET, FLEET, [""; 2], &outputs);
    assert_eq!(render(scratch.path(), &[]).status, 0);
}

#[test]
fn a_file_for_all_clusters_has_one_image_under_a_key() {
    let one_file = [
        "{target: configmap, path: out}",
        "{target: flux-resourceset, path: out, form: inputs}",
        "{target: helm-values, path: out, chart: sylva-capi-cluster}",
    ];
    let own_files = [
        "{target: configmap, path: out, scope: cluster}",
        "{target: configmap, path: 'out/{{ cluster.name }}', scope: cluster}",
        "{target: flux-resourceset, path: 'out/{{ cluster.name }}', form: inputs}",
        "{target: helm-values, path: 'out/{{ cluster.name }}', chart: sylva-capi-cluster}",
        "{target: helm-values, path: out}",
        "{target: manifests, path: out}",
        "{target: flux, path: out}",
    ];
    let differs = ["aaaa'", "aaab'"];
    let edits = [differs, ["kubeadm}", "kubeadm, os: ubuntu}"]];
    for output in one_file.iter().chain(&own_files) {
        let scratch = two("", "", [""; 2], &format!("  - {output}\n"));
        let outcome = render(scratch.path(), &["--check"]);
        assert_eq!(outcome.stderr, "", "{output}: alike");
        for [old, new] in edits {
            // The second cluster's own entry of the image of the first.
            let values = values("", "a").replacen(old, new, 1);
            fs::write(scratch.path().join("two.yaml"), values).expect("written");
            let outcome = render(scratch.path(), &[]);
            let collides = outcome.stderr.contains("error[image-name-collision]");
            assert_eq!(
                collides,
                one_file.contains(output),
                "{output}: {}",
                outcome.stderr
            );
            assert_eq!(
                outcome.status,
                i32::from(collides),
                "{output}: {}",
                outcome.stderr
            );
            let is_written = scratch.path().join("out").exists();
            assert_eq!(is_written, !collides, "{output}");
        }
    }
}

#[test]
fn a_template_of_the_project_file_is_wrong_where_the_file_has_it() {
    for (key, outputs) in [
        (
            "url:",
            "  - {target: manifests, path: out}\nimages:\n  url: 'https://x/{{ image.wrong }}'\n",
        ),
        (
            "{target",
            "  - {target: manifests, path: 'out/{{ cluster.nam }}'}\n",
        ),
        (
            "{target",
            "  - {target: flux, path: out, release: '{{ cluster.nam }}'}\n",
        ),
    ] {
        let scratch = two("", "", [""; 2], outputs);
        let outcome = render(scratch.path(), &[]);
        let project = fs::read_to_string(scratch.path().join("metalmark.yaml")).expect("read");
        let line = project
            .lines()
            .position(|line| line.contains(key))
            .expect("there")
            + 1;
        let place = format!("--> metalmark.yaml:{line}:");
        assert!(
            outcome.stderr.contains("error[template-error]"),
            "{}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.contains(&place),
            "{place}: {}",
            outcome.stderr
        );
    }
}

/// A sha512 was once no checksum, although Metal3 takes it.
#[test]
fn a_sha512_is_a_checksum() {
    let scratch = two("", "", [""; 2], "  - {target: manifests, path: out}\n");
    for name in ["one", "two"] {
        let file = scratch.path().join(format!("{name}.yaml"));
        let text = fs::read_to_string(&file).expect("read");
        let digest = |letter: &str| format!("sha256: '{}'", letter.repeat(64));
        let sha512 = |letter: &str| format!("sha512: '{}'", letter.repeat(128));
        let text = text
            .replace(&digest("a"), &sha512("a"))
            .replace(&digest("b"), &sha512("b"));
        fs::write(file, text).expect("written");
    }
    let outcome = render(scratch.path(), &["--stdout"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome.stdout.contains("checksumType: sha512"),
        "{}",
        outcome.stdout
    );
}

/// A file that lists images and is left out where there are none was once not taken for one of all clusters.
#[test]
fn a_file_for_all_clusters_is_whole_in_a_shard_and_in_a_second_run() {
    let output = "  - {target: helm-values, path: out, chart: sylva-capi-cluster}\n";
    let made = |arguments: &[&[&str]]| {
        let scratch = two("", "", [""; 2], output);
        // Its own images, not those that both have.
        for (name, image) in [("one", "a"), ("two", "b")] {
            let file = scratch.path().join(format!("{name}.yaml"));
            let values = values("", image).replace("img-", &format!("{name}-"));
            fs::write(file, values).expect("written");
        }
        for arguments in arguments {
            let outcome = render(scratch.path(), arguments);
            assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        }
        fs::read_to_string(scratch.path().join("out/os-images.values.yaml")).expect("rendered")
    };
    let whole = made(&[&[]]);
    assert!(
        whole.contains("one-a") && whole.contains("two-b"),
        "{whole}"
    );
    assert_eq!(made(&[&["--shard", "1/2"], &["--shard", "2/2"]]), whole);
    assert_eq!(made(&[&[], &[]]), whole);
}

#[test]
fn keep_going_writes_no_cluster_whose_files_are_wrong() {
    let outputs = "  - {target: manifests, path: rendered}\n";
    let scratch = two("", "", ["name: Edge_7, ", ""], outputs);
    let outcome = render(scratch.path(), &["--keep-going"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("manifest-invalid"),
        "{}",
        outcome.stderr
    );
    let rendered = scratch.path().join("rendered");
    assert!(rendered.join("two.yaml").is_file());
    assert!(!rendered.join("one.yaml").exists(), "`Edge_7` is no name");
    // On a stream too.
    let outcome = render(scratch.path(), &["--keep-going", "--stdout"]);
    assert!(outcome.stdout.contains("name: two-") && !outcome.stdout.contains("Edge_7"));
    // An earlier file stays.
    fs::write(scratch.path().join("one.yaml"), values("", "a")).expect("written");
    assert_eq!(render(scratch.path(), &[]).status, 0);
    fs::write(
        scratch.path().join("one.yaml"),
        values("name: Edge_7, ", "a"),
    )
    .expect("written");
    assert_eq!(render(scratch.path(), &["--keep-going"]).status, 1);
    assert!(rendered.join("one.yaml").is_file());
}

#[test]
fn keep_going_writes_no_clusters_that_render_one_object() {
    let scratch = two(FLEET, FLEET, [""; 2], FLUX);
    let third = scratch.path().join("metalmark.yaml");
    let text = fs::read_to_string(&third).expect("text");
    let entry = "  - {name: three, values: [two.yaml]}\noutputs:";
    fs::write(&third, text.replace("outputs:", entry)).expect("written");
    let outcome = render(scratch.path(), &["--keep-going"]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let flux = scratch.path().join("flux");
    let root = fs::read_to_string(flux.join("kustomization.yaml")).expect("written");
    assert!(
        root.contains("- three.yaml") && !root.contains("- one.yaml"),
        "{root}"
    );
    assert!(flux.join("three/helmrelease.yaml").is_file() && !flux.join("one").exists());
}

#[test]
fn a_cluster_name_that_is_no_label_is_an_error() {
    let long = "n".repeat(64);
    for (name, is_legal) in [(&long[..63], true), (&long[..], false)] {
        let scratch = two("", "", [""; 2], FLUX);
        let project = scratch.path().join("metalmark.yaml");
        let text = fs::read_to_string(&project).expect("text");
        let text = text.replace("name: one,", &format!("name: {name}, namespace: one,"));
        fs::write(&project, text).expect("written");
        let outcome = render(scratch.path(), &[]);
        assert_eq!(outcome.status == 0, is_legal, "{}", outcome.stderr);
        let told = outcome
            .stderr
            .contains("Flux writes it as a label of the objects");
        assert_eq!(told, !is_legal, "{}", outcome.stderr);
    }
}

#[test]
fn a_folder_of_one_cluster_applies_its_objects_once() {
    for target in ["flux", "flux-artifact", "flux-resourceset"] {
        let outputs = format!("  - {{target: {target}, path: 'out/{{{{ cluster.name }}}}'}}\n");
        let scratch = two("", "", [""; 2], &outputs);
        assert_eq!(render(scratch.path(), &[]).status, 0);
        let root = scratch.path().join("out/one/kustomization.yaml");
        let root = fs::read_to_string(root).expect("a kustomization");
        assert!(
            root.ends_with("resources:\n- one.yaml\n"),
            "{target}: {root}"
        );
    }
}

#[test]
fn an_option_may_name_the_cluster() {
    let outputs = "  - {target: argocd, path: argo, repo-url: https://git.example.org/charts.git, server: 'https://{{ cluster.name }}.example.org', chart-path: 'charts/{{ .path }}'}\n";
    let scratch = two("", "", [""; 2], outputs);
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let text = fs::read_to_string(scratch.path().join("argo/two.yaml")).expect("written");
    assert!(text.contains("server: https://two.example.org\n"), "{text}");
    // An expression of another program stays.
    assert!(text.contains("charts/{{ .path }}"), "{text}");
    let wrong = outputs.replace("cluster.name", "cluster.nam");
    let scratch = two("", "", [""; 2], &wrong);
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 1);
    assert!(
        outcome.stderr.contains("template `outputs[0].server`"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn a_folder_of_the_configmap_target_contains_objects_only() {
    for scope in ["shared", "cluster"] {
        let outputs = format!(
            "  - {{target: configmap, path: shared, scope: {scope}, openstack-images-uuids: true}}\n"
        );
        let scratch = two("", "", [""; 2], &outputs);
        assert_eq!(render(scratch.path(), &[]).status, 0);
        for entry in fs::read_dir(scratch.path().join("shared")).expect("a folder") {
            let path = entry.expect("an entry").path();
            let is_yaml = path
                .extension()
                .is_some_and(|end| end == "yaml" || end == "yml" || end == "json");
            if is_yaml {
                let text = fs::read_to_string(&path).expect("text");
                assert!(
                    text.contains("\nkind: ConfigMap\n"),
                    "{}: {text}",
                    path.display()
                );
            }
        }
    }
}

#[test]
fn a_required_field_is_missed_without_a_folder_of_crds() {
    let values = |network: &str| {
        format!(
            "\
os_images: {{img-a: {{uri: https://images.example.org/a.ova, sha256: '{}', image-format: ova, k8s-version: 1.31.8, k8s-flavor: kubeadm, locations.vsphere.template: tpl}}}}
cluster:
  k8s_version: v1.31.8
  capi_providers: {{infra_provider: capv, bootstrap_provider: cabpk}}
  capv: {{image_key: img-a{network}}}
",
            "a".repeat(64)
        )
    };
    let scratch = two("", "", [""; 2], "  - {target: manifests, path: rendered}\n");
    let one = scratch.path().join("one.yaml");
    fs::write(&one, values("")).expect("written");
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    let found = "`spec.template.spec` `network` is required";
    assert!(outcome.stderr.contains(found), "{}", outcome.stderr);
    let help = "`schemas: FOLDER` names the CRDs of your release";
    assert!(outcome.stderr.contains(help), "{}", outcome.stderr);
    let network = ", networks: {default: {networkName: vms}}";
    fs::write(&one, values(network)).expect("written");
    let outcome = render(scratch.path(), &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
}
