//! The lock against registries over HTTP: the one in this process, and Debian's `docker-registry`.

mod cosigned;
mod failures;
mod life;
mod locked;
mod mirror;

use oci_artifacts::Digest;
use serde_json::json;
use yaml_tree::bytes::BASE64;

use super::{JAMMY, NOBLE, PROJECT_FILE, facts, lock_of, site, story, write_values};
use crate::support::cosign::{ANNOTATION, Key, SIMPLE, Signs, payload};
use crate::support::distribution::Pushed;
use crate::support::registry::MANIFEST;
use crate::support::stage::Stage;
use crate::support::story::Story;

/// What never stands in an output or a lock: a password, and how it goes over the wire.
const SECRETS: [&str; 2] = ["hunter2", "Ym9iOmh1bnRlcjI="];

const PLAIN: &str = "{plain-http: true}";

/// How the values name the key of the registry.
const KEY: &str = "    cosign_publickey: sylva.pub\n";

/// A project whose images lie in a registry, below `os`.
struct Site {
    stage: Stage,
    /// `127.0.0.1:port`
    host: String,
    key: Key,
}

impl Site {
    /// `settings` are what the project file says of the host.
    fn of(registry: &dyn Pushed, settings: &str) -> Self {
        let stage = site();
        let login = stage.path().join("login");
        let stage = stage.variable("DOCKER_CONFIG", &login.to_string_lossy());
        let (host, key) = (registry.host(), Key::new());
        stage.write("sylva.pub", key.pem());
        let site = Self { stage, host, key };
        site.write_registries(&format!("hosts: {{'{}': {settings}}}", site.host));
        site
    }

    /// The same with two images, signed by the key that its values name.
    fn signed(registry: &dyn Pushed, settings: &str) -> Self {
        let site = Self::of(registry, settings);
        site.write_values("0.4.12", &[NOBLE, JAMMY], KEY);
        for image in [NOBLE, JAMMY] {
            let digest = publish(registry, image, "0.4.12", "a");
            sign(registry, image, &digest, &site.key);
        }
        site
    }

    /// The project file, with that section.
    fn write_registries(&self, section: &str) {
        let own = "{mirrors: {registry.example.org/os: 'oci-layout:registry'}}";
        let file = PROJECT_FILE.replace(own, &format!("{{{section}}}"));
        self.stage.write("metalmark.yaml", file);
    }

    /// The cluster's values, whose catalog is at the registry itself.
    fn write_values(&self, version: &str, images: &[&str], more: &str) {
        write_values(&self.stage, version, images, more);
        let own = format!("{}/os", self.host);
        self.stage
            .edit("values.yaml", "registry.example.org/os", &own);
    }

    /// Credentials in a file, as `docker login` leaves them.
    fn log_in(&self, user: &str, password: &str) {
        let pair = BASE64.encode(format!("{user}:{password}").as_bytes());
        let text = json!({"auths": {self.host.as_str(): {"auth": pair}}});
        self.stage.write("login/config.json", text.to_string());
    }

    /// What happens to it. Whatever is printed or written, no secret is in it.
    fn story(&self) -> Story<'_> {
        story(&self.stage)
            .hide(&SECRETS)
            .name(&self.host, "HOST")
            .name(self.key.fingerprint().to_string(), "SYLVA")
    }

    fn lock(&self) -> String {
        lock_of(&self.stage)
    }
}

/// The layer of an image.
fn layer(image: &str, build: &str) -> String {
    format!("the disk of {image}, build {build}, as it is packed")
}

/// The manifest of an image with that one layer.
fn manifest(layer: serde_json::Value, annotations: &[(&str, String)]) -> String {
    let annotations = annotations.iter();
    let annotations = annotations.map(|(name, value)| ((*name).to_owned(), json!(value)));
    let annotations: serde_json::Map<_, _> = annotations.collect();
    json!({
        "schemaVersion": 2,
        "mediaType": MANIFEST,
        "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": Digest::compute(b"{}").as_str(), "size": 2},
        "layers": [layer],
        "annotations": annotations,
    })
    .to_string()
}

/// Pushes an image with a layer and the facts that a node needs, below `os`.
fn publish(registry: &dyn Pushed, image: &str, version: &str, build: &str) -> Digest {
    let repository = format!("os/{image}");
    let layer = layer(image, build);
    registry.blob(&repository, b"{}");
    let digest = registry.blob(&repository, layer.as_bytes());
    let layer = json!({"mediaType": "application/vnd.cncf.flux.content.v1.tar+gzip", "digest": digest.as_str(), "size": layer.len()});
    let manifest = manifest(layer, &facts(image, version, build));
    registry.manifest(&repository, version, &manifest)
}

/// Signs an image, and pushes that as cosign does: at a tag.
fn sign(registry: &dyn Pushed, image: &str, digest: &Digest, key: &Key) {
    let repository = format!("os/{image}");
    let payload = payload(digest, &format!("{}/{repository}", registry.host()));
    let signature = BASE64.encode(&key.sign(payload.as_bytes()));
    registry.blob(&repository, b"{}");
    let layer = registry.blob(&repository, payload.as_bytes());
    let layer = json!({
        "mediaType": SIMPLE,
        "digest": layer.as_str(),
        "size": payload.len(),
        "annotations": {ANNOTATION: signature},
    });
    let tag = format!("sha256-{}.sig", digest.hex());
    registry.manifest(&repository, &tag, &manifest(layer, &[]));
}

/// The reference of an image, as the lock and messages write it.
fn reference(site: &Site, image: &str, version: &str) -> String {
    format!("oci://{}/os/{image}:{version}", site.host)
}
