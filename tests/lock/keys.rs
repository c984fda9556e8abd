//! Which key an image is verified by, where several are named or several clusters use it.

use std::fs;

use oci_artifacts::Digest;
use serde_json::json;
use yaml_tree::bytes::BASE64;

use super::{Project, push};
use crate::support::cosign::{ANNOTATION, Key, SIMPLE, Signs, payload};
use crate::support::layout::LayoutWriter;

/// A registry whose images are signed by these keys.
fn registry(project: &Project, images: &[(&str, &[&Key])]) {
    let root = project.path().join("registry");
    let _ = fs::remove_dir_all(&root);
    let mut layout = LayoutWriter::new(&root);
    for (image, keys) in images {
        let digest = push(&mut layout, image, "0.4.12", "a");
        sign(&mut layout, image, &digest, keys);
    }
}

fn sign(layout: &mut LayoutWriter, image: &str, digest: &Digest, keys: &[&Key]) {
    let repository = format!("registry.example.org/os/{image}");
    let text = payload(digest, &repository);
    let layer = |key: &&Key| {
        let mut layer = layout.blob(SIMPLE, text.as_bytes());
        let signature = BASE64.encode(&key.sign(text.as_bytes()));
        layer["annotations"] = json!({ANNOTATION: signature});
        layer
    };
    let layers: Vec<_> = keys.iter().map(layer).collect();
    let name = format!("{repository}:sha256-{}.sig", digest.hex());
    layout.manifest(Some(&name), json!({"layers": layers}));
}

/// The signers of a lock by image key: their fingerprints.
fn signers(project: &Project) -> Vec<(String, Option<String>)> {
    let lock = project.read("metalmark.lock");
    let blocks = lock.split("\n\n").skip(1);
    let signer = |block: &str| {
        let (_, key) = block.split_once("  verified:\n    form: tag\n    key: ")?;
        Some(key.trim().to_owned())
    };
    let named = blocks.map(|block| {
        let (first, _) = block.split_once('\n').expect("lines");
        let key = first.strip_prefix("- key: ").expect("a key");
        (key.to_owned(), signer(block))
    });
    named.collect()
}

fn indented(key: &Key) -> String {
    key.pem().replace('\n', "\n        ")
}

#[test]
fn an_image_has_its_own_key_or_its_registrys_or_the_default_one() {
    let project = Project::new();
    let (own, of_registry, default) = (Key::new(), Key::new(), Key::new());
    let all: [&Key; 3] = [&own, &of_registry, &default];
    let images = [
        "a-own",
        "b-nobody",
        "c-registry",
        "d-default",
        "e-built-own",
    ];
    registry(&project, &images.map(|image| (image, &all[..])));
    project.write("registry.pub", &of_registry.pem());
    // As PEM, as a file, and as an expression that gives one of both.
    let values = project.read("values.yaml");
    let (_, cluster) = values.split_once("cluster:\n").expect("a cluster");
    let cluster = cluster.replace(super::NOBLE, "c-registry");
    let uri = |image: &str| format!("uri: 'oci://registry.example.org/os/{image}:0.4.12'");
    project.write(
        "values.yaml",
        &format!(
            "os_images:\n  a-own:\n    {}\n    cosign_publickey: |\n        {}\n  b-nobody: {{{}}}\n\
             sylva_diskimagebuilder_images:\n  c-registry: {{os_images_oci_registry: with}}\n  \
             d-default: {{os_images_oci_registry: without}}\n  \
             e-built-own: {{os_images_oci_registry: with, cosign_publickey: gone.pub}}\n\
             os_images_oci_registries:\n  with: &r {{url: 'oci://registry.example.org/os', tag: 0.4.12, cosign_publickey: registry.pub}}\n  \
             without: {{<<: *r, cosign_publickey: ''}}\n\
             keys:\n  pem: |\n        {}\nsecurity: {{os_images: {{cosign_public_key: '{{{{ .Values.keys.pem }}}}'}}}}\ncluster:\n{cluster}",
            uri("a-own"),
            indented(&own),
            uri("b-nobody"),
            indented(&default),
        ),
    );
    let run = project.run("lock");
    assert_eq!(run.status, 0, "{}", run.stderr);
    let by = |key: &Key| Some(key.fingerprint().to_string());
    let expected = [
        by(&own),
        None,
        by(&of_registry),
        by(&default),
        by(&of_registry),
    ];
    let expected: Vec<_> = images
        .map(str::to_owned)
        .into_iter()
        .zip(expected)
        .collect();
    assert_eq!(signers(&project), expected);
}

#[test]
fn signatures_are_skipped_by_true_and_by_nothing_else() {
    for (skip, status, is_skipped) in [
        ("true", 0, true),
        ("'true'", 0, true),
        ("'{{ eq 1 1 }}'", 0, true),
        ("false", 1, false),
        ("'false'", 1, false),
        ("''", 1, false),
        ("null", 1, false),
        ("5", 1, false),
        ("'yes'", 1, false),
    ] {
        let project = Project::new();
        registry(&project, &[("a", &[])]);
        let key = Key::new();
        project.write("a.pub", &key.pem());
        let more = format!(
            "    cosign_publickey: a.pub\nsecurity: {{os_images: {{skip_signing_check: {skip}}}}}\n"
        );
        project.values("0.4.12", &["a"], &more);
        let run = project.run("lock");
        assert_eq!(run.status, status, "{skip}: {}", run.stderr);
        let is_locked = !project.read("metalmark.lock").is_empty();
        assert_eq!(is_locked, is_skipped, "{skip}");
        let is_reported = run
            .stderr
            .contains("`security.os_images.skip_signing_check` is");
        assert_eq!(
            is_reported,
            ["5", "'yes'"].contains(&skip),
            "{}",
            run.stderr
        );
    }
}

/// No key is looked at then, wherever it is named.
#[test]
fn where_signatures_are_skipped_no_key_has_to_be_right() {
    for (skip, status) in [(true, 0), (false, 1)] {
        let project = Project::new();
        registry(&project, &[("a", &[]), ("b", &[])]);
        let of_registry = format!(
            "    cosign_publickey: '{{{{ .Values.no.key }}}}'\nsecurity: {{os_images: {{skip_signing_check: {skip}}}}}\n"
        );
        project.values("0.4.12", &["a"], &of_registry);
        let own = "os_images: {b: {uri: 'oci://registry.example.org/os/b:0.4.12', cosign_publickey: no.pub}}\n";
        let values = project.read("values.yaml");
        project.write("values.yaml", &format!("{own}{values}"));
        let run = project.run("lock");
        assert_eq!(run.status, status, "{}", run.stderr);
        let lock = project.read("metalmark.lock");
        assert_eq!(lock.matches("- key: ").count(), if skip { 2 } else { 0 });
    }
}

#[test]
fn a_key_that_is_no_text_is_reported_by_its_path() {
    let project = Project::new();
    registry(&project, &[("a", &[])]);
    project.values("0.4.12", &["a"], "    cosign_publickey: 5\n");
    let run = project.run("lock");
    let reported = "`os_images_oci_registries.sylva.cosign_publickey` is a number, not a string";
    assert!(run.stderr.contains(reported), "{}", run.stderr);
}

#[test]
fn a_key_that_cannot_be_used_is_reported_where_it_is_named() {
    let project = Project::new();
    registry(&project, &[("a", &[]), ("a2", &[]), ("b", &[]), ("c", &[])]);
    project.values("0.4.12", &["a", "a2"], "    cosign_publickey: gone.pub\n");
    // The user's own images have no registry, whatever they say, and may have their key from a file of facts.
    let own = "os_images:\n  b:\n    uri: oci://registry.example.org/os/b:0.4.12\n    os_images_oci_registry: sylva\n    \
               cosign_publickey: lost.pub\n  c: {uri: 'oci://registry.example.org/os/c:0.4.12'}\n";
    project.write(
        "info.yaml",
        "os_images:\n  c:\n    cosign_publickey: away.pub\n",
    );
    let file = project.read("metalmark.yaml");
    project.write(
        "metalmark.yaml",
        &format!("{file}images: {{facts: [info.yaml]}}\n"),
    );
    let values = project.read("values.yaml");
    project.write("values.yaml", &format!("{own}{values}"));
    let run = project.run("lock");
    assert_eq!(run.status, 1, "{}", run.stderr);
    let line = |file: &str, wanted: &str| {
        let text = project.read(file);
        let place = text.lines().position(|line| line.contains(wanted));
        place.expect("the line") + 1
    };
    for (of, file, key) in [
        ("registry `sylva`", "values.yaml", "gone.pub"),
        ("image `b`", "values.yaml", "lost.pub"),
        ("image `c`", "info.yaml", "away.pub"),
    ] {
        let message = format!(
            "error[signature-invalid]: the key that images of {of} are signed with cannot be used: \
             it is no PEM public key, and there is no such file\n"
        );
        let place = format!("--> {file}:{}:", line(file, key));
        for expected in [message, place] {
            // Once for a registry, however many images it has.
            let times = run.stderr.matches(&expected).count();
            assert_eq!(times, 1, "{expected}\n{}", run.stderr);
        }
    }
    assert_eq!(project.read("metalmark.lock"), "");
}

/// Two clusters whose values differ by what they say of the key; the first one is the first in the alphabet.
fn two_clusters(first: &str, second: &str) -> Project {
    let project = Project::new();
    let file = project.read("metalmark.yaml");
    let clusters = "[{name: edge-1, values: [values.yaml]}, {name: edge-2, values: [other.yaml]}]";
    let one = "[{name: edge-1, values: [values.yaml]}]";
    project.write("metalmark.yaml", &file.replace(one, clusters));
    project.values("0.4.12", &["a"], second);
    project.write("other.yaml", &project.read("values.yaml"));
    project.values("0.4.12", &["a"], first);
    project
}

const KEY: &str = "    cosign_publickey: a.pub\n";
const UNUSABLE: &str = "    cosign_publickey: gone.pub\n";

#[test]
fn an_image_of_several_clusters_is_verified_where_one_of_them_names_a_key() {
    for (first, second) in [(KEY, ""), ("", KEY), (UNUSABLE, ""), ("", UNUSABLE)] {
        let project = two_clusters(first, second);
        project.write("a.pub", &Key::new().pem());
        registry(&project, &[("a", &[])]);
        let run = project.run("lock");
        assert_eq!(run.status, 1, "{first}{second}{}", run.stderr);
        assert!(run.stderr.contains("error[signature-"), "{}", run.stderr);
        assert_eq!(project.read("metalmark.lock"), "", "{first}{second}");
    }
    // Each alone would do.
    for (first, second) in [(KEY, ""), ("", KEY), (KEY, KEY)] {
        let project = two_clusters(first, second);
        let key = Key::new();
        project.write("a.pub", &key.pem());
        registry(&project, &[("a", &[&key])]);
        let run = project.run("lock");
        assert_eq!(run.status, 0, "{first}{second}{}", run.stderr);
        let expected = [("a".to_owned(), Some(key.fingerprint().to_string()))];
        assert_eq!(signers(&project), expected);
        // One cluster's key is enough for all that boot the image.
        let check = project.run("lock --check");
        assert_eq!(check.status, 0, "{}", check.stdout);
    }
}

#[test]
fn an_image_of_two_clusters_with_different_keys_is_signed_by_both() {
    let other = KEY.replace("a.pub", "b.pub");
    let (a, b) = (Key::new(), Key::new());
    let run = |first: &str, second: &str, keys: &[&Key]| {
        let project = two_clusters(first, second);
        project.write("a.pub", &a.pem());
        project.write("b.pub", &b.pem());
        registry(&project, &[("a", keys)]);
        (project.run("lock").status, project.read("metalmark.lock"))
    };
    assert_eq!(run(KEY, &other, &[&a, &b]).0, 0);
    // Refused by the first cluster's key.
    assert_eq!(run(KEY, &other, &[&b]), (1, String::new()));
    assert_eq!(run(KEY, &other, &[&a]), (1, String::new()));
    // A key that cannot be used proves nothing, whatever another cluster's key proves.
    assert_eq!(run(KEY, UNUSABLE, &[&a]), (1, String::new()));
}

/// The key that was known already may be the second by its fingerprint.
#[test]
fn a_further_key_makes_the_lock_that_both_make_at_once() {
    let second = KEY.replace("a.pub", "b.pub");
    let (a, b) = (Key::new(), Key::new());
    for (known, further) in [(&a, &b), (&b, &a)] {
        let lock = |first: &[&str]| {
            let project = two_clusters(KEY, KEY);
            project.write("a.pub", &known.pem());
            project.write("b.pub", &further.pem());
            registry(&project, &[("a", &[known, further])]);
            for other in first.iter().chain(&[second.as_str()]) {
                let values = project.read("other.yaml");
                let values = values.replace(KEY, other).replace(&second, other);
                project.write("other.yaml", &values);
                let run = project.run("lock");
                assert_eq!(run.status, 0, "{}", run.stderr);
            }
            project.read("metalmark.lock")
        };
        assert_eq!(lock(&[KEY]), lock(&[]));
    }
}

/// What `verify` says of the one image: whether it is in place, its signer, the rules of the findings.
fn verified(project: &Project) -> (serde_json::Value, Option<String>, Vec<String>) {
    let run = project.run("verify --output json");
    let image: serde_json::Value = serde_json::from_str(&run.stdout).expect("JSON");
    let image = &image["images"][0];
    let reported: serde_json::Value = serde_json::from_str(&run.stderr).unwrap_or_default();
    let findings = reported["findings"].as_array().cloned().unwrap_or_default();
    let rule = |finding: &serde_json::Value| finding["rule"].as_str().map(str::to_owned);
    let mut rules: Vec<String> = findings.iter().filter_map(rule).collect();
    rules.sort();
    let signer = image["signed_by"].as_str().map(str::to_owned);
    (image["in_place"].clone(), signer, rules)
}

#[test]
fn the_locked_digest_is_verified_wherever_its_tag_is_by_now() {
    let project = Project::new();
    let key = Key::new();
    project.write("a.pub", &key.pem());
    project.values("0.4.12", &["a"], KEY);
    registry(&project, &[("a", &[&key])]);
    assert_eq!(project.run("lock").status, 0);
    let signer = Some(key.fingerprint().to_string());
    let is = |in_place: bool, signer: &Option<String>, rules: &[&str]| {
        let rules: Vec<String> = rules.iter().map(|rule| (*rule).to_owned()).collect();
        assert_eq!(verified(&project), (in_place.into(), signer.clone(), rules));
    };
    is(true, &signer, &[]);
    // The tag is at another image now, or nowhere; the signatures are where they were.
    let root = project.path().join("registry");
    let locked = project.read("metalmark.lock");
    let (_, digest) = locked.split_once("digest: ").expect("a digest");
    let digest = Digest::parse(digest.lines().next().expect("a line")).expect("a digest");
    for (has_tag, rule) in [(true, "tag-moved"), (false, "catalog-drift")] {
        fs::remove_dir_all(&root).expect("removed");
        let mut layout = LayoutWriter::new(&root);
        if has_tag {
            push(&mut layout, "a", "0.4.12", "b");
        }
        project.write("a.pub", &key.pem());
        sign(&mut layout, "a", &digest, &[&key]);
        is(false, &signer, &[rule]);
        let table = project.run("verify").stdout;
        assert!(table.contains("not as locked  sha256:"), "{table}");
        // Nor is a moved tag an excuse for another key.
        project.write("a.pub", &Key::new().pem());
        let mut both = [rule, "signature-invalid"];
        both.sort_unstable();
        is(false, &None, &both);
    }
}
