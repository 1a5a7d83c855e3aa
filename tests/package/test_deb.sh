#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the package, asks lintian, installs it with its dependencies into a fresh Debian 12 (a folder that goes away
# afterwards), and tries there: the doctor, the man page, the completion, a profile. Takes minutes and the network, so
# scripts/test leaves it out. usage: tests/package/test_deb.sh [FILE.deb]
set -eu
cd "$(dirname "$0")/../.."
PATH=$PATH:/usr/sbin:/sbin
[ "$(id -u)" = 0 ] || { echo "needs root"; exit 77; }
for tool in debootstrap lintian; do
	command -v $tool > /dev/null || { echo "$tool is not installed (scripts/install-deps package)"; exit 77; }
done
mirror=${MIRROR-$(apt-get indextargets --format '$(SITE)' 'Codename: bookworm' | head -n 1)}
work=$(mktemp -d); root=$work/root
mounted=''
cleanup() {
	for m in $mounted; do umount "$root/$m" || return; done # nothing is removed below what is still mounted
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT
deb=${1-$(scripts/make-deb "$work/deb" | grep -v dbgsym | tail -n 1)}
lintian --allow-root --fail-on error,warning "$deb"
echo "lintian: clean"

debootstrap --variant=minbase bookworm "$root" "$mirror" > "$work/log" 2>&1 || { tail "$work/log"; exit 1; }
cp "$deb" "$root/causeprof.deb"
# minimal systems throw man pages away
rm -f "$root"/etc/dpkg/dpkg.cfg.d/docker
cp /etc/resolv.conf "$root/etc/" 2> /dev/null || true
mount --bind /proc "$root/proc"; mounted=proc
mount --bind /sys "$root/sys"; mounted="$mounted sys"
inside() { DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 chroot "$root" "$@"; }
inside apt-get install -q -y --no-install-recommends man-db bash-completion /causeprof.deb > "$work/log" 2>&1 || { tail "$work/log"; exit 1; }
echo "installed: $(inside dpkg-query -W -f '${Package} ${Version}, ${Installed-Size} KiB' causeprof)"

inside causeprof doctor
inside causeprof doctor --json | grep -q '"capture_possible": true'
inside man causeprof > "$work/man"
grep -q -e '--max-overhead' "$work/man" || { echo "man causeprof does not show the options"; exit 1; }
echo "man causeprof: $(wc -l < "$work/man") lines"
inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader causeprof
	COMP_WORDS=(causeprof rec); COMP_CWORD=1; _causeprof; [ "${COMPREPLY[*]}" = record ]' || { echo "no completion"; exit 1; }
echo "completion: record"
sleep 60 & pid=$!
inside causeprof -p $pid --duration 0.1 -q --force -o /tmp/x.cprof
kill $pid
inside causeprof fold --kinds all /tmp/x.cprof | grep '^sleep;'
[ -s "$root/tmp/x.svg" ] || { echo "no picture"; exit 1; }
inside apt-get remove -q -y --purge causeprof > "$work/log" 2>&1
left=$(find "$root/usr" "$root/etc" -name '*causeprof*')
[ -z "$left" ] || { echo "left behind: $left"; exit 1; }
echo "removed: nothing left"
