#!/bin/sh
# embed.sh NAME FILE [NAME FILE...]: each file as a C string constant.
set -eu
echo '/* Made by src/gen/embed.sh. */'
while [ $# -ge 2 ]; do
	printf 'static const char %s[] =\n' "$1"
	sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/^/\t"/' -e 's/$/\\n"/' "$2"
	printf '\t;\n'
	shift 2
done
