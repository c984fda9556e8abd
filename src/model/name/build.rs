//! Builds names: of a form and the facts of an image, every name that they may mean, the most usual spelling first.

use capi::image::{Facts, fact};

use super::release::Release;
use super::schemes::{OwnScheme, Scheme};
use super::template::{FILE, Token, tokens};
use super::{NameFacts, same_value};
use crate::model::version::Version;

/// The most names of one form that are tried: every spelling of each part.
const MOST: usize = 20_000;

/// What names are built by: a scheme's forms, or one of a person's.
pub struct NameBuilder<'f> {
    forms: Vec<&'f str>,
    reader: Reader,
}

/// What reads the names that are built.
enum Reader {
    Scheme(&'static Scheme),
    Form(OwnScheme),
}

impl<'f> NameBuilder<'f> {
    /// By the forms of a built-in scheme.
    pub fn from_scheme(scheme: &'static Scheme) -> Self {
        Self {
            forms: scheme.forms.to_vec(),
            reader: Reader::Scheme(scheme),
        }
    }

    /// By a form: `{part}` is a part of names, `[…]` may be left out.
    ///
    /// # Errors
    /// It names no part, one that names do not have, or parts that one name may share in two ways; the message is one clause.
    pub fn from_form(form: &'f str) -> Result<Self, String> {
        Ok(Self {
            forms: vec![form],
            reader: Reader::Form(OwnScheme::from_form(form)?),
        })
    }

    /// The names of an image with these facts, in the order of how usual they are.
    ///
    /// # Errors
    /// Each form has a part that nothing is known of: the first form's, which is no option.
    pub fn names(&self, facts: &Facts) -> Result<Vec<String>, &'f str> {
        let mut lacking = None;
        let mut names = Vec::new();
        for form in &self.forms {
            match self.names_of_form(form, facts) {
                Ok(more) => names.extend(more),
                Err(part) => {
                    lacking.get_or_insert(part);
                }
            }
        }
        match lacking {
            Some(part) if names.is_empty() => Err(part),
            _ => Ok(names),
        }
    }

    fn names_of_form(&self, form: &'f str, facts: &Facts) -> Result<Vec<String>, &'f str> {
        // Each open option keeps the names as they were before it, and whether all of its parts are known.
        let (mut names, mut options) = (vec![String::new()], Vec::new());
        let mut lacking = None;
        for token in tokens(form) {
            let spellings = match token {
                Token::Literal(text) => vec![text.to_owned()],
                Token::Part(part) => self.spellings(part, facts),
                Token::Open => {
                    options.push((names.clone(), lacking));
                    continue;
                }
                Token::Close => {
                    if let Some((before, known)) = options.pop() {
                        let is_known = std::mem::replace(&mut lacking, known) == known;
                        names = if is_known {
                            names.into_iter().chain(before).collect()
                        } else {
                            before
                        };
                    }
                    continue;
                }
            };
            if let (true, Token::Part(part)) = (spellings.is_empty(), token) {
                lacking = lacking.or(Some(part));
                continue;
            }
            names = names
                .iter()
                .flat_map(|name| spellings.iter().map(move |more| format!("{name}{more}")))
                .take(MOST)
                .collect();
        }
        match lacking {
            Some(part) => Err(part),
            None => Ok(names),
        }
    }

    /// How a part may be written; nothing where nothing is known of it.
    fn spellings(&self, part: &str, facts: &Facts) -> Vec<String> {
        let text = |name: &str| facts.text(name).map(str::to_owned);
        let known = match part {
            "k8s" => return text(fact::K8S_VERSION).map_or_else(Vec::new, |it| versions(&it)),
            "release" | "version" => {
                let os = facts.text(fact::OS);
                return text(fact::OS_RELEASE).map_or_else(Vec::new, |it| releases(os, &it));
            }
            FILE => return files(facts),
            "os" => {
                let os = text(fact::OS).unwrap_or_default();
                let mut letters = os.chars();
                let first = letters.next().map(|it| it.to_ascii_uppercase());
                let title: String = first.into_iter().chain(letters).collect();
                let all = [os.clone(), os.to_ascii_uppercase(), title];
                return all.into_iter().filter(|it| !it.is_empty()).collect();
            }
            "arch" => match facts.text(fact::ARCH) {
                Some("amd64") => {
                    return ["amd64", "x86_64", "x86-64"].map(str::to_owned).to_vec();
                }
                arch => arch.map(str::to_owned),
            },
            "flavor" => text(fact::FLAVOR).or_else(|| {
                let is_hardened = facts.text(fact::HARDENED)? == "true";
                Some(if is_hardened { "hardened" } else { "plain" }.to_owned())
            }),
            "k8s_flavor" => text(fact::K8S_FLAVOR),
            "channel" => {
                let all =
                    text(fact::OS_CHANNEL).map(|it| [format!("{it}s"), format!("{it}s-"), it]);
                return all.into_iter().flatten().rev().collect();
            }
            "builder" => text(fact::COMMIT_TAG),
            "format" => text(fact::IMAGE_FORMAT),
            "compression" => text(fact::COMPRESSION),
            "firmware" => match facts.text(fact::FIRMWARE) {
                Some("efi") => return ["efi", "uki"].map(str::to_owned).to_vec(),
                firmware => firmware.map(str::to_owned),
            },
            "platform" => text(fact::PLATFORM),
            "variant" => text(fact::VARIANT),
            "timestamp" => text(fact::BUILD_TIMESTAMP),
            "commit" => text(fact::COMMIT_ID),
            "schematic" => text(fact::SCHEMATIC),
            "sysext" => text(fact::SYSEXTS),
            // What is no fact is written as in the names that the scheme was made from.
            part => {
                return match &self.reader {
                    Reader::Scheme(scheme) => scheme.example_texts(part),
                    Reader::Form(_) => Vec::new(),
                };
            }
        };
        known.into_iter().collect()
    }

    /// What a name says, if the builder's scheme or form reads it.
    pub fn read(&self, name: &str) -> Option<NameFacts> {
        match &self.reader {
            Reader::Scheme(scheme) => scheme.read(name),
            Reader::Form(form) => form.read(name),
        }
    }

    /// The form that names are built by, if it is no built-in scheme.
    pub fn own_form(&self) -> Option<&'f str> {
        match self.reader {
            Reader::Scheme(_) => None,
            Reader::Form(_) => self.forms.first().copied(),
        }
    }
}

/// What a name says of an image that is not so.
pub struct Difference {
    /// The fact.
    pub fact: String,
    /// What the name says.
    pub said: String,
    /// What the image has.
    pub own: String,
}

impl Difference {
    /// The first fact that a name and an image do not share; one that either does not state is none.
    pub fn find(said: &Facts, image: &Facts) -> Option<Self> {
        said.iter().find_map(|(name, said)| {
            let own = image.text(name)?;
            let is_same = if **name == *fact::K8S_VERSION {
                let version = Version::parse(&said.value)?;
                Version::parse(own).is_some_and(|own| version.admits(&own))
            } else {
                same_value(name, image.text(fact::OS), &said.value, own)
            };
            (!is_same).then(|| Self {
                fact: name.to_string(),
                said: said.value.to_string(),
                own: own.to_owned(),
            })
        })
    }
}

/// `1.31.8+rke2r1` with its build and without, with dots and with dashes.
fn versions(text: &str) -> Vec<String> {
    let text = text.strip_prefix('v').unwrap_or(text);
    let (release, _) = text.split_once('+').unwrap_or((text, ""));
    // `1.28.11-rc.3` is `rc3` too.
    let short = match release.split_once('-') {
        Some((numbers, prerelease)) => format!("{numbers}-{}", prerelease.replace('.', "")),
        None => release.to_owned(),
    };
    let minor = release.match_indices('.').nth(1);
    let minor = minor.map(|(at, _)| release[..at].to_owned());
    let dashes = |text: &str| text.replace('.', "-");
    let mut all = vec![
        text.to_owned(),
        text.replace('+', "-"),
        text.replace("+eks-", "-eks-d-"),
        release.to_owned(),
        dashes(&short),
    ];
    all.extend(minor.into_iter().flat_map(|minor| [dashes(&minor), minor]));
    deduplicate(all)
}

/// `noble`, `24.04`, `2404`, `24-04`.
fn releases(os: Option<&str>, text: &str) -> Vec<String> {
    let release = Release::read(os, text);
    let mut all = vec![text.to_owned()];
    all.extend(release.codename);
    if let Some(number) = release.version {
        let spelled = ["", "-"].map(|dot| number.replace('.', dot));
        all.push(number);
        all.extend(spelled);
    }
    deduplicate(all)
}

/// The extensions of a file, the whole one first. Some say nothing of the format.
fn files(facts: &Facts) -> Vec<String> {
    let formats: Vec<String> = match facts.text(fact::IMAGE_FORMAT) {
        Some("raw") => vec![".raw".to_owned(), "-raw.img".to_owned()],
        Some(format) => vec![format!(".{format}")],
        None => ["", ".img", ".tar"].map(str::to_owned).to_vec(),
    };
    let compression = match facts.text(fact::COMPRESSION) {
        None | Some("none") => String::new(),
        Some("gzip") => ".gz".to_owned(),
        Some(compression) => format!(".{compression}"),
    };
    let whole = formats
        .iter()
        .map(|format| format!("{format}{compression}"));
    let all = whole.chain(formats.iter().cloned()).chain([String::new()]);
    deduplicate(all.collect())
}

fn deduplicate(all: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for text in all {
        if !kept.contains(&text) {
            kept.push(text);
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use capi::image::{Facts, Origin};
    use yaml_tree::place::Place;

    use super::{Difference, NameBuilder};
    use crate::model::name::{NameFacts, SCHEMES};

    fn facts(pairs: &[(&str, &str)]) -> Facts {
        let pairs = pairs.iter();
        Facts::new(
            Origin::Values,
            pairs.map(|(name, value)| (*name, *value, Place::NONE)),
        )
    }

    /// The real names that the schemes were made from are among those that their own facts make.
    #[test]
    fn a_scheme_builds_its_examples() {
        for scheme in SCHEMES {
            for (name, _) in scheme.examples {
                let read = NameFacts::parse(name).expect("an example");
                let builder = NameBuilder::from_scheme(scheme);
                let names = builder.names(&read.into()).expect(name);
                assert!(
                    names.iter().any(|built| built == name),
                    "{}: {name} is not in {:?}",
                    scheme.id,
                    &names[..names.len().min(10)]
                );
            }
        }
    }

    #[test]
    fn what_is_not_known_is_left_out_or_missing() {
        let builder =
            NameBuilder::from_form("{os}[-{channel}][-{release}-{arch}]-v{k8s}").expect("a form");
        let known = [
            ("os", "ubuntu"),
            ("os-channel", "lts"),
            ("k8s-version", "v1.31.8"),
        ];
        let names = builder.names(&facts(&known)).expect("names");
        let lower = names.iter().filter(|name| name.starts_with("ubuntu"));
        let lower: Vec<&String> = lower.collect();
        assert_eq!(lower[0], "ubuntu-lts-v1.31.8");
        assert!(names.iter().any(|name| name == "Ubuntu-v1-31"));
        assert!(names.iter().all(|name| !name.ends_with("-v")));
        assert_eq!(builder.names(&facts(&known[..2])), Err("k8s"));
    }

    #[test]
    fn a_form_has_known_parts() {
        let fault = |form: &str| {
            NameBuilder::from_form(form)
                .map(|_| ())
                .expect_err("no form")
        };
        assert_eq!(fault("golden"), "it has no part such as `{k8s}`");
        let unknown = fault("golden-{version}-{kubernetes}");
        assert!(
            unknown.starts_with("a name has no part `kubernetes`, only `arch`, "),
            "{unknown}"
        );
    }

    #[test]
    fn a_name_differs_by_the_first_fact_that_both_state() {
        let image = facts(&[
            ("os", "ubuntu"),
            ("os-release", "noble"),
            ("k8s-version", "1.31.8+rke2r1"),
        ]);
        for (said, other) in [
            (
                &[
                    ("os-release", "24.04"),
                    ("arch", "arm64"),
                    ("k8s-version", "1.31"),
                ][..],
                None,
            ),
            (&[("os-release", "22.04")], Some("os-release 22.04 noble")),
            (
                &[("k8s-version", "1.31.9")],
                Some("k8s-version 1.31.9 1.31.8+rke2r1"),
            ),
        ] {
            let found = Difference::find(&facts(said), &image);
            let found = found.map(|it| format!("{} {} {}", it.fact, it.said, it.own));
            assert_eq!(found.as_deref(), other);
        }
    }
}
