//! Where a registry's answers are had: a host's name becomes an address.

use reqwest::Url;

use crate::oci::{FailureKind, Reference};

use super::trouble::Trouble;

/// Docker Hub's name and the host that answers for it.
const DOCKER_HUB: (&str, &str) = ("docker.io", "registry-1.docker.io");

/// A repository at its registry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    /// The host that is asked, with its port.
    pub(super) authority: String,
    /// The host that credentials are kept for.
    pub(super) registry: String,
    /// The repository; empty for the registry itself.
    pub(super) repository: String,
    pub(super) access: Access,
}

/// What is to be done at a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Access {
    Pull,
    /// And to pull, for what is there is not sent again.
    Push,
}

impl Site {
    pub(super) fn of(reference: &Reference) -> Self {
        let (registry, repository) = (&*reference.registry, &*reference.repository);
        if registry != DOCKER_HUB.0 {
            return Self {
                authority: registry.to_owned(),
                registry: registry.to_owned(),
                repository: repository.to_owned(),
                access: Access::Pull,
            };
        }
        let official = !repository.is_empty() && !repository.contains('/');
        Self {
            authority: DOCKER_HUB.1.to_owned(),
            registry: registry.to_owned(),
            repository: format!("{}{repository}", if official { "library/" } else { "" }),
            access: Access::Pull,
        }
    }

    /// The same, to write there.
    pub(super) fn to(reference: &Reference) -> Self {
        Self {
            access: Access::Push,
            ..Self::of(reference)
        }
    }

    /// The address of something below `/v2/`.
    pub(super) fn url(&self, plain: bool, path: &str) -> Result<Url, Trouble> {
        let scheme = if plain { "http" } else { "https" };
        let text = format!("{scheme}://{}/v2/{path}", self.authority);
        Url::parse(&text).map_err(|error| {
            let message = format!("`{}` is no host: {error}", self.authority);
            Trouble::new(FailureKind::Unsupported, message)
        })
    }

    /// What a token has to allow.
    pub(super) fn scope(&self) -> String {
        let actions = match self.access {
            Access::Pull => "pull",
            Access::Push => "pull,push",
        };
        match self.repository.is_empty() {
            true => "registry:catalog:*".to_owned(),
            false => format!("repository:{}:{actions}", self.repository),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Site;
    use crate::oci::Reference;

    #[test]
    fn docker_hub_answers_under_another_name() {
        let site = |text| Site::of(&Reference::parse(text).expect("a reference"));
        let hub = site("docker.io/ubuntu:24.04");
        assert_eq!(
            hub.url(false, "x").expect("an address").as_str(),
            "https://registry-1.docker.io/v2/x"
        );
        assert_eq!(hub.scope(), "repository:library/ubuntu:pull");
        assert_eq!(site("a.example:5000/b/c").scope(), "repository:b/c:pull");
        let reference = Reference::parse("a.example/b").expect("a reference");
        assert_eq!(Site::to(&reference).scope(), "repository:b:pull,push");
    }
}
