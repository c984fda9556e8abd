//! One test binary; each module says what it proves.

mod evaluate;
mod gotemplate;
mod helm;
mod layers;
mod oracle;
mod oracle_expressions;
mod oracle_layers;
mod oracle_scalars;
mod oracle_typed;
mod programs;
mod rules;
mod schemas;
mod support;
mod sylva_core;
mod targets;
mod write;
mod yaml_emit;
mod yaml_inside;
mod yaml_read;
