//! Tables of small cases for one rule: a cluster's values, and what the rule finds in them as `support::project::line` shows it,
//! without the words of its messages.

use snapbox::Data;

use super::super::support::project::Project;
use super::super::support::stage::assert_text;

/// Images that differ in one fact each, in the layer that clusters share.
pub(super) const IMAGES: &str = "\
os_images_oci_registries: {lab: {url: 'oci://lab.org/os', tag: 0.4.11}}
os_images:
  noble-31: &noble {uri: 'https://s/a.raw', os: ubuntu, os-release: noble, hardened: 'false', flavor: plain, k8s-flavor: rke2, k8s-version: 1.31.8+rke2r1, image-format: raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}
  noble-30: {<<: *noble, uri: 'https://s/b.raw', k8s-version: 1.30.12+rke2r1}
  suse-31: {<<: *noble, uri: 'https://s/c.raw', os: opensuse, os-release: '15.6'}
  suse-hard-31: {<<: *noble, uri: 'https://s/d.raw', os: opensuse, os-release: '15.6', hardened: 'true', flavor: hardened}
  suse-30: {<<: *noble, uri: 'https://s/e.raw', os: opensuse, os-release: '15.6', k8s-version: 1.30.12+rke2r1}
  kube-31: {<<: *noble, uri: 'https://s/f.raw', k8s-flavor: kubeadm, k8s-version: 1.31.8}
  loose-31: {<<: *noble, uri: 'https://s/g.raw', os: flatcar, k8s-version: 1.31.8}
  minor-31: {<<: *noble, uri: 'https://s/h.raw', os: talos, k8s-version: '1.31'}
  blank: {uri: 'https://s/i.raw', image-format: raw, sha256: 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'}
cluster:
  k8s_version: v1.31.8+rke2r1
  capi_providers: {infra_provider: capm3, bootstrap_provider: cabpr}
";

/// A table of one rule over [`IMAGES`].
pub(super) fn each(rule: &str) -> Table<'_> {
    each_with("", rule)
}

/// The same with lines added to the project file.
pub(super) fn each_with<'a>(settings: &'a str, rule: &'a str) -> Table<'a> {
    Table { settings, rule }
}

pub(super) struct Table<'a> {
    settings: &'a str,
    rule: &'a str,
}

impl Table<'_> {
    /// Asserts what the rule finds in the values of each case.
    #[track_caller]
    pub(super) fn finds(&self, table: impl Into<Data>) {
        assert_cases(table, |values| {
            Project::layered(IMAGES, values, self.settings).found(self.rule)
        });
    }
}

/// Asserts a table. A line of it is a case, in which `; ` begins a new line; below it, indented, is its result; `#` is a comment.
#[track_caller]
pub(super) fn assert_cases(table: impl Into<Data>, result: impl Fn(&str) -> Vec<String>) {
    let table = table.into();
    let text = table.render().expect("a text");
    let mut actual = String::new();
    for line in text.lines().filter(|line| !line.starts_with("    ")) {
        actual += &format!("{line}\n");
        if line.starts_with('#') || line.is_empty() {
            continue;
        }
        for found in result(&line.replace("; ", "\n")) {
            actual += &format!("    {found}\n");
        }
    }
    assert_text(&actual, table);
}

pub(super) fn assert_found(rule: &str, project: &Project, expected: &[&str], case: &str) {
    let found = project.found(rule);
    assert_eq!(found, expected, "{rule}:\n{case}\n{found:#?}");
}

/// A cluster of a provider that boots one image with those facts.
pub(super) fn boots(provider: &str, list: &str, facts: &str) -> String {
    format!(
        "sylva_diskimagebuilder_version: 1\n{list}: {{img-a: {{{facts}}}}}\n\
         cluster: {{k8s_version: v1.31.8, capi_providers: {{infra_provider: {provider}}}, {provider}: {{image_key: img-a}}}}\n"
    )
}

pub(super) fn found(rule: &str, values: &str, more: &str) -> Vec<String> {
    Project::of(values, more).found(rule)
}
