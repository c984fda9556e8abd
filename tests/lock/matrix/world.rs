//! One registry that answers each cell of the matrix in its way, and projects of some of the cells.

use std::collections::BTreeMap;

use oci_artifacts::Digest;
use serde_json::{Value, json};
use yaml_tree::bytes::BASE64;

use super::rules::{After, Answer, ENTRIES, Entry, Key, Signer};
use crate::lock::facts;
use crate::support::Outcome;
use crate::support::cosign::{
    self, ANNOTATION, BUNDLE, SIGN, SIMPLE, Signs, payload, signed_bundle, statement,
};
use crate::support::registry::{MANIFEST, Registry, Reply, fault};
use crate::support::stage::{Stage, project};

/// One cell of the matrix: one image of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Cell {
    pub(super) key: Key,
    pub(super) entry: Entry,
    pub(super) answer: Answer,
}

impl Cell {
    /// The key of its image, which is its repository too.
    pub(super) fn name(self) -> String {
        format!("{:?}-{:?}-{:?}", self.key, self.entry, self.answer).to_lowercase()
    }

    /// Whether a text is about its image.
    pub(super) fn is_named_in(self, text: &str) -> bool {
        let name = self.name();
        let marks = [
            format!("`{name}`"),
            format!("/{name}:"),
            format!("/{name}@"),
        ];
        marks.iter().any(|mark| text.contains(mark))
    }
}

/// The registry and the two keys.
pub(super) struct World {
    pub(super) registry: Registry,
    pub(super) a: cosign::Key,
    pub(super) b: cosign::Key,
}

const VERSION: &str = "0.4.12";

/// The artifact type of a signature image that refers to an image.
const REFERRER: &str = "application/vnd.dev.cosign.artifact.sig.v1+json";

impl World {
    /// A registry with every cell's image.
    pub(super) fn new(cells: &[Cell]) -> Self {
        let world = Self {
            registry: Registry::plain(),
            a: cosign::Key::new(),
            b: cosign::Key::new(),
        };
        for cell in cells {
            world.publish(*cell);
        }
        // 501 is no answer, and is not asked for again after a pause as 503 is.
        world.registry.hook(|request, _| {
            let path = request.path.as_str();
            let is_of = |answer: Answer| {
                let name = format!("-{answer:?}/").to_lowercase();
                path.contains(&name)
            };
            let is_sig = path.ends_with(".sig");
            let is_silent = is_of(Answer::NothingAnswers)
                || is_sig && (is_of(Answer::TagFails) || is_of(Answer::TagFailsReferrersMissing));
            if is_silent {
                return Some(Reply::new(501, ""));
            }
            let is_missing =
                path.contains("/referrers/") && is_of(Answer::TagFailsReferrersMissing);
            is_missing.then(|| fault(404, "UNKNOWN", "no such list"))
        });
        world
    }

    pub(super) fn key(&self, signer: Signer) -> &cosign::Key {
        match signer {
            Signer::A => &self.a,
            Signer::B => &self.b,
        }
    }

    pub(super) fn reference(&self, cell: Cell) -> String {
        format!(
            "oci://{}/os/{}:{VERSION}",
            self.registry.host(),
            cell.name()
        )
    }

    fn manifest(&self, cell: Cell) -> Vec<u8> {
        let layer = b"the disk";
        let annotations: BTreeMap<&str, String> =
            facts(&cell.name(), VERSION, "a").into_iter().collect();
        json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": self.registry.blob(b"{}").as_str(), "size": 2},
            "layers": [{"mediaType": "a", "digest": self.registry.blob(layer).as_str(), "size": layer.len()}],
            "annotations": annotations,
        })
        .to_string()
        .into_bytes()
    }

    /// The digest of a cell's image.
    pub(super) fn digest(&self, cell: Cell) -> Digest {
        Digest::compute(&self.manifest(cell))
    }

    fn publish(&self, cell: Cell) {
        let repository = format!("os/{}", cell.name());
        let bytes = self.manifest(cell);
        let digest = self.registry.put(&repository, VERSION, MANIFEST, &bytes);
        let name = format!("{}/{repository}", self.registry.host());
        let ours = payload(&digest, &name);
        let at_tag = |layers: Vec<Value>| {
            let tag = format!("sha256-{}.sig", digest.hex());
            let bytes = self.signature_image(layers, None);
            self.registry.put(&repository, &tag, MANIFEST, &bytes);
        };
        let refers = |kind: &str, layer: Value| {
            let subject =
                json!({"mediaType": MANIFEST, "digest": digest.as_str(), "size": bytes.len()});
            let bytes = self.signature_image(vec![layer], Some((kind, subject)));
            let referrer = Digest::compute(&bytes);
            self.registry.put(
                &repository,
                &format!("sha256-{}", referrer.hex()),
                MANIFEST,
                &bytes,
            );
            let descriptor = json!({
                "mediaType": MANIFEST, "artifactType": kind, "digest": referrer.as_str(), "size": bytes.len(),
            });
            self.registry.refer(&digest, &descriptor.to_string());
        };
        let (a, b) = (&self.a, &self.b);
        match cell.answer {
            Answer::SignedByA => at_tag(vec![self.simple(a, &ours)]),
            Answer::SignedByB => at_tag(vec![self.simple(b, &ours)]),
            Answer::SignedByBoth => at_tag(vec![self.simple(b, &ours), self.simple(a, &ours)]),
            Answer::ReferrerOfA => refers(REFERRER, self.simple(a, &ours)),
            Answer::BundleOfA => refers(BUNDLE, self.bundle(a, &statement(&digest, SIGN))),
            Answer::OnlyAttested => {
                let provenance = statement(&digest, "https://slsa.dev/provenance/v1");
                refers(BUNDLE, self.bundle(a, &provenance));
            }
            Answer::OtherName => {
                let other = payload(&digest, &name.replace("/os/", "/os/another-"));
                at_tag(vec![self.simple(a, &other)]);
            }
            Answer::Altered => {
                let other = payload(&Digest::compute(b"other"), &name);
                at_tag(vec![self.layer(&other, &a.sign(ours.as_bytes()))]);
            }
            Answer::Unsigned
            | Answer::TagFails
            | Answer::TagFailsReferrersMissing
            | Answer::NothingAnswers => {}
        }
    }

    fn signature_image(&self, layers: Vec<Value>, subject: Option<(&str, Value)>) -> Vec<u8> {
        let mut manifest = json!({
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "config": {"mediaType": "application/vnd.oci.image.config.v1+json", "digest": self.registry.blob(b"{}").as_str(), "size": 2},
            "layers": layers,
        });
        if let Some((kind, subject)) = subject {
            manifest["subject"] = subject;
            manifest["artifactType"] = kind.into();
        }
        manifest.to_string().into_bytes()
    }

    fn simple(&self, by: &cosign::Key, text: &str) -> Value {
        self.layer(text, &by.sign(text.as_bytes()))
    }

    fn layer(&self, text: &str, signature: &[u8]) -> Value {
        json!({
            "mediaType": SIMPLE,
            "digest": self.registry.blob(text.as_bytes()).as_str(),
            "size": text.len(),
            "annotations": {ANNOTATION: BASE64.encode(signature)},
        })
    }

    fn bundle(&self, by: &cosign::Key, statement: &str) -> Value {
        let text = signed_bundle(by, statement);
        json!({"mediaType": BUNDLE, "digest": self.registry.blob(text.as_bytes()).as_str(), "size": text.len()})
    }
}

/// A project of some cells: one cluster for each state of the key.
pub(super) struct Site<'a> {
    pub(super) world: &'a World,
    pub(super) cells: &'a [Cell],
    pub(super) project: Stage,
}

impl<'a> Site<'a> {
    /// Each of the cells' images is booted by a pool of its own, where `has_pools`; else one for all.
    pub(super) fn new(world: &'a World, cells: &'a [Cell], has_pools: bool) -> Self {
        let project = project();
        let mut by_key: BTreeMap<Key, Vec<Cell>> = BTreeMap::new();
        for cell in cells {
            by_key.entry(cell.key).or_default().push(*cell);
        }
        let mut clusters = Vec::new();
        for (key, cells) in &by_key {
            let cluster = format!("{key:?}").to_lowercase();
            clusters.push(format!("{{name: {cluster}, values: [{cluster}.yaml]}}"));
            let values = values(&world.registry.host(), &cluster, *key, cells, has_pools);
            project.write(&format!("{cluster}.yaml"), values);
        }
        project.write(
            "metalmark.yaml",
            format!(
                "version: 1\nclusters: [{}]\nregistries: {{hosts: {{'{}': {{plain-http: true}}}}}}\n\
                 outputs: [{{target: manifests, path: out}}]\n",
                clusters.join(", "),
                world.registry.host(),
            ),
        );
        project.write("a.pub", world.a.pem());
        project.write("b.pub", world.b.pem());
        project.write("noise.pub", "not a key\n");
        let site = Self {
            world,
            cells,
            project,
        };
        let lock = site.lock_of(|cell| site.before(cell));
        site.project.write("metalmark.lock", &lock);
        let evidence = site.evidence_of(|cell| {
            let has_evidence = cell.entry.has_evidence();
            has_evidence.then(|| site.witness(cell, cell.entry.signer().map(|by| (by, "tag"))))
        });
        site.project.write("metalmark.evidence", &evidence);
        site
    }

    /// The text of the evidence of these entries: the signature of each, where it has one.
    pub(super) fn evidence_of(&self, entry: impl Fn(Cell) -> Option<Vec<String>>) -> String {
        let line = |cell: &Cell| {
            let signatures = entry(*cell)?;
            let manifest = self.world.manifest(*cell);
            let manifest = String::from_utf8(manifest).expect("UTF-8");
            let digest = self.world.digest(*cell);
            let mut line = format!(
                r#"{{"digest":"{digest}","manifest":{}"#,
                serde_json::to_string(&manifest).expect("a text")
            );
            if !signatures.is_empty() {
                line += &format!(r#","signatures":[{}]"#, signatures.join(","));
            }
            Some(line + "}\n")
        };
        let mut lines: Vec<String> = self.cells.iter().filter_map(line).collect();
        lines.sort();
        lines.dedup();
        format!(
            "# Written by `metalmark lock`; commit it beside the lock. The manifests and signatures that prove its entries.\n{}",
            lines.concat()
        )
    }

    /// A good signature of a cell's image in a form, as the lock keeps it.
    fn witness(&self, cell: Cell, signer: Option<(Signer, &str)>) -> Vec<String> {
        let Some((signer, form)) = signer else {
            return Vec::new();
        };
        let (key, digest) = (self.world.key(signer), self.world.digest(cell));
        if form == "bundle" {
            let bundle = signed_bundle(key, &statement(&digest, SIGN));
            return vec![format!(r#"{{"form":"bundle","bundle":{}}}"#, json!(bundle))];
        }
        let repository = format!("{}/os/{}", self.world.registry.host(), cell.name());
        let payload = payload(&digest, &repository);
        let signature = BASE64.encode(&key.sign(payload.as_bytes()));
        let (payload, signature) = (json!(payload), json!(signature));
        vec![format!(
            r#"{{"form":"{form}","payload":{payload},"signature":{signature}}}"#
        )]
    }

    /// The evidence of a cell after the run.
    pub(super) fn proof_after(&self, cell: Cell, after: &After) -> Option<Vec<String>> {
        match after {
            After::Absent | After::Unchanged => None,
            After::Kept => Some(self.witness(cell, cell.entry.signer().map(|by| (by, "tag")))),
            After::Unverified => Some(Vec::new()),
            After::Verified(signer, form) => Some(self.witness(cell, Some((*signer, *form)))),
        }
    }

    /// The text of a lock with these entries.
    pub(super) fn lock_of(&self, entry: impl Fn(Cell) -> Option<String>) -> String {
        let mut entries: Vec<(String, String)> = self
            .cells
            .iter()
            .filter_map(|cell| Some((cell.name(), entry(*cell)?)))
            .collect();
        entries.sort();
        let images = if entries.is_empty() {
            " []\n".to_owned()
        } else {
            entries
                .into_iter()
                .fold("\n".to_owned(), |text, (_, entry)| text + &entry)
        };
        format!(
            "# Written by `metalmark lock`; commit it. Each image's digest, and what the artifact says of itself.\n\
             version: 1\nimages:{images}"
        )
    }

    /// The entry of a cell before the run.
    pub(super) fn before(&self, cell: Cell) -> Option<String> {
        match (cell.entry, cell.entry.signer()) {
            (Entry::Absent, _) => None,
            (_, signer) => {
                let signer = signer.map(|signer| (signer, "tag"));
                Some(self.entry(cell, signer, cell.entry.is_edited()))
            }
        }
    }

    /// The entry of a cell after the run.
    pub(super) fn after(&self, cell: Cell, after: &After) -> Option<String> {
        match after {
            After::Absent => None,
            After::Unchanged => self.before(cell),
            After::Kept => {
                let signer = cell.entry.signer().map(|signer| (signer, "tag"));
                Some(self.entry(cell, signer, false))
            }
            After::Unverified => Some(self.entry(cell, None, false)),
            After::Verified(signer, form) => Some(self.entry(cell, Some((*signer, form)), false)),
        }
    }

    /// docs/lock.md, "The file".
    fn entry(&self, cell: Cell, verified: Option<(Signer, &str)>, is_edited: bool) -> String {
        let name = cell.name();
        let (file, checksum) = if is_edited {
            ("another.raw".to_owned(), "c".repeat(64))
        } else {
            (format!("{name}-{VERSION}.raw"), "a".repeat(64))
        };
        let verified = verified.map(|(signer, form)| {
            let key = self.world.key(signer).fingerprint();
            format!("  verified:\n    form: {form}\n    key: {key}\n")
        });
        format!(
            "\n- key: {name}\n  reference: {}\n  digest: {}\n  facts:\n    filename: {file}\n    image-format: raw\n    \
             k8s-version: \"1.31.8+rke2r1\"\n    sha256: {checksum}\n  origin:\n    registry: sylva\n    version: \"{VERSION}\"\n{}",
            self.world.reference(cell),
            self.world.digest(cell),
            verified.unwrap_or_default(),
        )
    }

    pub(super) fn run(&self, arguments: &str) -> Outcome {
        self.project.run(arguments).outcome
    }
}

/// The values of a cluster whose catalog has these images.
fn values(host: &str, cluster: &str, key: Key, cells: &[Cell], has_pools: bool) -> String {
    let images: String = cells
        .iter()
        .map(|cell| format!("  {}: {{os_images_oci_registry: sylva}}\n", cell.name()))
        .collect();
    let key = match key {
        Key::NotConfigured => "",
        Key::Blank => "    cosign_publickey: '  '\n",
        Key::FileMissing => "    cosign_publickey: gone.pub\n",
        Key::Garbage => "    cosign_publickey: noise.pub\n",
        Key::ExpressionFails => "    cosign_publickey: '{{ .Values.keys.gone.pub }}'\n",
        Key::A => "    cosign_publickey: a.pub\n",
        Key::B => "    cosign_publickey: b.pub\n",
    };
    let pools: String = if has_pools {
        ENTRIES
            .iter()
            .zip(cells)
            .map(|(_, cell)| {
                let (pool, name) = (format!("{:?}", cell.entry).to_lowercase(), cell.name());
                format!("    {pool}: {{replicas: 1, capm3: {{image_key: {name}}}}}\n")
            })
            .collect()
    } else {
        String::new()
    };
    let pools = if pools.is_empty() {
        pools
    } else {
        format!("  machine_deployments:\n{pools}")
    };
    format!(
        "sylva_diskimagebuilder_images:\n{images}os_images_oci_registries:\n  sylva:\n    url: oci://{host}/os\n    tag: {VERSION}\n{key}\
         cluster:\n  name: {cluster}\n  k8s_version: v1.31.8+rke2r1\n  capi_providers: {{infra_provider: capm3, bootstrap_provider: cabpr}}\n  \
         capm3: {{image_key: {}}}\n  control_plane_replicas: 1\n{pools}",
        cells[0].name(),
    )
}
