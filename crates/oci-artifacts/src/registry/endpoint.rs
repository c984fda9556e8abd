//! The address of a registry's API, from the name in a reference.

use reqwest::Url;

use crate::{FailureKind, Reference, RegistryName};

use super::error::RegistryError;

/// A repository and its registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Endpoint {
    pub(super) registry: RegistryName,
    /// The repository; empty for the registry itself.
    pub(super) repository: String,
    pub(super) access: Access,
}

/// The access that is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Pull,
    /// Push and pull: blobs that exist are not sent again.
    Push,
}

impl Endpoint {
    pub(super) fn for_pull(reference: &Reference) -> Self {
        Self {
            registry: reference.registry.clone(),
            repository: reference.repository.to_string(),
            access: Access::Pull,
        }
    }

    /// The same, for a push.
    pub(super) fn for_push(reference: &Reference) -> Self {
        Self {
            access: Access::Push,
            ..Self::for_pull(reference)
        }
    }

    /// The address of a path below `/v2/`.
    pub(super) fn url(&self, plain: bool, path: &str) -> Result<Url, RegistryError> {
        let scheme = if plain { "http" } else { "https" };
        let server = self.registry.server();
        let text = format!("{scheme}://{server}/v2/{path}");
        Url::parse(&text).map_err(|error| {
            let message = format!("`{server}` is not a host: {error}");
            RegistryError::new(FailureKind::Unsupported, message)
        })
    }

    /// The scope that a token must have.
    pub(super) fn scope(&self) -> String {
        let actions = match self.access {
            Access::Pull => "pull",
            Access::Push => "pull,push",
        };
        if self.repository.is_empty() {
            "registry:catalog:*".to_owned()
        } else {
            format!("repository:{}:{actions}", self.repository)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Endpoint;
    use crate::Reference;

    #[test]
    fn docker_hub_has_another_host_and_a_prefix_for_official_images() {
        let endpoint = |text| Endpoint::for_pull(&Reference::parse(text).expect("a reference"));
        let hub = endpoint("docker.io/ubuntu:24.04");
        assert_eq!(
            hub.url(false, "x").expect("an address").as_str(),
            "https://registry-1.docker.io/v2/x"
        );
        assert_eq!(hub.scope(), "repository:library/ubuntu:pull");
        assert_eq!(
            endpoint("a.example:5000/b/c").scope(),
            "repository:b/c:pull"
        );
        let reference = Reference::parse("a.example/b").expect("a reference");
        assert_eq!(
            Endpoint::for_push(&reference).scope(),
            "repository:b:pull,push"
        );
    }
}
