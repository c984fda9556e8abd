// The fields that filter a list: what is typed or chosen is a parameter of the address.

function searchField(params, label, changed) {
  let timer = 0;
  const field = h("input", {
    type: "search",
    placeholder: label,
    "aria-label": label,
    value: params.get("q") || "",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        change(params, { q: field.value.trim() });
        changed();
      }, 120);
    },
  });
  return h("div", { class: "search" }, field);
}

// `options`: texts, or pairs of a value and its text. `any` is the text for none of them.
function selectField(params, label, name, options, any, changed) {
  const field = h(
    "select",
    { "aria-label": label, onchange: () => { change(params, { [name]: field.value }); changed(); } },
    h("option", { value: "" }, any),
    options.map((option) => {
      const [value, words = value] = [option].flat();
      return h("option", { value, selected: params.get(name) === value }, words);
    }),
  );
  return field;
}
