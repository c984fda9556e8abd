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

/// The text with those numbered mutants.
pub fn splice(text: &str, mutants: &[(u32, &Mutant)]) -> Spliced {
    let mut insertions: Vec<Insertion> = Vec::new();
    let mut rest = mutants;
    while let Some((number, first)) = rest.first() {
        let same = rest
            .iter()
            .take_while(|(_, mutant)| mutant.range == first.range)
            .count();
        let range = first.range.clone();
        match &first.form {
            Form::Unless(words) => {
                let text = format!("{words} !{}", on(*number));
                let of = vec![(*number, 0..text.len())];
                insertions.push(Insertion {
                    position: range.start,
                    order: (1, 0),
                    text,
                    of,
                    range,
                });
            }
            Form::Return(_) => {
                let mut text = String::new();
                let mut of = Vec::new();
                for (number, mutant) in &rest[..same] {
                    if let Form::Return(answer) = &mutant.form {
                        let start = text.len();
                        text.push_str(&format!(" if {} {{ return {answer}; }}", on(*number)));
                        of.push((*number, start..text.len()));
                    }
                }
                insertions.push(Insertion {
                    position: range.start,
                    order: (1, 0),
                    text,
                    of,
                    range,
                });
            }
            // The text itself goes: an insertion that reaches over it.
            Form::ByHand(replacement) => {
                // Several mutants may share it.
                let numbers: Vec<u32> = rest[..same].iter().map(|(number, _)| *number).collect();
                let ons: Vec<String> = numbers.iter().map(|number| on(*number)).collect();
                let text = with_switch(replacement, &format!("({})", ons.join(" || ")));
                let of = numbers
                    .iter()
                    .map(|number| (*number, 0..text.len()))
                    .collect();
                insertions.push(Insertion {
                    position: range.start,
                    order: (3, 0),
                    text,
                    of,
                    range,
                });
            }
            Form::LeaveOut => {
                let text = format!("if !{} {{ ", on(*number));
                let of = vec![(*number, 0..text.len())];
                around(&mut insertions, range, text, of, " }");
            }
            Form::Instead(_) => {
                let mut text = "(".to_owned();
                let mut of = Vec::new();
                for (number, mutant) in &rest[..same] {
                    if let Form::Instead(other) = &mutant.form {
                        let start = text.len();
                        text.push_str(&format!("if {} {{ {other} }} else ", on(*number)));
                        of.push((*number, start..text.len()));
                    }
                }
                text.push_str("{ ");
                around(&mut insertions, range, text, of, " })");
            }
        }
        rest = &rest[same..];
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

fn around(
    insertions: &mut Vec<Insertion>,
    range: Range<usize>,
    before: String,
    of: Vec<(u32, Range<usize>)>,
    after: &str,
) {
    let (start, end) = (range.start, range.end);
    insertions.push(Insertion {
        position: start,
        order: (2, -end.cast_signed()),
        text: before,
        of,
        range: range.clone(),
    });
    let text = after.to_owned();
    insertions.push(Insertion {
        position: end,
        order: (0, -start.cast_signed()),
        text,
        of: Vec::new(),
        range,
    });
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
