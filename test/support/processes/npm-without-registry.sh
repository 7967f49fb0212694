#!/usr/bin/env bash
# `npm` of a machine whose registry has everything: what would be installed is linked from the checkout, and a packed
# file from SVC_TEST_PACKAGE. Everything else is done by npm itself, offline.
set -euo pipefail
checkout="$SVC_TEST_CHECKOUT"
package="${SVC_TEST_PACKAGE:-$checkout}"

case "$1 ${2:-}" in
'install ')
  mkdir -p node_modules/.bin
  ln -sfn "$checkout"/node_modules/* node_modules/
  ln -sfn "$package" node_modules/svc
  ln -sf ../svc/bin/svc.js node_modules/.bin/svc
  ;;
'exec --package=file:'*)
  test -f "${2#--package=file:}"
  [ "$3 $4" = '-- svc' ]
  shift 4
  exec node "$package/bin/svc.js" "$@"
  ;;
*)
  exec "$SVC_TEST_NPM" "$@"
  ;;
esac
