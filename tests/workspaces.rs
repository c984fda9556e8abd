//! Each fixture workspace, rendered by the real binary into every target: golden trees, and laws that hold for all of them.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::fs;
use std::path::PathBuf;

use metalmark::model::ownership::{Owner, body};
use similar::TextDiff;
use snapbox::{Data, str};

use super::support::stage::{Is, Stage, assert_text, project, table};
use super::support::{Outcome, repository};

const DEMO: &str = "fixtures/workspaces/sylva-baremetal";

/// What a workspace renders, with its own outputs or those of a file `NAME.outputs.yaml`.
pub(crate) struct Tree {
    stage: Stage,
    workspace: String,
    /// `project` for the workspace's own outputs.
    pub(crate) outputs: String,
}

impl Tree {
    /// The folder of what was rendered.
    pub(crate) fn folder(&self) -> PathBuf {
        let below = |name| self.stage.path().join(name);
        [below("out"), below("rendered")]
            .into_iter()
            .find(|folder| folder.is_dir())
            .expect("something was rendered")
    }

    /// The texts of its YAML files.
    pub(crate) fn texts(&self) -> Vec<String> {
        let files = self.files().into_iter();
        let files = files.filter(|(path, _)| path.ends_with(".yaml"));
        files.map(|(_, text)| text).collect()
    }

    /// The files below [`Self::folder`] with their texts.
    fn files(&self) -> Vec<(String, String)> {
        let folder = self.folder();
        let read = |path: String| {
            let text = fs::read_to_string(folder.join(&path)).expect("text");
            (path, text)
        };
        let below = folder.strip_prefix(self.stage.path()).expect("below");
        let paths = self.stage.list(&below.to_string_lossy());
        paths.into_iter().map(read).collect()
    }
}

impl Display for Tree {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.workspace, self.outputs)
    }
}

/// The workspaces' names.
fn workspaces() -> Vec<String> {
    let folder = fs::read_dir(repository().join("fixtures/workspaces")).expect("workspaces");
    let names = folder.map(|entry| entry.expect("readable").file_name());
    let mut names: Vec<String> = names
        .map(|name| name.to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

fn stage(workspace: &str) -> Stage {
    project().folder(&format!("fixtures/workspaces/{workspace}"))
}

/// The top keys of a project file with their lines.
fn top_keys(text: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in text.split_inclusive('\n') {
        match line.split_once(':') {
            Some((key, _)) if key.chars().all(char::is_alphabetic) => {
                found.push((key, line.to_owned()));
            }
            _ => {
                if let Some((_, lines)) = found.last_mut() {
                    *lines += line;
                }
            }
        }
    }
    found
}

/// Every tree that a workspace renders.
pub(crate) fn trees() -> Vec<Tree> {
    let mut trees = Vec::new();
    for workspace in workspaces() {
        let files = stage(&workspace).list("");
        let others = files
            .iter()
            .filter_map(|path| path.strip_suffix(".outputs.yaml"));
        let mut outputs: Vec<&str> = others.collect();
        if outputs.is_empty() || workspace == "providers" {
            outputs.insert(0, "project");
        }
        for outputs in outputs {
            let stage = stage(&workspace);
            if outputs != "project" {
                let own = stage.read("metalmark.yaml");
                let other = stage.read(&format!("{outputs}.outputs.yaml"));
                let mut keys = top_keys(&own);
                let others = top_keys(&other);
                keys.retain(|(key, _)| others.iter().all(|(other, _)| other != key));
                let lines = keys.into_iter().chain(others).map(|(_, lines)| lines);
                stage.write("metalmark.yaml", lines.collect::<String>());
            }
            let run = stage.run("render");
            let said = format!("{}{}", run.outcome.stderr, run.outcome.stdout);
            assert_eq!(run.outcome.status, 0, "{workspace} {outputs}:\n{said}");
            trees.push(Tree {
                stage,
                outputs: outputs.to_owned(),
                workspace: workspace.clone(),
            });
        }
    }
    trees
}

/// The cluster that a file is of, by its path: `1/edge.yaml`, `edge/release.yaml`.
fn cluster(path: &str) -> &str {
    let parts = path.split('/').filter(|part| part.parse::<u8>().is_err());
    let names = parts.map(|part| part.split('.').next().unwrap_or_default());
    names.into_iter().next().unwrap_or_default()
}

/// All files of a workspace's trees in one text. A document that resembles an earlier one, with its cluster's name put in, says
/// only in which lines it differs from that.
fn fold(trees: &[Tree]) -> String {
    let mut earlier: Vec<(String, String)> = Vec::new();
    let mut folded = String::new();
    for tree in trees {
        for (path, text) in tree.files() {
            let is_ours = Owner::from_start(text.as_bytes()).is_some();
            assert!(is_ours, "{path}: its first line says whose it is");
            let text = body(&text).strip_suffix('\n').expect("a last line");
            for document in text.split("\n---\n") {
                let document = format!("{document}\n");
                let head = format!("=== {} {} {path}", earlier.len() + 1, tree.outputs);
                folded += &match nearest(&earlier, &path, &document) {
                    Some((number, difference)) => format!("{head}, as {number} but\n{difference}"),
                    None => format!("{head}\n{document}"),
                };
                earlier.push((path.clone(), document));
            }
        }
    }
    folded
}

/// The number of the earlier document that a document of that path resembles most, and how it differs; none where they have little
/// in common.
fn nearest(earlier: &[(String, String)], path: &str, document: &str) -> Option<(usize, String)> {
    let lines = |text: &str| text.lines().count();
    let differences = (1..).zip(earlier).map(|(number, (from, earlier))| {
        let earlier = earlier.replace(cluster(from), cluster(path));
        let difference = TextDiff::from_lines(&*earlier, document);
        let difference = difference.unified_diff().context_radius(0).to_string();
        (number, difference)
    });
    let nearest = differences.min_by_key(|(_, difference)| lines(difference));
    nearest.filter(|(_, difference)| lines(difference) * 4 < lines(document) * 3)
}

#[test]
fn every_workspace_renders_its_golden_trees() {
    let mut targets: BTreeSet<String> = BTreeSet::new();
    let trees = trees();
    for trees in trees.chunk_by(|one, other| one.workspace == other.workspace) {
        let workspace = &trees[0].workspace;
        let expected = format!("fixtures/workspaces/{workspace}/expected/rendered.txt");
        let expected = Data::read_from(&repository().join(expected), None);
        assert_text(&fold(trees), expected);
        for tree in trees {
            let text = tree.stage.read("metalmark.yaml");
            let words = text.split([' ', ',', '\n']);
            let named = words.clone().zip(words.skip(1));
            let named = named.filter(|(word, _)| word.trim_start_matches('{') == "target:");
            targets.extend(named.map(|(_, target)| target.to_owned()));
        }
    }
    let all = metalmark::render::targets::TARGETS.iter();
    let all: BTreeSet<String> = all.map(|target| target.name().to_owned()).collect();
    assert_eq!(targets, all);
}

#[test]
fn rendering_twice_changes_nothing_and_check_agrees() {
    for workspace in workspaces() {
        let stage = stage(&workspace);
        let texts = || -> Vec<String> {
            let files = stage.list("rendered");
            let texts = files
                .iter()
                .map(|path| stage.read(&format!("rendered/{path}")));
            texts.chain(files.clone()).collect()
        };
        let _ = stage.run("render").exit(0);
        let before = texts();
        assert!(!before.is_empty(), "{workspace}");
        let _ = stage.run("render --check").exit(0);
        let _ = stage.run("render").exit(0);
        assert_eq!(before, texts());
    }
}

#[test]
fn drift_is_reported_with_its_difference_and_status_1() {
    let demo = project().folder(DEMO);
    let printed = demo.run("render --check").exit(1).outcome.stdout;
    let header = "+++ b/rendered/clusters/edge-lyon/edge-lyon.yaml";
    assert!(printed.contains(header), "{printed}");
    assert!(
        !demo.path().join("rendered").exists(),
        "--check writes nothing"
    );
}

#[test]
fn a_secret_is_never_printed() {
    // A fault on the very line of the password, and a selector made of it.
    let demo = project().folder(DEMO).file(
        "environment-values/mgmt/secrets.yaml",
        "cluster:\n  capm3:\n    os_image_selector:\n      os: [hunter2-password]\n      os: [hunter3-password]\n",
    );
    let commands = [
        "check",
        "check --output json",
        "render --stdout",
        "explain mgmt",
    ];
    let table = table(commands, |command| {
        let Outcome {
            status,
            stdout,
            stderr,
        } = demo.run(command).outcome;
        let printed = stdout + &stderr;
        assert!(!printed.contains("hunter"), "{command}:\n{printed}");
        let is_shown = printed.contains("environment-values/mgmt/secrets.yaml");
        vec![format!("{status}, its line is shown: {is_shown}")]
    });
    table.is(str![[r#"
check
    1, its line is shown: true
check --output json
    1, its line is shown: true
render --stdout
    1, its line is shown: true
explain mgmt
    0, its line is shown: false

"#]]);
}

#[test]
fn flags_do_the_same_job_as_the_project_file() {
    let demo = project().folder(DEMO);
    let _ = demo.run("render").exit(0);
    let flags = "render --values charts/sylva-units/values.yaml --clusters environment-values/workload-clusters/edge-*/values.yaml \
                 --info os-images-info.yaml --target manifests --out flat --image-url";
    let url = "https://os-images.example.org/{{ image.filename }}";
    let words: Vec<&str> = flags.split_whitespace().chain([url]).collect();
    let _ = demo.run_args(&words).exit(0);
    for cluster in ["edge-paris", "edge-lyon"] {
        let by_file = demo.read(&format!("rendered/clusters/{cluster}/{cluster}.yaml"));
        assert_eq!(by_file, demo.read(&format!("flat/{cluster}.yaml")));
    }
}
