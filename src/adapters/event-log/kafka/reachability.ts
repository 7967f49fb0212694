export interface KafkaLogger {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Says once when no broker answers any more, and once when one does again. */
export class Reachability {
  private readonly logger: KafkaLogger | undefined;
  private isAway = false;

  constructor(logger: KafkaLogger | undefined) {
    this.logger = logger;
  }

  answered(): void {
    if (!this.isAway) return;
    this.isAway = false;
    this.logger?.info({}, 'kafka answers again');
  }

  lost(error: unknown): void {
    if (this.isAway) return;
    this.isAway = true;
    this.logger?.warn({ err: error }, 'no broker of kafka answers');
  }
}
