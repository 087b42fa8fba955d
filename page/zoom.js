// SPDX-License-Identifier: BSL-1.0
// Zoom and pan: the view after a step, a wheel or a drag.

// `low` to `high` moved into [0, limit], at least `least` long.
function fitted(low, high, limit, least) {
    let length = clamp(high - low, Math.min(least, limit), limit);
    const middle = (low + high) / 2;
    low = clamp(middle - length / 2, 0, limit - length);
    return [low, low + length];
}
function show_time(from, to) {
    [view.from, view.to] = fitted(from, to, positions, 2);
    draw_soon(true);
}
function show_bytes(pool, low, high) {
    const range = view.pools.get(pool);
    [range.low, range.high] = fitted(low, high, ceiling_of(pool), 16);
    draw_soon(true);
}
function zoom_time(factor, at) {
    show_time(at - (at - view.from) * factor, at + (view.to - at) * factor);
}
function zoom_bytes(pool, factor, at) {
    const range = view.pools.get(pool);
    show_bytes(pool, at - (at - range.low) * factor, at + (range.high - at) * factor);
}
function show_all() {
    show_time(0, positions);
    for (const pool of pool_ids) show_bytes(pool, 0, ceiling_of(pool));
}
// Around the focus if there is one, otherwise around the middle.
function zoom(factor) {
    if (state.focus) {
        const {model, row} = state.focus, pool = model.plan.pool[row];
        zoom_time(factor, clamp((model.plan.first[row] + model.plan.last[row]) / 2, view.from, view.to));
        const range = view.pools.get(pool);
        zoom_bytes(pool, factor, clamp((model.low[row] + model.high[row]) / 2, range.low, range.high));
        return;
    }
    zoom_time(factor, (view.from + view.to) / 2);
    for (const pool of pool_ids) {
        const range = view.pools.get(pool);
        zoom_bytes(pool, factor, (range.low + range.high) / 2);
    }
}
function zoom_to(model, row) {
    const {plan, low, high} = model, pool = plan.pool[row], ceiling = ceiling_of(pool);
    const life = Math.max(1, plan.last[row] - plan.first[row]), size = high[row] - low[row];
    const margin = Math.max(1.5 * life, Math.min(6, positions / 20));
    show_time(plan.first[row] - margin, plan.last[row] + margin);
    if (size * 3 > ceiling) show_bytes(pool, 0, ceiling);
    else show_bytes(pool, low[row] - Math.max(1.5 * size, 8), high[row] + Math.max(1.5 * size, 8));
}
// Moves the view, without a zoom, as little as shows the row.
function reveal(model, row) {
    const {plan, low, high} = model, pool = plan.pool[row], range = view.pools.get(pool);
    const moved = (from, to, first, last) => {
        if (last > from && first < to && (last <= to || first >= from)) return 0;
        return last <= from || first < from ? first - from : last - to;
    };
    const time = moved(view.from, view.to, plan.first[row], plan.last[row]);
    const bytes = moved(range.low, range.high, low[row], high[row]);
    if (time !== 0) show_time(view.from + time, view.to + time);
    if (bytes !== 0) show_bytes(pool, range.low + bytes, range.high + bytes);
}
