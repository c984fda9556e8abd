//! Passwords and tokens, which `Debug` does not print.

use std::fmt;

/// A password or a token.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::registry) struct Secret(String);

impl Secret {
    pub(in crate::registry) fn new(text: String) -> Self {
        Self(text)
    }

    /// The text itself, for the header or form that it is sent in.
    pub(in crate::registry) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<redacted>")
    }
}

/// What a client authenticates with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::registry) enum Credential {
    /// A user's name and password.
    Password { user: String, password: Secret },
    /// A refresh token, which is exchanged for tokens of single repositories.
    Identity(Secret),
}

impl Credential {
    /// The credential in messages, without its secret.
    pub(in crate::registry) fn display(&self) -> String {
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
    fn a_secret_is_never_printed() {
        let credential = Credential::Password {
            user: "bob".to_owned(),
            password: Secret::new("hunter2".to_owned()),
        };
        let shown = format!("{credential:?} {}", credential.display());
        assert!(
            shown.contains("bob") && !shown.contains("hunter2"),
            "{shown}"
        );
    }
}
