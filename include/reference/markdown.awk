# SPDX-License-Identifier: BSL-1.0
# Prints README.md or examples/README.md as Doxygen reads it: links to examples and between the two lead to pages.
#     awk -f markdown.awk README.md
FNR == 1 && FILENAME ~ /examples\/README.md$/ { $0 = $0 " {#examples_readme}" }
/^```/ { is_code = !is_code }
!is_code {
    while (match($0, /\]\((examples\/)?[0-9][0-9]_[a-z_]+[.]cpp\)/)) {
        name = substr($0, RSTART + 2, RLENGTH - 3)
        sub(/.*\//, "", name)
        $0 = substr($0, 1, RSTART) "(@ref " name ")" substr($0, RSTART + RLENGTH)
    }
    gsub(/\]\(examples\/README[.]md(#[a-z-]*)?\)/, "](@ref examples_readme)")
    gsub(/\[`pack`\]/, "[pack]") # Doxygen knows no code in links
    gsub(/`input \\[|] output`/, "<code>input \\&#124; output</code>") # nor an escape in code
}
{ print }
