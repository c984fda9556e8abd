//! Plain bundles in ConfigMaps: immutable, named by their content, each small enough for the cluster.
//!
//! Source: operator-framework/rukpak, pkg/source/configmaps.go: `data` and `binaryData` become files verbatim, a path that
//! is in two ConfigMaps is an error, and each must be immutable.

mod read;

use std::collections::BTreeMap;
use std::io::{self, Read, Write};

use data_encoding::HEXLOWER;
use oci_artifacts::archive::{Spooling, Stretch};
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use yaml_tree::bytes::BASE64;

use super::{Bundle, File, MANIFESTS, plain};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

pub use read::read_config_maps;

/// How many bytes of data go into one: Kubernetes takes 1 MiB, and names and labels need some room.
const MOST: usize = (1 << 20) - (16 << 10);

/// The annotation of a ConfigMap that says which part of a bundle it holds, and of how many: `2/3`. RukPak knows none; there the
/// BundleDeployment names all of them.
const PART: &str = "dev.metalmark.bundle.part";

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
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    annotations: BTreeMap<&'static str, String>,
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
    // Each says how many there are, so that none is written before all files are divided.
    let mut parts: Vec<Vec<&File>> = Vec::new();
    let mut room = 0;
    for file in bundle.files() {
        if let Some(fault) = fault(file)? {
            made.findings.push(fault);
            continue;
        }
        let size = key(file).len() + value(file)?.as_ref().map_or_else(String::len, String::len);
        if size > MOST {
            made.findings.push(too_large(file, size)?);
            continue;
        }
        match parts.last_mut() {
            Some(part) if size <= room => part.push(file),
            _ => {
                room = MOST;
                parts.push(vec![file]);
            }
        }
        room -= size;
    }
    let mut spooling = Spooling::new();
    let mut places = Vec::new();
    for (number, files) in parts.iter().enumerate() {
        let mut open = Open::default();
        for file in files {
            open.add(key(file), value(file)?);
        }
        let part = (parts.len() > 1).then(|| format!("{}/{}", number + 1, parts.len()));
        places.push(open.close(name, namespace, part, &mut spooling)?);
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

/// What a ConfigMap calls a file.
fn key(file: &File) -> &str {
    let key = file.path.strip_prefix(MANIFESTS).unwrap_or(&file.path);
    key.trim_start_matches('/')
}

/// A file's text; for a binary file, its bytes as ConfigMaps encode them.
fn value(file: &File) -> io::Result<Result<String, String>> {
    let mut bytes = Vec::new();
    file.content.open()?.read_to_end(&mut bytes)?;
    Ok(String::from_utf8(bytes).map_err(|error| BASE64.encode(error.as_bytes())))
}

/// A ConfigMap that is being filled.
#[derive(Default)]
struct Open {
    data: BTreeMap<String, String>,
    binary_data: BTreeMap<String, String>,
}

impl Open {
    fn add(&mut self, key: &str, value: Result<String, String>) {
        match value {
            Ok(text) => self.data.insert(key.to_owned(), text),
            Err(coded) => self.binary_data.insert(key.to_owned(), coded),
        };
    }

    /// Its name, and the range of its manifest in the spool.
    fn close(
        self,
        name: &str,
        namespace: &str,
        part: Option<String>,
        spooling: &mut Spooling,
    ) -> io::Result<(String, u64, u64)> {
        let mut hash = Sha256::new();
        for (key, value) in self.data.iter().chain(&self.binary_data) {
            for part in [key, value] {
                hash.update((part.len() as u64).to_le_bytes());
                hash.update(part);
            }
        }
        let hash = HEXLOWER.encode(&hash.finalize()[..6]);
        let name = format!("{name}-{hash}");
        let text = yaml_tree::emit_data(&Manifest {
            api_version: "v1",
            kind: "ConfigMap",
            metadata: Metadata {
                annotations: part.map(|part| (PART, part)).into_iter().collect(),
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
fn fault(file: &File) -> io::Result<Option<Finding>> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    if file.size > MOST as u64 {
        return too_large(file, file.size as usize).map(Some);
    }
    let key = key(file);
    let is_key = (1..=253).contains(&key.len()) && key.bytes().all(is_plain);
    Ok((!is_key).then(|| {
        let message = format!("`{key}` cannot be a ConfigMap's key");
        Finding::new(RuleId::BundleLayout, message)
            .with_label(file.spot(), "")
            .help("use letters, digits, `-`, `_` and `.`, or pack with `--order numbered`")
    }))
}

fn too_large(file: &File, size: usize) -> io::Result<Finding> {
    let files = std::slice::from_ref(file);
    let objects = plain::index(files, &|_| {})?.objects;
    let fits = |file: &File| file.size <= MOST as u64;
    let is_divisible = objects.len() > 1 && plain::number_files(files, &objects)?.iter().all(fits);
    let message = format!(
        "`{}` has {size} bytes, and a ConfigMap holds at most {MOST} of them",
        file.path
    );
    let finding = Finding::new(RuleId::ObjectTooLarge, message).with_label(file.spot(), "");
    Ok(finding.help(if is_divisible {
        "pack with `--order numbered`, which makes a file of each object"
    } else {
        "an image takes it: pack to `oci-layout:DIR`, or `metalmark bundle push`"
    }))
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{MOST, config_maps, read_config_maps};
    use crate::bundle::{Bundle, BundleKind, File};
    use crate::model::rule::RuleId;

    fn bundle(files: &[(&str, Vec<u8>)]) -> Bundle {
        let files = files
            .iter()
            .map(|(path, bytes)| File::text(*path, bytes.clone()));
        Bundle::new(BundleKind::Plain, files.collect()).expect("unique")
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
        let (back, findings) = read_config_maps(&files).expect("memory");
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
        let rules: Vec<RuleId> = made.findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(rules, [RuleId::BundleLayout, RuleId::ObjectTooLarge]);
    }

    #[test]
    fn ambiguous_and_mutable_config_maps_are_findings() {
        let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {x: '1'}\n---\napiVersion: v1\n\
                    kind: ConfigMap\nimmutable: true\nmetadata: {name: b}\ndata: {x: '2'}\nbinaryData: {y: '*'}\n";
        let (bundle, findings) =
            read_config_maps(&[File::text("a.yaml", text.as_bytes().to_vec())]).expect("memory");
        let rules: Vec<RuleId> = findings.iter().map(|finding| finding.rule).collect();
        assert_eq!(
            rules,
            [
                RuleId::BundleLayout,
                RuleId::BundleLayout,
                RuleId::ManifestInvalid
            ]
        );
        assert_eq!(bundle.files().len(), 1);
    }
}
