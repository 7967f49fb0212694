import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '#test/services/ports.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const programs = [
  { name: 'changes-table.ts', command: process.execPath },
  { name: 'changes_table.py', command: 'python3' },
] as const;
const program = (name: string) =>
  fileURLToPath(new URL(`../../examples/consumers/http/${name}`, import.meta.url));

const folder = mkdtempSync(join(tmpdir(), 'svc-changes-'));
let world: CrmWorld;
let kept: CrmConnection;
let gone: CrmConnection;

const contactsOf = (revision: number, count = 2500) =>
  Array.from({ length: count }, (_, n) => ({ id: `c-${n}`, name: `${revision} Grüße 世界` }));

beforeAll(async () => {
  // The same address after a restart.
  world = await openCrmWorld({ env: { SVC_PORT: String(await freePort()) } });
  [kept, gone] = await Promise.all([world.connect(), world.connect()]);
  for (const { account } of [kept, gone]) account.contacts = contactsOf(1);
  await Promise.all([kept.run('contacts'), gone.run('contacts')]);
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await world[Symbol.asyncDispose]();
});

interface Started {
  readonly ended: Promise<{ readonly code: number | null; readonly errors: string }>;
  /** Resolves when it has written a line, or has ended. */
  readonly wrote: Promise<unknown>;
  kill(): void;
}

function start(
  { name, command }: (typeof programs)[number],
  args: readonly string[] = [],
  key = world.gateway.key,
): Started {
  const child = spawn(command, [program(name), ...args], {
    env: {
      PATH: process.env['PATH'],
      SVC_URL: world.gateway.url,
      SVC_KEY: key,
      SUBSCRIPTION: `table-${name.split('.').at(-1)}`,
      DATABASE: join(folder, name),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let errors = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text));
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, errors }));
  return {
    ended,
    wrote: Promise.race([once(child.stdout, 'data'), ended]),
    kill: () => child.kill('SIGKILL'),
  };
}

/** The rows, by connection and id. */
function rowsOf(name: string): Map<string, unknown> {
  const database = new DatabaseSync(join(folder, name), { readOnly: true });
  const rows = database.prepare('SELECT connection_id, record_id, record FROM records').all();
  database.close();
  return new Map(
    rows.map(({ connection_id: connection, record_id: id, record }) => [
      `${String(connection)} ${String(id)}`,
      JSON.parse(String(record)) as unknown,
    ]),
  );
}

/** What `GET /records` has of the connections. */
async function recordsOf(...connections: CrmConnection[]): Promise<Map<string, unknown>> {
  const rows = new Map<string, unknown>();
  for (const connection of connections) {
    for (const { _svc_metadata: meta, ...record } of await connection.all('Contact')) {
      if (meta.deleted_at === null) rows.set(`${connection.id} ${record.id}`, record);
    }
  }
  return rows;
}

describe.each(programs)('$name', (one) => {
  it('has the table of GET /records, also after it was killed in the middle', async () => {
    const killed = start(one);
    await killed.wrote;
    killed.kill();
    await killed.ended;
    expect(await start(one, ['--once']).ended).toEqual({ code: 0, errors: '' });
    const rows = rowsOf(one.name);
    expect(rows.size).toBeGreaterThan(4000);
    expect(rows).toEqual(await recordsOf(kept, gone));
  });

  it('follows changes, and the gateway that is away for a while', async () => {
    const following = start(one);
    await world.restart();
    kept.account.contacts = contactsOf(2, one.command === 'python3' ? 2300 : 2400);
    expect(await kept.run('contacts')).toMatchObject({ success: true });
    const expected = await recordsOf(kept, gone);
    await expect.poll(() => rowsOf(one.name), { timeout: 60_000 }).toEqual(expected);
    following.kill();
    await following.ended;
  });

  it('ends with the reason where its key is refused', async () => {
    const { code, errors } = await start(one, [], 'svc_env_unknown').ended;
    expect(code).toBe(1);
    expect(errors).toContain('401');
  });
});

it('rows of a deleted connection go from both tables', async () => {
  const path = `/connections/${gone.id}?provider_config_key=crm`;
  succeeded(await world.gateway.call('DELETE', path));
  const expected = await recordsOf(kept);
  for (const one of programs) {
    await expect
      .poll(
        async () => {
          expect(await start(one, ['--once']).ended).toEqual({ code: 0, errors: '' });
          return rowsOf(one.name);
        },
        { timeout: 60_000, interval: 500 },
      )
      .toEqual(expected);
  }
});
