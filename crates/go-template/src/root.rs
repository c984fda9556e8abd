//! The root `.` of expressions: the values, and release, chart and capabilities as for `helm template`.

use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use yaml_tree::value::{self as model, Node};

use super::object::Struct;
use super::signature::{Signature, Type};
use super::value::{Lazy, Map, Object, PLAIN_MAP};
use super::{Budget, Engine, Error, Value, print};

/// The group versions that Kubernetes itself serves. `.Capabilities.APIVersions.Has` finds these without a cluster.
const API_VERSIONS: &str = "admissionregistration.k8s.io/v1 admissionregistration.k8s.io/v1alpha1 \
    admissionregistration.k8s.io/v1beta1 apiextensions.k8s.io/v1 apiextensions.k8s.io/v1beta1 apps/v1 \
    apps/v1beta1 apps/v1beta2 authentication.k8s.io/v1 authentication.k8s.io/v1alpha1 \
    authentication.k8s.io/v1beta1 authorization.k8s.io/v1 authorization.k8s.io/v1beta1 autoscaling/v1 \
    autoscaling/v2 autoscaling/v2beta1 autoscaling/v2beta2 batch/v1 batch/v1beta1 certificates.k8s.io/v1 \
    certificates.k8s.io/v1alpha1 certificates.k8s.io/v1beta1 coordination.k8s.io/v1 \
    coordination.k8s.io/v1alpha2 coordination.k8s.io/v1beta1 discovery.k8s.io/v1 discovery.k8s.io/v1beta1 \
    events.k8s.io/v1 events.k8s.io/v1beta1 extensions/v1beta1 flowcontrol.apiserver.k8s.io/v1 \
    flowcontrol.apiserver.k8s.io/v1beta1 flowcontrol.apiserver.k8s.io/v1beta2 \
    flowcontrol.apiserver.k8s.io/v1beta3 internal.apiserver.k8s.io/v1alpha1 networking.k8s.io/v1 \
    networking.k8s.io/v1alpha1 networking.k8s.io/v1beta1 node.k8s.io/v1 node.k8s.io/v1alpha1 \
    node.k8s.io/v1beta1 policy/v1 policy/v1beta1 rbac.authorization.k8s.io/v1 \
    rbac.authorization.k8s.io/v1alpha1 rbac.authorization.k8s.io/v1beta1 resource.k8s.io/v1alpha3 \
    resource.k8s.io/v1beta1 scheduling.k8s.io/v1 scheduling.k8s.io/v1alpha1 scheduling.k8s.io/v1beta1 \
    storage.k8s.io/v1 storage.k8s.io/v1alpha1 storage.k8s.io/v1beta1 storagemigration.k8s.io/v1alpha1 v1";

/// Whether Kubernetes itself has kinds in a group: those above, and that of `kube-aggregator`.
pub fn is_own_group(group: &str) -> bool {
    let is_of = |version: &str| version.split_once('/').map_or("", |(group, _)| group) == group;
    group == "apiregistration.k8s.io" || API_VERSIONS.split(' ').any(is_of)
}

/// Those of kinds of old, which no cluster of today serves. Alpha and beta versions that may come back are not here.
const GONE: &[&str] = &[
    "apiextensions.k8s.io/v1beta1",
    "apps/v1beta1",
    "apps/v1beta2",
    "autoscaling/v2beta1",
    "autoscaling/v2beta2",
    "batch/v1beta1",
    "discovery.k8s.io/v1beta1",
    "events.k8s.io/v1beta1",
    "extensions/v1beta1",
    "flowcontrol.apiserver.k8s.io/v1beta1",
    "networking.k8s.io/v1beta1/Ingress",
    "node.k8s.io/v1beta1",
    "policy/v1beta1",
    "rbac.authorization.k8s.io/v1alpha1",
    "rbac.authorization.k8s.io/v1beta1",
];

/// `.Release`
#[derive(Clone, Debug)]
pub struct Release {
    /// `.Release.Name`
    pub name: Arc<str>,
    /// `.Release.Namespace`
    pub namespace: Arc<str>,
    /// `.Release.Revision`: 1 for an installation, as for `helm template`, and more for an upgrade.
    pub revision: i64,
    /// Whether Helm renders it beside its cluster, which `lookup` reads, and not as `helm template` does.
    pub is_live: bool,
    /// What is known of the cluster that it is installed in.
    pub cluster: Served,
}

/// What a cluster serves.
#[derive(Clone, Debug, Default)]
pub struct Served {
    /// The Kubernetes version; none for the one that Helm takes for the newest.
    pub version: Option<Arc<str>>,
    /// Whether one of that version serves all that it may, and not only what each does.
    pub has_all: bool,
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
    /// What notes which parts of it are read.
    pub budget: &'r Rc<Budget>,
    /// `.Release`
    pub release: &'r Release,
    /// `.Chart`
    pub chart: &'r Chart,
    /// `.Files`
    pub files: Value,
    /// `.Values`
    pub values: Value,
    /// `.Subcharts`: the roots of the charts that it depends on, by their names.
    pub subcharts: Value,
}

impl Root<'_> {
    /// The root as a value, which all templates of a chart share. It has no `.Template` yet.
    pub fn dot(self) -> Rc<Map> {
        let text = |text: &Arc<str>| Value::String(Arc::clone(text));
        entries([
            ("Values", self.values),
            (
                "Release",
                Value::Map(Rc::new(Map::lazy(
                    PLAIN_MAP,
                    Rc::new(ReleaseFields {
                        fields: entries([
                            ("Name", text(&self.release.name)),
                            ("Namespace", text(&self.release.namespace)),
                            ("Service", Value::from("Helm")),
                            ("Revision", Value::Int(self.release.revision)),
                            ("IsInstall", Value::Bool(self.release.revision == 1)),
                            ("IsUpgrade", Value::Bool(self.release.revision != 1)),
                        ]),
                        budget: Rc::clone(self.budget),
                    }),
                ))),
            ),
            ("Chart", chart(self.engine, self.chart)),
            (
                "Capabilities",
                capabilities(self.engine, &self.release.cluster, self.budget),
            ),
            ("Files", self.files),
            ("Subcharts", self.subcharts),
        ])
    }
}

/// The fields of `.Release`.
#[derive(Debug)]
struct ReleaseFields {
    fields: Rc<Map>,
    budget: Rc<Budget>,
}

impl Lazy for ReleaseFields {
    fn get(&self, key: &str) -> Result<Option<Value>, Error> {
        if ["IsInstall", "IsUpgrade", "Revision"].contains(&key) {
            self.budget.note_upgrade();
        }
        self.fields.get(key)
    }

    fn keys(&self) -> Result<Vec<Arc<str>>, Error> {
        self.fields.keys()
    }
}

/// Sets `.Template` of the template that is rendered next.
pub fn set_template(dot: &Map, base: Arc<str>, name: Arc<str>) {
    let template = [
        ("Name", Value::String(name)),
        ("BasePath", Value::String(base)),
    ];
    dot.set("Template", map(template));
}

/// A field of Chart.yaml that is a text. A number or a flag is its text, as for Helm.
pub fn metadata_text(metadata: &Node, key: &str) -> Option<Arc<str>> {
    match &metadata.get_path(&[key])?.value {
        model::Value::Number(model::Number::Int(number)) => Some(number.to_string().into()),
        model::Value::Number(model::Number::Float(number)) => Some(print::float(*number).into()),
        model::Value::Bool(flag) => Some(flag.to_string().into()),
        other => other.as_str().cloned(),
    }
}

fn map<const N: usize>(fields: [(&'static str, Value); N]) -> Value {
    Value::Map(entries(fields))
}

fn entries<const N: usize>(fields: [(&'static str, Value); N]) -> Rc<Map> {
    let entries: BTreeMap<Arc<str>, Value> =
        fields.map(|(key, value)| (Arc::from(key), value)).into();
    Rc::new(Map::new(entries))
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
            Self::Text => metadata_text(map, key).map_or_else(|| Value::from(""), Value::String),
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

/// The first field of a Chart.yaml whose value Helm cannot read, as the end of a sentence. A text may be a number or a flag too.
pub fn metadata_fault(metadata: &Node) -> Option<String> {
    FIELDS.iter().find_map(|(_, key, field)| {
        use yaml_tree::value::Value;
        let value = &metadata.get_path(&[key])?.value;
        let wanted = match field {
            Field::Text if matches!(value, Value::List(_) | Value::Map(_)) => "text",
            Field::Texts | Field::Records(_) if !matches!(value, Value::List(_) | Value::Null) => {
                "list"
            }
            _ => return None,
        };
        Some(format!("its `{key}` is not a {wanted}"))
    })
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

/// The version of Kubernetes that an engine takes for the newest.
fn newest_kubernetes(engine: Engine) -> &'static str {
    match engine {
        Engine::Helm4 => "v1.35.0",
        Engine::Helm3_18 => "v1.32.0",
        _ => "v1.34.0",
    }
}

impl Served {
    /// The Kubernetes version that an engine renders for.
    pub fn kubernetes(&self, engine: Engine) -> &str {
        let version = self.version.as_deref();
        version.unwrap_or_else(|| newest_kubernetes(engine))
    }
}

fn capabilities(engine: Engine, cluster: &Served, budget: &Rc<Budget>) -> Value {
    let helm = match engine {
        Engine::Helm4 => "v4.1.4",
        Engine::Helm3_18 => "v3.17.2",
        _ => "v3.19.4",
    };
    let kubernetes = KubeVersion::new(cluster.kubernetes(engine));
    let fields = vec![
        (
            "KubeVersion",
            Value::Object(Rc::new(kubernetes) as Rc<dyn Object>),
        ),
        (
            "APIVersions",
            Value::Object(Rc::new(ApiVersions {
                of_cluster: cluster.version.is_some(),
                has_all: cluster.has_all,
            })),
        ),
        (
            "HelmVersion",
            Value::Object(Rc::new(Struct {
                type_name: "version.BuildInfo",
                fields: vec![("Version", Value::from(helm))],
            })),
        ),
    ];
    Value::Object(Rc::new(Capabilities {
        fields: Struct {
            type_name: "*chartutil.Capabilities",
            fields,
        },
        budget: Rc::clone(budget),
    }))
}

/// `.Capabilities`
#[derive(Debug)]
struct Capabilities {
    fields: Struct,
    budget: Rc<Budget>,
}

impl Object for Capabilities {
    fn type_name(&self) -> &str {
        self.fields.type_name
    }

    fn text(&self) -> String {
        self.budget.note_cluster();
        self.fields.text()
    }

    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        if name != "HelmVersion" {
            self.budget.note_cluster();
        }
        self.fields.field(name)
    }
}

/// `.Capabilities.KubeVersion`: the version with its major and minor number.
#[derive(Debug)]
struct KubeVersion {
    /// With a leading `v`.
    version: Arc<str>,
    major: Arc<str>,
    minor: Arc<str>,
}

impl KubeVersion {
    fn new(version: &str) -> Self {
        let bare = version.strip_prefix('v').unwrap_or(version);
        let mut numbers = bare.split('.').map(Arc::from);
        let mut number = || numbers.next().unwrap_or_default();
        Self {
            version: format!("v{bare}").into(),
            major: number(),
            minor: number(),
        }
    }
}

impl Object for KubeVersion {
    fn type_name(&self) -> &str {
        "chartutil.KubeVersion"
    }

    fn text(&self) -> String {
        self.version.to_string()
    }

    fn field(&self, name: &str) -> Result<Option<Value>, Error> {
        let field = match name {
            "Version" => &self.version,
            "Major" => &self.major,
            "Minor" => &self.minor,
            _ => return Ok(None),
        };
        Ok(Some(Value::String(Arc::clone(field))))
    }

    fn method(&self, name: &str) -> Option<Signature> {
        ["String", "GitVersion"]
            .contains(&name)
            .then_some(Signature::new(&[]))
    }

    fn call(&self, _name: &str, _arguments: &[Value]) -> Result<Value, Error> {
        Ok(Value::String(Arc::clone(&self.version)))
    }
}

/// `.Capabilities.APIVersions`
#[derive(Debug)]
struct ApiVersions {
    /// Whether they are those of a cluster, and not those that Helm knows without one.
    of_cluster: bool,
    has_all: bool,
}

impl ApiVersions {
    /// Whether they have an API version, or a kind in one: `apps/v1/Deployment`.
    fn has(&self, version: &str) -> bool {
        let is_gone = |gone: &&str| {
            let rest = version.strip_prefix(*gone);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let is_known = API_VERSIONS.split(' ').any(|known| known == version);
        let is_stable = is_known && !version.contains("alpha") && !version.contains("beta");
        if self.of_cluster {
            is_stable || self.has_all && !GONE.iter().any(is_gone)
        } else {
            is_known
        }
    }
}

impl Object for ApiVersions {
    fn type_name(&self) -> &str {
        "chartutil.VersionSet"
    }

    fn kind(&self) -> &'static str {
        "slice"
    }

    fn text(&self) -> String {
        format!("[{API_VERSIONS}]")
    }

    fn plain(&self) -> Value {
        Value::strings(API_VERSIONS.split(' '))
    }

    fn method(&self, name: &str) -> Option<Signature> {
        (name == "Has").then_some(Signature::new(&[Type::String]))
    }

    fn call(&self, _name: &str, arguments: &[Value]) -> Result<Value, Error> {
        Ok(Value::Bool(match arguments {
            [Value::String(version)] => self.has(version),
            _ => false,
        }))
    }
}

#[cfg(test)]
mod tests {
    use yaml_tree::engine::Engine;
    use yaml_tree::place::FileId;

    use super::{KubeVersion, Object, metadata_text};

    #[test]
    fn a_field_of_chart_yaml_is_text_as_it_is_for_helm() {
        let text = "a: 1\nb: true\nc: 1.10\nd: x\ne: []\n";
        let tree = yaml_tree::values(text, FileId(0), Engine::Helm4).expect("values");
        let texts = ["a", "b", "c", "d", "e", "f"].map(|key| metadata_text(&tree, key));
        let texts = texts.map(|text| text.map(|text| text.to_string()));
        let wanted = [Some("1"), Some("true"), Some("1.1"), Some("x"), None, None];
        assert_eq!(texts, wanted.map(|text| text.map(str::to_owned)));
    }

    #[test]
    fn a_version_of_kubernetes_has_numbers() {
        let version = KubeVersion::new("1.34.2");
        let field = |name| {
            let field = version.field(name).expect("a field");
            field.map(|field| format!("{field:?}"))
        };
        for (name, number) in [("Version", "v1.34.2"), ("Major", "1"), ("Minor", "34")] {
            assert!(
                field(name).is_some_and(|field| field.contains(number)),
                "{name}"
            );
        }
        assert_eq!(field("Other"), None);
    }
}
