//! Credential helpers: programs named `docker-credential-<name>` that keep credentials elsewhere.
//!
//! Source: <https://github.com/docker/docker-credential-helpers>, "Development".

use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::super::program::find_program;
use super::secret::{Credential, Secret};

/// The user name that marks the secret as an identity token.
const TOKEN: &str = "<token>";

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Answer {
    username: String,
    secret: String,
}

/// Queries a helper for the credentials of a server; none if the helper has none. An error message quotes nothing that the
/// helper printed.
pub(super) async fn get(
    helper: &str,
    server: &str,
    timeout: Duration,
) -> Result<Option<Credential>, String> {
    let name = format!("docker-credential-{helper}");
    // A name with a slash would run any file.
    if helper.contains(['/', '\\']) {
        return Err(format!("`{helper}` is not the name of a credential helper"));
    }
    match tokio::time::timeout(timeout, run(&name, server)).await {
        Ok(answer) => answer,
        Err(_) => Err(format!(
            "`{name}` did not answer within {} s",
            timeout.as_secs_f32()
        )),
    }
}

async fn run(name: &str, server: &str) -> Result<Option<Credential>, String> {
    let start = |program| {
        Command::new(program)
            .arg("get")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
    };
    let mut child = find_program(name)
        .and_then(start)
        .map_err(|error| format!("cannot run `{name}`: {}", error.kind()))?;
    if let Some(mut stdin) = child.stdin.take() {
        // A helper may exit without reading: its status says enough.
        let _ = stdin.write_all(server.as_bytes()).await;
    }
    let output = child.wait_with_output().await;
    let output = output.map_err(|error| format!("cannot read from `{name}`: {}", error.kind()))?;
    if !output.status.success() {
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).to_lowercase();
        return if printed.contains("not found") {
            Ok(None)
        } else {
            Err(format!("`{name}` ended with {}", output.status))
        };
    }
    let answer: Answer = serde_json::from_slice(&output.stdout)
        .map_err(|_| format!("`{name}` did not print a user name and a secret"))?;
    let secret = Secret::new(answer.secret);
    Ok(Some(match answer.username.as_str() {
        TOKEN => Credential::Identity(secret),
        _ => Credential::Password {
            user: answer.username,
            password: secret,
        },
    }))
}
