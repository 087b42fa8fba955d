// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_WITNESS_HPP
#define SUBLET_CHECKING_WITNESS_HPP

/// Counterexamples to plans: the violated rule, the values, the position or step, the bytes, the schedule.
///
///     values 3 and 5 are both alive at position 12 and share bytes [0, 64) of pool 0        one order
///
///     step 7 need not wait for step 9, and writes value 5 over bytes [0, 64) of pool 0, where value 3 lies,
///     which step 9 touches                                                                  every order
///
///     schedule  0 1 2 6 7 3 4 5 8 9     is a valid order; 7 precedes 9 and follows the def of value 3
///                       ↑         ↑

#include <sublet/units.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace sublet {

/// The rules of a plan; beside each stands which members of the witness show that it is violated.
enum class fault : std::uint8_t {
    clash,      ///< value and other share bytes [begin, end), and both are alive at position; or, for steps
                ///< in any order, the step written_at writes other over value, which needed_at touches
    misaligned, ///< value lies at begin, which is no multiple of `needed`
    outside_arena, ///< value occupies bytes up to end, beyond the `needed` bytes of its arena
    off_pin,       ///< value lies at begin and not at its pinned offset, `needed`
    wrong_pool,    ///< value does not lie in `pool`, its own, or lies there and has other choices (needed: 1)
    unclear_view,  ///< `step` defines value, a view of other; or makes a view of a value that is none (no
                   ///< other)
    unwritten, ///< `step` reads value, or it is an output, and nothing writes bytes [begin, end) of other,
               ///< its root, which is made without contents
    forgotten_write, ///< `step` reads value, changes nothing, and only makes views of other storage: of other
    /// value is a view of other, but `fact` is `end` of it and `needed` of other; `needed` is its first byte
    /// in other if that is the alignment
    unlike_root,
    oversized_view, ///< value is a view of other, but ends at byte `end` of it, and other has only `needed`
    misplaced_view, ///< value is a view of other, but lies at begin and other at `needed`
    unplaced,       ///< value needs storage and has none
    needless,       ///< value has an offset, but the plan must not place it
    over_capacity,  ///< the arena of pool has end bytes, more than its capacity, `needed`
    write_moved,    ///< the order moves the write of value at position across another access of it
    used_undefined, ///< value is used at position, or at step, or is an output; other: itself if its first
                    ///< def comes later, or no_value
    several_defs,   ///< value is already defined when `step` writes it (concurrent reading); needed: 1 if it
                    ///< is external or an input
    cycle,          ///< `step` waits for itself (concurrent reading)
    foreign_plan,   ///< the plan is not of this program, this order or this reading
    leads_back,     ///< an edge from position goes backward: the program loops, or the order is wrong
    /// position, which touches other, does not wait for position `earlier`, which touches value; both need
    /// bytes [begin, end) of pool, or those of their class if that is empty
    unordered,
    crosses_block, ///< value occupies bytes [begin, end) of pool, which are not in one of its blocks
    over_block,    ///< value, or without one a block of pool, ends at end, above its largest block, `needed`
    /// value, which a body captures, is other, but `fact` is `end` of the one and `needed` of the other
    unlike_capture,
    unlike_binding ///< value is copied to other by a binding, with the same members
};

/// Which members a fault sets stands beside it; the others keep their defaults.
struct witness {
    /// The caller's name of a value or of a step.
    struct label {
        bool is_of_step = false;     ///< the name of a step, not of a value
        std::uint32_t id = 0;        ///< of the step or value
        std::vector<char> text = {}; ///< ends with a null character
        friend bool operator==(witness::label const&, witness::label const&) = default;
    };

    fault what = fault::clash; ///< the rule that is violated
    value_id value = no_value; ///< of a clash of steps in any order: the root of its class
    value_id other = no_value; ///< of a clash the second value; for other rules see fault
    position_id position = no_position; ///< in the order of the plan, or in `schedule`
    byte_count begin = 0;       ///< the first byte: an offset
    byte_count end = 0;         ///< behind the last byte
    byte_count needed = 0;      ///< what the rule requires: a size, an offset or an alignment
    pool_id pool = 0;           ///< the pool with the arena that is meant
    step_id step = no_step;       ///< that shows the fault; in one order it stands at `position`, if known
    position_id earlier = no_position; ///< before `position`
    step_id needed_at = no_step;  ///< the last step to touch `value`; `no_step`: an output, needed to the end
    step_id written_at = no_step; ///< the step that writes `other`; `no_step`: both are given
    /// Of a clash of steps in any order: all steps in a possible order; needed_at follows written_at or equals
    /// it, or, where both only write, immediately precedes it. Of a cycle: each waits for the one before.
    std::vector<step_id> schedule = {};
    /// Of a plan for all batches: a batch that shows the fault; 0: validity for all of them is not proved.
    std::optional<byte_count> batch = std::nullopt;
    char const* fact = nullptr;            ///< the member of plan_options that a rule compares
    detail::tree_value value_in_tree = {}; ///< of a nested plan: the program of `value`, and its id there
    detail::tree_value other_in_tree = {}; ///< the same of `other`
    std::vector<witness::label> names = {}; ///< the names that name() and name_step() have given

    /// Gives a value the caller's name, a range of char, which is printed instead of its id.
    template <class Text>
    void name(value_id v, Text const& text)
    {
        add_label(false, v, text);
    }
    /// The same for a step.
    template <class Text>
    void name_step(step_id s, Text const& text)
    {
        add_label(true, s, text);
    }

    /// The name, ending in '\0', or null.
    [[nodiscard]] char const* name_of(value_id v) const { return find_label(false, v); }
    /// The same for a step.
    [[nodiscard]] char const* name_of_step(step_id s) const { return find_label(true, s); }

    friend bool operator==(witness const&, witness const&) = default;

private:
    template <class Text>
    void add_label(bool is_of_step, std::uint32_t id, Text const& text)
    {
        witness::label named{is_of_step, id, {}};
        for (char c : text)
            if (c != '\0') named.text.push_back(c);
        named.text.push_back('\0');
        names.push_back(std::move(named));
    }
    char const* find_label(bool is_of_step, std::uint32_t id) const
    {
        for (witness::label const& named : names)
            if (named.is_of_step == is_of_step && named.id == id) return named.text.data();
        return nullptr;
    }
};

namespace detail {

/// Writes a witness by names where it has them, and otherwise by ids.
template <class Stream>
struct witness_text {
    Stream& out;
    witness const& w;

    void label(char const* name, std::uint32_t id)
    {
        if (name != nullptr) out << "'" << name << "'";
        else out << id;
    }
    void id_of(value_id v) { label(w.name_of(v), v); }
    void value(value_id v)
    {
        out << "value ";
        id_of(v);
    }
    void both_values()
    {
        out << "values ";
        id_of(w.value);
        out << " and ";
        id_of(w.other);
    }
    void step(step_id s)
    {
        out << "step ";
        label(w.name_of_step(s), s);
    }
    void place()
    {
        if (w.position == no_position) return step(w.step);
        out << "position " << +w.position;
        if (char const* name = w.name_of_step(w.step)) out << " ('" << name << "')";
    }
    void bytes() { out << "bytes [" << w.begin << ", " << w.end << ") of pool " << +w.pool; }

    void clash()
    {
        if (w.written_at != no_step) return overwritten();
        both_values();
        if (w.position == no_position) {
            out << " are both there from the start";
        } else {
            out << " are both alive at ";
            place();
        }
        out << " and share ";
        bytes();
    }
    void overwritten()
    {
        step(w.written_at);
        if (w.needed_at != no_step && w.needed_at != w.written_at) {
            out << " need not wait for ";
            step(w.needed_at);
            out << ", and";
        }
        out << " writes ";
        value(w.other);
        out << " over ";
        bytes();
        out << ", where ";
        value(w.value);
        out << " lies, ";
        if (w.needed_at == no_step) {
            out << "an output";
        } else if (w.needed_at == w.written_at) {
            out << "which the step itself touches";
        } else {
            out << "which ";
            step(w.needed_at);
            out << " touches";
        }
    }
    void undefined()
    {
        value(w.value);
        if (w.position == no_position && w.step == no_step) {
            out << " is an output";
        } else {
            out << " is used at ";
            place();
        }
        if (w.other == no_value) out << " and never defined, and is neither input nor external";
        else out << " before anything defines it";
    }
    void unclear()
    {
        step(w.step);
        out << (w.other == no_value ? " makes a view of " : " defines ");
        value(w.value);
        if (w.other == no_value) {
            out << ", but alias_of does not say of what";
            return;
        }
        out << ", a view of ";
        value(w.other);
        out << ": say view() if it makes the view, write() if it writes through it, or both";
    }
    void forgotten()
    {
        step(w.step);
        out << " reads ";
        value(w.value);
        out << " and only makes a view of ";
        value(w.other);
        out << ": say write() if it changes bytes of that, or only_views() if it changes none";
    }
    void unlike_its_root()
    {
        auto is_fact = [this](char const* name) {
            std::size_t i = 0;
            while (name[i] != '\0' && name[i] == w.fact[i]) ++i;
            return name[i] == w.fact[i];
        };
        value(w.value);
        out << " is a view of ";
        value(w.other);
        if (is_fact("alignment"))
            out << " that begins at byte " << w.needed << ", which is not a multiple of its alignment "
                << w.end;
        else if (is_fact("pool")) out << " in pool " << w.end << ", but that lies in pool " << w.needed;
        else if (is_fact("role")) out << " and external, but that is not";
        else if (is_fact("pool_choices"))
            out << " with pool " << w.end << " as a choice: its pool is that of the other";
        else out << " with storage of its own (eligible is false), but that has planned storage";
    }
    void unordered()
    {
        place();
        out << " does not wait for position " << +w.earlier;
        if (w.value == no_value) {
            out << ", as an edge of the program or a hand-off requires";
            return;
        }
        out << (w.value == w.other ? ", and both touch " : ", and they touch ");
        if (w.value == w.other) {
            value(w.value);
        } else {
            out << "values ";
            id_of(w.other);
            out << " and ";
            id_of(w.value);
            out << " in the same bytes";
        }
        if (w.begin != w.end) out << ": [" << w.begin << ", " << w.end << ") of pool " << +w.pool;
    }
    void of_value(char const* text)
    {
        value(w.value);
        out << text;
    }
    void offset()
    {
        value(w.value);
        out << " lies at offset " << w.begin << " of pool " << +w.pool;
    }
    void unlike(char const* relation)
    {
        auto one = [this](value_id v, tree_value where) {
            out << "value ";
            label(w.name_of(v), where.value);
            out << " of program " << +where.program;
        };
        one(w.value, w.value_in_tree);
        out << relation;
        one(w.other, w.other_in_tree);
        out << ", but ." << w.fact << " is " << w.end << " of the one and " << w.needed << " of the other";
    }
    void in_tree(value_id v, tree_value where)
    {
        if (where.value == no_value || w.name_of(v) != nullptr) return;
        out << "; " << +v << " is value " << +where.value << " of program " << +where.program;
    }

    void write()
    {
        if (w.batch == 0) out << "it is not proved for all batches: ";
        else if (w.batch) out << "for a batch of " << *w.batch << ": ";
        rule();
        if (w.what == fault::unlike_capture || w.what == fault::unlike_binding)
            return; // they name the programs
        in_tree(w.value, w.value_in_tree);
        if (w.other != w.value) in_tree(w.other, w.other_in_tree);
    }
    void rule()
    {
        switch (w.what) {
        case fault::clash: return clash();
        case fault::misaligned:
            offset();
            out << ", which is not a multiple of its alignment " << w.needed;
            return;
        case fault::outside_arena:
            value(w.value);
            out << " occupies ";
            bytes();
            out << ", an arena of only " << w.needed;
            return;
        case fault::off_pin:
            offset();
            out << " and is pinned to " << w.needed;
            return;
        case fault::wrong_pool:
            value(w.value);
            if (w.needed != 0) out << " lies in pool " << +w.pool << ", which is none of its choices";
            else out << " belongs to pool " << +w.pool << " and does not lie there";
            return;
        case fault::oversized_view:
            value(w.value);
            out << " is a view of ";
            value(w.other);
            out << " that ends at byte " << w.end << ", but there are only " << w.needed << " bytes";
            return;
        case fault::unclear_view: return unclear();
        case fault::unwritten:
            value(w.value);
            if (w.step == no_step) {
                out << " is an output";
            } else {
                out << " is read at ";
                place();
            }
            out << ", but nothing writes bytes [" << w.begin << ", " << w.end << ") of ";
            value(w.other);
            out << " before, which has no contents when it is allocated";
            return;
        case fault::forgotten_write: return forgotten();
        case fault::unlike_root: return unlike_its_root();
        case fault::crosses_block:
            value(w.value);
            out << " occupies ";
            bytes();
            out << ", which are not in one of its blocks";
            return;
        case fault::over_block:
            if (w.value == no_value) out << "a block of pool " << +w.pool;
            else value(w.value);
            out << " needs " << w.end << " bytes, and the blocks of pool " << +w.pool << " have at most "
                << w.needed;
            return;
        case fault::misplaced_view:
            value(w.value);
            out << " is a view of ";
            value(w.other);
            out << " and lies elsewhere (offset " << w.begin << ", not " << w.needed << ")";
            return;
        case fault::unplaced: return of_value(" needs storage and has none");
        case fault::needless: return of_value(" has an offset, but the plan must not place it");
        case fault::over_capacity:
            out << "the arena of pool " << +w.pool << " needs " << w.end << " bytes and its capacity is "
                << w.needed;
            return;
        case fault::write_moved:
            value(w.value);
            out << " is written at ";
            place();
            out << ", but the program orders this write and another access of the value the other way";
            return;
        case fault::used_undefined: return undefined();
        case fault::several_defs:
            value(w.value);
            out << (w.needed != 0 ? " is made at " : " is written at ");
            place();
            if (w.needed != 0) out << ", and is there before, as it is external or an input: say write()";
            else out << " and is already defined: make each version a value of its own first";
            return;
        case fault::cycle:
            place();
            out << " waits for itself: the order has a cycle";
            return;
        case fault::foreign_plan:
            out << "the plan is not one of this program in this order and reading";
            return;
        case fault::leads_back:
            out << "an edge or a hand-off from ";
            place();
            out << " goes backward in the order: use plan_flow() for programs with loops, or choose another "
                   "order";
            return;
        case fault::unordered: return unordered();
        case fault::unlike_capture: return unlike(" captures ");
        case fault::unlike_binding: return unlike(" is copied to ");
        }
    }
};

} // namespace detail

/// Writes one sentence to any text stream.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, witness const& w)
{
    detail::witness_text<Stream>{out, w}.write();
    return out;
}

} // namespace sublet

#endif
