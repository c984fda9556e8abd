//! A project file over a repository that is as it should be.

use std::sync::OnceLock;

use super::memory::{Memory, repository};
use super::pipeline;

pub(super) fn run(data: &[u8]) -> bool {
    pipeline::laws(demo().with("metalmark.yaml", data))
}

/// The demo workspace.
pub(super) fn demo() -> &'static Memory {
    static DEMO: OnceLock<Memory> = OnceLock::new();
    DEMO.get_or_init(|| Memory::read(&repository().join("fixtures/workspaces/sylva-baremetal")))
}
