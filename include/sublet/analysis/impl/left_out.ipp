// SPDX-License-Identifier: BSL-1.0

/// Each step has a list of the makers of what it touches. Steps that may be left out are taken from the last
/// one to the first: a hand-off past one of them may begin at an earlier one.

#include <sublet/analysis/internal/contents.hpp>
#include <sublet/analysis/internal/left_out.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/impl/config.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

namespace sublet::detail {

/// By step: it may be left out.
/// Throws: precondition_error for one that does not exist.
SUBLET_COLD_DECL table<step_id, unsigned char> steps_to_leave_out(snapshot const& p,
                                                                  plan_options const& options)
{
    table<step_id, unsigned char> may_leave(p.steps(), 0);
    for (step_id s : options.optional) {
        SUBLET_EXPECTS(s < p.steps(), "sublet: step % may be left out, but there are only % steps", s,
                       p.steps());
        may_leave[s] = 1;
    }
    return may_leave;
}

/// What each step takes of others that may be left out.
class optional_makers {
public:
    struct need {
        step_id maker;
        value_id value;
    };

    optional_makers(snapshot const& p, plan_options const& options)
        : is_optional_(steps_to_leave_out(p, options))
    {
        table<value_id, value_id> const root = roots_of_views(p, options.alias_of);
        auto const makers = csr_rows<value_id, step_id>::gathered(p.values(), [&](auto add) {
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s))
                    if (is_optional(s) && t.defines()) add(t.value, s);
        });
        needs_ = csr_rows<step_id, need>::gathered(p.steps(), [&](auto add) {
            auto take = [&](step_id s, value_id v) {
                for (step_id by : makers[v])
                    if (by != s) add(s, need{by, v});
            };
            for (step_id s = 0; s != p.steps(); ++s)
                for (touch t : p.touches(s)) {
                    take(s, t.value);
                    if (t.makes_view()) take(s, root[t.value]);
                }
            for (edge_use u : p.edge_uses()) take(p.steps_of(u.pred).last - 1, u.value);
        });
    }

    [[nodiscard]] bool is_optional(step_id s) const { return is_optional_[s] != 0; }
    /// Of `s` alone.
    [[nodiscard]] std::span<need const> operator[](step_id s) const { return needs_[s]; }

    /// Calls visit(maker) once for each step without which `s` cannot run.
    template <class Visit>
    void each_before(step_id s, Visit visit)
    {
        seen_.resize(is_optional_.size(), 0);
        ++searches_;
        open_.push_back(s);
        while (!open_.empty()) {
            step_id const at = open_.back();
            open_.pop_back();
            for (need const& its : needs_[at]) {
                if (std::exchange(seen_[its.maker], searches_) == searches_) continue;
                visit(its.maker);
                open_.push_back(its.maker);
            }
        }
    }

private:
    table<step_id, unsigned char> is_optional_;
    csr_rows<step_id, need> needs_;
    table<step_id, std::uint32_t> seen_; // by step: the last search that found it
    std::uint32_t searches_ = 0;
    std::vector<step_id> open_;
};

/// The touches of the steps that stay.
SUBLET_COLD_DECL snapshot without_steps(snapshot const& p, table<step_id, unsigned char> const& stays)
{
    return with_effects(p, p.values(), [&](node_id n, effect_sink& sink) {
        step_range const range = p.steps_of(n);
        for (step_id s = range.first; s != range.last; ++s) {
            if (s != range.first) sink.next_step();
            if (stays[s] == 0) continue;
            for (touch t : p.touches(s)) sink.add(t.kind, t.value);
        }
        for (edge_use u : p.edge_uses(n))
            if (stays[p.steps_of(u.pred).last - 1] != 0) sink.use_at_end_of(u.pred, u.value);
    });
}

/// A read of bytes that only steps write which may be left out without the reader: of the steps that stay in
/// any case, and then of each other one with no more than it needs.
SUBLET_COLD_DECL std::optional<counterexample>
find_unwritten_without(snapshot const& p, plan_options const& options, optional_makers& makers)
{
    table<step_id, unsigned char> kept(p.steps(), 1);
    for (step_id s : options.optional) kept[s] = 0;
    auto find = [&](table<step_id, unsigned char> const& stays) -> std::optional<counterexample> {
        std::optional<counterexample> fact = find_unwritten(without_steps(p, stays), options);
        if (!fact) return fact;
        auto missing = *fact->as<counterexample::access>();
        buffer_classes const classes = classes_of(options.alias_of.tabulate(p.values(), "alias_of"));
        buffer_id const storage = classes.buffer_of[missing.other];
        for (step_id s : options.optional)
            for (touch t : p.touches(s))
                if (stays[s] == 0 && t.writes() && classes.buffer_of[t.value] == storage)
                    missing.maker = smaller(missing.maker, s);
        return counterexample{fault::needs_left_out, missing};
    };
    std::optional<counterexample> fact = find(kept);
    for (std::size_t i = 0; i != options.optional.size() && !fact; ++i) {
        table<step_id, unsigned char> stays = kept;
        stays[options.optional[i]] = 1;
        makers.each_before(options.optional[i], [&](step_id s) { stays[s] = 1; });
        fact = find(stays);
    }
    return fact;
}

SUBLET_DECL std::optional<counterexample> find_needed(snapshot const& p, plan_options const& options)
{
    if (options.optional.empty()) return std::nullopt;
    optional_makers makers(p, options);
    for (step_id s = 0; s != p.steps(); ++s)
        if (!makers.is_optional(s))
            for (optional_makers::need const& its : makers[s])
                return counterexample{
                    fault::needs_left_out,
                    counterexample::access{.value = its.value, .step = s, .maker = its.maker}};
    if (!p.has_allocations()) return std::nullopt;
    return find_unwritten_without(p, options, makers);
}

SUBLET_DECL void hold_early_inputs(snapshot const& p, plan_options const& options,
                                   table<position_id, step_id> const& steps, buffer_table& buffers)
{
    if (options.optional.empty()) return;
    auto const is_optional = steps_to_leave_out(p, options);
    for (position_id at = 0; at != steps.size(); ++at) {
        for (touch t : p.touches(steps[at])) {
            buffer& b = buffers.buffers[buffers.buffer_of[t.value]];
            if (t.kind == touch::access::use_early && b.life.last == at &&
                has_role(b.role, value_role::input))
                b.life.last = at + 1;
        }
        if (is_optional[steps[at]] == 0) return; // no later step is the first one
    }
}

SUBLET_DECL std::vector<handoff> order_without(snapshot const& p, plan_options const& options,
                                               dependence_graph const& g)
{
    std::vector<handoff> found;
    if (options.optional.empty()) return found;
    optional_makers makers(p, options);
    table<step_id, std::vector<step_id>> before(p.steps()), after(p.steps());
    for (position_id at = 0; at != g.positions(); ++at)
        for (position_id next : g.after[at]) {
            step_id const from = g.step_at[at], to = g.step_at[next];
            if (from == to) continue;
            before[to].push_back(from);
            after[from].push_back(to);
        }
    std::vector<sort_key> last_first; // {positions behind it, 0, step that may be left out}
    for (step_id s : options.optional) last_first.push_back({g.positions() - g.position_of[s], 0, s});
    sort_unique(last_first);

    table<step_id, step_id> needed_by(p.steps(), no_step); // the step that was asked for last
    table<step_id, std::uint32_t> reached(p.steps(), 0);   // the number of the search
    std::uint32_t searches = 0;
    std::vector<step_id> open;
    auto const needed_in = csr_rows<step_id, step_id>::gathered(p.steps(), [&](auto add) {
        for (step_id s = 0; s != p.steps(); ++s)
            for (optional_makers::need const& its : makers[s]) add(its.maker, s);
    });
    table<step_id, step_id> takes_of(p.steps(), no_step); // by step: the last of those that it takes data of
    for (sort_key const& one : last_first) {
        step_id const left_out{one.id};
        for (step_id s : needed_in[left_out]) takes_of[s] = left_out;
        position_id lowest = no_position; // of what comes before it
        for (step_id from : before[left_out]) lowest = smaller(lowest, g.position_of[from]);
        for (step_id to : after[left_out]) {
            if (takes_of[to] == left_out) continue;
            needed_by[to] = to;
            makers.each_before(to, [&](step_id s) { needed_by[s] = to; });
            if (needed_by[left_out] == to) continue;
            ++searches;
            open.push_back(to);
            while (!open.empty()) { // what `to` waits for, whatever is left out
                step_id const at = open.back();
                open.pop_back();
                if (makers.is_optional(at) && needed_by[at] != to) continue;
                for (step_id from : before[at])
                    if (g.position_of[from] >= lowest && reached[from] != searches) {
                        reached[from] = searches;
                        open.push_back(from);
                    }
            }
            for (step_id from : before[left_out]) {
                if (std::exchange(reached[from], searches) == searches) continue;
                found.push_back({from, to});
                before[to].push_back(from);
                after[from].push_back(to);
            }
        }
    }
    return found;
}

} // namespace sublet::detail
