import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSandbox } from '../../src/adapters/sandbox/sandbox.ts';
import { createClient } from '../../src/client/index.ts';
import type { Sandbox } from '../../src/ports/sandbox.ts';
import { startApiWithProviders, type ApiWithProviders } from '../support/api-with-providers.ts';
import { codeOf } from '../support/api.ts';
import { commandLine } from '../support/command-line.ts';
import { readAll } from '../support/log.ts';

let api: ApiWithProviders;
let sandbox: Sandbox;
beforeAll(async () => {
  api = await startApiWithProviders();
  sandbox = await openSandbox({ childrenMax: 1 });
});
afterAll(async () => {
  await sandbox[Symbol.asyncDispose]();
  await api[Symbol.asyncDispose]();
});

const named = { provider_config_key: 'open', connection_id: 'noted' };
const path = '/connections/noted?provider_config_key=open';
const imported = (more: object) =>
  api.call('POST', '/connections', { body: { ...named, credentials: { type: 'NONE' }, ...more } });
const noted = async () => (await api.call('GET', path)).at('note');

/** As they were published, oldest first. */
async function published(): Promise<unknown[]> {
  const { log, schemas } = api.services;
  const topic = 'svc.connections.v1';
  const codec = await schemas.codec<{ connection_id: string; note: string | null }>(topic);
  const notes: unknown[] = [];
  for (let partition = 0; partition < (await log.partitions(topic)); partition++) {
    for (const { value } of await readAll(log, topic, partition)) {
      const change = value === null ? null : codec.decode(value);
      if (change?.connection_id === 'noted') notes.push(change.note);
    }
  }
  return notes;
}

describe('the note of a connection', () => {
  it('is null until it is set, stays when the connection is imported again, and null removes it', async () => {
    expect((await imported({})).at('note')).toBeNull();
    expect((await imported({ note: 'VIP' })).at('note')).toBe('VIP');
    expect((await imported({})).at('note')).toBe('VIP');
    await api.call('PATCH', path, { body: { tags: { a: 'b' } } });
    expect(await noted()).toBe('VIP');
    await api.call('PATCH', path, { body: { note: null } });
    expect(await noted()).toBeNull();
    await api.call('PATCH', path, { body: { note: 'Renewal in May' } });
    const list = await api.call('GET', '/connections?connectionId=noted');
    expect(list.at('connections.0.note')).toBe('Renewal in May');
    const notes = await published();
    expect(notes).toEqual([null, 'VIP', 'VIP', 'VIP', null, 'Renewal in May']);
  });

  it('is text of at most 255 characters', async () => {
    for (const note of ['', 'x'.repeat(256), 5, 'a\0b']) {
      expect(codeOf(await imported({ note }))).toBe('400 invalid_body');
    }
  });

  it('is known to the client and printed by the command line', async () => {
    const client = createClient({ url: api.url, key: api.keys.dev });
    const body = { ...named, credentials: { type: 'NONE' }, note: 'from the client' };
    const made = await client.request('POST /connections', { body });
    expect(made.note satisfies string | null).toBe('from the client');
    const line = ['connections', 'noted', '-i', 'open', '-e', 'dev', '--json'];
    const variables = { SVC_HOSTPORT: api.url, SVC_SECRET_KEY_DEV: api.keys.dev };
    const { out } = await commandLine(line, { root: '/', sandbox, variables });
    expect(JSON.parse(out)).toMatchObject({ connection_id: 'noted', note: 'from the client' });
  });
});
