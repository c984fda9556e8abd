//! The Applications of an ApplicationSet whose generators read only this repository: lists, folders or files in git, and what
//! combines those (<https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators/>).

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use yaml_tree::engine::Engine;
use yaml_tree::json::{Html, to_json};
use yaml_tree::merge;
use yaml_tree::place::Place;
use yaml_tree::value::{Entry, Map, Node, Value};

use super::files::matches;
use super::object::Object;
use super::reader::LayerReader;
use super::release::floating;
use super::set_template::{SetTemplate, normalize, print};
use super::strategic;
use super::{FAILED, UNSUPPORTED};
use crate::budget;
use crate::error::Error;
use crate::model::finding::Finding;
use crate::model::pattern::Pattern;
use crate::read::error::{ReadError, catch_finding};
use crate::read::files::{display, nearest_path};
use crate::read::tables::argo_cd;

/// The Applications that an ApplicationSet generates, and what is wrong where one or a whole generator is not known.
pub(super) fn applications(
    reader: &mut LayerReader<'_>,
    object: &Object,
) -> Result<Vec<Result<Object, Finding>>, ReadError> {
    let work = format!("the ApplicationSet `{}`", object.name());
    let _work = budget::enter(work).map_err(Error::from)?;
    reader.check_fields(&argo_cd::APPLICATION_SET, &object.title(), &object.tree)?;
    let spec = |field: &str| object.tree.get_path(&["spec", field]);
    let none = Node::from_value(Value::empty_map());
    let mut evaluated = Set {
        reader,
        template: SetTemplate::new(&object.tree),
        has_nested_selectors: object.tree.flag(&["spec", "applyNestedSelectors"]),
    };
    let base = spec("template").unwrap_or(&none);
    let patch = spec("templatePatch").filter(|patch| !patch.value.is_null());
    let mut made = Vec::new();
    for generator in object.tree.items(&["spec", "generators"]) {
        match catch_finding(evaluated.sets(generator, 0))? {
            Ok(sets) => {
                let own = kinds(generator).find_map(|kind| kind.node.get_path(&["template"]));
                let template = own.map_or_else(|| base.clone(), |own| fill_empty(own, base));
                for parameters in sets {
                    let one = evaluated.application(&template, patch, &parameters);
                    made.push(catch_finding(one)?);
                }
            }
            Err(finding) => made.push(Err(finding)),
        }
    }
    Ok(made)
}

/// How deep generators are in one another: matrix and merge hold others, and these hold others once more.
const INNERMOST: usize = 2;

struct Set<'s, 'r> {
    reader: &'s mut LayerReader<'r>,
    template: SetTemplate,
    /// Whether the selectors of innermost generators apply.
    has_nested_selectors: bool,
}

/// The parts of a pattern before the first wildcard.
fn plain_prefix(pattern: &str) -> PathBuf {
    let is_plain = |part: &&str| !part.contains(['*', '?', '[', '{']);
    pattern.split('/').take_while(is_plain).collect()
}

/// The entries of a generator that are one: all but its selector.
fn kinds(generator: &Node) -> impl Iterator<Item = &Entry> {
    let entries = generator.entries(&[]);
    entries.filter(|entry| &*entry.key != "selector")
}

impl Set<'_, '_> {
    fn refusal(&self, message: impl Into<String>, place: Place) -> ReadError {
        let help = "name each cluster's values under `clusters`";
        let finding = self.reader.finding(UNSUPPORTED, message.into(), place);
        finding.help(help).into()
    }

    /// The sets of parameters of a generator.
    fn sets(&mut self, generator: &Node, depth: usize) -> Result<Vec<Node>, ReadError> {
        let mut made = Vec::new();
        for kind in kinds(generator) {
            let node = &kind.node;
            if self.reader.repositories.is_other(node) {
                let message = "this generator reads another repository";
                return Err(self.refusal(message, node.place));
            }
            made.extend(match &*kind.key {
                "list" => self.list(node)?,
                "git" => self.git(node)?,
                "matrix" if depth < INNERMOST => self.matrix(node, depth)?,
                "merge" if depth < INNERMOST => self.merge(node, depth)?,
                other => {
                    let message =
                        format!("the generator `{other}` of an ApplicationSet is not evaluated");
                    return Err(self.refusal(message, node.place));
                }
            });
        }
        let title = "a generator of an ApplicationSet";
        self.reader
            .check_fields(&argo_cd::GENERATOR, title, generator)?;
        if let Some(selector) = generator.get_path(&["selector"])
            && (depth < INNERMOST || self.has_nested_selectors)
        {
            let requirements = selector.items(&["matchExpressions"]).iter();
            let mut operators = requirements.map(|one| one.text(&["operator"]).unwrap_or_default());
            if let Some(other) = operators.find(|one| !OPERATORS.contains(one)) {
                let message = format!("a selector has no operator `{other}`");
                return Err(self.refusal(message, selector.place));
            }
            made.retain(|parameters| selects(selector, &flatten(parameters)));
        }
        Ok(made)
    }

    fn list(&mut self, list: &Node) -> Result<Vec<Node>, ReadError> {
        let mut made = Vec::new();
        for element in list.items(&["elements"]) {
            made.push(if self.template.is_go {
                floating(element)
            } else {
                self.texts_of_element(element)?
            });
        }
        let Some(written) = list.get_path(&["elementsYaml"]) else {
            return Ok(made);
        };
        let text = written.value.as_str().map_or("", |text| &**text);
        let read = yaml_tree::read(text, written.place.file, Engine::Kubectl);
        let Ok(read) = read else {
            return Err(self.refusal("`elementsYaml` is not YAML", written.place));
        };
        let elements = read
            .documents
            .iter()
            .flat_map(|document| document.items(&[]));
        made.extend(elements.map(|one| floating(&one.with_places(&mut |_| written.place))));
        Ok(made)
    }

    /// The texts of an element, and those of its `values`. Without Go templates it may have no others.
    fn texts_of_element(&self, element: &Node) -> Result<Node, ReadError> {
        let mut made = Map::default();
        for entry in element.entries(&[]) {
            let inner = entry.node.entries(&[]).filter(|_| &*entry.key == "values");
            let mut inner = inner.peekable();
            let whole = inner
                .peek()
                .is_none()
                .then_some((entry, entry.key.to_string()));
            let inner = inner.map(|inner| (inner, format!("values.{}", inner.key)));
            for (entry, name) in inner.chain(whole) {
                if entry.node.value.as_str().is_none() {
                    let message = format!(
                        "`{name}` is not text, which an element needs without `goTemplate`"
                    );
                    return Err(self.refusal(message, entry.node.place));
                }
                made.insert(Entry::holding(name, entry.node.clone()));
            }
        }
        Ok(Node::from_value(made))
    }

    fn matrix(&mut self, matrix: &Node, depth: usize) -> Result<Vec<Node>, ReadError> {
        let [first, second] = matrix.items(&["generators"]) else {
            return Err(self.refusal("a matrix has two generators", matrix.place));
        };
        let mut made = Vec::new();
        for outer in self.sets(first, depth + 1)? {
            let filled = self.fill_generator(second, &outer)?;
            for inner in self.sets(&filled, depth + 1)? {
                if !self.template.is_go
                    && let Some(twice) = { outer.entries(&[]) }.find(|entry| {
                        let other = inner.get_path(&[&*entry.key]);
                        other.is_some_and(|other| other.value != entry.node.value)
                    })
                {
                    let message = format!("both generators of a matrix give `{}`", twice.key);
                    return Err(self.refusal(message, matrix.place));
                }
                made.push(merge::merge(&inner, &outer));
            }
        }
        Ok(made)
    }

    /// A generator with the parameters of the one before it. Its template does not count.
    fn fill_generator(&self, generator: &Node, outer: &Node) -> Result<Node, ReadError> {
        let mut filled = Map::default();
        for entry in generator.entries(&[]) {
            let mut node = entry.node.clone();
            if &*entry.key != "selector" {
                node.remove(&["template"]);
                node = self.template.fill(self.reader, &node, outer)?;
            }
            filled.insert(entry.with_node(node));
        }
        Ok(Node::new(filled, generator.place))
    }

    fn merge(&mut self, merge: &Node, depth: usize) -> Result<Vec<Node>, ReadError> {
        let keys = merge.items(&["mergeKeys"]);
        // By their JSON, as Argo CD compares them.
        let key = |parameters: &Node| -> Vec<Option<String>> {
            let keys = keys.iter().filter_map(|key| key.value.as_str());
            keys.map(|key| Some(to_json(&parameters.get_path(&[&**key])?.value, Html::Plain)))
                .collect()
        };
        let mut made: Vec<Node> = Vec::new();
        for (index, generator) in merge.items(&["generators"]).iter().enumerate() {
            let sets = self.sets(generator, depth + 1)?;
            let known: BTreeMap<_, &Node> = sets.iter().map(|one| (key(one), one)).collect();
            if keys.is_empty() || known.len() < sets.len() {
                let message =
                    "the `mergeKeys` are those of several sets of parameters of a generator";
                return Err(self.refusal(message, merge.place));
            }
            if index == 0 {
                made = sets;
                continue;
            }
            for base in &mut made {
                if let Some(over) = known.get(&key(base)) {
                    *base = merge::merge(base, over);
                }
            }
        }
        Ok(made)
    }

    fn git(&mut self, git: &Node) -> Result<Vec<Node>, ReadError> {
        let made = if git.items(&["directories"]).is_empty() {
            self.files(git)?
        } else {
            self.folders(git)?
        };
        if made.is_empty() {
            self.require_match(git)?;
        }
        Ok(made)
    }

    /// That a generator finds something here. If nobody knows whether it would be in this repository, a near name says so.
    fn require_match(&self, git: &Node) -> Result<(), ReadError> {
        let address = git.text(&["repoURL"]).unwrap_or_default();
        let is_own = self.reader.repositories.is_own_address(address);
        let items = ["directories", "files"].map(|field| git.items(&[field]));
        for item in items.into_iter().flatten() {
            let pattern = item.text(&["path"]).unwrap_or_default();
            let folder = plain_prefix(pattern);
            let near = (!self.reader.files.is_there(&folder))
                .then(|| nearest_path(self.reader.files, &folder))
                .flatten();
            if item.flag(&["exclude"]) || !is_own && near.is_none() {
                continue;
            }
            let message = format!("nothing matches `{pattern}`: no Application is made");
            let place = item
                .get_path(&["path"])
                .map_or(item.place, |path| path.place);
            let finding = self.reader.finding(FAILED, message, place);
            let help = near.map_or_else(
                || "name files or folders of this repository".to_owned(),
                |near| format!("did you mean `{}`?", display(&near)),
            );
            return Err(finding.help(help).into());
        }
        Ok(())
    }

    fn folders(&mut self, git: &Node) -> Result<Vec<Node>, ReadError> {
        let items = git.items(&["directories"]);
        let excluded = { items.iter() }.filter(|item| item.flag(&["exclude"]));
        let excluded = excluded.map(|item| self.glob(item, true));
        let excluded = excluded.collect::<Result<Vec<_>, _>>()?;
        let mut found = BTreeSet::new();
        for item in items.iter().filter(|item| !item.flag(&["exclude"])) {
            // Go's `**` is no more than `*`.
            let pattern = item.text(&["path"]).unwrap_or_default().replace("**", "*");
            for path in matches(self.reader.files, &pattern)? {
                let is_excluded = excluded.iter().any(|glob| glob.is_match(&path));
                if !is_excluded && self.reader.files.folder(&path)?.is_some() {
                    found.insert(path);
                }
            }
        }
        let none = Node::from_value(Value::empty_map());
        { found.iter() }
            .map(|folder| self.add_path(git, folder, None, &none))
            .collect()
    }

    /// A pattern of paths. `*` stays within a folder, if that is wanted.
    fn glob(&self, item: &Node, is_within: bool) -> Result<Pattern, ReadError> {
        let pattern = item.text(&["path"]).unwrap_or_default();
        let glob = if is_within {
            Pattern::parse(pattern)
        } else {
            Pattern::parse_across(pattern)
        };
        let message = || format!("`{pattern}` is not a pattern of paths");
        glob.map_err(|_| self.reader.refusal(message(), item.place))
    }

    /// The sets of parameters in files. A `*` of their patterns matches across folders.
    fn files(&mut self, git: &Node) -> Result<Vec<Node>, ReadError> {
        let (mut found, mut excluded) = (BTreeSet::new(), BTreeSet::new());
        for item in git.items(&["files"]) {
            let paths = self.matching_files(item)?;
            if item.flag(&["exclude"]) {
                excluded.extend(paths);
            } else {
                found.extend(paths);
            }
        }
        let mut made = Vec::new();
        for path in found.difference(&excluded) {
            let documents = self.reader.objects(path)?;
            let none = Node::from_value(Value::empty_map());
            let document = documents.as_ref().and_then(|documents| documents.first());
            let document = document.unwrap_or(&none);
            let elements = document.value.as_list();
            let folder = path.parent().unwrap_or(Path::new(""));
            for element in elements.unwrap_or(std::slice::from_ref(document)) {
                made.push(self.add_path(git, folder, Some(path), element)?);
            }
        }
        Ok(made)
    }

    fn matching_files(&self, item: &Node) -> Result<Vec<PathBuf>, ReadError> {
        let glob = self.glob(item, false)?;
        let pattern = item.text(&["path"]).unwrap_or_default();
        let below = format!("{}/**", plain_prefix(pattern).display());
        let mut found = Vec::new();
        for path in matches(self.reader.files, &below)? {
            let is_file = || self.reader.files.folder(&path).map(|names| names.is_none());
            if glob.is_match(&path) && is_file()? {
                found.push(path);
            }
        }
        Ok(found)
    }

    /// The parameters of an element in a file, or of a folder, with those of the path and the generator's `values`.
    fn add_path(
        &self,
        git: &Node,
        folder: &Path,
        file: Option<&Path>,
        element: &Node,
    ) -> Result<Node, ReadError> {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let base = |path: &Path| {
            path.file_name()
                .map(|name| name.to_string_lossy().into_owned())
        };
        let whole = Some(text(folder)).filter(|text| !text.is_empty());
        let whole = whole.unwrap_or_else(|| ".".to_owned());
        let name = base(folder).unwrap_or_else(|| ".".to_owned());
        let mut of_path = vec![
            ("basename", name.clone()),
            ("basenameNormalized", normalize(&name)),
        ];
        if let Some(name) = file.and_then(base) {
            of_path.push(("filenameNormalized", normalize(&name)));
            of_path.push(("filename", name));
        }
        let prefix = git.nonempty_text(&["pathParamPrefix"]);
        let mut made;
        if self.template.is_go {
            made = floating(element);
            let path: Vec<&str> = prefix.into_iter().chain(["path"]).collect();
            let segments = whole.split('/').map(Node::from_value).collect::<Vec<_>>();
            let mut node = Map::default();
            node.insert(Entry::from_value("path", &*whole));
            node.insert(Entry::from_value("segments", segments));
            for (key, value) in of_path {
                node.insert(Entry::from_value(key, value));
            }
            if let Some(prefix) = prefix {
                made.set(&[prefix], Value::empty_map());
            }
            made.set(&path, node);
        } else {
            made = Node::from_value(flatten(element));
            let path = prefix.map_or("path".to_owned(), |prefix| format!("{prefix}.path"));
            for (index, part) in whole.split('/').enumerate() {
                made.set(&[&format!("{path}[{index}]")], part);
            }
            for (key, value) in of_path {
                made.set(&[&format!("{path}.{key}")], value);
            }
            made.set(&[&path], whole);
        }
        let mut values = Vec::new();
        for entry in git.entries(&["values"]) {
            let filled = self.template.fill(self.reader, &entry.node, &made)?;
            values.push((Entry::clone(entry), filled.value));
        }
        if self.template.is_go && !values.is_empty() {
            made.set(&["values"], Value::empty_map());
        }
        for (entry, value) in values {
            let flat = format!("values.{}", entry.key);
            let path: &[&str] = if self.template.is_go {
                &["values", &entry.key]
            } else {
                &[&flat]
            };
            made.set(path, value);
        }
        Ok(made)
    }

    fn application(
        &self,
        template: &Node,
        patch: Option<&Node>,
        parameters: &Node,
    ) -> Result<Object, ReadError> {
        let mut tree = self.template.fill(self.reader, template, parameters)?;
        if let Some(patch) = patch {
            tree = self.apply_patch(&tree, patch, parameters)?;
        }
        tree.set(&["apiVersion"], "argoproj.io/v1alpha1");
        tree.set(&["kind"], "Application");
        Ok(Object::new(tree))
    }

    fn apply_patch(&self, tree: &Node, patch: &Node, parameters: &Node) -> Result<Node, ReadError> {
        let filled = self.template.fill(self.reader, patch, parameters)?;
        let text = filled.value.as_str().map_or("", |text| &**text);
        let read = yaml_tree::read(text, patch.place.file, Engine::Kubectl);
        let Ok(read) = read else {
            let message = "`templatePatch` is not YAML once it is filled in";
            return Err(self.refusal(message, patch.place));
        };
        // A patch that is empty once it is filled in changes nothing.
        let Some(read) = read.documents.first().filter(|read| !read.value.is_null()) else {
            return Ok(tree.clone());
        };
        let read = read.with_places(&mut |_| patch.place);
        match strategic::apply(&Object::new(tree.clone()), &read, self.reader) {
            Ok(patched) => patched.ok_or_else(|| {
                self.refusal("`templatePatch` deletes the whole Application", patch.place)
            }),
            Err(error) => Err(self.refusal(error.message, error.place)),
        }
    }
}

/// Whether a value is that of a field of Go that nobody sets.
pub(super) fn is_zero(node: &Node) -> bool {
    match &node.value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::List(items) => items.is_empty(),
        _ => false,
    }
}

/// A generator's own template, with what is empty in it from the set's.
fn fill_empty(own: &Node, base: &Node) -> Node {
    let (Value::Map(map), Value::Map(below)) = (&own.value, &base.value) else {
        return if is_zero(own) { base } else { own }.clone();
    };
    let mut filled = (**map).clone();
    for entry in &**below {
        let node = match map.get(&entry.key) {
            Some(own) if &*entry.key == "valuesObject" => own.clone(),
            Some(own) => fill_empty(own, &entry.node),
            None => entry.node.clone(),
        };
        filled.insert(entry.with_node(node));
    }
    Node::new(filled, own.place)
}

/// The texts of all values, by path.
fn flatten(parameters: &Node) -> Map {
    let mut found = Map::default();
    let mut open = vec![(String::new(), parameters)];
    while let Some((path, node)) = open.pop() {
        let name = |key: &str| {
            let joint = if path.is_empty() { "" } else { "." };
            format!("{path}{joint}{key}")
        };
        match &node.value {
            Value::Map(map) => open.extend({ map.iter() }.map(|one| (name(&one.key), &one.node))),
            Value::List(items) => {
                let items = items.iter().enumerate();
                open.extend(items.map(|(index, item)| (name(&index.to_string()), item)));
            }
            value => {
                let node = Node::new(print(value), node.place);
                found.insert(Entry::holding(path, node));
            }
        }
    }
    found
}

/// What a label selector may require of a key.
const OPERATORS: [&str; 4] = ["In", "NotIn", "Exists", "DoesNotExist"];

/// Whether a label selector selects parameters.
fn selects(selector: &Node, parameters: &Map) -> bool {
    let value = |key: &str| parameters.get(key).and_then(|node| node.value.as_str());
    let is_met = |requirement: &Node| {
        let value = value(requirement.text(&["key"]).unwrap_or_default());
        let mut values = requirement.items(&["values"]).iter();
        let is_among = values.any(|one| value.is_some() && one.value.as_str() == value);
        match requirement.text(&["operator"]) {
            Some("In") => is_among,
            Some("NotIn") => !is_among,
            Some("Exists") => value.is_some(),
            _ => value.is_none(),
        }
    };
    let mut labels = selector.entries(&["matchLabels"]);
    let mut requirements = selector.items(&["matchExpressions"]).iter();
    labels.all(|entry| value(&entry.key) == entry.node.value.as_str()) && requirements.all(is_met)
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;
    use yaml_tree::value::Node;

    use super::fill_empty;

    /// As Argo CD merges them: an empty value of Go is none.
    #[test]
    fn what_is_empty_in_a_template_comes_from_the_set() {
        let read = |text: &str| -> Node {
            yaml_tree::values(text, FileId(0), Engine::Helm4).expect("values")
        };
        let own = read("{a: null, b: false, c: '', d: [], e: {f: ''}, g: x, h: 0}");
        let base = read("{a: 1, b: true, c: z, d: [z], e: {f: z}, g: z, h: 2, i: z}");
        let wanted = read("{a: 1, b: true, c: z, d: [z], e: {f: z}, g: x, h: 0, i: z}");
        let filled = fill_empty(&own, &base);
        assert!(filled.value.same(&wanted.value), "{filled:?}");
    }
}
