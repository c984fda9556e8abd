//! The kinds of objects that contain the image of machines.

/// A kind of object with an image in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// `Metal3MachineTemplate`
    pub kind: &'static str,
    /// Its API group.
    pub group: &'static str,
    /// Its supported API versions, the default first.
    pub versions: &'static [&'static str],
    /// The path of the machine's spec, which contains the image fields.
    pub machine: &'static [&'static str],
    /// The image formats that its machines boot, spelled as in `image-format`; empty if they are not known.
    pub formats: &'static [&'static str],
    /// The effect of a change in place.
    pub change: InPlaceChange,
}

/// The effect of changing the image of an existing object.
/// Source: the providers' webhooks and controllers; none of them uses CEL `oldSelf` for the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InPlaceChange {
    /// It is accepted, but running machines are not replaced: old and new machines boot different images.
    Ignored,
    /// The webhook refuses changes below this path: the object must be copied under a new name.
    Refused(&'static str),
    /// The machines are replaced or reprovisioned.
    Rolls,
}

impl Kind {
    /// A machine template of Cluster API's infrastructure group, of which the webhook refuses changes of the machine.
    pub(super) const fn new(
        kind: &'static str,
        versions: &'static [&'static str],
        formats: &'static [&'static str],
    ) -> Self {
        Self {
            kind,
            group: INFRASTRUCTURE,
            versions,
            machine: &["spec", "template", "spec"],
            formats,
            change: InPlaceChange::Refused(MACHINE),
        }
    }

    /// The webhook refuses every change of its `spec`.
    pub(super) const fn refuses_all(self) -> Self {
        Self {
            change: InPlaceChange::Refused("spec"),
            ..self
        }
    }

    /// Whether it is a machine template.
    pub fn is_template(&self) -> bool {
        self.kind.ends_with("MachineTemplate")
    }

    /// Whether an object of this apiVersion and kind is of this kind, in a supported version.
    pub fn holds(&self, api_version: &str, kind: &str) -> bool {
        let of_group = |(group, version): (&str, &str)| {
            group == self.group && self.versions.contains(&version)
        };
        self.kind == kind && api_version.split_once('/').is_some_and(of_group)
    }
}

/// Whether the schema allows a format that machines refuse at boot: Ironic's image checks refuse two that Metal3 lists
/// (metal3-io/metal3-docs pull request 509).
pub fn is_refused_later(provider: &str, format: &str) -> bool {
    provider == "capm3" && matches!(format, "vdi" | "vmdk")
}

/// The group of Cluster API's infrastructure providers.
pub(super) const INFRASTRUCTURE: &str = "infrastructure.cluster.x-k8s.io";
/// The path that most webhooks make immutable.
const MACHINE: &str = "spec.template.spec";
