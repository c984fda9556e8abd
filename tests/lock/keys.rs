//! Which key an image is verified by, where several are named or several clusters use it.

use oci_artifacts::Digest;
use snapbox::str;

use super::{NOBLE, append_settings, lock_of, prepend_values, push, registry, sign, site, story};
use super::{write_signed, write_values};
use crate::support::cosign::Key;
use crate::support::stage::{Is, Stage, assert_cases, table};

/// The signers of a lock by image key: their fingerprints.
fn signers(stage: &Stage) -> Vec<(String, Option<String>)> {
    let lock = stage.read("metalmark.lock");
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
    let stage = site();
    let (own, of_registry, default) = (Key::new(), Key::new(), Key::new());
    let all: [&Key; 3] = [&own, &of_registry, &default];
    let images = ["a-own", "b-below", "c-registry", "d-default", "e-built-own"];
    write_signed(&stage, &images.map(|image| (image, &all[..])));
    stage.write("registry.pub", of_registry.pem());
    stage.write("own.pub", own.pem());
    // As PEM, as a file, and as an expression that gives one of both.
    let values = stage.read("values.yaml");
    let (_, cluster) = values.split_once("cluster:\n").expect("a cluster");
    let cluster = cluster.replace(NOBLE, "c-registry");
    let uri = |image: &str| format!("uri: 'oci://registry.example.org/os/{image}:0.4.12'");
    stage.write(
        "values.yaml",
        format!(
            "os_images:\n  a-own:\n    {}\n    cosign_publickey: |\n        {}\n  b-below: {{{}}}\n\
             sylva_diskimagebuilder_images:\n  c-registry: {{os_images_oci_registry: with}}\n  \
             d-default: {{os_images_oci_registry: without}}\n  \
             e-built-own: {{os_images_oci_registry: with, cosign_publickey: own.pub}}\n\
             os_images_oci_registries:\n  with: &r {{url: 'oci://registry.example.org/os', tag: 0.4.12, cosign_publickey: registry.pub}}\n  \
             without: {{<<: *r, cosign_publickey: ''}}\n\
             keys:\n  pem: |\n        {}\nsecurity: {{os_images: {{cosign_public_key: '{{{{ .Values.keys.pem }}}}'}}}}\ncluster:\n{cluster}",
            uri("a-own"),
            indented(&own),
            uri("b-below"),
            indented(&default),
        ),
    );
    let _ = stage.run("lock").exit(0);
    let by = |key: &Key| Some(key.fingerprint().to_string());
    let expected = [
        by(&own),
        by(&of_registry),
        by(&of_registry),
        by(&default),
        by(&own),
    ];
    let expected: Vec<_> = images
        .map(str::to_owned)
        .into_iter()
        .zip(expected)
        .collect();
    assert_eq!(signers(&stage), expected);
}

/// What `lock` says, a headline a line, and how many images it locked.
fn said(stage: &Stage) -> Vec<String> {
    let outcome = stage.run("lock").outcome;
    let locked = lock_of(stage).matches("- key: ").count();
    let mut said = vec![format!("ends with {}, {locked} locked", outcome.status)];
    let lines = outcome.stderr.lines();
    let lines = lines.filter(|line| line.starts_with("error[") || line.starts_with("warning["));
    said.extend(lines.map(str::to_owned));
    said
}

#[test]
fn signatures_are_skipped_by_true_and_by_nothing_else() {
    assert_cases(
        str![[r#"
true
    ends with 0, 1 locked
'true'
    ends with 0, 1 locked
'{{ eq 1 1 }}'
    ends with 0, 1 locked
false
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
'false'
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
''
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
null
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
5
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
    error[value-type]: `security.os_images.skip_signing_check` is a number, not a boolean
'yes'
    ends with 1, 0 locked
    error[signature-missing]: `oci://registry.example.org/os/a:0.4.12` is not trusted: it has no signature
    error[value-type]: `security.os_images.skip_signing_check` is a string, not a boolean

"#]],
        |skip| {
            let stage = site();
            write_signed(&stage, &[("a", &[])]);
            stage.write("a.pub", Key::new().pem());
            let more = format!("{KEY}security: {{os_images: {{skip_signing_check: {skip}}}}}\n");
            write_values(&stage, "0.4.12", &["a"], &more);
            said(&stage)
        },
    );
}

/// No key is looked at then, wherever it is named.
#[test]
fn where_signatures_are_skipped_no_key_has_to_be_right() {
    let table = table([true, false], |skip| {
        let stage = site();
        write_signed(&stage, &[("a", &[]), ("b", &[])]);
        let of_registry = format!(
            "    cosign_publickey: '{{{{ .Values.no.key }}}}'\nsecurity: {{os_images: {{skip_signing_check: {skip}}}}}\n"
        );
        write_values(&stage, "0.4.12", &["a"], &of_registry);
        prepend_values(
            &stage,
            "os_images: {b: {uri: 'oci://registry.example.org/os/b:0.4.12', cosign_publickey: no.pub}}\n",
        );
        said(&stage)
    });
    table.is(str![[r#"
true
    ends with 0, 2 locked
false
    ends with 1, 0 locked
    error[signature-invalid]: the key that images of image `b` are signed with cannot be used: it is not a PEM public key, and there is no such file
    error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: its value cannot be evaluated
    error[value-missing]: cannot read `.key` of nil

"#]]);
}

#[test]
fn a_key_that_cannot_be_used_is_reported_where_it_is_named_and_once_a_registry() {
    let stage = site();
    write_signed(&stage, &[("a", &[]), ("a2", &[]), ("b", &[]), ("c", &[])]);
    write_values(&stage, "0.4.12", &["a", "a2"], UNUSABLE);
    // The user's own images have no registry, whatever they say, and may have their key from a file of facts.
    prepend_values(
        &stage,
        "os_images:\n  b:\n    uri: oci://registry.example.org/os/b:0.4.12\n    os_images_oci_registry: sylva\n    \
         cosign_publickey: lost.pub\n  c: {uri: 'oci://registry.example.org/os/c:0.4.12'}\n",
    );
    let info = "os_images:\n  c:\n    cosign_publickey: away.pub\n";
    stage.write("info.yaml", info);
    append_settings(&stage, "images: {facts: [info.yaml]}");
    let mut story = story(&stage);
    story.runs(&["lock"]);
    stage.edit("values.yaml", UNUSABLE, "    cosign_publickey: 5\n");
    story.note("a number").runs(&["lock"]);
    story.is(str![[r#"
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: the key that images of image `c` are signed with cannot be used: it is not a PEM public key, and there is no such file --> info.yaml:3:23
error[signature-invalid]: the key that images of image `b` are signed with cannot be used: it is not a PEM public key, and there is no such file --> values.yaml:5:23
error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: it is not a PEM public key, and there is no such file --> values.yaml:14:23
3 errors in 1 cluster
# a number
$ lock => 1
metalmark.lock: 0 kept, 0 added, 0 updated, 0 dropped; unchanged
error[signature-invalid]: the key that images of image `c` are signed with cannot be used: it is not a PEM public key, and there is no such file --> info.yaml:3:23
error[signature-invalid]: the key that images of image `b` are signed with cannot be used: it is not a PEM public key, and there is no such file --> values.yaml:5:23
error[signature-invalid]: the key that images of registry `sylva` are signed with cannot be used: its value cannot be evaluated --> values.yaml:14:23
error[value-type]: `os_images_oci_registries.sylva.cosign_publickey` is a number, not a string --> values.yaml:14:23
4 errors in 1 cluster

"#]]);
    assert_eq!(lock_of(&stage), "");
}

/// Two clusters whose values differ by what they say of the key; the first one is the first in the alphabet.
fn two_clusters(first: &str, second: &str) -> Stage {
    let stage = site();
    stage.edit(
        "metalmark.yaml",
        "[{name: edge-1, values: [values.yaml]}]",
        "[{name: edge-1, values: [values.yaml]}, {name: edge-2, values: [other.yaml]}]",
    );
    write_values(&stage, "0.4.12", &["a"], second);
    stage.write("other.yaml", stage.read("values.yaml"));
    write_values(&stage, "0.4.12", &["a"], first);
    stage
}

const KEY: &str = "    cosign_publickey: a.pub\n";
const UNUSABLE: &str = "    cosign_publickey: gone.pub\n";

#[test]
fn an_image_of_several_clusters_is_verified_where_one_of_them_names_a_key() {
    for (first, second) in [(KEY, ""), ("", KEY), (UNUSABLE, ""), ("", UNUSABLE)] {
        let stage = two_clusters(first, second);
        stage.write("a.pub", Key::new().pem());
        write_signed(&stage, &[("a", &[])]);
        let reported = stage.run("lock").exit(1).outcome.stderr;
        assert!(reported.contains("error[signature-"), "{reported}");
        assert_eq!(lock_of(&stage), "", "{first}{second}");
    }
    // Each alone would do.
    for (first, second) in [(KEY, ""), ("", KEY), (KEY, KEY)] {
        let stage = two_clusters(first, second);
        let key = Key::new();
        stage.write("a.pub", key.pem());
        write_signed(&stage, &[("a", &[&key])]);
        let _ = stage.run("lock").exit(0);
        let expected = [("a".to_owned(), Some(key.fingerprint().to_string()))];
        assert_eq!(signers(&stage), expected);
        // One cluster's key is enough for all that boot the image.
        let _ = stage.run("lock --check").exit(0);
    }
}

#[test]
fn an_image_of_two_clusters_with_different_keys_is_signed_by_both() {
    let other = KEY.replace("a.pub", "b.pub");
    let (a, b) = (Key::new(), Key::new());
    let run = |second: &str, keys: &[&Key]| {
        let stage = two_clusters(KEY, second);
        stage.write("a.pub", a.pem()).write("b.pub", b.pem());
        write_signed(&stage, &[("a", keys)]);
        (stage.run("lock").outcome.status, lock_of(&stage))
    };
    assert_eq!(run(&other, &[&a, &b]).0, 0);
    // Refused by the first cluster's key, and by the second's.
    assert_eq!(run(&other, &[&b]), (1, String::new()));
    assert_eq!(run(&other, &[&a]), (1, String::new()));
    // A key that cannot be used proves nothing, whatever another cluster's key proves.
    assert_eq!(run(UNUSABLE, &[&a]), (1, String::new()));
}

/// The key that was known already may be the second by its fingerprint.
#[test]
fn a_further_key_makes_the_lock_that_both_make_at_once() {
    let other = KEY.replace("a.pub", "b.pub");
    let (a, b) = (Key::new(), Key::new());
    for (known, further) in [(&a, &b), (&b, &a)] {
        let lock = |steps: &[&str]| {
            let stage = two_clusters(KEY, KEY);
            stage.write("a.pub", known.pem());
            stage.write("b.pub", further.pem());
            write_signed(&stage, &[("a", &[known, further])]);
            for step in steps {
                let values = stage.read("other.yaml");
                stage.write("other.yaml", values.replace(KEY, step));
                let _ = stage.run("lock").exit(0);
            }
            stage.read("metalmark.lock")
        };
        assert_eq!(lock(&[KEY, &other]), lock(&[&other]));
    }
}

#[test]
fn the_locked_digest_is_verified_wherever_its_tag_is_by_now() {
    let (stage, key, stranger) = (site(), Key::new(), Key::new());
    stage.write("a.pub", key.pem());
    write_values(&stage, "0.4.12", &["a"], KEY);
    write_signed(&stage, &[("a", &[&key])]);
    let mut story = story(&stage).name(key.fingerprint().to_string(), "A");
    story.runs(&["lock", "verify"]);
    let lock = stage.read("metalmark.lock");
    let (_, digest) = lock.split_once("digest: ").expect("a digest");
    let digest = Digest::parse(digest.lines().next().expect("a line")).expect("a digest");
    // The tag is at another image now, or nowhere; the signatures are where they were. Nor is that an excuse for another key.
    for has_tag in [true, false] {
        let mut layout = registry(&stage);
        if has_tag {
            push(&mut layout, "a", "0.4.12", "b");
        }
        sign(&mut layout, "a", &digest, &[&key], "a");
        story.note(if has_tag { "the tag moved" } else { "no tag" });
        story.runs(&["verify"]);
        stage.write("a.pub", stranger.pem());
        story.note("another key").runs(&["verify"]);
        stage.write("a.pub", key.pem());
    }
    story.is(str![[r#"
$ lock => 0
added   a sha256:663c3e9ea20f… oci://registry.example.org/os/a:0.4.12
metalmark.lock: 0 kept, 1 added, 0 updated, 0 dropped; written
$ verify => 0
IMAGE  TAG        SIGNED BY            REFERENCE
a      as locked  A  oci://registry.example.org/os/a:0.4.12
# the tag moved
$ verify => 1
IMAGE  TAG            SIGNED BY            REFERENCE
a      not as locked  A  oci://registry.example.org/os/a:0.4.12
error[tag-moved]: `oci://registry.example.org/os/a:0.4.12` has moved: it is `sha256:e03e32b27d4df750040672fd94f034a798e5f3358e7d43651064088485e026f5` now --> metalmark.lock:7:11
# another key
$ verify => 1
IMAGE  TAG            SIGNED BY  REFERENCE
a      not as locked  –          oci://registry.example.org/os/a:0.4.12
error[signature-invalid]: `oci://registry.example.org/os/a:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> metalmark.lock:7:11
error[tag-moved]: `oci://registry.example.org/os/a:0.4.12` has moved: it is `sha256:e03e32b27d4df750040672fd94f034a798e5f3358e7d43651064088485e026f5` now --> metalmark.lock:7:11
# no tag
$ verify => 1
IMAGE  TAG            SIGNED BY            REFERENCE
a      not as locked  A  oci://registry.example.org/os/a:0.4.12
error[catalog-drift]: `oci://registry.example.org/os/a:0.4.12` is gone: oci-layout:registry has no artifact of that name --> metalmark.lock:6:14
# another key
$ verify => 1
IMAGE  TAG            SIGNED BY  REFERENCE
a      not as locked  –          oci://registry.example.org/os/a:0.4.12
error[catalog-drift]: `oci://registry.example.org/os/a:0.4.12` is gone: oci-layout:registry has no artifact of that name --> metalmark.lock:6:14
error[signature-invalid]: `oci://registry.example.org/os/a:0.4.12` is not trusted: its signature was made by another key, or in a way that is not read --> metalmark.lock:7:11

"#]]);
}
