//! One test binary; each module says what it proves.

mod oracle;
mod oracle_layers;
mod oracle_scalars;
mod schemas;
mod support;
mod targets;
mod write;
