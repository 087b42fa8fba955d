// SPDX-License-Identifier: BSL-1.0

/// Both programs run side by side: for each class of values before, and each name after, an entry has the
/// last definition and the last uses. After the shapes have been compared, each touch compares two
/// entries.

#include <sublet/checking/check_rewrite.hpp>
#include <sublet/core/internal/asked_options.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/plan_requirements.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>

namespace sublet::detail {

class rewrite_checker {
public:
    rewrite_checker(snapshot const& before, snapshot const& after, rewrite_options const& options)
        : before_(before), after_(after),
          root_(roots_of(options.alias_of.tabulate(before.values(), "alias_of"))),
          before_state_(before.values()), after_state_(after.values())
    {
    }

    std::optional<counterexample> changed_shape() const
    {
        bool same =
            before_.edges() == after_.edges() && before_.graph() == after_.graph() &&
            before_.edge_uses().size() == after_.edge_uses().size();
        for (node_id n = 0; same && n != before_.nodes(); ++n)
            same = before_.steps_of(n) == after_.steps_of(n);
        for (std::size_t i = 0; same && i != before_.edge_uses().size(); ++i) {
            edge_use const a = before_.edge_uses()[i], b = after_.edge_uses()[i];
            same = a.node == b.node && a.pred == b.pred;
        }
        if (!same) return counterexample{fault::other_shape, counterexample::renaming{}};
        for (step_id s = 0; s != before_.steps(); ++s) {
            auto const a = before_.touches(s), b = after_.touches(s);
            same = a.size() == b.size();
            for (std::size_t i = 0; same && i != a.size(); ++i) { // a value made anew may be written in place
                bool const are_results = a[i].defines() && b[i].defines() && a[i].writes() && b[i].writes();
                same = a[i].kind == b[i].kind || are_results;
            }
            if (!same) return counterexample{fault::other_shape, counterexample::renaming{.step = s}};
        }
        return std::nullopt;
    }

    std::optional<counterexample> changed_input(value_id v, value_id name)
    {
        expect_name(name);
        entry &old_state = before_state_[root_[v]], &new_state = after_state_[name];
        bool const is_other = new_state.result != no_value && new_state.result != root_[v];
        bool const is_elsewhere = old_state.defined_as != no_value && old_state.defined_as != name;
        if (is_other || is_elsewhere)
            return counterexample{fault::other_storage, counterexample::renaming{no_step, 0, v, name}};
        old_state.defined_as = name;
        new_state.result = root_[v];
        old_state.source = new_state.source = counterexample::renaming::source{no_step, root_[v]};
        return std::nullopt;
    }

    std::optional<counterexample> changed_step(step_id s)
    {
        auto const a = before_.touches(s), b = after_.touches(s);
        for (std::uint32_t i = 0; i != a.size(); ++i) {
            value_id const value = a[i].value, name = b[i].value;
            entry &old_state = before_state_[root_[value]], &new_state = after_state_[name];
            value_id const root_name = is_view_of_root(a[i]) ? old_state.defined_as : no_value;
            if (root_name != no_value && old_state.source != after_state_[root_name].source)
                return differs(fault::other_read, s, i, value, root_name);
            if (!a[i].defines()) {
                if (old_state.source != new_state.source)
                    return differs(fault::other_read, s, i, value, name);
                old_state.used_at = new_state.used_at = s;
                old_state.used_as = name;
                if (a[i].kind == touch::access::use_early) continue; // reads before any result is written
                new_state.held_value =
                    new_state.held_at == s && new_state.held_value != value ? no_value : value;
                old_state.held_at = new_state.held_at = s;
                continue;
            }
            bool const is_apart = root_name != no_value && root_name != name; // a view with its own name
            bool const is_merged = (new_state.defined_at == s || new_state.viewed_at == s) &&
                                   new_state.result != root_[value];
            bool const is_separated =
                !is_apart && old_state.defined_at == s && old_state.defined_as != name;
            if (is_merged || is_separated)
                return counterexample{fault::other_storage, counterexample::renaming{s, i, value, name}};
            new_state.result = root_[value];
            if (is_apart) { // its root keeps its name
                new_state.viewed_at = s;
            } else {
                old_state.defined_at = new_state.defined_at = s;
                old_state.defined_as = name;
            }
            if (root_name == no_value) old_state.source = counterexample::renaming::source{s, i};
            new_state.source = old_state.source; // a view has the bytes of its root
        }
        return changed_pairs(s);
    }

    std::optional<counterexample> changed_at_end(std::uint32_t i) const
    {
        edge_use const a = before_.edge_uses()[i];
        value_id const name = after_.edge_uses()[i].value;
        if (before_state_[root_[a.value]].source == after_state_[name].source) return std::nullopt;
        return differs(fault::other_read_at_end, before_.steps_of(a.pred).last - 1, i, a.value, name);
    }

    std::optional<counterexample> changed_output(value_id v, value_id name) const
    {
        expect_name(name);
        if (before_state_[root_[v]].source == after_state_[name].source) return std::nullopt;
        return differs(fault::other_end, no_step, 0, v, name);
    }

private:
    /// State of a name: of a class of values before, or of a value after.
    struct entry {
        counterexample::renaming::source source = {};
        step_id used_at = no_step; // last
        step_id held_at = no_step; // last used until the end of the step
        step_id defined_at = no_step;
        step_id viewed_at = no_step;    // after: where the name became a view of a root with another name
        value_id used_as = no_value;    // before: the name there
        value_id defined_as = no_value; // before: the name there
        value_id result = no_value;     // after: the class last defined under this name
        value_id held_value = no_value; // after: the only value held under this name, or none
    };

    bool is_view_of_root(touch before) const
    {
        return before.makes_view() && root_[before.value] != before.value;
    }
    void expect_name(value_id name) const
    {
        SUBLET_EXPECTS(name < after_state_.size(),
                       "sublet: given_as or kept_as names value %, but the program after has only % values",
                       name, after_state_.size());
    }
    counterexample differs(fault what, step_id s, std::uint32_t operand, value_id v, value_id name) const
    {
        return {what, counterexample::renaming{s, operand, v, name, before_state_[root_[v]].source,
                                               after_state_[name].source}};
    }

    /// Compares the pairs of results and operands that may be written over each other, by the names after.
    std::optional<counterexample> changed_pairs(step_id s)
    {
        pairs_before_.clear();
        pairs_after_.clear();
        // An operand and result of one name need no declaration if all reads of the name are early.
        auto add_pair = [&](std::vector<sort_key>& to, value_id in, value_id out) {
            if (in != out || after_state_[in].held_at == s) to.push_back({in, out, 0});
        };
        for (overwrite o : before_.overwrites(s)) {
            entry const &in = before_state_[root_[o.in]], &out = before_state_[root_[o.out]];
            if (in.used_at != s || out.defined_at != s) continue;
            // The condition does not cover other readers of these bytes in this step.
            if (in.used_as != out.defined_as || after_state_[in.used_as].held_value == o.in)
                add_pair(pairs_before_, in.used_as, out.defined_as);
        }
        for (overwrite o : after_.overwrites(s))
            if (after_state_[o.in].used_at == s && after_state_[o.out].defined_at == s)
                add_pair(pairs_after_, o.in, o.out);
        auto const a = before_.touches(s), b = after_.touches(s);
        for (std::size_t i = 0; i != a.size(); ++i) {
            if (!a[i].defines()) continue;
            value_id const name = b[i].value;
            entry const& old_state = before_state_[root_[a[i].value]];
            bool const is_apart = old_state.used_as != name; // a view of its own name writes nothing
            if (old_state.used_at == s && (is_apart ? !is_view_of_root(a[i]) : old_state.held_at == s))
                add_pair(pairs_before_, old_state.used_as, name);
            if (after_state_[name].held_at == s) add_pair(pairs_after_, name, name);
        }
        if (pairs_before_.size() > 1) sort_by_key(pairs_before_);
        if (pairs_after_.size() > 1) sort_by_key(pairs_after_);
        std::size_t i = 0, k = 0;
        while (i != pairs_before_.size() || k != pairs_after_.size()) {
            bool const is_missing =
                k == pairs_after_.size() || (i != pairs_before_.size() && pairs_before_[i] < pairs_after_[k]);
            bool const is_extra =
                i == pairs_before_.size() || (k != pairs_after_.size() && pairs_after_[k] < pairs_before_[i]);
            if (is_missing || is_extra) {
                sort_key const& pair = is_missing ? pairs_before_[i] : pairs_after_[k];
                auto const in = value_id::of(pair.key), out = value_id::of(pair.tie);
                return counterexample{fault::other_in_place, counterexample::renaming{s, 0, in, out}};
            }
            sort_key const pair = pairs_before_[i];
            while (i != pairs_before_.size() && !(pair < pairs_before_[i])) ++i;
            while (k != pairs_after_.size() && !(pair < pairs_after_[k])) ++k;
        }
        return std::nullopt;
    }

    snapshot const& before_;
    snapshot const& after_;
    table<value_id, value_id> root_;      // before
    table<value_id, entry> before_state_; // by root
    table<value_id, entry> after_state_;  // after
    std::vector<sort_key> pairs_before_, pairs_after_;
};

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_rewrite(snapshot const& before, snapshot const& after, rewrite_options const& given)
{
    detail::expect_steps_run_once(before);
    auto const asked = detail::with_said_views(
        before, detail::asked_options(given, before.values(), &rewrite_options::role,
                                      &rewrite_options::alias_of, &rewrite_options::given_as,
                                      &rewrite_options::kept_as));
    rewrite_options const& options = *asked;
    detail::positions_in(options.order, before); // throws if it is no order
    detail::rewrite_checker checker(before, after, options);
    if (auto fact = checker.changed_shape()) return fact;

    auto const role = options.role.tabulate(before.values(), "role");
    auto const given_as = options.given_as.tabulate(before.values(), "given_as");
    auto const kept_as = options.kept_as.tabulate(before.values(), "kept_as");
    for (value_id v = 0; v != before.values(); ++v) {
        if (!detail::is_given(role[v])) continue;
        if (auto fact = checker.changed_input(v, given_as[v] == no_value ? v : given_as[v])) return fact;
    }

    std::uint32_t const none = no_value; // by node and edge use: the next edge use of that node
    table<node_id, std::uint32_t> first(before.nodes(), none);
    std::vector<std::uint32_t> next(before.edge_uses().size());
    for (auto i = static_cast<std::uint32_t>(next.size()); i-- != 0;) {
        next[i] = first[before.edge_uses()[i].pred];
        first[before.edge_uses()[i].pred] = i;
    }
    for (std::size_t at = 0; at != before.nodes(); ++at) {
        node_id const n = options.order.empty() ? node_id::of(at) : options.order[at];
        step_range const node_steps = before.steps_of(n);
        for (step_id s = node_steps.first; s != node_steps.last; ++s)
            if (auto fact = checker.changed_step(s)) return fact;
        for (std::uint32_t i = first[n]; i != none; i = next[i])
            if (auto fact = checker.changed_at_end(i)) return fact;
    }
    for (value_id v = 0; v != before.values(); ++v) {
        bool const is_kept = has_role(role[v], value_role::output) || has_role(role[v], value_role::external);
        if (!is_kept) continue;
        if (auto fact = checker.changed_output(v, kept_as[v] == no_value ? v : kept_as[v])) return fact;
    }
    return {};
}

} // namespace sublet
