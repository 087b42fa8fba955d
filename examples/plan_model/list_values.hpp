// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_LIST_VALUES_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_LIST_VALUES_HPP

/// Writes a table of all results, one row each, with the columns
///
///     value,node,bytes,view_of,offset
///     conv1,0,401408,,0                a result of node 0, in bytes [0, 401408)
///     flat,1,401408,conv1,0            a view lies where its base lies
///     found,2,,,                       a result without a known size is not planned

#include "network.hpp"

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

inline void list_values(std::ostream& out, network const& net, sublet::memory_plan const& plan)
{
    out << "value,node,bytes,view_of,offset\n";
    auto left = net.unsized.begin();
    for (sublet::value_id v = 0; v != net.values.size(); ++v) {
        network_value const& value = net.values[v];
        if (value.producer == sublet::no_node) continue;
        bool const is_sized = left == net.unsized.end() || left->value != v;
        if (!is_sized) ++left;
        out << csv_field(value.name) << ',' << value.producer << ',';
        if (is_sized) out << value.bytes;
        out << ',';
        if (value.alias_of != sublet::no_value) out << csv_field(net.values[value.alias_of].name);
        out << ',';
        if (sublet::byte_count const offset = plan.offset_of(v); is_sized && offset != sublet::no_offset)
            out << offset;
        out << '\n';
    }
}

} // namespace plan_model

#endif
