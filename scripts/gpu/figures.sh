# Who is slow against its own kind.

# The table of times of plumb bench, by the names of its columns: "case  backend<tab>median in us"; products of two libraries are two things.
medians() {
  awk -F '   *' '
    /^times us .* median(  |$)/ { for (n = 1; n <= NF; ++n) if ($n == "median") column = n; next }
    !/^(on | )/ { column = 0 }
    /^on / { name = $1 "  " $2; next }
    /^  on / { name = name substr($2, 4); next }  # a backend without room beside its line
    column && $column + 0 > 0 { printf "%s\t%s\n", name, $column }' "$1"
}

# Lines of figures: this node's, and with --among those of the others.
figures_of_all() {
  local file
  all_figures=("$work/figures.tsv")
  for file in ${among:+"$among"/*.tsv}; do
    [[ ! -s $file || ${file##*/} == "$host.tsv" ]] || all_figures+=("$file")
  done
}

# What a line of a prolog has to say where too few of a model are known to call one slow.
alone_of_its_kind() {
  cat "${all_figures[@]}" | awk -F "$tab" -v own="$work/cards" '
    !seen[$4, $1, $2]++ { ++known[$4] }
    END {
      while ((getline line <own) > 0) { split(line, field, "\t"); if (known[field[3]] < 3 && !said++) printf "; slow or not is not said: of its model %d are known, 3 at least are asked for (--among)", known[field[3]] }
    }'
}

# Of "host uuid serial model case median" lines: "host<tab>uuid<tab>serial<tab>model<tab>isolate<tab>why" of each card that is slower
# than its model's median by more than $slow percent, taking the median over its cases.
slow_ones() {
  sort -t "$tab" -k4,4 -k5,5 -k6,6g "$@" | awk -F "$tab" -v OFS="$tab" '
    function give(  n, middle) {
      middle = (value[int((count + 1) / 2)] + value[int(count / 2) + 1]) / 2
      if (count >= 3) for (n = 1; n <= count; ++n) print row[n], value[n] / middle, count
      count = 0
    }
    ($4 FS $5) != key { give(); key = $4 FS $5 }
    { ++count; row[count] = $1 FS $2 FS $3 FS $4; value[count] = $6 }
    END { give() }' | sort -t "$tab" -k1,4 -k5,5g | awk -F "$tab" -v OFS="$tab" -v slow="$slow" '
    function give(  middle) {
      middle = (ratio[int((count + 1) / 2)] + ratio[int(count / 2) + 1]) / 2
      if (count && middle > 1 + slow / 100)
        print key, "isolate", sprintf("takes %.2f times the median of %d of its kind, over %d cases", middle, of, count)
      count = 0
    }
    ($1 FS $2 FS $3 FS $4) != key { give(); key = $1 FS $2 FS $3 FS $4 }
    { ratio[++count] = $5; of = $6 }
    END { give() }'
}

# Of what kernels_benchmark says as JSON, in a line: how fast elements are moved beside the device's own copy, by the bytes of a run, and
# what a proof takes beside its product, by the product's size; each with what is wanted where it is less.
kernel_figures() {
  awk -F '"' '
    /"name":/ { split($4, part, "[:/]"); name = part[1]; of = part[3]; label = error = "" }
    /"label":/ { label = $4 }
    /"of_copy":|"of_product":/ { value = $3; gsub(/[:, ]/, "", value); figure = value + 0; kind = $2 }
    /"n":/ { of = $3; gsub(/[:, ]/, "", of); of += 0 }
    /"error_message":/ { error = $4 }
    /^    }/ && name != "" {
      card = label !~ /^this processor/
      if (error != "") { said = said "; " name " of " of ": " error; kind = "" }
      if (kind == "of_copy" && name == "redistribute")
        said = said sprintf("; runs of %s bytes %.2f of a copy%s", of, figure, card && of >= 128 && figure < 0.9 ? " (wanted 0.9)" : "")
      if (kind == "of_product")
        said = said sprintf("; proof of %s cubed %.3f of its product%s (%s)", of, figure, card && of == 16384 && figure >= 0.05 ? " (wanted 0.05)" : "", label)
      if (kind == "of_copy" && name ~ /^prove_moved/) said = said sprintf("; proof of what is moved at %.2f of a copy", figure)
      name = kind = ""
    }
    END { print substr(said, 3) }' "$1"
}
