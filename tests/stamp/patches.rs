//! Patches of kustomizations: they refer to the template that they are applied to, and are none themselves.

use snapbox::str;

use crate::support::stage::{Stage, assert_text, changes, project, table};

const BASE: &str = "\
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: w}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.34.1
      infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: w}
spec: {template: {spec: {image: {filter: {name: noble-34}}}}}
";
const PATCH: &str = "\
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: w}
spec: {template: {spec: {flavor: large}}}
";

/// A base, and an overlay with this kustomization and this patch in a file.
fn overlay(kustomization: &str, patch: &str) -> Stage {
    project()
        .settings(
            "manifests: [base, over]\nimages:\n  records:\n    noble-35: {k8s: {flavor: kubeadm, version: 1.35.1}, format: qcow2, \
             locations: {glance: {name: noble-35}}}\nstamps: [{kind: OpenStackMachineTemplate, image: noble-35}]",
        )
        .file("base/kustomization.yaml", "resources: [c.yaml]\n")
        .file("base/c.yaml", BASE)
        .file("over/kustomization.yaml", format!("resources: [../base]\n{kustomization}"))
        .file("over/p.yaml", patch)
}

/// What a run changes in the overlay, or the errors that keep it from changing anything.
fn result(stage: &Stage, words: &str) -> Vec<String> {
    let before = stage.texts();
    let run = stage.run(&format!("stamp {words}"));
    if run.outcome.status != 0 {
        assert_eq!(stage.texts(), before);
        let errors = run
            .outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("error"));
        return errors.map(str::to_owned).collect();
    }
    stage.run(&format!("stamp {words} --check")).exit(0);
    let mut after = stage.texts();
    after.insert("base/c.yaml".to_owned(), before["base/c.yaml"].clone());
    changes(&before, &after)
        .lines()
        .map(str::to_owned)
        .collect()
}

const ROTATE: &str = "--rotate --set-version --keep 0";

#[test]
fn a_patch_without_an_image_gets_the_new_name_and_no_image() {
    let inline: String = PATCH.lines().map(|line| format!("    {line}\n")).collect();
    let cases = [
        "patches:\n- path: p.yaml\n".to_owned(),
        "patches:\n- path: p.yaml\n  target: {kind: OpenStackMachineTemplate, name: w}\n"
            .to_owned(),
        "patchesStrategicMerge: [p.yaml]\n".to_owned(),
        format!("patches:\n- patch: |\n{inline}- path: p.yaml\n"),
        format!("patchesStrategicMerge:\n- |\n{inline}- p.yaml\n"),
    ];
    assert_text(
        &table(cases, |case| result(&overlay(case, PATCH), ROTATE)),
        str![[r#"
patches:
- path: p.yaml

    over/p.yaml:3
    -metadata: {name: w}
    +metadata: {name: w-91c925d16c}
patches:
- path: p.yaml
  target: {kind: OpenStackMachineTemplate, name: w}

    over/kustomization.yaml:4
    -  target: {kind: OpenStackMachineTemplate, name: w}
    +  target: {kind: OpenStackMachineTemplate, name: w-91c925d16c}
    over/p.yaml:3
    -metadata: {name: w}
    +metadata: {name: w-91c925d16c}
patchesStrategicMerge: [p.yaml]

    over/p.yaml:3
    -metadata: {name: w}
    +metadata: {name: w-91c925d16c}
patches:
- patch: |
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: OpenStackMachineTemplate
    metadata: {name: w}
    spec: {template: {spec: {flavor: large}}}
- path: p.yaml

    over/kustomization.yaml:6
    -    metadata: {name: w}
    +    metadata: {name: w-91c925d16c}
    over/p.yaml:3
    -metadata: {name: w}
    +metadata: {name: w-91c925d16c}
patchesStrategicMerge:
- |
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: OpenStackMachineTemplate
    metadata: {name: w}
    spec: {template: {spec: {flavor: large}}}
- p.yaml

    over/kustomization.yaml:6
    -    metadata: {name: w}
    +    metadata: {name: w-91c925d16c}
    over/p.yaml:3
    -metadata: {name: w}
    +metadata: {name: w-91c925d16c}

"#]],
    );
}

#[test]
fn stamping_in_place_writes_no_image_into_a_patch() {
    let stage = overlay("patches: [{path: p.yaml}]\n", PATCH);
    stage.edit(
        "base/c.yaml",
        "image: {filter: {name: noble-34}}",
        "flavor: small",
    );
    stage.edit("base/c.yaml", "v1.34.1", "v1.35.1");
    assert_eq!(result(&stage, ""), [""; 0]);
    assert!(stage.read("base/c.yaml").contains("noble-35"));
}

#[test]
fn a_patch_that_names_an_image_is_stamped_with_its_template() {
    let patch = PATCH.replace("flavor: large", "image: {filter: {name: noble-34}}");
    let stage = overlay("patches: [{path: p.yaml}]\n", &patch);
    assert_text(
        &result(&stage, ROTATE).join("\n"),
        str![[r#"
over/p.yaml:3
-metadata: {name: w}
-spec: {template: {spec: {image: {filter: {name: noble-34}}}}}
+metadata: {name: w-91c925d16c}
+spec: {template: {spec: {image: {filter: {name: noble-35}}}}}
"#]],
    );
}

#[test]
fn a_copy_that_is_kept_without_its_patches_is_reported() {
    // The webhook of the provider would refuse the copy.
    let stage = overlay("patches: [{path: p.yaml}]\n", PATCH);
    stage
        .run("stamp --rotate --set-version")
        .exit(1)
        .stderr(str![[r#"
error[template-edited-in-place]: the kept copy of OpenStackMachineTemplate `w` loses its patches to `w-91c925d16c`, and its webhook refuses changes below `spec.template.spec`
  --> base/c.yaml:13:18
   |
13 | metadata: {name: w}
   |                  ^
   |
  ::: over/p.yaml:3:18
   |
 3 | metadata: {name: w}
   |                  - this patch
   |
   = help: run with `--keep 0`

1 error

"#]]);
    assert_eq!(stage.read("base/c.yaml"), BASE);
}

#[test]
fn an_object_that_a_kustomization_renames_may_be_the_one_that_is_missing() {
    let target = "target: {kind: KubeadmConfigTemplate}";
    let cases = [
        "patches:\n- TARGET\n  patch: '[{\"op\": \"replace\", \"path\": \"/metadata/name\", \"value\": \"md-1\"}]'\n",
        "patchesJson6902:\n- TARGET\n  path: p.yaml\n",
        "patches:\n- TARGET\n  path: q.yaml\n  options: {allowNameChange: true}\n",
        "replacements:\n- source: {kind: MachineDeployment, fieldPath: spec.template.spec.bootstrap.configRef.name}\n  targets:\n  \
         - {select: {kind: KubeadmConfigTemplate}, fieldPaths: [metadata.name]}\n",
        "patches:\n- TARGET\n  path: q.yaml\n",
        "patches:\n- target: {kind: Secret}\n  path: p.yaml\n",
    ];
    let results = table(cases, |case| {
        let renaming = "- {op: replace, path: /metadata/name, value: md-1}\n";
        let stage = overlay(&case.replace("TARGET", target), renaming);
        let bootstrap = "      bootstrap: {configRef: {apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: md-1}}\n";
        let base = BASE.replace("      infra", &format!("{bootstrap}      infra"));
        let config = "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: md-0}\n";
        stage.write(
            "base/c.yaml",
            base.replace("v1.34.1", "v1.35.1")
                .replace("noble-34", "noble-35")
                + config,
        );
        stage.write(
            "over/q.yaml",
            "- {op: add, path: /metadata/namespace, value: a}\n",
        );
        let outcome = stage.run("stamp").outcome;
        let errors = outcome
            .stderr
            .lines()
            .filter(|line| line.starts_with("error"));
        let errors: Vec<&str> = errors.collect();
        assert_eq!(outcome.status == 0, errors.is_empty());
        if errors.is_empty() {
            vec!["nothing is missing".to_owned()]
        } else {
            errors.into_iter().map(str::to_owned).collect()
        }
    });
    assert_text(
        &results,
        str![[r#"
patches:
- TARGET
  patch: '[{"op": "replace", "path": "/metadata/name", "value": "md-1"}]'

    nothing is missing
patchesJson6902:
- TARGET
  path: p.yaml

    nothing is missing
patches:
- TARGET
  path: q.yaml
  options: {allowNameChange: true}

    nothing is missing
replacements:
- source: {kind: MachineDeployment, fieldPath: spec.template.spec.bootstrap.configRef.name}
  targets:
  - {select: {kind: KubeadmConfigTemplate}, fieldPaths: [metadata.name]}

    nothing is missing
patches:
- TARGET
  path: q.yaml

    error[reference-dangling]: MachineDeployment `w` refers to KubeadmConfigTemplate `md-1`, which is not there
patches:
- target: {kind: Secret}
  path: p.yaml

    error[reference-dangling]: MachineDeployment `w` refers to KubeadmConfigTemplate `md-1`, which is not there

"#]],
    );
}

#[test]
fn a_template_is_rotated_where_its_name_follows_its_content_in_every_reference() {
    let named = (
        "OpenStackMachineTemplate",
        "- {op: replace, path: /metadata/name, value: other}\n",
    );
    let alone = (
        "MachineDeployment",
        "- {op: replace, path: /spec/template/spec/infrastructureRef/name, value: w}\n",
    );
    let whole = (
        "MachineDeployment",
        "- op: replace\n  path: /spec/template/spec/infrastructureRef\n  value: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, \
         kind: OpenStackMachineTemplate, name: w}\n",
    );
    let results = table(
        [named, alone, whole].map(|(kind, patch)| format!("{kind}: {patch}")),
        |case| {
            let (kind, patch) = case.split_once(": ").expect("a kind");
            result(
                &overlay(
                    &format!("patches:\n- {{path: p.yaml, target: {{kind: {kind}}}}}\n"),
                    patch,
                ),
                ROTATE,
            )
        },
    );
    assert_text(
        &results,
        str![[r#"
OpenStackMachineTemplate: - {op: replace, path: /metadata/name, value: other}

    error[reference-dangling]: MachineDeployment `w` refers to OpenStackMachineTemplate `w`, which is not there
    error[image-unstamped]: OpenStackMachineTemplate `w` is not stamped: a kustomization gives it a name that does not follow its content: change that name, and run `metalmark stamp` without `--rotate`
MachineDeployment: - {op: replace, path: /spec/template/spec/infrastructureRef/name, value: w}

    error[image-unstamped]: OpenStackMachineTemplate `w` is not stamped: a JSON patch writes its name into a reference: write the reference whole, with `apiVersion`, `kind` and `name`
MachineDeployment: - op: replace
  path: /spec/template/spec/infrastructureRef
  value: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w}

    over/p.yaml:3
    -  value: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w}
    +  value: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: w-91c925d16c}

"#]],
    );
}
