//! The limits of evaluation: values that need one another, results that are expressions again, depth.

use go_template::ErrorClass;
use metalmark::evaluate::{Evaluation, Evaluator, Options, TemplateCache};
use yaml_tree::bytes::BASE64;
use yaml_tree::engine::Engine;
use yaml_tree::place::FileId;

use super::most;

/// What `v` of these values is, or why it is refused.
fn evaluated(text: &str, evaluation: Evaluation) -> Result<(), String> {
    let values = yaml_tree::values(text, FileId(0), Engine::Helm3).expect("YAML");
    let options = Options {
        evaluation,
        ..Options::default()
    };
    let evaluator = Evaluator::new(&values, &options, &TemplateCache::default());
    match evaluator.get(&["v"]) {
        Ok(_) => Ok(()),
        Err(failure) => {
            assert_eq!(failure.class, ErrorClass::Depth, "{}", failure.message);
            Err(failure.message)
        }
    }
}

#[test]
fn as_many_values_need_one_another_as_is_stated() {
    most(
        100,
        "values depend on each other more than 100 deep",
        |depth| {
            let step = |index| format!("k{index}: '{{{{ .Values.k{} | upper }}}}'\n", index + 1);
            let chain: String = (1..depth).map(step).collect();
            let last = format!("k{depth}: end\n");
            let text = format!("{chain}{last}v: '{{{{ .Values.k1 | upper }}}}'\n");
            evaluated(&text, Evaluation::Lazy)
        },
    );
}

#[test]
fn a_result_is_evaluated_again_as_often_as_is_stated() {
    // Each result is the same expression, with a number that is one less; the last is nothing.
    let expression = "{{ if gt %[1]d 0 }}{{ printf (b64dec .Values.own) (sub %[1]d 1) }}{{ end }}";
    let own = BASE64.encode(expression.as_bytes());
    most(999, "an expression again, 1000 times over", |times| {
        let first = expression.replace("%[1]d", &times.to_string());
        evaluated(&format!("own: {own}\nv: '{first}'\n"), Evaluation::Exact)
    });
}

#[test]
fn a_computed_value_is_as_deep_as_is_stated() {
    // Handed over whole, merged, and in both orders of evaluation.
    for expression in [
        "{{ $v := 1 }}{{ range until DEPTH }}{{ $v = list $v }}{{ end }}{{ $v | include \"preserve-type\" }}",
        "{{ $v := 1 }}{{ range until DEPTH }}{{ $v = dict \"k\" $v }}{{ end }}{{ $v | include \"preserve-type\" }}",
    ] {
        most(500, "nested more than 500 deep", |depth| {
            let expression = expression.replace("DEPTH", &depth.to_string());
            evaluated(&format!("v: '{expression}'\n"), Evaluation::Lazy)
        });
    }
}
