//! Marker comments: `# metalmark: image=KEY`.

use capi::objects::{MARKER, Text};
use yaml_tree::engine::Engine;
use yaml_tree::place::{FileId, Place, Spot};

use crate::model::selector::Selector;
use crate::model::stamping::{ImageRequest, RequestedImage};

/// A marker as written.
pub(super) struct Marker {
    /// The offset of its `#` in its text.
    pub(super) at: u32,
    /// From its `#` to the end of the line, in its file.
    pub(super) spot: Option<Spot>,
    /// Whether the line holds nothing else.
    pub(super) is_alone: bool,
    /// What it says, or why it is not understood.
    pub(super) request: Result<ImageRequest, String>,
}

/// The markers of a text, in their order. Text in quotes may look like one: [`super::subject`] distinguishes them.
pub(super) fn markers(text: &Text) -> Vec<Marker> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.source.text.split_inclusive('\n') {
        found.extend(parse_line(text, line.trim_end(), start));
        start += line.len();
    }
    found
}

fn parse_line(text: &Text, line: &str, start: usize) -> Option<Marker> {
    let (at, rest) = line.match_indices('#').find_map(|(at, _)| {
        let opens = at == 0 || line[..at].ends_with([' ', '\t']);
        let rest = line[at + 1..].trim_start().strip_prefix(MARKER)?;
        opens.then_some((at, rest))
    })?;
    let place = Place {
        file: FileId(0),
        start: (start + at) as u32,
        end: (start + line.len()) as u32,
    };
    let spot = text.spot(place);
    Some(Marker {
        at: place.start,
        is_alone: line[..at].trim().is_empty(),
        request: request(rest.trim(), spot.clone()),
        spot,
    })
}

/// `image=KEY` or `selector={…}` or `ignore`, then `field=…` and `region=…`.
fn request(text: &str, spot: Option<Spot>) -> Result<ImageRequest, String> {
    let mut request = ImageRequest {
        image: RequestedImage::Nothing,
        field: None,
        region: None,
        spot,
    };
    let (mut rest, mut is_said) = (text, false);
    while !rest.is_empty() {
        let (word, behind) = word(rest)?;
        let image = match word.split_once('=') {
            Some((_, "")) => return Err(format!("`{word}` says nothing behind `=`")),
            Some(("image", key)) => Some(RequestedImage::Image(key.into())),
            Some(("selector", map)) => Some(RequestedImage::Selector(selector(map)?)),
            Some(("field", name)) => {
                request.field = Some(name.into());
                None
            }
            Some(("region", name)) => {
                request.region = Some(name.into());
                None
            }
            None if word == "ignore" => Some(RequestedImage::Nothing),
            _ => return Err(format!("a marker knows no `{word}`")),
        };
        if let Some(image) = image {
            if is_said {
                return Err("it names more than one image".to_owned());
            }
            (request.image, is_said) = (image, true);
        }
        rest = behind.trim_start();
    }
    if is_said {
        Ok(request)
    } else {
        Err("it names no image".to_owned())
    }
}

/// The first word; a map in braces is one.
fn word(text: &str) -> Result<(&str, &str), String> {
    let blank = text.find(char::is_whitespace).unwrap_or(text.len());
    match text.find('{').filter(|brace| *brace < blank) {
        Some(_) => {
            let end = text.rfind('}').ok_or("its `{` is not closed")?;
            Ok(text.split_at(end + 1))
        }
        None => Ok(text.split_at(blank)),
    }
}

fn selector(text: &str) -> Result<Selector, String> {
    let document = format!("selector: {text}\n");
    let read = yaml_tree::values(&document, FileId(0), Engine::Kubectl);
    let tree = read.map_err(|error| format!("its selector is not YAML: {error}"))?;
    let node = tree.get_path(&["selector"]);
    let map = node.and_then(|node| node.value.as_map());
    let map = map.ok_or("its selector is not a map in braces")?;
    let mut selector = Selector::from_map(map);
    // The text that was read is not a file: nothing may point into it.
    for term in &mut selector.terms {
        (term.place, term.key_place) = (Place::NONE, Place::NONE);
    }
    Ok(selector)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::markers;
    use crate::model::stamping::RequestedImage;
    use capi::objects::Text;
    use yaml_tree::place::Source;

    fn said(text: &str) -> Result<String, String> {
        let source = Source::new("a.yaml", format!("# metalmark: {text}"));
        let marker = markers(&Text::from_file(Arc::new(source)))
            .pop()
            .expect("a marker");
        marker.request.map(|request| match request.image {
            RequestedImage::Image(key) => format!("{key} {:?} {:?}", request.field, request.region),
            RequestedImage::Selector(selector) => format!("{} terms", selector.terms.len()),
            RequestedImage::Nothing => "nothing".to_owned(),
        })
    }

    #[test]
    fn a_marker_says_one_image() {
        assert_eq!(said("image=a"), Ok("a None None".into()));
        let whole = said("image=a field=url region=eu-west-1");
        assert_eq!(whole, Ok("a Some(\"url\") Some(\"eu-west-1\")".into()));
        let map = "selector={os: ubuntu, os-release: 'no.*'} region=x";
        assert_eq!(said(map), Ok("2 terms".into()));
        assert_eq!(said("ignore"), Ok("nothing".into()));
        for bad in [
            "",
            "image=",
            "image=a image=b",
            "selector=x",
            "selector={a",
            "imgae=a",
        ] {
            assert!(said(bad).is_err(), "{bad}");
        }
    }
}
