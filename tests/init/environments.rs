//! Environments of Sylva wherever they are: a folder that composes one release of its chart is one.

use snapbox::str;

use super::{init, project_file};
use crate::support::copy_into;
use crate::support::manifests::{GOOD, cluster};
use crate::support::repository;
use crate::support::stage::{Is, Stage, project};

const TUTORIAL: &str = "fixtures/tutorials/sylva";

/// The tutorial's repository, after a script in it.
fn tutorial(script: &str) -> Stage {
    let stage = project().folder(TUTORIAL).file(".git/HEAD", "");
    stage.shell("mv exported.yaml os-images-info.yaml").exit(0);
    stage.shell(script).exit(0);
    stage
}

const NORTH: &str = "cd environment-values/workload-clusters && mkdir north && mv edge-lyon north/ && \
                     sed -i.bak 's#\\.\\./base#../../base#' north/edge-lyon/kustomization.yaml && rm north/edge-lyon/*.bak";

#[test]
fn an_environment_in_a_subfolder_is_a_cluster() {
    let stage = tutorial(NORTH);
    init(&stage, "");
    project_file(&stage).is(str![[r#"
version: 1
clusters:
  - {name: mgmt, values: [environment-values/mgmt]}
  - each: 'environment-values/workload-clusters/**/'    # one cluster a match, named by its folder
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: flux, path: environment-values/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
    assert_eq!(stage.check().of_rule("k8s-version-mismatch").len(), 1);
}

/// A component for another release, and a chart whose folder has another name, would pin nothing.
#[test]
fn a_component_patches_the_release_and_fits_the_chart_that_the_environment_has() {
    let stage = tutorial("true");
    init(&stage, "");
    stage.edit(
        "environment-values/base/release.yaml",
        "chart: charts/sylva-units",
        "chart: charts/units",
    );
    stage.edit(
        "environment-values/base/release.yaml",
        "valuesFiles: [charts/sylva-units/",
        "valuesFiles: [charts/units/",
    );
    stage.shell("mv charts/sylva-units charts/units").exit(0);
    stage.edit(
        "metalmark.yaml",
        "chart: charts/sylva-units",
        "chart: charts/units",
    );
    stage.edit(
        "environment-values/workload-clusters/edge-lyon/values.yaml",
        "1-30-12",
        "1-31-8",
    );
    stage.run("render").exit(0);
    stage
        .shell("cd environment-values/images/edge-paris; cat *; ls")
        .screen(str![[r##"
# Rendered by metalmark for cluster edge-paris; edit the values, not this file.
apiVersion: kustomize.config.k8s.io/v1alpha1
kind: Component
patches:
  - target:
      kind: HelmRelease
      name: sylva-units
    patch: |
      apiVersion: helm.toolkit.fluxcd.io/v2
      kind: HelmRelease
      metadata:
        name: sylva-units
      spec:
        values:
          cluster:
            capm3:
              os_image_selector:
                _os_images_key_: "(sylva--)?ubuntu-noble-hardened-rke2-1-31-8"
kustomization.yaml

"##]]);
    stage.edit("metalmark.yaml", "patch: sylva-units", "patch: sylva-unit");
    stage.run("render").exit(1).screen(str![[r#"
error[project-file]: `patch: sylva-unit`: the HelmRelease of this cluster is `sylva-units`, so its component would change nothing
--> metalmark.yaml:13:5
 = cluster: edge-lyon
 = also in clusters: edge-paris, mgmt
 = help: write `patch: sylva-units`

1 error in 3 clusters; 5 node pools checked: 5 proven

"#]]);
}

/// kustomize finds a release by each name that it has had, and no other.
#[test]
fn a_component_patches_a_release_whose_name_gets_a_prefix() {
    let stage = tutorial(NORTH);
    init(&stage, "");
    let file = "environment-values/mgmt/kustomization.yaml";
    for prefix in ["namePrefix: a-", "namePrefix: s", "nameSuffix: s"] {
        let before = stage.read(file);
        stage.write(file, format!("{before}{prefix}\n"));
        let screen = stage.run("render --stdout mgmt").outcome.stderr;
        assert!(
            !screen.contains("would change nothing"),
            "{prefix}: {screen}"
        );
        stage.write(file, before);
    }
    stage.edit("metalmark.yaml", "patch: sylva-units", "patch: units");
    let screen = stage.run("render --stdout mgmt").exit(1).outcome.stderr;
    assert!(screen.contains("would change nothing"), "{screen}");
}

/// A pattern may miss a folder, and a folder may lack its kustomization.
#[test]
fn check_warns_of_environments_and_values_files_that_no_cluster_reads() {
    let stage = tutorial(NORTH);
    let values = stage.read("environment-values/workload-clusters/edge-paris/values.yaml");
    let stage = stage
        .file(
            "environment-values/workload-clusters/edge-oslo/values.yaml",
            &values,
        )
        .file(
            "metalmark.yaml",
            "version: 1\nclusters: [{each: 'environment-values/workload-clusters/*/'}]\nimages: {facts: [os-images-info.yaml]}\n",
        );
    stage.run("check").exit(0).screen(str![[r#"
warning[cluster-unlisted]: no cluster reads `environment-values/workload-clusters/edge-oslo/values.yaml`, which has the key `cluster`
--> environment-values/workload-clusters/edge-oslo/values.yaml
 = help: name it below `clusters`, by itself or by a pattern: `**/` matches folders of any depth

warning[cluster-unlisted]: no cluster reads `environment-values/workload-clusters/north/edge-lyon`, which deploys the chart of the listed clusters
--> environment-values/workload-clusters/north/edge-lyon

2 warnings; 2 node pools checked: 2 proven

"#]]);
    let files = project().files(&[
        ("clusters/paris/values.yaml", &values),
        ("clusters/north/lyon/values.yaml", &values),
        ("clusters/north/grafana/values.yaml", "replicas: 2\n"),
        ("clusters/north/chart/Chart.yaml", "name: c\n"),
        ("clusters/north/chart/values.yaml", &values),
        (
            "metalmark.yaml",
            "version: 1\nclusters: [{each: 'clusters/*/values.yaml'}]\n",
        ),
    ]);
    let warned = files.check().of_rule("cluster-unlisted").join("\n");
    warned.is(str![
        "warning[cluster-unlisted] clusters/north/lyon/values.yaml:1:1 `` => clusters | **/"
    ]);
}

#[test]
fn environments_are_found_in_any_folder_and_the_chart_is_none() {
    for script in [
        "mv environment-values envs",
        "mkdir deploy && mv environment-values deploy/",
    ] {
        let stage = tutorial(script);
        let said = init(&stage, "");
        assert!(
            said.contains("found 3 clusters with 5 node pools: Sylva environments"),
            "{said}"
        );
        assert_eq!(stage.check().of_rule("k8s-version-mismatch").len(), 1);
    }
    let stage = tutorial("mv environment-values envs");
    init(&stage, "");
    project_file(&stage).is(str![[r#"
version: 1
clusters:
  - {name: mgmt, values: [envs/mgmt]}
  - each: 'envs/workload-clusters/*/'    # one cluster a match, named by its folder
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: flux, path: envs/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
    let fleet = tutorial(
        "cd environment-values && mv workload-clusters fleet && cd fleet && mv edge-lyon edge-oslo && cp -r edge-oslo edge-lyon",
    );
    init(&fleet, "");
    project_file(&fleet).is(str![[r#"
version: 1
clusters:
  - {name: mgmt, values: [environment-values/mgmt]}
  - each: 'environment-values/fleet/*/'    # one cluster a match, named by its folder
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: flux, path: environment-values/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
}

/// Its own environments are examples.
#[test]
fn environments_on_a_sylva_core_in_a_folder_have_its_chart() {
    let stage = project().file(".git/HEAD", "");
    copy_into(
        &repository().join(TUTORIAL),
        &stage.path().join("sylva-core"),
    );
    stage
        .shell(
            "mkdir envs && cp -r sylva-core/environment-values/workload-clusters/edge-* envs/ && \
             for one in envs/*/kustomization.yaml; do sed -i.bak 's#\\.\\./base#../../sylva-core/environment-values/workload-clusters/base#' $one; done; \
             mv sylva-core/exported.yaml os-images-info.yaml",
        )
        .exit(0);
    init(&stage, "");
    project_file(&stage).is(str![[r#"
version: 1
clusters:
  - {name: edge-lyon, values: [envs/edge-lyon]}
  - {name: edge-paris, values: [envs/edge-paris]}
state: {HelmChart/charts/sylva-units: sylva-core/charts/sylva-units}
images:
  facts: [os-images-info.yaml]
outputs:
  - {target: flux, path: envs/images, patch: sylva-units, chart: charts/sylva-units}

"#]]);
    assert_eq!(stage.check().of_rule("k8s-version-mismatch").len(), 1);
}

/// The help says: give it as a file under `state:`.
#[test]
fn a_chart_that_is_given_is_the_folder_of_the_chart() {
    let stage = tutorial("mkdir vendor && mv charts vendor/").file(
        "metalmark.yaml",
        "version: 1\nclusters: [{each: 'environment-values/workload-clusters/*/'}]\nimages: {facts: [os-images-info.yaml]}\n\
         state: {HelmChart/charts/sylva-units: vendor/charts/sylva-units, ConfigMap/sylva-values: os-images-info.yaml}\n",
    );
    stage.check().is(str![[r#"
error[k8s-version-mismatch] edge-lyon/control-plane environment-values/workload-clusters/edge-lyon/values.yaml:4:16 `ubuntu-noble-hardened-rke2-1-30-12` vendor/charts/sylva-units/values.yaml:3:16 `'{{ index .Values._internal.k8s_version_map .Values.k8s_version_short }}'` os-images-info.yaml:26:22 `1.30.12+rke2r1` fix ubuntu-noble-hardened-rke2-1-31-8 => cluster.capm3.image_key: ubuntu-noble-hardened-rke2-1-31-8
warning[project-file] metalmark.yaml:4:90 `os-images-info.yaml` => HelmChart/
edge-lyon/control-plane v1.31.8+rke2r1 (vendor/charts/sylva-units/values.yaml:3:16), edge-lyon/md0 v1.31.8+rke2r1 (vendor/charts/sylva-units/values.yaml:3:16): mismatched, ubuntu-noble-hardened-rke2-1-30-12 (environment-values/workload-clusters/edge-lyon/values.yaml:4:16) holds 1.30.12+rke2r1 (os-images-info.yaml:26:22)
edge-paris/control-plane v1.31.8+rke2r1 (vendor/charts/sylva-units/values.yaml:3:16), edge-paris/md0 v1.31.8+rke2r1 (vendor/charts/sylva-units/values.yaml:3:16): proven, ubuntu-noble-hardened-rke2-1-31-8 (environment-values/workload-clusters/edge-paris/values.yaml:4:24) holds 1.31.8+rke2r1 (os-images-info.yaml:16:22)

"#]]);
    stage
        .edit(
            "metalmark.yaml",
            "vendor/charts/sylva-units",
            "vendor/charts/sylva-unit",
        )
        .run("check")
        .exit(1)
        .brief(str![[r#"
error[project-file]: there is no `vendor/charts/sylva-unit`
  metalmark.yaml:4:39 `vendor/charts/sylva-unit`
  help: did you mean `vendor/charts/sylva-units`?
error[value-missing]: `cluster.k8s_version` is not set
  environment-values/workload-clusters/edge-lyon/values.yaml:2:3 `n` it would be here
  cluster: edge-lyon
  also at: environment-values/workload-clusters/edge-paris/values.yaml:2:3 (edge-paris)
  help: set `cluster.k8s_version`: no image can be matched without it
  help: `HelmChart/charts/sylva-units` may hold it, which exists only at run time: give it as a file under `state:`
error[no-image-matches]: the selector cannot be matched: the cluster has no `k8s_version` for its selectors to match
  environment-values/workload-clusters/edge-paris/values.yaml:4:24 `{os: ubuntu, hardened: true}` this selector
  cluster: edge-paris, pool control-plane
  also in pools: md0
warning[project-file]: no cluster needs `ConfigMap/sylva-values`
  metalmark.yaml:4:89 `os-images-info.yaml`
  help: write the kind and name of an object that a release names and the repository does not build, or `HelmChart/` and the chart as a release names it
4 errors, 1 warning in 2 clusters; 0 node pools checked; 2 skipped: its selector is wrong; 2 skipped: no Kubernetes version

"#]]);
}

#[test]
fn a_layer_of_the_project_file_that_is_missing_has_its_place_and_the_near_name() {
    let stage = project().files(&[
        ("common.yaml", "a: 1\n"),
        (
            "metalmark.yaml",
            "version: 1\nvalues: [commonn.yaml]\nclusters: [{name: a, values: [common.yaml]}]\n",
        ),
    ]);
    stage.run("check").exit(1).screen(str![[r#"
error[project-file]: there is no `commonn.yaml`
 --> metalmark.yaml:2:10
  |
2 | values: [commonn.yaml]
  |          ^^^^^^^^^^^^
  |
  = help: did you mean `common.yaml`?

1 error

"#]]);
}

#[test]
fn a_project_file_with_another_ending_is_not_ignored_in_silence() {
    let stage = project().files(&[
        ("metalmark.yml", "version: 1\n"),
        ("edge.yaml", &cluster("v1.31.8", GOOD)),
    ]);
    stage.run("check").exit(0).screen(str![[r#"
warning[project-file]: nothing reads `metalmark.yml`: a project file is called `metalmark.yaml`
--> metalmark.yml
 = help: rename it, or remove it

1 warning; 2 node pools checked: 2 by name only

"#]]);
    stage.run("clusters").screen(str![[r#"
CLUSTER  POOL           PROVIDER  KUBERNETES  IMAGE                     JUDGMENT
edge     control-plane  capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
edge     edge-md        capo      v1.31.8     ubuntu-2204-kube-v1.31.8  by name only: `1.31.8` in the image's name
warning[project-file]: nothing reads `metalmark.yml`: a project file is called `metalmark.yaml`
--> metalmark.yml
 = help: rename it, or remove it

1 warning

"#]]);
    let alone = project().file("metalmark.yml", "version: 1\n");
    alone.run("render").exit(2).screen(str![[r#"
error: there is no `metalmark.yaml` here or in a folder above
help: rename `metalmark.yml` to `metalmark.yaml`

"#]]);
}

/// Hooks and jobs of another project check that one alone.
#[test]
fn each_project_of_a_repository_has_hooks_and_jobs_of_its_own() {
    let stage = project().file(".git/HEAD", "");
    let words = "init --pre-commit --ci=gitlab --renovate";
    for team in ["red", "blue"] {
        let folder = format!("teams/{team}");
        copy_into(
            &repository().join("fixtures/workspaces/sylva-flux"),
            &stage.path().join(&folder),
        );
    }
    stage.run_in("teams/red", words).exit(0);
    let said = stage.run_in("teams/blue", words).exit(0).outcome.stdout;
    let lines = said.lines().filter(|line| {
        let is_own = line.contains("blue") || line.starts_with("add ");
        is_own || line.contains("already")
    });
    lines.collect::<Vec<_>>().join("\n").is(str![[r#"
`metalmark.yaml` is there already, and is left as it is: `metalmark init --dry-run` prints what would be written
add at the end in `.gitattributes`:
teams/blue/rendered/clusters/** text eol=lf
add under `repos:` in `.pre-commit-config.yaml`:
      - id: metalmark-render-teams-blue
        args: [-C, teams/blue]
add to the lists of these names in `renovate.json`:
        "workingDirTemplate": "teams/blue",
add as a job of its own in `.gitlab-ci.yml`:
metalmark-teams-blue:
      metalmark -C teams/blue render --check --report "gitlab=$CI_PROJECT_DIR/metalmark-codequality.json" --report "junit=$CI_PROJECT_DIR/metalmark-junit.xml" --report "markdown=$CI_PROJECT_DIR/metalmark.md"
"#]]);
    // What is there is not said twice, and the top is a project of its own.
    let said = stage.run_in("teams/red", words).exit(0).outcome.stdout;
    assert_eq!(said.matches("has metalmark already").count(), 4, "{said}");
    let hooks = stage.read(".pre-commit-config.yaml");
    let top = stage.file("metalmark.yaml", "version: 1\nmanifests: [.]\n");
    let said = init(&top, "--pre-commit");
    assert!(said.contains("add under `repos:`"), "{said}");
    let own = "  - repo: local\n    hooks:\n      - id: metalmark-check\n        entry: metalmark check\n";
    top.write(".pre-commit-config.yaml", format!("{hooks}{own}"));
    let said = init(&top, "--pre-commit");
    assert!(
        said.contains("`.pre-commit-config.yaml` has metalmark already"),
        "{said}"
    );
}

#[test]
fn one_workload_cluster_is_found_by_the_pattern_of_those_that_follow() {
    let stage = tutorial("rm -r environment-values/workload-clusters/edge-lyon");
    init(&stage, "");
    let file = project_file(&stage);
    assert!(
        file.contains("each: 'environment-values/workload-clusters/*/'"),
        "{file}"
    );
}

#[test]
fn a_pattern_that_is_longer_than_any_is_refused() {
    let pattern = "a".repeat(5_000);
    let stage = project().file("values.yaml", "a: 1\n");
    let outcome = stage.run(&format!("check --clusters {pattern}*")).exit(2);
    let said = outcome.outcome.stderr;
    assert!(said.contains("is not a glob"), "{said}");
}
