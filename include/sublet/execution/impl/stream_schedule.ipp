// SPDX-License-Identifier: BSL-1.0
#include <sublet/detail/plan_requirements.hpp>
#include <sublet/execution/stream_schedule.hpp>
#include <sublet/impl/config.hpp>

#include <algorithm>
#include <utility>

// --- knowledge -------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL std::uint32_t stream_knowledge::mark(std::uint32_t stream)
{
    ++row_of(now_, stream)[stream];
    stream_of_.push_back(stream);
    at_mark_.insert(at_mark_.end(), row_of(now_, stream), row_of(now_, stream) + streams_);
    return static_cast<std::uint32_t>(stream_of_.size() - 1);
}

SUBLET_DECL bool stream_knowledge::covers(std::vector<std::uint32_t> const& marks, std::uint32_t stream) const
{
    std::uint32_t const last = row_of(now_, stream)[stream];
    for (std::uint32_t mark : marks)
        if (row_of(at_mark_, mark)[stream] >= last) return true;
    return false;
}

SUBLET_DECL bool stream_knowledge::knows(std::uint32_t const* clock, std::uint32_t mark) const
{
    std::uint32_t const on = stream_of_[mark];
    return clock[on] >= row_of(at_mark_, mark)[on];
}

SUBLET_DECL void stream_knowledge::merge(std::uint32_t* clock, std::uint32_t mark)
{
    std::uint32_t const* const learnt = row_of(at_mark_, mark);
    for (std::size_t s = 0; s != streams_; ++s) clock[s] = larger(clock[s], learnt[s]);
}

// --- schedule --------------------------------------------------------------------------------------------

SUBLET_DECL stream_scheduler::stream_scheduler(run_order const& order, blocks kind, stream_options const& how,
                                               bool paints)
    : tape_(order.tape), waits_(order.waits), how_(how), kind_(kind), paints_(paints),
      known_(useful_streams()), streams_(useful_streams())
{
    std::size_t const buffers = tape_.table.buffers.size();
    touched_by_ = tape_.touched.transposed(buffers);
    is_given_up_.assign(buffers, 0);
    for (buffer_id b : tape_.given_up) is_given_up_[b] = 1;
    has_block_.assign(buffers, 0);
    alignment_.assign(buffers, 1);
    for (std::size_t b = 0; b != buffers; ++b) {
        alignment_[b] = its(static_cast<buffer_id>(b)).alignment;
        has_block_[b] = owns_block(static_cast<buffer_id>(b)) && has_role(its(b).role, value_role::input);
    }
}

SUBLET_DECL stream_schedule stream_scheduler::take()
{
    start_ = mark(0);
    for (step_id at = 0; at != tape_.positions(); ++at) issue(at);
    for (std::uint32_t s = 0; s != streams_.size(); ++s) {
        if (streams_[s].is_used && streams_[s].is_beyond_mark) streams_[s].mark = mark(s);
        if (s != 0 && streams_[s].is_used) needed_.push_back(streams_[s].mark);
    }
    wait_for_needed(0);
    for (buffer_id b = 0; b != has_block_.size(); ++b)
        if (has_block_[b] && !has_role(its(b).role, value_role::output))
            add(stream_schedule::action::release, 0, b);
    name_events();
    return std::move(result_);
}

SUBLET_DECL std::size_t stream_scheduler::useful_streams() const
{
    std::vector<std::uint32_t> const& given = how_.stream_of;
    if (!given.empty()) return *std::max_element(given.begin(), given.end()) + std::size_t{1};
    return std::min(how_.streams, std::max<std::size_t>(tape_.positions(), 1));
}

SUBLET_DECL void stream_scheduler::issue(step_id at)
{
    std::span<step_id const> const before = waits_.before[at];
    std::uint32_t const s = stream_for(at);
    result_.stream_of.push_back(s);
    std::size_t crossing = 0;
    for (step_id p : before) {
        needed_.push_back(mark_of_[p]);
        crossing += result_.stream_of[p] != s;
    }
    heirs_.clear();
    if (kind_ == blocks::recycled)
        for (yielded y : tape_.yields_at(at))
            if (can_hand_over(y, at)) need_block(y, at);
    std::size_t const waits = result_.waits;
    wait_for_needed(s);
    result_.implied += crossing - std::min(crossing, result_.waits - waits);
    for (std::size_t i = 0; i != heirs_.size(); i += 2)
        add(stream_schedule::action::hand_over, s, heirs_[i + 1], heirs_[i]);
    for (buffer_id b : tape_.touched[at])
        if (owns_block(b) && !has_block_[b] && !is_heir(b)) {
            add(stream_schedule::action::allocate, s, b);
            has_block_[b] = 1;
        }
    for (buffer_id b : tape_.touched[at])
        if (paints_ && is_unwritten(b, at)) add(stream_schedule::action::fill, s, b);
    add(stream_schedule::action::launch, s, at);

    // In an arena the next tenant waits for the last step that touched the bytes: it is done when they
    // are painted.
    bool const paints_in_arena = paints_ && kind_ == blocks::arena;
    if (paints_in_arena) bury(at, s);
    std::size_t done = streams_[s].steps_until;
    for (step_id p : before) done = std::max(done, done_[p]);
    done_.push_back(done + 1);
    streams_[s] = {at, mark(s), done + 1, true, false};
    mark_of_.push_back(streams_[s].mark);
    if (!paints_in_arena) bury(at, s);
}

SUBLET_DECL std::uint32_t stream_scheduler::stream_for(step_id at)
{
    if (!how_.stream_of.empty()) return how_.stream_of[tape_.step_at[at]];
    std::span<step_id const> const before = waits_.before[at];
    std::uint32_t best = no_stream;
    for (step_id p : before) { // of those that are the last on their stream, the one that is done last
        std::uint32_t const s = result_.stream_of[p];
        if (streams_[s].last != p) continue;
        bool const is_later = best == no_stream || streams_[s].steps_until > streams_[best].steps_until;
        if (is_later || (streams_[s].steps_until == streams_[best].steps_until && s < best)) best = s;
    }
    if (best != no_stream) return best;
    for (step_id p : before) needed_.push_back(mark_of_[p]);
    for (std::uint32_t s = 0; s != streams_.size() && best == no_stream; ++s)
        if (!streams_[s].is_used || known_.covers(needed_, s)) best = s;
    needed_.clear();
    if (best != no_stream) return best;
    best = 0;
    for (std::uint32_t s = 1; s != streams_.size(); ++s)
        if (streams_[s].steps_until < streams_[best].steps_until) best = s;
    return best;
}

SUBLET_DECL void stream_scheduler::need_block(yielded y, step_id at)
{
    need_users(y.from, at);
    has_block_[y.from] = 0;
    has_block_[y.to] = 1;
    alignment_[y.to] = alignment_[y.from];
    heirs_.push_back(y.from);
    heirs_.push_back(y.to);
}

SUBLET_DECL bool stream_scheduler::is_heir(buffer_id b) const
{
    return std::find(heirs_.begin(), heirs_.end(), b) != heirs_.end();
}

SUBLET_DECL bool stream_scheduler::is_unwritten(buffer_id b, step_id at) const
{
    if (tape_.first_write[b] != at || is_given(its(b).role) || !its(b).is_planned()) return false;
    if (is_heir(b)) return false;
    auto const yields = tape_.yields_at(at);
    auto is_over = [&](yielded y) {
        return (y.to == b || y.to == no_buffer) && touched_by_[y.from].back() == at;
    };
    return kind_ != blocks::arena || std::none_of(yields.begin(), yields.end(), is_over);
}

SUBLET_DECL bool stream_scheduler::is_yielded(buffer_id b, step_id at) const
{
    if (kind_ != blocks::arena) return is_heir(b);
    auto const yields = tape_.yields_at(at);
    return std::any_of(yields.begin(), yields.end(), [b](yielded y) { return y.from == b; });
}

SUBLET_DECL void stream_scheduler::bury(step_id at, std::uint32_t s)
{
    auto is_painted = [&](buffer_id b) {
        return paints_ && its(b).is_planned() && !is_given_up_[b] && !is_dying_heir(b, at);
    };
    auto is_released = [&](buffer_id b) { return kind_ == blocks::recycled && has_block_[b]; };
    for (buffer_id b : tape_.touched[at])
        if (dies_at(b, at) && (is_painted(b) || is_released(b))) need_users(b, at);
    wait_for_needed(s);
    for (buffer_id b : tape_.touched[at]) {
        if (!dies_at(b, at)) continue;
        if (is_painted(b)) add(stream_schedule::action::fill, s, b);
        if (!is_released(b)) continue;
        add(stream_schedule::action::release, s, b);
        has_block_[b] = 0;
    }
}

SUBLET_DECL void stream_scheduler::need_users(buffer_id b, step_id at)
{
    for (step_id user : touched_by_[b])
        if (user != at) needed_.push_back(mark_of_[user]);
}

SUBLET_DECL void stream_scheduler::wait_for_needed(std::uint32_t s)
{
    if (s != 0 && !streams_[s].is_used) needed_.push_back(start_);
    std::sort(needed_.begin(), needed_.end());
    for (; !needed_.empty(); needed_.pop_back()) {
        std::uint32_t const m = needed_.back();
        if (known_.stream_of(m) == s || known_.knows(s, m)) continue;
        known_.learn(s, m);
        add(stream_schedule::action::wait, s, m);
        ++result_.waits;
    }
}

SUBLET_DECL std::uint32_t stream_scheduler::mark(std::uint32_t s)
{
    std::uint32_t const m = known_.mark(s);
    result_.commands.push_back({stream_schedule::action::record, s, m});
    return m;
}

SUBLET_DECL void stream_scheduler::name_events()
{
    auto is_about_event = [](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::record || c.what == stream_schedule::action::wait;
    };
    std::vector<std::uint32_t> event_of; // by mark
    for (stream_schedule::command const& c : result_.commands) {
        if (is_about_event(c) && event_of.size() <= c.which) event_of.resize(c.which + 1, no_event);
        if (c.what == stream_schedule::action::wait) event_of[c.which] = 0;
    }
    auto is_unheard = [&](stream_schedule::command const& c) {
        return c.what == stream_schedule::action::record && event_of[c.which] == no_event;
    };
    auto& commands = result_.commands;
    commands.erase(std::remove_if(commands.begin(), commands.end(), is_unheard), commands.end());
    for (stream_schedule::command& c : commands) {
        if (c.what == stream_schedule::action::record)
            event_of[c.which] = static_cast<std::uint32_t>(result_.events++);
        if (is_about_event(c)) c.which = event_of[c.which];
    }
    for (std::size_t s = 0; s != streams_.size(); ++s)
        if (streams_[s].is_used) result_.streams = s + 1;
}

// --- check schedule --------------------------------------------------------------------------------------

class schedule_reader {
public:
    schedule_reader(snapshot const& program, plan_options const& options, memory_plan const* plan,
                    run_tape const& tape, bool keeps_ends)
        : program_(program), tape_(tape), plan_(plan), asked_(derive_requirements(program, options)),
          pools_(plan == nullptr ? 0 : static_cast<std::uint32_t>(plan->arena_bytes.size())),
          keeps_ends_(keeps_ends), command_of_(program.steps(), no_step)
    {
        std::vector<byte_access> const all = accesses_of(program, options, plan, pools_, tape.step_at);
        touches_at_ = csr_rows::gathered(program.steps(), [&](auto add) {
            for (std::uint32_t i = 0; i != all.size(); ++i) add(all[i].at, i);
        });
        touches_ = all;
        block_of_.assign(pools_ + program.values(), none);
        bytes_of_.assign(program.values(), byte_access{});
        for (value_id r = 0; r != program.values(); ++r) bytes_of_[r].space = pools_ + r;
        for (byte_access const& a : all)
            if (a.space != pools_ + a.value || asked_.root[a.value] == a.value)
                bytes_of_[asked_.root[a.value]] = a;
    }

    stream_commands read(stream_schedule const& schedule)
    {
        list_.streams = schedule.streams;
        begin();
        step_id next = 0;
        for (stream_schedule::command const& c : schedule.commands) {
            switch (c.what) {
            case stream_schedule::action::record:
                add(stream_commands::operation_kind::record, c.stream, c.which);
                break;
            case stream_schedule::action::wait:
                add(stream_commands::operation_kind::wait, c.stream, c.which);
                break;
            case stream_schedule::action::allocate:
                block_at(root_of(c.which)) = add_block(1, false);
                add(stream_commands::operation_kind::allocate, c.stream, block_at(root_of(c.which)));
                break;
            case stream_schedule::action::hand_over:
                block_at(root_of(c.which)) = block_at(root_of(c.from)); // where the step still reads it
                break;
            case stream_schedule::action::fill: {
                byte_access whole = bytes_of_[root_of(c.which)];
                whole.writes = true;
                add(stream_commands::operation_kind::work, c.stream, no_step);
                touch(whole);
                break;
            }
            case stream_schedule::action::launch: {
                SUBLET_EXPECTS(c.which == next && next != tape_.positions(),
                               "sublet: a schedule does not launch each step once, in the order of its tape");
                command_of_[tape_.step_at[next]] =
                    add(stream_commands::operation_kind::work, c.stream, tape_.step_at[next]);
                for (std::uint32_t i : touches_at_[next]) touch(touches_[i]);
                ++next;
                break;
            }
            case stream_schedule::action::release:
                add(stream_commands::operation_kind::release, c.stream, made_block(root_of(c.which)));
                break;
            }
        }
        SUBLET_EXPECTS(next == tape_.positions(), "sublet: a schedule does not launch each step once, in the "
                                                  "order of its tape");
        end();
        return list_;
    }

    /// An edge of the program, a row of steps or a hand-off that is not kept; or something that begins before
    /// the run does on stream 0, or is not done when it ends there.
    std::optional<stream_fault> broken_order(std::vector<handoff> const& handoffs) const
    {
        stream_clocks const clocks(list_);
        std::optional<stream_fault> found;
        auto demand = [&](std::uint32_t first, std::uint32_t second) {
            if (first < second && clocks.is_before(first, second)) return;
            if (found && found->second <= second) return;
            found = stream_fault{.what = stream_fault::kind::order,
                                 .first = first,
                                 .second = second,
                                 .first_stream = list_.operations[first].stream,
                                 .second_stream = list_.operations[second].stream,
                                 .first_step = step_of(first),
                                 .second_step = step_of(second)};
        };
        auto ask = [&](step_id from, step_id to) { demand(command_of_[from], command_of_[to]); };
        for (node_id n = 0; n != program_.nodes(); ++n) {
            step_range const mine = program_.steps_of(n);
            for (step_id s = mine.first + 1; s != mine.last; ++s) ask(s - 1, s);
            for (node_id next : program_.successors(n)) ask(mine.last - 1, program_.steps_of(next).first);
        }
        for (handoff h : handoffs) ask(h.from, h.to);
        if (plan_ != nullptr && plan_->valid_for == program_reading::concurrent)
            for (handoff h : plan_->handoffs) ask(h.from, h.to);
        for (std::uint32_t i = begin_ + 1; i != end_; ++i) {
            if (list_.operations[i].what == stream_commands::operation_kind::record ||
                list_.operations[i].what == stream_commands::operation_kind::wait)
                continue;
            demand(begin_, i);
            demand(i, end_);
        }
        return found;
    }

private:
    static constexpr std::uint32_t none = no_step;

    step_id step_of(std::uint32_t command) const
    {
        stream_commands::operation const& operation = list_.operations[command];
        return operation.what == stream_commands::operation_kind::work ? operation.which : no_step;
    }
    value_id root_of(buffer_id b) const
    {
        SUBLET_EXPECTS(b < tape_.table.buffers.size(), "sublet: a schedule names a buffer that is not there");
        return tape_.table.buffers[b].root;
    }
    std::uint32_t& block_at(value_id root) { return block_of_[pools_ + root]; }
    /// One that nobody has allocated yet is told of as such.
    std::uint32_t made_block(value_id root)
    {
        if (block_at(root) == none) block_at(root) = add_block(1, false);
        return block_at(root);
    }
    bool owns_block(value_id root) const
    {
        value_role const role = asked_.class_role[root];
        bool const is_end = has_role(role, value_role::input) || has_role(role, value_role::output);
        return plan_ == nullptr && asked_.root[root] == root && asked_.is_planned(root) &&
               !(keeps_ends_ && is_end);
    }

    std::uint32_t add(stream_commands::operation_kind what, std::uint32_t stream, std::uint32_t which)
    {
        list_.operations.push_back({what, stream, which});
        return static_cast<std::uint32_t>(list_.operations.size() - 1);
    }
    std::uint32_t add_block(byte_count bytes, bool is_given)
    {
        list_.blocks.push_back({bytes, is_given});
        return static_cast<std::uint32_t>(list_.blocks.size() - 1);
    }
    /// By the command that was added last.
    void touch(byte_access access)
    {
        access.at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        if (block_of_[access.space] == none) block_of_[access.space] = add_block(1, false);
        access.space = block_of_[access.space];
        list_.touches.push_back(access);
    }

    /// What is there when a run begins was written on stream 0, if only by the run before.
    void begin()
    {
        for (std::uint32_t pool = 0; pool != pools_; ++pool)
            block_of_[pool] = add_block(plan_->arena_bytes[pool], true);
        for (value_id v = 0; v != program_.values(); ++v) {
            if (!owns_block(v)) block_at(v) = add_block(1, true);
            else if (has_role(asked_.class_role[v], value_role::input))
                add(stream_commands::operation_kind::allocate, 0, block_at(v) = add_block(1, false));
        }
        begin_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
    }
    void end()
    {
        std::vector<unsigned char> is_released(list_.blocks.size(), 0);
        for (stream_commands::operation const& operation : list_.operations)
            if (operation.what == stream_commands::operation_kind::release) is_released[operation.which] = 1;
        for (std::uint32_t& block : block_of_)
            if (block != none && is_released[block]) block = none;
        end_ = add(stream_commands::operation_kind::work, 0, no_step);
        touch_all();
        for (value_id v = 0; v != program_.values(); ++v) // what is kept for the caller to read
            if (owns_block(v) && has_role(asked_.class_role[v], value_role::output) && block_at(v) != none)
                add(stream_commands::operation_kind::release, 0, block_at(v));
    }
    void touch_all()
    {
        auto const at = static_cast<std::uint32_t>(list_.operations.size() - 1);
        for (std::uint32_t block : block_of_)
            if (block != none)
                list_.touches.push_back({at, block, 0, list_.blocks[block].bytes, no_value, true});
    }

    snapshot const& program_;
    run_tape const& tape_;
    memory_plan const* plan_;
    plan_requirements asked_;
    std::uint32_t pools_;
    bool keeps_ends_;
    std::vector<byte_access> touches_;      // as derived: spaces are pools and classes
    csr_rows touches_at_;                   // by position
    std::vector<byte_access> bytes_of_;     // by root: the whole class
    std::vector<std::uint32_t> block_of_;   // by space: what lies there now
    std::vector<std::uint32_t> command_of_; // by step
    std::uint32_t begin_ = 0, end_ = 0;     // the commands before and behind the run
    stream_commands list_;
};

} // namespace sublet::detail

namespace sublet {

namespace detail {

SUBLET_DECL stream_commands commands_of(snapshot const& p, plan_options const& options,
                                        memory_plan const* plan, detail::run_tape const& tape,
                                        stream_schedule const& schedule, bool keeps_ends)
{
    return detail::schedule_reader(p, options, plan, tape, keeps_ends).read(schedule);
}

SUBLET_DECL std::optional<stream_fault> check_schedule(snapshot const& p, plan_options const& options,
                                                       memory_plan const* plan, detail::run_tape const& tape,
                                                       stream_schedule const& schedule,
                                                       stream_options const& how)
{
    detail::schedule_reader reader(p, options, plan, tape, how.keeps_ends);
    std::optional<stream_fault> const found = check_streams(reader.read(schedule), true);
    return found ? found : reader.broken_order(how.handoffs);
}

} // namespace detail

} // namespace sublet

// --- call ------------------------------------------------------------------------------------------------

namespace sublet::detail {

SUBLET_DECL operand_places::operand_places(run_tape const& tape)
{
    first_.reserve(tape.step_at.size() + 1);
    first_.push_back(0);
    for (step_id at = 0; at != tape.positions(); ++at)
        first_.push_back(first_.back() + tape.uses[at].size() + tape.defs[at].size() +
                         tape.scratch[at].size());
}

} // namespace sublet::detail
