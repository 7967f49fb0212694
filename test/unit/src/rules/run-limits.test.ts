import { expect, it } from 'vitest';
import { runLimits } from '#rules/run-limits.ts';

const minute = 60_000;

it.each([
  ['§16 limits of a sync run', 'sync', 24 * 60],
  ['§16 limits of an action run', 'action', 15],
  ['§16 limits of a webhook run', 'webhook', 60],
  ['§16 limits of an on-event run', 'on-event', 5],
  ['limits of a dry run', 'dryrun', 5],
] as const)('%s', (_row, kind, minutes) => {
  const { wallMs, outputBytes, heapMb } = runLimits[kind];
  expect([wallMs, outputBytes, heapMb]).toEqual([minutes * minute, 2 * 1024 ** 2, 256]);
});
