#!/bin/sh
# Brings translations up to date with the texts of the code: new ones are `unfinished` in the files until somebody
# translates them. Without arguments all files here; lupdate is part of qt6-l10n-tools. English needs plurals alone.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
[ $# -gt 0 ] || set -- "$here"/debubble_*.ts
lupdate=$(command -v lupdate || echo /usr/lib/qt6/bin/lupdate)
for file in "$@"; do
    case $file in *_en.ts) plural=-pluralonly ;; *) plural= ;; esac
    "$lupdate" -silent -I "$here/../.." -locations none -no-obsolete $plural -extensions cpp,h \
        -tr-function-alias translate+=said,QT_TRANSLATE_NOOP+=DEBUBBLE_SAID "$here/../viewmodel" "$here/../widgets" -ts "$file"
done
