//! Variables in manifests, as Flux and clusterctl fill them in.

use snapbox::str;

use crate::support::manifests::{GOOD, cluster, manifest, object};
use crate::support::stage::{Is, assert_cases, project};

use super::checked;
use super::references::impacts;

/// A Kustomization of Flux with the folder `template`.
fn flux(name: &str, spec: &str) -> String {
    let named = format!("kustomize.toolkit.fluxcd.io/v1 Kustomization flux-system/{name}");
    object(&named, &format!("spec:\n  path: ./template\n{spec}"))
}

#[test]
fn the_variables_of_flux_are_filled_in_for_each_kustomization() {
    let template = cluster(
        "${version}",
        "{filter: {name: 'ubuntu-2204-kube-${version:=v1.31.8}'}}",
    )
    .replacen("{name: edge}", "{name: '${name}'}", 1)
    .replace("clusterName: edge", "clusterName: ${name}");
    let dev = flux(
        "dev",
        "  postBuild: {substitute: {name: dev, version: v1.31.8}}\n",
    );
    let prod = flux(
        "prod",
        "  patches:
  - target: {kind: OpenStackMachineTemplate}
    patch: |
      - {op: replace, path: /spec/template/spec/image/filter/name, value: ubuntu-2204-kube-v1.31.8}
  postBuild:
    substitute: {name: prod}
    substituteFrom:
    - {kind: ConfigMap, name: versions}
",
    );
    let versions = object(
        "v1 ConfigMap flux-system/versions",
        "data: {version: v1.30.2}",
    );
    let both = project()
        .file("template/cluster.yaml", &template)
        .file("flux/dev.yaml", &dev)
        .file("flux/prod.yaml", &prod)
        .file("flux/versions.yaml", versions);
    // What a Secret sets is not known.
    let secret = project().file("template/cluster.yaml", &template).file(
        "flux/prod.yaml",
        prod.replace("kind: ConfigMap", "kind: Secret"),
    );
    // Nor whether a default applies.
    let default = template.replace("version: ${version}", "version: ${version:=v1.31.8}");
    assert_ne!(default, template);
    let default = project().file("template/cluster.yaml", default).file(
        "flux/prod.yaml",
        prod.replace("kind: ConfigMap", "kind: Secret"),
    );
    checked([("both", both), ("a Secret", secret), ("a default", default)]).is(str![[r#"
both
    error[k8s-version-mismatch] prod/control-plane flux/prod.yaml:10:75 `ubuntu-2204-kube-v1.31.8` flux/versions.yaml:5:17 `v1.30.2` => v1.30.2
    dev/control-plane v1.31.8 (flux/dev.yaml:7:48), dev/edge-md v1.31.8 (flux/dev.yaml:7:48): by_name, ubuntu-2204-kube-v1.31.8 (flux/dev.yaml:7:48) holds 1.31.8
    prod/control-plane v1.30.2 (flux/versions.yaml:5:17), prod/edge-md v1.30.2 (flux/versions.yaml:5:17): mismatched, ubuntu-2204-kube-v1.31.8 (flux/prod.yaml:10:75) holds 1.31.8
a Secret
a default
    error[nothing-checked] => metalmark clusters | --allow-empty
    prod/control-plane, prod/edge-md: unknown (its image or version is a variable)

"#]]);
}

/// Two clusters of one base are two places to mend.
#[test]
fn a_version_that_a_variable_gives_is_at_the_variable() {
    let template = cluster(
        "${version}",
        "{filter: {name: '${os:=ubuntu}-2204-kube-${version}'}}",
    );
    let substitute =
        |vars: &str| flux("dev", &format!("  postBuild: {{substitute: {{{vars}}}}}\n"));
    let both = project()
        .file(
            "template/cluster.yaml",
            template.replacen("version: ${version}", "version: v1.31.8", 1),
        )
        .file("flux/dev.yaml", substitute("os: ubuntu, version: v1.30.2"));
    let parts = project()
        .file(
            "template/cluster.yaml",
            template.replace("kube-${version}", "kube-v1.30.${patch}"),
        )
        .file("flux/dev.yaml", substitute("version: v1.31.8, patch: '2'"));
    checked([("a variable", both), ("a part of a version", parts)]).is(str![[r#"
a variable
    error[k8s-version-mismatch] edge/control-plane flux/dev.yaml:7:49 `v1.30.2` template/cluster.yaml:12:12 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (template/cluster.yaml:12:12): mismatched, ubuntu-2204-kube-v1.30.2 (flux/dev.yaml:7:49) holds 1.30.2
    edge/edge-md v1.30.2 (flux/dev.yaml:7:49): by_name, ubuntu-2204-kube-v1.30.2 (flux/dev.yaml:7:49) holds 1.30.2
a part of a version
    error[k8s-version-mismatch] edge/control-plane template/cluster.yaml:29:49 `'${os:=ubuntu}-2204-kube-v1.30.${patch}'` flux/dev.yaml:7:37 `v1.31.8` => v1.31.8
    edge/control-plane v1.31.8 (flux/dev.yaml:7:37), edge/edge-md v1.31.8 (flux/dev.yaml:7:37): mismatched, ubuntu-2204-kube-v1.30.2 (template/cluster.yaml:29:49) holds 1.30.2

"#]]);
}

/// The filled-in text is read again, as YAML: `7` is a number then, and `007` is none.
#[test]
fn a_variable_that_is_a_whole_number_is_one() {
    if manifest("").commit("Nothing").is_none() {
        return;
    }
    assert_cases(
        str![[r#"
replicas: ${REPLICAS:=7}
    control-plane  7 machines re-provisioned, by roll
replicas: ${REPLICAS:=007}
    control-plane  all machines re-provisioned, by roll
replicas: ${REPLICAS:=many}
    control-plane  all machines re-provisioned, by roll

"#]],
        |line| {
            let before = cluster("v1.31.8", GOOD).replace("replicas: 3", line);
            let after = before.replace("version: v1.31.8", "version: v1.31.9");
            let impacts = impacts(&before, &[("", after)]).expect("git is there");
            let lines = impacts.lines().map(str::trim);
            let lines = lines.filter(|line| line.starts_with("control-plane"));
            lines.map(str::to_owned).collect()
        },
    );
}

#[test]
fn the_variables_of_clusterctl_have_defaults_and_values_of_the_environment() {
    let text = cluster("${KUBERNETES_VERSION:=v1.31.8}", GOOD);
    let project = || project().file("clusters/edge.yaml", &text);
    let newer = project()
        .file(".env", "export KUBERNETES_VERSION=v1.29.1\n")
        .file("clusters/.env", "KUBERNETES_VERSION=\"v1.30.2\" # newer\n");
    // Values that look like passwords are not read.
    let password = manifest(text.replace("KUBERNETES_VERSION:=v1.31.8", "IMAGE_TOKEN"));
    let cases = [
        ("a default", project()),
        ("the nearest environment", newer),
        (
            "a name of a secret",
            password.file(".env", "IMAGE_TOKEN=v1.30.2\n"),
        ),
    ];
    checked(cases).is(str![[r#"
a default
    edge/control-plane v1.31.8 (clusters/edge.yaml:12:12), edge/edge-md v1.31.8 (clusters/edge.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (clusters/edge.yaml:29:49) holds 1.31.8
the nearest environment
    error[k8s-version-mismatch] edge/control-plane clusters/edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` clusters/edge.yaml:12:12 `${KUBERNETES_VERSION:=v1.31.8}` => v1.30.2
    edge/control-plane v1.30.2 (clusters/edge.yaml:12:12), edge/edge-md v1.30.2 (clusters/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/edge.yaml:29:49) holds 1.31.8
a name of a secret
    error[k8s-version-mismatch] edge/control-plane edge.yaml:29:49 `ubuntu-2204-kube-v1.31.8` edge.yaml:12:12 `${IMAGE_TOKEN}` => v1.30.2
    edge/control-plane v1.30.2 (edge.yaml:12:12), edge/edge-md v1.30.2 (edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (edge.yaml:29:49) holds 1.31.8

"#]]);
}

#[test]
fn the_variables_of_a_folder_count_in_those_below_it_and_in_no_other() {
    assert_cases(
        str![[r#"
.env
    edge/control-plane v1.30.2 (clusters/lab/edge.yaml:12:12): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.30.2 (clusters/lab/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
clusters/.env
    edge/control-plane v1.30.2 (clusters/lab/edge.yaml:12:12): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.30.2 (clusters/lab/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
clusters/lab/.env
    edge/control-plane v1.30.2 (clusters/lab/edge.yaml:12:12): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
    edge/edge-md v1.30.2 (clusters/lab/edge.yaml:23:16): mismatched, ubuntu-2204-kube-v1.31.8 (clusters/lab/edge.yaml:29:49) holds 1.31.8
clusters/lab/more/.env
    edge/control-plane: unknown (its image or version is a variable)
    edge/edge-md: unknown (its image or version is a variable)
clusters/other/.env
    edge/control-plane: unknown (its image or version is a variable)
    edge/edge-md: unknown (its image or version is a variable)

"#]],
        |environment| {
            let text = cluster("${KUBERNETES_VERSION}", GOOD);
            let project = project().file("clusters/lab/edge.yaml", text);
            project
                .file(environment, "KUBERNETES_VERSION=v1.30.2\n")
                .check()
                .pools
        },
    );
}

/// What fills in variables for clusterctl leaves it alone too.
#[test]
fn variables_of_an_object_that_is_marked_for_flux_are_not_filled_in() {
    let template = |mark: &str| {
        let own = "kind: KubeadmControlPlane\nmetadata: {name: edge-cp";
        let text = cluster("${V:=v1.30.2}", GOOD);
        assert!(text.contains(own));
        text.replace(own, &format!("{own}{mark}"))
    };
    let key = "kustomize.toolkit.fluxcd.io/substitute";
    let cases = [
        ("not marked", String::new()),
        ("by a label", format!(", labels: {{{key}: disabled}}")),
        (
            "by an annotation",
            format!(", annotations: {{{key}: disabled}}"),
        ),
        ("another word", format!(", annotations: {{{key}: enabled}}")),
    ];
    let cases = cases.map(|(name, mark)| {
        let stage = project()
            .file("template/cluster.yaml", template(&mark))
            .file(
                "flux/dev.yaml",
                flux("dev", "  postBuild: {substitute: {V: v1.31.8}}\n"),
            );
        (name, stage)
    });
    checked(cases).is(str![[r#"
not marked
    edge/control-plane v1.31.8 (flux/dev.yaml:7:31), edge/edge-md v1.31.8 (flux/dev.yaml:7:31): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8
by a label
by an annotation
    edge/control-plane: unknown (its image or version is a variable)
    edge/edge-md v1.31.8 (flux/dev.yaml:7:31): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8
another word
    edge/control-plane v1.31.8 (flux/dev.yaml:7:31), edge/edge-md v1.31.8 (flux/dev.yaml:7:31): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8

"#]]);
}

/// A path that leads to nothing deploys nothing, and its cluster would be in no list. In another repository it may be there.
#[test]
fn a_folder_that_a_deployment_names_and_that_is_not_there_is_an_error() {
    let dev = flux("dev", "  sourceRef: {kind: GitRepository, name: fleet}\n");
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: edge}
spec: {source: {repoURL: 'https://h/fleet.git', path: template}}
";
    let of = |path: &str, kind: &str, source: &str| {
        let reference = format!("{{kind: {kind}, name: {source}}}");
        let own = dev.replace("./template", path).replace("dev", "prod");
        own.replace("{kind: GitRepository, name: fleet}", &reference)
    };
    let other = object(
        "source.toolkit.fluxcd.io/v1 GitRepository flux-system/other",
        "spec: {url: 'https://h/other.git'}",
    );
    let own = object(
        "source.toolkit.fluxcd.io/v1 GitRepository flux-system/fleet",
        "spec: {url: 'https://h/fleet.git'}",
    );
    let cases = [
        ("misspelled", of("./templatea", "GitRepository", "fleet")),
        ("nothing near", of("./sites", "GitRepository", "fleet")),
        (
            "with its source",
            of("./sites", "GitRepository", "fleet") + &own,
        ),
        ("of another source", of("./sites", "GitRepository", "else")),
        (
            "of another repository",
            of("./templatea", "GitRepository", "other") + &own + &other,
        ),
        (
            "of an artifact",
            of("./templatea", "OCIRepository", "fleet"),
        ),
        ("a variable", of("./${name}", "GitRepository", "fleet")),
        (
            "Argo CD",
            format!(
                "{application}---\n{}",
                application.replace("path: template", "path: templatea")
            ),
        ),
    ];
    let cases = cases.map(|(what, prod)| {
        let stage = project()
            .file("template/cluster.yaml", cluster("v1.31.8", GOOD))
            .file("flux/dev.yaml", &dev)
            .file("flux/prod.yaml", prod);
        (what, stage)
    });
    checked(cases).is(str![[r#"
misspelled
    error[composition-failed] flux/prod.yaml:6:9 `./templatea` => template
    edge/control-plane v1.31.8 (template/cluster.yaml:12:12), edge/edge-md v1.31.8 (template/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8
nothing near
with its source
    error[composition-failed] flux/prod.yaml:6:9 `./sites`
    edge/control-plane v1.31.8 (template/cluster.yaml:12:12), edge/edge-md v1.31.8 (template/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8
of another source
of another repository
of an artifact
a variable
    edge/control-plane v1.31.8 (template/cluster.yaml:12:12), edge/edge-md v1.31.8 (template/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8
Argo CD
    error[composition-failed] flux/prod.yaml:9:55 `templatea` => template
    edge/control-plane v1.31.8 (template/cluster.yaml:12:12), edge/edge-md v1.31.8 (template/cluster.yaml:23:16): by_name, ubuntu-2204-kube-v1.31.8 (template/cluster.yaml:29:49) holds 1.31.8

"#]]);
}
