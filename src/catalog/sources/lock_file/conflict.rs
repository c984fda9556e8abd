//! Git's marks of a conflict: the two texts that it could not merge.

use std::ops::Range;

/// The marks, in the order in which they come: the text that both sides began from is shown only where git is set up so.
const MARKS: [&str; 4] = ["<<<<<<<", "|||||||", "=======", ">>>>>>>"];

/// Which of the marks a line is, by its place among them.
fn mark(line: &str) -> Option<usize> {
    let line = line.trim_end_matches(['\n', '\r']);
    MARKS.iter().position(|mark| {
        let rest = line.strip_prefix(mark);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Whether a line is one of git's marks.
pub(super) fn is_mark(line: &str) -> bool {
    mark(line).is_some()
}

/// Whether a conflict begins at a line.
pub(super) fn is_start(line: &str) -> bool {
    mark(line) == Some(0)
}

/// A text with conflicts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Conflicted {
    /// The lines at which the conflicts begin, in bytes.
    pub(super) starts: Vec<Range<usize>>,
    /// The text of each side, where every conflict has its marks in order. What is not of a side is blank in it, so that places are
    /// those of the whole.
    pub(super) sides: Option<[String; 2]>,
}

/// Takes the sides of a text apart; none where it has no conflict.
pub(super) fn split(text: &str) -> Option<Conflicted> {
    let (mut starts, mut sides) = (Vec::new(), [String::new(), String::new()]);
    // The mark that was passed last; none outside of conflicts.
    let (mut within, mut is_whole, mut at) = (None, true, 0);
    for line in text.split_inclusive('\n') {
        let mark = mark(line);
        if mark == Some(0) {
            starts.push(at..at + line.trim_end().len());
        }
        if let Some(mark) = mark {
            is_whole &= match within {
                None => mark == 0,
                Some(last) => last < mark && (mark < 3 || last == 2),
            };
            within = Some(mark).filter(|mark| *mark < 3);
        }
        for (side, own) in sides.iter_mut().zip([0, 2]) {
            if mark.is_none() && within.is_none_or(|within| within == own) {
                side.push_str(line);
            } else {
                side.extend(
                    line.bytes()
                        .map(|byte| if byte == b'\n' { '\n' } else { ' ' }),
                );
            }
        }
        at += line.len();
    }
    (!starts.is_empty()).then(|| Conflicted {
        starts,
        sides: (is_whole && within.is_none()).then_some(sides),
    })
}

#[cfg(test)]
mod tests {
    use super::split;

    fn sides(text: &str) -> Option<[String; 2]> {
        split(text).expect("a conflict").sides
    }

    #[test]
    fn each_side_is_read_without_the_other_at_the_same_places() {
        let text = "a\n<<<<<<< HEAD\nours\n||||||| base\nold\n=======\nzählt\n>>>>>>> topic\nb\n";
        let [ours, theirs] = sides(text).expect("two sides");
        assert_eq!(ours.find("ours"), text.find("ours"));
        assert_eq!(theirs.find("zählt"), text.find("zählt"));
        assert_eq!([ours.len(), theirs.len()], [text.len(); 2]);
        assert_eq!(
            ours.split_whitespace().collect::<Vec<_>>(),
            ["a", "ours", "b"]
        );
        assert_eq!(
            theirs.split_whitespace().collect::<Vec<_>>(),
            ["a", "zählt", "b"]
        );
        assert_eq!(
            split(text).expect("a conflict").starts.first(),
            Some(&(2..14))
        );
        assert_eq!(split("a: '======= no mark'\n=======x\n"), None);
    }

    #[test]
    fn marks_that_are_not_in_order_leave_no_side() {
        for text in [
            "<<<<<<< a\n",
            "<<<<<<< a\n>>>>>>> b\n",
            "<<<<<<< a\n<<<<<<< a\n=======\n>>>>>>> b\n",
            "<<<<<<< a\n=======\n||||||| c\n>>>>>>> b\n",
            "=======\n<<<<<<< a\n=======\n>>>>>>> b\n",
        ] {
            assert_eq!(sides(text), None, "{text}");
        }
        assert!(sides("<<<<<<< a\r\n=======\r\n>>>>>>> b\r\n").is_some());
    }
}
