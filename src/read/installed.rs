//! What a bootstrap configuration does when a machine boots: the Kubernetes that it installs, by statements in its texts and by its
//! fields for a version, and what it names that some Kubernetes has no more.

use std::io::Read;
use std::ops::Range;
use std::sync::Arc;

use capi::removals::{Removal, find_uses};
use capi::systems::find_talos_release;
use flate2::read::MultiGzDecoder;
use yaml_tree::bytes::BASE64;
use yaml_tree::opaque::is_opaque;
use yaml_tree::place::{Located, Place};
use yaml_tree::value::{Node, Value};

use crate::files::FILE_LIMIT;
use crate::model::cluster::{Installed, UnreadBoot};
use crate::model::name::{InstalledVersion, find_installed as find_statements, is_version_key};

/// The place of a part of a string, by the string's node.
type Locate<'l> = dyn FnMut(&Node, Range<usize>) -> Option<Place> + 'l;

/// What the texts below a node install. The strings of secrets are labels, which say nothing. `version` is what a key `version`
/// there means: `k3s_version`.
pub(super) fn find_installed(
    root: &Node,
    version: &str,
    locate: &mut Locate<'_>,
) -> Vec<Installed> {
    let mut walk = Walk {
        locate,
        version,
        found: Vec::new(),
    };
    walk.node(root, "");
    walk.found
}

/// What is below a node of what machines do when they boot that is not read, so that it may install anything.
pub(super) fn find_unread(node: &Node, locate: &mut Locate<'_>) -> Vec<Located<UnreadBoot>> {
    let mut found = Vec::new();
    for entry in node.entries(&[]) {
        let value = &entry.node;
        let has = |key| value.get_path(&[key]).is_some();
        let is_text = value.value.as_str().is_some();
        let why = match &*entry.key {
            "dataSecretName" if is_text => Some(UnreadBoot::Secret),
            "userData" if has("name") => Some(UnreadBoot::Secret),
            "contentFrom" if has("secret") => Some(UnreadBoot::Secret),
            "contentFrom" if value.value.as_map().is_some() => Some(UnreadBoot::Object),
            "content" if value.value.as_str().is_some_and(|text| is_opaque(text)) => {
                Some(UnreadBoot::Secret)
            }
            "content" if matches!(decode(node), Some(None)) => Some(UnreadBoot::Encoded),
            _ => None,
        };
        found.extend(why.map(|why| {
            let place = locate(value, 0..usize::MAX);
            Located::new(why, place.unwrap_or(value.place))
        }));
    }
    for child in node.children() {
        found.append(&mut find_unread(child, locate));
    }
    found
}

/// The content of a file that is written with an encoding, as cloud-init and Cluster API decode it; within, none where that does
/// not succeed.
fn decode(file: &Node) -> Option<Option<String>> {
    let encoding = file.text(&["encoding"]).filter(|it| !it.is_empty())?;
    let content = file.text(&["content"])?;
    let decode = || {
        let bytes = BASE64.decode(content.as_bytes()).ok()?;
        let mut text = Vec::new();
        match encoding {
            "base64" => text = bytes,
            "gzip+base64" => {
                let mut plain = MultiGzDecoder::new(&*bytes).take(FILE_LIMIT + 1);
                plain.read_to_end(&mut text).ok()?;
            }
            _ => return None,
        }
        let is_whole = text.len() as u64 <= FILE_LIMIT;
        is_whole.then(|| String::from_utf8_lossy(&text).into_owned())
    };
    Some(decode())
}

/// What is below a node that some minor of Kubernetes has no more.
pub(super) fn find_removable(
    root: &Node,
    locate: &mut Locate<'_>,
) -> Vec<Located<&'static Removal>> {
    let uses = find_uses(root).into_iter();
    let located = uses.map(|it| {
        let range = it.range.unwrap_or(0..usize::MAX);
        let place = locate(it.node, range).unwrap_or(it.node.place);
        Located::new(it.removal, place)
    });
    located.collect()
}

/// The releases of Talos whose installers the texts below a node name
/// (<https://docs.siderolabs.com/talos/v1.12/reference/configuration/v1alpha1/config>, `machine.install.image`).
pub(super) fn find_talos_installers(
    node: &Node,
    locate: &mut Locate<'_>,
) -> Vec<Located<Arc<str>>> {
    let mut found = Vec::new();
    if let Value::String(text) = &node.value {
        for (at, _) in text.match_indices("installer") {
            let is_end = |c: char| c.is_whitespace() || matches!(c, '"' | '\'');
            let begin = text[..at].rfind(is_end).map_or(0, |end| end + 1);
            let end = text[at..].find(is_end).map_or(text.len(), |end| at + end);
            let word = &text[begin..end];
            let tag = word.rsplit_once(':').map_or("", |(_, tag)| tag);
            let is_talos = ["talos", "siderolabs"].iter().any(|it| word.contains(it));
            let release = find_talos_release(&format!("talos:{tag}")).map(Arc::from);
            if let Some(release) = release.filter(|_| is_talos) {
                let place = locate(node, begin..end);
                found.push(Located::new(release, place.unwrap_or(node.place)));
            }
        }
    }
    for child in node.children() {
        found.append(&mut find_talos_installers(child, locate));
    }
    found
}

struct Walk<'w, 'l> {
    version: &'w str,
    locate: &'w mut Locate<'l>,
    found: Vec<Installed>,
}

impl Walk<'_, '_> {
    fn node(&mut self, node: &Node, key: &str) {
        let key = if key == "version" { self.version } else { key };
        if let Value::String(text) = &node.value {
            let found = self.found.len();
            for statement in find_statements(text) {
                let place = (self.locate)(node, statement.range.clone());
                let said = &text[statement.range.clone()];
                self.add(statement, said, place);
            }
            if self.found.len() == found && is_version_key(key) {
                self.text(node, &format!("{key}: {text}"));
            }
        }
        if let Some(content) = node.get_path(&["content"])
            && let Some(Some(text)) = decode(node)
        {
            self.text(content, &text);
        }
        for entry in node.entries(&[]).filter(|entry| !is_other(&entry.key)) {
            self.node(&entry.node, &entry.key);
        }
        for item in node.items(&[]) {
            self.node(item, "");
        }
    }

    /// The statements of a text that is made of a node.
    fn text(&mut self, node: &Node, text: &str) {
        for statement in find_statements(text) {
            let place = (self.locate)(node, 0..usize::MAX);
            let said = &text[statement.range.clone()];
            self.add(statement, said, place);
        }
    }

    fn add(&mut self, statement: InstalledVersion, said: &str, place: Option<Place>) {
        let said: Arc<str> = said.split_whitespace().collect::<Vec<_>>().join(" ").into();
        self.found.push(Installed {
            text: Located::new(said, place.unwrap_or(Place::NONE)),
            version: statement.version,
            means: statement.means,
        });
    }
}

/// Whether a key of an object says nothing of its machines.
fn is_other(key: &str) -> bool {
    ["metadata", "status"].contains(&key)
}
