//! The policy: levels by rule, cluster and pool, and waivers with a reason and an end.

use std::collections::BTreeMap;

use oci_artifacts::Address;
use yaml_tree::place::Spot;

use super::date::Date;
use super::finding::{Finding, Subject};
use super::judgment::Grade;
use super::pattern::{Pattern, PatternList};
use super::provenance::ProvenanceDemand;
use super::rule::{Level, RuleId, RuleOption};
use super::signing::RequiredSignatures;

/// The project's policy, validated.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Levels and options for the whole project, by rule.
    pub rules: BTreeMap<RuleId, RuleSettings>,
    /// Levels and options for the clusters or pools that a pattern matches, in the order written; the last that matches wins.
    pub scoped: PatternList<Scoped>,
    /// Findings that are accepted, with their reasons.
    pub waivers: PatternList<Waiver>,
    /// The images that have to be signed, whatever the values say.
    pub signatures: RequiredSignatures,
    /// What has to be signed of images, and by whom; all entries that an image is below apply.
    pub provenance: Vec<ProvenanceDemand>,
    /// The best judgment of a node pool that fails a run, where one does.
    pub fail_on: Option<Grade>,
}

impl Policy {
    /// Whether something has to be signed of an image with this reference or address.
    pub fn demands_signer(&self, address: &Address) -> bool {
        let mut provenance = self.provenance.iter();
        self.signatures.cover(address)
            || provenance.any(|it| address.is_below(std::slice::from_ref(&it.below)))
    }
}

/// What a project sets of a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RuleSettings {
    /// The level; the rule's own, or that of a wider scope, unless given.
    pub level: Option<Level>,
    /// Options by name, such as [`RuleOption::name`].
    pub options: BTreeMap<String, u32>,
}

impl From<Level> for RuleSettings {
    fn from(level: Level) -> Self {
        Self {
            level: Some(level),
            options: BTreeMap::new(),
        }
    }
}

/// Levels and options for some clusters or pools.
#[derive(Clone, Debug)]
pub struct Scoped {
    /// `cluster` or `cluster/pool`.
    pub pattern: Pattern,
    /// Levels and options by rule.
    pub rules: BTreeMap<RuleId, RuleSettings>,
    /// Its place in the project file.
    pub spot: Option<Spot>,
}

/// What an editor writes as the reason of a waiver, for a person to replace. It is none.
pub const NO_REASON: &str = "write why this is accepted";

/// One accepted finding.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The rule.
    pub rule: RuleId,
    /// Which clusters, pools (`cluster/pool`) or image keys.
    pub pattern: Pattern,
    /// Why.
    pub reason: String,
    /// The last day it holds; none holds for ever.
    pub until: Option<Date>,
    /// Its place in the project file.
    pub spot: Option<Spot>,
}

impl AsRef<Pattern> for Scoped {
    fn as_ref(&self) -> &Pattern {
        &self.pattern
    }
}

impl AsRef<Pattern> for Waiver {
    fn as_ref(&self) -> &Pattern {
        &self.pattern
    }
}

impl Policy {
    /// Accepts a run that checks no node pool.
    pub fn allow_empty(&mut self) {
        self.rules.insert(RuleId::NothingChecked, Level::Off.into());
    }

    /// The level of a finding: what a cluster's or pool's pattern says, else the project, else the finding's own case, else
    /// the rule.
    pub fn level(&self, finding: &Finding) -> Level {
        self.setting(finding.rule, &finding.subject, |settings| settings.level)
            .or(finding.unless_set)
            .unwrap_or_else(|| finding.rule.level())
    }

    /// Whether a level of the finding's rule is written that holds for it.
    pub fn has_level(&self, finding: &Finding) -> bool {
        let level = self.setting(finding.rule, &finding.subject, |settings| settings.level);
        level.is_some()
    }

    /// The value of a rule's option for a cluster or a pool.
    pub fn option(&self, rule: RuleId, option: &RuleOption, subject: &Subject) -> u32 {
        self.setting(rule, subject, |settings| {
            settings.options.get(option.name).copied()
        })
        .unwrap_or(option.default)
    }

    /// The level of a rule where no cluster, no pool and no case of its own has another.
    pub fn rule_level(&self, rule: RuleId) -> Level {
        let level = self.rules.get(&rule).and_then(|settings| settings.level);
        level.unwrap_or(rule.level())
    }

    /// Whether the rule is off everywhere, so that it need not run.
    pub fn is_off(&self, rule: RuleId) -> bool {
        self.rule_level(rule) == Level::Off
            && !self
                .scoped
                .iter()
                .any(|scope| scope.rules.contains_key(&rule))
    }

    /// The waiver that accepts a finding on that day, by its number in `waivers`: one that holds, of any that match.
    pub fn waiver(&self, finding: &Finding, today: Date) -> Option<usize> {
        let mut names = finding.subject.names();
        if names.is_empty() {
            // What is about the whole project is reached by a pattern that matches everything.
            names.push(String::new());
        }
        let holds = |number: &usize| {
            let waiver = &self.waivers[*number];
            waiver.rule == finding.rule && !waiver.has_expired(today)
        };
        self.waivers.matches(&names).find(holds)
    }

    /// What the last pattern that matches sets of a rule, else the project.
    fn setting<T>(
        &self,
        rule: RuleId,
        subject: &Subject,
        value: impl Fn(&RuleSettings) -> Option<T>,
    ) -> Option<T> {
        let of = |rules: &BTreeMap<RuleId, RuleSettings>| rules.get(&rule).and_then(&value);
        let mut scoped = None;
        if !self.scoped.is_empty() {
            let names = subject.names();
            let mut scopes = self.scoped.matches(&names).rev();
            scoped = scopes.find_map(|number| of(&self.scoped[number].rules));
        }
        scoped.or_else(|| of(&self.rules))
    }
}

impl Waiver {
    /// Whether its last day lies before that day.
    pub fn has_expired(&self, today: Date) -> bool {
        self.until.is_some_and(|last_day| last_day < today)
    }
}

impl Subject {
    /// What patterns are matched against: `cluster`, `cluster/pool`, the image key.
    pub fn names(&self) -> Vec<String> {
        let cluster = self.cluster.clone();
        let pool = self
            .cluster
            .as_ref()
            .zip(self.pool.as_ref())
            .map(|(cluster, pool)| format!("{cluster}/{pool}"));
        cluster
            .into_iter()
            .chain(pool)
            .chain(self.image.clone())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::finding::{Finding, Subject};
    use super::super::rule::{Level, RuleOption};
    use super::{Date, Pattern, PatternList, Policy, RuleSettings, Scoped, Waiver};
    use crate::model::rule::RuleId;

    const RULE: RuleId = RuleId::K8sVersionMismatch;

    fn finding(cluster: &str, pool: &str) -> Finding {
        Finding::new(RULE, "wrong").with_subject(Subject {
            cluster: Some(cluster.into()),
            pool: Some(pool.into()),
            image: Some("ubuntu-noble".into()),
        })
    }

    fn scoped(text: &str, level: Level) -> Scoped {
        Scoped {
            pattern: Pattern::parse(text).unwrap(),
            rules: BTreeMap::from([(RULE, level.into())]),
            spot: None,
        }
    }

    fn waiver(text: &str, until: &str) -> Waiver {
        Waiver {
            rule: RULE,
            pattern: Pattern::parse(text).unwrap(),
            reason: "ticket 4711".into(),
            until: Date::parse(until),
            spot: None,
        }
    }

    #[test]
    fn a_pool_then_a_cluster_then_the_project_then_the_case_decides_the_level() {
        let mut policy = Policy::default();
        let mild = finding("lab-1", "md0").unless_set(Level::Warning);
        assert_eq!(policy.level(&mild), Level::Warning);
        policy.rules.insert(RULE, Level::Error.into());
        assert_eq!(policy.level(&mild), Level::Error);
        let all = scoped("lab-*", Level::Off);
        policy.scoped = PatternList::from_iter([all.clone()]);
        assert_eq!(policy.level(&mild), Level::Off);
        let pool = scoped("lab-*/md0", Level::Warning);
        policy.scoped = PatternList::from_iter([all, pool]);
        assert_eq!(policy.level(&mild), Level::Warning);
        let other = finding("lab-1", "control-plane");
        assert_eq!(policy.level(&other), Level::Off);
    }

    #[test]
    fn a_level_is_only_that_of_the_policy_where_it_is_written() {
        let policy = Policy {
            scoped: PatternList::from_iter([scoped("lab-*", Level::Warning)]),
            ..Policy::default()
        };
        assert!(policy.has_level(&finding("lab-1", "md0")));
        assert!(!policy.has_level(&finding("prod", "md0")));
    }

    #[test]
    fn a_rule_that_is_off_but_for_one_cluster_still_runs() {
        let mut policy = Policy::default();
        policy.rules.insert(RULE, Level::Off.into());
        assert!(policy.is_off(RULE));
        policy.scoped = PatternList::from_iter([scoped("prod", Level::Error)]);
        assert!(!policy.is_off(RULE));
    }

    #[test]
    fn an_option_is_the_patterns_then_the_projects_then_the_default() {
        const MINORS: RuleOption = RuleOption {
            name: "minors",
            default: 1,
            meaning: "how many",
        };
        let of = |minors| RuleSettings {
            options: BTreeMap::from([("minors".to_owned(), minors)]),
            ..RuleSettings::default()
        };
        let mut policy = Policy::default();
        let found = finding("lab-1", "md0");
        let value = |policy: &Policy| policy.option(RULE, &MINORS, &found.subject);
        assert_eq!(value(&policy), 1);
        policy.rules.insert(RULE, of(2));
        assert_eq!(value(&policy), 2);
        policy.scoped = PatternList::from_iter([Scoped {
            pattern: Pattern::parse("lab-*").unwrap(),
            rules: BTreeMap::from([(RULE, of(3))]),
            spot: None,
        }]);
        assert_eq!(value(&policy), 3);
        assert_eq!(policy.level(&found), Level::Error, "it sets no level");
    }

    #[test]
    fn a_waiver_holds_on_its_last_day_and_not_after_it() {
        let policy = Policy {
            waivers: [waiver("legacy-7", "2027-03-01")].into_iter().collect(),
            ..Policy::default()
        };
        let found = finding("legacy-7", "md0");
        let day = |text| Date::parse(text).unwrap();
        assert_eq!(policy.waiver(&found, day("2027-03-01")), Some(0));
        assert_eq!(policy.waiver(&found, day("2027-03-02")), None);
        assert_eq!(
            policy.waiver(&finding("legacy-77", "md0"), day("2027-03-01")),
            None
        );
    }

    #[test]
    fn a_waiver_of_everything_reaches_what_is_about_no_cluster() {
        let today = Date::parse("2026-01-01").unwrap();
        let of_project = Finding::new(RULE, "wrong");
        for (text, expected) in [("**", Some(0)), ("*", Some(0)), ("?*", None), ("a", None)] {
            let policy = Policy {
                waivers: [waiver(text, "2027-03-01")].into_iter().collect(),
                ..Policy::default()
            };
            assert_eq!(policy.waiver(&of_project, today), expected, "{text}");
        }
    }

    #[test]
    fn a_waiver_may_name_a_pool_or_an_image() {
        for text in ["legacy-7/md0", "*/md0", "ubuntu-*"] {
            let policy = Policy {
                waivers: [waiver(text, "2027-03-01")].into_iter().collect(),
                ..Policy::default()
            };
            let today = Date::parse("2026-01-01").unwrap();
            assert_eq!(policy.waiver(&finding("legacy-7", "md0"), today), Some(0));
        }
    }
}
