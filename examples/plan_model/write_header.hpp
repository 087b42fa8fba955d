// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_WRITE_HEADER_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_WRITE_HEADER_HPP

/// Writes a plan of one order as a header, for firmware that cannot plan at run time: C++17, or C99 and
/// later. It includes nothing of the library, and the compiler that reads it proves the plan again.
///
///     bytes
///       │   ┌───────┐
///       │   │   c   │
///       │   └───────┘
///       │       ┌───┐
///       │       │ b │
///       │  ┌────└───┘─┐
///       │  │    a     │
///       └──└────↑─────┘─── steps
///
/// b begins at the arrow. Of the buffers that are alive then, a is the next below and c the next above. Both
/// are checked, and these are disjoint already: so b is disjoint from all of them, after two comparisons. In
/// C these are two assertions per buffer. In C++ each row of the table names the buffer below, and a list of
/// the buffers alive at a step, linked in the order of their offsets, confirms it: a wrong name fails the
/// proof.

#include "../command_line.hpp"
#include "network.hpp"

#include <sublet/core/formula.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/symbolic_plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/c.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <ostream>
#include <queue>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace plan_model {

/// What the first comment of a header says of its origin.
struct header_origin {
    std::string model;    ///< the name of its file, without folders
    std::string settings; ///< the options that make the same plan: "--align 64 --in-place on"
    std::string file;     ///< the name of the header, without folders; the names in the header begin with it
};

/// A plan, as the two kinds of header show it. Steps are positions in the order of the plan.
struct header_table {
    static constexpr std::uint32_t none = ~std::uint32_t{0};

    /// Storage that values share: views, and results in place of operands of the same size.
    struct buffer {
        sublet::byte_count offset = 0, bytes = 0;
        std::uint32_t first = 0, last = 0;        ///< the steps in which its bytes are in use, both included
        std::uint32_t row = none;                 ///< its first row of the most bytes
        std::uint32_t below = none, above = none; ///< the nearest that are alive when it begins
    };
    struct row {
        std::string const* name = nullptr;
        std::string identifier;      ///< unlike those of all other rows
        std::uint32_t buffer = none; ///< `none`: a value of 0 bytes
        sublet::byte_count offset = 0, bytes = 0;
        std::uint32_t first = 0, last = 0;
    };

    std::vector<row> rows;              ///< in the order of the network
    std::vector<buffer> buffers;        ///< in the order of their first steps
    std::vector<sublet::node_id> order; ///< empty: that of the file
    sublet::byte_count arena_bytes = 0, alignment = 1;
    std::size_t steps = 0;

    /// Whether 32 bits hold all sizes and offsets.
    bool is_small() const
    {
        return std::max(arena_bytes, alignment) <= std::numeric_limits<std::uint32_t>::max();
    }
};

// --- names -----------------------------------------------------------------------------------------------

inline bool is_letter_or_digit(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/// The text with one '_' for each run of other characters than letters and digits of ASCII, and none at the
/// ends; at most 100 characters. It may begin with a digit or be empty.
inline std::string identifier_part(std::string_view text)
{
    std::string part;
    for (char c : text) {
        if (part.size() == 100) break;
        if (is_letter_or_digit(c)) part += c;
        else if (!part.empty() && part.back() != '_') part += '_';
    }
    if (!part.empty() && part.back() == '_') part.pop_back();
    return part;
}

/// Makes identifiers from names, each unlike those before: of values with the same one, the later ones end in
/// _2, _3 ..., the lowest that is free.
class distinct_identifiers {
public:
    std::string of(std::string_view name)
    {
        std::string part = identifier_part(name);
        if (part.empty()) part = "value";
        if (taken_.insert(part).second) return part;
        std::size_t& number = numbers_.try_emplace(part, 1).first->second;
        for (;;) {
            std::string numbered = part + '_' + std::to_string(++number);
            if (taken_.insert(numbered).second) return numbered;
        }
    }

private:
    std::unordered_set<std::string> taken_;
    std::unordered_map<std::string, std::size_t> numbers_; // the last that was tried
};

/// The name of a header's namespace, and what its macros begin with: the name of its file without the last
/// extension. `plan_` stands before what begins with a digit, has no small letter, as macros have none, is a
/// keyword of C or C++, or a name that a system defines.
inline std::string header_prefix(std::string const& file)
{
    static constexpr std::string_view reserved =
        " alignas alignof and and_eq arm asm assert auto bitand bitor bool break case catch char "
        "char16_t char32_t char8_t class co_await co_return co_yield compl concept const "
        "const_cast consteval constexpr constinit continue decltype default delete do double "
        "dynamic_cast else enum errno explicit export extern false far final float for friend "
        "goto i386 if import inline int interrupt linux long main mips module mutable namespace "
        "near new noexcept not not_eq nullptr operator or or_eq override posix private protected "
        "public register reinterpret_cast requires restrict return short signed sizeof sparc "
        "static static_assert static_cast std struct switch template this thread_local throw "
        "true try typedef typeid typename typeof typeof_unqual union unix unsigned using vax "
        "virtual void volatile wchar_t while xor xor_eq ";
    std::string const stem = std::filesystem::path(file).stem().string();
    std::string part = identifier_part(stem);
    if (part.empty()) return "plan";
    bool const has_small = std::any_of(part.begin(), part.end(), [](char c) { return c >= 'a' && c <= 'z'; });
    if ((part[0] >= '0' && part[0] <= '9') || !has_small ||
        reserved.find(' ' + part + ' ') != std::string_view::npos)
        part.insert(0, "plan_");
    return part;
}

inline std::string upper_case(std::string text)
{
    for (char& c : text)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return text;
}

/// A name inside a comment of either kind, at most 4000 characters of it: ASCII only, without anything that
/// ends or continues a comment.
inline std::string in_comment(std::string_view name)
{
    std::string text(name.substr(0, 4000));
    for (char& c : text)
        if (c < 32 || c >= 127 || c == '*' || c == '?' || c == '\\') c = '.';
    return text;
}

/// A word of a command for a shell, as far as a comment can hold it.
inline std::string in_command(std::string const& word)
{
    auto is_plain = [](char c) {
        return is_letter_or_digit(c) || std::string_view("._-+=,:@%/").find(c) != std::string_view::npos;
    };
    if (!word.empty() && std::all_of(word.begin(), word.end(), is_plain)) return in_comment(word);
    std::string quoted = "'";
    for (char c : word)
        if (c == '\'') quoted += "'\"'\"'";
        else quoted += c;
    return in_comment(quoted + '\'');
}

/// A string literal with the bytes of a name, at most 4000 of them; without trigraphs.
inline std::string as_literal(std::string_view name)
{
    std::string text = "\"";
    for (char c : name.substr(0, 4000)) {
        auto const byte = static_cast<unsigned char>(c);
        if (c == '"' || c == '\\' || c == '?') {
            text += '\\';
            text += c;
        } else if (byte < 32 || byte >= 127) {
            text += '\\';
            for (int shift : {6, 3, 0}) text += static_cast<char>('0' + ((byte >> shift) & 7));
        } else {
            text += c;
        }
    }
    return text + '"';
}

// --- the table -------------------------------------------------------------------------------------------

/// Names for each buffer the two neighbours that are alive when it begins.
/// Requires: the buffers are in the order of their first steps, and no two that are alive at once overlap.
/// Complexity: O(n log n).
inline void find_neighbours(std::vector<header_table::buffer>& buffers)
{
    std::map<sublet::byte_count, std::uint32_t> alive;   // by offset
    using end = std::pair<std::uint32_t, std::uint32_t>; // last step, buffer
    std::priority_queue<end, std::vector<end>, std::greater<end>> ends;
    for (std::uint32_t i = 0; i != buffers.size(); ++i) {
        header_table::buffer& b = buffers[i];
        for (; !ends.empty() && ends.top().first < b.first; ends.pop())
            alive.erase(buffers[ends.top().second].offset);
        auto const at = alive.emplace(b.offset, i).first;
        if (at != alive.begin()) b.below = std::prev(at)->second;
        if (auto const next = std::next(at); next != alive.end()) b.above = next->second;
        ends.emplace(b.last, i);
    }
}

/// The steps from the first to the last at which a node names each value, half-open.
inline std::vector<sublet::live_range> named_at(network const& net, std::vector<sublet::node_id> const& order)
{
    std::vector<sublet::live_range> named(net.values.size());
    for (std::size_t at = 0; at != net.operations.size(); ++at) {
        operation const& node = net.operations[order.empty() ? at : std::size_t{order[at]}];
        for (auto const* values : {&node.inputs, &node.outputs, &node.mutated})
            for (sublet::value_id const v : *values) {
                if (v == sublet::no_value) continue;
                if (is_empty(named[v])) named[v].first = sublet::position_id::of(at);
                named[v].last = sublet::position_id::of(at + 1);
            }
    }
    return named;
}

/// The table of a verified plan.
/// Requires: the plan is of one order of the network's nodes, in one pool.
/// Complexity: O(n log n).
inline header_table as_table(network const& net, sublet::memory_plan const& plan,
                             sublet::byte_count alignment)
{
    header_table table;
    bool is_listed = true; // node i runs at step i
    for (std::size_t i = 0; i != plan.order.size(); ++i) is_listed = is_listed && plan.order[i] == i;
    if (!is_listed) table.order = plan.order;
    table.alignment = alignment;
    table.steps = net.operations.size();
    for (sublet::byte_count const bytes : plan.arena_bytes) table.arena_bytes += bytes; // of the only pool

    std::vector<std::uint32_t> by_start(plan.buffers.size()), number_of(plan.buffers.size());
    for (std::uint32_t b = 0; b != by_start.size(); ++b) by_start[b] = b;
    std::sort(by_start.begin(), by_start.end(), [&](std::uint32_t a, std::uint32_t b) {
        auto const first_a = plan.buffers[a].life.first, first_b = plan.buffers[b].life.first;
        return first_a != first_b ? first_a < first_b : a < b;
    });
    for (std::uint32_t const b : by_start) {
        auto const& placed = plan.buffers[b];
        number_of[b] = static_cast<std::uint32_t>(table.buffers.size());
        table.buffers.push_back({.offset = placed.offset,
                                 .bytes = placed.size,
                                 .first = placed.life.first,
                                 .last = std::uint32_t{placed.life.last} - 1});
    }
    find_neighbours(table.buffers);

    std::vector<sublet::live_range> const named = named_at(net, plan.order);
    distinct_identifiers identifiers;
    for (std::size_t v = 0; v != net.values.size(); ++v) {
        sublet::byte_count const offset = plan.offset_of(sublet::value_id::of(v));
        if (offset == sublet::no_offset) continue;
        header_table::row row{.name = &net.values[v].name,
                              .identifier = identifiers.of(net.values[v].name),
                              .offset = offset,
                              .bytes = net.values[v].bytes,
                              .first = named[v].first,
                              .last = is_empty(named[v]) ? 0 : std::uint32_t{named[v].last} - 1};
        if (auto const b = plan.buffer_of[v]; b != sublet::no_buffer) {
            row.buffer = number_of[b];
            header_table::buffer& whole = table.buffers[row.buffer];
            row.first = std::max(row.first, whole.first);
            row.last = has_role(net.values[v].role, sublet::value_role::output)
                           ? whole.last
                           : std::min(row.last, whole.last);
            if (whole.row == header_table::none || table.rows[whole.row].bytes < row.bytes)
                whole.row = static_cast<std::uint32_t>(table.rows.size());
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

// --- C++ -------------------------------------------------------------------------------------------------

/// The number of a table's numbers; the functions of the header repeat this.
class header_digest {
public:
    template <class... Numbers>
    void add(Numbers... numbers)
    {
        ((digest_ = (digest_ ^ std::uint64_t{numbers}) * 0x100000001b3u), ...);
    }
    std::uint64_t value() const { return digest_; }

private:
    std::uint64_t digest_ = 0xcbf29ce484222325u;
};

/// The lines that both kinds begin with, and what they say of their origin.
inline void write_origin(std::ostream& out, header_origin const& from, std::string const& option,
                         std::string const& begin)
{
    std::string by = command_line::version_of("plan_model");
    by.pop_back();
    out << begin << "Made by " << by << " from " << in_comment(from.model) << ", with " << from.settings
        << ". To make it again:\n"
        << begin << "  plan_model " << in_command(from.model) << ' ' << from.settings << ' ' << option << ' '
        << in_command(from.file) << '\n';
}

/// Functions of C for every shape, by sublet::write_c().
///
/// Requires: every size is a formula.
template <class NameOf>
void write_c_functions(std::ostream& out, sublet::symbolic_plan const& plan, NameOf name_of,
                       header_origin const& from)
{
    std::string const name = header_prefix(from.file);
    std::string const guard = "SUBLET_PLAN_" + upper_case(name) + "_H";
    out << "/*\n";
    write_origin(out, from, "--c-header", " * ");
    out << " *\n * " << name
        << "_place() finds the bytes and the first byte of each buffer, and the bytes of each"
        << "\n * arena, from the sizes of the open dimensions; " << name
        << "_values() where each value begins.\n"
        << " * The plan is proved for these ranges, which are not checked here. All are in bytes.\n";
    for (sublet::dimension const& d : plan.dims)
        out << " *     " << in_comment(d.name.c_str()) << " from " << d.least << " to " << d.most
            << (d.stride == 1 ? "" : " in steps of " + std::to_string(d.stride)) << '\n';
    out << " */\n#ifndef " << guard << "\n#define " << guard << "\n\n";
    sublet::write_c(out, plan, {.prefix = name.c_str(), .names = name_of});
    out << "\n#endif\n";
}

namespace header_text {

/// How many rows one assertion of a header looks at: clang ends an evaluation after 1048576 steps.
inline constexpr std::size_t rows_at_once = 8192;
/// How many buffers and steps together clang surely follows in one evaluation.
inline constexpr std::size_t followed_at_once = 60'000;

inline constexpr char meaning[] =
    "One value lies at an offset in one arena while steps first to last run, both included; a step is a\n"
    "position in the order of the nodes. Values of one buffer share its bytes: views, and results in place "
    "of\n"
    "an operand. A value in place of a larger one begins one step after the node that makes it. Inputs and\n"
    "weights are not in the arena.\n";

inline constexpr char row_types[] = R"(
struct row {
    char const* name;
    std::uint32_t buffer; // its index in buffers, or none: 0 bytes
    size_type offset, bytes;
    std::uint32_t first, last;
};
struct buffer {
    size_type offset, bytes;
    std::uint32_t first, last;
    std::uint32_t below; // the next below of those in use at the step first, or none
};
)";

inline constexpr char row_proof[] = R"(
// Rows from, from + 1 ... to - 1 lie in their buffers, at multiples of the alignment.
constexpr bool rows_hold(std::uint32_t from, std::uint32_t to)
{
    for (std::uint32_t i = from; i != to; ++i) {
        row const& r = rows[i];
        if (r.buffer == none && (r.bytes != 0 || r.offset % arena_alignment != 0)) return false;
        if (r.buffer == none) continue;
        if (r.buffer >= buffer_count) return false;
        buffer const& b = buffers[r.buffer];
        if (r.offset != b.offset || r.bytes > b.bytes || r.first < b.first || r.last > b.last) return false;
    }
    return true;
}
)";

inline constexpr char row_digest[] = R"(
constexpr std::uint64_t digest_of_rows(std::uint32_t from, std::uint32_t to)
{
    std::uint64_t digest = 0xcbf29ce484222325u;
    for (std::uint32_t i = from; i != to; ++i) {
        row const& r = rows[i];
        digest = (digest ^ r.buffer) * 0x100000001b3u;
        digest = (digest ^ r.offset) * 0x100000001b3u;
        digest = (digest ^ r.bytes) * 0x100000001b3u;
        digest = (digest ^ r.first) * 0x100000001b3u;
        digest = (digest ^ r.last) * 0x100000001b3u;
    }
    return digest;
}
)";

inline constexpr char buffer_proof[] = R"(
// Buffers lie in the arena, at multiples of the alignment, in the order of their first steps.
constexpr bool buffers_hold()
{
    std::uint32_t step = 0;
    for (buffer const& b : buffers) {
        if (b.bytes > arena_bytes || b.offset > arena_bytes - b.bytes) return false;
        if (b.offset % arena_alignment != 0) return false;
        if (b.first < step || b.last < b.first || b.last >= step_count) return false;
        step = b.first;
    }
    return true;
}

// No two that are in use at the same step overlap. Those in use are a list in the order of their offsets, so a
// buffer that begins has to be compared with two of them. Number 0 is the end of the list, i + 1 is buffers[i].
constexpr bool buffers_are_apart()
{
    std::uint32_t below[buffer_count + 1] = {}, above[buffer_count + 1] = {};
    std::uint32_t ends_with[buffer_count + 1] = {}, ends_at[step_count] = {};
    std::uint32_t step = 0;
    for (std::uint32_t i = 1; i <= buffer_count; ++i) {
        buffer const& b = buffers[i - 1];
        for (; step < b.first; ++step)
            for (std::uint32_t ended = ends_at[step]; ended != 0; ended = ends_with[ended]) {
                above[below[ended]] = above[ended];
                below[above[ended]] = below[ended];
                above[ended] = none;
            }
        std::uint32_t const under = b.below + 1; // none is the largest number: 0
        if (under >= i || above[under] == none) return false;
        std::uint32_t const over = above[under];
        if (under != 0 && buffers[under - 1].offset + buffers[under - 1].bytes > b.offset) return false;
        if (over != 0 && b.offset + b.bytes > buffers[over - 1].offset) return false;
        below[i] = under;
        above[i] = over;
        above[under] = below[over] = i;
        ends_with[i] = ends_at[b.last];
        ends_at[b.last] = i;
    }
    return true;
}
)";

inline constexpr char rest_digest[] = R"(
constexpr std::uint64_t digest_of_rest()
{
    std::uint64_t digest = 0xcbf29ce484222325u;
    digest = (digest ^ arena_bytes) * 0x100000001b3u;
    digest = (digest ^ arena_alignment) * 0x100000001b3u;
    digest = (digest ^ step_count) * 0x100000001b3u;
)";

inline constexpr char buffer_digest[] = R"(    for (buffer const& b : buffers) {
        digest = (digest ^ b.offset) * 0x100000001b3u;
        digest = (digest ^ b.bytes) * 0x100000001b3u;
        digest = (digest ^ b.first) * 0x100000001b3u;
        digest = (digest ^ b.last) * 0x100000001b3u;
    }
)";

inline constexpr char order_digest[] =
    "    for (std::uint32_t node : order) digest = (digest ^ node) * 0x100000001b3u;\n";

} // namespace header_text

/// Writes lines of text as lines of a comment.
inline void write_comment(std::ostream& out, std::string_view text, std::string const& begin)
{
    while (!text.empty()) {
        std::size_t const end = text.find('\n');
        out << begin << text.substr(0, end) << '\n';
        text.remove_prefix(end + 1);
    }
}

/// Writes a name for a row's buffer, or a number that may be `none`.
inline std::string index_text(std::uint32_t index)
{
    return index == header_table::none ? "none" : std::to_string(index);
}

/// Writes the order of the nodes as the elements of an array.
inline void write_order(std::ostream& out, std::vector<sublet::node_id> const& order)
{
    for (std::size_t i = 0; i != order.size(); ++i)
        out << (i % 16 == 0 ? "\n    " : " ") << +order[i] << (i + 1 == order.size() ? "" : ",");
}

/// Writes the table as a header for C++17 and later.
///
/// Ensures: the same table gives the same bytes. The header compiles if and only if its numbers are those
///          written here, and what they say is proved then: see its functions.
inline void write_cpp_header(std::ostream& out, header_table const& table, header_origin const& from)
{
    std::string const name = header_prefix(from.file);
    std::string const guard = "SUBLET_PLAN_" + upper_case(name) + "_HPP";
    bool const has_rows = !table.rows.empty(), has_buffers = !table.buffers.empty();
    write_origin(out, from, "--header", "// ");
    out << "//\n";
    write_comment(out, header_text::meaning, "// ");
    out << "// A compiler of C++17 proves the plan again (namespace proof), and fails if any number is "
           "changed.";
    if (table.buffers.size() + table.steps > header_text::followed_at_once)
        out << "\n// For so many buffers and steps clang may need -fconstexpr-steps=2147483647, and\n"
               "// g++ -fconstexpr-loop-limit=2147483647 -fconstexpr-ops-limit=2147483647.";
    out << "\n#ifndef " << guard << "\n#define " << guard
        << "\n\n#include <cstddef>\n#include <cstdint>\n\nnamespace " << name
        << " {\n\nusing size_type = std::uint" << (table.is_small() ? "32" : "64")
        << "_t; // of offsets and sizes, in bytes\n\n"
        << "inline constexpr size_type arena_bytes = " << table.arena_bytes << "u;\n"
        << "inline constexpr size_type arena_alignment = " << table.alignment
        << "u; // of the arena and each offset\n"
        << "inline constexpr std::uint32_t step_count = " << table.steps
        << ", value_count = " << table.rows.size() << ", buffer_count = " << table.buffers.size() << ";\n"
        << "inline constexpr std::uint32_t none = 0xffffffff; // no such index\n"
        << header_text::row_types;

    if (!table.order.empty()) {
        out << "\n// Which node of the file runs at each step.\ninline constexpr std::uint32_t order[] = {";
        write_order(out, table.order);
        out << "};\n";
    }
    if (has_rows) {
        out << "\ninline constexpr row rows[] = {\n";
        for (header_table::row const& r : table.rows)
            out << "    {" << as_literal(*r.name) << ", " << index_text(r.buffer) << ", " << r.offset << ", "
                << r.bytes << ", " << r.first << ", " << r.last << "},\n";
        out << "};\n";
    }
    if (has_buffers) {
        out << "\ninline constexpr buffer buffers[] = {\n";
        for (header_table::buffer const& b : table.buffers)
            out << "    {" << b.offset << ", " << b.bytes << ", " << b.first << ", " << b.last << ", "
                << index_text(b.below) << "},\n";
        out << "};\n";
    }
    if (has_rows) {
        out << "\n// Of each value: its name with one _ for what is no letter and no digit; if that is "
               "taken, with a\n"
               "// number from 2 on.\n";
        for (std::size_t i = 0; i != table.rows.size(); ++i)
            out << "inline constexpr size_type offset_of_" << table.rows[i].identifier << " = rows[" << i
                << "].offset, bytes_of_" << table.rows[i].identifier << " = rows[" << i << "].bytes;\n";
    }

    out << "\nnamespace proof {\n";
    if (has_buffers) out << header_text::buffer_proof << header_text::row_proof;
    if (has_rows) out << header_text::row_digest;
    out << header_text::rest_digest << (has_buffers ? header_text::buffer_digest : "")
        << (table.order.empty() ? "" : header_text::order_digest) << "    return digest;\n}\n";
    if (table.arena_bytes != 0)
        out << "\nstatic_assert(arena_bytes <= static_cast<std::size_t>(-1), \"this system cannot hold the "
               "arena\");\n";
    if (has_buffers)
        out << "static_assert(buffers_hold(), \"a buffer is not in the arena, or not aligned\");\n"
               "static_assert(buffers_are_apart(), \"two buffers that are in use at the same step "
               "overlap\");\n";
    auto assert_rows = [&](auto write) {
        for (std::size_t from_row = 0; from_row != table.rows.size();) {
            std::size_t const to = std::min(from_row + header_text::rows_at_once, table.rows.size());
            write(from_row, to);
            from_row = to;
        }
    };
    if (has_buffers)
        assert_rows([&](std::size_t begin, std::size_t end) {
            out << "static_assert(rows_hold(" << begin << ", " << end
                << "), \"a value is not in its buffer\");\n";
        });
    constexpr char changed[] = "u, \"a number is not as it was written\");\n";
    assert_rows([&](std::size_t begin, std::size_t end) {
        header_digest digest;
        for (std::size_t i = begin; i != end; ++i) {
            header_table::row const& r = table.rows[i];
            digest.add(r.buffer, r.offset, r.bytes, r.first, r.last);
        }
        out << "static_assert(digest_of_rows(" << begin << ", " << end << ") == " << digest.value()
            << changed;
    });
    header_digest digest;
    digest.add(table.arena_bytes, table.alignment, table.steps);
    for (header_table::buffer const& b : table.buffers) digest.add(b.offset, b.bytes, b.first, b.last);
    for (sublet::node_id const node : table.order) digest.add(+node);
    out << "static_assert(digest_of_rest() == " << digest.value() << changed;
    out << "\n} // namespace proof\n\n} // namespace " << name << "\n\n#endif\n";
}

// --- C ---------------------------------------------------------------------------------------------------

/// Writes the table as a header for C99 and later, and for C++11 and later.
///
/// Ensures: the same table gives the same bytes. It compiles only if each value is in the arena, aligned and
///          where its buffer is, and no two buffers that are in use at the same step overlap. Steps are taken
///          from the table: whether they were changed is not looked at.
inline void write_c_header(std::ostream& out, header_table const& table, header_origin const& from)
{
    std::string const name = header_prefix(from.file), upper = upper_case(name);
    std::string const guard = "SUBLET_PLAN_" + upper + "_H", check = upper + "_CHECK";
    std::string const bits = table.is_small() ? "32" : "64", constant = "UINT" + bits + "_C(";
    out << "/*\n";
    write_origin(out, from, "--c-header", " * ");
    out << " *\n";
    write_comment(out, header_text::meaning, " * ");
    write_comment(
        out,
        "C11, C++11 and by a division by 0 C99 prove that each value is in the arena, aligned and\n"
        "where its buffer is, and that no two buffers that are in use at the same step overlap. The steps\n"
        "themselves are not proved: --header writes a header for C++17 that fails if any number is "
        "changed.\n",
        " * ");
    out << " */\n#ifndef " << guard << "\n#define " << guard
        << "\n\n#include <stddef.h>\n#include <stdint.h>\n\n"
        << "typedef uint" << bits << "_t " << name << "_size; /* of offsets and sizes, in bytes */\n\n"
        << "#define " << upper << "_ARENA_BYTES " << constant << table.arena_bytes << ")\n"
        << "#define " << upper << "_ARENA_ALIGNMENT " << constant << table.alignment
        << ") /* of the arena and each offset */\n"
        << "#define " << upper << "_STEP_COUNT " << table.steps << "u\n"
        << "#define " << upper << "_VALUE_COUNT " << table.rows.size() << "u\n"
        << "#define " << upper << "_BUFFER_COUNT " << table.buffers.size() << "u\n\n";

    if (!table.rows.empty())
        out << "/* Of each value: its name with one _ for what is no letter and no digit; if that is taken, "
               "with a\n"
               " * number from 2 on. */\n";
    for (header_table::row const& r : table.rows) {
        auto define = [&](char const* what, sublet::byte_count number, char const* before,
                          char const* after) {
            out << "#define " << upper << what << r.identifier << ' ' << before << number << after << '\n';
        };
        out << "/* " << in_comment(*r.name) << " */\n";
        define("_OFFSET_OF_", r.offset, constant.c_str(), ")");
        define("_BYTES_OF_", r.bytes, constant.c_str(), ")");
        define("_FIRST_STEP_OF_", r.first, "", "u");
        define("_LAST_STEP_OF_", r.last, "", "u");
    }

    out << "\nstruct " << name
        << "_row {\n    char const* name;\n    uint32_t buffer; /* which it shares; UINT32_MAX: "
        << "0 bytes */\n    " << name << "_size offset, bytes;\n    uint32_t first, last;\n};\n";
    if (!table.rows.empty()) {
        out << "static const struct " << name << "_row " << name << "_rows[" << table.rows.size()
            << "] = {\n";
        for (header_table::row const& r : table.rows) {
            out << "    {" << as_literal(*r.name) << ", ";
            if (r.buffer == header_table::none) out << "UINT32_MAX";
            else out << r.buffer;
            for (char const* what : {"_OFFSET_OF_", "_BYTES_OF_", "_FIRST_STEP_OF_", "_LAST_STEP_OF_"})
                out << ", " << upper << what << r.identifier;
            out << "},\n";
        }
        out << "};\n";
    }
    if (!table.order.empty()) {
        out << "\n/* Which node of the file runs at each step. */\nstatic const uint32_t " << name
            << "_order[" << table.order.size() << "] = {";
        write_order(out, table.order);
        out << "};\n";
    }

    out << "\n#if defined(__cplusplus)\n#define " << check << "(what, holds) static_assert(holds, #what)\n"
        << "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n#define " << check
        << "(what, holds) _Static_assert(holds, #what)\n#else\n#define " << check << "(what, holds) enum { "
        << name << "_##what = 1 / !!(holds) }\n#endif\n";
    auto macro = [&](char const* of, char const* arguments, std::string const& body) {
        out << "#define " << upper << of << arguments << " \\\n    " << check << '(' << body << ")\n";
    };
    std::string const offset = upper + "_OFFSET_OF_##", bytes = upper + "_BYTES_OF_##";
    macro("_PLACED", "(a)",
          "placed_##a, " + bytes + "a <= " + upper + "_ARENA_BYTES && " + offset + "a <= " + upper +
              "_ARENA_BYTES - " + bytes + "a && " + offset + "a % " + upper + "_ARENA_ALIGNMENT == 0");
    macro("_SHARED", "(a, b)",
          "shared_##a##_with_##b, " + offset + "a == " + offset + "b && " + bytes + "a <= " + bytes + "b");
    macro("_BELOW", "(a, b)", "below_##a##_is_##b, " + offset + "b + " + bytes + "b <= " + offset + "a");
    if (table.arena_bytes != 0)
        out << '\n' << check << "(arena_fits, " << upper << "_ARENA_BYTES <= SIZE_MAX);\n";
    for (header_table::row const& r : table.rows) out << upper << "_PLACED(" << r.identifier << ");\n";
    if (!table.buffers.empty())
        out << "/* Views and results in place: where the largest value of their buffer is. */\n";
    for (std::size_t i = 0; i != table.rows.size(); ++i) {
        header_table::row const& r = table.rows[i];
        if (r.buffer == header_table::none || table.buffers[r.buffer].row == i) continue;
        out << upper << "_SHARED(" << r.identifier << ", "
            << table.rows[table.buffers[r.buffer].row].identifier << ");\n";
    }
    if (!table.buffers.empty())
        out << "/* Each buffer when it begins, with the next below and the next above of those in use then. "
               "These are\n"
               " * apart already, so by induction all that are in use at the same step are. */\n";
    auto below = [&](std::uint32_t a, std::uint32_t b) {
        if (a == header_table::none || b == header_table::none) return;
        out << upper << "_BELOW(" << table.rows[table.buffers[a].row].identifier << ", "
            << table.rows[table.buffers[b].row].identifier << ");\n";
    };
    for (std::uint32_t b = 0; b != table.buffers.size(); ++b) {
        below(b, table.buffers[b].below);
        below(table.buffers[b].above, b);
    }
    for (char const* of : {"_PLACED", "_SHARED", "_BELOW", "_CHECK"}) out << "#undef " << upper << of << '\n';
    out << "\n#endif\n";
}

} // namespace plan_model

#endif
