// SPDX-License-Identifier: BSL-1.0
"use strict";

// Appended to a page that write_html() has written: uses it as a reader does, with pointer and keys, and writes what
// it found into the element `result`. What is expected is computed from the data of the page, without its program.

(() => {
const results = [];
let failures = 0;
const check = (condition, text) => {
    if (condition) return;
    ++failures;
    if (failures <= 20) results.push("FAILED: " + text);
};
const element = id => document.getElementById(id);
const data = JSON.parse(element("data").textContent);
const canvas = element("map"), page = canvas.page, {view, state} = page;
const count = data.plans.reduce((sum, plan) => sum + plan.first.length, 0);
const last = data.plans.length - 1, plan = data.plans[last], rows = plan.first.length;
const is_two = data.plans.length === 2;
const size = plan.size.map(BigInt), offset = plan.offset.map(BigInt);
const name = row => data.names[plan.root[row]];

const pointer = (kind, x, y, more = {}) => {
    const box = canvas.getBoundingClientRect();
    canvas.dispatchEvent(new PointerEvent(kind, {clientX: box.left + x, clientY: box.top + y, bubbles: true,
                                                 cancelable: true, ...more}));
};
const key = (name, more = {}, target = canvas) =>
    target.dispatchEvent(new KeyboardEvent("keydown", {key: name, bubbles: true, cancelable: true, ...more}));
const fact = term => {
    for (const one of element("details").querySelectorAll("dl div"))
        if (one.querySelector("dt").textContent === term) return one.querySelector("dd").textContent;
    return "";
};
const heading = () => (element("details").querySelector("h2") || {textContent: ""}).textContent;
const sample = (most, of = rows) => {
    const step = Math.max(1, Math.floor(of / most)), list = [];
    for (let row = 0; row < of; row += step) list.push(row);
    return list;
};
const search = text => {
    element("query").value = text;
    element("query").dispatchEvent(new Event("input", {bubbles: true}));
};

// Of a style that a browser does not understand it says nothing: each declaration is asked for.
function test_style() {
    const text = document.querySelector("style").textContent;
    const declarations = [...text.matchAll(/[{;]\s*([a-z-]+)\s*:\s*([^;{}]+?)\s*(?=[;}])/g)];
    check(declarations.length > 100, `${declarations.length} declarations are found in the style`);
    for (const [, property, value] of declarations)
        check(property.startsWith("--") || CSS.supports(property, value.replace("!important", "")),
              `${property}: ${value} is no style`);
    const rules = list => [...list].reduce((sum, rule) => sum + 1 + (rule.cssRules ? rules(rule.cssRules) : 0), 0);
    const found = rules(document.styleSheets[0].cssRules), written = text.split("{").length - 1;
    check(found === written, `${found} rules of the style are understood, and ${written} written`);
}

function test_drawing() {
    page.draw();
    check(state.drawn === count, `${state.drawn} rows are drawn and not ${count}`);
    const scale = canvas.width / canvas.clientWidth, context = canvas.getContext("2d");
    const all = context.getImageData(0, 0, canvas.width, canvas.height).data;
    const color = (x, y) => {
        const at = (Math.round(y * scale) * canvas.width + Math.round(x * scale)) * 4;
        return all[at] << 16 | all[at + 1] << 8 | all[at + 2];
    };
    const swatches = [...element("kinds").querySelectorAll("i")].map(
        one => getComputedStyle(one).backgroundColor.match(/\d+/g).reduce((all, part) => all << 8 | part, 0));
    for (const row of sample(2000)) {
        const box = page.box(last, row);
        check(box !== null, `row ${row} is not in the picture`);
        if (!box || box.width < 8 || box.height < 8 || !plan.kind.length) continue;
        const found = [color(box.x + 3, box.y + 3), color(box.x + box.width - 3, box.y + box.height - 3)];
        // A line may cross one of the two.
        check(found.includes(swatches[plan.kind[row]]), `row ${row} is not in the colour of its kind`);
    }
}

function test_hover() {
    let hits = 0;
    for (const row of sample(60)) {
        const box = page.box(last, row);
        if (!box || box.width < 3 || box.height < 3) continue;
        pointer("pointermove", box.x + box.width / 2, box.y + box.height / 2);
        ++hits;
        check(!element("tip").hidden && element("tip").textContent.includes(name(row) || "unnamed"),
              `the tip at row ${row} is ${element("tip").textContent}`);
        check(heading().startsWith(name(row) || "unnamed"), `the details at row ${row} are of ${heading()}`);
        const bytes = size[row] + (size[row] < 1024n ? " B" : " bytes");
        check(fact("size").startsWith(bytes), `its size is ${fact("size")}`);
        const place = `${offset[row]} to ${offset[row] + size[row]}`;
        check(fact("offset").startsWith(place), `its offset is ${fact("offset")}`);
        check(fact("live").includes(String(plan.first[row])), `it is live at ${fact("live")}`);
    }
    check(hits > 0 || rows > 10000 || rows === 0, "no row is large enough to point at");
    pointer("pointerleave", 0, 0);
    check(element("tip").hidden, "the tip stays");
}

// Why a buffer lies at its offset, by looking at all others.
function expected_reason(row) {
    if (data.title === "Reasons") return name(row);
    if (plan.over[row] >= 0) return "in place over";
    if (offset[row] === 0n) return "at the bottom";
    for (let other = 0; other < rows; ++other)
        if (plan.root[other] !== plan.root[row] && plan.pool[other] === plan.pool[row] &&
            offset[other] + size[other] === offset[row] && plan.first[other] < plan.last[row] && plan.first[row] < plan.last[other]) return "rests on";
    return "above a gap";
}

function test_search() {
    for (const row of sample(25)) {
        if (name(row) === "") continue;
        search(name(row));
        const expected = data.plans.map((one, p) => {
            const found = new Set();
            data.names.forEach((text, value) => {
                if (!text.toLowerCase().includes(name(row).trim().toLowerCase())) return;
                const at = one.holds.length ? one.holds[value] : one.root.indexOf(value);
                if (at >= 0) found.add(one.root[at]);
            });
            return found.size;
        }).reduce((sum, one) => sum + one, 0);
        check(element("hits").textContent === expected + (expected === 1 ? " buffer" : " buffers"),
              `a search for ${name(row)} finds ${element("hits").textContent} and not ${expected}`);
        let found = false;
        for (let i = 0; i < Math.min(expected, 200) && !found; ++i) {
            key("Enter", {}, element("query"));
            const said = element("hits").textContent;
            check(said === `${i + 1} of ${expected}`, `hit ${i + 1} is ${said}`);
            found = heading().startsWith(name(row)) && fact("offset").startsWith(String(offset[row]));
        }
        check(found || expected > 200, `no hit is ${name(row)}`);
        check(element("spoken").textContent.includes(name(row)) || !found, `spoken: ${element("spoken").textContent}`);
        const is_first = row === 0 || plan.root[row - 1] !== plan.root[row]; // a hit is the first range of its buffer
        if (found && is_first) check(fact("why here").includes(expected_reason(row)),
                         `${name(row)} lies there because ${fact("why here")}, expected: ${expected_reason(row)}`);
        if (found && plan.maker && plan.maker[row] >= 0)
            check([data.steps[plan.maker[row]], "step " + plan.maker[row]].includes(fact("made by")),
                  `made by ${fact("made by")}`);
    }
    key("0");
    if (rows < 20) return;
    const life = row => plan.last[row] - plan.first[row];
    const row = sample(50).reduce((best, one) => life(one) < life(best) ? one : best), before = page.box(last, row);
    search(name(row));
    key("Enter", {}, element("query"));
    const zoomed = [view.from, view.to];
    check(zoomed[1] - zoomed[0] < page.positions, "a hit is not zoomed to");
    key("Escape", {}, element("query"));
    check(document.activeElement === canvas, "Escape does not lead back to the map");
    search("");
    page.draw();
    check(view.from === zoomed[0] && view.to === zoomed[1], "the zoom does not stay after the search");
    const after = page.box(last, state.focus.row);
    check(after !== null && after.width >= before.width, "the hit is not larger");
    check(element("hits").textContent === "", `without a search: ${element("hits").textContent}`);
    search("no value has this name");
    check(element("hits").textContent === "no buffer", `without a hit: ${element("hits").textContent}`);
    search("");
    key("0");
    check(view.from === 0 && view.to === page.positions, "0 does not show all");
}

function test_kinds() {
    const boxes = [...element("kinds").querySelectorAll("input")];
    check(boxes.length === data.kinds.length, `${boxes.length} kinds are listed and not ${data.kinds.length}`);
    for (let kind = 0; kind < Math.min(3, boxes.length); ++kind) {
        const of_kind = data.plans.reduce((sum, one) => sum + one.kind.filter(k => k === kind).length, 0);
        boxes[kind].click();
        page.draw();
        const rest = count - of_kind;
        check(state.drawn === rest, `without kind ${kind} ${state.drawn} are drawn and not ${rest}`);
        const row = plan.kind.indexOf(kind), box = row < 0 ? null : page.box(last, row);
        if (box) {
            pointer("pointermove", box.x + box.width / 2, box.y + box.height / 2);
            check(!state.hover || state.hover.row !== row, "a row that is hidden is hit");
            pointer("pointerleave", 0, 0);
        }
        boxes[kind].click();
    }
    page.draw();
    check(state.drawn === count, "not all kinds are shown again");
}

function test_keys() {
    if (rows === 0) return key("ArrowRight");
    canvas.focus({preventScroll: true});
    key("Escape");
    key("ArrowRight");
    check(state.focus !== null, "no buffer has the focus");
    if (state.focus === null) return;
    check(element("spoken").textContent !== "" && element("spoken").textContent.includes("offset"), "nothing is spoken");
    let moves = 0;
    for (const direction of ["ArrowRight", "ArrowUp", "ArrowRight", "ArrowDown", "ArrowLeft"])
        for (let i = 0; i < 8; ++i) {
            const {model, row} = state.focus, one = model.plan;
            key(direction);
            const next = state.focus.row;
            if (state.focus.model !== model || next === row) continue;
            ++moves;
            const apart = BigInt(one.offset[next]) - BigInt(one.offset[row]), pools = one.pool[next] - one.pool[row];
            const is_good = direction === "ArrowRight" ? one.first[next] >= one.last[row]
                : direction === "ArrowLeft" ? one.last[next] <= one.first[row]
                : direction === "ArrowUp" ? pools < 0 || apart > 0n : pools > 0 || apart < 0n;
            check(is_good, `${direction} leads from row ${row} to row ${next}`);
        }
    check(moves > (rows < 20 ? 0 : 10), `${moves} moves`);
    const span = view.to - view.from;
    key("+");
    check(view.to - view.from < span || span <= 2, "+ does not zoom in");
    const narrow = view.to - view.from;
    key("-");
    check(view.to - view.from > narrow || narrow === span, "- does not zoom out");
    if (is_two && rows >= 20) {
        const {model} = state.focus;
        key("o");
        const is_missing = element("spoken").textContent.includes("no storage");
        check(state.focus.model !== model || is_missing, "o does not lead to the other plan");
    }
    key("/", {}, canvas);
    check(document.activeElement === element("query"), "/ does not lead to the search");
    canvas.focus({preventScroll: true});
    key("Escape");
    check(state.focus === null, "Escape does not end the focus");
    key("0");
}

function test_pointer() {
    if (rows < 20) return;
    const box = page.box(last, 0), x = box.x + 20, y = box.y;
    const span = view.to - view.from;
    for (let i = 0; i < 8; ++i) {
        const place = canvas.getBoundingClientRect();
        canvas.dispatchEvent(new WheelEvent("wheel", {deltaY: -120, clientX: place.left + x, clientY: place.top + y,
                                                      bubbles: true, cancelable: true}));
    }
    check(view.to - view.from < span, "the wheel does not zoom in");
    const from = view.from, length = view.to - view.from;
    pointer("pointerdown", x + 50, y, {button: 0});
    pointer("pointermove", x + 20, y);
    pointer("pointermove", x, y);
    pointer("pointerup", x, y);
    check(view.from > from, "dragging to the left does not show later positions");
    check(Math.abs(view.to - view.from - length) < 1e-6 * length, "dragging zooms");
    element("whole").click();
    const is_large = one => one && one.width > 4 && one.height > 4;
    const target = sample(50).map(row => [row, page.box(last, row)]).find(([, one]) => is_large(one));
    if (target) {
        const [row, one] = target;
        pointer("pointerdown", one.x + one.width / 2, one.y + one.height / 2, {button: 0});
        pointer("pointerup", one.x + one.width / 2, one.y + one.height / 2);
        check(state.focus && state.focus.row === row, "a click does not give the focus");
    }
    key("Escape");
    key("0");
}

// The most bytes live at once, and where.
function peak_of(some) {
    const changes = new Map();
    for (const row of some) {
        changes.set(plan.first[row], (changes.get(plan.first[row]) || 0n) + size[row]);
        changes.set(plan.last[row], (changes.get(plan.last[row]) || 0n) - size[row]);
    }
    let level = 0n, peak = 0n, at = 0;
    for (const position of [...changes.keys()].sort((a, b) => a - b)) {
        level += changes.get(position);
        if (level > peak) peak = level, at = position;
    }
    return [peak, at];
}

function test_tables() {
    const pools = [...new Set(plan.pool)];
    let tables = 0;
    for (const one of data.plans) tables += new Set(one.pool).size;
    const found = [...element("tables").querySelectorAll("table")];
    check(found.length >= tables, `${found.length} tables and not ${tables}`);
    for (const table of found) {
        check(table.caption && table.caption.textContent !== "", "a table has no caption");
        check([...table.tHead.querySelectorAll("th")].every(one => one.scope === "col"), "a heading has no scope");
        check(table.tBodies[0].rows.length > 0, "a table is empty");
    }
    if (!is_two && pools.length) { // the rows that are live at the peak, the largest first
        const pool = pools[0], own = plan.first.map((_, row) => row).filter(row => plan.pool[row] === pool);
        const [, at] = peak_of(own);
        const live = own.filter(row => plan.first[row] <= at && at < plan.last[row]);
        check(found[0].tBodies[0].rows.length === Math.min(25, live.length), "other rows are live at the peak");
        check(found[0].caption.textContent.includes("position " + at), `the peak is ${found[0].caption.textContent}`);
        const of_text = text => { // 640 B, 9.19 MiB
            const [number, unit] = text.split(" ");
            return Number(number) * 1024 ** ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"].indexOf(unit);
        };
        const column = [...found[0].tHead.querySelectorAll("th")].findIndex(one => one.textContent === "peak without it");
        for (const line of [...found[0].tBodies[0].rows].slice(0, 5)) {
            const others = own.filter(row => name(row) !== line.cells[0].textContent);
            if (others.length === own.length) continue; // a buffer without a name
            const shown = of_text(line.cells[column].textContent), expected = Number(peak_of(others)[0]);
            check(Math.abs(shown - expected) <= 0.01 * expected, `without ${line.textContent} the peak is ${expected}`);
        }
        const button = found[0].tBodies[0].querySelector("button"), shown = button.textContent;
        button.click();
        check(heading().startsWith(shown), "a row of the table does not lead to its buffer");
        key("Escape");
    }
    if (plan.handoffs.length) {
        const own = found.filter(table => table.caption.textContent === "Hand-offs");
        check(own.length === 1 && own[0].tBodies[0].rows.length === Math.min(25, plan.handoffs.length),
              "hand-offs are not listed");
        const path = found.filter(table => table.caption.textContent.startsWith("The critical path"));
        check(path.length === 1, "the critical path is not listed");
    }
    const curve = document.querySelector("svg.curve"), points = data.waits_within || data.cost_within;
    check((curve !== null) === (points !== undefined), "there is no curve, or one of nothing");
    if (curve) {
        const dots = [...curve.querySelectorAll("circle")], number = (dot, name) => Number(dot.getAttribute(name));
        check(dots.length === points.length, "a plan is not on the curve");
        for (let i = 1; i < dots.length; ++i)
            check(number(dots[i - 1], "cx") <= number(dots[i], "cx"), "the curve goes back to fewer bytes");
        const lowest = dots.reduce((a, b) => number(a, "cy") < number(b, "cy") ? a : b);
        const most = Math.max(...points.map(point => point[1]));
        const text = data.cost_within ? ": cost " + most : ": " + most + (most === 1 ? " hand-off" : " hand-offs");
        check(lowest.textContent.endsWith(text), "the most hand-offs, or the most cost, is not on top");
    }
    check((data.title === "Costs") === (data.cost_within !== undefined && data.cost_within.length > 2),
          "there is no curve of costs");
    check((data.title === "Hand-offs") === (plan.handoffs.length !== 0), "there are no hand-offs");
    check(data.title !== "Holes" || new Set(plan.root).size < rows, "there are no holes");
    if (is_two) check(element("tables").textContent.includes("written over an operand"), "no in-place results are listed");
    check(element("summary").textContent.includes("buffer"), "there is no summary");
    check(canvas.getAttribute("aria-label").includes("Memory map"), "the map has no label");
}

// What a round leaves and finds is said of both values.
function test_rounds()
{
    check((data.title === "Rounds") === (plan.carried !== undefined), "nothing is carried");
    if (!plan.carried) return;
    const said = text => {
        search(text);
        key("Enter", {}, element("query"));
        return [ fact("made by"), fact("the round before"), fact("the next round") ].join("; ");
    };
    check(said("history") === "the round before; left “history” in “now”, which lay here; ", said("history"));
    check(said("now") === "step 1; ; finds “now” in “history”, which lies here then", said("now"));
    check(said("lit") === "step 0; ; ", said("lit"));
    search("");
    key("Escape");
    key("0");
}

// The whole name is searched; what is shown has its begin and its end.
function test_long_names()
{
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const check_texts = () => {
        texts.currentNode = document.body;
        while (texts.nextNode())
            check(texts.currentNode.parentElement.tagName === "SCRIPT" || texts.currentNode.length < 3000,
                  `a text of ${texts.currentNode.length} letters is shown`);
    };
    const check_shown = (text, number, where) =>
        check(text.startsWith(number) && text.includes("…") && text.endsWith(number) && text.length < 300 &&
                  !/\p{Cs}/u.test(text),
              `${where} of ${number}: ${text.slice(0, 300)}`);
    check_texts();
    for (let row = 0; row < rows; ++row) {
        const number = name(row)[0];
        search("middle " + number);
        check(element("hits").textContent === "1 buffer", `a search finds ${element("hits").textContent}`);
        key("Enter", {}, element("query"));
        check_shown(heading(), number, "the details");
        check_shown(fact("kind"), number, "the kind");
        check_shown(fact("made by"), number, "the step");
        const box = page.box(last, row);
        pointer("pointermove", box.x + box.width / 2, box.y + box.height / 2);
        check_shown(element("tip").querySelector("b").textContent, number, "the tip");
        check_texts();
        pointer("pointerleave", 0, 0);
    }
    search("");
    key("0");
}

try {
    check(page !== undefined, "the program of the page has not run");
    check(data.title === element("summary").parentElement.querySelector("h1").textContent, "the title is another");
    check(data.title === document.title && data.title !== "", "the title of the window is another");
    check(!document.title.startsWith("broken"), "a name is run as a program");
    check(document.querySelectorAll("img, script[src], link").length === 0, "the page loads something");
    test_style();
    test_drawing();
    if (data.title === "Long names") {
        test_long_names();
    } else {
        test_hover();
        test_tables();
        test_search();
        test_kinds();
        test_rounds();
    }
    test_keys();
    test_pointer();
    const begin = performance.now();
    canvas.dispatchEvent(new KeyboardEvent("keydown", {key: "0", bubbles: true}));
    page.draw();
    canvas.getContext("2d").getImageData(0, 0, 1, 1); // waits until all is drawn
    results.push(`${count} rows are drawn in ${(performance.now() - begin).toFixed(0)} ms`);
} catch (error) {
    check(false, String(error.stack || error).replace(/\n/g, " | "));
}
const result = document.createElement("pre");
result.id = "result";
result.textContent = [...results, failures === 0 ? "all checks hold" : failures + " checks fail"].join("\n");
document.body.append(result);
})();
