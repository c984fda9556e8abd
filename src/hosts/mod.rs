//! Programs that run metalmark: Argo CD through its plugin interface, kustomize and kpt through KRM functions.

pub mod cmp;
mod krm;

pub use krm::{function, function_folder, read_list};
