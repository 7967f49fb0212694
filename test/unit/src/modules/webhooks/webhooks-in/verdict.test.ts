import { describe, expect, it } from 'vitest';
import type { Json } from '#kernel/stable-json.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import { webhookRules, type WebhookRules } from '#modules/connections/providers/webhook-rules.ts';
import { verdictOf } from '#modules/webhooks/webhooks-in/verdict.ts';

const rulesOf = (rules: object): WebhookRules => webhookRules.parse(rules) as WebhookRules;
const verdictBy = (
  verified: Parameters<typeof verdictOf>[0],
  attributed: Parameters<typeof verdictOf>[1],
  rules: WebhookRules,
) => verdictOf(verified, attributed, { rules, credentials: null });
const connectionOf = (uid: string): Connection => ({ uid, connectionId: uid }) as Connection;
const [ann, bob] = [connectionOf('ann'), connectionOf('bob')];
const factsOf = (body: Json, headers = {}, search = '') => ({
  headers,
  query: new URLSearchParams(search),
  body,
});
const signed = (body: Json, more: object = {}) => ({
  facts: factsOf(body),
  isPartial: false,
  isUnsigned: false,
  isVerified: true,
  ...more,
});
const eventOf = (body: Json, connections: readonly Connection[] = [ann], isVerified = false) => ({
  body,
  connections,
  isVerified,
});

describe('the verdict on a webhook', () => {
  it('has each connection once, and the type of the first event', () => {
    const bodies = [{ type: 'a' }, { type: 'b' }];
    const rules = rulesOf({ type: [{ body: 'type' }], events: {} });
    const events = [eventOf(bodies[0]!, [ann, bob]), eventOf(bodies[1]!, [bob])];
    expect(verdictBy(signed(bodies), events, rules)).toEqual({
      answer: null,
      body: bodies,
      type: 'a',
      providerDeliveryId: null,
      connections: [ann, bob],
      events: [
        { type: 'a', body: bodies[0], connections: [ann, bob] },
        { type: 'b', body: bodies[1], connections: [bob] },
      ],
      isMatched: true,
      isForwarded: true,
      installation: null,
      isVerified: true,
    });
  });

  it('answers a handshake with its value, and neither forwards nor starts anything', () => {
    const when = { body: 'type', equals: 'hello' };
    const rules = rulesOf({ handshakes: [{ when, answer: { body: 'challenge' } }] });
    const body = { type: 'hello', challenge: 'c-1' };
    const shaken = verdictBy(signed(body), [eventOf(body)], rules);
    expect(shaken).toMatchObject({ answer: { body: 'c-1' }, events: [], isForwarded: false });
    const { challenge: _, ...bare } = body;
    expect(verdictBy(signed(bare), [eventOf(bare)], rules).answer).toEqual({
      contentType: null,
      body: '',
      header: null,
    });
    const other = { type: 'other' };
    expect(verdictBy(signed(other), [eventOf(other)], rules)).toMatchObject({
      answer: null,
      isForwarded: true,
    });
  });

  it('forwards a handshake that is answered without a body', () => {
    const rules = rulesOf({ handshakes: [{ when: { body: 'ping' }, answer: null }] });
    const body = { ping: 1 };
    const verdict = verdictBy(signed(body), [eventOf(body)], rules);
    expect(verdict).toMatchObject({ answer: { contentType: null, body: '' }, isForwarded: true });
    expect(verdict.events).toHaveLength(1);
  });

  it('forwards an unsigned webhook unchanged, which is of no connection and not verified', () => {
    const body = { type: 'test' };
    const unsigned = signed(body, { isUnsigned: true, isVerified: false });
    expect(verdictBy(unsigned, [], rulesOf({}))).toMatchObject({
      body,
      connections: [],
      events: [],
      isForwarded: true,
      isVerified: false,
    });
  });

  it('forwards nothing that has no event', () => {
    expect(verdictBy(signed({ list: [] }), [], rulesOf({}))).toMatchObject({
      isForwarded: false,
      isVerified: true,
    });
  });

  it('is verified by connections only if each event is', () => {
    const by = (...verified: boolean[]) =>
      verdictBy(
        signed({}, { isVerified: false }),
        verified.map((isVerified) => eventOf({}, [ann], isVerified)),
        rulesOf({}),
      ).isVerified;
    expect([by(), by(true), by(true, true), by(true, false)]).toEqual([false, true, true, false]);
  });

  it('has the body with the remaining events where others were dropped', () => {
    const kept = { id: 2 };
    const body = { head: 'h', list: [{ id: 1 }, kept] };
    const partial = signed(body, { isPartial: true });
    const inList = verdictBy(partial, [eventOf(kept)], rulesOf({ events: { path: 'list' } }));
    expect(inList.body).toEqual({ head: 'h', list: [kept] });
    const bare = signed(body.list, { isPartial: true });
    expect(verdictBy(bare, [eventOf(kept)], rulesOf({ events: {} })).body).toEqual([kept]);
  });

  it('drops skipped events but keeps their connections, and orders the others', () => {
    const bodies = [
      { type: 'x.deleted', at: 1 },
      { type: 'noise', at: 2 },
      { type: 'x.created', at: 9 },
      { type: 'x.deleted', at: 0 },
    ];
    const rules = rulesOf({
      events: {},
      type: [{ body: 'type' }],
      skip: [{ body: 'type', equals: 'noise' }],
      order: { first: 'created', by: 'at' },
    });
    const events = bodies.map((body) => eventOf(body, [body.type === 'noise' ? bob : ann]));
    const verdict = verdictBy(signed(bodies), events, rules);
    expect(verdict.events.map(({ body }) => body)).toEqual([bodies[2], bodies[3], bodies[0]]);
    expect(verdict.connections).toEqual([ann, bob]);
    expect(verdict.type).toBe('x.created');
  });

  it('is unmatched only where the rules name a connection and none was found', () => {
    const rule = { identifier: [{ body: 'team' }], property: 'team.id' };
    const matched = (rules: object, ...connections: Connection[]) =>
      verdictBy(signed({}), [eventOf({}, connections)], rulesOf(rules)).isMatched;
    expect(matched({ connection: [rule] })).toBe(false);
    expect(matched({ connection: [rule] }, ann)).toBe(true);
    expect(matched({})).toBe(true);
  });

  it('has the installation that all conditions of the rules report', () => {
    const installation = {
      when: [{ body: 'action', equals: 'created' }, { body: 'user' }],
      handle: [{ body: 'user' }],
      id: [{ body: 'app' }],
    };
    const installed = (body: Record<string, Json>) =>
      verdictBy(signed(body), [eventOf(body)], rulesOf({ installation })).installation;
    expect(installed({ action: 'created', user: 'u', app: 7 })).toEqual({ handle: 'u', id: '7' });
    expect(installed({ action: 'created', user: 'u' })).toEqual({ handle: 'u', id: null });
    expect(installed({ action: 'deleted', user: 'u', app: 7 })).toBeNull();
    expect(installed({ action: 'created', app: 7 })).toBeNull();
  });

  it('changes neither its facts nor its events', () => {
    const body = { list: [{ at: 2 }, { at: 1 }] };
    const rules = rulesOf({ events: { path: 'list' }, order: { first: 'created', by: 'at' } });
    const events = body.list.map((one) => eventOf(one));
    const before = structuredClone([body, events]);
    const first = verdictBy(signed(body, { isPartial: true }), events, rules);
    expect(verdictBy(signed(body, { isPartial: true }), events, rules)).toEqual(first);
    expect([body, events]).toEqual(before);
  });
});
