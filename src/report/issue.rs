//! What a code host lists: each finding, and each file that is not what would be rendered, with a path below the repository.

use std::borrow::Cow;

use super::fingerprint::Fingerprints;
use super::lines::{Lines, Range};
use super::{Changes, Findings, Group, findings};
use crate::model::finding::Label;
use crate::model::manifest::{ChangeKind, ChangeSet};
use crate::model::rule::Level;
use crate::rules::RULES;

/// One entry of a list.
pub(super) struct Issue<'a> {
    /// The rule's id, or [`DRIFT`]'s.
    pub(super) code: &'static str,
    pub(super) level: Level,
    /// In one clause.
    pub(super) message: Cow<'a, str>,
    /// What to do, each an imperative.
    pub(super) help: Vec<&'a str>,
    /// Where the fault is; the project file where the finding has no place in the repository.
    pub(super) site: Site,
    /// The other places that matter, with their parts in the story.
    pub(super) related: Vec<(Site, &'a str)>,
    /// The clusters that have it.
    pub(super) clusters: &'a [&'a str],
    /// The node pool that it is about.
    pub(super) pool: Option<&'a str>,
    /// What it is known by from run to run; no other issue of the report has it.
    pub(super) fingerprint: String,
}

/// A range in a file of the repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Site {
    /// Below the repository's folder, without `./`.
    pub(super) path: String,
    /// From 1; none where only the file is known.
    pub(super) range: Option<Range>,
}

impl Site {
    /// The first line.
    pub(super) fn line(&self) -> usize {
        self.range.map_or(1, |range| range.line)
    }
}

/// What a list says of one kind of issue.
pub(super) struct IssueKind {
    pub(super) code: &'static str,
    pub(super) level: Level,
    pub(super) summary: &'static str,
    pub(super) explanation: Cow<'static, str>,
}

/// A file that is not what would be rendered. No rule: what `--check` is for.
pub(super) const DRIFT: IssueKind = IssueKind {
    code: "drift",
    level: Level::Error,
    summary: "a file is not what would be rendered",
    explanation: Cow::Borrowed(
        "`metalmark render --check` compares the rendered files with those of the repository. Where they differ, somebody changed \
                  the values and did not render, or edited a rendered file manually. Run `metalmark render` and commit what it writes.",
    ),
};

/// Every kind of issue: the rules in their order, then drift.
pub(super) fn kinds() -> impl Iterator<Item = IssueKind> {
    let rules = RULES.iter().map(|rule| IssueKind {
        code: rule.id.as_str(),
        level: rule.id.level(),
        summary: rule.summary(),
        explanation: rule.explanation(),
    });
    rules.chain([DRIFT])
}

/// Everything that is listed: the findings in their order, then the drift.
pub(super) fn issues<'a>(findings: &'a Findings<'a>) -> Vec<Issue<'a>> {
    let folder = findings.run.folder.as_str();
    let mut fingerprints = Fingerprints::default();
    let mut lines = Lines::default();
    let groups = findings.groups.iter();
    let mut issues: Vec<Issue<'a>> = groups
        .map(|group| group_issue(group, folder, &mut lines, &mut fingerprints))
        .collect();
    if let Changes::Drift(folders) = findings.run.changes {
        for changes in folders {
            issues.extend(drift(changes, folder, &mut fingerprints));
        }
    }
    issues
}

fn group_issue<'a>(
    group: &'a Group<'a>,
    folder: &str,
    lines: &mut Lines,
    fingerprints: &mut Fingerprints,
) -> Issue<'a> {
    let finding = &group.judged.finding;
    let mut sites = finding
        .labels
        .iter()
        .map(|label| site(label, folder, lines));
    let site = sites.next().flatten().unwrap_or_else(|| nowhere(folder));
    let labels = finding
        .labels
        .iter()
        .skip(1)
        .map(|label| label.text.as_str());
    let related = sites
        .zip(labels)
        .filter_map(|(site, text)| Some((site?, text)));
    Issue {
        code: finding.rule.as_str(),
        level: group.judged.level,
        message: Cow::Borrowed(&finding.message),
        help: finding.help.iter().map(String::as_str).collect(),
        related: related.collect(),
        clusters: &group.clusters,
        pool: finding.subject.pool.as_deref(),
        fingerprint: fingerprints.compute(finding, &site.path),
        site,
    }
}

/// The place of what has none: the project file.
fn nowhere(folder: &str) -> Site {
    let path = path_in_repository(folder, "metalmark.yaml").unwrap_or_default();
    Site { path, range: None }
}

fn site(label: &Label, folder: &str, lines: &mut Lines) -> Option<Site> {
    let spot = &label.spot;
    let path = path_in_repository(folder, &spot.source.path)?;
    if spot.source.text.is_empty() {
        return Some(Site { path, range: None });
    }
    let range = Some(lines.get(&spot.source).range_of(spot));
    Some(Site { path, range })
}

/// A path below the repository's folder, out of one below the project's; none where it leads out of the repository.
pub(super) fn path_in_repository(folder: &str, path: &str) -> Option<String> {
    if path.starts_with('/') {
        return None;
    }
    let mut names: Vec<&str> = Vec::new();
    for name in folder.split('/').chain(path.split('/')) {
        match name {
            "" | "." => {}
            ".." => {
                names.pop()?;
            }
            name => names.push(name),
        }
    }
    (!names.is_empty()).then(|| names.join("/"))
}

fn drift<'a>(changes: &ChangeSet, folder: &str, fingerprints: &mut Fingerprints) -> Vec<Issue<'a>> {
    let stale = changes.changes.iter().map(|change| {
        let shown = changes.display_path(&change.path);
        let said = describe_change(change.kind);
        let path = path_in_repository(folder, &shown);
        let site = path.map_or_else(|| nowhere(folder), |path| Site { path, range: None });
        Issue {
            code: DRIFT.code,
            level: DRIFT.level,
            message: Cow::Owned(format!("`{shown}` {said}")),
            help: vec!["run `metalmark render` and commit what it writes"],
            related: Vec::new(),
            clusters: &[],
            pool: None,
            fingerprint: fingerprints.unique(&[DRIFT.code, &shown], ""),
            site,
        }
    });
    stale.collect()
}

fn describe_change(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Created => "is rendered and not there",
        ChangeKind::Updated => "is not what would be rendered",
        ChangeKind::Deleted => "is no longer rendered",
    }
}

impl Issue<'_> {
    /// Whom it is about, where the message does not name them: ` (cluster edge-1, pool md0)`.
    pub(super) fn subject(&self) -> String {
        findings::subject(&self.message, self.clusters, self.pool)
    }

    /// The message, whom it is about, and a line for each thing to do.
    pub(super) fn text(&self) -> String {
        findings::with_help(
            self.message.clone().into_owned() + &self.subject(),
            &self.help,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::path_in_repository;

    #[test]
    fn a_path_is_reported_below_the_repository() {
        let below = |folder, path| path_in_repository(folder, path);
        assert_eq!(below("", "a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(
            below("deploy/x", "./a.yaml").as_deref(),
            Some("deploy/x/a.yaml")
        );
        assert_eq!(
            below("deploy", "../shared/a.yaml").as_deref(),
            Some("shared/a.yaml")
        );
        assert_eq!(below("", "../a.yaml"), None);
        assert_eq!(below("deploy", "/etc/a.yaml"), None);
    }
}
