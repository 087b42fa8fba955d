// SPDX-License-Identifier: BSL-1.0
// A listing and a recording of which a call failed: they are as before, and the call can be repeated.
#include "failing_calls.hpp"

#include <sublet/execution/recorder.hpp>
#include <sublet/listing.hpp>
#include <sublet/plan_flow.hpp>
#include <sublet/plan_memory.hpp>

#include <doctest/doctest.h>

#include <compare>
#include <cstdint>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#if !defined(HEAP_IS_NOT_COUNTED)

/// A handle of which every copy, hash and comparison may throw.
template <bool is_hashed>
struct fragile_handle {
    static inline std::size_t room = ~std::size_t{0};
    static void use()
    {
        if (room == 0) throw refusal{0};
        if (room != ~std::size_t{0}) --room;
    }

    int id = 0;
    fragile_handle(int number) : id(number) {}
    fragile_handle(fragile_handle const& other) : id(other.id) { use(); }
    fragile_handle& operator=(fragile_handle const& other)
    {
        use();
        id = other.id;
        return *this;
    }
    friend bool operator==(fragile_handle const& a, fragile_handle const& b) { return use(), a.id == b.id; }
    friend auto operator<=>(fragile_handle const& a, fragile_handle const& b) { return use(), a.id <=> b.id; }
};

template <>
struct std::hash<fragile_handle<true>> {
    std::size_t operator()(fragile_handle<true> const& h) const
    {
        fragile_handle<true>::use();
        return static_cast<std::size_t>(h.id) * 977;
    }
};

namespace this_test {

using namespace sublet;

/// A listing while it is made.
template <class Handle>
struct unfinished {
    listing<Handle> list;
    std::optional<typename listing<Handle>::step_ref> first, last;
    std::optional<typename listing<Handle>::block_ref> entry, block;

    auto& step(std::string const& label)
    {
        last = list.step(label);
        if (!first) first = last;
        return *last;
    }
};

template <class Handle>
using listing_calls = std::vector<std::function<void(unfinished<Handle>&)>>;

/// Labels longer than a short string, of some steps only.
static std::string label_of(int i)
{
    return i % 3 == 0 ? std::string() : "the label of a step, which is allocated: " + std::to_string(i);
}

/// Each step reads after it makes, so its definition is moved to its end.
template <class Handle>
static listing_calls<Handle> steps_of_listing(Handle (*handle)(int))
{
    using list = unfinished<Handle>;
    listing_calls<Handle> calls;
    calls.push_back(
        [=](list& l) { l.list.facts(handle(0), {.bytes = 64, .role = value_role::input, .name = "input"}); });
    for (int i = 0; i != 5; ++i) {
        calls.push_back([=, label = label_of(i)](list& l) { l.step(label); });
        calls.push_back([=](list& l) {
            l.last->make(handle(2 * i + 1), {.bytes = 64, .alignment = 16, .pool = 1, .name = "a name"});
        });
        calls.push_back([=](list& l) { l.last->read(handle(2 * i)); });
        calls.push_back([=](list& l) { l.last->view(handle(2 * i + 2), handle(2 * i + 1), 16); });
        calls.push_back([=](list& l) { l.last->write(handle(2 * i + 2)); });
        calls.push_back([=](list& l) { l.last->may_overwrite(handle(2 * i), handle(2 * i + 1)); });
        calls.push_back([](list& l) { l.last->may_recompute(); });
        calls.push_back([=](list& l) { l.last->wait_for(*l.first); });
        if (i > 1) calls.push_back([label = label_of(1)](list& l) { l.last->wait_for(label); });
    }
    calls.erase(calls.begin() + 8); // the first step does not wait for itself
    return calls;
}

template <class Handle>
static listing_calls<Handle> blocks_of_listing(Handle (*handle)(int))
{
    using list = unfinished<Handle>;
    listing_calls<Handle> calls;
    calls.push_back([=, label = label_of(1)](list& l) { l.entry = l.list.block(label); });
    calls.push_back([](list& l) { l.step(""); });
    calls.push_back([=](list& l) { l.last->make(handle(0), {.bytes = 8}); });
    for (int i = 2; i != 6; ++i) {
        calls.push_back([=, label = label_of(i)](list& l) { l.block = l.list.block(label); });
        calls.push_back([](list& l) { l.list.edge(*l.entry, *l.block); });
    }
    calls.push_back([](list& l) { l.step(""); });
    calls.push_back([=](list& l) { l.last->read_at_end_of(*l.entry, handle(0)); });
    return calls;
}

template <class Handle>
static std::string touches_of(unfinished<Handle> const& made)
{
    std::ostringstream out;
    snapshot const p = made.list.program();
    auto const name = made.list.step_names();
    for (node_id n = 0; n != p.nodes(); ++n) {
        for (step_id s = p.steps_of(n).first; s != p.steps_of(n).last; ++s) {
            out << n << ' ' << s << ' ';
            for (char c : name(s)) out << c;
            for (touch t : p.touches(s)) out << ' ' << t.value << ':' << static_cast<int>(t.kind);
            for (overwrite o : p.overwrites(s)) out << " over " << o.in << ' ' << o.out;
        }
        for (node_id to : p.successors(n)) out << " to " << to;
        for (edge_use u : p.edge_uses(n)) out << " at end of " << u.pred << ' ' << u.value;
        out << '\n';
    }
    return out.str();
}

template <class Handle>
static std::string plan_of(unfinished<Handle> const& made)
{
    std::ostringstream out;
    auto const planned = made.entry ? plan_flow(made.list).plan : plan_memory(made.list).plan;
    for (value_id v = 0; v != made.list.values(); ++v) {
        for (char c : made.list.names()(v)) out << c;
        out << ' ' << planned.offset_of(v) << '\n';
    }
    return touches_of(made) + out.str();
}

template <class Handle>
static void fail_calls_of_listing(Handle (*handle)(int), void (*trip)(std::size_t))
{
    for (auto const& calls : {steps_of_listing(handle), blocks_of_listing(handle)})
        CHECK(repeat_each_failed_call<unfinished<Handle>>(calls, &touches_of<Handle>, &plan_of<Handle>,
                                                          trip) > 2);
}

TEST_CASE("a call of a listing that runs out of memory adds nothing, and can be repeated")
{
    fail_calls_of_listing<int>([](int i) { return 1000 * i; }, allow_allocations);
    fail_calls_of_listing<std::string>(
        [](int i) { return "a handle that is allocated: " + std::to_string(i); }, allow_allocations);
    fail_calls_of_listing<std::vector<int>>([](int i) { return std::vector{i}; }, allow_allocations);
}

TEST_CASE("a handle that throws when it is copied, hashed or compared leaves a listing usable")
{
    fail_calls_of_listing<fragile_handle<true>>([](int i) { return fragile_handle<true>(i); },
                                                [](std::size_t room) { fragile_handle<true>::room = room; });
    fail_calls_of_listing<fragile_handle<false>>(
        [](int i) { return fragile_handle<false>(i); },
        [](std::size_t room) { fragile_handle<false>::room = room; });
}

TEST_CASE("a step is still open after the next one could not begin")
{
    for (std::size_t room = 0;; ++room) {
        listing<int> list;
        auto step = list.step("first");
        step.make(1, {.bytes = 8});
        bool has_failed = false;
        allow_allocations(room);
        try {
            static_cast<void>(list.step("the label of a step, which is allocated"));
        } catch (std::bad_alloc const&) {
            has_failed = true;
        }
        allow_allocations(~std::size_t{0});
        if (!has_failed) break;
        step.read(2); // its definition comes after it, as always
        CHECK(list.program().touches(0)[0].value == list.id(2));
        CHECK(list.program().touches(0)[1].value == list.id(1));
    }
}

static std::string recorded(recorder const& made)
{
    std::ostringstream out;
    plan_options const all = made.options();
    for (value_id v = 0; v != made.values(); ++v)
        out << all.bytes[v] << ' ' << all.alignment[v] << ' ' << static_cast<int>(all.role[v]) << ' '
            << all.pool[v] << ' ' << made.updated()[v] << '\n';
    snapshot const p = made;
    for (step_id s = 0; s != p.steps(); ++s) {
        for (touch t : p.touches(s)) out << t.value << ':' << static_cast<int>(t.kind) << ' ';
        for (overwrite o : p.overwrites(s)) out << " over " << o.in << ' ' << o.out;
        for (node_id to : p.successors(+s)) out << " to " << to;
        out << '\n';
    }
    return out.str();
}

/// Larger than a small object, and every copy and call uses a fragile handle.
struct fragile_function {
    fragile_handle<true> handle = 0;
    std::string text = "a string that is allocated, and copied with the function";
    template <class Call>
    void operator()(Call const&) const
    {
    }
};

TEST_CASE("a call of a recorder that fails changes nothing, and can be repeated")
{
    std::vector<std::function<void(recorder&)>> calls;
    for (std::uint32_t i = 0; i != 5; ++i) {
        calls.push_back([=](recorder& r) { (void)r.input<float>(10 + i, {.alignment = 8, .pool = i}); });
        calls.push_back([=](recorder& r) { (void)r.state<char>(20 + i, {.alignment = 3}); });
        calls.push_back(
            [=](recorder& r) { (void)r.record({3 * i, 3 * i + 1}, {3 * i + 1}, fragile_function{}); });
        calls.push_back([=](recorder& r) { (void)r.output<double>(30 + i, {.pool = 9}); });
        calls.push_back([=](recorder& r) { (void)r.record({3 * i + 1}, {3 * i + 2}, fragile_function{}); });
        calls.push_back([=](recorder& r) { r.may_overwrite(2 * i + 1, 3 * i + 1, 3 * i + 2); });
        calls.push_back([=](recorder& r) { r.may_recompute(2 * i + 1); });
        calls.push_back([=](recorder& r) { r.after(0, 2 * i + 1); });
    }
    CHECK(repeat_each_failed_call<recorder>(calls, recorded, recorded, allow_allocations) >= 20);
    CHECK(repeat_each_failed_call<recorder>(
              calls, recorded, recorded, [](std::size_t room) { fragile_handle<true>::room = room; }) >= 20);
}

} // namespace this_test

#endif
