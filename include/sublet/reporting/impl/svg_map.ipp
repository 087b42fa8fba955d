// SPDX-License-Identifier: BSL-1.0

/// Kinds are found by sorting the printed names, and the curve by a sweep over begins and ends; where it
/// has more levels than the picture has pixels, levels are joined to the highest of them.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/reporting/detail/svg_map.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

// --- svg kinds -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL buffer_kinds kinds_of(std::vector<memory_plan::placed_buffer const*> const& buffers,
                                  names_of<value_id> const& kind_of)
{
    buffer_kinds result;
    result.kind_of.resize(buffers.size());
    std::vector<buffer_kinds::kind> kind_at; // by buffer
    std::vector<std::uint32_t> by_name, first_of;
    std::vector<char> name;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        kind_of.read(name, buffers[i]->root);
        std::size_t const characters = keep_printable(name), first = result.text.size();
        for (char c : name) result.text.push_back(c);
        kind_at.push_back({first, result.text.size(), characters, 0});
        by_name.push_back(i);
    }
    auto const name_at = [&](std::uint32_t i) {
        return std::string_view(result.text.data() + kind_at[i].first, kind_at[i].last - kind_at[i].first);
    };
    sort_by(by_name, [&](std::uint32_t a, std::uint32_t b) {
        int const order = name_at(a).compare(name_at(b));
        return order != 0 ? order < 0 : a < b;
    });
    for (std::uint32_t i : by_name) {
        if (first_of.empty() || name_at(first_of.back()) != name_at(i)) first_of.push_back(i);
        result.kind_of[i] = first_of.back();
    }

    auto const counted = [&](unsigned shift) {
        result.byte_steps = 0;
        for (std::uint32_t i : first_of) kind_at[i].byte_steps = 0;
        for (std::uint32_t i = 0; i != buffers.size(); ++i) {
            std::uint64_t const size = buffers[i]->size >> shift, life = length(buffers[i]->life);
            if (life != 0 && size > (~std::uint64_t{0} - result.byte_steps) / life) return false;
            result.byte_steps += size * life;
            kind_at[result.kind_of[i]].byte_steps += size * life;
        }
        return true;
    };
    for (unsigned shift = 0; !counted(shift);) ++shift;

    std::vector<sort_key> ranked;
    for (std::uint32_t i : first_of) ranked.push_back({descending(kind_at[i].byte_steps), i, i});
    sort_by_key(ranked);
    std::vector<std::uint32_t>& rank = by_name; // by first buffer
    for (sort_key const& k : ranked) {
        rank[k.id] = static_cast<std::uint32_t>(result.kinds.size());
        result.kinds.push_back(kind_at[k.id]);
    }
    for (std::uint32_t& k : result.kind_of) k = rank[k];
    return result;
}

SUBLET_DECL svg_legend legend_of(buffer_kinds const& all, std::uint64_t width)
{
    std::size_t const own = smaller(all.kinds.size(), svg_colors);
    std::uint64_t letters = own < all.kinds.size() ? 14 : 7; // "99 other kinds", "unnamed"
    for (std::size_t k = 0; k != own; ++k)
        letters = larger(letters, smaller<std::uint64_t>(all.kinds[k].characters, svg_legend::longest));
    std::uint64_t const cell = svg_legend::swatch + (letters + 9) * svg_char_width; // 9: " 45.2 %  "
    return {smaller(all.kinds.size(), svg_colors + 1), larger<std::uint64_t>(width / cell, 1), cell};
}

// --- svg profile -----------------------------------------------------------------------------------------

SUBLET_DECL live_profile profile_of(std::vector<memory_plan::placed_buffer const*> const& buffers)
{
    // Ends come before begins at a position, so no sum exceeds the live bytes.
    std::vector<sort_key> changes;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        live_range const life = buffers[i]->life;
        if (is_empty(life)) continue;
        changes.push_back({.key = life.first, .tie = 1, .id = i});
        changes.push_back({.key = life.last, .tie = 0, .id = i});
    }
    sort_by_key(changes);

    live_profile result;
    byte_count alive = 0, last_level = 0;
    for (std::size_t c = 0; c != changes.size(); ++c) {
        byte_count const size = buffers[changes[c].id]->size;
        alive = changes[c].tie == 0 ? alive - size : checked_add(alive, size);
        if (c + 1 != changes.size() && changes[c + 1].key == changes[c].key) continue;
        if (alive == last_level) continue;
        auto const position = position_id::of(changes[c].key);
        result.levels.push_back({position, last_level = alive});
        if (alive > result.peak) result.peak = alive, result.peak_position = position;
    }
    return result;
}

SUBLET_DECL std::vector<live_level> highest_by_column(std::vector<live_level> const& levels,
                                                      std::uint32_t columns, std::uint32_t positions)
{
    std::vector<byte_count> highest(std::size_t{columns} + 1, 0);
    for (std::size_t i = 0; i + 1 < levels.size(); ++i) {
        std::size_t const last = to_size(portion(columns, levels[i + 1].position - 1, positions));
        for (std::size_t c = to_size(portion(columns, levels[i].position, positions)); c <= last; ++c)
            if (highest[c] < levels[i].bytes) highest[c] = levels[i].bytes;
    }
    std::vector<live_level> result;
    for (std::uint32_t c = 0; c <= columns; ++c)
        if (highest[c] != (result.empty() ? 0 : result.back().bytes)) result.push_back({c, highest[c]});
    return result;
}

// --- svg map ---------------------------------------------------------------------------------------------

SUBLET_DECL std::size_t count_buffers(std::vector<memory_plan::placed_buffer const*> const& drawn,
                                      std::size_t first, std::size_t last)
{
    std::size_t buffers = first == last ? 0 : 1;
    for (std::size_t i = first + 1; i < last; ++i)
        if (drawn[i]->root != drawn[i - 1]->root) ++buffers;
    return buffers;
}

SUBLET_DECL svg_panel panel_of(memory_plan const& plan,
                               std::vector<memory_plan::placed_buffer const*> const& drawn, std::size_t first)
{
    svg_panel panel{.first = first, .last = first, .pool = drawn[first]->pool};
    panel.every_schedule = plan.valid_for == program_reading::concurrent;
    std::vector<memory_plan::placed_buffer const*> in_pool;
    for (; panel.last != drawn.size() && drawn[panel.last]->pool == panel.pool; ++panel.last) {
        memory_plan::placed_buffer const& b = *drawn[panel.last];
        in_pool.push_back(&b);
        panel.ceiling = larger(panel.ceiling, sum_fits(b.offset, b.size) ? b.offset + b.size : no_offset - 1);
    }
    panel.live = profile_of(in_pool);
    panel.arena = panel.pool < plan.arena_bytes.size() ? plan.arena_bytes[panel.pool] : panel.ceiling;
    panel.ceiling = larger(larger(panel.ceiling, panel.arena), panel.live.peak);
    return panel;
}

SUBLET_DECL std::vector<memory_plan::placed_buffer const*> drawn_buffers(memory_plan const& plan)
{
    std::vector<sort_key> by_pool;
    for (buffer_id b = 0; b != plan.buffers.size(); ++b)
        if (plan.buffers[b].size != 0 && plan.buffers[b].offset != no_offset)
            by_pool.push_back({.key = plan.buffers[b].pool, .tie = b, .id = b});
    sort_by_key(by_pool);
    std::vector<memory_plan::placed_buffer const*> drawn;
    for (sort_key const& b : by_pool) drawn.push_back(&plan.buffers[b.id]);
    return drawn;
}

SUBLET_DECL memory_plan in_one_round(memory_plan const& plan, position_id period,
                                     table<buffer_id, svg_round>& rounds)
{
    memory_plan result = plan;
    result.buffers.clear();
    rounds.clear();
    table<buffer_id, buffer_id> first_part;
    for (memory_plan::placed_buffer part : plan.buffers) {
        first_part.push_back(buffer_id::of(result.buffers.size()));
        if (!is_empty(part.life) && part.life.first >= period) // of a buffer in parts
            part.life = {part.life.first - period, part.life.last - period};
        live_range const life = part.life;
        bool const crosses = life.first < period && period < life.last;
        if (crosses) part.life.last = period;
        result.buffers.push_back(part);
        rounds.push_back({});
        if (!crosses) continue;
        rounds.back().ends = life.last - period;
        part.life = {0, life.last - period};
        result.buffers.push_back(part);
        rounds.push_back({.began = life.first});
    }
    for (buffer_id& b : result.buffer_of)
        if (b < first_part.size()) b = first_part[b];
    return result;
}

SUBLET_DECL void add_carried(memory_plan const& plan, std::vector<plan_options::carry> const& carried,
                             table<buffer_id, svg_round>& rounds)
{
    rounds.resize(plan.buffers.size());
    for (plan_options::carry const& c : carried) {
        for (value_id v : {c.from, c.to})
            SUBLET_EXPECTS(v < plan.buffer_of.size(),
                           "sublet: value % is carried, but the plan has only % values", v,
                           plan.buffer_of.size());
        buffer_id const from = plan.buffer_of[c.from], to = plan.buffer_of[c.to];
        if (from >= rounds.size() || to >= rounds.size()) continue;
        bool const moves = plan.buffers[from].offset != plan.buffers[to].offset;
        rounds[from].leaves = c;
        rounds[from].leaves_elsewhere = moves;
        rounds[to].finds = c;
        rounds[to].finds_elsewhere = moves;
    }
}

} // namespace sublet::detail
