//! Writes one object per file, with numbered names in Helm's order of kinds, for tools that apply files by name.

use std::io::{self, Write};
use std::sync::Arc;

use super::{File, MANIFESTS, text};
use capi::objects::bundled::{Bundled, rank};
use oci_artifacts::archive::Spooling;
use yaml_tree::edit::node_at;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

/// The longest part of a name that is kept in a file's.
const LONGEST: usize = 120;

/// A file for each object, in Helm's order of kinds; objects of one kind stay in the order that they had. An object alone in its
/// document keeps its very text.
///
/// # Errors
/// A file cannot be read; there is no room.
pub fn number_files(files: &[File], objects: &[Bundled]) -> io::Result<Vec<File>> {
    let mut spooling = Spooling::new();
    // The range of each object's text in the spool.
    let mut places = Vec::with_capacity(objects.len());
    let mut start = 0;
    while start < objects.len() {
        let file = objects[start].file;
        let end = start + objects[start..].partition_point(|object| object.file == file);
        let Ok(text) = text(&files[file])? else {
            return Err(io::Error::other("a file changed while it was read"));
        };
        for together in objects[start..end].chunk_by(|a, b| a.document == b.document) {
            for text in texts(&text, together) {
                let at = spooling.length();
                spooling.write_all(text.as_bytes())?;
                places.push((at, spooling.length() - at));
            }
        }
        start = end;
    }
    let spool = spooling.finish();
    let mut order: Vec<usize> = (0..objects.len()).collect();
    order.sort_by_key(|index| rank(&objects[*index].kind));
    let width = objects.len().to_string().len().max(3);
    let file = |(number, index): (usize, usize)| {
        let (start, size) = places[index];
        File {
            path: name(number + 1, width, &objects[index]).into(),
            from: Arc::clone(&files[objects[index].file].from),
            is_executable: false,
            size,
            content: Arc::new(spool.stretch(start, size)),
        }
    };
    Ok(order.into_iter().enumerate().map(file).collect())
}

/// `manifests/012-deployment-web.yaml`.
fn name(number: usize, width: usize, object: &Bundled) -> String {
    let plain = |text: &str| -> String {
        let legal = |letter: char| match letter.to_ascii_lowercase() {
            letter if letter.is_ascii_alphanumeric() || letter == '.' => letter,
            _ => '-',
        };
        text.chars().take(LONGEST).map(legal).collect()
    };
    let (kind, name) = (plain(&object.kind), plain(&object.name));
    format!("{MANIFESTS}/{number:0width$}-{kind}-{name}.yaml")
}

/// The texts of the objects of one document: the document's own where there is one object, else each object's tree.
fn texts(text: &str, together: &[Bundled]) -> Vec<String> {
    let own = &text[together[0].document.clone()];
    if let [object] = together
        && object.steps.is_empty()
    {
        let end = if own.ends_with('\n') { "" } else { "\n" };
        return vec![format!("{own}{end}")];
    }
    let read = yaml_tree::read(own, FileId(0), Engine::Kubectl);
    let documents = read.map(|read| read.documents).unwrap_or_default();
    let emitted = |object: &Bundled| {
        let node = documents.get(object.number);
        let node = node.and_then(|node| node_at(node, &object.steps));
        node.map_or_else(String::new, |node| yaml_tree::emit(&node.value))
    };
    together.iter().map(emitted).collect()
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::super::{File, index};
    use super::number_files;

    #[test]
    fn each_object_is_a_file_in_helms_order() {
        let text = "# of the app\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web}\n---\napiVersion: v1\n\
                    kind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: shop}}\n\
                    - {apiVersion: x.y/v1, kind: Ape, metadata: {name: 'sys:a'}}\n";
        let files = [File::text("all.yaml", text.as_bytes().to_vec())];
        let found = index(&files, &|_| {}).expect("memory");
        let files = number_files(&files, &found.objects).expect("memory");
        let texts: Vec<(&str, String)> = files
            .iter()
            .map(|file| {
                let mut text = String::new();
                let mut reader = file.content.open().expect("kept");
                reader.read_to_string(&mut text).expect("text");
                (&*file.path, text)
            })
            .collect();
        let namespace = "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: shop\n";
        assert_eq!(
            texts[0],
            ("manifests/001-namespace-shop.yaml", namespace.to_owned())
        );
        assert_eq!(texts[1].0, "manifests/002-deployment-web.yaml");
        assert!(texts[1].1.starts_with("# of the app\n"));
        assert_eq!(texts[2].0, "manifests/003-ape-sys-a.yaml");
    }
}
