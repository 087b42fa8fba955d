// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP
#define SUBLET_CHECKING_CHECK_CONCURRENT_PLAN_HPP

/// The opponent of every plan for steps that run in any order: looks for an order in which it goes wrong.
///
///     offset 64 |  [== a ==|== c ==|= e =)      every byte is handed on from one to the next: a to c, c to
///     e.
///            32 |  [== a ==|= d =|== e ==)      Does c's first write come after all touches of a? If so for
///               +-------------------------      each hand-over, then e need not be compared with a.
///
/// u may give its bytes to v if and only if every touch of u comes before every def of v. That is transitive,
/// so whoever shares a byte forms a chain or there is a fault between two neighbours. Let the classes of
/// values move in by the position of their first def: whoever is to receive anything moves in after the
/// giver, and what has to be asked about is, byte by byte, only who lies there last.
///
/// Source: the relation and its chains are those of Dilworth, "A decomposition theorem for partially ordered
/// sets", Annals of Mathematics 1950. Nothing is taken from any planner, the order of the steps included.

#include <sublet/checking/check_places.hpp>
#include <sublet/checking/concurrent_witness.hpp>
#include <sublet/checking/demands.hpp>
#include <sublet/checking/order_questions.hpp>
#include <sublet/checking/rank_set.hpp>
#include <sublet/checking/step_order.hpp>
#include <sublet/checking/witness.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/keyed.hpp>
#include <sublet/plan.hpp>
#include <sublet/plan_options.hpp>
#include <sublet/units.hpp>
#include <sublet/value_role.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace sublet {

namespace detail {

template <std::same_as<snapshot> S>
class concurrent_opponent {
public:
    concurrent_opponent(S const& program, memory_plan const& plan, plan_options const& options)
        : p_(program), plan_(plan), options_(options), asked_(demands(program, options)),
          order_(order_of_steps(program, asked_.role, kept_handoffs())), asked_by_(program.values(), no_value)
    {
    }

    std::optional<concurrent_witness> first_fault()
    {
        if (is_foreign()) return concurrent_witness{{.what = fault::foreign_plan}};
        if (order_.fault) return concurrent_witness{*order_.fault, no_step, no_step, order_.cycle};
        if (auto fact = check_places(asked_, plan_, options_)) return concurrent_witness{*fact};
        gather_touches();
        return clash();
    }

private:
    bool is_foreign() const
    {
        if (plan_.valid_for != program_reading::concurrent || !is_complete(plan_, p_.values())) return true;
        return kept_handoffs().size() != plan_.handoffs.size();
    }
    /// Those between steps that exist.
    std::vector<handoff> kept_handoffs() const
    {
        std::vector<handoff> kept;
        for (handoff h : plan_.handoffs)
            if (h.from < p_.steps() && h.to < p_.steps()) kept.push_back(h);
        return kept;
    }
    bool is_given(value_id root) const { return has_role(asked_.class_role[root], value_role::input); }
    bool is_kept(value_id root) const { return has_role(asked_.class_role[root], value_role::output); }

    /// By root, the steps that write or touch it, without those that others of the class surely come before
    /// or after: a def of what is made of the class itself, a touch by a step whose result for the class is
    /// read later.
    void gather_touches()
    {
        std::vector<unsigned char> is_read(p_.values());
        for (touch t : p_.touches({0, static_cast<step_id>(p_.steps())}))
            if (t.kind != touch_kind::def) is_read[t.value] = 1;
        auto root_of = [this](touch t) { return asked_.root[t.value]; };
        auto is_planned = [&](touch t) { return asked_.is_planned(root_of(t)); };
        begins_ = csr_rows::gathered(p_.values(), [&](auto add) {
            std::vector<step_id> done(p_.values(), no_step); // by root: the last step that is settled
            for (step_id s = 0; s != p_.steps(); ++s) {
                for (touch t : p_.touches(s))
                    if (t.kind != touch_kind::def && order_.def_of[t.value] != no_step) done[root_of(t)] = s;
                for (touch t : p_.touches(s))
                    if (t.kind == touch_kind::def && is_planned(t) && done[root_of(t)] != s) {
                        add(root_of(t), s);
                        done[root_of(t)] = s;
                    }
            }
        });
        ends_ = csr_rows::gathered(p_.values(), [&](auto add) {
            std::vector<step_id> done(p_.values(), no_step);
            for (step_id s = 0; s != p_.steps(); ++s) {
                for (touch t : p_.touches(s))
                    if (t.kind == touch_kind::def && is_read[t.value]) done[root_of(t)] = s;
                for (touch t : p_.touches(s))
                    if (is_planned(t) && done[root_of(t)] != s) {
                        add(root_of(t), s);
                        done[root_of(t)] = s;
                    }
            }
            for (edge_use u : p_.edge_uses())
                if (asked_.is_planned(asked_.root[u.value]))
                    add(asked_.root[u.value], p_.steps_of(u.pred).last - 1);
        });
    }

    /// Within one step: whether it is done with the bytes of u when it writes v there. It is where it reads
    /// them early, and where it may write the result over the one operand that it reads of u.
    bool hands_over(step_id s, value_id u, value_id v) const
    {
        value_id operand = no_value;
        for (touch t : p_.touches(s)) {
            if (asked_.root[t.value] != u || t.kind == touch_kind::use_early) continue;
            if (t.kind == touch_kind::def || (operand != no_value && operand != t.value)) return false;
            operand = t.value;
        }
        for (edge_use e : p_.edge_uses()) // they read after the writes
            if (asked_.root[e.value] == u && p_.steps_of(e.pred).last - 1 == s) return false;
        if (operand == no_value) return true;
        if (!options_.in_place || asked_.bytes[u] < asked_.bytes[v] || asked_.pinned[u] != no_offset)
            return false;
        if (place_of(plan_, u) != place_of(plan_, v)) return false;
        for (overwrite o : p_.overwrites(s))
            if (o.in == operand && asked_.root[o.out] == v && order_.def_of[o.out] == s) return true;
        return false;
    }

    /// May v move in where u lies? Says no if that is clear, else asks.
    bool may_follow(value_id u, value_id v)
    {
        if (u == no_value || asked_by_[u] == v) return true;
        asked_by_[u] = v;
        std::uint64_t const name = pairs_.size();
        pairs_.push_back(u);
        pairs_.push_back(v);
        if (is_kept(u) || is_given(v)) return false;
        for (step_id d : begins_[v]) {
            for (step_id t : ends_[u])
                if (t == d ? !hands_over(d, u, v) : order_.position[t] > order_.position[d]) return false;
            questions_.ask(u, d, name);
        }
        return true;
    }

    std::optional<concurrent_witness> clash()
    {
        std::vector<keyed> bounds; // {pool, offset, who begins or ends there}
        for (value_id r = 0; r != p_.values(); ++r) {
            if (asked_.root[r] != r || !asked_.is_planned(r)) continue;
            auto const [pool, offset] = place_of(plan_, r);
            bounds.push_back({pool, offset, r});
            bounds.push_back({pool, offset + asked_.bytes[r], r});
        }
        sort_keyed(bounds);

        // Between two bounds nothing changes: they are numbered, and whoever lies from one to the next is
        // kept where a stretch of one tenant begins.
        std::vector<std::uint32_t> begin(p_.values()), end(p_.values());
        std::uint32_t rank = 0;
        for (std::size_t i = 0; i != bounds.size(); ++i) {
            keyed const& b = bounds[i];
            if (i != 0 && (bounds[i - 1].key != b.key || bounds[i - 1].tie != b.tie)) ++rank;
            (place_of(plan_, b.who).offset == b.tie ? begin : end)[b.who] = rank;
        }
        bounds = {};
        // Row 0: who is there from the start. Row p + 1: who moves in at position p.
        csr_rows const moves = csr_rows::gathered(p_.steps() + 1, [&](auto add) {
            for (value_id r = 0; r != p_.values(); ++r) {
                if (asked_.root[r] != r || !asked_.is_planned(r)) continue;
                step_id first = no_step;
                for (step_id d : begins_[r]) first = smaller(first, order_.position[d]);
                add(is_given(r) ? 0 : first + std::size_t{1}, r);
            }
        });

        std::vector<value_id> tenant(rank + std::size_t{1}, no_value);
        rank_set stretches(tenant.size());
        stretches.insert(0);
        auto cut = [&](std::uint32_t at) {
            if (stretches.contains(at)) return;
            tenant[at] = tenant[stretches.below(at)];
            stretches.insert(at);
        };
        bool goes_on = true;
        auto move_in = [&](value_id v) {
            cut(begin[v]);
            cut(end[v]);
            for (std::uint32_t at = begin[v]; at != end[v] && goes_on; at = stretches.above(at)) {
                goes_on = may_follow(tenant[at], v);
                if (at != begin[v]) stretches.erase(at);
            }
            tenant[begin[v]] = v;
        };
        for (std::size_t row = 0; row != moves.rows() && goes_on; ++row)
            for (value_id v : moves[row])
                if (goes_on) move_in(v);
        std::uint64_t const answer = questions_.first_no();
        if (goes_on && answer == questions_.none) return std::nullopt;
        std::size_t const pair = answer != questions_.none ? answer : pairs_.size() - 2;
        return clash_of(pairs_[pair], pairs_[pair + 1]);
    }

    /// By step: whether it comes before s.
    std::vector<unsigned char> before(step_id s) const
    {
        std::vector<unsigned char> comes(p_.steps());
        for (step_id at = order_.position[s]; at-- != 0;)
            for (step_id next : order_.after[order_.step_at[at]])
                if (next == s || comes[next]) comes[order_.step_at[at]] = 1;
        return comes;
    }

    /// How two classes meet that share bytes and of which neither may give to the other.
    concurrent_witness clash_of(value_id u, value_id v) const
    {
        if (is_given(u) && is_given(v)) return shared(u, v);
        // Two that are only written, by steps that may run at the same time, meet in no other way.
        for (bool both_written : {false, true})
            for (bool turned : {false, true})
                if (auto found = written_over(turned ? v : u, turned ? u : v, both_written)) return *found;
        return shared(u, v);
    }

    concurrent_witness shared(value_id u, value_id v) const
    {
        auto const [begin, end] = overlap(asked_, plan_, u, v);
        concurrent_witness w;
        w.value = u;
        w.other = v;
        w.begin = begin;
        w.end = end;
        w.pool = place_of(plan_, u).pool;
        return w;
    }

    /// A schedule in which u is there, then v is written, then u is still needed, if there is one.
    std::optional<concurrent_witness> written_over(value_id u, value_id v, bool both_written) const
    {
        if (is_given(v)) return std::nullopt;
        for (step_id writer : begins_[v]) {
            auto const first = before(writer);
            auto try_from = [&](step_id maker) -> std::optional<concurrent_witness> {
                std::vector<unsigned char> earlier(p_.steps());
                if (maker != no_step) {
                    earlier = before(maker);
                    if (earlier[writer]) return std::nullopt;
                }
                auto found = [&](step_id needed) {
                    concurrent_witness w = shared(u, v);
                    w.needed_at = needed;
                    w.written_at = writer;
                    schedule(w, maker, earlier, first);
                    return w;
                };
                if (is_kept(u)) return found(no_step);
                for (step_id t : ends_[u]) {
                    if (t == writer ? hands_over(t, u, v) : first[t] || earlier[t]) continue;
                    if (t != maker || t == writer || both_written) return found(t);
                }
                return std::nullopt;
            };
            if (is_given(u)) {
                if (auto w = try_from(no_step)) return w;
            } else {
                for (step_id maker : begins_[u])
                    if (auto w = try_from(maker)) return w;
            }
        }
        return std::nullopt;
    }

    /// What the maker waits for, the maker, what the writer waits for, the writer, the rest. Where the writer
    /// does not wait for the maker, they stand side by side.
    void schedule(concurrent_witness& w, step_id maker, std::vector<unsigned char> const& earlier,
                  std::vector<unsigned char> const& first) const
    {
        step_id const writer = w.written_at;
        bool const side_by_side = maker == no_step || !first[maker];
        auto rank_of = [&](step_id s) {
            if (s == writer) return 3;
            if (s == maker) return 1;
            if (earlier[s] || (side_by_side && first[s])) return 0;
            return first[s] ? 2 : 4;
        };
        for (int rank : {0, 1, 2, 3, 4})
            for (step_id s : order_.step_at) {
                if (rank_of(s) != rank) continue;
                if (s == writer) w.position = static_cast<step_id>(w.schedule.size());
                w.schedule.push_back(s);
            }
    }

    S const& p_;
    memory_plan const& plan_;
    plan_options const& options_;
    plan_demands const asked_;
    step_order const order_;
    csr_rows begins_;                // by root: the steps that write it first, if it is not given
    csr_rows ends_;                  // by root: the steps that touch it last
    std::vector<value_id> asked_by_; // by root: who was last to move in where it lies
    std::vector<value_id> pairs_;    // that were asked about, one after the other
    order_questions<> questions_{order_, ends_};
};

} // namespace detail

/// Look for a reason why `plan` is not a plan of this program for steps that run in any order. None: it is
/// proved that in every execution that waits for data, for edges of the program, for the row of steps of a
/// node and for the plan's hand-offs, every read finds what was written for it.
///
/// Of the plan only the reading, offsets, pools, arena sizes and hand-offs count. An input is there before
/// all steps and needed until its last touch, an output until after them all. A step may write over what it
/// reads early, and over an operand in place, as declared, if all other touches come before.
///
/// Requires:   one entry a value in every table; alignments of at least 1; `alias_of` without circles.
/// Ensures:    the first fault in this order: a plan of another program or reading; a value that is written
///             twice or was given, a use before a def, a cycle (step_order.hpp says which first); what
///             check_places finds; two classes that clash, though a value that nobody reads might as well be
///             destroyed. Classes move in by ascending position of their first def, then root, and meet those
///             that lie there by ascending offset.
/// Complexity: O(n log n + V + E + steps + touches) time and memory, n = values, and what order_questions
///             takes for about as many questions as there are buffers.
/// Throws:     precondition_error where a requirement is broken.
template <program P>
[[nodiscard]] std::optional<concurrent_witness> check_concurrent_plan(P const& p, memory_plan const& plan,
                                                                      plan_options const& options)
{
    return detail::concurrent_opponent<snapshot>(as_snapshot(p), plan, options).first_fault();
}

} // namespace sublet

#endif
