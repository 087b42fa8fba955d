// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_FAULT_HPP
#define SUBLET_CORE_FAULT_HPP

/// The rules that a counterexample may violate, one for everything that plans, orders, colours, places or
/// checks.
///
///     fault::clash       two values are alive together and share bytes
///     fault::cycle       steps wait for each other
///
/// The sentence of each rule, and what shows it, are those of counterexample.

#include <sublet/impl/config.hpp>

#include <cstdint>

namespace sublet {

/// The rules; beside each stands what its counterexample is of, and which members show it.
enum class fault : std::uint8_t {
    foreign_plan, ///< nothing: the plan is not of this program, this order or this reading

    clash, ///< overlap: value and other share bytes [begin, end) of pool, and both are alive at position, or
           ///< at step; without these both are given. Buffers: the same; without a position their clocks are
           ///< not ordered. Without bytes: they are pinned so that what is colocated with them overlaps
    too_close, ///< overlap: value and other are both alive there, and between them lie only the bytes [begin,
               ///< end) of pool, fewer than its guard. Buffers: the same
    shared_page, ///< overlap: value and other are of different kinds, both alive there, and have bytes in the
                 ///< page [begin, end) of pool. Buffers: the same
    shared_bank, ///< overlap: value and other are kept apart, both alive there, and have bytes in the bank
                 ///< [begin, end) of pool. Buffers: the same
    overwritten, ///< overlap: step writes other over bytes [begin, end) of pool, where value lies, which
                 ///< needed_at touches (none: an output); position: of step in `schedule`

    misaligned,    ///< place: value lies at begin, which is no multiple of `needed`. Buffers: the same
    outside_arena, ///< place: value occupies bytes up to end, beyond the `needed` bytes of its arena
    off_pin,       ///< place: value lies at begin and not at its pinned offset, `needed`. Buffers: the same
    wrong_pool,    ///< place: value does not lie in `pool`, its own, or lies there and has other choices
                   ///< (needed: 1). Buffers: buffer lies in pool, which it may not choose
    unplaced,      ///< place: value needs storage and has none. Buffers: the same
    needless,      ///< place: value has an offset, but must have none. Buffers: the same
    over_capacity, ///< place: the arena of pool has end bytes, more than its capacity, `needed`. Buffers: the
                   ///< same
    crosses_block, ///< place: value occupies bytes [begin, end) of pool, which are not in one of its blocks.
                   ///< Buffers: the same
    in_reserved,   ///< place: value lies at `needed`, and its bytes, or a guard beside them, in the reserved
                   ///< bytes [begin, end) of pool. Buffers: the same
    over_budget,   ///< place: the result takes end bytes, more than its budget, `needed`
    over_time,     ///< place: the schedule, or the shortest that was found, takes `end`, and `needed` is
                   ///< accepted
    unlisted_pool, ///< place: value names `pool`, as its own or as a choice, and only `needed` pools are
                   ///< listed
    over_block,    ///< place: value, or without one a block of pool, ends at end, above its largest block,
                   ///< `needed`. Buffers: the same

    unclear_view,    ///< view: step defines value, a view of other; or makes a view of a value that is none
                     ///< (no other)
    forgotten_write, ///< view: step reads value, changes nothing, and only makes views of other storage: of
                     ///< other
    unlike_root,     ///< view: value is a view of other, but `fact` is `end` of it and `needed` of other;
                     ///< `needed` is its first byte in other if that is the alignment
    oversized_view,  ///< view: value is a view of other, but ends at byte `end` of it, and other has only
                     ///< `needed`
    misplaced_view,  ///< view: value is a view of other, but lies at begin and other at `needed`

    unwritten, ///< access: `step` reads value, or it is an output, and nothing writes bytes [begin, end) of
               ///< other, its root, which is made without contents
    used_undefined, ///< access: value is used at position, or at step, or is an output; other: itself if its
                    ///< first def comes later, or no_value. Of a list: `maker` has that def, and has_order
    several_defs,  ///< access: value is already defined when `step` writes it; is_given: it is external or an
                   ///< input
    not_dominated, ///< access: `step` reads value, and some path leads there without its definition
    never_defined, ///< access: `step` reads value, and no step defines it
    needs_left_out, ///< access: `step` touches value, or value is an output, and `maker` makes it, or bytes
                    ///< [begin, end) of other, its root; maker may be left out without step
    write_moved,    ///< access: the order moves the write of value at position across another access of it

    cycle,      ///< waiting: `step` waits for itself; if schedule has steps, each waits for the one before
    leads_back, ///< waiting: an edge from position, or step, goes backward: the program loops, or the order
                ///< is wrong; if schedule has two steps, it leads from the first to the second
    order_left_out, ///< waiting: the last step of schedule waits for the first by way of `step` alone, which
                    ///< may be left out
    unordered,  ///< waiting: position, which touches other, does not wait for position `earlier`, which
                ///< touches value; both need bytes [begin, end) of pool, or those of their class if that is
                ///< empty. No value: an edge or a hand-off requires it

    too_early,   ///< timing: step starts at `start`, before other, for which it waits, ends at `end`
    busy_worker, ///< timing: step starts at `start` on worker `of`, which runs other until `end`; no other:
                 ///< there are only `end` workers
    over_group,  ///< timing: step begins a section of group `of` at `start`, where `end` others run, of at
                ///< most `most`. With other: no order was found that keeps the group, and in the one that was
                ///< tried step begins a section before that of other has ended

    unlike_capture, ///< view: value_in_tree, which a body captures, is other_in_tree, but `fact` is `end` of
                    ///< the one and `needed` of the other; value and other only have their names
    unlike_binding, ///< view: the one is copied to the other by a binding, with the same members

    fixed_together, ///< slots: value and other are both fixed to slot, and live together (at step, if known)
    lost_in_slot,   ///< slots: step reads value, and its slot holds other, which `written` wrote (none:
                    ///< given); or step, which is `written` too, needs both
    without_slot,   ///< slots: step writes value, which has no slot

    foreign_placement, ///< buffers: a table of the placement has not the length that the problem requires
    unplaceable_parts, ///< buffers: pins, alignments or distances of the colocated buffer and other
                       ///< contradict. Place: those of value and of what shares its storage in place
    not_colocated,     ///< buffers: buffer lies at begin; its colocation with other requires `needed`
    wrong_height,      ///< buffers: pool ends at end, but its height is given as `needed`
    wrong_blocks,   ///< buffers: of pool a block is larger than `needed`, or they are not in order up to its
                    ///< height
    wrong_bound,    ///< buffers: pool has lower bound `needed`, but it or its proof ends at end
    wrong_status,   ///< buffers: the status contradicts heights, bounds and capacities (of pool)
    wrong_cost,     ///< buffers: the chosen or the cheapest pools cost end, not `needed`
    wrong_movement, ///< buffers: end bytes moved, not `needed`
    not_apart,      ///< buffers: buffer and other share bytes [begin, end) of pool, and a penalty forbids it
    wrong_penalty,  ///< buffers: those of pool, or with a begin of `no_offset` of all, pay end, not `needed`
    wrong_penalty_bound, ///< buffers: the bound on what pool, or all as before, pay is `needed`, and should
                         ///< be end, or at most that
    wrong_proof,         ///< proof: `text` says why; `found` contradicts the proof
    wrong_peak,          ///< proof: the first position with the most live bytes is `found`, not the given one
    not_checkable,       ///< proof: too many groups, or a bound that the caller gave

    other_shape,       ///< renaming: nodes, edges, steps or kinds of touches differ: no renaming
    other_read,        ///< renaming: a use reads another def
    other_read_at_end, ///< renaming: so does a use at the end of a node
    other_end,         ///< renaming: an output or external value has another content at the end
    other_storage,  ///< renaming: results of a step, or given values (no step), were merged, or a value and
                    ///< its view separated
    other_in_place, ///< renaming: the permission to write result `name` over operand `value` (names after)
                    ///< was lost or added

    race,                  ///< commands: second does not wait for first, and both touch these bytes
    use_before_allocation, ///< commands: second uses the block and does not wait for its allocation, first
    use_after_release,     ///< commands: second touches the block after its release, first
    freed_in_use,      ///< commands: second releases the block and does not wait for first, which touches it
    double_release,    ///< commands: second releases the block, as first did
    never_allocated,   ///< commands: second releases or touches a block not allocated before
    double_allocation, ///< commands: second allocates a block that exists, by first
    out_of_bounds,     ///< commands: second touches bytes beyond the end of the block
    unrecorded,        ///< commands: second waits for an event not recorded before
    leaked,            ///< commands: the block, allocated by first, is never released
    missing_order      ///< commands: second does not wait for first, as an edge or a hand-off requires
};

} // namespace sublet

#endif
