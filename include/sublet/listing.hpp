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
///         step.may_recompute(o.is_a_function_of_its_inputs); // only if it says so can it run again
///     }
///     auto const planned = sublet::plan_memory(list);
///     for (auto [t, pool, offset] : planned) place(t, pool, offset);
///
/// A listing is a program with its options. What takes a program with options takes a listing in their place:
/// planners, executors, check_plan and its kin, order (`list.order = order(list).order`), dependences,
/// lifetimes, versions, share_slots; plan_symbolic has sizes of its own (`.bytes =
/// list.by_handle(affine_bytes_of)`), and plan_nested takes a list of listings. What takes a program alone
/// takes `list.program()`. Results of planners are asked with handles, and errors have names. Its ids (`id`,
/// `handle`) number the handles in the order in which they were first named; reports take `list.names()` and
/// `list.step_names()`.

#include <sublet/analysis/lifetimes.hpp>
#include <sublet/core/internal/vectors.hpp>
#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/graph/concepts.hpp>
#include <sublet/graph/program.hpp>
#include <sublet/graph/snapshot.hpp>

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
    [[nodiscard]] std::size_t size() const { return handles_.size(); }
    [[nodiscard]] H const& operator[](value_id v) const { return handles_[v]; }

    [[nodiscard]] value_id find(H const& h) const
    {
        if constexpr (hashable<H>) {
            return table_.cells.empty() ? no_value : table_.cells[cell_of(h, table_)];
        } else {
            auto const found = numbers_.find(h);
            return found == numbers_.end() ? no_value : found->second;
        }
    }
    value_id add(H const& h)
    {
        value_id const known = find(h);
        return known == no_value ? add_new(h) : known;
    }

private:
    struct hash_table {
        std::vector<value_id> cells; // a power of two, at most half of them taken; empty for ordered handles
        unsigned shift = 63;         // to the bits of a product that number a line
        unsigned near = 0;           // to the bits in which handles differ that are close
    };

    static constexpr std::uint64_t hash_of(H const& h) { return std::hash<H>{}(h); }

    /// If something throws, nothing has changed.
    value_id add_new(H const& h)
    {
        SUBLET_EXPECTS(handles_.size() + 1 < no_value, "sublet: more values than 32-bit ids");
        if constexpr (hashable<H>) {
            if (2 * handles_.size() >= table_.cells.size()) grow();
            std::size_t const at = cell_of(h, table_);
            handles_.push_back(h);
            return table_.cells[at] = value_id::of(size() - 1);
        } else {
            handles_.push_back(h);
            struct removal {
                table<value_id, H>* from;
                ~removal()
                {
                    if (from != nullptr) from->pop_back();
                }
            } unless_numbered{&handles_};
            numbers_.emplace(h, value_id::of(size() - 1));
            unless_numbered.from = nullptr;
            return value_id::of(size() - 1);
        }
    }
    /// The cell that holds the number of h, or is free for it. Lines of 16 cells are found by multiplicative
    /// hashing (Knuth, The Art of Computer Programming 3, 6.4), and handles that are close to each other, as
    /// pointers to objects made one after another are, lie in one line: each line is a cache miss.
    std::size_t cell_of(H const& h, hash_table const& in) const
    {
        std::vector<value_id> const& cells = in.cells;
        std::uint64_t const key = hash_of(h) >> in.near;
        auto at = to_size((key / 16 * 0x9e3779b97f4a7c15u >> in.shift) * 16 + key % 16);
        while (cells[at] != no_value && !(handles_[cells[at]] == h)) at = (at + 1) & (cells.size() - 1);
        return at;
    }
    void grow()
    {
        hash_table grown;
        grown.shift = table_.cells.empty() ? 63 : table_.shift - 2;
        grown.cells.assign(std::size_t{16} << (64 - grown.shift), no_value);
        grown.near = handles_.empty() ? 0 : 12;
        for (std::size_t i = 1; i < handles_.size() && i != 64; ++i) {
            std::uint64_t const a = hash_of(handles_[i - 1]), b = hash_of(handles_[i]);
            while (grown.near != 0 && (larger(a, b) - smaller(a, b)) >> grown.near == 0) --grown.near;
        }
        for (value_id v = 0; v != size(); ++v) grown.cells[cell_of(handles_[v], grown)] = v;
        table_ = std::move(grown);
    }

    struct none {};
    table<value_id, H> handles_;
    hash_table table_;
    std::conditional_t<hashable<H>, none, std::map<H, value_id>> numbers_;
};

/// The name of a value or a step, what its handle is, or a number: a range of char. Refers to the text.
class id_text {
public:
    explicit id_text(std::string_view text) : text_(text) {}
    template <integer I>
    explicit id_text(I number)
    {
        auto rest = static_cast<std::uint64_t>(number);
        if (number < I{}) rest = 0 - rest;
        set_digits(rest, 10);
        if (number < I{}) digits_[--first_] = '-';
    }
    explicit id_text(char one)
    {
        if (one > ' ' && one <= '~') digits_[--first_] = one;
        else set_digits(static_cast<unsigned char>(one), 10);
    }
    explicit id_text(void const* address)
    {
        set_digits(reinterpret_cast<std::uintptr_t>(address), 16);
        digits_[--first_] = 'x';
        digits_[--first_] = '0';
    }
    [[nodiscard]] bool empty() const { return begin() == end(); }
    [[nodiscard]] char const* begin() const { return text_.empty() ? digits_ + first_ : text_.data(); }
    [[nodiscard]] char const* end() const
    {
        return text_.empty() ? digits_ + sizeof digits_ : text_.data() + text_.size();
    }

private:
    void set_digits(std::uint64_t number, unsigned base)
    {
        do digits_[--first_] = "0123456789abcdef"[number % base];
        while ((number /= base) != 0);
    }

    std::string_view text_;
    char digits_[24] = {};
    std::size_t first_ = sizeof digits_;
};

/// Empty for a handle of another type than strings, characters, numbers and pointers.
template <class H>
[[nodiscard]] id_text text_of_handle(H const& h)
{
    if constexpr (std::is_pointer_v<H>)
        if (h == nullptr) return id_text(std::string_view("null"));
    if constexpr (std::convertible_to<H const&, std::string_view>) return id_text(std::string_view(h));
    else if constexpr (std::same_as<H, char>) return id_text(h);
    else if constexpr (integer_like<H>) return id_text(+h);
    else if constexpr (std::is_enum_v<H>) return id_text(+static_cast<std::underlying_type_t<H>>(h));
    else if constexpr (std::convertible_to<H const&, void const*>) {
        void const* const address = h;
        return id_text(address);
    } else return id_text(std::string_view());
}

/// A sentence about a violated precondition, of texts and numbers; a value or a step is its text in quotes,
/// or its number.
class sentence {
public:
    sentence& operator<<(std::string_view text)
    {
        for (char c : text)
            if (c != '\0' && size_ + 1 != sizeof text_) text_[size_++] = c;
        return *this;
    }
    template <integer I>
    sentence& operator<<(I number)
    {
        for (char c : id_text(number)) *this << std::string_view(&c, 1);
        return *this;
    }
    template <kind K>
    sentence& operator<<(id<K> number)
    {
        return *this << +number;
    }
    sentence& operator<<(value_role role)
    {
        if (role == value_role::intermediate) return *this << "intermediate";
        std::string_view between = "";
        auto add = [&](value_role one, std::string_view name) {
            if (has_role(role, one)) *this << std::exchange(between, " | ") << name;
        };
        add(value_role::input, "input");
        add(value_role::output, "output");
        if (has_role(role, value_role::state)) add(value_role::state, "state");
        else add(value_role::external, "external");
        return *this;
    }
    sentence& quote(id_text const& text, std::uint32_t number)
    {
        if (text.empty()) return *this << number;
        *this << "'";
        for (char c : text) *this << std::string_view(&c, 1);
        return *this << "'";
    }
    [[noreturn]] void fail() const { broken_precondition(text_); }

private:
    char text_[1024] = {};
    std::size_t size_ = 0;
};

/// A size that was not said, which is not one that is said to be unknown.
inline constexpr byte_count unsaid_size = no_size - 1;

/// What is said of values, and by which step: `unsaid` until something else is. The table may be shorter than
/// the values.
template <class T, class Property = T>
class said_values {
public:
    explicit said_values(T unsaid) : unsaid_{unsaid} {}

    /// False if something else was said before. `no_step`: it is no step that says it, but facts().
    [[nodiscard]] bool say(value_id v, T what, step_id by)
    {
        if (what == unsaid_.what) return true;
        if (v >= table_.size()) {
            if (v > table_.size()) table_.resize(v, unsaid_);
            table_.push_back({what, by});
            return true;
        }
        if (table_[v].what == unsaid_.what) table_[v] = {what, by};
        return table_[v].what == what;
    }
    [[nodiscard]] T of_value(value_id v) const { return v < table_.size() ? table_[v].what : unsaid_.what; }
    [[nodiscard]] step_id step_of(value_id v) const { return v < table_.size() ? table_[v].by : no_step; }
    [[nodiscard]] per_value<Property> of(std::size_t values) const { return of(values, unsaid_.what); }
    /// With another value where nothing is said.
    [[nodiscard]] per_value<Property> of(std::size_t values, T otherwise) const
    {
        if (table_.empty()) return static_cast<Property>(otherwise);
        table<value_id, T> all;
        all.reserve(values);
        for (said const& one : table_) all.push_back(one.what == unsaid_.what ? otherwise : one.what);
        all.resize(values, otherwise);
        return all;
    }

private:
    struct said {
        T what;
        step_id by = no_step;
    };
    said unsaid_;
    table<value_id, said> table_;
};

/// Names by id, copied: the first that is said.
template <class Id>
class said_names {
public:
    void add(Id id, std::string_view name)
    {
        if (name.empty() || !(*this)[id].empty()) return;
        reserve_for(id, name);
        at_[id] = {text_.size(), name.size()};
        text_.insert(text_.end(), name.begin(), name.end());
    }
    /// The next add(id, name) does not throw.
    void reserve_for(Id id, std::string_view name)
    {
        if (name.empty()) return;
        if (id >= at_.size()) at_.resize(std::size_t{id} + 1);
        reserve_more(text_, name.size());
    }
    /// Empty if none is said.
    [[nodiscard]] std::string_view operator[](Id id) const
    {
        return id < at_.size() ? std::string_view(text_.data() + at_[id].first, at_[id].size) : "";
    }

private:
    struct part {
        std::size_t first = 0, size = 0;
    };
    std::vector<char> text_;
    table<Id, part> at_;
};

} // namespace sublet::detail

// --- listing ---------------------------------------------------------------------------------------------

namespace sublet {

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
        /// The same, and describes h.
        step_ref& make(Handle const& h, value_facts const& facts)
        {
            return touch_id(list_->describe(h, facts, number_), touch::access::def);
        }
        /// Makes h, of which no byte has contents yet: several steps write them, through views. A planner
        /// refuses a read of bytes that no step has written.
        step_ref& allocate(Handle const& h, value_facts const& facts = {})
        {
            return touch_id(list_->describe(h, facts, number_), touch::access::allocate);
        }
        /// Makes h, a view of `of` that begins at byte `offset` of it. No byte is read or written, unless the
        /// step reads or writes h, too: it reads the bytes as they are before it writes.
        step_ref& view(Handle const& h, Handle const& of, byte_count offset = 0,
                       value_facts const& facts = {})
        {
            return touch_id(list_->describe_view(h, of, offset, facts, number_), touch::access::view);
        }
        /// Reads and writes the bytes of h, which is there already: in place or, if h is a view, a part.
        step_ref& write(Handle const& h) { return touch_value(h, touch::access::write); }
        /// The result `out` of the step may overwrite its operand `in`, if that is not needed afterwards. The
        /// step has to read the one and make the other: program() refuses the pair otherwise.
        step_ref& may_overwrite(Handle const& in, Handle const& out)
        {
            list_->expect_open(number_);
            list_->record_.overwrites.push_back({number_, list_->numbers_.add(in), list_->numbers_.add(out)});
            return *this;
        }
        /// The step is a function of what it reads, without other effects: advise_memory() may run it again.
        /// Without this call, or if `is_so` is false, it runs once.
        step_ref& may_recompute(bool is_so = true)
        {
            list_->expect_open(number_);
            if (is_so) list_->record_.say(detail::effect_record::recomputable);
            return *this;
        }
        /// The step changes no bytes: what it reads, such as a shape, only tells which views it makes.
        /// Without this call, a step that reads values and only makes views of others is refused.
        step_ref& only_views(bool is_so = true)
        {
            list_->expect_open(number_);
            if (is_so) list_->record_.say(detail::effect_record::only_views);
            return *this;
        }
        /// This step begins after another has ended, for a reason other than data.
        /// Throws: precondition_error for a step of another listing, or for itself; and in a listing with
        /// blocks:
        ///         there edges order them.
        step_ref& wait_for(step_ref const& other)
        {
            list_->expect_open(number_);
            SUBLET_EXPECTS(list_->block_begin_.empty(), "sublet: wait_for is for listings without blocks");
            list_->expect_own(other.list_, "step");
            SUBLET_EXPECTS(other.number_ != number_, "sublet: step % of a listing waits for itself", number_);
            list_->edges_.push_back({node_id::of(+other.number_), node_id::of(+number_)}); // each is a node
            return *this;
        }
        /// The block of this step reads h at the end of a block before it: a phi operand.
        /// Throws: precondition_error for a block of another listing, and in a listing without blocks.
        step_ref& read_at_end_of(block_ref pred, Handle const& h)
        {
            list_->expect_open(number_);
            SUBLET_EXPECTS(!list_->block_begin_.empty(),
                           "sublet: read_at_end_of is for listings with blocks");
            list_->expect_own(pred.list_, "block");
            auto const node = node_id::of(list_->block_begin_.size() - 1);
            list_->record_.edge_uses.push_back({node, pred.number_, list_->numbers_.add(h)});
            return *this;
        }
        /// The number of the step, from 0 in the order of the list.
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
            list_->record_.add({v, kind});
            return *this;
        }
        listing* list_;
        step_id number_;
    };

    // Options of the whole plan: as in plan_options.
    table<pool_id, pool_limits> pools = {}; ///< one that is not listed has no limits
    std::vector<node_id> order = {}; ///< of steps, or of blocks if there are any
    bool in_place = true;            ///< take the in-place pairs that steps declare
    bool check = true;               ///< check the plan before it is returned
    sublet::effort effort = sublet::effort::balanced; ///< the work of each search

    /// Begins the next step. The label is for diagnostics.
    step_ref step(std::string_view label = {})
    {
        SUBLET_EXPECTS(steps() + 1 < no_step, "sublet: more steps than 32-bit ids");
        auto const number = step_id::of(steps());
        step_names_.reserve_for(number, label);
        record_.next_step();
        step_names_.add(number, label);
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
        expect_own(from.list_, "block");
        expect_own(to.list_, "block");
        edges_.push_back({from.number_, to.number_});
    }

    /// Describes a value, before or after it is named by a step: an input, a weight, state, or more of what
    /// make() has said. Members that keep their defaults change nothing.
    ///
    /// Throws: precondition_error if it was described otherwise before.
    void facts(Handle const& h, value_facts const& facts) { static_cast<void>(describe(h, facts, no_step)); }
    /// h, which is no view, may lie in `pool`, at a cost that the planner adds up, in any unit. A value of
    /// which this is not said lies in its `pool`.
    void may_lie_in(Handle const& h, pool_id pool, byte_count cost = 0)
    {
        value_id const v = numbers_.add(h);
        pool_choices_.push_back({v, pool, cost});
    }

    /// How many handles were named.
    [[nodiscard]] std::size_t values() const { return numbers_.size(); }
    /// How many steps have begun.
    [[nodiscard]] std::size_t steps() const { return record_.step_begin.size(); }
    /// `no_value` for a handle that was not named.
    [[nodiscard]] value_id id(Handle const& h) const { return numbers_.find(h); }
    /// The handle with id v.
    [[nodiscard]] Handle const& handle(value_id v) const { return numbers_[v]; }

    /// With blocks, a program with control flow. Without, every step is a node, and the edges are the order
    /// of wait_for().
    ///
    /// Complexity: O(values + steps + touches).
    ///
    /// Throws: precondition_error if a step may overwrite a value that it does not read, or by one that it
    ///         does not make.
    [[nodiscard]] snapshot program() const
    {
        expect_pairs_of_steps();
        bool const has_blocks = !block_begin_.empty();
        std::size_t const nodes = has_blocks ? block_begin_.size() : steps();
        csr_rows<node_id, node_id> next(std::vector<std::uint32_t>(nodes + 1), {});
        if (!edges_.empty())
            next = csr_rows<node_id, node_id>::gathered(nodes, [&](auto add) {
                for (auto const& [from, to] : edges_) add(from, to);
            });
        edge_meaning const meaning = has_blocks       ? edge_meaning::control_flow
                                     : edges_.empty() ? edge_meaning::none
                                                      : edge_meaning::order;
        detail::effect_record record;
        record.step_begin.reserve(steps() + 2); // of a step in an empty block, and the end
        record = record_;
        if (ends_in_empty_block()) record.next_step();
        table<node_id, step_id> node_end(block_begin_.begin() + has_blocks, block_begin_.end());
        node_end.reserve(nodes);
        for (step_id s = 0; !has_blocks && s != steps(); ++s) node_end.push_back(s + 1);
        if (has_blocks) node_end.push_back(step_id::of(record.step_begin.size()));
        return {values(), meaning, csr_graph(std::move(next)), std::move(node_end), std::move(record)};
    }
    /// What was said of the values and of the whole plan, by id. Sizes that were not said are unknown.
    ///
    /// Complexity: O(values).
    [[nodiscard]] plan_options options() const
    {
        plan_options all{.bytes = bytes_.of(values(), no_size),
                         .alignment = alignment_.of(values()),
                         .role = role_.of(values()),
                         .alias_of = alias_of_.of(values()),
                         .view_offset = view_offset_.of(values(), 0),
                         .pool = pool_.of(values()),
                         .pinned = pinned_.of(values()),
                         .eligible = eligible_.of(values())};
        all.pools = pools;
        all.pool_choices = pool_choices_;
        all.order = order;
        all.in_place = in_place;
        all.check = check;
        all.effort = effort;
        // An option that a listing cannot say does not compile.
        [[maybe_unused]] auto const& [of_bytes, of_alignment, of_role, of_view, of_begin, of_pool, of_pin,
                                      of_eligible, its_pools, its_choices, its_order, its_pairs, its_check,
                                      its_effort] = all;
        return all;
    }

    /// The same for a planner, which needs sizes.
    ///
    /// Throws: precondition_error if the size of a value that a step makes, or of an input, was not said, and
    ///         it needs planned storage; or if a view has an alignment that does not divide its offset.
    [[nodiscard]] plan_options sized_options() const
    {
        plan_options all = options();
        auto expect_size = [&](value_id v, step_id made_by) {
            if (bytes_.of_value(v) != detail::unsaid_size) return;
            if (has_role(role_.of_value(v), value_role::external) || eligible_.of_value(v) == 0) return;
            detail::sentence why;
            why << "sublet: the size of value ";
            why.quote(text_of(v), v);
            if (made_by != no_step) add_step(why << ", made", made_by) << ",";
            (why << " is not said: say .bytes, or no_size if it is unknown").fail();
        };
        std::size_t i = 0;
        for (step_id s = 0; s != steps(); ++s) {
            std::size_t const end = s + 1 == steps() ? record_.touches.size() : record_.step_begin[s + 1];
            for (; i != end; ++i)
                if (record_.touches[i].makes()) expect_size(record_.touches[i].value, s);
        }
        for (value_id v = 0; v != values(); ++v)
            if (has_role(role_.of_value(v), value_role::input) && alias_of_.of_value(v) == no_value)
                expect_size(v, no_step);
        expect_aligned_views(all);
        return all;
    }

    /// Throws: precondition_error if a value is pinned or has a choice of pools.
    void expect_no_pin_or_choice() const
    {
        value_id v = 0;
        while (v != values() && pinned_.of_value(v) == no_offset) ++v;
        bool const is_pinned = v != values();
        if (!is_pinned && pool_choices_.empty()) return;
        if (!is_pinned) v = pool_choices_.front().value;
        detail::sentence why;
        why << "sublet: value ";
        (why.quote(text_of(v), v) << (is_pinned ? " is pinned" : " has a choice of pools")
                                  << ", and a plan for every batch size cannot keep that")
            .fail();
    }

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
                return {of_->numbers_[original(*of_, value)], pool, offset};
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

        /// For named().
        planned(Planned result, detail::handle_numbers<Handle> numbers)
            : Planned(std::move(result)), numbers_(std::move(numbers))
        {
        }
        /// The first byte of h in the arena of its pool. Of a value that is spilled: until then.
        /// Throws: precondition_error if it has none: there is no plan, h is not in the listing, its storage
        /// is external, or its size was not said.
        [[nodiscard]] byte_count offset_of(Handle const& h) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}); }
        {
            return expected(h, offset_or_none(h));
        }
        /// The same for one batch.
        [[nodiscard]] byte_count offset_of(Handle const& h, byte_count batch) const
            requires requires(Planned const& p) { p.plan.max_batch; }
        {
            return expected(h, offset_or_none(h, batch));
        }
        /// The same, or none.
        [[nodiscard]] std::optional<byte_count> find(Handle const& h) const
            requires requires(Planned const& p) { p.plan.offset_of(value_id{}); }
        {
            byte_count const offset = offset_or_none(h);
            return offset == no_offset ? std::nullopt : std::optional(offset);
        }
        /// The same for one batch, or none.
        [[nodiscard]] std::optional<byte_count> find(Handle const& h, byte_count batch) const
            requires requires(Planned const& p) { p.plan.max_batch; }
        {
            byte_count const offset = offset_or_none(h, batch);
            return offset == no_offset ? std::nullopt : std::optional(offset);
        }
        /// The plan with the numbers of another listing: a handle keeps its place; one that was not planned
        /// has none.
        [[nodiscard]] memory_plan plan_for(listing const& other) const
        {
            memory_plan renumbered = this->plan;
            renumbered.buffer_of.assign(other.values(), no_buffer);
            if (!renumbered.offset_in_root.empty()) renumbered.offset_in_root.assign(other.values(), 0);
            renumbered.empty.clear();
            for (value_id v = 0; v != other.values(); ++v) {
                value_id const own = *this ? numbers_.find(other.handle(v)) : no_value;
                if (own == no_value || own >= this->plan.buffer_of.size()) continue;
                renumbered.buffer_of[v] = this->plan.buffer_of[own];
                if (std::size_t const at = detail::find_value(this->plan.empty, own);
                    at != this->plan.empty.size())
                    renumbered.empty.push_back({v, this->plan.empty[at].pool, this->plan.empty[at].offset});
                if (!renumbered.offset_in_root.empty())
                    renumbered.offset_in_root[v] = this->plan.offset_in_root[own];
            }
            return renumbered;
        }
        /// The handles with an offset, in the order in which they were named; then those that are restored
        /// after a spill, again.
        [[nodiscard]] iterator begin() const { return {*this, Planned::begin()}; }
        /// The end of these handles.
        [[nodiscard]] iterator end() const { return {*this, Planned::end()}; }

    private:
        template <class... Batch>
        byte_count offset_or_none(Handle const& h, Batch... batch) const
        {
            value_id const v = *this ? numbers_.find(h) : no_value;
            return v >= this->plan.buffer_of.size() ? no_offset : this->plan.offset_of(v, batch...);
        }
        byte_count expected(Handle const& h, byte_count offset) const
        {
            if (offset != no_offset) return offset;
            value_id const v = numbers_.find(h);
            detail::sentence why;
            why << "sublet: value ";
            detail::id_text const text = detail::text_of_handle(h);
            if (v != no_value || !text.empty()) why.quote(text, v) << " ";
            why << "has no offset: ";
            if (!*this) why << "there is no plan";
            else if (v == no_value) why << "it is not in the listing";
            else why << "it is external, or its size is unknown";
            why.fail();
        }

        detail::handle_numbers<Handle> numbers_;
    };

    /// The result of a planner for this listing, with handles and names; or of a checker, with names.
    template <class Result>
    [[nodiscard]] auto named(Result result) const
    {
        if constexpr (requires { result.figures; }) {
            if (!result) name_all(result.figures.error(), result);
        } else {
            if (!result) name_all(result.error(), result);
        }
        if constexpr (requires { result.plan.buffer_of; })
            return planned<Result>(std::move(result), numbers_);
        else return result;
    }
    /// Gives value `v` of this listing, which a counterexample calls `as`, its name, or the text of its
    /// handle.
    void name(counterexample& why, value_id as, value_id v) const
    {
        if (detail::id_text const text = text_of(v); !text.empty()) why.name(as, text);
    }

    /// A function from values to their names, for reports. Without a name it is the handle, if that is a
    /// string, a character, a number or a pointer, in hexadecimal; else the id.
    /// It refers to this listing.
    [[nodiscard]] auto names() const&
    {
        return [this](value_id v) {
            detail::id_text const text = text_of(v);
            return text.empty() ? detail::id_text(+v) : text;
        };
    }
    /// Of a temporary nothing could be asked later.
    auto names() const&& = delete;
    /// The same for steps: their names, or their numbers.
    [[nodiscard]] auto step_names() const&
    {
        return [this](step_id s) {
            std::string_view const said = step_names_[s];
            return said.empty() ? detail::id_text(+s) : detail::id_text(said);
        };
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
    void expect_pairs_of_steps() const
    {
        if (record_.overwrites.empty()) return;
        table<value_id, step_id> read_in(values(), no_step), made_in(values(), no_step);
        step_id seen = no_step;
        for (overwrite o : record_.overwrites) { // by step
            if (std::exchange(seen, o.step) != o.step) {
                std::size_t const last =
                    o.step + 1 == steps() ? record_.touches.size() : record_.step_begin[o.step + 1];
                for (std::size_t i = record_.step_begin[o.step]; i != last; ++i) {
                    touch const t = record_.touches[i];
                    if (t.defines()) made_in[t.value] = o.step;
                    if (!t.defines() || t.kind == touch::access::read_view) read_in[t.value] = o.step;
                }
            }
            if (read_in[o.in] == o.step && made_in[o.out] == o.step) continue;
            bool const is_read = read_in[o.in] == o.step;
            detail::sentence why;
            why << "sublet: step ";
            why.quote(detail::id_text(step_names_[o.step]), o.step) << " says that ";
            why.quote(text_of(o.out), o.out) << " may overwrite ";
            why.quote(text_of(o.in), o.in) << ", and does not " << (is_read ? "make " : "read ");
            why.quote(text_of(is_read ? o.out : o.in), is_read ? o.out : o.in).fail();
        }
    }
    void expect_aligned_views(plan_options const& all) const
    {
        bool is_any_said = false;
        for (value_id v = 0; v != values() && !is_any_said; ++v)
            is_any_said = alias_of_.of_value(v) != no_value && alignment_.of_value(v) > 1;
        if (!is_any_said) return;
        table<value_id, value_id> const of = all.alias_of.tabulate(values());
        buffer_classes const classes = aliases(values(), [&of](value_id v) { return of[v]; });
        table<value_id, byte_count> const offset =
            detail::offsets_in_roots(of, all.view_offset.tabulate(values()));
        for (value_id v = 0; v != values(); ++v) {
            byte_count const said = alignment_.of_value(v);
            if (of[v] == no_value || said <= 1 || offset[v] % said == 0) continue;
            value_id const root = classes.root[classes.buffer_of[v]];
            detail::sentence why = about("alignment", v);
            add_source(why << said, alignment_.step_of(v))
                << ", but it begins at byte " << offset[v] << " of value ";
            why.quote(text_of(root), root).fail();
        }
    }
    void expect_open(step_id s) const
    {
        SUBLET_EXPECTS(std::size_t{s} + 1 == steps(),
                       "sublet: a step of a listing is changed after the next one has begun");
    }
    void expect_own(listing const* of, char const* what) const
    {
        SUBLET_EXPECTS(of == this, "sublet: a listing is given a % of another listing", what);
    }
    bool ends_in_empty_block() const { return !block_begin_.empty() && block_begin_.back() == steps(); }
    value_id describe(Handle const& h, value_facts const& facts, step_id by)
    {
        auto const& [bytes, alignment, role, pool, pinned, eligible, name] = facts;
        value_id const v = numbers_.add(h);
        say(bytes_, "size", v, bytes, by);
        say(alignment_, "alignment", v, alignment, by);
        say(role_, "role", v, role, by);
        say(pool_, "pool", v, pool, by);
        if (pinned != no_offset) say(pinned_, "pinned offset", v, pinned, by);
        if (!eligible) say(eligible_, "eligibility", v, static_cast<unsigned char>(false), by);
        value_names_.add(v, name);
        return v;
    }
    value_id describe_view(Handle const& h, Handle const& of, byte_count offset, value_facts const& facts,
                           step_id by)
    {
        value_id const v = describe(h, facts, by), source = numbers_.add(of);
        if (!alias_of_.say(v, source, by)) {
            value_id const before = alias_of_.of_value(v);
            detail::sentence why = about("root", v);
            add_source(why.quote(text_of(before), before), alias_of_.step_of(v)) << ", and ";
            add_source(why.quote(text_of(source), source), by).fail();
        }
        say(view_offset_, "offset", v, offset, by);
        return v;
    }
    template <class T, class Property>
    void say(detail::said_values<T, Property>& table, std::string_view fact, value_id v, T what, step_id by)
    {
        if (table.say(v, what, by)) return;
        detail::sentence why = about(fact, v);
        add_source(why << table.of_value(v), table.step_of(v)) << ", and ";
        add_source(why << what, by).fail();
    }
    detail::sentence about(std::string_view fact, value_id v) const
    {
        detail::sentence why;
        why << "sublet: the " << fact << " of value ";
        why.quote(text_of(v), v) << " is ";
        return why;
    }
    detail::sentence& add_source(detail::sentence& why, step_id by) const
    {
        return by == no_step ? why << " by facts()" : add_step(why, by);
    }
    detail::sentence& add_step(detail::sentence& why, step_id s) const
    {
        why << " in step ";
        return why.quote(detail::id_text(step_names_[s]), s);
    }

    /// A value of the listing; the advisor's program has others after them.
    template <class Result>
    static value_id original(Result const& result, value_id v)
    {
        if constexpr (requires { result.spilled; })
            return v < result.spilled.origin.size() ? result.spilled.origin[v] : v;
        else return v;
    }
    template <class Result>
    static step_id original_step(Result const& result, step_id s)
    {
        if constexpr (requires { result.spilled; }) {
            if (s >= result.spilled.steps.size()) return s;
            using kind = decltype(result.spilled.steps[s].kind);
            auto const one = result.spilled.steps[s];
            return one.kind == kind::original || one.kind == kind::rematerialize ? one.step : no_step;
        } else return s;
    }
    template <class Result>
    void name_all(counterexample& why, Result const& result) const
    {
        position_id const at = why.position();
        if constexpr (requires { result.spilled; }) // a program in execution order, unless no spill was tried
            if (why.step() == no_step && at < result.spilled.steps.size())
                detail::set_step(why, step_id::of(+at));
        if (why.step() == no_step && block_begin_.empty() && at < steps())
            detail::set_step(why, step_id::of(order.empty() ? +at : +order[at])); // each is a node
        for (value_id v : {why.value(), why.other()}) name(why, v, original(result, v));
        for (step_id s : why.steps())
            if (std::string_view const text = step_names_[original_step(result, s)]; !text.empty())
                why.name_step(s, text);
    }
    detail::id_text text_of(value_id v) const
    {
        std::string_view const said = value_names_[v];
        return said.empty() && v < values() ? detail::text_of_handle(numbers_[v]) : detail::id_text(said);
    }

    detail::handle_numbers<Handle> numbers_;
    detail::effect_record record_;
    table<node_id, step_id> block_begin_; // of each block; empty: every step is a node
    std::vector<std::pair<node_id, node_id>> edges_;
    detail::said_values<byte_count> bytes_{detail::unsaid_size}, alignment_{1}, view_offset_{no_offset};
    detail::said_values<byte_count> pinned_{no_offset};
    detail::said_values<unsigned char, bool> eligible_{1};
    std::vector<plan_options::pool_choice> pool_choices_;
    detail::said_values<value_id> alias_of_{no_value};
    detail::said_values<pool_id> pool_{0};
    detail::said_values<value_role> role_{value_role::intermediate};
    detail::said_names<value_id> value_names_;
    detail::said_names<step_id> step_names_;
    detail::said_names<node_id> block_names_;
};

} // namespace sublet

#endif
