import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Coordination } from '../../../src/ports/coordination.ts';
import type { CircuitNews } from './circuit.ts';

export const circuitChannel = 'webhook-circuits';

const message = z.object({
  /** The process that says it. */
  from: z.string(),
  line: z.string(),
  news: z.enum(['failed', 'opened', 'closed']),
});

/**
 * What processes that send to the same endpoints tell one another of its circuit. News that is lost costs attempts:
 * each process then finds out for itself.
 */
export interface Circuits extends AsyncDisposable {
  tell(line: string, news: CircuitNews): void;
}

/** @param heard called with what other processes say */
export async function followCircuits(
  deps: { readonly coordination: Coordination; readonly logger: Logger },
  heard: (line: string, news: CircuitNews) => void,
): Promise<Circuits> {
  const { coordination, logger } = deps;
  const self = randomUUID();
  const subscription = await coordination.subscribe(circuitChannel, (text) => {
    const { from, line, news } = message.parse(JSON.parse(text));
    if (from !== self) heard(line, news);
  });
  return {
    tell(line, news) {
      const said = JSON.stringify({ from: self, line, news });
      coordination.publish(circuitChannel, said).catch((err: unknown) => {
        logger.debug({ err }, 'other processes were not told of a circuit');
      });
    },
    [Symbol.asyncDispose]: () => subscription[Symbol.asyncDispose](),
  };
}
