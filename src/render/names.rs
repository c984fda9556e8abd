//! Names of the clusters that one pattern finds, from a template over the paths of their files.

use std::path::Path;
use std::sync::Arc;

use yaml_tree::place::Source;
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::model::finding::Finding;
use crate::model::rule::RuleId;

use super::context;
use super::engine::Engine;

/// What messages call the template.
const TEMPLATE: &str = "clusters[].name";

/// A compiled template of cluster names. It knows `path` as the Git generator of Argo CD's ApplicationSet does:
/// `path.path` is the folder, `path.basename` its last part, `path.segments` its parts and `path.filename` the file.
/// Source: <https://argo-cd.readthedocs.io/en/stable/operator-manual/applicationset/Generators-Git/>
pub struct ClusterNames(Engine);

impl ClusterNames {
    /// Compiles the template.
    ///
    /// # Errors
    /// It does not compile.
    pub fn new(template: &str) -> Result<Self, Box<Finding>> {
        let mut engine = Engine::new();
        let mut findings = Vec::new();
        let source = Arc::new(Source::new(TEMPLATE, template));
        engine.add(TEMPLATE.to_owned(), source, &mut findings);
        match findings.first() {
            Some(finding) => Err(project_finding(finding)),
            None => Ok(Self(engine)),
        }
    }

    /// The name of the cluster whose values are a file, or composed by a folder.
    ///
    /// # Errors
    /// The template fails, for instance because the path has fewer folders.
    pub fn name_of(&self, path: &Path, is_folder: bool) -> Result<String, Box<Finding>> {
        let (folder, file) = match (is_folder, path.parent(), path.file_name()) {
            (false, Some(folder), Some(file)) => (folder, file.to_string_lossy()),
            _ => (path, "".into()),
        };
        let segments = folder
            .iter()
            .map(|part| part.to_string_lossy().into_owned());
        let segments: Vec<String> = segments.filter(|part| part != "/").collect();
        let basename = segments.last().cloned().unwrap_or_default();
        let parts = [
            Entry::from_value("path", Value::String(segments.join("/").into())),
            Entry::from_value("basename", Value::String(basename.into())),
            Entry::from_value("filename", Value::String(file.as_ref().into())),
            Entry::from_value(
                "segments",
                Value::List(Arc::new(
                    segments
                        .into_iter()
                        .map(|part| Node::from_value(Value::String(part.into())))
                        .collect(),
                )),
            ),
        ];
        let path = Entry::from_value("path", Value::from(Map::from_iter(parts)));
        let scope = context::map(&Arc::new(Map::from_iter([path])));
        self.0
            .render_line(TEMPLATE, scope)
            .map_err(|finding| project_finding(&finding))
    }
}

/// The finding, to be placed in the project file, where the template is written.
fn project_finding(finding: &Finding) -> Box<Finding> {
    let help =
        "a name may use `path.basename`, `path.segments[0]`, `path.path` and `path.filename`";
    Box::new(Finding::new(RuleId::ProjectFile, finding.message.as_str()).help(help))
}
