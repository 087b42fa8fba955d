// SPDX-License-Identifier: BSL-1.0

// Rules of known elements: some elements of operands in another order, as slices, parts and gathered ones.
// Each lists places in the operand, often by strides, and copies what is there.

#include "known_rules.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace plan_model::known_rules {
namespace {

maybe transpose(call const& c)
{
    auto const* data = c.known(0);
    if (data == nullptr) return {};
    std::size_t const rank = data->size.size();
    sizes order = c.numbers("perm").value_or(sizes{});
    if (c.find("perm") == nullptr)
        for (std::size_t i = rank; i-- != 0;) order.push_back(static_cast<std::int64_t>(i));
    auto const axes = axes_in(order, rank);
    if (!axes || axes->size() != rank) return {};
    auto const own = strides_of(data->size);
    sizes size, strides;
    for (auto a : *axes) {
        size.push_back(data->size[a]);
        strides.push_back(own[a]);
    }
    auto const at = strided(size, strides, 0);
    return picked(*data, std::move(size), at);
}

maybe slice(call const& c)
{
    auto const* data = c.known(0);
    auto const starts = list_of(c, "starts", 1, 10), ends = list_of(c, "ends", 2, 10),
               axes = list_of(c, "axes", 3, 10),
               steps = c.opset < 10 ? moved_list{true, {}} : list_of(c, "steps", 4, 10);
    if (data == nullptr || !starts.elements || !ends.elements || !axes.is_known || !steps.is_known) return {};
    std::size_t const rank = data->size.size(), items = starts.elements->size();
    if (items > rank || ends.elements->size() != items) return {};
    if (steps.elements && steps.elements->size() != items) return {};
    places along(items);
    std::iota(along.begin(), along.end(), std::size_t{0});
    if (axes.elements) {
        auto const found = axes_in(*axes.elements, rank);
        if (!found || found->size() != items) return {};
        along = *found;
    }
    sizes size = data->size, strides = strides_of(data->size);
    std::int64_t first = 0;
    for (std::size_t i = 0; i != items; ++i) {
        std::int64_t const n = data->size[along[i]], step = steps.elements ? (*steps.elements)[i] : 1;
        if (step == 0) return {};
        // By the standard it is empty, and ONNX Runtime takes the greatest numbers for the first element.
        if (step < 0 && (*ends.elements)[i] >= std::numeric_limits<std::int32_t>::max()) return {};
        auto clamped = [&](std::int64_t at, std::int64_t from, std::int64_t to) {
            if (at < 0) at = std::max(at, -n - 1) + n; // -1 is before the first
            return std::max(std::min(at, to), from);
        };
        bool const is_back = step < 0;
        std::int64_t const from = clamped((*starts.elements)[i], 0, is_back ? n - 1 : n),
                           to = clamped((*ends.elements)[i], is_back ? -1 : 0, is_back ? n - 1 : n);
        std::uint64_t kept = 0;
        if (step > 0 && from < to) kept = bits_of(to - from - 1) / bits_of(step) + 1;
        if (is_back && n != 0 && from > to) kept = bits_of(from - to - 1) / (0 - bits_of(step)) + 1;
        auto& stride = strides[along[i]];
        if (kept != 0) first += from * stride;
        stride *= kept > 1 ? step : 0; // a step that is taken is less than the dimension
        size[along[i]] = static_cast<std::int64_t>(kept);
    }
    auto const at = strided(size, strides, first);
    return picked(*data, std::move(size), at);
}

maybe expand(call const& c)
{
    auto const* data = c.known(0);
    auto const* to = c.list(1);
    if (data == nullptr || to == nullptr || !count_of(*to)) return {};
    auto size = broadcast(data->size, *to);
    if (!size) return {};
    auto const at = broadcast_places(data->size, *size);
    return picked(*data, std::move(*size), at);
}

maybe tile(call const& c)
{
    auto const* data = c.known(0);
    auto const* repeats = c.list(1);
    if (data == nullptr || repeats == nullptr || c.opset < 6 || repeats->size() != data->size.size())
        return {};
    auto const own = strides_of(data->size);
    sizes size, walked, strides;
    for (std::size_t i = 0; i != repeats->size(); ++i) {
        std::int64_t const d = data->size[i], times = (*repeats)[i];
        if (times < 0 || bits_of(times) > most_known_elements) return {};
        size.push_back(d * times);
        walked.insert(walked.end(), {times, d});
        strides.insert(strides.end(), {0, own[i]});
    }
    if (!count_of(size)) return {};
    auto const at = strided(walked, strides, 0);
    return picked(*data, std::move(size), at);
}

maybe concat(call const& c)
{
    std::vector<known_tensor const*> parts;
    for (std::size_t i = 0; i != static_cast<std::size_t>(c.node.input_size()); ++i) {
        parts.push_back(c.known(i));
        if (parts.back() == nullptr || parts.back()->element != parts[0]->element) return {};
    }
    if (parts.empty()) return {};
    sizes size = parts[0]->size;
    auto const axis = axis_in(c.number("axis", 1), size.size());
    if (!axis || (c.opset >= 4 && c.find("axis") == nullptr)) return {};
    size[*axis] = 0;
    for (auto const* part : parts) {
        if (part->size.size() != size.size()) return {};
        for (std::size_t i = 0; i != size.size(); ++i)
            if (i != *axis && part->size[i] != size[i]) return {};
        size[*axis] += part->size[*axis];
        if (bits_of(size[*axis]) > most_known_elements) return {};
    }
    if (!count_of(size)) return {};
    around_axis const to(size, *axis);
    known_tensor found{parts[0]->element, size, {}, {}};
    if (is_real(found.element)) found.real.resize(product(size));
    else found.whole.resize(product(size));
    std::size_t offset = 0;
    for (auto const* part : parts) {
        around_axis const from(part->size, *axis);
        for (std::size_t o = 0; o != from.outer; ++o)
            for (std::size_t i = 0; i != from.items; ++i)
                for (std::size_t n = 0; n != from.inner; ++n)
                    set(found, to.at(o, offset + i, n), *part, from.at(o, i, n));
        offset += from.items;
    }
    return found;
}

maybe gather(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const axis = axis_in(c.number("axis", 0), data->size.size());
    if (!axis) return {};
    sizes size(data->size.begin(), data->size.begin() + static_cast<std::ptrdiff_t>(*axis));
    size.insert(size.end(), indexes->size.begin(), indexes->size.end());
    size.insert(size.end(), data->size.begin() + static_cast<std::ptrdiff_t>(*axis) + 1, data->size.end());
    if (!count_of(size)) return {};
    around_axis const from(data->size, *axis);
    places rows;
    for (auto i : indexes->whole) {
        auto const row = axis_in(i, from.items);
        if (!row) return {};
        rows.push_back(*row);
    }
    places at;
    for (std::size_t o = 0; o != from.outer; ++o)
        for (auto row : rows)
            for (std::size_t n = 0; n != from.inner; ++n) at.push_back(from.at(o, row, n));
    return picked(*data, std::move(size), at);
}

/// For each element of `indexes`, the element of a tensor of shape `size` that GatherElements reads and
/// ScatterElements writes.
std::optional<places> indexed(sizes const& size, known_tensor const& indexes, std::int64_t of_axis)
{
    auto const axis = axis_in(of_axis, size.size());
    if (!axis || indexes.size.size() != size.size()) return {};
    for (std::size_t i = 0; i != size.size(); ++i)
        if (i != *axis && indexes.size[i] > size[i]) return {};
    auto strides = strides_of(size);
    std::int64_t const stride = strides[*axis];
    strides[*axis] = 0;
    auto at = strided(indexes.size, strides, 0);
    for (std::size_t i = 0; i != at.size(); ++i) {
        auto const row = axis_in(indexes.whole[i], static_cast<std::size_t>(size[*axis]));
        if (!row) return {};
        at[i] += *row * static_cast<std::size_t>(stride);
    }
    return at;
}

maybe gather_elements(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const at = indexed(data->size, *indexes, c.number("axis", 0));
    if (!at) return {};
    return picked(*data, indexes->size, *at);
}

/// The first element of each block that GatherND reads and ScatterND writes.
struct blocks {
    places first;
    std::size_t items = 1; ///< elements of a block
    sizes size;            ///< of the whole result of GatherND
};

std::optional<blocks> blocks_of(sizes const& size, known_tensor const& indexes, std::int64_t batch_dims)
{
    if (indexes.size.empty() || batch_dims < 0 ||
        batch_dims >= static_cast<std::int64_t>(indexes.size.size()))
        return {};
    auto const batches = static_cast<std::size_t>(batch_dims);
    auto const depth = static_cast<std::size_t>(indexes.size.back());
    if (depth == 0 || batches + depth > size.size()) return {};
    std::size_t batch = 1;
    for (std::size_t i = 0; i != batches; ++i) {
        if (size[i] != indexes.size[i]) return {};
        batch *= static_cast<std::size_t>(size[i]);
    }
    blocks found;
    found.size.assign(indexes.size.begin(), indexes.size.end() - 1);
    found.size.insert(found.size.end(), size.begin() + static_cast<std::ptrdiff_t>(batches + depth),
                      size.end());
    if (!count_of(found.size)) return {};
    if (product(size) == 0 || indexes.whole.empty()) {
        if (product(found.size) != 0) return {};
        found.items = 0;
        return found;
    }
    for (std::size_t i = batches + depth; i != size.size(); ++i)
        found.items *= static_cast<std::size_t>(size[i]);
    auto const strides = strides_of(size);
    std::size_t const rows = indexes.whole.size() / depth;
    std::size_t const per_batch = product(size) / batch;
    for (std::size_t r = 0; r != rows; ++r) {
        std::size_t at = r / (rows / batch) * per_batch;
        for (std::size_t i = 0; i != depth; ++i) {
            auto const index =
                axis_in(indexes.whole[r * depth + i], static_cast<std::size_t>(size[batches + i]));
            if (!index) return {};
            at += *index * static_cast<std::size_t>(strides[batches + i]);
        }
        found.first.push_back(at);
    }
    return found;
}

maybe gather_nd(call const& c)
{
    auto const* data = c.known(0);
    auto const* indexes = c.whole(1);
    if (data == nullptr || indexes == nullptr) return {};
    auto const from = blocks_of(data->size, *indexes, c.opset < 12 ? 0 : c.number("batch_dims", 0));
    if (!from) return {};
    places at;
    for (auto first : from->first)
        for (std::size_t i = 0; i != from->items; ++i) at.push_back(first + i);
    return picked(*data, from->size, at);
}

bool replaces(call const& c)
{
    auto const* a = c.find("reduction");
    return a == nullptr || a->s() == "none";
}

maybe scatter_elements(call const& c)
{
    auto const *data = c.known(0), *indexes = c.whole(1), *updates = c.known(2);
    if (data == nullptr || indexes == nullptr || updates == nullptr || !replaces(c)) return {};
    if (updates->size != indexes->size || updates->element != data->element) return {};
    auto const at = indexed(data->size, *indexes, c.number("axis", 0));
    if (!at) return {};
    known_tensor found = *data;
    for (std::size_t i = 0; i != at->size(); ++i) set(found, (*at)[i], *updates, i);
    return found;
}

maybe scatter_nd(call const& c)
{
    auto const *data = c.known(0), *indexes = c.whole(1), *updates = c.known(2);
    if (data == nullptr || indexes == nullptr || updates == nullptr || !replaces(c)) return {};
    auto const to = blocks_of(data->size, *indexes, 0);
    if (!to || updates->size != to->size || updates->element != data->element) return {};
    known_tensor found = *data;
    for (std::size_t b = 0; b != to->first.size(); ++b)
        for (std::size_t i = 0; i != to->items; ++i)
            set(found, to->first[b] + i, *updates, b * to->items + i);
    return found;
}

/// The position along an axis from which a padded one is copied; -1: it is padding.
std::int64_t padded_position(std::string_view mode, std::int64_t at, std::int64_t in)
{
    if (at >= 0 && at < in) return at;
    if (mode == "edge") return std::clamp<std::int64_t>(at, 0, in - 1);
    if (mode == "wrap") return (at % in + in) % in;
    if (mode == "constant") return -1;
    std::int64_t const period = std::max<std::int64_t>(2 * (in - 1), 1); // reflect, without the border
    std::int64_t const folded = (at % period + period) % period;
    return folded < in ? folded : period - folded;
}

maybe pad(call const& c)
{
    auto const* data = c.known(0);
    auto const given = list_of(c, c.opset < 2 ? "paddings" : "pads", 1, 11);
    auto const along = c.opset < 18 ? moved_list{true, {}} : list_of(c, "axes", 3, 18);
    auto const* named = c.find("mode");
    std::string_view const mode = named == nullptr ? "constant" : std::string_view(named->s());
    if (mode != "constant" && mode != "edge" && mode != "wrap" && mode != "reflect") return {};
    if (data == nullptr || !given.elements || !along.is_known) return {};
    std::size_t const rank = data->size.size();
    places axes(rank);
    std::iota(axes.begin(), axes.end(), std::size_t{0});
    if (along.elements) {
        auto const found = axes_in(*along.elements, rank);
        if (!found) return {};
        axes = *found;
    }
    if (given.elements->size() != 2 * axes.size()) return {};

    known_tensor value{data->element, {}, {}, {}};
    if (is_real(data->element)) value.real = {0};
    else value.whole = {0};
    if (c.opset < 11) {
        if (auto const* a = c.find("value")) {
            if (!is_real(data->element)) return {};
            value.real = {rounded(data->element, double{a->f()})};
        }
    } else if (c.has(2)) {
        auto const* stored = c.known(2);
        if (stored == nullptr || count_of(*stored) != 1 || stored->element != data->element) return {};
        value = *stored;
    }

    sizes size = data->size, first(rank, 0);
    constexpr std::int64_t limit = most_known_elements;
    for (std::size_t i = 0; i != axes.size(); ++i) {
        std::int64_t const before = (*given.elements)[i], after = (*given.elements)[axes.size() + i];
        if (before < -limit || before > limit || after < -limit || after > limit) return {};
        std::size_t const a = axes[i];
        if (mode != "constant" && (before < 0 || after < 0 || data->size[a] == 0)) return {};
        if (-before > data->size[a] || -after > data->size[a]) return {};
        first[a] = -before;
        size[a] += before + after;
    }
    auto found = filled(value, 0, size);
    if (!found || count_of(*found) == 0) return found;
    auto const strides = strides_of(data->size);
    std::vector<sizes> from(rank); // by axis: of each position, what it adds to the place; -1: padding
    for (std::size_t a = 0; a != rank; ++a)
        for (std::int64_t i = 0; i != size[a]; ++i) {
            std::int64_t const at = padded_position(mode, first[a] + i, data->size[a]);
            from[a].push_back(at < 0 ? -1 : at * strides[a]);
        }
    sizes index(rank, 0);
    for (std::size_t to = 0; to != count_of(*found); ++to) {
        std::int64_t at = 0;
        for (std::size_t a = 0; a != rank && at >= 0; ++a) {
            std::int64_t const more = from[a][static_cast<std::size_t>(index[a])];
            at = more < 0 ? -1 : at + more;
        }
        if (at >= 0) set(*found, to, *data, static_cast<std::size_t>(at));
        for (std::size_t a = rank; a-- != 0 && ++index[a] == size[a];) index[a] = 0;
    }
    return found;
}

maybe trilu(call const& c)
{
    auto const* data = c.known(0);
    std::int64_t k = 0;
    if (c.has(1)) {
        auto const* given = c.list(1);
        if (given == nullptr || given->size() != 1) return {};
        k = (*given)[0];
    }
    if (data == nullptr || data->size.size() < 2) return {};
    constexpr std::int64_t limit = most_known_elements;
    k = std::clamp(k, -limit, limit);
    bool const keeps_upper = c.number("upper", 1) != 0;
    known_tensor found = *data;
    std::int64_t const columns = data->size.back(), rows = data->size[data->size.size() - 2];
    for (std::size_t i = 0; i != count_of(found); ++i) {
        std::int64_t const at = static_cast<std::int64_t>(i) % (rows * columns);
        std::int64_t const row = at / columns, column = at % columns;
        if (keeps_upper ? column >= row + k : column <= row + k) continue;
        if (is_real(found.element)) found.real[i] = 0;
        else found.whole[i] = 0;
    }
    return found;
}

} // namespace

several split(call const& c)
{
    auto const parts = static_cast<std::size_t>(c.node.output_size());
    several found(parts);
    auto const* data = c.known(0);
    auto const given = list_of(c, "split", 1, 13);
    if (data == nullptr || !given.is_known || parts == 0 || c.opset < 2) return found;
    auto const axis = axis_in(c.number("axis", 0), data->size.size());
    if (!axis) return found;
    std::int64_t const all = data->size[*axis];
    sizes items = given.elements.value_or(sizes{});
    if (!given.elements) {
        if (parts > most_known_elements) return found;
        auto const n = static_cast<std::int64_t>(parts);
        if (c.opset < 18 && all % n != 0) return found;
        std::int64_t const most = (all + n - 1) / n;
        for (std::int64_t i = 0, left = all; i != n; ++i) {
            items.push_back(std::min(most, left));
            left -= items.back();
        }
    }
    if (items.size() != parts) return found;
    std::int64_t total = 0;
    for (auto n : items) {
        if (n < 0 || n > all) return found;
        total += n;
        if (total > all) return found;
    }
    if (total != all) return found;
    auto const strides = strides_of(data->size);
    std::int64_t offset = 0;
    for (std::size_t i = 0; i != parts; ++i) {
        sizes size = data->size;
        size[*axis] = items[i];
        auto const at = strided(size, strides, offset * strides[*axis]);
        found[i] = picked(*data, std::move(size), at);
        offset += items[i];
    }
    return found;
}

rule_table rules_of_selections()
{
    static constexpr named_rule found[] = {
        {"Concat", concat},
        {"Expand", expand},
        {"Gather", gather},
        {"GatherElements", gather_elements},
        {"GatherND", gather_nd},
        {"Pad", pad},
        {"Resize", resize},
        {"Scatter", scatter_elements},
        {"ScatterElements", scatter_elements},
        {"ScatterND", scatter_nd},
        {"Slice", slice},
        {"Tile", tile},
        {"Transpose", transpose},
        {"Trilu", trilu},
    };
    return found;
}

} // namespace plan_model::known_rules
