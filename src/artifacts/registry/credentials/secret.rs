//! What must not be seen: passwords and tokens. `Debug` prints none of them, and the printer masks them in what servers answer.

use std::fmt;

use crate::model::secret;

/// A password or a token.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::artifacts::registry) struct Secret(String);

impl Secret {
    pub(in crate::artifacts::registry) fn new(text: String) -> Self {
        // Of a header, the part behind the scheme.
        secret::learn(text.rsplit(' ').next().unwrap_or(&text));
        Self(text)
    }

    /// The text itself, for the one header or form that it is sent in.
    pub(in crate::artifacts::registry) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

/// What one proves with who one is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::artifacts::registry) enum Credential {
    /// A user's name and password.
    Password {
        /// The name.
        user: String,
        /// The password.
        password: Secret,
    },
    /// A refresh token, which buys tokens for single repositories.
    Identity(Secret),
}

impl Credential {
    /// How messages name it.
    pub(in crate::artifacts::registry) fn shown(&self) -> String {
        match self {
            Self::Password { user, .. } => format!("user `{user}`"),
            Self::Identity(_) => "an identity token".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Credential, Secret};

    #[test]
    fn a_secret_is_never_shown() {
        let credential = Credential::Password {
            user: "bob".to_owned(),
            password: Secret::new("hunter2".to_owned()),
        };
        let shown = format!("{credential:?} {}", credential.shown());
        assert!(
            shown.contains("bob") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
