// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_TEST_RANDOM_LISTING_HPP
#define SUBLET_TEST_RANDOM_LISTING_HPP

/// Random programs as lists of words: what a user says of steps and values, with every option. Oracles run
/// these words, and nothing that the library made of them. A listing with a fault is made smaller, word by
/// word, and printed as C++.
///
///     step 0   make a                        storage of a     0 0 0 0 0 0 0 0
///     step 1   view v of a at 4   write v                     0 0 0 0 1 1 1 1      bytes by their writers
///     step 2   read a             make b                      what is read is compared, byte by byte

#include "random_source.hpp"
#include "transitive.hpp"

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>
#include <sublet/listing.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

struct random_listing {
    using number = std::uint32_t; // of a value: its handle; the listing gives it another id
    static constexpr number none = std::numeric_limits<number>::max();
    static constexpr sublet::byte_count unknown_bytes = 48; // what is bound for a value of unknown size

    enum class verb {
        read,
        read_early,
        make,
        allocate,
        view,
        write,
        may_overwrite,
        wait_for,
        read_at_end_of,
        only_views
    };
    struct word {
        verb what = verb::read;
        number value = 0; // may_overwrite: the operand; wait_for: the step
        number other = 0; // may_overwrite: the result; read_at_end_of: the block
        friend bool operator==(word, word) = default;
    };
    struct described {
        sublet::byte_count bytes = 8, alignment = 1;
        sublet::value_role role = sublet::value_role::intermediate;
        sublet::pool_id pool = 0;
        number of = none; // a view of it, from byte `offset` on
        sublet::byte_count offset = 0;
        bool is_said_late = false; // after the steps
        // Said by ids only: a listing has no words for them.
        sublet::byte_count pinned = sublet::no_offset;
        bool is_eligible = true;
        std::vector<std::pair<sublet::pool_id, sublet::byte_count>> choices = {}; // a pool, its cost
        friend bool operator==(described const&, described const&) = default;
    };
    struct limits : sublet::pool_limits {
        friend bool operator==(limits const& a, limits const& b)
        {
            return a.capacity == b.capacity && a.alignment == b.alignment &&
                   a.largest_block == b.largest_block;
        }
    };
    using step = std::vector<word>;

    std::vector<described> values;
    std::vector<step> steps;
    std::vector<number> block_begin;              // by block: its first step; none: no blocks
    std::vector<std::pair<number, number>> edges; // of blocks
    std::vector<limits> pools;
    std::vector<sublet::node_id> order;
    bool in_place = true;
    sublet::effort effort = sublet::effort::balanced;
    friend bool operator==(random_listing const&, random_listing const&) = default;

    number root(number v) const
    {
        while (values[v].of != none) v = values[v].of;
        return v;
    }
    sublet::byte_count begin(number v) const
    {
        sublet::byte_count at = 0;
        for (; values[v].of != none; v = values[v].of) at += values[v].offset;
        return at;
    }
    /// By value, the roles of all that its storage is said to be.
    std::vector<sublet::value_role> class_roles() const
    {
        std::vector<sublet::value_role> of_root(values.size()), all(values.size());
        std::vector<bool> is_said(values.size());
        for (step const& s : steps)
            for (word w : s)
                if (w.what == verb::view) is_said[w.value] = true;
        for (number v = 0; v != values.size(); ++v)
            if (values[v].of == none || is_said[v]) of_root[root(v)] = of_root[root(v)] | values[v].role;
        for (number v = 0; v != values.size(); ++v) all[v] = of_root[root(v)];
        return all;
    }
    /// The listing has a handle for it: a view has one if a step makes it.
    bool is_named(number v) const
    {
        bool is_made = values[v].of == none;
        for (step const& s : steps)
            is_made = is_made || std::count(s.begin(), s.end(), word{verb::view, v, 0}) != 0;
        return is_made;
    }
    /// Some word names it or a view of it.
    bool is_touched(number v) const
    {
        for (step const& s : steps)
            for (word w : s)
                if (w.what != verb::wait_for && w.what != verb::only_views && root(w.value) == root(v))
                    return true;
        return false;
    }
    bool makes(number s, number v) const
    {
        return std::count(steps[s].begin(), steps[s].end(), word{verb::make, v, 0}) != 0;
    }
    /// Accesses of one storage of 0 bytes keep their order, too.
    bool overlap(number a, number b) const
    {
        if (root(a) == root(b) && values[root(a)].bytes == 0) return true;
        auto const end = [this](number v) {
            return begin(v) + (values[v].bytes == sublet::no_size ? unknown_bytes : values[v].bytes);
        };
        return root(a) == root(b) && std::max(begin(a), begin(b)) < std::min(end(a), end(b));
    }
    /// The step reads a value, changes nothing, and only makes views of other storage: a word is missing.
    bool forgets_a_write(step const& s) const
    {
        std::vector<number> viewed, read;
        for (word w : s) {
            if (w.what == verb::make || w.what == verb::allocate || w.what == verb::write ||
                w.what == verb::only_views)
                return false;
            if (w.what == verb::view) viewed.push_back(root(w.value));
            if (w.what == verb::read || w.what == verb::read_early) read.push_back(root(w.value));
        }
        return !viewed.empty() && std::any_of(read.begin(), read.end(), [&](number r) {
            return std::count(viewed.begin(), viewed.end(), r) == 0;
        });
    }
    number block_of(number s) const
    {
        number b = 0;
        while (b + 1 < block_begin.size() && block_begin[b + 1] <= s) ++b;
        return b;
    }
    /// Without a largest block where a view of `other` has an offset.
    void join_blocks_of_views(random_listing const& other)
    {
        for (described const& d : other.values)
            for (limits& p : pools)
                if (d.offset != 0) p.largest_block = sublet::no_limit;
    }
    bool says_what_no_listing_can() const
    {
        for (described const& d : values)
            if (d.pinned != sublet::no_offset || !d.is_eligible || !d.choices.empty()) return true;
        return false;
    }
};

using painted_list = sublet::listing<random_listing::number>;

/// The words, said to a listing. With `offsets` off, all views begin where their parents do. `step_ids` gets
/// the number of each step: the listing adds one to an empty block.
inline painted_list list_of(random_listing const& l, bool offsets = true,
                            std::vector<sublet::step_id>* step_ids = nullptr)
{
    using number = random_listing::number;
    using verb = random_listing::verb;
    painted_list list;
    auto facts = [&](number v) {
        auto const& d = l.values[v];
        return painted_list::value_facts{
            .bytes = d.bytes, .alignment = d.alignment, .role = d.role, .pool = d.pool};
    };
    for (number v = 0; v != l.values.size(); ++v)
        if (!l.values[v].is_said_late && l.values[v].of == random_listing::none) list.facts(v, facts(v));
    std::vector<painted_list::step_ref> said;
    std::vector<painted_list::block_ref> blocks;
    for (number s = 0; s <= l.steps.size(); ++s) {
        while (blocks.size() != l.block_begin.size() && l.block_begin[blocks.size()] == s)
            blocks.push_back(list.block());
        if (s == l.steps.size()) break;
        said.push_back(list.step());
        if (step_ids != nullptr) step_ids->push_back(said.back().id());
        for (random_listing::word w : l.steps[s]) {
            auto& now = said.back();
            switch (w.what) {
            case verb::read: now.read(w.value); break;
            case verb::read_early: now.read_early(w.value); break;
            case verb::make: now.make(w.value); break;
            case verb::allocate: now.allocate(w.value); break;
            case verb::view: {
                auto const& d = l.values[w.value];
                now.view(w.value, d.of, offsets ? d.offset : 0, facts(w.value));
                break;
            }
            case verb::write: now.write(w.value); break;
            case verb::may_overwrite: now.may_overwrite(w.value, w.other); break;
            case verb::wait_for: now.wait_for(said[w.value]); break;
            case verb::read_at_end_of: now.read_at_end_of(blocks[w.other], w.value); break;
            case verb::only_views: now.only_views(); break;
            }
        }
    }
    for (auto [from, to] : l.edges) list.edge(blocks[from], blocks[to]);
    for (number v = 0; v != l.values.size(); ++v)
        if (l.values[v].of == random_listing::none) list.facts(v, facts(v));
    list.pools.assign(l.pools.begin(), l.pools.end());
    list.order = l.order;
    list.in_place = l.in_place;
    list.effort = l.effort;
    return list;
}

/// The options by id, with what a listing cannot say.
inline sublet::plan_options options_of(random_listing const& l, painted_list const& list)
{
    sublet::plan_options all = list.options();
    all.pinned = list.by_handle([l](auto h) { return l.values[h].pinned; });
    all.eligible = list.by_handle([l](auto h) { return l.values[h].is_eligible; });
    for (random_listing::number v = 0; v != l.values.size(); ++v)
        for (auto [pool, cost] : l.values[v].choices)
            if (list.id(v) != sublet::no_value) all.pool_choices.push_back({list.id(v), pool, cost});
    return all;
}

/// The listing as C++.
inline std::string text_of(random_listing const& l)
{
    using number = random_listing::number;
    using verb = random_listing::verb;
    using sublet::value_role;
    std::string all = "sublet::listing<int> list;\n";
    auto num = [](auto n) { return std::to_string(n); };
    auto facts = [&](number v) {
        auto const& d = l.values[v];
        std::string s = "{";
        auto more = [&](std::string const& one) { s += (s.size() == 1 ? "" : ", ") + one; };
        if (d.bytes != sublet::no_size) more(".bytes = " + num(d.bytes));
        if (d.alignment != 1) more(".alignment = " + num(d.alignment));
        if (d.role != value_role::intermediate)
            more(".role = sublet::value_role(" + num(static_cast<int>(d.role)) + ")");
        if (d.pool != 0) more(".pool = " + num(d.pool));
        return s + "}";
    };
    number block = 0;
    for (number s = 0; s <= l.steps.size(); ++s) {
        for (; block != l.block_begin.size() && l.block_begin[block] == s; ++block)
            all += "auto b" + num(block) + " = list.block();\n";
        if (s == l.steps.size()) break;
        bool is_awaited = false;
        for (auto const& other : l.steps)
            for (auto w : other) is_awaited |= w.what == verb::wait_for && w.value == s;
        all += (is_awaited ? "auto s" + num(s) + " = " : "") + "list.step()";
        for (auto w : l.steps[s]) switch (w.what) {
            case verb::read: all += ".read(" + num(w.value) + ")"; break;
            case verb::read_early: all += ".read_early(" + num(w.value) + ")"; break;
            case verb::make: all += ".make(" + num(w.value) + ")"; break;
            case verb::allocate: all += ".allocate(" + num(w.value) + ")"; break;
            case verb::view:
                all += ".view(" + num(w.value) + ", " + num(l.values[w.value].of) + ", " +
                       num(l.values[w.value].offset) + ", " + facts(w.value) + ")";
                break;
            case verb::write: all += ".write(" + num(w.value) + ")"; break;
            case verb::may_overwrite:
                all += ".may_overwrite(" + num(w.value) + ", " + num(w.other) + ")";
                break;
            case verb::wait_for: all += ".wait_for(s" + num(w.value) + ")"; break;
            case verb::read_at_end_of:
                all += ".read_at_end_of(b" + num(w.other) + ", " + num(w.value) + ")";
                break;
            case verb::only_views: all += ".only_views()"; break;
            }
        all += ";\n";
    }
    for (auto [from, to] : l.edges) all += "list.edge(b" + num(from) + ", b" + num(to) + ");\n";
    for (number v = 0; v != l.values.size(); ++v) {
        auto const& d = l.values[v];
        if (d.of != random_listing::none || (!l.is_touched(v) && d.role == value_role::intermediate))
            continue;
        if (facts(v) != "{}") all += "list.facts(" + num(v) + ", " + facts(v) + ");\n";
        if (d.pinned != sublet::no_offset) all += "// pinned: " + num(v) + " at " + num(d.pinned) + "\n";
        if (!d.is_eligible) all += "// not eligible: " + num(v) + "\n";
        for (auto [pool, cost] : d.choices)
            all += "// choice: " + num(v) + " in pool " + num(pool) + " at a cost of " + num(cost) + "\n";
    }
    if (!l.pools.empty()) all += "list.pools = {";
    for (auto const& p : l.pools) {
        all += "{";
        if (p.capacity != sublet::no_limit) all += ".capacity = " + num(p.capacity) + ", ";
        all += ".alignment = " + num(p.alignment);
        if (p.largest_block != sublet::no_limit) all += ", .largest_block = " + num(p.largest_block);
        all += &p == &l.pools.back() ? "}};\n" : "}, ";
    }
    if (!l.order.empty()) all += "list.order = {";
    for (auto const& n : l.order) all += num(n) + (&n == &l.order.back() ? "};\n" : ", ");
    if (!l.in_place) all += "list.in_place = false;\n";
    if (l.effort == sublet::effort(sublet::effort::fast)) all += "list.effort = sublet::effort::fast;\n";
    if (l.effort == sublet::effort(sublet::effort::thorough))
        all += "list.effort = sublet::effort::thorough;\n";
    return all;
}

// --- the bytes that are written -------------------------------------------------------------------------

/// Which bytes are there, while the steps run as listed. A listing is fit to run if every read finds all of
/// its bytes, every view its root, and if a step neither makes nor views twice.
struct bytes_there {
    std::vector<std::vector<bool>> written; // by root: each byte
    std::vector<bool> is_there;             // by value

    explicit bytes_there(random_listing const& l) : is_there(l.values.size())
    {
        auto const role = l.class_roles();
        for (random_listing::number v = 0; v != l.values.size(); ++v) {
            auto const& d = l.values[v];
            bool const is_given = sublet::detail::is_given(role[v]);
            is_there[v] = d.of == random_listing::none && is_given;
            written.emplace_back(d.of != random_listing::none ? 0 : room(l, v), is_given);
        }
    }
    static std::size_t room(random_listing const& l, random_listing::number v)
    {
        auto const said = l.values[v].bytes;
        return sublet::detail::to_size(said == sublet::no_size ? random_listing::unknown_bytes : said);
    }
    bool all_written(random_listing const& l, random_listing::number v) const
    {
        auto const& its = written[l.root(v)];
        std::size_t const at = sublet::detail::to_size(l.begin(v));
        if (at + room(l, v) > its.size()) return false;
        for (std::size_t i = 0; i != room(l, v); ++i)
            if (!its[at + i]) return false;
        return true;
    }
    void write(random_listing const& l, random_listing::number v)
    {
        auto& its = written[l.root(v)];
        std::size_t const at = sublet::detail::to_size(l.begin(v));
        for (std::size_t i = 0; i != room(l, v); ++i) its[at + i] = true;
    }
};

// --- drawing ---------------------------------------------------------------------------------------------

/// What is drawn of a listing without blocks.
struct listing_limits {
    std::uint32_t steps = 9;
    bool rewrites = false;      ///< values are made and viewed again, given ones made
    bool by_ids = false;        ///< pins, values that are not eligible, choices of pools
    bool choices = true;        ///< of pools, if by ids
    bool waits = true;          ///< wait_for
    bool empty_writes = true;   ///< writes of views of 0 bytes
    bool any_alignment = false; ///< also those that are no powers of two
    bool split_views = true;    ///< pools with a largest block, while views have offsets
    bool orders = true;         ///< other than the listed one
    bool no_steps = true;
    bool pieces = true; ///< storage that no step makes, and several write through views
    bool view_facts = true; ///< alignments and pools of views
    bool allocates = true;  ///< values without contents
    bool own_views = true;  ///< a step reads the view that it makes
};

/// Draws words one by one; each finds the bytes that it reads.
class listing_generator {
public:
    using number = random_listing::number;
    using verb = random_listing::verb;

    listing_generator(random_source& pick, listing_limits const& limits)
        : pick_(pick), limits_(limits), there_(l_)
    {
    }

    random_listing draw()
    {
        begin();
        std::uint32_t const count = limits_.no_steps && chance(1) ? 0 : 1 + pick_.below(limits_.steps);
        for (std::uint32_t s = 0; s != count; ++s) draw_step();
        for (auto& d : l_.values)
            if (chance(10)) d.is_said_late = true;
        if (limits_.by_ids) draw_by_ids();
        if (limits_.orders && chance(30)) draw_order();
        if (!limits_.split_views) l_.join_blocks_of_views(l_);
        l_.in_place = !chance(15);
        sublet::effort const all[] = {sublet::effort::fast, sublet::effort::balanced,
                                      sublet::effort::thorough, sublet::effort{pick_.below(300)}};
        if (chance(25)) l_.effort = all[pick_.below(4)];
        return l_;
    }

    /// Pools, and values that are given.
    void begin()
    {
        draw_pools();
        for (std::uint32_t i = pick_.below(4); i != 0; --i) draw_given();
    }
    random_listing& words() { return l_; }
    bytes_there& there() { return there_; }
    number add_value(random_listing::described const& d, bool is_written)
    {
        l_.values.push_back(d);
        auto const v = static_cast<number>(l_.values.size() - 1);
        there_.written.emplace_back(bytes_there::room(l_, v), is_written);
        there_.is_there.push_back(is_written);
        return v;
    }
    void draw_step();

private:
    bool chance(std::uint32_t percent) { return pick_.below(100) < percent; }
    number any(std::vector<number> const& of) { return pick_.one_of(of); }

    void draw_pools()
    {
        std::uint32_t const count = chance(30) ? 1 + pick_.below(3) : 1;
        pools_ = count;
        bool const are_listed = chance(40); // all, or none
        for (std::uint32_t i = 0; i != count && are_listed; ++i) {
            random_listing::limits p;
            if (chance(20)) p.capacity = 16 + pick_.below(120);
            if (chance(20)) p.alignment = std::uint64_t{1} << pick_.below(5);
            if (chance(25)) p.largest_block = 16 + pick_.below(64);
            l_.pools.push_back(p);
        }
    }
    number value(sublet::byte_count bytes, sublet::value_role role)
    {
        random_listing::described d{.bytes = bytes, .role = role};
        if (chance(20)) d.alignment = std::uint64_t{1} << pick_.below(6);
        if (limits_.any_alignment && chance(10)) d.alignment = 1 + pick_.below(7);
        d.pool = pick_.below(pools_);
        return add_value(d, sublet::detail::is_given(role));
    }
    sublet::byte_count some_bytes()
    {
        sublet::byte_count const sizes[] = {8, 8, 8, 16, 16, 24, 5, 1 + pick_.below(40)};
        if (chance(4)) return 0;
        if (chance(2)) return sublet::no_size;
        return sizes[pick_.below(8)];
    }
    void draw_given()
    {
        using sublet::value_role;
        value_role const roles[] = {value_role::input,
                                    value_role::input,
                                    value_role::input | value_role::output,
                                    value_role::external,
                                    value_role::state,
                                    value_role::external | value_role::output,
                                    value_role::state | value_role::input,
                                    value_role::state | value_role::output};
        static_cast<void>(value(some_bytes(), roles[pick_.below(8)]));
    }
    std::vector<number> readable() const
    {
        std::vector<number> all;
        for (number v = 0; v != l_.values.size(); ++v)
            if (there_.is_there[v] && there_.all_written(l_, v)) all.push_back(v);
        return all;
    }
    std::vector<number> made_or_given() const
    {
        std::vector<number> all;
        for (number v = 0; v != l_.values.size(); ++v)
            if (there_.is_there[v]) all.push_back(v);
        return all;
    }
    number view_of(number of, bool to_fill)
    {
        auto const whole = l_.values[l_.root(of)].bytes;
        sublet::byte_count const all = whole == sublet::no_size ? 40 : whole;
        sublet::byte_count const own = l_.values[of].bytes == sublet::no_size ? 40 : l_.values[of].bytes;
        sublet::byte_count const most = chance(15) ? all - l_.begin(of) : std::min(own, all - l_.begin(of));
        sublet::byte_count offset = pick_.below(static_cast<std::uint32_t>(most + 1));
        if (chance(40)) offset = 0;
        if (to_fill) // where nothing is written yet
            for (offset = 0; offset < most && there_.written[l_.root(of)][offset]; ++offset) {}
        sublet::byte_count const left = most - offset;
        sublet::byte_count bytes = left == 0 ? 0 : 1 + pick_.below(static_cast<std::uint32_t>(left));
        if (to_fill && chance(50)) bytes = left;
        if (chance(5)) bytes = 0;
        number const v =
            value(bytes, chance(8) ? sublet::value_role::output : sublet::value_role::intermediate);
        auto& d = l_.values[v];
        d.of = of;
        d.offset = offset;
        if (!limits_.view_facts || l_.begin(v) % d.alignment != 0) d.alignment = 1;
        d.pool = limits_.view_facts && chance(20) ? l_.values[l_.root(v)].pool : sublet::pool_id{0};
        there_.written[v].clear();
        there_.is_there[v] = false;
        if (d.role == sublet::value_role::output && chance(80)) d.role = sublet::value_role::intermediate;
        return v;
    }
    void draw_by_ids()
    {
        for (number v = 0; v != l_.values.size(); ++v) {
            auto& d = l_.values[v];
            if (d.of != random_listing::none) continue;
            if (chance(4)) d.is_eligible = false;
            if (chance(5)) d.pinned = 16 * pick_.below(5);
            if (limits_.choices && chance(8))
                for (std::uint32_t i = 1 + pick_.below(2); i != 0; --i)
                    d.choices.push_back(
                        {pick_.below(l_.pools.empty() ? 3 : static_cast<std::uint32_t>(l_.pools.size())),
                         pick_.below(4)});
            std::sort(d.choices.begin(), d.choices.end());
            d.choices.erase(std::unique(d.choices.begin(), d.choices.end(),
                                        [](auto a, auto b) { return a.first == b.first; }),
                            d.choices.end());
        }
    }
    void draw_order();

    random_source& pick_;
    listing_limits const& limits_;
    random_listing l_;
    bytes_there there_;
    std::vector<number> open_; // values that are made piece by piece
    std::uint32_t pools_ = 1;
};

inline void listing_generator::draw_step()
{
    random_listing::step s;
    std::vector<number> touched, made, written;
    std::vector<number> const can_read = readable(), can_view = made_or_given();
    for (std::uint32_t i = can_read.empty() ? 0 : pick_.below(4); i != 0; --i) {
        number const v = any(can_read);
        touched.push_back(v);
        s.push_back({chance(20) ? verb::read_early : verb::read, v, 0});
    }
    if (!can_read.empty() && chance(30)) {
        number const v = any(can_read);
        if (limits_.empty_writes || l_.values[v].bytes != 0) {
            s.push_back({verb::write, v, 0});
            written.push_back(v);
        }
    }
    if (!can_view.empty() && chance(40)) {
        number const v = view_of(any(can_view), false);
        s.push_back({verb::view, v, 0});
        made.push_back(v);
        if (chance(40) && (limits_.empty_writes || l_.values[v].bytes != 0)) {
            s.push_back({verb::write, v, 0});
            written.push_back(v);
        }
        if (limits_.own_views && chance(30) && there_.all_written(l_, v))
            s.push_back({chance(20) ? verb::read_early : verb::read, v, 0});
    }
    if (limits_.allocates && chance(5)) {
        number const r = value(4 + pick_.below(24), sublet::value_role::intermediate);
        s.push_back({verb::allocate, r, 0});
        made.push_back(r);
        open_.push_back(r);
    }
    if (chance(open_.empty() ? 8 : 50)) { // a value that is made piece by piece
        if (open_.empty() || chance(20)) {
            number const r = value(4 + pick_.below(24), sublet::value_role::intermediate);
            open_.push_back(r);
        }
        number const r = any(open_), v = view_of(r, true);
        if (!limits_.pieces) std::erase(open_, r);
        if (limits_.empty_writes || l_.values[v].bytes != 0) {
            s.push_back({verb::view, v, 0});
            s.push_back({verb::write, v, 0});
            made.push_back(v);
            written.push_back(v);
        }
    }
    for (std::uint32_t i = chance(70) ? 1 + pick_.below(2) : 0; i != 0; --i) {
        if (limits_.rewrites && chance(15) && !can_view.empty()) {
            number const v = any(can_view);
            verb const again = l_.values[v].of == random_listing::none ? verb::make : verb::view;
            bool const is_new = std::none_of(s.begin(), s.end(), [&](auto w) {
                return w.value == v && (w.what == verb::write || w.what == again);
            });
            if (!is_new) continue;
            s.push_back({again, v, 0});
            made.push_back(v);
            if (again == verb::make) written.push_back(v);
            continue;
        }
        number const v =
            value(some_bytes(), chance(15) ? sublet::value_role::output : sublet::value_role::intermediate);
        s.push_back({verb::make, v, 0});
        made.push_back(v);
        written.push_back(v);
        for (number in : touched) {
            if (chance(50)) continue;
            s.push_back({verb::may_overwrite, in, v});
            if (chance(60)) l_.values[v].bytes = l_.values[in].bytes;
            if (chance(70)) l_.values[v].pool = l_.values[l_.root(in)].pool;
            there_.written[v].assign(bytes_there::room(l_, v), false);
        }
    }
    if (limits_.waits && !l_.steps.empty() && chance(12))
        s.push_back({verb::wait_for, pick_.below(static_cast<std::uint32_t>(l_.steps.size())), 0});
    std::erase_if(
        s, [&, words = s](random_listing::word read) { // what the step makes anew is not read before
            auto has = [&words](verb what, number v) {
                return std::count(words.begin(), words.end(), random_listing::word{what, v, 0}) != 0;
            };
            return read.what <= verb::read_early && has(verb::view, read.value) &&
                   has(verb::make, l_.root(read.value));
        });
    if (l_.forgets_a_write(s) || chance(3)) s.push_back({verb::only_views, 0, 0});
    if (chance(20)) // words of a step may be said in any order
        pick_.shuffle(s);
    l_.steps.push_back(s);
    for (number v : made) there_.is_there[v] = true;
    for (number v : written) there_.write(l_, v);
}

/// Which step has to come before which, transitively, pair by pair: what makes a value comes before what
/// names it, accesses of the same bytes keep their order if one writes, and a step may wait for another.
inline std::vector<std::vector<bool>> order_of_words(random_listing const& l)
{
    using verb = random_listing::verb;
    std::size_t const n = l.steps.size();
    std::vector<std::vector<bool>> before(n, std::vector<bool>(n));
    auto is_value = [](verb w) { return w <= verb::write; };
    auto accesses = [](verb w) { return w != verb::view && w <= verb::write; };
    auto makes = [](verb w) { return w == verb::make || w == verb::allocate; };
    auto writes = [=](verb w) { return makes(w) || w == verb::write; };
    auto defines = [=](verb w) { return makes(w) || w == verb::view; };
    for (std::size_t j = 0; j != n; ++j)
        for (auto u : l.steps[j]) {
            if (u.what == verb::wait_for) before[u.value][j] = true;
            if (!is_value(u.what)) continue;
            for (std::size_t i = 0; i != j; ++i)
                for (auto t : l.steps[i]) {
                    if (!is_value(t.what) || l.root(t.value) != l.root(u.value)) continue;
                    bool const is_named = defines(t.what) && t.value == u.value;
                    bool const is_base =
                        makes(t.what) && u.what == verb::view; // a view of a view needs the root
                    bool const is_ordered = accesses(t.what) && accesses(u.what) &&
                                            (writes(t.what) || writes(u.what)) && l.overlap(t.value, u.value);
                    if (is_named || is_base || is_ordered) before[i][j] = true;
                }
        }
    make_transitive(before);
    return before;
}

/// A random order that keeps `before` and the hand-offs; empty if these contradict each other.
inline std::vector<sublet::node_id> draw_order_of(std::vector<std::vector<bool>> const& before,
                                                  std::vector<sublet::handoff> const& handoffs,
                                                  random_source& pick)
{
    std::vector<sublet::node_id> order;
    std::vector<bool> has_run(before.size());
    while (order.size() != before.size()) {
        std::vector<sublet::node_id> ready;
        for (sublet::node_id s = 0; s != before.size(); ++s) {
            bool is_ready = !has_run[s];
            for (std::size_t i = 0; i != before.size(); ++i)
                is_ready = is_ready && (has_run[i] || !before[i][s]);
            for (sublet::handoff h : handoffs) is_ready = is_ready && (h.to != +s || has_run[h.from]);
            if (is_ready) ready.push_back(s);
        }
        if (ready.empty()) return {};
        order.push_back(pick.one_of(ready));
        has_run[order.back()] = true;
    }
    return order;
}

inline void listing_generator::draw_order()
{
    random_listing plain = l_;
    for (auto& d : plain.values) // accesses of no bytes keep their order, too
        if (d.bytes == 0) d.bytes = 1;
    l_.order = draw_order_of(order_of_words(plain), {}, pick_);
}

inline random_listing draw_listing(random_source& pick, listing_limits const& limits)
{
    return listing_generator(pick, limits).draw();
}

// --- making a listing smaller ----------------------------------------------------------------------------

/// Removes words, steps and facts as long as `fails` holds.
template <class Listing, class EachPart, class Fails>
Listing smallest_that(Listing l, EachPart each_part, Fails fails)
{
    for (int again = 0; again != 4; ++again) {
        Listing const before = l;
        each_part(before, [&](auto change) {
            Listing other = l;
            if (!change(other) || other == l || !fails(std::as_const(other))) return false;
            l = other;
            return true;
        });
        if (l == before) break;
    }
    return l;
}

/// Every way to say less; `try_it(change)` returns whether the change was kept.
template <class TryIt>
void each_smaller_part(random_listing const& of, TryIt try_it)
{
    using number = random_listing::number;
    for (number s = static_cast<number>(of.steps.size()); s-- != 0;) {
        bool const is_gone = try_it([s](random_listing& l) {
            if (s >= l.steps.size()) return false;
            l.steps.erase(l.steps.begin() + s);
            for (auto& step : l.steps) {
                std::erase_if(step, [s](random_listing::word w) {
                    return w.what == random_listing::verb::wait_for && w.value == s;
                });
                for (auto& w : step)
                    if (w.what == random_listing::verb::wait_for && w.value > s) --w.value;
            }
            for (number& b : l.block_begin)
                if (b > s) --b;
            if (l.block_begin.empty() && !l.order.empty()) {
                std::erase(l.order, s);
                for (auto& n : l.order)
                    if (n > s) --n;
            }
            return true;
        });
        if (is_gone) continue;
        for (number i = static_cast<number>(of.steps[s].size()); i-- != 0;)
            try_it([s, i](random_listing& l) {
                if (s >= l.steps.size() || i >= l.steps[s].size()) return false;
                l.steps[s].erase(l.steps[s].begin() + i);
                return true;
            });
    }
    for (number e = static_cast<number>(of.edges.size()); e-- != 0;)
        try_it([e](random_listing& l) {
            if (e >= l.edges.size()) return false;
            l.edges.erase(l.edges.begin() + e);
            return true;
        });
    for (number v = 0; v != of.values.size(); ++v) {
        auto change = [&](auto edit) {
            try_it([v, edit](random_listing& l) {
                if (v >= l.values.size()) return false;
                edit(l.values[v]);
                return true;
            });
        };
        change([](auto& d) { d.alignment = 1; });
        change([](auto& d) { d.role = sublet::value_role::intermediate; });
        change([](auto& d) { d.pool = 0; });
        change([](auto& d) { d.is_said_late = false; });
        change([](auto& d) { d.pinned = sublet::no_offset; });
        change([](auto& d) { d.is_eligible = true; });
        change([](auto& d) { d.choices.clear(); });
        change([](auto& d) { d.offset = 0; });
        if (of.values[v].bytes != sublet::no_size) {
            change([](auto& d) { d.bytes = std::min<sublet::byte_count>(d.bytes, 8); });
            change([](auto& d) { d.bytes = std::min<sublet::byte_count>(d.bytes, 1); });
        }
    }
    try_it([](random_listing& l) { return l.order.clear(), true; });
    try_it([](random_listing& l) { return l.pools.clear(), true; });
    for (auto const limit : {&sublet::pool_limits::capacity, &sublet::pool_limits::largest_block})
        for (std::size_t i = 0; i != of.pools.size(); ++i)
            try_it([i, limit](random_listing& l) {
                if (i >= l.pools.size()) return false;
                l.pools[i].*limit = sublet::no_limit;
                return true;
            });
    for (std::size_t i = 0; i != of.pools.size(); ++i)
        try_it([i](random_listing& l) {
            if (i >= l.pools.size()) return false;
            l.pools[i].alignment = 1;
            return true;
        });
    try_it([](random_listing& l) { return l.in_place = true; });
    try_it([](random_listing& l) { return l.effort = sublet::effort::balanced, true; });
}

#endif
