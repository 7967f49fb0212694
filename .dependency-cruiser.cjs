/** Each wing of `src/modules` may import those before it. */
const wings = [
  'access',
  'connections',
  'records',
  'functions',
  'webhooks',
  'proxy',
  'operations',
  'extensions',
];

/** Rooms of a folder, with the rooms that each may import. */
const rooms = {
  'src/app': {
    config: [],
    process: ['config'],
    threads: ['config', 'process'],
    roles: ['config', 'process', 'threads'],
    tools: ['config', 'process'],
  },
  'src/modules/records': {
    model: [],
    write: ['model'],
    owner: ['model'],
    read: ['model'],
    projection: ['model', 'read'],
    history: ['model', 'write', 'read', 'projection'],
    api: ['model', 'write', 'read', 'projection', 'history'],
  },
  'src/modules/functions/runs': {
    ledger: [],
    runtime: ['ledger'],
    invocation: ['ledger', 'runtime'],
    runner: ['ledger', 'runtime', 'invocation'],
  },
};

const forbid = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

module.exports = {
  forbidden: [
    forbid(
      'kernel-stands-alone',
      'The kernel imports nothing from outside itself but Node and one cache.',
      { path: '^src/kernel' },
      { pathNot: '^src/kernel|^node_modules/lru-cache/|^(node:)?(crypto|buffer|timers/promises)$' },
    ),
    forbid(
      'deciders-are-pure',
      'Rules take facts and commands, nothing else.',
      // A small noun has its rules in the file of its name, such as `variables/variable.ts`.
      {
        path: String.raw`^src/modules/.+/(decider|events|rules|audit-chain|rewrap-order|([a-z-]+)s/\2)\.ts$`,
        pathNot: 'credentials/modes/mode',
      },
      {
        pathNot: String.raw`^src/kernel/|^src/ports/sandbox\.ts$|^streams/values\.ts$|^(src/modules|streams)/.+/(events|decider|fields|rules|state|projection-state|reset-state|environments/retention|webhook-endpoints/filter|audit-chain|rewrap-order|([a-z-]+)s/\3)\.ts$`,
      },
    ),
    forbid(
      'only-app-picks-adapters',
      'Adapters are chosen in one place.',
      {
        pathNot:
          '^(src/(adapters|app)|test)/|^src/cli/(main|testing/(index|template-world)|compiler/source-worker)\\.ts$',
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
      'tables-know-no-noun',
      'Formats of rows serve every table.',
      { path: '^src/tables/' },
      { pathNot: '^src/(tables|ports|kernel)/' },
    ),
    forbid(
      'json-schema-knows-no-noun',
      'JSON Schema is a language: what is held against it is handed over.',
      { path: '^src/json-schema/' },
      { pathNot: '^src/(json-schema|kernel)/|^node_modules/|^(node:)?(crypto|vm)$' },
    ),
    forbid(
      'no-test-in-product',
      'Product code never imports tests.',
      { pathNot: '^test/' },
      { path: '^test/' },
    ),
    forbid(
      'no-generator-in-product',
      'The product runs without what builds it and writes its documentation.',
      { path: '^(src|streams)/' },
      { path: '^bin/' },
    ),
    forbid(
      'cli-is-a-client',
      'The command line speaks HTTP; it shares definitions of functions, the pure rules of their calls, and fake providers.',
      { path: '^src/cli' },
      {
        pathNot:
          '^src/(cli|client|fake-providers|json-schema|kernel|sdk|ports|rules)/|^src/modules/functions/functions/|^src/adapters/sandbox/|^node_modules/|^(node:)?[a-z_/]+$',
      },
    ),
    forbid(
      'rules-know-no-noun',
      'The service and the command line share rules; both stand on them.',
      { path: '^src/rules/' },
      {
        pathNot:
          '^src/(rules|ports|kernel)/|^src/http/fields\\.ts$|^node_modules/|^(node:)?[a-z_/]+$',
      },
    ),
    forbid(
      'fake-providers-judge-alone',
      'What judges the requests of the gateway uses none of its rules.',
      { path: '^src/fake-providers/' },
      {
        pathNot:
          '^src/(fake-providers|kernel)/|^src/modules/connections/providers/(definition|pattern)\\.ts$|^node_modules/(jose|js-yaml|zod)/|^(node:)?[a-z_/]+$',
      },
    ),
    forbid(
      'client-stands-alone',
      'What an application imports brings nothing of the service with it.',
      { path: '^src/client/' },
      { pathNot: '^src/client/' },
    ),
    forbid(
      'console-is-a-client',
      'The console is a page in a browser: it has the API through the client, and of the service only texts and colors of the connect page, how a count is written, and how the index of the documentation is read.',
      { path: '^src/console/' },
      {
        pathNot:
          '^src/(console|client)/|^src/modules/access/connect-ui/texts/|^src/modules/connections/connect-page/browser/theme\\.ts$|^src/kernel/counted\\.ts$|^src/docs-site/search-options\\.ts$|^node_modules/',
      },
    ),
    forbid(
      'engines-know-no-noun',
      'Engines are handed what nouns define: src/app collects it in lists.',
      { path: '^(src/(http|control-plane)|streams)/' },
      { path: '^src/(modules|api|app|cli)/' },
    ),
    ...wings
      .slice(0, -1)
      .map((wing, at) =>
        forbid(
          `${wing}-is-before-${wings[at + 1]}`,
          'A wing imports only the wings before it; what a later one adds is handed over by src/app.',
          { path: `^src/modules/${wing}/` },
          { path: `^src/modules/(${wings.slice(at + 1).join('|')})/` },
        ),
      ),
    ...Object.entries(rooms).flatMap(([folder, floors]) =>
      Object.entries(floors).map(([room, before]) =>
        forbid(
          `${folder.replace(/^src\/(modules\/)?/, '')}-${room}-knows-its-floor`,
          'A room imports only rooms before it.',
          { path: `^${folder}/${room}/` },
          {
            path: `^${folder}/(${Object.keys(floors).join('|')})/`,
            pathNot: `^${folder}/(${[room, ...before].join('|')})/`,
          },
        ),
      ),
    ),
    forbid(
      'extensions-are-registered',
      'An optional part is left out by its line in registered.ts; tools name the part that they run.',
      {
        path: '^(src|streams)/',
        pathNot: '^src/modules/extensions/|^src/app/(tools/|process/entities\\.ts$)',
      },
      {
        path: '^src/modules/extensions/',
        pathNot: '^src/modules/extensions/(registered|extension)\\.ts$',
      },
    ),
    forbid(
      'extensions-stand-alone',
      'An optional part needs no other.',
      { path: '^src/modules/extensions/([^/]+)/' },
      {
        path: '^src/modules/extensions/',
        pathNot: '^src/modules/extensions/(($1|alert-destinations)/|extension\\.ts$)',
      },
    ),
    forbid(
      'import-is-apart',
      'What moves an installation from another product is a room that its command alone opens.',
      { path: '^src/', pathNot: '^src/cli/(import/|commands/transfer\\.ts$)' },
      { path: '^src/cli/import/' },
    ),
    forbid(
      'nouns-know-no-composition',
      'The API and the composition root stand on the nouns.',
      { path: '^src/modules/' },
      { path: '^src/(api|app|cli)/' },
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
