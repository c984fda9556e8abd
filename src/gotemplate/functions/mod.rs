//! The functions that Helm adds to Go's own: Sprig's and Helm's, by family.
//!
//! Their results are Go's, quirks included. What takes memory is charged to the evaluation's budget before it is made.

#[cfg(test)]
mod answers;
mod constraint;
mod convert;
mod decimal;
mod defaults;
mod dicts;
mod encoding;
mod json;
mod json_text;
mod lists;
mod math;
mod merge;
mod paths;
mod regex;
mod semver;
mod spelling;
mod strings;
mod types;
mod url;
mod url_text;
mod version;
mod words;
mod yaml;

use super::function::Function;

/// Every family's table.
pub(super) const TABLES: &[&[Function]] = &[
    defaults::TABLE,
    dicts::TABLE,
    encoding::TABLE,
    json::TABLE,
    lists::TABLE,
    math::TABLE,
    merge::TABLE,
    paths::TABLE,
    regex::TABLE,
    semver::TABLE,
    strings::TABLE,
    types::TABLE,
    url::TABLE,
    words::TABLE,
    yaml::TABLE,
];
