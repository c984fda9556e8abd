//! The naming schemes of published machine images: one entry each, with the real names that it was written from.
//!
//! A scheme is a form with parts, and a regular expression is made of it. A new scheme is one more entry.

mod clouds;
mod distributions;
mod image_builder;
mod metal3;
mod own;
mod sylva;

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use go_template::regexp::Regexp;

use super::{NameFacts, Release, architecture, template};
use crate::model::version::Version;
pub use own::OwnScheme;

/// One way to name images.
#[derive(Debug)]
pub struct Scheme {
    /// A short name for messages.
    pub id: &'static str,
    /// The forms of names; a scheme for two kinds of images has two.
    pub forms: &'static [&'static str],
    /// The parts that the forms name, each with the pattern of its text.
    parts: &'static [(&'static str, &'static str)],
    /// Real names and everything that is read from them.
    pub examples: &'static [Example],
}

/// A real name and its facts, as [`NameFacts::facts`] gives them: `fact=value`, with spaces between.
pub type Example = (&'static str, &'static str);

/// Every scheme, Sylva's first; no name fits two.
pub const SCHEMES: &[Scheme] = &[
    sylva::SYLVA_DIB,
    sylva::SYLVA_LEGACY,
    metal3::METAL3,
    clouds::CAPA_AMI,
    image_builder::CLUSTER_API,
    clouds::GCE_FAMILY,
    clouds::CAPIBM,
    image_builder::KUBE,
    distributions::SCS,
    distributions::VEXXHOST,
    clouds::SENTENCE,
    distributions::EKS_ANYWHERE,
    distributions::KAIROS,
    distributions::TALOS,
    distributions::FLATCAR_SYSEXT,
    distributions::NKP,
    distributions::KIND,
];

/// The architectures that names carry.
const ARCH: &str = "arm64|amd64";

impl Scheme {
    /// What a name says, if it follows this scheme.
    pub fn read(&self, name: &str) -> Option<NameFacts> {
        let forms = COMPILED.iter().filter(|form| form.scheme == self.id);
        let groups = forms.filter_map(|form| form.groups(name)).next()?;
        facts(self.id, &groups)
    }

    /// The regular expressions of its forms.
    #[cfg(test)]
    pub(super) fn patterns(&self) -> impl Iterator<Item = String> {
        let forms = self.forms.iter();
        forms.map(|form| template::pattern(form, self.parts))
    }

    /// How its examples write a part of their names, the most frequent text first.
    pub(super) fn example_texts(&self, part: &str) -> Vec<String> {
        let forms = COMPILED.iter().filter(|form| form.scheme == self.id);
        let mut counts: BTreeMap<&str, usize> = BTreeMap::from([("", 0)]);
        for form in forms {
            for groups in self.examples.iter().filter_map(|it| form.groups(it.0)) {
                let text = groups.iter().find(|(group, _)| *group == part);
                *counts.entry(text.map_or("", |text| text.1)).or_default() += 1;
            }
        }
        let mut texts: Vec<(&str, usize)> = counts.into_iter().collect();
        texts.sort_by_key(|(_, count)| Reverse(*count));
        texts.into_iter().map(|(text, _)| text.to_owned()).collect()
    }
}

/// Whether a group of a pattern is read.
fn is_part(group: &str) -> bool {
    let others = ["k8s", "release", "version", "raw", "suffixes"];
    others.contains(&group) || NameFacts::default().word_mut(group).is_some()
}

/// The facts of a name of a scheme, by the groups that a pattern matched; none where the Kubernetes version is not valid.
fn facts(scheme: &'static str, groups: &[(&str, &str)]) -> Option<NameFacts> {
    let mut facts = NameFacts {
        scheme,
        ..NameFacts::default()
    };
    let group = |name: &str| Some(groups.iter().find(|(group, _)| *group == name)?.1);
    for (part, text) in groups {
        let value = match (*part, *text) {
            ("k8s", text) => {
                let spelled = text.replace("dot", ".").replace('_', ".");
                facts.k8s_version = Some(Version::parse(&spelled)?);
                continue;
            }
            ("format", "img" | "tar") => continue,
            ("os", text) => text.to_ascii_lowercase(),
            ("arch", text) => architecture(text).to_owned(),
            ("channel", "streams" | "streams-") => "stream".to_owned(),
            // A unified kernel image boots from UEFI alone.
            ("firmware", "uki") => "efi".to_owned(),
            (_, text) => text.to_owned(),
        };
        if let Some(word) = facts.word_mut(part) {
            *word = Some(value);
        }
    }
    if group("raw").is_some() {
        facts.image_format = Some("raw".to_owned());
    }
    if let Some(suffixes) = group("suffixes") {
        let known = |suffix: &&str| matches!(*suffix, "gz" | "bz2" | "xz" | "zst");
        facts.compression = suffixes.split('.').find(known).map(str::to_owned);
    }
    let version = group("version").map(|text| Release {
        codename: None,
        version: Some(text.to_owned()),
    });
    let release = group("release").map(|text| Release::read(facts.os.as_deref(), text));
    facts.release = version.or(release);
    Some(facts)
}

/// A form, ready to match. Patterns are compiled when a name has the form's landmarks, not before: most runs meet the names
/// of one scheme only.
struct Form {
    scheme: &'static str,
    landmarks: Vec<&'static str>,
    regexp: LazyLock<Regexp, Box<dyn FnOnce() -> Regexp + Send>>,
}

impl Form {
    fn new(scheme: &'static Scheme, form: &'static str) -> Self {
        let compile = move || {
            let pattern = template::pattern(form, scheme.parts);
            Regexp::new(&pattern).expect("every scheme's pattern compiles: checked by tests")
        };
        Self {
            scheme: scheme.id,
            landmarks: template::landmarks(form),
            regexp: LazyLock::new(Box::new(compile)),
        }
    }

    /// The parts of a name of this form.
    fn groups<'t>(&self, name: &'t str) -> Option<Vec<(&str, &'t str)>> {
        let mut rest = name;
        for landmark in &self.landmarks {
            let at = rest.find(landmark)?;
            rest = &rest[at + landmark.len()..];
        }
        self.regexp.groups_by_name(name)
    }
}

static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms =
        |scheme: &'static Scheme| scheme.forms.iter().map(move |form| Form::new(scheme, form));
    SCHEMES.iter().flat_map(forms).collect()
});
