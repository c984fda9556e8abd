//! What shells complete: the scripts, and the names of the project.

use snapbox::str;

use super::super::programs;
use super::super::support::stage::{Is, Stage, project, table};

fn demo() -> Stage {
    project().folder("fixtures/workspaces/sylva-baremetal")
}

/// What completes the last of some words, as bash queries it.
fn complete(stage: &Stage, words: &str) -> Vec<String> {
    let words: Vec<&str> = ["metalmark"].into_iter().chain(words.split(' ')).collect();
    let last = (words.len() - 1).to_string();
    let outcome = stage
        .program()
        .envs(&[
            ("METALMARK_COMPLETE", "bash"),
            ("_CLAP_COMPLETE_INDEX", &last),
            ("_CLAP_COMPLETE_COMP_TYPE", "9"),
            ("_CLAP_COMPLETE_SPACE", "true"),
            ("_CLAP_IFS", "\n"),
        ])
        .args(["--"])
        .args(words)
        .run();
    assert_eq!((outcome.status, outcome.stderr.as_str()), (0, ""));
    outcome.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn names_of_the_project_are_completed() {
    let demo = demo();
    let cases = [
        "explain edge",
        "values edge",
        "explain edge-paris/",
        "explain opensuse-15-6-p",
        "explain k8s-f",
        "rend",
        "values edge-paris e",
    ];
    table(cases, |words| complete(&demo, words)).is(str![[r#"
explain edge
    edge-lyon
    edge-paris
values edge
    edge-lyon
    edge-paris
explain edge-paris/
    edge-paris/control-plane
    edge-paris/md0
    edge-paris/storage
explain opensuse-15-6-p
    opensuse-15-6-plain-kubeadm-1-31-8
explain k8s-f
    k8s-flavor-mismatch
rend
    render
values edge-paris e

"#]]);
}

#[test]
fn the_project_is_the_one_that_the_words_name() {
    let (demo, elsewhere) = (demo(), project());
    let place = demo.path().to_str().expect("UTF-8");
    for words in [
        format!("-C {place} values edge-p"),
        format!("-C{place} values edge-p"),
        format!("values -C {place} edge-p"),
        format!("--project {place}/metalmark.yaml explain edge-p"),
        format!("--project={place}/metalmark.yaml explain edge-p"),
    ] {
        assert_eq!(complete(&elsewhere, &words), ["edge-paris"], "{words:?}");
    }
    // Where there is no project there are no clusters, and nothing is printed of that.
    assert_eq!(complete(&elsewhere, "values edge-p"), [""; 0]);
    let rules = complete(&elsewhere, "explain k8s-f");
    assert_eq!(rules, ["k8s-flavor-mismatch"]);
}

/// A shell puts the only candidate on its line, and runs it with the rest.
#[test]
fn a_name_that_a_shell_would_obey_is_not_completed() {
    let project = project().file("values.yaml", "a: 1\n");
    let complete_as = |name: &str| {
        let entry = serde_json::json!({ "name": name, "values": ["values.yaml"] });
        project.write("metalmark.yaml", format!("clusters: [{entry}]\n"));
        complete(&project, "values edge")
    };
    for name in ["edge-1", "edge.b_c", "edge-v1.31.8+rke2r1"] {
        assert_eq!(complete_as(name), [name]);
    }
    for end in ["$(reboot)", " b", ";b", "`x`", "'", "é", "~", "*", "x=1"] {
        assert_eq!(complete_as(&format!("edge{end}")), [""; 0], "{end}");
    }
}

#[test]
fn bash_completes_with_the_script() {
    let Some(bash) = programs::find("bash") else {
        return;
    };
    let script = "source <(metalmark completions bash)\n\
                  COMP_WORDS=(metalmark explain edge-p) COMP_CWORD=2 COMP_TYPE=9\n\
                  \"$(complete -p metalmark | sed 's/.*-F \\([^ ]*\\) .*/\\1/')\" metalmark edge-p explain\n\
                  echo \"${COMPREPLY[@]}\"";
    let demo = demo().file("script", script);
    let line = format!("'{}' --norc script", bash.display());
    demo.shell(&line).exit(0).screen(str![[r#"
edge-paris

"#]]);
}

#[test]
fn every_shell_has_a_script() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = project().run(&format!("completions {shell}")).exit(0);
        let script = script.outcome.stdout;
        assert!(script.contains("METALMARK_COMPLETE"), "{shell}");
    }
}
