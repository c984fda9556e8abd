//! README is true: its commands run, its tables list what the code has.

use std::fs;
use std::process::Command;

use super::support::repository;

fn readme() -> String {
    fs::read_to_string(repository().join("README.md")).expect("README.md")
}

/// The first column of the table that follows a marker, without its backquotes.
fn column(marker: &str) -> Vec<String> {
    let text = readme();
    let behind = text
        .split(&format!("<!-- {marker} -->"))
        .nth(1)
        .unwrap_or_else(|| panic!("README has no marker `{marker}`"));
    let rows = behind
        .trim_start()
        .lines()
        .take_while(|line| line.starts_with('|'))
        .skip(2);
    rows.map(|row| {
        row.split('|')
            .nth(1)
            .expect("a cell")
            .trim()
            .trim_matches('`')
            .to_owned()
    })
    .collect()
}

#[test]
fn the_table_of_rules_lists_every_rule() {
    let rules: Vec<&str> = metalmark::rules::RULES
        .iter()
        .map(|rule| rule.id())
        .collect();
    assert_eq!(column("rules"), rules);
}

#[test]
fn the_table_of_targets_lists_every_target() {
    let targets: Vec<&str> = metalmark::targets::TARGETS
        .iter()
        .map(|target| target.name())
        .collect();
    assert_eq!(column("targets"), targets);
}

#[test]
fn the_table_of_providers_lists_every_provider() {
    let providers: Vec<&str> = metalmark::providers::PROVIDERS
        .iter()
        .map(|provider| provider.name())
        .collect();
    assert_eq!(column("providers"), providers);
}

#[test]
fn the_table_of_reports_lists_every_format() {
    let reports: Vec<&str> = metalmark::report::REPORTS
        .iter()
        .map(|report| report.name())
        .collect();
    assert_eq!(column("reports"), reports);
}

#[test]
fn the_table_of_hosts_lists_every_hosts_page() {
    let mut pages: Vec<String> = fs::read_dir(repository().join("docs/hosts"))
        .expect("docs/hosts")
        .map(|entry| {
            entry
                .expect("readable")
                .file_name()
                .to_string_lossy()
                .into_owned()
        })
        .collect();
    pages.sort();
    let links = pages.iter().map(|page| {
        let name = page.strip_suffix(".md").expect("a page");
        format!("[{name}](docs/hosts/{page})")
    });
    assert_eq!(column("hosts"), links.collect::<Vec<_>>());
}

#[test]
fn the_table_of_dependencies_lists_every_dependency_and_its_user() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("Cargo.toml");
    let section = manifest
        .split("\n[dependencies]\n")
        .nth(1)
        .expect("dependencies");
    let names = section
        .lines()
        .take_while(|line| !line.starts_with('['))
        .filter_map(|line| line.split_once(" = "));
    let names: Vec<&str> = names.map(|(name, _)| name.trim()).collect();
    assert_eq!(column("dependencies"), names);
}

#[test]
fn the_table_of_exit_codes_is_what_the_code_answers() {
    use metalmark::commands::Verdict;
    assert_eq!(column("exit codes"), ["0", "1", "2"]);
    assert_eq!(
        [Verdict::Clean, Verdict::Findings, Verdict::Drift].map(Verdict::status),
        [0, 1, 1]
    );
}

/// The command below a marker.
fn command(marker: &str) -> String {
    let text = readme();
    let behind = text
        .split(&format!("<!-- {marker} -->\n```sh\n"))
        .nth(1)
        .expect("a command");
    behind.split("\n```").next().expect("text").to_owned()
}

#[test]
fn the_main_job_of_the_readme_runs() {
    let line = command("main job");
    let arguments = line
        .strip_prefix("cargo run --quiet -- ")
        .expect("cargo run");
    let outcome = Command::new(env!("CARGO_BIN_EXE_metalmark"))
        .current_dir(repository())
        .args(arguments.split_whitespace())
        .output()
        .expect("the binary starts");
    assert!(
        outcome.status.success(),
        "{}",
        String::from_utf8_lossy(&outcome.stderr)
    );
    assert!(String::from_utf8_lossy(&outcome.stdout).contains("kind: Metal3MachineTemplate"));
}

#[test]
fn the_project_file_of_the_readme_is_read_without_a_finding() {
    let text = readme();
    let block = text
        .split("```yaml\nversion: 1\n")
        .nth(1)
        .expect("a project file")
        .split("\n```")
        .next()
        .expect("text");
    let scratch =
        super::support::copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"));
    fs::write(
        scratch.path().join("metalmark.yaml"),
        format!("version: 1\n{block}\n"),
    )
    .expect("written");
    let outcome = super::support::Metalmark::within(scratch.path())
        .args(["check"])
        .run();
    assert!(
        !outcome.stdout.contains("project-file"),
        "{}",
        outcome.stdout
    );
}
