// SPDX-License-Identifier: BSL-1.0

/// Runs by each rule, then a local search over weights and marks from the best of them.

#include <sublet/impl/config.hpp>
#include <sublet/planning/detail/find_spills.hpp>
#include <sublet/planning/detail/spill_runner.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace sublet::detail {

/// Changes weights and marks of a few storages as long as that is no loss: of those that were restored weights
/// grow, of others they shrink. Where it does not help any more, it begins again with another rule.
class spill_search {
public:
    spill_search(spill_model const& m, table<pool_id, byte_count> const& limits) : runner_(m), limits_(limits)
    {
        bool may_copy = false;
        for (spill_model::storage const& its : m.of) may_copy = may_copy || its.may_copy;
        using enum restoring;
        for (auto const restores : {by_either, by_copies, by_steps})
            for (double const bytes : {1.0, 0.5, 0.0})
                for (double const distance : {1.0, 0.5, 0.0})
                    if (may_copy || restores == by_either) rules_.push_back({bytes, distance, restores});
        for (spill_rule const& rule : rules_) {
            spill_run found = runner_.run(limits, rule);
            if (begins_.empty() || rule.restores != begins_.back().rule.restores) begins_.push_back({rule, {}});
            begin& its = begins_.back();
            if (its.run.events.empty() || found.is_better_than(its.run)) its = {rule, std::move(found)};
        }
        for (std::size_t i = 1; i < begins_.size(); ++i)
            if (begins_[i].run.is_better_than(begins_[0].run)) std::swap(begins_[0], begins_[i]);
        for (buffer_id b = 0; b != m.of.size(); ++b) {
            if (m.of[b].may_leave) movable_.push_back(b);
            for (unsigned char const mark : {spill_runner::held, spill_runner::copied})
                if (runner_.can_be(b, mark)) choices_.push_back({b, mark});
        }
    }

    spill_run improved(std::uint64_t work)
    {
        best_ = begins_[0].run;
        if (movable_.empty() && choices_.empty()) return std::move(best_);
        for (std::size_t start = 0; start != starts && work != 0; ++start) {
            std::uint64_t const begun = runner_.work();
            runner_.forget();
            bool const is_known = start < begins_.size();
            rule_ = is_known ? begins_[start].rule : rules_[draw(rules_.size())];
            for (buffer_id b : movable_)
                if (!is_known) runner_.weights()[b] = std::ldexp(1.0, static_cast<int>(draw(3)) - 1);
            spill_run now = is_known ? std::move(begins_[start].run) : runner_.run(limits_, rule_);
            if (rule_.restores == restoring::by_copies) runner_.mark_all(spill_runner::copied);
            if (!now.events.empty()) descend(now, begun + work / (starts - start));
            if (now.is_better_than(best_)) best_ = std::move(now);
            work -= smaller(work, runner_.work() - begun);
        }
        return std::move(best_);
    }

private:
    struct choice {
        buffer_id buffer;
        unsigned char mark;
    };
    struct begin { // the best of the rules that restore in one way
        spill_rule rule;
        spill_run run;
    };
    static constexpr std::size_t starts = 8;

    void descend(spill_run& now, std::uint64_t work)
    {
        std::size_t const patience = 256 + 8 * movable_.size();
        list_restored(now);
        for (std::size_t in_vain = 0; in_vain != patience && runner_.work() < work; ++in_vain) {
            if (now.cost == 0 && now.excess == 0) return;
            changed_.clear();
            for (std::uint32_t i = 1 + draw(2); i-- != 0 && !movable_.empty();) change();
            choice const* const toggled =
                draw(2) == 0 && !choices_.empty() ? &choices_[draw(choices_.size())] : nullptr;
            if (toggled != nullptr) runner_.marks()[toggled->buffer] ^= toggled->mark;
            spill_run found = runner_.run(limits_, rule_, &now);
            if (!now.is_better_than(found)) {
                if (found.is_better_than(now)) in_vain = 0;
                now = std::move(found);
                list_restored(now);
                continue;
            }
            if (toggled != nullptr) runner_.marks()[toggled->buffer] ^= toggled->mark;
            for (std::size_t i = changed_.size(); i-- != 0;)
                runner_.weights()[changed_[i].first] = changed_[i].second;
        }
    }
    std::uint32_t draw(std::size_t below)
    {
        state_ = state_ * 6364136223846793005u + 1442695040888963407u;
        return static_cast<std::uint32_t>((state_ >> 33) % below);
    }
    void change()
    {
        bool const grows = draw(2) == 1 && !restored_.empty();
        std::vector<buffer_id> const& from = grows ? restored_ : movable_;
        buffer_id const b = from[draw(from.size())];
        double& weight = runner_.weights()[b];
        changed_.push_back({b, weight});
        weight = std::ldexp(weight, static_cast<int>(draw(5) + 1) * (grows ? 1 : -1));
    }
    void list_restored(spill_run const& run)
    {
        restored_.clear();
        for (spill_event const& e : run.events)
            if (e.kind == spilled_program::kind::rematerialize ||
                e.kind == spilled_program::kind::copied_back)
                restored_.push_back(e.buffer);
    }

    spill_runner runner_;
    table<pool_id, byte_count> const& limits_;
    std::vector<spill_rule> rules_;
    std::vector<begin> begins_; // the best of all first
    spill_rule rule_;
    spill_run best_;
    std::vector<buffer_id> movable_, restored_;
    std::vector<choice> choices_;
    std::vector<std::pair<buffer_id, double>> changed_; // with the weight before
    std::uint64_t state_ = 1;
};

SUBLET_DECL spill_run whole_run(spill_model const& m)
{
    spill_run run;
    for (position_id at = 0; at != m.end(); ++at)
        run.events.push_back({spilled_program::kind::original, at, at, no_buffer});
    return run;
}

SUBLET_DECL spill_run find_spills(spill_model const& m, table<pool_id, byte_count> const& limits,
                                  std::uint64_t work)
{
    return spill_search(m, limits).improved(work);
}

} // namespace sublet::detail
