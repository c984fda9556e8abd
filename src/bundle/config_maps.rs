//! Plain bundles in ConfigMaps: immutable, named by their content, each small enough for the cluster.
//!
//! Source: operator-framework/rukpak, pkg/source/configmaps.go: `data` and `binaryData` become files verbatim, a path that
//! stands in two ConfigMaps is an error, and each must be immutable.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Read, Write};
use std::sync::Arc;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::{Bundle, File, Kind, MANIFESTS};
use crate::archive::{Spooling, Stretch};
use crate::model::bytes::BASE64;
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{FileId, Source, Spot};
use crate::model::value::{Node, Value};
use crate::yaml;

/// How many bytes of data go into one: Kubernetes takes 1 MiB, and names and labels need some room.
const MOST: usize = (1 << 20) - (16 << 10);

/// A ConfigMap that was made.
pub struct Shard {
    /// Its name: the bundle's, and a hash of what is in it.
    pub name: String,
    /// Its manifest.
    pub manifest: Stretch,
    /// How many bytes the manifest has.
    pub size: u64,
}

/// ConfigMaps that hold a bundle.
pub struct ConfigMaps {
    /// The ConfigMaps, in the order of the files.
    pub shards: Vec<Shard>,
    /// Files that fit into none.
    pub findings: Vec<Finding>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Manifest<'a> {
    api_version: &'a str,
    kind: &'a str,
    metadata: Metadata<'a>,
    immutable: bool,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    data: &'a BTreeMap<String, String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    binary_data: &'a BTreeMap<String, String>,
}

#[derive(Serialize)]
struct Metadata<'a> {
    name: &'a str,
    namespace: &'a str,
}

/// A plain bundle's manifests in ConfigMaps of a namespace. Few files are held at a time.
///
/// # Errors
/// A file cannot be read; there is no room.
pub fn config_maps(bundle: &Bundle, name: &str, namespace: &str) -> io::Result<ConfigMaps> {
    let mut made = ConfigMaps {
        shards: Vec::new(),
        findings: Vec::new(),
    };
    let mut spooling = Spooling::new();
    let mut places = Vec::new();
    let mut open = Open::default();
    for file in bundle.files() {
        let key = file
            .path
            .strip_prefix(MANIFESTS)
            .unwrap_or(&file.path)
            .trim_start_matches('/');
        if let Some(fault) = fault(file, key) {
            made.findings.push(fault);
            continue;
        }
        let mut bytes = Vec::new();
        file.content.open()?.read_to_end(&mut bytes)?;
        let value = match String::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(error) => Err(BASE64.encode(error.as_bytes())),
        };
        let size = key.len() + value.as_ref().map_or_else(String::len, String::len);
        if size > MOST {
            made.findings.push(too_large(file, size));
            continue;
        }
        if open.size + size > MOST {
            places.push(std::mem::take(&mut open).close(name, namespace, &mut spooling)?);
        }
        open.add(key, value, size);
    }
    if open.size > 0 {
        places.push(open.close(name, namespace, &mut spooling)?);
    }
    let spool = spooling.finish();
    let shards = places.into_iter().map(|(name, start, size)| Shard {
        name,
        manifest: spool.stretch(start, size),
        size,
    });
    made.shards = shards.collect();
    Ok(made)
}

/// A ConfigMap that is being filled.
#[derive(Default)]
struct Open {
    data: BTreeMap<String, String>,
    binary_data: BTreeMap<String, String>,
    size: usize,
}

impl Open {
    fn add(&mut self, key: &str, value: Result<String, String>, size: usize) {
        self.size += size;
        match value {
            Ok(text) => self.data.insert(key.to_owned(), text),
            Err(coded) => self.binary_data.insert(key.to_owned(), coded),
        };
    }

    /// Its name, and where its manifest lies in the spool.
    fn close(
        self,
        name: &str,
        namespace: &str,
        spooling: &mut Spooling,
    ) -> io::Result<(String, u64, u64)> {
        let mut hash = Sha256::new();
        for (key, value) in self.data.iter().chain(&self.binary_data) {
            for part in [key, value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        let hash: String = hash
            .finalize()
            .iter()
            .take(6)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let name = format!("{name}-{hash}");
        let text = yaml::emit_data(&Manifest {
            api_version: "v1",
            kind: "ConfigMap",
            metadata: Metadata {
                name: &name,
                namespace,
            },
            immutable: true,
            data: &self.data,
            binary_data: &self.binary_data,
        });
        let start = spooling.length();
        spooling.write_all(text.map_err(io::Error::other)?.as_bytes())?;
        Ok((name, start, spooling.length() - start))
    }
}

/// A name that no ConfigMap has as a key (validation.IsConfigMapKey), or a file that is too large whatever it is.
fn fault(file: &File, key: &str) -> Option<Finding> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if file.size > MOST as u64 {
        return Some(too_large(file, file.size as usize));
    }
    let is_key = (1..=253).contains(&key.len()) && key.bytes().all(is_plain);
    (!is_key).then(|| {
        let message = format!("`{key}` cannot be a ConfigMap's key");
        Finding::new("bundle-layout", message)
            .at(spot(file), "")
            .help("use letters, digits, `-`, `_` and `.`, or pack with `--order numbered`")
    })
}

fn too_large(file: &File, size: usize) -> Finding {
    let message = format!(
        "`{}` has {size} bytes, and a ConfigMap holds at most {MOST} of them",
        file.path
    );
    Finding::new("object-too-large", message)
        .at(spot(file), "")
        .help("pack with `--order numbered`, which makes a file of each object")
}

fn spot(file: &File) -> Option<Spot> {
    Some(Spot {
        source: Arc::new(Source::new(Arc::clone(&file.from), "")),
        start: 0,
        end: 0,
    })
}

/// The plain bundle that ConfigMaps hold, and what is wrong with them. Their texts are read one by one.
///
/// # Errors
/// A file cannot be read; there is no room.
pub fn of_config_maps(files: &[File]) -> io::Result<(Bundle, Vec<Finding>)> {
    let mut reading = Reading::default();
    for file in files {
        let mut text = String::new();
        let read = file
            .content
            .open()?
            .take(64 << 20)
            .read_to_string(&mut text);
        if read.is_err() {
            let message = format!("`{}` is not text", file.from);
            reading
                .findings
                .push(Finding::new("yaml-syntax", message).at(spot(file), ""));
            continue;
        }
        let source = Arc::new(Source::new(Arc::clone(&file.from), text));
        match yaml::read(&source.text, FileId(0), Engine::Kubectl) {
            Ok(read) => {
                for node in &read.documents {
                    reading.document(&source, node)?;
                }
            }
            Err(error) => {
                let spot = at(&source, error.place.start, error.place.end);
                reading
                    .findings
                    .push(Finding::new("yaml-syntax", error.message).at(spot, ""));
            }
        }
    }
    Ok(reading.finish())
}

#[derive(Default)]
struct Reading {
    spooling: Spooling,
    places: Vec<(String, Arc<str>, u64, u64)>,
    known: BTreeSet<String>,
    findings: Vec<Finding>,
}

impl Reading {
    fn document(&mut self, source: &Arc<Source>, node: &Node) -> io::Result<()> {
        let text = |path: &[&str]| node.at(path).and_then(|node| node.value.as_str()).cloned();
        if text(&["kind"]).as_deref() != Some("ConfigMap") {
            return Ok(());
        }
        let name = text(&["metadata", "name"]).unwrap_or_default();
        let immutable = node.at(&["immutable"]).map(|node| &node.value);
        if !matches!(immutable, Some(Value::Bool(true))) {
            let message = format!("ConfigMap `{name}` is not immutable, and a bundle's are");
            let spot = at(source, node.place.start, node.place.start);
            let finding = Finding::new("bundle-layout", message).at(spot, "");
            self.findings.push(finding.help("write `immutable: true`"));
        }
        for field in ["data", "binaryData"] {
            let entries = node.at(&[field]).and_then(|node| node.value.as_map());
            for entry in entries.into_iter().flat_map(|map| map.iter()) {
                let place = entry.node.place;
                let value = entry.node.value.as_str();
                let bytes = match (value, field) {
                    (Some(text), "data") => Some(text.as_bytes().to_vec()),
                    (Some(text), _) => BASE64.decode(text.as_bytes()).ok(),
                    (None, _) => None,
                };
                self.entry(source, &entry.key, bytes, (place.start, place.end))?;
            }
        }
        Ok(())
    }

    fn entry(
        &mut self,
        source: &Arc<Source>,
        key: &str,
        bytes: Option<Vec<u8>>,
        (start, end): (u32, u32),
    ) -> io::Result<()> {
        let spot = at(source, start, end.min(start + 1));
        let Some(bytes) = bytes else {
            let message = format!("`{key}` is no text of a ConfigMap");
            self.findings
                .push(Finding::new("manifest-invalid", message).at(spot, ""));
            return Ok(());
        };
        if !self.known.insert(key.to_owned()) {
            let message = format!("the file `{key}` stands in two ConfigMaps");
            self.findings
                .push(Finding::new("bundle-layout", message).at(spot, ""));
            return Ok(());
        }
        if crate::model::output_path::fault(key).is_some() || key.contains('/') {
            let message = format!("`{key}` is no name of a file");
            self.findings
                .push(Finding::new("bundle-layout", message).at(spot, ""));
            return Ok(());
        }
        let at = self.spooling.length();
        self.spooling.write_all(&bytes)?;
        let size = self.spooling.length() - at;
        self.places
            .push((key.to_owned(), Arc::clone(&source.path), at, size));
        Ok(())
    }

    fn finish(self) -> (Bundle, Vec<Finding>) {
        let spool = self.spooling.finish();
        let files = self
            .places
            .into_iter()
            .map(|(key, from, start, size)| File {
                path: format!("{MANIFESTS}/{key}").into(),
                from: format!("{from}:{key}").into(),
                is_executable: false,
                size,
                content: Arc::new(spool.stretch(start, size)),
            });
        (
            Bundle::of_files(Kind::Plain, files.collect()),
            self.findings,
        )
    }
}

fn at(source: &Arc<Source>, start: u32, end: u32) -> Option<Spot> {
    Some(Spot {
        source: Arc::clone(source),
        start,
        end,
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{MOST, config_maps, of_config_maps};
    use crate::bundle::{Bundle, File, Kind};

    fn bundle(files: &[(&str, Vec<u8>)]) -> Bundle {
        let files = files
            .iter()
            .map(|(path, bytes)| File::text(*path, bytes.clone()));
        Bundle::new(Kind::Plain, files.collect()).expect("unique")
    }

    #[test]
    fn what_is_sharded_is_read_back_whole() {
        let bundle = bundle(&[
            ("manifests/a.yaml", b"a: 1\n  # odd \n\n".to_vec()),
            ("manifests/b.yaml", vec![b'x'; MOST - 10]),
            ("manifests/c", vec![0xff, 0x00]),
        ]);
        let made = config_maps(&bundle, "app", "rukpak-system").expect("memory");
        assert!(made.findings.is_empty());
        assert_eq!(made.shards.len(), 3);
        let again = config_maps(&bundle, "app", "rukpak-system").expect("memory");
        assert_eq!(again.shards[0].name, made.shards[0].name);
        let manifest = |shard: &super::Shard| File {
            size: shard.size,
            content: std::sync::Arc::new(shard.manifest.clone()),
            ..File::text(format!("{}.yaml", shard.name), Vec::new())
        };
        let files: Vec<File> = made.shards.iter().map(manifest).collect();
        let (back, findings) = of_config_maps(&files).expect("memory");
        assert!(findings.is_empty());
        let bytes = |file: &File| {
            let mut bytes = Vec::new();
            file.content
                .open()
                .expect("kept")
                .read_to_end(&mut bytes)
                .expect("kept");
            bytes
        };
        for (before, after) in bundle.files().iter().zip(back.files()) {
            assert_eq!((&before.path, bytes(before)), (&after.path, bytes(after)));
        }
    }

    #[test]
    fn a_file_that_fits_into_none_is_a_finding() {
        let large = bundle(&[
            ("manifests/a b", Vec::new()),
            ("manifests/c", vec![b'x'; MOST]),
        ]);
        let made = config_maps(&large, "app", "n").expect("memory");
        let rules: Vec<&str> = made.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, ["bundle-layout", "object-too-large"]);
    }

    #[test]
    fn ambiguous_and_mutable_config_maps_are_findings() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n---\napiVersion: v1\n\
                    kind: ConfigMap\nimmutable: true\nmetadata: {name: b}\ndata: {x: '2'}\nbinaryData: {y: '*'}\n";
        let (bundle, findings) =
            of_config_maps(&[File::text("a.yaml", text.as_bytes().to_vec())]).expect("memory");
        let rules: Vec<&str> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(
            rules,
            ["bundle-layout", "bundle-layout", "manifest-invalid"]
        );
        assert_eq!(bundle.files().len(), 1);
    }
}
