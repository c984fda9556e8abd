//! The patches of a ClusterClass at their edges: what selects machines, what switches a patch on, and which value counts.

use super::plain_manifests::{CLASS, WORKERS, check, patch, patched};

const RIGHT: &str = "http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.30.2.qcow2";
const WRONG: &str = "http://h/UBUNTU_24.04_NODE_IMAGE_K8S_v1.29.9.qcow2";

const VERSION: &str = "    version: v1.30.2\n";

/// The control plane's own image is right, and that of the workers is wrong.
const UNCHANGED: &str = "1 by name only, 1 mismatched\n";

#[test]
fn a_patch_is_switched_on_by_true_and_by_nothing_else() {
    for (condition, is_on) in [
        ("true", true),
        (" true ", true),
        ("{{ not false }}", true),
        ("false", false),
        ("\"true\"", false),
        // The output is read as YAML 1.1.
        ("yes", true),
        ("1", false),
        ("null", false),
    ] {
        let enabled = format!("    enabledIf: '{condition}'\n");
        let of_class = format!(
            "  patches:{}{enabled}",
            patch(WORKERS, &format!("value: {RIGHT}"))
        );
        let (screen, _) = patched(&of_class, VERSION);
        let end = if is_on { "2 by name only\n" } else { UNCHANGED };
        assert!(screen.ends_with(end), "{condition}: {screen}");
    }
}

#[test]
fn a_selector_selects_the_machines_that_it_names() {
    let both = "2 mismatched\n";
    for (machines, end) in [
        ("{controlPlane: false}", UNCHANGED),
        ("{controlPlane: 'true'}", UNCHANGED),
        ("{controlPlane: true}", both),
        (
            "{controlPlane: false, machineDeploymentClass: {names: [worker]}}",
            UNCHANGED,
        ),
    ] {
        let of_class = format!("  patches:{}", patch(machines, &format!("value: {WRONG}")));
        let (screen, _) = patched(&of_class, VERSION);
        assert!(screen.ends_with(end), "{machines}: {screen}");
    }
    for (names, is_meant) in [
        ("worker", true),
        ("work*", true),
        ("'*ker'", true),
        ("'*'", true),
        ("work", false),
        ("ker", false),
        ("'ker*'", false),
        ("'*work'", false),
    ] {
        let machines = format!("{{machineDeploymentClass: {{names: [{names}]}}}}");
        let of_class = format!("  patches:{}", patch(&machines, &format!("value: {RIGHT}")));
        let (screen, _) = patched(&of_class, VERSION);
        let end = if is_meant {
            "2 by name only\n"
        } else {
            UNCHANGED
        };
        assert!(screen.ends_with(end), "{names}: {screen}");
    }
    // A class of machine pools may have the name of a class of machine deployments.
    let of_class = format!(
        "  patches:{}",
        patch(
            "{machinePoolClass: {names: [worker]}}",
            &format!("value: {RIGHT}")
        )
    );
    let (screen, _) = patched(&of_class, VERSION);
    assert!(screen.ends_with(UNCHANGED), "{screen}");
}

/// The API server sets no defaults in the overrides of a pool: what the Cluster sets stays.
#[test]
fn a_pool_that_overrides_one_variable_has_the_clusters_others() {
    let variable = |name: &str| {
        format!(
            "  - {{name: {name}, schema: {{openAPIV3Schema: {{type: string, default: '{WRONG}'}}}}}}\n"
        )
    };
    let of_class = format!(
        "  variables:\n{}{}  patches:{}",
        variable("image"),
        variable("other"),
        patch(WORKERS, "valueFrom: {variable: image}")
    );
    let (screen, _) = patched(&of_class, VERSION);
    assert!(screen.ends_with(UNCHANGED), "{screen}");
    let set = format!("{VERSION}    variables: [{{name: image, value: '{RIGHT}'}}]\n");
    let (screen, _) = patched(&of_class, &set);
    assert!(screen.ends_with("2 by name only\n"), "{screen}");
    let (screen, _) = overriding(&of_class, &set, "other", WRONG);
    assert!(screen.ends_with("2 by name only\n"), "{screen}");
    let (screen, _) = overriding(&of_class, &set, "image", WRONG);
    assert!(screen.ends_with(UNCHANGED), "{screen}");
}

/// [`patched`], with a variable that the workers override.
fn overriding(of_class: &str, of_topology: &str, name: &str, value: &str) -> (String, i32) {
    let overrides = format!("variables: {{overrides: [{{name: {name}, value: '{value}'}}]}}");
    let text = CLASS
        .replace("  patches: []\n", of_class)
        .replace("    version: v1.30.2\n", of_topology)
        .replace("name: md-0}", &format!("name: md-0, {overrides}}}"));
    check(&[("edge.yaml", &text)])
}
