/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access --
   a test looks into any answer, and expect.any() is anything */
import { randomBytes } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { topics } from '../../streams/topics.ts';
import {
  openCrmWorld,
  succeeded,
  type CrmConnection,
  type CrmWorld,
} from '../support/crm-world.ts';
import { openLogOf } from '../support/deployment.ts';

const secret = (what: string) => `${what}-${randomBytes(24).toString('base64url')}`;
/** Each of them is a secret of the application and must stay sealed. */
const secrets = {
  apiKey: secret('api-key'),
  metadata: secret('metadata'),
  input: secret('action-input'),
  clientSecret: secret('client-secret'),
  variable: secret('variable'),
};
/** A record's payload is plain by default: the search must find it, or it would find nothing. */
const plain = secret('record');

let world: CrmWorld;
let crm: CrmConnection;
let customKey = '';
const stderr: string[] = [];
beforeAll(async () => {
  world = await openCrmWorld({ apiKey: secrets.apiKey, env: { SVC_LOG_LEVEL: 'debug' } });
  crm = await world.connect({ metadata: { webhookSecret: secrets.metadata } });
  const { gateway } = world;
  const scopes = ['environment:records:read'];
  const body = { environment_id: world.environmentId, display_name: 'records', scopes };
  const made = await gateway.call('POST', '/environment/api-keys', {
    key: gateway.accountKey,
    body,
  });
  customKey = succeeded(made).data.secret as string;
});
afterAll(() => world[Symbol.asyncDispose]());

/** Stops with SIGTERM and starts again over the same data. */
async function restart() {
  const lines = world.gateway.log;
  const code = await world.restart();
  stderr.push(...lines);
  return code;
}

describe('a service that is stopped and started', () => {
  it('has everything it had', async () => {
    crm.account.contacts = Array.from({ length: 30 }, (_, n) => ({ id: `c-${n}`, name: plain }));
    await crm.run('contacts');
    const before = await crm.all('Contact');
    const shown = await crm.shown();
    expect(await restart()).toBe(0);

    expect(await crm.all('Contact')).toEqual(before);
    const { last_fetched_at: _, ...known } = shown;
    expect(await crm.shown()).toMatchObject(known);
    const cursor = before.at(-1)!._svc_metadata.cursor;
    const read = { key: customKey, headers: crm.headers };
    const after = await world.gateway.call(
      'GET',
      `/records?model=Contact&cursor=${encodeURIComponent(cursor)}`,
      read,
    );
    expect(after).toMatchObject({ status: 200, body: { records: [], next_cursor: null } });
    expect((await crm.action('echo', 'still here')).body).toBe('still here');
    expect(await crm.run('contacts')).toMatchObject({
      responseResults: { added: 0, updated: 0, deleted: 0 },
    });
    crm.account.contacts.push({ id: 'c-new', name: plain });
    await crm.run('contacts');
    const [added, ...more] = await crm.all('Contact', cursor);
    expect([added?.id, more]).toEqual(['c-new', []]);
  });

  it('goes on with a run where it was', async () => {
    await crm.trigger('stepwise');
    crm.account.openSteps(2);
    await crm.account.came('/steps/3');
    expect(await restart()).toBe(0);
    await crm.account.came('/steps/3', 2);
    expect(await crm.status('stepwise')).toMatchObject({
      status: 'RUNNING',
      checkpoint: { done: 2 },
    });
    crm.account.openSteps(6);
    expect(await crm.webhook('stepwise', 1)).toMatchObject({
      success: true,
      responseResults: { added: 6, updated: 0, deleted: 0 },
    });
    const steps = await crm.all('Step');
    expect(steps.map(({ id, attemptOf }) => [id, attemptOf])).toEqual([
      ['step-1', 0],
      ['step-2', 0],
      ['step-3', 2],
      ['step-4', 2],
      ['step-5', 2],
      ['step-6', 2],
    ]);
    const asked = crm.account.asked.filter(({ path }) => path === '/steps/1');
    expect(asked).toHaveLength(1);
  });

  it('finishes an action that is under way', async () => {
    crm.account.openSteps(0);
    const asked = crm.account.asked.filter(({ path }) => path === '/steps/9').length;
    const answer = crm.action('request', { endpoint: '/steps/9' });
    await crm.account.came('/steps/9', asked + 1);
    const stopped = restart();
    crm.account.openSteps(9);
    expect((await answer).body).toEqual({ status: 200, data: { step: 9 } });
    expect(await stopped).toBe(0);
  });

  it('loses nothing that was acknowledged when it is killed in the middle', async () => {
    crm.account.openSteps(3);
    await crm.trigger('stepwise', { opts: { reset: true, emptyCache: true } });
    await crm.account.came('/steps/4', 2);
    const lines = world.gateway.log;
    world.gateway.process.kill('SIGKILL');
    expect(await world.restart()).toBeNull();
    stderr.push(...lines);
    expect(await crm.status('stepwise')).toMatchObject({
      status: 'RUNNING',
      checkpoint: { done: 3 },
    });
    const steps = await crm.all('Step');
    expect(steps.map(({ id }) => id)).toEqual(['step-1', 'step-2', 'step-3']);
    expect(await crm.all('Contact')).toHaveLength(31);
    expect((await crm.action('echo', 1)).body).toBe(1);
  });
});

it('no secret stands in the clear: in no file, no message of the log and no line of its own log', async () => {
  const { gateway } = world;
  const credentials = { type: 'OAUTH2', client_id: 'app', client_secret: secrets.clientSecret };
  const body = { provider: 'crm-oauth', unique_key: 'oauth', credentials };
  succeeded(await gateway.call('POST', '/integrations', { body }));
  const variable = { body: { value: secrets.variable } };
  succeeded(await gateway.call('PUT', '/environment-variables/SECRET', variable));
  expect((await crm.action('inspect')).body.metadata).toEqual({ webhookSecret: secrets.metadata });
  expect((await crm.action('echo', secrets.input)).body).toBe(secrets.input);
  crm.account.plan('/denied', { status: 401, body: { error: 'unauthorized' } });
  expect((await crm.action('request', { endpoint: '/denied' })).status).toBe(424);
  await gateway.stop();
  stderr.push(...gateway.log);

  const { key, prodKey, accountKey } = gateway;
  const hidden = { ...secrets, key, prodKey, accountKey, customKey, signing: world.signingKey };
  const found = (text: string) =>
    Object.entries(hidden).flatMap(([what, value]) => (text.includes(value) ? [what] : []));
  for (const [file, text] of await filesIn(gateway.dataDir))
    expect([file, found(text)]).toEqual([file, []]);
  const messages = await messagesIn(gateway.dataDir);
  for (const [topic, text] of messages) expect([topic, found(text)]).toEqual([topic, []]);
  expect(messages.some(([topic, text]) => topic === 'svc.records.v1' && text.includes(plain))).toBe(
    true,
  );
  expect(found(stderr.join('\n'))).toEqual([]);
  expect(stderr.length).toBeGreaterThan(0);
});

async function filesIn(folder: string): Promise<[string, string][]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return Promise.all(
    files.map(async ({ parentPath, name }): Promise<[string, string]> => {
      return [name, await readFile(join(parentPath, name), 'latin1')];
    }),
  );
}

/** Keys, headers and values of every topic, unpacked. */
async function messagesIn(dataDir: string): Promise<[string, string][]> {
  await using opened = await openLogOf(dataDir);
  const { log } = opened;
  const texts: [string, string][] = [];
  for (const topic of Object.keys(topics)) {
    for (let partition = 0; partition < (await log.partitions(topic)); partition += 1) {
      const offset = await log.startOffset(topic, partition);
      for await (const { messages } of log.read({ topic, partition, offset })) {
        for (const { key, value, headers } of messages) {
          const text = Buffer.from(value ?? []).toString('latin1');
          texts.push([topic, `${key} ${JSON.stringify(headers)} ${text}`]);
        }
      }
    }
  }
  return texts;
}
