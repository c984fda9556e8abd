//! Random arguments of the functions that read and write texts: numbers, bytes, JSON, long lines.

use super::random::Random;

/// Functions of one more argument.
const FUNCTIONS: &[&str] = &[
    "toYaml",
    "toYamlPretty",
    "toJson",
    "toPrettyJson",
    "toRawJson",
    "fromYaml",
    "fromYamlArray",
    "fromJson",
    "fromJsonArray",
    "mustFromJson",
    "quote",
    "squote",
    "snakecase",
    "kebabcase",
    "camelcase",
    "title",
    "untitle",
    "initials",
    "swapcase",
    "upper",
    "b64dec",
    "b64enc",
    "b32dec",
    "b32enc",
    "sha256sum",
    "adler32sum",
    "abbrev 5",
    "abbrevboth 2 7",
    "wrap 7",
    "wrapWith 5 \"|\"",
    "trunc 5",
    "trunc -5",
    "substr 2 7",
    "indent 2",
    "nindent 2",
    "trim",
    "nospace",
    "repeat 3",
    "regexQuoteMeta",
    "html",
    "js",
    "urlquery",
    "urlParse",
    "splitList \" \"",
    "splitn \":\" 2",
    "toString",
    "int",
    "int64",
    "float64",
    "atoi",
    "toDecimal",
    "printf \"%q\"",
    "printf \"%x\"",
    "printf \"%08.3f\"",
    "printf \"%e\"",
    "printf \"%v\"",
    "base",
    "dir",
    "ext",
    "clean",
    "floor",
    "ceil",
    "round 2",
    "add 1",
    "mul 3",
    "list",
    "dict \"k\"",
    "cat \"x\"",
    "plural \"one\" \"many\"",
    "kindOf",
    "len",
    "empty",
    "semver",
    "toToml",
    "fromToml",
    "duration",
    "durationRound",
    "toYaml | fromYaml",
    "toJson | fromJson",
    "sortAlpha",
    "toStrings",
];

impl Random {
    /// A call of one of the functions with a text or a number.
    pub(super) fn call(&mut self) -> String {
        let (function, then) = (self.pick(FUNCTIONS), self.pick(FUNCTIONS));
        let argument = match self.number(4) {
            0 => self.decimal(),
            1 => format!("`{}`", self.json(3)),
            2 => format!("(fromJson `{{\"v\": {}}}`).v", self.json(2)),
            _ => format!("`{}`", self.text()),
        };
        match self.number(3) {
            0 => format!("{{{{ {argument} | {function} | {then} }}}}"),
            1 => format!("{{{{ dict \"a\" {argument} | {function} }}}}"),
            _ => format!("{{{{ {argument} | {function} }}}}"),
        }
    }

    fn decimal(&mut self) -> String {
        let mut text = self.pick(&["", "", "-"]).to_owned();
        text += &self.number(1 << 31).to_string()[..1 + self.number(2)];
        for _ in 0..self.number(3) {
            text += &self.number(1 << 31).to_string();
        }
        if self.number(2) == 0 {
            text += &format!(".{}", self.number(1 << 31));
        }
        text + self.pick(&["", "", "", "e3", "e-7", "e21", "e300", "E+9"])
    }

    /// JSON, in one of four with a character too few or too many.
    fn json(&mut self, depth: usize) -> String {
        let mut text = self.json_value(depth);
        if self.number(4) == 0 {
            let ends: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
            let at = ends[self.number(ends.len())];
            match self.number(2) {
                0 => drop(text.remove(at)),
                _ => text.insert_str(
                    at,
                    self.pick(&[
                        "\"", "{", "}", "]", ",", ":", "1", "e", "-", "\\", "n", " ", "\t",
                    ]),
                ),
            }
        }
        text
    }

    fn json_value(&mut self, depth: usize) -> String {
        let many = if depth == 0 { 0 } else { self.number(4) };
        match self.number(9) {
            0 => self.decimal(),
            1 => format!("{:?}", self.text()),
            2 => self
                .pick(&[
                    "null",
                    "true",
                    "false",
                    "\"\"",
                    "{}",
                    "[]",
                    "0",
                    "-0",
                    "1e999",
                    "01",
                    "\"\\u00e9\\ud83d\\ude00\"",
                    "\"\\ud800\"",
                ])
                .to_owned(),
            3..=5 => {
                let items: Vec<String> = (0..many).map(|_| self.json_value(depth - 1)).collect();
                format!("[{}]", items.join(self.pick(&[",", ", "])))
            }
            _ => {
                let entry = |random: &mut Self| {
                    format!("{:?}: {}", random.word(), random.json_value(depth - 1))
                };
                let entries: Vec<String> = (0..many).map(|_| entry(self)).collect();
                format!("{{{}}}", entries.join(","))
            }
        }
    }

    fn text(&mut self) -> String {
        let words = [1, 1, 2, 3, 5, 30][self.number(6)];
        let words: Vec<&str> = (0..words).map(|_| self.word()).collect();
        words.join(self.pick(&[" ", " ", " ", "", "-", "_", "\n", ": ", ", "]))
    }

    fn word(&mut self) -> &'static str {
        self.pick(&[
            "a",
            "b",
            "word",
            "Word",
            "aWord",
            "HTTPServer",
            "v1.31.8+rke2r1",
            "1",
            "0x1F",
            "007",
            "1_000",
            "1e3",
            "12:30:45",
            "yes",
            "on",
            "null",
            "~",
            "true",
            "-",
            "--",
            "_",
            "{",
            "}",
            "[x]",
            "{-0",
            "#",
            "&a",
            "*a",
            "!!str",
            "|",
            ">",
            "%",
            "@",
            "\u{e9}\u{e8}",
            "\u{df}",
            "\u{1F600}",
            "\u{a0}",
            "\u{2028}",
            "\t",
            "'",
            "\\",
            "<&>",
            "=",
            "<<",
            "2001-01-01",
            ".5",
            "+1",
            "1h30m",
            "90s",
            "YWJj",
            "/w==",
            "MFRGG===",
            "a/b/../c",
            "http://u:p@h:1/p?q=1#f",
            ".nan",
            "0o17",
            "0b1",
            "a = 1",
            "?",
            "",
        ])
    }
}
