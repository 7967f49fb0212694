import type { RunningGateway } from '../processes/gateway.ts';

export interface Takeover {
  readonly partition: number;
  readonly epoch: number;
  readonly from: 'own store' | 'snapshot' | 'log alone';
  /** Changes that were read. */
  readonly read: number;
}

/** How the gateway took over partitions of records, as it has logged so far (`SVC_LOG_LEVEL` info). */
export function takeovers({ log }: RunningGateway): Takeover[] {
  return log
    .filter((line) => line.includes('a partition of records was taken over'))
    .map((line) => JSON.parse(line) as Takeover);
}
