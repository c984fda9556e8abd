//! Renders the templates of a chart as `helm template` does.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use go_template::root::{self, Chart, Release, Root};
use go_template::value::Map;
use go_template::{Budget, Definition, Engine, Error, Host, Rendered, Template, Value, convert};
use yaml_tree::value::Node;

use super::Texts;
use super::files::Files;

/// A chart with its dependencies.
#[derive(Clone, Debug)]
pub struct ChartTree {
    /// `.Chart`
    pub chart: Chart,
    /// Its name in the names of templates: the chart's own, below the charts that depend on it.
    pub path: String,
    /// Its own values.
    pub values: Node,
    /// The files below `templates/`.
    pub templates: Arc<Vec<ChartTemplate>>,
    /// `.Files`
    pub files: Arc<Texts>,
    /// Its dependencies, in the order of Chart.yaml.
    pub dependencies: Vec<Dependency>,
}

/// A file below `templates/`.
#[derive(Debug)]
pub struct ChartTemplate {
    /// The path as in `.Template.Name`.
    pub name: Arc<str>,
    /// The parsed text, or why it cannot be parsed.
    pub template: Result<Template, Error>,
}

/// A chart that another one depends on.
#[derive(Clone, Debug)]
pub struct Dependency {
    /// The key of its values, which is its alias or name.
    pub key: Arc<str>,
    /// Whether the chart declares it. One that is only there is always on.
    pub is_declared: bool,
    /// Whether it is declared, and not there.
    pub is_missing: bool,
    /// The paths of values that switch it on or off; the first one that is set decides.
    pub conditions: Vec<String>,
    /// The keys of `tags` that switch it on or off, where no condition does.
    pub tags: Vec<String>,
    /// The values of it that the chart has too.
    pub imports: Vec<Import>,
    /// The chart.
    pub chart: Arc<ChartTree>,
}

/// A map of a dependency's values that the chart has too.
#[derive(Clone, Debug)]
pub struct Import {
    /// The path of the map in the dependency's values.
    pub child: String,
    /// The path in the chart's values; empty for all of them.
    pub parent: String,
}

/// A rendered file.
pub struct RenderedFile<'c> {
    /// The template.
    pub template: &'c ChartTemplate,
    /// What it renders to.
    pub result: Result<Rendered, Error>,
}

impl ChartTree {
    /// Renders each file that is wanted with these values, sorted by name. Files fail one by one.
    pub fn render<'c>(
        &'c self,
        values: &Node,
        release: &Release,
        engine: Engine,
        budget: &Rc<Budget>,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Vec<RenderedFile<'c>> {
        if values.opaque().is_some() {
            budget.note_label();
        }
        let mut all = Vec::new();
        self.add_templates(&mut all);
        // Helm parses the deepest files first, and a later definition replaces an earlier one.
        all.sort_by_key(|template| (template.name.matches('/').count(), &template.name));
        let host = ChartHost {
            engine,
            is_live: release.is_live,
            all,
        };
        let of_chart = Rendering {
            release,
            engine,
            budget,
        };
        let mut roots = Vec::new();
        let map = values.value.as_map().cloned().unwrap_or_default();
        let own = convert::from_map(root::values_type(engine), &map);
        self.add_roots(&of_chart, own, &mut roots);
        roots.retain(|root| is_wanted(&root.template.name));
        // Helm renders the deepest files first, and each group of equal depth backwards: one may change the values of the next.
        roots.sort_by_key(|root| {
            let depth = root.template.name.matches('/').count();
            std::cmp::Reverse((depth, &root.template.name))
        });
        let render = |root: TemplateRoot<'c>| {
            let TemplateRoot { template, dot, .. } = root;
            root::set_template(&dot, root.base, Arc::clone(&template.name));
            let result = match &template.template {
                Ok(parsed) => go_template::render(parsed, &Value::Map(dot), &host, budget),
                Err(error) => Err(error.clone()),
            };
            RenderedFile { template, result }
        };
        let mut rendered: Vec<RenderedFile<'_>> = roots.into_iter().map(render).collect();
        rendered.sort_by(|one, other| one.template.name.cmp(&other.template.name));
        rendered
    }

    /// Whether a file does not only define templates for the others. Helm refuses the chart if it cannot parse one of them.
    fn renders(&self, file: &ChartTemplate) -> bool {
        let name = file.name.rsplit('/').next().unwrap_or(&file.name);
        let is_library = self.chart.metadata.text(&["type"]) == Some("library");
        file.template.is_err() || !name.starts_with('_') && !is_library
    }

    fn add_templates<'c>(&'c self, all: &mut Vec<&'c ChartTemplate>) {
        all.extend(&*self.templates);
        for dependency in &self.dependencies {
            dependency.chart.add_templates(all);
        }
    }

    /// Adds each file that is rendered, with the root that all files of one chart share. Returns that root.
    fn add_roots<'c>(
        &'c self,
        rendering: &Rendering<'_>,
        own: Value,
        roots: &mut Vec<TemplateRoot<'c>>,
    ) -> Value {
        let Rendering {
            release,
            engine,
            budget,
        } = *rendering;
        let below = |key: &str| match &own {
            Value::Map(own) => match own.get(key) {
                Ok(Some(Value::Map(below))) => Some(below),
                _ => None,
            },
            _ => None,
        };
        let mut subcharts = BTreeMap::new();
        for Dependency { key, chart, .. } in &self.dependencies {
            // What a template of one changes in a map is changed for the other.
            if let Some(below) = below(key) {
                let values = Map::lazy(root::values_type(engine), Rc::new(below));
                let root = chart.add_roots(rendering, Value::Map(Rc::new(values)), roots);
                subcharts.insert(Arc::clone(key), root);
            }
        }
        let root = Root {
            engine,
            budget,
            release,
            chart: &self.chart,
            files: Files::value(&self.files, budget),
            values: own,
            subcharts: Value::map(subcharts),
        };
        let dot = root.dot();
        let base: Arc<str> = format!("{}/templates", self.path).into();
        for template in self.templates.iter().filter(|one| self.renders(one)) {
            roots.push(TemplateRoot {
                template,
                dot: Rc::clone(&dot),
                base: Arc::clone(&base),
            });
        }
        Value::Map(dot)
    }
}

/// What all charts of a release are rendered with.
struct Rendering<'r> {
    release: &'r Release,
    engine: Engine,
    budget: &'r Rc<Budget>,
}

/// A file that is rendered, with what it sees.
struct TemplateRoot<'c> {
    template: &'c ChartTemplate,
    dot: Rc<Map>,
    /// `.Template.BasePath`
    base: Arc<str>,
}

/// The templates of a chart and its dependencies.
struct ChartHost<'c> {
    engine: Engine,
    is_live: bool,
    /// In the order in which definitions are looked for.
    all: Vec<&'c ChartTemplate>,
}

impl Host for ChartHost<'_> {
    fn engine(&self) -> Engine {
        self.engine
    }

    fn has_cluster(&self) -> bool {
        self.is_live
    }

    fn find_definition(&self, name: &str) -> Option<Definition<'_>> {
        let parsed =
            || { self.all.iter() }.filter_map(|one| Some((one, one.template.as_ref().ok()?)));
        let defined = parsed().find_map(|(_, template)| template.find_definition(name));
        let file = || parsed().find(|(one, _)| *one.name == *name);
        let template = defined.or_else(|| file().map(|(_, template)| template.clone()))?;
        Some(Definition::Template(template))
    }
}
