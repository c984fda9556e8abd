//! The kinds of objects that say which image machines boot.

/// A kind of object with an image in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `Metal3MachineTemplate`
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// Its API versions that are known here, the default first.
    pub versions: &'static [&'static str],
    /// Where its machine's spec stands: the image fields are below it.
    pub machine: &'static [&'static str],
    /// The image formats that its machines boot, as `image-format` spells them; none says that nothing is known of that.
    pub formats: &'static [&'static str],
    /// What becomes of a change in place.
    pub change: Change,
}

/// What a provider makes of an image that changes in an object that stands.
/// Source: the providers' webhooks and controllers; none of them uses CEL `oldSelf` for the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It is taken, and no machine that runs is replaced: a fleet of two images.
    Ignored,
    /// The webhook refuses a change below this path: the object is copied under a new name.
    Refused(&'static str),
    /// The machines behind it are replaced or reprovisioned.
    Rolls,
}

impl Kind {
    /// A machine template of Cluster API's infrastructure group.
    pub(super) const fn template(
        kind: &'static str,
        versions: &'static [&'static str],
        formats: &'static [&'static str],
        change: Change,
    ) -> Self {
        Self {
            kind,
            group: INFRASTRUCTURE,
            versions,
            machine: &["spec", "template", "spec"],
            formats,
            change,
        }
    }

    /// Whether it is a template that machines are made from.
    pub fn is_template(&self) -> bool {
        self.kind.ends_with("MachineTemplate")
    }

    /// Whether its schema lists a format that its machines refuse when they boot. Ironic's image checks do so with two that Metal3
    /// lists. (metal3-io/metal3-docs pull request 509.)
    pub fn is_refused_later(&self, provider: &str, format: &str) -> bool {
        provider == "capm3" && matches!(format, "vdi" | "vmdk")
    }

    /// Whether an object of this apiVersion and kind is one of it, in a version that is known.
    pub fn holds(&self, api_version: &str, kind: &str) -> bool {
        let of_group = |(group, version): (&str, &str)| {
            group == self.group && self.versions.contains(&version)
        };
        self.kind == kind && api_version.split_once('/').is_some_and(of_group)
    }
}

/// The group of Cluster API's infrastructure providers.
pub(super) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
/// What most webhooks guard.
pub(super) const MACHINE: &str = "spec.template.spec";
