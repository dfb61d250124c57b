#!/bin/sh
# copy_or_build.sh MADE PROGRAM SOURCE... -- COMMAND...: PROGRAM as a copy of MADE, another build folder's, where that is newer than
# every SOURCE; otherwise COMMAND makes it.
made="$1" program="$2" usable=yes
shift 2
[ -x "$made" ] || usable=no
while [ "$1" != -- ]; do
  [ "$made" -nt "$1" ] || usable=no
  shift
done
shift
if [ "$usable" = yes ]; then exec cp "$made" "$program"; fi
exec "$@"
