//! The chart's own named templates, and those of its dependencies, are what its values include.

use std::fs;
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::TempDir;

use super::support::{Metalmark, Outcome};

/// A project with one cluster of the chart `charts/app`, which has these files.
fn project(files: &[(&str, &str)], settings: &str, values: &str) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let project = format!(
        "version: 1\nvalues: [charts/app/values.yaml]\nclusters: [{{name: edge, values: [own.yaml]}}]\n{settings}"
    );
    let chart = "apiVersion: v2\nname: app\nversion: 1.2.3\n";
    let all = [
        ("metalmark.yaml", &*project),
        ("charts/app/Chart.yaml", chart),
        ("charts/app/values.yaml", values),
        ("own.yaml", "{}\n"),
    ];
    for (path, text) in all.iter().chain(files) {
        write(&folder.path().join(path), text.as_bytes());
    }
    folder
}

fn write(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
    fs::write(path, bytes).expect("a file");
}

/// A chart's archive with one file, as `helm package` makes it.
fn packaged(path: &str, text: &str) -> Vec<u8> {
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

fn value(folder: &TempDir, path: &str) -> Outcome {
    let run = Metalmark::within(folder.path()).args(["values", "edge", path]);
    run.run()
}

/// repositories D12: `values` ended with "there is no template" on every Sylva repository.
#[test]
fn values_include_the_templates_of_their_chart() {
    let templates = (
        "charts/app/templates/_names.tpl",
        "{{ define \"app.name\" }}{{ .Values.a }}-{{ .Chart.Name }}-{{ .Chart.Version }}{{ end }}",
    );
    let values = "a: x\nv: '{{ include \"app.name\" . }}'\n";
    let outcome = value(&project(&[templates], "", values), "v");
    assert_eq!((outcome.status, outcome.stdout.trim()), (0, "x-app-1.2.3"));
}

/// The chart's own definition replaces that of a dependency, as in Helm; what interprets values is metalmark's.
#[test]
fn a_definition_of_the_chart_replaces_that_of_its_dependency() {
    let folder = project(
        &[
            (
                "charts/app/templates/_a.tpl",
                "{{ define \"both\" }}chart{{ end }}{{ define \"preserve-type\" }}no{{ end }}",
            ),
            (
                "charts/app/charts/inner/Chart.yaml",
                "apiVersion: v2\nname: inner\nversion: 0.1.0\n",
            ),
            (
                "charts/app/charts/inner/templates/_z.tpl",
                "{{ define \"both\" }}folder{{ end }}{{ define \"inner\" }}folder{{ end }}",
            ),
        ],
        "",
        "v: '{{ include \"both\" . }} {{ include \"inner\" . }} {{ include \"packed\" . }}'\nw: '{{ 5 | include \"preserve-type\" }}'\n",
    );
    let archive = packaged(
        "packed/templates/_p.tpl",
        "{{ define \"packed\" }}archive{{ end }}{{ define \"both\" }}archive{{ end }}",
    );
    write(
        &folder.path().join("charts/app/charts/packed-0.1.0.tgz"),
        &archive,
    );
    assert_eq!(value(&folder, "v").stdout.trim(), "chart folder archive");
    assert_eq!(value(&folder, "w").stdout.trim(), "5");
}

/// They were missing, where the dependency's values were not.
#[test]
fn values_include_the_templates_of_a_dependency_in_another_folder() {
    let metadata = |name: &str| format!("apiVersion: v2\nname: {name}\nversion: 0.1.0\n");
    let depends = "dependencies: [{name: names, version: 0.1.0, repository: 'file://../names'}]\n";
    let folder = project(
        &[
            ("charts/app/Chart.yaml", &(metadata("app") + depends)),
            ("charts/names/Chart.yaml", &metadata("names")),
            (
                "charts/names/templates/_n.tpl",
                "{{ define \"names\" }}elsewhere{{ end }}",
            ),
        ],
        "",
        "v: '{{ include \"names\" . }}'\n",
    );
    assert_eq!(value(&folder, "v").stdout.trim(), "elsewhere");
}

/// Two charts that depend on each other cannot be read to the end: the templates that were read were lost with the rest.
#[test]
fn templates_of_a_chart_whose_dependencies_never_end_are_known() {
    let depends = |name: &str, on: &str| {
        format!(
            "apiVersion: v2\nname: {name}\nversion: 1.2.3\ndependencies:\n- {{name: {on}, version: 1.2.3, repository: 'file://../{on}'}}\n"
        )
    };
    let folder = project(
        &[
            ("charts/app/Chart.yaml", &depends("app", "other")),
            (
                "charts/app/templates/_a.tpl",
                "{{ define \"one\" }}1{{ end }}",
            ),
            ("charts/other/Chart.yaml", &depends("other", "app")),
        ],
        "",
        "v: '{{ include \"one\" . }}'\n",
    );
    let outcome = value(&folder, "v");
    assert_eq!((outcome.status, outcome.stdout.trim()), (0, "\"1\""));
}

#[test]
fn a_missing_template_names_the_files_that_cannot_be_read() {
    let folder = project(
        &[("charts/app/templates/_a.tpl", "{{ define \"a\" }}{{ end")],
        "",
        "v: '{{ include \"a\" . }}'\n",
    );
    write(
        &folder.path().join("charts/app/charts/b.tgz"),
        b"no archive",
    );
    let outcome = value(&folder, "v");
    assert_eq!(outcome.status, 1);
    for part in [
        "there is no template `a`",
        "`templates/_a.tpl` of the chart cannot be parsed",
        "`charts/app/charts/b.tgz` cannot be read",
    ] {
        assert!(outcome.stderr.contains(part), "{part}: {}", outcome.stderr);
    }
}

/// fidelity D12: `.Release.Name` was `sylva-units` in the values of any chart.
#[test]
fn the_project_names_the_release_of_a_cluster() {
    let folder = project(&[], "", "v: '{{ .Release.Name }}'\n");
    let file = folder.path().join("metalmark.yaml");
    let text = fs::read_to_string(&file).expect("the project file");
    assert_eq!(value(&folder, "v").stdout.trim(), "sylva-units");
    let text = text.replace("name: edge,", "name: edge, release: mine,");
    fs::write(&file, text).expect("the project file");
    assert_eq!(value(&folder, "v").stdout.trim(), "mine");
}

/// Random text is not printed, and nothing else depends on it.
#[test]
fn random_text_in_values_is_a_warning() {
    let values = "v: '{{ randAlphaNum 8 }}'\nw: '{{ now }}'\nx: 1\n";
    let outcome = value(&project(&[], "", values), "");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stderr
            .contains("warning[expression-error]: `randAlphaNum`"),
        "{}",
        outcome.stderr
    );
    assert!(outcome.stdout.contains("x: 1"), "{}", outcome.stdout);
}

/// fidelity D8: what sylva-library 0.3.5 refuses was matched as 0.9.0 does.
#[test]
fn images_are_matched_as_the_charts_sylva_library_does() {
    let values = "sylva_diskimagebuilder_images: {}\n\
        os_images: {img: {uri: 'https://x.example/i', sha256: abc, os: ubuntu, oci-image-registry-key: lab, k8s-version: 1.31.8, k8s-flavor: kubeadm}}\n\
        cluster: {k8s_version: v1.31.8, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}, \
        control_plane: {capm3: {os_image_selector: {os: ubuntu, oci-image-registry-key: lab}}}}\n";
    let dependency = "apiVersion: v2\nname: app\nversion: 1.2.3\ndependencies: [{name: sylva-library, version: 0.3.5}]\n";
    let library = |text: &str| packaged("sylva-library/templates/_os_images.tpl", text);
    let refused = "not a fact that selectors know in the chart's version of sylva-library";
    let check = |folder: &TempDir| {
        let outcome = Metalmark::within(folder.path()).args(["check"]).run();
        outcome.stdout.contains(refused)
    };
    assert!(!check(&project(&[], "", values)), "0.9.0 unless known");
    assert!(check(&project(&[], "sylva_library: \"0.3.5\"\n", values)));
    let declared = project(&[("charts/app/Chart.yaml", dependency)], "", values);
    assert!(check(&declared));
    let archive = declared
        .path()
        .join("charts/app/charts/sylva-library-0.3.5.tgz");
    write(
        &archive,
        &library("{{ define \"pick-os-image\" }}{{ end }}"),
    );
    assert!(check(&declared));
    write(&archive, &library("oci-image-registry-key"));
    assert!(
        !check(&declared),
        "its own text counts more than its version"
    );
}

/// The values of a chart's dependencies are below their keys, and what the chart says over them.
#[test]
fn values_of_what_a_chart_depends_on_are_among_its_values() {
    let metadata = |more: &str| {
        let depends = format!("dependencies: [{{name: versions, version: 1.0.0{more}}}]");
        format!("apiVersion: v2\nname: app\nversion: 1.2.3\n{depends}\n")
    };
    let k8s = "v: '{{ .Values.versions.k8s | default \"v1.30.4\" }}'\n";
    let off = ", condition: versions.enabled";
    let import = ", import-values: [{child: k8s, parent: n}, {child: m, parent: .}]";
    let cases = [
        ("", "versions: {}\n", k8s, "v1.31.8"),
        ("", "", k8s, "v1.31.8"),
        ("", "versions: {k8s: v1.29.1}\n", k8s, "v1.29.1"),
        ("", "versions: {k8s: null}\n", k8s, "v1.30.4"),
        (off, "versions: {enabled: false}\n", k8s, "v1.30.4"),
        (import, "", "v: '{{ .Values.a }}'\n", "imported"),
    ];
    for (more, values, expression, expected) in cases {
        let sub = [
            ("charts/app/Chart.yaml", &*metadata(more)),
            (
                "charts/app/charts/versions/Chart.yaml",
                "apiVersion: v2\nname: versions\nversion: 1.0.0\n",
            ),
            (
                "charts/app/charts/versions/values.yaml",
                "k8s: v1.31.8\nm: {a: imported}\n",
            ),
        ];
        let folder = project(&sub, "", &format!("{values}{expression}"));
        let outcome = value(&folder, "v");
        let found = (outcome.status, outcome.stdout.trim());
        assert_eq!(found, (0, expected), "{more} {values}{}", outcome.stderr);
    }
}

#[test]
fn a_dependency_whose_values_cannot_be_read_is_reported() {
    let sub = [
        (
            "charts/app/charts/versions/Chart.yaml",
            "apiVersion: v2\nname: versions\nversion: 1.0.0\n",
        ),
        ("charts/app/charts/versions/values.yaml", "k8s: [\n"),
    ];
    let outcome = value(&project(&sub, "", "v: a\n"), "v");
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(
        outcome.stderr.contains("versions/values.yaml"),
        "{}",
        outcome.stderr
    );
}

#[test]
fn expressions_read_the_files_of_their_chart() {
    let files = [
        ("charts/app/k8s-version.txt", "v1.31.8\n"),
        ("charts/app/old/k8s-version.txt", "v1.29.1\n"),
        ("charts/app/.helmignore", "# left out\n/old/\n"),
        ("charts/app/secrets/pw.txt", "aSEKRETqwertyuiop99b\n"),
    ];
    let cases = [
        // What an expression makes of a secret cannot be distinguished from its other text.
        ("secrets/pw.txt", "hidden"),
        ("k8s-version.txt", "v1.31.8"),
        ("old/k8s-version.txt", "v1.30.4"),
        ("values.yaml", "v1.30.4"),
    ];
    for (name, expected) in cases {
        let values = format!("v: '{{{{ .Files.Get \"{name}\" | trim | default \"v1.30.4\" }}}}'\n");
        let outcome = value(&project(&files, "", &values), "v");
        let found = (outcome.status, outcome.stdout.trim());
        assert_eq!(found, (0, expected), "{name}: {}", outcome.stderr);
    }
}

#[test]
fn files_of_a_chart_that_is_not_there_are_not_known() {
    let values = "v: '{{ .Files.Get \"k8s-version.txt\" | default \"v1.30.4\" }}'\n";
    let folder = project(&[], "", values);
    fs::remove_file(folder.path().join("charts/app/Chart.yaml")).expect("removed");
    let outcome = value(&folder, "v");
    assert!(
        outcome
            .stderr
            .contains("the chart, which is not in the repository"),
        "{}{}",
        outcome.stdout,
        outcome.stderr
    );
}

#[test]
fn the_chart_has_the_fields_of_its_metadata() {
    let metadata =
        "apiVersion: v2\nname: app\nversion: 1.2.3\ndescription: v1.31.8\nannotations: {a: b}\n";
    let values = "v: '{{ .Chart.Description }} {{ .Chart.Type | default \"none\" }} {{ .Chart.Annotations.a }} \
                  {{ .Chart.IsRoot }} {{ (.Chart | toJson | fromJson).description }}'\n";
    let folder = project(&[("charts/app/Chart.yaml", metadata)], "", values);
    let outcome = value(&folder, "v");
    let found = (outcome.status, outcome.stdout.trim());
    assert_eq!(
        found,
        (0, "v1.31.8 none b true v1.31.8"),
        "{}",
        outcome.stderr
    );
}

/// Neither order of evaluation follows what an expression changes, so that it says so.
#[test]
fn an_expression_that_changes_other_values_is_reported() {
    let changes = "a: '{{ $_ := mergeOverwrite .Values.images (dict \"pinned\" \"new\") }}'\n";
    let read = "images: {pinned: old}\nv: '{{ .Values.images.pinned }}'\n";
    let told = |folder: TempDir| {
        let outcome = Metalmark::within(folder.path()).args(["check"]).run();
        format!("{}{}", outcome.stdout, outcome.stderr)
    };
    for evaluation in ["", "evaluation: exact\n"] {
        let of_chart = project(&[], evaluation, &format!("{changes}{read}"));
        let of_cluster = project(&[("own.yaml", changes)], evaluation, read);
        for (folder, place) in [
            (of_chart, "charts/app/values.yaml"),
            (of_cluster, "own.yaml"),
        ] {
            let told = told(folder);
            assert!(
                told.contains("`a` changes other values by `mergeOverwrite`")
                    && told.contains(place),
                "{told}"
            );
        }
    }
    let other = format!("a: '{{{{ merge (dict) .Values.images }}}}'\n{read}");
    let told = told(project(&[], "", &other));
    assert!(!told.contains("changes other"), "{told}");
}
