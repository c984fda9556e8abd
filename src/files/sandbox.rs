//! A sandbox enforced by the kernel, for runs as a plugin of another program: the process can read one folder, and can neither
//! write files, execute programs nor open connections. And the threads that work, which are started in it.

use std::error::Error as _;
use std::path::Path;

use crate::error::Error;

/// Starts the threads that work. Those that are started before the sandbox are not in it.
///
/// # Errors
/// The system has none to spare.
pub fn start_threads() -> Result<(), Error> {
    let started = rayon::ThreadPoolBuilder::new().build_global();
    let refused = started.err().filter(|error| error.source().is_some());
    refused.map_or(Ok(()), |error| {
        let cause = std::io::Error::other(error);
        Err(Error::Thread { cause })
    })
}

/// Restricts this process to reading below a folder. Linux enforces it with Landlock
/// (<https://docs.kernel.org/userspace-api/landlock.html>), as far as its version supports it. On other systems, or if the kernel
/// refuses, the run continues without a sandbox: [`super::Scope`] is the primary protection.
#[cfg(target_os = "linux")]
pub fn sandbox(folder: &Path) {
    use landlock::{
        ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, PathBeneath, PathFd,
        Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, RulesetError, Scope as Ipc,
    };
    let restrict = || -> Result<(), RulesetError> {
        let abi = ABI::V6;
        let rules = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(abi))?
            .handle_access(AccessNet::from_all(abi))?
            .scope(Ipc::from_all(abi))?
            .create()?;
        let reading = AccessFs::ReadFile | AccessFs::ReadDir;
        let Ok(folder) = PathFd::new(folder) else {
            return Ok(());
        };
        rules
            .add_rule(PathBeneath::new(folder, reading))?
            .restrict_self()
            .map(drop)
    };
    // Best effort, as documented above.
    let _ = restrict();
}

/// Other systems have no sandbox that works without privileges.
#[cfg(not(target_os = "linux"))]
pub fn sandbox(_: &Path) {}
