/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-return --
   a test looks into any answer */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import type { Sandbox } from '../../src/ports/sandbox.ts';
import { startChild } from '../support/child.ts';
import { commandLine, type Ended } from '../support/command-line.ts';
import { eventually } from '../support/crm-world.ts';
import { roundsOf } from '../support/long-run.ts';
import type { ReadRecord } from '../support/projection.ts';
import { seedOfRun } from '../support/random.ts';

const seed = seedOfRun();
console.log(`rebuild under load: SVC_TEST_SEED=${seed}`);

let sandbox: Sandbox;
let root: string;
beforeAll(async () => {
  sandbox = await openSandbox();
  root = await mkdtemp(join(tmpdir(), 'svc-projections-cli-'));
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await rm(root, { recursive: true, force: true });
});

const svc = (
  { url, accountKey }: { readonly url: string; readonly accountKey: string },
  ...args: readonly string[]
): Promise<Ended> => {
  const variables = { SVC_HOSTPORT: url, SVC_ACCOUNT_KEY: accountKey };
  return commandLine(['projections', ...args], { root, sandbox, variables });
};

const records = roundsOf({ push: 3_000, all: 50_000 });
/** Where only the end counts. */
const fewRecords = roundsOf({ push: 2_000, all: 10_000 });

describe(`${records} records that are written and read meanwhile`, () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'svc-projections-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const models = ['Contact', 'Deal', 'Note', 'Task'] as const;
  const key = `svc_env_${randomBytes(32).toString('base64url')}`;
  const accountKey = `svc_acct_${randomBytes(32).toString('base64url')}`;

  async function start(count = records) {
    const child = startChild('./load-child.ts', [folder, count, seed], {
      SVC_BOOTSTRAP_KEY_DEV: key,
      SVC_BOOTSTRAP_ACCOUNT_KEY: accountKey,
    });
    const lines = child.lines[Symbol.asyncIterator]();
    const next = async (event: string): Promise<Record<string, unknown>> => {
      const { value, done } = await lines.next();
      if (done === true) throw new Error(`no ${event}:\n${child.errors.join('\n')}`);
      return value;
    };
    const { url } = await next('ready');
    return {
      url: url as string,
      accountKey,
      async stop() {
        child.process.stdin.write('stop\n');
        await next('stopped');
      },
      async kill() {
        child.process.kill('SIGKILL');
        await child.ended;
      },
      async end() {
        child.process.stdin.end();
        child.process.stdout.resume();
        expect(await child.ended, child.errors.join('\n')).toBe(0);
      },
    };
  }

  const headers = {
    authorization: `Bearer ${key}`,
    'provider-config-key': 'load',
    'connection-id': 'load',
  };

  async function page(url: string, model: string, cursor: string | null, limit: number) {
    const query = new URLSearchParams({ model, limit: String(limit) });
    if (cursor !== null) query.set('cursor', cursor);
    const answer = await fetch(`${url}/records?${query.toString()}`, { headers });
    const text = await answer.text();
    if (answer.status !== 200) throw new Error(`answered ${answer.status}: ${text}`);
    return JSON.parse(text) as { records: ReadRecord[]; next_cursor: string | null };
  }

  /** Follows one cursor until told that nothing more is written, and that is read too. */
  async function read(url: string, model: string, isWritten: () => boolean) {
    const seen = new Map<string, ReadRecord>();
    const cursors = new Set<string>();
    let repeated = 0;
    let pages = 0;
    for (let cursor: string | null = null; ;) {
      const isLast = isWritten();
      const found = await page(url, model, cursor, 1000);
      pages += 1;
      for (const record of found.records) {
        const { cursor: at } = record._svc_metadata;
        if (cursors.has(at)) repeated += 1;
        cursors.add(at);
        seen.set(record.id, record);
      }
      cursor = found.records.at(-1)?._svc_metadata.cursor ?? cursor;
      if (found.records.length > 0) continue;
      if (isLast) return { seen, repeated, pages };
      await sleep(50);
    }
  }

  async function whole(url: string, model: string): Promise<ReadRecord[]> {
    const all: ReadRecord[] = [];
    for (let cursor: string | null = null; ;) {
      const found = await page(url, model, cursor, 5000);
      all.push(...found.records);
      cursor = found.next_cursor;
      if (cursor === null) return all;
    }
  }

  /** What a reader saw last of each record is what there is. */
  async function expectComplete(url: string, model: string, seen: Map<string, ReadRecord>) {
    const all = await whole(url, model);
    expect(all.length).toBe(seen.size);
    expect(all.filter((one) => JSON.stringify(seen.get(one.id)) !== JSON.stringify(one))).toEqual(
      [],
    );
  }

  it('are rebuilt from the command line; readers miss nothing and see nothing twice', async () => {
    const node = await start();
    let isWritten = false;
    const readers = models.map((model) => read(node.url, model, () => isWritten));
    const built = await svc(node, 'rebuild', 'records', '--yes', '--switch');
    console.log(built.err);
    expect(built.exitCode, built.err).toBe(0);
    expect(built.err).toContain('No difference');
    expect(built.err).toMatch(/building {2}\d+ %/);
    expect(built.out).toMatch(/records +2 +active/);
    const listed = await svc(node, 'list');
    expect(listed.out).toMatch(/records +1 +kept/);
    await node.stop();
    isWritten = true;
    for (const [at, model] of models.entries()) {
      const { seen, repeated, pages } = await readers[at]!;
      expect(repeated).toBe(0);
      await expectComplete(node.url, model, seen);
      console.log(`${model}: ${pages} pages, ${seen.size} records`);
    }
    const back = await svc(node, 'rollback', 'records', '--yes', '--json');
    expect(JSON.parse(back.out)).toMatchObject({ active_generation: 1 });
    const refused = await svc(node, 'rebuild', 'records', '--yes');
    expect(refused.exitCode, refused.err).toBe(4);
    await node.end();
  });

  it('are rebuilt to the end after a kill in the middle', async () => {
    const first = await start(fewRecords);
    const begun = await svc(
      first,
      'rebuild',
      'records',
      '--yes',
      '--detach',
      '--pace',
      '25',
      '--json',
    );
    expect(begun.exitCode, begun.err).toBe(0);
    const building = async (node: { url: string }) => {
      const { out } = await svc({ ...node, accountKey }, 'show', 'records');
      return JSON.parse(out).generations[1];
    };
    await eventually(
      () => building(first),
      (one) => one.rows > 0,
    );
    const before = await building(first);
    await first.kill();
    const second = await start(fewRecords);
    const after = await building(second);
    console.log(
      `killed at ${before.state} ${before.position}/${before.end}, on at ${after.position}`,
    );
    expect(after.position).toBeGreaterThan(0);
    const followed = await svc(second, 'follow', 'records');
    expect(followed.exitCode, followed.err).toBe(0);
    const verified = await svc(second, 'verify', 'records');
    expect(verified.exitCode, verified.err).toBe(0);
    const switched = await svc(second, 'switch', 'records', '--yes');
    expect(switched.exitCode, switched.err).toBe(0);
    await second.end();
  });
});
