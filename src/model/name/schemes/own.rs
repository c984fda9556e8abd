//! The naming schemes of a project: forms, by which names are built too, and regular expressions.

use go_template::regexp::{Regexp, TwoReadings, find_two_readings};

use super::super::NameFacts;
use super::super::template::{EXTENSION, FILE, Token, pattern, tokens};
use super::{facts, is_part};

/// A naming scheme of the project: a regular expression whose groups are called as the parts of [`super::Scheme`]s.
#[derive(Clone, Debug)]
pub struct OwnScheme {
    /// As the project file has it.
    pub text: String,
    regexp: Regexp,
}

/// What the parts of a form hold, if nothing else is said.
const PARTS: &[(&str, &str)] = &[
    ("arch", "amd64|arm64|x86[_-]64"),
    ("builder", r"v?\d+(?:\.\d+)+"),
    ("channel", "stable|beta|alpha|lts|streams?-?"),
    ("commit", "[0-9a-f]{7,40}"),
    ("compression", "gz|bz2|xz|zst"),
    ("firmware", "bios|efi|uki"),
    ("flavor", "plain|hardened|cis|fips"),
    ("format", "qcow2|raw|iso|ova|ovf|vmdk|vhd|vdi"),
    (
        "k8s",
        r"(?:1\.\d{2}(?:\.\d{1,3})?|1-\d{2}(?:-\d{1,3})?)(?:-(?:rc|alpha|beta)\.?\d+)?(?:[+-](?:rke2r\d+|k3s\d+|k0s\.\d+|eks-(?:d-)?1-\d+-\d+))?",
    ),
    ("k8s_flavor", "rke2|kubeadm|k3s|k0s|ck8s|eks"),
    ("os", "[A-Za-z]+"),
    ("platform", "[a-z]+"),
    ("release", RELEASES[0]),
    ("schematic", "[0-9a-f]{64}"),
    ("sysext", "[a-z]+"),
    ("timestamp", r"\d{8,14}"),
    ("variant", "[a-z][a-z0-9]*"),
    ("version", r"\d+(?:[.-]\d+){0,2}"),
];

/// What a release is in a form: a codename too, where it cannot be what is beside it.
const RELEASES: [&str; 2] = [r"[a-z]+|\d+(?:[.-]\d+){0,2}", r"\d+(?:[.-]\d+){0,2}"];

impl OwnScheme {
    /// The scheme of a form, or of a regular expression of whole names. An extension of files may follow the names.
    ///
    /// # Errors
    /// It is neither, has no part, one that names do not have, or parts that one name may share in two ways; the message is one clause.
    pub fn new(text: &str) -> Result<Self, String> {
        let is_word = |part: &str| part.starts_with(|first: char| first.is_ascii_lowercase());
        // A form has no escapes.
        if !text.contains('\\') && parts(text).any(is_word) {
            return Self::from_form(text);
        }
        let own = Regexp::new(text).map_err(|error| error.to_string())?;
        let others = ["raw", "suffixes"];
        check_parts(own.group_names(), |group| {
            is_part(group) || others.contains(&group)
        })?;
        Self::from_pattern(text, &format!("^(?:{text}){EXTENSION}$"))
    }

    /// The scheme of a form: `{part}` is a part of names, `[…]` may be left out.
    ///
    /// # Errors
    /// As of [`Self::new`].
    pub(in super::super) fn from_form(form: &str) -> Result<Self, String> {
        if form.contains("(?") {
            return Err("it is half a form and half a regular expression".to_owned());
        }
        check_parts(parts(form), |part| {
            part == FILE || PARTS.iter().any(|it| it.0 == part)
        })?;
        let mut open = 0_usize;
        for token in tokens(form) {
            match token {
                Token::Open => open += 1,
                Token::Close => open = open.checked_sub(1).ok_or("a `]` closes nothing")?,
                _ => {}
            }
        }
        if open > 0 {
            return Err("a `[` is not closed".to_owned());
        }
        let has_extension = parts(form).any(|part| [FILE, "format", "compression"].contains(&part));
        let whole = if has_extension {
            form.to_owned()
        } else {
            format!("{form}{{{FILE}}}")
        };
        let [words, numbers] = RELEASES.map(|release| {
            let parts: Vec<_> = [("release", release)]
                .iter()
                .chain(PARTS)
                .copied()
                .collect();
            Self::from_pattern(form, &pattern(&whole, &parts))
        });
        words.or(numbers)
    }

    /// The law of every scheme: what is built of parts is read as the same parts.
    fn from_pattern(text: &str, pattern: &str) -> Result<Self, String> {
        let regexp = Regexp::new(pattern).map_err(|error| error.to_string())?;
        match find_two_readings(pattern, &["raw", "suffixes"]).map_err(|error| error.to_string())? {
            None => Ok(Self {
                text: text.to_owned(),
                regexp,
            }),
            Some(TwoReadings {
                text,
                group,
                one,
                other,
            }) => Err(format!(
                "its parts are ambiguous: `{group}` of `{text}` may be `{one}` or `{other}`"
            )),
        }
    }

    pub(in super::super) fn read(&self, name: &str) -> Option<NameFacts> {
        facts("names", &self.regexp.groups_by_name(name)?)
    }
}

/// The parts of a form.
fn parts(form: &str) -> impl Iterator<Item = &str> {
    tokens(form).into_iter().filter_map(|token| match token {
        Token::Part(part) => Some(part),
        _ => None,
    })
}

/// Refuses a scheme that has no part, or one that names do not have.
fn check_parts<'t>(
    parts: impl Iterator<Item = &'t str>,
    is_part: impl Fn(&str) -> bool,
) -> Result<(), String> {
    let parts: Vec<&str> = parts.collect();
    if parts.is_empty() {
        return Err("it has no part such as `{k8s}`".to_owned());
    }
    match parts.into_iter().find(|part| !is_part(part)) {
        None => Ok(()),
        Some(part) => {
            let known: Vec<String> = PARTS.iter().map(|(part, _)| format!("`{part}`")).collect();
            Err(format!(
                "a name has no part `{part}`, only {}",
                known.join(", ")
            ))
        }
    }
}
