import type { Publisher } from '#control-plane/publisher.ts';
import { GatewayError } from '#kernel/errors.ts';
import { scrub } from '#kernel/scrub.ts';
import { deadLetterStepMessage } from '#streams/dead-letters/messages.ts';
import type { OperatorRequests } from '#streams/reactor/reactor.ts';

/**
 * Parks a message that the consumer group `consumer` could not process, with its cause and position
 * (docs/reference/topics.md#svcdead-lettersv1).
 */
export function parkTo(publisher: Publisher, consumer: string): OperatorRequests['park'] {
  return async ({ topic, partition, message }, error, attempts) => {
    const { key, value, offset, headers } = message;
    const bytes = ([name, text]: [string, string]) => [name, Buffer.from(text)] as const;
    const deadLetter = {
      consumer,
      topic,
      partition,
      offset,
      attempts,
      error_code: error instanceof GatewayError ? error.code : 'server_error',
      error_message: scrub(error instanceof Error ? error.message : String(error)),
      key: Buffer.from(key),
      value: value === null ? null : Buffer.from(value),
      headers: Object.fromEntries(Object.entries(headers).map(bytes)) as Record<string, Buffer>,
    };
    const about = { key, environmentUid: environmentOf(headers['ce_source'] ?? '') };
    await publisher.publish([deadLetterStepMessage(about, deadLetter)], 'system');
  };
}

/** The uid in `/environments/<uid>/…`; `account` for other keys. */
function environmentOf(source: string): string {
  const [, kind, uid] = source.split('/');
  return kind === 'environments' && uid !== undefined ? decodeURIComponent(uid) : 'account';
}
