/* oxlint-disable typescript/no-unsafe-assignment --
   a test looks into any answer */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Call, Names, Row, Sent } from '#test/support/judges/access/row.ts';
import { environmentScopes, served } from '#test/support/judges/access/table.ts';
import {
  ask,
  missing,
  openAccessWorld,
  textOf,
  withoutRequestId,
  type AccessWorld,
} from '#test/support/judges/access/world.ts';
import type { Answer } from '#test/support/processes/gateway.ts';
import { succeeded } from '#test/support/worlds/crm-world.ts';

let world: AccessWorld;
beforeAll(async () => {
  world = await openAccessWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

type Served = Row & { readonly call: Call };
const ofEnvironments = served.filter(({ takes }) => takes === 'environment');
const named = (rows: readonly Served[]) => rows.map((row) => [row.endpoint, row] as const);

/** Everything that the key of `dev` can read of it, without the times of reading. */
async function allOfDev(): Promise<Record<string, unknown>> {
  const { gateway } = world.crm;
  const { connection, integration, action } = world.present;
  const headers = world.connection.headers;
  const paths: Sent[] = [
    { path: '/integrations' },
    { path: `/integrations/${integration}?include=credentials` },
    { path: '/integrations/crm/functions' },
    { path: '/connections' },
    { path: `/connections/${connection}?provider_config_key=crm&refresh_token=true` },
    { path: '/environment-variables' },
    { path: `/sync/status?provider_config_key=crm&syncs=*` },
    { path: '/records?model=Contact', headers },
    { path: '/records/history?model=Contact&id=c-1', headers },
    { path: '/typed-topics' },
    { path: `/action/${action}` },
  ];
  const read: Record<string, unknown> = {};
  for (const { path, headers: more = {} } of paths) {
    const { last_fetched_at: _, ...body } = succeeded(
      await gateway.call('GET', path, { headers: more }),
    );
    read[path] = body;
  }
  return read;
}

/** The marks of `dev` that stand in the text, but for those that the request itself named. */
function marksIn(text: string, sent: Sent): string[] {
  const asked = JSON.stringify(sent);
  return Object.entries(world.marks)
    .filter(([, value]) => text.includes(value) && !asked.includes(value))
    .map(([what]) => what);
}

/** Status and body, with the names that the request holds replaced. */
function withoutNames({ status, body }: Answer, names: Names, sent: Sent): unknown {
  const asked = JSON.stringify(sent);
  let text = JSON.stringify(withoutRequestId(body));
  for (const [what, name] of Object.entries(names)) {
    const isNamed = typeof name === 'string' && name.length >= 8 && asked.includes(name);
    if (isNamed) text = text.replaceAll(name, `<${what}>`);
  }
  return { status, text };
}

describe('a key of another environment', () => {
  it('lists nothing of this one', async () => {
    const key = world.crm.gateway.prodKey;
    const lists = ['/integrations', '/connections', '/connection', '/environment-variables'];
    for (const path of [...lists, '/scripts/config', '/typed-topics']) {
      const answer = await world.crm.gateway.call('GET', path, { key });
      expect([path, answer.status, marksIn(textOf(answer), { path })]).toEqual([path, 200, []]);
    }
    const { connections } = succeeded(await world.crm.gateway.call('GET', '/connections', { key }));
    expect(connections).toEqual([]);
  });

  const questions = ofEnvironments.filter(({ call }) => !call.isCreating);

  it.each(named(questions))(
    '%s answers as if what is named were not there',
    async (endpoint, { call }) => {
      const answerTo = async (names: Names) => {
        const sent = call.send(names);
        const answer = await ask(world, endpoint, sent, world.crm.gateway.prodKey);
        expect(marksIn(textOf(answer), sent)).toEqual([]);
        return withoutNames(answer, names, sent);
      };
      expect(await answerTo(world.present)).toEqual(await answerTo(missing()));
    },
  );

  it('makes in its own environment what has the same name, and changes nothing of the other', async () => {
    const before = await allOfDev();
    const { present } = world;
    const key = world.crm.gateway.prodKey;
    for (const { endpoint, call } of ofEnvironments.filter(({ call }) => call.isCreating)) {
      const sent = call.send(present);
      const answer = await ask(world, endpoint, sent, key);
      expect([endpoint, answer.status < 300]).toEqual([endpoint, true]);
      expect(marksIn(textOf(answer), sent)).toEqual([]);
    }
    expect(await allOfDev()).toEqual(before);
  });

  it('changes and deletes what has the same name in its own environment alone', async () => {
    const before = await allOfDev();
    const { present } = world;
    const key = world.crm.gateway.prodKey;
    const changes = ofEnvironments.filter(
      ({ endpoint, call }) => !endpoint.startsWith('GET') && !call.isCreating,
    );
    expect(changes.length).toBeGreaterThan(20);
    for (const { endpoint, call } of changes) {
      const sent = call.send(present);
      expect(marksIn(textOf(await ask(world, endpoint, sent, key)), sent)).toEqual([]);
    }
    expect(await allOfDev()).toEqual(before);
  });
});

describe('an account key', () => {
  it('reads nothing of an environment, however it asks', async () => {
    const key = world.crm.gateway.accountKey;
    for (const { endpoint, call } of ofEnvironments) {
      const sent = call.send(world.present);
      const answer = await ask(world, endpoint, sent, key);
      expect([endpoint, answer.status]).toEqual([endpoint, 403]);
      expect(marksIn(textOf(answer), sent)).toEqual([]);
    }
  });
});

describe('a key without connections:list', () => {
  const others = environmentScopes.filter(
    (scope) => scope !== 'connections:list' && scope !== 'connections:list_credentials',
  );

  it('finds no connection id out, whatever else it may do', async () => {
    const key = await world.makeKey(others);
    const nothing = missing();
    const listings: readonly [string, Sent][] = [
      ['GET /connections', { path: '/connections' }],
      ['GET /connection', { path: '/connection?search=c-' }],
    ];
    for (const [endpoint, sent] of listings) {
      const answer = await ask(world, endpoint, sent, key.secret);
      expect([endpoint, answer.status]).toEqual([endpoint, 403]);
    }
    const path = '/sync/status?provider_config_key=crm&syncs=*';
    const status = await ask(world, 'GET /sync/status', { path }, key.secret);
    expect(status.status).toBe(200);
    const { syncs } = status.body as { syncs: readonly { connection_id: string | null }[] };
    expect(syncs.length).toBeGreaterThan(0);
    expect(syncs.every((row) => row.connection_id === null)).toBe(true);
    for (const { endpoint, call } of ofEnvironments) {
      const answer = await ask(world, endpoint, call.send(nothing), key.secret);
      expect([endpoint, textOf(answer).includes(world.connection.id)]).toEqual([endpoint, false]);
    }
    await key.remove();
  });

  it('uses the connections whose ids it knows', async () => {
    const key = await world.makeKey(others);
    const path = `/connections/${world.connection.id}?provider_config_key=crm`;
    const answer = await world.crm.gateway.call('GET', path, { key: key.secret });
    expect(answer).toMatchObject({ status: 200, body: { connection_id: world.connection.id } });
    await key.remove();
  });
});
