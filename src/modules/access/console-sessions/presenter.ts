import { z } from 'zod';
import { representation } from '#http/representation.ts';
import { timestamp } from '#http/responses.ts';
import { isoMillis } from '#kernel/time.ts';
import { endOf, type ConsoleSession } from './console-session.ts';
import type { SessionKey } from './handlers.ts';

const key = representation<SessionKey>()({
  id: [z.uuid().describe('Id of the key.'), ({ key }) => key.id],
  name: [
    z.string().meta({ description: 'Name of the key.', examples: ['Backend'] }),
    ({ key }) => key.displayName,
  ],
  kind: [
    z.enum(['account', 'environment']).describe('Kind of the key.'),
    ({ environment }) => (environment === null ? 'account' : 'environment'),
  ],
  environment: [
    z
      .strictObject({
        id: z.int().describe('Number of the environment.'),
        name: z.string().describe('Name of the environment.'),
      })
      .nullable()
      .describe('Environment of the key; null for a key of the account.'),
    ({ environment }) => environment && { id: environment.id, name: environment.name },
  ],
  scopes: [
    z.array(z.string().meta({ examples: ['environment:records:read'] })),
    ({ key }) => key.scopes,
  ],
});

interface ShownSession {
  readonly session: ConsoleSession;
  readonly keys: readonly SessionKey[];
  readonly csrfToken: string;
}

/** A session for the console: its keys by id, without their secrets. */
const shown = representation<ShownSession>()({
  csrf_token: [
    z.string().describe('Value of the header `Svc-Csrf-Token` in further requests.'),
    ({ csrfToken }) => csrfToken,
  ],
  expires_at: [timestamp, ({ session }) => isoMillis(endOf(session))],
  keys: [
    z.array(key.schema).describe('The keys that the session holds.'),
    ({ keys }) => keys.map(key.of),
  ],
});

export const presentSession = shown.of;
export const sessionShape = shown.schema.meta({ id: 'ConsoleSession' });
