//! YAML text.

pub mod emit;
