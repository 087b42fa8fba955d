// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_IMPL_CHECK_SLOTS_IPP
#define SUBLET_CHECKING_IMPL_CHECK_SLOTS_IPP

#include <sublet/checking/check_slots.hpp>
#include <sublet/contract.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sublet::detail {

class slot_opponent {
public:
    slot_opponent(snapshot const& program, slot_plan const& plan)
        : program_(program), plan_(plan), is_given_(program.values(), 1),
          before_(program.graph().transposed(program.nodes())), leaving_(program.nodes(), none),
          arriving_(program.nodes()), is_awaited_(program.nodes())
    {
    }

    std::optional<slot_witness> first_fault()
    {
        if (is_foreign()) return slot_witness{.what = fault::foreign_plan};
        if (auto fact = unplaced()) return fact;
        csr_rows const in_slot = gather();
        for (slot_id slot = 0; slot != plan_.slots; ++slot) {
            indices const deeds = in_slot[slot];
            if (!is_shared(deeds)) continue;
            follow(deeds);
            if (auto fact = clash(deeds)) return fact;
            forget(deeds);
        }
        return std::nullopt;
    }

private:
    enum class act : std::uint8_t { is_given, reads_early, reads, writes, reads_at_end };
    struct deed {
        step_id step;
        act what;
        value_id value;
        node_id node;
        /// Throughout its step.
        bool stays() const { return what == act::reads || what == act::writes; }
    };
    using indices = std::span<std::uint32_t const>;
    static constexpr std::uint32_t none = ~std::uint32_t{0};
    /// Deeds that put something into the slot and may be the last to do so; of different values.
    struct writers {
        std::uint32_t one = none;
        std::uint32_t another = none;
    };

    bool is_foreign() const
    {
        for (slot_id slot : plan_.slot_of)
            if (slot != no_slot && slot >= plan_.slots) return true;
        return plan_.slot_of.size() != program_.values();
    }

    /// Finds on the way what is written at all.
    std::optional<slot_witness> unplaced()
    {
        for (step_id s = 0; s != program_.steps(); ++s)
            for (touch t : program_.touches(s)) {
                if (t.kind != touch_kind::def) continue;
                if (plan_.slot_of[t.value] == no_slot)
                    return slot_witness{.what = fault::unplaced, .value = t.value, .step = s};
                is_given_[t.value] = 0;
            }
        return std::nullopt;
    }

    /// Lists every deed, in the order of the steps and as they come there; returns them by slot.
    csr_rows gather()
    {
        std::vector<unsigned char> is_reached(program_.nodes(), 0);
        if (program_.nodes() != 0) open_.push_back(0);
        while (!open_.empty()) {
            node_id const n = open_.back();
            open_.pop_back();
            if (is_reached[n]) continue;
            is_reached[n] = 1;
            for (node_id s : program_.successors(n)) open_.push_back(s);
        }
        auto note = [this](value_id v, node_id n, step_id s, act what) {
            if (plan_.slot_of[v] != no_slot) deeds_.push_back({s, what, v, n});
        };
        auto read = [&](value_id v, node_id n, step_id s, act what) {
            note(v, n, s, what);
            if (!is_given_[v] || !is_reached[n]) return;
            is_given_[v] = 0; // once is enough
            note(v, 0, 0, act::is_given);
        };
        csr_rows const read_at_end = csr_rows::gathered(program_.nodes(), [this](auto add) {
            for (edge_use u : program_.edge_uses()) add(u.pred, u.value);
        });
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const steps = program_.steps_of(n);
            for (step_id s = steps.first; s != steps.last; ++s)
                for (touch t : program_.touches(s))
                    if (t.kind == touch_kind::def) note(t.value, n, s, act::writes);
                    else read(t.value, n, s, t.kind == touch_kind::use ? act::reads : act::reads_early);
            for (value_id v : read_at_end[n]) read(v, n, steps.last - 1, act::reads_at_end);
        }
        SUBLET_EXPECTS(deeds_.size() < none, "sublet: more touches than 32-bit ids");
        return csr_rows::gathered(plan_.slots, [this](auto add) {
            for (std::uint32_t d = 0; d != deeds_.size(); ++d) add(plan_.slot_of[deeds_[d].value], d);
        });
    }

    bool is_shared(indices deeds) const
    {
        for (std::uint32_t d : deeds)
            if (deeds_[d].value != deeds_[deeds[0]].value) return true;
        return false;
    }

    /// Finds the nodes from whose beginning a read is reached before a write.
    void find_awaited(indices deeds)
    {
        auto await = [this](node_id n) {
            if (is_awaited_[n]) return;
            is_awaited_[n] = 1;
            awaited_.push_back(n);
        };
        node_id node = no_node;
        for (std::uint32_t d : deeds) {
            if (deeds_[d].what == act::is_given || deeds_[d].node == node) continue;
            node = deeds_[d].node;
            if (deeds_[d].what != act::writes) await(node); // its first deed
        }
        for (std::size_t i = 0; i != awaited_.size(); ++i)
            for (node_id p : before_[awaited_[i]])
                if (leaving_[p] == none) await(p);
    }

    /// Brings every write to the nodes that it reaches and that wait for one.
    void follow(indices deeds)
    {
        for (std::uint32_t d : deeds)
            if (deeds_[d].what == act::writes) leaving_[deeds_[d].node] = d;
        find_awaited(deeds);
        for (std::uint32_t d : deeds)
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
    void arrive(node_id n, std::uint32_t write)
    {
        if (!is_awaited_[n]) return;
        writers& known = arriving_[n];
        if (known.one == none) {
            known.one = write;
        } else if (known.another == none && deeds_[known.one].value != deeds_[write].value) {
            known.another = write;
        } else {
            return;
        }
        if (leaving_[n] == none) open_.push_back(n);
    }

    std::optional<slot_witness> clash(indices deeds) const
    {
        node_id node = no_node;
        writers here;
        deed const* kept = nullptr; // the last that stays
        for (std::uint32_t d : deeds) {
            deed const& now = deeds_[d];
            if (now.what == act::is_given) continue;
            if (now.node != node) {
                node = now.node;
                here = arriving_[node];
            }
            if (now.stays()) {
                if (kept != nullptr && kept->step == now.step && kept->value != now.value &&
                    !takes_over(*kept, now))
                    return found(kept->value, now, now);
                kept = &now;
            }
            if (now.what == act::writes) {
                here = {d, none};
                continue;
            }
            for (std::uint32_t w : {here.one, here.another})
                if (w != none && deeds_[w].value != now.value) return found(now.value, now, deeds_[w]);
        }
        return std::nullopt;
    }
    slot_witness found(value_id v, deed const& at, deed const& other) const
    {
        step_id const written = other.what == act::is_given ? no_step : other.step;
        return {fault::clash, v, other.value, plan_.slot_of[v], at.step, written};
    }
    bool takes_over(deed const& in, deed const& out) const
    {
        if (in.what != act::reads || out.what != act::writes) return false;
        for (overwrite o : program_.overwrites(out.step))
            if (o.in == in.value && o.out == out.value) return true;
        return false;
    }

    void forget(indices deeds)
    {
        for (std::uint32_t d : deeds) leaving_[deeds_[d].node] = none;
        for (node_id n : awaited_) arriving_[n] = {}, is_awaited_[n] = 0;
        awaited_.clear();
    }

    snapshot const& program_;
    slot_plan const& plan_;
    std::vector<unsigned char> is_given_; // by value: nothing writes it
    std::vector<deed> deeds_;
    csr_rows before_;                       // by node: its predecessors
    std::vector<std::uint32_t> leaving_;    // by node: its last write to the slot
    std::vector<writers> arriving_;         // by node: at its beginning
    std::vector<unsigned char> is_awaited_; // by node: whether a read comes before a write from there on
    std::vector<node_id> awaited_;          // all of these
    std::vector<node_id> open_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<slot_witness> check_slots(snapshot const& p, slot_plan const& plan)
{
    return detail::slot_opponent(p, plan).first_fault();
}

} // namespace sublet

#endif
