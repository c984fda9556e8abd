//! The values of Argo CD's Applications and ApplicationSets.

use snapbox::str;

use crate::support::manifests::object;
use crate::support::stage::{Is, Stage, assert_cases, project};

use super::composed::releases;

/// An Application with this source or these sources.
fn application(sources: &str) -> Stage {
    let spec = format!("spec:\n  destination: {{namespace: platform}}\n{sources}");
    project().file(
        "app.yaml",
        object("argoproj.io/v1alpha1 Application paris", &spec),
    )
}

#[test]
fn an_application_has_parameters_over_values_over_files_over_the_chart() {
    let source = "  source:
    path: charts/units
    helm:
      valueFiles: [../../env/$ARGOCD_APP_NAME.yaml, /env/all.yaml]
      values: |
        a: values
        b: values
        c: values
      parameters:
        - {name: c, value: 'x,y'}
        - {name: number, value: '7'}
        - {name: text, value: '7', forceString: true}
      fileParameters: [{name: from.file, path: /env/note.txt}]
";
    let project = application(source)
        .file(
            "charts/units/values.yaml",
            "a: chart\nd: chart\ne: chart\nf: chart\n",
        )
        .file("env/paris.yaml", "a: file\nd: file\n")
        .file("env/all.yaml", "d: all\ne: all\n")
        .file("env/note.txt", "one, two");
    releases(&project, "app.yaml").join("\n").is(str![[r#"
paris in `platform`
  a = "values" (app.yaml:12:12)
  b = "values" (app.yaml:13:12)
  c = "x,y" (app.yaml:16:28)
  d = "all" (env/all.yaml:1:4)
  e = "all" (env/all.yaml:2:4)
  f = "chart" (charts/units/values.yaml:4:4)
  from.file = "one, two" (env/note.txt:1:1)
  number = 7 (app.yaml:17:33)
  text = "7" (app.yaml:18:31)
"#]]);
}

/// Argo CD passes `--set` before `--set-string`, in whatever order the parameters are written.
#[test]
fn of_two_parameters_the_one_that_is_a_string_counts() {
    assert_cases(
        str![[r#"
[{name: version, value: v1.29.9}, {name: version, value: v1.31.8, forceString: true}]
    paris in `platform`
      version = "v1.31.8" (app.yaml:7:101)
[{name: version, value: v1.31.8, forceString: true}, {name: version, value: v1.29.9}]
    paris in `platform`
      version = "v1.31.8" (app.yaml:7:68)

"#]],
        |parameters| {
            let project = application(&format!(
                "  source: {{path: chart, helm: {{parameters: {parameters}}}}}\n"
            ));
            releases(&project.file("chart/values.yaml", "{}"), "app.yaml")
        },
    );
}

/// It takes files of another source in the same repository; a chart of a registry is not here.
#[test]
fn of_several_sources_the_one_with_values_of_helm_is_the_chart() {
    assert_cases(
        str![[r#"
[{repoURL: https://charts.example.org, chart: units, helm: {valueFiles: [$env/env/paris.yaml], valuesObject: {b: 2}}}, {repoURL: https://git.example.org/env.git, ref: env}]
    paris in `platform`
      missing HelmChart/units values.yaml
      a = 1 (env/paris.yaml:1:4)
      b = 2 (app.yaml:7:125)
[{path: other}, {path: chart, helm: {valuesObject: {k8s_version: v1.31.8}}}]
    paris in `platform`
      from = "chart" (chart/values.yaml:1:7)
      k8s_version = "v1.31.8" (app.yaml:7:77)
[{path: other}, {path: chart}]
    paris in `platform`
      from = "other" (other/values.yaml:1:7)
[{ref: env}, {path: chart}]
    paris in `platform`
      from = "chart" (chart/values.yaml:1:7)
[{path: chart, helm: {valueFiles: [$gone/env/paris.yaml]}}]
    app in ``
      composition-failed: no source has `ref: gone` (app.yaml:7:47)

"#]],
        |sources| {
            let project = application(&format!("  sources: {sources}\n"))
                .file("env/paris.yaml", "a: 1")
                .file("chart/values.yaml", "from: chart\n")
                .file("other/values.yaml", "from: other\n");
            releases(&project, "app.yaml")
        },
    );
}

#[test]
fn an_application_set_makes_one_cluster_for_each_element_or_folder() {
    let set = |generator: &str, name: &str, files: &str, go: bool| {
        let source = format!("{{path: chart, helm: {{valueFiles: ['{files}']}}}}");
        let template = format!("{{metadata: {{name: '{name}'}}, spec: {{source: {source}}}}}");
        let spec =
            format!("spec: {{goTemplate: {go}, generators: [{generator}], template: {template}}}");
        let set = object("argoproj.io/v1alpha1 ApplicationSet all", &spec);
        let project = project()
            .file("set.yaml", set)
            .file("chart/values.yaml", "{}")
            .file("env/paris/values.yaml", "name: Paris")
            .file("env/lyon/values.yaml", "name: Lyon");
        releases(&project, "set.yaml")
    };
    let lists = set(
        "{list: {elements: [{site: paris}, {site: lyon}]}}",
        "a-{{site}}",
        "/env/{{site}}/values.yaml",
        false,
    );
    let folders = set(
        "{git: {directories: [{path: env/*}, {path: env/lyon, exclude: true}]}}",
        "{{ .path.basename }}",
        "/{{.path.path}}/values.yaml",
        true,
    );
    [lists, folders].concat().join("\n").is(str![[r#"
a-paris in ``
  name = "Paris" (env/paris/values.yaml:1:7)
a-lyon in ``
  name = "Lyon" (env/lyon/values.yaml:1:7)
paris in ``
  name = "Paris" (env/paris/values.yaml:1:7)
"#]]);
}
