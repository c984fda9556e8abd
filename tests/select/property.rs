//! Random clusters: the image that each pool boots, and what is found of it, are what the model says.

use std::collections::BTreeMap;

use metalmark::model::finding::Judged;
use metalmark::model::rule::{Level as Severity, RuleId};
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Just, Strategy, any, prop_assert_eq, prop_oneof, proptest};
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::super::support::project::Project;
use super::model::{self, Answer, Cluster, Image, Level, Pattern, Terms};

const KEYS: [&str; 3] = ["img-a", "img-b", "img-c"];
const VERSIONS: [&str; 7] = [
    "1.31.8+rke2r1",
    "1.31.8+rke2r1",
    "1.31.8-rke2r1",
    "1.31.8",
    "1.31.8+rke2r2",
    "1.30.12+rke2r1",
    "1.31",
];

fn pattern(name: &'static str) -> impl Strategy<Value = Pattern> {
    let (texts, starts): (&'static [&'static str], &'static [&'static str]) = match name {
        "os" => (&["ubuntu", "opensuse"], &["ub"]),
        "os-release" => (&["noble", "15.6"], &["no", "15"]),
        "k8s-flavor" => (&["rke2", "kubeadm"], &["rke"]),
        "k8s-version" => (&VERSIONS, &["1.31.", "v1.31", "1.31.8-", "1.30"]),
        "_os_images_key_" => (&KEYS, &["img-", "ubuntu-"]),
        _ => (&["true", "false", "plain", "hardened"], &["t"]),
    };
    prop_oneof![
        6 => select(texts).prop_map(Pattern::Text),
        2 => select(vec![true, false]).prop_map(Pattern::Bool),
        2 => select(starts).prop_map(Pattern::Starts),
        1 => Just(Pattern::OneOf(texts)),
        1 => Just(Pattern::Anything),
    ]
}

fn terms() -> impl Strategy<Value = Terms> {
    let names = vec![
        "os",
        "os",
        "os",
        "hardened",
        "hardened",
        "os-release",
        "k8s-flavor",
        "k8s-version",
        "_os_images_key_",
        "flavor",
        "commit-tag",
    ];
    let known = select(names).prop_flat_map(|name| (Just(name), pattern(name)));
    let odd = select(vec![
        ("os", Pattern::Number),
        ("os-version", Pattern::Text("noble")),
    ]);
    vec(prop_oneof![40 => known, 1 => odd], 0..3).prop_map(|terms| terms.into_iter().collect())
}

fn level() -> impl Strategy<Value = Level> {
    let keys = vec!["img-a", "img-b", "img-c", "img-a", "", "gone"];
    let key = weighted(0.25, (any::<bool>(), select(keys)));
    let selector = weighted(
        0.45,
        prop_oneof![9 => terms().prop_map(Some), 1 => Just(None)],
    );
    let url = weighted(0.1, select(vec!["https://s/x.raw", ""]));
    (key, selector, url).prop_map(|(key, selector, url)| Level { key, selector, url })
}

/// What a source says of an image.
fn facts() -> impl Strategy<Value = BTreeMap<&'static str, String>> {
    let fact = |name: &'static str, values: &'static [&'static str]| {
        weighted(0.85, select(values))
            .prop_map(move |value| value.map(|value| (name, value.to_owned())))
    };
    let all = (
        fact("os", &["ubuntu", "ubuntu", "opensuse"]),
        fact("os-release", &["noble", "15.6"]),
        fact("hardened", &["true", "false"]),
        fact("k8s-flavor", &["rke2", "rke2", "kubeadm"]),
        fact("k8s-version", &VERSIONS),
    );
    all.prop_map(|(a, b, c, d, e)| [a, b, c, d, e].into_iter().flatten().collect())
}

/// An image of `os_images`, which says what it is; its release may be a number.
fn declared() -> impl Strategy<Value = (String, Image)> {
    (
        select(&KEYS[..]),
        facts(),
        weighted(0.1, Just("os-release")),
    )
        .prop_map(|(key, mut facts, number)| {
            if number.is_some() {
                facts.insert("os-release", "15.6".to_owned());
            }
            let image = Image {
                facts,
                number,
                ..Image::default()
            };
            (key.to_owned(), image)
        })
}

/// An image of the builder, named after what it is; a file may say more of it.
fn built() -> impl Strategy<Value = (String, Image)> {
    let systems = vec![
        ("ubuntu", "noble"),
        ("ubuntu", "jammy"),
        ("opensuse", "15.6"),
    ];
    let flavors = vec!["plain", "hardened"];
    let distributions = vec!["rke2", "kubeadm"];
    let versions = vec!["1.31.8", "1.31.8", "1.30.12", "1.31"];
    let name = (
        select(systems),
        select(flavors),
        select(distributions),
        select(versions),
    );
    (name, weighted(0.5, facts())).prop_map(
        |(((os, release), flavor, distribution, version), facts)| {
            let key = format!("{os}-{release}-{flavor}-{distribution}-{version}").replace('.', "-");
            let name = BTreeMap::from([
                ("os", os.to_owned()),
                ("os-release", release.to_owned()),
                ("flavor", flavor.to_owned()),
                ("hardened", (flavor == "hardened").to_string()),
                ("k8s-flavor", distribution.to_owned()),
                ("k8s-version", version.to_owned()),
            ]);
            let facts = facts.unwrap_or_default();
            (
                key,
                Image {
                    facts,
                    number: None,
                    name,
                },
            )
        },
    )
}

fn cluster() -> impl Strategy<Value = Cluster> {
    let version = prop_oneof![
        12 => Just(Some("v1.31.8+rke2r1")),
        3 => Just(Some("v1.31.8")),
        1 => Just(Some("1.31.8")),
        1 => Just(Some("v1.31")),
        1 => Just(None),
    ];
    let bootstrap = prop_oneof![12 => Just("cabpr"), 2 => Just("cabpk"), 1 => Just("cabpx")];
    let images = (btree_map_of(declared(), 4), btree_map_of(built(), 4));
    (version, bootstrap, images, any::<bool>()).prop_map(
        |(version, bootstrap, (declared, built), exact)| {
            let images = declared.into_iter().chain(built).collect();
            Cluster {
                version,
                bootstrap,
                images,
                exact,
            }
        },
    )
}

fn btree_map_of(
    image: impl Strategy<Value = (String, Image)>,
    most: usize,
) -> impl Strategy<Value = BTreeMap<String, Image>> {
    vec(image, 0..most).prop_map(|images| images.into_iter().collect())
}

/// The project's files for a cluster: values, and what a file says of the builder's images.
fn project(
    cluster: &Cluster,
    root: &Level,
    plane: &Level,
    default: &Level,
    pools: &BTreeMap<String, Level>,
) -> Project {
    let (mut declared, mut built, mut described) = (Map::new(), Map::new(), Map::new());
    for (key, image) in &cluster.images {
        let mut facts: Map<String, Value> = image
            .facts
            .iter()
            .map(|(name, text)| ((*name).to_owned(), json!(text)))
            .collect();
        if let Some(number) = image.number {
            facts.insert(number.to_owned(), json!(15.6));
        }
        if image.name.is_empty() {
            facts.insert("uri".to_owned(), json!(format!("https://server/{key}")));
            declared.insert(key.clone(), Value::Object(facts));
        } else {
            built.insert(key.clone(), json!({}));
            if !facts.is_empty() {
                described.insert(key.clone(), Value::Object(facts));
            }
        }
    }
    let pools: Map<String, Value> = pools
        .iter()
        .map(|(name, level)| (name.clone(), json!({"capm3": settings(level)})))
        .collect();
    let mut described_cluster = json!({
        "capi_providers": {"infra_provider": "capm3", "bootstrap_provider": cluster.bootstrap},
        "capm3": settings(root),
        "control_plane": {"capm3": settings(plane)},
        "machine_deployment_default": {"capm3": settings(default)},
        "machine_deployments": pools,
    });
    if let Some(version) = cluster.version {
        described_cluster["k8s_version"] = json!(version);
    }
    let values = json!({
        "sylva_diskimagebuilder_version": "0.4.12",
        "sylva_diskimagebuilder_images": built,
        "os_images": declared,
        "cluster": described_cluster,
    });
    let file = json!({
        "version": 1,
        "matching": if cluster.exact { "exact" } else { "normalized" },
        "clusters": [{"name": "edge", "values": ["values.yaml"]}],
        "images": {"facts": ["facts.yaml"]},
    });
    Project::new(&[
        ("metalmark.yaml", &file.to_string()),
        ("values.yaml", &values.to_string()),
        ("facts.yaml", &json!({"os_images": described}).to_string()),
    ])
}

fn settings(level: &Level) -> Value {
    let mut settings = Map::new();
    if let Some((is_other, key)) = level.key {
        let name = if is_other {
            "os_image_key"
        } else {
            "image_key"
        };
        settings.insert(name.to_owned(), json!(key));
    }
    if let Some(selector) = &level.selector {
        let terms = |terms: &Terms| -> Map<String, Value> {
            terms
                .iter()
                .map(|(name, pattern)| ((*name).to_owned(), written(pattern)))
                .collect()
        };
        let selector = selector
            .as_ref()
            .map_or(json!(false), |selector| Value::Object(terms(selector)));
        settings.insert("os_image_selector".to_owned(), selector);
    }
    if let Some(url) = level.url {
        settings.insert("machine_image_url".to_owned(), json!(url));
    }
    Value::Object(settings)
}

/// A pattern as people write it: what Go's regular expressions read otherwise is escaped.
fn written(pattern: &Pattern) -> Value {
    let escaped = |text: &str| text.replace('.', "\\.").replace('+', "\\+");
    match pattern {
        Pattern::Bool(flag) => json!(flag),
        Pattern::Text(text) => json!(escaped(text)),
        Pattern::OneOf(texts) => {
            let texts: Vec<String> = texts.iter().map(|text| escaped(text)).collect();
            json!(texts.join("|"))
        }
        Pattern::Starts(text) => json!(format!("{}.*", escaped(text))),
        Pattern::Anything => json!(".*"),
        Pattern::Number => json!(15.6),
    }
}

/// What was found of a pool's version.
fn doubt(judged: &[Judged], pool: &str) -> &'static str {
    let of = |rule: RuleId| {
        judged.iter().find(|judged| {
            judged.finding.rule == rule && judged.finding.subject.pool.as_deref() == Some(pool)
        })
    };
    match (
        of(RuleId::K8sVersionMismatch),
        of(RuleId::K8sVersionUnproven),
    ) {
        (None, None) => "",
        (Some(_), None) => "mismatch",
        (None, Some(judged)) if judged.level == Severity::Warning => "unproven, mild",
        (None, Some(_)) => "unproven",
        (Some(_), Some(_)) => "both",
    }
}

proptest! {
    #[test]
    fn every_pool_boots_what_the_model_says(
        cluster in cluster(),
        (root, plane, default) in (level(), level(), level()),
        own in vec(level(), 1..4),
    ) {
        let pools: BTreeMap<String, Level> =
            own.into_iter().enumerate().map(|(index, level)| (format!("md{index}"), level)).collect();
        let project = project(&cluster, &root, &plane, &default, &pools);
        let (view, judged) = (project.view(), project.judged());
        let chains = [("control-plane".to_owned(), vec![&root, &plane])]
            .into_iter()
            .chain(pools.iter().map(|(name, own)| (name.clone(), vec![&root, &default, own])));
        for ((name, levels), selection) in chains.zip(&view.selections) {
            let image = super::answer(&selection.outcome);
            let found = |rule: RuleId| judged.iter().any(|judged| {
                let finding = &judged.finding;
                judged.level == Severity::Error && finding.rule == rule && finding.subject.pool.as_deref() == Some(&name)
            });
            let answer = Answer {
                is_conflict: found(RuleId::ChoiceConflict),
                doubt: if cluster.images.contains_key(&image) { doubt(&judged, &name) } else { "" },
                image,
            };
            prop_assert_eq!(&answer, &model::answer(&cluster, &levels), "pool {}", name);
            // What boots nothing for certain is an error of its own.
            let rule = match answer.image.split(' ').next() {
                Some("(none)") => RuleId::NoImageMatches,
                Some("(several)") => RuleId::SeveralImagesMatch,
                Some("(unknown)") => RuleId::UnknownImage,
                _ => continue,
            };
            prop_assert_eq!(found(rule), true, "pool {}: {}", name, rule);
        }
    }
}
