// SPDX-License-Identifier: BSL-1.0
// A frame graph, as in game engines: passes on a graphics queue and on one for async compute, textures in two
// heaps, two of which change places in each frame. An effect is switched on, and the frame is planned with the
// plan before: a texture stays where it is if that costs nothing. Then the aliasing barriers of a frame, and
// which pass of one queue waits for which of the other, also if the next frame begins before this one ends.

#include <sublet/execution/queue_waits.hpp>
#include <sublet/sublet.hpp>

#include <array>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

enum heap : unsigned { targets, storage }; // pools: render targets, and what compute passes write
enum queue : unsigned { graphics, compute };

using textures = sublet::listing<std::string>; // by name; pointers would do as well

struct frame_graph {
    textures list;
    std::vector<std::uint32_t> queue_of; // of each pass
};

frame_graph make_frame(bool with_occlusion)
{
    frame_graph frame;
    textures& list = frame.list;
    list.pools = {{.alignment = 65536}, {.alignment = 65536}};
    std::array<textures::step_ref, 2> last; // pass on each queue
    auto pass = [&](char const* name, queue on) {
        auto step = list.step(name);
        if (last[on]) step.wait_for(last[on]); // a queue runs its passes in order
        frame.queue_of.push_back(on);
        return last[on] = step;
    };
    auto in = [](heap kind, unsigned width, unsigned height, unsigned bytes_per_texel) {
        return textures::value_facts{.bytes = width * height * bytes_per_texel, .pool = kind};
    };

    // What is the renderer's is not planned. The smooth picture of this frame is the history of the next one.
    for (auto kept : {"positions", "window"}) list.facts(kept, {.role = sublet::value_role::state});
    list.facts("history", in(targets, 640, 360, 8));
    list.carries("smooth", "history");

    pass("simulate", compute).write("positions").make("sprites", in(storage, 320, 180, 8));
    pass("depth only", graphics).make("depth", in(targets, 640, 360, 4));
    pass("g-buffer", graphics)
        .read("depth")
        .make("albedo", in(targets, 640, 360, 4))
        .make("normals", in(targets, 640, 360, 8))
        .make("motion", in(targets, 640, 360, 4));
    if (with_occlusion) {
        pass("occlusion", compute).read("depth").read("normals").make("occlusion", in(storage, 320, 180, 4));
        pass("soften", compute).read("occlusion").make("soft", in(storage, 320, 180, 4));
    }
    pass("shadow maps", graphics).make("shadows", in(targets, 768, 768, 4));
    auto lighting = pass("lighting", graphics).make("lit", in(targets, 640, 360, 8));
    for (auto t : {"depth", "albedo", "normals", "shadows"}) lighting.read(t);
    if (with_occlusion) lighting.read("soft");
    pass("particles", graphics).read("depth").read("sprites").write("lit"); // over its contents
    pass("glow", compute).read("lit").make("glow", in(storage, 320, 180, 8));
    pass("wide glow", compute).read("glow").make("wide", in(storage, 160, 90, 8));
    pass("antialias", graphics)
        .read("lit")
        .read("motion")
        .read("history")
        .make("smooth", in(targets, 640, 360, 8));
    pass("hud", graphics).make("hud", in(targets, 640, 360, 4));
    pass("tone map", graphics)
        .read("smooth")
        .read("glow")
        .read("wide")
        .make("toned", in(targets, 640, 360, 4));
    pass("compose", graphics).read("toned").read("hud").write("window");
    return frame;
}

int main()
{
    // Right however far one queue is ahead of the other: within a frame no pass waits for memory.
    auto const plain = sublet::plan_concurrent(make_frame(false).list);
    auto next = make_frame(true);
    auto const afresh = sublet::plan_concurrent(next.list);
    next.list.previous = plain;
    auto const planned = sublet::plan_concurrent(next.list);
    std::cout << "frame 0: " << plain << "\nframe 1: " << planned << '\n';
    for (auto const& why : planned.report().moved) std::cout << "         " << why << '\n';

    // Or one plan with the effect, which is proved for frames without it, too: nothing moves then.
    std::cout << "frame 0 in the plan of frame 1: "
              << (sublet::fits(planned, make_frame(false).list) ? "fits" : "does not fit") << '\n';

    std::cout << "\nin pages of 64 KiB:  frame 0, frame 1, and frame 1 without regard to frame 0\n";
    for (auto [texture, heap, offset] : planned) {
        std::cout << std::left << std::setw(10) << texture << (heap == targets ? "target " : "storage")
                  << std::right;
        for (auto const* plan : {&plain, &planned, &afresh})
            if (auto const at = plan->find(texture)) std::cout << std::setw(6) << *at / 65536;
            else std::cout << "     -";
        std::cout << '\n';
    }

    // An engine discards contents, or has an aliasing barrier, after these passes and before those.
    std::cout << '\n' << sublet::aliases(next.list, planned, {.repeats = true}) << '\n';

    // This is for frames of the same passes: where passes change, the frame before has to end first.
    std::cout << '\n'
              << sublet::waits(next.list, planned, {.queue_of = next.queue_of, .repeats = true}) << '\n';
}
