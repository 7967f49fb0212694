import { randomInt } from 'node:crypto';
import type { Instant } from '#kernel/time.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { HttpReply } from '#ports/http-client.ts';
import { reportedPauseMs } from '../providers/call-retry.ts';
import type { Provider } from '../providers/definition.ts';
import type { SharedLimit } from './limit-of-call.ts';

/** Waiting calls do not ask at the same moment. */
const spreadMs = 50;

type Budgets = Pick<Coordination, 'takeCall' | 'pauseCalls'>;

/** What waits for a turn. */
export interface TurnWait {
  /** @throws Error when it can wait no longer, with what its caller is to be answered */
  wait(ms: number): Promise<unknown>;
}

/** Resolves when a call may be sent, which is then counted. @throws Error of `waiting` */
export async function awaitTurn(
  budgets: Budgets,
  { name, budget }: SharedLimit,
  waiting: TurnWait,
): Promise<void> {
  for (;;) {
    const ms = await budgets.takeCall(name, budget);
    if (ms === 0) return;
    await waiting.wait(ms + randomInt(spreadMs));
  }
}

/** Pauses the budget where the response reports that the limit is reached, or that no call is left. */
export async function learnLimit(
  budgets: Budgets,
  { name, budget }: SharedLimit,
  reply: HttpReply,
  provider: Provider,
  now: Instant,
): Promise<void> {
  const ms = reportedPauseMs(reply, provider.proxy?.retry, now);
  if (ms !== null) await budgets.pauseCalls(name, budget, ms);
}
