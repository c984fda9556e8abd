//! Splices mutants into a text, each behind its switch.

use std::ops::Range;

use crate::find::{Form, Mutant};

/// The condition that a mutant is active.
pub fn on(number: u32) -> String {
    format!("::mutants_switch::on({number})")
}

/// A text with its mutants, and which bytes of it belong to which mutant.
pub struct Spliced {
    pub text: String,
    /// The bytes of the mutant's own text, and of the whole place that it is spliced into.
    pub places: Vec<(u32, Range<usize>, Range<usize>)>,
}

/// What is inserted at one position. Ends go before beginnings, inner ends before outer ones, outer beginnings before inner.
struct Insertion {
    position: usize,
    order: (u8, isize),
    text: String,
    /// Mutants whose text begins at these offsets of `text`.
    of: Vec<(u32, Range<usize>)>,
    /// The place's other end, in the original text.
    range: Range<usize>,
}

/// The text with those numbered mutants, which are sorted by their ranges.
pub fn splice(text: &str, mutants: &[(u32, &Mutant)]) -> Spliced {
    let mut insertions: Vec<Insertion> = Vec::new();
    for group in mutants.chunk_by(|(_, one), (_, other)| one.range == other.range) {
        let range = group[0].1.range.clone();
        let (start, end) = (range.start.cast_signed(), range.end.cast_signed());
        let (order, before, behind, after) = match &group[0].1.form {
            Form::Unless(_) | Form::Return(_) => ((1, 0), "", "", ""),
            Form::LeaveOut => ((2, -end), "", "", " }"),
            Form::Instead(_) => ((2, -end), "(", "{ ", " })"),
            // The text itself goes: an insertion that reaches over it.
            Form::ByHand(_) => ((3, 0), "", "", ""),
        };
        let mut inserted = before.to_owned();
        let mut of = Vec::new();
        for (number, mutant) in group {
            let (from, on) = (inserted.len(), on(*number));
            inserted += &match &mutant.form {
                Form::Unless(words) => format!("{words} !{on}"),
                Form::Return(answer) => format!(" if {on} {{ return {answer}; }}"),
                Form::LeaveOut => format!("if !{on} {{ "),
                Form::Instead(other) => format!("if {on} {{ {other} }} else "),
                // Several mutants share one text.
                Form::ByHand(_) if !of.is_empty() => String::new(),
                Form::ByHand(replacement) => {
                    let ons = group.iter().map(|(number, _)| self::on(*number));
                    let ons: Vec<String> = ons.collect();
                    with_switch(replacement, &format!("({})", ons.join(" || ")))
                }
            };
            let is_shared = matches!(mutant.form, Form::ByHand(_));
            of.push((*number, if is_shared { 0 } else { from }..inserted.len()));
        }
        inserted += behind;
        insertions.push(Insertion {
            position: range.start,
            order,
            text: inserted,
            of,
            range: range.clone(),
        });
        if !after.is_empty() {
            insertions.push(Insertion {
                position: range.end,
                order: (0, -start),
                text: after.to_owned(),
                of: Vec::new(),
                range,
            });
        }
    }
    insertions.sort_by_key(|insertion| (insertion.position, insertion.order));
    join(text, &insertions)
}

/// A text with a condition instead of each word `ON`.
fn with_switch(text: &str, condition: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = String::new();
    let mut rest = text;
    while let Some(at) = rest.find("ON") {
        let (before, after) = (&rest[..at], &rest[at + 2..]);
        words.push_str(before);
        let whole = !before.ends_with(is_part) && !after.starts_with(is_part);
        words.push_str(if whole { condition } else { "ON" });
        rest = after;
    }
    words.push_str(rest);
    words
}

fn join(text: &str, insertions: &[Insertion]) -> Spliced {
    let mut spliced = String::with_capacity(text.len() * 3);
    let mut written = 0;
    // Where each position of the original is found now, for the ends of the places.
    let mut begun: Vec<(u32, Range<usize>, Range<usize>)> = Vec::new();
    let mut ends: Vec<(Range<usize>, usize)> = Vec::new();
    for insertion in insertions {
        spliced.push_str(&text[written..insertion.position]);
        written = insertion.position;
        let start = spliced.len();
        spliced.push_str(&insertion.text);
        for (number, own) in &insertion.of {
            let own = start + own.start..start + own.end;
            begun.push((*number, own.clone(), start..own.end));
        }
        if insertion.order.0 == 3 {
            written = insertion.range.end;
        }
        if insertion.of.is_empty() {
            ends.push((insertion.range.clone(), spliced.len()));
        }
    }
    spliced.push_str(&text[written..]);
    // A place without an end is an insertion alone.
    let mut places = Vec::new();
    let starts = insertions
        .iter()
        .flat_map(|insertion| insertion.of.iter().map(|_| &insertion.range));
    for ((number, own, whole), range) in begun.into_iter().zip(starts) {
        let end = ends
            .iter()
            .find(|(other, _)| other == range)
            .map_or(whole.end, |(_, end)| *end);
        places.push((number, own, whole.start..end));
    }
    Spliced {
        text: spliced,
        places,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    #[test]
    fn every_mutant_is_behind_its_switch_and_the_text_stays_rust() {
        let text = "fn f(a: bool, b: u8) -> bool { g(); if let 1 = b && a && !(b < 2) { h(b, 3)?; } match b { 1 => a, _ => false } }";
        let found = find::mutants(text).expect("Rust");
        assert!(found.len() > 10, "{found:?}");
        let numbered: Vec<(u32, &Mutant)> = (1..).zip(&found).collect();
        let spliced = splice(text, &numbered);
        syn::parse_file(&spliced.text).expect("Rust");
        assert_eq!(spliced.places.len(), found.len());
        for (number, own, whole) in &spliced.places {
            assert!(spliced.text[own.clone()].contains(&on(*number)));
            assert!(whole.start <= own.start && own.end <= whole.end);
        }
    }

    #[test]
    fn manual_mutants_share_a_text() {
        let mutant = Mutant {
            range: 2..3,
            form: Form::ByHand("(ON || ONCE)".to_owned()),
            function: String::new(),
            change: String::new(),
            line: 1,
            scope: 1..=1,
        };
        let spliced = splice("a b c", &[(1, &mutant), (2, &mutant)]);
        let wanted = format!("a (({} || {}) || ONCE) c", on(1), on(2));
        assert_eq!(spliced.text, wanted);
        for (_, own, _) in spliced.places {
            assert_eq!(own, 2..wanted.len() - 2);
        }
    }
}
