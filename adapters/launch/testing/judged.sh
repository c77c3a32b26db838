# judged CODE WORDS ARGUMENTS...: `plumb run` ends with this code and says these words (all of them are in `said`), or the
# test ends.
judged() {
  local code=0 wanted=$1 words=$2
  shift 2
  said=$(plumb run "$@" 2>&1) || code=$?
  if [[ $code != "$wanted" ]] || ! grep -qE -- "$words" <<<"$said"; then
    printf 'plumb run %s\n%s\nexit code %s; wanted were %s and "%s"\n' "$*" "$said" "$code" "$wanted" "$words"
    exit 1
  fi
}

# beside COMMAND...: it mostly waits, and others go on meanwhile; `joined` waits for all of these, and the test ends where one failed.
besides=()
beside() {
  "$@" &
  besides+=($!)
}
joined() {
  local failed=0 pid
  for pid in "${besides[@]}"; do wait "$pid" || failed=1; done
  besides=()
  [[ $failed == 0 ]] || exit 1
}
