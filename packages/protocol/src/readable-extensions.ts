/** Extensions of files that the page and the command line ingest; over HTTP a text of any name is read. */
export const readableExtensions: readonly string[] = (
  '.pdf .docx .pptx .xlsx .csv .html .htm .eml .odt .ods .odp .rtf .epub .ipynb .md .markdown .mdx .txt .text .log .rst .adoc ' +
  // Texts of other kinds: programs, data, markup, subtitles.
  '.asciidoc .bash .bat .bib .c .cfg .cc .clj .cmake .cmd .conf .cpp .cs .css .cxx .dart .diff .erl .ex .exs .f90 .fs .go .gql ' +
  '.gradle .graphql .groovy .h .hpp .hs .ics .ini .java .jl .js .json .json5 .jsonl .jsx .kt .kts .less .lisp .lua .m .mht ' +
  '.mhtml .mjs .cjs .mkd .ml .ndjson .nim .org .patch .php .pl .pm .po .properties .proto .ps1 .py .pyi .r .rb .rs .sass ' +
  '.scala .scss .sh .sql .srt .sub .svelte .swift .tcl .tex .textile .tf .toml .ts .tsv .tsx .vb .vcf .vtt .vue .wiki .xhtml ' +
  '.xml .yaml .yml .zig .docm .dotx .dotm .pptm .ppsx .potx .xlsm .xltx .ott'
).split(' ')
