/** How long an environment keeps records (docs/reference/records.md#retention), in days. */
export type Retention = {
  /** A record that was not updated for this time loses its payload. */
  readonly pruneAfterDays: number;
  /** Records are deleted when no run has used their stream for this time. */
  readonly deleteAfterDays: number;
};

export const defaultRetention: Retention = { pruneAfterDays: 30, deleteAfterDays: 60 };

/** As the API and `svc.config.v1` show it. */
export interface PublicRetention {
  readonly prune_after_days: number;
  readonly delete_after_days: number;
}

export const presentRetention = (retention: Retention = defaultRetention): PublicRetention => ({
  prune_after_days: retention.pruneAfterDays,
  delete_after_days: retention.deleteAfterDays,
});

export const retentionOf = (shown: PublicRetention): Retention => ({
  pruneAfterDays: shown.prune_after_days,
  deleteAfterDays: shown.delete_after_days,
});
