//! What users run instead, each on the same fleet with the same machine templates at its end.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the peers' own files lie.
const PEERS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/peers");

/// The folder below the fleet's that peers write into.
pub(super) const OUT: &str = "peer";

/// One other way to do the job.
pub(super) struct Peer {
    /// As the table names it.
    pub(super) name: &'static str,
    /// Up to how many clusters it is run: who starts a process for each takes a minute and more for a thousand.
    pub(super) at_most: usize,
    /// The job, for a fleet in a folder.
    pub(super) make: Box<dyn Fn(&Path) -> Command>,
    /// Writes what it needs beside the fleet, which is not measured.
    pub(super) prepare: fn(&Path),
}

/// Those that this machine has; who is missing is told.
pub(super) fn peers() -> Vec<Peer> {
    let found = [
        ("python3 with PyYAML over libyaml", python()),
        ("go, to build Helm's engine", helm_engine()),
        ("helm (METALMARK_HELM)", helm()),
        ("kubectl (METALMARK_KUBECTL)", kustomize()),
        ("jrsonnet (METALMARK_JRSONNET) with exp-regex", jrsonnet()),
        ("cue (METALMARK_CUE)", cue()),
        ("timoni (METALMARK_TIMONI)", timoni()),
        ("kbld (METALMARK_KBLD)", kbld()),
    ];
    for (what, _) in found.iter().filter(|(_, peer)| peer.is_none()) {
        eprintln!("no peer: there is no {what}");
    }
    found.into_iter().filter_map(|(_, peer)| peer).collect()
}

/// A script of our own, as good as we could make it.
fn python() -> Option<Peer> {
    runs("python3", &["-c", "from yaml import CSafeLoader"])?;
    Some(Peer {
        name: "Python, libyaml",
        at_most: usize::MAX,
        make: Box::new(|folder| {
            let mut command = Command::new("python3");
            command.arg(format!("{PEERS}/baseline.py"));
            command.args([folder, &folder.join(OUT)]);
            command
        }),
        prepare: |_| (),
    })
}

/// A script that does the look-ups of plain manifests.
pub(super) fn manifests() -> Option<impl Fn(&Path) -> Command> {
    runs("python3", &["-c", "from yaml import CSafeLoader"])?;
    Some(|folder: &Path| {
        let mut command = Command::new("python3");
        command.arg(format!("{PEERS}/manifests.py")).arg(folder);
        command
    })
}

/// Helm's engine without a process for each cluster, which the helm command cannot do.
fn helm_engine() -> Option<Peer> {
    runs("go", &["version"])?;
    let program = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("helm-engine");
    let built = Command::new("go")
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/interop/helm"))
        .args(["build", "-tags=helm4", "-o"])
        .arg(&program)
        .arg(".")
        .status();
    built.is_ok_and(|status| status.success()).then_some(())?;
    Some(Peer {
        name: "Helm 4's engine, one process",
        at_most: 1000,
        make: Box::new(move |folder| {
            let mut command = Command::new(&program);
            command.arg("render").arg(format!("{PEERS}/chart"));
            command.args([folder, &folder.join(OUT)]);
            command
        }),
        prepare: |_| (),
    })
}

/// The helm command, once for each cluster.
fn helm() -> Option<Peer> {
    let helm = named("METALMARK_HELM", "helm", &["version"])?;
    let script = format!(
        "set -e; mkdir -p {OUT}; for cluster in clusters/*; do name=${{cluster##*/}}; '{helm}' template \"$name\" '{PEERS}/chart' \
         -f os-images-info.yaml -f values.yaml -f \"$cluster/values.yaml\" >\"{OUT}/$name.yaml\"; done"
    );
    Some(Peer {
        name: "`helm template`, each cluster",
        at_most: 100,
        make: Box::new(move |folder| shell(folder, &script)),
        prepare: |_| (),
    })
}

/// kustomize, once for each overlay. It can neither choose an image nor notice a wrong one: the overlays hold the answer.
fn kustomize() -> Option<Peer> {
    let kubectl = named("METALMARK_KUBECTL", "kubectl", &["version", "--client"])?;
    let script = format!(
        "set -e; mkdir -p {OUT}; for overlay in overlays/*; do '{kubectl}' kustomize \"$overlay\" >\"{OUT}/${{overlay##*/}}.yaml\"; done"
    );
    Some(Peer {
        name: "`kubectl kustomize`, each overlay",
        at_most: 100,
        make: Box::new(move |folder| shell(folder, &script)),
        prepare: write_overlays,
    })
}

/// An overlay a cluster: the names of the machine templates that metalmark rendered, and a patch with the rest of each.
fn write_overlays(folder: &Path) {
    for cluster in fs::read_dir(folder.join("out")).expect("metalmark rendered before") {
        let cluster = cluster.expect("an entry").path();
        if cluster
            .extension()
            .is_none_or(|extension| extension != "yaml")
        {
            continue;
        }
        let overlay = folder
            .join("overlays")
            .join(cluster.file_stem().expect("a name"));
        let mut machines = String::new();
        let mut kustomization = String::from("resources: [machines.yaml]\npatches:\n");
        for (number, template) in templates(&cluster).iter().enumerate() {
            let spec = template.find("spec:\n").expect("a spec");
            let _ = write!(machines, "---\n{}spec: {{}}\n", &template[..spec]);
            let _ = writeln!(kustomization, "  - path: patch-{number}.yaml");
            write(&overlay.join(format!("patch-{number}.yaml")), template);
        }
        write(&overlay.join("machines.yaml"), &machines);
        write(&overlay.join("kustomization.yaml"), &kustomization);
    }
}

/// A program of jsonnet, which makes all clusters' files in one process.
fn jrsonnet() -> Option<Peer> {
    let probe = ["--exec", "std.regexFullMatch('a', 'a')"];
    let jrsonnet = named("METALMARK_JRSONNET", "jrsonnet", &probe)?;
    Some(Peer {
        name: "`jrsonnet`, one process",
        at_most: usize::MAX,
        make: Box::new(move |folder| {
            let mut command = Command::new(&jrsonnet);
            command.arg("--yaml-stream").arg("--create-output-dirs");
            command.arg("--jpath").arg(folder);
            command.arg("--multi").arg(folder.join(OUT));
            command.arg(format!("{PEERS}/fleet.jsonnet"));
            command
        }),
        prepare: write_imports,
    })
}

/// The clusters' values by name: jsonnet imports no path that it computes.
fn write_imports(folder: &Path) {
    let mut imports = String::from("{\n");
    for name in clusters(folder) {
        let path = format!("clusters/{name}/values.yaml");
        let _ = writeln!(imports, "  '{name}': importstr '{path}',");
    }
    write(&folder.join("clusters.libsonnet"), &(imports + "}\n"));
}

/// A package of CUE, which makes all clusters' files in one process.
fn cue() -> Option<Peer> {
    let cue = named("METALMARK_CUE", "cue", &["version"])?;
    Some(Peer {
        name: "`cue cmd`, one process",
        at_most: 1000,
        make: Box::new(move |folder| {
            let mut command = Command::new(&cue);
            command.current_dir(folder).args(["cmd", "--inject"]);
            command.arg(format!("out={OUT}")).arg("write");
            command
        }),
        prepare: |folder| copy(&Path::new(PEERS).join("cue"), folder),
    })
}

/// A bundle of Timoni in one process, whose module has the templates of CUE's package.
fn timoni() -> Option<Peer> {
    let timoni = named("METALMARK_TIMONI", "timoni", &["--version"])?;
    let script = format!(
        "set -e; mkdir -p {OUT}; for file in timoni/*.yaml timoni/clusters/*; do set -- \"$@\" -f \"$file\"; done; \
         exec '{timoni}' bundle build -f timoni/bundle.cue \"$@\" >{OUT}/machines.yaml"
    );
    Some(Peer {
        name: "`timoni bundle build`, one process",
        at_most: 1000,
        make: Box::new(move |folder| shell(folder, &script)),
        prepare: write_bundle,
    })
}

/// The bundle with its module, and the fleet's files below the keys that they have there.
fn write_bundle(folder: &Path) {
    let (peers, timoni) = (Path::new(PEERS), folder.join("timoni"));
    copy(&peers.join("timoni"), &timoni);
    let template = timoni.join("module/template.cue");
    fs::copy(peers.join("cue/template.cue"), template).expect("copied");
    let below = |keys: &str, indent: &str, file: &str| {
        let text = fs::read_to_string(folder.join(file)).expect("the fleet is written");
        let lines = text.lines().map(|line| format!("{indent}{line}\n"));
        keys.to_owned() + &lines.collect::<String>()
    };
    for file in ["values.yaml", "os-images-info.yaml"] {
        write(&timoni.join(file), &below("shared:\n", "  ", file));
    }
    for name in clusters(folder) {
        let keys =
            format!("bundle:\n  instances:\n    {name}:\n      namespace: {name}\n      values:\n");
        let instance = below(&keys, "        ", &format!("clusters/{name}/values.yaml"));
        write(&timoni.join(format!("clusters/{name}.yaml")), &instance);
    }
}

/// kbld in one process. It can neither choose an image nor notice a wrong one: the manifests hold the answer, as references
/// with digests, so that it asks no registry.
fn kbld() -> Option<Peer> {
    let kbld = named("METALMARK_KBLD", "kbld", &["version"])?;
    let script = format!(
        "set -e; mkdir -p {OUT}; exec '{kbld}' -f '{PEERS}/kbld.yaml' -f finished >{OUT}/machines.yaml"
    );
    Some(Peer {
        name: "`kbld`, finished manifests",
        at_most: usize::MAX,
        make: Box::new(move |folder| shell(folder, &script)),
        prepare: write_finished,
    })
}

/// The machine templates that metalmark rendered, with references for URLs.
fn write_finished(folder: &Path) {
    for name in clusters(folder) {
        let file = format!("{name}.yaml");
        let rendered = templates(&folder.join("out").join(&file));
        let finished = rendered.iter().map(|template| {
            let (url, checksum) = (field(template, "url"), field(template, "checksum"));
            let reference = format!("{}@sha256:{checksum}", url.trim_start_matches("https://"));
            format!("---\n{}", template.replace(url, &reference))
        });
        write(
            &folder.join("finished").join(file),
            &finished.collect::<String>(),
        );
    }
}

/// The names of a fleet's clusters.
fn clusters(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder.join("clusters")).expect("the fleet is written");
    let names = entries.map(|entry| entry.expect("an entry").file_name().into_string());
    names.map(|name| name.expect("UTF-8")).collect()
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.expect("readable");
        if entry.file_type().is_file() {
            let text = fs::read_to_string(entry.path()).expect("UTF-8");
            let path = entry.path().strip_prefix(from).expect("below");
            write(&to.join(path), &text);
        }
    }
}

/// Which image each machine template in a folder boots: its cluster with the image's checksum, sorted.
pub(super) fn images(folder: &Path) -> Vec<String> {
    let machines = templates(folder);
    let images = machines.iter().map(|template| {
        let cluster = field(template, "namespace");
        format!("{cluster} {}", field(template, "checksum"))
    });
    let mut images: Vec<String> = images.collect();
    images.sort();
    images
}

/// The text of the first such key in a machine template, without quotes.
fn field<'a>(template: &'a str, key: &str) -> &'a str {
    let value = template.lines().find_map(|line| {
        let value = line.trim_start().strip_prefix(key)?;
        value.strip_prefix(": ")
    });
    value
        .expect("a machine template has it")
        .trim_matches(['"', '\''])
}

/// The machine templates in a folder, however deep, each a text.
fn templates(folder: &Path) -> Vec<String> {
    let files = walkdir::WalkDir::new(folder).sort_by_file_name();
    let mut found = Vec::new();
    for file in files.into_iter().map(|entry| entry.expect("readable")) {
        if file.file_type().is_file() {
            let text = fs::read_to_string(file.path()).expect("UTF-8");
            let documents = text
                .split("---\n")
                .filter(|text| text.contains("kind: Metal3MachineTemplate\n"));
            found.extend(documents.map(str::to_owned));
        }
    }
    found
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("below the fleet")).expect("created");
    fs::write(path, text).expect("written");
}

fn shell(folder: &Path, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.current_dir(folder).args(["-c", script]);
    command
}

/// The program that a variable names, or the one of that name, if it runs.
fn named(variable: &str, name: &str, probe: &[&str]) -> Option<String> {
    let program = std::env::var(variable).unwrap_or_else(|_| name.to_owned());
    runs(&program, probe)?;
    Some(program)
}

fn runs(program: &str, probe: &[&str]) -> Option<()> {
    let mut command = Command::new(program);
    command
        .args(probe)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
        .status()
        .is_ok_and(|status| status.success())
        .then_some(())
}
