//! The plugin's configuration file, as Argo CD's sidecar reads it (`cmpserver/plugin/config.go`).

use clap::Args;

use crate::error::Error;
use crate::pipeline::{Terminal, Verdict};

/// How the sidecar serves Applications.
#[derive(Clone, Debug, Args)]
pub struct PluginOptions {
    /// The name that Applications say in `spec.source.plugin.name`.
    #[arg(long, default_value = "metalmark", value_name = "NAME")]
    pub name: String,
    /// Serve Applications that name no plugin too; costs sending the repository twice.
    #[arg(long)]
    pub discover: bool,
}

/// `metalmark cmp plugin-config`: the sidecar's plugin.yaml on stdout.
///
/// # Errors
/// Stdout is gone, or there is no name.
pub fn plugin_config(options: &PluginOptions, terminal: &mut Terminal) -> Result<Verdict, Error> {
    if options.name.is_empty() || options.name.contains('/') {
        let message =
            "a plugin's name is the name of its socket: it is not empty and holds no slash";
        return Err(Error::usage(message));
    }
    terminal.out.product(text(options).as_bytes())?;
    Ok(Verdict::Clean)
}

fn text(options: &PluginOptions) -> String {
    let name = yaml_tree::quote(&options.name);
    let discover = if options.discover {
        DISCOVER
    } else {
        NO_DISCOVERY
    };
    format!(
        "\
# Argo CD's sidecar reads this file at /home/argocd/cmp-server/config/plugin.yaml.
apiVersion: argoproj.io/v1alpha1
kind: ConfigManagementPlugin
metadata:
  name: {name}
spec:
  # Without `version`, which would become part of the name that Applications say.
  generate:
    command: [metalmark]
    args: [cmp, generate]
{discover}  parameters:
    dynamic:
      command: [metalmark]
      args: [cmp, parameters]
"
    )
}

const DISCOVER: &str = "  \
  # Applications that name no plugin are served where they are called like a cluster of their project.
  discover:
    find:
      command: [metalmark]
      args: [cmp, discover]
";

const NO_DISCOVERY: &str = "  \
  # Without `discover`: Applications name the plugin, and the repository is sent once instead of twice.
";
