//! The expressions of templates in texts that are not evaluated.

/// What begins and ends an expression of Go's templates and of Helm's.
pub(super) const ACTIONS: (&str, &str) = ("{{", "}}");

/// A text with a character for each byte of an expression but line ends, so that it is as long as it was; none where there is no
/// expression. `marks` are what begins and ends one.
pub(super) fn blank_expressions<const N: usize>(
    text: &str,
    marks: [(&str, &str); N],
    blank: impl Fn(&str) -> char,
) -> Option<String> {
    let mut plain = String::with_capacity(text.len());
    // Where each mark is next: looked for again only once it is passed.
    let mut next = marks.map(|(open, _)| text.find(open));
    let mut kept = 0;
    while let Some((start, (open, close))) = { next.iter().zip(marks) }
        .filter_map(|(at, marks)| Some(((*at)?, marks)))
        .min_by_key(|(at, _)| *at)
    {
        let end = text[start..].find(close);
        let end = end.map_or(text.len(), |end| start + end + close.len());
        plain.push_str(&text[kept..start]);
        let letter = |byte| if byte == b'\n' { '\n' } else { blank(open) };
        plain.extend(text[start..end].bytes().map(letter));
        kept = end;
        for (next, (open, _)) in next.iter_mut().zip(marks) {
            if next.is_some_and(|at| at < end) {
                *next = text[end..].find(open).map(|at| end + at);
            }
        }
    }
    plain.push_str(&text[kept..]);
    (kept > 0).then_some(plain)
}
