//! What is printed, by every command in every format: no secret, and nothing that a terminal, a log or a code host obeys.
//!
//! Markers are in every kind of secret, and hostile text in everything that a stranger can write.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use snapbox::str;
use yaml_tree::bytes::BASE64;

use super::git;
use super::support::registry::{Registry, fault};
use super::support::stage::{Is, Stage, project};
use super::support::{Metalmark, Outcome, repository};

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
const LINES: [(&str, &[&str]); 32] = [
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
        "mirror",
        &["mirror", "mirror --to oci-layout:copied --dry-run"],
    ),
    (
        "update",
        &[
            "update 9.9.9 --images metalmark.yaml --check",
            "update 9.9.9",
        ],
    ),
    ("clusters", &["clusters"]),
    ("images", &["images"]),
    ("names", &["names sylva-dib", "names whatever"]),
    ("rules", &["rules"]),
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
own-key.1: {a: 1}
cluster:
  machine_deployments:
    own-pool-1: {replicas: 1, capm3: {hostSelector: {matchLabels: {cluster-role: worker}}}}
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
  annotations: {metalmark.dev/image: plain-object-2}
spec: {template: {spec: {image: {url: 'https://user:SEKRET-url-3@images.example.org/x', checksum: x}}}}
";

/// Adds to a project what a stranger and a careless person write.
fn spoil(stage: &Stage, host: &str) {
    let hostile = hostile();
    stage.edit(
        "metalmark.yaml",
        "      - environment-values/mgmt/values.yaml\n",
        "      - environment-values/mgmt/values.yaml\n      - sops.yaml\n      - link.yaml\n      - secrets/below.yaml\n      \
         - made.yaml\n",
    );
    let reason = "the lab's old image server publishes checksum files only";
    stage.edit("metalmark.yaml", reason, &hostile);
    let hosts = format!("registries:\n  hosts: {{\"{host}\": {{plain-http: true}}}}\n");
    stage.edit("metalmark.yaml", "registries:\n", &hosts);
    let project = stage.read("metalmark.yaml");
    let own = "manifests: [manifests, hostile.yaml]\n";
    stage.write("metalmark.yaml", project + own);
    let login = BASE64.encode(b"me:SEKRET-login-1");
    for (path, text) in [
        ("environment-values/mgmt/secrets.yaml", SECRETS),
        ("made.yaml", MADE),
        (
            "sops.yaml",
            "sops_plain: SEKRET-sops-1\nencrypted: ENC[AES256_GCM,data:SEKRET,type:str]\nsops: {version: 3.9.0, mac: x}\n",
        ),
        ("real-secret.yaml", "linked: SEKRET-linked-1\n"),
        ("secrets/below.yaml", "below: SEKRET-below-1\n"),
        ("manifests/objects.yaml", OBJECTS),
        (
            "environment-values/workload-clusters/edge-broken/values.yaml",
            &format!(
                "{hostile}: 1\n{hostile}: 2\ncluster: {{k8s_version: {hostile}, capm3: {{image_key: {hostile}}}}}\n"
            ),
        ),
        (
            "environment-values/workload-clusters/edge-hostile/values.yaml",
            &format!(
                "on: yes\ncluster:\n  k8s_version: {hostile}\n  capm3: {{image_key: {hostile}, machine_image_checksum: {hostile}}}\n  \
                 machine_deployments: {{{hostile}: {{k8s_version: {hostile}, capm3: {{os_image_selector: {{os: {hostile}}}}}}}}}\n\
                 os_images: {{{hostile}: {{uri: {hostile}, os: {hostile}}}, hostile: {{uri: 'oci://a/b:1', filename: {hostile}}}}}\n"
            ),
        ),
        (
            "environment-values/workload-clusters/\u{1b}[31m @all `x` ##[error]x/values.yaml",
            "cluster: {k8s_version: 1}\n",
        ),
        (
            "hostile.yaml",
            &format!(
                "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata:\n  name: {hostile}\n  \
                 annotations: {{metalmark.dev/image: {hostile}}}\nspec: {{template: {{spec: {{image: {{url: {hostile}}}}}}}}}\n"
            ),
        ),
        ("secret.yaml", "a: *SEKRET-anchor\nb: [SEKRET-broken\n"),
        (
            "application.yaml",
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {name: mgmt}\nspec: {source: {path: .}}\n",
        ),
        (
            "key.pem",
            "-----BEGIN PRIVATE KEY-----\nSEKRETKEY\n-----END PRIVATE KEY-----\n",
        ),
        (
            "home/.docker/config.json",
            &format!("{{\"auths\":{{\"{host}\":{{\"auth\":\"{login}\"}}}}}}"),
        ),
    ] {
        stage.write(path, text);
    }
    symlink("real-secret.yaml", stage.path().join("link.yaml")).expect("linked");
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

/// The formats of a line: those that it lists when it is given another one; `-` where it has none.
fn formats(folder: &Path, line: &str, host: &str) -> Vec<String> {
    let refused = run(folder, &format!("{line} --output nonsense"), host).stderr;
    let listed = refused.split_once("[possible values: ");
    let names = listed.and_then(|(_, rest)| rest.split_once(']'));
    let (names, _) = names.unwrap_or(("-", ""));
    names.split(", ").map(str::to_owned).collect()
}

/// Whether a terminal, a log or an editor obeys a letter instead of showing it: control characters, the marks that change the
/// direction of a text, and separators of lines.
pub(crate) fn is_obeyed(letter: char) -> bool {
    let ranges = [
        0..0x20,
        0x7f..0xa0,
        0x61c..0x61d,
        0x200e..0x2010,
        0x2028..0x202f,
        0x2066..0x206a,
    ];
    !"\n\t".contains(letter) && ranges.iter().any(|range| range.contains(&(letter as u32)))
}

/// What a run came to: without it, it proves nothing that something is not printed.
fn account(outcome: &Outcome) -> String {
    let Outcome {
        status,
        stdout,
        stderr,
    } = outcome;
    let printed = [(stdout, "stdout"), (stderr, "stderr")];
    let printed = printed.iter().filter(|(text, _)| !text.is_empty());
    printed.fold(status.to_string(), |text, (_, name)| {
        format!("{text}, {name}")
    })
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
    if let Some(letter) = text.chars().find(|letter| is_obeyed(*letter)) {
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

/// What is wrong with the outputs of a command's lines: the first in each format, the others in the first and the last one; and
/// what each run came to.
fn faults_of(folder: &Path, lines: &[&str], host: &str, accounts: &mut String) -> Vec<String> {
    let mut found = Vec::new();
    for (number, line) in lines.iter().enumerate() {
        let (is_product, line) = match line.strip_prefix('>') {
            Some(line) => (true, line),
            None => (false, *line),
        };
        let formats = formats(folder, line, host);
        let last = formats.len() - 1;
        let formats = formats.iter().enumerate();
        let is_run = |(index, _): &(usize, &String)| number == 0 || [0, last].contains(index);
        let mut same: Vec<(String, Vec<&str>)> = Vec::new();
        for (_, format) in formats.filter(is_run) {
            let mut run = Printed::new(folder, line, format, host);
            if is_product {
                run.texts.remove(0);
            }
            let faults = run
                .texts
                .iter()
                .flat_map(|(text, format)| faults(text, format));
            found.extend(faults.map(|fault| format!("metalmark {line} {format}: {fault}")));
            match same
                .last_mut()
                .filter(|(came_to, _)| *came_to == run.came_to)
            {
                Some((_, formats)) => formats.push(format),
                None => same.push((run.came_to, vec![format.as_str()])),
            }
        }
        for (came_to, formats) in same {
            *accounts += &format!("{line}: {came_to}: {}\n", formats.join(" "));
        }
    }
    found
}

/// What a run printed and wrote, each text with its format; and what the run came to.
struct Printed {
    texts: Vec<(String, String)>,
    came_to: String,
}

impl Printed {
    fn new(folder: &Path, line: &str, format: &str, host: &str) -> Self {
        let typed = match format {
            "-" => line.to_owned(),
            format => format!("{line} --output {format}"),
        };
        let outcome = run(folder, &typed, host);
        let mut came_to = account(&outcome);
        // Where a command prints an answer, findings beside it are for people.
        let beside = if format == "github" { format } else { "human" };
        let mut texts = vec![
            (outcome.stdout, format.to_owned()),
            (outcome.stderr, beside.to_owned()),
        ];
        let files = fs::read_dir(folder).expect("the folder").flatten();
        let is_report = |path: &PathBuf| path.extension().is_some_and(|it| it == "report");
        let mut reports: Vec<PathBuf> = files.map(|file| file.path()).filter(is_report).collect();
        reports.sort();
        for report in reports {
            let text = fs::read_to_string(&report).expect("a report");
            let name = report.file_stem().expect("a name").to_string_lossy();
            came_to += if text.is_empty() { ", no " } else { ", " };
            came_to += &name;
            texts.push((text, name.into_owned()));
            fs::remove_file(report).expect("removed");
        }
        Self { texts, came_to }
    }
}

/// A workspace in a commit; none where there is no git.
fn workspace() -> Option<Stage> {
    let stage = project().folder("fixtures/workspaces/sylva-baremetal");
    stage.commit(HOSTILE)
}

#[test]
fn no_command_prints_a_secret_or_what_somebody_obeys() {
    let Some(stage) = workspace() else { return };
    let (folder, registry) = (stage.path(), registry());
    let packed = run(
        folder,
        "bundle pack os-images-info.yaml --kind artifact --to good.tgz",
        "",
    );
    assert_eq!(packed.status, 0, "{}", packed.stderr);
    let host = registry.host();
    spoil(&stage, &host);
    git::git(folder, &["branch", "-m", "main", "##x@all`b`"]);
    let mut accounts = String::new();
    let commands = LINES.iter().chain(&BUNDLES);
    let found = commands.flat_map(|(_, lines)| faults_of(folder, lines, &host, &mut accounts));
    let found: Vec<String> = found.collect();
    assert!(found.is_empty(), "{}", found.join("\n"));
    accounts.is(str![[r#"
check: 1, stdout: human concise json sarif gitlab junit github markdown
check --report sarif=sarif.report --report markdown=markdown.report --report junit=junit.report: 1, stdout, junit, markdown, sarif: human markdown
render: 1, stderr: human
render: 1, stdout: concise json sarif gitlab junit github markdown
render --check: 1, stderr: human
render --check: 1, stdout: markdown
render --stdout: 1, stderr: human markdown
lock: 1, stderr: human json yaml
lock --check: 1, stdout: human yaml
verify: 2, stderr: human json yaml
mirror: 1, stderr: human json yaml
mirror --to oci-layout:copied --dry-run: 1, stderr: human yaml
update 9.9.9 --images metalmark.yaml --check: 2, stderr: human concise json sarif gitlab junit github markdown
update 9.9.9: 2, stderr: human markdown
clusters: 0, stdout, stderr: human json yaml
images: 0, stdout, stderr: human json yaml
names sylva-dib: 1, stdout: -
names whatever: 1, stderr: -
rules: 0, stdout: human json yaml
impact: 1, stdout, stderr: human json yaml markdown
impact HEAD --against HEAD: 0, stdout, stderr: human markdown
page --to page.report: 0, page: -
page --against HEAD --to page.report: 0, page: -
explain mgmt: 0, stdout: human json yaml
explain edge-hostile: 0, stdout: human yaml
explain mgmt/nothing: 2, stderr: human yaml
explain ubuntu-noble-plain-rke2-1-31-8: 0, stdout: human yaml
explain hostile: 0, stdout: human yaml
explain nothing: 2, stderr: human yaml
values mgmt: 1, stdout, stderr: yaml json
values mgmt --origin: 1, stdout, stderr: yaml json
values mgmt --raw: 0, stdout: yaml json
values mgmt cluster --why: 1, stdout, stderr: yaml json
values mgmt cluster.k8s_version --why: 0, stdout: yaml json
values mgmt password --why: 0, stdout: yaml json
values mgmt failing: 1, stderr: yaml json
values mgmt pin.nothing: 2, stderr: yaml json
values mgmt nothing: 2, stderr: yaml json
values edge-hostile: 0, stdout: yaml json
values edge-hostile --origin: 0, stdout: yaml json
plan --to 1.32: 1, stdout, stderr: human json yaml markdown
plan --to 1.32 --output json: 1, stdout, stderr: -
stamp: 1, stderr: human
stamp: 1, stdout: concise json sarif gitlab junit github markdown
stamp --check: 1, stderr: human
stamp --check: 1, stdout: markdown
stamp --set-version: 1, stderr: human
stamp --set-version: 1, stdout: markdown
fn: 1, stdout, stderr: -
cmp generate: 1, stderr: -
cmp discover: 0, stdout: -
cmp parameters: 0, stdout: -
cmp plugin-config: 0, stdout: -
cmp simulate --app application.yaml: 1, stderr: -
cmp simulate --app secret.yaml: 2, stderr: -
registry ls HOST/a: 0, stdout: human json yaml
registry ls HOST/faulty: 2, stderr: human yaml
registry ls HOST: 0, stdout: human yaml
registry facts HOST/a:1: 0, stdout, stderr: human json yaml
registry facts HOST/faulty:1: 2, stderr: human yaml
registry facts oci://user:SEKRET-typed@HOST/a:1: 2, stderr: human yaml
init --dry-run: 0, stdout, stderr: -
init --pre-commit --dry-run: 0, stdout, stderr: -
schema: 0, stdout: -
man: 0, stdout: -
completions bash: 0, stdout: -
bundle pack manifests --to out.tgz: 1, stderr: human concise json sarif gitlab junit github markdown
bundle pack --to out.tgz: 1, stderr: human markdown
bundle pack hostile.yaml --to out.tgz: 1, stderr: human markdown
bundle unpack good.tgz --to unpacked: 1, stderr: human concise json sarif gitlab junit github markdown
bundle inspect good.tgz: 1, stdout, stderr: human json yaml
bundle push manifests oci://HOST/faulty:1 --sign-key key.pem: 2, stderr: -
bundle push manifests oci://HOST/b:1: 1, stderr: human yaml
bundle pull oci://HOST/faulty:1 --to pulled: 2, stderr: -
bundle verify oci://HOST/faulty:1 --key key.pem: 2, stderr: human json yaml

"#]]);
}

#[test]
fn no_command_that_succeeds_prints_a_secret() {
    let Some(stage) = workspace() else { return };
    let layers = "      - environment-values/mgmt/values.yaml\n";
    let more = format!("{layers}      - made.yaml\n      - sops.yaml\n");
    stage.edit("metalmark.yaml", layers, &more);
    let (registry, mut accounts) = (registry(), String::new());
    let host = registry.host();
    let hosts = format!("registries:\n  hosts: {{\"{host}\": {{plain-http: true}}}}\n");
    stage.edit("metalmark.yaml", "registries:\n", &hosts);
    let of_lab = "    lab-*: {";
    let more = format!("    mgmt: {{k8s-version-unproven: warning}}\n{of_lab}");
    stage.edit("metalmark.yaml", of_lab, &more);
    let text = stage.read("metalmark.yaml");
    stage.write("metalmark.yaml", text + "manifests: [manifests]\n");
    stage.write(
        "environment-values/mgmt/secrets.yaml",
        "password: SEKRET-text-1\nmode: 04775\ncluster: {baremetal_hosts: {own-host-1: {user: 08675309123}}}\n",
    );
    stage.write(
        "sops.yaml",
        "plain: SEKRET-sops-1\nsops: {version: 3.9.0, mac: x}\n",
    );
    let made = "cluster:\n  machine_deployments:\n    md0:\n      replicas: 3\n      capm3:\n        hostSelector: {matchLabels: {role: \
                worker}}\n    md7:\n      replicas: \
                1\n      capm3: {image_key: null, os_image_selector: null, machine_image_url: \
                'https://user:SEKRET-url-1@images.example.org/x.raw', machine_image_checksum: \
                '6e6f626c652d6b75626561646d2d312d33342d316e6f626c652d6b7562656164', machine_image_checksum_type: sha256, \
                machine_image_format: raw, hostSelector: {matchLabels: {cluster-role: worker}}}\n\
                other: {role: '{{ .Values.password | b64enc }}', mode: '{{ .Values.mode }}', more: '{{ .Values.plain }}'}\n";
    stage.write("made.yaml", made);
    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata: {name: a, namespace: b, \
                    annotations: {metalmark.dev/image: ubuntu-noble-plain-rke2-1-31-8}}\nspec:\n  template:\n    spec:\n      image:\n        \
                    url: https://user:SEKRET-url-3@images.example.org/x\n        checksum: x\n---\napiVersion: v1\nkind: Secret\n\
                    metadata: {name: a, namespace: b}\nstringData: {password: SEKRET-object-1}\n";
    stage.write("manifests/a.yaml", template);
    let lines = [
        "check",
        "impact",
        "images",
        "explain mgmt",
        "values mgmt",
        "plan --to 1.32",
        "stamp --check",
        "render --check",
        "lock",
        "render",
        "verify",
        "page --to page.report",
        ">cmp generate",
        "bundle pack --to out.tgz",
        "bundle inspect out.tgz",
        "bundle unpack out.tgz --to unpacked",
        "bundle push out.tgz oci://HOST/b:1",
    ];
    let mut found = Vec::new();
    for line in lines {
        found.extend(faults_of(stage.path(), &[line], &host, &mut accounts));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    accounts.is(str![[r#"
check: 0, stdout: human concise json sarif gitlab junit github markdown
impact: 0, stdout, stderr: human json yaml markdown
images: 0, stdout: human json yaml
explain mgmt: 0, stdout: human json yaml
values mgmt: 0, stdout: yaml json
plan --to 1.32: 1, stdout: human json yaml markdown
stamp --check: 0, stdout, stderr: human concise json
stamp --check: 0, stdout: sarif gitlab junit github markdown
render --check: 1, stdout, stderr: human concise json
render --check: 1, stdout: sarif gitlab junit github markdown
lock: 0, stdout, stderr: human json yaml
render: 0, stdout, stderr: human concise json
render: 0, stdout: sarif gitlab junit github markdown
verify: 0, stdout: human json yaml
page --to page.report: 0, page: -
cmp generate: 0, stdout, stderr: -
bundle pack --to out.tgz: 0, stdout, stderr: human concise json sarif gitlab junit github markdown
bundle inspect out.tgz: 0, stdout, stderr: human json yaml
bundle unpack out.tgz --to unpacked: 0, stdout, stderr: human concise json sarif gitlab junit github markdown
bundle push out.tgz oci://HOST/b:1: 0, stdout, stderr: human
bundle push out.tgz oci://HOST/b:1: 0, stdout: json yaml

"#]]);
}

#[test]
fn no_summary_of_an_update_is_markup_of_somebody() {
    let stage = project().folder("fixtures/update/sylva/before");
    let notes = stage.path().join("notes.md");
    fs::copy(repository().join("fixtures/update/sylva/notes.md"), notes).expect("copied");
    let hostile = hostile();
    let images = "sylva_diskimagebuilder_images:\n";
    let more = format!("{images}  {hostile}: {{os_images_oci_registry: sylva}}\n");
    stage.edit("values.yaml", images, &more);
    let cluster = "cluster:\n  name: secret\n  capm3: {image_key: ubuntu-noble-plain-rke2-1-31-8}\n  machine_deployments:";
    let pools = format!("{cluster} {{{hostile}: {{}}, 'a @all `x': {{}}}}\n");
    stage.write("clusters/other.yaml", pools);
    stage.write(
        "clusters/secret.yaml",
        format!("{cluster} {{own-pool-1: {{}}}}\n"),
    );
    let mut accounts = String::new();
    let lines = ["--check", "--fix"].map(|line| {
        format!("update 0.4.13 --release-notes notes.md --summary markdown.report {line}")
    });
    let lines = lines.each_ref().map(String::as_str);
    let found = faults_of(stage.path(), &lines, "", &mut accounts);
    assert!(found.is_empty(), "{}", found.join("\n"));
    accounts.is(str![[r#"
update 0.4.13 --release-notes notes.md --summary markdown.report --check: 1, stderr, markdown: human concise json sarif gitlab junit github markdown
update 0.4.13 --release-notes notes.md --summary markdown.report --fix: 1, stderr, markdown: human
update 0.4.13 --release-notes notes.md --summary markdown.report --fix: 1, stdout, stderr, markdown: markdown

"#]]);
}

/// A project of one cluster with these layers, whose last one reads a secret.
fn layered(layers: &str) -> Stage {
    let clusters = format!("clusters: [{{name: one, values: [{layers}, own.yaml]}}]\n");
    let own = "cluster: {k8s_version: '{{ .Values.token }}', capm3: {image_key: '{{ .Values.token | upper }}'}}\n";
    project()
        .settings(&format!("values: [chart.yaml]\n{clusters}"))
        .file("chart.yaml", "plain: 1\n")
        .file("own.yaml", own)
}

#[test]
fn a_secrets_file_is_one_behind_a_link_and_in_a_folder() {
    let mut accounts = String::new();
    for layer in ["secrets/one.yaml", "link.yaml", "linked/values.yaml"] {
        let stage = layered(layer)
            .file(
                "secrets/one.yaml",
                "token: SEKRET-1\nmore: &SEKRET-2 [\n]\n",
            )
            .file("real-secret.yaml", "token: SEKRET-1\n")
            .file(".secrets/values.yaml", "token: SEKRET-1\n");
        symlink("real-secret.yaml", stage.path().join("link.yaml")).expect("linked");
        symlink(".secrets", stage.path().join("linked")).expect("linked");
        for line in ["check", "explain one", "values one", "values one --raw"] {
            let outcome = run(stage.path(), line, "");
            accounts += &format!("{layer}: {line}: {}\n", account(&outcome));
            let printed = outcome.stdout + &outcome.stderr;
            assert_eq!(faults(&printed, "human"), [""; 0], "{layer} {line}");
        }
    }
    accounts.is(str![[r#"
secrets/one.yaml: check: 1, stdout
secrets/one.yaml: explain one: 0, stdout
secrets/one.yaml: values one: 0, stdout
secrets/one.yaml: values one --raw: 0, stdout
link.yaml: check: 1, stdout
link.yaml: explain one: 0, stdout
link.yaml: values one: 0, stdout
link.yaml: values one --raw: 0, stdout
linked/values.yaml: check: 1, stdout
linked/values.yaml: explain one: 0, stdout
linked/values.yaml: values one: 0, stdout
linked/values.yaml: values one --raw: 0, stdout

"#]]);
}

/// Which of two words is printed would say something of the secret, though everybody knows both.
#[test]
fn nothing_that_is_printed_depends_on_a_secret() {
    let own = "cluster:\n  k8s_version: '{{ if hasPrefix \"a\" .Values.token }}v1.31.77{{ else }}v1.30.77{{ end }}'\n  capm3: {image_key: '{{ if hasPrefix \"a\" .Values.token }}some-image{{ else }}other-image{{ end }}'}\n  \
               control_plane: {k8s_version: '{{ .Values.token }}'}\nother: [v1.31.77, v1.30.77, abcd]\nos_images: {x: {uri: 'oci://a/{{ .Values.token }}:1'}, some-image: {uri: 'oci://a/b:1'}, other-image: {uri: 'oci://a/b:2'}}\n";
    let stage = layered("secrets.yaml").file("own.yaml", own);
    let mut accounts = String::new();
    for line in [
        "check",
        "explain one",
        "explain one --output json",
        "explain x",
        "images",
        "values one cluster",
    ] {
        let look = |token: &str| {
            stage.write("secrets.yaml", format!("token: {token}\n"));
            run(stage.path(), line, "")
        };
        let (outcome, other) = (look("abcd"), look("bcde"));
        accounts += &format!("{line}: {}\n", account(&outcome));
        let printed = outcome.stdout + &outcome.stderr;
        assert_eq!(printed, other.stdout + &other.stderr, "{line}");
    }
    accounts.is(str![[r#"
check: 1, stdout
explain one: 0, stdout
explain one --output json: 0, stdout
explain x: 2, stderr
images: 0, stdout
values one cluster: 0, stdout, stderr

"#]]);
}

#[test]
fn nothing_of_a_file_outside_the_project_is_shown() {
    let scratch = project().file("environ", "TOKEN=hunter2abc\u{0}more: `hunter2abc`\n");
    let file = scratch
        .path()
        .join("environ")
        .to_string_lossy()
        .into_owned();
    let typed = format!("check --values {file}");
    let beside = scratch
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy();
    let beside = format!("../{beside}/environ");
    let mut said = String::new();
    for (layer, line) in [
        (&*file, "check"),
        ("link.yaml", "check"),
        (&*beside, "check"),
        ("own.yaml", &*typed),
    ] {
        let stage = layered(layer);
        symlink(&file, stage.path().join("link.yaml")).expect("linked");
        for format in metalmark::report::REPORTS {
            let line = format!("{line} --output {}", format.name());
            let outcome = run(stage.path(), &line, "");
            let shown = account(&outcome);
            let printed = outcome.stdout + &outcome.stderr;
            assert!(!printed.contains("hunter2abc"), "{layer}: {printed}");
            assert!(
                outcome.status != 0 && !printed.is_empty(),
                "{layer}: {shown}"
            );
            if format.name() == "human" {
                let first = printed.lines().next().unwrap_or_default();
                said += &format!("{layer}: {shown}: {first}\n")
                    .replace(&file, "[FILE]")
                    .replace(&beside, "[BESIDE]");
            }
        }
    }
    said.is(str![[r#"
[FILE]: 2, stderr: error: cannot read `[FILE]`: it is outside the repository
link.yaml: 2, stderr: error: cannot read `link.yaml`: it is outside the repository
[BESIDE]: 2, stderr: error: cannot read `[BESIDE]`: it is outside the repository
own.yaml: 1, stdout: error[yaml-syntax]: the control character U+0000 is not allowed in YAML

"#]]);
}

#[test]
fn colors_are_the_programs_own() {
    let Some(stage) = workspace() else { return };
    spoil(&stage, "127.0.0.1:1");
    let mut accounts = String::new();
    for line in [
        "check",
        "render --check",
        "explain edge-hostile",
        "impact",
        "stamp --check",
    ] {
        let outcome = run(stage.path(), &format!("{line} --color always"), "");
        accounts += &format!("{line}: {}\n", account(&outcome));
        let printed = outcome.stdout + &outcome.stderr;
        let mut parts = printed.split("\u{1b}[");
        let mut plain = parts.next().unwrap_or_default().to_owned();
        let colored = parts.map(|part| part.split_once('m').expect("a color").1);
        plain.extend(colored);
        assert_eq!(faults(&plain, "human"), [""; 0], "{line}");
        if plain.len() < printed.len() {
            accounts += "    in colors\n";
        }
    }
    accounts.is(str![[r#"
check: 1, stdout
    in colors
render --check: 1, stderr
    in colors
explain edge-hostile: 0, stdout
impact: 1, stdout, stderr
    in colors
stamp --check: 1, stderr
    in colors

"#]]);
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
