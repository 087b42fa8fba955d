// SPDX-License-Identifier: BSL-1.0
// Draws the panels on one canvas. The picture is drawn again when the view changes; what follows the pointer is drawn
// over a copy of it.

function write(text, x, y, color, align = "left", room = Infinity) {
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
