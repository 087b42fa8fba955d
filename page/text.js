// SPDX-License-Identifier: BSL-1.0
// What the page holds (the data, its elements), and numbers and names as text. Sizes are exact (BigInt) in text and
// comparisons, and rounded in the picture only. Text reaches the page as text, never as markup.

const data = JSON.parse(document.getElementById("data").textContent);
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
