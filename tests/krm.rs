//! The KRM function: golden ResourceLists, and the real kustomize where it is found (`METALMARK_KUSTOMIZE`).

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::{Node, Value};

use super::programs;
use super::support::{Metalmark, Outcome, copy_of, golden, repository};

fn workspace() -> tempfile::TempDir {
    copy_of(&repository().join("fixtures/workspaces/sylva-baremetal"))
}

fn run(folder: &Path, input: &str) -> Outcome {
    Metalmark::within(folder).args(["fn"]).run_with(input)
}

/// A list whose output is compared with `fixtures/krm/<name>.out.yaml`; the input is `<name>.in.yaml`.
fn compared(name: &str, status: i32) -> Outcome {
    let folder = repository().join("fixtures/krm");
    let input = fs::read_to_string(folder.join(format!("{name}.in.yaml"))).expect("the fixture");
    let outcome = run(workspace().path(), &input);
    assert_eq!(
        outcome.status, status,
        "{}{}",
        outcome.stdout, outcome.stderr
    );
    golden(&folder.join(format!("{name}.out.yaml")), &outcome.stdout);
    outcome
}

fn read(text: &str) -> Node {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    read.documents.into_iter().next().expect("a document")
}

fn items(list: &str) -> Vec<Node> {
    let root = read(list);
    let items = root
        .get_path(&["items"])
        .and_then(|items| items.value.as_list());
    items.expect("items").to_vec()
}

/// The part of a list above a line.
fn above<'a>(list: &'a str, line: &str) -> &'a str {
    let above = list.find(&format!("\n{line}\n"));
    above.map_or(list, |end| &list[..=end])
}

#[test]
fn the_transformer_stamps_image_fields_and_keeps_the_rest() {
    let outcome = compared("transformer", 0);
    // A host may show nothing else of a function.
    let warning = "warning[image-unstamped]: no image is named, and no cluster of the project has this machine template: ";
    assert!(outcome.stderr.starts_with(warning), "{}", outcome.stderr);
    assert_eq!(outcome.stderr.lines().count(), 1, "{}", outcome.stderr);
    let input = fs::read_to_string(repository().join("fixtures/krm/transformer.in.yaml"))
        .expect("the fixture");
    // Every line that goes or comes is one of an image, or of the results.
    let changed = similar::TextDiff::from_lines(input.as_str(), above(&outcome.stdout, "results:"))
        .iter_all_changes()
        .filter(|change| change.tag() != similar::ChangeTag::Equal)
        .map(|change| change.value().trim().to_owned())
        .collect::<Vec<_>>();
    for line in changed {
        let fields = [
            "url:",
            "checksum:",
            "checksumType:",
            "format:",
            "diskFormat:",
            "image:",
        ];
        assert!(
            line.is_empty() || fields.iter().any(|field| line.starts_with(field)),
            "{line}"
        );
    }
    // What is stamped stays as it is.
    let again = run(workspace().path(), &outcome.stdout);
    assert_eq!(
        above(&again.stdout, "results:"),
        above(&outcome.stdout, "results:")
    );
}

#[test]
fn the_transformer_refuses_what_does_not_fit_and_changes_nothing() {
    let outcome = compared("refused", 1);
    assert!(
        outcome.stderr.starts_with("error: the catalog has no image `ubuntu-noble-plain-rke2-1-31-9`: did you mean `ubuntu-noble-plain-rke2-1-31-8`?"),
        "{}",
        outcome.stderr
    );
    let input =
        fs::read_to_string(repository().join("fixtures/krm/refused.in.yaml")).expect("the fixture");
    assert!(outcome.stdout.starts_with(&input));
}

#[test]
fn one_item_that_is_refused_keeps_the_others_as_they_are() {
    let input = |name: &str| {
        let file = repository().join(format!("fixtures/krm/{name}.in.yaml"));
        fs::read_to_string(file).expect("the fixture")
    };
    let (_, behind) = input("refused")
        .split_once("items:\n")
        .map(|(a, b)| (a.to_owned(), b.to_owned()))
        .expect("items");
    let refused = behind.split("functionConfig:").next().expect("items above");
    let whole = input("transformer").replacen("items:\n", &format!("items:\n{refused}"), 1);
    let outcome = run(workspace().path(), &whole);
    assert_eq!(outcome.status, 1, "{}", outcome.stderr);
    assert!(outcome.stdout.starts_with(&whole), "{}", outcome.stdout);
}

#[test]
fn the_validator_says_what_would_change_and_changes_nothing() {
    let outcome = compared("validator", 1);
    let input = fs::read_to_string(repository().join("fixtures/krm/validator.in.yaml"))
        .expect("the fixture");
    assert!(outcome.stdout.starts_with(&input));
    // A machine template that nothing stamps boots what it names, which nothing compares with a version.
    let unstamped = "error[image-unstamped]: no image is named";
    assert!(outcome.stderr.contains(unstamped), "{}", outcome.stderr);
}

#[test]
fn a_list_without_faults_passes_the_validator_byte_for_byte() {
    let input = "# kept\napiVersion: config.kubernetes.io/v1\nkind:   ResourceList\nitems: [ ]   # none\nfunctionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkValidator, metadata: {name: v}}\n";
    let folder = workspace();
    let only = "version: 1\nvalues: [charts/sylva-units/values.yaml]\nclusters: [{each: environment-values/workload-clusters/edge-*/values.yaml}]\n\
                images: {facts: [os-images-info.yaml]}\npolicy: {rules: {image-unused: off}}\n";
    fs::write(folder.path().join("metalmark.yaml"), only).expect("written");
    let outcome = run(folder.path(), input);
    assert_eq!(
        (outcome.status, outcome.stderr.as_str()),
        (0, ""),
        "{}",
        outcome.stdout
    );
    assert_eq!(outcome.stdout, input);
}

pub(super) const GENERATOR: &str = "\
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items:
- apiVersion: metalmark.dev/v1
  kind: MetalmarkGenerator
  metadata:
    name: images
    annotations:
      config.kubernetes.io/local-config: \"true\"
functionConfig:
  apiVersion: metalmark.dev/v1
  kind: MetalmarkGenerator
  metadata:
    name: images
";

/// The rendered documents, each without its path.
fn rendered(folder: &Path) -> Vec<String> {
    let outcome = Metalmark::within(folder).args(["render", "--stdout"]).run();
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    let parts = format!("\n{}", outcome.stdout);
    let parts = parts.split("\n---\n").skip(1);
    let mut bare = Vec::new();
    let mut is_object = true;
    for part in parts {
        let text = match part.split_once('\n') {
            Some((path, text)) if path.starts_with("# ") => {
                is_object = !path.ends_with(".values");
                text
            }
            _ => part,
        };
        if is_object {
            bare.push(format!("{}\n", text.trim_end_matches('\n')));
        }
    }
    bare
}

/// The items of a list as texts of their own, without the annotations that say where they belong.
fn texts(list: &str) -> Vec<String> {
    let (_, items) = list.split_once("\nitems:\n").expect("items");
    let (items, _) = items
        .split_once("\nfunctionConfig:")
        .expect("functionConfig");
    let column = items.len() - items.trim_start().len();
    let mut texts: Vec<String> = Vec::new();
    for line in items.lines() {
        match line.get(column..) {
            Some(rest) if rest.starts_with("- ") => texts.push(format!("{}\n", &rest[2..])),
            rest => {
                let text = texts.last_mut().expect("an item");
                text.push_str(rest.map_or("", |rest| rest.get(2..).unwrap_or_default()));
                text.push('\n');
            }
        }
    }
    let of_place = "    internal.config.kubernetes.io/";
    let without = |text: &String| -> String {
        let text = text.replace(
            &format!("  annotations:\n{of_place}index"),
            &format!("{of_place}index"),
        );
        let lines = text.split_inclusive('\n');
        lines.filter(|line| !line.starts_with(of_place)).collect()
    };
    texts.iter().map(without).collect()
}

/// The items' texts by the file that each belongs to.
pub(super) fn files(list: &str) -> std::collections::BTreeMap<String, Vec<String>> {
    let mut files = std::collections::BTreeMap::<String, Vec<String>>::new();
    for (item, text) in items(list).iter().zip(texts(list)) {
        let path = annotation(item, "path");
        files.entry(path).or_default().push(text);
    }
    files
}

/// Where an item belongs.
fn annotation(item: &Node, name: &str) -> String {
    let key = format!("internal.config.kubernetes.io/{name}");
    let node = item.get_path(&["metadata", "annotations", &key]);
    let text = node.and_then(|node| node.value.as_str());
    text.expect("an annotation").to_string()
}

#[test]
fn the_generator_gives_the_bytes_of_render_with_their_places() {
    let folder = workspace();
    let outcome = run(folder.path(), GENERATOR);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("error"), "{}", outcome.stderr);
    assert_eq!(texts(&outcome.stdout), rendered(folder.path()));
    let items = items(&outcome.stdout);
    let places: Vec<(String, String)> = items
        .iter()
        .map(|item| (annotation(item, "path"), annotation(item, "index")))
        .collect();
    let paris = "rendered/clusters/edge-paris/edge-paris.yaml";
    assert!(
        places.contains(&(paris.to_owned(), "2".to_owned())),
        "{places:?}"
    );
    // A second run finds its own items and writes them anew.
    let again = run(folder.path(), &outcome.stdout);
    assert_eq!(again.stdout, outcome.stdout);
}

#[test]
fn the_generator_takes_lists_however_they_are_written() {
    let folder = workspace();
    let config = "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {function: generator, cluster: edge-paris, targets: manifests}}";
    let own = "{apiVersion: v1, kind: ConfigMap, metadata: {name: own}}";
    for items_text in [
        String::new(),
        "items:\n".to_owned(),
        "items: []\n".to_owned(),
        format!("items: [{own}]\n"),
        format!("items:\n  - {own}\n"),
        format!("items:\n- {own}  # kept\n"),
    ] {
        let input = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nown: field\n{items_text}{config}\n"
        );
        let outcome = run(folder.path(), &input);
        assert_eq!(
            (outcome.status, outcome.stderr.as_str()),
            (0, ""),
            "{input}"
        );
        let found = items(&outcome.stdout);
        let names: Vec<String> = found
            .iter()
            .map(|item| {
                item.get_path(&["metadata", "name"])
                    .and_then(|name| name.value.as_str())
                    .expect("a name")
                    .to_string()
            })
            .collect();
        let expected = [
            "edge-paris-control-plane-235cb023ad",
            "edge-paris-md0-59719938be",
            "edge-paris-storage-2478bffea6",
        ];
        assert!(names.ends_with(&expected.map(str::to_owned)), "{names:?}");
        assert_eq!(
            names.first().is_some_and(|name| name == "own"),
            items_text.contains("own")
        );
        assert!(
            read(&outcome.stdout)
                .get_path(&["own"])
                .is_some_and(|node| node.value == Value::from("field"))
        );
    }
}

#[test]
fn what_is_no_list_for_us_is_refused_without_output() {
    let folder = workspace();
    let list = |config: &str| {
        format!("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n{config}")
    };
    let ours = "functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: x}, spec: {SPEC}}\n";
    for (input, reported) in [
        ("a: [\n".to_owned(), "error: stdin:"),
        ("kind: List\n".to_owned(), "error: stdin is no ResourceList"),
        (
            list(""),
            "error: the functionConfig names no function of metalmark",
        ),
        (
            list(&ours.replace("SPEC", "clutser: a")),
            "error: the functionConfig has no option `clutser`\nhelp: did you mean `cluster`?",
        ),
        (
            list(&ours.replace("SPEC", "cluster: edge-pari")),
            "error: there is no cluster `edge-pari`\nhelp: did you mean `edge-paris`?",
        ),
        (
            list(&ours.replace("SPEC", "targets: [flux]")),
            "error: the render yields no file",
        ),
    ] {
        let outcome = run(folder.path(), &input);
        assert_eq!(
            (outcome.status, outcome.stdout.as_str()),
            (2, ""),
            "{input}"
        );
        assert!(outcome.stderr.starts_with(reported), "{}", outcome.stderr);
    }
}

/// Builds a folder with the real kustomize: its status, stdout and stderr.
fn build(kustomize: &Path, folder: &Path) -> (bool, String, String) {
    let output = Command::new(kustomize)
        .args(["build", "--enable-alpha-plugins", "--enable-exec", "."])
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .expect("kustomize starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    (
        output.status.success(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// A function's configuration that runs the binary under test.
fn function(kind: &str, spec: &str) -> String {
    format!(
        "apiVersion: metalmark.dev/v1\nkind: {kind}\nmetadata:\n  name: images\n  annotations:\n    config.kubernetes.io/function: |\n      \
         exec:\n        path: {}\n        args: [fn]\nspec: {{{spec}}}\n",
        env!("CARGO_BIN_EXE_metalmark")
    )
}

#[test]
fn the_real_kustomize_runs_the_generator_the_transformer_and_the_validator() {
    let Some(kustomize) = programs::find("kustomize") else {
        return;
    };
    let folder = workspace();
    let write = |name: &str, text: &str| {
        let mut file = fs::File::create(folder.path().join(name)).expect("created");
        file.write_all(text.as_bytes()).expect("written");
    };
    write("function.yaml", &function("MetalmarkGenerator", ""));
    write("kustomization.yaml", "generators: [function.yaml]\n");
    let (built, text, reported) = build(&kustomize, folder.path());
    assert!(built, "{reported}");
    assert_eq!(
        objects(&text),
        objects(&rendered(folder.path()).join("---\n"))
    );

    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata:\n  name: edge-paris-md0\n  \
                    namespace: edge-paris\nspec:\n  template:\n    spec:\n      image:\n        url: http://old/image.raw   # replaced\n        format: raw\n";
    write("template.yaml", template);
    write("function.yaml", &function("MetalmarkTransformer", ""));
    write(
        "kustomization.yaml",
        "resources: [template.yaml]\ntransformers: [function.yaml]\n",
    );
    let (built, text, reported) = build(&kustomize, folder.path());
    assert!(built, "{reported}");
    let image = read(&text);
    let image = image
        .get_path(&["spec", "template", "spec", "image", "url"])
        .expect("a URL");
    assert_eq!(
        image.value,
        Value::from("https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw")
    );

    write("function.yaml", &function("MetalmarkValidator", ""));
    // Under `validators:` kustomize takes its own annotations for a change (kubernetes-sigs/kustomize#5036).
    write(
        "kustomization.yaml",
        "resources: [template.yaml]\ntransformers: [function.yaml]\n",
    );
    let (built, _, reported) = build(&kustomize, folder.path());
    assert!(!built);
    assert!(
        reported.contains("error: `spec.template.spec.image.url` is"),
        "{reported}"
    );
    write("template.yaml", &text);
    let (built, again, reported) = build(&kustomize, folder.path());
    assert!(built, "{reported}");
    assert_eq!(again, text);
}

/// Each object of a stream as JSON, sorted: kustomize orders them its own way.
fn objects(stream: &str) -> Vec<String> {
    let read = yaml_tree::read(stream, FileId(0), Engine::Kubectl).expect("YAML");
    let plain = yaml_tree::json::Html::Plain;
    let json = |node: &Node| yaml_tree::json::to_json(&node.value, plain);
    let mut all: Vec<String> = read.documents.iter().map(json).collect();
    all.sort();
    all
}
