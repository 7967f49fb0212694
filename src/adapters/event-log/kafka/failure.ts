import { GatewayError } from '#kernel/errors.ts';

/** Error codes of the Kafka protocol (kafka.apache.org/protocol, "Error Codes"). */
export const kafkaError = {
  none: 0,
  offsetOutOfRange: 1,
  unknownTopicOrPartition: 3,
  messageTooLarge: 10,
  recordListTooLarge: 18,
  illegalGeneration: 22,
  unknownMember: 25,
  rebalanceInProgress: 27,
  authorizationFailed: 29,
  invalidTimestamp: 32,
  topicAlreadyExists: 36,
  outOfOrderSequence: 45,
  duplicateSequence: 46,
  invalidProducerEpoch: 47,
  invalidProducerIdMapping: 49,
  unknownProducerId: 59,
  memberIdRequired: 79,
  invalidRecord: 87,
  unstableOffsets: 88,
  producerFenced: 90,
} as const;

/**
 * Codes after which the same request may succeed: a leader or coordinator moved, is loading or away, too few
 * replicas are in sync, a former transaction is still being completed.
 */
const transient = new Set([
  -1, 2, 3, 5, 6, 7, 8, 9, 13, 14, 15, 16, 19, 20, 41, 51, 52, 55, 56, 72, 74, 75, 76, 77, 78, 88,
  89,
]);

/** A partition or group answered with an error code. */
export class KafkaFailure extends Error {
  override readonly name = 'KafkaFailure';
  readonly code: number;

  constructor(code: number, what: string) {
    super(`Kafka answered error ${code} for ${what}.`);
    this.code = code;
  }
}

/** A connection to a broker ended, with every pending request. */
export class LostConnection extends Error {
  override readonly name = 'LostConnection';
}

/** The Kafka protocol code of an error, or null: no response arrived. */
export function codeOf(error: unknown): number | null {
  if (!(error instanceof Error)) return null;
  if ('code' in error && typeof error.code === 'number') return error.code;
  if ('partitions' in error && Array.isArray(error.partitions)) {
    const [first] = error.partitions as { error?: unknown }[];
    return codeOf(first?.error);
  }
  if ('errors' in error && Array.isArray(error.errors)) return codeOf(error.errors[0]);
  return error.cause === undefined ? null : codeOf(error.cause);
}

/** No response arrived: the request may or may not have been executed. */
export function isLostAnswer(error: unknown): boolean {
  if (error instanceof LostConnection) return true;
  return error instanceof Error && error.name.startsWith('KafkaJS') && codeOf(error) === null;
}

const isRefusedSignIn = (error: unknown): boolean =>
  error instanceof Error && error.name === 'KafkaJSSASLAuthenticationError';

/** Whether a later retry may succeed. Bugs of this program and failed authentication are permanent. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null) return transient.has(code);
  return isLostAnswer(error) && !isRefusedSignIn(error);
}

/** A later producer of the same transactional id took over. */
export function isFenced(error: unknown): boolean {
  const code = codeOf(error);
  return code === kafkaError.invalidProducerEpoch || code === kafkaError.producerFenced;
}

export function logUnavailable(cause: unknown): GatewayError {
  const reason = cause instanceof Error ? `: ${cause.message}` : '.';
  const message = `Kafka did not acknowledge${reason}`;
  return new GatewayError('log_unavailable', { message }, { cause });
}

/** An error of Kafka or kafkajs as an error of the port; bugs of this program stay unchanged. */
export function asLogError(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  const isKafkas = codeOf(error) !== null || isLostAnswer(error);
  return isKafkas ? logUnavailable(error) : error;
}

export const logClosed = (): GatewayError =>
  new GatewayError('log_unavailable', { message: 'The event log was closed.' });

export const unknownTopic = (what: string): GatewayError =>
  new GatewayError('unknown_topic', { message: `The ${what} does not exist.` });

/** The error for the caller whose records were refused. */
export function asRefusal(code: number, topic: string): GatewayError {
  if (code === kafkaError.messageTooLarge || code === kafkaError.recordListTooLarge) {
    const message = `A message exceeds the size limit of the topic ${topic}.`;
    return new GatewayError('request_too_large', { message });
  }
  if (code === kafkaError.authorizationFailed) {
    const message = `The Kafka user may not write to ${topic}: grant WRITE on it.`;
    return new GatewayError('log_unavailable', { message });
  }
  return logUnavailable(new KafkaFailure(code, topic));
}
