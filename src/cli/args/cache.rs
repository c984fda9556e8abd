//! Where the user's caches are.

use std::env::var_os;
use std::path::PathBuf;

use clap::Args;

/// Whether a run leaves out what an earlier one found clean.
#[derive(Debug, Args)]
pub(super) struct CacheArgument {
    /// Evaluate every cluster, also those that have not changed since an earlier run found them clean. METALMARK_NO_CACHE=1
    /// does so too, and so does CI, where jobs of several branches may share a home.
    #[arg(long)]
    no_cache: bool,
}

impl CacheArgument {
    /// The folder of caches, as the XDG Base Directory Specification has it; none where there is to be none.
    pub(super) fn folder(&self) -> Option<PathBuf> {
        let set = |name| var_os(name).filter(|value| !value.is_empty());
        if self.no_cache
            || ["METALMARK_NO_CACHE", "CI"]
                .into_iter()
                .any(|name| set(name).is_some())
        {
            return None;
        }
        let named = set("XDG_CACHE_HOME").map(PathBuf::from);
        let named = named.filter(|folder| folder.is_absolute());
        let folder = named.or_else(|| Some(PathBuf::from(set("HOME")?).join(".cache")))?;
        Some(folder.join("metalmark"))
    }
}
