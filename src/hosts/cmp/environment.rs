//! The variables that Argo CD gives a plugin's commands.
//!
//! Source: docs/user-guide/build-environment.md and `reposerver/repository/repository.go` (`newEnv`, `getPluginEnvs`).

use std::collections::BTreeMap;

/// The name of the Application; `NAMESPACE_NAME` outside Argo CD's own namespace.
pub(super) const APP_NAME: &str = "ARGOCD_APP_NAME";
/// The application's folder in the repository.
pub(super) const SOURCE_PATH: &str = "ARGOCD_APP_SOURCE_PATH";
/// The parameters as JSON. The `PARAM_…` variables beside it collide and have no order, so they are not read.
pub(super) const PARAMETERS: &str = "ARGOCD_APP_PARAMETERS";
/// The prefix of the names of `spec.source.plugin.env`.
pub(super) const ENV_PREFIX: &str = "ARGOCD_ENV_";

/// Variables by name.
#[derive(Clone, Debug, Default)]
pub struct Environment(BTreeMap<String, String>);

impl Environment {
    /// A variable's value.
    pub(super) fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }

    /// The variables by name.
    pub(super) fn iter(&self) -> impl Iterator<Item = (&String, &String)> {
        self.0.iter()
    }

    /// These variables, and others over them.
    pub(super) fn with_others(&self, others: &Self) -> Self {
        let mut all = self.clone();
        all.0.extend(others.0.clone());
        all
    }

    /// Sets a variable.
    pub(super) fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), value.into());
    }

    /// The application's names, the likelier first. No namespace and no name holds `_`, which parts the two.
    pub(super) fn app_names(&self) -> Vec<&str> {
        let name = self.get(APP_NAME).filter(|name| !name.is_empty());
        let bare = name.and_then(|name| Some(name.split_once('_')?.1));
        name.into_iter().chain(bare).collect()
    }

    /// How many folders the application's own lies below the repository's root; none outside Argo CD.
    pub(super) fn steps(&self) -> Option<usize> {
        let path = self.get(SOURCE_PATH)?;
        let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
        Some(parts.count())
    }
}

impl FromIterator<(String, String)> for Environment {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(variables: I) -> Self {
        Self(variables.into_iter().collect())
    }
}
