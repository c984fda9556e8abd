//! Every limit: what just fits is taken, one more is refused in words. docs/limits.md is the list.

mod archives;
mod budget;
mod evaluation;
mod expressions;
mod files;
mod growth;
mod history;
mod memory;
mod rendering;
mod table;
mod yaml;

use std::fmt::Debug;

/// That this much is taken, and one more is not.
#[track_caller]
fn most<T: Debug, E: Debug + ToString>(
    most: usize,
    words: &str,
    take: impl Fn(usize) -> Result<T, E>,
) {
    if let Err(error) = take(most) {
        panic!("{most} are taken: {}", error.to_string());
    }
    let refused = take(most + 1).expect_err("one more is refused").to_string();
    assert!(refused.contains(words), "{refused}");
}
