/** The end of the chain of an environment, or of `account`. Scope = path = [that]. Absent until the first event. */
export interface AuditChain {
  /** How many events it has. */
  readonly length: number;
  /** Of the last one. */
  readonly hash: string;
}
