import { joinKey } from '#kernel/ids.ts';

/** What a sealed text is bound to: environment, owner and field. */
export const sealingContext = (environmentUid: string, owner: string, field: string): string =>
  joinKey(environmentUid, owner, field);
