//! What a lock proves without a network, what the project's policy accepts and what it requires.

use std::fs;

use oci_artifacts::Digest;
use serde_json::json;
use yaml_tree::bytes::BASE64;

use super::{JAMMY, NOBLE, Project, push};
use crate::support::Metalmark;
use crate::support::cosign::{ANNOTATION, Key, SIMPLE, Signs, payload};
use crate::support::layout::LayoutWriter;

const GATES: [&str; 5] = [
    "check",
    "check --frozen",
    "lock --check",
    "render --frozen --stdout",
    "verify",
];

/// A registry with both images, each signed by the key under a name.
fn registry(project: &Project, key: &Key, names: [&str; 2]) {
    let root = project.path().join("registry");
    let _ = fs::remove_dir_all(&root);
    let mut layout = LayoutWriter::new(&root);
    for (image, name) in [NOBLE, JAMMY].into_iter().zip(names) {
        let digest = push(&mut layout, image, "0.4.12", "a");
        if !name.is_empty() {
            sign(&mut layout, key, (image, &digest), name);
        }
    }
}

fn sign(layout: &mut LayoutWriter, key: &Key, (image, digest): (&str, &Digest), name: &str) {
    let text = payload(digest, &format!("registry.example.org/os/{name}"));
    let mut layer = layout.blob(SIMPLE, text.as_bytes());
    layer["annotations"] = json!({ANNOTATION: BASE64.encode(&key.sign(text.as_bytes()))});
    let tag = format!(
        "registry.example.org/os/{image}:sha256-{}.sig",
        digest.hex()
    );
    layout.manifest(Some(&tag), json!({"layers": [layer]}));
}

/// A project whose images are signed and locked.
fn signed() -> (Project, Key) {
    let (project, key) = (Project::new(), Key::new());
    project.write("a.pub", &key.pem());
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: a.pub\n");
    registry(&project, &key, [NOBLE, JAMMY]);
    let lock = project.run("lock");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    (project, key)
}

fn policy(project: &Project, policy: &str) {
    let file = project.read("metalmark.yaml");
    project.write("metalmark.yaml", &format!("{file}policy: {policy}\n"));
}

/// That every gate refuses the project with a text among its findings.
fn is_refused(project: &Project, expected: &str) {
    for command in GATES {
        let run = project.run(command);
        let reported = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.status, 1, "{command}: {reported}");
        assert!(
            reported.contains(expected),
            "{command}: {expected}\n{reported}"
        );
    }
}

fn is_accepted(project: &Project) {
    for command in GATES {
        let run = project.run(command);
        assert_eq!(run.status, 0, "{command}: {}{}", run.stdout, run.stderr);
    }
}

/// The evidence proves a signer that the lock leaves out: somebody edited the lock, and no gate may pass that over.
#[test]
fn a_signer_that_is_left_out_of_the_lock_is_reported() {
    let (project, _) = signed();
    let lock = project.read("metalmark.lock");
    let mut is_of_signer = false;
    let lines = lock.lines().filter(|line| {
        let depth = line.len() - line.trim_start().len();
        is_of_signer = line.trim_start().starts_with("verified:") || (is_of_signer && depth > 2);
        !is_of_signer
    });
    let lines: Vec<&str> = lines.collect();
    assert!(lines.len() < lock.lines().count(), "{lock}");
    project.write("metalmark.lock", &(lines.join("\n") + "\n"));
    let expected =
        format!("error[lock-tampered]: the lock leaves out that `{NOBLE}` is signed by the key ");
    is_refused_offline(&project, &expected);
}

#[test]
fn evidence_that_was_edited_left_out_or_taken_from_another_image_is_refused() {
    let (project, _) = signed();
    is_accepted(&project);
    let evidence = project.read("metalmark.evidence");
    let lines: Vec<&str> = evidence.lines().collect();
    let whole = |lines: &[String]| lines.join("\n") + "\n";
    let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    // Another manifest under the same digest.
    project.write("metalmark.evidence", &evidence.replace("1.31.8", "1.31.9"));
    is_refused(&project, "error[lock-tampered]: the manifest of `sha256:");
    // No file, or a line less: what the lock says of its signer is a claim.
    project.write("metalmark.evidence", &whole(&lines[..2]));
    is_refused(
        &project,
        "error[lock-stale]: the lock has no evidence of `ubuntu-",
    );
    fs::remove_file(project.path().join("metalmark.evidence")).expect("removed");
    is_refused(
        &project,
        "error[lock-stale]: the lock has no evidence of `ubuntu-",
    );
    // The other image's signature.
    let signature = |line: &str| line[line.find("\"signatures\"").expect("one")..].to_owned();
    let manifest = |line: &str| line[..line.find("\"signatures\"").expect("one")].to_owned();
    let swapped = [
        lines[0].clone(),
        manifest(&lines[1]) + &signature(&lines[2]),
        lines[2].clone(),
    ];
    project.write("metalmark.evidence", &whole(&swapped));
    is_refused_offline(&project, "error[signature-invalid]");
    // No signature at all, and the signer's line in the lock as it was.
    let bare = |line: &String| manifest(line).trim_end_matches(',').to_owned() + "}";
    project.write(
        "metalmark.evidence",
        &whole(&[lines[0].clone(), bare(&lines[1]), bare(&lines[2])]),
    );
    is_refused(&project, "error[signature-missing]");
    // `lock` puts it right, and says the same as the first time.
    let lock = project.run("lock");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    assert_eq!(project.read("metalmark.evidence"), evidence);
    is_accepted(&project);
}

/// The same without `verify`, which asks the registry and tells its answer.
fn is_refused_offline(project: &Project, expected: &str) {
    for command in &GATES[..4] {
        let run = project.run(command);
        let reported = format!("{}{}", run.stdout, run.stderr);
        assert_eq!(run.status, 1, "{command}: {reported}");
        assert!(
            reported.contains(expected),
            "{command}: {expected}\n{reported}"
        );
    }
}

/// Argo CD's plugin renders one cluster, and nothing looks at the whole fleet.
#[test]
fn what_is_not_proven_is_refused_where_one_cluster_alone_is_rendered() {
    let generated = |project: &Project| {
        let run = Metalmark::within(project.path())
            .args(["cmp", "generate"])
            .envs(&[
                ("ARGOCD_APP_NAME", "edge-1"),
                ("ARGOCD_APP_SOURCE_PATH", "."),
            ])
            .run();
        (run.status, run.stderr)
    };
    let (project, _) = signed();
    assert_eq!(generated(&project).0, 0, "{}", generated(&project).1);
    let evidence = project.read("metalmark.evidence");
    fs::remove_file(project.path().join("metalmark.evidence")).expect("removed");
    let (status, reported) = generated(&project);
    assert!(
        status == 1 && reported.contains("error[lock-stale]"),
        "{reported}"
    );
    project.write("metalmark.evidence", &evidence);
    project.values("0.4.12", &[NOBLE, JAMMY], "");
    let (status, reported) = generated(&project);
    assert!(
        status == 1 && reported.contains("error[signature-unchecked]"),
        "{reported}"
    );
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: a.pub\n");
    project.write("a.pub", &Key::new().pem());
    let (status, reported) = generated(&project);
    assert!(
        status == 1 && reported.contains("error[signature-invalid]"),
        "{reported}"
    );
}

#[test]
fn a_lock_without_evidence_and_without_keys_is_read_and_reported_in_one_warning() {
    let project = Project::new();
    project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
    assert_eq!(project.run("lock").status, 0);
    fs::remove_file(project.path().join("metalmark.evidence")).expect("removed");
    let check = project.run("check --frozen");
    assert_eq!(check.status, 0, "{}", check.stdout);
    assert_eq!(
        check.stdout.matches("[lock-stale]").count(),
        1,
        "{}",
        check.stdout
    );
    let expected = format!("warning[lock-stale]: the lock has no evidence of `{JAMMY}`, `{NOBLE}`");
    assert!(check.stdout.contains(&expected), "{}", check.stdout);
    // What is asked for again is the tag, not the digest that the lock says.
    project.registry(&[NOBLE, JAMMY], "0.4.12", "b");
    let moved = project.run("lock");
    assert_eq!(moved.status, 1);
    assert!(
        moved.stderr.contains("error[tag-moved]"),
        "{}",
        moved.stderr
    );
}

#[test]
fn a_rotated_key_is_refused_everywhere_until_the_image_is_signed_again() {
    let (project, _) = signed();
    let next = Key::new();
    project.write("a.pub", &next.pem());
    is_refused(&project, "error[signature-invalid]");
    let lock = project.run("lock");
    assert_eq!(lock.status, 1, "{}", lock.stderr);
    registry(&project, &next, [NOBLE, JAMMY]);
    let lock = project.run("lock");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    is_accepted(&project);
}

#[test]
fn a_key_that_was_blanked_is_refused_until_each_image_is_named() {
    let (project, _) = signed();
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: ''\n");
    is_refused(&project, "error[signature-unchecked]");
    assert_eq!(project.run("lock").status, 1);
    assert_eq!(project.run("lock --upgrade").status, 1);
    let named = project.run(&format!("lock --upgrade {NOBLE} {JAMMY}"));
    assert_eq!(named.status, 0, "{}", named.stderr);
    assert!(!project.read("metalmark.lock").contains("verified"));
    is_accepted(&project);
}

#[test]
fn another_images_name_is_a_finding_of_its_own_and_a_waiver_of_it_locks_the_image() {
    let (project, key) = (Project::new(), Key::new());
    project.write("a.pub", &key.pem());
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: a.pub\n");
    registry(&project, &key, ["another", JAMMY]);
    let lock = project.run("lock");
    assert_eq!(lock.status, 1);
    assert!(
        lock.stderr
            .contains("error[signature-other-name]: `oci://registry.example.org/os/ubuntu-noble"),
        "{}",
        lock.stderr
    );
    assert!(!project.read("metalmark.lock").contains(NOBLE));
    // A waiver of another reason accepts nothing of it.
    let waiver =
        |rule: &str| format!("{{waivers: [{{rule: {rule}, where: {NOBLE}, reason: renamed}}]}}");
    let file = project.read("metalmark.yaml");
    policy(&project, &waiver("signature-invalid"));
    assert_eq!(project.run("lock").status, 1);
    project.write("metalmark.yaml", &file);
    policy(&project, &waiver("signature-other-name"));
    let lock = project.run("lock");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    let expected = format!("accepted {NOBLE}: signature-other-name, waived: renamed\n");
    assert!(lock.stdout.contains(&expected), "{}", lock.stdout);
    let text = project.read("metalmark.lock");
    assert_eq!(text.matches("  verified:").count(), 1, "{text}");
    is_accepted(&project);
    // Nobody is asked again.
    fs::remove_dir_all(project.path().join("registry")).expect("removed");
    let again = project.run("lock");
    assert_eq!(again.status, 0, "{}", again.stderr);
    assert!(again.stdout.contains("2 kept"), "{}", again.stdout);
    assert!(again.stdout.contains("unchanged"), "{}", again.stdout);
}

#[test]
fn a_waiver_of_an_invalid_signature_locks_what_it_accepts() {
    let (project, key) = (Project::new(), Key::new());
    project.write("a.pub", &Key::new().pem());
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: a.pub\n");
    registry(&project, &key, [NOBLE, ""]);
    policy(
        &project,
        "{waivers: [{rule: signature-invalid, where: ubuntu-*, reason: one}, {rule: signature-missing, where: ubuntu-*, reason: two}]}",
    );
    let lock = project.run("lock --output json");
    assert_eq!(lock.status, 0, "{}", lock.stderr);
    let reported: serde_json::Value = serde_json::from_str(&lock.stdout).expect("JSON");
    let accepted = reported["accepted"].as_array().expect("a list");
    let rules: Vec<&str> = accepted
        .iter()
        .filter_map(|it| it["rule"].as_str())
        .collect();
    assert_eq!(rules, ["signature-missing", "signature-invalid"]);
    is_accepted(&project);
}

#[test]
fn required_signatures_are_not_relaxed_by_any_values_file() {
    let (project, key) = signed();
    policy(&project, "{signatures: required}");
    is_accepted(&project);
    let unnamed = "error[signature-unchecked]: `policy.signatures` requires signatures, and the values name no key for images of registry `sylva`";
    project.values("0.4.12", &[NOBLE, JAMMY], "");
    is_refused(&project, unnamed);
    let lock = project.run("lock");
    assert_eq!(lock.status, 1);
    assert!(lock.stderr.contains(unnamed), "{}", lock.stderr);
    fs::remove_file(project.path().join("metalmark.lock")).expect("removed");
    assert_eq!(project.run("lock").status, 1);
    assert_eq!(project.read("metalmark.lock"), "", "nothing is locked");
    // Nor is a lock that was deleted with the key.
    project.values("0.4.12", &[NOBLE, JAMMY], "    cosign_publickey: a.pub\n");
    for command in ["check", "render --stdout"] {
        let run = project.run(command);
        assert_eq!(run.status, 1, "{command}");
        let reported = format!("{}{}", run.stdout, run.stderr);
        let expected = "error[lock-missing-image]: `policy.signatures` requires signatures, and there is no lock with those of";
        assert!(reported.contains(expected), "{command}: {reported}");
    }
    // To skip the check is a value like any other.
    let skip = "    cosign_publickey: a.pub\nsecurity: {os_images: {skip_signing_check: true}}\n";
    project.values("0.4.12", &[NOBLE, JAMMY], skip);
    registry(&project, &key, [NOBLE, ""]);
    let lock = project.run("lock");
    assert_eq!(lock.status, 1);
    assert!(
        lock.stderr.contains("error[signature-missing]"),
        "{}",
        lock.stderr
    );
    assert!(!project.read("metalmark.lock").contains(JAMMY));
    registry(&project, &key, [NOBLE, JAMMY]);
    assert_eq!(project.run("lock").status, 0);
    is_accepted(&project);
    // An address instead of an image, which nobody signs.
    let values = project.read("values.yaml");
    let address = "capm3: {machine_image_url: 'https://x.example/a.raw', machine_image_checksum: 'https://x.example/a.raw.sha256sum', machine_image_checksum_type: sha256, machine_image_format: raw}";
    project.write(
        "values.yaml",
        &values.replace(&format!("capm3: {{image_key: {NOBLE}}}"), address),
    );
    let check = project.run("check");
    let expected = "error[signature-unchecked]: `policy.signatures` requires signatures, and nothing can sign the address that node pool `control-plane` boots";
    assert!(check.stdout.contains(expected), "{}", check.stdout);
}

/// What nothing can sign counts where its server is among those that require signatures.
#[test]
fn a_file_of_a_web_server_is_required_to_be_signed_below_the_prefixes_alone() {
    for (prefix, is_found) in [
        ("files.example.org", true),
        ("https://files.example.org/os", true),
        ("files.example.org/o", false),
        ("registry.example.org", false),
    ] {
        let project = Project::new();
        project.values("0.4.12", &[], "");
        let values = project.read("values.yaml");
        let facts = format!(
            "filename: a.raw, image-format: raw, sha256: {}, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1",
            "a".repeat(64)
        );
        let own = format!(
            "os_images: {{{NOBLE}: {{uri: 'https://files.example.org/os/a.raw', {facts}}}}}\n"
        );
        project.write("values.yaml", &format!("{own}{values}"));
        policy(
            &project,
            &format!("{{signatures: {{'{prefix}': required}}}}"),
        );
        let check = project.run("check");
        let expected = format!(
            "error[signature-unchecked]: `policy.signatures` requires signatures, and nothing can sign image `{NOBLE}`"
        );
        assert_eq!(
            check.stdout.contains(&expected),
            is_found,
            "{prefix}: {}",
            check.stdout
        );
    }
}

#[test]
fn signatures_are_required_below_a_registry() {
    for (prefix, status) in [
        ("registry.example.org/os", 1),
        ("oci://registry.example.org", 1),
        ("registry.example.org/o", 0),
    ] {
        let project = Project::new();
        project.registry(&[NOBLE, JAMMY], "0.4.12", "a");
        policy(
            &project,
            &format!("{{signatures: {{'{prefix}': required}}}}"),
        );
        let lock = project.run("lock");
        assert_eq!(lock.status, status, "{prefix}: {}", lock.stderr);
    }
    // Where there is a lock, what it lacks is reported of it.
    let (project, _) = signed();
    policy(
        &project,
        "{signatures: {'registry.example.org/os': required}}",
    );
    let more = [NOBLE, JAMMY, "ubuntu-noble-plain-rke2-1-30-1"];
    project.values("0.4.12", &more, "    cosign_publickey: a.pub\n");
    let check = project.run("check --frozen").stdout;
    assert!(
        check.contains("error[lock-missing-image]: the lock does not hold"),
        "{check}"
    );
    assert!(!check.contains("there is no lock"), "{check}");
    let project = Project::new();
    policy(&project, "{signatures: optional}");
    let check = project.run("check");
    assert!(
        check.stdout.contains("error[project-file]"),
        "{}",
        check.stdout
    );
}

#[test]
fn an_images_own_key_that_cannot_be_evaluated_locks_nothing() {
    for key in ["'{{ .Values.keys.gone.pub }}'", "[]", "{a: b}"] {
        let project = Project::new();
        project.registry(&[NOBLE], "0.4.12", "a");
        project.values("0.4.12", &[], "");
        let values = project.read("values.yaml");
        let image = format!(
            "os_images:\n  {NOBLE}: {{uri: 'oci://registry.example.org/os/{NOBLE}:0.4.12', cosign_publickey: {key}}}\n"
        );
        let values = values.replace("sylva_diskimagebuilder_images:\n", "");
        project.write("values.yaml", &format!("{image}{values}"));
        let lock = project.run("lock");
        assert_eq!(lock.status, 1, "{key}: {}", lock.stderr);
        assert!(
            lock.stderr.contains("error[signature-invalid]"),
            "{key}: {}",
            lock.stderr
        );
        assert_eq!(project.read("metalmark.lock"), "", "{key}");
    }
}

#[test]
fn what_could_not_be_had_is_reported_with_the_line_that_wants_it_and_once_a_cause() {
    let project = Project::new();
    let file = project.read("metalmark.yaml");
    let mirror = "registries: {mirrors: {registry.example.org/os: 'oci-layout:registry'}}";
    let gone = "registries: {mirrors: {registry.example.org/os: 'nosuch.invalid/os'}}";
    project.write("metalmark.yaml", &file.replace(mirror, gone));
    let lock = project.run("lock");
    assert_eq!(lock.status, 2);
    assert_eq!(lock.stderr.matches("(DNS)").count(), 1, "{}", lock.stderr);
    for (line, key) in [(3, JAMMY), (2, NOBLE)] {
        let place = format!("\n  --> values.yaml:{line}:3 (`{key}`)\n");
        assert!(lock.stderr.contains(&place), "{}", lock.stderr);
    }
}
