//! The texts that no output may show, wherever they come from.
//!
//! A secret is known by its value, not by the file that it was read from: an expression may print it anywhere. Readers add
//! each value of a secrets file, of a Secret and of a credential, and each result of an expression that read one. The
//! [printer](crate::printer) masks them in everything that it prints.
//!
//! One set for the process, as its output streams are: no way from a reader to the printer can lose it. Only the program keeps
//! one ([`keep`]); the library's tests do not influence each other.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::OnceLock;

use parking_lot::Mutex;
use yaml_tree::place::HIDDEN;

/// Texts of fewer bytes are in any sentence.
const SHORTEST: usize = 3;

/// A secret of at least this length is also masked within a word: no ordinary word is that long.
pub const LONG: usize = 8;

/// Values that say nothing, in whatever file they are.
const WORDS: [&str; 9] = [
    "true", "false", "null", "none", "yes", "off", "on", "no", "default",
];

static KNOWN: OnceLock<Mutex<Known>> = OnceLock::new();

/// Starts recording secrets. `own` are words of the program's own output, which are never masked.
pub fn keep(own: impl IntoIterator<Item = &'static str>) {
    let known = Known {
        own: own.into_iter().chain(WORDS).collect(),
        ..Known::default()
    };
    // A second call changes nothing.
    let _ = KNOWN.set(Mutex::new(known));
}

/// Adds a secret. Each of its lines is a secret too, because output is masked line by line.
pub fn learn(text: &str) {
    if let Some(known) = KNOWN.get() {
        let mut known = known.lock();
        known.add(text);
    }
}

/// Says that a text is in a file that everybody reads: then printing it reveals nothing. A value that is a secret
/// is still left out where it is the value itself.
pub fn publish(text: &str) {
    if let Some(known) = KNOWN.get() {
        let mut known = known.lock();
        if !known.public.contains(text) {
            known.public.insert(text.into());
        }
    }
}

/// A text without the known secrets, passwords in URLs, and values that SOPS has encrypted.
pub fn mask(text: &str) -> Cow<'_, str> {
    let masked = match KNOWN.get() {
        Some(known) => {
            let mut known = known.lock();
            known.tidy();
            known.mask(text)
        }
        None => Cow::Borrowed(text),
    };
    let masked = each(masked, "://", user_information);
    each(masked, "ENC[", sops_length)
}

/// Known secrets. A file may have a million of them: each takes little room, and none is compared with all others.
#[derive(Default)]
struct Known {
    /// The words of the program's own output.
    own: HashSet<&'static str>,
    /// The secrets that everybody knows, such as `admin`.
    public: HashSet<Box<str>>,
    /// The first bytes of all, a bit each: most of a text is no secret.
    bytes: [u64; 4],
    /// The short ones, as numbers: masked where they are words of their own, for `a-secret` does not contain the secret
    /// `secret`.
    words: HashSet<u64>,
    /// The first bytes of the long ones, which are masked wherever they are.
    starts: HashSet<u64>,
    /// The long ones, one behind the other.
    text: String,
    /// Where each of them is: in their order as far as they are tidy.
    long: Vec<Long>,
    tidy: usize,
}

/// A long secret.
#[derive(Clone, Copy)]
struct Long {
    start: usize,
    end: usize,
    /// The longest one that this one begins with.
    within: Option<u32>,
}

/// Whether a letter next to a short secret makes it a part of a longer word.
pub fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || matches!(letter, '-' | '_')
}

impl Known {
    fn add(&mut self, text: &str) {
        for line in text.lines().map(str::trim) {
            if line.len() < SHORTEST || self.own.contains(line) {
                continue;
            }
            let number = number(line);
            let first = line.as_bytes()[0];
            self.bytes[usize::from(first >> 6)] |= 1 << (first & 63);
            if line.len() < LONG {
                self.words.insert(number);
                continue;
            }
            self.starts.insert(number);
            let start = self.text.len();
            self.text += line;
            self.long.push(Long {
                start,
                end: self.text.len(),
                within: None,
            });
        }
        // What clusters share is added by each of them.
        if self.long.len() > 2 * self.tidy + 1000 {
            self.tidy();
        }
    }

    /// Sorts the long ones, each once, and notes which begin with which.
    fn tidy(&mut self) {
        if self.tidy == self.long.len() {
            return;
        }
        let old = std::mem::take(&mut self.text);
        let of = |long: &Long| &old[long.start..long.end];
        self.long.sort_unstable_by(|a, b| of(a).cmp(of(b)));
        self.long.dedup_by(|a, b| of(a) == of(b));
        for long in &mut self.long {
            let start = self.text.len();
            self.text += &old[long.start..long.end];
            (long.start, long.end) = (start, self.text.len());
        }
        for index in 1..self.long.len() {
            let mut before = Some(index as u32 - 1);
            while let Some(candidate) = before {
                if self.get(index).starts_with(self.get(candidate as usize)) {
                    break;
                }
                before = self.long[candidate as usize].within;
            }
            self.long[index].within = before;
        }
        self.tidy = self.long.len();
    }

    fn get(&self, index: usize) -> &str {
        &self.text[self.long[index].start..self.long[index].end]
    }

    fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.words.is_empty() && self.long.is_empty() {
            return Cow::Borrowed(text);
        }
        let mut masked = String::new();
        let (mut kept, mut at) = (0, 0);
        let mut before: Option<char> = None;
        while let Some(letter) = text[at..].chars().next() {
            let rest = &text[at..];
            let first = text.as_bytes()[at];
            let may_start = self.bytes[usize::from(first >> 6)] >> (first & 63) & 1 == 1;
            let found = may_start.then(|| self.long_at(rest)).flatten();
            let found = found.or_else(|| {
                let starts = may_start && before.is_none_or(|before| !is_of_word(before));
                let length = starts.then(|| self.word_at(rest)).flatten()?;
                (!rest[length..].starts_with(is_of_word)).then_some(length)
            });
            let found = found.filter(|length| !self.public.contains(&rest[..*length]));
            match found {
                Some(length) => {
                    masked += &text[kept..at];
                    masked += HIDDEN;
                    at += length;
                    kept = at;
                    before = text[..at].chars().next_back();
                }
                None => {
                    at += letter.len_utf8();
                    before = Some(letter);
                }
            }
        }
        if kept == 0 {
            return Cow::Borrowed(text);
        }
        Cow::Owned(masked + &text[kept..])
    }

    /// The length of the longest long secret that a text begins with.
    fn long_at(&self, rest: &str) -> Option<usize> {
        if rest.len() < LONG || !self.starts.contains(&number(rest)) {
            return None;
        }
        let behind = self
            .long
            .partition_point(|long| self.text[long.start..long.end] <= *rest);
        let mut found = behind.checked_sub(1);
        while let Some(index) = found {
            let known = self.get(index);
            if rest.starts_with(known) {
                return Some(known.len());
            }
            found = self.long[index].within.map(|within| within as usize);
        }
        None
    }

    /// The length of the longest short secret that a text begins with.
    fn word_at(&self, rest: &str) -> Option<usize> {
        let ends = (SHORTEST..LONG).rev();
        let mut words = ends.filter_map(|end| rest.get(..end));
        let found = words.find(|word| self.words.contains(&number(word)));
        found.map(str::len)
    }
}

/// The first bytes of a text as a number; those of a shorter one are its own.
fn number(text: &str) -> u64 {
    let mut bytes = [0; LONG];
    let length = text.len().min(LONG);
    bytes[..length].copy_from_slice(&text.as_bytes()[..length]);
    u64::from_le_bytes(bytes)
}

/// Replaces what `find` finds behind each mark, given what follows it.
fn each<'t>(text: Cow<'t, str>, mark: &str, find: impl Fn(&str) -> Option<usize>) -> Cow<'t, str> {
    let (mut masked, mut rest) = (String::new(), &*text);
    while let Some(start) = rest.find(mark) {
        let behind = start + mark.len();
        masked += &rest[..behind];
        rest = &rest[behind..];
        if let Some(length) = find(rest) {
            masked += HIDDEN;
            rest = &rest[length..];
        }
    }
    if masked.is_empty() {
        return text;
    }
    Cow::Owned(masked + rest)
}

/// The length of `user:password` in a URL (RFC 3986, section 3.2.1), given what follows `://`. `git` is everybody's user.
fn user_information(rest: &str) -> Option<usize> {
    let ends = |letter: char| letter.is_whitespace() || "\"'`<>|\\".contains(letter);
    let url = &rest[..rest.find(ends).unwrap_or(rest.len())];
    let authority = &url[..url.find(['/', '?', '#']).unwrap_or(url.len())];
    let end = authority.rfind('@').or_else(|| {
        // People write passwords with a slash: then there is no port behind the colon.
        let (_, port) = authority.split_once(':')?;
        let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
        let is_address = authority.starts_with('[');
        (!is_port && !is_address).then(|| url.rfind('@')).flatten()
    })?;
    (end > 0 && &url[..end] != "git").then_some(end)
}

/// The length of what SOPS has encrypted, given what follows `ENC[`.
fn sops_length(rest: &str) -> Option<usize> {
    rest.find(']').filter(|end| *end > 0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::{prop_assert, proptest};

    use super::{HIDDEN, Known, mask};

    fn masked(secrets: &[&str], text: &str) -> String {
        let mut known = Known::default();
        for secret in secrets {
            known.add(secret);
        }
        known.tidy();
        known.mask(text).into_owned()
    }

    #[test]
    fn a_long_secret_is_masked_anywhere_and_a_short_one_as_a_word() {
        assert_eq!(
            masked(&["correct-horse"], "xcorrect-horsey"),
            format!("x{HIDDEN}y")
        );
        assert_eq!(
            masked(&["493"], "`493` 1493 493x a-493 493"),
            "`…` 1493 493x a-493 …"
        );
        assert_eq!(masked(&["ab", "true"], "ab true"), "ab …");
    }

    #[test]
    fn what_everybody_knows_is_not_masked() {
        let mut known = Known::default();
        known.add("admin\nkubernetes");
        known.public.extend(["admin".into(), "kubernetes".into()]);
        known.tidy();
        assert_eq!(known.mask("admin of kubernetes"), "admin of kubernetes");
    }

    #[test]
    fn the_longer_of_two_secrets_is_masked_whole() {
        let secrets = ["hunter2hunter", "hunter2hunter2", "hunter2"];
        assert_eq!(masked(&secrets, "a hunter2hunter2 hunter2"), "a … …");
    }

    #[test]
    fn many_secrets_that_begin_alike_take_no_time() {
        let mut known = Known::default();
        for number in 0..200_000 {
            known.add(&format!("aaaaaaaaaaaa{number}"));
        }
        known.tidy();
        let text = format!("{}x", "a".repeat(20_000));
        assert_eq!(known.mask(&text), text);
        assert_eq!(known.mask("aaaaaaaaaaaa123456"), HIDDEN);
        assert_eq!(known.long.len(), 200_000);
    }

    #[test]
    fn each_line_of_a_secret_is_one() {
        assert_eq!(
            masked(&["-----BEGIN\n  line one of it\n"], "\"line one of it\""),
            "\"…\""
        );
    }

    #[test]
    fn a_password_in_a_url_is_masked() {
        for (text, expected) in [
            ("at https://me:pass@host/x@y", "at https://…@host/x@y"),
            ("`oci://token@host/x`", "`oci://…@host/x`"),
            ("http://me:pa/ss@host/x", "http://…@host/x"),
            ("http://me:p@ss@host/x", "http://…@host/x"),
            (
                "ssh://git@host/x oci://h:5000/x@sha256:0",
                "ssh://git@host/x oci://h:5000/x@sha256:0",
            ),
            ("oci://[::1]:5000/x@sha256:0", "oci://[::1]:5000/x@sha256:0"),
            ("https:// @", "https:// @"),
        ] {
            assert_eq!(mask(text), expected);
        }
    }

    #[test]
    fn what_sops_has_encrypted_is_masked() {
        assert_eq!(
            mask("a: ENC[AES256_GCM,data:x,type:str] ENC["),
            "a: ENC[…] ENC["
        );
    }

    proptest! {
        #[test]
        fn no_long_secret_is_left(secret in "[a-zé:/@=+-]{8,20}", before in "[a-zé:]{0,5}", behind in "[a-z日]{0,5}") {
            let text = format!("{before}{secret}{behind} {secret}");
            prop_assert!(!masked(&[&secret], &text).contains(&secret));
        }

        #[test]
        fn the_longest_secret_at_each_place_is_masked(secrets in proptest::collection::vec("[ab]{8,11}", 1..20), text in "[ab ]{0,60}") {
            let all: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let (mut expected, mut rest) = (String::new(), &*text);
            while let Some(letter) = rest.chars().next() {
                let found = all.iter().filter(|secret| rest.starts_with(**secret)).map(|secret| secret.len()).max();
                match found {
                    Some(_) => expected += HIDDEN,
                    None => expected.push(letter),
                }
                rest = &rest[found.unwrap_or(1)..];
            }
            prop_assert!(masked(&all, &text) == expected);
        }

        #[test]
        fn no_text_panics(secrets in proptest::collection::vec("[a-c日é]{1,12}", 0..6), text in "[a-c日é:/@ \\[\\]]{0,40}") {
            let secrets: Vec<&str> = secrets.iter().map(String::as_str).collect();
            let _ = (masked(&secrets, &text), mask(&text));
        }
    }
}
