import { describe, expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import { openRevocations, notifyRevoked } from '#modules/access/api-keys/handlers.ts';

describe('a deleted key', () => {
  it('is known to every listening node when it is published', async () => {
    const coordination = openInProcessCoordination();
    await using one = await openRevocations(coordination);
    await using other = await openRevocations(coordination);
    await notifyRevoked(coordination, 'gone');
    expect([one.has('gone'), other.has('gone'), one.has('kept')]).toEqual([true, true, false]);
  });
});
