// SPDX-License-Identifier: BSL-1.0

/// vector_clocks: rows of one flat array each for the streams and for the marks; a join is a maximum by
/// column, and one column answers whether a mark was reached.

#include <sublet/core/units.hpp>
#include <sublet/execution/detail/vector_clocks.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

SUBLET_DECL std::uint32_t vector_clocks::mark(std::uint32_t stream)
{
    ++row_of(clock_, stream)[stream];
    stream_of_.push_back(stream);
    mark_clock_.insert(mark_clock_.end(), row_of(clock_, stream), row_of(clock_, stream) + streams_);
    return static_cast<std::uint32_t>(stream_of_.size() - 1);
}

SUBLET_DECL bool vector_clocks::covers(std::vector<std::uint32_t> const& marks, std::uint32_t stream) const
{
    std::uint32_t const last = row_of(clock_, stream)[stream];
    for (std::uint32_t mark : marks)
        if (row_of(mark_clock_, mark)[stream] >= last) return true;
    return false;
}

SUBLET_DECL bool vector_clocks::is_after(std::uint32_t const* clock, std::uint32_t mark) const
{
    std::uint32_t const on = stream_of_[mark];
    return clock[on] >= row_of(mark_clock_, mark)[on];
}

SUBLET_DECL void vector_clocks::merge(std::uint32_t* clock, std::uint32_t mark)
{
    std::uint32_t const* const other = row_of(mark_clock_, mark);
    for (std::size_t s = 0; s != streams_; ++s) clock[s] = larger(clock[s], other[s]);
}

} // namespace sublet::detail
