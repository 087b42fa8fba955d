// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CORE_DETAIL_COUNTEREXAMPLE_TEXT_HPP
#define SUBLET_CORE_DETAIL_COUNTEREXAMPLE_TEXT_HPP

/// The sentences of all rules, written once for every stream. The payload selects a function, and the rule
/// the sentence in it; names, ids, bytes and positions are written by functions that all of them share.

#include <sublet/core/fault.hpp>
#include <sublet/core/ids.hpp>
#include <sublet/core/internal/text.hpp>
#include <sublet/core/units.hpp>

#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Both are null, or the same text.
[[nodiscard]] bool is_same_text(char const* a, char const* b) noexcept;

/// Writes a counterexample by names where it has them, and otherwise by ids. `Why` is counterexample, which
/// is declared after this.
template <class Why>
class counterexample_text {
public:
    explicit counterexample_text(Why const& why) : why_(why) {}

    std::vector<char> text()
    {
        out_.unit = why_.unit;
        if (why_.at_shape) write_shape(*why_.at_shape);
        if (why_.what == fault::foreign_plan)
            out_ << "the plan is not one of this program in this order and reading";
        why_.of.visit([this](auto const& of) { this->write(of); });
        if (why_.what != fault::unlike_capture &&
            why_.what != fault::unlike_binding) { // they name the programs
            in_tree(why_.value(), why_.value_in_tree);
            if (why_.other() != why_.value()) in_tree(why_.other(), why_.other_in_tree);
        }
        written_.push_back('\0');
        return std::move(written_);
    }

private:
    void write_shape(std::vector<byte_count> const& sizes)
    {
        if (sizes.empty()) out_ << "it is not proved for every shape: ";
        for (std::size_t d = 0; d != sizes.size(); ++d)
            out_ << (d == 0 ? "for the shape (" : ", ") << sizes[d];
        if (!sizes.empty()) out_ << "): ";
    }
    void label(char const* name, std::uint32_t id)
    {
        if (name != nullptr) out_ << "'" << name << "'";
        else out_ << id;
    }
    void id_of(value_id v) { label(why_.name_of(v), +v); }
    void value(value_id v)
    {
        out_ << "value ";
        id_of(v);
    }
    void values(value_id v, value_id other)
    {
        out_ << "values ";
        id_of(v);
        out_ << " and ";
        id_of(other);
    }
    void step(step_id s)
    {
        out_ << "step ";
        label(why_.name_of_step(s), +s);
    }
    void at(position_id position, step_id s)
    {
        if (position == no_position) return step(s);
        out_ << "position " << position;
        if (char const* name = why_.name_of_step(s)) out_ << " ('" << name << "')";
    }
    void bytes(byte_count begin, byte_count end)
    {
        out_ << out_.units() << " [" << begin << ", " << end << ')';
    }
    void bytes(byte_count begin, byte_count end, pool_id pool)
    {
        bytes(begin, end);
        out_ << " of pool " << pool;
    }
    void in_tree(value_id v, tree_value where)
    {
        if (where.value == no_value || v == no_value || why_.name_of(v) != nullptr) return;
        out_ << "; " << v << " is value " << where.value << " of program " << where.program;
    }

    void write(typename Why::overlap const& o)
    {
        if (why_.what == fault::overwritten) return overwrite(o);
        values(o.value, o.other);
        if (why_.what == fault::too_close || why_.what == fault::shared_page ||
            why_.what == fault::shared_bank) {
            if (o.position != no_position || o.step != no_step) {
                out_ << " are both alive at ";
                at(o.position, o.step);
                out_ << ", and ";
            } else {
                out_ << " may be alive together, and ";
            }
            return neighbours(o.begin, o.end, o.pool);
        }
        if (o.begin == o.end && why_.at_shape) {
            if (o.position == no_position) out_ << " are both alive in some schedule";
            else out_ << " are both alive at position " << o.position;
            out_ << ", and nothing keeps them apart in pool " << o.pool;
            return;
        }
        if (o.begin == o.end) {
            out_ << " are pinned so that their storage overlaps";
            return;
        }
        if (o.position == no_position && o.step == no_step) {
            out_ << " are both there from the start";
        } else {
            out_ << " are both alive at ";
            at(o.position, o.step);
        }
        out_ << " and share ";
        bytes(o.begin, o.end, o.pool);
    }
    void neighbours(byte_count begin, byte_count end, pool_id pool)
    {
        if (why_.what == fault::shared_page) {
            out_ << "are of different kinds, with bytes in one page, ";
            return bytes(begin, end, pool);
        }
        if (why_.what == fault::shared_bank) {
            out_ << "are to be kept apart, with bytes in one bank, ";
            return bytes(begin, end, pool);
        }
        out_ << "only " << end - begin << ' ' << out_.units() << " of pool " << pool
             << " lie between them, fewer than its guard";
    }
    void overwrite(typename Why::overlap const& o)
    {
        step(o.step);
        if (o.needed_at != no_step && o.needed_at != o.step) {
            out_ << " need not wait for ";
            step(o.needed_at);
            out_ << ", and";
        }
        out_ << " writes ";
        value(o.other);
        out_ << " over ";
        bytes(o.begin, o.end, o.pool);
        out_ << ", where ";
        value(o.value);
        out_ << " lies, ";
        if (o.needed_at == no_step) {
            out_ << "an output";
        } else if (o.needed_at == o.step) {
            out_ << "which the step itself touches";
        } else {
            out_ << "which ";
            step(o.needed_at);
            out_ << " touches";
        }
    }
    void write(typename Why::place const& at)
    {
        switch (why_.what) {
        case fault::over_capacity:
            out_ << "the arena of pool " << at.pool << " needs " << at.end << ' ' << out_.units()
                 << " and its capacity is " << at.needed;
            return;
        case fault::unplaceable_parts:
            value(at.value);
            out_ << " shares its storage in place with another, but their pins or alignments contradict each "
                    "other";
            return;
        case fault::over_budget:
            out_ << "the result takes " << at.end << ' ' << out_.units() << ", and its budget is "
                 << at.needed;
            return;
        case fault::over_time:
            out_ << "the schedule takes " << at.end << ", and at most " << at.needed << " are accepted";
            return;
        case fault::unlisted_pool:
            value(at.value);
            out_ << " names pool " << at.pool << ", but only ";
            if (at.needed == 1) out_ << "pool 0 is listed";
            else out_ << at.needed << " pools are listed, from 0";
            return;
        case fault::over_block:
            if (at.value == no_value) out_ << "a block of pool " << at.pool;
            else value(at.value);
            out_ << " needs " << at.end << ' ' << out_.units() << ", and the blocks of pool " << at.pool
                 << " have at most " << at.needed;
            return;
        default: break;
        }
        if (is_unproved() && why_.what == fault::outside_arena && at.needed == 0) {
            out_ << "the size of ";
            value(at.value);
            out_ << ", in pool " << at.pool;
            return;
        }
        value(at.value);
        if (is_unproved() && why_.what == fault::misaligned)
            out_ << " lies at a multiple of its alignment " << at.needed;
        else place(at.pool, at.begin, at.end, at.needed);
    }
    /// The rules that values and buffers share.
    void place(pool_id pool, byte_count begin, byte_count end, byte_count needed)
    {
        switch (why_.what) {
        case fault::outside_arena:
            out_ << " occupies ";
            bytes(begin, end, pool);
            out_ << ", an arena of only " << needed;
            return;
        case fault::crosses_block:
            out_ << " occupies ";
            bytes(begin, end, pool);
            out_ << ", which are not in one of its blocks";
            return;
        case fault::in_reserved:
            out_ << " lies at offset " << needed << " of pool " << pool << ", in or too close to ";
            bytes(begin, end);
            out_ << ", which are reserved";
            return;
        case fault::wrong_pool:
            if (needed != 0) out_ << " lies in pool " << pool << ", which is none of its choices";
            else out_ << " belongs to pool " << pool << " and does not lie there";
            return;
        case fault::unplaced: out_ << " needs storage and has none"; return;
        case fault::needless: out_ << " has an offset, but the plan must not place it"; return;
        default:
            if (begin == no_offset) out_ << " has no fixed offset in pool " << pool;
            else out_ << " lies at offset " << begin << " of pool " << pool;
            if (why_.what == fault::misaligned)
                out_ << ", which is not a multiple of its alignment " << needed;
            else out_ << " and is pinned to " << needed;
        }
    }
    void write(typename Why::view const& v)
    {
        switch (why_.what) {
        case fault::unlike_capture:
        case fault::unlike_binding: return unlike(v);
        case fault::unclear_view:
            step(v.step);
            out_ << (v.other == no_value ? " makes a view of " : " defines ");
            value(v.value);
            if (v.other == no_value) {
                out_ << ", but alias_of does not say of what";
                return;
            }
            out_ << ", a view of ";
            value(v.other);
            out_ << ": say view() if it makes the view, write() if it writes through it, or both";
            return;
        case fault::forgotten_write:
            step(v.step);
            out_ << " reads ";
            value(v.value);
            out_ << " and only makes a view of ";
            value(v.other);
            out_ << ": say write() if it changes bytes of that, or only_views() if it changes none";
            return;
        default: break;
        }
        value(v.value);
        out_ << " is a view of ";
        value(v.other);
        if (is_unproved()) return unproved(v);
        if (why_.what == fault::oversized_view)
            out_ << " that ends at byte " << v.end << ", but there are only " << v.needed << ' '
                 << out_.units();
        else if (why_.what == fault::misplaced_view)
            out_ << " and lies elsewhere (offset " << v.begin << ", not " << v.needed << ")";
        else unlike_its_root(v);
    }
    /// It is no shape that shows it: the proof is missing, and there are no numbers.
    [[nodiscard]] bool is_unproved() const { return why_.at_shape && why_.at_shape->empty(); }
    void unproved(typename Why::view const& v)
    {
        if (why_.what == fault::oversized_view) out_ << " that ends within it";
        else if (why_.what == fault::misplaced_view) out_ << " and lies there as the options say";
        else if (is_same_text(v.fact, "alignment"))
            out_ << " that begins at a multiple of its alignment " << v.end;
        else unlike_its_root(v);
    }
    void unlike_its_root(typename Why::view const& v)
    {
        auto is_fact = [&v](char const* name) { return is_same_text(v.fact, name); };
        if (is_fact("alignment"))
            out_ << " that begins at byte " << v.needed << ", which is not a multiple of its alignment "
                 << v.end;
        else if (is_fact("pool")) out_ << " in pool " << v.end << ", but that lies in pool " << v.needed;
        else if (is_fact("kind")) out_ << " of kind " << v.end << ", but that is of kind " << v.needed;
        else if (is_fact("role")) out_ << " and external, but that is not";
        else if (is_fact("pool_choices"))
            out_ << " with pool " << v.end << " as a choice: its pool is that of the other";
        else out_ << " with storage of its own (eligible is false), but that has planned storage";
    }
    void write(typename Why::access const& a)
    {
        bool const is_output = a.position == no_position && a.step == no_step;
        value(a.value);
        switch (why_.what) {
        case fault::several_defs:
            out_ << (a.is_given ? " is made at " : " is written at ");
            at(a.position, a.step);
            if (a.is_given) out_ << ", and is there before, as it is external or an input: say write()";
            else out_ << " and is already defined: make each version a value of its own first";
            return;
        case fault::write_moved:
            out_ << " is written at ";
            at(a.position, a.step);
            out_ << ", but the program orders this write and another access of the value the other way";
            return;
        case fault::unwritten:
            out_ << (is_output ? " is an output" : " is read at ");
            if (!is_output) at(a.position, a.step);
            out_ << ", but nothing writes ";
            bytes(a.begin, a.end);
            out_ << " of ";
            value(a.other);
            out_ << " before, which has no contents when it is allocated";
            return;
        case fault::needs_left_out:
            out_ << (is_output ? " is an output" : " is used at ");
            if (!is_output) at(a.position, a.step);
            out_ << ", but ";
            if (a.end != 0) {
                bytes(a.begin, a.end);
                out_ << " of ";
                value(a.other);
                out_ << " are written";
            } else {
                out_ << "made";
            }
            out_ << " by ";
            step(a.maker);
            out_ << ", which may be left out";
            if (!is_output) out_ << " without that";
            return;
        default: break;
        }
        out_ << (is_output ? " is an output" : " is used at ");
        if (!is_output) at(a.position, a.step);
        if (a.maker != no_step) {
            out_ << ", listed before ";
            step(a.maker);
            out_ << ", which makes it";
            if (a.has_order) out_ << ": order() finds an order that can run";
            return;
        }
        if (why_.what == fault::never_defined) out_ << " and never defined";
        else if (why_.what == fault::not_dominated)
            out_ << ", and some path leads there without its definition";
        else if (a.other != no_value) out_ << " before anything defines it";
        else out_ << " and never defined, and is neither input nor external";
    }
    void write(typename Why::waiting const& w)
    {
        if (why_.what == fault::order_left_out && why_.schedule.size() == 3) {
            step(why_.schedule[2]);
            out_ << " waits for ";
            step(why_.schedule[0]);
            out_ << " by way of ";
            step(w.step);
            out_ << " alone, which may be left out: a hand-off between the two is missing";
            return;
        }
        if (why_.what == fault::leads_back) out_ << "an edge or a hand-off from ";
        at(w.position, w.step);
        if (why_.what == fault::leads_back) {
            if (why_.schedule.size() == 2) {
                out_ << " to ";
                step(why_.schedule[1]);
            }
            out_ << " goes backward in the order: choose another order, as order() does; a program with "
                    "loops is made with flow() and planned by plan_flow()";
            return;
        }
        if (why_.what == fault::cycle) {
            out_ << " waits for itself: the order has a cycle";
            if (why_.schedule.size() > 1) cycle(why_.schedule);
            return;
        }
        out_ << " does not wait for position " << w.earlier;
        if (w.value == no_value) {
            out_ << ", as an edge of the program or a hand-off requires";
            return;
        }
        out_ << (w.value == w.other ? ", and both touch " : ", and they touch ");
        if (w.value == w.other) {
            value(w.value);
        } else {
            values(w.other, w.value);
            out_ << " in the same bytes";
        }
        if (w.begin != w.end) out_ << ": [" << w.begin << ", " << w.end << ") of pool " << w.pool;
    }
    /// Each step waits for the one before. Of a long cycle the middle is only counted.
    void cycle(std::vector<step_id> const& steps)
    {
        std::size_t const n = steps.size(), shown = 4;
        out_ << ": ";
        step(steps[0]);
        for (std::size_t i = 1; i != n; ++i) {
            out_ << " before ";
            if (i == shown && n > 2 * shown) {
                out_ << n - 2 * shown << " more before ";
                i = n - shown;
            }
            label(why_.name_of_step(steps[i]), +steps[i]);
        }
        out_ << " before ";
        label(why_.name_of_step(steps[0]), +steps[0]);
    }
    void write(typename Why::timing const& t)
    {
        if (why_.what == fault::over_group && t.other != no_step) {
            out_ << "no order was found that keeps group " << t.of << ": ";
            step(t.step);
            out_ << " begins a section before that of ";
            step(t.other);
            out_ << " has ended, and at most " << t.most << " may run at once";
            return;
        }
        step(t.step);
        switch (why_.what) {
        case fault::too_early:
            out_ << " starts at " << t.start << ", before ";
            step(t.other);
            out_ << ", for which it waits, ends at " << t.end;
            return;
        case fault::busy_worker:
            if (t.other == no_step) {
                out_ << " runs on worker " << t.of << ", and there are only " << t.end;
                return;
            }
            out_ << " starts at " << t.start << " on worker " << t.of << ", which runs ";
            step(t.other);
            out_ << " until " << t.end;
            return;
        default:
            out_ << " begins a section of group " << t.of << " at " << t.start << ", while " << t.end
                 << " others run, and at most " << t.most << " may run at once";
        }
    }
    void unlike(typename Why::view const& v)
    {
        auto one = [this](value_id id, tree_value where) {
            out_ << "value ";
            label(why_.name_of(id), +where.value);
            out_ << " of program " << where.program;
        };
        one(v.value, why_.value_in_tree);
        out_ << (why_.what == fault::unlike_capture ? " captures " : " is copied to ");
        one(v.other, why_.other_in_tree);
        out_ << ", but ." << v.fact << " is " << v.end << " of the one and " << v.needed << " of the other";
    }
    void write(typename Why::slots const& s)
    {
        if (why_.what == fault::without_slot) {
            value(s.value);
            out_ << " is written at ";
            step(s.step);
            out_ << " and has no slot";
        } else if (why_.what == fault::fixed_together) {
            values(s.value, s.other);
            out_ << " are both fixed to slot " << s.slot << " and live at the same time";
            if (s.step == no_step) return;
            out_ << ", at ";
            step(s.step);
        } else if (s.written == s.step) {
            values(s.value, s.other);
            out_ << " are both in slot " << s.slot << " at ";
            step(s.step);
        } else {
            value(s.value);
            out_ << " is read at ";
            step(s.step);
            out_ << ", and slot " << s.slot << " holds ";
            value(s.other);
            if (s.written == no_step) {
                out_ << ", given at the start";
            } else {
                out_ << ", written at ";
                step(s.written);
            }
        }
    }
    void write(typename Why::buffers const& b)
    {
        switch (why_.what) {
        case fault::over_capacity:
            out_ << "the buffers of pool " << b.pool << " need " << b.end << " bytes and its capacity is "
                 << b.needed;
            return;
        case fault::foreign_placement: out_ << "the placement does not belong to this problem"; return;
        case fault::wrong_height:
            out_ << "the buffers of pool " << b.pool << " end at " << b.end << ", but its height is given as "
                 << b.needed;
            return;
        case fault::wrong_blocks:
            out_ << "the blocks of pool " << b.pool
                 << " are not in order, do not end at its height, or exceed " << b.needed << " bytes";
            return;
        case fault::wrong_bound:
            out_ << "the lower bound of pool " << b.pool << " is given as " << b.needed
                 << ", but its placement or its proof ends at " << b.end;
            return;
        case fault::wrong_status:
            out_ << "the status of the placement is not what the heights, bounds and capacities say (pool "
                 << b.pool << ')';
            return;
        case fault::wrong_cost:
            out_ << "the chosen pools, or the cheapest, cost " << b.end << ", and that is given as "
                 << b.needed;
            return;
        case fault::wrong_movement:
            out_ << b.end << " bytes have moved, and they are given as " << b.needed;
            return;
        case fault::not_apart:
            out_ << "buffers " << b.buffer << " and " << b.other << " share ";
            bytes(b.begin, b.end, b.pool);
            out_ << ", and a penalty without limit keeps them apart";
            return;
        case fault::wrong_penalty:
        case fault::wrong_penalty_bound:
            out_ << (why_.what == fault::wrong_penalty ? "the penalties" : "the bound on the penalties");
            if (b.begin == no_offset) out_ << " of all pools";
            else out_ << " of pool " << b.pool;
            if (why_.what == fault::wrong_penalty) out_ << " are " << b.end << ", and given as " << b.needed;
            else out_ << " is given as " << b.needed << ", and at most " << b.end << " is right";
            return;
        case fault::too_close:
        case fault::shared_page:
        case fault::shared_bank:
            out_ << "buffers " << b.buffer << " and " << b.other;
            if (b.position == no_position) out_ << " are not ordered by their clocks, and ";
            else out_ << " are both alive at position " << b.position << ", and ";
            return neighbours(b.begin, b.end, b.pool);
        case fault::clash:
            out_ << "buffers " << b.buffer << " and " << b.other;
            if (b.begin == b.end) {
                out_ << " are pinned so that what is colocated with them overlaps";
                return;
            }
            if (b.position == no_position) out_ << " are not ordered by their clocks";
            else out_ << " are both alive at position " << b.position;
            out_ << " and share ";
            bytes(b.begin, b.end, b.pool);
            return;
        default: break;
        }
        out_ << "buffer " << b.buffer;
        switch (why_.what) {
        case fault::over_block:
            out_ << " needs " << b.end << " bytes, and the blocks of pool " << b.pool << " have at most "
                 << b.needed;
            return;
        case fault::unplaceable_parts:
            out_ << " is colocated with buffer " << b.other
                 << ", but their pins, alignments or distances contradict each other";
            return;
        case fault::not_colocated:
            out_ << " is colocated with buffer " << b.other << " and lies elsewhere (offset " << b.begin
                 << ", not " << b.needed << ')';
            return;
        case fault::wrong_pool: out_ << " lies in pool " << b.pool << ", which is not one of its own"; return;
        case fault::unplaced: out_ << " needs bytes and has no offset"; return;
        case fault::needless: out_ << " needs no bytes and has an offset, " << b.begin; return;
        default: return place(b.pool, b.begin, b.end, b.needed);
        }
    }
    void write(typename Why::proof const& p)
    {
        out_ << "the proof of pool " << p.pool << ", of " << p.bytes << " bytes, ";
        for (char const* c = p.text; *c != '\0'; ++c)
            if (*c == '%') out_ << p.found;
            else out_ << *c;
    }
    void write(typename Why::renaming const& r)
    {
        auto source = [this](typename Why::renaming::source from) {
            if (from.step != no_step) {
                out_ << "what ";
                step(from.step);
                out_ << " writes as its touch " << from.operand;
            } else if (from.operand != no_value) {
                out_ << "the given value " << from.operand;
            } else {
                out_ << "nothing";
            }
        };
        switch (why_.what) {
        case fault::other_shape:
            if (r.step == no_step) {
                out_ << "the programs have different nodes, edges or steps";
            } else {
                step(r.step);
                out_ << " touches values in another way than before";
            }
            return;
        case fault::other_storage:
            if (r.step == no_step) {
                out_ << "the program is given ";
            } else {
                step(r.step);
                out_ << " writes ";
            }
            value(r.value);
            out_ << " as " << r.name << ", but this name has other bytes, or these bytes have another name";
            return;
        case fault::other_in_place:
            step(r.step);
            out_ << " may write " << r.name << " over " << r.value << " in one of the programs only";
            return;
        case fault::other_end: out_ << "at the end"; break;
        case fault::other_read_at_end:
            out_ << "at the end of the node of ";
            step(r.step);
            break;
        default:
            out_ << "at ";
            step(r.step);
            break;
        }
        out_ << ", ";
        value(r.value);
        out_ << ", now called " << r.name << ", is ";
        source(r.found);
        out_ << " and should be ";
        source(r.expected);
    }

    void command(std::uint32_t which, std::uint32_t stream, step_id s, value_id v)
    {
        out_ << "command " << which << " on stream " << stream;
        if (s != no_step) {
            out_ << ", ";
            step(s);
            out_ << ',';
        }
        if (v == no_value) return;
        out_ << " as ";
        value(v);
    }
    void write(typename Why::commands const& c)
    {
        auto first = [&] { command(c.first, c.first_stream, c.first_step, c.first_value); };
        if (why_.what == fault::leaked) {
            first();
            out_ << " allocates block " << c.block << ", which is never released";
            return;
        }
        command(c.second, c.second_stream, c.second_step, c.second_value);
        char const* end = ", as an edge, a hand-off or the ends of the run require";
        switch (why_.what) {
        case fault::race:
            touches(c);
            out_ << " and does not wait for ";
            end = ", which touches them too";
            break;
        case fault::use_before_allocation:
            out_ << " uses block " << c.block << " and does not wait for ";
            end = ", which allocates it";
            break;
        case fault::use_after_release:
            out_ << " touches block " << c.block << " after ";
            end = " has released it";
            break;
        case fault::freed_in_use:
            out_ << " releases block " << c.block << " and does not wait for ";
            first();
            out_ << ", which touches ";
            bytes(c.begin, c.end);
            out_ << " of it";
            return;
        case fault::double_release:
            out_ << " releases block " << c.block << " after ";
            end = " has released it";
            break;
        case fault::never_allocated:
            out_ << " uses block " << c.block << ", which was not allocated before";
            return;
        case fault::double_allocation:
            out_ << " allocates block " << c.block << ", which already exists";
            return;
        case fault::out_of_bounds:
            touches(c);
            out_ << ", which ends before";
            return;
        case fault::unrecorded:
            out_ << " waits for event " << c.block << ", which was not recorded before";
            return;
        default: out_ << " does not wait for "; break;
        }
        first();
        out_ << end;
    }
    void touches(typename Why::commands const& c)
    {
        out_ << " touches ";
        bytes(c.begin, c.end);
        out_ << " of block " << c.block;
    }

    Why const& why_;
    std::vector<char> written_;
    appended_text appended_{written_};
    plain_text<appended_text> out_{appended_};
};

} // namespace sublet::detail

#endif
