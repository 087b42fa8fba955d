// SPDX-License-Identifier: BSL-1.0
#include <sublet/checking/check_rewrite.hpp>
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/detail/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet::detail {

class rewrite_opponent {
public:
    rewrite_opponent(snapshot const& before, snapshot const& after, rewrite_options const& options)
        : before_(before), after_(after), root_(roots_of(options.alias_of.tabulate(before.values()))),
          was_(before.values()), is_(after.values())
    {
    }

    std::optional<rewrite_fault> changed_shape() const
    {
        bool same =
            before_.graph() == after_.graph() && before_.edge_uses().size() == after_.edge_uses().size();
        for (node_id n = 0; same && n != before_.nodes(); ++n)
            same = before_.steps_of(n) == after_.steps_of(n);
        for (std::size_t i = 0; same && i != before_.edge_uses().size(); ++i) {
            edge_use const a = before_.edge_uses()[i], b = after_.edge_uses()[i];
            same = a.node == b.node && a.pred == b.pred;
        }
        if (!same) return rewrite_fault{};
        for (step_id s = 0; s != before_.steps(); ++s) {
            auto const a = before_.touches(s), b = after_.touches(s);
            same = a.size() == b.size();
            for (std::size_t i = 0; same && i != a.size(); ++i) same = a[i].kind == b[i].kind;
            if (!same) return rewrite_fault{.step = s};
        }
        return std::nullopt;
    }

    std::optional<rewrite_fault> changed_gift(value_id v, value_id name)
    {
        expect_name(name);
        entry &was = was_[root_[v]], &is = is_[name];
        bool const is_other = is.result != no_value && is.result != root_[v];
        bool const is_elsewhere = was.defined_as != no_value && was.defined_as != name;
        if (is_other || is_elsewhere)
            return rewrite_fault{rewrite_fault::kind::one_place, no_step, 0, v, name, {}, {}};
        was.defined_as = name;
        is.result = root_[v];
        was.source = is.source = rewrite_fault::source{no_step, root_[v]};
        return std::nullopt;
    }

    std::optional<rewrite_fault> changed_step(step_id s)
    {
        auto const a = before_.touches(s), b = after_.touches(s);
        for (std::uint32_t i = 0; i != a.size(); ++i) {
            value_id const value = a[i].value, name = b[i].value;
            entry &was = was_[root_[value]], &is = is_[name];
            if (a[i].kind != touch::access::def) {
                if (was.source != is.source) return differs(rewrite_fault::kind::read, s, i, value, name);
                was.used_at = is.used_at = s;
                was.used_as = name;
                if (a[i].kind == touch::access::use_early) continue; // done before any result is written
                is.id = is.held_at == s && is.id != value ? no_value : value;
                was.held_at = is.held_at = s;
                continue;
            }
            if ((is.defined_at == s && is.result != root_[value]) ||
                (was.defined_at == s && was.defined_as != name))
                return rewrite_fault{rewrite_fault::kind::one_place, s, i, value, name, {}, {}};
            was.defined_at = is.defined_at = s;
            was.defined_as = name;
            is.result = root_[value];
            was.source = is.source = rewrite_fault::source{s, i};
        }
        return changed_pairs(s);
    }

    std::optional<rewrite_fault> changed_at_end(std::uint32_t i) const
    {
        edge_use const a = before_.edge_uses()[i];
        value_id const name = after_.edge_uses()[i].value;
        if (was_[root_[a.value]].source == is_[name].source) return std::nullopt;
        return differs(rewrite_fault::kind::read_at_end, before_.steps_of(a.pred).last - 1, i, a.value, name);
    }

    std::optional<rewrite_fault> changed_in_the_end(value_id v, value_id name) const
    {
        expect_name(name);
        if (was_[root_[v]].source == is_[name].source) return std::nullopt;
        return differs(rewrite_fault::kind::kept, no_step, 0, v, name);
    }

private:
    /// What is known of a name: of a class of values before, or of a value after.
    struct entry {
        rewrite_fault::source source = {};
        step_id used_at = no_step; // last
        step_id held_at = no_step; // last used there to the end of the step
        step_id defined_at = no_step;
        value_id used_as = no_value;    // before: the name there
        value_id defined_as = no_value; // before: the name there
        value_id result = no_value;     // after: the class that was defined so
        value_id id = no_value;        // after: the value that was held by this name, if it was one only
    };

    void expect_name(value_id name) const
    {
        SUBLET_EXPECTS(name < is_.size(), "sublet: a value is called what is no value of the program after");
    }
    rewrite_fault differs(rewrite_fault::kind what, step_id s, std::uint32_t operand, value_id v,
                          value_id name) const
    {
        return {what, s, operand, v, name, was_[root_[v]].source, is_[name].source};
    }

    /// Which results may be written over which operands, by the names after.
    std::optional<rewrite_fault> changed_pairs(step_id s)
    {
        asked_.clear();
        done_.clear();
        // One name needs no permission where all that it was read for is done early, before a result is
        // written.
        auto note = [&](std::vector<sort_key>& to, value_id in, value_id out) {
            if (in != out || is_[in].held_at == s) to.push_back({in, out, 0});
        };
        for (overwrite o : before_.overwrites(s)) {
            entry const &in = was_[root_[o.in]], &out = was_[root_[o.out]];
            if (in.used_at != s || out.defined_at != s) continue;
            // Who else reads these bytes at this step has not been asked.
            if (in.used_as != out.defined_as || is_[in.used_as].id == o.in)
                note(asked_, in.used_as, out.defined_as);
        }
        for (overwrite o : after_.overwrites(s))
            if (is_[o.in].used_at == s && is_[o.out].defined_at == s) note(done_, o.in, o.out);
        auto const a = before_.touches(s), b = after_.touches(s);
        for (std::size_t i = 0; i != a.size(); ++i) {
            if (a[i].kind != touch::access::def) continue;
            value_id const name = b[i].value;
            entry const& was = was_[root_[a[i].value]];
            if (was.used_at == s && (was.used_as != name || was.held_at == s))
                note(asked_, was.used_as, name);
            if (is_[name].held_at == s) note(done_, name, name);
        }
        if (asked_.size() > 1) sort_by_key(asked_);
        if (done_.size() > 1) sort_by_key(done_);
        std::size_t i = 0, k = 0;
        while (i != asked_.size() || k != done_.size()) {
            bool const lacks_one = k == done_.size() || (i != asked_.size() && asked_[i] < done_[k]);
            bool const has_more = i == asked_.size() || (k != done_.size() && done_[k] < asked_[i]);
            if (lacks_one || has_more) {
                sort_key const& pair = lacks_one ? asked_[i] : done_[k];
                auto const in = static_cast<value_id>(pair.key), out = static_cast<value_id>(pair.tie);
                return rewrite_fault{rewrite_fault::kind::in_place, s, 0, in, out, {}, {}};
            }
            sort_key const pair = asked_[i];
            while (i != asked_.size() && !(pair < asked_[i])) ++i;
            while (k != done_.size() && !(pair < done_[k])) ++k;
        }
        return std::nullopt;
    }

    snapshot const& before_;
    snapshot const& after_;
    std::vector<value_id> root_; // by value before
    std::vector<entry> was_;     // by root
    std::vector<entry> is_;      // by value after
    std::vector<sort_key> asked_, done_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL std::optional<rewrite_fault> check_rewrite(snapshot const& before, snapshot const& after,
                                                       rewrite_options const& options)
{
    detail::positions_in(options.order, before); // refuses what is no order
    detail::rewrite_opponent opponent(before, after, options);
    if (auto fact = opponent.changed_shape()) return fact;

    auto const role = options.role.tabulate(before.values());
    auto const given_as = options.given_as.tabulate(before.values());
    auto const kept_as = options.kept_as.tabulate(before.values());
    for (value_id v = 0; v != before.values(); ++v) {
        if (!detail::is_given(role[v])) continue;
        if (auto fact = opponent.changed_gift(v, given_as[v] == no_value ? v : given_as[v])) return fact;
    }

    std::uint32_t const none = no_value; // by node, and by edge use: the next that reads where the node ends
    std::vector<std::uint32_t> first(before.nodes(), none), next(before.edge_uses().size());
    for (auto i = static_cast<std::uint32_t>(next.size()); i-- != 0;) {
        next[i] = first[before.edge_uses()[i].pred];
        first[before.edge_uses()[i].pred] = i;
    }
    for (std::size_t at = 0; at != before.nodes(); ++at) {
        node_id const n = options.order.empty() ? static_cast<node_id>(at) : options.order[at];
        step_range const mine = before.steps_of(n);
        for (step_id s = mine.first; s != mine.last; ++s)
            if (auto fact = opponent.changed_step(s)) return fact;
        for (std::uint32_t i = first[n]; i != none; i = next[i])
            if (auto fact = opponent.changed_at_end(i)) return fact;
    }
    for (value_id v = 0; v != before.values(); ++v) {
        bool const is_kept = has_role(role[v], value_role::output) || has_role(role[v], value_role::external);
        if (!is_kept) continue;
        if (auto fact = opponent.changed_in_the_end(v, kept_as[v] == no_value ? v : kept_as[v])) return fact;
    }
    return std::nullopt;
}

} // namespace sublet
