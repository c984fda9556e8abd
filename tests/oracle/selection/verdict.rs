//! What becomes of a pool, in the library's words and in metalmark's, and when the two mean the same.

use std::fmt;

use metalmark::model::selection::Outcome;
use serde_json::Value;

use super::project::{Answer, Cluster};

/// What becomes of a pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It boots this image.
    Image(String),
    /// It boots `machine_image_url`, which the library leaves alone.
    Url,
    /// It selects nothing.
    Nothing,
    /// It is refused; the class of the error.
    Refused(String),
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Image(key) => write!(f, "boots {key}"),
            Self::Url => f.write_str("boots its URL"),
            Self::Nothing => f.write_str("selects nothing"),
            Self::Refused(class) => write!(f, "is refused: {class}"),
        }
    }
}

/// The library's answer for a pool. An image key is printed as a dashed one: metalmark's spelling of dotted names (D9).
pub(super) fn theirs(recorded: &Value) -> Verdict {
    let text = |key: &str| recorded[key].as_str();
    match (text("image"), text("error")) {
        (Some(key), _) => Verdict::Image(key.replace('.', "-")),
        (None, Some(class)) => Verdict::Refused(class.to_owned()),
        (None, None) if recorded["url"] == true => Verdict::Url,
        (None, None) => Verdict::Nothing,
    }
}

/// metalmark's answer for a pool.
pub(super) fn ours(answer: &Answer, pool: &str) -> Verdict {
    let refused = |class: &str| Verdict::Refused(class.to_owned());
    match answer.pools.get(pool) {
        Some(Outcome::Image(key)) => Verdict::Image(key.to_string()),
        Some(Outcome::Explicit(_)) => Verdict::Url,
        // The library knows no `image_name`.
        Some(Outcome::Nothing | Outcome::Named(_)) => Verdict::Nothing,
        Some(Outcome::NoMatch) => refused("no-match"),
        Some(Outcome::Several(_)) => refused("several"),
        Some(Outcome::Disagree { .. }) => refused("disagree"),
        Some(Outcome::Invalid(_)) => refused("invalid"),
        Some(Outcome::Unknown(_)) => refused("unknown-image"),
        None => refused("no such pool"),
    }
}

/// The library's classes of error for a selector that is wrong in itself.
const INVALID: [&str; 5] = [
    "unknown-fact",
    "term-type",
    "fact-type",
    "distribution",
    "empty",
];
/// The rules for values that cannot be read.
const UNREADABLE: [&str; 3] = ["expression-error", "value-missing", "value-type"];

/// Whether both mean the same. Where Helm stops with an error of its own, a value cannot be used, and the cluster is refused.
pub(super) fn agree(theirs: &Verdict, ours: &Verdict, cluster: &Cluster, pool: &str) -> bool {
    let (Verdict::Refused(class), ours) = (theirs, ours) else {
        return theirs == ours;
    };
    match class.as_str() {
        "template" => {
            *ours == Verdict::Refused("invalid".to_owned()) || cluster.refuses(&UNREADABLE, pool)
        }
        "empty" if *ours == Verdict::Refused("no-match".to_owned()) => true,
        class if INVALID.contains(&class) => *ours == Verdict::Refused("invalid".to_owned()),
        _ => theirs == ours,
    }
}

/// How metalmark compares Kubernetes versions, and with what its answers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// `matching: exact`: the library's answers to the same images.
    Exact,
    /// `matching: normalized`, the default: the library's answers where every version is spelled alike, and what annotations leave
    /// out is as the image's name has it.
    Normalized,
}

/// Why metalmark differs from the library at this pool on purpose; none where there is no such reason.
pub(super) fn reason(
    cluster: &Cluster,
    mode: Mode,
    pool: &str,
    (theirs, ours): (&Verdict, &Verdict),
) -> Option<&'static str> {
    let is_refused = |class: &str| *ours == Verdict::Refused(class.to_owned());
    let fails = |class: &str| *theirs == Verdict::Refused(class.to_owned());
    let boots = |keys: &[&str]| matches!(theirs, Verdict::Image(key) if keys.contains(&&**key));
    let is_empty = matches!(ours, Verdict::Nothing | Verdict::Url);
    // The rule `matching-differs` warns with the library's answer.
    let warns = cluster.answer(mode).differs.contains(pool);
    let is_pattern = mode == Mode::Normalized && cluster.has_version_pattern();
    let as_written = self::theirs(&cluster.recorded(Mode::Exact)["pools"][pool]);
    let is_named = cluster.catalog == "names alone";
    let reasons = [
        (
            is_refused("unknown-image") && cluster.refuses(&["unknown-image"], pool),
            UNKNOWN_IMAGE,
        ),
        (boots(&["<no value>", "false"]) && is_empty, NO_KEY),
        (
            fails("template") && is_empty && !cluster.has_provider(),
            NO_PROVIDER,
        ),
        (
            is_named && mode == Mode::Exact && is_refused("no-match"),
            NAME_ALONE,
        ),
        (
            is_named && boots(&[UNKNOWN_NAMES]) && is_refused("no-match"),
            UNKNOWN_NAME,
        ),
        (
            mode == Mode::Normalized && fails("fact-type") && (is_any_refusal(ours) || warns),
            MISTYPED,
        ),
        (
            is_pattern && (is_any_refusal(ours) || warns || *ours == as_written),
            PATTERN,
        ),
        (cluster.has_both_names_of_the_key(), BOTH_NAMES),
    ];
    let applies = reasons.into_iter().find(|(applies, _)| *applies);
    applies.map(|(_, reason)| reason)
}

fn is_any_refusal(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Refused(_))
}

/// An image whose name no scheme knows.
pub(super) const UNKNOWN_NAMES: &str = "rhcos-4-18-plain-openshift-1-31-8";

const UNKNOWN_IMAGE: &str =
    "the library boots an `image_key` that no list has; the rule `unknown-image` refuses it";
const BOTH_NAMES: &str = "if a level has `image_key` as null or false and also the proposal's `os_image_key`, the latter counts; the library does not know it";
const NO_KEY: &str = "the library prints an `image_key` that is null or false as text, and boots `<no value>` or `false`; here it selects nothing";
const NO_PROVIDER: &str = "without `capi_providers.infra_provider` the library stops; here the provider is the one that has settings, else `capm3`";
const NAME_ALONE: &str = "if only the name of an image is known, `exact` compares the version in the name, which has no build";
const UNKNOWN_NAME: &str = "no scheme matches such a name, so nothing is known about the image";
const MISTYPED: &str = "a fact that is not a string stops the library; `normalized` reads its text, and `matching-differs` warns if this decides which image boots";
const PATTERN: &str = "`normalized` tries a pattern for versions on each spelling of an image's version; `matching-differs` warns if this decides which image boots";
