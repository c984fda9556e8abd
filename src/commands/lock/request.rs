//! Converts the options of `lock` into a request.

use std::collections::BTreeSet;

use crate::catalog::locking::{LockRequest, Requirements, Upgrade};
use crate::error::Error;
use crate::model::lock::Lock;
use crate::pipeline;
use crate::read::Workspace;
use yaml_tree::suggest::did_you_mean;

use super::LockOptions;

/// `--upgrade` and `--accept-moved` name keys that some cluster has.
pub(super) fn lock_request<'a>(
    options: &LockOptions,
    requirements: &Requirements,
    lock: &Lock,
    workspace: &Workspace,
) -> Result<LockRequest<'a>, Error> {
    let required = requirements.keys().map(|(key, _)| &**key);
    let known: BTreeSet<&str> = required
        .chain(lock.images().iter().map(|image| image.identity().0))
        .collect();
    let upgraded = options.upgrade.as_deref().unwrap_or_default();
    for key in upgraded.iter().chain(&options.accept_moved) {
        if !known.contains(&**key) {
            let help = match did_you_mean(key, known.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => "`metalmark images` lists them".to_owned(),
            };
            let message = format!("no cluster's catalog has an image `{key}`\nhelp: {help}");
            return Err(Error::usage(message));
        }
    }
    Ok(LockRequest {
        upgrade: match options.upgrade.as_deref() {
            None => Upgrade::Nothing,
            Some([]) => Upgrade::All,
            Some(keys) => Upgrade::Keys(keys.iter().cloned().collect()),
        },
        accept_moved: options.accept_moved.iter().cloned().collect(),
        architecture: pipeline::architecture(workspace),
        ..LockRequest::default()
    })
}
