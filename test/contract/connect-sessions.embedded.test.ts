import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '#kernel/time.ts';
import { bootstrap } from '#modules/access/environments/handlers.ts';
import {
  createSession,
  defaultsOf,
  endSession,
  sessionOf,
  type SessionRequest,
} from '#modules/connections/connect-sessions/handlers.ts';
import {
  openControlWorld,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';

const options = { actor: 'key:k1' };
const refusal = (code: string): unknown => expect.objectContaining({ code });
const clock = systemClock;

let world: ControlWorld;
let owners: AsyncDisposable;
let node: ControlNode;
let wish: SessionRequest;

beforeEach(async () => {
  world = await openControlWorld();
  owners = await world.startOwners();
  node = await world.startNode({ name: 'first' });
  const made = await bootstrap(node, { accountKey: null, keyDev: null, keyProd: null });
  wish = {
    environmentUid: made?.environments[0]?.uid ?? '',
    endUser: { id: 'u1', email: null, displayName: null, tags: {}, organization: null },
    organization: null,
    tags: undefined,
    allowedIntegrations: [],
    defaults: { crm: { connectionConfig: { region: 'eu' } } },
    docs: {},
    webhookUrlOverride: null,
    reconnects: null,
  };
});

afterEach(async () => {
  await node[Symbol.asyncDispose]();
  await owners[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

describe('a connect session', () => {
  it('is known to every node, with what the application fixed', async () => {
    await using other = await world.startNode();
    const { session, token } = await createSession(node, wish, options);
    const known = await sessionOf({ ...other, clock }, token);
    expect(known).toEqual(session);
    expect(known).toMatchObject({ tags: { end_user_id: 'u1' } });
    expect(await defaultsOf(other.vault, known, 'crm')).toEqual({
      connectionConfig: { region: 'eu' },
    });
    expect(await defaultsOf(other.vault, known, 'constructor')).toEqual({});
  });

  it('survives a restart of owners and nodes', async () => {
    const { session, token } = await createSession(node, wish, options);
    await node[Symbol.asyncDispose]();
    await owners[Symbol.asyncDispose]();
    owners = await world.startOwners();
    node = await world.startNode({ name: 'first' });
    expect(await sessionOf({ ...node, clock }, token)).toEqual(session);
  });

  it('that was ended on one node is over on the others', async () => {
    await using other = await world.startNode();
    const { session, token } = await createSession(node, wish, options);
    await sessionOf({ ...other, clock }, token);
    await endSession(node, session, options);
    await endSession(node, session, options);
    await other.control.view.caughtUp();
    await expect(sessionOf({ ...other, clock }, token)).rejects.toEqual(
      refusal('unknown_connect_session_token'),
    );
  });
});
