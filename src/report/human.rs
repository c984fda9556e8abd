//! Findings as a compiler prints them: the line, a caret under the fault, the other places that matter, what to do.

use std::collections::BTreeSet;
use std::io;

use annotate_snippets::{Element, Level as Severity, Renderer};

use super::drawing::{WIDEST, address, places};
use super::lines::Lines;
use super::{Changes, Color, Findings, Group, Report, Run, WriteChanges};
use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::printer::{Printer, plain};

/// For people.
pub(super) struct Human;

/// Where the documentation is on the web, set when the program is built.
const DOCS: Option<&str> = option_env!("METALMARK_DOCS");

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
        let mut advice = Advice::default();
        for alike in findings.group_by_cause() {
            let drawn = draw(&alike, &findings.run, &mut lines, &mut advice, &renderer);
            out.drawing(&format!("{drawn}\n\n"))?;
        }
        findings.write_summary(out)
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

/// What was printed of rules: what helps against findings that differ in nothing but their places and names is printed once.
#[derive(Default)]
struct Advice<'f> {
    helps: BTreeSet<(RuleId, &'f [String])>,
    pages: BTreeSet<RuleId>,
}

impl<'f> Advice<'f> {
    /// What is still to be said of a finding.
    fn add(&mut self, finding: &'f Finding, docs: Option<&str>) -> Vec<Element<'f>> {
        let rule = finding.rule;
        let is_new = self.helps.insert((rule, &finding.help));
        let help = finding.help.iter().filter(|_| is_new);
        let help = help.map(|help| Severity::HELP.message(plain(help)).into());
        let docs = docs.filter(|_| self.pages.insert(rule));
        let page = docs.map(|docs| {
            let address = format!("{docs}/rules/{rule}.html");
            Severity::NOTE.message(address).into()
        });
        help.chain(page).collect()
    }
}

/// The first finding of a cause, and where the others are.
fn draw<'f>(
    alike: &[&Group<'f>],
    run: &Run<'_>,
    lines: &mut Lines,
    advice: &mut Advice<'f>,
    renderer: &Renderer,
) -> String {
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
    elements.extend(advice.add(finding, DOCS));
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
    use annotate_snippets::{Level, Renderer};

    use super::Advice;
    use crate::model::finding::Finding;
    use crate::model::rule::RuleId;

    #[test]
    fn the_page_of_a_rule_and_one_help_are_printed_once() {
        let finding = |message: &str| Finding::new(RuleId::ValueType, message).help("quote it");
        let all = [
            finding("one"),
            finding("two"),
            finding("three").help("or not"),
        ];
        let mut advice = Advice::default();
        let drawn = all.each_ref().map(|finding| {
            let title = Level::ERROR.primary_title(&finding.message);
            let added = advice.add(finding, Some("https://docs.example"));
            Renderer::plain().render(&[title.elements(added)])
        });
        let expected = [
            "error: one\n |\n = help: quote it\n = note: https://docs.example/rules/value-type.html",
            "error: two",
            "error: three\n |\n = help: quote it\n = help: or not",
        ];
        assert_eq!(drawn, expected);
    }
}
