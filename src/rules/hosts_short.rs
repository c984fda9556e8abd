//! Fewer hosts match a node pool than it has machines.

use yaml_tree::value::Value;

use crate::model::finding::Finding;
use crate::model::rule::{Level, RuleId};
use crate::rules::ClusterInput;

/// Looks at every pool that claims hosts of an inventory by their labels.
pub(super) fn cluster(input: &ClusterInput<'_>, findings: &mut Vec<Finding>) {
    let cluster = &input.view.cluster;
    let Some(found) = cluster.endpoint.as_ref().filter(|it| !it.hosts.is_empty()) else {
        return;
    };
    for pool in &cluster.pools {
        let (Some(replicas), Some(selector)) = (&pool.replicas, input.host_selector(pool)) else {
            continue;
        };
        let inventory = found.hosts.iter();
        let matching = inventory
            .filter(|host| selector.matches(&host.labels))
            .count();
        let wanted = replicas.value as usize;
        let reuse = pool.settings.get_path(&["nodeReuse"]);
        let reuses = reuse.is_some_and(|node| node.value == Value::Bool(true));
        if matching > wanted || (matching == wanted && (reuses || wanted == 0)) {
            continue;
        }
        let message = if matching < wanted {
            format!(
                "{} pool `{}`, which needs {wanted}",
                hosts(matching),
                pool.name
            )
        } else {
            format!("no host is left for pool `{}` to roll with", pool.name)
        };
        let finding = Finding::new(RuleId::HostsShort, message)
            .with_subject(input.subject(Some(pool)))
            .with_label(
                input.spot(replicas.place),
                hosts(matching) + " its selector",
            )
            .help("label another host, or request fewer replicas");
        findings.push(if matching < wanted {
            finding
        } else {
            finding.unless_set(Level::Warning)
        });
    }
}

/// How many hosts match, in words.
fn hosts(count: usize) -> String {
    match count {
        0 => "no host matches".to_owned(),
        1 => "1 host matches".to_owned(),
        count => format!("{count} hosts match"),
    }
}

#[cfg(test)]
mod tests {
    use crate::model::endpoint::Way;
    use crate::model::rule::RuleId;
    use crate::testing::Given;
    use yaml_tree::place::{Located, Place};
    use yaml_tree::value::{Entry, Map, Node};

    fn given(replicas: u32, hosts: usize) -> Given {
        let mut given = Given::new();
        given.view.cluster.infra_provider = Some(Located::new("capm3".into(), Place::NONE));
        given.endpoint(Way::Vip, "192.0.2.10");
        given.host("other", &[("role", "worker")], &[]);
        for index in 0..hosts {
            given.host(&format!("server-{index}"), &[("role", "cp")], &[]);
        }
        let pool = &mut given.view.cluster.pools[0];
        pool.replicas = Some(Located::new(replicas, Place::NONE));
        let labels = Map::from_iter([Entry::from_value("role", "cp")]);
        let selector = Map::from_iter([Entry::from_value("matchLabels", labels)]);
        pool.settings = Node::from_value(Map::from_iter([Entry::from_value(
            "hostSelector",
            selector,
        )]));
        given
    }

    #[test]
    fn too_few_hosts_and_no_spare_are_reported() {
        let id = RuleId::HostsShort;
        let short = given(3, 2).found(id);
        assert!(short.starts_with("2 hosts match pool `control-plane`, which needs 3\n"));
        let tight = given(3, 3).found(id);
        assert!(tight.starts_with("no host is left for pool `control-plane` to roll with\n"));
        assert_eq!(given(3, 4).found(id), "");
        assert_eq!(given(0, 0).found(id), "");
    }

    #[test]
    fn reused_nodes_need_no_spare_and_providers_without_hosts_none_at_all() {
        let mut reused = given(3, 3);
        let settings = &mut reused.view.cluster.pools[0].settings;
        let mut map = settings
            .value
            .as_map()
            .map(|map| Map::clone(map))
            .expect("a map");
        map.insert(Entry::from_value("nodeReuse", true));
        *settings = Node::from_value(map);
        assert_eq!(reused.found(RuleId::HostsShort), "");
        let mut cloud = given(3, 1);
        cloud.view.cluster.infra_provider = Some(Located::new("capo".into(), Place::NONE));
        assert_eq!(cloud.found(RuleId::HostsShort), "");
    }
}
