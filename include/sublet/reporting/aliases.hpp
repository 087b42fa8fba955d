// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_ALIASES_HPP
#define SUBLET_REPORTING_ALIASES_HPP

/// Writes which buffers take over bytes of which, as found by aliases(), for people or as JSON.
///
///     std::cout << sublet::aliases(list, planned, {.repeats = true, .paths = true});
///
///     2 aliases, 1 of the next round
///     a -> c: bytes [0, 64) of pool 0, after step blur, before step show; by blur -> show
///     c -> a of the next round: bytes [0, 64) of pool 0, after step show, before step load

#include <sublet/analysis/aliases.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/internal/name_texts.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

namespace detail {

template <text_stream Stream>
void write_aliases(plain_text<Stream> text, std::vector<alias> const& found, name_texts<value_id> values,
                   name_texts<step_id> steps)
{
    auto write_steps = [&](char const* word, std::vector<step_id> const& list) {
        if (list.empty()) return;
        text << word << (list.size() == 1 ? " step " : " steps ");
        for (std::size_t i = 0; i != list.size(); ++i) {
            if (i != 0) text << (i + 1 == list.size() ? " and " : ", ");
            steps.write(text, list[i]);
        }
    };
    std::size_t next = 0;
    for (alias const& a : found) next += a.next_round;
    text << found.size() << (found.size() == 1 ? " alias" : " aliases");
    if (next != 0) text << ", " << next << " of the next round";
    for (alias const& a : found) {
        text << '\n';
        values.write(text, a.before_root);
        text << " -> ";
        values.write(text, a.after_root);
        if (a.next_round) text << " of the next round";
        text << ": " << text.units() << " [" << a.first << ", " << a.last << ") of pool " << a.pool;
        if (a.is_within_step()) {
            write_steps(", within", a.ends);
        } else {
            if (a.next_round && a.ends.empty()) text << ", after the end of the round";
            write_steps(", after", a.ends);
            if (a.next_round && a.begins.empty()) text << ", before the next one begins";
            write_steps(", before", a.begins);
        }
        char const* between = "; by ";
        for (std::vector<step_id> const& path : a.paths) {
            for (std::size_t i = 0; i != path.size(); ++i) {
                text << (i == 0 ? between : " -> ");
                steps.write(text, path[i]);
            }
            between = ", ";
        }
    }
}

template <text_stream Stream>
void write_aliases_json(plain_text<Stream> text, std::vector<alias> const& found, name_texts<value_id> values,
                        name_texts<step_id> steps)
{
    std::vector<sort_key> buffers; // {buffer, root}
    std::size_t count = 0;         // of steps
    auto count_steps = [&](std::vector<step_id> const& list) {
        for (step_id s : list) count = larger(count, std::size_t{+s} + 1);
    };
    for (alias const& a : found) {
        buffers.push_back({+a.before, +a.before_root, 0});
        buffers.push_back({+a.after, +a.after_root, 0});
        count_steps(a.ends);
        count_steps(a.begins);
        for (auto const& path : a.paths) count_steps(path);
    }
    sort_unique(buffers);
    text << "{\n \"sublet_aliases\": 1,\n \"buffers\": [";
    char const* before = "\n  ";
    for (sort_key const& b : buffers) {
        text << before << "{\"id\": " << b.key << ", \"root\": " << b.tie << ", \"name\": ";
        values.write_json(text, value_id::of(b.tie));
        text << '}';
        before = ",\n  ";
    }
    text << (buffers.empty() ? "" : "\n ") << "],\n \"steps\": ";
    steps.write_json_list(text, count);
    text << ",\n \"aliases\": [";
    before = "\n  ";
    for (alias const& a : found) {
        text << before << "{\"before\": " << a.before << ", \"after\": " << a.after
             << ", \"pool\": " << a.pool << ", \"first\": \"" << a.first << "\", \"last\": \"" << a.last
             << "\", \"next_round\": " << (a.next_round ? "true" : "false") << ",\n   \"ends\": ";
        write_json_ids(text, a.ends);
        text << ", \"begins\": ";
        write_json_ids(text, a.begins);
        text << ", \"paths\": [";
        for (std::size_t i = 0; i != a.paths.size(); ++i) {
            if (i != 0) text << ", ";
            write_json_ids(text, a.paths[i]);
        }
        text << "]}";
        before = ",\n  ";
    }
    text << (found.empty() ? "" : "\n ") << "]\n}\n";
}

} // namespace detail

/// Writes to any text stream how many aliases there are, and one line for each: the two buffers, by the value
/// that names them, the bytes, and the steps. Of a listing with its names, otherwise with numbers.
///
/// Ensures:    control characters in names are dropped, and bytes that are not UTF-8 become '?'.
/// Complexity: O(output + names).
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, std::vector<alias> const& found)
{
    std::vector<char> const none;
    detail::write_aliases(detail::plain_text<Stream>{out}, found, detail::name_texts<value_id>(none),
                          detail::name_texts<step_id>(none));
    return out;
}

/// The same for the result of a listing.
template <detail::text_stream Stream>
Stream& operator<<(Stream& out, detail::named_list<alias> const& found)
{
    detail::write_aliases(detail::plain_text<Stream>{out, found.unit}, found,
                          detail::name_texts<value_id>(found.value_names),
                          detail::name_texts<step_id>(found.names));
    return out;
}

/// Writes the aliases as one JSON document. `values`, `steps`: names, if not those of the listing.
///
///     {
///      "sublet_aliases": 1,
///      "buffers": [
///       {"id": 0, "root": 0, "name": "a"},
///       {"id": 2, "root": 2, "name": "c"}
///      ],
///      "steps": ["load", "blur", "show"],
///      "aliases": [
///       {"before": 0, "after": 2, "pool": 0, "first": "0", "last": "64", "next_round": false,
///        "ends": [1], "begins": [2], "paths": [[1, 2]]}
///      ]
///     }
///
/// Version 1 of the schema: `buffers` are those that the aliases name, ascending, each with the value that
/// names it; `steps` are names by id, to the last one that an alias names. `before`, `after` are ids of
/// buffers; `first`, `last` are bytes, as strings of digits; all that is in `ends`, `begins`, `paths` are ids
/// of steps. Members have the meaning of those of `alias`.
///
/// Ensures:    it is UTF-8, as what write_json() writes of a plan. Equal aliases and names give equal bytes.
/// Complexity: O(output + names + aliases log); a name is asked for once.
/// Throws:     whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream>
Stream& write_json(Stream& out, std::vector<alias> const& found, names_of<value_id> const& values = {},
                   names_of<step_id> const& steps = {})
{
    std::vector<char> const none;
    detail::write_aliases_json(detail::plain_text<Stream>{out}, found,
                               detail::name_texts<value_id>(none, values),
                               detail::name_texts<step_id>(none, steps));
    return out;
}
/// The same for the result of a listing.
template <detail::text_stream Stream>
Stream& write_json(Stream& out, detail::named_list<alias> const& found, names_of<value_id> const& values = {},
                   names_of<step_id> const& steps = {})
{
    detail::write_aliases_json(detail::plain_text<Stream>{out}, found,
                               detail::name_texts<value_id>(found.value_names, values),
                               detail::name_texts<step_id>(found.names, steps));
    return out;
}

} // namespace sublet

#endif
