//! The plan of a page is that of `plan`.

use serde_json::{Value, json};

use super::{Data, HOSTILE, json as json_of, manifests, page, size, values};
use crate::support::seen::Seen;
use crate::support::stage::project;

#[test]
fn the_plan_is_that_of_plan_for_values_and_manifests() {
    let folder = project();
    size::write_fleet(folder.path(), 40);
    let text = folder.read("metalmark.yaml");
    let plan = "plan: {most: 7, first: ['site-0000?'], windows: {'site-0001?': at night}, owners: {'*': edge team}}\n";
    folder.write("metalmark.yaml", text + plan);
    let seen = Seen::new(&["clusters", "waves", "steps", "a window", "an owner"]);
    for folder in [folder, values(), manifests()] {
        let folder = folder.path();
        let data = Data::parse(&page(folder, "--plan 1.31"));
        let expected = json_of(folder, "plan --to 1.31 --output json");
        let plan = &data.0["plan"];
        assert_eq!(plan["goal"], "1.31");
        let list = |value: &Value| value.as_array().expect("a list").clone();
        let name = |index: &Value| {
            let index = index.as_u64().expect("a number") as usize;
            data.text(&data.rows("clusters")[index]["n"])
        };
        let ways = list(&plan["clusters"]);
        assert_eq!(ways.len(), list(&expected["clusters"]).len());
        for (index, (way, own)) in ways.iter().zip(list(&expected["clusters"])).enumerate() {
            assert_eq!(own["cluster"], name(&json!(index)));
            assert_eq!(
                own["from"].as_str().unwrap_or_default(),
                data.text(&way["v"])
            );
            assert_eq!(own["blocked"].is_null(), way.get("b").is_none(), "{own}");
            let steps = list(&way["s"]);
            assert_eq!(steps.len(), list(&own["steps"]).len());
            for (step, own) in steps.iter().zip(list(&own["steps"])) {
                let step = &plan["steps"][step.as_u64().expect("a number") as usize];
                assert_eq!(own["version"], data.text(&step[0]));
                for pair in list(&step[1]) {
                    let image = &own["images"][data.text(&pair[0])];
                    assert_eq!(image, data.text(&pair[1]));
                }
            }
        }
        for (wave, own) in list(&plan["waves"]).iter().zip(list(&expected["waves"])) {
            assert_eq!(
                (data.text(&wave["to"]), &wave["machines"]),
                (own["to"].as_str().expect("a minor"), &own["machines"])
            );
            let (indexes, clusters) = (list(&wave["clusters"]), list(&own["clusters"]));
            assert_eq!(indexes.len(), clusters.len());
            for (index, own) in indexes.iter().zip(clusters) {
                assert_eq!(own["cluster"], name(index));
            }
            let words = own["window"].as_str().into_iter();
            let owners = list(&own["owners"]);
            let words = words.chain(owners.iter().filter_map(Value::as_str));
            let shown: Vec<&str> = wave["words"]
                .as_array()
                .expect("words")
                .iter()
                .map(|id| data.text(id))
                .collect();
            assert_eq!(words.collect::<Vec<_>>(), shown);
            seen.note_if(!own["window"].is_null(), "a window");
            seen.note_if(!owners.is_empty(), "an owner");
        }
        assert_eq!(list(&plan["waves"]).len(), list(&expected["waves"]).len());
        seen.note_if(!ways.is_empty(), "clusters");
        seen.note_if(!list(&plan["waves"]).is_empty(), "waves");
        seen.note_if(!list(&plan["steps"]).is_empty(), "steps");
    }
    seen.assert_each(1);
}

#[test]
fn a_page_without_a_plan_has_none() {
    let folder = values();
    assert!(Data::parse(&page(folder.path(), "")).0["plan"].is_null());
}

#[test]
fn the_words_of_a_window_stay_text() {
    let folder = project();
    size::write_fleet(folder.path(), 4);
    let text = folder.read("metalmark.yaml");
    let plan = json!({"windows": {"site-*": HOSTILE}});
    folder.write("metalmark.yaml", format!("{text}plan: {plan}\n"));
    let page = page(folder.path(), "--plan 1.31");
    assert_eq!(page.matches("<script").count(), 2);
    let data = Data::parse(&page);
    let window = &data.0["plan"]["waves"][0]["words"][0];
    assert_eq!(data.text(window), HOSTILE);
}
