//! Renders the templates of a chart as `helm template` does.

use std::rc::Rc;
use std::sync::Arc;

use go_template::root::{self, Chart, Release, Root};
use go_template::{Budget, Definition, Engine, Error, Host, Rendered, Template, convert};
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
        release: &'c Release,
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
        let host = ChartHost { engine, all };
        let mut roots = Vec::new();
        self.add_roots(values, release, engine, budget, &mut roots);
        roots.retain(|(template, _)| is_wanted(&template.name));
        // Helm renders the deepest files first, and each group of equal depth backwards: one may change the values of the next.
        roots.sort_by_key(|(template, _)| {
            let depth = template.name.matches('/').count();
            std::cmp::Reverse((depth, &template.name))
        });
        let render = |(template, root): (&'c ChartTemplate, Root<'_>)| {
            let result = match &template.template {
                Ok(parsed) => go_template::render(parsed, &root.dot(), &host, budget),
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

    /// Adds each file that is rendered, with its root. The files of one chart share their values.
    fn add_roots<'c>(
        &'c self,
        values: &Node,
        release: &'c Release,
        engine: Engine,
        budget: &Rc<Budget>,
        roots: &mut Vec<(&'c ChartTemplate, Root<'c>)>,
    ) {
        let map = values.value.as_map().cloned().unwrap_or_default();
        let own = convert::from_map(root::values_type(engine), &map);
        let base: Arc<str> = format!("{}/templates", self.path).into();
        for template in self.templates.iter().filter(|one| self.renders(one)) {
            let root = Root {
                engine,
                release,
                chart: &self.chart,
                base: Arc::clone(&base),
                template: Arc::clone(&template.name),
                files: Files::value(&self.files, budget),
                values: own.clone(),
            };
            roots.push((template, root));
        }
        for dependency in &self.dependencies {
            if let Some(own) = values.get_path(&[&*dependency.key]) {
                let chart = &dependency.chart;
                chart.add_roots(own, release, engine, budget, roots);
            }
        }
    }
}

/// The templates of a chart and its dependencies.
struct ChartHost<'c> {
    engine: Engine,
    /// In the order in which definitions are looked for.
    all: Vec<&'c ChartTemplate>,
}

impl Host for ChartHost<'_> {
    fn engine(&self) -> Engine {
        self.engine
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
