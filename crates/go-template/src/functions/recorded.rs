//! Tests of functions with surprising results. The expected results were recorded from Helm 3.17 and 4.1, which agree on all.

use crate::{Budget, Definition, Engine, Error, ErrorClass, Host, Limits, Value, execute, parse};

/// A host that is one of the engines.
struct Only(Engine);

impl Host for Only {
    fn engine(&self) -> Engine {
        self.0
    }

    fn find_definition(&self, _name: &str) -> Option<Definition<'_>> {
        None
    }
}

pub(super) fn evaluate_as(engine: Engine, expression: &str) -> Result<String, Error> {
    let template = parse("text", &format!("{{{{ {expression} }}}}"))?;
    let budget = Budget::new(Limits::default());
    let root = Value::map(Default::default());
    execute(&template, &root, &Only(engine), &budget)
}

fn evaluate(expression: &str) -> Result<String, Error> {
    evaluate_as(Engine::Helm4, expression)
}

fn class(expression: &str) -> Option<ErrorClass> {
    evaluate(expression).err().map(|error| error.class)
}

#[track_caller]
pub(super) fn assert_results(results: &[(&str, &str)]) {
    for (expression, expected) in results {
        let result = evaluate(expression).map_err(|error| error.message);
        assert_eq!(result.as_deref(), Ok(*expected), "{expression}");
    }
}

#[test]
fn letter_case_functions_match_sprig() {
    assert_results(&[
        (
            "snakecase \"HTTPServer2xx v2Beta\"",
            "http_server_2xx_v2_beta",
        ),
        ("kebabcase \"Bld4Floor.3rd\"", "bld4-floor.3rd"),
        ("snakecase \"x9Y8z\"", "x9_y_8z"),
        ("camelcase \"http-server_name\"", "HttpServerName"),
        ("camelcase \"--a b\"", "--AB"),
        ("camelcase \"--\"", "---"),
        ("title \"hello wOrld a-b_c 2nd\"", "Hello WOrld A-B_c 2nd"),
        ("untitle \"Hello World\"", "hello world"),
        ("swapcase \"aB Cd\"", "Ab cD"),
        ("initials \"First Try of\"", "FTo"),
        ("nospace \" a\\tb \"", "ab"),
        ("nospace \"é x\"", "Ã©x"),
        ("plural \"one\" \"many\" 1", "one"),
        ("plural \"one\" \"many\" 0", "many"),
    ]);
}

#[test]
fn durations_are_formatted_and_parsed_as_in_go() {
    assert_results(&[
        ("duration \"95\"", "1m35s"),
        ("duration \"-86400\"", "-24h0m0s"),
        ("duration 95", "0s"),
        ("duration (int64 3600)", "1h0m0s"),
        ("duration \"9223372036854775808\"", "-1s"),
        ("durationRound \"2h10m5s\"", "2h"),
        ("durationRound \"-49h\"", "2d"),
        ("durationRound \"8760h1s\"", "1y"),
        ("durationRound \"1500ms\"", "1s"),
        ("durationRound \"1.5\"", "0s"),
    ]);
}

#[test]
fn truncating_and_padding_functions_match_sprig() {
    assert_results(&[
        ("trunc -3 \"hello\"", "llo"),
        ("substr 0 -1 \"hello\"", "hello"),
        ("substr -1 2 \"hello\"", "he"),
        ("abbrev 5 \"hello world\"", "he..."),
        ("abbrevboth 5 10 \"1234 5678 9123\"", "...5678..."),
        ("wrap 5 \"aa bb cccccccc dd\"", "aa bb\ncccccccc\ndd"),
        ("wrapWith 5 \"|\" \"aaaaaaaaaaaa b\"", "aaaaa|aaaaa|aa b"),
        ("indent 2 \"a\\n\\nb\"", "  a\n  \n  b"),
        ("repeat 3 \"ab\"", "ababab"),
        ("cat \"a\" nil 1 \"b \"", "a 1 b "),
        ("quote \"a\" nil 1 1e6", "\"a\" \"1\" \"1e+06\""),
        ("squote \"it's\" 2", "'it's' '2'"),
        ("join \"-\" (list 1 nil \"a\" 1.50)", "1-a-1.5"),
        ("trimAll \"ab\" \"abcba\"", "c"),
        ("replace \"\" \"-\" \"ab\"", "-a-b-"),
    ]);
}

#[test]
fn numbers_are_converted_as_in_sprig() {
    assert_results(&[
        ("int \"0x1F\"", "31"),
        ("int \"010\"", "8"),
        ("int \"08\"", "0"),
        ("int \"1_000\"", "1000"),
        ("int \"5.00\"", "5"),
        ("int \"1.5\"", "0"),
        ("int 1e30", "-9223372036854775808"),
        ("float64 \"1_000.5\"", "1000.5"),
        ("float64 \"1e400\"", "0"),
        ("atoi \"99999999999999999999\"", "9223372036854775807"),
        ("toDecimal \"777\"", "511"),
        ("add \"x\" true 1.9", "2"),
        ("div -7 2", "-3"),
        ("mod -7 2", "-1"),
        ("mul 9223372036854775807 2", "-2"),
        ("addf 0.1 0.2", "0.3"),
        ("divf 1 3", "0.3333333333333333"),
        ("subf \"1.1\" 1", "0.1"),
        ("round 2.345 2", "2.35"),
        ("round -2.5 0", "-3"),
        ("seq 5", "1 2 3 4 5"),
        ("seq 2 5", "2 3 4 5"),
        ("seq 0 2 6", "0 2 4 6"),
        ("seq 3 1", "3 2 1"),
        ("untilStep 5 0 -2", "[5 3 1]"),
        ("maxf 1.5 \"x\" 2", "2"),
    ]);
}

#[test]
fn list_and_map_functions_match_sprig() {
    assert_results(&[
        ("rest list | toJson", "null"),
        ("uniq (list 1 1.0 1) | toJson", "[1,1]"),
        ("without (list 1 \"1\") 1 | toJson", "[\"1\"]"),
        ("slice (list 1 2 3) 1 2", "[2]"),
        ("chunk 2 (list 1 2 3) | toJson", "[[1,2],[3]]"),
        ("concat list list | toJson", "null"),
        ("sortAlpha (list 10 9 \"b\" \"a\")", "[10 9 a b]"),
        ("sortAlpha 5", "[5]"),
        ("splitn \".\" 2 \"a.b.c\"", "map[_0:a _1:b.c]"),
        ("splitList \"\" \"aé\"", "[a é]"),
        ("dict \"a\" | toJson", "{\"a\":\"\"}"),
        (
            "dict 1 2 nil 3 | toJson",
            "{\"1\":2,\"\\u003cnil\\u003e\":3}",
        ),
        (
            "merge (dict \"a\" 0 \"b\" (dict \"x\" 1)) (dict \"a\" 2 \"b\" (dict \"x\" 2 \"y\" 3)) | toJson",
            "{\"a\":2,\"b\":{\"x\":1,\"y\":3}}",
        ),
        (
            "mergeOverwrite (dict \"a\" (dict \"x\" 1)) (dict \"a\" dict \"b\" nil) | toJson",
            "{\"a\":{\"x\":1},\"b\":null}",
        ),
        (
            "dig \"a\" \"b\" 1 (dict \"a\" (dict \"b\" nil)) | toJson",
            "null",
        ),
        ("has 1 (list 1.0)", "false"),
        ("has \"x\" nil", "false"),
        ("deepEqual (list 1) (list 1)", "true"),
        (
            "deepEqual (dict \"a\" (list 1)) (dict \"a\" (list 1))",
            "true",
        ),
        ("deepEqual (dict \"a\" 1) (dict \"a\" 2)", "false"),
        ("deepEqual (dict \"a\" 1) (dict \"b\" 1)", "false"),
        ("deepEqual (dict \"a\" 1) (dict)", "false"),
        ("deepEqual (list \"a\") (splitList \",\" \"a\")", "false"),
    ]);
}

#[test]
fn yaml_is_written_as_in_helm() {
    assert_results(&[
        (
            "toYaml (dict \"a10\" 1 \"a2\" 2 \"b\" 3 \"1\" 4 \"10\" 5 \"_\" 6 \"\" 7)",
            "\"\": 7\n_: 6\n\"1\": 4\n\"10\": 5\na2: 2\na10: 1\nb: 3",
        ),
        (
            "toYaml (list \"yes\" \"1.0\" \"0x1\" \"~\" \"12:30\" \"2024-01-01\" \"- a\" \"a: b\" \"a #b\" \" x\" \"x \" \"@a\" \"it's\")",
            "- \"yes\"\n- \"1.0\"\n- \"0x1\"\n- \"~\"\n- \"12:30\"\n- \"2024-01-01\"\n- '- a'\n- 'a: b'\n- 'a #b'\n- ' x'\n- 'x '\n- '@a'\n- it's",
        ),
        (
            "toYaml (dict \"a\" \"x\\ny\" \"b\" \"x\\n\" \"c\" \"x\\n\\n\" \"d\" \" x\\ny\" \"e\" \"x \\ny\" \"f\" \"a\\tb\")",
            "a: |-\n  x\n  y\nb: |\n  x\nc: |+\n  x\n\nd: |2-\n   x\n  y\ne: \"x \\ny\"\nf: \"a\\tb\"",
        ),
        ("toYaml \"a\\nb\\n\"", "|\n  a\n  b"),
        (
            "toYaml (list (list 1 (list 2)) (dict \"k\" (list (dict \"x\" 1 \"y\" (list)))) dict)",
            "- - 1\n  - - 2\n- k:\n  - x: 1\n    \"y\": []\n- {}",
        ),
        (
            "toYaml (list 1.0 1e6 1234567.5 1e21 1e-7 0.0001 12345678901234567890.0)",
            "- 1\n- 1000000\n- 1.2345675e+06\n- 1e+21\n- 1e-07\n- 0.0001\n- 12345678901234567000",
        ),
        (
            "toYamlPretty (dict \"a\" (list 1 (list 2)))",
            "a:\n  - 1\n  - - 2",
        ),
        ("toYaml nil", "null"),
    ]);
}

#[test]
fn json_is_written_and_parsed_as_in_go() {
    assert_results(&[
        (
            "toJson \"<a&b>\\u2028\"",
            "\"\\u003ca\\u0026b\\u003e\\u2028\"",
        ),
        ("toRawJson \"<a&b>\"", "\"<a&b>\""),
        (
            "toPrettyJson (dict \"a\" (list 1 dict list))",
            "{\n  \"a\": [\n    1,\n    {},\n    []\n  ]\n}",
        ),
        (
            "toJson (list 1e21 1e-7 100000000.0 1.50)",
            "[1e+21,1e-7,100000000,1.5]",
        ),
        (
            "fromJson \"{\\\"a\\\":1\" | toJson",
            "{\"Error\":\"unexpected end of JSON input\"}",
        ),
        (
            "fromJson \"{\\\"a\\\":1e999\" | toJson",
            "{\"Error\":\"unexpected end of JSON input\"}",
        ),
        (
            "fromJson \"[1]\" | toJson",
            "{\"Error\":\"json: cannot unmarshal array into Go value of type map[string]interface {}\"}",
        ),
        (
            "fromJson \"tru\" | toJson",
            "{\"Error\":\"invalid character ' ' in literal true (expecting 'e')\"}",
        ),
        (
            "fromJson \"{\\\"a\\\" 1}\" | toJson",
            "{\"Error\":\"invalid character '1' after object key\"}",
        ),
        (
            "fromJson \"1.e\" | toJson",
            "{\"Error\":\"invalid character 'e' after decimal point in numeric literal\"}",
        ),
        (
            "fromJsonArray \"{}\" | toJson",
            "[\"json: cannot unmarshal object into Go value of type []interface {}\"]",
        ),
        (
            "mustFromJson \"\\\"\\\\ud83d\\\\ude00\\\\ud83d\\\"\" | toJson",
            "\"😀�\"",
        ),
        (
            "fromYaml \"a: [1\" | toJson",
            "{\"Error\":\"error converting YAML to JSON: yaml: line 1: did not find expected ',' or ']'\"}",
        ),
        (
            "fromYaml \"5\" | toJson",
            "{\"Error\":\"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal number into Go value of type map[string]interface {}\"}",
        ),
        (
            "fromYamlArray \"a: 1\" | toJson",
            "[\"error unmarshaling JSON: while decoding JSON: json: cannot unmarshal object into Go value of type []interface {}\"]",
        ),
        (
            "fromYaml \"a: b: c\" | toJson",
            "{\"Error\":\"error converting YAML to JSON: yaml: mapping values are not allowed in this context\"}",
        ),
    ]);
}

#[test]
fn encodings_and_paths_match_go() {
    assert_results(&[
        ("b64dec \"aGVsbG8\"", "illegal base64 data at input byte 4"),
        ("b64dec \"aGVsbA=x\"", "illegal base64 data at input byte 6"),
        ("b32dec \"NBUQ===\"", "illegal base32 data at input byte 7"),
        ("adler32sum \"hello\"", "103547413"),
        ("base \"/a/b/\"", "b"),
        ("dir \"a/../b/c\"", "b"),
        ("ext \"x.tar.gz\"", ".gz"),
        ("clean \"/../a//b/.\"", "/a/b"),
        (
            "urlParse \"https://u:p@h.example:80/a%20b?q=1#f\" | toJson",
            "{\"fragment\":\"f\",\"host\":\"h.example:80\",\"hostname\":\"h.example\",\"opaque\":\"\",\"path\":\"/a b\",\"query\":\"q=1\",\"scheme\":\"https\",\"userinfo\":\"u:p\"}",
        ),
        (
            "urlJoin (dict \"scheme\" \"https\" \"host\" \"h\" \"path\" \"a b\" \"query\" \"x=1\")",
            "https://h/a%20b?x=1",
        ),
        ("regexReplaceAll \"a(x*)b\" \"-ab-axxb-\" \"$1W\"", "---"),
        ("regexFindAll \"z\" \"a\" -1 | toJson", "null"),
        ("regexSplit \"z+\" \"pizza\" -1", "[pi a]"),
        ("regexMatch \"(\" \"x\"", "false"),
        ("semver \"v1.2\" | toString", "1.2.0"),
    ]);
}

#[test]
fn failures_have_the_error_classes_of_helm() {
    let classes = [
        ("first nil", ErrorClass::NilPointer),
        ("first 5", ErrorClass::WrongType),
        ("concat (list 1) \"x\"", ErrorClass::WrongType),
        ("slice (list 1) 2 3", ErrorClass::WrongType),
        ("substr 3 1 \"hello\"", ErrorClass::OutOfRange),
        ("div 1 0", ErrorClass::Other),
        ("divf 1 0", ErrorClass::Other),
        ("repeat -1 \"x\"", ErrorClass::Other),
        ("dig \"a\" (dict)", ErrorClass::Other),
        (
            "dig \"a\" \"b\" 1 (dict \"a\" \"s\")",
            ErrorClass::WrongType,
        ),
        ("dig 1 2 (dict)", ErrorClass::WrongType),
        ("deepCopy nil", ErrorClass::Other),
        ("regexFind \"(\" \"x\"", ErrorClass::Other),
        ("semverCompare \"\" \"1.2.3\"", ErrorClass::Other),
        ("required \"need it\" \"\"", ErrorClass::Fail),
        ("trim 5", ErrorClass::WrongType),
        (
            "(semver \"v1.2.3\").IncPatch.Original",
            ErrorClass::WrongType,
        ),
    ];
    for (expression, expected) in classes {
        assert_eq!(class(expression), Some(expected), "{expression}");
    }
}

#[test]
fn calls_with_huge_results_exceed_the_limit_before_allocating() {
    let endless = [
        "repeat 1000000000 \"x\"",
        "until 1000000000",
        "untilStep 0 9223372036854775807 1",
        "seq 1000000000",
        "indent 1000000000 \"x\"",
        "regexReplaceAll \"\" (repeat 1000000 \"x\") (repeat 1000 \"y\")",
        "replace \"x\" (repeat 100000 \"y\") (repeat 100000 \"x\")",
    ];
    for expression in endless {
        assert_eq!(class(expression), Some(ErrorClass::Limit), "{expression}");
    }
}

#[test]
fn functions_refuse_a_map_that_contains_itself() {
    let looped = |function: &str| {
        class(&format!(
            "$m := dict }}}}{{{{ $_ := set $m \"me\" $m }}}}{{{{ {function}"
        ))
    };
    for function in [
        "$m | toJson",
        "$m | toYaml",
        "deepCopy $m",
        "merge $m (deepCopy $m)",
    ] {
        assert!(looped(function).is_some(), "{function}");
    }
}
