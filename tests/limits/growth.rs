//! Every list of every input, grown: each command ends by itself in little CPU time, or by its budget, and never by a signal.
//! The short form grows each to about a megabyte, the long one to ten.

use std::fmt::Write as _;

use crate::support::is_long;
use crate::support::lsp::Client;
use crate::support::stage::{Stage, project};

/// A list that grows.
struct Grower {
    name: &'static str,
    /// How many items are about a megabyte.
    items: usize,
    make: fn(usize) -> Stage,
    /// The commands that run beside `check`.
    more: &'static [&'static str],
}

/// A text for each number.
fn each(count: usize, text: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |mut all, index| {
        all.push_str(&text(index));
        all
    })
}

/// A cluster of manifests.
fn manifests(name: &str) -> String {
    let mut text = String::new();
    for (group, kind, suffix, spec) in [
        ("cluster", "Cluster", "", format!("controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: {name}-cp}}")),
        ("controlplane.cluster", "KubeadmControlPlane", "-cp", format!("{{version: v1.34.1, machineTemplate: {{infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: {name}-cp}}}}}}")),
        ("infrastructure.cluster", "Metal3MachineTemplate", "-cp", "{template: {spec: {image: {url: 'http://x/UBUNTU_24.04_NODE_IMAGE_K8S_v1.34.1.qcow2', checksum: 'http://x/s', checksumType: sha256, format: qcow2}}}}".to_owned()),
    ] {
        let _ = writeln!(
            text,
            "apiVersion: {group}.x-k8s.io/v1beta1\nkind: {kind}\nmetadata: {{name: {name}{suffix}}}\nspec:\n  {spec}\n---"
        );
    }
    text
}

fn image(index: usize) -> String {
    format!(
        "  img-{index}: {{uri: 'https://r.example/{index}.raw', sha256: '{index:064x}', image-format: raw, os: ubuntu, k8s-version: '1.31.8+rke2r1'}}\n"
    )
}

const HEAD: &str = "cluster:\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}\n";

fn values(shared: &str, own: &str) -> Stage {
    project()
        .settings("values: [v.yaml]\nclusters: [{name: a, values: [a.yaml]}]")
        .file("v.yaml", shared)
        .file("a.yaml", format!("{HEAD}{own}"))
}

fn kustomization(lists: &str) -> Stage {
    project()
        .file("c.yaml", manifests("c"))
        .file("big.txt", "x".repeat(300_000))
        .file(
            "kustomization.yaml",
            format!("resources: [c.yaml]\n{lists}"),
        )
}

fn chart(metadata: &str) -> Stage {
    project()
        .file(
            "chart/Chart.yaml",
            format!("apiVersion: v2\nname: c\nversion: 1.0.0\n{metadata}"),
        )
        .file("chart/templates/c.yaml", manifests("c"))
        .file(
            "chart/charts/s/Chart.yaml",
            "apiVersion: v2\nname: s\nversion: 1.0.0\n",
        )
        .file("chart/charts/s/values.yaml", "d: {x: 1}\n")
        .file(
            "chart/charts/s/templates/a.yaml",
            "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n",
        )
}

fn settings(lines: &str, clusters: usize) -> Stage {
    project()
        .settings(&format!("manifests: [c.yaml]\n{lines}"))
        .file(
            "c.yaml",
            each(clusters, |index| manifests(&format!("c{index}"))),
        )
}

/// A class with these patches of its control plane, and a template of machines for it.
fn class(patches: &str) -> String {
    let machines =
        "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate";
    let classed = format!(
        "apiVersion: cluster.x-k8s.io/v1beta1\nkind: ClusterClass\nmetadata: {{name: k}}\nspec:\n  controlPlane: {{machineInfrastructure: {{ref: {{{machines}, name: c-cp}}}}}}\n  patches:\n{patches}---\n"
    );
    classed + &manifests("c")
}

const GROWERS: &[Grower] = &[
    Grower {
        name: "clusters of one file",
        items: 1_000,
        make: |count| {
            project().file(
                "c.yaml",
                each(count, |index| manifests(&format!("c{index}"))),
            )
        },
        more: &["page --to page.html", "plan --to 1.35", "init --dry-run"],
    },
    Grower {
        name: "clusters whose templates are not there",
        items: 1_500,
        make: |count| {
            let without = |index| {
                manifests(&format!("c{index}"))
                    .replace("kind: Metal3MachineTemplate\nmeta", "kind: Other\nmeta")
            };
            project().file("c.yaml", each(count, without))
        },
        more: &["page --to page.html"],
    },
    Grower {
        name: "words of a command",
        items: 200_000,
        make: |count| {
            let command = "a 'b' ".repeat(count);
            let spec =
                format!("{{kubeadmConfigSpec: {{preKubeadmCommands: [\"{command}\"]}}, version:");
            let text = manifests("c").replace("{version:", &spec);
            assert!(text.contains(&command));
            project().file("c.yaml", text)
        },
        more: &[],
    },
    Grower {
        name: "clusters of the project file",
        items: 1_000,
        make: |count| {
            let clusters = each(count, |index| {
                format!("- {{name: c{index}, values: [a.yaml]}}\n")
            });
            project()
                .settings(&format!("outputs: [{{target: manifests, path: out}}]\nvalues: [v.yaml]\nclusters:\n{clusters}"))
                .file("v.yaml", format!("os_images:\n{}", image(1)))
                .file("a.yaml", format!("{HEAD}  capm3: {{image_key: img-1}}\n"))
        },
        more: &["render", "page --to page.html", "plan --to 1.32"],
    },
    Grower {
        name: "values files that are one",
        items: 20_000,
        make: |count| {
            project()
                .settings(&format!(
                    "values: [{}]\nclusters: [{{name: a, values: [a.yaml]}}]",
                    "v.yaml, ".repeat(count)
                ))
                .file(
                    "v.yaml",
                    each(1_000, |index| format!("k{index}: {{a: 1}}\n")),
                )
                .file("a.yaml", HEAD)
        },
        more: &[],
    },
    Grower {
        name: "images and pools with misspelled keys",
        items: 80,
        make: |count| {
            let pools = each(count, |index| {
                format!("    md{index}: {{capm3: {{image_key: imgg-{index}}}}}\n")
            });
            values(
                &format!("os_images:\n{}", each(count * 20, image)),
                &format!("  capm3: {{image_key: img-1}}\n  machine_deployments:\n{pools}"),
            )
        },
        more: &[],
    },
    Grower {
        name: "images and selectors that match none",
        items: 30,
        make: |count| {
            let pools = each(count, |index| {
                format!("    md{index}: {{capm3: {{os_image_selector: {{os-release: 'no.*'}}}}}}\n")
            });
            values(
                &format!("os_images:\n{}", each(count * 80, image)),
                &format!("  capm3: {{image_key: img-1}}\n  machine_deployments:\n{pools}"),
            )
        },
        more: &["page --to page.html"],
    },
    Grower {
        name: "generators of one file",
        items: 1_000,
        make: |count| {
            kustomization(&format!(
                "configMapGenerator:\n{}",
                each(count, |index| format!(
                    "- {{name: x{index}, files: [big.txt]}}\n"
                ))
            ))
        },
        more: &["init --dry-run"],
    },
    Grower {
        name: "generators of one env file",
        items: 20,
        make: |count| {
            kustomization(&format!(
                "configMapGenerator:\n{}",
                each(count, |index| format!(
                    "- {{name: x{index}, envs: [big.env]}}\n"
                ))
            ))
            .file("big.env", each(8_000, |index| format!("k{index}=v\n")))
        },
        more: &[],
    },
    Grower {
        name: "literals of a generator",
        items: 50_000,
        make: |count| {
            kustomization(&format!(
                "configMapGenerator:\n- name: x\n  literals:\n{}",
                each(count, |index| format!("  - k{index}=v\n"))
            ))
        },
        more: &[],
    },
    Grower {
        name: "replacements",
        items: 2_000,
        make: |count| {
            let one = |index| {
                format!(
                    "- {{source: {{kind: Cluster, name: c}}, targets: [{{select: {{kind: Cluster}}, fieldPaths: [metadata.annotations.x{index}], options: {{create: true}}}}]}}\n"
                )
            };
            kustomization(&format!("replacements:\n{}", each(count, one)))
        },
        more: &[],
    },
    Grower {
        name: "replacements of a long value",
        items: 300,
        make: |count| {
            let one = |index| {
                format!(
                    "- {{source: {{kind: ConfigMap, name: big, fieldPath: data.a}}, targets: [{{select: {{kind: Cluster}}, fieldPaths: [metadata.annotations.x{index}], options: {{create: true}}}}]}}\n"
                )
            };
            kustomization(&format!(
                "configMapGenerator: [{{name: big, files: [a=big.txt]}}]\nreplacements:\n{}",
                each(count, one)
            ))
        },
        more: &[],
    },
    Grower {
        name: "patches",
        items: 2_000,
        make: |count| {
            let one = |index| {
                format!(
                    "- {{target: {{kind: Cluster, name: 'c.*'}}, patch: '[{{\"op\": \"add\", \"path\": \"/metadata/labels/a{index}\", \"value\": \"b\"}}]'}}\n"
                )
            };
            kustomization(&format!(
                "commonLabels: {{a: b}}\npatches:\n{}",
                each(count, one)
            ))
        },
        more: &[],
    },
    Grower {
        name: "patches of a class and clusters of it",
        items: 40,
        make: |count| {
            let patch = |index| {
                format!(
                    "  - name: p{index}\n    definitions:\n    - selector: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, matchResources: {{controlPlane: true}}}}\n      jsonPatches: [{{op: add, path: /spec/template/spec/x{index}, value: 1}}]\n"
                )
            };
            let clusters = |index| {
                format!(
                    "---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {{name: c{index}}}\nspec: {{topology: {{class: k, version: v1.34.1}}}}\n"
                )
            };
            project()
                .file("class.yaml", class(&each(count, patch)))
                .file("c.yaml", each(count, clusters))
        },
        more: &[],
    },
    Grower {
        name: "dependencies of one chart",
        items: 4_000,
        make: |count| {
            chart(&format!(
                "dependencies:\n{}",
                each(count, |index| format!(
                    "- {{name: s, version: 1.0.0, alias: a{index}}}\n"
                ))
            ))
        },
        more: &["init --dry-run"],
    },
    Grower {
        name: "imported values",
        items: 4_000,
        make: |count| {
            chart(&format!(
                "dependencies:\n- name: s\n  version: 1.0.0\n  import-values:\n{}",
                each(count, |index| format!(
                    "  - {{child: d, parent: p{index}}}\n"
                ))
            ))
        },
        more: &[],
    },
    Grower {
        name: "lines of a .helmignore",
        items: 20_000,
        make: |count| {
            chart("").file(
                "chart/.helmignore",
                each(count, |index| format!("x{index}*.y?ml\n")),
            )
        },
        more: &[],
    },
    Grower {
        name: "files below a .helmignore",
        items: 70,
        make: |count| {
            let ignored = each(count * 20, |index| format!("*a*b*c*{index}*\n"));
            (0..count).fold(
                chart("").file("chart/.helmignore", ignored),
                |stage, index| {
                    stage.file(
                        &format!("chart/templates/{}{index}.yaml", "f".repeat(54)),
                        "",
                    )
                },
            )
        },
        more: &[],
    },
    Grower {
        name: "patterns of a schema and keys of values",
        items: 800,
        make: |count| {
            let patterns = each(count, |index| format!("\"^x{index}a+$\": {{}}, "));
            chart("")
                .file(
                    "chart/values.schema.json",
                    format!("{{\"patternProperties\": {{{patterns}\"^y\": {{}}}}}}"),
                )
                .file(
                    "chart/values.yaml",
                    each(count, |index| format!("k{index}: 1\n")),
                )
        },
        more: &[],
    },
    Grower {
        name: "releases of one chart",
        items: 1_000,
        make: |count| {
            let release = |index| {
                format!(
                    "apiVersion: helm.toolkit.fluxcd.io/v2\nkind: HelmRelease\nmetadata: {{name: r{index}, namespace: x}}\nspec: {{chart: {{spec: {{chart: ./chart, sourceRef: {{kind: GitRepository, name: g}}}}}}}}\n---\n"
                )
            };
            chart("").file("releases.yaml", each(count, release))
        },
        more: &[],
    },
    Grower {
        name: "waivers",
        items: 10_000,
        make: |count| {
            let waivers = each(count, |index| {
                format!("  - {{rule: image-unknown, where: c{index}, reason: x}}\n")
            });
            settings(&format!("policy:\n  waivers:\n{waivers}"), count / 50)
        },
        more: &["page --to page.html"],
    },
    Grower {
        name: "records",
        items: 5_000,
        make: |count| {
            let record = |index| {
                format!(
                    "    r{index}: {{k8s: {{version: v1.34.1}}, locations: {{https: 'http://y/{index}.qcow2'}}}}\n"
                )
            };
            settings(
                &format!("images:\n  records:\n{}", each(count, record)),
                count / 50,
            )
        },
        more: &[],
    },
    Grower {
        name: "stamps",
        items: 3_000,
        make: |count| {
            let stamp = |index| {
                format!("- {{kind: Metal3MachineTemplate, name: c{index}-cp, image: none}}\n")
            };
            settings(&format!("stamps:\n{}", each(count, stamp)), count / 10)
        },
        more: &["stamp --check"],
    },
    Grower {
        name: "stamps that name images which are not there",
        items: 200,
        make: |count| {
            let stamp = |index| {
                format!("- {{kind: Metal3MachineTemplate, name: 'c{index}-*', image: rr{index}}}\n")
            };
            let record = |index| {
                format!(
                    "    r{index}: {{k8s: {{version: v1.34.1}}, locations: {{https: 'http://y/{index}.qcow2'}}}}\n"
                )
            };
            settings(
                &format!(
                    "images:\n  records:\n{}stamps:\n{}",
                    each(count * 10, record),
                    each(count, stamp)
                ),
                count,
            )
        },
        more: &["stamp --check"],
    },
    Grower {
        name: "templates with markers",
        items: 500,
        make: |count| {
            let marked = |index| {
                manifests(&format!("c{index}"))
                    .replace("Template\nmeta", "Template # metalmark: image=none\nmeta")
            };
            project().file("c.yaml", each(count, marked))
        },
        more: &["stamp --check"],
    },
    Grower {
        name: "patterns of clusters",
        items: 3_000,
        make: |count| {
            let pattern = |index| format!("    'c{index}*/x': {{k8s-version-unproven: off}}\n");
            settings(
                &format!("policy:\n  clusters:\n{}", each(count, pattern)),
                count / 10,
            )
        },
        more: &[],
    },
    Grower {
        name: "properties of a schema and misspelled ones",
        items: 1_000,
        make: |count| {
            let properties = each(count, |index| format!("\"property-{index}\": {{}}, "));
            chart("")
                .file(
                    "chart/values.schema.json",
                    format!("{{\"additionalProperties\": false, \"properties\": {{{properties}\"y\": {{}}}}}}"),
                )
                .file(
                    "chart/values.yaml",
                    each(count, |index| format!("propertyy-{index}: 1\n")),
                )
        },
        more: &[],
    },
    Grower {
        name: "registries and images of others",
        items: 1_000,
        make: |count| {
            let registry = |index| {
                format!("  registry-{index}: {{url: 'oci://r.example/{index}', tag: '1'}}\n")
            };
            let image =
                |index| format!("  img-{index}: {{os_images_oci_registry: registryy-{index}}}\n");
            values(
                &format!(
                    "os_images_oci_registries:\n{}sylva_diskimagebuilder_images:\n{}",
                    each(count, registry),
                    each(count, image)
                ),
                "  capm3: {image_key: img-1}\n",
            )
        },
        more: &[],
    },
    Grower {
        name: "facts that are one file",
        items: 10_000,
        make: |count| {
            values(&format!("os_images:\n{}", each(100, image)), "  capm3: {image_key: img-1}\n")
                .file("f.yaml", format!("os_images:\n{}", each(100, image)))
                .settings(&format!("values: [v.yaml]\nclusters: [{{name: a, values: [a.yaml]}}]\nimages: {{facts: [{}]}}", "f.yaml, ".repeat(count)))
        },
        more: &[],
    },
    Grower {
        name: "variables of an env file",
        items: 30_000,
        make: |count| {
            project()
                .settings("pairs: [{version: '.env#K8S', image: '.env#IMAGE'}]")
                .file(
                    ".env",
                    format!(
                        "K8S=1.34.1\nIMAGE=UBUNTU_K8S_v1.34.1\n{}",
                        each(count, |index| format!("VARIABLE_{index}=value\n"))
                    ),
                )
        },
        more: &[],
    },
    Grower {
        name: "`**` of a pair",
        items: 30,
        make: |count| {
            let deep = (0..60).fold(
                "{v: 1.34.1, i: UBUNTU_K8S_v1.34.1}".to_owned(),
                |inner, _| format!("{{a: {inner}}}"),
            );
            let any = "**.".repeat(count);
            project()
                .settings(&format!(
                    "pairs: [{{version: 'v.yaml#{any}v', image: '#{any}i'}}]"
                ))
                .file("v.yaml", deep)
        },
        more: &[],
    },
    Grower {
        name: "entries of a lock",
        items: 3_000,
        make: |count| {
            let entry = |index| {
                format!(
                    "\n- key: img-{index}\n  reference: oci://r.example/i:{index}\n  digest: sha256:{index:064x}\n"
                )
            };
            values(
                &format!("os_images:\n{}", each(50, image)),
                "  capm3: {image_key: img-1}\n",
            )
            .file(
                "metalmark.lock",
                format!("version: 1\nimages:\n{}", each(count, entry)),
            )
        },
        more: &["page --to page.html"],
    },
];

/// The seconds of CPU time that a script's commands took, by the last line of `times`.
fn seconds(times: &str) -> f64 {
    let last = times.lines().last().expect("the children's times");
    let one = |text: &str| {
        let (minutes, seconds) = text.split_once('m').expect("minutes");
        let part = |text: &str| text.parse::<f64>().expect("a number");
        60.0 * part(minutes) + part(seconds.trim_end_matches('s'))
    };
    last.split_whitespace().map(one).sum()
}

#[test]
#[cfg(target_os = "linux")]
fn each_list_that_grows_ends_in_ten_seconds_or_by_the_budget() {
    // In the short form nothing may need the budget. This build is several times slower than what is released.
    let (times, most) = if is_long() { (10, 60) } else { (1, 10) };
    for Grower {
        name,
        items,
        make,
        more,
    } in GROWERS
    {
        let project = make(items * times);
        for command in ["check"].iter().chain(*more) {
            let script = format!(
                "metalmark {command} --max-cpu {most} >/dev/null && echo 0 || echo $?; times"
            );
            let outcome = project.shell(&script).outcome;
            let status: i32 = outcome
                .stdout
                .lines()
                .next()
                .and_then(|line| line.parse().ok())
                .expect("a status");
            let is_over = outcome.stderr.contains("help: this much is for input");
            let case = format!("{name}: {command}: {status} {}", outcome.stderr);
            assert!(
                matches!((status, is_over), (0 | 1, false) | (2, _)),
                "{case}"
            );
            assert!(is_long() || !is_over, "{case}");
            let took = seconds(&outcome.stdout);
            assert!(took < f64::from(most) + 2.0, "{took} seconds: {case}");
        }
    }
}

#[test]
fn a_language_server_answers_about_a_file_of_many_findings() {
    let count = if is_long() { 20_000 } else { 2_000 };
    let pools = each(count, |index| {
        format!("    md{index}: {{capm3: {{image_key: none-{index}}}}}\n")
    });
    let own = format!("  capm3: {{image_key: img-1}}\n  machine_deployments:\n{pools}");
    let project = values(&format!("os_images:\n{}", image(1)), &own);
    let mut client = Client::start(&project, &["a.yaml"]);
    assert_eq!(client.settled("a.yaml").len(), count);
    assert_eq!(client.shutdown(), 0);
}
