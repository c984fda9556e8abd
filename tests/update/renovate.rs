//! The real Renovate (`METALMARK_RENOVATE`) with what docs/hosts/renovate.md and `init --renovate` say, at a GitLab in this process: it
//! finds the builders' tags, runs the command, pushes a branch and opens a merge request, which the pipeline checks.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex, MutexGuard};

use serde_json::{Value, json};
use snapbox::str;
use yaml_tree::bytes::BASE64;

use super::bot::BUILDER;
use super::sylva::{DIB, KIWI, Sylva};
use super::world;
use crate::git::{commit_all, git};
use crate::programs;
use crate::support::registry::{Registry, Reply, Request};
use crate::support::stage::{Is, Stage, project};
use crate::support::{repository, search_path};

/// The branch of the preset's group.
const BRANCH: &str = "renovate/os-images";

/// What the forge keeps.
#[derive(Default)]
struct Forge {
    /// The repository that the bot clones and pushes to.
    origin: String,
    /// The versions of each builder, by its project.
    tags: Vec<(&'static str, String)>,
    /// Merge requests by number, from 1.
    requests: Vec<Value>,
    /// Comments of the open one.
    notes: Vec<Value>,
}

impl Forge {
    /// GitLab's API, as far as Renovate asks it. None of what is not there.
    fn answer(&mut self, request: &Request) -> Option<Value> {
        let path = request.path.strip_prefix("/api/v4/")?.split('?').next()?;
        let path = path.replace("%20", " ");
        let parts: Vec<&str> = path.split('/').collect();
        let mut body: Value = serde_json::from_slice(&request.bytes).unwrap_or_default();
        let day = "2026-11-20T12:00:00Z";
        Some(match (&*request.method, &*parts) {
            ("GET", ["version"]) => json!({"version": "18.0.0"}),
            ("GET", ["projects", _]) => {
                json!({"id": 1, "default_branch": "main", "ssh_url_to_repo": self.origin})
            }
            // The shared copy that the page extends.
            ("GET", ["projects", "tools%2Fmetalmark", "repository", "files", name]) => {
                let text = fs::read(repository().join(name.replace("%2F", "/"))).ok()?;
                json!({"content": BASE64.encode(&text)})
            }
            ("GET", ["projects", name, "repository", "tags"]) => {
                let name = name.replace("%2F", "/");
                let tags = self.tags.iter().filter(|(project, _)| *project == name);
                let tag = |(_, tag): &(_, String)| json!({"name": tag, "commit": {"id": tag, "created_at": day}});
                tags.map(tag).collect()
            }
            ("GET", [.., "repository", "commits", _]) => json!({"last_pipeline": {"id": 1}}),
            ("GET", [.., "merge_requests"]) => self.requests.iter().rev().cloned().collect(),
            ("POST", [.., "merge_requests"]) => {
                body["iid"] = json!(self.requests.len() + 1);
                body["state"] = json!("opened");
                body["labels"] = json!([]);
                body["created_at"] = json!(day);
                body["updated_at"] = json!(day);
                self.requests.push(body.clone());
                body
            }
            ("GET" | "PUT", [.., "merge_requests", number]) => {
                let at = number.parse::<usize>().ok()?.checked_sub(1)?;
                let known = self.requests.get_mut(at)?;
                for (name, value) in body.as_object().into_iter().flatten() {
                    known[name] = value.clone();
                }
                known.clone()
            }
            ("GET", [.., "notes"]) => json!(self.notes),
            ("POST", [.., "notes"]) => {
                body["id"] = json!(self.notes.len() + 1);
                self.notes.push(body.clone());
                body
            }
            ("DELETE", [.., "notes", number]) => {
                let number: u64 = number.parse().ok()?;
                self.notes.retain(|note| note["id"] != number);
                body
            }
            ("GET", [.., "statuses" | "issues"]) => json!([]),
            ("POST", [.., "issues"] | [.., "statuses", _]) => body,
            _ => return None,
        })
    }
}

/// The bot, and its forge with a repository that is cloned from a stage.
struct Bot<'a> {
    program: PathBuf,
    stage: &'a Path,
    server: Registry,
    forge: Arc<Mutex<Forge>>,
    /// The bot's configuration, and the forge's repository.
    folder: Stage,
}

impl<'a> Bot<'a> {
    /// Commits the stage, whose configuration of Renovate is there. None where there is no git.
    fn new(program: PathBuf, stage: &'a Path) -> Option<Self> {
        if !commit_all(stage, "Let Renovate raise the builders") {
            return None;
        }
        let folder = project().file("config.js", block("js"));
        let origin = folder.path().join("origin.git").display().to_string();
        git(stage, &["clone", "--quiet", "--bare", ".", &origin]);
        let forge = Arc::new(Mutex::new(Forge {
            origin,
            ..Forge::default()
        }));
        let (server, state) = (Registry::plain(), Arc::clone(&forge));
        server.hook(move |request, _| {
            let answer = state.lock().expect("not poisoned").answer(request);
            let reply = match answer {
                Some(answer) => Reply::new(200, answer.to_string()),
                None => Reply::new(404, "{}"),
            };
            Some(reply.header("Content-Type", "application/json"))
        });
        Some(Self {
            program,
            stage,
            server,
            forge,
            folder,
        })
    }

    fn forge(&self) -> MutexGuard<'_, Forge> {
        self.forge.lock().expect("not poisoned")
    }

    fn tag(&self, project: &'static str, version: &str) {
        self.forge().tags.push((project, version.to_owned()));
    }

    /// Runs Renovate, and checks its merge request out. Says what it warns of, the title, the files and lines of values that change,
    /// and what a failure shows.
    fn propose(&self) -> String {
        let host = self.server.host();
        // Where the builders' projects are, instead of gitlab.com.
        let rules = json!([{"matchDatasources": ["gitlab-tags"], "registryUrls": [format!("http://{host}")]}]);
        let work = project();
        let output = Command::new(&self.program)
            .current_dir(self.folder.path())
            .env_clear()
            .env("PATH", path(&self.program))
            .env("HOME", work.path())
            .env("LOG_LEVEL", "warn")
            .env("RENOVATE_BASE_DIR", work.path())
            .env("RENOVATE_CONFIG_FILE", "config.js")
            .env("RENOVATE_ENDPOINT", format!("http://{host}/api/v4/"))
            .env("RENOVATE_GIT_AUTHOR", "Bot <bot@example.org>")
            .env("RENOVATE_GIT_URL", "ssh")
            .env("RENOVATE_PACKAGE_RULES", rules.to_string())
            .env("RENOVATE_PLATFORM", "gitlab")
            .env("RENOVATE_REPOSITORIES", "fleet/edge")
            .env("RENOVATE_TOKEN", "hunter2")
            // A module in C++, which is not installed.
            .env("RENOVATE_X_IGNORE_RE2", "true")
            .output()
            .expect("it starts");
        let log = String::from_utf8_lossy(&output.stdout);
        let forge = self.forge();
        let request = forge.requests.last();
        let open = request.filter(|request| request["state"] == "opened");
        let open = open.unwrap_or_else(|| panic!("no merge request:\n{log}"));
        git(self.stage, &["fetch", "--quiet", &forge.origin, BRANCH]);
        git(self.stage, &["reset", "--quiet", "--hard", "FETCH_HEAD"]);
        let warnings = log
            .lines()
            .filter(|line| line.contains("WARN: ") || line.contains("ERROR: "));
        let mut said: String = warnings.map(|line| format!("{}\n", line.trim())).collect();
        writeln!(
            said,
            "!{} {}",
            open["iid"],
            open["title"].as_str().expect("a title")
        )
        .expect("a text");
        let files = git(self.stage, &["diff", "--name-status", "HEAD~1"]);
        writeln!(said, "{files}").expect("a text");
        let values = git(
            self.stage,
            &["diff", "--unified=0", "HEAD~1", "--", "*values.yaml"],
        );
        let is_line = |line: &&str| {
            let is_header = line.starts_with("--- ") || line.starts_with("+++ ");
            line.starts_with(['-', '+']) && !is_header
        };
        for line in values.lines().filter(is_line) {
            writeln!(said, "{line}").expect("a text");
        }
        for note in &forge.notes {
            let note = note["body"].as_str().expect("a text");
            let (_, shown) = note.split_once("```\n").expect("a block");
            let (shown, _) = shown.split_once("```").expect("its end");
            said += shown;
        }
        said
    }

    /// Whether Renovate has no complaint of its own about the merge request.
    fn is_green(&self) -> bool {
        self.forge().notes.is_empty()
    }

    fn merge(&self) {
        let mut forge = self.forge();
        forge.requests.last_mut().expect("a merge request")["state"] = json!("merged");
        let gone = format!(":{BRANCH}");
        git(
            self.stage,
            &["push", "--quiet", &forge.origin, "HEAD:main", &gone],
        );
    }
}

/// The search path of Renovate's programs: its own Node.js is beside them.
fn path(program: &Path) -> String {
    let own = program.parent().expect("a folder");
    format!("{}:{}", own.display(), search_path())
}

/// A block of the page in a language.
fn block(language: &str) -> String {
    let page = fs::read_to_string(repository().join("docs/hosts/renovate.md")).expect("the page");
    let (_, block) = page
        .split_once(&format!("```{language}\n"))
        .expect("a block");
    let (block, _) = block.split_once("```").expect("its end");
    block.to_owned()
}

#[test]
fn renovate_opens_one_merge_request_a_round_and_the_pipeline_passes() {
    let Some(program) = programs::find("renovate") else {
        return;
    };
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    let path = sylva.stage.path().to_owned();
    let helm = "{target: helm-values, path: rendered}";
    let both = format!("{helm}, {{target: manifests, path: manifests}}");
    sylva.stage.edit("metalmark.yaml", helm, &both);
    sylva.stage.write("renovate.json", block("json"));
    let _ = sylva.stage.run("render").exit(0);
    let Some(bot) = Bot::new(program, &path) else {
        return;
    };
    let hardened = "ubuntu-noble-hardened-rke2-1-33";
    let kubeadm = "ubuntu-noble-plain-kubeadm-1-33";
    let leap = "leapmicro-6-0-plain-rke2-1-33";
    type Releases<'a> = &'a [(&'static str, &'a str, &'a [(&'a str, &'a str)])];
    let rounds: [(&str, Releases<'_>); 6] = [
        (
            "a patch, of both builders",
            &[
                (
                    DIB,
                    "0.7.5",
                    &[(hardened, "1.33.6+rke2r1"), (kubeadm, "1.33.6")],
                ),
                (KIWI, "0.4.2", &[(leap, "1.33.6+rke2r1")]),
            ],
        ),
        (
            "a patch, of one alone",
            &[(DIB, "0.7.6", &[(kubeadm, "1.33.7")])],
        ),
        (
            "a minor that comes",
            &[
                (
                    DIB,
                    "0.8.0",
                    &[
                        ("ubuntu-noble-hardened-rke2-1-34", "1.34.2+rke2r1"),
                        ("ubuntu-noble-plain-kubeadm-1-34", "1.34.2"),
                    ],
                ),
                (
                    KIWI,
                    "0.5.0",
                    &[("leapmicro-6-0-plain-rke2-1-34", "1.34.2+rke2r1")],
                ),
            ],
        ),
        (
            "a minor that goes",
            &[
                (DIB, "0.8.1", &[("ubuntu-noble-hardened-rke2-1-32", "")]),
                (KIWI, "0.5.1", &[("leapmicro-6-0-plain-rke2-1-32", "")]),
            ],
        ),
        (
            "builders that disagree",
            &[(DIB, "1.0.0", &[(hardened, "1.33.7+rke2r1")])],
        ),
        (
            "the other one follows",
            &[(KIWI, "0.5.2", &[(leap, "1.33.7+rke2r1")])],
        ),
    ];
    let mut said = String::new();
    for (name, releases) in rounds {
        for (builder, version, images) in releases {
            sylva.tag(builder, version);
            sylva.publish(builder, images);
            bot.tag(sylva.dependency(builder), version);
        }
        write!(said, "## {name}\n{}", bot.propose()).expect("a text");
        if bot.is_green() {
            sylva.stage.run("check --frozen").exit(0);
            let _ = sylva.stage.run("render --check --frozen").exit(0);
            bot.merge();
            said += "merged\n";
        }
        said.push('\n');
    }
    sylva.text(&said).is(str![[r###"
## a patch, of both builders
!1 Update OS images
M	manifests/kadm.yaml
M	manifests/leap.yaml
M	manifests/rke.yaml
M	metalmark.evidence
M	metalmark.lock
M	values.yaml
-sylva_diskimagebuilder_version: 0.7.4 # sylva
+sylva_diskimagebuilder_version: 0.7.5 # sylva
-acme_kiwi_version: 0.4.1 # kiwi
+acme_kiwi_version: 0.4.2 # kiwi
-      {{- $v := "v1.33.5" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.5+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.33.6" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r1" -}}{{- end -}}
merged

## a patch, of one alone
!2 Update dependency sylva-projects/sylva-elements/diskimage-builder to v0.7.6
M	manifests/kadm.yaml
M	manifests/rke.yaml
M	metalmark.evidence
M	metalmark.lock
M	values.yaml
-sylva_diskimagebuilder_version: 0.7.5 # sylva
+sylva_diskimagebuilder_version: 0.7.6 # sylva
-      {{- $v := "v1.33.6" -}}
+      {{- $v := "v1.33.7" -}}
merged

## a minor that comes
!3 Update OS images
M	manifests/kadm.yaml
M	manifests/leap.yaml
M	manifests/rke.yaml
M	metalmark.evidence
M	metalmark.lock
M	values.yaml
-sylva_diskimagebuilder_version: 0.7.6 # sylva
+sylva_diskimagebuilder_version: 0.8.0 # sylva
-acme_kiwi_version: 0.4.2 # kiwi
+acme_kiwi_version: 0.5.0 # kiwi
+  ubuntu-noble-hardened-rke2-1-34: {os_images_oci_registry: sylva}
+  ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}
+  leapmicro-6-0-plain-rke2-1-34: {os_images_oci_registry: kiwi}
-      {{- $v := "v1.34.0" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.0+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.34.2" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.2+rke2r1" -}}{{- end -}}
merged

## a minor that goes
!4 Update OS images
M	manifests/kadm.yaml
M	manifests/leap.yaml
M	manifests/rke.yaml
M	metalmark.evidence
M	metalmark.lock
M	values.yaml
-sylva_diskimagebuilder_version: 0.8.0 # sylva
+sylva_diskimagebuilder_version: 0.8.1 # sylva
-acme_kiwi_version: 0.5.0 # kiwi
+acme_kiwi_version: 0.5.1 # kiwi
-  ubuntu-noble-hardened-rke2-1-32: {os_images_oci_registry: sylva}
-  leapmicro-6-0-plain-rke2-1-32: {os_images_oci_registry: kiwi}
merged

## builders that disagree
WARN: artifactErrors (repository=fleet/edge, branch=renovate/os-images)
!5 Update dependency sylva-projects/sylva-elements/diskimage-builder to v1
M	values.yaml
-sylva_diskimagebuilder_version: 0.8.1 # sylva
+sylva_diskimagebuilder_version: 1.0.0 # sylva
Command failed: metalmark update --from-renovate
a Kubernetes version stays: images of Kubernetes 1.33 for `rke2` hold `1.33.6+rke2r1` (kiwi) and `1.33.7+rke2r1` (sylva), and `_internal.k8s_version_map.1.33` is `v1.33.6+rke2r1`; raise the versions of the builders together, to releases with one version of Kubernetes
rke.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: to boot `ubuntu-noble-hardened-rke2-1-34`: `k8s_version_short: "1.34"`
the catalog lists what 1.0.0 offers
OS images: 0.8.1 → 1.0.0
Nothing is written, because of errors. It would do this:

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.1 → ubuntu-noble-plain-kubeadm-1-33:1.0.0

Node pools left without an image

- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.1 → no image
what was written is undone, because of the errors above
help: correct them and run this again
help: `metalmark render CLUSTER…` renders clusters alone, without the update


## the other one follows
!5 Update OS images
M	manifests/kadm.yaml
M	manifests/leap.yaml
M	manifests/rke.yaml
M	metalmark.evidence
M	metalmark.lock
M	values.yaml
-sylva_diskimagebuilder_version: 0.8.1 # sylva
+sylva_diskimagebuilder_version: 1.0.0 # sylva
-acme_kiwi_version: 0.5.1 # kiwi
+acme_kiwi_version: 0.5.2 # kiwi
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r1" -}}{{- end -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.7+rke2r1" -}}{{- end -}}
merged


"###]]);
}

#[test]
fn a_project_in_a_folder_is_updated_by_the_same_command() {
    let Some(program) = programs::find("renovate") else {
        return;
    };
    let registry = world::filled();
    let host = registry.host();
    let version = "sylva_diskimagebuilder_version";
    let values = world::values(&host, "0.4.12", world::BEFORE);
    let stage = project()
        .file(
            "my dir/metalmark.yaml",
            format!("version: 1\nvalues: [values.yaml]\nclusters: [{{name: edge, values: [edge.yaml]}}]\nregistries: {{hosts: {{\"{host}\": {{plain-http: true}}}}}}\n"),
        )
        .file("my dir/edge.yaml", "cluster: {name: edge}\n")
        .file(
            "my dir/values.yaml",
            values.replace(version, &format!("# renovate: depName={BUILDER}\n{version}")),
        );
    let Some(stage) = stage.commit("Base") else {
        return;
    };
    let _ = stage.run_in("my dir", "init --renovate").exit(0);
    let Some(bot) = Bot::new(program, stage.path()) else {
        return;
    };
    bot.tag(BUILDER, "0.4.13");
    bot.propose().is(str![[r#"
!1 Update dependency sylva-projects/sylva-elements/diskimage-builder to v0.4.13
M	my dir/values.yaml
-sylva_diskimagebuilder_version: 0.4.12
+sylva_diskimagebuilder_version: 0.4.13
-  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: own}
+  ubuntu-noble-plain-rke2-1-31-9: {os_images_oci_registry: own}

"#]]);
    assert!(bot.is_green());
}

#[test]
fn what_the_page_and_the_preset_say_needs_no_migration() {
    let Some(program) = programs::find("renovate") else {
        return;
    };
    let preset = repository().join("templates/hosts/renovate/metalmark.json");
    let stage = project()
        .file("renovate.json", block("json"))
        .file("config.js", block("js"))
        .file("preset.json", fs::read(preset).expect("the preset"));
    for words in ["--no-global renovate.json preset.json", "config.js"] {
        let output = Command::new(program.with_file_name("renovate-config-validator"))
            .arg("--strict")
            .args(words.split(' '))
            .current_dir(stage.path())
            .env_clear()
            .env("PATH", path(&program))
            .env("RENOVATE_X_IGNORE_RE2", "true")
            .output()
            .expect("it starts");
        assert!(output.status.success(), "{output:?}");
    }
}
