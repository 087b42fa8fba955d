// SPDX-License-Identifier: BSL-1.0
// Why a buffer lies where it does: the row below that it touches, and the sentence.

const overlap = (plan, a, b) => Math.min(plan.last[a], plan.last[b]) - Math.max(plan.first[a], plan.first[b]);

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
