// SPDX-License-Identifier: BSL-1.0
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>

namespace sublet::detail {

/// Moves definitions to the end, from touch `first` on; all others stay in their order.
SUBLET_DECL void put_definitions_last(std::vector<touch>& touches, std::size_t first)
{
    std::vector<touch> definitions;
    std::size_t end = first;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch const t = touches[i];
        if (t.defines()) definitions.push_back(t);
        else touches[end++] = t;
    }
    for (touch t : definitions) touches[end++] = t;
}

/// A step that makes a value and writes it does one thing: joins the two touches, from touch `first` on.
SUBLET_DECL void join_writes(std::vector<touch>& touches, std::size_t first)
{
    std::vector<value_id> written; // ascending
    for (std::size_t i = first; i != touches.size(); ++i)
        if (touches[i].kind == touch::access::write) written.push_back(touches[i].value);
    std::sort(written.begin(), written.end());
    std::vector<value_id> defined;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch& t = touches[i];
        if (!t.defines() || !std::binary_search(written.begin(), written.end(), t.value)) continue;
        if (t.kind == touch::access::view) t.kind = touch::access::write_view;
        defined.push_back(t.value);
    }
    std::sort(defined.begin(), defined.end());
    std::size_t end = first;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch const t = touches[i];
        bool const is_joined =
            t.kind == touch::access::write && std::binary_search(defined.begin(), defined.end(), t.value);
        if (!is_joined) touches[end++] = t;
    }
    touches.resize(end);
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
    std::vector<touch>& touches = record_->touches;
    std::size_t const first = record_->step_begin.empty() ? 0 : record_->step_begin.back();
    if (read_after_def_) detail::put_definitions_last(touches, first);
    if (writes_ && defines_) detail::join_writes(touches, first);
    for (std::size_t i = first; writes_ && i != touches.size(); ++i)
        record_->has_writes |= touches[i].writes() && touches[i].kind != touch::access::def;
    defines_ = read_after_def_ = writes_ = false;
}

} // namespace sublet
