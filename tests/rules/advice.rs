//! Random catalogs and pools: each edit that a finding prints, and each fix, is made in the values. It leaves no new error and
//! lowers nothing: neither a Kubernetes version nor what the image of a pool is.

use std::collections::BTreeSet;

use capi::image::Image;
use metalmark::model::cluster_view::ClusterView;
use metalmark::model::finding::Judged;
use metalmark::model::rule::Level;
use metalmark::model::selection::Outcome;
use proptest::collection::vec;
use proptest::option::weighted;
use proptest::prelude::{Strategy, any};
use proptest::sample::select;

use super::super::support::project::Project;
use super::super::support::seen::Seen;

/// Versions as images and clusters write them, so that one often holds what the other runs.
const VERSIONS: [&str; 9] = [
    "1.30.11+rke2r1",
    "1.30.12+rke2r1",
    "1.31.8+rke2r1",
    "1.31.8+rke2r1",
    "1.31.8+rke2r2",
    "1.31.9+rke2r1",
    "1.32.1+rke2r1",
    "1.31.8",
    "1.31.8+k3s1",
];

const PROJECT: &str = "version: 1\nvalues: [catalog.yaml]\nclusters:\n  - {name: edge, values: [edge.yaml, applied.yaml]}\n";

/// What an image has, the version last.
fn facts() -> impl Strategy<Value = Vec<String>> {
    let sum = &["aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"];
    (
        fact("uri", 0.95, &["https://s/f"]),
        fact("os", 0.99, &["ubuntu", "ubuntu", "ubuntu", "opensuse"]),
        fact(
            "os-release",
            0.99,
            &["noble", "noble", "noble", "24.04", "jammy"],
        ),
        fact("hardened", 0.99, &["true", "true", "true", "false"]),
        fact("arch", 0.8, &["amd64", "amd64", "x86_64", "arm64"]),
        fact("k8s-flavor", 0.99, &["rke2", "rke2", "rke2", "kubeadm"]),
        fact("image-format", 0.9, &["raw", "raw", "qcow2", "iso"]),
        fact("sha256", 0.9, sum),
        fact("k8s-version", 0.95, &VERSIONS),
    )
        .prop_map(|facts| {
            let (uri, os, release, hardened, arch, flavor, format, sum, version) = facts;
            vec![
                uri, os, release, hardened, arch, flavor, format, sum, version,
            ]
        })
}

/// A fact with one of these values, or none.
fn fact(
    name: &'static str,
    often: f64,
    values: &'static [&'static str],
) -> impl Strategy<Value = String> {
    let value = weighted(often, select(values));
    value.prop_map(move |value| value.map_or(String::new(), |value| format!("{name}: '{value}'")))
}

/// An image that is another one but for a few facts, a bit each, and for its version.
fn image(first: &[String], own: &[String], differs: u8) -> String {
    let facts = first.iter().zip(own).enumerate();
    let facts = facts.map(|(at, (first, own))| match 1_u8.checked_shl(at as u32) {
        Some(bit) if differs & bit == 0 => first,
        _ => own,
    });
    let facts = facts.map(String::as_str).filter(|fact| !fact.is_empty());
    format!("{{{}}}", facts.collect::<Vec<_>>().join(", "))
}

/// What a level writes.
fn choice() -> impl Strategy<Value = String> {
    let keys = vec!["img-a", "img-b", "img-c", "img-d", "img-z", "imgg-a"];
    let terms = select(vec![
        "os: ubuntu",
        "os: ubuntu, hardened: true",
        "os: ubuntu, os-release: '24\\.04'",
        "os: ubuntu, os-release: noble, arch: amd64, _use_extra_keys_: true",
        "os: opensuse",
        "os: ubuntu, k8s-version: '1.31.*'",
        "hardened: false",
    ]);
    let key = (
        select(vec!["image_key", "image_key", "os_image_key"]),
        select(keys),
    );
    (weighted(0.6, key), weighted(0.3, terms)).prop_map(|(key, terms)| {
        let key = key.map(|(name, key)| format!("{name}: {key}"));
        let terms = terms.map(|terms| format!("os_image_selector: {{{terms}}}"));
        let both: Vec<String> = key.into_iter().chain(terms).collect();
        format!("capm3: {{{}}}", both.join(", "))
    })
}

fn pool() -> impl Strategy<Value = String> {
    (choice(), weighted(0.25, select(VERSIONS.to_vec()))).prop_map(|(choice, version)| {
        let version = version.map_or(String::new(), |version| {
            format!("k8s_version: v{version}, ")
        });
        format!("{{{version}{choice}}}")
    })
}

/// The catalog and the cluster.
fn project() -> impl Strategy<Value = (String, String)> {
    let parts = (
        vec((facts(), any::<u8>(), any::<u8>(), any::<u8>()), 2..5),
        select(VERSIONS.to_vec()),
        select(vec!["cabpr", "cabpr", "cabpr", "cabpk"]),
        (choice(), pool(), pool(), pool()),
    );
    parts.prop_map(|(images, version, bootstrap, (root, plane, one, two))| {
        let mut catalog = "os_images:\n".to_owned();
        for (name, (own, one, two, three)) in ["a", "b", "c", "d"].iter().zip(&images) {
            let image = image(&images[0].0, own, one & two & three);
            catalog += &format!("  img-{name}: {image}\n");
        }
        let cluster = format!(
            "cluster:\n  k8s_version: v{version}\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: {bootstrap}}}\n  {root}\n  control_plane: {plane}\n  machine_deployments:\n    md0: {one}\n    md1: {two}\n"
        );
        (catalog, cluster)
    })
}

fn read(catalog: &str, cluster: &str, applied: &str) -> Project {
    Project::new(&[
        ("metalmark.yaml", PROJECT),
        ("catalog.yaml", catalog),
        ("edge.yaml", cluster),
        ("applied.yaml", applied),
    ])
}

/// The values that an edit writes: `a.b.c: value`.
fn written(edit: &str) -> Option<String> {
    let (path, value) = edit.split_once(": ")?;
    if !path.starts_with("cluster.") || value == "…" {
        return None;
    }
    let mut lines = String::new();
    let keys: Vec<&str> = path.split('.').collect();
    for (depth, key) in keys.iter().enumerate() {
        let end = if depth + 1 == keys.len() {
            format!(" {value}")
        } else {
            String::new()
        };
        lines += &format!("{}{key}:{end}\n", "  ".repeat(depth));
    }
    Some(lines)
}

/// The edits that help and fixes print.
fn edits(judged: &[Judged]) -> BTreeSet<String> {
    let help = judged.iter().flat_map(|judged| &judged.finding.help);
    let quoted = help.flat_map(|help| help.split('`').skip(1).step_by(2));
    let fixes = judged
        .iter()
        .filter_map(|judged| Some(&*judged.finding.fix.as_ref()?.text));
    quoted.chain(fixes).map(str::to_owned).collect()
}

fn errors(judged: &[Judged]) -> BTreeSet<(&'static str, Option<String>)> {
    let errors = judged.iter().filter(|judged| judged.level == Level::Error);
    errors
        .map(|judged| {
            (
                judged.finding.rule.as_str(),
                judged.finding.subject.pool.clone(),
            )
        })
        .collect()
}

/// What a pool runs: its version, and the image that it boots.
fn runs(view: &ClusterView) -> Vec<(String, Option<Image>)> {
    let pools = view.cluster.pools.iter().zip(&view.selections);
    pools
        .map(|(pool, selection)| {
            let version = view.cluster.k8s_version_of(pool);
            let image = match &selection.outcome {
                Outcome::Image(key) => view.images.get(key).cloned(),
                _ => None,
            };
            (
                version.map_or(String::new(), |version| version.value.to_string()),
                image,
            )
        })
        .collect()
}

/// Major, minor, patch, the distribution and its build's number.
fn parts(version: &str) -> (Vec<u32>, String, u32) {
    let (numbers, build) = version
        .trim_start_matches('v')
        .split_once('+')
        .unwrap_or((version, ""));
    let numbers = numbers.trim_start_matches('v').split('.');
    let numbers = numbers
        .map(|number| number.parse().expect("a number"))
        .collect();
    let kind = build.trim_end_matches(|letter: char| letter.is_ascii_digit());
    (
        numbers,
        kind.to_owned(),
        build[kind.len()..].parse().unwrap_or_default(),
    )
}

fn is_lower(old: &str, new: &str) -> bool {
    let ((old, kind, number), (new, new_kind, new_number)) = (parts(old), parts(new));
    kind != new_kind || new < old || new[1] > old[1] + 1 || (new == old && new_number < number)
}

/// What an image is, spelled one way.
fn is(image: &Image, name: &str) -> String {
    match image.facts.text(name) {
        Some("24.04") => "noble",
        Some("x86_64") => "amd64",
        other => other.unwrap_or("unknown"),
    }
    .to_owned()
}

/// Makes the edits that a project's findings print, each on its own; what was seen is noted.
fn assert_edits(catalog: &str, cluster: &str, seen: &Seen) {
    let before = read(catalog, cluster, "");
    let (judged, view) = (before.judged(), before.view());
    let flavor = if cluster.contains("cabpr") {
        "rke2"
    } else {
        "kubeadm"
    };
    for edit in edits(&judged) {
        let Some(applied) = written(&edit) else {
            continue;
        };
        seen.note("an edit is made");
        let after = read(catalog, cluster, &applied);
        let (old, new) = (errors(&judged), errors(&after.judged()));
        seen.note_if(new.len() < old.len(), "an error is gone");
        let unknown = |pool: &Option<String>| old.contains(&("unknown-image", pool.clone()));
        // An image that is not in the catalog has hidden what else is wrong with its pool.
        let more: Vec<_> = new
            .difference(&old)
            .filter(|(_, pool)| !unknown(pool))
            .collect();
        assert!(more.is_empty(), "{edit}: {more:?}\n{catalog}{cluster}");
        for ((was, booted), (runs, boots)) in runs(&view).iter().zip(runs(&after.view())) {
            seen.note_if(*was != runs, "a pool runs another version");
            assert!(
                !is_lower(was, &runs),
                "{edit}: {was} -> {runs}\n{catalog}{cluster}"
            );
            let (Some(booted), Some(boots)) = (booted, boots) else {
                continue;
            };
            if booted.key == boots.key {
                continue;
            }
            seen.note("a pool boots another image");
            for name in ["os", "os-release", "hardened", "arch"] {
                assert!(
                    is(booted, name) == is(&boots, name),
                    "{edit}: {name}\n{catalog}{cluster}"
                );
            }
            let versions = booted
                .facts
                .text("k8s-version")
                .zip(boots.facts.text("k8s-version"));
            // The image of another distribution is replaced by one of the cluster's.
            if is(booted, "k8s-flavor") == flavor {
                assert!(
                    is(&boots, "k8s-flavor") == flavor,
                    "{edit}\n{catalog}{cluster}"
                );
                let lowers = versions.is_some_and(|(old, new)| is_lower(old, new));
                assert!(!lowers, "{edit}: {versions:?}\n{catalog}{cluster}");
            }
        }
    }
}

#[test]
fn every_printed_edit_leaves_no_new_error_and_lowers_nothing() {
    let seen = Seen::new(&[
        "an edit is made",
        "an error is gone",
        "a pool boots another image",
        "a pool runs another version",
    ]);
    seen.property(400, 5, &project(), |(catalog, cluster)| {
        assert_edits(&catalog, &cluster, &seen);
    });
}
