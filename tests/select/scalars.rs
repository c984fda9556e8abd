//! Odd scalars where the values choose an image or count nodes: what is taken for text, for nothing, and for a mistake.

use super::super::support::project::Project;
use super::{answer, rows};

/// What a setting of pool `md0` comes to, and the rules that report it.
fn pool(setting: &str) -> (Project, String) {
    let values = format!(
        "os_images: {{img-a: {{uri: 'https://s/a'}}, img-b: {{uri: 'https://s/b'}}, '3': {{uri: 'https://s/3'}}}}\n\
         three: 3\nnone: null\n\
         cluster:\n  k8s_version: v1.31.8\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpk}}\n  \
         capm3: {{image_key: img-a}}\n  machine_deployments:\n    md0: {{{setting}}}\n"
    );
    (Project::of(&values, ""), values)
}

/// The types that are wrong in the pool: the text that each finding marks.
fn mistakes(project: &Project) -> Vec<String> {
    project.found("value-type")
}

#[test]
fn a_key_of_an_odd_type() {
    for [setting, expected, wrong] in rows(
        r#"
        image_key: img-b | img-b |
        image_key: false | (nothing) |
        image_key: true | (unknown) true | error md0 [true] => image_key: "true"
        image_key: '' | (nothing) |
        image_key: null | (nothing) |
        image_key: 3 | 3 | error md0 [3] => image_key: "3"
        image_key: '3' | 3 |
        image_key: 2.5 | (unknown) 2.5 | error md0 [2.5] => image_key: "2.5"
        image_key: [img-b] | (nothing) | error md0 [[img-b]]
        image_key: '{{ printf "img-%s" "b" }}' | img-b |
        image_key: img-b, os_image_key: img-a | img-b |
        "#,
    ) {
        let (project, values) = pool(&format!("capm3: {{{setting}}}"));
        let outcome = &project.view().selections[1].outcome;
        assert_eq!(answer(outcome), expected, "{values}");
        assert_eq!(mistakes(&project).join("; "), wrong, "{values}");
    }
}

/// Sylva's own name of the key wins where one level writes both, and an empty one is as good as none there.
#[test]
fn two_spellings_at_one_level() {
    for (setting, expected) in [
        ("image_key: img-b, os_image_key: img-a", "img-b"),
        ("os_image_key: img-a, image_key: img-b", "img-b"),
        ("image_key: null, os_image_key: img-b", "img-b"),
        ("image_key: false, os_image_key: img-b", "img-b"),
    ] {
        let (project, values) = pool(&format!("capm3: {{{setting}}}"));
        assert_eq!(
            answer(&project.view().selections[1].outcome),
            expected,
            "{values}"
        );
    }
}

#[test]
fn a_number_of_nodes_of_an_odd_type() {
    let most = u64::from(u32::MAX);
    let (at_most, too_many) = (most.to_string(), (most + 1).to_string());
    let cases: [(&str, Option<u32>, bool); 13] = [
        ("3", Some(3), true),
        ("'3'", Some(3), true),
        ("'{{ .Values.three }}'", Some(3), true),
        ("3.0", Some(3), true),
        ("2.5", None, false),
        ("-1", None, false),
        ("0", Some(0), true),
        (&at_most, Some(u32::MAX), true),
        (&too_many, None, false),
        ("'three'", None, false),
        ("true", None, false),
        ("''", None, false),
        ("null", None, true),
    ];
    for (count, expected, is_right) in cases {
        let (project, values) = pool(&format!("replicas: {count}"));
        let found = project.view().cluster.pools[1]
            .replicas
            .as_ref()
            .map(|count| count.value);
        assert_eq!(found, expected, "{values}");
        assert_eq!(mistakes(&project).is_empty(), is_right, "{values}");
    }
}

#[test]
fn settings_of_a_url_that_are_empty_or_false_are_not_set() {
    for (odd, is_set) in [
        ("''", false),
        ("false", false),
        ("null", false),
        ("x", true),
    ] {
        let (project, values) = pool(&format!(
            "capm3: {{image_key: '', machine_image_url: {odd}, machine_image_format: {odd}, machine_image_checksum: {odd}, \
             machine_image_checksum_type: {odd}}}"
        ));
        let view = project.view();
        let choice = &view.cluster.pools[1].choice;
        let set = [
            choice.url.is_some(),
            choice.format.is_some(),
            choice.checksum.is_some(),
            choice.checksum_type.is_some(),
        ];
        assert_eq!(set, [is_set; 4], "{values}");
        assert_eq!(choice.is_made(), is_set, "{values}");
    }
}

#[test]
fn a_selector_or_a_level_of_an_odd_type() {
    let cases: [(&str, &[&str]); 9] = [
        ("capm3: {os_image_selector: text}", &["error md0 [text]"]),
        ("capm3: {os_image_selector: [os]}", &["error md0 [[os]]"]),
        ("capm3: {os_image_selector: 3}", &["error md0 [3]"]),
        ("capm3: {os_image_selector: 0}", &[]),
        ("capm3: {os_image_selector: []}", &[]),
        ("capm3: {os_image_selector: '{{ .Values.none }}'}", &[]),
        (
            "capm3: null",
            &["error md0 [null] => cluster.machine_deployments.md0.capm3 | {}"],
        ),
        ("capm3: text", &["error md0 [text]"]),
        ("capm3: {}", &[]),
    ];
    for (setting, expected) in cases {
        let (project, values) = pool(setting);
        assert_eq!(mistakes(&project), expected, "{values}");
        assert_eq!(
            answer(&project.view().selections[1].outcome),
            "img-a",
            "{values}"
        );
    }
}

#[test]
fn bundle_settings_of_an_odd_type() {
    // The pool's settings, over `all` of the cluster; the bundle of the pool, and what is wrong.
    for [setting, expected, wrong] in rows(
        r#"
        | key all |
        component_bundle_key: own | key own |
        component_bundle_key: false | |
        component_bundle_key: null | |
        component_bundle_key: '' | key |
        component_bundle_key: true | key true | error md0 [true] => component_bundle_key: "true"
        component_bundle_key: false, componentsBundle: own | key own |
        component_bundle_key: own, componentsBundle: other | key own | error md0 [other]
        component_bundle_selector: {a: b} | key all, selector 1 |
        component_bundle_selector: {} | key all, selector 0 |
        component_bundle_selector: false | key all |
        component_bundle_selector: null | key all |
        component_bundle_selector: true | key all | error md0 [true]
        component_bundle_env: {A: 1, B: true, C: c, D: 2.5} | key all, A=1, B=true, C=c, D=2.5 |
        component_bundle_env: {A: null, B: [], C: c} | key all, C=c | error md0 [null]; error md0 [[]]
        "#,
    ) {
        let values = format!(
            "cluster:\n  capi_providers: {{infra_provider: capm3}}\n  capm3: {{component_bundle_key: all}}\n  \
             machine_deployments:\n    md0: {{capm3: {{{setting}}}}}\n"
        );
        let project = Project::of(&values, "");
        let view = project.view();
        let bundle = &view.cluster.pools[1].bundle;
        let key = bundle.key.iter().map(|key| format!("key {}", key.value));
        let selector = bundle.selector.iter();
        let selector = selector.map(|found| format!("selector {}", found.value.terms.len()));
        let env = bundle.env.iter();
        let env = env.map(|(name, text)| format!("{name}={}", text.value));
        let found: Vec<String> = key.chain(selector).chain(env).collect();
        assert_eq!(found.join(", ").trim_end(), expected, "{values}");
        assert_eq!(mistakes(&project).join("; "), wrong, "{values}");
    }
}

#[test]
fn a_cluster_of_odd_types() {
    let above = |what: &str| match what {
        "whole" => "cluster:\n  k8s_version: v1.31.8\n  capm3: {image_key: img-a}\n  ",
        "bare" => "cluster:\n  capm3: {image_key: img-a}\n  ",
        "none" => "cluster:\n  capm3: {}\n  ",
        _ => "",
    };
    // What is above; the text that has a wrong type, and whether a value is missing.
    for [what, setting, wrong, missing] in rows(
        "
        whole | name: edge | |
        whole | name: 3 | 3 |
        whole | capi_providers: text | text |
        whole | capi_providers: null | |
        whole | capi_providers: {infra_provider: 3} | 3 |
        whole | machine_deployments: text | text |
        whole | machine_deployments: null | |
        whole | machine_deployments: {md0: text} | text |
        whole | machine_deployments: {md0: null} | md0 |
        whole | machine_deployments: {md0: {}} | |
        whole | machine_deployment_default: null | null |
        whole | control_plane: text | text |
        whole | os_image_selector_autoselect_registries: 3 | 3 |
        bare | k8s_version: 1.31 | 1.31 |
        bare | k8s_version: null | | missing
        bare | name: edge | | missing
        none | name: edge | |
        | cluster: text | text |
        | cluster: null | |
        | other: {} | | missing
        beside | text | text |
        beside | null | |
        beside | {a: {}, b: text} | text |
        beside | {a: null} | null |
        ",
    ) {
        let setting = if what == "beside" {
            format!(
                "{}name: e\nos_image_server_additional_selectors: {setting}",
                above("whole")
            )
        } else {
            format!("{}{setting}", above(what))
        };
        let values = format!("os_images: {{img-a: {{uri: 'https://s/a'}}}}\n{setting}\n");
        let project = Project::of(&values, "");
        let found = mistakes(&project);
        let marked = found.iter();
        let marked = marked.filter_map(|line| line.split(['[', ']']).nth(1));
        assert_eq!(marked.collect::<Vec<_>>().join(" "), wrong, "{values}");
        let is_missing = !project.found("value-missing").is_empty();
        assert_eq!(is_missing, !missing.is_empty(), "{values}");
    }
    // A cluster that is no map has no pools; one that is null or empty has its control plane.
    for (cluster, pools) in [("text", 0), ("[]", 0), ("null", 1), ("{}", 1)] {
        let view = Project::of(&format!("cluster: {cluster}\n"), "").view();
        assert_eq!(view.cluster.pools.len(), pools, "{cluster}");
    }
}

#[test]
fn a_mistake_of_the_control_plane_is_reported_for_it_and_a_failure_once() {
    let cluster = |settings: &str| {
        let values = format!("cluster:\n  k8s_version: v1.31.8\n  {settings}\n");
        Project::of(&values, "")
    };
    let wrong = cluster("control_plane: {capm3: {image_key: []}}");
    assert_eq!(mistakes(&wrong), ["error control-plane [[]]"]);
    let failing = cluster("machine_deployments: '{{ fail \"x\" }}'");
    assert_eq!(failing.found("expression-error").len(), 1);
}
