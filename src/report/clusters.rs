//! The list of clusters, each with its node pools and what is known of their images.

use std::io;
use std::sync::Arc;

use capi::labels::Labels;
use serde::Serialize;

use super::format::Format;
use super::judged_pool::JudgedPool;
use super::table::Table;
use crate::model::cluster_view::{ClusterView, SelectedPool};
use crate::model::judgment::Grade;
use crate::printer::Printer;

/// A cluster of the list; docs/json.md describes it.
#[derive(Debug, Serialize)]
pub struct ClusterRow {
    cluster: Arc<str>,
    provider: Option<Arc<str>>,
    labels: Labels,
    /// The worst of its node pools.
    judgment: Grade,
    pools: Vec<JudgedPool>,
}

impl ClusterRow {
    /// A cluster with some of its pools; none without any.
    pub fn new<'v>(
        view: &'v ClusterView,
        pools: impl Iterator<Item = SelectedPool<'v>>,
    ) -> Option<Self> {
        let cluster = &view.cluster;
        let pools: Vec<JudgedPool> = pools.map(|it| JudgedPool::new(view, it)).collect();
        let provider = cluster.infra_provider.as_ref();
        Some(Self {
            cluster: Arc::clone(&cluster.name),
            provider: provider.map(|provider| Arc::clone(&provider.value)),
            labels: cluster.labels.clone(),
            judgment: pools.iter().map(|pool| pool.judgment).max()?,
            pools,
        })
    }
}

/// Prints the list: of a table a line for each node pool.
pub fn clusters(rows: &[&ClusterRow], format: Format, out: &mut Printer) -> io::Result<()> {
    if format != Format::Human {
        return format.data(&rows, out);
    }
    if rows.is_empty() {
        return Ok(());
    }
    let head = [
        "cluster",
        "pool",
        "provider",
        "kubernetes",
        "image",
        "judgment",
    ];
    let mut table = Table::new(&head);
    for row in rows {
        for pool in &row.pools {
            let or_dash = |text: Option<&str>| text.unwrap_or("–").to_owned();
            let version = pool.k8s_version.as_ref();
            table.row([
                row.cluster.to_string(),
                pool.pool.clone(),
                or_dash(row.provider.as_deref()),
                or_dash(version.map(|version| &*version.value)),
                or_dash(pool.image.as_deref()),
                pool.why.clone(),
            ]);
        }
    }
    table.write(out)
}
