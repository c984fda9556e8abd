//! Argo CD's config management plugin, by the real binary: which cluster, which bytes, and that nothing is written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use snapbox::str;

use super::{demo, run_as_argocd};
use crate::support::stage::{Is, Stage, assert_text, project, table};
use crate::support::{binary, golden, repository};

const PARIS: (&str, &str) = ("ARGOCD_APP_NAME", "edge-paris");

/// The objects that an application gets.
fn generate(demo: &Stage, variables: &[(&str, &str)]) -> String {
    demo.run_with("cmp generate", variables)
        .exit(0)
        .outcome
        .stdout
}

/// The status and the errors of applications that get nothing; nothing is on stdout then.
fn refuse(demo: &Stage, applications: &[&[(&str, &str)]]) -> String {
    table(applications.iter().map(|it| format!("{it:?}")), |case| {
        let variables = applications.iter().find(|it| format!("{it:?}") == *case);
        let run = demo.run_with("cmp generate", variables.expect("a case"));
        assert_eq!(run.outcome.stdout, "");
        assert_ne!(run.outcome.status, 0);
        let lines = run.outcome.stderr.lines().take(2).map(str::to_owned);
        lines.collect()
    })
}

/// The parts of `render --stdout` whose path holds a word.
fn rendered(demo: &Stage, word: &str) -> String {
    let stream = demo.run("render --stdout").exit(0).outcome.stdout;
    let parts = stream.split_inclusive("---\n# ").skip(1);
    let parts = parts.map(|part| part.strip_suffix("---\n# ").unwrap_or(part));
    let named = parts.filter(|part| part.lines().next().is_some_and(|path| path.contains(word)));
    named.map(|part| format!("---\n# {part}")).collect()
}

fn parameters(json: &str) -> (&str, &str) {
    ("ARGOCD_APP_PARAMETERS", json)
}

#[test]
fn an_application_gets_the_objects_of_the_cluster_that_it_is_called_like() {
    let demo = demo();
    let expected = rendered(&demo, "edge-paris");
    assert!(expected.contains("kind: Metal3MachineTemplate"));
    // No parameters are sent in many ways.
    let empty = r#"[{"name":"cluster","string":""}]"#;
    for json in ["null", "[]", "", empty] {
        assert_eq!(generate(&demo, &[PARIS, parameters(json)]), expected);
    }
    assert_eq!(generate(&demo, &[PARIS]), expected);
    let elsewhere = ("ARGOCD_APP_NAME", "team-a_edge-paris");
    assert_eq!(generate(&demo, &[elsewhere]), expected);
}

#[test]
fn a_parameter_wins_over_a_variable_and_that_over_the_name() {
    let demo = demo();
    let variable = ("ARGOCD_ENV_CLUSTER", "edge-lyon");
    let parameter = parameters(r#"[{"name":"cluster","string":"lab-7"}]"#);
    assert_eq!(
        generate(&demo, &[PARIS, variable]),
        rendered(&demo, "edge-lyon")
    );
    let by_parameter = generate(&demo, &[PARIS, variable, parameter]);
    assert_eq!(by_parameter, rendered(&demo, "lab-7"));
    let url = parameters(r#"[{"name":"image-url","string":"https://other/{{ image.key }}"}]"#);
    let text = generate(&demo, &[PARIS, url]);
    assert!(text.contains("url: https://other/ubuntu-"), "{text}");
    let by_url = generate(&demo, &[PARIS, ("ARGOCD_ENV_CHECKSUM", "url")]);
    assert!(by_url.contains(".sha256sum\n"), "{by_url}");
    // A list is an array, or words with commas.
    let all = ("ARGOCD_ENV_SCOPE", "all");
    let both = parameters(r#"[{"name":"targets","array":["manifests","configmap"]}]"#);
    let words = ("ARGOCD_ENV_TARGETS", "manifests, configmap,");
    assert_eq!(generate(&demo, &[all, both]), generate(&demo, &[all]));
    assert_eq!(generate(&demo, &[all, words]), generate(&demo, &[all]));
}

#[test]
fn a_scope_gives_what_clusters_share_or_everything() {
    let demo = demo();
    let scope = |scope: &str| generate(&demo, &[("ARGOCD_ENV_SCOPE", scope)]);
    let shared = scope("shared");
    assert!(shared.contains("name: os-images-info"), "{shared}");
    // Values for a chart are no objects.
    assert!(!shared.contains("values.yaml\n---"), "{shared}");
    assert!(!shared.contains(".values\n"), "{shared}");
    let all = scope("all");
    assert!(all.ends_with(&shared));
    for cluster in ["mgmt", "edge-lyon", "edge-paris", "lab-7"] {
        assert!(all.contains(&rendered(&demo, cluster)));
    }
}

#[test]
fn a_wrong_request_of_an_application_is_refused_with_what_is_right() {
    let demo = demo();
    let argocd = "\noutputs:\n  - {target: argocd, path: apps, repo-url: https://g/r, chart-path: charts/sylva-units}";
    demo.edit("metalmark.yaml", "\noutputs:", argocd);
    // The objects for an engine itself are only given on request.
    assert!(!generate(&demo, &[PARIS]).contains("kind: Application"));
    let refused = refuse(
        &demo,
        &[
            &[PARIS, ("ARGOCD_ENV_TARGETS", "flux")],
            &[("ARGOCD_APP_NAME", "edge-pariss")],
            &[],
            &[PARIS, ("ARGOCD_ENV_TARGETS", "configmap")],
            &[PARIS, parameters(r#"[{"name":"clsuter","string":"x"}]"#)],
            &[PARIS, parameters(r#"[{"name":"cluster","array":["x"]}]"#)],
            &[PARIS, parameters(r#"[{"name":"scope","string":"al"}]"#)],
            &[
                PARIS,
                parameters(
                    r#"[{"name":"scope","string":"all"},{"name":"scope","string":"shared"}]"#,
                ),
            ],
            &[PARIS, parameters("{")],
        ],
    );
    refused.is(str![[r#"
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_ENV_TARGETS", "flux")]
    error: the project has no output for target `flux`, only for: argocd, manifests, configmap
    help: add `- {target: flux, path: rendered}` to `outputs` in metalmark.yaml
[("ARGOCD_APP_NAME", "edge-pariss")]
    error: no cluster is called like the application, `edge-pariss`
    help: did you mean `cluster: edge-paris`?
[]
    error: no parameter says which cluster is rendered
    help: set the parameter `cluster` to one of: mgmt, edge-lyon, edge-paris, lab-7
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_ENV_TARGETS", "configmap")]
    error: cluster `edge-paris` yields no object for configmap, and Argo CD would delete everything that the application has
    help: `scope: shared` renders what clusters share, or set `allow-empty: "true"` if that is what you want
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_APP_PARAMETERS", "[{\"name\":\"clsuter\",\"string\":\"x\"}]")]
    error: there is no parameter `clsuter`
    help: did you mean `cluster`?
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_APP_PARAMETERS", "[{\"name\":\"cluster\",\"array\":[\"x\"]}]")]
    error: the parameter `cluster` is a text: set its `string`
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_APP_PARAMETERS", "[{\"name\":\"scope\",\"string\":\"al\"}]")]
    error: the parameter `scope` is one of cluster, shared, all, not `al`
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_APP_PARAMETERS", "[{\"name\":\"scope\",\"string\":\"all\"},{\"name\":\"scope\",\"string\":\"shared\"}]")]
    error: the parameter `scope` is set twice
[("ARGOCD_APP_NAME", "edge-paris"), ("ARGOCD_APP_PARAMETERS", "{")]
    error: ARGOCD_APP_PARAMETERS is not a JSON list of parameters: invalid type: map, expected a sequence at line 1 column 0

"#]]);
    let allowed = [
        PARIS,
        ("ARGOCD_ENV_TARGETS", "configmap"),
        ("ARGOCD_ENV_ALLOW_EMPTY", "true"),
    ];
    assert_eq!(generate(&demo, &allowed), "");
}

#[test]
fn every_image_must_be_locked_unless_the_application_says_otherwise() {
    let demo = demo();
    let expected = generate(&demo, &[PARIS]);
    demo.remove("metalmark.lock");
    let run = demo.run_with("cmp generate", &[PARIS]).exit(1);
    let reported = run.stdout(str![]).outcome.stderr;
    assert!(
        reported.starts_with("error[lock-missing-image]: "),
        "{reported}"
    );
    let loose = parameters(r#"[{"name":"frozen","string":"false"}]"#);
    let variables = [PARIS, ("ARGOCD_ENV_FROZEN", "true"), loose];
    assert_eq!(generate(&demo, &variables), expected);
}

#[test]
fn findings_fail_the_application_and_only_its_own_cluster_is_read() {
    let demo = demo();
    let lyon = "environment-values/workload-clusters/edge-lyon/values.yaml";
    demo.write(lyon, "cluster: [\n");
    let run = demo.run_with("cmp generate", &[("ARGOCD_APP_NAME", "edge-lyon")]);
    let reported = run.exit(1).stdout(str![]).outcome.stderr;
    assert!(reported.starts_with("error[yaml-syntax]: "), "{reported}");
    assert!(reported.contains(&format!("--> {lyon}:")), "{reported}");
    demo.run_with("cmp generate", &[PARIS])
        .exit(0)
        .stderr(str![]);
}

#[test]
fn the_project_is_found_above_the_applications_folder_and_never_above_the_repository() {
    let demo = demo();
    let folder = "environment-values/workload-clusters/edge-paris";
    let run = |path: &str| {
        let program = demo.program_in(folder).args(["cmp", "generate"]);
        program
            .envs(&[PARIS, ("ARGOCD_APP_SOURCE_PATH", path)])
            .run()
    };
    for path in [
        folder.to_owned(),
        format!("./{}/", folder.replace('/', "//")),
    ] {
        assert_eq!(run(&path).stdout, generate(&demo, &[PARIS]), "{path}");
    }
    // The copy of the repository begins here: the project file above is somebody else's.
    for path in ["edge-paris", "./edge-paris//"] {
        let outside = run(path);
        let start = "error: there is no `metalmark.yaml`";
        assert_eq!(outside.status, 2);
        assert!(outside.stderr.starts_with(start), "{}", outside.stderr);
    }
}

/// The state of a folder: every path with its size and the time of its last change.
fn listing(folder: &Path) -> Vec<String> {
    let entries = walkdir::WalkDir::new(folder).sort_by_file_name();
    let line = |entry: walkdir::DirEntry| {
        let metadata = entry.metadata().expect("there");
        let (length, changed) = (metadata.len(), metadata.modified());
        format!("{} {length} {changed:?}", entry.path().display())
    };
    let entries = entries.into_iter().map(|entry| entry.expect("readable"));
    entries.map(line).collect()
}

fn set_modes(folder: &Path, mode: impl Fn(&walkdir::DirEntry) -> u32) {
    for entry in walkdir::WalkDir::new(folder) {
        let entry = entry.expect("readable");
        let mode = fs::Permissions::from_mode(mode(&entry));
        fs::set_permissions(entry.path(), mode).expect("its own file");
    }
}

#[test]
fn it_writes_nothing_and_needs_no_home() {
    let demo = demo();
    let before = listing(demo.path());
    let expected = generate(&demo, &[PARIS]);
    assert_eq!(listing(demo.path()), before);

    // As Argo CD's sidecar runs it.
    let copy = demo.path().join("metalmark");
    fs::copy(binary(), &copy).expect("copied");
    set_modes(demo.path(), |entry| {
        if entry.file_type().is_dir() || entry.path() == copy {
            0o555
        } else {
            0o444
        }
    });
    let command = || {
        let mut command = Command::new(&copy);
        command
            .args(["cmp", "generate"])
            .current_dir(demo.path())
            .env_clear()
            .env("HOME", "/nowhere/at/all")
            .env("TMPDIR", "/nowhere/at/all")
            .env(PARIS.0, PARIS.1)
            .env("ARGOCD_APP_SOURCE_PATH", ".")
            .stdin(Stdio::null());
        command
    };
    let output = run_as_argocd(command, Command::output);
    set_modes(demo.path(), |_| 0o755);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
}

#[test]
fn discovery_takes_only_applications_that_are_clusters_of_a_project() {
    let demo = demo();
    let other = ("ARGOCD_APP_NAME", "grafana");
    let wrong = parameters(r#"[{"name":"clsuter","string":"edge-paris"}]"#);
    let discover = |stage: &Stage, variables: &[(&str, &str)]| {
        let run = stage.run_with("cmp discover", variables);
        run.exit(0).outcome.stdout
    };
    assert_eq!(discover(&demo, &[PARIS]), "./metalmark.yaml\n");
    assert_eq!(discover(&demo, &[other]), "");
    assert_eq!(discover(&demo, &[other, wrong]), "./metalmark.yaml\n");
    let empty = project().variable("ARGOCD_APP_SOURCE_PATH", ".");
    assert_eq!(discover(&empty, &[PARIS]), "");
}

#[test]
fn parameters_are_announced_with_what_holds_without_them() {
    let announce = |stage: &Stage| {
        let announced = stage.run_with("cmp parameters", &[PARIS]).exit(0);
        let announced: Vec<Value> =
            serde_json::from_str(&announced.outcome.stdout).expect("a JSON list");
        let line = |one: &Value| {
            let is_list = one["collectionType"] == "array";
            let default = &one[if is_list { "array" } else { "string" }];
            format!("{} {default}\n", one["name"].as_str().expect("a name"))
        };
        announced.iter().map(line).collect::<String>()
    };
    announce(&demo()).is(str![[r#"
cluster "edge-paris"
scope "cluster"
targets ["configmap","manifests"]
image-url "https://os-images.example.org/{{ image.filename }}"
checksum "literal"
frozen "true"
allow-empty "false"

"#]]);
    // Without a project the form is there all the same.
    let empty = project().variable("ARGOCD_APP_SOURCE_PATH", ".");
    announce(&empty).is(str![[r#"
cluster null
scope null
targets null
image-url null
checksum null
frozen null
allow-empty null

"#]]);
}

#[test]
fn the_plugin_configuration_is_the_one_in_the_image() {
    let project = project();
    let printed = project.run("cmp plugin-config").exit(0).outcome.stdout;
    let plugin = repository().join("templates/hosts/argocd/plugin.yaml");
    golden(&plugin, &printed);
    let run = project.run("cmp plugin-config --name images --discover");
    run.exit(0).screen(str![[r#"
# Argo CD's sidecar reads this file at /home/argocd/cmp-server/config/plugin.yaml.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: images
spec:
  # Without `version`, which would become part of the name that Applications say.
  generate:
    command: [metalmark]
    args: [cmp, generate]
  # Applications that name no plugin are served where they are called like a cluster of their project.
  discover:
    find:
      command: [metalmark]
      args: [cmp, discover]
  parameters:
    dynamic:
      command: [metalmark]
      args: [cmp, parameters]

"#]]);
    project.run("cmp plugin-config --name a/b").exit(2);
}

const APPLICATION: &str = r#"apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: paris-images, namespace: team-a}
spec:
  project: ""
  destination: {server: https://kubernetes.default.svc, namespace: edge-paris}
  source:
    repoURL: https://git.example.org/fleet.git
    path: environment-values/workload-clusters
    targetRevision: main
    plugin:
      name: metalmark
      env: [{name: CLUSTER, value: $ARGOCD_APP_NAMESPACE}, {name: NOTE, value: "${ARGOCD_APP_NAMESPACE}-$$1"}]
"#;

const PARAMETERS: &str = r#"      parameters:
      - {name: image-url, string: "https://h/?a=1&b"}
      - {name: targets, array: [manifests, configmap]}
      - {name: x.y-z, map: {k.1: v}}
"#;

#[test]
fn a_simulation_is_what_the_sidecar_would_generate() {
    let demo = demo().file("app.yaml", APPLICATION);
    let simulated = demo.run("cmp simulate --app app.yaml").exit(0);
    let simulated = simulated.stderr(str![]).outcome.stdout;
    assert_eq!(simulated, generate(&demo, &[PARIS]));
    demo.write("elsewhere/file", "");
    let moved = demo.run_in("elsewhere", "-C .. cmp simulate --app app.yaml");
    assert_eq!(moved.exit(0).outcome.stdout, simulated);
    demo.remove("elsewhere/file");
    let line = "cmp simulate --app app.yaml --environment --kube-version v1.32.4+rke2r1 --api-versions v1,apps/v1";
    demo.write("app.yaml", format!("{APPLICATION}{PARAMETERS}"));
    demo.run(line).exit(0).screen(str![[r#"
ARGOCD_APP_NAME=team-a_paris-images
ARGOCD_APP_NAMESPACE=edge-paris
ARGOCD_APP_PARAMETERS=[{"name":"image-url","string":"https://h/?…\u0026b"},{"array":["manifests","configmap"],"name":"targets"},{"map":{"k.1":"v"},"name":"x.y-z"}]
ARGOCD_APP_PROJECT_NAME=default
ARGOCD_APP_REVISION=0000000000000000000000000000000000000000
ARGOCD_APP_REVISION_SHORT=0000000
ARGOCD_APP_REVISION_SHORT_8=00000000
ARGOCD_APP_SOURCE_PATH=environment-values/workload-clusters
ARGOCD_APP_SOURCE_REPO_URL=https://git.example.org/fleet.git
ARGOCD_APP_SOURCE_TARGET_REVISION=main
ARGOCD_ENV_CLUSTER=edge-paris
ARGOCD_ENV_NOTE=edge-paris-$1
KUBE_API_VERSIONS=v1,apps/v1
KUBE_VERSION=1.32.4
PARAM_IMAGE_URL=https://h/?…
PARAM_TARGETS_0=manifests
PARAM_TARGETS_1=configmap
PARAM_X_Y_Z_K_1=v

"#]]);
    // A plugin block without parameters sends null, and none sends nothing.
    let sent = |app: &str| {
        let lines = demo.write("app.yaml", app).run(line).exit(0).outcome.stdout;
        let mut lines = lines.lines().map(str::to_owned);
        lines.find(|line| line.starts_with("ARGOCD_APP_PARAMETERS"))
    };
    let null = sent(APPLICATION);
    assert_eq!(null.as_deref(), Some("ARGOCD_APP_PARAMETERS=null"));
    let (none, _) = APPLICATION.split_once("    plugin:").expect("a plugin");
    assert_eq!(sent(none), None);
    for wrong in [
        "kind: ConfigMap\n",
        &APPLICATION.replace("environment-values", "../x"),
    ] {
        let run = demo
            .write("app.yaml", wrong)
            .run("cmp simulate --app app.yaml");
        run.exit(2);
    }
}

#[test]
fn an_application_of_the_ready_made_set_renders_its_cluster() {
    let set = repository().join("templates/hosts/argocd/applicationset.yaml");
    let set = fs::read_to_string(set).expect("there");
    let template = set.split("\n  template:\n").nth(1).expect("a template");
    let path = "environment-values/workload-clusters/edge-paris";
    let template = template
        .replace("{{.path.basename}}", "edge-paris")
        .replace("{{.path.path}}", path);
    let lines = template.lines();
    let lines = lines.map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)));
    let app = lines.collect::<String>();
    let app = format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\n{app}");
    let stage = demo().file("app.yaml", app);
    let printed = stage
        .run("cmp simulate --app app.yaml")
        .exit(0)
        .outcome
        .stdout;
    let names = printed.lines().filter(|line| line.starts_with("  name: "));
    assert_text(
        &names.collect::<Vec<_>>().join("\n"),
        str![[r#"
  name: edge-paris-control-plane-235cb023ad
  name: edge-paris-md0-59719938be
  name: edge-paris-storage-2478bffea6
"#]],
    );
}
