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
///     }
///     auto const planned = sublet::plan_memory(list);
///     for (auto [t, pool, offset] : planned) place(t, pool, offset);
///
/// A listing is a program with its options: planners and executors take it as it is, results are asked with
/// handles, and errors have names. Its ids (`id`, `handle`) number the handles in the order
/// in which they were first named.

#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>
#include <sublet/plan.hpp>
#include <sublet/units.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

// --- handle numbers --------------------------------------------------------------------------------------

/// Numbers handles from 0, in O(1) expected for a handle with a hash, in O(log n) for one with an order.

namespace sublet::detail {

template <class H>
concept hashable = requires(H const& h) {
                       {
                           std::hash<H>{}(h)
                           } -> std::convertible_to<std::size_t>;
                   };

template <class H>
class handle_numbers {
public:
    [[nodiscard]] value_id size() const { return static_cast<value_id>(handles_.size()); }
    [[nodiscard]] H const& operator[](value_id v) const { return handles_[v]; }

    [[nodiscard]] value_id find(H const& h) const
    {
        if constexpr (hashable<H>) {
            if (cells_.empty()) return no_value;
            return cells_[cell_of(h)];
        } else {
            auto const found = numbers_.find(h);
            return found == numbers_.end() ? no_value : found->second;
        }
    }
    value_id add(H const& h)
    {
        SUBLET_EXPECTS(handles_.size() + 1 < no_value, "sublet: more values than 32-bit ids");
        if constexpr (hashable<H>) {
            if (2 * (handles_.size() + 1) > cells_.size()) grow();
            value_id& cell = cells_[cell_of(h)];
            if (cell != no_value) return cell;
            cell = size();
        } else {
            auto const [at, is_new] = numbers_.emplace(h, size());
            if (!is_new) return at->second;
        }
        handles_.push_back(h);
        return size() - 1;
    }

private:
    /// The cell that holds the number of h, or is free for it: linear probing.
    std::size_t cell_of(H const& h) const
    {
        std::uint64_t mixed = std::uint64_t{std::hash<H>{}(h)} * 0x9e3779b97f4a7c15u;
        std::size_t const mask = cells_.size() - 1;
        std::size_t at = static_cast<std::size_t>(mixed >> 32) & mask;
        while (cells_[at] != no_value && !(handles_[cells_[at]] == h)) at = (at + 1) & mask;
        return at;
    }
    void grow()
    {
        cells_.assign(cells_.empty() ? 16 : 2 * cells_.size(), no_value);
        for (value_id v = 0; v != size(); ++v) cells_[cell_of(handles_[v])] = v;
    }

    struct none {};
    std::vector<H> handles_;
    std::vector<value_id> cells_; // a power of two, at most half of them taken; empty for ordered handles
    std::conditional_t<hashable<H>, none, std::map<H, value_id>> numbers_;
};

} // namespace sublet::detail

// --- listing ---------------------------------------------------------------------------------------------

namespace sublet {

/// Requires: handles are copyable, and hashable by std::hash and comparable by ==, or ordered by <.
template <class Handle>
class listing {
public:
    using handle_type = Handle;

    /// What there is to know about a value. What is not said of a view holds for its root.
    struct value_facts {
        byte_count bytes = no_size; ///< `no_size`: unknown, not planned
        byte_count alignment = 1;   ///< any integer >= 1
        value_role role = value_role::intermediate;
        pool_id pool = 0;
        std::string_view name = {}; ///< for diagnostics; copied
    };

    /// A basic block, where the program has control flow.
    class block_ref {
    private:
        friend class listing;
        explicit block_ref(node_id number) : number_(number) {}
        node_id number_;
    };

    /// A step, until the next one begins. Calls may come in any order; each returns the step.
    ///
    /// Throws: precondition_error if another step has begun.
    class step_ref {
    public:
        /// Reads h and holds its storage until the step ends.
        step_ref& read(Handle const& h) { return touch_value(h, touch::access::use); }
        /// Reads h before anything is written: a result may take its storage in this step.
        step_ref& read_early(Handle const& h) { return touch_value(h, touch::access::use_early); }
        /// Makes h: all of its bytes are new.
        step_ref& make(Handle const& h) { return touch_value(h, touch::access::def); }
        step_ref& make(Handle const& h, value_facts const& facts)
        {
            return touch_id(list_->describe(h, facts), touch::access::def);
        }
        /// Makes h, a view of `of` that begins at byte `offset` of it. No byte is read or written.
        step_ref& view(Handle const& h, Handle const& of, byte_count offset = 0,
                       value_facts const& facts = {})
        {
            return touch_id(list_->describe_view(h, of, offset, facts), touch::access::view);
        }
        /// Reads and writes the bytes of h, which is there already: in place or, if h is a view, a part.
        step_ref& write(Handle const& h) { return touch_value(h, touch::access::write); }
        /// The result `out` may overwrite the operand `in`, if that is not needed afterwards.
        step_ref& may_overwrite(Handle const& in, Handle const& out)
        {
            list_->expect_open(number_);
            list_->overwrites_.push_back({number_, list_->numbers_.add(in), list_->numbers_.add(out)});
            return *this;
        }
        /// This step begins after another has ended, for a reason other than data.
        /// Throws: precondition_error in a listing with blocks: there edges order them.
        step_ref& wait_for(step_ref const& other)
        {
            list_->expect_open(number_);
            SUBLET_EXPECTS(list_->block_begin_.empty(), "sublet: wait_for is for listings without blocks");
            list_->edges_.push_back({other.number_, number_});
            return *this;
        }
        /// The block of this step reads h at the end of a block before it: a phi operand.
        step_ref& read_at_end_of(block_ref pred, Handle const& h)
        {
            list_->expect_open(number_);
            SUBLET_EXPECTS(!list_->block_begin_.empty(),
                           "sublet: read_at_end_of is for listings with blocks");
            auto const node = static_cast<node_id>(list_->block_begin_.size() - 1);
            list_->edge_uses_.push_back({node, pred.number_, list_->numbers_.add(h)});
            return *this;
        }
        [[nodiscard]] step_id id() const { return number_; }

    private:
        friend class listing;
        step_ref(listing& list, step_id number) : list_(&list), number_(number) {}
        step_ref& touch_value(Handle const& h, touch::access kind)
        {
            return touch_id(list_->numbers_.add(h), kind);
        }
        step_ref& touch_id(value_id v, touch::access kind)
        {
            list_->expect_open(number_);
            list_->touches_.push_back({v, kind});
            return *this;
        }
        listing* list_;
        step_id number_;
    };

    // Options of the whole plan: as in plan_options.
    std::vector<pool_limits> pools = {};
    std::vector<node_id> order = {}; ///< of steps, or of blocks if there are any
    bool in_place = true;
    bool check = true;
    sublet::effort effort = sublet::effort::balanced;

    /// Begins the next step. The label is for diagnostics.
    step_ref step(std::string_view label = {})
    {
        SUBLET_EXPECTS(step_begin_.size() + 1 < no_step, "sublet: more steps than 32-bit ids");
        step_begin_.push_back(static_cast<std::uint32_t>(touches_.size()));
        add_name(step_names_, static_cast<std::uint32_t>(step_begin_.size() - 1), label);
        return step_ref(*this, static_cast<step_id>(step_begin_.size() - 1));
    }

    /// Begins the next basic block, to which the steps after it belong; the first one is the entry.
    /// Throws: precondition_error if a step stands before the first block.
    block_ref block(std::string_view label = {})
    {
        SUBLET_EXPECTS(!block_begin_.empty() || step_begin_.empty(),
                       "sublet: a step stands before the first block");
        if (!block_begin_.empty() && block_begin_.back() == step_begin_.size())
            static_cast<void>(step()); // of the empty block before
        block_begin_.push_back(static_cast<step_id>(step_begin_.size()));
        add_name(block_names_, static_cast<std::uint32_t>(block_begin_.size() - 1), label);
        return block_ref(static_cast<node_id>(block_begin_.size() - 1));
    }
    void edge(block_ref from, block_ref to) { edges_.push_back({from.number_, to.number_}); }

    /// Describes a value, before or after it is named by a step: an input, a weight, state, or more of what
    /// make() has said. Members that keep their defaults change nothing.
    ///
    /// Throws: precondition_error if it was described otherwise before.
    void facts(Handle const& h, value_facts const& facts) { static_cast<void>(describe(h, facts)); }

    [[nodiscard]] std::size_t values() const { return numbers_.size(); }
    [[nodiscard]] std::size_t steps() const { return step_begin_.size(); }
    /// `no_value` for a handle that was not named.
    [[nodiscard]] value_id id(Handle const& h) const { return numbers_.find(h); }
    [[nodiscard]] Handle const& handle(value_id v) const { return numbers_[v]; }

    /// Without blocks, every step is a node, with no edges but those of wait_for(); `in_sequence`, with an
    /// edge to the next one, too: for plan_flow().
    ///
    /// Complexity: O(values + steps + touches).
    [[nodiscard]] snapshot program(bool in_sequence = false) const
    {
        std::size_t const nodes = block_begin_.empty() ? step_begin_.size() : block_begin_.size();
        csr_rows const next = csr_rows::gathered(nodes, [&](auto add) {
            for (auto const& [from, to] : edges_) add(from, to);
            for (node_id n = 1; in_sequence && block_begin_.empty() && n < nodes; ++n) add(n - 1, n);
        });
        std::size_t pair = 0, use = 0;
        return flow(
            nodes, values(), [&next](node_id n) { return next[n]; },
            [&](node_id n, effect_sink& sink) {
                step_id const first = block_begin_.empty() ? n : block_begin_[n];
                step_id const last = block_begin_.empty()           ? n + 1
                                     : n + 1 == block_begin_.size() ? static_cast<step_id>(steps())
                                                                    : block_begin_[n + 1];
                for (step_id s = first; s < last; ++s) {
                    if (s != first) sink.next_step();
                    for (touch t : touches_of(s)) sink.add(t.kind, t.value);
                    for (; pair != overwrites_.size() && overwrites_[pair].step == s; ++pair)
                        sink.may_overwrite(overwrites_[pair].in, overwrites_[pair].out);
                }
                for (; use != edge_uses_.size() && edge_uses_[use].node == n; ++use)
                    sink.use_at_end_of(edge_uses_[use].pred, edge_uses_[use].value);
            });
    }
    operator snapshot() const { return program(); } // NOLINT: a listing is a program

    /// Complexity: O(values).
    [[nodiscard]] plan_options options() const
    {
        auto table_of = [this](auto member, auto value) { // handles that were not described have defaults
            std::vector<decltype(value)> table(values(), value);
            for (std::size_t v = 0; v != known_.size(); ++v) table[v] = known_[v].*member;
            return table;
        };
        plan_options all{.bytes = table_of(&known_facts::bytes, no_size)};
        all.alignment = table_of(&known_facts::alignment, byte_count{1});
        all.role = table_of(&known_facts::role, value_role::intermediate);
        all.alias_of = table_of(&known_facts::alias_of, no_value);
        all.view_offset = table_of(&known_facts::view_offset, byte_count{0});
        all.pool = table_of(&known_facts::pool, pool_id{0});
        all.pools = pools;
        all.order = order;
        all.in_place = in_place;
        all.check = check;
        all.effort = effort;
        return all;
    }

    /// The result of a planner, asked with handles; its error names values and steps.
    template <class Planned>
    class planned : public Planned {
    public:
        struct placed_handle {
            Handle const& handle;
            pool_id pool;
            byte_count offset;
        };
        class iterator {
        public:
            using difference_type = std::ptrdiff_t;
            using value_type = placed_handle;

            iterator() = default;
            iterator(planned const& of, typename Planned::iterator at) : of_(&of), at_(at) {}
            placed_handle operator*() const
            {
                auto const [value, pool, offset] = *at_;
                return {of_->numbers_[value], pool, offset};
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

        planned(Planned result, detail::handle_numbers<Handle> numbers)
            : Planned(std::move(result)), numbers_(std::move(numbers))
        {
        }
        /// The first byte of h in the arena of its pool; `no_offset` if it has none.
        [[nodiscard]] byte_count offset_of(Handle const& h) const
        {
            value_id const v = *this ? numbers_.find(h) : no_value;
            return v == no_value || v >= this->plan.buffer_of.size() ? no_offset : this->plan.offset_of(v);
        }
        /// The handles with an offset, in the order in which they were named.
        [[nodiscard]] iterator begin() const { return {*this, Planned::begin()}; }
        [[nodiscard]] iterator end() const { return {*this, Planned::end()}; }

    private:
        detail::handle_numbers<Handle> numbers_;
    };

    /// The result of a planner for this listing, with handles and names.
    template <class Planned>
    [[nodiscard]] planned<Planned> named(Planned result) const
    {
        if (!result) name_all(*result.figures.refuted);
        return {std::move(result), numbers_};
    }

private:
    void expect_open(step_id s) const
    {
        SUBLET_EXPECTS(std::size_t{s} + 1 == step_begin_.size(),
                       "sublet: a step of a listing is changed after the next one has begun");
    }
    std::span<touch const> touches_of(step_id s) const
    {
        std::size_t const first = step_begin_[s];
        std::size_t const last = s + 1 == steps() ? touches_.size() : step_begin_[s + 1];
        return {touches_.data() + first, last - first};
    }
    struct known_facts {
        byte_count bytes = no_size, alignment = 1, view_offset = 0;
        value_id alias_of = no_value;
        pool_id pool = 0;
        value_role role = value_role::intermediate;
    };
    value_id describe(Handle const& h, value_facts const& facts)
    {
        value_id const v = numbers_.add(h);
        if (v >= known_.size()) known_.resize(values());
        join(known_[v].bytes, facts.bytes, no_size);
        join(known_[v].alignment, facts.alignment, byte_count{1});
        join(known_[v].role, facts.role, value_role::intermediate);
        join(known_[v].pool, facts.pool, pool_id{0});
        add_name(value_names_, v, facts.name);
        return v;
    }
    value_id describe_view(Handle const& h, Handle const& of, byte_count offset, value_facts const& facts)
    {
        value_id const v = describe(h, facts), source = numbers_.add(of);
        join(known_[v].alias_of, source, no_value);
        join(known_[v].view_offset, offset, byte_count{0});
        return v;
    }
    template <class T>
    static void join(T& known, T said, T unknown)
    {
        if (said == unknown) return;
        SUBLET_EXPECTS(known == unknown || known == said, "sublet: a value of a listing is described twice");
        known = said;
    }

    template <class Witness>
    void name_all(Witness& why) const
    {
        if (why.step == no_step && block_begin_.empty() && why.position < steps())
            why.step = order.empty() ? why.position : order[why.position];
        for (value_id v : {why.value, why.other}) {
            if (v >= values()) continue;
            if (name const* known = find_name(value_names_, v)) why.name(v, known->text);
            else if constexpr (std::convertible_to<Handle const&, std::string_view>)
                why.name(v, std::string_view(numbers_[v]));
        }
        for (step_id s : {why.step, why.needed_at, why.written_at})
            if (name const* known = find_name(step_names_, s)) why.name_step(s, known->text);
    }

    struct name {
        std::uint32_t id;
        std::vector<char> text;
    };
    static void add_name(std::vector<name>& names, std::uint32_t id, std::string_view text)
    {
        if (!text.empty()) names.push_back({id, {text.begin(), text.end()}});
    }

    static name const* find_name(std::vector<name> const& names, std::uint32_t id)
    {
        for (name const& one : names)
            if (one.id == id) return &one;
        return nullptr;
    }

    detail::handle_numbers<Handle> numbers_;
    std::vector<touch> touches_;
    std::vector<std::uint32_t> step_begin_; // into touches_
    std::vector<step_id> block_begin_;      // by block: its first step; empty: every step is a node
    std::vector<std::pair<node_id, node_id>> edges_;
    std::vector<overwrite> overwrites_; // by step
    std::vector<edge_use> edge_uses_;   // by node
    std::vector<known_facts> known_;    // by value; may be shorter than values()
    std::vector<name> value_names_, step_names_, block_names_;
};

} // namespace sublet

#endif
