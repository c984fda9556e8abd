//! Sylva's selection (docs/sylva.md) and what metalmark adds to it, written from those rules: one
//! merge, one comparison, one pick. It shares no code with metalmark and needs no regular expressions: a pattern is data.

use std::collections::BTreeMap;

/// What a selector requires of a fact.
#[derive(Clone, Debug)]
pub(super) enum Pattern {
    Bool(bool),
    /// This text, as a pattern that escapes what it must.
    Text(&'static str),
    OneOf(&'static [&'static str]),
    Starts(&'static str),
    Anything,
    /// A number, which is no pattern.
    Number,
}

pub(super) type Terms = BTreeMap<&'static str, Pattern>;

/// What one level writes. A selector of `false` is none.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    pub(super) key: Option<(bool, &'static str)>,
    pub(super) selector: Option<Option<Terms>>,
    pub(super) url: Option<&'static str>,
}

impl Level {
    fn ways(&self) -> usize {
        let key = self.key.is_some_and(|(_, key)| !key.is_empty());
        let selector = matches!(&self.selector, Some(Some(terms)) if !terms.is_empty());
        let url = self.url.is_some_and(|url| !url.is_empty());
        usize::from(key) + usize::from(selector) + usize::from(url)
    }
}

/// An image: what its source says, whether a fact is a number there, and what its name says where it has one.
#[derive(Clone, Debug, Default)]
pub(super) struct Image {
    pub(super) facts: BTreeMap<&'static str, String>,
    pub(super) number: Option<&'static str>,
    pub(super) name: BTreeMap<&'static str, String>,
}

#[derive(Clone, Debug)]
pub(super) struct Cluster {
    pub(super) version: Option<&'static str>,
    pub(super) bootstrap: &'static str,
    pub(super) images: BTreeMap<String, Image>,
    pub(super) exact: bool,
}

/// What a pool comes to: the image or why there is none, whether it says so in more ways than one, and what is wrong
/// with the image's version.
#[derive(Debug, PartialEq)]
pub(super) struct Answer {
    pub(super) image: String,
    pub(super) is_conflict: bool,
    pub(super) doubt: &'static str,
}

pub(super) fn answer(cluster: &Cluster, levels: &[&Level]) -> Answer {
    let level = levels
        .iter()
        .fold(Level::default(), |below, own| over(below, own));
    let selector = level
        .selector
        .clone()
        .flatten()
        .filter(|terms| !terms.is_empty());
    let key = level.key.map_or("", |(_, key)| key);
    let image = match &selector {
        Some(terms) => select(cluster, terms, key),
        None if cluster.images.contains_key(key) => key.to_owned(),
        None if !key.is_empty() => format!("(unknown) {key}"),
        None if level.url.is_some_and(|url| !url.is_empty()) => "(url)".to_owned(),
        None => "(nothing)".to_owned(),
    };
    let chosen = cluster.images.get(&image);
    let agrees = chosen.is_some() && level.url.is_none_or(str::is_empty);
    Answer {
        is_conflict: image.starts_with("(disagree)") || (level.ways() > 1 && !agrees),
        doubt: chosen.map_or("", |image| doubt(cluster, image)),
        image,
    }
}

/// A level over those below it: maps deeply, all else replaced; the two spellings of the key are one setting.
fn over(below: Level, own: &Level) -> Level {
    let selector = match (below.selector, own.selector.clone()) {
        (Some(Some(mut terms)), Some(Some(more))) => {
            terms.extend(more);
            Some(Some(terms))
        }
        (below, own) => own.or(below),
    };
    Level {
        key: own.key.or(below.key),
        selector,
        url: own.url.or(below.url),
    }
}

fn select(cluster: &Cluster, written: &Terms, key: &str) -> String {
    let known = [
        "os",
        "os-release",
        "hardened",
        "flavor",
        "commit-tag",
        "k8s-flavor",
        "k8s-version",
        "_os_images_key_",
    ];
    let flavor = match cluster.bootstrap {
        "cabpk" => Some("kubeadm"),
        "cabpr" => Some("rke2"),
        _ => None,
    };
    let refused = written
        .iter()
        .any(|(name, pattern)| !known.contains(name) || matches!(pattern, Pattern::Number));
    let (Some(version), Some(flavor), false) = (cluster.version, flavor, refused) else {
        return "(invalid)".to_owned();
    };
    let mut terms = written.clone();
    terms
        .entry("k8s-version")
        .or_insert(Pattern::Text(version.strip_prefix('v').unwrap_or(version)));
    terms.entry("k8s-flavor").or_insert(Pattern::Text(flavor));
    let mut fits: [Vec<&str>; 2] = Default::default();
    for (key, image) in &cluster.images {
        match if cluster.exact {
            exactly(key, image, &terms)
        } else {
            Ok(loosely(key, image, &terms))
        } {
            Ok(Fit::Sure) => fits[0].push(key),
            Ok(Fit::Possible) => fits[1].push(key),
            Ok(Fit::No) => {}
            Err(()) => return "(invalid)".to_owned(),
        }
    }
    let [sure, possible] = fits;
    match if sure.is_empty() { &*possible } else { &*sure } {
        [] => "(none)".to_owned(),
        [only] if key.is_empty() || key == *only => (*only).to_owned(),
        [only] => format!("(disagree) {key} / {only}"),
        several => format!("(several) {}", several.join(" ")),
    }
}

enum Fit {
    No,
    Possible,
    Sure,
}

/// As Sylva does it, in the order of the facts' names: a number stops everything, a missing fact is the text `//unset`. A
/// name stands for what it promises only while nothing else is known.
fn exactly(key: &str, image: &Image, terms: &Terms) -> Result<Fit, ()> {
    let facts = if image.facts.is_empty() {
        &image.name
    } else {
        &image.facts
    };
    for (name, pattern) in terms {
        if image.number == Some(name) {
            return Err(());
        }
        let text = facts.get(name).map_or("//unset", |text| text);
        let text = if *name == "_os_images_key_" {
            key
        } else {
            text
        };
        if !matches(pattern, text) {
            return Ok(Fit::No);
        }
    }
    Ok(Fit::Sure)
}

/// As metalmark does it: versions in any spelling, names where nothing stronger is known; a name's version is possible only.
fn loosely(key: &str, image: &Image, terms: &Terms) -> Fit {
    let mut fit = Fit::Sure;
    for (name, pattern) in terms {
        let own = image.facts.get(name);
        let text = own.or(image.name.get(name)).map(|text| &**text);
        let is_right = match (*name, text, pattern) {
            ("_os_images_key_", ..) => matches(pattern, key),
            (_, None, _) => matches(pattern, "//unset"),
            ("k8s-version", Some(text), Pattern::Text(wanted)) if numbers(wanted) == 3 => {
                same(text, wanted) || (own.is_none() && says_less(text, wanted))
            }
            ("k8s-version", Some(text), _) => {
                let plus = canonical(text);
                let dash = plus.replace('+', "-");
                [format!("v{plus}"), format!("v{dash}"), plus, dash]
                    .iter()
                    .any(|text| matches(pattern, text))
            }
            (_, Some(text), _) => matches(pattern, text),
        };
        match (
            is_right,
            *name == "k8s-version" && own.is_none() && text.is_some(),
        ) {
            (false, _) => return Fit::No,
            (true, true) => fit = Fit::Possible,
            (true, false) => {}
        }
    }
    fit
}

fn matches(pattern: &Pattern, text: &str) -> bool {
    match pattern {
        Pattern::Bool(flag) => text == flag.to_string(),
        Pattern::Text(wanted) => text == *wanted,
        Pattern::OneOf(texts) => texts.contains(&text),
        Pattern::Starts(start) => text.starts_with(start),
        Pattern::Anything => true,
        Pattern::Number => false,
    }
}

/// What is wrong with an image for the cluster's version: nothing, another version, or how little is known.
fn doubt(cluster: &Cluster, image: &Image) -> &'static str {
    let own = image.facts.get("k8s-version");
    let (Some(wanted), held) = (cluster.version, own.or(image.name.get("k8s-version"))) else {
        return "";
    };
    let Some(held) = held else { return "unproven" };
    let is_name = own.is_none();
    let bare = wanted.strip_prefix('v').unwrap_or(wanted);
    match () {
        () if cluster.exact && !is_name && held != bare => "mismatch",
        () if !same(held, wanted) && !says_less(held, wanted) && !says_less(wanted, held) => {
            "mismatch"
        }
        () if numbers(held) < 3 || numbers(wanted) < 3 => "unproven",
        () if is_name || !same(held, wanted) => "unproven, mild",
        () => "",
    }
}

/// Without `v`, the build behind `+`.
fn canonical(version: &str) -> String {
    version.trim_start_matches('v').replace("-rke2", "+rke2")
}

fn same(left: &str, right: &str) -> bool {
    canonical(left) == canonical(right)
}

fn numbers(version: &str) -> usize {
    canonical(version)
        .split('+')
        .next()
        .map_or(0, |numbers| numbers.split('.').count())
}

/// Whether all that one version says is true of the other, which says more.
fn says_less(less: &str, more: &str) -> bool {
    let (less, more) = (canonical(less), canonical(more));
    let release = more.split('+').next().unwrap_or_default();
    !less.contains('+')
        && (less == release
            || release
                .strip_prefix(&*less)
                .is_some_and(|rest| rest.starts_with('.')))
}
