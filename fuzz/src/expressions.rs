//! An expression of values: it ends, within its limits, in a text or in an error with a place in it.

use std::sync::OnceLock;

use go_template::{Budget, Limits, NoHost, convert, execute, parse};
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;
use yaml_tree::value::Node;

/// What the expressions look at.
const VALUES: &str = "
Values:
  a: 1
  name: edge-paris
  version: v1.31.8+rke2r1
  list: [c, a, b, 3, {k: v}]
  map: {x: 1, y: {z: [true, null, 1.5]}}
  empty: {}
  text: |
    two
    lines
  json: '{\"a\": [1, 2.5, \"x\"]}'
  url: oci://r.example/a/b:1
Release: {Name: sylva, Namespace: default}
";

pub(super) fn run(data: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(data) else {
        return false;
    };
    let template = match parse("fuzz", text) {
        Ok(template) => template,
        Err(error) => {
            inside(text, &error.span);
            return false;
        }
    };
    let steps = 200_000;
    let budget = Budget::new(Limits {
        steps,
        ..Limits::default()
    });
    match execute(
        &template,
        &convert::from_model(&root().value),
        &NoHost,
        &budget,
    ) {
        Ok(written) => {
            assert!(written.len() as u64 <= steps);
            true
        }
        Err(error) => {
            inside(text, &error.span);
            false
        }
    }
}

fn inside(text: &str, span: &std::ops::Range<usize>) {
    assert!(text.get(span.clone()).is_some(), "{span:?} of {text:?}");
}

fn root() -> &'static Node {
    static ROOT: OnceLock<Node> = OnceLock::new();
    ROOT.get_or_init(|| yaml_tree::values(VALUES, FileId(0), Engine::Helm3).expect("values"))
}
