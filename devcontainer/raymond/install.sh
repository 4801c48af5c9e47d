#!/bin/sh
# Installs Raymond into a dev container. The options of devcontainer-feature.json are variables in capitals.
set -eu

fail() {
  echo "raymond: $1" >&2
  exit 1
}

[ "$(id -u)" = 0 ] || fail "Run this script as root, as dev containers do."
command -v npm >/dev/null || fail "There is no npm. Add the feature ghcr.io/devcontainers/features/node."
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  fail "Raymond needs Node 20.19 or newer, and this is $(node --version)."

wanted="git"
[ "${RIGHTS:-true}" = true ] && wanted="git bubblewrap socat ripgrep"
missing=""
for name in $wanted; do
  case $name in
    bubblewrap) program=bwrap ;;
    ripgrep) program=rg ;;
    *) program=$name ;;
  esac
  command -v "$program" >/dev/null || missing="$missing $name"
done
if [ -n "$missing" ]; then
  command -v apt-get >/dev/null || fail "Install these programs first:$missing."
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  # shellcheck disable=SC2086 # Each word is a package.
  apt-get install -y -qq --no-install-recommends $missing
  rm -rf /var/lib/apt/lists/*
fi

case ${PACKAGE:=@raymond-workflows/raymond} in
  *.tgz | *://*) spec=$PACKAGE ;;
  *) spec=$PACKAGE@${VERSION:-latest} ;;
esac
npm install --global --no-audit --no-fund -- "$spec"
# shellcheck disable=SC2086 # Each word is a package.
[ -z "${AGENTS:-}" ] || npm install --global --no-audit --no-fund -- $AGENTS
raymond --version
