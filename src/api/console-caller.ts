import type { IncomingMessage } from 'node:http';
import type { RouteGuards } from '#http/pipeline.ts';
import { isSameOrigin, takesConsoleCookie } from '#http/same-origin.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { ApiKey } from '#modules/access/api-keys/api-key.ts';
import type { Revocations } from '#modules/access/api-keys/revocations.ts';
import { tokenOf } from '#modules/access/console-sessions/cookie.ts';
import {
  checkCsrf,
  createSessionUseNoter,
  findSession,
  findSessionKey,
} from '#modules/access/console-sessions/handlers.ts';
import type { Services } from './services.ts';

/** The key that acts for a request of the console. */
interface ConsoleKey {
  readonly key: ApiKey;
  readonly sessionId: string;
}

export interface ConsoleCallers {
  /**
   * The key that the console names in a request with its cookie, which counts only without an `Authorization` header,
   * from a page of this origin, on routes that take it; null: the request is not such a one.
   * @throws GatewayError `unknown_console_session`, `invalid_csrf_token`
   */
  find(request: IncomingMessage, route: RouteGuards): Promise<ConsoleKey> | null;
}

/** The header that names the key of the session by its id. */
const keyHeader = 'svc-console-key';
const csrfHeader = 'svc-csrf-token';

export function createConsoleCallers(services: Services, revocations: Revocations): ConsoleCallers {
  const noteUse = createSessionUseNoter(services);
  const find = async (token: string, { headers }: IncomingMessage): Promise<ConsoleKey> => {
    checkCsrf(services.vault, token, headers[csrfHeader]?.toString());
    const session = await findSession(services, token);
    const name = session?.keys.find(({ id }) => id === headers[keyHeader]);
    const found = name === undefined ? null : findSessionKey(services, name);
    const isOver = session === null || revocations.has(session.id);
    if (isOver || found === null || revocations.has(found.key.id)) {
      throw new GatewayError('unknown_console_session');
    }
    void noteUse(session).catch((error: unknown) => {
      services.logger.debug({ err: error }, 'the use of a console session was not noted');
    });
    return { key: found.key, sessionId: session.id };
  };
  return {
    find(request, route) {
      const { headers, method = 'GET' } = request;
      if (headers.authorization !== undefined || headers[keyHeader] === undefined) return null;
      if (!takesConsoleCookie(route)) return null;
      const browser = { ...headers, 'sec-fetch-site': headers['sec-fetch-site']?.toString() };
      const isChange = method !== 'GET' && method !== 'HEAD';
      const { publicUrl } = services.settings;
      if (!isSameOrigin(browser, { publicUrl, isChange })) return null;
      const token = tokenOf(services.vault, browser);
      return token === null ? null : find(token, request);
    },
  };
}
