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
#include <sublet/reporting/detail/plan_json.hpp>
#include <sublet/reporting/detail/shown_plan.hpp>
#include <sublet/reporting/names.hpp>

namespace sublet {

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
