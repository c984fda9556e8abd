//! What people see who type something wrong, or something unusual: the real binary, whole screens, exit statuses.

mod changes;
mod completions;
mod help;
mod part;

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use snapbox::str;

use super::support::binary;
use super::support::manifests::cluster;
use super::support::stage::{Is, Stage, assert_cases, project, table};

const SHARED: &str = "\
os_images_oci_registries:
  sylva: {url: oci://r.example.org/x, tag: '0.4.12', cosign_publickey: k}
sylva_diskimagebuilder_images:
  ubuntu-noble-plain-rke2-1-31-8: {os_images_oci_registry: sylva}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";
const CLUSTER: &str = "cluster:\n  capm3:\n    image_key: ubuntu-noble-plain-rke2-1-31-8\n";
const INFO: &str = "\
os_images:
  ubuntu-noble-plain-rke2-1-31-8:
    filename: noble.raw
    sha256: 6f30bca4668f41d58dd8f5512799a73e9097369259e4dd2bf1a9b2562eb14e3f
    image-format: raw
    k8s-flavor: rke2
    k8s-version: 1.31.8+rke2r1
";
const PROJECT: &str = "\
version: 1
values: [shared.yaml]
clusters: [{each: clusters/*/values.yaml}]
images: {facts: [info.yaml]}
outputs: [{target: manifests, path: rendered}]
";
const VALUES: &str = "clusters/paris/values.yaml";
const CLUSTERS: &str = "{each: clusters/*/values.yaml}";

/// A project of one cluster.
fn fleet() -> Stage {
    project().files(&[
        ("shared.yaml", SHARED),
        (VALUES, CLUSTER),
        ("info.yaml", INFO),
        ("metalmark.yaml", PROJECT),
    ])
}

/// The same with one text of the project file replaced.
fn fleet_with(from: &str, to: &str) -> Stage {
    let fleet = fleet();
    fleet.edit("metalmark.yaml", from, to);
    fleet
}

/// The first lines of what a command prints, of both streams.
fn head(stage: &Stage, command: &str, count: usize) -> Vec<String> {
    let outcome = stage.run(command).outcome;
    let screen = outcome.stdout + &outcome.stderr;
    let lines = screen.lines().take(count).map(str::to_owned);
    lines.chain([format!("exit {}", outcome.status)]).collect()
}

#[test]
fn an_option_that_the_target_does_not_have_is_refused() {
    let fleet = fleet_with("path: rendered", "path: rendered, apiVersion: v1beta2");
    fleet.run("render").exit(1).screen(str![[r#"
error[project-file]: target `manifests` has no option `apiVersion`
 --> metalmark.yaml:5:47
  |
5 | outputs: [{target: manifests, path: rendered, apiVersion: v1beta2}]
  |                                               ^^^^^^^^^^
  |
  = help: did you mean `api-version`?

1 error; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn a_value_of_the_project_file_that_is_none_is_reported_at_its_place() {
    assert_cases(
        str![[r#"
helm: 5
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `5`
     --> metalmark.yaml:6:7
    exit 1
helm: '3'
    error[project-file]: `helm` is one of `3`, `4`, `3.17`, `3.18`, `3.19`, `3.20`, `4.0`, `4.1`, `4.2`, `4.3`, not `"3"`
     --> metalmark.yaml:6:7
    exit 1
policy: {rules: {image-unused: warnin}}
    error[project-file]: `policy.rules.image-unused` is one of `off`, `warning`, `error`, not `warnin`
     --> metalmark.yaml:6:32
    exit 1
policy: {rules: {image-outdated: {minors: two}}}
    error[project-file]: `policy.rules.image-outdated.minors` is a whole number, and this is a string
     --> metalmark.yaml:6:43
    exit 1
policy: {rules: {image-outdated: {minors: -1}}}
    error[project-file]: `policy.rules.image-outdated.minors` is a whole number, and this is `-1`
     --> metalmark.yaml:6:43
    exit 1
policy: {rules: {image-outdated: {minor: 1}}}
    error[project-file]: the project file knows no `minor` in `policy.rules.image-outdated`
     --> metalmark.yaml:6:35
    exit 1
policy: {rules: {image-unused: {minors: 1}}}
    error[project-file]: the project file knows no `minors` in `policy.rules.image-unused`
     --> metalmark.yaml:6:33
    exit 1
policy: {clusters: {edge-*: {image-unused: {level: loud}}}}
    error[project-file]: `policy.clusters.edge-*.image-unused.level` is one of `off`, `warning`, `error`, not `loud`
     --> metalmark.yaml:6:52
    exit 1
policy: {clusters: {'[': {image-unused: error}}}
    error[project-file]: `[` is not a pattern: unclosed character class; missing ']'
     --> metalmark.yaml:6:26
    exit 1
policy: {waivers: [{rule: image-unused, where: '[', reason: r}]}
    error[project-file]: `[` is not a pattern: unclosed character class; missing ']'
     --> metalmark.yaml:6:20
    exit 1
policy: {rules: {image-outdate: error}}
    error[project-file]: there is no rule `image-outdate`
     --> metalmark.yaml:6:18
    exit 1

"#]],
        |line| {
            let fleet = fleet().file("metalmark.yaml", format!("{PROJECT}{line}\n"));
            head(&fleet, "check", 2)
        },
    );
    let version = fleet_with("version: 1", "version: 1.5");
    head(&version, "check", 2).join("\n").is(str![[r#"
error[project-file]: `version` is a whole number, and this is `1.5`
 --> metalmark.yaml:1:10
exit 1
"#]]);
}

#[test]
fn two_patterns_that_give_one_name_are_both_shown() {
    let two = "[{each: clusters/*/values.yaml}, {each: lab/*/values.yaml}]";
    let fleet = fleet_with("[{each: clusters/*/values.yaml}]", two);
    fleet.write("lab/paris/values.yaml", CLUSTER);
    fleet.run("check").exit(1).screen(str![[r#"
error[project-file]: 2 clusters have the name `paris`
 --> metalmark.yaml:3:12
  |
3 | clusters: [{each: clusters/*/values.yaml}, {each: lab/*/values.yaml}]
  |            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^  -------------------------
  |
  = help: give each its own `name`; beside `each` it may be a template, such as `{{ path.segments[1] }}-{{ path.basename }}`: `clusters/paris/values.yaml`, `lab/paris/values.yaml`

error[output-path-collision]: `rendered/paris.yaml` is rendered more than once, by `manifests/paris` and by `manifests/paris`
--> rendered/paris.yaml
 = cluster: paris
 = help: give the outputs different `path`s, or rename one of the clusters

2 errors in 1 cluster; 2 node pools checked: 2 proven

"#]]);
}

#[test]
fn a_template_names_the_clusters_of_a_pattern() {
    let names = [
        "{{ path.segments[0] }}.{{ path.basename }}",
        "{{ path.segments[7] }}",
        "{{ path.",
        "",
    ];
    let named = table(names, |name| {
        let each = format!("{{each: clusters/*/values.yaml, name: \"{name}\"}}");
        let fleet = fleet_with(CLUSTERS, &each);
        match &*fleet.check().pools {
            [] => head(&fleet, "check", 2),
            pools => pools.to_vec(),
        }
    });
    named.is(str![[r#"
{{ path.segments[0] }}.{{ path.basename }}
    clusters.paris/control-plane v1.31.8+rke2r1 (shared.yaml:6:16): proven, ubuntu-noble-plain-rke2-1-31-8 (clusters/paris/values.yaml:3:16) holds 1.31.8+rke2r1 (info.yaml:7:18)
{{ path.segments[7] }}
    error[project-file]: template `clusters[].name` cannot be rendered: undefined value: `path.segments[7]` is undefined
     --> metalmark.yaml:3:12
    exit 1
{{ path.
    error[project-file]: template `clusters[].name` cannot be rendered: syntax error: unexpected end of input, expected identifier or integer
     --> metalmark.yaml:3:12
    exit 1

    error[project-file]: the cluster name `` is empty
     --> metalmark.yaml:3:12
    exit 1

"#]]);
}

#[test]
fn findings_that_report_the_same_of_several_files_or_clusters_are_one() {
    let fleet = fleet();
    let wrong = CLUSTER.replace("cluster:", "clutser: {}\ncluster:");
    for name in ["lyon", "nice", "paris"] {
        fleet.write(&format!("clusters/{name}/values.yaml"), &wrong);
    }
    fleet.run("check").exit(1).brief(str![[r#"
error[key-misspelled]: `clutser` has no effect, and is almost `cluster`
  clusters/lyon/values.yaml:1:1 `clutser` this key
  cluster: lyon
  also at: clusters/nice/values.yaml:1:1 (nice), clusters/paris/values.yaml:1:1 (paris)
  help: write `cluster`
3 errors in 3 clusters; 3 node pools checked: 3 proven

"#]]);
    for number in 1..=8 {
        fleet.write(&format!("clusters/edge-{number}/values.yaml"), CLUSTER);
    }
    for name in ["lyon", "nice", "paris"] {
        fleet.remove(&format!("clusters/{name}/values.yaml"));
    }
    let shared = SHARED.replace("cluster:\n", "clutser: {}\ncluster:\n");
    fleet.write("shared.yaml", shared);
    fleet.run("check").exit(1).brief(str![[r#"
error[key-misspelled]: `clutser` has no effect, and is almost `cluster`
  shared.yaml:5:1 `clutser` this key
  cluster: edge-1
  also in clusters: edge-2, edge-3, edge-4, edge-5, edge-6 and 2 more
  help: write `cluster`
1 error in 8 clusters; 8 node pools checked: 8 proven

"#]]);
}

#[test]
fn programs_read_a_finding_with_its_subject_its_places_and_its_fix() {
    let fleet = fleet().file("shared.yaml", SHARED.replace("v1.31.8", "v1.30.2"));
    let run = fleet.run("check --output json").exit(1);
    let mut document: Value = serde_json::from_str(&run.outcome.stdout).expect("JSON");
    document["pools"].take();
    let text = serde_json::to_string_pretty(&document).expect("JSON");
    text.is(str![[r#"
{
  "findings": [
    {
      "cluster": "paris",
      "clusters": [
        "paris"
      ],
      "fix": null,
      "help": [
        "`cluster.k8s_version: v1.31.8+rke2r1`"
      ],
      "image": "ubuntu-noble-plain-rke2-1-31-8",
      "labels": [
        {
          "column": 16,
          "end_column": 46,
          "end_line": 3,
          "line": 3,
          "path": "clusters/paris/values.yaml",
          "text": "this image is selected here"
        },
        {
          "column": 16,
          "end_column": 30,
          "end_line": 6,
          "line": 6,
          "path": "shared.yaml",
          "text": "this version is required"
        },
        {
          "column": 18,
          "end_column": 31,
          "end_line": 7,
          "line": 7,
          "path": "info.yaml",
          "text": "its `k8s-version` in the image info file"
        }
      ],
      "level": "error",
      "message": "image `ubuntu-noble-plain-rke2-1-31-8` holds Kubernetes `1.31.8+rke2r1`, not `v1.30.2+rke2r1`",
      "pool": "control-plane",
      "rule": "k8s-version-mismatch"
    }
  ],
  "pools": null,
  "summary": {
    "clusters": 1,
    "clusters_with_findings": 1,
    "errors": 1,
    "pools": {
      "by_name": 0,
      "checked": 1,
      "mismatched": 1,
      "proven": 0,
      "skipped": {},
      "unproven": 0
    },
    "warnings": 0
  },
  "version": 1
}
"#]]);
}

#[test]
fn a_file_that_does_not_parse_is_reported_alone() {
    let fleet = fleet().file(VALUES, "clutser: {}\ncluster:\n\t[\n");
    fleet.check().findings(str![[r#"
error[yaml-syntax] paris clusters/paris/values.yaml:3:1 ``

"#]]);
}

#[test]
#[cfg(unix)]
fn a_cluster_whose_folder_no_path_can_name_is_not_left_out_in_silence() {
    use std::os::unix::ffi::OsStrExt;
    let fleet = fleet();
    let name = std::ffi::OsStr::from_bytes(b"ed\xff\xfege");
    let cluster = fleet.path().join("clusters").join(name);
    if fs::create_dir(&cluster).is_err() {
        return; // Some file systems take no such name.
    }
    fs::copy(fleet.path().join(VALUES), cluster.join("values.yaml")).expect("copied");
    for line in ["check", "render"] {
        let stderr = fleet.run(line).exit(2).outcome.stderr;
        assert!(stderr.contains("is not UTF-8: rename it"), "{stderr}");
    }
}

#[test]
fn a_cluster_name_that_names_no_file_is_refused_once_and_nothing_is_written() {
    let long = "x".repeat(201);
    let names = ["../x", "a/b", ".", "..", "a\\\\b", "a\\nb", "", &long];
    let refused = table(names, |name| {
        let entry = format!("{{name: \"{name}\", values: [{VALUES}]}}");
        let fleet = fleet_with(CLUSTERS, &entry);
        let stderr = fleet.run("render").exit(1).outcome.stderr;
        assert!(stderr.ends_with("\n1 error\n"), "{stderr}");
        assert_eq!(fleet.list("rendered"), [""; 0]);
        stderr.lines().take(1).map(str::to_owned).collect()
    });
    refused.is(str![[r#"
../x
    error[project-file]: the cluster name `../x` holds a slash
a/b
    error[project-file]: the cluster name `a/b` holds a slash
.
    error[project-file]: the cluster name `.` leaves its folder
..
    error[project-file]: the cluster name `..` leaves its folder
a\\b
    error[project-file]: the cluster name `a\\b` holds a slash
a\nb
    error[project-file]: the cluster name `a\nb` holds a control character

    error[project-file]: the cluster name `` is empty
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
    error[project-file]: the cluster name `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx` is longer than 200 bytes

"#]]);
    for name in ["paris", "a.b", "My Cluster", "é"] {
        let entry = format!("{{name: \"{name}\", values: [{VALUES}]}}");
        let findings = fleet_with(CLUSTERS, &entry).check().findings;
        let is_of_name = |finding: &String| finding.contains("project-file");
        assert!(!findings.iter().any(is_of_name), "{findings:?}");
    }
}

#[test]
fn without_facts_one_finding_says_how_to_get_them() {
    let fleet = fleet_with("images: {facts: [info.yaml]}\n", "");
    fleet.run("check").exit(1).brief(str![[r#"
error[checksum-missing]: the sha256 of image `ubuntu-noble-plain-rke2-1-31-8` is not known
  clusters/paris/values.yaml:3:16 `ubuntu-noble-plain-rke2-1-31-8` this image is selected here
  shared.yaml:4:3 `ubuntu-noble-plain-rke2-1-31-8` the catalog's entry has no checksum
  cluster: paris, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
  help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
error[format-missing]: the format of image `ubuntu-noble-plain-rke2-1-31-8` is not known
  clusters/paris/values.yaml:3:16 `ubuntu-noble-plain-rke2-1-31-8` this image is selected here
  shared.yaml:4:3 `ubuntu-noble-plain-rke2-1-31-8` the catalog's entry has no `image-format`
  cluster: paris, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8` holds Kubernetes `v1.31.8+rke2r1`
  clusters/paris/values.yaml:3:16 `ubuntu-noble-plain-rke2-1-31-8` only the image's name says `1.31.8`
  shared.yaml:6:16 `v1.31.8+rke2r1` this version is required
  cluster: paris, pool control-plane
  help: run `metalmark lock` to query its registry, and commit the lock
  help: give its facts: save `kubectl get configmap os-images-info -o yaml` as os-images-info.yaml, and write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
warning[value-missing]: no image facts are given, so nothing says which checksum, format and version the builder's images have
  help: `kubectl -n sylva-system get configmap os-images-info -o yaml > os-images-info.yaml`
  help: then type `--info os-images-info.yaml`, or write `images: {facts: [os-images-info.yaml]}` in metalmark.yaml
2 errors, 2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
}

#[test]
fn every_answer_is_printed_as_yaml_too() {
    let Some(fleet) = fleet().commit("first") else {
        return;
    };
    fleet.edit(VALUES, "rke2-1-31-8", "rke2-1-30-12");
    for words in [
        "clusters",
        "images",
        "impact",
        "plan --to 1.32",
        "rules",
        "explain paris",
        "explain k8s-version-mismatch",
        "explain ubuntu-noble-plain-rke2-1-31-8",
    ] {
        fleet.data(words);
    }
    let beside = fleet.run("impact --output yaml").exit(1).outcome.stderr;
    let beside: Value = serde_json::from_str(&beside).expect("findings, as JSON, which is YAML");
    assert_eq!(beside["findings"][0]["rule"], "unknown-image");
}

#[test]
fn no_cluster_is_no_clean_bill() {
    let fleet = fleet().file("metalmark.yaml", "values: [shared.yaml]\n");
    let typed = "check --project metalmark.yaml --values shared.yaml";
    let screens = table(["check", typed, "check --values shared.yaml"], |line| {
        head(&fleet, line, 1)
    });
    screens.is(str![[r#"
check
    error[nothing-checked]: there are no clusters, so nothing is checked
    exit 1
check --project metalmark.yaml --values shared.yaml
    error[nothing-checked]: there are no clusters, so nothing is checked
    exit 1
check --values shared.yaml
    error[nothing-checked]: there are no clusters, so nothing is checked
    exit 1

"#]]);
}

#[test]
fn a_boolean_word_is_no_surprise_for_a_key_of_a_boolean() {
    let values = format!("{CLUSTER}units: {{a: {{enabled: no, use_proxy: on}}}}\ncountry: no\n");
    fleet().file(VALUES, values).check().findings(str![[r#"
warning[value-surprising] paris clusters/paris/values.yaml:5:10 `no` => "no" | false

"#]]);
}

#[test]
fn a_cluster_that_is_no_map_is_reported() {
    for text in ["cluster: paris\n", "cluster: [paris]\n"] {
        let checked = fleet().file(VALUES, text).check();
        let wrong = checked.of_rule("value-type");
        assert!(
            wrong[0].starts_with("error[value-type] paris "),
            "{wrong:?}"
        );
    }
}

#[test]
fn what_cannot_be_read_is_named_in_words() {
    let plain = fleet();
    plain.run("check -C nowhere").exit(2).screen(str![[r#"
error: cannot read `nowhere`: No such file or directory

"#]]);
    plain
        .run("render --schemas nowhere")
        .exit(2)
        .screen(str![[r#"
error: cannot read `nowhere`: No such file or directory

"#]]);
    let fleet = fleet_with("[shared.yaml]", "[nope.yaml]");
    fleet.run("check").exit(1).screen(str![[r#"
error[project-file]: there is no `nope.yaml`
 --> metalmark.yaml:2:10
  |
2 | values: [nope.yaml]
  |          ^^^^^^^^^
  |
  = help: paths start at the folder of the project file

1 error

"#]]);
    let fleet = fleet_with("path: rendered", "path: shared.yaml");
    fleet.run("render").exit(2).screen(str![[r#"
error: cannot write `shared.yaml`: a file is in its path

"#]]);
}

#[test]
fn an_unknown_target_is_reported_once() {
    let run = fleet().run("render --target manifest --out out");
    run.exit(1).screen(str![[r#"
error[project-file]: there is no target `manifest`
 |
 = help: did you mean `manifests`?

1 error; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn the_projects_own_folder_and_an_absolute_pattern_work() {
    let fleet = fleet_with("path: rendered", "path: .");
    fleet.run("render").exit(0).screen(str![[r#"
created  paris.yaml  +20
1 file rendered: 1 created

"#]]);
    let pattern = fleet.path().join("clusters/*/values.yaml");
    let line = format!(
        "check --values shared.yaml --info info.yaml --clusters {}",
        pattern.display()
    );
    fleet.run(&line).exit(0).screen(str![[r#"
no findings in 1 cluster; 1 node pool checked: 1 proven

"#]]);
}

#[test]
fn an_own_template_that_writes_nothing_does_not_pass_for_a_render() {
    let fleet = fleet_with("version: 1\n", "version: 1\ntemplates: own\n");
    fleet.write("own/manifests/cluster.yaml.j2", "# nothing\n");
    head(&fleet, "render", 1).join("\n").is(str![[r#"
error: the render yields no file, and a GitOps engine that prunes would delete everything
exit 2
"#]]);
}

#[test]
fn a_value_of_a_secrets_file_is_never_printed() {
    let layers = "{name: paris, values: [clusters/paris/secrets.yaml, own.yaml]}";
    let fleet = fleet_with(CLUSTERS, layers);
    let wrong =
        "cluster:\n  capm3: {image_key: hunter2}\n  k8s_version: '{{ fail .Values.password }}'\n";
    // In the file itself, and by an expression elsewhere.
    for (secrets, own) in [(wrong, "a: 1\n"), ("", wrong)] {
        let secrets = format!("password: hunter2\n{secrets}");
        fleet.write("clusters/paris/secrets.yaml", &secrets);
        fleet.write(
            "own.yaml",
            own.replace("image_key: hunter2", "image_key: x"),
        );
        for report in metalmark::report::REPORTS {
            let line = format!("check --output {}", report.name());
            let outcome = fleet.run(&line).exit(1).outcome;
            let screen = outcome.stdout + &outcome.stderr;
            assert!(!screen.contains("hunter2"), "{screen}");
            let place = if own == wrong {
                "own.yaml"
            } else {
                "secrets.yaml"
            };
            assert!(screen.contains(place), "{screen}");
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_no_fault() {
    let fleet = fleet();
    for line in ["completions bash", "render --stdout", "images"] {
        let mut child = Command::new(binary())
            .args(line.split(' '))
            .current_dir(fleet.path())
            .env_clear()
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the binary starts");
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!((output.status.code(), &*said), (Some(0), ""), "{line}");
    }
}

#[test]
fn the_spelling_of_older_project_files_is_read() {
    let records = "{facts: [info.yaml], records: {other: {format: raw, k8s: {flavour: rke2}}}}";
    let fleet = fleet_with("{facts: [info.yaml]}", records);
    fleet.check().is(str![[r#"
paris/control-plane v1.31.8+rke2r1 (shared.yaml:6:16): proven, ubuntu-noble-plain-rke2-1-31-8 (clusters/paris/values.yaml:3:16) holds 1.31.8+rke2r1 (info.yaml:7:18)

"#]]);
}

/// So that an editor or a terminal opens it from where the person is.
#[test]
fn places_are_shown_as_seen_from_where_the_run_started() {
    let scratch =
        fleet_with("rendered", "out").file("shared.yaml", SHARED.replace("v1.31.8", "v1.30.2"));
    let place = |folder: &str, words: &str| {
        let screen = scratch.run_in(folder, words).exit(1).outcome.stdout;
        let mut lines = screen.lines().map(str::trim).map(str::to_owned);
        lines.find(|line| line.starts_with("-->")).expect("a place")
    };
    let parent = scratch
        .path()
        .file_name()
        .expect("a name")
        .to_string_lossy();
    let above = place("..", &format!("-C {parent} check"));
    assert_eq!(place("", "check"), format!("--> {VALUES}:3:16"));
    assert_eq!(place("clusters", "check"), format!("--> ../{VALUES}:3:16"));
    assert_eq!(above, format!("--> {parent}/{VALUES}:3:16"));
}

#[test]
fn without_a_command_the_sum_of_the_project_is_shown() {
    let fleet = fleet();
    fleet.run("").exit(0).screen(str![[r#"
metalmark.yaml: 1 cluster
no findings in 1 cluster; 1 node pool checked: 1 proven
next: `metalmark impact` shows what a change does; `metalmark help` lists the commands

"#]]);
    fleet.edit("shared.yaml", "v1.31.8", "v1.30.2");
    fleet.run("").exit(1).screen(str![[r#"
metalmark.yaml: 1 cluster
1 error in 1 cluster; 1 node pool checked: 1 mismatched
1 error must be fixed first: k8s-version-mismatch 1
  such as: clusters/paris/values.yaml:3:16: image `ubuntu-noble-plain-rke2-1-31-8` holds Kubernetes `1.31.8+rke2r1`, not `v1.30.2+rke2r1`
next: `metalmark check` shows each finding at its place; `metalmark help` lists the commands

"#]]);
    let manifests = cluster("v1.33.5", "kindest/node:v1.33.5");
    let manifests = project().file("edge.yaml", manifests);
    manifests.write("metalmark.yaml", "{version: 1, manifests: [.]}");
    manifests.run("").exit(0).screen(str![[r#"
metalmark.yaml: 1 cluster
no findings in 1 cluster; 2 node pools checked: 2 by name only
next: `metalmark clusters` shows why node pools are not proven; `metalmark help` lists the commands

"#]]);
    // Anywhere else on a machine, all files below are no project.
    let stderr = project().run("").exit(2).outcome.stderr;
    assert!(stderr.contains("Usage: metalmark"), "{stderr}");
}

/// It quotes what was typed.
#[test]
fn an_error_of_usage_prints_no_password_and_no_command_of_a_ci_runner() {
    let stage = project();
    for (words, shown) in [
        (
            &[
                "bundle",
                "pull",
                "oci://u:SEKRET@h.example/a?x=SEKRET",
                "x",
                "y",
            ][..],
            "error: ",
        ),
        (
            &["bundle", "pull", "oci://u:SEKRET@h.example/a?x=SEKRET"],
            "error: ",
        ),
        (&["check", "--matching", "x\n::add-mask::SEKRET"], "x"),
    ] {
        let outcome = stage.run_args(words).outcome;
        assert_eq!(outcome.status, 2, "{words:?}");
        let text = outcome.stdout + &outcome.stderr;
        assert!(text.contains(shown), "{text}");
        assert!(!text.contains("oci://u:SEKRET"), "{text}");
        assert!(!text.contains("\n::add"), "{text}");
    }
}

#[test]
fn a_project_file_of_another_version_is_refused() {
    let stage = project().file("metalmark.yaml", "version: 2\n");
    let outcome = stage.run("check").exit(1).outcome;
    assert!(
        outcome
            .stdout
            .contains("write `version: 1`, or install the metalmark that wrote it"),
        "{}",
        outcome.stdout
    );
}
