//! A regular expression and a text to match, a line break between them: Go's RE2, without its patience.

use go_template::regexp::{Regexp, quote_meta};

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let (pattern, rest) = text.split_once('\n').unwrap_or((text, "aab 1.31.8+rke2r1"));
    let (replacement, text) = rest.split_once('\n').unwrap_or(("$1-${name}$$", rest));
    let quoted = Regexp::new(&quote_meta(text));
    if let Ok(quoted) = quoted {
        assert!(quoted.is_match(text), "{text:?} quoted");
    }
    let Ok(regexp) = Regexp::new(pattern) else {
        return false;
    };
    let found = regexp.find(text);
    assert_eq!(found.is_some(), regexp.is_match(text), "{pattern:?}");
    let all = regexp.find_all(text, -1);
    assert_eq!(all.first().copied(), found, "{pattern:?} in {text:?}");
    let mut rest = text;
    for part in regexp.split(text, -1) {
        let at = rest.find(part).expect("parts stand in the text, in order");
        rest = &rest[at + part.len()..];
    }
    let _ = regexp.groups_by_name(text);
    // What a replacement makes is as long as the matches and the replacement are.
    if all.len().saturating_mul(replacement.len()) <= 1 << 16 {
        let _ = regexp.replace_all(text, replacement, 1 << 20);
        let _ = regexp.replace_all_literal(text, replacement, 1 << 20);
    }
    true
}
