//! The URLs at which the project serves images, read backwards: which image is served at a URL.

use std::sync::Arc;

use capi::image::{Image, ImageKey, Images, fact};
use capi::location::file_name;

use super::context;
use super::engine::Engine;
use super::stamp::URL_TEMPLATE;
use crate::model::cluster::Cluster;
use crate::model::settings::{ImageSettings, Settings};

/// The template of `images.url`, alone.
pub struct ImageUrls {
    engine: Engine,
    settings: ImageSettings,
}

impl ImageUrls {
    /// Compiles it. What is wrong in it is reported where files are rendered.
    pub fn new(settings: &Settings) -> Self {
        let mut engine = Engine::new();
        let (name, url) = (URL_TEMPLATE.to_owned(), &settings.images.url);
        engine.add_value(name, url, None, &mut Vec::new());
        let settings = settings.images.clone();
        Self { engine, settings }
    }

    /// Finds the images that are served at the URLs that a cluster's pools name.
    pub fn find_served(&self, cluster: &mut Cluster, images: &Arc<Images>) {
        let find = |url: &str| self.find(url, images, cluster);
        let urls = cluster.pools.iter().map(|pool| pool.choice.url.as_ref());
        let served: Vec<Option<ImageKey>> = urls.map(|url| find(&url?.value)).collect();
        for (pool, served) in cluster.pools.iter_mut().zip(served) {
            pool.choice.served = served;
        }
    }

    /// The one image that is served at a URL, which says its key, its artifact or its file.
    fn find(&self, url: &str, images: &Arc<Images>, cluster: &Cluster) -> Option<ImageKey> {
        let is_said = |image: &&Image| {
            let file = image.facts.text(fact::FILENAME);
            let mut words = [&*image.key, &*image.artifact].into_iter().chain(file);
            words.any(|word| url.contains(word)) && self.settings.own_url(image).is_none()
        };
        let cluster = context::cluster(cluster);
        let is_served = |image: &&Image| {
            let scope = context::scope(Some(context::image(images, &image.key)), Some(&cluster));
            let made = self.engine.render_line(URL_TEMPLATE, scope);
            made.is_ok_and(|made| made == url) || is_at_first_server(url, image)
        };
        let mut served = images.values().filter(is_said).filter(is_served);
        let only = served.next()?;
        let key = Arc::clone(&only.key);
        served.next().is_none().then_some(key)
    }
}

/// Whether a URL is where Sylva's first image servers had an image: `http://KEY.os-images.…/FILENAME`
/// (docs/sylva.md#the-image-server).
fn is_at_first_server(url: &str, image: &Image) -> bool {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = host.strip_prefix(&*image.key);
    rest.is_some_and(|rest| rest.starts_with(".os-images."))
        && image.facts.text(fact::FILENAME) == Some(file_name(url))
}
