import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '#kernel/limits.ts';
import { isoMillis } from '#kernel/time.ts';
import { movedClock } from '#test/support/fakes/clock.ts';
import { codeOf, startApi, type Api, type ApiAnswer } from '#test/support/worlds/api.ts';
import { browserAt, idOf, outcome } from '#test/support/worlds/console-browser.ts';

const clock = movedClock();
let api: Api;
let otherNode: string;
beforeAll(async () => {
  api = await startApi({ clock });
  otherNode = await api.startAnother();
});
afterAll(() => api[Symbol.asyncDispose]());

const { send, signIn } = browserAt(() => api);
const overlapSeconds = limits.keyOverlapMs / 1000;
const hourMs = 3_600_000;

/** A key in a list, as far as these tests read it. */
interface ListedKey {
  readonly id: string;
  readonly secret: string;
  readonly last_used_at: string | null;
  readonly last_used_from: string | null;
  readonly expires_at: string | null;
  readonly previous_secret: null | {
    readonly secret: string;
    readonly valid_until: string;
    readonly last_used_at: string | null;
    readonly last_used_from: string | null;
  };
}

/** The same endpoints manage both kinds of keys. */
const kinds = [
  { kind: 'an environment', root: '/environment/api-keys', reads: '/integrations' },
  { kind: 'the account', root: '/account/api-keys', reads: '/environments' },
] as const;

type Kind = (typeof kinds)[number];
const [ofEnvironment] = kinds;

const asAccount = (body?: unknown) => ({
  key: api.keys.account,
  ...(body === undefined ? {} : { body }),
});

async function environmentId(): Promise<number> {
  const { body } = await api.call('GET', '/environments', asAccount());
  const { data } = body as { data: readonly { id: number; name: string }[] };
  return data.find(({ name }) => name === 'dev')?.id ?? 0;
}

async function create({ root }: Kind, more: object = {}): Promise<ApiAnswer> {
  const named = { display_name: randomUUID(), ...more };
  const body =
    root === '/account/api-keys' ? named : { ...named, environment_id: await environmentId() };
  return api.call('POST', root, asAccount(body));
}

async function createdKey(kind: Kind, more: object = {}) {
  const made = await create(kind, more);
  expect(codeOf(made)).toBe('200 ');
  return made.at('data') as { id: string; secret: string; display_name: string };
}

const rotate = ({ root }: Kind, id: string, body: object = {}) =>
  api.call('POST', `${root}/${id}/rotate`, asAccount(body));

async function listed({ root }: Kind, id: string): Promise<ListedKey> {
  const query = root === '/account/api-keys' ? '' : `?environment_id=${await environmentId()}`;
  const { body } = await api.call('GET', `${root}${query}`, asAccount());
  const found = (body as { data: readonly ListedKey[] }).data.find((key) => key.id === id);
  if (found === undefined) throw new Error('not listed');
  return found;
}

/** The outcome of a call with the secret, at both nodes. */
async function outcomesOf({ reads }: Kind, secret: string): Promise<readonly string[]> {
  const read = async (url: string) => {
    const response = await fetch(url + reads, { headers: { authorization: `Bearer ${secret}` } });
    if (response.status === 200) return '200';
    const { error } = (await response.json()) as { error: { code: string } };
    return `${response.status} ${error.code}`;
  };
  return [await read(api.url), await read(otherNode)];
}

const valid = ['200', '200'];
const expired = ['401 expired_api_key', '401 expired_api_key'];

describe.each(kinds)('a key of $kind', (kind) => {
  it('is refused from its expiry on, also where its caller is cached', async () => {
    const end = clock.now() + hourMs;
    const key = await createdKey(kind, { expires_at: isoMillis(end) });
    expect(await outcomesOf(kind, key.secret)).toEqual(valid);
    clock.forward(end - 60_000 - clock.now());
    expect(await outcomesOf(kind, key.secret)).toEqual(valid);
    clock.forward(end - clock.now());
    expect(await outcomesOf(kind, key.secret)).toEqual(expired);
    const refused = await api.call('GET', kind.reads, { key: key.secret });
    expect(refused.at('error.message')).toBe(
      `The API key "${key.display_name}" expired at ${isoMillis(end)}.`,
    );
    expect(await listed(kind, key.id)).toMatchObject({ expires_at: isoMillis(end) });
  });

  it('gets a second secret, and the first one works until its end', async () => {
    const key = await createdKey(kind);
    expect(await outcomesOf(kind, key.secret)).toEqual(valid);
    const rotated = await rotate(kind, key.id);
    const at = clock.now();
    const after = rotated.at('data') as typeof key;
    expect(after).toMatchObject({ id: key.id, display_name: key.display_name });
    expect(after.secret).not.toBe(key.secret);
    expect(rotated.headers.get('cache-control')).toBe('no-store');
    for (const secret of [key.secret, after.secret]) {
      expect(await outcomesOf(kind, secret)).toEqual(valid);
    }
    const { previous_secret: previous } = await listed(kind, key.id);
    expect(previous?.secret).toBe(`****${key.secret.slice(-4)}`);
    const end = Date.parse(previous?.valid_until ?? '');
    expect(Math.abs(end - at - limits.keyOverlapMs)).toBeLessThan(60_000);
    clock.forward(end - clock.now());
    expect(await outcomesOf(kind, key.secret)).toEqual(expired);
    expect(await outcomesOf(kind, after.secret)).toEqual(valid);
    expect((await listed(kind, key.id)).previous_secret).toBeNull();
    const refused = await api.call('GET', kind.reads, { key: key.secret });
    expect(refused.at('error.message')).toBe(
      `The API key "${key.display_name}" was rotated; the secret of this request was valid until ${isoMillis(end)}.`,
    );
  });

  it('without an overlap replaces its secret at once', async () => {
    const key = await createdKey(kind);
    expect(await outcomesOf(kind, key.secret)).toEqual(valid);
    const after = (await rotate(kind, key.id, { overlap_seconds: 0 })).at('data.secret') as string;
    for (const refusal of await outcomesOf(kind, key.secret)) expect(refusal).toMatch(/^401 /);
    expect(await outcomesOf(kind, after)).toEqual(valid);
  });

  it('has its earlier secret ended before its time', async () => {
    const key = await createdKey(kind);
    const end = () => api.call('DELETE', `${kind.root}/${key.id}/previous-secret`, asAccount());
    expect(codeOf(await end())).toBe('404 not_found');
    const after = (await rotate(kind, key.id)).at('data.secret') as string;
    expect(await outcomesOf(kind, key.secret)).toEqual(valid);
    expect(codeOf(await end())).toBe('200 ');
    for (const refusal of await outcomesOf(kind, key.secret)) expect(refusal).toMatch(/^401 /);
    expect(await outcomesOf(kind, after)).toEqual(valid);
    expect(codeOf(await end())).toBe('404 not_found');
  });

  it('shows when, and from which network, each of its secrets was used last', async () => {
    const key = await createdKey(kind);
    await outcomesOf(kind, key.secret);
    const firstUse = (await listed(kind, key.id)).last_used_at;
    expect(firstUse).not.toBeNull();
    const after = (await rotate(kind, key.id)).at('data.secret') as string;
    expect(await listed(kind, key.id)).toMatchObject({
      last_used_at: null,
      previous_secret: { last_used_at: firstUse, last_used_from: '127.0.0.0/24' },
    });
    clock.forward(2 * hourMs);
    await outcomesOf(kind, key.secret);
    const again = (await listed(kind, key.id)).previous_secret?.last_used_at ?? '';
    expect(Date.parse(again)).toBeGreaterThanOrEqual(Date.parse(firstUse ?? '') + 2 * hourMs);
    await outcomesOf(kind, after);
    const { last_used_at: at, last_used_from: from } = await listed(kind, key.id);
    expect([at === null, from]).toEqual([false, '127.0.0.0/24']);
  });

  it('is not rotated with a third secret, but at once', async () => {
    const key = await createdKey(kind);
    const second = (await rotate(kind, key.id)).at('data.secret') as string;
    const refused = await rotate(kind, key.id);
    expect(codeOf(refused)).toBe('409 conflict');
    expect(refused.at('error.message')).toContain('end it first');
    const third = (await rotate(kind, key.id, { overlap_seconds: 0 })).at('data.secret') as string;
    for (const secret of [key.secret, second]) {
      for (const refusal of await outcomesOf(kind, secret)) expect(refusal).toMatch(/^401 /);
    }
    expect(await outcomesOf(kind, third)).toEqual(valid);
  });

  it('gets a later expiry with another secret, and none in the past', async () => {
    const end = clock.now() + hourMs;
    const key = await createdKey(kind, { expires_at: isoMillis(end) });
    const past = { expires_at: isoMillis(clock.now() - 1) };
    expect(codeOf(await create(kind, past))).toBe('400 invalid_body');
    expect(codeOf(await rotate(kind, key.id, past))).toBe('400 invalid_body');
    clock.forward(2 * hourMs);
    expect(codeOf(await rotate(kind, key.id))).toBe('409 conflict');
    const later = isoMillis(clock.now() + hourMs);
    const after = await rotate(kind, key.id, { expires_at: later });
    expect(after.at('data.expires_at')).toBe(later);
    expect(await outcomesOf(kind, after.at('data.secret') as string)).toEqual(valid);
    expect(await outcomesOf(kind, key.secret)).toEqual(expired);
  });

  it('is bounded in its overlap, and unknown keys are refused', async () => {
    const key = await createdKey(kind);
    const most = limits.keyOverlapMaxMs / 1000;
    for (const overlap of [-1, 0.5, most + 1]) {
      const refused = await rotate(kind, key.id, { overlap_seconds: overlap });
      expect(codeOf(refused)).toBe('400 invalid_body');
    }
    expect(codeOf(await rotate(kind, key.id, { overlap_seconds: most }))).toBe('200 ');
    expect(codeOf(await rotate(kind, randomUUID()))).toBe('404 not_found');
    const unknown = `${kind.root}/${randomUUID()}/previous-secret`;
    expect(codeOf(await api.call('DELETE', unknown, asAccount()))).toBe('404 not_found');
  });

  it('is rotated once by a request that is sent again', async () => {
    const key = await createdKey(kind);
    const headers = { 'idempotency-key': randomUUID() };
    const path = `${kind.root}/${key.id}/rotate`;
    const once = await api.call('POST', path, { ...asAccount({}), headers });
    const again = await api.call('POST', path, { ...asAccount({}), headers });
    expect(again.at('data.secret')).toBe(once.at('data.secret'));
  });
});

describe('a session of the console', () => {
  const read = (headers: Record<string, string>, url = api.url) =>
    send('GET', '/integrations', { headers, url });

  it('is not opened by an expired key, and loses one that expires', async () => {
    const end = clock.now() + hourMs;
    const key = await createdKey(ofEnvironment, { expires_at: isoMillis(end) });
    const browser = await signIn({ key: key.secret });
    const headers = browser.as(idOf(browser));
    expect(outcome(await read(headers, otherNode))).toBe('200 ');
    clock.forward(hourMs);
    for (const url of [otherNode, api.url]) {
      expect(outcome(await read(headers, url))).toBe('401 unknown_console_session');
    }
    const sent = { headers: { 'sec-fetch-site': 'same-origin' }, body: { key: key.secret } };
    expect(outcome(await send('POST', '/console/session', sent))).toBe('401 expired_api_key');
  });

  it('of a secret does not outlast it, and one of the new secret goes on', async () => {
    const key = await createdKey(ofEnvironment);
    const before = await signIn({ key: key.secret });
    const after = (await rotate(ofEnvironment, key.id, { overlap_seconds: 60 })).at('data.secret');
    expect(outcome(await read(before.as(key.id)))).toBe('200 ');
    clock.forward(60_000);
    expect(outcome(await read(before.as(key.id), otherNode))).toBe('401 unknown_console_session');
    const renewed = await signIn({ key: after });
    expect(outcome(await read(renewed.as(key.id), otherNode))).toBe('200 ');
  });
});

it('keeps the default overlap within its limit', () => {
  expect(overlapSeconds).toBeLessThan(limits.keyOverlapMaxMs / 1000);
});
