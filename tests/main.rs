//! One test binary; each module says what it proves.

mod layers;
mod gotemplate;
mod helm;
mod oracle;
mod oracle_expressions;
mod oracle_layers;
mod oracle_scalars;
mod programs;
mod yaml_emit;
mod yaml_inside;
mod yaml_read;
mod rules;
mod schemas;
mod support;
mod targets;
mod write;
mod oracle_typed;
