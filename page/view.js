// SPDX-License-Identifier: BSL-1.0
// What part of positions and bytes is shown, and the panels: a curve and a map for each pool.

const view = {from: 0, to: positions, pools: new Map()};
const top_in = (model, pool) => model.pools.has(pool) ? model.pools.get(pool).top : 1;
const ceiling_of = pool => Math.max(...models.map(model => top_in(model, pool)));
for (const pool of pool_ids) view.pools.set(pool, {low: 0, high: ceiling_of(pool)});
const shown_kind = new Uint8Array(data.kinds.length).fill(1);
const state = {focus: null, hover: null, at: null, hits: [], hit: -1, query: "", drawn: 0, milliseconds: 0};

let panels = [], width = 0, height = 0, scale = 1;
const left = 66, right = 88, above = 40, between = 16, below = 30, colors = {};

function lay_out() {
    const columns = models.length > 1 && canvas.clientWidth >= 720 ? models.length : 1;
    const count = pool_ids.length * models.length / columns;
    const profile = count === 1 ? 100 : 64, extra = above + between + profile + below;
    const map = clamp(Math.floor(12000 / Math.max(count, 1)) - extra, 60, [400, 400, 250][count] || 200);
    width = canvas.clientWidth;
    panels = [];
    for (const pool of pool_ids)
        for (const model of models) {
            const column = panels.length % columns, line = Math.floor(panels.length / columns);
            const each = width / columns, top = line * (map + extra) + above;
            panels.push({model, pool, is_empty: !model.pools.has(pool), x: column * each + left, y: top,
                         width: Math.max(40, each - left - right), height: map,
                         curve: top + map + between, curve_height: profile});
        }
    height = panels.length ? panels[panels.length - 1].curve + profile + below : 60;
    scale = Math.min(window.devicePixelRatio || 1, 16000 / Math.max(width, height, 1));
    canvas.style.height = height + "px";
    for (const one of [canvas, picture]) {
        one.width = Math.round(width * scale);
        one.height = Math.round(height * scale);
    }
}
function read_colors() {
    const style = getComputedStyle(document.documentElement);
    for (const name of ["page", "plot", "grid", "text", "soft", "live", "arena", "peak", "mark", "label"])
        colors[name] = style.getPropertyValue("--" + name).trim();
}
const x_of = (panel, at) => panel.x + (at - view.from) / (view.to - view.from) * panel.width;
const time_at = (panel, x) => view.from + (x - panel.x) / panel.width * (view.to - view.from);
function y_of(panel, bytes) {
    const range = view.pools.get(panel.pool);
    return panel.y + panel.height - (bytes - range.low) / (range.high - range.low) * panel.height;
}
function bytes_at(panel, y) {
    const range = view.pools.get(panel.pool);
    return range.low + (panel.y + panel.height - y) / panel.height * (range.high - range.low);
}
const curve_y = (panel, bytes) =>
    panel.curve + panel.curve_height * (1 - bytes / ceiling_of(panel.pool));

// The visible part of a row in pixels, a little beyond the panel; null if there is none.
function box_of(panel, row) {
    const {plan, low, high} = panel.model;
    if (plan.first[row] > view.to || Math.max(plan.last[row], plan.first[row]) < view.from) return null;
    const x0 = clamp(x_of(panel, plan.first[row]), panel.x - 4, panel.x + panel.width + 4);
    const x1 = clamp(x_of(panel, plan.last[row]), panel.x - 4, panel.x + panel.width + 4);
    const y0 = clamp(y_of(panel, high[row]), panel.y - 4, panel.y + panel.height + 4);
    const y1 = clamp(y_of(panel, low[row]), panel.y - 4, panel.y + panel.height + 4);
    if (x1 < panel.x || x0 > panel.x + panel.width || y1 < panel.y || y0 > panel.y +
        panel.height) return null;
    return {x: x0, y: y0, width: Math.max(x1 - x0, 0.75), height: Math.max(y1 - y0, 0.75)};
}
const is_shown = (model, row) => kind_of(model, row) < 0 || shown_kind[kind_of(model, row)] === 1;
