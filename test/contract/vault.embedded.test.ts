import { cp, mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAesGcm } from '#adapters/cipher/aes-gcm.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { overridden } from '#kernel/overridden.ts';
import { systemClock, type Clock } from '#kernel/time.ts';
import { fillerKey, keysTopic } from '#modules/access/vault/key-log.ts';
import type { WrappedKey } from '#modules/access/vault/key-ring.ts';
import { openVault, type OpenVault } from '#modules/access/vault/open-vault.ts';
import { makeRootKeyFile, parseRootKeys, readRootKeys } from '#modules/access/vault/root-keys.ts';
import { filesWith, rowKeysOf } from '#test/support/judges/stored-bytes.ts';
import {
  aRootKey,
  openControlWorld,
  silent,
  type ControlWorld,
} from '#test/support/worlds/control.ts';

const refusal = (code: string): unknown => expect.objectContaining({ code });
const rootKey = aRootKey();

let world: ControlWorld;
let vault: OpenVault;

const open = (
  rootKeys = [rootKey],
  clock: Clock = systemClock,
  log = world.embedded.log,
): Promise<OpenVault> => {
  const { schemas } = world.embedded;
  const deps = { log, schemas, rootKeys, newCipher: createAesGcm, clock };
  return openVault({ ...deps, logger: silent });
};

beforeEach(async () => {
  world = await openControlWorld();
  vault = await open();
});

afterEach(async () => {
  await vault[Symbol.asyncDispose]();
  await world[Symbol.asyncDispose]();
});

describe('a sealed value', () => {
  it('opens with its key and its context', async () => {
    await vault.create('k');
    const sealed = vault.seal('k', { a: [1, 'x', null] }, 'c');
    expect(sealed).toMatch(/^v1\.k\.[\w-]+$/);
    expect(vault.open('k', sealed, 'c')).toEqual({ a: [1, 'x', null] });
    const bytes = vault.sealBytes('k', Buffer.from('text'), 'c');
    expect(vault.openBytes('k', bytes, 'c').toString()).toBe('text');
  });

  it('does not open with another context, another key or other bytes', async () => {
    await vault.create('k');
    await vault.create('other');
    const sealed = vault.seal('k', 'secret', 'c');
    const tampered = (sealed.slice(0, -2) +
      (sealed.endsWith('AA') ? 'BB' : 'AA')) as Sealed<string>;
    expect(() => vault.open('k', sealed, 'd')).toThrow(refusal('invalid_credentials'));
    expect(() => vault.open('other', sealed, 'c')).toThrow(refusal('invalid_credentials'));
    expect(() => vault.open('k', tampered, 'c')).toThrow(refusal('invalid_credentials'));
  });

  it('opens on another node', async () => {
    await using other = await open();
    await vault.create('k');
    await other.ready('k');
    expect(other.open('k', vault.seal('k', 'secret', 'c'), 'c')).toBe('secret');
    expect(other.fingerprint('p', 'text')).toBe(vault.fingerprint('p', 'text'));
    expect(vault.fingerprint('q', 'text')).not.toBe(vault.fingerprint('p', 'text'));
  });
});

describe('a key', () => {
  it('of the service, made by two nodes that start together, is one', async () => {
    await using fresh = await openControlWorld();
    const { log, schemas } = fresh.embedded;
    const deps = { log, schemas, rootKeys: [rootKey], newCipher: createAesGcm };
    const start = () => openVault({ ...deps, clock: systemClock, logger: silent });
    const [one, other] = await Promise.all([start(), start()]);
    await using both = new AsyncDisposableStack();
    both.use(one);
    both.use(other);
    expect(one.fingerprint('p', 'text')).toBe(other.fingerprint('p', 'text'));
    expect(other.open('account', one.seal('account', 'secret', 'c'), 'c')).toBe('secret');
  });

  it('that is destroyed opens nothing any more, on every node', async () => {
    await using other = await open();
    await vault.create('k');
    const sealed = vault.seal('k', 'secret', 'c');
    await other.shred('k');
    await expect(other.ready('k')).rejects.toThrow(refusal('not_found'));
    expect(() => other.open('k', sealed, 'c')).toThrow(refusal('invalid_credentials'));
    await using later = await open();
    await expect(later.ready('k')).rejects.toThrow(refusal('not_found'));
  });
});

it('a key that was destroyed is opened by nothing in any file, at once', async () => {
  const { folder } = world;
  await vault.create('k');
  await vault.create('kept');
  const wrapped = await wrappedKeys();
  const rowKey = rowKeysOf(join(folder, 'log')).get('k')!;
  const secrets = [wrapped.get('k')!, Buffer.from(vault.dataKey('k')), rowKey];
  const found = () => Promise.all(secrets.map((bytes) => filesWith(folder, bytes)));
  expect(await found()).toEqual([[], [], ['row-keys']]);
  expect(await vault.shred('k')).toBe(0);
  expect(await found()).toEqual([[], [], []]);
  await using later = await open();
  await expect(later.ready('k')).rejects.toThrow(refusal('not_found'));
  await later.ready('kept');
});

it('a key that was destroyed is still in a copy of the log that was made before', async () => {
  await vault.create('copied');
  const rowKey = rowKeysOf(join(world.folder, 'log')).get('copied')!;
  const copy = await mkdtemp(join(tmpdir(), 'svc-copy-'));
  try {
    await cp(join(world.folder, 'log'), copy, { recursive: true });
    await vault.shred('copied');
    expect(await filesWith(world.folder, rowKey)).toEqual([]);
    expect(await filesWith(copy, rowKey)).toEqual(['row-keys']);
  } finally {
    await rm(copy, { recursive: true });
  }
});

it('a root key that was replaced opens nothing any more, once the data keys are rewrapped', async () => {
  await vault.create('k');
  const rowKey = rowKeysOf(join(world.folder, 'log')).get('k')!;
  await using both = await open([aRootKey(), rootKey]);
  await both.rewrap();
  expect(await filesWith(world.folder, rowKey)).toEqual([]);
});

/** The wrapped keys in the log, by id. */
async function wrappedKeys(): Promise<Map<string, Buffer>> {
  const codec = await world.embedded.schemas.codec<WrappedKey>(keysTopic);
  const wrapped = new Map<string, Buffer>();
  for await (const { messages } of world.log.read({ topic: keysTopic, partition: 0, offset: 0 })) {
    for (const { key, value } of messages) {
      if (value !== null) wrapped.set(key, Buffer.from(codec.decode(value).wrapped));
    }
  }
  return wrapped;
}

describe('the topic of a destroyed key, where values are destroyed by compaction', () => {
  const keysOn = async (): Promise<string[]> => {
    const keys: string[] = [];
    for await (const { messages } of world.log.read({
      topic: keysTopic,
      partition: 0,
      offset: 0,
    })) {
      keys.push(...messages.map(({ key }) => key));
    }
    return keys;
  };

  it('gets one message more when its segment may be closed, so that the key is compacted away', async () => {
    await vault.create('k');
    await vault.shred('k');
    expect(await keysOn()).not.toContain(fillerKey);
    const later: Clock = {
      now: () => Date.now() + limits.keySegmentMs,
      nowMicros: () => (Date.now() + limits.keySegmentMs) * 1000,
    };
    const slow = overridden(world.log, { erasureMs: 60_000 });
    await using node = await open([rootKey], later, slow);
    await vi.waitUntil(async () => (await keysOn()).at(-1) === fillerKey, { timeout: 20_000 });
    await node.create('k2');
    expect(node.open('k2', node.seal('k2', 'secret', 'c'), 'c')).toBe('secret');
  });
});

describe('the root key', () => {
  it('must be the one of before', async () => {
    await expect(open([aRootKey()])).rejects.toThrow(/SVC_ENCRYPTION_KEY does not decrypt/);
  });

  it('is changed while the old one still opens', async () => {
    await vault.create('k');
    const sealed = vault.seal('k', 'secret', 'c');
    const renewed = aRootKey();
    await using both = await open([renewed, rootKey]);
    expect(both.open('k', sealed, 'c')).toBe('secret');
    expect(await both.rewrap()).toBe(3);
    expect(await both.rewrap()).toBe(0);
    await using alone = await open([renewed]);
    expect(alone.open('k', sealed, 'c')).toBe('secret');
  });

  it('is made once in a file that only its owner reads', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'svc-root-key-'));
    try {
      const file = join(folder, 'a', 'root.key');
      expect(() => readRootKeys(file)).toThrow(file);
      makeRootKeyFile(file);
      const made = readRootKeys(file);
      expect(made).toHaveLength(1);
      makeRootKeyFile(file);
      expect(readRootKeys(file)).toEqual(made);
      expect((await stat(file)).mode & 0o777).toBe(0o600);
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it('of the setting is 32 bytes of base64, several by commas', () => {
    const text = rootKey.bytes.toString('base64');
    const second = aRootKey().bytes.toString('base64');
    const keys = parseRootKeys(`${text}, ${second}`);
    expect(keys.map(({ bytes }) => bytes.toString('base64'))).toEqual([text, second]);
    expect(() => parseRootKeys(`${text},short`)).toThrow(/entry 2/);
  });
});
