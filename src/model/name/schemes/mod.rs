//! The naming schemes of published machine images: one entry each, with the real names that it was written from.
//!
//! A scheme is written down once, as a form with parts, and read both ways: a name becomes facts, facts become a name. A
//! new scheme is one more entry.

mod clouds;
mod distributions;
mod image_builder;
mod metal3;
mod sylva;

use std::sync::LazyLock;

use super::template::{self, Part, Spelling};
use super::{NameFacts, Release};
use crate::model::version::Version;
use crate::regexp::Regexp;

/// One way to name images.
#[derive(Debug)]
pub struct Scheme {
    /// A short name for messages.
    pub id: &'static str,
    /// The forms of names; a scheme for two kinds of images has two.
    forms: &'static [&'static str],
    /// The parts that the forms name.
    parts: &'static [Part],
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
    /// The scheme of that id.
    pub fn named(id: &str) -> Option<&'static Self> {
        SCHEMES.iter().find(|scheme| scheme.id == id)
    }

    /// What a name says, if it follows this scheme.
    pub fn read(&self, name: &str) -> Option<NameFacts> {
        let forms = COMPILED.iter().filter(|form| form.scheme == self.id);
        let groups = forms.filter_map(|form| form.groups(name)).next()?;
        self.meant(&groups)
    }

    /// The name that says these facts, all of them and no others; none where this scheme has no such name.
    pub fn name(&self, facts: &NameFacts) -> Option<String> {
        self.written(facts)
            .filter(|name| self.read(name).as_ref() == Some(facts))
    }

    /// The name by the forms alone, whether or not their patterns take such facts.
    pub(super) fn written(&self, facts: &NameFacts) -> Option<String> {
        let written = |form: &&str| template::write(form, self.parts, facts);
        self.forms.iter().find_map(written)
    }

    /// Whether its names have such a part.
    pub(super) fn has(&self, part: &str) -> bool {
        let in_file = matches!(part, "format" | "compression");
        let named = |form: &&str| form.contains(&format!("{{{part}}}"));
        self.forms.iter().any(named)
            || (in_file && self.forms.iter().any(|form| form.contains("{file}")))
    }

    /// The facts behind what a pattern's groups matched; none where the version is none.
    fn meant(&self, groups: &[(&str, &str)]) -> Option<NameFacts> {
        let mut facts = NameFacts {
            scheme: self.id,
            ..NameFacts::default()
        };
        for (part, text) in groups {
            let spelling = self.parts.iter().find(|known| known.0 == *part);
            let meant = spelling.map_or_else(
                || (*text).to_owned(),
                |known| template::meant(known.2, text),
            );
            match *part {
                "k8s" => facts.k8s_version = Some(Version::parse(&meant)?),
                // The system is learned before its release wherever both are known.
                "release" | "suffixes" | "raw" => {}
                "format" if matches!(&*meant, "img" | "tar") => {}
                part => {
                    if let Some(word) = facts.word_mut(part) {
                        *word = Some(meant);
                    }
                }
            }
        }
        let group = |name: &str| groups.iter().find(|(group, _)| *group == name);
        if group("raw").is_some() {
            facts.image_format = Some("raw".to_owned());
        }
        if let Some((_, suffixes)) = group("suffixes") {
            let known = |suffix: &&str| matches!(*suffix, "gz" | "bz2" | "xz" | "zst");
            facts.compression = suffixes.split('.').find(known).map(str::to_owned);
        }
        facts.release = group("release").map(|(_, text)| self.release(&facts, text));
        Some(facts)
    }

    fn release(&self, facts: &NameFacts, text: &str) -> Release {
        let part = self.parts.iter().find(|part| part.0 == "release");
        match part.map(|part| part.2) {
            Some(Spelling::Exact) => Release {
                codename: None,
                version: Some(text.to_owned()),
            },
            _ => Release::read(facts.os.as_deref(), text),
        }
    }
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
        self.regexp.named_groups(name)
    }
}

static COMPILED: LazyLock<Vec<Form>> = LazyLock::new(|| {
    let forms =
        |scheme: &'static Scheme| scheme.forms.iter().map(move |form| Form::new(scheme, form));
    SCHEMES.iter().flat_map(forms).collect()
});
