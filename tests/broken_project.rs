//! A project file that is no YAML, such as one with the marks of a merge: nothing is known of the project then, so every command ends
//! with that one finding, and none speaks as of an empty project.

use std::collections::BTreeSet;

use snapbox::str;

use super::support::Outcome;
use super::support::stage::{Stage, project};

/// A command for each command that reads the project.
const COMMANDS: [&str; 31] = [
    "",
    "render",
    "render edge",
    "render --check",
    "render --stdout",
    "render --target manifests --out other",
    "check",
    "check edge",
    "check --fix",
    "lock",
    "lock --check",
    "verify",
    "mirror --to oci://r.example/m",
    "update",
    "clusters",
    "images --output json",
    "names noble-31",
    "impact",
    "page --to page.html",
    "plan --to 1.32",
    "explain edge",
    "rules",
    "values edge",
    "stamp",
    "stamp --check",
    "registry facts oci://r.example/a:1",
    "registry ls oci://r.example/a",
    "bundle pull oci://r.example/b:1 to",
    "bundle pack --to dir:b",
    "init",
    "cmp generate",
];

/// The commands that read no project, that answer with what was known before (`lsp`), or have a test of their own (`fn`).
const OTHERS: [&str; 6] = ["fn", "lsp", "schema", "man", "completions", "help"];

/// A fleet that is rendered, locked and committed, and then merged with a conflict.
fn merged() -> Option<Stage> {
    let project = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .settings("outputs: [{target: manifests, path: rendered}]")
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: noble-31}}",
        )
        .file(
            "metalmark.lock",
            "version: 1\nimages:\n- key: gone\n  reference: oci://r.example/i:1\n  digest: sha256:0000000000000000000000000000000000000000000000000000000000000000\n",
        )
        .commit("a fleet")?;
    let text = project.read("metalmark.yaml");
    let both =
        format!("{text}<<<<<<< HEAD\npolicy: {{}}\n=======\nmatching: exact\n>>>>>>> other\n");
    project.write("metalmark.yaml", both);
    Some(project)
}

#[test]
fn every_command_ends_with_the_fault_of_a_project_file_that_is_no_yaml() {
    let Some(project) = merged() else {
        return;
    };
    let help = project.run("help").exit(0).outcome.stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let listed: BTreeSet<&str> = listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty())
        .collect();
    let tried = COMMANDS.iter().filter_map(|words| words.split(' ').next());
    let tried: BTreeSet<&str> = tried
        .chain(OTHERS)
        .filter(|name| !name.is_empty())
        .collect();
    assert_eq!(listed, tried, "a command is in neither list");

    let before = project.texts();
    for words in COMMANDS {
        let run = project.run_with(
            words,
            &[("ARGOCD_APP_SOURCE_PATH", "."), ("ARGOCD_APP_NAME", "a")],
        );
        let outcome = &run.outcome;
        let screen = format!("{}{}", outcome.stdout, outcome.stderr);
        assert_eq!(
            (outcome.status, &*screen),
            (
                1,
                "error[yaml-syntax]: git left a conflict of a merge here
 --> metalmark.yaml:5:1
  |
5 | <<<<<<< HEAD
  | ^^^^^^^^^^^^
  |
  = help: keep one side of each conflict, and remove its marks: `<<<<<<<`, `=======`, `>>>>>>>`

1 error
"
            ),
            "`{words}`"
        );
        assert_eq!(project.texts(), before, "`{words}` wrote");
    }
}

#[test]
fn a_fault_of_the_project_file_is_in_every_report() {
    let Some(project) = merged() else {
        return;
    };
    for command in ["check", "render", "stamp", "update"] {
        for format in ["json", "sarif", "github", "gitlab"] {
            let run = project.run(&format!("{command} --output {format}")).exit(1);
            assert!(
                run.outcome.stdout.contains("git left a conflict"),
                "{command} {format}"
            );
        }
        let words = format!("{command} --report sarif={command}.sarif");
        let _ = project.run(&words).exit(1);
        assert!(
            project
                .read(&format!("{command}.sarif"))
                .contains("yaml-syntax")
        );
    }
    project
        .run("check --exit-zero --quiet")
        .exit(0)
        .brief(str![[r#"
error[yaml-syntax]: git left a conflict of a merge here
  metalmark.yaml:5:1 `<<<<<<< HEAD`
  help: keep one side of each conflict, and remove its marks: `<<<<<<<`, `=======`, `>>>>>>>`

"#]]);
}

#[test]
fn a_function_passes_its_items_on_beside_a_fault_of_the_project_file() {
    let Some(project) = merged() else {
        return;
    };
    let list = "apiVersion: config.kubernetes.io/v1
kind: ResourceList
functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: a}}
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: kept}}
";
    let run = project.feed("fn", list).exit(1);
    let Outcome { stdout, stderr, .. } = run.outcome;
    assert!(stdout.contains("metadata: {name: kept}"), "{stdout}");
    assert!(stdout.contains("severity: error"), "{stdout}");
    assert!(
        stderr.contains("git left a conflict of a merge here"),
        "{stderr}"
    );
}

#[test]
fn a_fault_of_an_earlier_project_file_is_said_of_its_commit() {
    let Some(project) = merged().and_then(|project| project.commit("a conflict")) else {
        return;
    };
    let fixed = project.read("metalmark.yaml");
    let fixed = fixed.split("<<<<<<<").next().expect("what is before");
    project.write("metalmark.yaml", fixed);
    for words in ["impact --against HEAD", "impact HEAD --against HEAD^"] {
        let screen = project.run(words).exit(1).outcome.stderr;
        assert!(screen.contains(" --> metalmark.yaml:5:1\n"), "{screen}");
        let said = "help: this is the file as it is in ";
        assert!(screen.contains(said), "{screen}");
    }
    let _ = project.run("check").exit(0);
}
