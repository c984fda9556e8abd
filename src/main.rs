//! argv → exit code.

fn main() {}
