// SPDX-License-Identifier: BSL-1.0
// A curve of waits over bytes: the fewer bytes the arena has, the more steps wait for storage.

function wait_curve(points) {
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
    drawn.setAttribute("aria-label", "Hand-offs over the bytes of the arena; the table has the numbers");
    const least = points[0][0], span = Number(points[points.length - 1][0] - least) || 1;
    const most = Math.max(1, ...points.map(point => point[1]));
    const x_of = bytes => left + (width - left - 60) * Number(bytes - least) / span;
    const y_of = waits => 8 + (height - bottom - 8) * (1 - waits / most);
    draw("path", {d: "M" + left + " 8V" + (height - bottom) + "H" + (width - 4)});
    draw("text", {x: left - 6, y: 14, "text-anchor": "end"}, "" + most);
    draw("text", {x: left - 6, y: height - bottom, "text-anchor": "end"}, "0");
    for (const i of new Set([0, points.length - 1]))
        draw("text", {x: x_of(points[i][0]), y: height - 6, "text-anchor": "middle"}, bytes_text(points[i][0]));
    draw("polyline", {points: points.map(([bytes, waits]) => x_of(bytes) + "," + y_of(waits)).join(" ")});
    for (const [bytes, waits] of points) {
        const dot = draw("circle", {cx: x_of(bytes), cy: y_of(waits), r: 3.5});
        const title = document.createElementNS(name, "title");
        title.textContent = bytes_text(bytes) + ": " + count_text(waits, "hand-off");
        dot.append(title);
    }
    return drawn;
}
function wait_tables(given) {
    const points = given.map(([bytes, waits]) => [BigInt(bytes), waits]);
    points.sort((a, b) => a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : b[1] - a[1]);
    const least = points[0][0];
    return [wait_curve(points), table_of("Plans within other limits", [unit_name, "above the least", "hand-offs"],
                                         [0, 1, 2], points.length, i => {
        const [bytes, waits] = points[i];
        return [bytes_text(bytes), percent_text(bytes - least, least), "" + waits];
    })];
}
