import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { askChild } from '../processes/child.ts';
import type { ToldRound, ToldStream } from '../processes/rebuild-child.ts';

/** Everything but the log and the root key. */
export const derived = ['clickhouse', 'state', 'views'] as const;

export async function remove(folder: string, parts: readonly string[]): Promise<void> {
  for (const part of parts) await rm(join(folder, part), { recursive: true });
}

/** One life of a node over the folder: what it finds, what it writes with so many calls, and what is there then. */
export function rebuildRound(
  folder: string,
  {
    seed,
    number,
    calls,
  }: { readonly seed: number; readonly number: number; readonly calls: number },
  mode: 'whole' | 'compacted' = 'whole',
  env: Readonly<Record<string, string>> = {},
): Promise<ToldRound> {
  const args = [folder, seed, number, calls, mode];
  return askChild<ToldRound>('./rebuild-child.ts', folder, args, env);
}

export function figures(streams: readonly ToldStream[]): string {
  const sum = (of: (stream: ToldStream) => number) => streams.map(of).reduce((a, b) => a + b);
  return `${sum(({ seqs }) => seqs.length)} changes, ${sum(({ pages }) => pages.length)} pages`;
}

/** Byte for byte, the cursors too; an old cursor goes on as it did, and so does an open delete pass. */
export function expectSame({ found, deletedKeys }: ToldRound, { left, unmarked }: ToldRound): void {
  for (const [at, { continued, ...stream }] of found.entries()) {
    const { continued: _, ...before } = left[at]!;
    expect(stream).toEqual(before);
    expect(continued?.pages).toEqual(before.pages.slice(continued?.from));
  }
  expect([...deletedKeys].sort()).toEqual([...unmarked].sort());
}

/** More changes of the same generation, `stream_seq` without a hole. */
export function expectMore({ found, left }: ToldRound): void {
  for (const [at, { seqs, eventIds, generations }] of left.entries()) {
    expect(seqs.length).toBeGreaterThan(found[at]!.seqs.length);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(new Set(eventIds).size).toBe(eventIds.length);
    expect(generations).toHaveLength(1);
  }
}
