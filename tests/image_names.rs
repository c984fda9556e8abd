//! `metalmark names`: names that builders and catalogs agree on.

use snapbox::str;

use super::support::stage::{Is, Stage, project};
use super::support::story::Story;

fn site() -> Stage {
    project()
        .catalog(&[
            "ubuntu-noble-plain-rke2-1-31-8 rke2 1.31.8+rke2r1 os=ubuntu os-release=noble hardened=false",
            "ubuntu-noble-cis rke2 1.31.8+rke2r1 os=ubuntu os-release=noble hardened=true",
            "ubuntu-noble-cis-arm rke2 1.31.8+rke2r1 os=ubuntu os-release=24.04 hardened=true arch=arm64",
            "plain rke2 1.31.8+rke2r1 os=ubuntu",
        ])
        .settings(r"names: ['golden-(?P<os>[a-z]+)(?P<release>\d+)-(?P<k8s>1\.\d+\.\d+)']")
        .cluster("edge", "cluster: {k8s_version: v1.31.8+rke2r1, capm3: {image_key: plain}}")
}

#[test]
fn the_names_of_a_catalog_are_built_and_tested() {
    let stage = site();
    let mut story = Story::new(&stage);
    story.runs(&["names sylva-dib", "names golden-{os}{release}-{k8s}"]);
    stage.edit(
        "catalog.yaml",
        "ubuntu-noble-cis.raw",
        "golden-ubuntu2404-1.31.8.raw",
    );
    story.note("as its file is called");
    story.runs(&["names golden-{os}{release}-{k8s}{file}"]);
    story.is(str![[r#"
$ names sylva-dib => 1
IMAGE                           NAME                                   TEST
plain                           -                                      nothing is known for `{release}`
ubuntu-noble-cis                ubuntu-noble-hardened-rke2-1.31.8.raw  is `ubuntu-noble-cis.raw` in the catalog
ubuntu-noble-cis-arm            ubuntu-24.04-hardened-rke2-1.31.8.raw  is `ubuntu-noble-cis-arm.raw` in the catalog
ubuntu-noble-plain-rke2-1-31-8  ubuntu-noble-plain-rke2-1.31.8         ok
$ names golden-{os}{release}-{k8s} => 1
IMAGE                           NAME                      TEST
plain                           -                         nothing is known for `{release}`
ubuntu-noble-cis                golden-ubuntu2404-1.31.8  is `ubuntu-noble-cis.raw` in the catalog
ubuntu-noble-cis-arm            golden-ubuntu2404-1.31.8  is the name of `ubuntu-noble-cis` too
ubuntu-noble-plain-rke2-1-31-8  golden-ubuntu2404-1.31.8  is the name of `ubuntu-noble-cis-arm` too
# as its file is called
$ names golden-{os}{release}-{k8s}{file} => 1
IMAGE                           NAME                          TEST
plain                           -                             nothing is known for `{release}`
ubuntu-noble-cis                golden-ubuntu2404-1.31.8.raw  ok
ubuntu-noble-cis-arm            golden-ubuntu2404-1.31.8.raw  is the name of `ubuntu-noble-cis` too
ubuntu-noble-plain-rke2-1-31-8  golden-ubuntu2404-1.31.8.raw  is the name of `ubuntu-noble-cis-arm` too

"#]]);
}

#[test]
fn a_builder_names_one_image_by_its_facts() {
    let facts = "--fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1";
    let stage = project();
    let mut story = Story::new(&stage);
    for words in [
        "names ib-kube",
        "names metal3",
        "names cluster-api-{os}-{release}-v{k8s}",
        "names {os}-{k8s}",
        "names sylva-dib",
        "names {os}-{kubernetes}",
        "names {os}-{k8s} --fact os",
        "names {os}{variant}",
        "names {os}[-{k8s}",
        "names {é",
    ] {
        story.runs(&[&format!("{words} {facts}")]);
    }
    story.note("as the help says");
    stage.write("metalmark.yaml", "version: 1\nnames: ['{os}-{k8s}']\n");
    story.runs(&[
        &format!("names {{os}}-{{k8s}} {facts}"),
        "names ubuntu-1.31.8.raw",
    ]);
    story.is(str![[r#"
$ names ib-kube --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 0
ubuntu-noble-kube-v1.31.8+rke2r1
$ names metal3 --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 0
UBUNTU_24.04_NODE_IMAGE_K8S_v1.31.8
$ names cluster-api-{os}-{release}-v{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 0
cluster-api-ubuntu-2404-v1.31.8
$ names {os}-{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 1
ubuntu-1.31.8+rke2r1
no scheme reads it: add `{os}-{k8s}` to `names` in the project file
$ names sylva-dib --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: nothing is known for `{flavor}`: give `--fact flavor=…`
$ names {os}-{kubernetes} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: `{os}-{kubernetes}` is not a form of names: a name has no part `kubernetes`, only `arch`, `builder`, `channel`, `commit`, `compression`, `firmware`, `flavor`, `format`, `k8s`, `k8s_flavor`, `os`, `platform`, `release`, `schematic`, `sysext`, `timestamp`, `variant`, `version`
$ names {os}-{k8s} --fact os --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: invalid value 'os' for '--fact <FACT=VALUE>': write FACT=VALUE
For more information, try '--help'.
$ names {os}{variant} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: `{os}{variant}` is not a form of names: its parts are ambiguous: `os` of `Aaa` may be `Aa` or `A`
$ names {os}[-{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: `{os}[-{k8s}` is not a form of names: a `[` is not closed
$ names {é --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 2
error: `{é` is not a form of names: it has no part such as `{k8s}`
# as the help says
$ names {os}-{k8s} --fact os=ubuntu --fact os-release=noble --fact k8s-version=1.31.8+rke2r1 => 0
ubuntu-1.31.8+rke2r1
$ names ubuntu-1.31.8.raw => 0
FACT          VALUE
scheme        names
os            ubuntu
k8s-version   1.31.8
image-format  raw

"#]]);
}

#[test]
fn a_name_is_tested_by_the_schemes_of_the_project_and_the_built_in_ones() {
    let stage = site();
    let mut story = Story::new(&stage);
    story.runs(&[
        "names golden-ubuntu2404-1.31.2.qcow2",
        "names oci://registry.example.org/os/ubuntu-noble-hardened-rke2-1-31-8:0.4.12",
        "names whatever",
    ]);
    stage.remove("metalmark.yaml");
    story.note("without a project");
    story.runs(&[
        "names golden-ubuntu2404-1.31.2.qcow2",
        "names ubuntu-2404-kube-v1.31.8.qcow2",
    ]);
    story.is(str![[r#"
$ names golden-ubuntu2404-1.31.2.qcow2 => 0
FACT          VALUE
scheme        names
os            ubuntu
os-release    noble
k8s-version   1.31.2
image-format  qcow2
$ names oci://registry.example.org/os/ubuntu-noble-hardened-rke2-1-31-8:0.4.12 => 0
FACT         VALUE
scheme       sylva-dib
os           ubuntu
os-release   noble
flavor       hardened
hardened     true
k8s-flavor   rke2
k8s-version  1.31.8
$ names whatever => 1
no scheme reads `whatever`: `metalmark names` lists them, and `names` in the project file adds others
# without a project
$ names golden-ubuntu2404-1.31.2.qcow2 => 1
no scheme reads `golden-ubuntu2404-1.31.2.qcow2`: `metalmark names` lists them, and `names` in the project file adds others
$ names ubuntu-2404-kube-v1.31.8.qcow2 => 0
FACT          VALUE
scheme        ib-kube
os            ubuntu
os-release    noble
k8s-version   1.31.8
image-format  qcow2

"#]]);
}

#[test]
fn the_schemes_are_listed_with_their_forms() {
    let stage = project();
    let listed = stage.run("names").exit(0).outcome.stdout;
    let line = "sylva-dib       {os}-{release}-{flavor}-{k8s_flavor}-{k8s}[-{builder}]{file}\n";
    assert!(listed.contains(line), "{listed}");
    assert_eq!(listed.lines().count(), 23, "{listed}");
    let stage = stage.settings("names: ['golden-{os}{release}-{k8s}']");
    let listed = stage.run("names").exit(0).outcome.stdout;
    let own = listed.lines().nth(1).unwrap_or_default();
    own.is(str!["names           golden-{os}{release}-{k8s}"]);
}

#[test]
fn a_fact_that_no_name_states_is_refused() {
    let stage = site();
    let mut story = Story::new(&stage);
    for fact in [
        "firmwares=efi",
        "k8s=1.31.8",
        "release=noble",
        "sha256=00",
        "os",
    ] {
        story.runs(&[&format!("names {{os}}-{{k8s}} --fact {fact}")]);
    }
    story.is(str![[r#"
$ names {os}-{k8s} --fact firmwares=efi => 2
error: invalid value 'firmwares=efi' for '--fact <FACT=VALUE>': no name states a fact `firmwares`: did you mean `firmware`?
For more information, try '--help'.
$ names {os}-{k8s} --fact k8s=1.31.8 => 2
error: invalid value 'k8s=1.31.8' for '--fact <FACT=VALUE>': no name states a fact `k8s`: did you mean `k8s-version`?
For more information, try '--help'.
$ names {os}-{k8s} --fact release=noble => 2
error: invalid value 'release=noble' for '--fact <FACT=VALUE>': no name states a fact `release`: did you mean `os-release`?
For more information, try '--help'.
$ names {os}-{k8s} --fact sha256=00 => 2
error: invalid value 'sha256=00' for '--fact <FACT=VALUE>': no name states a fact `sha256`: names state arch, build-timestamp, commit-id, commit-tag, compression, firmware, flavor, hardened, image-format, k8s-flavor, k8s-version, os, os-channel, os-release, platform, schematic, sysexts, variant
For more information, try '--help'.
$ names {os}-{k8s} --fact os => 2
error: invalid value 'os' for '--fact <FACT=VALUE>': write FACT=VALUE
For more information, try '--help'.

"#]]);
}

/// What a location states of its own file came into the name, of whichever cluster was read last.
#[test]
fn the_format_of_one_location_is_none_of_the_images_name() {
    let record = "images:\n  records:\n    ubuntu-noble-kube-v1.34.1:\n      os: {name: ubuntu, codename: noble}\n      \
        k8s: {flavor: kubeadm, version: 1.34.1}\n      format: qcow2\n      digests: {uncompressed: {sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef}}\n      \
        locations:\n        https: https://images.example.org/ubuntu-noble-kube-v1.34.1.qcow2\n        \
        vsphere: {template: ubuntu-noble-kube-v1.34.1, format: ova}\n";
    let values = |provider: &str| {
        format!(
            "cluster: {{k8s_version: v1.34.1, capi_providers: {{infra_provider: {provider}}}, {provider}: {{image_key: ubuntu-noble-kube-v1.34.1}}}}\n"
        )
    };
    for [one, two] in [["capm3", "capv"], ["capv", "capm3"]] {
        let stage = project().settings(record);
        let stage = stage.cluster("a", &values(one)).cluster("b", &values(two));
        stage.run("names ib-kube").exit(0).stdout(str![[r#"
IMAGE                      NAME                             TEST
ubuntu-noble-kube-v1-34-1  ubuntu-noble-kube-v1.34.1.qcow2  ok

"#]]);
    }
}

/// A builder has no clusters, and printed no name.
#[test]
fn the_names_of_records_are_built_without_a_cluster() {
    let stage = project();
    stage.write(
        "metalmark.yaml",
        "version: 1\nimages:\n  records:\n    ubuntu-noble-kube-v1-34-1: {os: {name: ubuntu, codename: noble}, k8s: {version: 1.34.1}}\n    other: {os: {name: ubuntu, codename: noble}, k8s: {version: 1.33.5}}\n",
    );
    let mut story = Story::new(&stage);
    story.runs(&["names ib-kube", "names {os}-{release}-kube-v{k8s}"]);
    stage.write("metalmark.yaml", "version: 1\n");
    story.note("without an image").runs(&["names ib-kube"]);
    story.is(str![[r#"
$ names ib-kube => 1
IMAGE                      NAME                       TEST
other                      ubuntu-noble-kube-v1.33.5  is `other` in the catalog
ubuntu-noble-kube-v1-34-1  ubuntu-noble-kube-v1.34.1  ok
$ names {os}-{release}-kube-v{k8s} => 1
IMAGE                      NAME                       TEST
other                      ubuntu-noble-kube-v1.33.5  is `other` in the catalog
ubuntu-noble-kube-v1-34-1  ubuntu-noble-kube-v1.34.1  ok
# without an image
$ names ib-kube => 2
error: there is no image whose name is tested
help: give the facts of one, `--fact k8s-version=1.34.1 …`, or describe it in `images.records`

"#]]);
}
