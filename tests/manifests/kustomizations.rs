//! Which folders with kustomizations are clusters, and what `check` says of what they build.

use snapbox::str;

use crate::support::manifests::{GOOD, INFRASTRUCTURE, cluster, object};
use crate::support::stage::{Is, Stage, project};

use super::{checked, judged};

const RELEASE: &str = "\
apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge}
spec: {chart: {spec: {chart: ./chart}}}
";

const OVERLAY: &str = "resources: [../base]\npatches: [{path: version.yaml}]\n";

/// A patch of the versions of [`cluster`]'s pools.
pub(super) fn version(version: &str) -> String {
    let control_plane = "controlplane.cluster.x-k8s.io/v1beta1 KubeadmControlPlane edge-cp";
    let workers = "cluster.x-k8s.io/v1beta1 MachineDeployment edge-md";
    let of_workers = format!("spec: {{template: {{spec: {{version: {version}}}}}}}");
    object(control_plane, &format!("spec: {{version: {version}}}")) + &object(workers, &of_workers)
}

/// A base with a cluster of that version.
fn with_base(version: &str) -> Stage {
    project()
        .file("base/kustomization.yaml", "resources: [cluster.yaml]\n")
        .file("base/cluster.yaml", cluster(version, GOOD))
}

#[test]
fn each_overlay_is_a_cluster_and_its_base_is_none() {
    let project = with_base("v1.29.0")
        .file("dev/kustomization.yaml", OVERLAY)
        .file("dev/version.yaml", version("v1.31.8"))
        .file("prod/kustomization.yaml", OVERLAY)
        .file("prod/version.yaml", version("v1.30.2"));
    project.check().is(str![[r#"
error[k8s-version-mismatch] prod/edge/control-plane base/cluster.yaml:29:49 `ubuntu-2204-kube-v1.31.8` prod/version.yaml:5:17 `v1.30.2` => v1.30.2
dev/edge/control-plane v1.31.8 (dev/version.yaml:5:17), dev/edge/edge-md v1.31.8 (dev/version.yaml:10:35): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
prod/edge/control-plane v1.30.2 (prod/version.yaml:5:17), prod/edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn a_component_and_a_replacement_change_what_is_built() {
    let component = "\
kind: Component
apiVersion: kustomize.config.k8s.io/v1alpha1
replacements:
- source: {kind: KubeadmControlPlane, fieldPath: spec.version}
  targets:
  - {select: {kind: MachineDeployment}, fieldPaths: [spec.template.spec.version]}
  - select: {kind: OpenStackMachineTemplate}
    fieldPaths: [spec.template.spec.image.filter.name]
    options: {delimiter: kube-, index: 1}
";
    let project = project()
        .file("base/cluster.yaml", cluster("v1.29.0", GOOD))
        .file("versions/kustomization.yaml", component)
        .file(
            "prod/kustomization.yaml",
            "resources: [../base/cluster.yaml]\ncomponents: [../versions]\n",
        );
    project.check().is(str![[r#"
edge/control-plane v1.29.0 (base/cluster.yaml:12:12), edge/edge-md v1.29.0 (base/cluster.yaml:12:12): by_name, ubuntu-2204-kube-v1.29.0 (base/cluster.yaml:12:12) holds 1.29.0

"#]]);
}

#[test]
fn what_does_not_build_is_reported_once_and_nothing_below_it_is_checked() {
    let own = |kustomization: &str| {
        project()
            .file("a/kustomization.yaml", kustomization)
            .file("a/cluster.yaml", cluster("v1.30.2", GOOD))
    };
    let overlay = "resources: [../base, cluster.yaml]\n";
    let right = cluster("v1.31.8", GOOD);
    let broken_base = project()
        .file("base/kustomization.yaml", "resources: [missing.yaml]\n")
        .file("a/kustomization.yaml", overlay)
        .file("a/cluster.yaml", &right)
        .file("b/kustomization.yaml", overlay)
        .file("b/cluster.yaml", &right);
    let with_component = with_base("v1.31.8")
        .file(
            "a/kustomization.yaml",
            "resources: [../base, missing.yaml]\ncomponents: [../c]\n",
        )
        .file("a/version.yaml", version("v1.31.8"))
        .file(
            "c/kustomization.yaml",
            "kind: Component\nresources: [../a/version.yaml]\npatches: [{path: none.yaml}]\n",
        );
    // Its patch is no object either.
    let patched = with_base("v1.31.8")
        .file(
            "over/kustomization.yaml",
            "resources: [../base, gone.yaml]\npatches: [{path: p.yaml}]\n",
        )
        .file("over/p.yaml", version("v1.30.2"));
    // What another overlay builds is checked.
    let beside = with_base("v1.31.8")
        .file(
            "bad/kustomization.yaml",
            "resources: [../base, gone.yaml]\n",
        )
        .file("good/kustomization.yaml", "resources: [../base]\n");
    // Its values are not known either.
    let release = project()
        .file(
            "base/kustomization.yaml",
            "resources: [release.yaml, gone.yaml]\n",
        )
        .file("base/release.yaml", RELEASE)
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        )
        .file("chart/templates/cluster.yaml", cluster("v1.31.8", GOOD));
    let cases = [
        ("a base that another one builds", beside),
        ("a release", release),
        (
            "a file that is not there",
            own("resources: [cluster.yaml, missing.yaml]\n"),
        ),
        (
            "transformers",
            own("resources: [cluster.yaml]\ntransformers: [t.yaml]\n"),
        ),
        ("a base of two", broken_base),
        ("a folder and its component", with_component),
        ("a patch", patched),
    ];
    checked(cases).is(str![[r#"
a base that another one builds
    warning[composition-failed] bad/kustomization.yaml:1:22 `gone.yaml`
    bad/edge/control-plane v1.31.8 (base/cluster.yaml:12:12), bad/edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    good/edge/control-plane v1.31.8 (base/cluster.yaml:12:12), good/edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
a release
    warning[composition-failed] base/kustomization.yaml:1:27 `gone.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/c: unknown (the values of its chart are not known)
a file that is not there
    warning[composition-failed] a/kustomization.yaml:1:27 `missing.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (a/cluster.yaml:12:12), edge/edge-md v1.30.2 (a/cluster.yaml:23:16): unknown (its kustomization does not build)
transformers
    warning[composition-failed] a/kustomization.yaml:2:16 `t.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.30.2 (a/cluster.yaml:12:12), edge/edge-md v1.30.2 (a/cluster.yaml:23:16): unknown (its kustomization does not build)
a base of two
    warning[composition-failed] base/kustomization.yaml:1:13 `missing.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    a/edge/control-plane v1.31.8 (a/cluster.yaml:12:12), a/edge/edge-md v1.31.8 (a/cluster.yaml:23:16), b/edge/control-plane v1.31.8 (b/cluster.yaml:12:12), b/edge/edge-md v1.31.8 (b/cluster.yaml:23:16): unknown (its kustomization does not build)
a folder and its component
    warning[composition-failed] a/kustomization.yaml:1:22 `missing.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16), edge-md/edge-md v1.31.8 (a/version.yaml:10:35): unknown (its kustomization does not build)
a patch
    warning[composition-failed] over/kustomization.yaml:1:22 `gone.yaml`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)

"#]]);
    own("resources: [cluster.yaml, missing.yaml]\n")
        .run("check")
        .exit(1)
        .brief(str![[r#"
warning[composition-failed]: `a` does not build: `missing.yaml` is neither a file nor a folder with a kustomization
  a/kustomization.yaml:1:27 `missing.yaml`
  help: the node pools that it deploys are not checked
error[nothing-checked]: 0 node pools checked; 2 skipped: its kustomization does not build
  help: `metalmark clusters` says of each node pool why it is not known
  help: or type `--allow-empty`
1 error, 1 warning; 0 node pools checked; 2 skipped: its kustomization does not build

"#]]);
}

/// A folder that is right as a file, and whose patches make it wrong.
fn prod(kind: &str) -> Stage {
    project()
        .file(
            "prod/kustomization.yaml",
            format!("kind: {kind}\nresources: [cluster.yaml]\npatches: [{{path: version.yaml}}]\n"),
        )
        .file("prod/cluster.yaml", cluster("v1.31.8", GOOD))
        .file("prod/version.yaml", version("v1.30.2"))
}

#[test]
fn what_a_broken_folder_names_is_unknown_and_what_nothing_builds_names_is_not() {
    let decoys: [(&str, &[(&str, &str)]); 6] = [
        ("none", &[]),
        (
            "a component",
            &[(
                "decoy/kustomization.yaml",
                "kind: Component\nresources: [../prod]\n",
            )],
        ),
        (
            "a circle",
            &[
                ("d1/kustomization.yaml", "resources: [../prod, ../d2]\n"),
                ("d2/kustomization.yaml", "resources: [../d1]\n"),
            ],
        ),
        (
            "a missing file",
            &[(
                "decoy/kustomization.yaml",
                "resources: [../prod, missing.yaml]\n",
            )],
        ),
        (
            "transformers",
            &[(
                "decoy/kustomization.yaml",
                "resources: [../prod]\ntransformers: [t.yaml]\n",
            )],
        ),
        (
            "a patch",
            &[(
                "decoy/kustomization.yaml",
                "resources: [../prod/cluster.yaml]\npatches: [{path: ../prod, target: {name: none}}]\n",
            )],
        ),
    ];
    let cases = ["Kustomization", "Component"].into_iter().flat_map(|kind| {
        decoys.map(|(name, files)| (format!("{kind} beside {name}"), prod(kind).files(files)))
    });
    judged(cases).is(str![[r#"
Kustomization beside none
Kustomization beside a component
    edge/control-plane v1.30.2 (prod/version.yaml:5:17), edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8
Kustomization beside a circle
Kustomization beside a missing file
Kustomization beside transformers
    edge/control-plane v1.31.8 (prod/cluster.yaml:12:12), edge/edge-md v1.31.8 (prod/cluster.yaml:23:16): unknown (its kustomization does not build)
Kustomization beside a patch
    decoy/edge/control-plane v1.31.8 (prod/cluster.yaml:12:12), decoy/edge/edge-md v1.31.8 (prod/cluster.yaml:23:16): unknown (its kustomization does not build)
    prod/edge/control-plane v1.30.2 (prod/version.yaml:5:17), prod/edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8
Component beside none
    edge/control-plane v1.30.2 (prod/version.yaml:5:17), edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8
Component beside a component
Component beside a circle
Component beside a missing file
Component beside transformers
    edge/control-plane v1.31.8 (prod/cluster.yaml:12:12), edge/edge-md v1.31.8 (prod/cluster.yaml:23:16): unknown (its kustomization does not build)
Component beside a patch
    decoy/edge/control-plane v1.31.8 (prod/cluster.yaml:12:12), decoy/edge/edge-md v1.31.8 (prod/cluster.yaml:23:16): unknown (its kustomization does not build)
    prod/edge/control-plane v1.30.2 (prod/version.yaml:5:17), prod/edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn a_base_that_an_application_deploys_is_built_by_itself() {
    let application = "spec: {source: {repoURL: https://git.example.org/fleet, path: prod}}";
    let application = object("argoproj.io/v1alpha1 Application prod", application);
    let source = "{repoURL: https://git.example.org/fleet, path: '{{path}}'}";
    let template =
        format!("{{metadata: {{name: '{{{{path.basename}}}}'}}, spec: {{sources: [{source}]}}}}");
    let folders = "[{git: {directories: [{path: pro*}]}}]";
    let set = format!("spec: {{generators: {folders}, template: {template}}}");
    let set = object("argoproj.io/v1alpha1 ApplicationSet all", &set);
    let cases = [
        ("nothing", String::new()),
        ("an Application", application),
        ("an ApplicationSet", set),
    ];
    let cases = cases.map(|(name, deploying)| {
        let project = prod("Kustomization")
            .file("other/kustomization.yaml", OVERLAY.replace("base", "prod"))
            .file("other/version.yaml", version("v1.31.8"));
        (name, project.file("apps/all.yaml", deploying))
    });
    judged(cases).is(str![[r#"
nothing
    edge/control-plane v1.31.8 (other/version.yaml:5:17), edge/edge-md v1.31.8 (other/version.yaml:10:35): by_name, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8
an Application
an ApplicationSet
    other/edge/control-plane v1.31.8 (other/version.yaml:5:17), other/edge/edge-md v1.31.8 (other/version.yaml:10:35): by_name, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8
    prod/edge/control-plane v1.30.2 (prod/version.yaml:5:17), prod/edge/edge-md v1.30.2 (prod/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (prod/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn a_long_chain_of_kustomizations_and_many_folders_that_share_it_end() {
    let first = project()
        .file("c0/kustomization.yaml", "resources: [cluster.yaml]\n")
        .file("c0/cluster.yaml", cluster("v1.31.8", GOOD));
    let link = |project: Stage, index: usize| {
        project.file(
            &format!("c{index}/kustomization.yaml"),
            format!("resources: [../c{}]\n", index - 1),
        )
    };
    let overlay = |project: Stage, index: usize| {
        project.file(
            &format!("o{index}/kustomization.yaml"),
            "resources: [../c599]\n",
        )
    };
    let project = (0..60).fold((1..600).fold(first, link), overlay);
    project.run("check").exit(1).brief(str![[r#"
warning[composition-unsupported]: `o0` and 59 other folders do not build: kustomizations are nested too deeply, or too many
  c550/kustomization.yaml:1:1 `resources: [../c549]`
  help: the node pools that it deploys are not checked
error[nothing-checked]: 0 node pools checked; 120 skipped: its kustomization does not build
  help: `metalmark clusters` says of each node pool why it is not known
  help: or type `--allow-empty`
1 error, 1 warning; 0 node pools checked; 120 skipped: its kustomization does not build

"#]]);
}

#[test]
fn an_inline_patch_is_no_object_of_its_own() {
    let inline = |patch: &str| {
        let lines = patch.lines().map(|line| format!("    {line}\n"));
        format!("- patch: |\n{}", lines.collect::<String>())
    };
    let patches = version("v1.31.8");
    let patches: Vec<String> = patches.split("---\n").skip(1).map(inline).collect();
    let [control_plane, workers] = &patches[..] else {
        panic!("two patches")
    };
    let gone = object(
        "cluster.x-k8s.io/v1beta1 MachineDeployment edge-md",
        "$patch: delete",
    );
    let gone = inline(&gone["---\n".len()..]);
    let overlay = |patches: &str| {
        (
            "over/kustomization.yaml",
            format!("resources: [../base]\npatches:\n{patches}"),
        )
    };
    let flux = format!("{control_plane}{workers}")
        .replace("- patch", "  - patch")
        .replace("\n    ", "\n      ");
    let flux = format!("spec:\n  path: ./base\n  patches:\n{flux}");
    let flux = object("kustomize.toolkit.fluxcd.io/v1 Kustomization x", &flux);
    let cases = [
        (
            "of an overlay",
            overlay(&format!("{control_plane}{workers}")),
        ),
        ("of Flux", ("flux/x.yaml", flux)),
        (
            "that deletes an object",
            overlay(&format!("{control_plane}{gone}")),
        ),
    ];
    let cases = cases.map(|(name, (path, text))| (name, with_base("v1.29.0").file(path, text)));
    checked(cases).is(str![[r#"
of an overlay
    edge/control-plane v1.31.8 (over/kustomization.yaml:7:21), edge/edge-md v1.31.8 (over/kustomization.yaml:12:39): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
of Flux
    edge/control-plane v1.31.8 (flux/x.yaml:12:23), edge/edge-md v1.31.8 (flux/x.yaml:17:41): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
that deletes an object
    edge/control-plane v1.31.8 (over/kustomization.yaml:7:21): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

/// The Cluster of a patch is not one more, and no control plane finds its machine template in one.
#[test]
fn a_patch_in_a_transformer_is_no_object_of_its_own() {
    let transformer = |kind: &str, field: &str, patch: &str| {
        let patch = patch["---\n".len()..].replace('\n', "\n  ");
        format!("apiVersion: builtin\nkind: {kind}\nmetadata: {{name: t}}\n{field}: |\n  {patch}\n")
    };
    let of_cluster = object(
        "cluster.x-k8s.io/v1beta1 Cluster edge",
        "spec: {paused: true}",
    );
    let overlay = |transformer: String| {
        let over = "resources: [../base]\ntransformers: [t.yaml]\n";
        with_base("v1.31.8")
            .file("over/kustomization.yaml", over)
            .file("over/t.yaml", transformer)
    };
    let of_template = object(
        &format!("{INFRASTRUCTURE} OpenStackMachineTemplate edge"),
        &format!("spec: {{template: {{spec: {{image: {GOOD}}}}}}}"),
    );
    let whole = cluster("v1.31.8", GOOD);
    let (without_template, _) = whole.rsplit_once("---\n").expect("documents");
    let dangling = project().file("edge.yaml", without_template).file(
        "t.yaml",
        transformer("PatchTransformer", "patch", &of_template),
    );
    let one = transformer("PatchTransformer", "patch", &of_cluster);
    let several = transformer("PatchStrategicMergeTransformer", "patches", &of_cluster);
    let cases = [
        ("a patch", overlay(one)),
        ("patches", overlay(several)),
        ("a template that is only a patch", dangling),
    ];
    checked(cases).is(str![[r#"
a patch
patches
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
a template that is only a patch
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its machine template is not among the manifests)

"#]]);
}

/// No text of several lines is the name of a file, and no file system has one this long.
#[test]
fn a_long_transformer_in_a_kustomization_is_carried_out() {
    let long = "x".repeat(300);
    let over = format!(
        "\
resources: [../base]
transformers:
- |
  apiVersion: builtin
  kind: PatchTransformer
  metadata: {{name: t, annotations: {{long: {long}}}}}
  target: {{kind: KubeadmControlPlane}}
  patch: '- {{op: replace, path: /spec/version, value: v1.30.2}}'
"
    );
    let stage = with_base("v1.31.8").file("over/kustomization.yaml", over);
    checked([("long", stage)]).is(str![[r#"
long
    error[version-skew] edge/edge-md base/cluster.yaml:23:16 `v1.31.8` over/kustomization.yaml:8:55 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane base/cluster.yaml:29:49 `ubuntu-2204-kube-v1.31.8` over/kustomization.yaml:8:55 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (over/kustomization.yaml:8:55): mismatched, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn flux_builds_the_folders_and_files_below_its_path() {
    let project = |path: &str| {
        let flux = "kustomize.toolkit.fluxcd.io/v1 Kustomization flux-system/all";
        let flux = object(flux, &format!("spec: {{path: {path}}}"));
        project()
            .file("flux.yaml", flux)
            .file(
                "apps/kustomized/kustomization.yaml",
                "resources: [base]\npatches: [{path: version.yaml}]\n",
            )
            .file("apps/kustomized/version.yaml", version("v1.30.2"))
            .file(
                "apps/kustomized/base/kustomization.yaml",
                "resources: [cluster.yaml]\n",
            )
            .file(
                "apps/kustomized/base/cluster.yaml",
                cluster("v1.31.8", GOOD),
            )
            .file("apps/other.yaml", object("v1 ConfigMap a", "data: {}"))
    };
    // Another repository's folder is not here.
    let cases = ["./apps/", "./elsewhere"].map(|path| (path, project(path)));
    checked(cases).is(str![[r#"
./apps/
./elsewhere
    error[k8s-version-mismatch] edge/control-plane apps/kustomized/base/cluster.yaml:29:49 `ubuntu-2204-kube-v1.31.8` apps/kustomized/version.yaml:5:17 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (apps/kustomized/version.yaml:5:17), edge/edge-md v1.30.2 (apps/kustomized/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (apps/kustomized/base/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

/// Each of these changes which image is booted, or whether it is known.
#[test]
fn what_a_kustomization_changes_is_what_is_checked() {
    let image = "- {op: replace, path: /spec/template/spec/image/filter/name, value: ubuntu-2204-kube-v1.30.2}";
    let select = |by: &str| format!("patches: [{{target: {{{by}}}, patch: '{image}'}}]\n");
    let over = |base: &str, over: &str| {
        project()
            .file("base/kustomization.yaml", format!("resources: [cluster.yaml]\n{base}"))
            .file("base/cluster.yaml", cluster("v1.31.8", GOOD))
            .file("over/kustomization.yaml", format!("resources: [../base]\n{over}"))
            .file("over/kc.yaml", "images: [{path: spec/template/spec/image/filter/name, kind: OpenStackMachineTemplate}]\nvarReference: [{path: spec/version, kind: KubeadmControlPlane}]\n")
            .file("over/p.yaml", version("v1.30.2"))
            .file("over/t.yaml", "apiVersion: builtin\nkind: PatchTransformer\nmetadata: {name: any}\npath: p.yaml\n")
    };
    let local = "metadata: {annotations: {config.kubernetes.io/local-config: 'true'}, ";
    let local = object(
        "cluster.x-k8s.io/v1beta1 MachineDeployment local",
        "spec: {clusterName: edge}",
    )
    .replace("metadata: {", local);
    let template = "kind: OpenStackMachineTemplate";
    let cases = [
        (
            "labels",
            over(
                "labels: [{pairs: {env: prod}}]\n",
                &select(&format!("{template}, labelSelector: env=prod")),
            ),
        ),
        (
            "no labels",
            over(
                "commonLabels: {env: prod}\n",
                &select(&format!("{template}, labelSelector: '!env'")),
            ),
        ),
        (
            "images",
            over(
                "",
                "configurations: [kc.yaml]\nimages: [{name: ubuntu-2204-kube-v1.31.8, newName: ubuntu-2204-kube-v1.30.2}]\n",
            ),
        ),
        (
            "vars",
            over(
                "",
                "configurations: [kc.yaml]\nvars: [{name: V, objref: {apiVersion: cluster.x-k8s.io/v1beta1, kind: MachineDeployment, name: edge-md}, fieldref: {fieldPath: spec.template.spec.version}}]\npatches: [{target: {kind: KubeadmControlPlane}, patch: '- {op: replace, path: /spec/version, value: $(V)}'}]\n",
            ),
        ),
        ("a transformer", over("", "transformers: [t.yaml]\n")),
        (
            "a local object",
            over("", "")
                .file(
                    "over/kustomization.yaml",
                    "resources: [../base, local.yaml]\n",
                )
                .file("over/local.yaml", local),
        ),
        (
            "a chart",
            over("", "helmCharts: [{name: c, releaseName: r}]\n"),
        ),
        ("a schema", over("", "openapi: {path: schema.json}\n")),
        ("no field", over("", "namePrefixes: x-\n")),
        ("a plugin", over("", "generators: [p.yaml]\n")),
        (
            "a remote component",
            over("", "components: ['https://example.org/x']\n"),
        ),
        (
            "a pattern in a replacement",
            over(
                "",
                "replacements: [{sourceValue: v1.30.2, targets: [{select: {kind: 'Kubeadm.*'}, fieldPaths: [spec.version]}]}]\n",
            ),
        ),
    ];
    checked(cases).is(str![[r#"
labels
    error[k8s-version-mismatch] edge/control-plane over/kustomization.yaml:2:155 `ubuntu-2204-kube-v1.30.2` base/cluster.yaml:12:12 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): mismatched, ubuntu-2204-kube-v1.30.2 (over/kustomization.yaml:2:155) holds 1.30.2
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
no labels
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
images
    error[k8s-version-mismatch] edge/control-plane over/kustomization.yaml:3:52 `ubuntu-2204-kube-v1.30.2` base/cluster.yaml:12:12 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): mismatched, ubuntu-2204-kube-v1.30.2 (over/kustomization.yaml:3:52) holds 1.30.2
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
vars
    edge/control-plane v1.31.8 (base/cluster.yaml:23:16), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a transformer
    error[k8s-version-mismatch] edge/control-plane base/cluster.yaml:29:49 `ubuntu-2204-kube-v1.31.8` over/p.yaml:5:17 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (over/p.yaml:5:17), edge/edge-md v1.30.2 (over/p.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
a local object
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/cluster.yaml:29:49) holds 1.31.8
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a chart
    warning[composition-failed] over/kustomization.yaml:2:14 `{name: c, releaseName: r}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a schema
    warning[composition-unsupported] over/kustomization.yaml:2:17 `schema.json`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
no field
    warning[composition-unsupported] over/kustomization.yaml:2:1 `namePrefixes` => namePrefix
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a plugin
    warning[composition-unsupported] over/p.yaml:2:1 `apiVersion: controlplane.cluster.x-k8s.io/v1beta1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a remote component
    warning[composition-unsupported] over/kustomization.yaml:2:14 `'https://example.org/x'`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)
a pattern in a replacement
    warning[composition-failed] over/kustomization.yaml:2:16 `{sourceValue: v1.30.2, targets: [{select: {kind: 'Kubeadm.*'}, fieldPaths: [spec.version]}]}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (base/cluster.yaml:12:12), edge/edge-md v1.31.8 (base/cluster.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/p.yaml:10:35): unknown (no reference to a machine template)

"#]]);
}

/// As kustomize 5.7 has it: no list of texts, no build. `$patch: replace` at the top changes nothing.
#[test]
fn what_names_no_file_is_refused_and_what_replaces_a_whole_object_does_nothing() {
    let base = cluster("v1.31.8", GOOD);
    let stage = |kustomization: &str| {
        project()
            .file("edge.yaml", &base)
            .file("kustomization.yaml", kustomization)
    };
    let whole = "{$patch: replace, apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, \
                 metadata: {name: edge-cp}, spec: {version: v1.30.2}}";
    let cases = [
        ("resources", stage("resources: [{path: edge.yaml}]\n")),
        (
            "components",
            stage("resources: [edge.yaml]\ncomponents: [1]\n"),
        ),
        (
            "patches",
            stage("resources: [edge.yaml]\npatchesStrategicMerge: [[a]]\n"),
        ),
        (
            "files of a generator",
            stage("resources: [edge.yaml]\nconfigMapGenerator: [{name: a, files: [true]}]\n"),
        ),
        (
            "a flag",
            stage("resources: [edge.yaml]\ngeneratorOptions: {disableNameSuffixHash: 'true'}\n"),
        ),
        (
            "replace",
            stage(&format!(
                "resources: [edge.yaml]\npatches: [{{patch: '{whole}'}}]\n"
            )),
        ),
    ];
    checked(cases).is(str![[r#"
resources
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
components
    warning[composition-failed] kustomization.yaml:2:14 `1`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
patches
    warning[composition-unsupported] kustomization.yaml:2:26 `a`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
files of a generator
    warning[composition-failed] kustomization.yaml:2:40 `true`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
a flag
    warning[composition-failed] kustomization.yaml:2:43 `'true'`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
replace
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8

"#]]);
}

/// As kustomize does: no name of a file or a folder hides what a kustomization takes from it.
#[test]
fn what_a_kustomization_names_is_read_whatever_it_is_called() {
    let patch = "patches: [{target: {kind: KubeadmControlPlane}, patch: '- {op: replace, path: /spec/version, value: v1.30.2}'}]";
    let over = |resource: &str, file: &str| {
        project()
            .file(
                "k/kustomization.yaml",
                format!("resources: ['{resource}']\n{patch}\n"),
            )
            .file(file, cluster("v1.31.8", GOOD))
    };
    let base = |folder: &str, kustomization: &str| {
        over(&format!("../{folder}"), &format!("{folder}/c.yaml")).file(
            &format!("{folder}/{kustomization}"),
            "resources: [c.yaml]\n",
        )
    };
    let cases = [
        ("a hidden folder", base(".base", "kustomization.yaml")),
        ("below one", base(".a/b", "kustomization.yml")),
        (
            "another name of a kustomization",
            base("base", "Kustomization"),
        ),
        ("a hidden file", over(".c.yaml", "k/.c.yaml")),
        ("a text", over("c.txt", "k/c.txt")),
        ("no end", over("c", "k/c")),
        ("nothing", over(".gone.yaml", "other.yaml")),
    ];
    judged(cases).is(str![[r#"
a hidden folder
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (.base/c.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (.base/c.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (.base/c.yaml:29:49) holds 1.31.8
below one
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (.a/b/c.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (.a/b/c.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (.a/b/c.yaml:29:49) holds 1.31.8
another name of a kustomization
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (base/c.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (base/c.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/c.yaml:29:49) holds 1.31.8
a hidden file
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (k/.c.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (k/.c.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (k/.c.yaml:29:49) holds 1.31.8
a text
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (k/c.txt:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (k/c.txt:23:16): by_name, ubuntu-2204-kube-v1.31.8 (k/c.txt:29:49) holds 1.31.8
no end
    edge/control-plane v1.30.2 (k/kustomization.yaml:2:101): mismatched, ubuntu-2204-kube-v1.31.8 (k/c:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (k/c:23:16): by_name, ubuntu-2204-kube-v1.31.8 (k/c:29:49) holds 1.31.8
nothing
    edge/control-plane v1.31.8 (other.yaml:12:12), edge/edge-md v1.31.8 (other.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (other.yaml:29:49) holds 1.31.8

"#]]);
}

/// As `kubectl kustomize` builds it. What the link leads to is deployed through it alone.
#[cfg(unix)]
#[test]
fn a_link_that_a_kustomization_names_is_patched_there() {
    let stage = |kustomization: &str| {
        let project = project()
            .file("over/kustomization.yaml", kustomization)
            .file("over/version.yaml", version("v1.30.2"))
            .file("over/edge.yaml", cluster("v1.31.8", GOOD));
        let link = project.path().join("over/link.yaml");
        std::os::unix::fs::symlink("edge.yaml", link).expect("linked");
        project
    };
    let cases = [
        (
            "patched",
            "resources: [link.yaml]\npatches: [{path: version.yaml}]\n",
        ),
        ("not built", "resources: [link.yaml, no.yaml]\n"),
        ("not named", "resources: [edge.yaml]\n"),
    ];
    judged(cases.map(|(name, text)| (name, stage(text)))).is(str![[r#"
patched
    edge/control-plane v1.30.2 (over/version.yaml:5:17), edge/edge-md v1.30.2 (over/version.yaml:10:35): mismatched, ubuntu-2204-kube-v1.31.8 (over/link.yaml:29:49) holds 1.31.8
not built
    edge/control-plane v1.31.8 (over/link.yaml:12:12), edge/edge-md v1.31.8 (over/link.yaml:23:16): unknown (its kustomization does not build)
    edge-md/edge-md v1.30.2 (over/version.yaml:10:35): unknown (no reference to a machine template)
not named
    edge/control-plane v1.31.8 (over/edge.yaml:12:12), edge/edge-md v1.31.8 (over/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (over/edge.yaml:29:49) holds 1.31.8
    edge-md/edge-md v1.30.2 (over/version.yaml:10:35): unknown (no reference to a machine template)

"#]]);
}

/// As kustomize 5.7 refuses or takes them.
#[test]
fn what_is_null_or_no_scalar_is_taken_as_kustomize_takes_it() {
    let base = cluster("v1.31.8", GOOD).replace(
        "metadata: {name: edge-cp}",
        "metadata: {name: edge-cp, namespace: n1, labels: {v: v1.30.2, none: null}}",
    );
    let stage = |kustomization: &str| {
        project()
            .file("edge.yaml", &base)
            .file("images.yaml", "images: [{path: spec/machineTemplate, kind: KubeadmControlPlane}, {path: metadata/labels/none/x, kind: KubeadmControlPlane}]\n")
            .file("vars.yaml", "varReference: [{path: spec/version, kind: KubeadmControlPlane}]\n")
            .file("kustomization.yaml", format!("resources: [edge.yaml]\n{kustomization}\n"))
    };
    let source = |path: &str| format!("source: {{kind: KubeadmControlPlane, fieldPath: {path}}}");
    let copy = |path: &str, options: &str, to: &str| {
        let target =
            format!("{{select: {{kind: KubeadmControlPlane}}, fieldPaths: [{to}]{options}}}");
        stage(&format!(
            "replacements: [{{{}, targets: [{target}]}}]",
            source(path)
        ))
    };
    let patch = "patch: '- {op: replace, path: /spec/version, value: v1.30.2}'";
    let var = |namespace: &str| {
        let objref = format!(
            "{{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge-cp, namespace: {namespace}}}"
        );
        stage(&format!(
            "configurations: [vars.yaml]\nvars: [{{name: V, objref: {objref}, fieldref: {{fieldpath: metadata.labels.v}}}}]"
        ))
    };
    let cases = [
        (
            "a label without a value",
            stage(&format!(
                "patches: [{{target: {{labelSelector: none}}, {patch}}}]"
            )),
        ),
        (
            "a source without a value",
            copy("metadata.labels.none", "", "spec.version"),
        ),
        (
            "a part of a map",
            copy(
                "metadata.labels.v",
                ", options: {delimiter: '-'}",
                "spec.machineTemplate",
            ),
        ),
        (
            "an image in a map",
            stage("configurations: [images.yaml]\nimages: [{name: a, newTag: b}]"),
        ),
        ("a variable", var("n1")),
        ("a variable of another namespace", var("n2")),
    ];
    checked(cases).is(str![[r#"
a label without a value
    error[version-skew] edge/edge-md edge.yaml:23:16 `v1.31.8` kustomization.yaml:2:95 `v1.30.2` => v1.31.8
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` kustomization.yaml:2:95 `v1.30.2` => v1.30.2
    edge/control-plane v1.30.2 (kustomization.yaml:2:95): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
a source without a value
    warning[composition-failed] kustomization.yaml:2:16 `{source: {kind: KubeadmControlPlane, fieldPath: metadata.labels.none}, targets: [{select: {kind: KubeadmControlPlane}, fieldPaths: [spec.version]}]}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
a part of a map
    warning[composition-failed] kustomization.yaml:2:16 `{source: {kind: KubeadmControlPlane, fieldPath: metadata.labels.v}, targets: [{select: {kind: KubeadmControlPlane}, fieldPaths: [spec.machineTemplate], options: {delimiter: '-'}}]}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
an image in a map
    warning[composition-failed] kustomization.yaml:3:10 `{name: a, newTag: b}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)
a variable
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
a variable of another namespace
    warning[composition-failed] kustomization.yaml:3:8 `{name: V, objref: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: edge-cp, namespace: n2}, fieldref: {fieldpath: metadata.labels.v}}`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// As `kubectl kustomize` selects, also after a patch.
#[test]
fn a_label_that_is_null_is_selected_by_its_text() {
    let json = "- {target: {kind: KubeadmControlPlane}, patch: '[{\"op\": \"add\", \"path\": \"/spec/x\", \"value\": \"y\"}]'}\n";
    let merged = "- {target: {kind: KubeadmControlPlane}, patch: '{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, metadata: {name: edge-cp}, spec: {replicas: 3}}'}\n";
    for (value, before, selected) in [
        ("null", "", "null"),
        ("Null", "", "Null"),
        ("~", "", "-"),
        ("", "", ""),
        ("null", merged, "null"),
        ("~", merged, "-"),
        ("", merged, "-"),
        ("~", json, "null"),
        ("", json, "null"),
    ] {
        for field in ["label", "annotation"] {
            let marks = format!("metadata:\n  name: edge-cp\n  {field}s:\n    gpu: {value}\n");
            let base = cluster("v1.31.8", GOOD).replace("metadata: {name: edge-cp}\n", &marks);
            for selector in ["null", "Null", ""] {
                let patch = "patch: '- {op: replace, path: /spec/version, value: v1.30.2}'";
                let stage = project().file("edge.yaml", &base).file(
                    "kustomization.yaml",
                    format!(
                        "resources: [edge.yaml]\npatches:\n{before}- {{target: {{{field}Selector: gpu={selector}}}, {patch}}}\n"
                    ),
                );
                let pools = stage.check().pool_lines().concat();
                let is_patched = pools.contains("control-plane v1.30.2");
                assert_eq!(
                    is_patched,
                    selector == selected,
                    "{field} `{value}`, gpu={selector}: {pools}"
                );
            }
        }
    }
}

/// Kustomize refuses the folder, and so does each program that deploys it.
#[test]
fn two_kustomizations_in_one_folder_leave_it_unknown() {
    let stage = || {
        project()
            .file("a/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("a/kustomization.yml", "resources: [edge.yaml]\n")
            .file("a/edge.yaml", cluster("v1.31.8", GOOD))
    };
    let flux = object(
        "kustomize.toolkit.fluxcd.io/v1 Kustomization flux/a",
        "spec: {path: ./a}",
    );
    let argo = object(
        "argoproj.io/v1alpha1 Application argocd/a",
        "spec: {source: {path: a, kustomize: {namePrefix: a-}}}",
    );
    let cases = [
        ("alone", stage()),
        ("of Flux", stage().file("flux.yaml", flux)),
        ("of Argo CD", stage().file("argo.yaml", argo)),
        (
            "named by another",
            stage().file("b/kustomization.yaml", "resources: [../a]\n"),
        ),
    ];
    checked(cases).is(str![[r#"
alone
of Flux
of Argo CD
named by another
    warning[composition-failed] a/kustomization.yml:1:1 `resources: [edge.yaml]`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (a/edge.yaml:12:12), edge/edge-md v1.31.8 (a/edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// Kustomize writes these annotations itself, while it builds.
#[test]
fn a_selector_of_the_origin_of_objects_leaves_the_folder_unknown() {
    let stage = |more: &str| {
        project()
            .file(
                "kustomization.yaml",
                format!("resources: [edge.yaml]\nbuildMetadata: [originAnnotations]\n{more}"),
            )
            .file("edge.yaml", cluster("v1.31.8", GOOD))
    };
    let patch = "patches: [{target: {annotationSelector: config.kubernetes.io/origin}, patch: '- {op: replace, path: /spec/version, value: v1.30.2}'}]\n";
    let cases = [("without", stage("")), ("with", stage(patch))];
    checked(cases).is(str![[r#"
without
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8
with
    warning[composition-unsupported] kustomization.yaml:3:41 `config.kubernetes.io/origin`
    error[nothing-checked] => metalmark clusters | --allow-empty
    edge/control-plane v1.31.8 (edge.yaml:12:12), edge/edge-md v1.31.8 (edge.yaml:23:16): unknown (its kustomization does not build)

"#]]);
}

/// The field is in no file: kustomize adds it to the object that is shown.
#[test]
fn a_field_that_a_kustomization_adds_is_reported_at_the_object() {
    let fields = "namespace:\n- {kind: Cluster, group: cluster.x-k8s.io, path: spec/infrastructureRef/namespace, create: true}\n";
    let reference = "  infrastructureRef: {apiGroup: infrastructure.cluster.x-k8s.io, kind: OpenStackCluster, name: edge}\n";
    let newer = cluster("v1.31.8", GOOD)
        .replacen("cluster.x-k8s.io/v1beta1", "cluster.x-k8s.io/v1beta2", 1)
        .replacen(
            "controlPlaneRef: {apiVersion: controlplane.cluster.x-k8s.io/v1beta1",
            "controlPlaneRef: {apiGroup: controlplane.cluster.x-k8s.io",
            1,
        )
        .replacen("spec:\n", &format!("spec:\n{reference}"), 1);
    let settings = "namespace: prod\nresources: [cluster.yaml]\nconfigurations: [fields.yaml]\n";
    project()
        .file("cluster.yaml", newer)
        .file("fields.yaml", fields)
        .file("kustomization.yaml", settings)
        .check()
        .findings(str![[r#"
error[field-not-in-version] edge cluster.yaml:3:18 `edge`

"#]]);
}

/// An overlay whose base is misspelled deploys nothing, and would be missed by nobody.
#[test]
fn a_slip_for_which_an_overlay_leads_to_no_cluster_is_reported() {
    let overlay = |text: &str| {
        project()
            .file("base/kustomization.yaml", "resources: [edge.yaml]\n")
            .file("base/edge.yaml", cluster("v1.31.8", GOOD))
            .file("paris/kustomization.yaml", "resources: [../base]\n")
            .file("lyon/kustomization.yaml", text)
    };
    checked([
        ("a base", overlay("resources: [../bas]\n")),
        ("a field", overlay("resource: [../base]\n")),
        (
            "something else",
            overlay("resources: [secret.yaml, ../elsewhere]\n"),
        ),
    ])
    .is(str![[r#"
a base
    warning[composition-failed] lyon/kustomization.yaml:1:13 `../bas` => base
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
a field
    warning[composition-failed] lyon/kustomization.yaml:1:1 `resource` => resources
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8
something else
    edge/control-plane v1.31.8 (base/edge.yaml:12:12), edge/edge-md v1.31.8 (base/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (base/edge.yaml:29:49) holds 1.31.8

"#]]);
}
