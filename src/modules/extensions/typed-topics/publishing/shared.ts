import type { ControlPlane } from '#control-plane/control-plane.ts';
import type { Ports } from '#control-plane/ports.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import type { Codec } from '#ports/schemas.ts';
import type { ConsumerGroupName } from '#streams/consumer-groups.ts';
import type { OperatorRequests } from '#streams/reactor/reactor.ts';
import type { TypedTopicProgress } from '../progress.ts';
import type { Targets } from './targets.ts';

export const typedTopicsGroup = 'svc.typed-topics' satisfies ConsumerGroupName;

export interface TypedTopicsDeps extends Ports {
  readonly control: ControlPlane;
  /** Of the gateway. */
  readonly version: string;
  readonly park: OperatorRequests['park'];
  /** Where crash tests may end the process: `typed-topics:` and `before-commit`, `after-commit`, `within-snapshot`. */
  readonly faultPoint: (name: string) => void;
  /** Wait before a partition is retried after a failure; doubles up to 10 s. Default 200 ms. */
  readonly retryMs?: number;
}

/** The services that all partitions of this process share. */
export interface PublishingServices extends TypedTopicsDeps {
  readonly targets: Targets;
  readonly changeCodec: Codec<RecordChange>;
  readonly progressCodec: Codec<TypedTopicProgress>;
  /** Read from a view that has caught up: a connection is marked before its records are removed. */
  isConnectionGone(connectionUid: string): Promise<boolean>;
}
