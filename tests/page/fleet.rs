//! The page shows what the other commands print: it has one model with them.

use std::collections::BTreeMap;

use serde_json::Value;
use snapbox::str;

use super::{Data, json, manifests, page, values};
use crate::support::manifests::{cluster, repository};
use crate::support::stage::{Is, project};

/// The states of pools by their numbers in the page.
const STATES: [&str; 5] = ["proven", "by_name", "unproven", "mismatched", "skipped"];

#[test]
fn pools_are_counted_as_check_counts_them() {
    for folder in [values(), manifests()] {
        let data = Data::parse(&page(folder.path(), ""));
        let summary = &json(folder.path(), "check --output json")["summary"];
        assert_eq!(data.0["counts"], summary["pools"]);
        assert_eq!(data.rows("clusters").len() as u64, summary["clusters"]);
        let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
        for pool in data
            .rows("clusters")
            .iter()
            .flat_map(|row| row["p"].as_array().expect("pools"))
        {
            let state = pool["s"].as_u64().expect("a state") as usize;
            *counts.entry(STATES[state]).or_default() += 1;
        }
        for state in &STATES[..4] {
            let known = counts.get(state).copied().unwrap_or(0);
            assert_eq!(summary["pools"][*state], known, "{state}");
        }
    }
}

#[test]
fn the_chain_of_a_pool_is_that_of_explain() {
    for folder in [values(), manifests()] {
        let data = Data::parse(&page(folder.path(), ""));
        for cluster in data.rows("clusters") {
            let name = data.text(&cluster["n"]);
            let explained = json(folder.path(), &format!("explain {name} --output json"));
            let pools = cluster["p"].as_array().expect("pools");
            let accounts = explained.as_array().expect("pools");
            assert_eq!(pools.len(), accounts.len(), "{name}");
            for (pool, account) in pools.iter().zip(accounts) {
                chain(&data, cluster, pool, account);
            }
        }
    }
}

fn chain(data: &Data, cluster: &Value, pool: &Value, account: &Value) {
    assert_eq!(
        data.text(&pool["n"]),
        account["pool"].as_str().expect("a name")
    );
    let version = account["k8s_version"]["value"].as_str().unwrap_or("");
    assert_eq!(data.text(&pool["v"]), version);
    let reason = &data.0["reasons"][pool["y"].as_u64().expect("a number") as usize];
    let outcome = account["outcome"].as_str().expect("words");
    let at = data.place(cluster, &reason["p"]);
    let mut said = data.text(&reason["o"]).to_owned();
    if !at.is_empty() {
        said += &format!("  ({at})");
    }
    assert_eq!(said, outcome);
    let steps = |rows: &Value| -> Vec<(String, String, String)> {
        let rows = rows.as_array().expect("steps").iter();
        let step = |row: &Value| {
            let place = data.place(cluster, &row[2]);
            (
                data.text(&row[0]).to_owned(),
                data.text(&row[1]).to_owned(),
                place,
            )
        };
        rows.map(step).collect()
    };
    let sets = |sets: &Value| -> Vec<(String, String, String)> {
        let sets = sets.as_object().expect("settings").iter();
        let set = |(name, value): (&String, &Value)| {
            let text = |key: &str| value[key].as_str().unwrap_or("").to_owned();
            (name.clone(), text("value"), text("at"))
        };
        sets.map(set).collect()
    };
    let levels = reason["l"].as_array().expect("levels");
    let accounts = account["levels"].as_array().expect("levels");
    assert_eq!(levels.len(), accounts.len());
    for (level, account) in levels.iter().zip(accounts) {
        assert_eq!(
            data.text(&level[0]),
            account["path"].as_str().expect("a path")
        );
        assert_eq!(steps(&level[1]), sets(&account["sets"]));
    }
    assert_eq!(steps(&reason["s"]), sets(&account["selector"]));
    let unread = reason["u"].as_array().map_or(&[][..], |rows| rows);
    let unread = unread
        .iter()
        .map(|row| (data.text(&row[1]), data.place(cluster, &row[2])));
    let accounts = account["unread"].as_array().expect("what is not read");
    let text = |account: &Value, key: &str| account[key].as_str().unwrap_or("").to_owned();
    let accounts: Vec<_> = { accounts.iter() }
        .map(|one| (text(one, "value"), text(one, "at")))
        .collect();
    let unread: Vec<_> = unread.map(|(why, at)| (why.to_owned(), at)).collect();
    assert_eq!(unread, accounts);
    let candidates = account["candidates"].as_array().expect("images");
    if let Some(nearest) = reason["n"].as_u64().filter(|number| *number > 0) {
        let nearest = &data.0["nearest"][nearest as usize - 1];
        let matching = candidates
            .iter()
            .filter(|one| one["matches"] == true)
            .count();
        assert_eq!(
            (nearest[0].as_u64(), nearest[1].as_u64()),
            (Some(candidates.len() as u64), Some(matching as u64))
        );
    } else {
        assert_eq!(candidates.len(), 0);
    }
}

#[test]
fn images_have_the_facts_that_the_list_prints() {
    let folder = values();
    let data = Data::parse(&page(folder.path(), ""));
    let listed = json(folder.path(), "images --output json");
    let listed = listed.as_array().expect("images");
    assert_eq!((listed.len(), data.rows("images").len()), (7, 8));
    for image in listed {
        let is_it = |row: &&Value| {
            image["key"] == data.text(&row["key"])
                && image["uri"].as_str().unwrap_or("") == data.text(&row["uri"])
        };
        let row = data.rows("images").iter().find(is_it).expect("the image");
        let facts = row["facts"].as_array().expect("facts").iter();
        let facts: BTreeMap<&str, &str> = facts
            .map(|fact| (data.text(&fact[0]), data.text(&fact[1])))
            .collect();
        let expected = image["facts"].as_object().expect("facts").iter();
        let expected: BTreeMap<&str, &str> = expected
            .map(|(name, value)| (name.as_str(), value.as_str().expect("text")))
            .collect();
        assert_eq!(facts, expected);
        assert_eq!(
            data.text(&row["digest"]),
            image["digest"].as_str().unwrap_or("")
        );
        let number = data
            .rows("images")
            .iter()
            .position(|other| other == row)
            .expect("it")
            + 1;
        let pools = data
            .rows("clusters")
            .iter()
            .flat_map(|row| row["p"].as_array().expect("pools"));
        let users = pools.filter(|pool| pool["i"] == number).count();
        assert_eq!(
            users,
            image["used_by"].as_array().expect("pools").len(),
            "{}",
            image["key"]
        );
    }
}

#[test]
fn findings_are_those_of_check_with_the_lines_of_their_files() {
    let folder = values();
    let page = page(folder.path(), "");
    let data = Data::parse(&page);
    let checked = json(folder.path(), "check --output json");
    let expected = checked["findings"].as_array().expect("findings");
    assert_eq!(data.rows("findings").len(), expected.len());
    for (row, finding) in data.rows("findings").iter().zip(expected) {
        assert_eq!(
            data.text(&row["message"]),
            finding["message"].as_str().expect("words")
        );
        assert_eq!(row["level"], finding["level"]);
        let clusters = row["clusters"].as_array().expect("clusters").iter();
        let clusters: Vec<&str> = clusters
            .map(|index| {
                data.text(&data.rows("clusters")[index.as_u64().expect("a number") as usize]["n"])
            })
            .collect();
        let named = finding["clusters"].as_array().expect("names").iter();
        assert_eq!(
            clusters,
            named
                .map(|name| name.as_str().expect("a name"))
                .collect::<Vec<_>>()
        );
        let place = &finding["labels"][0];
        assert_eq!(
            (&row["line"], &row["column"]),
            (&place["line"], &place["column"])
        );
        let arrow = format!(
            "--> {}:{}:{}",
            place["path"].as_str().expect("a file"),
            place["line"],
            place["column"]
        );
        assert!(data.text(&row["snippet"]).contains(&arrow), "{arrow}");
    }
}

#[test]
fn what_is_the_same_in_several_places_has_one_cause() {
    let providers = "capi_providers: {infra_provider: capm3, bootstrap_provider: cabpk}";
    let own = "cluster: {capm3: {image_key: old}}\n";
    let project = project()
        .settings("values: [shared.yaml]")
        .file(
            "shared.yaml",
            format!(
                "os_images:\n  old: {{uri: 'oci://r.example/old:1', k8s-version: 1.30.1}}\ncluster: {{k8s_version: v1.31.8, {providers}}}\n"
            ),
        )
        .cluster("a", own)
        .cluster("b", own);
    let data = Data::parse(&page(project.path(), ""));
    let of_rule = data.rows("findings").iter().filter(|row| {
        data.text(&data.rows("rules")[row["rule"].as_u64().expect("a number") as usize][0])
            == "k8s-version-mismatch"
    });
    let causes: Vec<&Value> = of_rule.map(|row| &row["cause"]).collect();
    assert_eq!(causes.len(), 2);
    assert_eq!(causes[0], causes[1]);
}

#[test]
fn the_successor_of_an_image_is_the_newest_of_its_line() {
    let project = project().catalog(&[
        "ubuntu-noble-plain-rke2-1-31-8 rke2 1.31.8+rke2r1",
        "ubuntu-noble-plain-rke2-1-31-11 rke2 1.31.11+rke2r1",
        "ubuntu-noble-plain-rke2-1-31-9 rke2 1.31.9+rke2r1",
        "ubuntu-noble-plain-rke2-1-32-6 rke2 1.32.6+rke2r1",
        "ubuntu-noble-hardened-rke2-1-31-12 rke2 1.31.12+rke2r1",
        "opensuse-15-6-plain-rke2-1-31-8 rke2 1.31.8+rke2r1",
    ]);
    let project = project.cluster("edge", "cluster: {k8s_version: v1.31.8+rke2r1}\n");
    let data = Data::parse(&page(project.path(), ""));
    let images = data.rows("images");
    let successors = images.iter().map(|row| {
        let number = row["successor"].as_u64().expect("a number") as usize;
        let next = number
            .checked_sub(1)
            .map_or("-", |index| data.text(&images[index]["key"]));
        format!("{} -> {next}\n", data.text(&row["key"]))
    });
    String::from_iter(successors).is(str![[r#"
opensuse-15-6-plain-rke2-1-31-8 -> -
ubuntu-noble-hardened-rke2-1-31-12 -> -
ubuntu-noble-plain-rke2-1-31-11 -> -
ubuntu-noble-plain-rke2-1-31-8 -> ubuntu-noble-plain-rke2-1-31-11
ubuntu-noble-plain-rke2-1-31-9 -> ubuntu-noble-plain-rke2-1-31-11
ubuntu-noble-plain-rke2-1-32-6 -> -

"#]]);
}

#[test]
fn labels_and_machine_templates_of_manifests_are_shown() {
    let folder = manifests();
    let labels = "metadata:\n  labels: {region: eu-west}\n  name: edge\nspec:\n  clusterNetwork:";
    let bare = "metadata:\n  name: edge\nspec:\n  clusterNetwork:";
    folder.edit("base/cluster.yaml", bare, labels);
    let data = Data::parse(&page(folder.path(), ""));
    let labeled: Vec<&Value> = data
        .rows("clusters")
        .iter()
        .filter(|cluster| !cluster["l"].is_null())
        .collect();
    assert_eq!(labeled.len(), 2);
    let label = &labeled[0]["l"][0];
    assert_eq!(
        (data.text(&label[0]), data.text(&label[1])),
        ("region", "eu-west")
    );
    let pool = &labeled[0]["p"][0];
    assert!(data.text(&pool["t"][0]).contains("MachineTemplate"));
    assert!(!data.place(labeled[0], &pool["t"][1]).is_empty());
}

#[test]
fn the_provider_of_a_cluster_is_its_control_planes() {
    let text = cluster("v1.31.8", "{filter: {name: ubuntu-2204-kube-v1.31.8}}");
    let of_the_worker = "kind: OpenStackMachineTemplate, name: edge}\n---";
    let at = text.rfind(of_the_worker).expect("a worker");
    let worker = text[at..].replacen("OpenStackMachineTemplate", "Metal3MachineTemplate", 1);
    let template = "---\napiVersion: infrastructure.cluster.x-k8s.io/v1beta1\nkind: Metal3MachineTemplate\n\
                    metadata: {name: edge}\nspec: {template: {spec: {image: {url: 'http://h/a-v1.31.8.raw'}}}}\n";
    let mixed = format!("{}{worker}{template}", &text[..at]);
    let folder = repository(&[("edge.yaml", &mixed)]);
    let data = Data::parse(&page(folder.path(), ""));
    let edge = data.cluster("edge");
    assert_eq!(data.text(&edge["i"][0]), "capo");
    assert!(data.text(&edge["p"][1]["t"][0]).contains("Metal3"));
}
