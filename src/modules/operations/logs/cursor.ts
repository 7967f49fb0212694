import { z } from 'zod';
import { cursorOf } from '#http/cursor.ts';
import type { OperationPlace } from './queries.ts';

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
