//! Kubernetes versions beside each other: workers and their control plane, and a cluster before and after a change.

use super::super::support::project::Project;
use super::rows::{IMAGES, each};

/// The skew that Kubernetes allows: https://kubernetes.io/releases/version-skew-policy/.
#[test]
fn workers_beside_their_control_plane() {
    let skew = |bootstrap: &str, plane: &str, worker: &str| {
        let values = format!(
            "cluster: {{k8s_version: {plane}, capi_providers: {{bootstrap_provider: {bootstrap}}}, machine_deployments: {{md0: {{k8s_version: {worker}}}}}}}"
        );
        Project::layered(IMAGES, &values, "").found("version-skew")
    };
    for (bootstrap, plane, worker, newer) in [
        ("cabpr", "v1.31.8", "v1.31.9", ""),
        ("cabpr", "v1.31.8", "v1.30.1", ""),
        ("cabpr", "v1.31.8", "v1.29.1", ""),
        ("cabpr", "v1.31.8", "v1.28.1", ""),
        ("cabpr", "v1.31.8", "v1.27.1", "v1.31.8"),
        ("cabpr", "v1.31.8", "v1.32.0", "v1.32.0"),
        ("cabpr", "v2.31.8", "v1.31.8", "v2.31.8"),
        ("cabpr", "v1.31.8", "v2.31.8", "v2.31.8"),
        ("cabpr", "v1.31.8", "latest", ""),
        ("cabpr", "latest", "v1.31.8", ""),
        ("cabpk", "v1.31.8", "v1.31.1", ""),
        ("cabpk", "v1.31.8", "v1.30.1", "v1.31.8"),
        ("cabpk", "v1.31.8", "v1.28.1", "v1.31.8"),
        ("cabpk", "v1.31.8", "v1.32.1", "v1.32.1"),
    ] {
        let expected: Vec<String> = match newer {
            "" => Vec::new(),
            newer => vec![format!("error md0 [{worker}, {plane}] => {newer}")],
        };
        assert_eq!(
            skew(bootstrap, plane, worker),
            expected,
            "{bootstrap} {plane} {worker}"
        );
    }
    each(
        "version-skew",
        &[
            // The control plane's own version counts, not the cluster's.
            (
                "cluster: {k8s_version: v1.27.1, control_plane: {k8s_version: v1.31.8}, machine_deployments: {md0: {k8s_version: v1.30.1}}}",
                &[],
            ),
            (
                "cluster: {k8s_version: v1.27.1, control_plane: {k8s_version: v1.31.8}, machine_deployments: {md0: {}}}",
                &["error md0 [v1.27.1, v1.31.8] => v1.31.8"],
            ),
            ("cluster: {machine_deployments: {md0: {}, md1: {}}}", &[]),
            (
                "cluster: {machine_deployment_default: {k8s_version: v1.32.1}, machine_deployments: {md0: {}, md1: {k8s_version: v1.31.1}}}",
                &["error md0 [v1.32.1, v1.31.8+rke2r1] => v1.32.1"],
            ),
        ],
    );
}

#[test]
fn a_change_goes_back_to_no_older_version() {
    let project = |plane: &str, worker: &str| {
        let values = format!(
            "cluster: {{k8s_version: {plane}, machine_deployments: {{md0: {{k8s_version: {worker}}}}}}}"
        );
        Project::layered(IMAGES, &values, "")
    };
    let both = |was: &str, is: &str| {
        project(was, was).found_in_change(&project(is, is), "version-downgrade")
    };
    for (was, is, levels) in [
        ("v1.31.8+rke2r1", "v1.31.8+rke2r1", None),
        ("v1.31.8+rke2r1", "v1.31.9+rke2r1", None),
        ("v1.31.8+rke2r1", "v1.32.0+rke2r1", None),
        (
            "v1.31.8+rke2r2",
            "v1.31.8+rke2r1",
            Some(("warning", "warning")),
        ),
        (
            "v1.31.8+rke2r1",
            "v1.31.7+rke2r1",
            Some(("warning", "warning")),
        ),
        (
            "v1.31.8+rke2r1",
            "v1.30.9+rke2r1",
            Some(("error", "warning")),
        ),
        (
            "v2.31.8+rke2r1",
            "v1.31.8+rke2r1",
            Some(("error", "warning")),
        ),
        // A version that says less goes back to nothing.
        ("v1.31.8+rke2r1", "v1.31.8", None),
        ("v1.31.8+rke2r1", "v1.31", None),
        ("v1.31.8+rke2r1", "v1.30", Some(("error", "warning"))),
        ("v1.31.8", "latest", None),
        ("latest", "v1.31.8", None),
    ] {
        let expected: Vec<String> = match levels {
            None => Vec::new(),
            Some((plane, worker)) => vec![
                format!("{plane} control-plane [{is}, {was}] => {was}"),
                format!("{worker} md0 [{is}, {was}] => {was}"),
            ],
        };
        assert_eq!(both(was, is), expected, "{was} {is}");
    }
    let only_worker = project("v1.31.8", "v1.31.8")
        .found_in_change(&project("v1.31.8", "v1.30.8"), "version-downgrade");
    assert_eq!(only_worker, ["warning md0 [v1.30.8, v1.31.8] => v1.31.8"]);
}

#[test]
fn a_change_passes_no_minor_of_the_control_plane() {
    let project = |plane: &str, worker: &str| {
        let values = format!(
            "cluster: {{k8s_version: {plane}, machine_deployments: {{md0: {{k8s_version: {worker}}}}}}}"
        );
        Project::layered(IMAGES, &values, "")
    };
    let skip = |was: &str, is: &str| {
        project(was, "v1.20.0").found_in_change(&project(is, "v1.31.0"), "version-skip")
    };
    for (was, is, expected) in [
        ("v1.29.1", "v1.30.1", ""),
        ("v1.29.1", "v1.29.9", ""),
        ("v1.31.1", "v1.29.1", ""),
        ("v1.29.1", "v2.31.1", ""),
        ("v1.29.1", "latest", ""),
        // The newest image of the minor that is passed first.
        ("v1.29.1", "v1.31.8", " => suse-30 | 1.30.12+rke2r1"),
        ("v1.29.1", "v1.32.1", " => suse-30 | 1.30.12+rke2r1"),
        ("v1.30.1", "v1.32.1", " => suse-hard-31 | 1.31.8+rke2r1"),
        ("v1.27.1", "v1.31.8", "no image of that minor"),
    ] {
        let edits = expected
            .strip_prefix("no image of that minor")
            .unwrap_or(expected);
        let found = match expected {
            "" => Vec::new(),
            _ => vec![format!("error control-plane [{is}, {was}]{edits}")],
        };
        assert_eq!(skip(was, is), found, "{was} {is}");
    }
}
