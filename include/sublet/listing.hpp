// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_LISTING_HPP
#define SUBLET_LISTING_HPP

/// A program by your own handles: pointers, strings, ids of your IR, in the order in which its steps run.
///
///     sublet::listing<tensor const*> list;
///     list.facts(cache, {.bytes = cache->size, .role = sublet::value_role::state}); // no step makes it
///     for (operation const& o : graph_of_operations) {
///         auto step = list.step(o.name);
///         for (tensor const* t : o.inputs) step.read(t);
///         if (o.is_view) step.view(o.output, o.base, o.offset, {.bytes = o.output->size});
///         else step.make(o.output, {.bytes = o.output->size, .alignment = 64});
///         if (o.writes != nullptr) step.write(o.writes); // bytes that are there: all or a part of the cache
///         step.may_recompute(o.is_a_function_of_its_inputs); // so it can run again
///     }
///     auto const planned = sublet::plan_memory(list);
///     for (auto [t, pool, offset] : planned) place(t, pool, offset);
///
/// A listing is a program with its options. What takes a program with options takes a listing in their place:
/// planners, executors, edges, check_plan and its kin, order (`list.order = order(list).order`), dependences,
/// lifetimes, versions, share_slots; plan_symbolic has sizes of its own (`.bytes = list.by_handle(formula_of)`),
/// and plan_nested takes a list of listings. What takes a program alone takes `list.program()`. Results of
/// planners are asked with handles, and errors have names. Its ids (`id`, `handle`) number the handles in the
/// order in which they were first named; reports take `list.names()` and `list.step_names()`.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/erased_handles.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/planning/detail/first_touches.hpp>
#include <sublet/planning/detail/handle_numbers.hpp>
#include <sublet/planning/detail/handle_text.hpp>
#include <sublet/planning/detail/listed_facts.hpp>
#include <sublet/planning/detail/listed_plan.hpp>
#include <sublet/planning/detail/result_ids.hpp>
#include <sublet/planning/detail/said_values.hpp>
#include <sublet/planning/detail/step_marks.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace sublet {

class shape_view;

/// Steps in the order in which they run, and values by handles.
///
/// If a call throws, because memory runs out or a handle throws, it has added no step, touch, block or edge,
/// and can be repeated; it may have numbered its handles and noted some of their facts.
///
/// Requires: handles are copyable, and hashable by std::hash and comparable by ==, or ordered by <.
template <class Handle>
class listing {
public:
    using handle_type = Handle; ///< what names a value

    /// What there is to know about a value. Members that keep their defaults say nothing; what is not said of
    /// a view holds for its root.
    struct value_facts {
        byte_count bytes = detail::unsaid_size;     ///< `no_size`: unknown, not planned, and reported
        byte_count alignment = 1;                   ///< any integer >= 1
        value_role role = value_role::intermediate; ///< its relation to the world outside the program
        pool_id pool = 0;                           ///< the pool to lie in
        byte_count pinned = no_offset;              ///< a prescribed offset
        bool eligible = true;                       ///< false: has its own storage: not planned, not counted
        std::uint32_t kind = 0;                     ///< in a pool with pages: none of them is of two kinds
        /// No step makes it: steps read and write it, and its storage begins at the first of them in `order`,
        /// which has it among its results, without contents. order() may begin with any of them; wait_for()
        /// says which come later. A plan for every schedule, too, keeps these steps as `order` lists them.
        bool begins_at_first_touch = false;
        std::string_view name = {}; ///< for diagnostics; copied
    };

    /// A basic block, where the program has control flow.
    class block_ref {
    private:
        friend class listing;
        block_ref(listing const& list, node_id number) : list_(&list), number_(number) {}
        listing const* list_;
        node_id number_;
    };

    /// A step, until the next one begins. Calls may come in any order; each returns the step. By default
    /// none: converts to false, and equals another that is none.
    ///
    /// Throws: precondition_error, which names the call, if another step has begun, or for no step.
    class step_ref {
    public:
        step_ref() = default;
        /// It is a step of a listing.
        explicit operator bool() const { return list_ != nullptr; }
        friend bool operator==(step_ref const&, step_ref const&) = default;
        /// Reads h and holds its storage until the step ends.
        step_ref& read(Handle const& h) { return say("read", touch::access::use, h); }
        /// Reads h before anything is written: a result may take its storage in this step.
        step_ref& read_early(Handle const& h) { return say("read_early", touch::access::use_early, h); }
        /// Makes h: all of its bytes are new.
        step_ref& make(Handle const& h) { return say("make", touch::access::def, h); }
        /// The same, and describes h.
        step_ref& make(Handle const& h, value_facts const& facts)
        {
            return touch_id(open("make").facts_.describe(h, facts, number_), touch::access::def);
        }
        /// Makes h, of which no byte has contents yet: several steps write them, through views; or, if no
        /// other step touches it, and it is no output and not the caller's, it is scratch that ends with its
        /// step (`call.scratch()` of executors). A planner refuses a read of bytes that no step has written.
        step_ref& allocate(Handle const& h, value_facts const& facts = {})
        {
            return touch_id(open("allocate").facts_.describe(h, facts, number_), touch::access::allocate);
        }
        /// Makes h, a view of `of` that begins at byte `offset` of it. No byte is read or written, unless the
        /// step reads or writes h, too: it reads the bytes as they are before it writes.
        step_ref& view(Handle const& h, Handle const& of, byte_count offset = 0,
                       value_facts const& facts = {})
        {
            return touch_id(open("view").facts_.describe_view(h, of, offset, facts, number_),
                            touch::access::view);
        }
        /// Reads and writes the bytes of h, which is there already: in place or, if h is a view, a part.
        step_ref& write(Handle const& h) { return say("write", touch::access::write, h); }
        /// The result `out` of the step may overwrite its operand `in`, if that is not needed afterwards. The
        /// step has to read the one and make the other: program() refuses the pair otherwise.
        step_ref& may_overwrite(Handle const& in, Handle const& out)
        {
            auto& pairs = open("may_overwrite").record_.overwrites;
            pairs.push_back({number_, list_->facts_.add(in), list_->facts_.add(out)});
            return *this;
        }
        /// The step is a function of what it reads, without other effects: advise_memory() may run it again.
        /// Without this call, or if `is_so` is false, it runs once.
        step_ref& may_recompute(bool is_so = true) { return tell(is_so, "may_recompute", said::recomputable); }
        /// The same, but for updates of external values, which it leaves out when it runs again.
        step_ref& may_recompute_results(bool is_so = true)
        {
            return tell(is_so, "may_recompute_results", said::recomputes_results);
        }
        /// The step changes no bytes: what it reads, such as a shape, only tells which views it makes.
        /// Without this call, a step that reads values and only makes views of others is refused.
        step_ref& only_views(bool is_so = true) { return tell(is_so, "only_views", said::only_views); }
        /// This step may be left out: see plan_options::optional.
        step_ref& optional(bool is_so = true)
        {
            if (open("optional"); is_so) list_->facts_.add_optional(number_);
            return *this;
        }
        /// This step begins after another has ended, for a reason other than data.
        /// Throws: precondition_error for no step, for a step of another listing, or for itself; and in a
        ///         listing with blocks: there edges order them.
        step_ref& wait_for(step_ref const& other)
        {
            open_without_blocks();
            SUBLET_EXPECTS(bool(other), "sublet: wait_for() is given no step: that step_ref is empty, and "
                                        "step() makes one; a later step is named by its label");
            list_->expect_own(other.list_, "wait_for", "step");
            SUBLET_EXPECTS(other.number_ < list_->steps(),
                           "sublet: wait_for() is given step % of a listing that has only % steps now",
                           other.number_, list_->steps());
            SUBLET_EXPECTS(other.number_ != number_, "sublet: step % of a listing waits for itself", number_);
            list_->edges_.push_back({node_id::of(+other.number_), node_id::of(+number_)}); // each is a node
            return *this;
        }
        /// The same, for the step with this label, which may be listed later: program() refuses a label that
        /// no step has, or several. If it is later, the listed order cannot run: say `list.order =
        /// order(list).order`. What waits in a cycle is refused by the names of its steps.
        step_ref& wait_for(std::string_view label)
        {
            open_without_blocks();
            SUBLET_EXPECTS(!label.empty(), "sublet: wait_for() is given an empty label of a step");
            list_->facts_.add_wait(number_, label);
            return *this;
        }
        /// The block of this step reads h at the end of a block before it: a phi operand.
        /// Throws: precondition_error for a block of another listing, and in a listing without blocks.
        step_ref& read_at_end_of(block_ref pred, Handle const& h)
        {
            SUBLET_EXPECTS(!open("read_at_end_of").block_begin_.empty(),
                           "sublet: read_at_end_of is for listings with blocks");
            list_->expect_own(pred.list_, "read_at_end_of", "block");
            auto const node = node_id::of(list_->block_begin_.size() - 1);
            list_->record_.edge_uses.push_back({node, pred.number_, list_->facts_.add(h)});
            return *this;
        }
        /// The number of the step, from 0 in the order of the list; `no_step` for none.
        [[nodiscard]] step_id id() const { return number_; }

    private:
        friend class listing;
        step_ref(listing& list, step_id number) : list_(&list), number_(number) {}
        listing& open(char const* call)
        {
            SUBLET_EXPECTS(list_ != nullptr,
                           "sublet: %() is called on no step: this step_ref is empty, and step() makes one",
                           call);
            SUBLET_EXPECTS(std::size_t{number_} + 1 == list_->steps(),
                           "sublet: %() is called on step % of a listing after the next one has begun", call,
                           number_);
            return *list_;
        }
        void open_without_blocks()
        {
            SUBLET_EXPECTS(open("wait_for").block_begin_.empty(),
                           "sublet: wait_for is for listings without blocks");
        }
        step_ref& say(char const* call, touch::access kind, Handle const& h)
        {
            return touch_id(open(call).facts_.add(h), kind);
        }
        using said = detail::effect_record;
        step_ref& tell(bool is_so, char const* call, unsigned char fact)
        {
            if (said& record = open(call).record_; is_so) record.say(fact);
            return *this;
        }
        step_ref& touch_id(value_id v, touch::access kind)
        {
            list_->record_.add({v, kind});
            return *this;
        }
        listing* list_ = nullptr;
        step_id number_ = no_step;
    };

    // Options of the whole plan: as in plan_options.
    table<pool_id, pool_limits> pools = {}; ///< each that a value names; none: no pool has limits
    std::vector<node_id> order = {}; ///< of steps, or of blocks if there are any
    detail::listed_plan<Handle> previous = {}; ///< a result for another listing: handles keep their places
    double keep_within = 0;          ///< how much a pool may grow so that offsets stay, as a share
    bool in_place = true;            ///< take the in-place pairs that steps declare
    bool check = true;               ///< check the plan before it is returned
    sublet::effort effort = sublet::effort::balanced; ///< the work of each search
    char const* unit = nullptr; ///< printed behind sizes that are no bytes: "qubits"; it has to live as long

    /// Begins the next step. The label is for diagnostics.
    step_ref step(std::string_view label = {})
    {
        SUBLET_EXPECTS(steps() + 1 < no_step, "sublet: more steps than 32-bit ids");
        auto const number = step_id::of(steps());
        facts_.reserve_step_name(number, label);
        record_.next_step();
        facts_.name_step(number, label);
        return step_ref(*this, number);
    }

    /// Begins the next basic block, to which the steps after it belong; the first one is the entry.
    /// Throws: precondition_error if a step stands before the first block.
    block_ref block(std::string_view label = {})
    {
        SUBLET_EXPECTS(!block_begin_.empty() || steps() == 0, "sublet: a step stands before the first block");
        if (ends_in_empty_block()) static_cast<void>(step());
        auto const number = node_id::of(block_begin_.size());
        block_names_.reserve_for(number, label);
        block_begin_.push_back(step_id::of(steps()));
        block_names_.add(number, label);
        return block_ref(*this, number);
    }
    /// Control may pass from the end of a block to the begin of another.
    /// Throws: precondition_error for a block of another listing.
    void edge(block_ref from, block_ref to)
    {
        expect_own(from.list_, "edge", "block");
        expect_own(to.list_, "edge", "block");
        edges_.push_back({from.number_, to.number_});
    }

    /// Describes a value, before or after it is named by a step: an input, a weight, state, or more of what
    /// make() has said. Members that keep their defaults change nothing.
    ///
    /// Throws: precondition_error if it was described otherwise before.
    void facts(Handle const& h, value_facts const& facts)
    {
        static_cast<void>(facts_.describe(h, facts, no_step));
    }
    /// h, which is no view, may lie in `pool`, at a cost that the planner adds up, in any unit. A value of
    /// which this is not said lies in its `pool`.
    void may_lie_in(Handle const& h, pool_id pool, byte_count cost = 0)
    {
        facts_.add_choice(facts_.add(h), pool, cost);
    }
    /// The next round finds in `to` what this one leaves in `from`: see plan_options::carry.
    void carries(Handle const& from, Handle const& to) { facts_.add_carry(facts_.add(from), facts_.add(to)); }
    /// While both are live, no bank of their pool has bytes of a and of b: see plan_options::apart.
    void apart(Handle const& a, Handle const& b) { facts_.add_apart(facts_.add(a), facts_.add(b)); }

    /// How many handles were named.
    [[nodiscard]] std::size_t values() const { return facts_.size(); }
    /// How many steps have begun.
    [[nodiscard]] std::size_t steps() const { return record_.step_begin.size(); }
    /// `no_value` for a handle that was not named.
    [[nodiscard]] value_id id(Handle const& h) const { return facts_.numbers().find(h); }
    /// The handle with id v.
    [[nodiscard]] Handle const& handle(value_id v) const { return facts_.numbers()[v]; }

    /// With blocks, a program with control flow. Without, every step is a node, and the edges are the order
    /// of wait_for().
    ///
    /// Complexity: O(values + steps + touches).
    /// Throws: precondition_error if a step waits for a label that not exactly one other step has; if a step
    ///         may overwrite a value that it does not read, or by one that it does not make; or if a value
    ///         that begins at its first touch is made by a step, viewed, external or an input, or in a
    ///         listing with blocks.
    [[nodiscard]] snapshot program() const { return program_of(true); }
    /// The same for order(), which chooses the first touch: all touches of `begun`, the values that begin at
    /// their first touch, are reads.
    [[nodiscard]] snapshot program(std::vector<value_id>& begun) const
    {
        snapshot p = program_of(false);
        begun.assign(p.commuting().begin(), p.commuting().end());
        return p;
    }
    /// What was said of the values and of the whole plan, by id. Sizes that were not said are unknown.
    ///
    /// Complexity: O(values).
    /// Throws: precondition_error if `pools` lists some, and not the one of a value with planned storage.
    [[nodiscard]] plan_options options() const
    {
        facts_.expect_listed_pools(pools.size());
        plan_options all = facts_.options();
        all.pools = pools;
        all.order = order;
        all.previous = previous(*this);
        all.keep_within = keep_within;
        all.in_place = in_place;
        all.check = check;
        all.effort = effort;
        // An option that a listing cannot say does not compile.
        [[maybe_unused]] auto const& [bytes, alignment, its_role, view, begin, pool, pin, own, kind, room,
                                      choice, carry, left_out, far, turns, old, is_old, growth, pairs, checks,
                                      work] = all;
        return all;
    }

    /// The same for a planner, which needs sizes.
    ///
    /// Throws: precondition_error if the size of a value that a step makes, or of an input, was not said, and
    ///         it needs planned storage; if a view has an alignment that does not divide its offset; or if a
    ///         value cannot be carried.
    [[nodiscard]] plan_options sized_options() const
    {
        plan_options all = options();
        facts_.expect_sizes_of_made(record_);
        facts_.expect_sizes_without_maker();
        facts_.expect_aligned_views(all);
        facts_.expect_carried(all);
        return all;
    }

    /// The handles by one type, for the calls of executors: a copy.
    [[nodiscard]] detail::erased_handles erased_handles() const
    {
        return {std::type_identity<Handle>{}, facts_.numbers(), facts_.texts()};
    }
    /// Throws: precondition_error if a value has a choice of pools.
    void expect_no_choice() const { facts_.expect_no_choice(); }
    /// Throws: precondition_error, which names the call, if a value is carried into the next round.
    void expect_no_carry(char const* call) const { facts_.expect_no_carry(call); }

    /// The result of a planner, asked with handles; its error names values and steps.
    template <class Planned>
    class planned : public Planned {
    public:
        /// A value and its place.
        struct placed_handle {
            Handle const& handle; ///< in the result, which has to live as long
            pool_id pool;         ///< the pool that it lies in
            /// Of its first byte in that arena.
            decltype(Planned::placed_value::offset) offset;
        };
        /// Over the handles with an offset.
        class iterator {
        public:
            using difference_type = std::ptrdiff_t;
            using value_type = placed_handle;

            iterator() = default;
            /// For begin() and end().
            iterator(planned const& of, typename Planned::iterator at) : of_(&of), at_(at) {}
            placed_handle operator*() const
            {
                auto const [value, pool, offset] = *at_;
                return {of_->numbers_[detail::original_value(*of_, value)], pool, offset};
            }
            iterator& operator++()
            {
                ++at_;
                return *this;
            }
            iterator operator++(int)
            {
                iterator const before = *this;
                ++at_;
                return before;
            }
            friend bool operator==(iterator const& a, iterator const& b) { return a.at_ == b.at_; }

        private:
            planned const* of_ = nullptr;
            typename Planned::iterator at_ = {};
        };

        /// The first byte of h in the arena of its pool. Of a value that is spilled: until then.
        /// Throws: precondition_error if it has none: there is no plan, h is not in the listing, its storage
        /// is external, or its size was not said.
        [[nodiscard]] byte_count offset_of(Handle const& h) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}); }
        {
            return expected(h, offset_or_none(h));
        }
        /// The same for one shape, or for places that were found before. The first takes O(buffers).
        template <class Shape = shape_view>
        [[nodiscard]] byte_count offset_of(Handle const& h, Shape const& one) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}, one); }
        {
            return expected(h, offset_or_none(h, one));
        }
        /// The same, or none.
        [[nodiscard]] std::optional<byte_count> find(Handle const& h) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}); }
        {
            byte_count const offset = offset_or_none(h);
            return offset == no_offset ? std::nullopt : std::optional(offset);
        }
        /// The same for one shape, or none.
        template <class Shape = shape_view>
        [[nodiscard]] std::optional<byte_count> find(Handle const& h, Shape const& one) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}, one); }
        {
            byte_count const offset = offset_or_none(h, one);
            return offset == no_offset ? std::nullopt : std::optional(offset);
        }
        /// The plan with the numbers of another listing: a handle keeps its place; one that was not planned
        /// has none. A step is the same if it makes the same first value, or else by its label.
        [[nodiscard]] memory_plan plan_for(listing const& other) const
        {
            memory_plan result = detail::renumbered_for(other, *this ? this->plan : memory_plan{}, numbers_);
            if (steps_.makes.empty()) return result;
            table<value_id, value_id> value_there;
            for (value_id v = 0; v != numbers_.size(); ++v) value_there.push_back(other.id(numbers_[v]));
            detail::renumber_steps(result, detail::matched_steps(steps_, other.step_marks(), value_there));
            return result;
        }
        /// The handles with an offset, in the order in which they were named; then those that are restored
        /// after a spill, again.
        [[nodiscard]] iterator begin() const { return {*this, Planned::begin()}; }
        /// The end of these handles.
        [[nodiscard]] iterator end() const { return {*this, Planned::end()}; }

        /// For `previous` of another listing.
        [[nodiscard]] detail::handle_numbers<Handle> const& numbers() const { return numbers_; }

    private:
        friend class listing;
        planned(Planned result, listing const& of) : Planned(std::move(result)), numbers_(of.facts_.numbers())
        {
            bool const has_steps = !this->plan.handoffs.empty() || !this->plan.order.empty();
            if (has_steps && of.block_begin_.empty()) steps_ = of.step_marks();
        }
        template <class... Shape>
        byte_count offset_or_none(Handle const& h, Shape const&... one) const
        {
            value_id const v = *this ? numbers_.find(h) : no_value;
            return v >= this->plan.buffer_of.size() ? no_offset : this->plan.offset_of(v, one...);
        }
        byte_count expected(Handle const& h, byte_count offset) const
        {
            if (offset != no_offset) return offset;
            detail::fail_without_offset(detail::text_of_handle(h), numbers_.find(h), bool(*this));
        }

        detail::handle_numbers<Handle> numbers_;
        detail::step_marks steps_; // if the plan names some
    };

    /// The result of a planner for this listing, with handles and names; or of a checker, an order, schedules,
    /// edges or aliases, with names.
    template <class Result>
    [[nodiscard]] auto named(Result result) const
    {
        if constexpr (requires { result.figures.unit; }) result.figures.unit = unit;
        if constexpr (requires { result.names; }) detail::append_names(result.names, step_names(), steps());
        if constexpr (requires { result.value_names; })
            detail::append_names(result.value_names, names(), values());
        if constexpr (requires { result.unit; }) result.unit = unit;
        if constexpr (requires { result.listed; })
            if (!result.listed) name_all(result.listed.error(), result);
        if constexpr (requires { result.figures; }) {
            if (!result) name_all(result.figures.error(), result);
            if constexpr (requires { result.figures.moved; })
                for (counterexample& moved : result.figures.moved) name_all(moved, result);
        } else if constexpr (requires { result.error(); }) {
            if (!result) name_all(result.error(), result);
        }
        if constexpr (requires { result.plan.buffer_of; }) return planned<Result>(std::move(result), *this);
        else return result;
    }
    /// Gives value `v` of this listing, which a counterexample calls `as`, its name, or the text of its
    /// handle.
    void name(counterexample& why, value_id as, value_id v) const
    {
        if (detail::id_text const text = facts_.text_of(v); !text.empty()) why.name(as, text);
    }

    /// A function from values to their names, ranges of char that print, for reports. Without a name it is
    /// the handle, if that is a string, a character, a number or a pointer, in hexadecimal; else the id. It
    /// refers to this listing.
    [[nodiscard]] auto names() const&
    {
        return [this](value_id v) {
            detail::id_text const text = facts_.text_of(v);
            return text.empty() ? detail::id_text(+v) : text;
        };
    }
    /// Of a temporary nothing could be asked later.
    auto names() const&& = delete;
    /// The same for steps: their names, or their numbers.
    [[nodiscard]] auto step_names() const&
    {
        return [this](step_id s) { return facts_.step_text(s); };
    }
    /// Of a temporary nothing could be asked later.
    auto step_names() const&& = delete;
    /// A property of values, from a function of handles. It refers to this listing.
    template <class Property>
    [[nodiscard]] auto by_handle(Property property_of) const&
    {
        return [this, property_of](value_id v) { return property_of(handle(v)); };
    }

private:
    /// `chooses_first`: the first touch in `order` makes a value that begins with it; otherwise all are
    /// reads.
    snapshot program_of(bool chooses_first) const
    {
        facts_.expect_pairs_of_steps(record_);
        bool const has_blocks = !block_begin_.empty();
        std::size_t const nodes = has_blocks ? block_begin_.size() : steps();
        csr_rows<node_id, node_id> next(std::vector<std::uint32_t>(nodes + 1), {});
        auto const waits = facts_.waits_by_label(steps());
        bool const has_edges = !edges_.empty() || !waits.empty();
        if (has_edges)
            next = csr_rows<node_id, node_id>::gathered(nodes, [&](auto add) {
                for (auto const& [from, to] : edges_) add(from, to);
                for (auto const& [from, to] : waits) add(from, to);
            });
        edge_meaning const meaning = has_blocks  ? edge_meaning::control_flow
                                     : has_edges ? edge_meaning::order
                                                 : edge_meaning::none;
        detail::effect_record record;
        record.step_begin.reserve(steps() + 2); // of a step in an empty block, and the end
        record = record_;
        if (ends_in_empty_block()) record.next_step();
        if (std::vector<value_id> const begun = facts_.begun_by_touch(); !begun.empty()) {
            facts_.expect_touchable(record_, has_blocks);
            record = detail::with_first_touches(record_, begun, values(), order, chooses_first);
        }
        table<node_id, step_id> node_end(block_begin_.begin() + has_blocks, block_begin_.end());
        node_end.reserve(nodes);
        for (step_id s = 0; !has_blocks && s != steps(); ++s) node_end.push_back(s + 1);
        if (has_blocks) node_end.push_back(step_id::of(record.step_begin.size()));
        return {values(), meaning, csr_graph(std::move(next)), std::move(node_end), std::move(record)};
    }
    detail::step_marks step_marks() const { return detail::step_marks_of(record_, facts_.labels()); }
    void expect_own(listing const* of, char const* call, char const* what) const
    {
        SUBLET_EXPECTS(of == this, "sublet: %() is given a % of another listing", call, what);
    }
    bool ends_in_empty_block() const { return !block_begin_.empty() && block_begin_.back() == steps(); }
    template <class Result>
    void name_all(counterexample& why, Result const& result) const
    {
        why.unit = unit;
        position_id const at = why.position();
        if constexpr (requires { result.spilled; }) // a program in execution order, unless no spill was tried
            if (why.step() == no_step && at < result.spilled.steps.size())
                detail::set_step(why, step_id::of(+at));
        if (why.step() == no_step && block_begin_.empty() && at < steps())
            detail::set_step(why, step_id::of(order.empty() ? +at : +order[at])); // each is a node
        for (value_id v : {why.value(), why.other()}) name(why, v, detail::original_value(result, v));
        for (step_id s : why.steps())
            if (auto const text = facts_.step_name(detail::original_step(result, s)); !text.empty())
                why.name_step(s, text);
    }
    detail::listed_facts<Handle> facts_;
    detail::effect_record record_;
    table<node_id, step_id> block_begin_; // of each block; empty: every step is a node
    std::vector<std::pair<node_id, node_id>> edges_;
    detail::said_names<node_id> block_names_;
};

} // namespace sublet

#endif
