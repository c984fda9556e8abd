//! What people see who type something wrong, or something unusual: the real binary, whole screens, exit statuses.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::support::{Metalmark, Outcome};

const SHARED: &str = "\
os_images_oci_registries:
  sylva: {url: oci://r.example.org/x, tag: '0.4.12', cosign_publickey: k}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";
const CLUSTER: &str = "cluster:\n  capm3:\n    image_key: ubuntu-noble-plain-rke2-1-31-8\n";
const INFO: &str = "\
os_images:
  ubuntu-noble-plain-rke2-1-31-8:
    filename: noble.raw
    sha256: 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f
    image-format: raw
    k8s-flavor: rke2
    k8s-version: 1.31.8+rke2r1
";
const PROJECT: &str = "\
version: 1
values: [shared.yaml]
clusters: [{each: clusters/*/values.yaml}]
images: {facts: [info.yaml]}
outputs: [{target: manifests, path: rendered}]
";

/// A project of one cluster, with some files in the place of its own or beside them.
fn project(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let own = [
        ("shared.yaml", SHARED),
        ("clusters/paris/values.yaml", CLUSTER),
        ("info.yaml", INFO),
        ("metalmark.yaml", PROJECT),
    ];
    for (path, text) in own.iter().chain(files) {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("below")).expect("created");
        fs::write(path, text).expect("written");
    }
    folder
}

fn run(folder: &Path, line: &str) -> Outcome {
    Metalmark::within(folder).args(line.split(' ')).run()
}

/// The screen of a run that must end with that status.
fn screen(files: &[(&str, &str)], line: &str, status: i32) -> String {
    let folder = project(files);
    let outcome = run(folder.path(), line);
    let screen = outcome.stdout + &outcome.stderr;
    assert_eq!(outcome.status, status, "{screen}");
    screen
}

/// The project file with one line replaced.
fn with(line: &str, by: &str) -> String {
    assert!(PROJECT.contains(line), "{line}");
    PROJECT.replace(line, by)
}

#[test]
fn an_option_that_the_target_does_not_have_is_refused() {
    let project = with("path: rendered", "path: rendered, apiVersion: v1beta2");
    assert_eq!(
        screen(&[("metalmark.yaml", &project)], "render", 1),
        "\
error[project-file]: target `manifests` has no option `apiVersion`
 --> metalmark.yaml:5:47
  |
5 | outputs: [{target: manifests, path: rendered, apiVersion: v1beta2}]
  |                                               ^^^^^^^^^^
  |
  = help: did you mean `api-version`?

1 error; 1 node pool checked: 1 proven
"
    );
}

#[test]
fn a_value_that_is_none_of_the_few_is_reported_with_them() {
    let reported = |line: &str| {
        let project = format!("{PROJECT}{line}\n");
        let screen = screen(&[("metalmark.yaml", &project)], "check", 1);
        screen.lines().take(2).collect::<Vec<_>>().join("\n")
    };
    assert_eq!(
        reported("helm: 5"),
        "error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `5`\n --> metalmark.yaml:6:7"
    );
    assert_eq!(
        reported("helm: '3'"),
        "error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `\"3\"`\n --> metalmark.yaml:6:7"
    );
    assert_eq!(
        reported("policy: {rules: {image-unused: warnin}}"),
        "error[project-file]: `policy.rules.image-unused` is one of `off`, `warning`, `error`, not `warnin`\n --> metalmark.yaml:6:32"
    );
    let project = with("version: 1", "version: 1.5");
    let screen = screen(&[("metalmark.yaml", &project)], "check", 1);
    assert!(screen.starts_with(
        "error[project-file]: `version` is a whole number, and this is `1.5`\n --> metalmark.yaml:1:10\n"
    ), "{screen}");
}

#[test]
fn what_a_rule_does_not_take_is_a_finding_at_its_place() {
    for (policy, message, column) in [
        (
            "rules: {image-outdated: {minors: two}}",
            "`policy.rules.image-outdated.minors` is a whole number, and this is a string",
            43,
        ),
        (
            "rules: {image-outdated: {minors: -1}}",
            "`policy.rules.image-outdated.minors` is a whole number, and this is `-1`",
            43,
        ),
        (
            "rules: {image-outdated: {minor: 1}}",
            "the project file knows no `minor` in `policy.rules.image-outdated`",
            35,
        ),
        (
            "rules: {image-unused: {minors: 1}}",
            "the project file knows no `minors` in `policy.rules.image-unused`",
            33,
        ),
        (
            "clusters: {edge-*: {image-unused: {level: loud}}}",
            "`policy.clusters.edge-*.image-unused.level` is one of `off`, `warning`, `error`, not `loud`",
            52,
        ),
        (
            "rules: {image-outdate: error}",
            "there is no rule `image-outdate`",
            18,
        ),
    ] {
        let project = format!("{PROJECT}policy: {{{policy}}}\n");
        let screen = screen(&[("metalmark.yaml", &project)], "check", 1);
        let expected = format!("error[project-file]: {message}\n --> metalmark.yaml:6:{column}\n");
        assert!(screen.starts_with(&expected), "{screen}");
    }
}

#[test]
fn two_patterns_that_give_one_name_are_both_shown() {
    let project = "values: [shared.yaml]\nclusters:\n  - each: clusters/*/values.yaml\n  - each: lab/*/values.yaml\nimages: {facts: [info.yaml]}\n";
    let files = [
        ("metalmark.yaml", project),
        ("lab/paris/values.yaml", CLUSTER),
    ];
    assert_eq!(
        screen(&files, "check", 1),
        "\
error[project-file]: 2 clusters have the name `paris`
 --> metalmark.yaml:3:5
  |
3 |   - each: clusters/*/values.yaml
  |     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
4 |   - each: lab/*/values.yaml
  |     -----------------------
  |
  = help: give each its own `name`; beside `each` it may be a template, such as `{{ path.segments[1] }}-{{ path.basename }}`: `clusters/paris/values.yaml`, `lab/paris/values.yaml`

1 error; 2 node pools checked: 2 proven
"
    );
}

#[test]
fn a_template_names_the_clusters_of_a_pattern() {
    let named = |name: &str| {
        let each = format!("{{each: clusters/*/values.yaml, name: \"{name}\"}}");
        with("{each: clusters/*/values.yaml}", &each)
    };
    let folder = project_in(&named("{{ path.segments[0] }}.{{ path.basename }}"));
    let listed = run(folder.path(), "images --output json");
    assert!(
        listed.stdout.contains("\"clusters.paris/"),
        "{}",
        listed.stdout
    );
    for (name, what) in [
        ("{{ path.segments[7] }}", "`path.segments[7]` is undefined"),
        ("{{ path.", "syntax error"),
        ("", "the cluster name `` is empty"),
    ] {
        let screen = run(project_in(&named(name)).path(), "check").stdout;
        assert!(screen.contains("error[project-file]"), "{screen}");
        assert!(screen.contains(what), "{screen}");
        assert!(screen.contains(" --> metalmark.yaml:"), "{screen}");
    }
}

#[test]
fn findings_that_report_the_same_of_several_files_are_one() {
    let wrong = CLUSTER.replace("cluster:", "clutser: {}\ncluster:");
    let files = [
        ("metalmark.yaml", PROJECT),
        ("clusters/lyon/values.yaml", &wrong),
        ("clusters/nice/values.yaml", &wrong),
        ("clusters/paris/values.yaml", &wrong),
    ];
    let screen = run(project(&files).path(), "check").stdout;
    assert_eq!(
        screen.matches("error[key-misspelled]").count(),
        1,
        "{screen}"
    );
    let also = "  = also at: clusters/nice/values.yaml:1:1 (nice), clusters/paris/values.yaml:1:1 (paris)\n";
    assert!(screen.contains(also), "{screen}");
    assert!(screen.contains("3 errors in 3 clusters"), "{screen}");
}

#[test]
#[cfg(unix)]
fn a_cluster_whose_folder_no_path_can_name_is_not_left_out_in_silence() {
    use std::os::unix::ffi::OsStrExt;
    let folder = project(&[("metalmark.yaml", PROJECT)]);
    let name = std::ffi::OsStr::from_bytes(b"ed\xff\xfege");
    let cluster = folder.path().join("clusters").join(name);
    if fs::create_dir(&cluster).is_err() {
        return; // Some file systems take no such name.
    }
    fs::write(cluster.join("values.yaml"), CLUSTER).expect("written");
    for line in ["check", "render"] {
        let outcome = run(folder.path(), line);
        assert_eq!(outcome.status, 2, "{}", outcome.stdout);
        assert!(
            outcome.stderr.contains("is not UTF-8: rename it"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn a_cluster_name_that_names_no_file_is_refused_once_and_nothing_is_written() {
    for name in ["../x", "a/b", "..", "a\\nb", ""] {
        let project = with(
            "{each: clusters/*/values.yaml}",
            &format!("{{name: \"{name}\", values: [clusters/paris/values.yaml]}}"),
        );
        let folder = project_in(&project);
        let outcome = run(folder.path(), "render");
        assert_eq!(outcome.status, 1, "{}", outcome.stderr);
        assert!(
            outcome
                .stderr
                .contains("error[project-file]: the cluster name `"),
            "{}",
            outcome.stderr
        );
        assert!(
            outcome.stderr.ends_with("\n1 error\n"),
            "{}",
            outcome.stderr
        );
        assert!(!folder.path().join("rendered").exists());
    }
}

fn project_in(text: &str) -> tempfile::TempDir {
    project(&[("metalmark.yaml", text)])
}

#[test]
fn without_facts_one_finding_says_how_to_get_them() {
    let project = with("images: {facts: [info.yaml]}\n", "");
    let screen = screen(&[("metalmark.yaml", &project)], "check", 1);
    let reported = "\
warning[value-missing]: no image facts are given, so nothing says which checksum, format and version the builder's images have
 |
 = help: `kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml`
 = help: then type `--info os-images-info.yaml`, or write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
";
    assert_eq!(screen.matches(reported).count(), 1, "{screen}");
    assert!(!screen.contains("matching-differs"), "{screen}");
}

#[test]
fn no_cluster_is_no_clean_bill() {
    let project = "values: [shared.yaml]\n";
    let typed = "check --project metalmark.yaml --values shared.yaml";
    for line in ["check", typed, "check --values shared.yaml"] {
        let screen = screen(&[("metalmark.yaml", project)], line, 1);
        assert!(
            screen.starts_with(
                "error[nothing-checked]: there are no clusters, so nothing is checked\n"
            ),
            "{screen}"
        );
    }
}

#[test]
fn a_boolean_word_is_no_surprise_for_a_key_of_a_boolean() {
    let values = format!("{CLUSTER}units: {{a: {{enabled: no, use_proxy: on}}}}\n");
    let quiet = screen(&[("clusters/paris/values.yaml", &values)], "check", 0);
    assert_eq!(
        quiet,
        "no findings in 1 cluster; 1 node pool checked: 1 proven\n"
    );
    let values = format!("{CLUSTER}country: no\n");
    let reported = screen(&[("clusters/paris/values.yaml", &values)], "check", 0);
    assert!(
        reported.starts_with(
            "warning[value-surprising]: the value `no` looks like a word and reads as `false`\n"
        ),
        "{reported}"
    );
}

#[test]
fn a_cluster_that_is_no_map_is_reported() {
    for text in ["cluster: paris\n", "cluster: [paris]\n"] {
        let screen = screen(&[("clusters/paris/values.yaml", text)], "check", 1);
        assert!(
            screen.starts_with("error[value-type]: `cluster` is a "),
            "{screen}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_named_in_words() {
    assert_eq!(
        screen(&[], "check -C nowhere", 2),
        "error: cannot read `nowhere`: No such file or directory\n"
    );
    let project = with("[shared.yaml]", "[nope.yaml]");
    assert_eq!(
        screen(&[("metalmark.yaml", &project)], "check", 2),
        "error: cannot read `nope.yaml`: No such file or directory\n"
    );
    assert_eq!(
        screen(&[], "render --schemas nowhere", 2),
        "error: cannot read `nowhere`: No such file or directory\n"
    );
    let project = with("path: rendered", "path: shared.yaml");
    assert_eq!(
        screen(&[("metalmark.yaml", &project)], "render", 2),
        "error: cannot write `shared.yaml`: a file is in its path\n"
    );
}

#[test]
fn an_unknown_target_is_reported_once() {
    assert_eq!(
        screen(&[], "render --target manifest --out out", 1),
        "\
error[project-file]: there is no target `manifest`
 |
 = help: did you mean `manifests`?

1 error; 1 node pool checked: 1 proven
"
    );
}

#[test]
fn the_changes_of_several_folders_are_one_json_document() {
    let project = with(
        "[{target: manifests, path: rendered}]",
        "[{target: manifests, path: a}, {target: configmap, path: b}]",
    );
    let folder = project_in(&project);
    let outcome = run(folder.path(), "render --output json");
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let document: serde_json::Value = serde_json::from_str(&outcome.stdout).expect("one document");
    assert_eq!(document["summary"]["created"], 3);
    let again = run(folder.path(), "render --check");
    assert_eq!(again.stdout, "3 files rendered: 3 unchanged\n");
}

#[test]
fn the_projects_own_folder_and_an_absolute_pattern_work() {
    let project = with("path: rendered", "path: .");
    let folder = project_in(&project);
    assert_eq!(
        run(folder.path(), "render").stdout,
        "created  paris.yaml  +19\n1 file rendered: 1 created\n"
    );
    let pattern = folder.path().join("clusters/*/values.yaml");
    let line = format!(
        "check --values shared.yaml --info info.yaml --clusters {}",
        pattern.display()
    );
    let outcome = run(folder.path(), &line);
    assert_eq!(
        outcome.stdout,
        "no findings in 1 cluster; 1 node pool checked: 1 proven\n"
    );
}

#[test]
fn an_own_template_that_writes_nothing_does_not_pass_for_a_render() {
    let project = format!("{PROJECT}templates: own\n");
    let files = [
        ("metalmark.yaml", project.as_str()),
        ("own/manifests/cluster.yaml.j2", "# nothing\n"),
    ];
    let screen = screen(&files, "render", 2);
    assert!(
        screen.starts_with("error: the render yields no file"),
        "{screen}"
    );
}

#[test]
fn a_value_of_a_secrets_file_is_never_printed() {
    let project = with(
        "{each: clusters/*/values.yaml}",
        "{name: paris, values: [clusters/paris/values.yaml, clusters/paris/secrets.yaml]}",
    );
    let secrets = "password: hunter2\ncluster:\n  capm3: {image_key: hunter2}\n  k8s_version: '{{ fail .Values.password }}'\n";
    let files = [
        ("metalmark.yaml", project.as_str()),
        ("clusters/paris/secrets.yaml", secrets),
    ];
    for report in metalmark::report::REPORTS {
        let screen = screen(&files, &format!("check --output {}", report.name()), 1);
        assert!(!screen.contains("hunter2"), "{screen}");
        assert!(screen.contains("clusters/paris/secrets.yaml"), "{screen}");
    }
}

#[test]
fn a_secret_that_an_expression_elsewhere_prints_is_hidden() {
    let project = with(
        "{each: clusters/*/values.yaml}",
        "{name: paris, values: [clusters/paris/secrets.yaml, own.yaml]}",
    );
    let files = [
        ("metalmark.yaml", project.as_str()),
        ("clusters/paris/secrets.yaml", "password: hunter2\n"),
        (
            "own.yaml",
            "cluster: {k8s_version: '{{ fail .Values.password }}', capm3: {image_key: x}}\n",
        ),
    ];
    let screen = screen(&files, "check", 1);
    assert!(screen.contains("own.yaml:1"), "{screen}");
    assert!(!screen.contains("hunter2"), "{screen}");
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let folder = project(&[]);
    for line in ["completions bash", "render --stdout", "images"] {
        let mut child = Command::new(env!("CARGO_BIN_EXE_metalmark"))
            .args(line.split(' '))
            .current_dir(folder.path())
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{line}");
    }
}

#[test]
fn the_spelling_of_older_project_files_is_read() {
    let records = "records: {other: {format: raw, k8s: {flavour: rke2}}}";
    let images = format!("images: {{facts: [info.yaml], {records}}}");
    let project = with("images: {facts: [info.yaml]}", &images);
    let screen = screen(&[("metalmark.yaml", &project)], "check", 0);
    assert!(screen.contains("1 proven"), "{screen}");
}

/// So that an editor or a terminal opens it from where the person is.
#[test]
fn places_are_shown_as_seen_from_where_the_run_started() {
    let scratch = tempfile::tempdir().expect("a folder");
    let deploy = scratch.path().join("deploy");
    let demo = super::support::repository().join("fixtures/workspaces/sylva-baremetal");
    super::support::copy_into(&demo, &deploy);
    let values = "environment-values/workload-clusters/lab-7/values.yaml:8:16";
    for (folder, arguments, shown) in [
        (deploy.clone(), &["check"][..], format!("--> {values}")),
        (
            scratch.path().to_owned(),
            &["-C", "deploy", "check"],
            format!("--> deploy/{values}"),
        ),
        (
            deploy.join("charts"),
            &["check"],
            format!("--> ../{values}"),
        ),
    ] {
        let outcome = Metalmark::within(&folder)
            .args(arguments.iter().copied())
            .run();
        assert!(outcome.stdout.contains(&shown), "{}", outcome.stdout);
    }
}

#[test]
fn without_a_command_the_sum_of_the_project_is_shown() {
    let folder = project(&[]);
    let outcome = Metalmark::within(folder.path()).run();
    assert_eq!(
        outcome.stdout,
        "metalmark.yaml: 1 cluster\n\
         no findings in 1 cluster; 1 node pool checked: 1 proven\n\
         next: `metalmark impact` shows what a change does; `metalmark help` lists the commands\n"
    );
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    let wrong = SHARED.replace("v1.31.8", "v1.30.2");
    let folder = project(&[("shared.yaml", &wrong)]);
    let outcome = Metalmark::within(folder.path()).run();
    let expected = "\
metalmark.yaml: 1 cluster
1 error in 1 cluster; 1 node pool checked: 1 mismatched
1 error must be fixed first: k8s-version-mismatch 1
  such as: image `ubuntu-noble-plain-rke2-1-31-8` holds Kubernetes `1.31.8+rke2r1`, not `v1.30.2+rke2r1`
next: `metalmark check` shows each finding at its place; `metalmark help` lists the commands
";
    assert_eq!((outcome.status, outcome.stdout.as_str()), (1, expected));
    // Anywhere else on a machine, all files below are no project.
    let elsewhere = tempfile::tempdir().expect("a folder");
    let outcome = Metalmark::within(elsewhere.path()).run();
    assert_eq!(outcome.status, 2);
    assert!(
        outcome.stderr.contains("Usage: metalmark"),
        "{}",
        outcome.stderr
    );
}
