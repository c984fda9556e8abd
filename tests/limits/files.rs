//! The limits of what a repository may hold: files, and builds of kustomizations.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use capi::objects;
use capi::schema::Schemas;
use metalmark::files::{Disk, FILE_LIMIT};
use metalmark::read::{self, gitops};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Source, Sources};

use super::most;
use crate::support::stage::project;

/// What a folder of kustomizations builds to: how many objects, or what is refused.
fn built(files: &[(String, String)]) -> Result<usize, String> {
    let project = project();
    for (path, text) in files {
        project.write(path, text);
    }
    let disk = Disk::new(project.path()).expect("there");
    let built = gitops::objects(&disk, Path::new("top"), &mut Sources::default());
    let built = built.expect("readable");
    built
        .map(|objects| objects.len())
        .map_err(|finding| finding.message)
}

const OBJECT: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: v}\n";

fn with_patches(patches: &[String]) -> Result<usize, String> {
    let patches: String = patches
        .iter()
        .map(|operation| format!("- target: {{kind: ConfigMap}}\n  patch: '[{operation}]'\n"))
        .collect();
    let top = format!("resources: [a.yaml]\npatches:\n{patches}");
    built(&[
        ("top/kustomization.yaml".to_owned(), top),
        ("top/a.yaml".to_owned(), OBJECT.to_owned()),
    ])
}

#[test]
fn a_values_file_that_is_too_large_is_a_finding() {
    let project = project();
    let file = fs::File::create(project.path().join("values.yaml")).expect("created");
    file.set_len(FILE_LIMIT + 1).expect("a sparse file");
    let run = project.run("check --values values.yaml --clusters values.yaml");
    let outcome = run.exit(1).outcome;
    let reported = format!("{}{}", outcome.stdout, outcome.stderr);
    let words = "`values.yaml` is not read: it is larger than 16 MiB";
    assert!(reported.contains(words), "{reported}");
}

#[test]
fn the_longest_path_of_a_patch_is_followed_and_a_longer_one_is_not() {
    // Below what an earlier operation made.
    let nested = |depth: usize| {
        let value = "{\"k\": ".repeat(depth) + "1" + &"}".repeat(depth);
        let path = "/k".repeat(depth);
        let add = format!("{{\"op\": \"add\", \"path\": \"/x\", \"value\": {value}}}");
        let replace = format!("{{\"op\": \"replace\", \"path\": \"/x{path}\", \"value\": \"y\"}}");
        with_patches(&[add, replace])
    };
    most(99, "deeper than 100 keys", nested);
}

#[test]
fn a_patch_that_copies_an_object_into_itself_ends() {
    let copy = "{\"op\": \"copy\", \"from\": \"\", \"path\": \"/data/k\"}".to_owned();
    // Each copy is one level deeper.
    assert_eq!(with_patches(&vec![copy.clone(); 10]), Ok(1));
    let refused = with_patches(&vec![copy; 5_000]).expect_err("it would never end");
    assert!(refused.contains("nested more than 400 deep"), "{refused}");
    // Each copy holds all those before it.
    let beside = |number| {
        format!("{{\"op\": \"copy\", \"from\": \"/data\", \"path\": \"/data/k{number}\"}}")
    };
    let beside: Vec<String> = (0..30).map(beside).collect();
    assert_eq!(with_patches(&beside[..10]), Ok(1));
    let refused = with_patches(&[beside.join(", ")]).expect_err("a billion values");
    assert!(
        refused.contains("more than 750000 values are copied"),
        "{refused}"
    );
    let deeper = "{\"op\": \"move\", \"from\": \"/data\", \"path\": \"/metadata/data\"}, \
                  {\"op\": \"move\", \"from\": \"/metadata\", \"path\": \"/data\"}, \
                  {\"op\": \"add\", \"path\": \"/metadata\", \"value\": {}}"
        .to_owned();
    let refused = with_patches(&vec![deeper; 2_000]).expect_err("nothing could walk it");
    assert!(refused.contains("nested more than 400 deep"), "{refused}");
}

#[test]
fn kustomizations_nest_as_deep_as_is_stated() {
    let chain = |length: usize| {
        let link = |level: usize| {
            let (folder, below) = match level {
                0 => ("top".to_owned(), "../k1".to_owned()),
                _ => (format!("k{level}"), format!("../k{}", level + 1)),
            };
            let text = if level + 1 == length {
                "configMapGenerator: [{name: a, literals: [k=v]}]\n".to_owned()
            } else {
                format!("resources: [{below}]\n")
            };
            (format!("{folder}/kustomization.yaml"), text)
        };
        built(&(0..length).map(link).collect::<Vec<_>>())
    };
    most(50, "nested too deeply, or too many", chain);
}

#[test]
fn a_build_visits_as_many_kustomizations_as_is_stated() {
    let fan = |count: usize| {
        let folders = (1..count).map(|index| format!("../k{index}, "));
        let top = format!("resources: [{}]\n", folders.collect::<String>());
        let mut files = vec![("top/kustomization.yaml".to_owned(), top)];
        let empty = |index| {
            (
                format!("k{index}/kustomization.yaml"),
                "resources: []\n".to_owned(),
            )
        };
        files.extend((1..count).map(empty));
        built(&files)
    };
    most(2_000, "nested too deeply, or too many", fan);
}

#[test]
fn the_deepest_schema_is_read_and_a_deeper_one_is_not() {
    most(200, "nested too deeply", |depth| {
        let (open, close) = ("{items: ".repeat(depth - 1), "}".repeat(depth - 1));
        let text = format!(
            "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: ws.e}}\nspec:\n  \
             group: e\n  names: {{kind: W}}\n  versions:\n  - name: v1\n    served: true\n    \
             schema: {{openAPIV3Schema: {open}{{}}{close}}}\n"
        );
        let schemas = Schemas::new([Arc::new(Source::new("crd.yaml", text))]);
        let object = yaml_tree::read("apiVersion: e/v1\nkind: W\n", FileId(0), Engine::Kubectl);
        let problems = schemas.check(&object.expect("YAML").documents[0]);
        match problems
            .into_iter()
            .find(|problem| problem.message.contains("deeply"))
        {
            Some(problem) => Err(problem.message),
            None => Ok(()),
        }
    });
}

#[test]
fn manifests_in_strings_are_found_as_deep_as_is_stated() {
    let template = "# metalmark: image=noble\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\n\
                    kind: Metal3MachineTemplate\nmetadata: {name: a}\n";
    let nested = |depth: usize| {
        (0..depth).fold(template.to_owned(), |text, _| {
            let lines = text.lines().map(|line| format!("    {line}\n"));
            let data: String = lines.collect();
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c}}\ndata:\n  k: |\n{data}")
        })
    };
    most(4, "none", |depth| {
        let source = Arc::new(Source::new("a.yaml", nested(depth)));
        let found = objects::objects(&source).expect("YAML").objects;
        let is_it = |object: &objects::ManifestObject| &*object.kind == "Metal3MachineTemplate";
        if found.iter().any(is_it) {
            Ok(())
        } else {
            Err("none")
        }
    });
}

#[test]
fn the_longest_named_text_is_read_and_a_longer_one_is_not() {
    let project = project();
    let file = project.path().join("text");
    most(16 << 20, "longer than 16 MiB", |length| {
        fs::File::create(&file)
            .and_then(|file| file.set_len(length as u64))
            .expect("a sparse file");
        read::argument_text(&file).map(|text| assert_eq!(text.len(), length))
    });
}

#[test]
fn no_more_of_a_resource_list_is_read_than_is_stated() {
    let project = project();
    let run = || project.program().args(["fn"]);
    let (outcome, is_read) = run().run_fed(17 << 20);
    assert!(is_read && outcome.status == 2, "{}", outcome.stderr);
    // More than is read and a pipe takes.
    let (outcome, is_read) = run().run_fed(67 << 20);
    assert!(!is_read && outcome.status == 2, "{}", outcome.stderr);
}

#[test]
fn the_longest_path_of_a_replacement_is_followed_and_a_longer_one_is_not() {
    let nested = |depth: usize| {
        let path = format!("x{}", ".k".repeat(depth - 1));
        with_replacement(&path, "metadata.name")
    };
    most(100, "deeper than 100 keys", nested);
}

#[test]
fn a_replacement_that_copies_an_object_into_itself_ends() {
    let one = "- source: {kind: ConfigMap, fieldPath: data}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.k]\n";
    let top = format!("resources: [a.yaml]\nreplacements:\n{}", one.repeat(2_000));
    let refused = built(&[
        ("top/kustomization.yaml".to_owned(), top),
        (
            "top/a.yaml".to_owned(),
            OBJECT.replace("{k: v}", "{k: {a: b}}"),
        ),
    ]);
    let refused = refused.expect_err("nothing could walk it");
    assert!(refused.contains("nested more than 400 deep"), "{refused}");
}

fn with_replacement(to: &str, from: &str) -> Result<usize, String> {
    let top = format!(
        "resources: [a.yaml]\nreplacements:\n- source: {{kind: ConfigMap, fieldPath: {from}}}\n  targets:\n  \
         - select: {{kind: ConfigMap}}\n    fieldPaths: [{to}]\n    options: {{create: true}}\n"
    );
    built(&[
        ("top/kustomization.yaml".to_owned(), top),
        ("top/a.yaml".to_owned(), OBJECT.to_owned()),
    ])
}
