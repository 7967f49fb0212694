import { describe, expect, it } from 'vitest';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { dayMs, hourMs, minuteMs } from '#kernel/time.ts';
import {
  webhookEndpoint,
  type WebhookEndpoint,
  type WebhookEndpointCommand,
} from '#modules/webhooks/webhook-endpoints/webhook-endpoint.ts';
import { given } from '#test/support/judges/given.ts';

const begin = 1_800_000_000_000;
const endpoint = (more: Partial<WebhookEndpoint> = {}): WebhookEndpoint => ({
  id: 'e1',
  environmentUid: 'env',
  displayName: '',
  url: 'sealed' as Sealed<string>,
  kinds: null,
  integrationKey: null,
  connectionId: null,
  isEnabled: true,
  createdAt: begin,
  updatedAt: begin,
  ...more,
});

function after(
  commands: readonly WebhookEndpointCommand[],
  state: WebhookEndpoint = endpoint(),
): WebhookEndpoint {
  let known: WebhookEndpoint | null = state;
  for (const command of commands) {
    const events = webhookEndpoint.decide(command, known);
    for (const event of events) known = webhookEndpoint.evolve(known, event);
  }
  if (known === null) throw new Error('the endpoint is gone');
  return known;
}

const failed = (at: number, count = 1): WebhookEndpointCommand => ({
  type: 'NoteFailures',
  count,
  at: begin + at,
});
/** A failure every so often, from the first on until the end. */
const failing = (everyMs: number, forMs: number): WebhookEndpointCommand[] =>
  Array.from({ length: Math.floor(forMs / everyMs) + 1 }, (_, at) => failed(at * everyMs));

describe('an endpoint whose webhooks all fail', () => {
  it('is disabled after five days, as one of an earlier release is', () => {
    const before = after(failing(hourMs, 5 * dayMs - hourMs));
    expect(before).toMatchObject({ isEnabled: true, failing: { since: begin, failures: 120 } });
    expect(after([failed(5 * dayMs)], before)).toMatchObject({
      isEnabled: false,
      disabledAt: begin + 5 * dayMs,
      failing: { since: begin, failures: 121 },
    });
  });

  it('is disabled after its own time, or never', () => {
    const commands = failing(hourMs, 2 * dayMs);
    expect(after(commands, endpoint({ disableAfterMs: dayMs })).isEnabled).toBe(false);
    const forYears = failing(dayMs, 700 * dayMs);
    expect(after(forYears, endpoint({ disableAfterMs: null })).isEnabled).toBe(true);
    expect(after(forYears).isEnabled).toBe(false);
  });

  it('is not disabled by few failures', () => {
    const rare = failing(2 * dayMs, 16 * dayMs);
    expect(rare).toHaveLength(limits.webhookDisableFailuresMin - 1);
    expect(after(rare).isEnabled).toBe(true);
    expect(after([...rare, failed(18 * dayMs)]).isEnabled).toBe(false);
  });

  it('is not disabled after a success, which ends the count', () => {
    const nearly = failing(hourMs, 5 * dayMs - hourMs);
    const state = after([...nearly, { type: 'NoteSuccess', at: begin }, failed(6 * dayMs)]);
    expect(state).toMatchObject({ isEnabled: true, failing: { failures: 1, failedMs: 0 } });
    given(webhookEndpoint, { type: 'WebhookEndpointCreated', endpoint: endpoint() })
      .when({ type: 'NoteSuccess', at: begin })
      .then();
  });

  it('is not disabled by a clock that jumps, forward, backward, or both again and again', () => {
    const some = failing(10 * minuteMs, 3 * hourMs);
    const years = 365 * dayMs;
    expect(after([...some, failed(years, 50)]).isEnabled).toBe(true);
    const thereAndBack = [0, years, 1, years + 1, 2, years + 2].map((at) => failed(at, 50));
    expect(after(thereAndBack).failing?.failedMs).toBeLessThan(5 * dayMs);
    expect(after([...some, failed(-years, 50), failed(hourMs - years)]).isEnabled).toBe(true);
  });

  it('begins without failures when a person enables it, or gives it another address', () => {
    const disabled = after(failing(hourMs, 5 * dayMs));
    const at = begin + 6 * dayMs;
    const patch = (changes: object) => after([{ type: 'Patch', changes, at }], disabled);
    expect(patch({ isEnabled: true })).toMatchObject({
      isEnabled: true,
      failing: null,
      disabledAt: null,
    });
    expect(patch({ url: 'another' })).toMatchObject({ isEnabled: false, failing: null });
    expect(patch({ displayName: 'x' }).failing).toEqual(disabled.failing);
    expect(after([failed(7 * dayMs)], patch({ isEnabled: true })).failing?.failures).toBe(1);
  });

  it('that is disabled counts nothing', () => {
    given(webhookEndpoint, {
      type: 'WebhookEndpointCreated',
      endpoint: endpoint({ isEnabled: false }),
    })
      .when(failed(0))
      .then();
  });
});

describe('the OAuth client of an endpoint', () => {
  const oauth = 'client' as Sealed<string>;
  const patch = (changes: Partial<WebhookEndpoint>): WebhookEndpointCommand => ({
    type: 'Patch',
    changes,
    at: begin,
  });

  it('does not stand beside a header authorization, whichever comes first', () => {
    expect(() => after([patch({ oauth })], endpoint({ headerNames: ['authorization'] }))).toThrow(
      'has no header authorization of its own',
    );
    const headers = { headers: 'h' as Sealed<string>, headerNames: ['authorization'] };
    expect(() => after([patch(headers)], endpoint({ oauth }))).toThrow(/authorization of its own/);
    expect(after([patch({ oauth: null, ...headers })], endpoint({ oauth }))).toMatchObject(headers);
    expect(after([patch({ oauth })], endpoint({ headerNames: ['x-tenant'] }))).toMatchObject({
      oauth,
    });
  });
});

describe('the signing key of an endpoint', () => {
  const key = (name: string) => name as Sealed<string>;
  const rotate = (name: string, overlapMs: number, at: number): WebhookEndpointCommand => ({
    type: 'RotateKey',
    key: key(name),
    overlapMs,
    at: begin + at,
  });

  it('is followed by that of the environment, and then by its own', () => {
    const first = after([rotate('k1', dayMs, 0)]);
    expect(first).toMatchObject({
      signingKey: 'k1',
      previousSigningKey: { key: null, until: begin + dayMs },
    });
    expect(after([rotate('k2', hourMs, dayMs)], first)).toMatchObject({
      signingKey: 'k2',
      previousSigningKey: { key: 'k1', until: begin + dayMs + hourMs },
    });
  });

  it('is not rotated while the one before signs, unless both are to end', () => {
    const first = after([rotate('k1', dayMs, 0)]);
    given(webhookEndpoint, { type: 'WebhookEndpointCreated', endpoint: first })
      .when(rotate('k2', 1, dayMs - 1))
      .refused('multiple_webhook_signing_keys');
    expect(after([rotate('k2', 0, 1)], first).previousSigningKey).toEqual({
      key: 'k1',
      until: begin + 1,
    });
  });
});
