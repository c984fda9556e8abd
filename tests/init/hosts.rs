//! The settings of hosts and of git that `init` writes, or prints where there are some.

use std::fs;

use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use super::{init, workspace};
use crate::support::{Metalmark, copy_into, repository, shell};

#[test]
fn hosts_settings_are_written_where_there_are_none_and_said_where_there_are() {
    let scratch = workspace("sylva-flux");
    let own = "repos: [] # mine\n";
    fs::write(scratch.path().join(".pre-commit-config.yaml"), own).expect("written");
    let outcome = init(scratch.path(), &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains("add under `repos:` in `.pre-commit-config.yaml`:\n  - repo: local"),
        "{}",
        outcome.stdout
    );
    assert!(
        outcome.stdout.contains("wrote renovate.json"),
        "{}",
        outcome.stdout
    );
    assert_eq!(
        fs::read_to_string(scratch.path().join(".pre-commit-config.yaml")).expect("read"),
        own
    );
    let renovate = fs::read(scratch.path().join("renovate.json")).expect("read");
    let renovate: serde_json::Value = serde_json::from_slice(&renovate).expect("JSON");
    // The preset, and the usual rules of Renovate.
    let preset = repository().join("templates/hosts/renovate/metalmark.json");
    let preset = fs::read(preset).expect("the preset");
    let mut preset: serde_json::Value = serde_json::from_slice(&preset).expect("JSON");
    preset["extends"] = serde_json::json!(["config:recommended"]);
    assert_eq!(renovate, preset);
}

#[test]
fn for_an_own_renovate_configuration_the_lists_of_the_preset_are_printed() {
    let scratch = workspace("sylva-flux");
    fs::write(scratch.path().join("renovate.json"), "{}\n").expect("written");
    let outcome = init(scratch.path(), &["--renovate"]);
    let (_, lists) = outcome
        .stdout
        .split_once("add to the lists of these names in `renovate.json`:\n")
        .expect("what to add");
    let (lists, _) = lists.split_once("\n\n").expect("its end");
    let lists: serde_json::Value = serde_json::from_str(&format!("{{{lists}}}")).expect("JSON");
    assert!(lists["customManagers"].is_array() && lists["packageRules"].is_array());
    assert_eq!(lists.as_object().map(serde_json::Map::len), Some(2));
}

/// git, pre-commit and Renovate read the top of the repository alone.
#[test]
fn settings_of_a_project_in_a_folder_are_written_at_the_top() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (top, deploy) = (scratch.path(), scratch.path().join("deploy"));
    fs::create_dir_all(top.join(".git")).expect("created");
    copy_into(
        &repository().join("fixtures/workspaces/sylva-flux"),
        &deploy,
    );
    let outcome = init(&deploy, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    for (name, text) in [
        (".gitattributes", "deploy/rendered/** text eol=lf\n"),
        (".pre-commit-config.yaml", "        args: [-C, deploy]\n"),
        (
            "renovate.json",
            "[\"metalmark -C deploy update --from-renovate\"]",
        ),
    ] {
        let written = fs::read_to_string(top.join(name)).expect(name);
        assert!(written.contains(text), "{written}");
        assert!(!deploy.join(name).exists(), "{name}");
    }
    // A later run changes nothing, and says nothing that is done.
    let outcome = init(&deploy, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let lines: Vec<&str> = outcome.stdout.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "`.gitattributes` has metalmark already",
            "`.pre-commit-config.yaml` has metalmark already",
            "`renovate.json` has metalmark already"
        ]
    );
}

/// Each host has its own rules for what is quoted.
#[test]
fn settings_of_a_project_in_a_folder_of_any_name_are_what_hosts_read() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (top, project) = (scratch.path(), scratch.path().join("my d'ir"));
    fs::create_dir_all(top.join(".git")).expect("created");
    copy_into(
        &repository().join("fixtures/workspaces/sylva-flux"),
        &project,
    );
    let outcome = init(&project, &["--pre-commit", "--renovate"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let renovate = fs::read(top.join("renovate.json")).expect("read");
    let renovate: serde_json::Value = serde_json::from_slice(&renovate).expect("JSON");
    assert_eq!(
        renovate["packageRules"][0]["postUpgradeTasks"]["commands"][0],
        r"metalmark -C 'my d'\''ir' update --from-renovate"
    );
    let attributes = fs::read_to_string(top.join(".gitattributes")).expect("read");
    let line = "\n\"my d'ir/rendered/**\" text eol=lf\n";
    assert!(attributes.contains(line), "{attributes}");
    let hooks = fs::read_to_string(top.join(".pre-commit-config.yaml")).expect("read");
    assert!(hooks.contains("args: [-C, 'my d''ir']\n"), "{hooks}");
}

/// Renovate reads the first of its files, and no other.
#[test]
fn no_configuration_of_renovate_is_written_over_one_of_another_name() {
    for (name, text, is_own) in [
        ("renovate.jsonc", "{}", true),
        (".github/renovate.json5", "{}", true),
        (".renovaterc", "{}", true),
        ("package.json", "{\"renovate\": {}}", true),
        ("package.json", "{\"name\": \"a\"}", false),
    ] {
        let scratch = workspace("sylva-flux");
        let path = scratch.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(&path, text).expect("written");
        let outcome = init(scratch.path(), &["--renovate"]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let is_said = outcome.stdout.contains(&format!("in `{name}`:"));
        let is_written = scratch.path().join("renovate.json").exists();
        assert_eq!(
            (is_said, is_written),
            (is_own, !is_own),
            "{name}: {}",
            outcome.stdout
        );
    }
}

#[test]
fn the_hook_that_is_written_is_the_manifest_s() {
    let scratch = workspace("sylva-flux");
    assert_eq!(init(scratch.path(), &["--pre-commit"]).status, 0);
    let read = |text: &str| -> serde_json::Value {
        let values = yaml_tree::values(text, FileId(0), Engine::Kubectl).expect("YAML");
        serde_json::from_str(&to_json(&values.value, Html::Plain)).expect("JSON")
    };
    let written = scratch.path().join(".pre-commit-config.yaml");
    let written = read(&fs::read_to_string(written).expect("written"));
    let manifest = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("read");
    let manifest = read(&format!("hooks:\n{manifest}"));
    let hooks = manifest["hooks"].as_array().expect("a list");
    let mut hook = hooks
        .iter()
        .find(|hook| hook["id"] == "metalmark-render-system")
        .expect("the hook")
        .clone();
    let fields = hook.as_object_mut().expect("a map");
    // A local hook is of no package, and names itself.
    fields.remove("description");
    fields.remove("minimum_pre_commit_version");
    fields.insert("id".to_owned(), "metalmark-render".into());
    assert_eq!(written["repos"][0]["hooks"][0], hook);
}

/// `init --ci` in a repository with these files, and what it left of them.
fn with_ci(files: &[(&str, &str)], argument: &str) -> (tempfile::TempDir, crate::support::Outcome) {
    let scratch = workspace("sylva-flux");
    for (path, text) in files {
        let path = scratch.path().join(path);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, text).expect("written");
    }
    let outcome = init(scratch.path(), &[argument]);
    (scratch, outcome)
}

#[test]
fn the_job_is_that_of_the_code_host_of_the_repository() {
    const GITLAB: &str = ".gitlab-ci.yml";
    const GITHUB: &str = ".github/workflows/metalmark.yml";
    let remote = |url: &str| format!("[remote \"origin\"]\n\turl = {url}\n");
    let gitlab = remote("git@gitlab.example.org:a/b.git");
    let github = remote("https://github.com/a/b");
    for (files, expected) in [
        ([(".git/config", &*gitlab)], GITLAB),
        ([(".git/config", &github)], GITHUB),
        ([(".github/workflows/own.yml", "on: push\n")], GITHUB),
    ] {
        let (scratch, outcome) = with_ci(&files, "--ci");
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let job = fs::read_to_string(scratch.path().join(expected)).expect("written");
        assert!(
            job.contains("\n          metalmark render --check ")
                || job.contains("\n      metalmark render --check "),
            "{job}"
        );
        assert!(
            outcome.stdout.contains(&format!("wrote {expected}")),
            "{}",
            outcome.stdout
        );
    }
    // An own pipeline is left as it is.
    let (scratch, outcome) = with_ci(&[(GITLAB, "stages: [test]\n")], "--ci");
    assert!(
        outcome
            .stdout
            .contains("add as a job of its own in `.gitlab-ci.yml`:\n"),
        "{}",
        outcome.stdout
    );
    let own = fs::read_to_string(scratch.path().join(GITLAB)).expect("read");
    assert_eq!(own, "stages: [test]\n");
}

/// A pipeline runs at the top, and finds the reports of a project in any folder there.
#[test]
#[cfg(unix)]
fn the_job_of_a_project_in_a_folder_leaves_its_reports_at_the_top() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (top, project) = (scratch.path(), scratch.path().join("my d'ir"));
    fs::create_dir_all(top.join(".git")).expect("created");
    copy_into(
        &repository().join("fixtures/workspaces/sylva-flux"),
        &project,
    );
    let rendered = Metalmark::within(&project).args(["render"]).run();
    assert_eq!(rendered.status, 0, "{}", rendered.stderr);
    let place = top.to_string_lossy();
    for (host, file, variable, reports) in [
        (
            "--ci=gitlab",
            ".gitlab-ci.yml",
            "CI_PROJECT_DIR",
            &[
                "metalmark-codequality.json",
                "metalmark-junit.xml",
                "metalmark.md",
            ][..],
        ),
        (
            "--ci=github",
            ".github/workflows/metalmark.yml",
            "GITHUB_WORKSPACE",
            &["metalmark.sarif"],
        ),
    ] {
        let outcome = init(&project, &[host]);
        assert_eq!(outcome.status, 0, "{}", outcome.stderr);
        let job = fs::read_to_string(top.join(file)).expect("written");
        let command = job
            .lines()
            .find(|line| line.trim_start().starts_with("metalmark -C "))
            .expect("its command");
        let output = shell(top, &[(variable, &place)], command);
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{command}: {printed}");
        for report in reports {
            assert!(top.join(report).is_file(), "{report}");
            assert!(job.contains(&format!(": {report}\n")) || job.contains(&format!("[{report}]")));
        }
    }
}

#[test]
fn without_a_known_code_host_nothing_is_written() {
    let (scratch, outcome) = with_ci(&[], "--ci");
    assert_eq!(outcome.status, 2);
    assert!(
        outcome
            .stderr
            .contains("write `--ci=gitlab` or `--ci=github`"),
        "{}",
        outcome.stderr
    );
    assert!(!scratch.path().join("metalmark.yaml").exists());
    let (scratch, outcome) = with_ci(&[], "--ci=gitlab");
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(scratch.path().join(".gitlab-ci.yml").is_file());
}

#[test]
#[cfg(unix)]
fn a_link_leads_no_job_out_of_the_repository() {
    let outside = tempfile::tempdir().expect("a folder");
    let scratch = workspace("sylva-flux");
    std::os::unix::fs::symlink(outside.path(), scratch.path().join(".github")).expect("linked");
    let outcome = init(scratch.path(), &["--ci=github"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(
        outcome
            .stdout
            .contains(".github/workflows/metalmark.yml:\n#"),
        "{}",
        outcome.stdout
    );
    let mut left = fs::read_dir(outside.path()).expect("read");
    assert!(left.next().is_none());
}
