//! A regular expression and a text to match, a line break between them: Go's RE2, without its patience.

use go_template::regexp::{Cost, Meter, Regexp, quote_meta};

/// What a pattern may spend on a text here, as an evaluation does: steps, and bytes of results.
struct Purse<'c> {
    cost: &'c Cost,
    steps: u64,
}

/// The purse is empty.
#[derive(Debug)]
struct Empty;

impl Purse<'_> {
    fn pay(&mut self, steps: u64) -> Result<(), Empty> {
        self.steps = self.steps.checked_sub(steps).ok_or(Empty)?;
        Ok(())
    }
}

impl Meter for Purse<'_> {
    type Error = Empty;

    fn search(&mut self, text: &str, from: usize) -> Result<(), Empty> {
        self.pay(self.cost.search(text, from))
    }

    fn groups(&mut self, bytes: usize) -> Result<(), Empty> {
        self.pay(self.cost.groups(bytes))
    }

    fn result(&mut self, bytes: usize, _pieces: usize) -> Result<(), Empty> {
        (bytes <= 1 << 16).then_some(()).ok_or(Empty)
    }
}

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
    let cost = Cost::new(pattern, &regexp).expect("it is a pattern");
    let purse = || Purse {
        cost: &cost,
        steps: 20_000_000,
    };
    if let Ok(all) = regexp.find_all(text, -1, &mut purse()) {
        assert_eq!(all.first().copied(), found, "{pattern:?} in {text:?}");
    }
    let mut rest = text;
    for part in regexp.split(text, -1, &mut purse()).unwrap_or_default() {
        let at = rest.find(part).expect("parts stand in the text, in order");
        rest = &rest[at + part.len()..];
    }
    let _ = regexp.groups_by_name(text);
    let _ = regexp.replace_all(text, replacement, &mut purse());
    let _ = regexp.replace_all_literal(text, replacement, &mut purse());
    true
}
