import { setTimeout as delay } from 'node:timers/promises';
import { createKey, deleteKey } from '../api-keys/handlers.ts';
import { listKeys } from '../api-keys/queries.ts';
import type { AccessServices } from '../services.ts';
import { createEnvironment, defaultKeyName } from './handlers.ts';
import { environmentByName } from './queries.ts';

export interface BootstrapSecrets {
  /** From the settings; generated when null. */
  readonly accountKey: string | null;
  readonly keyDev: string | null;
  readonly keyProd: string | null;
}

/** The result of the first start, shown once. */
export interface BootstrapResult {
  readonly accountKey: string;
  readonly environments: readonly {
    readonly name: string;
    readonly uid: string;
    readonly secret: string;
  }[];
}

type FirstServices = Pick<AccessServices, 'control' | 'vault' | 'coordination' | 'logger'>;

const leaseMs = 120_000;
const options = { actor: 'system' } as const;

/**
 * Creates the account key and the environments `dev` and `prod` on the first start; returns null on later starts. The
 * account key is created last: without one, an interrupted first start is repeated.
 */
export async function bootstrap(
  services: FirstServices,
  secrets: BootstrapSecrets,
): Promise<BootstrapResult | null> {
  const { control, coordination } = services;
  await control.view.caughtUp();
  while (listKeys(control, null).length === 0) {
    const lease = await coordination.acquire('bootstrap', { ttlMs: leaseMs });
    if (lease === null) {
      await delay(200);
      await control.view.caughtUp();
      continue;
    }
    try {
      await control.view.caughtUp();
      if (listKeys(control, null).length === 0) return await firstStart(services, secrets);
    } finally {
      await coordination.release(lease);
    }
  }
  return null;
}

async function firstStart(
  services: FirstServices,
  secrets: BootstrapSecrets,
): Promise<BootstrapResult> {
  const dev = await environmentWithKey(services, 'dev', secrets.keyDev);
  const prod = await environmentWithKey(services, 'prod', secrets.keyProd);
  const wanted = {
    environmentUid: null,
    displayName: 'Account',
    secret: secrets.accountKey ?? undefined,
  };
  const { secret } = await createKey(services, wanted, options);
  return { accountKey: secret, environments: [dev, prod] };
}

async function environmentWithKey(services: FirstServices, name: string, input: string | null) {
  const secret = input ?? undefined;
  const existing = environmentByName(services.control, name);
  if (existing === null) {
    const made = await createEnvironment(services, { name, secret }, options);
    return { name, uid: made.environment.uid, secret: made.secret };
  }
  // Left by an interrupted first start: its key was never shown, so it is replaced.
  const keys = listKeys(services.control, existing.uid);
  const unseen = keys.find(({ displayName }) => displayName === defaultKeyName);
  if (unseen !== undefined) await deleteKey(services, existing.uid, unseen.id, options);
  const wanted = { environmentUid: existing.uid, displayName: defaultKeyName, secret };
  const made = await createKey(services, wanted, options);
  return { name, uid: existing.uid, secret: made.secret };
}
