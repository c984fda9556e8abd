//! Templates that come and go: a second rotation, how many of the past are kept, and content that comes back.

use snapbox::str;

use super::noble;
use crate::support::stage::{Stage, assert_text, project, table};

/// A template, and the control plane that boots it.
const TEMPLATE: &str = "\
# metalmark: image=noble
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata: {name: a}
spec: {template: {spec: {image: {url: first, checksum: '1', checksumType: sha256, format: raw}}}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: a}
spec:
  version: v1.34.1
  machineTemplate:
    infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: a}
";

fn template() -> Stage {
    project().file("a.yaml", TEMPLATE)
}

/// Rotates to that build of the image; the name and the URL of each template then, kept ones in brackets, and the name that is
/// referred to.
fn rotate(stage: &Stage, build: u32, words: &str) -> String {
    stage.write("metalmark.yaml", noble(build));
    stage.run(&format!("stamp --rotate {words}")).exit(0);
    let text = stage.read("a.yaml");
    let field = |part: &str, name: &str| {
        let value = part.rsplit_once(name).map_or("", |(_, rest)| rest);
        value
            .split([',', '}', '\n'])
            .next()
            .unwrap_or_default()
            .to_owned()
    };
    let of = |part: &str| {
        let url = field(part, "url: ").replace("https://images.example.org/", "");
        let named = format!(
            "{} {url}",
            field(&part.replace("metalmark.dev/kept", ""), "metadata: {name: ")
        );
        if part.contains("metalmark.dev/kept") {
            format!("[{named}]")
        } else if part.contains("url: ") {
            named
        } else {
            format!("<- {}", field(part, "MachineTemplate, name: "))
        }
    };
    let parts: Vec<String> = text.split("---\n").map(of).collect();
    parts.join(", ")
}

/// An entry of `stamps` names the template as it was called before, and goes on saying what it boots.
#[test]
fn an_entry_of_stamps_fits_the_template_in_every_rotation() {
    let stage = project().file(
        "m/a.yaml",
        TEMPLATE.replace("# metalmark: image=noble\n", ""),
    );
    let entry = "stamps: [{kind: Metal3MachineTemplate, name: a, image: noble}]\n";
    let mut found = String::new();
    for build in [2, 3, 4] {
        let settings = noble(build).replace("manifests: [.]", "manifests: [m/]");
        stage.write("metalmark.yaml", format!("{settings}{entry}"));
        found += &stage.run("stamp --rotate").exit(0).outcome.stdout;
    }
    found += &stage.run("stamp --check").exit(0).outcome.stdout;
    assert_text(
        &found,
        str![[r#"
stamped  m/a.yaml
1 file of manifests, 1 stamped
stamped  m/a.yaml
1 file of manifests, 1 stamped
stamped  m/a.yaml
1 file of manifests, 1 stamped
1 file of manifests, 0 to stamp

"#]],
    );
}

#[test]
fn as_many_of_the_past_are_kept_as_requested_and_content_that_comes_back_gets_the_name_that_it_had()
{
    // Builds of the image, with what `--keep` says, one after the other.
    let cases = [
        "2 3 3",
        "2/2 3/2 4/2 5/2 6/0",
        "2/0 3 2 2/0",
        "2/2 3/2 4/2 3/2",
    ];
    let rotations = table(cases, |case| {
        let stage = template();
        let step = |step: &str| {
            let (build, keep) = step.split_once('/').unwrap_or((step, "1"));
            rotate(
                &stage,
                build.parse().expect("a build"),
                &format!("--keep {keep}"),
            )
        };
        case.split(' ').map(step).collect()
    });
    assert_text(
        &rotations,
        str![[r#"
2 3 3
    a-ee9ee33e65 noble-2.raw, [a first], <- a-ee9ee33e65
    a-4de375f0cf noble-3.raw, [a-ee9ee33e65 noble-2.raw], <- a-4de375f0cf
    a-4de375f0cf noble-3.raw, [a-ee9ee33e65 noble-2.raw], <- a-4de375f0cf
2/2 3/2 4/2 5/2 6/0
    a-ee9ee33e65 noble-2.raw, [a first], <- a-ee9ee33e65
    a-4de375f0cf noble-3.raw, [a-ee9ee33e65 noble-2.raw], [a first], <- a-4de375f0cf
    a-ebc7676496 noble-4.raw, [a-4de375f0cf noble-3.raw], [a-ee9ee33e65 noble-2.raw], <- a-ebc7676496
    a-454d05689a noble-5.raw, [a-ebc7676496 noble-4.raw], [a-4de375f0cf noble-3.raw], <- a-454d05689a
    a-7c1996fb8c noble-6.raw, <- a-7c1996fb8c
2/0 3 2 2/0
    a-ee9ee33e65 noble-2.raw, <- a-ee9ee33e65
    a-4de375f0cf noble-3.raw, [a-ee9ee33e65 noble-2.raw], <- a-4de375f0cf
    a-ee9ee33e65 noble-2.raw, [a-4de375f0cf noble-3.raw], <- a-ee9ee33e65
    a-ee9ee33e65 noble-2.raw, [a-4de375f0cf noble-3.raw], <- a-ee9ee33e65
2/2 3/2 4/2 3/2
    a-ee9ee33e65 noble-2.raw, [a first], <- a-ee9ee33e65
    a-4de375f0cf noble-3.raw, [a-ee9ee33e65 noble-2.raw], [a first], <- a-4de375f0cf
    a-ebc7676496 noble-4.raw, [a-4de375f0cf noble-3.raw], [a-ee9ee33e65 noble-2.raw], <- a-ebc7676496
    a-4de375f0cf noble-3.raw, [a-ebc7676496 noble-4.raw], [a-ee9ee33e65 noble-2.raw], <- a-4de375f0cf

"#]],
    );
}

#[test]
fn a_kept_template_that_is_referred_to_stays() {
    let stage = template();
    rotate(&stage, 2, "");
    let set = "apiVersion: cluster.x-k8s.io/v1beta1\nkind: MachineSet\nmetadata: {name: old}\n\
               spec: {template: {spec: {version: v1.34.1, infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, \
               kind: Metal3MachineTemplate, name: a}}}}\n";
    stage.write("set.yaml", set);
    assert_text(
        &rotate(&stage, 3, "--keep 0"),
        str!["a-4de375f0cf noble-3.raw, [a first], <- a-4de375f0cf"],
    );
    assert_eq!(stage.read("set.yaml"), set);
}

#[test]
fn a_template_without_a_place_for_its_copy_is_reported() {
    let stage = project().folder("fixtures/stamp/shapes");
    let before = stage.texts();
    stage
        .run("stamp --rotate 34-json.json")
        .exit(1)
        .stderr(str![[r#"
error[image-unstamped]: Metal3MachineTemplate `listed-json` is not stamped: there is no place beside it for the template that is to be kept: run with `--keep 0`
  --> 34-json.json:4:24
   |
 4 |     "metadata": { "name": "listed-json" },
   |                           ^^^^^^^^^^^^^
   |
  ::: metalmark.yaml:54:5
   |
54 |   - {kind: Metal3MachineTemplate, name: listed-*, image: noble}
   |     ----------------------------------------------------------- its image is selected here

1 error

"#]]);
    assert_eq!(stage.texts(), before);
}

#[test]
fn a_chart_that_names_the_template_stops_its_rotation() {
    let cases = [
        "kind: Metal3MachineTemplate, name: a",
        "ref: {kind: Metal3MachineTemplate, name: \"a\"}",
        "kind: Metal3MachineTemplate, name: a.b, name: a",
        "kind: Metal3MachineTemplate, name: a-{{ .Values.x }}",
        "kind: Metal3MachineTemplate, name: a{{ .Values.x }}",
        "kind: Metal3MachineTemplate, name: ab",
        "kind: Metal3MachineTemplate, name: a_b",
        "kind: Metal3DataTemplate, name: a",
    ];
    let results = table(cases, |case| {
        let lines = if case.starts_with("ref") {
            (*case).to_owned()
        } else {
            case.replace(", ", "\n  ")
        };
        let stage = template()
            .file("metalmark.yaml", noble(2))
            .file("templates/kcp.yaml", format!("{lines}\n{{{{ end }}}}\n"));
        let before = stage.texts();
        let run = stage.run("stamp --rotate");
        assert_eq!(stage.texts() == before, run.outcome.status == 1);
        let why = run
            .outcome
            .stderr
            .lines()
            .find(|line| line.starts_with("error"));
        vec![why.unwrap_or("rotated").to_owned()]
    });
    assert_text(
        &results,
        str![[r#"
kind: Metal3MachineTemplate, name: a
    error[image-unstamped]: Metal3MachineTemplate `a` is not stamped: `templates/kcp.yaml` refers to it and is not YAML: write the reference into a file that is
ref: {kind: Metal3MachineTemplate, name: "a"}
    error[image-unstamped]: Metal3MachineTemplate `a` is not stamped: `templates/kcp.yaml` refers to it and is not YAML: write the reference into a file that is
kind: Metal3MachineTemplate, name: a.b, name: a
    error[image-unstamped]: Metal3MachineTemplate `a` is not stamped: `templates/kcp.yaml` refers to it and is not YAML: write the reference into a file that is
kind: Metal3MachineTemplate, name: a-{{ .Values.x }}
    rotated
kind: Metal3MachineTemplate, name: a{{ .Values.x }}
    rotated
kind: Metal3MachineTemplate, name: ab
    rotated
kind: Metal3MachineTemplate, name: a_b
    rotated
kind: Metal3DataTemplate, name: a
    rotated

"#]],
    );
}

#[test]
fn the_patch_target_of_a_kustomization_without_a_kind_follows() {
    let kustomization = "resources: [a.yaml]\npatches:\n  - target: {kind: Metal3MachineTemplate, name: a}\n    path: patch.yaml\n";
    let stage = template().file("kustomization.yaml", kustomization);
    assert_text(
        &rotate(&stage, 2, ""),
        str!["a-ee9ee33e65 noble-2.raw, [a first], <- a-ee9ee33e65"],
    );
    assert_text(
        &stage.read("kustomization.yaml"),
        str![[r#"
resources: [a.yaml]
patches:
  - target: {kind: Metal3MachineTemplate, name: a-ee9ee33e65}
    path: patch.yaml

"#]],
    );
}
