use std::sync::Arc;

use yaml_tree::engine::Engine;
use yaml_tree::place::{Source, Sources};

use crate::evaluate::{Evaluator, Options, TemplateCache};
use crate::model::catalog::{Catalog, CatalogEntry};
use crate::model::cluster::{Cluster, LevelName, Pool, PoolName};
use crate::model::finding::{Finding, Subject};
use crate::model::selector::Wanted;

fn evaluator(text: &str) -> (Evaluator, Sources) {
    let mut sources = Sources::default();
    let file = sources.add(Source::new("values.yaml", text));
    let values = yaml_tree::values(text, file, Engine::Helm3).expect("the test's YAML is right");
    let evaluator = Evaluator::new(&values, &Options::default(), &TemplateCache::default());
    (evaluator, sources)
}

fn cluster(text: &str) -> (Cluster, Vec<String>) {
    let (evaluator, sources) = evaluator(text);
    let (name, namespace) = (Arc::from("edge"), Arc::from("edge-ns"));
    let mut found = Vec::new();
    let cluster = super::cluster(
        &evaluator,
        &sources,
        &name,
        &namespace,
        super::Scope::ImagesAlone,
        &mut found,
    );
    (cluster, found.iter().map(shown).collect())
}

fn catalog(text: &str) -> (Catalog, Vec<String>) {
    let (evaluator, sources) = evaluator(text);
    let mut found = Vec::new();
    let catalog = super::catalog(&evaluator, &sources, Subject::default(), &mut found);
    (catalog, found.iter().map(shown).collect())
}

/// `rule line:column message`
fn shown(finding: &Finding) -> String {
    let spot = finding.labels.first().map(|label| label.spot.line_column());
    let (line, column) = spot.unwrap_or_default();
    format!("{} {line}:{column} {}", finding.rule, finding.message)
}

/// What a pool selects: key, selector and URL.
fn choice(pool: &Pool) -> String {
    let choice = &pool.choice;
    let terms = choice.selector.iter().flat_map(|selector| {
        selector.value.terms.iter().map(|term| match &term.wanted {
            Wanted::Pattern(pattern) => format!("{}={pattern}", term.fact),
            Wanted::Bool(flag) => format!("{}={flag}", term.fact),
            Wanted::Invalid(kind) => format!("{}: {kind}", term.fact),
        })
    });
    let key = choice.key.iter().map(|key| format!("key {}", key.value));
    let url = choice.url.iter().map(|url| format!("url {}", url.value));
    let all: Vec<String> = key.chain(terms).chain(url).collect();
    all.join(", ")
}

const BASE: &str = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
  capm3:
    os_image_selector: {os: ubuntu, hardened: true}
    nodeReuse: false
    networks: {primary: '{{ fail \"no template takes this\" }}'}
";

#[test]
fn pools_inherit_and_override() {
    let (cluster, found) = cluster(&format!(
        "{BASE}  control_plane_replicas: 3
  control_plane:
    capm3: {{os_image_selector: {{os: suse}}}}
  machine_deployment_default:
    replicas: 2
    capm3: {{nodeReuse: true, hostSelector: {{matchLabels: {{role: worker}}}}}}
  machine_deployments:
    keyed: {{capm3: {{image_key: kk, os_image_selector: null}}, replicas: 5}}
    plain: {{infra_provider: capo}}
    emptied: {{capm3: {{os_image_selector: {{}}, hostSelector: {{matchLabels: {{zone: b}}}}}}}}
    refused: {{capm3: {{os_image_selector: false}}}}
"
    ));
    assert_eq!(found, Vec::<String>::new());
    let choices: Vec<String> = cluster
        .pools
        .iter()
        .map(|pool| format!("{}: {}", pool.name, choice(pool)))
        .collect();
    assert_eq!(
        choices,
        [
            "control-plane: hardened=true, os=suse",
            "emptied: hardened=true, os=ubuntu",
            "keyed: key kk",
            "plain: hardened=true, os=ubuntu",
            "refused: ",
        ]
    );
    let replicas: Vec<Option<u32>> = cluster
        .pools
        .iter()
        .map(|pool| pool.replicas.as_ref().map(|count| count.value))
        .collect();
    assert_eq!(replicas, [Some(3), Some(2), Some(5), Some(2), Some(2)]);
    let labels = cluster.pools[1]
        .settings
        .get_path(&["hostSelector", "matchLabels"]);
    assert_eq!(
        labels
            .and_then(|node| node.value.as_map())
            .map(|map| map.len()),
        Some(2)
    );
    assert!(cluster.pools[0].settings.get_path(&["networks"]).is_none());
}

#[test]
fn each_level_keeps_its_own_words() {
    let (cluster, _) = cluster(&format!(
        "{BASE}  control_plane: {{capm3: {{image_key: a}}}}\n  machine_deployments: {{md0: {{}}}}\n"
    ));
    let made: Vec<(&LevelName, bool)> = cluster
        .levels
        .iter()
        .map(|level| (&level.name, level.choice.is_made()))
        .collect();
    let md0 = LevelName::MachineDeployment("md0".into());
    assert_eq!(
        made,
        [
            (&LevelName::Cluster, true),
            (&LevelName::ControlPlane, true),
            (&LevelName::MachineDeploymentDefault, false),
            (&md0, false),
        ]
    );
}

#[test]
fn either_name_of_the_key_overrides_the_other() {
    let (cluster, found) = cluster(
        "cluster:\n  k8s_version: 1.31.8\n  capm3: {os_image_key: 'ubuntu-{{ k8s_version }}'}\n  control_plane: {capm3: {image_key: b}}\n  machine_deployments: {md0: {capm3: {os_image_key: ''}}, md1: {}}\n",
    );
    assert_eq!(found, Vec::<String>::new());
    let choices: Vec<String> = cluster.pools.iter().map(choice).collect();
    assert_eq!(choices, ["key b", "key ", "key ubuntu-1.31.8"]);
    assert!(!cluster.pools[1].choice.is_made());
    assert!(
        cluster.pools[2]
            .settings
            .get_path(&["os_image_key"])
            .is_some()
    );
}

#[test]
fn the_provider_is_named_or_the_only_one_there() {
    let infra = |text: &str| {
        let (cluster, _) = cluster(text);
        cluster.infra_provider.map(|infra| infra.value.to_string())
    };
    assert_eq!(
        infra("cluster: {capo: {image_key: a}}").as_deref(),
        Some("capo")
    );
    assert_eq!(
        infra("cluster: {capo: {}, capm3: {}}").as_deref(),
        Some("capm3")
    );
    let named = "cluster: {capo: {}, capi_providers: {infra_provider: capd}}";
    assert_eq!(infra(named).as_deref(), Some("capd"));
}

#[test]
fn nulls_that_the_charts_refuse_are_reported() {
    let (cluster, found) = cluster(&format!(
        "{BASE}  control_plane: null\n  machine_deployment_default: {{capm3: null}}\n  machine_deployments: {{md0: null}}\n"
    ));
    assert_eq!(
        found,
        [
            "value-type 8:18 `cluster.control_plane` is null, and the charts need a map there",
            "value-type 9:39 `cluster.machine_deployment_default.capm3` is null, and the charts need a map there",
            "value-type 10:25 `cluster.machine_deployments.md0` is null, and the charts need a map there",
        ]
    );
    assert_eq!(cluster.pools.len(), 2);
    let (cluster, found) = self::cluster(&format!("{BASE}  machine_deployments: null\n"));
    assert_eq!((cluster.pools.len(), found.len()), (1, 0));
}

#[test]
fn one_pool_s_failure_hides_no_other() {
    let (cluster, found) = cluster(&format!(
        "{BASE}  machine_deployments:
    bad:
      capm3:
        image_key: |
          {{{{ fail \"no key\" }}}}
    good: {{capm3: {{image_key: a, os_image_selector: null}}}}
    typed: {{capm3: {{image_key: [a], machine_image_checksum: 123}}, replicas: many}}
"
    ));
    assert_eq!(
        found,
        [
            "expression-error 12:14 no key",
            "value-type 14:32 `image_key` is a list, not a string",
            "value-type 14:61 `machine_image_checksum` is a number, not a string",
            "value-type 14:77 `cluster.machine_deployments.typed.replicas` is a string, not a number of nodes",
        ]
    );
    assert_eq!(cluster.pools.len(), 4);
    assert_eq!(choice(&cluster.pools[2]), "key a");
    assert_eq!(
        cluster.pools[1].name,
        PoolName::MachineDeployment("bad".into())
    );
}

#[test]
fn a_version_is_a_string_and_has_to_be_there() {
    let (cluster, found) = cluster("cluster: {k8s_version: 1.30, capm3: {image_key: a}}");
    assert_eq!(
        found,
        ["value-type 1:24 `cluster.k8s_version` is a number, not a string"]
    );
    assert_eq!(
        cluster.k8s_version.map(|version| version.value),
        Some("1.3".into())
    );
    let (_, found) = self::cluster("cluster: {capm3: {image_key: a}}");
    assert_eq!(
        found,
        ["value-missing 1:10 `cluster.k8s_version` is not set"]
    );
    let (_, found) = self::cluster("cluster: {k8s_version: '{{ .Values.no.such }}'}");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("value-missing 1:"), "{found:?}");
    let (_, found) = self::cluster("os_images: {}");
    assert_eq!(found, ["value-missing 1:1 `cluster` is not set"]);
}

#[test]
fn what_is_served_beside_is_read() {
    let (cluster, found) = cluster(
        "os_image_server_additional_selectors: {a: {os: suse}, b: text}\nos_images_default_download_storage_space: 30Gi\ncluster: {name: '{{ .Release.Namespace }}', os_image_selector_autoselect_registries: sylva}\n",
    );
    assert_eq!(
        found,
        ["value-type 1:58 `os_image_server_additional_selectors.b` is a string, not a map"]
    );
    assert_eq!(cluster.additional_selectors.len(), 1);
    assert_eq!(&*cluster.object_name, "sylva-system");
    assert_eq!((&*cluster.name, &*cluster.namespace), ("edge", "edge-ns"));
    assert_eq!(cluster.autoselect_registries.as_deref(), Some("sylva"));
    assert_eq!(
        cluster.default_storage.map(|space| space.value),
        Some("30Gi".into())
    );
}

#[test]
fn both_vocabularies_make_one_catalog() {
    let (catalog, found) = catalog(
        "\
sylva_diskimagebuilder_version: 0.4.12
sylva_diskimagebuilder_images:
  '{{ printf \"b-%s\" .Values.suffix }}': {os_images_oci_registry: sylva}
  a-1: {enabled: true, default_enabled: false}
diskimage_builder_os_images:
  ubuntu-jammy-1.26.9: {default_enabled: '{{ eq 1 2 }}'}
  bare: null
os_images:
  own: {uri: 'http://h/{{ .Values.suffix }}', size: 5, persistence: {size: 3Gi}, hardened: true}
os_images_oci_registries:
  sylva:
    url: oci://h/
    tag: '{{ .Values.sylva_diskimagebuilder_version }}'
    cosign_publickey: '{{ fail \"not needed\" }}'
  unused: {url: oci://h, tag: x, enabled: '{{ \"\" }}'}
suffix: two
",
    );
    assert_eq!(found, Vec::<String>::new());
    let names: Vec<(&str, bool, Option<bool>)> = catalog
        .entries
        .iter()
        .map(|entry| {
            let enabled = entry.enabled.as_ref().map(|flag| flag.value);
            (&*entry.name.value, entry.built, enabled)
        })
        .collect();
    assert_eq!(
        names,
        [
            ("own", false, Some(true)),
            ("b-two", true, None),
            ("a-1", true, Some(true)),
            ("ubuntu-jammy-1.26.9", true, Some(false)),
            ("bare", true, None),
        ]
    );
    let own: Vec<String> = catalog.entries[0]
        .properties
        .iter()
        .map(|(name, text)| format!("{name}={}", text.value))
        .collect();
    assert_eq!(
        own,
        [
            "hardened=true",
            "persistence.size=3Gi",
            "size=5",
            "uri=http://h/two"
        ]
    );
    let mistyped: Vec<&str> = catalog.entries[0]
        .mistyped
        .iter()
        .map(|(name, _)| &**name)
        .collect();
    assert_eq!(mistyped, ["persistence", "size"]);
    let sylva = &catalog.registries["sylva"];
    assert_eq!(sylva.url.as_ref().map(|url| &*url.value), Some("oci://h"));
    assert_eq!(sylva.tag.as_ref().map(|tag| &*tag.value), Some("0.4.12"));
    assert_eq!(
        (sylva.enabled, catalog.registries["unused"].enabled),
        (true, false)
    );
}

#[test]
fn the_old_switches_serve_what_either_turns_on_and_a_default_only_beside_no_image_of_ones_own() {
    let switches = "\
sylva_diskimagebuilder_images:
  both: {enabled: false, default_enabled: true}
  default: {default_enabled: true}
  named: {enabled: true, default_enabled: false}
  neither: {enabled: false}
  unsaid: {}
";
    let served = |text: &str| {
        let (catalog, _) = catalog(text);
        let on = |entry: &&CatalogEntry| entry.enabled.as_ref().is_some_and(|flag| flag.value);
        let names = catalog.entries.iter().filter(on);
        names
            .map(|entry| entry.name.value.to_string())
            .collect::<Vec<_>>()
            .join(" ")
    };
    assert_eq!(served(switches), "both default named");
    let own = "os_images: {own: {uri: 'http://h/f'}}\n";
    assert_eq!(served(&format!("{own}{switches}")), "own named");
}

#[test]
fn an_edited_expression_is_warned_of() {
    let (catalog, found) = catalog(
        "short: '1.31'\nversion: '{{ .Values.short }}.8'\nos_images: {'u-{{ .Values.version | replace \".\" \"-\" }}': {uri: 'http://h/f'}}\n",
    );
    assert_eq!(&*catalog.entries[0].name.value, "u-1-31-8");
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("expression-order 3:13 "), "{found:?}");
}

#[test]
fn lists_of_another_kind_are_reported() {
    let (catalog, found) = catalog(
        "os_images: [a]\nsylva_diskimagebuilder_images: {a: text}\nsylva_diskimagebuilder_version: 1.10\n",
    );
    assert_eq!(
        found,
        [
            "value-type 1:12 `os_images` is a list, not a map",
            "value-type 2:36 `sylva_diskimagebuilder_images.a` is a string, not a map",
            "value-type 3:33 `sylva_diskimagebuilder_version` is a number, not a string",
        ]
    );
    assert_eq!(catalog.entries.len(), 1);
}
