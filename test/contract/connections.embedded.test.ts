import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EntityTypes } from '#control-plane/entity.ts';
import { systemClock } from '#kernel/time.ts';
import { apiKeyEntity } from '#modules/access/api-keys/entity.ts';
import { authenticate, deleteKey, revealKey } from '#modules/access/api-keys/handlers.ts';
import { listKeys } from '#modules/access/api-keys/queries.ts';
import { deleteEnvironment } from '#modules/access/environments/deletion.ts';
import {
  bootstrap,
  type BootstrapResult,
  createEnvironment,
} from '#modules/access/environments/handlers.ts';
import { listEnvironments } from '#modules/access/environments/queries.ts';
import { connectionEntity } from '#modules/connections/connections/entity.ts';
import {
  deleteConnection,
  importConnection,
  patchConnection,
  storeCredentials,
  writeMetadata,
  type ConnectionImport,
} from '#modules/connections/connections/handlers.ts';
import { queryConnections, requireConnection } from '#modules/connections/connections/queries.ts';
import { openCredentials, openMetadata } from '#modules/connections/credentials/sealing.ts';
import { integrationEntity } from '#modules/connections/integrations/entity.ts';
import {
  createIntegration,
  deleteIntegration,
  readIntegrationCredentials,
  updateIntegration,
} from '#modules/connections/integrations/handlers.ts';
import { findIntegration } from '#modules/connections/integrations/queries.ts';
import { functionRef, functionEntity } from '#modules/functions/functions/entity.ts';
import { variableEntity } from '#modules/functions/variables/entity.ts';
import { readVariables, setVariable } from '#modules/functions/variables/handlers.ts';
import { aFunction } from '#test/support/fakes/a-function.ts';
import { dependentsThatNote } from '#test/support/fakes/dependents.ts';
import {
  aProvider,
  everythingOn,
  openControlWorld,
  type ControlNode,
  type ControlWorld,
} from '#test/support/worlds/control.ts';

const options = { actor: 'system' };
const noSecrets = { accountKey: null, keyDev: null, keyProd: null };
const refusal = (code: string): unknown => expect.objectContaining({ code });
const oauth = aProvider({ name: 'crm-oauth', auth_mode: 'OAUTH2' });

let world: ControlWorld;
let node: ControlNode;
let owners: AsyncDisposable;
let first: BootstrapResult;
let environmentUid: string;

beforeEach(async () => {
  world = await openControlWorld();
  owners = await world.startOwners();
  node = await world.startNode();
  const made = await bootstrap(node, noSecrets);
  if (made === null) throw new Error('not the first start');
  first = made;
  environmentUid = first.environments[0]?.uid ?? '';
  await createIntegration(
    node,
    { environmentUid, uniqueKey: 'crm', provider: aProvider() },
    options,
  );
});

afterEach(async () => {
  await node[Symbol.asyncDispose]();
  await owners[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

const wanted = (more: Partial<ConnectionImport> = {}): ConnectionImport => ({
  environmentUid,
  integrationKey: 'crm',
  connectionId: 'acme',
  provider: aProvider(),
  credentials: { credentials: { type: 'API_KEY', apiKey: 'k1' }, expiresAt: null },
  ...more,
});
/** What a deletion asks of the records; the owner of records has tests of its own. */
const recordsThatNote = () => dependentsThatNote(node);

describe('the first start', () => {
  it('makes dev, prod and the keys once', async () => {
    expect(listEnvironments(node.control).map(({ name }) => name)).toEqual(['dev', 'prod']);
    expect(await bootstrap(node, noSecrets)).toBeNull();
    expect(listKeys(node.control, environmentUid)).toMatchObject([
      { displayName: 'Default - Full access', scopes: ['environment:*'] },
    ]);
  });

  it('takes the secrets of the settings', async () => {
    await using fresh = await openControlWorld();
    await using _ = await fresh.startOwners();
    await using theirs = await fresh.startNode();
    const keyDev = `svc_env_${'a'.repeat(43)}`;
    const made = await bootstrap(theirs, { ...noSecrets, keyDev });
    expect(made?.environments[0]?.secret).toBe(keyDev);
    expect(await authenticate({ ...theirs, clock: systemClock }, keyDev)).not.toBeNull();
  });
});

describe('an API key', () => {
  it('is known by its secret on every node, until it is deleted', async () => {
    await using other = await world.startNode();
    const secret = first.environments[0]?.secret ?? '';
    const key = (await authenticate({ ...other, clock: systemClock }, secret))?.key ?? null;
    expect(key).toMatchObject({ environmentUid, lastFour: secret.slice(-4) });
    if (key === null) throw new Error('unknown');
    expect(JSON.stringify(key)).not.toContain(secret);
    expect(await revealKey(other, key)).toBe(secret);
    await deleteKey(node, environmentUid, key.id, options);
    expect(await authenticate({ ...node, clock: systemClock }, secret)).toBeNull();
    const ofAccount = await authenticate({ ...node, clock: systemClock }, first.accountKey);
    expect(ofAccount?.key).toMatchObject({ environmentUid: null });
  });
});

describe('a connection', () => {
  it('is created, then authorized again under the same id', async () => {
    const created = await importConnection(node, wanted({ metadata: { plan: 'pro' } }), options);
    expect(created).toMatchObject({ wasCreated: true });
    const credentials = { credentials: { type: 'API_KEY', apiKey: 'k2' }, expiresAt: null };
    const again = await importConnection(node, wanted({ credentials }), options);
    expect(again.connection).toMatchObject({
      uid: created.connection.uid,
      id: created.connection.id,
      credentialsVersion: 2,
    });
    expect(await openCredentials(node.vault, again.connection)).toEqual(credentials.credentials);
    expect(await openMetadata(node.vault, again.connection)).toEqual({ plan: 'pro' });
  });

  it('made on two nodes at once is one, readable under one key', async () => {
    await using other = await world.startNode();
    const made = await Promise.all([
      importConnection(node, wanted(), options),
      importConnection(other, wanted(), options),
    ]);
    expect(new Set(made.map(({ connection }) => connection.uid)).size).toBe(1);
    await node.control.view.caughtUp();
    const known = await requireConnection(node.control, environmentUid, 'crm', 'acme');
    expect(await openCredentials(node.vault, known)).toMatchObject({ apiKey: 'k1' });
  });

  it('without an id gets the same one when the request is repeated', async () => {
    const keyed = { ...options, idempotencyKey: 'once' };
    const { connectionId: _, ...unnamed } = wanted();
    const one = await importConnection(node, unnamed, keyed);
    const two = await importConnection(node, unnamed, keyed);
    expect(two.connection).toEqual(one.connection);
  });

  it('has its metadata merged and replaced, for several at once or none', async () => {
    await importConnection(node, wanted({ metadata: { a: 1, b: { c: 2 } } }), options);
    const of = { environmentUid, integrationKey: 'crm' };
    const merge = { ...of, connectionIds: ['acme'], metadata: { b: 3 }, how: 'merge' } as const;
    await writeMetadata(node, merge, options);
    const read = async () =>
      openMetadata(
        node.vault,
        await requireConnection(node.control, environmentUid, 'crm', 'acme'),
      );
    expect(await read()).toEqual({ a: 1, b: 3 });
    const partly = { ...merge, connectionIds: ['acme', 'none'], metadata: { x: 1 } };
    await expect(writeMetadata(node, partly, options)).rejects.toThrow(
      refusal('unknown_connection'),
    );
    expect(await read()).toEqual({ a: 1, b: 3 });
    await writeMetadata(node, { ...merge, how: 'replace', metadata: {} }, options);
    expect(await read()).toEqual({});
  });

  it('takes renewed credentials once per version', async () => {
    const { connection } = await importConnection(node, wanted(), options);
    const renewed = { credentials: { type: 'API_KEY', apiKey: 'k2' }, expiresAt: 5 };
    const stored = await storeCredentials(node, connection, renewed, options);
    expect(stored).toMatchObject({ credentialsVersion: 2, expiresAt: 5 });
    const late = storeCredentials(node, connection, renewed, options);
    await expect(late).rejects.toThrow(refusal('conflict'));
  });

  it('that is unknown is refused by names', async () => {
    const ask = (integration: string) =>
      requireConnection(node.control, environmentUid, integration, 'nobody');
    await expect(ask('crm')).rejects.toThrow(/"nobody" of the integration "crm".*"dev"/);
    await expect(ask('other')).rejects.toThrow(refusal('unknown_provider_config'));
  });

  it('is found by each filter of the list, newest first', async () => {
    const endUser = {
      id: 'u1',
      email: 'Ann@Example.com',
      displayName: 'Ann Lee',
      tags: {},
      organization: { id: 'o1', displayName: null },
    };
    await importConnection(node, wanted({ connectionId: 'a%_1' }), options);
    await importConnection(node, wanted({ connectionId: 'b2', endUser }), options);
    await importConnection(node, wanted({ connectionId: 'c3', tags: { Team: 'X' } }), options);
    const ids = (query: object) =>
      queryConnections(node.control, { environmentUid, ...query }).map((of) => of.connectionId);
    expect(ids({})).toEqual(['c3', 'b2', 'a%_1']);
    expect(ids({ connectionId: 'b2' })).toEqual(['b2']);
    expect(ids({ search: 'LEE' })).toEqual(['b2']);
    expect(ids({ search: 'ann@example' })).toEqual(['b2']);
    expect(ids({ search: '%_' })).toEqual(['a%_1']);
    expect(ids({ endUserId: 'u1' })).toEqual(['b2']);
    expect(ids({ endUserOrganizationId: 'o1' })).toEqual(['b2']);
    expect(ids({ integrationKeys: ['crm', 'x'] })).toHaveLength(3);
    expect(ids({ integrationKeys: ['x'] })).toEqual([]);
    expect(ids({ tags: { team: 'X' } })).toEqual(['c3']);
    expect(ids({ tags: { team: 'x' } })).toEqual([]);
    expect(ids({ tags: { team: 'X', end_user_id: 'u1' } })).toEqual([]);
    expect(ids({ limit: 2, page: 1 })).toEqual(['a%_1']);
    expect(queryConnections(node.control, { environmentUid: 'other' })).toEqual([]);
  });

  it('has its tags replaced, those of the end user first', async () => {
    const { connection } = await importConnection(node, wanted({ tags: { old: '1' } }), options);
    const endUser = { id: 'u1', email: null, displayName: null, tags: {}, organization: null };
    const patched = await patchConnection(
      node,
      connection,
      { endUser, tags: { New: '2' } },
      options,
    );
    expect(patched.tags).toEqual({ end_user_id: 'u1', new: '2' });
  });

  it('leaves nothing when it is deleted, and its id can be used again', async () => {
    const named = {
      environmentUid,
      integrationKey: 'crm',
      name: 's',
      bundle: '',
      contentHash: 'h',
    };
    const parts = { ...aFunction, ...named, kind: 'sync', models: ['Contact'] } as const;
    const ref = functionRef(environmentUid, 'crm', 'sync', 's');
    await node.control.execute(ref, { type: 'Deploy', parts }, options);
    const { connection } = await importConnection(node, wanted(), options);
    const { closed, ...noting } = recordsThatNote();
    await deleteConnection({ ...node, ...noting }, connection, options);
    expect(closed).toEqual(['Contact/base']);
    await expect(node.vault.ready(connection.uid)).rejects.toThrow(refusal('not_found'));
    expect(() => node.vault.open(connection.uid, connection.connectionConfig, '')).toThrow();
    expect(queryConnections(node.control, { environmentUid })).toEqual([]);
    const again = await importConnection(node, wanted(), options);
    expect(again.wasCreated).toBe(true);
    expect(again.connection.uid).not.toBe(connection.uid);
  });
});

describe('an integration', () => {
  const credentials = {
    type: 'OAUTH2',
    client_id: 'id',
    client_secret: 'one',
    webhook_secret: 'w',
  };
  const create = () =>
    createIntegration(
      node,
      { environmentUid, uniqueKey: 'oauth', provider: oauth, credentials },
      options,
    );

  it('keeps what a patch of its credentials leaves out', async () => {
    await create();
    const sent = { type: 'OAUTH2', client_id: 'id', client_secret: 'two' };
    const patch = { credentials: sent, custom: { a: '1' } };
    const changed = await updateIntegration(
      { ...node, ...recordsThatNote() },
      environmentUid,
      'oauth',
      patch,
      oauth,
      options,
    );
    expect(changed.custom).toEqual({ a: '1' });
    expect(await readIntegrationCredentials(node, changed)).toMatchObject({
      clientSecret: 'two',
      webhookSecret: 'w',
    });
    const cleared = { credentials: { ...sent, webhook_secret: '' } };
    const again = await updateIntegration(
      { ...node, ...recordsThatNote() },
      environmentUid,
      'oauth',
      cleared,
      oauth,
      options,
    );
    expect(await readIntegrationCredentials(node, again)).toMatchObject({ webhookSecret: null });
  });

  it('is renamed with its functions, but not with connections', async () => {
    const made = await create();
    const path = functionRef(environmentUid, 'oauth', 'action', 'a');
    const named = {
      environmentUid,
      integrationKey: 'oauth',
      name: 'a',
      bundle: '',
      contentHash: 'h',
    };
    const parts = { ...aFunction, ...named, kind: 'action' } as const;
    await node.control.execute(path, { type: 'Deploy', parts }, options);
    const patch = { uniqueKey: 'renamed' };
    const renamed = await updateIntegration(
      { ...node, ...recordsThatNote() },
      environmentUid,
      'oauth',
      patch,
      oauth,
      options,
    );
    expect(renamed).toMatchObject({ uid: made.uid, uniqueKey: 'renamed' });
    expect(findIntegration(node.control, environmentUid, 'oauth')).toBeNull();
    expect(await readIntegrationCredentials(node, renamed)).toMatchObject({ clientSecret: 'one' });
    const moved = node.control.view.list(functionEntity, [environmentUid, 'renamed']);
    expect(moved).toMatchObject([{ state: { name: 'a', integrationKey: 'renamed' } }]);
    await importConnection(node, wanted(), options);
    const refused = updateIntegration(
      { ...node, ...recordsThatNote() },
      environmentUid,
      'crm',
      patch,
      aProvider(),
      options,
    );
    await expect(refused).rejects.toThrow(refusal('invalid_body'));
  });

  it('is deleted with its connections', async () => {
    await importConnection(node, wanted(), options);
    const { closed: _, ...noting } = recordsThatNote();
    await deleteIntegration({ ...node, ...noting }, environmentUid, 'crm', options);
    expect(findIntegration(node.control, environmentUid, 'crm')).toBeNull();
    expect(queryConnections(node.control, { environmentUid })).toEqual([]);
  });
});

it('deletes an environment with everything in it', async () => {
  const { closed: _, ...noting } = recordsThatNote();
  const { environment } = await createEnvironment(node, { name: 'temp' }, options);
  const of = { environmentUid: environment.uid };
  await createIntegration(node, { ...of, uniqueKey: 'crm', provider: aProvider() }, options);
  await importConnection(node, wanted(of), options);
  await setVariable(node, environment.uid, { name: 'A', value: '1' }, options);
  await deleteEnvironment({ ...node, ...noting }, environment.uid, options);
  for (const kind of [
    apiKeyEntity,
    variableEntity,
    integrationEntity,
    connectionEntity,
    functionEntity,
  ]) {
    expect(node.control.view.list<EntityTypes>(kind, [environment.uid])).toEqual([]);
  }
  expect(listEnvironments(node.control)).toHaveLength(2);
  const prod = first.environments[1]?.uid ?? '';
  const refused = deleteEnvironment({ ...node, ...noting }, prod, options);
  await expect(refused).rejects.toThrow(refusal('cannot_delete_prod_environment'));
});

it('lets no secret out in the clear: not to a topic, a store or a view', async () => {
  const canary = 'canary-7f3a91';
  const of = (name: string) => `${canary}-${name}`;
  await importConnection(
    node,
    wanted({
      credentials: { credentials: { type: 'API_KEY', apiKey: of('key') }, expiresAt: null },
      metadata: { hook: of('metadata') },
      connectionConfig: { token: of('config') },
    }),
    { ...options, idempotencyKey: 'once' },
  );
  const secrets = { type: 'OAUTH2', client_id: 'id', client_secret: of('client') };
  const integration = { environmentUid, uniqueKey: 'oauth', provider: oauth, credentials: secrets };
  await createIntegration(node, integration, options);
  await setVariable(node, environmentUid, { name: 'A', value: of('variable') }, options);
  expect(await readVariables(node.control, node.vault, environmentUid)).toEqual([
    { name: 'A', value: of('variable') },
  ]);
  const keys = [first.accountKey, ...first.environments.map(({ secret }) => secret)];
  const places = [await everythingOn(world.log)];
  for (const folder of ['owners', 'views']) {
    for (const name of await readdir(join(world.folder, folder))) {
      places.push(await readFile(join(world.folder, folder, name), 'latin1'));
    }
  }
  for (const place of places) {
    for (const secret of [canary, ...keys]) expect(place.includes(secret)).toBe(false);
  }
});
