// SPDX-License-Identifier: BSL-1.0

/// Accesses are listed by slot. For a slot of several values, a backward walk marks the nodes where it is
/// read before it is written, a forward walk brings the writes there, at most two to a node, and a pass
/// over the accesses compares.

#include <sublet/checking/check_slots.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace sublet::detail {

class slot_checker {
public:
    slot_checker(snapshot const& program, slot_plan const& plan)
        : program_(program), plan_(plan), is_given_(program.values(), 1),
          predecessors_(program.graph().transposed(program.nodes())), last_write_(program.nodes(), none),
          reaching_(program.nodes()), is_live_in_(program.nodes())
    {
    }

    std::optional<counterexample> first_fault()
    {
        if (is_foreign()) return counterexample{fault::foreign_plan};
        if (auto fact = unplaced()) return fact;
        auto const in_slot = collect_accesses();
        for (slot_id slot = 0; slot != plan_.slots; ++slot) {
            indices const accesses = in_slot[slot];
            if (!is_shared(accesses)) continue;
            propagate(accesses);
            if (auto fact = clash(accesses)) return fact;
            reset(accesses);
        }
        return std::nullopt;
    }

private:
    enum class slot_access_kind : std::uint8_t { is_given, reads_early, reads, writes, reads_at_end };
    struct slot_access {
        step_id step;
        slot_access_kind what;
        value_id value;
        node_id node;
        bool spans_step() const
        {
            return what == slot_access_kind::reads || what == slot_access_kind::writes;
        }
    };
    using indices = std::span<std::uint32_t const>;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    /// Up to two writes, of different values, that may be the last before this point.
    struct reaching_writes {
        std::uint32_t one = none;
        std::uint32_t another = none;
    };

    bool is_foreign() const
    {
        for (slot_id slot : plan_.slot_of)
            if (slot != no_slot && slot >= plan_.slots) return true;
        return plan_.slot_of.size() != program_.values();
    }

    /// The first write of a value without a slot; records the values that are written.
    std::optional<counterexample> unplaced()
    {
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                if (!t.defines()) continue;
                if (plan_.slot_of[t.value] == no_slot)
                    return counterexample{fault::without_slot,
                                          counterexample::slots{.value = t.value, .step = s}};
                is_given_[t.value] = 0;
            }
        return std::nullopt;
    }

    /// Lists all accesses in the order of the steps, and returns their indices by slot.
    csr_rows<slot_id, std::uint32_t> collect_accesses()
    {
        table<node_id, unsigned char> is_reached(program_.nodes(), 0);
        if (program_.nodes() != 0) open_.push_back(0);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            if (is_reached[n]) continue;
            is_reached[n] = 1;
            for (node_id s : program_.successors(n)) open_.push_back(s);
        }
        auto note = [this](value_id v, node_id n, step_id s, slot_access_kind what) {
            if (plan_.slot_of[v] != no_slot) accesses_.push_back({s, what, v, n});
        };
        auto read = [&](value_id v, node_id n, step_id s, slot_access_kind what) {
            note(v, n, s, what);
            if (!is_given_[v] || !is_reached[n]) return;
            is_given_[v] = 0; // recorded once
            note(v, 0, 0, slot_access_kind::is_given);
        };
        using reads_by_node = csr_rows<node_id, value_id>;
        auto const read_at_end = reads_by_node::gathered(program_.nodes(), [this](auto add) {
            for (edge_use u : program_.edge_uses()) add(u.pred, u.value);
        });
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const steps = program_.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s)
                for (touch t : program_.touches(s))
                    if (t.defines()) note(t.value, n, s, slot_access_kind::writes);
                    else
                        read(t.value, n, s,
                             t.kind == touch::access::use ? slot_access_kind::reads
                                                          : slot_access_kind::reads_early);
            for (value_id v : read_at_end[n]) read(v, n, steps.last - 1, slot_access_kind::reads_at_end);
        }
        SUBLET_EXPECTS(accesses_.size() < none, "sublet: more touches than 32-bit ids");
        return csr_rows<slot_id, std::uint32_t>::gathered(plan_.slots, [this](auto add) {
            for (std::uint32_t d = 0; d != accesses_.size(); ++d) add(plan_.slot_of[accesses_[d].value], d);
        });
    }

    bool is_shared(indices accesses) const
    {
        for (std::uint32_t d : accesses)
            if (accesses_[d].value != accesses_[accesses[0]].value) return true;
        return false;
    }

    /// Finds the nodes at the entry of which the slot is live: a read is reached before a write.
    void find_live_in(indices accesses)
    {
        auto mark_live_in = [this](node_id n) {
            if (is_live_in_[n]) return;
            is_live_in_[n] = 1;
            live_in_.push_back(n);
        };
        node_id node = no_node;
        for (std::uint32_t d : accesses) {
            if (accesses_[d].what == slot_access_kind::is_given || accesses_[d].node == node) continue;
            node = accesses_[d].node;
            if (accesses_[d].what != slot_access_kind::writes) mark_live_in(node); // its first access reads
        }
        for (std::size_t i = 0; i != live_in_.size(); ++i)
            for (node_id p : predecessors_[live_in_[i]])
                if (last_write_[p] == none) mark_live_in(p);
    }

    /// Propagates every write to the nodes that it reaches and where the slot is live.
    void propagate(indices accesses)
    {
        for (std::uint32_t d : accesses)
            if (accesses_[d].what == slot_access_kind::writes) last_write_[accesses_[d].node] = d;
        find_live_in(accesses);
        for (std::uint32_t d : accesses)
            if (accesses_[d].what == slot_access_kind::is_given) add_reaching(0, d);
            else if (last_write_[accesses_[d].node] == d)
                for (node_id s : program_.successors(accesses_[d].node)) add_reaching(s, d);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            for (node_id s : program_.successors(n)) {
                add_reaching(s, reaching_[n].one);
                if (reaching_[n].another != none) add_reaching(s, reaching_[n].another);
            }
        }
    }
    void add_reaching(node_id n, std::uint32_t write)
    {
        if (!is_live_in_[n]) return;
        reaching_writes& reaching = reaching_[n];
        if (reaching.one == none) {
            reaching.one = write;
        } else if (reaching.another == none && accesses_[reaching.one].value != accesses_[write].value) {
            reaching.another = write;
        } else {
            return;
        }
        if (last_write_[n] == none) open_.push_back(n);
    }

    std::optional<counterexample> clash(indices accesses) const
    {
        node_id node = no_node;
        reaching_writes here;
        slot_access const* last_spanning = nullptr; // the last that spans its step
        for (std::uint32_t d : accesses) {
            slot_access const& next_access = accesses_[d];
            if (next_access.what == slot_access_kind::is_given) continue;
            if (next_access.node != node) {
                node = next_access.node;
                here = reaching_[node];
            }
            if (next_access.spans_step()) {
                if (last_spanning != nullptr && last_spanning->step == next_access.step &&
                    last_spanning->value != next_access.value && !can_overwrite(*last_spanning, next_access))
                    return found(last_spanning->value, next_access, next_access);
                last_spanning = &next_access;
            }
            if (next_access.what == slot_access_kind::writes) {
                here = {d, none};
                continue;
            }
            for (std::uint32_t w : {here.one, here.another})
                if (w != none && accesses_[w].value != next_access.value)
                    return found(next_access.value, next_access, accesses_[w]);
        }
        return std::nullopt;
    }
    counterexample found(value_id v, slot_access const& at, slot_access const& other) const
    {
        step_id const written = other.what == slot_access_kind::is_given ? no_step : other.step;
        return {fault::lost_in_slot,
                counterexample::slots{v, other.value, plan_.slot_of[v], at.step, written}};
    }
    bool can_overwrite(slot_access const& in, slot_access const& out) const
    {
        if (in.what != slot_access_kind::reads || out.what != slot_access_kind::writes) return false;
        for (overwrite o : program_.overwrites(out.step))
            if (o.in == in.value && o.out == out.value) return true;
        return false;
    }

    void reset(indices accesses)
    {
        for (std::uint32_t d : accesses) last_write_[accesses_[d].node] = none;
        for (node_id n : live_in_) reaching_[n] = {}, is_live_in_[n] = 0;
        live_in_.clear();
    }

    snapshot const& program_;
    slot_plan const& plan_;
    table<value_id, unsigned char> is_given_; // nothing writes it
    std::vector<slot_access> accesses_;
    csr_rows<node_id, node_id> predecessors_;
    table<node_id, std::uint32_t> last_write_; // its last write to the slot
    table<node_id, reaching_writes> reaching_; // at its beginning
    table<node_id, unsigned char> is_live_in_; // the slot is live at its beginning
    std::vector<node_id> live_in_;             // the nodes of is_live_in_
    std::vector<node_id> open_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_slots(snapshot const& given, slot_plan const& plan)
{
    snapshot listed;
    snapshot const& p = detail::as_control_flow(given, listed);
    return detail::slot_checker(p, plan).first_fault();
}

} // namespace sublet
