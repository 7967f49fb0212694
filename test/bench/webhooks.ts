/**
 * `node --max-semi-space-size=8 test/bench/webhooks.ts [deliveries]`: webhooks to a receiver in another process. Deliveries
 * per second to one endpoint and to 50, the time from a webhook on its topic to its first attempt at low load, and what
 * one endpoint of 50 that hangs costs the others: several times with and without it in turn, so that what else the machine
 * does falls on both.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { patchEnvironment } from '#modules/access/environments/handlers.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { findConnection } from '#modules/connections/connections/queries.ts';
import { createEndpoint, deleteEndpoint } from '#modules/webhooks/webhook-endpoints/handlers.ts';
import { deliveriesOf } from '#modules/webhooks/webhooks-out/outbox.ts';
import type { Arrival } from '#test/support/fakes/arrivals-child.ts';
import { percentile, report, round, withFolder, type Figures } from './measure.ts';
import { startNode, type BenchNode } from './node.ts';
import { delays, nowMs, Receiver } from './webhook-arrivals.ts';

const count = Number(process.argv[2] ?? 10_000);
const endpointCount = 50;
const turns = 2;
const as = { actor: 'system' };

/** Sends webhooks of one connection as the service makes them. */
async function sender(node: BenchNode) {
  const { services } = node.running;
  const { connectionId, environmentUid, integration } = await node.newStream();
  return async (messages: number): Promise<Map<string, number>> => {
    const environment = environmentByName(services.control, 'dev');
    const connection = findConnection(services.control, environmentUid, integration, connectionId);
    if (environment === null || connection === null) throw new Error('nothing to send of');
    const sentAt = new Map<string, number>();
    for (let left = messages; left > 0; left -= 100) {
      const payloads = Array.from({ length: Math.min(left, 100) }, () => {
        const messageId = randomUUID();
        sentAt.set(messageId, nowMs());
        const counts = { added: 2, deleted: 0, updated: 1 };
        const payload = { type: 'sync', from: 'svc', model: 'Contact', responseResults: counts };
        return { messageId, payload };
      });
      const of = { environment, connection, kind: 'sync' } as const;
      const made = await deliveriesOf(services, of, payloads);
      for (let at = 0; at < made.length; at += 500) {
        await services.publisher.publish(made.slice(at, at + 500), 'system');
      }
    }
    return sentAt;
  };
}

const perSecond = (arrivals: readonly Arrival[]): number => {
  const times = arrivals.map(([, , at]) => at);
  return ((times.length - 1) * 1000) / (Math.max(...times) - Math.min(...times));
};

async function setPrimary({ running }: BenchNode, url: string | null): Promise<string> {
  const { services } = running;
  const environment = environmentByName(services.control, 'dev');
  if (environment === null) throw new Error('no environment');
  const webhookUrls = { primary: url, secondary: null };
  await patchEnvironment(services, environment.uid, { webhookUrls }, as);
  return environment.uid;
}

async function addEndpoint(node: BenchNode, uid: string, url: string): Promise<string> {
  const everything = { kinds: null, integrationKey: null, connectionId: null };
  const wanted = { url, displayName: '', isEnabled: true, ...everything };
  return (await createEndpoint(node.running.services, uid, wanted, as)).id;
}

/** Some messages a second for a while; resolves with how long each took to each endpoint that answers. */
async function paced(
  send: (messages: number) => Promise<Map<string, number>>,
  receiver: Receiver,
  endpoints: number,
): Promise<number[]> {
  const sentAt = new Map<string, number>();
  for (let round = 0; round < 60; round += 1) {
    for (const [id, at] of await send(1)) sentAt.set(id, at);
    await wait(100);
  }
  const arrivals = await receiver.take(sentAt.size * endpoints);
  return delays(
    arrivals.filter(([, path]) => !path.startsWith('/hang')),
    sentAt,
  );
}

/** Waits until nothing is to be delivered any more: also what hangs. */
async function allOver({ running }: BenchNode, uid: string): Promise<void> {
  const { deliveries } = running.services;
  const isOver = () => deliveries.tables.list(uid, { state: 'pending' }, { limit: 1 }).length === 0;
  while (!isOver()) await wait(100);
}

await withFolder(async (folder) => {
  await using receiver = await Receiver.start();
  const host = new URL(receiver.url).host;
  await using node = await startNode(folder, 'plain', { SVC_EGRESS_ALLOW: host });
  const send = await sender(node);
  const figures: Record<string, number> = {};
  const uid = await setPrimary(node, `${receiver.url}/one`);

  await send(500);
  await receiver.take(500);
  const low = await paced(send, receiver, 1);
  figures['first_attempt_p50_ms'] = round(percentile(low, 50));
  figures['first_attempt_p99_ms'] = round(percentile(low, 99));

  await send(count);
  figures['one_endpoint_per_s'] = Math.round(perSecond(await receiver.take(count)));

  await setPrimary(node, null);
  const ids = [];
  for (let number = 0; number < endpointCount; number += 1) {
    ids.push(await addEndpoint(node, uid, `${receiver.url}/e${number}`));
  }
  const each = Math.ceil(count / endpointCount);
  await send(each);
  figures['50_endpoints_per_s'] = Math.round(perSecond(await receiver.take(each * endpointCount)));

  const p99 = (samples: readonly number[]): number => percentile(samples, 99);
  const [without, hanging]: [number[], number[]] = [[], []];
  await paced(send, receiver, endpointCount);
  for (let turn = 0; turn < turns; turn += 1) {
    without.push(p99(await paced(send, receiver, endpointCount)));
    await deleteEndpoint(node.running.services, uid, ids.pop() ?? '', as);
    const hangs = await addEndpoint(node, uid, `${receiver.url}/hang`);
    hanging.push(p99(await paced(send, receiver, endpointCount - 1)));
    await deleteEndpoint(node.running.services, uid, hangs, as);
    if (turn === turns - 1) break;
    await allOver(node, uid);
    ids.push(await addEndpoint(node, uid, `${receiver.url}/again${turn}`));
  }
  const all: Figures = {
    ...figures,
    all_answer_p99_ms: round(percentile(without, 50)),
    one_hangs_others_p99_ms: round(percentile(hanging, 50)),
    one_hangs_ratio: round(percentile(hanging, 50) / percentile(without, 50)),
  };
  report(all);
});
