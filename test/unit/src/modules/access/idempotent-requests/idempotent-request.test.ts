import { describe, it } from 'vitest';
import {
  idempotentRequest,
  type IdempotentRequestEvent,
} from '#modules/access/idempotent-requests/idempotent-request.ts';
import { given } from '#test/support/judges/given.ts';

const at = 1_000_000;
const begin = (token: string, more: { at?: number; requestHash?: string } = {}) =>
  ({ type: 'Begin', token, requestHash: 'h', at, ...more }) as const;
const begun: IdempotentRequestEvent = {
  type: 'RequestBegun',
  request: {
    requestHash: 'h',
    token: 'a',
    workId: 'a',
    leaseUntil: at + 30_000,
    answer: null,
    until: at + 86_400_000,
  },
};
const answer = { kind: 'too-large' } as const;

describe('a request with an Idempotency-Key', () => {
  it('is begun by the first one alone', () => {
    given(idempotentRequest).when(begin('a')).then(begun);
    given(idempotentRequest, begun).when(begin('b')).then();
  });

  it('is begun again as the same work when who held it is gone, and not before', () => {
    const later = { ...begun.request, token: 'b', leaseUntil: at + 60_000 };
    given(idempotentRequest, begun)
      .when(begin('b', { at: at + 30_000 }))
      .then({ type: 'RequestBegun', request: later });
    const extended: IdempotentRequestEvent = { type: 'LeaseExtended', leaseUntil: at + 50_000 };
    given(idempotentRequest, begun, extended)
      .when(begin('b', { at: at + 30_000 }))
      .then();
  });

  it('is refused to another request', () => {
    given(idempotentRequest, begun)
      .when(begin('b', { requestHash: 'other' }))
      .refused('idempotency_conflict');
  });

  it('is other work once it was given back', () => {
    const until = at + 86_400_001;
    const request = { ...begun.request, token: 'b', workId: 'b', leaseUntil: at + 30_001, until };
    given(idempotentRequest, begun, { type: 'RequestForgotten' })
      .when(begin('b', { at: at + 1 }))
      .then({ type: 'RequestBegun', request });
  });

  it('has the answer of who holds it, and of nobody else', () => {
    given(idempotentRequest, begun).when({ type: 'End', token: 'b', answer, at }).then();
    given(idempotentRequest, begun)
      .when({ type: 'End', token: 'a', answer, at })
      .then({ type: 'RequestAnswered', answer });
    given(idempotentRequest, begun)
      .when({ type: 'Release', token: 'a', at })
      .then({ type: 'RequestForgotten' });
  });

  it('is forgotten after a day', () => {
    const ended: IdempotentRequestEvent = { type: 'RequestAnswered', answer };
    given(idempotentRequest, begun, ended)
      .when({ type: 'Tick', at: at + 86_399_999 })
      .then();
    given(idempotentRequest, begun, ended)
      .when({ type: 'Tick', at: at + 86_400_000 })
      .then({ type: 'RequestForgotten' });
  });
});
