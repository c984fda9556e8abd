//! A lock: what is read of it is written as a lock that says the same, and a project renders with it.

use std::path::{Path, PathBuf};

use metalmark::catalog::sources::{self, lock_text};

use super::memory::Memory;
use super::pipeline;
use super::project::demo;

const NAME: &str = "metalmark.lock";

pub(super) fn run(data: &[u8]) -> bool {
    let mut is_sound = false;
    if let Some((once, faults)) = written(data) {
        let (twice, _) = written(once.as_bytes()).expect("a lock that is there is read");
        assert_eq!(once, twice);
        is_sound = faults == 0;
    }
    // Rendering takes long: of locks that are refused, some will do.
    if is_sound || data.len().is_multiple_of(16) {
        pipeline::laws(demo().with(NAME, data));
    }
    is_sound
}

/// The lock that these bytes hold, as it would be written, and how much is wrong with it; none where nothing is readable.
fn written(data: &[u8]) -> Option<(String, usize)> {
    let files = Memory::default().with(NAME, data);
    let paths = [PathBuf::from(NAME)];
    let (root, architecture, mut faults) =
        (Path::new("/nonexistent"), Default::default(), Vec::new());
    let facts = sources::facts(root, &files, &paths, &architecture, &mut faults).ok()?;
    Some((lock_text(facts.lock.as_deref()?), faults.len()))
}
