// SPDX-License-Identifier: BSL-1.0
// Fills the page, and says to programs that use it, such as its test, what is drawn and where.

function draw_again() {
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
