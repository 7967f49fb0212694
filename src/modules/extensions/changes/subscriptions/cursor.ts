import { z } from 'zod';
import { cursorOf } from '#http/cursor.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { EventLog } from '#ports/event-log.ts';
import { feedCursor, positionOf, type FeedPosition } from '../position.ts';
import type { Subscription } from './subscription.ts';

const cursor = cursorOf(z.tuple([z.string().min(1), z.string().min(1), z.int().min(0)]));

/** The cursor of a position that was read of the subscription. */
export const subscriptionCursor = (
  { uid, moves }: Pick<Subscription, 'uid' | 'moves'>,
  position: FeedPosition,
): string => cursor.text([uid, feedCursor(position), moves]);

/**
 * What a cursor of the subscription holds.
 * @throws GatewayError `invalid_cursor_value`: also of another subscription, or log; `log_unavailable`
 */
export async function readCursor(
  log: EventLog,
  { uid }: Pick<Subscription, 'uid'>,
  text: string,
): Promise<{ readonly position: FeedPosition; readonly moves: number }> {
  const [ofUid, ofFeed, moves] = cursor.parse(text);
  if (ofUid !== uid) {
    const message = 'The cursor is of another subscription.';
    throw new GatewayError('invalid_cursor_value', { message });
  }
  return { position: await positionOf(log, ofFeed), moves };
}
