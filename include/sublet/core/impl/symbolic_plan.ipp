// SPDX-License-Identifier: BSL-1.0

/// Sizes are evaluated once for each formula, and then the stacking places the buffers. The options for one
/// shape have callables that evaluate the formulas; all else is copied. The binding at the end names each
/// member of plan_options, so that a new one is not forgotten here.

#include <sublet/core/internal/formula_bounds.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <utility>

namespace sublet::detail {

/// Throws: precondition_error if the shape is none of the ranges.
SUBLET_DECL void expect_in_range(std::vector<dimension> const& dims, std::span<byte_count const> sizes)
{
    SUBLET_EXPECTS(sizes.size() == dims.size(),
                   "sublet: a plan with % open dimensions is asked for a shape of %", dims.size(),
                   sizes.size());
    for (std::size_t d = 0; d != dims.size(); ++d) {
        dimension const& its = dims[d];
        SUBLET_EXPECTS(sizes[d] >= its.least && sizes[d] <= its.most,
                       "sublet: a shape has % for open dimension %, which is from % to %", sizes[d], d,
                       its.least, its.most);
        SUBLET_EXPECTS((sizes[d] - its.least) % its.stride == 0,
                       "sublet: a shape has % for open dimension %, which is from % on in steps of %",
                       sizes[d], d, its.least, its.stride);
    }
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL plan_options symbolic_options::at(shape_view one) const
{
    detail::expect_in_range(dims, one.sizes());
    sublet::shape const sizes(one.sizes().begin(), one.sizes().end());
    plan_options made{.bytes =
                          [bytes = bytes, by_shape = bytes_at, sizes](value_id v) {
                              formula const its = bytes[v];
                              if (!its.is_by_shape()) return its.at(sizes);
                              SUBLET_EXPECTS(
                                  bool{by_shape},
                                  "sublet: the size of value % is by shape, but bytes_at is not given", v);
                              return by_shape(v, sizes);
                          },
                      .alignment = alignment,
                      .role = role,
                      .alias_of = alias_of,
                      .view_offset = [begin = view_offset, sizes](value_id v) { return begin[v].at(sizes); },
                      .pool = pool,
                      .pinned = pinned,
                      .eligible = eligible,
                      .pools = pools,
                      .order = order,
                      .in_place = in_place,
                      .check = check,
                      .effort = effort};
    // A member that is not named here does not compile.
    [[maybe_unused]] auto const& [of_bytes, of_alignment, of_role, of_view, of_begin, of_pool, of_pin,
                                  of_eligible, no_kinds, of_pools, no_choices, none_carried, all_steps,
                                  none_apart, of_order, none, of_none, no_growth, of_pairs, of_check,
                                  of_effort] = made;
    return made;
}

SUBLET_DECL void symbolic_plan::place(shape_view one, symbolic_plan::places& result) const
{
    std::span<byte_count const> const now = one.sizes();
    detail::expect_in_range(dims, now);
    result.sizes_.resize(sizes.size());
    for (std::size_t i = 0; i != sizes.size(); ++i)
        result.sizes_[i] = sizes[i].is_by_shape() ? no_size : sizes[i].at(now);
    result.size.resize(buffers.size());
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        byte_count size = result.sizes_[buffers[b].size];
        if (size == no_size) {
            size = bytes_at(buffers[b].root, now);
            SUBLET_EXPECTS(size != no_size,
                           "sublet: the size of value % is unknown for this shape, and known for others",
                           buffers[b].root);
        }
        result.size[+b] = size;
    }
    verdict const valid = stack.place(result.size, result.at);
    if (valid) {
        if (now.data() != result.shape.data()) result.shape.assign(now.begin(), now.end());
        return;
    }
    auto const& what = *valid.error().as<counterexample::buffers>();
    SUBLET_EXPECTS(false,
                   "sublet: value % is pinned to offset %, and for this shape the values below it end at %",
                   buffers[what.buffer].root, what.needed, what.begin);
}

SUBLET_DECL byte_count symbolic_plan::offset_of(value_id v, symbolic_plan::places const& now) const
{
    buffer_id const b = buffer_of[v];
    if (b == no_buffer) return no_offset;
    byte_count const begin = now.at.of[b];
    return offset_in_root.empty() ? begin : checked_add(begin, offset_in_root[v].at(now.shape));
}

SUBLET_DECL byte_count symbolic_plan::offset_of(value_id v, shape_view one) const
{
    symbolic_plan::places now;
    place(one, now);
    return offset_of(v, now);
}

SUBLET_DECL memory_plan symbolic_plan::at(shape_view one) const
{
    symbolic_plan::places now;
    place(one, now);
    memory_plan plan;
    plan.valid_for = valid_for;
    plan.order = order;
    plan.handoffs = handoffs;
    plan.unsized = unsized;
    plan.arena_bytes = now.at.bytes;
    table<buffer_id, buffer_id> kept(buffers.size(), no_buffer); // those with bytes
    for (buffer_id b = 0; b != buffers.size(); ++b) {
        if (now.size[+b] == 0) continue;
        kept[b] = buffer_id::of(plan.buffers.size());
        symbolic_plan::buffer const& its = buffers[b];
        plan.buffers.push_back({its.root, its.life, now.size[+b], its.alignment, its.pool, now.at.of[b]});
    }
    plan.buffer_of.reserve(buffer_of.size());
    for (value_id v = 0; v != buffer_of.size(); ++v) {
        buffer_id const b = buffer_of[v];
        plan.buffer_of.push_back(b == no_buffer ? no_buffer : kept[b]);
        if (b != no_buffer && kept[b] == no_buffer)
            plan.empty.push_back(
                {v, buffers[b].pool, buffers[b].pinned == no_offset ? 0 : buffers[b].pinned});
    }
    for (formula const& begin : offset_in_root) plan.offset_in_root.push_back(begin.at(now.shape));
    return plan;
}

SUBLET_DECL byte_count symbolic_plan::bytes(shape_view one, pool_id pool) const
{
    symbolic_plan::places now;
    place(one, now);
    return pool < now.at.bytes.size() ? now.at.bytes[pool] : 0;
}

SUBLET_DECL byte_count symbolic_plan::mean_bytes(std::span<symbolic_options::sample const> mixture) const
{
    symbolic_plan::places now;
    byte_count sum = 0, weights = 0;
    for (symbolic_options::sample const& each : mixture) {
        place(each.shape, now);
        for (byte_count bytes : now.at.bytes) sum = checked_add(sum, checked_multiply(bytes, each.weight));
        weights += each.weight;
    }
    SUBLET_EXPECTS(weights != 0, "sublet: the mean of no shape is asked for");
    return sum / weights + (sum % weights != 0);
}

SUBLET_DECL bool symbolic_plan::fits(shape_view one, table<pool_id, pool_limits> const& pools) const
{
    symbolic_plan::places now;
    place(one, now);
    for (pool_id p = 0; p != pools.size() && p != now.at.bytes.size(); ++p)
        if (now.at.bytes[p] > pools[p].capacity) return false;
    return true;
}

SUBLET_DECL std::optional<byte_count> symbolic_plan::largest(std::uint32_t dimension, shape_view one,
                                                             table<pool_id, pool_limits> const& pools) const
{
    SUBLET_EXPECTS(dimension < dims.size(), "sublet: a plan with % open dimensions is asked for dimension %",
                   dims.size(), dimension);
    SUBLET_EXPECTS(one.sizes().size() == dims.size(),
                   "sublet: a plan with % open dimensions is asked for a shape of %", dims.size(),
                   one.sizes().size());
    sublet::shape tried(one.sizes().begin(), one.sizes().end());
    sublet::dimension const& its = dims[dimension];
    byte_count const steps = (its.most - its.least) / its.stride;
    auto fits_at = [&](byte_count step) {
        tried[dimension] = its.least + step * its.stride;
        return fits(tried, pools);
    };
    bool is_rising = true;
    for (formula const& size : sizes)
        is_rising = is_rising && !size.is_by_shape() && detail::is_rising_in(size, dimension, dims);
    if (!is_rising) {
        for (byte_count step = steps;; --step) {
            if (fits_at(step)) return tried[dimension];
            if (step == 0) return std::nullopt;
        }
    }
    if (!fits_at(0)) return std::nullopt;
    byte_count good = 0, last = steps; // the largest step that fits is in [good, last]
    while (good != last) {
        byte_count const middle = last - (last - good) / 2;
        if (fits_at(middle)) good = middle;
        else last = middle - 1;
    }
    return its.least + good * its.stride;
}

SUBLET_DECL bool symbolic_plan::is_equal(symbolic_plan const& other) const
{
    if (dims.size() != other.dims.size()) return false;
    for (std::size_t d = 0; d != dims.size(); ++d)
        if (dims[d].least != other.dims[d].least || dims[d].most != other.dims[d].most ||
            dims[d].stride != other.dims[d].stride)
            return false;
    return valid_for == other.valid_for && order == other.order && handoffs == other.handoffs &&
           buffers == other.buffers && buffer_of == other.buffer_of && sizes == other.sizes &&
           stack == other.stack && most_bytes == other.most_bytes && unsized == other.unsized &&
           offset_in_root == other.offset_in_root;
}

} // namespace sublet
