#!/bin/sh
# Builds the shop's images from Debian packages and adds them for labs: as an ordinary user, without a registry.
set -eu
cd "$(dirname "$0")"

for program in mmdebstrap buildah slownet; do
    if ! command -v $program > /dev/null; then
        echo "images.sh needs $program: apt-get install mmdebstrap buildah uidmap, and slownet on PATH" >&2
        exit 2
    fi
done

if [ ! -f debian.tar ]; then # once; without documentation, also that of packages that are installed later
    (cd / && mmdebstrap --quiet --variant=minbase --format=tar --skip=output/dev --dpkgopt='path-exclude=/usr/share/man/*' \
        --dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-exclude=/usr/share/locale/*' trixie) > debian.tar.half
    mv debian.tar.half debian.tar
fi

# A storage of its own leaves yours as it is; vfs and chroot need no fuse and no privileges.
work=$(mktemp --directory)
export BUILDAH_ISOLATION=chroot STORAGE_DRIVER=vfs
buildah() { command buildah --root "$work/storage" --runroot "$work/run" "$@"; }
trap 'buildah rm --all > "$work/log"; buildah rmi --all --force > "$work/log"; rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

container=$(buildah from scratch)
buildah add --quiet "$container" debian.tar / > "$work/log"
buildah commit --quiet --rm "$container" localhost/shop/debian:13 > "$work/log"
for name in web db cache; do
    image=localhost/shop/$name:1
    if ! buildah build --format docker --tag $image $name > "$work/log" 2>&1; then
        tail -n 30 "$work/log" >&2
        exit 1
    fi
    buildah push --quiet $image "docker-archive:$work/$name.tar:$image"
    slownet lab image rm $image > "$work/log" 2>&1 || true # the build before; otherwise it stays, without a name
    slownet lab image add "$work/$name.tar"
    rm "$work/$name.tar"
done
