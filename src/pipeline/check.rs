//! Runs the rules over what was read and resolved, and says how much each finding matters: its level, and whether it is waived.
//!
//! Never reads a clock: the day that waivers are compared with is given by the caller.

use std::collections::BTreeSet;
use std::sync::Arc;

use capi::image::Image;
use capi::objects::bundled::Bundle;

use crate::decide::matching::Selectable;
use crate::decide::replacement::{facts_to_keep, obstacles, version_obstacle};
use crate::decide::selected;
use crate::model::cluster::ClusterOrigin;
use crate::model::cluster_view::ClusterView;
use crate::model::date::Date;
use crate::model::finding::{Finding, Judged, Subject};
use crate::model::policy::Policy;
use crate::model::proposal::ProposedChange;
use crate::model::rule::{Level, RuleId};
use crate::model::selection::Selection;
use crate::model::settings::Settings;
use crate::model::version::distribution_of;
use crate::pipeline::Verdict;
use crate::rules::{ChangeInput, ClusterInput, RULES, Rule, RunScope, Scope, WorkspaceInput, rule};

/// How many changes are tried for one cluster: each takes as long as a check of it.
const MOST_TRIED: usize = 50;

/// The help of a finding whose proposals are not.
const UNTRIED: &str =
    "a repair is not looked for: repair others of this cluster first, and check again";

/// The result of checking one cluster or the workspace.
#[derive(Clone, Debug, Default)]
pub struct Checked {
    /// The findings that are neither off nor waived. [`crate::report`] sorts them and shows each fault once, however many
    /// clusters and pools inherit it.
    pub findings: Vec<Judged>,
    /// The waivers that accepted a finding, by their number in the policy: [`workspace`] needs those of all clusters.
    pub waivers_used: BTreeSet<usize>,
}

/// Checks one cluster: the findings of the stages before, and those of every rule.
pub fn cluster(view: &ClusterView, settings: &Settings, today: Date) -> Checked {
    let policy = &settings.policy;
    let mut checked = Checked::default();
    // What a broken file was to say would be missed by value after value and rule after rule.
    let broken = view
        .findings
        .iter()
        .any(|finding| finding.rule == RuleId::YamlSyntax);
    let follows = |finding: &&Finding| broken && finding.rule == RuleId::ValueMissing;
    for finding in view.findings.iter().filter(|finding| !follows(finding)) {
        checked.judge(finding.clone(), policy, today);
    }
    if broken {
        return checked;
    }
    let found = run_rules(view, settings);
    let mut trial = Trial::new(view, settings, &found);
    for finding in found {
        checked.judge(trial.keep_helpful_proposals(finding), policy, today);
    }
    checked
}

/// What the rules find in a cluster.
fn run_rules(view: &ClusterView, settings: &Settings) -> Vec<Finding> {
    let input = ClusterInput::new(view, settings);
    let mut found = Vec::new();
    let is_of_values = view.cluster.origin == ClusterOrigin::Values;
    for rule in running(&settings.policy) {
        let is_meant = is_of_values || !matches!(rule.scope, Scope::Values(_));
        let check = rule.cluster.filter(|_| is_meant);
        if let Some(check) = check {
            check(&input, &mut found);
        }
    }
    found
}

/// Whether a change lowers something in a cluster, or makes an error that is not there without it.
pub(crate) fn breaks(view: &ClusterView, settings: &Settings, change: &ProposedChange) -> bool {
    let found = run_rules(view, settings);
    let mut trial = Trial::new(view, settings, &found);
    let tried = trial.try_change(change).map(|at| &trial.tried[at]);
    tried.is_some_and(|tried| {
        let mut errors = tried.errors.iter();
        tried.lowers
            || errors.any(|(rule, subject)| !trial.known.contains(&(*rule, subject.pool.clone())))
    })
}

/// Tries the edits that findings propose: each is made on the model once, and the rules run again.
struct Trial<'t> {
    view: &'t ClusterView,
    /// Its images, with what was found among them.
    catalog: Selectable,
    settings: &'t Settings,
    /// The rules that find an error before any edit, with the pools.
    known: BTreeSet<(RuleId, Option<String>)>,
    tried: Vec<Tried>,
}

/// What a change leads to.
struct Tried {
    change: ProposedChange,
    /// Whether it breaks the law of replacements.
    lowers: bool,
    /// What is wrong after it.
    errors: Vec<(RuleId, Subject)>,
}

impl<'t> Trial<'t> {
    fn new(view: &'t ClusterView, settings: &'t Settings, found: &[Finding]) -> Self {
        let known = errors(found, settings)
            .into_iter()
            .map(|(rule, subject)| (rule, subject.pool));
        Self {
            view,
            catalog: Selectable::new(Arc::clone(&view.images)),
            settings,
            known: known.collect(),
            tried: Vec::new(),
        }
    }

    /// A finding with the proposals that repair it and make nothing worse.
    fn keep_helpful_proposals(&mut self, mut finding: Finding) -> Finding {
        let proposals = std::mem::take(&mut finding.proposals);
        let mut are_all_tried = true;
        for proposal in proposals {
            match self.try_change(&proposal.change) {
                Some(at) if self.is_helpful(&finding, &self.tried[at]) => {
                    finding.proposals.push(proposal);
                }
                Some(_) => {}
                None => are_all_tried = false,
            }
        }
        let finding = finding.with_proposals();
        if are_all_tried {
            finding
        } else {
            finding.help(UNTRIED)
        }
    }

    /// The number of a change among those that were tried; none where there are too many.
    fn try_change(&mut self, change: &ProposedChange) -> Option<usize> {
        let known = self.tried.iter().position(|tried| tried.change == *change);
        if known.is_some() || self.tried.len() >= MOST_TRIED {
            return known;
        }
        let changed = selected::apply_change(change, self.view, &self.catalog, self.settings);
        let lowers = lowers(self.view, &changed);
        let found = if lowers {
            Vec::new()
        } else {
            run_rules(&changed, self.settings)
        };
        self.tried.push(Tried {
            change: change.clone(),
            lowers,
            errors: errors(&found, self.settings),
        });
        Some(self.tried.len() - 1)
    }

    fn is_helpful(&self, finding: &Finding, tried: &Tried) -> bool {
        let is_worse = |(rule, subject): &(RuleId, Subject)| {
            let is_known = |rule: RuleId| self.known.contains(&(rule, subject.pool.clone()));
            // An image that is not in the catalog has hidden what else is wrong with its pool, and with the image that follows.
            let is_hidden = match &tried.change {
                ProposedChange::ImageKey { key, .. } if finding.rule == RuleId::UnknownImage => {
                    subject.image.as_deref() == Some(&**key) || is_known(RuleId::UnknownImage)
                }
                _ => false,
            };
            let is_left = *rule == finding.rule && subject.pool == finding.subject.pool;
            is_left || !is_known(*rule) && !is_hidden
        };
        !tried.lowers && !tried.errors.iter().any(is_worse)
    }
}

/// Whether a change of a cluster breaks the law of replacements for any pool: its version, or the image that it boots.
pub fn lowers(before: &ClusterView, after: &ClusterView) -> bool {
    let flavor = before.cluster.bootstrap_provider.as_ref();
    let flavor = flavor.and_then(|provider| distribution_of(&provider.value));
    let image = |view: &ClusterView, index: usize| {
        let selection: Option<&Selection> = view.selections.get(index);
        view.selected_image(selection?).cloned()
    };
    let is_lowered = |index: usize| {
        let version = |view: &ClusterView| {
            let pool = view.cluster.pools.get(index)?;
            Some(Arc::clone(&view.cluster.k8s_version_of(pool)?.value))
        };
        let versions = version(before).zip(version(after));
        let images = image(before, index).zip(image(after, index));
        versions.is_some_and(|(old, new)| old != new && version_obstacle(&old, &new).is_some())
            || images.is_some_and(|(old, new)| {
                let facts = facts_to_keep(&old.facts, flavor);
                let is_other = old.key != new.key;
                is_other && !obstacles(&Image { facts, ..old }, &new).is_empty()
            })
    };
    (0..before.cluster.pools.len()).any(is_lowered)
}

/// What is wrong with a cluster. That an image is not locked yet counts nothing: the help names the command that locks it.
fn errors(found: &[Finding], settings: &Settings) -> Vec<(RuleId, Subject)> {
    let is_error = |finding: &&Finding| {
        settings.policy.level(finding) == Level::Error
            && !finding.rule.as_str().starts_with("lock-")
    };
    let errors = found.iter().filter(is_error);
    errors
        .map(|finding| (finding.rule, finding.subject.clone()))
        .collect()
}

/// Checks the results of all clusters: the findings of no one cluster, and those of every rule over the whole. Waivers that
/// neither a cluster (`waivers_used`) nor this check used are findings too, unless only a part of the clusters was looked at, and
/// so are those past their day.
pub fn workspace(
    input: &WorkspaceInput<'_>,
    mut found: Vec<Finding>,
    waivers_used: &BTreeSet<usize>,
    today: Date,
) -> Checked {
    let policy = &input.settings.policy;
    let mut checked = Checked::default();
    for check in running(policy).filter_map(|rule| rule.workspace) {
        check(input, &mut found);
    }
    for finding in found {
        checked.judge(finding, policy, today);
    }
    checked.waivers_used.extend(waivers_used);
    for finding in waivers(policy, &checked.waivers_used, input.run_scope, today) {
        checked.judge(finding, policy, today);
    }
    checked
}

/// The rules whose findings follow from an error of another one: nothing of them is right or wrong before that is repaired.
const CONSEQUENCES: [(RuleId, &[RuleId]); 2] = [
    (
        RuleId::LockInvalid,
        &[
            RuleId::LockMissingImage,
            RuleId::LockStale,
            RuleId::LockUnused,
        ],
    ),
    (
        RuleId::ProjectFile,
        &[
            RuleId::ImageUnused,
            RuleId::LockUnused,
            RuleId::WaiverUnused,
        ],
    ),
];

/// Folds the consequences of a cause under it: the cause says how many there are.
pub(crate) fn fold_consequences(judged: &mut Vec<Judged>) {
    for (cause, consequences) in CONSEQUENCES {
        fold(
            judged,
            |it| it.finding.rule == cause,
            |it| consequences.contains(&it.finding.rule),
        );
    }
    let followed = judged.iter().filter_map(|it| it.finding.follows.clone());
    for file in followed.collect::<BTreeSet<String>>() {
        let is_in_file = |it: &Judged| {
            let place = it.finding.labels.first();
            let is_there = place.is_some_and(|label| *label.spot.source.path == *file);
            is_there && it.finding.rule == RuleId::YamlSyntax
        };
        fold(judged, is_in_file, |it| {
            it.finding.follows.as_ref() == Some(&file)
        });
    }
}

fn fold(
    judged: &mut Vec<Judged>,
    is_cause: impl Fn(&Judged) -> bool,
    is_consequence: impl Fn(&Judged) -> bool,
) {
    let is_cause = |it: &Judged| it.level == Level::Error && is_cause(it);
    if !judged.iter().any(is_cause) {
        return;
    }
    let all = judged.len();
    judged.retain(|it| !is_consequence(it));
    let folded = all - judged.len();
    let first = judged.iter_mut().find(|it| is_cause(it));
    if let Some(first) = first.filter(|_| folded > 0) {
        let findings = if folded == 1 {
            "finding follows"
        } else {
            "findings follow"
        };
        let help = format!("repair this first: {folded} more {findings} from it");
        first.finding.help.push(help);
    }
}

/// Checks what a change does to a cluster that is on both sides of it.
pub fn change(input: &ChangeInput<'_>, settings: &Settings) -> Vec<Finding> {
    let mut found = Vec::new();
    for check in running(&settings.policy).filter_map(|rule| rule.change) {
        check(input, &mut found);
    }
    found
}

/// Checks a bundle of manifests.
pub fn bundle(input: &Bundle<'_>, policy: &Policy) -> Vec<Finding> {
    let mut found = Vec::new();
    for check in running(policy).filter_map(|rule| rule.bundle) {
        check(input, &mut found);
    }
    found
}

/// Judges findings of stages behind this one, such as a target's.
pub fn findings(found: Vec<Finding>, settings: &Settings, today: Date) -> Checked {
    let mut checked = Checked::default();
    for finding in found {
        checked.judge(finding, &settings.policy, today);
    }
    checked
}

impl Checked {
    /// Whether there is an error: nothing may be written, and the exit status is 1.
    pub fn has_errors(&self) -> bool {
        self.findings
            .iter()
            .any(|judged| judged.level == Level::Error)
    }

    /// The result of a run that finds no more than this.
    pub(crate) fn verdict(&self) -> Verdict {
        Verdict::from_errors(self.has_errors())
    }

    /// Adds what was found later of the same cluster.
    pub fn join(&mut self, later: Self) {
        self.findings.extend(later.findings);
        self.waivers_used.extend(later.waivers_used);
    }

    fn judge(&mut self, finding: Finding, policy: &Policy, today: Date) {
        let level = policy.level(&finding);
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

fn running(policy: &Policy) -> impl Iterator<Item = &'static Rule> {
    RULES.iter().filter(|rule| !policy.is_off(rule.id))
}

/// The waivers that have outlived their day or their use.
fn waivers(
    policy: &Policy,
    used: &BTreeSet<usize>,
    run_scope: RunScope,
    today: Date,
) -> Vec<Finding> {
    let stale = policy
        .waivers
        .iter()
        .enumerate()
        .filter_map(|(index, waiver)| {
            let (id, text) = (&waiver.rule, waiver.pattern.text());
            let finding = match &waiver.until {
                Some(until) if waiver.has_expired(today) => Finding::new(
                    RuleId::WaiverExpired,
                    format!("the waiver of `{id}` for `{text}` ended on {until}"),
                )
                .with_label(waiver.spot.clone(), "no longer accepts anything")
                .help("fix what it covered and remove it, or decide again and move `until`"),
                _ if used.contains(&index) || run_scope == RunScope::Part => return None,
                // A change is over when it is merged, and manifests are another command's; their waivers may stay.
                _ if matches!(rule(*id).scope, Scope::Change | Scope::Manifests) => return None,
                _ => Finding::new(
                    RuleId::WaiverUnused,
                    format!("the waiver of `{id}` for `{text}` accepts nothing"),
                )
                .with_label(waiver.spot.clone(), "no such finding")
                .help("remove it"),
            };
            Some(finding)
        });
    stale.collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{ProptestConfig, prop, prop_assert, proptest};

    use super::{MOST_TRIED, Trial, UNTRIED, cluster, run_rules};
    use crate::model::cluster::ChoiceLevel;
    use crate::model::selection::Outcome;
    use crate::testing::{Given, settings, today};

    #[test]
    fn as_many_repairs_of_a_cluster_are_tried_as_is_stated() {
        let mut given = Given::new();
        let facts = [("k8s-version", "1.31.8+rke2r1"), ("image-format", "raw")];
        given.image("ubuntu-noble", &facts);
        given.settings.images.url = "{{ image.uri }}".into();
        given.view.cluster.pools.clear();
        given.view.selections.clear();
        for number in 0..=MOST_TRIED {
            let key = Some(given.line("image_key", "ubuntu-nobel"));
            let pool = given.machine_deployment(&format!("p{number}"));
            pool.choice.key = key;
            let (name, choice) = (pool.name.level(), pool.choice.clone());
            given.view.cluster.levels.push(ChoiceLevel { name, choice });
        }
        for selection in &mut given.view.selections {
            selection.outcome = Outcome::Unknown("ubuntu-nobel".into());
        }
        let checked = cluster(&given.finished(), &given.settings, today());
        let help = checked.findings.iter().map(|judged| &judged.finding.help);
        let help: Vec<_> = help.map(|help| help.join("; ")).collect();
        let (tried, others) = help.split_at(MOST_TRIED);
        let is_tried = |help: &String| help.starts_with("did you mean");
        assert!(tried.iter().all(is_tried), "{help:?}");
        assert_eq!(others, [UNTRIED]);
    }

    #[test]
    fn an_edit_that_repairs_many_pools_is_tried_once() {
        let mut given = Given::new();
        given.image("ubuntu-noble", &[("k8s-version", "1.31.8+rke2r1")]);
        for number in 0..=MOST_TRIED {
            given.machine_deployment(&format!("p{number}"));
        }
        given.boots("ubuntu-nobel");
        for selection in &mut given.view.selections {
            selection.outcome = Outcome::Unknown("ubuntu-nobel".into());
        }
        let view = given.finished();
        let found = run_rules(&view, &given.settings);
        let mut trial = Trial::new(&view, &given.settings, &found);
        for finding in found {
            let finding = trial.keep_helpful_proposals(finding);
            assert!(finding.help[0].starts_with("did you mean"), "{finding:?}");
        }
        assert_eq!(trial.tried.len(), 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_text_in_the_values_breaks_a_rule(texts in prop::array::uniform8(TEXT)) {
            let [version, key, url, format, checksum, kind, fact, pattern] = &texts;
            let mut given = Given::new();
            given.view.cluster.k8s_version = Some(given.line("k8s_version", version));
            given.view.cluster.infra_provider = Some(given.line("infra_provider", "capm3"));
            given.view.cluster.default_storage = Some(given.line("space", fact));
            given.image(
                key,
                &[("k8s-version", fact), ("sha256", checksum), ("image-format", format), ("size", fact)],
            );
            let further = [("format", &**format), ("checksum", checksum), ("checksum_type", kind)];
            given.boots_url(url, &further);
            let by_url = cluster(&given.finished(), &settings(), today());
            given.boots(key);
            let by_key = cluster(&given.finished(), &settings(), today());
            for outcome in [Outcome::Image(key.as_str().into()), Outcome::NoMatch, Outcome::Several(vec![key.as_str().into()])] {
                given.selects(&[(fact, pattern), ("os", pattern)], &outcome);
                let by_selector = cluster(&given.finished(), &settings(), today());
                let all = by_selector.findings.iter().chain(&by_url.findings).chain(&by_key.findings);
                for label in all.flat_map(|judged| &judged.finding.labels) {
                    let (start, end) = (label.spot.start as usize, label.spot.end as usize);
                    prop_assert!(label.spot.source.text.get(start..end).is_some(), "{label:?}");
                }
            }
        }
    }

    /// Half of it near the texts that rules take apart.
    const TEXT: &str = r"[a-z0-9.+():/\\\[\]|*-]{0,16}|v1[.][0-9]{1,2}([.][0-9])?([+]rke2r1)?|https?://[a-z.]{1,8}/.{0,12}|.{0,12}";
}
