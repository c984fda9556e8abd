//! Tests of the TOML functions. The expected results were recorded from Helm 3.17 and 4.1.

use super::recorded::{assert_results, evaluate_as};
use crate::Engine;

#[test]
fn toml_is_written_and_read_as_by_helm() {
    assert_results(&[
        ("dict | toToml", ""),
        ("dict \"a\" 1 | toToml", "a = 1\n"),
        ("dict \"b\" 1 \"a\" \"x\" | toToml", "a = \"x\"\nb = 1\n"),
        ("dict \"a\" 1.0 | toToml", "a = 1.0\n"),
        ("dict \"a\" 0.1 | toToml", "a = 0.1\n"),
        ("dict \"a\" -0.0 | toToml", "a = -0.0\n"),
        ("dict \"a\" true \"b\" nil | toToml", "a = true\n"),
        ("dict \"a\" (list) | toToml", "a = []\n"),
        (
            "dict \"a\" (list 1 \"x\" true) | toToml",
            "a = [1, \"x\", true]\n",
        ),
        (
            "dict \"a\" (list (list 1) (list)) | toToml",
            "a = [[1], []]\n",
        ),
        (
            "dict \"a\" (list nil) | toToml",
            "toml: cannot encode array with nil element",
        ),
        (
            "dict \"a\" (list (list nil)) | toToml",
            "toml: cannot encode array with nil element",
        ),
        ("dict \"a\" (list (dict \"x\" nil)) | toToml", "[[a]]\n"),
        ("dict \"a\" (dict) | toToml", "[a]\n"),
        (
            "dict \"a\" (dict \"b\" (dict \"c\" 1)) | toToml",
            "[a]\n  [a.b]\n    c = 1\n",
        ),
        (
            "dict \"a\" (dict \"b\" (dict \"c\" 1) \"d\" 2) \"z\" 3 | toToml",
            "z = 3\n\n[a]\n  d = 2\n  [a.b]\n    c = 1\n",
        ),
        (
            "dict \"a\" (dict \"x\" 1) \"b\" (dict \"y\" 2) | toToml",
            "[a]\n  x = 1\n\n[b]\n  y = 2\n",
        ),
        (
            "dict \"a\" (list (dict \"x\" 1) (dict \"x\" 2)) | toToml",
            "[[a]]\n  x = 1\n\n[[a]]\n  x = 2\n",
        ),
        (
            "dict \"a\" (list (dict \"x\" (list (dict \"y\" 1)))) | toToml",
            "[[a]]\n\n  [[a.x]]\n    y = 1\n",
        ),
        (
            "dict \"a\" (list (dict \"x\" 1) 2) | toToml",
            "a = [{x = 1}, 2]\n",
        ),
        (
            "dict \"a\" (list (dict \"x\" (dict \"y\" 1) \"b\" nil) 2) | toToml",
            "a = [{x = {y = 1}}, 2]\n",
        ),
        (
            "dict \"a\" (list (dict \"b\" 1 \"c\" nil) 2) | toToml",
            "a = [{b = 1, }, 2]\n",
        ),
        (
            "dict \"a\" (list (dict \"b\" nil \"c\" 1) 2) | toToml",
            "a = [{c = 1}, 2]\n",
        ),
        ("dict \"a\" (list (dict) 2) | toToml", "a = [{}, 2]\n"),
        (
            "dict \"a b\" 1 \"\" 2 \"é\" 3 \"a.b\" 4 \"a-b_C9\" 5 | toToml",
            "\"\" = 2\n\"a b\" = 1\na-b_C9 = 5\n\"a.b\" = 4\n\"é\" = 3\n",
        ),
        (
            "dict \"a b\" (dict \"\" (dict \"c\\\"\" 1)) | toToml",
            "[\"a b\"]\n  [\"a b\".\"\"]\n    \"c\\\"\" = 1\n",
        ),
        (
            "dict \"a\" \"q\\\"b\\\\n\\nt\\tr\\rf\\fx\\x00y\\x7f\\x1bé\" | toToml",
            "a = \"q\\\"b\\\\n\\nt\\tr\\rf\\fx\\u0000y\\u007f\\u001bé\"\n",
        ),
        ("dict \"a\" (list (dict)) | toToml", "[[a]]\n"),
        (
            "dict \"a\" (list (list (dict \"x\" 1))) | toToml",
            "a = [[{x = 1}]]\n",
        ),
        ("\"x\" | toToml", "\"x\""),
        ("1 | toToml", "1"),
        ("1.5 | toToml", "1.5"),
        ("true | toToml", "true"),
        ("list 1 2 | toToml", "[1, 2]"),
        ("list | toToml", "[]"),
        (
            "list (dict \"a\" 1) | toToml",
            "toml: top-level values must be Go maps or structs",
        ),
        ("list (list (dict \"a\" 1)) | toToml", "[[{a = 1}]]"),
        (
            "list nil | toToml",
            "toml: cannot encode array with nil element",
        ),
        (
            "dict \"a\" (int64 3) \"b\" (len \"abc\") \"c\" (index \"abc\" 0) | toToml",
            "a = 3\nb = 3\nc = 97\n",
        ),
        (
            "dict \"a\" (dict \"b\" (list (dict \"c\" (dict \"d\" (list (dict \"e\" 1) (dict)))))) | toToml",
            "[a]\n\n  [[a.b]]\n    [a.b.c]\n\n      [[a.b.c.d]]\n        e = 1\n\n      [[a.b.c.d]]\n",
        ),
        (
            "dict \"a\" (splitList \",\" \"x,y\") | toToml",
            "a = [\"x\", \"y\"]\n",
        ),
        ("dict \"b\" (dict) \"a\" (dict) | toToml", "[a]\n\n[b]\n"),
        ("dict \"a\" (dict \"b\" (dict)) | toToml", "[a]\n  [a.b]\n"),
        (
            "dict \"k\" (dict \"x\" 1) \"j\" (list (dict \"y\" 1)) \"i\" 0 | toToml",
            "i = 0\n\n[[j]]\n  y = 1\n\n[k]\n  x = 1\n",
        ),
        ("fromToml \"a = 1\" | toJson", "{\"a\":1}"),
        (
            "fromToml \"a = 1.0\\nb = \\\"x\\\"\\n[c]\\nd = [1, 2]\" | toJson",
            "{\"a\":1,\"b\":\"x\",\"c\":{\"d\":[1,2]}}",
        ),
        (
            "fromToml \"[[a]]\\nx = 1\\n[[a]]\\nx = 2\" | toJson",
            "{\"a\":[{\"x\":1},{\"x\":2}]}",
        ),
        ("fromToml \"\" | toJson", "{}"),
        (
            "fromToml \"a.b.c = true\" | toJson",
            "{\"a\":{\"b\":{\"c\":true}}}",
        ),
        (
            "fromToml \"a = {x = 1, y = {z = 2}}\" | toJson",
            "{\"a\":{\"x\":1,\"y\":{\"z\":2}}}",
        ),
        (
            "fromToml \"a = 0xff\\nb = 0o17\\nc = 0b11\\nd = 1_000\\ne = 1e3\\nf = -1.5_0\" | toJson",
            "{\"a\":255,\"b\":15,\"c\":3,\"d\":1000,\"e\":1000,\"f\":-1.5}",
        ),
        ("fromToml `a = 'x\\y'` | toJson", "{\"a\":\"x\\\\y\"}"),
        ("(fromToml \"a = 1\").a | printf \"%T\"", "int64"),
        ("(fromToml \"a = 1.5\").a | printf \"%T\"", "float64"),
        (
            "fromToml \"a = \\\"\\\"\\\"\\nx\\\\\\n  y\\\"\\\"\\\"\" | toJson",
            "{\"a\":\"xy\"}",
        ),
        ("hasKey (fromToml \"a = \") \"Error\"", "true"),
        ("hasKey (fromToml \"a = 1\\na = 2\") \"Error\"", "true"),
        (
            "fromToml \"a = 9223372036854775807\" | toJson",
            "{\"a\":9223372036854775807}",
        ),
        (
            "hasKey (fromToml \"a = 9223372036854775808\") \"Error\"",
            "true",
        ),
        ("fromToml \"a = inf\" | toToml", "a = inf\n"),
        ("fromToml \"a = nan\" | toToml", "a = nan\n"),
        (
            "fromToml \"[a]\\nb=1\\n[a.c]\\nd=2\\n[e]\" | toToml",
            "[a]\n  b = 1\n  [a.c]\n    d = 2\n\n[e]\n",
        ),
        (
            "fromToml \"a = [{x = 1}, {y = 2}]\" | toToml",
            "[[a]]\n  x = 1\n\n[[a]]\n  y = 2\n",
        ),
        (
            "fromToml \"\\\"a b\\\" = 1\\n'c.d' = 2\" | toToml",
            "\"a b\" = 1\n\"c.d\" = 2\n",
        ),
        ("kindOf (fromToml \"a = [1]\").a", "slice"),
    ]);
}

#[test]
fn floats_have_exponents_in_helm_4() {
    for (expression, helm3, helm4) in [
        (
            "dict \"a\" 1000000.0 | toToml",
            "a = 1000000.0\n",
            "a = 1e+06\n",
        ),
        (
            "dict \"a\" 0.00001 | toToml",
            "a = 0.00001\n",
            "a = 1e-05\n",
        ),
        (
            "dict \"a\" 1e21 | toToml",
            "a = 1000000000000000000000.0\n",
            "a = 1e+21\n",
        ),
    ] {
        for (engine, expected) in [(Engine::Helm3, helm3), (Engine::Helm4, helm4)] {
            let result = evaluate_as(engine, expression).map_err(|error| error.message);
            assert_eq!(result.as_deref(), Ok(expected), "{expression}");
        }
    }
}

/// They end in an error, and take neither the stack nor much time.
#[test]
fn toml_that_cannot_be_held_is_refused() {
    for expression in [
        "fromToml \"a = 2026-11-23\"",
        "toToml nil",
        "toToml (semver \"1.2.3\")",
        "fromToml (repeat 70 (printf \"{%s=\" (repeat 70 \"a.\")) | printf \"a=%s\")",
        "fromToml (printf \"a = %s\" (repeat 100000 \"[\"))",
        "fromToml (printf \"a%s = 1\" (repeat 100000 \".a\"))",
        "fromToml (printf \"a = %s1\" (repeat 100000 \"{a=\"))",
    ] {
        let result = evaluate_as(Engine::Helm3, expression);
        let is_message = result.as_ref().is_ok_and(|text| text.contains("Error"));
        assert!(result.is_err() || is_message, "{expression}: {result:?}");
    }
}
