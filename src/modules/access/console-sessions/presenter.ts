import { z } from 'zod';
import { timestamp } from '../../../http/responses.ts';
import { isoMillis } from '../../../kernel/time.ts';
import type { SessionKey } from './handlers.ts';
import { endOf } from './rules.ts';
import type { ConsoleSession } from './state.ts';

const key = z.strictObject({
  id: z.uuid().describe('Id of the key.'),
  name: z.string().meta({ description: 'Name of the key.', examples: ['Backend'] }),
  kind: z.enum(['account', 'environment']).describe('Kind of the key.'),
  environment: z
    .strictObject({
      id: z.int().describe('Number of the environment.'),
      name: z.string().describe('Name of the environment.'),
    })
    .nullable()
    .describe('Environment of the key; null for a key of the account.'),
  scopes: z.array(z.string().meta({ examples: ['environment:records:read'] })),
});

export const sessionShape = z
  .strictObject({
    csrf_token: z.string().describe('Value of the header `Svc-Csrf-Token` in further requests.'),
    expires_at: timestamp,
    keys: z.array(key).describe('The keys that the session holds.'),
  })
  .meta({ id: 'ConsoleSession' });

/** A session for the console: its keys by id, without their secrets. */
export function presentSession(
  session: ConsoleSession,
  keys: readonly SessionKey[],
  csrfToken: string,
): z.output<typeof sessionShape> {
  return {
    csrf_token: csrfToken,
    expires_at: isoMillis(endOf(session)),
    keys: keys.map(({ key: { id, displayName: name, scopes }, environment }) => ({
      id,
      name,
      kind: environment === null ? 'account' : 'environment',
      environment: environment === null ? null : { id: environment.id, name: environment.name },
      scopes: [...scopes],
    })),
  };
}
