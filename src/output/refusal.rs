//! The findings for rendered files that are not written, each at the file's path.

use oci_artifacts::portable_path;
use yaml_tree::place::Spot;

use crate::model::finding::{Finding, Subject};
use crate::model::rule::{Level, RuleId};

/// `shown` is the foreign file, as the user would write it, and `by` the other project file that its first line names.
pub(super) fn not_owned(shown: &str, by: Option<&str>, subject: Subject) -> Finding {
    let line = match by {
        Some(by) => format!("says that `{by}` rendered it"),
        None => "does not say that metalmark rendered it".to_owned(),
    };
    let message = format!("`{shown}` would be overwritten, and its first line {line}");
    refusal(RuleId::FileNotOwned, message, shown, subject)
        .help("move the file away if it is yours, or overwrite it: `metalmark render --adopt`, or `--adopt` of the `bundle` command")
}

/// A file that the project takes for input says that it is rendered, and nothing renders it.
pub(super) fn input(shown: &str) -> Finding {
    let message = format!(
        "`{shown}` says in its first line that it is rendered, and nothing renders it, while `clusters` matches it"
    );
    refusal(RuleId::FileNotOwned, message, shown, Subject::default()).help(
        "remove its first line if it holds a cluster's values, or let `clusters` match other files",
    )
}

/// Files that nothing renders any more and that stay, for it is not known whether somebody needs them. `what` says which they are.
pub(super) fn stale(files: &[String], what: &str) -> Option<Finding> {
    let finding = file_finding(RuleId::FileNotOwned, files, what)?;
    let finding = finding.help("find out what deploys it first; `metalmark render --adopt` takes over what is rendered at its path");
    Some(finding.unless_set(Level::Warning))
}

/// Files of an output that the project does not have any more.
pub(super) fn lingering_output(files: &[String]) -> Option<Finding> {
    let what = "says that metalmark rendered it, and no output has its folder any more";
    let finding = file_finding(RuleId::OutputRemoved, files, what)?;
    Some(finding.help("let what deploys it use a folder of `outputs`, or name its folder below `outputs` again; remove the first line of a file that is yours"))
}

/// What is said of the first of some files, with how many there are.
fn file_finding(rule: RuleId, files: &[String], what: &str) -> Option<Finding> {
    let first = files.first()?;
    let more = match files.len() {
        1 => String::new(),
        count => format!(" (and {} more)", count - 1),
    };
    let message = format!("`{first}` {what}{more}");
    Some(refusal(rule, message, first, Subject::default()))
}

/// A project file in an output's folder keeps what is beside it from being looked at.
pub(super) fn nesting(shown: &str) -> Finding {
    let message = format!(
        "`{shown}` is a project file in a folder that this project renders into, so old files there would stay"
    );
    let finding = refusal(RuleId::FileNotOwned, message, shown, Subject::default());
    let finding =
        finding.help("move it away, or give the outputs of each project a folder of its own");
    finding.unless_set(Level::Warning)
}

/// An earlier version rendered into a folder, and a run of some clusters would leave half of it.
pub(super) fn old_list(shown: &str) -> Finding {
    let message = format!(
        "`{shown}` is of an earlier version, whose files are of one piece: some clusters alone cannot be rendered over it"
    );
    refusal(RuleId::FileNotOwned, message, shown, Subject::default())
        .help("run `metalmark render` without names once")
}

/// A folder that files are copied into has others, of which `other` is the first.
pub(super) fn not_empty(shown: &str, other: &str, count: usize) -> Finding {
    let more = match count {
        1 => String::new(),
        count => format!(" and {} more", count - 1),
    };
    let message = format!("`{shown}` has files that are not copied: `{other}`{more}");
    refusal(RuleId::FileNotOwned, message, other, Subject::default())
        .help("name a new folder, or run with `--adopt` to copy beside them and overwrite")
}

/// A folder exists at `shown` and contains `foreign`, or something that is not a file blocks the path.
pub(super) fn obstacle(shown: &str, foreign: &str, subject: Subject) -> Finding {
    let message =
        format!("`{shown}` cannot be written: `{foreign}` is in the way and not metalmark's");
    refusal(RuleId::FileNotOwned, message, foreign, subject).help(format!("move `{foreign}` away"))
}

pub(super) fn illegal(path: &str, fault: &str, subject: Subject) -> Finding {
    let message = format!("the path `{path}` of a rendered file {fault}");
    Finding {
        subject,
        ..Finding::new(RuleId::OutputPathIllegal, message)
    }
    .help("rename the cluster, the pool or the output's `path` that it comes from")
}

pub(super) fn link(shown: &str, link: &str, subject: Subject) -> Finding {
    let message = format!("`{shown}` is not written: `{link}` is a symbolic link");
    refusal(RuleId::OutputSymlink, message, link, subject).help(format!(
        "replace `{link}` by a real file or folder, or choose another output folder"
    ))
}

/// A rendered file that collides with another one.
pub(super) struct Side<'a> {
    /// As the user would write it.
    pub(super) path: String,
    pub(super) maker: &'a str,
}

/// Two rendered files, and the number of files that collide with the first one.
pub(super) fn collision(
    one: &Side<'_>,
    other: &Side<'_>,
    count: usize,
    subject: Subject,
) -> Finding {
    let (path, other_path) = (&one.path, &other.path);
    let mut message = if path == other_path {
        let (maker, other) = (one.maker, other.maker);
        format!("`{path}` is rendered more than once, by `{maker}` and by `{other}`")
    } else if path.to_lowercase() == other_path.to_lowercase() {
        format!("`{path}` and `{other_path}` are one file where letter case does not count")
    } else if portable_path::fold(path) == portable_path::fold(other_path) {
        format!("`{path}` and `{other_path}` are one file where letters are composed")
    } else {
        format!("`{path}` is rendered as a file and, for `{other_path}`, as a folder")
    };
    if count > 1 {
        message.push_str(&format!(", and {} more collide with it", count - 1));
    }
    refusal(RuleId::OutputPathCollision, message, path, subject)
        .help("give the outputs different `path`s, or rename one of the clusters")
}

/// A finding at a path. It shows no source text, since the file is not the user's input.
fn refusal(rule: RuleId, message: String, shown: &str, subject: Subject) -> Finding {
    let spot = Spot::from_path(shown);
    Finding {
        subject,
        ..Finding::new(rule, message)
    }
    .with_label(Some(spot), "")
}
