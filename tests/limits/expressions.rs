//! Every limit of an evaluation: what just fits is answered, one less is refused in words.

use go_template::regexp::Regexp;
use go_template::{Budget, ErrorClass, Limits, NoHost, Value, execute, parse};
use metalmark::decide::matching::is_pattern;

use super::most;

fn run(text: &str, limits: Limits) -> Result<String, (ErrorClass, String)> {
    let reported = |error: go_template::Error| (error.class, error.message);
    let template = parse("text", text).map_err(reported)?;
    execute(&template, &Value::Nil, &NoHost, &Budget::new(limits)).map_err(reported)
}

/// The least that an expression needs of something, found by halving.
fn least(most: u64, fits: impl Fn(u64) -> bool) -> u64 {
    let (mut too_little, mut enough) = (0, most);
    assert!(fits(enough) && !fits(too_little));
    while enough - too_little > 1 {
        let middle = too_little + (enough - too_little) / 2;
        if fits(middle) {
            enough = middle;
        } else {
            too_little = middle;
        }
    }
    enough
}

#[test]
fn the_last_step_that_fits_is_taken_and_the_next_is_refused() {
    let text = "{{ range $x := until 50 }}{{ $x }}{{ end }}";
    let with = |steps| {
        let limits = Limits::default();
        run(text, Limits { steps, ..limits })
    };
    let steps = least(10_000, |steps| with(steps).is_ok());
    assert!(steps > 50, "each turn counts: {steps}");
    let (class, message) = with(steps - 1).expect_err("one step too many");
    assert_eq!(class, ErrorClass::Limit);
    assert_eq!(
        message,
        format!(
            "the expressions of this cluster take more than {} steps",
            steps - 1
        )
    );
}

#[test]
fn a_text_is_as_long_as_a_number_may_make_it() {
    most(32 << 20, "makes more than 33554432 bytes", |bytes| {
        message(run(
            &format!("{{{{ repeat {bytes} \"x\" | len }}}}"),
            Limits::default(),
        ))
    });
    // Of each, the first text that is too long is refused before it is made.
    for (name, text) in [
        ("join", "join (repeat 1000000 \"x\") (until 100000)"),
        ("join", "join \"\" (list MEB MEB)"),
        ("cat", "cat MEB MEB"),
        ("quote", "quote MEB MEB"),
        ("squote", "squote MEB MEB"),
        ("replace", "replace \"x\" (repeat 1000 \"y\") MEB"),
        ("indent", "indent 1000000000000 \"x\""),
        ("nindent", "nindent 1000000 (repeat 100 \"x\\n\")"),
        ("wrapWith", "wrapWith 1 (repeat 1000 \"y\") MEB"),
        (
            "regexReplaceAll",
            "regexReplaceAll \"x\" MEB (repeat 1000 \"y\")",
        ),
        (
            "regexReplaceAll",
            "regexReplaceAll \"x+\" MEB (repeat 1000 \"$0\")",
        ),
        (
            "regexReplaceAllLiteral",
            "regexReplaceAllLiteral \"x\" MEB (repeat 1000 \"y\")",
        ),
        (
            "semverCompare",
            "semverCompare (print (repeat 33554423 \" \") \">0 ,1 - 2\") \"1.2.3\"",
        ),
        ("%d", "printf (repeat 100 \"%1000000d\") LIST"),
        ("%v", "print (list MEB MEB MEB)"),
        ("%v", "list MEB MEB | toString"),
    ] {
        let list = "1 ".repeat(100);
        let text = text.replace("LIST", &list).replace("MEB", "$x");
        let text = format!("{{{{ $x := repeat 17000000 \"x\" }}}}{{{{ {text} }}}}");
        let (class, message) = run(
            &text,
            Limits {
                steps: u64::MAX,
                ..Limits::default()
            },
        )
        .expect_err("too long");
        assert_eq!(class, ErrorClass::Limit, "{message}");
        assert!(
            message.starts_with(&format!("`{name}` makes more than 33554432 bytes")),
            "{message}"
        );
    }
}

#[test]
fn a_loop_that_doubles_a_text_is_refused_at_its_place() {
    for double in ["{{ $x = print $x $x }}", "{{ $x = printf \"%s%s\" $x $x }}"] {
        let text = format!("{{{{ $x := \"x\" }}}}{{{{ range until 60 }}}}{double}{{{{ end }}}}");
        let (class, _) = run(&text, Limits::default()).expect_err("too long");
        assert_eq!(class, ErrorClass::Limit);
    }
}

#[test]
fn the_deepest_template_that_fits_is_run_and_the_next_is_refused() {
    let text = |depth: usize| {
        let define = |level: usize| {
            let inner = format!("{{{{ template \"t{}\" }}}}", level + 1);
            format!("{{{{ define \"t{level}\" }}}}{inner}{{{{ end }}}}")
        };
        let defined: String = (1..depth).map(define).collect();
        format!("{defined}{{{{ define \"t{depth}\" }}}}x{{{{ end }}}}{{{{ template \"t1\" }}}}")
    };
    let limits = Limits {
        depth: 20,
        ..Limits::default()
    };
    // The template that begins is one of them.
    assert_eq!(run(&text(19), limits).as_deref(), Ok("x"));
    let (class, message) = run(&text(20), limits).expect_err("one too many");
    assert_eq!(class, ErrorClass::Depth);
    assert!(
        message.starts_with("templates are nested more than 20 deep"),
        "{message}"
    );
}

#[test]
fn the_largest_pattern_that_fits_matches_and_a_larger_one_is_refused() {
    let pattern = |times: u64| format!("^(?:\\pL){{{times}}}$");
    let times = least(1000, |times| Regexp::new(&pattern(1000 - times)).is_ok());
    let most = 1000 - times;
    let text = "\u{e9}".repeat(most as usize);
    let fits = Regexp::new(&pattern(most)).expect("it fits");
    assert!(fits.is_match(&text) && !fits.is_match(&text[2..]));
    let error = Regexp::new(&pattern(most + 1)).expect_err("it does not");
    let words = "pattern compiles to more than the limit of 4194304 bytes";
    assert_eq!(error.message, words);
}

#[test]
fn the_largest_pattern_of_a_selector_is_one_and_a_larger_one_is_none() {
    let pattern = |times: u64| format!("(?:\\pL){{{times}}}");
    let fits =
        |times: u64| Regexp::with_limit(128 << 10, &format!("^({})$", pattern(times))).is_ok();
    let most = 1000 - least(1000, |left| fits(1000 - left));
    assert!(is_pattern(&pattern(most).into()));
    assert!(!is_pattern(&pattern(most + 1).into()));
}

#[test]
fn the_largest_pattern_with_many_groups_matches_and_a_larger_one_is_refused() {
    // A search keeps a place for each group in each state.
    let groups = |count: u64| Regexp::new(&"(x)".repeat(count as usize));
    let most = 4000 - least(4000, |left| groups(4000 - left).is_ok());
    assert!(
        groups(most)
            .expect("it fits")
            .is_match(&"x".repeat(most as usize))
    );
    let refused = groups(most + 1).map(drop).expect_err("it does not");
    assert!(
        refused.message.contains("more than the limit of"),
        "{refused}"
    );
    let bare = Regexp::new(&"(?:x)".repeat(2 * most as usize));
    assert!(bare.is_ok(), "twice as many that are no groups");
}

#[test]
fn a_pattern_that_is_large_by_nesting_is_refused_by_its_size() {
    let error = Regexp::new(r"(?i)(\pL{1000}){1}").expect_err("too large");
    assert!(error.message.contains("limit"), "{}", error.message);
}

fn message(result: Result<String, (ErrorClass, String)>) -> Result<String, String> {
    result.map_err(|(_, message)| message)
}

#[test]
fn as_many_variables_are_in_sight_as_is_stated() {
    most(1000, "1000", |count| {
        let declared: String = (0..count)
            .map(|number| format!("{{{{ $v{number} := 1 }}}}"))
            .collect();
        message(run(&declared, Limits::default()))
    });
}

#[test]
fn the_deepest_value_is_printed_and_a_deeper_one_is_not() {
    // Printed, formatted, written as YAML; compared, with the value that is compared as a level.
    for (end, deepest) in [
        ("$x", 256),
        ("printf \"%d\" $x", 256),
        ("toYamlPretty $x | len", 256),
        ("deepEqual $x $y", 255),
    ] {
        most(deepest, "nested more than 256 deep", |depth| {
            let wrap = "{{ $x = list $x }}{{ $y = list $y }}".repeat(depth);
            let text = format!("{{{{ $x := 1 }}}}{{{{ $y := 1 }}}}{wrap}{{{{ {end} }}}}");
            message(run(&text, Limits::default()))
        });
    }
}

#[test]
fn the_deepest_json_is_read_and_a_deeper_one_is_not() {
    most(256, "", |depth| {
        let json = "[".repeat(depth) + &"]".repeat(depth);
        let text = format!("{{{{ mustFromJson `{json}` | len }}}}");
        message(run(&text, Limits::default()))
    });
}

#[test]
fn the_deepest_toml_is_read_and_a_deeper_one_is_not() {
    most(64, "nested more than 64 deep", |depth| {
        // Each table counts, and so does each dot of its key.
        let tables = depth / 2 - 1;
        let toml = "{a.a=".repeat(tables) + "1" + &"}".repeat(tables);
        let dots = ".a".repeat(depth - 2 * tables);
        let text = format!("{{{{ fromToml \"a{dots} = {toml}\" | len }}}}");
        message(run(&text, Limits::default()))
    });
}

#[test]
fn the_longest_version_is_read_and_a_longer_one_is_not() {
    most(1024, "longer than 1024 bytes", |length| {
        let build = "b".repeat(length - "1.2.3+".len());
        let text = format!("{{{{ semverCompare \">1\" \"1.2.3+{build}\" }}}}");
        message(run(&text, Limits::default()))
    });
}

#[test]
fn a_template_has_as_many_words_as_is_stated() {
    // Each is three words, braces included, and the end of the text is one.
    most(66_666, "more than 200000 words", |count| {
        let template = parse("text", &"{{1}}".repeat(count)).map(drop);
        template.map_err(|error| error.message)
    });
}

#[test]
fn the_longest_message_is_printed_whole_and_a_longer_one_is_cut() {
    let failing = |length: usize| {
        let text = format!("{{{{ fail (repeat {length} \"é\") }}}}");
        let (_, message) = run(&text, Limits::default()).expect_err("it fails");
        message.chars().count()
    };
    assert_eq!(failing(2000), 2000);
    assert_eq!(failing(2001), 2001, "with the mark of what is left out");
    assert_eq!(failing(1_000_000), 2001);
}

#[test]
fn the_deepest_pattern_is_compiled_and_a_deeper_one_is_not() {
    // The letter within is a level too.
    most(249, "nests deeper than 250", |depth| {
        Regexp::new(&("(?:".repeat(depth) + "a" + &")?".repeat(depth)))
            .map(|_| ())
            .map_err(|error| error.message)
    });
}

#[test]
fn the_most_repeats_are_compiled_and_more_are_not() {
    most(1000, "", |times| {
        Regexp::new(&format!("a{{{times}}}"))
            .map(|_| ())
            .map_err(|error| error.message)
    });
    // A repeat of repeats counts as their product.
    let product = |inner: usize, outer: usize| Regexp::new(&format!("(?:a{{{inner}}}){{{outer}}}"));
    assert!(product(100, 10).is_ok());
    let refused = product(77, 13).map(drop).expect_err("1001 times");
    assert!(
        refused.message.contains("more than 1000 times"),
        "{refused}"
    );
}

#[test]
fn the_most_ranges_are_compiled_and_more_are_not() {
    let ranges = |classes: usize| Regexp::new(&format!("[{}]?", "\\pL\\pN".repeat(classes)));
    assert!(ranges(1).is_ok());
    let many = "[\\pL\\pN]?".repeat(400);
    let error = Regexp::new(&many).expect_err("too many");
    assert!(error.message.contains("200000 ranges"), "{}", error.message);
}
