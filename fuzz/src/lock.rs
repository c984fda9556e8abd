//! A lock: what is read of it is written as a lock that says the same, and a project renders with it.

use std::path::{Path, PathBuf};

use metalmark::sources::{self, lock_text};

use super::memory::Memory;
use super::pipeline;
use super::project::demo;

const NAME: &str = "metalmark.lock";

pub(super) fn run(data: &[u8]) {
    if let Some(once) = written(data) {
        let twice = written(once.as_bytes()).expect("a lock that is there is read");
        assert_eq!(once, twice);
    }
    pipeline::laws(demo().with(NAME, data));
}

/// The lock that these bytes hold, as it would be written; none where nothing is readable.
fn written(data: &[u8]) -> Option<String> {
    let files = Memory::default().with(NAME, data);
    let paths = [PathBuf::from(NAME)];
    let (facts, _) =
        sources::facts(Path::new("/nonexistent"), &files, &paths, &"amd64".into()).ok()?;
    facts.lock.as_deref().map(lock_text)
}
