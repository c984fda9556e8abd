//! The hot parts, each alone: `cargo bench --bench hot [NAME]`. What a fleet costs as a whole is in `benches/fleet`.
//!
//! One iteration is one cluster's share of the benchmark fleet.

#[path = "fleet/generator.rs"]
#[expect(dead_code, reason = "the fleet is not written to disk here")]
mod generator;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use metalmark::decide::matching::{ClusterFacts, PatternCache, Selectable, select};
use metalmark::evaluate::{Evaluator, Options, TemplateCache};
use metalmark::model::cluster::Choice;
use metalmark::model::selector::Matching;
use metalmark::model::selector::{Selector, Term, Wanted};
use yaml_tree::Documents;
use yaml_tree::merge;
use yaml_tree::place::{FileId, Located, Place};
use yaml_tree::value::Node;

use generator::{Dice, cluster_values, images, info, shared};

/// A hot part: makes what it needs, and has it measured.
type Part = fn(&Bencher);

fn main() {
    let parts: [(&str, Part); 6] = [
        ("parse_a_cluster", parse_a_cluster),
        ("parse_the_facts_of_60_images", parse_the_facts_of_60_images),
        (
            "merge_a_cluster_over_what_is_shared",
            merge_a_cluster_over_what_is_shared,
        ),
        ("evaluate_an_expression", evaluate_an_expression),
        ("select_an_image_of_60", select_an_image_of_60),
        ("emit_a_cluster", emit_a_cluster),
    ];
    // Cargo adds an option.
    let wanted: Vec<String> = std::env::args()
        .skip(1)
        .filter(|word| !word.starts_with('-'))
        .collect();
    for (name, part) in parts {
        if wanted.is_empty() || wanted.iter().any(|word| name.contains(word.as_str())) {
            part(&Bencher { name, bytes: None });
        }
    }
}

/// Measures a part and prints what it takes.
struct Bencher {
    name: &'static str,
    bytes: Option<usize>,
}

impl Bencher {
    /// With the length of the text that each run takes or makes.
    fn bytes(&self, bytes: usize) -> Self {
        Self {
            name: self.name,
            bytes: Some(bytes),
        }
    }

    /// Prints the least time and the median of a second of runs.
    #[expect(clippy::print_stdout, reason = "it is what this is for")]
    fn bench<T>(&self, mut run: impl FnMut() -> T) {
        // Caches are filled before.
        black_box(run());
        let mut times = Vec::new();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(1) {
            let begun = Instant::now();
            black_box(run());
            times.push(begun.elapsed());
        }
        times.sort_unstable();
        let (least, median) = (times[0], times[times.len() / 2]);
        let rate = self
            .bytes
            .map(|bytes| format!("{:6.0} MB/s", bytes as f64 / median.as_secs_f64() / 1e6));
        let (name, rate) = (self.name, rate.unwrap_or_default());
        println!(
            "{name:36} {least:>10.1?} {median:>10.1?} {:>8} runs  {rate}",
            times.len()
        );
    }
}

/// A cluster's values file of about 5 KB.
fn text() -> String {
    cluster_values(7, 0, &mut Dice(42))
}

fn read(text: &str) -> Documents {
    let engine = go_template::Engine::default();
    yaml_tree::read(text, FileId(0), engine).expect("the generator writes YAML")
}

fn values(text: &str) -> Node {
    read(text).values().expect("the generator writes a map")
}

fn parse_a_cluster(bencher: &Bencher) {
    let text = text();
    bencher.bytes(text.len()).bench(|| read(black_box(&text)));
}

fn parse_the_facts_of_60_images(bencher: &Bencher) {
    let text = info(&images());
    bencher.bytes(text.len()).bench(|| read(black_box(&text)));
}

fn merge_a_cluster_over_what_is_shared(bencher: &Bencher) {
    let (below, above) = (values(&shared(&images())), values(&text()));
    bencher.bench(|| merge::merge(black_box(&below), black_box(&above)));
}

/// A value behind three expressions, as Sylva writes them; parsed before, as for all clusters but the first.
fn evaluate_an_expression(bencher: &Bencher) {
    let expressions = "version: '{{ .Values.cluster.k8s_version | trimPrefix \"v\" }}'\n\
        is_new: '{{ semverCompare \">=1.30.0\" .Values.cluster.k8s_version | include \"preserve-type\" }}'\n\
        name: '{{ printf \"%s-%s\" .Values.cluster.name (tpl .Values.version .) }}'\n";
    let root = merge::merge(&values(&text()), &values(expressions));
    let (options, cache) = (Options::default(), TemplateCache::default());
    let evaluate = || Evaluator::new(black_box(&root), &options, &cache).get(&["name"]);
    let name = evaluate().expect("it evaluates").expect("it is there");
    assert!(
        name.value
            .as_str()
            .is_some_and(|name| name.starts_with("site-00007-1."))
    );
    bencher.bench(evaluate);
}

/// One selector against 60 images; patterns compiled before, as for all clusters but the first.
fn select_an_image_of_60(bencher: &Bencher) {
    let term = |fact: &str, wanted| Term {
        fact: fact.into(),
        wanted,
        place: Place::NONE,
        key_place: Place::NONE,
    };
    let terms = vec![
        term(fact::HARDENED, Wanted::Bool(true)),
        term(fact::OS, Wanted::Pattern("ubuntu".into())),
        term(fact::OS_RELEASE, Wanted::Pattern("noble".into())),
    ];
    let choice = Choice {
        selector: Some(Located::new(Selector { terms }, Place::NONE)),
        ..Choice::default()
    };
    let cluster = ClusterFacts {
        k8s_version: Some("v1.30.12+rke2r1"),
        bootstrap_provider: Some("cabpr"),
        autoselect_registries: None,
        library: Default::default(),
    };
    let (images, cache) = (Arc::new(catalog()), PatternCache::default());
    let choose = || {
        // Nothing was found in it yet.
        let catalog = Selectable::new(Arc::clone(&images));
        select(&choice, &cluster, &catalog, Matching::default(), &cache)
    };
    assert!(format!("{:?}", choose().outcome).contains("ubuntu-noble-hardened-rke2-1-30-12"));
    bencher.bench(|| black_box(choose()));
}

fn catalog() -> Images {
    let image = |built: generator::BuiltImage| {
        let hardened = built.is_hardened.to_string();
        let mut facts = Facts::default();
        for (name, value) in [
            (fact::OS, built.os),
            (fact::OS_RELEASE, built.release),
            (fact::HARDENED, &hardened),
            (fact::K8S_FLAVOR, built.flavor),
            (fact::K8S_VERSION, &built.version),
        ] {
            let value = value.into();
            let (origin, place) = (Origin::Annotation, Place::NONE);
            facts.learn(
                name,
                Fact {
                    value,
                    origin,
                    place,
                },
            );
        }
        let key: Arc<str> = built.name.into();
        let image = Image {
            name: Arc::clone(&key),
            artifact: Arc::clone(&key),
            key: Arc::clone(&key),
            place: Place::NONE,
            uri: None,
            digest: None,
            pulled: None,
            facts,
            enabled: None,
            built: true,
            list: "os_images",
            registry: None,
        };
        (key, image)
    };
    images().into_iter().map(image).collect()
}

fn emit_a_cluster(bencher: &Bencher) {
    let tree = values(&text());
    let length = yaml_tree::emit(&tree.value).len();
    bencher
        .bytes(length)
        .bench(|| yaml_tree::emit(black_box(&tree.value)));
}
