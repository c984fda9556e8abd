//! Bad texts of any size, one a way in which a parser can be made to work too hard.

/// A way, and the text of about so many bytes.
pub(crate) struct Shape {
    pub(crate) name: &'static str,
    pub(crate) text: fn(usize) -> String,
}

/// Texts that are read as YAML.
pub(crate) const YAML: &[Shape] = &[
    shape("deep flow list", |size| "[".repeat(size)),
    shape("deep flow list, closed", |size| {
        "[".repeat(size / 2) + &"]".repeat(size / 2)
    }),
    shape("deep flow map", |size| "{a: ".repeat(size / 4)),
    shape("deep flow keys", |size| "{? ".repeat(size / 3)),
    shape("deep block map", deep_block),
    shape("deep dashes", |size| "- ".repeat(size / 2)),
    shape("deep question marks", |size| "? ".repeat(size / 2)),
    shape("one long key", |size| format!("{}: 1\n", "k".repeat(size))),
    shape("long keys", |size| {
        numbered(size, |n| format!("{}{n}: 1\n", "k".repeat(1000)))
    }),
    shape("one long value", |size| {
        format!("a: {}\n", "v".repeat(size))
    }),
    shape("one long line of words", |size| {
        format!("a: {}\n", "word ".repeat(size / 5))
    }),
    shape("a plain text of many lines", |size| {
        format!("a:\n{}", "  word\n".repeat(size / 7))
    }),
    shape("words that are no keys", |size| "word\n".repeat(size / 5)),
    shape("one long number", |size| {
        format!("a: {}\n", "7".repeat(size))
    }),
    shape("a number of many groups", |size| {
        format!("a: {}\n", "7_".repeat(size / 2))
    }),
    shape("many keys", |size| {
        numbered(size, |n| format!("k{n}: {n}\n"))
    }),
    shape("many keys, the last first", |size| {
        numbered(size, |n| format!("k{:08}: 1\n", 99_999_999 - n))
    }),
    shape("many duplicate keys", |size| "a: 1\n".repeat(size / 5)),
    shape("many keys in flow", |size| {
        format!("{{{}}}", numbered(size, |n| format!("k{n}: 1, ")))
    }),
    shape("many duplicate keys in flow", |size| {
        format!("{{{}}}", "a: 1,".repeat(size / 5))
    }),
    shape("many items in flow", |size| {
        format!("[{}]", "1,".repeat(size / 2))
    }),
    shape("many lines in flow", |size| {
        format!("[{}]", "a\n,".repeat(size / 3))
    }),
    shape("many pairs in a flow list", |size| {
        format!("[{}]", "a: b,".repeat(size / 5))
    }),
    shape("many empty lists", |size| "- []\n".repeat(size / 5)),
    shape("many comments", |size| "# about\n".repeat(size / 8)),
    shape("many comments behind values", |size| {
        numbered(size, |n| format!("k{n}: 1 # c\n"))
    }),
    shape("comments in flow", |size| {
        format!("[\n{}]", "# c\n1,\n".repeat(size / 7))
    }),
    shape("one long comment", |size| {
        format!("# {}\na: 1\n", "c".repeat(size))
    }),
    shape("many blank lines", |size| {
        format!("a:\n{}  1\n", "\n".repeat(size))
    }),
    shape("many spaces", |size| format!("a:{}1\n", " ".repeat(size))),
    shape("lines of spaces", |size| {
        format!("a: |\n  x\n{}", "          \n".repeat(size / 11))
    }),
    shape("a huge block text", |size| {
        format!("a: |\n{}", "  line\n".repeat(size / 7))
    }),
    shape("a huge folded text", |size| {
        format!("a: >\n{}", "  line\n\n".repeat(size / 8))
    }),
    shape("many block texts", |size| {
        numbered(size, |n| format!("k{n}: |\n  x\n"))
    }),
    shape("a quoted text that never ends", |size| {
        format!("a: \"{}", "x".repeat(size))
    }),
    shape("quotes that never end", |size| "a: '\n".repeat(size / 5)),
    shape("a text of escapes", |size| {
        format!("a: \"{}\"\n", "\\u00e9".repeat(size / 6))
    }),
    shape("a text of quotes", |size| {
        format!("a: '{}'\n", "''".repeat(size / 2))
    }),
    shape("a quoted text of many lines", |size| {
        format!("a: \"{}\"\n", "x\n ".repeat(size / 3))
    }),
    shape("many documents", |size| "---\na: 1\n".repeat(size / 9)),
    shape("many empty documents", |size| "---\n".repeat(size / 4)),
    shape("many document ends", |size| "...\n".repeat(size / 4)),
    shape("many directives", |size| {
        format!("{}---\na: 1\n", "%TAG ! tag:x:\n".repeat(size / 14))
    }),
    shape("many tags", |size| "- !!str a\n".repeat(size / 10)),
    shape("many anchors", |size| {
        numbered(size, |n| format!("k{n}: &a{n} x\n"))
    }),
    shape("one anchor again and again", |size| {
        "- &a x\n".repeat(size / 7)
    }),
    shape("many aliases", |size| {
        format!("- &a x\n{}", "- *a\n".repeat(size / 5))
    }),
    shape("aliases of a large list", |size| {
        format!(
            "- &a [{}]\n{}",
            "1,".repeat(size / 4),
            "- *a\n".repeat(size / 10)
        )
    }),
    shape("laughs", |size| {
        laughs(size, |name, below| format!("{name}: &{name} [{below}]\n"))
    }),
    shape("laughs in merges", |size| {
        laughs(size, |name, below| {
            format!("{name}: &{name} {{k{name}: 1, <<: [{below}]}}\n")
        })
    }),
    shape("many merges", |size| {
        format!(
            "a: &a {{x: 1}}\n{}",
            numbered(size, |n| format!("k{n}: {{<<: *a}}\n"))
        )
    }),
    shape("a merge of many", |size| {
        format!("a: &a {{x: 1}}\nb: {{<<: [{}]}}\n", "*a,".repeat(size / 3))
    }),
    shape("merges of a large map", merges_of_a_large_map),
    shape("a chain of merges", |size| {
        let chain = numbered(size, |n| {
            format!("m{}: &m{} {{<<: *m{n}, k{n}: 1}}\n", n + 1, n + 1)
        });
        format!("m0: &m0 {{a: 1}}\n{chain}")
    }),
    shape("characters of many bytes", |size| {
        format!("a: {}\n", "é\u{10000}".repeat(size / 6))
    }),
    shape("carriage returns", |size| "\r".repeat(size)),
    shape("tabs", |size| format!("a:\n{}", "\t".repeat(size))),
    shape("colons", |size| ":".repeat(size)),
    shape("colons with spaces", |size| ": ".repeat(size / 2)),
    shape("stars", |size| "*".repeat(size)),
    shape("expressions", |size| {
        numbered(size, |n| format!("k{n}: '{{{{ .Values.k{} }}}}'\n", n + 1))
    }),
    shape("one long expression", |size| {
        format!("a: '{{{{ {} }}}}'\n", "1 | ".repeat(size / 4))
    }),
    shape("JSON, deep", |size| "{\"a\":".repeat(size / 5)),
    shape("JSON of many keys", |size| {
        format!("{{{}\"z\":1}}", numbered(size, |n| format!("\"k{n}\":1,")))
    }),
    shape("JSON of one key", |size| {
        format!("{{{}\"z\":1}}", "\"a\":1,".repeat(size / 6))
    }),
    shape("JSON of many documents", |size| {
        "{\"a\":1}\n".repeat(size / 8)
    }),
];

/// Texts that are read as Go templates.
pub(crate) const TEMPLATES: &[Shape] = &[
    shape("plain text", |size| "x".repeat(size)),
    shape("actions", |size| "{{ 1 }}".repeat(size / 7)),
    shape("parentheses", |size| format!("{{{{ {}", "(".repeat(size))),
    shape("a long pipeline", |size| {
        format!("{{{{ 1 {}}}}}", "| print ".repeat(size / 8))
    }),
    shape("many arguments", |size| {
        format!("{{{{ print {}}}}}", "1 ".repeat(size / 2))
    }),
    shape("deep blocks", |size| "{{ if 1 }}".repeat(size / 10)),
    shape("deep blocks, closed", |size| {
        "{{ if 1 }}".repeat(size / 19) + &"{{ end }}".repeat(size / 19)
    }),
    shape("a chain of else if", |size| {
        format!(
            "{{{{ if 0 }}}}{}{{{{ end }}}}",
            "{{ else if 0 }}".repeat(size / 15)
        )
    }),
    shape("many variables", |size| {
        numbered(size, |n| format!("{{{{ $v{n} := 1 }}}}"))
    }),
    shape("many definitions", |size| {
        numbered(size, |n| format!("{{{{ define \"t{n}\" }}}}{{{{ end }}}}"))
    }),
    shape("many ranges", |size| {
        "{{ range until 9 }}x{{ end }}".repeat(size / 29)
    }),
    shape("a range of ranges", |size| {
        let deep = (size / 40).min(40);
        "{{ range until 1000 }}".repeat(deep) + "x" + &"{{ end }}".repeat(deep)
    }),
    shape("an endless include", |_| {
        "{{ define \"a\" }}{{ include \"a\" . }}{{ include \"a\" . }}{{ end }}{{ include \"a\" . }}"
            .to_owned()
    }),
    shape("an endless template", |_| {
        "{{ define \"a\" }}{{ template \"a\" }}{{ end }}{{ template \"a\" }}".to_owned()
    }),
    shape("an endless tpl", |_| {
        "{{ $t := \"{{ tpl . . }}\" }}{{ tpl $t $t }}".to_owned()
    }),
    shape("repeats of repeats", |_| {
        "{{ repeat 100000 (repeat 100000 \"x\") }}".to_owned()
    }),
    shape("a text that doubles", |_| {
        "{{ $x := \"x\" }}{{ range until 100 }}{{ $x = print $x $x }}{{ end }}".to_owned()
    }),
    shape("a list that doubles", |_| {
        "{{ $x := list 1 }}{{ range until 100 }}{{ $x = concat $x $x }}{{ end }}".to_owned()
    }),
    shape("a list that grows", |_| {
        "{{ $x := list }}{{ range until 100000 }}{{ $x = append $x . }}{{ end }}".to_owned()
    }),
    shape("wide numbers", |_| {
        "{{ printf \"%999999999d\" 1 }}".to_owned()
    }),
    shape("fields of fields", |size| {
        format!("{{{{ {} }}}}", ".a".repeat(size / 2))
    }),
    shape("comments", |size| "{{/* c */}}".repeat(size / 11)),
    shape("a comment that never ends", |size| {
        format!("{{{{/* {}", "c".repeat(size))
    }),
    shape("a text that never ends", |size| {
        format!("{{{{ \"{}", "c".repeat(size))
    }),
    shape("trimmed spaces", |size| " {{- 1 -}} ".repeat(size / 11)),
    shape("open braces", |size| "{{".repeat(size / 2)),
];

/// Texts that are read as regular expressions, and matched.
pub(crate) const PATTERNS: &[Shape] = &[
    shape("letters", |size| "a".repeat(size)),
    shape("groups", |size| "(".repeat(size)),
    shape("groups, closed", |size| {
        "(".repeat(size / 2) + &")".repeat(size / 2)
    }),
    shape("groups side by side", |size| "(a)".repeat(size / 3)),
    shape("stars", |size| "a*".repeat(size / 2)),
    shape("stars of stars", |size| {
        "(".repeat(100) + "a" + &")*".repeat(100) + &"b".repeat(size.min(100))
    }),
    shape("counts of counts", |_| "((a{1000}){1000}){1000}".to_owned()),
    shape("many counts", |size| "[a-z]{1000}".repeat(size / 11)),
    shape("classes of everything", |size| "\\pL".repeat(size / 3)),
    shape("a class of many ranges", |size| {
        format!("[{}]", "a-z".repeat(size / 3))
    }),
    shape("alternatives", |size| "a|".repeat(size / 2)),
    shape("dots before an end", |size| {
        format!("({}b)", ".*".repeat(size.min(2000)))
    }),
];

const fn shape(name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape { name, text }
}

fn numbered(size: usize, line: impl Fn(usize) -> String) -> String {
    let mut text = String::with_capacity(size);
    let mut number = 0;
    while text.len() < size {
        text.push_str(&line(number));
        number += 1;
    }
    text
}

fn deep_block(size: usize) -> String {
    let mut text = String::with_capacity(size);
    let mut depth = 0;
    while text.len() < size {
        text.push_str(&" ".repeat(depth));
        text.push_str("a:\n");
        depth += 1;
    }
    text
}

fn merges_of_a_large_map(size: usize) -> String {
    let large = numbered(size / 2, |n| format!("k{n}: 1, "));
    let merges = numbered(size / 2, |n| format!("m{n}: {{<<: *a}}\n"));
    format!("a: &a {{{large}}}\n{merges}")
}

/// Each name stands for nine of the one before; the rest is comments.
fn laughs(size: usize, line: impl Fn(&str, &str) -> String) -> String {
    let mut text = "l0: &l0 {lol: 1}\n".to_owned();
    for level in 1..30 {
        let below = vec![format!("*l{}", level - 1); 9].join(",");
        text.push_str(&line(&format!("l{level}"), &below));
    }
    let rest = size.saturating_sub(text.len());
    text + &"# comment\n".repeat(rest / 10)
}
