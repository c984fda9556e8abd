//! A scratch copy of a checkout of sylva-core, filled in as its scripts and a person fill it in.

use std::fs;
use std::path::PathBuf;

use super::environments::{ENVIRONMENTS, Environment, Kind, Spelling, next};
use super::facts;
use super::project::{AFTER, BEFORE, Project};
use crate::programs;
use crate::support::copy_into;
use crate::support::stage::{self, Stage};

pub(super) const CHART: &str = "charts/sylva-units";
const REGISTRY: &str = "oci://registry.gitlab.com/sylva-projects/sylva-elements/diskimage-builder";

/// The providers of the management cluster, which the values of a workload cluster need.
pub(super) const STATE: &str = r#"{"_internal": {"sylva_mgmt_enabled_units": {
  "capm3": true, "capo": true, "cabpr": true, "cabpk": true, "cabpck": true}}}"#;

/// A copy of the checkout with environments of one kind, filled in as its scripts and a person fill it in.
pub(super) struct Checkout {
    pub(super) project: Project,
    pub(super) kind: &'static Kind,
    /// The copy of the chart that prints what it hands over.
    pub(super) printing: Stage,
}

impl Checkout {
    pub(super) fn of(kind: &'static Kind) -> Option<Self> {
        let Some(root) = std::env::var_os("SYLVA_CORE").map(PathBuf::from) else {
            programs::missing("sylva_core");
            return None;
        };
        let project = Project::new();
        copy_into(&root.join(CHART), &project.path().join(CHART));
        let printing = stage::project();
        copy_into(&root.join(CHART), printing.path());
        let folders = kind.environments.iter().map(|one| one.folder);
        for folder in kind.bases.iter().copied().chain(folders) {
            let path = format!("{ENVIRONMENTS}/{folder}");
            copy_into(&root.join(&path), &project.path().join(&path));
        }
        let checkout = Self {
            project,
            kind,
            printing,
        };
        checkout.fill_in();
        checkout.print_what_is_handed_over();
        Some(checkout)
    }

    fn fill_in(&self) {
        let project = &self.project;
        for (path, text) in project.files(ENVIRONMENTS) {
            let text = text
                .replace("SYLVA_CORE_REPO", "https://git.example.org/sylva-core.git")
                .replace("CURRENT_COMMIT", "0123456789abcdef0123456789abcdef01234567")
                .replace("WORKLOAD_CLUSTER_NAMESPACE", "workload");
            let path = path.to_str().expect("text");
            // Placeholders for secrets name other hosts than the values.
            let is_secret = path == "environment-values/rke2-capm3/secrets.yaml";
            project.write(path, if is_secret { "{}\n" } else { &text });
        }
        for environment in self.kind.environments {
            self.add_site(environment);
        }
        let mut images: Vec<(String, &str)> = Vec::new();
        for key in facts::catalog(&project.read(&format!("{CHART}/values.yaml"))) {
            images.push((next(&key), AFTER));
            images.push((key, BEFORE));
        }
        assert_eq!(images.len(), 38);
        project.write("os-images-info.yaml", facts::info(&images));
        let known = facts::registry(REGISTRY, &images);
        self.printing.write("facts.yaml", known);
        let offered = images.iter().filter(|(_, tag)| *tag == AFTER);
        let offered: Vec<&str> = offered.map(|(key, _)| key.as_str()).collect();
        project.write("offered.txt", offered.join("\n"));
    }

    /// A component that puts the site's values over the environment's own.
    fn add_site(&self, environment: &Environment) {
        let site = environment.site();
        let component = "apiVersion: kustomize.config.k8s.io/v1alpha1\nkind: Component\n\
             configMapGenerator:\n- name: site-values\n  options: {disableNameSuffixHash: true}\n  files: [values=values.yaml]\n\
             patches:\n- target: {kind: HelmRelease}\n  patch: |\n    - op: add\n      path: /spec/valuesFrom/-\n\
             \x20     value: {kind: ConfigMap, name: site-values, valuesKey: values}\n";
        self.project
            .write(&format!("{site}/kustomization.yaml"), component);
        let path = format!("{}/kustomization.yaml", environment.path());
        let up = "../".repeat(environment.path().split('/').count());
        let text = self.project.read(&path).replace("components: []\n", "");
        let text = match text.split_once("\ncomponents:\n") {
            Some((before, after)) => {
                let indent = &after[..after.find('-').expect("an item")];
                format!("{before}\ncomponents:\n{indent}- {up}{site}\n{after}")
            }
            None => format!("{text}\ncomponents: [{up}{site}]\n"),
        };
        self.project.write(&path, &text);
    }

    fn print_what_is_handed_over(&self) {
        let templates = self.printing.path().join("templates");
        for entry in fs::read_dir(&templates).expect("templates") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                fs::remove_dir_all(path).expect("removed");
            } else if path.extension().is_none_or(|extension| extension != "tpl") {
                fs::remove_file(path).expect("removed");
            }
        }
        let printed = include_str!("handed.yaml");
        self.printing.write("templates/handed.yaml", printed);
    }

    pub(super) fn select(&self, spelling: &Spelling, first: usize) {
        for environment in self.kind.environments {
            self.write_site(environment, spelling, first, BEFORE);
        }
    }

    pub(super) fn write_site(
        &self,
        one: &Environment,
        spelling: &Spelling,
        first: usize,
        version: &str,
    ) {
        let values = one.values(spelling, first, version);
        let text = serde_json::to_string_pretty(&values).expect("JSON");
        self.project
            .write(&format!("{}/values.yaml", one.site()), &text);
    }

    /// Replaces the selectors in the environments' own values by keys, for a level has one spelling only.
    pub(super) fn replace_selectors(&self) {
        for (path, text) in self.project.files(ENVIRONMENTS) {
            let indent = |line: &str| line.len() - line.trim_start().len();
            let mut selector = None;
            let mut kept = String::new();
            for line in text.lines() {
                if selector.is_some_and(|depth| indent(line) > depth) {
                    continue;
                }
                let starts = line.trim_start().starts_with("os_image_selector:");
                selector = starts.then(|| indent(line));
                let line = if starts {
                    line.replace("os_image_selector:", "image_key: some-image")
                } else {
                    line.to_owned()
                };
                kept += &format!("{line}\n");
            }
            self.project.write(path.to_str().expect("text"), &kept);
        }
    }

    pub(super) fn init(&self) {
        let project = &self.project;
        project.init("[{target: helm-values, path: overlays}]");
        // What the management cluster adds at run time.
        project.write("state.json", STATE);
        let state = "state: {ConfigMap/mgmt-cluster-state-values: state.json}\n";
        let text = project.read("metalmark.yaml");
        project.write("metalmark.yaml", format!("{text}{state}"));
    }
}
