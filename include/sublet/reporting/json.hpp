// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_JSON_HPP
#define SUBLET_REPORTING_JSON_HPP

/// Writes a plan as JSON, with all that it holds: what `read_json` of adapt/json.hpp reads is the same plan.
///
///     {
///      "sublet_plan": 1,
///      "valid_for": "sequential",
///      "order": [],
///      "pools": [
///       {"arena_bytes": "96"}
///      ],
///      "blocks": [],
///      "buffers": [
///       {"root": 0, "name": "a", "pool": 0, "offset": "0", "size": "64", "alignment": "1",
///        "first": 0, "last": 2, "over": null},
///       {"root": 1, "name": "b", "pool": 0, "offset": "64", "size": "32", "alignment": "1",
///        "first": 1, "last": 3, "over": null}
///      ],
///      "values": [
///       {"name": "a", "buffer": 0},
///       {"name": "b", "buffer": 1},
///       {"name": "w", "buffer": null}
///      ],
///      "handoffs": [],
///      "unsized": []
///     }
///
/// Version 1 of the schema. Every member is there unless it is called optional; the order of members has no
/// meaning, and there are no others. An *id* is a number from 0 to 4294967294. *Bytes* are a string of
/// decimal digits from "0" to "18446744073709551614", without leading zeros: a JSON number would lose digits
/// from 2^53 on in many readers.
///
///     sublet_plan   1: the version
///     valid_for     "sequential", "concurrent" or "control_flow": the reading of the program
///     order         ids of nodes, each once; empty: 0, 1, 2 ...
///     pools         by pool id
///       arena_bytes   bytes of its arena
///     blocks        allocations of pools with a largest block, ascending by pool and begin
///       pool          id
///       begin, size   bytes: its first byte in the pool, and its size
///     buffers       by buffer id, ascending by root
///       root          id of the value that the others of the buffer are views or in-place results of
///       name          optional, of the root; for readers of the file, not read back
///       pool          id
///       offset        bytes, or null: no offset
///       size          bytes
///       alignment     bytes, not "0"
///       first, last   positions, live in [first, last)
///       over          id of the larger buffer that it is written over, or null
///     values        by value id
///       name          optional
///       buffer        id of its buffer, or null: not planned
///       begin         bytes, its first byte in its root; in all values, or in none if all are "0"
///     handoffs      waits that a concurrent execution must keep
///       from, to      ids of steps: `to` begins after `from` has ended
///     empty         values of storage of 0 bytes, ascending, with their places; only if there are any
///       value, pool   ids
///       offset        bytes
///     unsized       ids of roots of buffers of unknown size, each once
///
/// A limit of a pool is an option and no part of a plan.

#include <sublet/core/internal/text.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/names.hpp>

#include <cstddef>
#include <vector>

namespace sublet {

namespace detail {

/// Writes the parts of a plan. Items of a list have a line each, except plain ids.
template <class Stream>
class plan_json {
public:
    plan_json(Stream& out, names_of<value_id> const& names) : text_{out}, names_(names) {}

    void write(memory_plan const& plan)
    {
        constexpr char const* readings[] = {"sequential", "concurrent", "control_flow"};
        text_ << "{\n \"sublet_plan\": 1,\n \"valid_for\": \"" << readings[static_cast<int>(plan.valid_for)]
              << "\",\n";
        write_ids("order", plan.order);
        text_ << ",\n";
        write_list("pools", plan.arena_bytes,
                   [&](byte_count bytes) { write_bytes_member("{\"arena_bytes\": ", bytes); });
        write_list("blocks", plan.blocks, [&](memory_plan::block const& b) {
            text_ << "{\"pool\": " << b.pool;
            write_bytes_member(", \"begin\": ", b.begin);
            write_bytes_member(", \"size\": ", b.size);
        });
        write_list("buffers", plan.buffers, [&](memory_plan::placed_buffer const& b) { write_buffer(b); });
        value_id v = 0;
        write_list("values", plan.buffer_of, [&](buffer_id b) {
            text_ << "{\"name\": ";
            write_name(v);
            text_ << ", \"buffer\": ";
            write_id(b);
            if (!plan.offset_in_root.empty()) write_bytes_member(", \"begin\": ", plan.offset_in_root[v]);
            ++v;
        });
        write_list("handoffs", plan.handoffs,
                   [&](handoff h) { text_ << "{\"from\": " << h.from << ", \"to\": " << h.to; });
        if (!plan.empty.empty())
            write_list("empty", plan.empty, [&](memory_plan::empty_value const& e) {
                text_ << "{\"value\": " << e.value << ", \"pool\": " << e.pool;
                write_bytes_member(", \"offset\": ", e.offset);
            });
        write_ids("unsized", plan.unsized);
        text_ << "\n}\n";
    }

private:
    template <class List, class Item>
    void write_list(char const* member, List const& list, Item write_item)
    {
        text_ << " \"" << member << "\": [";
        char const* before = "\n  ";
        for (auto const& item : list) {
            text_ << before;
            write_item(item);
            text_ << '}';
            before = ",\n  ";
        }
        text_ << (list.empty() ? "],\n" : "\n ],\n");
    }
    template <class Id>
    void write_ids(char const* member, std::vector<Id> const& ids)
    {
        text_ << " \"" << member << "\": [";
        for (std::size_t i = 0; i != ids.size(); ++i) text_ << (i == 0 ? "" : ", ") << ids[i];
        text_ << ']';
    }
    void write_buffer(memory_plan::placed_buffer const& b)
    {
        text_ << "{\"root\": " << b.root << ", \"name\": ";
        write_name(b.root);
        text_ << ", \"pool\": " << b.pool;
        if (b.offset == no_offset) text_ << ", \"offset\": null";
        else write_bytes_member(", \"offset\": ", b.offset);
        write_bytes_member(", \"size\": ", b.size);
        write_bytes_member(", \"alignment\": ", b.alignment);
        text_ << ", \"first\": " << b.life.first << ", \"last\": " << b.life.last << ", \"over\": ";
        write_id(b.over);
    }
    void write_bytes_member(char const* member, byte_count bytes) { text_ << member << '"' << bytes << '"'; }
    void write_id(buffer_id b)
    {
        if (b == no_buffer) text_ << "null";
        else text_ << b;
    }
    void write_name(value_id v)
    {
        names_.read(name_, v);
        escape_json(name_);
        text_ << '"';
        for (char c : name_) text_ << c;
        text_ << '"';
    }

    plain_text<Stream> text_;
    names_of<value_id> const& names_;
    std::vector<char> name_;
};

} // namespace detail

/// Writes the plan as one JSON document, as above. `planned` is the result of a planner, or a plan by itself.
///
/// Requires:   `offset_in_root` of the plan is empty or has an entry for each value.
/// Ensures:    it is UTF-8: in names, bytes that are not UTF-8 become '?', and all characters but quote,
///             backslash and control characters are written as they are. Equal plans and names give equal
///             bytes. Read back, it is the same plan if it is valid; of an invalid one, `read_json` may
///             refuse what it can check without the program.
/// Complexity: O(output); a name is asked for once per buffer and once per value.
/// Throws:     precondition_error, with the error, if there is no plan, and where the requirement is broken;
///             whatever the stream and the names throw; std::bad_alloc.
template <detail::text_stream Stream, detail::planned_or_plan Planned = memory_plan>
Stream& write_json(Stream& out, Planned const& planned, name_options const& options = {})
{
    memory_plan const& plan = detail::whole_plan(planned);
    SUBLET_EXPECTS(plan.offset_in_root.empty() || plan.offset_in_root.size() == plan.buffer_of.size(),
                   "sublet: a plan has offsets of % views, but % values", plan.offset_in_root.size(),
                   plan.buffer_of.size());
    detail::plan_json<Stream>(out, options.names).write(plan);
    return out;
}

} // namespace sublet

#endif
