//! The change of a page is that of `impact`.

use super::{Data, json, page, run, values};

#[test]
fn the_change_is_that_of_impact_with_the_findings_of_both_sides() {
    let Some(stage) = values().commit("before") else {
        return;
    };
    let folder = stage.path();
    let lab = "environment-values/workload-clusters/lab-7/values.yaml";
    let paris = "environment-values/workload-clusters/edge-paris/values.yaml";
    let name = "  name: edge-paris\n";
    stage.edit(
        paris,
        name,
        &format!("{name}  k8s_version: v1.30.12+rke2r1\n"),
    );
    stage.edit(lab, "rke2-1-30-12", "rke2-1-31-8");
    let impact = stage.run("impact --against HEAD").outcome;
    let data = Data::parse(&page(folder, "--against HEAD"));
    let change = &data.0["change"];
    let sum = change["sum"].as_str().expect("words");
    assert!(
        impact.stdout.ends_with(&format!("\n{sum}\n")),
        "{}",
        impact.stdout
    );
    let expected = json(folder, "impact --against HEAD --output json");
    assert_eq!(change["against"], expected["against"]);
    let groups = change["groups"].as_array().expect("groups").iter();
    let pools: usize = groups
        .map(|group| {
            group["clusters"].as_array().map_or(0, Vec::len)
                * group["pools"].as_array().map_or(0, Vec::len)
        })
        .sum();
    let clusters = expected["clusters"].as_array().expect("clusters").iter();
    let changed: usize = clusters
        .map(|cluster| cluster["pools"].as_array().map_or(0, Vec::len))
        .sum();
    assert_eq!(pools, changed);
    let new = change["new"].as_array().expect("findings").iter();
    let new: Vec<&str> = new
        .map(|index| {
            data.text(&data.rows("findings")[index.as_u64().expect("a number") as usize]["message"])
        })
        .collect();
    assert!(
        new.iter().any(|message| message.contains("1.30.12")),
        "{new:?}"
    );
    let gone = change["gone"].as_array().expect("findings");
    assert!(
        gone.iter()
            .any(|row| data.text(&row["message"]).contains("1-30-12")),
        "{gone:?}"
    );
}

#[test]
fn nothing_changed_is_no_new_finding() {
    let Some(stage) = values().commit("before") else {
        return;
    };
    let folder = stage.path();
    let data = Data::parse(&run(folder, "page --against HEAD").stdout);
    let change = &data.0["change"];
    for list in ["groups", "new", "gone"] {
        assert_eq!(change[list], serde_json::json!([]), "{list}");
    }
    assert_eq!(
        Data::parse(&page(folder, "")).0["change"],
        serde_json::Value::Null
    );
}
