# Who is slow against its own kind.

# The table of plumb bench, by the names of its columns: "case<tab>median in us".
medians() {
  awk -F '   *' '
    /(^|  )median us(  |$)/ { column = 0; for (n = 1; n <= NF; ++n) if ($n == "median us") column = n; next }
    /^on / && column && $column + 0 > 0 { printf "%s\t%s\n", $1, $column }' "$1"
}

# Of "host uuid serial model case median" lines: "host<tab>uuid<tab>serial<tab>model<tab>isolate<tab>why" of each card that is slower
# than its model's median by more than $slow percent, taking the median over its cases.
slow_ones() {
  sort -t "$tab" -k4,4 -k5,5 -k6,6g "$1" | awk -F "$tab" -v OFS="$tab" '
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
