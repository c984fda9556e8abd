//! A component bundle breaks its contract.

use crate::model::rule::RuleId;
use crate::rules::Rule;

/// Found while packing and looking at component bundles.
pub(super) struct ComponentContract;

impl Rule for ComponentContract {
    fn id(&self) -> RuleId {
        RuleId::ComponentContract
    }

    fn summary(&self) -> &'static str {
        "a component bundle breaks its contract"
    }

    fn explanation(&self) -> &'static str {
        "A component bundle is unpacked on a host and its `install.sh` called, with environment variables and nothing else. The file
must stand at the root, be a regular executable file, and read the variables that the bundle declares.

Wrong:

    install.sh              # mode 0644
    $ metalmark bundle pack --kind components --env INSTALL-TYPE …

Right:

    install.sh              # mode 0755
    $ metalmark bundle pack --kind components --env INSTALL_TYPE …"
    }

    fn is_of_manifests(&self) -> bool {
        true
    }
}
