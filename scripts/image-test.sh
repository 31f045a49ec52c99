#!/bin/sh
# make image-test: builds the image with buildah, which needs no daemon, and trains in it as
# another user: the weights must be those of the binary outside. Needs root and buildah.
set -eu
root=$(mktemp -d)
b="buildah --storage-driver vfs --root $root/store --runroot $root/run"
trap '$b umount -a >/dev/null 2>&1 || true; rm -rf "$root"' EXIT
$b build --isolation chroot -q -t tercet:test -f packaging/Dockerfile dist/stage >/dev/null
mkdir "$root/in" "$root/out"
chmod 755 "$root" && chmod 777 "$root/in"
container=$($b from tercet:test)
inside() { $b run --isolation chroot --user 1000:1000 -v "$root/in:/work" "$container" -- /usr/bin/tercet "$@"; }
inside version
inside config init glyphs --out first.yaml -q >/dev/null
inside train first.yaml --set train.epochs=1 --set model.width=4 -q >/dev/null
inside eval runs/glyphs -q >/dev/null
inside report runs --page page.html -q >/dev/null
test -s "$root/in/page.html"
tercet=$(realpath "${TERCET:-bin/tercet}")
(cd "$root/out" && "$tercet" train ../in/first.yaml --set train.epochs=1 --set model.width=4 -q >/dev/null)
cmp "$root/in/runs/glyphs/checkpoints/last.safetensors" "$root/out/runs/glyphs/checkpoints/last.safetensors"
files=$(cd "$($b mount "$container")" && find usr -type f | sort | tr '\n' ' ')
[ "$files" = "usr/bin/tercet usr/share/doc/tercet/licenses.gz " ] || { echo "the image has $files"; exit 1; }
echo "image: built, trained as user 1000, the same weights as outside"
