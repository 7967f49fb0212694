import { randomUUID } from 'node:crypto';
import { partitionOf } from '#kernel/partition.ts';
import { dayMs, type Clock } from '#kernel/time.ts';
import type { EventLog } from '#ports/event-log.ts';
import type { Schemas } from '#ports/schemas.ts';
import type { ControlPlane } from './control-plane.ts';
import { commandTo, type ControlCommand } from './entity.ts';
import { commandsTopic, toCommandValue, type CommandValue } from './message-codec.ts';
import { inSendSpan, traceHeaders } from './trace.ts';

/** No caller waits, so that only a long outage makes the command expire. */
const withinMs = dayMs;
const appendTimeoutMs = 15_000;

/** Appends commands to the partition of their scope. */
export async function openCommands(deps: {
  readonly log: Pick<EventLog, 'append' | 'partitions'>;
  readonly schemas: Schemas;
}): Promise<(command: ControlCommand, timeoutMs: number) => Promise<void>> {
  const { log, schemas } = deps;
  const codec = await schemas.codec<CommandValue>(commandsTopic);
  const partitions = await log.partitions(commandsTopic);
  return async (command, timeoutMs) => {
    const value = toCommandValue(command);
    const partition = partitionOf(value.scope, partitions);
    await inSendSpan(commandsTopic, partition, () => {
      const headers = { 'content-type': 'application/avro', ...traceHeaders() };
      const message = { key: value.scope, value: codec.encode(value), headers };
      return log.append([{ topic: commandsTopic, partition, messages: [message] }], { timeoutMs });
    });
  };
}

/** Fire-and-forget variant of `execute`: `ControlPlane.enqueue` alone. */
export async function openCommandSender(
  deps: Parameters<typeof openCommands>[0] & { readonly clock: Clock },
): Promise<ControlPlane['enqueue']> {
  const append = await openCommands(deps);
  return async (ref, body, { actor }) => {
    const at = deps.clock.now();
    const command: ControlCommand = {
      id: randomUUID(),
      items: [commandTo(ref, body)],
      actor,
      at,
      deadline: at + withinMs,
      replyTo: null,
      idempotencyKey: null,
      requestHash: null,
    };
    await append(command, appendTimeoutMs);
  };
}
