# SPDX-License-Identifier: BSL-1.0
# Prints README.md or a page of examples/ as Doxygen reads it: links to examples and between them lead to pages. bench/,
# test/, .github/ and what is for a change of the library have no pages.
#     awk -f markdown.awk README.md
FNR == 1 && FILENAME ~ /examples\/README.md$/ { $0 = $0 " {#examples_readme}" }
FNR == 1 && match(FILENAME, /(how_it_works|guide|building)[.]md$/) {
    $0 = $0 " {#" substr(FILENAME, RSTART, RLENGTH - 3) "}"
}
/^```/ { is_code = !is_code }
!is_code {
    while (match($0, /\]\((examples\/)?[0-9][0-9]_[a-z_]+[.]cpp\)/)) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        sub(/.*\//, "", name)
        $0 = substr($0, 1, RSTART) "(@ref " name ")" substr($0, RSTART + RLENGTH)
    }
    gsub(/\]\(examples\/README[.]md(#[a-z-]*)?\)/, "](@ref examples_readme)")
    while (match($0, /\]\((examples\/)?(how_it_works|guide|building)[.]md(#[a-z-]*)?\)/)) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        sub(/^examples\//, "", name)
        sub(/[.]md.*/, "", name)
        $0 = substr($0, 1, RSTART) "(@ref " name ")" substr($0, RSTART + RLENGTH)
    }
    gsub(/\]\([.][.]\/README[.]md\)/, "](@ref index)")
    while (match($0, /\]\(\.\.\/include\/sublet\/[a-z_\/]*[.]hpp\)/)) {
        name = substr($0, RSTART + 20, RLENGTH - 25) # the page of a header
        gsub(/\//, "_", name)
        $0 = substr($0, 1, RSTART) "(@ref header_" name ")" substr($0, RSTART + RLENGTH)
    }
    while (match($0, /\[[A-Za-z\/. ]*\]\((([.][.]\/)?(bench|test|[.]github)\/[A-Za-z.]*|how_a_plan_is_made[.]md)\)/)) {
        text = substr($0, RSTART + 1, RLENGTH)
        sub(/\].*/, "", text)
        $0 = substr($0, 1, RSTART - 1) text substr($0, RSTART + RLENGTH)
    }
    done = "" # Doxygen ends code at an apostrophe
    while (match($0, /`[^`]*`/)) {
        code = substr($0, RSTART, RLENGTH)
        if (code ~ /'/ && code !~ /[<>&]/) code = "<code>" substr(code, 2, RLENGTH - 2) "</code>"
        done = done substr($0, 1, RSTART - 1) code
        $0 = substr($0, RSTART + RLENGTH)
    }
    $0 = done $0
    gsub(/\[`pack`\]/, "[pack]") # Doxygen knows no code in links
    while (match($0, /\[`[0-9a-z_]*`\]/)) $0 = substr($0, 1, RSTART) substr($0, RSTART + 2, RLENGTH - 4) substr($0, RSTART + RLENGTH - 1)
}
{ print }
