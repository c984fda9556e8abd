//! The pages of docs/hosts are true: their commands run, their outputs render, their tables list what the templates take.

use std::fs;
use std::process::Command;

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::demo;
use crate::programs::find;
use crate::support::repository;

pub(crate) fn page(name: &str) -> String {
    fs::read_to_string(repository().join("docs/hosts").join(name)).expect("the page")
}

/// The block below a marker.
pub(crate) fn block(page: &str, marker: &str) -> String {
    let behind = page
        .split(&format!("<!-- {marker} -->\n```"))
        .nth(1)
        .expect("the marker");
    let text = behind.split_once('\n').expect("a block").1;
    text.split("\n```").next().expect("text").to_owned()
}

#[test]
fn the_commands_of_the_code_hosts_run_and_write_their_reports() {
    for name in ["gitlab.md", "github.md"] {
        let demo = demo();
        let line = block(&page(name), "run");
        let (_, words) = line.split_once(' ').expect("a command");
        // Nothing is rendered yet.
        demo.run(words).exit(1);
        for report in words.split(' ').filter_map(|word| word.split_once('=')) {
            assert_ne!(demo.read(report.1), "", "{report:?}");
        }
    }
}

#[test]
fn the_outputs_of_the_flux_page_render_and_build() {
    let demo = demo();
    let text = demo.read("metalmark.yaml");
    let (head, rest) = text.split_once("outputs:\n").expect("outputs");
    let (_, policy) = rest.split_once("\npolicy:").expect("a policy");
    let outputs = block(&page("flux.md"), "outputs");
    demo.write(
        "metalmark.yaml",
        format!("{head}{outputs}\npolicy:{policy}"),
    );
    demo.run("render").exit(0);
    let Some(kubectl) = find("kubectl") else {
        return;
    };
    for built in [
        "clusters/edge-lyon",
        "charts/edge-lyon",
        "charts/edge-lyon/objects",
    ] {
        let output = Command::new(&kubectl)
            .args(["kustomize", built])
            .current_dir(demo.path())
            .output()
            .expect("kubectl runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{built}: {errors}");
    }
}

#[test]
fn the_application_and_the_parameters_of_the_argo_cd_page_hold() {
    let text = page("argocd.md");
    let demo = demo().file("app.yaml", block(&text, "application"));
    let simulated = demo.run("cmp simulate --app app.yaml").exit(0);
    let objects = simulated.outcome.stdout;
    assert!(objects.contains("name: edge-paris-md0-"), "{objects}");
    let announced = demo.run("cmp parameters").outcome.stdout;
    let announced: Vec<serde_json::Value> = serde_json::from_str(&announced).expect("a JSON list");
    let announced = announced.iter().filter_map(|one| one["name"].as_str());
    let rows = rows(&text, "| parameter | what it sets |\n|---|---|\n");
    let names = rows.map(|row| row.split('`').nth(1).expect("a name"));
    assert_eq!(names.collect::<Vec<_>>(), announced.collect::<Vec<_>>());
}

/// The rows of the table with that head.
fn rows<'p>(page: &'p str, head: &str) -> impl Iterator<Item = &'p str> {
    let table = page.split(head).nth(1).expect("a table");
    table.lines().take_while(|line| line.starts_with('|'))
}

/// The words between backquotes in the first column of the table of inputs.
fn listed_inputs(page: &str) -> Vec<String> {
    let rows = rows(page, "| input | default | meaning |\n|---|---|---|\n");
    let cells = rows.map(|row| row.split('|').nth(1).expect("a cell"));
    let mut names: Vec<String> = cells
        .flat_map(|cell| cell.split('`').skip(1).step_by(2).map(str::to_owned))
        .collect();
    names.sort();
    names
}

fn keys(node: &Node) -> Vec<String> {
    let map = node.value.as_map().expect("a map");
    let mut keys: Vec<String> = map.iter().map(|entry| entry.key.to_string()).collect();
    keys.sort();
    keys
}

/// What the template takes, without what the page tells beside another input.
fn inputs(path: &str, at: &[&str]) -> Vec<String> {
    let text =
        fs::read_to_string(repository().join("templates/hosts").join(path)).expect("a template");
    let documents = yaml_tree::read(&text, FileId(0), Engine::Kubectl)
        .expect("it is YAML")
        .documents;
    let inputs = keys(documents[0].get_path(at).expect("inputs"));
    let aside = ["release_url", "release-url", "source", "revision"];
    inputs
        .into_iter()
        .filter(|name| !aside.contains(&name.as_str()))
        .collect()
}

#[test]
fn the_pages_list_the_inputs_of_their_templates() {
    assert_eq!(
        listed_inputs(&page("gitlab.md")),
        inputs("gitlab/metalmark.yml", &["spec", "inputs"])
    );
    assert_eq!(
        listed_inputs(&page("github.md")),
        inputs("github/action.yml", &["inputs"])
    );
}

#[test]
fn the_hooks_page_lists_every_hook() {
    let hooks = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("the hooks");
    let page = page("pre-commit.md");
    for hook in hooks.split("\n- id: ").skip(1) {
        let id = hook.lines().next().expect("an id");
        assert!(page.contains(&format!("`{id}`")), "{id}");
    }
}
