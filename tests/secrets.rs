//! Which values are secret: those of a Secret, of a file that is named after secrets, and of a file that a Secret is made of. Their
//! texts are not there; nothing else is hidden, and no message loses a word.

use data_encoding::BASE64;
use proptest::prelude::{Strategy, prop};
use snapbox::str;

use super::support::seen::Seen;
use super::support::stage::{Stage, project};

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
    assert!(
        shown.contains("<secret env/made.yaml: password>"),
        "{shown}"
    );
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
        assert!(
            is_said || line.ends_with("in-string.yaml"),
            "{line}: {shown}"
        );
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

/// A cluster with these values, and `pw` and `version` in its secrets file.
fn with_secrets(values: &str) -> Stage {
    project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .settings("clusters: [{name: edge, values: [edge.yaml, secrets.yaml]}]")
        .file("edge.yaml", values)
        .file(
            "secrets.yaml",
            "pw: SEKRETVALUE99\nversion: v1.31.8+rke2r1-SEKRET\nhost: registry.SEKRET.example\n",
        )
}

/// What these commands print of a project, which is nothing of its secrets.
fn printed(stage: &Stage, lines: &[&str]) -> String {
    let mut all = String::new();
    for line in lines {
        let outcome = stage.run(line).outcome;
        let text = outcome.stdout + &outcome.stderr;
        assert!(!text.to_lowercase().contains("sekret"), "{line}: {text}");
        all += &text;
    }
    all
}

const LINES: [&str; 8] = [
    "check",
    "check --output json",
    "explain edge",
    "explain edge --output json",
    "images --output json",
    "values edge",
    "values edge --output json",
    "page --to page.report",
];

#[test]
fn a_key_that_an_expression_makes_of_a_secret_is_not_printed() {
    let stage = with_secrets(
        "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {os_image_selector: {'{{ .Values.pw }}': x}}}\nos_images: {k: {'{{ .Values.pw }}': z}}\n",
    );
    let shown = printed(&stage, &LINES);
    assert!(
        shown.contains("depends on <secret secrets.yaml: pw>"),
        "{shown}"
    );
    assert!(!stage.read("page.report").contains("SEKRET"));
}

#[test]
fn a_version_without_its_first_letter_is_a_secret_all_the_same() {
    let stage = with_secrets(
        "cluster: {k8s_version: '{{ .Values.version }}', capm3: {image_key: '', os_image_selector: {os: ubuntu}}}\n",
    );
    let shown = printed(&stage, &LINES);
    assert!(
        shown.contains("its image or version depends on a secret"),
        "{shown}"
    );
    assert!(!stage.read("page.report").contains("SEKRET"));
}

#[test]
fn a_fact_in_a_file_that_is_named_after_secrets_is_not_printed() {
    let stage = project()
        .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
        .settings("images: {facts: [os-secret-info.yaml]}")
        .cluster(
            "edge",
            "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}",
        )
        .file(
            "os-secret-info.yaml",
            "noble-31: {k8s-version: v1.31.8-SEKRETf}\n",
        );
    let lines = [
        "check",
        "plan --to 1.33",
        "plan --to 1.33 --output json",
        "page --plan --to page.report",
    ];
    printed(&stage, &lines);
}

/// The catalog may hold what the selector takes, and nobody knows.
#[test]
fn a_selector_over_an_image_that_depends_on_a_secret_is_unknown_and_a_key_of_another_image_is_not()
{
    let stage = with_secrets(
        "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {os_image_selector: {os: ubuntu}}}\n\
         os_images: {a: {os: ubuntu, k8s-version: '{{ .Values.version }}', k8s-flavor: rke2}}\n",
    );
    stage.check().pools(str![[r#"
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): unknown (its image or version depends on a secret)

"#]]);
    stage.edit(
        "edge.yaml",
        "os_image_selector: {os: ubuntu}",
        "image_key: a",
    );
    stage.check().pools(str![[r#"
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): unknown (its image or version depends on a secret)

"#]]);
    stage.edit("edge.yaml", "image_key: a", "image_key: noble-31");
    stage.check().pools(str![[r#"
edge/control-plane v1.31.8+rke2r1 (edge.yaml:1:24): proven, noble-31 (edge.yaml:1:59) holds 1.31.8+rke2r1 (catalog.yaml:2:45)

"#]]);
}

/// In `(raw)` text, in what an expression passes to a helper, and in a map that holds all values.
#[test]
fn a_secret_in_all_values_that_an_expression_looks_at_is_unknown() {
    let stage = with_secrets(
        "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: noble-31}}\n\
         all: '{{ .Values | toJson }}'\nsize: '{{ .Values | toJson | len }}'\nraw: {(raw): '{{ x }}'}\n",
    );
    let shown = printed(
        &stage,
        &["values edge", "values edge --output json", "check"],
    );
    assert!(shown.contains("<secret secrets.yaml: pw>"), "{shown}");
}

/// Where it is looked for is not known either, so that nothing is requested.
#[test]
fn no_request_goes_to_a_registry_whose_host_is_a_secret() {
    let stage = with_secrets(
        "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: a}}\nos_images: {a: {uri: 'oci://{{ .Values.host }}/a:1', filename: a}}\n",
    );
    printed(&stage, &["lock", "check", "lock --output json"]);
}

#[test]
fn an_object_in_a_string_holds_secrets_too() {
    let values = "a: |\n  kind: Config\n  users: [{user: {token: SEKRET-1}}]\nb:\n- |-\n  kind: Secret\n  stringData: {a: SEKRET-2}\n  other: plain\n\
                  c: '{\"kind\": \"Secret\", \"data\": {\"a\": \"SEKRET3=\"}}'\n";
    let shown = printed(&with_secrets(values), &LINES);
    assert!(shown.contains("other: plain"), "{shown}");
    assert!(
        shown.contains("<secret edge.yaml: b.0.stringData.a>"),
        "{shown}"
    );
}

/// What decides is the structure of a document, not how its words are written.
#[test]
fn a_secret_is_one_however_its_kind_is_written_and_what_shows_it_again() {
    for values in [
        "x: {kind: !!str Secret, stringData: {a: SEKRET-1}}\n",
        "x: {kind: &k Secret, stringData: {a: SEKRET-1}}\ny: {kind: *k, stringData: {a: SEKRET-2}}\n",
        "x:\n  kind:\n    Secret\n  stringData: {a: SEKRET-1}\n",
        "x:\n  kind: >-\n    Secret\n  stringData: {a: SEKRET-1}\n",
        "x: {\"k\\x69nd\": \"\\x53ecret\", stringData: {a: SEKRET-1}}\n",
        "x: {kind: Secret, stringData: {a: &p SEKRET-1}}\ny: {data: {q: *p}}\n",
        "x: {kind: Secret, stringData: {a: &p 48151623}}\ny: {data: {q: *p}}\n",
        "p: &p {a: SEKRET-1}\nx: {kind: Secret, stringData: *p}\n",
        "x: '[{\"kind\": \"Secret\", \"stringData\": {\"a\": \"SEKRET-1\"}}]'\n",
    ] {
        let shown = printed(&with_secrets(values), &LINES);
        assert!(shown.contains("<secret edge.yaml"), "{values}: {shown}");
    }
}

/// It is not compared as the version `hidden`.
#[test]
fn a_version_in_a_secret_of_a_release_is_unknown() {
    let template = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: {{ .Release.Name }}, labels: \
                    {cluster.x-k8s.io/cluster-name: edge}}\nspec:\n  version: {{ .Values.v }}\n  machineTemplate: {infrastructureRef: {apiVersion: \
                    infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: a}}\n---\napiVersion: \
                    infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate\nmetadata: {name: a}\nspec: {template: {spec: {image: \
                    {filter: {name: ubuntu-2204-kube-v1.34.1}}}}}\n";
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: paris, namespace: clusters}\nspec:\n  chart: {spec: \
                   {chart: charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}\n  valuesFrom: [{kind: Secret, name: made}]\n---\n\
                   apiVersion: v1\nkind: Secret\nmetadata: {name: made, namespace: clusters}\nstringData: {values.yaml: 'v: v1.33.9'}\n";
    let stage = project()
        .file(
            "charts/edge/Chart.yaml",
            "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
        )
        .file("charts/edge/values.yaml", "v: v1.34.1\n")
        .file("charts/edge/templates/a.yaml", template)
        .file("paris.yaml", release);
    stage.check().is(str![[r#"
error[nothing-checked] => --allow-empty
edge/control-plane: unknown (its image or version depends on a secret)

"#]]);
}

/// What signs a request is in the query of a URL.
#[test]
fn the_query_of_a_url_is_not_printed() {
    let stage = project().cluster(
        "edge",
        "cluster: {k8s_version: v1.31.8, capi_providers: {infra_provider: capm3}, capm3: {machine_image_url: \
         'https://images.example.org/a.raw?X-Amz-Signature=SEKRET', machine_image_format: raw}}",
    );
    let shown = printed(&stage, &["check", "check --output json", "explain edge"]);
    assert!(
        shown.contains("https://images.example.org/a.raw?…"),
        "{shown}"
    );
}

/// Whatever they are called.
#[test]
fn variables_that_name_no_version_and_no_image_are_not_printed() {
    let text = crate::support::manifests::cluster(
        "${VERSION}",
        "{filter: {name: 'ubuntu-2204-kube-${VERSION}'}}",
    )
    .replacen(
        "image: {filter",
        "sshKeyName: '${DB_PWD}', image: {filter",
        1,
    );
    assert!(text.contains("DB_PWD"));
    let stage = project()
        .file("edge.yaml", &text)
        .file(".env", "VERSION=v1.31.8\nDB_PWD=SEKRET1\nDSN=SEKRET2\n");
    let shown = printed(
        &stage,
        &[
            "check",
            "check --output json",
            "images",
            "explain edge",
            "page --to page.report",
        ],
    );
    assert!(shown.contains("1.31.8"), "{shown}");
    assert!(!stage.read("page.report").contains("SEKRET"));
}

/// A secret, and expressions over it.
fn case() -> impl Strategy<Value = (String, Vec<String>)> {
    let functions = go_template::functions();
    let function = prop::sample::select(functions);
    let argument = prop::sample::select(vec![
        ".Values.pw",
        ".Values.nest",
        "(list .Values.pw 1)",
        ".Values.pw \"x\"",
        "\"x\" .Values.pw",
        "2 .Values.pw",
        "0 4 .Values.pw",
        "\"a\" .Values.nest",
        "\"[A-Za-z]\" .Values.pw",
        "\"[a-z]\" .Values.pw \"$0\"",
        "\"e\" \"x\" .Values.pw",
        "(printf \"%q\" .Values.pw)",
    ]);
    let expression =
        (function.clone(), argument, function, 0..4).prop_map(|(first, argument, second, form)| {
            match form {
                0 => format!("{{{{ {first} {argument} }}}}"),
                1 => format!("{{{{ {first} {argument} | {second} }}}}"),
                2 => format!("{{{{ if {first} {argument} }}}}yes{{{{ else }}}}no{{{{ end }}}}"),
                _ => format!("a-{{{{ {first} {argument} }}}}-{{{{ .Values.pw }}}}"),
            }
        });
    (
        "[A-Za-z0-9+_][A-Za-z0-9+/_-]{10,18}[A-Za-z0-9]",
        prop::collection::vec(expression, 6),
    )
}

#[test]
fn nothing_that_expressions_make_of_a_secret_is_printed() {
    let seen = Seen::new(&[
        "a label",
        "a look that fails",
        "a test for emptiness",
        "an unknown pool",
    ]);
    seen.property(30, 5, &case(), |(secret, expressions)| {
        let mut values = format!(
            "cluster:\n  k8s_version: '{}'\n  capm3:\n    image_key: '{}'\n    os_image_selector: {{os: ubuntu, '{}': a}}\nother:\n",
            expressions[0].replace('\'', "''"),
            expressions[1].replace('\'', "''"),
            expressions[2].replace('\'', "''"),
        );
        for (index, expression) in expressions.iter().enumerate() {
            values += &format!("  k{index}: '{}'\n", expression.replace('\'', "''"));
        }
        let stage = project()
            .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
            .settings("clusters: [{name: edge, values: [edge.yaml, secrets.yaml]}]")
            .file("edge.yaml", &values)
            .file("secrets.yaml", format!("pw: '{secret}'\nnest: {{a: '{secret}', b: [1, '{secret}']}}\n"));
        let encoded = BASE64.encode(secret.as_bytes());
        let (lower, upper) = (secret.to_lowercase(), secret.to_uppercase());
        let letters: Vec<char> = secret.chars().collect();
        let parts = letters.windows(6).map(|part| part.iter().collect::<String>());
        let hidden: Vec<String> = parts.chain([encoded, lower, upper]).collect();
        for line in ["check", "check --output json", "explain edge", "explain edge --output json", "values edge", "values edge --origin --output json"] {
            let outcome = stage.run(line).outcome;
            let text = outcome.stdout + &outcome.stderr;
            for part in &hidden {
                assert!(!text.contains(part), "{line}: {part} of {secret}\n{values}\n{text}");
            }
            seen.note_if(text.contains("<secret secrets.yaml: pw>"), "a label");
            seen.note_if(text.contains("depends on <secret"), "a look that fails");
            seen.note_if(text.contains("\"yes\"") || text.contains(": yes"), "a test for emptiness");
            seen.note_if(text.contains("its image or version depends on a secret"), "an unknown pool");
        }
    });
}
