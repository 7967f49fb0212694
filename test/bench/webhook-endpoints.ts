/**
 * `node --max-semi-space-size=8 test/bench/webhook-endpoints.ts [pairs] [webhooks/s] [seconds]`: 1,000 endpoints, each of a host and a
 * connection of its own, get webhooks in turn at a constant rate. Of each pair of phases one has all of them answer, and in the other
 * 100 hang: what do these cost the other 900? The order within a pair alternates, so that what else the machine does falls on both.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as wait } from 'node:timers/promises';
import { createEnvironment } from '#modules/access/environments/handlers.ts';
import { environmentByName } from '#modules/access/environments/queries.ts';
import { createEndpoint } from '#modules/webhooks/webhook-endpoints/handlers.ts';
import { deliveriesOf } from '#modules/webhooks/webhooks-out/outbox.ts';
import { percentile, report, round, withFolder } from './measure.ts';
import { startNode, type BenchNode } from './node.ts';
import { delays, nowMs, Receiver } from './webhook-arrivals.ts';

const [pairs = 2, rate = 200, phaseSeconds = 30] = process.argv.slice(2).map(Number);
const as = { actor: 'system' };
const endpoints = 1_000;
const hanging = 100;
/** Webhooks of one round. */
const roundMs = 50;

/** Of every ten endpoints one may hang. */
const mayHang = (number: number): boolean => number % (endpoints / hanging) === 0;

/** Ten environments: one has at most a hundred endpoints. */
const environmentNames = Array.from({ length: 10 }, (_, at) => `bench-${at}`);

/** Its environment, and the connection whose webhooks it gets. */
function ownerOf({ running }: BenchNode, number: number) {
  const name = environmentNames[Math.floor((number / endpoints) * environmentNames.length)] ?? '';
  const environment = environmentByName(running.services.control, name);
  if (environment === null) throw new Error(`no environment ${name}`);
  return { environment, integrationKey: 'bench', connectionId: `c${number}` };
}

async function addEndpoints(node: BenchNode, { url }: Receiver): Promise<void> {
  const { services } = node.running;
  for (const name of environmentNames) await createEnvironment(services, { name }, as);
  const { port } = new URL(url);
  for (let number = 0; number < endpoints; number += 1) {
    const { environment, ...subject } = ownerOf(node, number);
    const host = `127.0.${1 + (number >> 8)}.${number & 255}`;
    const path = mayHang(number) ? 'maybe' : 'answers';
    const of = { kinds: null, displayName: '', isEnabled: true, ...subject };
    await createEndpoint(
      services,
      environment.uid,
      { url: `http://${host}:${port}/${path}`, ...of },
      as,
    );
  }
}

/** Sends webhooks for the time; resolves with the delays of those to endpoints that always answer. */
async function phase(node: BenchNode, receiver: Receiver): Promise<number[]> {
  const { services } = node.running;
  await receiver.arrivals();
  const sentAt = new Map<string, number>();
  const beganAt = nowMs();
  let number = 0;
  while (nowMs() - beganAt < phaseSeconds * 1_000) {
    const due = Math.floor(((nowMs() - beganAt) / 1_000) * rate);
    const messages = [];
    for (; number < due; number += 1) {
      const at = (number * 7) % endpoints;
      const messageId = randomUUID();
      const { environment, ...of } = ownerOf(node, at);
      const connection = { ...of, webhookUrlOverride: null };
      const payload = { type: 'sync', from: 'svc', model: 'Contact', number };
      const subject = { environment, connection, kind: 'sync' } as const;
      messages.push(...(await deliveriesOf(services, subject, [{ messageId, payload }])));
      if (!mayHang(at)) sentAt.set(messageId, nowMs());
    }
    if (messages.length > 0) await services.publisher.publish(messages, 'system');
    await wait(roundMs);
  }
  const arrivals = [];
  while (arrivals.length < sentAt.size) {
    arrivals.push(...(await receiver.arrivals()).filter(([, path]) => path === '/answers'));
    await wait(100);
  }
  return delays(arrivals, sentAt);
}

/** Waits until nothing is to be delivered any more: also what has hung. */
async function allOver(node: BenchNode): Promise<void> {
  const { deliveries } = node.running.services;
  const uids = environmentNames.map((_, number) => ownerOf(node, number).environment.uid);
  const isPending = (uid: string): boolean =>
    deliveries.tables.list(uid, { state: 'pending' }, { limit: 1 }).length > 0;
  while (uids.some(isPending)) await wait(500);
}

await withFolder(async (folder) => {
  await using receiver = await Receiver.start();
  await using node = await startNode(folder, 'plain', { SVC_EGRESS_ALLOW: '127.0.0.0/8' });
  await addEndpoints(node, receiver);
  await phase(node, receiver);
  const [all, others]: [number[], number[]] = [[], []];
  const ratios: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const p99s = new Map<boolean, number>();
    for (const isHanging of pair % 2 === 0 ? [false, true] : [true, false]) {
      await receiver.letHang(isHanging);
      const found = await phase(node, receiver);
      p99s.set(isHanging, percentile(found, 99));
      console.error(
        `${isHanging ? '100 hang' : 'all answer'}: ${found.length} webhooks, p50 ${round(percentile(found, 50))} ms, p99 ${round(percentile(found, 99))} ms`,
      );
      await receiver.letHang(false);
      await allOver(node);
    }
    all.push(p99s.get(false)!);
    others.push(p99s.get(true)!);
    ratios.push(p99s.get(true)! / p99s.get(false)!);
  }
  report({
    all_answer_p99_ms: round(percentile(all, 50)),
    '100_hang_others_p99_ms': round(percentile(others, 50)),
    hang_ratio_p50: round(percentile(ratios, 50)),
    hang_ratio_max: round(Math.max(...ratios)),
  });
});
