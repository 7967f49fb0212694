import { describe, expect, it } from 'vitest';
import { classMismatch, isNounlike } from '#test/language/names.ts';

describe('a name in code', () => {
  it.each(['Held', 'Place', 'Waiting', 'Said', 'Of', 'Shared'])('of a type is not %s', (name) => {
    expect(isNounlike(name)).toBe(false);
  });

  it.each(['Setting', 'Feed', 'Sealed', 'HeldLock', 'AcquiredPartition', 'Row'])(
    'of a type may be %s',
    (name) => {
      expect(isNounlike(name)).toBe(true);
    },
  );

  it.each([
    ['link', 'BrokerConnection'],
    ['directory', 'ClusterMetadata'],
    ['#lines', 'EndpointQueue'],
  ])('of a field is not %s for a %s', (member, type) => {
    expect(classMismatch(member, type)).toBe(`"${member}" is a ${type}; name it by its class`);
  });

  it.each([
    ['connection', 'BrokerConnection'],
    ['#queues', 'EndpointQueue'],
    ['metadata', 'ClusterMetadata'],
    ['bodies', 'BodyStore'],
    ['batches', 'BatchPair'],
  ])('of a field may be %s for a %s', (member, type) => {
    expect(classMismatch(member, type)).toBeNull();
  });
});
