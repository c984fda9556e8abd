//! What is reported about manifests in a project without Sylva values.

use capi::providers::{self, Edit, FieldStep, Stamp};
use metalmark::edit::stamp::{changes, problems};
use snapbox::str;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use crate::support::stage::{self, Is, Run, Stage, assert_cases, assert_text, project, table};

/// The findings of a run, without the lines that they quote: what is wrong, and below it where, whose, and what helps.
fn findings(run: Run) -> Vec<String> {
    let screen = run.exit(1).outcome.stderr;
    let mut lines: Vec<String> = Vec::new();
    for line in screen.lines().map(str::trim) {
        let place = line.strip_prefix("--> ").or(line.strip_prefix("::: "));
        match (place, line.strip_prefix("= ")) {
            (Some(place), _) => *lines.last_mut().expect("a finding") += &format!(" {place}"),
            (_, Some(note)) => lines.push(format!("  {note}")),
            _ if line.starts_with("error[") || line.starts_with("warning[") => {
                let (rule, text) = line.split_once(": ").expect("a text");
                lines.extend([format!("{rule} {text}"), " ".to_owned()]);
            }
            _ => {}
        }
    }
    lines
}

/// The findings of stamping, which change nothing where one is an error.
fn stamp(stage: &Stage) -> Vec<String> {
    let before = stage.texts();
    let found = findings(stage.run("stamp"));
    assert_eq!(stage.texts(), before, "an error prevents every edit");
    found
}

#[test]
fn what_cannot_be_edited_is_reported_at_its_place() {
    let stage = project().folder("fixtures/stamp/refused");
    (stamp(&stage).join("\n") + "\n").is(str![[r#"
error[image-unstamped] Metal3MachineTemplate `listed-${CLUSTER_NAME}` is not stamped: `spec.template.spec.image.url` holds the expression `${IMAGE_RAW_URL}` and `spec.template.spec.image.checksum` holds the expression `{{ .Values.checksum }}`, which is not replaced: delete it first
  clusters/expressions.yaml:4:9 metalmark.yaml:13:5
error[image-unstamped] the marker stamps nothing: no field, or not one alone, is beside it, and its object has no image of its own
  clusters/expressions.yaml:23:7
  help: write it in the object, above it, or beside the field that it is about
error[image-unstamped] Metal3MachineTemplate `listed-alias` is not stamped: `spec.template.spec.image` is marked `&image`, and aliases use it
  clusters/expressions.yaml:28:18 metalmark.yaml:13:5
error[image-unstamped] Metal3MachineTemplate `listed-encoded` is not stamped: it is in base64: write it under `stringData`, behind `|`
  clusters/resource-set.yaml:4:18 metalmark.yaml:13:5
error[image-unstamped] Metal3MachineTemplate `listed-hidden` is not stamped: it is in a quoted string: write it as a block, behind `|`
  clusters/resource-set.yaml:4:18 metalmark.yaml:13:5
error[image-unstamped] Metal3MachineTemplate `listed-folded` is not stamped: it is in a folded string, whose lines are not those of the manifest: write it with `|`
  clusters/strings.yaml:11:22 metalmark.yaml:13:5
error[image-unstamped] Metal3MachineTemplate `quoted` is not stamped: it is in a quoted string: write it as a block, behind `|`
  clusters/strings.yaml:15:51
error[image-unstamped] Metal3MachineTemplate `listed-json` is not stamped: it is in a quoted string: write it as a block, behind `|`
  clusters/strings.yaml:17:122 metalmark.yaml:13:5
warning[image-unstamped] a Metal3MachineTemplate is in a string that expressions of a template make no YAML, and is not looked at
  clusters/strings.yaml:22:14
  help: mark what the expressions take their values from: `# metalmark: image=KEY field=url`
error[image-unstamped] the marker stamps nothing: it is in a string that is not YAML, or that holds no map or list
  clusters/strings.yaml:24:5
  also at: clusters/strings.yaml:36:5
warning[image-unstamped] nothing says which image Metal3MachineTemplate `nobody` boots
  clusters/strings.yaml:32:13
  help: write `# metalmark: image=KEY` above it, or `# metalmark: ignore`
error[image-unstamped] Metal3MachineTemplate `listed-shared` is not stamped: `data.shared` is marked `&shared`, and aliases use it
  clusters/strings.yaml:41:22 metalmark.yaml:13:5
error[image-unstamped] no Cluster or ClusterClass of this entry gives the variable `imageUrl` a value
  metalmark.yaml:14:5
  help: write the variable with any value, or take it out of the entry

"#]]);
}

/// A project whose images are named after what they are made for.
fn images() -> Stage {
    let image = |key: &str, k8s: &str, format: &str| {
        format!(
            "    noble-{key}:\n      os: {{name: ubuntu, version: '24.04', codename: noble}}\n{k8s}      format: {format}\n      \
             digests: {{uncompressed: {{sha256: {}}}}}\n      locations: {{https: 'https://images.example.org/noble-{key}.raw', \
             kubevirt: {{container-disk: 'quay.io/capk/noble:2'}}}}\n",
            "a".repeat(64)
        )
    };
    let k8s = |text: &str| format!("      k8s: {{flavor: {text}}}\n");
    let images = [
        image("kubeadm", &k8s("kubeadm, version: 1.34.1"), "raw"),
        image("rke2", &k8s("rke2, version: 1.31.9, build: rke2r1"), "raw"),
        image("k3s", &k8s("k3s, version: 1.33.5, build: k3s1"), "raw"),
        image("unknown", "", "raw"),
        image("vmdk", &k8s("kubeadm, version: 1.34.1"), "vmdk"),
    ];
    project().settings(&format!(
        "manifests: [a.yaml]\nimages:\n  records:\n{}",
        images.concat()
    ))
}

/// A template with that image.
fn template(image: &str) -> String {
    format!(
        "# metalmark: image={image}\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
         metadata: {{name: m}}\nspec: {{template: {{spec: {{image: {{url: 'https://images.example.org/{image}.raw', checksum: {}, \
         checksumType: sha256, format: raw}}}}}}}}\n",
        "a".repeat(64)
    )
}

/// What runs a template.
fn runner(kind: &str, version: &str) -> String {
    let template = "{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: m}";
    let bootstrap =
        "{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: m}";
    let of = |group: &str, spec: String| {
        format!(
            "---\napiVersion: {group}cluster.x-k8s.io/v1beta1\nkind: {kind}\nmetadata: {{name: x}}\nspec: {spec}\n"
        )
    };
    match kind {
        "KThreesControlPlane" => of(
            "controlplane.",
            format!("{{version: {version}, infrastructureTemplate: {template}}}"),
        ),
        kind if kind.ends_with("ControlPlane") => of(
            "controlplane.",
            format!("{{version: {version}, machineTemplate: {{infrastructureRef: {template}}}}}"),
        ),
        "Cluster" => {
            let class = format!(
                "{{controlPlane: {{ref: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlaneTemplate, name: m}}, \
                 machineInfrastructure: {{ref: {template}}}}}}}"
            );
            of("", class).replace("kind: Cluster", "kind: ClusterClass")
                + &of(
                    "",
                    format!("{{topology: {{class: x, version: {version}}}}}"),
                )
        }
        _ => of(
            "",
            format!(
                "{{clusterName: c, template: {{spec: {{clusterName: c, version: \"{version}\", bootstrap: {{configRef: {bootstrap}}}, \
                 infrastructureRef: {template}}}}}}}"
            ),
        ),
    }
}

#[test]
fn the_version_and_the_flavor_of_what_runs_a_template_are_compared_with_its_image() {
    assert_cases(
        str![[r#"
noble-kubeadm KubeadmControlPlane v1.34.0
    error[k8s-version-mismatch] image `noble-kubeadm` holds Kubernetes `1.34.1`, not `v1.34.0`
      a.yaml:1:1 metalmark.yaml:7:39
      cluster: x, pool control-plane
      help: run `metalmark stamp --rotate --set-version`, which moves the version with the image
noble-rke2 RKE2ControlPlane v1.31.9+rke2r2
    error[k8s-version-mismatch] image `noble-rke2` holds Kubernetes `1.31.9+rke2r1`, not `v1.31.9+rke2r2`
      a.yaml:1:1 metalmark.yaml:13:36
      cluster: x, pool control-plane
      help: `--set-version` does not write `1.31.9+rke2r1`: it is older
noble-k3s KThreesControlPlane v1.33.5+k3s2
    error[k8s-version-mismatch] image `noble-k3s` holds Kubernetes `1.33.5+k3s1`, not `v1.33.5+k3s2`
      a.yaml:1:1 metalmark.yaml:19:35
      cluster: x, pool control-plane
      help: `--set-version` does not write `1.33.5+k3s1`: it is older
noble-kubeadm MachineSet v1.33.1
    error[k8s-version-mismatch] image `noble-kubeadm` holds Kubernetes `1.34.1`, not `v1.33.1`
      a.yaml:1:1 metalmark.yaml:7:39
      cluster: c, pool x
      help: run `metalmark stamp --rotate --set-version`, which moves the version with the image
noble-kubeadm MachinePool v1.33.2
    error[k8s-version-mismatch] image `noble-kubeadm` holds Kubernetes `1.34.1`, not `v1.33.2`
      a.yaml:1:1 metalmark.yaml:7:39
      cluster: c, pool x
      help: run `metalmark stamp --rotate --set-version`, which moves the version with the image
noble-unknown KubeadmControlPlane v1.34.1
    error[k8s-version-unproven] nothing proves that image `noble-unknown` holds Kubernetes `v1.34.1`
      a.yaml:1:1
      cluster: x, pool control-plane
      help: `images.records.noble-unknown.k8s.version: …` in metalmark.yaml, or a file with its facts under `images.facts`
      help: `images.records.noble-unknown.k8s.flavor: none` in metalmark.yaml, if the image holds no Kubernetes, as those of Talos
noble-kubeadm RKE2ControlPlane v1.34.1
    error[k8s-flavor-mismatch] image `noble-kubeadm` is made for kubeadm, not for rke2
      a.yaml:1:1
      cluster: x, pool control-plane
    error[k8s-version-incomplete] Kubernetes `v1.34.1` has no `+rke2rN`
      a.yaml:10:17
      cluster: x, pool control-plane
      help: name a release of the distribution: `…+rke2r1`
noble-rke2 MachineDeployment v1.31.9+rke2r1
    error[k8s-flavor-mismatch] image `noble-rke2` is made for rke2, not for kubeadm
      a.yaml:1:1
      cluster: c, pool x
noble-rke2 Cluster v1.31.9+rke2r1
    error[k8s-flavor-mismatch] image `noble-rke2` is made for rke2, not for kubeadm
      a.yaml:1:1
      cluster: x, pool control-plane

"#]],
        |case| {
            let words: Vec<&str> = case.split(' ').collect();
            let text = template(words[0]) + &runner(words[1], words[2]);
            stamp(&images().file("a.yaml", text))
        },
    );
    // A version that is not known yet is compared with nothing.
    let text = template("noble-kubeadm") + &runner("MachineDeployment", "${KUBERNETES_VERSION}");
    let config = "---\napiVersion: bootstrap.cluster.x-k8s.io/v1beta1\nkind: KubeadmConfigTemplate\nmetadata: {name: m}\n";
    images().file("a.yaml", text + config).run("stamp").exit(0);
}

/// A marked object of the kind, with this below `spec.template.spec`.
fn machine(image: &str, api: &str, kind: &str, spec: &str) -> String {
    format!(
        "---\n# metalmark: image={image}\napiVersion: infrastructure.cluster.x-k8s.io/{api}\nkind: {kind}\nmetadata: {{name: m}}\n\
         spec: {{template: {{spec: {spec}}}}}\n"
    )
}

#[test]
fn formats_references_skew_and_variables_are_reported() {
    let pool = |kind: &str, group: &str, version: &str, name: &str| {
        format!(
            "---\napiVersion: cluster.x-k8s.io/v1beta2\nkind: {kind}\nmetadata: {{name: {name}}}\nspec: {{clusterName: c, template: \
             {{spec: {{clusterName: c{version}, infrastructureRef: {{apiGroup: {group}, kind: Metal3MachineTemplate, name: m}}}}}}}}\n"
        )
    };
    let group = "infrastructure.cluster.x-k8s.io";
    let ignored = template("noble-kubeadm").replace("image=noble-kubeadm", "ignore");
    let disk = "{virtualMachineTemplate: {spec: {template: {spec: {volumes: [{name: root, containerDisk: {image: 'quay.io/capk/noble:1'}}]}}}}}";
    let cluster =
        "---\napiVersion: cluster.x-k8s.io/v1beta1\nkind: Cluster\nmetadata: {name: c}\nspec: ";
    let reference =
        "{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: x}";
    let skewed = |version: &str| {
        let own = runner("KubeadmControlPlane", "v1.33.4");
        format!(
            "{ignored}{cluster}{{controlPlaneRef: {reference}}}\n{own}{}",
            pool("MachineDeployment", group, version, "w")
        )
    };
    let cases = [
        (
            "a disk of another hypervisor",
            template("noble-vmdk").replace("raw", "vmdk")
                + &machine("noble-vmdk", "v1alpha1", "KubevirtMachineTemplate", disk),
        ),
        (
            "a disk for a container",
            machine(
                "noble-kubeadm",
                "v1beta1",
                "DockerMachineTemplate",
                "{customImage: 'kindest/node:v1.34.1'}",
            ),
        ),
        (
            "a group with a version in it",
            ignored.clone() + &pool("MachineDeployment", &format!("{group}/v1beta2"), "", "w"),
        ),
        (
            "another name",
            ignored.replace("name: m}", "name: m-1}") + &pool("MachinePool", group, "", "w"),
        ),
        ("newer than the control plane", skewed(", version: v1.34.1")),
        ("much older than it", skewed(", version: v1.29.1")),
        (
            "a variable",
            format!(
                "{cluster}{{topology: {{class: none, version: v1.33.9, variables: [{{name: image, value: {{url: 'https://images.example.org/noble-kubeadm.raw'}}}}]}}}}\n"
            ),
        ),
    ];
    let screens = table(cases.iter().map(|(name, _)| name), |name| {
        let (_, text) = cases.iter().find(|case| case.0 == **name).expect("it");
        let entry = "stamps: [{kind: Cluster, variables: {image.url: url}, image: noble-kubeadm}]";
        let settings = if **name == "a variable" { entry } else { "" };
        findings(
            images()
                .settings(settings)
                .file("a.yaml", text)
                .run("stamp"),
        )
    });
    screens.is(str![[r#"
a disk of another hypervisor
    warning[format-unsupported] `capm3` does not boot images of format `vmdk`
      a.yaml:1:1
      help: build or convert the image: `qemu-img convert -O raw`
    warning[template-edited-in-place] Metal3MachineTemplate `m` gets another image, and no machine that runs is replaced
      a.yaml:4:18
      help: run `metalmark stamp --rotate`: a new name, and every reference moved to it
    error[format-unsupported] `kubevirt` does not boot images of format `vmdk`
      a.yaml:7:1
a disk for a container
    error[format-unsupported] `docker` does not boot images of format `raw`
      a.yaml:2:1
      help: select an image whose `format` is `container`
a group with a version in it
    error[reference-dangling] MachineDeployment `w` refers to Metal3MachineTemplate `m`, which is not there
      a.yaml:10:164
      cluster: c, pool w
      help: write `apiGroup: infrastructure.cluster.x-k8s.io`, or the same group in `apiVersion`
another name
    error[reference-dangling] MachinePool `w` refers to Metal3MachineTemplate `m`, which is not there
      a.yaml:10:156
      cluster: c, pool w
      help: name a template that is there, or add it
newer than the control plane
    error[version-skew] node pool `w` runs Kubernetes `v1.34.1`, newer than its control plane's `v1.33.4`
      a.yaml:20:67
      cluster: c, pool w
      help: run `v1.34.1` in both
much older than it
    error[version-skew] node pool `w` runs Kubernetes `v1.29.1`, more than three minors older than its control plane's `v1.33.4`
      a.yaml:20:67
      cluster: c, pool w
      help: run `v1.33.4` in both
a variable
    error[k8s-version-mismatch] image `noble-kubeadm` holds Kubernetes `1.34.1`, not `v1.33.9`
      metalmark.yaml:34:10 a.yaml:5:41 metalmark.yaml:7:39
      cluster: c, pool control-plane
      help: run `metalmark stamp --rotate --set-version`, which moves the version with the image

"#]]);
}
#[test]
fn an_image_is_stamped_where_enough_is_known_of_it_and_its_machines_boot_it() {
    let (served, pulled) = ("https://s/a", "oci://s/a");
    let no_format = "nothing says the format of image `k`";
    let no_checksum = "nothing says the checksum of image `k`";
    let no_vhd = "capm3 cannot boot image `k`, whose format is `vhd`";
    let no_vmdk = "capg cannot boot image `k`, whose format is `vmdk`";
    for (provider, url, format, checksum, expected) in [
        ("capm3", served, "raw", "00", &[][..]),
        ("capm3", served, "", "00", &[no_format]),
        ("capm3", served, "raw", "", &[no_checksum]),
        ("capm3", served, "", "", &[no_format, no_checksum]),
        ("capm3", pulled, "raw", "", &[]),
        ("capm3", served, "vhd", "00", &[no_vhd]),
        // Metal3 takes it, and its machines refuse it later.
        ("capm3", served, "vmdk", "00", &[]),
        ("capg", served, "vmdk", "00", &[no_vmdk]),
        ("capo", served, "raw", "", &[]),
        // What a snapshot was made from is of no interest.
        ("hetzner", served, "", "", &[]),
        ("hetzner", served, "vhd", "", &[]),
    ] {
        let given = |text: &str| (!text.is_empty()).then(|| text.into());
        let stamp = Stamp {
            key: given("k"),
            url: url.into(),
            format: given(format),
            checksum: given(checksum),
            ..Stamp::default()
        };
        let provider = providers::find(provider).expect("a provider");
        let found = problems(&stamp, provider, &provider.data().kinds[0]);
        assert_eq!(
            found,
            expected,
            "{} {url} {format} {checksum}",
            provider.data().name
        );
    }
}

#[test]
fn a_field_that_changes_takes_with_it_what_is_below_it_and_nothing_else() {
    let text = "a: x\nb: {c: x, d: x}\n";
    let read = yaml_tree::read(text, FileId(0), Engine::Kubectl).expect("YAML");
    let edit = |path: &[&'static str], value: Option<&str>| Edit {
        path: path.iter().copied().map(FieldStep::Key).collect(),
        value: value.map(Into::into),
    };
    for (outer, is_edited) in [
        (edit(&["a"], None), true),
        (edit(&["b"], Some("y")), false),
        (edit(&["b", "d"], None), true),
    ] {
        let wanted = [outer, edit(&["b", "c"], Some("y"))];
        let found = changes(&read.documents[0], 0, &[], &wanted).expect("no list");
        let edited: Vec<bool> = found.iter().map(|change| change.edit.is_some()).collect();
        assert_eq!(edited, [true, is_edited], "{}", wanted[0]);
    }
}

#[cfg(unix)]
#[test]
fn what_a_link_leads_to_is_stamped_there() {
    let stage = || {
        let old = template("noble-kubeadm").replace("noble-kubeadm.raw", "old.raw");
        let stage = images()
            .file("a.yaml", old)
            .file("kustomization.yaml", "resources: [link.yaml]\n");
        std::os::unix::fs::symlink("a.yaml", stage.path().join("link.yaml")).expect("linked");
        stage
    };
    let named = ["[.]", "[link.yaml]", "[kustomization.yaml, link.yaml]"].map(|named| {
        let stage = stage();
        let settings = stage.texts()["metalmark.yaml"].replace("[a.yaml]", named);
        (stage.file("metalmark.yaml", settings), "stamp")
    });
    let typed = (stage(), "stamp link.yaml");
    let stamped = named.into_iter().chain([typed]).map(|(stage, words)| {
        let before = stage.texts();
        let run = stage.run(words).exit(0);
        assert!(stage.path().join("link.yaml").is_symlink());
        run.outcome.stdout + &stage::changes(&before, &stage.texts())
    });
    assert_text(
        &stamped.collect::<String>(),
        str![[r#"
stamped  a.yaml
2 files of manifests, 1 stamped
a.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
link.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
stamped  link.yaml
1 file of manifests, 1 stamped
a.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
link.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
stamped  link.yaml
1 file of manifests, 1 stamped
a.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
link.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
stamped  a.yaml
1 file of manifests, 1 stamped
a.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
link.yaml:5
-spec: {template: {spec: {image: {url: 'https://images.example.org/old.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}
+spec: {template: {spec: {image: {url: 'https://images.example.org/noble-kubeadm.raw', checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, checksumType: sha256, format: raw}}}}

"#]],
    );
}

#[test]
fn an_entry_of_stamps_says_one_image() {
    let found = table(
        [
            "{kind: Metal3MachineTemplate}",
            "{kind: Metal3MachineTemplate, image: a, selector: {os: ubuntu}}",
        ],
        |entry| {
            let stage = project().settings(&format!("manifests: [.]\nstamps: [{entry}]"));
            let checked = stage.check();
            let lines = checked.of_rule("project-file").into_iter();
            lines.map(str::to_owned).collect::<Vec<_>>()
        },
    );
    assert_text(
        &found,
        str![[r#"
{kind: Metal3MachineTemplate}
    error[project-file] metalmark.yaml:3:10 `{kind: Metal3MachineTemplate}` => image: KEY | selector: {os: ubuntu}
{kind: Metal3MachineTemplate, image: a, selector: {os: ubuntu}}
    error[project-file] metalmark.yaml:3:10 `{kind: Metal3MachineTemplate, image: a, selector: {os: ubuntu}}` => image: KEY | selector: {os: ubuntu}

"#]],
    );
}

/// An entry that fits nothing leaves the template that it means without an image.
#[test]
fn an_entry_of_stamps_that_fits_no_object_is_reported() {
    let template = "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate\nmetadata: {name: edge-md}\nspec: {template: {spec: {image: {filter: {name: noble}}}}}\n";
    let stage = project().file("manifests/edge.yaml", template).settings(
        "manifests: [manifests]
images: {records: {a: {locations: {glance: {name: noble}}}}}
stamps:
  - {kind: OpenStackMachineTemplatee, image: a}
  - {kind: OpenStackMachineTemplate, name: edge-mb, image: a}
  - {kind: OpenStackMachineTemplate, namespace: prod, image: a}
  - {kind: OpenStackMachineTemplate, image: a}
",
    );
    stage.run("stamp --check").exit(0).brief(str![[r#"
1 file of manifests, 0 to stamp
warning[project-file]: no object among the manifests fits this entry of `stamps`
  metalmark.yaml:5:5 `{kind: OpenStackMachineTemplatee, image: a}`
  help: did you mean `OpenStackMachineTemplate`?
warning[project-file]: no object among the manifests fits this entry of `stamps`
  metalmark.yaml:6:5 `{kind: OpenStackMachineTemplate, name: edge-mb, image: a}`
  help: did you mean `edge-md`?
warning[project-file]: no object among the manifests fits this entry of `stamps`
  metalmark.yaml:7:5 `{kind: OpenStackMachineTemplate, namespace: prod, image: a}`
  help: compare its `kind`, `name`, `namespace` and `labels` with the objects, and `manifests` with their folders
3 warnings

"#]]);
}

/// What says which image a template boots is no manifest itself: a rotation renames nothing in it.
#[test]
fn the_project_file_is_no_manifest() {
    let stage = project()
        .file(
            "edge.yaml",
            "apiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: OpenStackMachineTemplate\nmetadata: {name: edge}\nspec: {template: {spec: {image: {filter: {name: old}}}}}\n",
        )
        .settings(
            "manifests: ['.']
images: {records: {a: {locations: {glance: {name: noble}}}}}
stamps: [{kind: OpenStackMachineTemplate, name: edge, image: a}]
",
        );
    let before = stage.read("metalmark.yaml");
    let said = stage.run("stamp --rotate").exit(0).outcome.stdout;
    assert!(said.contains("1 file of manifests, 1 stamped"), "{said}");
    assert!(stage.read("edge.yaml").contains("name: edge-"));
    assert_eq!(stage.read("metalmark.yaml"), before);
    stage.run("stamp --check").exit(0);
}
