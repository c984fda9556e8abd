//! What hostile input must not do: one function a kind of input, given any bytes. It panics where a law is broken.
//!
//! `main.rs` hands them what libFuzzer makes up; `tests/hostile.rs` of the main crate hands them the same seeds, and
//! what becomes of those by chance, on a stable toolchain.

mod archives;
mod cmp;
pub mod edits;
mod expressions;
mod krm;
mod lock;
mod manifests;
mod memory;
mod names;
mod oci;
mod pipeline;
mod project;
mod regexps;
mod registry;
mod repositories;
mod scene;
mod schemas;
mod selectors;
mod signatures;
mod values;
mod workspaces;

/// A kind of input.
pub struct Target {
    /// The name of its folder in `seeds/`.
    pub name: &'static str,
    /// Reads the bytes as that kind of input. Whether something was made of them: they were not just refused.
    ///
    /// # Panics
    /// A law is broken.
    pub run: fn(&[u8]) -> bool,
}

/// Every kind of input, by name.
pub const TARGETS: &[Target] = &[
    target("archives", archives::run),
    target("cmp", cmp::run),
    target("edits", edits::run),
    target("expressions", expressions::run),
    target("krm", krm::run),
    target("lock", lock::run),
    target("manifests", manifests::run),
    target("names", names::run),
    target("oci", oci::run),
    target("project", project::run),
    target("regexps", regexps::run),
    target("registry", registry::run),
    target("repositories", repositories::run),
    target("schemas", schemas::run),
    target("selectors", selectors::run),
    target("signatures", signatures::run),
    target("values", values::run),
    target("workspaces", workspaces::run),
];

const fn target(name: &'static str, run: fn(&[u8]) -> bool) -> Target {
    Target { name, run }
}

/// Runs the target of that name.
///
/// # Panics
/// There is none, or a law is broken.
pub fn run(name: &str, data: &[u8]) {
    takes(name, data);
}

/// Runs the target of that name. Whether it made something of the bytes.
///
/// # Panics
/// There is none, or a law is broken.
pub fn takes(name: &str, data: &[u8]) -> bool {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target").run)(data)
}
