//! A finding's places, drawn: the lines of the user's file with marks below, whatever the file holds.

use std::path::Path;
use std::sync::Arc;

use annotate_snippets::{
    Annotation, AnnotationKind, Element, Group, Level as Severity, Origin, Renderer, Snippet,
};

use super::Run;
use super::issue::path_in_repository;
use super::lines::{Lined, Lines};
use crate::model::finding::Label;
use crate::printer::{may_name_user, plain};

/// A line is shown up to here, in bytes; a place further right is named but not drawn.
const LONGEST_LINE: usize = 1000;

/// A place is underlined whole up to this length, in characters.
const LONGEST_WHOLE: usize = 100;

/// A longer one is underlined up to here, so that the words behind it stay on the screen.
const LONGEST_MARK: usize = 60;

/// Lines of files are cut at this width, in columns, where no terminal says another one.
pub(super) const WIDEST: usize = 140;

/// Places of one file that are further apart, in lines, are drawn apart.
const TOGETHER: usize = 12;

/// What can be drawn of a finding's places: first the one of the fault.
pub(super) fn places<'a>(
    labels: &'a [Label],
    folder: &str,
    root: &Path,
    lines: &mut Lines,
) -> Vec<Element<'a>> {
    let mut remaining: Vec<(usize, &Label)> = labels.iter().enumerate().collect();
    let mut elements = Vec::new();
    while let Some((_, first)) = remaining.first().copied() {
        let lined = lines.get(&first.spot.source);
        let line = |label: &Label| lined.line(lined.offset(label.spot.start));
        let near = |label: &Label| {
            same_file(label, first)
                && drawable(label, folder, &lined)
                && line(label).abs_diff(line(first)) <= TOGETHER
                && !is_private(label, first, &lined)
        };
        if drawable(first, folder, &lined) {
            let (together, apart): (Vec<_>, Vec<_>) =
                remaining.into_iter().partition(|(_, label)| near(label));
            elements.push(Element::from(snippet(&together, root, &lined)));
            remaining = apart;
        } else {
            elements.extend(place_elements(first, root, &lined));
            remaining.remove(0);
        }
    }
    elements
}

/// The same as plain text, without a title; empty if there is no place.
pub(super) fn text(labels: &[Label], run: &Run<'_>, lines: &mut Lines) -> String {
    let places = places(labels, &run.folder, &run.root, lines);
    if places.is_empty() {
        return String::new();
    }
    let renderer = Renderer::plain().term_width(WIDEST);
    let drawn = renderer.render(&[Group::with_level(Severity::NOTE).elements(places)]);
    let lines: Vec<&str> = drawn.lines().map(str::trim_end).collect();
    lines.join("\n")
}

fn same_file(a: &Label, b: &Label) -> bool {
    let (a, b) = (&a.spot.source, &b.spot.source);
    Arc::ptr_eq(a, b) || (a.path == b.path && a.text == b.text)
}

/// Files of secrets are not drawn, nor files outside the repository, lines with a secret, lines that may name a user, which are cut
/// before the printer sees them whole, places far to the right, and files that were not read.
fn drawable(label: &Label, folder: &str, lined: &Lined<'_>) -> bool {
    let source = &label.spot.source;
    if source.is_hidden || path_in_repository(folder, &source.path).is_none() {
        return false;
    }
    let start = lined.offset(label.spot.start);
    let column = start - lined.range(lined.line(start)).start.min(start);
    !lined.text().is_empty() && column < LONGEST_LINE && !is_private(label, label, lined)
}

/// Whether the lines from one place to another hold a secret, or may name a user.
fn is_private(one: &Label, other: &Label, lined: &Lined<'_>) -> bool {
    let line = |label: &Label| lined.range(lined.line(lined.offset(label.spot.start)));
    let (from, to) = (line(one), line(other));
    let lines = from.start.min(to.start)..from.end.max(to.end);
    one.spot.source.hides(lines.start as u32..lines.end as u32)
        || may_name_user(&lined.text()[lines])
}

/// A file's path as people type it where the run started.
fn path(label: &Label, root: &Path) -> String {
    let path = root.join(&*label.spot.source.path);
    let path = path.strip_prefix(".").unwrap_or(&path);
    plain(&path.to_string_lossy().replace('\\', "/"))
}

/// A place as `path:line:column`; the path alone where nothing of the file was read.
pub(super) fn address(label: &Label, root: &Path, lines: &mut Lines) -> String {
    let path = path(label, root);
    let lined = lines.get(&label.spot.source);
    if lined.text().is_empty() {
        return path;
    }
    let (line, column) = lined.line_column(label.spot.start);
    format!("{path}:{line}:{column}")
}

/// A place without its text.
fn place_elements<'a>(label: &'a Label, root: &Path, lined: &Lined<'_>) -> Vec<Element<'a>> {
    let mut origin = Origin::path(path(label, root));
    if !lined.text().is_empty() {
        let (line, column) = lined.line_column(label.spot.start);
        origin = origin.line(line).char_column(column);
    }
    let text = (!label.text.is_empty()).then(|| Severity::NOTE.message(plain(&label.text)));
    let origin = std::iter::once(Element::from(origin));
    origin.chain(text.map(Element::from)).collect()
}

/// The lines from the first to the last of some places in one file; each place is marked in its first line.
fn snippet<'a>(
    labels: &[(usize, &'a Label)],
    root: &Path,
    lined: &Lined<'_>,
) -> Snippet<'a, Annotation<'a>> {
    let line = |label: &Label| lined.line(lined.offset(label.spot.start));
    let lines = labels.iter().map(|(_, label)| line(label));
    let (first, last) = lines.fold((usize::MAX, 0), |(first, last), line| {
        (first.min(line), last.max(line))
    });
    let mut text = String::new();
    let mut annotations = Vec::new();
    for number in first..=last {
        let range = lined.range(number);
        let whole = &lined.text()[range.clone()];
        let shown = &whole[..whole.floor_char_boundary(LONGEST_LINE + 100)];
        let inside = |offset: u32| {
            lined
                .offset(offset)
                .clamp(range.start, range.start + shown.len())
        };
        let here = labels.iter().filter(|(_, label)| line(label) == number);
        annotations.extend(here.map(|(index, label)| {
            let (start, end) = (inside(label.spot.start), inside(label.spot.end));
            let end = mark_end(lined.text(), start, end);
            let base = text.len();
            let span = base + start - range.start..base + end.max(start) - range.start;
            let kind = if *index == 0 {
                AnnotationKind::Primary
            } else {
                AnnotationKind::Context
            };
            let words = (!label.text.is_empty()).then(|| plain(&label.text));
            kind.span(span).label(words)
        }));
        text.push_str(shown);
        text.push('\n');
    }
    Snippet::source(text)
        .path(path(labels[0].1, root))
        .line_start(first + 1)
        .annotations(annotations)
}

/// Where the mark of a place ends that reaches from `start` to `end`.
fn mark_end(text: &str, start: usize, end: usize) -> usize {
    let place = text.get(start..end).unwrap_or_default();
    if place.chars().count() <= LONGEST_WHOLE {
        return end;
    }
    place
        .char_indices()
        .nth(LONGEST_MARK)
        .map_or(end, |(length, _)| start + length)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::{any, proptest};

    use crate::model::finding::{Finding, Judged};
    use crate::model::rule::{Level, RuleId};
    use crate::printer::Printer;
    use crate::report::{Color, Findings, find};
    use yaml_tree::place::{Source, Spot};

    fn human(finding: Finding) -> String {
        let judged = [Judged {
            finding,
            level: Level::Error,
        }];
        let findings = Findings::new(&judged, 1, Color::Never);
        let human = find("human").expect("it is in the table");
        Printer::print_to_string(Color::Never, |out| human.findings(&findings, out))
            .expect("memory takes it")
    }

    fn at(source: &Arc<Source>, start: usize, end: usize) -> Option<Spot> {
        let (start, end) = (start as u32, end as u32);
        Some(Spot {
            source: Arc::clone(source),
            start,
            end,
        })
    }

    #[test]
    fn the_caret_is_below_wide_characters_and_tabs() {
        let source = Arc::new(Source::new("a", "\tlabel: 日本 x\r\nnext: 1\r\n"));
        let start = source.text.find('x').expect("it is there");
        let text = human(
            Finding::new(RuleId::ValueType, "m").with_label(at(&source, start, start + 1), "here"),
        );
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], " --> a:1:12");
        assert_eq!(lines[3], "1 |     label: 日本 x");
        assert_eq!(lines[4], "  |                 ^ here");
    }

    #[test]
    fn a_place_of_many_lines_is_marked_in_its_first() {
        let source = Arc::new(Source::new("a", "text: |\n  one\n  two\n"));
        let text = human(Finding::new(RuleId::ValueType, "m").with_label(at(&source, 6, 19), ""));
        assert!(text.contains("1 | text: |\n  |       ^\n"), "{text}");
        assert!(!text.contains("one"), "{text}");
    }

    #[test]
    fn places_far_apart_are_drawn_apart() {
        let source = Arc::new(Source::new(
            "a",
            format!("one\n{}two\n", "filler\n".repeat(5000)),
        ));
        let end = source.text.len();
        let finding = Finding::new(RuleId::ValueType, "m")
            .with_label(at(&source, end - 4, end - 1), "fault")
            .with_label(at(&source, 0, 3), "other");
        let text = human(finding);
        assert!(
            text.contains("--> a:5002:1") && text.contains("::: a:1:1"),
            "{text}"
        );
        assert!(text.lines().count() < 16, "{text}");
    }

    #[test]
    fn a_very_long_line_is_trimmed_and_a_place_far_right_is_named() {
        let source = Arc::new(Source::new("a", "x".repeat(1_000_000)));
        let near = human(
            Finding::new(RuleId::ValueType, "m").with_label(at(&source, 500, 999_999), "here"),
        );
        assert!(near.contains("--> a:1:501"), "{near}");
        assert!(near.lines().all(|line| line.len() < 200), "{near}");
        let far = human(
            Finding::new(RuleId::ValueType, "m").with_label(at(&source, 900_000, 900_001), "here"),
        );
        assert!(
            far.contains("--> a:1:900001") && far.contains("note: here"),
            "{far}"
        );
    }

    #[test]
    fn a_line_with_a_user_is_named_and_not_drawn() {
        let password = "x".repeat(300);
        for (line, is_drawn) in [
            (format!("a: https://u:{password}@host"), false),
            (format!("a: oci://{password}@host"), false),
            (format!("a: oci://host/{password}@sha256:0"), true),
            (format!("a: ssh://git@host/{password}"), true),
        ] {
            let source = Arc::new(Source::new("a", &*line));
            let text =
                human(Finding::new(RuleId::ValueType, "m").with_label(at(&source, 0, 1), ""));
            assert!(text.contains("--> a:1:1\n"), "{text}");
            assert_eq!(text.contains("xxx"), is_drawn, "{text}");
        }
    }

    #[test]
    fn a_file_that_was_not_read_is_named() {
        let source = Arc::new(Source::new("out/a.yaml", ""));
        let text = human(Finding::new(RuleId::ValueType, "m").with_label(at(&source, 0, 0), ""));
        assert!(text.contains("--> out/a.yaml\n"), "{text}");
    }

    proptest! {
        #[test]
        fn no_place_in_no_text_panics(
            text in "[a é日\u{301}\u{200b}\u{202e}\u{feff}\0\x1b\t\r\n]{0,40}",
            places in proptest::collection::vec((0..60_u32, 0..60_u32, 0..3_usize), 0..6),
            far in any::<(u32, u32)>(),
            label in "[a日\n\r\x1b]{0,4}",
        ) {
            let sources = [
                Arc::new(Source::new("a", &*text)),
                Arc::new(Source::new("a", &*text)),
                Arc::new(Source::new("b", &*text).with_marks(yaml_tree::place::Secrets::Whole, false)),
            ];
            let far = (far.0, far.1, 0);
            let mut finding = Finding::new(RuleId::ValueType, &*text).help(&*text);
            for (start, end, source) in places.into_iter().chain([far]) {
                let source = Arc::clone(&sources[source]);
                finding = finding.with_label(Some(Spot { source, start, end }), &*label);
            }
            let text = human(finding);
            assert!(text.contains("-->"), "{text}");
        }
    }
}
