import { describe, expect, it } from 'vitest';
import { GroupTrouble } from '#adapters/event-log/kafka/group-trouble.ts';

describe('members of groups while a broker is away', () => {
  it('are logged when it begins, once a minute, and when the last one works again', () => {
    let seconds = 0;
    const lines: unknown[] = [];
    const note = (fields: object, message: string): void => {
      lines.push({ at: seconds, message, ...fields, err: undefined });
    };
    const trouble = new GroupTrouble({ info: note, warn: note }, () => seconds * 1000);
    for (; seconds < 150; seconds++) {
      for (const group of ['a', 'b', 'c']) trouble.failed(group, new Error('away'));
    }
    trouble.works('a');
    trouble.left('b');
    trouble.works('c');
    trouble.works('c');
    const message = 'group member cannot work';
    expect(lines).toEqual([
      { at: 0, message, groups: ['a'], seconds: 0 },
      { at: 60, message, groups: ['a', 'b', 'c'], seconds: 60 },
      { at: 120, message, groups: ['a', 'b', 'c'], seconds: 120 },
      { at: 150, message: 'group members work again', seconds: 150 },
    ]);
  });
});
