//! README and docs/ are true: their commands run, their tables list what the code has, their links lead somewhere.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::programs;
use super::support::stage::{Stage, project};
use super::support::{Metalmark, golden, repository};

fn page(path: &str) -> String {
    fs::read_to_string(repository().join(path)).expect("a page")
}

fn readme() -> String {
    page("README.md")
}

/// The first column of the table that follows a marker in a page, without its backquotes.
fn column(path: &str, marker: &str) -> Vec<String> {
    let text = page(path);
    let behind = text
        .split(&format!("<!-- {marker} -->"))
        .nth(1)
        .unwrap_or_else(|| panic!("{path} has no marker `{marker}`"));
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

/// README and all pages below docs/, as paths below the repository.
fn pages() -> Vec<PathBuf> {
    let docs = walkdir::WalkDir::new(repository().join("docs")).into_iter();
    let docs = docs.map(|entry| entry.expect("readable").into_path());
    let pages = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let pages = pages.chain([repository().join("README.md")]);
    let below = |path: PathBuf| path.strip_prefix(repository()).expect("below").to_owned();
    pages.map(below).collect()
}

/// The anchors of a page's headings, as GitHub and mdBook make them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let headings = text.lines().filter(|line| {
        is_code ^= line.starts_with("```");
        !is_code && line.starts_with('#')
    });
    let anchor = |line: &str| {
        let title = line.trim_start_matches('#').trim().to_lowercase();
        let kept = title
            .chars()
            .filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
        kept.map(|letter| if letter == ' ' { '-' } else { letter })
            .collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn every_link_leads_to_a_file_and_a_heading() {
    let mut dead = Vec::new();
    for path in pages() {
        let text = page(&path.to_string_lossy());
        let links = text.split("](").skip(1);
        let links = links.filter_map(|behind| behind.split(')').next());
        for link in links.filter(|link| !link.contains("://") && !link.contains(' ')) {
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => repository().join(&path),
                file => repository().join(path.parent().expect("a folder").join(file)),
            };
            let has = |target: &Path| {
                let text = fs::read_to_string(target).unwrap_or_default();
                anchors(&text).contains(heading)
            };
            if !target.exists() || !(heading.is_empty() || has(&target)) {
                dead.push(format!("{}: {link}", path.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn every_page_that_the_code_names_exists_with_its_heading() {
    let folders = ["src", "crates"].into_iter();
    let sources = folders.flat_map(|folder| walkdir::WalkDir::new(repository().join(folder)));
    let sources = sources.map(|entry| entry.expect("readable").into_path());
    let mut dead = Vec::new();
    for source in sources.filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let text = fs::read_to_string(&source).expect("text");
        for (at, folder) in text.match_indices("docs/") {
            let behind = &text[at + folder.len()..];
            let is_part = |letter: char| letter.is_alphanumeric() || "/.#-_".contains(letter);
            let link = behind.split(|letter| !is_part(letter)).next();
            let link = link.unwrap_or_default().trim_end_matches('.');
            let (page, heading) = link.split_once('#').unwrap_or((link, ""));
            // Pages in deeper folders are other projects'.
            let is_ours = !page.trim_start_matches("hosts/").contains('/');
            if !page.ends_with(".md") || text[..at].ends_with('/') || !is_ours {
                continue;
            }
            let text = fs::read_to_string(repository().join("docs").join(page));
            let has = |text: &String| heading.is_empty() || anchors(text).contains(heading);
            if !text.as_ref().is_ok_and(has) {
                dead.push(format!("{}: {link}", source.display()));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
}

#[test]
fn the_index_of_the_docs_lists_every_page() {
    let index = page("docs/README.md");
    for path in pages() {
        if let Ok(path) = path.strip_prefix("docs")
            && path != Path::new("README.md")
        {
            let link = format!("]({})", path.display());
            assert!(index.contains(&link), "{}", path.display());
        }
    }
}

#[test]
fn the_table_of_targets_lists_every_target() {
    let targets: Vec<&str> = metalmark::render::targets::TARGETS
        .iter()
        .map(|target| target.name())
        .collect();
    assert_eq!(column("docs/outputs.md", "targets"), targets);
}

#[test]
fn the_table_of_providers_lists_every_provider() {
    let providers: Vec<&str> = capi::providers::PROVIDERS
        .iter()
        .map(|provider| provider.data().name)
        .collect();
    assert_eq!(column("docs/providers.md", "providers"), providers);
}

#[test]
fn the_table_of_reports_lists_every_format() {
    let reports: Vec<&str> = metalmark::report::REPORTS
        .iter()
        .map(|report| report.name())
        .collect();
    assert_eq!(column("docs/commands.md", "reports"), reports);
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
    assert_eq!(column("README.md", "hosts"), links.collect::<Vec<_>>());
}

#[test]
fn the_table_of_dependencies_lists_every_dependency_and_its_user() {
    let manifest = fs::read_to_string(repository().join("Cargo.toml")).expect("Cargo.toml");
    let is_ours = |section: &&str| {
        let kinds = ["workspace.dependencies]", "dependencies]", "target."];
        kinds.iter().any(|kind| section.starts_with(kind))
    };
    let sections = manifest.split("\n[").filter(is_ours);
    let lines = sections.flat_map(|section| section.lines().skip(1));
    let others = lines.filter(|line| !line.contains("path = ") && !line.contains(".workspace"));
    let names = others.filter_map(|line| line.split_once(" = "));
    let mut names: Vec<&str> = names.map(|(name, _)| name.trim()).collect();
    names.retain(|name| *name != "proptest");
    names.sort_unstable();
    assert_eq!(column("docs/dependencies.md", "dependencies"), names);
}

/// What a command prints of itself.
fn help(command: &str) -> String {
    project().run(&format!("{command} --help")).outcome.stdout
}

#[test]
fn the_readme_the_help_the_manual_and_the_package_say_the_same_of_metalmark() {
    let sentence = env!("CARGO_PKG_DESCRIPTION").replacen("Pins", "metalmark pins", 1) + ".";
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let readme = readme();
    let first = readme.split("\n\n").nth(1).expect("a paragraph");
    assert_eq!(words(first), sentence);
    let library = page("src/lib.rs").replace("//!", "");
    let first = library.split("\n\n").next().expect("a paragraph");
    assert_eq!(words(first), sentence);
    let said = env!("CARGO_PKG_DESCRIPTION");
    let help = help("");
    let first = help.split("\n\n").next().expect("a paragraph");
    assert_eq!(words(first), said);
    let manual = project().run("man").exit(0).outcome.stdout;
    assert!(manual.contains(&format!("metalmark \\- {said}")));
}

#[test]
fn the_table_of_commands_lists_every_command_and_only_options_that_it_has() {
    let all = help("");
    let listed = all.split("Commands:\n").nth(1).expect("commands");
    let listed = listed.split("\n\n").next().expect("a list");
    // A line that goes on is indented further.
    let names = listed.lines().filter(|line| !line.starts_with("   "));
    let mut names: Vec<&str> = names
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(names.pop(), Some("help"));
    let text = page("docs/commands.md");
    let table = text.split("<!-- commands -->").nth(1).expect("a marker");
    let rows: Vec<&str> = table
        .lines()
        .filter_map(|line| line.strip_prefix("| `metalmark "))
        .collect();
    let written: Vec<&str> = rows
        .iter()
        .filter_map(|row| row.split([' ', '`']).next())
        .collect();
    assert_eq!(written, names);
    for (name, row) in names.iter().zip(rows) {
        let known = help(name) + &subcommands(name);
        for part in row.split('`').filter(|part| part.starts_with("--")) {
            let option = part.split([' ', '=']).next().expect("a word");
            assert!(
                known.contains(option),
                "`metalmark {name}` has no `{option}`"
            );
        }
    }
}

/// The help of the commands below a command.
fn subcommands(command: &str) -> String {
    let all = help(command);
    let Some(listed) = all.split("Commands:\n").nth(1) else {
        return String::new();
    };
    let names = listed.lines().take_while(|line| !line.is_empty());
    let names = names.filter_map(|line| line.split_whitespace().next());
    let known = names.filter(|name| all.contains(&format!("\n  {name} ")));
    known
        .map(|name| help(&format!("{command} {name}")))
        .collect()
}

#[test]
fn the_table_of_exit_codes_is_what_the_code_answers() {
    use metalmark::pipeline::Verdict;
    assert_eq!(column("docs/commands.md", "exit codes"), ["0", "1", "2"]);
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
    let here = Metalmark::within(repository());
    let outcome = here.args(arguments.split_whitespace()).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(outcome.stdout.contains("kind: Metal3MachineTemplate"));
}

/// What a new user types in a repository of this kind: it runs, and prints these texts.
fn try_first_commands(marker: &str, project: Stage, expected: &[&str]) {
    let Some(project) = project.commit("a repository") else {
        return;
    };
    let mut said = String::new();
    for line in command(marker).lines() {
        let words = line.strip_prefix("metalmark ").expect("our own command");
        let words = words.split('#').next().unwrap_or_default().trim();
        let outcome = project.run(words).outcome;
        assert_ne!(outcome.status, 2, "{line}: {}", outcome.stderr);
        said += &(outcome.stdout + &outcome.stderr);
    }
    for text in expected {
        assert!(said.contains(text), "{text}: {said}");
    }
}

#[test]
fn the_first_commands_on_sylva_work() {
    let expected = [
        "wrote metalmark.yaml",
        "rendered: ",
        "no machine is re-provisioned",
    ];
    let project = project().folder("fixtures/workspaces/sylva-flux");
    project.remove("metalmark.yaml");
    try_first_commands("sylva", project, &expected);
}

#[test]
fn the_first_commands_on_manifests_work() {
    let expected = [
        "error[k8s-version-mismatch]",
        "no machine is re-provisioned",
    ];
    let project = project().folder("fixtures/tutorials/manifests");
    try_first_commands("manifests", project, &expected);
}

/// But for what the snapshots hold.
#[test]
fn the_tests_of_the_pages_are_those_of_the_suite() {
    let text = page("docs/CONTRIBUTING.md") + &page("docs/development.md");
    let blocks: Vec<&str> = text.split("```rust\n").skip(1).collect();
    let suite = [include_str!("rules/choices.rs"), include_str!("example.rs")];
    assert_eq!(blocks.len(), suite.len());
    for (block, mut rest) in blocks.into_iter().zip(suite) {
        let (block, _) = block.split_once("```\n").expect("its end");
        for line in block.lines() {
            let line = line.split("str![").next().unwrap_or(line);
            let found = rest.split_once(line);
            (_, rest) = found.unwrap_or_else(|| panic!("`{line}` is not in the suite"));
        }
    }
}

#[test]
fn every_block_of_yaml_can_be_copied() {
    let mut count = 0;
    for path in pages() {
        let text = fs::read_to_string(repository().join(&path)).expect("a page");
        for (at, block) in text.match_indices("```yaml\n") {
            let indent = text[..at].rsplit('\n').next().unwrap_or_default();
            let (block, _) = text[at + block.len()..].split_once("```").expect("its end");
            let lines = block
                .lines()
                .map(|line| line.strip_prefix(indent).unwrap_or(line));
            let block = lines.collect::<Vec<_>>().join("\n");
            let read = yaml_tree::read(&block, FileId(0), Engine::Kubectl);
            let line = text[..at].lines().count();
            read.unwrap_or_else(|error| panic!("{}:{line}: {error:?}", path.display()));
            count += 1;
        }
    }
    assert!(count > 50, "{count} blocks");
}

#[test]
fn words_have_their_american_spelling() {
    let Some(typos) = programs::find("typos") else {
        return;
    };
    let run = Command::new(typos)
        .args(["--format", "brief"])
        .current_dir(repository())
        .output()
        .expect("it runs");
    let found = String::from_utf8_lossy(&run.stdout);
    assert!(run.status.success(), "{found}");
}

#[path = "../benches/fleet/chart.rs"]
mod chart;

#[test]
fn the_chart_of_the_benchmarks_is_of_their_table() {
    let drawn = chart::of_page(&page("docs/benchmarks.md"));
    golden(&repository().join("docs/benchmarks.svg"), &drawn);
}
