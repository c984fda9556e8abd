//! The help of each command.

use super::support::Metalmark;

/// Each example is a command line that is read; it is not run.
#[test]
fn the_help_of_each_command_has_examples_that_are_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let run = |words: &[&str]| {
        let words = words.iter().copied();
        Metalmark::within(folder.path()).args(words).run()
    };
    let top = run(&["--help"]).stdout;
    let listed = top.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    // A description may go on below its name's line.
    let names = listed.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    let helps = names
        .filter(|name| *name != "help")
        .map(|name| run(&[name, "--help"]).stdout);
    let helps: Vec<String> = helps.chain([top.clone()]).collect();
    assert!(helps.len() > 15, "{top}");
    for help in helps {
        let (_, examples) = help
            .split_once("Examples:\n")
            .unwrap_or_else(|| panic!("{help}"));
        let lines = examples
            .lines()
            .filter_map(|line| line.strip_prefix("  metalmark "));
        let mut count = 0;
        for line in lines {
            assert!(line.len() <= 80, "{line}");
            // What it does follows two spaces; where its output goes, a sign of the shell.
            let command = line.split("  ").next().unwrap_or(line);
            let command = command.split(['>', '<', '|']).next().unwrap_or(command);
            let words: Vec<&str> = command.split_whitespace().chain(["--help"]).collect();
            let outcome = run(&words);
            assert_eq!(outcome.status, 0, "{line}: {}", outcome.stderr);
            count += 1;
        }
        assert!(count > 0, "{help}");
    }
}
