//! A year of releases: each is one run of the bot's command, and main is green after it, or stays as it was with the reason.

use snapbox::str;

use super::sylva::{DIB, KIWI, Sylva};
use crate::support::stage::assert_text;

const HARDENED: &str = "ubuntu-noble-hardened-rke2-1-33";
const KUBEADM: &str = "ubuntu-noble-plain-kubeadm-1-33";
const LEAP: &str = "leapmicro-6-0-plain-rke2-1-33";

#[test]
fn a_year_of_releases_is_one_run_of_the_bot_each() {
    let Some(mut sylva) = Sylva::new() else {
        return;
    };
    let mut year = String::new();
    let mut note = |month: &str, said: String| year += &format!("## {month}\n{said}\n");

    sylva.release(DIB, "0.7.5", &[]);
    note(
        "January: the same Kubernetes, of one builder",
        sylva.merge(),
    );

    sylva.release(
        DIB,
        "0.7.6",
        &[(HARDENED, "1.33.6+rke2r1"), (KUBEADM, "1.33.6")],
    );
    sylva.release(KIWI, "0.4.2", &[(LEAP, "1.33.6+rke2r1")]);
    note("February: a patch, of both", sylva.merge());

    sylva.release(DIB, "0.7.7", &[(HARDENED, "1.33.6+rke2r2")]);
    sylva.release(KIWI, "0.4.3", &[(LEAP, "1.33.6+rke2r2")]);
    note("March: another build of it", sylva.merge());

    sylva.release(DIB, "0.7.8", &[(HARDENED, "1.33.7+rke2r1")]);
    note("April: a patch, of one alone", sylva.refuse(1));
    sylva.release(KIWI, "0.4.4", &[(LEAP, "1.33.7+rke2r3")]);
    note("April: the other has another build", sylva.refuse(1));
    sylva.release(KIWI, "0.4.5", &[(LEAP, "1.33.7+rke2r1")]);
    note("April: both agree", sylva.merge());

    sylva.release(DIB, "0.7.9", &[(KUBEADM, "1.33.7")]);
    note("May: a patch of one flavor", sylva.merge());

    sylva.announce(DIB, "0.8.0");
    note("June: nothing is published yet", sylva.refuse(2));
    sylva.publish(
        DIB,
        &[
            ("ubuntu-noble-hardened-rke2-1-34", "1.34.2+rke2r1"),
            ("ubuntu-noble-plain-kubeadm-1-34", "1.34.2"),
        ],
    );
    sylva.release(
        KIWI,
        "0.5.0",
        &[("leapmicro-6-0-plain-rke2-1-34", "1.34.2+rke2r1")],
    );
    note("June: a minor that comes", sylva.merge());

    sylva.release(DIB, "0.8.1", &[("ubuntu-noble-hardened-rke2-1-32", "")]);
    note("July: a minor that goes, of one", sylva.merge());
    sylva.release(KIWI, "0.5.1", &[("leapmicro-6-0-plain-rke2-1-32", "")]);
    note("August: and of the other", sylva.merge());

    sylva.release(
        DIB,
        "0.8.2",
        &[("opensuse-15-6-plain-rke2-1-34", "1.34.2+rke2r1")],
    );
    note("September: another system", sylva.merge());

    sylva.release(KIWI, "0.5.2", &[(LEAP, "")]);
    note("October: a minor goes that a cluster runs", sylva.refuse(1));
    sylva.stage.edit("leap.yaml", "'1.33'", "'1.34'");
    note("October: with that cluster moved", sylva.merge());

    sylva.release(
        KIWI,
        "0.5.3",
        &[
            ("leapmicro-6-0-plain-rke2-1-34", ""),
            ("leapmicro-6-1-plain-rke2-1-34", "1.34.2+rke2r1"),
        ],
    );
    sylva.serve(KIWI, "leapmicro-6-1-plain-rke2-1-34", false);
    note("November: one of its images is missing", sylva.refuse(1));
    sylva.serve(KIWI, "leapmicro-6-1-plain-rke2-1-34", true);
    note("November: another release of a system", sylva.merge());

    sylva.release(DIB, "0.8.3", &[]);
    sylva.release(KIWI, "0.5.4", &[]);
    note("December: the same Kubernetes, of both", sylva.merge());
    assert_text(
        &year,
        str![[r###"
## January: the same Kubernetes, of one builder
the catalog lists what 0.7.5 offers
OS images: 0.7.4 → 0.7.5
2 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.4 → ubuntu-noble-plain-kubeadm-1-33:0.7.5
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → ubuntu-noble-hardened-rke2-1-33:0.7.5
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.4 # sylva
+sylva_diskimagebuilder_version: 0.7.5 # sylva

## February: a patch, of both
the catalog lists what 0.7.6 and 0.4.2 offer
OS images: sylva 0.7.5 → 0.7.6, kiwi 0.4.1 → 0.4.2
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.5+rke2r1 → v1.33.6+rke2r1
- v1.33.5 → v1.33.6

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.5 → ubuntu-noble-plain-kubeadm-1-33:0.7.6
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.1 → leapmicro-6-0-plain-rke2-1-33:0.4.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.5 → ubuntu-noble-hardened-rke2-1-33:0.7.6
fixed values.yaml:21:18: `_internal.k8s_version_map.1.33: v1.33.6`
fixed values.yaml:22:88: `_internal.k8s_version_map.1.33: v1.33.6+rke2r1`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.5 # sylva
+sylva_diskimagebuilder_version: 0.7.6 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.1 # kiwi
+acme_kiwi_version: 0.4.2 # kiwi
values.yaml:21
-      {{- $v := "v1.33.5" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.5+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.33.6" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r1" -}}{{- end -}}

## March: another build of it
the catalog lists what 0.7.7 and 0.4.3 offer
OS images: sylva 0.7.6 → 0.7.7, kiwi 0.4.2 → 0.4.3
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.6+rke2r1 → v1.33.6+rke2r2

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.6 → ubuntu-noble-plain-kubeadm-1-33:0.7.7
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.2 → leapmicro-6-0-plain-rke2-1-33:0.4.3
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.6 → ubuntu-noble-hardened-rke2-1-33:0.7.7
fixed values.yaml:22:88: `_internal.k8s_version_map.1.33: v1.33.6+rke2r2`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.6 # sylva
+sylva_diskimagebuilder_version: 0.7.7 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.2 # kiwi
+acme_kiwi_version: 0.4.3 # kiwi
values.yaml:22
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r1" -}}{{- end -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r2" -}}{{- end -}}

## April: a patch, of one alone
a Kubernetes version stays: images of Kubernetes 1.33 for `rke2` hold `1.33.6+rke2r2` (kiwi) and `1.33.7+rke2r1` (sylva), and `_internal.k8s_version_map.1.33` is `v1.33.6+rke2r2`; raise the versions of the builders together, to releases with one version of Kubernetes
rke.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: `ubuntu-noble-hardened-rke2-1-33` is near: it has `k8s-version: 1.33.7+rke2r1`, not `1.33.6\+rke2r2`

## April: the other has another build
a Kubernetes version stays: images of Kubernetes 1.33 for `rke2` hold `1.33.7+rke2r1` (sylva) and `1.33.7+rke2r3` (kiwi), and `_internal.k8s_version_map.1.33` is `v1.33.6+rke2r2`; raise the versions of the builders together, to releases with one version of Kubernetes
leap.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: `leapmicro-6-0-plain-rke2-1-33` is near: it has `k8s-version: 1.33.7+rke2r3`, not `1.33.6\+rke2r2`

## April: both agree
the catalog lists what 0.7.8 and 0.4.5 offer
OS images: sylva 0.7.7 → 0.7.8, kiwi 0.4.3 → 0.4.5
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.6+rke2r2 → v1.33.7+rke2r1

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.7 → ubuntu-noble-plain-kubeadm-1-33:0.7.8
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.3 → leapmicro-6-0-plain-rke2-1-33:0.4.5
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.7 → ubuntu-noble-hardened-rke2-1-33:0.7.8
fixed values.yaml:22:88: `_internal.k8s_version_map.1.33: v1.33.7+rke2r1`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.7 # sylva
+sylva_diskimagebuilder_version: 0.7.8 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.3 # kiwi
+acme_kiwi_version: 0.4.5 # kiwi
values.yaml:22
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.6+rke2r2" -}}{{- end -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.33.7+rke2r1" -}}{{- end -}}

## May: a patch of one flavor
the catalog lists what 0.7.9 offers
OS images: 0.7.8 → 0.7.9
2 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.6 → v1.33.7

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.8 → ubuntu-noble-plain-kubeadm-1-33:0.7.9
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.8 → ubuntu-noble-hardened-rke2-1-33:0.7.9
fixed values.yaml:21:18: `_internal.k8s_version_map.1.33: v1.33.7`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.8 # sylva
+sylva_diskimagebuilder_version: 0.7.9 # sylva
values.yaml:21
-      {{- $v := "v1.33.6" -}}
+      {{- $v := "v1.33.7" -}}

## June: nothing is published yet
error: http://HOST/releases/sylva/0.8.0: `HOST` answered 404 (not found)
  help: check the version `0.8.0` and the address; a project that is not public answers the same; with several builders, the project file has an address for each: `update: {releases: {REGISTRY: URL}}`
  help: say what the version offers: a page that lists its images, `update: {releases: URL}` in metalmark.yaml

## June: a minor that comes
OS images: sylva 0.7.9 → 0.8.0, kiwi 0.4.5 → 0.5.0
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Added

- ubuntu-noble-hardened-rke2-1-34
- ubuntu-noble-plain-kubeadm-1-34
- leapmicro-6-0-plain-rke2-1-34

Kubernetes versions

- v1.34.0+rke2r1 → v1.34.2+rke2r1
- v1.34.0 → v1.34.2

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.9 → ubuntu-noble-plain-kubeadm-1-33:0.8.0
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.5 → leapmicro-6-0-plain-rke2-1-33:0.5.0
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.9 → ubuntu-noble-hardened-rke2-1-33:0.8.0
fixed values.yaml:28:18: `_internal.k8s_version_map.1.34: v1.34.2`
fixed values.yaml:29:88: `_internal.k8s_version_map.1.34: v1.34.2+rke2r1`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.9 # sylva
+sylva_diskimagebuilder_version: 0.8.0 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.5 # kiwi
+acme_kiwi_version: 0.5.0 # kiwi
values.yaml:11
+  ubuntu-noble-hardened-rke2-1-34: {os_images_oci_registry: sylva}
values.yaml:13
+  ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}
values.yaml:16
+  leapmicro-6-0-plain-rke2-1-34: {os_images_oci_registry: kiwi}
values.yaml:28
-      {{- $v := "v1.34.0" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.0+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.34.2" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.2+rke2r1" -}}{{- end -}}

## July: a minor that goes, of one
OS images: 0.8.0 → 0.8.1
2 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Removed

- ubuntu-noble-hardened-rke2-1-32

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.0 → ubuntu-noble-plain-kubeadm-1-33:0.8.1
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.0 → ubuntu-noble-hardened-rke2-1-33:0.8.1
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.8.0 # sylva
+sylva_diskimagebuilder_version: 0.8.1 # sylva
values.yaml:10
-  ubuntu-noble-hardened-rke2-1-32: {os_images_oci_registry: sylva}

## August: and of the other
OS images: 0.5.0 → 0.5.1
1 node pool in 1 cluster will be re-provisioned, compared with the last commit.

Removed

- leapmicro-6-0-plain-rke2-1-32

Node pools whose machines will be re-provisioned

- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.5.0 → leapmicro-6-0-plain-rke2-1-33:0.5.1
changed values.yaml
values.yaml:4
-acme_kiwi_version: 0.5.0 # kiwi
+acme_kiwi_version: 0.5.1 # kiwi
values.yaml:14
-  leapmicro-6-0-plain-rke2-1-32: {os_images_oci_registry: kiwi}

## September: another system
OS images: 0.8.1 → 0.8.2
2 node pools in 2 clusters will be re-provisioned, compared with the last commit.

Added

- opensuse-15-6-plain-rke2-1-34

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.1 → ubuntu-noble-plain-kubeadm-1-33:0.8.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.1 → ubuntu-noble-hardened-rke2-1-33:0.8.2
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.8.1 # sylva
+sylva_diskimagebuilder_version: 0.8.2 # sylva
values.yaml:13
+  opensuse-15-6-plain-rke2-1-34: {os_images_oci_registry: sylva}

## October: a minor goes that a cluster runs
leap.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: to boot `leapmicro-6-0-plain-rke2-1-34`: `k8s_version_short: "1.34"`
OS images: 0.5.1 → 0.5.2

## October: with that cluster moved
OS images: 0.5.1 → 0.5.2
1 node pool in 1 cluster will be re-provisioned, compared with the last commit.

Removed

- leapmicro-6-0-plain-rke2-1-33

Node pools whose machines will be re-provisioned

- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.5.1 → leapmicro-6-0-plain-rke2-1-34:0.5.2
changed values.yaml
values.yaml:4
-acme_kiwi_version: 0.5.1 # kiwi
+acme_kiwi_version: 0.5.2 # kiwi
values.yaml:14
-  leapmicro-6-0-plain-rke2-1-33: {os_images_oci_registry: kiwi}

## November: one of its images is missing
error[catalog-drift]: the catalog names image `leapmicro-6-1-plain-rke2-1-34`, and `HOST` answered 404 (not found)
  --> values.yaml:14:3
   |

## November: another release of a system
OS images: 0.5.2 → 0.5.3
1 node pool in 1 cluster will be re-provisioned, compared with the last commit.

Added

- leapmicro-6-1-plain-rke2-1-34

Removed

- leapmicro-6-0-plain-rke2-1-34

Node pools whose machines will be re-provisioned

- leap/control-plane: leapmicro-6-0-plain-rke2-1-34:0.5.2 → leapmicro-6-1-plain-rke2-1-34:0.5.3
changed values.yaml
values.yaml:4
-acme_kiwi_version: 0.5.2 # kiwi
+acme_kiwi_version: 0.5.3 # kiwi
values.yaml:14
-  leapmicro-6-0-plain-rke2-1-34: {os_images_oci_registry: kiwi}
+  leapmicro-6-1-plain-rke2-1-34: {os_images_oci_registry: kiwi}

## December: the same Kubernetes, of both
the catalog lists what 0.8.3 and 0.5.4 offer
OS images: sylva 0.8.2 → 0.8.3, kiwi 0.5.3 → 0.5.4
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Node pools whose machines will be re-provisioned

- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.2 → ubuntu-noble-plain-kubeadm-1-33:0.8.3
- leap/control-plane: leapmicro-6-1-plain-rke2-1-34:0.5.3 → leapmicro-6-1-plain-rke2-1-34:0.5.4
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.2 → ubuntu-noble-hardened-rke2-1-33:0.8.3
values.yaml:2
-sylva_diskimagebuilder_version: 0.8.2 # sylva
+sylva_diskimagebuilder_version: 0.8.3 # sylva
values.yaml:4
-acme_kiwi_version: 0.5.3 # kiwi
+acme_kiwi_version: 0.5.4 # kiwi


"###]],
    );
}

const CK8S: &str = "ubuntu-noble-plain-ck8s-1-33";

#[test]
fn a_year_with_an_older_site_and_a_flavor_that_lags_is_one_merge_request_a_month() {
    let Some(mut sylva) = Sylva::with_laggards() else {
        return;
    };
    let mut year = String::new();
    let mut note = |month: &str, said: String| year += &format!("## {month}\n{said}\n");

    sylva.release(DIB, "0.7.5", &[]);
    note("January: the same Kubernetes", sylva.merge());

    sylva.release(
        DIB,
        "0.7.6",
        &[(HARDENED, "1.33.6+rke2r1"), (KUBEADM, "1.33.6")],
    );
    sylva.release(KIWI, "0.4.2", &[(LEAP, "1.33.6+rke2r1")]);
    note(
        "February: a patch that the site does not have",
        sylva.refuse(1),
    );
    let text = sylva.stage.read("site.yaml") + "  k8s_version: v1.33.5+rke2r1\n";
    sylva.stage.write("site.yaml", text);
    note(
        "February: with the version that its help gives the site",
        sylva.merge(),
    );

    sylva.release(DIB, "0.7.7", &[(KUBEADM, "1.33.7"), (CK8S, "1.33.6")]);
    note(
        "March: one flavor takes the version that another has had",
        sylva.merge(),
    );

    sylva.release(DIB, "0.7.8", &[(CK8S, "1.33.7")]);
    note("April: both are at one version", sylva.merge());

    sylva.release(
        DIB,
        "0.7.9",
        &[(KUBEADM, "1.33.8"), (HARDENED, "1.33.8+rke2r1")],
    );
    sylva.release(KIWI, "0.4.3", &[(LEAP, "1.33.8+rke2r1")]);
    note("May: and part again", sylva.merge());

    sylva.raise_older("0.5.13", "0.5.14", ["1.33.5+rke2r1", "1.33.6+rke2r1"]);
    sylva.release(DIB, "0.7.10", &[(CK8S, "1.33.8")]);
    note("June: the older release has a patch", sylva.merge());

    sylva.release(
        DIB,
        "0.8.0",
        &[
            ("ubuntu-noble-hardened-rke2-1-34", "1.34.2+rke2r1"),
            ("ubuntu-noble-plain-kubeadm-1-34", "1.34.2"),
        ],
    );
    sylva.release(
        KIWI,
        "0.5.0",
        &[("leapmicro-6-0-plain-rke2-1-34", "1.34.2+rke2r1")],
    );
    note("July: a minor without the flavor that lags", sylva.merge());

    sylva.release(DIB, "0.8.1", &[("ubuntu-noble-hardened-rke2-1-32", "")]);
    note("August: a minor goes", sylva.merge());

    sylva.release(DIB, "0.8.2", &[("ubuntu-noble-plain-ck8s-1-34", "1.34.1")]);
    note(
        "September: the flavor follows, at a patch of its own",
        sylva.merge(),
    );
    assert_text(
        &sylva.text(&year),
        str![[r###"
## January: the same Kubernetes
the catalog lists what 0.7.5 offers
OS images: 0.7.4 → 0.7.5
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.4 → ubuntu-noble-plain-ck8s-1-33:0.7.5
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.4 → ubuntu-noble-plain-kubeadm-1-33:0.7.5
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.4 → ubuntu-noble-hardened-rke2-1-33:0.7.5
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.4 # sylva
+sylva_diskimagebuilder_version: 0.7.5 # sylva

## February: a patch that the site does not have
a Kubernetes version stays: `_internal.k8s_version_map.1.33` is `v1.33.5+rke2r1`, and the images of it for `rke2` hold `1.33.6+rke2r1`; `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone
leap.yaml:4:30: error[no-image-matches]: no image matches the selector
  help: `site` reads `_internal.k8s_version_map.1.33` too, and its images are of `v1.33.5+rke2r1`: write `cluster.k8s_version: v1.33.5+rke2r1` in the values of `site` alone

## February: with the version that its help gives the site
the catalog lists what 0.7.6 and 0.4.2 offer
OS images: sylva 0.7.5 → 0.7.6, kiwi 0.4.1 → 0.4.2
4 node pools in 4 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.5+rke2r1 → v1.33.6+rke2r1
- v1.33.5 → v1.33.6

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.5 → ubuntu-noble-plain-ck8s-1-33:0.7.6
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.5 → ubuntu-noble-plain-kubeadm-1-33:0.7.6
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.1 → leapmicro-6-0-plain-rke2-1-33:0.4.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.5 → ubuntu-noble-hardened-rke2-1-33:0.7.6
fixed values.yaml:24:83: `_internal.k8s_version_map.1.33: v1.33.6+rke2r1`
fixed values.yaml:24:189: `_internal.k8s_version_map.1.33: v1.33.6`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.5 # sylva
+sylva_diskimagebuilder_version: 0.7.6 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.1 # kiwi
+acme_kiwi_version: 0.4.2 # kiwi
values.yaml:24
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.5+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.4{{ else }}v1.33.5{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.4{{ else }}v1.33.6{{ end }}'

## March: one flavor takes the version that another has had
the catalog lists what 0.7.7 offers
OS images: 0.7.6 → 0.7.7
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.4 → v1.33.6
- v1.33.6 → v1.33.7

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.6 → ubuntu-noble-plain-ck8s-1-33:0.7.7
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.6 → ubuntu-noble-plain-kubeadm-1-33:0.7.7
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.6 → ubuntu-noble-hardened-rke2-1-33:0.7.7
fixed values.yaml:24:172: `_internal.k8s_version_map.1.33: v1.33.6`
fixed values.yaml:24:189: `_internal.k8s_version_map.1.33: v1.33.7`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.6 # sylva
+sylva_diskimagebuilder_version: 0.7.7 # sylva
values.yaml:24
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.4{{ else }}v1.33.6{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.6{{ else }}v1.33.7{{ end }}'

## April: both are at one version
the catalog lists what 0.7.8 offers
OS images: 0.7.7 → 0.7.8
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.6 → v1.33.7

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.7 → ubuntu-noble-plain-ck8s-1-33:0.7.8
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.7 → ubuntu-noble-plain-kubeadm-1-33:0.7.8
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.7 → ubuntu-noble-hardened-rke2-1-33:0.7.8
fixed values.yaml:24:172: `_internal.k8s_version_map.1.33: v1.33.7`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.7 # sylva
+sylva_diskimagebuilder_version: 0.7.8 # sylva
values.yaml:24
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.6{{ else }}v1.33.7{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.7{{ else }}v1.33.7{{ end }}'

## May: and part again
the catalog lists what 0.7.9 and 0.4.3 offer
OS images: sylva 0.7.8 → 0.7.9, kiwi 0.4.2 → 0.4.3
4 node pools in 4 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.6+rke2r1 → v1.33.8+rke2r1
- v1.33.7 → v1.33.8

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.8 → ubuntu-noble-plain-ck8s-1-33:0.7.9
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.8 → ubuntu-noble-plain-kubeadm-1-33:0.7.9
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.2 → leapmicro-6-0-plain-rke2-1-33:0.4.3
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.8 → ubuntu-noble-hardened-rke2-1-33:0.7.9
fixed values.yaml:24:83: `_internal.k8s_version_map.1.33: v1.33.8+rke2r1`
fixed values.yaml:24:189: `_internal.k8s_version_map.1.33: v1.33.8`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.8 # sylva
+sylva_diskimagebuilder_version: 0.7.9 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.2 # kiwi
+acme_kiwi_version: 0.4.3 # kiwi
values.yaml:24
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.6+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.7{{ else }}v1.33.7{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.8+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.7{{ else }}v1.33.8{{ end }}'

## June: the older release has a patch
the catalog lists what 0.7.10 offers
OS images: 0.7.9 → 0.7.10
4 node pools in 4 clusters will be re-provisioned, compared with the last commit.

Kubernetes versions

- v1.33.7 → v1.33.8

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.9 → ubuntu-noble-plain-ck8s-1-33:0.7.10
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.9 → ubuntu-noble-plain-kubeadm-1-33:0.7.10
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.9 → ubuntu-noble-hardened-rke2-1-33:0.7.10
- site/control-plane: ubuntu-noble-hardened-rke2-1-33:0.5.13 → ubuntu-noble-hardened-rke2-1-33:0.5.14
fixed values.yaml:24:172: `_internal.k8s_version_map.1.33: v1.33.8`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.9 # sylva
+sylva_diskimagebuilder_version: 0.7.10 # sylva
values.yaml:8
-  sylva-n-1: {url: 'oci://HOST/sylva', tag: 0.5.13, cosign_publickey: ''}
+  sylva-n-1: {url: 'oci://HOST/sylva', tag: 0.5.14, cosign_publickey: ''}
values.yaml:17
-  sylva-n-1--ubuntu-noble-hardened-rke2-1-33: {uri: 'oci://HOST/sylva/ubuntu-noble-hardened-rke2-1-33:0.5.13', oci-image-registry-key: sylva-n-1}
+  sylva-n-1--ubuntu-noble-hardened-rke2-1-33: {uri: 'oci://HOST/sylva/ubuntu-noble-hardened-rke2-1-33:0.5.14', oci-image-registry-key: sylva-n-1}
values.yaml:24
-    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.8+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.7{{ else }}v1.33.8{{ end }}'
+    '1.33': '{{ if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" }}v1.33.8+rke2r1{{ else if eq .Values.cluster.capi_providers.bootstrap_provider "cabpck" }}v1.33.8{{ else }}v1.33.8{{ end }}'

## July: a minor without the flavor that lags
OS images: sylva 0.7.10 → 0.8.0, kiwi 0.4.3 → 0.5.0
4 node pools in 4 clusters will be re-provisioned, compared with the last commit.

Added

- ubuntu-noble-hardened-rke2-1-34
- ubuntu-noble-plain-kubeadm-1-34
- leapmicro-6-0-plain-rke2-1-34

Kubernetes versions

- v1.34.0+rke2r1 → v1.34.2+rke2r1
- v1.34.0 → v1.34.2

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.7.10 → ubuntu-noble-plain-ck8s-1-33:0.8.0
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.7.10 → ubuntu-noble-plain-kubeadm-1-33:0.8.0
- leap/control-plane: leapmicro-6-0-plain-rke2-1-33:0.4.3 → leapmicro-6-0-plain-rke2-1-33:0.5.0
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.7.10 → ubuntu-noble-hardened-rke2-1-33:0.8.0
fixed values.yaml:29:18: `_internal.k8s_version_map.1.34: v1.34.2`
fixed values.yaml:30:88: `_internal.k8s_version_map.1.34: v1.34.2+rke2r1`
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.7.10 # sylva
+sylva_diskimagebuilder_version: 0.8.0 # sylva
values.yaml:4
-acme_kiwi_version: 0.4.3 # kiwi
+acme_kiwi_version: 0.5.0 # kiwi
values.yaml:12
+  ubuntu-noble-hardened-rke2-1-34: {os_images_oci_registry: sylva}
values.yaml:14
+  ubuntu-noble-plain-kubeadm-1-34: {os_images_oci_registry: sylva}
values.yaml:17
+  leapmicro-6-0-plain-rke2-1-34: {os_images_oci_registry: kiwi}
values.yaml:29
-      {{- $v := "v1.34.0" -}}
-      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.0+rke2r1" -}}{{- end -}}
+      {{- $v := "v1.34.2" -}}
+      {{- if eq .Values.cluster.capi_providers.bootstrap_provider "cabpr" -}}{{- $v = "v1.34.2+rke2r1" -}}{{- end -}}

## August: a minor goes
OS images: 0.8.0 → 0.8.1
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Removed

- ubuntu-noble-hardened-rke2-1-32

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.8.0 → ubuntu-noble-plain-ck8s-1-33:0.8.1
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.0 → ubuntu-noble-plain-kubeadm-1-33:0.8.1
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.0 → ubuntu-noble-hardened-rke2-1-33:0.8.1
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.8.0 # sylva
+sylva_diskimagebuilder_version: 0.8.1 # sylva
values.yaml:11
-  ubuntu-noble-hardened-rke2-1-32: {os_images_oci_registry: sylva}

## September: the flavor follows, at a patch of its own
a Kubernetes version stays: `_internal.k8s_version_map.1.34` is `v1.34.2`, and the images of it for `ck8s` hold `1.34.1`; move the builder or the entry, so that both are of one version
OS images: 0.8.1 → 0.8.2
3 node pools in 3 clusters will be re-provisioned, compared with the last commit.

Added

- ubuntu-noble-plain-ck8s-1-34

Node pools whose machines will be re-provisioned

- ck/control-plane: ubuntu-noble-plain-ck8s-1-33:0.8.1 → ubuntu-noble-plain-ck8s-1-33:0.8.2
- kadm/control-plane: ubuntu-noble-plain-kubeadm-1-33:0.8.1 → ubuntu-noble-plain-kubeadm-1-33:0.8.2
- rke/control-plane: ubuntu-noble-hardened-rke2-1-33:0.8.1 → ubuntu-noble-hardened-rke2-1-33:0.8.2
changed values.yaml
values.yaml:2
-sylva_diskimagebuilder_version: 0.8.1 # sylva
+sylva_diskimagebuilder_version: 0.8.2 # sylva
values.yaml:18
+  ubuntu-noble-plain-ck8s-1-34: {os_images_oci_registry: sylva}


"###]],
    );
}
