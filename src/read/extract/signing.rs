//! The keys that images are signed with: needed by those who verify, and evaluated for nobody else.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::catalogue::REGISTRIES;
use super::report::Report;
use crate::evaluate::{Branch, Evaluator};
use crate::model::place::Located;
use crate::model::signing::{KEY_PROPERTY, SigningKeys};
use crate::model::value::Value;

/// The keys of these registries, and what the values say for all images.
pub(super) fn keys(
    evaluator: &Evaluator,
    registries: &BTreeSet<Arc<str>>,
    report: &mut Report<'_>,
) -> SigningKeys {
    let root = evaluator.root();
    let security = report.answer(root.child("security"));
    let images = security.and_then(|security| report.answer(security.child("os_images")));
    let skip = images.as_ref().is_some_and(|images| skips(images, report));
    if skip {
        return SigningKeys {
            skip,
            ..SigningKeys::default()
        };
    }
    let all = report.answer(root.child(REGISTRIES));
    let mut named = BTreeMap::new();
    for name in registries {
        let registry = all.as_ref().and_then(|all| report.answer(all.child(name)));
        let key = registry.and_then(|registry| key(&registry, KEY_PROPERTY, report));
        named.extend(key.map(|key| (Arc::clone(name), key)));
    }
    SigningKeys {
        skip,
        default_key: images.and_then(|images| key(&images, "cosign_public_key", report)),
        registries: named,
    }
}

/// An empty key is none.
fn key(branch: &Branch, name: &str, report: &mut Report<'_>) -> Option<Located<Arc<str>>> {
    let key = report.string(branch, name)?;
    (!key.value.trim().is_empty()).then_some(key)
}

/// A boolean, or the text of one that an expression printed. Anything else is told, and signatures are looked at.
fn skips(images: &Branch, report: &mut Report<'_>) -> bool {
    let name = "skip_signing_check";
    let Some(node) = report.value(images, name) else {
        return false;
    };
    match &node.value {
        Value::Bool(flag) => *flag,
        Value::String(text) if matches!(&**text, "true" | "false" | "") => &**text == "true",
        _ => {
            report.wrong_type(&format!("security.os_images.{name}"), &node, "a boolean");
            false
        }
    }
}
