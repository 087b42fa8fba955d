// SPDX-License-Identifier: BSL-1.0

/// Names are asked for once and numbered; then the page is written from front to back: its fixed elements,
/// and between them the plans as one JSON object with a list for each property of the drawn rows. Plans
/// with hand-offs are moved first to an order that keeps them.

#include <sublet/analysis/dependences.hpp>
#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/detail/html_page.hpp>
#include <sublet/reporting/detail/html_script.hpp>
#include <sublet/reporting/detail/svg_map.hpp>
#include <sublet/reporting/html.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet::detail {

/// The data of a page: JSON, in which no text can end the script element that holds it. A number beyond
/// 2^53 is a string of digits, since a number of JavaScript would be rounded.
struct html_json {
    plain_text<html_texts>& out;

    void name(char const* key) const { out << '"' << key << "\":"; }
    void number(std::uint64_t n) const
    {
        bool const exact = n <= std::uint64_t{1} << 53;
        if (!exact) out << '"';
        out << n;
        if (!exact) out << '"';
    }
    /// An id, or -1 if it is none.
    void id(std::uint32_t n) const
    {
        if (n == ~std::uint32_t{0}) out << "-1";
        else out << n;
    }
    void text(std::string_view printable) const
    {
        out << '"';
        for (char c : printable) {
            if (c == '<') out << "\\u003c"; // neither </script> nor a comment
            else if (c == '"' || c == '\\') out << '\\' << c;
            else out << c;
        }
        out << '"';
    }
    /// The elements write themselves.
    template <class Write>
    void list(char const* key, std::size_t count, Write write) const
    {
        name(key);
        out << '[';
        for (std::size_t i = 0; i != count; ++i) {
            if (i != 0) out << ',';
            write(i);
        }
        out << "],\n";
    }
};

/// Of each buffer of a plan: the positions of its touches in an order of the steps, half-open.
struct touched_positions {
    table<buffer_id, position_id> first, last; ///< 0 and 0 if there is none
    std::vector<bool> is_made;                 ///< by buffer: the first is a definition

    touched_positions(snapshot const& p, memory_plan const& plan, table<position_id, step_id> const& steps)
        : first(plan.buffers.size(), 0), last(plan.buffers.size(), 0), is_made(plan.buffers.size())
    {
        SUBLET_EXPECTS(plan.buffer_of.size() == p.values(),
                       "sublet: the plan is of another program: it has % values, the program %",
                       plan.buffer_of.size(), p.values());
        table<step_id, position_id> position_of(steps.size());
        auto touched = [&](touch t, position_id at) {
            buffer_id const b = plan.buffer_of[t.value];
            if (b >= first.size()) return;
            if (last[b] == 0) first[b] = at, is_made[b] = t.defines();
            last[b] = larger(last[b], position_id{at + 1});
        };
        for (position_id at = 0; at != steps.size(); ++at) {
            position_of[steps[at]] = at;
            for (touch t : p.touches(steps[at])) // a step reads, then writes
                if (!t.defines()) touched(t, at);
            for (touch t : p.touches(steps[at]))
                if (t.defines()) touched(t, at);
        }
        for (edge_use u : p.edge_uses())
            touched({u.value, touch::access::use}, position_of[p.steps_of(u.pred).last - 1]);
    }
};

/// The page in memory.
class html_page {
public:
    using row = memory_plan::placed_buffer const*;

    /// Asks for all names.
    html_page(std::vector<html_plan> plans, html_options const& options);

    /// The document; the last character is '\0'.
    [[nodiscard]] std::vector<char> text() const;

private:
    void write_plan(plain_text<html_texts>& out, std::size_t which) const;
    std::vector<plan_options::carry> carried_in(memory_plan const& plan) const;
    void write_steps(plain_text<html_texts>& out, html_plan const& shown, std::size_t first,
                     std::size_t last) const;
    void keep_handoffs(html_plan& shown) const;
    [[nodiscard]] std::size_t index_of(value_id v) const;

    html_options const& options_;
    std::vector<html_plan> plans_;
    std::vector<html_page::row> rows_; // that are drawn, by plan, then by pool
    std::vector<std::size_t> ends_;    // of the rows, by plan
    std::vector<value_id> values_;     // that have storage, ascending
    html_texts names_, step_names_;    // of these values; by step, or empty
    buffer_kinds kinds_;               // of the rows, or empty
};

/// In the listed order a step may come before one for which it waits, and then buffers that share bytes
/// overlap in the picture. So the live ranges become those in an order that keeps the hand-offs. Finds the
/// critical path too, if it is as long as the planner reports: the durations may not be those of the plan.
SUBLET_DECL void html_page::keep_handoffs(html_plan& shown) const
{
    memory_plan& plan = shown.plan;
    if (plan.handoffs.empty() || options_.program == nullptr || options_.options == nullptr) return;
    snapshot const& p = *options_.program;
    dependence_options kept = dependences_of(*options_.options, plan.handoffs);
    kept.order = dependence_options::position_order::as_listed;
    dependence_graph const g = dependences(p, kept);
    if (!g) return;

    table<step_id, std::uint64_t> const duration = options_.duration.tabulate(p.steps(), "durations");
    table<position_id, std::uint64_t> ends(g.positions(), 0);
    table<position_id, position_id> previous(g.positions(), no_position);
    position_id longest = no_position;
    for (position_id at = 0; at != g.positions(); ++at) {
        for (position_id before : g.before[at])
            if (ends[before] > ends[at]) ends[at] = ends[before], previous[at] = before;
        step_id const s = g.step_at[at];
        if (g.start_of(s) == at) ends[at] = checked_add(ends[at], duration[s]);
        if (g.position_of[s] == at) shown.order.push_back(s);
        if (longest == no_position || ends[at] > ends[longest]) longest = at;
    }
    if (longest != no_position && (!shown.is_timed || ends[longest] == shown.critical_path_with)) {
        for (position_id at = longest; at != no_position; at = previous[at])
            if (shown.path.empty() || shown.path.back() != g.step_at[at]) shown.path.push_back(g.step_at[at]);
        std::reverse(shown.path.begin(), shown.path.end());
    }

    touched_positions const listed(p, plan, steps_in_order(p, plan.order)), now(p, plan, shown.order);
    auto const positions = position_id::of(shown.order.size());
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        live_range& life = plan.buffers[b].life;
        if (listed.last[b] == 0) continue;
        bool const is_given = life.first<listed.first[b], is_kept = life.last> listed.last[b];
        life.first = is_given ? 0u : now.first[b] + (life.first - listed.first[b]);
        life.last = is_kept ? positions : now.last[b];
    }
}

SUBLET_DECL html_page::html_page(std::vector<html_plan> plans, html_options const& options)
    : options_(options), plans_(std::move(plans))
{
    std::vector<sort_key> named;
    for (html_plan& shown : plans_) {
        keep_handoffs(shown);
        std::vector<bool> is_drawn(shown.plan.buffers.size());
        for (row b : drawn_buffers(shown.plan)) {
            rows_.push_back(b);
            named.push_back({b->root, 0, 0});
            is_drawn[static_cast<std::size_t>(b - shown.plan.buffers.data())] = true;
        }
        ends_.push_back(rows_.size());
        table<value_id, buffer_id> const& buffer_of = shown.plan.buffer_of;
        for (value_id v = 0; v != buffer_of.size(); ++v)
            if (buffer_of[v] < is_drawn.size() && is_drawn[buffer_of[v]]) named.push_back({v, 0, 0});
        for (memory_plan::in_place_gain const& pair : shown.in_place) {
            named.push_back({pair.in, 0, 0});
            named.push_back({pair.out, 0, 0});
        }
    }
    sort_unique(named);
    std::vector<char> name;
    for (sort_key const& k : named) {
        values_.push_back(value_id::of(k.key));
        options.names.read(name, values_.back());
        names_.add(name);
    }
    if (options.kinds.is_given()) kinds_ = kinds_of(rows_, options.kinds);
    if (options.program == nullptr || !options.steps.is_given()) return;
    for (step_id s = 0; s != options.program->steps(); ++s) {
        options.steps.read(name, s);
        step_names_.add(name);
    }
}

SUBLET_DECL std::size_t html_page::index_of(value_id v) const
{
    std::size_t first = 0, last = values_.size();
    while (first + 1 < last) {
        std::size_t const middle = first + (last - first) / 2;
        (values_[middle] <= v ? first : last) = middle;
    }
    return first;
}

/// What is carried of the values that have buffers.
SUBLET_DECL std::vector<plan_options::carry> html_page::carried_in(memory_plan const& plan) const
{
    std::vector<plan_options::carry> found;
    if (options_.options == nullptr) return found;
    auto has_buffer = [&](value_id v) {
        return v < plan.buffer_of.size() && plan.buffer_of[v] < plan.buffers.size();
    };
    for (plan_options::carry const& c : options_.options->carried)
        if (has_buffer(c.from) && has_buffer(c.to)) found.push_back(c);
    return found;
}

/// By drawn row: the step that makes its buffer and the last that touches it.
SUBLET_DECL void html_page::write_steps(plain_text<html_texts>& out, html_plan const& shown,
                                        std::size_t first, std::size_t last) const
{
    memory_plan const& plan = shown.plan;
    table<position_id, step_id> const steps =
        shown.order.empty() ? steps_in_order(*options_.program, plan.order) : shown.order;
    touched_positions const at(*options_.program, plan, steps);
    table<buffer_id, step_id> maker(plan.buffers.size(), no_step), user(plan.buffers.size(), no_step);
    table<buffer_id, unsigned char> is_left(plan.buffers.size(), 0); // to the next round, by a step
    for (plan_options::carry const& c : carried_in(plan)) is_left[plan.buffer_of[c.from]] = 1;
    for (plan_options::carry const& c : carried_in(plan)) is_left[plan.buffer_of[c.to]] = 0;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b) {
        if (at.last[b] == 0) continue;
        if (at.is_made[b] && (at.first[b] <= plan.buffers[b].life.first || is_left[b] != 0))
            maker[b] = steps[at.first[b]];
        user[b] = steps[at.last[b] - 1];
    }

    // All ranges of a buffer have the steps of its first row.
    std::vector<buffer_id> first_row;
    for (std::size_t i = first; i != last; ++i) {
        auto const b = buffer_id::of(rows_[i] - plan.buffers.data());
        bool const is_part = i != first && rows_[i]->root == rows_[i - 1]->root;
        first_row.push_back(is_part ? first_row.back() : b);
    }
    html_json const json{out};
    json.list("order", steps.size(), [&](std::size_t i) { json.id(steps[i]); });
    json.list("maker", last - first, [&](std::size_t i) { json.id(maker[first_row[i]]); });
    json.list("user", last - first, [&](std::size_t i) { json.id(user[first_row[i]]); });
    json.list("until", last - first, [&](std::size_t i) { json.number(at.last[first_row[i]]); });
}

SUBLET_DECL void html_page::write_plan(plain_text<html_texts>& out, std::size_t which) const
{
    html_plan const& shown = plans_[which];
    memory_plan const& plan = shown.plan;
    std::size_t const first = which == 0 ? 0 : ends_[which - 1], last = ends_[which], rows = last - first;
    html_json const json{out};
    table<buffer_id, std::uint32_t> row_of(plan.buffers.size(), no_buffer);
    auto row_at = [&](std::size_t i) -> memory_plan::placed_buffer const& { return *rows_[first + i]; };
    auto row_of_buffer = [&](buffer_id b) { return b < row_of.size() ? row_of[b] : +no_buffer; };
    for (std::size_t i = 0; i != rows; ++i)
        row_of[static_cast<std::size_t>(&row_at(i) - plan.buffers.data())] = static_cast<std::uint32_t>(i);

    out << '{';
    auto text = [&](char const* key, std::string_view given) {
        std::vector<char> printable(given.begin(), given.end());
        keep_printable(printable);
        json.name(key);
        json.text({printable.data(), printable.size()});
        out << ",\n";
    };
    text("label", shown.label);
    text("report", {shown.report.text.data(), shown.report.text.size()});
    json.name("reading");
    out << static_cast<unsigned>(plan.valid_for) << ",\n";
    json.list("arena", plan.arena_bytes.size(), [&](std::size_t i) { json.number(plan.arena_bytes[i]); });
    table<pool_id, byte_count> const& bounds = shown.bounds.empty() ? options_.lower_bounds : shown.bounds;
    json.list("bound", bounds.size(), [&](std::size_t i) { json.number(bounds[i]); });
    json.list("blocks", plan.blocks.size(), [&](std::size_t i) {
        out << '[' << plan.blocks[i].pool << ',';
        json.number(plan.blocks[i].begin);
        out << ',';
        json.number(plan.blocks[i].size);
        out << ']';
    });
    json.list("root", rows, [&](std::size_t i) { out << index_of(row_at(i).root); });
    json.list("pool", rows, [&](std::size_t i) { json.number(row_at(i).pool); });
    json.list("first", rows, [&](std::size_t i) { json.number(row_at(i).life.first); });
    json.list("last", rows, [&](std::size_t i) { json.number(row_at(i).life.last); });
    json.list("size", rows, [&](std::size_t i) { json.number(row_at(i).size); });
    json.list("offset", rows, [&](std::size_t i) { json.number(row_at(i).offset); });
    json.list("alignment", rows, [&](std::size_t i) { json.number(row_at(i).alignment); });
    json.list("over", rows, [&](std::size_t i) { json.id(row_of_buffer(row_at(i).over)); });
    json.list("kind", kinds_.kinds.empty() ? 0 : rows,
              [&](std::size_t i) { json.number(kinds_.kind_of[first + i]); });
    json.list("holds", plan.buffer_of.empty() ? 0 : values_.size(), [&](std::size_t i) {
        value_id const v = values_[i];
        json.id(v < plan.buffer_of.size() ? row_of_buffer(plan.buffer_of[v]) : +no_buffer);
    });
    std::vector<std::uint32_t> pinned;
    if (options_.options != nullptr && plan.buffer_of.empty()) {
        for (std::uint32_t i = 0; i != rows; ++i)
            if (options_.options->pinned[row_at(i).root] != no_offset) pinned.push_back(i);
    } else if (options_.options != nullptr) {
        auto const pins = options_.options->pinned.tabulate(plan.buffer_of.size(), "pinned");
        for (value_id v = 0; v != pins.size(); ++v)
            if (std::uint32_t const at = row_of_buffer(plan.buffer_of[v]);
                pins[v] != no_offset && at != no_buffer)
                pinned.push_back(at);
    }
    json.list("pinned", pinned.size(), [&](std::size_t i) { out << pinned[i]; });
    std::vector<plan_options::carry> carried;
    for (plan_options::carry const& c : carried_in(plan))
        if (row_of_buffer(plan.buffer_of[c.from]) != no_buffer &&
            row_of_buffer(plan.buffer_of[c.to]) != no_buffer)
            carried.push_back(c);
    if (!carried.empty()) // rows and names of what is left and of what is found; whether it has two places
        json.list("carried", carried.size(), [&](std::size_t i) {
            value_id const from = carried[i].from, to = carried[i].to;
            buffer_id const a = plan.buffer_of[from], b = plan.buffer_of[to];
            out << '[' << row_of[a] << ',' << row_of[b] << ',' << index_of(from) << ',' << index_of(to) << ','
                << (plan.buffers[a].offset != plan.buffers[b].offset ? "true]" : "false]");
        });
    json.list("in_place", shown.in_place.size(), [&](std::size_t i) {
        memory_plan::in_place_gain const& pair = shown.in_place[i];
        out << '[';
        json.id(pair.step);
        out << ',' << index_of(pair.in) << ',' << index_of(pair.out);
        for (byte_count bytes : {pair.bytes, pair.peak_bytes, pair.step_peak_bytes}) {
            out << ',';
            if (bytes == no_size) out << "null";
            else json.number(bytes);
        }
        out << ']';
    });
    json.list("handoffs", plan.handoffs.size(), [&](std::size_t i) {
        out << '[' << plan.handoffs[i].from << ',' << plan.handoffs[i].to << ',';
        json.number(i < shown.handoff_bytes.size() ? shown.handoff_bytes[i] : 0);
        out << ']';
    });
    if (shown.is_timed) {
        std::uint64_t const facts[] = {shown.bytes_without, shown.critical_path, shown.critical_path_with,
                                       shown.makespan};
        json.list("times", 4, [&](std::size_t i) { json.number(facts[i]); });
    }
    json.list("path", shown.path.size(), [&](std::size_t i) { json.id(shown.path[i]); });
    bool const has_values =
        options_.program != nullptr && plan.buffer_of.size() == options_.program->values();
    if (options_.program != nullptr && (shown.is_plan || has_values)) write_steps(out, shown, first, last);
    std::size_t without_place = 0;
    for (memory_plan::placed_buffer const& b : plan.buffers) without_place += b.offset == no_offset ? 1 : 0;
    json.name("without_place");
    out << without_place << '}';
}

SUBLET_DECL std::vector<char> html_page::text() const
{
    html_texts page;
    plain_text<html_texts> out{page};
    std::vector<char> printable(options_.title.begin(), options_.title.end());
    keep_printable(printable);
    std::string_view const title(printable.data(), printable.size());
    out << html_head;
    write_escaped(out, title);
    out << "</title>\n<style>\n" << html_style;
    out << html_body;
    write_escaped(out, title);
    out << html_main;

    html_json const json{out};
    out << '{';
    json.name("title");
    json.text(title);
    out << ",\n";
    if (options_.unit != nullptr) {
        std::vector<char> unit;
        appended_text{unit} << options_.unit;
        keep_printable(unit);
        json.name("unit");
        json.text({unit.data(), unit.size()});
        out << ",\n";
    }
    json.name("has_steps");
    out << (options_.program != nullptr ? "true,\n" : "false,\n");
    json.list("names", names_.ends.size(), [&](std::size_t i) { json.text(names_[i]); });
    json.list("steps", step_names_.ends.size(), [&](std::size_t i) { json.text(step_names_[i]); });
    if (!options_.waits_within.empty())
        json.list("waits_within", options_.waits_within.size(), [&](std::size_t i) {
            out << '[';
            json.number(options_.waits_within[i].first);
            out << ',' << options_.waits_within[i].second << ']';
        });
    if (!options_.cost_within.empty())
        json.list("cost_within", options_.cost_within.size(), [&](std::size_t i) {
            out << '[';
            json.number(options_.cost_within[i].first);
            out << ',';
            json.number(options_.cost_within[i].second);
            out << ']';
        });
    json.list("kinds", kinds_.kinds.size(), [&](std::size_t i) { json.text(kinds_.name_of(i)); });
    json.name("plans");
    out << '[';
    for (std::size_t i = 0; i != plans_.size(); ++i) {
        if (i != 0) out << ",\n";
        write_plan(out, i);
    }
    out << "]}";
    out << "\n</script>\n<script>\n\"use strict\";\n(() => {\n";
    for (char const* part : html_script) out << part;
    out << "})();\n</script>\n</body>\n</html>\n";
    out << '\0';
    return std::move(page.text);
}

SUBLET_DECL std::vector<char> html_document(std::vector<html_plan> plans, html_options const& options)
{
    return html_page(std::move(plans), options).text();
}

} // namespace sublet::detail
