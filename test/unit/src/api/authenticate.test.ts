import { expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { openAuthenticator } from '#api/authenticate.ts';
import type { Services } from '#api/services.ts';
import type { ControlPlane, ControlView } from '#control-plane/control-plane.ts';
import type { Clock } from '#kernel/time.ts';
import { newSecret } from '#modules/access/api-keys/key-format.ts';
import type { Vault } from '#modules/access/vault/vault.ts';

const address = '192.0.2.7';

type Listener = Parameters<ControlView['onChange']>[1];

/** A view that has one account key until it is deleted, and notifies its listeners of that. */
function viewOfOneKey(more: object = {}) {
  const listeners = new Set<Listener>();
  const common = { id: 'k', environmentUid: null, scopes: [], displayName: 'CI' };
  let key: object | null = { ...common, lastUsedAt: Date.now(), ...more };
  const remove = (): void => {
    key = null;
    for (const listener of listeners) listener([{ kind: 'account-key', path: ['k'], scope: '' }]);
  };
  let afterFound = (): void => undefined;
  const view: Partial<ControlView> = {
    findBy: (_kind, index) => {
      if (key === null || index !== 'hash') return null;
      afterFound();
      return { path: ['k'], state: key } as never;
    },
    caughtUp: () => Promise.resolve(),
    onChange(_kinds, listener) {
      listeners.add(listener as Listener);
      return () => void listeners.delete(listener as Listener);
    },
  };
  return {
    view: view as ControlView,
    remove,
    /** Is called when the key has been found, before it is returned. */
    whenFound: (act: () => void) => {
      afterFound = act;
    },
  };
}

/** Its secret is its own hash, and the time stands still. */
async function opened(view: ControlView, clock: Clock = clockAt({ now: Date.now() })) {
  const control: Partial<ControlPlane> = { view };
  const vault: Partial<Vault> = { fingerprint: (_purpose, text) => text };
  const services: Partial<Services> = {
    control: control as ControlPlane,
    vault: vault as Vault,
    coordination: openInProcessCoordination(),
    clock,
  };
  return openAuthenticator(services as Services);
}

const clockAt = (time: { readonly now: number }): Clock => ({
  now: () => time.now,
  nowMicros: () => time.now * 1000,
});

it('knows a caller by its header until a key is deleted', async () => {
  const secret = newSecret('account');
  const { view, remove } = viewOfOneKey({ hash: secret });
  await using authenticator = await opened(view);
  const header = `Bearer ${secret}`;
  expect(authenticator.knownCaller(header, address)).toBeNull();
  expect(await authenticator.callerOf(header, address)).toMatchObject({ keyId: 'k' });
  expect(authenticator.knownCaller(header, address)).toMatchObject({ keyId: 'k' });
  remove();
  expect(authenticator.knownCaller(header, address)).toBeNull();
  await expect(authenticator.callerOf(header, address)).rejects.toMatchObject({
    code: 'unknown_account',
  });
});

it('does not know a caller whose key was deleted while it was looked up', async () => {
  const secret = newSecret('account');
  const { view, remove, whenFound } = viewOfOneKey({ hash: secret });
  await using authenticator = await opened(view);
  const header = `Bearer ${secret}`;
  whenFound(() => queueMicrotask(remove));
  await authenticator.callerOf(header, address);
  expect(authenticator.knownCaller(header, address)).toBeNull();
});

it.each([
  ['its key expires', (end: number, secret: string) => ({ hash: secret, expiresAt: end })],
  [
    'its secret, which was replaced, ends',
    (end: number, secret: string) => ({
      hash: 'another',
      previous: { hash: secret, validUntil: end, lastUsedAt: 1 },
    }),
  ],
])('does not know a caller at the millisecond at which %s', async (_what, fieldsOf) => {
  const secret = newSecret('account');
  const time = { now: 1_000 };
  const { view } = viewOfOneKey(fieldsOf(5_000, secret));
  await using authenticator = await opened(view, clockAt(time));
  const header = `Bearer ${secret}`;
  await authenticator.callerOf(header, address);
  time.now = 4_999;
  expect(authenticator.knownCaller(header, address)).toMatchObject({ keyId: 'k' });
  time.now = 5_000;
  expect(authenticator.knownCaller(header, address)).toBeNull();
  await expect(authenticator.callerOf(header, address)).rejects.toMatchObject({
    code: 'expired_api_key',
  });
});
