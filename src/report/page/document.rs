//! The HTML document: a policy that lets nothing in, the style, the data, the script.
//!
//! `default-src 'none'` forbids every request; the style and the script are allowed by their SHA-256 alone, so that text of a
//! repository could not run even if it became markup. The data is JSON in an element that no browser runs.

use std::io;

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::printer::{Printer, Safe};
use yaml_tree::bytes::BASE64;

const SHELL: &str = include_str!("../../../templates/page/page.html");
const STYLE: &str = include_str!("../../../templates/page/page.css");

/// One script, whose files share a scope.
const SCRIPT: &[&str] = &[
    "\"use strict\";\n(() => {\n",
    include_str!("../../../templates/page/data.js"),
    include_str!("../../../templates/page/dom.js"),
    include_str!("../../../templates/page/state.js"),
    include_str!("../../../templates/page/overview.js"),
    include_str!("../../../templates/page/map.js"),
    include_str!("../../../templates/page/table.js"),
    include_str!("../../../templates/page/fields.js"),
    include_str!("../../../templates/page/fleet.js"),
    include_str!("../../../templates/page/why.js"),
    include_str!("../../../templates/page/cluster.js"),
    include_str!("../../../templates/page/images.js"),
    include_str!("../../../templates/page/findings.js"),
    include_str!("../../../templates/page/change.js"),
    include_str!("../../../templates/page/plan.js"),
    include_str!("../../../templates/page/main.js"),
    "})();\n",
];

/// Prints the document. `title` and `summary` are shown without the script as well.
pub(super) fn print(
    data: &impl Serialize,
    (title, summary): (&str, &str),
    out: &mut Printer,
) -> io::Result<()> {
    let mut rest = SHELL;
    while let Some((before, behind)) = rest.split_once("[[") {
        let (hole, behind) = behind.split_once("]]").unwrap_or((behind, ""));
        out.markup(&before.into())?;
        match hole {
            "policy" => out.markup(&policy())?,
            "title" => out.markup(&Safe::xml(title))?,
            "summary" => out.markup(&Safe::xml(summary))?,
            "style" => out.markup(&STYLE.into())?,
            "data" => out.embed_json(data)?,
            _ => {
                for part in SCRIPT {
                    out.markup(&(*part).into())?;
                }
            }
        }
        rest = behind;
    }
    out.markup(&rest.into())
}

/// What the page may load: its own style and script, and its own icon.
fn policy() -> Safe {
    let style = hash(&[STYLE]);
    let script = hash(SCRIPT);
    Safe::xml(&format!(
        "default-src 'none'; style-src {style}; script-src {script}; img-src data:; base-uri 'none'; form-action 'none'"
    ))
}

fn hash(parts: &[&str]) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update(part);
    }
    format!("'sha256-{}'", BASE64.encode(&hasher.finalize()))
}
