// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REWRITING_SHARING_LOG_HPP
#define SUBLET_REWRITING_SHARING_LOG_HPP

/// Who has moved in where whom left, and what that saves.
///
///     a: 64 B opens slot 0
///     b: 32 B opens slot 1
///     c: 48 B takes slot 0 from a, saves 48 B
///     d: 40 B takes slot 1 from b, which grows by 8 B, saves 32 B
///     4 values in 2 slots, 2 of them shared: 104 B instead of 184 B
///
/// What somebody saves is its own size, less what its slot has to grow for it: so the lines add up to what is
/// saved in all.
///
/// Sources: the log lines of Caffe2's memonger (saved bytes, shared blobs) and of PaddlePaddle's memory
/// transpiler (what replaced what, on request).

#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/reporting/names.hpp>
#include <sublet/reporting/text.hpp>
#include <sublet/units.hpp>

#include <vector>

namespace sublet {

struct sharing_entry {
    value_id value = no_value;
    value_id from = no_value; ///< who had the slot before; `no_value`: nobody
    slot_id slot = no_slot;
    byte_count bytes = 0;
    byte_count growth = 0;    ///< of the slot, for this value; all of it for the first
    bool is_in_place = false; ///< it is written by a step that uses `from`

    [[nodiscard]] byte_count saved() const { return bytes - growth; }
    friend bool operator==(sharing_entry const&, sharing_entry const&) = default;
};

struct sharing_log {
    std::vector<sharing_entry> entries; ///< in the order in which values are defined; given ones first
    slot_id slots = 0;                  ///< that have a tenant
    slot_id shared = 0;                 ///< that have more than one
    byte_count naive_bytes = 0;         ///< of all values together
    byte_count slot_bytes = 0;          ///< of all slots together

    [[nodiscard]] byte_count saved() const { return naive_bytes - slot_bytes; }
};

/// What a plan of slots does, told in the order in which the steps run (empty: as they are numbered).
///
/// `plan` and `options` are by value: share_by_tokens makes such a plan of a program; one of buffers has to
/// be told to their values first.
///
/// Ensures:    there is an entry for every value that has a slot and is no view; the bytes that entries save
///             add up to saved().
/// Complexity: O(values log values + steps + touches).
/// Throws:     precondition_error if a table has not one entry a value, a size is not known, or a sum exceeds
///             64 bits.
[[nodiscard]] sharing_log log_sharing(snapshot const& p, slot_plan const& plan, plan_options const& options,
                                      std::vector<node_id> const& order = {});

/// Only what is about one value: where it moved in, and who came after it.
[[nodiscard]] std::vector<sharing_entry> trace(sharing_log const& log, value_id v);

/// Writes one line, with the names of values.
template <text_stream Stream, name_function Names = detail::own_id>
void write_entry(Stream& stream, sharing_entry const& e, Names name_of = {})
{
    detail::plain_text<Stream> out{stream};
    std::vector<char> text;
    auto write_name = [&](value_id v) {
        detail::read_name(text, name_of, v);
        detail::keep_printable(text);
        for (char c : text) out << c;
    };
    write_name(e.value);
    out << ": ";
    detail::write_bytes(out, e.bytes);
    out << (e.from == no_value ? " opens"
            : e.is_in_place    ? " is written over"
                               : " takes")
        << " slot " << e.slot;
    if (e.from != no_value) {
        out << (e.is_in_place ? ", in place of " : " from ");
        write_name(e.from);
        if (e.growth != 0) {
            out << ", which grows by ";
            detail::write_bytes(out, e.growth);
        }
        out << ", saves ";
        detail::write_bytes(out, e.saved());
    }
    out << '\n';
}

/// Writes the last line: how many values are in how many slots, and the bytes.
template <text_stream Stream>
void write_total(Stream& stream, sharing_log const& log)
{
    detail::plain_text<Stream> out{stream};
    out << log.entries.size() << " values in " << log.slots << " slots, " << log.shared
        << " of them shared: ";
    detail::write_bytes(out, log.slot_bytes);
    out << " instead of ";
    detail::write_bytes(out, log.naive_bytes);
    out << '\n';
}

/// Writes all of it, a line for each value and one for the total.
template <text_stream Stream, name_function Names>
void write_log(Stream& stream, sharing_log const& log, Names name_of)
{
    for (sharing_entry const& e : log.entries) write_entry(stream, e, name_of);
    write_total(stream, log);
}

/// The same, values by their numbers.
template <text_stream Stream>
Stream& operator<<(Stream& stream, sharing_log const& log)
{
    write_log(stream, log, detail::own_id{});
    return stream;
}

} // namespace sublet

#if !defined(SUBLET_SEPARATE_COMPILATION)
#include <sublet/rewriting/impl/sharing_log.ipp>
#endif

#endif
