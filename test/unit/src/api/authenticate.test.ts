import { expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { openAuthenticator } from '#api/authenticate.ts';
import type { Services } from '#api/services.ts';
import type { ControlPlane, ControlView } from '#control-plane/control-plane.ts';
import { systemClock } from '#kernel/time.ts';
import { newSecret } from '#modules/access/api-keys/key-format.ts';
import type { Vault } from '#modules/access/vault/vault.ts';

type Listener = Parameters<ControlView['onChange']>[1];

/** A view that has one account key until it is deleted, and notifies its listeners of that. */
function viewOfOneKey() {
  const listeners = new Set<Listener>();
  let key: object | null = { id: 'k', environmentUid: null, scopes: [], lastUsedAt: Date.now() };
  const remove = (): void => {
    key = null;
    for (const listener of listeners) listener([{ kind: 'account-key', path: ['k'], scope: '' }]);
  };
  let afterFound = (): void => undefined;
  const view: Partial<ControlView> = {
    findBy: () => {
      if (key === null) return null;
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

async function opened(view: ControlView) {
  const control: Partial<ControlPlane> = { view };
  const vault: Partial<Vault> = { fingerprint: (_purpose, text) => text };
  const services: Partial<Services> = {
    control: control as ControlPlane,
    vault: vault as Vault,
    coordination: openInProcessCoordination(),
    clock: systemClock,
  };
  return openAuthenticator(services as Services);
}

it('knows a caller by its header until a key is deleted', async () => {
  const { view, remove } = viewOfOneKey();
  await using authenticator = await opened(view);
  const header = `Bearer ${newSecret('account')}`;
  expect(authenticator.knownCaller(header)).toBeNull();
  expect(await authenticator.callerOf(header)).toMatchObject({ keyId: 'k' });
  expect(authenticator.knownCaller(header)).toMatchObject({ keyId: 'k' });
  remove();
  expect(authenticator.knownCaller(header)).toBeNull();
  await expect(authenticator.callerOf(header)).rejects.toMatchObject({ code: 'unknown_account' });
});

it('does not know a caller whose key was deleted while it was looked up', async () => {
  const { view, remove, whenFound } = viewOfOneKey();
  await using authenticator = await opened(view);
  const header = `Bearer ${newSecret('account')}`;
  whenFound(() => queueMicrotask(remove));
  await authenticator.callerOf(header);
  expect(authenticator.knownCaller(header)).toBeNull();
});
