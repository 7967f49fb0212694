import type { Services } from '#api/services.ts';
import { compose, type RunningService } from '#app/compose.ts';
import type { Config } from '#app/config/config.ts';

/** A composed process whose roles need services and tables. */
export interface WholeNode extends RunningService {
  readonly services: Services;
  readonly tables: NonNullable<RunningService['tables']>;
}

/** @throws Error when the roles of the config need no services */
export async function composeWhole(config: Config): Promise<WholeNode> {
  const running = await compose(config);
  const { services, tables } = running;
  if (services !== null && tables !== null) return { ...running, services, tables };
  await running[Symbol.asyncDispose]();
  throw new Error('the roles of this process need no services');
}

/** One pass of retention and compaction over the embedded log; ages are judged at `now` (ms). */
export async function cleanLog({ maintenance }: WholeNode, now: number): Promise<void> {
  if (maintenance === null) throw new Error('only the embedded log can be told to clean itself');
  await maintenance.clean({ now });
}
