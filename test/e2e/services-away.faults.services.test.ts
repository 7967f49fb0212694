/* oxlint-disable typescript/no-unsafe-assignment, typescript/no-unsafe-member-access --
   a test looks into any answer */
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startKafka } from '#test/services/kafka.ts';
import { freePort } from '#test/services/ports.ts';
import { CuttingProxy, type KafkaApi } from '#test/support/fakes/cutting-proxy.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import { auditStreams } from '#test/support/judges/stream-audit.ts';
import { startGateway } from '#test/support/processes/gateway.ts';
import { startOwnServices, type OwnServices } from '#test/support/processes/own-services.ts';
import {
  eventually,
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '#test/support/worlds/crm-world.ts';

const records = 25;
const updatedEach = 12;
const rowsOf = (revision: number) =>
  Array.from({ length: records }, (_, n) => ({
    id: `c-${n}`,
    name: `${n} of ${revision * (n % 2)}`,
  }));

/** Of a gateway that writes and is asked nothing else. */
const cutApis: KafkaApi[] = ['Fetch', 'Heartbeat', 'Produce', 'AddPartitionsToTxn', 'EndTxn'];

let services: OwnServices;
let world: CrmWorld;
const connections: CrmConnection[] = [];
/** The last revision that was saved of every connection. */
let revision = 0;

beforeAll(async () => {
  services = await startOwnServices();
  world = await openCrmWorld();
  for (let made = 0; made < 4; made += 1) connections.push(await world.connect());
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await services[Symbol.asyncDispose]();
});

/** Every connection gets so many revisions, one after the other. A run that fails for now is run again. */
async function save(revisions: number): Promise<void> {
  const first = revision + 1;
  revision += revisions;
  await Promise.all(
    connections.map(async (crm) => {
      for (let at = first; at < first + revisions; at += 1) {
        crm.account.contacts = rowsOf(at);
        while ((await readOf(crm)) !== JSON.stringify(rowsOf(at))) {
          const { status } = await crm.trigger('contacts');
          if (status === 200)
            await eventually(
              () => statusOf(crm),
              (now) => now !== 'RUNNING',
            );
        }
      }
    }),
  );
}

/** Of the sync `contacts`; an unreachable gateway counts as running. */
async function statusOf({ id }: CrmConnection): Promise<string> {
  const query = `syncs=contacts&provider_config_key=crm&connection_id=${id}`;
  const { status, body } = await world.gateway.call('GET', `/sync/status?${query}`);
  return status === 200 ? String(body.syncs[0].status) : 'RUNNING';
}

/** As a client reads them; empty while the answer is a 503. */
async function readOf({ headers }: CrmConnection): Promise<string> {
  const answer = await world.gateway.call('GET', '/records?model=Contact', { headers });
  if (answer.status === 503) return '';
  const found = succeeded(answer).records as { id: string; name: string }[];
  const plain = found.map(({ id, name }) => ({ id, name }));
  return JSON.stringify(plain.sort((a, b) => Number(a.id.slice(2)) - Number(b.id.slice(2))));
}

const newKey = () =>
  world.gateway.call('POST', '/environment/api-keys', {
    key: world.gateway.accountKey,
    body: { environment_id: world.environmentId, display_name: randomUUID() },
  });

describe('a gateway', () => {
  it('loses and doubles nothing when the broker is killed and started again under load', async () => {
    await save(1);
    const load = save(4);
    const [crm] = connections as [CrmConnection];
    await eventually(
      () => readOf(crm),
      (text) => text !== '' && text !== JSON.stringify(rowsOf(1)),
    );
    await services.kafka.kill();
    const refused = await newKey();
    expect([refused.status, refused.body.error.code]).toEqual([503, 'log_unavailable']);
    expect((await world.gateway.call('GET', '/health', { key: null })).status).toBe(200);
    for (const crm of connections) expect(JSON.parse(await readOf(crm))).toHaveLength(records);
    const ready = () => world.gateway.call('GET', '/ready', { key: null });
    const { body } = await eventually(ready, ({ status }) => status === 503);
    expect(body.reasons).toEqual([expect.stringMatching(/^the event log has not answered for/)]);
    await services.kafka.restart();
    await eventually(ready, ({ status }) => status === 200);
    await load;
    expect(
      (await eventually(newKey, ({ status }) => status === 200)).body.data.secret,
    ).toBeTruthy();
  });

  it('works without Redis, and skips no check of a key', async () => {
    const { secret, id } = succeeded(await newKey()).data;
    await services.redis.kill();
    await save(1);
    expect((await connections[0]!.action('echo', 'still here')).body).toBe('still here');
    await connections[0]!.shown();
    const asked = () => world.gateway.call('GET', '/integrations', { key: secret as string });
    expect((await asked()).status).toBe(200);
    const body = { environment_id: world.environmentId, key_id: id };
    const deleting = { key: world.gateway.accountKey, body };
    succeeded(await world.gateway.call('DELETE', '/environment/api-keys', deleting));
    expect((await eventually(asked, ({ status }) => status !== 200)).status).toBe(401);
    await services.redis.restart();
    await save(1);
  });

  it('works without the schema registry', async () => {
    await services.registry.kill();
    await save(2);
    expect((await connections[0]!.action('echo', 'still here')).body).toBe('still here');
    await services.registry.restart();
    await save(1);
  });

  for (const file of ['clickhouse/status', 'views/control.sqlite']) {
    it(`that is starting waits for a broker that goes away: once there is ${file}`, async () => {
      const dataDir = await mkdtemp(join(tmpdir(), 'svc-starting-'));
      const waits = Promise.withResolvers<undefined>();
      const onLine = (line: string): void => {
        if (line.includes('waiting for Kafka')) waits.resolve(undefined);
      };
      const starting = startGateway({ dataDir, onLine });
      const isThere = () => Promise.resolve(existsSync(join(dataDir, file)));
      await Promise.race([starting, eventually(isThere, (is) => is)]);
      await services.kafka.kill();
      await Promise.race([starting, waits.promise]);
      await services.kafka.restart();
      await using gateway = await starting;
      expect((await gateway.call('GET', '/integrations')).status).toBe(200);
      await gateway.stop();
      await rm(dataDir, { recursive: true });
    });
  }

  it('serves while the broker dies in the middle of its answers, again and again', async () => {
    const [port, behind, control] = [await freePort(), await freePort(), await freePort()];
    await using _ = await startKafka({
      settings: {
        listeners: `PLAINTEXT://127.0.0.1:${behind},CONTROLLER://127.0.0.1:${control}`,
        'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
        'controller.quorum.voters': `1@127.0.0.1:${control}`,
      },
    });
    await using proxy = await CuttingProxy.listen(port, behind);
    await using gateway = await startGateway({ env: { SVC_LOG_URL: `kafka://127.0.0.1:${port}` } });
    const random = seeded(seedOfRun());
    const cuts = Number(process.env['SVC_TEST_GATEWAY_CUTS'] ?? 30);
    const made: string[] = [];
    for (let nth = 0; nth < cuts; nth += 1) {
      const api = random.pick(cutApis);
      const bytes = random.int(30);
      const why = `SVC_TEST_SEED=${random.seed}, ${api} at ${bytes}`;
      const cut = proxy.cut(api, bytes);
      made.push(`cut-${nth}`);
      const body = { provider: 'unauthenticated', unique_key: `cut-${nth}` };
      const answer = await gateway.call('POST', '/integrations', { body });
      expect(answer.status, `${why}: ${JSON.stringify(answer.body)}`).toBe(200);
      await cut;
    }
    const { body } = await gateway.call('GET', '/integrations');
    const names = (body.data as { unique_key: string }[]).map(({ unique_key: name }) => name);
    expect(names.sort(), `SVC_TEST_SEED=${random.seed}`).toEqual(made.sort());
    expect(gateway.log.filter((line) => line.includes('"level":60'))).toEqual([]);
  });

  it('has each change once in its log after all that', async () => {
    const { gateway } = world;
    await gateway.stop();
    expect(await gateway.exited).toBe(0);
    const streams = await auditStreams(gateway.dataDir);
    for (const crm of connections) {
      const stream = streams.find((one) => one.connectionId === crm.id && one.model === 'Contact');
      const updated = (revision - 1) * updatedEach;
      expect(stream?.changes.map(({ action }) => action)).toEqual([
        ...Array<string>(records).fill('added'),
        ...Array<string>(updated).fill('updated'),
      ]);
    }
  });
});
