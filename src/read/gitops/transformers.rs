//! The transformers of kustomize that are built in, in its order: those of the fields of a kustomization, and the same as files
//! (`apiVersion: builtin`).

use std::path::Path;
use std::sync::Arc;

use go_template::regexp::Regexp;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Node, Number, Value};

use super::configuration::{Configuration, FieldSpec, Missing};
use super::object::Object;
use super::reader::LayerReader;
use super::{names, patch, replacements};
use crate::read::error::ReadError;

/// One change of all objects.
pub(super) struct Transformer {
    /// Where it is declared.
    place: Place,
    change: Change,
}

enum Change {
    /// Merges patches, each into the object that it names: texts or files.
    Merge(Vec<Node>),
    /// One patch, with its target.
    Patch(Node),
    Namespace {
        namespace: Arc<str>,
        fields: Vec<FieldSpec>,
        /// Whether a namespace that is there stays.
        is_default: bool,
    },
    Name {
        prefix: Arc<str>,
        suffix: Arc<str>,
        fields: Vec<FieldSpec>,
    },
    /// Labels or annotations.
    Marks {
        pairs: Vec<Entry>,
        fields: Vec<FieldSpec>,
    },
    Replicas {
        name: Arc<str>,
        count: Node,
        fields: Vec<FieldSpec>,
    },
    Image {
        image: Node,
        fields: Vec<FieldSpec>,
    },
    Replacements(Vec<Node>),
}

impl Transformer {
    /// Those of a kustomization's fields.
    pub(super) fn read_fields(
        kustomization: &Node,
        configuration: &Configuration,
    ) -> Result<Vec<Self>, String> {
        let place = kustomization.place;
        let all = |change: Change| Self { place, change };
        let each = |key: &str, change: &dyn Fn(&Node) -> Result<Change, String>| {
            let items = kustomization.items(&[key]).iter();
            let made = items.map(|item| {
                let (place, change) = (item.place, change(item)?);
                Ok(Self { place, change })
            });
            made.collect::<Result<Vec<Self>, String>>()
        };
        let own = |key: &str| configuration.fields(key).to_vec();
        let list = |key: &str| kustomization.items(&[key]).to_vec();
        let patch = |patch: &Node| Ok(Change::Patch(patch.clone()));
        let mut made = vec![all(Change::Merge(list("patchesStrategicMerge")))];
        made.extend(each("patches", &patch)?);
        made.extend(Self::read_names(kustomization, configuration));
        made.extend(each("labels", &|label| labels(label, configuration))?);
        for key in ["commonLabels", "commonAnnotations"] {
            let (pairs, fields) = (texts(kustomization, key)?, own(key));
            made.push(all(Change::Marks { pairs, fields }));
        }
        made.extend(each("patchesJson6902", &patch)?);
        let replicas = |replica: &Node| Change::replicas(replica, own("replicas"));
        made.extend(each("replicas", &replicas)?);
        for key in ["images", "imageTags"] {
            made.extend(each(key, &|image| {
                let (fields, image) = (own("images"), image.clone());
                Ok(Change::Image { image, fields })
            })?);
        }
        made.push(all(Change::Replacements(list("replacements"))));
        Ok(made)
    }

    /// Those of the fields that change names and namespaces.
    fn read_names(kustomization: &Node, configuration: &Configuration) -> Vec<Self> {
        let keys = ["namespace", "namePrefix", "nameSuffix"].into_iter();
        let made = keys.filter_map(|key| {
            let text = kustomization.nonempty_text(&[key])?;
            let fields = configuration.fields(key).to_vec();
            let change = match key {
                "namespace" => Change::Namespace {
                    namespace: text.into(),
                    fields,
                    is_default: false,
                },
                "namePrefix" => Change::name(text, "", fields),
                _ => Change::name("", text, fields),
            };
            let place = kustomization.place_at(&[key]);
            Some(Self { place, change })
        });
        made.collect()
    }

    /// That of a file; none if it is not built in, or does something that is not carried out here.
    pub(super) fn read_file(file: &Node) -> Result<Option<Self>, String> {
        if file.text(&["apiVersion"]) != Some("builtin") {
            return Ok(None);
        }
        let fields = || FieldSpec::read_all(file, "fieldSpecs");
        let text = |path: &[&str]| file.text(path).unwrap_or_default();
        let named = |prefix, suffix| match fields() {
            fields if file.get_path(&["fieldSpecs"]).is_some() => {
                Ok(Change::name(prefix, suffix, fields))
            }
            _ => Err("a transformer of names lacks its `fieldSpecs`".to_owned()),
        };
        let change = match file.text(&["kind"]).unwrap_or_default() {
            "PatchStrategicMergeTransformer" => {
                let inline = file.get_path(&["patches"]).cloned();
                let paths = file.items(&["paths"]).iter().cloned();
                Change::Merge(paths.chain(inline).collect())
            }
            "PatchTransformer" => Change::Patch(file.clone()),
            "PatchJson6902Transformer" => {
                let mut patch = file.clone();
                if let Some(operations) = patch.map_mut(&[]).remove("jsonOp") {
                    patch
                        .map_mut(&[])
                        .insert(Entry::holding("patch", operations.node));
                }
                Change::Patch(patch)
            }
            "NamespaceTransformer" => Change::Namespace {
                namespace: text(&["metadata", "namespace"]).into(),
                fields: fields(),
                is_default: file.flag(&["unsetOnly"]),
            },
            "PrefixTransformer" => named(text(&["prefix"]), "")?,
            "SuffixTransformer" => named("", text(&["suffix"]))?,
            "LabelTransformer" => Change::Marks {
                pairs: texts(file, "labels")?,
                fields: fields(),
            },
            "AnnotationsTransformer" => Change::Marks {
                pairs: texts(file, "annotations")?,
                fields: fields(),
            },
            "ReplicaCountTransformer" => {
                let replica = file.get_path(&["replica"]).unwrap_or(file);
                Change::replicas(replica, fields())?
            }
            "ImageTagTransformer" => Change::Image {
                image: file.get_path(&["imageTag"]).unwrap_or(file).clone(),
                fields: fields(),
            },
            "ReplacementTransformer" => {
                Change::Replacements(file.items(&["replacements"]).to_vec())
            }
            _ => return Ok(None),
        };
        Ok(Some(Self {
            place: file.place,
            change,
        }))
    }

    /// Changes the objects. Files are relative to the folder.
    pub(super) fn apply(
        &self,
        reader: &mut LayerReader<'_>,
        folder: &Path,
        objects: &mut Vec<Object>,
    ) -> Result<(), ReadError> {
        let changed = match &self.change {
            Change::Merge(patches) => return patch::merge(reader, folder, patches, objects),
            Change::Patch(patch) => return patch::apply(reader, folder, patch, objects),
            Change::Replacements(all) => {
                return replacements::replace(reader, folder, all, objects);
            }
            Change::Namespace {
                namespace,
                fields,
                is_default,
            } => {
                let mut all = objects.iter_mut();
                all.try_for_each(|object| {
                    names::set_namespace(object, namespace, fields, *is_default)
                })
            }
            Change::Name {
                prefix,
                suffix,
                fields,
            } => {
                let mut all = objects.iter_mut();
                all.try_for_each(|object| names::affix(object, prefix, suffix, fields))
            }
            Change::Marks { pairs, fields } => {
                let mut marked = objects.iter_mut();
                marked.try_for_each(|object| mark(object, pairs, fields))
            }
            Change::Replicas {
                name,
                count,
                fields,
            } => scale(objects, name, count, fields),
            Change::Image { image, fields } => {
                let is_meant = |object: &&mut Object| object.kind() != "CustomResourceDefinition";
                let mut meant = objects.iter_mut().filter(is_meant);
                let image = Image::new(image);
                meant.try_for_each(|object| image.apply(object, fields))
            }
        };
        changed.map_err(|message| reader.refusal(message, self.place))
    }
}

impl Change {
    fn name(prefix: &str, suffix: &str, fields: Vec<FieldSpec>) -> Self {
        Self::Name {
            prefix: prefix.into(),
            suffix: suffix.into(),
            fields,
        }
    }

    fn replicas(replica: &Node, fields: Vec<FieldSpec>) -> Result<Self, String> {
        let count = replica.get_path(&["count"]);
        let count = count.filter(|count| matches!(count.value, Value::Number(Number::Int(_))));
        Ok(Self::Replicas {
            name: replica.text(&["name"]).unwrap_or_default().into(),
            count: count
                .ok_or("a `count` of replicas is a whole number")?
                .clone(),
            fields,
        })
    }
}

/// What an item of `labels` sets, and where.
fn labels(label: &Node, configuration: &Configuration) -> Result<Change, String> {
    let mut fields = FieldSpec::read_all(label, "fields");
    let mut keys = vec!["labels"];
    let options = [
        ("includeSelectors", "commonLabels"),
        ("includeTemplates", "templateLabels"),
        ("includeVolumeClaimTemplates", "volumeClaimTemplateLabels"),
    ];
    let is_on = |(option, _): &&(&str, &str)| label.flag(&[option]);
    keys.extend(options.iter().filter(is_on).map(|(_, key)| key));
    for key in keys {
        FieldSpec::merge(&mut fields, configuration.fields(key))?;
    }
    FieldSpec::merge(&mut fields, &[FieldSpec::new("metadata/labels")])?;
    let pairs = texts(label, "pairs")?;
    Ok(Change::Marks { pairs, fields })
}

/// The entries below a key, which are texts.
fn texts(node: &Node, key: &str) -> Result<Vec<Entry>, String> {
    let entries = node.entries(&[key]);
    let text = |entry: &Entry| match &entry.node.value {
        Value::String(_) => Ok(entry.clone()),
        other => {
            let kind = other.kind();
            Err(format!(
                "`{}` of `{key}` is not text but {kind}: quote it",
                entry.key
            ))
        }
    };
    entries.map(text).collect()
}

/// Sets labels or annotations.
fn mark(object: &mut Object, pairs: &[Entry], fields: &[FieldSpec]) -> Result<(), String> {
    for pair in pairs {
        for field in fields {
            field.change(object, Missing::Map, &mut |node| match &mut node.value {
                Value::Map(map) => {
                    Arc::make_mut(map).insert(pair.clone());
                    Ok(())
                }
                other => Err(format!("`{}` cannot be set in {}", pair.key, other.kind())),
            })?;
        }
    }
    Ok(())
}

/// Sets the number of machines of the objects with a name.
fn scale(
    objects: &mut [Object],
    name: &str,
    count: &Node,
    fields: &[FieldSpec],
) -> Result<(), String> {
    let mut is_found = false;
    for field in fields {
        for object in objects.iter_mut() {
            if !field.is_of(object) || !object.names().any(|named| *named.name == *name) {
                continue;
            }
            is_found = true;
            field.change(object, Missing::Scalar, &mut |node| {
                *node = count.clone();
                Ok(())
            })?;
        }
    }
    let missing = || format!("no object that has replicas is called `{name}`");
    is_found.then_some(()).ok_or_else(missing)
}

/// Another name, tag or digest of an image.
struct Image<'n> {
    image: &'n Node,
    /// What it is of.
    pattern: Option<Regexp>,
}

impl<'n> Image<'n> {
    fn new(image: &'n Node) -> Self {
        let name = image.text(&["name"]).unwrap_or_default();
        let pattern = format!("^{name}(:[a-zA-Z0-9_.{{}}-]*)?(@sha256:[a-zA-Z0-9_.{{}}-]*)?$");
        Self {
            image,
            pattern: Regexp::new(&pattern).ok(),
        }
    }

    fn apply(&self, object: &mut Object, fields: &[FieldSpec]) -> Result<(), String> {
        self.change_containers(&mut object.tree)?;
        let mut change = |node: &mut Node| self.change(node);
        { fields.iter() }.try_for_each(|field| field.change(object, Missing::Left, &mut change))
    }

    /// Changes what the `containers` and `initContainers` name, wherever they are.
    fn change_containers(&self, node: &mut Node) -> Result<(), String> {
        match &mut node.value {
            Value::List(items) => Arc::make_mut(items)
                .iter_mut()
                .try_for_each(|item| self.change_containers(item)),
            Value::Map(map) => {
                for (key, below) in Arc::make_mut(map).iter_mut() {
                    self.change_containers(below)?;
                    let Value::List(items) = &mut below.value else {
                        continue;
                    };
                    if !["containers", "initContainers"].contains(&key) {
                        continue;
                    }
                    let items = Arc::make_mut(items).iter_mut();
                    for item in items.filter(|item| item.get_path(&["image"]).is_some()) {
                        if let Some(image) = item.map_mut(&[]).get_mut("image") {
                            self.change(image)?;
                        }
                    }
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn change(&self, node: &mut Node) -> Result<(), String> {
        if let Value::Map(_) | Value::List(_) = node.value {
            return Err(format!(
                "an image is a text, and this is {}",
                node.value.kind()
            ));
        }
        let Some(whole) = node.value.as_str() else {
            return Ok(());
        };
        if !self
            .pattern
            .as_ref()
            .is_some_and(|pattern| pattern.is_match(whole))
        {
            return Ok(());
        }
        let part = |key: &str| {
            let text = self.image.nonempty_text(&[key])?;
            Some((text, self.image.place_at(&[key])))
        };
        let host = whole.find('/').unwrap_or(0);
        let (tag_at, digest_at) = (whole[host..].find(':'), whole[host..].find('@'));
        let digest_at = digest_at.map(|at| at + host);
        let tag_at = tag_at
            .map(|at| at + host)
            .filter(|at| digest_at.is_none_or(|end| *at < end));
        let end = whole.len();
        let name = &whole[..tag_at.or(digest_at).unwrap_or(end)];
        let tag = tag_at.map_or("", |at| &whole[at + 1..digest_at.unwrap_or(end)]);
        let digest = digest_at.map_or("", |at| &whole[at + 1..]);
        let (tag, digest) = match (part("newTag"), part("digest"), part("tagSuffix")) {
            (None, None, None) => (tag.to_owned(), digest),
            (None, None, Some((suffix, _))) => (format!("{tag}{suffix}"), ""),
            (new_tag, new_digest, _) => {
                let text = |part: Option<(&'n str, Place)>| part.map_or("", |(text, _)| text);
                (text(new_tag).to_owned(), text(new_digest))
            }
        };
        let mut text = part("newName").map_or(name, |(name, _)| name).to_owned();
        for (sign, more) in [(':', &*tag), ('@', digest)] {
            if !more.is_empty() {
                text.push(sign);
                text += more;
            }
        }
        let keys = ["newTag", "digest", "tagSuffix", "newName"];
        let place = keys
            .into_iter()
            .find_map(part)
            .map_or(node.place, |(_, place)| place);
        *node = Node::new(text, place);
        Ok(())
    }
}
