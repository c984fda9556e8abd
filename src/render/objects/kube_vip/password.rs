//! The BGP password on its way into a static Pod, which can refer to no Secret: a file that the bootstrap configuration takes out of one,
//! and a script that puts it into the manifest on the machine itself.

use crate::render::objects::shell::quoted;

/// What stands in the manifest until the script has run.
pub(super) const PLACEHOLDER: &str = "@BGP_PASSWORD@";
/// The key of the Secret that holds the script.
pub(super) const SCRIPT: &str = "kube-vip-password.sh";

/// The script, called with the manifest's path. It refuses a password that the list of peers, or YAML, would read as something else.
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
        file = quoted(file),
    )
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::{PLACEHOLDER, script};

    #[test]
    fn the_password_goes_into_the_manifest_and_a_dangerous_one_does_not() {
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
        let wanted = "value: 192.0.2.1:1:a/b+c:true,[::1]:2:a/b+c:false\n";
        assert_eq!(run("a/b+c").as_deref(), Some(wanted));
        for bad in ["", "a:b", "a,b", "a\"b", "a&b", "a b", "a\\1"] {
            assert_eq!(run(bad), None, "{bad}");
        }
    }
}
