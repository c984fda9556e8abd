//! The lock against registries over HTTP: the one in this process, and Debian's `docker-registry`.

mod cosigned;
mod failures;
mod life;
mod locked;

use oci_artifacts::Digest;
use serde_json::json;

use super::{NOBLE, Project, facts, signed};
use crate::support::distribution::Pushed;
use crate::support::registry::MANIFEST;
use crate::support::{Metalmark, Outcome};

/// What never stands in an output or a lock: a password, and how it goes over the wire.
const SECRETS: [&str; 2] = ["hunter2", "Ym9iOmh1bnRlcjI="];

/// A project whose images lie in a registry, below `os`.
struct Site {
    project: Project,
    /// `127.0.0.1:port`
    host: String,
    environment: Vec<(String, String)>,
}

impl Site {
    /// `settings` are what the project file says of the host.
    fn of(registry: &dyn Pushed, settings: &str) -> Self {
        let host = registry.host();
        let site = Self {
            project: Project::new(),
            host,
            environment: Vec::new(),
        };
        site.registries(&format!("hosts: {{'{}': {settings}}}", site.host));
        site
    }

    /// The project file, with that section.
    fn registries(&self, section: &str) {
        let file = format!(
            "version: 1\nclusters: [{{name: edge-1, values: [values.yaml]}}]\nregistries: {{{section}}}\n\
             outputs: [{{target: manifests, path: out}}]\n"
        );
        self.project.write("metalmark.yaml", &file);
    }

    /// The cluster's values, whose catalog is at the registry itself.
    fn values(&self, version: &str, images: &[&str], more: &str) {
        self.project.values(version, images, more);
        let own = format!("{}/os", self.host);
        let text = self.project.read("values.yaml");
        self.project.write(
            "values.yaml",
            &text.replace("registry.example.org/os", &own),
        );
    }

    /// Credentials in a file, as `docker login` leaves them.
    fn log_in(&mut self, user: &str, password: &str) {
        let pair = format!("{user}:{password}");
        let pair = yaml_tree::bytes::BASE64.encode(pair.as_bytes());
        let text = json!({"auths": {self.host.as_str(): {"auth": pair}}}).to_string();
        self.project.write("login/config.json", &text);
        let folder = self.project.path().join("login");
        let folder = folder.to_string_lossy().into_owned();
        self.environment = vec![("DOCKER_CONFIG".to_owned(), folder)];
    }

    /// Runs the binary. Whatever it prints or writes, no secret is in it.
    fn run(&self, arguments: &str) -> Outcome {
        let variables = self.environment.iter();
        let variables: Vec<(&str, &str)> = variables.map(|(a, b)| (&**a, &**b)).collect();
        let outcome = Metalmark::within(self.project.path())
            .args(arguments.split_whitespace())
            .envs(&variables)
            .run();
        for secret in SECRETS {
            let all =
                [&outcome.stdout, &outcome.stderr, &self.lock()].map(|text| text.contains(secret));
            assert_eq!(all, [false; 3], "{arguments} tells a secret");
        }
        outcome
    }

    /// Runs what has to end with that status.
    fn ends(&self, status: i32, arguments: &str) -> Outcome {
        let outcome = self.run(arguments);
        let reported = format!("{arguments}:\n{}\n{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.status, status, "{reported}");
        outcome
    }

    fn lock(&self) -> String {
        self.project.read("metalmark.lock")
    }
}

/// The layer of an image.
fn layer(image: &str, build: &str) -> String {
    format!("the disk of {image}, build {build}, as it is packed")
}

/// Pushes an image with a layer and the facts that a node needs, below `os`.
fn publish(registry: &dyn Pushed, image: &str, version: &str, build: &str) -> Digest {
    let repository = format!("os/{image}");
    let layer = layer(image, build);
    registry.blob(&repository, b"{}");
    let digest = registry.blob(&repository, layer.as_bytes());
    let annotations: serde_json::Map<_, _> = facts(image, version, build)
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.into()))
        .collect();
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": Digest::compute(b"{}").as_str(), "size": 2},
        "layers": [{"mediaType": "application/vnd.cncf.flux.content.v1.tar+gzip", "digest": digest.as_str(), "size": layer.len()}],
        "annotations": annotations,
    });
    registry.manifest(&repository, version, &manifest.to_string())
}

/// Signs an image with a key of the project, and pushes that as cosign does: at a tag.
fn sign(registry: &dyn Pushed, project: &Project, image: &str, digest: &Digest, key: &str) {
    let repository = format!("os/{image}");
    let name = format!("{}/{repository}", registry.host());
    let (payload, signature) = signed::signature(project.path(), &name, digest, key);
    registry.blob(&repository, b"{}");
    let layer = registry.blob(&repository, payload.as_bytes());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": Digest::compute(b"{}").as_str(), "size": 2},
        "layers": [{
            "mediaType": "application/vnd.dev.cosign.simplesigning.v1+json",
            "digest": layer.as_str(),
            "size": payload.len(),
            "annotations": {"dev.cosignproject.cosign/signature": signature},
        }],
    });
    let tag = format!("sha256-{}.sig", digest.hex());
    registry.manifest(&repository, &tag, &manifest.to_string());
}

/// The reference of an image, as the lock and messages write it.
fn reference(site: &Site, image: &str, version: &str) -> String {
    format!("oci://{}/os/{image}:{version}", site.host)
}

const PLAIN: &str = "{plain-http: true}";

/// How the values name the key of the registry.
const KEY: &str = "    cosign_publickey: sylva.pub\n";

/// A site with two images, signed by the key that its values name. None where there is no openssl.
fn signed_site(registry: &dyn Pushed, settings: &str) -> Option<Site> {
    let site = Site::of(registry, settings);
    if !signed::key(&site.project, "sylva") {
        return None;
    }
    site.values("0.4.12", &[NOBLE, super::JAMMY], KEY);
    for image in [NOBLE, super::JAMMY] {
        let digest = publish(registry, image, "0.4.12", "a");
        sign(registry, &site.project, image, &digest, "sylva");
    }
    Some(site)
}
