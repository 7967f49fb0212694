import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { CommandOf } from '#control-plane/entity.ts';
import type { Caller, IdempotentCall, RouteAnswer } from '#http/define-route.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { SealedEntities } from '../services.ts';
import { sealingContext } from '../vault/vault.ts';
import { idempotentRequestRef, type IdempotentRequestEntity } from './entity.ts';
import type { IdempotentRequest, KeptAnswer } from './idempotent-request.ts';

interface Deps extends SealedEntities {
  readonly logger: Logger;
}

const extendEveryMs = 10_000;
const askAgainMs = 150;
/** Callers that wait for the running request. */
const waitMaxMs = 60_000;

/** Marks the response of an earlier request. */
const replayed = { 'idempotent-replayed': 'true' } as const;

/**
 * Runs the handler once for each Idempotency-Key of the caller; repeated requests get its outcome for 24 hours.
 * @throws GatewayError of the handler, now or the first time; `idempotency_conflict`; `conflict`: the first one still
 *   runs, or its response was too large to store
 */
export async function withIdempotencyKey(
  deps: Deps,
  call: {
    readonly caller: Caller;
    readonly signal: AbortSignal;
    readonly idempotency: IdempotentCall;
  },
  task: (workId: string) => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const { caller, idempotency } = call;
  const owner = caller.environmentUid === '' ? 'account' : caller.environmentUid;
  const keyHash = deps.vault.fingerprint('idempotency-key', idempotency.idempotencyKey);
  const ref = idempotentRequestRef([owner, caller.keyId, keyHash]);
  const keyed: RequestContext = { ...deps, ref, owner, token: randomUUID(), actor: caller.actor };
  const { answer: first, workId = keyed.token } = await taken(keyed, call);
  if (first !== null) return answerOf(keyed, first);
  using _ = keepExtending(keyed);
  try {
    const answer = await task(workId);
    await end(keyed, mayPass(answer.status) ? null : { answer: toJson(answer) });
    return answer;
  } catch (error) {
    const isKept = error instanceof GatewayError && (!mayPass(error.status) || isUnknown(error));
    await end(keyed, isKept ? { error: error.toJSON() } : null);
    throw error;
  }
}

interface RequestContext extends Deps {
  readonly ref: ReturnType<typeof idempotentRequestRef>;
  /** Id of the key that seals the response. */
  readonly owner: string;
  readonly token: string;
  readonly actor: string;
}

/** Without an outcome this request does the work. Otherwise the outcome of the first request, once it has finished. */
async function taken(
  { control, ref, token, actor }: RequestContext,
  { idempotency, signal }: Parameters<typeof withIdempotencyKey>[1],
): Promise<Pick<IdempotentRequest, 'answer' | 'workId'>> {
  const { requestHash } = idempotency;
  const giveUpAt = performance.now() + waitMaxMs;
  for (;;) {
    const body: CommandOf<IdempotentRequestEntity> = { type: 'Begin', token, requestHash };
    const state = await control.execute(ref, body, { actor });
    if (state === null) return { answer: null };
    if (state.token === token || state.answer !== null) return state;
    if (signal.aborted || performance.now() > giveUpAt) {
      const message = 'The first request with this Idempotency-Key is still running.';
      throw new GatewayError('conflict', { message, retryAfterS: 5 });
    }
    await sleep(askAgainMs);
  }
}

/** @throws GatewayError of the first request; `conflict` */
async function answerOf(
  { vault, ref, owner }: RequestContext,
  kept: KeptAnswer,
): Promise<RouteAnswer> {
  if (kept.kind === 'too-large') {
    const message =
      'The response to the first request with this Idempotency-Key was too large to store; the request was not repeated.';
    throw new GatewayError('conflict', { message });
  }
  await vault.ready(owner);
  const { error, answer } = vault.open(
    owner,
    kept.sealed,
    contextOf(owner, ref.path),
  ) as StoredOutcome;
  if (error !== undefined) throw GatewayError.from(error);
  return fromJson(answer ?? { status: 204, headers: {}, text: null });
}

type StoredOutcome = {
  readonly error?: ReturnType<GatewayError['toJSON']>;
  readonly answer?: AnswerJson;
};

/** The response as sent: the body as text, null = none. */
interface AnswerJson {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string | null;
}

function toJson({ status, body, headers = {} }: RouteAnswer): AnswerJson {
  if (body === undefined) return { status, headers, text: null };
  const text = body instanceof Uint8Array ? Buffer.from(body).toString() : JSON.stringify(body);
  return { status, headers, text };
}

function fromJson({ status, headers, text }: AnswerJson): RouteAnswer {
  const replayedResponse = { status, headers: { ...headers, ...replayed } };
  return text === null ? replayedResponse : { ...replayedResponse, body: Buffer.from(text) };
}

/** Retryable errors are not stored. */
const passes = new Set([408, 424, 425, 429]);
const mayPass = (status: number): boolean => status >= 500 || passes.has(status);
/** The function may have had side effects: a repetition with the same key could cause them twice. */
const isUnknown = ({ code }: GatewayError): boolean => code === 'run_interrupted';

/** @param outcome null: deleted, so that the key can be used again */
async function end(keyed: RequestContext, outcome: StoredOutcome | null): Promise<void> {
  const { control, vault, ref, owner, token, actor } = keyed;
  if (outcome === null) {
    await control.execute(ref, { type: 'Release', token }, { actor });
    return;
  }
  const isTooLarge = Buffer.byteLength(JSON.stringify(outcome)) > limits.idempotentAnswerBytesMax;
  await vault.ready(owner);
  const answer: KeptAnswer = isTooLarge
    ? { kind: 'too-large' }
    : { kind: 'sealed', sealed: sealed(keyed, outcome) };
  await control.execute(ref, { type: 'End', token, answer }, { actor });
}

function sealed({ vault, owner, ref }: RequestContext, outcome: StoredOutcome): Sealed<JsonObject> {
  const value = JSON.parse(JSON.stringify(outcome)) as JsonObject;
  return vault.seal(owner, value, contextOf(owner, ref.path));
}

const contextOf = (owner: string, path: readonly string[]): string =>
  sealingContext(owner, path.join('/'), 'idempotent_answer');

/** Renews the lease while the handler runs. */
function keepExtending({ control, ref, token, actor, logger }: RequestContext): Disposable {
  const extend = (): void => {
    control.enqueue(ref, { type: 'Extend', token }, { actor }).catch((err: unknown) => {
      logger.warn({ err }, 'a request could not keep its lease');
    });
  };
  const timer = setInterval(extend, extendEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
