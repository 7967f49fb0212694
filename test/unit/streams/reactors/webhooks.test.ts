import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../../src/kernel/time.ts';
import { environmentRef } from '../../../../src/modules/environments/entity.ts';
import { openSigningKeys } from '../../../../src/modules/credentials/sealing.ts';
import type { WebhookOut } from '../../../../src/modules/webhooks-out/events.ts';
import { deliveriesOf } from '../../../../src/modules/webhooks-out/outbox.ts';
import { verifyDelivery } from '../../../../src/modules/webhooks-out/signature.ts';
import { actionRunRef } from '../../../../src/modules/actions/entity.ts';
import { createInstancesFor } from '../../../../src/modules/syncs/reconcile.ts';
import { syncRef } from '../../../../src/modules/syncs/entity.ts';
import { startSyncWebhooks } from '../../../../streams/reactors/sync-webhook.ts';
import { startWebhookDeliveries } from '../../../../streams/reactors/webhook-delivery.ts';
import { silent } from '../../../support/control.ts';
import { openRunWorld, refOfConnection, until, type RunWorld } from '../../../support/runs.ts';
import { openWebhookReceiver, type WebhookReceiver } from '../../../support/webhook-receiver.ts';

const actor = 'system';
let world: RunWorld;
let receiver: WebhookReceiver;
let waits: number[];

beforeEach(async () => {
  world = await openRunWorld();
  receiver = await openWebhookReceiver();
  waits = [];
});
afterEach(async () => {
  await receiver[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

/** Moves the clock instead of waiting. */
let skippedMs = 0;
const clock = {
  now: () => systemClock.now() + skippedMs,
  nowMicros: () => systemClock.nowMicros() + skippedMs * 1000,
};
const parts = () => {
  const { log, embedded } = world.world;
  const { control, vault } = world.node;
  return {
    log,
    schemas: embedded.schemas,
    control,
    vault,
    publisher: world.publisher,
    logger: silent,
  };
};
const startDeliveries = () =>
  startWebhookDeliveries({
    ...parts(),
    http: world.http,
    logs: world.logs,
    clock,
    park: world.park('svc.webhook-deliveries'),
    userAgent: 'svc/1',
    sleep: async (ms) => {
      waits.push(Math.round(ms / 1000));
      skippedMs += ms;
    },
  });
const setUrls = async (primary: string | null, secondary: string | null = null) => {
  const { uid } = world.environment;
  const changes = { webhookUrls: { primary, secondary } };
  await world.node.control.ask(environmentRef(uid), { type: 'Patch', changes }, { actor });
};
const currentEnvironment = () =>
  world.node.control.view.find<typeof world.environment>('environment', [world.environment.uid])!;
const send = async (...messageIds: string[]) => {
  const environment = currentEnvironment();
  const { connection } = world;
  const of = { environment, connection, kind: 'sync' as const };
  const payloads = messageIds.map((messageId) => ({
    messageId,
    payload: { type: 'sync', z: 1, a: messageId },
  }));
  await world.publisher.publish(await deliveriesOf(world.node.vault, of, payloads), actor);
};
const steps = async () => world.read<WebhookOut>('svc.webhooks-out.v1');
const actionsOf = async (endpoint = 'primary') =>
  (await steps()).filter(({ endpoint_id }) => endpoint_id === endpoint).map(({ action }) => action);

describe('deliveries', () => {
  it('send stable bytes with signatures over exactly them', async () => {
    await setUrls(`${receiver.url}/hook`);
    await using _ = await startDeliveries();
    await send('m1');
    const [request] = await receiver.got(1);
    expect(request?.body).toBe('{"a":"m1","type":"sync","z":1}');
    const { current } = await openSigningKeys(world.node.vault, currentEnvironment(), 0);
    const { headers } = request!;
    expect(verifyDelivery(current, request!.body, String(headers['x-svc-hmac-sha256']))).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc/1',
      'webhook-id': 'm1',
    });
    expect(headers['x-svc-signature']).toMatch(/^[0-9a-f]{64}$/);
    await until(async () => (await actionsOf()).includes('attempt_succeeded'));
    expect(await actionsOf()).toEqual(['created', 'attempt_succeeded']);
  });

  it('keep the body sealed on the log', async () => {
    await setUrls(receiver.url);
    await send('very-secret-id');
    const [created] = await steps();
    expect(Buffer.from(created?.body ?? '').toString('latin1')).not.toContain('very-secret-id');
  });

  it('are tried three times, 3 s and 6 s apart, and then listed as failed', async () => {
    receiver.answer = () => 503;
    await setUrls(receiver.url);
    await using _ = await startDeliveries();
    await send('m1');
    await until(async () => (await actionsOf()).includes('exhausted'));
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(waits).toEqual([3, 6]);
    expect(await actionsOf()).toEqual([
      'created',
      'attempt_failed',
      'attempt_failed',
      'attempt_failed',
      'exhausted',
    ]);
  });

  it('succeed in a later attempt', async () => {
    receiver.answer = (_, count) => (count === 1 ? 'reset' : count === 2 ? 500 : 204);
    await setUrls(receiver.url);
    await using _ = await startDeliveries();
    await send('m1');
    await until(async () => (await actionsOf()).includes('attempt_succeeded'));
    const failed = (await steps()).filter(({ action }) => action === 'attempt_failed');
    expect(failed).toMatchObject([
      { error_code: 'ECONNRESET', attempt: 1 },
      { status: 500, attempt: 2 },
    ]);
  });

  it('are not repeated after a client error', async () => {
    receiver.answer = () => 404;
    await setUrls(receiver.url);
    await using _ = await startDeliveries();
    await send('m1');
    await until(async () => (await actionsOf()).includes('exhausted'));
    expect(receiver.received).toHaveLength(1);
  });

  it('go to both URLs, of which one failing does not stop the other', async () => {
    receiver.answer = ({ path }) => (path === '/one' ? 400 : 200);
    await setUrls(`${receiver.url}/one`, `${receiver.url}/two`);
    await using _ = await startDeliveries();
    await send('m1');
    await until(async () => (await actionsOf('secondary')).includes('attempt_succeeded'));
    await until(async () => (await actionsOf('primary')).includes('exhausted'));
  });

  it('go to the connection’s own URL in place of both', async () => {
    await setUrls(`${receiver.url}/one`, `${receiver.url}/two`);
    const changes = { webhookUrlOverride: `${receiver.url}/own` };
    await world.node.control.ask(
      refOfConnection(world.connection),
      { type: 'Patch', changes },
      { actor },
    );
    const connection = { ...world.connection, ...changes };
    await using _ = await startDeliveries();
    const of = { environment: currentEnvironment(), connection, kind: 'sync' as const };
    const messages = await deliveriesOf(world.node.vault, of, [{ messageId: 'm1', payload: {} }]);
    await world.publisher.publish(messages, actor);
    await receiver.got(1, '/own');
    await until(async () => (await actionsOf('connection')).includes('attempt_succeeded'));
    expect(receiver.received).toHaveLength(1);
  });

  it('to an endpoint that hangs hold no other back', async () => {
    receiver.answer = ({ path }) => (path === '/hang' ? 'hang' : 200);
    await setUrls(`${receiver.url}/hang`, `${receiver.url}/fast`);
    await using _ = await startDeliveries();
    await send(...Array.from({ length: 15 }, (_, index) => `m${index}`));
    await receiver.got(15, '/fast');
    await until(
      async () =>
        (await actionsOf('secondary')).filter((action) => action === 'attempt_succeeded').length ===
        15,
    );
  });

  it('are cancelled when the URL was removed meanwhile', async () => {
    await setUrls(receiver.url);
    await send('m1');
    await setUrls(null);
    await using _ = await startDeliveries();
    await until(async () => (await actionsOf()).includes('cancelled'));
    expect(receiver.received).toEqual([]);
  });

  it('survive the process: what was not finished is sent by the next one, what was is not', async () => {
    receiver.answer = ({ body }) => (body.includes('"stuck"') ? 'hang' : 200);
    await setUrls(receiver.url);
    const first = await startDeliveries();
    await send('stuck', 'done');
    await until(async () => (await actionsOf()).includes('attempt_succeeded'));
    await receiver.got(2);
    await first[Symbol.asyncDispose]();
    receiver.answer = () => 200;
    await using _ = await startDeliveries();
    await until(
      async () =>
        (await actionsOf()).filter((action) => action === 'attempt_succeeded').length === 2,
    );
    const bodies = receiver.received.map(({ body }) =>
      body.includes('"stuck"') ? 'stuck' : 'done',
    );
    expect(bodies.sort()).toEqual(['done', 'stuck', 'stuck']);
  });
});

describe('the webhook of a run', () => {
  const startWebhooks = (published: () => Promise<void> = () => Promise.resolve()) =>
    startSyncWebhooks({
      ...parts(),
      reader: { published },
      park: world.park('svc.sync-webhooks'),
    });
  /** A run that ended as the owner would decide it, without a runner. */
  const endRun = async (status: 'succeeded' | 'failed') => {
    const { control } = world.node;
    await world.deploy('sync', 'contacts', '', {
      models: ['Contact', 'Deal'],
      frequency: 'every hour',
    });
    await createInstancesFor(control, world.connection, actor);
    const ref = syncRef([world.environment.uid, 'crm', 'acme'], 'contacts', 'base');
    const runId = crypto.randomUUID();
    await control.ask(ref, { type: 'Trigger', runId, reset: false, emptyCache: false }, { actor });
    await control.ask(ref, { type: 'RunStarted', runId, attempt: 1, runner: 'r' }, { actor });
    const counts = ['Contact', 'Deal'].map((model) => ({
      model,
      added: 1,
      updated: 0,
      deleted: 0,
      unchanged: 0,
    }));
    const positions = ['Contact', 'Deal'].map((model) => ({ model, partition: 0, offset: 5 }));
    const error = status === 'failed' ? { code: 'script_internal_error', message: 'no' } : null;
    await control.ask(
      ref,
      { type: 'RunEnded', runId, attempt: 1, status, counts, positions, error },
      { actor },
    );
    return runId;
  };

  it('is made when the records can be read, and not before', async () => {
    await setUrls(receiver.url);
    const published = Promise.withResolvers<undefined>();
    let asked = 0;
    await using _webhooks = await startWebhooks(async () => {
      asked += 1;
      await published.promise;
    });
    await using _deliveries = await startDeliveries();
    await endRun('succeeded');
    await until(() => asked === 2);
    expect(await steps()).toEqual([]);
    published.resolve(undefined);
    const requests = await receiver.got(2);
    const models = requests.map(({ body }) => (JSON.parse(body) as { model: string }).model);
    expect(models.sort()).toEqual(['Contact', 'Deal']);
  });

  it('is one in all when the run failed', async () => {
    await setUrls(receiver.url);
    await using _webhooks = await startWebhooks();
    await using _deliveries = await startDeliveries();
    await endRun('failed');
    const [request] = await receiver.got(1);
    expect(JSON.parse(request!.body)).toMatchObject({ success: false, model: 'Contact,Deal' });
  });

  it('is not made when no URL is configured', async () => {
    let asked = 0;
    await using _webhooks = await startWebhooks(async () => void (asked += 1));
    await endRun('succeeded');
    await setUrls(receiver.url);
    const runId = await endRun('succeeded');
    await until(async () => (await steps()).length === 2);
    expect((await steps()).map(({ run_id }) => run_id)).toEqual([runId, runId]);
    expect(asked).toBe(2);
  });

  it('tells of an asynchronous action', async () => {
    await setUrls(receiver.url);
    await using _webhooks = await startWebhooks();
    await using _deliveries = await startDeliveries();
    const { uid: environmentUid } = world.environment;
    const runId = crypto.randomUUID();
    const of = { environmentUid, integrationKey: 'crm', connectionId: 'acme', runId };
    const facts = {
      connectionUid: world.connection.uid,
      name: 'later',
      functionVersion: '1',
      isAsync: true,
      depth: 0,
      retriesLeft: 0,
      input: null,
      inputHash: null,
    };
    const ask = (body: { type: string }) =>
      world.node.control.ask(actionRunRef(of), body, { actor });
    await ask({ type: 'Queue', ...of, ...facts });
    await ask({ type: 'RunStarted', attempt: 1, runner: 'r' } as { type: string });
    await ask({
      type: 'RunEnded',
      attempt: 1,
      status: 'succeeded',
      output: null,
      outputHash: null,
      error: null,
    } as { type: string });
    const [request] = await receiver.got(1);
    expect(JSON.parse(request!.body)).toMatchObject({
      type: 'async_action',
      payload: { id: runId },
    });
  });
});
