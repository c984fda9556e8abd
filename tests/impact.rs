//! `impact` against real repositories: folders that moved, links, submodules, worktrees, bare repositories, hooks.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::git::{commit, copy, git, repository};
use super::support::repository as ours;

/// What a run came to.
struct Run {
    status: i32,
    out: String,
    err: String,
}

fn run_with(folder: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> Run {
    let output = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("SOURCE_DATE_EPOCH", "1795219200")
        .envs(environment.iter().copied())
        .current_dir(folder)
        .arg("impact")
        .args(arguments)
        .output()
        .expect("the binary runs");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    Run {
        status: output.status.code().expect("not killed"),
        out: text(output.stdout),
        err: text(output.stderr),
    }
}

fn run(folder: &Path, arguments: &[&str]) -> Run {
    run_with(folder, arguments, &[])
}

/// A fixture's later side in a folder of a repository; nothing is committed.
fn fixture(name: &str, folder: &Path) {
    fs::create_dir_all(folder).expect("created");
    copy(&ours().join("fixtures/impact").join(name), folder);
}

/// A repository with the project in a folder, committed as it was, and standing there as it will be.
fn upgraded(below: &str) -> Option<TempDir> {
    let scratch = repository()?;
    let folder = scratch.path().join(below);
    fixture("upgrade", &folder);
    let good = ours().join("fixtures/impact/upgrade");
    copy(&good.join("before"), &folder);
    commit(scratch.path(), "before");
    copy(&good, &folder);
    Some(scratch)
}

const UPGRADE: &str = "v1.30.12+rke2r1 → v1.31.8+rke2r1";

#[test]
fn a_project_below_the_top_is_compared_whatever_its_folder_is_called() {
    let Some(scratch) = upgraded("a b/ü") else {
        return;
    };
    let folder = scratch.path().join("a b/ü");
    for (folder, arguments) in [
        (&*folder, &["--against", "HEAD"][..]),
        (scratch.path(), &["-C", "a b/ü", "--against", "main"][..]),
        (&*folder, &[][..]),
    ] {
        let run = run(folder, arguments);
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains(UPGRADE), "{}", run.out);
        assert!(run.out.contains("3 machines re-provisioned, by roll"));
    }
}

#[test]
fn a_hook_s_environment_leads_nowhere_else() {
    let Some(scratch) = upgraded("project") else {
        return;
    };
    let folder = scratch.path().join("project");
    let run = run_with(
        &folder,
        &["--against", "HEAD"],
        &[("GIT_DIR", ".git"), ("GIT_INDEX_FILE", ".git/index")],
    );
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(run.out.contains(UPGRADE), "{}", run.out);
}

#[test]
fn two_commits_are_compared_in_a_bare_repository_and_in_a_worktree() {
    let Some(scratch) = upgraded("") else { return };
    commit(scratch.path(), "after");
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (bare, tree) = (
        elsewhere.path().join("bare.git"),
        elsewhere.path().join("tree"),
    );
    let text = |path: &Path| path.to_str().expect("text").to_owned();
    git(
        scratch.path(),
        &["clone", "--quiet", "--bare", ".", &text(&bare)],
    );
    git(
        scratch.path(),
        &["worktree", "add", "--quiet", "--detach", &text(&tree)],
    );
    for folder in [&*bare, &*tree, scratch.path()] {
        let run = run(folder, &["HEAD", "--against", "HEAD~1"]);
        assert_eq!(run.status, 0, "{}", run.err);
        assert!(run.out.contains(UPGRADE), "{}", run.out);
    }
    let same = run(scratch.path(), &["--against", "HEAD"]);
    assert!(
        same.out
            .contains("no machine is re-provisioned, 1 cluster as before"),
        "{}",
        same.out
    );
}

#[test]
fn a_project_whose_folder_was_renamed_is_the_same_project() {
    let Some(scratch) = upgraded("old") else {
        return;
    };
    fs::rename(scratch.path().join("old"), scratch.path().join("new")).expect("renamed");
    let run = run(&scratch.path().join("new"), &["--against", "HEAD"]);
    assert_eq!(run.status, 0, "{}", run.err);
    assert!(
        run.out.contains("note: the project was in `old` at "),
        "{}",
        run.out
    );
    assert!(run.out.contains(UPGRADE), "{}", run.out);
}

#[test]
fn clusters_come_go_and_are_renamed() {
    let Some(scratch) = repository() else { return };
    let project = "version: 1\nclusters: [{each: 'clusters/*/values.yaml', namespace: metal}]\nimages: {facts: [os-images-info.yaml]}\npolicy: {rules: {image-unused: off}}\n";
    fixture("upgrade", scratch.path());
    let values = fs::read_to_string(scratch.path().join("values.yaml")).expect("read");
    let write = |name: &str, object: &str| {
        let folder = scratch.path().join("clusters").join(name);
        fs::create_dir_all(&folder).expect("created");
        let text = values.replace("name: edge-1", &format!("name: {object}"));
        fs::write(folder.join("values.yaml"), text).expect("written");
    };
    fs::write(scratch.path().join("metalmark.yaml"), project).expect("written");
    for name in ["same", "goes", "moves", "turns"] {
        write(name, name);
    }
    commit(scratch.path(), "before");
    fs::remove_dir_all(scratch.path().join("clusters/goes")).expect("removed");
    fs::remove_dir_all(scratch.path().join("clusters/moves")).expect("removed");
    write("comes", "comes");
    write("moved", "moves");
    write("turns", "other");
    let run = run(scratch.path(), &["--against", "HEAD", "--output", "json"]);
    assert_eq!(run.status, 0, "{}", run.err);
    let impact: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
    let reported: Vec<String> = impact["clusters"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|change| format!("{} {}", change["cluster"], change["change"]))
        .collect();
    let wanted = [
        r#""comes" "added""#,
        r#""moved" "renamed""#,
        r#""turns" "replaced""#,
        r#""goes" "removed""#,
    ];
    assert_eq!(reported, wanted);
    assert_eq!(impact["unchanged"], 1);
    assert_eq!(impact["clusters"][1]["from"], "moves");
    assert_eq!(impact["clusters"][1]["pools"], serde_json::json!([]));
    assert_eq!(impact["clusters"][3]["pools"][0]["machines"], 3);
}

#[test]
fn a_commit_without_a_project_file_is_read_with_todays() {
    let Some(scratch) = upgraded("") else { return };
    git(
        scratch.path(),
        &["rm", "--quiet", "--cached", "metalmark.yaml"],
    );
    git(
        scratch.path(),
        &["commit", "--quiet", "--amend", "-m", "values alone"],
    );
    let run = run(scratch.path(), &["--against", "HEAD"]);
    assert!(
        run.out.contains("note: there was no `metalmark.yaml` at "),
        "{}{}",
        run.out,
        run.err
    );
    assert!(run.out.contains(UPGRADE), "{}", run.out);
}

#[test]
fn a_template_that_keeps_its_name_replaces_no_machine() {
    let Some(scratch) = repository() else { return };
    let folder = scratch.path();
    fixture("new-file", folder);
    let mut project = fs::read_to_string(folder.join("metalmark.yaml")).expect("read");
    project.push_str("templates: own\noutputs: [{target: manifests, path: rendered}]\n");
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    fs::create_dir_all(folder.join("own/manifests")).expect("created");
    let template = "{% for template in templates %}---\napiVersion: {{ template.apiVersion }}\nkind: {{ template.kind }}\nmetadata:\n  name: fixed\n  namespace: {{ template.namespace }}\nspec:\n  {{ template.spec | yaml(2) }}\n{% endfor %}";
    fs::write(folder.join("own/manifests/cluster.yaml.j2"), template).expect("written");
    let good = ours().join("fixtures/impact/new-file");
    copy(&good.join("before"), folder);
    commit(folder, "before");
    fs::copy(good.join("values.yaml"), folder.join("values.yaml")).expect("copied");
    fs::copy(
        good.join("os-images-info.yaml"),
        folder.join("os-images-info.yaml"),
    )
    .expect("copied");
    let run = run(folder, &["--against", "HEAD"]);
    assert!(
        run.out
            .contains("in place: existing machines stay as they are"),
        "{}{}",
        run.out,
        run.err
    );
}

#[test]
fn a_waiver_of_an_image_accepts_other_bytes_at_its_url() {
    let bad = ours().join("fixtures/impact/same-file");
    for (image, status) in [("ubuntu-noble-plain-rke2-1-31-8", 0), ("another", 1)] {
        let Some(scratch) = repository() else { return };
        let folder = scratch.path();
        copy(&bad.join("before"), folder);
        let project = fs::read_to_string(bad.join("metalmark.yaml")).expect("read");
        let waiver = format!("{{rule: image-replaced-in-place, where: {image}, reason: tried}}");
        let project = project + &format!("  waivers: [{waiver}]\n");
        fs::write(folder.join("metalmark.yaml"), project).expect("written");
        commit(folder, "before");
        for name in ["values.yaml", "os-images-info.yaml"] {
            fs::copy(bad.join(name), folder.join(name)).expect("copied");
        }
        let run = run(folder, &["--against", "HEAD"]);
        assert_eq!(run.status, status, "{}{}", run.out, run.err);
    }
}

#[cfg(unix)]
#[test]
fn links_are_followed_inside_the_commit() {
    let Some(scratch) = upgraded("") else { return };
    let folder = scratch.path();
    let git_has = |link: &str| {
        fs::rename(folder.join("values.yaml"), folder.join("real.yaml")).expect("renamed");
        std::os::unix::fs::symlink(link, folder.join("values.yaml")).expect("linked");
    };
    git_has("./sub/../real.yaml");
    fs::create_dir_all(folder.join("sub")).expect("created");
    fs::write(folder.join("sub/x"), "").expect("written");
    commit(folder, "linked");
    let text = fs::read_to_string(folder.join("real.yaml")).expect("read");
    fs::write(
        folder.join("real.yaml"),
        text.replace("replicas: 3", "replicas: 5"),
    )
    .expect("written");
    let run = run(folder, &["--against", "HEAD"]);
    assert!(
        run.out.contains("replicas    3 → 5"),
        "{}{}",
        run.out,
        run.err
    );
    assert!(
        run.out.contains("no machine is re-provisioned"),
        "{}",
        run.out
    );
}

#[test]
fn a_submodule_is_read_at_the_commit_that_it_is_pinned_to() {
    let (Some(scratch), Some(library)) = (upgraded(""), repository()) else {
        return;
    };
    let folder = scratch.path();
    fs::rename(
        folder.join("values.yaml"),
        library.path().join("values.yaml"),
    )
    .expect("moved");
    commit(library.path(), "values");
    let url = library.path().to_str().expect("text");
    git(
        folder,
        &[
            "-c",
            "protocol.file.allow=always",
            "submodule",
            "--quiet",
            "add",
            url,
            "lib",
        ],
    );
    let project = fs::read_to_string(folder.join("metalmark.yaml")).expect("read");
    fs::write(
        folder.join("metalmark.yaml"),
        project.replace("[values.yaml]", "[lib/values.yaml]"),
    )
    .expect("written");
    commit(folder, "with a library");
    let values = folder.join("lib/values.yaml");
    let text = fs::read_to_string(&values).expect("read");
    fs::write(&values, text.replace("replicas: 3", "replicas: 4")).expect("written");
    let seen = run(folder, &["--against", "HEAD"]);
    assert!(
        seen.out.contains("replicas    3 → 4"),
        "{}{}",
        seen.out,
        seen.err
    );
    git(
        folder,
        &["submodule", "--quiet", "deinit", "--force", "lib"],
    );
    let unseen = run(folder, &["HEAD", "--against", "HEAD"]);
    assert_eq!(unseen.status, 2);
    assert!(
        unseen.err.contains("help: git submodule update --init lib"),
        "{}",
        unseen.err
    );
}

#[test]
fn what_git_cannot_answer_is_reported_in_words() {
    let Some(scratch) = upgraded("") else { return };
    let unknown = run(scratch.path(), &["--against", "no-such"]);
    assert_eq!(unknown.status, 2);
    assert!(
        unknown
            .err
            .starts_with("error: there is no commit `no-such` in this clone\nhelp: "),
        "{}",
        unknown.err
    );
    let option = run(scratch.path(), &["--against=--output=x"]);
    assert_eq!(option.status, 2, "{}", option.out);
    fs::write(
        scratch.path().join("values.yaml"),
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    )
    .expect("written");
    commit(scratch.path(), "pointer");
    copy(&ours().join("fixtures/impact/upgrade"), scratch.path());
    let pointer = run(scratch.path(), &["--against", "HEAD"]);
    assert!(
        pointer
            .out
            .contains("git holds only the Git LFS pointer to it"),
        "{}{}",
        pointer.out,
        pointer.err
    );
    fs::remove_dir_all(scratch.path().join(".git")).expect("removed");
    let outside = run(scratch.path(), &[]);
    assert_eq!(outside.status, 2);
    assert!(
        outside.err.contains("is not in a git repository"),
        "{}",
        outside.err
    );
    let gitless = run_with(scratch.path(), &[], &[("PATH", "/nonexistent")]);
    assert!(
        gitless.err.contains("there is no `git` command"),
        "{}",
        gitless.err
    );
}

#[test]
fn a_comment_for_a_merge_request_begins_with_the_sum() {
    let Some(scratch) = upgraded("") else { return };
    let run = run(
        scratch.path(),
        &["--against", "HEAD", "--output", "markdown"],
    );
    let begins = "### What this change does\n\n**3 machines in 1 cluster re-provisioned, 0 clusters as before**\n";
    assert!(run.out.starts_with(begins), "{}", run.out);
    assert!(
        run.out
            .contains("| edge-1 | `control-plane` | 3 machines re-provisioned, by roll | image "),
        "{}",
        run.out
    );
}

#[test]
fn images_are_newly_served_or_no_longer_served_to_any_cluster() {
    let Some(scratch) = repository() else { return };
    let folder = scratch.path();
    let images = ["a", "b", "c"].map(|key| {
        format!(
            "  {key}: {{uri: 'oci://registry.example.org/{key}:1', filename: {key}.raw, image-format: raw, k8s-flavor: kubeadm, \
             k8s-version: 1.31.8, sha256: {}}}\n",
            key.repeat(64)
        )
    });
    let cluster = |key: &str| {
        format!(
            "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
             capm3: {{image_key: {key}}}\n"
        )
    };
    let boots = |name: &str, key: &str| {
        fs::write(folder.join(format!("{name}.yaml")), cluster(key)).expect("written");
    };
    let project =
        "version: 1\nvalues: [catalog/images.yaml]\nclusters: [{each: '*-cluster.yaml'}]\n";
    fs::create_dir(folder.join("catalog")).expect("created");
    fs::write(
        folder.join("catalog/images.yaml"),
        format!("os_images:\n{}", images.concat()),
    )
    .expect("written");
    fs::write(folder.join("metalmark.yaml"), project).expect("written");
    boots("one-cluster", "a");
    boots("two-cluster", "a");
    boots("gone-cluster", "b");
    commit(folder, "before");
    let served = || {
        let run = run(folder, &["--against", "HEAD", "--output", "json"]);
        let impact: serde_json::Value = serde_json::from_str(&run.out).expect("JSON");
        ["added", "removed"].map(|side| {
            let images = impact["served"][side].as_array().expect("a list").iter();
            let keys = images.map(|image| image["key"].as_str().expect("a key").to_owned());
            keys.collect::<Vec<_>>().concat()
        })
    };
    assert_eq!(served(), ["", ""]);
    boots("one-cluster", "c");
    assert_eq!(served(), ["c", ""], "the other cluster boots `a` still");
    boots("two-cluster", "c");
    assert_eq!(served(), ["c", "a"]);
    fs::remove_file(folder.join("gone-cluster.yaml")).expect("removed");
    assert_eq!(served(), ["c", "ab"], "with a cluster that is gone");
}
