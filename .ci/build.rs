//! Names the build by what it is built from: a cache that another build wrote is not used.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::Path;

/// What the program is built from, beside the compiler.
const PARTS: [&str; 4] = ["Cargo.lock", "Cargo.toml", "src", "templates"];

fn main() -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for part in PARTS {
        println!("cargo:rerun-if-changed={part}");
        add(Path::new(part), &mut hasher)?;
    }
    println!("cargo:rustc-env=METALMARK_BUILD={:016x}", hasher.finish());
    Ok(())
}

/// Adds a file, or all files of a folder. Whoever depends on the library has a lock of their own.
fn add(path: &Path, hasher: &mut DefaultHasher) -> io::Result<()> {
    if !path.is_dir() {
        path.hash(hasher);
        fs::read(path).unwrap_or_default().hash(hasher);
        return Ok(());
    }
    let entries = fs::read_dir(path)?.collect::<io::Result<Vec<_>>>()?;
    let mut inside: Vec<_> = entries.into_iter().map(|entry| entry.path()).collect();
    inside.sort();
    inside.iter().try_for_each(|path| add(path, hasher))
}
