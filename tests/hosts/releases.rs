//! What a release says of itself: one version, wherever it is named.

use std::fs;

use snapbox::str;

use crate::support::repository;
use crate::support::stage::project;

/// The texts that name a version of metalmark: those of hosts, and of the installation.
#[test]
fn every_page_and_template_names_the_version_of_the_crate() {
    let mut looked_at = 0;
    for folder in ["docs", "templates/hosts", ".ci"] {
        for entry in walkdir::WalkDir::new(repository().join(folder)) {
            let entry = entry.expect("readable");
            let is_picture = entry.path().extension().is_some_and(|it| it == "png");
            if !entry.file_type().is_file() || is_picture {
                continue;
            }
            let text = fs::read_to_string(entry.path()).expect("text");
            for before in [
                "metalmark==",
                "tools/metalmark:",
                "metalmark-cmp:",
                "rev: v",
                "revision: v",
            ] {
                for (at, _) in text.match_indices(before) {
                    let named = &text[at + before.len()..];
                    let end = named.find(|c: char| !c.is_ascii_digit() && c != '.');
                    let named = named[..end.unwrap_or(named.len())].trim_end_matches('.');
                    assert_eq!(
                        named,
                        env!("CARGO_PKG_VERSION"),
                        "{}",
                        entry.path().display()
                    );
                    looked_at += 1;
                }
            }
        }
    }
    assert!(looked_at > 8, "{looked_at}");
}

/// What CI installs is what the page says.
#[test]
fn the_hook_of_the_page_is_the_one_that_ci_installs() {
    let page = fs::read_to_string(repository().join("docs/hosts/pre-commit.md")).expect("text");
    let (_, hook) = page
        .split_once("<!-- python hook -->\n```yaml\n")
        .expect("the marker");
    let (hook, _) = hook.split_once("\n```\n").expect("its end");
    let manifest = fs::read_to_string(repository().join(".pre-commit-hooks.yaml")).expect("text");
    let entry = "entry: metalmark render --fail-on-change --tracked\n";
    assert!(hook.contains(entry) && manifest.contains(entry));
    let script = fs::read_to_string(repository().join(".ci/installs")).expect("text");
    assert!(script.contains("python hook"));
}

/// krew links `kubectl-metalmark` to what `bin` names: <https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest>.
#[test]
fn krew_installs_the_plugin_from_the_archives_of_a_release() {
    let stage = project()
        .file("out/metalmark-1.2.3-x86_64-unknown-linux-musl.tar.gz", "a")
        .file("out/metalmark-1.2.3-aarch64-unknown-linux-musl.tar.gz", "b");
    let script = repository().join(".ci/krew");
    let home = "https://forge.example/team/metalmark";
    let made = stage.shell(&format!(
        "HOMEPAGE={home} RELEASE_URL={home}/releases/download/v1.2.3 '{}' 1.2.3 out",
        script.display()
    ));
    made.exit(0).stdout(str![[r#"
apiVersion: krew.googlecontainertools.github.com/v1alpha2
kind: Plugin
metadata:
  name: metalmark
spec:
  version: v1.2.3
  homepage: https://forge.example/team/metalmark
  shortDescription: Checks and pins OS images of Cluster API clusters
  description: |
    Reads a GitOps repository of Cluster API clusters (values in Sylva's style, or manifests), works out which OS image every
    node pool boots, and fails where the image does not match the Kubernetes version. It needs no cluster.
  platforms:
  - selector:
      matchLabels: {os: linux, arch: amd64}
    uri: https://forge.example/team/metalmark/releases/download/v1.2.3/metalmark-1.2.3-x86_64-unknown-linux-musl.tar.gz
    sha256: ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb
    files:
    - {from: "metalmark-*/metalmark", to: .}
    - {from: "metalmark-*/LICENSE", to: .}
    bin: metalmark
  - selector:
      matchLabels: {os: linux, arch: arm64}
    uri: https://forge.example/team/metalmark/releases/download/v1.2.3/metalmark-1.2.3-aarch64-unknown-linux-musl.tar.gz
    sha256: 3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d
    files:
    - {from: "metalmark-*/metalmark", to: .}
    - {from: "metalmark-*/LICENSE", to: .}
    bin: metalmark

"#]]);
}
