use std::collections::BTreeMap;

use super::sprintf;
use crate::Value;

fn check(cases: &[(&str, &str)], arguments: &[Value]) {
    for (format, expected) in cases {
        let text = sprintf(format, arguments);
        assert_eq!(text.as_deref().ok(), Some(*expected), "{format}");
    }
}

// The expected texts are what Go 1.26 prints.

#[test]
fn integers_have_flags_widths_and_precisions() {
    let cases = [
        ("%v", "1234"),
        ("%d", "1234"),
        ("%5d|", " 1234|"),
        ("%-5d|", "1234 |"),
        ("%05d", "01234"),
        ("%+d", "+1234"),
        ("% d", " 1234"),
        ("%x", "4d2"),
        ("%#X", "0X4D2"),
        ("%b", "10011010010"),
        ("%o", "2322"),
        ("%#o", "02322"),
        ("%O", "0o2322"),
        ("%c", "Ӓ"),
        ("%q", "'Ӓ'"),
        ("%U", "U+04D2"),
        ("%#U", "U+04D2 'Ӓ'"),
        ("%.5d", "01234"),
        ("%8.3d", "    1234"),
        ("%s", "%!s(int=1234)"),
        ("%t", "%!t(int=1234)"),
        ("%z", "%!z(int=1234)"),
        ("%08.3d", "    1234"),
        ("%e", "%!e(int=1234)"),
    ];
    check(&cases, &[Value::Int(1234)]);
}

#[test]
fn floats_have_the_same_digits_as_in_go() {
    let cases = [
        ("%v", "1.234567891e+06"),
        ("%g", "1.234567891e+06"),
        ("%f", "1234567.891000"),
        ("%.2f", "1234567.89"),
        ("%e", "1.234568e+06"),
        ("%E", "1.234568E+06"),
        ("%G", "1.234567891E+06"),
        ("%08.2f", "1234567.89"),
        ("%+.1f", "+1234567.9"),
        ("% f", " 1234567.891000"),
        ("%#g", "1.234567891e+06"),
        ("%.3g", "1.23e+06"),
        ("%10.4g|", " 1.235e+06|"),
        ("%-10g|", "1.234567891e+06|"),
        ("%x", "0x1.2d687e4189375p+20"),
        ("%.2x", "0x1.2dp+20"),
        ("%b", "5302428716536693p-32"),
        ("%d", "%!d(float64=1.234567891e+06)"),
        ("%s", "%!s(float64=1.234567891e+06)"),
        ("%5v|", "1.234567891e+06|"),
        ("%#v", "1.234567891e+06"),
    ];
    check(&cases, &[Value::Float(1_234_567.891)]);
}

#[test]
fn the_maximum_precision_is_printed_in_full() {
    let written = |format: &str, value: Value| {
        let text = sprintf(format, &[value]);
        text.map(|text| (text.len(), text.chars().take(4).collect::<String>()))
    };
    let cases = [
        ("%.1000000f", Value::Float(1.5), 1_000_002, "1.50"),
        ("%.1000000e", Value::Float(1.5), 1_000_006, "1.50"),
        ("%.1000000g", Value::Float(1.5), 3, "1.5"),
        ("%.1000000x", Value::Float(1.5), 1_000_008, "0x1."),
        ("%.1000000U", Value::Int(1), 1_000_002, "U+00"),
        ("%.1000000d", Value::Int(1), 1_000_000, "0000"),
        ("%1000000d", Value::Int(1), 1_000_000, "    "),
        ("%.70000s", "a".into(), 1, "a"),
    ];
    for (format, value, length, start) in cases {
        let expected = (length, start.to_owned());
        assert_eq!(written(format, value).ok(), Some(expected), "{format}");
    }
    let smallest = f64::from_bits(1);
    let text = sprintf("%.1074f", &[Value::Float(smallest)]);
    assert!(text.is_ok_and(|text| text.ends_with("5")));
}

#[test]
fn strings_are_truncated_quoted_and_padded() {
    let cases = [
        ("%s", "h\té`"),
        ("%v", "h\té`"),
        ("%q", "\"h\\té`\""),
        ("%#q", "\"h\\té`\""),
        ("%+q", "\"h\\t\\u00e9`\""),
        ("%x", "6809c3a960"),
        ("%X", "6809C3A960"),
        ("% x", "68 09 c3 a9 60"),
        ("%#x", "0x6809c3a960"),
        ("%# x", "0x68 0x09 0xc3 0xa9 0x60"),
        ("%10s|", "      h\té`|"),
        ("%-10s|", "h\té`      |"),
        ("%.2s", "h\t"),
        ("%10.2q|", "     \"h\\t\"|"),
        ("%05s", "0h\té`"),
        ("%d", "%!d(string=h\té`)"),
        ("%t", "%!t(string=h\té`)"),
        ("%c", "%!c(string=h\té`)"),
        ("%T", "string"),
        ("%#v", "\"h\\té`\""),
        ("%p", "%!p(string=h\té`)"),
    ];
    check(&cases, &["h\t\u{e9}`".into()]);
}

#[test]
fn a_verb_applies_to_the_items_of_a_list() {
    let cases = [
        ("%v", "[1 a <nil> true 1.5 []]"),
        (
            "%s",
            "[%!s(int=1) a <nil> %!s(bool=true) %!s(float64=1.5) []]",
        ),
        (
            "%d",
            "[1 %!d(string=a) <nil> %!d(bool=true) %!d(float64=1.5) []]",
        ),
        (
            "%q",
            "['\\x01' \"a\" <nil> %!q(bool=true) %!q(float64=1.5) []]",
        ),
        (
            "%#v",
            "[]interface {}{1, \"a\", interface {}(nil), true, 1.5, []interface {}{}}",
        ),
        ("%+v", "[1 a <nil> true 1.5 []]"),
        ("%T", "[]interface {}"),
        ("%x", "[1 61 <nil> %!x(bool=true) 0x1.8p+00 []]"),
        ("%5v", "[    1     a <nil>  true   1.5 []]"),
        (
            "%05d",
            "[00001 %!d(string=0000a) <nil> %!d(bool=0true) %!d(float64=001.5) []]",
        ),
    ];
    let items = vec![
        Value::Int(1),
        "a".into(),
        Value::Nil,
        Value::Bool(true),
        Value::Float(1.5),
        Value::list(Vec::new()),
    ];
    check(&cases, &[Value::list(items)]);
}

#[test]
fn maps_are_printed_in_the_order_of_their_keys() {
    let cases = [
        ("%v", "map[a:<nil> b:1]"),
        ("%s", "map[a:<nil> b:%!s(int=1)]"),
        ("%d", "map[%!d(string=a):<nil> %!d(string=b):1]"),
        (
            "%#v",
            "map[string]interface {}{\"a\":interface {}(nil), \"b\":1}",
        ),
    ];
    let entries = BTreeMap::from([("b".into(), Value::Int(1)), ("a".into(), Value::Nil)]);
    check(&cases, &[Value::map(entries)]);
}

#[test]
fn mismatches_between_format_and_arguments_are_reported_in_the_text() {
    let (one, two) = (Value::Int(1), Value::Int(2));
    check(&[("%d %d", "1 %!d(MISSING)")], std::slice::from_ref(&one));
    check(
        &[("%d", "1%!(EXTRA string=x, <nil>)")],
        &[one.clone(), "x".into(), Value::Nil],
    );
    check(&[("%", "%!(NOVERB)"), ("%!", "%!!(MISSING)")], &[]);
    check(
        &[("%[2]d %[1]d", "2 1"), ("%[3]d", "%!d(BADINDEX)")],
        &[one.clone(), two],
    );
    check(
        &[("%*d|", "    1|"), ("%-*d|", "1    |")],
        &[Value::Int(5), one.clone()],
    );
    check(&[("%*d", "%!(BADWIDTH)1")], &["a".into(), one]);
    check(&[("%.*f", "2.50")], &[Value::Int(2), Value::Float(2.5)]);
    check(&[("%v|%d", "<nil>|%!d(<nil>)")], &[Value::Nil, Value::Nil]);
}
