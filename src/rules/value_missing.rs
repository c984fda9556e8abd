//! A value that is needed is not there.

use capi::image::{ImageKey, fact};

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules::WorkspaceInput;

/// Found while reading and evaluating; here only what the whole project lacks.
pub(super) fn workspace(input: &WorkspaceInput<'_>, findings: &mut Vec<Finding>) {
    let lacks_facts = |key: &ImageKey| {
        let image = input.images.get(key);
        image.is_some_and(|image| image.built && image.facts.text(fact::SHA256).is_none())
    };
    if input.facts_given || !input.uses.booted.iter().any(lacks_facts) {
        return;
    }
    let message = "no image facts are given, so nothing says which checksum, format and version the builder's images have";
    findings.push(
        Finding::new(RuleId::ValueMissing, message)
            .help("`kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml`")
            .help("then type `--info os-images-info.yaml`, or write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml")
            .unless_set(Level::Warning),
    );
}

#[cfg(test)]
mod tests {
    use crate::rules::{ImageUse, RunScope, WorkspaceInput};
    use crate::testing::{Given, settings};
    use capi::image::Images;
    use yaml_tree::place::Sources;

    fn is_reported(images: &Images, facts_given: bool) -> bool {
        let settings = settings();
        let uses = ImageUse {
            booted: ["noble-a".into()].into(),
            ..ImageUse::default()
        };
        let input = WorkspaceInput {
            run_scope: RunScope::Fleet,
            uses: &uses,
            images,
            sources: &Sources::default(),
            settings: &settings,
            facts_given,
            lock: None,
        };
        let mut findings = Vec::new();
        super::workspace(&input, &mut findings);
        let count = findings.len();
        assert!(count < 2, "it is reported once");
        count == 1
    }

    #[test]
    fn that_no_facts_are_given_is_reported_once_where_an_image_needs_them() {
        let mut given = Given::new();
        given.image("noble-a", &[]);
        assert!(is_reported(&given.finished().images, false));
        assert!(!is_reported(&given.finished().images, true));
        let mut given = Given::new();
        given.image("noble-a", &[("sha256", "00")]);
        assert!(!is_reported(&given.finished().images, false));
        // What the builder has not made is in no info file.
        let mut given = Given::new();
        given.declared("noble-a", &[]);
        assert!(!is_reported(&given.finished().images, false));
    }
}
