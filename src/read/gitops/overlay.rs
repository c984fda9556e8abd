//! What Flux and Argo CD change in a folder's kustomization before they build it
//! (<https://fluxcd.io/flux/components/kustomize/kustomizations/>, <https://argo-cd.readthedocs.io/en/stable/user-guide/kustomize/>).

use std::path::Path;

use yaml_tree::value::{Entry, Map, Node};

use super::application::Environment;
use super::files::resolve_path;
use super::kustomization;
use super::reader::LayerReader;
use crate::read::error::ReadError;

/// A folder's kustomization, while it is changed.
pub(super) struct Overlay<'o> {
    pub(super) folder: &'o Path,
    pub(super) kustomization: Node,
}

impl Overlay<'_> {
    /// Adds what the `spec` of a Flux Kustomization says.
    pub(super) fn add_flux(
        &mut self,
        reader: &mut LayerReader<'_>,
        spec: &Node,
    ) -> Result<(), ReadError> {
        self.set_names(spec, "targetNamespace");
        self.add_components(reader, spec)?;
        self.append("patches", spec.items(&["patches"]));
        for image in spec.items(&["images"]) {
            self.replace("images", image.clone());
        }
        Ok(())
    }

    /// Adds the `kustomize` of an Application's source.
    pub(super) fn add_argo(
        &mut self,
        reader: &mut LayerReader<'_>,
        kustomize: &Node,
        environment: &Environment<'_>,
    ) -> Result<(), ReadError> {
        self.set_names(kustomize, "namespace");
        for image in kustomize.items(&["images"]) {
            let text = image.text(&[]).unwrap_or_default();
            let text = environment.fill(reader, text, image.place)?;
            self.replace("images", read_image(&text, image));
        }
        for replicas in kustomize.items(&["replicas"]) {
            self.replace("replicas", replicas.clone());
        }
        let is_set = |field: &str| kustomize.flag(&[field]);
        let marks = |field: &str, is_filled: bool, is_forced: bool| {
            let mut made = Map::default();
            for entry in kustomize.entries(&[field]) {
                let text = entry.node.text(&[]).unwrap_or_default();
                let mut node = entry.node.clone();
                if is_filled {
                    node.value = environment.fill(reader, text, entry.node.place)?.into();
                }
                let is_there = self.kustomization.get_path(&[field, &*entry.key]).is_some();
                if is_there && !is_forced {
                    let message = format!("`{}` is in `{field}` already", entry.key);
                    return Err(reader.refusal(message, entry.node.place));
                }
                made.insert(entry.with_node(node));
            }
            Ok(made)
        };
        let labels = marks("commonLabels", true, is_set("forceCommonLabels"))?;
        let is_filled = is_set("commonAnnotationsEnvsubst");
        let is_forced = is_set("forceCommonAnnotations");
        let annotations = marks("commonAnnotations", is_filled, is_forced)?;
        if is_set("labelWithoutSelector") && !labels.is_empty() {
            let mut item = Map::default();
            item.insert(Entry::from_value("pairs", labels));
            let with_templates = is_set("labelIncludeTemplates");
            item.insert(Entry::from_value("includeTemplates", with_templates));
            self.append("labels", &[Node::from_value(item)]);
        } else {
            self.set_all("commonLabels", labels);
        }
        self.set_all("commonAnnotations", annotations);
        self.append("patches", kustomize.items(&["patches"]));
        self.add_components(reader, kustomize)
    }

    fn set_names(&mut self, from: &Node, namespace: &str) {
        for (field, key) in [
            ("namespace", namespace),
            ("namePrefix", "namePrefix"),
            ("nameSuffix", "nameSuffix"),
        ] {
            // An empty one is none, for Flux and Argo CD alike.
            let is_empty = |value: &&Node| value.value.is_null() || value.text(&[]) == Some("");
            if let Some(value) = from.get_path(&[key]).filter(|value| !is_empty(value)) {
                self.kustomization.set(&[field], value.value.clone());
            }
        }
    }

    fn add_components(
        &mut self,
        reader: &mut LayerReader<'_>,
        from: &Node,
    ) -> Result<(), ReadError> {
        let ignores_missing = from.flag(&["ignoreMissingComponents"]);
        for component in from.items(&["components"]) {
            let path = resolve_path(self.folder, component.text(&[]).unwrap_or_default());
            let is_here = match path.filter(|_| ignores_missing) {
                Some(path) => kustomization::find(reader, &path)?.is_some(),
                None => true,
            };
            if is_here {
                self.append("components", std::slice::from_ref(component));
            }
        }
        Ok(())
    }

    fn append(&mut self, field: &str, more: &[Node]) {
        if !more.is_empty() {
            let all = [self.kustomization.items(&[field]), more].concat();
            self.kustomization.set(&[field], all);
        }
    }

    /// Adds an item, in place of the one with its name.
    fn replace(&mut self, field: &str, item: Node) {
        let mut all = self.kustomization.items(&[field]).to_vec();
        all.retain(|other| other.text(&["name"]) != item.text(&["name"]));
        all.push(item);
        self.kustomization.set(&[field], all);
    }

    fn set_all(&mut self, field: &str, entries: Map) {
        for entry in &entries {
            let value = entry.node.value.clone();
            self.kustomization.set(&[field, &*entry.key], value);
        }
    }
}

/// An image of an Application, `NAME=NEW:TAG`, as `kustomize edit set image` reads it.
fn read_image(text: &str, node: &Node) -> Node {
    let (name, new) = text.split_once('=').unwrap_or((text, text));
    let (new_name, end) = match new.split_once('@') {
        Some((new, digest)) => (new, Some(("digest", digest))),
        None => match new.rsplit_once(':') {
            Some((new, tag)) if !tag.contains('/') => (new, Some(("newTag", tag))),
            _ => (new, None),
        },
    };
    let name = if name == text { new_name } else { name };
    let fields = [("name", name), ("newName", new_name)].into_iter();
    let fields = fields.chain(end).filter(|(_, value)| !value.is_empty());
    let fields = fields.map(|(key, value)| Entry::from_value(key, value));
    Node::new(fields.collect::<Map>(), node.place)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use yaml_tree::engine::Engine;
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::place::{FileId, Sources};
    use yaml_tree::value::Node;

    use super::super::object::Object;
    use super::super::reader::LayerReader;
    use super::super::{Disk, Options};
    use super::{Environment, Overlay};

    fn tree(text: &str) -> Node {
        let read = yaml_tree::read(text, FileId(0), Engine::default()).expect("YAML");
        read.documents.into_iter().next().expect("a document")
    }

    /// A kustomization with what Argo CD or Flux adds, as JSON, or why it does not.
    fn added(kustomization: &str, spec: &str, is_flux: bool) -> String {
        let disk = Disk::new(Path::new(".")).expect("a folder");
        let (options, mut sources) = (Options::default(), Sources::default());
        let mut reader = LayerReader::new(&disk, &options, &mut sources);
        let mut overlay = Overlay {
            folder: Path::new("a"),
            kustomization: tree(kustomization),
        };
        let application = Object::new(tree("{metadata: {name: app}}"));
        let (spec, source) = (tree(spec), tree("{}"));
        let added = if is_flux {
            overlay.add_flux(&mut reader, &spec)
        } else {
            let environment = Environment {
                application: &application,
                source: &source,
            };
            overlay.add_argo(&mut reader, &spec, &environment)
        };
        match added {
            Ok(()) => to_json(&overlay.kustomization.value, Html::Plain),
            Err(_) => "refused".to_owned(),
        }
    }

    #[test]
    fn argo_cd_edits_a_kustomization_as_kustomize_does() {
        for (own, spec, expected) in [
            (
                "{images: [{name: a, newTag: '0'}, {name: z}]}",
                "{images: ['a=new:$ARGOCD_APP_NAME', 'b:1', 'c@sha256:0', 'd=host:5000/d', 'e=f@sha256:1', g]}",
                r#"{"images":[{"name":"z"},{"name":"a","newName":"new","newTag":"app"},{"name":"b","newName":"b","newTag":"1"},{"digest":"sha256:0","name":"c","newName":"c"},{"name":"d","newName":"host:5000/d"},{"digest":"sha256:1","name":"e","newName":"f"},{"name":"g","newName":"g"}]}"#,
            ),
            (
                "{replicas: [{name: a, count: 1}, {name: b, count: 1}]}",
                "{replicas: [{name: a, count: 2}], namePrefix: p-, nameSuffix: -s, namespace: ns}",
                r#"{"namePrefix":"p-","nameSuffix":"-s","namespace":"ns","replicas":[{"count":1,"name":"b"},{"count":2,"name":"a"}]}"#,
            ),
            (
                "{commonLabels: {a: b}}",
                "{commonLabels: {c: $ARGOCD_APP_NAME}, commonAnnotations: {d: $ARGOCD_APP_NAME}}",
                r#"{"commonAnnotations":{"d":"$ARGOCD_APP_NAME"},"commonLabels":{"a":"b","c":"app"}}"#,
            ),
            (
                "{commonLabels: {a: b}, commonAnnotations: {a: b}}",
                "{commonLabels: {a: c}, forceCommonLabels: true, commonAnnotations: {a: $ARGOCD_APP_NAME}, forceCommonAnnotations: true, commonAnnotationsEnvsubst: true}",
                r#"{"commonAnnotations":{"a":"app"},"commonLabels":{"a":"c"}}"#,
            ),
            (
                "{labels: [{pairs: {a: b}}]}",
                "{commonLabels: {c: d}, labelWithoutSelector: true, labelIncludeTemplates: true}",
                r#"{"labels":[{"pairs":{"a":"b"}},{"includeTemplates":true,"pairs":{"c":"d"}}]}"#,
            ),
            (
                "{commonLabels: {a: b}}",
                "{commonLabels: {a: c}}",
                "refused",
            ),
            (
                "{commonAnnotations: {a: b}}",
                "{commonAnnotations: {a: c}}",
                "refused",
            ),
            ("{}", "{images: ['a:$ARGOCD_APP_REVISION']}", "refused"),
            ("{}", "{commonLabels: {a: $KUBE_VERSION}}", "refused"),
            (
                "{patches: [{path: a}], components: [c]}",
                "{patches: [{path: b}], components: [d]}",
                r#"{"components":["c","d"],"patches":[{"path":"a"},{"path":"b"}]}"#,
            ),
        ] {
            assert_eq!(added(own, spec, false), expected, "{spec}");
        }
    }

    #[test]
    fn flux_adds_to_a_kustomization() {
        let spec = "{targetNamespace: ns, namePrefix: p-, patches: [{patch: b}], components: [c], images: [{name: a, newTag: '1'}]}";
        assert_eq!(
            added("{images: [{name: a, newTag: '0'}]}", spec, true),
            r#"{"components":["c"],"images":[{"name":"a","newTag":"1"}],"namePrefix":"p-","namespace":"ns","patches":[{"patch":"b"}]}"#
        );
    }
}
