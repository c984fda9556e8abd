//! Every cluster's catalogue, and the keys that its images are signed with.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::commands::fleet::{self, Tools};
use crate::error::Error;
use crate::locking::{Asks, Signing, add, asks_of};
use crate::model::finding::{Finding, Subject};
use crate::model::image::Image;
use crate::model::place::{Located, Sources};
use crate::read::{self, ClusterEntry, Workspace};
use crate::signature::PublicKey;

/// What clusters ask for, and what is wrong with the values that say it.
type Asked = (Asks, Vec<Finding>);

/// Keys as they were read, each text once.
type Keys = Mutex<BTreeMap<Arc<str>, Result<PublicKey, String>>>;

/// Reads every cluster. What the first cluster says of a reference is shown, whichever thread is the first.
pub(in crate::commands) fn asks(workspace: &Workspace, tools: &Tools) -> Result<Asked, Error> {
    let keys = Keys::default();
    let one = |entry: &ClusterEntry| of_cluster(workspace, tools, entry, &keys);
    let join = |mut left: Asked, right: Asked| {
        for ask in right.0.into_values() {
            add(&mut left.0, ask);
        }
        left.1.extend(right.1);
        left
    };
    workspace
        .clusters
        .par_iter()
        .map(one)
        .try_reduce(Asked::default, |left, right| Ok(join(left, right)))
}

fn of_cluster(
    workspace: &Workspace,
    tools: &Tools,
    entry: &ClusterEntry,
    known: &Keys,
) -> Result<Asked, Error> {
    let view = fleet::view(workspace, tools, entry)?;
    let registries: BTreeSet<Arc<str>> = view
        .images
        .values()
        .filter_map(|image| image.registry.clone())
        .collect();
    let read = read::signing_keys(workspace, entry, tools.templates(), &registries)?;
    let mut findings = view.findings.clone();
    findings.extend(read.findings);
    let mut unusable = Vec::new();
    let signing = |image: &Image| {
        let Some(named) = read.keys.of(image) else {
            return Signing::Unasked;
        };
        match public_key(&workspace.settings.root, &named.value, known) {
            Ok(key) => Signing::By(key),
            Err(reason) => {
                let sources = if image.built {
                    &read.sources
                } else {
                    &view.sources
                };
                unusable.push(unusable_key(image, &named, &reason, sources));
                Signing::Unusable
            }
        }
    };
    let mut asks = Asks::new();
    for ask in asks_of(&view, signing) {
        add(&mut asks, ask);
    }
    findings.extend(unusable);
    Ok((asks, findings))
}

fn public_key(root: &Path, text: &Arc<str>, known: &Keys) -> Result<PublicKey, String> {
    let lock = || known.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = lock().get(text) {
        return known.clone();
    }
    let read = read::key_text(root, text)
        .and_then(|pem| PublicKey::read(&pem).map_err(|error| error.to_string()));
    lock().insert(Arc::clone(text), read.clone());
    read
}

/// At the key's place, once for all images that share it.
fn unusable_key(
    image: &Image,
    named: &Located<Arc<str>>,
    reason: &str,
    sources: &Sources,
) -> Finding {
    let of = image.registry.as_ref().filter(|_| image.built);
    let of = of.map_or(format!("image `{}`", image.key), |name| {
        format!("registry `{name}`")
    });
    let message = format!("the key that images of {of} are signed with cannot be used: {reason}");
    Finding::new("signature-invalid", message)
        .about(Subject::default())
        .at(sources.resolve(named.place), "")
        .help("write the PEM text that `cosign generate-key-pair` left in cosign.pub, or the path of that file")
}
