//! The files of templates/hosts/shards: they are YAML, the commands in them run, and many runners that push at once leave what
//! one run renders.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use crate::programs::find;
use crate::support::stage::assert_text;
use crate::support::{repository, shell};
use crate::tracked::demo;

fn folder() -> PathBuf {
    repository().join("templates/hosts/shards")
}

fn text(name: &str) -> String {
    fs::read_to_string(folder().join(name)).expect("there")
}

const YAML: [&str; 4] = [
    "applicationset.yaml",
    "argo-workflow.yaml",
    "github-workflow.yml",
    "gitlab-ci.yml",
];

#[test]
fn each_file_is_yaml_or_a_shell_script() {
    let entries = fs::read_dir(folder()).expect("the folder");
    let name =
        |entry: std::io::Result<fs::DirEntry>| entry.expect("readable").file_name().into_string();
    let mut names: Vec<String> = entries.map(|entry| name(entry).expect("text")).collect();
    names.sort();
    assert_eq!(names[..4], YAML);
    assert_eq!(names[4..], ["render-shard.sh"]);
    for name in YAML {
        yaml_tree::read(&text(name), FileId(0), Engine::Kubectl).expect("it is YAML");
    }
    let parsed = Command::new("sh")
        .arg("-n")
        .arg(folder().join("render-shard.sh"))
        .output();
    assert!(parsed.expect("sh runs").status.success());
}

#[test]
fn the_commands_of_the_gitlab_pipeline_run() {
    let pipeline = text("gitlab-ci.yml");
    let lines = pipeline.lines();
    let lines = lines.filter_map(|line| line.strip_prefix("    - metalmark "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 2);
    for line in lines {
        let stage = demo();
        let root = stage.path().to_string_lossy().into_owned();
        let variables = [
            ("CI_PROJECT_DIR", &*root),
            ("CI_NODE_INDEX", "2"),
            ("CI_NODE_TOTAL", "8"),
        ];
        ok(&shell(
            stage.path(),
            &variables,
            &format!("metalmark {line}"),
        ));
        assert!(!stage.path().join("rendered").exists(), "{line}");
    }
}

#[test]
fn every_pipeline_calls_the_script_with_its_shard_and_branch() {
    for (name, call) in [
        (
            "gitlab-ci.yml",
            r#""$CI_NODE_INDEX/$CI_NODE_TOTAL" "$CI_COMMIT_BRANCH""#,
        ),
        (
            "github-workflow.yml",
            r#""$SHARD/$SHARDS" "$GITHUB_REF_NAME""#,
        ),
        ("argo-workflow.yaml", r#""$SHARD" "$BRANCH""#),
    ] {
        let call = format!("sh ci/render-shard.sh {call}");
        assert!(text(name).contains(&call), "{name}");
    }
}

#[test]
fn an_application_of_the_set_renders_its_cluster() {
    let set = text("applicationset.yaml");
    let template = set.split("\n  template:\n").nth(1).expect("a template");
    let path = "environment-values/workload-clusters/edge-paris";
    let template = template
        .replace("{{.path.basename}}", "edge-paris")
        .replace("{{.path.path}}", path);
    let body: String = template
        .lines()
        .map(|line| format!("{}\n", line.strip_prefix("    ").unwrap_or(line)))
        .collect();
    let app = format!("apiVersion: argoproj.io/v1alpha1\nkind: Application\n{body}");
    let run = demo()
        .file("app.yaml", app)
        .run("cmp simulate --app app.yaml")
        .exit(0);
    let names = run
        .outcome
        .stdout
        .lines()
        .filter(|line| line.starts_with("  name: "));
    assert_text(
        &names.collect::<Vec<_>>().join("\n"),
        str![[r#"
  name: edge-paris-control-plane-235cb023ad
  name: edge-paris-md0-59719938be
  name: edge-paris-storage-2478bffea6
"#]],
    );
}

fn ok(output: &Output) -> String {
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn runners_that_push_at_once_leave_what_one_run_renders() {
    if find("git").is_none() {
        return;
    }
    let place = tempfile::tempdir().expect("a folder");
    let demo = demo();
    let origin = place.path().join("origin.git");
    let origin = origin.to_string_lossy();
    let identity = "git config user.name m; git config user.email m@example.org;";
    ok(&shell(
        demo.path(),
        &[],
        &format!(
            "git init --quiet --bare --initial-branch main {origin}\n\
             git init --quiet --initial-branch main .; {identity}\n\
             git add --all .; git commit --quiet -m Start; git push --quiet {origin} main"
        ),
    ));
    let script = folder().join("render-shard.sh");
    let runner = |index: usize| {
        let checkout = place.path().join(format!("runner-{index}"));
        let output = shell(
            place.path(),
            &[],
            &format!(
                "git clone --quiet --depth 1 file://{origin} {checkout}; cd {checkout}; {identity}\n\
                 sh {script} {index}/3 main",
                checkout = checkout.display(),
                script = script.display(),
            ),
        );
        ok(&output);
    };
    std::thread::scope(|scope| {
        for index in 1..=3 {
            scope.spawn(move || runner(index));
        }
    });
    ok(&shell(
        demo.path(),
        &[],
        &format!("git pull --quiet {origin} main; metalmark render --frozen --check"),
    ));
}
