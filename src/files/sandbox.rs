//! The kernel's own guard for runs inside somebody else's program: nothing is read outside a folder, nothing is written or
//! executed, and no connection is made, whatever the code above would do.

use std::path::Path;

/// From now on, this process reads below a folder and does nothing else to files, programs and networks. Linux with Landlock
/// enforces it (<https://docs.kernel.org/userspace-api/landlock.html>), as far as its version knows how; elsewhere, or where the
/// kernel refuses, the run goes on without: [`super::Scope`] holds by itself.
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
    // Best effort, as said above.
    let _ = restrict();
}

/// Other systems have no such guard that needs no rights.
#[cfg(not(target_os = "linux"))]
pub fn sandbox(_: &Path) {}
