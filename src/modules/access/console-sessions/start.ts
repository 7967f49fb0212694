import { limits } from '#kernel/limits.ts';
import { ipPrefix } from '../audit/audited.ts';
import type { Person } from '../people/person.ts';
import type { AccessServices } from '../services.ts';
import type { BrowserSummary, ConsoleSession } from './console-session.ts';
import { createSession } from './handlers.ts';

/** What a browser brings to a sign-in. */
export interface SignInRequest {
  readonly browser: BrowserSummary;
  readonly address: string;
  /** Id of the session that the browser has; null without one. */
  readonly replacesId: string | null;
}

/** Starts the session of a person whose sign-in was noted. @throws GatewayError as `createSession` */
export async function startPersonSession(
  services: AccessServices,
  person: Person,
  { browser, address, replacesId }: SignInRequest,
): Promise<{ readonly session: ConsoleSession; readonly token: string }> {
  const input = { keys: [], personId: person.id, browser, replacesId };
  const made = await createSession(services, input, { actor: `user:${person.id}` });
  const { session } = made;
  await auditSession(services, { action: 'console_session.create', session, address });
  return made;
}

/** An event in the chain of the account, in the name of the person; of a session of keys in that of its first key. */
export async function auditSession(
  { audit, logger }: AccessServices,
  input: { readonly action: string; readonly session: ConsoleSession; readonly address: string },
): Promise<void> {
  const { action, session, address } = input;
  const { personId, keys } = session;
  const entry = {
    actor: personId === undefined ? `key:${keys[0]?.id ?? ''}` : `user:${personId}`,
    action,
    target: session.id,
    outcome: 'success',
    ip_prefix: ipPrefix(address),
    details: null,
  };
  await audit.change('account', entry).catch((err: unknown) => {
    logger.error({ err, environment: 'account', audit: entry }, 'an audit event was lost');
  });
}

/** How long the cookie of a session lives, in seconds. */
export const secondsOf = ({ clock }: AccessServices, { createdAt }: ConsoleSession): number =>
  Math.ceil((createdAt + limits.consoleSessionMs - clock.now()) / 1000);
