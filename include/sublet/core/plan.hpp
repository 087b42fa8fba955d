// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_PLAN_HPP
#define SUBLET_CORE_PLAN_HPP

/// Options of a plan, which give each value its size, alignment, role, view and pool, and the plan: a slot or
/// an offset for each buffer. Planner and checker take the same options, so a plan is checked against what
/// was requested. A property is a constant, a table or a callable, read in O(values).
///
///     plan_options options{.bytes = sizes, .alignment = 64};
///     memory_plan const plan = plan_memory(program, options).plan;

#include <sublet/core/errors.hpp>
#include <sublet/core/internal/alignment.hpp>
#include <sublet/core/internal/callables.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/internal/value_property.hpp>
#include <sublet/core/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <type_traits>
#include <utility>
#include <vector>

// --- value role ------------------------------------------------------------------------------------------

/// How a value relates to the world outside the program: a set of flags.
///
///     position      0   1   2   3   4
///     intermediate      [=======)          live from its definition to its last touch
///     input         [===========)          live before the first step
///     output                [=======]      live after the last step
///     external      (caller's storage: not planned, not counted; its touches order steps)
///     state         (external and written: kept between runs)
///
/// A buffer has the roles of all its values. A view of an external value is external; an external view of
/// another value is refused.

namespace sublet {

enum class value_role : std::uint8_t { intermediate = 0, input = 1, output = 2, external = 4, state = 12 };

/// Both sets together.
[[nodiscard]] constexpr value_role operator|(value_role a, value_role b) noexcept
{
    return static_cast<value_role>(static_cast<unsigned>(a) | static_cast<unsigned>(b));
}

/// True for every set if `one` is `intermediate`, the empty set.
[[nodiscard]] constexpr bool has_role(value_role set, value_role one) noexcept
{
    return (static_cast<unsigned>(set) & static_cast<unsigned>(one)) == static_cast<unsigned>(one);
}

namespace detail {

inline constexpr pool_id no_pool = -1; ///< names no pool

/// The value exists before any step defines it.
[[nodiscard]] constexpr bool is_given(value_role set) noexcept
{
    return has_role(set, value_role::input) || has_role(set, value_role::external);
}

} // namespace detail

// --- per value -------------------------------------------------------------------------------------------

/// A property of every value: a callable, a table or a constant, tried in this order.
///
///     .bytes = 4096                                       a constant
///     .bytes = std::vector{100, 200, 300}                 a table: anything with [] and size()
///     .bytes = [&](auto v) { return ir[v].bytes(); }      a callable
///
/// A callable is called once for each value, when the public call that takes the options begins: if it
/// throws, nothing has happened, and what it reads may change afterwards. A property that the call has no use
/// for is not read.
///
/// They are stored by value, so options can be stored, copied and returned; a `std::span` refers to its
/// table. A pointer is none of the three.

/// A property of every value, or of every thing of another kind. T is the type of the property.
///
/// Throws: precondition_error when a constant is given, or a table or a callable is read: if a number is
///         negative or does not fit the 32 bits of an id (-1 is `no_value` where T is an id), or if the size
///         of a table is not the number of values.
template <class T, class Id = value_id>
class per_value {
public:
    per_value() = delete; // a property without default (bytes) is missing, or not given first

    /// A constant, a table or a callable, which is copied.
    template <class X>
        requires(!std::same_as<std::remove_cvref_t<X>, per_value> &&
                 !std::is_array_v<std::remove_reference_t<X>>)
    per_value(X&& x)
    {
        using held = std::decay_t<X>;
        static_assert(detail::is_value_property<held, T, Id>,
                      "sublet: a property of values is a constant, a table with [] and size(), or a callable "
                      "that takes a value_id (for a map or a pointer pass a lambda that looks it up)");
        static_assert(
            std::copy_constructible<held>,
            "sublet: a property of values is kept by value and copied, but this type cannot be copied");
        if constexpr (detail::value_constant<held, T, Id>) {
            constant_ = as_property(std::forward<X>(x));
        } else if constexpr (detail::is_value_property<held, T, Id> && std::copy_constructible<held>) {
            held_ = new held(std::forward<X>(x));
            actions_ = &actions_of<held>;
        }
    }
    /// A table, which is copied.
    template <class E>
    per_value(std::initializer_list<E> table) : per_value(std::vector<E>(table))
    {
    }
    /// The same, of numbers and formulas.
    per_value(std::initializer_list<T> table)
        requires(std::is_class_v<T> && !detail::is_id<T>)
        : per_value(std::vector<T>(table))
    {
    }
    /// A table, which is copied.
    template <class E, std::size_t N>
    per_value(E const (&table)[N]) : per_value(std::vector<E>(table, table + N))
    {
    }
    per_value(per_value const& other) : constant_(other.constant_), actions_(other.actions_)
    {
        if (actions_ != nullptr) held_ = actions_->copy(other.held_);
    }
    per_value& operator=(per_value other) // copying it may throw, so not noexcept
    {
        std::swap(constant_, other.constant_);
        std::swap(held_, other.held_);
        std::swap(actions_, other.actions_);
        return *this;
    }
    ~per_value()
    {
        if (actions_ != nullptr) actions_->destroy(held_);
    }

    /// Reads it for one value.
    [[nodiscard]] T operator[](Id v) const
    {
        return actions_ == nullptr ? constant_ : actions_->read(held_, v);
    }
    /// It is this constant, and neither a table nor a callable.
    [[nodiscard]] bool is_constant(T const& value) const { return actions_ == nullptr && constant_ == value; }
    /// It is a constant, and neither a table nor a callable.
    [[nodiscard]] bool is_constant() const noexcept { return actions_ == nullptr; }
    /// It is a callable, which every reading calls.
    [[nodiscard]] bool is_callable() const noexcept { return actions_ != nullptr && actions_->is_callable; }

    /// A bool is stored as a byte: `vector<bool>` would cost every includer 20 ms of compile time.
    using cell = std::conditional_t<std::same_as<T, bool>, unsigned char, T>;

    /// `name` is that of the property, for the sentence of an error.
    [[nodiscard]] table<Id, cell> tabulate(std::size_t values, char const* name = "a property") const
    {
        if (actions_ == nullptr) return table<Id, cell>(values, static_cast<cell>(constant_));
        actions_->expect_size(held_, values, name);
        table<Id, cell> result(values);
        actions_->read_all(held_, values, result.data());
        return result;
    }

private:
    struct actions {
        T (*read)(void const*, Id);
        void (*read_all)(void const*, std::size_t values, cell* table);
        void (*expect_size)(void const*, std::size_t, char const* name);
        void* (*copy)(void const*);
        void (*destroy)(void*);
        bool is_callable;
    };

    template <class N>
    static T as_property(N&& number)
    {
        if constexpr (detail::is_id<T>) {
            return std::forward<N>(number);
        } else if constexpr (!detail::integer<T>) {
            return static_cast<T>(std::forward<N>(number));
        } else if constexpr (!detail::integer<std::remove_cvref_t<N>>) {
            return as_property(+number);
        } else {
            if constexpr (std::signed_integral<std::remove_cvref_t<N>>)
                SUBLET_EXPECTS(number >= 0, "sublet: a property of a value is negative: %", number);
            return static_cast<T>(number);
        }
    }

    template <class X>
    static T read_one(X const& x, Id v)
    {
        if constexpr (detail::value_callable<X, T, Id>) {
            return as_property(detail::call_user(x, v));
        } else {
            SUBLET_EXPECTS(v < static_cast<std::size_t>(x.size()),
                           "sublet: the table of a property has no entry for value %, but % entries", v,
                           static_cast<std::size_t>(x.size()));
            return as_property(detail::look_up(x, v));
        }
    }

    template <class X>
    static constexpr actions actions_of{
        [](void const* x, Id v) -> T { return read_one(*static_cast<X const*>(x), v); },
        [](void const* x, std::size_t values, cell* table) {
            X const& property = *static_cast<X const*>(x);
            for (std::size_t v = 0; v != values; ++v) table[v] = read_one(property, Id::of(v));
        },
        [](void const* x, std::size_t values, char const* name) {
            if constexpr (detail::value_table<X, T, Id>) {
                auto const entries = static_cast<std::size_t>(static_cast<X const*>(x)->size());
                SUBLET_EXPECTS(entries == values, "sublet: the table of % has % entries for % values", name,
                               entries, values);
            }
        },
        [](void const* x) -> void* { return new X(*static_cast<X const*>(x)); },
        [](void* x) { delete static_cast<X*>(x); },
        detail::value_callable<X, T, Id>};

    T constant_{}; // of all, without actions
    void* held_ = nullptr;
    actions const* actions_ = nullptr;
};

namespace detail {

/// A program with its options: `listing`.
template <class L>
concept listed = requires(L const& list) {
                     typename L::handle_type;
                     list.program();
                     list.options();
                 };

} // namespace detail
// --- effort ----------------------------------------------------------------------------------------------

/// How much work the searches for a better plan may do. Work is counted, not timed: the same effort gives the
/// same plan on every machine.
///
///     {.bytes = sizes, .effort = sublet::effort::fast}
///     {.bytes = sizes, .effort = 1'000'000}             so much in each search
class effort {
public:
    /// How much work, without a count.
    enum level : std::uint8_t {
        fast,     ///< no search: the first placement, order or assignment
        balanced, ///< the default; plan_memory() searches in proportion to the buffers
        thorough  ///< at least 16 times the work of balanced
    };

    /// A level, in place of a count.
    constexpr effort(effort::level at) noexcept : level_(at) {}
    /// So much work in each search.
    ///
    /// Throws: precondition_error for a negative count.
    template <detail::integer Count>
    constexpr effort(Count work) : work_(detail::to_byte_count(work)), is_count_(true)
    {
    }

    /// The work of a search that is balanced with so much.
    [[nodiscard]] constexpr std::uint64_t of(std::uint64_t balanced_work) const noexcept
    {
        if (is_count_) return work_;
        if (level_ == fast) return 0;
        if (level_ == balanced) return balanced_work;
        return balanced_work < no_limit / 16 ? 16 * balanced_work : no_limit;
    }
    friend constexpr bool operator==(effort, effort) = default;

private:
    effort::level level_ = balanced;
    std::uint64_t work_ = 0;
    bool is_count_ = false;
};

// --- plan ------------------------------------------------------------------------------------------------

/// A plan as data: which buffers share a slot, or at which offset each buffer lies.
///
///     value   buffer        buffer   life     size   offset
///       a       0             0      [0, 2)     64        0
///       b       1             1      [1, 3)     32       64
///       c       0  (view)     2      [2, 4)     64        0     (buffer 0 is no longer live)
///       d       2

/// Under which reading of the program a plan is valid (examples/guide.md: three readings).
enum class program_reading : std::uint8_t {
    sequential,  ///< steps run one after another, in the plan's order
    concurrent,  ///< steps run in any order that edges and data allow
    control_flow ///< successors are alternatives
};

/// A slot for each buffer, without addresses; `no_slot` for a buffer that needs no storage.
struct slot_plan {
    std::vector<slot_id> slot_of; ///< by buffer, or by value; `no_slot`: needs no storage
    std::uint32_t slots = 0;      ///< how many there are, numbered from 0
    friend bool operator==(slot_plan const&, slot_plan const&) = default;
};

/// A slot plan with sizes: a slot is as large as the largest buffer in it.
struct sized_slot_plan : slot_plan {
    table<slot_id, byte_count> slot_bytes; ///< of each slot
    table<slot_id, pool_id> slot_pool;     ///< the pool that it lies in
    byte_count total_bytes = 0;            ///< the sum over all slots
};

/// Which of the slots of its pool that are free for a buffer it gets (ties: the lowest).
enum class slot_choice : std::uint8_t {
    most_shared,         ///< the one with the most buffers so far, whatever its size
    best_fit,            ///< the one closest in size, the larger of two; it grows if it is too small
    smallest_sufficient, ///< the smallest that is large enough, else a new one: no slot grows
    grow_largest,        ///< the smallest that is large enough, else the largest, which grows
    /// Only for comparison with Caffe2: the first to become free that is large enough, of equal sizes the
    /// last; else the largest, of equal sizes the last. The size of a slot is that of its first buffer.
    caffe2_sized
};

/// Step `to` begins after step `from` has ended, because of storage or of a group and not because of data.
struct handoff {
    step_id from = no_step; ///< the step that ends first
    step_id to = no_step;   ///< the step that begins afterwards
    friend bool operator==(handoff, handoff) = default;
};

/// An offset for each value that needs one.
struct memory_plan {
    /// The live range and offset of a buffer. A buffer written in place over a larger one has the same
    /// offset, and its live range begins where the other's ends: one position after the step that writes it.
    /// Hence the sizes live at a position add up to the bytes in use, and no two rectangles overlap.
    struct placed_buffer {
        value_id root =
            no_value; ///< the other values of the buffer are views or in-place results of this one
        live_range life = {};          ///< the positions at which its bytes are in use
        byte_count size = 0;           ///< of all its bytes; at least 1
        byte_count alignment = 1;      ///< the offset is a multiple of it
        pool_id pool = 0;              ///< the pool that it lies in
        byte_count offset = no_offset; ///< of its first byte in that arena; `no_offset`: it is not placed
        buffer_id over = no_buffer; ///< the larger buffer that it is written over
        /// The positions at which it must not share its slot: from its first write to its last use.
        [[nodiscard]] live_range slot_life() const { return {life.first - (over != no_buffer), life.last}; }
        friend bool operator==(memory_plan::placed_buffer const&,
                               memory_plan::placed_buffer const&) = default;
    };

    /// `out` is written over the storage of `in`, at a step that reads `in` and defines `out`.
    struct in_place_pair {
        step_id step = no_step;  ///< reads `in` for the last time and defines `out`
        value_id in = no_value;  ///< the operand
        value_id out = no_value; ///< the result
        byte_count bytes = 0; ///< of the buffer of `out`: bytes saved at the step
        friend bool operator==(memory_plan::in_place_pair const&,
                               memory_plan::in_place_pair const&) = default;
    };

    /// A pair with the bytes that it saves. The increases are of one order of the steps: `no_size`, unknown,
    /// in a plan for every path or every schedule.
    struct in_place_gain : memory_plan::in_place_pair {
        byte_count peak_bytes = 0;      ///< increase of its pool's peak without this pair
        byte_count step_peak_bytes = 0; ///< increase without any pair of this pool at the step
        friend bool operator==(memory_plan::in_place_gain const&,
                               memory_plan::in_place_gain const&) = default;
    };

    /// One allocation of a pool with a largest block, at the offsets [begin, begin + size) of the pool. It
    /// begins where the block before ends, or at the next multiple of the alignments of all buffers.
    struct block {
        pool_id pool = 0;     ///< the pool that it is a part of
        byte_count begin = 0; ///< the offset in the pool of its first byte
        byte_count size = 0;  ///< at most the largest block of the pool
        friend bool operator==(memory_plan::block const&, memory_plan::block const&) = default;
    };

    /// A value of storage of 0 bytes: it has a place, and no buffer.
    struct empty_value {
        value_id value = no_value; ///< the value
        pool_id pool = 0;          ///< the pool of its root
        byte_count offset = 0;     ///< 0, or where its root is pinned
        friend bool operator==(memory_plan::empty_value const&, memory_plan::empty_value const&) = default;
    };

    /// A place in one of the allocations of a pool.
    struct place_in_block {
        std::size_t block = 0; ///< its index in `blocks`
        byte_count offset = 0; ///< from the begin of the block
        friend bool operator==(memory_plan::place_in_block const&,
                               memory_plan::place_in_block const&) = default;
    };

    program_reading valid_for = program_reading::sequential; ///< the reading that its checker uses
    std::vector<node_id> order = {};                      ///< of the nodes; empty: 0, 1, 2 ...
    /// Of more than 0 bytes, by ascending root.
    table<buffer_id, memory_plan::placed_buffer> buffers = {};
    /// `no_buffer` if of 0 bytes (in `empty` then), unsized, external, ineligible or untouched.
    table<value_id, buffer_id> buffer_of = {};
    table<pool_id, byte_count> arena_bytes = {}; ///< of each pool
    std::vector<handoff> handoffs = {};          ///< that a concurrent execution must keep
    std::vector<value_id> unsized = {};          ///< roots of buffers of unknown size, which are not planned
    std::vector<memory_plan::empty_value> empty = {}; ///< ascending by value
    std::vector<memory_plan::block> blocks = {}; ///< by pool, ascending; of pools with a largest block only
    /// The first byte of a view in its root; no entry at all if every view begins where its root begins.
    table<value_id, byte_count> offset_in_root = {};

    /// The first byte of v in the arena of its pool, or `no_offset`, also if 64 bits do not hold it. O(1), or
    /// O(log n) for one of n values of 0 bytes.
    [[nodiscard]] byte_count offset_of(value_id v) const
    {
        if (buffer_of[v] == no_buffer) {
            std::size_t const at = find_empty(v);
            return at == empty.size() ? no_offset : empty[at].offset;
        }
        byte_count const begin = buffers[buffer_of[v]].offset;
        if (offset_in_root.empty()) return begin;
        return detail::sum_fits(begin, offset_in_root[v]) ? begin + offset_in_root[v] : no_offset;
    }

    /// The pool of v.
    /// Requires: it has an offset.
    [[nodiscard]] pool_id pool_of(value_id v) const
    {
        return buffer_of[v] != no_buffer ? buffers[buffer_of[v]].pool : empty[find_empty(v)].pool;
    }

    /// What the arena of the pool has to be a multiple of: of the alignments of all buffers in it, which are
    /// their own with that of the pool. 1 if there are none. O(buffers)
    /// Throws: precondition_error if 64 bits do not hold it.
    [[nodiscard]] byte_count base_alignment(pool_id pool) const
    {
        byte_count all = 1;
        for (memory_plan::placed_buffer const& b : buffers)
            if (b.pool == pool) all = detail::combine_alignment(all, b.alignment);
        return all;
    }

    /// The block of v and its offset there; offset `no_offset` if v has none, or its pool has no blocks.
    [[nodiscard]] memory_plan::place_in_block block_of(value_id v) const
    {
        for (std::size_t i = blocks.size(); i-- != 0 && buffer_of[v] != no_buffer;) {
            memory_plan::placed_buffer const& b = buffers[buffer_of[v]];
            if (blocks[i].pool == b.pool && blocks[i].begin <= b.offset)
                return {i, offset_of(v) - blocks[i].begin};
        }
        return {blocks.size(), no_offset};
    }
    friend bool operator==(memory_plan const&, memory_plan const&) = default;

private:
    /// Its index in `empty`, or their number.
    [[nodiscard]] std::size_t find_empty(value_id v) const { return detail::find_value(empty, v); }
};

// --- plan options ----------------------------------------------------------------------------------------

/// The limits of a pool.
///
///     largest_block = 256        pool 0    [ a ][ b ]      | [  c  ][d]     a pool of two allocations: no
///                                          block 0, of 192 | block 1, of 96  buffer is in both
struct pool_limits {
    byte_count capacity = no_limit; ///< the most bytes of its arena
    byte_count alignment = 1; ///< of every buffer in it: the lcm with its own is that of the buffer in a plan
    /// If the pool needs more bytes it is several allocations, and no buffer crosses a border. place() and
    /// all planners split pools, except for slots, which refuse a pool that does not fit one block, and for
    /// plans of every shape, which refuse a largest block. A pin is an offset in the first block.
    byte_count largest_block = no_limit;
    /// At least so many bytes lie between two of its buffers that are live together, so that a tool that
    /// watches them notices a write past the end. The highest buffer needs none behind it. Plans for every
    /// shape refuse a guard.
    byte_count guard = 0;
    /// The bytes [first, second) of each are not for its buffers, nor is a guard beside them; in any order.
    /// Plans for one order, place(), and plans for control flow keep out of them; other planners refuse
    /// them, and so does a pool with a largest block.
    std::vector<std::pair<byte_count, byte_count>> reserved = {};
    /// Two buffers of different kinds that are live together have no bytes in one page, [k * page, (k + 1) *
    /// page): Vulkan's bufferImageGranularity. place() and plan_memory() keep to whole pages all kinds but
    /// the one for which that costs least; other planners refuse pages, and so does a pool with a largest
    /// block or reserved ranges.
    byte_count page = 1;
    /// Two buffers that are kept `apart` have no bytes in one bank, [k * bank, (k + 1) * bank), while both
    /// are live, so that a step reads both at once where each bank has a port. place() and plan_memory() keep
    /// one of each pair to whole banks, or in a region of some; other planners refuse pairs, and so does a
    /// pool with banks and pages, a largest block or reserved ranges. Its base begins a bank. 1: there are
    /// none, as no two buffers share a byte.
    byte_count bank = 1;
};

/// What a planner has to know about the values, the pools and the order of the nodes.
struct plan_options {
    /// The value may be in `pool`, at a cost.
    struct pool_choice {
        value_id value = no_value; ///< a root: a view is in the pool of its root
        pool_id pool = 0;          ///< a pool that it may be in
        byte_count cost = 0;       ///< what the planner adds up, in any unit
    };

    /// The program runs in rounds, and what a round leaves in `from` is in `to` when the next one begins: a
    /// history, the state of a loop, the two halves of a ping-pong. Both are roots of one size and kind, in
    /// one pool.
    ///
    ///     round            0             1             2
    ///     { now, before }  before  now   before  now   before  now      the bytes of `now` are not copied:
    ///     at               A       B     B       A     A       B        they are `before` one round later
    ///
    /// Their places are the same if nothing reads `before` once `now` is written. Otherwise they change
    /// places after every round, and no other value lies there. { b, a } and { c, b } make three of them: in
    /// each round a lies where b lay, b where c lay, and c where a lay. { a, a } keeps a where it is.
    struct carry {
        value_id from = no_value; ///< what a round leaves: an output
        value_id to = no_value;   ///< what the next one finds: an input, given before the first round only
    };

    per_value<byte_count> bytes; ///< no default; below 2^62 if it is placed; `no_size`: unknown
    per_value<byte_count> alignment = byte_count{1}; ///< any integer >= 1
    /// Its relation to the world outside the program.
    per_value<value_role> role = value_role::intermediate;
    per_value<value_id> alias_of = no_value;           ///< v is a view of alias_of[v]
    per_value<byte_count> view_offset = byte_count{0}; ///< its first byte in alias_of[v]; it ends in the root
    per_value<pool_id> pool = pool_id{0};              ///< the pool to lie in
    per_value<byte_count> pinned = no_offset;          ///< a prescribed offset
    per_value<bool> eligible = true;        ///< false: has its own storage: not planned, not counted
    per_value<std::uint32_t> kind =
        std::uint32_t{0}; ///< in a pool with pages (pool_limits::page): any number
    /// The limits of every pool that a value with planned storage names; if none is listed, no pool has any.
    table<pool_id, pool_limits> pools = {};
    /// The pools of values that may be in several, in any order; a value without a choice is in its `pool`, a
    /// view in that of its root. Planners choose at a low cost so that capacities hold, greedily: another
    /// choice might fit where none is found.
    std::vector<plan_options::pool_choice> pool_choices = {};
    std::vector<plan_options::carry> carried = {}; ///< from each round to the next; a value at most once each
    /// Steps that may be left out, any of them, with what they make: a pass that is switched off. The plan
    /// also holds for what is left of the program; fits() gives it as a plan of that. A step that touches what
    /// an optional one makes has to be optional, too, and is left out with it. An input that only such steps
    /// touch is not one of the rest. plan_memory(), plan_concurrent() and plan_with_handoffs() take them,
    /// other planners refuse them; plans for every schedule get the hand-offs that keep an order for which an
    /// optional step stood.
    std::vector<step_id> optional = {};
    /// Pairs of values, such as the operands of one step: while both are live, no bank of their pool
    /// (pool_limits::bank) has bytes of both. A view stands for its root. A result is live with the operands
    /// of its step, so it is not written over one that it is kept apart from.
    std::vector<std::pair<value_id, value_id>> apart = {};
    /// Every node once; empty: 0, 1, 2 ... The steps run so; in a plan for every schedule, and in one with
    /// hand-offs, they run in any order that keeps, of two accesses of the same bytes of which one is a
    /// `write`, the earlier of this order first.
    std::vector<node_id> order = {};
    /// The plan before, of a program like this one: its values keep their offsets where that costs no bytes,
    /// and the report names those that moved (`moved`). Empty, or without a plan: nothing is to stay.
    memory_plan previous = {};
    /// Which value of the plan before it was; `no_value`: none. Default: the one with the same number.
    per_value<value_id> previous_value = no_value;
    /// How much a pool may grow so that offsets stay: a share of what it takes without `previous`, >= 0.
    double keep_within = 0;
    bool in_place = true;                             ///< take the in-place pairs that the program declares
    bool check = true;                                ///< check the plan before it is returned
    sublet::effort effort = sublet::effort::balanced; ///< the work of each search
};

} // namespace sublet

#endif
