//! Passwords and tokens. `Debug` does not print them, and who prints the answers of servers may mask them (`on_secret`).

use std::fmt;
use std::sync::OnceLock;

static HOOK: OnceLock<fn(&str)> = OnceLock::new();

/// Sets the function that receives each password and token once it is known, so that a program can mask them in what it prints:
/// a server may repeat them in its answers. A second call changes nothing.
pub fn set_secret_hook(hook: fn(&str)) {
    let _ = HOOK.set(hook);
}

/// A password or a token.
#[derive(Clone, PartialEq, Eq)]
pub(in crate::registry) struct Secret(String);

impl Secret {
    pub(in crate::registry) fn new(text: String) -> Self {
        // Of the value of a header, the part after the scheme.
        if let Some(hook) = HOOK.get() {
            hook(text.rsplit(' ').next().unwrap_or(&text));
        }
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
