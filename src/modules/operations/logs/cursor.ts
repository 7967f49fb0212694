import { z } from 'zod';
import { GatewayError } from '../../../kernel/errors.ts';
import type { OperationPlace } from './queries.ts';

const refused = (): GatewayError => new GatewayError('invalid_cursor_value');

/** An opaque cursor; `parse` refuses texts of another origin. */
function cursorOf<T>(parts: z.ZodType<T>) {
  return {
    text: (position: T): string => Buffer.from(JSON.stringify(position)).toString('base64url'),
    /** @throws GatewayError `invalid_cursor_value` */
    parse(text: string): T {
      const parsed = parts.safeParse(jsonOf(Buffer.from(text, 'base64url').toString()));
      if (!parsed.success) throw refused();
      return parsed.data;
    },
  };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new GatewayError('invalid_cursor_value', {}, { cause });
  }
}

const number = z.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

const operationPlace = cursorOf(z.tuple([number, z.string().max(512)]));

/** After this operation, in the order of the list. */
export const operationCursor = {
  text: ({ startedAt, operationId }: OperationPlace): string =>
    operationPlace.text([startedAt, operationId]),
  parse(text: string): OperationPlace {
    const [startedAt, operationId] = operationPlace.parse(text);
    return { startedAt, operationId };
  },
};

/** Position of a message within its operation. */
export const messageCursor = cursorOf(number);

/** The position of a reader of the topic: the next offset of each partition. */
export const tailCursor = cursorOf(z.array(number).min(1).max(10_000));
