// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_REPORTING_DETAIL_HTML_PAGE_HPP
#define SUBLET_REPORTING_DETAIL_HTML_PAGE_HPP

/// The elements of the page, the same for all plans; html_script.hpp has its style and its program.
///
///     html_head  title  html_style  html_body  title  html_main  data  html_script
///
/// The policy in the head refuses whatever the page does not hold itself.

namespace sublet::detail {

inline constexpr char const* html_head = R"html(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'">
<title>)html";

inline constexpr char const* html_body = R"html(</style>
</head>
<body>
<header>
<h1>)html";

inline constexpr char const* html_main = R"html(</h1>
<div id="summary" class="summary"></div>
</header>
<noscript><p>This page draws a memory plan, and needs JavaScript for it.</p></noscript>
<main>
<div class="tools" role="search" aria-label="Buffers by name">
<label for="query">Search</label>
<input id="query" type="search" autocomplete="off" spellcheck="false" placeholder="name of a value"
 aria-describedby="hits">
<button type="button" id="previous" aria-label="Previous hit" title="Previous hit (Shift+Enter)"
>&#x2191;</button>
<button type="button" id="next" aria-label="Next hit" title="Next hit (Enter)">&#x2193;</button>
<output id="hits" class="soft" for="query"></output>
<span class="space"></span>
<button type="button" id="closer" aria-label="Zoom in" title="Zoom in (+)">+</button>
<button type="button" id="farther" aria-label="Zoom out" title="Zoom out (-)">&#x2212;</button>
<button type="button" id="whole" title="All positions and bytes (0)">Show all</button>
<button type="button" id="help" aria-expanded="false" aria-controls="keys">Keys</button>
</div>
<p id="keys" class="keys" hidden><kbd>/</kbd> search, <kbd>Enter</kbd> next hit. In the map: <kbd>arrows</kbd>
to the next buffer in time or in memory, <kbd>Shift</kbd>+<kbd>arrows</kbd> move the picture, <kbd>+</kbd>
<kbd>&#x2212;</kbd> zoom, <kbd>Enter</kbd> zoom to the buffer, <kbd>0</kbd> show all, <kbd>o</kbd> the other
plan, <kbd>n</kbd> <kbd>N</kbd> next and previous hit, <kbd>Escape</kbd> no buffer. Wheel: zoom; with
<kbd>Shift</kbd> only bytes, with <kbd>Ctrl</kbd> or in the curve only time. Drag: move.</p>
<fieldset id="kinds" class="kinds" hidden><legend>Kinds, by bytes &#xd7; positions</legend></fieldset>
<div class="frame">
<canvas id="map" tabindex="0" role="application" aria-roledescription="memory map" aria-label="Memory map"
 aria-describedby="keys"></canvas>
<div id="tip" class="tip" hidden></div>
</div>
<section id="details" class="details" aria-label="Buffer"></section>
<p id="spoken" class="spoken" role="status" aria-live="polite"></p>
<div id="tables" class="tables"></div>
</main>
<script type="application/json" id="data">
)html";

} // namespace sublet::detail

#endif
