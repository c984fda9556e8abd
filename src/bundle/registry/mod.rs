//! registry+v1 → plain: what OLM would make of a ClusterServiceVersion, where that takes no decision and no manager.
//!
//! Source: operator-framework/rukpak, pkg/convert/registryv1.go.

mod permissions;

use std::io::{self, Read};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{File, MANIFESTS};
use crate::model::engine::Engine;
use crate::model::finding::Finding;
use crate::model::place::{FileId, Spot};
use crate::model::rule::RuleId;
use crate::objects::bundled::is_cluster_scoped;
use crate::yaml;

/// Kinds beside the ClusterServiceVersion that a bundle may hold.
///
/// Source: operator-framework/rukpak, pkg/convert/registryv1.go, `supportedKinds`.
const KINDS: [&str; 17] = [
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "ConsoleCLIDownload",
    "ConsoleLink",
    "ConsoleQuickStart",
    "ConsoleYamlSample",
    "CustomResourceDefinition",
    "PodDisruptionBudget",
    "PriorityClass",
    "Role",
    "RoleBinding",
    "Secret",
    "Service",
    "ServiceAccount",
    "ServiceMonitor",
    "VerticalPodAutoscaler",
];

/// The longest file that is read, in bytes: an object of the cluster is smaller.
const LONGEST: u64 = 8 << 20;

/// A bundle as it is being turned.
struct Turning {
    namespace: String,
    objects: Vec<Value>,
    findings: Vec<Finding>,
}

/// The manifests that a registry+v1 bundle comes to, in the namespace that is given, else in the one that it suggests; or why it
/// comes to none.
///
/// # Errors
/// A file cannot be read.
pub fn plain(
    files: &[File],
    namespace: Option<&str>,
) -> io::Result<Result<Vec<File>, Vec<Finding>>> {
    let mut held = Held::default();
    for file in files {
        held.read(file)?;
    }
    if !held.findings.is_empty() {
        return Ok(Err(held.findings));
    }
    let [(file, version)] = held.versions.as_slice() else {
        let count = held.versions.len();
        let message = format!("it holds {count} ClusterServiceVersions, and one is turned");
        return Ok(Err(vec![Finding::new(RuleId::BundleUnsupported, message)]));
    };
    let mut turning = Turning {
        namespace: target(version, held.package.as_deref(), namespace),
        objects: Vec::new(),
        findings: Vec::new(),
    };
    for (file, object) in held.others {
        turning.other(file, object);
    }
    turning.version(file, version);
    match turning.findings.is_empty() {
        true => Ok(Ok(turning.files())),
        false => Ok(Err(turning.findings)),
    }
}

/// What a bundle holds.
#[derive(Default)]
struct Held<'a> {
    versions: Vec<(&'a File, Value)>,
    others: Vec<(&'a File, Value)>,
    package: Option<String>,
    findings: Vec<Finding>,
}

impl<'a> Held<'a> {
    fn read(&mut self, file: &'a File) -> io::Result<()> {
        for object in documents(file, &mut self.findings)? {
            if file.path.starts_with(MANIFESTS) {
                match object["kind"].as_str() {
                    Some("ClusterServiceVersion") => self.versions.push((file, object)),
                    _ => self.others.push((file, object)),
                }
            } else if &*file.path == "metadata/annotations.yaml" {
                let key = "operators.operatorframework.io.bundle.package.v1";
                self.package = object["annotations"][key].as_str().map(str::to_owned);
            }
        }
        Ok(())
    }
}

/// Where the operator is installed.
fn target(version: &Value, package: Option<&str>, given: Option<&str>) -> String {
    let suggested = &version["metadata"]["annotations"]["operatorframework.io/suggested-namespace"];
    let name = version["metadata"]["name"].as_str().unwrap_or("operator");
    let fallback = format!(
        "{}-system",
        package.unwrap_or(name.split('.').next().unwrap_or(name))
    );
    given.or(suggested.as_str()).map_or(fallback, str::to_owned)
}

impl Turning {
    /// Something beside the ClusterServiceVersion: as it is, in the namespace.
    fn other(&mut self, file: &File, mut object: Value) {
        let kind = object["kind"].as_str().unwrap_or_default().to_owned();
        if !KINDS.contains(&kind.as_str()) {
            self.refuse(file, format!("a registry+v1 bundle holds no `{kind}`"));
            return;
        }
        let api_version = object["apiVersion"].as_str().unwrap_or_default();
        let group = api_version.split_once('/').map_or("", |(group, _)| group);
        if !is_cluster_scoped(group, &kind) && object["metadata"].is_object() {
            object["metadata"]["namespace"] = json!(self.namespace);
        }
        self.objects.push(object);
    }

    fn version(&mut self, file: &File, version: &Value) {
        let spec = &version["spec"];
        let is_given = |value: &Value| value.as_array().is_some_and(|items| !items.is_empty());
        if is_given(&spec["webhookdefinitions"]) {
            self.refuse(
                file,
                "its webhooks need certificates that a manager in the cluster makes".into(),
            );
        }
        if is_given(&spec["apiservicedefinitions"]["owned"]) {
            self.refuse(
                file,
                "its API services need certificates that a manager in the cluster makes".into(),
            );
        }
        let strategy = spec["install"]["strategy"].as_str().unwrap_or("deployment");
        if strategy != "deployment" {
            self.refuse(
                file,
                format!("its install strategy is `{strategy}`, and `deployment` is turned"),
            );
        }
        let Some(watched) = self.watched(spec) else {
            let message = "its install modes want namespaces to be chosen: AllNamespaces and OwnNamespace are turned";
            self.refuse(file, message.to_owned());
            return;
        };
        let strategy = &spec["install"]["spec"];
        self.deployments(version, strategy, &watched);
        let name = version["metadata"]["name"].as_str().unwrap_or("operator");
        let objects = permissions::objects(name, strategy, &self.namespace, &watched);
        self.objects.extend(objects);
    }

    /// The namespace that it watches; empty for all, which it does where it may, else its own.
    fn watched(&self, spec: &Value) -> Option<String> {
        let modes = spec["installModes"].as_array()?;
        let supports = |wanted: &str| {
            let fits = |mode: &Value| mode["type"] == wanted && mode["supported"] == true;
            modes.iter().any(fits)
        };
        if supports("AllNamespaces") {
            return Some(String::new());
        }
        supports("OwnNamespace").then(|| self.namespace.clone())
    }

    fn deployments(&mut self, version: &Value, strategy: &Value, watched: &str) {
        let mut annotations = version["metadata"]["annotations"].clone();
        if !annotations.is_object() {
            annotations = json!({});
        }
        annotations["olm.targetNamespaces"] = json!(watched);
        for deployment in strategy["deployments"].as_array().into_iter().flatten() {
            let mut spec = deployment["spec"].clone();
            let template = &mut spec["template"]["metadata"]["annotations"];
            match template.as_object_mut() {
                Some(own) => {
                    let given = annotations.as_object().cloned().unwrap_or_default();
                    own.extend(given);
                }
                None => *template = annotations.clone(),
            }
            let mut metadata = json!({"name": deployment["name"], "namespace": self.namespace});
            if deployment["label"].is_object() {
                metadata["labels"] = deployment["label"].clone();
            }
            self.objects.push(json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": metadata,
                "spec": spec,
            }));
        }
    }

    fn refuse(&mut self, file: &File, message: String) {
        let finding = Finding::new(RuleId::BundleUnsupported, message).at(file.spot(), "");
        self.findings
            .push(finding.help("install it by OLM, or write plain manifests for it"));
    }

    /// A file for each object.
    fn files(self) -> Vec<File> {
        let width = self.objects.len().to_string().len().max(3);
        let file = |(number, object): (usize, Value)| {
            let text = |value: &Value| {
                value
                    .as_str()
                    .unwrap_or_default()
                    .to_lowercase()
                    .replace(':', "-")
            };
            let (kind, name) = (text(&object["kind"]), text(&object["metadata"]["name"]));
            let path = format!("{MANIFESTS}/{:0width$}-{kind}-{name}.yaml", number + 1);
            File::text(path, yaml::emit(&object.into()).into_bytes())
        };
        self.objects.into_iter().enumerate().map(file).collect()
    }
}

/// The documents of a file, as JSON has them.
fn documents(file: &File, findings: &mut Vec<Finding>) -> io::Result<Vec<Value>> {
    let mut bytes = Vec::new();
    file.content.open()?.take(LONGEST).read_to_end(&mut bytes)?;
    let Ok(text) = yaml::decode(&bytes, Engine::Kubectl) else {
        let message = format!("`{}` is not text", file.path);
        findings.push(Finding::new(RuleId::YamlSyntax, message).at(file.spot(), ""));
        return Ok(Vec::new());
    };
    match yaml::read(&text, FileId(0), Engine::Kubectl) {
        Ok(read) => {
            let documents = read.documents.iter().map(|node| Value::from(&node.value));
            Ok(documents.filter(|document| !document.is_null()).collect())
        }
        Err(error) => {
            let source = Arc::new(yaml::source(Arc::clone(&file.from), text, false));
            let spot = Spot {
                source,
                start: error.place.start,
                end: error.place.end,
            };
            findings.push(Finding::new(RuleId::YamlSyntax, error.message).at(Some(spot), ""));
            Ok(Vec::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{File, plain};

    const VERSION: &str = r#"{"apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
        "metadata": {"name": "web.v1.2.3", "annotations": {"x": "y"}},
        "spec": {"installModes": [{"type": "MODE", "supported": true}],
        "install": {"strategy": "deployment", "spec": {
            "deployments": [{"name": "web", "spec": {"template": {"spec": {"serviceAccountName": "web"}}}}],
            "permissions": [{"serviceAccountName": "web",
                "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]}]}}}}"#;

    fn bundle(mode: &str) -> Vec<File> {
        let version = VERSION.replace("MODE", mode);
        let annotations = "annotations: {operators.operatorframework.io.bundle.package.v1: web}\n";
        let definition = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: a.b}\n";
        vec![
            File::text("manifests/crd.yaml", definition.as_bytes().to_vec()),
            File::text("manifests/csv.json", version.into_bytes()),
            File::text("metadata/annotations.yaml", annotations.as_bytes().to_vec()),
        ]
    }

    #[test]
    fn an_operator_for_all_namespaces_gets_roles_in_the_cluster() {
        let files = plain(&bundle("AllNamespaces"), None)
            .expect("memory")
            .expect("turned");
        let names: Vec<&str> = files.iter().map(|file| &*file.path).collect();
        assert_eq!(
            names[..3],
            [
                "manifests/001-customresourcedefinition-a.b.yaml",
                "manifests/002-deployment-web.yaml",
                "manifests/003-serviceaccount-web.yaml",
            ]
        );
        assert!(
            names[3].starts_with("manifests/004-clusterrole-web.v1.2.3-"),
            "{names:?}"
        );
        assert_eq!(names.len(), 5);
    }

    #[test]
    fn an_operator_for_its_own_namespace_gets_roles_there() {
        let files = plain(&bundle("OwnNamespace"), Some("mine"))
            .expect("memory")
            .expect("turned");
        assert!(files.iter().any(|file| file.path.contains("-role-")));
    }

    #[test]
    fn what_needs_a_choice_or_a_manager_is_refused() {
        let refused = plain(&bundle("SingleNamespace"), None).expect("memory");
        assert_eq!(refused.map(|_| ()).expect_err("refused").len(), 1);
        let mut files = bundle("AllNamespaces");
        let odd = b"apiVersion: batch/v1\nkind: Job\nmetadata: {name: a}\n".to_vec();
        files.push(File::text("manifests/job.yaml", odd));
        assert!(plain(&files, None).expect("memory").is_err());
        assert!(plain(&files[..1], None).expect("memory").is_err());
    }
}
