// SPDX-License-Identifier: BSL-1.0
// The row under a point, found among those that are live there; focus and hover; the details below the map.

function panel_at(x, y) {
    return panels.find(panel => !panel.is_empty && x >= panel.x && x <= panel.x + panel.width &&
                                y >= panel.y - 2 && y <= panel.curve + panel.curve_height);
}
// The row below the pointer: one that contains it, or a thin one within two pixels.
function row_at(panel, x, y) {
    if (y > panel.y + panel.height + 2) return -1;
    const {model} = panel, {plan, low, high} = model, at = time_at(panel, x), bytes = bytes_at(panel, y);
    let best = -1, least = 2.01;
    for (const row of model.pools.get(panel.pool).near(at)) {
        if (!is_shown(model, row)) continue;
        const is_live = plan.first[row] <= at && at < plan.last[row];
        if (is_live && low[row] <= bytes && bytes < high[row]) return row;
        const box = box_of(panel, row);
        if (!box) continue;
        const beside = Math.max(box.x - x, x - box.x - box.width, 0);
        const apart = Math.max(box.y - y, y - box.y - box.height, 0);
        const distance = Math.max(beside, apart);
        if (distance < least) least = distance, best = row;
    }
    return best;
}
function show_details() {
    const shown = state.hover || state.focus, details = element("details");
    details.replaceChildren();
    if (!shown) {
        const text = panels.length ? "Point at a buffer, or move to one with the arrow keys." : "";
        details.append(make("p", text, {class: "soft"}));
        return;
    }
    const {model, row} = shown;
    details.append(make("h2", buffer_name(model, model.buffer_of[row]) + of_plan(model)));
    const list = make("dl");
    for (const [term, text] of facts_of(model, row)) {
        const pair = make("div");
        pair.append(make("dt", term), make("dd", text));
        list.append(pair);
    }
    details.append(list);
}
function say(text) { element("spoken").textContent = text; }
function focus_on(model, row) {
    state.focus = model ? {model, row} : null;
    state.hover = null;
    element("tip").hidden = true;
    if (model) {
        reveal(model, row);
        const facts = facts_of(model, row).map(([term, text]) => term + " " + text).join("; ");
        say((model.label ? model.label + ": " : "") + buffer_name(model, model.buffer_of[row]) + "; " +
            facts);
    } else {
        say("no buffer");
    }
    show_details();
    draw_soon();
}
function hover_at(x, y) {
    const panel = panel_at(x, y), tip = element("tip");
    state.at = panel ? clamp(time_at(panel, x), 0, positions - 1e-9) : null;
    const row = panel ? row_at(panel, x, y) : -1;
    const changed = (row < 0) !== (state.hover === null) ||
                    (row >= 0 && (state.hover.row !== row || state.hover.model !== panel.model));
    state.hover = row < 0 ? null : {model: panel.model, row};
    if (changed) show_details();
    tip.hidden = !panel;
    if (panel) {
        const {model} = panel, position = Math.floor(state.at);
        const live = level_at(model.pools.get(panel.pool).levels, position);
        tip.replaceChildren();
        if (row >= 0) {
            tip.append(make("b", buffer_name(model, model.buffer_of[row])),
                       make("div", bytes_text(model.size[row]) + " at " + model.offset[row] + ", " +
                                   span_text(model.plan.first[row], model.plan.last[row])));
        }
        const place = "position " + position_text(model, position) + ": " + bytes_text(live) + " live";
        tip.append(make("div", place, {class: "soft"}));
        const room = canvas.clientWidth - tip.offsetWidth - 4;
        const beside = x + 14 > room ? x - tip.offsetWidth - 14 : x + 14;
        tip.style.left = clamp(beside, 2, Math.max(2, room)) + "px";
        tip.style.top = (y > height - 90 ? y - tip.offsetHeight - 12 : y + 16) + "px";
    }
    draw_soon();
}

let drag = null; // from where the pointer is down
const place_of = event => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
};
canvas.addEventListener("pointerdown", event => {
    if (event.button !== 0) return;
    const [x, y] = place_of(event), panel = panel_at(x, y);
    if (!panel) return;
    const range = view.pools.get(panel.pool);
    drag = {x, y, panel, from: view.from, to: view.to, low: range.low, high: range.high, is_far: false};
});
window.addEventListener("pointermove", event => {
    const [x, y] = place_of(event);
    if (!drag) {
        if (event.target === canvas) hover_at(x, y);
        return;
    }
    if (!drag.is_far && Math.hypot(x - drag.x, y - drag.y) < 4) return;
    drag.is_far = true;
    canvas.classList.add("dragged");
    element("tip").hidden = true;
    const time = (drag.x - x) / drag.panel.width * (drag.to - drag.from);
    const bytes = (y - drag.y) / drag.panel.height * (drag.high - drag.low);
    show_time(drag.from + time, drag.to + time);
    show_bytes(drag.panel.pool, drag.low + bytes, drag.high + bytes);
});
window.addEventListener("pointerup", event => {
    if (!drag) return;
    const {panel, is_far} = drag, [x, y] = place_of(event);
    drag = null;
    canvas.classList.remove("dragged");
    if (is_far) return;
    const row = row_at(panel, x, y);
    focus_on(row < 0 ? null : panel.model, row);
});
window.addEventListener("pointercancel", () => { drag = null; });
canvas.addEventListener("pointerleave", () => {
    state.hover = null;
    state.at = null;
    element("tip").hidden = true;
    show_details();
    draw_soon();
});
canvas.addEventListener("dblclick", event => {
    const [x, y] = place_of(event), panel = panel_at(x, y), row = panel ? row_at(panel, x, y) : -1;
    if (row >= 0) zoom_to(panel.model, row);
});
canvas.addEventListener("wheel", event => {
    const [x, y] = place_of(event), panel = panel_at(x, y);
    if (!panel) return;
    const delta = event.deltaY || event.deltaX, in_curve = y > panel.y + panel.height + 2;
    const factor = Math.exp(clamp(delta * (event.deltaMode === 1 ? 16 : 1), -200, 200) * 0.002);
    const range = view.pools.get(panel.pool);
    const is_all = view.to - view.from >= positions && range.high - range.low >= ceiling_of(panel.pool);
    if (factor > 1 && is_all) return; // the page scrolls
    event.preventDefault();
    if (!event.shiftKey) zoom_time(factor, time_at(panel, x));
    if (!event.ctrlKey && !in_curve) zoom_bytes(panel.pool, factor, bytes_at(panel, y));
    hover_at(x, y);
}, {passive: false});
