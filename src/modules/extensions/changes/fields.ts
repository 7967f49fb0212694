/** Which changes of an environment are wanted; without a field, all. */
export interface ChangeFilter {
  readonly provider_config_key?: string | undefined;
  readonly connection_id?: string | undefined;
  readonly model?: string | undefined;
  /** Of an on-change function: one of them. */
  readonly models?: readonly string[] | undefined;
  readonly variant?: string | undefined;
}

/** Where the log has a message of the records topic. */
export interface MessagePlace {
  readonly partition: number;
  readonly offset: number;
}
