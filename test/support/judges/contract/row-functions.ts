/** Key of the integration that the rows are deployed for. */
export const integration = 'rows';

/** An address that functions may reach, where nobody listens. */
export const nobody = '127.0.0.1:10';

/** CommonJS of a function, made by hand: what is shown is the runtime, not the compiler. */
export const bundle = (head: string, definition: string): string =>
  `const { createAction, createSync, createOnEvent, createOnChange } = require('svc');\nconst { z } = require('zod');\n${head}\nexports.default = ${definition};`;
export const actionOf = (
  body: string,
  head = '',
  schemas = 'input: z.any(), output: z.any()',
): string =>
  bundle(
    head,
    `createAction({ description: '', ${schemas}, exec: async (svc, input) => { ${body} } })`,
  );
export const flow = (name: string, js: string, more: object) => ({
  syncName: name,
  providerConfigKey: integration,
  models: [],
  runs: null,
  fileBody: { js, ts: '// of a row' },
  ...more,
});
export const action = (name: string, js: string) => flow(name, js, { type: 'action' });

const counting = `let count = 0;`;
export const helpers = [
  action('row-echo', actionOf('return input;')),
  action('row-refuses', actionOf(`throw new svc.ActionError('no');`)),
  action('row-lock-taker', actionOf(`return svc.tryAcquireLock({ key: input, ttlMs: 60000 });`)),
  action('row-counts', actionOf(`count += 1; return count;`, counting)),
  action('row-fails', actionOf(`return fail(svc, input);`, failures())),
  action(
    'row-progress',
    actionOf(
      `const n = ((await svc.getCheckpoint()) ?? { n: 0 }).n + 1; await svc.saveCheckpoint({ n }); return n;`,
    ),
  ),
  action(
    'row-typed',
    actionOf(
      `return input.n === 1 ? { n: 1 } : { n: 'one' };`,
      '',
      'input: z.object({ n: z.number() }), output: z.object({ n: z.number() })',
    ),
  ),
  action('row-waits', actionOf(`return new Promise((end) => setTimeout(end, 600_000));`)),
  action('row-endless', actionOf(`for (;;) await svc.getMetadata();`)),
];

function failures(): string {
  return `async function fail(svc, how) {
    switch (how) {
      case 'object': throw new svc.ActionError({ reason: 'object' });
      case 'text': throw new svc.ActionError('text');
      case 'list': throw new svc.ActionError([1, 2]);
      case 'provider': return (await svc.get({ endpoint: '/missing' })).data;
      case 'refused': return (await svc.get({ endpoint: '/x', baseUrlOverride: 'http://127.0.0.1:9' })).data;
      case 'network': return (await svc.get({ endpoint: '/x', baseUrlOverride: 'http://${nobody}' })).data;
      case 'memory': { const held = []; for (;;) held.push(Array.from({ length: 1e6 }, Math.random)); }
      case 'error': throw Object.assign(new TypeError('a bug'), { code: 'E_BUG' });
      case 'null': throw null;
      case 'large': return 'x'.repeat(2 * 1024 ** 2);
      case 'nothing': return undefined;
    }
  }`;
}
