// SPDX-License-Identifier: BSL-1.0
// Curves over bytes: the fewer bytes the arena has, the more steps wait for storage, or the more steps that run
// again and copies cost.

function limit_curve(points, label, text_of) {
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
