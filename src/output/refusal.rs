//! The findings for rendered files that are not written, each at the file's path.

use oci_artifacts::portable_path;
use yaml_tree::place::Spot;

use crate::model::finding::{Finding, Subject};
use crate::model::rule::RuleId;

/// `shown` is the foreign file, as the user would write it.
pub(super) fn not_owned(shown: &str, subject: Subject) -> Finding {
    let message = format!(
        "`{shown}` would be overwritten, and its first line does not say that metalmark rendered it"
    );
    refusal(RuleId::FileNotOwned, message, shown, subject)
        .help("move the file away if it is yours, or run with `--adopt` to overwrite it")
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
        format!("`{path}` and `{other_path}` are one file where letter case counts nothing")
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
