//! A cluster as Flux composes it: the fixture's clusters, and every folder of it beside the real kustomize.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use metalmark::error::Error;
use metalmark::model::rule::RuleId;
use metalmark::read::gitops::{self, Composition, Disk, Files, Found, Options};
use yaml_tree::engine::Engine;
use yaml_tree::merge;
use yaml_tree::place::{FileId, Sources};
use yaml_tree::value::{Map, Node, Value};

use super::plain_manifests;
use super::programs;
use super::support::Metalmark;

/// The fixture: a repository in Sylva's shape.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/workspaces/sylva-flux")
}

fn disk() -> Disk {
    Disk::new(&root()).expect("a folder")
}

fn cluster(path: &str, options: &Options) -> (Composition, Sources) {
    let mut sources = Sources::default();
    let composition = gitops::cluster(&disk(), Path::new(path), options, None, &mut sources);
    let composition = composition.expect("readable").expect("a cluster");
    (composition, sources)
}

/// What stands at a path of the merged values, and in which line of which file.
fn value(composed: &(Composition, Sources), path: &str) -> String {
    let merged = merge::layers(&composed.0.layers, Engine::Helm3);
    let keys: Vec<&str> = path.split('.').collect();
    let Some(node) = merged.tree.get_path(&keys) else {
        return "nothing".to_owned();
    };
    let spot = composed
        .1
        .resolve(node.place)
        .map_or("nowhere".to_owned(), |spot| spot.to_string());
    format!("{} at {spot}", shown(&node.value))
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.to_string(),
        other => format!("{other:?}"),
    }
}

#[test]
fn a_management_cluster_has_the_layers_of_its_bases_and_components() {
    let paris = cluster("environment-values/paris", &Options::default());
    assert_eq!(
        (&*paris.0.name, &*paris.0.namespace),
        ("sylva-units", "sylva-system")
    );
    assert!(paris.0.findings.is_empty(), "{:?}", paris.0.findings);
    assert_eq!(paris.0.missing, []);
    assert_eq!(
        value(&paris, "cluster.name"),
        "paris at environment-values/paris/values.yaml:2:9"
    );
    assert_eq!(
        value(&paris, "role"),
        "management at charts/sylva-units/management.values.yaml:2:7"
    );
    assert_eq!(value(&paris, "registry"), "nothing");
    assert_eq!(
        value(&paris, "cluster.baremetal_hosts.third.memory"),
        "16Gi at environment-values/virt-base/ha/high-availability.yaml:5:21"
    );
    assert_eq!(
        value(&paris, "cluster.bmc.username"),
        "admin at environment-values/virt-base/secrets.yaml:1:27"
    );
}

#[test]
fn literals_env_files_and_patches_have_their_places() {
    let lyon = cluster("environment-values/lyon", &Options::default());
    assert!(lyon.0.findings.is_empty(), "{:?}", lyon.0.findings);
    let home = "environment-values/lyon";
    assert_eq!(
        value(&lyon, "sources.core.commit"),
        format!("0a1b2c3d at {home}/kustomization.yaml:28:70")
    );
    assert_eq!(
        value(&lyon, "cluster_virtual_ip"),
        format!("192.0.2.10 at {home}/addresses.env:2:1")
    );
    assert_eq!(
        value(&lyon, "sources.core.url"),
        "oci://registry.example.org/core at charts/sylva-units/from-registry.values.yaml:1:23"
    );
    let merged = merge::layers(&lyon.0.layers, Engine::Helm3);
    let ports = merged.tree.get_path(&["cluster", "ports"]).expect("ports");
    let range = ports.value.as_list().expect("a list")[1]
        .get_path(&["range"])
        .expect("set by path");
    assert_eq!(shown(&range.value), "Number(Int(6443))");
}

#[test]
fn what_only_the_run_time_knows_is_missing_until_a_file_provides_it() {
    let path = "environment-values/workload-clusters/edge-1";
    let edge = cluster(path, &Options::default());
    let missing: Vec<String> = edge
        .0
        .missing
        .iter()
        .map(|one| format!("{}/{} {}", one.kind, one.name, one.key))
        .collect();
    assert_eq!(missing, ["ConfigMap/mgmt-cluster-state-values values"]);

    let mut options = Options::default();
    let file = "charts/sylva-units/from-registry.values.yaml";
    options.state.insert(
        "ConfigMap/mgmt-cluster-state-values".to_owned(),
        file.into(),
    );
    let edge = cluster(path, &options);
    assert!(edge.0.missing.is_empty());
    assert_eq!(
        value(&edge, "sources.core.url"),
        format!("oci://registry.example.org/core at {file}:1:23")
    );
}

#[test]
fn references_follow_prefixes_and_hashes_where_they_are_configured_to() {
    let edge = cluster(
        "environment-values/workload-clusters/edge-2",
        &Options::default(),
    );
    assert!(edge.0.findings.is_empty(), "{:?}", edge.0.findings);
    assert_eq!(
        (&*edge.0.name, &*edge.0.namespace),
        ("sylva-units", "edge-2")
    );
    assert_eq!(
        value(&edge, "cluster.machine_deployments.md0.replicas"),
        "Number(Float(2.0)) at environment-values/workload-clusters/edge-2/extra.yaml:1:49"
    );
}

#[test]
fn values_in_an_object_have_places_in_its_scalar() {
    let edge = cluster(
        "environment-values/workload-clusters/edge-3",
        &Options::default(),
    );
    let file = "environment-values/workload-clusters/edge-3/objects.yaml";
    assert_eq!(
        value(&edge, "cluster.name"),
        format!("edge-3 at {file}:11:17")
    );
    assert_eq!(value(&edge, "cluster.secret"), format!("x at {file}:15:25"));
}

#[test]
fn a_folder_without_a_release_is_no_cluster() {
    let mut sources = Sources::default();
    let options = Options::default();
    for path in [
        "charts/sylva-units",
        "environment-values/components/registry",
        "environment-values/nowhere",
    ] {
        let composition = gitops::cluster(&disk(), Path::new(path), &options, None, &mut sources)
            .expect("readable");
        assert!(composition.is_none(), "{path}");
    }
}

#[test]
fn shared_files_are_read_once_and_give_the_same_values() {
    let (mut options, mut sources) = (Options::default(), Sources::default());
    let first = Path::new("environment-values/paris");
    gitops::share(&disk(), first, &mut options, &mut sources).expect("readable");
    let shared = sources.share();
    for path in ["environment-values/paris", "environment-values/lyon"] {
        let mut own = shared.clone();
        let composition = gitops::cluster(&disk(), Path::new(path), &options, None, &mut own)
            .expect("readable")
            .expect("one");
        let alone = cluster(path, &Options::default());
        let both =
            [&composition, &alone.0].map(|one| merge::layers(&one.layers, Engine::Helm3).tree);
        assert!(both[0].value.same(&both[1].value), "{path}");
        assert_eq!(value(&(composition, own), "role"), value(&alone, "role"));
    }
}

/// Files that a test writes out itself.
struct Written(BTreeMap<&'static str, &'static str>);

impl Files for Written {
    fn file(&self, path: &Path) -> Result<Found, Error> {
        let text = self.0.get(path.to_str().expect("text"));
        Ok(text.map_or(Found::Nothing, |text| Found::File(text.as_bytes().to_vec())))
    }

    fn folder(&self, path: &Path) -> Result<Option<Vec<String>>, Error> {
        let below = |file: &&str| {
            Path::new(file)
                .strip_prefix(path)
                .ok()
                .and_then(|rest| Some(rest.iter().next()?.to_str()?.to_owned()))
        };
        let mut names: Vec<String> = self.0.keys().filter_map(below).collect();
        names.dedup();
        Ok((!names.is_empty()).then_some(names))
    }
}

fn written(files: &[(&'static str, &'static str)], path: &str) -> Vec<(Composition, Sources)> {
    let files = Written(files.iter().copied().collect());
    let mut sources = Sources::default();
    let all = gitops::clusters(&files, Path::new(path), &Options::default(), &mut sources)
        .expect("readable");
    all.into_iter().map(|one| (one, sources.clone())).collect()
}

const APPLICATION: &str = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: paris}
spec:
  destination: {namespace: platform}
  source:
    repoURL: https://git.example.org/environments.git
    path: charts/units
    helm:
      valueFiles: [../../env/$ARGOCD_APP_NAME.yaml, /env/all.yaml]
      values: |
        a: values
        b: values
        c: values
      parameters:
        - {name: c, value: 'x,y'}
        - {name: number, value: '7'}
        - {name: text, value: '7', forceString: true}
      fileParameters: [{name: from.file, path: /env/note.txt}]
";

#[test]
fn an_application_has_parameters_over_values_over_files_over_the_chart() {
    let all = written(
        &[
            ("apps/paris.yaml", APPLICATION),
            (
                "charts/units/values.yaml",
                "a: chart\nd: chart\ne: chart\nf: chart\n",
            ),
            ("env/paris.yaml", "a: file\nd: file\n"),
            ("env/all.yaml", "d: all\ne: all\n"),
            ("env/note.txt", "one, two"),
        ],
        "apps/paris.yaml",
    );
    let [paris] = all.as_slice() else {
        panic!("one application")
    };
    assert!(
        paris.0.findings.is_empty() && paris.0.missing.is_empty(),
        "{:?}",
        paris.0
    );
    assert_eq!((&*paris.0.name, &*paris.0.namespace), ("paris", "platform"));
    for (path, expected) in [
        ("a", "values at apps/paris.yaml:12:12"),
        ("b", "values at apps/paris.yaml:13:12"),
        ("c", "x,y at apps/paris.yaml:16:28"),
        ("d", "all at env/all.yaml:1:4"),
        ("e", "all at env/all.yaml:2:4"),
        ("f", "chart at charts/units/values.yaml:4:4"),
        ("number", "Number(Int(7)) at apps/paris.yaml:17:33"),
        ("text", "7 at apps/paris.yaml:18:31"),
        ("from.file", "one, two at env/note.txt:1:1"),
    ] {
        assert_eq!(value(paris, path), expected);
    }
}

#[test]
fn an_application_takes_files_of_another_source_in_the_same_repository() {
    let application = "\
apiVersion: argoproj.io/v1alpha1
kind: Application
metadata: {name: paris}
spec:
  sources:
    - repoURL: https://charts.example.org
      chart: units
      helm: {valueFiles: [$env/env/paris.yaml], valuesObject: {b: 2}}
    - {repoURL: https://git.example.org/environments.git, ref: env}
";
    let all = written(
        &[("app.yaml", application), ("env/paris.yaml", "a: 1")],
        "app.yaml",
    );
    assert_eq!(
        value(&all[0], "a"),
        "Number(Float(1.0)) at env/paris.yaml:1:4"
    );
    assert_eq!(value(&all[0], "b"), "Number(Float(2.0)) at app.yaml:8:67");
    assert_eq!(all[0].0.missing.len(), 1, "the chart comes from a registry");
}

#[test]
fn a_namespace_gets_the_name_that_its_objects_are_in_and_no_prefix() {
    let folder = tempfile::tempdir().expect("a folder");
    let kustomization = "namespace: edge\nnamePrefix: a-\nresources: [objects.yaml]\n";
    let objects = "kind: Namespace\nmetadata: {name: before}\n---\nkind: ConfigMap\nmetadata: {name: values, namespace: before}\n";
    for (file, text) in [
        ("kustomization.yaml", kustomization),
        ("objects.yaml", objects),
    ] {
        std::fs::write(folder.path().join(file), text).expect("written");
    }
    let disk = Disk::new(folder.path()).expect("a folder");
    let built = gitops::objects(&disk, Path::new(""), &mut Sources::default());
    let built = built.expect("readable").expect("it builds");
    let text = |node: &Node, path: &[&str]| node.get_path(path).map(|node| shown(&node.value));
    let names = built.iter().map(|object| {
        let metadata = |field| text(object, &["metadata", field]).unwrap_or_default();
        format!("{}/{}", metadata("namespace"), metadata("name"))
    });
    assert_eq!(names.collect::<Vec<_>>(), ["/edge", "edge/a-values"]);
}

#[test]
fn a_release_takes_no_values_of_another_namespace() {
    let map = |namespace| {
        format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: values, namespace: {namespace}}}\ndata: {{values.yaml: 'from: {namespace}'}}\n---\n"
        )
    };
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: edge, namespace: edge}\nspec:\n  \
                   chart: {spec: {chart: units, sourceRef: {kind: HelmRepository, name: charts}}}\n  \
                   valuesFrom: [{kind: ConfigMap, name: values}]\n";
    let objects = [map("another"), map("edge"), release.to_owned()].concat();
    let all = written(
        &[
            ("edge/kustomization.yaml", "resources: [objects.yaml]\n"),
            ("edge/objects.yaml", Box::leak(objects.into_boxed_str())),
        ],
        "edge",
    );
    assert!(value(&all[0], "from").starts_with("edge at "));
}

#[test]
fn an_application_set_makes_one_cluster_for_each_element_or_folder() {
    let set = |generators: &'static str, go: &'static str| -> &'static str {
        let text = format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nmetadata: {{name: all}}\nspec:\n  {go}\n  generators:\n{generators}\n"
        );
        Box::leak(text.into_boxed_str())
    };
    let lists = set(
        "    - list: {elements: [{site: paris}, {site: lyon}]}\n  template: {metadata: {name: 'a-{{site}}'}, spec: {source: {path: chart, helm: {valueFiles: ['/env/{{site}}/values.yaml']}}}}",
        "goTemplate: false",
    );
    let folders = set(
        "    - git: {directories: [{path: env/*}, {path: env/lyon, exclude: true}]}\n  template: {metadata: {name: '{{ .path.basename }}'}, spec: {source: {path: chart, helm: {valueFiles: ['/{{.path.path}}/values.yaml']}}}}",
        "goTemplate: true",
    );
    let files = [
        ("lists.yaml", lists),
        ("folders.yaml", folders),
        ("chart/values.yaml", "{}"),
        ("env/paris/values.yaml", "name: Paris"),
        ("env/lyon/values.yaml", "name: Lyon"),
    ];
    let names = |path: &str| -> Vec<(String, String)> {
        let all = written(&files, path);
        all.iter()
            .map(|one| (one.0.name.clone(), value(one, "name")))
            .collect()
    };
    let paris = "Paris at env/paris/values.yaml:1:7".to_owned();
    let lyon = "Lyon at env/lyon/values.yaml:1:7".to_owned();
    assert_eq!(
        names("lists.yaml"),
        [
            ("a-paris".to_owned(), paris.clone()),
            ("a-lyon".to_owned(), lyon)
        ]
    );
    assert_eq!(names("folders.yaml"), [("paris".to_owned(), paris)]);
}

#[test]
fn only_folders_that_deploy_and_that_no_other_builds_on_are_clusters() {
    let found = |pattern: &str| -> Vec<String> {
        let found = gitops::discover(&disk(), &[pattern], &Default::default()).expect("readable");
        found
            .iter()
            .map(|path| path.display().to_string())
            .collect()
    };
    assert_eq!(
        found("environment-values/*/"),
        ["environment-values/lyon", "environment-values/paris"]
    );
    assert_eq!(
        found("environment-values/workload-clusters/*"),
        ["edge-1", "edge-2", "edge-3"]
            .map(|name| format!("environment-values/workload-clusters/{name}"))
    );
}

#[test]
fn what_a_real_build_refuses_is_a_finding_at_its_place() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {values: {a: 1}}\n";
    for (kustomization, message, place) in [
        (
            "resources: [r.yaml, ../../out.yaml]",
            "`../../out.yaml` lies outside of the repository",
            "1:21",
        ),
        ("resources: [r.yaml, .]", "`c` is built into itself", "1:1"),
        (
            "resources: [none.yaml]",
            "`none.yaml` is neither a file nor a folder with a kustomization",
            "1:13",
        ),
        (
            "resources: [r.yaml, r.yaml]",
            "two objects are HelmRelease `r`",
            "",
        ),
        (
            "resources: [r.yaml]\npatches: [{patch: '- {op: remove, path: /x}', target: {}}]",
            "there is no `/x` in the object",
            "2:41",
        ),
        (
            "resources: [r.yaml]\npatches: [{patch: '- {op: remove, path: /x}'}]",
            "a JSON patch needs a `target`",
            "2:11",
        ),
        (
            "resources: [r.yaml]\nconfigMapGenerator: [{name: x, behavior: merge}]",
            "there is no ConfigMap `x` that `behavior: merge` could change",
            "2:22",
        ),
        (
            "resources: [r.yaml]\nreplacements: [{source: {kind: A}, targets: []}]",
            "no object is the source of a replacement",
            "2:16",
        ),
    ] {
        let text: &'static str = Box::leak(kustomization.to_owned().into_boxed_str());
        let all = written(
            &[("c/kustomization.yaml", text), ("c/r.yaml", release)],
            "c",
        );
        let [finding] = all[0].0.findings.as_slice() else {
            panic!("{kustomization}: {:?}", all[0].0.findings)
        };
        assert_eq!(
            (finding.rule, &*finding.message),
            (RuleId::CompositionFailed, message)
        );
        let spot = finding.labels[0].spot.to_string();
        assert!(spot.ends_with(place), "{kustomization}: {spot}");
    }
}

#[test]
fn what_is_not_built_here_is_named_where_it_could_change_values() {
    let release = "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {name: r}\nspec: {values: {a: 1}}\n";
    for (kustomization, message) in [
        (
            "resources: [r.yaml]\ntransformers: [t.yaml]",
            Some("a transformer may change HelmRelease `r` and is not built here"),
        ),
        ("resources: [r.yaml, 'https://example.org/x.yaml']", None),
    ] {
        let text: &'static str = Box::leak(kustomization.to_owned().into_boxed_str());
        let all = written(
            &[("c/kustomization.yaml", text), ("c/r.yaml", release)],
            "c",
        );
        let found: Vec<_> = all[0]
            .0
            .findings
            .iter()
            .map(|finding| (finding.rule, &*finding.message))
            .collect();
        let expected: Vec<_> = message
            .iter()
            .map(|message| (RuleId::CompositionUnsupported, *message))
            .collect();
        assert_eq!(found, expected, "{kustomization}");
    }
}

/// Every folder with a kustomization builds to the same objects as with the real program, or both refuse it.
#[test]
fn every_folder_builds_as_kustomize_builds_it() {
    let Some(kubectl) = programs::find("kubectl") else {
        return;
    };
    let root = std::env::var_os("METALMARK_FLUX_REPOSITORY").map_or_else(root, PathBuf::from);
    let (mut same, mut refused, mut wrong) = (0, 0, Vec::new());
    for folder in folders(&root) {
        match compare(&kubectl, &root, &folder) {
            Ok(true) => same += 1,
            Ok(false) => refused += 1,
            Err(difference) => wrong.push(format!("{}: {difference}", folder.display())),
        }
    }
    assert!(
        wrong.is_empty(),
        "{same} same, {refused} refused by both:\n{}",
        wrong.join("\n")
    );
    assert!(same > 5, "only {same} folders were compared");
}

fn folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in walkdir::WalkDir::new(root.join("environment-values")).sort_by_file_name() {
        let entry = entry.expect("readable");
        if entry.file_name() == "kustomization.yaml" {
            let folder = entry.path().parent().expect("in a folder");
            let text = std::fs::read_to_string(entry.path()).expect("text");
            if !text.contains("kind: Component") {
                found.push(folder.strip_prefix(root).expect("below").to_owned());
            }
        }
    }
    found
}

fn compare(kubectl: &Path, root: &Path, folder: &Path) -> Result<bool, String> {
    let output = Command::new(kubectl)
        .arg("kustomize")
        .arg(root.join(folder))
        .output()
        .expect("runs");
    let mut sources = Sources::default();
    let ours = gitops::objects(&Disk::new(root).expect("a folder"), folder, &mut sources)
        .expect("readable");
    if !output.status.success() {
        return match ours {
            Err(_) => Ok(false),
            Ok(_) => Err(format!(
                "is refused: {}",
                String::from_utf8_lossy(&output.stderr)
            )),
        };
    }
    let ours = ours.map_err(|finding| finding.message)?;
    let text = String::from_utf8(output.stdout).expect("text");
    let theirs = yaml_tree::read(&text, FileId(0), Engine::Kubectl)
        .expect("YAML")
        .documents;
    let (ours, theirs) = (shaping(&ours), shaping(&theirs));
    if ours == theirs {
        return Ok(true);
    }
    Err(format!("\n  ours   {ours:#?}\n  theirs {theirs:#?}"))
}

/// What shapes values: data, stringData and spec of each object, as JSON by kind and name.
fn shaping(objects: &[Node]) -> BTreeMap<String, String> {
    let text = |node: &Node, path: &[&str]| {
        node.get_path(path)
            .map(|node| shown(&node.value))
            .unwrap_or_default()
    };
    let kinds = ["HelmRelease", "ConfigMap", "Secret"];
    objects
        .iter()
        .filter(|object| kinds.contains(&&*text(object, &["kind"])))
        .map(|object| {
            let name = ["kind", "metadata.namespace", "metadata.name"]
                .map(|path| text(object, &path.split('.').collect::<Vec<_>>()))
                .join("/");
            let parts: Map = ["data", "binaryData", "stringData", "spec"]
                .iter()
                .filter_map(|field| object.value.as_map()?.entry(field).cloned())
                .collect();
            (name, json(&parts.into()))
        })
        .collect()
}

pub(super) fn json(value: &Value) -> String {
    match value {
        Value::List(items) => {
            let items: Vec<String> = items.iter().map(|item| json(&item.value)).collect();
            format!("[{}]", items.join(","))
        }
        Value::Map(map) => {
            let entries: Vec<String> = map
                .iter()
                .map(|entry| format!("{}:{}", entry.key, json(&entry.node.value)))
                .collect();
            format!("{{{}}}", entries.join(","))
        }
        other => format!("{other:?}"),
    }
}

/// What helm-controller and Argo CD call a release, which expressions may read.
#[test]
fn a_release_has_the_name_that_its_controller_gives_it() {
    const CLUSTER: &str = "cluster: {name: '{{ .Release.Name }}', k8s_version: v1.31.8}\n";
    let release = |spec: &str| {
        format!(
            "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: units, namespace: here}}\nspec:\n  chart: {{spec: {{chart: chart, sourceRef: {{kind: GitRepository, name: here}}, valuesFiles: [chart/values.yaml]}}}}\n{spec}"
        )
    };
    let application = |source: &str| {
        format!(
            "apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata: {{name: units}}\nspec:\n  destination: {{namespace: here}}\n  {source}\n"
        )
    };
    for (object, name) in [
        (release(""), "units"),
        (release("  targetNamespace: there\n"), "there-units"),
        (
            release("  targetNamespace: there\n  releaseName: own\n"),
            "own",
        ),
        (application("source: {path: chart}"), "units"),
        (
            application("source: {path: chart, helm: {releaseName: own}}"),
            "own",
        ),
        (
            application("sources: [{ref: values}, {path: chart, helm: {releaseName: own}}]"),
            "own",
        ),
    ] {
        let scratch = plain_manifests::repository(&[
            (
                "chart/Chart.yaml",
                "apiVersion: v2\nname: chart\nversion: 1.0.0\n",
            ),
            ("chart/values.yaml", CLUSTER),
            ("edge/units.yaml", &object),
            (
                "metalmark.yaml",
                "version: 1\nclusters: [{name: edge, values: [edge/units.yaml]}]\n",
            ),
        ]);
        let values = ["values", "edge", "cluster.name"];
        let outcome = Metalmark::within(scratch.path()).args(values).run();
        assert_eq!(outcome.stdout.trim(), name, "{object}{}", outcome.stderr);
    }
}
