//! One test binary; each module says what it proves.

mod write;
mod oracle;
mod oracle_layers;
mod oracle_scalars;
mod schemas;
mod support;
mod targets;
