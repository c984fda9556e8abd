//! OpenStack (`capo`): an image in Glance, by its ID, by a filter that matches one image, or by an ORC Image object.
//!
//! Source: CAPO's CRDs (`image` accepts exactly one of `id`, `filter`, `imageRef`). Sylva uploads the builder's images to Glance
//! as `<key>-sylva-diskimage-builder-<commit-tag>`, tagged `sylva-md5-<md5>`, and writes their IDs into the ConfigMap
//! `openstack-images-uuids` (sylva-core, sync-openstack-images; docs/sylva.md#machine-templates).

use yaml_tree::value::{Entry, Map, Node, Value};

use super::images::{ImageNames, Way};
use super::{Edit, IMAGE_NAME, InfraCluster, Kind, Provider, ProviderData, Stamp, image_name};
use crate::image::{Facts, fact};

/// See the module documentation.
pub(super) struct Capo;

const V1BETA1: &str = "v1beta1";
/// The fact from the ConfigMap `openstack-images-uuids`.
const GLANCE_UUID: &str = "openstack_glance_uuid";
/// Glance's disk formats of virtual machines.
const FORMATS: &[&str] = &["raw", "qcow2", "vmdk", "vdi", "vhd", "vhdx", "iso"];

const KINDS: &[Kind] = &[
    Kind::new("OpenStackMachineTemplate", &[V1BETA1, "v1beta2"], FORMATS),
    Kind {
        machine: &["spec"],
        ..Kind::new("OpenStackServer", &["v1alpha1"], FORMATS).refuses_all()
    },
];

/// The fields of the machine, and the names that Sylva's chart has for some of them.
const SETTINGS: &[&str] = &[
    "additionalBlockDevices",
    "configDrive",
    "flavor",
    "flavor_name",
    "floatingIPPoolRef",
    "identityRef",
    IMAGE_NAME,
    "network_id",
    "ports",
    "rootVolume",
    "schedulerHintAdditionalProperties",
    "securityGroups",
    "serverGroup",
    "serverMetadata",
    "server_group_id",
    "sshKeyName",
    "ssh_key_name",
    "tags",
    "trunk",
];

/// The settings that the machine has under another name, or in another form.
const RENAMED: &[&str] = &[
    "flavor_name",
    IMAGE_NAME,
    "network_id",
    "rootVolume",
    "server_group_id",
    "ssh_key_name",
];

const GLANCE_NAME: &[&str] = &["locations.glance.name"];

const IMAGE_NAMES: &[ImageNames] = &[ImageNames::new(
    "OpenStack",
    &[
        Way::name("image.filter.name", GLANCE_NAME),
        Way::name("image.imageRef.name", &["locations.glance.image-ref"]),
        Way::name("image.filter.tags", &["locations.glance.tags"]),
        Way::name("image.id", &["locations.glance.id", GLANCE_UUID]),
        // Of older API versions.
        Way::name("image.name", GLANCE_NAME),
        Way::name("image", GLANCE_NAME),
    ],
)];

const CLUSTER: InfraCluster =
    InfraCluster::new("OpenStackCluster", &[V1BETA1, "v1beta2"], &["identityRef"]);

const DATA: ProviderData = ProviderData {
    other_settings: RENAMED,
    ..ProviderData::new("capo", KINDS, CLUSTER, IMAGE_NAMES, SETTINGS)
};

impl Provider for Capo {
    fn data(&self) -> &'static ProviderData {
        &DATA
    }

    fn image(&self, _kind: &Kind, _version: &str, stamp: &Stamp) -> Result<Vec<Edit>, String> {
        let id = stamp
            .location("glance.id")
            .or_else(|| nonempty_text(&stamp.facts, GLANCE_UUID));
        let reference = stamp.location("glance.image-ref").filter(|_| id.is_none());
        let edits = |name: Option<&str>, tags: Option<Value>| {
            let tags_path = ["image", "filter", "tags"];
            let mut edits = vec![
                Edit::text(&["image", "id"], id),
                Edit::text(&["image", "imageRef", "name"], reference),
                Edit::text(&["image", "filter", "name"], name),
                tags.map_or_else(
                    || Edit::remove(&tags_path),
                    |tags| Edit::set(&tags_path, tags),
                ),
            ];
            if reference.is_none() {
                edits.push(Edit::remove(&["image", "imageRef"]));
            }
            if name.is_none() {
                edits.push(Edit::remove(&["image", "filter"]));
            }
            edits
        };
        if id.is_some() || reference.is_some() {
            return Ok(edits(None, None));
        }
        let name = name(stamp).ok_or_else(|| stamp.no_location("capo", "glance"))?;
        Ok(edits(Some(&name), tags(stamp)))
    }

    /// `image_name` is Sylva's older setting for an image that was uploaded to Glance by other means.
    fn needs_no_image(&self, settings: &Node) -> bool {
        image_name(settings).is_some()
    }

    fn machine(&self, settings: &Node, version: &str) -> Map {
        let mut machine = DATA.machine(settings);
        if let Some(name) = image_name(settings) {
            let filter = Map::from_iter([Entry::holding("name", name.clone())]);
            let image = Map::from_iter([Entry::from_value("filter", filter)]);
            machine.insert(Entry::from_value("image", image));
        }
        let setting = |name: &str| {
            settings
                .get_path(&[name])
                .filter(|node| !node.value.is_null())
        };
        if let Some(node) = setting("flavor_name") {
            machine.insert(Entry::holding("flavor", node.clone()));
        }
        if let Some(node) = setting("ssh_key_name") {
            machine.insert(Entry::holding("sshKeyName", node.clone()));
        }
        // In v1beta1 the flavor is a name; later versions have a map with several ways to select one.
        let named = machine
            .get("flavor")
            .filter(|node| node.value.as_str().is_some());
        if let Some(name) = named.cloned().filter(|_| version != V1BETA1) {
            let filter = Map::from_iter([Entry::holding("name", name)]);
            let filter = Map::from_iter([Entry::from_value("filter", filter)]);
            machine.insert(Entry::from_value("flavor", filter));
        }
        if let Some(node) = setting("server_group_id") {
            let id = Map::from_iter([Entry::holding("id", node.clone())]);
            machine.insert(Entry::from_value("serverGroup", id));
        }
        if let Some(node) = setting("network_id").filter(|_| machine.get("ports").is_none()) {
            let id = Map::from_iter([Entry::holding("id", node.clone())]);
            let port = Map::from_iter([Entry::from_value("network", id)]);
            machine.insert(Entry::from_value("ports", vec![Node::from_value(port)]));
        }
        if let Some(volume) = setting("rootVolume") {
            machine.insert(Entry::from_value("rootVolume", root_volume(volume)));
        }
        machine
    }
}

/// Renames Sylva's `diskSize` and `volumeType` to CAPO's names since v1beta1.
fn root_volume(volume: &Node) -> Value {
    let Some(map) = volume.value.as_map() else {
        return volume.value.clone();
    };
    let renamed = map.iter().filter(|entry| !entry.node.value.is_null());
    let renamed = renamed.map(|entry| match &*entry.key {
        "diskSize" => Entry::holding("sizeGiB", entry.node.clone()),
        "volumeType" => Entry::holding("type", entry.node.clone()),
        _ => entry.clone(),
    });
    renamed.collect::<Map>().into()
}

/// The image's name in Glance: the one in its facts, else the one that Sylva uploads it under (docs/sylva.md#machine-templates).
fn name(stamp: &Stamp) -> Option<String> {
    if let Some(name) = stamp.location("glance.name") {
        return Some(name.to_owned());
    }
    let key = stamp.key.as_ref()?;
    let tag = stamp.facts.text(fact::COMMIT_TAG);
    let builder = stamp.facts.text(fact::BUILDER);
    let is_sylvas = builder.is_none_or(|builder| builder == "diskimage-builder");
    let tag = tag.filter(|tag| !tag.is_empty() && is_sylvas);
    Some(tag.map_or_else(
        || key.to_string(),
        |tag| format!("{key}-sylva-diskimage-builder-{tag}"),
    ))
}

/// The image's tags in Glance: those in its facts, else Sylva's, which distinguish images with one name
/// (docs/sylva.md#machine-templates).
fn tags(stamp: &Stamp) -> Option<Value> {
    let tags: Vec<Node> = match stamp.location("glance.tags") {
        Some(tags) => tags
            .split(',')
            .map(|tag| Node::from_value(tag.trim()))
            .collect(),
        None => {
            let md5 = stamp.facts.text(fact::MD5);
            let md5 = md5.filter(|_| is_searched_by_md5(&stamp.facts))?;
            vec![Node::from_value(format!("sylva-md5-{md5}"))]
        }
    };
    Some(tags.into())
}

/// Whether machines search Glance for an image by its md5: nothing says under which id, name or tags it is there.
pub fn is_searched_by_md5(facts: &Facts) -> bool {
    let known = ["id", "name", "image-ref", "tags"].map(|name| format!("locations.glance.{name}"));
    let mut known = known.iter().map(String::as_str).chain([GLANCE_UUID]);
    !known.any(|name| nonempty_text(facts, name).is_some())
}

/// A fact that is not blank.
fn nonempty_text<'f>(facts: &'f Facts, name: &str) -> Option<&'f str> {
    facts.text(name).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Capo, KINDS};
    use crate::providers::stamp::tests::stamp_with;
    use crate::providers::{Provider, apply_edits};
    use yaml_tree::json::{Html, to_json};
    use yaml_tree::value::{Entry, Map, Node, Value};

    fn stamped(facts: &[(&str, &str)], existing: Map) -> String {
        let edits = Capo.image(&KINDS[0], "v1beta1", &stamp_with("https://h/f", facts));
        let map = apply_edits(existing, &edits.expect("a place")).expect("no lists");
        to_json(&Value::from(map), Html::Plain)
    }

    #[test]
    fn exactly_one_field_remains_whatever_existed() {
        let filter = Map::from_iter([Entry::from_value("name", "old")]);
        let image = Map::from_iter([Entry::from_value("filter", filter)]);
        let existing = || Map::from_iter([Entry::from_value("image", image.clone())]);
        assert_eq!(
            stamped(&[("openstack_glance_uuid", "u")], existing()),
            r#"{"image":{"id":"u"}}"#
        );
        assert_eq!(
            stamped(&[("locations.glance.image-ref", "orc")], existing()),
            r#"{"image":{"imageRef":{"name":"orc"}}}"#
        );
        assert_eq!(
            stamped(&[("locations.glance.name", "new")], existing()),
            r#"{"image":{"filter":{"name":"new"}}}"#
        );
    }

    #[test]
    fn a_built_image_is_found_by_the_name_and_tag_that_sylva_gives_it() {
        assert_eq!(
            stamped(&[("commit-tag", "0.4.12"), ("md5", "0f")], Map::default()),
            r#"{"image":{"filter":{"name":"img-sylva-diskimage-builder-0.4.12","tags":["sylva-md5-0f"]}}}"#
        );
        assert_eq!(
            stamped(&[], Map::default()),
            r#"{"image":{"filter":{"name":"img"}}}"#
        );
    }

    #[test]
    fn an_image_may_be_selected_by_its_name_in_glance() {
        let of = |name: &str| {
            let entry = Entry::from_value("image_name", name);
            Node::from_value(Map::from_iter([entry]))
        };
        let machine = Capo.machine(&of("ubuntu-jammy"), "v1beta1");
        assert_eq!(
            to_json(&Value::from(machine), Html::Plain),
            r#"{"image":{"filter":{"name":"ubuntu-jammy"}}}"#
        );
        assert!(Capo.needs_no_image(&of("ubuntu-jammy")) && !Capo.needs_no_image(&of("")));
    }

    #[test]
    fn a_url_is_not_an_image_of_glance() {
        let mut stamp = stamp_with("https://h/f", &[]);
        stamp.key = None;
        let problem = Capo
            .image(&KINDS[0], "v1beta1", &stamp)
            .expect_err("no place");
        assert!(problem.contains("`https://h/f`"), "{problem}");
    }

    #[test]
    fn sylvas_settings_become_capos_fields() {
        let volume = Map::from_iter([
            Entry::from_value("diskSize", 100_i64),
            Entry::from_value("volumeType", "ceph"),
        ]);
        let settings = Map::from_iter([
            Entry::from_value("flavor_name", "m1.large"),
            Entry::from_value("network_id", "n"),
            Entry::from_value("rootVolume", volume),
            Entry::from_value("server_group_id", "s"),
            Entry::from_value("ssh_key_name", "k"),
        ]);
        let machine = Capo.machine(&Node::from_value(settings), "v1beta1");
        assert_eq!(
            to_json(&Value::from(machine), Html::Plain),
            r#"{"flavor":"m1.large","ports":[{"network":{"id":"n"}}],"rootVolume":{"sizeGiB":100,"type":"ceph"},"serverGroup":{"id":"s"},"sshKeyName":"k"}"#
        );
    }
}
