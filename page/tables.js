// SPDX-License-Identifier: BSL-1.0
// The summary above the map, and the tables below it.

function summarize() {
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
