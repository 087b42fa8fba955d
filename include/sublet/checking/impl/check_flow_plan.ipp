// SPDX-License-Identifier: BSL-1.0

/// Dataflow of available values: what is intact on every path to a step; each read asks the set of its
/// position.

#include <sublet/checking/check_flow_plan.hpp>
#include <sublet/checking/detail/available_values.hpp>
#include <sublet/checking/detail/step_order.hpp>
#include <sublet/checking/detail/unwritten_reads.hpp>
#include <sublet/checking/internal/places.hpp>
#include <sublet/core/internal/carried.hpp>
#include <sublet/core/internal/facts.hpp>
#include <sublet/core/internal/sorting.hpp>
#include <sublet/graph/internal/edge_rules.hpp>
#include <sublet/graph/internal/said_views.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>

#include <cstdint>
#include <utility>

namespace sublet::detail {

/// Requires: check_places accepts the plan; `required` has the plan's order.
class flow_checker {
public:
    flow_checker(snapshot const& program, memory_plan const& plan, plan_requirements const& required,
                 node_ends const& ends, plan_options const& options)
        : program_(program), plan_(plan), required_(required), ends_(ends), in_place_(options.in_place),
          bytes_(options.bytes.tabulate(program.values())), pieces_(find_pieces()), classes_(required, plan),
          available_(classes_), held_(classes_.size()), written_(classes_.size()),
          query_{program, required, classes_, {}, {}}
    {
    }

    std::optional<counterexample> first_fault()
    {
        query_.entry_overlap.assign(classes_.size(), no_value);
        std::vector<value_id> const disjoint = given();
        if (program_.nodes() == 0) return clash_of_given();
        sets_along_paths const available_in = find_available(program_, classes_, disjoint, available_);
        query_.is_reached = available_in.is_reached;
        std::size_t ends = 0;
        for (node_id n = 0; n != program_.nodes(); ++n) {
            reads_outputs_.push_back(program_.successors(n).empty() || ends_.is_endless[n]);
            ends += reads_outputs_[n];
        }
        std::vector<value_id> outputs; // at one end of the program all, at several only those that matter
        for (value_id v : ends_.outputs)
            if (ends < 2 || is_contested(v)) outputs.push_back(v);
        for (std::size_t i = 0; i != program_.nodes(); ++i) {
            node_id const n = node_at(i);
            if (!available_in.is_reached[n]) continue;
            available_.become(available_in.entering[n]);
            step_range const node_steps = program_.steps_of(n);
            for (step_id s = node_steps.first; s != node_steps.last; ++s)
                if (auto fact = fault_at(s, n)) return fact;
            for (value_id v : ends_.read_by_edges[n])
                if (auto fact = check_available(v, n, node_steps.last)) return fact;
            if (reads_outputs_[n])
                for (value_id v : outputs) {
                    if (auto fact = check_available(v, n, node_steps.last)) return fact;
                    for (value_id piece : pieces_[required_.root[v]])
                        if (auto fact = check_available(piece, n, node_steps.last)) return fact;
                }
            available_.sets().release();
        }
        return clash_of_given();
    }

private:
    /// By root that no step makes and that is not given: the views through which it is written.
    csr_rows<value_id, value_id> find_pieces() const
    {
        return csr_rows<value_id, value_id>::gathered(program_.values(), [this](auto add) {
            table<value_id, unsigned char> is_listed(program_.values());
            for (touch t : program_.touches({0, step_id::of(program_.steps())}))
                if (t.kind == touch::access::write_view && !needs_root(t, required_) &&
                    !std::exchange(is_listed[t.value], 1))
                    add(required_.root[t.value], t.value);
        });
    }
    bool have_common_bytes(value_id a, value_id b) const
    {
        if (required_.offset_in_root[b] < required_.offset_in_root[a]) std::swap(a, b);
        byte_count const apart = required_.offset_in_root[b] - required_.offset_in_root[a];
        return bytes_[b] != 0 && (bytes_[a] == no_size || bytes_[a] > apart);
    }
    /// Two given values that overlap, although nothing reads them.
    std::optional<counterexample> clash_of_given() const
    {
        bool const has_step = program_.nodes() != 0;
        for (std::uint32_t rank = 0; rank != query_.entry_overlap.size(); ++rank)
            if (value_id const other = query_.entry_overlap[rank]; other != no_value)
                return classes_.clash(classes_.root_at(rank), other,
                                      has_step ? required_.position[program_.steps_of(0).first]
                                               : position_id{0});
        return std::nullopt;
    }

    node_id node_at(std::size_t i) const { return plan_.order.empty() ? node_id::of(i) : plan_.order[i]; }

    /// The given values that overlap no other given value; records the others in entry_overlap.
    std::vector<value_id> given()
    {
        std::size_t const values = program_.values();
        std::vector<value_id> by_place(classes_.size(), no_value), disjoint;
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(required_.role[v])) by_place[classes_.rank_of(v)] = v;
        auto end_of = [this](value_id v) {
            value_id const r = required_.root[v];
            return place_of(plan_, r).offset + required_.bytes[r];
        };
        value_id highest = no_value;
        for (value_id v : by_place) {
            if (v == no_value) continue;
            if (highest != no_value && classes_.overlaps(highest, v)) {
                query_.entry_overlap[classes_.rank_of(v)] = highest;
                query_.entry_overlap[classes_.rank_of(highest)] = v;
            }
            if (highest == no_value || place_of(plan_, highest).pool != place_of(plan_, v).pool ||
                end_of(highest) < end_of(v))
                highest = v;
        }
        for (value_id v = 0; v != values; ++v)
            if (classes_.is_placed(v) && is_given(required_.role[v]) &&
                query_.entry_overlap[classes_.rank_of(v)] == no_value)
                disjoint.push_back(v);
        return disjoint;
    }

    /// Whether a read of a value of the class may find other bytes.
    bool is_contested(value_id v)
    {
        if (!classes_.is_placed(v)) return false;
        if (is_contested_.empty()) {
            std::vector<value_id> given;
            for (value_id g = 0; g != program_.values(); ++g)
                if (classes_.is_placed(g) && is_given(required_.role[g])) given.push_back(g);
            is_contested_ =
                find_contested(program_, classes_, ends_.read_by_edges, ends_.outputs, reads_outputs_, given);
            for (std::uint32_t rank = 0; rank != classes_.size(); ++rank)
                if (query_.entry_overlap[rank] != no_value) is_contested_[rank] = 1;
        }
        return is_contested_[classes_.rank_of(v)] != 0;
    }

    std::optional<counterexample> check_available(value_id v, node_id n, step_id before)
    {
        if (!classes_.is_placed(v) || available_.has(v) || !is_contested(v)) return std::nullopt;
        return find_clobber_path(query_, v, n, before);
    }

    /// The first fault of a step: reads, then writes; what it holds and writes is disjoint, unless in place.
    std::optional<counterexample> fault_at(step_id s, node_id n)
    {
        enter(s);
        std::vector<value_id> unavailable; // held, but undefined on some path: these may overlap others
        for (touch t : program_.touches(s)) {
            if (!classes_.is_placed(t.value)) continue;
            if (value_id const r = required_.root[t.value]; needs_root(t, required_) && !is_listed(made_, r))
                if (auto fact = check_available(r, n, s)) return fact;
            if (t.kind == touch::access::write_view && !pieces_[required_.root[t.value]].empty() &&
                is_contested(t.value))
                for (value_id piece : pieces_[required_.root[t.value]]) // it changes bytes that may be there
                    if (piece != t.value && have_common_bytes(piece, t.value))
                        if (auto fact = check_available(piece, n, s)) return fact;
            if (t.defines()) continue;
            if (auto fact = check_available(t.value, n, s)) return fact;
            if (t.kind == touch::access::use_early) continue;
            if (available_.has(t.value)) held_.insert(classes_.rank_of(t.value));
            else unavailable.push_back(t.value);
        }
        std::optional<counterexample> fact;
        for (touch t : program_.touches(s)) {
            if (!t.defines() || !classes_.is_placed(t.value)) continue;
            auto report_clash = [&](value_id other) {
                if (!fact) fact = classes_.clash(other, t.value, required_.position[s]);
            };
            classes_.for_each_overlap(written_, t.value,
                                      [&](std::uint32_t other) { report_clash(classes_.root_at(other)); });
            classes_.for_each_overlap(held_, t.value, [&](std::uint32_t other) {
                if (!can_overwrite(classes_.root_at(other), t.value)) report_clash(classes_.root_at(other));
            });
            for (value_id other : unavailable)
                if (classes_.rank_of(other) != classes_.rank_of(t.value) &&
                    classes_.overlaps(other, t.value) && !can_overwrite(other, t.value))
                    report_clash(other);
            written_.insert(classes_.rank_of(t.value));
        }
        for (touch t : program_.touches(s)) {
            if (!classes_.is_placed(t.value)) continue;
            bool const defines_it = t.defines();
            (defines_it ? written_ : held_).erase(classes_.rank_of(t.value));
            if (defines_it) available_.write(t.value);
        }
        return fact;
    }
    /// Lists what the step makes, and what it says may be overwritten.
    void enter(step_id s)
    {
        made_.clear();
        held_values_.clear();
        pairs_.clear();
        if (program_.has_views())
            for (touch t : program_.touches(s))
                if (t.defines()) made_.push_back(t.value);
        sort_ascending(made_);
        if (!in_place_ || program_.overwrites(s).empty()) return;
        for (touch t : program_.touches(s))
            if (t.holds())
                held_values_.push_back({required_.root[t.value], t.kind == touch::access::write, t.value});
        for (overwrite o : program_.overwrites(s)) pairs_.push_back({o.in, o.out, 0});
        sort_by_key(held_values_);
        sort_by_key(pairs_);
    }
    /// Whether `out` lies within `in` and may overwrite all that the step holds of its class.
    bool can_overwrite(value_id in, value_id out) const
    {
        value_id const root = required_.root[in];
        if (pairs_.empty() || place_of(plan_, root) != place_of(plan_, required_.root[out])) return false;
        if (required_.bytes[required_.root[out]] > required_.bytes[root]) return false;
        std::size_t i = partition_point(held_values_.size(),
                                        [&](std::size_t at) { return held_values_[at].key >= root; });
        for (; i != held_values_.size() && held_values_[i].key == root; ++i) {
            value_id const v = held_values_[i].id;
            bool const is_changed = held_values_[i].tie != 0;
            if (is_changed || !is_listed(pairs_, sort_key{v, out, 0}) ||
                place_of(plan_, v) != place_of(plan_, out))
                return false;
        }
        return true;
    }

    snapshot const& program_;
    memory_plan const& plan_;
    plan_requirements const& required_;
    node_ends const& ends_;
    bool const in_place_;
    table<value_id, byte_count> const bytes_;
    csr_rows<value_id, value_id> const pieces_; // by root
    placed_classes const classes_;
    available_set available_; // at the current position
    rank_set held_, written_; // by the current step
    clobber_query query_;
    std::vector<value_id> made_;                // by the current step, if there are views
    std::vector<sort_key> held_values_, pairs_; // of the current step: {root, is changed, value}, {in, out}
    table<node_id, unsigned char> reads_outputs_;
    std::vector<unsigned char> is_contested_; // by rank; empty until it is asked
};

/// Whether the plan is for this program and reading, and its order names every node once.
SUBLET_DECL bool is_flow_plan_of(snapshot const& p, memory_plan const& plan, plan_options const& options)
{
    if (plan.valid_for != program_reading::control_flow || !is_complete(plan, p.values())) return false;
    if (!options.order.empty() && options.order != plan.order) return false;
    if (plan.order.empty()) return true;
    table<node_id, unsigned char> is_named(p.nodes(), 0);
    for (node_id n : plan.order)
        if (n >= p.nodes() || std::exchange(is_named[n], 1)) return false;
    return plan.order.size() == p.nodes();
}

} // namespace sublet::detail

namespace sublet {

SUBLET_DECL verdict check_flow_plan(snapshot const& as_made, memory_plan const& plan,
                                    plan_options const& given, flow_options const& flow)
{
    detail::expect_listed_order(as_made, given.order);
    detail::expect_pages(given, "check_flow_plan");
    snapshot listed;
    snapshot const& p = detail::as_control_flow(as_made, listed);
    detail::expect_one_program(given, "check_flow_plan");
    auto const asked = detail::with_said_views(p, detail::tabulated_options(given, p.values()));
    plan_options const& options = *asked;
    if (!detail::is_flow_plan_of(p, plan, options)) return counterexample{fault::foreign_plan};
    plan_options in_order = options;
    in_order.order = plan.order;
    detail::plan_requirements const required = detail::derive_requirements(p, in_order);
    detail::node_ends const ends = detail::ends_of_nodes(p, required);
    if (auto fact = detail::misnamed_view(p, required)) return fact;
    if (auto fact = detail::find_unwritten_read(p, required, ends, flow.allows_undefined)) return fact;
    if (auto fact = detail::check_places(required, plan, in_order)) return fact;
    auto clash = [&](detail::plan_requirements const& its) {
        return detail::flow_checker(p, plan, its, ends, options).first_fault();
    };
    if (auto fact = clash(required)) return fact;
    return detail::check_guards(required, plan, options, clash);
}

} // namespace sublet
