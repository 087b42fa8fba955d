// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_HTML_SCRIPT_HPP
#define SUBLET_REPORTING_DETAIL_HTML_SCRIPT_HPP

/// The program of the page, in JavaScript, and its style: made by page/page.cmake of the files in page/. Edit these.
///
///     data ─► models: buffers, live bytes, rows by time ─► panels ─► picture ─────► canvas
///                                                     focus, hover ─► outlines ──┘

namespace sublet::detail {

/// In order; compilers limit the length of one literal.
inline constexpr char const* html_script[] = {
    R"js(const data = JSON.parse(document.getElementById("data").textContent);
const element = id => document.getElementById(id);
const canvas = element("map"), context = canvas.getContext("2d");
const picture = document.createElement("canvas"), pen = picture.getContext("2d");
const fills = ["#a1b2f9", "#f3d786", "#80984f", "#e68f98", "#5c93cd", "#7addff", "#49b9c4", "#c3ad5c", "#b58098",
               "#f5b392", "#b4eabf"], other_fill = "#c5c8cc";
const font = "11px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif";

const unit_name = data.unit || "bytes";
const units = [" B", " KiB", " MiB", " GiB", " TiB", " PiB", " EiB"];
function bytes_text(bytes) { // 640 B, 9.19 MiB
    const exact = BigInt(bytes);
    if (data.unit) return exact + " " + data.unit;
    let unit = 0;
    while (unit < 6 && exact >> BigInt(10 * unit) >= 1024n) ++unit;
    if (unit === 0) return exact + units[0];
    const shift = BigInt(10 * unit), hundredths = Number(exact * 100n + (1n << shift - 1n) >> shift);
    return hundredths === 102400 && unit !== 6 ? 1 + units[unit + 1] : hundredths / 100 + units[unit];
}
const exact_bytes = bytes => data.unit || bytes < 1024n ? bytes_text(bytes) : bytes + " bytes (" + bytes_text(bytes) + ")";
const count_text = (count, one, many = one + "s") => count + " " + (count === 1 ? one : many);
const percent_text = (part, whole) =>
    whole === 0n ? "0 %" : Number(part * 100000n / whole) / 1000 < 0.005 && part !== 0n ? "< 0.01 %"
                         : (Number(part * 100000n / whole) / 1000).toFixed(2) + " %";
// Names are shown without their middle if they are long: browsers take minutes to break a word of a megabyte.
const shown_text = text => text.length <= 240 ? text
    : (text.slice(0, 120) + "…" + text.slice(-120)).replace(/\p{Cs}/gu, "");
const names = data.names.map(shown_text), steps = data.steps.map(shown_text);
const kinds = data.kinds.map(shown_text);
const name_of = value => names[value] || "unnamed";
const step_text = step => steps[step] || "step " + step;
function position_text(model, at) {
    const {order} = model.plan;
    return order && at < order.length ? at + " (" + step_text(order[at]) + ")" : "" + at;
}
function span_text(first, last) { // a range of positions, half-open in the data
    if (first >= last) return "at no position";
    return last - first === 1 ? "position " + first : "positions " + first + " to " + (last - 1);
}
function make(kind, text, attributes = {}) {
    const made = document.createElement(kind);
    if (text !== undefined) made.textContent = text;
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return made;
}
)js",
    R"js(const exact_list = list => BigUint64Array.from(list, number => BigInt(number));
const clamp = (number, low, high) => Math.max(low, Math.min(high, number));

// The level from each position on, and its peak; `before` and `after` are the highest levels on either side.
function levels_of(plan, size, rows) {
    const change = new Map();
    for (const row of rows) {
        if (plan.first[row] >= plan.last[row]) continue;
        change.set(plan.first[row], (change.get(plan.first[row]) || 0n) + size[row]);
        change.set(plan.last[row], (change.get(plan.last[row]) || 0n) - size[row]);
    }
    const at = Float64Array.from(change.keys()).sort(), bytes = [];
    let level = 0n, peak = 0n, peak_at = 0;
    for (const position of at) {
        bytes.push(level += change.get(position));
        if (level > peak) peak = level, peak_at = position;
    }
    const before = [0n], after = new Array(bytes.length + 1).fill(0n);
    for (const one of bytes) before.push(one > before[before.length - 1] ? one : before[before.length - 1]);
    for (let i = bytes.length; i-- > 0;) after[i] = bytes[i] > after[i + 1] ? bytes[i] : after[i + 1];
    return {at, bytes, peak, peak_at, before, after};
}
// The number of entries at or before `position`: the level there is that of the last of them.
function count_until(at, position) {
    let low = 0, high = at.length;
    while (low < high) {
        const middle = low + high >> 1;
        if (at[middle] <= position) low = middle + 1; else high = middle;
    }
    return low;
}
const level_at = (levels, position) => {
    const count = count_until(levels.at, position);
    return count === 0 ? 0n : levels.bytes[count - 1];
};

// Rows by interval of time, as flat lists.
function index_of(plan, rows, positions) {
    const count = Math.min(512, positions), width = positions / count;
    const from = row => Math.min(count - 1, Math.floor(plan.first[row] / width));
    const to = row => Math.min(count - 1, Math.floor(Math.max(plan.first[row], plan.last[row] - 1) / width));
    const begin = new Int32Array(count + 1);
    for (const row of rows) for (let i = from(row); i <= to(row); ++i) ++begin[i + 1];
    for (let i = 0; i < count; ++i) begin[i + 1] += begin[i];
    const next = begin.slice(0, count), list = new Int32Array(begin[count]);
    for (const row of rows) for (let i = from(row); i <= to(row); ++i) list[next[i]++] = row;
    return position => {
        const i = clamp(Math.floor(position / width), 0, count - 1);
        return list.subarray(begin[i], begin[i + 1]);
    };
}

let positions = 1;
for (const plan of data.plans) {
    for (const last of plan.last) positions = Math.max(positions, last);
    for (const first of plan.first) positions = Math.max(positions, first + 1);
    if (plan.order) positions = Math.max(positions, plan.order.length);
}

function model_of(plan, number) {
    const rows = plan.first.length, size = exact_list(plan.size), offset = exact_list(plan.offset);
    const low = new Float64Array(rows), high = new Float64Array(rows);
    const buffers = [], buffer_of = new Int32Array(rows), pools = new Map(), pinned = new Set();
    for (let row = 0; row < rows; ++row) {
        low[row] = Number(offset[row]);
        high[row] = Number(offset[row] + size[row]);
        const before = row - 1;
        if (row === 0 || plan.root[row] !== plan.root[before] || plan.pool[row] !== plan.pool[before])
            buffers.push({rows: [], root: plan.root[row], values: []});
        buffers[buffers.length - 1].rows.push(row);
        buffer_of[row] = buffers.length - 1;
        if (!pools.has(plan.pool[row])) pools.set(plan.pool[row], {rows: []});
        pools.get(plan.pool[row]).rows.push(row);
    }
    const buffer_of_value = new Int32Array(data.names.length).fill(-1);
    buffers.forEach((buffer, b) => { if (!plan.holds.length) buffer_of_value[buffer.root] = b; });
    plan.holds.forEach((row, value) => { if (row >= 0) buffer_of_value[value] = buffer_of[row]; });
    buffer_of_value.forEach((b, value) => { if (b >= 0) buffers[b].values.push(value); });
    for (const row of plan.pinned) pinned.add(buffer_of[row]);
    for (const [id, pool] of pools) {
        pool.levels = levels_of(plan, size, pool.rows);
        pool.near = index_of(plan, pool.rows, positions);
        let top = 0n;
        for (const row of pool.rows) if (offset[row] + size[row] > top) top = offset[row] + size[row];
        pool.arena = id < plan.arena.length ? BigInt(plan.arena[id]) : top;
        pool.bound = id < plan.bound.length ? BigInt(plan.bound[id]) : pool.levels.peak;
        pool.blocks = plan.blocks.filter(block => block[0] === id);
        pool.top = Math.max(Number(top), Number(pool.arena), Number(pool.bound), Number(pool.levels.peak), 1);
        pool.buffers = new Set(pool.rows.map(row => buffer_of[row])).size;
    }
    return {plan, number, rows, size, offset, low, high, buffers, buffer_of, buffer_of_value, pools, pinned,
            label: shown_text(plan.label), matches: new Uint8Array(rows)};
}
const models = data.plans.map(model_of);
const pool_ids = [...new Set(models.flatMap(model => [...model.pools.keys()]))].sort((a, b) => a - b);
const of_plan = model => model.label ? " — " + model.label : "";
const buffer_name = (model, b) => name_of(model.buffers[b].root);
const kind_of = (model, row) => model.plan.kind.length ? model.plan.kind[row] : -1;
const color_of = (model, row) => {
    if (!data.kinds.length) return fills[model.buffer_of[row] % fills.length];
    return model.plan.kind[row] < fills.length ? fills[model.plan.kind[row]] : other_fill;
};
// The buffers of another plan that hold a value of this one.
function links_of(model, b, other) {
    const found = new Set();
    for (const value of model.buffers[b].values)
        if (other.buffer_of_value[value] >= 0) found.add(other.buffer_of_value[value]);
    return found;
}
)js",
    R"js(const overlap = (plan, a, b) => Math.min(plan.last[a], plan.last[b]) - Math.max(plan.first[a], plan.first[b]);

// The sentence, and the row below if there is one.
function why_here(model, row) {
    const {plan, size, offset} = model, pool = model.pools.get(plan.pool[row]);
    const name = other => "“" + buffer_name(model, model.buffer_of[other]) + "”";
    if (model.pinned.has(model.buffer_of[row])) return {text: "it is pinned to this offset", below: -1};
    const over = plan.over[row];
    if (over >= 0) return {text: "it is written in place over the larger " + name(over), below: over};
    if (offset[row] === 0n) return {text: "at the bottom of the arena", below: -1};
    for (let i = 0; i < pool.blocks.length; ++i)
        if (BigInt(pool.blocks[i][1]) === offset[row])
            return {text: "at the bottom of block " + i, below: -1};
    let below = -1, count = 0, nearest = -1n, beside = -1;
    for (const other of pool.rows) {
        if (model.buffer_of[other] === model.buffer_of[row] || overlap(plan, row, other) <= 0) continue;
        const end = offset[other] + size[other];
        if (end > offset[row]) continue;
        if (end === offset[row]) {
            ++count;
            if (below < 0 || overlap(plan, row, other) > overlap(plan, row, below)) below = other;
        } else if (end > nearest) nearest = end, beside = other;
    }
    if (below >= 0)
        return {text: "it rests on " + name(below) + (count > 1 ? " and " + (count - 1) + " more" : "") +
                      (count > 1 ? ", which are" : ", which is") + " live at the same time and end" +
                      (count > 1 ? "" : "s") + " at this offset", below};
    const unit = BigInt(plan.alignment[row]);
    if (beside >= 0 && unit > 1n && (nearest + unit - 1n) / unit * unit === offset[row])
        return {text: "at the first multiple of its alignment, " + unit + ", above " + name(beside) +
                      ", which is live at the same time", below: beside};
    const gap = offset[row] - (nearest < 0n ? 0n : nearest);
    const order = plan.reading === 1 ? " in this order; the plan holds for every order" : "";
    const text = "above a gap of " + bytes_text(gap) + ": no buffer that is live at the same time ends there";
    return {text: text + order, below: -1};
}

// What a round leaves to the next one, and what it finds of the round before.
const carried_by = (model, row, end) =>
    (model.plan.carried || []).find(one => model.buffer_of[one[end]] === model.buffer_of[row]);
const quoted = value => "“" + (name_of(value) || "unnamed") + "”";
function left_text(model, row)
{
    const its = carried_by(model, row, 0);
    return its ? "finds " + quoted(its[2]) + " in " + quoted(its[3]) +
                     (its[4] ? ", which lies here then" : "")
               : "";
}
function found_text(model, row)
{
    const its = carried_by(model, row, 1);
    return its ? "left " + quoted(its[3]) + " in " + quoted(its[2]) + (its[4] ? ", which lay here" : "") : "";
}
function made_by(model, row) {
    const {plan} = model;
    if (!plan.maker) return "";
    if (plan.maker[row] >= 0) return step_text(plan.maker[row]);
    return carried_by(model, row, 1) ? "the round before" : "there before the first step: an input";
}
function used_by(model, row) {
    const {plan} = model;
    if (!plan.user) return "";
    const rows = model.buffers[model.buffer_of[row]].rows, last = plan.last[rows[rows.length - 1]];
    const step = plan.user[row] < 0 ? "no step" : step_text(plan.user[row]);
    if (last <= plan.until[row]) return step;
    return step + (last >= plan.order.length ? ", then kept to the end" : ", then kept to position " +
        (last - 1));
}

// What is said of a buffer, as pairs of a term and its text.
function facts_of(model, row) {
    const {plan} = model, b = model.buffer_of[row], buffer = model.buffers[b], facts = [];
    const add = (term, text) => { if (text) facts.push([term, text]); };
    const where = pool_ids.length > 1 ? " in pool " + plan.pool[row] : "";
    if (data.kinds.length) add("kind", kinds[plan.kind[row]] || "unnamed");
    add("size", exact_bytes(model.size[row]));
    add("offset", model.offset[row] + " to " + (model.offset[row] + model.size[row]) + where);
    add("live", span_text(plan.first[row], plan.last[row]) +
        (buffer.rows.length > 1 ? ", one of " + buffer.rows.length + " ranges" : ""));
    add("made by", made_by(model, row));
    add("last used by", used_by(model, row));
    add("the round before", found_text(model, row));
    add("the next round", left_text(model, row));
    add("why here", why_here(model, row).text);
    const others = buffer.values.filter(value => value !== buffer.root).map(name_of);
    const rest = others.length - 6;
    add("also holds", others.slice(0, 6).join(", ") + (rest > 0 ? " and " + rest + " more" : ""));
    for (const other of models) {
        if (other === model) continue;
        const places = [...links_of(model, b, other)].map(linked => {
            const first = other.buffers[linked].rows[0];
            return buffer_name(other, linked) + " at " + other.offset[first];
        });
        add(other.label, places.slice(0, 6).join(", ") + (places.length > 6 ? " …" : "") || "no storage");
    }
    return facts;
}
)js",
    R"js(const view = {from: 0, to: positions, pools: new Map()};
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
)js",
    R"js(function write(text, x, y, color, align = "left", room = Infinity) {
    pen.fillStyle = color;
    pen.textAlign = align;
    if (room < Infinity) while (text.length > 1 && pen.measureText(text).width > room) text = text.slice(0,
        -2) + "…";
    pen.fillText(text, x, y);
}
function line(x0, y0, x1, y1, color, dash = [], thickness = 1) {
    pen.strokeStyle = color;
    pen.lineWidth = thickness;
    pen.setLineDash(dash);
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.lineTo(x1, y1);
    pen.stroke();
    pen.setLineDash([]);
}
function inside(panel, y, extent, draw) {
    pen.save();
    pen.beginPath();
    pen.rect(panel.x, y, panel.width, extent);
    pen.clip();
    draw();
    pen.restore();
}

// The name, without its begin if there is no room: names of a network share their begins.
function write_name(text, box) {
    const across = box.width >= box.height || box.width > 48, room = (across ? box.width : box.height) - 8;
    if ((across ? box.height : box.width) < 12 || room < 18) return;
    const letters = Math.floor(room / 6.2);
    if (text.length > letters && (text.length > 2 * letters || pen.measureText(text).width > room)) {
        if (letters < 5) return;
        text = "…" + text.slice(text.length - letters + 1);
    }
    pen.save();
    pen.translate(box.x + box.width / 2, box.y + box.height / 2);
    if (!across) pen.rotate(-Math.PI / 2);
    pen.fillText(text, 0, 4);
    pen.restore();
}

function draw_rows(panel) {
    const {model} = panel, boxes = [];
    const bottom = panel.y + panel.height, end = panel.x + panel.width;
    const faint = state.query !== "";
    for (const row of model.pools.get(panel.pool).rows) {
        if (!is_shown(model, row)) continue;
        const box = box_of(panel, row);
        if (!box) continue;
        ++state.drawn;
        pen.globalAlpha = faint && !model.matches[row] ? 0.22 : 1;
        pen.fillStyle = color_of(model, row);
        const seam = box.width > 3 && box.height > 3 ? 0.7 : 0; // a gap between neighbours
        pen.fillRect(box.x + seam / 2, box.y + seam / 2, box.width - seam, box.height - seam);
        if (box.width > 11 && box.height > 11) boxes.push([row, box]);
    }
    pen.textAlign = "center";
    for (const [row, box] of boxes) {
        pen.globalAlpha = faint && !model.matches[row] ? 0.3 : 1;
        pen.fillStyle = colors.label;
        const x = Math.max(box.x, panel.x), y = Math.max(box.y, panel.y);
        write_name(buffer_name(model, model.buffer_of[row]),
                   {x, y, width: Math.min(box.x + box.width, end) - x, height: Math.min(box.y + box.height,
                       bottom) - y});
    }
    pen.globalAlpha = 1;
}

// Each column of pixels has the highest level in it, so that no peak is lost.
function draw_curve(panel) {
    const {at, bytes} = panel.model.pools.get(panel.pool).levels;
    const columns = Math.ceil(panel.width), highest = new Float64Array(columns);
    for (let i = Math.max(0, count_until(at, view.from) - 1); i < at.length && at[i] < view.to; ++i) {
        const level = Number(bytes[i]), end = i + 1 < at.length ? x_of(panel, at[i + 1]) - panel.x : columns;
        const first = Math.max(0, Math.floor(x_of(panel, at[i]) - panel.x));
        const last = Math.min(columns, Math.ceil(end));
        for (let column = first; column < last; ++column) highest[column] = Math.max(highest[column], level);
    }
    pen.fillStyle = colors.live;
    pen.beginPath();
    pen.moveTo(panel.x, panel.curve + panel.curve_height);
    for (let column = 0; column < columns; ++column) {
        pen.lineTo(panel.x + column, curve_y(panel, highest[column]));
        pen.lineTo(panel.x + column + 1, curve_y(panel, highest[column]));
    }
    pen.lineTo(panel.x + columns, panel.curve + panel.curve_height);
    pen.fill();
}

function draw_scale(panel, top, extent, low, high, most) {
    let unit = 1; // a power of two, so that texts are short
    while ((high - low) / unit > most) unit *= 2;
    for (let bytes = Math.ceil(low / unit) * unit; bytes <= high; bytes += unit) {
        const y = top + extent - (bytes - low) / (high - low) * extent;
        if (bytes !== 0) line(panel.x, y, panel.x + panel.width, y, colors.grid);
        const text = data.unit ? "" + Math.round(bytes) : bytes_text(Math.round(bytes)); // of one width
        write(text, panel.x - 6, Math.min(y + 4, top + extent), colors.soft, "right");
        if (bytes + unit === bytes) break;
    }
}

function draw_time(panel) {
    const span = view.to - view.from, most = panel.width / 70;
    let unit = 1;
    for (let ten = 1; span / unit > most;) {
        unit = unit === ten ? 2 * ten : unit === 2 * ten ? 5 * ten : 10 * ten;
        if (unit === 10 * ten) ten = unit;
    }
    const bottom = panel.curve + panel.curve_height;
    for (let at = Math.ceil(view.from / unit) * unit; at <= view.to; at += unit) {
        line(x_of(panel, at), bottom, x_of(panel, at), bottom + 5, colors.soft);
        write("" + at, x_of(panel, at), bottom + 17, colors.soft, "center");
    }
    write("position", panel.x + panel.width + 26, bottom + 17, colors.soft);
}

// A level at its height in the map, with its text at the right; two texts do not overlap.
function draw_limits(panel) {
    const pool = panel.model.pools.get(panel.pool), end = panel.x + panel.width;
    const limits = [["arena", pool.arena, colors.arena, []], ["lower bound", pool.bound, colors.peak, [5,
        4]]];
    if (pool.bound > pool.arena) limits.reverse();
    limits.forEach(([text, bytes, color, dash], i) => {
        const y = y_of(panel, Number(bytes)), under = i === 1;
        const base = curve_y(panel, Number(bytes));
        line(panel.x, base, end, base, color, dash);
        if (y < panel.y - 1 || y > panel.y + panel.height + 1) return;
        line(panel.x, y, end + 5, y, color, dash, 1.3);
        const text_y = under ? Math.min(y + 12, panel.y + panel.height - 14) : y - 16;
        write(text, end + 8, text_y, color);
        write(bytes_text(bytes), end + 8, text_y + 13, color);
    });
    const {peak, peak_at} = pool.levels, x = x_of(panel, peak_at + 0.5);
    if (peak === 0n || x < panel.x || x > end) return;
    line(x, panel.y - 5, x, panel.curve + panel.curve_height, colors.peak, [5, 4]);
    pen.fillStyle = colors.peak;
    pen.beginPath();
    pen.moveTo(x - 4.5, panel.y - 9);
    pen.lineTo(x + 4.5, panel.y - 9);
    pen.lineTo(x, panel.y - 2);
    pen.fill();
    const text = "peak " + bytes_text(peak) + " at " + peak_at, half = pen.measureText(text).width / 2;
    write(text, clamp(x, panel.x + half, end - half), panel.y - 13, colors.peak, "center");
}

function draw_panel(panel) {
    const {model} = panel, bottom = panel.curve + panel.curve_height, range = view.pools.get(panel.pool);
    const pool = model.pools.get(panel.pool);
    const heading = [model.label, pool_ids.length > 1 ? "pool " + panel.pool : ""].filter(Boolean).join(", ");
    const count = pool ? count_text(pool.buffers, "buffer") + " in " + bytes_text(pool.arena) : "no buffers";
    pen.font = "600 " + font;
    write(heading ? heading + ": " + count : count, panel.x, panel.y - 27, colors.text, "left", panel.width);
    pen.font = font;
    pen.fillStyle = colors.plot;
    pen.fillRect(panel.x, panel.y, panel.width, panel.height);
    pen.fillRect(panel.x, panel.curve, panel.width, panel.curve_height);
    draw_scale(panel, panel.y, panel.height, range.low, range.high, Math.max(2, panel.height / 55));
    draw_scale(panel, panel.curve, panel.curve_height, 0, ceiling_of(panel.pool), 2);
    draw_time(panel);
    if (!pool) return;
    inside(panel, panel.y, panel.height, () => draw_rows(panel));
    inside(panel, panel.curve, panel.curve_height, () => draw_curve(panel));
    draw_limits(panel);
    write("live " + unit_name, panel.x + panel.width + 8, panel.curve + panel.curve_height / 2 + 4, colors.soft);
}

function draw_picture() {
    const begin = performance.now();
    state.drawn = 0;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.font = font;
    pen.fillStyle = colors.page;
    pen.fillRect(0, 0, width, height);
    panels.forEach(draw_panel);
    if (!panels.length) write("Nothing to draw: no buffer has " + unit_name + " and an offset.", 8, 30, colors.soft);
    state.milliseconds = performance.now() - begin;
}

// What follows pointer and focus, over the picture.
function draw_marks() {
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.drawImage(picture, 0, 0);
    context.setTransform(scale, 0, 0, scale, 0, 0);
    const outline = (panel, row, color, dash) => {
        const box = box_of(panel, row);
        if (!box) return;
        const x = box.x - 1, y = box.y - 1, w = box.width + 2, h = box.height + 2;
        context.save();
        context.beginPath();
        context.rect(panel.x - 3, panel.y - 3, panel.width + 6, panel.height + 6);
        context.clip();
        for (const [one, thickness] of [[colors.page, 5], [color, 2]]) {
            context.setLineDash(thickness === 2 ? dash : []);
            context.strokeStyle = one;
            context.lineWidth = thickness;
            context.strokeRect(x, y, w, h);
        }
        context.restore();
    };
    const buffer = (model, b, color, dash = []) => {
        for (const panel of panels)
            if (panel.model === model)
                for (const row of model.buffers[b].rows)
                    if (model.plan.pool[row] === panel.pool) outline(panel, row, color, dash);
    };
    for (const shown of [state.focus, state.hover]) {
        if (!shown) continue;
        const {model, row} = shown, b = model.buffer_of[row];
        const color = shown === state.focus ? colors.mark : colors.text;
        for (const other of models) {
            if (other === model) continue;
            for (const linked of links_of(model, b, other)) buffer(other, linked, color, [4, 3]);
        }
        const {below} = why_here(model, row);
        if (below >= 0) buffer(model, model.buffer_of[below], colors.soft, [1, 3]);
        buffer(model, b, color);
    }
    if (state.at === null) return;
    context.strokeStyle = colors.soft;
    context.lineWidth = 1;
    context.setLineDash([2, 3]);
    for (const panel of panels) {
        const x = x_of(panel, Math.floor(state.at) + 0.5);
        if (x < panel.x || x > panel.x + panel.width) continue;
        context.beginPath();
        context.moveTo(x, panel.y);
        context.lineTo(x, panel.curve + panel.curve_height);
        context.stroke();
    }
    context.setLineDash([]);
}

let awaits_frame = false, is_changed = true;
function draw_now() {
    awaits_frame = false;
    if (is_changed) draw_picture();
    is_changed = false;
    draw_marks();
}
function draw_soon(changed = false) {
    is_changed = is_changed || changed;
    if (awaits_frame) return;
    awaits_frame = true;
    requestAnimationFrame(draw_now);
}
)js",
    R"js(// `low` to `high` moved into [0, limit], at least `least` long.
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
)js",
    R"js(function panel_at(x, y) {
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
)js",
    R"js(// The nearest row in a direction, or -1. Later: it begins after this one ends, the nearer in time and memory
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
)js",
    R"js(const lower_names = data.names.map(name => name.toLowerCase());
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
)js",
    R"js(function limit_curve(points, label, text_of) {
    const width = 640, height = 200, left = 40, bottom = 24;
    const frame = make("div");
    frame.innerHTML = "<svg class='curve' role='img'></svg>"; // the parser knows its namespace
    const drawn = frame.firstChild, name = drawn.namespaceURI;
    const draw = (kind, attributes, text) => {
        const made = document.createElementNS(name, kind);
        for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
        if (text !== undefined) made.textContent = text;
        drawn.append(made);
        return made;
    };
    drawn.setAttribute("viewBox", "0 0 " + width + " " + height);
    drawn.setAttribute("aria-label", label + " over the bytes of the arena; the table has the numbers");
    const least = points[0][0], span = Number(points[points.length - 1][0] - least) || 1;
    const most = Math.max(1, ...points.map(point => Number(point[1])));
    const x_of = bytes => left + (width - left - 60) * Number(bytes - least) / span;
    const y_of = paid => 8 + (height - bottom - 8) * (1 - paid / most);
    draw("path", {d: "M" + left + " 8V" + (height - bottom) + "H" + (width - 4)});
    const most_text = most < 1e5 ? "" + most : most.toExponential(1).replace("+", ""); // it has little room
    draw("text", {x: left - 6, y: 14, "text-anchor": "end"}, most_text);
    draw("text", {x: left - 6, y: height - bottom, "text-anchor": "end"}, "0");
    for (const i of new Set([0, points.length - 1]))
        draw("text", {x: x_of(points[i][0]), y: height - 6, "text-anchor": "middle"}, bytes_text(points[i][0]));
    draw("polyline", {points: points.map(([bytes, paid]) => x_of(bytes) + "," + y_of(Number(paid))).join(" ")});
    for (const [bytes, paid] of points) {
        const dot = draw("circle", {cx: x_of(bytes), cy: y_of(Number(paid)), r: 3.5});
        const title = document.createElementNS(name, "title");
        title.textContent = bytes_text(bytes) + ": " + text_of(paid);
        dot.append(title);
    }
    return drawn;
}
function limit_tables(given, heading, label, text_of) {
    const points = given.map(numbers => numbers.map(BigInt));
    const order = (a, b) => a < b ? -1 : a > b ? 1 : 0;
    points.sort((a, b) => order(a[0], b[0]) || order(b[1], a[1]));
    const least = points[0][0];
    return [limit_curve(points, label, text_of),
            table_of("Plans within other limits", [unit_name, "above the least", heading], [0, 1, 2], points.length, i => {
        const [bytes, paid] = points[i];
        return [bytes_text(bytes), percent_text(bytes - least, least), "" + paid];
    })];
}
const wait_tables = given => limit_tables(given, "hand-offs", "Hand-offs", waits => count_text(Number(waits), "hand-off"));
const cost_tables = given => limit_tables(given, "cost", "Cost", cost => "cost " + cost);
)js",
    R"js(function summarize() {
    const summary = element("summary");
    for (const model of models) {
        const paragraph = make("p");
        if (model.label) paragraph.append(make("b", model.label + ": "));
        const parts = model.plan.report ? [model.plan.report] : [];
        for (const [id, pool] of [...model.pools].slice(0, 4)) {
            const {levels} = pool;
            const place = pool_ids.length > 1 ? "Pool " + id + ": " : "";
            const peak = bytes_text(levels.peak) + " at position " + position_text(model, levels.peak_at);
            const arena = " in an arena of " + exact_bytes(pool.arena);
            parts.push(place + count_text(pool.buffers, "buffer") + arena + "; the peak is " + peak);
        }
        const more = model.pools.size - 4, without_place = model.plan.without_place;
        if (more > 0) parts.push("And " + count_text(more, "more pool", "more pools"));
        if (!model.pools.size) parts.push("No buffer has " + unit_name + " and an offset");
        if (without_place) parts.push(count_text(without_place, "buffer") + " without an offset");
        paragraph.append(parts.join(". ") + ".");
        summary.append(paragraph);
    }
    if (models.length > 1) {
        const bytes_of = model => [...model.pools.values()].reduce((sum, pool) => sum + pool.arena, 0n);
        const [before, after] = models.map(bytes_of), is_more = after > before;
        const change = is_more ? after - before : before - after;
        summary.append(make("p", change === 0n ? "Both plans need the same " + unit_name + "."
            : models[1].label + " needs " + bytes_text(change) + (is_more ? " more" : " less") + " than " +
              models[0].label + " (" + percent_text(change, before) + ")."));
    }
    const texts = models.map(model =>
        (model.label ? model.label + ": " : "") + count_text(model.buffers.length, "buffer") + " over " +
        count_text(positions, "position") + " in " + count_text(model.pools.size, "pool"));
    canvas.setAttribute("aria-label", "Memory map: time to the right, offsets upwards. " + texts.join("; "));
}

// A cell is a text, or a button with a text that goes to a buffer: {text, model, value or row}. `cells_of(i)`
// has those of a line; lines beyond the first are made when they are asked for.
function table_of(caption, headings, numeric, count, cells_of) {
    const table = make("table"), top = make("thead"), head = make("tr"), body = make("tbody");
    const style = column => ({class: numeric.includes(column) ? "number" : ""});
    const target_of = cell => {
        if (cell.row !== undefined) return cell.row;
        const b = cell.model ? cell.model.buffer_of_value[cell.value] : -1;
        return b < 0 ? -1 : cell.model.buffers[b].rows[0];
    };
    const add = i => {
        const line = make("tr");
        cells_of(i).forEach((cell, column) => {
            const box = column === 0 ? make("th") : make("td", undefined, style(column));
            const row = target_of(cell);
            if (column === 0) box.setAttribute("scope", "row");
            if (row < 0) {
                box.textContent = cell.text !== undefined ? cell.text : cell;
            } else {
                const button = make("button", cell.text, {type: "button"});
                button.addEventListener("click", () => {
                    focus_on(cell.model, row);
                    canvas.scrollIntoView({block: "nearest"});
                });
                box.append(button);
            }
            line.append(box);
        });
        body.append(line);
    };
    headings.forEach((text, column) => head.append(make("th", text, {scope: "col", ...style(column)})));
    top.append(head);
    table.append(make("caption", caption), top, body);
    const first = Math.min(count, 25), frame = make("div", undefined, {class: "scroll"});
    for (let i = 0; i < first; ++i) add(i);
    frame.append(table);
    if (count > first) {
        const button = make("button", "Show all " + count + " rows", {type: "button"});
        button.addEventListener("click", () => {
            for (let i = first; i < count; ++i) add(i);
            button.remove();
        });
        frame.append(button);
    }
    return frame;
}

// Without a buffer the peak is the highest level where it is not live, or a level where it is less its bytes.
function peak_without(model, pool, row) {
    const {plan, size} = model, {levels} = pool;
    const begin_of = part => count_until(levels.at, plan.first[part] - 1);
    const end_of = part => count_until(levels.at, plan.last[part] - 1);
    const parts = [...model.buffers[model.buffer_of[row]].rows];
    let most = 0n;
    const count_in = bytes => { if (bytes > most) most = bytes; };
    if (parts.length === 1) {
        count_in(levels.before[begin_of(row)]);
        count_in(levels.after[end_of(row)]);
        count_in(levels.peak - size[row]);
        return most;
    }
    parts.sort((a, b) => plan.first[a] - plan.first[b]);
    let next = 0;
    for (const part of parts) {
        for (; next < begin_of(part); ++next) count_in(levels.bytes[next]);
        for (const end = end_of(part); next < end; ++next) count_in(levels.bytes[next] - size[part]);
    }
    count_in(levels.after[next]);
    return most;
}
function peak_table(model, id, pool) {
    const {plan, size} = model, {levels} = pool, at = levels.peak_at, has_steps = !!plan.maker;
    const live = pool.rows.filter(row => plan.first[row] <= at && at < plan.last[row]);
    live.sort((a, b) => size[a] < size[b] ? 1 : size[a] > size[b] ? -1 : a - b);
    const place = pool_ids.length > 1 ? "Pool " + id + ": " : "";
    const where = " live at position " + position_text(model, at) + of_plan(model);
    const caption = place + bytes_text(levels.peak) + where;
    const steps = has_steps ? ["made by", "last used by"] : [], last = 4 + steps.length;
    const headings = ["buffer", unit_name, "of the peak", "live at", ...steps, "peak without it", "saves"];
    return table_of(caption, headings, [1, 2, last, last + 1], live.length, i => {
        const row = live[i], without = peak_without(model, pool, row);
        return [{text: buffer_name(model, model.buffer_of[row]), model, row}, bytes_text(size[row]),
                percent_text(size[row], levels.peak), span_text(plan.first[row], plan.last[row]),
                ...(has_steps ? [made_by(model, row), used_by(model, row)] : []),
                bytes_text(without), bytes_text(levels.peak - without)];
    });
}
function in_place_table(model) {
    const pairs = model.plan.in_place;
    const caption = count_text(pairs.length, "result") + " written over an operand" + of_plan(model);
    const gains = ["without it the peak rises by", "without any of the step by"];
    const headings = ["result", "over", "by", unit_name, ...gains];
    return table_of(caption, headings, [3, 4, 5], pairs.length, i => {
        const [step, from, to, ...bytes] = pairs[i];
        return [{text: name_of(to), model, value: to}, {text: name_of(from), model, value: from},
                step < 0 ? "" : step_text(step), ...bytes.map(b => b === null ? "" : bytes_text(b))];
    });
}
function handoff_tables(model) {
    const {plan} = model, {handoffs, path, times} = plan, on_path = new Set(), positions_of = new Map();
    for (let i = 1; i < path.length; ++i) on_path.add(path[i - 1] + " " + path[i]);
    if (plan.order) plan.order.forEach((step, at) => positions_of.set(step, at));
    const waits = count_text(handoffs.length, "step waits", "steps wait");
    let text = waits + " for another because of storage" + of_plan(model);
    if (times)
        text += ". Without, the arena takes " + bytes_text(times[0]) + ". The critical path is " + times[2] +
                ", without hand-offs " + times[1] + ", and " + times[3] + " was accepted";
    text += plan.order ? ". Positions are those of an order that keeps the hand-offs."
                       : ". Positions are those of the listed order, which need not keep the hand-offs.";
    const tables = [make("p", text, {class: "soft"})];
    const headings = ["step", "waits for", unit_name + " passed on", "on the critical path"];
    tables.push(table_of("Hand-offs", headings, [2], handoffs.length, i => {
        const [from, to, bytes] = handoffs[i];
        const is_on_path = on_path.has(from + " " + to);
        return [step_text(to), step_text(from), bytes_text(bytes), is_on_path ? "yes" : "no"];
    }));
    if (path.length)
        tables.push(table_of("The critical path: " + count_text(path.length, "step"), ["step", "position"],
                             [1], path.length, i => [step_text(path[i]), "" + positions_of.get(path[i])]));
    return tables;
}
function list_tables() {
    const tables = element("tables");
    const add = (title, made) => { if (made.length) tables.append(make("h2", title), ...made); };
    const with_peak = model => [...model.pools].filter(([, pool]) => pool.levels.peak > 0n);
    const peaks_of = model => with_peak(model).map(([id, pool]) => peak_table(model, id, pool));
    add("Why the peak", models.flatMap(peaks_of));
    add("In place", models.filter(model => model.plan.in_place.length).map(in_place_table));
    add("Hand-offs", models.filter(model => model.plan.handoffs.length).flatMap(handoff_tables));
    if (data.waits_within) add("Waits against " + unit_name, wait_tables(data.waits_within));
    if (data.cost_within) add("Cost against " + unit_name, cost_tables(data.cost_within));
}
)js",
    R"js(function draw_again() {
    read_colors();
    lay_out();
    is_changed = true;
    draw_now();
}
summarize();
list_kinds();
list_tables();
draw_again();
show_details();
new ResizeObserver(() => { if (canvas.clientWidth !== width) draw_again(); }).observe(canvas.parentElement);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw_again);

// For programs that use the page, such as its test: what is drawn, and where.
canvas.page = {
    state, view, positions, models, draw: draw_now,
    row: () => state.focus ? state.focus.row : -1,
    box: (plan, row) => {
        const panel = panels.find(one => one.model.number === plan &&
            one.pool === models[plan].plan.pool[row]);
        return panel ? box_of(panel, row) : null;
    }
};
)js",
};

inline constexpr char const* html_style = R"css(:root { --page: #fff; --plot: #f3f3ef; --grid: #dededa; --text: #22262b; --soft: #565b63; --line: #c9ccd1;
 --live: #a9b4c4; --arena: #3b4048; --peak: #b3261e; --mark: #0b57d0; --panel: #f7f7f5; --label: #1d2126 }
@media (prefers-color-scheme: dark) {
 :root { --page: #16181c; --plot: #22252b; --grid: #363a42; --text: #e6e8eb; --soft: #a9afb8; --line: #454a53;
  --live: #56616f; --arena: #d5d8dd; --peak: #ff7a70; --mark: #8ab4f8; --panel: #1d2025 }
}
* { box-sizing: border-box }
[hidden] { display: none !important }
body { margin: 0 auto; padding: 14px 18px 0; max-width: 1800px; background: var(--page); color: var(--text);
 font: 13px/1.45 system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif }
h1 { margin: 0; font-size: 18px }
h2 { margin: 22px 0 4px; font-size: 15px }
p { margin: 2px 0 }
.soft, .summary { color: var(--soft) }
.summary b { color: var(--text); font-weight: 600 }
.tools { display: flex; flex-wrap: wrap; gap: 6px 8px; align-items: center; margin: 10px 0 6px }
.tools .space { flex: 1 }
button, input { font: inherit; color: var(--text); background: var(--panel); border: 1px solid var(--line);
 border-radius: 5px; padding: 2px 8px; min-height: 26px }
button { cursor: pointer }
button:hover { border-color: var(--soft) }
input { width: 16em; max-width: 60vw; background: var(--page) }
:focus-visible { outline: 2px solid var(--mark); outline-offset: 1px }
kbd { font: inherit; border: 1px solid var(--line); border-radius: 3px; padding: 0 4px; color: var(--text) }
.keys { margin: 0 0 6px; color: var(--soft) }
.kinds { display: flex; flex-wrap: wrap; gap: 2px 12px; align-items: center; margin: 0 0 8px; padding: 0;
 border: 0; max-height: 7.2em; overflow: auto }
.kinds legend { float: left; margin-right: 12px; padding: 0; color: var(--soft) }
.kinds label { display: inline-flex; gap: 4px; align-items: center; white-space: nowrap; cursor: pointer }
.kinds input { width: auto; min-height: 0; margin: 0 }
.kinds i { width: 11px; height: 11px; border-radius: 2px; outline: 1px solid rgb(128 128 128 / .35) }
.kinds button { min-height: 0; padding: 0 7px }
.frame { position: relative }
canvas { display: block; width: 100%; cursor: crosshair; touch-action: pan-y; border-radius: 4px }
canvas.dragged { cursor: grabbing }
.tip { position: absolute; z-index: 2; max-width: 26em; padding: 4px 8px; border: 1px solid var(--line);
 border-radius: 5px; background: var(--page); pointer-events: none; overflow-wrap: anywhere;
 box-shadow: 0 2px 8px rgb(0 0 0 / .25) }
.tip b { display: block }
.details { position: sticky; bottom: 0; z-index: 1; margin: 8px -18px 0; padding: 7px 18px 9px;
 min-height: 92px; background: var(--panel); border: solid var(--line); border-width: 1px 0 }
.details h2 { display: inline; margin: 0; font-size: 14px; overflow-wrap: anywhere }
.details dl { display: flex; flex-wrap: wrap; gap: 2px 22px; margin: 3px 0 2px }
.details dl div { display: flex; gap: 6px }
.details dt { color: var(--soft) }
.details dd { margin: 0; overflow-wrap: anywhere }
.spoken { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
.tables { padding-bottom: 30px }
.scroll { overflow-x: auto }
.curve { display: block; width: 100%; max-width: 640px }
.curve text { font-size: 11px; fill: var(--soft) }
.curve path, .curve polyline { fill: none; stroke: var(--line) }
.curve polyline { stroke: var(--mark); stroke-width: 2 }
.curve circle { fill: var(--mark) }
table { border-collapse: collapse; margin: 6px 0 }
caption { text-align: left; white-space: nowrap; color: var(--soft); padding-bottom: 3px }
th, td { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--grid);
 vertical-align: top }
thead th { font-weight: 600; white-space: nowrap }
tbody th { font-weight: 400 }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
tbody button { border: 0; background: none; padding: 0; min-height: 0; color: var(--mark); text-align: left;
 overflow-wrap: anywhere }
tbody button:hover { text-decoration: underline }
@media print { .tools, .keys, .tip { display: none } .details { position: static } }
)css";

} // namespace sublet::detail

#endif
