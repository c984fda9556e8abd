//! Random expressions of Go's templates with the functions of Helm and Sprig.

use std::fmt::Write as _;

use super::random::Random;

/// What the expressions see under `.Values`.
pub(crate) const VALUES: &str = "\
a: 1
s: hello
e: ''
z: 0
f: 1.5
big: 12345678901234
t: true
fl: false
nul: null
l: [x, 'y', z]
el: []
em: {}
m: {k: v, 'n': {d: deep, nul: null}}
ints: [3, 1, 2]
nested: [[1, [2]], {a: [b]}]
";

impl Random {
    /// A template of one action.
    pub(crate) fn expression(&mut self) -> String {
        let (first, second) = (self.pipeline(2), self.pipeline(1));
        match self.number(8) {
            0 => format!("{{{{ if {first} }}}}T{{{{ else }}}}{{{{ {second} }}}}{{{{ end }}}}"),
            1 => format!("{{{{ with {first} }}}}{{{{ . }}}}{{{{ else }}}}E{{{{ end }}}}"),
            2 => format!("{{{{ range {first} }}}}[{{{{ . }}}}]{{{{ else }}}}E{{{{ end }}}}"),
            3 => {
                format!("{{{{ range $k, $v := {first} }}}}{{{{ $k }}}}={{{{ $v }}}};{{{{ end }}}}")
            }
            4 => format!(
                "{{{{ $x := {first} -}}}} {{{{ $x }}}}{{{{- $x = {second} }}}} {{{{ $x }}}}"
            ),
            _ => format!("{{{{ {first} }}}}"),
        }
    }

    fn pipeline(&mut self, depth: usize) -> String {
        let mut text = self.command(depth);
        for _ in 0..self.number(3) {
            let stage = self.pick(&[
                "len",
                "not",
                "print",
                "printf \"%v|\"",
                "html",
                "js",
                "urlquery",
                "eq 1",
                "index .Values.m",
                "printf \"%q\"",
                "and true",
                "or .Values.e",
                "println",
                "ne \"a\"",
                "printf \"%5v\"",
            ]);
            let _ = write!(text, " | {stage}");
        }
        text
    }

    fn command(&mut self, depth: usize) -> String {
        let (first, second) = (self.operand(depth), self.operand(depth));
        match self.number(16) {
            12..=15 => self.function(&first, &second),
            0 => format!(
                "{} {first} {second}",
                self.pick(&["eq", "ne", "lt", "le", "gt", "ge"])
            ),
            1 => format!("{} {first} {second}", self.pick(&["and", "or"])),
            2 => format!("not {first}"),
            3 => format!("len {first}"),
            4 => format!("index {first} {second}"),
            5..=7 => format!("printf \"{}\" {first} {second}", self.format()),
            8 => format!(
                "{} {first} {second}",
                self.pick(&["print", "println", "html", "js", "urlquery"])
            ),
            _ => first,
        }
    }

    /// A call of what Helm and Sprig add, but not `keys` and `values`: their order differs from run to run.
    fn function(&mut self, first: &str, second: &str) -> String {
        let of_one = [
            "upper",
            "title",
            "trim",
            "quote",
            "squote",
            "int",
            "int64",
            "float64",
            "toString",
            "toJson",
            "toYaml",
            "b64enc",
            "kindOf",
            "empty",
            "coalesce",
            "first",
            "last",
            "rest",
            "initial",
            "uniq",
            "reverse",
            "compact",
            "sortAlpha",
            "sha256sum",
            "snakecase",
            "camelcase",
            "kebabcase",
            "untitle",
            "toStrings",
            "ceil",
            "floor",
            "len",
            "typeOf",
            "list",
            "fromYaml",
            "fromJson",
            "fromJsonArray",
            "deepCopy",
            "atoi",
            "adler32sum",
            "nospace",
            "initials",
            "swapcase",
            "join \"-\"",
            "dict \"k\"",
            "semver",
            "splitList \",\"",
            "until",
            "toDecimal",
            "round",
            "regexQuoteMeta",
            "urlParse",
            "base",
            "dir",
            "ext",
            "clean",
            "isAbs",
            "max",
            "min",
            "add1",
        ];
        let of_two = [
            "add",
            "sub",
            "mul",
            "div",
            "mod",
            "max",
            "min",
            "default",
            "coalesce",
            "append",
            "prepend",
            "concat",
            "has",
            "hasKey",
            "get",
            "pick",
            "omit",
            "trunc",
            "indent",
            "nindent",
            "repeat",
            "contains",
            "hasPrefix",
            "hasSuffix",
            "trimPrefix",
            "trimSuffix",
            "trimAll",
            "join",
            "splitList",
            "regexMatch",
            "regexFind",
            "ternary \"x\"",
            "replace \"a\"",
            "semverCompare",
            "list",
            "dict",
            "without",
            "round",
            "substr 1",
            "cat",
            "plural \"one\"",
            "eq",
            "seq",
            "untilStep 0",
            "slice",
            "split",
            "wrap",
            "addf",
            "subf",
            "mulf",
            "divf",
            "chunk",
            "dig \"k\"",
            "abbrev",
            "kindIs",
        ];
        match self.number(2) {
            0 => format!("{} {first}", self.pick(&of_one)),
            _ => format!("{} {first} {second}", self.pick(&of_two)),
        }
    }

    fn format(&mut self) -> String {
        let mut text = String::new();
        for _ in 0..2 {
            let flags = self.pick(&["", "", "", "-", "+", "#", " ", "0", "-0", "+#"]);
            let width = self.pick(&["", "", "", "8", "3", "*", "[2]"]);
            let precision = self.pick(&["", "", "", ".2", ".0", ".", ".10"]);
            let verb = self.pick(&[
                "v", "s", "d", "q", "x", "X", "f", "g", "e", "t", "T", "c", "U", "b", "o", "O",
                "E", "G", "z", "%",
            ]);
            let _ = write!(text, "<%{flags}{width}{precision}{verb}>");
        }
        text
    }

    fn operand(&mut self, depth: usize) -> String {
        if depth > 0 && self.number(5) == 0 {
            return format!("({})", self.pipeline(depth - 1));
        }
        self.pick(&[
            "1",
            "0",
            "-7",
            "1.5",
            "1e3",
            "0x1F",
            "'a'",
            "100000000",
            "1e-7",
            "1234567.5",
            "\"a\"",
            "\"\"",
            "`r\\n`",
            "\"q\\\"\\t\u{e9}\"",
            "true",
            "false",
            "nil",
            ".Values.a",
            ".Values.s",
            ".Values.e",
            ".Values.z",
            ".Values.f",
            ".Values.big",
            ".Values.t",
            ".Values.nul",
            ".Values.l",
            ".Values.el",
            ".Values.em",
            ".Values.m",
            ".Values.m.n",
            ".Values.m.n.nul",
            ".Values.missing",
            ".Values.ints",
            ".Values.nested",
            ".Values.m.k",
            "$.Values.s",
            "(index .Values.l 0)",
            "(index .Values.s 1)",
            ".Release.Revision",
            "1i",
        ])
        .to_owned()
    }
}
