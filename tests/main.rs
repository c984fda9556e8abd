//! One test binary; each module says what it proves.

mod architecture;
mod charts;
mod cli;
mod compose;
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
mod readme;
mod rules;
mod schemas;
mod support;
mod sylva_core;
mod targets;
mod values;
mod workspaces;
mod write;
mod yaml_emit;
mod yaml_inside;
mod yaml_read;
