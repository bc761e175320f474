# What each of wary's processes may call: the rows that src/gen/role.c makes the
# filters of, from trap/roles.def, trap/library.def and the USES lines of sources.
#   awk -v sanitized=FLAGS -f uses.awk src/trap/roles.def src/trap/library.def SOURCE…
# (base/uses.h; run in the folder above src/).

# The arguments of ROW(a, b…) are left in arg[].
function arguments(text) {
	sub(/^[A-Z_]*\(/, "", text)
	sub(/\).*$/, "", text)
	gsub(/[ \t]/, "", text)
	return split(text, arg, ",")
}

function give(role, use, from) {
	if (!((role, use) in given))
		printf "USE(%s, %s, \"%s\")\n", role, use, from
	given[role, use] = 1
}

# Whether a source runs in a role: named itself, or a folder above it.
function runs(role, source,   i) {
	if ((role, source) in out)
		return 0
	for (i = 1; i <= parts_n; i++)
		if (part_role[i] == role &&
		    (part[i] == source || index(source, part[i] "/") == 1))
			return 1
	return 0
}

FNR == 1 {
	source = FILENAME
	sub(/^src\//, "", source)
	text = ""
	if (source != "trap/roles.def" && source != "trap/library.def")
		for (r = 1; r <= roles_n; r++)
			here[r] = runs(role[r], source)
}

source == "trap/roles.def" {
	if (/^START\(/ && arguments($0))
		role[++roles_n] = arg[1]
	if (/^(START|PART)\(/ && arguments($0)) {
		part_role[++parts_n] = arg[1]
		part[parts_n] = arg[2]
	}
	if (/^(LESS|EARLY)\(/ && arguments($0))
		out[arg[1], arg[2]] = 1
	if (/^LIBRARY\(/ && arguments($0))
		has[arg[1], arg[2]] = 1
	next
}

source == "trap/library.def" {
	if (/^NEEDS\(/ && arguments($0))
		for (r = 1; r <= roles_n; r++)
			if ((role[r], arg[1]) in has || (arg[1] == "sanitizers" && sanitized != ""))
				give(role[r], arg[2], arg[1])
	next
}

/^USES\(/ || text != "" {
	text = text $0
	if ($0 !~ /;/)
		next
	n = arguments(text)
	text = ""
	for (r = 1; r <= roles_n; r++)
		for (i = 1; here[r] && i <= n; i++)
			give(role[r], arg[i], source)
}
