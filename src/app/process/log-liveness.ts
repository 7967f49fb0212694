import type { Logger } from 'pino';
import { controlTopic } from '#control-plane/message-codec.ts';
import type { Coordination } from '#ports/coordination.ts';
import type { EventLog } from '#ports/event-log.ts';

const askEveryMs = 2_000;
/** A node without a response for this long is not ready: it could neither accept writes nor learn of deleted keys. */
const silenceMaxMs = 10_000;

interface SilenceSource {
  /** Time since the last response. */
  silenceMs(): number;
}

/** Polls the log and Coordination and reports which of them does not respond. */
export interface LogLiveness extends Disposable {
  /** Why this node is not ready; empty = ready. */
  reasons(): readonly string[];
}

/** @param coordination null in roles that do not use it */
export function watchLogLiveness(deps: {
  readonly log: Pick<EventLog, 'endOffset'>;
  readonly coordination: Pick<Coordination, 'get'> | null;
  readonly logger: Pick<Logger, 'warn' | 'info'>;
}): LogLiveness {
  const { log, coordination, logger } = deps;
  const watches = [
    watch('the event log', () => log.endOffset(controlTopic, 0), logger),
    ...(coordination === null
      ? []
      : [watch('Coordination', () => coordination.get('contact'), logger)]),
  ];
  const [logWatch, coordinationWatch] = watches;
  return {
    reasons() {
      if (logWatch === undefined || !isSilent(logWatch)) return [];
      const seconds = Math.round(logWatch.silenceMs() / 1000);
      const reason = `the event log has not answered for ${seconds} s: nothing can be written`;
      const isAlone = coordinationWatch !== undefined && isSilent(coordinationWatch);
      return isAlone ? [reason, 'nor does Coordination: deleted keys are not heard of'] : [reason];
    },
    [Symbol.dispose]() {
      for (const one of watches) one[Symbol.dispose]();
    },
  };
}

const isSilent = (silent: SilenceSource): boolean => silent.silenceMs() > silenceMaxMs;

function watch(
  name: string,
  ask: () => Promise<unknown>,
  logger: Pick<Logger, 'warn' | 'info'>,
): SilenceSource & Disposable {
  let answeredAt = performance.now();
  let isAway = false;
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    ask()
      .then(
        () => {
          answeredAt = performance.now();
          if (isAway) logger.info(`${name} answers again`);
          isAway = false;
        },
        (err: unknown) => {
          if (!isAway) logger.warn({ err }, `${name} does not answer`);
          isAway = true;
        },
      )
      .finally(() => (isAsking = false));
  }, askEveryMs).unref();
  return {
    silenceMs: () => performance.now() - answeredAt,
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
