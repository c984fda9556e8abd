//! The rules: every opinion that metalmark has. The table is in [`crate::model::rule`]; here is a page for each rule, and a file
//! for each one that looks at something itself.

mod bundle_empty;
mod change_input;
mod checksum_beside_oci;
mod checksum_by_url;
mod checksum_malformed;
mod checksum_missing;
mod checksum_other_file;
mod choice_conflict;
mod component_mismatch;
mod crd_order;
mod endpoint_collides;
mod endpoint_disagrees;
mod endpoint_missing;
mod endpoint_not_in_subnet;
mod endpoint_replaced;
mod endpoint_single_host;
mod format_differs;
mod format_missing;
mod format_unsupported;
mod hosts_short;
mod image_disagrees;
mod image_name_invalid;
mod image_not_chosen;
mod image_not_enabled;
mod image_outdated;
mod image_replaced_in_place;
mod image_unused;
mod input;
mod install_image;
mod judgment_refused;
mod k8s_flavor_mismatch;
mod k8s_version_incomplete;
mod k8s_version_map;
mod k8s_version_mismatch;
mod k8s_version_suspected;
mod k8s_version_unproven;
mod lock_missing_image;
mod lock_stale;
mod lock_unused;
mod matching_differs;
mod namespace_missing;
mod no_image_matches;
mod not_locked;
mod object_duplicate;
mod os_unsupported;
mod proposals;
mod provider_unknown;
mod reference_unpinned;
mod registry_unknown;
mod removed_in_version;
mod selector_key_unknown;
mod selector_too_broad;
mod selectors_overlap;
mod several_images_match;
mod signature_unchecked;
mod storage_too_small;
mod template_edited_in_place;
mod unknown_image;
mod value_missing;
mod value_type;
mod version_downgrade;
mod version_not_in_class;
mod version_skew;
mod version_skip;

use std::borrow::Cow;

use capi::objects::bundled::Bundle;

use crate::model::finding::Finding;
use crate::model::rule::{RuleId, RuleOption};

use input::ChosenImage;

pub use change_input::{ChangeInput, Side};
pub use endpoint_collides::endpoint_collision;
pub use endpoint_replaced::endpoint_replacement;
pub use format_unsupported::unbootable;
pub use image_not_enabled::find_unserved_images;
pub use input::{ClusterInput, EndpointUser, ImageUse, RunScope, WorkspaceInput};
pub(crate) use k8s_version_map::{
    cluster_version, compare_version_map, find_unmapped, is_held, versions_behind,
};
pub use lock_stale::{missing_evidence, unproven};
pub use proposals::{entry_path, exact_pattern};
pub use signature_unchecked::{entries_without_key, finding as signature_unchecked};
pub use template_edited_in_place::not_applied;
pub(crate) use unknown_image::keys_without_pool;

/// One opinion, as data. Its file's name, its page's name, its id and its test are the same word.
pub struct Rule {
    /// The stable id.
    pub id: RuleId,
    /// What a run has to read before it can say that the rule finds nothing.
    pub scope: Scope,
    /// What the project file may set beside its level.
    pub options: &'static [&'static RuleOption],
    /// Its page: a title that is its summary, and its explanation.
    page: &'static str,
    /// Looks at one cluster.
    pub cluster: Option<fn(&ClusterInput<'_>, &mut Vec<Finding>)>,
    /// Looks at all clusters together.
    pub workspace: Option<fn(&WorkspaceInput<'_>, &mut Vec<Finding>)>,
    /// Looks at what a change does to a cluster that is on both sides of it.
    pub change: Option<fn(&ChangeInput<'_>, &mut Vec<Finding>)>,
    /// Looks at a bundle of manifests.
    pub bundle: Option<fn(&Bundle<'_>, &mut Vec<Finding>)>,
}

/// What a run has to read before it can say that a rule finds nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// Clusters of values or of manifests.
    AnyCluster,
    /// Clusters of values only, and why.
    Values(&'static str),
    /// Both sides of a change.
    Change,
    /// Manifests in files, or a bundle.
    Manifests,
}

impl Rule {
    const fn new(id: RuleId, page: &'static str) -> Self {
        Self {
            id,
            scope: Scope::AnyCluster,
            options: &[],
            page,
            cluster: None,
            workspace: None,
            change: None,
            bundle: None,
        }
    }

    /// One line for tables: what it finds.
    pub fn summary(&self) -> &'static str {
        self.parts().0
    }

    /// What `explain` prints: what it finds, why it matters, a wrong and a right snippet, its options.
    pub fn explanation(&self) -> Cow<'static, str> {
        let mut text = Cow::from(self.parts().1);
        if let Scope::Values(why) = self.scope {
            text += "\n\nOnly clusters of values are looked at: ";
            text += why;
            text += ".";
        }
        if self.options.is_empty() {
            return text;
        }
        let mut text = format!(
            "{text}\n\nOptions, beside `level` under `policy.rules.{}`, with their defaults:\n",
            self.id
        );
        for option in self.options {
            let RuleOption {
                name,
                default,
                meaning,
            } = option;
            text += &format!("\n    {name}: {default}    # {meaning}");
        }
        text.into()
    }

    fn parts(&self) -> (&'static str, &'static str) {
        let text = self.page.strip_prefix("# ").unwrap_or(self.page);
        let (title, text) = text.split_once("\n\n").unwrap_or((text, ""));
        (title, text.trim_end())
    }
}

/// Makes the table with the pages and the functions.
macro_rules! table {
    ($($rule:ident $id:literal $level:ident $($scope:ident $([$why:literal])?)?
        $(($file:ident: $($stage:ident),+ $([$($option:ident),+])?))?;)*) => {
        /// Every rule, by id.
        pub static RULES: &[Rule] = &[$(
            Rule {
                $(scope: Scope::$scope $(($why))?,)?
                $(
                    $($stage: Some($file::$stage),)+
                    $(options: &[$(&$file::$option),+],)?
                )?
                ..Rule::new(RuleId::$rule, include_str!(concat!("pages/", $id, ".md")))
            },
        )*];
    };
}
crate::model::rule::rules!(table);

/// The rule of that id.
pub fn rule(id: RuleId) -> &'static Rule {
    &RULES[id as usize]
}

/// What to do where a fact of an image is unknown and its registry has it.
const LOCK_IT: &str = "run `metalmark lock` to query its registry, and commit the lock";

/// What to do where a fact of an image is unknown and Sylva's management cluster has it.
const GIVE_FACTS: &str = "give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write \
    `images: {facts: [os-images-info.yaml]}` in metalmark.yaml";

/// That a fact of a pool's image is unknown, and how to supply it. `lacks` is printed at the catalog's entry; `written` is the fact
/// and its value for an entry that the user wrote.
fn fact_missing(
    input: &ClusterInput<'_>,
    chosen: ChosenImage<'_>,
    finding: Finding,
    lacks: impl Into<String>,
    (fact, value): (&str, &str),
) -> Finding {
    let ChosenImage { pool, image } = chosen;
    let finding = finding
        .with_subject(input.subject_with(pool, &image.key))
        .with_label(
            input.spot(pool.choice.place()),
            "this image is selected here",
        )
        .with_label(input.spot(image.place), lacks);
    let finding = if input.could_lock(image) {
        finding.help(LOCK_IT)
    } else {
        finding
    };
    if image.built {
        finding.help(GIVE_FACTS)
    } else {
        finding.help(proposals::fact_edit(image, fact, value))
    }
}

#[cfg(test)]
mod tests {
    use super::RULES;

    #[test]
    fn every_rule_explains_itself_with_a_wrong_and_a_right_snippet() {
        for entry in RULES {
            let (id, text) = (entry.id, entry.explanation());
            assert!(text.len() > 150, "{id} says too little");
            let wrong = text
                .find("\nWrong")
                .map(|at| at + text[at..].find(":\n\n    ").unwrap_or(0));
            let right = text.find("\nRight");
            assert!(
                wrong < right && wrong.is_some(),
                "{id} shows a wrong, then a right snippet"
            );
            assert!(
                text.lines().all(|line| line.chars().count() <= 140),
                "{id} has long lines"
            );
            assert!(
                !entry.summary().ends_with('.') && entry.summary().len() < 110,
                "{id}"
            );
        }
    }
}
