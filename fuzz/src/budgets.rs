//! Bombs of every function: cheap calls again and again on long texts, and values that share their parts. Whatever the
//! expression, it ends within what a cluster of a large fleet may spend, in a text or in an error with a place in it.
//!
//! Work and memory are counted here. libFuzzer also measures both: `-timeout` and `-rss_limit_mb` find what nobody counts.

use std::fmt::Write as _;

use go_template::{Budget, Limits, NoHost, Value, execute, functions, parse};

/// What functions are called with: long texts, long and shared values, patterns, numbers.
const ARGUMENTS: &[&str] = &[
    "$s",
    "$l",
    "$a",
    "$m",
    "$v",
    "3",
    "-1",
    "100000",
    "\"\"",
    "\"a*b|a\"",
    "\"%[1]v%99999d%x\"",
    "(list $s $s $a)",
    "(dict \"k\" $m \"s\" $s)",
];

/// The expression that the bytes spell: two are a step of it.
fn expression(data: &[u8]) -> String {
    let names = functions();
    let mut text = "{{ $s := repeat 1000 \"a\" }}{{ $l := until 1000 }}{{ $a := list 1 }}{{ $m := dict \"k\" 1 }}{{ $v := 1 }}"
        .to_owned();
    for pair in data.chunks_exact(2).take(40) {
        let (kind, number) = (pair[0], usize::from(pair[1]));
        let times = 1 << (number % 18);
        let name = names[(usize::from(kind) << 3 ^ number) % names.len()];
        let argument = |place: usize| {
            ARGUMENTS[(number / 3 + place * 5 + usize::from(kind)) % ARGUMENTS.len()]
        };
        let arguments: Vec<&str> = (0..=number % 3).map(argument).collect();
        let arguments = arguments.join(" ");
        let _ = match kind % 6 {
            0 => write!(
                text,
                "{{{{ range until {} }}}}{{{{ $a = list $a $a }}}}{{{{ end }}}}",
                number % 64
            ),
            1 => write!(
                text,
                "{{{{ range until {} }}}}{{{{ $m = dict \"a\" $m \"b\" $m }}}}{{{{ end }}}}",
                number % 64
            ),
            2 => write!(text, "{{{{ $s = repeat {times} $s }}}}"),
            3 => write!(text, "{{{{ $v = {name} {arguments} }}}}"),
            4 => write!(
                text,
                "{{{{ range until {times} }}}}{{{{ $x := {name} {arguments} }}}}{{{{ end }}}}"
            ),
            _ => write!(
                text,
                "{{{{ range $i := until {times} }}}}{{{{ $v = {name} $v {arguments} }}}}{{{{ end }}}}"
            ),
        };
    }
    text
}

pub(super) fn run(data: &[u8]) -> bool {
    let text = expression(data);
    let Ok(template) = parse("bomb", &text) else {
        return false;
    };
    let limits = Limits::default().for_clusters(usize::MAX);
    let budget = Budget::new(limits);
    match execute(&template, &Value::Nil, &NoHost, &budget) {
        Ok(written) => {
            let (steps, bytes) = (budget.steps_spent(), budget.bytes_spent());
            assert!(steps > 0 && steps <= limits.steps, "{text}");
            assert!(written.len() as u64 <= bytes, "{text}");
            true
        }
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{text}: {error:?}");
            assert!(error.message.chars().count() <= 2_100, "{text}");
            false
        }
    }
}
