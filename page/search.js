// SPDX-License-Identifier: BSL-1.0
// Search by name, and kinds that are hidden.

const lower_names = data.names.map(name => name.toLowerCase());
function find() {
    const wanted = element("query").value.trim().toLowerCase();
    state.query = wanted;
    state.hits = [];
    state.hit = -1;
    for (const model of models) {
        model.matches.fill(0);
        if (wanted === "") continue;
        model.buffers.forEach((buffer, b) => {
            const matches = lower_names[buffer.root].includes(wanted) ||
                           buffer.values.some(value => lower_names[value].includes(wanted));
            if (!matches) return;
            for (const row of buffer.rows) model.matches[row] = 1;
            state.hits.push({model, row: buffer.rows[0]});
        });
    }
    // The last plan first: it is the one to be used.
    const begin_of = hit => hit.model.plan.first[hit.row], low_of = hit => hit.model.low[hit.row];
    state.hits.sort((a, b) =>
        b.model.number - a.model.number || begin_of(a) - begin_of(b) || low_of(a) - low_of(b));
    show_hits();
    draw_soon(true);
}
function show_hits() {
    const count = state.hits.length;
    element("hits").textContent = state.query === "" ? "" : count === 0 ? "no buffer"
        : state.hit < 0 ? count_text(count, "buffer") : state.hit + 1 + " of " + count;
}
function to_hit(by) {
    const count = state.hits.length;
    if (count === 0) return say(state.query === "" ? "nothing to search for" : "no buffer");
    state.hit = state.hit < 0 ? (by > 0 ? 0 : count - 1) : (state.hit + by + count) % count;
    const {model, row} = state.hits[state.hit];
    if (data.kinds.length && !is_shown(model, row)) {
        const box = element("kinds").querySelectorAll("input")[kind_of(model, row)];
        box.checked = true;
        shown_kind[kind_of(model, row)] = 1;
    }
    zoom_to(model, row);
    focus_on(model, row);
    show_hits();
}
element("query").addEventListener("input", find);
element("query").addEventListener("keydown", event => {
    if (event.key === "Enter") to_hit(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") canvas.focus();
    else return;
    event.preventDefault();
});
element("next").addEventListener("click", () => to_hit(1));
element("previous").addEventListener("click", () => to_hit(-1));
element("closer").addEventListener("click", () => zoom(0.6));
element("farther").addEventListener("click", () => zoom(1 / 0.6));
element("whole").addEventListener("click", show_all);
element("help").addEventListener("click", () => {
    element("keys").hidden = !element("keys").hidden;
    element("help").setAttribute("aria-expanded", String(!element("keys").hidden));
});

function list_kinds() {
    const area = new Float64Array(data.kinds.length);
    for (const model of models)
        for (let row = 0; row < model.rows; ++row)
            if (kind_of(model, row) >= 0)
                area[kind_of(model, row)] +=
                    (model.plan.last[row] - model.plan.first[row]) * (model.high[row] - model.low[row]);
    const whole = area.reduce((sum, one) => sum + one, 0) || 1, list = element("kinds"), boxes = [];
    list.hidden = data.kinds.length === 0;
    kinds.forEach((kind, k) => {
        const box = make("input", undefined, {type: "checkbox"}), label = make("label"), mark = make("i");
        box.checked = true;
        mark.style.background = fills[k] || other_fill;
        box.addEventListener("change", () => {
            shown_kind[k] = box.checked ? 1 : 0;
            draw_soon(true);
        });
        const percent = 100 * area[k] / whole, share = percent < 0.1 ? "< 0.1 %" : percent.toFixed(1) + " %";
        label.append(box, mark, kind || "unnamed", make("span", share, {class: "soft"}));
        boxes.push(box);
        list.append(label);
    });
    for (const [text, checked] of [["all", true], ["none", false]]) {
        const label = (checked ? "Show " : "Hide ") + "all kinds";
        const button = make("button", text, {type: "button", "aria-label": label});
        button.addEventListener("click", () => {
            for (const box of boxes) box.checked = checked;
            shown_kind.fill(checked ? 1 : 0);
            draw_soon(true);
        });
        list.append(button);
    }
}
