import { describe, expect, it } from 'vitest';
import { FairLimiter, type Release } from '#modules/functions/runs/runner/fair-limiter.ts';

const never = new AbortController().signal;
const limits = { total: 2, perEnvironment: 2, perConnection: 1 };

/** Lets many in, in order, and notes who is inside. */
function enterAll(limiter: FairLimiter, names: readonly string[]) {
  const inside: string[] = [];
  const leave = new Map<string, Release>();
  for (const name of names) {
    const [environmentUid = ''] = name.split('/');
    const connectionUid = name;
    void limiter.enter({ environmentUid, connectionUid }, never).then((release) => {
      inside.push(name);
      leave.set(name, release);
    });
  }
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { inside, leave: async (name: string) => (leave.get(name)?.(), settled()), settled };
}

describe('the gate', () => {
  it('lets environments in by turns, however many one of them has waiting', async () => {
    const limiter = new FairLimiter(limits);
    const { inside, leave, settled } = enterAll(limiter, [
      'a/1',
      'a/2',
      'a/3',
      'a/4',
      'b/1',
      'c/1',
    ]);
    await settled();
    expect(inside).toEqual(['a/1', 'a/2']);
    await leave('a/1');
    await leave('a/2');
    await leave('a/3');
    expect(inside.slice(2)).toEqual(['a/3', 'b/1', 'c/1']);
  });

  it('lets in fewer than fit when it can bear fewer, but one of each environment', async () => {
    let bearable = 1;
    const limiter = new FairLimiter({ ...limits, total: 4, perEnvironment: 4 }, () => bearable);
    const names = ['a/1', 'a/2', 'b/1', 'b/2', 'c/1', 'c/2'];
    const { inside, leave, settled } = enterAll(limiter, names);
    await settled();
    expect(inside).toEqual(['a/1', 'b/1', 'c/1']);
    await leave('a/1');
    await leave('b/1');
    await leave('c/1');
    expect(inside.slice(3)).toEqual(['a/2', 'b/2', 'c/2']);
    for (const name of inside.slice(3)) await leave(name);
    const more = enterAll(limiter, ['a/3', 'a/4', 'a/5']);
    await more.settled();
    expect(more.inside).toEqual(['a/3']);
    bearable = 2;
    limiter.grant();
    await more.settled();
    expect(more.inside).toEqual(['a/3', 'a/4']);
    await more.leave('a/4');
    expect(more.inside).toEqual(['a/3', 'a/4', 'a/5']);
    const last = enterAll(limiter, ['a/6', 'a/7']);
    limiter.grant(true);
    await last.settled();
    expect(last.inside).toEqual(['a/6']);
  });

  it('lets others by a connection at its limit', async () => {
    const gate = new FairLimiter(limits);
    const { inside, leave, settled } = enterAll(gate, ['a/1', 'a/1', 'a/2']);
    await settled();
    expect(inside).toEqual(['a/1', 'a/2']);
    await leave('a/1');
    expect(inside).toEqual(['a/1', 'a/2', 'a/1']);
  });

  it('keeps the limit of an environment', async () => {
    const gate = new FairLimiter({ total: 10, perEnvironment: 1, perConnection: 1 });
    const { inside, settled } = enterAll(gate, ['a/1', 'a/2', 'b/1']);
    await settled();
    expect(inside).toEqual(['a/1', 'b/1']);
  });

  it('gives a place at once only where nobody has to leave first', async () => {
    const gate = new FairLimiter({ total: 3, perEnvironment: 2, perConnection: 1 });
    const at = (environmentUid: string, connectionUid: string) =>
      gate.tryEnter({ environmentUid, connectionUid });
    const release = at('a', 'a/1');
    expect(at('a', 'a/1')).toBeNull();
    expect(at('a', 'a/2')).not.toBeNull();
    expect(at('a', 'a/3')).toBeNull();
    expect(at('b', 'b/1')).not.toBeNull();
    expect(at('c', 'c/1')).toBeNull();
    const { inside, settled } = enterAll(gate, ['c/1']);
    release?.();
    release?.();
    await settled();
    expect(inside).toEqual(['c/1']);
    expect(at('d', 'd/1')).toBeNull();
  });

  it('forgets who no longer waits', async () => {
    const gate = new FairLimiter({ total: 1, perEnvironment: 1, perConnection: 1 });
    const release = await gate.enter({ environmentUid: 'a', connectionUid: 'a/1' }, never);
    const gone = new AbortController();
    const waiting = gate.enter({ environmentUid: 'a', connectionUid: 'a/2' }, gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    release();
    release();
    const { inside, settled } = enterAll(gate, ['b/1', 'b/2']);
    await settled();
    expect(inside).toEqual(['b/1']);
  });
});
