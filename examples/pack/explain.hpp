// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_EXPLAIN_HPP
#define SUBLET_EXAMPLES_PACK_EXPLAIN_HPP

#include "read_lifetimes.hpp"

#include <sublet/core/placement_problem.hpp>
#include <sublet/core/units.hpp>

#include <cstddef>
#include <string>

namespace pack {

inline char const* word_of(sublet::placement::outcome status)
{
    switch (status) {
    case sublet::placement::outcome::optimal: return "optimal";
    case sublet::placement::outcome::feasible: return "feasible";
    case sublet::placement::outcome::limit: return "limit";
    default: return "infeasible";
    }
}

/// The proof of the lower bound in terms of the table.
inline std::string explain(sublet::placement::proof const& proof, lifetimes const& table)
{
    auto name = [&](std::size_t i) {
        sublet::buffer_id const b = proof.buffers[i];
        return in_quotes(table.id_of(b)) + " (row " + std::to_string(b + 1) + ')';
    };
    auto names = [&] {
        std::size_t const shown = proof.buffers.size() < 8 ? proof.buffers.size() : 8;
        std::string text;
        for (std::size_t i = 0; i != shown; ++i) text += (i == 0 ? "" : ", ") + name(i);
        if (std::size_t const more = proof.buffers.size() - shown; more != 0)
            text += " and " + std::to_string(more) + " more";
        return text;
    };
    std::string const bytes = std::to_string(proof.bytes) + " bytes";
    switch (proof.kind) {
    case sublet::placement::proof::reason::live_bytes:
        return bytes + " are alive at position " + std::to_string(proof.position) +
               (table.problem.clocks.threads > 1 ? " of thread " + std::to_string(proof.thread) : "");
    case sublet::placement::proof::reason::antichain:
        return "these need " + bytes + " and none may take over those of another: " + names();
    case sublet::placement::proof::reason::top_of_pin:
        return name(0) + " ends at " + bytes + " at every allowed offset";
    case sublet::placement::proof::reason::pin_misaligned:
        return name(0) + " is pinned to an offset that violates its alignment";
    case sublet::placement::proof::reason::pins_clash:
        return name(0) + " and " + name(1) + " are pinned to overlapping bytes";
    case sublet::placement::proof::reason::exhausted:
        return "stacked in any order these need " + bytes + ": " + names();
    default: return "no proof";
    }
}

} // namespace pack

#endif
