import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import type { ConnectionPosition } from './listing.ts';
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
