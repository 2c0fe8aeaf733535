# Starts a PostgreSQL server for the tests and names it in HOLDPOINT_POSTGRES, unless
# that names one already. To be sourced; stop_postgres ends it.

# postgres_bin is the folder of the server's programs, which are installed where they
# are absent.
postgres_bin() {
	local found
	found=$(ls -d /usr/lib/postgresql/*/bin 2>/dev/null | sort -V | tail -1)
	if [ -z "$found" ]; then
		apt-get update >&2 && DEBIAN_FRONTEND=noninteractive apt-get install -y postgresql >&2
		found=$(ls -d /usr/lib/postgresql/*/bin | sort -V | tail -1)
	fi
	printf '%s\n' "$found"
}

# as_postgres runs a command as a user that the server agrees to run as.
as_postgres() {
	if [ "$(id -u)" != 0 ]; then
		"$@"
		return
	fi
	id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres
	runuser -u postgres -- "$@"
}

start_postgres() {
	[ -z "${HOLDPOINT_POSTGRES:-}" ] || return 0
	postgres_dir=$(mktemp -d)
	postgres_programs=$(postgres_bin)
	[ "$(id -u)" != 0 ] || { id postgres >/dev/null 2>&1 || useradd --system --no-create-home postgres; chown postgres "$postgres_dir"; }
	as_postgres "$postgres_programs/initdb" -D "$postgres_dir/data" -A trust -U holdpoint >/dev/null
	local port
	for port in $(seq 54400 54420); do
		if as_postgres "$postgres_programs/pg_ctl" -D "$postgres_dir/data" -w -l "$postgres_dir/log" \
			-o "-p $port -k $postgres_dir -c listen_addresses=127.0.0.1 -c max_connections=200" start >/dev/null; then
			export HOLDPOINT_POSTGRES="postgres://holdpoint@127.0.0.1:$port/postgres"
			return 0
		fi
	done
	cat "$postgres_dir/log"
	return 1
}

stop_postgres() {
	[ -n "${postgres_dir:-}" ] || return 0
	as_postgres "$postgres_programs/pg_ctl" -D "$postgres_dir/data" -m immediate stop >/dev/null 2>&1 || true
	rm -rf "$postgres_dir"
}
