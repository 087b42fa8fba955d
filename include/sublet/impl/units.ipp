// SPDX-License-Identifier: BSL-1.0
#include <sublet/impl/config.hpp>
#include <sublet/units.hpp>

// --- contract --------------------------------------------------------------------------------------------

#if !defined(__cpp_exceptions)
#include <cstdio>
#include <cstdlib>
#endif

namespace sublet {

SUBLET_DECL precondition_error::precondition_error(char const* sentence) noexcept
{
    std::size_t length = 0;
    for (; sentence[length] != '\0' && length + 1 != sizeof sentence_; ++length)
        sentence_[length] = sentence[length];
    sentence_[length] = '\0';
    if (sentence[length] != '\0')
        for (std::size_t i = length - 3; i != length; ++i) sentence_[i] = '.';
}

} // namespace sublet

namespace sublet::detail {

[[noreturn]] SUBLET_DECL void broken_precondition(char const* sentence)
{
#if defined(__cpp_exceptions)
    throw precondition_error(sentence);
#else
    std::fputs(sentence, stderr);
    std::fputc('\n', stderr);
    std::abort();
#endif
}

[[noreturn]] SUBLET_DECL void broken_precondition(char const* sentence, sentence_part a, sentence_part b,
                                                  sentence_part c, sentence_part d)
{
    sentence_part const parts[] = {a, b, c, d};
    char text[1024];
    std::size_t length = 0, next = 0;
    auto append = [&](char const* piece) {
        while (*piece != '\0' && length + 1 != sizeof text) text[length++] = *piece++;
    };
    for (; *sentence != '\0'; ++sentence) {
        if (*sentence != '%' || next == 4) {
            char const one[] = {*sentence, '\0'};
            append(one);
            continue;
        }
        sentence_part const part = parts[next++];
        if (part.text != nullptr) append(part.text);
        if (part.text != nullptr && (part.text[0] != '-' || part.text[1] != '\0')) continue;
        char digits[21];
        char* first = digits + 20;
        *first = '\0';
        std::uint64_t rest = part.number;
        do *--first = static_cast<char>('0' + rest % 10);
        while ((rest /= 10) != 0);
        append(first);
    }
    text[length] = '\0';
    broken_precondition(text);
}

[[noreturn]] SUBLET_DECL void broken_order(std::span<std::uint32_t const> order, std::size_t count,
                                           char const* item)
{
    std::vector<unsigned char> named(count);
    for (std::uint32_t i : order) {
        SUBLET_EXPECTS(i < count, "sublet: an order names % %, but there are only % of them", item, i, count);
        SUBLET_EXPECTS(named[i] == 0, "sublet: an order names % % twice", item, i);
        named[i] = 1;
    }
    std::size_t missing = 0;
    while (missing != count && named[missing] != 0) ++missing;
    broken_precondition("sublet: an order does not name % %", item, missing);
}

} // namespace sublet::detail

// --- live range lists ------------------------------------------------------------------------------------

namespace sublet {

SUBLET_DECL live_range_lists::live_range_lists(live_range_lists::source method, step_id positions,
                                               std::vector<std::uint32_t> first,
                                               std::vector<live_range> ranges)
    : method_(method), positions_(positions), first_(std::move(first)), ranges_(std::move(ranges))
{
}

SUBLET_DECL std::size_t live_range_lists::max_overlap(std::vector<live_range> const& ranges,
                                                      step_id positions)
{
    std::vector<std::size_t> begins(std::size_t{positions} + 1), ends = begins;
    for (live_range r : ranges) ++begins[r.first], ++ends[r.last];
    std::size_t live = 0, most = 0;
    for (std::size_t at = 0; at != begins.size(); ++at) {
        live = live + begins[at] - ends[at];
        if (most < live) most = live;
    }
    return most;
}

} // namespace sublet

namespace sublet::detail {

SUBLET_DECL void range_collector::add(value_id v, live_range range)
{
    if (is_empty(range)) return;
    std::uint32_t next = first_[v];
    for (; next != none && found_[next].range.first <= range.last; next = found_[next].next)
        range = hull(range, found_[next].range);
    if (next != first_[v]) {
        found_[first_[v]] = {range, next};
    } else {
        first_[v] = static_cast<std::uint32_t>(found_.size());
        found_.push_back({range, next});
    }
}

SUBLET_DECL live_range_lists range_collector::lists(live_range_lists::source method, step_id positions) const
{
    SUBLET_EXPECTS(found_.size() < none, "sublet: more live ranges than 32-bit ids");
    std::vector<std::uint32_t> begin{0};
    std::vector<live_range> ranges;
    begin.reserve(first_.size() + 1);
    ranges.reserve(found_.size());
    for (std::uint32_t first : first_) {
        for (std::uint32_t i = first; i != none; i = found_[i].next) ranges.push_back(found_[i].range);
        begin.push_back(static_cast<std::uint32_t>(ranges.size()));
    }
    return {method, positions, std::move(begin), std::move(ranges)};
}

} // namespace sublet::detail
