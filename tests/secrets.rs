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

/// A backtick in a secret ends no quote of a message, whichever message it is.
#[test]
fn no_letter_of_a_secret_that_has_backticks_is_printed() {
    for (secret, said, lines) in [
        (
            "!!int x`SEKRET",
            "requires an integer, and `…` is not",
            &LINES[..],
        ),
        (
            "!!float x`SEKRET",
            "requires a number, and `…` is not",
            &LINES,
        ),
        (
            "!!bool x`SEKRET`",
            "requires a boolean, and `…` is not",
            &LINES,
        ),
        ("!!null '`SEKRET`'", "requires null, and `…` is not", &LINES),
        (
            "!!timestamp '`SEKRET'",
            "requires a date, and `…` is not",
            &LINES,
        ),
        ("\"\\`SEKRET\"", "`…` is not a YAML escape", &LINES),
        ("*SEKRET", "there is no anchor `&…` before", &LINES),
        (
            "&SEKRET [*SEKRET]",
            "the anchor `&…` contains itself",
            &LINES,
        ),
        (
            "!SEKRET!x y",
            "the tag handle `…` is declared nowhere",
            &LINES,
        ),
        // Keys are values of nothing, and `values` shows them.
        (
            "{a`SEKRET: 1, a`SEKRET: 2}",
            "`…` occurs twice",
            &LINES[..2],
        ),
        (
            "{a`SEKRET: 1, <<: {a`SEKRET: 2}}",
            "`<<` replaces the value that `…` has",
            &LINES[..2],
        ),
    ] {
        let stage = with_secrets("x: '{{ .Values.pw }}'\n");
        stage.write("secrets.yaml", format!("pw: {secret}\n"));
        let shown = printed(&stage, lines);
        assert!(shown.contains(said), "{secret}: {shown}");
        let object = format!(
            "apiVersion: v1\nkind: Secret\nmetadata: {{name: a}}\nstringData:\n  pw: {secret}\n"
        );
        stage.write("made.yaml", object);
        let file = stage.read("metalmark.yaml");
        stage.write("metalmark.yaml", file + "manifests: [made.yaml]\n");
        printed(&stage, lines);
    }
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
        let is_said = shown.contains("there is no anchor `&…`");
        assert!(
            is_said || line.ends_with("in-string.yaml"),
            "{line}: {shown}"
        );
        assert!(!shown.contains("hush"), "{line}: {shown}");
    }
}

/// `default` took over where `fromJson` could not read the label in place of the text.
#[test]
fn json_in_a_secret_is_json_for_expressions() {
    let project = project()
        .settings("clusters: [{name: edge, values: [values.yaml, secrets.yaml]}]")
        .file("secrets.yaml", "json: '{\"a\": \"correct-horse\"}'\n")
        .file(
            "values.yaml",
            "key: '{{ (fromJson .Values.json).a | default \"fallback\" }}'\n",
        );
    project.run("values edge key").screen(str![[r#"
"<secret secrets.yaml: json.a>"

"#]]);
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

const LINES: [&str; 9] = [
    "check",
    "check --output json",
    "explain edge",
    "explain edge --output json",
    "images --output json",
    "values edge",
    "values edge --raw",
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
        "page --plan 1.33 --to page.report",
    ];
    printed(&stage, &lines);
    assert!(!stage.read("page.report").contains("SEKRET"));
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
        "x: {kind: Secret, stringData: {a: &p SEKRET-1}}\ny: [*p, {q: *p}]\n",
        "p: &p {a: SEKRET-1}\nx: {kind: Secret, stringData: *p}\n",
        "x: '[{\"kind\": \"Secret\", \"stringData\": {\"a\": \"SEKRET-1\"}}]'\n",
        "x: {kind: SecretList, items: [{metadata: {name: a}, data: {a: U0VLUkVU}, stringData: {b: SEKRET-1}}]}\n",
        "x: {kind: List, items: [{kind: List, items: [{kind: Secret, stringData: {b: SEKRET-1}}]}]}\n",
        "x: {metadata: {name: a}, stringData: {b: SEKRET-1}}\n",
        "x: {secretGenerator: {literals: 'a=SEKRET-1'}}\n",
        "x: {secretGenerator: [{name: a, literals: 'a=SEKRET-1', other: {b: SEKRET-2}}]}\n",
        "x: {apiVersion: builtin, kind: SecretGenerator, metadata: {name: a}, literals: [a=SEKRET-1]}\n",
        "patches: [{target: {kind: Secret}, patch: '[{op: add, path: /data/a, value: SEKRET-1}]'}]\n",
        "patches: [{target: {kind: Sec.*}, patch: 'data: {a: SEKRET-1}'}]\n",
        "patches: [{target: {kind: Secret}, patch: [{op: add, path: /stringData, value: {a: SEKRET-1}}]}]\n",
        "postRenderers: [{kustomize: {patches: [{target: {kind: Secret}, patch: \"data:\\n  a: SEKRET-1\\n\"}]}}]\n",
        "x: [{op: add, path: /stringData/a, value: SEKRET-1}]\n",
        "x: {clusters: [], contexts: [], users: [{user: {token: SEKRET-1}}]}\n",
        "x: \"\\n ENC[AES256_GCM,data:SEKRET]\"\n",
        "x: [{a: SEKRET-1, sops: {mac: a}}]\n",
        "x: |\n  {{- if true }}\n  kind: Secret\n  stringData: {a: SEKRET-1}\n  {{- end }}\n",
        "x: |\n  kind: Secret\n  data:\n    a: SEKRET-1{{ 1 }}\n    b: {{ 1 }}\n",
        "x: |\n  kind: Secret\n  stringData:\n    values.yaml: |\n      a: {{ 1 }}\n      b: SEKRET-1\n",
        "x: |\n  kind: Secret\n  stringData:\n    {{- if true }}\n    a: SEKRET-1\n    {{- else }}\n    a: SEKRET-2\n    {{- end }}\n",
        "x: |\n  kind: {{ \"Secret\" }}\n  data:\n    a: SEKRET-1\n    b: {{ \"SEKRET-2\" | b64enc }}\n",
        "x: {kind: Secret, binaryData: {a: SEKRET-1}}\n",
        "x: |\n  kind: Secret\n  stringData:\n    pw: SEKRET-1\n    pw: other\n",
        "x: |\n  # old: SEKRET-1\n  kind: Secret\n  stringData: {pw: other} # SEKRET-2\n",
        "x: |\n  kind: Secret\n  stringData: {pw: SEKRET-1}\n  stringData: {pw: other}\n",
        "x: |\n  kind: Secret\n  stringData: {<<: {pw: SEKRET-1}, pw: other}\n",
        "x: '{\"kind\": \"Secret\", \"data\": {\"a\": \"SEKRET\", \"a\": \"b\"}}'\n",
        "x: |\n  kind: Secret\n  data:\n    a: {{ `SEKRET-1` | b64enc }}\n    b: {{ (\"SEKRET-2\") }}\n",
        "x: |\n  {{ if false }}{{ end }}{\n  kind: Secret\n  stringData:\n    a: SEKRET-1\n  data: SEKRET-2\n",
        "kk: Secret\nx: {kind: '{{ .Values.kk }}', data: {a: SEKRET-1}}\n",
        "kk: ret\nx: {kind: 'Sec{{ .Values.kk }}', binaryData: {a: SEKRET-1}}\n",
        "kk: kind\nx: {'{{ .Values.kk }}': Secret, data: {a: SEKRET-1}}\n",
        "kk: kind\ns: Secret\nx: {'{{ .Values.kk }}': '{{ .Values.s }}', data: {a: SEKRET-1}}\n",
        "kk: kind\ns: Secret\nd: data\nx: {'{{ .Values.kk }}': '{{ .Values.s }}', apiVersion: v1, '{{ .Values.d }}': {a: SEKRET-1}}\n",
        "v: apiVersion\nkk: kind\ns: Secret\nd: data\nx: {'{{ .Values.v }}': v1, '{{ .Values.kk }}': '{{ .Values.s }}', '{{ .Values.d }}': {a: SEKRET-1}}\n",
        "kk: data\nx: {kind: Secret, '{{ .Values.kk }}': {a: SEKRET-1}}\n",
        "x: {kind: {(raw): Secret}, data: {a: SEKRET-1}}\ny: '{{ .Values.x.kind }}'\n",
        "kk: SecretList\nx: {kind: '{{ .Values.kk }}', items: [{data: {a: SEKRET-1}}]}\n",
        "kk: Config\nx: {kind: '{{ .Values.kk }}', users: [{name: SEKRET-1}]}\n",
        "kk: Secret\nx: |\n  kind: {{ .Values.kk }}\n  data:\n    a: SEKRET-1\n",
        "kk: Secret\nx: {target: {kind: '{{ .Values.kk }}'}, patch: 'data: {a: SEKRET-1}'}\n",
        "y: {kind: Secret, data: {a: eA==}}\nx: {secretGenerator: [{name: a, files: [a=SEKRET-1=b], envs: [b=SEKRET-2=c], env: d=SEKRET-3=e}]}\n",
        "kk: Secret\nx: '{{ dict \"kind\" .Values.kk \"data\" (dict \"a\" (list \"SEK\" \"RET\" | join \"\")) | include \"preserve-type\" }}'\ny: {kind: Secret, data: {a: eA==}}\n",
        "x: '{{ printf \"kind: Secret\\nstringData: {a: %s}\\n\" (list \"SEK\" \"RET\" | join \"\") }}'\ny: {kind: Secret, data: {a: eA==}}\n",
    ] {
        let shown = printed(&with_secrets(values), &LINES);
        assert!(shown.contains("<secret edge.yaml"), "{values}: {shown}");
    }
}

/// A kind that no expression makes `Secret`, and a map without data.
#[test]
fn what_is_no_secret_whatever_its_expression_makes_is_shown() {
    let stage = with_secrets(
        "x: {kind: '{{ \"A\" }}MachineTemplate', data: {a: known-1}}\ny: {kind: 'My{{ \"A\" }}', data: {a: known-2}}\n\
         z: {kind: '{{ \"A\" }}', a: known-3, b: '{{ fail \"no\" }}'}\n\
         pools: {'{{ \"a\" }}': {image_key: known-4}, '{{ \"b\" }}': '{{ \"c\" }}'}\n",
    );
    let shown = printed(&stage, &["values edge"]);
    for (known, count) in [
        ("known-1", 1),
        ("known-2", 1),
        ("known-3", 2),
        ("known-4", 1),
    ] {
        assert_eq!(shown.matches(known).count(), count, "{known}: {shown}");
    }
}

/// Whatever reads it: each of these names has a reader of its own.
#[test]
fn a_link_to_a_file_of_secrets_is_one_whatever_it_is_called() {
    let manifest = crate::support::manifests::cluster(
        "${VERSION}",
        "{filter: {name: 'ubuntu-2204-kube-${VERSION}'}}",
    );
    for (name, text) in [
        (
            "metalmark.lock",
            "version: SEKRET-1\nimages: [{key: SEKRET-2}]\nSEKRET-key: 1\n",
        ),
        ("images.facts", "noble-31: {k8s-version: v1.31.8-SEKRETf}\n"),
        (".env", "VERSION=v1.31.8-SEKRET\n"),
        ("charts/edge/values.yaml", "v: v1.34.1-SEKRET\n"),
        (
            "charts/edge/templates/a.yaml",
            "kind: SEKRET\nv: {{ SEKRET }}\ncluster.x-k8s.io\n",
        ),
        (
            "charts/edge/templates/b.yaml",
            "SEKRET: {{ .Values.SEKRET\n",
        ),
        (
            "charts/edge/Chart.yaml",
            "name: SEKRET\nversion: [SEKRET]\n",
        ),
        (
            "charts/edge/values.schema.json",
            "{\"properties\": {\"v\": {\"enum\": [\"SEKRET\"]}}}\n",
        ),
        (
            "kustomization.yaml",
            "namePrefix: [SEKRET]\nresources: [SEKRET.yaml]\n",
        ),
        (
            "plain.yaml",
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: a}\nspec: {topology: {version: v1.31.8-SEKRET, class: a}}\n",
        ),
    ] {
        let stage = project()
            .settings("images: {facts: [images.facts]}\nmanifests: ['.']")
            .file("edge.yaml", &manifest)
            .file("images.facts", "noble-31: {k8s-version: v1.31.8}\n")
            .file(
                "charts/edge/Chart.yaml",
                "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
            )
            .file("charts/edge/values.yaml", "v: v1.34.1\n")
            .file("charts/edge/templates/a.yaml", CHART_TEMPLATE)
            .file("folder/secrets.yaml", text);
        let link = stage.path().join(name);
        drop(std::fs::remove_file(&link));
        std::os::unix::fs::symlink(stage.path().join("folder/secrets.yaml"), link).expect("linked");
        printed(
            &stage,
            &[
                "check",
                "check --output json",
                "images",
                "page --to page.report",
                "render",
                "lock --check",
            ],
        );
        let page = stage.path().join("page.report");
        let page = std::fs::read_to_string(page).unwrap_or_default();
        assert!(!page.contains("SEKRET"), "{name}");
    }
}

/// Patches and variables make a Secret of what is none where it is written.
#[test]
fn a_secret_that_a_build_makes_is_one() {
    let cluster =
        crate::support::manifests::cluster("v1.30.1", "{filter: {name: ubuntu-2204-kube-v1.30.1}}");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a, labels: {x: ok}}\nstringData: {other: z}\n";
    let taken = "replacements:\n- source: {kind: Secret, fieldPath: stringData.v}\n  targets:\n  - {select: {kind: KubeadmControlPlane}, fieldPaths: [spec.version]}\n";
    for patches in [
        "- {target: {kind: Secret}, patch: '[{\"op\": \"add\", \"path\": \"/stringData/v\", \"value\": \"v1.31.8-SEKRET\"}]'}",
        "- {target: {name: a}, path: json.yaml}",
        "- {target: {labelSelector: x=ok}, path: bare.yaml}",
        "- {target: {kind: Secret}, path: bare.yaml}",
        "- {target: {name: a}, patch: \"- {op: add, path: /data, value: {v: v1.31.8-SEKRET}}\\n- {op: copy, from: /data/v, path: /stringData/v}\"}",
        "- {path: whole.yaml}",
        "- {target: {kind: Se.*}, patch: \"- op: add\\n  path: /metadata/labels/v\\n  value: x\\n- {op: replace, path: /stringData, value: {v: v1.31.8-SEKRET}}\\n\"}",
    ] {
        let stage = project()
            .file("edge.yaml", &cluster)
            .file("made.yaml", secret)
            .file("json.yaml", "- {op: add, path: /stringData/v, value: v1.31.8-SEKRET}\n")
            .file("bare.yaml", "metadata: {name: a}\nstringData: {v: v1.31.8-SEKRET}\n")
            .file("whole.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {v: v1.31.8-SEKRET}\n")
            .file("kustomization.yaml", format!("resources: [edge.yaml, made.yaml]\npatches:\n{patches}\n{taken}"));
        let shown = printed(
            &stage,
            &[
                "check",
                "check --output json",
                "images",
                "page --to page.report",
            ],
        );
        assert!(
            shown.contains("its image or version depends on a secret"),
            "{patches}: {shown}"
        );
        assert!(!stage.read("page.report").contains("SEKRET"), "{patches}");
    }
}

/// Someone may have written `files` for `literals`.
#[test]
fn what_a_generator_of_a_secret_names_behind_a_key_is_not_printed() {
    let cluster =
        crate::support::manifests::cluster("v1.30.1", "{filter: {name: ubuntu-2204-kube-v1.30.1}}");
    for named in [
        "files: [pw=SEKRET]",
        "files: [pw=SEKRET=z]",
        "files: ['=SEKRET']",
        "files: [pw=../../SEKRET]",
        "envs: [pw=SEKRET]",
        "env: pw=SEKRET",
        "files: ['pw: SEKRET']",
        "files: ['pw: SEKRET=']",
        "envs: ['pw: SEKRET']",
        "env: 'pw: SEKRET'",
        "files: [{pw: SEKRET}]",
        "env: {pw: SEKRET}",
    ] {
        let generator = format!("secretGenerator: [{{name: a, {named}}}]");
        let stage = project().file("edge.yaml", &cluster).file(
            "kustomization.yaml",
            format!("resources: [edge.yaml]\n{generator}\n"),
        );
        let shown = printed(
            &stage,
            &[
                "check",
                "check --output json",
                "check --output sarif",
                "images",
            ],
        );
        assert!(shown.contains("kustomization.yaml:2:"), "{named}: {shown}");
    }
    // A file is named as before.
    let stage = project()
        .file("edge.yaml", &cluster)
        .file(
            "kustomization.yaml",
            "resources: [edge.yaml]\nsecretGenerator: [{name: a, files: [pw=a.txt, other.txt]}]\n",
        )
        .file("a.txt", "x");
    let shown = printed(&stage, &["check"]);
    assert!(shown.contains("there is no file `other.txt`"), "{shown}");
}

/// Whatever its target may be.
#[test]
fn what_is_wrong_with_a_patch_quotes_nothing_that_it_may_put_into_a_secret() {
    let cluster =
        crate::support::manifests::cluster("v1.30.1", "{filter: {name: ubuntu-2204-kube-v1.30.1}}");
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\n";
    for (patch, file) in [
        (
            "{target: {name: a}, patch: '- {op: replace, path: /data/v/w, value: SEKRET}'}",
            "",
        ),
        (
            "{target: {name: a}, path: patch.yaml}",
            "- {op: replace, path: /data/v/w, value: SEKRET}\n",
        ),
        (
            "{target: {kind: Secret}, path: patch.yaml}",
            "data: {a: *SEKRET}\n",
        ),
        (
            "{target: {name: a}, path: patch.yaml}",
            "data: {a: *SEKRET}\n",
        ),
        ("{target: {name: a}, patch: 'data: {a: *SEKRET}'}", ""),
    ] {
        let stage = project()
            .file("edge.yaml", &cluster)
            .file("made.yaml", secret)
            .file("patch.yaml", file)
            .file(
                "kustomization.yaml",
                format!("resources: [edge.yaml, made.yaml]\npatches:\n- {patch}\n"),
            );
        let shown = printed(&stage, &["check", "check --output json"]);
        assert!(shown.contains("does not build"), "{patch}: {shown}");
    }
}

#[test]
fn what_sops_encrypts_in_an_environment_is_unknown() {
    let manifest = crate::support::manifests::cluster(
        "${VERSION}",
        "{filter: {name: 'ubuntu-2204-kube-${VERSION}'}}",
    );
    for text in [
        "VERSION=ENC[AES256_GCM,data:SEKRET,iv:a,tag:b,type:str]\n",
        "VERSION=v1.31.8-SEKRET\nsops_version=3.9.0\n",
    ] {
        let stage = project().file("edge.yaml", &manifest).file(".env", text);
        let shown = printed(&stage, &["check", "check --output json"]);
        assert!(
            shown.contains("its image or version depends on a secret"),
            "{shown}"
        );
    }
}

/// The label of a secret is its place, so that both sides have the same.
#[test]
fn a_change_of_a_secret_that_selects_an_image_is_not_known() {
    let values = "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: '{{ .Values.pw }}'}}\n";
    let Some(stage) = with_secrets(values).commit("before") else {
        return;
    };
    let same = printed(&stage, &["impact", "impact --output json"]);
    assert!(same.contains("no machine is re-provisioned"), "{same}");
    stage.edit("secrets.yaml", "VALUE99", "VALUE98");
    let shown = printed(
        &stage,
        &["impact", "impact --output json", "impact --output markdown"],
    );
    assert!(
        shown.contains("not known: it depends on a secret that may change"),
        "{shown}"
    );
    assert!(shown.contains("\"rollout\": \"unknown\""), "{shown}");
    assert!(!shown.contains("no machine is re-provisioned"), "{shown}");
}

/// What a chart renders is read as any other file, and the lines of its template are not shown.
#[test]
fn what_a_template_of_a_secret_holds_is_a_label() {
    for template in [
        "kind: Secret\nstringData:\n  v: v1.31.8-SEKRET\n  b: {{ .Values.v }}-SEKRET\n  c: {{ nosuch }}\n",
        "{{ if true }}{{ end }}a: [\nkind: Secret\nstringData:\n  v: *SEKRET\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ .Release.Name }}}\nstringData: {v: *SEKRET }\n",
    ] {
        let stage = project()
            .file(
                "charts/edge/Chart.yaml",
                "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
            )
            .file("charts/edge/values.yaml", "v: v1.34.1\n")
            .file("charts/edge/templates/a.yaml", CHART_TEMPLATE)
            .file("charts/edge/templates/b.yaml", template);
        let shown = printed(&stage, &["check", "check --output json", "explain edge"]);
        assert!(shown.contains("b.yaml"), "{shown}");
    }
}

const CHART_TEMPLATE: &str = "apiVersion: controlplane.cluster.x-k8s.io/v1beta1\nkind: KubeadmControlPlane\nmetadata: {name: {{ .Release.Name }}, labels: \
                    {cluster.x-k8s.io/cluster-name: edge}}\nspec:\n  version: {{ .Values.v }}\n  machineTemplate: {infrastructureRef: {apiVersion: \
                    infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: a}}\n---\napiVersion: \
                    infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate\nmetadata: {name: a}\nspec: {template: {spec: {image: \
                    {filter: {name: ubuntu-2204-kube-v1.34.1}}}}}\n";

/// A repository with a chart that a release deploys with `made`, a Secret.
fn released(values: &str, made: &str) -> Stage {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: paris, namespace: clusters}\nspec:\n  chart: {spec: \
                   {chart: charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}\n  valuesFrom: [{kind: Secret, name: made}]\n---\n\
                   apiVersion: v1\nkind: Secret\nmetadata: {name: made, namespace: clusters}\nstringData: {values.yaml: 'MADE'}\n";
    project()
        .file(
            "charts/edge/Chart.yaml",
            "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
        )
        .file("charts/edge/values.yaml", values)
        .file("charts/edge/templates/a.yaml", CHART_TEMPLATE)
        .file("paris.yaml", release.replace("MADE", made))
}

/// It is not compared as the version `hidden`.
#[test]
fn a_version_in_a_secret_of_a_release_is_unknown() {
    let stage = released("v: v1.34.1\n", "v: v1.33.9");
    stage.check().is(str![[r#"
error[nothing-checked] => metalmark clusters | --allow-empty
edge/control-plane: unknown (its image or version depends on a secret)

"#]]);
    let Some(stage) = stage.commit("before") else {
        return;
    };
    stage.edit("paris.yaml", "v1.33.9", "v1.33.8");
    let shown = printed(&stage, &["impact"]);
    assert!(
        shown.contains("not known: it depends on a secret that may change"),
        "{shown}"
    );
}

/// A look at a secret makes what depends on it unknown, and nothing else of the chart.
#[test]
fn a_template_without_machines_that_looks_at_a_secret_leaves_the_pools_known() {
    let stage = released("v: v1.34.1\n", "pw: SEKRET").file(
        "charts/edge/templates/b.yaml",
        "{{ if eq .Values.pw \"x\" }}\nkind: ConfigMap\n{{ end }}\n",
    );
    printed(&stage, &["check", "explain edge"]);
    stage.check().is(str![[r#"
edge/control-plane v1.34.1 (charts/edge/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.34.1 (charts/edge/templates/a.yaml:11:49) holds 1.34.1

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

/// A part of a reference has no scheme any more, so that nobody would know it for a part of a URL.
#[test]
fn the_query_of_a_reference_is_not_printed() {
    let stage = |values: &str| {
        let cluster = "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: a}}\n";
        project().cluster("edge", &(cluster.to_owned() + values))
    };
    let facts = "image-format: raw, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1";
    let one = stage(&format!(
        "os_images: {{a: {{uri: 'oci://h.example/x:1.31.8?sig=SEKRET', {facts}}}}}\n"
    ));
    printed(&one, &["check", "images", "page --to page.report"]);
    assert!(!one.read("page.report").contains("SEKRET"));
    let all = stage(
        "sylva_diskimagebuilder_version: 0.4.12\nsylva_diskimagebuilder_images: {a: {os_images_oci_registry: sylva}}\n\
         os_images_oci_registries: {sylva: {url: 'oci://u:SEKRET@h.example/a:1?x=SEKRET', tag: 1}}\n",
    );
    let shown = printed(&all, &["check", "lock"]);
    assert!(shown.contains("is not an OCI reference"), "{shown}");
}

/// What it is for is what people forget: the scheme.
#[test]
fn a_password_before_a_host_is_not_printed_without_its_scheme_either() {
    for url in [
        "user:SEKRET@host/a.raw",
        "//user:SEKRET@host/a.raw",
        "https:/u:SEKRET@host/a.raw",
        "https://u:SEKRET @host/a.raw",
        "user:a SEKRET@host/a.raw",
        "user:a''SEKRET@host/a.raw",
        "//user:a\"SEKRET@host/a.raw",
        "oci//user:a`SEKRET@host/a.raw",
        "https://bob:7-Eleven SEKRET@host/a.raw",
        "https://u:my SEKRET git@host/a.raw",
        ":a SEKRET@host/a.raw",
        "https://u::a SEKRET@host/a.raw",
    ] {
        let stage = project().cluster(
            "edge",
            &format!("cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: capm3}}, capm3: {{machine_image_url: '{url}', machine_image_format: raw}}}}"),
        );
        let shown = printed(&stage, &LINES);
        assert!(shown.contains("…@host/a.raw"), "{shown}");
    }
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

/// A second key of the same name hides the first from the tree, and no line of the object is quoted.
#[test]
fn a_key_that_a_secret_has_twice_is_a_finding_that_quotes_nothing() {
    let cluster = crate::support::manifests::cluster("v1.31.8", crate::support::manifests::GOOD);
    for secret in [
        "kind: Secret\nmetadata: {name: a}\nstringData:\n  pw: SEKRET-1\n  pw: other\n",
        "kind: Secret\nmetadata: {name: a}\nstringData:\n  pw: SEKRET-1\nstringData:\n  pw: other\n",
        "kind: Secret\nmetadata: {name: a}\nstringData:\n  ? pw\n  : SEKRET-1 # SEKRET-2\n  pw: other\n",
        "kind: A\nmetadata: {name: a}\npw: SEKRET-1\npw: other\nsops: {mac: x}\n",
    ] {
        let stage = project().file("a.yaml", format!("{cluster}---\napiVersion: v1\n{secret}"));
        let shown = printed(&stage, &["check", "page --to page.report", "impact"]);
        assert!(shown.contains("duplicate-key"), "{secret}: {shown}");
        assert!(!stage.read("page.report").contains("SEKRET"), "{secret}");
    }
}

/// In either order, for both make objects of one file.
#[test]
fn a_file_of_a_secret_and_of_a_config_map_is_secret() {
    for generators in [
        "secretGenerator: [{name: s, envs: [c.env]}]\nconfigMapGenerator: [{name: m, envs: [c.env]}]\n",
        "configMapGenerator: [{name: m, files: [A=c.env]}]\nsecretGenerator: [{name: s, files: [x=c.env]}]\n",
        "configMapGenerator: [{name: m, envs: [c.env]}]\nsecretGenerator: [{name: s, env: c.env}]\n",
    ] {
        let target = "{select: {kind: KubeadmControlPlane}, fieldPaths: [spec.version]}";
        let replacement = format!(
            "replacements: [{{source: {{kind: ConfigMap, name: m, fieldPath: data.A}}, targets: [{target}]}}]\n"
        );
        let cluster =
            crate::support::manifests::cluster("v1.31.8", crate::support::manifests::GOOD);
        let stage = project()
            .file("c.env", "A=v1.31.8-SEKRET\n")
            .file("edge.yaml", cluster)
            .file(
                "kustomization.yaml",
                format!("resources: [edge.yaml]\n{generators}{replacement}"),
            );
        printed(
            &stage,
            &["check", "check --output json", "explain edge", "images"],
        );
    }
}

/// A template of a chart that is a link to secrets is none.
#[test]
fn a_template_that_is_a_link_to_secrets_is_not_read() {
    let stage = project()
        .file(
            "my-secrets.yaml",
            "apiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: SEKRET-1}\n",
        )
        .file(
            "chart/Chart.yaml",
            "apiVersion: v2\nname: c\nversion: 1.0.0\n",
        )
        .file(
            "chart/templates/a.yaml",
            crate::support::manifests::cluster("v1.31.8", crate::support::manifests::GOOD),
        );
    let link = stage.path().join("chart/templates/b.yaml");
    std::os::unix::fs::symlink("../../my-secrets.yaml", link).expect("linked");
    let shown = printed(&stage, &["check", "images", "explain edge"]);
    assert!(shown.contains("is a link to a file of secrets"), "{shown}");
    // Helm follows any other link.
    stage
        .remove("chart/templates/b.yaml")
        .write("elsewhere.yaml", stage.read("chart/templates/a.yaml"));
    stage.remove("chart/templates/a.yaml");
    std::os::unix::fs::symlink(
        "../../elsewhere.yaml",
        stage.path().join("chart/templates/a.yaml"),
    )
    .expect("linked");
    stage.write(".helmignore", "");
    let shown = printed(&stage, &["images"]);
    assert!(shown.contains("edge/control-plane"), "{shown}");
}

/// One layer says what a map is, another one has what is secret in it.
#[test]
fn a_secret_that_two_layers_make_together_is_one() {
    let own = "cluster: {k8s_version: v1.31.8+rke2r1}\n";
    for (says, holds) in [
        ("{kind: Secret}", "{data: {pw: SEKRET}}"),
        ("{kind: 'ENC[a]'}", "{data: {pw: SEKRET}}"),
        (
            "{kind: '{{ print \"Sec\" \"ret\" }}'}",
            "{data: {pw: SEKRET}}",
        ),
        ("{kind: Config}", "{users: [{user: {token: SEKRET}}]}"),
        ("{contexts: []}", "{users: [{user: {token: SEKRET}}]}"),
        ("{target: {kind: Secret}}", "{patch: 'data: {pw: SEKRET}'}"),
        ("{kind: SecretList}", "{items: [{data: {pw: SEKRET}}]}"),
    ] {
        let (says, holds) = (
            format!("x: {{k: {says}}}\n"),
            format!("x: {{k: {holds}}}\n"),
        );
        for [first, last] in [[&says, &holds], [&holds, &says]] {
            for settings in [
                "clusters: [{name: edge, values: [a.yaml, b.yaml, edge.yaml]}]",
                "values: [a.yaml, b.yaml]\nclusters: [{name: edge, values: [edge.yaml]}]",
                "values: [a.yaml]\nclusters: [{name: edge, values: [b.yaml, edge.yaml]}]",
            ] {
                let stage = project()
                    .settings(settings)
                    .file("a.yaml", first)
                    .file("b.yaml", last)
                    .file("edge.yaml", own);
                let shown = printed(&stage, &LINES);
                assert!(shown.contains("<secret "), "{shown}");
                printed(&stage, &["values edge x.k", "values edge x.k --why"]);
            }
        }
    }
    // What SOPS encrypts is a file of its own.
    let stage = project()
        .settings("clusters: [{name: edge, values: [a.yaml, b.yaml]}]")
        .file("a.yaml", "a: known\n")
        .file("b.yaml", "b: hidden\nsops: {version: 3.9.0}\n");
    let shown = stage.run("values edge").outcome.stdout;
    assert!(
        shown.contains("known") && !shown.contains("hidden"),
        "{shown}"
    );
    // Nor is a line of it quoted.
    let stage = project()
        .settings("clusters: [{name: edge, values: [a.yaml, b.yaml]}]")
        .file("a.yaml", "x: {data: {on: SEKRET}}\n")
        .file("b.yaml", format!("{own}x: {{kind: Secret}}\n"));
    let shown = printed(&stage, &["check"]);
    assert!(shown.contains("a.yaml:1:12"), "{shown}");
    stage.write("a.yaml", "x: {data: {p`SEKRET: 1, p`SEKRET: 2}}\n");
    let shown = printed(&stage, &["check"]);
    assert!(shown.contains("`…` occurs twice"), "{shown}");
}

/// So it is in a chart: what it makes of both is no version.
#[test]
fn a_secret_that_two_layers_of_a_release_make_is_one() {
    let stage = released(
        "x: {kind: Secret}\nv: v1.34.1\n",
        "x: {data: {v: v1.33.9-SEKRET}}",
    );
    stage.edit(
        "paris.yaml",
        "kind: Secret, name: made",
        "kind: ConfigMap, name: made",
    );
    stage.edit("paris.yaml", "kind: Secret\n", "kind: ConfigMap\n");
    stage.edit("paris.yaml", "stringData", "data");
    stage.edit(
        "charts/edge/templates/a.yaml",
        ".Values.v ",
        ".Values.x.data.v ",
    );
    printed(&stage, &["check", "explain edge", "images"]);
    stage.check().pools(str![[r#"
edge/control-plane: unknown (its image or version depends on a secret)

"#]]);
}

/// What a chart writes into a Secret and reads again.
#[test]
fn a_text_that_a_chart_writes_into_a_secret_is_secret_wherever_it_is_included() {
    for text in [
        "{{ define \"s\" }}\nkind: Secret\nstringData:\n  v: v1.34.1-SEKRET\n{{ end }}",
        "{{ define \"s\" }}kind: Secret\nstringData:\n  v: {{ \"v1.34.1-SEKRET\" | quote }}\n{{ end }}",
        "{{ define \"s\" }}{kind: Secret, stringData: {v: v1.34.1-SEKRET}}{{ end }}",
        "{{ define \"s\" -}}\nkind: Secret\nstringData:\n  v: |-\n    v1.34.1-SEKRET\n{{- end }}",
    ] {
        let stage = released("v: v1.34.1\n", "a: b").file("charts/edge/templates/_s.tpl", text);
        stage.edit(
            "charts/edge/templates/a.yaml",
            "{{ .Values.v }}",
            "{{ (include \"s\" . | fromYaml).stringData.v }}",
        );
        printed(
            &stage,
            &["check", "explain edge", "images", "check --output json"],
        );
        let pools = stage.check().pools;
        assert_eq!(
            pools,
            ["edge/control-plane: unknown (its image or version depends on a secret)"],
            "{text}"
        );
    }
    // What is beside it is known.
    let text = "{{ define \"s\" }}{{ if true }}\nkind: Secret\nstringData:\n  v: SEKRET\nv: v1.34.1\n{{ end }}{{ end }}";
    let stage = released("v: v1.34.1\n", "a: b").file("charts/edge/templates/_s.tpl", text);
    stage.edit(
        "charts/edge/templates/a.yaml",
        "{{ .Values.v }}",
        "{{ (include \"s\" . | fromYaml).v }}",
    );
    stage.check().pools(str![[r#"
edge/control-plane v1.34.1 (charts/edge/templates/a.yaml:5:15): by_name, ubuntu-2204-kube-v1.34.1 (charts/edge/templates/a.yaml:11:49) holds 1.34.1

"#]]);
}

/// Labels in place of what is written there leave it YAML.
#[test]
fn comments_and_blocks_in_the_secret_of_a_chart_stay_what_they_are() {
    for text in [
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  # A note about {{ .Values.v }}.\n  v: SEKRET\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  # A note: of two parts\n  v: |2-\n    a: SEKRET\n    b: {{ .Values.v }}\n",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: s}\nstringData:\n  v: >-  \n    SEKRET\n    {{ .Values.v }}\n  #w: SEKRET\n",
    ] {
        let stage = released("v: v1.34.1\n", "a: b").file("charts/edge/templates/s.yaml", text);
        let shown = printed(&stage, &["check", "check --output json"]);
        assert!(shown.contains("1 by name only"), "{text}: {shown}");
    }
}

/// In whatever folder: each is built by itself.
#[test]
fn a_file_that_becomes_a_secret_anywhere_is_secret_in_each_config_map() {
    let written =
        "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: s}\nfiles: [x=../c.env]\n";
    for generator in [
        "secretGenerator: [{name: s, envs: [../c.env]}]\n".to_owned(),
        "generators: [s.yaml]\n".to_owned(),
        format!("generators:\n- |\n  {}\n", written.replace('\n', "\n  ")),
    ] {
        let target = "{select: {kind: KubeadmControlPlane}, fieldPaths: [spec.version]}";
        let overlay = format!(
            "resources: [edge.yaml]\nconfigMapGenerator: [{{name: m, envs: [../c.env]}}]\nreplacements: [{{source: {{kind: \
             ConfigMap, name: m, fieldPath: data.A}}, targets: [{target}]}}]\n"
        );
        let cluster =
            crate::support::manifests::cluster("v1.31.8", crate::support::manifests::GOOD);
        let stage = project()
            .file("c.env", "A=v1.31.8-SEKRET\n")
            .file("b/edge.yaml", cluster)
            .file("b/kustomization.yaml", overlay)
            .file("z/s.yaml", written)
            .file("z/kustomization.yaml", generator);
        let shown = printed(&stage, &["check", "check --output json", "images"]);
        assert!(shown.contains("depends on a secret"), "{shown}");
    }
}

/// Values, resources and charts too, wherever the kustomization is, and whatever leads to the file.
#[test]
fn a_file_of_which_a_secret_is_made_is_secret_for_each_reader() {
    let values = "cluster: {k8s_version: SEKRET-1, capm3: {image_key: SEKRET-2}}\n";
    let generator = "secretGenerator: [{name: s, files: [x=../one/values.yaml]}]\n";
    let written = "apiVersion: builtin\nkind: SecretGenerator\nmetadata: {name: s}\nfiles: [x=../one/values.yaml]\n";
    let patch = "patches: [{target: {kind: Secret}, path: ../one/values.yaml}]\n";
    let link = |stage: &Stage, to: &str, at: &str| {
        std::os::unix::fs::symlink(to, stage.path().join(at)).expect("linked");
    };
    let place = |at: &str, text: &str| {
        project()
            .settings("clusters: [{name: edge, values: [one/values.yaml]}]")
            .file("one/values.yaml", values)
            .file(at, text)
    };
    let of_folder = place("apps/kustomization.yaml", "generators: [more]\n")
        .file("apps/more/kustomization.yaml", "resources: [s.yaml]\n")
        .file("apps/more/s.yaml", written);
    let linked = place("apps/other.yaml", generator);
    link(&linked, "other.yaml", "apps/kustomization.yaml");
    let from_link = place(
        "apps/Kustomization",
        "secretGenerator: [{name: s, envs: [a.env]}]\n",
    );
    link(&from_link, "../one/values.yaml", "apps/a.env");
    let to_link = place("apps/kustomization.yml", generator)
        .settings("clusters: [{name: edge, values: [two.yaml]}]");
    link(&to_link, "one/values.yaml", "two.yaml");
    let broken = place("apps/kustomization.yaml", generator);
    broken.write("one/values.yaml", "a: *SEKRET-1\n");
    let lines = ["check", "explain edge", "values edge --raw", "images"];
    for stage in [
        place("apps/kustomization.yaml", generator),
        place(".apps/kustomization.yaml", generator),
        place("apps/kustomization.yaml", patch),
        of_folder,
        linked,
        from_link,
        to_link,
        broken,
    ] {
        let shown = printed(&stage, &lines);
        assert!(
            shown.contains("secret") || shown.contains("alias"),
            "{shown}"
        );
    }
    // Below the top of a repository, at a commit, and of what git tracks.
    let project_file = |values: &str| {
        let clusters = format!("clusters: [{{name: edge, values: [{values}]}}]\n");
        project().file("sub/metalmark.yaml", clusters)
    };
    let above = project_file("../one/values.yaml")
        .file("one/values.yaml", values)
        .file("apps/kustomization.yaml", generator);
    let beside = project_file("link.yaml")
        .file("sub/one/values.yaml", values)
        .file("sub/apps/kustomization.yaml", generator);
    link(&beside, "one/values.yaml", "sub/link.yaml");
    for (stage, file) in [(above, "one/values.yaml"), (beside, "sub/one/values.yaml")] {
        let Some(stage) = stage.commit("one") else {
            return;
        };
        stage.write(file, values.replace("SEKRET-1", "SEKRET-3"));
        for line in ["check", "impact --against HEAD", "impact --output json"] {
            let outcome = stage.run_in("sub", line).outcome;
            let text = outcome.stdout + &outcome.stderr;
            assert!(
                !text.contains("SEKRET") && text.contains("secret"),
                "{line}: {text}"
            );
        }
    }
}

/// The order of its keys is not that of the file, and nobody knows its lines.
#[test]
fn how_a_file_of_secrets_is_written_is_not_known_in_a_chart() {
    for (file, text, version) in [
        (
            "secrets.yaml",
            "b: true\na: false\n",
            "{{ if hasPrefix \"b\" (.Files.Get \"secrets.yaml\") }}v1.34.1{{ end }}",
        ),
        (
            "secrets.yaml",
            "b:\n- x\na: y\n",
            "v1.34.{{ len (.Files.Lines \"secrets.yaml\") }}",
        ),
        (
            "made.yaml",
            "kind: Secret\nstringData:\n  a: |\n    x\n    y\n",
            "v1.34.{{ len (.Files.Lines \"made.yaml\") }}",
        ),
    ] {
        let stage = released("v: v1.34.1\n", "a: b").file(&format!("charts/edge/{file}"), text);
        stage.edit("charts/edge/templates/a.yaml", "{{ .Values.v }}", version);
        let pools = stage.check().pools;
        assert_eq!(
            pools,
            ["paris/edge: unknown (its chart does not render)"],
            "{version}"
        );
    }
}

/// Its name says nothing of what it holds.
#[test]
fn a_template_that_a_secret_and_another_object_include_is_secret_in_both() {
    let secret = "apiVersion: v1\nkind: Secret\nmetadata: {name: {{ include \"name\" . }}}\nstringData:\n  v: {{ include \"v\" . }}\n  \
                  host: {{ include \"name\" . }}\n";
    let stage = released("v: v1.34.1\n", "a: b")
        .file("charts/edge/templates/s.yaml", secret)
        .file(
            "charts/edge/templates/_s.tpl",
            "{{ define \"v\" }}{{ template \"inner\" . }}{{ end }}{{ define \"inner\" }}v1.34.1-SEKRET{{ end }}\n\
             {{ define \"name\" }}edge-{{ .Values.v }}{{ end }}\n",
        );
    let template = "charts/edge/templates/a.yaml";
    stage.edit(template, "{{ .Values.v }}", "{{ include \"v\" . }}");
    let lines = ["check", "check --output json", "explain edge", "images"];
    printed(&stage, &lines);
    stage.check().pools(str![[r#"
edge/control-plane: unknown (its image or version depends on a secret)

"#]]);
    // A name is none, wherever else it is.
    stage.edit(
        template,
        "{{ include \"v\" . }}",
        "{{ include \"name\" . | trimPrefix \"edge-\" }}",
    );
    stage.check().pools(str![[r#"
edge/control-plane v1.34.1 (charts/edge/values.yaml:1:4): by_name, ubuntu-2204-kube-v1.34.1 (charts/edge/templates/a.yaml:11:49) holds 1.34.1

"#]]);
}

/// A function that looks at a text has the text: only what is passed along is a label.
#[test]
fn the_arguments_of_a_secret_in_a_chart_are_secret_unless_something_looks_at_them() {
    for value in [
        "{{ b64enc \"SEKRET\" }}",
        "{{ printf \"%s-%s\" .Values.v \"SEKRET\" | quote }}",
        "{{ .Values.none | default \"SEKRET\" }}",
        "{{ if eq .Values.v \"v1.34.1\" }}SEKRET{{ else }}{{ .Values.none | required \"SEKRET\" }}{{ end }}",
        "{{ (dict \"v\" \"SEKRET\").v }}",
        "{{ eq .Values.none \"\" | ternary \"SEKRET\" (trimSuffix \"-\" \"SEKRET-\") }}",
    ] {
        let secret = format!("kind: Secret\nstringData:\n  v: {value}\n");
        let define = format!("{{{{ define \"s\" }}}}\n{secret}{{{{ end }}}}");
        let stage =
            released("v: v1.34.1\nnone: ''\n", "a: b").file("charts/edge/templates/_s.tpl", define);
        stage.edit(
            "charts/edge/templates/a.yaml",
            "{{ .Values.v }}",
            "{{ (include \"s\" . | fromYaml).stringData.v }}",
        );
        printed(&stage, &["check", "explain edge", "images"]);
        let pools = stage.check().pools;
        assert_eq!(
            pools,
            ["edge/control-plane: unknown (its image or version depends on a secret)"],
            "{value}"
        );
    }
}

/// Its text is in the file of values itself, which `--raw` and each quoted line would show.
#[test]
fn a_secret_that_an_expression_makes_is_not_printed_as_it_is_written_either() {
    for made in [
        "{{ dict \"kind\" \"Secret\" \"stringData\" (dict \"user\" \"SEKRET\" \"pw\" \"SEKRET\") | toJson }}",
        "{{ dict \"stringData\" (dict \"pw\" \"SEKRET\") \"kind\" \"Secret\" | toYaml }}",
        "{{ printf \"kind: Secret\\nstringData: {pw: %s}\" \"SEKRET\" }}",
        "{{ $s := dict \"kind\" \"Secret\" }}{{ $_ := set $s \"data\" (dict \"pw\" (b64enc \"SEKRET\")) }}{{ toYaml $s }}",
        "{{ `{\"kind\": \"Secret\", \"data\": {\"pw\": \"SEKRET\"}}` | fromJson | toYaml }}",
        "{{ nosuch \"kind\" \"Secret\" \"data\" (dict \"pw\" \"SEKRET\") }}",
        "{{ dict \"kind\" \"Secret\" \"stringData\" (dict \"pw\" \"SEKRET\")",
    ] {
        let stage = project().cluster(
            "edge",
            &format!("{{cluster: {{k8s_version: [], capm3: {{image_key: a}}}}, made: '{made}', other: '{{{{ .Values.made }}}}'}}\n"),
        );
        let shown = printed(&stage, &LINES);
        printed(
            &stage,
            &[
                "values edge made --why",
                "values edge other --why",
                "values edge made",
            ],
        );
        assert!(
            shown.contains("<secret edge.yaml: made>"),
            "{made}: {shown}"
        );
    }
}

/// What a bootstrap configuration says of a user is in no Secret.
#[test]
fn the_password_of_a_user_of_machines_is_a_secret_and_words_for_one_are_none() {
    let cluster = |password: &str| {
        let cluster =
            crate::support::manifests::cluster("v1.31.8", crate::support::manifests::GOOD);
        let users = format!(
            "spec:\n  kubeadmConfigSpec: {{users: [{{name: token-{password}, passwd: SEKRET-{password}}}]}}\n  replicas: 3\n"
        );
        cluster.replace("spec:\n  replicas: 3\n", &users)
    };
    let Some(stage) = project().file("edge.yaml", cluster("one")).commit("one") else {
        return;
    };
    stage.write("edge.yaml", cluster("two"));
    let shown = printed(&stage, &["impact", "impact --output json"]);
    assert!(shown.contains("\"to\": \"token-two\""), "{shown}");
}
