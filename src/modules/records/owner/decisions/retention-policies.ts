import type { Logger } from 'pino';
import { consume } from '#control-plane/consume.ts';
import type { LogPorts } from '#control-plane/ports.ts';
import {
  defaultRetention,
  retentionOf,
  type PublicRetention,
  type Retention,
} from '#modules/access/environments/retention.ts';
import type { Batch } from '#ports/event-log.ts';
import type { ConfigChanged } from '#streams/values.ts';

const configTopic = 'svc.config.v1';

/** The retention of records of each environment, as this thread knows it. */
export interface RetentionPolicies extends AsyncDisposable {
  /** Of an environment without a setting: the default. */
  of(environmentUid: string): Retention;
}

/** Resolves when everything decided before the call is applied. Owners have no view of the control plane. */
export async function followRetention(
  deps: LogPorts & {
    readonly logger: Pick<Logger, 'error'>;
  },
): Promise<RetentionPolicies> {
  const { log, schemas, logger } = deps;
  const codec = await schemas.codec<ConfigChanged>(configTopic);
  const policies = new Map<string, Retention>();
  const ending = new AbortController();
  const position = { topic: configTopic, partition: 0 };
  let next = 0;

  const apply = (batch: Batch): void => {
    next = batch.next;
    for (const { key, value } of batch.messages) {
      if (value === null || !key.startsWith('environment/')) continue;
      const { environment_id: uid, document } = codec.decode(value);
      const { retention } = JSON.parse(document) as { readonly retention?: PublicRetention };
      policies.set(uid, retention === undefined ? defaultRetention : retentionOf(retention));
    }
  };
  for await (const batch of log.read({ ...position, offset: 0 })) apply(batch);
  const following = consume(log, [{ ...position, offset: next }], apply, {
    signal: ending.signal,
    failed: (err) => logger.error({ err }, 'following the settings of environments failed'),
  });
  return {
    of: (environmentUid) => policies.get(environmentUid) ?? defaultRetention,
    async [Symbol.asyncDispose]() {
      ending.abort();
      await following;
    },
  };
}
