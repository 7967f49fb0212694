import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Caller, Idempotency, RouteAnswer } from '../../http/define-route.ts';
import type { Services } from '../../http/services.ts';
import { GatewayError } from '../../kernel/errors.ts';
import type { Sealed } from '../../kernel/ids.ts';
import type { JsonObject } from '../../kernel/stable-json.ts';
import { sealingContext } from '../credentials/sealing.ts';
import { idempotentRequestRef } from './entity.ts';
import type { IdempotentRequest, KeptAnswer } from './state.ts';

type Deps = Pick<Services, 'control' | 'vault' | 'logger'>;

/** Of the answer as JSON; a command takes no more than 1 MiB. */
const answerBytesMax = 512 * 1024;
const extendEveryMs = 10_000;
const askAgainMs = 150;
/** Who waits for the one that runs. */
const waitMaxMs = 60_000;

/** Says that the answer is that of an earlier request. */
const replayed = { 'idempotent-replayed': 'true' } as const;

/**
 * Does the work once for each Idempotency-Key of the caller; later requests get its outcome for 24 hours.
 * @throws GatewayError what the work threw, now or the first time; `idempotency_conflict`; `conflict`: the first one
 *   still runs, or its answer was too large to be kept
 */
export async function once(
  deps: Deps,
  call: {
    readonly caller: Caller;
    readonly signal: AbortSignal;
    readonly idempotency: Idempotency;
  },
  work: () => Promise<RouteAnswer>,
): Promise<RouteAnswer> {
  const { caller, idempotency } = call;
  const owner = caller.environmentUid === '' ? 'account' : caller.environmentUid;
  const keyHash = deps.vault.fingerprint('idempotency-key', idempotency.idempotencyKey);
  const ref = idempotentRequestRef([owner, caller.keyId, keyHash]);
  const of: Of = { ...deps, ref, owner, token: randomUUID(), actor: caller.actor };
  const first = await taken(of, call);
  if (first !== null) return answerOf(of, first);
  using _ = keepExtending(of);
  try {
    const answer = await work();
    await end(of, answer.status, { answer: toJson(answer) });
    return answer;
  } catch (error) {
    const isRefusal = error instanceof GatewayError;
    await end(of, isRefusal ? error.status : 500, isRefusal ? { error: error.toJSON() } : {});
    throw error;
  }
}

interface Of extends Deps {
  readonly ref: ReturnType<typeof idempotentRequestRef>;
  /** Whose key seals the answer. */
  readonly owner: string;
  readonly token: string;
  readonly actor: string;
}

/** Null: this request does the work. Otherwise what came of the first one, once it has ended. */
async function taken(
  { control, ref, token, actor }: Of,
  { idempotency, signal }: Parameters<typeof once>[1],
): Promise<KeptAnswer | null> {
  const { requestHash } = idempotency;
  const giveUpAt = performance.now() + waitMaxMs;
  for (;;) {
    const body = { type: 'Begin', token, requestHash };
    const state = await control.ask<IdempotentRequest>(ref, body, { actor });
    if (state === null || state.token === token) return null;
    if (state.answer !== null) return state.answer;
    if (signal.aborted || performance.now() > giveUpAt) {
      const message = 'The first request with this Idempotency-Key is still running.';
      throw new GatewayError('conflict', { message, retryAfterS: 5 });
    }
    await sleep(askAgainMs);
  }
}

/** @throws GatewayError what the first request was refused with; `conflict` */
async function answerOf({ vault, ref, owner }: Of, kept: KeptAnswer): Promise<RouteAnswer> {
  if (kept.kind === 'too-large') {
    const message =
      'The answer to the first request with this Idempotency-Key was too large to be kept; nothing was done again.';
    throw new GatewayError('conflict', { message });
  }
  await vault.ready(owner);
  const { error, answer } = vault.open(owner, kept.sealed, contextOf(owner, ref.path)) as Kept;
  if (error !== undefined) throw GatewayError.from(error);
  return fromJson(answer ?? { status: 204, headers: {}, text: null });
}

type Kept = {
  readonly error?: ReturnType<GatewayError['toJSON']>;
  readonly answer?: AnswerJson;
};

/** As it goes out: the body as text, null = none. */
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
  const said = { status, headers: { ...headers, ...replayed } };
  return text === null ? said : { ...said, body: Buffer.from(text) };
}

/** What another try may change is not kept. */
const passes = new Set([408, 424, 425, 429]);

async function end(of: Of, status: number, outcome: Kept): Promise<void> {
  const { control, vault, ref, owner, token, actor } = of;
  if (status >= 500 || passes.has(status)) {
    await control.ask(ref, { type: 'Release', token }, { actor });
    return;
  }
  const isTooLarge = Buffer.byteLength(JSON.stringify(outcome)) > answerBytesMax;
  await vault.ready(owner);
  const answer: KeptAnswer = isTooLarge
    ? { kind: 'too-large' }
    : { kind: 'sealed', sealed: sealed(of, outcome) };
  await control.ask(ref, { type: 'End', token, answer }, { actor });
}

function sealed({ vault, owner, ref }: Of, outcome: Kept): Sealed<JsonObject> {
  const value = JSON.parse(JSON.stringify(outcome)) as JsonObject;
  return vault.seal(owner, value, contextOf(owner, ref.path));
}

const contextOf = (owner: string, path: readonly string[]): string =>
  sealingContext(owner, path.join('/'), 'idempotent_answer');

/** Holds the lease for as long as the work takes. */
function keepExtending({ control, ref, token, actor, logger }: Of): Disposable {
  const extend = (): void => {
    control.tell(ref, { type: 'Extend', token }, { actor }).catch((err: unknown) => {
      logger.warn({ err }, 'a request could not keep its lease');
    });
  };
  const timer = setInterval(extend, extendEveryMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
