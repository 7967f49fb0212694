import { z } from 'zod';
import type { AnyRoute } from '#http/define-route.ts';
import { connectionId, listOf, tags, text, wholeNumber } from '#http/fields.ts';
import { json } from '#http/responses.ts';
import { GatewayError } from '#kernel/errors.ts';
import { defineRoute } from '../services.ts';
import { entriesShape, presentEntry } from './presenter.ts';
import { queryConnections } from './queries.ts';
import { connectionsLimitDefault, type ConnectionPosition } from './search.ts';
import type { Connection } from './state.ts';

const cursorShape = z.tuple([z.number().int().nonnegative(), z.number().int().nonnegative()]);

/** `next_cursor` of `GET /connections`: the list goes on after this connection. */
export const cursorOf = ({ createdAt, id }: Connection): string =>
  Buffer.from(JSON.stringify([createdAt, id])).toString('base64url');

/** @throws GatewayError `invalid_cursor_value` */
export function positionOf(cursor: string): ConnectionPosition {
  try {
    const decoded: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [createdAt, id] = cursorShape.parse(decoded);
    return { createdAt, id };
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}

/** As many as an address has room for. */
const connectionIdsMax = 100;

const noStore = { 'cache-control': 'no-store' };

export const listRoute: AnyRoute = defineRoute({
  method: 'GET',
  path: '/connections',
  credential: 'environment',
  scopes: ['environment:connections:list', 'environment:connections:list_credentials'],
  summary: 'List connections, newest first.',
  description:
    'All conditions must hold. Follow `next_cursor` until it is null; unlike `page`, it repeats and misses nothing while connections come and go.',
  query: z.strictObject({
    connectionId: connectionId.optional(),
    connectionIds: listOf(connectionId)
      .pipe(z.array(connectionId).max(connectionIdsMax))
      .optional()
      .describe(`Only connections with one of these ids, up to ${connectionIdsMax}; repeated.`),
    search: text(1, 255)
      .optional()
      .describe('Text in the id, or in the name or e-mail address of the end user.'),
    endUserId: text(1, 255).optional().describe('Only connections of this end user.'),
    endUserOrganizationId: text(1, 255)
      .optional()
      .describe('Only connections of this organization.'),
    integrationId: listOf(text(1, 8192))
      .optional()
      .describe('Only connections of these integrations; repeated, or separated by commas.'),
    tags: tags
      .optional()
      .describe('Only connections with all of these tags, as `tags[key]=value`.'),
    errors: z
      .enum(['auth', 'sync', 'any', 'none'])
      .optional()
      .describe('Only connections with this kind of error; `none`: without one.'),
    credentials: z.enum(['none']).optional().describe('`none`: leave the credentials out.'),
    limit: wholeNumber(1, 2000)
      .optional()
      .describe(`Connections of a page; without it up to ${connectionsLimitDefault}.`),
    cursor: text(1, 512).optional(),
    page: wholeNumber(0, 1_000_000).optional(),
  }),
  answers: { 200: json('The connections.', entriesShape) },
  errors: ['invalid_cursor_value'],
  async handle({ query, caller, services }) {
    const { integrationId, limit, page, cursor, credentials, ...conditions } = query;
    const integrationKeys = integrationId?.flatMap((keys) => keys.split(','));
    const { environmentUid } = caller;
    const after = cursor === undefined ? undefined : positionOf(cursor);
    const request = { ...conditions, environmentUid, integrationKeys, limit, after, page };
    const found = queryConnections(services.control, request);
    const withCredentials =
      credentials !== 'none' && caller.has('environment:connections:list_credentials');
    const connections: unknown[] = [];
    for (const connection of found) {
      connections.push(await presentEntry(services.vault, connection, { withCredentials }));
    }
    // A page that is full may be the last one: the next one is empty then.
    const isFull = found.length === (limit ?? connectionsLimitDefault);
    const last = isFull ? found.at(-1) : undefined;
    const next = last === undefined ? null : cursorOf(last);
    return {
      status: 200,
      body: { connections, next_cursor: next },
      ...(withCredentials ? { headers: noStore } : {}),
    };
  },
});
