import { z } from 'zod';
import { takeQuota } from '#http/rate-limit.ts';
import { browserHeaders, isSameOrigin, type BrowserHeaders } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import { limits } from '#kernel/limits.ts';
import type { AccessServices } from '../services.ts';
import type { ConsoleSession } from './console-session.ts';
import { tokenOf } from './cookie.ts';
import { findSession, findSessionPerson, keysOf } from './handlers.ts';

/** Headers of a change of the session. */
export const changeHeaders = browserHeaders.extend({ 'svc-csrf-token': z.string().optional() });

/** Headers of a sign-in. */
export const signInHeaders = browserHeaders.extend({
  'user-agent': z.string().optional().describe('The browser, which the list of sessions names.'),
});

/** @throws GatewayError `foreign_origin` */
export function requireSameOrigin(
  { settings: { publicUrl } }: AccessServices,
  headers: BrowserHeaders,
  isChange: boolean,
): void {
  if (!isSameOrigin(headers, { publicUrl, isChange })) throw new GatewayError('foreign_origin');
}

/** Attempts are counted by address, successful ones too. @throws GatewayError `too_many_request` */
export async function countSignIn(services: AccessServices, address: string): Promise<void> {
  const limit = limits.consoleSignInsPerMinute;
  const { refusal } = await takeQuota(services, `console-sign-in:${address}`, { cost: 1, limit });
  if (refusal !== null) throw refusal;
}

/** The session of a browser, and the token in its cookie. */
export interface CurrentSession {
  readonly session: ConsoleSession;
  readonly token: string;
}

/** The session of the cookie, while one of its keys exists, or its person is active. */
export async function current(
  services: AccessServices,
  headers: BrowserHeaders,
): Promise<CurrentSession | null> {
  const token = tokenOf(services.vault, headers);
  const session = token === null ? null : await findSession(services, token);
  if (token === null || session === null) return null;
  const isOver =
    session.personId === undefined
      ? keysOf(services, session).length === 0
      : findSessionPerson(services, session) === null;
  return isOver ? null : { session, token };
}

/** @throws GatewayError `unknown_console_session` */
export async function requireCurrent(
  services: AccessServices,
  headers: BrowserHeaders,
): Promise<CurrentSession> {
  const found = await current(services, headers);
  if (found === null) throw new GatewayError('unknown_console_session');
  return found;
}

/** The person, or the first key, which acts for the session as a whole. */
export const actorOf = ({ personId, keys: [first] }: ConsoleSession): string =>
  personId === undefined ? `key:${first?.id ?? ''}` : `user:${personId}`;
