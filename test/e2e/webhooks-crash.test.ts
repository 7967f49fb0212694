import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
/* oxlint-disable typescript/no-unsafe-member-access -- a test looks into any answer */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

/** How each endpoint treats a request; `moved` leads to `fast`. */
const behaviors = ['fast', 'slow', 'hang', 'moved', 'error', 'close'] as const;
type Behavior = (typeof behaviors)[number];

let folder: string;
let server: Server;
let gateway: RunningGateway;
/** Ids of the messages that came, by the endpoint that they were sent to. */
const came = new Map<Behavior, string[]>(behaviors.map((name) => [name, []]));
const ids = new Map<Behavior, string>();
let isWell = false;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-webhooks-'));
  server = createServer((request, response) => {
    const name = (request.url ?? '/').slice(1) as Behavior;
    request.resume();
    request.on('end', () => {
      came.get(name)?.push(String(request.headers['webhook-id']));
      const act = isWell && name !== 'moved' ? 'fast' : name;
      if (act === 'fast') response.writeHead(204).end();
      else if (act === 'slow') setTimeout(() => response.writeHead(200).end('late'), 700);
      else if (act === 'moved') response.writeHead(307, { location: '/fast' }).end();
      else if (act === 'error') response.writeHead(503).end();
      else if (act === 'close') request.socket.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  gateway = await start();
  for (const name of behaviors) {
    const body = { url: `http://${address()}/${name}` };
    const made = await gateway.call('POST', '/webhook-endpoints', { body });
    expect(made.status).toBe(201);
    ids.set(name, made.body.data.id as string);
  }
});
afterAll(async () => {
  await gateway.stop();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true, force: true });
});

const address = (): string => `127.0.0.1:${(server.address() as AddressInfo).port}`;
const start = (): Promise<RunningGateway> =>
  startGateway({ dataDir: folder, env: { SVC_EGRESS_ALLOW: address() } });

async function send(name: Behavior, times: number): Promise<string[]> {
  const sent = Array.from({ length: times }, async () => {
    const answer = await gateway.call('POST', `/webhook-endpoints/${ids.get(name)}/test`);
    expect(answer.status).toBe(202);
    return answer.body.data.message_ids[0] as string;
  });
  return Promise.all(sent);
}

async function states(name: Behavior): Promise<Map<string, string>> {
  const path = `/webhook-messages?endpoint_id=${ids.get(name)}&limit=1000`;
  const answer = await gateway.call('GET', path);
  const found = answer.body.data as { id: string; state: string; replay_of: string | null }[];
  return new Map(found.map((one) => [one.replay_of ?? one.id, one.state]));
}

async function all(name: Behavior, wanted: readonly string[], state: string): Promise<void> {
  for (;;) {
    const known = await states(name);
    if (wanted.every((id) => known.get(id) === state)) return;
    await wait(100);
  }
}

describe('receivers that are slow, hang, redirect, answer errors or close', () => {
  const sent = new Map<Behavior, string[]>();

  it('delay no other', async () => {
    for (const name of ['hang', 'error', 'close', 'slow', 'moved', 'fast'] as const) {
      sent.set(name, await send(name, 12));
    }
    for (const name of ['fast', 'slow', 'moved'] as const) {
      await all(name, sent.get(name) ?? [], 'delivered');
    }
    expect(came.get('fast')).toHaveLength(24);
    expect([...(await states('hang')).values()]).toEqual(Array(12).fill('pending'));
  });

  it('lose nothing when the process is killed, and what was delivered is not sent again', async () => {
    const more = await send('fast', 30);
    gateway.process.kill('SIGKILL');
    await gateway.exited;
    isWell = true;
    gateway = await start();
    await all('fast', [...(sent.get('fast') ?? []), ...more], 'delivered');
    await all('hang', sent.get('hang') ?? [], 'delivered');
    for (const id of [...(sent.get('slow') ?? []), ...(sent.get('moved') ?? [])]) {
      const times = [...came.values()].flat().filter((known) => known === id).length;
      expect(times).toBe((sent.get('moved') ?? []).includes(id) ? 2 : 1);
    }
  });

  it('get what waited while they failed, which the kill did not end', async () => {
    for (const name of ['error', 'close'] as const) {
      await all(name, sent.get(name) ?? [], 'delivered');
    }
  });
});
