// SPDX-License-Identifier: BSL-1.0

/// One walk along the positions gathers the touches of each storage; then each step is asked whether it may run
/// again.

#include <sublet/analysis/internal/listed_steps.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/spill_model.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace sublet::detail {

SUBLET_DECL std::vector<sort_key> node_end_touches(snapshot const& p,
                                                   table<position_id, step_id> const& steps)
{
    table<step_id, position_id> position_of(p.edge_uses().empty() ? 0 : steps.size());
    for (position_id at = 0; at != position_of.size(); ++at) position_of[steps[at]] = at;
    std::vector<sort_key> at_node_ends;
    for (edge_use u : p.edge_uses())
        at_node_ends.push_back({position_of[p.steps_of(u.pred).last - 1], at_node_ends.size(), u.value});
    sort_by_key(at_node_ends);
    return at_node_ends;
}

/// Gathers what a spill_model consists of.
class spill_modeller {
public:
    spill_modeller(spill_model& model, snapshot const& p, plan_options const& options,
                   advice_options const& how)
        : m_(model), p_(p), how_(how), step_cost_(how.step_cost.tabulate(p.steps(), "step_cost")),
          role_(options.role.tabulate(p.values(), "role"))
    {
        m_.steps = steps_in_order(p, options.order);
        m_.buffers = gather_buffers(lifetimes(p, lifetimes_of(options)), options);
        std::size_t const buffers = m_.buffers.buffers.size();
        first_touch_.assign(buffers, no_position);
        writes_ = csr_rows<buffer_id, position_id>::gathered(buffers, [&](auto add) {
            for (position_id at = 0; at != m_.end(); ++at)
                for (touch t : p.touches(m_.steps[at]))
                    if (t.writes()) add(m_.buffers.buffer_of[t.value], at);
        });
        list_storages();
        list_touches();
        keep_without_root();
        for (position_id at = 0; at != m_.end(); ++at) list_step(at);
        m_.left_out = rows(left_out_);
        m_.uses = csr_rows<buffer_id, position_id>::gathered(buffers, [&](auto add) {
            for (position_id at = 0; at != m_.end() + 1; ++at)
                for (buffer_id b : m_.operands[at]) add(b, at);
        });
        m_.readers = csr_rows<buffer_id, position_id>::gathered(buffers, [&](auto add) {
            for (position_id at = 0; at != m_.end(); ++at)
                if (makes_again_[at] != 0)
                    for (buffer_id b : m_.operands[at]) add(b, at);
        });
    }

private:
    [[nodiscard]] buffer const& buffer_of(value_id v) const
    {
        return m_.buffers.buffers[m_.buffers.buffer_of[v]];
    }

    void list_storages()
    {
        auto const movable = how_.movable.tabulate(p_.values(), "movable");
        for (buffer const& b : m_.buffers.buffers) {
            spill_model::storage its;
            its.size = b.is_planned() ? b.size : 0;
            its.pool = b.pool;
            its.may_leave = b.is_planned() && b.pinned == no_offset;
            its.copy_cost = checked_multiply(how_.copy_cost, its.size);
            m_.of.push_back(its);
            if (b.is_planned()) m_.pools = larger(m_.pools, std::size_t{b.pool} + 1);
        }
        for (value_id v = 0; v != p_.values(); ++v)
            if (!movable[v]) m_.of[m_.buffers.buffer_of[v]].may_leave = false;
    }
    /// A copy and a restored storage have the root: where it begins with a view alone, it stays.
    void keep_without_root()
    {
        table<buffer_id, unsigned char> begins(m_.of.size(), 0);
        for (buffer_id b = 0; b != m_.of.size(); ++b) begins[b] = is_given(role_[m_.buffers.buffers[b].root]);
        for (position_id at = 0; at != m_.end(); ++at)
            for (touch t : p_.touches(m_.steps[at])) {
                buffer_id const b = m_.buffers.buffer_of[t.value];
                buffer const& its = m_.buffers.buffers[b];
                if (t.value == its.root && t.defines() && first_touch_[b] == at && !is_given(its.role))
                    begins[b] = 1;
            }
        for (buffer_id b = 0; b != m_.of.size(); ++b) {
            m_.of[b].may_leave = m_.of[b].may_leave && begins[b] != 0;
            m_.of[b].may_copy = how_.copies && m_.of[b].may_leave;
        }
    }

    /// Operands and results of each position, and of the end the outputs.
    void list_touches()
    {
        table<buffer_id, position_id> seen(m_.of.size(), no_position);
        std::vector<sort_key> const at_node_ends = node_end_touches(p_, m_.steps);
        std::size_t next_at_end = 0;
        touched_at in, early, rewritten, out;
        for (buffer_id b = 0; b != m_.of.size(); ++b) {
            if (!is_given(m_.buffers.buffers[b].role)) continue;
            first_touch_[b] = 0;
            is_given_.push_back(b);
            if (m_.of[b].size != 0) m_.given.push_back(b);
        }
        table<buffer_id, unsigned char> is_there(m_.of.size(), 0);
        table<buffer_id, unsigned char> is_early(m_.of.size(), 0), is_rewritten(m_.of.size(), 0);
        for (buffer_id b : is_given_) is_there[b] = 1;
        for (position_id at = 0; at != m_.end(); ++at) {
            auto const visit = [&](buffer_id b) {
                if (seen[b] == at) return;
                seen[b] = at;
                is_early[b] = 1;
                is_rewritten[b] = 0;
                if (first_touch_[b] == no_position) first_touch_[b] = at;
                if (m_.of[b].size == 0) return;
                if (is_there[b] != 0) in.push_back({at, b});
                else out.push_back({at, b});
            };
            for (touch t : p_.touches(m_.steps[at])) {
                buffer_id const b = m_.buffers.buffer_of[t.value];
                visit(b);
                if (t.kind != touch::access::use_early) is_early[b] = 0;
                if (t.writes()) is_rewritten[b] = 1;
            }
            for (; next_at_end != at_node_ends.size() && at_node_ends[next_at_end].key == at; ++next_at_end) {
                buffer_id const b = m_.buffers.buffer_of[value_id{at_node_ends[next_at_end].id}];
                visit(b);
                is_early[b] = 0;
            }
            for (std::size_t i = in.size(); i-- != 0 && in[i].first == at;) {
                if (is_rewritten[in[i].second] != 0) rewritten.push_back(in[i]);
                if (is_early[in[i].second] != 0) early.push_back(in[i]);
            }
            for (touch t : p_.touches(m_.steps[at])) is_there[m_.buffers.buffer_of[t.value]] = 1;
        }
        for (buffer_id b = 0; b != m_.of.size(); ++b)
            if (m_.of[b].size != 0 && has_role(m_.buffers.buffers[b].role, value_role::output))
                in.push_back({m_.end(), b});
        m_.operands = rows(in);
        m_.early = rows(early);
        m_.rewritten = rows(rewritten);
        m_.results = rows(out);
        list_pairs();
    }

    void list_pairs()
    {
        table<buffer_id, position_id> operand_at(m_.of.size(), no_position), result_at(m_.of.size(), no_position);
        std::vector<std::pair<position_id, spill_model::in_place_pair>> pairs;
        for (position_id at = 0; at != m_.end(); ++at) {
            if (p_.overwrites(m_.steps[at]).empty()) continue;
            for (buffer_id b : m_.operands[at]) operand_at[b] = at;
            for (buffer_id b : m_.results[at]) result_at[b] = at;
            for (overwrite o : p_.overwrites(m_.steps[at])) {
                buffer_id const from = m_.buffers.buffer_of[o.in], to = m_.buffers.buffer_of[o.out];
                if (operand_at[from] == at && result_at[to] == at && m_.of[from].pool == m_.of[to].pool)
                    pairs.push_back({at, {from, to}});
            }
        }
        m_.pairs = csr_rows<position_id, spill_model::in_place_pair>::gathered(m_.steps.size(), [&](auto add) {
            for (auto const& pair : pairs) add(pair.first, pair.second);
        });
    }

    /// Whether the step at a position may run again, up to where, and what it then makes.
    void list_step(position_id at)
    {
        step_id const step = m_.steps[at];
        position_id until = m_.end();
        byte_count const given = step_cost_[step];
        m_.cost.push_back(given != 0 ? given : touched_bytes(at));
        bool const makes_results_only = p_.may_recompute_results(step);
        bool may_run = how_.remats && (makes_results_only || p_.may_recompute(step)) && given != no_size;
        for (touch t : p_.touches(step)) {
            buffer_id const b = m_.buffers.buffer_of[t.value];
            buffer const& its = m_.buffers.buffers[b];
            auto const writes = writes_[b];
            bool const is_there_before = first_touch_[b] != at || is_given(its.role);
            bool const is_updated = is_there_before && is_listed(writes, at);
            if (makes_results_only && is_updated && !its.is_planned()) {
                if (left_out_.empty() || left_out_.back() != std::pair{at, b}) left_out_.push_back({at, b});
            } else if (t.writes()) {
                bool const is_plain = its.pinned == no_offset && (its.is_planned() || its.size == 0) &&
                                      its.eligible && !is_there_before;
                may_run = may_run && is_plain;
            } else {
                std::size_t const next =
                    partition_point(writes.size(), [&](std::size_t i) { return writes[i] > at; });
                if (next != writes.size()) until = smaller(until, writes[next]);
                if (its.is_unsized()) may_run = false;
            }
        }
        m_.same_until.push_back(until);
        makes_again_.push_back(may_run ? 1 : 0);
        for (buffer_id b : m_.results[at]) {
            auto const writes = writes_[b];
            bool const is_written_here = !writes.empty() && writes.back() == at;
            if (may_run && is_written_here && m_.of[b].may_leave) m_.of[b].maker = at;
        }
    }

    using touched_at = std::vector<std::pair<position_id, buffer_id>>;
    [[nodiscard]] csr_rows<position_id, buffer_id> rows(touched_at const& items) const
    {
        return csr_rows<position_id, buffer_id>::gathered(m_.steps.size() + 1, [&](auto add) {
            for (auto const& item : items) add(item.first, item.second);
        });
    }
    [[nodiscard]] byte_count touched_bytes(position_id at) const
    {
        byte_count sum = 0;
        for (touch t : p_.touches(m_.steps[at]))
            if (byte_count const size = buffer_of(t.value).size; size != no_size) sum = checked_add(sum, size);
        return sum;
    }

    spill_model& m_;
    snapshot const& p_;
    advice_options const& how_;
    table<step_id, byte_count> step_cost_;
    table<value_id, value_role> role_;
    csr_rows<buffer_id, position_id> writes_;
    table<buffer_id, position_id> first_touch_;
    table<position_id, unsigned char> makes_again_; // the step may run again
    std::vector<buffer_id> is_given_;
    touched_at left_out_;
};

SUBLET_DECL spill_model::spill_model(snapshot const& p, plan_options const& options,
                                     advice_options const& how)
{
    spill_modeller(*this, p, options, how);
    for (buffer_id b = 0; b != of.size(); ++b)
        of[b].may_leave = of[b].may_leave && (of[b].may_copy || of[b].maker != no_position);
}

} // namespace sublet::detail
