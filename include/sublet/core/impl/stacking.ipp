// SPDX-License-Identifier: BSL-1.0

/// One pass in the order: what lies below a buffer has its offset already. A first pass adds up all sizes, so
/// that no sum in the second one has to be checked.

#include <sublet/core/internal/arithmetic.hpp>
#include <sublet/core/stacking.hpp>
#include <sublet/impl/config.hpp>

namespace sublet {

SUBLET_DECL verdict stacking::place(std::span<byte_count const> sizes, stacking::offsets& result) const
{
    std::size_t const buffers = order.size();
    SUBLET_EXPECTS(sizes.size() == buffers, "sublet: a stacking of % buffers is asked with % sizes", buffers,
                   sizes.size());
    byte_count sum = 0; // of all that may lie below a buffer
    bool fits = true;
    for (stacking::layer const& its : order) {
        byte_count const size = sizes[its.buffer], padding = its.alignment - 1;
        fits = fits && detail::sum_fits(sum, size) && detail::sum_fits(sum + size, padding);
        sum += size + padding;
        if (its.pinned == no_offset) continue;
        fits = fits && detail::sum_fits(sum, its.pinned);
        sum += its.pinned;
    }
    SUBLET_EXPECTS(fits, "sublet: the sizes of a shape exceed 64 bits together");
    result.of.resize(buffers);
    result.bytes.assign(pools, 0);
    for (std::size_t i = 0; i != buffers; ++i) {
        stacking::layer const& its = order[i];
        byte_count begin = its.over == no_buffer ? 0 : result.of[its.over];
        for (buffer_id under : below_of(i)) begin = detail::larger(begin, result.of[under] + sizes[under]);
        byte_count const mask = its.alignment - 1;
        begin = (its.alignment & mask) == 0 ? (begin + mask) & ~mask
                                            : (begin + mask) / its.alignment * its.alignment;
        byte_count const size = sizes[its.buffer];
        if (its.pinned != no_offset) {
            if (begin > its.pinned && size != 0)
                return counterexample{fault::off_pin, counterexample::buffers{.buffer = its.buffer,
                                                                              .pool = its.pool,
                                                                              .begin = begin,
                                                                              .needed = its.pinned}};
            begin = detail::larger(begin, its.pinned); // without bytes it may not lower what lies above it
        }
        if (its.over != no_buffer && (size > sizes[its.over] || begin != result.of[its.over]))
            return counterexample{fault::clash, counterexample::buffers{.buffer = its.over,
                                                                        .other = its.buffer,
                                                                        .pool = its.pool,
                                                                        .begin = begin,
                                                                        .end = begin + size}};
        result.of[its.buffer] = begin;
        byte_count& height = result.bytes[its.pool];
        if (size != 0) height = detail::larger(height, begin + size);
    }
    return {};
}

} // namespace sublet
