#!/bin/sh
# Installs pz for the user who runs this:
#
#     sh install.sh [version]
#
# PZ_VERSION      the version, in place of the argument; the newest release without either
# PZ_INSTALL_DIR  where `pz` goes; ~/.local/bin without it
# PZ_BASE_URL     where the releases are, or a mirror of them laid out the same way
#
# What is installed has the SHA-256 of the release's SHA256SUMS. Nothing is changed until it has arrived whole.
set -eu

say() { printf '%s\n' "$*"; }
fail() {
  printf 'pz was not installed: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf 'hint: %s\n' "$2" >&2
  exit 1
}
has() { command -v "$1" >/dev/null 2>&1; }

# The release's name for this machine.
target() {
  system=$(uname -s)
  machine=$(uname -m)
  case $system in
    Linux)
      # The `ldd` of musl says so on stderr and fails.
      if { ldd --version 2>&1 || true; } | grep -qi musl; then
        fail "this system has musl for its C library, and pz needs glibc" \
          "use a system or an image with glibc 2.28 or newer, such as debian:bookworm-slim"
      fi
      case $machine in
        x86_64 | amd64) say linux-x64 ;;
        aarch64 | arm64) say linux-arm64 ;;
        *) unsupported ;;
      esac
      ;;
    Darwin)
      # A shell that is translated for another processor sees that processor.
      [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || true)" != 1 ] || machine=arm64
      case $machine in
        arm64) say darwin-arm64 ;;
        x86_64) say darwin-x64 ;;
        *) unsupported ;;
      esac
      ;;
    *) unsupported ;;
  esac
}

unsupported() {
  fail "there is no pz for $system on $machine" \
    "pz is built for Linux (x64, arm64), macOS (arm64, x64) and Windows (x64, by install.ps1)"
}

# fetch <address> <file>
fetch() {
  if has curl; then
    curl -fsSL --retry 2 -o "$2" "$1"
  elif has wget; then
    wget -q -O "$2" "$1"
  else
    fail "there is neither curl nor wget to download it with" "install one of them, then run this again"
  fi || fail "can't download $1" "look whether this address opens in a browser, and whether a proxy is needed"
}

# The SHA-256 of a file in lowercase hex.
sha256() {
  case $hasher in
    shasum) shasum -a 256 "$1" ;;
    openssl) openssl dgst -sha256 -r "$1" ;;
    *) sha256sum "$1" ;;
  esac | cut -d ' ' -f 1
}

main() {
  base=${PZ_BASE_URL:-https://github.com/pz-data/pz/releases}
  base=${base%/}
  version=${1:-${PZ_VERSION:-}}
  version=${version#v}
  folder=${PZ_INSTALL_DIR:-${HOME:+$HOME/.local/bin}}
  [ -n "$folder" ] || fail "there is no HOME to install it in" "set PZ_INSTALL_DIR to a folder of your PATH"
  target=$(target) || exit 1

  if [ -n "$version" ]; then from=$base/download/v$version; else from=$base/latest/download; fi
  if has sha256sum; then
    hasher=sha256sum
  elif has shasum; then
    hasher=shasum
  elif has openssl; then
    hasher=openssl
  else
    fail "there is no sha256sum, shasum or openssl to check it with" "install one of them, then run this again"
  fi
  mkdir -p "$folder" 2>/dev/null || fail "'$folder' can't be made" "set PZ_INSTALL_DIR to a folder of your own"
  [ ! -d "$folder/pz" ] || fail "'$folder/pz' is a folder" "move it away, or set PZ_INSTALL_DIR to another place"
  # On the same file system as the place it goes to, so that the last step is one rename.
  aside=$(mktemp -d "$folder/.pz-install.XXXXXX" 2>/dev/null) || fail "'$folder' can't be written" \
    "set PZ_INSTALL_DIR to a folder of your own"
  trap 'rm -rf "$aside"' EXIT
  trap 'exit 130' HUP INT TERM

  fetch "$from/SHA256SUMS" "$aside/SHA256SUMS"
  line=$(grep -E "^[0-9a-f]{64}  pz-[0-9][0-9A-Za-z.+-]*-$target\$" "$aside/SHA256SUMS" || true)
  [ "$(say "$line" | grep -c .)" = 1 ] || fail "$from/SHA256SUMS doesn't name one file for $target" \
    "choose another version, or tell the project"
  expected=${line%% *}
  name=${line##* }
  fetch "$from/$name" "$aside/pz"
  actual=$(sha256 "$aside/pz")
  [ "$actual" = "$expected" ] || fail "$name arrived damaged: its SHA-256 is '$actual', expected '$expected'" \
    "run this again; if it stays so, don't use the file and tell the project"

  chmod 755 "$aside/pz"
  said=$("$aside/pz" --version 2>&1) || fail "$name doesn't start here: $said" \
    "it needs glibc 2.28 or newer; a folder mounted noexec can't hold it either: set PZ_INSTALL_DIR to another"
  mv -f "$aside/pz" "$folder/pz"
  say "pz $said is installed as $folder/pz"
  case ":${PATH:-}:" in
    *":$folder:"*) ;;
    *) say "$folder is not on your PATH; add this to your shell's profile: export PATH=\"$folder:\$PATH\"" ;;
  esac
}

# Called at the very end, so that a script of which only a part arrived does nothing.
main "$@"
