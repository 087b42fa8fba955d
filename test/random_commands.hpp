// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_COMMANDS_HPP
#define SUBLET_TEST_RANDOM_COMMANDS_HPP

/// Random commands on streams, and their happens-before relation by all pairs.

#include "random_source.hpp"

#include <sublet/checking/check_streams.hpp>

#include <cstddef>
#include <vector>

inline sublet::stream_commands draw_commands(random_source& pick, std::uint32_t count)
{
    using namespace sublet;
    stream_commands list;
    std::uint32_t const streams = 1 + pick.below(4), events = 1 + pick.below(4);
    list.streams = streams;
    std::uint32_t const blocks = 1 + pick.below(3);
    for (std::uint32_t b = 0; b != blocks; ++b) list.blocks.push_back({8, pick.below(3) == 0});
    for (std::uint32_t i = 0; i != count; ++i) {
        std::uint32_t const s = pick.below(streams);
        switch (pick.below(12)) {
        case 0:
            list.operations.push_back({stream_commands::operation_kind::allocate, s, pick.below(blocks)});
            break;
        case 1:
            list.operations.push_back({stream_commands::operation_kind::release, s, pick.below(blocks)});
            break;
        case 2:
        case 3:
        case 4:
            list.operations.push_back({stream_commands::operation_kind::record, s, pick.below(events)});
            break;
        case 5:
        case 6:
        case 7:
            list.operations.push_back({stream_commands::operation_kind::wait, s, pick.below(events)});
            break;
        case 8:
            list.operations.push_back({pick.below(2) == 0 ? stream_commands::operation_kind::join
                                                          : stream_commands::operation_kind::join_all,
                                       s, no_step});
            break;
        default:
            list.operations.push_back({stream_commands::operation_kind::work, s, i});
            for (std::uint32_t k = 0, n = 1 + pick.below(2); k != n; ++k) {
                byte_count const begin = pick.below(8),
                                 end = begin + pick.below(9 - static_cast<std::uint32_t>(begin));
                list.touches.push_back(
                    {i, pick.below(blocks), begin, end + (pick.below(99) == 0), i, pick.below(2) == 0});
            }
        }
    }
    return list;
}

/// [a][b]: a comes before b, in every order.
inline std::vector<std::vector<bool>> order_by_pairs(sublet::stream_commands const& list)
{
    using namespace sublet;
    auto const& operations = list.operations;
    std::vector<std::vector<bool>> before(operations.size(), std::vector<bool>(operations.size(), false));
    for (std::size_t b = 0; b != operations.size(); ++b) {
        for (std::size_t a = 0; a != b; ++a) {
            bool const is_same = operations[a].stream == operations[b].stream &&
                                 operations[a].what != stream_commands::operation_kind::join_all &&
                                 operations[b].what != stream_commands::operation_kind::join_all;
            // The caller waits in a join, and issues what follows.
            bool const is_join = operations[a].what == stream_commands::operation_kind::join_all ||
                                 operations[a].what == stream_commands::operation_kind::join;
            bool const joins_all = operations[b].what == stream_commands::operation_kind::join_all;
            before[a][b] = is_same || is_join || joins_all;
        }
        if (operations[b].what == stream_commands::operation_kind::wait) {
            std::size_t last = operations.size();
            for (std::size_t a = 0; a != b; ++a)
                if (operations[a].what == stream_commands::operation_kind::record &&
                    operations[a].which == operations[b].which)
                    last = a;
            if (last != operations.size()) before[last][b] = true;
        }
    }
    for (std::size_t k = 0; k != operations.size(); ++k)
        for (std::size_t a = 0; a != k; ++a)
            if (before[a][k])
                for (std::size_t b = k + 1; b != operations.size(); ++b)
                    if (before[k][b]) before[a][b] = true;
    return before;
}

#endif
