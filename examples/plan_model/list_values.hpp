// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_LIST_VALUES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_LIST_VALUES_HPP

/// Writes a table of all results, one row each, with the columns
///
///     value,made_by,bytes,view_of,offset
///     conv1,node 0 (Conv),401408,,0               in bytes [0, 401408)
///     flat,node 1 (Flatten),401408,conv1,0        a view lies where its base lies
///     found,node 2 (NonZero),,,                   a result without a known size is not planned

#include "network.hpp"
#include "plan_bodies.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <ostream>
#include <string>

namespace plan_model {

/// As in RFC 4180: in quotes if it needs them.
inline std::string csv_field(std::string const& text)
{
    if (text.find_first_of("\",\r\n") == std::string::npos &&
        (text.empty() || (text.front() != ' ' && text.back() != ' ')))
        return text;
    std::string quoted = "\"";
    for (char const c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

inline void list_values(std::ostream& out, network const& net, auto offset_of)
{
    auto left = net.unsized.begin();
    for (sublet::value_id v = 0; v != net.values.size(); ++v) {
        network_value const& value = net.values[v];
        bool const is_sized = left == net.unsized.end() || left->value != v;
        if (!is_sized) ++left;
        if (value.producer == sublet::no_node || value.producer >= net.operations.size()) continue;
        out << csv_field(value.name) << ',' << csv_field(net.operations[value.producer].label) << ',';
        if (is_sized) out << value.bytes;
        out << ',';
        if (value.alias_of != sublet::no_value) out << csv_field(net.values[value.alias_of].name);
        out << ',';
        if (sublet::byte_count const offset = offset_of(v); is_sized && offset != sublet::no_offset)
            out << offset;
        out << '\n';
    }
}

inline constexpr char values_heading[] = "value,made_by,bytes,view_of,offset\n";

inline void list_values(std::ostream& out, network const& net, sublet::memory_plan const& plan)
{
    out << values_heading;
    list_values(out, net, [&](auto v) { return plan.offset_of(v); });
}

/// Those of the network first, then those of each graph inside.
inline void list_values(std::ostream& out, planned_bodies const& all)
{
    out << values_heading;
    for (sublet::program_id i = 0; i != all.of.networks.size(); ++i)
        list_values(out, *all.of.networks[+i], [&](auto v) { return all.planned.offset_of(i, v); });
}

} // namespace plan_model

#endif
