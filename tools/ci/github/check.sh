#!/usr/bin/env bash
# The step of action.yml: takes graphkit from the PATH, or installs its wheel; traces; checks. Findings become annotations,
# the job's summary says what was found, graphkit.sarif has it for code scanning. Exits as graphkit check does.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
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

# What the inputs say: words are split as in a shell, patterns name several traces.
# shellcheck disable=SC2206
traces=(${GRAPHKIT_TRACE:-trace.json}) options=(${GRAPHKIT_OPTIONS:-})
[ -z "${GRAPHKIT_CONFIG:-}" ] || options+=(--config "$GRAPHKIT_CONFIG")
[ -z "${GRAPHKIT_RUN:-}" ] || graphkit trace -o "${traces[0]}" -- bash -c "$GRAPHKIT_RUN"

status=0
graphkit check "${traces[@]}" "${options[@]}" --format github || status=$?
if [ "$status" -ne 2 ]; then
  graphkit check "${traces[@]}" "${options[@]}" --format markdown >> "${GITHUB_STEP_SUMMARY:-/dev/null}" || true
  graphkit check "${traces[@]}" "${options[@]}" --format sarif -o "$temp/graphkit.sarif" || true
fi
printf 'exit-code=%s\n' "$status" >> "${GITHUB_OUTPUT:-/dev/null}"
exit "$status"
