//! Findings as a compiler prints them: the line, a caret under the fault, the other places that matter, what to do.

use std::io::{self, Write as _};

use annotate_snippets::{Element, Level as Severity, Renderer};

use super::drawing::{WIDEST, address, places};
use super::lines::Lines;
use super::{Changes, Color, Findings, Group, Report, Run, WriteChanges};
use crate::model::rule::Level;
use crate::printer::{Printer, plain};

/// For people.
pub(super) struct Human;

/// Lines of files are cut at this width, in columns, where the terminal is narrower.
const NARROWEST: usize = 40;

/// The maximum number of clusters, pools or places that are named; the others are counted.
const NAMED: usize = 5;

impl Report for Human {
    fn name(&self) -> &'static str {
        "human"
    }

    fn summary(&self) -> &'static str {
        "for people: the line, a caret under the fault, what to do"
    }

    fn findings(&self, findings: &Findings<'_>, out: &mut Printer) -> io::Result<()> {
        let renderer = match findings.color {
            Color::Never => Renderer::plain(),
            Color::Always => Renderer::styled(),
        };
        let renderer = match out.width {
            Some(width) => renderer.term_width(width.clamp(NARROWEST, WIDEST)),
            None => renderer.term_width(WIDEST),
        };
        let mut lines = Lines::default();
        for alike in findings.group_by_cause() {
            out.drawing(&format!(
                "{}\n\n",
                draw(&alike, &findings.run, &mut lines, &renderer)
            ))?;
        }
        writeln!(out, "{}", findings.summary.text())
    }

    fn changes(&self) -> Option<WriteChanges> {
        Some(print_changes)
    }
}

/// What is written is listed; drift is shown line by line first.
fn print_changes(changes: &Changes<'_>, out: &mut Printer) -> io::Result<()> {
    match changes {
        Changes::None => Ok(()),
        Changes::Written(folders) => super::changes(folders, out),
        Changes::Drift(folders) => {
            for folder in *folders {
                super::diff(folder, out)?;
            }
            super::changes(folders, out)
        }
    }
}

/// The first finding of a cause, and where the others are.
fn draw(alike: &[&Group<'_>], run: &Run<'_>, lines: &mut Lines, renderer: &Renderer) -> String {
    let (group, others) = (alike[0], &alike[1..]);
    let finding = &group.judged.finding;
    let severity = match group.judged.level {
        Level::Error => Severity::ERROR,
        Level::Warning | Level::Off => Severity::WARNING,
    };
    let title = severity
        .primary_title(plain(&finding.message))
        .id(finding.rule.as_str());
    let mut elements = places(&finding.labels, &run.folder, &run.root, lines);
    elements.extend(
        subject(group).into_iter().map(|(name, text)| {
            Element::from(Severity::NOTE.with_name(name).message(plain(&text)))
        }),
    );
    if !others.is_empty() {
        let places = others.iter().take(NAMED + 1);
        let places: Vec<String> = places.map(|other| elsewhere(other, run, lines)).collect();
        let text = list_names(&places, others.len());
        elements.push(
            Severity::NOTE
                .with_name("also at")
                .message(plain(&text))
                .into(),
        );
    }
    let help = finding.help.iter();
    elements.extend(help.map(|help| Element::from(Severity::HELP.message(plain(help)))));
    trim_lines(&renderer.render(&[title.elements(elements)]))
}

/// What was drawn, without spaces at the ends of lines.
fn trim_lines(drawn: &str) -> String {
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n")
}

/// Whom it is about, unless the message names them.
fn subject(group: &Group<'_>) -> Vec<(&'static str, String)> {
    let subject = &group.judged.finding.subject;
    let named = |name: &str| group.judged.finding.message.contains(&format!("`{name}`"));
    let mut notes = Vec::new();
    if let Some(cluster) = &subject.cluster {
        let pool = subject.pool.as_deref();
        if !named(cluster) || !pool.is_none_or(named) {
            let pool = pool.map_or(String::new(), |pool| format!(", pool {pool}"));
            notes.push(("cluster", format!("{cluster}{pool}")));
        }
        if !group.other_pools.is_empty() {
            let pools = &group.other_pools;
            notes.push(("also in pools", list_names(pools, pools.len())));
        }
        let others: Vec<&str> = group
            .clusters
            .iter()
            .copied()
            .filter(|other| other != cluster)
            .collect();
        if !others.is_empty() {
            notes.push(("also in clusters", list_names(&others, others.len())));
        }
    }
    notes
}

/// The place of a finding that says the same, and the first cluster that has it.
fn elsewhere(group: &Group<'_>, run: &Run<'_>, lines: &mut Lines) -> String {
    let first = group.judged.finding.labels.first();
    let place = first.map_or(String::new(), |label| address(label, &run.root, lines));
    match group.clusters.as_slice() {
        [] => place,
        [cluster] => format!("{place} ({cluster})"),
        [cluster, more @ ..] => format!("{place} ({cluster} and {} more)", more.len()),
    }
}

/// The first of some names, and how many more there are.
fn list_names(names: &[impl AsRef<str>], count: usize) -> String {
    let named = match count.checked_sub(NAMED) {
        Some(more) if more > 1 => NAMED,
        _ => names.len(),
    };
    let shown: Vec<&str> = names.iter().take(named).map(AsRef::as_ref).collect();
    match count - named {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Human;
    use crate::model::finding::{Finding, Judged};
    use crate::model::rule::{Level, RuleId};
    use crate::printer::Printer;
    use crate::report::{Color, Findings, Report};
    use yaml_tree::place::{Source, Spot};

    fn printed(judged: &[Judged], color: Color) -> String {
        let findings = Findings::new(judged, 12, color);
        Printer::print_to_string(color, |out| Human.findings(&findings, out))
            .expect("memory takes it")
    }

    fn spot(source: &Arc<Source>, part: &str) -> Option<Spot> {
        let start = source.text.find(part).expect("the part is there") as u32;
        Some(Spot {
            source: Arc::clone(source),
            start,
            end: start + part.len() as u32,
        })
    }

    fn mismatch() -> Finding {
        let values = "cluster:\n  k8s_version: v1.30.2\n  capm3:\n    image_key: jammy\n";
        let values = Arc::new(Source::new("envs/edge-1/values.yaml", values));
        let catalog = Arc::new(Source::new(
            "images.yaml",
            "os_images:\n  jammy: {k8s-version: v1.29.4}\n",
        ));
        Finding::new(
            RuleId::K8sVersionMismatch,
            "the cluster wants `v1.30.2`, image `jammy` has `v1.29.4`",
        )
        .with_label(spot(&values, "jammy"), "selected here")
        .with_label(spot(&values, "v1.30.2"), "required here")
        .with_label(spot(&catalog, "v1.29.4"), "the image's version")
        .help("set `image_key: noble`")
    }

    fn error(finding: Finding, cluster: &str) -> Judged {
        let mut finding = finding;
        finding.subject.cluster = Some(cluster.to_owned());
        Judged {
            finding,
            level: Level::Error,
        }
    }

    #[test]
    fn a_finding_looks_like_a_compilers() {
        let expected = "\
error[k8s-version-mismatch]: the cluster wants `v1.30.2`, image `jammy` has `v1.29.4`
 --> envs/edge-1/values.yaml:4:16
  |
2 |   k8s_version: v1.30.2
  |                ------- required here
3 |   capm3:
4 |     image_key: jammy
  |                ^^^^^ selected here
  |
 ::: images.yaml:2:24
  |
2 |   jammy: {k8s-version: v1.29.4}
  |                        ------- the image's version
  |
  = cluster: edge-1
  = help: set `image_key: noble`

1 error in 1 cluster
";
        assert_eq!(
            printed(&[error(mismatch(), "edge-1")], Color::Never),
            expected
        );
    }

    #[test]
    fn clusters_that_share_a_finding_are_listed() {
        let judged: Vec<Judged> = (1..=8)
            .map(|n| error(mismatch(), &format!("edge-{n}")))
            .collect();
        let text = printed(&judged, Color::Never);
        assert_eq!(text.matches("error[").count(), 1);
        assert!(
            text.contains("= also in clusters: edge-2, edge-3, edge-4, edge-5, edge-6 and 2 more"),
            "{text}"
        );
        assert!(text.ends_with("1 error in 8 clusters\n"));
    }

    #[test]
    fn a_finding_without_a_place_has_its_message_and_help() {
        let finding = Finding::new(RuleId::WaiverUnused, "nothing to waive").help("remove it");
        let judged = [Judged {
            finding,
            level: Level::Warning,
        }];
        let expected =
            "warning[waiver-unused]: nothing to waive\n |\n = help: remove it\n\n1 warning\n";
        assert_eq!(printed(&judged, Color::Never), expected);
    }

    #[test]
    fn without_findings_it_says_so() {
        assert_eq!(printed(&[], Color::Never), "no findings in 12 clusters\n");
    }

    #[test]
    fn colors_come_only_where_they_are_wanted() {
        let judged = [error(mismatch(), "edge-1")];
        assert!(!printed(&judged, Color::Never).contains('\x1b'));
        assert!(printed(&judged, Color::Always).contains('\x1b'));
    }

    #[test]
    fn a_secret_is_placed_and_not_shown() {
        let source = Source::new("secrets.yaml", "a: 1\npassword: hunter2\n")
            .with_marks(yaml_tree::place::Secrets::Whole, false);
        let source = Arc::new(source);
        let finding = Finding::new(RuleId::ValueType, "it is wrong")
            .with_label(spot(&source, "hunter2"), "set here");
        let text = printed(
            &[Judged {
                finding,
                level: Level::Error,
            }],
            Color::Never,
        );
        assert!(text.contains("--> secrets.yaml:2:11"), "{text}");
        assert!(text.contains("set here"), "{text}");
        assert!(
            !text.contains("hunter2") && !text.contains("password"),
            "{text}"
        );
    }

    #[test]
    fn terminal_escapes_in_the_input_do_not_reach_the_terminal() {
        let source = Arc::new(Source::new("a\x1b[2J.yaml", "\u{9b}7m: \x1b[31mred\n"));
        let finding = Finding::new(RuleId::ValueType, "bad \x1b[0m value")
            .with_label(spot(&source, "red"), "the \x1b[1m label")
            .help("fix \x1b[5m it");
        let text = printed(&[error(finding, "edge\x1b[7m")], Color::Never);
        let controls = text
            .chars()
            .filter(|letter| letter.is_control() && *letter != '\n');
        assert_eq!(controls.count(), 0, "{text:?}");
    }
}
