//! The root `.` of expressions: the values, and release, chart and capabilities as for `helm template`.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use yaml_tree::value::Node;

use super::object::Struct;
use super::signature::{Signature, Type};
use super::value::{Lazy, Map, Object, PLAIN_MAP};
use super::{Engine, Error, Value, print};

/// The group versions that Kubernetes itself serves. `.Capabilities.APIVersions.Has` finds these without a cluster.
const API_VERSIONS: &[&str] = &[
    "admissionregistration.k8s.io/v1",
    "admissionregistration.k8s.io/v1alpha1",
    "admissionregistration.k8s.io/v1beta1",
    "apiextensions.k8s.io/v1",
    "apiextensions.k8s.io/v1beta1",
    "apps/v1",
    "apps/v1beta1",
    "apps/v1beta2",
    "authentication.k8s.io/v1",
    "authentication.k8s.io/v1alpha1",
    "authentication.k8s.io/v1beta1",
    "authorization.k8s.io/v1",
    "authorization.k8s.io/v1beta1",
    "autoscaling/v1",
    "autoscaling/v2",
    "autoscaling/v2beta1",
    "autoscaling/v2beta2",
    "batch/v1",
    "batch/v1beta1",
    "certificates.k8s.io/v1",
    "certificates.k8s.io/v1alpha1",
    "certificates.k8s.io/v1beta1",
    "coordination.k8s.io/v1",
    "coordination.k8s.io/v1alpha2",
    "coordination.k8s.io/v1beta1",
    "discovery.k8s.io/v1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta2",
    "flowcontrol.apiserver.k8s.io/v1beta3",
    "internal.apiserver.k8s.io/v1alpha1",
    "networking.k8s.io/v1",
    "networking.k8s.io/v1alpha1",
    "networking.k8s.io/v1beta1",
    "node.k8s.io/v1",
    "node.k8s.io/v1alpha1",
    "node.k8s.io/v1beta1",
    "policy/v1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1",
    "rbac.authorization.k8s.io/v1alpha1",
    "rbac.authorization.k8s.io/v1beta1",
    "resource.k8s.io/v1alpha3",
    "resource.k8s.io/v1beta1",
    "scheduling.k8s.io/v1",
    "scheduling.k8s.io/v1alpha1",
    "scheduling.k8s.io/v1beta1",
    "storage.k8s.io/v1",
    "storage.k8s.io/v1alpha1",
    "storage.k8s.io/v1beta1",
    "storagemigration.k8s.io/v1alpha1",
    "v1",
];

/// `.Release`: always the first revision of an installation, as for `helm template`.
#[derive(Clone, Debug)]
pub struct Release {
    /// `.Release.Name`
    pub name: Arc<str>,
    /// `.Release.Namespace`
    pub namespace: Arc<str>,
}

/// `.Chart`
#[derive(Clone, Debug)]
pub struct Chart {
    /// `.Chart.Name`
    pub name: Arc<str>,
    /// `.Chart.Version`
    pub version: Arc<str>,
    /// Chart.yaml, which has the other fields.
    pub metadata: Node,
    /// Whether no other chart depends on it.
    pub is_root: bool,
}

/// The name of the Go type of `.Values`.
pub fn values_type(engine: Engine) -> &'static str {
    match engine {
        Engine::Helm4 => "common.Values",
        _ => "chartutil.Values",
    }
}

/// What the root shows.
#[derive(Debug)]
pub struct Root<'r> {
    /// The engine whose root it is.
    pub engine: Engine,
    /// `.Release`
    pub release: &'r Release,
    /// `.Chart`
    pub chart: &'r Chart,
    /// `.Template.BasePath`
    pub base: Arc<str>,
    /// `.Template.Name`
    pub template: Arc<str>,
    /// `.Files`
    pub files: Value,
    /// `.Values`
    pub values: Value,
}

impl Root<'_> {
    /// The root as a value.
    pub fn dot(self) -> Value {
        let text = |text: &Arc<str>| Value::String(Arc::clone(text));
        map([
            ("Values", self.values),
            (
                "Release",
                map([
                    ("Name", text(&self.release.name)),
                    ("Namespace", text(&self.release.namespace)),
                    ("Service", Value::from("Helm")),
                    ("Revision", Value::Int(1)),
                    ("IsInstall", Value::Bool(true)),
                    ("IsUpgrade", Value::Bool(false)),
                ]),
            ),
            ("Chart", chart(self.engine, self.chart)),
            ("Capabilities", capabilities(self.engine)),
            ("Files", self.files),
            (
                "Template",
                map([
                    ("Name", Value::String(self.template)),
                    ("BasePath", Value::String(self.base)),
                ]),
            ),
            ("Subcharts", map([])),
        ])
    }
}

fn map<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
    let entries: BTreeMap<Arc<str>, Value> =
        entries.map(|(key, value)| (Arc::from(key), value)).into();
    Value::Map(Rc::new(Map::new(entries)))
}

/// `.Chart`: a struct in Helm 3, a map in Helm 4.
fn chart(engine: Engine, chart: &Chart) -> Value {
    let metadata = Rc::new(Metadata(chart.clone()));
    match engine {
        Engine::Helm4 => Value::Map(Rc::new(Map::lazy(PLAIN_MAP, metadata))),
        _ => Value::Object(metadata),
    }
}

/// The fields of `.Chart`, read of Chart.yaml when a template reads them.
#[derive(Debug)]
struct Metadata(Chart);

/// How a field of Chart.yaml is read.
#[derive(Clone, Copy)]
enum Field {
    Text,
    Texts,
    Flag,
    Annotations,
    /// A list of maps. Their keys are those of Helm 4's maps, also where Helm 3 has structs.
    Records(&'static [(&'static str, &'static str, Field)]),
}

/// The fields in the order of their declaration, and their keys in Chart.yaml.
const FIELDS: &[(&str, &str, Field)] = &[
    ("Name", "name", Field::Text),
    ("Home", "home", Field::Text),
    ("Sources", "sources", Field::Texts),
    ("Version", "version", Field::Text),
    ("Description", "description", Field::Text),
    ("Keywords", "keywords", Field::Texts),
    ("Maintainers", "maintainers", Field::Records(MAINTAINER)),
    ("Icon", "icon", Field::Text),
    ("APIVersion", "apiVersion", Field::Text),
    ("Condition", "condition", Field::Text),
    ("Tags", "tags", Field::Text),
    ("AppVersion", "appVersion", Field::Text),
    ("Deprecated", "deprecated", Field::Flag),
    ("Annotations", "annotations", Field::Annotations),
    ("KubeVersion", "kubeVersion", Field::Text),
    ("Dependencies", "dependencies", Field::Records(DEPENDENCY)),
    ("Type", "type", Field::Text),
];

const MAINTAINER: &[(&str, &str, Field)] = &[
    ("Name", "name", Field::Text),
    ("Email", "email", Field::Text),
    ("URL", "url", Field::Text),
];

const DEPENDENCY: &[(&str, &str, Field)] = &[
    ("Name", "name", Field::Text),
    ("Version", "version", Field::Text),
    ("Repository", "repository", Field::Text),
    ("Condition", "condition", Field::Text),
    ("Tags", "tags", Field::Texts),
    ("Alias", "alias", Field::Text),
];

impl Field {
    /// The field that is at a key of this map.
    fn read(self, map: &Node, key: &str) -> Value {
        let texts = |node: &Node| node.value.as_str().map(Arc::clone);
        match self {
            Self::Text => Value::from(map.text(&[key]).unwrap_or_default()),
            Self::Texts => Value::strings(map.items(&[key]).iter().filter_map(texts)),
            Self::Flag => Value::Bool(map.flag(&[key])),
            Self::Annotations => {
                let entries = map.entries(&[key]);
                let entries = entries.filter_map(|entry| {
                    let text = Value::String(texts(&entry.node)?);
                    Some((Arc::clone(&entry.key), text))
                });
                Value::Map(Rc::new(Map::with_type(
                    "map[string]string",
                    entries.collect(),
                )))
            }
            Self::Records(fields) => {
                let record = |item: &Node| {
                    let field = |(name, key, field): &(&str, &str, Self)| {
                        (Arc::from(*name), field.read(item, key))
                    };
                    Value::map(fields.iter().map(field).collect())
                };
                Value::list(map.items(&[key]).iter().map(record).collect())
            }
        }
    }
}

impl Metadata {
    fn read(&self, name: &str) -> Option<Value> {
        let Self(chart) = self;
        match name {
            "Name" => Some(Value::String(Arc::clone(&chart.name))),
            "Version" => Some(Value::String(Arc::clone(&chart.version))),
            "IsRoot" => Some(Value::Bool(chart.is_root)),
            _ => {
                let (_, key, field) = FIELDS.iter().find(|(own, ..)| *own == name)?;
                Some(field.read(&chart.metadata, key))
            }
        }
    }
}

impl Lazy for Metadata {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        Ok(self.read(key))
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        let names = FIELDS.iter().map(|(name, ..)| *name);
        let mut keys: Vec<Arc<str>> = names.chain(["IsRoot"]).map(Arc::from).collect();
        keys.sort();
        Ok(keys)
    }
}

impl Object for Metadata {
    fn type_name(&self) -> &str {
        "struct { chart.Metadata; IsRoot bool }"
    }

    fn text(&self) -> String {
        let fields = FIELDS.iter().filter_map(|(name, ..)| self.read(name));
        let fields: Vec<String> = fields.map(|value| print::short(&value)).collect();
        format!("{{{{{}}} {}}}", fields.join(" "), self.0.is_root)
    }

    fn plain(&self) -> Value {
        let is_set = |value: &Value| value.truth().unwrap_or(true);
        let field = |(name, key, _): &(&str, &str, Field)| {
            let value = self.read(name).filter(is_set)?;
            Some((Arc::from(*key), value))
        };
        let fields = FIELDS.iter().filter_map(field);
        let root = (Arc::from("IsRoot"), Value::Bool(self.0.is_root));
        Value::map(fields.chain([root]).collect())
    }

    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        Ok(self.read(name))
    }
}

fn capabilities(engine: Engine) -> Value {
    let (kubernetes, helm) = match engine {
        Engine::Helm4 => (["v1.35.0", "1", "35"], "v4.1.4"),
        Engine::Helm3_18 => (["v1.32.0", "1", "32"], "v3.17.2"),
        _ => (["v1.34.0", "1", "34"], "v3.19.4"),
    };
    let fields = vec![
        (
            "KubeVersion",
            Value::Object(Rc::new(KubeVersion(kubernetes)) as Rc<dyn Object>),
        ),
        ("APIVersions", Value::Object(Rc::new(ApiVersions))),
        (
            "HelmVersion",
            Value::Object(Rc::new(Struct {
                type_name: "version.BuildInfo",
                fields: vec![("Version", Value::from(helm))],
            })),
        ),
    ];
    Value::Object(Rc::new(Struct {
        type_name: "*chartutil.Capabilities",
        fields,
    }))
}

/// `.Capabilities.KubeVersion`: the version with its major and minor number.
#[derive(Debug)]
struct KubeVersion([&'static str; 3]);

impl Object for KubeVersion {
    fn type_name(&self) -> &str {
        "chartutil.KubeVersion"
    }

    fn text(&self) -> String {
        self.0[0].to_owned()
    }

    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        let [version, major, minor] = self.0;
        Ok(match name {
            "Version" => Some(Value::from(version)),
            "Major" => Some(Value::from(major)),
            "Minor" => Some(Value::from(minor)),
            _ => None,
        })
    }

    fn method(&self, name: &str) -> Option<Signature> {
        ["String", "GitVersion"]
            .contains(&name)
            .then_some(Signature {
                parameters: &[],
                rest: None,
            })
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Result<Value, Error> {
        Ok(Value::from(self.0[0]))
    }
}

/// `.Capabilities.APIVersions`
#[derive(Debug)]
struct ApiVersions;

impl Object for ApiVersions {
    fn type_name(&self) -> &str {
        "chartutil.VersionSet"
    }

    fn kind(&self) -> &'static str {
        "slice"
    }

    fn text(&self) -> String {
        format!("[{}]", API_VERSIONS.join(" "))
    }

    fn plain(&self) -> Value {
        Value::strings(API_VERSIONS.iter().copied())
    }

    fn method(&self, name: &str) -> Option<Signature> {
        (name == "Has").then_some(Signature {
            parameters: &[Type::String],
            rest: None,
        })
    }

    fn call(&self, _name: &str, arguments: &[Value]) -> Result<Value, Error> {
        Ok(Value::Bool(match arguments {
            [Value::String(version)] => API_VERSIONS.contains(&&**version),
            _ => false,
        }))
    }
}
