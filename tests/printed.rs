//! What is printed, by every command in every format: no secret, and nothing that a terminal, a log or a code host obeys.
//!
//! Markers are in every kind of secret, and hostile text in everything that a stranger can write.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use metalmark::printer::is_unsafe;
use yaml_tree::bytes::BASE64;

use super::git;
use super::support::registry::{Registry, fault};
use super::support::{Metalmark, Outcome, copy_into, repository};

/// In each secret text, and in nothing else.
const SECRET: &str = "SEKRET";

/// The secret password, which expressions change.
const PASSWORD: &str = "SEKRET-text-1";

/// What numbers of secrets say, and what they read as.
const NUMBERS: [&str; 6] = [
    "08675309123",
    "8675309123",
    "04775",
    "2557",
    "1_234_567",
    "1234567",
];

/// What a stranger writes.
const HOSTILE: &str = "x\u{1b}[31m\u{9b}7m\u{202e}\u{2028}`a` @all #1 ![i](http://e/x.png) | \\| @all <b>\n::error::pwned\n \u{a0}::stop-commands::t ##[error]pwned";

/// The same in a YAML string.
fn hostile() -> String {
    yaml_tree::quote(HOSTILE).into_owned()
}

/// Each command by the name of its manual page, with the lines that are run. Behind `>` its stdout is the product: manifests
/// with what belongs into them, or text that a shell reads.
const LINES: [(&str, &[&str]); 28] = [
    (
        "check",
        &[
            "check",
            "check --report sarif=sarif.report --report markdown=markdown.report --report junit=junit.report",
        ],
    ),
    ("render", &["render", "render --check", ">render --stdout"]),
    ("lock", &["lock", "lock --check"]),
    ("verify", &["verify"]),
    (
        "update",
        &[
            "update 9.9.9 --images metalmark.yaml --check",
            "update 9.9.9",
        ],
    ),
    ("images", &["images"]),
    ("impact", &["impact", "impact HEAD --against HEAD"]),
    (
        "page",
        &[
            "page --to page.report",
            "page --against HEAD --to page.report",
        ],
    ),
    (
        "explain",
        &[
            "explain mgmt",
            "explain edge-hostile",
            "explain mgmt/nothing",
            "explain ubuntu-noble-plain-rke2-1-31-8",
            "explain hostile",
            "explain nothing",
        ],
    ),
    (
        "values",
        &[
            "values mgmt",
            "values mgmt --origin",
            "values mgmt --raw",
            "values mgmt cluster --why",
            "values mgmt cluster.k8s_version --why",
            "values mgmt password --why",
            "values mgmt failing",
            "values mgmt pin.nothing",
            "values mgmt nothing",
            "values edge-hostile",
            "values edge-hostile --origin",
        ],
    ),
    ("plan", &["plan --to 1.32", "plan --to 1.32 --output json"]),
    ("stamp", &["stamp", "stamp --check", "stamp --set-version"]),
    ("fn", &[">fn"]),
    ("cmp", &[]),
    ("cmp-generate", &[">cmp generate"]),
    ("cmp-discover", &["cmp discover"]),
    ("cmp-parameters", &["cmp parameters"]),
    ("cmp-plugin-config", &["cmp plugin-config"]),
    (
        "cmp-simulate",
        &[
            ">cmp simulate --app application.yaml",
            "cmp simulate --app secret.yaml",
        ],
    ),
    ("registry", &[]),
    (
        "registry-ls",
        &[
            "registry ls HOST/a",
            "registry ls HOST/faulty",
            "registry ls HOST",
        ],
    ),
    (
        "registry-facts",
        &[
            "registry facts HOST/a:1",
            "registry facts HOST/faulty:1",
            "registry facts oci://user:SEKRET-typed@HOST/a:1",
        ],
    ),
    ("init", &["init --dry-run", "init --pre-commit --dry-run"]),
    // Its messages are compared in tests/lsp.
    ("lsp", &[]),
    ("schema", &["schema"]),
    ("man", &[">man"]),
    ("completions", &[">completions bash"]),
    ("bundle", &[]),
];

/// The commands of bundles.
const BUNDLES: [(&str, &[&str]); 6] = [
    (
        "bundle-pack",
        &[
            "bundle pack manifests --to out.tgz",
            "bundle pack --to out.tgz",
            "bundle pack hostile.yaml --to out.tgz",
        ],
    ),
    ("bundle-unpack", &["bundle unpack good.tgz --to unpacked"]),
    ("bundle-inspect", &["bundle inspect good.tgz"]),
    (
        "bundle-push",
        &[
            "bundle push manifests oci://HOST/faulty:1 --sign-key key.pem",
            "bundle push manifests oci://HOST/b:1",
        ],
    ),
    (
        "bundle-pull",
        &["bundle pull oci://HOST/faulty:1 --to pulled"],
    ),
    (
        "bundle-verify",
        &["bundle verify oci://HOST/faulty:1 --key key.pem"],
    ),
];

const SECRETS: &str = "\
password: SEKRET-text-1
lines: |
  SEKRET-line-one
  second SEKRET-line
pin: 08675309123
mode: 04775
grouped: 1_234_567
SEKRET-key.1: {a: 1}
cluster:
  machine_deployments:
    SEKRET-pool-1: {replicas: 1, capm3: {hostSelector: {matchLabels: {cluster-role: worker}}}}
";

/// Values that expressions make of secrets; each is read.
const MADE: &str = "
cluster_virtual_ip: 192.0.2.10
failing: '{{ fail (.Values.password | b64enc) }}'
cluster:
  k8s_version: '{{ .Values.pin }}'
  capm3: {image_key: '{{ .Values.password | upper | b64enc }}'}
  control_plane:
    k8s_version: '{{ .Values.mode }}'
    capm3: {image_key: '{{ .Values.password }}'}
  machine_deployments:
    md0: {k8s_version: '{{ .Values.grouped }}', capm3: {machine_image_url: 'https://user:SEKRET-url-1@images.example.org/x.raw'}}
    md1: {k8s_version: '{{ .Values.sops_plain }}', capm3: {image_key: '{{ .Values.linked }}'}}
    md2: {k8s_version: '{{ .Values.below }}', capm3: {os_image_selector: {os: '{{ .Values.lines }}'}}}
    md3: {k8s_version: '{{ .Values.password | trunc 9 }}-{{ fail .Values.password }}'}
    md4: {capm3: {image_key: '{{ .Values.encrypted }}'}}
os_images:
  secret-uri: {uri: 'oci://user:SEKRET-url-2@registry.example.org/a:1', filename: a.raw, sha256: '{{ .Values.password }}'}
";

const OBJECTS: &str = "\
apiVersion: v1
kind: Secret
metadata: {name: a}
stringData: {password: SEKRET-object-1, 'n': 48151623}
data: {password: U0VLUkVULW9iamVjdC0y}
---
apiVersion: v1
kind: Config
users: [{name: me, user: {token: SEKRET-token-1}}]
---
apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
kind: Metal3MachineTemplate
metadata:
  name: a
  annotations: {metalmark.dev/image: SEKRET-object-2}
spec: {template: {spec: {image: {url: 'https://user:SEKRET-url-3@images.example.org/x', checksum: x}}}}
";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a folder")).expect("created");
    fs::write(path, text).expect("written");
}

/// Adds to a project what a stranger and a careless person write.
fn spoil(folder: &Path, host: &str) {
    let hostile = hostile();
    let project = folder.join("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("the project");
    let text = text
        .replace(
            "      - environment-values/mgmt/values.yaml\n",
            "      - environment-values/mgmt/values.yaml\n      - sops.yaml\n      - link.yaml\n      - secrets/below.yaml\n      \
             - made.yaml\n",
        )
        .replace(
            "the lab's old image server publishes checksum files only",
            &hostile,
        )
        .replace(
            "registries:\n",
            &format!("registries:\n  hosts: {{\"{host}\": {{plain-http: true}}}}\n"),
        );
    let own = "manifests: [manifests, hostile.yaml]\n";
    write(&project, &format!("{text}{own}"));
    let values = |path: &str, text: &str| write(&folder.join(path), text);
    values("environment-values/mgmt/secrets.yaml", SECRETS);
    values("made.yaml", MADE);
    values(
        "sops.yaml",
        "sops_plain: SEKRET-sops-1\nencrypted: ENC[AES256_GCM,data:SEKRET,type:str]\nsops: {version: 3.9.0, mac: x}\n",
    );
    values("real-secret.yaml", "linked: SEKRET-linked-1\n");
    symlink("real-secret.yaml", folder.join("link.yaml")).expect("linked");
    values("secrets/below.yaml", "below: SEKRET-below-1\n");
    values("manifests/objects.yaml", OBJECTS);
    values(
        "environment-values/workload-clusters/edge-broken/values.yaml",
        &format!(
            "{hostile}: 1\n{hostile}: 2\ncluster: {{k8s_version: {hostile}, capm3: {{image_key: {hostile}}}}}\n"
        ),
    );
    values(
        "environment-values/workload-clusters/edge-hostile/values.yaml",
        &format!(
            "on: yes\ncluster:\n  k8s_version: {hostile}\n  capm3: {{image_key: {hostile}, machine_image_checksum: {hostile}}}\n  \
             machine_deployments: {{{hostile}: {{k8s_version: {hostile}, capm3: {{os_image_selector: {{os: {hostile}}}}}}}}}\n\
             os_images: {{{hostile}: {{uri: {hostile}, os: {hostile}}}, hostile: {{uri: 'oci://a/b:1', filename: {hostile}}}}}\n"
        ),
    );
    let name = "environment-values/workload-clusters/\u{1b}[31m @all `x` ##[error]x/values.yaml";
    values(name, "cluster: {k8s_version: 1}\n");
    values(
        "hostile.yaml",
        &format!(
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata:\n  name: {hostile}\n  \
             annotations: {{metalmark.dev/image: {hostile}}}\nspec: {{template: {{spec: {{image: {{url: {hostile}}}}}}}}}\n"
        ),
    );
    values("secret.yaml", "a: *SEKRET-anchor\nb: [SEKRET-broken\n");
    values(
        "application.yaml",
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: mgmt}\nspec: {source: {path: .}}\n",
    );
    values(
        "key.pem",
        "-----BEGIN PRIVATE KEY-----\nSEKRETKEY\n-----END PRIVATE KEY-----\n",
    );
    values(
        "home/.docker/config.json",
        &format!(
            "{{\"auths\":{{\"{host}\":{{\"auth\":\"{}\"}}}}}}",
            BASE64.encode(b"me:SEKRET-login-1")
        ),
    );
}

/// A registry whose answers repeat what it was sent, and say what a stranger would.
fn registry() -> Registry {
    let registry = Registry::plain();
    registry.image(
        "a",
        "1",
        &[
            ("sylvaproject.org/diskimage/os", HOSTILE),
            (HOSTILE, HOSTILE),
        ],
    );
    registry.image("a", "##[error]x", &[]);
    registry.hook(|request, _| {
        let proof = request.header("authorization").unwrap_or_default();
        let message = format!("{HOSTILE} {proof} me:SEKRET-login-1");
        if request.path.contains("faulty") {
            Some(fault(400, "DENIED", &message))
        } else {
            None
        }
    });
    registry
}

fn run(folder: &Path, line: &str, host: &str) -> Outcome {
    let home = folder.join("home").to_string_lossy().into_owned();
    let path = std::env::var("PATH").unwrap_or_default();
    let line = line.replace("HOST", host);
    let run = Metalmark::within(folder).args(line.split(' ')).envs(&[
        ("PATH", &path),
        ("HOME", &home),
        ("ARGOCD_APP_NAME", "mgmt"),
        ("ARGOCD_APP_SOURCE_PATH", "."),
        ("SOURCE_DATE_EPOCH", "1795219200"),
    ]);
    match line.split(' ').next() {
        Some("fn") => {
            let more = fs::read_to_string(folder.join("hostile.yaml")).unwrap_or_default();
            let objects = format!("{OBJECTS}---\n{more}");
            let items: Vec<String> = objects
                .split("---\n")
                .filter(|item| !item.is_empty())
                .map(|item| format!("- {}", item.trim_end().replace('\n', "\n  ")))
                .collect();
            let items = items.join("\n");
            run.run_with(&format!(
                "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}\nfunctionConfig: {{kind: MetalmarkTransformer, \
                 apiVersion: metalmark.dev/v1, metadata: {{name: {}}}}}\n",
                hostile()
            ))
        }
        _ => run.run(),
    }
}

/// The formats of a line: those that it lists when it is given another one.
fn formats(folder: &Path, line: &str, host: &str) -> Vec<String> {
    let refused = run(folder, &format!("{line} --output nonsense"), host).stderr;
    let listed = refused.split_once("[possible values: ");
    let listed = listed.and_then(|(_, rest)| rest.split_once(']'));
    match listed {
        Some((names, _)) => names
            .split(", ")
            .map(|name| format!("{line} --output {name}"))
            .collect(),
        None => vec![line.to_owned()],
    }
}

/// Everything that must not be in an output, found there.
fn faults(text: &str, format: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let encoded = BASE64.encode(PASSWORD.to_uppercase().as_bytes());
    let texts = [
        SECRET,
        "48151623",
        &encoded,
        &BASE64.encode(PASSWORD.as_bytes()),
    ];
    for secret in texts.into_iter().chain(NUMBERS) {
        for line in text.lines().filter(|line| line.contains(secret)) {
            faults.push(format!("the secret {secret}: {line}"));
        }
    }
    if let Some(letter) = text
        .chars()
        .find(|letter| !"\n\t".contains(*letter) && is_unsafe(*letter))
    {
        faults.push(format!("the character {letter:?}"));
    }
    for line in text.lines() {
        let start = line.trim_start();
        let is_own = start.starts_with("::: ")
            || format == "github"
                && (line.starts_with("::error file=") || line.starts_with("::warning file="));
        if start.starts_with("::") && !is_own || line.contains("##[") {
            faults.push(format!("a command: {line}"));
        }
    }
    if format == "markdown" {
        // Outside of code.
        for line in text.lines() {
            let parts = line.split('`').step_by(2);
            let outside = parts.collect::<String>();
            for markup in ["@all", "![", "](", "<b>", "http://"] {
                if outside.contains(markup) {
                    faults.push(format!("the markup {markup}: {line}"));
                }
            }
        }
    }
    faults
}

/// What is wrong with the outputs of a line, in each format.
fn faults_of(folder: &Path, line: &str, host: &str) -> Vec<String> {
    let (is_product, line) = match line.strip_prefix('>') {
        Some(line) => (true, line),
        None => (false, line),
    };
    let mut found = Vec::new();
    for line in formats(folder, line, host) {
        let outcome = run(folder, &line, host);
        let format = line
            .rsplit_once("--output ")
            .map_or("human", |(_, name)| name);
        if is_product {
            assert!(
                outcome.status != 2 || line.contains("cmp simulate"),
                "{line}: {}",
                outcome.stderr
            );
        } else {
            found.extend(faults(&outcome.stdout, format));
        }
        // Where a command prints an answer, findings beside it are for people.
        let is_report = format == "github";
        found.extend(faults(
            &outcome.stderr,
            if is_report { format } else { "human" },
        ));
        let reports = fs::read_dir(folder).expect("the folder").flatten();
        for report in
            reports.filter(|file| file.path().extension().is_some_and(|it| it == "report"))
        {
            let text = fs::read_to_string(report.path()).expect("a report");
            let name = report.file_name().to_string_lossy().into_owned();
            found.extend(faults(&text, name.trim_end_matches(".report")));
            fs::remove_file(report.path()).expect("removed");
        }
        for fault in &mut found {
            if !fault.starts_with("metalmark ") {
                *fault = format!("metalmark {line}: {fault}");
            }
        }
    }
    found
}

fn project() -> Option<tempfile::TempDir> {
    let scratch = git::repository()?;
    copy_into(
        &repository().join("fixtures/workspaces/sylva-baremetal"),
        scratch.path(),
    );
    git::commit(scratch.path(), HOSTILE);
    Some(scratch)
}

#[test]
fn no_command_prints_a_secret_or_what_somebody_obeys() {
    let Some(scratch) = project() else { return };
    let (folder, registry) = (scratch.path(), registry());
    let packed = run(
        folder,
        "bundle pack os-images-info.yaml --kind artifact --to good.tgz",
        "",
    );
    assert_eq!(packed.status, 0, "{}", packed.stderr);
    spoil(folder, &registry.host());
    git::git(folder, &["branch", "-m", "main", "##x@all`b`"]);
    let lines = LINES.iter().chain(&BUNDLES).flat_map(|(_, lines)| *lines);
    let found = lines.flat_map(|line| faults_of(folder, line, &registry.host()));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    // What was planted is found.
    let checked = run(folder, "check", "");
    assert_eq!(checked.status, 1, "{}", checked.stderr);
    for word in ["mgmt", "edge-hostile", "SEKRET"] {
        assert_eq!(
            checked.stdout.contains(word),
            word != "SEKRET",
            "{}",
            checked.stdout
        );
    }
}

#[test]
fn no_command_that_succeeds_prints_a_secret() {
    let Some(scratch) = project() else { return };
    let (folder, registry) = (scratch.path(), registry());
    let project = folder.join("metalmark.yaml");
    let text = fs::read_to_string(&project).expect("the project");
    let layers = "      - environment-values/mgmt/values.yaml\n";
    let text = text.replace(
        layers,
        &format!("{layers}      - made.yaml\n      - sops.yaml\n"),
    );
    let text = text.replace(
        "    lab-*: {",
        "    mgmt: {k8s-version-unproven: warning}\n    lab-*: {",
    );
    write(&project, &format!("{text}manifests: [manifests]\n"));
    let secrets = "password: SEKRET-text-1\nmode: 04775\ncluster: {baremetal_hosts: {SEKRET-host-1: {user: 08675309123}}}\n";
    write(
        &folder.join("environment-values/mgmt/secrets.yaml"),
        secrets,
    );
    write(
        &folder.join("sops.yaml"),
        "plain: SEKRET-sops-1\nsops: {version: 3.9.0, mac: x}\n",
    );
    let made = "cluster:\n  machine_deployments:\n    md0:\n      replicas: 3\n      capm3:\n        hostSelector: {matchLabels: {role: \
                '{{ .Values.password | b64enc }}', mode: '{{ .Values.mode }}', more: '{{ .Values.plain }}'}}\n    md7:\n      replicas: \
                1\n      capm3: {image_key: null, os_image_selector: null, machine_image_url: \
                'https://user:SEKRET-url-1@images.example.org/x.raw', machine_image_checksum: \
                '6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164', machine_image_checksum_type: sha256, \
                machine_image_format: raw, hostSelector: {matchLabels: {cluster-role: worker}}}\n";
    write(&folder.join("made.yaml"), made);
    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: a, namespace: b, \
                    annotations: {metalmark.dev/image: ubuntu-noble-plain-rke2-1-31-8}}\nspec:\n  template:\n    spec:\n      image:\n        \
                    url: https://user:SEKRET-url-3@images.example.org/x\n        checksum: x\n---\napiVersion: v1\nkind: Secret\n\
                    metadata: {name: a, namespace: b}\nstringData: {password: SEKRET-object-1}\n";
    write(&folder.join("manifests/a.yaml"), template);
    let mut found = Vec::new();
    for (line, status) in [
        ("check", 0),
        ("impact", 0),
        ("images", 0),
        ("explain mgmt", 0),
        ("values mgmt", 0),
        ("stamp --check", 1),
        ("render --check", 1),
        ("lock", 0),
        ("render", 0),
        ("verify", 0),
        ("bundle pack --to out.tgz", 0),
        ("bundle inspect out.tgz", 0),
    ] {
        let formats = formats(folder, line, "");
        found.extend(faults_of(folder, line, &registry.host()));
        let outcome = run(folder, formats.last().expect("a format"), "");
        let is_wanted = outcome.status == status || line.ends_with("check") || line == "render";
        assert!(is_wanted, "{line}: {}{}", outcome.stdout, outcome.stderr);
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn no_summary_of_an_update_is_markup_of_somebody() {
    let scratch = tempfile::tempdir().expect("a folder");
    let (case, folder) = (repository().join("fixtures/update/sylva"), scratch.path());
    copy_into(&case.join("before"), folder);
    fs::copy(case.join("notes.md"), folder.join("notes.md")).expect("copied");
    let hostile = hostile();
    let text = fs::read_to_string(folder.join("values.yaml")).expect("the values");
    let images = "sylva_diskimagebuilder_images:\n";
    let text = text.replace(
        images,
        &format!("{images}  {hostile}: {{os_images_oci_registry: sylva}}\n"),
    );
    write(&folder.join("values.yaml"), &text);
    let pools = format!("{{{hostile}: {{}}, 'a @all `x': {{}}}}");
    let cluster = "cluster:\n  name: secret\n  capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}\n  machine_deployments:";
    write(
        &folder.join("clusters/other.yaml"),
        &format!("{cluster} {pools}\n"),
    );
    write(
        &folder.join("clusters/secret.yaml"),
        &format!("{cluster} {{SEKRET-pool-1: {{}}}}\n"),
    );
    let mut found = Vec::new();
    for line in ["--check", "--fix", "--fix --keep-going"] {
        let line =
            format!("update 0.4.13 --release-notes notes.md --summary markdown.report {line}");
        found.extend(faults_of(folder, &line, ""));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// A project of one cluster with these layers, whose last one reads a secret.
fn layered(folder: &Path, layers: &str) {
    let project = format!(
        "version: 1\nvalues: [chart.yaml]\nclusters: [{{name: one, values: [{layers}, own.yaml]}}]\n"
    );
    write(&folder.join("metalmark.yaml"), &project);
    write(&folder.join("chart.yaml"), "plain: 1\n");
    let own = "cluster: {k8s_version: '{{ .Values.token }}', capm3: {image_key: '{{ .Values.token | upper }}'}}\n";
    write(&folder.join("own.yaml"), own);
}

#[test]
fn a_secrets_file_is_one_behind_a_link_and_in_a_folder() {
    for layer in ["secrets/one.yaml", "link.yaml", "linked/values.yaml"] {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path();
        layered(folder, layer);
        write(
            &folder.join("secrets/one.yaml"),
            "token: SEKRET-1\nmore: &SEKRET-2 [\n]\n",
        );
        write(&folder.join("real-secret.yaml"), "token: SEKRET-1\n");
        write(&folder.join(".secrets/values.yaml"), "token: SEKRET-1\n");
        symlink("real-secret.yaml", folder.join("link.yaml")).expect("linked");
        symlink(".secrets", folder.join("linked")).expect("linked");
        for line in ["check", "explain one", "values one", "values one --raw"] {
            let outcome = run(folder, line, "");
            let printed = outcome.stdout + &outcome.stderr;
            assert_eq!(faults(&printed, "human"), [""; 0], "{layer} {line}");
            assert!(
                !printed.contains("SEKRET") && !printed.is_empty(),
                "{layer} {line}: {printed}"
            );
        }
    }
}

/// Which of two words is printed tells something of the secret, though everybody knows both.
#[test]
fn what_a_secret_selects_is_hidden() {
    let scratch = tempfile::tempdir().expect("a folder");
    let folder = scratch.path();
    layered(folder, "secrets.yaml");
    let own = "cluster:\n  k8s_version: '{{ if hasPrefix \"a\" .Values.token }}v1.31.77{{ else }}v1.30.77{{ end }}'\n  capm3: {image_key: '{{ if hasPrefix \"a\" .Values.token }}some-image{{ else }}other-image{{ end }}'}\n  \
               control_plane: {k8s_version: '{{ .Values.token }}'}\nother: [v1.31.77, v1.30.77, abcd]\nos_images: {x: {uri: 'oci://a/{{ .Values.token }}:1'}, some-image: {uri: 'oci://a/b:1'}, other-image: {uri: 'oci://a/b:2'}}\n";
    write(&folder.join("own.yaml"), own);
    write(&folder.join("secrets.yaml"), "token: abcd\n");
    for line in [
        "check",
        "explain one",
        "explain one --output json",
        "explain x",
        "images",
        "values one cluster",
    ] {
        let outcome = run(folder, line, "");
        let printed = outcome.stdout + &outcome.stderr;
        for word in ["v1.31.77", "v1.30.77", "abcd"] {
            assert!(!printed.contains(word), "{line}: {printed}");
        }
        // Which images are served, and what the rules find, follows from the values all the same.
        if line.starts_with("explain one") || line.starts_with("values") {
            write(&folder.join("secrets.yaml"), "token: bcde\n");
            let outcome = run(folder, line, "");
            assert_eq!(printed, outcome.stdout + &outcome.stderr, "{line}");
            write(&folder.join("secrets.yaml"), "token: abcd\n");
        }
    }
}

#[test]
fn nothing_of_a_file_outside_the_project_is_shown() {
    let outside = tempfile::tempdir().expect("a folder");
    let file = outside.path().join("environ");
    write(&file, "TOKEN=hunter2abc\u{0}more: `hunter2abc`\n");
    let file = file.to_string_lossy().into_owned();
    let typed = format!("check --values {file}");
    for (layer, line) in [
        (&*file, "check"),
        ("link.yaml", "check"),
        ("../environ", "check"),
        ("own.yaml", &*typed),
    ] {
        let scratch = tempfile::tempdir().expect("a folder");
        let folder = scratch.path().join("project");
        layered(&folder, layer);
        symlink(&file, folder.join("link.yaml")).expect("linked");
        fs::copy(&file, scratch.path().join("environ")).expect("copied");
        for format in metalmark::report::REPORTS {
            let line = format!("{line} --output {}", format.name());
            let outcome = run(&folder, &line, "");
            let printed = outcome.stdout + &outcome.stderr;
            assert_ne!(outcome.status, 0, "{layer}: {printed}");
            assert!(!printed.contains("hunter2abc"), "{layer}: {printed}");
        }
    }
}

#[test]
fn colors_are_the_programs_own() {
    let Some(scratch) = project() else { return };
    let folder = scratch.path();
    spoil(folder, "127.0.0.1:1");
    for line in [
        "check",
        "render --check",
        "explain edge-hostile",
        "impact",
        "stamp --check",
    ] {
        let outcome = run(folder, &format!("{line} --color always"), "");
        let printed = outcome.stdout + &outcome.stderr;
        let plain = printed
            .split("\u{1b}[")
            .enumerate()
            .map(|(number, part)| match number {
                0 => part,
                _ => part.split_once('m').expect("a color").1,
            });
        let plain: String = plain.collect();
        assert_eq!(faults(&plain, "human"), [""; 0], "{line}");
    }
}

#[test]
fn every_command_is_run() {
    let scratch = tempfile::tempdir().expect("a folder");
    let outcome = Metalmark::within(scratch.path())
        .args(["man", "--dir", "pages"])
        .run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let pages = fs::read_dir(scratch.path().join("pages")).expect("the pages");
    let pages = pages.map(|page| {
        let name = page.expect("a page").file_name();
        name.to_string_lossy().trim_end_matches(".1").to_owned()
    });
    let known = LINES
        .iter()
        .chain(&BUNDLES)
        .map(|(name, _)| format!("metalmark-{name}"));
    let known: BTreeSet<String> = known.chain(["metalmark".to_owned()]).collect();
    assert_eq!(pages.collect::<BTreeSet<String>>(), known);
}
