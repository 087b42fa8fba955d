// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_DETAIL_GROWING_BLOCKS_HPP
#define SUBLET_EXECUTION_DETAIL_GROWING_BLOCKS_HPP

/// What a growing arena of the host and one of a device share: the plan for every shape, and pages for each
/// of its pools, which follow the shape that runs.

#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/execution/detail/arena_blocks.hpp>
#include <sublet/execution/errors.hpp>
#include <sublet/execution/storage.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace sublet::detail {

/// One range of addresses for each pool of a plan for every shape.
template <class Pages>
class growing_blocks : public arena_blocks {
public:
    /// `reserve(bytes, alignment)` returns the pages.
    /// Throws: precondition_error for an alignment that is no power of two; whatever `reserve` throws.
    template <class Reserve>
    growing_blocks(symbolic_plan plan, Reserve reserve)
        : arena_blocks(std::move(plan), [](arena_blocks& self, pool_id pool, byte_count bytes) {
              static_cast<growing_blocks&>(self).resize(pool, bytes);
          })
    {
        table<pool_id, byte_count> alignment(most_.size(), 1);
        for (symbolic_plan::buffer const& b : this->plan().buffers) {
            SUBLET_EXPECTS(b.pool < most_.size(),
                           "sublet: value % lies in pool %, but its plan has only % pools", b.root, b.pool,
                           most_.size());
            SUBLET_EXPECTS((b.alignment & (b.alignment - 1)) == 0,
                           "sublet: value % has the alignment %, but an executor takes only powers of two",
                           b.root, b.alignment);
            alignment[b.pool] = larger(alignment[b.pool], b.alignment);
        }
        pages_.reserve(most_.size());
        for (pool_id pool = 0; pool != most_.size(); ++pool) {
            pages_of_.push_back(pages_.size());
            if (most_[pool] == 0) continue;
            pages_.push_back(reserve(most_[pool], alignment[pool]));
            addresses_[pool] = pages_.back().first();
        }
    }
    /// Throws: unsound_plan with the error of a planner's result without a plan.
    template <class Planned>
    static symbolic_plan const& plan_of(Planned const& planned)
    {
        if (!planned) throw unsound_plan(planned.error());
        return planned.plan;
    }

    // As the members of growing_arena with these names.
    [[nodiscard]] arena at(shape_view one)
    {
        arena made(this->plan().at(one));
        blocks_of_arena::give(made, *this, one);
        return made;
    }

    [[nodiscard]] byte_count bytes() const noexcept
    {
        byte_count sum = 0;
        for (Pages const& its : pages_) sum += its.bytes();
        return sum;
    }
    [[nodiscard]] bool is_growing() const noexcept
    {
        for (Pages const& its : pages_)
            if (!its.is_reserved()) return false;
        return true;
    }

private:
    void resize(pool_id pool, byte_count bytes)
    {
        pages_[pages_of_[pool]].resize(bytes);
        bytes_[pool] = bytes;
    }

    std::vector<Pages> pages_;             // of the pools that have bytes
    table<pool_id, std::size_t> pages_of_; // the index of its pages
};

} // namespace sublet::detail

#endif
