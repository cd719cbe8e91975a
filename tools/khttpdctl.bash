# SPDX-License-Identifier: GPL-2.0
# Bash completion of khttpdctl: its commands and their options are what its help says.
# shellcheck shell=bash

# Attributes of a site for --set, but those that have an option.
_khttpdctl_set="behind certificate client_ca etag_version gid hsts key listing names precompressed
	proxy_protocol rules send_proxy types uid until_closed"

# The commands, or with one as $1 its options.
_khttpdctl_words() {
	khttpdctl --help 2>/dev/null | awk -v command="$1" '
		/^  [a-z-]/ {
			in_it = $1 == command
			if (command == "")
				print $1 ~ /^-/ ? "--help\n--version" : $1
		}
		!/^  / { in_it = 0 }
		in_it {
			while (match($0, /(^|[ [])--?[a-z]+/)) {
				print substr($0, RSTART + (substr($0, RSTART, 1) != "-"), RLENGTH)
				$0 = substr($0, RSTART + RLENGTH)
			}
		}' | sed 's/[^a-z-]//g'
}

_khttpdctl() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words

	COMPREPLY=()
	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$(_khttpdctl_words "")" -- "$cur")
		return
	fi
	case $prev in
	load|check|-T|--types|--output|--certificate|--key)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	--docroot)
		compopt -o filenames
		mapfile -t COMPREPLY < <(compgen -d -- "$cur") ;;
	--site)	mapfile -t COMPREPLY < <(compgen -W \
			"$(cd /sys/kernel/config/khttpd 2>/dev/null && echo */)" -- "$cur")
		COMPREPLY=("${COMPREPLY[@]%/}") ;;
	--user)	mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
	tls)	mapfile -t COMPREPLY < <(compgen -W "status reload" -- "$cur") ;;
	--set)	compopt -o nospace
		mapfile -t COMPREPLY < <(compgen -S = -W "$_khttpdctl_set" -- "$cur") ;;
	--pid|--port|--fd|--listen|--index|--interval|--count|--rotate|--keep) ;;
	*)	words=$(_khttpdctl_words "${COMP_WORDS[1]}")
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur") ;;
	esac
}
complete -F _khttpdctl khttpdctl
