//! The settings of hosts and of git that `init` writes, or prints where there are some.

use std::fs;

use serde_json::{Value, json};
use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::place::FileId;

use super::{init, workspace};
use crate::support::manifests::{GOOD, cluster};
use crate::support::stage::{Is, Stage, project, table};
use crate::support::{copy_into, repository};

const FLUX: &str = "fixtures/workspaces/sylva-flux";

fn ours(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect("a text")
}

fn read_json(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn hosts_settings_are_written_where_there_are_none_and_said_where_there_are() {
    let own = "repos: [] # mine\n";
    let stage = workspace("sylva-flux").file(".pre-commit-config.yaml", own);
    let said = init(&stage, "--pre-commit --renovate");
    let (_, settings) = said.split_once("\nadd under").expect("what to add");
    settings.is(str![[r#"
 `repos:` in `.pre-commit-config.yaml`:
  - repo: local
    hooks:
      - id: metalmark-render
        name: metalmark render
        entry: metalmark render --fail-on-change --tracked
        language: system
        pass_filenames: false
        always_run: true
        require_serial: true
        stages: [pre-commit, pre-merge-commit, pre-push, manual]

wrote renovate.json
found 5 clusters with 6 node pools: Sylva environments
no findings in 5 clusters; 6 node pools checked: 6 proven
next: `metalmark render`, then commit what it wrote

"#]]);
    assert_eq!(stage.read(".pre-commit-config.yaml"), own);
    // The preset, and the usual rules of Renovate.
    let mut preset = read_json(&ours("templates/hosts/renovate/metalmark.json"));
    preset["extends"] = json!(["config:recommended"]);
    assert_eq!(read_json(&stage.read("renovate.json")), preset);
}

#[test]
fn for_an_own_renovate_configuration_the_lists_of_the_preset_are_printed() {
    let said = init(
        &workspace("sylva-flux").file("renovate.json", "{}\n"),
        "--renovate",
    );
    let before = "add to the lists of these names in `renovate.json`:\n";
    let (_, lists) = said.split_once(before).expect("what to add");
    let (lists, _) = lists.split_once("\n\n").expect("its end");
    let lists = read_json(&format!("{{{lists}}}"));
    let preset = read_json(&ours("templates/hosts/renovate/metalmark.json"));
    let wanted = ["customManagers", "packageRules"].map(|list| (list, preset[list].clone()));
    assert_eq!(
        lists,
        json!({ wanted[0].0: wanted[0].1, wanted[1].0: wanted[1].1 })
    );
}

/// The demo workspace in a folder of a repository.
fn project_in(folder: &str) -> Stage {
    let stage = project().file(".git/HEAD", "");
    copy_into(&repository().join(FLUX), &stage.path().join(folder));
    stage
}

/// The lines of the settings at the top that name the project's folder.
fn lines_of(stage: &Stage, folder: &str) -> String {
    let names = [".gitattributes", ".pre-commit-config.yaml", "renovate.json"];
    table(names, |name| {
        let text = stage.read(name);
        let lines = text.lines().filter(|line| line.contains(folder));
        lines.map(|line| line.trim().to_owned()).collect()
    })
}

#[test]
fn attributes_are_those_of_folders_with_nothing_but_rendered_files() {
    let stage = project().file(".git/HEAD", "").file(
        "metalmark.yaml",
        "version: 1\n\
         clusters: ['*/values.yaml']\n\
         outputs:\n\
         - {target: helm-values, path: ./shared/}\n\
         - {target: manifests, path: 'all/{{ cluster.name }}'}\n\
         - {target: manifests, path: 'out-{{ cluster.name }}'}\n",
    );
    stage.run("init").exit(0);
    let attributes = stage.read(".gitattributes");
    let folders: Vec<_> = attributes.lines().filter(|it| it.contains('/')).collect();
    assert_eq!(folders, ["all/** text eol=lf", "shared/** text eol=lf"]);
}

/// git, pre-commit and Renovate read the top of the repository alone; each has its own rules for what is quoted.
#[test]
fn settings_of_a_project_in_a_folder_are_written_at_the_top_as_hosts_read_them() {
    let stage = project_in("deploy");
    let line = "init --pre-commit --renovate";
    stage.run_in("deploy", line).exit(0);
    lines_of(&stage, "deploy").is(str![[r#"
.gitattributes
    deploy/rendered/clusters/** text eol=lf
.pre-commit-config.yaml
    - id: metalmark-render-deploy
    args: [-C, deploy]
renovate.json
    "workingDirTemplate": "deploy",

"#]]);
    let names = stage.list("deploy");
    assert!(!names.contains(&"renovate.json".to_owned()), "{names:?}");
    // A later run changes nothing, and says nothing that is done.
    let said = stage.run_in("deploy", line).exit(0).outcome.stdout;
    let (_, said) = said.split_once('\n').expect("lines");
    said.is(str![[r#"
`.gitattributes` has metalmark already
`.pre-commit-config.yaml` has metalmark already
`renovate.json` has metalmark already

"#]]);
    let stage = project_in("my d'ir");
    stage.run_in("my d'ir", line).exit(0);
    lines_of(&stage, "my d'").is(str![[r#"
.gitattributes
    "my d'ir/rendered/clusters/**" text eol=lf
.pre-commit-config.yaml
    args: [-C, 'my d''ir']
renovate.json
    "workingDirTemplate": "my d'ir",

"#]]);
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
        let stage = workspace("sylva-flux").file(name, text);
        let said = init(&stage, "--renovate");
        let is_said = said.contains(&format!("in `{name}`:"));
        let is_written = stage.path().join("renovate.json").exists();
        assert_eq!((is_said, is_written), (is_own, !is_own), "{name}: {said}");
    }
}

#[test]
fn the_hook_that_is_written_is_the_manifest_s() {
    let stage = workspace("sylva-flux");
    init(&stage, "--pre-commit");
    let read = |text: &str| {
        let values = yaml_tree::values(text, FileId(0), Engine::Kubectl).expect("YAML");
        read_json(&to_json(&values.value, Html::Plain))
    };
    let written = read(&stage.read(".pre-commit-config.yaml"));
    let manifest = read(&format!("hooks:\n{}", ours(".pre-commit-hooks.yaml")));
    let mut hooks = manifest["hooks"].as_array().expect("a list").iter();
    let hook = hooks.find(|hook| hook["id"] == "metalmark-render-system");
    let mut hook = hook.expect("the hook").clone();
    let fields = hook.as_object_mut().expect("a map");
    // A local hook is of no package, and names itself.
    fields.remove("description");
    fields.remove("minimum_pre_commit_version");
    fields.insert("id".to_owned(), "metalmark-render".into());
    assert_eq!(written["repos"][0]["hooks"][0], hook);
}

/// There is nothing that `render` could write: it would fail with every commit.
#[test]
fn the_hook_of_manifests_checks_them() {
    let machines = "apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {name: w}
spec:
  clusterName: edge
  template:
    spec:
      version: v1.33.1
      infrastructureRef: {kind: DockerMachineTemplate, name: w}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: DockerMachineTemplate
metadata: {name: w}
spec: {template: {spec: {customImage: 'kindest/node:v1.33.1'}}}
";
    let stage = project().files(&[("edge.yaml", machines), (".git/HEAD", "")]);
    init(&stage, "--dry-run --pre-commit").is(str![[r#"
# What metalmark stamps: `metalmark stamp --check` shows what would change, `metalmark stamp` writes it.
# `metalmark schema` prints the schema of this file for editors.
version: 1
manifests: ['.']
images:
  # What is known of each image, by its key. `k8s: {flavor: kubeadm, version: 1.34.1}` says which Kubernetes it holds.
  records:
    node:
      locations: {docker: {image: 'kindest/node:v1.33.1'}}
      # k8s: {version: '1.33.1'}    # so says the name: remove the first `#` if it is right
# Which image each object boots; the first entry that fits counts. A comment in a file says the same, and first:
# `# metalmark: image=KEY` above the object.
stamps:
  - {kind: DockerMachineTemplate, image: node}

"#]]);
    init(&stage, "--pre-commit").is(str![[r#"
wrote metalmark.yaml
wrote .gitattributes
wrote .pre-commit-config.yaml
found 1 cluster with 1 node pool: Cluster API manifests
described 1 image under `images.records`; `stamps` says who boots which
1 warning in 1 cluster; 1 node pool checked: 1 by name only
next: commit these files; a hook also needs `pre-commit install`, once

"#]]);
    let hook = stage.read(".pre-commit-config.yaml");
    let entry = hook
        .lines()
        .map(str::trim)
        .find_map(|line| line.strip_prefix("entry: metalmark "));
    assert_eq!(entry, Some("check"), "{hook}");
    stage.run("check").exit(0);
    assert!(!stage.read(".gitattributes").contains("/**"));
    let again = project().file("edge.yaml", machines);
    init(&again, "").is(str![[r#"
wrote metalmark.yaml
found 1 cluster with 1 node pool: Cluster API manifests
described 1 image under `images.records`; `stamps` says who boots which
1 warning in 1 cluster; 1 node pool checked: 1 by name only
next: `metalmark init --pre-commit --ci=gitlab`, or `--ci=github`, sets up a hook and a CI job, which check every change

"#]]);
}

#[test]
fn the_job_is_that_of_the_code_host_of_the_repository() {
    const GITLAB: &str = ".gitlab-ci.yml";
    const GITHUB: &str = ".github/workflows/metalmark.yml";
    let remote = |url: &str| format!("[remote \"origin\"]\n\turl = {url}\n");
    let gitlab = remote("git@gitlab.example.org:a/b.git");
    let github = remote("https://github.com/a/b");
    for (path, text, expected) in [
        (".git/config", &*gitlab, GITLAB),
        (".git/config", &github, GITHUB),
        (".github/workflows/own.yml", "on: push\n", GITHUB),
    ] {
        let stage = workspace("sylva-flux").file(path, text);
        let said = init(&stage, "--ci");
        assert!(said.contains(&format!("wrote {expected}")), "{said}");
        let job = stage.read(expected);
        let mut lines = job.lines().map(str::trim);
        assert!(
            lines.any(|line| line.starts_with("metalmark render --check ")),
            "{job}"
        );
    }
    // What is proposed works as it is typed.
    let machines = cluster("v1.31.8", GOOD);
    for (config, proposed) in [
        (&*gitlab, "`metalmark init --pre-commit --ci` "),
        (
            "",
            "`metalmark init --pre-commit --ci=gitlab`, or `--ci=github`, ",
        ),
    ] {
        let stage = project()
            .file(".git/config", config)
            .file("edge.yaml", &machines);
        let said = init(&stage, "");
        assert!(said.contains(proposed), "{said}");
    }
    // An own pipeline is left as it is.
    let stage = workspace("sylva-flux").file(GITLAB, "stages: [test]\n");
    let said = init(&stage, "--ci");
    assert!(
        said.contains("add as a job of its own in `.gitlab-ci.yml`:\n"),
        "{said}"
    );
    assert_eq!(stage.read(GITLAB), "stages: [test]\n");
}

/// A pipeline runs at the top, and finds the reports of a project in any folder there.
#[test]
fn the_job_of_a_project_in_a_folder_leaves_its_reports_at_the_top() {
    let stage = project_in("my d'ir");
    stage.run_in("my d'ir", "render").exit(0);
    let top = stage.path().to_string_lossy().into_owned();
    let gitlab = [
        "metalmark-codequality.json",
        "metalmark-junit.xml",
        "metalmark.md",
    ];
    let stage = stage
        .variable("CI_PROJECT_DIR", &top)
        .variable("GITHUB_WORKSPACE", &top);
    for (host, file, reports) in [
        ("gitlab", ".gitlab-ci.yml", &gitlab[..]),
        (
            "github",
            ".github/workflows/metalmark.yml",
            &["metalmark.sarif"],
        ),
    ] {
        stage
            .run_in("my d'ir", &format!("init --ci={host}"))
            .exit(0);
        let job = stage.read(file);
        let mut lines = job.lines().map(str::trim);
        let command = lines.find(|line| line.starts_with("metalmark -C "));
        stage.shell(command.expect("its command")).exit(0);
        for report in reports {
            assert_ne!(stage.read(report), "", "{report}");
            assert!(job.contains(&format!(": {report}\n")) || job.contains(&format!("[{report}]")));
        }
    }
}

#[test]
fn without_a_known_code_host_nothing_is_written() {
    let stage = workspace("sylva-flux");
    let before = stage.list("");
    let stderr = stage.run("init --ci").exit(2).outcome.stderr;
    assert!(
        stderr.contains("write `--ci=gitlab` or `--ci=github`"),
        "{stderr}"
    );
    assert_eq!(stage.list(""), before);
    init(&stage, "--ci=gitlab");
    assert_ne!(stage.read(".gitlab-ci.yml"), "");
}

#[test]
fn a_link_leads_no_job_out_of_the_repository() {
    let (outside, stage) = (project(), workspace("sylva-flux"));
    let link = stage.path().join(".github");
    std::os::unix::fs::symlink(outside.path(), link).expect("linked");
    let said = init(&stage, "--ci=github");
    assert!(
        said.contains(".github/workflows/metalmark.yml:\n#"),
        "{said}"
    );
    assert_eq!(outside.list(""), [""; 0]);
}
