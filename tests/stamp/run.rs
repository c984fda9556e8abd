//! Stamping in one process: three images, `k0` to `k2`, and the files of a run.

use std::sync::Arc;

use capi::image::{Fact, Facts, Image, Images, Origin, fact};
use capi::objects::{ManifestObject, objects};
use capi::providers::Stamp;
use metalmark::decide::matching::PatternCache;
use metalmark::edit::stamp::{self, Chooser, Job, Options, Plan};
use metalmark::model::selector::Matching;
use yaml_tree::place::{Place, Source};

use super::model;

fn images() -> Images {
    let image = |number: usize| {
        let mut facts = Facts::default();
        let value = model::version_of(number).into();
        let learned = |value| Fact {
            value,
            origin: Origin::Values,
            place: Place::NONE,
        };
        facts.learn(fact::K8S_VERSION, learned(value));
        facts.learn("os", learned(["ubuntu", "suse", "debian"][number].into()));
        let key: Arc<str> = format!("k{number}").into();
        let image = Image {
            key: Arc::clone(&key),
            name: Arc::clone(&key),
            artifact: Arc::clone(&key),
            place: Place::NONE,
            uri: None,
            digest: None,
            pulled: None,
            facts,
            enabled: None,
            built: false,
            list: "os_images",
            registry: None,
        };
        (key, image)
    };
    (0..3).map(image).collect()
}

/// What stamping makes of these files.
pub(super) fn planned(sources: &[Arc<Source>], options: Options) -> Plan {
    let all: Vec<ManifestObject> = sources
        .iter()
        .flat_map(|source| objects(source).expect("YAML").objects)
        .collect();
    let stamp = |image: &Image| {
        let number = image.key[1..].parse().expect("a number");
        let [url, checksum, kind, format] =
            model::fields(number).map(|(_, text)| Arc::<str>::from(text));
        Some(Ok(Stamp {
            key: Some(Arc::clone(&image.key)),
            url,
            checksum: Some(checksum),
            checksum_type: Some(kind),
            format: Some(format),
            facts: image.facts.clone(),
            ..Stamp::default()
        }))
    };
    let (images, patterns) = (images(), PatternCache::default());
    let chooser = Chooser {
        images: &images,
        keys: Default::default(),
        matching: Matching::default(),
        patterns: &patterns,
        stamp: &stamp,
    };
    let job = Job {
        options,
        ..Job::default()
    };
    stamp::plan(&all, &[], &chooser, &job, &[])
}

/// The files' texts afterwards.
pub(super) fn texts(sources: &[Arc<Source>], plan: &Plan) -> Vec<String> {
    let new = |source: &Arc<Source>| {
        plan.files
            .iter()
            .find(|file| Arc::ptr_eq(&file.source, source))
            .map(|file| &file.text)
    };
    sources
        .iter()
        .map(|source| new(source).unwrap_or(&source.text).clone())
        .collect()
}

/// What kept objects from being stamped, and what is wrong with markers.
pub(super) fn problems(plan: &Plan) -> Vec<&str> {
    let problems = plan.results.iter().flat_map(|result| &result.problems);
    let findings = plan.findings.iter().map(|finding| &finding.message);
    problems.chain(findings).map(String::as_str).collect()
}
