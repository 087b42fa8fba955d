// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_TABLE_CELL_HPP
#define SUBLET_REPORTING_DETAIL_TABLE_CELL_HPP

/// A cell of a table for people: its text and its width in characters, so that columns can be aligned
/// before anything is written; names shortened in the middle, and percents.

#include <sublet/core/units.hpp>
#include <sublet/reporting/internal/printable_text.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <vector>

namespace sublet::detail {

struct table_cell {
    std::vector<char> text;
    std::size_t characters = 0;

    void operator<<(char one) { text.push_back(one), ++characters; }
    void operator<<(char const* ascii);
};

/// The name; a long one without its middle, since both ends matter: "node 107 (max", "backward)".
template <class Id>
void write_name(table_cell& cell, names_of<Id> const& names, Id of)
{
    constexpr std::size_t widest = 40, front = 13, back = widest - front - 3;
    std::vector<char> name;
    names.read(name, of);
    std::size_t const characters = keep_printable(name);
    std::size_t begun = 0;
    for (char c : name) {
        bool const begins = begins_character(c);
        begun += begins ? 1 : 0;
        if (characters > widest && begun > front && begun <= characters - back) {
            if (begins && begun == front + 1) cell << "...";
            continue;
        }
        cell.text.push_back(c);
        cell.characters += begins ? 1 : 0;
    }
}

inline void write_step(table_cell& cell, names_of<step_id> const& steps, step_id s, char const* if_none)
{
    if (s == no_step) return cell << if_none;
    if (!steps.is_given()) cell << "step ";
    write_name(cell, steps, s);
}

/// part / whole in hundredths of a percent, rounded.
void write_percent(table_cell& cell, byte_count part, byte_count whole);

} // namespace sublet::detail

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/reporting/impl/table_cell.ipp>
#endif

#endif
