//! Argo CD's config management plugin, by the real binary: which cluster, which bytes, and that nothing is written.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use super::support::{Metalmark, Outcome, copy_of, golden, repository};

/// A writable copy of the demo workspace.
fn workspace() -> tempfile::TempDir {
    copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"))
}

/// Argo CD names the application's folder in each run; here it is the repository's top, unless the variables say otherwise.
fn run(folder: &Path, line: &str, variables: &[(&str, &str)]) -> Outcome {
    Metalmark::within(folder)
        .args(line.split(' '))
        .envs(&[("ARGOCD_APP_SOURCE_PATH", ".")])
        .envs(variables)
        .run()
}

/// The objects that an application gets.
fn generated(folder: &Path, variables: &[(&str, &str)]) -> String {
    let outcome = run(folder, "cmp generate", variables);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    outcome.stdout
}

/// What a run that must fail says, and its status; nothing is on stdout then.
fn refused(folder: &Path, variables: &[(&str, &str)]) -> (i32, String) {
    let outcome = run(folder, "cmp generate", variables);
    assert_eq!(outcome.stdout, "");
    assert_ne!(outcome.status, 0);
    (outcome.status, outcome.stderr)
}

/// The parts of `render --stdout` whose path holds a word.
fn rendered(folder: &Path, word: &str) -> String {
    let outcome = run(folder, "render --stdout", &[]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let parts = outcome.stdout.split_inclusive("---\n# ").skip(1);
    let parts = parts.map(|part| part.strip_suffix("---\n# ").unwrap_or(part));
    let named = parts.filter(|part| part.lines().next().is_some_and(|path| path.contains(word)));
    named.map(|part| format!("---\n# {part}")).collect()
}

const PARIS: (&str, &str) = ("ARGOCD_APP_NAME", "edge-paris");

fn parameters(json: &str) -> (&str, &str) {
    ("ARGOCD_APP_PARAMETERS", json)
}

#[test]
fn an_application_gets_the_objects_of_the_cluster_that_it_is_called_like() {
    let folder = workspace();
    let expected = rendered(folder.path(), "edge-paris");
    assert!(expected.contains("kind: Metal3MachineTemplate"));
    for json in ["null", "[]"] {
        assert_eq!(
            generated(folder.path(), &[PARIS, parameters(json)]),
            expected
        );
    }
    assert_eq!(generated(folder.path(), &[PARIS]), expected);
    let elsewhere = ("ARGOCD_APP_NAME", "team-a_edge-paris");
    assert_eq!(generated(folder.path(), &[elsewhere]), expected);
}

#[test]
fn a_parameter_wins_over_a_variable_and_that_over_the_name() {
    let folder = workspace();
    let variable = ("ARGOCD_ENV_CLUSTER", "edge-lyon");
    let parameter = parameters(r#"[{"name":"cluster","string":"lab-7"}]"#);
    assert_eq!(
        generated(folder.path(), &[PARIS, variable]),
        rendered(folder.path(), "edge-lyon")
    );
    assert_eq!(
        generated(folder.path(), &[PARIS, variable, parameter]),
        rendered(folder.path(), "lab-7")
    );
    let url = parameters(r#"[{"name":"image-url","string":"https://other/{{ image.key }}"}]"#);
    let text = generated(folder.path(), &[PARIS, url]);
    assert!(text.contains("url: https://other/ubuntu-"), "{text}");
}

#[test]
fn a_scope_gives_what_clusters_share_or_everything() {
    let folder = workspace();
    let scope = |scope: &str| generated(folder.path(), &[("ARGOCD_ENV_SCOPE", scope)]);
    let shared = scope("shared");
    assert!(shared.contains("name: os-images-info"), "{shared}");
    // Values for a chart are no objects.
    assert!(!shared.contains("values.yaml\n---"), "{shared}");
    assert!(!shared.contains(".values\n"), "{shared}");
    let all = scope("all");
    assert!(all.ends_with(&shared));
    for cluster in ["mgmt", "edge-lyon", "edge-paris", "lab-7"] {
        assert!(all.contains(&rendered(folder.path(), cluster)));
    }
}

#[test]
fn the_objects_for_an_engine_itself_are_only_given_on_request() {
    let folder = workspace();
    let project = fs::read_to_string(folder.path().join("metalmark.yaml")).expect("readable");
    let argocd = "\noutputs:\n  - {target: argocd, path: apps, repo-url: https://g/r, chart-path: charts/sylva-units}";
    let project = project.replace("\noutputs:", argocd);
    fs::write(folder.path().join("metalmark.yaml"), project).expect("written");
    assert!(!generated(folder.path(), &[PARIS]).contains("kind: Application"));
    let (status, reported) = refused(folder.path(), &[PARIS, ("ARGOCD_ENV_TARGETS", "flux")]);
    assert_eq!(
        (status, reported.as_str()),
        (
            2,
            "error: the project has no output for target `flux`, only for: argocd, manifests, configmap\n\
             help: add `- {target: flux, path: rendered}` to `outputs` in metalmark.yaml\n"
        )
    );
}

#[test]
fn for_an_application_that_is_no_cluster_the_likely_one_is_suggested() {
    let folder = workspace();
    assert_eq!(
        refused(folder.path(), &[("ARGOCD_APP_NAME", "edge-pariss")]),
        (
            2,
            "error: no cluster is called like the application, `edge-pariss`\n\
             help: did you mean `cluster: edge-paris`?\n"
                .to_owned()
        )
    );
    assert_eq!(
        refused(folder.path(), &[]).1,
        "error: no parameter says which cluster is rendered\n\
         help: set the parameter `cluster` to one of: mgmt, edge-lyon, edge-paris, lab-7\n"
    );
}

#[test]
fn every_image_must_be_locked_unless_the_application_says_otherwise() {
    let folder = workspace();
    let expected = generated(folder.path(), &[PARIS]);
    fs::remove_file(folder.path().join("metalmark.lock")).expect("removed");
    let (status, reported) = refused(folder.path(), &[PARIS]);
    assert_eq!(status, 1);
    assert!(
        reported.starts_with("error[lock-missing-image]: "),
        "{reported}"
    );
    let loose = parameters(r#"[{"name":"frozen","string":"false"}]"#);
    assert_eq!(
        generated(
            folder.path(),
            &[PARIS, ("ARGOCD_ENV_FROZEN", "true"), loose]
        ),
        expected
    );
}

#[test]
fn no_objects_are_no_success_unless_allowed() {
    let folder = workspace();
    let only_shared = ("ARGOCD_ENV_TARGETS", "configmap");
    let (status, reported) = refused(folder.path(), &[PARIS, only_shared]);
    assert_eq!(status, 2);
    assert_eq!(
        reported,
        "error: cluster `edge-paris` yields no object for configmap, and Argo CD would delete everything that the application has\n\
         help: `scope: shared` renders what clusters share, or set `allow-empty: \"true\"` if that is what you want\n"
    );
    let allowed = ("ARGOCD_ENV_ALLOW_EMPTY", "true");
    assert_eq!(generated(folder.path(), &[PARIS, only_shared, allowed]), "");
}

#[test]
fn findings_fail_the_application_and_only_its_own_cluster_is_read() {
    let folder = workspace();
    let lyon = folder
        .path()
        .join("environment-values/workload-clusters/edge-lyon/values.yaml");
    fs::write(lyon, "cluster: [\n").expect("written");
    let (status, reported) = refused(folder.path(), &[("ARGOCD_APP_NAME", "edge-lyon")]);
    assert_eq!(status, 1);
    assert!(
        reported.starts_with("error[yaml-syntax]: ")
            && reported.contains("--> environment-values/workload-clusters/edge-lyon/values.yaml:"),
        "{reported}"
    );
    let outcome = run(folder.path(), "cmp generate", &[PARIS]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
}

#[test]
fn the_project_is_found_above_the_applications_folder_and_never_above_the_repository() {
    let folder = workspace();
    let path = "environment-values/workload-clusters/edge-paris";
    let below = folder.path().join(path);
    let source = ("ARGOCD_APP_SOURCE_PATH", path);
    assert_eq!(
        generated(&below, &[PARIS, source]),
        generated(folder.path(), &[PARIS])
    );
    // The copy of the repository begins here: the project file above is somebody else's.
    let (status, reported) = refused(&below, &[PARIS, ("ARGOCD_APP_SOURCE_PATH", "edge-paris")]);
    assert_eq!(status, 2);
    assert!(
        reported.starts_with("error: there is no `metalmark.yaml`"),
        "{reported}"
    );
}

/// The state of a folder: every path with its size and the time of its last change.
fn listing(folder: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let entries = entries.into_iter().map(|entry| entry.expect("readable"));
    entries
        .map(|entry| {
            let metadata = entry.metadata().expect("there");
            format!(
                "{} {} {:?}",
                entry.path().display(),
                metadata.len(),
                metadata.modified()
            )
        })
        .collect()
}

#[test]
fn it_writes_nothing_and_needs_no_home() {
    let folder = workspace();
    let before = listing(folder.path());
    let expected = generated(folder.path(), &[PARIS]);
    assert_eq!(listing(folder.path()), before);

    // As Argo CD's sidecar runs it, where the test may become that user.
    let binary = folder.path().join("metalmark");
    fs::copy(env!("CARGO_BIN_EXE_metalmark"), &binary).expect("copied");
    for entry in walkdir::WalkDir::new(folder.path()) {
        let entry = entry.expect("readable");
        let mode = if entry.file_type().is_dir() || entry.path() == binary {
            0o555
        } else {
            0o444
        };
        fs::set_permissions(entry.path(), fs::Permissions::from_mode(mode)).expect("its own file");
    }
    let command = || {
        let mut command = Command::new(&binary);
        command
            .args(["cmp", "generate"])
            .current_dir(folder.path())
            .env_clear()
            .env("HOME", "/nowhere/at/all")
            .env("TMPDIR", "/nowhere/at/all")
            .env(PARIS.0, PARIS.1)
            .env("ARGOCD_APP_SOURCE_PATH", ".")
            .stdin(Stdio::null());
        command
    };
    let run = || match command().uid(999).gid(999).output() {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => command().output(),
        other => other,
    };
    let mut outcome = run();
    // Another test that forks holds the copy open for writing until it becomes another program.
    while matches!(&outcome, Err(error) if error.kind() == ErrorKind::ExecutableFileBusy) {
        thread::sleep(Duration::from_millis(20));
        outcome = run();
    }
    let outcome = outcome.expect("the binary starts");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("its own folder");
    let reported = String::from_utf8_lossy(&outcome.stderr);
    assert!(outcome.status.success(), "{reported}");
    assert_eq!(String::from_utf8_lossy(&outcome.stdout), expected);
    for entry in walkdir::WalkDir::new(folder.path()) {
        let path = entry.expect("readable").into_path();
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(path, mode).expect("its own file");
    }
}

#[test]
fn discovery_takes_only_applications_that_are_clusters_of_a_project() {
    let folder = workspace();
    let discovered = |folder: &Path, variables: &[(&str, &str)]| {
        let outcome = run(folder, "cmp discover", variables);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        outcome.stdout
    };
    assert_eq!(discovered(folder.path(), &[PARIS]), "./metalmark.yaml\n");
    let other = ("ARGOCD_APP_NAME", "grafana");
    assert_eq!(discovered(folder.path(), &[other]), "");
    let wrong = parameters(r#"[{"name":"clsuter","string":"edge-paris"}]"#);
    assert_eq!(
        discovered(folder.path(), &[other, wrong]),
        "./metalmark.yaml\n"
    );
    let empty = tempfile::tempdir().expect("a scratch folder");
    let root = ("ARGOCD_APP_SOURCE_PATH", ".");
    assert_eq!(discovered(empty.path(), &[PARIS, root]), "");
}

#[test]
fn parameters_are_announced_with_what_holds_without_them() {
    let folder = workspace();
    let outcome = run(folder.path(), "cmp parameters", &[PARIS]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let announced: Vec<serde_json::Value> =
        serde_json::from_str(&outcome.stdout).expect("a JSON list");
    let defaults: Vec<String> = announced
        .iter()
        .map(|one| {
            let field = if one["collectionType"] == "array" {
                "array"
            } else {
                "string"
            };
            format!("{} {}", one["name"].as_str().expect("a name"), one[field])
        })
        .collect();
    assert_eq!(
        defaults,
        [
            r#"cluster "edge-paris""#,
            r#"scope "cluster""#,
            r#"targets ["configmap","manifests"]"#,
            r#"image-url "https://os-images.example.org/{{ image.filename }}""#,
            r#"checksum "literal""#,
            r#"frozen "true""#,
            r#"allow-empty "false""#,
        ]
    );
    // Without a project the form is there all the same.
    let empty = tempfile::tempdir().expect("a scratch folder");
    let root = ("ARGOCD_APP_SOURCE_PATH", ".");
    let outcome = run(empty.path(), "cmp parameters", &[root]);
    assert_eq!(outcome.status, 0);
    assert!(outcome.stdout.contains(r#""name": "cluster""#));
}

#[test]
fn the_plugin_configuration_is_the_one_in_the_image() {
    let folder = tempfile::tempdir().expect("a scratch folder");
    let outcome = run(folder.path(), "cmp plugin-config", &[]);
    assert_eq!(outcome.status, 0);
    golden(
        &repository().join("templates/hosts/argocd/plugin.yaml"),
        &outcome.stdout,
    );
    let outcome = run(
        folder.path(),
        "cmp plugin-config --name images --discover",
        &[],
    );
    assert!(outcome.stdout.contains("  name: images\n"));
    assert!(
        outcome
            .stdout
            .contains("  discover:\n    find:\n      command: [metalmark]\n")
    );
    let outcome = run(folder.path(), "cmp plugin-config --name a/b", &[]);
    assert_eq!(outcome.status, 2);
}

const APPLICATION: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: paris-images, namespace: argocd}
spec:
  project: fleet
  destination: {server: https://kubernetes.default.svc, namespace: edge-paris}
  source:
    repoURL: https://git.example.org/fleet.git
    path: environment-values/workload-clusters
    targetRevision: main
    plugin:
      name: metalmark
      env: [{name: CLUSTER, value: $ARGOCD_APP_NAMESPACE}]
";

#[test]
fn a_simulation_is_what_the_sidecar_would_generate() {
    let folder = workspace();
    let app = folder.path().join("app.yaml");
    fs::write(&app, APPLICATION).expect("written");
    let outcome = run(folder.path(), "cmp simulate --app app.yaml", &[]);
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    assert_eq!(outcome.stdout, generated(folder.path(), &[PARIS]));
    let line = "cmp simulate --app app.yaml --environment --kube-version v1.32.4";
    let outcome = run(folder.path(), line, &[]);
    assert_eq!(
        outcome.stdout,
        "\
ARGOCD_APP_NAME=paris-images
ARGOCD_APP_NAMESPACE=edge-paris
ARGOCD_APP_PARAMETERS=null
ARGOCD_APP_PROJECT_NAME=fleet
ARGOCD_APP_REVISION=0000000000000000000000000000000000000000
ARGOCD_APP_REVISION_SHORT=0000000
ARGOCD_APP_REVISION_SHORT_8=00000000
ARGOCD_APP_SOURCE_PATH=environment-values/workload-clusters
ARGOCD_APP_SOURCE_REPO_URL=https://git.example.org/fleet.git
ARGOCD_APP_SOURCE_TARGET_REVISION=main
ARGOCD_ENV_CLUSTER=edge-paris
KUBE_API_VERSIONS=
KUBE_VERSION=1.32.4
"
    );
    fs::write(&app, "kind: ConfigMap\n").expect("written");
    let outcome = run(folder.path(), "cmp simulate --app app.yaml", &[]);
    assert_eq!(outcome.status, 2);
    fs::write(
        &app,
        APPLICATION.replace("environment-values", "../environment-values"),
    )
    .expect("written");
    let outcome = run(folder.path(), "cmp simulate --app app.yaml", &[]);
    assert_eq!(outcome.status, 2);
}
