//! The context of templates: gives them access to values trees and images without copying.

use std::sync::Arc;

use capi::image::{ImageKey, Images, fact};
use minijinja::value::{Enumerator, Object, ObjectRepr, ValueKind};
use minijinja::{Error, ErrorKind, Value as Context};
use yaml_tree::value::{Entry, Map, Node, Number, Value};

use crate::model::cluster::Cluster;

/// The deepest tree that a template may build.
const DEPTH: usize = 64;

/// A map in a tree.
#[derive(Debug)]
struct MapObject(Arc<Map>);

impl Object for MapObject {
    fn get_value(self: &Arc<Self>, key: &Context) -> Option<Context> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Context> {
        self.0.get(key).map(value)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        let keys = self.0.iter().map(|entry| Context::from(&entry.key));
        Enumerator::Values(keys.collect())
    }
}

/// A list in a tree.
#[derive(Debug)]
struct ListObject(Arc<Vec<Node>>);

impl Object for ListObject {
    fn repr(self: &Arc<Self>) -> ObjectRepr {
        ObjectRepr::Seq
    }

    fn get_value(self: &Arc<Self>, key: &Context) -> Option<Context> {
        self.0.get(key.as_usize()?).map(value)
    }

    fn enumerate(self: &Arc<Self>) -> Enumerator {
        Enumerator::Seq(self.0.len())
    }
}

/// `image`: `key`, `artifact`, `filename`, `format`, `uri`, `registry`, of a locked image `digest` and `pinned`, and every fact by its name with `_` instead of `-`.
#[derive(Debug)]
struct ImageObject {
    images: Arc<Images>,
    key: ImageKey,
}

impl Object for ImageObject {
    fn get_value(self: &Arc<Self>, key: &Context) -> Option<Context> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Context> {
        let image = self.images.get(&self.key)?;
        let text = |name: &str| image.facts.get(name).map(|fact| Context::from(&fact.value));
        match name {
            "key" => Some(Context::from(&image.key)),
            "artifact" => Some(Context::from(&image.artifact)),
            "registry" => image.registry.as_ref().map(Context::from),
            "uri" => image
                .uri
                .as_ref()
                .map(|uri| Context::from(uri.value.text())),
            "digest" => image
                .pulled
                .as_ref()
                .map(|digest| Context::from(digest.as_str())),
            "pinned" => image.digest_reference().map(Context::from),
            "format" => text(fact::IMAGE_FORMAT),
            // An image that declares no file name is served as `image.FORMAT`.
            "filename" => text(fact::FILENAME).or_else(|| {
                let format = image.facts.text(fact::IMAGE_FORMAT);
                Some(format.map_or_else(
                    || Context::from("image"),
                    |format| Context::from(format!("image.{format}")),
                ))
            }),
            other => text(other).or_else(|| text(&other.replace('_', "-"))),
        }
    }
}

/// `cluster`: its names and versions.
#[derive(Debug)]
struct ClusterObject(Vec<(&'static str, Arc<str>)>);

impl Object for ClusterObject {
    fn get_value(self: &Arc<Self>, key: &Context) -> Option<Context> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Context> {
        let field = self.0.iter().find(|(field, _)| *field == name);
        field.map(|(_, text)| Context::from(text))
    }
}

/// The context of plain templates.
#[derive(Debug)]
struct Scope {
    image: Option<Context>,
    cluster: Option<Context>,
}

impl Object for Scope {
    fn get_value(self: &Arc<Self>, key: &Context) -> Option<Context> {
        self.get_value_by_str(key.as_str()?)
    }

    fn get_value_by_str(self: &Arc<Self>, name: &str) -> Option<Context> {
        match name {
            "image" => self.image.clone(),
            "cluster" => self.cluster.clone(),
            _ => None,
        }
    }
}

/// A map as a context.
pub(super) fn map(map: &Arc<Map>) -> Context {
    Context::from_object(MapObject(Arc::clone(map)))
}

/// One image of a catalog.
pub(super) fn image(images: &Arc<Images>, key: &ImageKey) -> Context {
    Context::from_object(ImageObject {
        images: Arc::clone(images),
        key: Arc::clone(key),
    })
}

/// A cluster's names and versions.
pub(super) fn cluster(cluster: &Cluster) -> Context {
    let located = |field: &Option<yaml_tree::place::Located<Arc<str>>>| {
        field.as_ref().map(|located| Arc::clone(&located.value))
    };
    let fields = [
        ("name", Some(Arc::clone(&cluster.name))),
        ("object_name", Some(Arc::clone(&cluster.object_name))),
        ("namespace", Some(Arc::clone(&cluster.namespace))),
        ("k8s_version", located(&cluster.k8s_version)),
        ("infra_provider", located(&cluster.infra_provider)),
        ("bootstrap_provider", located(&cluster.bootstrap_provider)),
    ];
    let known = fields
        .into_iter()
        .filter_map(|(name, text)| Some((name, text?)));
    Context::from_object(ClusterObject(known.collect()))
}

/// The context of the template of a URL or path.
pub(super) fn scope(image: Option<Context>, cluster: Option<&Context>) -> Context {
    Context::from_object(Scope {
        image,
        cluster: cluster.cloned(),
    })
}

/// A value of a tree, as a value of the engine.
fn value(node: &Node) -> Context {
    match &node.value {
        Value::Null => Context::from(()),
        Value::Bool(flag) => Context::from(*flag),
        Value::Number(Number::Int(int)) => Context::from(*int),
        Value::Number(Number::Float(float)) => Context::from(*float),
        Value::String(text) => Context::from(text),
        Value::Opaque(opaque) => Context::from(&opaque.text),
        Value::List(items) => Context::from_object(ListObject(Arc::clone(items))),
        Value::Map(entries) => map(entries),
    }
}

/// A value of the engine, as a tree. Trees that came from values are shared; those that a template built are copied.
pub(super) fn node(value: &Context) -> Result<Node, Error> {
    copy_value(value, DEPTH)
}

fn copy_value(value: &Context, depth: usize) -> Result<Node, Error> {
    if let Some(object) = value.downcast_object_ref::<MapObject>() {
        return Ok(Node::from_value(Value::Map(Arc::clone(&object.0))));
    }
    if let Some(object) = value.downcast_object_ref::<ListObject>() {
        return Ok(Node::from_value(Value::List(Arc::clone(&object.0))));
    }
    let Some(below) = depth.checked_sub(1) else {
        return Err(Error::new(
            ErrorKind::InvalidOperation,
            "a value is nested too deeply",
        ));
    };
    Ok(Node::from_value(match value.kind() {
        ValueKind::None => Value::Null,
        ValueKind::Bool => Value::Bool(value.is_true()),
        ValueKind::Number => Value::Number(number(value)),
        ValueKind::Seq | ValueKind::Iterable => {
            let items = value.try_iter()?.map(|item| copy_value(&item, below));
            Value::from(items.collect::<Result<Vec<Node>, Error>>()?)
        }
        ValueKind::Map => {
            let entries = value.try_iter()?.map(|key| {
                let below = copy_value(&value.get_item(&key)?, below)?;
                Ok(Entry::holding(key.to_string(), below))
            });
            Value::from(entries.collect::<Result<Map, Error>>()?)
        }
        _ => Value::from(value.to_string()),
    }))
}

fn number(value: &Context) -> Number {
    match value.as_i64() {
        Some(int) if value.is_integer() => Number::Int(int),
        _ => Number::Float(f64::try_from(value.clone()).unwrap_or(0.0)),
    }
}
