//! Checksums that machine templates take, by provider, by style and for images that pools give by a URL.

use snapbox::str;

use super::super::support::project::Project;
use super::rows::{assert_cases, boots, each, each_with, found};
use super::{bare, edge, fails, passes, warns};

const SUM: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

#[test]
fn every_image_that_is_stamped_has_the_checksum_that_its_provider_needs() {
    let of = |case: &str| {
        let (given, facts) = case.split_once(" <-").expect("what is given, and facts");
        let mut words = given.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        let values = boots(word(), word(), facts.trim());
        let images = match word() {
            "" => String::new(),
            given => format!("images: {given}\n"),
        };
        found("checksum-missing", &values, &images)
    };
    assert_cases(
        str![[r#"
capm3 os_images <- uri: 'https://s/a'
    error control-plane [img-a, img-a] => os_images.img-a.sha256: … | images: {checksum: url}
capm3 os_images <- uri: 'https://s/a', sha256: ''
    error control-plane [img-a, img-a] => os_images.img-a.sha256: … | images: {checksum: url}
capm3 os_images <- uri: 'https://s/a', md5: ''
    error control-plane [img-a, img-a] => os_images.img-a.sha256: … | images: {checksum: url}
capm3 os_images <- uri: 'https://s/a', sha256: aa
capm3 os_images <- uri: 'https://s/a', md5: aa
capm3 os_images <- uri: 'https://s/a', sha256: '', md5: aa
capm3 os_images <- uri: 'oci://r/a:1'
    error control-plane [img-a, img-a] => metalmark lock | os_images.img-a.sha256: … | images: {checksum: url}
capm3 sylva_diskimagebuilder_images <-
    error control-plane [img-a, img-a] => metalmark lock | kubectl get configmap os-images-info -o yaml | images: {facts: [os-images-info.yaml]} | images: {checksum: url}
# A URL of the checksum, or a digest in the reference, is enough.
capm3 os_images {checksum: url} <- uri: 'https://s/a'
capm3 os_images {url: '{{ image.uri }}'} <- uri: 'oci://r/a:1'
capm3 os_images {url: '{{ image.uri }}'} <- uri: 'https://s/a'
    error control-plane [img-a, img-a] => os_images.img-a.sha256: … | images: {checksum: url}
capm3 os_images {url: 'oci://h/{{ image.key }}'} <- uri: 'https://s/a'
capm3 os_images {url: 'https://h/{{ image.key }}'} <- uri: 'oci://r/a:1'
    error control-plane [img-a, img-a] => metalmark lock | os_images.img-a.sha256: … | images: {checksum: url}
# OpenStack takes the md5, of what the user declares: the builder's is pushed with it.
capo os_images <- uri: 'https://s/a', sha256: aa
    error control-plane [img-a, img-a] => os_images.img-a.md5: …
capo os_images <- uri: 'https://s/a', md5: ''
    error control-plane [img-a, img-a] => os_images.img-a.md5: …
capo os_images <- uri: 'https://s/a', md5: aa
capo os_images {checksum: url} <- uri: 'oci://r/a:1'
    error control-plane [img-a, img-a] => metalmark lock | os_images.img-a.md5: …
capo sylva_diskimagebuilder_images <-
capv os_images <- uri: 'https://s/a'

"#]],
        of,
    );
}

#[test]
fn a_checksum_is_a_digest_of_its_kind() {
    let of = |case: &str| {
        let (name, value) = case.split_once(':').expect("a fact");
        let facts = format!("uri: 'https://s/a', {name}: '{}'", value.trim());
        found(
            "checksum-malformed",
            &boots("capm3", "os_images", &facts),
            "",
        )
    };
    assert_cases(
        str![[r#"
sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
md5: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha256:
sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => sha256: … | sha256sum
sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => sha256: … | sha256sum
md5: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => md5: … | md5sum
sha256: sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha256: AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA
    error control-plane ['AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA'] => sha256: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha256: gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => sha256: … | sha256sum
sha512: zz
    error control-plane ['zz'] => sha512: … | sha512sum

"#]],
        of,
    );
    let literal = |case: &str| {
        let (kind, value) = case.split_once(' ').unwrap_or((case, ""));
        let kind = match kind {
            "-" => String::new(),
            kind => format!(", machine_image_checksum_type: {kind}"),
        };
        format!(
            "cluster: {{capm3: {{machine_image_url: 'https://s/a', machine_image_checksum: '{value}'{kind}}}}}"
        )
    };
    assert_cases(
        str![[r#"
- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
- aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => machine_image_checksum: … | sha256sum
sha256 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha256 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => machine_image_checksum: … | sha256sum
md5 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha512 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
sha512 aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane ['aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'] => machine_image_checksum: … | sha512sum
sha256 https://s/a.sha256sum
sha256 http://s/a.sha256sum
sha256 ftp://s/a.sha256sum
    error control-plane ['ftp://s/a.sha256sum'] => machine_image_checksum: … | sha256sum
sha256
# `auto` is for hosts only; other providers are not asked for a type.
auto aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
    error control-plane [auto] => machine_image_checksum_type: sha256

"#]],
        |case| found("checksum-malformed", &literal(case), ""),
    );
    let unknown = literal(&format!("auto {SUM}"));
    let elsewhere = unknown.replace("capm3:", "capi_providers: {infra_provider: capo}, capo:");
    assert_eq!(found("checksum-malformed", &elsewhere, ""), [""; 0]);
}

/// No template names it, so that it is the reference that comes to mean another image.
#[test]
fn an_image_that_changes_behind_its_reference_is_reported() {
    let project = |uri: &str, sum: &str| {
        let facts = format!("uri: 'oci://s/{uri}', {sum}");
        Project::of(&boots("capm3", "os_images", &facts), "")
    };
    let (old, new) = (
        format!("sha256: {SUM}"),
        format!("sha256: {}", "b".repeat(64)),
    );
    let reported = format!("error - [{}]", "b".repeat(64));
    for ((was, sum), (is, now), expected) in [
        (("a:1", &*old), ("a:1", &*new), &[&*reported][..]),
        (("a:1", &old), ("a:2", &new), &[]),
        (("a:1", &old), ("a:1", &old), &[]),
        (("a:1", ""), ("a:1", &new), &[]),
    ] {
        let found = project(was, sum).found_in_change(&project(is, now), "image-replaced-in-place");
        assert_eq!(found, expected, "{was} {sum} {is} {now}");
    }
}

#[test]
fn a_checksum_is_better_a_digest_than_a_url() {
    let style = "images: {checksum: url}\n";
    each("checksum-by-url").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
cluster: {capm3: {machine_image_url: 'https://s/a', machine_image_checksum: aa}}
cluster: {capm3: {machine_image_url: 'https://s/a'}}
cluster: {capm3: {machine_image_url: 'https://s/a', machine_image_checksum: 'https://s/b'}}
    warning control-plane ['https://s/b'] => cluster.capm3.machine_image_checksum: … | sha256sum
# The catalog knows the file: its digest is the edit.
os_images: {noble-31: {filename: n.raw}}; cluster: {capm3: {machine_image_url: 'https://s/n.raw?x=1'}, control_plane: {capm3: {machine_image_checksum: 'http://s/b'}}}
    warning control-plane ['http://s/b'] => cluster.control_plane.capm3.machine_image_checksum: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
cluster: {capi_providers: {infra_provider: capo}, capo: {machine_image_url: 'https://s/a', machine_image_checksum: 'https://s/b'}}

"#]]);
    each_with(style, "checksum-by-url").finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}
    warning control-plane [] => images: {checksum: literal}
cluster: {capm3: {image_key: gone}}
cluster: {capi_providers: {infra_provider: capo}, capo: {image_key: noble-31}}

"#]]);
    each_with(
        "images: {checksum: url, url: 'oci://h/{{ image.key }}'}\n",
        "checksum-by-url",
    )
    .finds(str![[r#"
cluster: {capm3: {image_key: noble-31}}

"#]]);
}

#[test]
fn checksum_missing() {
    let project = bare("\
os_images:
  own: {uri: 'oci://registry.example.org/own:1', k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw}", "capm3: {image_key: own}\nmachine_deployments: {md0: {}}");
    fails("checksum-missing", &project, "check").brief(str![[r#"
error[checksum-missing]: the sha256 of image `own` is not known
  edge.yaml:6:22 `own` this image is selected here
  edge.yaml:2:3 `own` the catalog's entry has no checksum
  cluster: edge, pool control-plane
  also in pools: md0
  help: run `metalmark lock` to query its registry, and commit the lock
  help: `os_images.own.sha256: …`
  help: or stamp the image server's: `images: {checksum: url}` in metalmark.yaml
1 error in 1 cluster; 2 node pools checked: 2 proven

"#]]);
    project.edit("edge.yaml", "image-format: raw", "image-format: raw, sha256: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8");
    passes("checksum-missing", &project, "check");
}

#[test]
fn checksum_by_url() {
    let project = edge(
        "\
capm3:
  machine_image_url: https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw
  machine_image_format: raw
  machine_image_checksum: https://images.example/sums.txt
  machine_image_checksum_type: sha256",
    );
    warns("checksum-by-url", &project, "check").brief(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8.raw` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:5:24 `https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: select the image by `image_key`, so that its facts are known
warning[checksum-by-url]: the checksum is a URL
  edge.yaml:7:29 `https://images.example/sums.txt` fetched when a node is provisioned
  cluster: edge, pool control-plane
  help: `cluster.capm3.machine_image_checksum: …`, as `sha256sum` prints it
2 warnings in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    project.edit(
        "edge.yaml",
        "https://images.example/sums.txt",
        "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8",
    );
    passes("checksum-by-url", &project, "check");
}

#[test]
fn checksum_malformed() {
    let project = edge(
        "\
capm3:
  machine_image_url: https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw
  machine_image_format: raw
  machine_image_checksum: sha256:31A831A831A831A831A831A831A831A831A831A831A831A831A831A831A831A8
  machine_image_checksum_type: sha256",
    );
    fails("checksum-malformed", &project, "check").brief(str![[r#"
warning[k8s-version-unproven]: nothing proves that image `ubuntu-noble-plain-rke2-1-31-8.raw` holds Kubernetes `v1.31.8+rke2r1`
  edge.yaml:5:24 `https://images.example/ubuntu-noble-plain-rke2-1-31-8.raw` only the image's name says `1.31.8`
  edge.yaml:2:16 `v1.31.8+rke2r1` this version is required
  cluster: edge, pool control-plane
  help: select the image by `image_key`, so that its facts are known
error[checksum-malformed]: `machine_image_checksum` is not a digest
  edge.yaml:7:29 `sha256:31A831A831A831A831A831A831A831A831A831A831A831A831A831A831A831A8` it starts with `sha256:`
  cluster: edge, pool control-plane
  help: `machine_image_checksum: 31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8`
1 error, 1 warning in 1 cluster; 1 node pool checked: 1 by name only

"#]]);
    project.edit(
        "edge.yaml",
        "sha256:31A831A831A831A831A831A831A831A831A831A831A831A831A831A831A831A8",
        "31a831a831a831a831a831a831a831a831a831a831a831a831a831a831a831a8",
    );
    passes("checksum-malformed", &project, "check");
}
