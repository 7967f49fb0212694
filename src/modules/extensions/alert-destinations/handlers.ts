import { randomUUID } from 'node:crypto';
import { z } from 'zod';
import {
  findCaughtUp,
  type ControlPlane,
  type ExecuteOptions,
} from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { webAddress } from '#http/fields.ts';
import { GatewayError } from '#kernel/errors.ts';
import { uuidV5, type Sealed } from '#kernel/ids.ts';
import { present } from '#kernel/present.ts';
import type { SealedEntities } from '#modules/access/services.ts';
import { sealingContext, type Vault } from '#modules/access/vault/vault.ts';
import type { Mailer } from '#ports/mailer.ts';
import type { AlertDestination, DestinationType } from './alert-destination.ts';
import {
  alertDestinationRef,
  alertDestinationEntity,
  type AlertDestinationEntity,
} from './entity.ts';

interface Deps extends SealedEntities {
  readonly mailer: Mailer | null;
}

/** The fields that a caller sets, with the target in plain text. */
export type WantedDestination = Pick<
  AlertDestination,
  'displayName' | 'type' | 'kinds' | 'isEnabled'
> & { readonly target: string };

const contextOf = (environmentUid: string, id: string): string =>
  sealingContext(environmentUid, id, 'alert_destination_target');

/** Of the environment, oldest first. */
export const listDestinations = (
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid: string,
): AlertDestination[] =>
  view
    .list(alertDestinationEntity, [environmentUid])
    .map(({ state }) => state)
    .sort((a, b) => a.createdAt - b.createdAt);

/** @throws GatewayError `not_found` */
export async function requireDestination(
  { view }: Pick<ControlPlane, 'view'>,
  environmentUid: string,
  id: string,
): Promise<AlertDestination> {
  const found = await findCaughtUp(view, () => view.find(alertDestinationRef(environmentUid, id)));
  if (found !== null) return found;
  const message = `The alert destination "${id}" does not exist in the environment of the key.`;
  throw new GatewayError('not_found', { message });
}

/** @throws GatewayError `resource_capped`, `invalid_body`: the target does not fit the type, or there is no mail server */
export async function createDestination(
  deps: Deps,
  environmentUid: string,
  { target, ...wanted }: WantedDestination,
  options: ExecuteOptions,
): Promise<AlertDestination> {
  const { control, vault } = deps;
  const { idempotencyKey } = options;
  // A repeated request must create the same destination.
  const id = idempotencyKey === undefined ? randomUUID() : uuidV5(environmentUid, idempotencyKey);
  const sealed = await targetFields(deps, { environmentUid, id, type: wanted.type }, target);
  const body: CommandOf<AlertDestinationEntity> = {
    type: 'Create',
    destination: { id, environmentUid, ...wanted, ...sealed },
  };
  const requestHash = vault.fingerprint('request', JSON.stringify({ target, ...wanted }));
  const ref = alertDestinationRef(environmentUid, id);
  const made = await control.execute(ref, body, { requestHash, ...options });
  if (made === null) throw new GatewayError('server_error');
  return made;
}

/** Changes the given fields. @throws GatewayError `not_found`, `invalid_body` */
export async function patchDestination(
  deps: Deps,
  environmentUid: string,
  id: string,
  wanted: {
    readonly [Field in 'displayName' | 'kinds' | 'isEnabled' | 'target']?:
      | WantedDestination[Field]
      | undefined;
  },
  options: ExecuteOptions,
): Promise<AlertDestination> {
  const { control, vault } = deps;
  const { type } = await requireDestination(control, environmentUid, id);
  const { target, ...others } = wanted;
  const ref = { environmentUid, id, type };
  const sealed = target === undefined ? {} : await targetFields(deps, ref, target);
  const body: CommandOf<AlertDestinationEntity> = {
    type: 'Patch',
    changes: { ...present(others), ...sealed },
  };
  const requestHash = vault.fingerprint('request', JSON.stringify(wanted));
  const changed = await control.execute(alertDestinationRef(environmentUid, id), body, {
    requestHash,
    ...options,
  });
  if (changed === null) throw new GatewayError('not_found');
  return changed;
}

/** @throws GatewayError `not_found` */
export async function deleteDestination(
  { control }: { readonly control: ControlPlane },
  environmentUid: string,
  id: string,
  options: ExecuteOptions,
): Promise<void> {
  await requireDestination(control, environmentUid, id);
  await control.execute(alertDestinationRef(environmentUid, id), { type: 'Delete' }, options);
}

/** The target in plain text. @throws GatewayError `not_found` when the key was destroyed */
export async function openTarget(
  vault: Vault,
  { environmentUid, id, target }: AlertDestination,
): Promise<string> {
  await vault.ready(environmentUid);
  return vault.open(environmentUid, target, contextOf(environmentUid, id));
}

async function targetFields(
  { vault, mailer }: Deps,
  { environmentUid, id, type }: Pick<AlertDestination, 'environmentUid' | 'id' | 'type'>,
  target: string,
): Promise<{ readonly target: Sealed<string>; readonly shownTarget: string }> {
  const form = type === 'email' ? z.email().max(254) : webAddress;
  const parsed = form.safeParse(target);
  if (!parsed.success) {
    refuse('target', type === 'email' ? 'Send a mail address.' : 'Send a URL with http or https.');
  }
  if (type === 'email' && mailer === null) {
    refuse('type', 'The service has no mail server: the operator sets SVC_SMTP_URL.');
  }
  await vault.ready(environmentUid);
  const sealed = vault.seal(environmentUid, target, contextOf(environmentUid, id));
  return { target: sealed, shownTarget: shown(type, target) };
}

/** A URL without its path, which has the token. */
const shown = (type: DestinationType, target: string): string =>
  type === 'email' ? target : `${new URL(target).origin}/…`;

function refuse(field: string, message: string): never {
  throw new GatewayError('invalid_body', {
    message,
    errors: [{ code: 'custom', message, path: [field] }],
  });
}
