import type { Clock } from '#kernel/time.ts';
import { coordinatorKind, type BrokerConnection } from './broker-connection.ts';
import type { ClusterMetadata } from './cluster-metadata.ts';
import { retried } from './retry.ts';
import { transactionTimeoutMs } from './transaction.ts';
import { KafkaWriter } from './writer.ts';

const timeoutMs = 30_000;

/**
 * Fences the former owner of the transactional id, and ends its open transaction: when this resolves, none of its
 * messages can appear any more.
 */
export async function openWriter(
  {
    connection,
    transactionalId,
  }: { readonly connection: BrokerConnection; readonly transactionalId: string },
  clusterMetadata: ClusterMetadata,
  clock: Clock,
): Promise<KafkaWriter> {
  try {
    const identity = await retried(
      () =>
        connection.atCoordinator(coordinatorKind.transaction, transactionalId, (broker) =>
          broker.initProducerId({ transactionalId, transactionTimeout: transactionTimeoutMs }),
        ),
      { timeoutMs },
    );
    const context = {
      connection,
      metadata: clusterMetadata,
      transactionalId,
      identity,
      sequences: new Map(),
    };
    return new KafkaWriter(context, clusterMetadata, clock);
  } catch (error) {
    connection[Symbol.dispose]();
    throw error;
  }
}
