//! The scheduled jobs that open one merge request a wave, run as they are written, beside a repository that takes what they push.

use std::fs;

use snapbox::str;

use crate::git::git;
use crate::support::repository;
use crate::support::stage::{Is, Stage, project};

/// The script of a template: the lines of its one block.
fn script(template: &str) -> String {
    let text = fs::read_to_string(repository().join(template)).expect("the template");
    let (before, block) = text
        .split_once("- |\n")
        .or_else(|| text.split_once("- run: |\n"))
        .expect("a block");
    assert!(!before.is_empty());
    let lines = block.lines().map(|line| format!("{}\n", line.trim_start()));
    lines.collect()
}

/// A fleet of two waves on its way to 1.31; none where there is no git.
fn fleet() -> Option<Stage> {
    let image = |minor: u32| {
        format!("noble-{minor} kubeadm 1.{minor}.4 os=ubuntu os-release=noble hardened=false")
    };
    let images = [image(30), image(31)];
    let images: Vec<&str> = images.iter().map(String::as_str).collect();
    let values = "cluster: {k8s_version: v1.30.4, control_plane_replicas: 3, capm3: {image_key: noble-30}, \
                  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}}\n";
    let settings = "clusters: [{each: 'clusters/*.yaml'}]\noutputs: [{target: manifests, path: rendered}]\n\
                    plan: {to: '1.31', most: 1, soak: 1}\n";
    let stage = project()
        .settings(settings)
        .catalog(&images)
        .file("clusters/a.yaml", values)
        .file("clusters/b.yaml", values);
    stage.run("render").exit(0);
    let stage = ["AUTHOR", "COMMITTER"].iter().fold(stage, |stage, who| {
        stage.variable(&format!("GIT_{who}_DATE"), "2026-11-21T12:00:00Z")
    });
    let stage = stage.commit("start")?;
    git(stage.path(), &["tag", "start"]);
    let remote = ["init", "--quiet", "--bare", "remote.git"];
    git(stage.path(), &remote);
    stage.write(".git/info/exclude", "/remote.git\n/.gitconfig\n/gh.txt\n");
    let remote = stage.path().join("remote.git");
    git(&remote, &["config", "receive.advertisePushOptions", "true"]);
    git(
        stage.path(),
        &["remote", "add", "origin", &remote.display().to_string()],
    );
    git(
        stage.path(),
        &["push", "--quiet", "--tags", "origin", "main"],
    );
    Some(stage)
}

/// Runs a script three times: when a wave is due, while its request is open, and on the day on which it is merged.
fn open_requests(stage: &Stage, script: &str) -> String {
    let mut printed = String::new();
    for _ in 0..2 {
        printed += &stage.shell(script).exit(0).outcome.stdout;
        git(stage.path(), &["checkout", "--quiet", "main"]);
        git(stage.path(), &["reset", "--quiet", "--hard", "start"]);
    }
    let pushed = ["log", "--format=%s", "--name-only", "start..metalmark-wave"];
    printed += &git(&stage.path().join("remote.git"), &pushed);
    git(stage.path(), &["fetch", "--quiet", "origin"]);
    git(
        stage.path(),
        &["merge", "--quiet", "--ff-only", "origin/metalmark-wave"],
    );
    git(
        stage.path(),
        &["push", "--quiet", "origin", ":metalmark-wave"],
    );
    printed += "\n";
    printed += &stage.shell(script).exit(0).outcome.stdout;
    printed
}

#[test]
fn a_job_of_gitlab_opens_the_merge_request_of_the_wave_that_is_due() {
    let Some(stage) = fleet() else { return };
    let script = script("templates/hosts/gitlab/wave.gitlab-ci.yml");
    let script = format!("METALMARK_REMOTE=origin\n{script}");
    open_requests(&stage, &script).is(str![[r#"
to 1.31 since 2026-11-20 (0d02799cf3)
next: wave 1, to 1.31, 3 machines: a
after wave 1: wave 2, to 1.31, 3 machines: b
2 clusters: 2 to upgrade in 2 steps, 0 at 1.31 or newer, 0 blocked
wave 1: 1 cluster to 1.31, 1 file edited
updated  rendered/a.yaml
2 files rendered: 1 updated, 1 unchanged
a merge request is open
wave 1, to 1.31, 3 machines: a

clusters/a.yaml
rendered/a.yaml
to 1.31 since 2026-11-20 (0d02799cf3)
merged 2026-11-21 (5289197586): 1.30.4 → 1.31.4: a
soaks until 2026-11-22: wave 1, to 1.31, 3 machines: b
2 clusters: 1 to upgrade in 1 step, 1 at 1.31 or newer, 0 blocked

"#]]);
}

#[test]
fn a_workflow_of_github_opens_the_pull_request_of_the_wave_that_is_due() {
    let Some(stage) = fleet() else { return };
    let script = script("templates/hosts/github/wave.workflow.yml");
    let script = format!("GITHUB_WORKSPACE=.\ngh() {{ echo \"gh $*\" | head -1; }}\n{script}");
    open_requests(&stage, &script).is(str![[r#"
to 1.31 since 2026-11-20 (0d02799cf3)
next: wave 1, to 1.31, 3 machines: a
after wave 1: wave 2, to 1.31, 3 machines: b
2 clusters: 2 to upgrade in 2 steps, 0 at 1.31 or newer, 0 blocked
wave 1: 1 cluster to 1.31, 1 file edited
updated  rendered/a.yaml
2 files rendered: 1 updated, 1 unchanged
gh pr create --head metalmark-wave --title wave 1, to 1.31, 3 machines: a --body to 1.31 since 2026-11-20 (0d02799cf3)
a pull request is open
wave 1, to 1.31, 3 machines: a

clusters/a.yaml
rendered/a.yaml
to 1.31 since 2026-11-20 (0d02799cf3)
merged 2026-11-21 (5289197586): 1.30.4 → 1.31.4: a
soaks until 2026-11-22: wave 1, to 1.31, 3 machines: b
2 clusters: 1 to upgrade in 1 step, 1 at 1.31 or newer, 0 blocked

"#]]);
}
