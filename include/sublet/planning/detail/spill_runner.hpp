// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_PLANNING_DETAIL_SPILL_RUNNER_HPP
#define SUBLET_PLANNING_DETAIL_SPILL_RUNNER_HPP

/// Simulates a run within limits, with knowledge of all later uses.
///
///     frames     steps that wait for operands: the step of the program below, and on top of it steps that run
///                again for it. What the step on top needs is locked.
///     asked      what has left asks for the operands of its maker, from its next use to its last: these are
///                kept, or leave, too, and ask in turn
///     candidates of each pool, by a score that may have grown since it was found

#include <sublet/core/internal/sorting.hpp>
#include <sublet/core/units.hpp>
#include <sublet/planning/detail/spill_model.hpp>
#include <sublet/planning/detail/spill_run.hpp>
#include <sublet/planning/spills.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

namespace sublet::detail {

/// How what has left is restored.
enum class restoring : std::uint8_t {
    by_either, ///< by what costs less at the time
    by_copies, ///< nothing runs again that may be copied
    by_steps   ///< nothing is copied
};

/// What leaves first.
struct spill_rule {
    double bytes = 1, distance = 1; ///< exponents
    restoring restores = restoring::by_either;
};

/// Runs a program within limits by one rule, with weights and marks of single storages.
class spill_runner {
public:
    explicit spill_runner(spill_model const& model)
        : m_(model), weight_(model.of.size(), 1.0), marks_(model.of.size(), 0), seen_(model.of.size(), 0)
    {
    }

    /// By how much more a storage stays.
    table<buffer_id, double>& weights() { return weight_; }
    /// A set of these.
    enum : unsigned char {
        held = 1,  ///< it stays when nothing needs it, until its bytes are wanted
        copied = 2 ///< it is copied if it may be, also where running steps again costs less
    };
    table<buffer_id, unsigned char>& marks() { return marks_; }
    void mark_all(unsigned char mark)
    {
        for (unsigned char& marks : marks_) marks |= mark;
    }
    /// All weights and marks.
    void forget()
    {
        weight_.assign(m_.of.size(), 1.0);
        marks_.assign(m_.of.size(), 0);
    }
    /// The mark can make a difference.
    [[nodiscard]] bool can_be(buffer_id b, unsigned char mark) const
    {
        if (mark == copied) return m_.of[b].may_copy && m_.of[b].maker != no_position;
        return !m_.readers[b].empty();
    }
    /// Of all runs together.
    [[nodiscard]] std::uint64_t work() const { return work_; }

    /// Without events if some use cannot be restored, if it takes too much work, or if it is worse than `known`.
    ///
    /// Requires:   `limits` has an entry for each pool of the model.
    /// Complexity: as find_spills() says of one run.
    /// Throws:     precondition_error if what is there at once exceeds 64 bits.
    spill_run run(table<pool_id, byte_count> const& limits, spill_rule const& rule,
                  spill_run const* known = nullptr)
    {
        rule_ = rule;
        limits_ = limits;
        result_ = {};
        std::size_t const buffers = m_.of.size();
        work_ += buffers;
        is_there_.assign(buffers, 0);
        has_home_.assign(buffers, 0);
        is_copied_.assign(buffers, 0);
        locks_.assign(buffers, 0);
        next_use_.assign(buffers, 0);
        asked_.assign(buffers, no_position);
        asked_until_.assign(buffers, 0);
        last_event_.assign(buffers, 0);
        used_.assign(m_.pools, 0);
        copies_out_.clear();
        candidates_.assign(m_.pools, {});
        listed_.assign(buffers, 0);
        size_.clear();
        for (spill_model::storage const& its : m_.of)
            size_.push_back(power(static_cast<double>(its.size), rule.bytes));
        std::uint64_t const most_work = work_ + 2'000'000 + 256 * m_.steps.size();
        now_ = 0;
        frames_.clear();
        locked_.clear();
        for (buffer_id b : m_.given) {
            enter(b);
            ++locks_[b]; // there when the first step begins
        }
        take_excess();
        for (position_id at = 0; at != m_.end() + 1; ++at) {
            now_ = at;
            frames_.push_back({at, true, no_buffer, locked_.size()});
            while (!frames_.empty())
                if (!go_on() || work_ > most_work || (known != nullptr && known->is_better_than(result_)))
                    return {{}, {}, no_limit, no_limit};
            ++work_;
            if (at != 0) continue;
            for (buffer_id b : m_.given) {
                --locks_[b];
                free_if_dead(b);
                if (is_there_[b] != 0) list_candidate(b);
            }
        }
        merge_copies_out();
        return std::move(result_);
    }

private:
    struct frame { // a step that waits for its operands
        position_id at;
        bool is_original;
        buffer_id wanted;       ///< if it runs again
        std::size_t first_lock; ///< of its operands, in locked_
    };

    // --- what is there ---

    void enter(buffer_id b)
    {
        is_there_[b] = 1;
        used_[m_.of[b].pool] = checked_add(used_[m_.of[b].pool], m_.of[b].size);
        list_candidate(b);
    }
    void leave(buffer_id b)
    {
        is_there_[b] = 0;
        used_[m_.of[b].pool] -= m_.of[b].size;
    }
    /// What is there of the operands of the step on top does not leave.
    void lock_operands()
    {
        ++stamp_;
        for (std::size_t i = frames_.back().first_lock; i != locked_.size(); ++i) seen_[locked_[i]] = stamp_;
        for (buffer_id b : m_.operands[frames_.back().at]) {
            if (is_there_[b] == 0 || seen_[b] == stamp_) continue;
            locked_.push_back(b);
            ++locks_[b];
        }
    }

    // --- needs ---

    position_id own_use(buffer_id b)
    {
        auto const uses = m_.uses[b];
        std::uint32_t& i = next_use_[b];
        while (i != uses.size() && uses[i] < now_) ++i;
        return i != uses.size() ? uses[i] : no_position;
    }
    position_id next_need(buffer_id b) { return smaller(own_use(b), asked_[b]); }
    position_id last_need(buffer_id b)
    {
        position_id const own = own_use(b);
        return own == no_position ? asked_until_[b] : larger(own, asked_until_[b]);
    }
    bool is_restored_by_step(buffer_id b) const
    {
        return is_there_[b] == 0 && is_copied_[b] == 0 && m_.of[b].maker < now_;
    }

    /// What the storages that have left ask of the operands of a step. Where that changes, and the operand has
    /// left, too, it asks in turn; those that are made last come first, so that each is asked once.
    void ask_operands(position_id of)
    {
        auto const ask = [this](position_id step) {
            for (buffer_id b : m_.operands[step]) {
                bool const is_made_again = m_.of[b].maker != no_position;
                asking_.push({is_made_again ? m_.of[b].maker + 1 : 0, b});
            }
        };
        for (ask(of); !asking_.empty();) {
            auto const [made, b] = asking_.top();
            while (!asking_.empty() && asking_.top().second == b) asking_.pop();
            position_id next = no_position, last = 0;
            for (position_id reader : m_.readers[b])
                for (buffer_id y : m_.results[reader]) {
                    ++work_;
                    if (m_.of[y].maker != reader || !is_restored_by_step(y)) continue;
                    if (position_id const need = next_need(y); need != no_position) {
                        next = smaller(next, need);
                        last = larger(last, last_need(y));
                    }
                }
            if (next == asked_[b] && last == asked_until_[b]) continue;
            asked_[b] = next;
            asked_until_[b] = last;
            free_if_dead(b);
            if (is_restored_by_step(b) && made != 0) ask(m_.of[b].maker);
        }
    }
    bool is_needed(buffer_id b) { return next_need(b) != no_position; }
    /// Storage that nothing needs stays if it is held, since something could be made again from it.
    bool is_held(buffer_id b)
    {
        if ((marks_[b] & held) == 0) return false;
        for (position_id reader : m_.readers[b])
            for (buffer_id y : m_.results[reader])
                if (m_.of[y].maker == reader && is_there_[y] != 0 && is_needed(y)) return true;
        return false;
    }
    void free_if_dead(buffer_id b)
    {
        if (is_there_[b] != 0 && locks_[b] == 0 && !is_needed(b) && !is_held(b)) leave(b);
    }

    // --- what leaves ---

    /// The cost of making it again, with all that has left and is needed for it; negative: that is impossible.
    /// From `most` on it is not needed exactly.
    double cost_again(buffer_id b, double most)
    {
        ++stamp_;
        position_id const until = last_need(b);
        double sum = 0;
        walk_.assign(1, b);
        seen_[b] = stamp_;
        while (!walk_.empty() && sum < most) {
            buffer_id const y = walk_.back();
            walk_.pop_back();
            position_id const maker = m_.of[y].maker;
            ++work_;
            if (maker == no_position || m_.same_until[maker] < until) return -1;
            sum += static_cast<double>(m_.cost[maker]);
            for (buffer_id operand : m_.operands[maker]) {
                if (is_there_[operand] != 0 || seen_[operand] == stamp_) continue;
                seen_[operand] = stamp_;
                if (is_copied_[operand] != 0) sum += static_cast<double>(m_.of[operand].copy_cost) / 2;
                else walk_.push_back(operand);
            }
        }
        return sum;
    }
    struct candidate {
        double score; ///< it may have grown since
        buffer_id buffer;
        bool operator<(candidate const& other) const // the lowest on top
        {
            return score != other.score ? other.score < score : other.buffer < buffer;
        }
    };
    /// Its score has to be found anew.
    void list_candidate(buffer_id b)
    {
        if (!m_.of[b].may_leave && (marks_[b] & held) == 0) return;
        listed_[b] = 0;
        candidates_[m_.of[b].pool].push({0, b});
    }
    struct departure {
        double score = -1; ///< negative: it has to stay
        bool is_copied = false;
    };
    /// A score above `most` is not needed exactly.
    departure departure_of(buffer_id b, double most)
    {
        spill_model::storage const& its = m_.of[b];
        ++work_;
        bool const is_idle = !is_needed(b); // and held
        if (!its.may_leave && !is_idle) return {};
        double const distance = is_idle ? 1.0 : static_cast<double>(next_need(b) - now_ + 1);
        double const gain = size_[b] * power(distance, rule_.distance) / weight_[b];
        bool const may_copy = its.may_copy && (has_home_[b] != 0 || !is_being_read(b));
        bool const copies_it =
            may_copy && (rule_.restores == restoring::by_copies || (marks_[b] & copied) != 0);
        double cost = its.maker != no_position && !copies_it ? cost_again(b, most * gain) : -1;
        bool is_copied = false;
        if (may_copy && rule_.restores != restoring::by_steps) {
            double const copy = static_cast<double>(its.copy_cost) * (has_home_[b] != 0 ? 0.5 : 1);
            is_copied = cost < 0 || copy < cost;
            if (is_copied) cost = copy;
        }
        if (is_idle && cost < 0) cost = static_cast<double>(its.size);
        if (cost < 0) return {};
        return {(cost + 1) / gain, is_copied};
    }
    static double power(double x, double exponent)
    {
        return exponent == 1 ? x : exponent == 0 ? 1 : std::sqrt(x);
    }

    /// Lets the lowest scores leave until so many bytes are free. Scores grow with what leaves, and as the next
    /// use comes nearer: a score that was found anew, and is not above the next one, is the lowest.
    bool free_bytes(pool_id pool, byte_count bytes)
    {
        auto& open = candidates_[pool];
        while (bytes > limits_[pool] || used_[pool] > limits_[pool] - bytes) {
            ++round_;
            passed_.clear();
            buffer_id best = no_buffer;
            departure how;
            while (!open.empty()) {
                candidate const next = open.top();
                if (best != no_buffer && how.score <= next.score) break;
                open.pop();
                buffer_id const b = next.buffer;
                bool const is_current = is_there_[b] != 0 && listed_[b] != round_;
                if (!is_current) continue;
                listed_[b] = round_;          // others of the same buffer are older
                if (locks_[b] != 0) continue; // listed again when it is free
                departure const now = departure_of(b, best == no_buffer ? 1e300 : how.score);
                if (now.score < 0) {
                    passed_.push_back({0, b});
                    continue;
                }
                passed_.push_back({now.score, b});
                if (best == no_buffer || now.score < how.score || (now.score == how.score && b < best)) {
                    best = b;
                    how = now;
                }
            }
            for (candidate const& c : passed_)
                if (c.buffer != best) open.push(c);
            if (best == no_buffer) return false;
            evict(best, how.is_copied);
        }
        return true;
    }
    void evict(buffer_id b, bool is_copied)
    {
        bool const is_idle = !is_needed(b);
        leave(b);
        if (is_idle) return;
        is_copied_[b] = is_copied;
        if (is_copied && has_home_[b] == 0) {
            has_home_[b] = 1;
            copies_out_.push_back({last_event_[b], 0, b});
        }
        if (!is_copied) ask_operands(m_.of[b].maker);
    }
    void take_excess()
    {
        byte_count sum = 0;
        for (pool_id pool = 0; pool != m_.pools; ++pool)
            if (used_[pool] > limits_[pool]) sum = checked_add(sum, used_[pool] - limits_[pool]);
        result_.excess = larger(result_.excess, sum);
    }

    // --- steps ---

    /// Restores one operand of the step on top, or runs it.
    bool go_on()
    {
        frame const top = frames_.back();
        lock_operands();
        for (buffer_id b : m_.operands[top.at])
            if (is_there_[b] == 0) return restore(b);
        if (top.at != m_.end()) run(top);
        else take_excess();
        frames_.pop_back();
        return true;
    }

    bool restore(buffer_id b)
    {
        position_id const maker = m_.of[b].maker;
        if (is_copied_[b] != 0) copy_back(b);
        else if (maker == no_position || m_.same_until[maker] < now_) return false;
        else frames_.push_back({maker, false, b, locked_.size()});
        return true;
    }
    void copy_back(buffer_id b)
    {
        free_bytes(m_.of[b].pool, m_.of[b].size);
        enter(b);
        take_excess();
        is_copied_[b] = 0;
        result_.cost = checked_add(result_.cost, m_.of[b].copy_cost / 2);
        last_event_[b] = static_cast<std::uint32_t>(result_.events.size());
        result_.events.push_back({spilled_program::kind::copied_back, now_, now_, b});
    }

    void run(frame const& step)
    {
        if (step.is_original) now_ = step.at + 1; // its own uses are over
        for (buffer_id b : m_.early[step.at]) unlock_early(b, step);
        early_of_ = step.at;

        made_.clear();
        needed_.assign(m_.pools, 0);
        for (buffer_id b : m_.results[step.at]) {
            needed_[m_.of[b].pool] = checked_add(needed_[m_.of[b].pool], m_.of[b].size);
            bool const is_kept =
                step.is_original || b == step.wanted ||
                (m_.of[b].maker == step.at && is_restored_by_step(b) && next_need(b) != no_position);
            if (is_kept) made_.push_back(b);
        }
        ++stamp_;
        for (spill_model::in_place_pair pair : m_.pairs[step.at]) {
            if (seen_[pair.in] == stamp_ || seen_[pair.out] == stamp_ || is_there_[pair.in] == 0) continue;
            if (locks_[pair.in] != 1 || is_needed(pair.in) || is_held(pair.in) || is_there_[pair.out] != 0)
                continue;
            seen_[pair.in] = seen_[pair.out] = stamp_;
            needed_[m_.of[pair.out].pool] -= smaller(m_.of[pair.in].size, m_.of[pair.out].size);
        }
        for (pool_id pool = 0; pool != m_.pools; ++pool) {
            free_bytes(pool, needed_[pool]);
            used_[pool] = checked_add(used_[pool], needed_[pool]);
        }
        early_of_ = no_position;
        take_excess();
        for (pool_id pool = 0; pool != m_.pools; ++pool) used_[pool] -= needed_[pool];
        for (buffer_id b : made_) {
            enter(b);
            is_copied_[b] = 0;
        }

        auto const index = static_cast<std::uint32_t>(result_.events.size());
        for (buffer_id b : m_.operands[step.at]) last_event_[b] = index;
        for (buffer_id b : made_) last_event_[b] = index;
        result_.events.push_back(
            {step.is_original ? spilled_program::kind::original : spilled_program::kind::rematerialize,
             step.at, step.is_original ? step.at : now_, step.wanted});
        if (!step.is_original) {
            result_.cost = checked_add(result_.cost, m_.cost[step.at]);
            for (buffer_id b : made_) result_.restored.push_back(b);
            result_.restored.push_back(no_buffer); // ends the list of this step
            ask_operands(step.at);
        }
        for (std::size_t i = step.first_lock; i != locked_.size(); ++i) --locks_[locked_[i]];
        locked_.resize(step.first_lock);
        for (buffer_id b : m_.operands[step.at]) {
            free_if_dead(b);
            if (is_there_[b] != 0) list_candidate(b);
        }
        if (step.is_original)
            for (buffer_id b : m_.rewritten[step.at]) has_home_[b] = 0;
        for (buffer_id b : made_)
            if (b != step.wanted) free_if_dead(b);
    }

    /// What is read early may leave before the step writes.
    void unlock_early(buffer_id b, frame const& step)
    {
        if (is_there_[b] == 0 || locks_[b] != 1) return;
        for (std::size_t i = step.first_lock; i != locked_.size(); ++i) {
            if (locked_[i] != b) continue;
            locked_[i] = locked_.back();
            locked_.pop_back();
            locks_[b] = 0;
            free_if_dead(b);
            if (is_there_[b] != 0) list_candidate(b);
            return;
        }
    }
    /// A copy out would follow the step.
    [[nodiscard]] bool is_being_read(buffer_id b) const
    {
        if (early_of_ != no_position)
            for (buffer_id other : m_.early[early_of_])
                if (other == b) return true;
        return false;
    }

    /// Of the program, when the event is over.
    static position_id last_position(spill_event const& e)
    {
        return e.kind == spilled_program::kind::original ? e.before : position_id{e.before - 1};
    }
    void merge_copies_out()
    {
        for (sort_key const& k : copies_out_)
            result_.cost = checked_add(result_.cost, m_.of[buffer_id{k.id}].copy_cost -
                                                         m_.of[buffer_id{k.id}].copy_cost / 2);
        if (copies_out_.empty()) return;
        sort_by_key(copies_out_);
        std::vector<spill_event> all;
        std::size_t next = 0;
        for (std::uint32_t i = 0; i != result_.events.size(); ++i) {
            spill_event const& e = result_.events[i];
            all.push_back(e);
            for (; next != copies_out_.size() && copies_out_[next].key == i; ++next)
                all.push_back({spilled_program::kind::copied_out, last_position(e), last_position(e) + 1,
                               buffer_id{copies_out_[next].id}});
        }
        result_.events = std::move(all);
    }

    spill_model const& m_;
    spill_rule rule_;
    table<pool_id, byte_count> limits_, used_, needed_;
    table<buffer_id, double> weight_;
    table<buffer_id, unsigned char> marks_;
    table<pool_id, std::priority_queue<candidate>> candidates_;
    table<buffer_id, std::uint64_t> listed_; // the last search that met it
    table<buffer_id, double> size_;          // to the power of the rule
    table<buffer_id, unsigned char> is_there_, has_home_, is_copied_;
    table<buffer_id, std::uint32_t> locks_, next_use_, last_event_;
    table<buffer_id, position_id> asked_, asked_until_; // by what has left: the first and the last need
    table<buffer_id, std::uint64_t> seen_;
    std::uint64_t stamp_ = 0, work_ = 0, round_ = 0;
    std::vector<candidate> passed_;
    std::priority_queue<std::pair<std::uint32_t, buffer_id>> asking_;
    std::vector<buffer_id> walk_, made_, locked_;
    std::vector<frame> frames_;
    std::vector<sort_key> copies_out_; // {the event that they follow, 0, buffer}
    position_id now_ = 0;
    position_id early_of_ = no_position; // the step that has read its early operands, and is about to write
    spill_run result_;
};

} // namespace sublet::detail

#endif
