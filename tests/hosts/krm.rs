//! The KRM function: what comes in comes out but for image fields, and the real kustomize where it is found (`METALMARK_KUSTOMIZE`).

use std::path::Path;
use std::process::{Command, Stdio};

use similar::{ChangeTag, TextDiff};
use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::json::Html;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

use super::{Files, demo, documents};
use crate::programs;
use crate::support::binary;
use crate::support::stage::{Is, Stage, assert_text, table};

fn read(text: &str) -> Node {
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl);
    let read = read.unwrap_or_else(|error| panic!("{error}\n{text}"));
    read.documents.into_iter().next().expect("a document")
}

fn text_at(node: &Node, path: &[&str]) -> Option<String> {
    let value = &node.get_path(path)?.value;
    let json = || yaml_tree::json::to_json(value, Html::Plain);
    Some(value.as_str().map_or_else(json, |text| text.to_string()))
}

fn items<'l>(list: &'l Node, key: &str) -> &'l [Node] {
    let items = list
        .get_path(&[key])
        .and_then(|items| items.value.as_list());
    items.unwrap_or_default()
}

/// The part of a list above its results.
fn strip_results(list: &str) -> &str {
    let end = list.find("\nresults:\n");
    end.map_or(list, |end| &list[..=end])
}

/// The results of a list, a line each: severity, object, field, values and file, or the message where there is no field.
fn results(list: &str) -> String {
    let line = |result: &Node| {
        let text = |path: &[&str]| text_at(result, path);
        let mut line = text(&["severity"]).expect("a severity");
        let shown = [
            text(&["resourceRef", "name"]),
            text(&["field", "path"]).or_else(|| text(&["message"])),
            text(&["field", "currentValue"]).map(|value| format!("was {value}")),
            text(&["field", "proposedValue"]).map(|value| format!("is {value}")),
            text(&["file", "path"]),
            text(&["file", "index"]),
            text(&["tags", "line"]),
            text(&["tags", "rule"]),
        ];
        for part in shown.into_iter().flatten() {
            line += &format!(" | {part}");
        }
        line + "\n"
    };
    items(&read(list), "results").iter().map(line).collect()
}

/// The lines that go and come.
fn changes(before: &str, after: &str) -> String {
    let diff = TextDiff::from_lines(before, after);
    let changes = diff.iter_all_changes();
    let changes = changes.filter(|change| change.tag() != ChangeTag::Equal);
    changes
        .map(|change| format!("{}{}", change.tag(), change.value()))
        .collect()
}

/// What a host passes to a function.
fn list(items: &str, kind: &str) -> String {
    format!(
        "# What a host passes: this comment, the order and the fields that nobody asked about stay.\n\
         apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n{items}functionConfig:\n  \
         apiVersion: metalmark.dev/v1\n  kind: {kind}\n  metadata: {{name: images}}\nunknown: {{field: kept}}\n"
    )
}

const ITEMS: &str = r#"- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
  kind: Metal3MachineTemplate
  metadata:
    name: edge-paris-control-plane   # the name says cluster and pool
    namespace: edge-paris
    labels: {cluster.x-k8s.io/cluster-name: edge-paris}
    annotations:
      internal.config.kubernetes.io/path: clusters/paris.yaml
      internal.config.kubernetes.io/index: "1"
      own: 'note'
  spec:
    nodeReuse: true
    template:
      spec:
        # the image of last year
        image:
          checksum: http://old.example.org/image.raw.sha256sum   # a URL
          url: 'http://old.example.org/image.raw'
          format: raw
        hostSelector: {matchLabels: {cluster-role: control-plane}}
- apiVersion: v1
  kind: ConfigMap
  metadata: {name: bystander}
  data: {a:   'b'}
- apiVersion: infrastructure.cluster.x-k8s.io/v1beta2
  kind: Metal3MachineTemplate
  metadata:
    name: anything
    namespace: elsewhere
    annotations:
      metalmark.dev/image: ubuntu-noble-plain-rke2-1-31-8
  spec:
    template:
      spec:
        hostSelector: {}
- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
  kind: Metal3MachineTemplate
  metadata: {name: stranger, namespace: elsewhere}
  spec: {template: {spec: {image: {url: http://x/y}}}}
"#;

const REFUSED: &str = "\
- apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
  kind: Metal3MachineTemplate
  metadata: {name: edge-paris-md0, namespace: edge-paris, annotations: {metalmark.dev/image: ubuntu-noble-plain-rke2-1-31-9}}
  spec: {template: {spec: {image: {url: http://x/y}}}}
- apiVersion: infrastructure.cluster.x-k8s.io/v1alpha9
  kind: Metal3MachineTemplate
  metadata: {name: edge-paris-md0, namespace: edge-paris}
  spec: {template: {spec: {image: {url: http://x/y}}}}
";

#[test]
fn the_transformer_stamps_image_fields_and_keeps_the_rest() {
    let demo = demo();
    let input = list(ITEMS, "MetalmarkTransformer");
    // A host may show nothing else of a function than its errors.
    let run = demo.feed("fn", &input).exit(0).stderr(str![[r#"
warning[image-unstamped]: no image is named, and no cluster of the project has this machine template: annotate it with `metalmark.dev/image`, or label it with `cluster.x-k8s.io/cluster-name` (Metal3MachineTemplate stranger)

"#]]);
    let output = run.outcome.stdout;
    changes(&input, strip_results(&output)).is(str![[r#"
-          checksum: http://old.example.org/image.raw.sha256sum   # a URL
-          url: 'http://old.example.org/image.raw'
+          checksum: 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f   # a URL
+          url: 'https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw'
+          checksumType: sha256
+        image:
+          checksum: "6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f"
+          checksumType: sha256
+          diskFormat: raw
+          url: https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw

"#]]);
    results(&output).is(str![[r#"
info | edge-paris-control-plane | spec.template.spec.image.url | was http://old.example.org/image.raw | is https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw | clusters/paris.yaml | 1
info | edge-paris-control-plane | spec.template.spec.image.checksum | was http://old.example.org/image.raw.sha256sum | is 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f | clusters/paris.yaml | 1
info | edge-paris-control-plane | spec.template.spec.image.checksumType | is sha256 | clusters/paris.yaml | 1
info | anything | spec.template.spec.image.url | is https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw
info | anything | spec.template.spec.image.checksum | is 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f
info | anything | spec.template.spec.image.checksumType | is sha256
info | anything | spec.template.spec.image.diskFormat | is raw
warning | stranger | no image is named, and no cluster of the project has this machine template: annotate it with `metalmark.dev/image`, or label it with `cluster.x-k8s.io/cluster-name` | image-unstamped

"#]]);
    // What is stamped stays as it is.
    let again = demo.feed("fn", &output).outcome.stdout;
    assert_eq!(strip_results(&again), strip_results(&output));
}

#[test]
fn one_item_that_is_refused_keeps_the_others_as_they_are() {
    let demo = demo();
    let input = list(REFUSED, "MetalmarkTransformer");
    let run = demo.feed("fn", &input).exit(1).stderr(str![[r#"
error: the catalog has no image `ubuntu-noble-plain-rke2-1-31-9`: did you mean `ubuntu-noble-plain-rke2-1-31-8`? (Metal3MachineTemplate edge-paris-md0)
error: Metal3MachineTemplate is known in v1beta1, v1beta2, not in v1alpha9 (Metal3MachineTemplate edge-paris-md0)

"#]]);
    let results = run.outcome.stdout.strip_prefix(&*input);
    results.expect("nothing changes").is(str![[r#"
results:
- message: "the catalog has no image `ubuntu-noble-plain-rke2-1-31-9`: did you mean `ubuntu-noble-plain-rke2-1-31-8`?"
  resourceRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1beta1
    kind: Metal3MachineTemplate
    name: edge-paris-md0
    namespace: edge-paris
  severity: error
- message: "Metal3MachineTemplate is known in v1beta1, v1beta2, not in v1alpha9"
  resourceRef:
    apiVersion: infrastructure.cluster.x-k8s.io/v1alpha9
    kind: Metal3MachineTemplate
    name: edge-paris-md0
    namespace: edge-paris
  severity: error

"#]]);
    let input = list(&format!("{REFUSED}{ITEMS}"), "MetalmarkTransformer");
    let run = demo.feed("fn", &input).exit(1);
    assert_eq!(strip_results(&run.outcome.stdout), input);
}

#[test]
fn the_validator_says_what_would_change_and_changes_nothing() {
    let input = list(ITEMS, "MetalmarkValidator");
    let run = demo().feed("fn", &input).exit(1);
    assert_eq!(strip_results(&run.outcome.stdout), input);
    results(&run.outcome.stdout).is(str![[r#"
warning | image `ubuntu-noble-plain-rke2-1-30-12` holds Kubernetes `1.30.12+rke2r1`, not `v1.31.8+rke2r1` | environment-values/workload-clusters/lab-7/values.yaml | 8 | k8s-version-mismatch
warning | nothing proves that image `ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw` holds Kubernetes `v1.31.8+rke2r1` | environment-values/workload-clusters/lab-7/values.yaml | 14 | k8s-version-unproven
error | edge-paris-control-plane | spec.template.spec.image.url | was http://old.example.org/image.raw | is https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw | clusters/paris.yaml | 1
error | edge-paris-control-plane | spec.template.spec.image.checksum | was http://old.example.org/image.raw.sha256sum | is 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f | clusters/paris.yaml | 1
error | edge-paris-control-plane | spec.template.spec.image.checksumType | is sha256 | clusters/paris.yaml | 1
error | anything | spec.template.spec.image.url | is https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw
error | anything | spec.template.spec.image.checksum | is 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f
error | anything | spec.template.spec.image.checksumType | is sha256
error | anything | spec.template.spec.image.diskFormat | is raw
error | stranger | no image is named, and no cluster of the project has this machine template: annotate it with `metalmark.dev/image`, or label it with `cluster.x-k8s.io/cluster-name` | image-unstamped

"#]]);
    // A machine template that nothing stamps boots what it names, which nothing compares with a version.
    let stderr = &run.outcome.stderr;
    assert!(
        stderr.contains("error[image-unstamped]: no image is named"),
        "{stderr}"
    );
}

#[test]
fn a_list_without_faults_passes_the_validator_byte_for_byte() {
    let input = "# kept\napiVersion: config.kubernetes.io/v1\nkind:   ResourceList\nitems: [ ]   # none\nfunctionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkValidator, metadata: {name: v}}\n";
    let only = "version: 1\nvalues: [charts/sylva-units/values.yaml]\nclusters: [{each: environment-values/workload-clusters/edge-*/values.yaml}]\n\
                images: {facts: [os-images-info.yaml]}\npolicy: {rules: {image-unused: off}}\n";
    let demo = demo().file("metalmark.yaml", only);
    demo.remove("environment-values/workload-clusters/lab-7/values.yaml");
    let run = demo.feed("fn", input).exit(0).stderr(str![]);
    assert_eq!(run.outcome.stdout, input);
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

/// The rendered objects, each without its path.
fn rendered(demo: &Stage) -> Vec<String> {
    let stream = demo.run("render --stdout").exit(0).outcome.stdout;
    let parts = format!("\n{stream}");
    let parts = parts.split("\n---\n").skip(1);
    let mut is_object = true;
    let mut objects = Vec::new();
    for part in parts {
        let text = match part.split_once('\n') {
            Some((path, text)) if path.starts_with("# ") => {
                is_object = !path.ends_with(".values");
                text
            }
            _ => part,
        };
        if is_object {
            objects.extend(documents(text));
        }
    }
    objects
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
pub(super) fn files(list: &str) -> Files {
    let mut files = Files::new();
    for (item, text) in items(&read(list), "items").iter().zip(texts(list)) {
        let path = annotation(item, "path");
        files.entry(path).or_default().push(text);
    }
    files
}

/// Where an item belongs.
fn annotation(item: &Node, name: &str) -> String {
    let key = format!("internal.config.kubernetes.io/{name}");
    text_at(item, &["metadata", "annotations", &key]).expect("an annotation")
}

#[test]
fn the_generator_gives_the_bytes_of_render_with_their_places() {
    let demo = demo();
    let run = demo.feed("fn", GENERATOR).exit(0);
    let (list, stderr) = (run.outcome.stdout, run.outcome.stderr);
    assert!(!stderr.contains("error"), "{stderr}");
    assert_eq!(texts(&list), rendered(&demo));
    let root = read(&list);
    let place = |item: &Node| {
        format!(
            "{} {}\n",
            annotation(item, "path"),
            annotation(item, "index")
        )
    };
    assert_text(
        &items(&root, "items").iter().map(place).collect::<String>(),
        str![[r#"
rendered/clusters/mgmt/mgmt.yaml 0
rendered/clusters/mgmt/mgmt.yaml 1
rendered/clusters/edge-lyon/edge-lyon.yaml 0
rendered/clusters/edge-lyon/edge-lyon.yaml 1
rendered/clusters/edge-paris/edge-paris.yaml 0
rendered/clusters/edge-paris/edge-paris.yaml 1
rendered/clusters/edge-paris/edge-paris.yaml 2
rendered/clusters/lab-7/lab-7.yaml 0
rendered/clusters/lab-7/lab-7.yaml 1
rendered/shared/os-images-info.yaml 0

"#]],
    );
    // A second run finds its own items and writes them anew.
    assert_eq!(demo.feed("fn", &list).outcome.stdout, list);
}

#[test]
fn the_generator_takes_lists_however_they_are_written() {
    let demo = demo();
    let config = "functionConfig: {apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {function: generator, cluster: edge-paris, targets: manifests}}";
    let own = "{apiVersion: v1, kind: ConfigMap, metadata: {name: own}}";
    let cases = [
        String::new(),
        "items:".to_owned(),
        "items: []".to_owned(),
        format!("items: [{own}]"),
        format!("items:\n  - {own}"),
        format!("items:\n- {own}  # kept"),
    ];
    let names = table(cases, |items_text| {
        let input = format!(
            "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nown: field\n{items_text}\n{config}\n"
        );
        let run = demo.feed("fn", &input).exit(0).stderr(str![]);
        let root = read(&run.outcome.stdout);
        assert_eq!(text_at(&root, &["own"]).as_deref(), Some("field"));
        let name = |item: &Node| text_at(item, &["metadata", "name"]).expect("a name");
        let names: Vec<String> = items(&root, "items").iter().map(name).collect();
        vec![names.join(" ")]
    });
    names.is(str![[r#"

    edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6
items:
    edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6
items: []
    edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6
items: [{apiVersion: v1, kind: ConfigMap, metadata: {name: own}}]
    own edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6
items:
  - {apiVersion: v1, kind: ConfigMap, metadata: {name: own}}
    own edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6
items:
- {apiVersion: v1, kind: ConfigMap, metadata: {name: own}}  # kept
    own edge-paris-control-plane-235cb023ad edge-paris-md0-59719938be edge-paris-storage-2478bffea6

"#]]);
}

#[test]
fn what_is_no_list_for_us_is_refused_without_output() {
    let demo = demo();
    let list = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []";
    let ours = "functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: x}, spec: {SPEC}}";
    let specs = ["clutser: a", "cluster: edge-pari", "targets: [flux]"];
    let wrong = specs.map(|spec| format!("{list}\n{}", ours.replace("SPEC", spec)));
    let cases = ["a: [", "kind: List", list].map(str::to_owned);
    let refused = table(cases.into_iter().chain(wrong), |input| {
        let run = demo
            .feed("fn", &format!("{input}\n"))
            .exit(2)
            .stdout(str![]);
        let lines = run.outcome.stderr.lines().take(2).map(str::to_owned);
        lines.collect::<Vec<_>>()
    });
    refused.is(str![[r#"
a: [
    error: stdin:2:1: expected a value, found the end of the file
kind: List
    error: stdin is not a ResourceList of config.kubernetes.io: kustomize and kpt run this command
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
    error: the functionConfig names no function of metalmark
    help: write `apiVersion: metalmark.dev/v1` and a kind: MetalmarkGenerator, MetalmarkTransformer or MetalmarkValidator
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: x}, spec: {clutser: a}}
    error: the functionConfig has no option `clutser`
    help: did you mean `cluster`?
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: x}, spec: {cluster: edge-pari}}
    error: there is no cluster `edge-pari`
    help: did you mean `edge-paris`?
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig: {apiVersion: metalmark.dev/v1, kind: MetalmarkGenerator, metadata: {name: x}, spec: {targets: [flux]}}
    error: the render yields no file, and a GitOps engine that prunes would delete everything
    help: check `clusters`, or type --allow-empty if that is what you want

"#]]);
}

/// Builds the project with the real kustomize: its stdout, or its errors.
fn build(kustomize: &Path, demo: &Stage) -> Result<String, String> {
    let output = Command::new(kustomize)
        .args(["build", "--enable-alpha-plugins", "--enable-exec", "."])
        .current_dir(demo.path())
        .stdin(Stdio::null())
        .output()
        .expect("kustomize starts");
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("UTF-8");
    if output.status.success() {
        Ok(text(output.stdout))
    } else {
        Err(text(output.stderr))
    }
}

/// A function's configuration that runs the binary under test.
fn function(kind: &str) -> String {
    format!(
        "apiVersion: metalmark.dev/v1\nkind: {kind}\nmetadata:\n  name: images\n  annotations:\n    config.kubernetes.io/function: |\n      \
         exec:\n        path: {}\n        args: [fn]\nspec: {{}}\n",
        binary().display()
    )
}

#[test]
fn the_real_kustomize_runs_the_generator_the_transformer_and_the_validator() {
    let Some(kustomize) = programs::find("kustomize") else {
        return;
    };
    let demo = demo();
    demo.write("function.yaml", function("MetalmarkGenerator"));
    demo.write("kustomization.yaml", "generators: [function.yaml]\n");
    let built = build(&kustomize, &demo).expect("it builds");
    assert_eq!(objects(&built), objects(&rendered(&demo).join("---\n")));

    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\nmetadata:\n  name: edge-paris-md0\n  \
                    namespace: edge-paris\nspec:\n  template:\n    spec:\n      image:\n        url: http://old/image.raw   # replaced\n        format: raw\n";
    demo.write("template.yaml", template);
    demo.write("function.yaml", function("MetalmarkTransformer"));
    // Under `validators:` kustomize takes its own annotations for a change (kubernetes-sigs/kustomize#5036).
    let both = "resources: [template.yaml]\ntransformers: [function.yaml]\n";
    demo.write("kustomization.yaml", both);
    let built = build(&kustomize, &demo).expect("it builds");
    let image = text_at(&read(&built), &["spec", "template", "spec", "image", "url"]);
    let url = "https://os-images.example.org/ubuntu-noble-plain-rke2-1-31-8-0.4.12.raw";
    assert_eq!(image.as_deref(), Some(url));

    demo.write("function.yaml", function("MetalmarkValidator"));
    let reported = build(&kustomize, &demo).expect_err("it is not stamped");
    let expected = "error: `spec.template.spec.image.url` is";
    assert!(reported.contains(expected), "{reported}");
    demo.write("template.yaml", &built);
    assert_eq!(build(&kustomize, &demo), Ok(built));
}

/// Each object of a stream as JSON, sorted: kustomize orders them its own way.
fn objects(stream: &str) -> Vec<String> {
    let read = yaml_tree::read(stream, FileId(0), Engine::Kubectl).expect("YAML");
    let json = |node: &Node| yaml_tree::json::to_json(&node.value, Html::Plain);
    let mut all: Vec<String> = read.documents.iter().map(json).collect();
    all.sort();
    all
}
