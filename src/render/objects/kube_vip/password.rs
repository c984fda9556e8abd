//! The BGP password of a static Pod, which cannot refer to a Secret: the bootstrap configuration writes it to a file, and a
//! script inserts it into the manifest on the machine.

use crate::render::objects::shell::quote;

/// The text in the manifest that the script replaces.
pub(super) const PLACEHOLDER: &str = "@BGP_PASSWORD@";
/// The key in the Secret with the script.
pub(super) const SCRIPT: &str = "kube-vip-password.sh";

/// The script; its argument is the manifest's path. It refuses a password with characters that YAML or the list of peers interprets.
pub(super) fn script(file: &str) -> String {
    format!(
        "\
#!/bin/sh
# Puts the BGP password into kube-vip's manifest, whose path is the argument.
set -eu
password=$(cat {file})
case $password in
  '' | *[!A-Za-z0-9._=+/%^~-]*)
    echo 'the BGP password is empty, or has other characters than letters, digits and . _ = + / % ^ ~ -' >&2
    exit 1
    ;;
esac
# Not beside the manifest: the kubelet takes every file there for a Pod.
new=$(mktemp)
PASSWORD=$password awk '{{ gsub(/{PLACEHOLDER}/, ENVIRON[\"PASSWORD\"]); print }}' \"$1\" >\"$new\"
cat \"$new\" >\"$1\"
rm -f \"$new\"
",
        file = quote(file),
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{PLACEHOLDER, script};

    #[test]
    fn the_password_is_inserted_and_a_dangerous_one_is_refused() {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let file = folder.path().join("it's a password");
        let manifest = folder.path().join("kube-vip.yaml");
        let run = |password: &str| {
            std::fs::write(&file, format!("{password}\n")).expect("written");
            let text =
                format!("value: 192.0.2.1:1:{PLACEHOLDER}:true,[::1]:2:{PLACEHOLDER}:false\n");
            std::fs::write(&manifest, text).expect("written");
            let script = script(&file.to_string_lossy());
            let mut command = Command::new("sh");
            command.args(["-c", &script, "sh"]).arg(&manifest);
            let output = command.output().expect("a shell");
            let text = std::fs::read_to_string(&manifest).expect("read");
            output.status.success().then_some(text)
        };
        let expected = "value: 192.0.2.1:1:a/b+c:true,[::1]:2:a/b+c:false\n";
        assert_eq!(run("a/b+c").as_deref(), Some(expected));
        for bad in ["", "a:b", "a,b", "a\"b", "a&b", "a b", "a\\1"] {
            assert_eq!(run(bad), None, "{bad}");
        }
    }
}
