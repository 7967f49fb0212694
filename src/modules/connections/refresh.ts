import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Services } from '../../http/services.ts';
import { GatewayError } from '../../kernel/errors.ts';
import { limits } from '../../kernel/limits.ts';
import type { Lease } from '../../ports/coordination.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { Obtained, Renewal } from '../credentials/modes/mode.ts';
import { ProviderAuthError } from '../credentials/modes/provider-auth-error.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { Provider } from '../providers/definition.ts';
import { connectionRef } from './entity.ts';
import { isBackingOff, isDue, isExhausted, isExpired } from './freshness.ts';
import { storeCredentials } from './handlers.ts';
import { findConnection } from './queries.ts';
import type { Refresher } from './refresher.ts';
import type { Connection, Credentials } from './state.ts';

/** A waiting fetch looks again that often, beside being woken by its view. */
const lookAgainMs = 100;
/** Credentials that cannot be stored are lost where the provider rotates them: tried for so long. */
const storeTriesMs = 20_000;
const actor = 'system';

export type RefreshDeps = Pick<
  Services,
  'control' | 'vault' | 'http' | 'clock' | 'coordination' | 'logger' | 'providers' | 'logs'
> & { readonly faultPoint?: (name: string) => void | Promise<void> };

export function createRefresher(deps: RefreshDeps): Refresher {
  const underWay = new Map<string, Promise<Connection>>();
  return {
    async fresh(connection, { isForced = false, rejectedVersion } = {}) {
      const plan = planOf(deps, connection);
      if (plan === null) return connection;
      const isRejected = rejectedVersion === connection.credentialsVersion;
      const isWanted = isForced || isRejected || isDue(connection, plan.provider, deps.clock.now());
      if (!isWanted || !(await isRenewable(deps, connection, plan))) return connection;
      try {
        if (!isForced) refuseWithoutTrying(connection, deps.clock.now());
        return await shared(connection.uid, () => refreshOnce(deps, connection, plan));
      } catch (error) {
        const known = isForced || isRejected ? null : stillGood(deps, connection, error);
        if (known === null) throw error;
        return known;
      }
    },
  };

  function shared(uid: string, start: () => Promise<Connection>): Promise<Connection> {
    const running = underWay.get(uid);
    if (running !== undefined) return running;
    const started = start().finally(() => underWay.delete(uid));
    underWay.set(uid, started);
    return started;
  }
}

/** A refresh ahead of the end that did not reach the provider leaves credentials that still work. */
function stillGood(deps: RefreshDeps, asked: Connection, error: unknown): Connection | null {
  if (!(error instanceof GatewayError) || error.code === 'unknown_connection') return null;
  const known = current(deps, asked);
  const isRefused = known.errors.some(({ type }) => type === 'auth');
  return isRefused || isExpired(known, deps.clock.now()) ? null : known;
}

interface Plan {
  readonly provider: Provider;
  readonly renewal: Renewal;
}

function planOf({ providers }: RefreshDeps, { provider: name }: Connection): Plan | null {
  const provider = providers.find(name);
  const renewal = provider === null ? null : authModeRules[provider.auth_mode].renewal;
  return provider === null || renewal === null ? null : { provider, renewal };
}

/** False for what cannot be renewed, such as a token without a refresh token: it is served as it is. */
async function isRenewable(
  { vault }: RefreshDeps,
  connection: Connection,
  { renewal, provider }: Plan,
): Promise<boolean> {
  return renewal.isPossible(await openCredentials(vault, connection), provider);
}

/** @throws GatewayError 424 */
function refuseWithoutTrying(connection: Connection, now: number): void {
  if (isExhausted(connection)) throw new GatewayError('connection_refresh_exhausted');
  if (isBackingOff(connection, now)) {
    const retryAfterS = Math.ceil(limits.refreshBackoffMs / 1000);
    throw new GatewayError('connection_refresh_backoff', { retryAfterS });
  }
}

/** Under the lease: what another node has done meanwhile is seen first. */
async function refreshOnce(deps: RefreshDeps, asked: Connection, plan: Plan): Promise<Connection> {
  const deadline = deps.clock.now() + limits.refreshWaitMs;
  for (;;) {
    const lease = await acquire(deps, asked, deadline);
    try {
      await deps.control.view.caughtUp();
      const known = current(deps, asked);
      if (known.credentialsVersion !== asked.credentialsVersion) return known;
      if (hasFailedSince(known, asked)) throw failureOf(known);
      return await renew(deps, known, plan);
    } catch (error) {
      // The owner has an intent that is young: its request may be under way, whoever has the lease.
      const isBusy = error instanceof GatewayError && error.code === 'conflict';
      if (!isBusy) throw error;
      if (deps.clock.now() >= deadline) throw new GatewayError('connection_refresh_backoff');
      await pause(lookAgainMs);
    } finally {
      if (lease !== null) await release(deps, lease);
    }
  }
}

const hasFailedSince = (known: Connection, asked: Connection): boolean =>
  known.refresh.failedAt !== null && known.refresh.failedAt !== asked.refresh.failedAt;

function failureOf(known: Connection): GatewayError {
  return new GatewayError(
    isExhausted(known) ? 'connection_refresh_exhausted' : 'connection_refresh_backoff',
  );
}

/** @throws GatewayError `unknown_connection`: deleted meanwhile, or another under the same id */
function current({ control }: RefreshDeps, asked: Connection): Connection {
  const { environmentUid, integrationKey, connectionId, uid } = asked;
  const known = findConnection(control, environmentUid, integrationKey, connectionId);
  if (known?.uid !== uid) throw new GatewayError('unknown_connection');
  return known;
}

/**
 * The lease; null when Coordination is away, which costs a turn at the owner and nothing else. Waits while
 * another has it, and ends early when that one's outcome is in the view.
 */
async function acquire(
  deps: RefreshDeps,
  asked: Connection,
  deadline: number,
): Promise<Lease | null> {
  const { coordination, logger, clock } = deps;
  const name = `refresh/${asked.uid}`;
  for (;;) {
    let lease: Lease | null;
    try {
      lease = await coordination.acquire(name, { ttlMs: limits.refreshLeaseMs });
    } catch (err) {
      logger.warn({ err }, 'refreshing without a lease: coordination is away');
      return null;
    }
    if (lease !== null) return lease;
    const known = current(deps, asked);
    const isDecided =
      known.credentialsVersion !== asked.credentialsVersion || hasFailedSince(known, asked);
    if (isDecided) return null;
    if (clock.now() >= deadline) throw new GatewayError('connection_refresh_backoff');
    await changed(deps, asked);
  }
}

/** Resolves when the view has something new of the connection, or soon. */
async function changed({ control }: RefreshDeps, { connectionId }: Connection): Promise<void> {
  const stop = new AbortController();
  const unsubscribe = control.view.onChange((refs) => {
    if (refs.some(({ kind, path }) => kind === 'connection' && path[2] === connectionId))
      stop.abort();
  });
  try {
    await pause(lookAgainMs, undefined, { signal: stop.signal }).catch(() => undefined);
  } finally {
    unsubscribe();
  }
}

async function release({ coordination, logger }: RefreshDeps, lease: Lease): Promise<void> {
  try {
    await coordination.release(lease);
  } catch (err) {
    logger.debug({ err }, 'a lease could not be released; it ends by itself');
  }
}

/** Intent, provider, outcome. @throws GatewayError `conflict` (an intent is young), `invalid_credentials`, 424 */
async function renew(deps: RefreshDeps, known: Connection, plan: Plan): Promise<Connection> {
  const { control, faultPoint } = deps;
  const held = await openCredentials(deps.vault, known);
  const id = randomUUID();
  const operation = beginOperation(deps, known, id);
  const ref = refOf(known);
  await faultPoint?.('refresh:before-intent');
  const begun = await control.ask<Connection>(
    ref,
    {
      type: 'BeginRefresh',
      uid: known.uid,
      id,
      ifVersion: known.credentialsVersion,
      spendsToken: plan.renewal.spendsToken(held, plan.provider),
      logId: id,
    },
    { actor },
  );
  if (begun?.refresh.intent?.id !== id) {
    operation.end('failed', 'An earlier refresh has no outcome: the refresh token counts as used.');
    throw failureOf(begun ?? known);
  }
  await faultPoint?.('refresh:after-intent');
  try {
    const obtained = await ask(deps, known, held, plan);
    const stored = await store(deps, known, { ...obtained, ...rotationOf(held, obtained) });
    operation.end('success', 'The credentials were refreshed.');
    return stored;
  } catch (error) {
    operation.end('failed', error instanceof Error ? error.message : 'The refresh failed.');
    throw await refused(deps, known, id, error);
  }
}

const refOf = ({ environmentUid, integrationKey, connectionId }: Connection) =>
  connectionRef(environmentUid, integrationKey, connectionId);

function beginOperation({ logs }: RefreshDeps, known: Connection, operationId: string) {
  const { environmentUid, integrationKey: integration, connectionId } = known;
  const of = {
    operationId,
    operationType: 'auth:refresh_token',
    environmentUid,
    integration,
    connectionId,
  };
  return logs.begin(of, 'Refreshing the credentials.');
}

async function ask(
  deps: RefreshDeps,
  known: Connection,
  held: Credentials,
  { provider, renewal }: Plan,
): Promise<Obtained> {
  const { environmentUid, integrationKey } = known;
  const integration = await requireIntegration(deps.control, environmentUid, integrationKey);
  const config = await openConnectionConfig(deps.vault, known);
  return renewal.renew(held, await modeContext(deps, integration, provider, config));
}

/** Whether the provider gave another refresh token than it was shown; null when none was shown. */
function rotationOf(held: Credentials, { credentials }: Obtained) {
  const shown = held['refresh_token'];
  const given = credentials?.['refresh_token'];
  return { rotatesToken: shown === undefined || given === undefined ? null : shown !== given };
}

/** The provider has given them: they are stored whatever it takes. */
async function store(
  deps: RefreshDeps,
  known: Connection,
  renewed: Obtained & { readonly rotatesToken: boolean | null },
): Promise<Connection> {
  const giveUpAt = deps.clock.now() + storeTriesMs;
  for (;;) {
    try {
      return await storeCredentials(deps, known, renewed, { actor });
    } catch (error) {
      const mayPass =
        error instanceof GatewayError && error.status === 503 && deps.clock.now() < giveUpAt;
      if (!mayPass) throw error;
      deps.logger.warn({ err: error, connectionUid: known.uid }, 'storing credentials again');
      await pause(lookAgainMs);
    }
  }
}

/** Notes the failure, and says what the caller is told. */
async function refused(
  deps: RefreshDeps,
  known: Connection,
  id: string,
  error: unknown,
): Promise<unknown> {
  const told = failureFacts(error);
  if (told === null) return error;
  await deps.control.ask<Connection>(
    refOf(known),
    { type: 'RefreshFailed', uid: known.uid, id, logId: id, ...told },
    { actor },
  );
  const message = error instanceof Error ? error.message : undefined;
  return new GatewayError('invalid_credentials', message === undefined ? {} : { message }, {
    cause: error,
  });
}

/** Null for what is no failure of the refresh: the connection is gone, or was given other credentials. */
function failureFacts(error: unknown) {
  if (error instanceof ProviderAuthError) {
    const { code, providerCode, isDefinitive, providerStatus } = error.failure;
    return { errorCode: providerCode ?? code, isDefinitive, providerStatus };
  }
  if (!(error instanceof GatewayError)) return null;
  if (error.code === 'conflict' || error.code === 'unknown_connection') return null;
  // What cannot be asked at all (a missing client, a key that cannot sign) will not pass by itself.
  return { errorCode: error.code, isDefinitive: error.status < 500, providerStatus: null };
}
