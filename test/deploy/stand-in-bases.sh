#!/usr/bin/env bash
# Makes images in place of the two that the Containerfile names, out of Debian packages and the Node of this workspace, for
# machines that reach no registry of images. Run by npm, as root, after `apt-get install debootstrap podman`.
set -euo pipefail
if $ENGINE image exists localhost/stand-in/node:24; then exit; fi
work=$(mktemp -d) root=$(cd "$(dirname "$0")/../.." && pwd)
trap 'rm -rf "$work"' EXIT
import() { tar -C "$1" -c . | $ENGINE import "${@:3}" - "$2"; }

debootstrap --variant=minbase bookworm "$work/node"
mkdir "$work/cc" "$work/debs"
for package in base-files netbase tzdata libc6 libgcc-s1 libstdc++6 gcc-12-base ca-certificates libssl3; do
  (cd "$work/debs" && apt-get download --quiet "$package")
  dpkg --extract "$work/debs/${package}"_*.deb "$work/cc"
done
rm -rf "$work"/cc/usr/share/{doc,man}
mkdir -p "$work/cc/etc/ssl/certs" "$work/cc/home/nonroot"
install --directory --mode=1777 "$work/cc/tmp"
cat "$work"/cc/usr/share/ca-certificates/mozilla/*.crt > "$work/cc/etc/ssl/certs/ca-certificates.crt"
echo 'nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin' > "$work/cc/etc/passwd"
echo 'nonroot:x:65532:' > "$work/cc/etc/group"
import "$work/cc" localhost/stand-in/cc:nonroot --change 'USER 65532'

# The build reaches npm as this machine does.
cp -L "$root/node_modules/node/bin/node" "$work/node/usr/local/bin/"
cp -aL "$(dirname "$(dirname "$npm_execpath")")" "$work/node/usr/local/lib/npm"
ln -s ../lib/npm/bin/npm-cli.js "$work/node/usr/local/bin/npm"
if [ -e ~/.npmrc ]; then cp ~/.npmrc "$work/node/root/"; fi
install -D --mode=644 "${NODE_EXTRA_CA_CERTS:-/etc/ssl/certs/ca-certificates.crt}" "$work/node/etc/ssl/certs/extra.crt"
import "$work/node" localhost/stand-in/node:24 --change 'ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/extra.crt'
