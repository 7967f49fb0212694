import { randomBytes, randomUUID } from 'node:crypto';
import {
  type ExecuteOptions,
  findCaughtUp,
  type ControlPlane,
} from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import type { Caller } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import { environmentRef } from '#modules/access/environments/entity.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext } from '#modules/access/vault/vault.ts';
import { sealUrl, urlOfSession } from '#modules/access/vault/webhook-urls.ts';
import { endUserTags, normalizeTags, type EndUser } from '../connections/state.ts';
import type { ConnectSession, IntegrationDefaults, SessionDefaults } from './connect-session.ts';
import { connectSessionRef, connectSessionEntity, type ConnectSessionEntity } from './entity.ts';

const prefix = 'svc_connect_session_';
const tokenPattern = /^svc_connect_session_[0-9a-f]{64}$/;

/** Whether the text has the prefix of a session token; it is then never tried as an API key. */
export const isConnectToken = (text: string): boolean => text.startsWith(prefix);

export interface SessionRequest {
  readonly environmentUid: string;
  readonly endUser: EndUser | null;
  /** Of an end user without a name. */
  readonly organization: EndUser['organization'];
  readonly tags: Readonly<Record<string, string>> | undefined;
  readonly allowedIntegrations: readonly string[];
  readonly defaults: SessionDefaults;
  readonly docs: Readonly<Record<string, string>>;
  /** In clear. */
  readonly webhookUrlOverride: string | null;
  readonly reconnects: ConnectSession['reconnects'];
}

/**
 * Creates a session; its token is only returned to the caller.
 * @throws GatewayError `invalid_body` (tags), `idempotency_conflict`
 */
export async function createSession(
  { control, vault }: SealedEntities,
  request: SessionRequest,
  options: ExecuteOptions,
): Promise<{ readonly session: ConnectSession; readonly token: string }> {
  const { environmentUid, organization, defaults, tags, ...input } = request;
  const id = randomUUID();
  const token = newToken(vault, environmentUid, options);
  await vault.ready(environmentUid);
  const hasDefaults = Object.keys(defaults).length > 0;
  const body: CommandOf<ConnectSessionEntity> = {
    ...input,
    type: 'Create',
    id,
    environmentUid,
    webhookUrlOverride: await sealUrl(
      vault,
      urlOfSession(environmentUid),
      request.webhookUrlOverride,
    ),
    hash: hashOf(vault, token),
    tags: normalizeTags({ ...describingTags(input.endUser, organization), ...tags }),
    defaults: hasDefaults
      ? vault.seal(environmentUid, defaults as unknown as JsonObject, defaultsContext(request))
      : null,
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(request));
  const ref = connectSessionRef(environmentUid, id);
  const session = await control.execute(ref, body, { requestHash, ...options });
  if (session === null) throw new GatewayError('server_error');
  return { session, token };
}

/** A repeated request gets the same token: it is not stored, so it is derived from the Idempotency-Key. */
function newToken(
  vault: SealedEntities['vault'],
  environmentUid: string,
  { idempotencyKey, requestHash = '', actor }: ExecuteOptions,
): string {
  if (idempotencyKey === undefined) return prefix + randomBytes(32).toString('hex');
  const requestText = [environmentUid, actor, idempotencyKey, requestHash].join('\n');
  return prefix + vault.fingerprint('connect-session-token', requestText);
}

function describingTags(
  endUser: EndUser | null,
  organization: EndUser['organization'],
): Readonly<Record<string, string>> {
  if (endUser !== null) return normalizeTags(endUserTags(endUser));
  if (organization === null) return {};
  return endUserTags({ id: '', email: null, displayName: null, tags: {}, organization });
}

/** Ends the session early; idempotent. */
export async function endSession(
  { control }: { readonly control: ControlPlane },
  { environmentUid, id }: ConnectSession,
  options: ExecuteOptions,
): Promise<void> {
  await control.execute(connectSessionRef(environmentUid, id), { type: 'End' }, options);
}

/**
 * The session of a token, from any node.
 * @throws GatewayError `invalid_connect_session_token_format`, `unknown_connect_session_token` (also: expired)
 */
export async function sessionOf(
  { control, vault, clock }: SealedEntities & { readonly clock: Clock },
  token: string,
): Promise<ConnectSession> {
  if (!tokenPattern.test(token)) throw new GatewayError('invalid_connect_session_token_format');
  const { view } = control;
  const hash = hashOf(vault, token);
  const session = await findCaughtUp(
    view,
    () => view.findBy(connectSessionEntity, 'hash', hash)?.state ?? null,
  );
  const isOver = session === null || clock.now() >= session.expiresAt;
  const environment = isOver ? null : view.find(environmentRef(session.environmentUid));
  if (isOver || environment?.isDeleting !== false) {
    throw new GatewayError('unknown_connect_session_token');
  }
  return session;
}

/** @throws GatewayError `unknown_connect_session_token`: the caller has no session */
export function requireSession({ session }: Pick<Caller, 'session'>): ConnectSession {
  if (session === undefined) throw new GatewayError('unknown_connect_session_token');
  // Set by `callerOf` to the result of `sessionOf`.
  return session as ConnectSession;
}

/** The values that the application sets for connections of the integration. */
export async function defaultsOf(
  vault: SealedEntities['vault'],
  session: ConnectSession,
  integrationKey: string,
): Promise<IntegrationDefaults> {
  const all = await openDefaults(vault, session);
  return Object.hasOwn(all, integrationKey) ? (all[integrationKey] ?? {}) : {};
}

export async function openDefaults(
  vault: SealedEntities['vault'],
  { environmentUid, defaults }: ConnectSession,
): Promise<SessionDefaults> {
  if (defaults === null) return {};
  await vault.ready(environmentUid);
  // It was sealed from this type.
  return vault.open(
    environmentUid,
    defaults,
    defaultsContext({ environmentUid }),
  ) as SessionDefaults;
}

const defaultsContext = ({ environmentUid }: { readonly environmentUid: string }): string =>
  sealingContext(environmentUid, environmentUid, 'connect_session_defaults');

const hashOf = (vault: SealedEntities['vault'], token: string): string =>
  vault.fingerprint('connect-session', token);
