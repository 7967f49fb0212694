import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import { openPagedSource, type PagedSource } from '#test/support/fakes/paged-source.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import { openSharedCrmWorld, type SharedCrmWorld } from '#test/support/worlds/crm-world.ts';

let world: SharedCrmWorld;
let root: string;
beforeAll(async () => {
  world = await openSharedCrmWorld();
  root = mkdtempSync(join(tmpdir(), 'svc-hostile-'));
});
afterAll(async () => {
  rmSync(root, { recursive: true });
  await world[Symbol.asyncDispose]();
});

const runImport = (from: string, args: readonly string[]): Promise<Ended> =>
  commandLine(['import', from, '-e', 'dev', ...args], {
    root,
    sandbox: null as never,
    variables: {
      SVC_HOSTPORT: world.gateway.url,
      SVC_SECRET_KEY_DEV: world.gateway.key,
      SVC_SOURCE_KEY: 'key of the source',
    },
  });
const runPaged = ({ url, mappingFile }: PagedSource): Promise<Ended> =>
  runImport(url, ['--mapping', mappingFile, '--dry-run', '--json']);

const entry = (id: string): JsonObject => ({ connection_id: id, provider_config_key: 'x' });
const connectionOf = (id: string): JsonObject => ({
  connection_id: id,
  provider_config_key: 'crm',
  credentials: { type: 'API_KEY', apiKey: 'hidden-3' },
});

describe('an import of a hostile source', () => {
  it('ends where its pages repeat, or do not end', async () => {
    await using repeating = await openPagedSource(root, (cursor) => ({
      items: [entry('the same')],
      next: `${cursor}x`,
    }));
    const stuck = await runPaged(repeating);
    expect([stuck.exitCode, stuck.err]).toEqual([
      1,
      expect.stringContaining('/connections repeats its entries'),
    ]);
    const pagesMax = limits.importPagesMax;
    Object.assign(limits, { importPagesMax: 30 });
    try {
      await using circle = await openPagedSource(root, (cursor) => ({
        items: [entry(`of ${cursor}`)],
        next: cursor === 'b' ? 'a' : cursor === 'a' ? 'b' : 'a',
      }));
      const ofCircle = await runPaged(circle);
      expect(ofCircle.err).toContain('/connections repeats a cursor');
      expect(circle.requests).toBeLessThan(10);
      for (const items of [(at: number) => [entry(`n${at}`)], () => []]) {
        await using endless = await openPagedSource(root, (cursor) => ({
          items: items(Number(cursor)),
          next: String(Number(cursor) + 1),
        }));
        const { exitCode, err } = await runPaged(endless);
        expect([exitCode, err]).toEqual([
          1,
          expect.stringContaining('/connections has more than 30 pages'),
        ]);
        expect(endless.requests).toBeLessThanOrEqual(32);
      }
    } finally {
      Object.assign(limits, { importPagesMax: pagesMax });
    }
    // An empty page before the last one is no end.
    await using sparse = await openPagedSource(root, (cursor) => ({
      items: cursor === '9' ? [entry('behind')] : [],
      next: cursor === '9' ? null : String(Number(cursor) + 1),
    }));
    const { problems } = JSON.parse((await runPaged(sparse)).out) as { problems: unknown };
    expect(problems).toMatchObject([{ kind: 'connections', id: 'x/behind' }]);
  });

  it('shows where webhooks would go, and no character that commands the terminal', async () => {
    const file = join(root, 'hostile.json');
    const bidi = 'safe\u202egnp.exe\u2066\u0085\u001b[2J\u200b\u{e0041}';
    const url = 'https://user:hidden-1@evil.test/hook?token=hidden-2&to=x';
    writeFileSync(
      file,
      JSON.stringify({
        integrations: [{ unique_key: 'crm', provider: 'crm', display_name: 'CRM' }],
        connections: [
          { ...connectionOf('redirected'), webhook_url_override: 'https://evil.test/own' },
          connectionOf(bidi),
        ],
        webhook_endpoints: [{ url, display_name: bidi, kinds: ['sync'] }],
      }),
    );
    for (const more of [[], ['--json']]) {
      const { out, err } = await runImport(file, ['--dry-run', ...more]);
      expect(out).toContain('https://evil.test/hook');
      expect(out).toContain('https://evil.test/own');
      expect(out + err).not.toContain('hidden-');
      expect(out + err).not.toMatch(
        /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e\u2066\udb40]/,
      );
    }
  });
});
