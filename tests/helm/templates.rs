//! The chart's own named templates, and those of its dependencies, are what its values include.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use snapbox::str;

use crate::support::stage::{Is, Stage, project, table};

/// A project with one cluster of the chart `charts/app`, which has these files.
fn site(files: &[(&str, &str)], settings: &str, values: &str) -> Stage {
    let file = format!(
        "version: 1\nvalues: [charts/app/values.yaml]\nclusters: [{{name: edge, values: [own.yaml]}}]\n{settings}"
    );
    project()
        .files(&[
            ("metalmark.yaml", &file),
            ("charts/app/Chart.yaml", METADATA),
            ("charts/app/values.yaml", values),
            ("own.yaml", "{}\n"),
        ])
        .files(files)
}

const METADATA: &str = "apiVersion: v2\nname: app\nversion: 1.2.3\n";

/// The metadata of another chart.
fn metadata(name: &str) -> String {
    format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\n")
}

/// A chart's archive with one file, as `helm package` makes it.
fn package(path: &str, text: &str) -> Vec<u8> {
    let mut tar = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::default()));
    let mut header = tar::Header::new_gnu();
    header.set_size(text.len() as u64);
    header.set_mode(0o644);
    tar.append_data(&mut header, path, text.as_bytes())
        .expect("an entry");
    let mut gzip = tar.into_inner().expect("an archive");
    gzip.flush().expect("memory");
    gzip.finish().expect("memory")
}

/// The value `v` of the cluster.
fn value(stage: &Stage) -> String {
    let printed = stage.run("values edge v").exit(0).outcome.stdout;
    printed.trim().to_owned()
}

/// repositories D12: `values` ended with "there is no template" on every Sylva repository.
#[test]
fn values_include_the_templates_of_their_chart() {
    let template =
        "{{ define \"app.name\" }}{{ .Values.a }}-{{ .Chart.Name }}-{{ .Chart.Version }}{{ end }}";
    let files = [("charts/app/templates/_names.tpl", template)];
    let stage = site(&files, "", "a: x\nv: '{{ include \"app.name\" . }}'\n");
    assert_eq!(value(&stage), "x-app-1.2.3");
}

/// The chart's own definition replaces that of a dependency, as in Helm; what interprets values is metalmark's.
#[test]
fn a_definition_of_the_chart_replaces_that_of_its_dependency() {
    let own = "{{ define \"both\" }}chart{{ end }}{{ define \"preserve-type\" }}no{{ end }}";
    let inner = "{{ define \"both\" }}folder{{ end }}{{ define \"inner\" }}folder{{ end }}";
    let packed = "{{ define \"packed\" }}archive{{ end }}{{ define \"both\" }}archive{{ end }}";
    let files = [
        ("charts/app/templates/_a.tpl", own),
        ("charts/app/charts/inner/Chart.yaml", &*metadata("inner")),
        ("charts/app/charts/inner/templates/_z.tpl", inner),
    ];
    let values = "v: '{{ include \"both\" . }} {{ include \"inner\" . }} {{ include \"packed\" . }} {{ .Values.w }}'\n\
                  w: '{{ 5 | include \"preserve-type\" }}'\n";
    let archive = package("packed/templates/_p.tpl", packed);
    let stage = site(&files, "", values).file("charts/app/charts/packed-0.1.0.tgz", archive);
    assert_eq!(value(&stage), "chart folder archive 5");
}

/// They were missing, where the dependency's values were not.
#[test]
fn values_include_the_templates_of_a_dependency_in_another_folder() {
    let depends = "dependencies: [{name: names, version: 1.0.0, repository: 'file://../names'}]\n";
    let files = [
        ("charts/app/Chart.yaml", &*(metadata("app") + depends)),
        ("charts/names/Chart.yaml", &metadata("names")),
        (
            "charts/names/templates/_n.tpl",
            "{{ define \"names\" }}elsewhere{{ end }}",
        ),
    ];
    let stage = site(&files, "", "v: '{{ include \"names\" . }}'\n");
    assert_eq!(value(&stage), "elsewhere");
}

/// Two charts that depend on each other cannot be read to the end: the templates that were read were lost with the rest.
#[test]
fn templates_of_a_chart_whose_dependencies_never_end_are_known() {
    let depends = |name: &str, on: &str| {
        let depends = format!("{{name: {on}, version: 1.0.0, repository: 'file://../{on}'}}");
        format!("{}dependencies: [{depends}]\n", metadata(name))
    };
    let files = [
        ("charts/app/Chart.yaml", &*depends("app", "other")),
        (
            "charts/app/templates/_a.tpl",
            "{{ define \"one\" }}1{{ end }}",
        ),
        ("charts/other/Chart.yaml", &depends("other", "app")),
    ];
    let stage = site(&files, "", "v: '{{ include \"one\" . }}'\n");
    assert_eq!(value(&stage), "\"1\"");
}

#[test]
fn a_missing_template_names_the_files_that_cannot_be_read() {
    let template = ("charts/app/templates/_a.tpl", "{{ define \"a\" }}{{ end");
    let archive = ("charts/app/charts/b.tgz", "no archive");
    let stage = site(&[template, archive], "", "v: '{{ include \"a\" . }}'\n");
    let _ = stage.run("values edge v").exit(1).brief(str![[r#"
error[expression-error]: there is no template `a`; `charts/app/charts/b.tgz` cannot be read: it is not a tar archive; `templates/_a.tpl` of the chart cannot be parsed: the action is not closed by `}}`
  charts/app/values.yaml:1:8 `include "a" .` in `v`
  cluster: edge
1 error in 1 cluster

"#]]);
}

/// fidelity D12: `.Release.Name` was `sylva-units` in the values of any chart.
#[test]
fn the_project_names_the_release_of_a_cluster() {
    let stage = site(&[], "", "v: '{{ .Release.Name }}'\n");
    assert_eq!(value(&stage), "sylva-units");
    let release = "name: edge, release: mine,";
    stage.edit("metalmark.yaml", "name: edge,", release);
    assert_eq!(value(&stage), "mine");
}

/// Random text is not printed, and nothing else depends on it.
#[test]
fn random_text_in_values_is_a_warning() {
    let values = "v: '{{ randAlphaNum 8 }}'\nw: '{{ now }}'\nx: 1\n";
    let run = site(&[], "", values).run("values edge");
    let _ = run.exit(0).brief(str![[r#"
x: 1
warning[expression-error]: `randAlphaNum` is refused: it gives a different result on every run; set the value in a values file
  charts/app/values.yaml:1:8 `randAlphaNum 8` in `v`
  cluster: edge
warning[expression-error]: `now` is refused: it depends on the time of the run; set the value in a values file
  charts/app/values.yaml:2:8 `now` in `w`
  cluster: edge
2 warnings in 1 cluster

"#]]);
}

/// fidelity D8: what sylva-library 0.3.5 refuses was matched as 0.9.0 does.
#[test]
fn images_are_matched_as_the_charts_sylva_library_does() {
    let values = "sylva_diskimagebuilder_images: {}\n\
        os_images: {img: {uri: 'https://x.example/i', sha256: abc, os: ubuntu, oci-image-registry-key: lab, k8s-version: 1.31.8, k8s-flavor: kubeadm}}\n\
        cluster: {k8s_version: v1.31.8, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}, \
        control_plane: {capm3: {os_image_selector: {os: ubuntu, oci-image-registry-key: lab}}}}\n";
    let dependency = format!("{METADATA}dependencies: [{{name: sylva-library, version: 0.3.5}}]\n");
    let library = |text: &str| package("sylva-library/templates/_os_images.tpl", text);
    let refused = "not a fact that selectors know in the chart's version of sylva-library";
    let is_refused = |stage: &Stage| stage.run("check").outcome.stdout.contains(refused);
    assert!(!is_refused(&site(&[], "", values)), "0.9.0 unless known");
    for (version, refuses) in [
        ("0.3.5", true),
        ("0.6.3", true),
        ("0.7.5", false),
        ("0.10.1", false),
    ] {
        let setting = format!("sylva_library: \"{version}\"\n");
        assert_eq!(
            is_refused(&site(&[], &setting, values)),
            refuses,
            "{version}"
        );
    }
    let declared = site(&[("charts/app/Chart.yaml", &dependency)], "", values);
    assert!(is_refused(&declared));
    let archive = "charts/app/charts/sylva-library-0.3.5.tgz";
    let older = "{{ define \"pick-os-image\" }}{{ end }}";
    declared.write(archive, library(older));
    assert!(is_refused(&declared));
    declared.write(archive, library("oci-image-registry-key"));
    assert!(
        !is_refused(&declared),
        "its text counts more than its version"
    );
}

/// The values of a chart's dependencies are below their keys, and what the chart says over them.
#[test]
fn values_of_what_a_chart_depends_on_are_among_its_values() {
    let k8s = "v: '{{ .Values.versions.k8s | default \"v1.30.4\" }}'\n";
    let off = ", condition: versions.enabled";
    let import = ", import-values: [{child: k8s, parent: n}, {child: m, parent: .}]";
    for (more, values, expression, expected) in [
        ("", "versions: {}\n", k8s, "v1.31.8"),
        ("", "", k8s, "v1.31.8"),
        ("", "versions: {k8s: v1.29.1}\n", k8s, "v1.29.1"),
        ("", "versions: {k8s: null}\n", k8s, "v1.30.4"),
        (off, "versions: {enabled: false}\n", k8s, "v1.30.4"),
        (import, "", "v: '{{ .Values.a }}'\n", "imported"),
    ] {
        let depends = format!("dependencies: [{{name: versions, version: 1.0.0{more}}}]\n");
        let files = [
            ("charts/app/Chart.yaml", &*format!("{METADATA}{depends}")),
            (
                "charts/app/charts/versions/Chart.yaml",
                &metadata("versions"),
            ),
            (
                "charts/app/charts/versions/values.yaml",
                "k8s: v1.31.8\nm: {a: imported}\n",
            ),
        ];
        let stage = site(&files, "", &format!("{values}{expression}"));
        assert_eq!(value(&stage), expected, "{more} {values}");
    }
}

#[test]
fn a_dependency_whose_values_cannot_be_read_is_reported() {
    let folder = "charts/app/charts/versions";
    let files = [
        (&*format!("{folder}/Chart.yaml"), &*metadata("versions")),
        (&format!("{folder}/values.yaml"), "k8s: [\n"),
    ];
    let run = site(&files, "", "v: a\n").run("values edge v");
    let _ = run.exit(1).brief(str![[r#"
a
error[yaml-syntax]: expected a value, found the end of the file
  charts/app/charts/versions/values.yaml:2:1 ``
1 error in 1 cluster

"#]]);
}

#[test]
fn expressions_read_the_files_of_their_chart() {
    let files = [
        ("charts/app/k8s-version.txt", "v1.31.8\n"),
        ("charts/app/old/k8s-version.txt", "v1.29.1\n"),
        ("charts/app/.helmignore", "# left out\n/old/\n"),
        ("charts/app/secrets/pw.txt", "aSEKRETqwertyuiop99b\n"),
    ];
    let names = [
        // What an expression makes of a secret cannot be distinguished from its other text.
        "secrets/pw.txt",
        "k8s-version.txt",
        "old/k8s-version.txt",
        "values.yaml",
    ];
    let table = table(names, |name| {
        let values = format!("v: '{{{{ .Files.Get \"{name}\" | trim | default \"v1.30.4\" }}}}'\n");
        vec![value(&site(&files, "", &values))]
    });
    table.is(str![[r#"
secrets/pw.txt
    "<secret charts/app/secrets/pw.txt>"
k8s-version.txt
    v1.31.8
old/k8s-version.txt
    v1.30.4
values.yaml
    v1.30.4

"#]]);
}

#[test]
fn files_of_a_chart_that_is_not_there_are_not_known() {
    let values = "v: '{{ .Files.Get \"k8s-version.txt\" | default \"v1.30.4\" }}'\n";
    let stage = site(&[], "", values);
    stage.remove("charts/app/Chart.yaml");
    let _ = stage.run("values edge v").brief(str![[r#"
warning[expression-error]: `.Files` holds files of the chart, which is not in the repository
  charts/app/values.yaml:1:8 `.Files.Get "k8s-version.txt"` in `v`
  cluster: edge
1 warning in 1 cluster

"#]]);
}

#[test]
fn the_chart_has_the_fields_of_its_metadata() {
    let chart = format!("{METADATA}description: v1.31.8\nannotations: {{a: b}}\n");
    let values = "v: '{{ .Chart.Description }} {{ .Chart.Type | default \"none\" }} {{ .Chart.Annotations.a }} \
                  {{ .Chart.IsRoot }} {{ (.Chart | toJson | fromJson).description }}'\n";
    let stage = site(&[("charts/app/Chart.yaml", &chart)], "", values);
    assert_eq!(value(&stage), "v1.31.8 none b true v1.31.8");
}

/// Neither order of evaluation follows what an expression changes, so that it says so.
#[test]
fn an_expression_that_changes_other_values_is_reported() {
    let changes = "a: '{{ $_ := mergeOverwrite .Values.images (dict \"pinned\" \"new\") }}'\n";
    let read = "images: {pinned: old}\nv: '{{ .Values.images.pinned }}'\n";
    let said = |stage: &Stage| {
        let outcome = stage.run("check").outcome;
        outcome.stdout + &outcome.stderr
    };
    for evaluation in ["", "evaluation: exact\n"] {
        let chart = site(&[], evaluation, &format!("{changes}{read}"));
        let cluster = site(&[("own.yaml", changes)], evaluation, read);
        for (stage, place) in [(chart, "charts/app/values.yaml:"), (cluster, "own.yaml:")] {
            let said = said(&stage);
            let message = "`a` changes other values by `mergeOverwrite`";
            assert!(said.contains(message) && said.contains(place), "{said}");
        }
    }
    let other = format!("a: '{{{{ merge (dict) .Values.images }}}}'\n{read}");
    let said = said(&site(&[], "", &other));
    assert!(!said.contains("changes other"), "{said}");
}
