//! The policy: levels by rule, cluster and pool, and waivers with a reason and an end.

use std::collections::BTreeMap;
use std::fmt;

use super::finding::{Finding, Subject};
use super::place::Spot;
use super::rule::{Level, RuleId, RuleOption};
use super::signing::RequiredSignatures;

/// The project's policy, validated.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// Levels and options for the whole project, by rule.
    pub rules: BTreeMap<RuleId, RuleSettings>,
    /// Levels and options for the clusters or pools that a pattern matches, in the order written; the last that matches wins.
    pub scoped: Vec<Scoped>,
    /// Findings that are accepted, with their reasons.
    pub waivers: Vec<Waiver>,
    /// The images that have to be signed, whatever the values say.
    pub signatures: RequiredSignatures,
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
    pub pattern: globset::GlobMatcher,
    /// Levels and options by rule.
    pub rules: BTreeMap<RuleId, RuleSettings>,
}

/// One accepted finding.
#[derive(Clone, Debug)]
pub struct Waiver {
    /// The rule.
    pub rule: RuleId,
    /// Which clusters, pools (`cluster/pool`) or image keys.
    pub pattern: globset::GlobMatcher,
    /// Why.
    pub reason: String,
    /// The last day it holds, `YYYY-MM-DD` as [`Date`] reads it; none holds for ever.
    pub until: Option<String>,
    /// Its place in the project file.
    pub spot: Option<Spot>,
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

    /// The value of a rule's option for a cluster or a pool.
    pub fn option(&self, rule: RuleId, option: &RuleOption, subject: &Subject) -> u32 {
        self.setting(rule, subject, |settings| {
            settings.options.get(option.name).copied()
        })
        .unwrap_or(option.default)
    }

    /// Whether the rule is off everywhere, so that it need not run.
    pub fn is_off(&self, rule: RuleId) -> bool {
        let level = self.rules.get(&rule).and_then(|settings| settings.level);
        level.unwrap_or(rule.level()) == Level::Off
            && !self
                .scoped
                .iter()
                .any(|scope| scope.rules.contains_key(&rule))
    }

    /// The waiver that accepts a finding on that day, by its number in `waivers`: one that holds, of any that match.
    pub fn waiver(&self, finding: &Finding, today: Date) -> Option<usize> {
        if self.waivers.is_empty() {
            return None;
        }
        let names = finding.subject.names();
        self.waivers.iter().position(|waiver| {
            waiver.rule == finding.rule
                && !waiver.has_expired(today)
                && names.iter().any(|name| waiver.pattern.is_match(name))
        })
    }

    /// What the last pattern that matches sets of a rule, else the project.
    fn setting<T>(
        &self,
        rule: RuleId,
        subject: &Subject,
        value: impl Fn(&RuleSettings) -> Option<T>,
    ) -> Option<T> {
        let of = |rules: &BTreeMap<RuleId, RuleSettings>| rules.get(&rule).and_then(&value);
        let scoped = || {
            let names = subject.names();
            let mut scopes = self.scoped.iter().rev();
            scopes.find_map(|scope| {
                of(&scope.rules).filter(|_| names.iter().any(|name| scope.pattern.is_match(name)))
            })
        };
        let scoped = if self.scoped.is_empty() {
            None
        } else {
            scoped()
        };
        scoped.or_else(|| of(&self.rules))
    }
}

impl Waiver {
    /// Whether its last day lies before that day. An end that is not a date never comes: the reader refuses it.
    pub fn has_expired(&self, today: Date) -> bool {
        self.until
            .as_deref()
            .and_then(Date::parse)
            .is_some_and(|last_day| last_day < today)
    }
}

/// A pattern over clusters, pools and image keys: `*` and `?` match letters of one name, `**` crosses the slash.
pub fn pattern(text: &str) -> Result<globset::GlobMatcher, globset::Error> {
    globset::GlobBuilder::new(text)
        .literal_separator(true)
        .build()
        .map(|glob| glob.compile_matcher())
}

/// A day, given by the caller: nothing here reads a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// Reads `YYYY-MM-DD` of the Gregorian calendar; `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let bytes = text.as_bytes();
        let dashed = bytes.len() == 10 && bytes[4] == b'-' && bytes[7] == b'-';
        let date = dashed.then_some(Self {
            year: digits(bytes.get(..4)?)?,
            month: u8::try_from(digits(bytes.get(5..7)?)?).ok()?,
            day: u8::try_from(digits(bytes.get(8..)?)?).ok()?,
        })?;
        (1..=days_of(date.year, date.month))
            .contains(&date.day)
            .then_some(date)
    }

    /// The day (UTC) of a number of seconds since 1970-01-01, as `SOURCE_DATE_EPOCH` counts them.
    pub fn from_unix(seconds: u64) -> Self {
        let mut left = seconds / 86_400;
        let mut date = Self {
            year: 1970,
            month: 1,
            day: 1,
        };
        while left >= days_in(date.year) && date.year < u16::MAX {
            left -= days_in(date.year);
            date.year += 1;
        }
        while date.month < 12 && left >= u64::from(days_of(date.year, date.month)) {
            left -= u64::from(days_of(date.year, date.month));
            date.month += 1;
        }
        date.day += left.min(30) as u8;
        date
    }
}

/// `YYYY-MM-DD`
impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
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

fn digits(text: &[u8]) -> Option<u16> {
    text.iter().try_fold(0, |sum: u16, byte| {
        byte.is_ascii_digit()
            .then(|| sum * 10 + u16::from(byte - b'0'))
    })
}

/// How many days a month has; none for a month that does not exist.
fn days_of(year: u16, month: u8) -> u8 {
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap(year) => 29,
        2 => 28,
        _ => 0,
    }
}

fn days_in(year: u16) -> u64 {
    if is_leap(year) { 366 } else { 365 }
}

fn is_leap(year: u16) -> bool {
    (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::finding::{Finding, Subject};
    use super::super::rule::{Level, RuleOption};
    use super::{Date, Policy, RuleSettings, Scoped, Waiver, pattern};
    use crate::model::rule::RuleId;

    const RULE: RuleId = RuleId::K8sVersionMismatch;

    fn finding(cluster: &str, pool: &str) -> Finding {
        Finding::new(RULE, "wrong").about(Subject {
            cluster: Some(cluster.into()),
            pool: Some(pool.into()),
            image: Some("ubuntu-noble".into()),
        })
    }

    fn scoped(text: &str, level: Level) -> Scoped {
        Scoped {
            pattern: pattern(text).unwrap(),
            rules: BTreeMap::from([(RULE, level.into())]),
        }
    }

    fn waiver(text: &str, until: &str) -> Waiver {
        Waiver {
            rule: RULE,
            pattern: pattern(text).unwrap(),
            reason: "ticket 4711".into(),
            until: Some(until.into()),
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
        policy.scoped.push(scoped("lab-*", Level::Off));
        assert_eq!(policy.level(&mild), Level::Off);
        policy.scoped.push(scoped("lab-*/md0", Level::Warning));
        assert_eq!(policy.level(&mild), Level::Warning);
        let other = finding("lab-1", "control-plane");
        assert_eq!(policy.level(&other), Level::Off);
    }

    #[test]
    fn a_rule_that_is_off_but_for_one_cluster_still_runs() {
        let mut policy = Policy::default();
        policy.rules.insert(RULE, Level::Off.into());
        assert!(policy.is_off(RULE));
        policy.scoped.push(scoped("prod", Level::Error));
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
        policy.scoped.push(Scoped {
            pattern: pattern("lab-*").unwrap(),
            rules: BTreeMap::from([(RULE, of(3))]),
        });
        assert_eq!(value(&policy), 3);
        assert_eq!(policy.level(&found), Level::Error, "it sets no level");
    }

    #[test]
    fn a_waiver_holds_on_its_last_day_and_not_after_it() {
        let policy = Policy {
            waivers: vec![waiver("legacy-7", "2027-03-01")],
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
    fn a_waiver_may_name_a_pool_or_an_image() {
        for text in ["legacy-7/md0", "*/md0", "ubuntu-*"] {
            let policy = Policy {
                waivers: vec![waiver(text, "2027-03-01")],
                ..Policy::default()
            };
            let today = Date::parse("2026-01-01").unwrap();
            assert_eq!(policy.waiver(&finding("legacy-7", "md0"), today), Some(0));
        }
    }

    #[test]
    fn only_days_that_exist_are_dates() {
        for text in ["2027-03-01", "2028-02-29", "2000-02-29"] {
            assert_eq!(Date::parse(text).unwrap().to_string(), text);
        }
        for text in [
            "2027-02-29",
            "1900-02-29",
            "2027-13-01",
            "2027-00-01",
            "2027-01-00",
            "2027-1-1",
            "+027-01-01",
            "2027/01/01",
            "",
            "2027-01-011",
        ] {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn seconds_become_the_day_that_date_prints() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (86_399, "1970-01-01"),
            (86_400, "1970-01-02"),
            (951_782_400, "2000-02-29"),
            (1_798_761_599, "2026-12-31"),
            (1_798_761_600, "2027-01-01"),
        ] {
            assert_eq!(Date::from_unix(seconds).to_string(), day);
        }
        assert_eq!(Date::from_unix(u64::MAX).year, u16::MAX);
    }
}
