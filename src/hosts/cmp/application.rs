//! An Application's manifest → the environment that Argo CD's repo-server gives a plugin.
//!
//! Source: argoproj/argo-cd `reposerver/repository/repository.go` (`newEnv`, `getPluginEnvs`, `getPluginParamEnvs`) and
//! `pkg/apis/application/v1alpha1/types.go` (`ApplicationSourcePluginParameters.Environ`, `Env.Envsubst`).

use clap::Args;
use yaml_tree::json::{Html, to_json};
use yaml_tree::value::{Entry, Map, Node, Value};

use crate::error::Error;

use super::environment::{APP_NAME, ENV_PREFIX, Environment, PARAMETERS, SOURCE_PATH};

/// Argo CD's own namespace: an Application elsewhere has its namespace before its name.
const OWN_NAMESPACE: &str = "argocd";

/// What Argo CD knows besides the manifest.
#[derive(Clone, Debug, Default, Args)]
pub struct Simulated {
    /// The commit that Argo CD would have checked out.
    #[arg(long, value_name = "COMMIT")]
    pub revision: Option<String>,
    /// The destination cluster's Kubernetes version.
    #[arg(long, default_value = "", value_name = "VERSION")]
    pub kube_version: String,
    /// The destination cluster's API versions.
    #[arg(long, value_delimiter = ',', value_name = "VERSIONS")]
    pub api_versions: Vec<String>,
    /// Which of the Application's sources, from 1.
    #[arg(long, value_name = "NUMBER")]
    pub source: Option<usize>,
}

/// What is run where.
pub(super) struct Run {
    pub(super) environment: Environment,
    /// The application's folder below the repository's root.
    pub(super) path: String,
}

/// The environment for an Application among the objects of a file.
pub(super) fn run(objects: &[Node], simulated: &Simulated) -> Result<Run, Error> {
    let mut applications = objects
        .iter()
        .filter(|object| text(object, &["kind"]) == "Application");
    let (Some(application), None) = (applications.next(), applications.next()) else {
        return Err(Error::usage(
            "the file must hold one Application: kind `Application`, group `argoproj.io`",
        ));
    };
    let source = source(application, simulated.source)?;
    let path = text(source, &["path"]);
    let is_inside = !path.starts_with('/') && path.split('/').all(|part| part != "..");
    if path.is_empty() || !is_inside {
        return Err(Error::usage(
            "the source has no `path` below the repository: a plugin serves folders only",
        ));
    }
    let mut environment = base(application, source, simulated)?;
    if let Some(plugin) = source.get_path(&["plugin"]) {
        add_plugin_variables(plugin, &mut environment)?;
    }
    Ok(Run {
        environment,
        path: path.to_owned(),
    })
}

/// The text at a path; empty where there is none, as in Argo CD's own types.
fn text<'n>(node: &'n Node, path: &[&str]) -> &'n str {
    node.text(path).unwrap_or_default()
}

fn source(application: &Node, number: Option<usize>) -> Result<&Node, Error> {
    let sources = application.items(&["spec", "sources"]);
    if sources.is_empty() {
        let source = application.get_path(&["spec", "source"]);
        return source.ok_or_else(|| Error::usage("the Application has no `spec.source`"));
    }
    let number = match number {
        Some(number) => Some(number),
        None => {
            let with_plugin = |source: &Node| source.get_path(&["plugin"]).is_some();
            let mut found = (1..).zip(sources).filter(|(_, source)| with_plugin(source));
            let first = found.next().map(|(number, _)| number);
            first.filter(|_| found.next().is_none())
        }
    };
    let found = number.and_then(|number| sources.get(number.checked_sub(1)?));
    found.ok_or_else(|| {
        Error::usage("the Application has several sources: say which one, from 1, with --source")
    })
}

fn base(application: &Node, source: &Node, simulated: &Simulated) -> Result<Environment, Error> {
    let (name, namespace) = (
        text(application, &["metadata", "name"]),
        text(application, &["metadata", "namespace"]),
    );
    let name = match namespace {
        "" | OWN_NAMESPACE => name.to_owned(),
        other => format!("{other}_{name}"),
    };
    let target = text(source, &["targetRevision"]);
    let revision = match &simulated.revision {
        Some(revision) => revision.clone(),
        None if is_commit(target) => target.to_owned(),
        None => "0".repeat(40),
    };
    let short = |length: usize| revision.get(..length).unwrap_or(&revision).to_owned();
    let project = match text(application, &["spec", "project"]) {
        "" => "default",
        project => project,
    };
    let mut environment = Environment::default();
    for (variable, value) in [
        (APP_NAME, name),
        (
            "ARGOCD_APP_NAMESPACE",
            text(application, &["spec", "destination", "namespace"]).into(),
        ),
        ("ARGOCD_APP_PROJECT_NAME", project.into()),
        ("ARGOCD_APP_REVISION", revision.clone()),
        ("ARGOCD_APP_REVISION_SHORT", short(7)),
        ("ARGOCD_APP_REVISION_SHORT_8", short(8)),
        (
            "ARGOCD_APP_SOURCE_REPO_URL",
            text(source, &["repoURL"]).into(),
        ),
        (SOURCE_PATH, text(source, &["path"]).into()),
        ("ARGOCD_APP_SOURCE_TARGET_REVISION", target.into()),
        ("KUBE_VERSION", kube_version(&simulated.kube_version)?),
        ("KUBE_API_VERSIONS", simulated.api_versions.join(",")),
    ] {
        environment.set(variable, value);
    }
    Ok(environment)
}

fn is_commit(text: &str) -> bool {
    text.len() == 40 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// The numbers of a version (`k8s.io/apimachinery/pkg/util/version`, `ParseGeneric`): `1.31.8` for `v1.31.8+rke2r1`.
fn kube_version(text: &str) -> Result<String, Error> {
    if text.is_empty() {
        return Ok(String::new());
    }
    let bare = text.trim();
    let bare = bare.strip_prefix('v').unwrap_or(bare);
    let end = bare.find(|letter: char| !letter.is_ascii_digit() && letter != '.');
    let numbers = bare[..end.unwrap_or(bare.len())].trim_end_matches('.');
    let parts: Vec<&str> = numbers.split('.').collect();
    if parts.len() < 2 || parts.iter().any(|part| part.is_empty()) {
        return Err(Error::usage(format!(
            "`{text}` is not a Kubernetes version"
        )));
    }
    Ok(numbers.to_owned())
}

fn add_plugin_variables(plugin: &Node, environment: &mut Environment) -> Result<(), Error> {
    let known = environment.clone();
    for variable in plugin.items(&["env"]) {
        let name = format!("{ENV_PREFIX}{}", text(variable, &["name"]));
        environment.set(name, expand(text(variable, &["value"]), &known));
    }
    let parameters = plugin.items(&["parameters"]);
    if parameters.is_empty() {
        environment.set(PARAMETERS, "null");
        return Ok(());
    }
    let mut passed = Vec::new();
    for parameter in parameters {
        passed.push(Node::from_value(json(parameter)?));
        add_parameter(parameter, environment);
    }
    environment.set(PARAMETERS, to_json(&Value::from(passed), Html::Escaped));
    Ok(())
}

/// A parameter as JSON; of its three kinds of value those that are set.
fn json(parameter: &Node) -> Result<Map, Error> {
    let mut map = Map::from_iter([Entry::from_value("name", text(parameter, &["name"]))]);
    for (key, fits) in [
        (
            "string",
            (|value| value.as_str().is_some()) as fn(&Value) -> bool,
        ),
        ("array", |value| value.as_list().is_some()),
        ("map", |value| value.as_map().is_some()),
    ] {
        let Some(node) = parameter
            .get_path(&[key])
            .filter(|node| !node.value.is_null())
        else {
            continue;
        };
        if !fits(&node.value) {
            let name = text(parameter, &["name"]);
            return Err(Error::usage(format!(
                "`{key}` of the parameter `{name}` is of another type"
            )));
        }
        map.insert(Entry::holding(key, node.clone()));
    }
    Ok(map)
}

/// The `PARAM_…` variables.
fn add_parameter(parameter: &Node, environment: &mut Environment) {
    let base = format!("PARAM_{}", variable_name(text(parameter, &["name"])));
    if let Some(text) = parameter.text(&["string"]) {
        environment.set(base.clone(), text);
    }
    for entry in parameter.entries(&["map"]) {
        let key = variable_name(&entry.key);
        environment.set(format!("{base}_{key}"), text(&entry.node, &[]));
    }
    for (index, item) in parameter.items(&["array"]).iter().enumerate() {
        environment.set(format!("{base}_{index}"), text(item, &[]));
    }
}

fn variable_name(name: &str) -> String {
    let name = name.to_uppercase();
    let letter = |letter: char| match letter {
        'A'..='Z' | '0'..='9' | '_' => letter,
        _ => '_',
    };
    name.chars().map(letter).collect()
}

/// Go's `os.Expand`: `$NAME` and `${NAME}`, unknown ones empty; `$$` is a dollar.
fn expand(text: &str, environment: &Environment) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('$') {
        out.push_str(before);
        if behind.is_empty() {
            out.push('$');
            return out;
        }
        let (name, width) = variable(behind);
        match name {
            "$" => out.push('$'),
            "" if width == 0 => out.push('$'),
            name => out.push_str(environment.get(name).unwrap_or_default()),
        }
        rest = &behind[width..];
    }
    out.push_str(rest);
    out
}

/// The name at the start of what follows a dollar, and how much of it is taken (`os.getShellName`).
fn variable(text: &str) -> (&str, usize) {
    let is_special = |letter: char| "*#$@!?-0123456789".contains(letter);
    if let Some(inner) = text.strip_prefix('{') {
        return match inner.find('}') {
            None => ("", 1),
            Some(end) => (&inner[..end], end + 2),
        };
    }
    if text.starts_with(is_special) {
        return (&text[..1], 1);
    }
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let end = text.find(|letter| !is_part(letter)).unwrap_or(text.len());
    (&text[..end], end)
}

#[cfg(test)]
mod tests {
    use super::{Environment, expand, kube_version};

    #[test]
    fn dollars_are_read_as_go_reads_them() {
        let environment: Environment = [("A".to_owned(), "x".to_owned())].into_iter().collect();
        for (text, expected) in [
            ("$A${A}b", "xxb"),
            ("$$A", "$A"),
            ("$B-", "-"),
            ("a$", "a$"),
            ("$.x", "$.x"),
            ("${}b", "b"),
            ("${A", "A"),
            ("$1a", "a"),
            ("é$Aé", "éxé"),
        ] {
            assert_eq!(expand(text, &environment), expected, "{text}");
        }
    }

    #[test]
    fn only_a_versions_numbers_reach_a_plugin() {
        let version = |text: &str| kube_version(text).map_err(|error| error.to_string());
        assert_eq!(version("v1.31").as_deref(), Ok("1.31"));
        assert_eq!(version("1.31.8-rc.1").as_deref(), Ok("1.31.8"));
        assert_eq!(version("").as_deref(), Ok(""));
        assert!(version("v1").is_err());
    }
}
