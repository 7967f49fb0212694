import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { ExecuteOptions } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import { present } from '#kernel/present.ts';
import { createKey, deleteKey } from '../api-keys/handlers.ts';
import { listKeys } from '../api-keys/queries.ts';
import type { SealedEntities, SharedValues } from '../services.ts';
import type { Vault } from '../vault/vault.ts';
import { changedUrl, openUrl, urlOfEnvironment } from '../vault/webhook-urls.ts';
import type { EnvironmentDependents } from './dependents.ts';
import { environmentRef, type EnvironmentEntity } from './entity.ts';
import { productionName, type EnvironmentSettings, type Environment } from './environment.ts';
import { environmentByName, signingKeyContext } from './queries.ts';

export { deleteEnvironment } from './deletion.ts';

/** Plain text; absent: unchanged. */
interface WebhookUrls {
  readonly primary?: string | null | undefined;
  readonly secondary?: string | null | undefined;
}

export const defaultKeyName = 'Default - Full access';

/**
 * Creates an environment with its data key, its signing key and its key "Default - Full access".
 * @throws GatewayError `conflict`, `invalid_is_prod_flag`
 */
export async function createEnvironment(
  deps: SealedEntities,
  wanted: {
    readonly name: string;
    /** `prod` always is; other environments are not by default. */
    readonly isProduction?: boolean | undefined;
    readonly webhookUrls?: WebhookUrls | undefined;
    /** Secret of the default key; generated when absent. */
    readonly secret?: string | undefined;
  },
  options: ExecuteOptions,
): Promise<{ readonly environment: Environment; readonly secret: string }> {
  const { control, vault } = deps;
  const { name, isProduction = name === productionName, webhookUrls } = wanted;
  const uid = randomUUID();
  await vault.create(uid);
  const body: CommandOf<EnvironmentEntity> = {
    type: 'Create',
    uid,
    name,
    isProduction,
    webhookUrls: webhookUrls && (await sealedUrls(vault, uid, webhookUrls)),
    webhookSigningKey: sealNewSigningKey(vault, uid).sealed,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify([name, isProduction]));
  const environment = await control
    .execute(environmentRef(uid), body, { requestHash, ...options })
    .catch(async (error: unknown) => {
      await vault.shred(uid);
      throw error;
    });
  if (environment === null) throw new GatewayError('server_error');
  // A repeated request gets the environment that the first one created.
  if (environment.uid !== uid) await vault.shred(uid);
  const { secret } = await createKey(
    deps,
    { environmentUid: environment.uid, displayName: defaultKeyName, secret: wanted.secret },
    {
      actor: options.actor,
      ...(options.idempotencyKey === undefined ? {} : { idempotencyKey: options.idempotencyKey }),
    },
  );
  return { environment, secret };
}

/**
 * @throws GatewayError `conflict` (the name is taken, or typed topics refuse the change), `invalid_is_prod_flag`,
 *   `unknown_environment`
 */
export async function patchEnvironment(
  {
    control,
    vault,
    environmentDependents,
  }: SealedEntities & { readonly environmentDependents: readonly EnvironmentDependents[] },
  environmentUid: string,
  wanted: {
    readonly [Field in Exclude<keyof EnvironmentSettings, 'webhookUrls'>]?:
      | EnvironmentSettings[Field]
      | undefined;
  } & { readonly webhookUrls?: WebhookUrls | undefined },
  options: ExecuteOptions,
): Promise<Environment> {
  const stored = control.view.find(environmentRef(environmentUid));
  const change = {
    isRenamed: wanted.name !== undefined && wanted.name !== stored?.name,
    isSealed: wanted.payloadMode === 'sealed',
  };
  for (const dependents of environmentDependents) dependents.refuseChange?.(environmentUid, change);
  const { webhookUrls, ...others } = wanted;
  const urls =
    webhookUrls === undefined
      ? {}
      : { webhookUrls: await sealedUrls(vault, environmentUid, webhookUrls, stored?.webhookUrls) };
  const body: CommandOf<EnvironmentEntity> = {
    type: 'Patch',
    changes: { ...present(others), ...urls },
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(wanted));
  const ref = environmentRef(environmentUid);
  const changed = await control.execute(ref, body, { requestHash, ...options });
  if (changed === null) throw new GatewayError('unknown_environment');
  return changed;
}

async function sealedUrls(
  vault: SealedEntities['vault'],
  uid: string,
  wanted: WebhookUrls,
  existing: Environment['webhookUrls'] = { primary: null, secondary: null },
): Promise<Environment['webhookUrls']> {
  const sealed = async (name: keyof typeof existing) => {
    const owner = urlOfEnvironment(uid, name);
    const url = wanted[name];
    // An address that an earlier release stored in plain text is sealed with the next change.
    const clear = url === undefined ? await openUrl(vault, owner, existing[name]) : url;
    return changedUrl(vault, owner, clear, existing[name]);
  };
  return { primary: await sealed('primary'), secondary: await sealed('secondary') };
}

/**
 * Creates a key that signs webhooks from now on; the previous key also signs for 24 h.
 * @throws GatewayError `multiple_webhook_signing_keys` within these 24 h
 */
export async function rotateSigningKey(
  { control, vault }: SealedEntities,
  environmentUid: string,
  options: ExecuteOptions,
): Promise<string> {
  await vault.ready(environmentUid);
  const { plain, sealed } = sealNewSigningKey(vault, environmentUid);
  const body: CommandOf<EnvironmentEntity> = { type: 'RotateSigningKey', key: sealed };
  await control.execute(environmentRef(environmentUid), body, options);
  return plain;
}

/** A UUID of 122 random bits. */
function sealNewSigningKey(vault: Vault, uid: string) {
  const plain = randomUUID({ disableEntropyCache: true });
  return { plain, sealed: vault.seal(uid, plain, signingKeyContext(uid)) };
}

interface BootstrapSecrets {
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

type FirstServices = SealedEntities & SharedValues;

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
