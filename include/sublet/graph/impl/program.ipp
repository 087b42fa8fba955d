// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

namespace sublet::detail {

/// Moves reads before writes, from touch `first` on; both stay in their order.
SUBLET_DECL void put_reads_first(std::vector<touch>& touches, std::size_t first)
{
    std::vector<touch> writes;
    std::size_t reads_end = first;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch const t = touches[i];
        if (t.kind == touch::access::def) writes.push_back(t);
        else touches[reads_end++] = t;
    }
    for (touch t : writes) touches[reads_end++] = t;
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL void effect_sink::next_step()
{
    close_step();
    record_->step_begin.push_back(static_cast<std::uint32_t>(record_->touches.size()));
}

SUBLET_DECL void effect_sink::close_step()
{
    if (read_after_write_) detail::put_reads_first(record_->touches, record_->step_begin.back());
    writes_ = read_after_write_ = false;
}

} // namespace sublet
