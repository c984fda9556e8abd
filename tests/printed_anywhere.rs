//! Random secrets at random places of every kind of input, through every command that prints what a project holds: no part of one is
//! printed, before and after it changes.

use data_encoding::BASE64;
use proptest::prelude::{Strategy, prop};

use super::support::lsp::Client;
use super::support::seen::Seen;
use super::support::stage::{Stage, project};

/// Where a secret is put.
#[derive(Clone, Copy, Debug)]
struct Spot {
    /// What it is.
    name: &'static str,
    file: &'static str,
    /// What the file holds: `SEKRET` is the secret, `BASE64` the same in base64, `KEY` a key of the values.
    text: &'static str,
}

const fn spot(name: &'static str, file: &'static str, text: &'static str) -> Spot {
    Spot { name, file, text }
}

/// Layers of the values of `mgmt`, each with a key of its own.
const LAYERS: [Spot; 14] = [
    spot(
        "a value of an environment's secrets",
        "environment-values/mgmt/secrets.yaml",
        "KEY: SEKRET\n",
    ),
    spot(
        "a list in a folder of secrets",
        "secrets/all.yaml",
        "KEY: {a: [1, {b: 'SEKRET'}]}\n",
    ),
    spot(
        "values that SOPS encrypts",
        "sops.yaml",
        "KEY: ENC[AES256_GCM,data:SEKRET,type:str]\nplain: SEKRET\nsops: {version: 3.9.0, mac: a}\n",
    ),
    spot(
        "a Secret in a string",
        "string.yaml",
        "KEY:\n- |\n  kind: Secret\n  stringData:\n    a: SEKRET\n",
    ),
    spot(
        "a Secret in JSON",
        "json.yaml",
        "KEY: '{\"kind\": \"Secret\", \"data\": {\"a\": \"BASE64\"}}'\n",
    ),
    spot(
        "a Secret in a map",
        "map.yaml",
        "KEY: {s: {kind: Secret, data: {a: BASE64}}}\n",
    ),
    spot(
        "a Secret that an expression makes",
        "dict.yaml",
        "KEY: '{{ dict \"kind\" \"Secret\" \"stringData\" (dict \"pw\" \"SEKRET\") | toJson }}'\n",
    ),
    spot(
        "a Secret that an expression prints",
        "printf.yaml",
        "KEY: '{{ printf \"kind: Secret\\nstringData: {a: %s}\" \"SEKRET\" }}'\n",
    ),
    spot(
        "a Secret that an expression changes",
        "set.yaml",
        "KEY: '{{ $s := dict \"kind\" \"Secret\" }}{{ $_ := set $s \"data\" (dict \"pw\" (b64enc \"SEKRET\")) }}{{ toYaml $s }}'\n",
    ),
    spot(
        "an expression that is none",
        "none.yaml",
        "KEY: '{{ nosuch \"Secret\" \"stringData\" (dict \"pw\" \"SEKRET\") }}'\n",
    ),
    spot(
        "a kubeconfig in values",
        "kube.yaml",
        "KEY: {contexts: [], users: [{user: {token: SEKRET}}]}\n",
    ),
    spot(
        "a private key",
        "pem.yaml",
        "KEY: |\n  -----BEGIN RSA PRIVATE KEY-----\n  SEKRET\n  -----END RSA PRIVATE KEY-----\n",
    ),
    spot(
        "passwords of a cloud-config",
        "cloud.yaml",
        "KEY: |\n  #cloud-config\n  chpasswd: {list: 'root:SEKRET'}\n  users: [{hashed_passwd: SEKRET, plain_text_passwd: SEKRET}]\n",
    ),
    spot(
        "a secret that names an image",
        "own-secret.yaml",
        "KEY: SEKRET\ncluster: {capm3: {image_key: '{{ .Values.KEY }}'}}\n",
    ),
];

/// Files in the repository.
const FILES: [Spot; 19] = [
    spot(
        "a Secret",
        "apps/secret.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {a: SEKRET}\n",
    ),
    spot(
        "a Secret in base64",
        "apps/data.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: b}\ndata: {a: BASE64}\n",
    ),
    spot(
        "a list of Secrets",
        "apps/list.yaml",
        "apiVersion: v1\nkind: SecretList\nitems: [{metadata: {name: c}, data: {a: BASE64}}]\n",
    ),
    spot(
        "an object that SOPS encrypts",
        "apps/sops.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata: {a: SEKRET}\nsops: {version: 3.9.0, mac: a}\n",
    ),
    spot(
        "a kubeconfig",
        "apps/kube.yaml",
        "apiVersion: v1\nkind: Config\nusers: [{name: me, user: {token: SEKRET}}]\n",
    ),
    spot(
        "a password of a machine's user",
        "apps/users.yaml",
        "apiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: e}\nspec: {template: {spec: {users: \
         [{name: me, passwd: SEKRET}]}}}\n",
    ),
    spot(
        "variables that SOPS encrypts",
        "apps/.env",
        "VERSION=ENC[AES256_GCM,data:SEKRET,iv:a,tag:b,type:str]\n",
    ),
    spot(
        "a literal of a generator",
        "gen/literal/kustomization.yaml",
        "secretGenerator: [{name: f, literals: ['a=SEKRET']}]\n",
    ),
    spot(
        "a file of a generator",
        "gen/file/kustomization.yaml",
        "generators:\n- |\n  apiVersion: builtin\n  kind: SecretGenerator\n  metadata: {name: g}\n  literals: ['a=SEKRET']\n",
    ),
    spot("variables of a generator", "gen/env/all.env", "a=SEKRET\n"),
    spot(
        "a patch of a Secret",
        "gen/patch/kustomization.yaml",
        "patches: [{target: {kind: Secret}, patch: 'stringData: {a: SEKRET}'}]\n",
    ),
    spot(
        "values of a release in a Secret",
        "apps/values.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: made, namespace: clusters}\nstringData: {values.yaml: 'v: v1.34.1-SEKRET'}\n",
    ),
    spot(
        "a text of a chart",
        "charts/edge/templates/text.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: h}\nstringData:\n  a: SEKRET\n  b: {{ nosuch }}\n",
    ),
    spot(
        "an argument in a chart",
        "charts/edge/templates/argument.yaml",
        "apiVersion: v1\nkind: Secret\nmetadata: {name: i}\ndata:\n  a: {{ b64enc \"SEKRET\" }}\n  b: {{ .Values.none | default \"SEKRET\" | b64enc }}\n",
    ),
    spot(
        "a map that a chart makes",
        "charts/edge/templates/map.yaml",
        "{{ dict \"apiVersion\" \"v1\" \"kind\" \"Secret\" \"stringData\" (dict \"pw\" \"SEKRET\") | toYaml }}\n",
    ),
    spot(
        "a template that a Secret includes",
        "charts/edge/templates/_included.tpl",
        "{{ define \"pw\" }}v1.34.1-SEKRET{{ end }}",
    ),
    spot(
        "a template that such a template includes",
        "charts/edge/templates/_outer.tpl",
        "{{ define \"pw\" }}{{ include \"inner\" . | quote }}{{ end }}{{ define \"inner\" }}{{ \"v1.34.1-SEKRET\" }}{{ end }}",
    ),
    spot(
        "values of a chart",
        "charts/edge/values.yaml",
        "v: v1.34.1\nextra:\n- |\n  kind: Secret\n  stringData: {a: SEKRET}\n",
    ),
    spot(
        "a file in a chart",
        "charts/edge/secrets.yaml",
        "v: v1.34.1-SEKRET\n",
    ),
];

const CHART: &str = "apiVersion: v1
kind: Secret
metadata: {name: {{ .Release.Name }}}
stringData:
  a: {{ include \"pw\" . | quote }}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {name: {{ .Release.Name }}, labels: {cluster.x-k8s.io/cluster-name: edge}}
spec:
  version: {{ include \"pw\" . | quote }}
  machineTemplate: {infrastructureRef: {apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: OpenStackMachineTemplate, name: a}}
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: OpenStackMachineTemplate
metadata: {name: a}
spec: {template: {spec: {image: {filter: {name: 'ubuntu-{{ (.Files.Get \"secrets.yaml\" | fromYaml).v }}'}}}}}
";

const RELEASE: &str = "apiVersion: helm.toolkit.fluxcd.io/v2
kind: HelmRelease
metadata: {name: edge, namespace: clusters}
spec:
  chart: {spec: {chart: charts/edge, sourceRef: {kind: GitRepository, name: fleet}}}
  valuesFrom: [{kind: Secret, name: made, optional: true}]
";

const VALUES: &str = "cluster: {k8s_version: v1.31.8+rke2r1, capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}, capm3: {image_key: \
                      noble-31}}\n";

/// What prints, with a value of its own for each layer.
const LINES: [&str; 15] = [
    "check",
    "check --output json",
    "check --report sarif=sarif.report",
    "render --check",
    "values mgmt",
    "values mgmt --raw",
    "values mgmt --origin --output json",
    "explain mgmt",
    "explain edge --output json",
    "images --output json",
    "clusters --output json",
    "impact --output json",
    "impact",
    "page --against HEAD --to page.report",
    "plan --to 1.32 --output json",
];

/// The key of a layer.
fn key(index: usize) -> String {
    format!("layer_{index}")
}

/// Writes these secrets where they are put.
fn place(stage: &Stage, spots: &[(usize, Spot)], secret: &str) {
    for (index, spot) in spots {
        let encoded = BASE64.encode(secret.as_bytes());
        let key = key(*index);
        let text = spot
            .text
            .replace("SEKRET", secret)
            .replace("BASE64", &encoded)
            .replace("KEY:", &format!("{key}:"))
            .replace(".KEY ", &format!(".{key} "));
        stage.write(spot.file, text);
    }
}

/// What must not be printed of a secret: any part of it, in whatever case, and what encodes it.
fn parts(secret: &str) -> Vec<String> {
    let letters: Vec<char> = secret.chars().collect();
    let parts = letters.windows(7).map(|part| part.iter().collect());
    let all = [
        BASE64.encode(secret.as_bytes()),
        secret.to_lowercase(),
        secret.to_uppercase(),
    ];
    parts.chain(all).collect()
}

#[test]
fn no_secret_that_is_put_anywhere_is_printed() {
    let all: Vec<Spot> = LAYERS.into_iter().chain(FILES).collect();
    let names = all.iter().map(|spot| spot.name);
    let names: Vec<&'static str> = names.chain(["printed as a label"]).collect();
    let seen = Seen::new(&names);
    let chosen = prop::collection::vec(prop::bool::weighted(0.7), all.len());
    let secret = "[A-Za-z][A-Za-z0-9_]{14,18}[A-Za-z]";
    let cases = (chosen, secret, secret).prop_map(|(chosen, before, after)| {
        let spots = all.iter().copied().enumerate().zip(chosen);
        let spots = spots.filter_map(|(spot, is_chosen)| is_chosen.then_some(spot));
        (spots.collect::<Vec<_>>(), before, after)
    });
    seen.property(3, 1, &cases, |(spots, before, after)| {
        let layers = spots.iter().filter(|(index, _)| *index < LAYERS.len());
        let files: Vec<&str> = layers.clone().map(|(_, spot)| spot.file).collect();
        let stage = project()
            .catalog(&["noble-31 rke2 1.31.8+rke2r1"])
            .settings(&format!(
                "manifests: [.]\nclusters: [{{name: mgmt, values: [base.yaml, {}]}}]\nimages: {{url: 'oci://r.example/os:1'}}\noutputs: [{{target: manifests, path: rendered}}]",
                files.join(", ")
            ))
            .file("base.yaml", VALUES)
            .file("apps/release.yaml", RELEASE)
            .file(
                "apps/edge.yaml",
                crate::support::manifests::cluster("${VERSION}", crate::support::manifests::GOOD),
            )
            .file(
                "gen/env/kustomization.yaml",
                "secretGenerator: [{name: s, envs: [all.env]}]\n",
            )
            .file(
                "charts/edge/Chart.yaml",
                "apiVersion: v2\nname: edge\nversion: 1.0.0\n",
            )
            .file("charts/edge/templates/a.yaml", CHART);
        place(&stage, &spots, &before);
        let Some(stage) = stage.commit("before") else {
            return names.iter().for_each(|name| seen.note(name));
        };
        place(&stage, &spots, &after);
        let hidden: Vec<String> = [before, after]
            .iter()
            .flat_map(|secret| parts(secret))
            .collect();
        let layers = layers.map(|(index, _)| format!("values mgmt {} --why", key(*index)));
        let lines: Vec<String> = LINES.into_iter().map(str::to_owned).chain(layers).collect();
        let mut printed = String::new();
        let mut note = |line: &str, text: String| {
            for part in &hidden {
                assert!(!text.contains(part), "{line}: {part} is printed\n{text}");
            }
            printed += &text;
        };
        for line in &lines {
            let outcome = stage.run(line).outcome;
            assert!(outcome.status < 2, "{line}: {}", outcome.stderr);
            note(line, outcome.stdout + &outcome.stderr);
        }
        for report in ["sarif.report", "page.report"] {
            note(report, stage.read(report));
        }
        let open: Vec<&str> = spots.iter().map(|(_, spot)| spot.file).collect();
        let mut client = Client::start(&stage, &open);
        for (_, Spot { file, .. }) in &spots {
            let (found, symbols) = (client.settled(file), client.symbols(file));
            let text = stage.read(file);
            let first = format!("|{}", text.lines().next().unwrap_or_default());
            let hover = client.hover(file, &first);
            note(file, format!("{found:?} {} {hover}", symbols.len()));
        }
        for (_, Spot { name, file, .. }) in &spots {
            seen.note(name);
            seen.note_if(
                printed.contains(&format!("<secret {file}")),
                "printed as a label",
            );
        }
    });
}
