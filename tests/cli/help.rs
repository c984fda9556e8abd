//! The help of each command.

use super::super::support::stage::project;

/// Each example is a command line that is read; it is not run.
#[test]
fn the_help_of_each_command_has_examples_that_are_read() {
    let folder = project();
    let help = |name: &str| folder.run(&format!("{name} --help")).exit(0).outcome.stdout;
    let top = help("");
    let listed = top.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A description may go on below its name's line.
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let helps = names.filter(|name| *name != "help").map(help);
    let helps: Vec<String> = helps.chain([top.clone()]).collect();
    assert!(helps.len() > 15, "{top}");
    for text in helps {
        for option in ["-q, --quiet", "-v, --verbose", "-C <DIR>"] {
            assert!(text.contains(option), "{option}: {text}");
        }
        let (_, examples) = text
            .split_once("Examples:\n")
            .unwrap_or_else(|| panic!("{text}"));
        let lines = examples.lines();
        let lines = lines.filter_map(|line| line.strip_prefix("  metalmark "));
        let lines: Vec<&str> = lines.collect();
        assert!(!lines.is_empty(), "{text}");
        for line in lines {
            assert!(line.len() <= 80, "{line}");
            // What it does follows two spaces; where its output goes, a sign of the shell.
            let command = line.split("  ").next().unwrap_or(line);
            help(command.split(['>', '<', '|']).next().unwrap_or(command));
        }
    }
}

#[test]
fn manual_pages_go_below_the_folder_that_the_run_starts_in() {
    let stage = project().file("below/file", "");
    stage.run("-C below man --dir pages").exit(0);
    assert!(
        stage
            .list("below/pages")
            .contains(&"metalmark-check.1".to_owned())
    );
}

/// kubectl runs a program of this name for `kubectl metalmark`.
#[test]
fn the_help_of_the_plugin_says_what_is_typed_with_kubectl() {
    let stage = project().catalog(&[]);
    stage
        .shell("ln -s \"$(command -v metalmark)\" kubectl-metalmark")
        .exit(0);
    let said = |words: &str| {
        let text = stage.shell(&format!("./kubectl-metalmark {words}")).outcome;
        text.stdout + &text.stderr
    };
    let help = said("check --help");
    assert!(
        help.contains("Usage: kubectl metalmark check [OPTIONS]"),
        "{help}"
    );
    assert!(
        help.contains("\n  kubectl metalmark check --fix "),
        "{help}"
    );
    assert!(!help.contains("\n  metalmark"), "{help}");
    let refused = said("inspect");
    assert!(
        refused.contains("Usage: kubectl metalmark [OPTIONS] [COMMAND]"),
        "{refused}"
    );
    assert_eq!(said("--version"), stage.run("--version").outcome.stdout);
}
