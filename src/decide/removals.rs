//! What the configuration of a node pool's machines names that a version of Kubernetes has no more.

use capi::removals::Removal;
use yaml_tree::place::Located;

use crate::model::cluster::Pool;
use crate::model::version::Version;

/// What is named and gone in a version.
pub fn find_removed<'a>(
    pool: &'a Pool,
    version: &Version,
) -> impl Iterator<Item = &'a Located<&'static Removal>> + use<'a> {
    let (major, minor) = (version.major, version.minor);
    let is_gone = move |used: &&Located<&'static Removal>| (1, used.value.minor) <= (major, minor);
    pool.removable.iter().filter(is_gone)
}
