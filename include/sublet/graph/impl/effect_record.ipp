// SPDX-License-Identifier: BSL-1.0

/// Closes a step in passes over its touches, each made only where flags say that it has something to do: a
/// stable partition puts definitions last, and the others join reads and writes with the definition of the
/// same value, found by binary search.

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/graph/internal/effect_record.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace sublet::detail {

/// Moves definitions to the end, from touch `first` on; all others stay in their order.
SUBLET_DECL void put_definitions_last(std::vector<touch>& touches, std::size_t first)
{
    std::size_t const last = touches.size();
    reserve_more(touches, last - first); // nothing throws from here on
    std::size_t end = first;
    for (std::size_t i = first; i != last; ++i) {
        touch const t = touches[i];
        if (t.defines()) touches.push_back(t);
        else touches[end++] = t;
    }
    touches.erase(touches.begin() + static_cast<std::ptrdiff_t>(end),
                  touches.begin() + static_cast<std::ptrdiff_t>(last));
}

/// A step that makes a value and writes it does one thing: joins the two touches, from touch `first` on.
SUBLET_DECL void join_writes(std::vector<touch>& touches, std::size_t first)
{
    std::vector<value_id> written; // ascending
    for (std::size_t i = first; i != touches.size(); ++i)
        if (touches[i].kind == touch::access::write) written.push_back(touches[i].value);
    sort_ascending(written);
    std::vector<value_id> defined;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch& t = touches[i];
        if (!t.defines() || !std::binary_search(written.begin(), written.end(), t.value)) continue;
        if (t.kind == touch::access::view) t.kind = touch::access::write_view;
        if (t.kind == touch::access::allocate) t.kind = touch::access::def; // and has contents
        defined.push_back(t.value);
    }
    sort_ascending(defined);
    std::size_t end = first;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch const t = touches[i];
        bool const is_joined =
            t.kind == touch::access::write && std::binary_search(defined.begin(), defined.end(), t.value);
        if (!is_joined) touches[end++] = t;
    }
    shorten(touches, end);
}

/// A step that makes a view and reads it reads the bytes as they are then: joins the touches, from touch
/// `first` on. Where it writes through the view, too, there are two: one reads, one writes.
SUBLET_DECL void join_reads(std::vector<touch>& touches, std::size_t first)
{
    std::vector<value_id> read, viewed; // ascending
    for (std::size_t i = first; i != touches.size(); ++i)
        if (touches[i].kind <= touch::access::use_early) read.push_back(touches[i].value);
    sort_ascending(read);
    for (std::size_t i = first; i != touches.size(); ++i)
        if (touches[i].makes_view() && std::binary_search(read.begin(), read.end(), touches[i].value))
            viewed.push_back(touches[i].value);
    if (viewed.empty()) return;
    sort_ascending(viewed);
    std::size_t end = first;
    for (std::size_t i = first; i != touches.size(); ++i) {
        touch const t = touches[i];
        bool const is_own_view = std::binary_search(viewed.begin(), viewed.end(), t.value);
        if (is_own_view && t.kind <= touch::access::use_early) continue;
        if (is_own_view && t.kind == touch::access::view)
            touches[end++] = {t.value, touch::access::read_view};
        else touches[end++] = t;
    }
    shorten(touches, end);
    std::size_t const last = touches.size();
    for (std::size_t i = first; i != last; ++i)
        if (touches[i].kind == touch::access::write_view &&
            std::binary_search(viewed.begin(), viewed.end(), touches[i].value))
            touches.push_back({touches[i].value, touch::access::read_view});
}

SUBLET_DECL void effect_record::next_step()
{
    reserve_more(step_begin); // if it throws, the last step is still open
    close_step();
    step_begin.push_back(static_cast<std::uint32_t>(touches.size()));
}

SUBLET_DECL void effect_record::close_step()
{
    std::size_t const first = step_begin.empty() ? 0 : step_begin.back();
    if (reads_after_def) put_definitions_last(touches, first);
    if (writes && defines) join_writes(touches, first);
    if (reads && views) join_reads(touches, first);
    for (std::size_t i = first; writes && i != touches.size(); ++i)
        has_writes |= touches[i].writes() && !touches[i].makes();
    defines = writes = reads = views = reads_after_def = false;
}

} // namespace sublet::detail
