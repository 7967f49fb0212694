import { limits } from '#kernel/limits.ts';
import { ipPrefix } from '../audit/audited.ts';
import type { EntryInput } from '../audit/recorder.ts';
import type { Person } from '../people/person.ts';
import type { AccessServices } from '../services.ts';
import type { BrowserSummary, ConsoleSession } from './console-session.ts';
import { actorOf } from './current.ts';
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

/** What happened to a session. */
export interface SessionAction {
  readonly action: string;
  readonly session: ConsoleSession;
  readonly address: string;
}

/** The event of a session for the audit, in the name of the actor. */
export const sessionEntry = (
  actor: string,
  { action, session, address }: SessionAction,
): EntryInput => ({
  actor,
  action,
  target: session.id,
  outcome: 'success',
  ip_prefix: ipPrefix(address),
  details: null,
});

/** An event in the chain of the account, in the name of the person; of a session of keys in that of its first key. */
export const auditSession = ({ audit }: AccessServices, action: SessionAction): Promise<void> =>
  audit.happened('account', sessionEntry(actorOf(action.session), action));

/** How long the cookie of a session lives, in seconds. */
export const secondsOf = ({ clock }: AccessServices, { createdAt }: ConsoleSession): number =>
  Math.ceil((createdAt + limits.consoleSessionMs - clock.now()) / 1000);
