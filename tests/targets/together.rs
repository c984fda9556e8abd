//! What a run renders, taken together: no object meets another one, every folder builds, and errors keep a cluster out.

use snapbox::str;

use super::lines_with;
use crate::support::stage::{Stage, assert_text, project, table};

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

/// Two clusters that boot two images, with more in their entries, and these outputs.
fn two(entries: [&str; 2], outputs: &str) -> Stage {
    let [one, two] = entries;
    let clusters = format!(
        "version: 1\nclusters:\n  - {{name: one, values: [one.yaml]{one}}}\n  - {{name: two, values: [two.yaml]{two}}}\n"
    );
    project().files(&[
        (
            "metalmark.yaml",
            &format!("{clusters}outputs:\n  - {outputs}\n"),
        ),
        ("one.yaml", &values("", "a")),
        ("two.yaml", &values("", "b")),
    ])
}

const NONE: [&str; 2] = [""; 2];
const FLUX: &str = "{target: flux, path: flux}";
const FLEET: [&str; 2] = [", namespace: fleet"; 2];

#[test]
fn two_clusters_that_render_one_object_are_an_error() {
    let flux = |path: &str, more: &str| format!("{{target: flux, path: '{path}'{more}}}");
    let argocd = "{target: argocd, path: argo, repo-url: https://git.example.org/charts.git}";
    let named = ", release: '{{ cluster.name }}', config-map: '{{ cluster.name }}-images'";
    let managed = |one: &'static str, two: &'static str| {
        [one, two].map(|name| format!(", namespace: fleet, management: {name}"))
    };
    let [own_one, own_two] = managed("one", "two");
    // In namespaces of their own they meet nowhere, whatever their values call them. Two Clusters of one name and namespace are on
    // two API servers: each needs its own folder. The project may say which server has them; one that another names is on its own.
    // Argo CD's folder is applied as a whole. A component is listed by the kustomization of each cluster's own release.
    let cases = [
        (FLEET, false, flux("flux", "")),
        (FLEET, false, flux("{{ cluster.name }}", "")),
        (FLEET, false, flux("flux", named)),
        (NONE, false, flux("flux", "")),
        (NONE, true, flux("flux", "")),
        (FLEET, true, flux("flux", "")),
        (FLEET, true, flux("flux/{{ cluster.name }}", "")),
        (FLEET, true, flux("flux", ", patch: sylva-units")),
        ([&own_one, &own_two], false, flux("flux", "")),
        ([FLEET[0], &own_one], true, flux("{{ cluster.name }}", "")),
        ([&own_one, &own_one], true, flux("{{ cluster.name }}", "")),
        (FLEET, false, argocd.to_owned()),
        (NONE, true, argocd.to_owned()),
        (
            NONE,
            true,
            "{target: flux-artifact, path: flux}\n  - {target: flux-resourceset, path: sets}"
                .to_owned(),
        ),
    ];
    let title = |(entries, has_one_name, outputs): &([&str; 2], bool, String)| {
        let names = if *has_one_name {
            "one name"
        } else {
            "two names"
        };
        format!("{entries:?} {names} {outputs:?}")
    };
    let met = table(cases.iter().map(title), |wanted| {
        let case = cases.iter().find(|case| title(case) == *wanted);
        let (entries, has_one_name, outputs) = case.expect("a case");
        let stage = two(*entries, outputs);
        if *has_one_name {
            stage.write("one.yaml", values("name: cluster, ", "a"));
            stage.write("two.yaml", values("name: cluster, ", "b"));
        }
        let outcome = stage.run("render").outcome;
        let found = lines_with(&outcome.stderr, &["error[object-duplicate]"]);
        assert_eq!(
            outcome.status,
            i32::from(!found.is_empty()),
            "{}",
            outcome.stderr
        );
        let is_written = stage.list("").len() > 3;
        assert_eq!(is_written, found.is_empty(), "{}", outcome.stderr);
        let objects = found
            .iter()
            .map(|line| line.split(" is rendered twice: ").next());
        objects.flatten().map(str::to_owned).collect()
    });
    assert_text(
        &met,
        str![[r#"
[", namespace: fleet", ", namespace: fleet"] two names "{target: flux, path: 'flux'}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
    error[object-duplicate]: HelmRelease `fleet/cluster`
[", namespace: fleet", ", namespace: fleet"] two names "{target: flux, path: '{{ cluster.name }}'}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
    error[object-duplicate]: HelmRelease `fleet/cluster`
[", namespace: fleet", ", namespace: fleet"] two names "{target: flux, path: 'flux', release: '{{ cluster.name }}', config-map: '{{ cluster.name }}-images'}"
["", ""] two names "{target: flux, path: 'flux'}"
["", ""] one name "{target: flux, path: 'flux'}"
[", namespace: fleet", ", namespace: fleet"] one name "{target: flux, path: 'flux'}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
    error[object-duplicate]: HelmRelease `fleet/cluster`
[", namespace: fleet", ", namespace: fleet"] one name "{target: flux, path: 'flux/{{ cluster.name }}'}"
[", namespace: fleet", ", namespace: fleet"] one name "{target: flux, path: 'flux', patch: sylva-units}"
[", namespace: fleet, management: one", ", namespace: fleet, management: two"] two names "{target: flux, path: 'flux'}"
[", namespace: fleet", ", namespace: fleet, management: one"] one name "{target: flux, path: '{{ cluster.name }}'}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
    error[object-duplicate]: HelmRelease `fleet/cluster`
[", namespace: fleet, management: one", ", namespace: fleet, management: one"] one name "{target: flux, path: '{{ cluster.name }}'}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
    error[object-duplicate]: HelmRelease `fleet/cluster`
[", namespace: fleet", ", namespace: fleet"] two names "{target: argocd, path: argo, repo-url: https://git.example.org/charts.git}"
    error[object-duplicate]: ConfigMap `fleet/os-images-info`
["", ""] one name "{target: argocd, path: argo, repo-url: https://git.example.org/charts.git}"
["", ""] one name "{target: flux-artifact, path: flux}\n  - {target: flux-resourceset, path: sets}"

"#]],
    );
}

#[test]
fn two_outputs_with_one_object_of_a_cluster_are_a_warning_and_the_policy_decides() {
    let outputs = [
        (
            NONE,
            format!("{FLUX}\n  - {{target: configmap, path: shared, scope: cluster}}"),
        ),
        (
            NONE,
            format!("{FLUX}\n  - {{target: configmap, path: shared, namespace: one}}"),
        ),
        (
            FLEET,
            format!("{FLUX}\npolicy: {{rules: {{object-duplicate: off}}}}"),
        ),
    ];
    let found = outputs.map(|(entries, outputs)| {
        let stderr = two(entries, &outputs).run("render").exit(0).outcome.stderr;
        lines_with(&stderr, &["[object-duplicate]"]).join("\n") + "\n--\n"
    });
    assert_text(
        &found.concat(),
        str![[r#"
warning[object-duplicate]: ConfigMap `one/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `shared/one-os-images-info.yaml`
warning[object-duplicate]: ConfigMap `two/os-images-info` is rendered twice: `flux/two/objects/os-images-info.yaml` and `shared/two-os-images-info.yaml`
--
warning[object-duplicate]: ConfigMap `one/os-images-info` is rendered twice: `flux/one/objects/os-images-info.yaml` and `shared/os-images-info.yaml`
--

--

"#]],
    );
}

#[test]
fn a_file_for_all_clusters_has_one_image_under_a_key() {
    let outputs = [
        "{target: configmap, path: out}",
        "{target: flux-resourceset, path: out, form: inputs}",
        "{target: helm-values, path: out, chart: sylva-capi-cluster}",
        "{target: configmap, path: out, scope: cluster}",
        "{target: configmap, path: 'out/{{ cluster.name }}', scope: cluster}",
        "{target: flux-resourceset, path: 'out/{{ cluster.name }}', form: inputs}",
        "{target: helm-values, path: 'out/{{ cluster.name }}', chart: sylva-capi-cluster}",
        "{target: helm-values, path: out}",
        "{target: manifests, path: out}",
        "{target: flux, path: out}",
    ];
    let met = table(outputs, |output| {
        let stage = two(NONE, output);
        assert_eq!(stage.run("render --check").outcome.stderr, "", "{output}");
        let edits = [["aaaa'", "aaab'"], ["kubeadm}", "kubeadm, os: ubuntu}"]];
        let found = edits.map(|[old, new]| {
            // The second cluster's own entry of the image of the first.
            stage.write("two.yaml", values("", "a").replacen(old, new, 1));
            let outcome = stage.run("render").outcome;
            let collides = outcome.stderr.contains("error[image-name-collision]");
            assert_eq!(outcome.status, i32::from(collides), "{}", outcome.stderr);
            assert_eq!(stage.list("out").is_empty(), collides, "{output}");
            if collides { "refused" } else { "rendered" }
        });
        vec![found.join(", ")]
    });
    assert_text(
        &met,
        str![[r#"
{target: configmap, path: out}
    refused, refused
{target: flux-resourceset, path: out, form: inputs}
    refused, refused
{target: helm-values, path: out, chart: sylva-capi-cluster}
    refused, refused
{target: configmap, path: out, scope: cluster}
    rendered, rendered
{target: configmap, path: 'out/{{ cluster.name }}', scope: cluster}
    rendered, rendered
{target: flux-resourceset, path: 'out/{{ cluster.name }}', form: inputs}
    rendered, rendered
{target: helm-values, path: 'out/{{ cluster.name }}', chart: sylva-capi-cluster}
    rendered, rendered
{target: helm-values, path: out}
    rendered, rendered
{target: manifests, path: out}
    rendered, rendered
{target: flux, path: out}
    rendered, rendered

"#]],
    );
}

#[test]
fn a_template_of_the_project_file_is_wrong_where_the_file_has_it() {
    let outputs = [
        "{target: manifests, path: out}\nimages:\n  url: 'https://x/{{ image.wrong }}'",
        "{target: manifests, path: 'out/{{ cluster.nam }}'}",
        "{target: flux, path: out, release: '{{ cluster.nam }}'}",
        "{target: argocd, path: argo, repo-url: https://git.example.org/charts.git, server: 'https://{{ cluster.nam }}.example.org'}",
    ];
    let wrong = table(outputs, |output| {
        let stderr = two(NONE, output).run("render").exit(1).outcome.stderr;
        lines_with(&stderr, &["error[", "-->"])
    });
    assert_text(
        &wrong,
        str![[r#"
{target: manifests, path: out}
images:
  url: 'https://x/{{ image.wrong }}'
    error[template-error]: template `images.url` cannot be rendered: undefined value: `image.wrong` is undefined
    --> metalmark.yaml:8:8
{target: manifests, path: 'out/{{ cluster.nam }}'}
    error[template-error]: template `outputs[0].path` cannot be rendered: undefined value: `cluster.nam` is undefined
    --> metalmark.yaml:6:5
{target: flux, path: out, release: '{{ cluster.nam }}'}
    error[template-error]: template `outputs[0].release` cannot be rendered: undefined value: `cluster.nam` is undefined
    --> metalmark.yaml:6:5
    error[manifest-invalid]: rendered file `out/one/objects/helmrelease.yaml`: HelmRelease `{{ cluster.nam }}`: `{{ cluster.nam }}` is not a legal name: Flux writes it as a label of the objects that it applies, at most 63
    --> out/one/objects/helmrelease.yaml:5:9
    error[manifest-invalid]: rendered file `out/one/objects/helmrelease.yaml`: HelmRelease `{{ cluster.nam }}`: `{{ cluster.nam }}` is not a legal name: lower-case letters, digits, `-` and `.`, at most 253
    --> out/one/objects/helmrelease.yaml:5:9
    error[manifest-invalid]: rendered file `out/two/objects/helmrelease.yaml`: HelmRelease `{{ cluster.nam }}`: `{{ cluster.nam }}` is not a legal name: Flux writes it as a label of the objects that it applies, at most 63
    --> out/two/objects/helmrelease.yaml:5:9
    error[manifest-invalid]: rendered file `out/two/objects/helmrelease.yaml`: HelmRelease `{{ cluster.nam }}`: `{{ cluster.nam }}` is not a legal name: lower-case letters, digits, `-` and `.`, at most 253
    --> out/two/objects/helmrelease.yaml:5:9
{target: argocd, path: argo, repo-url: https://git.example.org/charts.git, server: 'https://{{ cluster.nam }}.example.org'}
    error[template-error]: template `outputs[0].server` cannot be rendered: undefined value: `cluster.nam` is undefined
    --> metalmark.yaml:6:5

"#]],
    );
}

/// A sha512 was once no checksum, although Metal3 takes it.
#[test]
fn a_sha512_is_a_checksum() {
    let stage = two(NONE, "{target: manifests, path: out}");
    for name in ["one.yaml", "two.yaml"] {
        let mut text = stage.read(name);
        for letter in ["a", "b"] {
            let sha256 = format!("sha256: '{}'", letter.repeat(64));
            text = text.replace(&sha256, &format!("sha512: '{}'", letter.repeat(128)));
        }
        stage.write(name, text);
    }
    let stream = stage.run("render --stdout").exit(0).outcome.stdout;
    assert!(stream.contains("checksumType: sha512"), "{stream}");
}

/// A file that lists images and is left out where there are none was once not taken for one of all clusters.
#[test]
fn a_file_for_all_clusters_is_whole_in_a_second_run() {
    let make = |runs: &[&str]| {
        let stage = two(
            NONE,
            "{target: helm-values, path: out, chart: sylva-capi-cluster}",
        );
        // Its own images, not those that both have.
        for (name, image) in [("one", "a"), ("two", "b")] {
            let values = values("", image).replace("img-", &format!("{name}-"));
            stage.write(&format!("{name}.yaml"), values);
        }
        for words in runs {
            stage.run(words).exit(0);
        }
        stage.read("out/os-images.values.yaml")
    };
    let whole = make(&["render"]);
    assert!(
        whole.contains("one-a") && whole.contains("two-b"),
        "{whole}"
    );
    assert_eq!(make(&["render", "render"]), whole);
}

/// A cluster with an error was taken out of what Flux applies, and its images out of what all clusters share.
#[test]
fn a_cluster_with_an_error_keeps_its_files_and_its_part_of_shared_ones() {
    for target in ["flux", "flux-artifact", "flux-resourceset"] {
        let outputs =
            format!("{{target: {target}, path: flux}}\n  - {{target: configmap, path: shared}}");
        let stage = two(NONE, &outputs);
        let (wrong, right) = (values("", "nope"), values("", "a"));
        stage.write("one.yaml", &right).run("render").exit(0);
        let before = stage.texts();
        stage.write("one.yaml", &wrong).run("render").exit(1);
        let said = stage.run("render two").exit(0).outcome.stderr;
        assert!(said.contains("stay as they are"), "{said}");
        stage.run("render one").exit(1);
        stage.write("one.yaml", &right);
        assert_eq!(stage.texts(), before, "{target}");
    }
}

#[test]
fn named_clusters_alone_are_looked_at_and_written() {
    let stage = two(NONE, "{target: manifests, path: rendered}");
    stage.run("render two").exit(0);
    assert_eq!(stage.list("rendered"), ["two.yaml"]);
    stage.write("one.yaml", "a: [");
    stage.run("check two").exit(0);
    stage.run("render --check two").exit(0);
    stage.run("check").exit(1);
    let said = stage.run("render --check tow").exit(2).outcome.stderr;
    assert!(said.contains("did you mean `two`?"), "{said}");
    // A cluster that is gone is not what was named.
    stage.edit(
        "metalmark.yaml",
        "  - {name: one, values: [one.yaml]}\n",
        "",
    );
    stage.write(
        "rendered/one.yaml",
        "# Rendered by metalmark for cluster one; edit the values, not this file.\n",
    );
    stage.run("render two").exit(0);
    assert_eq!(stage.list("rendered"), ["one.yaml", "two.yaml"]);
    stage.run("render").exit(0);
    assert_eq!(stage.list("rendered"), ["two.yaml"]);
}

#[test]
fn a_cluster_name_that_is_no_label_is_an_error() {
    let long = "n".repeat(64);
    for (name, is_legal) in [(&long[..63], true), (&long[..], false)] {
        let stage = two(NONE, FLUX);
        let named = format!("name: {name}, namespace: one,");
        stage.edit("metalmark.yaml", "name: one,", &named);
        let run = stage.run("render").exit(i32::from(!is_legal));
        let told = "Flux writes it as a label of the objects";
        assert_eq!(run.outcome.stderr.contains(told), !is_legal);
    }
}

/// Of a folder without a kustomization Flux applies every file, and each folder that has one as that says.
#[test]
fn no_file_lists_the_clusters_that_flux_applies() {
    for target in ["flux", "flux-artifact", "flux-resourceset"] {
        for path in ["out", "out/{{ cluster.name }}"] {
            let stage = two(NONE, &format!("{{target: {target}, path: '{path}'}}"));
            stage.run("render").exit(0);
            let naming = |path: &String| {
                let text = stage.read(&format!("out/{path}"));
                text.contains("one") && text.contains("two")
            };
            assert_eq!(stage.list("out").into_iter().find(naming), None, "{target}");
            let folder = format!("{}/one", path.replace("{{ cluster.name }}", "one"));
            if target != "flux-resourceset" {
                let root = stage.read(&format!("{folder}/kustomization.yaml"));
                assert!(root.ends_with("resources:\n- sync.yaml\n"), "{root}");
                let sync = stage.read(&format!("{folder}/sync.yaml"));
                assert!(
                    sync.contains(&format!("path: \"./{folder}/objects\"\n")),
                    "{sync}"
                );
            }
        }
    }
}

#[test]
fn an_option_may_name_the_cluster() {
    let output = "{target: argocd, path: argo, repo-url: https://git.example.org/charts.git, server: 'https://{{ cluster.name }}.example.org', chart-path: 'charts/{{ .path }}'}";
    let stage = two(NONE, output);
    stage.run("render").exit(0);
    let text = stage.read("argo/two.yaml");
    assert!(text.contains("server: https://two.example.org\n"), "{text}");
    // An expression of another program stays.
    assert!(text.contains("charts/{{ .path }}"), "{text}");
}

#[test]
fn a_folder_of_the_configmap_target_contains_objects_only() {
    for scope in ["shared", "cluster"] {
        let output = format!(
            "{{target: configmap, path: shared, scope: {scope}, openstack-images-uuids: true}}"
        );
        let stage = two(NONE, &output);
        stage.run("render").exit(0);
        for file in stage.list("shared") {
            let text = stage.read(&format!("shared/{file}"));
            let is_object = [".yaml", ".yml", ".json"]
                .iter()
                .any(|end| file.ends_with(end));
            assert!(
                !is_object || text.contains("\nkind: ConfigMap\n"),
                "{file}: {text}"
            );
        }
    }
}

#[test]
fn a_required_field_is_missed_without_a_folder_of_crds() {
    let sha256 = "a".repeat(64);
    let values = format!(
        "\
os_images: {{img-a: {{uri: https://images.example.org/a.ova, sha256: '{sha256}', image-format: ova, k8s-version: 1.31.8, k8s-flavor: kubeadm, locations.vsphere.template: tpl}}}}
cluster:
  k8s_version: v1.31.8
  capi_providers: {{infra_provider: capv, bootstrap_provider: cabpk}}
  capv: {{image_key: img-a}}
"
    );
    let stage = two(NONE, "{target: manifests, path: rendered}").file("one.yaml", values);
    let stderr = stage.run("render").exit(1).outcome.stderr;
    assert_text(
        &lines_with(&stderr, &["error[", "help:"]).join("\n"),
        str![[r#"
error[manifest-invalid]: rendered file `rendered/one.yaml`: VSphereMachineTemplate `one-control-plane-2a6bfa5640`: `spec.template.spec` `network` is required
= help: the CRD of the newest release requires this; `schemas: FOLDER` names the CRDs of your release
"#]],
    );
    let network = "image_key: img-a, networks: {default: {networkName: vms}}";
    stage
        .edit("one.yaml", "image_key: img-a", network)
        .run("render")
        .exit(0);
}

/// Flux would apply the other output's files too.
#[test]
fn an_output_of_flux_has_a_folder_of_its_own() {
    for (one, other, is_apart) in [
        (
            "{target: flux, path: out}",
            "{target: manifests, path: out}",
            false,
        ),
        (
            "{target: manifests, path: out/x}",
            "{target: flux-resourceset, path: ./out/}",
            false,
        ),
        (
            "{target: flux-artifact, path: out}",
            "{target: manifests, path: 'out/{{ cluster.name }}'}",
            false,
        ),
        (
            "{target: flux, path: out}",
            "{target: manifests, path: out-of-flux}",
            true,
        ),
        (
            "{target: flux, path: out, patch: cluster}",
            "{target: helm-values, path: out}",
            true,
        ),
        (
            "{target: flux, path: out/flux}",
            "{target: manifests, path: out}",
            true,
        ),
    ] {
        let stage = two(NONE, &format!("{one}\n  - {other}"));
        let run = stage.run("render --check");
        let said = run.outcome.stderr + &run.outcome.stdout;
        assert_eq!(
            !said.contains("Flux applies every file"),
            is_apart,
            "{one} {other}: {said}"
        );
    }
}

/// An edited file of a cluster with an error was to be deleted by a person: Flux or Argo CD would have dropped its machine templates.
#[test]
fn no_help_deletes_a_file_of_a_cluster_that_exists() {
    let stage = two(NONE, "{target: manifests, path: rendered}");
    stage.run("render").exit(0);
    let edited = stage.read("rendered/one.yaml") + "# note\n";
    for text in [
        edited.clone(),
        edited.replacen("# Rendered", "# Once rendered", 1),
    ] {
        stage.write("rendered/one.yaml", &text);
        stage.write("one.yaml", values("", "nope"));
        for words in ["render --check", "render", "render one"] {
            let said = stage.run(words).exit(1).outcome.stderr;
            assert!(
                said.contains("unknown-image") && !said.contains("delete"),
                "{said}"
            );
            assert_eq!(stage.read("rendered/one.yaml"), text);
        }
    }
}

/// A run with other outputs, or of another project file, deleted what it did not render.
#[test]
fn what_another_run_rendered_for_a_living_cluster_stays() {
    let stage = two(
        NONE,
        "{target: manifests, path: 'rendered/{{ cluster.name }}'}",
    );
    stage.run("render").exit(0);
    let text = stage.read("metalmark.yaml");
    let (head, _) = text.split_once("outputs:").expect("outputs");
    let shared = format!("{head}outputs: [{{target: configmap, path: rendered/shared}}]\n");
    stage.write("shared.yaml", shared);
    stage.run("--project shared.yaml render").exit(0);
    let before = stage.texts();
    for words in [
        "render",
        "render --check",
        "--project shared.yaml render --check",
    ] {
        stage.run(words).exit(0);
    }
    stage.run("render --target helm-values --out .").exit(0);
    let after = stage.texts();
    assert!(
        before
            .iter()
            .all(|(path, text)| after.get(path) == Some(text))
    );
}
