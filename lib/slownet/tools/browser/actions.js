// Waits until an element that Playwright's selectors name is in a state, and does something with it.
// what: {kind, value, name, exact, has, nth, inside}; state: attached, visible, hidden or detached; then: what to do; ms: patience.
(async (what, state, then, argument, ms) => {
  const tidy = text => (text || "").replace(/\s+/g, " ").trim();
  const matches = (text, wanted, exact) =>
    exact ? tidy(text) === tidy(wanted) : tidy(text).toLowerCase().includes(tidy(wanted).toLowerCase());
  const all = root => [...root.querySelectorAll("*")];
  const shown = element => {
    const box = element.getBoundingClientRect();
    return box.width > 0 && box.height > 0 && getComputedStyle(element).visibility !== "hidden";
  };
  const kinds = {
    css: (root, {value}) => [...root.querySelectorAll(value)],
    xpath: (root, {value}) => {
      const found = document.evaluate(value, root, null, XPathResult.ORDERED_NODE_SNAPSHOT_TYPE);
      return Array.from({length: found.snapshotLength}, (_, at) => found.snapshotItem(at));
    },
    text: (root, {value, exact}) => {
      const has = element => !/^(SCRIPT|STYLE|HEAD|TITLE)$/.test(element.tagName) &&
        matches(element.matches("input[type=submit], input[type=button]") ? element.value : element.textContent, value, exact);
      return all(root).filter(each => has(each) && ![...each.children].some(has));
    },
    role: (root, {value, name, exact}) =>
      all(root).filter(each => each.computedRole === value && (name === null || matches(each.computedName, name, exact))),
    label: (root, {value, exact}) => all(root).filter(each =>
      [...(each.labels || [])].some(label => matches(label.textContent, value, exact)) ||
      (each.ariaLabel !== null && matches(each.ariaLabel, value, exact))),
    placeholder: (root, {value, exact}) => all(root).filter(each => each.placeholder && matches(each.placeholder, value, exact)),
    test_id: (root, {value}) => all(root).filter(each => each.dataset && each.dataset.testid === value),
  };
  const find = wanted => {
    const roots = wanted.inside ? find(wanted.inside) : [document];
    let found = [...new Set(roots.flatMap(root => kinds[wanted.kind](root, wanted)))];
    if (wanted.has !== null) found = found.filter(each => matches(each.textContent, wanted.has, false));
    return wanted.nth === null ? found : found.slice(wanted.nth).slice(0, 1);
  };
  const holds = {
    attached: element => element !== undefined, detached: element => element === undefined,
    visible: element => element !== undefined && shown(element), hidden: element => element === undefined || !shown(element),
  };
  const setter = element => (Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value") || {}).set;
  const write = (element, value) => {
    element.focus();
    if (element.isContentEditable) element.textContent = value;
    else setter(element).call(element, value);
    element.dispatchEvent(new InputEvent("input", {bubbles: true, data: value, inputType: "insertText"}));
    element.dispatchEvent(new Event("change", {bubbles: true}));
    return true;
  };
  const middle = element => {
    element.scrollIntoView({block: "center", inline: "center", behavior: "instant"});
    const {x, y, width, height} = element.getBoundingClientRect();
    const at = [x + width / 2, y + height / 2], hit = document.elementFromPoint(...at);
    const meant = hit && (element.contains(hit) || hit.contains(element) || [...(element.labels || [])].some(one => one.contains(hit)));
    return meant && !element.disabled ? at : undefined;  // not yet: something else is there
  };
  const actions = {
    nothing: () => true, middle,
    fill: element => !element.isContentEditable && !setter(element) ? {refused: "no field that has a text"} :
      !element.disabled && !element.readOnly ? write(element, argument) : undefined,
    focus: element => (element.focus(), true), text: element => element.textContent, inner_text: element => element.innerText,
    inner_html: element => element.innerHTML, value: element => element.value, checked: element => element.checked,
    attribute: element => element.getAttribute(argument),
    select: element => {
      if (!element.options) return {refused: "no field with options"};
      const option = [...element.options].find(one => [one.value, one.label].includes(argument));
      return option ? write(element, option.value) : undefined;
    },
  };
  if (then === "count") return {done: find(what).length};
  if (then === "is") return {done: holds[state](find(what)[0])};
  const until = performance.now() + ms;
  for (;;) {
    const found = find(what), element = state === "visible" ? found.find(shown) || found[0] : found[0];
    if (holds[state](element)) {
      const done = actions[then](element);
      if (done && done.refused) return done;
      if (done !== undefined) return {done};
    }
    if (performance.now() >= until) return {found: found.length};
    await new Promise(resolve => {
      const again = () => { watching.disconnect(); resolve(); }, watching = new MutationObserver(again);
      watching.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
      requestAnimationFrame(again);
      setTimeout(again, 100);  // frames may stand still
    });
  }
})
