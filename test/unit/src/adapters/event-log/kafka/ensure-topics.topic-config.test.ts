import { describe, expect, it } from 'vitest';
import {
  differences,
  initialConfig,
  requiredConfig,
} from '#adapters/event-log/kafka/ensure-topics.ts';
import { Names } from '#adapters/event-log/kafka/names.ts';
import { dayMs } from '#kernel/time.ts';

describe('the settings of a topic', () => {
  it('of records keep every change for the documented time, and the last one forever', () => {
    const cleanup = {
      policy: 'compact',
      minLagMs: 28 * dayMs,
      maxLagMs: 29 * dayMs,
      tombstoneMs: 7 * dayMs,
    } as const;
    expect(requiredConfig(cleanup)).toMatchObject({
      'cleanup.policy': 'compact',
      'min.compaction.lag.ms': '2419200000',
      'max.compaction.lag.ms': '2505600000',
      'delete.retention.ms': '604800000',
    });
    const options = { inSyncMin: 2, allowsFuture: false };
    expect(initialConfig(cleanup, options)).toMatchObject({
      'min.insync.replicas': '2',
      'segment.ms': String(dayMs),
    });
  });

  it('of commands delete nothing by age or size', () => {
    expect(requiredConfig({ policy: 'none' })).toMatchObject({
      'cleanup.policy': 'delete',
      'retention.ms': '-1',
      'retention.bytes': '-1',
    });
  });

  it('close segments soon where messages must go soon', () => {
    const options = { inSyncMin: 1, allowsFuture: false };
    const hourly = { policy: 'compact', minLagMs: 0, maxLagMs: 3_600_000, tombstoneMs: 1 } as const;
    expect(initialConfig(hourly, options)['segment.ms']).toBe('3600000');
    const short = { policy: 'delete', retentionMs: 60_000 } as const;
    expect(initialConfig(short, options)['segment.ms']).toBe('60000');
  });

  it('that differ are named with what is there and what is needed', () => {
    const wanted = { 'retention.ms': '5', 'cleanup.policy': 'delete', extra: '1' };
    const found = { 'retention.ms': '6', 'cleanup.policy': 'delete', unrelated: 'x' };
    expect(differences(wanted, found)).toEqual([
      'retention.ms is 6 instead of 5',
      'extra is not set instead of 1',
    ]);
  });
});

describe('names', () => {
  it('get the configured prefix for ours, and no two meet', () => {
    const names = new Names('acme');
    expect(names.inKafka('svc.records.v1')).toBe('acme.records.v1');
    expect(names.inKafka('records/0')).toBe('acme-records/0');
    expect(new Names('svc').inKafka('svc.records.v1')).toBe('svc.records.v1');
    expect(names.inKafka('svc.a')).not.toBe(names.inKafka('a'));
  });
});
