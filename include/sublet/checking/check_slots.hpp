// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_SLOTS_HPP
#define SUBLET_CHECKING_CHECK_SLOTS_HPP

/// The opponent of every colouring: follows what lies in each slot along the edges of the program, and looks
/// for a step that reads one value and would find another.
///
///        0: def a             a and b share slot 0. The way over node 2 is good; over node 1 it is not: the
///        /      \             witness is "value a is read at step 3, and slot 0 holds b, written at step 1",
///     1: def b   2:           and anybody can walk from there to here without meeting another write.
///        \      /
///        3: use a
///
/// Who is live where, or interferes with whom, is not asked: a plan is right iff every read finds its own.
/// Each slot is a small question of its own: which writes arrive where? Two of different values prove the
/// place spoilt for anybody, so no node remembers more, and none is visited more than twice a slot.
///
/// Source: Fallin, "Cranelift, part 3: correctness in register allocation", 2021, whose checker follows
/// symbolic values through registers. Here the writes themselves are followed, so that what is found is a
/// path.

#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <algorithm>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

/// A counterexample to a slot_plan, and where to look.
struct slot_witness {
    fault what = fault::clash; ///< clash; unplaced: needs a slot; foreign_plan: not one of this program
    value_id value = no_value;
    value_id other = no_value; ///< what lies in `slot` when `step` reads `value`, or goes there with it
    slot_id slot = no_slot;
    step_id step = no_step;    ///< which reads, holds or writes `value`
    step_id written = no_step; ///< which writes `other`; `no_step`: nothing does, it is given
    friend bool operator==(slot_witness const&, slot_witness const&) = default;
};

/// A sentence, to any stream that takes text and integers.
template <class Stream>
    requires requires(Stream& out, byte_count number) { out << "text" << number; }
Stream& operator<<(Stream& out, slot_witness const& w)
{
    if (w.what == fault::foreign_plan) {
        out << "the plan is not one of this program";
    } else if (w.what == fault::unplaced) {
        out << "value " << w.value << " is written at step " << w.step << " and has no slot";
    } else if (w.written == w.step) {
        out << "values " << w.value << " and " << w.other << " are both in slot " << w.slot << " at step "
            << w.step;
    } else {
        out << "value " << w.value << " is read at step " << w.step << ", and slot " << w.slot
            << " holds value " << w.other;
        if (w.written == no_step) out << ", as from the start";
        else out << ", written at step " << w.written;
    }
    return out;
}

namespace detail {

template <std::same_as<snapshot> S>
class slot_opponent {
public:
    slot_opponent(S const& program, slot_plan const& plan) : program_(program), plan_(plan) {}

    std::optional<slot_witness> first_fault()
    {
        if (is_foreign()) return slot_witness{.what = fault::foreign_plan};
        if (auto fact = gather()) return fact;
        arriving_.resize(program_.nodes());
        leaving_.assign(program_.nodes(), none);
        for (std::size_t first = 0, last = 0; first != deeds_.size(); first = last) {
            while (last != deeds_.size() && deeds_[last].slot == deeds_[first].slot) ++last;
            follow(first, last);
            if (auto fact = clash(first, last)) return fact;
            forget(first, last);
        }
        return std::nullopt;
    }

private:
    enum class act : std::uint8_t { is_given, reads_early, reads, writes, reads_at_end };
    struct deed {
        slot_id slot;
        step_id step;
        act what;
        value_id value;
        node_id node;
        friend auto operator<=>(deed const&, deed const&) = default;
    };
    static constexpr std::size_t none = ~std::size_t{0};
    /// Deeds that put something into the slot and may be the last to do so; of different values.
    struct writers {
        std::size_t one = none;
        std::size_t another = none;
    };

    bool is_foreign() const
    {
        if (plan_.slot_of.size() != program_.values()) return true;
        return std::any_of(plan_.slot_of.begin(), plan_.slot_of.end(),
                           [this](slot_id s) { return s != no_slot && s >= plan_.slots; });
    }

    /// Every deed in a slot: by slot, in the order of the steps, and within a step reads before writes.
    std::optional<slot_witness> gather()
    {
        std::vector<unsigned char> is_given(program_.values(), 1), is_reached(program_.nodes(), 0);
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                if (t.kind != touch_kind::def) continue;
                if (plan_.slot_of[t.value] == no_slot)
                    return slot_witness{.what = fault::unplaced, .value = t.value, .step = s};
                is_given[t.value] = 0;
            }
        if (program_.nodes() != 0) open_.push_back(0);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            if (is_reached[n]) continue;
            is_reached[n] = 1;
            for (node_id s : program_.successors(n)) open_.push_back(s);
        }
        auto note = [&](value_id v, node_id n, step_id s, act what) {
            slot_id const slot = plan_.slot_of[v];
            if (slot == no_slot) return;
            deeds_.push_back({slot, s, what, v, n});
            if (is_given[v] && is_reached[n]) { // so it lies there from the start
                deeds_.push_back({slot, 0, act::is_given, v, 0});
                is_given[v] = 0;
            }
        };
        for (node_id n = 0; n != program_.nodes(); ++n)
            for (step_id s = program_.steps_of(n).first; s != program_.steps_of(n).last; ++s)
                for (touch t : program_.touches(s))
                    note(t.value, n, s,
                         t.kind == touch_kind::def   ? act::writes
                         : t.kind == touch_kind::use ? act::reads
                                                     : act::reads_early);
        for (edge_use u : program_.edge_uses())
            note(u.value, u.pred, program_.steps_of(u.pred).last - 1, act::reads_at_end);
        std::sort(deeds_.begin(), deeds_.end());
        return std::nullopt;
    }

    /// Bring every write to the nodes that it reaches.
    void follow(std::size_t first, std::size_t last)
    {
        for (std::size_t d = first; d != last; ++d)
            if (deeds_[d].what == act::writes) leaving_[deeds_[d].node] = d;
        for (std::size_t d = first; d != last; ++d)
            if (deeds_[d].what == act::is_given) arrive(0, d);
            else if (leaving_[deeds_[d].node] == d)
                for (node_id s : program_.successors(deeds_[d].node)) arrive(s, d);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            for (node_id s : program_.successors(n)) {
                arrive(s, arriving_[n].one);
                if (arriving_[n].another != none) arrive(s, arriving_[n].another);
            }
        }
    }
    void arrive(node_id n, std::size_t write)
    {
        writers& known = arriving_[n];
        if (known.one == none) {
            known.one = write;
            entered_.push_back(n);
        } else if (known.another == none && deeds_[known.one].value != deeds_[write].value) {
            known.another = write;
        } else {
            return;
        }
        if (leaving_[n] == none) open_.push_back(n);
    }

    std::optional<slot_witness> clash(std::size_t first, std::size_t last) const
    {
        writers here;
        for (std::size_t d = first; d != last; ++d) {
            deed const& now = deeds_[d];
            if (now.what == act::is_given) continue;
            deed const& before = deeds_[d == first ? d : d - 1];
            if (d == first || before.what == act::is_given || before.node != now.node)
                here = arriving_[now.node];
            if (stays(before) && stays(now) && before.step == now.step && before.value != now.value &&
                !takes_over(before, now))
                return slot_witness{.value = before.value,
                                    .other = now.value,
                                    .slot = now.slot,
                                    .step = now.step,
                                    .written = now.step};
            if (now.what == act::writes) {
                here = {d, none};
                continue;
            }
            for (std::size_t w : {here.one, here.another})
                if (w != none && deeds_[w].value != now.value)
                    return slot_witness{.value = now.value,
                                        .other = deeds_[w].value,
                                        .slot = now.slot,
                                        .step = now.step,
                                        .written =
                                            deeds_[w].what == act::is_given ? no_step : deeds_[w].step};
        }
        return std::nullopt;
    }
    /// Throughout its step.
    static bool stays(deed const& d) { return d.what == act::reads || d.what == act::writes; }
    bool takes_over(deed const& in, deed const& out) const
    {
        if (in.what != act::reads || out.what != act::writes) return false;
        auto const pairs = program_.overwrites(out.step);
        return std::any_of(pairs.begin(), pairs.end(),
                           [&](overwrite o) { return o.in == in.value && o.out == out.value; });
    }

    void forget(std::size_t first, std::size_t last)
    {
        for (std::size_t d = first; d != last; ++d) leaving_[deeds_[d].node] = none;
        for (node_id n : entered_) arriving_[n] = {};
        entered_.clear();
    }

    S const& program_;
    slot_plan const& plan_;
    std::vector<deed> deeds_;
    std::vector<std::size_t> leaving_; // by node: its last write to the slot
    std::vector<writers> arriving_;    // by node: at its beginning
    std::vector<node_id> entered_;     // where something arrives
    std::vector<node_id> open_;
};

} // namespace detail

/// Look for a path on which `plan` lets a step read another value than its own. None: it is proved.
///
/// Successors are alternatives and every path counts, also those from nodes that the entry does not reach. A
/// step reads, then writes; what it holds or writes lies apart, unless the step may write its result over
/// that operand; a phi operand is read where the predecessor ends. A value that nothing defines is given: if
/// the entry reaches a use of it, it lies in its slot from the start; it may also have no slot and lie
/// elsewhere. What a slot holds when nobody reads it does not matter, and a read that no write reaches is the
/// program's own affair.
///
/// Ensures:    the first fault in this order: a plan of another program (by the number of values, or a slot
///             that is none of `slots`); the first step that writes a value without a slot; by slot, the
///             first step at which two values lie there, or the wrong one. If no two values that share a slot
///             occupy one step, nor are both needed at the start, the plan is proved. In strict SSA form
///             where the entry reaches every node and nothing is written in place, no other plan is.
/// Complexity: O(t log t + s (V + E)) time, t = touches, s = slots; O(V + t) memory.
template <program P>
[[nodiscard]] std::optional<slot_witness> check_slots(P const& p, slot_plan const& plan)
{
    return detail::slot_opponent<snapshot>(as_snapshot(p), plan).first_fault();
}

} // namespace sublet

#endif
