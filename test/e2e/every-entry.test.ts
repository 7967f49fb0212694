import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { paginate } from '#adapters/sandbox/guest/paginate.ts';
import { castAll, playAll } from '#fake-providers/play-all.ts';
import type { Paginate, Step } from '#fake-providers/play-entry.ts';
import { readDefinitions } from '#fake-providers/read-definitions.ts';
import { problemsOf, summaryOf, tableOf, type EntryReport } from '#fake-providers/report.ts';
import { openFakeAuth } from '#fake-providers/server.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Provider } from '#modules/connections/providers/definition.ts';
import { catalogueFiles, certaintyOf } from '#test/catalogue/certainty.ts';
import { startGateway } from '#test/support/processes/gateway.ts';

/** The gateway has the definitions as `change` leaves them; the fake judges by those of the catalog. */
async function playOn(
  definitions: Iterable<Provider>,
  change: (name: string, definition: JsonObject) => JsonObject = (_, definition) => definition,
): Promise<EntryReport[]> {
  await using stack = new AsyncDisposableStack();
  const fake = stack.use(await openFakeAuth());
  const folder = mkdtempSync(join(tmpdir(), 'svc-every-entry-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  const casts = castAll(fake, definitions);
  const overlay = Object.entries(fake.definitions()).map(([name, definition]) => [
    name,
    change(name, definition as JsonObject),
  ]);
  writeFileSync(join(folder, 'played.json'), JSON.stringify(Object.fromEntries(overlay)));
  const env = { SVC_PROVIDERS: folder, SVC_EGRESS_ALLOW: fake.hostPort };
  const gateway = stack.use(await startGateway({ env }));
  return await playAll(gateway, casts, paginate as Paginate);
}

it('plays every entry of the catalog on a running gateway', async () => {
  const reports = await playOn(readDefinitions(catalogueFiles()).values());
  const certainty = certaintyOf();
  console.log(
    [
      tableOf(reports),
      `\n${reports.length} entries`,
      ...summaryOf(reports, ({ categories }) => categories),
      '',
      ...summaryOf(reports, ({ auth_mode: mode }) => [mode]),
      '',
      ...summaryOf(reports, ({ name }) => [certainty(name)]),
    ].join('\n'),
  );
  expect(reports.length).toBeGreaterThan(700);
  expect(problemsOf(reports)).toEqual([]);
});

/** A mistake in what the gateway knows of a provider, and the step that finds it. */
interface Mistake {
  readonly of: string;
  readonly entry: string;
  readonly step: Step;
  readonly definition: (definition: JsonObject) => JsonObject;
}

const withProxy = (definition: JsonObject, more: object): JsonObject => ({
  ...definition,
  proxy: { ...(definition['proxy'] as object), ...more },
});
const withPart = (definition: JsonObject, part: string, more: object): JsonObject => {
  const proxy = definition['proxy'] as Record<string, object>;
  return withProxy(definition, { [part]: { ...proxy[part], ...more } });
};

const revocationOf = (definition: JsonObject): object => definition['revocation'] as object;

const mistakes: readonly Mistake[] = [
  {
    of: 'the name of the header of a key',
    entry: 'apollo',
    step: 'connect',
    definition: (it) => withProxy(it, { headers: { 'x-apikey': '${apiKey}' } }),
  },
  {
    of: 'the prefix of a key',
    entry: 'affinity',
    step: 'connect',
    definition: (it) => withProxy(it, { headers: { authorization: 'Bearer ${apiKey}' } }),
  },
  {
    of: 'the separator of scopes',
    entry: 'strava',
    step: 'connect',
    definition: (it) => ({ ...it, scope_separator: ' ' }),
  },
  {
    of: 'the proof of the client',
    entry: 'notion',
    step: 'connect',
    definition: ({ token_request_auth_method: _, authorization_method: __, ...it }) => it,
  },
  {
    of: 'PKCE',
    entry: 'salesforce',
    step: 'connect',
    definition: (it) => ({ ...it, disable_pkce: it['disable_pkce'] !== true }),
  },
  {
    of: 'a constant of the token call',
    entry: 'dropbox',
    step: 'connect',
    definition: (it) => ({ ...it, authorization_params: {} }),
  },
  {
    of: 'the path of the base URL',
    entry: 'close',
    step: 'connect',
    definition: (it) =>
      withProxy(it, {
        base_url: (it['proxy'] as { base_url: string }).base_url.replace('/api/v1', ''),
      }),
  },
  {
    of: 'the parameter of the offset',
    entry: 'close',
    step: 'paginate',
    definition: (it) => withPart(it, 'paginate', { offset_name_in_request: 'offset' }),
  },
  {
    of: 'the status of a rate limit',
    entry: 'gmail',
    step: 'limit',
    definition: (it) => withProxy(it, { retry: { after: ['retry-after'] } }),
  },
  {
    of: 'the header of a rate limit',
    entry: 'affinity',
    step: 'limit',
    definition: (it) => withProxy(it, { retry: { at: ['x-reset'] } }),
  },
  {
    of: 'the token that is revoked',
    entry: 'zoom',
    step: 'disconnect',
    definition: (it) => ({ ...it, revocation: { ...revocationOf(it), token: 'refresh_token' } }),
  },
  {
    of: 'the proof of the client of a revocation',
    entry: 'discord',
    step: 'disconnect',
    definition: (it) => ({ ...it, revocation: { ...revocationOf(it), auth_method: 'none' } }),
  },
];

it('finds each planted mistake at its step', async () => {
  const catalog = readDefinitions(catalogueFiles());
  const planted = mistakes.map(({ entry }, at) => {
    // The other names belong to the entry itself.
    const { aliases: _, ...definition } = catalog.get(entry)!;
    return { ...definition, name: `mistake-${at}` };
  });
  const reports = await playOn(planted, (name, definition) =>
    mistakes[Number(name.replace('mistake-', ''))]!.definition(definition),
  );
  const found = reports.map(({ outcome }, at) => {
    const { of, step } = mistakes[at]!;
    return [of, typeof outcome[step] === 'string' ? outcome[step] : 'found'];
  });
  expect(found, problemsOf(reports).join('\n')).toEqual(mistakes.map(({ of }) => [of, 'found']));
});
