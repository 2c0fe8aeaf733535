SHELL := bash
.SHELLFLAGS := -euo pipefail -c

# How long `make fuzz` runs each target.
FUZZTIME ?= 30s

.PHONY: test race lint fuzz bench ci

test:
	go test work

race:
	go test -race -shuffle=on work

lint:
	.ci/run lint

# go test lists the targets of a package before the package's closing line.
fuzz:
	go test -list '^Fuzz' work | awk '/^Fuzz/ {t[n++] = $$1} /^ok/ {while (n) print $$2, t[--n]}' | \
	while read -r package target; do \
		echo "== $$package $$target"; \
		go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$package" </dev/null; \
	done

bench:
	go test -run '^$$' -bench . -benchmem work

ci:
	.ci/run
