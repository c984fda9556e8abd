//! `.Files`: the files of a chart beside its templates.

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use go_template::function::{Signature, Type};
use go_template::value::Object;
use go_template::{Budget, Error, ErrorClass, Value};
use yaml_tree::Lists;
use yaml_tree::bytes::BASE64;
use yaml_tree::opaque::is_opaque;
use yaml_tree::value::{self as model, Entry, Map};

use crate::model::pattern::Pattern;

use super::Templates;

/// The texts by their paths below the chart's folder.
pub type Texts = BTreeMap<Arc<str>, Arc<str>>;

/// `.Files`
#[derive(Debug)]
pub(super) struct Files {
    /// What holds them until the first one is required; none where the chart is not in the repository.
    chart: Option<Arc<dyn Templates>>,
    texts: OnceCell<Result<Arc<Texts>, String>>,
    budget: Rc<Budget>,
}

impl Files {
    pub(super) fn value(texts: &Arc<Texts>, budget: &Rc<Budget>) -> Value {
        Value::Object(Rc::new(Self {
            chart: None,
            texts: Ok(Arc::clone(texts)).into(),
            budget: Rc::clone(budget),
        }))
    }

    /// Those of a chart whose values are evaluated.
    pub(super) fn for_chart(chart: Option<&Arc<dyn Templates>>, budget: &Rc<Budget>) -> Value {
        Value::Object(Rc::new(Self {
            chart: chart.cloned(),
            texts: OnceCell::new(),
            budget: Rc::clone(budget),
        }))
    }

    fn texts(&self) -> Result<&Arc<Texts>, Error> {
        let read = || match &self.chart {
            Some(chart) => chart.files(),
            None => Err("`.Files` holds files of the chart, which is not in the repository".into()),
        };
        let texts = self.texts.get_or_init(read).as_ref();
        texts.map_err(|why| Error::new(ErrorClass::Refused, why.as_str()))
    }

    /// Says so where a text holds labels of secrets.
    fn note_label(&self, text: &str) {
        if is_opaque(text) {
            self.budget.note_label();
        }
    }
    /// `.Files.Glob`: `*` does not match a slash, `**` does.
    fn glob(&self, pattern: &str) -> Result<Value, Error> {
        let glob = Pattern::parse(pattern).map_err(|why| Error::new(ErrorClass::Other, why))?;
        let all = self.texts()?.iter();
        let matching = all.filter(|(path, _)| glob.is_match(&***path));
        let matching: Texts = matching
            .map(|(path, text)| (Arc::clone(path), Arc::clone(text)))
            .collect();
        Ok(Self::value(&Arc::new(matching), &self.budget))
    }

    /// The contents by file name, as YAML for the data of a ConfigMap or Secret.
    fn data(&self, written: impl Fn(&str) -> String) -> Result<Value, Error> {
        let texts = self.texts()?.values();
        texts.for_each(|text| self.note_label(text));
        let name = |path: &Arc<str>| path.rsplit('/').next().map(Arc::from);
        let entries = { self.texts()?.iter() }.filter_map(|(path, text)| {
            Some(Entry::from_value(name(path)?, written(text).as_str()))
        });
        let data = model::Value::from(entries.collect::<Map>());
        let text = yaml_tree::as_helm(&data, Lists::AtKey);
        Ok(Value::from(text.strip_suffix('\n').unwrap_or(&text)))
    }
}

impl Object for Files {
    fn type_name(&self) -> &str {
        "engine.files"
    }

    fn kind(&self) -> &'static str {
        "map"
    }

    fn text(&self) -> String {
        "map[]".to_owned()
    }

    fn truth(&self) -> bool {
        self.texts().is_ok_and(|texts| !texts.is_empty())
    }

    fn plain(&self) -> Value {
        let entries = self.texts().into_iter().flat_map(|texts| texts.iter());
        let entries = entries.map(|(path, text)| {
            self.note_label(text);
            (Arc::clone(path), Value::String(text.clone()))
        });
        Value::map(entries.collect())
    }

    fn method(&self, name: &str) -> Option<Signature> {
        let parameters: &[Type] = match name {
            "Get" | "GetBytes" | "Glob" | "Lines" => &[Type::String],
            "AsConfig" | "AsSecrets" => &[],
            _ => return None,
        };
        Some(Signature::new(parameters))
    }

    fn call(&self, name: &str, arguments: &[Value]) -> Result<Value, Error> {
        let argument = match arguments {
            [Value::String(argument)] => argument,
            _ => "",
        };
        let texts = self.texts()?;
        let text = texts.get(argument);
        text.into_iter().for_each(|text| self.note_label(text));
        match (name, text) {
            ("Get", text) => Ok(text.map_or(Value::from(""), |text| Value::String(text.clone()))),
            // Nobody knows how many they are.
            ("Lines", Some(text)) if is_opaque(text) => Err(go_template::secret_error(text)),
            ("Lines", Some(text)) => {
                let lines = text.strip_suffix('\n').unwrap_or(text).split('\n');
                Ok(Value::strings(lines))
            }
            ("GetBytes" | "Lines", None) => Ok(Value::list(Vec::new())),
            ("Glob", _) => self.glob(argument),
            ("AsConfig" | "AsSecrets", _) if texts.is_empty() => Ok(Value::from("")),
            ("AsConfig", _) => self.data(str::to_owned),
            ("AsSecrets", _) => self.data(|text| {
                // The label of a secret is not encoded.
                if is_opaque(text) {
                    text.to_owned()
                } else {
                    BASE64.encode(text.as_bytes())
                }
            }),
            _ => Err(Error::new(
                ErrorClass::Other,
                format!("`.Files.{name}` is not evaluated here"),
            )),
        }
    }
}
