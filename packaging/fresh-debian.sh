#!/bin/bash
# The README's two commands, and the package, in a new Debian of its own: what is not
# written there must not be needed. Go and the sources come from this machine.
# Usage, as root: packaging/fresh-debian.sh DEB_VERSION
set -euo pipefail
cd "$(dirname "$0")/.."
deb=$(ls "dist/tercet_$1"_*.deb)
root=$(mktemp -d "${TMPDIR:-/tmp}/fresh-debian.XXXXXX")
chmod 755 "$root" # for the user man
clean() { umount "$root/proc" 2>/dev/null || true; rm -rf "$root"; }
trap clean EXIT
debootstrap --variant=minbase --include=ca-certificates,make,git,man-db,bash-completion bookworm "$root" >"$root.log" 2>&1 || { tail "$root.log"; exit 1; }
rm "$root.log"
mount -t proc proc "$root/proc"
cp /etc/resolv.conf "$root/etc/"
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" # of a network with an authority of its own
cp -a "$(go env GOROOT)" "$root/usr/local/go"
git clone -q . "$root/root/tercet"
cp "$deb" "$root/root/tercet.deb"
inside() { # in the new Debian, with nothing of this machine's environment but its proxies
	env -i HOME=/root PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin GOPROXY="$(go env GOPROXY)" GOFLAGS="$(go env GOFLAGS)" ${https_proxy:+https_proxy="$https_proxy"} \
		chroot "$root" bash -ec "$1"
}
inside 'dpkg -i /root/tercet.deb && tercet version && man -w tercet-train && man -w 5 tercet-config
	tercet config init glyphs --out /tmp/glyphs.yaml && tercet config check /tmp/glyphs.yaml
	test -s /usr/share/bash-completion/completions/tercet && dpkg -r tercet && ! test -e /usr/bin/tercet'
inside 'cd /root/tercet && make demo && make test'
# The binary alone, as in the image.
mkdir "$root/alone" && cp dist/stage/tercet "$root/alone/"
chroot "$root/alone" /tercet version
echo "fresh-debian: passed in $SECONDS s"
