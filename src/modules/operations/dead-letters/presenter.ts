import { isoMicros } from '../../../kernel/time.ts';
import type { DeadLetter } from '../../../../streams/dead-letters/state.ts';

export const presentDeadLetter = (deadLetter: DeadLetter) => ({
  id: deadLetter.id,
  state: deadLetter.state,
  consumer: deadLetter.consumer,
  topic: deadLetter.topic,
  partition: deadLetter.partition,
  offset: deadLetter.offset,
  key: deadLetter.key,
  environment_id: deadLetter.environmentUid,
  integration: deadLetter.integration,
  connection_id: deadLetter.connectionId,
  run_id: deadLetter.runId,
  attempts: deadLetter.attempts,
  retries: deadLetter.retries,
  error:
    deadLetter.errorCode === ''
      ? null
      : { code: deadLetter.errorCode, message: deadLetter.errorMessage },
  parked_at: isoMicros(deadLetter.parkedAt),
  changed_at: isoMicros(deadLetter.changedAt),
  changed_by: deadLetter.changedBy,
});
