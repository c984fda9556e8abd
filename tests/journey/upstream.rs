//! The journey in a checkout of sylva-core (`SYLVA_CORE`), with real Helm 3 and 4: in each environment and at each step the
//! chart's own library picks the image that metalmark reported.
//!
//! Helm evaluates a copy of the chart: its values, schema, helpers and library as they are, and instead of its manifests one
//! template that prints what the helpers make of the values (`handed.yaml`).

use std::path::PathBuf;

use yaml_tree::bytes::BASE64;

use super::checkout::{CHART, Checkout, STATE};
use super::environments::{CLOUD, Environment, Kind, METAL, Spelling};
use super::helm::{self, Programs};
use super::project::{AFTER, BEFORE, parsed};

impl Checkout {
    /// Renders, and compares what metalmark reports with what the chart hands over.
    fn renders(&self, programs: &Programs, step: &str, first: usize, version: &str) {
        let project = &self.project;
        project.succeeds("render");
        let check = project.succeeds("render --check");
        assert!(
            check.stdout.contains(" unchanged\n"),
            "{step}: {}",
            check.stdout
        );
        let reported = project.reported();
        for environment in self.kind.environments {
            let name = environment.name();
            let selected = [("control-plane", 1 - first), ("md0", first)];
            for (pool, index) in selected {
                let pool = format!("{name}/{pool}");
                let key = reported.pools.get(&pool).map(|[key, ..]| key.as_str());
                let wanted = environment.image(index, version);
                assert_eq!(key, Some(wanted.as_str()), "{pool}, {step}");
            }
            let overlay = project.read(&format!("overlays/{name}.values.yaml"));
            let release = programs.release(project.path(), &environment.path(), STATE);
            let k8s_version = project.k8s_version(&name);
            let with = |(helm, program): &(&'static str, PathBuf), overlay: Option<&str>| {
                let way = overlay.map_or("no overlay", |_| "overlay");
                let at = format!("{}, {step}, {helm}, {way}", environment.folder);
                let chart = self.printing.path();
                let printed = helm::template(program, project.path(), chart, &release, overlay)
                    .unwrap_or_else(|error| panic!("{at}: {error}"));
                helm::agrees(&at, &reported, &name, &k8s_version, &printed);
            };
            // The overlay pins the selected images: without it the chart selects the same.
            with(&programs.helms[0], None);
            for program in &programs.helms {
                with(program, Some(&overlay));
            }
        }
    }

    /// Moves catalog, versions and keys; a site with an image of its own has rebuilt that and names it already.
    fn update(&self) {
        let project = &self.project;
        for one in self
            .kind
            .environments
            .iter()
            .filter(|one| one.has_own_image())
        {
            self.write_site(one, &Spelling::Key, 1, AFTER);
            // A literal version is the environment's own to move.
            let values = format!("{}/values.yaml", one.path());
            project.edit(&values, "k8s_version: 1.31.6", "k8s_version: 1.31.7");
        }
        project.succeeds(&format!(
            "update {AFTER} --images offered.txt --fix --k8s-versions"
        ));
        for file in [
            "values.yaml",
            "management.values.yaml",
            "workload-cluster.values.yaml",
        ] {
            let text = project.read(&format!("{CHART}/{file}"));
            self.printing.write(file, text);
        }
    }

    /// What the chart's own manifests carry into the cluster's release, at the levels that select by key.
    fn manifests_carry(&self, programs: &Programs, one: &Environment, first: usize) {
        let project = &self.project;
        let overlay = project.read(&format!("overlays/{}.values.yaml", one.name()));
        let release = programs.release(project.path(), &one.path(), STATE);
        let (helm, program) = &programs.helms[0];
        let chart = project.path().join(CHART);
        let printed = helm::template(program, project.path(), &chart, &release, Some(&overlay))
            .unwrap_or_else(|error| panic!("{}, {helm}: {error}", one.folder));
        let name = "  name: kustomization-unit-substitute-cluster-";
        let is_release = |line: &str| {
            line.strip_prefix(name)
                .is_some_and(|hash| !hash.starts_with("bmh"))
        };
        let secret = printed
            .split("\n---\n")
            .find(|object| object.lines().any(is_release))
            .expect("the values of the cluster's release");
        let values = parsed(secret)["stringData"]["VALUES_B64"].clone();
        let values = BASE64
            .decode(values.as_str().expect("text").as_bytes())
            .expect("base64");
        let cluster = parsed(&String::from_utf8(values).expect("text"));
        let infra = "capm3";
        assert_eq!(cluster["k8s_version"], *project.k8s_version(&one.name()));
        let levels = [
            ("the root", &cluster, first),
            ("control_plane", &cluster["control_plane"], 1 - first),
            (
                "machine_deployment_default",
                &cluster["machine_deployment_default"],
                1 - first,
            ),
            ("md0", &cluster["machine_deployments"]["md0"], first),
        ];
        for (level, values, index) in levels {
            assert_eq!(
                values[infra]["image_key"],
                *one.image(index, AFTER),
                "{level}"
            );
        }
    }
}

fn follow(kind: &'static Kind) -> Option<(Checkout, Programs)> {
    let checkout = Checkout::of(kind)?;
    let programs = helm::programs()?;
    checkout.select(&Spelling::Selector, 0);
    checkout.init();
    checkout.renders(&programs, "selectors", 0, BEFORE);
    checkout.select(&Spelling::Selector, 1);
    checkout.renders(&programs, "changed selectors", 1, BEFORE);
    checkout.replace_selectors();
    checkout.select(&Spelling::Key, 0);
    checkout.renders(&programs, "keys", 0, BEFORE);
    checkout.select(&Spelling::Key, 1);
    checkout.renders(&programs, "changed keys", 1, BEFORE);
    checkout.update();
    checkout.renders(&programs, "update", 1, AFTER);
    Some((checkout, programs))
}

#[test]
fn bare_metal() {
    let Some((checkout, programs)) = follow(&METAL) else {
        return;
    };
    let virtual_machines = "rke2-capm3-virt";
    let mut environments = checkout.kind.environments.iter();
    let one = environments.find(|one| one.folder == virtual_machines);
    checkout.manifests_carry(&programs, one.expect("the environment"), 1);
}

#[test]
fn openstack() {
    follow(&CLOUD);
}
