import { LRUCache } from 'lru-cache';
import type { Clock } from './time.ts';

/** A cache whose entries expire by a clock that tests can move. @param ttl ms */
export const expiringCache = <V extends object | string | true>(
  max: number,
  ttl: number,
  clock: Pick<Clock, 'now'>,
): LRUCache<string, V> => new LRUCache({ max, ttl, ttlResolution: 0, perf: clock });
