import { randomBytes, randomUUID } from 'node:crypto';
import {
  type ExecuteOptions,
  findCaughtUp,
  type ControlPlane,
} from '#control-plane/control-plane.ts';
import { commandTo, type CommandOf } from '#control-plane/entity.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Clock } from '#kernel/time.ts';
import { isExpired } from '../api-keys/api-key.ts';
import { listKeys } from '../api-keys/queries.ts';
import { defaultKeyName } from '../environments/handlers.ts';
import { listEnvironments } from '../environments/queries.ts';
import type { SealedEntities } from '../services.ts';
import type { ConsoleCode, KeyName } from './console-code.ts';
import { consoleCodeRef, consoleCodeEntity, type ConsoleCodeEntity } from './entity.ts';

/** Text of a code: 192 random bits. */
const codePattern = /^[A-Za-z0-9_-]{32}$/;
const codeBytes = 24;

export interface MadeCode {
  /** In clear; it is stored nowhere. */
  readonly code: string;
  readonly expiresAt: number;
}

/** Creates a code that signs in once with the keys. @throws GatewayError as `ControlPlane.execute` */
export async function createCode(
  { control, vault }: SealedEntities,
  keys: readonly KeyName[],
  options: Pick<ExecuteOptions, 'actor'>,
): Promise<MadeCode> {
  const { code, id, hash } = newCode(vault);
  const body: CommandOf<ConsoleCodeEntity> = { type: 'Create', id, hash, keys };
  const made = await control.execute(consoleCodeRef(id), body, options);
  if (made === null) throw new GatewayError('server_error');
  return { code, expiresAt: made.expiresAt };
}

/**
 * Creates a code that signs in once as the person; earlier ones of the person stop working.
 * @throws GatewayError as `ControlPlane.execute`
 */
export async function createPersonCode(
  { control, vault }: SealedEntities,
  { personId, lifetimeMs }: { readonly personId: string; readonly lifetimeMs: number },
  options: Pick<ExecuteOptions, 'actor'>,
): Promise<MadeCode> {
  const { code, id, hash } = newCode(vault);
  const create = commandTo(consoleCodeRef(id), {
    type: 'Create',
    id,
    hash,
    keys: [],
    personId,
    lifetimeMs,
  });
  await control.view.caughtUp();
  const [made] = await control.askAll([create, ...withdrawalsOf(control, personId)], options);
  if (made === null) throw new GatewayError('server_error');
  return { code, expiresAt: made.expiresAt };
}

/** Commands that take the unused codes of a person out of use. */
export const withdrawalsOf = ({ view }: ControlPlane, personId: string) =>
  view
    .listBy(consoleCodeEntity, 'person', personId)
    .map(({ state }) => commandTo(consoleCodeRef(state.id), { type: 'Withdraw' }));

function newCode(vault: SealedEntities['vault']) {
  const code = randomBytes(codeBytes).toString('base64url');
  return { code, id: randomUUID(), hash: hashOf(vault, code) };
}

/**
 * Uses the code up, from any node.
 * @returns what it stands for
 * @throws GatewayError `unknown_console_code`: never made, used before, or expired
 */
export async function useCode(
  { control, vault }: SealedEntities,
  code: string,
): Promise<Pick<ConsoleCode, 'keys' | 'personId'>> {
  const { view } = control;
  const hash = hashOf(vault, code);
  const existing = codePattern.test(code)
    ? await findCaughtUp(view, () => view.findBy(consoleCodeEntity, 'hash', hash))
    : null;
  if (existing === null) throw new GatewayError('unknown_console_code');
  await control.execute(consoleCodeRef(existing.state.id), { type: 'Use' }, { actor: 'anonymous' });
  return existing.state;
}

/** The keys with which a newcomer starts: the account's oldest, and of each environment the one it was made with. */
export function defaultKeys({
  control,
  clock,
}: {
  readonly control: ControlPlane;
  readonly clock: Clock;
}): readonly KeyName[] {
  const listValid = (environmentUid: string | null) =>
    listKeys(control, environmentUid).filter((key) => !isExpired(key, clock.now()));
  const [account] = listValid(null);
  const ofEnvironments = listEnvironments(control).flatMap(({ uid }) =>
    listValid(uid).filter(({ displayName }) => displayName === defaultKeyName),
  );
  const keys = [...(account === undefined ? [] : [account]), ...ofEnvironments];
  return keys.map(({ environmentUid, id }) => ({ environmentUid, id }));
}

/** The console's address that accepts an invitation, as `signInUrl`. */
export const invitationUrl = (publicUrl: string, code: string): string =>
  `${publicUrl}/console#invitation=${code}`;

/** The console's address that signs in: a fragment is sent to no server and stands in no log. */
export const signInUrl = (publicUrl: string, code: string): string =>
  `${publicUrl}/console#code=${code}`;

const hashOf = (vault: SealedEntities['vault'], code: string): string =>
  vault.fingerprint('console-code', code);
