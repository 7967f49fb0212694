import { describe, expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { GatewayError } from '#kernel/errors.ts';
import { EnvironmentLocks } from '#modules/functions/runs/runner/fair-limiter.ts';
import { silent } from '#test/support/worlds/control.ts';

const never = new AbortController().signal;

describe('turns of an environment', () => {
  it('are had by one process at a time, and go round', async () => {
    await using coordination = openInProcessCoordination();
    const inside: string[] = [];
    let most = 0;
    let now = 0;
    const work = async (name: string, count: number): Promise<void> => {
      const turns = new EnvironmentLocks({ coordination, logger: silent });
      for (let turn = 0; turn < count; turn += 1) {
        const end = await turns.take('env', never);
        most = Math.max(most, (now += 1));
        inside.push(name);
        await new Promise((resolve) => setImmediate(resolve));
        now -= 1;
        end();
      }
    };
    await Promise.all([work('a', 6), work('b', 1)]);
    expect(most).toBe(1);
    expect(inside.toSorted()).toEqual(['a', 'a', 'a', 'a', 'a', 'a', 'b']);
    // Who waited was not left to the end.
    expect(inside.at(-1)).toBe('a');
  });

  it('of different environments know nothing of each other', async () => {
    await using coordination = openInProcessCoordination();
    const turns = () => new EnvironmentLocks({ coordination, logger: silent });
    const ends = [await turns().take('a', never), await turns().take('b', never)];
    for (const end of ends) end();
  });

  it('are not waited for by who gives up', async () => {
    await using coordination = openInProcessCoordination();
    const turns = () => new EnvironmentLocks({ coordination, logger: silent });
    await turns().take('env', never);
    const gone = new AbortController();
    const waiting = turns().take('env', gone.signal);
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
  });

  it('are had without the other nodes while they cannot be reached', async () => {
    await using coordination = openInProcessCoordination();
    const acquire = () => Promise.reject(new GatewayError('coordination_unavailable'));
    const turns = new EnvironmentLocks({
      coordination: { ...coordination, acquire },
      logger: silent,
    });
    const end = await turns.take('env', never);
    end();
  });
});
