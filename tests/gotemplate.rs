//! Expressions fail at their place, within limits, and never take the process down.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Range;

use go_template::{
    Budget, Definition, Engine, Error, ErrorClass, Host, Limits, NativeTemplate, NoHost, Template,
    Value, execute, parse,
};
use proptest::prelude::{Strategy, any, prop, prop_oneof};

use super::support::grammar::expression;
use super::support::seen::property_of_each;

fn run(text: &str) -> Result<String, Error> {
    run_with(text, &Value::map(BTreeMap::new()), &NoHost)
}

fn run_with(text: &str, dot: &Value, host: &dyn Host) -> Result<String, Error> {
    let template = parse("text", text)?;
    execute(&template, dot, host, &Budget::new(Limits::default()))
}

fn failure(result: Result<String, Error>) -> (ErrorClass, Range<usize>, String) {
    let error = result.expect_err("it must fail");
    (error.class, error.span, error.message)
}

/// Runs on a thread with the smallest stack that the tool's threads have.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(2 << 20)
        .spawn(test)
        .expect("a thread")
        .join()
        .expect("no panic");
}

/// Templates and native templates by name.
struct Names {
    template: Template,
}

impl Host for Names {
    fn engine(&self) -> Engine {
        Engine::Helm3_18
    }

    fn find_definition(&self, name: &str) -> Option<Definition<'_>> {
        if name == "again" {
            let call = |argument| NativeTemplate::call(self, argument);
            return Some(Definition::Native(Box::new(call)));
        }
        self.template
            .find_definition(name)
            .map(Definition::Template)
    }
}

thread_local! {
    static BUDGET: RefCell<Option<Budget>> = RefCell::new(Some(Budget::new(Limits::default())));
}

/// `again` evaluates its argument as a template, in an evaluation of its own.
impl NativeTemplate for Names {
    fn call(&self, argument: Value) -> Result<String, Error> {
        let Value::String(text) = &argument else {
            return Err(Error::new(ErrorClass::Other, "no text"));
        };
        BUDGET.with_borrow(|budget| {
            let budget = budget.as_ref().expect("a budget");
            execute(&parse("again", text)?, &argument, self, budget)
        })
    }
}

#[test]
fn deep_nesting_takes_no_stack() {
    on_small_stack(|| {
        let parentheses = 20_000;
        let text = format!(
            "{{{{ {}1{} }}}}",
            "(".repeat(parentheses),
            ")".repeat(parentheses)
        );
        assert_eq!(run(&text).ok().as_deref(), Some("1"));
        let blocks = 10_000;
        for block in ["if 1", "with 1", "range .x"] {
            let open = format!("{{{{ {block} }}}}").repeat(blocks);
            let text = format!("{open}x{}", "{{ end }}".repeat(blocks));
            assert!(run(&text).is_ok(), "{block}");
        }
        let chain = "{{ else if 0 }}".repeat(blocks);
        assert_eq!(
            run(&format!(
                "{{{{ if 0 }}}}{chain}{{{{ else }}}}x{{{{ end }}}}"
            ))
            .ok()
            .as_deref(),
            Some("x")
        );
        let unclosed = "{{ if (".repeat(blocks);
        assert!(run(&unclosed).is_err());
    });
}

#[test]
fn what_json_cannot_hold_is_written_as_nothing() {
    for text in [
        "[{{ toYaml 1i }}]",
        "[{{ toYaml (list 1 1i) }}]",
        "[{{ toYaml (dict \"a\" (float64 \"NaN\")) }}]",
        "[{{ toJson 1i }}]",
    ] {
        assert_eq!(run(text).ok().as_deref(), Some("[]"), "{text}");
    }
    assert!(run("{{ toYamlPretty 1i }}").is_err());
}

#[test]
fn recursion_ends_with_the_limit_that_it_met() {
    on_small_stack(|| {
        let names = Names {
            template: parse("names", r#"{{ define "i" }}{{ include "i" . }}{{ end }}{{ define "t" }}{{ template "t" . }}{{ end }}"#)
                .expect("templates"),
        };
        let text = |text: &str| failure(run_with(text, &Value::Nil, &names));
        let (class, span, message) = text("ab{{ include \"i\" . }}");
        assert_eq!((class, span), (ErrorClass::Depth, 5..18));
        assert!(message.contains("more than 1000 deep"), "{message}");
        let (class, _, message) = text("{{ template \"t\" . }}");
        assert_eq!(class, ErrorClass::Depth);
        assert!(message.contains("100000 deep"), "{message}");
        let (class, _, message) =
            failure(run_with("{{ tpl . . }}", &"{{ tpl . . }}".into(), &names));
        assert_eq!(class, ErrorClass::Depth, "{message}");
        assert!(
            message.starts_with("`tpl` is nested more than 1000 deep"),
            "{message}"
        );
        let (class, _, message) = failure(run_with(
            "{{ include \"again\" . }}",
            &"{{ include \"again\" . }}".into(),
            &names,
        ));
        assert_eq!(class, ErrorClass::Depth);
        assert!(message.contains("100 deep"), "{message}");
    });
}

#[test]
fn work_and_text_are_bounded() {
    let limits = Limits {
        steps: 500_000,
        ..Limits::default()
    };
    let limited = |text: &str| {
        let template = parse("text", text)?;
        execute(&template, &Value::Nil, &NoHost, &Budget::new(limits))
    };
    let doubling = "{{ $x := \"xxxxxxxx\" }}".to_owned() + &"{{ $x = print $x $x }}".repeat(60);
    let (class, _, message) = failure(limited(&doubling));
    assert_eq!(class, ErrorClass::Limit);
    assert!(message.contains("500000 steps"), "{message}");
    let loops = "{{ range $a := 2000 }}".repeat(4) + &"{{ end }}".repeat(4);
    let (class, _, message) = failure(limited(&loops));
    assert_eq!(class, ErrorClass::Limit);
    assert!(message.contains("500000 steps"), "{message}");
    let huge = limited("{{ printf \"%999999999d\" 1 }}");
    assert_eq!(huge.ok().as_deref(), Some("%!(NOVERB)%!(EXTRA int=1)"));
    let wide = limited("{{ printf \"%1000000d\" 1 | len }}");
    assert_eq!(wide.ok().as_deref(), Some("1000000"));
}

#[test]
fn an_error_is_placed_at_its_own_bytes() {
    let at = |text: &str| {
        let (class, span, _) = failure(run(text));
        (class, text[span].to_owned())
    };
    let cases = [
        ("a {{ .x.y.z }}", ErrorClass::NilPointer, ".x.y"),
        (
            "{{ if true }}{{ nosuch 1 }}{{ end }}",
            ErrorClass::MissingFunction,
            "nosuch",
        ),
        ("{{ eq 1 \"a\" }}", ErrorClass::WrongType, "eq 1 \"a\""),
        (
            "{{ 1 | index \"abc\" | len }}",
            ErrorClass::WrongType,
            "len",
        ),
        ("{{ not 1 2 }}", ErrorClass::WrongArgCount, "not 1 2"),
        ("{{ $y }}", ErrorClass::Parse, "$y"),
        ("x{{ end }}", ErrorClass::Parse, "end"),
        (
            "{{ template \"no\" }}",
            ErrorClass::MissingTemplate,
            "template \"no\"",
        ),
        (
            "{{ index \"abc\" 3 }}",
            ErrorClass::OutOfRange,
            "index \"abc\" 3",
        ),
        (
            "{{ range $i, $v := (index \"a\" 7) }}{{ end }}",
            ErrorClass::OutOfRange,
            "index \"a\" 7",
        ),
    ];
    for (text, class, place) in cases {
        assert_eq!(at(text), (class, place.to_owned()), "{text}");
    }
}

#[test]
fn an_inner_error_is_placed_at_the_outer_call() {
    let names = Names {
        template: parse(
            "names",
            r#"{{ define "bad" }}long text {{ .a.b }}{{ end }}"#,
        )
        .expect("a template"),
    };
    let text = r#"x {{ tpl "{{ include \"bad\" . }}" . }}"#;
    let dot = Value::map(BTreeMap::new());
    let (class, span, message) = failure(run_with(text, &dot, &names));
    assert_eq!(class, ErrorClass::NilPointer);
    assert!(text[span].starts_with("tpl "));
    assert!(message.contains("in template `bad`"), "{message}");
}

#[test]
fn a_template_defined_in_a_tpl_text_is_seen_there_only() {
    let text = r#"{{ tpl "{{ define \"in\" }}<{{ . }}>{{ end }}{{ include \"in\" 1 }}{{ template \"in\" 2 }}" . }}"#;
    assert_eq!(run(text).ok().as_deref(), Some("<1><2>"));
    let outside = format!("{text}{{{{ include \"in\" 3 }}}}");
    assert_eq!(failure(run(&outside)).0, ErrorClass::MissingTemplate);
}

#[test]
fn helm_ranges_over_integers_since_3_19() {
    let names = Names {
        template: parse("names", "").expect("a template"),
    };
    let text = "{{ range $i := 3 }}{{ $i }}{{ end }}";
    assert_eq!(run(text).ok().as_deref(), Some("012"));
    let old = failure(run_with(text, &Value::Nil, &names));
    assert_eq!(old.0, ErrorClass::WrongType);
}

/// Pieces that make up templates, whole and broken.
fn mutated() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "{{",
            "}}",
            "{{-",
            "-}}",
            " ",
            "\n",
            "(",
            ")",
            "|",
            ".",
            "$",
            "$x",
            ":=",
            "=",
            ",",
            "if",
            "else",
            "end",
            "range",
            "with",
            "define",
            "block",
            "template",
            "break",
            "continue",
            "include",
            "tpl",
            "\"a\"",
            "`b`",
            "'c'",
            "1",
            "1.5",
            "0x1p4",
            "1i",
            "nil",
            "true",
            ".a",
            ".b.c",
            "and",
            "or",
            "not",
            "eq",
            "lt",
            "index",
            "printf",
            "print",
            "len",
            "html",
            "\"%5.2v|%q\"",
            "/*",
            "*/",
            "{{ if .a }}",
            "{{ end }}",
            "{{ range $k, $v := . }}",
            "{{ $x := 1 }}",
            "{{ . }}",
            "\u{e9}",
            "\\",
            "\"",
            "'",
        ])
        .prop_map(str::to_owned),
        any::<String>(),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.join(" "))
}

/// How it ends: never in a panic.
fn execution(text: &str) -> &'static str {
    let Ok(template) = parse("text", text) else {
        return "refused";
    };
    let entries = BTreeMap::from([
        ("a".into(), Value::list(vec![Value::Int(1), Value::Nil])),
        ("b".into(), Value::Float(2.5)),
    ]);
    let limits = Limits {
        steps: 5_000,
        ..Limits::default()
    };
    let budget = Budget::new(limits);
    match execute(&template, &Value::map(entries), &NoHost, &budget) {
        Ok(_) => "executed",
        Err(error) => {
            assert!(text.get(error.span).is_some());
            "failed"
        }
    }
}

#[test]
fn no_text_makes_the_engine_panic() {
    let texts = prop_oneof![
        mutated(),
        expression(),
        any::<String>().prop_map(|text| format!("{{{{ {text} }}}}")),
    ];
    let outcomes = ["executed", "failed", "refused"];
    property_of_each(1_200, &texts, &outcomes, |text| execution(&text));
}
