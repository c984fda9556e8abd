//! A whole repository, each file behind a line `=== PATH`: read, resolved, checked and rendered.

use super::memory::Memory;
use super::pipeline;

pub(super) fn run(data: &[u8]) -> bool {
    pipeline::laws(Memory::of(data))
}
