//! Which values are secret: those of a Secret, of a file that is named after secrets, and of a file that a Secret is made of. Their
//! texts are not there; nothing else is hidden, and no message loses a word.

use snapbox::str;

use super::support::stage::project;

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: units, namespace: edge}
spec:
  chart: {spec: {chart: chart, sourceRef: {kind: GitRepository, name: a}}}
  valuesFrom:
    - {kind: Secret, name: made, valuesKey: values}
    - {kind: Secret, name: units-secrets, valuesKey: secrets}
";

/// What `values` prints of a cluster that a folder composes with a Secret of each origin.
fn values(chart: &str, words: &str) -> String {
    let outcome = project()
        .settings("clusters: [{name: edge, values: [env]}]")
        .file("chart/values.yaml", chart)
        .file("env/release.yaml", RELEASE)
        .file(
            "env/objects.yaml",
            "apiVersion: v1\nkind: Secret\nmetadata: {name: units-secrets, namespace: edge}\nstringData:\n  other: 'a: b'\n",
        )
        .file("env/made.yaml", "password: correct-horse\n")
        .file(
            "env/kustomization.yaml",
            "namespace: edge\nresources: [release.yaml, objects.yaml]\nsecretGenerator:\n\
             - {name: made, options: {disableNameSuffixHash: true}, files: [values=made.yaml]}\n",
        )
        .run(&format!("values edge {words}"))
        .outcome;
    outcome.stdout + &outcome.stderr
}

/// Sylva's chart holds templates of Secrets in its values.
#[test]
fn a_file_that_mentions_a_secret_is_none() {
    let chart = "version: v1.31.8\nunits:\n  a:\n    patch: |\n      kind: Secret\n      data: {{ .Values.x }}\n\
                 \x20   more: |\n      kind: Secret\n      stringData:\n        a: b\n";
    let shown = values(chart, "version");
    assert!(shown.starts_with("v1.31.8\n"), "{shown}");
}

#[test]
fn a_file_that_a_secret_is_made_of_is_secret_whatever_its_name() {
    let shown = values("a: 1\n", "password");
    assert!(shown.contains("<secret env/made.yaml: password>"), "{shown}");
    assert!(!shown.contains("correct-horse"), "{shown}");
}

/// The word `secrets` is a value of no Secret here, and a part of a name.
#[test]
fn no_word_of_a_message_is_hidden() {
    let shown = values("a: 1\n", "");
    assert!(
        shown.contains("Secret `units-secrets` has no key `secrets`"),
        "{shown}"
    );
    assert!(shown.contains("set `optional: true`"), "{shown}");
}

#[test]
fn an_image_that_an_expression_makes_of_a_secret_is_not_named() {
    let project = project()
        .settings("clusters: [{name: edge, values: [values.yaml, secrets.yaml]}]")
        .file("secrets.yaml", "url: https://images.example.org/correct-horse.raw\n")
        .file(
            "values.yaml",
            "cluster:\n  k8s_version: v1.31.8\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}\n  \
             capm3: {machine_image_url: '{{ .Values.url }}', machine_image_format: raw}\n",
        );
    let printed = project.run("check --output json").outcome.stdout;
    assert!(printed.contains("depends on a secret"), "{printed}");
    assert!(!printed.contains("horse"), "{printed}");
}

/// A password that begins with an asterisk reads as an alias, and no anchor has its name.
#[test]
fn what_is_wrong_with_a_secret_quotes_nothing_of_it() {
    let secret =
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {password: *hush-hush-7}\n";
    let inner = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n    kind: Metal3MachineTemplate\n    \
                 metadata: {name: a}\n    spec: *hush-hush-7\n";
    let in_string = format!(
        "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  a: |\n    {inner}"
    );
    let project = project()
        .settings("manifests: [app.yaml]")
        .file("app.yaml", secret)
        .file("in-string.yaml", in_string)
        .file("bundle/manifests/app.yaml", secret);
    for line in [
        "stamp",
        "stamp in-string.yaml",
        "stamp --output json",
        "stamp --output sarif",
        "bundle pack bundle/manifests --to dir:out",
    ] {
        let outcome = project.run(line).outcome;
        let shown = outcome.stdout + &outcome.stderr;
        // What is in a Secret's string is no object that anybody looks at.
        let is_said = shown.contains("there is no anchor `…`");
        assert!(is_said || line.ends_with("in-string.yaml"), "{line}: {shown}");
        assert!(!shown.contains("hush"), "{line}: {shown}");
    }
}

#[test]
fn what_a_secret_selects_is_unknown() {
    let project = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3}}",
        )
        .file("secrets.yaml", "cluster: {capm3: {image_key: noble-31}}\n");
    project.edit("metalmark.yaml", "[edge.yaml]", "[edge.yaml, secrets.yaml]");
    project.check().pools(str![[r#"
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): unknown (its image or version depends on a secret)

"#]]);
    project.edit("metalmark.yaml", "secrets.yaml", "plain.yaml");
    project.write("plain.yaml", project.read("secrets.yaml"));
    project.check().pools(str![[r#"
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): proven, noble-31 (plain.yaml:1:30) holds 1.31.8+rke2r1 (catalog.yaml:2:45)

"#]]);
}
