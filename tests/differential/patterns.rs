//! Random patterns of regular expressions, and what is found with them in some texts.

use go_template::regexp::Regexp;
use serde_json::{Value as Json, json};

use super::engine::Answer;
use super::random::Random;

/// The texts that each pattern is matched with.
const SUBJECTS: &[&str] = &[
    "",
    "a",
    "1a2b",
    "aab 1.31.8+rke2r1",
    "v1-rc-2-beta",
    "ubuntu-jammy-hardened-rke2-1-31-8",
    "Aa-Bb_Cc.11:22/ab",
    "line one\nline two\r\n\ttab\n",
    "{{ .Values.a }} {b} [c] (d)",
    "\u{e9}\u{3b1}\u{17f}K\u{1F600}\u{2028} \u{a0}",
    "abababab1212",
];

pub(super) fn request(pattern: &str) -> Json {
    json!({"Kind": "regexp", "Text": pattern, "Subjects": SUBJECTS})
}

/// The same list as `matches` in `serve.go` makes.
pub(super) fn ours(pattern: &str) -> Option<Answer> {
    let regexp = match Regexp::new(pattern) {
        Ok(regexp) => regexp,
        Err(error) if error.message.contains("limit of") => return None,
        Err(error) => return Some(Answer::Error(error.message)),
    };
    let found = SUBJECTS.iter().map(|text| {
        let first = regexp.find(text)?;
        Some(json!({
            "First": first,
            "All": regexp.find_all(text, -1),
            "Two": regexp.find_all(text, 2),
            "Groups": regexp.replace_all(text, "<$0|$1|$2|${n}|$$>", 1 << 20),
            "Replaced": regexp.replace_all_literal(text, "$1", 1 << 20),
            "Split": regexp.split(text, -1),
            "SplitTwo": regexp.split(text, 2),
        }))
    });
    let found: Vec<Json> = found.map(Option::unwrap_or_default).collect();
    Some(Answer::Text(Json::from(found).to_string()))
}

impl Random {
    /// A pattern, now and then one that Go refuses.
    pub(super) fn pattern(&mut self) -> String {
        let flags = self.pick(&[
            "", "", "", "", "^", "(?i)", "(?s)", "(?m)", "(?U)", "(?x)", "(?ims)",
        ]);
        flags.to_owned() + &self.alternatives(3)
    }

    fn alternatives(&mut self, depth: usize) -> String {
        let first = self.sequence(depth);
        match self.number(5) {
            0 => format!("{first}|{}", self.sequence(depth)),
            // The same beginning twice.
            1 => {
                let (one, other) = (self.atom(0), self.atom(0));
                format!("{first}{one}|{first}{other}")
            }
            2 => format!(
                "{first}|{}|{}",
                self.sequence(depth),
                self.pick(&["", "b", "$"])
            ),
            _ => first,
        }
    }

    fn sequence(&mut self, depth: usize) -> String {
        (0..=self.number(3)).map(|_| self.repeated(depth)).collect()
    }

    fn repeated(&mut self, depth: usize) -> String {
        let times = self.pick(&[
            "", "", "", "", "", "*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{0,1}", "{2,}",
            "{1,3}?", "{", "{,2}", "**", "{1001}",
        ]);
        self.atom(depth) + times
    }

    fn atom(&mut self, depth: usize) -> String {
        if depth > 0 && self.number(4) == 0 {
            let open = self.pick(&[
                "(", "(", "(?:", "(?P<n>", "(?<n>", "(?i:", "(?-s:", "(?=", "(?P<1>",
            ]);
            return format!("{open}{})", self.alternatives(depth - 1));
        }
        let atom = self.pick(&[
            "a",
            "b",
            "1",
            "2",
            "-",
            "_",
            ":",
            "/",
            "K",
            "\u{e9}",
            "ab",
            "rc",
            ".",
            ".",
            ".*",
            "\\d",
            "\\w",
            "\\s",
            "\\D",
            "\\W",
            "\\S",
            "[ab]",
            "[^a]",
            "[a-z0-9]",
            "[[:alpha:]]",
            "[^[:digit:]-]",
            "[-_[A-Z]",
            "[]a]",
            "[a&&b]",
            "[a--b]",
            "[\\d.-]",
            "[z-a]",
            "\\pL",
            "\\p{Greek}",
            "\\PN",
            "\\p{Alphabetic}",
            "^",
            "$",
            "\\b",
            "\\B",
            "\\A",
            "\\z",
            "\\Z",
            "\\.",
            "\\Q.*\\E",
            "\\x41",
            "\\x{e9}",
            "\\015",
            "\\u0041",
            "\\<",
            "{{",
            "}}",
            "\\+",
            "\\C",
            "\\n",
        ]);
        atom.to_owned()
    }
}
