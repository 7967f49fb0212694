import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { exitCodes } from '#cli/exit.ts';
import { limits } from '#kernel/limits.ts';
import { secondMs, minuteMs, hourMs, dayMs } from '#kernel/time.ts';
import { authModes } from '#modules/connections/providers/schema-parts.ts';
import { definitionSchema } from '#modules/connections/providers/schema.ts';
import { runLimits } from '#rules/run-limits.ts';

const root = new URL('../../../', import.meta.url).pathname;
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');

/** The names that a page has in code spans. */
function namesOn(page: string): Set<string> {
  const prose = textOf(`docs/reference/${page}`).replaceAll(/^```[^]*?^```/gm, '');
  const spans = prose.matchAll(/`([^`]+)`/g);
  return new Set([...spans].flatMap(([, span = '']) => span.match(/[\w-]+/g) ?? []));
}

const missingOn = (page: string, names: readonly string[]): string[] => {
  const present = namesOn(page);
  return names.filter((name) => !present.has(name));
};

/** Every name of a field in a JSON Schema, at any depth. */
function fieldsIn(schema: unknown): string[] {
  if (Array.isArray(schema)) return schema.flatMap(fieldsIn);
  if (typeof schema !== 'object' || schema === null) return [];
  const { properties = {}, ...rest } = schema as { properties?: object };
  return [
    ...Object.entries(properties).flatMap(([name, inner]) => [name, ...fieldsIn(inner)]),
    ...Object.values(rest).flatMap(fieldsIn),
  ];
}

/** Names that an interface of the SDK declares, by the two spaces before them. */
const membersIn = (file: string): string[] =>
  [...textOf(file).matchAll(/^ {2}(?:readonly )?(\w+)[?<(:]/gm)].map(([, name = '']) => name);

describe('the reference names', () => {
  it('every field of a provider definition', () => {
    const fields = fieldsIn(
      z.toJSONSchema(definitionSchema, { io: 'input', unrepresentable: 'any' }),
    );
    expect(fields.length).toBeGreaterThan(150);
    expect(missingOn('provider-format.md', [...new Set(fields)])).toEqual([]);
  });

  it('every authentication mode', () => {
    expect(missingOn('auth-modes.md', authModes)).toEqual([]);
  });

  it('every member of the handle, option of a definition and field of a request', () => {
    const members = ['handle', 'definitions', 'http'].flatMap((name) =>
      membersIn(`src/sdk/${name}.ts`),
    );
    expect(members.length).toBeGreaterThan(80);
    const others = ['type', 'payload', 'path', 'group', 'url', 'body'];
    const named = [...new Set(members)].filter((name) => !others.includes(name));
    expect(missingOn('functions.md', named)).toEqual([]);
  });

  it('every exit code of the command line', () => {
    const codes = [...textOf('docs/reference/cli.md').matchAll(/^\| (\d+) +\|/gm)];
    expect(codes.map(([, code]) => Number(code))).toEqual(Object.values(exitCodes));
  });
});

const mib = 1024 ** 2;
const counted = (count: number): string => count.toLocaleString('en-US');

/** Where a page repeats a number of `limits`, with the number made of it: the sentence changes with the code. */
const numbers: readonly (readonly [page: string, text: string])[] = [
  ...(
    [
      ['sync', limits.syncStartByMs / hourMs, 'h', runLimits.sync],
      ['action', limits.actionStartByMs / secondMs, 's', runLimits.action],
      ['action, asynchronous', limits.asyncActionStartByMs / hourMs, 'h', runLimits.action],
      ['`onWebhook`', limits.webhookRunStartByMs / minuteMs, 'min', runLimits.webhook],
      ['on-event', limits.eventStartByMs / secondMs, 's', runLimits['on-event']],
      ['on-change', limits.changeRunStartByMs / hourMs, 'h', runLimits['on-change']],
      ['dry run', limits.dryRunStartByMs / minuteMs, 'min', runLimits.dryrun],
    ] as const
  ).map(([kind, start, unit, { wallMs, cpuMs }]) => {
    const most = wallMs >= hourMs ? `${wallMs / hourMs} h` : `${wallMs / minuteMs} min`;
    return [
      'functions.md',
      `| ${kind} | ${start} ${unit} | ${most} | ${cpuMs / minuteMs} min |`,
    ] as const;
  }),
  ['functions.md', `| Memory | ${limits.sandboxHeapMb} MB |`],
  ['functions.md', `| Output of an action | ${limits.actionOutputBytesMax / mib} MiB`],
  ['functions.md', `| Input of an action | ${limits.actionInputBytesMax / mib} MiB`],
  ['functions.md', `${counted(limits.hostCallsMax)} in a run`],
  ['functions.md', `| ${limits.connectionSyncsMax} each |`],
  ['functions.md', `after ${limits.runGraceMs / secondMs} s the run is ended by force`],
  ['functions.md', `split at ${counted(limits.commandRecordsMax)} records`],
  ['functions.md', `at most ${limits.checkpointBytesMax / 1024} KiB`],
  ['functions.md', `At most ${limits.metadataBytesMax / 1024} KiB`],
  ['functions.md', `for ${limits.runsKeptDays} days`],
  ['functions.md', `From ${limits.frequencyMinMs / secondMs} seconds to 31`],
  [
    'provider-format.md',
    `${limits.retryFirstWaitMs / secondMs} s × 2ⁿ. It is at most ${limits.retryWaitMaxMs / minuteMs} minutes`,
  ],
  ['auth-modes.md', `or ${limits.refreshMarginMs / minuteMs} minutes, but at most a quarter`],
  ['auth-modes.md', `a lease of ${limits.refreshLeaseMs / secondMs} s`],
  ['auth-modes.md', `waits up to ${limits.refreshWaitMs / secondMs} s`],
  ['auth-modes.md', `For ${limits.refreshBackoffMs / secondMs} s after a failure`],
  ['auth-modes.md', `Refusals on ${limits.refreshFailureDaysMax} days`],
  ['auth-modes.md', `within ${limits.authorizationMs / minuteMs} minutes`],
  ['webhooks-in.md', `at most ${limits.webhookInBytesMax / mib} MiB`],
  ['webhooks-in.md', `${counted(limits.webhooksInPerMinute)} a minute`],
  ['webhooks-in.md', `${limits.webhookRejectedBytesMax / 1024} KiB`],
  ['webhooks-in.md', `within ${limits.webhookKnownMs / hourMs} hours`],
  ['webhooks-out.md', `\`POST\`, ${limits.webhookTimeoutMs / secondMs} s`],
  ['webhooks-out.md', limits.webhookRetryWaitsMs.map((ms) => `${ms / secondMs} s`).join(' and ')],
  [
    'webhooks-out.md',
    `up to ${limits.webhookRetriesMax} waits of 1 s to ${limits.webhookRetryWaitMaxMs / dayMs} days`,
  ],
  ['webhooks-out.md', `(at most ${limits.webhookEndpointsMax})`],
  [
    'webhooks-out.md',
    `After ${limits.webhookCircuitFailures} failures within ${limits.webhookCircuitWindowMs / secondMs} s`,
  ],
  ['webhooks-out.md', `No attempt for ${limits.webhookCircuitOpenMs / secondMs} s`],
  ['webhooks-out.md', `waited for ${limits.webhookWaitMaxMs / dayMs} days`],
  ['webhooks-out.md', `for ${limits.signingKeyOverlapMs / hourMs} hours`],
  ['http.md', `(1 to ${limits.idempotencyKeyCharsMax} characters)`],
  ['http.md', `is done once in ${limits.idempotencyMs / hourMs} hours`],
  ['http.md', `An answer above ${limits.idempotentAnswerBytesMax / 1024} KiB`],
  ['http.md', `connect, for ${limits.connectSessionMs / minuteMs} minutes`],
  ['http.md', `taken once, for ${limits.authorizationMs / minuteMs} minutes`],
  ['http.md', `up to ${limits.connectionTagsMax}; key`],
  ['http.md', `has ${limits.proxyHeadMs / minuteMs} minutes from the last byte of the request`],
  ['http.md', `there are at most ${limits.proxyIdleMs / minuteMs} minutes`],
  ['http.md', `else ${limits.retryFirstWaitMs / secondMs} s and twice as long each time`],
  ['http.md', `for ${limits.logsKeptDays} days, runs for ${limits.runsKeptDays}`],
  ['records.md', `1 to ${limits.recordIdCharsMax} characters`],
  ['topics.md', `Every change stays for ${limits.recordHistoryDays} days`],
  ['errors.md', `less than ${limits.refreshBackoffMs / secondMs} seconds ago`],
  ['guarantees.md', `asked again after ${limits.refreshBackoffMs / secondMs} s`],
];

it.each(numbers)('%s says as the code does: %s', (page, text) => {
  // Of tables without their alignment, of paragraphs without their line breaks.
  expect(textOf(`docs/reference/${page}`).replaceAll(/\s+/g, ' ')).toContain(text);
});
