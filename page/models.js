// SPDX-License-Identifier: BSL-1.0
// A model for each plan: its buffers, the bytes live at each position, and its rows by time, so that what is live in
// one of 512 intervals is found without a walk over all.

const exact_list = list => BigUint64Array.from(list, number => BigInt(number));
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
