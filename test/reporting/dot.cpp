// SPDX-License-Identifier: BSL-1.0
#include <sublet/reporting/dot.hpp>

#include "../operations.hpp"
#include "../random_source.hpp"
#include "archetype.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace this_test {

using namespace sublet;

namespace {

std::size_t count(std::string_view text, std::string_view part)
{
    std::size_t found = 0;
    for (auto at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) ++found;
    return found;
}

/// Outside of quotes only what this library writes, inside no control characters; quotes and braces close.
void check_well_formed(std::string_view text)
{
    int braces = 0;
    bool quoted = false, good = true;
    for (std::size_t i = 0; i != text.size(); ++i) {
        char const c = text[i];
        if (quoted) {
            good &= static_cast<unsigned char>(c) >= 0x20;
            if (c == '\\') good &= text[i + 1] == '"' || text[i + 1] == '\\', ++i;
            else if (c == '"') quoted = false;
        } else {
            braces += c == '{' ? 1 : c == '}' ? -1 : 0;
            good &= braces > 0 || text.substr(i) == "}\n" || text.substr(i) == "\n" || i < 16;
            good &= c == '\n' || (c >= ' ' && c < 127 && c != '\\');
            quoted = c == '"';
        }
    }
    if (!good || quoted || braces != 0) FAIL_CHECK(text);
}

template <class Program>
std::string dot(Program const& program, dot_options const& options = {})
{
    std::ostringstream out;
    CHECK(&write_dot(out, program, options) == &out);
    check_well_formed(out.str());
    return out.str();
}

/// The text after the defaults.
std::string body(std::string const& text)
{
    auto const edge = text.find("\nedge [");
    REQUIRE(edge != text.npos);
    return text.substr(text.find('\n', edge + 1) + 1);
}

/// An edge as it is written: from a step "s3" or an input "v3" to a step; a value, or "" for an edge of the
/// step order.
struct dot_edge {
    std::string from, to, value;
    bool bold = false, dotted = false, back = false;
    friend auto operator<=>(dot_edge const&, dot_edge const&) = default;
};

std::string between(std::string_view text, std::string_view before, std::string_view after)
{
    auto const at = text.find(before);
    if (at == text.npos) return "";
    text.remove_prefix(at + before.size());
    return std::string(text.substr(0, text.find(after)));
}

std::vector<dot_edge> edges(std::string const& text)
{
    std::vector<dot_edge> found;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        auto const arrow = line.find(" -> ");
        if (arrow == line.npos || line[0] == 'k') continue;
        CHECK(line.ends_with("]"));
        std::string const value = between(line, "tooltip=\"", "\"");
        CHECK(value.empty() == (count(line, "style=dashed, color=gray60") == 1));
        found.push_back({line.substr(0, arrow), between(line, " -> ", " "), value,
                         count(line, "penwidth=3") == 1, count(line, "style=dotted") == 1,
                         count(line, "constraint=false") == 1});
    }
    std::sort(found.begin(), found.end());
    return found;
}

/// The edges by definition: every step looks for the def of each of its uses.
std::vector<dot_edge> expected_edges(snapshot const& p)
{
    std::vector<dot_edge> expected;
    auto step = [](step_id s) { return std::string("s") + std::to_string(s); };
    auto defines = [&](step_id s, value_id v) {
        for (touch t : p.touches(s))
            if (t == touch{v, touch::access::def}) return true;
        return false;
    };
    bool edge_back = false;
    for (node_id n = 0; n != p.nodes(); ++n)
        for (node_id next : p.successors(n)) edge_back = edge_back || next <= n;
    auto lead = [&](value_id v, step_id before, step_id to, bool bold, bool dotted) {
        std::string const value = "value " + std::to_string(v) + " (slot " + std::to_string(v % 3) + ")";
        step_id from = before;
        while (from != 0 && !defines(from - 1, v)) --from;
        if (from == 0 && edge_back) {
            from = step_id::of(p.steps());
            while (from != 0 && !defines(from - 1, v)) --from;
        }
        if (from == 0) expected.push_back({"v" + std::to_string(v), step(to), value, bold, dotted, false});
        else expected.push_back({step(from - 1), step(to), value, bold, dotted, from - 1 >= to});
    };
    for (step_id s = 0; s != p.steps(); ++s) {
        std::set<value_id> used;
        for (touch t : p.touches(s))
            if (t.kind != touch::access::def) used.insert(t.value);
        for (value_id v : used) {
            bool bold = false;
            for (overwrite o : p.overwrites(s)) bold = bold || (o.in == v && defines(s, o.out));
            lead(v, s, s, bold, false);
        }
    }
    std::set<std::tuple<node_id, node_id, value_id>> at_ends;
    for (edge_use u : p.edge_uses()) at_ends.insert({u.node, u.pred, u.value});
    for (auto [node, pred, value] : at_ends)
        lead(value, p.steps_of(pred).last, p.steps_of(node).first, false, true);
    for (node_id n = 0; n != p.nodes(); ++n) {
        step_range const own = p.steps_of(n);
        for (step_id s = own.first + 1; s != own.last; ++s)
            expected.push_back({step(s - 1), step(s), "", false, false, false});
        for (node_id next : p.successors(n))
            expected.push_back(
                {step(own.last - 1), step(p.steps_of(next).first), "", false, false, next <= n});
    }
    std::sort(expected.begin(), expected.end());
    return expected;
}

snapshot draw_named_program(random_source& draw)
{
    std::uint32_t const nodes = draw.below(6), values = 1 + draw.below(6);
    bool const loops = draw.below(2) == 0;
    std::vector<std::vector<node_id>> next(nodes), before(nodes);
    for (node_id n = 0; n != nodes; ++n)
        for (auto k = draw.below(3); k != 0; --k) {
            node_id const to = loops ? draw.below(nodes) : n + 1 + draw.below(nodes - n);
            if (to == nodes) continue;
            next[n].push_back(to);
            before[to].push_back(n);
        }
    return tasks(
        nodes, values, [&](auto n) -> auto& { return next[n]; },
        [&](auto n, effect_sink& s) {
            for (auto k = draw.below(4); k != 0 && !before[n].empty(); --k) {
                node_id const pred = before[n][draw.below(static_cast<std::uint32_t>(before[n].size()))];
                s.use_at_end_of(pred, draw.below(values));
            }
            for (auto steps = 1 + draw.below(3); steps != 0; --steps) {
                for (auto k = draw.below(4); k != 0; --k) s.use(draw.below(values));
                for (auto k = draw.below(2); k != 0; --k) s.use_early(draw.below(values));
                for (auto k = draw.below(3); k != 0; --k) s.def(draw.below(values));
                for (auto k = draw.below(4); k != 0; --k) {
                    value_id const in = draw.below(values);
                    s.may_overwrite(in, draw.below(values));
                }
                if (steps != 1) s.next_step();
            }
        });
}

/// a = load(), b = blur(a), c = edges(b), d = sharpen(a, c), e = shrink(d)
snapshot five_steps() { return op_list(5, {{}, {0}, {1}, {0, 2}, {3}}, {{0}, {1}, {2}, {3}, {4}}); }

} // namespace

TEST_CASE("five steps and their slots give the expected picture")
{
    std::string const steps[] = {"load", "blur", "edges", "sharpen", "shrink"};
    std::string const text = dot(five_steps(), {.slots = {0, 1, 2, 1, 0},
                                                .names = [](auto v) { return std::string(1, "abcde"[v]); },
                                                .steps = steps,
                                                .title = "Five",
                                                .value_names = true});
    CHECK(text == R"--(digraph program {
label="Five"; labelloc=t; rankdir=TB; ranksep=0.3; nodesep=0.2; color=gray60; fontname=Helvetica; fontsize=11
node [shape=box, style=filled, fillcolor=white, color=gray40, fontname=Helvetica, fontsize=11, height=0.3, margin="0.12,0.05"]
edge [penwidth=1.6, arrowsize=0.7, fontname=Helvetica, fontsize=9]
s0 [label="load", tooltip="defines a (slot 0)", fillcolor="#a7dbfa"]
s1 [label="blur", tooltip="defines b (slot 1)", fillcolor="#f1fa8a"]
s2 [label="edges", tooltip="defines c (slot 2)", fillcolor="#c890d7"]
s3 [label="sharpen", tooltip="defines d (slot 1)", fillcolor="#f1fa8a"]
s4 [label="shrink", tooltip="defines e (slot 0)", fillcolor="#a7dbfa"]
subgraph cluster_slots {
label=slots
k0 [label=0, width=0.4, fillcolor="#a7dbfa"]
k1 [label=1, width=0.4, fillcolor="#f1fa8a"]
k2 [label=2, width=0.4, fillcolor="#c890d7"]
k0 -> k1 [style=invis]
k1 -> k2 [style=invis]
}
s0 -> s1 [color="#2f82b4", tooltip="a (slot 0)", label=" a"]
s1 -> s2 [color="#aab42f", tooltip="b (slot 1)", label=" b"]
s0 -> s3 [color="#2f82b4", tooltip="a (slot 0)", label=" a"]
s2 -> s3 [color="#982fb4", tooltip="c (slot 2)", label=" c"]
s3 -> s4 [color="#aab42f", tooltip="d (slot 1)", label=" d"]
}
)--");
}

TEST_CASE("in a loop nodes of several steps are framed, phis are dotted, and back edges do not affect ranks")
{
    // n0: x, limit     n1: i = phi(x, j), c = i < limit     n2: j = i + 1     n3: done(i)
    auto next = [](auto n) { return std::vector<std::vector<int>>{{1}, {2, 3}, {1}, {}}[n]; };
    auto const program = tasks(4, 5, next, [](auto n, effect_sink& s) {
        enum { x, limit, i, c, j };
        if (n == 0) s.def(x);
        if (n == 1) {
            s.use_at_end_of(0, x);
            s.use_at_end_of(2, j);
            s.def(i);
            s.next_step();
            for (int v : {i, limit}) s.use(v);
            s.def(c);
        }
        if (n == 2) {
            s.use(i);
            s.def(j);
            s.may_overwrite(i, j);
        }
        if (n == 3) s.use(i);
    });
    CHECK(body(dot(program, {.slots = {0, 1, 0, -1, 0}})) ==
          R"--(s0 [label="step 0", tooltip="defines value 0 (slot 0)", fillcolor="#a7dbfa"]
subgraph cluster_1 {
label="node 1"
s1 [label="step 1", tooltip="defines value 2 (slot 0)", fillcolor="#a7dbfa"]
s2 [label="step 2", tooltip="defines value 3 (no slot)", fillcolor="#ffffff"]
s1 -> s2 [style=dashed, color=gray60]
}
s3 [label="step 3", tooltip="defines value 4 (slot 0)", fillcolor="#a7dbfa"]
s4 [label="step 4"]
subgraph cluster_slots {
label=slots
k0 [label=0, width=0.4, fillcolor="#a7dbfa"]
k1 [label=1, width=0.4, fillcolor="#f1fa8a"]
k0 -> k1 [style=invis]
}
s0 -> s1 [color="#2f82b4", tooltip="value 0 (slot 0)", style=dotted]
s0 -> s1 [style=dashed, color=gray60]
s1 -> s2 [color="#2f82b4", tooltip="value 2 (slot 0)"]
v1 [label="value 1", shape=ellipse, tooltip="given: value 1 (slot 1)", fillcolor="#f1fa8a"]
v1 -> s2 [color="#aab42f", tooltip="value 1 (slot 1)"]
s2 -> s3 [style=dashed, color=gray60]
s2 -> s4 [style=dashed, color=gray60]
s1 -> s3 [color="#2f82b4", tooltip="value 2 (slot 0)", penwidth=3]
s3 -> s1 [color="#2f82b4", tooltip="value 4 (slot 0)", style=dotted, constraint=false]
s3 -> s1 [style=dashed, color=gray60, constraint=false]
s1 -> s4 [color="#2f82b4", tooltip="value 2 (slot 0)"]
}
)--");
}

TEST_CASE("an empty program gives an empty picture")
{
    CHECK(body(dot(snapshot(), {.slots = 0})) == "}\n");
    CHECK(count(dot(snapshot(), {.slots = 0}), "rankdir=TB") == 1);
    CHECK(count(dot(snapshot(), {.slots = 0, .sideways = true}), "rankdir=LR") == 1);
}

TEST_CASE("a step that defines values of several slots has stripes, each slot once")
{
    auto const program = sequence(1, 4, [](auto, effect_sink& s) {
        for (int v : {3, 0, 1, 2, 0}) s.def(v);
    });
    std::string const text = dot(program, {.slots = [](int v) { return v == 3 ? -1 : v / 2; }});
    CHECK(count(text, "fillcolor=\"#a7dbfa:#f1fa8a:#ffffff\", style=\"striped\"") == 1);
    CHECK(
        count(
            text,
            "tooltip=\"defines value 3 (no slot), value 0 (slot 0), value 1 (slot 0), value 2 (slot 1)\"") ==
        1);
    CHECK(count(text, "\nk0 [") == 1);
    CHECK(count(text, "\nk1 [") == 1);
    CHECK(count(text, " -> ") == 1); // of the legend
}

TEST_CASE("an input is drawn once, in the colour of its slot, for all its users")
{
    auto uses = [](auto) { return std::vector{0, 0, 1}; };
    auto const program =
        sequence(3, 2, uses, [](auto s) { return s == 1 ? std::vector{1} : std::vector<int>{}; });
    std::string const text = dot(program, {.slots = [](auto v) { return v == 0 ? 4 : -1; }});
    CHECK(count(text, "shape=ellipse") == 2); // value 1 is an input of steps 0 and 1, and written by step 1
    CHECK(count(text, "v0 [label=\"value 0\", shape=ellipse, tooltip=\"given: value 0 (slot 4)\"") == 1);
    CHECK(count(text, "v0 -> s") == 3);
    CHECK(count(text, "v1 -> s") == 2);
    CHECK(count(text, "s1 -> s2") == 1);
}

TEST_CASE("inputs without a slot are left out with all their edges by option")
{
    auto const p = sequence(2, 4, [](auto s, auto& step) {
        step.use(0), step.use(1), step.use(2);
        if (s == 0) step.def(3);
        else step.use(3);
    });
    auto slot_of = [](auto v) { return v < 2 ? no_slot : slot_id{+v}; };
    auto drawn = [&](auto slots, bool all) { return dot(p, {.slots = slots, .given_without_slot = all}); };
    std::string const all = drawn(slot_of, true), few = drawn(slot_of, false);
    CHECK(count(all, "(no slot)") == 6); // two ellipses, four edges
    CHECK(count(few, "(no slot)") == 0);
    CHECK(edges(few).size() + 4 == edges(all).size());
    CHECK(count(few, "shape=ellipse") == 1);
    auto without = [](auto) { return no_slot; };
    CHECK(count(drawn(without, false), "s0 -> s1 [color=") == 1); // a result without a slot is drawn
}

TEST_CASE("names cannot break the file")
{
    std::string const name = "a\\N \"b\"\n&lt;\x01\xFF{}ä\\";
    auto const named = [&](auto) -> auto& { return name; };
    std::string const text =
        dot(five_steps(),
            {.slots = 0, .names = named, .steps = named, .title = "\"\\G\"\n&", .value_names = true});
    CHECK(count(text, R"(label="a\\N \"b\"&amp;lt;?{}ä\\")") == 5);
    CHECK(count(text, R"(label=" a\\N \"b\"&amp;lt;?{}ä\\")") == 5);
    CHECK(count(text, R"--(tooltip="a\\N \"b\"&amp;lt;?{}ä\\ (slot 0)")--") == 5);
    CHECK(count(text, R"(label="\"\\G\"&amp;")") == 1);
}

TEST_CASE("names of values are written at the edges by option only")
{
    auto name = [](auto) { return "tensor"; };
    CHECK(count(dot(five_steps(), {.slots = 0, .names = name}), "label=\" tensor\"") == 0);
    CHECK(count(dot(five_steps(), {.slots = 0, .names = name}), "tooltip=\"tensor (slot 0)\"") == 5);
    std::string const asked = dot(five_steps(), {.slots = 0, .names = name, .value_names = true});
    CHECK(count(asked, "label=\" tensor\"") == 5);
}

TEST_CASE("the slot function is called once per value, and a program without slots has no legend")
{
    std::vector<int> asked(5, 0);
    std::string const text =
        dot(five_steps(), {.slots = [&](int v) { return ++asked[static_cast<std::size_t>(v)], -1ll; }});
    CHECK(asked == std::vector<int>(5, 1));
    CHECK(count(text, "cluster_slots") == 0);
    CHECK(count(text, "fillcolor=\"#ffffff\"") == 5);
    CHECK(text == dot(five_steps(), {.slots = no_slot}));
    CHECK(text == dot(five_steps()));
}

TEST_CASE("slots are a table, as the colouring of a program has it, and one of another program is refused")
{
    slot_plan const colored{.slot_of = {0, 1, 2, 1, 0}, .slots = 3};
    CHECK(dot(five_steps(), {.slots = colored.slot_of}) == dot(five_steps(), {.slots = {0, 1, 2, 1, 0}}));
    std::ostringstream out;
    CHECK_THROWS_WITH_AS(write_dot(out, five_steps(), {.slots = {0, 1}}),
                         "sublet: the table of slots has 2 entries for 5 values", precondition_error);
    CHECK(out.str().empty());
}

TEST_CASE("a minimal program is accepted")
{
    archetype::program const poorest(3);
    CHECK(dot(poorest, {.slots = 0}) == dot(snapshot(poorest), {.slots = 0}));
}

TEST_CASE("black text is readable on the colours of slots, and their lines are visible on white")
{
    auto light = [](std::uint32_t color) { // relative luminance as WCAG 2 defines it
        double sum = 0;
        for (auto [shift, weight] : {std::pair{16, 0.2126}, {8, 0.7152}, {0, 0.0722}}) {
            double const c = (color >> shift & 255) / 255.0;
            sum += weight * (c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4));
        }
        return sum;
    };
    std::set<std::uint32_t> fills;
    for (slot_id slot = 0; slot != 4096; ++slot) {
        CAPTURE(slot);
        std::uint32_t const fill = detail::slot_color(slot, false);
        CHECK((light(fill) + 0.05) / 0.05 >= 7);
        CHECK(1.05 / (light(detail::slot_color(slot, true)) + 0.05) >= 2);
        if (slot < 64) CHECK(fills.insert(fill).second);
    }
    CHECK(detail::slot_color(no_slot, false) == 0xffffff);
}

TEST_CASE("the colours of slots with near numbers differ")
{
    auto channel = [](std::uint32_t color, int shift) { return static_cast<int>(color >> shift & 255); };
    for (slot_id a = 0; a != 200; ++a)
        for (slot_id b = a + 1; b != a + 6; ++b)
            for (bool dark : {false, true}) {
                std::uint32_t const x = detail::slot_color(a, dark), y = detail::slot_color(b, dark);
                int apart = 0;
                for (int shift : {16, 8, 0}) apart += std::abs(channel(x, shift) - channel(y, shift));
                CAPTURE(a);
                CAPTURE(b);
                CHECK(apart >= 40);
            }
}

TEST_CASE("in random programs each use is one edge from the def that it reads, and nothing else is drawn")
{
    std::size_t given = 0, back = 0, bold = 0, dotted = 0;
    for (unsigned seed = 0; seed != rounds(2000); ++seed) {
        CAPTURE(seed);
        random_source draw{std::mt19937(seed)};
        snapshot const program = draw_named_program(draw);
        std::string const text = dot(program, {.slots = [](auto v) { return v % 3; }});
        auto const found = edges(text);
        CHECK(found == expected_edges(program));
        for (step_id s = 0; s != program.steps(); ++s)
            CHECK(count(text, "\ns" + std::to_string(s) + " [label=") == 1);
        for (dot_edge const& e : found) {
            given += e.from[0] == 'v';
            back += e.back;
            bold += e.bold;
            dotted += e.dotted;
            if (e.from[0] == 'v') CHECK(count(text, "\n" + e.from + " [") == 1);
        }
    }
    CHECK(given > 500); // none of these is rare
    CHECK(back > 500);
    CHECK(bold > 500);
    CHECK(dotted > 500);
}

} // namespace this_test
