/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standardWebhook, webhookProviders } from '#test/support/fakes/fake-webhook-provider.ts';
import { roundsOf } from '#test/support/judges/long-run.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { startGateway, type Answer, type RunningGateway } from '#test/support/processes/gateway.ts';
import { until } from '#test/support/worlds/runs.ts';

const seed = seedOfRun();
const kills = roundsOf({ push: 3, all: 25 });
console.log(`webhook endpoints over kills: ${kills} kills, SVC_TEST_SEED=${seed}`);
const random = seeded(seed);

const secret = 'whsec_b2YgYW4gZW5kIHRvIGVuZCB0ZXN0';
const connections = ['ann', 'bob', 'cid'];
const perRound = 8;
/** A retry costs a second: with a status that opens no circuit. */
const busy = 409;

interface Note {
  readonly note_id: string;
  readonly wanted: boolean;
}

/** A request of the gateway to the endpoint. */
interface Arrival extends Note {
  readonly connection: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly status: number;
}

/** A key of the endpoint. It begins and ends while the test waits for an answer: between two times, ms. */
interface Key {
  readonly text: string;
  readonly begins: readonly [number, number];
  ends: readonly [number, number];
}

let folder: string;
let server: Server;
let gateway: RunningGateway;
let endpoint: string;
let address: string;
let isSlow = true;
const arrivals: Arrival[] = [];
const keys: Key[] = [];
/** Those that the gateway acknowledged. */
const accepted: Note[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-webhook-endpoints-'));
  server = createServer((request, response) => {
    void request.toArray().then(async (chunks) => {
      const body = Buffer.concat(chunks as Buffer[]).toString();
      const { connectionId, payload } = JSON.parse(body) as {
        connectionId: string;
        payload: Note;
      };
      const status = isSlow && random.chance(15) ? busy : 200;
      const { note_id, wanted } = payload;
      const { headers } = request;
      arrivals.push({ note_id, wanted, connection: connectionId, headers, body, status });
      if (isSlow) await wait(random.int(60));
      response.writeHead(status).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  await writeFile(join(folder, 'providers.json'), JSON.stringify(webhookProviders(urlOf())));
  gateway = await start();
  await done('POST', '/integrations', { provider: 'notes', unique_key: 'notes' });
  for (const connection_id of connections) {
    const credentials = { type: 'API_KEY', apiKey: 'k' };
    const fields = { credentials, metadata: { webhookSecret: secret } };
    await done('POST', '/connections', { provider_config_key: 'notes', connection_id, ...fields });
  }
  const made = await done('POST', '/webhook-endpoints', {
    url: urlOf(),
    kinds: ['forward'],
    ordered: true,
    filter: { match: 'all', conditions: [{ path: '/payload/wanted', op: 'equals', value: true }] },
    retry_waits_seconds: Array(20).fill(1),
  });
  endpoint = made.body.data.id as string;
  const shown = await gateway.call('GET', '/integrations/notes?include=webhook');
  address = new URL(shown.body.data.webhook_url as string).pathname;
  await rotate(3600);
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const urlOf = (): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
const start = (): Promise<RunningGateway> =>
  startGateway({
    dataDir: join(folder, 'data'),
    env: {
      SVC_PROVIDERS: join(folder, 'providers.json'),
      SVC_EGRESS_ALLOW: new URL(urlOf()).host,
    },
  });

async function done(method: string, path: string, body: object): Promise<Answer> {
  const answer = await gateway.call(method, path, { body });
  expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
  return answer;
}

/** The provider sends notes of a connection one after the other; what a kill interrupts may have come or not. */
async function send(connection: string, round: number): Promise<void> {
  for (let number = 0; number < perRound; number += 1) {
    const note = { note_id: `${connection}-${round}-${number}`, wanted: !random.chance(25) };
    const event = { type: 'note.edited', ...note };
    const url = `${gateway.url}${address}?svcConnectionId=${connection}`;
    const sent = standardWebhook(url, secret, event, Date.now(), `msg_${note.note_id}`);
    const { headers, body } = sent;
    const answer = await fetch(sent.url, { method: 'POST', headers, body }).catch(() => null);
    if (answer === null) return;
    expect(answer.status).toBe(200);
    accepted.push(note);
  }
}

/** Without an overlap every key before ends; within an overlap another one is refused. */
async function rotate(overlap: number): Promise<void> {
  const path = `/webhook-endpoints/${endpoint}/signing-key/rotate`;
  const before = Date.now();
  const answer = await done('POST', path, { overlap_seconds: overlap });
  const after = Date.now();
  const ends = [before + overlap * 1000, after + overlap * 1000] as const;
  for (const key of keys) if (ends[0] < key.ends[0]) key.ends = ends;
  const text = answer.body.data.webhook_signing_key as string;
  keys.push({ text, begins: [before, after], ends: [Infinity, Infinity] });
}

async function kill(): Promise<void> {
  gateway.process.kill('SIGKILL');
  await gateway.exited;
  gateway = await start();
}

interface Listed {
  readonly id: string;
  readonly state: string;
  readonly connection_id: string;
  readonly created_at: string;
}

async function listed(state: string): Promise<Listed[]> {
  const query = `endpoint_id=${endpoint}&state=${state}&limit=1000`;
  const answer = await gateway.call('GET', `/webhook-messages?${query}`);
  return answer.body.data as Listed[];
}

const idOf = ({ headers }: Arrival): string => String(headers['webhook-id']);

const verifies = (key: string, { body, headers }: Arrival): boolean => {
  try {
    new Webhook(key).verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
};

describe('an endpoint with an order, a filter and a key of its own, over kills', () => {
  it('gets all webhooks that it wants, in order for each connection, and no other', async () => {
    for (let round = 0; round < kills; round += 1) {
      const sending = Promise.all(connections.map((connection) => send(connection, round)));
      await wait(random.int(400));
      await rotate(round % 2 === 0 ? 0 : 3600);
      await wait(random.int(800));
      await kill();
      await sending;
      const shown = await gateway.call('GET', `/webhook-endpoints/${endpoint}/signing-key`);
      expect(shown.body.data.webhook_signing_key).toBe(keys.at(-1)!.text);
    }
    isSlow = false;
    await Promise.all(connections.map((connection) => send(connection, kills)));
    await until(async () => {
      const [pending, delivered, filtered] = await Promise.all(
        ['pending', 'delivered', 'filtered'].map(listed),
      );
      return pending!.length === 0 && delivered!.length + filtered!.length >= accepted.length;
    });

    expect(arrivals.filter(({ wanted }) => !wanted)).toEqual([]);
    const answered = arrivals.filter(({ status }) => status === 200);
    const came = new Set(answered.map(({ note_id }) => note_id));
    const isLost = ({ note_id, wanted }: Note): boolean => wanted && !came.has(note_id);
    expect(accepted.filter(isLost), `seed ${seed}`).toEqual([]);
    const keptBack = await listed('filtered');
    const unwanted = accepted.filter(({ wanted }) => !wanted);
    expect(keptBack.length).toBeGreaterThanOrEqual(unwanted.length);
    const delivered = await listed('delivered');
    expect([...new Set(answered.map(idOf))].sort()).toEqual(delivered.map(({ id }) => id).sort());
    console.log(`${accepted.length} accepted, ${arrivals.length} requests for ${came.size}`);

    for (const connection of connections) {
      const order = delivered.filter((one) => one.connection_id === connection).reverse();
      const requests = arrivals.filter((one) => one.connection === connection);
      // A later one comes after the one before was answered.
      let next = 0;
      for (const { id } of order) {
        const ids = requests.map(idOf);
        expect(ids.indexOf(id), `${id} of ${connection}, seed ${seed}`).toBeGreaterThanOrEqual(
          next,
        );
        next = requests.findIndex((one) => idOf(one) === id && one.status === 200);
      }
    }
  });

  it('gets signatures of the newest key and, within its overlap, of the one before', () => {
    for (const arrival of arrivals) {
      // The time of the attempt, cut to seconds; a second more, since keys change in between.
      const from = Number(arrival.headers['webhook-timestamp']) * 1000 - 1000;
      const upTo = from + 3000;
      for (const { begins, ends, text } of keys) {
        const isValid = begins[1] <= from && upTo <= ends[0];
        const isNot = upTo <= begins[0] || ends[1] <= from;
        if (isValid || isNot) expect(verifies(text, arrival), `seed ${seed}`).toBe(isValid);
      }
      expect(keys.some(({ text }) => verifies(text, arrival))).toBe(true);
    }
  });
});
