//! What the image servers of management clusters have to serve while a plan is carried out.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::decide::image_server::{Boots, ServerPlan, server_plan};
use crate::decide::plan::ClusterPlan;
use crate::error::Error;
use crate::pipeline::fleet::Fleet;
use crate::read::ClusterEntry;

/// What each management cluster that the project names has to serve while clusters make their steps. Clusters that are not
/// planned stay as they are.
pub(crate) fn plan_servers(fleet: &Fleet, plans: &[ClusterPlan]) -> Result<Vec<ServerPlan>, Error> {
    let planned = plans.iter().map(|plan| (&plan.cluster, &plan.boots));
    let planned: BTreeMap<&Arc<str>, &Boots> = planned.collect();
    let mut groups: BTreeMap<&Arc<str>, Vec<&ClusterEntry>> = BTreeMap::new();
    for entry in &fleet.workspace.clusters {
        if let Some(management) = &entry.management {
            groups.entry(management).or_default().push(entry);
        }
    }
    let mut servers = Vec::new();
    for (name, mut entries) in groups {
        let Some(management) = fleet.workspace.find_cluster(name) else {
            continue;
        };
        let server = fleet.view(management)?;
        if !entries.contains(&management) {
            entries.push(management);
        }
        let mut clusters = Vec::new();
        for entry in entries {
            clusters.push(match planned.get(&entry.name) {
                Some(boots) => (*boots).clone(),
                None => Boots::from_view(&fleet.view(entry)?),
            });
        }
        if clusters.iter().any(|boots| !boots.steps.is_empty()) {
            let clusters: Vec<&Boots> = clusters.iter().collect();
            servers.push(server_plan(&server, &clusters, &fleet.workspace.settings));
        }
    }
    Ok(servers)
}
