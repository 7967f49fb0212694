import type { RouteAnswer } from '../../../http/define-route.ts';
import { GatewayError } from '../../../kernel/errors.ts';
import {
  findAuthorization,
  finishRedirect,
  takeAuthorization,
  type RedirectedBack,
} from './finish-redirect.ts';
import { logged } from './log.ts';
import type { Authorization } from './state.ts';
import { showFailure, notifySuccess } from './notify-outcome.ts';
import type { ConnectionsServices } from '../services.ts';

export interface Callback extends RedirectedBack {
  readonly cookies: string | undefined;
  /** Status for a `state` that has expired or was already used. */
  readonly unknownStatus: number;
}

const anonymous = { socketId: null, integrationKey: '', connectionId: '' };

export const cookieName = (state: string): string => `oauth2-${state}`;

/** Handles the return of a user from the provider: the page for the browser. */
export async function answerCallback(
  services: ConnectionsServices,
  callback: Callback,
): Promise<RouteAnswer> {
  let found: Authorization;
  try {
    found = await taken(services, callback);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return showFailure(services, anonymous, error);
  }
  try {
    const connection = await logged(services, found, () =>
      finishRedirect(services, found, callback),
    );
    return await notifySuccess(services, found, connection);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    // If a function refuses an existing connection, the auth error of the connection reports it.
    const isMarked = error.code === 'connection_validation_failed' && found.reconnectsUid !== null;
    if (!isMarked) await services.authorizationOutcomes.failed(found, error);
    return showFailure(services, found, error);
  }
}

/** @throws GatewayError `invalid_state`, `missing_state_cookie` */
async function taken(
  services: ConnectionsServices,
  { texts, cookies = '', unknownStatus: status }: Callback,
): Promise<Authorization> {
  // Some providers return it under another name.
  const state = texts['state'] ?? texts['payload'] ?? texts['customField'];
  if (state === undefined || state === '') {
    throw new GatewayError('invalid_state', { message: 'The callback has no state.' });
  }
  const found = await findAuthorization(services, state);
  if (found === null) throw new GatewayError('invalid_state', { status });
  // Checked before the state is consumed: a callback from another browser must not block the user's own.
  const isSameBrowser = cookies.split(/;\s*/).includes(`${cookieName(state)}=1`);
  if (!isSameBrowser) throw new GatewayError('missing_state_cookie');
  try {
    await takeAuthorization(services, found);
  } catch (error) {
    const isTaken = error instanceof GatewayError && error.code === 'not_found';
    throw isTaken ? new GatewayError('invalid_state', { status }) : error;
  }
  return found;
}
