//! An archive: `Z` and its bytes as they come, or `T` and a tar stream whose sums are set right, or `L` and several of them
//! that lie over each other, with a line `===` between two. What is taken stays in its folder, and packs into the same again.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path};

use oci_artifacts::archive::{self, Layers, Limits, Member, Tree, Whiteouts};

use super::memory::find;

pub(super) fn run(data: &[u8]) -> bool {
    let Some((how, data)) = data.split_first() else {
        return false;
    };
    let limits = limits();
    let tree = match how {
        b'T' => archive::read(&*summed(data), limits).ok(),
        b'L' => layers(data),
        _ => archive::read(data, limits).ok(),
    };
    let Some(tree) = tree else { return false };
    let total: u64 = tree.files.values().map(|file| file.size).sum();
    assert!(total <= self::limits().unpacked, "{total} bytes");
    assert!(tree.files.len() + tree.folders.len() <= 4 * self::limits().names);
    for path in tree.files.keys().chain(&tree.folders) {
        let inside = Path::new(path)
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        assert!(inside && !path.contains('\\'), "{path:?} leaves the folder");
    }
    packed_again(&tree);
    true
}

/// Less than a real archive may ask for, so that many are tried.
fn limits() -> Limits {
    Limits {
        packed: 1 << 20,
        unpacked: 4 << 20,
        file: 2 << 20,
        entries: 1000,
        names: 64 << 10,
        ratio_from: 1 << 20,
        ..Limits::default()
    }
}

fn layers(mut data: &[u8]) -> Option<Tree> {
    let mut layers = Layers::new(limits(), Whiteouts::Hide);
    while let Some(end) = find(data, b"\n===\n") {
        layers.add(&*summed(&data[..end]), &|_| ()).ok()?;
        data = &data[end + 5..];
    }
    layers.add(&*summed(data), &|_| ()).ok()?;
    Some(layers.finish())
}

/// The stream with every header's sum set right: no chance would find it.
fn summed(data: &[u8]) -> Vec<u8> {
    let mut data = data.to_vec();
    let mut at = 0;
    while let Some(block) = data.get_mut(at..at + 512) {
        if block.iter().all(|byte| *byte == 0) {
            break;
        }
        block[148..156].fill(b' ');
        let sum: u32 = block.iter().map(|byte| u32::from(*byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        let size = String::from_utf8_lossy(&block[124..135]).into_owned();
        let size = usize::from_str_radix(size.trim_matches(['\0', ' ']), 8).unwrap_or(0);
        at = size
            .checked_next_multiple_of(512)
            .and_then(|size| at.checked_add(512)?.checked_add(size))
            .unwrap_or(usize::MAX - 512);
    }
    data
}

fn packed_again(tree: &Tree) {
    let bytes = |tree: &Tree| -> BTreeMap<String, (bool, Vec<u8>)> {
        let files = tree.files.iter().map(|(path, file)| {
            let mut bytes = Vec::new();
            let mut content = oci_artifacts::Body::open(&file.content).expect("it was kept");
            content.read_to_end(&mut bytes).expect("it was kept");
            assert_eq!(bytes.len() as u64, file.size);
            (path.clone(), (file.mode.is_executable(), bytes))
        });
        files.collect()
    };
    let members = tree.files.iter().map(|(path, file)| Member {
        path,
        is_executable: file.mode.is_executable(),
        size: file.size,
        content: &file.content,
    });
    let Ok(packed) = archive::pack(members.collect(), &|_| ()) else {
        return;
    };
    let content = packed.content.open().expect("it was kept");
    let again = archive::read(content, Limits::default()).expect("what was packed is read");
    assert_eq!(bytes(tree), bytes(&again));
}
