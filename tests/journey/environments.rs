//! The environments of sylva-core that the journey follows, and what a site writes in each of them.

use serde_json::{Value, json};

use super::facts;
use super::project::AFTER;

pub(super) const ENVIRONMENTS: &str = "environment-values";

/// An environment folder, its provider, and two images that fit its Kubernetes version.
pub(super) struct Environment {
    pub(super) folder: &'static str,
    infra: &'static str,
    images: [&'static str; 2],
}

const RKE2: [&str; 2] = [
    "ubuntu-noble-plain-rke2-1-31-8",
    "ubuntu-noble-hardened-rke2-1-31-8",
];
const KUBEADM: [&str; 2] = [
    "ubuntu-noble-plain-kubeadm-1-31-8",
    "opensuse-15-6-plain-kubeadm-1-31-8",
];
/// The catalog has one image for this Kubernetes; the other one is the site's own.
const CK8S: [&str; 2] = ["ubuntu-noble-plain-ck8s-1-31-6", OWN];
const OWN: &str = "debian-trixie-plain-ck8s-1-31-6";

const fn on(folder: &'static str, infra: &'static str, images: [&'static str; 2]) -> Environment {
    Environment {
        folder,
        infra,
        images,
    }
}

/// Environments that are copied together.
pub(super) struct Kind {
    /// Folders that others build on.
    pub(super) bases: &'static [&'static str],
    pub(super) environments: &'static [Environment],
}

pub(super) const METAL: Kind = Kind {
    bases: &[
        "base",
        "base-capm3-virt",
        "workload-clusters/base",
        "workload-clusters/base-capm3-virt",
    ],
    environments: &[
        on("rke2-capm3", "capm3", RKE2),
        on("rke2-capm3-virt", "capm3", RKE2),
        on("kubeadm-capm3-virt", "capm3", KUBEADM),
        on("ck8s-capm3-virt", "capm3", CK8S),
        on("workload-clusters/rke2-capm3", "capm3", RKE2),
        on("workload-clusters/rke2-capm3-virt", "capm3", RKE2),
        on("workload-clusters/kubeadm-capm3-virt", "capm3", KUBEADM),
        on("workload-clusters/ck8s-capm3-virt", "capm3", CK8S),
    ],
};
pub(super) const CLOUD: Kind = Kind {
    bases: &["base", "workload-clusters/base"],
    environments: &[
        on("rke2-capo", "capo", RKE2),
        on("kubeadm-capo", "capo", KUBEADM),
        on("rke2-capo-capm3", "capo", RKE2),
        on("workload-clusters/rke2-capo", "capo", RKE2),
        on("workload-clusters/kubeadm-capo", "capo", KUBEADM),
    ],
};

/// How a site selects images.
pub(super) enum Spelling {
    Selector,
    Key,
}

impl Environment {
    /// The cluster's name, as `init` chooses it.
    pub(super) fn name(&self) -> String {
        match self.folder.split_once('/') {
            Some((_, name)) => name.to_owned(),
            None if self.folder == "rke2-capo-capm3" => self.folder.to_owned(),
            None => format!("management-{}", self.folder),
        }
    }

    /// Whether the site has an image of its own.
    pub(super) fn has_own_image(&self) -> bool {
        self.images.contains(&OWN)
    }

    pub(super) fn path(&self) -> String {
        format!("{ENVIRONMENTS}/{}", self.folder)
    }

    pub(super) fn site(&self) -> String {
        format!("site/{}", self.name())
    }

    pub(super) fn image(&self, index: usize, version: &str) -> String {
        let key = self.images[index].to_owned();
        if version == AFTER { next(&key) } else { key }
    }

    /// The site's values: the root and `md0` boot the image of one index, the control plane and other pools the other one.
    pub(super) fn values(&self, spelling: &Spelling, first: usize, version: &str) -> Value {
        let level = |index: usize| {
            let key = self.image(index, version);
            let facts = facts::of(&key, version);
            let selector = json!({
                "os": facts["os"], "os-release": facts["os-release"], "hardened": facts["hardened"],
            });
            match spelling {
                Spelling::Selector => json!({ self.infra: { "os_image_selector": selector } }),
                Spelling::Key => json!({ self.infra: { "image_key": key } }),
            }
        };
        let mut cluster = level(first);
        cluster["control_plane"] = level(1 - first);
        cluster["machine_deployment_default"] = level(1 - first);
        cluster["machine_deployments"] = json!({ "md0": level(first) });
        let mut values = json!({ "cluster": cluster });
        if self.has_own_image() {
            let key = self.image(1, version);
            let mut own = facts::of(&key, version);
            own["uri"] = json!(format!("oci://registry.example.org/site/{key}:{version}"));
            values["os_images"] = json!({ key: own });
        }
        if self.folder == "workload-clusters/rke2-capm3" {
            // As many nodes as it has hosts, each with the label of one host.
            let cluster = &mut values["cluster"];
            let host = |role: &str| json!({ "matchLabels": { "cluster-role": role } });
            cluster["baremetal_host_default"] = json!({});
            cluster["control_plane_replicas"] = json!(1);
            cluster["control_plane"]["capm3"]["hostSelector"] = host("control-plane");
            cluster["machine_deployments"]["md0"]["replicas"] = json!(1);
            cluster["machine_deployments"]["md0"]["capm3"]["hostSelector"] = host("worker");
        }
        if self.infra == "capo" {
            // Allocated at run time.
            values["cluster_virtual_ip"] = json!("192.0.2.10");
            values["cluster"]["machine_deployments"]["md0"]["replicas"] = json!(1);
            let word = "site";
            let auth = json!({
                "auth_url": "https://openstack.example.org:5000", "username": word, "password": word,
                "user_domain_name": word, "project_domain_name": word, "project_name": word,
            });
            let cloud = json!({ "auth": auth, "region_name": word, "verify": false });
            values["cluster"]["capo"]["clouds_yaml"] = json!({ "clouds": { "capo_cloud": cloud } });
        }
        values
    }
}

/// The name of an image's next patch.
pub(super) fn next(key: &str) -> String {
    let (name, patch) = key.rsplit_once('-').expect("a patch version");
    let patch: u32 = patch.parse().expect("a number");
    format!("{name}-{}", patch + 1)
}
