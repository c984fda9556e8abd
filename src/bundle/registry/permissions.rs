//! The permissions of an operator: service accounts, and the roles bound to them.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

const RBAC: &str = "rbac.authorization.k8s.io";

/// The accounts, roles and bindings that an install strategy asks for. `watched` is the namespace that the operator watches;
/// empty where it watches all, which makes its permissions the cluster's.
pub(super) fn objects(name: &str, strategy: &Value, namespace: &str, watched: &str) -> Vec<Value> {
    let list = |key: &str| strategy[key].as_array().cloned().unwrap_or_default();
    let (mut local, mut global) = (list("permissions"), list("clusterPermissions"));
    if watched.is_empty() {
        for mut permission in std::mem::take(&mut local) {
            // What it may do in a namespace it must know of: OLM adds this rule.
            if let Some(rules) = permission["rules"].as_array_mut() {
                rules.push(json!({"apiGroups": [""], "resources": ["namespaces"], "verbs": ["get", "list", "watch"]}));
            }
            global.push(permission);
        }
    }
    let mut found = Vec::new();
    let accounts: BTreeSet<&str> = local.iter().chain(&global).map(account).collect();
    for account in accounts.into_iter().filter(|account| *account != "default") {
        found.push(json!({
            "apiVersion": "v1",
            "kind": "ServiceAccount",
            "metadata": {"name": account, "namespace": namespace},
        }));
    }
    for permission in &local {
        found.extend(bound(name, permission, namespace, Some(watched)));
    }
    for permission in &global {
        found.extend(bound(name, permission, namespace, None));
    }
    found
}

fn account(permission: &Value) -> &str {
    permission["serviceAccountName"]
        .as_str()
        .unwrap_or("default")
}

/// A role and its binding, in a namespace or in the cluster.
fn bound(name: &str, permission: &Value, namespace: &str, within: Option<&str>) -> [Value; 2] {
    let account = account(permission);
    let hash = Sha256::digest(format!("{account}\n{within:?}\n{}", permission["rules"]));
    let hash: String = hash
        .iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut metadata = json!({"name": format!("{name}-{hash}")});
    let prefix = match within {
        Some(within) => {
            metadata["namespace"] = json!(within);
            ""
        }
        None => "Cluster",
    };
    let role = format!("{prefix}Role");
    [
        json!({
            "apiVersion": format!("{RBAC}/v1"),
            "kind": role,
            "metadata": metadata,
            "rules": permission["rules"],
        }),
        json!({
            "apiVersion": format!("{RBAC}/v1"),
            "kind": format!("{role}Binding"),
            "metadata": metadata,
            "roleRef": {"apiGroup": RBAC, "kind": role, "name": metadata["name"]},
            "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": namespace}],
        }),
    ]
}
