#!/usr/bin/env bash
# The step of action.yml: takes graphkit from the PATH, or installs its wheel; traces; checks. Findings become annotations,
# the job's summary says what was found, graphkit.sarif has it for code scanning. Exits as graphkit check does.
#
#   check.sh --sources     prints hash=…, the name of a wheel of these sources in the job's cache
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
if [ "${1:-}" = --sources ]; then
  cd "$here/../../.."
  sum="$(find CMakeLists.txt libgraphkit plugins tools -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum)"
  printf 'hash=%s\n' "${sum%% *}"
  exit
fi
temp="${RUNNER_TEMP:-$(mktemp -d)}"

install_graphkit() {
  local wheel="${GRAPHKIT_WHEEL:-}"
  if [ -z "$wheel" ]; then
    compgen -G "$temp/graphkit-wheel/*.whl" > /dev/null || "$here/../../wheel.sh" "$temp/graphkit-wheel"
    wheel="$(compgen -G "$temp/graphkit-wheel/*.whl")"
  fi
  python3 -m venv "$temp/graphkit"
  "$temp/graphkit/bin/python" -m pip install -q "$wheel"
  PATH="$temp/graphkit/bin:$PATH"
}
command -v graphkit > /dev/null || install_graphkit

# The action's inputs: words are split as in a shell, patterns name several traces.
# shellcheck disable=SC2206
traces=(${GRAPHKIT_TRACE:-trace.json}) tracing=(${GRAPHKIT_TRACE_OPTIONS-}) options=(${GRAPHKIT_OPTIONS-})
[ -z "${GRAPHKIT_CONFIG:-}" ] || options+=(--config "$GRAPHKIT_CONFIG")
status=0
[ -z "${GRAPHKIT_RUN:-}" ] || graphkit trace "${tracing[@]}" -o "${traces[0]}" -- bash -c "$GRAPHKIT_RUN" || status=$?
if [ "$status" -ne 0 ]; then
  echo "::error file=${traces[0]},line=1,title=graphkit trace::nothing was checked: the traced command ended with exit code $status: ${GRAPHKIT_RUN//$'\n'/%0A}"
  exit "$status"
fi

graphkit check "${traces[@]}" "${options[@]}" --format github || status=$?
if [ "$status" -ne 2 ]; then
  graphkit check "${traces[@]}" "${options[@]}" --format markdown >> "${GITHUB_STEP_SUMMARY:-/dev/null}" || true
  graphkit check "${traces[@]}" "${options[@]}" --format sarif > "$temp/graphkit.sarif" || true
  printf 'sarif=%s\n' "$temp/graphkit.sarif" >> "${GITHUB_OUTPUT:-/dev/null}"
fi
printf 'exit-code=%s\n' "$status" >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
