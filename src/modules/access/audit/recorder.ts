import type { Logger } from 'pino';
import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { CommandOf } from '#control-plane/entity.ts';
import { objectOf } from '#kernel/stable-json.ts';
import type { Clock } from '#kernel/time.ts';
import type { UnchainedEntry } from './audit-chain.ts';
import { auditChainRef, type AuditChainEntity } from './entity.ts';

/** How long further reads of the same thing by the same caller are collected into one event. */
const togetherMs = 60_000;
/** How many pairs of caller and object are counted; beyond, each read is published. */
const countedMax = 10_000;

export type EntryInput = Omit<UnchainedEntry, 'occurred_at'>;

/** Sends audit events to the owners of the chains. */
export interface AuditRecorder extends AsyncDisposable {
  /**
   * Durable when it resolves.
   * @param environment uid, or `account`
   * @throws GatewayError `log_unavailable`
   */
  change(environment: string, fields: EntryInput): Promise<void>;
  /**
   * The same for what has happened already: an event that cannot be published is logged whole.
   * @param environment uid, or `account`
   */
  happened(environment: string, fields: EntryInput): Promise<void>;
  /**
   * A frequent read: the first is published at once in the background, those of the next minute as one event with their
   * number (`details.reads`).
   */
  read(environment: string, details: EntryInput): void;
}

export function createAuditRecorder({
  control,
  clock,
  logger,
}: {
  readonly control: Pick<ControlPlane, 'enqueue'>;
  readonly clock: Clock;
  readonly logger: Pick<Logger, 'error'>;
}): AuditRecorder {
  const counted = new Map<string, { reads: number; readonly end: () => Promise<void> }>();
  const pending = new Set<Promise<void>>();

  const change = (environment: string, fields: EntryInput): Promise<void> => {
    const entry: UnchainedEntry = { ...fields, occurred_at: clock.nowMicros() };
    const body: CommandOf<AuditChainEntity> = { type: 'Append', environment, told: entry };
    return control.enqueue(auditChainRef(environment), body, { actor: fields.actor });
  };
  const happened = (environment: string, fields: EntryInput): Promise<void> =>
    change(environment, fields).catch((err: unknown) => {
      // The complete event, because it is stored nowhere else.
      logger.error({ err, environment, audit: fields }, 'an audit event was lost');
    });
  const inBackground = (environment: string, details: EntryInput): void => {
    const telling = happened(environment, details);
    pending.add(telling);
    void telling.then(() => pending.delete(telling));
  };

  return {
    change,
    happened,
    read(environment, details) {
      const { actor, action, target, outcome, ip_prefix, details: more } = details;
      const key = JSON.stringify([environment, actor, action, target, outcome, ip_prefix, more]);
      const existing = counted.get(key);
      if (existing !== undefined) {
        existing.reads += 1;
        return;
      }
      inBackground(environment, details);
      if (counted.size >= countedMax) return;
      const end = async (): Promise<void> => {
        clearTimeout(timer);
        const { reads } = counted.get(key) ?? { reads: 0 };
        counted.delete(key);
        if (reads === 0) return;
        const first = objectOf(more === null ? null : JSON.parse(more));
        inBackground(environment, { ...details, details: JSON.stringify({ ...first, reads }) });
      };
      const timer = setTimeout(() => void end(), togetherMs).unref();
      counted.set(key, { reads: 0, end });
    },
    async [Symbol.asyncDispose]() {
      for (const { end } of [...counted.values()]) await end();
      await Promise.all(pending);
    },
  };
}
