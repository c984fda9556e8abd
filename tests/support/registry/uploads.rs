//! What the registry takes: blobs, whole or in pieces, and manifests whose blobs are there.

use std::collections::BTreeMap;

use oci_artifacts::{Content, Digest, Manifest};

use super::answer::parameter;
use super::http::{Reply, Request};
use super::{Registry, State, fault, held};

/// The uploads under way.
#[derive(Default)]
pub(super) struct Uploads {
    open: BTreeMap<String, Vec<u8>>,
    begun: usize,
    /// Where an upload goes on; `{repository}` and `{id}` are put in.
    location: Option<String>,
    /// Whether it keeps what came of a piece whose connection broke.
    keeps: bool,
}

impl State {
    /// What comes of a request that writes, or that asks how an upload stands.
    pub(super) fn pushed(&self, request: &Request, path: &str, query: &str) -> Option<Reply> {
        let path = path.strip_prefix("/v2/")?;
        if let Some((repository, name)) = path.split_once("/manifests/") {
            let is_put = request.method == "PUT";
            return is_put.then(|| self.take_manifest(repository, name, request));
        }
        if request.method == "HEAD" {
            let (_, digest) = path.split_once("/blobs/")?;
            let length = held(&self.blobs).get(digest)?.len();
            return Some(Reply::new(200, "").header("X-Length", length.to_string()));
        }
        let (repository, id) = path.split_once("/blobs/uploads/")?;
        Some(match request.method.as_str() {
            "POST" => self.begin(repository),
            "PATCH" => self.append(repository, id, request),
            "PUT" => self.finish(id, query, request),
            _ => self.status(repository, id),
        })
    }

    fn begin(&self, repository: &str) -> Reply {
        let id = {
            let mut uploads = held(&self.uploads);
            uploads.begun += 1;
            let id = format!("upload-{}", uploads.begun);
            uploads.open.insert(id.clone(), Vec::new());
            id
        };
        Reply::new(202, "").header("Location", self.location(repository, &id))
    }

    fn location(&self, repository: &str, id: &str) -> String {
        let template = held(&self.uploads).location.clone();
        let template = template.unwrap_or("/v2/{repository}/blobs/uploads/{id}".to_owned());
        template
            .replace("{repository}", repository)
            .replace("{id}", id)
    }

    fn append(&self, repository: &str, id: &str, request: &Request) -> Reply {
        {
            let mut uploads = held(&self.uploads);
            let keeps = uploads.keeps;
            let Some(open) = uploads.open.get_mut(id) else {
                return fault(404, "BLOB_UPLOAD_UNKNOWN", "no such upload");
            };
            let range = request.header("content-range").unwrap_or_default();
            if range.split('-').next() != Some(&open.len().to_string()) {
                return fault(416, "BLOB_UPLOAD_INVALID", "out of order");
            }
            if !request.is_cut || keeps {
                open.extend(&request.bytes);
            }
        }
        let Reply { headers, .. } = self.status(repository, id);
        Reply {
            headers,
            ..Reply::new(202, "")
        }
    }

    fn status(&self, repository: &str, id: &str) -> Reply {
        let Some(length) = held(&self.uploads).open.get(id).map(Vec::len) else {
            return fault(404, "BLOB_UPLOAD_UNKNOWN", "no such upload");
        };
        Reply::new(204, "")
            .header("Location", self.location(repository, id))
            .header("Range", format!("0-{}", length.saturating_sub(1)))
    }

    fn finish(&self, id: &str, query: &str, request: &Request) -> Reply {
        let Some(mut bytes) = held(&self.uploads).open.remove(id) else {
            return fault(404, "BLOB_UPLOAD_UNKNOWN", "no such upload");
        };
        bytes.extend(&request.bytes);
        let digest = Digest::compute(&bytes);
        if request.is_cut || parameter(query, "digest").as_deref() != Some(digest.as_str()) {
            return fault(400, "DIGEST_INVALID", "another digest");
        }
        held(&self.blobs).insert(digest.to_string(), bytes);
        Reply::new(201, "").header("Docker-Content-Digest", digest.as_str())
    }

    fn take_manifest(&self, repository: &str, name: &str, request: &Request) -> Reply {
        let Ok(manifest) = Manifest::read(request.bytes.clone()) else {
            return fault(400, "MANIFEST_INVALID", "it is none");
        };
        let mut reply =
            Reply::new(201, "").header("Docker-Content-Digest", manifest.digest.as_str());
        if let Content::Image {
            config,
            layers,
            subject,
            ..
        } = &manifest.content
        {
            let blobs = held(&self.blobs);
            let mut needed = layers.iter().chain([&**config]);
            if needed.any(|blob| !blobs.contains_key(blob.digest.as_str())) {
                return fault(400, "MANIFEST_BLOB_UNKNOWN", "a blob is not there");
            }
            if let (Some(subject), Some(lists)) = (subject, held(&self.referrers).as_mut()) {
                let entry = serde_json::json!({
                    "mediaType": request.header("content-type"),
                    "digest": manifest.digest.as_str(),
                    "size": request.bytes.len(),
                });
                let list = lists.entry(subject.digest.to_string()).or_default();
                list.push(entry.to_string());
                reply = reply.header("OCI-Subject", subject.digest.as_str());
            }
        }
        let media_type = request.header("content-type").unwrap_or_default();
        let content = (media_type.to_owned(), request.bytes.clone());
        let mut manifests = held(&self.manifests);
        let known = manifests.entry(repository.to_owned()).or_default();
        known.insert(manifest.digest.to_string(), content.clone());
        known.insert(name.to_owned(), content);
        reply
    }
}

impl Registry {
    /// Where uploads go on: an address or a path, with `{repository}` and `{id}`.
    pub(crate) fn upload_at(&self, location: &str) {
        held(&self.state.uploads).location = Some(location.to_owned());
    }

    /// Keeps what came of pieces whose connection broke.
    pub(crate) fn keep_parts(&self) {
        held(&self.state.uploads).keeps = true;
    }

    /// Lets it offer the API of referrers.
    pub(crate) fn list_referrers(&self) {
        held(&self.state.referrers).get_or_insert_default();
    }

    /// The bytes of a blob that it was given.
    pub(crate) fn stored(&self, digest: &Digest) -> Option<Vec<u8>> {
        held(&self.state.blobs).get(digest.as_str()).cloned()
    }

    /// Media type and bytes of a manifest, by tag or digest.
    pub(crate) fn manifest_at(&self, repository: &str, name: &str) -> Option<(String, Vec<u8>)> {
        held(&self.state.manifests)
            .get(repository)?
            .get(name)
            .cloned()
    }
}
