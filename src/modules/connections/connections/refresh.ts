import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { ProcessPorts } from '#control-plane/ports.ts';
import { errorHints } from '#kernel/error-hints.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import type { Lease, Coordination } from '#ports/coordination.ts';
import type { HttpClient } from '#ports/http-client.ts';
import type { OperationLogs } from '#ports/operation-log.ts';
import { modeContext } from '../credentials/mode-context.ts';
import type { ObtainedCredentials, Renewal } from '../credentials/modes/mode.ts';
import { ProviderAuthError } from '../credentials/modes/provider-auth-error.ts';
import { refreshFixOf } from '../credentials/modes/refusal.ts';
import { authModeRules } from '../credentials/modes/registry.ts';
import { openConnectionConfig, openCredentials } from '../credentials/sealing.ts';
import { requireIntegration } from '../integrations/queries.ts';
import type { ProviderCatalogue } from '../providers/catalogue.ts';
import type { Provider } from '../providers/definition.ts';
import { connectionEntity, connectionRef } from './entity.ts';
import { isBackingOff, isDue, isExhausted, isExpired, isTooYoung } from './freshness.ts';
import { storeCredentials } from './handlers.ts';
import { findConnection } from './queries.ts';
import type { Refresher } from './refresher.ts';
import type { Connection, Credentials } from './state.ts';

/** Poll interval of a waiting fetch, beside notifications of the view. */
const lookAgainMs = 100;
/** How long storing is retried: credentials that cannot be stored are lost where the provider rotates them. */
const storeTriesMs = 20_000;
const actor = 'system';

export interface RefreshDeps extends SealedEntities, ProcessPorts {
  readonly http: HttpClient;
  readonly coordination: Coordination;
  readonly providers: ProviderCatalogue;
  readonly logs: OperationLogs;
  readonly faultPoint?: (name: string) => void | Promise<void>;
}

export function createRefresher(deps: RefreshDeps): Refresher {
  const underWay = new Map<string, Promise<Connection>>();
  return {
    async fresh(connection, { isForced = false, rejectedVersion } = {}) {
      const plan = planOf(deps, connection);
      if (plan === null || isTooYoung(connection, plan.provider, deps.clock.now())) {
        return connection;
      }
      const isRejected = rejectedVersion === connection.credentialsVersion;
      const isWanted = isForced || isRejected || isDue(connection, plan.provider, deps.clock.now());
      if (!isWanted || !(await isRenewable(deps, connection, plan))) return connection;
      try {
        if (!isForced) refuseWithoutTrying(connection, deps.clock.now());
        const isRefusedNow = isForced || isRejected;
        return await shared(connection.uid, () =>
          refreshOnce(deps, connection, { ...plan, isRefusedNow }),
        );
      } catch (error) {
        const existing = isForced || isRejected ? null : stillGood(deps, connection, error);
        if (existing === null) throw error;
        return existing;
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

/** An early refresh that did not reach the provider leaves valid credentials. */
function stillGood(deps: RefreshDeps, connection: Connection, error: unknown): Connection | null {
  if (!(error instanceof GatewayError) || error.code === 'unknown_connection') return null;
  const existing = current(deps, connection);
  const isRefused = existing.errors.some(({ type }) => type === 'auth');
  return isRefused || isExpired(existing, deps.clock.now()) ? null : existing;
}

interface Refresh extends Plan {
  /** The present token is not in use any more: the provider refused it, or the caller wants another. */
  readonly isRefusedNow: boolean;
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

/**
 * False for credentials that cannot be refreshed, such as a token without a refresh token: they are returned unchanged.
 */
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

/** Under the lease: first reads the outcome of other nodes. */
async function refreshOnce(
  deps: RefreshDeps,
  connection: Connection,
  plan: Refresh,
): Promise<Connection> {
  const deadline = deps.clock.now() + limits.refreshWaitMs;
  for (;;) {
    const lease = await acquire(deps, connection, deadline);
    try {
      await deps.control.view.caughtUp();
      const existing = current(deps, connection);
      if (existing.credentialsVersion !== connection.credentialsVersion) return existing;
      if (hasFailedSince(existing, connection)) throw storedRefreshError(existing);
      return await renew(deps, existing, plan);
    } catch (error) {
      // A recent intent in the owner's state: its request may be under way, whichever process has
      // the lease.
      const isBusy = error instanceof GatewayError && error.code === 'conflict';
      if (!isBusy) throw error;
      if (deps.clock.now() >= deadline) throw new GatewayError('connection_refresh_backoff');
      await pause(lookAgainMs);
    } finally {
      if (lease !== null) await release(deps, lease);
    }
  }
}

const hasFailedSince = (existing: Connection, connection: Connection): boolean =>
  existing.refresh.failedAt !== null && existing.refresh.failedAt !== connection.refresh.failedAt;

function storedRefreshError(existing: Connection): GatewayError {
  return new GatewayError(
    isExhausted(existing) ? 'connection_refresh_exhausted' : 'connection_refresh_backoff',
  );
}

/** @throws GatewayError `unknown_connection`: deleted, or another one with the same id */
function current({ control }: RefreshDeps, connection: Connection): Connection {
  const { environmentUid, integrationKey, connectionId, uid } = connection;
  const existing = findConnection(control, environmentUid, integrationKey, connectionId);
  if (existing?.uid !== uid) throw new GatewayError('unknown_connection');
  return existing;
}

/**
 * The lease; null without coordination, which only costs a command to the owner. Waits while another process holds it,
 * and ends early when the view has the outcome.
 */
async function acquire(
  deps: RefreshDeps,
  connection: Connection,
  deadline: number,
): Promise<Lease | null> {
  const { coordination, logger, clock } = deps;
  const name = `refresh/${connection.uid}`;
  for (;;) {
    let lease: Lease | null;
    try {
      lease = await coordination.acquire(name, { ttlMs: limits.refreshLeaseMs });
    } catch (err) {
      logger.warn({ err }, 'refreshing without a lease: coordination is away');
      return null;
    }
    if (lease !== null) return lease;
    const existing = current(deps, connection);
    const isDecided =
      existing.credentialsVersion !== connection.credentialsVersion ||
      hasFailedSince(existing, connection);
    if (isDecided) return null;
    if (clock.now() >= deadline) throw new GatewayError('connection_refresh_backoff');
    await changed(deps, connection);
  }
}

/** Resolves on a change of the connection in the view, or after the poll interval. */
async function changed({ control }: RefreshDeps, { connectionId }: Connection): Promise<void> {
  const stop = new AbortController();
  const unsubscribe = control.view.onChange([connectionEntity], (refs) => {
    if (refs.some(({ path }) => path[2] === connectionId)) stop.abort();
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

/**
 * Intent, provider, outcome.
 * @throws GatewayError `conflict` (a recent intent), `invalid_credentials`, 424
 */
async function renew(deps: RefreshDeps, existing: Connection, plan: Refresh): Promise<Connection> {
  const { control, faultPoint } = deps;
  const held = await openCredentials(deps.vault, existing);
  const id = randomUUID();
  const operation = beginOperation(deps, existing, id);
  const ref = refOf(existing);
  await faultPoint?.('refresh:before-intent');
  const begun = await control.execute(
    ref,
    {
      type: 'BeginRefresh',
      uid: existing.uid,
      id,
      ifVersion: existing.credentialsVersion,
      spendsToken: plan.renewal.spendsToken(held, plan.provider),
      logId: id,
    },
    { actor },
  );
  if (begun?.refresh.intent?.id !== id) {
    operation.end('failed', 'An earlier refresh has no outcome: the refresh token counts as used.');
    throw storedRefreshError(begun ?? existing);
  }
  await faultPoint?.('refresh:after-intent');
  try {
    const obtained = await requestRefresh(deps, existing, held, plan);
    const stored = await store(deps, existing, { ...obtained, ...rotationOf(held, obtained) });
    operation.end('success', 'The credentials were refreshed.');
    return stored;
  } catch (error) {
    const fix = fixOf(error, plan);
    operation.write('warn', `What to do: ${fix}`);
    operation.end('failed', error instanceof Error ? error.message : 'The refresh failed.');
    const { isRefusedNow } = plan;
    throw await refused(deps, existing, { id, isRefusedNow, fix }, error);
  }
}

/** Of the app at the provider, or of the grant. */
function fixOf(error: unknown, { provider }: Plan): string {
  const fix = error instanceof ProviderAuthError ? refreshFixOf(error.failure, provider) : null;
  const code = error instanceof GatewayError ? error.code : 'invalid_credentials';
  return fix ?? errorHints[code];
}

const refOf = ({ environmentUid, integrationKey, connectionId }: Connection) =>
  connectionRef(environmentUid, integrationKey, connectionId);

function beginOperation({ logs }: RefreshDeps, existing: Connection, operationId: string) {
  const { environmentUid, integrationKey: integration, connectionId } = existing;
  const operation = {
    operationId,
    operationType: 'auth:refresh_token' as const,
    environmentUid,
    integration,
    connectionId,
  };
  return logs.begin(operation, 'Refreshing the credentials.');
}

async function requestRefresh(
  deps: RefreshDeps,
  existing: Connection,
  held: Credentials,
  { provider, renewal }: Plan,
): Promise<ObtainedCredentials> {
  const { environmentUid, integrationKey } = existing;
  const integration = await requireIntegration(deps.control, environmentUid, integrationKey);
  const config = await openConnectionConfig(deps.vault, existing);
  return renewal.renew(held, await modeContext(deps, integration, provider, config));
}

/** Whether the provider returned another refresh token than the presented one; null when none was presented. */
function rotationOf(held: Credentials, { credentials }: ObtainedCredentials) {
  const shown = held['refresh_token'];
  const refreshToken = credentials?.['refresh_token'];
  return {
    rotatesToken: shown === undefined || refreshToken === undefined ? null : shown !== refreshToken,
  };
}

/** Stores issued credentials with retries, because they may be the only valid ones. */
async function store(
  deps: RefreshDeps,
  existing: Connection,
  renewed: ObtainedCredentials & { readonly rotatesToken: boolean | null },
): Promise<Connection> {
  const giveUpAt = deps.clock.now() + storeTriesMs;
  for (;;) {
    try {
      return await storeCredentials(deps, existing, renewed, { actor });
    } catch (error) {
      const mayPass =
        error instanceof GatewayError && error.status === 503 && deps.clock.now() < giveUpAt;
      if (!mayPass) throw error;
      deps.logger.warn({ err: error, connectionUid: existing.uid }, 'storing credentials again');
      await pause(lookAgainMs);
    }
  }
}

/** Records the failure, and returns the error for the caller. */
async function refused(
  deps: RefreshDeps,
  existing: Connection,
  refresh: { readonly id: string; readonly isRefusedNow: boolean; readonly fix: string },
  error: unknown,
): Promise<unknown> {
  const { id, isRefusedNow, fix } = refresh;
  const isInUse =
    !isRefusedNow && existing.expiresAt !== null && !isExpired(existing, deps.clock.now());
  const failure = failureFacts(error, isInUse);
  if (failure === null) return error;
  const after = await deps.control.execute(
    refOf(existing),
    { type: 'RefreshFailed', uid: existing.uid, id, logId: id, ...failure },
    { actor },
  );
  const message = error instanceof Error ? error.message : undefined;
  const isMarked = after?.errors.some(({ type }) => type === 'auth') === true;
  if (!failure.isDefinitive && !isMarked) {
    const retryAfterS = Math.ceil(limits.refreshBackoffMs / 1000);
    const details = { retryAfterS, ...(message === undefined ? {} : { message }) };
    return new GatewayError('connection_refresh_backoff', details, { cause: error });
  }
  const details = { fix, ...(message === undefined ? {} : { message }) };
  return new GatewayError('invalid_credentials', details, { cause: error });
}

/** Null if it is not a failure of the refresh: the connection was deleted, or has other credentials. */
function failureFacts(error: unknown, isInUse: boolean) {
  if (error instanceof ProviderAuthError) {
    const { code, providerCode, providerStatus, endsValidToken } = error.failure;
    const isDefinitive = error.failure.isDefinitive && (!isInUse || endsValidToken !== false);
    return { errorCode: providerCode ?? code, isDefinitive, providerStatus };
  }
  if (!(error instanceof GatewayError)) return null;
  if (error.code === 'conflict' || error.code === 'unknown_connection') return null;
  // An error before the request (a missing client, a key that cannot sign) does not resolve itself.
  return { errorCode: error.code, isDefinitive: error.status < 500, providerStatus: null };
}
