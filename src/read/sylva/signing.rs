//! The keys that images are signed with, which are evaluated only if signatures are checked.

use std::collections::BTreeMap;
use std::sync::Arc;

use yaml_tree::place::Located;
use yaml_tree::value::Value;

use super::catalog::{REGISTRIES, flag};
use super::report::Report;
use crate::evaluate::{Branch, Evaluator, Failure};
use crate::model::catalog::Catalog;
use crate::model::signing::{KEY_NAMES, NamedKey, SigningKeys};

/// The keys of the registries of a catalog's images, and the one that the values name for all of the builder's. Where nothing checks signatures, no key is evaluated,
/// unless the project requires them.
pub(super) fn keys(
    evaluator: &Evaluator,
    catalog: &Catalog,
    is_required: bool,
    report: &mut Report<'_>,
) -> SigningKeys {
    let root = evaluator.root();
    let images = child(root.child("security"), "os_images");
    let skip = match &images {
        Ok(Some(images)) => skips(images, report),
        _ => false,
    };
    if skip && !is_required {
        return SigningKeys {
            skip,
            ..SigningKeys::default()
        };
    }
    let all = root.child(REGISTRIES);
    let mut named = BTreeMap::new();
    let registries = catalog.registries_of_images();
    for name in &registries {
        let registry = child(all.clone(), name);
        let mut names = KEY_NAMES.iter();
        let key = names.find_map(|path| {
            let (above, last) = path.rsplit_once('.').unwrap_or(("", path));
            let holder = above.split('.').filter(|part| !part.is_empty());
            key(holder.fold(registry.clone(), child), last, report)
        });
        named.extend(key.map(|key| (Arc::clone(name), key)));
    }
    let mut built = catalog
        .entries
        .iter()
        .filter(|entry| entry.built)
        .peekable();
    let is_for_own = built.peek().is_none();
    // The proposal's images name no registry.
    let is_needed =
        is_for_own || !registries.is_empty() || built.any(|entry| entry.registry.is_none());
    let default_key = is_needed
        .then(|| key(images, "cosign_public_key", report))
        .flatten();
    SigningKeys {
        skip,
        default_key,
        is_for_own,
        registries: named,
    }
}

type Answer<T> = Result<Option<T>, Failure>;

fn child(parent: Answer<Branch>, name: &str) -> Answer<Branch> {
    match parent? {
        Some(parent) => parent.child(name),
        None => Ok(None),
    }
}

/// A key that is written empty is none. One that cannot be evaluated, or of which nothing comes, is not: what it was to prove is not
/// proven.
fn key(parent: Answer<Branch>, name: &str, report: &mut Report<'_>) -> Option<NamedKey> {
    let key = child(parent.clone(), name);
    let is_computed = matches!(&key, Ok(Some(key)) if !key.is_plain());
    let path = || match &parent {
        Ok(Some(parent)) => format!("{}.{name}", parent.path()),
        _ => name.to_owned(),
    };
    let node = key.and_then(|key| match key {
        Some(key) => key.node(),
        None => Ok(None),
    });
    match node {
        Err(failure) => {
            let place = failure.place;
            report.answer::<()>(Err(failure));
            Some(NamedKey::Failed(place))
        }
        Ok(None) => None,
        Ok(Some(node)) => match &node.value {
            Value::Null => None,
            Value::String(text) if text.trim().is_empty() && is_computed => {
                report.empty_key(&path(), node.place);
                Some(NamedKey::Failed(node.place))
            }
            Value::String(text) if text.trim().is_empty() => None,
            Value::String(text) => Some(NamedKey::Text(Located::new(Arc::clone(text), node.place))),
            _ => {
                report.wrong_type(&path(), &node, "a string");
                Some(NamedKey::Failed(node.place))
            }
        },
    }
}

/// A boolean, or the text of one that an expression printed. Anything else is reported, and signatures are looked at.
fn skips(images: &Branch, report: &mut Report<'_>) -> bool {
    let name = "skip_signing_check";
    let Some(node) = report.value(images, name) else {
        return false;
    };
    let flag = flag(&format!("security.os_images.{name}"), &node, report);
    flag.is_some_and(|flag| flag.value)
}
