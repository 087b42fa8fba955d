// SPDX-License-Identifier: BSL-1.0
// A frame graph, as in game engines: passes on several queues read and write transient textures, some of them
// repeatedly, in two kinds of memory: pools. Prints where textures alias if queues never wait for memory,
// then where they alias with barriers, which barriers that takes, and which texture takes over the memory of
// which.

#include <sublet/sublet.hpp>

#include <cstddef>
#include <iomanip>
#include <iostream>
#include <string>
#include <vector>

enum heap : unsigned { targets, others }; // pools

struct texture {
    std::string name;
    heap kind;
    unsigned width, height, bytes_per_texel;
    unsigned bytes() const { return width * height * bytes_per_texel; }
};

struct pass {
    std::string name;
    std::vector<unsigned> reads, writes; // textures
};

int main()
{
    enum : unsigned { window, depth, shadows, albedo, normals, occlusion, soft, lit, glow, wide, toned, hud };
    std::vector<texture> const textures = {
        {"window", targets, 640, 360, 4},  {"depth", targets, 640, 360, 4},
        {"shadows", targets, 768, 768, 4}, {"albedo", targets, 640, 360, 4},
        {"normals", targets, 640, 360, 8}, {"occlusion", others, 320, 180, 4},
        {"soft", others, 320, 180, 4},     {"lit", targets, 640, 360, 8},
        {"glow", others, 320, 180, 8},     {"wide glow", others, 160, 90, 8},
        {"toned", targets, 640, 360, 4},   {"hud", targets, 640, 360, 4}};
    std::vector<pass> const passes = {{"depth only", {}, {depth}},
                                      {"shadow maps", {}, {shadows}},
                                      {"g-buffer", {depth}, {albedo, normals}},
                                      {"occlusion", {depth, normals}, {occlusion}}, // on the compute queue
                                      {"soften", {occlusion}, {soft}},              // on the compute queue
                                      {"lighting", {depth, shadows, albedo, normals, soft}, {lit}},
                                      {"particles", {depth, lit}, {lit}}, // over its old contents
                                      {"glow", {lit}, {glow}},            // on the compute queue
                                      {"wide glow", {glow}, {wide}},      // on the compute queue
                                      {"tone map", {lit, glow, wide}, {toned}},
                                      {"hud", {}, {hud}},
                                      {"compose", {toned, hud}, {window}}};
    using enum sublet::value_role;
    sublet::plan_options const by_texture{.bytes = [&](auto t) { return textures[t].bytes(); },
                                          .alignment = 65536,
                                          .role = [](auto t) { return t == window ? state : intermediate; },
                                          .pool = [&](auto t) { return textures[t].kind; }};
    auto const listed = sublet::sequence(
        passes.size(), textures.size(), [&](auto p) -> auto& { return passes[p].reads; },
        [&](auto p) -> auto& { return passes[p].writes; });
    // A texture that is written again has two versions, here in the same bytes: lit, by the particles.
    auto const frame = sublet::versions(listed, by_texture, [](auto t) { return t == lit; });
    auto const options = sublet::with_versions(by_texture, frame);
    auto const without_handoffs = sublet::plan_concurrent(frame.program, options);
    auto const with_handoffs = sublet::plan_with_handoffs(frame.program, options);
    std::cout << "no queue waits:  " << without_handoffs.report()
              << "\nbarriers:        " << with_handoffs.report()
              << "\n\n           heap    at  or at  (in pages of 64 KiB)\n";
    for (unsigned t = 0; t != textures.size(); ++t) {
        if (t == window) continue; // external
        std::cout << std::left << std::setw(10) << textures[t].name << std::right << std::setw(5)
                  << textures[t].kind << std::setw(6) << without_handoffs.plan.offset_of(t) / 65536
                  << std::setw(7) << with_handoffs.plan.offset_of(t) / 65536 << '\n';
    }
    std::cout << '\n';
    for (std::size_t i = 0; i != with_handoffs.plan.handoffs.size(); ++i) {
        auto const [from, to] = with_handoffs.plan.handoffs[i];
        std::cout << "barrier: " << passes[to].name << " waits for " << passes[from].name << ", "
                  << with_handoffs.handoff_bytes[i] / 1024 << " KiB are handed off\n";
    }
    std::cout << "the longest chain of passes: " << with_handoffs.critical_path << ", with barriers "
              << with_handoffs.critical_path_with << "\n\n";

    // Where an engine discards contents, or passes fences on: after these passes, and before those.
    sublet::memory_plan const& plan = with_handoffs.plan;
    std::size_t next_frame = 0;
    for (sublet::alias const& a : sublet::aliases(frame.program, plan, options, {.repeats = true})) {
        if (a.next_round) {
            ++next_frame;
            continue;
        }
        std::cout << "KiB " << a.first / 1024 << " to " << a.last / 1024 << " of heap " << a.pool << ": "
                  << textures[plan.buffers[a.before].root].name << ", then "
                  << textures[plan.buffers[a.after].root].name << "; after";
        for (auto pass : a.ends) std::cout << ' ' << passes[pass].name << ',';
        std::cout << " before";
        for (auto pass : a.begins) std::cout << ' ' << passes[pass].name;
        std::cout << '\n';
    }
    std::cout << "and " << next_frame << " more between the end of a frame and the next one\n";
}
