import { isoMicros } from '../../kernel/time.ts';
import type { DeadLetter } from './state.ts';

export const presentLetter = (letter: DeadLetter) => ({
  id: letter.id,
  state: letter.state,
  consumer: letter.consumer,
  topic: letter.topic,
  partition: letter.partition,
  offset: letter.offset,
  key: letter.key,
  environment_id: letter.environmentUid,
  integration: letter.integration,
  connection_id: letter.connectionId,
  run_id: letter.runId,
  attempts: letter.attempts,
  retries: letter.retries,
  error: letter.errorCode === '' ? null : { code: letter.errorCode, message: letter.errorMessage },
  parked_at: isoMicros(letter.parkedAt),
  changed_at: isoMicros(letter.changedAt),
  changed_by: letter.changedBy,
});
