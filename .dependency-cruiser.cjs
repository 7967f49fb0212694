const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid(
      'kernel-stands-alone',
      'The kernel imports nothing from outside itself but Node.',
      { path: '^src/kernel' },
      { pathNot: '^src/kernel|^(node:)?(crypto|buffer)$' },
    ),
    forbid(
      'deciders-are-pure',
      'Rules take facts and commands, nothing else.',
      { path: '^src/modules/.+/(decider|events|rules)\\.ts$' },
      { pathNot: '^src/(kernel/|modules/.+/(events|decider|rules|state)\\.ts$)' },
    ),
    forbid(
      'only-app-picks-adapters',
      'Adapters are chosen in one place.',
      {
        pathNot:
          '^(src/(adapters|app)|test)/|^src/cli/(main|testing/index|compiler/source-worker)\\.ts$',
      },
      { path: '^src/adapters/' },
    ),
    forbid(
      'ports-name-no-technology',
      'A port depends on the kernel only.',
      { path: '^src/ports' },
      { pathNot: '^src/(ports|kernel)' },
    ),
    forbid(
      'no-test-in-product',
      'Product code never imports tests.',
      { pathNot: '^test/' },
      { path: '^test/' },
    ),
    forbid(
      'cli-is-a-client',
      'The command line speaks HTTP; it shares definitions of functions and the pure rules of their calls.',
      { path: '^src/cli' },
      {
        pathNot:
          '^src/(cli|client|kernel|sdk|ports)/|^src/modules/functions/(functions|syncs)/|^src/modules/(functions/runs/runtime/(arguments|body|failure|run-limits)|connections/providers/(encode-body|interpolate|url)|webhooks/webhooks-out/signature|proxy/provider-headers)\\.ts$|^src/adapters/sandbox/|^node_modules/|^(node:)?[a-z_/]+$',
      },
    ),
    forbid(
      'client-stands-alone',
      'What an application imports brings nothing of the service with it.',
      { path: '^src/client/' },
      { pathNot: '^src/client/' },
    ),
    forbid('no-circles', 'Data flows one way.', {}, { circular: true }),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
    },
  },
};
