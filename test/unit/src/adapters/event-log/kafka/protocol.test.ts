import type { ProtocolCall } from 'kafkajs/src/broker/index.js';
import { describe, expect, it } from 'vitest';
import {
  committedCall,
  fetchCall,
  metadataCall,
  produceCall,
} from '#adapters/event-log/kafka/protocol.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';

const calls: Readonly<Record<string, ProtocolCall<unknown>>> = {
  metadata: metadataCall([]),
  produce: produceCall([], null, 0),
  fetch: fetchCall([], { maxWaitMs: 0, maxBytes: 0, partitionBytes: 0 }),
  committed: committedCall('group', 'topic', 1),
};

const outcomeOf = async (call: ProtocolCall<unknown>, bytes: Buffer): Promise<string> => {
  try {
    await call.response.decode(bytes);
    return 'decoded';
  } catch {
    return 'refused';
  }
};

describe('an answer of any bytes', () => {
  it.each(Object.entries(calls))('is decoded or refused: %s', async (_, call) => {
    const random = seeded(seedOfRun());
    for (let round = 0; round < 2_000; round++) {
      const bytes = Buffer.from(Array.from({ length: random.int(60) }, () => random.int(256)));
      const why = `SVC_TEST_SEED=${random.seed} ${bytes.toString('hex')}`;
      expect(['decoded', 'refused'], why).toContain(await outcomeOf(call, bytes));
    }
  });

  it('is refused when a list in it is longer than the answer', async () => {
    const longest = Buffer.from('7fffffff', 'hex');
    const compact = Buffer.from('ffffffff0f', 'hex');
    const [none, throttle] = [Buffer.alloc(1), Buffer.alloc(4)];
    for (const [name, bytes] of [
      ['metadata', [throttle, longest]],
      ['produce', [longest]],
      ['fetch', [throttle, Buffer.alloc(6), longest]],
      ['committed', [none, throttle, compact]],
      ['committed', [compact]],
    ] as const) {
      expect(await outcomeOf(calls[name]!, Buffer.concat(bytes)), name).toBe('refused');
    }
  });
});
