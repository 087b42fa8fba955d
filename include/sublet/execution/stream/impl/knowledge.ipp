// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_STREAM_IMPL_KNOWLEDGE_IPP
#define SUBLET_EXECUTION_STREAM_IMPL_KNOWLEDGE_IPP

#include <sublet/execution/stream/knowledge.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

namespace sublet::detail {

SUBLET_DECL std::uint32_t stream_knowledge::mark(std::uint32_t stream)
{
    ++row_of(now_, stream)[stream];
    stream_of_.push_back(stream);
    at_mark_.insert(at_mark_.end(), row_of(now_, stream), row_of(now_, stream) + streams_);
    return static_cast<std::uint32_t>(stream_of_.size() - 1);
}

SUBLET_DECL bool stream_knowledge::covers(std::vector<std::uint32_t> const& marks, std::uint32_t stream) const
{
    std::uint32_t const last = row_of(now_, stream)[stream];
    for (std::uint32_t mark : marks)
        if (row_of(at_mark_, mark)[stream] >= last) return true;
    return false;
}

SUBLET_DECL bool stream_knowledge::knows(std::uint32_t const* clock, std::uint32_t mark) const
{
    std::uint32_t const on = stream_of_[mark];
    return clock[on] >= row_of(at_mark_, mark)[on];
}

SUBLET_DECL void stream_knowledge::merge(std::uint32_t* clock, std::uint32_t mark)
{
    std::uint32_t const* const learnt = row_of(at_mark_, mark);
    for (std::size_t s = 0; s != streams_; ++s) clock[s] = larger(clock[s], learnt[s]);
}

} // namespace sublet::detail

#endif
