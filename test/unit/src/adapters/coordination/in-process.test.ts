import { expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';

it('counts as quickly beside many windows as beside few', async () => {
  await using coordination = openInProcessCoordination(() => 0);
  /** Processor time of 5,000 first counts, in µs. */
  const spent = (windows: string): number => {
    const started = process.cpuUsage();
    for (let at = 0; at < 5000; at += 1)
      void coordination.count(`${windows}:${at}`, { windowMs: 60_000 });
    const { user, system } = process.cpuUsage(started);
    return user + system;
  };
  spent('warm up');
  const few = spent('few');
  const many = ['a', 'b', 'c', 'd'].map(spent);
  // Looking at every window for each count takes some thousand times as long.
  expect(Math.min(...many) / few).toBeLessThan(50);
});
