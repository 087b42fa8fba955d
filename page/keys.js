// SPDX-License-Identifier: BSL-1.0
// The keys of the map, and the buffers next to one in time and in memory.

// The nearest row in a direction, or -1. Later: it begins after this one ends, the nearer in time and memory
// first; above and below: what is live at the same time, the nearer in memory first.
function neighbour(model, row, key) {
    const {plan, low, high} = model, ceiling = ceiling_of(plan.pool[row]);
    let best = -1, least = Infinity;
    for (const other of model.pools.get(plan.pool[row]).rows) {
        if (model.buffer_of[other] === model.buffer_of[row] || !is_shown(model, other)) continue;
        let cost;
        if (key === "ArrowRight" || key === "ArrowLeft") {
            const later = key === "ArrowRight";
            const apart = later ? plan.first[other] - plan.last[row] : plan.first[row] - plan.last[other];
            if (apart < 0) continue;
            cost = apart / positions + Math.max(low[other] - high[row], low[row] - high[other], 0) / ceiling +
                   Math.abs(low[other] - low[row]) / ceiling * 1e-3;
        } else {
            const apart = key === "ArrowUp" ? low[other] - high[row] : low[row] - high[other];
            if (apart < 0 || overlap(plan, row, other) <= 0) continue;
            cost = apart / ceiling + Math.abs(plan.first[other] - plan.first[row]) / positions * 1e-3;
        }
        if (cost < least) least = cost, best = other;
    }
    return best;
}
// The first row of the next panel of this plan upwards or downwards that has one at about this time.
function row_of_next_pool(model, row, key) {
    const ids = pool_ids.filter(pool => model.pools.has(pool));
    const pool = ids[ids.indexOf(model.plan.pool[row]) + (key === "ArrowUp" ? -1 : 1)];
    if (pool === undefined) return -1;
    let best = -1, least = Infinity;
    for (const other of model.pools.get(pool).rows) {
        if (!is_shown(model, other)) continue;
        const apart = Math.max(0, -overlap(model.plan, row, other)); // in time; then in the pool
        const end = key === "ArrowUp" ? model.low[other] : -model.high[other];
        const cost = apart + end / ceiling_of(pool) / 2;
        if (cost < least) least = cost, best = other;
    }
    return best;
}
function first_row() {
    for (const panel of panels) {
        if (panel.is_empty) continue;
        let best = -1;
        for (const row of panel.model.pools.get(panel.pool).rows)
            if (is_shown(panel.model, row) && box_of(panel, row) &&
                (best < 0 || panel.model.plan.first[row] < panel.model.plan.first[best])) best = row;
        if (best >= 0) return [panel.model, best];
    }
    return [null, -1];
}
const direction = {ArrowRight: "later", ArrowLeft: "earlier", ArrowUp: "above", ArrowDown: "below"};
function move(key) {
    if (!state.focus) {
        const [model, row] = first_row();
        if (model) focus_on(model, row);
        return;
    }
    const {model, row} = state.focus;
    let next = neighbour(model, row, key);
    if (next < 0 && (key === "ArrowUp" || key === "ArrowDown")) next = row_of_next_pool(model, row, key);
    if (next < 0) say("no buffer " + direction[key]);
    else focus_on(model, next);
}
function pan(key) {
    const time = (view.to - view.from) / 5 * ({ArrowRight: 1, ArrowLeft: -1}[key] || 0);
    show_time(view.from + time, view.to + time);
    const part = {ArrowUp: 0.2, ArrowDown: -0.2}[key] || 0;
    for (const pool of pool_ids) {
        const range = view.pools.get(pool), bytes = (range.high - range.low) * part;
        if (!state.focus || state.focus.model.plan.pool[state.focus.row] === pool)
            show_bytes(pool, range.low + bytes, range.high + bytes);
    }
}
function to_other_plan() {
    if (models.length < 2 || !state.focus) return;
    const {model, row} = state.focus, other = models[1 - model.number];
    const [linked] = links_of(model, model.buffer_of[row], other);
    if (linked === undefined) say("no storage in the other plan");
    else focus_on(other, other.buffers[linked].rows[0]);
}
canvas.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in direction) (event.shiftKey ? pan : move)(event.key);
    else if (event.key === "+" || event.key === "=") zoom(0.6);
    else if (event.key === "-" || event.key === "_") zoom(1 / 0.6);
    else if (event.key === "0" || event.key === "Home") show_all();
    else if (event.key === "Enter" && state.focus) zoom_to(state.focus.model, state.focus.row);
    else if (event.key === "o") to_other_plan();
    else if (event.key === "n") to_hit(1);
    else if (event.key === "N") to_hit(-1);
    else if (event.key === "Escape") focus_on(null, -1);
    else return;
    event.preventDefault();
});
document.addEventListener("keydown", event => {
    const is_text = event.target.tagName === "INPUT" && event.target.type !== "checkbox";
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || is_text) return;
    event.preventDefault();
    element("query").focus();
    element("query").select();
});
