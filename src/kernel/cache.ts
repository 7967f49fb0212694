import { LRUCache } from 'lru-cache';
import type { Clock } from './time.ts';

/** A cache whose entries expire by a clock that tests can move. @param ttl ms */
export const expiringCache = <V extends object | string | true>(
  max: number,
  ttl: number,
  clock: Pick<Clock, 'now'>,
): LRUCache<string, V> => new LRUCache({ max, ttl, ttlResolution: 0, perf: clock });

/** A cache whose memory is allocated as entries are added: `max` of `lru-cache` allocates for all of them at the start. */
export const growingCache = <V extends object | number>(max: number): LRUCache<string, V> =>
  new LRUCache({ maxSize: max, sizeCalculation: () => 1 });
