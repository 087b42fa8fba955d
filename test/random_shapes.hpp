// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_SHAPES_HPP
#define SUBLET_TEST_RANDOM_SHAPES_HPP

/// Random programs with sizes that are formulas in up to three open dimensions.

#include "operations.hpp"
#include "random_program.hpp"
#include "random_source.hpp"

#include <sublet/core/symbolic_plan.hpp>

#include <algorithm>
#include <vector>

/// Up to three small ranges, some with strides, some of one size.
inline std::vector<sublet::dimension> draw_dimensions(random_source& pick)
{
    std::vector<sublet::dimension> dims(1 + pick.below(3));
    for (sublet::dimension& d : dims) {
        d.least = pick.below(4);
        d.most = d.least + pick.below(7);
        d.stride = 1 + pick.below(3);
    }
    return dims;
}

/// A random size from `bytes`: fixed, a product, a quotient, a maximum, or a sum of these.
inline sublet::formula draw_formula(random_source& pick, sublet::byte_count bytes, std::size_t dims)
{
    if (bytes == sublet::no_size) return sublet::formula::unknown();
    auto symbol = [&] { return sublet::symbol(pick.below(static_cast<std::uint32_t>(dims))); };
    sublet::formula const fixed = bytes, a = symbol(), b = symbol();
    switch (pick.below(9)) {
    case 0: return fixed * (1 + pick.below(20));
    case 1: return fixed * a * b;
    case 2: return fixed * sublet::ceil_divide(a + pick.below(3), 1 + pick.below(4));
    case 3: return sublet::round_up(fixed * a, 1 + pick.below(9));
    case 4: return sublet::larger_of(fixed * a, fixed + pick.below(40));
    case 5: return fixed + pick.below(9) * a + pick.below(3) * b;
    case 6: return sublet::larger_of(a * b, fixed * b);
    default: return fixed * a;
    }
}

/// A shape in the ranges.
inline sublet::shape draw_shape(random_source& pick, std::vector<sublet::dimension> const& dims)
{
    sublet::shape one;
    for (sublet::dimension const& d : dims)
        one.push_back(d.least +
                      d.stride * pick.below(static_cast<std::uint32_t>((d.most - d.least) / d.stride + 1)));
    return one;
}

/// Every shape in the ranges, or some if there are more than `most`; the last one has the largest sizes.
inline std::vector<sublet::shape> some_shapes(random_source& pick, std::vector<sublet::dimension> const& dims,
                                              std::size_t most)
{
    std::vector<sublet::shape> shapes;
    sublet::shape least, now;
    for (sublet::dimension const& d : dims) least.push_back(d.least);
    std::size_t count = 1;
    for (sublet::dimension const& d : dims) count *= (d.most - d.least) / d.stride + 1;
    if (count > most) {
        shapes.push_back(least);
        while (shapes.size() + 1 < most) shapes.push_back(draw_shape(pick, dims));
        for (sublet::dimension const& d : dims)
            now.push_back(d.least + (d.most - d.least) / d.stride * d.stride);
        shapes.push_back(now);
        return shapes;
    }
    for (std::size_t number = 0; number != count; ++number) {
        now = least;
        std::size_t rest = number;
        for (std::size_t i = 0; i != dims.size(); ++i) {
            std::size_t const sizes = (dims[i].most - dims[i].least) / dims[i].stride + 1;
            now[i] += rest % sizes * dims[i].stride;
            rest /= sizes;
        }
        shapes.push_back(now);
    }
    return shapes;
}

struct random_shapes {
    random_program drawn;
    sublet::symbolic_options options;

    /// With an explicit order it is a list without edges, which would have to agree with the order.
    sublet::snapshot program() const { return drawn.order.empty() ? drawn.program() : drawn.without_edges(); }
};

/// Equal sizes mostly stay equal: otherwise there would be no in-place pairs. Some sizes are no formulas.
inline random_shapes draw_shapes(random_source& pick, std::uint32_t most_nodes = 8)
{
    random_program p = draw_program(pick, most_nodes);
    for (auto const& node : p.nodes)
        if (!node.uses_at_end.empty()) p.order.clear(); // uses at node ends need edges
    std::vector<sublet::dimension> const dims = draw_dimensions(pick);
    std::vector<sublet::formula> bytes, usual;
    for (unsigned i = 0; i != 128; ++i) usual.push_back(draw_formula(pick, i, dims.size()));
    for (sublet::byte_count b : p.bytes)
        bytes.push_back(b < 128 && pick.below(4) != 0 ? usual[b] : draw_formula(pick, b, dims.size()));
    std::vector<sublet::formula> known = bytes; // of those that are by shape
    if (pick.below(4) == 0)
        for (sublet::formula& one : bytes)
            if (one.is_known() && pick.below(3) == 0) one = sublet::formula::by_shape();
    for (sublet::value_id v = 0; v != bytes.size(); ++v) // a view is no larger than its root, for any shape
        for (sublet::value_id root = v; p.alias_of[root] != sublet::no_value;) {
            root = p.alias_of[root];
            bytes[v] = bytes[root];
            known[v] = known[root];
        }
    bool is_by_shape = false;
    for (sublet::formula const& one : bytes) is_by_shape = is_by_shape || one.is_by_shape();
    std::vector<sublet::pool_limits> pools;
    if (pick.below(4) == 0) pools = {{.alignment = 1 + pick.below(12)}, {}, {}};
    random_shapes all{p,
                      {.bytes = bytes,
                       .dims = dims,
                       .alignment = p.alignment,
                       .role = p.role,
                       .alias_of = p.alias_of,
                       .pool = of_roots(p.pool, p.alias_of),
                       .eligible = of_classes(p.eligible, p.alias_of),
                       .pools = pools,
                       .order = p.order,
                       .goal = pick.below(2) == 0 ? sublet::symbolic_options::goal_kind::mean
                                                  : sublet::symbolic_options::goal_kind::worst}};
    if (is_by_shape)
        all.options.bytes_at = [known](sublet::value_id v, auto sizes) { return known[v].at(sizes); };
    for (unsigned i = pick.below(3); i != 0; --i)
        all.options.samples.push_back({draw_shape(pick, dims), pick.below(3)});
    // The order was drawn for views that may be smaller: larger ones can overlap where it exchanges accesses.
    sublet::lifetimes_options whole{.role = p.role, .order = p.order, .alias_of = p.alias_of};
    if (!p.order.empty() && !lifetimes(all.program(), whole)) {
        all.drawn.order.clear();
        all.options.order.clear();
    }
    return all;
}

#endif
