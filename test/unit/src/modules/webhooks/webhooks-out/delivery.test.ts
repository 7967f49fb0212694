import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CommandOf } from '#control-plane/entity.ts';
import type { Sealed } from '#kernel/ids.ts';
import { openSigningKeys } from '#modules/access/environments/queries.ts';
import type { ConnectionEntity } from '#modules/connections/connections/entity.ts';
import { actionRunRef, type ActionRunEntity } from '#modules/functions/actions/entity.ts';
import type { LogEntry } from '#modules/operations/logs/events.ts';
import { createEndpoint, patchEndpoint } from '#modules/webhooks/webhook-endpoints/handlers.ts';
import { circuitChannel, circuitName } from '#modules/webhooks/webhooks-out/delivery/circuits.ts';
import { deliveriesOf } from '#modules/webhooks/webhooks-out/outbox.ts';
import { verifyDelivery } from '#rules/signature.ts';
import { refOfConnection, until } from '#test/support/worlds/runs.ts';
import { openWebhookWorld, type WebhookWorld } from '#test/support/worlds/webhook-world.ts';

const actor = 'system';
let hooks: WebhookWorld;

beforeEach(async () => {
  hooks = await openWebhookWorld();
});
afterEach(() => hooks[Symbol.asyncDispose]());

describe('deliveries', () => {
  it('send stable bytes with signatures over exactly them', async () => {
    await hooks.setUrls(`${hooks.receiver.url}/hook`);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1');
    const [request] = await hooks.receiver.got(1);
    expect(request?.body).toBe('{"a":"m1","type":"sync","z":1}');
    const { current } = await openSigningKeys(
      hooks.world.node.vault,
      hooks.currentEnvironment(),
      0,
    );
    const { headers } = request!;
    expect(verifyDelivery(current, request!.body, String(headers['x-svc-hmac-sha256']))).toBe(true);
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'svc/1',
      'webhook-id': 'm1',
    });
    expect(headers['x-svc-signature']).toMatch(/^[0-9a-f]{64}$/);
    await until(async () => (await hooks.actionsOf()).includes('attempt_succeeded'));
    expect(await hooks.actionsOf()).toEqual(['created', 'attempt_succeeded']);
  });

  it('keep the body sealed on the log', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await hooks.send('very-secret-id');
    const [created] = await hooks.steps();
    expect(Buffer.from(created?.body ?? '').toString('latin1')).not.toContain('very-secret-id');
  });

  it('are tried three times, 3 s and 6 s apart, and then listed as failed', async () => {
    hooks.receiver.answer = () => 503;
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1');
    await until(async () => (await hooks.actionsOf()).includes('exhausted'));
    expect(hooks.receiver.received).toHaveLength(3);
    const sent = hooks.receiver.received.map(({ body, headers }) => [body, headers['webhook-id']]);
    expect(sent).toEqual([sent[0], sent[0], sent[0]]);
    expect(hooks.waits).toEqual([3, 6]);
    expect(await hooks.actionsOf()).toEqual([
      'created',
      'attempt_failed',
      'attempt_failed',
      'attempt_failed',
      'exhausted',
    ]);
  });

  it('succeed in a later attempt', async () => {
    hooks.receiver.answer = (_, count) => (count === 1 ? 'reset' : count === 2 ? 500 : 204);
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1');
    await until(async () => (await hooks.actionsOf()).includes('attempt_succeeded'));
    const failed = (await hooks.steps()).filter(({ action }) => action === 'attempt_failed');
    expect(failed).toMatchObject([
      { error_code: 'ECONNRESET', attempt: 1 },
      { status: 500, attempt: 2 },
    ]);
    await hooks.world.logs.flush();
    const entries = await hooks.world.read<LogEntry>('svc.logs.v1');
    const [url, operation] = [new URL(hooks.receiver.url).origin, 'webhook:sync'];
    const facts = {
      method: 'POST',
      url,
      endpoint: 'primary',
      durationMs: expect.any(Number) as number,
    };
    expect(
      entries.map(({ operation_id, operation_type, state, level, context }) => {
        const said = JSON.parse(context ?? 'null') as object;
        return { of: [operation_id, operation_type, state, level], said };
      }),
    ).toEqual([
      {
        of: ['m1.primary', operation, 'running', 'warn'],
        said: { ...facts, attempts: 1, status: null, code: 'ECONNRESET' },
      },
      {
        of: ['m1.primary', operation, 'running', 'warn'],
        said: { ...facts, attempts: 2, status: 500, code: null },
      },
      {
        of: ['m1.primary', operation, 'success', 'info'],
        said: { ...facts, attempts: 3, status: 204, code: null },
      },
    ]);
  });

  it('that are too many for the memory wait in the log, and arrive once each', async () => {
    await hooks.setUrls(hooks.receiver.url);
    const ids = Array.from({ length: 2_400 }, (_, number) => `m${number}`);
    await hooks.send(...ids);
    await using _ = await hooks.startDeliveries();
    await hooks.receiver.got(ids.length);
    await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
    const came = hooks.receiver.received.map(({ headers }) => String(headers['webhook-id']));
    expect(came.sort()).toEqual(ids.sort());
  });

  it('are not repeated when the endpoint is gone', async () => {
    hooks.receiver.answer = () => 410;
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1');
    await until(async () => (await hooks.actionsOf()).includes('exhausted'));
    expect(hooks.receiver.received).toHaveLength(1);
  });

  it('go to both URLs, of which one failing does not stop the other', async () => {
    hooks.receiver.answer = ({ path }) => (path === '/one' ? 400 : 200);
    await hooks.setUrls(`${hooks.receiver.url}/one`, `${hooks.receiver.url}/two`);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1');
    await until(async () => (await hooks.actionsOf('secondary')).includes('attempt_succeeded'));
    await until(async () => (await hooks.actionsOf('primary')).includes('exhausted'));
  });

  it('go to the connection’s own URL in place of both, also one that is stored in clear', async () => {
    await hooks.setUrls(`${hooks.receiver.url}/one`, `${hooks.receiver.url}/two`);
    // As earlier releases have stored it.
    const changes = { webhookUrlOverride: `${hooks.receiver.url}/own` as Sealed<string> };
    await hooks.world.node.control.execute(
      refOfConnection(hooks.world.connection),
      { type: 'Patch', changes },
      { actor },
    );
    const connection = { ...hooks.world.connection, ...changes };
    await using _ = await hooks.startDeliveries();
    const of = { environment: hooks.currentEnvironment(), connection, kind: 'sync' as const };
    const messages = await deliveriesOf(hooks.world.node, of, [{ messageId: 'm1', payload: {} }]);
    await hooks.world.publisher.publish(messages, actor);
    await hooks.receiver.got(1, '/own');
    await until(async () => (await hooks.actionsOf('connection')).includes('attempt_succeeded'));
    expect(hooks.receiver.received).toHaveLength(1);
  });

  it('to an endpoint that hangs hold no other back', async () => {
    hooks.receiver.answer = ({ path }) => (path === '/hang' ? 'hang' : 200);
    await hooks.setUrls(`${hooks.receiver.url}/hang`, `${hooks.receiver.url}/fast`);
    await using _ = await hooks.startDeliveries();
    await hooks.send(...Array.from({ length: 15 }, (_, index) => `m${index}`));
    await hooks.receiver.got(15, '/fast');
    await until(
      async () =>
        (await hooks.actionsOf('secondary')).filter((action) => action === 'attempt_succeeded')
          .length === 15,
    );
  });

  it('wait where another process has opened the circuit of their endpoint, until it closes it', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    const { uid } = hooks.world.environment;
    const { coordination } = hooks.world.services;
    const tell = (news: string) => {
      const circuit = circuitName(hooks.world.node.vault, uid, hooks.receiver.url);
      return coordination.publish(circuitChannel, JSON.stringify({ from: 'other', circuit, news }));
    };
    await tell('opened');
    await hooks.send('m1');
    await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
    expect(hooks.receiver.received).toEqual([]);
    await tell('closed');
    await hooks.receiver.got(1);
  });

  it('notify other processes of an endpoint that fails', async () => {
    const told: string[] = [];
    const { coordination } = hooks.world.services;
    await using _heard = await coordination.subscribe(circuitChannel, (text) => {
      told.push((JSON.parse(text) as { news: string }).news);
    });
    hooks.receiver.answer = () => 500;
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    await hooks.send('m1', 'm2', 'm3', 'm4', 'm5');
    await until(() => told.includes('opened'));
    expect(told.slice(0, 5)).toEqual(['failed', 'failed', 'failed', 'failed', 'opened']);
  });

  describe('that wait behind the open circuit of a wrong URL go out as soon as it is corrected', () => {
    const ids = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6'];
    const [wrong, right] = [
      () => `${hooks.receiver.url}/wrong`,
      () => `${hooks.receiver.url}/right`,
    ];

    /** Fails every delivery until none is tried any more, then corrects the URL. */
    async function correct(
      send: () => Promise<void>,
      change: () => Promise<unknown>,
      count = ids.length,
    ) {
      hooks.receiver.answer = ({ path }) => (path === '/wrong' ? 500 : 200);
      const opened = Promise.withResolvers<undefined>();
      const { coordination } = hooks.world.services;
      await using _heard = await coordination.subscribe(circuitChannel, (text) => {
        if ((JSON.parse(text) as { news: string }).news === 'opened') opened.resolve(undefined);
      });
      await using _ = await hooks.startDeliveries();
      await send();
      await opened.promise;
      await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
      await change();
      await hooks.receiver.got(count, '/right');
      // Waits put the clock forward: the minute of the circuit is not over.
      expect(hooks.waits.reduce((sum, seconds) => sum + seconds, 0)).toBeLessThan(60);
    }

    it('in the environment', async () => {
      await hooks.setUrls(wrong());
      await correct(
        () => hooks.send(...ids),
        () => hooks.setUrls(right()),
      );
    });

    it('also where the view has their outcomes later than the new URL', async () => {
      const { deliveries } = hooks.world.services;
      await hooks.setUrls(wrong());
      const has = vi.spyOn(deliveries, 'has').mockReturnValue(false);
      const listed = vi.spyOn(deliveries.tables, 'pending');
      await correct(
        () => hooks.send(...ids),
        async () => {
          await hooks.setUrls(right());
          await until(() => listed.mock.calls.length > 0);
          has.mockRestore();
          // The view changes once more.
          await hooks.send('m7');
        },
        [...ids, 'm7'].length,
      );
    });

    it('in an endpoint', async () => {
      const { node, environment } = hooks.world;
      const { uid } = environment;
      const wanted = {
        displayName: '',
        url: wrong(),
        kinds: null,
        integrationKey: null,
        connectionId: null,
        isEnabled: true,
      };
      const { id } = await createEndpoint(node, uid, wanted, { actor });
      await correct(
        () => hooks.send(...ids),
        () => patchEndpoint(node, uid, id, { url: right() }, { actor }),
      );
    });

    it.each(['changed', 'connected again'])('of a connection that is %s', async (how) => {
      const { node, connection } = hooks.world;
      const ask = (body: CommandOf<ConnectionEntity>) =>
        node.control.execute(refOfConnection(connection), body, { actor });
      // In plain text, as earlier releases stored them.
      await ask({ type: 'Patch', changes: { webhookUrlOverride: wrong() as Sealed<string> } });
      const corrected = { webhookUrlOverride: right() as Sealed<string> };
      await correct(
        () => hooks.send(...ids),
        () =>
          ask(
            how === 'changed'
              ? { type: 'Patch', changes: corrected }
              : { ...connection, type: 'Import', ...corrected },
          ),
      );
    });
  });

  it('behind the open circuit of a URL wait though something else of its environment changes', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _ = await hooks.startDeliveries();
    const { uid } = hooks.world.environment;
    const circuit = circuitName(hooks.world.node.vault, uid, hooks.receiver.url);
    const text = JSON.stringify({ from: 'other', circuit, news: 'opened' });
    await hooks.world.services.coordination.publish(circuitChannel, text);
    await hooks.send('m1');
    await until(() => hooks.hasTakenAll('svc.webhook-deliveries'));
    await hooks.setUrls(hooks.receiver.url, `${hooks.receiver.url}/second`);
    await hooks.send('m2');
    await hooks.receiver.got(1, '/second');
    expect(hooks.receiver.received.map(({ path }) => path)).toEqual(['/second']);
  });

  it('are cancelled when the URL was removed meanwhile', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await hooks.send('m1');
    await hooks.setUrls(null);
    await using _ = await hooks.startDeliveries();
    await until(async () => (await hooks.actionsOf()).includes('cancelled'));
    expect(hooks.receiver.received).toEqual([]);
  });

  it('survive the process: what was not finished is sent by the next one, what was is not', async () => {
    hooks.receiver.answer = ({ body }) => (body.includes('"stuck"') ? 'hang' : 200);
    await hooks.setUrls(hooks.receiver.url);
    const first = await hooks.startDeliveries();
    await hooks.send('stuck', 'done');
    await until(async () => (await hooks.actionsOf()).includes('attempt_succeeded'));
    await hooks.receiver.got(2);
    await first[Symbol.asyncDispose]();
    hooks.receiver.answer = () => 200;
    await using _ = await hooks.startDeliveries();
    await until(
      async () =>
        (await hooks.actionsOf()).filter((action) => action === 'attempt_succeeded').length === 2,
    );
    const bodies = hooks.receiver.received.map(({ body }) =>
      body.includes('"stuck"') ? 'stuck' : 'done',
    );
    expect(bodies.sort()).toEqual(['done', 'stuck', 'stuck']);
  });
});

describe('the webhook of a run', () => {
  it('is made when the records can be read, and not before', async () => {
    await hooks.setUrls(hooks.receiver.url);
    const published = Promise.withResolvers<undefined>();
    let asked = 0;
    await using _webhooks = await hooks.startWebhooks(async () => {
      asked += 1;
      await published.promise;
    });
    await using _deliveries = await hooks.startDeliveries();
    await hooks.endRun('succeeded');
    await until(() => asked === 2);
    expect(await hooks.steps()).toEqual([]);
    published.resolve(undefined);
    const requests = await hooks.receiver.got(2);
    const models = requests.map(({ body }) => (JSON.parse(body) as { model: string }).model);
    expect(models.sort()).toEqual(['Contact', 'Deal']);
  });

  it('is one in all when the run failed', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _webhooks = await hooks.startWebhooks();
    await using _deliveries = await hooks.startDeliveries();
    await hooks.endRun('failed');
    const [request] = await hooks.receiver.got(1);
    expect(JSON.parse(request!.body)).toMatchObject({ success: false, model: 'Contact,Deal' });
  });

  it('is not made when no URL is configured', async () => {
    let asked = 0;
    await using _webhooks = await hooks.startWebhooks(async () => void (asked += 1));
    await hooks.endRun('succeeded');
    await until(() => hooks.hasTakenAll('svc.sync-webhooks'));
    await hooks.setUrls(hooks.receiver.url);
    const runId = await hooks.endRun('succeeded');
    await until(async () => (await hooks.steps()).length === 2);
    expect((await hooks.steps()).map(({ run_id }) => run_id)).toEqual([runId, runId]);
    expect(asked).toBe(2);
  });

  it('reports an asynchronous action', async () => {
    await hooks.setUrls(hooks.receiver.url);
    await using _webhooks = await hooks.startWebhooks();
    await using _deliveries = await hooks.startDeliveries();
    const { uid: environmentUid } = hooks.world.environment;
    const runId = crypto.randomUUID();
    const of = { environmentUid, integrationKey: 'crm', connectionId: 'acme', runId };
    const facts = {
      connectionUid: hooks.world.connection.uid,
      name: 'later',
      functionVersion: '1',
      isAsync: true,
      depth: 0,
      retriesLeft: 0,
      input: null,
      inputHash: null,
    };
    const ask = (body: CommandOf<ActionRunEntity>) =>
      hooks.world.node.control.execute(actionRunRef(of), body, { actor });
    await ask({ type: 'Queue', ...of, ...facts });
    await ask({ type: 'RunStarted', attempt: 1, runner: 'r' });
    await ask({
      type: 'RunEnded',
      attempt: 1,
      status: 'succeeded',
      output: null,
      outputHash: null,
      error: null,
    });
    const [request] = await hooks.receiver.got(1);
    expect(JSON.parse(request!.body)).toMatchObject({
      type: 'async_action',
      payload: { id: runId },
    });
  });
});
