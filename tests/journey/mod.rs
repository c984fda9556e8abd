//! The whole way of an operator: `init`, facts, `render`, a changed selection, `update` and `render` again. At each step the
//! image that the chart receives is the one that metalmark reported.
//!
//! `fixtures/journey` is a reduced copy of the structure of Sylva's repository, written for these tests: `reduced` follows the
//! journey in it, and compares with a real Helm where one is found. `upstream` does the same in a checkout of sylva-core.
//! `overlays` and `update` are its single steps, with what went wrong in each.

mod checkout;
mod environments;
mod facts;
mod helm;
mod overlays;
mod project;
mod reduced;
mod update;
mod upstream;
