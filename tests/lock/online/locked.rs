//! What the lock says against what the values say.

use super::{PLAIN, Site, publish};
use crate::lock::NOBLE;
use crate::support::registry::Registry;

/// Facts come from the lock first; the value that says otherwise is shown at its line.
#[test]
fn the_lock_counts_before_the_users_value() {
    let registry = Registry::plain();
    let site = Site::of(&registry, PLAIN);
    publish(&registry, NOBLE, "0.4.12", "a");
    site.values("0.4.12", &[NOBLE], "");
    let entry = format!("  {NOBLE}: {{os_images_oci_registry: sylva");
    let text = site.project.read("values.yaml");
    let wrong = text.replace(&entry, &format!("{entry}, image-format: qcow2"));
    assert_ne!(wrong, text);
    site.project.write("values.yaml", &wrong);
    site.ends(0, "lock");
    let reported = site.ends(0, "check --frozen");
    assert!(
        reported.stdout.contains("warning[fact-conflict]"),
        "{}",
        reported.stdout
    );
    assert!(
        reported.stdout.contains("--> values.yaml:2:"),
        "{}",
        reported.stdout
    );
    assert!(
        reported.stdout.contains("::: metalmark.lock:"),
        "{}",
        reported.stdout
    );
    let rendered = site.ends(0, "render --frozen --stdout");
    assert!(rendered.stdout.contains("raw"), "{}", rendered.stdout);
    assert!(!rendered.stdout.contains("qcow2"), "{}", rendered.stdout);
}

/// Where a fact is not known, the lock would tell it; once it is locked, that is no advice any more.
#[test]
fn what_the_lock_would_prove_is_to_be_locked() {
    let registry = Registry::plain();
    let site = Site::of(&registry, PLAIN);
    publish(&registry, NOBLE, "0.4.12", "a");
    site.values("0.4.12", &[NOBLE], "");
    let reported = site.ends(1, "check");
    for rule in ["error[checksum-missing]", "error[format-missing]"] {
        assert!(reported.stdout.contains(rule), "{}", reported.stdout);
    }
    let advice = "help: run `metalmark lock` to query its registry";
    assert!(reported.stdout.contains(advice), "{}", reported.stdout);
    site.ends(0, "lock");
    site.ends(0, "check");
}

/// The project's architecture chooses the manifest of an index in a layout of facts too.
#[test]
fn facts_of_a_layout_are_those_of_the_wanted_architecture() {
    use crate::support::layout::LayoutWriter;
    let project = crate::lock::Project::new();
    let mut layout = LayoutWriter::new(&project.path().join("images"));
    let mut of = |format: &str| {
        let facts = [("sylva/image-format", format), ("sylva/sha256", "00")];
        layout.image(None, &facts)
    };
    let (amd, arm) = (of("raw"), of("qcow2"));
    let name = format!("registry.example.org/os/{NOBLE}:0.4.12");
    layout.index(Some(&name), &[("amd64", &amd), ("arm64", &arm)]);
    project.values("0.4.12", &[NOBLE], "");
    for (architecture, format) in [("amd64", "raw"), ("arm64", "qcow2")] {
        let file = format!(
            "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\n\
             images: {{facts: ['oci-layout:images']}}\nregistries: {{architecture: {architecture}}}\n"
        );
        project.write("metalmark.yaml", &file);
        let reported = project.run("images --output json");
        assert_eq!(reported.status, 0, "{}", reported.stderr);
        let images: serde_json::Value = serde_json::from_str(&reported.stdout).expect("JSON");
        assert_eq!(
            images[0]["facts"]["image-format"], format,
            "{}",
            reported.stdout
        );
    }
}
