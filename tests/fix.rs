//! `metalmark check --fix`: what it edits, and what it leaves to a person.

use std::fs;

use super::support::{Metalmark, Outcome};

/// Images for clusters that run 1.31.8: facts as the builder's info file has them.
const CATALOG: &str = "\
sylva_diskimagebuilder_version: 0.4.12
os_images_oci_registries: {sylva: {url: 'oci://r.example/d', tag: 0.4.12, cosign_publickey: ''}}
sylva_diskimagebuilder_images:
";

const CLUSTER: &str = "\
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";

const OLD: &str = "ubuntu-noble-plain-rke2-1-30-12";
const NEW: &str = "ubuntu-noble-plain-rke2-1-31-8";

fn catalog(images: &[&str]) -> String {
    let line = |image: &&str| format!("  {image}: {{os_images_oci_registry: sylva}}\n");
    CATALOG.to_owned() + &images.iter().map(line).collect::<String>()
}

struct Fixed {
    outcome: Outcome,
    scratch: tempfile::TempDir,
}

impl Fixed {
    fn text(&self, file: &str) -> String {
        let bytes = fs::read(self.scratch.path().join(file)).expect("there");
        String::from_utf8(bytes).expect("text")
    }

    fn said(&self) -> String {
        format!("{}{}", self.outcome.stdout, self.outcome.stderr)
    }
}

/// Runs `check --fix` in a project of these files, which are all that there is.
fn fixed(project: &str, files: &[(&str, &str)]) -> Fixed {
    let scratch = tempfile::tempdir().expect("a scratch folder");
    let put = |name: &str, text: &str| fs::write(scratch.path().join(name), text).expect("written");
    put("metalmark.yaml", &format!("version: 1\n{project}\n"));
    for (name, text) in files {
        put(name, text);
    }
    let outcome = Metalmark::within(scratch.path())
        .args(["check", "--fix"])
        .run();
    let left = fs::read_dir(scratch.path()).expect("a folder").count();
    assert_eq!(left, files.len() + 1, "litter");
    Fixed { outcome, scratch }
}

const ONE: &str = "values: [catalog.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]";
const TWO: &str = "values: [catalog.yaml, shared.yaml]\n\
                   clusters: [{name: one, values: [one.yaml]}, {name: two, values: [two.yaml]}]";

#[test]
fn an_image_of_another_version_is_replaced_by_the_only_one_that_fits() {
    let kubeadm = "ubuntu-noble-plain-kubeadm-1-31-8";
    // The images of the catalog, and the one that is written.
    for (images, wanted) in [
        (&[OLD, NEW][..], Some(NEW)),
        (&[OLD], None),
        (&[OLD, kubeadm], None),
        (&[OLD, NEW, "ubuntu-noble-plain-rke2-1-31-9"], Some(NEW)),
    ] {
        let text = format!("{CLUSTER}  capm3: {{image_key: {OLD}}} # by hand\n");
        let fixed = fixed(
            ONE,
            &[("catalog.yaml", &catalog(images)), ("edge.yaml", &text)],
        );
        let written = wanted.map_or(text.clone(), |new| text.replace(OLD, new));
        assert_eq!(
            fixed.text("edge.yaml"),
            written,
            "{images:?}: {}",
            fixed.said()
        );
        let count = fixed.outcome.stderr.matches("fixed edge.yaml:").count();
        assert_eq!(count, usize::from(wanted.is_some()), "{}", fixed.said());
        let remains = fixed.outcome.stdout.contains("[k8s-version-mismatch]");
        assert_eq!(remains, wanted.is_none(), "{}", fixed.said());
    }
}

#[test]
fn several_images_that_fit_are_a_choice_for_a_person() {
    let twins = ["custom-a-rke2", "custom-b-rke2"];
    let facts = |version: &str| {
        format!(
            "{{os: ubuntu, os-release: noble, hardened: \"false\", flavor: plain, k8s-flavor: rke2, k8s-version: {version}, image-format: raw}}"
        )
    };
    let mut info = format!("os_images:\n  custom-old: {}\n", facts("1.30.12+rke2r1"));
    for twin in twins {
        info.push_str(&format!("  {twin}: {}\n", facts("1.31.8+rke2r1")));
    }
    let project = format!("{ONE}\nimages: {{facts: [info.yaml]}}");
    let catalog = catalog(&["custom-old", twins[0], twins[1]]);
    let text = format!("{CLUSTER}  capm3: {{image_key: custom-old}}\n");
    let files = [
        ("catalog.yaml", &*catalog),
        ("edge.yaml", &text),
        ("info.yaml", &info),
    ];
    let fixed = fixed(&project, &files);
    assert_eq!(fixed.text("edge.yaml"), text, "{}", fixed.said());
    assert_eq!((fixed.outcome.status, &*fixed.outcome.stderr), (1, ""));
    for twin in twins {
        let help = format!("`cluster.capm3.image_key: {twin}`");
        assert!(fixed.outcome.stdout.contains(&help), "{}", fixed.said());
    }
}

#[test]
fn an_image_that_clusters_share_is_a_choice_for_a_person() {
    let shared = format!("cluster: {{capm3: {{image_key: {OLD}}}}}\n");
    let catalog = catalog(&[OLD, NEW]);
    let files = [
        ("catalog.yaml", &*catalog),
        ("shared.yaml", &shared),
        ("one.yaml", CLUSTER),
        ("two.yaml", CLUSTER),
    ];
    let fixed = fixed(TWO, &files);
    assert_eq!(fixed.text("shared.yaml"), shared, "{}", fixed.said());
    assert_eq!((fixed.outcome.status, &*fixed.outcome.stderr), (1, ""));
    let help = format!("`cluster.capm3.image_key: {NEW}`");
    assert!(fixed.outcome.stdout.contains(&help), "{}", fixed.said());
}

#[test]
fn a_slip_in_a_file_that_clusters_share_is_fixed_once() {
    let slip = "ubuntu-nobel-plain-rke2-1-31-8";
    let shared = format!("cluster: {{capm3: {{image_key: {slip}}}}}\n");
    let catalog = catalog(&[NEW]);
    let files = [
        ("catalog.yaml", &*catalog),
        ("shared.yaml", &shared),
        ("one.yaml", CLUSTER),
        ("two.yaml", CLUSTER),
    ];
    let fixed = fixed(TWO, &files);
    assert_eq!(
        fixed.text("shared.yaml"),
        shared.replace(slip, NEW),
        "{}",
        fixed.said()
    );
    assert_eq!(
        fixed.outcome.stderr.matches("fixed ").count(),
        1,
        "{}",
        fixed.said()
    );
    assert!(!fixed.outcome.stdout.contains("unknown-image"));
}

#[test]
fn of_two_fixes_of_one_place_the_first_is_made_and_the_other_reported() {
    let slip = "ubuntu-nobel-plain-rke2-1-31-8";
    let shared = format!("cluster: {{capm3: {{image_key: {slip}}}}}\n");
    let other = "ubuntu-novel-plain-rke2-1-31-8";
    let (one, two) = (catalog(&[NEW]) + CLUSTER, catalog(&[other]) + CLUSTER);
    let project = TWO.replace("catalog.yaml, ", "");
    let fixed = fixed(
        &project,
        &[
            ("shared.yaml", &shared),
            ("one.yaml", &one),
            ("two.yaml", &two),
        ],
    );
    assert_eq!(
        fixed.text("shared.yaml"),
        shared.replace(slip, NEW),
        "{}",
        fixed.said()
    );
    let lines: Vec<&str> = fixed.outcome.stderr.lines().collect();
    assert_eq!(lines.len(), 2, "{}", fixed.said());
    assert!(
        lines[0].starts_with("fixed shared.yaml:1:30: "),
        "{}",
        fixed.said()
    );
    assert!(
        lines[1].starts_with("not fixed shared.yaml:1:30: "),
        "{}",
        fixed.said()
    );
    assert!(
        lines[1].contains("has changed this place"),
        "{}",
        fixed.said()
    );
    assert_eq!(fixed.outcome.status, 1);
}

#[test]
fn every_other_byte_stays() {
    let slip = "ubuntu-nobel-plain-rke2-1-31-8";
    let catalog = catalog(&[NEW]);
    let plain = format!("{CLUSTER}  capm3:\n    image_key: {slip}  # a slip\n\n# the end\n");
    for text in [
        plain.clone(),
        plain.replace('\n', "\r\n"),
        plain.trim_end().to_owned(),
        format!("\u{feff}{plain}"),
        plain.replace(slip, &format!("\"{slip}\"")),
        plain.replace(slip, &format!("'{slip}'")),
        plain.replace(
            &format!("\n    image_key: {slip}"),
            &format!(" {{image_key: {slip}}}"),
        ),
        format!("{plain}other: {slip}\n"),
    ] {
        let fixed = fixed(ONE, &[("catalog.yaml", &catalog), ("edge.yaml", &text)]);
        let wanted = text.replacen(slip, NEW, 1);
        assert_eq!(fixed.text("edge.yaml"), wanted, "{}", fixed.said());
        assert_eq!(fixed.outcome.stderr.matches("fixed edge.yaml:").count(), 1);
    }
}

/// Helm reads the first document of a file alone, and Flux applies them all.
#[test]
fn a_slip_in_a_later_document_is_fixed_there() {
    let slip = "ubuntu-nobel-plain-rke2-1-31-8";
    let cluster = CLUSTER.replace('\n', "\n    ");
    let release = format!(
        "apiVersion: v1\nkind: Namespace\nmetadata: {{name: edge}}\n---\n\
         apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: edge}}\n\
         spec:\n  values:\n    {cluster}  capm3: {{image_key: {slip}}}\n"
    );
    let fixed = fixed(
        "values: [catalog.yaml]\nclusters: [{name: edge, values: [.]}]",
        &[
            ("catalog.yaml", &catalog(&[NEW])),
            ("kustomization.yaml", "resources: [release.yaml]\n"),
            ("release.yaml", &release),
        ],
    );
    let left = fixed.text("release.yaml");
    assert_eq!(left, release.replace(slip, NEW), "{}", fixed.said());
}

#[test]
fn what_an_alias_shares_is_not_edited_and_the_rest_is() {
    let slip = "ubuntu-nobel-plain-rke2-1-31-8";
    let text = format!(
        "{CLUSTER}  machine_deployments:\n    md0: {{capm3: &shared {{image_key: {slip}}}}}\n    md1: {{capm3: *shared}}\n    md2: {{capm3: {{image_key: {slip}}}}}\n"
    );
    let fixed = fixed(
        ONE,
        &[("catalog.yaml", &catalog(&[NEW])), ("edge.yaml", &text)],
    );
    let (head, tail) = text.split_at(text.find("md2").expect("there"));
    let edited = format!("{head}{}", tail.replace(slip, NEW));
    assert_eq!(fixed.text("edge.yaml"), edited, "{}", fixed.said());
    let lines: Vec<&str> = fixed.outcome.stderr.lines().collect();
    assert!(lines[0].starts_with("not fixed edge.yaml:5:"), "{lines:?}");
    assert!(lines[1].starts_with("fixed edge.yaml:7:"), "{lines:?}");
}

#[test]
fn a_fix_never_lowers_what_an_image_is() {
    let hardened = "ubuntu-noble-hardened-rke2-1-30-12";
    let text = format!("{CLUSTER}  capm3: {{image_key: {hardened}}}\n");
    let catalog = catalog(&[hardened, "ubuntu-jammy-plain-rke2-1-31-8"]);
    let fixed = fixed(ONE, &[("catalog.yaml", &catalog), ("edge.yaml", &text)]);
    assert_eq!(fixed.text("edge.yaml"), text, "{}", fixed.said());
    let near = "`ubuntu-jammy-plain-rke2-1-31-8` is near: it has `os-release: jammy`, not `noble`";
    assert!(fixed.said().contains(near), "{}", fixed.said());
}
