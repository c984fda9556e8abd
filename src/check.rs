//! Runs the rules over what was read and resolved, and says how much each finding matters: levels, waivers, once each.
//!
//! Never reads a clock: the day that waivers are held against is given by whoever asks.

use std::cmp::Ordering;
use std::collections::BTreeSet;

use crate::model::finding::{Finding, Judged, Level};
use crate::model::place::Spot;
use crate::model::policy::{Date, Policy};
use crate::model::workspace::{ClusterView, Settings};
use crate::rules::{ClusterInput, RULES, Rule, WorkspaceInput};

/// What checking one cluster, or the workspace, came to.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The findings that are neither off nor waived, sorted, each once.
    pub findings: Vec<Judged>,
    /// The waivers that accepted a finding, by their number in the policy: [`workspace`] needs those of all clusters.
    pub waivers_used: BTreeSet<usize>,
}

/// Checks one cluster: the findings of the stages before, and those of every rule.
pub fn cluster(view: &ClusterView, settings: &Settings, today: Date) -> Checked {
    let policy = &settings.policy;
    let mut checked = Checked::default();
    for finding in &view.findings {
        checked.judge(finding.clone(), policy, today);
    }
    let input = ClusterInput { view, settings };
    for rule in running(policy) {
        rule.cluster(&input, &mut |finding| checked.judge(finding, policy, today));
    }
    checked.findings = gather(checked.findings);
    checked
}

/// Checks what all clusters came to: the findings of no one cluster, and those of every rule over the whole. Waivers that
/// neither a cluster (`waivers_used`) nor this check used are findings too, and so are those past their day.
pub fn workspace(
    input: &WorkspaceInput<'_>,
    found: Vec<Finding>,
    waivers_used: &BTreeSet<usize>,
    today: Date,
) -> Checked {
    let policy = &input.settings.policy;
    let mut checked = Checked::default();
    for finding in found {
        checked.judge(finding, policy, today);
    }
    for rule in running(policy) {
        rule.workspace(input, &mut |finding| checked.judge(finding, policy, today));
    }
    checked.waivers_used.extend(waivers_used);
    for finding in waivers(policy, &checked.waivers_used, today) {
        checked.judge(finding, policy, today);
    }
    checked.findings = gather(checked.findings);
    checked
}

/// Judges findings of stages behind this one, such as a target's.
pub fn findings(found: Vec<Finding>, settings: &Settings, today: Date) -> Checked {
    let mut checked = Checked::default();
    for finding in found {
        checked.judge(finding, &settings.policy, today);
    }
    checked.findings = gather(checked.findings);
    checked
}

/// Sorts findings by their place and joins equal ones: a fault in a shared layer is one finding, however many clusters and
/// pools inherit it.
pub fn gather(mut findings: Vec<Judged>) -> Vec<Judged> {
    findings.sort_by(order);
    let mut gathered: Vec<Judged> = Vec::with_capacity(findings.len());
    for next in findings {
        match gathered.last_mut() {
            Some(last) if is_same(last, &next) => {
                last.finding.also.push(next.finding.subject);
                last.finding.also.extend(next.finding.also);
            }
            _ => gathered.push(next),
        }
    }
    for Judged { finding, .. } in &mut gathered {
        finding.also.sort();
        finding.also.dedup();
        finding.also.retain(|other| *other != finding.subject);
    }
    gathered
}

impl Checked {
    /// Whether an error stands: nothing may be written, and the exit status is 1.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|judged| judged.level == Level::Error)
    }

    fn judge(&mut self, finding: Finding, policy: &Policy, today: Date) {
        // A rule that is not in the table is a slip of ours: its findings still count.
        let default = crate::rules::rule(finding.rule).map_or(Level::Error, Rule::level);
        let level = policy.level(&finding, default);
        if level == Level::Off {
            return;
        }
        match policy.waiver(&finding, today) {
            Some(waiver) => {
                self.waivers_used.insert(waiver);
            }
            None => self.findings.push(Judged { finding, level }),
        }
    }
}

fn running(policy: &Policy) -> impl Iterator<Item = &'static dyn Rule> {
    RULES
        .iter()
        .copied()
        .filter(|rule| policy.rules.is_empty() || !policy.is_off(rule.id()))
}

/// The waivers that have outlived their day or their use.
fn waivers(policy: &Policy, used: &BTreeSet<usize>, today: Date) -> Vec<Finding> {
    let stale = policy
        .waivers
        .iter()
        .enumerate()
        .filter_map(|(index, waiver)| {
            let (rule, text) = (&waiver.rule, waiver.pattern.glob().glob());
            let finding = match &waiver.until {
                Some(until) if waiver.has_expired(today) => Finding::new(
                    "waiver-expired",
                    format!("the waiver of `{rule}` for `{text}` ended on {until}"),
                )
                .at(waiver.spot.clone(), "no longer accepts anything")
                .help("mend what it covered and remove it, or decide anew and move `until`"),
                _ if used.contains(&index) => return None,
                _ => Finding::new(
                    "waiver-unused",
                    format!("the waiver of `{rule}` for `{text}` accepts nothing"),
                )
                .at(waiver.spot.clone(), "no such finding")
                .help("remove it"),
            };
            Some(finding)
        });
    stale.collect()
}

/// By file, line and column; findings without a place come first.
fn order(left: &Judged, right: &Judged) -> Ordering {
    let (a, b) = (&left.finding, &right.finding);
    spots(a)
        .cmp(spots(b))
        .then_with(|| a.rule.cmp(b.rule))
        .then_with(|| a.message.cmp(&b.message))
        .then_with(|| left.level.cmp(&right.level).reverse())
        .then_with(|| a.help.cmp(&b.help))
        .then_with(|| a.subject.cmp(&b.subject))
}

fn is_same(left: &Judged, right: &Judged) -> bool {
    let (a, b) = (&left.finding, &right.finding);
    (left.level, a.rule, &a.message, &a.help) == (right.level, b.rule, &b.message, &b.help)
        && spots(a).eq(spots(b))
}

fn spots(finding: &Finding) -> impl Iterator<Item = (&str, u32, u32)> {
    finding.labels.iter().map(|label| {
        let Spot { source, start, end } = &label.spot;
        (&*source.path, *start, *end)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::{Checked, cluster, findings, gather, workspace};
    use crate::model::finding::{Finding, Judged, Level, Subject};
    use crate::model::image::Images;
    use crate::model::place::{Source, Sources};
    use crate::model::policy::{Date, Waiver, pattern};
    use crate::model::workspace::{ClusterView, Settings};
    use crate::rules::WorkspaceInput;
    use crate::testing::{Given, settings, today};

    const MISSING: &str = "checksum-missing";

    /// A cluster whose image has no checksum and a format.
    fn without_checksum() -> Given {
        let mut given = Given::new();
        let facts = [("k8s-version", "1.31.8+rke2r1"), ("image-format", "raw")];
        given.image("noble-a", &facts);
        given.boots("noble-a");
        given
    }

    fn waived(rule: &str, place: &str, until: Option<&str>) -> Settings {
        let mut settings = settings();
        settings.policy.waivers.push(Waiver {
            rule: rule.into(),
            pattern: pattern(place).unwrap(),
            reason: "ticket 4711".into(),
            until: until.map(str::to_string),
            spot: None,
        });
        settings
    }

    fn rules(checked: &Checked) -> Vec<&str> {
        let rules = checked.findings.iter().map(|judged| judged.finding.rule);
        rules.collect()
    }

    fn whole(settings: &Settings, used: &BTreeSet<usize>, today: Date) -> Checked {
        let input = WorkspaceInput {
            uses: &[],
            images: &Images::new(),
            sources: &Sources::default(),
            settings,
        };
        workspace(&input, Vec::new(), used, today)
    }

    #[test]
    fn a_clean_cluster_has_no_findings() {
        let mut given = without_checksum();
        given.settings.images.url = "{{ image.uri }}".into();
        let checked = cluster(&given.finished(), &given.settings, today());
        assert_eq!(rules(&checked), Vec::<&str>::new());
        assert!(!checked.has_errors());
    }

    #[test]
    fn stages_and_rules_findings_are_judged_alike() {
        let mut given = without_checksum();
        given.view.findings = vec![Finding::new("value-surprising", "odd")];
        let mut settings = settings();
        let checked = cluster(&given.finished(), &settings, today());
        assert_eq!(rules(&checked), ["value-surprising", MISSING]);
        assert_eq!(checked.findings[0].level, Level::Warning);
        assert!(checked.has_errors());
        settings.policy.rules = [MISSING, "value-surprising"]
            .map(|rule| (rule.to_string(), Level::Off))
            .into();
        let checked = cluster(&given.finished(), &settings, today());
        assert_eq!(rules(&checked), Vec::<&str>::new());
    }

    #[test]
    fn a_waiver_accepts_and_is_counted_as_used() {
        let settings = waived(MISSING, "edge-*", Some("2027-03-01"));
        let given = without_checksum();
        let checked = cluster(&given.finished(), &settings, today());
        assert_eq!(rules(&checked), Vec::<&str>::new());
        assert_eq!(checked.waivers_used, BTreeSet::from([0]));
        let checked = whole(&settings, &checked.waivers_used, today());
        assert_eq!(rules(&checked), Vec::<&str>::new());
    }

    #[test]
    fn an_expired_waiver_accepts_nothing_and_is_told() {
        let settings = waived(MISSING, "edge-*", Some("2026-11-20"));
        let given = without_checksum();
        let checked = cluster(&given.finished(), &settings, today());
        assert_eq!(rules(&checked), [MISSING]);
        let checked = whole(&settings, &checked.waivers_used, today());
        assert_eq!(rules(&checked), ["waiver-expired"]);
    }

    #[test]
    fn a_waiver_that_accepts_nothing_is_told() {
        let settings = waived(MISSING, "edge-2", None);
        let checked = whole(&settings, &BTreeSet::new(), today());
        assert_eq!(rules(&checked), ["waiver-unused"]);
    }

    #[test]
    fn findings_of_later_stages_keep_their_own_level() {
        let found = vec![Finding::new("duplicate-key", "twice").unless_set(Level::Warning)];
        let checked = findings(found, &settings(), today());
        assert_eq!(checked.findings[0].level, Level::Warning);
    }

    /// One finding of a pool at a byte of a file that every cluster reads anew.
    fn judged(pool: &str, start: u32, message: &str) -> Judged {
        let mut sources = Sources::default();
        let file = sources.add(Source::new("shared.yaml", "a: 1\n"));
        let place = crate::model::place::Place {
            file,
            start,
            end: start + 1,
        };
        let subject = Subject {
            pool: Some(pool.into()),
            ..Subject::default()
        };
        Judged {
            finding: Finding::new(MISSING, message)
                .about(subject)
                .at(sources.resolve(place), "here"),
            level: Level::Error,
        }
    }

    #[test]
    fn one_fault_is_one_finding_however_many_inherit_it() {
        let given = vec![
            judged("md1", 3, "b"),
            judged("md0", 3, "b"),
            judged("md0", 0, "b"),
            judged("md0", 3, "a"),
            judged("md1", 3, "b"),
        ];
        let gathered = gather(given);
        let told: Vec<(u32, &str, usize)> = gathered
            .iter()
            .map(|judged| {
                let finding = &judged.finding;
                let start = finding.labels[0].spot.start;
                (start, &*finding.message, finding.also.len())
            })
            .collect();
        assert_eq!(told, [(0, "b", 0), (3, "a", 0), (3, "b", 1)]);
        assert_eq!(gathered[2].finding.also[0].pool.as_deref(), Some("md1"));
        let again = gather(gathered.clone());
        assert_eq!(again.len(), gathered.len());
    }

    #[test]
    fn the_order_of_findings_is_not_that_of_their_discovery() {
        let mut found = vec![
            judged("a", 3, "x"),
            judged("b", 1, "y"),
            judged("c", 2, "z"),
        ];
        let forward = gather(found.clone());
        found.reverse();
        let texts = |findings: Vec<Judged>| format!("{findings:?}");
        assert_eq!(texts(forward), texts(gather(found)));
    }

    #[test]
    fn a_view_without_pools_is_no_trouble() {
        let view = ClusterView {
            selections: Vec::new(),
            ..Given::new().finished()
        };
        assert_eq!(
            rules(&cluster(&view, &settings(), today())),
            Vec::<&str>::new()
        );
    }
}
