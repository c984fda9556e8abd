//! One test binary; each module says what it proves.

mod gotemplate;
mod helm;
mod oracle;
mod oracle_expressions;
mod oracle_layers;
mod oracle_scalars;
mod oracle_typed;
