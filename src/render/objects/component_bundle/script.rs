//! The shell script that installs a component bundle on a machine: it fetches, verifies, unpacks and runs it once.
//!
//! It needs `sh`, `curl`, `sha256sum` and `tar`, which the images of all distributions contain. All text from values is in single
//! quotes, so that the shell never interprets it.

use std::fmt::Write as _;

use crate::model::component::INSTALLER;
use crate::render::objects::shell::quote;

/// The variables of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Script<'a> {
    /// The title, in one line.
    pub title: &'a str,
    /// The address of the tarball.
    pub url: &'a str,
    /// The tarball's hex digest.
    pub sha256: &'a str,
    /// The installer's variables by name, sorted; the names are valid in a shell.
    pub env: &'a [(&'a str, &'a str)],
    /// The identity of this installation: the digest and the variables.
    pub id: &'a str,
}

/// The script. A second run with the same digest and variables does nothing, so it may run at every boot.
pub(super) fn text(script: &Script<'_>) -> String {
    let mut variables = String::new();
    for (name, value) in script.env {
        let _ = write!(variables, " \\\n  {name}={}", quote(value));
    }
    // A line break would end the comment.
    let title = script.title.replace(['\n', '\r'], " ");
    format!(
        "\
#!/bin/sh
# {title}
set -eu
url={url}
sha256={sha256}
id={id}
state=/var/lib/component-bundle
if [ \"$(cat \"$state/installed\" 2>/dev/null || :)\" = \"$id\" ]; then
  exit 0
fi
mkdir -p \"$state\"
work=$(mktemp -d \"$state/work.XXXXXX\")
trap 'rm -rf \"$work\"' EXIT
get() {{
  curl --fail --silent --show-error --location --netrc-optional --retry 5 --connect-timeout 30 \"$@\"
}}
{FETCH}
printf '%s  %s\\n' \"$sha256\" \"$work/bundle\" | sha256sum -c - >/dev/null
mkdir \"$work/root\"
tar -x -f \"$work/bundle\" -C \"$work/root\"
cd \"$work/root\"
if [ ! -f {INSTALLER} ] || [ -L {INSTALLER} ] || [ ! -x {INSTALLER} ]; then
  echo 'the component bundle has no executable {INSTALLER} at its root' >&2
  exit 1
fi
env{variables} \\
  ./{INSTALLER}
printf '%s\\n' \"$id\" >\"$state/installed\"
",
        url = quote(script.url),
        sha256 = quote(script.sha256),
        id = quote(script.id),
    )
}

/// A registry may require a token, even for anonymous access (<https://distribution.github.io/distribution/spec/auth/token/>).
const FETCH: &str = r#"if ! get --output "$work/bundle" "$url" 2>"$work/error"; then
  curl --silent --show-error --location --head --output "$work/head" "$url"
  asked() {
    sed -n 's/^[Ww][Ww][Ww]-[Aa]uthenticate: *[Bb]earer.*[ ,]'"$1"'="\([^"]*\)".*/\1/p' "$work/head" | head -n 1
  }
  realm=$(asked realm)
  case $realm in
    http://* | https://*) ;;
    *)
      cat "$work/error" >&2
      exit 1
      ;;
  esac
  token=$(get --get --data-urlencode "service=$(asked service)" --data-urlencode "scope=$(asked scope)" "$realm" |
    sed -n 's/.*"\(access_\)\{0,1\}token" *: *"\([^"]*\)".*/\2/p' | head -n 1)
  get --header "Authorization: Bearer $token" --output "$work/bundle" "$url"
fi"#;
