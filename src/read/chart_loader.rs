//! Makes charts of their files: metadata, values, templates, `.Files`, and the charts that they depend on.

use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use go_template::root::metadata_text;
use go_template::{Error, Template};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Sources};
use yaml_tree::value::{Node, Value};

use capi::secrets::{self, Included};

use crate::evaluate::{self, ChartTemplate, ChartTree, Dependency, Import, Texts};
use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::chart_files::{SCHEMA, Tree, file_text, is_text};
use super::chart_metadata::{is_in_range, key, refusal};
use super::files::{notice_finding, source, syntax_finding};
use super::values_schema::SchemaFile;

/// What is read of a chart, whatever depends on it.
struct ReadFiles {
    values: Node,
    /// The templates by their paths below the chart's folder, each with its file.
    templates: Vec<(String, FileId, Result<Template, Error>)>,
    texts: Arc<Texts>,
    schema: Option<Arc<SchemaFile>>,
}

/// Makes charts of files.
pub(super) struct Loader<'l> {
    tree: &'l Tree,
    sources: &'l mut Sources,
    engine: Engine,
    /// The files of the templates, by name.
    pub(super) templates: BTreeMap<Arc<str>, FileId>,
    /// The schemas of values, by the path of the chart.
    pub(super) schemas: BTreeMap<String, Arc<SchemaFile>>,
    /// Why Helm refuses the chart or one in it, as sentences.
    pub(super) refusals: Vec<String>,
    /// One sentence for each template that is no text.
    pub(super) unread: Vec<String>,
    /// The keys that occur twice in the values of the chart that all files are of.
    pub(super) duplicates: Vec<Finding>,
    /// What is read of each chart, by its path: several may depend on one, and one under several names.
    read: BTreeMap<String, Rc<ReadFiles>>,
    /// The templates that are secret, because Secrets of the chart include them.
    included: Included,
}

impl<'l> Loader<'l> {
    pub(super) fn new(tree: &'l Tree, sources: &'l mut Sources, engine: Engine) -> Self {
        let templates = { tree.iter() }.filter(|(name, _)| name.contains("templates/"));
        let texts =
            templates.filter_map(|(_, file)| std::str::from_utf8(file.content.plain()?).ok());
        Self {
            included: Included::find(texts),
            tree,
            sources,
            engine,
            templates: BTreeMap::new(),
            schemas: BTreeMap::new(),
            refusals: Vec::new(),
            unread: Vec::new(),
            duplicates: Vec::new(),
            read: BTreeMap::new(),
        }
    }

    /// The chart that all files are of, with its Chart.yaml.
    ///
    /// # Errors
    /// The chart is wrong.
    pub(super) fn chart(&mut self) -> Result<(ChartTree, Node, FileId), Box<Finding>> {
        let (metadata, file) = self.values("Chart.yaml")?;
        Ok((self.load("", None, None, &metadata)?, metadata, file))
    }

    /// The chart below this path. `parent` is the name of the chart that it is in, in the names of templates, and `alias` its
    /// own name there.
    fn load(
        &mut self,
        at: &str,
        parent: Option<&str>,
        alias: Option<&str>,
        metadata: &Node,
    ) -> Result<ChartTree, Box<Finding>> {
        let word = |key: &str| metadata_text(metadata, key);
        if let Some(why) = refusal(metadata, self.engine) {
            let file = self.tree.get(&format!("{at}Chart.yaml"));
            let file = file.map_or("Chart.yaml", |file| &file.shown);
            self.refusals.push(format!("Helm refuses `{file}`: {why}"));
        }
        let chart = evaluate::Chart {
            name: { alias.map(Arc::from) }
                .or(word("name"))
                .unwrap_or_default(),
            version: word("version").unwrap_or_else(|| "0.0.0".into()),
            metadata: metadata.clone(),
            is_root: parent.is_none(),
        };
        let path = match parent {
            Some(parent) => format!("{parent}/charts/{}", chart.name),
            None => chart.name.to_string(),
        };
        let files = self.files(at, &path)?;
        let templates = files.templates.iter().map(|(below, file, template)| {
            let name: Arc<str> = format!("{path}/{below}").into();
            self.templates.insert(Arc::clone(&name), *file);
            let template = template.clone();
            ChartTemplate { name, template }
        });
        let templates = Arc::new(templates.collect::<Vec<_>>());
        if let Some(schema) = &files.schema {
            self.schemas.insert(path.clone(), Arc::clone(schema));
        }
        let dependencies = self.dependencies(at, metadata, &path)?;
        Ok(ChartTree {
            chart,
            path,
            values: files.values.clone(),
            templates,
            files: Arc::clone(&files.texts),
            dependencies,
        })
    }

    /// The files of the chart below this path, parsed once. Errors in a template name the first chart that has it.
    fn files(&mut self, at: &str, path: &str) -> Result<Rc<ReadFiles>, Box<Finding>> {
        if let Some(known) = self.read.get(at) {
            return Ok(Rc::clone(known));
        }
        let (values, _) = self.values(&format!("{at}values.yaml"))?;
        let (mut templates, mut texts) = (Vec::new(), Texts::new());
        for (name, file) in self.tree.range(at.to_owned()..) {
            let Some(below) = name.strip_prefix(at) else {
                break;
            };
            if below.starts_with("templates/") {
                let plain = file.content.plain().unwrap_or_default();
                let Ok(text) = std::str::from_utf8(plain) else {
                    let shown = &file.shown;
                    self.unread
                        .push(format!("`{shown}` cannot be read: it is not UTF-8"));
                    continue;
                };
                let name = format!("{path}/{below}");
                let template = secrets::parse_template(&name, &*file.shown, text, &self.included);
                let source = self.sources.add(template.source);
                templates.push((below.to_owned(), source, template.parsed));
            } else if is_text(below) {
                texts.extend(file_text(file).map(|text| (below.into(), text)));
            }
        }
        let schema = self.tree.get(&format!("{at}{SCHEMA}"));
        let schema = schema.map(|file| SchemaFile::parse(file.shown.clone(), &file.content));
        let read = Rc::new(ReadFiles {
            values,
            templates,
            texts: Arc::new(texts),
            schema: schema.map(Arc::new),
        });
        self.read.insert(at.to_owned(), Rc::clone(&read));
        Ok(read)
    }

    /// The charts below `charts/`. One that is not declared counts too.
    fn dependencies(
        &mut self,
        at: &str,
        metadata: &Node,
        path: &str,
    ) -> Result<Vec<Dependency>, Box<Finding>> {
        let inside = format!("{at}charts/");
        let names = { self.tree.range(inside.clone()..) }
            .map_while(|(name, _)| name.strip_prefix(&*inside))
            .filter_map(|below| below.strip_suffix("/Chart.yaml"))
            .filter(|name| !name.contains('/'));
        let mut known = Vec::new();
        for name in names.map(str::to_owned).collect::<Vec<_>>() {
            let at = format!("{inside}{name}/");
            let (metadata, _) = self.values(&format!("{at}Chart.yaml"))?;
            let text = |key: &str| metadata_text(&metadata, key).unwrap_or_default();
            let (name, version) = (text("name"), text("version"));
            known.push(Inside {
                at,
                name,
                version,
                metadata,
            });
        }
        let (required, _) = self.values(&format!("{at}requirements.yaml"))?;
        let declared = match required.get_path(&["dependencies"]) {
            Some(_) => &required,
            None => metadata,
        };
        let declared = declared.items(&["dependencies"]);
        let mut dependencies = Vec::new();
        for declared in declared {
            let key = key(declared);
            let found = { known.iter() }.find(|one| one.is_declared(declared, self.engine));
            let is_other = || {
                let name = metadata_text(declared, "name").unwrap_or_default();
                known.iter().any(|one| one.name == name)
            };
            let chart = match found {
                Some(Inside { at, metadata, .. }) => {
                    self.load(at, Some(path), Some(&key), metadata)?
                }
                // Of another version, it is there as if nobody declared it.
                None if is_other() => continue,
                None => missing_chart(&key),
            };
            dependencies.push(Dependency {
                is_missing: found.is_none(),
                ..dependency(declared, &key, chart)
            });
        }
        for one in &known {
            let is_declared = |declared: &&Node| one.is_declared(declared, self.engine);
            if declared.iter().all(|declared| !is_declared(&declared)) {
                let chart = self.load(&one.at, Some(path), None, &one.metadata)?;
                let nothing = Node::from_value(Value::empty_map());
                let declared = declared.iter().find(|declared| key(declared) == one.name);
                dependencies.push(dependency(declared.unwrap_or(&nothing), &one.name, chart));
            }
        }
        Ok(dependencies)
    }

    /// The values of a file, empty if there is none.
    fn values(&mut self, name: &str) -> Result<(Node, FileId), Box<Finding>> {
        let Some(file) = self.tree.get(name) else {
            return Ok((Node::from_value(Value::empty_map()), FileId(0)));
        };
        let source = source(Path::new(&file.shown), &file.content, self.engine)?;
        let source = Arc::new(source);
        let id = self.sources.add(Arc::clone(&source));
        let refuse = |error| Box::new(syntax_finding(error, self.sources));
        let read = secrets::documents(&source, id, self.engine).map_err(refuse)?;
        if name == "values.yaml" {
            let found = read.notices.iter();
            let found = found.filter_map(|notice| notice_finding(notice, self.sources));
            let is_twice = |finding: &Finding| finding.rule == RuleId::DuplicateKey;
            self.duplicates = found.filter(is_twice).collect();
        }
        let values = read.values().map_err(refuse)?;
        Ok((values, id))
    }
}

/// A chart below `charts/`.
struct Inside {
    /// The path to its files.
    at: String,
    name: Arc<str>,
    version: Arc<str>,
    metadata: Node,
}

impl Inside {
    /// Whether it is the one that a dependency names.
    fn is_declared(&self, dependency: &Node, engine: Engine) -> bool {
        let text = |key: &str| metadata_text(dependency, key).unwrap_or_default();
        self.name == text("name") && is_in_range(&text("version"), &self.version, engine)
    }
}

/// An empty chart instead of a dependency that is not there.
fn missing_chart(name: &Arc<str>) -> ChartTree {
    let nothing = || Node::from_value(Value::empty_map());
    ChartTree {
        chart: evaluate::Chart {
            name: Arc::clone(name),
            version: "0.0.0".into(),
            metadata: nothing(),
            is_root: false,
        },
        path: name.to_string(),
        values: nothing(),
        templates: Arc::default(),
        files: Arc::default(),
        dependencies: Vec::new(),
    }
}

/// A dependency, with what its chart says of it.
fn dependency(declared: &Node, key: &str, chart: ChartTree) -> Dependency {
    let conditions = declared.text(&["condition"]).unwrap_or_default().split(',');
    let conditions = conditions.map(|path| path.trim().to_owned());
    let tags = declared.items(&["tags"]).iter();
    let import = |one: &Node| match one.value.as_str() {
        Some(name) => Some(Import {
            child: format!("exports.{name}"),
            parent: String::new(),
        }),
        None => Some(Import {
            child: one.text(&["child"])?.to_owned(),
            parent: one.text(&["parent"])?.trim_matches('.').to_owned(),
        }),
    };
    Dependency {
        key: key.into(),
        is_declared: declared.get_path(&["name"]).is_some(),
        is_missing: false,
        conditions: conditions.filter(|path| !path.is_empty()).collect(),
        tags: tags
            .filter_map(|tag| Some(tag.value.as_str()?.to_string()))
            .collect(),
        imports: { declared.items(&["import-values"]).iter() }
            .filter_map(import)
            .collect(),
        chart: Arc::new(chart),
    }
}
