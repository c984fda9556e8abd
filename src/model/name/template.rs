//! A naming scheme written down once and read both ways: `{part}` is a part of the name, `[…]` may be left out.

use std::fmt::Write;

use super::{NameFacts, Release};
use crate::model::version::Version;

/// The part of a name that is its file extension; it holds format and compression.
const FILE: &str = "file";

/// Any extension that image files and the checksum files beside them have. `.img` and `.tar` say nothing of the format.
const EXTENSION: &str = r"(?:(?:\.(?<format>qcow2|raw|img|iso|ova|ovf|vmdk|vhd|tar|vdi))?(?<suffixes>(?:\.(?:gz|bz2|xz|zst|sha256sum|md5sum))*)|(?<raw>-raw\.img)(?:\.(?:md5sum|sha256sum))?)";

/// A part of a scheme's names: what it is called, what it may hold (a pattern) and how it is spelled.
#[derive(Debug)]
pub(super) struct Part(
    pub(super) &'static str,
    pub(super) &'static str,
    pub(super) Spelling,
);

/// How a part of a name is spelled.
#[derive(Clone, Copy, Debug)]
pub(super) enum Spelling {
    /// As the fact itself.
    Plain,
    /// In capitals.
    Upper,
    /// With a capital letter first.
    Title,
    /// These words, and what each means.
    Words(&'static [(&'static str, &'static str)]),
    /// An architecture; this word for `amd64`.
    Arch(&'static str),
    /// A release: its codename, else its number with dashes.
    Codename,
    /// A release: its number, else its codename.
    Number,
    /// A release: its number, a year and month without their dot (`2404`).
    Squeezed,
    /// A release: its number with dashes.
    Dashed,
    /// A release that is never spelled otherwise.
    Exact,
    /// A Kubernetes version with this character between its numbers.
    K8s(char),
    /// It says nothing; this is written.
    Fixed(&'static str),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Literal(&'a str),
    Part(&'a str),
    Open,
    Close,
}

/// The regular expression that matches the whole of a name of this form.
pub(super) fn pattern(form: &str, parts: &[Part]) -> String {
    let mut pattern = String::from("^(?:");
    for token in tokens(form) {
        match token {
            Token::Literal(text) => text.chars().for_each(|c| {
                if r"\.+*?()|[]{}^$".contains(c) {
                    pattern.push('\\');
                }
                pattern.push(c);
            }),
            Token::Part(FILE) => pattern.push_str(EXTENSION),
            Token::Part(name) => {
                let part = parts.iter().find(|part| part.0 == name);
                let held = part.map_or("", |part| part.1);
                // A pattern is never longer than memory: writing to a string cannot fail.
                let _ = write!(pattern, "(?<{name}>{held})");
            }
            Token::Open => pattern.push_str("(?:"),
            Token::Close => pattern.push_str(")?"),
        }
    }
    pattern.push_str(")$");
    pattern
}

/// The texts that every name of this form has, in their order: what is looked for before a pattern is compiled at all.
pub(super) fn landmarks(form: &'static str) -> Vec<&'static str> {
    let mut depth = 0;
    let mut found = Vec::new();
    for token in tokens(form) {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            Token::Literal(text) if depth == 0 => found.push(text),
            _ => {}
        }
    }
    found
}

/// The name of this form that says these facts, all of them and nothing else; none where the form has no room for one.
pub(super) fn write(form: &str, parts: &[Part], facts: &NameFacts) -> Option<String> {
    let tokens = tokens(form);
    let mut writer = Writer {
        parts,
        facts,
        name: String::new(),
        said: Vec::new(),
    };
    let rest = writer.group(&tokens)?;
    let everything = facts.parts().iter().all(|part| writer.said.contains(part));
    (rest.is_empty() && everything).then_some(writer.name)
}

struct Writer<'a> {
    parts: &'a [Part],
    facts: &'a NameFacts,
    name: String,
    said: Vec<&'static str>,
}

impl Writer<'_> {
    /// Writes up to the end of a group and returns what follows it; none where a part has no fact to say.
    fn group<'t>(&mut self, mut tokens: &'t [Token<'t>]) -> Option<&'t [Token<'t>]> {
        while let Some((token, rest)) = tokens.split_first() {
            tokens = rest;
            match token {
                Token::Literal(text) => self.name.push_str(text),
                Token::Part(FILE) => self.extension(),
                Token::Part(name) => self.part(name)?,
                Token::Close => return Some(tokens),
                Token::Open => {
                    let (length, said) = (self.name.len(), self.said.len());
                    let rest = self.group(tokens);
                    if rest.is_none() || self.said.len() == said {
                        self.name.truncate(length);
                        self.said.truncate(said);
                    }
                    tokens = rest.unwrap_or_else(|| behind_group(tokens));
                }
            }
        }
        Some(tokens)
    }

    fn part(&mut self, name: &str) -> Option<()> {
        let part = self.parts.iter().find(|part| part.0 == name)?;
        if let Spelling::Fixed(text) = part.2 {
            self.name.push_str(text);
            return Some(());
        }
        let text = spelled(part.2, name, self.facts)?;
        self.name.push_str(&text);
        self.said.push(part.0);
        Some(())
    }

    fn extension(&mut self) {
        for (part, text) in [
            ("format", &self.facts.image_format),
            ("compression", &self.facts.compression),
        ] {
            if let Some(text) = text {
                self.name.push('.');
                self.name.push_str(text);
                self.said.push(part);
            }
        }
    }
}

fn behind_group<'t>(tokens: &'t [Token<'t>]) -> &'t [Token<'t>] {
    let mut depth = 1;
    for (index, token) in tokens.iter().enumerate() {
        match token {
            Token::Open => depth += 1,
            Token::Close => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &tokens[index + 1..];
        }
    }
    &[]
}

/// What a part's text means.
pub(super) fn meant(spelling: Spelling, text: &str) -> String {
    match spelling {
        Spelling::Upper | Spelling::Title => text.to_ascii_lowercase(),
        Spelling::Arch(_) => super::architecture(text).to_owned(),
        Spelling::Words(words) => {
            let word = words.iter().find(|(written, _)| *written == text);
            word.map_or(text, |(_, meant)| *meant).to_owned()
        }
        _ => text.to_owned(),
    }
}

/// The text of a part; none where nothing is known of it.
fn spelled(spelling: Spelling, part: &str, facts: &NameFacts) -> Option<String> {
    let number = |release: &Release| release.version.clone();
    let release = facts.release.as_ref();
    match spelling {
        Spelling::Codename => release.and_then(|release| {
            let dashed = || Some(release.version.as_ref()?.replace('.', "-"));
            release.codename.clone().or_else(dashed)
        }),
        Spelling::Number => release.and_then(|release| {
            let codename = || release.codename.clone();
            number(release).or_else(codename)
        }),
        Spelling::Squeezed => number(release?).map(|number| {
            let without = number.replace('.', "");
            if super::release::is_year_and_month(&without) && number.find('.') == Some(2) {
                without
            } else {
                number
            }
        }),
        Spelling::Dashed => Some(number(release?)?.replace('.', "-")),
        Spelling::Exact => number(release?),
        Spelling::K8s(separator) => facts
            .k8s_version
            .as_ref()
            .map(|version| k8s(version, separator)),
        Spelling::Fixed(text) => Some(text.to_owned()),
        Spelling::Plain => facts.word(part).map(str::to_owned),
        Spelling::Upper => Some(facts.word(part)?.to_ascii_uppercase()),
        Spelling::Title => {
            let word = facts.word(part)?;
            let first = word.chars().next()?.to_ascii_uppercase();
            Some(format!("{first}{}", &word[first.len_utf8()..]))
        }
        Spelling::Arch(amd64) => facts.word(part).map(|arch| match arch {
            "amd64" => amd64.to_owned(),
            other => other.to_owned(),
        }),
        Spelling::Words(words) => {
            let meaning = facts.word(part)?;
            let word = words.iter().find(|(_, meant)| *meant == meaning)?;
            Some(word.0.to_owned())
        }
    }
}

/// `1-28-11-rc3`: a prerelease without its dots, as file names have it.
fn k8s(version: &Version, separator: char) -> String {
    let numbers = [Some(version.major), Some(version.minor), version.patch];
    let numbers: Vec<String> = numbers.iter().flatten().map(u32::to_string).collect();
    let mut text = numbers.join(&separator.to_string());
    if let Some(prerelease) = &version.prerelease {
        text.push('-');
        text.push_str(&prerelease.replace('.', ""));
    }
    if let Some(build) = &version.build {
        text.push('+');
        text.push_str(build);
    }
    text
}

fn tokens(form: &str) -> Vec<Token<'_>> {
    let mut tokens = Vec::new();
    let mut rest = form;
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '[' => (Token::Open, 1),
            ']' => (Token::Close, 1),
            '{' => {
                let end = rest.find('}').unwrap_or(rest.len() - 1);
                (Token::Part(&rest[1..end]), end + 1)
            }
            _ => {
                let end = rest.find(['[', ']', '{']).unwrap_or(rest.len());
                (Token::Literal(&rest[..end]), end)
            }
        };
        tokens.push(token);
        rest = &rest[length..];
    }
    tokens
}

#[cfg(test)]
mod tests {
    use super::{Part, Spelling, landmarks, pattern, write};
    use crate::model::name::NameFacts;

    const PARTS: &[Part] = &[
        Part("os", "[a-z]+", Spelling::Plain),
        Part("v", "v?", Spelling::Fixed("v")),
        Part("variant", "x|y", Spelling::Words(&[("x", "ex")])),
    ];

    #[test]
    fn a_form_is_a_pattern_and_a_text() {
        let form = "a.b-{os}[-{v}{variant}]";
        assert_eq!(
            pattern(form, PARTS),
            r"^(?:a\.b-(?<os>[a-z]+)(?:-(?<v>v?)(?<variant>x|y))?)$"
        );
        assert_eq!(landmarks(form), ["a.b-"]);
        let mut facts = NameFacts {
            os: Some("debian".into()),
            ..NameFacts::default()
        };
        assert_eq!(write(form, PARTS, &facts).as_deref(), Some("a.b-debian"));
        facts.variant = Some("ex".into());
        assert_eq!(write(form, PARTS, &facts).as_deref(), Some("a.b-debian-vx"));
    }

    #[test]
    fn a_fact_that_the_form_has_no_room_for_makes_no_name() {
        let facts = NameFacts {
            os: Some("debian".into()),
            flavor: Some("plain".into()),
            ..NameFacts::default()
        };
        assert_eq!(write("a-{os}", PARTS, &facts), None);
        assert_eq!(write("a-{os}", PARTS, &NameFacts::default()), None);
    }
}
