//! What a real program answers, recorded in the test: ours is always compared with it, so no test needs the program.

use std::fmt::Display;
use std::path::Path;

use snapbox::Data;

use super::super::programs;
use super::stage::{assert_text, cases, table};

/// Asserts for each case in a snapshot (see [`cases`]) that ours, `answer(None, case)`, is what the program is known to answer. Where
/// the program is found, its own answer is compared too, and it is the only one that `SNAPSHOTS=overwrite` writes.
#[track_caller]
pub(crate) fn same_as<L: Display>(
    program: &str,
    recorded: impl Into<Data>,
    answer: impl Fn(Option<&Path>, &str) -> Vec<L>,
) {
    let recorded = recorded.into();
    let text = recorded.render().expect("a text");
    let answers = |program: Option<&Path>| table(cases(&text), |case| answer(program, case));
    let theirs = match programs::find_optional(program) {
        Some(program) => {
            let theirs = answers(Some(&program));
            assert_text(&theirs, recorded);
            theirs.into()
        }
        None => recorded,
    };
    // Never written.
    snapbox::Assert::new().eq(answers(None), theirs.raw());
}
