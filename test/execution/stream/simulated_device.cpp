// SPDX-License-Identifier: BSL-1.0
#include <sublet/testing/simulated_device.hpp>

#include <sublet/execution/run_options.hpp>

#include "../../lender.hpp"
#include "../../stream_conformance.hpp"

#include <doctest/doctest.h>

#include <stdexcept>
#include <string>
#include <vector>

namespace this_test {

using namespace sublet;
using namespace sublet::detail;

namespace {

constexpr simulated_options::order_kind every_order[] = {
    simulated_options::order_kind::eager,  simulated_options::order_kind::in_turn,
    simulated_options::order_kind::random, simulated_options::order_kind::latest_first,
    simulated_options::order_kind::favour, simulated_options::order_kind::starve};

/// A step that leaves its number where the test looks.
struct numbered {
    step_id step = 0;
    std::vector<step_id>* ran = nullptr;
};
void run_numbered(numbered const& call) { call.ran->push_back(call.step); }

} // namespace

static_assert(launches<simulated_device, void (*)(numbered const&), numbered>);

TEST_CASE("a simulated device does what every device has to, in every order")
{
    for (simulated_options::order_kind order : every_order)
        for (std::uint32_t which : {0u, 1u, 2u}) {
            CAPTURE(static_cast<int>(order));
            CAPTURE(which);
            simulated_device device({.order = order, .seed = which, .which = which});
            conformance::holds_for(device, 96);
            CHECK(device.live_streams() == 0);
            CHECK(device.live_events() == 0);
            CHECK(device.memory().used == 0);
            CHECK(device.memory().reused > 0);
        }
}

TEST_CASE("bytes are painted when they are taken and given back, when the stream comes to it")
{
    simulated_device device;
    auto const s = device.make_stream();
    std::byte* const p = device.allocate(4, 4, s);
    conformance::bytes fresh(4), old(4);
    device.copy_from_device(fresh, p, s);
    device.fill(p, std::byte{1}, 4, s);
    device.copy_from_device(old, p, s);
    device.deallocate(p, 4, 4, s);
    device.synchronize();
    CHECK(conformance::is_all(fresh, 0xFF));
    CHECK(conformance::is_all(old, 1));
    CHECK(conformance::is_all({p, 4}, 0xFF)); // the pool has them still
}

TEST_CASE("a kernel that throws ends what is queued, and is told of once, with its step")
{
    for (simulated_options::order_kind order : every_order) {
        CAPTURE(static_cast<int>(order));
        simulated_device device({.order = order});
        auto const a = device.make_stream(), b = device.make_stream();
        auto const e = device.make_event();
        std::vector<step_id> ran;
        auto throwing = [](numbered const& call) {
            if (call.step == 1) throw std::runtime_error("no");
            run_numbered(call);
        };
        device.launch(a, throwing, numbered{0, &ran});
        device.launch(a, throwing, numbered{1, &ran});
        device.record(e, a);
        device.wait(b, e);
        device.launch(b, throwing, numbered{2, &ran});
        std::byte* const p = device.allocate(8, 8, b);
        device.deallocate(p, 8, 8, b);
        try {
            device.synchronize(b);
            FAIL_CHECK("it was not told");
        } catch (run_error const& error) {
            CHECK(error.step() == 1);
            CHECK(std::string(error.what()) == "sublet: at step 1, a kernel threw: no");
        }
        CHECK(ran == std::vector<step_id>{0});
        CHECK(!device.is_lost());
        device.synchronize();
        device.launch(b, throwing, numbered{3, &ran});
        device.synchronize(b);
        CHECK(ran == std::vector<step_id>{0, 3});
    }
}

TEST_CASE("a kernel that is no variable is kept, with its call, until the stream comes to it")
{
    simulated_device device;
    auto const s = device.make_stream();
    std::vector<step_id> ran;
    {
        numbered const call{7, &ran};
        std::vector<step_id> const own{1, 2, 3};
        device.launch(
            s, [own](numbered const& its) { its.ran->push_back(own[2]); }, call);
    }
    device.synchronize();
    CHECK(ran == std::vector<step_id>{3});
}

TEST_CASE("each call that can fail does when it is told to, once; a lost device fails ever after")
{
    lender source;
    conformance::bytes bytes(8); // outlive what is queued when a call throws
    std::uint64_t sum = 0;
    auto use = [&](simulated_device& device, std::vector<step_id>& ran) {
        auto const s = device.make_stream();
        auto const e = device.make_event();
        std::byte* const p = device.allocate(8, 8, s);
        device.fill(p, std::byte{0}, 8, s);
        device.copy_to_device(p, bytes, s);
        device.copy_from_device(bytes, p, s);
        device.digest(s, {p, 8}, &sum);
        device.launch(s, run_numbered, numbered{0, &ran});
        device.record(e, s);
        device.wait(s, e);
        device.synchronize(s);
        device.synchronize();
        CHECK(sum == digest(bytes));
        device.deallocate(p, 8, 8, s);
        device.destroy_event(e);
        device.destroy_stream(s);
    };
    std::vector<step_id> ran;
    std::uint64_t calls = 0;
    {
        simulated_device device({.upstream = &source});
        use(device, ran);
        calls = device.calls();
        CHECK(calls == 12);
    }
    for (std::uint64_t k = 0; k != calls; ++k) {
        CAPTURE(k);
        for (bool is_loss : {false, true}) {
            simulated_device device({.upstream = &source});
            if (is_loss) device.lose_after(k);
            else device.fail_after(k);
            if (is_loss) CHECK_THROWS_AS(use(device, ran), simulated_device::lost);
            else CHECK_THROWS_AS(use(device, ran), simulated_device::failure);
            CHECK(device.calls() == k + 1);
            CHECK(device.is_lost() == is_loss);
            if (is_loss) {
                CHECK_THROWS_AS(device.synchronize(), simulated_device::lost);
                CHECK_THROWS_AS((void)device.make_stream(), simulated_device::lost);
                device.destroy_stream({0});
                device.deallocate(nullptr, 8, 8, {0});
            } else {
                device.synchronize();
                use(device, ran);
            }
        }
        CHECK(source.lent.empty());
    }
}

TEST_CASE("a device goes with work queued, which is not done")
{
    lender source;
    std::vector<step_id> ran;
    conformance::bytes back(8);
    {
        simulated_device device({.upstream = &source});
        auto const s = device.make_stream();
        std::byte* const p = device.allocate(8, 8, s);
        device.launch(s, run_numbered, numbered{0, &ran});
        device.copy_from_device(back, p, s);
        device.destroy_stream(s);
        CHECK_THROWS_AS(device.fill(p, std::byte{0}, 8, s), precondition_error);
        CHECK_THROWS_AS(device.wait(s, {}), precondition_error);
    }
    CHECK(ran.empty());
    CHECK(source.lent.empty());
    simulated_device device;
    auto const s = device.make_stream();
    device.launch(s, run_numbered, numbered{1, &ran});
    device.destroy_stream(s);
    device.synchronize(); // what was queued in a stream that is destroyed is done
    CHECK(ran == std::vector<step_id>{1});
}

} // namespace this_test
